/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_H
#define BT_CODEC_JSON_H
/**
 * JSON with Go's decoding rules: strict RFC 8259 grammar, UTF-8 (invalid bytes and lone surrogates
 * become U+FFFD), at most BT_JSON_DEPTH_MAX levels, numbers kept as text. Three layers:
 * - reader: one pass over borrowed bytes, token by token; used by the message decoder
 * - value: a tree, for data whose structure is not known in advance, such as API objects
 * - writer: appends to a string buffer
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

/** Nesting limit, the same as in Go's encoding/json. */
#define BT_JSON_DEPTH_MAX 10000
/**
 * Maximum bytes of a string value or member name that the reader returns; a longer string fails
 * with BERTH_ERR_TOO_LARGE. Strings in skipped values have no limit.
 */
#define BT_JSON_STRING_BYTES_MAX (UINT32_C(64) << 20)

enum bt_json_type {
	BT_JSON_NULL,
	BT_JSON_BOOL,
	BT_JSON_NUMBER,
	BT_JSON_STRING,
	BT_JSON_ARRAY,
	BT_JSON_OBJECT,
	BT_JSON__COUNT,
};

/** Type names as in Go's messages: "null", "bool", "number", "string", "array", "object". */
const char *bt_json_type_name(enum bt_json_type type);

/**
 * Maximum number of values in one tree; more values fail with BERTH_ERR_TOO_LARGE. The maximum
 * limits memory: "0," has two bytes, but becomes a whole struct bt_json_value.
 */
#define BT_JSON_VALUES_MAX (UINT32_C(1) << 24)

/**
 * Reads borrowed input; the only state is the position and the depth. After a syntax error the
 * position is at the offending byte and the message is Go's ("invalid character 'x' looking for
 * beginning of value"). If the next value has another type than the called function reads, the
 * function fails with BERTH_ERR_INVALID "expected string, got number".
 */
struct bt_json_reader {
	const char *start;
	const char *position;
	const char *end;
	uint32_t depth;
};

void bt_json_reader_init(struct bt_json_reader *reader, struct bt_str text);
/**
 * Returns the type of the next value. Consumes only the white space before the value. Fails at the
 * end of the input.
 */
BT_MUST_USE int bt_json_peek(
	struct bt_json_reader *reader, enum bt_json_type *out_type, struct berth_error *err);
/** Read null, or true or false. */
BT_MUST_USE int bt_json_read_null(struct bt_json_reader *reader, struct berth_error *err);
BT_MUST_USE int bt_json_read_bool(
	struct bt_json_reader *reader, bool *out_value, struct berth_error *err);
/** Reads a number and checks its grammar. *out_text is its source text, borrowed from the input. */
BT_MUST_USE int bt_json_read_number(
	struct bt_json_reader *reader, struct bt_str *out_text, struct berth_error *err);
/**
 * Reads a string. *out_text is borrowed from the input if the string has no escapes and is valid
 * UTF-8; otherwise it is unescaped into the arena. *out_borrowed tells whether *out_text is
 * borrowed; out_borrowed may be NULL.
 */
BT_MUST_USE int bt_json_read_string(struct bt_json_reader *reader, struct bt_arena *arena,
	struct bt_str *out_text, bool *out_borrowed, struct berth_error *err);
/**
 * Enter an array. Then call bt_json_next_element before each element, until it leaves the array and
 * sets *out_more to false. Set *first to true before the first call; only the reader changes *first
 * afterwards.
 */
BT_MUST_USE int bt_json_enter_array(struct bt_json_reader *reader, struct berth_error *err);
BT_MUST_USE int bt_json_next_element(
	struct bt_json_reader *reader, bool *first, bool *out_more, struct berth_error *err);
/**
 * Enter an object. Then call bt_json_next_member before each value, until it leaves the object and
 * sets *out_more to false. *first is as for arrays. *out_name is borrowed from the input or
 * unescaped into the arena, as in bt_json_read_string.
 */
