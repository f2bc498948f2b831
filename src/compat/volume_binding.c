/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/volume_binding.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compat/convert_storage.h"
#include "compat/volume_binder.h"
#include "config/default.h"
#include "plugins/in_tree.h"
#include "plugins/volume_binding.h"

/** Number of entries in bt_volume_binding_events. */
#define EVENT_COUNT 7

/** The public plugin, which calls an instance of the in-tree plugin. */
struct own_binding {
	struct berth_volume_binding outside; /* first: public pointers point here */
	const struct bt_handle *handle;      /* the caller's, borrowed */
	struct bt_handle own_handle;         /* copy of `handle` that refers to `gates` */
	struct bt_gates gates;
	struct berth_volume_binder *first_binder;
	struct bt_plugin *inside; /* the in-tree plugin; uses the current binder of `outside` */
	struct berth_event_registration registrations[EVENT_COUNT];
	struct berth_cluster_event_with_hint events[EVENT_COUNT];
};

static struct own_binding *own_of(const struct berth_volume_binding *plugin)
{
	return (struct own_binding *)(uintptr_t)plugin;
}

/**
 * The public plugin stores its data in the cycle state under its name. The in-tree plugin reads its
 * data by index, so it gets a view of the cycle state with the data at index 0.
 */
struct visit {
	struct bt_cycle_state *cycle;
	struct bt_cycle_state view;
	void *datum;
};

static const struct bt_str datum_key = BT_STR_INIT(BERTH_PLUGIN_VOLUME_BINDING);

static struct bt_cycle_state *begin_visit(
	struct own_binding *own, struct berth_cycle_state *state, struct visit *visit)
{
	own->own_handle = *own->handle;
	own->own_handle.gates = &own->gates;
	visit->cycle = bt_cycle_state_of(state);
	visit->view = *visit->cycle;
	visit->datum = NULL;
	if (bt_cycle_state_read(visit->cycle, datum_key, &visit->datum, NULL) != BERTH_OK) {
		visit->datum = NULL;
	}
	visit->view.pre_filter_data = &visit->datum;
	visit->view.plugin_count = 1;
	return &visit->view;
}

static void end_visit(struct visit *visit)
{
	visit->cycle->wake_ns = visit->view.wake_ns;
	if (visit->datum != NULL) {
		bt_cycle_state_write(visit->cycle, datum_key, visit->datum, NULL);
	}
}

static uint32_t slot_of(const struct own_binding *own, struct bt_str node_name)
{
	return bt_node_table_find(&own->handle->state->nodes, node_name);
}

const char *berth_volume_binding_name(const struct berth_volume_binding *plugin)
{
	return plugin->base.ops->name;
}

struct berth_status berth_volume_binding_pre_filter(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_pre_filter_result *out_result)
{
	struct own_binding *own = own_of(plugin);
	struct bt_pre_filter_result result = {0};
	struct visit visit;
	struct bt_status status = bt_volume_binding_plugin.pre_filter(
		own->inside, begin_visit(own, state, &visit), bt_const_pod_info_of(pod), &result);

	end_visit(&visit);
	*out_result = (struct berth_pre_filter_result){
		.restricted = result.restricted, .count = result.count, .names = result.names};
	return status;
}

const struct berth_pre_filter_extensions *berth_volume_binding_pre_filter_extensions(
	BT_UNUSED const struct berth_volume_binding *plugin)
{
	return NULL;
}

struct berth_status berth_volume_binding_filter(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node)
{
	struct own_binding *own = own_of(plugin);
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(own->handle, node, &buffer);
	struct visit visit;

	if (view == NULL) {
		return bt_lib_unknown_node(
			bt_cycle_state_of(state)->arena, berth_node_info_name(node));
	}
	struct bt_status status = bt_volume_binding_plugin.filter(
		own->inside, begin_visit(own, state, &visit), bt_const_pod_info_of(pod), view);
	end_visit(&visit);
	return status;
}

