/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A Permit plugin: the pods of a gang start together or not at all. Two labels make a gang:
 *
 *         pod-group.example.com/name: training
 *         pod-group.example.com/min-available: "4"
 *
 * A pod waits with a reserved node until min-available pods of its gang have a node. The pod that
 * completes the gang allows the waiting pods; when one pod of a gang fails, the plugin rejects the
 * waiting pods of the gang.
 *
 *         pluginConfig:
 *         - name: Coscheduling
 *           args: {permitWaitingTime: 60s}
 *
 * The plugin shows the use of labels, the snapshot, waiting pods, Reserve and
 * Unreserve, statuses with texts.
 */
#include <stdlib.h>

#include "berth/plugin.h"

#define NAME "Coscheduling"
#define GROUP_LABEL "pod-group.example.com/name"
#define MIN_AVAILABLE_LABEL "pod-group.example.com/min-available"
#define NANOSECONDS_PER_SECOND INT64_C(1000000000)

struct args {
	int64_t permit_waiting_time_ns;
};

struct coscheduling {
	struct berth_plugin base;
	struct args args;
	const struct berth_handle *handle;
	bool giving_up; /* while the other pods of a gang are rejected */
};

struct gang {
	struct berth_str pod_namespace;
	struct berth_str name; /* no data: the pod is in no gang */
	uint32_t min_available;
};

static const struct berth_args_field args_fields[] = {
	{"permitWaitingTime", BERTH_ARGS_DURATION, offsetof(struct args, permit_waiting_time_ns),
		NULL},
};

static const struct berth_args_schema args_schema = {
	.type_name = "CoschedulingArgs",
	.size = sizeof(struct args),
	.fields = args_fields,
	.field_count = 1,
	.strict = true,
};

static struct coscheduling *coscheduling_of(struct berth_plugin *plugin)
{
	return (struct coscheduling *)(void *)plugin;
}

/** Returns false if the text is not a number of pods. */
static bool parse_count(struct berth_str text, uint32_t *out_count)
{
	uint32_t count = 0;

	if (text.length == 0 || text.length > 6) {
		return false;
	}
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '9') {
			return false;
		}
		count = count * 10 + (uint32_t)(text.data[i] - '0');
	}
	*out_count = count;
	return true;
}

/** The gang of a pod; a pod without the labels, or with invalid ones, is in no gang. */
static struct gang gang_of(const struct berth_pod_info *pod)
{
	struct gang gang = {.pod_namespace = berth_pod_info_namespace(pod)};
	struct berth_str min_available = berth_pod_info_label(pod, BERTH_STR(MIN_AVAILABLE_LABEL));

	if (parse_count(min_available, &gang.min_available)) {
		gang.name = berth_pod_info_label(pod, BERTH_STR(GROUP_LABEL));
	}
	return gang;
}

static bool is_member(const struct gang *gang, const struct berth_pod_info *pod)
{
	return berth_str_equal(gang->pod_namespace, berth_pod_info_namespace(pod)) &&
		berth_str_equal(gang->name, berth_pod_info_label(pod, BERTH_STR(GROUP_LABEL)));
}

/**
 * Number of members that have a node, bound or waiting in Permit, without the pod of this cycle.
 */
static uint32_t count_assigned(
	const struct coscheduling *plugin, const struct gang *gang, struct berth_arena *arena)
{
	uint32_t node_count = 0;
	uint32_t assigned = 0;
	const struct berth_node_info *const *nodes = berth_shared_lister_list(
		berth_handle_snapshot_shared_lister(plugin->handle), arena, &node_count);

	for (uint32_t n = 0; n < node_count; n++) {
		uint32_t pod_count = berth_node_info_pod_count(nodes[n]);

		for (uint32_t p = 0; p < pod_count; p++) {
			if (is_member(gang, berth_node_info_pod_at(nodes[n], p, arena))) {
				assigned++;
			}
		}
	}
	return assigned;
}

