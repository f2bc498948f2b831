/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_report.h"

#include <stdio.h>

#include "bench/bench_machine.h"

static void write_count(struct bt_json_writer *writer, const char *name, uint64_t value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_uint64(writer, value);
}

void bt_bench_write_number(
	struct bt_json_writer *writer, const char *name, double value, int digits)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "%.*f", digits, value);
	bt_json_write_name_c(writer, name);
	bt_json_write_raw(writer, bt_str_from(text));
}

void bt_bench_write_origin(struct bt_json_writer *writer, int64_t threads)
{
	struct bt_bench_machine machine;
	bt_bench_machine_init(&machine);
	write_count(writer, "threads", (uint64_t)threads);
	bt_json_write_member_c(writer, "commit", bt_bench_commit());
	bt_json_write_member_c(writer, "compiler", bt_bench_compiler());
	bt_json_write_name_c(writer, "machine");
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "cpu", bt_strbuf_str(&machine.cpu));
	write_count(writer, "cores", machine.cores);
	write_count(writer, "memory_mb", machine.memory_bytes >> 20);
	bt_json_write_member_c(writer, "system", machine.system);
	bt_json_end_object(writer);
	bt_bench_machine_finish(&machine);
}

static void write_what(struct bt_json_writer *writer, const struct bt_bench_run *run)
{
	if (run->path != NULL) {
		bt_json_write_member_c(writer, "file", run->path);
		return;
	}
	bt_json_write_member_c(writer, "workload", run->source.workload->name);
	write_count(writer, "seed", run->source.seed);
}

/** Write the members that only some kinds of measurements have. */
static void write_special(struct bt_json_writer *writer, const struct bt_bench_run *run,
	const struct bt_bench_result *result)
{
	if (run->preempt) {
		write_count(writer, "preempted", result->preempted_count);
		write_count(writer, "victims", result->victim_count);
		bt_bench_write_number(writer, "preemptions_per_s",
			bt_bench_rate(result->preempted_count, result->seconds), 0);
	}
	if (result->change_count != 0) {
		write_count(writer, "changes", result->change_count);
		bt_bench_write_number(writer, "change_us",
			result->change_seconds * 1e6 / (double)result->change_count, 3);
		bt_bench_write_number(writer, "decisions_per_s",
			bt_bench_rate((uint64_t)result->scheduled_count + result->failed_count,
				result->seconds - result->change_seconds),
			0);
		bt_bench_write_number(writer, "decisions_per_cpu_s",
			bt_bench_rate((uint64_t)result->scheduled_count + result->failed_count,
				result->cpu_seconds - result->change_cpu_seconds),
			0);
	}
	if (result->event_count != 0) {
		write_count(writer, "events", result->event_count);
		bt_bench_write_number(writer, "event_ms", result->event_ms, 3);
		bt_bench_write_number(writer, "event_cpu_ms", result->event_cpu_ms, 3);
		bt_bench_write_number(writer, "event_median_ms", result->event_median_ms, 3);
		bt_bench_write_number(writer, "settled_ms", result->settled_ms, 3);
		bt_bench_write_number(writer, "waiting_pod_bytes", result->waiting_pod_bytes, 0);
	}
}

static void write_verification(struct bt_json_writer *writer, const struct bt_bench_run *run,
	const struct bt_bench_result *result)
{
	char digest[24];
	(void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)result->decisions);
	bt_json_write_member_c(writer, "decisions", digest);
	bt_json_write_member_c(writer, "verify",
		result->verified_inline ? "inline"
			: run->check    ? "agreed"
					: "off");
	if (run->check) {
		write_count(writer, "verified_pods", result->checked_count);
	}
}

void bt_bench_write_members(struct bt_json_writer *writer, const struct bt_bench_run *run,
	const struct bt_bench_result *result)
{
	write_what(writer, run);
	write_count(writer, "nodes", result->node_count);
	write_count(writer, "bound", result->bound_count);
	write_count(writer, "scheduled", result->scheduled_count);
	write_count(writer, "failed", result->failed_count);
	write_special(writer, run, result);
	bt_bench_write_number(writer, "seconds", result->seconds, 6);
	bt_bench_write_number(
		writer, "pods_per_s", bt_bench_rate(result->pending_count, result->seconds), 0);
	bt_bench_write_number(writer, "cpu_seconds", result->cpu_seconds, 6);
	bt_bench_write_number(writer, "pods_per_cpu_s",
		bt_bench_rate(result->pending_count, result->cpu_seconds), 0);
	bt_bench_write_number(writer, "load_seconds", result->load_seconds, 3);
	bt_bench_write_number(writer, "peak_rss_mb", result->peak_rss_mb, 1);
	write_verification(writer, run, result);
}

void bt_bench_write_line(
	const struct bt_bench_run *run, const struct bt_bench_result *result, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	bt_bench_write_members(&writer, run, result);
	bt_bench_write_origin(&writer, run->setup->threads);
	bt_json_end_object(&writer);
}
