/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/simulation.h"

#include <stdlib.h>

#include "api/defaulting.h"
#include "api/identity.h"
#include "api/storage.h"
#include "api/text_template.h"
#include "api/types.h"
#include "base/text_set.h"

const char *bt_fate_name(enum bt_fate fate)
{
	static const char *const names[] = {
		[BT_FATE_SCHEDULED] = "Scheduled",
		[BT_FATE_UNSCHEDULABLE] = "Unschedulable",
		[BT_FATE_SCHEDULER_ERROR] = "SchedulerError",
		[BT_FATE_SCHEDULING_GATED] = "SchedulingGated",
		[BT_FATE_NOT_HANDLED] = "NotHandled",
		[BT_FATE_DELETING] = "Deleting",
		[BT_FATE__COUNT] = "",
	};
	return names[fate];
}

bool bt_fate_is_pending(enum bt_fate fate)
{
	return fate != BT_FATE_SCHEDULED && fate != BT_FATE_DELETING;
}

uint32_t bt_simulation_pending_count(const struct bt_simulation *simulation)
{
	uint32_t count = 0;
	for (int fate = 0; fate < BT_FATE__COUNT; fate++) {
		if (bt_fate_is_pending((enum bt_fate)fate)) {
			count += simulation->counts[fate];
		}
	}
	return count;
}

int bt_simulation_check_group(const struct bt_simulation *simulation, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err)
{
	if (simulation->engine->state->pod_groups != NULL) {
		return 0;
	}
	return bt_text_error(err, BERTH_ERR_INVALID,
		"PodGroup %m: its pods are scheduled one by one while the feature gate "
		"GenericWorkload is off: add --feature-gates "
		"GenericWorkload=true,GangScheduling=true",
		namespace_, name);
}

/** --- loading --- */

/** Loads the nodes. left_out[i]: leave out the node that is object i; left_out NULL: load all. */
static void load_nodes(struct bt_simulation *simulation, const bool *left_out)
{
	struct bt_arena scratch = {0};
	const struct bt_manifests *cluster = simulation->cluster;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		if (cluster->objects.items[i].kind == BT_KIND_NODE &&
			(left_out == NULL || !left_out[i])) {
			struct bt_node node =
				bt_manifests_node(&cluster->objects.items[i], &scratch);
			bt_state_add_node(simulation->engine->state, &node);
			bt_arena_reset(&scratch);
			simulation->node_count++;
		}
	}
	bt_arena_finish(&scratch);
}

static int same_uid(const struct bt_pod *pod, struct berth_error *err)
{
	return bt_text_error(err, BERTH_ERR_INVALID,
		"metadata.uid: %p belongs to another pod as well", pod->metadata.uid);
}

/**
 * Warns if a pod on a node has a claim without an allocation: the devices that the pod uses count
 * as free.
 */
