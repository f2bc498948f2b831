/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/cycle_state.h"

#include <stddef.h>

#include "base/alloc.h"
#include "lib/convert.h"

/** A cycle state made by berth_cycle_state_create. */
struct own_cycle {
	struct bt_cycle_state cycle; /* first, because public pointers point here */
	struct bt_arena arena;       /* unused in clones, which use the original's arena */
};

/**
 * Reserves data for the plugins of any framework: the framework that runs a plugin on this state
 * sets plugin_count.
 */
static void make_room(struct bt_cycle_state *cycle)
{
	cycle->pre_filter_data = BT_ARENA_NEW_ARRAY(cycle->arena, void *, BT_PLUGINS_MAX);
	cycle->pre_score_data = BT_ARENA_NEW_ARRAY(cycle->arena, void *, BT_PLUGINS_MAX);
}

struct berth_cycle_state *berth_cycle_state_create(void)
{
	struct own_cycle *own = BT_NEW(struct own_cycle);

	bt_cycle_state_init(&own->cycle, &own->arena, 0);
	make_room(&own->cycle);
	return berth_cycle_state_of(&own->cycle);
}

void berth_cycle_state_destroy(struct berth_cycle_state *state)
{
	if (state == NULL) {
		return;
	}
	struct own_cycle *own = (struct own_cycle *)(void *)state;

	bt_cycle_state_finish(&own->cycle);
	bt_arena_finish(&own->arena);
	bt_free(own);
}

struct berth_cycle_state *berth_cycle_state_clone(const struct berth_cycle_state *state)
{
	if (state == NULL) {
		return NULL;
	}
	const struct bt_cycle_state *original = bt_const_cycle_state_of(state);
	struct own_cycle *own = BT_NEW(struct own_cycle);

	bt_cycle_state_clone(original, &own->cycle);
	if (original->plugin_count == 0) {
		make_room(&own->cycle);
	}
	return berth_cycle_state_of(&own->cycle);
}

struct berth_arena *berth_cycle_state_arena(const struct berth_cycle_state *state)
{
	return berth_arena_of(bt_const_cycle_state_of(state)->arena);
}

int berth_cycle_state_read(const struct berth_cycle_state *state, berth_state_key key,
	struct berth_state_data **out_data, struct berth_error *err)
{
	void *data = NULL;
	int result = bt_cycle_state_read(bt_const_cycle_state_of(state), key, &data, err);

	if (result == BERTH_OK) {
		*out_data = data;
	}
	return result;
}

/** Calls the clone function of the datum. */
static void *clone_datum(const void *data, struct bt_arena *arena)
{
	const struct berth_state_data *datum = data;

	return datum->clone(datum, berth_arena_of(arena));
}

void berth_cycle_state_write(
	struct berth_cycle_state *state, berth_state_key key, struct berth_state_data *data)
{
	bool cloned = data != NULL && data->clone != NULL;

	bt_cycle_state_write(bt_cycle_state_of(state), key, data, cloned ? clone_datum : NULL);
}

void berth_cycle_state_delete(struct berth_cycle_state *state, berth_state_key key)
{
	bt_cycle_state_delete(bt_cycle_state_of(state), key);
}

void berth_cycle_state_lock(struct berth_cycle_state *state)
{
	(void)state;
}

void berth_cycle_state_unlock(struct berth_cycle_state *state)
{
	(void)state;
}

void berth_cycle_state_rlock(struct berth_cycle_state *state)
{
	(void)state;
}

void berth_cycle_state_runlock(struct berth_cycle_state *state)
{
	(void)state;
}

void berth_cycle_state_set_record_plugin_metrics(struct berth_cycle_state *state, bool record)
{
	bt_cycle_state_of(state)->record_plugin_metrics = record;
}

bool berth_cycle_state_should_record_plugin_metrics(const struct berth_cycle_state *state)
{
	return state != NULL && bt_const_cycle_state_of(state)->record_plugin_metrics;
}

void berth_cycle_state_wake_at(struct berth_cycle_state *state, int64_t wake_ns)
{
	struct bt_cycle_state *cycle = bt_cycle_state_of(state);

	if (wake_ns < cycle->wake_ns) {
		cycle->wake_ns = wake_ns;
	}
}

struct berth_cancel berth_cycle_state_cancel(const struct berth_cycle_state *state)
{
	struct bt_str cause = bt_const_cycle_state_of(state)->cancel_cause;

	return (struct berth_cancel){.canceled = cause.length != 0, .cause = cause};
}

void berth_cycle_state_activate_pod(
	struct berth_cycle_state *state, struct berth_str pod_namespace, struct berth_str pod_name)
{
	struct bt_cycle_state *cycle = bt_cycle_state_of(state);
	struct bt_str key = bt_arena_printf(
		cycle->arena, "%.*s/%.*s", BT_STR_ARG(pod_namespace), BT_STR_ARG(pod_name));

	bt_vec_push(&cycle->pods_to_activate, key);
}
