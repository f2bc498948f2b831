/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_WORKLOAD_H
#define BT_API_WORKLOAD_H
/**
 * Namespaces, services and the owners of pods. A scheduler reads the selectors only (spec 01
 * section 4.6); templates and counts are for simulation, which expands owners into pods.
 */
#include "api/meta.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/storage.h"

struct bt_namespace {
	struct bt_object_meta metadata;
};

struct bt_service_spec {
	struct bt_str_map selector; /* absent selects no pod, empty selects all */
};

struct bt_service {
	struct bt_object_meta metadata;
	struct bt_service_spec spec;
};

struct bt_pod_template {
	struct bt_object_meta metadata;
	struct bt_pod_spec spec;
};

struct bt_replication_controller_spec {
	struct bt_opt_i32 replicas; /* absent: 1 */
	struct bt_str_map selector;
	const struct bt_pod_template *template_;
};

struct bt_replication_controller {
	struct bt_object_meta metadata;
	struct bt_replication_controller_spec spec;
};

/** ReplicaSet, Deployment: what a simulation reads of them has the same form. */
struct bt_replica_set_spec {
	struct bt_opt_i32 replicas; /* absent: 1 */
	const struct bt_label_selector *selector;
	struct bt_pod_template template_;
	bool paused; /* Deployment */
};

struct bt_replica_set {
	struct bt_object_meta metadata;
	struct bt_replica_set_spec spec;
};

struct bt_deployment {
	struct bt_object_meta metadata;
	struct bt_replica_set_spec spec;
};

/** How pods follow the template; of StatefulSets and DaemonSets. */
struct bt_update_strategy {
	struct bt_str type; /* "": RollingUpdate */
};

struct bt_stateful_set_ordinals {
	int32_t start;
};

struct bt_stateful_set_spec {
	struct bt_opt_i32 replicas; /* absent: 1 */
	const struct bt_label_selector *selector;
	struct bt_pod_template template_;
	BT_LIST(struct bt_persistent_volume_claim) volume_claim_templates;
	struct bt_str service_name;
	struct bt_update_strategy update_strategy;
	const struct bt_stateful_set_ordinals *ordinals;
};

struct bt_stateful_set {
	struct bt_object_meta metadata;
	struct bt_stateful_set_spec spec;
};

struct bt_daemon_set_spec {
	const struct bt_label_selector *selector;
	struct bt_pod_template template_;
	struct bt_update_strategy update_strategy;
};

struct bt_daemon_set {
	struct bt_object_meta metadata;
	struct bt_daemon_set_spec spec;
};

struct bt_job_spec {
	struct bt_opt_i32 parallelism; /* absent: 1 */
	struct bt_opt_i32 completions;
	const struct bt_label_selector *selector;
	struct bt_pod_template template_;
	struct bt_str completion_mode; /* nullable: NonIndexed */
	struct bt_opt_bool suspend;
};

struct bt_job_condition {
	struct bt_str type; /* Complete, Failed, ... */
	struct bt_str status;
};

struct bt_job_status {
	BT_LIST(struct bt_job_condition) conditions;
	int32_t succeeded;
	struct bt_str completed_indexes; /* "1,3-5": ascending */
};

struct bt_job {
	struct bt_object_meta metadata;
	struct bt_job_spec spec;
	struct bt_job_status status;
};

struct bt_job_template {
	struct bt_object_meta metadata;
	struct bt_job_spec spec;
};

struct bt_cron_job_spec {
	struct bt_str schedule;
	struct bt_opt_bool suspend;
	struct bt_job_template job_template;
};

struct bt_cron_job {
	struct bt_object_meta metadata;
	struct bt_cron_job_spec spec;
};

extern const struct bt_message bt_namespace_message;
extern const struct bt_message bt_service_message;
extern const struct bt_message bt_pod_template_message;
extern const struct bt_message bt_replication_controller_message;
extern const struct bt_message bt_replica_set_message;
extern const struct bt_message bt_deployment_message;
extern const struct bt_message bt_stateful_set_message;
extern const struct bt_message bt_daemon_set_message;
extern const struct bt_message bt_job_message;
extern const struct bt_message bt_cron_job_message;

/** The template of a workload's pods; NULL: the kind makes no pods, or (ReplicationController)
 * has no template. */
const struct bt_pod_template *bt_workload_template(const struct bt_object *object);
#endif
