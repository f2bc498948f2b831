/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_PREEMPTION_H
#define BT_FRAMEWORK_PREEMPTION_H
/**
 * Functions that the engine's driver provides for preemption: the writer, and the extenders with a
 * preempt verb. Spec: 08 sections 10 and 11. All calls are made on the scheduling thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "config/config.h"
#include "framework/status.h"

struct bt_pod_info;
struct bt_preemption_executor; /* plugins/preemption_executor.h */

/** Identity of a pod; borrowed for the call. */
struct bt_preemption_pod {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str uid;
};

/**
 * Identifies a write. With an executor (asynchronous form), a writer may return
 * BT_PREEMPTION_PENDING and report the outcome later with bt_preemption_complete(executor, id,
 * ...). With executor NULL (synchronous form), the writer must return the outcome.
 */
struct bt_preemption_ticket {
	struct bt_preemption_executor *executor;
	uint64_t id;
};

#define BT_PREEMPTION_PENDING 1

/** An event about the victim: type Normal, reason `Preempted`, action `Preempting`. */
struct bt_preemption_event {
	struct bt_preemption_pod victim;
	struct bt_str note;
	const struct bt_preemption_pod *related_group; /* preempting PodGroup; NULL for a pod */
};

/**
 * Functions that write to the API. Results: 0 = done; BT_PREEMPTION_PENDING (see
 * bt_preemption_ticket); BERTH_ERR_NOT_FOUND = the pod does not exist; another negative code = the
 * write failed, and err has the API's text.
 */
struct bt_preemption_writer {
	/**
	 * Adds the condition to the victim's status. If condition->last_transition_time is not set,
	 * the time of the write is used. Not called if the victim has the condition.
	 */
	int (*patch_condition)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_preemption_pod *victim, const struct bt_pod_condition *condition,
		struct berth_error *err);
	/** Deletes the pod with empty options: no preconditions, and the pod's grace period. */
	int (*delete_pod)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_preemption_pod *victim, struct berth_error *err);
	/** Sets status.nominatedNodeName to "". */
	int (*clear_nomination)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_preemption_pod *pod, struct berth_error *err);
	/**
	 * CancelPod of spec 02 section 12.2: cancels the binding of a pod in PreBind, without an
	 * API call. cause is borrowed for the call. Returns true if the binding is canceled now or
	 * was canceled before, false if the pod is not in PreBind or its plugin runs now. NULL: no
	 * pod is in PreBind.
	 */
	bool (*cancel_pre_bind)(void *context, struct bt_str uid, struct bt_str cause);
	/** Sends an event. May be NULL. */
	void (*event)(void *context, const struct bt_preemption_event *event);
	/**
	 * Moves the preemptor's pods to the active queue after an asynchronous preemption failed.
	 * NULL: bt_handle_services.activate moves the pods instead.
	 */
	void (*activate)(void *context, const struct bt_preemption_pod *pods, uint32_t count);
	void *context;
};

/** An extender's answer for one node. The order of the victims is kept. */
struct bt_node_victims {
	struct bt_str node_name;
	const struct bt_str *victim_uids;
	uint32_t victim_count;
	int64_t pdb_violations;
};

struct bt_node_victims_list {
	const struct bt_node_victims *items;
	uint32_t count;
};

/** An extender with the functions that preemption calls. */
struct bt_preemption_extender {
	/**
	 * If preemptVerb is "", `process` is never called. Messages name the extender by urlPrefix.
	 */
	const struct bt_config_extender *config;
	/**
	 * Sends the candidates to the extender, which returns those that it accepts. Answers are in
	 * the arena. Returns a negative code with err set if the call fails.
	 */
	int (*process)(void *context, const struct bt_pod_info *pod,
		const struct bt_node_victims_list *candidates, struct bt_arena *arena,
		struct bt_node_victims_list *out_answer, struct berth_error *err);
	/**
	 * Receives upstream's log line for each part of the answer that is ignored. May be NULL.
	 */
	void (*ignored)(void *context, const char *line, int verbosity, struct bt_str error);
	void *context;
};

/**
 * Functions with which the preemption for a pod group tries the removal of pods. They change the
 * snapshot of the group's cycle; the caller restores the snapshot afterwards. Spec 08 section 14.
 */
struct bt_pod_group_trial {
	/**
	 * Removes a pod; pod_id: a pod of the state. Returns a negative code with err set if the
	 * snapshot contradicts the state.
	 */
	int (*remove_pod)(void *context, uint32_t pod_id, struct berth_error *err);
	/** Adds a removed pod again. Returns the same results as remove_pod. */
	int (*add_pod)(void *context, uint32_t pod_id, struct berth_error *err);
	/**
	 * Runs the pod group's scheduling on the snapshot as it is now, with PostFilter disabled.
	 */
	struct bt_status (*feasible)(void *context);
	void *context;
};
#endif