BT_MUST_USE int bt_json_enter_object(struct bt_json_reader *reader, struct berth_error *err);
BT_MUST_USE int bt_json_next_member(struct bt_json_reader *reader, bool *first,
	struct bt_arena *arena, bool *out_more, struct bt_str *out_name, struct berth_error *err);
/**
 * Enter an object or array and run the body for each member or element; the body reads or skips the
 * value. name: a struct bt_str variable. result: an int variable for errors of the reader and of
 * the body; the loop ends if it is not 0.
 */
#define BT_JSON_EACH_MEMBER(reader, arena, name, result, err) \
	for (bool first_ = true, more_ = ((result) = bt_json_enter_object((reader), (err))) == 0; \
		more_ && (result) == 0 && \
		((result) = bt_json_next_member( \
			 (reader), &first_, (arena), &more_, &(name), (err))) == 0 && \
		more_;)
#define BT_JSON_EACH_ELEMENT(reader, result, err) \
	for (bool first_ = true, more_ = ((result) = bt_json_enter_array((reader), (err))) == 0; \
		more_ && (result) == 0 && \
		((result) = bt_json_next_element((reader), &first_, &more_, (err))) == 0 && \
		more_;)
/**
 * Skips one value of any type and checks its grammar, without recursion. *out_text is the value's
 * source text, borrowed from the input; out_text may be NULL.
 */
BT_MUST_USE int bt_json_skip(
	struct bt_json_reader *reader, struct bt_str *out_text, struct berth_error *err);
/**
 * Moves a reader from the start of an object to the value at a dotted path of names, such as
 * "metadata.uid", without a tree. Names that are written with escapes do not match. false: the
 * value is missing, or the text before it is malformed.
 */
BT_MUST_USE bool bt_json_seek(struct bt_json_reader *reader, const char *dotted_path);
/**
 * Returns true if arrays and objects nest deeper than depth_max. The text need not be valid. Check
 * a text with this function if a recursive function will read the parsed value.
 */
bool bt_json_nests_deeper(struct bt_str text, uint32_t depth_max);
/** Fails with BERTH_ERR_SYNTAX unless only white space is left in the input. */
BT_MUST_USE int bt_json_expect_end(struct bt_json_reader *reader, struct berth_error *err);

struct bt_json_value;

struct bt_json_member {
	struct bt_str name;
	struct bt_json_value *value;
};

/**
 * A JSON value. An object keeps its members in source order, including repeated names; bt_json_find
 * returns the last member of a name, as Go does.
 */
struct bt_json_value {
	enum bt_json_type type;
	bool boolean;                    /* BT_JSON_BOOL */
	struct bt_str text;              /* BT_JSON_STRING: value; BT_JSON_NUMBER: source text */
	uint32_t count;                  /* elements or members */
	uint32_t capacity;               /* allocated items; for codec/json_edit.h */
	struct bt_json_value **elements; /* BT_JSON_ARRAY */
	struct bt_json_member *members;  /* BT_JSON_OBJECT */
};

/**
 * Parses a complete document. The tree is allocated in the arena. With copy_strings the tree
 * borrows nothing; otherwise numbers and strings without escapes are borrowed from text. The
 * message of a BERTH_ERR_SYNTAX is Go's, without prefix.
 */
BT_MUST_USE int bt_json_parse(struct bt_arena *arena, struct bt_str text, bool copy_strings,
	struct bt_json_value **out_value, struct berth_error *err);
/**
 * Like bt_json_parse without copy_strings, for a tree that is only written. If a member is named
 * raw_name and its value is an object, the object is checked but not parsed: the value in the tree
 * has the type BT_JSON_NUMBER and the object's source text, which the writer writes unchanged.
 */
BT_MUST_USE int bt_json_parse_partly(struct bt_arena *arena, struct bt_str text,
	struct bt_str raw_name, struct bt_json_value **out_value, struct berth_error *err);
/**
 * Returns a member by name (the last wins); NULL if there is none, or if value is NULL or not an
 * object.
 */
