/* SPDX-License-Identifier: Apache-2.0 */
#include "config/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/duration.h"
#include "base/text_set.h"
#include "codec/base64.h"

/*
 * Context of a value being decoded: the path of the value, and the structure whose name Go's
 * messages print.
 */
struct decoder {
	struct bt_arena *arena;
	struct berth_error *err;
	const struct bt_config_schema *owner; /* the structure whose field is being decoded */
	const struct bt_path *path; /* path of the field from the root; NULL at the root */
};

static int fail_mismatch(
	const struct decoder *decoder, const char *what, const char *prefix, const char *go_type)
{
	struct bt_strbuf message = {0};
	bt_strbuf_printf(&message, "json: cannot unmarshal %s into Go ", what);
	if (decoder->path != NULL) {
		bt_strbuf_printf(
			&message, "struct field %s.", bt_config_schema_name(decoder->owner));
		bt_path_render_members(decoder->path, &message);
	} else {
		bt_strbuf_append_c(&message, "value");
	}
	bt_strbuf_printf(&message, " of type %s%s", prefix, go_type);
	return bt_error_take(decoder->err, BERTH_ERR_INVALID, &message);
}

static int fail_number(const struct decoder *decoder, struct bt_str text, const char *go_type)
{
	struct bt_strbuf what = {0};
	bt_strbuf_append_c(&what, "number ");
	bt_strbuf_append_str(&what, text);
	int code = fail_mismatch(decoder, bt_strbuf_c(&what), "", go_type);
	bt_strbuf_finish(&what);
	return code;
}

static int expect(const struct decoder *decoder, const struct bt_json_value *value,
	enum bt_json_type type, const char *prefix, const char *go_type)
{
	if (value->type == type) {
		return 0;
	}
	return fail_mismatch(decoder, bt_json_type_name(value->type), prefix, go_type);
}

/** The JSON type of a scalar kind, and its type in messages unless the field names another one. */
static const struct {
	enum bt_json_type type;
	const char *go_type;
} scalars[] = {
	[BT_CONFIG_SCHEMA_VERSION] = {BT_JSON_STRING, "string"},
	[BT_CONFIG_SCHEMA_KIND] = {BT_JSON_STRING, "string"},
	[BT_CONFIG_SCHEMA_STR] = {BT_JSON_STRING, "string"},
	[BT_CONFIG_SCHEMA_BOOL] = {BT_JSON_BOOL, "bool"},
	[BT_CONFIG_SCHEMA_I32] = {BT_JSON_NUMBER, "int32"},
	[BT_CONFIG_SCHEMA_I64] = {BT_JSON_NUMBER, "int64"},
	[BT_CONFIG_SCHEMA_F32] = {BT_JSON_NUMBER, "float32"},
	[BT_CONFIG_SCHEMA_DURATION] = {BT_JSON_STRING, "string"},
	[BT_CONFIG_SCHEMA_BYTES] = {BT_JSON_STRING, "[]uint8"},
};

/** go_type NULL: the usual type of the kind. */
static int decode_scalar(const struct decoder *decoder, enum bt_config_schema_kind kind,
	const char *go_type, const struct bt_json_value *value, void *out)
{
	go_type = go_type != NULL ? go_type : scalars[kind].go_type;
	int code = expect(decoder, value, scalars[kind].type, "", go_type);
	if (code != 0) {
		return code;
	}
	switch ((int)kind) {
	case BT_CONFIG_SCHEMA_STR:
		*(struct bt_str *)out = bt_arena_str(decoder->arena, value->text);
		break;
	case BT_CONFIG_SCHEMA_BOOL:
		*(bool *)out = value->boolean;
		break;
	case BT_CONFIG_SCHEMA_I32: {
		int64_t number;
		if (!bt_json_number_int64(value->text, &number) || number < INT32_MIN ||
			number > INT32_MAX) {
			return fail_number(decoder, value->text, go_type);
		}
		*(int32_t *)out = (int32_t)number;
		break;
	}
	case BT_CONFIG_SCHEMA_I64:
		if (!bt_json_number_int64(value->text, out)) {
			return fail_number(decoder, value->text, go_type);
		}
		break;
	case BT_CONFIG_SCHEMA_F32: {
		float number = strtof(bt_arena_str(decoder->arena, value->text).data, NULL);
		if (isinf(number)) {
			return fail_number(decoder, value->text, go_type);
		}
		*(float *)out = number;
		break;
	}
	case BT_CONFIG_SCHEMA_DURATION:
		return bt_duration_parse(value->text, out, decoder->err);
	case BT_CONFIG_SCHEMA_BYTES:
		return bt_base64_decode(value->text, decoder->arena, out, decoder->err);
	default:
		break; /* the apiVersion and the kind are not stored */
	}
	return 0;
}