static void warn_unallocated(
	const struct bt_manifests *cluster, const struct bt_state *state, const struct bt_pod *pod)
{
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_pod_resource_claim *entry = &pod->spec.resource_claims.items[i];
		struct bt_str name = bt_pod_claim_name(pod, entry);
		const struct bt_resource_claim *claim = bt_object_store_find(
			&state->objects, BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_, name);
		/* An entry whose template needs no claim has a status without a claim name. */
		if (name.length == 0 ? bt_pod_claim_status(pod, entry->name) != NULL
				     : claim != NULL && claim->status.allocation != NULL) {
			continue;
		}
		bt_manifests_warn(cluster,
			"Pod %m: no allocation for spec.resourceClaims %p is in the input: the "
			"devices it uses count as free",
			pod->metadata.namespace_, pod->metadata.name,
			bt_str_sub(entry->name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
		return;
	}
}

/**
 * Adds a pod to the running pods, the extra pods (is_extra) or the pods to be placed; the latter
 * get the claims that a cluster's controllers make before a pod is scheduled. A finished pod is
 * ignored. pod: a shallow copy whose name, namespace and uid are set. index: object index of the
 * pod or of its workload.
 */
static int load_pod(struct bt_simulation *simulation, const struct bt_pod *pod, uint32_t index,
	bool is_extra, struct berth_error *err)
{
	struct bt_state *state = simulation->engine->state;
	if (bt_pod_is_terminal(pod)) {
		return 0;
	}
	if (bt_pod_is_assigned(pod)) {
		if (bt_state_find_pod(state, pod->metadata.uid) != BT_POD_NONE) {
			return same_uid(pod, err);
		}
		if (bt_manifests_find(simulation->cluster, BT_KIND_NODE, BT_STR(""),
			    pod->spec.node_name) == BT_MANIFESTS_NONE) {
			bt_manifests_warn(simulation->cluster,
				"Pod %m: its node %p is not in the input", pod->metadata.namespace_,
				pod->metadata.name,
				bt_str_sub(pod->spec.node_name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
		}
		warn_unallocated(simulation->cluster, state, pod);
		simulation->running_count++;
		if (!simulation->preempt) {
			return bt_state_add_pod(state, pod, err);
		}
		/* The pod may become a victim, so the scheduler needs all of its spec. */
		struct bt_object *object = bt_object_create_pod(pod, NULL, &simulation->commons);
		int result = bt_scheduler_observe(
			simulation->scheduler, NULL, object, simulation->now_ns, err);
		bt_object_release(object);
		return result;
	}
	if (simulation->arena.total_bytes > BT_SIMULATION_POD_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"the pods to be placed take more than %zu bytes of memory",
			BT_SIMULATION_POD_BYTES_MAX);
	}
	struct bt_pod *copy = BT_ARENA_NEW(&simulation->arena, struct bt_pod);
	*copy = *pod;
	if (is_extra) {
		struct bt_simulated_extra extra = {.pod = copy, .owner = index};
		bt_vec_push(&simulation->extras, extra);
		return 0;
	}
	struct bt_simulated_pod entry = {.pod = copy,
		.sequence = (uint64_t)index << 32 | simulation->pods.count,
		.fate = BT_FATE_UNDECIDED};
	bt_vec_push(&simulation->pods, entry);
	if (bt_pod_is_terminating(copy)) {
		return 0;
	}
	struct bt_str missing;
	size_t bytes;
	int result = bt_claim_maker_make(
		simulation->claims, copy, &simulation->arena, &missing, &bytes, err);
	if (result < 0) {
		return result;
	}
	simulation->claim_bytes += bytes;
	if (missing.length != 0) {
		/* Warn once for each template. */
		struct bt_str key = bt_arena_printf(&simulation->arena, "%.*s/%.*s",
			BT_STR_ARG(copy->metadata.namespace_), BT_STR_ARG(missing));
		if (bt_text_set_add(&simulation->missing_templates, key)) {
			bt_claim_maker_warn_missing(simulation->cluster, copy, missing);
		}
	}
	return simulation->claim_bytes <= BT_WORKLOAD_BYTES_MAX
		? 0
		: bt_error_set(err, BERTH_ERR_TOO_LARGE,
			  "the claims of pods take more than %zu bytes", BT_WORKLOAD_BYTES_MAX);
}

/** --- the other objects that plugins read --- */

/**
 * Adds an object to the state, together with what an API server and its controllers would have
 * added to a manifest. value: changed. New members are in the arena, which is then reset.
 */
static void load_object(struct bt_state *state, enum bt_kind kind, void *value,
	struct bt_str default_class, struct bt_arena *arena)
{
	if (kind == BT_KIND_NAMESPACE) {
		struct bt_object_meta *meta = value;
		meta->labels = bt_str_map_set(
			&meta->labels, BT_STR("kubernetes.io/metadata.name"), &meta->name, arena);
	} else if (kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		struct bt_persistent_volume_claim *claim = value;
		if (default_class.length != 0 && claim->spec.volume_name.length == 0 &&
			bt_persistent_volume_claim_class(claim).data == NULL) {
			claim->spec.storage_class_name = default_class;
		}
	} else if (kind == BT_KIND_RESOURCE_CLAIM) {
		struct bt_resource_claim *claim = value;
		bt_device_claim_default(&claim->spec.devices, arena);
	} else if (kind == BT_KIND_STORAGE_CLASS) {
		struct bt_storage_class *class = value;
		if (class->volume_binding_mode.data == NULL) {
			class->volume_binding_mode = BT_STR("Immediate");
		}
	}
	bt_object_store_put(&state->objects, bt_object_create(kind, value));
	bt_arena_reset(arena);
}

/**
 * Loads the other objects that plugins read: services, volumes, claims, classes, owners of pods,
 * the objects that the expansion made, and the namespaces that other objects name.
 */
static void load_others(struct bt_simulation *simulation)
{
	struct bt_manifests *cluster = simulation->cluster;
	struct bt_state *state = simulation->engine->state;
	struct bt_default_class best = {.name = BT_STR_INIT("")}; /* "": no default class */
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_object *object = cluster->objects.items[i].object;
		const struct bt_str *mark = object->kind == BT_KIND_STORAGE_CLASS
			? bt_str_map_find(&object->meta->annotations, BT_STR(BT_DEFAULT_CLASS))
			: NULL;
		if (mark != NULL) {
			bt_default_class_offer(&best, object->meta->name, *mark,
				&object->meta->creation_timestamp);
		}
	}
	struct bt_str default_class = best.name;
	struct bt_text_set namespaces = {0};
	struct bt_arena arena = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		struct bt_str namespace_ = object->namespace_;
		if (object->kind != BT_KIND_POD && object->kind != BT_KIND_NODE) {
			struct bt_object_meta *copy = bt_object_copy_value(object->object, &arena);
			copy->name = object->name;
			copy->namespace_ = namespace_;
			copy->uid = object->uid;
			load_object(state, object->kind, copy, default_class, &arena);
		}
		if (namespace_.length != 0 && bt_text_set_add(&namespaces, namespace_) &&
			bt_manifests_find(cluster, BT_KIND_NAMESPACE, BT_STR(""), namespace_) ==
				BT_MANIFESTS_NONE) {
			struct bt_namespace made = {.metadata.name = namespace_};
			made.metadata.uid = bt_manifests_make_uid(cluster);
			load_object(state, BT_KIND_NAMESPACE, &made, default_class, &arena);
		}
	}
	for (uint32_t i = 0; i < simulation->expansion.made.count; i++) {
		const struct bt_object *object = simulation->expansion.made.items[i];
		load_object(state, object->kind, bt_object_copy_value(object, &arena),
			default_class, &arena);
	}
	bt_text_set_finish(&namespaces);
	bt_arena_finish(&arena);
}

