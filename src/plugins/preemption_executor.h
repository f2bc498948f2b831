/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_EXECUTOR_H
#define BT_PLUGINS_PREEMPTION_EXECUTOR_H
/**
 * The Executor: carries an accepted preemption out through the handle's writer, at once or in steps
 * that follow the writer's answers. Without a writer nothing happens. Spec: 08 section 11.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"
#include "framework/preemption.h"

/** Whom victims make room for; everything is borrowed for the call. */
struct bt_preemptor {
	struct bt_str uid;
	bool is_group; /* a PodGroup, else a pod */
	struct bt_preemption_pod identity;
	int32_t priority;
	struct bt_str scheduler_name;
	const struct bt_preemption_pod *pods; /* to activate when it fails */
	uint32_t pod_count;
};

/** Upper bounds of the buckets of preemption_victims: 1, 2, 4 ... 64, and what is above. */
#define BT_PREEMPTION_VICTIM_BUCKETS 8

/** What the metrics of spec 08 section 16 count. */
struct bt_preemption_metrics {
	uint64_t victims_buckets[BT_PREEMPTION_VICTIM_BUCKETS]; /* not cumulative */
	uint64_t victims_sum;
	uint64_t victims_count;
	uint64_t started_tasks; /* preemption_goroutines_execution_total */
};

struct bt_preemption_task; /* one asynchronous preemption */

struct bt_preemption_executor {
	const struct bt_handle *handle; /* borrowed */
	struct bt_str plugin_name;
	BT_VEC(struct bt_preemption_task *) tasks; /* under way, in no order */
	struct bt_map by_uid;                      /* of the preemptor -> tasks */
	struct bt_map by_serial;
	uint32_t next_serial;
	struct bt_preemption_metrics metrics;
};

/** executor must stay where it is. */
void bt_preemption_executor_init(struct bt_preemption_executor *executor,
	const struct bt_handle *handle, const char *plugin_name);
/** Tasks under way are forgotten. */
void bt_preemption_executor_finish(struct bt_preemption_executor *executor);

/**
 * Remove the victims (pod ids) of one candidate. With gate SchedulerAsyncPreemption: start it and
 * report success; else Error when a write failed. candidate_name: the node, or "cluster".
 */
struct bt_status bt_prepare_candidate(struct bt_preemption_executor *executor,
	const struct bt_preemptor *preemptor, struct bt_str candidate_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena);
struct bt_status bt_prepare_candidate_for_pod(struct bt_preemption_executor *executor,
	const struct bt_pod_info *pod, struct bt_str node_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena);

/**
 * A write that was BT_PREEMPTION_PENDING is over: result as a writer returns it. An id that is not
 * known (any more) is ignored. Not to be called from within one of the writer's functions.
 */
void bt_preemption_complete(struct bt_preemption_executor *executor, uint64_t id, int result);

/** Spec 08 section 11.3; uid of a pod or of a PodGroup. */
bool bt_preemption_is_running(const struct bt_preemption_executor *executor, struct bt_str uid);

/* --- Steps of a preemption that both forms of the Executor take, and the synchronous form. Spec:
 * 08 sections 11.1, 11.2 and 11.4. For the files of the Executor only. --- */

struct bt_victim {
	struct bt_preemption_pod pod; /* text in the eviction's arena */
	struct bt_pod_condition condition;
	bool patch; /* the condition is to be written */
};

/** What removing victims needs to know of the preemption. */
struct bt_eviction {
	struct bt_preemption_executor *executor;
	struct bt_arena *arena;
	struct bt_preemptor preemptor;
	struct bt_str candidate_name;
};

/** Pods of lower priority that count on the node: their nomination would be in the way. */
struct bt_lower_nominations {
	struct bt_arena *arena;
	int32_t priority;
	bool may_be_pending; /* a patch that sets a name may wait for its turn */
	BT_VEC(struct bt_preemption_pod) pods;
};

/** The caller finishes the list. */
struct bt_lower_nominations bt_eviction_lower_nominations(const struct bt_eviction *eviction);
void bt_eviction_observe(struct bt_preemption_metrics *metrics, uint32_t victim_count);
#endif
