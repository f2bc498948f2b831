/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeLabel (Filter, Score): label keys that nodes must (Filter) or should (Score) have or lack,
 * whatever the values. Implements the predicate CheckNodeLabelPresence and the priority
 * LabelPreference. Spec: 05b B6.
 */
#include "base/error.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"

#define KIND_NAME "NodeLabelArgs"

struct node_label_plugin {
	struct bt_legacy_plugin base;
	bt_str_list present;
	bt_str_list absent;
	bt_str_list present_preference;
	bt_str_list absent_preference;
};

static uint32_t count_keys(const struct bt_str_map *labels, const bt_str_list *keys, bool present)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < keys->count; i++) {
		if ((bt_str_map_find(labels, keys->items[i]) != NULL) == present) {
			count++;
		}
	}
	return count;
}

static struct bt_status filter(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct node_label_plugin *args = bt_plugin_instance(plugin);
	const struct bt_str_map *labels = bt_node_info_labels(node);

	if (count_keys(labels, &args->present, true) != args->present.count ||
		count_keys(labels, &args->absent, false) != args->absent.count) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_LEGACY_NODE_LABEL);
	}
	return BT_STATUS_OK;
}

static struct bt_status score(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct node_label_plugin *args = bt_plugin_instance(plugin);
	const struct bt_str_map *labels = bt_node_info_labels(node);
	int64_t wanted = (int64_t)args->present_preference.count + args->absent_preference.count;
	int64_t met = (int64_t)count_keys(labels, &args->present_preference, true) +
		count_keys(labels, &args->absent_preference, false);

	/* Differs from upstream, which divided by zero if there were no preferences. */
	*out_score = wanted != 0 ? BT_SCORE_MAX * met / wanted : 0;
	return BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
};

/** Check that no key is required to be both present and absent. */
static int check_conflicts(const char *field, const bt_str_list *present, const char *absent_field,
	const bt_str_list *absent, struct berth_error *err)
{
	for (uint32_t i = 0; i < present->count; i++) {
		for (uint32_t j = 0; j < absent->count; j++) {
			if (bt_str_equal(present->items[i], absent->items[j])) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"%s[%u]: Invalid value: \"%.*s\": conflict with %s[%u]",
					field, i, BT_STR_ARG(present->items[i]), absent_field, j);
			}
		}
	}
	return 0;
}

static int init(struct bt_plugin *base, const struct bt_plugin_args *args, struct berth_error *err)
{
	struct node_label_plugin *plugin = (struct node_label_plugin *)(void *)base;
	static const char *const fields[] = {"presentLabels", "absentLabels",
		"presentLabelsPreference", "absentLabelsPreference"};
	bt_str_list *const lists[] = {&plugin->present, &plugin->absent,
		&plugin->present_preference, &plugin->absent_preference};
	int code = bt_legacy_args_str_lists(
		&plugin->base, args, KIND_NAME, fields, lists, BT_ARRAY_LENGTH(fields), err);

	if (code == 0) {
		code = check_conflicts(
			fields[0], &plugin->present, fields[1], &plugin->absent, err);
	}
	if (code == 0) {
		code = check_conflicts(fields[2], &plugin->present_preference, fields[3],
			&plugin->absent_preference, err);
	}
	return code;
}

const struct bt_plugin_ops bt_legacy_node_label_plugin = {
	.name = "NodeLabel",
	.size = sizeof(struct node_label_plugin),
	.init = init,
	.destroy = bt_legacy_destroy,
	.events = BT_EVENTS(events),
	.filter = filter,
	.score = score,
};
