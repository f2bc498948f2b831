/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_OBJECT_H
#define BT_API_OBJECT_H
/**
 * Objects of any kind: the table of kinds, reading objects and lists from JSON, writing them. Spec:
 * 01 sections 2.2 and 3.
 *
 * Unknown kinds, versions and fields are skipped without an error, because manifests contain much
 * that a scheduler does not read.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/meta.h"
#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "codec/message.h"

struct bt_pod_template;

enum bt_kind {
#define BT_KIND(id, kind, group, versions, resource, namespaced, structure, message) BT_KIND_##id,
#include "api/kinds.def"
#undef BT_KIND
	BT_KIND__COUNT,
};

struct bt_kind_info {
	const char *name;     /* "Pod" */
	const char *group;    /* "" for the core group */
	const char *versions; /* separated by blanks; the first one is used for writing */
	const char *resource; /* "pods" */
	bool namespaced;
	uint32_t size; /* of the structure, which begins with its metadata */
	const struct bt_message *message;
};

const struct bt_kind_info *bt_kind_info(enum bt_kind kind);
/** Finds a kind by "group/version" (or "version") and name; false: the table does not have it. */
bool bt_kind_find(struct bt_str api_version, struct bt_str name, enum bt_kind *out_kind);
/** Returns the version at this index, or "" after the last one. Version 0 is used for writing. */
struct bt_str bt_kind_version_at(enum bt_kind kind, uint32_t index);
/** Appends the path of the kind's API in a version: "/api/v1", "/apis/apps/v1". */
void bt_kind_append_path(enum bt_kind kind, struct bt_str version, struct bt_strbuf *out);
/** Appends the resource with its group, for messages: "pods", "leases.coordination.k8s.io". */
void bt_kind_append_resource(enum bt_kind kind, struct bt_strbuf *out);
/** Appends the API version used for writing: "apps/v1". */
void bt_kind_append_api_version(enum bt_kind kind, struct bt_strbuf *out);

struct bt_pod;          /* pod.h */
struct bt_pod_common;   /* pod_common.h */
struct bt_pod_commons;  /* pod_common.h */
struct bt_packed_bases; /* pod_common.h */

/**
 * One decoded object; immutable and reference counted. The count is not atomic: only one thread at
 * a time may change it. The creator owns the first reference.
 */
struct bt_object {
	uint32_t reference_count;
	uint16_t packable_count; /* number of packable references, see bt_object_allow_pack */
	enum bt_kind kind : 8;
	union {
		const void *value;                 /* structure of the kind; NULL while packed */
		const struct bt_object_meta *meta; /* first member of value */
	};
	/**
	 * The object as JSON, without kind and apiVersion, stored in `memory`. json.data is NULL if
	 * the object does not keep its JSON form.
	 */
	struct bt_str json;
	struct bt_pod_common *common; /* shared part that value borrows from; NULL: none */
	union {
		struct bt_packed_object *packed; /* while value is NULL: owned */
		/** While value is set: owned reference; NULL: the object is never packed. */
		struct bt_packed_bases *bases;
	};
	struct bt_arena_chunk *memory; /* owned; holds value and json */
};

_Static_assert(sizeof(struct bt_object) == 56,
	"many objects are kept: 64 bytes each with the overhead of malloc");

/** Creates an object as a deep copy of a structure. The caller owns the result. */
BT_MUST_USE struct bt_object *bt_object_create(enum bt_kind kind, const void *value);
/**
 * Creates a pod object in exactly the memory that it needs. The object shares its common part with
 * recent pods, and is packed while all references are packable. The caller owns the result. before:
 * the pod's last version, from which the new version was copied; NULL: there is no last version.
 * commons: borrowed.
 */
BT_MUST_USE struct bt_object *bt_object_create_pod(
	const struct bt_pod *pod, const struct bt_object *before, struct bt_pod_commons *commons);
BT_MUST_USE struct bt_object *bt_object_share(struct bt_object *object);
/** NULL accepted. */
void bt_object_release(struct bt_object *object);

/** Bytes of heap memory that belong to this object alone. */
size_t bt_object_bytes(const struct bt_object *object);
/**
 * Keeps a copy of the JSON form with the object. The object must not be packed and must not have a
 * JSON form yet. Afterwards the object is never packed.
 */
void bt_object_keep_json(struct bt_object *object, struct bt_str json);

/**
 * Makes the caller's reference packable: the caller must not read value or meta until
 * bt_object_unpack. When all references of an object are packable, the object may be packed: a pod
 * then takes 150 to 400 bytes instead of 1,000 to 1,500. Packing and unpacking take about a
 * microsecond each.
 */
void bt_object_allow_pack(struct bt_object *object);
/**
 * Turns a packable reference into an ordinary reference, unpacks the object if it is packed, and
 * returns the object. A packable reference must not be shared.
 */
