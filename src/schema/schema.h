/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_SCHEMA_H
#define BT_SCHEMA_SCHEMA_H
/**
 * All types of the API: names, protobuf numbers, how lists merge. An API server must keep every
 * field of every object, so these tables are complete, whereas the structures of api/types.h have
 * only the fields that a scheduler reads. Objects are JSON trees (codec/json.h); the tables say
 * what a tree may contain and how it is encoded. Spec: 14 sections 8, 9.2, 9.3 and 12.
 *
 * The build makes the tables from api/types/<group>_<version>.api with tools/gen_types.py;
 * api/types/README.md describes the format.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "codec/json.h"

/**
 * Type of a single value. Each comment gives the encoding in JSON and, after the semicolon, the
 * encoding in protobuf: the message, and in braces its fields with their field numbers.
 */
enum bt_schema_type {
	BT_SCHEMA_STRING,
	BT_SCHEMA_BOOL,
	BT_SCHEMA_INT32,
	BT_SCHEMA_INT64,
	BT_SCHEMA_BYTES,         /* base64 text; bytes */
	BT_SCHEMA_QUANTITY,      /* text or number; Quantity {string 1} */
	BT_SCHEMA_INT_OR_STRING, /* number or text; IntOrString {type 1, intVal 2, strVal 3} */
	BT_SCHEMA_TIME,          /* RFC 3339, whole seconds; Time {seconds 1, nanos 2} */
	BT_SCHEMA_MICRO_TIME,    /* RFC 3339, six fraction digits; {seconds 1, nanos 2} */
	BT_SCHEMA_DURATION,      /* "1m30s"; Duration {nanoseconds 1} */
	BT_SCHEMA_STRING_LIST,   /* array of texts, as the value of a map; message {items 1} */
	BT_SCHEMA_RAW_JSON,      /* any JSON value; RawExtension {raw 1}, its JSON text */
	BT_SCHEMA_MESSAGE,       /* object; message */
};

enum bt_schema_shape {
	BT_SCHEMA_SINGLE,
	BT_SCHEMA_LIST,
	BT_SCHEMA_MAP, /* keys are texts; protobuf entries: field 1 key, field 2 value */
};

enum bt_schema_flag {
	BT_SCHEMA_ALWAYS = 1 << 0,      /* written even when empty (spec 01 section 2.2) */
	BT_SCHEMA_REQUIRED = 1 << 1,    /* named as required in OpenAPI */
	BT_SCHEMA_INLINE = 1 << 2,      /* JSON: the message's members sit in the parent */
	BT_SCHEMA_MERGE = 1 << 3,       /* patch strategy merge: by merge_key, or as a set */
	BT_SCHEMA_REPLACE = 1 << 4,     /* patch strategy replace, on a message */
	BT_SCHEMA_RETAIN_KEYS = 1 << 5, /* patch strategy retainKeys */
	BT_SCHEMA_LIST_SET = 1 << 6,    /* server-side apply: a set of scalars */
	/**
	 * Server-side apply: the value is owned as a whole. A list with neither list_keys nor
	 * LIST_SET is owned as a whole even without this flag.
	 */
	BT_SCHEMA_ATOMIC = 1 << 7,
	BT_SCHEMA_NULLABLE = 1 << 8,  /* an explicit zero value is kept */
	BT_SCHEMA_UNCHECKED = 1 << 9, /* the content is not validated */
};

/** Formats of texts. LABELS is for maps, INT_OR_PERCENT for BT_SCHEMA_INT_OR_STRING. */
enum bt_schema_format {
	BT_SCHEMA_FORMAT_ANY,
	BT_SCHEMA_FORMAT_LABEL,     /* RFC 1123 label */
	BT_SCHEMA_FORMAT_SUBDOMAIN, /* RFC 1123 subdomain */
	BT_SCHEMA_FORMAT_LABEL_KEY, /* qualified name */
	BT_SCHEMA_FORMAT_LABELS,    /* keys and values of labels */
	BT_SCHEMA_FORMAT_INT_OR_PERCENT,
	BT_SCHEMA_FORMAT_DRIVER, /* name of a driver of resource.k8s.io */
};

/** Valid values of a field; bt_kinds_validate (server/strategy.h) reports other values. */
struct bt_schema_checks {
	const char *const *allowed; /* valid texts, then NULL; absent (NULL): any text is valid */
	const char *unique;         /* member that must differ between elements; NULL: none */
	int64_t min;                /* with has_min or has_range */
	int64_t max;                /* with has_range */
	uint16_t items_max;         /* 0: no bound */
	uint8_t format;             /* enum bt_schema_format */
	bool has_min;
	bool has_range;
	bool given;     /* required: must not be absent, zero or empty */
	bool immutable; /* an update must keep the value; only in root messages and specs */
};

