/* SPDX-License-Identifier: Apache-2.0 */
#include "server/expression.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/time.h"
#include "base/duration.h"
#include "base/shortest.h"
#include "codec/base64.h"
#include "codec/json_edit.h"

/** --- names --- */

static bool is_reserved(struct bt_str name)
{
	return bt_str_has_word(
		BT_STR("true false null in as break const continue else for function if import let "
		       "loop package namespace return var void while"),
		name);
}

/**
 * Returns the name as expressions write it, escaped where needed; absent: expressions cannot use
 * the name.
 */
static struct bt_str escape(struct bt_str name, struct bt_arena *arena)
{
	struct bt_strbuf out = {0};
	bool plain = true;
	for (uint32_t i = 0; i < name.length; i++) {
		char c = name.data[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		bool digit = c >= '0' && c <= '9';
		if ((!letter && !digit && c != '.' && c != '-' && c != '/' && c != '$') ||
			(i == 0 && digit)) {
			bt_strbuf_finish(&out);
			return (struct bt_str){NULL, 0};
		}
		if (c == '.' || c == '-' || c == '/') {
			bt_strbuf_append_c(&out,
				c == '.'           ? "__dot__"
					: c == '-' ? "__dash__"
						   : "__slash__");
			plain = false;
		} else if (c == '_' && i + 1 < name.length && name.data[i + 1] == '_') {
			bt_strbuf_append_c(&out, "__underscores__");
			i++;
			plain = false;
		} else {
			bt_strbuf_append_char(&out, c);
		}
	}
	struct bt_str text = is_reserved(name)
		? bt_arena_printf(arena, "__%.*s__", BT_STR_ARG(name))
		: plain ? name
			: bt_arena_str(arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	return name.length != 0 ? text : (struct bt_str){NULL, 0};
}

/** --- types --- */

/** Largest size of a request; a value whose schema has no limit may fill the request. */
#define REQUEST_BYTES_MAX UINT64_C(3145728)

/**
 * Maximum number of required names that the estimate reads; further names change the result little.
 */
#define REQUIRED_MAX 256

/** Returns the smallest size of a value of the schema in a request. */
static uint64_t min_bytes(const struct bt_json_value *schema)
{
	struct bt_str type = bt_json_text_at(schema, "type");
	const struct bt_json_value *required = bt_json_array_at(schema, "required");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	uint64_t bytes = 2;
	if (bt_str_equal_c(type, "boolean")) {
		return 4;
	}
	if (bt_str_equal_c(type, "integer") || bt_str_equal_c(type, "number")) {
		return 1;
	}
	for (uint32_t i = 0; i < required->count && i < REQUIRED_MAX; i++) {
		struct bt_str name = required->elements[i]->text;
		const struct bt_json_value *property = bt_json_get(properties, name);
		bool is_repeated = false;
		for (uint32_t k = 0; k < i && !is_repeated; k++) {
			is_repeated = bt_str_equal(required->elements[k]->text, name);
		}
		if (property != NULL && !is_repeated && bt_json_find(property, "default") == NULL) {
			bytes += name.length + 4 + min_bytes(property);
		}
	}
	return bytes;
}

/** Returns the largest number of elements, members or bytes of a value of the schema. */
static uint64_t max_size(const struct bt_json_value *schema)
{
	struct bt_str type = bt_json_text_at(schema, "type");
	const struct bt_json_value *values = bt_json_array_at(schema, "enum");
	bool is_array = bt_str_equal_c(type, "array");
	if (bt_str_equal_c(type, "string")) {
		uint64_t longest = 0;
		int64_t length = bt_json_int64_at(schema, "maxLength", -1);
		for (uint32_t i = 0; i < values->count; i++) {
			longest = BT_MAX(values->elements[i]->text.length, longest);
		}
		return values->count != 0 ? longest
			: length >= 0     ? (uint64_t)length * 4 /* bytes of UTF-8 */
					  : REQUEST_BYTES_MAX - 2;
	}
	int64_t given = bt_json_int64_at(schema, is_array ? "maxItems" : "maxProperties", -1);
	const struct bt_json_value *item =
		bt_json_find(schema, is_array ? "items" : "additionalProperties");
	/*
	 * upstream's estimate of the bytes that an element needs in addition to its value: 1 (a
	 * comma) in an array, 6 (a name, its quotes, a colon and a comma) in a map
	 */
	return given >= 0 ? (uint64_t)given
			  : REQUEST_BYTES_MAX / (min_bytes(item) + (is_array ? 1 : 6));
}

uint64_t bt_expression_max_count(const struct bt_json_value *schema)
{
	bool is_array = bt_str_equal_c(bt_json_text_at(schema, "type"), "array");
	const struct bt_json_value *item =
		bt_json_find(schema, is_array ? "items" : "additionalProperties");
	/*
	 * Bytes of the smallest element: `{},` in an array, `"":{},` in a map; for booleans,
	 * `true,` and `"":true,`. Members that the element's schema requires do not count.
	 */
	uint64_t bytes = (is_array ? 3U : 6U) +
		(bt_str_equal_c(bt_json_text_at(item, "type"), "boolean") ? 2U : 0U);
	uint64_t count = bt_json_find(schema, is_array ? "maxItems" : "maxProperties") != NULL
		? max_size(schema)
		: REQUEST_BYTES_MAX / bytes;
	return BT_MIN(count, BT_EXPRESSION_COUNT_MAX);
}

static const struct bt_cel_type *list_of(enum bt_cel_kind kind, const struct bt_cel_type *item,
	const struct bt_json_value *schema, struct bt_arena *arena)
{
	struct bt_cel_type *type = BT_ARENA_NEW(arena, struct bt_cel_type);
	type->kind = kind;
	type->of[0] = kind == BT_CEL_MAP ? &bt_cel_types[BT_CEL_STRING] : item;
	type->of[1] = kind == BT_CEL_MAP ? item : NULL;
	uint32_t parts = item->parts != 0 ? item->parts : 1;
	type->parts = parts + (kind == BT_CEL_MAP ? 2 : 1);
	type->size_max = max_size(schema);
	return type;
}

static const struct bt_cel_type *object_of(struct bt_str name, const struct bt_cel_variable *fields,
	uint32_t count, struct bt_arena *arena)
{
	struct bt_cel_object *object = BT_ARENA_NEW(arena, struct bt_cel_object);
	struct bt_cel_type *type = BT_ARENA_NEW(arena, struct bt_cel_type);
	*object = (struct bt_cel_object){name, fields, count, false};
	type->kind = BT_CEL_OBJECT;
	type->object = object;
	return type;
}

/**
 * Adds a field, under its escaped name and, if CEL reserves the name, also under the name itself,
 * so that both self.namespace and self.__namespace__ work. Leaves out names that CEL cannot write.
 */
static void add_field(struct bt_cel_variable *fields, uint32_t *count, struct bt_str name,
	const struct bt_cel_type *type, struct bt_arena *arena)
{
	struct bt_str escaped = escape(name, arena);
	if (escaped.data != NULL) {
		fields[(*count)++] = (struct bt_cel_variable){escaped, type};
	}
	if (is_reserved(name)) {
		fields[(*count)++] = (struct bt_cel_variable){name, type};
	}
}

static enum bt_cel_kind string_kind(const struct bt_json_value *schema)
{
	struct bt_str format = bt_json_text_at(schema, "format");
	if (bt_str_equal_c(format, "byte")) {
		return BT_CEL_BYTES;
	}
	if (bt_str_equal_c(format, "duration")) {
		return BT_CEL_DURATION;
	}
	return bt_str_equal_c(format, "date") || bt_str_equal_c(format, "date-time")
		? BT_CEL_TIMESTAMP
		: BT_CEL_STRING;
}

/**
 * Returns the type of the metadata of a resource: name, generateName, and for an embedded object
 * the other members that its schema names.
 */
static const struct bt_cel_type *metadata_type(
	const struct bt_json_value *schema, struct bt_arena *arena)
{
	static const char *const own[] = {"name", "generateName"};
	const struct bt_json_value *named = bt_json_object_at(schema, "properties");
	struct bt_cel_variable *fields = BT_ARENA_NEW_ARRAY(
		arena, struct bt_cel_variable, (size_t)named->count * 2 + BT_ARRAY_LENGTH(own));
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(own); i++) {
		fields[count++] =
			(struct bt_cel_variable){bt_str_from(own[i]), &bt_cel_types[BT_CEL_STRING]};
	}
	for (uint32_t i = 0; i < named->count; i++) {
		struct bt_str name = named->members[i].name;
		if (!bt_str_is_one_of(name, own, BT_ARRAY_LENGTH(own))) {
			add_field(fields, &count, name,
				bt_expression_type(named->members[i].value, false, arena), arena);
		}
	}
	return object_of(BT_STR("object"), fields, count, arena);
}

/** Recursion follows the schema, whose depth is limited. */
const struct bt_cel_type *bt_expression_type(
	const struct bt_json_value *schema, bool is_resource, struct bt_arena *arena)
{
	static const char *const own[] = {"apiVersion", "kind"};
	struct bt_str type = bt_json_text_at(schema, "type");
	const struct bt_json_value *additional = bt_json_find(schema, "additionalProperties");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	is_resource =
		is_resource || bt_json_bool_at(schema, "x-kubernetes-embedded-resource", false);
	if (bt_str_equal_c(type, "string")) {
		enum bt_cel_kind kind = string_kind(schema);
		if (kind != BT_CEL_STRING && kind != BT_CEL_BYTES) {
			return &bt_cel_types[kind];
		}
		struct bt_cel_type *sized = BT_ARENA_NEW(arena, struct bt_cel_type);
		*sized = bt_cel_types[kind];
		sized->size_max = max_size(schema);
		return sized;
	}
	if (bt_str_equal_c(type, "boolean")) {
		return &bt_cel_types[BT_CEL_BOOL];
	}
	if (bt_str_equal_c(type, "integer")) {
		return &bt_cel_types[BT_CEL_INT];
	}
	if (bt_str_equal_c(type, "number")) {
		return &bt_cel_types[BT_CEL_DOUBLE];
	}
	if (bt_str_equal_c(type, "array")) {
		return list_of(BT_CEL_LIST,
			bt_expression_type(bt_json_find(schema, "items"), false, arena), schema,
			arena);
	}
	if (!bt_str_equal_c(type, "object") ||
		bt_json_bool_at(schema, "x-kubernetes-int-or-string", false)) {
		return &bt_cel_types[BT_CEL_DYN];
	}
	if (additional != NULL && additional->type == BT_JSON_OBJECT) {
		return list_of(
			BT_CEL_MAP, bt_expression_type(additional, false, arena), schema, arena);
	}
	struct bt_cel_variable *fields = BT_ARENA_NEW_ARRAY(
		arena, struct bt_cel_variable, (size_t)properties->count * 2 + 3);
	uint32_t count = 0;
	for (uint32_t i = 0; i < properties->count; i++) {
		struct bt_str name = properties->members[i].name;
		const struct bt_json_value *property = properties->members[i].value;
		/* A field without a type is not visible. */
		bool is_visible = bt_json_text_at(property, "type").length != 0 ||
			bt_json_bool_at(property, "x-kubernetes-int-or-string", false);
		bool is_standard = is_resource &&
			(bt_str_equal_c(name, "metadata") ||
				bt_str_is_one_of(name, own, BT_ARRAY_LENGTH(own)));
		if (is_visible && !is_standard) {
			add_field(fields, &count, name, bt_expression_type(property, false, arena),
				arena);
		}
	}
	if (is_resource) {
		const struct bt_json_value *metadata = bt_json_get(properties, BT_STR("metadata"));
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(own); i++) {
			fields[count++] = (struct bt_cel_variable){
				bt_str_from(own[i]), &bt_cel_types[BT_CEL_STRING]};
		}
		fields[count++] = (struct bt_cel_variable){
			BT_STR("metadata"), metadata_type(metadata, arena)};
	}
	return object_of(BT_STR("object"), fields, count, arena);
}

