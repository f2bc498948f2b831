/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "codec/base64.h"
#include "config/default.h"

/*
 * Writes a value with the members of all objects sorted by name. The recursion is bounded, because
 * the depth of a document is limited.
 */
static void write_sorted(struct bt_json_writer *writer, const struct bt_json_value *value)
{
	if (value->type == BT_JSON_ARRAY) {
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < value->count; i++) {
			write_sorted(writer, value->elements[i]);
		}
		bt_json_end_array(writer);
	} else if (value->type == BT_JSON_OBJECT) {
		struct bt_json_member *members = value->members;
		if (value->count > 1) {
			qsort(members, value->count, sizeof(*members), bt_str_compare_qsort);
		}
		bt_json_begin_object(writer);
		for (uint32_t i = 0; i < value->count; i++) {
			bt_json_write_name(writer, members[i].name);
			write_sorted(writer, members[i].value);
		}
		bt_json_end_object(writer);
	} else {
		bt_json_write_value(writer, value);
	}
}

static void write_struct(
	struct bt_json_writer *writer, const struct bt_config_schema *schema, const char *at);

static void write_args(struct bt_json_writer *writer, const struct bt_plugin_args *args)
{
	const struct bt_config_schema *schema = bt_config_args_schemas[args->kind];
	if (schema != NULL) {
		write_struct(writer, schema, (const char *)&args->node_resources_fit);
	} else {
		struct bt_arena arena = {0};
		struct bt_json_value *value = NULL;
		if (args->raw.length == 0 ||
			bt_json_parse(&arena, args->raw, false, &value, NULL) != 0) {
			bt_json_write_null(writer);
		} else {
			write_sorted(writer, value);
		}
		bt_arena_finish(&arena);
	}
}

static void write_text(struct bt_json_writer *writer, struct bt_strbuf *text)
{
	bt_json_write_str(writer, bt_strbuf_str(text));
	bt_strbuf_finish(text);
}

/* Writes the shortest decimal number that a reader converts back to the same float. */
static void write_float(struct bt_json_writer *writer, float value)
{
	struct bt_strbuf text = {0};
	for (int digits = 1; digits <= 9; digits++) {
		bt_strbuf_reset(&text);
		bt_strbuf_printf(&text, "%.*e", digits - 1, (double)value);
		if (!(strtof(bt_strbuf_c(&text), NULL) < value) &&
			!(strtof(bt_strbuf_c(&text), NULL) > value)) {
			break;
		}
	}
	bt_json_write_double(writer, strtod(bt_strbuf_c(&text), NULL));
	bt_strbuf_finish(&text);
}

static void write_list(
	struct bt_json_writer *writer, const struct bt_config_schema *schema, const char *at)
{
	struct bt_any_list list;
	memcpy(&list, at, sizeof(list));
	if (!list.present && list.count == 0) {
		bt_json_write_null(writer);
		return;
	}
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < list.count; i++) {
		if (schema != NULL) {
			write_struct(writer, schema,
				(const char *)list.items + (size_t)i * schema->size);
		} else {
			bt_json_write_str(writer, ((const struct bt_str *)list.items)[i]);
		}
	}
	bt_json_end_array(writer);
}

static void write_value(struct bt_json_writer *writer, const struct bt_config_schema *schema,
	const struct bt_config_schema_field *field, const void *at)
{
	struct bt_strbuf text = {0};
	const char *pointee;
	switch ((enum bt_config_schema_kind)field->kind) {
	case BT_CONFIG_SCHEMA_VERSION:
		bt_json_write_c(writer, BT_CONFIG_API_VERSION);
		break;
	case BT_CONFIG_SCHEMA_KIND:
		bt_json_write_c(writer, bt_config_schema_name(schema));
		break;
	case BT_CONFIG_SCHEMA_STR:
		bt_json_write_str(writer, *(const struct bt_str *)at);
		break;
	case BT_CONFIG_SCHEMA_BOOL:
		bt_json_write_bool(writer, *(const bool *)at);
		break;
	case BT_CONFIG_SCHEMA_I32:
		bt_json_write_int64(writer, *(const int32_t *)at);
		break;
	case BT_CONFIG_SCHEMA_I64:
		bt_json_write_int64(writer, *(const int64_t *)at);
		break;
	case BT_CONFIG_SCHEMA_F32:
		write_float(writer, *(const float *)at);
		break;
	case BT_CONFIG_SCHEMA_DURATION:
		bt_duration_format(*(const int64_t *)at, &text);
		write_text(writer, &text);
		break;
	case BT_CONFIG_SCHEMA_BYTES:
		bt_base64_encode(*(const struct bt_str *)at, &text);
		write_text(writer, &text);
		break;
	case BT_CONFIG_SCHEMA_STRUCT:
		write_struct(writer, field->schema, at);
		break;
	case BT_CONFIG_SCHEMA_POINTER:
		memcpy(&pointee, at, sizeof(pointee));
		if (pointee != NULL) {
			write_struct(writer, field->schema, pointee);
		} else {
			bt_json_write_null(writer);
		}
		break;
	case BT_CONFIG_SCHEMA_LIST:
	case BT_CONFIG_SCHEMA_STR_LIST:
		write_list(writer, field->schema, at);
		break;
	case BT_CONFIG_SCHEMA_STR_MAP: {
		const struct bt_str_map *map = at;
		bt_json_begin_object(writer);
		for (uint32_t i = 0; i < map->count; i++) {
			bt_json_write(writer, "%s: %s", map->items[i].key, map->items[i].value);
		}
		bt_json_end_object(writer);
		break;
	}
	case BT_CONFIG_SCHEMA_ARGS:
		write_args(writer, at);
		break;
	}
}

