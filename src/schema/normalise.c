/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/duration.h"
#include "api/quantity.h"
#include "api/time.h"
#include "codec/base64.h"
#include "codec/json_edit.h"
#include "schema/schema_private.h"

enum normalise_step {
	NORMALISE_FIELD,
	NORMALISE_KEY,   /* key of a map */
	NORMALISE_INDEX, /* index in a list */
};

/** Path to a value, a linked list on the stack; up is the parent. */
struct normalise_at {
	const struct normalise_at *up;
	enum normalise_step step;
	uint32_t index;
	struct bt_str name;
	const struct bt_schema_message *owner;      /* NORMALISE_FIELD */
	const struct bt_schema_field *inline_field; /* contains the field; NULL: none */
};

struct normalise {
	struct bt_arena *arena;
	const struct bt_schema_watcher *watcher; /* receives the problems; NULL: none */
	struct bt_json_value *problems;          /* texts without duplicates; NULL: none */
	uint32_t problem_count; /* texts, or problems for which the watcher returned true */
	bool partial;           /* do not add missing ALWAYS members */
	const struct bt_json_value *known; /* see bt_schema_normalise; NULL: none */
	struct bt_strbuf scratch;
	struct berth_error *err;
};

/* --- single values --- */

/** The name in Go and the zero value of each enum bt_schema_type. */
static const struct {
	const char *go_type;         /* for error messages */
	enum bt_json_type zero_type; /* JSON type of the zero value */
	const char *zero_text;       /* text of the zero value; NULL: the JSON type has no text */
} types[] = {
	[BT_SCHEMA_STRING] = {"string", BT_JSON_STRING, ""},
	[BT_SCHEMA_BOOL] = {"bool", BT_JSON_BOOL, NULL},
	[BT_SCHEMA_INT32] = {"int32", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_INT64] = {"int64", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_BYTES] = {"[]uint8", BT_JSON_STRING, ""},
	[BT_SCHEMA_QUANTITY] = {"resource.Quantity", BT_JSON_STRING, "0"},
	[BT_SCHEMA_INT_OR_STRING] = {"int32", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_TIME] = {"string", BT_JSON_NULL, NULL},
	[BT_SCHEMA_MICRO_TIME] = {"string", BT_JSON_NULL, NULL},
	[BT_SCHEMA_DURATION] = {"string", BT_JSON_STRING, "0s"},
	[BT_SCHEMA_STRING_LIST] = {"[]string", BT_JSON_ARRAY, NULL},
	[BT_SCHEMA_RAW_JSON] = {"runtime.RawExtension", BT_JSON_NULL, NULL},
	[BT_SCHEMA_MESSAGE] = {"", BT_JSON_OBJECT, NULL},
};

static void append_type(const struct bt_schema_field *field, bool element, struct bt_strbuf *out)
{
	if (!element && field->shape == BT_SCHEMA_MAP && field->type == BT_SCHEMA_QUANTITY) {
		bt_strbuf_append_c(out, "v1.ResourceList");
		return;
	}
	if (!element && field->shape == BT_SCHEMA_LIST) {
		bt_strbuf_append_c(out, "[]");
	} else if (!element && field->shape == BT_SCHEMA_MAP) {
		bt_strbuf_append_c(out, "map[string]");
	}
	if (field->type != BT_SCHEMA_MESSAGE) {
		bt_strbuf_append_c(
			out, field->go_type != NULL ? field->go_type : types[field->type].go_type);
		return;
	}
	const char *slash = strchr(field->message->package, '/');
	bt_strbuf_printf(out, "%s.%s", slash != NULL ? slash + 1 : "", field->message->name);
}

