/* SPDX-License-Identifier: Apache-2.0 */
#include "server/discovery.h"

#include "codec/json_edit.h"
#include "server/custom_metrics.h"

struct bt_discovery_kind bt_discovery_kind_of(
	const struct bt_api_resource *resource, enum bt_subresource subresource)
{
	static const struct bt_discovery_kind kinds[BT_SUBRESOURCE__COUNT] = {
		[BT_SUBRESOURCE_SCALE] = {"autoscaling", "v1", "Scale", false},
		[BT_SUBRESOURCE_BINDING] = {"", "v1", "Binding", false},
		[BT_SUBRESOURCE_EVICTION] = {"policy", "v1", "Eviction", false},
		[BT_SUBRESOURCE_EXEC] = {"", "v1", "PodExecOptions", false},
		[BT_SUBRESOURCE_ATTACH] = {"", "v1", "PodAttachOptions", false},
		[BT_SUBRESOURCE_PORT_FORWARD] = {"", "v1", "PodPortForwardOptions", false},
		[BT_SUBRESOURCE_PROXY] = {"", "v1", "ServiceProxyOptions", false},
		[BT_SUBRESOURCE_TOKEN] = {"authentication.k8s.io", "v1", "TokenRequest", false},
	};
	struct bt_discovery_kind kind = kinds[subresource];
	if (kind.kind == NULL) {
		kind = (struct bt_discovery_kind){.group = resource->group,
			.version = resource->version,
			.kind = resource->kind};
	} else if (subresource == BT_SUBRESOURCE_PROXY && strcmp(resource->name, "pods") == 0) {
		kind.kind = "PodProxyOptions";
	} else if (subresource == BT_SUBRESOURCE_PROXY && strcmp(resource->name, "nodes") == 0) {
		kind.kind = "NodeProxyOptions";
	}
	kind.is_own_version = strcmp(kind.group, resource->group) == 0 &&
		strcmp(kind.version, resource->version) == 0;
	return kind;
}

const struct bt_served_version *bt_served_versions(
	const struct bt_resources *resources, struct bt_arena *arena, uint32_t *out_count)
{
	uint32_t resource_count = bt_resources_count(resources);
	struct bt_served_version *versions = BT_ARENA_NEW_ARRAY(
		arena, struct bt_served_version, resource_count + BT_CUSTOM_METRICS_VERSIONS);
	uint32_t *firsts = BT_ARENA_NEW_ARRAY(
		arena, uint32_t, resource_count + BT_CUSTOM_METRICS_VERSIONS); /* by group */
	struct bt_text_set groups = {0};
	struct bt_text_set names = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < resource_count; i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		struct bt_str group = bt_str_from(resource->group);
		struct bt_str name = bt_resource_api_version(resource, arena);
		if ((resource->flags & BT_RESOURCE_HIDDEN) != 0) {
			continue;
		}
		if (bt_text_set_add(&names, name)) {
			bool is_new_group = bt_text_set_add(&groups, group);
			versions[count] = (struct bt_served_version){
				resource->group, resource->version, is_new_group, true, i, 0, 0};
			if (is_new_group) {
				firsts[groups.items.count - 1] = count;
			}
			versions[firsts[bt_text_set_find(&groups, group)]].group_end = ++count;
		}
		versions[bt_text_set_find(&names, name)].end = i + 1;
	}
	for (uint32_t i = 0; i < BT_CUSTOM_METRICS_VERSIONS; i++) {
		const struct bt_custom_metrics_version *row = &bt_custom_metrics_versions[i];
		struct bt_str group = bt_str_from(row->group);
		bool is_new_group = bt_text_set_add(&groups, group);
		versions[count] = (struct bt_served_version){
			row->group, row->version, is_new_group, false, 0, 0, 0};
		if (is_new_group) {
			firsts[groups.items.count - 1] = count;
		}
		versions[firsts[bt_text_set_find(&groups, group)]].group_end = ++count;
	}
	bt_text_set_finish(&groups);
	bt_text_set_finish(&names);
	*out_count = count;
	return versions;
}

static struct bt_json_value *version_entry(
	const struct bt_served_version *version, struct bt_arena *arena)
{
	return bt_json_put(arena, NULL, "{groupVersion: %s, version: %c}",
		bt_arena_printf(arena, "%s%s%s", version->group,
			version->group[0] != '\0' ? "/" : "", version->version),
		version->version);
}

