/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/strbuf.h"
#include "berth/config.h"
#include "berth/plugin.h"
#include "config/gates.h"
#include "config/schema.h"
#include "lib/convert.h"
#include "lib/document.h"

#define SAME_POINT(name) \
	_Static_assert((int)BERTH_POINT_##name == (int)BT_POINT_##name, "one order of points")
SAME_POINT(PRE_FILTER);
SAME_POINT(FILTER);
SAME_POINT(POST_FILTER);
SAME_POINT(RESERVE);
SAME_POINT(PRE_SCORE);
SAME_POINT(SCORE);
SAME_POINT(PRE_BIND);
SAME_POINT(BIND);
SAME_POINT(POST_BIND);
SAME_POINT(PERMIT);
SAME_POINT(PRE_ENQUEUE);
SAME_POINT(QUEUE_SORT);
SAME_POINT(PLACEMENT_GENERATE);
SAME_POINT(PLACEMENT_SCORE);
_Static_assert((int)BERTH_POINT_MULTI_POINT == (int)BT_POINT__COUNT, "multiPoint is the last");

const char *berth_extension_point_name(enum berth_extension_point point)
{
	if (point == BERTH_POINT_MULTI_POINT) {
		return "MultiPoint";
	}
	return (uint32_t)point < BT_POINT__COUNT
		? bt_extension_point_name((enum bt_extension_point)point)
		: "";
}

int berth_config_load(struct berth_str text, const char *feature_gates,
	struct berth_config **out_config, struct berth_error *err)
{
	struct bt_gates gates = bt_gates_default();
	struct bt_config *config = NULL;
	int result = BERTH_OK;

	if (feature_gates != NULL && feature_gates[0] != '\0') {
		result = bt_gates_set(&gates, bt_str_from(feature_gates), err);
	}
	if (result == BERTH_OK) {
		result = bt_document_load_config(text, &gates, NULL, &config, err);
	}
	if (result == BERTH_OK) {
		*out_config = berth_config_of(config);
	}
	return result;
}

struct berth_config *berth_config_create_default(void)
{
	struct bt_gates gates = bt_gates_default();

	return berth_config_of(bt_config_create_default(&gates));
}

struct berth_config *berth_config_share(struct berth_config *config)
{
	return berth_config_of(bt_config_ref(bt_config_of(config)));
}

void berth_config_release(struct berth_config *config)
{
	if (config != NULL) {
		bt_config_unref(bt_config_of(config));
	}
}

int32_t berth_config_percentage_of_nodes_to_score(const struct berth_config *config)
{
	return bt_const_config_of(config)->document.percentage_of_nodes_to_score.value;
}

uint32_t berth_config_profile_count(const struct berth_config *config)
{
	return bt_const_config_of(config)->document.profiles.count;
}

const struct berth_profile *berth_config_profile_at(
	const struct berth_config *config, uint32_t index)
{
	return berth_const_profile_of(&bt_const_config_of(config)->document.profiles.items[index]);
}

BT_LIB_GETTER(struct berth_str, berth_profile_scheduler_name, profile, scheduler_name)

const struct berth_plugins *berth_profile_plugins(const struct berth_profile *profile)
{
	return berth_const_plugins_of(bt_const_profile_of(profile)->plugins);
}

BT_LIB_GETTER(uint32_t, berth_profile_plugin_config_count, profile, plugin_config.count)

struct berth_raw_args bt_raw_args_of(const struct bt_plugin_args *args)
{
	struct berth_raw_args raw = {.content_type = BT_STR("application/json")};

	if (args == NULL) {
		return raw;
	}
	if (args->kind == BT_ARGS_OTHER) {
		raw.raw = args->raw;
	}
	raw.type_name = bt_str_from(bt_plugin_args_kind_name(args->kind));
	return raw;
}

struct berth_plugin_config berth_profile_plugin_config_at(
	const struct berth_profile *profile, uint32_t index)
{
	const struct bt_config_profile *inside = bt_const_profile_of(profile);

	BT_ASSERT(index < inside->plugin_config.count);
	return (struct berth_plugin_config){
		.name = inside->plugin_config.items[index].name,
		.args = bt_raw_args_of(&inside->plugin_config.items[index].args),
	};
}

static const struct bt_config_plugin_set *set_of(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	const struct bt_config_plugins *inside = bt_const_plugins_of(plugins);

	BT_ASSERT((int)point >= 0 && point <= BERTH_POINT_MULTI_POINT);
	return point == BERTH_POINT_MULTI_POINT ? &inside->multi_point : &inside->points[point];
}

static struct berth_plugin_entry entry_at(const bt_config_plugin_list *list, uint32_t index)
{
	BT_ASSERT(index < list->count);
	return (struct berth_plugin_entry){
		.name = list->items[index].name, .weight = list->items[index].weight};
}

uint32_t berth_plugins_enabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	return set_of(plugins, point)->enabled.count;
}

