/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_spread_selectors.h"

#include <string.h>

#include "api/types.h"
#include "base/alloc.h"
#include "state/topology_key.h"

/** Selectors kept; a power of two. */
#define KEPT_MAX 1024U

/** The selector of pods with the same namespace, labels and owner. */
struct kept_selector {
	struct bt_arena arena;
	struct bt_str key; /* absent: nothing kept here */
	uint64_t versions;
	struct bt_selector selector;
};

struct bt_spread_selectors {
	struct kept_selector items[KEPT_MAX]; /* by hash of the key */
	struct bt_strbuf key;
};

/* --- selectors as conjunctions of requirements --- */

static void add_requirement(struct bt_requirements *list, const struct bt_requirement *requirement)
{
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity * 2 + 8;
		struct bt_requirement *items =
			BT_ARENA_NEW_ARRAY(list->arena, struct bt_requirement, capacity);
		if (list->count != 0) {
			memcpy(items, list->items, list->count * sizeof(*items));
		}
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *requirement;
}

void bt_requirements_add_selector(struct bt_requirements *list, const struct bt_selector *selector)
{
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		add_requirement(list, &selector->requirements[i]);
	}
}

void bt_requirements_add_pair(
	struct bt_requirements *list, struct bt_str key, const struct bt_str *value)
{
	struct bt_requirement requirement = {
		.key = key, .operator_ = BT_SELECTOR_IN, .value_count = 1, .values = value};

	add_requirement(list, &requirement);
}

static void add_pairs(struct bt_requirements *list, const struct bt_str_map *map)
{
	for (uint32_t i = 0; i < map->count; i++) {
		bt_requirements_add_pair(list, map->items[i].key, &map->items[i].value);
	}
}

struct bt_selector bt_requirements_selector(const struct bt_requirements *list)
{
	return (struct bt_selector){.requirement_count = list->count, .requirements = list->items};
}

/* --- the selector of default constraints --- */

static bool has_every_pair(const struct bt_str_map *labels, const struct bt_str_map *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, wanted->items[i].key);

		if (value == NULL || !bt_str_equal(*value, wanted->items[i].value)) {
			return false;
		}
	}
	return true;
}

static void add_services(
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_requirements *pairs)
{
	uint32_t cursor = 0;

	for (;;) {
		const struct bt_service *service = bt_object_store_next(
			&state->objects, BT_KIND_SERVICE, pod->namespace_, &cursor);

		if (service == NULL) {
			return;
		}
		if (service->spec.selector.present &&
			has_every_pair(pod->labels, &service->spec.selector)) {
			/* All of them agree with the pod's labels, so none overwrites another. */
			add_pairs(pairs, &service->spec.selector);
		}
	}
}

/** The selector of a ReplicaSet or StatefulSet on top of the services'. */
static void add_owner_selector(const struct bt_label_selector *source, struct bt_requirements *list)
{
	struct bt_selector selector;

	if (bt_selector_from_label_selector(source, list->arena, &selector, NULL) == 0) {
		bt_requirements_add_selector(list, &selector); /* `nothing` has no requirements */
	}
}

static void add_owner(
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_requirements *list)
{
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	const void *found;
	enum bt_kind kind;

	if (owner == NULL) {
		return;
	}
	/* One slash parts group and version: "/v1" is the core group too. */
	if ((bt_str_equal_c(owner->api_version, "v1") ||
		    bt_str_equal_c(owner->api_version, "/v1")) &&
		bt_str_equal_c(owner->kind, "ReplicationController")) {
		kind = BT_KIND_REPLICATION_CONTROLLER;
	} else if (bt_str_equal_c(owner->api_version, "apps/v1") &&
		bt_str_equal_c(owner->kind, "ReplicaSet")) {
		kind = BT_KIND_REPLICA_SET;
	} else if (bt_str_equal_c(owner->api_version, "apps/v1") &&
		bt_str_equal_c(owner->kind, "StatefulSet")) {
		kind = BT_KIND_STATEFUL_SET;
	} else {
		return;
	}
	found = bt_object_store_find(&state->objects, kind, pod->namespace_, owner->name);
	if (found == NULL) {
		return;
	}
	if (kind == BT_KIND_REPLICATION_CONTROLLER) {
		/* As add_pairs, but earlier requirements on the same keys give way. */
		const struct bt_str_map *map =
			&((const struct bt_replication_controller *)found)->spec.selector;
		uint32_t kept = 0;

		for (uint32_t i = 0; i < list->count; i++) {
			if (bt_str_map_find(map, list->items[i].key) == NULL) {
				list->items[kept++] = list->items[i];
			}
		}
		list->count = kept;
		add_pairs(list, map);
	} else if (kind == BT_KIND_REPLICA_SET) {
		add_owner_selector(((const struct bt_replica_set *)found)->spec.selector, list);
	} else {
		add_owner_selector(((const struct bt_stateful_set *)found)->spec.selector, list);
	}
}

/* --- keeping it --- */

struct bt_spread_selectors *bt_spread_selectors_create(void)
{
	return BT_NEW(struct bt_spread_selectors);
}

void bt_spread_selectors_destroy(struct bt_spread_selectors *kept)
{
	for (uint32_t i = 0; i < KEPT_MAX; i++) {
		bt_arena_finish(&kept->items[i].arena);
	}
	bt_strbuf_finish(&kept->key);
	bt_free(kept);
}

static void append_key(struct bt_strbuf *key, const struct bt_pod_info *pod,
	const struct bt_owner_reference *owner)
{
	bt_strbuf_reset(key);
	bt_key_append_str(key, pod->namespace_);
	if (owner != NULL) {
		bt_key_append_str(key, owner->api_version);
		bt_key_append_str(key, owner->kind);
		bt_key_append_str(key, owner->name);
	}
	bt_key_append_u32(key, pod->labels->count);
	for (uint32_t i = 0; i < pod->labels->count; i++) {
		bt_key_append_str(key, pod->labels->items[i].key);
		bt_key_append_str(key, pod->labels->items[i].value);
	}
}

struct bt_selector bt_spread_default_selector(struct bt_spread_selectors *kept,
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	struct kept_selector *item;
	struct bt_str key;
	/* Grows with every change of the objects a selector comes from. */
	uint64_t versions = bt_object_store_version(&state->objects, BT_KIND_SERVICE) +
		bt_object_store_version(&state->objects, BT_KIND_REPLICATION_CONTROLLER) +
		bt_object_store_version(&state->objects, BT_KIND_REPLICA_SET) +
		bt_object_store_version(&state->objects, BT_KIND_STATEFUL_SET);

	if (owner == NULL && bt_object_store_count(&state->objects, BT_KIND_SERVICE) == 0) {
		return (struct bt_selector){0};
	}
	append_key(&kept->key, pod, owner);
	key = bt_strbuf_str(&kept->key);
	item = &kept->items[bt_str_hash(key) & (KEPT_MAX - 1)];
	if (item->key.data == NULL || item->versions != versions || !bt_str_equal(item->key, key)) {
		struct bt_selector found;

		bt_arena_finish(&item->arena);
		bt_arena_init(&item->arena, 256);
		struct bt_requirements list = {.arena = arena};

		add_services(state, pod, &list);
		add_owner(state, pod, &list);
		found = bt_requirements_selector(&list);
		item->selector = bt_selector_copy(&found, &item->arena);
		item->key = bt_arena_str(&item->arena, key);
		item->versions = versions;
	}
	return bt_selector_copy(&item->selector, arena);
}