/** --- values --- */

static struct bt_cel_value number_value(struct bt_str text, bool is_double)
{
	int64_t whole;
	char buffer[64];
	if (!is_double && bt_json_number_int64(text, &whole)) {
		return bt_cel_int(whole);
	}
	snprintf(buffer, sizeof(buffer), "%.*s", BT_STR_ARG(text));
	return bt_cel_double(strtod(buffer, NULL));
}

static struct bt_cel_value text_value(
	const struct bt_json_value *schema, struct bt_str text, struct bt_arena *arena)
{
	struct bt_cel_value value = bt_cel_string(text);
	struct bt_time time;
	int64_t ns;
	if (schema == NULL || !bt_str_equal_c(bt_json_text_at(schema, "type"), "string")) {
		return value;
	}
	enum bt_cel_kind kind = string_kind(schema);
	if (kind == BT_CEL_BYTES) {
		if (bt_base64_decode(text, arena, &value.text, NULL) == 0) {
			value.kind = BT_CEL_BYTES;
		}
	} else if (kind == BT_CEL_DURATION) {
		if (bt_duration_parse(text, &ns, NULL) == 0) {
			value = (struct bt_cel_value){.kind = BT_CEL_DURATION, .integer = ns};
		}
	} else if (kind == BT_CEL_TIMESTAMP) {
		struct bt_str full = text.length == 10
			? bt_arena_printf(arena, "%.*sT00:00:00Z", BT_STR_ARG(text))
			: text;
		if (bt_time_parse(full, &time, NULL) == 0) {
			value = (struct bt_cel_value){.kind = BT_CEL_TIMESTAMP,
				.timestamp = {time.seconds, time.nanoseconds}};
		}
	}
	return value;
}