/* Appends the names of the fields in the path; Go's messages omit list indexes and map keys. */
static void append_fields(const struct normalise_at *at, struct bt_strbuf *out)
{
	if (at->up != NULL) {
		append_fields(at->up, out);
	}
	if (at->step == NORMALISE_FIELD) {
		if (at->inline_field != NULL) {
			bt_strbuf_append_char(out, '.');
			bt_strbuf_append_str(out, bt_schema_field_name(at->inline_field));
		}
		bt_strbuf_append_char(out, '.');
		bt_strbuf_append_str(out, at->name);
	}
}

/**
 * Sets the error "cannot unmarshal" and returns BERTH_ERR_INVALID. The error names the type of the
 * field; if element is true, it names the type of one element or map value of the field.
 */
static int mismatch(struct normalise *run, const struct bt_schema_field *field, bool element,
	const struct normalise_at *at, const struct bt_json_value *value)
{
	const struct normalise_at *innermost = at;
	struct bt_strbuf text = {NULL, 0, 0};
	bool integer = field->type == BT_SCHEMA_INT32 || field->type == BT_SCHEMA_INT64;

	bt_strbuf_printf(&text, "json: cannot unmarshal %s", bt_json_type_name(value->type));
	if (integer && value->type == BT_JSON_NUMBER) {
		bt_strbuf_append_char(&text, ' ');
		bt_strbuf_append_str(&text, bt_str_sub(value->text, 0, 64));
	}
	while (innermost->step != NORMALISE_FIELD) {
		innermost = innermost->up;
	}
	bt_strbuf_printf(&text, " into Go struct field %s", innermost->owner->name);
	append_fields(at, &text);
	bt_strbuf_append_c(&text, " of type ");
	append_type(field, element, &text);
	return bt_error_take(run->err, BERTH_ERR_INVALID, &text);
}

static void set_text(struct normalise *run, struct bt_json_value *value)
{
	struct bt_str text = bt_strbuf_str(&run->scratch);

	if (value->type != BT_JSON_STRING || !bt_str_equal(text, value->text)) {
		value->type = BT_JSON_STRING;
		value->text = bt_arena_str(run->arena, text);
	}
}

static int take_time(struct normalise *run, bool micro, struct bt_json_value *value)
{
	struct bt_time time;
	int code = micro ? bt_micro_time_parse(value->text, &time, run->err)
			 : bt_time_parse(value->text, &time, run->err);

	if (code != 0) {
		return code;
	}
	if (!micro) {
		time.nanoseconds = 0;
	}
	if (!time.set) {
		*value = (struct bt_json_value){.type = BT_JSON_NULL};
		return 0;
	}
	bool is_plain = value->text.length == sizeof("2026-01-02T03:04:05Z") - 1 &&
		value->text.data[value->text.length - 1] == 'Z';
	if (!micro && is_plain) {
		return 0;
	}
	bt_strbuf_reset(&run->scratch);
	if (micro) {
		bt_micro_time_format(&time, &run->scratch);
	} else {
		bt_time_format(&time, &run->scratch);
	}
	set_text(run, value);
	return 0;
}

static bool take_integer(uint8_t type, struct bt_json_value *value)
{
	int64_t number;

	if (value->type != BT_JSON_NUMBER || !bt_json_number_int64(value->text, &number)) {
		return false;
	}
	if (number == 0) {
		value->text = BT_STR("0"); /* not "-0" */
	}
	return type == BT_SCHEMA_INT64 || (number >= INT32_MIN && number <= INT32_MAX);
}

static int take_string_list(struct normalise *run, const struct bt_schema_field *field,
	const struct normalise_at *at, struct bt_json_value *value)
{
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_json_value *element = value->elements[i];
		if (element->type == BT_JSON_NULL) {
			*element =
				(struct bt_json_value){.type = BT_JSON_STRING, .text = BT_STR("")};
		} else if (element->type != BT_JSON_STRING) {
			return mismatch(run, field, true, at, element);
		}
	}
	return 0;
}

