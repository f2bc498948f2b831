/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what makes pods. Spec: 14 section 18. */
#include <inttypes.h>

#include "base/nanoseconds.h"
#include "server/table_private.h"

#define CONTAINER_COLUMNS \
	{"Containers", "string", "", "Names of the pods' containers.", 1}, \
	{ \
		"Images", "string", "", "Images of the pods' containers.", 1 \
	}
#define SELECTOR_COLUMN \
	{ \
		"Selector", "string", "", "Selector of the pods.", 1 \
	}

static void cell_ready(const struct bt_table_row *row)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "%" PRId64 "/%" PRId64,
		bt_json_int64_at(row->object, "status.readyReplicas", 0),
		bt_json_int64_at(row->object, "spec.replicas", 0));
	bt_cell_buffer(row, &text, "");
}

static const struct bt_table_column deployment_columns[] = {
	BT_COLUMN_NAME,
	{"Ready", "string", "", "Pods that are ready, of those wanted.", 0},
	{"Up-to-date", "string", "", "Pods that are of the newest template.", 0},
	{"Available", "string", "", "Pods that have been ready for long enough.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
	SELECTOR_COLUMN,
};

static void write_deployment(const struct bt_table_row *row)
{
	bt_cell_name(row);
	cell_ready(row);
	bt_cell_int(row, "status.updatedReplicas", 0);
	bt_cell_int(row, "status.availableReplicas", 0);
	bt_cell_age(row);
	bt_cell_containers(row, "spec.template.spec");
	bt_cell_selector(row, "spec.selector");
}

static const struct bt_table_column replica_columns[] = {
	BT_COLUMN_NAME,
	{"Desired", "integer", "", "Pods that are wanted.", 0},
	{"Current", "integer", "", "Pods that exist.", 0},
	{"Ready", "integer", "", "Pods that are ready.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
	SELECTOR_COLUMN,
};

static void write_replicas(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_int(row, "spec.replicas", 0);
	bt_cell_int(row, "status.replicas", 0);
	bt_cell_int(row, "status.readyReplicas", 0);
	bt_cell_age(row);
	bt_cell_containers(row, "spec.template.spec");
}

static void write_replica_set(const struct bt_table_row *row)
{
	write_replicas(row);
	bt_cell_selector(row, "spec.selector");
}

static void write_replication_controller(const struct bt_table_row *row)
{
	write_replicas(row);
	bt_cell_labels(row, "spec.selector");
}

static const struct bt_table_column stateful_set_columns[] = {
	BT_COLUMN_NAME,
	{"Ready", "string", "", "Pods that are ready, of those wanted.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
};

static void write_stateful_set(const struct bt_table_row *row)
{
	bt_cell_name(row);
	cell_ready(row);
	bt_cell_age(row);
	bt_cell_containers(row, "spec.template.spec");
}

static const struct bt_table_column daemon_set_columns[] = {
	BT_COLUMN_NAME,
	{"Desired", "integer", "", "Nodes that should run a pod.", 0},
	{"Current", "integer", "", "Nodes that should run a pod and have one.", 0},
	{"Ready", "integer", "", "Nodes whose pod is ready.", 0},
	{"Up-to-date", "integer", "", "Nodes whose pod is of the newest template.", 0},
	{"Available", "integer", "", "Nodes whose pod has been ready for long enough.", 0},
	{"Node Selector", "string", "", "Labels of the nodes that run a pod.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
	SELECTOR_COLUMN,
};

static void write_daemon_set(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_int(row, "status.desiredNumberScheduled", 0);
	bt_cell_int(row, "status.currentNumberScheduled", 0);
	bt_cell_int(row, "status.numberReady", 0);
	bt_cell_int(row, "status.updatedNumberScheduled", 0);
	bt_cell_int(row, "status.numberAvailable", 0);
	bt_cell_labels(row, "spec.template.spec.nodeSelector");
	bt_cell_age(row);
	bt_cell_containers(row, "spec.template.spec");
	bt_cell_selector(row, "spec.selector");
}

/** --- jobs --- */

static const struct bt_table_column job_columns[] = {
	BT_COLUMN_NAME,
	{"Status", "string", "", "Whether the job runs, or how it ended.", 0},
	{"Completions", "string", "", "Pods that succeeded, of those that have to.", 0},
	{"Duration", "string", "", "Time that the job took, or has taken so far.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
	SELECTOR_COLUMN,
};

static const char *job_status(const struct bt_json_value *job)
{
	if (bt_table_condition_is_true(job, "Complete")) {
		return "Complete";
	}
	if (bt_table_condition_is_true(job, "Failed")) {
		return "Failed";
	}
	if (bt_table_is_deleted(job)) {
		return "Terminating";
	}
	if (bt_table_condition_is_true(job, "Suspended")) {
		return "Suspended";
	}
	if (bt_table_condition_is_true(job, "FailureTarget")) {
		return "FailureTarget";
	}
	return bt_table_condition_is_true(job, "SuccessCriteriaMet") ? "SuccessCriteriaMet"
								     : "Running";
}

static void cell_completions(const struct bt_table_row *row)
{
	struct bt_strbuf text = {0};
	int64_t succeeded = bt_json_int64_at(row->object, "status.succeeded", 0);
	int64_t completions = bt_json_int64_at(row->object, "spec.completions", -1);
	int64_t parallelism = bt_json_int64_at(row->object, "spec.parallelism", 0);
	/* without completions one success is enough, whichever of the pods has it */
	bt_strbuf_printf(
		&text, "%" PRId64 "/%" PRId64, succeeded, completions < 0 ? 1 : completions);
	if (completions < 0 && parallelism > 1) {
		bt_strbuf_printf(&text, " of %" PRId64, parallelism);
	}
	bt_cell_buffer(row, &text, "");
}

static void cell_job_duration(const struct bt_table_row *row)
{
	struct bt_strbuf text = {0};
	int64_t start;
	int64_t end = row->now_ns / BT_NS_PER_SECOND;
	if (bt_table_time(bt_json_text_at(row->object, "status.startTime"), &start)) {
		(void)bt_table_time(bt_json_text_at(row->object, "status.completionTime"), &end);
		bt_table_append_duration(&text, end - start);
	}
	bt_cell_buffer(row, &text, "");
}

static void write_job(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_str(row, bt_str_from(job_status(row->object)));
	cell_completions(row);
	cell_job_duration(row);
	bt_cell_age(row);
	bt_cell_containers(row, "spec.template.spec");
	bt_cell_selector(row, "spec.selector");
}

static const struct bt_table_column cron_job_columns[] = {
	BT_COLUMN_NAME,
	{"Schedule", "string", "", "When jobs are started.", 0},
	{"Timezone", "string", "", "Time zone of the schedule.", 0},
	{"Suspend", "boolean", "", "Whether no jobs are started for now.", 0},
	{"Active", "integer", "", "Jobs that run.", 0},
	{"Last Schedule", "string", "", "Time since a job was started.", 0},
	BT_COLUMN_AGE,
	CONTAINER_COLUMNS,
	SELECTOR_COLUMN,
};

static void write_cron_job(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "spec.schedule", "");
	bt_cell_text(row, "spec.timeZone", "<none>");
	bt_cell_bool(row, "spec.suspend", false);
	bt_json_write_int64(row->writer, bt_json_array_at(row->object, "status.active")->count);
	bt_cell_since(row, "status.lastScheduleTime", "<none>");
	bt_cell_age(row);
	bt_cell_containers(row, "spec.jobTemplate.spec.template.spec");
	bt_cell_selector(row, "spec.jobTemplate.spec.selector");
}

/** --- autoscalers --- */

static const struct bt_table_column autoscaler_columns[] = {
	BT_COLUMN_NAME,
	{"Reference", "string", "", "What is scaled.", 0},
	{"Targets", "string", "", "Metrics as they are, and as they should be.", 0},
	{"MinPods", "string", "", "Fewest pods.", 0},
	{"MaxPods", "string", "", "Most pods.", 0},
	{"Replicas", "string", "", "Pods as of last.", 0},
	BT_COLUMN_AGE,
};

/** "50%" or "100m" from {averageUtilization, averageValue, value}. */
static void append_metric(struct bt_strbuf *out, const struct bt_json_value *value)
{
	int64_t utilization = bt_json_int64_at(value, "averageUtilization", -1);
	struct bt_str average = bt_json_text_at(value, "averageValue");
	struct bt_str total = bt_json_text_at(value, "value");
	if (utilization >= 0) {
		bt_strbuf_printf(out, "%" PRId64 "%%", utilization);
	} else if (average.length != 0) {
		bt_strbuf_append_str(out, average);
	} else if (total.length != 0) {
		bt_strbuf_append_str(out, total);
	} else {
		bt_strbuf_append_c(out, "<unknown>");
	}
}

static const char *metric_source(struct bt_str type)
{
	static const char *const sources[][2] = {{"Resource", "resource"}, {"Pods", "pods"},
		{"Object", "object"}, {"External", "external"},
		{"ContainerResource", "containerResource"}};
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (bt_str_equal_c(type, sources[i][0])) {
			return sources[i][1];
		}
	}
	return "none";
}

static void cell_targets(const struct bt_table_row *row)
{
	enum { SHOWN = 2 };
	const struct bt_json_value *metrics = bt_json_array_at(row->object, "spec.metrics");
	const struct bt_json_value *current =
		bt_json_array_at(row->object, "status.currentMetrics");
	int64_t wanted = bt_json_int64_at(row->object, "spec.targetCPUUtilizationPercentage", -1);
	int64_t used = bt_json_int64_at(row->object, "status.currentCPUUtilizationPercentage", -1);
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < metrics->count && i < SHOWN; i++) {
		const char *source = metric_source(bt_json_text_at(metrics->elements[i], "type"));
		const struct bt_json_value *spec = bt_json_object_at(metrics->elements[i], source);
		const struct bt_json_value *status =
			i < current->count ? bt_json_object_at(current->elements[i], source) : NULL;
		bt_strbuf_append_c(&text, text.length != 0 ? ", " : "");
		if (bt_json_text_at(spec, "name").length != 0) {
			bt_strbuf_append_str(&text, bt_json_text_at(spec, "name"));
			bt_strbuf_append_c(&text, ": ");
		}
		append_metric(&text, bt_json_find(status, "current"));
		bt_strbuf_append_char(&text, '/');
		append_metric(&text, bt_json_find(spec, "target"));
	}
	if (metrics->count > SHOWN) {
		bt_strbuf_printf(&text, " + %" PRIu32 " more...", metrics->count - SHOWN);
	}
	if (wanted >= 0 && used >= 0) {
		bt_strbuf_printf(&text, "cpu: %" PRId64 "%%/%" PRId64 "%%", used, wanted);
	} else if (wanted >= 0) {
		bt_strbuf_printf(&text, "cpu: <unknown>/%" PRId64 "%%", wanted);
	}
	bt_cell_buffer(row, &text, "<none>");
}

static void write_autoscaler(const struct bt_table_row *row)
{
	struct bt_strbuf text = {0};
	bt_cell_name(row);
	bt_strbuf_append_str(&text, bt_json_text_at(row->object, "spec.scaleTargetRef.kind"));
	bt_strbuf_append_char(&text, '/');
	bt_strbuf_append_str(&text, bt_json_text_at(row->object, "spec.scaleTargetRef.name"));
	bt_cell_buffer(row, &text, "");
	cell_targets(row);
	if (bt_json_find_path(row->object, "spec.minReplicas") != NULL) {
		bt_strbuf_printf(
			&text, "%" PRId64, bt_json_int64_at(row->object, "spec.minReplicas", 0));
	}
	bt_cell_buffer(row, &text, "<unset>");
	bt_cell_int(row, "spec.maxReplicas", 0);
	bt_cell_int(row, "status.currentReplicas", 0);
	bt_cell_age(row);
}

const struct bt_table bt_tables_of_workloads[] = {
	BT_TABLE("apps", "deployments", deployment_columns, write_deployment),
	BT_TABLE("apps", "replicasets", replica_columns, write_replica_set),
	BT_TABLE("", "replicationcontrollers", replica_columns, write_replication_controller),
	BT_TABLE("apps", "statefulsets", stateful_set_columns, write_stateful_set),
	BT_TABLE("apps", "daemonsets", daemon_set_columns, write_daemon_set),
	BT_TABLE("batch", "jobs", job_columns, write_job),
	BT_TABLE("batch", "cronjobs", cron_job_columns, write_cron_job),
	BT_TABLE("autoscaling", "horizontalpodautoscalers", autoscaler_columns, write_autoscaler),
	{.resource = NULL},
};