/** Maximum nesting depth of a tree or of protobuf bytes. */
#define BT_SCHEMA_DEPTH_MAX 500

struct bt_schema_message;

struct bt_schema_field {
	const char *name; /* JSON name; inline messages: Go name, used in error messages */
	uint8_t name_length;
	uint8_t type;   /* enum bt_schema_type */
	uint8_t shape;  /* enum bt_schema_shape */
	uint16_t flags; /* enum bt_schema_flag */
	uint16_t number;
	const struct bt_schema_message *message; /* BT_SCHEMA_MESSAGE */
	const char *merge_key;        /* strategic merge: key of a list of messages; NULL: none */
	const char *const *list_keys; /* server-side apply: keys, then NULL; absent (NULL): none */
	/** Default of a text, number or bool, or JSON text of BT_SCHEMA_RAW_JSON; NULL: none. */
	const char *default_text;
	const char *go_type;                   /* Go's named type of a text; NULL: string */
	const struct bt_schema_checks *checks; /* NULL: none */
	const char *description;               /* for users; NULL: none */
};

struct bt_schema_message {
	const char *name;    /* "Container"; unique within a package */
	const char *package; /* "core/v1", "meta/v1", ... */
	uint16_t field_count;
	/** Fields, including those of inline messages; 0: a message of a custom resource. */
	uint8_t place_count;
	uint8_t guess_mask;                   /* size of the guesses of this message, minus 1 */
	uint16_t guesses_at;                  /* index of its first guess in bt_schema_guesses */
	bool has_defaults;                    /* here or in nested messages */
	bool has_checks;                      /* here or in nested messages */
	const struct bt_schema_field *fields; /* ascending number */
	const char *description;              /* for users; NULL: none */
};

/** A message that is the root of objects. */
struct bt_schema_kind {
	const char *group; /* "" for the core group */
	const char *version;
	const char *kind;
	const struct bt_schema_message *message;
};

/**
 * All root messages: objects, and messages that are only sent (DeleteOptions, Status, Eviction,
 * Scale ...).
 */
extern const struct bt_schema_kind bt_schema_kinds[];
extern const uint32_t bt_schema_kind_count;
/** Indices of fields by a hash of their names: see schema_private.h. */
extern const uint8_t bt_schema_guesses[];
/** Every message, sorted by package and name. */
extern const struct bt_schema_message *const bt_schema_messages;
extern const uint32_t bt_schema_message_count;

/**
 * Returns the root message of a kind. NULL: the kind is unknown. api_version is "v1" or
 * "group/version". Options and responses common to all groups (DeleteOptions, Status, WatchEvent
 * ...) are found under any version.
 */
const struct bt_schema_message *bt_schema_find(struct bt_str api_version, struct bt_str kind);
/** Whether the message is the root of a kind; a root also has the members kind and apiVersion. */
bool bt_schema_is_root(const struct bt_schema_message *message);
/**
 * Returns the field with this JSON name, which may be a field of an inline message. NULL: the
 * message has no such field. *out_inline is the inline field that contains the result; NULL: the
 * message itself contains the result. out_inline may be NULL.
 */
const struct bt_schema_field *bt_schema_field_find(const struct bt_schema_message *message,
	struct bt_str name, const struct bt_schema_field **out_inline);

/** What the server does about members that are unknown to the schema or repeated. */
enum bt_field_validation {
	BT_FIELD_VALIDATION_IGNORE,
	BT_FIELD_VALIDATION_WARN,
	BT_FIELD_VALIDATION_STRICT,
};

/**
 * Normalises a decoded object, in place, to the form that is stored:
 *
 * - Unknown members are dropped. A repeated member keeps only the last value. Unknown and repeated
 *   members are reported as problems. Nulls are dropped. Members with a zero value ("", 0, false,
 *   empty) are dropped unless the schema says ALWAYS or NULLABLE.
 * - Quantities, times and numbers become canonical. A null list element or map value becomes the
 *   zero value.
 * - Missing ALWAYS members are added with their zero value, which is null for lists, maps and
 *   times. Empty lists and maps that are ALWAYS members become null, too.
 * - Fields keep the sender's order; added members follow. kind and apiVersion of a root message
 *   are not changed.
 *
 * Memory comes from the arena; texts that need no change are kept.
 *
 * partial: the object is an applied configuration, which leaves absent members alone: missing
 * ALWAYS members are not added, and nulls and empty members are kept.
 *
 * known: a normalised object of the message. Members whose values `object` shares with it are not
 * read. NULL: none.
 *
 * message NULL: a custom resource. Its metadata is normalised; elsewhere only nulls in objects are
 * dropped.
 *
 * out_problems (an array, may be NULL) receives `unknown field "spec.foo"` and `duplicate field
 * "..."` texts, in document order, without duplicates, at most BT_SCHEMA_PROBLEMS_MAX.
 * BERTH_ERR_INVALID: a value has the wrong type; the error is Go's ("json: cannot unmarshal number
 * into Go struct field Container.spec.containers.image of type string"; spec 14 section 9.3). An
 * invalid quantity, time or base64 text gives the parser's error. BERTH_ERR_TOO_LARGE: a custom
 * resource nests deeper than BT_SCHEMA_DEPTH_MAX.
 */
