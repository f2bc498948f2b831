/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_H
#define BT_CODEC_MESSAGE_H
/**
 * Messages: C structures described by field tables, decoded from and encoded to JSON without
 * per-kind code. Input fields without a table row are skipped, not stored. The tables have protobuf
 * numbers as well.
 *
 * Layout of a field of type T in the structure, by shape:
 * - BT_SHAPE_SINGLE: T itself; absent = all-zero
 * - BT_SHAPE_NULLABLE: absent differs from zero. Texts are a struct bt_str whose data is NULL if
 *   absent; numbers are a struct bt_opt_bool, bt_opt_i32 or bt_opt_i64; messages and scalars are a
 *   pointer, which is NULL if absent
 * - BT_SHAPE_LIST: BT_LIST(T), in input order
 * - BT_SHAPE_MAP: BT_LIST(struct {struct bt_str key; T value;}), sorted by the bytes of the key;
 *   keys are distinct, and key is the first member of the entry structure
 *
 * `present` of a list or map is true if it was in the input ("[]" and "{}" are present, null is
 * not).
 *
 * Decoding follows Go: names are case-sensitive, and unknown names are skipped. If a name repeats,
 * messages and maps are merged; for lists and other values the last value counts. null leaves the
 * zero value. A null after an earlier value of the same name resets nullable fields, lists, maps
 * and scalars, and leaves fields of other types unchanged. An element or map value that is null
 * becomes the zero T. All memory, also of texts, comes from one arena.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "codec/json.h"

/**
 * Memory limit for the list elements and map entries of one decoded message, including its inner
 * messages: an element "{}," has three bytes of input, but a large structure. Because of the limit,
 * lists of Kubernetes objects are decoded item by item.
 */
#define BT_MESSAGE_ITEM_BYTES_MAX (UINT32_C(256) << 20)

#define BT_LIST(type) \
	struct { \
		type *items; \
		uint32_t count; \
		bool present; \
	}

struct bt_opt_bool {
	bool present;
	bool value;
};

struct bt_opt_i32 {
	bool present;
	int32_t value;
};

struct bt_opt_i64 {
	bool present;
	int64_t value;
};

typedef BT_LIST(struct bt_str) bt_str_list;

struct bt_str_pair {
	struct bt_str key;
	struct bt_str value;
};

/** Map of texts, sorted by key. */
struct bt_str_map {
	struct bt_str_pair *items;
	uint32_t count;
	bool present;
};

/** Layout of every BT_LIST(T). */
struct bt_any_list {
	void *items;
	uint32_t count;
	bool present;
};

_Static_assert(sizeof(struct bt_any_list) == sizeof(bt_str_list), "all lists share one layout");
_Static_assert(offsetof(struct bt_any_list, present) == offsetof(bt_str_list, present),
	"all lists share one layout");
_Static_assert(
	sizeof(struct bt_any_list) == sizeof(struct bt_str_map), "maps are lists of entries");
_Static_assert(offsetof(struct bt_str_pair, key) == 0, "map entries start with the key");

/** Sorts the entries of a map by key, in place. If a key repeats, only its last entry is kept. */
void bt_sort_entries(struct bt_any_list *list, size_t entry_size);
/** Returns the value of key, or NULL if the map lacks the key. O(log n). */
const struct bt_str *bt_str_map_find(const struct bt_str_map *map, struct bt_str key);
/**
 * Returns a copy of the map in which key has this value; value NULL: in which the key is missing.
 * The texts are borrowed.
 */
struct bt_str_map bt_str_map_set(const struct bt_str_map *map, struct bt_str key,
	const struct bt_str *value, struct bt_arena *arena);
/** Converts a JSON object of texts to a map. The map is in the arena, its texts are borrowed. */
struct bt_str_map bt_str_map_from_json(struct bt_arena *arena, const struct bt_json_value *texts);
/** Returns whether map has every key of wanted, with the same value. */
bool bt_str_map_contains(const struct bt_str_map *map, const struct bt_str_map *wanted);
bool bt_str_list_has(const bt_str_list *list, struct bt_str text);

