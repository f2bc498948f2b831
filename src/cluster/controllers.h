/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CONTROLLERS_H
#define BT_CLUSTER_CONTROLLERS_H
/**
 * The simulated part of a cluster beside the API server: the controllers of
 * kube-controller-manager, and an agent for each node in place of kubelets. They observe changes
 * after the commit, as a watch would show them, and write through the API as clients do, never
 * inside a request. Spec: 14b sections 6 to 10.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "base/error.h"
#include "server/api.h"

struct bt_hub; /* cluster/controller.h */

/**
 * Receives the pods that controllers create, in clusters that run no pods. These pods are not
 * stored, so that many pods of one template cost little; controllers count them as pending. No
 * Events are written, and one sync creates all pods of a workload.
 */
struct bt_pod_taker {
	void *context; /* borrowed */
	/**
	 * pod: a tree with metadata.namespace, borrowed for the call. repeated: equal to the pod of
	 * the previous call except for its name. Returns 201 with the pod's name and uid, or the
	 * code of a failure.
	 */
	uint16_t (*take)(void *context, const struct bt_json_value *pod, bool repeated,
		struct bt_str *out_name, struct bt_str *out_uid);
};

/** Annotation of pods: how long their containers run. */
#define BT_ANNOTATION_RUN_TIME "berth.dev/run-time"

struct bt_controllers_options {
	/**
	 * Each entry is a name or several names joined by commas, as in kube-controller-manager's
	 * --controllers: "*" is all, "-foo" is all but foo, even without "*" (unlike there). NULL:
	 * all controllers run. If the controllers of persistent volumes, node life cycle or
	 * protection do not run (bt_controllers_has), the caller must configure admission so that
	 * it does not add the finalizers and taints that these controllers would remove.
	 */
	const char *const *names;
	uint32_t name_count;
	/**
	 * Delays, in the cluster's time: a node agent starts a pod after pod_start_delay_ns and
	 * stops a pod after pod_stop_delay_ns; the provisioner creates a volume after
	 * provision_delay_ns.
	 */
	int64_t pod_start_delay_ns;
	int64_t pod_stop_delay_ns;
	int64_t provision_delay_ns;
	/**
	 * How long a pod of a Job runs before it ends; the pod's annotation "berth.dev/run-time" (a
	 * duration) overrides this time. 0: pods end as soon as they run.
	 */
	int64_t job_run_time_ns;
	/**
	 * Where clients find the API server, for Service `kubernetes`; NULL: no such Service.
	 * Borrowed.
	 */
	const char *api_address;
	uint16_t api_port;
	/**
	 * PEM certificates that verify the API server, for the ConfigMap kube-root-ca.crt; NULL:
	 * none. Borrowed.
	 */
	const char *root_ca;
	/**
	 * The key of root_ca, PEM, which signs the certificates of CertificateSigningRequests.
	 * NULL: no request is signed. Borrowed.
	 */
	const char *root_ca_key;
	struct bt_pod_taker pods; /* pods.take NULL: pods are created through the API */
};

extern const struct bt_controllers_options bt_controllers_default_options;

/**
 * Subscribes to the store's changes and reports every stored object to the controllers as added.
 * api: borrowed. An unknown controller name is an error.
 */
BT_MUST_USE int bt_controllers_create(struct bt_api *api,
	const struct bt_controllers_options *options, struct bt_hub **out_hub,
	struct berth_error *err);
/** NULL accepted. */
void bt_controllers_destroy(struct bt_hub *hub);
bool bt_controllers_has(const struct bt_controllers_options *options, const char *name);
/**
 * Does a bounded amount of due work. Returns when to call again at the latest, in the cluster's
 * time: now or earlier if more work is due, INT64_MAX if nothing is due before the next change.
 */
int64_t bt_controllers_run(struct bt_hub *hub, int64_t now_ns);
/**
 * After a run: returns whether anything is due, now or later, besides periodic work (leases,
 * schedules of CronJobs) and keys whose retries have reached the longest delay.
 */
bool bt_controllers_have_work(const struct bt_hub *hub);
/** With a pod taker: adds an existing pod, so that controllers count it. */
void bt_controllers_add_pod(struct bt_hub *hub, const struct bt_json_value *pod);

/** Checks that options->names has no unknown controllers. */
BT_MUST_USE int bt_controllers_check_names(
	const struct bt_controllers_options *options, struct berth_error *err);

/** --- disruption budgets --- */

/**
 * Returns the status that the disruption controller gives a budget: the numbers, without
 * disruptedPods. pods: matching pods; healthy: those of them that are healthy; scale: sum of the
 * scales of their controllers. Spec: 14b section 6.7.
 */
struct bt_pod_disruption_budget_status bt_disruption_status(
	const struct bt_pod_disruption_budget_spec *spec, int64_t pods, int64_t scale,
	int32_t healthy);

/** --- nodes --- */

/** The nodes that --nodes makes. */
struct bt_node_template {
	uint32_t count;
	uint32_t zone_count;     /* topology.kubernetes.io/zone "zone-a", ...; 0: no label */
	const char *cpu;         /* "8" */
	const char *memory;      /* "32Gi" */
	const char *pods;        /* "110" */
	const char *name_prefix; /* "node-" */
};

/**
 * Creates those nodes of the template that do not exist, and gives them condition Ready. Errors
 * have the API server's text.
 */
BT_MUST_USE int bt_controllers_add_nodes(
	struct bt_hub *hub, const struct bt_node_template *template_, struct berth_error *err);
#endif
