/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WRITE_H
#define BT_SERVER_WRITE_H
/** The insides of the API: what api.c, write_*.c and subresource_*.c share. */
#include "base/map.h"
#include "base/prng.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "codec/json_edit.h"
#include "schema/apply.h"
#include "server/api.h"
#include "server/strategy.h"

/** What pods use of a node. */
struct bt_node_sum {
	uint64_t name_hash;
	int64_t cpu_nano;
	int64_t memory_bytes;
};

/** Of all nodes, at one time. */
struct bt_node_usage {
	int64_t taken_ns; /* 0: never */
	BT_VEC(struct bt_node_sum) nodes;
	struct bt_map by_name;
};

struct bt_policies;
struct bt_quota_sums;
struct bt_owner_cache;

struct bt_api {
	struct bt_api_options options;
	struct bt_resources *resources;
	struct bt_prng prng;
	struct bt_rbac *rbac; /* NULL: everything is allowed */
	struct bt_tokens *tokens;
	struct bt_strbuf text; /* of the object that is being written */
	struct bt_api_trees trees; /* bt_api_trees */
	/** Resources that are treated in their own way. */
	const struct bt_api_resource *pods;
	const struct bt_api_resource *nodes;
	const struct bt_api_resource *namespaces;
	const struct bt_api_resource *budgets;
	const struct bt_api_resource *definitions;
	const struct bt_schema_message *metadata_message;
	struct bt_node_usage node_usage;
	struct bt_policies *policies;     /* NULL: to be read */
	struct bt_quota_sums *quota_sums; /* NULL: none was needed */
	struct bt_owner_cache *owner_cache;
};

/** One request under way. */
struct bt_call {
	struct bt_api *api;
	const struct bt_api_request *request;
	struct bt_arena *arena;
	struct bt_api_answer *answer;
	bool same_owners; /* managedFields stay as they are, and are not read */
	/** managedFields of a new object, which its tree does not have; NULL: the tree has them. */
	struct bt_owners *owners;
	struct bt_str shape;   /* owner_cache.c: what these will be known by; absent: not at all */
	struct bt_write write; /* for strategies; its name is the object's, also on create */
	struct bt_str key;
	const struct bt_json_value *old; /* what an update changes, as a tree; NULL: none */
};

/** --- call.c: parts of every request --- */

/** A call like that of request; answer is the caller's, emptied. */
void bt_call_init(struct bt_call *call, struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *answer);
/** Sets the failure of the answer, whose code bt_api_perform makes the answer's. Returns false. */
BT_PRINTF(4, 5)
bool bt_call_refuse(
	struct bt_call *call, uint16_t code, const char *reason, const char *format, ...);
BT_PRINTF(2, 3)
void bt_call_warn(struct bt_call *call, const char *format, ...);
/** 404 of the call's object. */
void bt_call_not_found(struct bt_call *call);
/** The stored object, borrowed; NULL, and the answer is 404. */
struct bt_stored *bt_call_find(struct bt_call *call);
/** A stored text as a tree of the version that is asked for. */
struct bt_json_value *bt_call_parse(struct bt_call *call, const struct bt_stored *stored);

/** Where a body comes from: how its errors are worded, and whether it is a whole object. */
enum bt_body_source {
	BT_BODY_OBJECT,
	BT_BODY_PATCHED,
	BT_BODY_APPLIED, /* a configuration: gets no defaults */
};

/**
 * Bring an object of the call's resource into order: kind and apiVersion are checked and taken out,
 * members that the schema does not know go, defaults come. false: the answer says why not.
 */
bool bt_call_decode(struct bt_call *call, struct bt_json_value *object, enum bt_body_source source);
/** The same for a body of another kind than the resource's (Binding, Eviction, Scale ...), without
 * defaults. api_version: absent = any. */
bool bt_call_decode_as(struct bt_call *call, struct bt_json_value *object,
	struct bt_str api_version, struct bt_str kind);

/** The object's metadata; made when it is missing. */
struct bt_json_value *bt_call_metadata(struct bt_call *call, struct bt_json_value *object);
struct bt_field_errors bt_call_field_errors(struct bt_call *call);
/** Validation and the validating admission plugins; old NULL: a create. false: the answer says why
 * not. */
