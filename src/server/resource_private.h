/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RESOURCE_PRIVATE_H
#define BT_SERVER_RESOURCE_PRIVATE_H
/** The registry's internals, shared by resource.c and resource_custom.c. */
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "server/resource.h"

/** A stored CustomResourceDefinition. */
struct bt_definition {
	struct bt_arena arena; /* memory of name and tree */
	struct bt_str name;
	const struct bt_json_value *tree;
	struct bt_custom_rules **rules; /* by index in spec.versions; NULL: not served */
};

/** One resource of one version, and the memory of its texts if it is custom. */
struct bt_resource_row {
	struct bt_api_resource resource;
	struct bt_arena arena;
	const struct bt_definition *owner; /* NULL: built-in, or removed */
	bool served;
};

struct bt_resources {
	struct bt_store *store;
	BT_VEC(struct bt_resource_row *) rows;        /* in order of creation; never freed */
	struct bt_map by_name;                        /* group, version, name -> row */
	BT_VEC(const struct bt_api_resource *) order; /* served resources, as in discovery */
	/** By collection: the first served version; NULL: not served. */
	BT_VEC(const struct bt_api_resource *) by_collection;
	BT_VEC(struct bt_definition *) definitions;
	uint32_t builtin_count;
	uint64_t generation;
};

/**
 * Returns the row with this name, even if its resource was removed; NULL: there never was such a
 * row.
 */
struct bt_resource_row *bt_resources_row(const struct bt_resources *resources, struct bt_str group,
	struct bt_str version, struct bt_str name);
/** Adds a row whose group, version and name are set. */
void bt_resources_add_row(struct bt_resources *resources, struct bt_resource_row *row);
/** Rebuilds the members `order` and `by_collection`. */
void bt_resources_sort(struct bt_resources *resources);
void bt_definition_destroy(struct bt_definition *definition);
#endif
