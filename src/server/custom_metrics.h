/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_METRICS_H
#define BT_SERVER_CUSTOM_METRICS_H
/**
 * Custom and external metrics of a simulated cluster. Annotations give the values of the metrics.
 * custom.metrics.k8s.io and external.metrics.k8s.io serve the metrics, and HorizontalPodAutoscalers
 * scale by them. An annotation is a list of entries separated by commas, with the labels of a
 * metric in braces:
 *
 *     http_requests=20, queue_length{queue=mail}=10..50/10m
 *
 * Values are amounts and curves as in server/usage.h, without shares. A malformed entry ends the
 * list. Spec: 14b section 6.9.
 */
#include "api/selector.h"
#include "server/api.h"

/** Annotation with the metrics of the object that carries it. */
#define BT_ANNOTATION_METRICS "berth.dev/metrics"
/** Annotation of a Namespace with the metrics that belong to no object of the cluster. */
#define BT_ANNOTATION_EXTERNAL_METRICS "berth.dev/external-metrics"

#define BT_EXTERNAL_METRICS_GROUP "external.metrics.k8s.io"
#define BT_CUSTOM_METRICS_VERSIONS 3

/** A served version of custom or external metrics. */
struct bt_custom_metrics_version {
	const char *group;
	const char *version;
};
/** The preferred version of each group comes first. */
extern const struct bt_custom_metrics_version
	bt_custom_metrics_versions[BT_CUSTOM_METRICS_VERSIONS];

struct bt_custom_metric {
	struct bt_str name;
	struct bt_str_map labels;
	double value;
};

/** Returns the text of an annotation, for bt_custom_metric_next; borrowed. */
struct bt_str bt_custom_metrics_of(const struct bt_json_value *object, const char *annotation);
/**
 * Cuts entries off `*rest`, up to and including the next entry that has this name and whose labels
 * match the selector. false: there is no such entry.
 */
bool bt_custom_metric_next(const struct bt_api *api, struct bt_str *rest, struct bt_str name,
	const struct bt_selector *selector, struct bt_arena *arena,
	struct bt_custom_metric *out_metric);
/** Sets *out_sum to the sum of the matching entries. Returns false if no entry matches. */
bool bt_custom_metric_sum(const struct bt_api *api, const struct bt_json_value *object,
	const char *annotation, struct bt_str name, const struct bt_selector *selector,
	struct bt_arena *arena, double *out_sum);
/** Formats a value as a quantity: "20", "1500m". */
struct bt_str bt_custom_metric_quantity(struct bt_arena *arena, double value);
#endif
