/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_MANIFESTS_H
#define BT_CLUSTER_MANIFESTS_H
/**
 * The objects of all input files, as a simulation needs them: by name, and by owner. Kinds that no
 * scheduler reads are dropped on arrival.
 */
#include "base/map.h"
#include "base/str.h"
#include "cluster/input.h"

/** Names are DNS names; longer ones would only make messages and derived names long. */
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
	bool uid_is_given;   /* the input has it; otherwise it was made up */
	bool pods_exist;     /* a workload whose controller is at work: it is not expanded */
	uint32_t next_owned; /* of the same controller; BT_MANIFESTS_NONE ends the list */
};

/** Everything controlled by one object, which need not be in the input itself. */
struct bt_manifests_owner {
	struct bt_str namespace_;
	struct bt_str kind;
	struct bt_str name;
	uint32_t first; /* object index */
	uint32_t last;
};

/** A LimitRange, ResourceQuota or RuntimeClass, which only admission reads. */
struct bt_manifests_policy {
	struct bt_origin origin;
	struct bt_str json;
};

struct bt_manifests {
	struct bt_input input;
	BT_VEC(struct bt_manifests_object) objects; /* in input order */
	BT_VEC(struct bt_manifests_owner) owners;
	BT_VEC(struct bt_manifests_policy) policies;
	struct bt_map names;     /* kind, namespace, name -> object */
	struct bt_map owner_map; /* namespace, kind, name -> owner */
	struct bt_arena arena;   /* names and uids that were made up */
	size_t object_bytes;
	uint32_t uid_count;                            /* uids made up */
	void (*warn)(void *context, const char *line); /* NULL: nobody listens */
	void *warn_context;
	bool replaces; /* objects of the input before may come once more: no warnings about it */
};

void bt_manifests_init(struct bt_manifests *cluster);
void bt_manifests_finish(struct bt_manifests *cluster);
/** bt_input_read; an object that was in the input before is replaced, with a warning. */
BT_MUST_USE int bt_manifests_read(
	struct bt_manifests *cluster, const char *path, struct berth_error *err);
BT_MUST_USE int bt_manifests_read_text(struct bt_manifests *cluster, const char *name,
	struct bt_str text, struct berth_error *err);
/**
 * From a live cluster, whose controllers have made the pods there are to be: workloads are not
 * expanded. source: of bt_manifests_add_source. object: consumed.
 */
BT_MUST_USE int bt_manifests_take_live(struct bt_manifests *cluster, uint32_t source,
	struct bt_object *object, struct berth_error *err);
/** Something that is no file, under this name in messages. */
uint32_t bt_manifests_add_source(struct bt_manifests *cluster, const char *name);
/**
 * Manifests say with this annotation, "true", what is true of all objects of a live cluster: that a
 * workload's pods exist as far as they ever will. Snapshots carry it.
 */
#define BT_ANNOTATION_PODS_EXIST "berth.dev/pods-exist"
/**
 * One object that a reader of its own (cluster->input with another sink) came across. object:
 * consumed. Errors name the object, not its place.
 */
BT_MUST_USE int bt_manifests_take(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_object *object, struct berth_error *err);
/**
 * Refuse what the API server refuses of a pod or of a workload's pod template and the scheduler
 * cannot decide about: amounts of containers, of the pod and of its overhead that are negative or
 * no whole number, and a template without containers. Other objects pass. BERTH_ERR_INVALID with
 * the API server's words: "spec.template.spec.containers: Required value".
 */
BT_MUST_USE int bt_manifests_check(const struct bt_object *object, struct berth_error *err);
/** Keep an object that bt_input_sink.skipped was called with, if it is one of the policies. */
bool bt_manifests_take_policy(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_str api_version, struct bt_str kind, struct bt_str json);
/** bt_unknown_field_find in a manifest; for bt_input_sink.taken. */
void bt_manifests_check_fields(
	const struct bt_manifests *cluster, struct bt_origin origin, struct bt_str json);
/** After the last file: fill the lists of owners, anew when they were filled before. */
void bt_manifests_index_owners(struct bt_manifests *cluster);
/**
 * Fill an empty cluster with the objects of another, which it shares (nothing an object holds can
 * be changed), under the same names and uids. left_out: by index, those that are not taken; NULL:
 * all are. Owners are not indexed.
 */