/** Normalises a single value that is neither null nor a message. The zero time becomes null. */
static int normalise_scalar(struct normalise *run, const struct bt_schema_field *field,
	const struct normalise_at *at, struct bt_json_value *value)
{
	bool fits = false;

	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		fits = value->type == BT_JSON_STRING;
		break;
	case BT_SCHEMA_DURATION:
		fits = value->type == BT_JSON_STRING &&
			bt_duration_parse(value->text, &(int64_t){0}, NULL) == 0;
		break;
	case BT_SCHEMA_BOOL:
		fits = value->type == BT_JSON_BOOL;
		break;
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		fits = take_integer(field->type, value);
		break;
	case BT_SCHEMA_INT_OR_STRING:
		fits = value->type == BT_JSON_STRING || take_integer(BT_SCHEMA_INT32, value);
		break;
	case BT_SCHEMA_QUANTITY: {
		struct bt_quantity quantity;
		struct bt_str text = BT_STR("?"); /* not a valid quantity */

		if (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER) {
			text = bt_str_trim(value->text, " \t\r\n");
		}
		int code = bt_quantity_parse(text, run->arena, &quantity, run->err);
		if (code != 0) {
			return code;
		}
		bt_strbuf_reset(&run->scratch);
		bt_quantity_format(&quantity, &run->scratch);
		set_text(run, value);
		return 0;
	}
	case BT_SCHEMA_TIME:
	case BT_SCHEMA_MICRO_TIME:
		if (value->type == BT_JSON_STRING) {
			return take_time(run, field->type == BT_SCHEMA_MICRO_TIME, value);
		}
		break;
	case BT_SCHEMA_BYTES:
		if (value->type == BT_JSON_STRING) {
			struct bt_str bytes;
			int code = bt_base64_decode(value->text, run->arena, &bytes, run->err);

			if (code == 0) {
				bt_strbuf_reset(&run->scratch);
				bt_base64_encode(bytes, &run->scratch);
				set_text(run, value);
			}
			return code;
		}
		break;
	case BT_SCHEMA_STRING_LIST:
		if (value->type == BT_JSON_ARRAY) {
			return take_string_list(run, field, at, value);
		}
		break;
	case BT_SCHEMA_RAW_JSON:
	case BT_SCHEMA_MESSAGE:
		fits = true;
		break;
	}
	return fits ? 0 : mismatch(run, field, true, at, value);
}

/**
 * Sets value to the zero value of the field's type. For a list or map, that is the zero value of
 * an element or map value.
 */
static void set_zero(const struct bt_schema_field *field, struct bt_json_value *value)
{
	*value = (struct bt_json_value){.type = types[field->type].zero_type};
	if (types[field->type].zero_text != NULL) {
		value->text = bt_str_from(types[field->type].zero_text);
	}
}

/** Whether the value is a value that Go omits for a field with omitempty. */
static bool is_zero(const struct bt_schema_field *field, const struct bt_json_value *value)
{
	bool is_text = value->type == BT_JSON_STRING;
	return bt_json_is_zero(value) && !(is_text && field->type == BT_SCHEMA_INT_OR_STRING);
}

/* --- defaults --- */

static struct bt_json_value *default_of(const struct bt_schema_field *field, struct bt_arena *arena)
{
	if (field->type == BT_SCHEMA_STRING) {
		return bt_json_new_c(arena, field->default_text);
	}
	struct bt_json_value *value =
		bt_json_new(arena, field->type == BT_SCHEMA_BOOL ? BT_JSON_BOOL : BT_JSON_NUMBER);
	if (field->type == BT_SCHEMA_BOOL) {
		value->boolean = field->default_text[0] == 't';
	} else {
		value->text = bt_str_from(field->default_text);
	}
	return value;
}

