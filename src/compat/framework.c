/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The public framework: a framework of src/framework without an engine, and runners for its
 * extension points.
 */
#include "compat/framework.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "berth/volume_binding.h"
#include "compat/volume_binder.h"
#include "framework/waiting_pods.h"
#include "lib/convert.h"
#include "lib/node_to_status.h"
#include "lib/registry.h"
#include "plugins/in_tree.h"
#include "plugins/volume_binding.h"
#include "sched/engine.h"

/**
 * The parts of a framework that an engine would provide. `services` must be first, because
 * berth_framework_destroy finds this structure by the address of the services.
 */
struct own_framework {
	struct bt_handle_services services;
	struct bt_state
		*state; /* owned; NULL: the state is that of options.snapshot_shared_lister */
	struct bt_nominator nominator;
	struct bt_waiting_pods waiting;
	struct berth_volume_binder
		*volume_binder; /* the caller's, borrowed; NULL: plugins use their default binder */
};

static void destroy_own(struct own_framework *own)
{
	bt_waiting_pods_finish(&own->waiting);
	bt_nominator_finish(&own->nominator);
	bt_state_destroy(own->state);
	bt_free(own);
}

int berth_framework_create(const struct berth_registry *registry, struct berth_config *config,
	uint32_t profile_index, const struct berth_framework_options *given,
	struct berth_framework **out_framework, struct berth_error *err)
{
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;
	struct bt_config *inside = bt_config_of(config);
	struct bt_framework *framework = NULL;
	struct bt_state *state;

	bt_lib_read_options(&options, sizeof(options), given);
	if (profile_index >= inside->document.profiles.count) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the configuration has no profile %u",
			profile_index);
	}
	struct own_framework *own = BT_NEW(struct own_framework);

	if (options.snapshot_shared_lister != NULL) {
		/* The lister is constant, but plugins add counters to its state. */
		state = (struct bt_state *)bt_const_shared_lister_of(options.snapshot_shared_lister)
				->state;
	} else {
		struct bt_state_options settings = bt_engine_state_options(&inside->gates);

		own->state = bt_state_create(&settings);
		state = own->state;
	}
	bt_nominator_init(&own->nominator, state);
	bt_waiting_pods_init(&own->waiting);
	own->services = (struct bt_handle_services){
		.client_set = options.client_set,
		.informer_factory = options.informer_factory,
		.volume_binder = options.volume_binder,
	};
	int result = bt_framework_create(
		&registry->inside, inside, profile_index, state, &own->nominator, &framework, err);

	if (result != BERTH_OK) {
		destroy_own(own);
		return result;
	}
	own->volume_binder = options.volume_binder;
	/* VolumeBinding is the only plugin that uses the binder: spec 07 section 16.4. */
	struct bt_plugin *plugin = bt_framework_find_plugin(framework, BT_STR("VolumeBinding"));

	if (own->volume_binder != NULL && plugin != NULL &&
		plugin->ops == &bt_volume_binding_plugin) {
		bt_volume_binding_set_binder(
			plugin, bt_outside_binder_create(&own->volume_binder, NULL));
	}
	framework->run_all_filters = options.run_all_filters;
	framework->handle.services = &own->services;
	framework->handle.waiting_pods = &own->waiting;
	*out_framework = berth_framework_of(framework);
	return BERTH_OK;
}

void berth_framework_destroy(struct berth_framework *outside)
{
	struct bt_framework *framework = bt_framework_of(outside);

	if (framework == NULL) {
		return;
	}
	struct own_framework *own = (struct own_framework *)framework->handle.services;

	bt_framework_destroy(framework);
	destroy_own(own);
}

struct berth_str berth_framework_scheduler_name(const struct berth_framework *framework)
{
	return bt_const_framework_of(framework)->scheduler_name;
}

const struct berth_handle *berth_framework_handle(const struct berth_framework *framework)
{
	return berth_const_handle_of(&bt_const_framework_of(framework)->handle);
}

