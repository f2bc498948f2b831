/* SPDX-License-Identifier: Apache-2.0 */
/** Pods whose leaving gives back the devices that a pod lacks: each is tried. */
#include <stdlib.h>

#include "dra/trial.h"
#include "explain/advice_devices.h"
#include "explain/advice_text.h"
#include "plugins/dynamic_resources.h"

/** Pods of a node that are tried one by one. */
#define LEAVERS_TRIED_MAX 8

/** Whoever gives devices back by leaving: allocated claims that are one pod's alone. */
struct reservation {
	uint64_t hash; /* of the pod's uid */
	struct bt_object *claim;
};

struct reservations {
	struct reservation *items; /* ascending by hash */
	uint32_t count;
};

static int compare_reservations(const void *a, const void *b)
{
	const struct reservation *x = a;
	const struct reservation *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool has_one_pod(const struct bt_object *object)
{
	const struct bt_resource_claim *claim = bt_object_value(object, BT_KIND_RESOURCE_CLAIM);

	return claim->status.allocation != NULL && claim->status.reserved_for.count == 1;
}

static struct reservations *list_reservations(
	const struct bt_claim_cache *cache, struct bt_arena *arena)
{
	struct reservations *list = BT_ARENA_NEW(arena, struct reservations);
	uint32_t cursor = 0;
	struct bt_object *object;

	list->items = BT_ARENA_NEW_ARRAY(arena, struct reservation, cache->claims.count);
	while ((object = bt_claim_cache_next(cache, &cursor)) != NULL) {
		if (has_one_pod(object)) {
			const struct bt_resource_claim *claim =
				bt_object_value(object, BT_KIND_RESOURCE_CLAIM);

			list->items[list->count++] = (struct reservation){
				bt_str_hash(claim->status.reserved_for.items[0].uid), object};
		}
	}
	if (list->count != 0) {
		qsort(list->items, list->count, sizeof(list->items[0]), compare_reservations);
	}
	return list;
}

/** Found once in a cycle: they are the same for all nodes. */
static const struct reservations *reservations_of(const struct bt_advice *advice)
{
	struct bt_str key = BT_STR("berth.dev/explain/DynamicResources");
	struct reservations *list;
	void *known;

	if (bt_cycle_state_read(advice->cycle, key, &known, NULL) == 0) {
		return known;
	}
	list = list_reservations(
		&bt_dynamic_resources_of(advice->plugin)->dra->claims, advice->cycle->arena);
	bt_cycle_state_write(advice->cycle, key, list, NULL);
	return list;
}

/** The first reservation that may be the pod's, or count. */
static uint32_t find_reservation(const struct reservations *list, uint64_t hash)
{
	uint32_t low = 0;
	uint32_t high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->items[middle].hash < hash) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < list->count && list->items[low].hash == hash ? low : list->count;
}

/** The plugin would take the node if the pod left. */
static bool helps(const struct bt_advice *advice, struct bt_str pod_uid)
{
	const struct reservations *list = reservations_of(advice);
	uint64_t hash = bt_str_hash(pod_uid);
	struct bt_dra_trial trial;
	bool enough = true;

	bt_dra_trial_begin(&trial, advice->engine->state->dra);
	for (uint32_t i = find_reservation(list, hash);
		i < list->count && list->items[i].hash == hash && enough; i++) {
		enough = bt_dra_trial_release(&trial, list->items[i].claim, pod_uid);
	}
	enough = enough && bt_advice_accepts(advice, advice->pod, advice->node);
	bt_dra_trial_end(&trial);
	return enough;
}

struct leaver {
	uint32_t pod_id;
	int32_t priority;
};

/** Those of the least priority, in the order of the node's pods. */
static void note_leaver(struct leaver *leavers, uint32_t *count, const struct bt_pod_info *pod)
{
	uint32_t at = *count;

	if (at == LEAVERS_TRIED_MAX) {
		if (leavers[--at].priority <= pod->priority) {
			return;
		}
	} else {
		++*count;
	}
	for (; at > 0 && leavers[at - 1].priority > pod->priority; at--) {
		leavers[at] = leavers[at - 1];
	}
	leavers[at] = (struct leaver){pod->pod_id, pod->priority};
}

void bt_advise_leaver(struct bt_advice *advice)
{
	const struct reservations *list = reservations_of(advice);
	uint32_t pod_count = bt_node_info_pod_count(advice->node);
	struct leaver leavers[LEAVERS_TRIED_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < pod_count && list->count != 0; i++) {
		struct bt_pod_info pod;

		bt_node_info_pod_at(advice->node, i, &pod);
		if (pod.pod_id != BT_POD_NONE &&
			find_reservation(list, bt_str_hash(pod.uid)) != list->count) {
			note_leaver(leavers, &count, &pod);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info pod;

		bt_pod_info_from_record(advice->engine->state, leavers[i].pod_id, &pod);
		if (helps(advice, pod.uid)) {
			bt_advice_remove_pod(advice, leavers[i].pod_id);
			advice->is_final = false;
			return;
		}
	}
}

void bt_advise_holder(struct bt_advice *advice, const struct bt_resource_claim *claim)
{
	struct bt_str uid = claim->status.reserved_for.items[0].uid;
	uint32_t pod_id = bt_state_find_pod(advice->engine->state, uid);

	if (pod_id != BT_POD_NONE && claim->status.reserved_for.count == 1 && helps(advice, uid)) {
		bt_advice_remove_pod(advice, pod_id);
		advice->is_final = false;
	}
}