static struct bt_cel_value object_value(const struct bt_json_value *schema,
	const struct bt_json_value *object, struct bt_arena *arena)
{
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	const struct bt_json_value *additional = bt_json_find(schema, "additionalProperties");
	bool is_map = schema == NULL || (additional != NULL && additional->type == BT_JSON_OBJECT);
	struct bt_cel_entry *entries =
		BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, (size_t)object->count * 2);
	struct bt_cel_map *map = BT_ARENA_NEW(arena, struct bt_cel_map);
	uint32_t count = 0;
	for (uint32_t i = 0; i < object->count; i++) {
		const struct bt_json_member *member = &object->members[i];
		const struct bt_json_value *sub = is_map ? (schema != NULL ? additional : NULL)
							 : bt_json_get(properties, member->name);
		struct bt_str name = is_map ? member->name : escape(member->name, arena);
		if (name.data != NULL) {
			struct bt_cel_value value = bt_expression_value(sub, member->value, arena);
			entries[count++] = (struct bt_cel_entry){bt_cel_string(name), value};
			if (!is_map && is_reserved(member->name)) {
				entries[count++] =
					(struct bt_cel_entry){bt_cel_string(member->name), value};
			}
		}
	}
	*map = (struct bt_cel_map){.entries = entries, .count = count};
	return (struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
}