void berth_framework_set_now_ns(struct berth_framework *framework, int64_t now_ns)
{
	bt_framework_of(framework)->handle.now_ns = now_ns;
}

struct berth_str berth_framework_status_plugin(
	const struct berth_framework *framework, const struct berth_status *status)
{
	const struct bt_framework *inside = bt_const_framework_of(framework);

	return status->plugin <= inside->instances.count
		? bt_framework_status_plugin_name(inside, status)
		: BT_STR("");
}

static bool has_plugins(const struct berth_framework *framework, enum bt_extension_point point)
{
	return bt_const_framework_of(framework)->points[point].entries.count != 0;
}

bool berth_framework_has_filter_plugins(const struct berth_framework *framework)
{
	return has_plugins(framework, BT_POINT_FILTER);
}

bool berth_framework_has_post_filter_plugins(const struct berth_framework *framework)
{
	return has_plugins(framework, BT_POINT_POST_FILTER);
}

bool berth_framework_has_score_plugins(const struct berth_framework *framework)
{
	return has_plugins(framework, BT_POINT_SCORE);
}

const struct berth_plugin_entry *berth_framework_list_plugins(
	const struct berth_framework *framework, enum berth_extension_point point,
	struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_framework *inside = bt_const_framework_of(framework);

	*out_count = 0;
	if ((int)point < 0 || point >= BERTH_POINT_MULTI_POINT) {
		return NULL;
	}
	const struct bt_framework_point *list = &inside->points[point];
	bool weighted = point == BERTH_POINT_SCORE || point == BERTH_POINT_PLACEMENT_SCORE;
	struct berth_plugin_entry *entries = BT_ARENA_NEW_ARRAY(
		bt_arena_of(arena), struct berth_plugin_entry, list->entries.count);

	for (uint32_t i = 0; i < list->entries.count; i++) {
		entries[i].name = bt_str_from(list->entries.items[i].plugin->ops->name);
		entries[i].weight = weighted ? (int32_t)list->entries.items[i].weight : 0;
	}
	*out_count = list->entries.count;
	return entries;
}

/**
 * The function that berth_framework_queue_sort_func returns. `plugin` is an internal plugin, cast
 * to the public type.
 */
static bool less(struct berth_plugin *plugin, const struct berth_queued_pod *a,
	const struct berth_queued_pod *b)
{
	struct bt_plugin *inside = (struct bt_plugin *)(void *)plugin;
	struct bt_queued_pod first = {bt_const_pod_info_of(a->pod), a->timestamp_ns,
		a->initial_attempt_timestamp_ns, a->attempts};
	struct bt_queued_pod second = {bt_const_pod_info_of(b->pod), b->timestamp_ns,
		b->initial_attempt_timestamp_ns, b->attempts};

	return inside->ops->less(inside, &first, &second);
}

berth_less_fn berth_framework_queue_sort_func(
	const struct berth_framework *framework, struct berth_plugin **out_plugin)
{
	const struct bt_framework *inside = bt_const_framework_of(framework);
	const struct bt_framework_point *list = &inside->points[BT_POINT_QUEUE_SORT];

	BT_ASSERT(list->entries.count == 1);
	struct bt_plugin *plugin = list->entries.items[0].plugin;

	*out_plugin = (struct berth_plugin *)(void *)plugin;
	return less;
}

/**
 * A pod info of berth_framework_pod_create. `info` is first, because the public pointer points to
 * it.
 */
struct own_pod {
	struct bt_pod_info info;
	struct bt_state *state;
	struct bt_object *object;
};

struct berth_pod_info *berth_framework_pod_create(
	struct berth_framework *framework, struct berth_object *pod)
{
	struct own_pod *own = BT_NEW(struct own_pod);
	const struct bt_pod *object = bt_const_pod_of(berth_object_pod(pod));

	BT_ASSERT(object != NULL);
	own->state = bt_framework_of(framework)->handle.state;
	own->object = bt_object_share(bt_object_of(pod));
	bt_pod_info_init_pending(own->state, object, &own->info);
	return berth_pod_info_of(&own->info);
}

