/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_MANIFESTS_H
#define BT_CLUSTER_MANIFESTS_H
/**
 * The objects of all input files, as a simulation needs them: indexed by name and by owner. Objects
 * of kinds that no scheduler reads are not kept.
 */
#include "base/map.h"
#include "base/str.h"
#include "cluster/input.h"

/**
 * Longest name, in bytes, as for DNS names. Longer names would make messages and derived names too
 * long.
 */
#define BT_MANIFESTS_NAME_BYTES_MAX 253

#define BT_MANIFESTS_NONE UINT32_MAX

struct bt_manifests_object {
	struct bt_object *object; /* NULL once released */
	enum bt_kind kind;
	struct bt_origin origin;
	struct bt_str
		namespace_; /* "default" when the object names none; "" for cluster-scoped kinds */
	struct bt_str name;
	struct bt_str uid;   /* never empty */
	bool uid_is_given;   /* uid is from the input, not generated */
	bool pods_exist;     /* a workload whose pods exist: not expanded */
	uint32_t next_owned; /* next object of the same controller; BT_MANIFESTS_NONE: none */
};

/** The objects of one controller. The controller itself need not be in the input. */
struct bt_manifests_owner {
	struct bt_str namespace_;
	struct bt_str kind;
	struct bt_str name;
	uint32_t first; /* object index; next_owned continues the list */
	uint32_t last;
};

/** A LimitRange, ResourceQuota or RuntimeClass, which only admission reads. */
struct bt_manifests_policy {
	struct bt_origin origin;
	struct bt_str json;
	bool is_quota;
};

struct bt_manifests {
	struct bt_input input;
	BT_VEC(struct bt_manifests_object) objects; /* in input order */
	BT_VEC(struct bt_manifests_owner) owners;
	BT_VEC(struct bt_manifests_policy) policies;
	struct bt_map names;     /* kind, namespace, name -> object */
	struct bt_map owner_map; /* namespace, kind, name -> owner */
	struct bt_arena arena;   /* names, uids and policies */
	size_t object_bytes;
	uint32_t uid_count;                            /* number of uids generated so far */
	void (*warn)(void *context, const char *line); /* NULL: no warnings */
	void *warn_context;
	bool replaces; /* a repeated object replaces the earlier one without a warning */
};

void bt_manifests_init(struct bt_manifests *cluster);
void bt_manifests_finish(struct bt_manifests *cluster);
/**
 * Reads a file as bt_input_read does. A repeated object replaces the earlier one, with a warning.
 */
BT_MUST_USE int bt_manifests_read(
	struct bt_manifests *cluster, const char *path, struct berth_error *err);
BT_MUST_USE int bt_manifests_read_text(struct bt_manifests *cluster, const char *name,
	struct bt_str text, struct berth_error *err);
/**
 * Adds an object of a live cluster. Workloads are not expanded, because the cluster's controllers
 * have created the pods. source: result of bt_manifests_add_source. object: consumed.
 */
BT_MUST_USE int bt_manifests_take_live(struct bt_manifests *cluster, uint32_t source,
	struct bt_object *object, struct berth_error *err);
/** Adds a source that is not a file. Messages show the name. Returns the index of the source. */
uint32_t bt_manifests_add_source(struct bt_manifests *cluster, const char *name);
/**
 * Annotation of workloads. With value "true", the controllers have already created the pods, so the
 * workload is not expanded. Objects of a live cluster are treated as if they had the annotation.
 * Snapshots contain the annotation.
 */
#define BT_ANNOTATION_PODS_EXIST "berth.dev/pods-exist"
/**
 * Adds an object from a caller that reads cluster->input with another sink. object: consumed.
 * Errors name the object, not the file and document.
 */
BT_MUST_USE int bt_manifests_take(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_object *object, struct berth_error *err);
/**
 * Refuses what the API server also refuses and the scheduler could not handle: pod templates
 * without containers, and pods and pod templates in which a resource amount of a container, of the
 * pod or of its overhead is negative or not a whole number. Returns 0 for all other objects, or
 * BERTH_ERR_INVALID with the API server's text: "spec.template.spec.containers: Required value".
 */
BT_MUST_USE int bt_manifests_check(const struct bt_object *object, struct berth_error *err);
/**
 * Stores an object that bt_input_sink.skipped received, if the object is a policy
 * (bt_manifests_policy). Returns whether the object is a policy.
 */
bool bt_manifests_take_policy(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_str api_version, struct bt_str kind, struct bt_str json);
/** Maximum number of documents of a file, and maximum bytes of a document, that are checked. */
#define BT_UNKNOWN_FIELD_DOCUMENTS 200
#define BT_UNKNOWN_FIELD_BYTES_MAX (UINT32_C(256) << 10)
/** Maximum number of warnings for one document. */
#define BT_UNKNOWN_FIELD_WARNINGS_MAX 10
/**
 * Warns of misspelt and misplaced fields in a manifest, as kubectl apply does. The schema of the
 * embedded API server has all fields. Call it from bt_input_sink.taken. Defined in
 * unknown_field.c.
 *
 * Only documents with one object are checked. Lists, and objects that an API server has stored
 * (they have a uid or a resourceVersion), come from clusters whose version may have fields that the
 * schema lacks.
 */
