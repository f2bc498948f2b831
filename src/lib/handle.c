/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "berth/cycle_state.h"
#include "berth/handle.h"

#include "api/event.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/unicode.h"
#include "config/gates.h"
#include "lib/convert.h"
#include "lib/plugin_adapter.h"

static const struct bt_handle_services *services_of(const struct berth_handle *handle)
{
	static const struct bt_handle_services none = {0};
	const struct bt_handle_services *services = bt_const_handle_of(handle)->services;

	return services != NULL ? services : &none;
}

BT_LIB_GETTER(struct berth_str, berth_handle_scheduler_name, handle, scheduler_name)
BT_LIB_GETTER(int64_t, berth_handle_now_ns, handle, now_ns)

bool berth_handle_feature_enabled(const struct berth_handle *handle, const char *gate_name)
{
	enum bt_gate gate = bt_gate_find(bt_str_from(gate_name));

	return gate != BT_GATE__COUNT && bt_gate_enabled(bt_const_handle_of(handle)->gates, gate);
}

struct berth_framework *berth_handle_framework(const struct berth_handle *handle)
{
	return berth_framework_of(bt_const_handle_of(handle)->framework);
}

const struct berth_shared_lister *berth_handle_snapshot_shared_lister(
	const struct berth_handle *handle)
{
	const struct bt_handle *inside = bt_const_handle_of(handle);

	/*
	 * While PreBindPreFlight, PreBind, Bind or PostBind of a plugin runs, the snapshot is not
	 * available, because cycles of other pods may have changed the snapshot.
	 */
	BT_ASSERT_SLOW(inside->binding_calls == 0);
	return inside->binding_calls == 0 ? berth_const_shared_lister_of(&inside->snapshot) : NULL;
}

uint32_t berth_shared_lister_count(const struct berth_shared_lister *lister)
{
	return bt_snapshot_placement_count(bt_const_shared_lister_of(lister)->state);
}

static void init_info(const struct bt_snapshot_view *view, uint32_t slot, struct bt_arena *arena,
	struct bt_node_info *info)
{
	bt_node_info_init(info, view->state, slot);
	if (view->assumed != NULL && view->assumed_slot == slot) {
		int result = bt_node_info_remove_pod(info, arena, view->assumed, NULL);
		(void)result; /* an error means that the pod is no longer assumed, which is fine */
	}
}

const struct berth_node_info *const *bt_lib_node_infos(const struct bt_snapshot_view *view,
	const uint32_t *slots, uint32_t count, struct bt_arena *arena)
{
	struct bt_node_info *infos = BT_ARENA_NEW_ARRAY(arena, struct bt_node_info, count);
	const struct berth_node_info **list =
		BT_ARENA_NEW_ARRAY(arena, const struct berth_node_info *, count);

	for (uint32_t i = 0; i < count; i++) {
		init_info(view, slots[i], arena, &infos[i]);
		list[i] = berth_const_node_info_of(&infos[i]);
	}
	return list;
}

const struct berth_node_info *const *berth_shared_lister_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_snapshot_view *view = bt_const_shared_lister_of(lister);
	const uint32_t *slots = NULL;

	*out_count = bt_snapshot_placement_slots(view->state, &slots);
	return bt_lib_node_infos(view, slots, *out_count, bt_arena_of(arena));
}

const struct berth_node_info *const *berth_shared_lister_have_pods_with_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_snapshot_view *view = bt_const_shared_lister_of(lister);
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(view->state);

	*out_count = lists->affinity.count;
	return bt_lib_node_infos(view, lists->affinity.items, *out_count, bt_arena_of(arena));
}

const struct berth_node_info *const *berth_shared_lister_have_pods_with_required_anti_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_snapshot_view *view = bt_const_shared_lister_of(lister);
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(view->state);

	*out_count = lists->anti_affinity.count;
	return bt_lib_node_infos(view, lists->anti_affinity.items, *out_count, bt_arena_of(arena));
}

int berth_shared_lister_get(const struct berth_shared_lister *lister, struct berth_str node_name,
	struct berth_arena *arena, const struct berth_node_info **out_node, struct berth_error *err)
{
	const struct bt_snapshot_view *view = bt_const_shared_lister_of(lister);
	uint32_t slot = bt_state_snapshot_find(view->state, node_name);

	if (slot == BT_SLOT_NONE) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"nodeinfo not found for node name \"%.*s\"", BT_STR_ARG(node_name));
	}
	struct bt_node_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_node_info);

	init_info(view, slot, bt_arena_of(arena), info);
	*out_node = berth_const_node_info_of(info);
	return BERTH_OK;
}