void berth_framework_pod_destroy(struct berth_pod_info *pod)
{
	if (pod == NULL) {
		return;
	}
	struct own_pod *own = (struct own_pod *)(void *)pod;

	bt_pod_info_finish_pending(own->state, &own->info);
	bt_object_release(own->object);
	bt_free(own);
}

struct bt_cycle_state *bt_lib_adopt_cycle(
	const struct bt_framework *framework, struct berth_cycle_state *state)
{
	struct bt_cycle_state *cycle = bt_cycle_state_of(state);

	if (cycle->plugin_count == 0) {
		cycle->plugin_count = framework->instances.count;
	}
	return cycle;
}

struct berth_cycle_state *berth_framework_clone_cycle_state(
	struct berth_framework *framework, const struct berth_cycle_state *state)
{
	const struct bt_framework *inside = bt_const_framework_of(framework);
	struct berth_cycle_state *copy = berth_cycle_state_clone(state);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, copy);

	for (uint32_t i = 0; i < cycle->plugin_count; i++) {
		const struct bt_plugin_ops *ops = inside->instances.items[i]->ops;

		if (cycle->pre_filter_data[i] != NULL && ops->clone_pre_filter_data != NULL) {
			cycle->pre_filter_data[i] =
				ops->clone_pre_filter_data(cycle->pre_filter_data[i], cycle->arena);
		}
	}
	return copy;
}

static struct bt_status check_node(const struct bt_framework *framework,
	const struct bt_node_info *node, struct bt_arena *arena)
{
	if (node->state == framework->handle.state) {
		return BT_STATUS_OK;
	}
	return bt_status_error_text(
		arena, BT_STR("the node is not one of the framework's cluster"));
}

/**
 * Returns the slots of the nodes, in the arena. If a node is not in the framework's cluster,
 * returns NULL and sets *out_status to an error.
 */
static uint32_t *slots_of(const struct bt_framework *framework,
	const struct berth_node_info *const *nodes, uint32_t count, struct bt_arena *arena,
	struct bt_status *out_status)
{
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);

	*out_status = BT_STATUS_OK;
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_node_info *node = bt_const_node_info_of(nodes[i]);

		*out_status = check_node(framework, node, arena);
		if (!bt_status_is_success(out_status)) {
			return NULL;
		}
		slots[i] = node->slot;
	}
	return slots;
}

struct berth_status berth_framework_run_pre_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_pre_filter_result *out_result, const struct berth_str **out_plugins,
	uint32_t *out_plugin_count)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_pre_filter_outcome outcome =
		bt_run_pre_filter(inside, cycle, bt_const_pod_info_of(pod));

	*out_result = (struct berth_pre_filter_result){
		outcome.result.restricted, outcome.result.count, outcome.result.names};
	if (out_plugins != NULL) {
		struct berth_str *names =
			BT_ARENA_NEW_ARRAY(cycle->arena, struct berth_str, inside->instances.count);
		uint32_t count = 0;

		for (uint32_t i = 0; i < inside->instances.count; i++) {
			if (bt_plugin_set_has(&outcome.plugins_with_nodes, i)) {
				names[count++] = bt_framework_plugin_name(inside, i);
			}
		}
		*out_plugins = names;
		*out_plugin_count = count;
	}
	return outcome.status;
}

/** Runs AddPod (step 1) or RemovePod (step -1) with the pod `other`. */
static struct bt_status run_extension(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_pod_info *other, const struct berth_node_info *node, int64_t step)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_status foreign = check_node(inside, bt_const_node_info_of(node), cycle->arena);

	return bt_status_is_success(&foreign)
		? bt_run_pre_filter_change_pod(inside, cycle, bt_const_pod_info_of(pod),
			  bt_const_pod_info_of(other), bt_const_node_info_of(node), step)
		: foreign;
}

struct berth_status berth_framework_run_pre_filter_extension_add_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_add,
	const struct berth_node_info *node)
{
	return run_extension(framework, state, pod_to_schedule, pod_to_add, node, 1);
}

