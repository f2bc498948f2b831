/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_API_H
#define BT_SERVER_API_H
/**
 * The API without HTTP: verbs on resources, with the rules of an API server. The HTTP front
 * (server/routes.h), the controllers, the node agents and the scheduler all write through
 * bt_api_perform, so that all of them are subject to the same rules. One thread. Spec: 14 sections
 * 9 to 14 and 17, 14b.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "server/failure.h"
#include "server/resource.h"
#include "server/store.h"

/** Documents nest at most so deep (400 beyond it): trees are walked by recursion. */
#define BT_API_DEPTH_MAX 500
/** Largest request body: spec 13 section 7.4. */
#define BT_API_BODY_BYTES_MAX 3145728

struct bt_api;

/** One value; a key with several values has several entries. */
struct bt_user_extra {
	struct bt_str key;
	struct bt_str value;
};

struct bt_user {
	struct bt_str name;
	struct bt_str uid;
	uint32_t group_count;
	const struct bt_str *groups;
	uint32_t extra_count;
	const struct bt_user_extra *extras; /* entries of a key follow each other */
};

/** admin in system:masters. */
extern const struct bt_user bt_user_admin;

struct bt_api_options {
	struct bt_store *store; /* borrowed */
	/** The cluster's clock, nanoseconds since 1970. */
	int64_t (*now_ns)(void *context);
	void *clock_context;
	uint64_t seed; /* of uids and generated names */
	/** What pods use that do not say so: server/usage.h. Borrowed; NULL: half of their
	 * requests. */
	const char *cpu_usage;
	const char *memory_usage;
	/** Off when no controller would take back what they add: 14b sections 4.3, 4.5 and 4.8. */
	bool admit_service_account;
	bool admit_taint_nodes;
	bool admit_storage_protection;
	bool admit_pod_group_protection;
	/**
	 * Feature gates of spec 09 section 1. Without generic_workload PodGroups and Workloads are
	 * not served; without the others their fields are dropped.
	 */
	bool generic_workload;
	bool topology_aware_workload_scheduling;
	bool workload_aware_preemption;
	bool dra_workload_resource_claims;
	bool workload_with_job;
	/** A pod's ServiceAccount must exist, and the pod mounts its token: 14b 4.3. */
	bool admit_token_volumes;
	/** RBAC decides what users may do, and its bootstrap roles and bindings are made. false:
	 * every user may do everything. */
	bool has_rbac;
	/** PEM of the key that signs the tokens of ServiceAccounts, borrowed as long as the API;
	 * NULL: a new one, made when it is needed. */
	const char *service_account_key;
	/** Objects come from files that a scheduler is to decide about: types of fields are
	 * checked, values are not, and quotas only by bt_quota_take. */
	bool skip_validation;
};

/** Makes the namespaces default, kube-system, kube-public, kube-node-lease and the system priority
 * classes when they are missing; reads CustomResourceDefinitions from the store. */
BT_MUST_USE struct bt_api *bt_api_create(const struct bt_api_options *options);
void bt_api_destroy(struct bt_api *api);
struct bt_store *bt_api_store(const struct bt_api *api);
struct bt_resources *bt_api_resources(const struct bt_api *api);
int64_t bt_api_now_ns(const struct bt_api *api);
const struct bt_api_options *bt_api_options(const struct bt_api *api);
/** Random numbers of this server. */
struct bt_prng *bt_api_prng(struct bt_api *api);

enum bt_patch_type {
	BT_PATCH_JSON,
	BT_PATCH_MERGE,
	BT_PATCH_STRATEGIC,
	BT_PATCH_APPLY,
};

enum bt_propagation {
	BT_PROPAGATION_DEFAULT,
	BT_PROPAGATION_BACKGROUND,
	BT_PROPAGATION_FOREGROUND,
	BT_PROPAGATION_ORPHAN,
};

/** Options of pods/log, exec and attach. Texts as given, absent: not given. */
struct bt_connect_options {
	struct bt_str container;
	struct bt_str tail_lines;
	struct bt_str since_seconds;
	struct bt_str since_time;
	struct bt_str limit_bytes;
	bool follow;
	bool previous;
	bool timestamps;
	bool takes_input;  /* stdin */
	bool takes_output; /* stdout */
	bool takes_errors; /* stderr */
};

