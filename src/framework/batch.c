/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/batch.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "framework/runner.h"

/**
 * A fragment and the order in which it was added: if several fragments have the same key, only the
 * last fragment counts.
 */
struct sorted_fragment {
	struct bt_sign_fragment fragment;
	uint32_t order;
};

BT_COMPARE(compare_fragments, struct sorted_fragment,
	BT_ORDER_BY(bt_str_compare(a->fragment.key, b->fragment.key), BT_ORDER(a->order, b->order)))

bool bt_sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal)
{
	if (out_refusal != NULL) {
		*out_refusal = BT_STATUS_OK;
	}
	if (!framework->signatures_enabled) {
		/*
		 * Upstream calls Sign of each plugin up to the first plugin that refuses every pod.
		 * Count these calls in the metrics without making them.
		 */
		if (framework->metrics != NULL && framework->sign_refusal_count != 0) {
			for (uint32_t i = 0; i < framework->sign_refusal_count; i++) {
				bt_profile_evaluated(framework->metrics, framework->sign_plugins[i],
					BT_TIMED_SIGN, 1);
			}
			(void)bt_profile_point_ran(framework->metrics, BT_TIMED_SIGN,
				BT_STATUS_SUCCESS, bt_profile_now(framework->metrics));
		}
		return false;
	}
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	struct bt_sign_fragments fragments = {.arena = arena};
	struct bt_sign_fragment own = {.key = BT_STR("v1.Pod.Spec.SchedulerName")};
	bool signable = true;

	own.value = bt_shape_pod(pod->shape)->spec.scheduler_name;
	bt_vec_push(&fragments.items, own);
	for (uint32_t i = 0; i < framework->sign_plugin_count && signable; i++) {
		struct bt_plugin *plugin = framework->sign_plugins[i];
		int64_t started_ns = bt_profile_now(framework->metrics);
		struct bt_status status = plugin->ops->sign(plugin, pod, &fragments);

		bt_runner_plugin_ran(framework, plugin, BT_TIMED_SIGN, &status, started_ns);
		bt_profile_evaluated(framework->metrics, plugin, BT_TIMED_SIGN, 1);
		signable = bt_status_is_success(&status);
		if (!signable && out_refusal != NULL) {
			*out_refusal = bt_runner_with_plugin(status, plugin);
		}
	}
	uint32_t count = signable ? fragments.items.count : 0;
	struct sorted_fragment *sorted = BT_ARENA_NEW_ARRAY(arena, struct sorted_fragment, count);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = (struct sorted_fragment){fragments.items.items[i], i};
	}
	if (count > 1) {
		qsort(sorted, count, sizeof(*sorted), compare_fragments);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str key = sorted[i].fragment.key;
		struct bt_str value = sorted[i].fragment.value;
		if (i + 1 < count && bt_str_equal(key, sorted[i + 1].fragment.key)) {
			continue;
		}
		/* The lengths ensure that different fragments never give the same signature. */
		bt_strbuf_printf(out, "%u:", key.length);
		bt_strbuf_append_str(out, key);
		bt_strbuf_printf(out, "%u:", value.length);
		bt_strbuf_append_str(out, value);
	}
	bt_vec_finish(&fragments.items);
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_SIGN, BT_STATUS_SUCCESS, point_started_ns);
	return signable;
}

const char *bt_batch_flush_name(enum bt_batch_flush flush)
{
	static const char *const names[BT_BATCH_FLUSH__COUNT] = {
		[BT_BATCH_FLUSH_NONE] = "",
		[BT_BATCH_FLUSH_POD_SKIPPED] = "pod_skipped",
		[BT_BATCH_FLUSH_POD_FAILED] = "pod_failed",
		[BT_BATCH_FLUSH_POD_INCOMPATIBLE] = "pod_incompatible",
		[BT_BATCH_FLUSH_EXPIRED] = "expired",
		[BT_BATCH_FLUSH_NODE_MISSING] = "node_missing",
		[BT_BATCH_FLUSH_NODE_NOT_FULL] = "node_not_full",
		[BT_BATCH_FLUSH_EMPTY_LIST] = "empty_list",
		[BT_BATCH_FLUSH_POD_NOT_BATCHABLE] = "pod_not_batchable",
	};
	return flush < BT_BATCH_FLUSH__COUNT ? names[flush] : "";
}

const char *bt_batch_attempt_name(enum bt_batch_attempt attempt)
{
	static const char *const names[] = {
		[BT_BATCH_NO_HINT] = "no_hint",
		[BT_BATCH_HINT_USED] = "hint_used",
		[BT_BATCH_HINT_NOT_USED] = "hint_not_used",
	};
	return names[attempt];
}

static void drop_list(struct bt_batch *batch)
{
	for (uint32_t i = 0; i < batch->nodes.count; i++) {
		bt_symbol_unref(batch->symbols, batch->nodes.items[i]);
	}
	batch->nodes.count = 0;
	batch->totals.count = 0;
	batch->next = 0;
	bt_free(batch->signature);
	batch->signature = NULL;
	batch->signature_length = 0;
	batch->has_list = false;
}

void bt_batch_finish(struct bt_batch *batch)
{
	if (batch->symbols == NULL) {
		return;
	}
	drop_list(batch);
	bt_symbol_unref(batch->symbols, batch->last_node);
	bt_vec_finish(&batch->nodes);
	bt_vec_finish(&batch->totals);
	*batch = (struct bt_batch){.last_node = BT_SYM_NONE};
}