/* Recursion is bounded by the nesting of messages. */
void bt_schema_default(const struct bt_schema_message *message, struct bt_json_value *object,
	struct bt_arena *arena)
{
	for (uint32_t i = 0; message->has_defaults && i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		bool has_parts = field->message != NULL && field->message->has_defaults;

		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			bt_schema_default(field->message, object, arena);
			continue;
		}
		if (field->default_text == NULL && !has_parts) {
			continue;
		}
		struct bt_json_value *value = bt_json_get(object, bt_schema_field_name(field));
		bool is_missing = value == NULL ||
			((field->flags & BT_SCHEMA_NULLABLE) == 0 && is_zero(field, value));
		if (field->default_text != NULL && is_missing) {
			bt_json_set(arena, object, bt_schema_field_name(field),
				default_of(field, arena));
		} else if (has_parts && value != NULL && field->shape == BT_SCHEMA_SINGLE) {
			bt_schema_default(field->message, value, arena);
		} else if (has_parts && value != NULL) {
			for (uint32_t k = 0; k < value->count; k++) {
				bt_schema_default(field->message,
					field->shape == BT_SCHEMA_LIST ? value->elements[k]
								       : value->members[k].value,
					arena);
			}
		}
	}
}

/* --- trees --- */

/* Places of kind and apiVersion, which every root message has besides its fields. */
#define PLACE_KIND (BT_SCHEMA_PLACES_MAX + 1)
#define PLACE_API_VERSION (BT_SCHEMA_PLACES_MAX + 2)

/**
 * State of normalising one message. seen: a bit for each place whose member was read. kept: number
 * of members kept so far, which are the first members of object.
 */
struct members {
	const struct bt_schema_message *message;
	struct bt_json_value *object;
	uint32_t kept;
	uint64_t seen[4];
};

static bool was_seen(const struct members *members, uint32_t place)
{
	return (members->seen[place / 64] >> place % 64 & 1) != 0;
}

static void append_path(const struct normalise_at *at, struct bt_strbuf *out)
{
	if (at->up != NULL) {
		append_path(at->up, out);
	}
	if (at->step == NORMALISE_INDEX) {
		bt_strbuf_printf(out, "[%u]", (unsigned)at->index);
		return;
	}
	if (at->up != NULL) {
		bt_strbuf_append_char(out, '.');
	}
	bt_strbuf_append_str(out, at->name);
}

static void report(struct normalise *run, const char *what, const struct normalise_at *at)
{
	struct bt_strbuf path = {NULL, 0, 0};

	if ((run->watcher == NULL && run->problems == NULL) ||
		run->problem_count >= BT_SCHEMA_PROBLEMS_MAX) {
		return;
	}
	append_path(at, &path);
	if (run->watcher != NULL) {
		const struct bt_schema_problem problem = {
			what, bt_strbuf_str(&path), at->name, at->owner};
		run->problem_count += run->watcher->take(run->watcher->context, &problem);
	} else {
		struct bt_strbuf buffer = {NULL, 0, 0};
		bt_strbuf_printf(&buffer, "%s ", what);
		bt_strbuf_append_quoted(&buffer, bt_strbuf_str(&path));
		struct bt_str text = bt_arena_take_strbuf(run->arena, &buffer);
		if (!bt_json_has_text(run->problems, text)) {
			bt_json_append(
				run->arena, run->problems, bt_json_new_str(run->arena, text));
			run->problem_count++;
		}
	}
	bt_strbuf_finish(&path);
}

static int normalise_message(struct normalise *run, const struct bt_schema_message *message,
	const struct normalise_at *at, struct bt_json_value *object);

/* Normalises a single value: of a field, a list element or a map value. */
static int normalise_one(struct normalise *run, const struct bt_schema_field *field,
	const struct normalise_at *at, struct bt_json_value *value)
{
	if (field->type != BT_SCHEMA_MESSAGE) {
		return normalise_scalar(run, field, at, value);
	}
	if (value->type != BT_JSON_OBJECT) {
		return mismatch(run, field, true, at, value);
	}
	return normalise_message(run, field->message, at, value);
}