enum bt_field_type {
	BT_FIELD_STR,
	BT_FIELD_BOOL,
	BT_FIELD_I32,
	BT_FIELD_I64,
	BT_FIELD_MESSAGE,  /* field.message */
	BT_FIELD_SCALAR,   /* field.scalar: a value type of the layer above (quantity, time) */
	BT_FIELD_RAW_JSON, /* struct bt_str with the value's JSON text */
};

enum bt_field_shape {
	BT_SHAPE_SINGLE,
	BT_SHAPE_NULLABLE,
	BT_SHAPE_LIST,
	BT_SHAPE_MAP,
};

enum {
	BT_FIELD_INLINE = 1,  /* JSON: the members of this single or nullable message are in the
	                         parent object */
	BT_FIELD_ALWAYS = 2,  /* encoded even when zero (spec 01 section 2.2); absent lists, maps,
	                         nullables as null */
	BT_FIELD_WRAPPED = 4, /* protobuf: the field is in the parent's inner message with number
	                         bt_message.wrapper */
};

/** Length of the array that to_numbers fills. */
#define BT_SCALAR_NUMBERS 3

/** A value type of the layer above. Its texts live in the arena that the decoders get. */
struct bt_scalar_type {
	const char *name; /* name in messages, such as "quantity" */
	uint32_t size;
	/** Decodes the next JSON value (never null). Sets err without the field path. */
	int (*decode_json)(const struct bt_scalar_type *type, struct bt_json_reader *reader,
		struct bt_arena *arena, void *out, struct berth_error *err);
	void (*encode_json)(const struct bt_scalar_type *type, struct bt_json_writer *writer,
		const void *value);
	/** Decodes the content of a length-delimited protobuf field (never a varint). */
	int (*decode_protobuf)(const struct bt_scalar_type *type, struct bt_str bytes,
		struct bt_arena *arena, void *out, struct berth_error *err);
	/** Zero is null in JSON: a nullable field that is zero in protobuf counts as absent. */
	bool zero_is_null;
	/**
	 * The type consists of numbers only, and its size is a multiple of 8: message_pack packs
	 * its memory as 64-bit words.
	 */
	bool plain;
	/**
	 * For types that are not plain: convert a value to numbers and back; message_pack stores
	 * the numbers instead of JSON text. to_numbers returns false if numbers cannot represent
	 * the value. NULL: JSON text is always stored.
	 */
	bool (*to_numbers)(const void *value, int64_t out_numbers[BT_SCALAR_NUMBERS]);
	void (*from_numbers)(const int64_t numbers[BT_SCALAR_NUMBERS], void *out);
	bool (*is_zero)(const void *value);
	bool (*equal)(const void *a, const void *b);
	uint64_t (*hash)(uint64_t seed, const void *value);
	/** Deep copy; out is uninitialised. NULL for plain types. */
	void (*copy)(void *out, const void *value, struct bt_arena *arena);
};

struct bt_message;

struct bt_field {
	const char *name; /* JSON name */
	uint8_t name_length;
	uint8_t type;  /* enum bt_field_type */
	uint8_t shape; /* enum bt_field_shape */
	uint8_t flags;
	uint16_t number;       /* protobuf number */
	uint16_t value_offset; /* BT_SHAPE_MAP: offset of value in an entry */
	uint32_t offset;       /* offset in the structure */
	uint32_t item_size;    /* size of T, or of a map entry */
	const struct bt_message *message;
	const struct bt_scalar_type *scalar;
};

struct bt_message {
	const char *name; /* "Pod" */
	uint32_t size;
	uint32_t field_count;
	const struct bt_field *fields; /* rows; the table is short and searched linearly */
	uint16_t wrapper;              /* protobuf number around BT_FIELD_WRAPPED fields */
};

