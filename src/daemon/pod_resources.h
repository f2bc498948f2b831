/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_POD_RESOURCES_H
#define BT_DAEMON_POD_RESOURCES_H
/** /metrics/resources: what pods ask for, in the text form of Prometheus. Spec: 11 section 10.5. */
#include "api/pod.h"
#include "base/strbuf.h"

/** Where the pods come from: those of every scheduler, assigned or not. */
struct bt_pod_source {
	/** Call visit with each pod; they must stay until the text is written. */
	void (*for_each)(void *context, void (*visit)(void *visitor, const struct bt_pod *pod),
		void *visitor);
	void *context;
};

/** Appends both families, pods in order of namespace, node and name. Nothing without pods. */
void bt_pod_resources_write(const struct bt_pod_source *source, struct bt_strbuf *out);
#endif
