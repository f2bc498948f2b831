/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_API_H
#define BT_SERVER_API_H
/**
 * The API without HTTP: verbs on resources, with the rules of an API server. The HTTP front
 * (server/front.h), the controllers, the node agents and the scheduler all write through
 * bt_api_perform, so that all of them are subject to the same rules. Not thread-safe. Spec: 14
 * sections 9 to 14 and 17, 14b.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "server/failure.h"
#include "server/resource.h"
#include "server/store.h"

/**
 * Largest nesting depth of a document. Deeper documents are answered with 400, because trees are
 * walked by recursion.
 */
#define BT_API_DEPTH_MAX 500
/** Largest request body: spec 13 section 7.4. */
#define BT_API_BODY_BYTES_MAX 3145728

struct bt_api;

/** One value of an extra key of a user. A key with several values has several entries. */
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
	const struct bt_user_extra *extras; /* all entries of one key are adjacent */
};

/** The user admin, in the group system:masters. */
extern const struct bt_user bt_user_admin;

struct bt_api_options {
	struct bt_store *store; /* borrowed */
	/** The cluster's clock, nanoseconds since 1970. */
	int64_t (*now_ns)(void *context);
	void *clock_context;
	uint64_t seed; /* seeds the generator of uids and generated names */
	/**
	 * CPU and memory usage of pods without a valid usage annotation, as a text that
	 * server/usage.h describes. Borrowed; NULL: half of the pod's requests.
	 */
	const char *cpu_usage;
	const char *memory_usage;
	/**
	 * Enable admission plugins that depend on controllers. Set each only if its controller
	 * runs: a controller creates the ServiceAccounts "default", and only controllers remove the
	 * taints and finalizers that the other plugins add. Spec: 14b sections 4.3, 4.5 and 4.8.
	 */
	bool admit_service_account;
	bool admit_taint_nodes;
	bool admit_storage_protection;
	bool admit_pod_group_protection;
	/**
	 * Feature gates of spec 09 section 1. Without generic_workload, PodGroups and Workloads are
	 * not served, and pods lose schedulingGroup. If topology_aware_workload_scheduling,
	 * workload_aware_preemption or dra_workload_resource_claims is false, the fields of that
	 * gate are dropped, unless the stored object has them. With workload_with_job, the
	 * parallelism of gang Jobs is immutable.
	 */
	bool generic_workload;
	bool topology_aware_workload_scheduling;
	bool workload_aware_preemption;
	bool dra_workload_resource_claims;
	bool workload_with_job;
	/** A pod's ServiceAccount must exist, and the pod mounts its token: 14b 4.3. */
	bool admit_token_volumes;
	/**
	 * RBAC decides what users may do, and the bootstrap roles and bindings are created. false:
	 * every user may do everything.
	 */
	bool has_rbac;
	/**
	 * PEM of the key that signs the tokens of ServiceAccounts; borrowed, must live as long as
	 * the API. NULL: the API generates a key when it first needs one.
	 */
	const char *service_account_key;
	/**
	 * For simulations whose objects come from files: the types of fields are checked, but their
	 * values are not, and only bt_quota_take enforces quotas.
	 */
	bool skip_validation;
};

/**
 * Creates the API. Also creates the objects that every cluster has, if the store lacks them: the
 * namespaces default, kube-system, kube-public and kube-node-lease, the system priority classes,
 * APIServices, flow control objects and, with has_rbac, the bootstrap roles and bindings. Reads the
 * CustomResourceDefinitions in the store.
 */
BT_MUST_USE struct bt_api *bt_api_create(const struct bt_api_options *options);
void bt_api_destroy(struct bt_api *api);
struct bt_store *bt_api_store(const struct bt_api *api);
struct bt_resources *bt_api_resources(const struct bt_api *api);
int64_t bt_api_now_ns(const struct bt_api *api);
const struct bt_api_options *bt_api_options(const struct bt_api *api);
/** Returns the server's random number generator. */
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

/**
 * Options of pods/log, exec and attach, as texts of the query; absent if the query lacks the
 * option.
 */
struct bt_connect_options {
	struct bt_str container;
	struct bt_str tail_lines;
	struct bt_str since_seconds;
	struct bt_str since_time;
	struct bt_str limit_bytes;
	bool follow;
	bool previous;
	bool timestamps;
	bool takes_input;              /* stdin */
	bool takes_output;             /* stdout */
	bool takes_errors;             /* stderr */
	bool is_terminal;              /* tty */
	struct bt_json_value *command; /* texts; NULL: none */
};