int bt_simulation_load(struct bt_simulation *simulation, struct berth_error *err)
{
	const struct bt_manifests *cluster = simulation->cluster;
	struct bt_expansion *expansion = &simulation->expansion;
	uint32_t next = 0;
	expansion->gates = &simulation->engine->config->gates;
	int result = bt_expansion_run(expansion, err);
	if (result == 0) {
		load_nodes(simulation, NULL);
		load_others(simulation);
	}
	for (uint32_t i = 0; i < cluster->objects.count && result == 0; i++) {
		bool is_extra = expansion->extras != NULL && expansion->extras[i] != 0;
		struct bt_pod pod;
		if (cluster->objects.items[i].kind == BT_KIND_POD &&
			bt_expansion_input_pod(expansion, i, &pod)) {
			result = load_pod(simulation, &pod, i, is_extra, err);
			if (result < 0) {
				result = bt_manifests_wrap(cluster, i, result, err);
			} else if (!simulation->keep_bound &&
				(bt_pod_is_assigned(&pod) || bt_pod_is_terminal(&pod))) {
				bt_manifests_release(simulation->cluster, i);
			}
		}
		while (result == 0 && next < expansion->pods.count &&
			expansion->pods.items[next].owner == i) {
			const struct bt_workload_pod *entry = &expansion->pods.items[next++];
			result = load_pod(simulation, entry->pod, i, entry->is_extra, err);
			if (result < 0) {
				result = bt_error_wrap(err, result, "spec.template");
				result = bt_manifests_wrap(cluster, i, result, err);
			}
		}
	}
	/* Only the running pods were checked: those to be placed must have unique uids, too. */
	struct bt_text_set uids = {0};
	for (uint32_t i = 0; i < simulation->pods.count && result == 0; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		if (!bt_text_set_add(&uids, pod->metadata.uid) ||
			bt_state_find_pod(simulation->engine->state, pod->metadata.uid) !=
				BT_POD_NONE) {
			result = same_uid(pod, err);
			uint32_t index = bt_manifests_find(
				cluster, BT_KIND_POD, pod->metadata.namespace_, pod->metadata.name);
			if (index != BT_MANIFESTS_NONE) {
				result = bt_manifests_wrap(cluster, index, result, err);
			}
		}
	}
	bt_text_set_finish(&uids);
	if (result == 0 && !simulation->stays_open) {
		bt_simulation_close(simulation);
	}
	return result;
}

