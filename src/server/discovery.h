/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_DISCOVERY_H
#define BT_SERVER_DISCOVERY_H
/** Discovery documents. Spec: 14 section 6. */
#include "server/media.h"

/** A served group and version. */
struct bt_served_version {
	const char *group; /* "" for the core group */
	const char *version;
	bool is_first_of_group; /* the preferred version */
	bool has_resources;     /* false: a version of custom metrics */
	/** Its resources are among bt_resources_at from `begin`, and before `end`. */
	uint32_t begin;
	uint32_t end;
	uint32_t group_end; /* if is_first_of_group: index after the last version of the group */
};

/** Returns the versions that discovery lists, in discovery order. */
const struct bt_served_version *bt_served_versions(
	const struct bt_resources *resources, struct bt_arena *arena, uint32_t *out_count);

/** Returns the APIGroup of /apis/<only>; `only` absent: the APIGroupList of /apis. */
BT_MUST_USE struct bt_json_value *bt_discovery_groups(
	const struct bt_resources *resources, struct bt_str only, struct bt_arena *arena);
/** Returns the APIResourceList of one version, which must be served. */
BT_MUST_USE struct bt_json_value *bt_discovery_resources(const struct bt_resources *resources,
	struct bt_str group, struct bt_str version, struct bt_arena *arena);
/** Returns the APIGroupDiscoveryList of /api (is_core) or /apis. */
BT_MUST_USE struct bt_json_value *bt_discovery_aggregated(const struct bt_resources *resources,
	bool is_core, enum bt_discovery_form form, struct bt_arena *arena);
/** Returns the document of /, {"paths":[...]}. */
BT_MUST_USE struct bt_json_value *bt_discovery_paths(
	const struct bt_resources *resources, struct bt_arena *arena);
/** Group, version and kind of the document that a subresource reads and writes. */
struct bt_discovery_kind {
	const char *group;
	const char *version;
	const char *kind;
	bool is_own_version; /* that of the resource */
};

struct bt_discovery_kind bt_discovery_kind_of(
	const struct bt_api_resource *resource, enum bt_subresource subresource);
#endif
