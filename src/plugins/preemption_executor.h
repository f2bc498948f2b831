/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_EXECUTOR_H
#define BT_PLUGINS_PREEMPTION_EXECUTOR_H
/**
 * The Executor of preemption: evicts the victims of an accepted preemption through the handle's
 * writer, either synchronously or step by step as the writer's answers arrive. Without a writer,
 * the Executor does nothing. Spec: 08 section 11.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"
#include "framework/preemption.h"

/** The pod or group that preempts. Everything is borrowed for the call. */
struct bt_preemptor {
	struct bt_str uid;
	bool is_group; /* true: a PodGroup; false: a pod */
	struct bt_preemption_pod identity;
	int32_t priority;
	struct bt_str scheduler_name;
	const struct bt_preemption_pod *pods; /* the pods to activate if the preemption fails */
	uint32_t pod_count;
};

struct bt_preemption_task; /* one asynchronous preemption */

/** Set handle and plugin_name in zero memory. The struct must not move while a task runs. */
struct bt_preemption_executor {
	const struct bt_handle *handle; /* borrowed */
	struct bt_str plugin_name;
	BT_VEC(struct bt_preemption_task *) tasks; /* running tasks, in no order */
	struct bt_map by_uid; /* hash of the preemptor's uid -> index in tasks */
	struct bt_map by_serial;
	uint32_t next_serial;
};

/** Free the memory of the executor. Running tasks are dropped. */
void bt_preemption_executor_finish(struct bt_preemption_executor *executor);

/**
 * Evict the victims (pod ids) of one candidate. With the gate SchedulerAsyncPreemption, start a
 * task and return Success; otherwise evict synchronously and return Success, or Error if a write
 * fails. candidate_name: name of the node, or "cluster".
 */
struct bt_status bt_prepare_candidate(struct bt_preemption_executor *executor,
	const struct bt_preemptor *preemptor, struct bt_str candidate_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena);
struct bt_status bt_prepare_candidate_for_pod(struct bt_preemption_executor *executor,
	const struct bt_pod_info *pod, struct bt_str node_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena);

/**
 * Report the result of a write that returned BT_PREEMPTION_PENDING. id: from the ticket of the
 * write; an unknown id is ignored. Must not be called from a function of the writer.
 */
void bt_preemption_complete(struct bt_preemption_executor *executor, uint64_t id, int result);

/**
 * Whether an asynchronous preemption by this pod or PodGroup (uid) is running. The preemption ends
 * when the last victim is gone or terminating. Spec 08 section 11.3.
 */
bool bt_preemption_is_running(const struct bt_preemption_executor *executor, struct bt_str uid);

/*
 * --- Shared by synchronous and asynchronous eviction, for the files of the Executor only. Spec: 08
 * sections 11.1, 11.2 and 11.4. ---
 */

struct bt_victim {
	struct bt_preemption_pod pod; /* texts are in the arena of the eviction */
	struct bt_pod_condition condition;
	bool patch; /* the condition is not in the pod's status yet and must be written */
};

/** Data of one preemption, for the eviction of its victims. */
struct bt_eviction {
	struct bt_preemption_executor *executor;
	struct bt_arena *arena;
	struct bt_preemptor preemptor;
	struct bt_str candidate_name;
};

/**
 * Clears the nominations of pods of lower priority to the node: spec 08 section 11.4. A nomination
 * that cannot be cleared does not fail the preemption. Does nothing without a writer.
 */
void bt_eviction_clear_nominations(const struct bt_eviction *eviction);
#endif
