/* SPDX-License-Identifier: Apache-2.0 */
#include "config/schema.h"

#include <string.h>

#include "base/assert.h"

const char *bt_config_schema_name(const struct bt_config_schema *schema)
{
	const char *dot = strchr(schema->go_type, '.');
	BT_ASSERT(dot != NULL);
	return dot + 1;
}

enum bt_plugin_args_kind bt_config_schema_args_kind_named(struct bt_str name)
{
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		if (bt_config_args_schemas[i] != NULL &&
			bt_str_equal_c(name, bt_config_schema_name(bt_config_args_schemas[i]))) {
			return (enum bt_plugin_args_kind)i;
		}
	}
	return BT_ARGS_OTHER;
}

enum bt_plugin_args_kind bt_config_schema_args_kind_of(struct bt_str plugin)
{
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		if (bt_config_args_schemas[i] == NULL) {
			continue;
		}
		struct bt_str name = bt_str_from(bt_config_schema_name(bt_config_args_schemas[i]));
		if (bt_str_equal(plugin, bt_str_sub(name, 0, name.length - 4))) {
			return (enum bt_plugin_args_kind)i;
		}
	}
	return BT_ARGS_OTHER;
}

void *bt_plugin_args_body(struct bt_plugin_args *args)
{
	return &args->node_resources_fit;
}

const struct bt_config_schema_field *bt_config_schema_find(
	const struct bt_config_schema *schema, struct bt_str name)
{
	for (uint32_t i = 0; i < schema->field_count; i++) {
		if (bt_str_equal_c(name, schema->fields[i].name)) {
			return &schema->fields[i];
		}
	}
	return NULL;
}

const char *bt_plugin_args_kind_name(enum bt_plugin_args_kind kind)
{
	const struct bt_config_schema *schema = bt_config_args_schemas[kind];
	return schema != NULL ? bt_config_schema_name(schema) : NULL;
}
