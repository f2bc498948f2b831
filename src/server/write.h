/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WRITE_H
#define BT_SERVER_WRITE_H
/** Internals of the API, shared by api.c, write_*.c and subresource_*.c. */
#include "base/map.h"
#include "base/prng.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "codec/json_edit.h"
#include "schema/apply.h"
#include "server/api.h"
#include "server/strategy.h"

/** Sum of the usage of the pods on one node. */
struct bt_node_sum {
	uint64_t name_hash;
	int64_t cpu_nano;
	int64_t memory_bytes;
};

/** Usage of all nodes, sampled at one time. */
struct bt_node_usage {
	int64_t taken_ns; /* 0: never */
	BT_VEC(struct bt_node_sum) nodes;
	struct bt_map by_name;
};

struct bt_policies;
struct bt_quota_sums;
struct bt_owner_cache;
struct bt_service_addresses;

struct bt_api {
	struct bt_api_options options;
	struct bt_resources *resources;
	struct bt_prng prng;
	struct bt_rbac *rbac; /* NULL: everything is allowed */
	struct bt_tokens *tokens;
	struct bt_strbuf text;     /* JSON text of the object that is being written */
	struct bt_api_trees trees; /* see bt_api_trees */
	/** Resources that the code treats specially. */
	const struct bt_api_resource *pods;
	const struct bt_api_resource *nodes;
	const struct bt_api_resource *namespaces;
	const struct bt_api_resource *budgets;
	const struct bt_api_resource *definitions;
	const struct bt_schema_message *metadata_message;
	struct bt_node_usage node_usage;
	struct bt_policies *policies;     /* NULL: not loaded */
	struct bt_quota_sums *quota_sums; /* NULL: not needed yet */
	struct bt_owner_cache *owner_cache;
	struct bt_service_addresses *service_addresses; /* NULL: not needed yet */
};

/** One request that is being carried out. */
struct bt_call {
	struct bt_api *api;
	const struct bt_api_request *request;
	struct bt_arena *arena;
	struct bt_api_answer *answer;
	bool same_owners; /* keep managedFields without reading them */
	/** managedFields of a new object, kept outside of its tree; NULL: the tree has them. */
	struct bt_owners *owners;
	struct bt_str shape;   /* key of the owners in the owner cache; absent: not cached */
	struct bt_write write; /* for strategies; has the object's name, also on create */
	struct bt_str key;
	const struct bt_json_value *old; /* tree of the object that an update changes; NULL: none */
	uint32_t status_bytes;           /* of the text to store; see struct bt_stored */
	bool is_replaced; /* the text to store has U+FFFD for invalid bytes of the tree */
};

/** --- call.c: parts of every request --- */

/** Starts a call of the request; clears answer, which the caller owns. */
void bt_call_init(struct bt_call *call, struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *answer);
/** Sets the answer's failure; bt_api_perform copies its code to the answer. Returns false. */
BT_PRINTF(4, 5)
bool bt_call_refuse(
	struct bt_call *call, uint16_t code, const char *reason, const char *format, ...);
BT_PRINTF(2, 3)
/** Adds a Warning header to the answer. */
void bt_call_warn(struct bt_call *call, const char *format, ...);
/**
 * warnings.c: adds the warnings about fields of the valid object that are deprecated or ignored.
 * old: the stored object; NULL on a create.
 */
void bt_call_warn_about(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);
/**
 * Returns the object if it is a pod, or its pod template; NULL: its kind has none. *out_root: the
 * path of the result with a dot at its end, or "".
 */
const struct bt_json_value *bt_call_pod(
	const struct bt_call *call, const struct bt_json_value *object, const char **out_root);
/** Fails with 404 for the call's object. */
void bt_call_not_found(struct bt_call *call);
/** Returns the call's stored object, borrowed; NULL: not found, and the call fails with 404. */
struct bt_stored *bt_call_find(struct bt_call *call);
/** Returns the stored object as a tree of the requested version. */
struct bt_json_value *bt_call_parse(struct bt_call *call, const struct bt_stored *stored);

/** The source of a body: decides how errors are worded, and whether the body is a whole object. */
enum bt_body_source {
	BT_BODY_OBJECT,
	BT_BODY_PATCHED,
	BT_BODY_APPLIED, /* an apply configuration, which gets no defaults */
};

/**
 * Normalises an object of the call's resource: checks and removes kind and apiVersion, drops
 * members that the schema does not have, sets defaults. false: the call failed.
 */
bool bt_call_decode(struct bt_call *call, struct bt_json_value *object, enum bt_body_source source);
/**
 * Like bt_call_decode, for a body of another kind than the resource (Binding, Eviction, Scale ...),
 * without defaults. api_version: absent means any.
 */
bool bt_call_decode_as(struct bt_call *call, struct bt_json_value *object,
	struct bt_str api_version, struct bt_str kind);

/**
 * Drops repeated members of the call's merge patch or strategic merge patch, as the request's
 * fieldValidation says. false: the call failed.
 */