/* Normalises a list element or map value; null becomes the zero value. */
static int normalise_item(struct normalise *run, const struct bt_schema_field *field,
	const struct normalise_at *at, struct bt_json_value *value)
{
	if (value->type == BT_JSON_NULL) {
		set_zero(field, value);
		if (value->type != BT_JSON_OBJECT) {
			return 0;
		}
	}
	return normalise_one(run, field, at, value);
}

static bool is_ascending(const struct bt_json_value *map)
{
	for (uint32_t i = 1; i < map->count; i++) {
		if (bt_str_compare(map->members[i - 1].name, map->members[i].name) >= 0) {
			return false;
		}
	}
	return true;
}

/*
 * Drops repeated entries; the last one wins. A map in ascending order of keys, as most clients send
 * it, cannot have repeated entries.
 */
static void drop_repeated(
	struct normalise *run, const struct normalise_at *at, struct bt_json_value *map)
{
	struct normalise_at inner = {.up = at, .step = NORMALISE_KEY};
	uint32_t kept = 0;

	if (is_ascending(map)) {
		return;
	}
	struct bt_indexed_str *entries =
		BT_ARENA_NEW_ARRAY(run->arena, struct bt_indexed_str, map->count);
	for (uint32_t i = 0; i < map->count; i++) {
		entries[i] = (struct bt_indexed_str){map->members[i].name, i};
	}
	qsort(entries, map->count, sizeof(*entries), bt_indexed_str_compare_qsort);
	for (uint32_t i = 0; i + 1 < map->count; i++) {
		if (bt_str_equal(entries[i].text, entries[i + 1].text)) {
			inner.name = entries[i].text;
			report(run, "duplicate field", &inner);
			map->members[entries[i].index].value = NULL;
		}
	}
	for (uint32_t i = 0; i < map->count; i++) {
		if (map->members[i].value != NULL) {
			map->members[kept++] = map->members[i];
		}
	}
	map->count = kept;
}

static int take_field(struct normalise *run, const struct bt_schema_field *field,
	const struct normalise_at *at, struct bt_json_value *value)
{
	bool is_list = field->shape == BT_SCHEMA_LIST;
	struct normalise_at inner = {.up = at, .step = is_list ? NORMALISE_INDEX : NORMALISE_KEY};

	if (field->shape == BT_SCHEMA_SINGLE) {
		return normalise_one(run, field, at, value);
	}
	if (value->type != (is_list ? BT_JSON_ARRAY : BT_JSON_OBJECT)) {
		return mismatch(run, field, false, at, value);
	}
	for (uint32_t i = 0; i < value->count; i++) {
		if (is_list) {
			inner.index = i;
		} else {
			inner.name = value->members[i].name;
		}
		int code = normalise_item(
			run, field, &inner, is_list ? value->elements[i] : value->members[i].value);
		if (code != 0) {
			return code;
		}
	}
	if (!is_list) {
		drop_repeated(run, at, value);
	}
	return 0;
}

static bool is_kept(const struct normalise *run, const struct bt_schema_field *field,
	const struct bt_json_value *value)
{
	if (run->partial) {
		return true;
	}
	if (value->type == BT_JSON_NULL && (field->flags & BT_SCHEMA_NULLABLE) != 0) {
		return false;
	}
	return (field->flags & (BT_SCHEMA_ALWAYS | BT_SCHEMA_NULLABLE)) != 0 ||
		!is_zero(field, value);
}

static void keep_member(struct members *members, struct bt_json_member member)
{
	members->object->members[members->kept++] = member;
}

/* Removes the earlier value of a repeated member. */
static void remove_member(struct members *members, struct bt_str name)
{
	struct bt_json_member *all = members->object->members;

	for (uint32_t i = 0; i < members->kept; i++) {
		if (bt_str_equal(all[i].name, name)) {
			memmove(&all[i], &all[i + 1], (members->kept - i - 1) * sizeof(all[0]));
			members->kept--;
			return;
		}
	}
}

