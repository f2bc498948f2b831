/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RESOURCE_H
#define BT_SERVER_RESOURCE_H
/**
 * The registry of served resources: every group, version and resource, including those of
 * CustomResourceDefinitions. The built-in resources are the rows of server/resources.def. Spec: 14
 * section 6.3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "schema/schema.h"

enum bt_verb {
	BT_VERB_GET,
	BT_VERB_LIST,
	BT_VERB_WATCH,
	BT_VERB_CREATE,
	BT_VERB_UPDATE,
	BT_VERB_PATCH,
	BT_VERB_DELETE,
	BT_VERB_DELETE_COLLECTION,
	BT_VERB__COUNT,
};

/** Returns the name of the verb: "get", "deletecollection", ... */
const char *bt_verb_name(enum bt_verb verb);

enum bt_subresource {
	BT_SUBRESOURCE_NONE,
	BT_SUBRESOURCE_STATUS,
	BT_SUBRESOURCE_SCALE,
	BT_SUBRESOURCE_BINDING,
	BT_SUBRESOURCE_EVICTION,
	BT_SUBRESOURCE_FINALIZE,
	BT_SUBRESOURCE_LOG,
	BT_SUBRESOURCE_EXEC,
	BT_SUBRESOURCE_ATTACH,
	BT_SUBRESOURCE_PORT_FORWARD,
	BT_SUBRESOURCE_PROXY,
	BT_SUBRESOURCE_RESIZE,
	BT_SUBRESOURCE_EPHEMERAL_CONTAINERS,
	BT_SUBRESOURCE_TOKEN,
	BT_SUBRESOURCE_APPROVAL,
	BT_SUBRESOURCE__COUNT,
};

/** Returns the name in URLs: "", "status", "scale", "binding", ... */
const char *bt_subresource_name(enum bt_subresource subresource);

/** Where the resource differs from the common rules. */
enum bt_resource_flag {
	BT_RESOURCE_GENERATION = 1 << 0,       /* 14b 2.2: generation counts changes of the spec */
	BT_RESOURCE_NEEDS_VERSION = 1 << 1,    /* 14 11.2: no unconditional update */
	BT_RESOURCE_CREATE_BY_UPDATE = 1 << 2, /* 14 11.3: an update creates a missing object */
	BT_RESOURCE_ANSWERS_DELETED = 1
		<< 3, /* 14 13.6: a delete answers with the object, not with a Status */
	BT_RESOURCE_REVIEW = 1 << 4,   /* answered, never stored: 14 14.5 */
	BT_RESOURCE_CUSTOM = 1 << 5,   /* from a CustomResourceDefinition */
	BT_RESOURCE_HIDDEN = 1 << 6,   /* served, not in discovery */
	BT_RESOURCE_WORKLOAD = 1 << 7, /* gate GenericWorkload: 09 section 1 */
};

struct bt_strategy;
struct bt_custom_rules;

/**
 * One resource of one version, as APIResource in discovery. Lives as long as the registry: the
 * entry of a removed custom resource stays, but lookups no longer find it.
 */
struct bt_api_resource {
	const char *group; /* "" for the core group */
	const char *version;
	const char *name;        /* "pods" */
	const char *singular;    /* "pod" */
	const char *kind;        /* "Pod" */
	const char *list_kind;   /* "PodList" */
	const char *short_names; /* separated by blanks */
	const char *categories;  /* separated by blanks */
	bool namespaced;
	uint32_t verbs;                          /* 1 << enum bt_verb */
	uint32_t subresources;                   /* 1 << enum bt_subresource */
	uint32_t flags;                          /* enum bt_resource_flag */
	uint32_t collection;                     /* index in the store; shared by all versions */
	const struct bt_schema_message *message; /* NULL: custom, any member is allowed */
	const struct bt_strategy *strategy;      /* never NULL */
	/**
	 * The CustomResourceDefinition of a custom resource, and its entry in spec.versions.
	 * Borrowed until the definition changes; NULL for built-in resources.
	 */
	const struct bt_json_value *definition;
	const struct bt_json_value *definition_version;
	/** Rules of the schema of definition_version; NULL for built-in resources. */
	const struct bt_custom_rules *rules;
	/** How server-side apply merges lists and maps of a custom resource; or NULL. */
	const struct bt_schema_message *parts;
};

struct bt_store;
struct bt_resources;

/**
 * Creates the registry with the built-in resources, and their collections in the store (borrowed).
 * `unserved`: flags (enum bt_resource_flag); resources with any of these flags are not served.
 */
BT_MUST_USE struct bt_resources *bt_resources_create(struct bt_store *store, uint32_t unserved);
void bt_resources_destroy(struct bt_resources *resources);
uint32_t bt_resources_count(const struct bt_resources *resources);
/**
 * Returns a served resource by its index in discovery order: built-in resources come first, then
 * custom resources by group, version and name. NULL: index is too large.
 */
const struct bt_api_resource *bt_resources_at(const struct bt_resources *resources, uint32_t index);
/** Returns NULL if the resource is not served. */
const struct bt_api_resource *bt_resources_find(const struct bt_resources *resources,
	struct bt_str group, struct bt_str version, struct bt_str name);
/** Finds a served resource by apiVersion ("v1" or "group/version") and kind; NULL: not served. */
const struct bt_api_resource *bt_resources_find_kind(
	const struct bt_resources *resources, struct bt_str api_version, struct bt_str kind);
/**
 * Returns the first version of the built-in resource with this group and name, served or not;
 * asserts that it exists.
 */
const struct bt_api_resource *bt_resources_builtin(
	const struct bt_resources *resources, const char *group, const char *name);
/**
 * Returns the resource (first served version) whose objects are in this collection of the store;
 * NULL: not served. O(1).
 */
const struct bt_api_resource *bt_resources_of_collection(
	const struct bt_resources *resources, uint32_t collection);
/** Changes when a custom resource is added or removed: discovery's ETags depend on it. */
uint64_t bt_resources_generation(const struct bt_resources *resources);
/**
 * Adds or updates the resources of the CustomResourceDefinition with this name ("plural.group").
 * definition: the parsed text of the stored definition; NULL: removes the resources.
 */
void bt_resources_define(
	struct bt_resources *resources, struct bt_str name, const struct bt_json_value *definition);
/**
 * Returns why the names of the definition cannot be accepted. Possible reasons: another resource of
 * the group has one of the names, or there are too many custom resources. The text may live in the
 * arena. Absent: no conflict.
 */
struct bt_str bt_resources_name_conflict(const struct bt_resources *resources, struct bt_str name,
	const struct bt_json_value *definition, struct bt_arena *arena);
/** Returns the apiVersion of the resource: "v1" or "apps/v1". */
struct bt_str bt_resource_api_version(
	const struct bt_api_resource *resource, struct bt_arena *arena);
/**
 * Returns a path that the definition of a custom resource gives for its scale, without the first
 * dot: "spec.replicas" for ".spec.replicas". name: "specReplicasPath", ... Returns "" if the path
 * is missing or malformed.
 */
const char *bt_resource_scale_path(
	const struct bt_api_resource *resource, const char *name, struct bt_arena *arena);
/** Returns the name of the resource as messages show it: "pods" or "deployments.apps". */
struct bt_str bt_resource_qualified(const struct bt_api_resource *resource, struct bt_arena *arena);
#endif
