/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_USAGE_H
#define BT_SERVER_USAGE_H
/**
 * What simulated pods use, as metrics.k8s.io shows it and HorizontalPodAutoscalers see it. A text
 * says how much, by the annotations of a pod or the options of the API:
 *
 *     250m                 so much, divided evenly among the pod's containers
 *     50%                  that share of what each container requests
 *     100m..500m/10m       from the first to the second and back in each period
 *     20%..90%/1h
 *
 * Spec: 14b section 6.9.
 */
#include "server/api.h"

#define BT_ANNOTATION_CPU_USAGE "berth.dev/cpu-usage"
#define BT_ANNOTATION_MEMORY_USAGE "berth.dev/memory-usage"
/** How long a sample lasts, as metrics-server takes them. */
#define BT_USAGE_WINDOW_SECONDS 15

struct bt_usage {
	int64_t cpu_nano;
	int64_t memory_bytes;
};

/** An error names what is wrong with a text of the form above. */
BT_MUST_USE int bt_usage_check(const char *text, struct berth_error *err);
/** The level of an amount or a curve now; false: the text is a share or malformed. */
bool bt_usage_level(const struct bt_api *api, struct bt_str text, double *out_level);
/** The pod runs, so that its use can be measured. */
bool bt_usage_is_known(const struct bt_json_value *pod);
/** Of one of spec.containers. */
struct bt_usage bt_usage_of_container(const struct bt_api *api, const struct bt_json_value *pod,
	const struct bt_json_value *container);
/** Of all pods on the node. Looks at every pod at most once in a window. */
struct bt_usage bt_usage_of_node(struct bt_api *api, struct bt_str name);
#endif