/* Whether the member is kind or apiVersion of a root message. */
static bool is_type_member(const struct members *members, struct bt_str name, uint32_t *out_place)
{
	if (bt_str_equal(name, BT_STR("kind"))) {
		*out_place = PLACE_KIND;
	} else if (bt_str_equal(name, BT_STR("apiVersion"))) {
		*out_place = PLACE_API_VERSION;
	} else {
		return false;
	}
	return bt_schema_is_root(members->message);
}

static const struct bt_schema_field type_member = {
	.name = "", .type = BT_SCHEMA_STRING, .shape = BT_SCHEMA_SINGLE};

static int take_member(struct normalise *run, struct members *members, struct normalise_at *at,
	struct bt_json_member member)
{
	struct bt_schema_place place = {&type_member, NULL, 0};
	int code;

	at->name = member.name;
	if (!bt_schema_locate(members->message, member.name, &place) &&
		!is_type_member(members, member.name, &place.index)) {
		report(run, "unknown field", at);
		return 0;
	}
	at->inline_field = place.inline_field;
	if (was_seen(members, place.index)) {
		report(run, "duplicate field", at);
		remove_member(members, member.name);
	}
	if (member.value->type != BT_JSON_NULL) {
		members->seen[place.index / 64] |= UINT64_C(1) << place.index % 64;
		bool is_known =
			at->up == NULL && bt_json_get(run->known, member.name) == member.value;
		code = is_known ? 0 : take_field(run, place.field, at, member.value);
		if (code != 0) {
			return code;
		}
		if (!run->partial && place.field->shape != BT_SCHEMA_SINGLE &&
			member.value->count == 0 && (place.field->flags & BT_SCHEMA_ALWAYS) != 0 &&
			(place.field->flags & BT_SCHEMA_NULLABLE) == 0) {
			*member.value = (struct bt_json_value){.type = BT_JSON_NULL};
			keep_member(members, member);
		} else if (is_kept(run, place.field, member.value)) {
			keep_member(members, member);
		}
	} else if (run->partial) {
		keep_member(members, member);
	}
	return 0;
}

/*
 * Adds missing ALWAYS members, unless the object is partial. base: index of the place of the
 * message's first field.
 */
static int add_missing(struct normalise *run, struct members *members,
	const struct bt_schema_message *message, struct normalise_at *at, uint32_t base)
{
	for (uint32_t i = 0; !run->partial && i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];

		if ((field->flags & BT_SCHEMA_ALWAYS) == 0 ||
			(field->flags & BT_SCHEMA_NULLABLE) != 0 || was_seen(members, base + i)) {
			continue;
		}
		at->name = bt_schema_field_name(field);
		at->inline_field = NULL;
		struct bt_json_value *value = bt_json_new(run->arena, BT_JSON_NULL);
		if (field->shape == BT_SCHEMA_SINGLE) {
			set_zero(field, value);
		}
		if (value->type == BT_JSON_OBJECT) {
			int code = normalise_message(run, field->message, at, value);
			if (code != 0) {
				return code;
			}
		}
		bt_json_append_member(run->arena, members->object, at->name, value);
	}
	base += message->field_count;
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			int code = add_missing(run, members, field->message, at, base);
			if (code != 0) {
				return code;
			}
			base += field->message->place_count;
		}
	}
	return 0;
}

/* Recursion is bounded by the nesting of messages, which is small: no message contains itself. */
static int normalise_message(struct normalise *run, const struct bt_schema_message *message,
	const struct normalise_at *up, struct bt_json_value *object)
{
	struct members members = {.message = message, .object = object};
	struct normalise_at at = {.up = up, .step = NORMALISE_FIELD, .owner = message};
	int code;

	for (uint32_t i = 0; i < object->count; i++) {
		code = take_member(run, &members, &at, object->members[i]);
		if (code != 0) {
			return code;
		}
	}
	object->count = members.kept;
	return add_missing(run, &members, message, &at, 0);
}

