/* SPDX-License-Identifier: Apache-2.0 */
/* Fake plugins whose Filter and Score look at the node, in every form the plan supports. */
#include "sched_world.h"

static struct script *script_of(struct bt_plugin *plugin)
{
	/* The framework has const pointers to scripts, but a test's scripts are not const. */
	return (struct script *)(uintptr_t)plugin->ops;
}

static const struct script_row *row_of(
	const struct script *script, const struct bt_state *state, uint32_t slot)
{
	for (uint32_t i = 0; i < script->row_count; i++) {
		if (bt_str_equal_c(bt_node_table_name(&state->nodes, slot), script->rows[i].node)) {
			return &script->rows[i];
		}
	}
	return NULL;
}

static int64_t score_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	const struct script_row *row = row_of(script, state, slot);

	if (script->score_of != NULL) {
		return script->score_of(script, state, slot);
	}
	return row != NULL ? row->score : script->fake.score;
}

static struct bt_status status_of_answer(const struct fake_answer *answer, struct bt_arena *arena)
{
	struct bt_status status = bt_status_code_only(answer->code);

	if (answer->error != NULL) {
		status.has_error = true;
		status.error_text = bt_arena_str(arena, bt_str_from(answer->error));
	}
	if (answer->reason != NULL) {
		bt_status_append_reason(&status, arena, bt_str_from(answer->reason));
	}
	return status;
}

static struct bt_status status_of_verdict(uint32_t verdict, struct bt_arena *arena)
{
	return bt_status_printf(BT_STATUS_UNSCHEDULABLE, arena, "verdict %u", verdict);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct script *script = script_of(plugin);
	const struct script_row *row = row_of(script, node->state, node->slot);

	(void)pod;
	script->fake.calls[FAKE_FILTER]++;
	script->fake.filter_pod_count = bt_node_info_pod_count(node);
	if (script->filtered_count < BT_ARRAY_LENGTH(script->filtered)) {
		script->filtered[script->filtered_count++] = node->slot;
	}
	if (script->fake.filter_full_at > 0 &&
		script->fake.filter_pod_count >= script->fake.filter_full_at) {
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, BT_STR("full"));
	}
	if (script->verdict_of != NULL) {
		uint32_t verdict = script->verdict_of(script, node->state, node->slot);

		return verdict == 0 ? BT_STATUS_OK : status_of_verdict(verdict, cycle->arena);
	}
	if (row == NULL) {
		return status_of_answer(&script->fake.answers[FAKE_FILTER], cycle->arena);
	}
	return status_of_answer(&row->filter, cycle->arena);
}

/* The detail for a node that has filter_full_at pods. */
#define DETAIL_FULL 0xffffffU

/* A detail is the verdict of verdict_of, or the index of the node's row + 1; 0: the node passes. */
static bool filter_column(struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod,
	const struct bt_state *state, struct bt_slot_range range, uint32_t *detail)
{
	struct script *script = script_of(plugin);

	(void)data;
	(void)pod;
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = range.slots == NULL ? k : range.slots[k];
		const struct script_row *row;

		detail[slot] = 0;
		if (!state->nodes.rows[slot].in_snapshot) {
			continue;
		}
		row = row_of(script, state, slot);
		if (script->fake.filter_full_at > 0 &&
			state->nodes.pod_count[slot] >= script->fake.filter_full_at) {
			detail[slot] = DETAIL_FULL;
		} else if (script->verdict_of != NULL) {
			detail[slot] = script->verdict_of(script, state, slot);
		} else if (row != NULL && row->filter.code != BT_STATUS_SUCCESS) {
			detail[slot] = (uint32_t)(row - script->rows) + 1;
		}
		if (script->column_verdict_lie == slot + 1) {
			detail[slot] = detail[slot] == 0 ? 1 : 0;
		}
	}
	return true;
}

static struct bt_status filter_detail_status(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena)
{
	struct script *script = script_of(plugin);

	(void)data;
	(void)pod;
	if (detail == DETAIL_FULL) {
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, arena, BT_STR("full"));
	}
	if (script->verdict_of != NULL || detail > script->row_count) {
		return status_of_verdict(detail, arena);
	}
	return status_of_answer(&script->rows[detail - 1].filter, arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct script *script = script_of(plugin);

	(void)pod;
	script->fake.calls[FAKE_PRE_SCORE]++;
	script->feasible_count = 0;
	if (slot_count < script->feasible_least) {
		script->feasible_least = slot_count;
	}
	for (uint32_t i = 0; i < slot_count && i < BT_ARRAY_LENGTH(script->feasible); i++) {
		script->feasible[script->feasible_count++] = slots[i];
	}
	cycle->pre_score_data[plugin->index] = script;
	return status_of_answer(&script->fake.answers[FAKE_PRE_SCORE], cycle->arena);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct script *script = script_of(plugin);

	(void)pod;
	script->fake.calls[FAKE_SCORE]++;
	*out_score = score_of(script, node->state, node->slot);
	return status_of_answer(&script->fake.answers[FAKE_SCORE], cycle->arena);
}

static bool score_column(struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod,
	const struct bt_state *state, struct bt_slot_range range, int32_t *scores)
{
	struct script *script = script_of(plugin);
	bool any = false;

	(void)data;
	(void)pod;
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = range.slots == NULL ? k : range.slots[k];
		bool listed = state->nodes.rows[slot].in_snapshot;

		scores[slot] = listed ? (int32_t)score_of(script, state, slot) : 0;
		scores[slot] += script->column_score_error;
		any |= scores[slot] != 0;
	}
	return any;
}

static void score_slots(struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod,
	const struct bt_state *state, const uint32_t *slots, uint32_t count, int64_t *scores)
{
	struct script *script = script_of(plugin);

	(void)data;
	(void)pod;
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = score_of(script, state, slots[i]) + script->column_score_error;
	}
}

static struct bt_status turn_round(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores, uint32_t count)
{
	(void)plugin;
	(void)cycle;
	(void)pod;
	(void)slots;
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = BT_SCORE_MAX - scores[i];
	}
	return BT_STATUS_OK;
}

static void give_columns(struct fake *fake, enum script_form form)
{
	struct bt_plugin_ops *ops = &fake->ops;
	struct bt_plugin_shortcuts *shortcuts = &fake->shortcuts;

	shortcuts->filter_column = ops->filter != NULL ? filter_column : NULL;
	shortcuts->filter_detail_status = filter_detail_status;
	shortcuts->filter_reads = BT_CHANGE_PODS;
	if (form == SCRIPT_COLUMN) {
		shortcuts->pure = true;
		shortcuts->score_column = ops->score != NULL ? score_column : NULL;
		shortcuts->score_reads = BT_CHANGE_PODS;
		return;
	}
	shortcuts->columns_per_cycle = true;
	if (ops->score != NULL) {
		shortcuts->score_slots = score_slots;
		ops->normalize = BT_NORMALIZE_CUSTOM;
		ops->normalize_score = turn_round;
	}
}

struct script script_make(const char *name, uint32_t roles, enum script_form form)
{
	struct script script = {.fake = fake_plugin(name, roles)};
	struct bt_plugin_ops *ops = &script.fake.ops;

	ops->filter = ops->filter != NULL ? filter : NULL;
	ops->pre_score = ops->pre_score != NULL ? pre_score : NULL;
	ops->score = ops->score != NULL ? score : NULL;
	if (form != SCRIPT_PLAIN) {
		give_columns(&script.fake, form);
	}
	return script;
}

void script_set_rows(struct script *script, struct script_row *rows, uint32_t count)
{
	script->rows = rows;
	script->row_count = count;
}
