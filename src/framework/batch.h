/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_BATCH_H
#define BT_FRAMEWORK_BATCH_H
/**
 * Opportunistic batching: when a pod directly follows a pod with the same signature that filled its
 * node, the next best node of the earlier cycle is tried first. The state belongs to one profile.
 * Spec: 02 section 6.3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/symbol.h"
#include "base/vec.h"
#include "framework/framework.h"

/** Lifetime of a stored list: 500 ms. */
#define BT_BATCH_AGE_MAX_NS (INT64_C(500) * 1000 * 1000)

/** Why a stored list was unusable: label values of scheduler_batch_cache_flushed_total. */
enum bt_batch_flush {
	BT_BATCH_FLUSH_NONE,
	BT_BATCH_FLUSH_POD_SKIPPED,
	BT_BATCH_FLUSH_POD_FAILED,
	BT_BATCH_FLUSH_POD_INCOMPATIBLE,
	BT_BATCH_FLUSH_EXPIRED,
	BT_BATCH_FLUSH_NODE_MISSING,
	BT_BATCH_FLUSH_NODE_NOT_FULL,
	BT_BATCH_FLUSH_EMPTY_LIST,
	BT_BATCH_FLUSH_POD_NOT_BATCHABLE,
	BT_BATCH_FLUSH__COUNT,
};

/** "pod_skipped", ...; "" for none. */
const char *bt_batch_flush_name(enum bt_batch_flush flush);

/** Label values of scheduler_batch_attempts_total. */
enum bt_batch_attempt {
	BT_BATCH_NO_HINT,
	BT_BATCH_HINT_USED,
	BT_BATCH_HINT_NOT_USED,
};

/** "no_hint", "hint_used", "hint_not_used" */
const char *bt_batch_attempt_name(enum bt_batch_attempt attempt);

struct bt_batch {
	struct bt_symbol_table *symbols; /* node names; borrowed */
	/* The stored list. */
	bool has_list;
	char *signature; /* owned */
	uint32_t signature_length;
	BT_VEC(bt_sym) nodes;   /* best first; references held */
	BT_VEC(int64_t) totals; /* scores of all nodes; set while the nodes are unordered */
	bt_sym ranked_without; /* the chosen node, which the ranking leaves out; set while the nodes
	                          are unordered */
	uint32_t next;         /* index of the next node to try; the ones before it were used */
	int64_t created_ns;
	/* The last cycle that chose a node. */
	bool has_last;
	uint64_t last_cycle_count;
	bt_sym last_node; /* reference held */
};

void bt_batch_init(struct bt_batch *batch, struct bt_symbol_table *symbols);
void bt_batch_finish(struct bt_batch *batch);

/**
 * GetNodeHint: the node to try first, "" for none; borrowed until the next store. cycle must be
 * past PreFilter. signature: data NULL if the pod is not batchable.
 */
struct bt_str bt_batch_get_hint(struct bt_batch *batch, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, struct bt_str signature,
	uint64_t cycle_count, int64_t now_ns, enum bt_batch_flush *out_flush);

/** Result of a cycle that chose a node, as input of bt_batch_store. */
struct bt_batch_result {
	struct bt_str signature; /* data NULL: not batchable */
	struct bt_str hint;      /* "" when there was none */
	struct bt_str chosen;
	const bt_sym *others; /* names of the other feasible nodes, best first */
	uint32_t other_count;
	/**
	 * If not NULL: `others` holds all feasible nodes in search order, including the chosen one,
	 * and `totals` their scores. Ranking them, as upstream's heap does, is left until a hint is
	 * needed, which is rare.
	 */
	const int64_t *totals;
	uint64_t cycle_count;
};

/** StoreScheduleResults; call it only after a node was chosen. */
enum bt_batch_attempt bt_batch_store(struct bt_batch *batch, const struct bt_batch_result *result,
	int64_t now_ns, enum bt_batch_flush *out_flush);

/**
 * Pod signatures: two pods of a profile with equal signatures get the same verdicts and scores from
 * every plugin, so the ranking of the first pod is valid for the second (batch.h). Spec: 02
 * sections 6.1 and 6.2.
 */

/**
 * Appends the pod's signature to out. Signatures may only be compared for equality. Returns false,
 * and leaves out unchanged, if the pod is not batchable: signatures are off for the profile, or a
 * plugin refuses. out_refusal (may be NULL) then gets that plugin's status: the caller logs an
 * Error; Unschedulable is normal. arena holds the fragments and the text of the refusal.
 */
bool bt_sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal);
#endif
