/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_MANIFESTS_IMPORT_H
#define BT_REPLAY_MANIFESTS_IMPORT_H
/** Makes recordings from manifests: a cluster, and pods that arrive one after the other. */
#include "replay/import.h"

/** Annotation: when a pod arrives, since the start, as a duration: "90s". */
#define BT_ANNOTATION_ARRIVES_AFTER "berth.dev/arrives-after"

/**
 * Parses "poisson:5/s", "poisson:0.5/m", "poisson:100/h". text NULL: *out_per_second is 0, and all
 * pods arrive at the start.
 */
BT_MUST_USE int bt_arrivals_parse(
	const char *text, double *out_per_second, struct berth_error *err);
/**
 * Pods without a node arrive in the order of the input, including those that controllers make for
 * workloads. All other objects are in the cluster at the start.
 */
BT_MUST_USE int bt_import_manifests(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
#endif