struct berth_status berth_framework_run_pre_filter_extension_remove_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_remove,
	const struct berth_node_info *node)
{
	return run_extension(framework, state, pod_to_schedule, pod_to_remove, node, -1);
}

/** The statuses of the filters that reject a node. all: continue after the first rejection. */
struct collection {
	struct berth_plugin_to_status map;
	struct berth_arena *arena;
	bool all;
};

static bool collect(void *context, const struct bt_plugin *plugin, const struct bt_status *status)
{
	struct collection *collection = context;

	berth_plugin_to_status_set(
		&collection->map, collection->arena, bt_str_from(plugin->ops->name), *status);
	return collection->all;
}

struct berth_plugin_to_status berth_framework_run_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct collection collection = {
		.arena = berth_arena_of(cycle->arena), .all = inside->run_all_filters};
	struct bt_status foreign = check_node(inside, bt_const_node_info_of(node), cycle->arena);

	if (!bt_status_is_success(&foreign)) {
		berth_plugin_to_status_set(&collection.map, collection.arena, BT_STR(""), foreign);
		return collection.map;
	}
	bt_run_filter_each(inside, cycle, bt_const_pod_info_of(pod), bt_const_node_info_of(node),
		collect, &collection);
	return collection.map;
}

struct berth_status berth_framework_run_filter_plugins_with_nominated_pods(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_status foreign = check_node(inside, bt_const_node_info_of(node), cycle->arena);

	return bt_status_is_success(&foreign)
		? bt_run_filter_with_nominated_pods(
			  inside, cycle, bt_const_pod_info_of(pod), bt_const_node_info_of(node))
		: foreign;
}

const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory)
{
	if (outside->statuses != NULL) {
		return outside->statuses;
	}
	*memory = (struct bt_node_statuses){.absent = outside->absent};
	for (uint32_t i = 0; i < outside->entries.count; i++) {
		struct bt_node_status_entry entry = {
			bt_state_snapshot_find(state, outside->names.items.items[i]),
			outside->entries.items[i]};

		if (entry.slot != BT_SLOT_NONE) {
			bt_vec_push(&memory->entries, entry);
		}
	}
	return memory;
}

struct berth_status berth_framework_run_post_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_node_statuses memory = {0};
	struct bt_post_filter_result result = {0};
	struct bt_status status = bt_run_post_filter(inside, cycle, bt_const_pod_info_of(pod),
		bt_lib_node_statuses(statuses, inside->handle.state, &memory), &result);

	bt_vec_finish(&memory.entries);
	*out_result = (struct berth_post_filter_result){
		.present = result.present,
		.mode = result.mode == BT_NOMINATING_OVERRIDE ? BERTH_NOMINATING_OVERRIDE
							      : BERTH_NOMINATING_NOOP,
		.nominated_node_name = result.nominated_node_name,
	};
	return status;
}

struct berth_status berth_framework_run_pre_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_status status;
	const uint32_t *slots = slots_of(inside, nodes, node_count, cycle->arena, &status);

	return slots != NULL ? bt_run_pre_score(inside, cycle, bt_const_pod_info_of(pod), slots,
				       NULL, node_count)
			     : status;
}

static struct berth_node_score_list make_list(const int64_t *scores, const uint32_t *slots,
	uint32_t count, const struct bt_state *state, struct bt_arena *arena)
{
	struct berth_node_score *items = BT_ARENA_NEW_ARRAY(arena, struct berth_node_score, count);

	for (uint32_t i = 0; i < count; i++) {
		items[i].name = bt_node_table_name(&state->nodes, slots[i]);
		items[i].score = scores[i];
	}
	return (struct berth_node_score_list){items, count};
}