bool bt_call_drop_repeated(struct bt_call *call);

/** Returns the object's metadata; created if missing. */
struct bt_json_value *bt_call_metadata(struct bt_call *call, struct bt_json_value *object);
/**
 * Runs validation and the validating admission plugins. old NULL: a create. false: the call failed.
 */
bool bt_call_validate(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);
/**
 * Fails with 422 for the resource's kind and returns true if there are errors; else returns false.
 */
bool bt_call_refuse_invalid(struct bt_call *call, const struct bt_field_errors *errors);

/**
 * Commits the object (old NULL: a new one) and answers with the object; a dry run only answers.
 * code: HTTP status of the answer.
 */
void bt_call_store(struct bt_call *call, const struct bt_stored *old, struct bt_json_value *object,
	uint16_t code);
/**
 * Removes the object from the store and answers 200. object: the last state of the object, which
 * the answer shows.
 */
void bt_call_remove(struct bt_call *call, struct bt_json_value *object);
/** Answers with the stored object. */
void bt_call_answer_stored(struct bt_call *call, struct bt_stored *stored, uint16_t code);
/** Sets kind and apiVersion of an object of the resource. */
void bt_api_set_kind(const struct bt_api_resource *resource, struct bt_json_value *object,
	struct bt_arena *arena);
/** Answers with a tree, after adding kind and apiVersion. */
void bt_call_answer_object(struct bt_call *call, struct bt_json_value *object, uint16_t code);
/**
 * Answers {"kind":"Status",..., "status":"Success"} with this code. uid: if not empty, the answer
 * has details of the object with this uid.
 */
void bt_call_answer_success(struct bt_call *call, uint16_t code, struct bt_str uid);

/** --- parts of the API with files of their own --- */

BT_MUST_USE struct bt_owner_cache *bt_owner_cache_create(void);
BT_MUST_USE struct bt_tokens *bt_tokens_create(void);
/** Reads the roles and bindings in the store, and listens to changes. api: borrowed. */
BT_MUST_USE struct bt_rbac *bt_rbac_create(struct bt_api *api);
/** The functions that destroy a part accept NULL. */
void bt_owner_cache_destroy(struct bt_owner_cache *cache);
void bt_policies_destroy(struct bt_policies *policies);
void bt_quota_sums_destroy(struct bt_quota_sums *sums);
void bt_rbac_destroy(struct bt_rbac *rbac);
void bt_service_addresses_destroy(struct bt_service_addresses *addresses);
void bt_tokens_destroy(struct bt_tokens *tokens);

/** --- managedFields of new objects: write_create.c --- */

/** Call after the commit of a new object: caches its owners for other objects of the same shape. */
void bt_call_remember_owners(struct bt_call *call, const struct bt_stored *stored);

/** --- admission policies: policy.c, admission_policy.c --- */

/** Call after a commit of an object of this resource. */
void bt_policies_changed(struct bt_api *api, const struct bt_api_resource *resource);
/**
 * Applies the mutating policies in force to the object; old NULL: a create. If the object changed,
 * runs the mutating plugins of admission.c again, and the policies that ask for reinvocation.
 * false: the call failed.
 */
bool bt_policies_mutate(
	struct bt_call *call, const struct bt_json_value *old, struct bt_json_value *object);
/**
 * Runs the validating policies. operation: "CREATE", "UPDATE", "DELETE", "CONNECT"; old or object
 * may be NULL. They are of the kind that the call's subresource reads and writes:
 * bt_discovery_kind_of. false: the call failed.
 */
bool bt_policies_validate(struct bt_call *call, const char *operation,
	const struct bt_json_value *old, const struct bt_json_value *object);

/** --- pod_security.c --- */

/**
 * Checks a pod, or the pod template of a workload, against the levels of its namespace, and the
 * labels of a namespace that set these levels. false: the call failed.
 */
bool bt_pod_security_check(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);

/** --- objects that the server creates --- */

/** Creates the objects that every cluster has, if the store lacks them: see bt_api_create. */
void bt_api_bootstrap(struct bt_api *api);

/** --- text --- */

struct bt_str bt_api_new_uid(struct bt_api *api, struct bt_arena *arena);
/** Returns base, cut to 58 bytes, with five random characters appended. */
struct bt_str bt_api_generate_name(struct bt_api *api, struct bt_arena *arena, struct bt_str base);
/** Returns metadata.resourceVersion: 0 if it is absent or "", -1 if it is not a number. */
int64_t bt_api_resource_version_of(const struct bt_json_value *metadata);

/** --- verbs --- */

void bt_call_get(struct bt_call *call);
void bt_call_create(struct bt_call *call);
/** Does the steps of a create after decoding, and answers 201. */
void bt_call_create_object(struct bt_call *call, struct bt_json_value *object);
void bt_call_update(struct bt_call *call);
/**
 * Does the steps of an update after decoding. Stores only the parts of `object` that the call's
 * subresource may change. `old`: the tree of `stored`; not changed.
 */
