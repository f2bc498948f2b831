/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "config/default.h"

static const struct {
	const char *name;
	const char *member;
} points[BT_POINT__COUNT] = {
	[BT_POINT_PRE_FILTER] = {"PreFilter", "preFilter"},
	[BT_POINT_FILTER] = {"Filter", "filter"},
	[BT_POINT_POST_FILTER] = {"PostFilter", "postFilter"},
	[BT_POINT_RESERVE] = {"Reserve", "reserve"},
	[BT_POINT_PRE_SCORE] = {"PreScore", "preScore"},
	[BT_POINT_SCORE] = {"Score", "score"},
	[BT_POINT_PRE_BIND] = {"PreBind", "preBind"},
	[BT_POINT_BIND] = {"Bind", "bind"},
	[BT_POINT_POST_BIND] = {"PostBind", "postBind"},
	[BT_POINT_PERMIT] = {"Permit", "permit"},
	[BT_POINT_PRE_ENQUEUE] = {"PreEnqueue", "preEnqueue"},
	[BT_POINT_QUEUE_SORT] = {"QueueSort", "queueSort"},
	[BT_POINT_PLACEMENT_GENERATE] = {"PlacementGenerate", "placementGenerate"},
	[BT_POINT_PLACEMENT_SCORE] = {"PlacementScore", "placementScore"},
};

const enum bt_extension_point bt_config_plugins_points[BT_CONFIG_PLUGINS_POINTS] = {
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_RESERVE,
	BT_POINT_PERMIT,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
};

const char *bt_extension_point_name(enum bt_extension_point point)
{
	return points[point].name;
}

const char *bt_extension_point_member(enum bt_extension_point point)
{
	return points[point].member;
}

struct bt_config *bt_config_create(const struct bt_gates *gates)
{
	struct bt_config *config = BT_NEW(struct bt_config);
	config->ref_count = 1;
	config->gates = gates != NULL ? *gates : bt_gates_default();
	/*
	 * The defaults that must be set before decoding: an explicit zero in the text then replaces
	 * the default; a default set after decoding would replace the zero.
	 */
	config->document = (struct bt_config_document){
		.parallelism = 16,
		.leader_election = {.leader_elect = true},
		.enable_profiling = true,
		.pod_initial_backoff_seconds = 1,
		.pod_max_backoff_seconds = 10,
	};
	return config;
}

struct bt_config *bt_config_create_default(const struct bt_gates *gates)
{
	struct bt_config *config = bt_config_create(gates);
	bt_document_default(&config->document, &config->gates, &config->arena, &config->overridden);
	return config;
}

struct bt_config *bt_config_ref(struct bt_config *config)
{
	config->ref_count++;
	return config;
}

void bt_config_unref(struct bt_config *config)
{
	if (config == NULL) {
		return;
	}
	BT_ASSERT(config->ref_count > 0);
	if (--config->ref_count == 0) {
		bt_arena_finish(&config->arena);
		bt_free(config);
	}
}

const struct bt_plugin_args *bt_config_profile_find_args(
	const struct bt_config_profile *profile, struct bt_str plugin)
{
	const struct bt_config_plugin_config *found =
		BT_STR_FIND(&profile->plugin_config, name, plugin);

	return found != NULL ? &found->args : NULL;
}

const char *bt_config_schema_name(const struct bt_config_schema *schema)
{
	const char *dot = strchr(schema->go_type, '.');
	BT_ASSERT(dot != NULL);
	return dot + 1;
}

static enum bt_plugin_args_kind find_kind(struct bt_str name, bool is_plugin)
{
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		if (bt_config_args_schemas[i] == NULL) {
			continue;
		}
		struct bt_str own = bt_str_from(bt_config_schema_name(bt_config_args_schemas[i]));
		own.length -= is_plugin ? (uint32_t)strlen("Args") : 0;
		if (bt_str_equal(name, own)) {
			return (enum bt_plugin_args_kind)i;
		}
	}
	return BT_ARGS_OTHER;
}

enum bt_plugin_args_kind bt_config_schema_args_kind_named(struct bt_str name)
{
	return find_kind(name, false);
}

enum bt_plugin_args_kind bt_config_schema_args_kind_of(struct bt_str plugin)
{
	return find_kind(plugin, true);
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