struct bt_object *bt_object_unpack(struct bt_object *object);
/** Releases a packable reference without unpacking the object. */
void bt_object_release_packable(struct bt_object *object);
/** These functions return the name and the namespace; they also work for a packed object. */
struct bt_str bt_object_name(const struct bt_object *object);
struct bt_str bt_object_namespace(const struct bt_object *object);
/** Hash of an object's identity, for maps. */
uint64_t bt_object_hash(enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
/** Compares kind, namespace and name; also works for a packed object. */
bool bt_object_is(const struct bt_object *object, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);

/** Returns the structure of an object; asserts the kind. */
const void *bt_object_value(const struct bt_object *object, enum bt_kind kind);

/**
 * Decodes the next JSON value as an object of this kind, ignoring the kind and apiVersion in the
 * value. *out_object is owned. Errors read "Pod default/web: spec.containers[0].name: <what is
 * wrong>".
 */
BT_MUST_USE int bt_object_decode_as(enum bt_kind kind, struct bt_json_reader *reader,
	struct bt_object **out_object, struct berth_error *err);
/**
 * Decodes only the metadata of an object, and keeps its JSON, for objects that kinds.def does not
 * have. The whole text is checked: bt_json_parse can read it later. kind: not used; the kind of the
 * object is BT_KIND__COUNT.
 */
BT_MUST_USE int bt_object_decode_metadata(enum bt_kind kind, struct bt_str json,
	struct bt_object **out_object, struct berth_error *err);
/**
 * Like bt_object_decode_as, but decodes protobuf. bytes: an envelope's member `raw`, or an item of
 * a list. commons: borrowed; pods share their common part with recent pods, and objects are packed
 * while all references are packable. NULL: no object is packed.
 */
BT_MUST_USE int bt_object_decode_protobuf(enum bt_kind kind, struct bt_str bytes,
	struct bt_pod_commons *commons, struct bt_object **out_object, struct berth_error *err);
/**
 * Decodes a document that is one object with kind and apiVersion. BERTH_ERR_NOT_FOUND: unknown
 * kind.
 */
BT_MUST_USE int bt_object_decode(
	struct bt_str json, struct bt_object **out_object, struct berth_error *err);

/** Receives the objects found by bt_object_decode_reader. */
struct bt_object_sink {
	void *context;
	/**
	 * Takes ownership of object. A result other than 0 (with err set) ends
	 * bt_object_decode_reader, which returns that result.
	 */
	int (*take)(void *context, struct bt_object *object, struct berth_error *err);
	/**
	 * Called for objects of unknown kinds, which are skipped; may be NULL. json: the object's
	 * text.
	 */
	void (*skipped)(
		void *context, struct bt_str api_version, struct bt_str kind, struct bt_str json);
};

/** Nesting limit of lists. */
#define BT_OBJECT_LIST_DEPTH_MAX 8
/**
 * Limits for a cluster that a command reads: number of objects, and bytes of the decoded objects.
 */
#define BT_OBJECTS_READ_MAX 1000000
#define BT_OBJECTS_READ_BYTES_MAX ((size_t)4 << 30)

/**
 * Reads one JSON value: an object, a List of objects, a typed list (PodList, ...), or null for
 * nothing. Items are passed to the sink one by one, so that a long list is never in memory twice.
 */
BT_MUST_USE int bt_object_decode_reader(
	struct bt_json_reader *reader, const struct bt_object_sink *sink, struct berth_error *err);

/** Writes one JSON object with apiVersion and kind. */
void bt_object_encode_json(enum bt_kind kind, const void *value, struct bt_json_writer *writer);
/**
 * Applies a merge patch (RFC 7396, JSON text) to a structure and decodes the result. *out_object is
 * owned.
 */
BT_MUST_USE int bt_object_merge_patch(enum bt_kind kind, const void *value, struct bt_str patch,
	struct bt_object **out_object, struct berth_error *err);
/**
 * Returns a shallow copy of the object's structure, in the arena. Like every such structure, the
 * copy begins with its metadata.
 */
void *bt_object_copy_value(const struct bt_object *object, struct bt_arena *arena);
/**
 * Returns the pod template of a workload; NULL: the kind creates no pods, or the
 * ReplicationController has no template.
 */
const struct bt_pod_template *bt_workload_template(const struct bt_object *object);
/** Returns spec.replicas of a workload; NULL: the kind has no such field. */
const struct bt_opt_i32 *bt_workload_replicas(const struct bt_object *object);
/** Whether the kind has spec.replicas and creates pods. */
bool bt_kind_has_replicas(enum bt_kind kind);
/** Whether objects of the kind create pods. */
bool bt_kind_creates_pods(enum bt_kind kind);
#endif