struct bt_json_value *bt_discovery_groups(
	const struct bt_resources *resources, struct bt_str only, struct bt_arena *arena)
{
	struct bt_json_value *groups = bt_json_new(arena, BT_JSON_ARRAY);
	uint32_t count;
	const struct bt_served_version *versions = bt_served_versions(resources, arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		const char *group = versions[i].group;
		if (!versions[i].is_first_of_group || group[0] == '\0' ||
			(only.data != NULL && !bt_str_equal_c(only, group))) {
			continue;
		}
		struct bt_json_value *entries = bt_json_new(arena, BT_JSON_ARRAY);
		for (uint32_t k = i; k < versions[i].group_end; k++) {
			if (strcmp(versions[k].group, group) == 0) {
				bt_json_append(arena, entries, version_entry(&versions[k], arena));
			}
		}
		struct bt_json_value *object = bt_json_put(arena, NULL,
			only.data != NULL ? "{kind: 'APIGroup', apiVersion: 'v1'}" : "{}");
		bt_json_put(arena, object, "{name: %c, versions: %v, preferredVersion: %v}", group,
			entries, version_entry(&versions[i], arena));
		if (only.data != NULL) {
			return object;
		}
		bt_json_append(arena, groups, object);
	}
	return bt_json_put(
		arena, NULL, "{kind: 'APIGroupList', apiVersion: 'v1', groups: %v}", groups);
}

/*
 * Returns the names of the verbs, sorted by name as in upstream's discovery; for proxy, the verbs
 * of all HTTP methods.
 */
static struct bt_json_value *verb_names(const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_arena *arena)
{
	static const enum bt_verb order[] = {BT_VERB_CREATE, BT_VERB_DELETE,
		BT_VERB_DELETE_COLLECTION, BT_VERB_GET, BT_VERB_LIST, BT_VERB_PATCH, BT_VERB_UPDATE,
		BT_VERB_WATCH};
	struct bt_json_value *names = bt_json_new(arena, BT_JSON_ARRAY);
	uint32_t verbs = bt_api_verbs(resource, subresource);
	if (subresource == BT_SUBRESOURCE_PROXY) {
		verbs = 1u << BT_VERB_CREATE | 1u << BT_VERB_DELETE | 1u << BT_VERB_GET |
			1u << BT_VERB_PATCH | 1u << BT_VERB_UPDATE;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(order); i++) {
		if ((verbs & 1u << order[i]) != 0) {
			bt_json_append(arena, names, bt_json_new_c(arena, bt_verb_name(order[i])));
		}
	}
	return names;
}

/* Returns the words as an array; NULL: there are none. */
static struct bt_json_value *split_words(struct bt_arena *arena, const char *words)
{
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_str rest = bt_str_from(words);
	while (rest.length != 0) {
		struct bt_str word = bt_str_cut(&rest, ' ');
		if (word.length != 0) {
			bt_json_append(arena, list, bt_json_new_str(arena, word));
		}
	}
	return list->count != 0 ? list : NULL;
}

struct bt_json_value *bt_discovery_resources(const struct bt_resources *resources,
	struct bt_str group, struct bt_str version, struct bt_arena *arena)
{
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if ((resource->flags & BT_RESOURCE_HIDDEN) != 0 ||
			!bt_str_equal_c(group, resource->group) ||
			!bt_str_equal_c(version, resource->version)) {
			continue;
		}
		bt_json_put(arena, list,
			"[{name: %c, singularName: %c, namespaced: %b, kind: %c, verbs: %v,"
			" shortNames: %v, categories: %v}]",
			resource->name, resource->singular, resource->namespaced, resource->kind,
			verb_names(resource, BT_SUBRESOURCE_NONE, arena),
			split_words(arena, resource->short_names),
			split_words(arena, resource->categories));
		for (int j = BT_SUBRESOURCE_NONE + 1; j < BT_SUBRESOURCE__COUNT; j++) {
			enum bt_subresource subresource = (enum bt_subresource)j;
			if ((resource->subresources & 1u << j) == 0) {
				continue;
			}
			struct bt_discovery_kind kind = bt_discovery_kind_of(resource, subresource);
			bool is_own = kind.is_own_version;
			bt_json_put(arena, list,
				"[{name: %s, singularName: '', namespaced: %b, group: %c,"
				" version: %c, kind: %c, verbs: %v}]",
				bt_arena_printf(arena, "%s/%s", resource->name,
					bt_subresource_name(subresource)),
				resource->namespaced,
				is_own || kind.group[0] == '\0' ? NULL : kind.group,
				is_own ? NULL : kind.version, kind.kind,
				verb_names(resource, subresource, arena));
		}
	}
	return bt_json_put(arena, NULL,
		"{kind: 'APIResourceList', apiVersion: 'v1', groupVersion: %s, resources: %v}",
		group.length == 0 ? version
				  : bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(group),
					    BT_STR_ARG(version)),
		list);
}