/** Row of a field table; S is the structure, M the member, N the protobuf number. */
#define BT_FIELD_ROW( \
	S, M, json, N, field_type, field_shape, field_flags, item, value_at, msg, scal) \
	{ \
		.name = (json), .name_length = (uint8_t)(sizeof(json) - 1), \
		.type = (uint8_t)(field_type), .shape = (uint8_t)(field_shape), \
		.flags = (uint8_t)(field_flags), .number = (N), \
		.value_offset = (uint16_t)(value_at), .offset = (uint32_t)offsetof(struct S, M), \
		.item_size = (uint32_t)(item), .message = (msg), .scalar = (scal) \
	}

/**
 * Decodes the next JSON value, an object or null, into `out`, which must be zeroed; null changes
 * nothing. On failure err is "<field path>: <what is wrong>", such as "spec.containers[3].image:
 * expected string, got number" or "metadata.labels[app]: ...". The content of out is then
 * undefined, but nothing needs to be freed, because all memory is in the arena.
 */
BT_MUST_USE int bt_message_decode_json(const struct bt_message *message,
	struct bt_json_reader *reader, struct bt_arena *arena, void *out, struct berth_error *err);
/**
 * Decodes the fields of a protobuf message into out, which must be zeroed. The result is the same
 * as from the object's JSON form, except that empty lists and maps are absent, because protobuf
 * cannot represent them. Unknown field numbers are skipped, and repeated messages are merged. An
 * inline message has its own field number. Errors are as in bt_message_decode_json.
 */
BT_MUST_USE int bt_message_decode_protobuf(const struct bt_message *message, struct bt_str bytes,
	struct bt_arena *arena, void *out, struct berth_error *err);
/**
 * Writes one JSON object, with its members in table order. Omits zero and absent fields unless they
 * have BT_FIELD_ALWAYS. A message is zero if all its fields are zero; table rows use
 * BT_FIELD_ALWAYS for messages that Go writes as {}.
 */
void bt_message_encode_json(
	const struct bt_message *message, struct bt_json_writer *writer, const void *value);
/** Writes the members without braces, for callers that add further members (kind, apiVersion). */
void bt_message_encode_json_members(
	const struct bt_message *message, struct bt_json_writer *writer, const void *value);
/** Deep copy into the arena. Structure members without a table row are copied bytewise. */
void bt_message_copy(
	const struct bt_message *message, void *out, const void *value, struct bt_arena *arena);
/**
 * Compares all fields. An absent list or map differs from an empty one that is present. Scalars are
 * compared by `equal` of their type.
 */
bool bt_message_equal(const struct bt_message *message, const void *a, const void *b);
/** Compares two BT_LIST of messages, item by item. An absent list equals an empty one. */
bool bt_message_lists_equal(const struct bt_message *message, const void *a, const void *b);
/** Returns a hash of value; values that are equal by bt_message_equal have the same hash. */
uint64_t bt_message_hash(const struct bt_message *message, uint64_t seed, const void *value);

/** Functions for the texts of a message, to collect or replace texts. */
struct bt_message_visitor {
	void *context;
	/**
	 * Called for each present text, list element, map key (is_key) and map value. May replace
	 * the text; data NULL removes single and nullable texts.
	 */
	void (*text)(void *context, const struct bt_message *message, const struct bt_field *field,
		bool is_key, struct bt_str *text);
	/** Called for each present nullable scalar; field->scalar is its type. */
	void (*scalar)(void *context, const struct bt_field *field, void *value);
	/**
	 * Called before the texts of a map entry (with its key) or of an element of a list of
	 * texts; false removes the entry or element.
	 */
	bool (*keeps)(void *context, const struct bt_message *message, const struct bt_field *field,
		struct bt_str text);
};

/**
 * Visits the fields of value in table order. value must be the caller's own deep copy, made by
 * bt_message_copy, because the visit changes lists and inner messages. Scalars are visited only if
 * they are nullable. If the visitor replaces keys of a map, the map may no longer be sorted.
 */
void bt_message_visit(
	const struct bt_message *message, const struct bt_message_visitor *visitor, void *value);
#endif