static void allow_member(void *context, struct berth_waiting_pod *pod)
{
	if (is_member(context, berth_waiting_pod_get_pod(pod))) {
		berth_waiting_pod_allow(pod, NAME);
	}
}

static void reject_member(void *context, struct berth_waiting_pod *pod)
{
	if (is_member(context, berth_waiting_pod_get_pod(pod))) {
		(void)berth_waiting_pod_reject(
			pod, NAME, "another pod of the gang found no place in time");
	}
}

static struct berth_status permit(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name, int64_t *out_timeout_ns)
{
	const struct coscheduling *coscheduling = coscheduling_of(plugin);
	struct berth_arena *arena = berth_cycle_state_arena(state);
	struct gang gang = gang_of(pod);

	(void)node_name;
	if (gang.name.data == NULL) {
		return BERTH_STATUS_SUCCESS;
	}
	uint32_t assigned = count_assigned(coscheduling, &gang, arena) + 1;

	if (assigned < gang.min_available) {
		*out_timeout_ns = coscheduling->args.permit_waiting_time_ns;
		return berth_status_printf(arena, BERTH_CODE_WAIT,
			"%u of %u pods of the gang have a node", assigned, gang.min_available);
	}
	berth_handle_iterate_over_waiting_pods(coscheduling->handle, allow_member, &gang);
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status reserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)plugin;
	(void)state;
	(void)pod;
	(void)node_name;
	return BERTH_STATUS_SUCCESS;
}

/** A member releases its node: reject the waiting members, since the gang is no longer complete. */
static void unreserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	struct coscheduling *coscheduling = coscheduling_of(plugin);
	struct gang gang = gang_of(pod);

	(void)state;
	(void)node_name;
	if (gang.name.data == NULL || coscheduling->giving_up) {
		return;
	}
	coscheduling->giving_up = true;
	berth_handle_iterate_over_waiting_pods(coscheduling->handle, reject_member, &gang);
	coscheduling->giving_up = false;
}

/** A rejected gang may fit once a pod is added or deleted, or a node changes. */
static int events_to_register(struct berth_plugin *plugin,
	const struct berth_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	static const struct berth_event_registration events[] = {
		{{{"Pod", 3}, BERTH_ACTION_ADD | BERTH_ACTION_DELETE}, NULL},
		{{{"Node", 4}, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ALLOCATABLE}, NULL},
	};

	(void)plugin;
	(void)err;
	*out_events = events;
	*out_count = 2;
	return BERTH_OK;
}

static void destroy(struct berth_plugin *plugin)
{
	free(plugin);
}

static const struct berth_plugin_ops ops = {
	.size = sizeof(struct berth_plugin_ops),
	.name = NAME,
	.destroy = destroy,
	.events_to_register = events_to_register,
	.reserve = reserve,
	.unreserve = unreserve,
	.permit = permit,
};

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	struct coscheduling *coscheduling = calloc(1, sizeof(*coscheduling));

	(void)context;
	if (coscheduling == NULL) {
		return berth_error_set(err, BERTH_ERR_INTERNAL, "out of memory");
	}
	coscheduling->base.ops = &ops;
	coscheduling->handle = handle;
	coscheduling->args.permit_waiting_time_ns = 60 * NANOSECONDS_PER_SECOND;

	struct berth_arena *arena = berth_arena_create();
	int result =
		berth_plugin_args_decode_into(args, &args_schema, arena, &coscheduling->args, err);

	berth_arena_destroy(arena); /* the number does not refer to the arena */
	if (result == BERTH_OK && coscheduling->args.permit_waiting_time_ns <= 0) {
		result = berth_error_set(
			err, BERTH_ERR_INVALID, "permitWaitingTime: must be greater than 0");
	}
	if (result != BERTH_OK) {
		destroy(&coscheduling->base);
		return result;
	}
	*out_plugin = &coscheduling->base;
	return BERTH_OK;
}

static const struct berth_plugin_descriptor plugins[] = {{NAME, create, NULL}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "coscheduling",
	.plugins = plugins,
	.plugin_count = 1,
};