/** Recursion follows the document, whose depth is limited. */
struct bt_cel_value bt_expression_value(const struct bt_json_value *schema,
	const struct bt_json_value *value, struct bt_arena *arena)
{
	if (value == NULL) {
		return (struct bt_cel_value){.kind = BT_CEL_NULL};
	}
	switch (value->type) {
	case BT_JSON_BOOL:
		return bt_cel_bool(value->boolean);
	case BT_JSON_NUMBER:
		return number_value(value->text,
			schema != NULL &&
				bt_str_equal_c(bt_json_text_at(schema, "type"), "number"));
	case BT_JSON_STRING:
		return text_value(schema, value->text, arena);
	case BT_JSON_ARRAY: {
		struct bt_cel_value *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_cel_value, value->count);
		const struct bt_json_value *sub = bt_json_find(schema, "items");
		for (uint32_t i = 0; i < value->count; i++) {
			items[i] = bt_expression_value(sub, value->elements[i], arena);
		}
		return (struct bt_cel_value){
			.kind = BT_CEL_LIST, .list = {.items = items, .count = value->count}};
	}
	case BT_JSON_OBJECT:
		return object_value(schema, value, arena);
	case BT_JSON_NULL:
	case BT_JSON__COUNT:
		break;
	}
	return (struct bt_cel_value){.kind = BT_CEL_NULL};
}

struct bt_cel_value bt_expression_object(const char *const *names,
	const struct bt_cel_value *values, uint32_t count, struct bt_arena *arena)
{
	struct bt_cel_entry *entries = BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, count);
	struct bt_cel_map *map = BT_ARENA_NEW(arena, struct bt_cel_map);
	for (uint32_t i = 0; i < count; i++) {
		entries[i] = (struct bt_cel_entry){bt_cel_string(bt_str_from(names[i])), values[i]};
	}
	*map = (struct bt_cel_map){.entries = entries, .count = count};
	return (struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
}

/** --- values as documents --- */

/**
 * Largest size of a document in bytes (approximate), and largest number of levels. A small value
 * may become a large document, because it may contain the same part many times.
 */
#define DOCUMENT_BYTES_MAX (3 << 20)
#define DOCUMENT_DEPTH_MAX 200

struct document {
	struct bt_arena *arena;
	struct berth_error *err;
	size_t bytes;
	uint32_t depth;
	struct bt_strbuf type_name; /* type name that an object here must have; "": any */
};

static struct bt_json_value *make_document(
	struct document *document, const struct bt_cel_value *value);