void bt_manifests_copy(
	const struct bt_manifests *source, const bool *left_out, struct bt_manifests *out_copy);
/** Another version of the object at index, which keeps its name and uid. object: consumed. */
void bt_manifests_exchange(struct bt_manifests *cluster, uint32_t index, struct bt_object *object);
/**
 * Add an object of a name that no other has; source names where it comes from in messages. object:
 * consumed. Returns its index. Errors: as of bt_manifests_read.
 */
BT_MUST_USE int bt_manifests_put(struct bt_manifests *cluster, const char *source,
	struct bt_object *object, uint32_t *out_index, struct berth_error *err);
/** Index of an object, or BT_MANIFESTS_NONE. */
uint32_t bt_manifests_find(const struct bt_manifests *cluster, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/**
 * The name of an object of this kind, in this namespace (NULL: in any), that is closest to a
 * mistyped one; NULL when none is. is_there NULL: all objects count. Borrowed from the arena.
 * *out_count (may be NULL): objects of this kind there are.
 */
const char *bt_manifests_suggest(const struct bt_manifests *cluster, enum bt_kind kind,
	const struct bt_str *namespace_, struct bt_str name,
	bool (*is_there)(const void *context, uint32_t index), const void *context,
	struct bt_arena *arena, uint32_t *out_count);
/**
 * First object controlled by an object of this kind and name, or BT_MANIFESTS_NONE; next_owned
 * leads on. uids are not compared. A pod of a ReplicaSet that is not in the input counts as the
 * Deployment's that the ReplicaSet's name and the label pod-template-hash point to.
 */
uint32_t bt_manifests_first_owned(const struct bt_manifests *cluster, struct bt_str namespace_,
	struct bt_str kind, struct bt_str name);
/**
 * The Deployment whose ReplicaSet of this name made the pod: the name without "-" and the
 * template's hash, which the pod's labels have; "" when they say otherwise.
 */
struct bt_str bt_manifests_deployment_of(
	const struct bt_object_meta *pod, struct bt_str replica_set);
/** A uid that is the same in every run on the same input. */
struct bt_str bt_manifests_make_uid(struct bt_manifests *cluster);
/** Release the object itself; name, namespace and uid stay known. */
void bt_manifests_release(struct bt_manifests *cluster, uint32_t index);
/** "<file>: document <n>: <Kind> <namespace>/<name>" */
void bt_manifests_describe(
	const struct bt_manifests *cluster, uint32_t index, struct bt_strbuf *out);
/** Put that in front of an error. Returns its code. */
int bt_manifests_wrap(
	const struct bt_manifests *cluster, uint32_t index, int result, struct berth_error *err);
BT_PRINTF(2, 3)
void bt_manifests_warn(const struct bt_manifests *cluster, const char *format, ...);

/**
 * The endings that a cluster draws at random for generated names, here computed: the same input
 * gives the same names in every run and on every machine.
 */

#define BT_SUFFIX_LENGTH 5

/** Endings for distinct indexes below BT_SUFFIX_COUNT are distinct under one prefix. */
#define BT_SUFFIX_COUNT (27 * 27 * 27 * 27 * 27)

/** out: BT_SUFFIX_LENGTH characters and a zero byte, of those that generated names use. */
void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out);

/**
 * Warnings about misspelt and misplaced fields of manifests, as kubectl apply gives them. The
 * schema of the embedded API server knows all fields.
 *
 * People write their manifests one object a document: lists, and objects that an API server has
 * made (they have a uid or a resourceVersion), come from clusters, whose versions may have fields
 * that the schema lacks, and are not looked at.
 */

/** Documents of one file that are looked at; those behind them, and longer ones, are not. */
#define BT_UNKNOWN_FIELD_DOCUMENTS 200
#define BT_UNKNOWN_FIELD_BYTES_MAX (UINT32_C(256) << 10)
/** Of one document. */
#define BT_UNKNOWN_FIELD_WARNINGS_MAX 10

struct bt_unknown_field_sink {
	void *context;
	/** what: "Pod shop/web: unknown field "spec.nodeSelektor"; did you mean "nodeSelector"?",
	 * printable. */
	void (*warn)(void *context, const char *what);
};

/** document: JSON text. */
void bt_unknown_field_find(struct bt_str document, const struct bt_unknown_field_sink *sink);
#endif
