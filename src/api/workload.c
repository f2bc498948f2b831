/* SPDX-License-Identifier: Apache-2.0 */
#include "api/workload.h"

#include "api/field_rows.h"

static const struct bt_field namespace_rows[] = {
	BT_ROW_MSG(bt_namespace, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
};
const struct bt_message bt_namespace_message =
	BT_MESSAGE(bt_namespace, "Namespace", namespace_rows);

static const struct bt_field service_spec_rows[] = {
	BT_ROW_STR_MAP(bt_service_spec, selector, "selector", 2),
};
static const struct bt_message service_spec_message =
	BT_MESSAGE(bt_service_spec, "ServiceSpec", service_spec_rows);

static const struct bt_field service_rows[] = {
	BT_ROW_MSG(bt_service, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_service, spec, "spec", 2, bt_service_spec, service_spec_message),
};
const struct bt_message bt_service_message = BT_MESSAGE(bt_service, "Service", service_rows);

static const struct bt_field pod_template_rows[] = {
	BT_ROW_MSG(
		bt_pod_template, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_pod_template, spec, "spec", 2, bt_pod_spec, bt_pod_spec_message),
};
const struct bt_message bt_pod_template_message =
	BT_MESSAGE(bt_pod_template, "PodTemplateSpec", pod_template_rows);

static const struct bt_field replication_controller_spec_rows[] = {
	BT_ROW_I32_NULLABLE(bt_replication_controller_spec, replicas, "replicas", 1),
	BT_ROW_STR_MAP(bt_replication_controller_spec, selector, "selector", 2),
	BT_ROW_MSG_NULLABLE(bt_replication_controller_spec, template_, "template", 3,
		bt_pod_template, bt_pod_template_message),
};
static const struct bt_message replication_controller_spec_message =
	BT_MESSAGE(bt_replication_controller_spec, "ReplicationControllerSpec",
		replication_controller_spec_rows);

static const struct bt_field replication_controller_rows[] = {
	BT_ROW_MSG(bt_replication_controller, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_replication_controller, spec, "spec", 2, bt_replication_controller_spec,
		replication_controller_spec_message),
};
const struct bt_message bt_replication_controller_message =
	BT_MESSAGE(bt_replication_controller, "ReplicationController", replication_controller_rows);

static const struct bt_field replica_set_spec_rows[] = {
	BT_ROW_I32_NULLABLE(bt_replica_set_spec, replicas, "replicas", 1),
	BT_ROW_MSG_NULLABLE(bt_replica_set_spec, selector, "selector", 2, bt_label_selector,
		bt_label_selector_message),
	BT_ROW_MSG(bt_replica_set_spec, template_, "template", 3, bt_pod_template,
		bt_pod_template_message),
	BT_ROW_BOOL(bt_replica_set_spec, paused, "paused", 7),
};
static const struct bt_message replica_set_spec_message =
	BT_MESSAGE(bt_replica_set_spec, "ReplicaSetSpec", replica_set_spec_rows);

static const struct bt_field replica_set_rows[] = {
	BT_ROW_MSG(bt_replica_set, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_replica_set, spec, "spec", 2, bt_replica_set_spec, replica_set_spec_message),
};
const struct bt_message bt_replica_set_message =
	BT_MESSAGE(bt_replica_set, "ReplicaSet", replica_set_rows);

static const struct bt_field deployment_rows[] = {
	BT_ROW_MSG(bt_deployment, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_deployment, spec, "spec", 2, bt_replica_set_spec, replica_set_spec_message),
};
const struct bt_message bt_deployment_message =
	BT_MESSAGE(bt_deployment, "Deployment", deployment_rows);

static const struct bt_field update_strategy_rows[] = {
	BT_ROW_STR(bt_update_strategy, type, "type", 1),
};
static const struct bt_message update_strategy_message =
	BT_MESSAGE(bt_update_strategy, "UpdateStrategy", update_strategy_rows);

static const struct bt_field stateful_set_ordinals_rows[] = {
	BT_ROW_I32_ALWAYS(bt_stateful_set_ordinals, start, "start", 1),
};
static const struct bt_message stateful_set_ordinals_message =
	BT_MESSAGE(bt_stateful_set_ordinals, "StatefulSetOrdinals", stateful_set_ordinals_rows);

static const struct bt_field stateful_set_spec_rows[] = {
	BT_ROW_I32_NULLABLE(bt_stateful_set_spec, replicas, "replicas", 1),
	BT_ROW_MSG_NULLABLE(bt_stateful_set_spec, selector, "selector", 2, bt_label_selector,
		bt_label_selector_message),
	BT_ROW_MSG(bt_stateful_set_spec, template_, "template", 3, bt_pod_template,
		bt_pod_template_message),
	BT_ROW_MSG_LIST(bt_stateful_set_spec, volume_claim_templates, "volumeClaimTemplates", 4,
		bt_persistent_volume_claim, bt_persistent_volume_claim_message),
	BT_ROW_STR(bt_stateful_set_spec, service_name, "serviceName", 5),
	BT_ROW_MSG(bt_stateful_set_spec, update_strategy, "updateStrategy", 7, bt_update_strategy,
		update_strategy_message),
	BT_ROW_MSG_NULLABLE(bt_stateful_set_spec, ordinals, "ordinals", 11,
		bt_stateful_set_ordinals, stateful_set_ordinals_message),
};
static const struct bt_message stateful_set_spec_message =
	BT_MESSAGE(bt_stateful_set_spec, "StatefulSetSpec", stateful_set_spec_rows);

static const struct bt_field stateful_set_rows[] = {
	BT_ROW_MSG(
		bt_stateful_set, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(
		bt_stateful_set, spec, "spec", 2, bt_stateful_set_spec, stateful_set_spec_message),
};
const struct bt_message bt_stateful_set_message =
	BT_MESSAGE(bt_stateful_set, "StatefulSet", stateful_set_rows);

static const struct bt_field daemon_set_spec_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_daemon_set_spec, selector, "selector", 1, bt_label_selector,
		bt_label_selector_message),
	BT_ROW_MSG(bt_daemon_set_spec, template_, "template", 2, bt_pod_template,
		bt_pod_template_message),
	BT_ROW_MSG(bt_daemon_set_spec, update_strategy, "updateStrategy", 3, bt_update_strategy,
		update_strategy_message),
};
static const struct bt_message daemon_set_spec_message =
	BT_MESSAGE(bt_daemon_set_spec, "DaemonSetSpec", daemon_set_spec_rows);

