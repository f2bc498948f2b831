/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_legacy.h"

#include "base/alloc.h"
#include "base/error.h"
#include "config/default.h"
#include "plugins/in_tree.h"

int bt_legacy_args_open(const struct bt_plugin_args *args, const char *kind_name,
	const char *const *fields, size_t field_count, struct bt_arena *arena,
	const struct bt_json_value **out_value, struct berth_error *err)
{
	struct bt_json_value *value = NULL;

	if (args == NULL || args->kind == BT_ARGS_NONE || args->raw.data == NULL) {
		*out_value = NULL;
		return 0;
	}
	/* Copy the arguments, because the instance outlives their text. */
	int code = bt_json_parse(arena, args->raw, true, &value, err);
	if (code != 0) {
		return bt_error_wrap(err, code, "%s", kind_name);
	}
	if (value->type == BT_JSON_NULL) {
		*out_value = NULL;
		return 0;
	}
	if (value->type != BT_JSON_OBJECT) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: expected object, got %s",
			kind_name, bt_json_type_name(value->type));
	}
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_str name = value->members[i].name;
		if (!bt_str_equal_c(name, "apiVersion") && !bt_str_equal_c(name, "kind") &&
			!bt_str_is_one_of(name, fields, field_count)) {
			return bt_error_set(err, BERTH_ERR_INVALID, "%s: unknown field \"%.*s\"",
				kind_name, BT_STR_ARG(name));
		}
	}
	*out_value = value;
	return 0;
}

int bt_legacy_args_str_lists(struct bt_legacy_plugin *plugin, const struct bt_plugin_args *args,
	const char *kind_name, const char *const *fields, bt_str_list *const *lists, size_t count,
	struct berth_error *err)
{
	const struct bt_json_value *value;
	int code = bt_legacy_args_open(args, kind_name, fields, count, &plugin->arena, &value, err);

	if (code != 0) {
		return code;
	}
	for (size_t i = 0; i < count; i++) {
		const struct bt_json_value *list = bt_json_find(value, fields[i]);
		bt_str_list *out = lists[i];

		*out = (bt_str_list){0};
		if (list == NULL || list->type == BT_JSON_NULL) {
			continue;
		}
		if (list->type != BT_JSON_ARRAY) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: %s: expected array, got %s", kind_name, fields[i],
				bt_json_type_name(list->type));
		}
		if (list->count > BT_LEGACY_ARGS_LIST_MAX) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"%s: %s: more than %d entries", kind_name, fields[i],
				BT_LEGACY_ARGS_LIST_MAX);
		}
		out->items = BT_ARENA_NEW_ARRAY(&plugin->arena, struct bt_str, list->count);
		out->present = true;
		for (uint32_t k = 0; k < list->count; k++) {
			if (list->elements[k]->type != BT_JSON_STRING) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"%s: %s[%u]: expected string, got %s", kind_name, fields[i],
					k, bt_json_type_name(list->elements[k]->type));
			}
			out->items[out->count++] = list->elements[k]->text;
		}
	}
	return 0;
}

void bt_legacy_destroy(struct bt_plugin *plugin)
{
	bt_arena_finish(&((struct bt_legacy_plugin *)(void *)plugin)->arena);
	bt_free(plugin);
}

int bt_legacy_init_plain(
	struct bt_plugin *plugin, const struct bt_plugin_args *args, struct berth_error *err)
{
	const struct bt_json_value *value;
	struct bt_arena arena = {0};
	int code = bt_legacy_args_open(args, plugin->ops->name, NULL, 0, &arena, &value, err);

	bt_arena_finish(&arena);
	return code;
}

struct bt_resource bt_legacy_pod_resources(
	const struct bt_pod_spec *spec, bool with_limits, struct bt_arena *arena)
{
	const bt_container_list *const lists[] = {&spec->containers, &spec->init_containers};
	struct bt_resource result = {0};

	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		for (uint32_t i = 0; i < lists[n]->count; i++) {
			const struct bt_resource_requirements *resources =
				&lists[n]->items[i].resources;
			const struct bt_resource_list *amounts =
				with_limits ? &resources->limits : &resources->requests;

			if (n == 0) {
				bt_resource_add(&result, amounts, arena);
			} else {
				bt_resource_set_max(&result, amounts, arena);
			}
		}
	}
	return result;
}

