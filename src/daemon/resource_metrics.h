/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_RESOURCE_METRICS_H
#define BT_DAEMON_RESOURCE_METRICS_H
/**
 * Metrics of the resource requests and limits of pods (/metrics/resources, in the text form of
 * Prometheus: spec 11 section 10.5), and of this process: process_* (read from /proc when metrics
 * are written), build, versions, feature gates (spec 11 section 10.6). There are no go_* metrics,
 * because there is no Go runtime.
 */
#include "api/pod.h"
#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "config/gates.h"
#include "config/versions.h"
#include "daemon/build_info.h"
#include "metrics/metrics.h"

struct bt_pod_sample_texts {
	struct bt_str namespace_;
	struct bt_str node_name;
	struct bt_str name;
	struct bt_str limits; /* samples, as written */
	struct bt_str requests;
};

/** Samples of the resources of pods; all zero: no pods. */
struct bt_pod_samples {
	BT_VEC(struct bt_pod_sample_texts) pods;
	struct bt_arena arena; /* for the texts in `pods` */
	struct bt_arena scratch;
	struct bt_strbuf text;
};

/** Add a pod, of any schedulerName, assigned or not. The pod is borrowed for this call. */
void bt_pod_samples_add(struct bt_pod_samples *list, const struct bt_pod *pod);
/**
 * Append kube_pod_resource_limit and kube_pod_resource_request, each ordered by namespace, node and
 * name of the pods, and release the pods. Appends nothing if there are no pods.
 */
void bt_pod_samples_write(struct bt_pod_samples *list, struct bt_strbuf *out);

/**
 * Register and set the metrics of this process. All state is in `metrics`. started_ns: when the
 * process started, wall clock.
 */
void bt_process_metrics_register(struct bt_metrics *metrics, int64_t started_ns,
	const struct bt_build *build, const struct bt_versions *versions,
	const struct bt_gates *gates);

#endif
