/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_OBJECT_H
#define BT_API_OBJECT_H
/**
 * Objects of any kind: the table of kinds, reading objects and lists of objects from JSON, writing
 * them. Spec: 01 sections 2.2 and 3.
 *
 * Kinds, versions and fields that the tables do not name are skipped, not errors: manifests hold
 * much that a scheduler does not read.
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
	const char *versions; /* separated by blanks; the first one is written */
	const char *resource; /* "pods" */
	bool namespaced;
	uint32_t size; /* of the structure, which starts with its metadata */
	const struct bt_message *message;
};

const struct bt_kind_info *bt_kind_info(enum bt_kind kind);
/** Kind by "group/version" (or "version") and kind name; false when it is not in the table. */
bool bt_kind_find(struct bt_str api_version, struct bt_str name, enum bt_kind *out_kind);
/** The version at this index, the one that is written first; "" behind the last. */
struct bt_str bt_kind_version_at(enum bt_kind kind, uint32_t index);
/** Append the path of the kind's API in a version: "/api/v1", "/apis/apps/v1". */
void bt_kind_append_path(enum bt_kind kind, struct bt_str version, struct bt_strbuf *out);
/** "apps/v1", as written. */
void bt_kind_append_api_version(enum bt_kind kind, struct bt_strbuf *out);

struct bt_pod;         /* pod.h */
struct bt_pod_common;  /* pod_common.h */
struct bt_pod_commons; /* pod_common.h */

/**
 * One decoded object; immutable. Shared by counted references, which one thread at a time may
 * change. Whoever creates an object holds the first reference.
 */
struct bt_object {
	uint32_t reference_count;
	uint16_t resting_count; /* of the references; all of them: see bt_object_rest */
	enum bt_kind kind : 8;
	bool packs : 1; /* it is packed when all references rest */
	union {
		const void *value;                 /* the kind's structure; NULL: it is packed */
		const struct bt_object_meta *meta; /* of value, which starts with it */
	};
	/** All of it as JSON, without kind and apiVersion, in memory; data NULL: not kept. */
	struct bt_str json;
	struct bt_pod_common *common;    /* what value borrows from; NULL: nothing */
	struct bt_packed_object *packed; /* owned; NULL: never packed yet */
	struct bt_arena_chunk *memory;   /* owned; of value and json */
};

_Static_assert(sizeof(struct bt_object) == 56, "kept in great numbers: 64 bytes of malloc's");

/** An object from a structure made by other means; deep copy. owned. */
BT_MUST_USE struct bt_object *bt_object_create(enum bt_kind kind, const void *value);
/** Of a pod, in exactly the memory it needs; it shares what it has in common with the last ones,
 * and is packed while it rests. owned. commons: borrowed. */
BT_MUST_USE struct bt_object *bt_object_create_pod(
	const struct bt_pod *pod, struct bt_pod_commons *commons);
BT_MUST_USE struct bt_object *bt_object_share(struct bt_object *object);
/** NULL accepted. */
void bt_object_release(struct bt_object *object);

/** Bytes of heap memory that the object alone holds. */
size_t bt_object_bytes(const struct bt_object *object);
/** Keep a copy of its JSON form with the object, which has none yet. */
void bt_object_keep_json(struct bt_object *object, struct bt_str json);

/**
 * The holder of a reference will not look at the object before it wakes it: neither at value nor
 * at meta. An object of which all references rest may be packed: a pod takes 150 to 400 bytes
 * instead of 1,000 to 1,500. Waking and resting take about a microsecond each.
 */
void bt_object_rest(struct bt_object *object);
/** Of a reference that rests; whoever shares the object has woken it. Returns object. */
struct bt_object *bt_object_wake(struct bt_object *object);
/** Let go of a reference that rests. */
void bt_object_release_resting(struct bt_object *object);
/** Also of a packed object. */
struct bt_str bt_object_name(const struct bt_object *object);
struct bt_str bt_object_namespace(const struct bt_object *object);
/** Hash of what identifies an object, for maps. */
uint64_t bt_object_hash(enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
/** It has this kind, namespace and name; also of a packed object. */
bool bt_object_is(const struct bt_object *object, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);

/** The structure of an object known to be of that kind (asserted). */
const void *bt_object_value(const struct bt_object *object, enum bt_kind kind);

/**
 * Decode the next JSON value as an object of this kind, whatever it says about itself. *out_object
 * is owned. Errors read "Pod default/web: spec.containers[0].name: <what is wrong>".
 */
BT_MUST_USE int bt_object_decode_as(enum bt_kind kind, struct bt_json_reader *reader,
	struct bt_object **out_object, struct berth_error *err);
/** The same from the protobuf form: the raw bytes of an envelope or of an item of a list. */
BT_MUST_USE int bt_object_decode_protobuf(enum bt_kind kind, struct bt_str bytes,
	struct bt_object **out_object, struct berth_error *err);
/** The same; pods share what they have in common with the last ones. The object is packed while it
 * rests. commons: borrowed. */
BT_MUST_USE int bt_object_decode_sharing(enum bt_kind kind, struct bt_str bytes,
	struct bt_pod_commons *commons, struct bt_object **out_object, struct berth_error *err);
/**
 * Decode a document that is one object with kind and apiVersion. BERTH_ERR_NOT_FOUND: a kind that
 * is not in the table.
 */
BT_MUST_USE int bt_object_decode(
	struct bt_str json, struct bt_object **out_object, struct berth_error *err);

/** Receives what bt_object_decode_reader finds. */
struct bt_object_sink {
	void *context;
	/** object is consumed. A result other than 0 ends the reading with it; err is then set. */
	int (*take)(void *context, struct bt_object *object, struct berth_error *err);
	/** Something of a kind that is not in the table was left out; may be NULL. json: its text.
	 */
	void (*skipped)(void *context, struct bt_str api_version, struct bt_str kind,
		struct bt_str json);
};

/** Lists within lists end here. */
#define BT_OBJECT_LIST_DEPTH_MAX 8
/** Of one cluster that a command reads: objects, and the memory they take once decoded. */
#define BT_OBJECTS_READ_MAX 1000000
#define BT_OBJECTS_READ_BYTES_MAX ((size_t)4 << 30)

/**
 * Read one JSON value: an object, a List of objects, a typed list (PodList, ...), or null for
 * nothing. Items go to the sink one by one, so a long list never exists twice.
 */
BT_MUST_USE int bt_object_decode_reader(
	struct bt_json_reader *reader, const struct bt_object_sink *sink, struct berth_error *err);

/** As one JSON object with apiVersion and kind. */
void bt_object_encode_json(enum bt_kind kind, const void *value, struct bt_json_writer *writer);
/** Decode what a merge patch (RFC 7396, JSON text) makes of a structure. *out_object is owned. */
BT_MUST_USE int bt_object_merge_patch(enum bt_kind kind, const void *value, struct bt_str patch,
	struct bt_object **out_object, struct berth_error *err);
/** The template of a workload's pods; NULL: the kind makes no pods, or (ReplicationController)
 * has no template. */
const struct bt_pod_template *bt_workload_template(const struct bt_object *object);
#endif