struct berth_plugin_entry berth_plugins_enabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index)
{
	return entry_at(&set_of(plugins, point)->enabled, index);
}

uint32_t berth_plugins_disabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	return set_of(plugins, point)->disabled.count;
}

struct berth_plugin_entry berth_plugins_disabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index)
{
	return entry_at(&set_of(plugins, point)->disabled, index);
}

#define FIELDS_MAX 64
#define ARGS_BYTES_MAX BT_CONFIG_BYTES_MAX

_Static_assert(sizeof(struct berth_args_list) == sizeof(bt_str_list) &&
		offsetof(struct berth_args_list, count) == offsetof(bt_str_list, count) &&
		offsetof(struct berth_args_list, present) == offsetof(bt_str_list, present),
	"lists are lists of the decoder");

static const struct {
	uint8_t kind;
	bool nested;
	uint32_t size; /* of the member; BERTH_ARGS_OBJECT: 0, its schema has the size */
} kinds[] = {
	[BERTH_ARGS_STR] = {BT_CONFIG_SCHEMA_STR, false, sizeof(struct berth_str)},
	[BERTH_ARGS_BOOL] = {BT_CONFIG_SCHEMA_BOOL, false, sizeof(bool)},
	[BERTH_ARGS_INT32] = {BT_CONFIG_SCHEMA_I32, false, sizeof(int32_t)},
	[BERTH_ARGS_INT64] = {BT_CONFIG_SCHEMA_I64, false, sizeof(int64_t)},
	[BERTH_ARGS_FLOAT] = {BT_CONFIG_SCHEMA_F32, false, sizeof(float)},
	[BERTH_ARGS_DURATION] = {BT_CONFIG_SCHEMA_DURATION, false, sizeof(int64_t)},
	[BERTH_ARGS_STR_LIST] = {BT_CONFIG_SCHEMA_STR_LIST, false, sizeof(struct berth_args_list)},
	[BERTH_ARGS_OBJECT] = {BT_CONFIG_SCHEMA_STRUCT, true, 0},
	[BERTH_ARGS_LIST] = {BT_CONFIG_SCHEMA_LIST, true, sizeof(struct berth_args_list)},
};

BT_COMPARE(compare_fields, struct bt_config_schema_field, strcmp(a->name, b->name))

static int bad_table(const struct berth_args_schema *schema, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INTERNAL, "the table of %s is not valid",
		schema != NULL && schema->type_name != NULL ? schema->type_name : "arguments");
}

/**
 * Translates the schema of a plugin's arguments to the form that the configuration decoder reads.
 * The result is in the arena. depth is the number of schemas that enclose this schema.
 */
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

		if ((size_t)field->type >= BT_ARRAY_LENGTH(kinds) || field->name == NULL) {
			return bad_table(schema, err);
		}
		size_t size = field->type == BERTH_ARGS_OBJECT && field->schema != NULL
			? field->schema->size
			: kinds[field->type].size;

		if (field->offset > schema->size || size > schema->size - field->offset) {
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
		const struct bt_config_schema *translated = NULL;
		struct bt_json_value *value = NULL;

		result = translate(schema, &scratch, 0, &translated, err);
		if (result == BERTH_OK) {
			result = bt_json_parse(&scratch, text, false, &value, err);
		}
		if (result == BERTH_OK) {
			result = bt_config_schema_decode(
				translated, value, bt_arena_of(arena), into, err);
		}
		if (result == BERTH_OK && schema->strict) {
			struct bt_strict_errors complaints = {.count = 0};

			bt_config_schema_find_strict_errors(
				translated, value, &scratch, &complaints);
			if (complaints.count != 0) {
				result = bt_error_set(err, BERTH_ERR_INVALID,
					"strict decoding error: %.*s",
					BT_STR_ARG(complaints.items[0]));
			}
		}
	}
	bt_arena_finish(&scratch);
	bt_strbuf_finish(&json);
	return result;
}