struct bt_api_request {
	enum bt_verb verb; /* not LIST, WATCH or DELETE_COLLECTION: those are server/list.h */
	const struct bt_api_resource *resource;
	enum bt_subresource subresource;
	struct bt_str namespace_; /* "" for cluster scope */
	struct bt_str name;       /* "" on create: the body says it */
	const struct bt_user *user;
	/** The object, patch or options document, as decoded from JSON, YAML or protobuf: it is
	 * normalised here. Consumed: it is changed and taken apart. Lives in the arena of the call.
	 * NULL: none. Kind and apiVersion may be missing (14 section 8.1). */
	struct bt_json_value *body;
	const struct bt_connect_options *connect; /* NULL: none */
	enum bt_patch_type patch_type;
	enum bt_field_validation field_validation;
	struct bt_str field_manager;
	bool force;
	bool dry_run;
	/** Delete: -1 = not given, less: what a client gave below 0 (14 section 23, case 10). */
	int64_t grace_period_seconds;
	enum bt_propagation propagation;
	struct bt_str precondition_uid; /* absent: none */
	struct bt_str precondition_rv;
	/** managedFields are left as they are: of writes that are so frequent, and conflict with no
	 * one, as those of a status by the process itself. */
	bool same_owners;
	/** Initial objects: status, uid, creationTimestamp and nodeName are taken as they are, and
	 * an existing object is replaced. */
	bool restore;
	/** Escalation, and rights beyond the verb that an earlier check allowed, are checked: the
	 * request is a client's, not the process's own. */
	bool checks_access;
};

/** A request with nothing given: the fields that are not zero then. */
#define BT_API_REQUEST_INIT \
	{ \
		.user = &bt_user_admin, .grace_period_seconds = -1 \
	}

struct bt_api_answer {
	uint16_t code; /* 200, 201, or failure.code */
	/** The object as it is stored now, or was last; a reference of the caller's. NULL: document
	 * has the answer. */
	struct bt_stored *object;
	/** In the arena of the call, complete with kind and apiVersion: a Status, a Scale, a
	 * review, or an object that was not stored (dry run). */
	struct bt_json_value *document;
	/** Plain text in place of an object; absent: none. In the arena of the call. */
	struct bt_str text;
	/** Of pods/log, exec and attach, in the arena: the container, whether it goes on after the
	 * text, and the exit code of the command. */
	struct bt_str container;
	struct bt_str uid; /* of the pod */
	bool runs_on;
	uint8_t exit_code;
	struct bt_failure failure;
	/** Texts for Warning headers. */
	uint32_t warning_count;
	const struct bt_str *warnings;
};

/** Carry out one request. out_answer is made anew; release its object. */
void bt_api_perform(struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *out_answer);
void bt_api_answer_finish(struct bt_api_answer *answer);
/** 1 << enum bt_verb that the resource, or its subresource, knows; 0: it has no such subresource.
 */
uint32_t bt_api_verbs(const struct bt_api_resource *resource, enum bt_subresource subresource);

/** --- for those within the process --- */

/** The stored object as a tree in the arena (nothing borrowed from the store), or NULL. key:
 * "ns/name" or "name". */
BT_MUST_USE struct bt_json_value *bt_api_read(const struct bt_api *api,
	const struct bt_api_resource *resource, struct bt_str key, struct bt_arena *arena);
/** The container of the pod is running, as its status says. */
bool bt_pod_container_runs(const struct bt_json_value *pod, struct bt_str container);
/** {"username", "uid", "groups", "extra"}, as reviews show a user. Texts are borrowed. */
BT_MUST_USE struct bt_json_value *bt_user_info(const struct bt_user *user, struct bt_arena *arena);
/** Trees that a write has at hand; they may have managedFields that stored texts lack. */
struct bt_api_trees {
	const struct bt_json_value *before; /* NULL: a new object, or not at hand */
	const struct bt_json_value *after;  /* NULL: none is at hand */
};
/** While the listeners of the store are called for a new or changed object: of this change. They
 * live in the arena of the request. */
const struct bt_api_trees *bt_api_trees(const struct bt_api *api);
/** Its text as a tree that borrows from it. */
BT_MUST_USE struct bt_json_value *bt_api_parse_stored(
	const struct bt_stored *stored, struct bt_arena *arena);
/** "ns/name", or "name" when namespace_ is "". */
BT_MUST_USE struct bt_str bt_api_key(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name);
#endif