/** --- changes of an open simulation --- */

/** Returns the input index of the node in this slot. */
static uint32_t index_of_slot(const struct bt_simulation *simulation, uint32_t slot)
{
	return bt_manifests_find(simulation->cluster, BT_KIND_NODE, BT_STR(""),
		bt_node_table_name(&simulation->engine->state->nodes, slot));
}

static bool is_removed(const struct bt_simulation *simulation, const bool *removed, uint32_t slot)
{
	uint32_t index = index_of_slot(simulation, slot);
	return index != BT_MANIFESTS_NONE && removed[index];
}

/**
 * Returns whether removing these nodes could change the order of zones. Zones are ordered by their
 * first nodes, so removing the first of several nodes of a zone moves the zone.
 */
static bool changes_zones(const struct bt_simulation *simulation, const bool *removed)
{
	const struct bt_node_order *order = &simulation->engine->state->order;
	for (uint32_t i = 0; i < order->zones.count && order->zones.count > 1; i++) {
		const struct bt_zone *zone = &order->zones.items[i];
		bool stays = false;
		if (!is_removed(simulation, removed, zone->slots.items[0])) {
			continue;
		}
		for (uint32_t k = 1; k < zone->slots.count && !stays; k++) {
			stays = !is_removed(simulation, removed, zone->slots.items[k]);
		}
		if (stays) {
			return true;
		}
	}
	return false;
}

int bt_simulation_remove_nodes(
	struct bt_simulation *simulation, const bool *removed, struct berth_error *err)
{
	const struct bt_manifests *cluster = simulation->cluster;
	struct bt_state *state = simulation->engine->state;
	struct bt_arena scratch = {0};
	bool loads_anew = changes_zones(simulation, removed);
	int result = 0;
	for (uint32_t i = 0; i < cluster->objects.count && result == 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind == BT_KIND_NODE && (removed[i] || loads_anew)) {
			struct bt_node node = bt_manifests_node(object, &scratch);
			result = bt_state_remove_node(state, &node, err);
			bt_arena_reset(&scratch);
			simulation->node_count--;
			continue;
		}
		uint32_t node = bt_manifests_node_of_slice(cluster, i);
		if (node != BT_MANIFESTS_NONE && removed[node]) {
			(void)bt_object_store_delete(
				&state->objects, BT_KIND_RESOURCE_SLICE, BT_STR(""), object->name);
		}
	}
	if (result == 0 && loads_anew) {
		load_nodes(simulation, removed);
	}
	bt_arena_finish(&scratch);
	return result;
}

/**
 * Returns the position of the node, which is object `index`, in zone->slots; zone->slots.count: the
 * node is not in the zone.
 */
static uint32_t place_in_zone(
	const struct bt_simulation *simulation, const struct bt_zone *zone, uint32_t index)
{
	uint32_t slot = bt_node_table_find(
		&simulation->engine->state->nodes, simulation->cluster->objects.items[index].name);
	uint32_t at = 0;
	while (at < zone->slots.count && zone->slots.items[at] != slot) {
		at++;
	}
	return at;
}

