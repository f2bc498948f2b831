/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_LEGACY_H
#define BT_PLUGINS_COMMON_LEGACY_H
/**
 * Helpers shared by the legacy plugins: arguments, resource sums of v1.12, renamed filters. Spec:
 * 05b.
 */
#include "api/resources.h"
#include "codec/json.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"

/** Score range of the v1.12 formulas that spec 05b keeps: 0 to MaxPriority. */
#define BT_LEGACY_MAX_PRIORITY 10

/** Maximum number of entries in a list argument. Longer lists are an error. */
#define BT_LEGACY_ARGS_LIST_MAX 1024

/**
 * Parse the arguments as a JSON object. *out_value is NULL if the arguments are absent or null.
 * fields: the allowed names besides apiVersion and kind. Memory comes from the arena. Errors name
 * kind_name and the field: `NodeLabelArgs: unknown field "presentLabel"`.
 */
BT_MUST_USE int bt_legacy_args_open(const struct bt_plugin_args *args, const char *kind_name,
	const char *const *fields, size_t field_count, struct bt_arena *arena,
	const struct bt_json_value **out_value, struct berth_error *err);
/** First member of an instance that keeps its parsed arguments. */
struct bt_legacy_plugin {
	struct bt_plain_plugin base;
	struct bt_arena arena; /* memory of the arguments */
};

/**
 * Read arguments whose only fields are lists of strings: *lists[i] gets the field fields[i], and is
 * empty if the field is absent or null. Memory comes from the arena of the plugin.
 */
BT_MUST_USE int bt_legacy_args_str_lists(struct bt_legacy_plugin *plugin,
	const struct bt_plugin_args *args, const char *kind_name, const char *const *fields,
	bt_str_list *const *lists, size_t count, struct berth_error *err);
/** Destroy an instance that owns only its arguments. */
void bt_legacy_destroy(struct bt_plugin *plugin);
/** Check the arguments of a plugin without arguments: absent, null and empty ones are accepted. */
BT_MUST_USE int bt_legacy_init_plain(
	struct bt_plugin *plugin, const struct bt_plugin_args *args, struct berth_error *err);

/**
 * Returns the pod's requests (limits if with_limits) as v1.12 computed them: for each resource the
 * maximum of the sum over containers and of each init container. Sidecars count as init containers;
 * overhead, pod-level resources and status do not count. Memory comes from the arena. Spec: 05b B4
 * (e), B11.
 */
struct bt_resource bt_legacy_pod_resources(
	const struct bt_pod_spec *spec, bool with_limits, struct bt_arena *arena);
#endif
