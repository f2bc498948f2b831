/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_PLUGIN_H
#define BT_PLUGINS_COMMON_PLUGIN_H
/**
 * Helpers for all plugins: instances, cycle data, the pod's spec, images, ports, utilization
 * shapes.
 */
#include "base/compiler.h"
#include "framework/cluster_event.h"
#include "framework/plugin.h"

/** Returns `<what> "<name>" not found`, in the arena. */
struct bt_str bt_not_found_text(struct bt_arena *arena, const char *what, struct bt_str name);

static inline const struct bt_handle *bt_plugin_handle(const struct bt_plugin *plugin)
{
	return ((const struct bt_plain_plugin *)(const void *)plugin)->handle;
}

/** Returns the plugin's instance, which begins with a bt_plain_plugin. */
static inline void *bt_plugin_instance(const struct bt_plugin *plugin)
{
	return (void *)(uintptr_t)plugin;
}

static inline bool bt_plugin_gate(const struct bt_plugin *plugin, enum bt_gate gate)
{
	return bt_gate_enabled(bt_plugin_handle(plugin)->gates, gate);
}

/**
 * Returns the spec that all pods of the shape share. Pure PreFilter and PreScore functions may read
 * the spec and keep pointers into the spec.
 */
static inline const struct bt_pod_spec *bt_plugin_pod_spec(const struct bt_pod_info *pod)
{
	return &bt_shape_pod(pod->shape)->spec;
}

/** Returns the name of the pod group; empty if the pod is in no group. */
static inline struct bt_str bt_plugin_pod_group_name(const struct bt_pod_spec *spec)
{
	return spec->scheduling_group != NULL ? spec->scheduling_group->pod_group_name
					      : (struct bt_str){0};
}

/**
 * Whether the pod is bound or nominated. In both cases resources of a node are reserved for the
 * pod.
 */
static inline bool bt_plugin_pod_is_placed(const struct bt_pod *pod)
{
	return pod->spec.node_name.length != 0 || pod->status.nominated_node_name.length != 0;
}

/**
 * Queueing hint: queue if the changed pod is the waiting pod itself. Filter then evaluates the
 * change.
 */
bool bt_hint_if_pod_itself(const struct bt_hint_call *call);

/**
 * Returns ImageLocality's score for a pod with these images; the threshold grows with
 * container_count.
 */
int64_t bt_image_locality_score(
	const bt_str_list *names, int64_t container_count, const struct bt_node_info *node);
/** Whether a pod on the node uses one of the ports. */
bool bt_plugin_ports_conflict(const bt_host_port_list *wanted, const struct bt_node_info *node);

/**
 * Returns the image's name, with the tag "latest" added if the name has neither tag nor digest. The
 * result is the name itself or text in the arena.
 */
struct bt_str bt_image_normalized_name(struct bt_str name, struct bt_arena *arena);

/** A point of a utilization shape: the score at one utilization (percent). */
struct bt_shape_point {
	int64_t utilization;
	int64_t score;
};

/**
 * Returns the score at this utilization: linear interpolation between the points, constant outside
 * them (spec 05 section 3.9). Division truncates toward zero. points: at least one, with ascending
 * utilization.
 */
int64_t bt_broken_line(const struct bt_shape_point *points, uint32_t count, int64_t utilization);

/** Truncates toward zero. Returns INT64_MIN if the value does not fit. */
static inline int64_t bt_trunc_to_i64(double value)
{
	return value > -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}
#endif