/* Returns true if Go's omitempty would omit the value of the field. */
static bool is_empty(const struct bt_config_schema_field *field, const void *at)
{
	static const char
		zeros[sizeof(void *) > sizeof(int64_t) ? sizeof(void *) : sizeof(int64_t)];
	struct bt_any_list list;
	switch ((enum bt_config_schema_kind)field->kind) {
	case BT_CONFIG_SCHEMA_STR:
	case BT_CONFIG_SCHEMA_BYTES:
		return ((const struct bt_str *)at)->length == 0;
	case BT_CONFIG_SCHEMA_BOOL:
		return memcmp(at, zeros, sizeof(bool)) == 0;
	case BT_CONFIG_SCHEMA_I32:
	case BT_CONFIG_SCHEMA_F32:
		return memcmp(at, zeros, sizeof(int32_t)) == 0;
	case BT_CONFIG_SCHEMA_I64:
	case BT_CONFIG_SCHEMA_DURATION:
		return memcmp(at, zeros, sizeof(int64_t)) == 0;
	case BT_CONFIG_SCHEMA_POINTER:
		return memcmp(at, zeros, sizeof(void *)) == 0;
	case BT_CONFIG_SCHEMA_LIST:
	case BT_CONFIG_SCHEMA_STR_LIST:
	case BT_CONFIG_SCHEMA_STR_MAP:
		memcpy(&list, at, sizeof(list));
		return list.count == 0;
	case BT_CONFIG_SCHEMA_ARGS:
		return ((const struct bt_plugin_args *)at)->kind == BT_ARGS_NONE;
	case BT_CONFIG_SCHEMA_VERSION:
	case BT_CONFIG_SCHEMA_KIND:
	case BT_CONFIG_SCHEMA_STRUCT:
		break;
	}
	return false;
}

static void write_struct(
	struct bt_json_writer *writer, const struct bt_config_schema *schema, const char *at)
{
	bt_json_begin_object(writer);
	for (uint32_t i = 0; i < schema->field_count; i++) {
		const struct bt_config_schema_field *field = &schema->fields[i];
		bool always = (field->flags & BT_CONFIG_SCHEMA_ALWAYS) != 0;
		bool absent = false;
		if ((field->flags & BT_CONFIG_SCHEMA_PRESENT) != 0) {
			memcpy(&absent, at + field->present_offset, sizeof(absent));
			absent = !absent;
		} else if (!always) {
			absent = is_empty(field, at + field->offset);
		}
		if (absent && !always) {
			continue;
		}
		bt_json_write_name_c(writer, field->name);
		if (absent) {
			bt_json_write_null(writer);
		} else {
			write_value(writer, schema, field, at + field->offset);
		}
	}
	bt_json_end_object(writer);
}

/*
 * Reduces pluginConfig to the entries of enabled plugins, sorted by plugin name. The profile
 * that upstream builds has the same entries in the same order (spec 10 section 7.4).
 */
static void capture(struct bt_config_profile *profile, struct bt_arena *arena)
{
	bt_str_list names = bt_plugins_enabled_names(profile->plugins, arena);
	struct bt_config_plugin_config *items = BT_ARENA_NEW_ARRAY(
		arena, struct bt_config_plugin_config, profile->plugin_config.count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		const struct bt_config_plugin_config *config = &profile->plugin_config.items[i];
		if (config->args.kind != BT_ARGS_NONE && names.count > 0 &&
			bsearch(&config->name, names.items, names.count, sizeof(*names.items),
				bt_str_compare_qsort) != NULL) {
			items[count++] = *config;
		}
	}
	if (count > 1) {
		qsort(items, count, sizeof(*items), bt_str_compare_qsort);
	}
	profile->plugin_config.items = items;
	profile->plugin_config.count = count;
}

static void write_document(const struct bt_config *config, bool captured, struct bt_strbuf *out)
{
	struct bt_config_document document = config->document;
	struct bt_arena arena = {0};
	struct bt_json_writer writer;

	document.profiles.items =
		BT_ARENA_NEW_ARRAY(&arena, struct bt_config_profile, document.profiles.count);
	for (uint32_t i = 0; i < document.profiles.count; i++) {
		document.profiles.items[i] = config->document.profiles.items[i];
		if (captured) {
			capture(&document.profiles.items[i], &arena);
		}
	}
	document.extenders.items =
		BT_ARENA_NEW_ARRAY(&arena, struct bt_config_extender, document.extenders.count);
	for (uint32_t i = 0; i < document.extenders.count; i++) {
		document.extenders.items[i] = config->document.extenders.items[i];
		if (document.extenders.items[i].http_timeout_ns == 0) {
			/*
			 * Upstream sets this default when the client is built, before the
			 * configuration is written.
			 */
			document.extenders.items[i].http_timeout_ns = 5 * BT_NS_PER_SECOND;
		}
	}
	bt_json_writer_init(&writer, out, 0);
	write_struct(&writer, &bt_config_document_schema, (const char *)&document);
	bt_arena_finish(&arena);
}

void bt_plugin_args_write(const struct bt_plugin_args *args, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	write_args(&writer, args);
}

void bt_config_write(const struct bt_config *config, struct bt_strbuf *out)
{
	write_document(config, true, out);
}

void bt_config_write_stored(const struct bt_config *config, struct bt_strbuf *out)
{
	write_document(config, false, out);
}
