/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_EXTENDER_H
#define BT_FRAMEWORK_EXTENDER_H
/**
 * Extenders: external programs that take part in a decision. This header declares how requests are
 * sent; sched/extender.h says when extenders are called and how their answers are used. Spec: 11b
 * section 9.
 *
 * The engine does no I/O. The owner of the engine passes a table of functions; each function sends
 * one request and returns the answer. A function may block until httpTimeout, and the engine waits,
 * as upstream's scheduling thread does. All functions run on the scheduling thread, which in berth
 * also runs the binding cycles. The functions must not touch the engine.
 *
 * sched/extender_wire.h implements the functions for extenders that speak JSON over any transport.
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

/** A node as sent to an extender and returned by it. */
struct bt_extender_node {
	struct bt_str name;
	/** The object that the extender returned; data NULL: the extender returned no object. */
	struct bt_str json;
};

typedef BT_LIST(struct bt_extender_node) bt_extender_node_list;

/** ExtenderArgs: input of filter and prioritize. */
struct bt_extender_args {
	const struct bt_state *state;
	const struct bt_pod_info *pod;
	const struct bt_extender_node *nodes; /* in the order of the candidates */
	uint32_t node_count;
};

/** ExtenderFilterResult. A list that the answer lacks, or that is null, has `present` false. */
struct bt_extender_filter_result {
	bt_extender_node_list nodes;
	bt_str_list node_names;
	struct bt_str_map failed_nodes; /* name to text, sorted by name */
	struct bt_str_map failed_and_unresolvable_nodes;
	struct bt_str error; /* if not "", the extender failed */
};

struct bt_host_priority {
	struct bt_str host;
	int64_t score; /* should be 0 to 10 */
};

/** HostPriorityList. */
typedef BT_LIST(struct bt_host_priority) bt_host_priority_list;

/** ExtenderPreemptionArgs. The answer has the type of `candidates`: framework/preemption.h. */
struct bt_extender_preemption_args {
	const struct bt_state *state;
	const struct bt_pod_info *pod;
	const struct bt_node_victims_list *candidates; /* victims are pods of the state */
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
	struct bt_str error; /* if not "", the extender failed */
};

/**
 * Transport of one extender. The engine calls a function only if the extender has the verb and is
 * interested in the pod. Answers are in the arena, which lives as long as the cycle. Functions
 * return 0, or a negative code with err set if no answer came.
 */
struct bt_extender_ops {
	int (*filter)(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
		struct bt_extender_filter_result *out_result, struct berth_error *err);
	int (*prioritize)(void *context, const struct bt_extender_args *args,
		struct bt_arena *arena, bt_host_priority_list *out_priorities,
		struct berth_error *err);
	/**
	 * prioritize in two steps, so that several extenders work at the same time.
	 * begin_prioritize sends the request and returns a call; end_prioritize, called once for
	 * each call, waits for the answer. A transport has both functions or neither.
	 */
	void *(*begin_prioritize)(
		void *context, const struct bt_extender_args *args, struct bt_arena *arena);
	int (*end_prioritize)(void *context, void *call, struct bt_arena *arena,
		bt_host_priority_list *out_priorities, struct berth_error *err);
	int (*preempt)(void *context, const struct bt_extender_preemption_args *args,
		struct bt_arena *arena, struct bt_node_victims_list *out_answer,
		struct berth_error *err);
	/** Called once per scheduling attempt. The extender itself sends the binding to the API. */
	int (*bind)(void *context, const struct bt_extender_binding_args *args,
		struct bt_arena *arena, struct bt_extender_binding_result *out_result,
		struct berth_error *err);
	/** Releases the transport; may be NULL. */
	void (*destroy)(void *context);
};

/** An extender of the configuration and its transport. */
struct bt_extender {
	const struct bt_config_extender *config; /* borrowed from the configuration */
	const struct bt_extender_ops *ops;
	void *context;
};

/** Makes the transports when an engine is created, in the order of the configuration. */
struct bt_extender_factory {
	/**
	 * Creates the transport of one extender. Returns 0, or a negative code with err set, which
	 * is reported as `couldn't build extenders: <err>`.
	 */
	int (*create)(void *context, const struct bt_config_extender *config,
		const struct bt_extender_ops **out_ops, void **out_context,
		struct berth_error *err);
	void *context;
};

/**
 * Whether the extender is interested in the pod: the extender manages no resources, or a container
 * or init container has a request or limit, of any amount, for a managed resource. Spec 11b section
 * 9.3.
 */
bool bt_extender_is_interested(
	const struct bt_config_extender *extender, const struct bt_pod_info *pod);
#endif