struct berth_status berth_framework_run_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count,
	struct berth_plugin_to_node_scores *out_scores)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_arena *arena = cycle->arena;
	struct bt_score_table table = {0};
	struct bt_status status;
	const uint32_t *slots = slots_of(inside, nodes, node_count, arena, &status);

	if (slots == NULL) {
		return status;
	}
	status = bt_run_score(inside, cycle, bt_const_pod_info_of(pod), slots, node_count, &table);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct berth_plugin_scores *items =
		BT_ARENA_NEW_ARRAY(arena, struct berth_plugin_scores, table.plugin_count);

	*out_scores = (struct berth_plugin_to_node_scores){items, table.plugin_count,
		make_list(table.totals, slots, node_count, inside->handle.state, arena)};
	for (uint32_t i = 0; i < table.plugin_count; i++) {
		items[i] = (struct berth_plugin_scores){
			bt_str_from(table.plugins[i].plugin->ops->name), table.plugins[i].weight,
			make_list(table.plugins[i].scores, slots, node_count, inside->handle.state,
				arena)};
	}
	return status;
}

/** The internal forms of the arguments of a runner for a pod on a node. */
struct run {
	struct bt_framework *framework;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	uint32_t slot; /* BT_SLOT_NONE: the node is unknown, `status` is the error */
	struct bt_status status;
};

static struct run begin(struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	struct run run = {
		.framework = bt_framework_of(framework), .pod = bt_const_pod_info_of(pod)};

	run.cycle = bt_lib_adopt_cycle(run.framework, state);
	run.slot = bt_node_table_find(&run.framework->handle.state->nodes, node_name);
	run.status = run.slot != BT_SLOT_NONE ? BT_STATUS_OK
					      : bt_lib_unknown_node(run.cycle->arena, node_name);
	return run;
}

struct berth_status berth_framework_run_reserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	return run.slot != BT_SLOT_NONE
		? bt_run_reserve(run.framework, run.cycle, run.pod, run.slot)
		: run.status;
}

void berth_framework_run_unreserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot != BT_SLOT_NONE) {
		bt_run_unreserve(run.framework, run.cycle, run.pod, run.slot);
	}
}

struct berth_status berth_framework_run_permit_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, const struct berth_permit_wait **out_waits, uint32_t *out_count)
{
	struct run run = begin(framework, state, pod, node_name);

	*out_waits = NULL;
	*out_count = 0;
	if (run.slot == BT_SLOT_NONE) {
		return run.status;
	}
	struct bt_permit_outcome outcome =
		bt_run_permit(run.framework, run.cycle, run.pod, run.slot);
	struct berth_permit_wait *waits =
		BT_ARENA_NEW_ARRAY(run.cycle->arena, struct berth_permit_wait, outcome.wait_count);

	for (uint32_t i = 0; i < outcome.wait_count; i++) {
		waits[i].plugin = bt_str_from(outcome.waits[i].plugin->ops->name);
		waits[i].timeout_ns = outcome.waits[i].timeout_ns;
	}
	*out_waits = waits;
	*out_count = outcome.wait_count;
	return outcome.status;
}

void berth_framework_add_waiting_pod(struct berth_framework *framework,
	const struct berth_pod_info *pod, const struct berth_permit_wait *waits, uint32_t count,
	int64_t now_ns)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_wait_time times[BT_PLUGINS_MAX];
	uint32_t known = 0;

	for (uint32_t i = 0; i < count && known < BT_PLUGINS_MAX; i++) {
		struct bt_plugin *plugin = bt_framework_find_plugin(inside, waits[i].plugin);

		if (plugin != NULL) {
			times[known++] = (struct bt_wait_time){plugin, waits[i].timeout_ns};
		}
	}
	if (inside->handle.waiting_pods != NULL) {
		(void)bt_waiting_pods_add(inside->handle.waiting_pods, inside,
			bt_const_pod_info_of(pod), times, known, now_ns);
	}
}

struct berth_status berth_framework_wait_on_permit(struct berth_framework *framework,
	const struct berth_pod_info *pod, int64_t now_ns, struct berth_arena *arena)
{
	struct bt_waiting_pods *waiting = bt_framework_of(framework)->handle.waiting_pods;
	struct bt_status status = BT_STATUS_OK;

	if (waiting == NULL) {
		return status;
	}
	bt_waiting_pods_expire(waiting, now_ns);
	if (bt_waiting_pods_poll(waiting, bt_const_pod_info_of(pod)->uid, bt_arena_of(arena),
		    &status) == BT_WAIT_PENDING) {
		return bt_status_code_only(BT_STATUS_WAIT);
	}
	return status;
}

