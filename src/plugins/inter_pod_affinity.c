/* SPDX-License-Identifier: Apache-2.0 */
/**
 * InterPodAffinity (PreFilter, Filter, PreScore, Score): pods that want to be, or not to be, near
 * other pods. Spec: 06.
 *
 * Not yet restricted: affinity and anti-affinity between pods, of pods to be placed and of placed
 * ones, has no effect until spec chapter 06 is implemented. Nothing is rejected, so the hints of
 * the registered events are never asked.
 */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

struct inter_pod_affinity_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	bool ignores_preferred_terms_of_existing_pods;
};

/* Existing pods can prefer any pod by its labels. */
static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	const struct inter_pod_affinity_plugin *instance =
		(const struct inter_pod_affinity_plugin *)(const void *)plugin;
	struct bt_strbuf value = {0};

	if (pod->shape->has_affinity) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_INTER_POD_AFFINITY);
	}
	if (instance->ignores_preferred_terms_of_existing_pods) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < pod->labels->count; i++) {
		bt_sign_write_str(&value, pod->labels->items[i].key);
		bt_sign_write_str(&value, pod->labels->items[i].value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Labels"), &value);
	bt_strbuf_finish(&value);
	return BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL | BT_ACTION_DELETE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
};

static int events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}

static int create(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct inter_pod_affinity_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_INTER_POD_AFFINITY, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct inter_pod_affinity_plugin);
	instance->base.ops = &bt_inter_pod_affinity_plugin;
	instance->handle = handle;
	instance->ignores_preferred_terms_of_existing_pods =
		args->inter_pod_affinity.ignore_preferred_terms_of_existing_pods;
	*out_plugin = &instance->base;
	return 0;
}

const struct bt_plugin_ops bt_inter_pod_affinity_plugin = {
	.name = "InterPodAffinity",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pure = true,
	.events_to_register = events_to_register,
	.sign = sign,
	.pre_filter = bt_inert_pre_filter,
	.filter = bt_inert_filter,
	.pre_score = bt_inert_pre_score,
	.score = bt_inert_score,
};