/**
 * CheckNodeUnschedulable, CheckVolumeBinding, MatchInterPodAffinity, MaxCSIVolumeCountPred,
 * NoDiskConflict, NoVolumeZoneConflict (Filter): instances of the current plugins under the old
 * names, with default arguments and without scores. Spec: 05b A1, C2.
 */

/** The current plugin that implements an old predicate name. */
struct meaning {
	const struct bt_plugin_ops *plugin;
	enum bt_plugin_args_kind args_kind;
};

/**
 * Operations of one instance: a copy of the current plugin's operations, with the old name and
 * without scores.
 */
struct renamed {
	struct bt_plugin_ops ops; /* first, because plugin->ops points to it */
	struct bt_plugin_shortcuts shortcuts;
	const struct bt_plugin_ops *plugin;
	struct bt_plugin_args args;
	struct bt_arena arena; /* memory of args */
};

static void finish_renamed(struct renamed *renamed)
{
	bt_arena_finish(&renamed->arena);
	bt_free(renamed);
}

static void destroy(struct bt_plugin *plugin)
{
	struct renamed *renamed = (struct renamed *)(void *)(uintptr_t)plugin->ops;

	plugin->ops = renamed->plugin;
	bt_plugin_destroy(plugin);
	finish_renamed(renamed);
}

static int create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	const struct meaning *meaning = ops->context;

	if (args->kind != BT_ARGS_NONE) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "predicate %s takes no arguments", ops->name);
	}
	struct renamed *renamed = BT_NEW(struct renamed);
	struct bt_plugin *plugin = NULL;

	renamed->plugin = meaning->plugin;
	renamed->args.kind = meaning->args_kind;
	if (meaning->args_kind != BT_ARGS_NONE) {
		bt_plugin_args_default(&renamed->args, handle->gates, &renamed->arena);
	}
	int code = bt_plugin_create(meaning->plugin, &renamed->args, handle, &plugin, err);

	if (code != 0) {
		finish_renamed(renamed);
		return code;
	}
	struct bt_plugin_ops *changed = &renamed->ops;

	*changed = *renamed->plugin;
	changed->name = ops->name;
	changed->destroy = destroy;
	changed->pre_score = NULL;
	changed->score = NULL;
	changed->normalize = BT_NORMALIZE_NONE;
	changed->normalize_score = NULL;
	if (changed->shortcuts != NULL) {
		renamed->shortcuts = *changed->shortcuts;
	}
	changed->shortcuts = &renamed->shortcuts;
	renamed->shortcuts.score_column_data = NULL;
	renamed->shortcuts.score_column = NULL;
	renamed->shortcuts.score_fits_column = NULL;
	renamed->shortcuts.score_is_constant = NULL;
	renamed->shortcuts.pre_score_skips = NULL;
	renamed->shortcuts.score_slots = NULL;
	plugin->ops = &renamed->ops;
	*out_plugin = plugin;
	return 0;
}

#define RENAMED(function, old_name, today, kind) \
	static const struct meaning meaning_of_##function = {&bt_##today##_plugin, kind}; \
	const struct bt_plugin_ops bt_legacy_##function##_plugin = { \
		.name = old_name, \
		.create = create, \
		.context = &meaning_of_##function, \
	};

RENAMED(check_node_unschedulable, "CheckNodeUnschedulable", node_unschedulable, BT_ARGS_NONE)
RENAMED(check_volume_binding, "CheckVolumeBinding", volume_binding, BT_ARGS_VOLUME_BINDING)
RENAMED(match_inter_pod_affinity, "MatchInterPodAffinity", inter_pod_affinity,
	BT_ARGS_INTER_POD_AFFINITY)
RENAMED(max_csi_volume_count, "MaxCSIVolumeCountPred", node_volume_limits, BT_ARGS_NONE)
RENAMED(no_disk_conflict, "NoDiskConflict", volume_restrictions, BT_ARGS_NONE)
RENAMED(no_volume_zone_conflict, "NoVolumeZoneConflict", volume_zone, BT_ARGS_NONE)
