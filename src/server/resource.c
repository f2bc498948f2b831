/* SPDX-License-Identifier: Apache-2.0 */
#include "server/resource.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "codec/json_edit.h"
#include "server/custom_rules.h"
#include "server/resource_private.h"
#include "server/store.h"
#include "server/strategy.h"

const char *bt_verb_name(enum bt_verb verb)
{
	static const char *const names[BT_VERB__COUNT] = {
		"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
	return names[verb];
}

const char *bt_subresource_name(enum bt_subresource subresource)
{
	static const char *const names[BT_SUBRESOURCE__COUNT] = {
		[BT_SUBRESOURCE_NONE] = "",
		[BT_SUBRESOURCE_STATUS] = "status",
		[BT_SUBRESOURCE_SCALE] = "scale",
		[BT_SUBRESOURCE_BINDING] = "binding",
		[BT_SUBRESOURCE_EVICTION] = "eviction",
		[BT_SUBRESOURCE_FINALIZE] = "finalize",
		[BT_SUBRESOURCE_LOG] = "log",
		[BT_SUBRESOURCE_EXEC] = "exec",
		[BT_SUBRESOURCE_ATTACH] = "attach",
		[BT_SUBRESOURCE_PORT_FORWARD] = "portforward",
		[BT_SUBRESOURCE_PROXY] = "proxy",
		[BT_SUBRESOURCE_RESIZE] = "resize",
		[BT_SUBRESOURCE_EPHEMERAL_CONTAINERS] = "ephemeralcontainers",
		[BT_SUBRESOURCE_TOKEN] = "token",
		[BT_SUBRESOURCE_APPROVAL] = "approval",
	};
	return names[subresource];
}

#define BT_RESOURCE(group_, version_, name_, singular_, kind_, short_names_, categories_, \
	namespaced_, verbs_, subresources_, flags_) \
	{.group = (group_), \
		.version = (version_), \
		.name = (name_), \
		.singular = (singular_), \
		.kind = kind_, \
		.list_kind = kind_ "List", \
		.short_names = (short_names_), \
		.categories = (categories_), \
		.namespaced = (namespaced_), \
		.verbs = (verbs_), \
		.subresources = (uint32_t)(subresources_), \
		.flags = (uint32_t)(flags_)},
static const struct bt_api_resource builtins[] = {
#include "server/resources.def"
};
#undef BT_RESOURCE

static uint64_t name_hash(struct bt_str group, struct bt_str version, struct bt_str name)
{
	uint64_t hash = bt_hash_bytes(name.data, name.length, 0);
	hash = bt_hash_bytes(group.data, group.length, hash);
	return bt_hash_bytes(version.data, version.length, hash);
}

struct bt_resource_row *bt_resources_row(const struct bt_resources *resources, struct bt_str group,
	struct bt_str version, struct bt_str name)
{
	uint64_t hash = name_hash(group, version, name);
	BT_MAP_EACH (&resources->by_name, hash, index) {
		struct bt_resource_row *row = resources->rows.items[index];
		if (bt_str_equal_c(name, row->resource.name) &&
			bt_str_equal_c(group, row->resource.group) &&
			bt_str_equal_c(version, row->resource.version)) {
			return row;
		}
	}
	return NULL;
}

void bt_resources_add_row(struct bt_resources *resources, struct bt_resource_row *row)
{
	const struct bt_api_resource *resource = &row->resource;
	bt_map_insert(&resources->by_name,
		name_hash(bt_str_from(resource->group), bt_str_from(resource->version),
			bt_str_from(resource->name)),
		resources->rows.count);
	bt_vec_push(&resources->rows, row);
}

