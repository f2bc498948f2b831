/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_COMPAT_RECORDER_H
#define BT_TESTS_UNIT_COMPAT_RECORDER_H
/**
 * A plugin that records its calls and returns the codes that the test sets; for one test program.
 */
#include <stdlib.h>

#include "cluster.h"

enum point {
	POINT_PRE_FILTER,
	POINT_ADD_POD,
	POINT_REMOVE_POD,
	POINT_FILTER,
	POINT_POST_FILTER,
	POINT_PRE_SCORE,
	POINT_SCORE,
	POINT_RESERVE,
	POINT_PERMIT,
	POINT_PRE_FLIGHT,
	POINT_PRE_BIND,
	POINT_BIND,
	POINT_PRE_ENQUEUE,
	POINT__COUNT,
};

struct recorder {
	struct berth_plugin base;
	struct berth_plugin_ops ops;
	const struct berth_handle *handle;
	char name; /* 'A' or 'B' */
};

static struct {
	char log[512];
	enum berth_code answers[2][POINT__COUNT];
	const char *only_node[2]; /* the only node that PreFilter allows */
	int64_t timeout_ns;
} told;

static int index_of(const struct berth_plugin *plugin)
{
	return ((const struct recorder *)(const void *)plugin)->name == 'A' ? 0 : 1;
}

static void note(const struct berth_plugin *plugin, const char *text)
{
	size_t length = strlen(told.log);

	(void)snprintf(told.log + length, sizeof(told.log) - length, "%c.%s ",
		((const struct recorder *)(const void *)plugin)->name, text);
}

static struct berth_status answer(
	struct berth_plugin *plugin, struct berth_arena *arena, enum point point, const char *text)
{
	enum berth_code code = told.answers[index_of(plugin)][point];

	note(plugin, text);
	return code == BERTH_CODE_SUCCESS
		? BERTH_STATUS_SUCCESS
		: berth_status_printf(arena, code, "%c says no", "AB"[index_of(plugin)]);
}

#define ANSWER(point, text) answer(plugin, berth_cycle_state_arena(state), (point), (text))

static struct berth_status pre_filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_pre_filter_result *out_result)
{
	static struct berth_str names[2];
	int index = index_of(plugin);

	(void)pod;
	if (told.only_node[index] != NULL) {
		names[index] = berth_str_from(told.only_node[index]);
		*out_result = (struct berth_pre_filter_result){true, 1, &names[index]};
	}
	return ANSWER(POINT_PRE_FILTER, "PreFilter");
}

static struct berth_status add_pod(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_add,
	const struct berth_node_info *node)
{
	(void)pod_to_schedule;
	(void)pod_to_add;
	(void)node;
	return ANSWER(POINT_ADD_POD, "AddPod");
}

static struct berth_status remove_pod(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_remove,
	const struct berth_node_info *node)
{
	(void)pod_to_schedule;
	(void)pod_to_remove;
	(void)node;
	return ANSWER(POINT_REMOVE_POD, "RemovePod");
}

static const struct berth_pre_filter_extensions extensions = {add_pod, remove_pod};

static struct berth_status filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	(void)pod;
	(void)node;
	return ANSWER(POINT_FILTER, "Filter");
}

static struct berth_status post_filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_to_status *statuses,
	struct berth_post_filter_result *out_result)
{
	struct berth_status status = berth_node_to_status_get(statuses, BERTH_STR("n1"));

	(void)pod;
	if (berth_status_code(&status) == BERTH_CODE_UNSCHEDULABLE) {
		*out_result = (struct berth_post_filter_result){
			true, BERTH_NOMINATING_OVERRIDE, BERTH_STR("n1")};
	}
	return ANSWER(POINT_POST_FILTER, "PostFilter");
}

static struct berth_status pre_score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *const *nodes,
	uint32_t node_count)
{
	(void)pod;
	(void)nodes;
	ck_assert_uint_eq(node_count, 2);
	return ANSWER(POINT_PRE_SCORE, "PreScore");
}

/** Plugin A scores 10 times the digit in the node's name, plugin B always scores 1. */
static struct berth_status score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node, int64_t *out_score)
{
	struct berth_str name = berth_node_info_name(node);

	(void)pod;
	*out_score = index_of(plugin) == 0 ? 10 * (name.data[1] - '0') : 1;
	return ANSWER(POINT_SCORE, "Score");
}

static struct berth_status reserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)pod;
	cluster_expect(node_name, "n1");
	return ANSWER(POINT_RESERVE, "Reserve");
}

static void unreserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)state;
	(void)pod;
	cluster_expect(node_name, "n1");
	note(plugin, "Unreserve");
}

static struct berth_status permit(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name, int64_t *out_timeout_ns)
{
	(void)pod;
	(void)node_name;
	*out_timeout_ns = told.timeout_ns;
	return ANSWER(POINT_PERMIT, "Permit");
}

static struct berth_status pre_flight(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name, bool *out_allow_parallel)
{
	(void)pod;
	(void)node_name;
	*out_allow_parallel = false;
	return ANSWER(POINT_PRE_FLIGHT, "PreFlight");
}

static struct berth_status pre_bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)pod;
	(void)node_name;
	return ANSWER(POINT_PRE_BIND, "PreBind");
}

static struct berth_status bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)pod;
	(void)node_name;
	return ANSWER(POINT_BIND, "Bind");
}

static void post_bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)state;
	(void)pod;
	(void)node_name;
	note(plugin, "PostBind");
}

static struct berth_status pre_enqueue(
	struct berth_plugin *plugin, const struct berth_pod_info *pod, struct berth_arena *arena)
{
	(void)pod;
	return answer(plugin, arena, POINT_PRE_ENQUEUE, "PreEnqueue");
}

static void destroy(struct berth_plugin *plugin)
{
	free(plugin);
}

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	(void)args;
	(void)err;
	recorder->name = *(const char *)context;
	recorder->handle = handle;
	recorder->ops = (struct berth_plugin_ops){
		.size = sizeof(recorder->ops),
		.name = context,
		.destroy = destroy,
		.pre_enqueue = pre_enqueue,
		.pre_filter = pre_filter,
		.pre_filter_extensions = &extensions,
		.filter = filter,
		.post_filter = post_filter,
		.pre_score = pre_score,
		.score = score,
		.reserve = reserve,
		.unreserve = unreserve,
		.permit = permit,
		.pre_bind_pre_flight = pre_flight,
		.pre_bind = pre_bind,
		.bind = bind,
		.post_bind = post_bind,
	};
	recorder->base.ops = &recorder->ops;
	*out_plugin = &recorder->base;
	return 0;
}
#endif
