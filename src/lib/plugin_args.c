/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/plugin.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "config/decode.h"
#include "lib/convert.h"
#include "lib/document.h"

#define FIELDS_MAX 64
#define ARGS_BYTES_MAX BT_CONFIG_BYTES_MAX

_Static_assert(sizeof(struct berth_args_list) == sizeof(bt_str_list) &&
		offsetof(struct berth_args_list, count) == offsetof(bt_str_list, count) &&
		offsetof(struct berth_args_list, present) == offsetof(bt_str_list, present),
	"lists are lists of the decoder");

static const struct {
	uint8_t kind;
	bool nested;
} kinds[] = {
	[BERTH_ARGS_STR] = {BT_CONFIG_SCHEMA_STR, false},
	[BERTH_ARGS_BOOL] = {BT_CONFIG_SCHEMA_BOOL, false},
	[BERTH_ARGS_INT32] = {BT_CONFIG_SCHEMA_I32, false},
	[BERTH_ARGS_INT64] = {BT_CONFIG_SCHEMA_I64, false},
	[BERTH_ARGS_FLOAT] = {BT_CONFIG_SCHEMA_F32, false},
	[BERTH_ARGS_DURATION] = {BT_CONFIG_SCHEMA_DURATION, false},
	[BERTH_ARGS_STR_LIST] = {BT_CONFIG_SCHEMA_STR_LIST, false},
	[BERTH_ARGS_OBJECT] = {BT_CONFIG_SCHEMA_STRUCT, true},
	[BERTH_ARGS_LIST] = {BT_CONFIG_SCHEMA_LIST, true},
};

static int compare_fields(const void *a, const void *b)
{
	return strcmp(((const struct bt_config_schema_field *)a)->name,
		((const struct bt_config_schema_field *)b)->name);
}

static int bad_table(const struct berth_args_schema *schema, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INTERNAL, "the table of %s is not valid",
		schema != NULL && schema->type_name != NULL ? schema->type_name : "arguments");
}

/** The decoder's table for a public one, in the arena. */
static int translate(const struct berth_args_schema *schema, struct bt_arena *arena, uint32_t depth,
	const struct bt_config_schema **out_schema, struct berth_error *err)
{
	if (schema == NULL || schema->type_name == NULL || schema->field_count > FIELDS_MAX ||
		depth > BERTH_ARGS_DEPTH_MAX) {
		return bad_table(schema, err);
	}
	struct bt_config_schema_field *fields =
		BT_ARENA_NEW_ARRAY(arena, struct bt_config_schema_field, schema->field_count);

	for (uint32_t i = 0; i < schema->field_count; i++) {
		const struct berth_args_field *field = &schema->fields[i];

		if ((size_t)field->type >= BT_ARRAY_LENGTH(kinds) || field->name == NULL ||
			field->offset >= schema->size) {
			return bad_table(schema, err);
		}
		fields[i] = (struct bt_config_schema_field){
			.name = field->name,
			.kind = kinds[field->type].kind,
			.offset = (uint32_t)field->offset,
		};
		if (kinds[field->type].nested) {
			int result =
				translate(field->schema, arena, depth + 1, &fields[i].schema, err);

			if (result != BERTH_OK) {
				return result;
			}
		}
	}
	if (schema->field_count > 1) {
		qsort(fields, schema->field_count, sizeof(fields[0]), compare_fields);
	}
	struct bt_config_schema *translated = BT_ARENA_NEW(arena, struct bt_config_schema);

	*translated = (struct bt_config_schema){
		.go_type = bt_arena_printf(arena, "config.%s", schema->type_name).data,
		.size = (uint32_t)schema->size,
		.field_count = schema->field_count,
		.fields = fields,
	};
	*out_schema = translated;
	return BERTH_OK;
}

static int complain(const struct bt_config_schema *schema, const struct bt_json_value *value,
	struct bt_arena *arena, struct berth_error *err)
{
	struct bt_complaints complaints = {.count = 0};

	bt_config_schema_complain(schema, value, arena, &complaints);
	if (complaints.count == 0) {
		return BERTH_OK;
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "strict decoding error: %.*s",
		BT_STR_ARG(complaints.items[0]));
}

static int decode(const struct berth_args_schema *schema, struct bt_str json,
	struct bt_arena *scratch, struct bt_arena *arena, void *into, struct berth_error *err)
{
	const struct bt_config_schema *translated = NULL;
	struct bt_json_value *value = NULL;
	int result = translate(schema, scratch, 0, &translated, err);

	if (result == BERTH_OK) {
		result = bt_json_parse(scratch, json, false, &value, err);
	}
	if (result == BERTH_OK) {
		result = bt_config_schema_decode(translated, value, arena, into, err);
	}
	if (result == BERTH_OK && schema->strict) {
		result = complain(translated, value, scratch, err);
	}
	return result;
}

int berth_plugin_args_decode_into(const struct berth_raw_args *args,
	const struct berth_args_schema *schema, struct berth_arena *arena, void *into,
	struct berth_error *err)
{
	if (args == NULL) {
		return BERTH_OK;
	}
	if (args->type_name.data != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"want args of type runtime.Unknown, got *config.%.*s",
			BT_STR_ARG(args->type_name));
	}
	if (args->raw.data == NULL) {
		return BERTH_OK;
	}
	if (args->raw.length > ARGS_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "arguments of more than %u bytes",
			ARGS_BYTES_MAX);
	}
	struct bt_strbuf json = {0};
	struct bt_str text = args->raw;
	struct bt_arena scratch = {0};
	int result = BERTH_OK;

	if (bt_str_equal_c(args->content_type, "application/yaml")) {
		result = bt_document_from_yaml(text, NULL, &json, err);
		text = bt_strbuf_str(&json);
	} else if (args->content_type.length != 0 &&
		!bt_str_equal_c(args->content_type, "application/json")) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "not supported content type %.*s",
			BT_STR_ARG(args->content_type));
	}
	if (result == BERTH_OK) {
		result = decode(schema, text, &scratch, bt_arena_of(arena), into, err);
	}
	bt_arena_finish(&scratch);
	bt_strbuf_finish(&json);
	return result;
}
