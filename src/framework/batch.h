/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_BATCH_H
#define BT_FRAMEWORK_BATCH_H
/**
 * Opportunistic batching: a cycle stores its ranking of the nodes. If the next pod has the same
 * signature and no longer fits on the chosen node, the scheduler first tries the next best node of
 * the stored list. Each profile has one struct bt_batch. Spec: 02 section 6.3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/symbol.h"
#include "base/vec.h"
#include "framework/framework.h"

/** Lifetime of a stored list: 500 ms. */
#define BT_BATCH_AGE_MAX_NS (INT64_C(500) * 1000 * 1000)

/**
 * Why bt_batch_get_hint cannot use the stored list or, for EMPTY_LIST and POD_NOT_BATCHABLE, why
 * bt_batch_store stores no list. Label values of scheduler_batch_cache_flushed_total. POD_FAILED is
 * never set.
 */
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

/** Returns the label value, such as "pod_skipped"; "" for BT_BATCH_FLUSH_NONE. */
const char *bt_batch_flush_name(enum bt_batch_flush flush);

/** Label values of scheduler_batch_attempts_total. */
enum bt_batch_attempt {
	BT_BATCH_NO_HINT,
	BT_BATCH_HINT_USED,
	BT_BATCH_HINT_NOT_USED,
};

/** Returns the label value: "no_hint", "hint_used" or "hint_not_used". */
const char *bt_batch_attempt_name(enum bt_batch_attempt attempt);

/** To initialise, set `symbols`, set last_node to BT_SYM_NONE, and set the rest to zero. */
struct bt_batch {
	struct bt_symbol_table *symbols; /* node names; borrowed */
	/* The stored list. */
	bool has_list;
	char *signature; /* owned */
	uint32_t signature_length;
	BT_VEC(bt_sym) nodes;   /* best first, unless totals is set; references held */
	BT_VEC(int64_t) totals; /* scores of `nodes` until these are ranked; empty: ranked */
	bt_sym ranked_without;  /* the chosen node; ranking removes it from `nodes` */
	uint32_t next;          /* index in nodes of the next hint */
	int64_t created_ns;
	/* The last cycle that chose a node. */
	bool has_last;
	uint64_t last_cycle_count;
	bt_sym last_node; /* reference held */
};

void bt_batch_finish(struct bt_batch *batch);

/**
 * GetNodeHint: returns the name of the node to try first, or "" if there is no hint. The name is
 * borrowed until the next bt_batch_store. cycle: PreFilter must have run, because the function runs
 * the filters for the last chosen node. signature: from bt_sign_pod; data is NULL if the pod is not
 * batchable. cycle_count: sequence number of this cycle; only the cycle directly after the cycle of
 * the last bt_batch_store gets a hint. now_ns: current time, from which the age of the list
 * follows. *out_flush: why the stored list cannot be used; BT_BATCH_FLUSH_NONE if the list is used
 * or if there is no list.
 */
struct bt_str bt_batch_get_hint(struct bt_batch *batch, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, struct bt_str signature,
	uint64_t cycle_count, int64_t now_ns, enum bt_batch_flush *out_flush);

/** Result of a cycle that chose a node, as input of bt_batch_store. */
struct bt_batch_result {
	struct bt_str signature; /* data NULL: the pod is not batchable */
	struct bt_str hint;      /* result of bt_batch_get_hint in this cycle */
	struct bt_str chosen;
	const bt_sym *others; /* names of the other feasible nodes, best first */
	uint32_t other_count;
	/**
	 * If not NULL, `others` has all feasible nodes in search order, including the chosen node,
	 * and `totals` has their scores. bt_batch_get_hint then ranks the nodes, as upstream's heap
	 * does, when a hint is needed, which is rare.
	 */
	const int64_t *totals;
	uint64_t cycle_count;
};

/**
 * StoreScheduleResults: stores the ranking of a cycle that chose a node. If the cycle used its
 * hint, the older list stays. Returns whether the cycle had a hint and used the hint. *out_flush:
 * why no list is stored (EMPTY_LIST or POD_NOT_BATCHABLE); NONE if a list is stored or stays.
 */
enum bt_batch_attempt bt_batch_store(struct bt_batch *batch, const struct bt_batch_result *result,
	int64_t now_ns, enum bt_batch_flush *out_flush);

/**
 * Pod signatures: two pods of a profile with equal signatures get the same verdicts and scores from
 * every plugin, so the ranking of the first pod is valid for the second pod. Spec: 02 sections 6.1
 * and 6.2.
 */

/**
 * Appends the pod's signature to out. Signatures may only be compared for equality. Returns false,
 * and leaves out unchanged, if the pod is not batchable: signatures are off for the profile, or a
 * plugin's Sign does not return Success. *out_refusal (out_refusal may be NULL) is the status of
 * that plugin, or Success if there is none. The caller logs a refusal with code Error; a refusal
 * with code Unschedulable is normal. arena holds the fragments and the text of the refusal.
 */
bool bt_sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal);
#endif