#define BT_SCHEMA_PROBLEMS_MAX 100
BT_MUST_USE int bt_schema_normalise(const struct bt_schema_message *message,
	struct bt_json_value *object, bool partial, const struct bt_json_value *known,
	struct bt_arena *arena, struct bt_json_value *out_problems, struct berth_error *err);

/**
 * Drops repeated members of the objects in a value without schema, such as a patch; the last one is
 * kept. out_problems and BERTH_ERR_TOO_LARGE: as in bt_schema_normalise.
 */
BT_MUST_USE int bt_schema_drop_repeated(struct bt_json_value *value, struct bt_arena *arena,
	struct bt_json_value *out_problems, struct berth_error *err);

/**
 * Sets the defaults of missing members in a normalised object and in the messages inside the
 * object; does not add missing messages. A zero value counts as missing unless the schema says
 * NULLABLE. Spec: 14b section 3.
 */
void bt_schema_default(const struct bt_schema_message *message, struct bt_json_value *object,
	struct bt_arena *arena);

/** An unknown or repeated member; borrowed for the call. */
struct bt_schema_problem {
	const char *kind;                        /* "unknown field", "duplicate field" */
	struct bt_str path;                      /* "spec.containers[0].imagee" */
	struct bt_str name;                      /* "imagee", the last step of the path */
	const struct bt_schema_message *message; /* message that has the member; NULL: a map */
};
struct bt_schema_watcher {
	void *context;
	/**
	 * Receives a problem. Returns false if the problem does not count toward
	 * BT_SCHEMA_PROBLEMS_MAX, for example because the same problem was received before.
	 */
	bool (*take)(void *context, const struct bt_schema_problem *problem);
};
/**
 * Like bt_schema_normalise, but passes problems to a watcher: the first BT_SCHEMA_PROBLEMS_MAX, in
 * document order. object must be a JSON object.
 */
BT_MUST_USE int bt_schema_check(const struct bt_schema_message *message,
	struct bt_json_value *object, struct bt_arena *arena,
	const struct bt_schema_watcher *watcher, struct berth_error *err);

/**
 * Appends a value as Go prints it with %v: `map[labels:map[a:1] names:[x y]]`. Stops soon after out
 * has bytes_max bytes; BT_STR_MAX: no limit. value may be NULL.
 */
void bt_schema_append_go(
	const struct bt_json_value *value, uint32_t bytes_max, struct bt_strbuf *out);

/** --- protobuf; spec 13 section 8.3 --- */

struct bt_envelope {
	struct bt_str api_version;
	struct bt_str kind;
	struct bt_str raw; /* the encoded message */
};

/** Decodes the message Unknown behind the prefix "k8s\0". Texts are borrowed from bytes. */
BT_MUST_USE int bt_envelope_decode(
	struct bt_str bytes, struct bt_envelope *out_envelope, struct berth_error *err);
void bt_envelope_encode(const struct bt_envelope *envelope, struct bt_strbuf *out);

/**
 * Decodes a message into a tree in the arena, without kind and apiVersion, in the form that
 * bt_schema_normalise gives. Unknown fields are skipped; the last of repeated single fields wins.
 * Texts that need no change borrow bytes. Invalid bytes give an error that names the field.
 */
BT_MUST_USE int bt_schema_decode_protobuf(const struct bt_schema_message *message,
	struct bt_str bytes, struct bt_arena *arena, struct bt_json_value **out_object,
	struct berth_error *err);
/**
 * Encodes a normalised object. A member that is unknown to the schema is skipped; a value of the
 * wrong type is skipped or encoded as zero. Fields are written by ascending number, map entries in
 * the order of the tree.
 */
void bt_schema_encode_protobuf(const struct bt_schema_message *message,
	const struct bt_json_value *object, struct bt_strbuf *out);
#endif
