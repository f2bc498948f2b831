/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_POD_FACTS_H
#define BT_REPLAY_POD_FACTS_H
/**
 * Facts about the life of a pod in a line of a recording, read without decoding the whole object.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/** Facts of a pod, or of a merge patch for a pod. Missing texts are "". */
struct bt_pod_facts {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	bool is_terminal; /* status.phase is Succeeded or Failed */
	bool is_deleting; /* metadata.deletionTimestamp is set */
	/**
	 * The scheduler has tried the pod: the pod is bound or nominated, or PodScheduled is False.
	 */
	bool is_tried;
	/** The reason of condition DisruptionTarget if its status is True, else "". */
	struct bt_str disruption;
	/** The text is a patch that also changes further members, which a scheduler reads. */
	bool has_more;
};

/**
 * Returns whether the scheduler preempts the pod or a taint evicts it. A replay decides both again.
 */
static inline bool bt_pod_facts_is_decided_anew(const struct bt_pod_facts *facts)
{
	return bt_str_equal_c(facts->disruption, "PreemptionByScheduler") ||
		bt_str_equal_c(facts->disruption, "DeletionByTaintManager");
}

/** Reads the facts. json: borrowed. Texts are borrowed from json, or in the arena. */
BT_MUST_USE int bt_pod_facts_read(struct bt_str json, struct bt_arena *arena,
	struct bt_pod_facts *out_facts, struct berth_error *err);
#endif