struct bt_resources *bt_resources_create(struct bt_store *store, uint32_t unserved)
{
	struct bt_resources *resources = BT_NEW(struct bt_resources);
	resources->store = store;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(builtins); i++) {
		struct bt_resource_row *row = BT_NEW(struct bt_resource_row);
		struct bt_api_resource *resource = &row->resource;
		bt_arena_init(&row->arena, 128);
		*resource = builtins[i];
		/*
		 * The Events of both groups share a collection (14 section 6.3); metrics.k8s.io
		 * reads the collections of pods and nodes.
		 */
		bool is_shared = strcmp(resource->name, "events") == 0 ||
			strcmp(resource->group, "metrics.k8s.io") == 0;
		resource->collection = bt_store_collection(store,
			is_shared ? bt_str_from(resource->name)
				  : bt_resource_qualified(resource, &row->arena));
		resource->message = bt_schema_find(bt_resource_api_version(resource, &row->arena),
			bt_str_from(resource->kind));
		resource->strategy =
			bt_strategy_find(resource->group, resource->version, resource->name);
		row->served = (resource->flags & unserved) == 0;
		BT_ASSERT(resource->message != NULL);
		bt_resources_add_row(resources, row);
	}
	resources->builtin_count = resources->rows.count;
	bt_resources_sort(resources);
	return resources;
}

void bt_definition_destroy(struct bt_definition *definition)
{
	uint32_t count = bt_json_array_at(definition->tree, "spec.versions")->count;
	for (uint32_t i = 0; i < count; i++) {
		bt_custom_rules_destroy(definition->rules[i]);
	}
	bt_arena_finish(&definition->arena);
	bt_free(definition);
}

void bt_resources_destroy(struct bt_resources *resources)
{
	if (resources == NULL) {
		return;
	}
	for (uint32_t i = 0; i < resources->rows.count; i++) {
		bt_arena_finish(&resources->rows.items[i]->arena);
		bt_free(resources->rows.items[i]);
	}
	for (uint32_t i = 0; i < resources->definitions.count; i++) {
		bt_definition_destroy(resources->definitions.items[i]);
	}
	bt_vec_finish(&resources->rows);
	bt_vec_finish(&resources->order);
	bt_vec_finish(&resources->by_collection);
	bt_vec_finish(&resources->definitions);
	bt_map_finish(&resources->by_name);
	bt_free(resources);
}

/** --- order --- */

/** Order of versions in discovery: v2, v1, v2beta1, v1beta2, v1alpha1, then others by name. */
struct version_rank {
	int stability; /* 3: v1, 2: v1beta1, 1: v1alpha1, 0: other names */
	int64_t major;
	int64_t minor;
};

static bool take_number(const char **text, int64_t *out_number)
{
	const char *start = *text;
	*out_number = 0;
	for (; **text >= '0' && **text <= '9' && *out_number < 100000; (*text)++) {
		*out_number = *out_number * 10 + (**text - '0');
	}
	return *text != start;
}

static struct version_rank rank_of(const char *version)
{
	static const struct version_rank none = {0, 0, 0};
	struct version_rank rank = {3, 0, 0};
	const char *p = version;
	if (*p++ != 'v' || !take_number(&p, &rank.major)) {
		return none;
	}
	if (*p == '\0') {
		return rank;
	}
	if (strncmp(p, "beta", 4) == 0) {
		rank.stability = 2;
		p += 4;
	} else if (strncmp(p, "alpha", 5) == 0) {
		rank.stability = 1;
		p += 5;
	} else {
		return none;
	}
	return take_number(&p, &rank.minor) && *p == '\0' ? rank : none;
}

static int compare_rows(const void *left, const void *right)
{
	const struct bt_api_resource *a = *(const struct bt_api_resource *const *)left;
	const struct bt_api_resource *b = *(const struct bt_api_resource *const *)right;
	struct version_rank ra = rank_of(a->version);
	struct version_rank rb = rank_of(b->version);
	return BT_ORDER_BY(strcmp(a->group, b->group), rb.stability - ra.stability,
		BT_ORDER(rb.major, ra.major), BT_ORDER(rb.minor, ra.minor),
		strcmp(a->version, b->version), strcmp(a->name, b->name));
}

