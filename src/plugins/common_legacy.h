/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_LEGACY_H
#define BT_PLUGINS_COMMON_LEGACY_H
/** What the legacy plugins share: arguments, resource sums of v1.12, hints. Spec: 05b. */
#include "api/resources.h"
#include "codec/json.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"

/** Score range of the v1.12 formulas that spec 05b keeps: 0 to MaxPriority. */
#define BT_LEGACY_MAX_PRIORITY 10

/** Entries an argument list may have; more is refused. */
#define BT_LEGACY_ARGS_LIST_MAX 1024

/**
 * The arguments as a JSON object (NULL: none given). fields: the names allowed besides apiVersion
 * and kind. Memory comes from the arena. Errors name kind_name and the field: `NodeLabelArgs:
 * unknown field "presentLabel"`.
 */
BT_MUST_USE int bt_legacy_args_open(const struct bt_plugin_args *args, const char *kind_name,
	const char *const *fields, size_t field_count, struct bt_arena *arena,
	const struct bt_json_value **out_value, struct berth_error *err);
/** A list of strings; absent or null: empty. value NULL: empty. */
BT_MUST_USE int bt_legacy_args_str_list(const struct bt_json_value *value, const char *kind_name,
	const char *field, struct bt_arena *arena, bt_str_list *out_list, struct berth_error *err);
/** Instance of a plugin that keeps what its arguments say; others begin with it. */
struct bt_legacy_plugin {
	struct bt_plain_plugin base;
	struct bt_arena arena; /* of the arguments */
};

/** Instance of so many bytes, its arguments read by load. */
BT_MUST_USE int bt_legacy_create(const struct bt_plugin_ops *ops, size_t size,
	int (*load)(struct bt_legacy_plugin *plugin, const struct bt_plugin_args *args,
		struct berth_error *err),
	const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err);
/** Destroy of an instance that owns nothing but its arguments. */
void bt_legacy_destroy(struct bt_plugin *plugin);
/** For plugins without arguments: any but an empty object is refused. */
BT_MUST_USE int bt_legacy_create_plain(const struct bt_plugin_ops *ops,
	const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err);

/**
 * Requests (limits: with_limits) as v1.12 saw them: per name the larger of the sum over containers
 * and each init container; no sidecars, overhead, pod level or status. Spec 05b B4 (e), B11. In the
 * arena.
 */
struct bt_resource bt_legacy_pod_resources(
	const struct bt_pod_spec *spec, bool with_limits, struct bt_arena *arena);

/** The slot has a node object; the cache also keeps entries for nodes it only knows from pods. */
static inline bool bt_legacy_has_node(const struct bt_node_info *node)
{
	return node->state->nodes.rows[node->slot].has_node;
}

/* --- Old predicate names of what today's plugins check: filters under those names, for profiles
 * and policies that use them. Spec: 05b A1, C2. --- */

extern const struct bt_plugin_ops bt_legacy_check_node_unschedulable_plugin;
extern const struct bt_plugin_ops bt_legacy_check_volume_binding_plugin;
extern const struct bt_plugin_ops bt_legacy_match_inter_pod_affinity_plugin;
extern const struct bt_plugin_ops bt_legacy_max_csi_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_no_disk_conflict_plugin;
extern const struct bt_plugin_ops bt_legacy_no_volume_zone_conflict_plugin;
#endif