struct bt_api_request {
	enum bt_verb verb; /* not LIST, WATCH, DELETE_COLLECTION: see list.h, watch.h */
	const struct bt_api_resource *resource;
	enum bt_subresource subresource;
	struct bt_str namespace_; /* "" for cluster scope */
	struct bt_str name;       /* "" on create: the body has the name */
	const struct bt_user *user;
	/**
	 * The object, patch or options document, decoded from JSON, YAML or protobuf; NULL: none.
	 * kind and apiVersion may be missing (14 section 8.1). The tree lives in the arena of the
	 * call, and the call modifies it, so the caller must not use it afterwards.
	 */
	struct bt_json_value *body;
	bool is_normalised; /* bt_schema_normalise would not change the body */
	const struct bt_connect_options *connect; /* NULL: none */
	enum bt_patch_type patch_type;
	enum bt_field_validation field_validation;
	struct bt_str field_manager; /* "": user_agent */
	struct bt_str user_agent;    /* the client's program; "": the server itself */
	bool force;
	bool dry_run;
	/**
	 * For deletes. -1: not given. Less than -1: the client gave a negative value (14 section
	 * 23, case 10).
	 */
	int64_t grace_period_seconds;
	enum bt_propagation propagation;
	struct bt_str precondition_uid; /* absent: none */
	struct bt_str precondition_rv;
	/**
	 * Keeps managedFields as they are. For frequent writes by this process, such as status
	 * updates, that conflict with no other manager.
	 */
	bool same_owners;
	/**
	 * With same_owners: the tree that bt_api_read returned, which a patch need not parse again
	 * if it is still the stored object; NULL: none.
	 */
	const struct bt_json_value *known;
	/**
	 * An initial object: status, uid, creationTimestamp and nodeName are kept, and an existing
	 * object is replaced.
	 */
	bool restore;
	/**
	 * The request comes from a client, not from the process itself: also check privilege
	 * escalation and the rights that go beyond the verb.
	 */
	bool checks_access;
	/** The answer can carry Warning headers: look for fields to warn about. */
	bool warns;
};

/** A request with default options: sets only the fields whose default is not zero. */
#define BT_API_REQUEST_INIT \
	{ \
		.user = &bt_user_admin, .grace_period_seconds = -1 \
	}

struct bt_api_answer {
	uint16_t code; /* 200, 201, or failure.code */
	/**
	 * The object as stored now or, after a deletion, as last stored; the caller owns one
	 * reference. NULL: `document` has the answer.
	 */
	struct bt_stored *object;
	/**
	 * In the arena of the call, complete with kind and apiVersion: a Status, a Scale, a review,
	 * or an object that was not stored (dry run).
	 */
	struct bt_json_value *document;
	/** Plain text in place of an object; absent: none. In the arena of the call. */
	struct bt_str text;
	/**
	 * The answer of pods/log, exec and attach consists of `text` and the members from here to
	 * `exit_code`. Their texts are in the arena of the call.
	 */
	struct bt_str container; /* the container's name, even if the request named none */
	struct bt_str uid;       /* of the pod */
	bool runs_on;            /* attach, log: the container may write more after `text` */
	uint8_t exit_code;       /* exec: exit code of the command */
	struct bt_failure failure;
	/** Texts of the Warning headers. */
	uint32_t warning_count;
	const struct bt_str *warnings;
};

/**
 * Carries out one request. Initialises out_answer; the caller releases it with
 * bt_api_answer_finish.
 */
void bt_api_perform(struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *out_answer);
void bt_api_answer_finish(struct bt_api_answer *answer);
/**
 * Returns a bit mask (1 << enum bt_verb) of the verbs of the resource or its subresource; 0: no
 * such subresource.
 */
uint32_t bt_api_verbs(const struct bt_api_resource *resource, enum bt_subresource subresource);

/** --- for callers inside the process --- */

/**
 * Returns the stored object as a tree in the arena; NULL: there is no such object. The tree borrows
 * nothing from the store. key: "ns/name" or "name".
 */
BT_MUST_USE struct bt_json_value *bt_api_read(const struct bt_api *api,
	const struct bt_api_resource *resource, struct bt_str key, struct bt_arena *arena);
/** Returns whether the pod's status says that this container is running. */
bool bt_pod_container_runs(const struct bt_json_value *pod, struct bt_str container);
/**
 * Returns the user as an object of type UserInfo: {"username", "uid", "groups", "extra"}. Texts are
 * borrowed.
 */
BT_MUST_USE struct bt_json_value *bt_user_info(const struct bt_user *user, struct bt_arena *arena);
/**
 * Trees of the object before and after a write, as far as the write has parsed them. They may
 * contain managedFields, which stored texts leave out.
 */
struct bt_api_trees {
	const struct bt_json_value *before; /* NULL: a new object, or not parsed */
	const struct bt_json_value *after;  /* NULL: not parsed */
};
/**
 * Returns the trees of the current change. They live in the arena of the request, and are valid
 * only while the store calls its listeners for a new or changed object.
 */
const struct bt_api_trees *bt_api_trees(const struct bt_api *api);
/** Parses the stored text into a tree that borrows from the text. */
BT_MUST_USE struct bt_json_value *bt_api_parse_stored(
	const struct bt_stored *stored, struct bt_arena *arena);
/** Returns the name of the default StorageClass; "": there is no default class. 14b section 2.3. */
BT_MUST_USE struct bt_str bt_api_default_class(const struct bt_api *api, struct bt_arena *arena);
/** Returns "ns/name", or "name" if namespace_ is "". */
BT_MUST_USE struct bt_str bt_api_key(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name);
#endif
