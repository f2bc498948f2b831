/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_EXTENDER_H
#define BT_FRAMEWORK_EXTENDER_H
/**
 * Extenders: outside programs that have a say in a decision. Here is what the engine asks of the
 * one who carries the questions to them, and nothing of the decision: who is asked, in which order
 * and what an answer means is the engine's business (sched/extender.h). Spec: 11b section 9.
 *
 * The engine does no I/O. Its owner passes a table of functions that carry one question each and
 * return with the answer: they may block for as long as the extender may take (httpTimeout), and
 * the engine waits, as upstream's scheduling thread does. filter, prioritize and preempt are called
 * on the scheduling thread, bind on the one that runs the binding cycle, which is the same one
 * here. None of them may touch the engine.
 *
 * sched/extender_wire.h has these functions for extenders that speak JSON over any carrier.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/message.h"
#include "config/config.h"
#include "framework/preemption.h"
#include "state/pod_info.h"
#include "state/state.h"

/** A node as it goes to an extender and comes back. */
struct bt_extender_node {
	struct bt_str name;
	/** The object as an extender returned it; absent: as the cluster has it. */
	struct bt_str json;
};

typedef BT_LIST(struct bt_extender_node) bt_extender_node_list;

/** ExtenderArgs: what filter and prioritize are asked. */
struct bt_extender_args {
	const struct bt_state *state;
	const struct bt_pod_info *pod;
	const struct bt_extender_node *nodes; /* in the order of the candidates */
	uint32_t node_count;
};

/** ExtenderFilterResult. Absent lists (null on the wire) have `present` false. */
struct bt_extender_filter_result {
	bt_extender_node_list nodes;
	bt_str_list node_names;
	struct bt_str_map failed_nodes; /* name to text, sorted by name */
	struct bt_str_map failed_and_unresolvable_nodes;
	struct bt_str error; /* not "": the extender failed */
};

struct bt_host_priority {
	struct bt_str host;
	int64_t score; /* meant to be 0 to 10 */
};

/** HostPriorityList. */
typedef BT_LIST(struct bt_host_priority) bt_host_priority_list;

/** ExtenderPreemptionArgs. The answer is a list of opinions as well: preemption.h. */
struct bt_extender_preemption_args {
	const struct bt_state *state;
	const struct bt_pod_info *pod;
	const struct bt_preemption_opinions *candidates; /* victims by uid; pods of the state */
};

/** ExtenderBindingArgs. */
struct bt_extender_binding_args {
	struct bt_str pod_name;
	struct bt_str pod_namespace;
	struct bt_str pod_uid;
	struct bt_str node;
};

/** ExtenderBindingResult. */
struct bt_extender_binding_result {
	struct bt_str error; /* not "": the extender failed */
};

/**
 * The carrier of one extender's questions. Only called for verbs that the extender has and pods it
 * is interested in. Memory of answers: the arena, which lives as long as the cycle. Results: 0, or
 * a negative code with err set when no answer came.
 */
struct bt_extender_ops {
	int (*filter)(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
		struct bt_extender_filter_result *out_result, struct berth_error *err);
	int (*prioritize)(void *context, const struct bt_extender_args *args,
		struct bt_arena *arena, bt_host_priority_list *out_priorities,
		struct berth_error *err);
	/**
	 * prioritize in two steps, so that several extenders are asked at the same time; both or
	 * neither. Each question that begins is ended, which waits for the answer.
	 */
	void *(*begin_prioritize)(
		void *context, const struct bt_extender_args *args, struct bt_arena *arena);
	int (*end_prioritize)(void *context, void *question, struct bt_arena *arena,
		bt_host_priority_list *out_priorities, struct berth_error *err);
	int (*preempt)(void *context, const struct bt_extender_preemption_args *args,
		struct bt_arena *arena, struct bt_preemption_opinions *out_answer,
		struct berth_error *err);
	/** Asked once per attempt; the extender does the binding itself. */
	int (*bind)(void *context, const struct bt_extender_binding_args *args,
		struct bt_arena *arena, struct bt_extender_binding_result *out_result,
		struct berth_error *err);
	/** The engine is done with the extender; may be NULL. */
	void (*destroy)(void *context);
};

/** An extender of the configuration and its carrier. */
struct bt_extender {
	const struct bt_config_extender *config; /* borrowed from the configuration */
	const struct bt_extender_ops *ops;
	void *context;
};

/** Makes the carriers when an engine is created, in the order of the configuration. */
struct bt_extender_factory {
	/** Errors are reported as `couldn't build extenders: <err>`. */
	int (*create)(void *context, const struct bt_config_extender *config,
		const struct bt_extender_ops **out_ops, void **out_context,
		struct berth_error *err);
	void *context;
};

/** Spec 11b section 9.3. Every pod when the extender manages no resources; else one of which a
 * container or init container names such a resource, whatever the amount. */
bool bt_extender_is_interested(
	const struct bt_config_extender *extender, const struct bt_pod_info *pod);
#endif