/*
 * Normalises a value without schema: drops repeated members. The definition's schema decides about
 * nulls (server/custom_schema.h), but partial objects have none.
 */
static int take_any(struct normalise *run, const struct normalise_at *at,
	struct bt_json_value *value, uint32_t depth)
{
	bool is_list = value->type == BT_JSON_ARRAY;
	struct normalise_at inner = {.up = at, .step = is_list ? NORMALISE_INDEX : NORMALISE_KEY};
	uint32_t kept = 0;
	int code = 0;

	if (depth > BT_SCHEMA_DEPTH_MAX) {
		return bt_error_set(run->err, BERTH_ERR_TOO_LARGE, "exceeded max depth");
	}
	if (is_list) {
		for (uint32_t i = 0; code == 0 && i < value->count; i++) {
			inner.index = i;
			code = take_any(run, &inner, value->elements[i], depth + 1);
		}
	} else if (value->type == BT_JSON_OBJECT) {
		drop_repeated(run, at, value);
		for (uint32_t i = 0; code == 0 && i < value->count; i++) {
			inner.name = value->members[i].name;
			code = take_any(run, &inner, value->members[i].value, depth + 1);
			if (!run->partial || value->members[i].value->type != BT_JSON_NULL) {
				value->members[kept++] = value->members[i];
			}
		}
		value->count = code == 0 ? kept : value->count;
	}
	return code;
}

static int take_custom(struct normalise *run, struct bt_json_value *object)
{
	const struct bt_schema_message *partial =
		bt_schema_find(BT_STR("meta.k8s.io/v1"), BT_STR("PartialObjectMetadata"));
	struct normalise_at at = {.step = NORMALISE_FIELD, .owner = partial};
	int code = take_any(run, NULL, object, 0);

	for (uint32_t i = 0; code == 0 && i < object->count; i++) {
		at.name = object->members[i].name;
		if (bt_str_equal_c(at.name, "metadata")) {
			code = take_field(run, &partial->fields[0], &at, object->members[i].value);
		}
	}
	return code;
}

static int run_on(struct normalise *run, const struct bt_schema_message *message,
	struct bt_json_value *object)
{
	int code = message != NULL ? normalise_message(run, message, NULL, object)
				   : take_custom(run, object);

	bt_strbuf_finish(&run->scratch);
	return code;
}

int bt_schema_normalise(const struct bt_schema_message *message, struct bt_json_value *object,
	bool partial, const struct bt_json_value *known, struct bt_arena *arena,
	struct bt_json_value *out_problems, struct berth_error *err)
{
	struct normalise run = {.arena = arena,
		.problems = out_problems,
		.partial = partial,
		.known = known,
		.err = err};

	if (object->type != BT_JSON_OBJECT) {
		const char *version = message != NULL ? strchr(message->package, '/') : NULL;
		return bt_error_set(err, BERTH_ERR_INVALID,
			"json: cannot unmarshal %s into Go value of type %s%s%s",
			bt_json_type_name(object->type), version != NULL ? version + 1 : "",
			version != NULL ? "." : "",
			message != NULL ? message->name : "map[string]interface {}");
	}
	if (out_problems != NULL) {
		run.problem_count = out_problems->count;
	}
	return run_on(&run, message, object);
}

int bt_schema_drop_repeated(struct bt_json_value *value, struct bt_arena *arena,
	struct bt_json_value *out_problems, struct berth_error *err)
{
	struct normalise run = {.arena = arena, .problems = out_problems, .err = err};
	int code = take_any(&run, NULL, value, 0);

	bt_strbuf_finish(&run.scratch);
	return code;
}

int bt_schema_check(const struct bt_schema_message *message, struct bt_json_value *object,
	struct bt_arena *arena, const struct bt_schema_watcher *watcher, struct berth_error *err)
{
	struct normalise run = {.arena = arena, .watcher = watcher, .err = err};

	BT_ASSERT(object->type == BT_JSON_OBJECT);
	return run_on(&run, message, object);
}
