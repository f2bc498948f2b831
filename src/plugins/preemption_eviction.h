/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_EVICTION_H
#define BT_PLUGINS_PREEMPTION_EVICTION_H
/**
 * Steps of a preemption that both forms of the Executor take, and the synchronous form. Spec: 08
 * sections 11.1, 11.2 and 11.4. For the files of the Executor only.
 */
#include "base/vec.h"
#include "plugins/preemption_executor.h"

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

void bt_eviction_init_victim(
	const struct bt_eviction *eviction, uint32_t pod_id, struct bt_victim *out);
void bt_eviction_send_event(
	const struct bt_eviction *eviction, const struct bt_victim *victim, bool in_memory);
/** A victim on its way to a node is stopped without asking the API. */
bool bt_eviction_stop_in_memory(const struct bt_eviction *eviction, const struct bt_victim *victim);
/** The caller finishes the list. */
struct bt_lower_nominations bt_eviction_lower_nominations(const struct bt_eviction *eviction);
bool bt_eviction_is_terminating(const struct bt_preemption_executor *executor, uint32_t pod_id);
void bt_eviction_observe(struct bt_preemption_metrics *metrics, uint32_t victim_count);
/** The synchronous form: Success, or Error when a write failed. */
struct bt_status bt_eviction_run_now(
	struct bt_eviction *eviction, const uint32_t *victims, uint32_t victim_count);
#endif