static const struct bt_field daemon_set_rows[] = {
	BT_ROW_MSG(bt_daemon_set, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_daemon_set, spec, "spec", 2, bt_daemon_set_spec, daemon_set_spec_message),
};
const struct bt_message bt_daemon_set_message =
	BT_MESSAGE(bt_daemon_set, "DaemonSet", daemon_set_rows);

static const struct bt_field job_spec_rows[] = {
	BT_ROW_I32_NULLABLE(bt_job_spec, parallelism, "parallelism", 1),
	BT_ROW_I32_NULLABLE(bt_job_spec, completions, "completions", 2),
	BT_ROW_MSG_NULLABLE(
		bt_job_spec, selector, "selector", 4, bt_label_selector, bt_label_selector_message),
	BT_ROW_MSG(bt_job_spec, template_, "template", 6, bt_pod_template, bt_pod_template_message),
	BT_ROW_STR_NULLABLE(bt_job_spec, completion_mode, "completionMode", 9),
	BT_ROW_BOOL_NULLABLE(bt_job_spec, suspend, "suspend", 10),
};
static const struct bt_message job_spec_message = BT_MESSAGE(bt_job_spec, "JobSpec", job_spec_rows);

static const struct bt_field job_condition_rows[] = {
	BT_ROW_STR_ALWAYS(bt_job_condition, type, "type", 1),
	BT_ROW_STR_ALWAYS(bt_job_condition, status, "status", 2),
};
static const struct bt_message job_condition_message =
	BT_MESSAGE(bt_job_condition, "JobCondition", job_condition_rows);

static const struct bt_field job_status_rows[] = {
	BT_ROW_MSG_LIST(bt_job_status, conditions, "conditions", 1, bt_job_condition,
		job_condition_message),
	BT_ROW_I32(bt_job_status, succeeded, "succeeded", 5),
	BT_ROW_STR(bt_job_status, completed_indexes, "completedIndexes", 7),
};
static const struct bt_message job_status_message =
	BT_MESSAGE(bt_job_status, "JobStatus", job_status_rows);

static const struct bt_field job_rows[] = {
	BT_ROW_MSG(bt_job, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_job, spec, "spec", 2, bt_job_spec, job_spec_message),
	BT_ROW_MSG(bt_job, status, "status", 3, bt_job_status, job_status_message),
};
const struct bt_message bt_job_message = BT_MESSAGE(bt_job, "Job", job_rows);

static const struct bt_field job_template_rows[] = {
	BT_ROW_MSG(
		bt_job_template, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_job_template, spec, "spec", 2, bt_job_spec, job_spec_message),
};
static const struct bt_message job_template_message =
	BT_MESSAGE(bt_job_template, "JobTemplateSpec", job_template_rows);

static const struct bt_field cron_job_spec_rows[] = {
	BT_ROW_STR_ALWAYS(bt_cron_job_spec, schedule, "schedule", 1),
	BT_ROW_BOOL_NULLABLE(bt_cron_job_spec, suspend, "suspend", 4),
	BT_ROW_MSG(bt_cron_job_spec, job_template, "jobTemplate", 5, bt_job_template,
		job_template_message),
};
static const struct bt_message cron_job_spec_message =
	BT_MESSAGE(bt_cron_job_spec, "CronJobSpec", cron_job_spec_rows);

static const struct bt_field cron_job_rows[] = {
	BT_ROW_MSG(bt_cron_job, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_cron_job, spec, "spec", 2, bt_cron_job_spec, cron_job_spec_message),
};
const struct bt_message bt_cron_job_message = BT_MESSAGE(bt_cron_job, "CronJob", cron_job_rows);

const struct bt_pod_template *bt_workload_template(const struct bt_object *object)
{
	const void *value = object->value;
	switch ((int)object->kind) {
	case BT_KIND_DEPLOYMENT:
		return &((const struct bt_deployment *)value)->spec.template_;
	case BT_KIND_REPLICA_SET:
		return &((const struct bt_replica_set *)value)->spec.template_;
	case BT_KIND_REPLICATION_CONTROLLER:
		return ((const struct bt_replication_controller *)value)->spec.template_;
	case BT_KIND_STATEFUL_SET:
		return &((const struct bt_stateful_set *)value)->spec.template_;
	case BT_KIND_DAEMON_SET:
		return &((const struct bt_daemon_set *)value)->spec.template_;
	case BT_KIND_JOB:
		return &((const struct bt_job *)value)->spec.template_;
	case BT_KIND_CRON_JOB:
		return &((const struct bt_cron_job *)value)->spec.job_template.spec.template_;
	default:
		return NULL;
	}
}
