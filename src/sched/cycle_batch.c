/* SPDX-License-Identifier: Apache-2.0 */
/** Opportunistic batching in the scheduling cycle: spec 03 sections 3.2 and 3.4, spec 09
 * section 12. */
#include "sched/cycle_private.h"

/** The profile's; NULL: no hints are taken or left. */
static struct bt_batch *batch_of(const struct bt_cycle_run *run)
{
	const struct bt_engine *engine = run->engine;
	if (run->attempt == NULL || engine->batches == NULL) {
		return NULL;
	}
	uint32_t profile = 0;
	while (engine->profiles.frameworks.items[profile] != run->framework) {
		profile++;
	}
	return &engine->batches[profile];
}

void bt_cycle_take_hint(struct bt_cycle_run *run)
{
	const struct bt_queued_attempt *attempt = run->attempt;
	struct bt_profile_metrics *metrics = run->framework->metrics;
	struct bt_batch *batch = batch_of(run);
	enum bt_batch_flush flush = BT_BATCH_FLUSH_NONE;
	if (batch == NULL) {
		return;
	}
	int64_t started_ns = bt_profile_now(metrics);
	if (batch->has_list) {
		run->hint = bt_batch_get_hint(batch, run->framework, run->cycle, run->pod,
			attempt->signature, attempt->cycle_count, attempt->now_ns, &flush);
		run->hint = bt_arena_str(run->cycle->arena, run->hint);
		run->result->hinted = run->hint.length != 0;
	}
	bt_profile_batch_flushed(metrics, flush);
	bt_profile_hint_taken(metrics, run->result->hinted, started_ns);
	if (!run->result->hinted) {
		bt_profile_batch_attempted(metrics, BT_BATCH_NO_HINT);
	}
}

bool bt_cycle_wants_ranking(const struct bt_cycle_run *run)
{
	return run->attempt != NULL && run->engine->batches != NULL &&
		run->attempt->signature.data != NULL;
}

/** Why nothing was kept, if so. */
static enum bt_batch_flush store(struct bt_cycle_run *run, struct bt_batch *batch)
{
	const struct bt_node_table *nodes = &run->engine->state->nodes;
	const struct bt_queued_attempt *attempt = run->attempt;
	enum bt_batch_flush flush;
	if (attempt->signature.data == NULL && !batch->has_list) {
		/* There is nothing to forget, and nothing to keep. */
		return run->result->feasible_count > 1 ? BT_BATCH_FLUSH_POD_NOT_BATCHABLE
						       : BT_BATCH_FLUSH_EMPTY_LIST;
	}
	struct bt_batch_result result = {
		.signature = attempt->signature,
		.hint = run->hint,
		.chosen = bt_node_table_name(nodes, run->result->slot),
		.cycle_count = attempt->cycle_count,
	};
	if (attempt->signature.data != NULL && run->ranked_count != 0) {
		bt_sym *names = BT_ARENA_NEW_ARRAY(run->cycle->arena, bt_sym, run->ranked_count);
		for (uint32_t i = 0; i < run->ranked_count; i++) {
			names[i] = nodes->rows[run->ranked[i]].name;
		}
		result.others = names;
		result.totals = run->totals;
		result.other_count = run->ranked_count;
	}
	enum bt_batch_attempt end = bt_batch_store(batch, &result, attempt->now_ns, &flush);
	if (end != BT_BATCH_NO_HINT) {
		bt_profile_batch_attempted(run->framework->metrics, end);
	}
	return flush;
}

void bt_cycle_leave_ranking(struct bt_cycle_run *run)
{
	struct bt_profile_metrics *metrics = run->framework->metrics;
	struct bt_batch *batch = batch_of(run);
	if (batch != NULL) {
		int64_t started_ns = bt_profile_now(metrics);
		bt_profile_batch_flushed(metrics, store(run, batch));
		bt_profile_results_stored(metrics, started_ns);
	}
}