bool bt_call_validate(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);
/** Errors as 422 of the resource's kind; false when there are none. */
bool bt_call_refuse_invalid(struct bt_call *call, const struct bt_field_errors *errors);

/** Commit the object (old NULL: it is new) and answer with it; a dry run only answers. */
void bt_call_store(struct bt_call *call, const struct bt_stored *old, struct bt_json_value *object,
	uint16_t code);
/** Remove the object whose last state is this, and answer with that; 200. */
void bt_call_remove(struct bt_call *call, struct bt_json_value *object);
/** Answer with what is stored. */
void bt_call_answer_stored(struct bt_call *call, struct bt_stored *stored, uint16_t code);
/** Answer with a tree; it gets kind and apiVersion. */
void bt_call_answer_object(struct bt_call *call, struct bt_json_value *object, uint16_t code);
/** {"kind":"Status",..., "status":"Success"} with code, or (uid given) details of the object. */
void bt_call_answer_success(struct bt_call *call, uint16_t code, struct bt_str uid);

/** --- admission_quota.c --- */

/** NULL accepted. */
void bt_quota_sums_destroy(struct bt_quota_sums *sums);

/** --- managedFields of new objects: owner_cache.c --- */

BT_MUST_USE struct bt_owner_cache *bt_owner_cache_create(void);
/** NULL accepted. */
void bt_owner_cache_destroy(struct bt_owner_cache *cache);
/**
 * Note in a new object, before admission, which manager owns what. If an object of the same shape
 * was created before, nothing is noted: call->owners are those of that object.
 */
void bt_call_note_owners(struct bt_call *call, struct bt_json_value *object);
/** After the commit of a new object: others of its shape will have the same owners. */
void bt_call_remember_owners(struct bt_call *call, const struct bt_stored *stored);

/** --- admission policies: admission_policy.c --- */

/** Some policy is in force. */
bool bt_policies_exist(struct bt_api *api);

/** NULL accepted. */
void bt_policies_destroy(struct bt_policies *policies);
/** After a commit of an object of this resource. */
void bt_policies_changed(struct bt_api *api, const struct bt_api_resource *resource);
/**
 * Change the object as the mutating policies in force say; old NULL: it is created. If it changed,
 * the mutating plugins of admission.c run again, and policies that want to. false: the answer says
 * why not.
 */
bool bt_policies_mutate(
	struct bt_call *call, const struct bt_json_value *old, struct bt_json_value *object);
/** operation: "CREATE", "UPDATE", "DELETE"; old or object NULL: there is none. false: the answer
 * says why not. */
bool bt_policies_validate(struct bt_call *call, const char *operation,
	const struct bt_json_value *old, const struct bt_json_value *object);

/** --- admission_mutation.c --- */

/** Apply an Object, or JSONPatches, that an expression made; on failure object stays as it is. */
BT_MUST_USE int bt_mutation_apply(struct bt_call *call, enum bt_cel_mutation mutation,
	const struct bt_cel_value *made, struct bt_json_value *object, struct berth_error *err);

/** --- objects of the server itself --- */

/** By metadata.name; cluster scope. */
void bt_api_create_if_missing(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_json_value *object, struct bt_arena *arena);
/** APIServices, priority levels and flow schemas, as far as they are missing. */
void bt_api_bootstrap(struct bt_api *api);

/** --- text --- */

struct bt_str bt_api_new_uid(struct bt_api *api, struct bt_arena *arena);
/** base, cut to 58 bytes, and five characters. */
struct bt_str bt_api_generate_name(struct bt_api *api, struct bt_arena *arena, struct bt_str base);
/** RV of a metadata: 0 when it is absent or "". -1: no number. */
int64_t bt_api_given_rv(const struct bt_json_value *metadata);

/** --- verbs --- */

void bt_call_get(struct bt_call *call);
void bt_call_create(struct bt_call *call);
/** From behind decoding; 201. */
void bt_call_create_object(struct bt_call *call, struct bt_json_value *object);
void bt_call_update(struct bt_call *call);
/**
 * From behind decoding: object becomes the new state of what is stored, as far as the call's
 * subresource goes. old: stored, parsed; not changed.
 */
