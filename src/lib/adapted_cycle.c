/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "lib/adapted.h"
#include "lib/node_to_status.h"
#include "lib/plugin_adapter.h"

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_pre_filter_result result = {0};
	struct bt_status status = adapted->outside.pre_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &result);

	if (result.restricted) {
		out_result->restricted = true;
		out_result->count = result.count;
		out_result->names = result.names;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_filter_add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status = adapted->outside.pre_filter_extensions->add_pod(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod_to_schedule),
		berth_const_pod_info_of(pod_to_add), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_filter_remove_pod(struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *pod_to_remove, const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status =
		adapted->outside.pre_filter_extensions->remove_pod(adapted->plugin,
			berth_cycle_state_of(cycle), berth_const_pod_info_of(pod_to_schedule),
			berth_const_pod_info_of(pod_to_remove), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status =
		adapted->outside.filter(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_node_to_status view = {.state = adapted->handle->state, .statuses = statuses};
	struct berth_post_filter_result result = {0};
	struct bt_status status = adapted->outside.post_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &view, &result);

	if (result.present) {
		out_result->present = true;
		out_result->mode = result.mode == BERTH_NOMINATING_OVERRIDE ? BT_NOMINATING_OVERRIDE
									    : BT_NOMINATING_NOOP;
		out_result->nominated_node_name = result.nominated_node_name;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	const struct berth_node_info *const *nodes =
		bt_lib_node_infos(&adapted->handle->snapshot, slots, slot_count, cycle->arena);
	struct bt_status status = adapted->outside.pre_score(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), nodes, slot_count);

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	int64_t value = 0;
	struct bt_status status =
		adapted->outside.score(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node), &value);

	*out_score = value;
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_node_score_list list = {
		.items = BT_ARENA_NEW_ARRAY(cycle->arena, struct berth_node_score, count),
		.count = count,
	};
	struct berth_node_score *items = list.items;

	for (uint32_t i = 0; i < count; i++) {
		items[i].name = bt_adapted_node_name(adapted, scores[i].slot);
		items[i].score = scores[i].score;
	}
	struct bt_status status = adapted->outside.score_extensions->normalize_score(
		adapted->plugin, berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &list);

	for (uint32_t i = 0; i < count; i++) {
		scores[i].score = items[i].score;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

/** Score of a node that promised to depend on little: no cycle is running. */
static int32_t column_score(const struct bt_adapted *adapted, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	int64_t highest = adapted->inside.normalize == BT_NORMALIZE_NONE ? BT_SCORE_MAX : INT32_MAX;
	const struct bt_state *state = adapted->handle->state;
	struct bt_node_info node;
	int64_t value = 0;

	if (!state->nodes.rows[slot].in_snapshot) {
		return 0;
	}
	bt_node_info_init(&node, state, slot);
	struct bt_status status =
		adapted->outside.score(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(&node), &value);

	if (!bt_status_is_success(&status) || value < 0) {
		return 0;
	}
	return (int32_t)(value < highest ? value : highest);
}

static void score_column(struct bt_plugin *plugin, BT_UNUSED const void *data,
	const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_cycle_state cycle;

	bt_cycle_state_init(&cycle, &adapted->column_arena, 0);
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = range.slots == NULL ? k : range.slots[k];

		scores[slot] = column_score(adapted, &cycle, pod, slot);
	}
	bt_cycle_state_finish(&cycle);
	bt_arena_reset(&adapted->column_arena);
}

static enum bt_normalize_kind normalize_kind(enum berth_normalize normalize)
{
	switch (normalize) {
	case BERTH_NORMALIZE_DEFAULT:
		return BT_NORMALIZE_DEFAULT;
	case BERTH_NORMALIZE_DEFAULT_REVERSE:
		return BT_NORMALIZE_DEFAULT_REVERSE;
	case BERTH_NORMALIZE_NONE:
		break;
	}
	return BT_NORMALIZE_NONE;
}

_Static_assert((int)BERTH_READS_PODS == (int)BT_CHANGE_PODS &&
		(int)BERTH_READS_PORTS == (int)BT_CHANGE_PORTS &&
		(int)BERTH_READS_ALLOCATABLE == (int)BT_CHANGE_ALLOCATABLE &&
		(int)BERTH_READS_LABELS == (int)BT_CHANGE_LABELS &&
		(int)BERTH_READS_TAINTS == (int)BT_CHANGE_TAINTS &&
		(int)BERTH_READS_IMAGES == (int)BT_CHANGE_IMAGES &&
		(int)BERTH_READS_NAME == (int)BT_CHANGE_EXISTENCE,
	"what a plugin reads is what the change log tells");

void bt_adapted_fill_cycle(struct bt_adapted *adapted)
{
	const struct berth_plugin_ops *outside = &adapted->outside;
	struct bt_plugin_ops *inside = &adapted->inside;

	BT_ADAPTED_FILL(adapted, pre_filter, pre_filter);
	if (outside->pre_filter_extensions != NULL) {
		if (outside->pre_filter_extensions->add_pod != NULL) {
			inside->pre_filter_add_pod = pre_filter_add_pod;
		}
		if (outside->pre_filter_extensions->remove_pod != NULL) {
			inside->pre_filter_remove_pod = pre_filter_remove_pod;
		}
	}
	BT_ADAPTED_FILL(adapted, filter, filter);
	BT_ADAPTED_FILL(adapted, post_filter, post_filter);
	BT_ADAPTED_FILL(adapted, pre_score, pre_score);
	BT_ADAPTED_FILL(adapted, score, score);
	inside->normalize = normalize_kind(outside->normalize);
	/* The promise of score_reads is of use: nothing runs before Score that depends on the
	 * cycle. */
	if (outside->score_reads != 0 && outside->score != NULL && outside->pre_filter == NULL &&
		outside->pre_score == NULL && outside->score_extensions == NULL) {
		inside->pure = true;
		inside->score_column = score_column;
		inside->score_reads = outside->score_reads & BT_CHANGE_ALL;
	}
	if (outside->score_extensions != NULL &&
		outside->score_extensions->normalize_score != NULL) {
		inside->normalize = BT_NORMALIZE_CUSTOM;
		inside->normalize_score = normalize_score;
	}
}