void bt_manifests_check_fields(
	const struct bt_manifests *cluster, struct bt_origin origin, struct bt_str json);
/** Fills the lists of owners. Call it after the last file; it may be called again. */
void bt_manifests_index_owners(struct bt_manifests *cluster);
/**
 * Fills the empty cluster out_copy with the objects of source, under the same names and uids. Both
 * clusters share the objects, which are immutable. left_out[i]: the object at index i is not
 * copied; left_out NULL: all objects are copied. Owners are not indexed.
 */
void bt_manifests_copy(
	const struct bt_manifests *source, const bool *left_out, struct bt_manifests *out_copy);
/** Replaces the object at index; the entry keeps its name and uid. object: consumed. */
void bt_manifests_exchange(struct bt_manifests *cluster, uint32_t index, struct bt_object *object);
/**
 * Adds an object whose name is unused. source: the object's source in messages. object: consumed.
 * *out_index: the index of the new object. Errors are those of bt_manifests_read.
 */
BT_MUST_USE int bt_manifests_put(struct bt_manifests *cluster, const char *source,
	struct bt_object *object, uint32_t *out_index, struct berth_error *err);
/** Returns the index of an object, or BT_MANIFESTS_NONE. */
uint32_t bt_manifests_find(const struct bt_manifests *cluster, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/**
 * Suggests a correction of the mistyped `name`: returns the closest name of an object of this kind,
 * in the arena, or NULL if no name is close. namespace_: only objects of this namespace are
 * compared; NULL: objects of all namespaces. is_there: only objects that this function accepts are
 * compared; NULL: all objects.
 */
const char *bt_manifests_suggest(const struct bt_manifests *cluster, enum bt_kind kind,
	const struct bt_str *namespace_, struct bt_str name,
	bool (*is_there)(const void *context, uint32_t index), const void *context,
	struct bt_arena *arena);
/**
 * Returns the first object whose controller has this kind and name, or BT_MANIFESTS_NONE;
 * next_owned continues the list. uids are not compared. If a pod's ReplicaSet is not in the input,
 * the pod belongs to the Deployment derived from the ReplicaSet's name and the pod's label
 * pod-template-hash.
 */
uint32_t bt_manifests_first_owned(const struct bt_manifests *cluster, struct bt_str namespace_,
	struct bt_str kind, struct bt_str name);
/**
 * Returns the name of the Deployment that a pod's ReplicaSet belongs to. replica_set: name of the
 * ReplicaSet. If the name is "<deployment>-<hash>", where <hash> is the pod's label
 * pod-template-hash, returns <deployment>; otherwise "".
 */
struct bt_str bt_manifests_deployment_of(
	const struct bt_object_meta *pod, struct bt_str replica_set);
/** Returns a copy of a pod with the name, namespace and uid that it has in the cluster. */
struct bt_pod bt_manifests_pod(const struct bt_manifests_object *object);
/** Like bt_manifests_pod, for a node, which also gets defaults. New members are in the arena. */
struct bt_node bt_manifests_node(const struct bt_manifests_object *object, struct bt_arena *arena);
/** Returns the index of the node of a ResourceSlice; BT_MANIFESTS_NONE: no node or no slice. */
uint32_t bt_manifests_node_of_slice(const struct bt_manifests *cluster, uint32_t index);

struct bt_pod_owner {
	struct bt_str kind; /* "Deployment"; "" for a pod without a controller */
	struct bt_str name;
};

/**
 * Returns the workload of a pod: its controller, or the Deployment of its ReplicaSet. Texts are
 * borrowed from the pod.
 */
struct bt_pod_owner bt_pod_owner_of(const struct bt_object_meta *pod);
/** Returns a generated uid, which is the same in every run on the same input. */
struct bt_str bt_manifests_make_uid(struct bt_manifests *cluster);
/** Releases the object itself, but keeps its name, namespace and uid. */
void bt_manifests_release(struct bt_manifests *cluster, uint32_t index);
/** Appends "<file>: document <n>: <Kind> <namespace>/<name>". */
void bt_manifests_describe(
	const struct bt_manifests *cluster, uint32_t index, struct bt_strbuf *out);
/** Puts the description of the object at index in front of the error. Returns result. */
int bt_manifests_wrap(
	const struct bt_manifests *cluster, uint32_t index, int result, struct berth_error *err);
/** Passes the text of a template (bt_text_append) to cluster->warn. */
void bt_manifests_warn(const struct bt_manifests *cluster, const char *template_, ...);

/**
 * Suffixes of generated names. A cluster draws them at random; here they are computed, so that the
 * same input gives the same names in every run and on every machine.
 */

#define BT_SUFFIX_LENGTH 5

/**
 * Number of different suffixes of one prefix: indexes below BT_SUFFIX_COUNT give different
 * suffixes.
 */
#define BT_SUFFIX_COUNT (27 * 27 * 27 * 27 * 27)

/**
 * Writes the suffix for this prefix and index to out: BT_SUFFIX_LENGTH characters of the alphabet
 * of generated names, and a zero byte.
 */
void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out);
#endif