bool bt_simulation_can_return_node(const struct bt_simulation *simulation, uint32_t index)
{
	const struct bt_node_order *order = &simulation->engine->state->order;
	for (uint32_t i = 0; i < order->zones.count; i++) {
		const struct bt_zone *zone = &order->zones.items[i];
		uint32_t at = place_in_zone(simulation, zone, index);
		if (at < zone->slots.count) {
			return zone->slots.count > 1 && (at > 0 || order->zones.count == 1);
		}
	}
	return false;
}

void bt_simulation_return_node(struct bt_simulation *simulation, uint32_t index,
	struct bt_object *const *pods, uint32_t count)
{
	struct bt_state *state = simulation->engine->state;
	struct bt_arena scratch = {0};
	struct bt_node node =
		bt_manifests_node(&simulation->cluster->objects.items[index], &scratch);
	bt_state_add_node(state, &node);
	bt_arena_finish(&scratch);
	simulation->node_count++;
	for (uint32_t i = 0; i < state->order.zones.count; i++) {
		struct bt_zone *zone = &state->order.zones.items[i];
		uint32_t last = zone->slots.count - 1;
		uint32_t slot = zone->slots.items[last];
		if (place_in_zone(simulation, zone, index) != last) {
			continue;
		}
		/*
		 * The node was added at the end of its zone: move it back to its position in the
		 * order of the input.
		 */
		for (; last > 0 && index_of_slot(simulation, zone->slots.items[last - 1]) > index;
			last--) {
			zone->slots.items[last] = zone->slots.items[last - 1];
		}
		zone->slots.items[last] = slot;
		state->order.changes_lost = true;
		break;
	}
	for (uint32_t i = 0; i < count; i++) {
		int result = bt_scheduler_observe(
			simulation->scheduler, NULL, pods[i], simulation->now_ns, NULL);
		BT_ASSERT(result == 0); /* the pod was loaded before */
		bt_object_release(pods[i]);
	}
	simulation->running_count += count;
}

struct bt_object *bt_simulation_take_running(struct bt_simulation *simulation, uint32_t index)
{
	const struct bt_manifests_object *object = &simulation->cluster->objects.items[index];
	struct bt_object *known =
		bt_scheduler_find_pod(simulation->scheduler, object->namespace_, object->name);
	if (known == NULL) {
		return NULL;
	}
	known = bt_object_share(known);
	int result =
		bt_scheduler_observe(simulation->scheduler, known, NULL, simulation->now_ns, NULL);
	BT_ASSERT(result == 0); /* the cache has this pod */
	bt_pod_claims_release(simulation->engine->state, known->meta->uid, false);
	simulation->running_count--;
	return known;
}

int bt_simulation_add_pod(struct bt_simulation *simulation, const struct bt_pod *pod,
	uint32_t index, struct berth_error *err)
{
	simulation->claim_bytes = 0;
	bt_text_set_finish(&simulation->missing_templates); /* warn again */
	int result = load_pod(simulation, pod, index, false, err);
	return result < 0 ? bt_manifests_wrap(simulation->cluster, index, result, err) : 0;
}

/** --- nodes --- */

struct named_slot {
	struct bt_str name;
	uint32_t slot;
};

uint32_t *bt_simulation_node_slots(const struct bt_simulation *simulation)
{
	const struct bt_node_table *table = &simulation->engine->state->nodes;
	struct named_slot *named = BT_NEW_ARRAY(struct named_slot, simulation->node_count);
	uint32_t *slots = BT_NEW_ARRAY(uint32_t, simulation->node_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < simulation->cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &simulation->cluster->objects.items[i];
		if (object->kind == BT_KIND_NODE) {
			named[count++] = (struct named_slot){
				object->name, bt_node_table_find(table, object->name)};
		}
	}
	BT_ASSERT(count == simulation->node_count);
	if (count > 1) {
		qsort(named, count, sizeof(named[0]), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < count; i++) {
		slots[i] = named[i].slot;
	}
	bt_free(named);
	return slots;
}