int64_t berth_framework_next_permit_deadline_ns(const struct berth_framework *framework)
{
	const struct bt_waiting_pods *waiting =
		bt_const_framework_of(framework)->handle.waiting_pods;

	return waiting != NULL ? waiting->next_deadline_ns : INT64_MAX;
}

struct berth_status berth_framework_run_pre_bind_pre_flights(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	return run.slot != BT_SLOT_NONE
		? bt_run_pre_bind_pre_flights(run.framework, run.cycle, run.pod, run.slot)
		: run.status;
}

/**
 * Where PreBind and Bind continue if the previous call returned Wait. Stored in the cycle state.
 */
struct binding_progress {
	struct bt_pre_bind_progress pre_bind;
	uint32_t next_binder;
};

#define PROGRESS_KEY BT_STR("berth/binding-progress")

/** Runs PreBind or Bind. */
static struct bt_status run_binding(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod, struct bt_str node_name,
	bool is_bind)
{
	struct run run = begin(framework, state, pod, node_name);
	void *data = NULL;

	if (run.slot == BT_SLOT_NONE) {
		return run.status;
	}
	if (bt_cycle_state_read(run.cycle, PROGRESS_KEY, &data, NULL) != BERTH_OK) {
		data = BT_ARENA_NEW(run.cycle->arena, struct binding_progress);
		bt_cycle_state_write(run.cycle, PROGRESS_KEY, data, NULL);
	}
	struct binding_progress *progress = data;

	run.cycle->wake_ns = INT64_MAX;
	if (is_bind) {
		run.status = bt_run_bind_from(
			run.framework, run.cycle, run.pod, run.slot, &progress->next_binder);
	} else {
		run.status = bt_run_pre_bind_from(
			run.framework, run.cycle, run.pod, run.slot, &progress->pre_bind);
	}
	if (run.status.code != BT_STATUS_WAIT && is_bind) {
		progress->next_binder = 0;
	} else if (run.status.code != BT_STATUS_WAIT) {
		progress->pre_bind = (struct bt_pre_bind_progress){0};
	}
	return run.status;
}

struct berth_status berth_framework_run_pre_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	return run_binding(framework, state, pod, node_name, false);
}

struct berth_status berth_framework_run_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	return run_binding(framework, state, pod, node_name, true);
}

void berth_framework_run_post_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot != BT_SLOT_NONE) {
		bt_run_post_bind(run.framework, run.cycle, run.pod, run.slot);
	}
}

struct berth_status berth_framework_run_pre_enqueue_plugins(struct berth_framework *framework,
	const struct berth_pod_info *pod, struct berth_arena *arena)
{
	struct bt_plugin *gating = NULL;

	return bt_run_pre_enqueue(bt_framework_of(framework), bt_const_pod_info_of(pod),
		bt_arena_of(arena), NULL, &gating);
}

struct berth_pre_filter_result berth_pre_filter_result_merge(
	const struct berth_pre_filter_result *a, const struct berth_pre_filter_result *b,
	struct berth_arena *arena)
{
	/* If only one result restricts the nodes, intersect this result with itself. */
	const struct berth_pre_filter_result *first = a->restricted ? a : b;
	const struct berth_pre_filter_result *second = b->restricted ? b : a;

	if (!first->restricted) {
		return (struct berth_pre_filter_result){0};
	}
	struct bt_pre_filter_result left = {true, first->count, first->names};
	struct bt_pre_filter_result right = {true, second->count, second->names};
	struct bt_pre_filter_result both =
		bt_pre_filter_result_intersect(&left, &right, bt_arena_of(arena));

	return (struct berth_pre_filter_result){true, both.count, both.names};
}