/** Expects an array or object with at most BT_CONFIG_LIST_MAX entries. */
static int expect_entries(const struct decoder *decoder, const struct bt_json_value *value,
	enum bt_json_type type, const char *prefix, const char *go_type)
{
	struct bt_strbuf path = {0};
	int code = expect(decoder, value, type, prefix, go_type);
	if (code != 0 || value->count <= BT_CONFIG_LIST_MAX) {
		return code;
	}
	bt_path_render(decoder->path, &path);
	code = bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE, "%s: more than %d entries",
		bt_strbuf_c(&path), BT_CONFIG_LIST_MAX);
	bt_strbuf_finish(&path);
	return code;
}

static int decode_str_map(
	const struct decoder *decoder, const struct bt_json_value *value, void *out)
{
	int code = expect_entries(decoder, value, BT_JSON_OBJECT, "", "map[string]string");
	if (code != 0) {
		return code;
	}
	struct bt_str_pair *items =
		BT_ARENA_NEW_ARRAY(decoder->arena, struct bt_str_pair, value->count);
	for (uint32_t i = 0; i < value->count; i++) {
		items[i].key = bt_arena_str(decoder->arena, value->members[i].name);
		items[i].value = BT_STR("");
		if (value->members[i].value->type != BT_JSON_NULL) {
			code = decode_scalar(decoder, BT_CONFIG_SCHEMA_STR, NULL,
				value->members[i].value, &items[i].value);
			if (code != 0) {
				return code;
			}
		}
	}
	struct bt_any_list map = {items, value->count, true};
	bt_sort_entries(&map, sizeof(items[0]));
	memcpy(out, &map, sizeof(map));
	return 0;
}

static int decode_struct(const struct decoder *decoder, const struct bt_config_schema *schema,
	const struct bt_json_value *value, void *out);

/** Decodes a list of structures, or of texts if schema is NULL. */
static int decode_list(const struct decoder *decoder, const struct bt_config_schema *schema,
	const struct bt_json_value *value, void *out)
{
	int code = schema != NULL
		? expect_entries(decoder, value, BT_JSON_ARRAY, "[]", schema->go_type)
		: expect_entries(decoder, value, BT_JSON_ARRAY, "", "[]string");
	size_t size = schema != NULL ? schema->size : sizeof(struct bt_str);
	if (code != 0) {
		return code;
	}
	char *items = bt_arena_calloc(decoder->arena, value->count, size);
	for (uint32_t i = 0; i < value->count && code == 0; i++) {
		const struct bt_json_value *element = value->elements[i];
		void *item = items + (size_t)i * size;
		if (schema != NULL) {
			code = decode_struct(decoder, schema, element, item);
			continue;
		}
		*(struct bt_str *)item = BT_STR("");
		if (element->type != BT_JSON_NULL) {
			code = decode_scalar(decoder, BT_CONFIG_SCHEMA_STR, NULL, element, item);
		}
	}
	if (code != 0) {
		return code;
	}
	const struct bt_any_list list = {items, value->count, true};
	memcpy(out, &list, sizeof(list));
	return 0;
}

/* The value must not be JSON null. */
static int decode_field(const struct decoder *decoder, const struct bt_config_schema_field *field,
	const struct bt_json_value *value, char *parent)
{
	void *out = parent + field->offset;
	int code = 0;
	switch ((enum bt_config_schema_kind)field->kind) {
	case BT_CONFIG_SCHEMA_VERSION:
	case BT_CONFIG_SCHEMA_KIND:
	case BT_CONFIG_SCHEMA_STR:
	case BT_CONFIG_SCHEMA_BOOL:
	case BT_CONFIG_SCHEMA_I32:
	case BT_CONFIG_SCHEMA_I64:
	case BT_CONFIG_SCHEMA_F32:
	case BT_CONFIG_SCHEMA_DURATION:
	case BT_CONFIG_SCHEMA_BYTES:
		code = decode_scalar(decoder, (enum bt_config_schema_kind)field->kind,
			field->go_type, value, out);
		break;
	case BT_CONFIG_SCHEMA_STRUCT:
		code = decode_struct(decoder, field->schema, value, out);
		break;
	case BT_CONFIG_SCHEMA_POINTER: {
		void *target = bt_arena_calloc(decoder->arena, 1, field->schema->size);
		code = decode_struct(decoder, field->schema, value, target);
		if (code == 0) {
			memcpy(out, &target, sizeof(target));
		}
		break;
	}
	case BT_CONFIG_SCHEMA_LIST:
	case BT_CONFIG_SCHEMA_STR_LIST:
		code = decode_list(decoder, field->schema, value, out);
		break;
	case BT_CONFIG_SCHEMA_STR_MAP:
		code = decode_str_map(decoder, value, out);
		break;
	case BT_CONFIG_SCHEMA_ARGS:
		((struct bt_plugin_args *)out)->source = value;
		break;
	}
	if (code == 0 && (field->flags & BT_CONFIG_SCHEMA_PRESENT) != 0) {
		const bool present = true;
		memcpy(parent + field->present_offset, &present, sizeof(present));
	}
	return code;
}