struct berth_status berth_volume_binding_pre_score(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	BT_UNUSED const struct berth_node_info *const *nodes, BT_UNUSED uint32_t node_count)
{
	struct own_binding *own = own_of(plugin);
	struct visit visit;
	struct bt_status status = bt_volume_binding_plugin.pre_score(
		own->inside, begin_visit(own, state, &visit), bt_const_pod_info_of(pod), NULL, 0);

	end_visit(&visit);
	return status;
}

struct berth_status berth_volume_binding_score(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, int64_t *out_score)
{
	struct own_binding *own = own_of(plugin);
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(own->handle, node, &buffer);
	struct visit visit;

	*out_score = 0;
	if (view == NULL) {
		return bt_lib_unknown_node(
			bt_cycle_state_of(state)->arena, berth_node_info_name(node));
	}
	struct bt_status status = bt_volume_binding_plugin.score(own->inside,
		begin_visit(own, state, &visit), bt_const_pod_info_of(pod), view, out_score);
	end_visit(&visit);
	return status;
}

const struct berth_score_extensions *berth_volume_binding_score_extensions(
	BT_UNUSED const struct berth_volume_binding *plugin)
{
	return NULL;
}

/** Runs Reserve or PreBind. */
static struct bt_status run_on_node(struct berth_volume_binding *plugin,
	struct bt_status (*run)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot),
	struct berth_cycle_state *state, const struct berth_pod_info *pod, struct bt_str node_name)
{
	struct own_binding *own = own_of(plugin);
	struct visit visit;
	struct bt_status status = run(own->inside, begin_visit(own, state, &visit),
		bt_const_pod_info_of(pod), slot_of(own, node_name));

	end_visit(&visit);
	return status;
}

struct berth_status berth_volume_binding_reserve(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	return run_on_node(plugin, bt_volume_binding_plugin.reserve, state, pod, node_name);
}

struct berth_status berth_volume_binding_pre_bind_pre_flight(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, bool *out_allow_parallel)
{
	struct own_binding *own = own_of(plugin);
	struct bt_pre_bind_pre_flight result = {0};
	struct visit visit;
	struct bt_status status = bt_volume_binding_plugin.pre_bind_pre_flight(own->inside,
		begin_visit(own, state, &visit), bt_const_pod_info_of(pod), slot_of(own, node_name),
		&result);

	end_visit(&visit);
	*out_allow_parallel = result.allow_parallel;
	return status;
}

struct berth_status berth_volume_binding_pre_bind(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	return run_on_node(plugin, bt_volume_binding_plugin.pre_bind, state, pod, node_name);
}

void berth_volume_binding_unreserve(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct own_binding *own = own_of(plugin);
	struct visit visit;

	bt_volume_binding_plugin.unreserve(own->inside, begin_visit(own, state, &visit),
		bt_const_pod_info_of(pod), slot_of(own, node_name));
	end_visit(&visit);
}

static enum berth_queueing_hint run_hint(struct berth_plugin *plugin, uint32_t index,
	const struct berth_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	const struct bt_hint_call call = {
		.plugin = own_of((struct berth_volume_binding *)(void *)plugin)->inside,
		.pod = bt_const_pod_info_of(pod),
		.old_object = old_object,
		.new_object = new_object,
		.registration = index,
		.err = err,
	};

	return bt_volume_binding_events[index].hint(&call) ? BERTH_QUEUEING_HINT_QUEUE
							   : BERTH_QUEUEING_HINT_SKIP;
}

#define HINT(index_) \
	static enum berth_queueing_hint hint_##index_(struct berth_plugin *plugin, \
		const struct berth_pod_info *pod, const void *old_object, const void *new_object, \
		struct berth_error *err) \
	{ \
		return run_hint(plugin, (index_), pod, old_object, new_object, err); \
	} \
	static_assert((index_) < EVENT_COUNT, "one hint for each event")