bool berth_shared_lister_is_pvc_used_by_pods(
	const struct berth_shared_lister *lister, struct berth_str claim_key)
{
	return bt_state_is_claim_used(bt_const_shared_lister_of(lister)->state, claim_key);
}

void berth_handle_iterate_over_waiting_pods(
	const struct berth_handle *handle, berth_waiting_pod_visit_fn visit, void *context)
{
	struct bt_waiting_pods *waiting = bt_const_handle_of(handle)->waiting_pods;

	for (uint32_t i = 0; waiting != NULL && i < waiting->pods.count; i++) {
		visit(context, berth_waiting_pod_of(waiting->pods.items[i]));
	}
}

struct berth_waiting_pod *berth_handle_get_waiting_pod(
	const struct berth_handle *handle, berth_uid uid)
{
	struct bt_waiting_pods *waiting = bt_const_handle_of(handle)->waiting_pods;

	return waiting != NULL ? berth_waiting_pod_of(bt_waiting_pods_find(waiting, uid)) : NULL;
}

bool berth_handle_reject_waiting_pod(const struct berth_handle *handle, berth_uid uid)
{
	struct bt_waiting_pods *waiting = bt_const_handle_of(handle)->waiting_pods;

	return waiting != NULL && bt_waiting_pods_reject(waiting, uid);
}

const struct berth_pod_info *berth_waiting_pod_get_pod(const struct berth_waiting_pod *pod)
{
	return berth_const_pod_info_of(bt_const_waiting_pod_of(pod)->pod);
}

const struct berth_str *berth_waiting_pod_get_pending_plugins(
	const struct berth_waiting_pod *pod, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_waiting_pod *inside = bt_const_waiting_pod_of(pod);
	struct bt_str *names =
		BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct bt_str, inside->pending.count);

	for (uint32_t i = 0; i < inside->pending.count; i++) {
		names[i] = bt_str_from(inside->pending.items[i].plugin->ops->name);
	}
	*out_count = inside->pending.count;
	return names;
}

void berth_waiting_pod_allow(struct berth_waiting_pod *pod, const char *plugin_name)
{
	bt_waiting_pod_allow(bt_waiting_pod_of(pod), bt_str_from(plugin_name));
}

bool berth_waiting_pod_reject(
	struct berth_waiting_pod *pod, const char *plugin_name, const char *message)
{
	return bt_waiting_pod_reject(bt_waiting_pod_of(pod), BT_STATUS_UNSCHEDULABLE,
		bt_str_from(plugin_name), bt_str_from(message));
}

bool berth_handle_activate(const struct berth_handle *handle, struct berth_str pod_namespace,
	struct berth_str pod_name)
{
	const struct bt_handle_services *services = services_of(handle);

	if (services->activate == NULL) {
		return false;
	}
	services->activate(services->context, pod_namespace, pod_name);
	return true;
}

void berth_handle_event(const struct berth_handle *handle, const struct berth_pod_info *pod,
	const char *type, const char *reason, const char *action, struct berth_str note)
{
	const struct bt_handle_services *services = services_of(handle);

	if (note.length > BT_EVENT_NOTE_BYTES_MAX) {
		note.length = bt_utf8_cut(note.data, BT_EVENT_NOTE_BYTES_MAX);
	}
	if (services->event != NULL) {
		services->event(
			services->context, bt_const_pod_info_of(pod), type, reason, action, note);
	}
}

const struct berth_client_set *berth_handle_client_set(const struct berth_handle *handle)
{
	return services_of(handle)->client_set;
}

const struct berth_informer_factory *berth_handle_shared_informer_factory(
	const struct berth_handle *handle)
{
	return services_of(handle)->informer_factory;
}

const struct berth_volume_binder *berth_handle_volume_binder(const struct berth_handle *handle)
{
	return services_of(handle)->volume_binder;
}

/** A cycle state of berth_cycle_state_create or berth_cycle_state_clone. */
struct own_cycle {
	struct bt_cycle_state cycle; /* must be first, because public pointers point here */
	struct bt_arena arena; /* memory of `cycle`; clones use the arena of the original instead */
};

/**
 * Allocates data for the largest possible number of plugins, because the state does not know its
 * framework yet. The first framework that runs on the state sets plugin_count.
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

/** Clones a datum with the clone function of the datum. */
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