/* Functions of the heap that ranks the nodes; the root has the largest total. Spec 03 section 7. */
static void swap(struct bt_batch *batch, uint32_t a, uint32_t b)
{
	bt_sym node = batch->nodes.items[a];
	int64_t total = batch->totals.items[a];

	batch->nodes.items[a] = batch->nodes.items[b];
	batch->totals.items[a] = batch->totals.items[b];
	batch->nodes.items[b] = node;
	batch->totals.items[b] = total;
}

static void sift_down(struct bt_batch *batch, uint32_t at, uint32_t count)
{
	const int64_t *totals = batch->totals.items;

	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && totals[child + 1] > totals[child]) {
			child++;
		}
		if (totals[child] <= totals[at]) {
			return;
		}
		swap(batch, at, child);
		at = child;
	}
}

struct bt_str bt_batch_get_hint(struct bt_batch *batch, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, struct bt_str signature,
	uint64_t cycle_count, int64_t now_ns, enum bt_batch_flush *out_flush)
{
	*out_flush = BT_BATCH_FLUSH_NONE;
	if (!batch->has_list || batch->next == batch->nodes.count) {
		return BT_STR("");
	}
	/* Upstream's order of checks. The checks that need no node come first. */
	struct bt_str stored = {batch->signature, batch->signature_length};
	if (!batch->has_last || cycle_count != batch->last_cycle_count + 1) {
		*out_flush = BT_BATCH_FLUSH_POD_SKIPPED;
	} else if (signature.data == NULL || !bt_str_equal(signature, stored)) {
		*out_flush = BT_BATCH_FLUSH_POD_INCOMPATIBLE;
	} else if (now_ns - batch->created_ns > BT_BATCH_AGE_MAX_NS) {
		*out_flush = BT_BATCH_FLUSH_EXPIRED;
	} else {
		/*
		 * Use the list only if the filters now reject the node that the last cycle chose:
		 * while that node still fits, it may be better than every node of the list.
		 */
		const struct bt_state *state = framework->handle.state;
		uint32_t slot = bt_state_snapshot_find(
			state, bt_symbol_text(batch->symbols, batch->last_node));
		struct bt_node_info node;
		struct bt_status status;

		if (slot == BT_SLOT_NONE) {
			*out_flush = BT_BATCH_FLUSH_NODE_MISSING;
		} else {
			bt_node_info_init(&node, state, slot);
			status = bt_run_filter(framework, cycle, pod, &node);
			*out_flush = bt_status_is_rejected(&status) ? BT_BATCH_FLUSH_NONE
								    : BT_BATCH_FLUSH_NODE_NOT_FULL;
		}
	}
	if (*out_flush != BT_BATCH_FLUSH_NONE) {
		return BT_STR("");
	}
	if (batch->totals.count != 0) {
		/*
		 * Rank the nodes as upstream's heap does, and then remove the chosen node from the
		 * list.
		 */
		uint32_t count = batch->nodes.count;

		for (uint32_t i = count / 2; i-- > 0;) {
			sift_down(batch, i, count);
		}
		for (uint32_t left = count; left-- > 1;) {
			swap(batch, 0, left);
			sift_down(batch, 0, left);
		}
		for (uint32_t i = 0; i < count / 2; i++) {
			swap(batch, i, count - 1 - i);
		}
		for (uint32_t i = 0; i < count; i++) {
			if (bt_sym_equal(batch->nodes.items[i], batch->ranked_without)) {
				bt_symbol_unref(batch->symbols, batch->nodes.items[i]);
				bt_vec_remove_ordered(&batch->nodes, i);
				break;
			}
		}
		batch->totals.count = 0;
	}
	return bt_symbol_text(batch->symbols, batch->nodes.items[batch->next++]);
}

enum bt_batch_attempt bt_batch_store(struct bt_batch *batch, const struct bt_batch_result *result,
	int64_t now_ns, enum bt_batch_flush *out_flush)
{
	bt_sym chosen = bt_symbol_ref_str(batch->symbols, result->chosen);

	uint32_t left = result->other_count - (result->totals != NULL && result->other_count != 0);

	*out_flush = BT_BATCH_FLUSH_NONE;
	bt_symbol_unref(batch->symbols, batch->last_node);
	batch->last_node = chosen;
	batch->last_cycle_count = result->cycle_count;
	batch->has_last = true;
	if (result->hint.length > 0 && bt_str_equal(result->hint, result->chosen)) {
		return BT_BATCH_HINT_USED;
	}
	/*
	 * Take references to the new nodes first: the old list, dropped below, may hold the only
	 * references to them.
	 */
	for (uint32_t i = 0; i < result->other_count; i++) {
		(void)bt_symbol_ref(batch->symbols, result->others[i]);
	}
	drop_list(batch);
	if (result->signature.data != NULL && left > 0) {
		bt_vec_reserve(&batch->nodes, result->other_count);
		for (uint32_t i = 0; i < result->other_count; i++) {
			bt_vec_push(&batch->nodes, result->others[i]);
		}
		for (uint32_t i = 0; result->totals != NULL && i < result->other_count; i++) {
			bt_vec_push(&batch->totals, result->totals[i]);
		}
		batch->ranked_without = chosen;
		batch->signature = bt_strndup(result->signature.data, result->signature.length);
		batch->signature_length = result->signature.length;
		batch->created_ns = now_ns;
		batch->has_list = true;
	} else {
		for (uint32_t i = 0; i < result->other_count; i++) {
			bt_symbol_unref(batch->symbols, result->others[i]);
		}
		*out_flush =
			left == 0 ? BT_BATCH_FLUSH_EMPTY_LIST : BT_BATCH_FLUSH_POD_NOT_BATCHABLE;
	}
	return result->hint.length > 0 ? BT_BATCH_HINT_NOT_USED : BT_BATCH_NO_HINT;
}
