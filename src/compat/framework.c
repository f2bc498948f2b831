/* SPDX-License-Identifier: Apache-2.0 */
/** Life of a framework, and questions to it. */
#include "compat/framework.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "framework/waiting_pods.h"
#include "lib/registry.h"
#include "compat/volume_binder.h"
#include "plugins/in_tree.h"
#include "plugins/volume_binding.h"
#include "sched/engine.h"

/** What an engine would otherwise give a framework. Its address is that of the services. */
struct own_framework {
	struct bt_handle_services services;
	struct bt_state *state; /* NULL: the state is the caller's */
	struct bt_nominator nominator;
	struct bt_waiting_pods waiting;
	struct berth_volume_binder *volume_binder; /* NULL: plugins have their own */
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

	if (given != NULL) {
		memcpy(&options, given,
			given->size < sizeof(options) ? given->size : sizeof(options));
	}
	if (profile_index >= bt_config_profile_count(inside)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the configuration has no profile %u",
			profile_index);
	}
	struct own_framework *own = BT_NEW(struct own_framework);

	if (options.snapshot_shared_lister != NULL) {
		/* A view is constant, what it looks at is not: plugins keep counters in it. */
		state = (struct bt_state *)bt_const_shared_lister_of(options.snapshot_shared_lister)
				->state;
	} else {
		struct bt_state_options settings = bt_engine_state_options(bt_config_gates(inside));

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
	/* Today the binder is VolumeBinding's own: spec 07 section 16.4. */
	struct bt_plugin *plugin = bt_framework_find_plugin(framework, BT_STR("VolumeBinding"));

	if (own->volume_binder != NULL && plugin != NULL &&
		plugin->ops == &bt_volume_binding_plugin) {
		bt_volume_binding_set_binder(plugin, bt_outside_binder_create(&own->volume_binder));
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

/* --- lists --- */

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

/** The framework's comparison behind the public type. */
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

/* --- pods and states --- */

/** A pod that the caller made; its info comes first. */
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
