/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_PLUGIN_H
#define BT_PLUGINS_COMMON_PLUGIN_H
/** What every plugin file needs: instances, cycle data, the pod's spec, wrapping integer
 * arithmetic. */
#include "base/compiler.h"
#include "framework/cluster_event.h"
#include "framework/plugin.h"

/** Instance of a plugin that keeps nothing but its handle; other instances begin with it. */
struct bt_plain_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle; /* borrowed for the life of the framework */
};

/** Create of a plugin without arguments. */
int bt_plain_plugin_create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err);
/** Destroy of every instance that owns nothing. */
void bt_plain_plugin_destroy(struct bt_plugin *plugin);

/**
 * Check that args are of this kind and valid. With another kind: `<text> <kind name>Args, got
 * <type>`, where text is "want args to be of type" or "args are not of type" (spec 10 section 7.5).
 */
BT_MUST_USE int bt_plugin_args_expect(const struct bt_plugin_args *args,
	enum bt_plugin_args_kind kind, const char *text, const struct bt_handle *handle,
	struct berth_error *err);

static inline const struct bt_handle *bt_plugin_handle(const struct bt_plugin *plugin)
{
	return ((const struct bt_plain_plugin *)(const void *)plugin)->handle;
}

static inline bool bt_plugin_gate(const struct bt_plugin *plugin, enum bt_gate gate)
{
	return bt_gate_enabled(bt_plugin_handle(plugin)->gates, gate);
}

/** The part of a pod that shapes share; what pure PreFilter and PreScore functions may read and
 * point into. */
static inline const struct bt_pod_spec *bt_plugin_pod_spec(const struct bt_pod_info *pod)
{
	return &pod->shape->pod->spec;
}

/** "" when the pod is in no group. */
static inline struct bt_str bt_plugin_pod_group_name(const struct bt_pod_spec *spec)
{
	return spec->scheduling_group != NULL ? spec->scheduling_group->pod_group_name
					      : (struct bt_str){0};
}

/** The pod is bound or nominated: its resources count somewhere. */
static inline bool bt_plugin_pod_is_placed(const struct bt_pod *pod)
{
	return pod->spec.node_name.length != 0 || pod->status.nominated_node_name.length != 0;
}

/* Data by plugin index; NULL = PreFilter (PreScore) has not written any. */

static inline const void *bt_plugin_pre_filter_data(
	const struct bt_plugin *plugin, const struct bt_cycle_state *cycle)
{
	return cycle->pre_filter_data[plugin->index];
}

static inline void bt_plugin_set_pre_filter_data(
	const struct bt_plugin *plugin, struct bt_cycle_state *cycle, void *data)
{
	cycle->pre_filter_data[plugin->index] = data;
}

static inline const void *bt_plugin_pre_score_data(
	const struct bt_plugin *plugin, const struct bt_cycle_state *cycle)
{
	return cycle->pre_score_data[plugin->index];
}

static inline void bt_plugin_set_pre_score_data(
	const struct bt_plugin *plugin, struct bt_cycle_state *cycle, void *data)
{
	cycle->pre_score_data[plugin->index] = data;
}

/** A hint: the change is one of the waiting pod itself, which Filter will look at. */
enum bt_queueing_hint bt_hint_if_pod_itself(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	const void *old_object, const void *new_object, struct berth_error *err);

/** An image's name; without tag or digest it means the tag "latest". */
struct bt_str bt_image_normalized_name(struct bt_str name, struct bt_arena *arena);

/** Toward zero; what does not fit becomes INT64_MIN. */
static inline int64_t bt_trunc_to_i64(double value)
{
	return value > -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}
#endif