static struct bt_json_value *make_object(struct document *document, const struct bt_cel_map *map)
{
	struct bt_json_value *object = bt_json_new(document->arena, BT_JSON_OBJECT);
	struct bt_strbuf *type_name = &document->type_name;
	size_t length = type_name->length;
	bool is_typed =
		map->type_name != NULL && bt_str_has_prefix(*map->type_name, BT_STR("Object"));
	if (is_typed && length != 0 && !bt_str_equal(*map->type_name, bt_strbuf_str(type_name))) {
		(void)bt_error_set(document->err, BERTH_ERR_INVALID,
			"type mismatch: unexpected type name \"%.*s\", expected \"%s\", which "
			"matches "
			"field name path from root Object type",
			BT_STR_ARG(*map->type_name), bt_strbuf_c(type_name));
		return NULL;
	}
	if (is_typed && length == 0) {
		bt_strbuf_append_str(type_name, *map->type_name);
	}
	struct bt_str base =
		is_typed ? bt_arena_str(document->arena, bt_strbuf_str(type_name)) : BT_STR("");
	for (uint32_t i = 0; i < map->count && object != NULL; i++) {
		const struct bt_cel_entry *entry = &map->entries[i];
		struct bt_json_value *value = NULL;
		bt_strbuf_reset(type_name);
		if (is_typed) {
			bt_strbuf_append_str(type_name, base);
			bt_strbuf_append_char(type_name, '.');
			bt_strbuf_append_str(type_name, entry->key.text);
		}
		if (entry->key.kind != BT_CEL_STRING) {
			(void)bt_error_set(document->err, BERTH_ERR_INVALID,
				"keys of maps must be strings, not %s",
				bt_cel_kind_name(entry->key.kind));
		} else {
			document->bytes += entry->key.text.length;
			value = make_document(document, &entry->value);
		}
		if (value != NULL) {
			bt_json_set(document->arena, object, entry->key.text, value);
		} else {
			object = NULL;
		}
	}
	return object;
}

static struct bt_json_value *make_array(struct document *document, const struct bt_cel_list *list)
{
	struct bt_json_value *array = bt_json_new(document->arena, BT_JSON_ARRAY);
	struct bt_str type_name =
		bt_arena_str(document->arena, bt_strbuf_str(&document->type_name));
	for (uint32_t i = 0; i < list->count; i++) {
		bt_strbuf_reset(&document->type_name);
		bt_strbuf_append_str(&document->type_name, type_name);
		struct bt_json_value *element = make_document(document, &list->items[i]);
		if (element == NULL) {
			return NULL;
		}
		bt_json_append(document->arena, array, element);
	}
	return array;
}

static struct bt_json_value *make_scalar(
	struct document *document, const struct bt_cel_value *value)
{
	struct bt_arena *arena = document->arena;
	struct bt_json_value *number = bt_json_new(arena, BT_JSON_NUMBER);
	struct bt_strbuf text = {0};
	switch ((int)value->kind) {
	case BT_CEL_NULL:
		return bt_json_new(arena, BT_JSON_NULL);
	case BT_CEL_BOOL:
		return bt_json_new_bool(arena, value->boolean);
	case BT_CEL_INT:
		return bt_json_new_int64(arena, value->integer);
	case BT_CEL_UINT:
		number->text = bt_arena_printf(arena, "%" PRIu64, value->uinteger);
		return number;
	case BT_CEL_DOUBLE:
		if (!isfinite(value->real)) {
			break;
		}
		bt_shortest_append_general(&text, value->real);
		number->text = bt_arena_take_strbuf(arena, &text);
		return number;
	case BT_CEL_STRING:
		document->bytes += value->text.length;
		return bt_json_new_str(arena, value->text);
	case BT_CEL_BYTES:
		document->bytes += value->text.length;
		bt_base64_encode(value->text, &text);
		return bt_json_new_str(arena, bt_arena_take_strbuf(arena, &text));
	default:
		break;
	}
	(void)bt_error_set(document->err, BERTH_ERR_INVALID,
		"a value of type %s has no form in JSON", bt_cel_kind_name(value->kind));
	return NULL;
}

/** Makes the JSON value. The recursion ends at DOCUMENT_DEPTH_MAX. */
static struct bt_json_value *make_document(
	struct document *document, const struct bt_cel_value *value)
{
	struct bt_json_value *made;
	document->bytes += sizeof(*made);
	if (document->bytes > DOCUMENT_BYTES_MAX || document->depth == DOCUMENT_DEPTH_MAX) {
		(void)bt_error_set(document->err, BERTH_ERR_TOO_LARGE,
			"the expression makes an object that is too large");
		return NULL;
	}
	document->depth++;
	if (value->kind == BT_CEL_MAP) {
		made = make_object(document, value->map);
	} else if (value->kind == BT_CEL_LIST) {
		made = make_array(document, &value->list);
	} else {
		made = make_scalar(document, value);
	}
	document->depth--;
	return made;
}

struct bt_json_value *bt_expression_json(
	const struct bt_cel_value *value, struct bt_arena *arena, struct berth_error *err)
{
	struct document document = {.arena = arena, .err = err};
	struct bt_json_value *made = make_document(&document, value);
	bt_strbuf_finish(&document.type_name);
	return made;
}