static int decode_struct(const struct decoder *decoder, const struct bt_config_schema *schema,
	const struct bt_json_value *value, void *out)
{
	if (value->type == BT_JSON_NULL) {
		return 0;
	}
	int code = expect(decoder, value, BT_JSON_OBJECT, "", schema->go_type);
	for (uint32_t i = 0; code == 0 && i < value->count; i++) {
		const struct bt_json_member *member = &value->members[i];
		const struct bt_config_schema_field *field =
			bt_config_schema_find(schema, member->name);
		const struct bt_path path = {.parent = decoder->path, .name = member->name};
		const struct decoder inner = {decoder->arena, decoder->err, schema, &path};
		if (field != NULL && member->value->type != BT_JSON_NULL) {
			code = decode_field(&inner, field, member->value, out);
		}
	}
	return code;
}

int bt_config_schema_decode(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena, void *out,
	struct berth_error *err)
{
	const struct decoder decoder = {arena, err, schema, NULL};
	return decode_struct(&decoder, schema, value, out);
}

struct review {
	struct bt_arena *arena;
	struct bt_strict_errors *errors;
};

static void add_strict_error(
	const struct review *review, const char *what, const struct bt_path *path)
{
	struct bt_strict_errors *errors = review->errors;
	struct bt_strbuf where = {0};
	struct bt_strbuf text = {0};
	if (errors->count == BT_STRICT_ERRORS_MAX) {
		return;
	}
	bt_path_render(path, &where);
	bt_strbuf_printf(&text, "%s field ", what);
	bt_strbuf_append_quoted(&text, bt_strbuf_str(&where));
	if (!bt_str_is_among(bt_strbuf_str(&text), errors->items, errors->count)) {
		errors->items[errors->count++] = bt_arena_str(review->arena, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&where);
	bt_strbuf_finish(&text);
}

static void review_struct(const struct review *review, const struct bt_config_schema *schema,
	const struct bt_json_value *value, const struct bt_path *path)
{
	uint32_t seen = 0;
	if (value->type != BT_JSON_OBJECT) {
		return;
	}
	BT_ASSERT(schema->field_count <= 32);
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_value *inner = value->members[i].value;
		const struct bt_config_schema_field *field =
			bt_config_schema_find(schema, value->members[i].name);
		const struct bt_path here = {.parent = path, .name = value->members[i].name};
		if (field == NULL) {
			add_strict_error(review, "unknown", &here);
			continue;
		}
		uint32_t bit = UINT32_C(1) << (uint32_t)(field - schema->fields);
		if ((seen & bit) != 0) {
			add_strict_error(review, "duplicate", &here);
		}
		seen |= bit;
		if (field->kind == BT_CONFIG_SCHEMA_STR_MAP && inner->type == BT_JSON_OBJECT) {
			struct bt_text_set keys = {0};
			for (uint32_t k = 0; k < inner->count; k++) {
				struct bt_str key = inner->members[k].name;
				if (!bt_text_set_add(&keys, key)) {
					add_strict_error(
						review, "duplicate", BT_PATH_STR(&here, key));
				}
			}
			bt_text_set_finish(&keys);
		} else if (field->kind == BT_CONFIG_SCHEMA_LIST && inner->type == BT_JSON_ARRAY) {
			for (uint32_t k = 0; k < inner->count; k++) {
				review_struct(review, field->schema, inner->elements[k],
					BT_PATH_INDEX(&here, k));
			}
		} else if (field->kind == BT_CONFIG_SCHEMA_STRUCT ||
			field->kind == BT_CONFIG_SCHEMA_POINTER) {
			review_struct(review, field->schema, inner, &here);
		}
	}
}

void bt_config_schema_find_strict_errors(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena,
	struct bt_strict_errors *out_errors)
{
	const struct review review = {arena, out_errors};
	review_struct(&review, schema, value, NULL);
}
