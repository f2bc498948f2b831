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
#include "base/strbuf.h"
#include "config/gates.h"
#include "config/versions.h"
#include "daemon/build_info.h"
#include "metrics/metrics.h"

/** Source of pods: all pods, of any schedulerName, assigned or not. */
struct bt_pod_source {
	/** Call visit for each pod; the pod is borrowed for that call. */
	void (*for_each)(void *context, void (*visit)(void *visitor, const struct bt_pod *pod),
		void *visitor);
	void *context;
};

/**
 * Append kube_pod_resource_limit and kube_pod_resource_request, each ordered by namespace, node and
 * name of the pods. Appends nothing if there are no pods.
 */
void bt_pod_resources_write(const struct bt_pod_source *source, struct bt_strbuf *out);

/** Register and set the metrics of this process. All state is in `metrics`. */
void bt_process_metrics_register(struct bt_metrics *metrics, const struct bt_build *build,
	const struct bt_versions *versions, const struct bt_gates *gates);

#endif
