/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_METRICS_H
#define BT_SERVER_CUSTOM_METRICS_H
/**
 * Metrics that nothing measures in a simulated cluster: annotations say their values.
 * custom.metrics.k8s.io and external.metrics.k8s.io show them, HorizontalPodAutoscalers scale by
 * them. An annotation has entries with commas between them, the labels of a metric in braces:
 *
 *     http_requests=20, queue_length{queue=mail}=10..50/10m
 *
 * Values are amounts and curves as in server/usage.h, without shares. An entry that is malformed
 * ends the list. Spec: 14b section 6.9.
 */
#include "api/selector.h"
#include "server/api.h"

/** Of the object that has the annotation. */
#define BT_ANNOTATION_METRICS "berth.dev/metrics"
/** On a Namespace: metrics that belong to no object of the cluster. */
#define BT_ANNOTATION_EXTERNAL_METRICS "berth.dev/external-metrics"

/** Versions of both groups, NULL behind the last one; the first is preferred. NULL: another group.
 */
const char *const *bt_custom_metrics_versions(struct bt_str group);
/** "custom.metrics.k8s.io", "external.metrics.k8s.io"; NULL behind the last one. */
extern const char *const bt_custom_metrics_groups[];

struct bt_custom_metric {
	struct bt_str name;
	struct bt_str_map labels;
	double value;
};

/** The entries of an annotation of an object, one after the other. All-zero memory but for text. */
struct bt_custom_metric_walk {
	struct bt_str rest;
};

struct bt_custom_metric_walk bt_custom_metrics_of(
	const struct bt_json_value *object, const char *annotation);
/** The next entry of that name with labels that the selector matches; false: there is no more. */
bool bt_custom_metric_next(const struct bt_api *api, struct bt_custom_metric_walk *walk,
	struct bt_str name, const struct bt_selector *selector, struct bt_arena *arena,
	struct bt_custom_metric *out_metric);
/** The sum of these entries; false: there is none. */
bool bt_custom_metric_sum(const struct bt_api *api, const struct bt_json_value *object,
	const char *annotation, struct bt_str name, const struct bt_selector *selector,
	struct bt_arena *arena, double *out_sum);
/** "20", "1500m" */
struct bt_str bt_custom_metric_quantity(struct bt_arena *arena, double value);
#endif