/** --- aggregated --- */

static struct bt_json_value *response_kind(const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_arena *arena)
{
	struct bt_discovery_kind kind = bt_discovery_kind_of(resource, subresource);
	return bt_json_put(arena, NULL, "{group: %c, version: %c, kind: %c}",
		kind.is_own_version ? "" : kind.group, kind.is_own_version ? "" : kind.version,
		kind.kind);
}

/* Returns the entry of one version; without resources for a version of custom metrics. */
static struct bt_json_value *aggregated_version(const struct bt_resources *resources,
	const struct bt_served_version *version, struct bt_arena *arena)
{
	struct bt_json_value *list = NULL;
	for (uint32_t i = version->begin; i < version->end; i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if ((resource->flags & BT_RESOURCE_HIDDEN) != 0 ||
			strcmp(resource->group, version->group) != 0 ||
			strcmp(resource->version, version->version) != 0) {
			continue;
		}
		struct bt_json_value *entry = bt_json_put(arena, NULL,
			"{resource: %c, responseKind: %v, scope: %c, singularResource: %c,"
			" verbs: %v, shortNames: %v, categories: %v}",
			resource->name, response_kind(resource, BT_SUBRESOURCE_NONE, arena),
			resource->namespaced ? "Namespaced" : "Cluster", resource->singular,
			verb_names(resource, BT_SUBRESOURCE_NONE, arena),
			split_words(arena, resource->short_names),
			split_words(arena, resource->categories));
		for (int j = BT_SUBRESOURCE_NONE + 1; j < BT_SUBRESOURCE__COUNT; j++) {
			enum bt_subresource subresource = (enum bt_subresource)j;
			if ((resource->subresources & 1u << j) != 0) {
				bt_json_put(arena, entry,
					"{subresources: [{subresource: %c, responseKind: %v,"
					" verbs: %v}]}",
					bt_subresource_name(subresource),
					response_kind(resource, subresource, arena),
					verb_names(resource, subresource, arena));
			}
		}
		list = bt_json_put(arena, list, "[%v]", entry);
	}
	return bt_json_put(arena, NULL, "{version: %c, resources: %v, freshness: 'Current'}",
		version->version, list);
}

struct bt_json_value *bt_discovery_aggregated(const struct bt_resources *resources, bool is_core,
	enum bt_discovery_form form, struct bt_arena *arena)
{
	struct bt_json_value *items = bt_json_new(arena, BT_JSON_ARRAY);
	uint32_t count;
	const struct bt_served_version *versions = bt_served_versions(resources, arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		const char *group = versions[i].group;
		if (!versions[i].is_first_of_group || (group[0] == '\0') != is_core) {
			continue;
		}
		struct bt_json_value *item =
			bt_json_put(arena, NULL, "{metadata: {name: %c}}", is_core ? NULL : group);
		for (uint32_t k = i; k < versions[i].group_end; k++) {
			if (strcmp(versions[k].group, group) == 0) {
				bt_json_put(arena, item, "{versions: [%v]}",
					aggregated_version(resources, &versions[k], arena));
			}
		}
		bt_json_append(arena, items, item);
	}
	return bt_json_put(arena, NULL,
		"{kind: 'APIGroupDiscoveryList', apiVersion: %c, metadata: {}, items: %v}",
		form == BT_DISCOVERY_V2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1",
		items);
}

struct bt_json_value *bt_discovery_paths(
	const struct bt_resources *resources, struct bt_arena *arena)
{
	struct bt_json_value *paths = bt_json_put(arena, NULL, "['/api', '/api/v1', '/apis']");
	uint32_t count;
	const struct bt_served_version *versions = bt_served_versions(resources, arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		const char *group = versions[i].group;
		if (group[0] == '\0' || !versions[i].has_resources) {
			continue;
		}
		if (versions[i].is_first_of_group) {
			bt_json_put(
				arena, paths, "[%s]", bt_arena_printf(arena, "/apis/%s", group));
		}
		bt_json_put(arena, paths, "[%s]",
			bt_arena_printf(arena, "/apis/%s/%s", group, versions[i].version));
	}
	return bt_json_put(arena, NULL, "{paths: %v}",
		bt_json_put(arena, paths,
			"['/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz',"
			" '/version']"));
}