HINT(0);
HINT(1);
HINT(2);
HINT(3);
HINT(4);
HINT(5);
HINT(6);
#undef HINT

const struct berth_cluster_event_with_hint *berth_volume_binding_events_to_register(
	const struct berth_volume_binding *plugin, uint32_t *out_count)
{
	*out_count = EVENT_COUNT;
	return own_of(plugin)->events;
}

static struct berth_volume_binding *outside_of(struct berth_plugin *plugin)
{
	return (struct berth_volume_binding *)(void *)plugin;
}

static void destroy(struct berth_plugin *plugin)
{
	berth_volume_binding_destroy(outside_of(plugin));
}

static int events_to_register(struct berth_plugin *plugin,
	const struct berth_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = own_of(outside_of(plugin))->registrations;
	*out_count = EVENT_COUNT;
	return BERTH_OK;
}

static struct berth_status pre_filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_pre_filter_result *out_result)
{
	return berth_volume_binding_pre_filter(outside_of(plugin), state, pod, out_result);
}

static struct berth_status filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	return berth_volume_binding_filter(outside_of(plugin), state, pod, node);
}

static struct berth_status pre_score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *const *nodes,
	uint32_t node_count)
{
	return berth_volume_binding_pre_score(outside_of(plugin), state, pod, nodes, node_count);
}

static struct berth_status score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node, int64_t *out_score)
{
	return berth_volume_binding_score(outside_of(plugin), state, pod, node, out_score);
}

static struct berth_status reserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	return berth_volume_binding_reserve(outside_of(plugin), state, pod, node_name);
}

static void unreserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	berth_volume_binding_unreserve(outside_of(plugin), state, pod, node_name);
}

static struct berth_status pre_bind_pre_flight(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, bool *out_allow_parallel)
{
	return berth_volume_binding_pre_bind_pre_flight(
		outside_of(plugin), state, pod, node_name, out_allow_parallel);
}

static struct berth_status pre_bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	return berth_volume_binding_pre_bind(outside_of(plugin), state, pod, node_name);
}

static const struct berth_plugin_ops plugin_ops = {
	.size = sizeof(struct berth_plugin_ops),
	.name = BERTH_PLUGIN_VOLUME_BINDING,
	.destroy = destroy,
	.events_to_register = events_to_register,
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.reserve = reserve,
	.unreserve = unreserve,
	.pre_bind_pre_flight = pre_bind_pre_flight,
	.pre_bind = pre_bind,
};

struct berth_features berth_handle_features(const struct berth_handle *handle)
{
	return (struct berth_features){
		.enable_storage_capacity_scoring =
			berth_handle_feature_enabled(handle, "StorageCapacityScoring"),
	};
}

static const struct bt_persistent_volume_claim *get_claim(
	void *context, struct bt_str namespace_, struct bt_str name)
{
	const struct own_binding *own = context;

	return berth_lister_get(&own->outside.pvc_lister, namespace_, name);
}

/** Converts the arguments, with the defaults that the configuration would set. */
static struct bt_plugin_args read_args(const struct berth_volume_binding_args *given,
	const struct bt_gates *gates, struct bt_arena *arena)
{
	struct berth_volume_binding_args args = BERTH_VOLUME_BINDING_ARGS_INIT;
	struct bt_plugin_args inside = {.kind = BT_ARGS_VOLUME_BINDING};

	bt_lib_read_options(&args, sizeof(args), given);
	inside.volume_binding.bind_timeout_seconds =
		(struct bt_opt_i64){true, args.bind_timeout_seconds};
	if (args.shape == NULL) {
		bt_plugin_args_default(&inside, gates, arena);
		return inside;
	}
	struct bt_utilization_shape_point *shape =
		BT_ARENA_NEW_ARRAY(arena, struct bt_utilization_shape_point, args.shape_count);

	for (uint32_t i = 0; i < args.shape_count; i++) {
		shape[i].utilization = args.shape[i].utilization;
		shape[i].score = args.shape[i].score;
	}
	inside.volume_binding.shape =
		(bt_utilization_shape_point_list){shape, args.shape_count, true};
	return inside;
}