void bt_call_update_object(struct bt_call *call, struct bt_stored *stored,
	const struct bt_json_value *old, struct bt_json_value *object);
/** Name, namespace, uid and resourceVersion of a body against the call and what is stored. */
bool bt_call_check_identity(struct bt_call *call, const struct bt_stored *stored,
	const struct bt_json_value *old, const struct bt_json_value *object,
	enum bt_body_source source);
/** 400: the body names no object. */
void bt_call_refuse_nameless(struct bt_call *call);
/** Nothing keeps an object with a deletionTimestamp any longer. */
bool bt_call_is_finished(const struct bt_call *call, const struct bt_json_value *object);
void bt_call_patch(struct bt_call *call);
/**
 * The call's patch on a document (changed). NULL: the answer says why not. message: of the
 * document, NULL without schema.
 */
struct bt_json_value *bt_call_apply_patch(struct bt_call *call,
	const struct bt_schema_message *message, struct bt_json_value *document);
/** `default/web; apps/v1, Kind=Deployment`: how refusals name an applied configuration. */
struct bt_str bt_call_apply_identity(
	const struct bt_call *call, const struct bt_json_value *applied);
/** Who owns the fields that this call writes. */
struct bt_apply_writer bt_call_apply_writer(struct bt_call *call);
void bt_call_delete(struct bt_call *call);

/** --- subresources and what is answered only --- */

void bt_call_scale(struct bt_call *call);
/** pod_name: of the URL, or absent on the collection bindings. */
void bt_call_binding(struct bt_call *call);
void bt_call_eviction(struct bt_call *call);
void bt_call_finalize(struct bt_call *call);
void bt_call_token(struct bt_call *call);
/** log, exec, attach, portforward, proxy. */
void bt_call_connect(struct bt_call *call);
void bt_call_review(struct bt_call *call);
/** Take what resize and ephemeralcontainers change from object, the rest from old. */
struct bt_json_value *bt_call_pod_part(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object);

/** --- service_account_token.c --- */

BT_MUST_USE struct bt_tokens *bt_tokens_create(void);
/** NULL accepted. */
void bt_tokens_destroy(struct bt_tokens *tokens);

/** --- NodeRestriction: node_authorizer.c --- */

/** What a node may write of an object that it has access to; old or object NULL: there is none.
 * false: the answer says why not. */
bool bt_node_restrict(struct bt_call *call, const struct bt_json_value *old,
	const struct bt_json_value *object);
/** The same of a token; reference: the object that it is bound to, or NULL. */
bool bt_node_restrict_token(struct bt_call *call, const struct bt_json_value *reference);

/** --- rbac.c --- */

/** Reads the store, and follows it. api: borrowed. */
BT_MUST_USE struct bt_rbac *bt_rbac_create(struct bt_api *api);
/** NULL accepted. */
void bt_rbac_destroy(struct bt_rbac *rbac);
/** Create the roles and bindings of rbac_bootstrap.def that are missing. */
void bt_rbac_bootstrap(struct bt_api *api);

/** --- custom resources --- */

/** status of a definition before it is stored: names accepted, established, stored versions. */
void bt_definition_prepare(struct bt_call *call, struct bt_json_value *definition);
void bt_definition_validate(struct bt_call *call, const struct bt_json_value *old,
	const struct bt_json_value *definition, struct bt_field_errors *errors);
/** Remove the fields of its schemas that are empty and have no meaning then, e.g. `properties: {}`.
 */
void bt_definition_drop_empty(const struct bt_json_value *definition);
/** The schemas of its versions; those that old has, too, are not looked at again. */
void bt_definition_check_schemas(const struct bt_json_value *old,
	const struct bt_json_value *definition, struct bt_field_errors *errors);
/** After a commit of a definition; NULL: it is gone. */
void bt_definition_changed(
	struct bt_api *api, struct bt_str name, const struct bt_json_value *definition);
/** A definition begins to go: its objects are deleted. */
void bt_definition_delete_objects(struct bt_call *call);
/** After the removal of a custom object: a definition that waited for it can go. */
void bt_definition_object_gone(
	struct bt_api *api, const struct bt_api_resource *resource, struct bt_arena *arena);

/** Read all definitions that are stored. */
void bt_definitions_load(struct bt_api *api);
#endif
