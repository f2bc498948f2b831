/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole simulation that verifies every decision: reads the objects, sets defaults, expands
 * workloads, places the pods and writes all outputs.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "cli/setup.h"
#include "cli/simulate/simulation_output.h"

/** Larger counts only take more time. */
#define REPLICAS_MAX 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_large(struct bt_opt_i32 count)
{
	return count.present && count.value > REPLICAS_MAX;
}

static bool is_large_job(const struct bt_job_spec *spec)
{
	return is_large(spec->parallelism) || is_large(spec->completions);
}

static bool is_large_workload(const struct bt_object *object)
{
	if (object->kind == BT_KIND_DEPLOYMENT) {
		return is_large(((const struct bt_deployment *)object->value)->spec.replicas);
	}
	if (object->kind == BT_KIND_REPLICA_SET) {
		return is_large(((const struct bt_replica_set *)object->value)->spec.replicas);
	}
	if (object->kind == BT_KIND_REPLICATION_CONTROLLER) {
		return is_large(
			((const struct bt_replication_controller *)object->value)->spec.replicas);
	}
	if (object->kind == BT_KIND_STATEFUL_SET) {
		return is_large(((const struct bt_stateful_set *)object->value)->spec.replicas);
	}
	if (object->kind == BT_KIND_JOB) {
		return is_large_job(&((const struct bt_job *)object->value)->spec);
	}
	if (object->kind == BT_KIND_CRON_JOB) {
		return is_large_job(
			&((const struct bt_cron_job *)object->value)->spec.job_template.spec);
	}
	return false;
}

static bool is_small(const struct bt_manifests *cluster)
{
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		if (is_large_workload(cluster->objects.items[i].object)) {
			return false;
		}
	}
	return true;
}

static void write_all(const struct bt_simulation *simulation)
{
	static const enum bt_output_format formats[] = {
		BT_OUTPUT_WIDE, BT_OUTPUT_JSON, BT_OUTPUT_YAML, BT_OUTPUT_NAME};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(formats); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_strbuf out = {0};
		int code = bt_simulation_write(simulation, formats[i], &out, &err);
		BT_ASSERT((code == 0) == (err.code == 0));
		if (formats[i] == BT_OUTPUT_WIDE || formats[i] == BT_OUTPUT_NAME) {
			for (size_t k = 0; k < out.length; k++) {
				BT_ASSERT((unsigned char)out.data[k] >= ' ' || out.data[k] == '\n');
			}
		}
		berth_error_finish(&err);
		bt_strbuf_finish(&out);
	}
}

static void simulate(struct bt_manifests *cluster)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_setup setup = BT_SETUP_INIT;
	struct bt_simulation simulation;
	setup.verify = true;
	int code = bt_simulation_init(&simulation, cluster, bt_setup_scheduler, &setup, &err);
	BT_ASSERT(code == 0);
	code = bt_simulation_load(&simulation, &err);
	BT_ASSERT((code == 0) == (err.code == 0));
	if (code == 0) {
		bt_simulation_run(&simulation, simulation.pods.count);
		write_all(&simulation);
	}
	berth_error_finish(&err);
	bt_simulation_finish(&simulation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_manifests cluster;
	struct bt_str text = {(const char *)data, (uint32_t)size};
	bt_manifests_init(&cluster);
	int code = bt_manifests_read_text(&cluster, "input", text, &err);
	BT_ASSERT((code == 0) == (err.code == 0));
	if (code == 0 && is_small(&cluster)) {
		simulate(&cluster);
	}
	berth_error_finish(&err);
	bt_manifests_finish(&cluster);
	return 0;
}