struct bt_json_value *bt_json_get(const struct bt_json_value *value, struct bt_str name);
static inline struct bt_json_value *bt_json_find(
	const struct bt_json_value *value, const char *name)
{
	return bt_json_get(value, bt_str_from(name));
}
/** Finds a value by a dotted path of names, such as "metadata.name"; NULL if it is missing. */
struct bt_json_value *bt_json_find_path(const struct bt_json_value *value, const char *dotted_path);
/** Returns the text of a member; data is NULL if the member is absent or not a string. */
struct bt_str bt_json_find_str(const struct bt_json_value *value, const char *name);
/**
 * Compares two trees. The order of members does not matter; numbers are equal if their texts are
 * equal. If a name repeats, its last value counts.
 */
bool bt_json_equal(const struct bt_json_value *a, const struct bt_json_value *b);
/**
 * Like bt_json_equal, but compares numbers by value: 1, 1.0 and 1e0 are equal. If a name repeats,
 * its last value counts; but if both objects have the same names in the same order, all their
 * members are compared.
 */
bool bt_json_same(const struct bt_json_value *a, const struct bt_json_value *b);
/**
 * Parses the text of a JSON number as Go decodes it into an int64. Returns false if the number has
 * a fraction or an exponent, or is out of range.
 */
bool bt_json_number_int64(struct bt_str number_text, int64_t *out_value);

struct bt_json_writer {
	struct bt_strbuf *out; /* borrowed */
	uint32_t indent;       /* spaces per level; 0 = compact */
	uint32_t depth;
	bool escape_html; /* writes <, >, & as \u003c, \u003e, \u0026, as Go's Marshal does */
	bool need_comma;
	bool after_name;
	bool has_replaced; /* wrote U+FFFD for bytes that are not UTF-8 */
};

void bt_json_writer_init(struct bt_json_writer *writer, struct bt_strbuf *out, uint32_t indent);
void bt_json_write_null(struct bt_json_writer *writer);
void bt_json_write_bool(struct bt_json_writer *writer, bool value);
void bt_json_write_int64(struct bt_json_writer *writer, int64_t value);
void bt_json_write_uint64(struct bt_json_writer *writer, uint64_t value);
/** Writes a float64 as Go does in JSON (shortest form that parses to the same value). */
void bt_json_write_double(struct bt_json_writer *writer, double value);
void bt_json_write_str(struct bt_json_writer *writer, struct bt_str text);
void bt_json_write_c(struct bt_json_writer *writer, const char *zero_terminated);
/** Writes a value that is JSON text already. */
void bt_json_write_raw(struct bt_json_writer *writer, struct bt_str json);
void bt_json_write_value(struct bt_json_writer *writer, const struct bt_json_value *value);
/** Appends the value as JSON without blanks. */
void bt_json_format(const struct bt_json_value *value, struct bt_strbuf *out);
void bt_json_begin_array(struct bt_json_writer *writer);
void bt_json_end_array(struct bt_json_writer *writer);
void bt_json_begin_object(struct bt_json_writer *writer);
void bt_json_end_object(struct bt_json_writer *writer);
void bt_json_write_name(struct bt_json_writer *writer, struct bt_str name);
void bt_json_write_name_c(struct bt_json_writer *writer, const char *name);
/** Write a name and begin or write its value. */
void bt_json_begin_member_object(struct bt_json_writer *writer, const char *name);
void bt_json_begin_member_array(struct bt_json_writer *writer, const char *name);
void bt_json_write_member(struct bt_json_writer *writer, const char *name, struct bt_str text);
void bt_json_write_member_c(struct bt_json_writer *writer, const char *name, const char *text);
void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value);
/**
 * Writes a piece of JSON from a template in the language of bt_json_put, without %v, but with %f
 * for a double, and %r for a struct bt_str that is JSON already:
 *
 *     bt_json_write(&writer, "{name: %s, ports?: %t, items: [", ...)
 *
 * Later calls may write what is missing: the elements, and "]}".
 */
void bt_json_write(struct bt_json_writer *writer, const char *template_, ...);
#endif
