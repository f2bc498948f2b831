/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeDeclaredFeatures (PreFilter, Filter): a pod that needs a kubelet feature fits only on nodes
 * that declare the feature. A set of features is a byte, in which bit i is the registered feature i
 * (as in node_table.h). Spec: 05 section 14.
 */
#include "api/change.h"
#include "base/strbuf.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

enum {
	FEATURE_RESTART_ALL_CONTAINERS = 1 << 3,   /* RestartAllContainersOnContainerExits */
	FEATURE_USER_NAMESPACES_HOST_NET = 1 << 4, /* UserNamespacesHostNetworkSupport */
	FEATURE_COUNT = 5,
};

static bool restarts_all_containers(const bt_container_list *containers)
{
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_container *container = &containers->items[i];

		for (uint32_t k = 0; k < container->restart_policy_rules.count; k++) {
			if (bt_str_equal_c(container->restart_policy_rules.items[k].action,
				    "RestartAllContainers")) {
				return true;
			}
		}
	}
	return false;
}

static uint8_t required_features(const struct bt_pod_spec *spec)
{
	unsigned int required = 0;

	if (restarts_all_containers(&spec->containers) ||
		restarts_all_containers(&spec->init_containers)) {
		required |= FEATURE_RESTART_ALL_CONTAINERS;
	}
	if (spec->host_network && spec->host_users.present && !spec->host_users.value) {
		required |= FEATURE_USER_NAMESPACES_HOST_NET;
	}
	return (uint8_t)required;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	uint8_t required = required_features(bt_plugin_pod_spec(pod));

	if (!bt_plugin_gate(plugin, BT_GATE_NODE_DECLARED_FEATURES) || required == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	uint8_t *data = BT_ARENA_NEW(cycle->arena, uint8_t);
	*data = required;
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const uint8_t *data = cycle->pre_filter_data[plugin->index];

	if (!bt_plugin_gate(plugin, BT_GATE_NODE_DECLARED_FEATURES)) {
		return BT_STATUS_OK;
	}
	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: "
			       "not found"));
	}
	if ((*data & ~(unsigned int)bt_node_info_declared_features(node)) != 0) {
		return bt_plugin_rejection(plugin, BT_DETAIL_REJECTED);
	}
	return BT_STATUS_OK;
}

/* Called only with PreFilter data, so the gate is on. */
static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	unsigned int required = *(const uint8_t *)data;

	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);
		unsigned int declared = state->nodes.declared_features[slot];
		detail[slot] = (required & ~declared) != 0 ? BT_DETAIL_REJECTED : 0;
	}
	return true;
}

static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	uint8_t required = required_features(bt_plugin_pod_spec(pod));
	struct bt_strbuf value = {0};

	if (!bt_plugin_gate(plugin, BT_GATE_NODE_DECLARED_FEATURES)) {
		return bt_status_error_text(out->arena, BT_STR("target version cannot be nil"));
	}
	for (unsigned int i = 0; i < FEATURE_COUNT; i++) {
		bt_strbuf_append_char(&value, (required >> i & 1) != 0 ? '1' : '0');
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.RequiredFeatures()"), &value);
	return BT_STATUS_OK;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;

	if (old_node != NULL &&
		bt_str_list_equal(
			&old_node->status.declared_features, &new_node->status.declared_features)) {
		return false;
	}
	return true;
}

static bool after_pod_update(const struct bt_hint_call *call)
{
	const struct bt_pod *old_pod = call->old_object;
	const struct bt_pod *new_pod = call->new_object;

	if (!bt_str_equal(new_pod->metadata.uid, call->pod->uid) ||
		required_features(&old_pod->spec) == required_features(&new_pod->spec)) {
		return false;
	}
	return true;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_DECLARED_FEATURE},
		after_node_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE}, after_pod_update},
};

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = bt_plugin_gate(plugin, BT_GATE_NODE_DECLARED_FEATURES)
		? (uint32_t)BT_ARRAY_LENGTH(events)
		: 0;
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.filter_reads = BT_CHANGE_FEATURES,
	.filter_column = filter_column,
	.rejections = {{BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_DECLARED_FEATURES}},
};

const struct bt_plugin_ops bt_node_declared_features_plugin = {
	.name = "NodeDeclaredFeatures",
	.shortcuts = &shortcuts,
	.events_to_register = events_to_register,
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = filter,
};
