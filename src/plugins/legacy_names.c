/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CheckNodeUnschedulable, CheckVolumeBinding, MatchInterPodAffinity, MaxCSIVolumeCountPred,
 * NoDiskConflict, NoVolumeZoneConflict (Filter): instances of today's plugins under the old names,
 * with their default arguments and without scores, which predicates do not give. Spec: 05b A1, C2.
 */
#include "plugins/legacy_names.h"

#include "base/alloc.h"
#include "config/default.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"

/** What an old name stands for. */
struct meaning {
	const struct bt_plugin_ops *plugin;
	enum bt_plugin_args_kind args_kind;
};

/** The table of one instance: that of the plugin, but for the name and what is left out. */
struct renamed {
	struct bt_plugin_ops ops; /* first: what the instance points to */
	const struct bt_plugin_ops *plugin;
	struct bt_plugin_args args;
	struct bt_arena arena; /* of args */
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
	renamed->plugin->destroy(plugin);
	finish_renamed(renamed);
}

static void fill_ops(struct renamed *renamed, const char *name)
{
	struct bt_plugin_ops *ops = &renamed->ops;

	*ops = *renamed->plugin;
	ops->name = name;
	ops->destroy = destroy;
	ops->pre_score = NULL;
	ops->score = NULL;
	ops->normalize = BT_NORMALIZE_NONE;
	ops->normalize_score = NULL;
	ops->score_column_data = NULL;
	ops->score_column = NULL;
	ops->score_fits_column = NULL;
	ops->score_is_constant = NULL;
	ops->pre_score_skips = NULL;
	ops->score_slots = NULL;
	ops->normalize_column = NULL;
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
	int code = meaning->plugin->create(&renamed->args, handle, &plugin, err);

	if (code != 0) {
		finish_renamed(renamed);
		return code;
	}
	fill_ops(renamed, ops->name);
	plugin->ops = &renamed->ops;
	*out_plugin = plugin;
	return 0;
}

#define RENAMED(function, old_name, today, kind) \
	static const struct meaning meaning_of_##function = {&bt_##today##_plugin, kind}; \
	const struct bt_plugin_ops bt_legacy_##function##_plugin = { \
		.name = old_name, \
		.create_from = create, \
		.context = &meaning_of_##function, \
	};

RENAMED(check_node_unschedulable, "CheckNodeUnschedulable", node_unschedulable, BT_ARGS_NONE)
RENAMED(check_volume_binding, "CheckVolumeBinding", volume_binding, BT_ARGS_VOLUME_BINDING)
RENAMED(match_inter_pod_affinity, "MatchInterPodAffinity", inter_pod_affinity,
	BT_ARGS_INTER_POD_AFFINITY)
RENAMED(max_csi_volume_count, "MaxCSIVolumeCountPred", node_volume_limits, BT_ARGS_NONE)
RENAMED(no_disk_conflict, "NoDiskConflict", volume_restrictions, BT_ARGS_NONE)
RENAMED(no_volume_zone_conflict, "NoVolumeZoneConflict", volume_zone, BT_ARGS_NONE)
