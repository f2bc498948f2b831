/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_USAGE_H
#define BT_SERVER_USAGE_H
/**
 * CPU and memory usage of simulated pods, as metrics.k8s.io shows it and HorizontalPodAutoscalers
 * see it. An annotation of the pod or an option of the API gives the amount:
 *
 *     250m                 this amount, divided evenly among the pod's containers
 *     50%                  this share of each container's request
 *     100m..500m/10m       from the first amount to the second and back in each period
 *     20%..90%/1h
 *
 * Spec: 14b section 6.9.
 */
#include "server/api.h"

#define BT_ANNOTATION_CPU_USAGE "berth.dev/cpu-usage"
#define BT_ANNOTATION_MEMORY_USAGE "berth.dev/memory-usage"
/** The length of a sample, as in metrics-server. */
#define BT_USAGE_WINDOW_SECONDS 15

struct bt_usage {
	int64_t cpu_nano;
	int64_t memory_bytes;
};

/** Checks that the text has the form above; the error says what is wrong. */
BT_MUST_USE int bt_usage_check(const char *text, struct berth_error *err);
/**
 * Sets *out_level to the current level of an amount or a curve. Returns false if the text is a
 * share or malformed.
 */
bool bt_usage_level(const struct bt_api *api, struct bt_str text, double *out_level);
/** Returns whether the pod runs, so that its usage can be measured. */
bool bt_usage_is_known(const struct bt_json_value *pod);
/** Returns the usage of one of spec.containers. */
struct bt_usage bt_usage_of_container(const struct bt_api *api, const struct bt_json_value *pod,
	const struct bt_json_value *container);
/** Returns the usage of all pods on the node. The pods are summed at most once per window. */
struct bt_usage bt_usage_of_node(struct bt_api *api, struct bt_str name);
#endif