void bt_call_update_object(struct bt_call *call, struct bt_stored *stored,
	const struct bt_json_value *old, struct bt_json_value *object);
/**
 * Checks name, namespace, uid and resourceVersion of a body against the call and the stored object.
 * `old`: the tree of `stored`. false: the call failed.
 */
bool bt_call_check_identity(struct bt_call *call, const struct bt_stored *stored,
	const struct bt_json_value *old, const struct bt_json_value *object,
	enum bt_body_source source);
/** Fails with 409: `what` ("UID", "ResourceVersion") of the object is not `wanted`. */
bool bt_call_refuse_precondition(
	struct bt_call *call, const char *what, struct bt_str wanted, struct bt_str found);
/** Fails with 400: the body has no name. */
bool bt_call_refuse_nameless(struct bt_call *call);
/**
 * Returns whether the object has a deletionTimestamp and can be removed now, because no finalizer
 * or grace period keeps it.
 */
bool bt_call_is_finished(const struct bt_call *call, const struct bt_json_value *object);
void bt_call_patch(struct bt_call *call);
/** Checks the options that this kind of patch allows: spec 14 section 9. false: the call failed. */
bool bt_call_check_patch_options(struct bt_call *call);
/**
 * Applies the call's patch, which is no apply configuration, to a document, which may be changed,
 * and returns the result; NULL: the call failed. message: schema of the document, or NULL.
 */
struct bt_json_value *bt_call_apply_patch(struct bt_call *call,
	const struct bt_schema_message *message, struct bt_json_value *document);
/**
 * Checks the form of the call's apply configuration; message: its schema, or NULL. false: the call
 * failed.
 */
bool bt_call_check_applied(struct bt_call *call, const struct bt_schema_message *message);
/**
 * Applies a configuration of the call's resource to the object `live` (NULL: a new object). Returns
 * the new object, which is not normalised yet; NULL: the call failed.
 */
struct bt_json_value *bt_call_apply(struct bt_call *call, const struct bt_json_value *live,
	const struct bt_json_value *applied);
/** Returns how errors name an apply configuration: `default/web; apps/v1, Kind=Deployment`. */
struct bt_str bt_call_apply_identity(
	const struct bt_call *call, const struct bt_json_value *applied);
/** Returns the field manager of this write and the schema of its fields, for server-side apply. */
struct bt_apply_writer bt_call_apply_writer(struct bt_call *call);
void bt_call_delete(struct bt_call *call);

/** --- subresources and reviews --- */

void bt_call_scale(struct bt_call *call);
/** Returns the Scale of an object of the call's resource. */
struct bt_json_value *bt_call_make_scale(struct bt_call *call, const struct bt_json_value *object);
/** Serves the subresource pods/binding, and POST requests to the collection `bindings`. */
void bt_call_binding(struct bt_call *call);
void bt_call_eviction(struct bt_call *call);
void bt_call_finalize(struct bt_call *call);
void bt_call_token(struct bt_call *call);
/** Serves log, exec, attach, portforward and proxy. */
void bt_call_connect(struct bt_call *call);
void bt_call_review(struct bt_call *call);
/**
 * Returns a copy of `old` with the fields of `object` that the call's subresource (resize or
 * ephemeralcontainers) may change.
 */
struct bt_json_value *bt_call_pod_part(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);

/** --- NodeRestriction: node_authorizer.c --- */

/**
 * If NodeRestriction does not allow a node's write, fails the call and returns false. old NULL: a
 * create; object NULL: a delete.
 */
bool bt_node_restrict(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);
/**
 * Like bt_node_restrict, for a token. reference: the object that the token is bound to, or NULL.
 */
bool bt_node_restrict_token(struct bt_call *call, const struct bt_json_value *reference);

/** --- custom resources --- */

/**
 * Sets the status of a definition before it is stored: accepted names, Established, stored
 * versions.
 */
void bt_definition_prepare(struct bt_call *call, struct bt_json_value *definition);
/**
 * Removes unknown, null and empty members (`properties: {}`) from the schemas. Null and empty ones
 * mean nothing. For each unknown one, appends a text such as `unknown field
 * "spec.versions[0].schema.openAPIV3Schema.x"` to the array `problems`.
 */
void bt_definition_tidy(const struct bt_json_value *definition, struct bt_arena *arena,
	struct bt_json_value *problems);
/** Call after a commit of a definition. `definition` NULL: the definition was removed. */
void bt_definition_changed(
	struct bt_api *api, struct bt_str name, const struct bt_json_value *definition);
/** Deletes the objects of a definition that is being deleted. */
void bt_definition_delete_objects(struct bt_call *call);
/**
 * Call after the removal of a custom object: removes the definition with this name if it is being
 * deleted and has no more objects.
 */
void bt_definition_remove_if_empty(struct bt_api *api, struct bt_str name, struct bt_arena *arena);

/** Loads all stored definitions. */
void bt_definitions_load(struct bt_api *api);
#endif
