/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DynamicResources (PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind): devices
 * that a pod claims. Spec: 12.
 *
 * Not yet restricted: resource claims of a pod have no effect until spec chapter 12 is implemented.
 * For pods without claims this is all there is: no PreScore, so every node is scored, with 0.
 * Nothing is rejected yet, so the hints (dynamic_resources_hints.c) are never asked.
 */
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/dynamic_resources.h"
#include "plugins/in_tree.h"

/** What a pod without claims leaves behind: that PreFilter was there. */
static const char no_claims;

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	bt_plugin_set_pre_filter_data(plugin, cycle, (void *)(uintptr_t)&no_claims);
	return bt_status_code_only(BT_STATUS_SKIP);
}

/**
 * Upstream quirk, spec 08 section 4.1: when an earlier plugin ended PreFilter for good, there is no
 * state to read, and the chain of PostFilter plugins ends here with that error.
 */
static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_node_statuses *statuses,
	BT_UNUSED struct bt_post_filter_result *out_result)
{
	if (bt_plugin_pre_filter_data(plugin, cycle) == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NO_NEW_CLAIMS);
}

static bool score_is_constant(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	int32_t *out_score)
{
	*out_score = 0;
	return true;
}

static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	if (bt_plugin_pod_spec(pod)->resource_claims.count > 0) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DRA_CLAIMS);
	}
	return BT_STATUS_OK;
}

static int create(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	int code = bt_plugin_check_args(args, handle, err);

	return code != 0 ? code
			 : bt_plain_plugin_create(&bt_dynamic_resources_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_dynamic_resources_plugin = {
	.name = "DynamicResources",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pure = true,
	.pre_enqueue = bt_inert_pre_enqueue,
	.pre_enqueue_passes = bt_inert_pre_enqueue_passes,
	.hint_scope_of = bt_dynamic_resources_hint_scope,
	.events_to_register = bt_dynamic_resources_events_to_register,
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = bt_inert_filter,
	.post_filter = post_filter,
	.score = bt_inert_score,
	.score_is_constant = score_is_constant,
	.normalize = BT_NORMALIZE_DEFAULT,
	.reserve = bt_inert_slot,
	.unreserve = bt_inert_unreserve,
	.pre_bind_pre_flight = bt_inert_pre_bind_pre_flight,
	.pre_bind = bt_inert_slot,
};