int berth_volume_binding_create(const struct berth_volume_binding_args *args,
	const struct berth_handle *handle, const struct berth_features *features,
	struct berth_volume_binding **out_plugin, struct berth_error *err)
{
	static const berth_queueing_hint_fn hints[EVENT_COUNT] = {
		hint_0, hint_1, hint_2, hint_3, hint_4, hint_5, hint_6};
	struct berth_volume_binder_options options = BERTH_VOLUME_BINDER_OPTIONS_INIT;

	if (args == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"want args to be of type VolumeBindingArgs, got <nil>");
	}
	struct own_binding *own = BT_NEW(struct own_binding);
	own->handle = bt_const_handle_of(handle);
	own->gates = *own->handle->gates;
	if (features != NULL) {
		own->gates.enabled[BT_GATE_STORAGE_CAPACITY_SCORING] =
			features->enable_storage_capacity_scoring;
	}
	own->own_handle = *own->handle;
	own->own_handle.gates = &own->gates;
	struct bt_arena arena = {0};
	struct bt_plugin_args inside = read_args(args, &own->gates, &arena);
	int result = bt_plugin_create(
		&bt_volume_binding_plugin, &inside, &own->own_handle, &own->inside, err);
	bt_arena_finish(&arena);
	if (result != BERTH_OK) {
		bt_free(own);
		return result;
	}
	if (inside.volume_binding.bind_timeout_seconds.value <= INT64_MAX / INT64_C(1000000000)) {
		options.bind_timeout_ns =
			inside.volume_binding.bind_timeout_seconds.value * INT64_C(1000000000);
	} else {
		options.bind_timeout_ns = INT64_MAX;
	}
	own->outside.base.ops = &plugin_ops;
	/* Copy the events of the in-tree plugin, with hints that accept the public plugin. */
	BT_ASSERT(bt_volume_binding_event_count == EVENT_COUNT);
	for (uint32_t i = 0; i < EVENT_COUNT; i++) {
		const struct bt_event_registration *event = &bt_volume_binding_events[i];

		own->events[i].event.resource = event->event.resource;
		own->events[i].event.action = event->event.action;
		own->events[i].queueing_hint = event->hint != NULL ? hints[i] : NULL;
		own->registrations[i].event = own->events[i].event;
		own->registrations[i].hint = own->events[i].queueing_hint;
	}
	own->first_binder = berth_volume_binder_create(handle, NULL, NULL, &options);
	own->outside.binder = own->first_binder;
	own->outside.pvc_lister = berth_handle_lister(handle, "PersistentVolumeClaim");
	bt_volume_binding_set_binder(
		own->inside, bt_outside_binder_create(&own->outside.binder, NULL));
	bt_volume_binding_set_claims(own->inside, get_claim, own);
	*out_plugin = &own->outside;
	return BERTH_OK;
}

void berth_volume_binding_destroy(struct berth_volume_binding *plugin)
{
	struct own_binding *own = own_of(plugin);

	if (plugin == NULL) {
		return;
	}
	bt_volume_binding_plugin.destroy(own->inside);
	berth_volume_binder_destroy(own->first_binder);
	bt_free(own);
}

int berth_volume_binding_replace_binder(struct berth_framework *framework,
	struct berth_volume_binder *binder, struct berth_error *err)
{
	struct bt_plugin *plugin = bt_framework_find_plugin(bt_framework_of(framework), datum_key);

	if (plugin == NULL || plugin->ops != &bt_volume_binding_plugin) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"the profile does not enable berth's plugin VolumeBinding");
	}
	bt_volume_binding_set_binder(plugin, bt_outside_binder_create(NULL, binder));
	return BERTH_OK;
}
