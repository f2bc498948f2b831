/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_RESOURCE_METRICS_H
#define BT_DAEMON_RESOURCE_METRICS_H
/**
 * Metrics of what pods request (/metrics/resources, in the text form of Prometheus: spec 11 section
 * 10.5) and of the program itself: process_* (read from /proc when they are written), the build,
 * the versions it stands for, its feature gates. Spec: 11 section 10.6. There are no go_* metrics:
 * nothing here is a Go runtime.
 */
#include "api/pod.h"
#include "base/strbuf.h"
#include "config/gates.h"
#include "config/versions.h"
#include "daemon/build_info.h"
#include "metrics/metrics.h"

/** Where the pods come from: those of every scheduler, assigned or not. */
struct bt_pod_source {
	/** Call visit with each pod; they must stay until the text is written. */
	void (*for_each)(void *context, void (*visit)(void *visitor, const struct bt_pod *pod),
		void *visitor);
	void *context;
};

/** Appends both families, pods in order of namespace, node and name. Nothing without pods. */
void bt_pod_resources_write(const struct bt_pod_source *source, struct bt_strbuf *out);

/** Registers and sets all of them. Nothing is kept but what metrics has. */
void bt_process_metrics_register(struct bt_metrics *metrics, const struct bt_build *build,
	const struct bt_versions *versions, const struct bt_gates *gates);

#endif