void bt_resources_sort(struct bt_resources *resources)
{
	uint32_t builtin_count = 0;
	resources->order.count = 0;
	for (uint32_t i = 0; i < resources->rows.count; i++) {
		if (resources->rows.items[i]->served) {
			bt_vec_push(&resources->order, &resources->rows.items[i]->resource);
			builtin_count += i < resources->builtin_count;
		}
	}
	if (resources->order.count > builtin_count) {
		qsort(resources->order.items + builtin_count,
			resources->order.count - builtin_count, sizeof(*resources->order.items),
			compare_rows);
	}
	uint32_t collections = bt_store_collection_count(resources->store);
	bt_vec_reserve(&resources->by_collection, collections);
	resources->by_collection.count = collections;
	for (uint32_t i = 0; i < collections; i++) {
		resources->by_collection.items[i] = NULL;
	}
	for (uint32_t i = resources->order.count; i > 0; i--) {
		const struct bt_api_resource *resource = resources->order.items[i - 1];
		resources->by_collection.items[resource->collection] = resource;
	}
	resources->generation++;
}

/** --- lookups --- */

uint32_t bt_resources_count(const struct bt_resources *resources)
{
	return resources->order.count;
}

const struct bt_api_resource *bt_resources_at(const struct bt_resources *resources, uint32_t index)
{
	return index < resources->order.count ? resources->order.items[index] : NULL;
}

const struct bt_api_resource *bt_resources_find(const struct bt_resources *resources,
	struct bt_str group, struct bt_str version, struct bt_str name)
{
	const struct bt_resource_row *row = bt_resources_row(resources, group, version, name);
	return row != NULL && row->served ? &row->resource : NULL;
}

const struct bt_api_resource *bt_resources_find_kind(
	const struct bt_resources *resources, struct bt_str api_version, struct bt_str kind)
{
	int64_t slash = bt_str_find_last_char(api_version, '/');
	struct bt_str group = bt_str_sub(api_version, 0, slash < 0 ? 0 : (uint32_t)slash);
	struct bt_str version = slash < 0
		? api_version
		: bt_str_sub(api_version, (uint32_t)slash + 1, api_version.length);
	for (uint32_t i = 0; i < resources->order.count; i++) {
		const struct bt_api_resource *resource = resources->order.items[i];
		if (bt_str_equal_c(kind, resource->kind) &&
			bt_str_equal_c(group, resource->group) &&
			bt_str_equal_c(version, resource->version)) {
			return resource;
		}
	}
	return NULL;
}

const struct bt_api_resource *bt_resources_builtin(
	const struct bt_resources *resources, const char *group, const char *name)
{
	const struct bt_api_resource *found = NULL;
	for (uint32_t i = 0; i < resources->builtin_count && found == NULL; i++) {
		const struct bt_api_resource *resource = &resources->rows.items[i]->resource;
		if (strcmp(resource->name, name) == 0 && strcmp(resource->group, group) == 0) {
			found = resource;
		}
	}
	BT_ASSERT(found != NULL);
	return found;
}

const struct bt_api_resource *bt_resources_of_collection(
	const struct bt_resources *resources, uint32_t collection)
{
	return collection < resources->by_collection.count
		? resources->by_collection.items[collection]
		: NULL;
}

uint64_t bt_resources_generation(const struct bt_resources *resources)
{
	return resources->generation;
}

struct bt_str bt_resource_api_version(
	const struct bt_api_resource *resource, struct bt_arena *arena)
{
	if (resource->group[0] == '\0') {
		return bt_str_from(resource->version);
	}
	return bt_arena_printf(arena, "%s/%s", resource->group, resource->version);
}

const char *bt_resource_scale_path(
	const struct bt_api_resource *resource, const char *name, struct bt_arena *arena)
{
	struct bt_str path = bt_json_text_at(
		bt_json_object_at(resource->definition_version, "subresources.scale"), name);
	return path.length == 0 || path.data[0] != '.'
		? ""
		: bt_arena_str(arena, bt_str_sub(path, 1, path.length)).data;
}

struct bt_str bt_resource_qualified(const struct bt_api_resource *resource, struct bt_arena *arena)
{
	if (resource->group[0] == '\0') {
		return bt_str_from(resource->name);
	}
	return bt_arena_printf(arena, "%s.%s", resource->name, resource->group);
}
