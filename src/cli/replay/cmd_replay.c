/* SPDX-License-Identifier: Apache-2.0 */
#include "api/text_template.h"
#include "base/duration.h"
#include "base/nanoseconds.h"
#include "cli/command.h"
#include "cli/replay/replay_run.h"

/** Limit of a table's rows; -o json has all. */
#define ROWS_MAX 20

struct options {
	struct bt_command_line line;
	struct bt_replay_request request;
};

static void add_duration(struct bt_table *table, int64_t ns)
{
	/* Truncated to milliseconds, because quantiles are no more precise. */
	int64_t ms = INT64_C(1000000);
	bt_duration_format(ns / ms * ms, &table->text);
	bt_table_end_cell(table);
}

static void write_differences(const struct bt_replay_answer *answer, struct bt_strbuf *out)
{
	const struct bt_replay_counts *counts = &answer->counts;
	bt_text_append(out,
		"\n%d of the %d {binding|bindings} also in the recording %c to the same node.\n",
		(int64_t)counts->same, (int64_t)counts->recorded, counts->same == 1 ? "is" : "are");
	if (answer->differences.count == 0) {
		return;
	}
	struct bt_table table;
	BT_TABLE_BEGIN(&table, "TIME", "POD", "NODE", "RECORDED", "WHY", "REASON");
	for (uint32_t i = 0; i < answer->differences.count && i < ROWS_MAX; i++) {
		const struct bt_replay_difference *difference = &answer->differences.items[i];
		bt_replay_append_time(&table.text, difference->time_ns);
		bt_table_end_cell(&table);
		bt_table_add_cells(&table, "%m\t%p\t%p\t%c\t%p", difference->namespace_,
			difference->name, difference->node_name, difference->recorded_node,
			bt_difference_name(difference->difference), difference->reason);
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	if (counts->recorded - counts->same > ROWS_MAX) {
		bt_text_append(out, "and %d more; -o json has the first %u.\n",
			(int64_t)(counts->recorded - counts->same - ROWS_MAX),
			BT_REPLAY_DIFFERENCES_MAX);
	}
}

static int write_answer(const struct bt_replay_answer *answer, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	if (format == BT_OUTPUT_JSON || format == BT_OUTPUT_YAML) {
		return bt_output_document(format, bt_replay_answer_write_json, answer, out, err);
	}
	struct bt_table table;
	const struct bt_replay_counts *counts = &answer->counts;
	const struct bt_measure *measure = &answer->measure;
	bt_strbuf_append_c(out, "From ");
	bt_replay_append_time(out, counts->start_ns);
	bt_strbuf_append_c(out, " to ");
	bt_replay_append_time(out, counts->end_ns);
	bt_strbuf_append_c(out, " (");
	bt_duration_format(
		(counts->end_ns - counts->start_ns) / BT_NS_PER_SECOND * BT_NS_PER_SECOND, out);
	bt_text_append(out,
		").\n%d {pod|pods} asked for a node: %d bound, %d pending at the end.\n%d ran to "
		"completion, %d deleted, %d preempted, %d evicted, %d lost with a node",
		(int64_t)counts->created, (int64_t)counts->bound, (int64_t)counts->pending,
		(int64_t)counts->succeeded, (int64_t)counts->deleted, (int64_t)counts->preempted,
		(int64_t)counts->evicted, (int64_t)counts->lost);
	bt_strbuf_printf(
		out, " (%.1f hours of running time lost).\n", bt_replay_hours(measure->lost_ns));
	bt_text_append(out, "At most %u {node|nodes}, %u in use; ", measure->most_nodes,
		measure->most_used_nodes);
	bt_strbuf_printf(out, "%.1f node-hours, %.1f in use. ", bt_replay_hours(measure->node_ns),
		bt_replay_hours(measure->used_node_ns));
	bt_text_append(out, "At most %u {pod|pods} waited at a time.\n", counts->most_pending);
	if (answer->has_prices) {
		bt_strbuf_printf(out, "The nodes cost %.2f, %.2f of it while in use.\n",
			measure->full_cost, measure->cost);
	}
	BT_TABLE_BEGIN(&table, "PRIORITY", "PODS", "PENDING", "WAITED P50", "P95", "P99", "MAX");
	for (uint32_t i = 0; i < answer->measure.priorities.count && i < ROWS_MAX; i++) {
		const struct bt_measured_group *group = answer->measure.priorities.items[i];
		bt_table_add_cells(&table, "%p\t%d\t%d", group->name, (int64_t)group->waits.count,
			(int64_t)group->pending);
		add_duration(&table, bt_waits_quantile(&group->waits, 0.5));
		add_duration(&table, bt_waits_quantile(&group->waits, 0.95));
		add_duration(&table, bt_waits_quantile(&group->waits, 0.99));
		add_duration(&table, group->waits.max_ns);
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	BT_TABLE_BEGIN(&table, "RESOURCE", "IN USE", "PEAK", "FRAGMENTED");
	for (uint32_t i = 0; i < answer->measure.resources.count && i < ROWS_MAX; i++) {
		const struct bt_measured_resource *resource = &answer->measure.resources.items[i];
		bt_table_add(&table, resource->name);
		double capacity = resource->capacity_ns > 0 ? resource->capacity_ns : 1;
		const double shares[] = {resource->used_ns / capacity, resource->peak,
			resource->fragmented_ns / capacity};
		for (size_t k = 0; k < BT_ARRAY_LENGTH(shares); k++) {
			bt_strbuf_printf(&table.text, "%.1f%%", shares[k] * 100);
			bt_table_end_cell(&table);
		}
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	if (answer->is_compared) {
		write_differences(answer, out);
	}
	return 0;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	struct bt_replay_answer answer;
	options->request.is_compared = options->line.setup.config_path == NULL;
	int result = bt_replay_answer_find(
		&options->request, &options->line.setup, &options->line.warnings, &answer, err);
	if (result == 0) {
		result = write_answer(&answer, options->line.format, out, err);
	}
	bt_replay_answer_finish(&answer);
	return result;
}

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	struct bt_replay_request *request = &options->request;
	int result = bt_replay_request_check(request, &options->line.arguments, err);
	return result == 0 ? bt_command_check_output(&options->line, "events", request->events_path,
				     request->prices_path, err)
			   : result;
}

static const struct bt_flag flags[] = {
	BT_REPLAY_FLAGS_AT(offsetof(struct options, request)),
	{"seed", 0, BT_FLAG_INT, offsetof(struct options, line.setup.tie_seed), "N",
		"choose among nodes of equal score at random, with this seed "
		"(default: upstream's order)"},
	{"events", 0, BT_FLAG_STRING, offsetof(struct options, request.events_path), "FILE",
		"write what happens to each pod to this file, one JSON object per line"},
	BT_OUTPUT_FLAG("table|json|yaml"),
	BT_SETUP_FLAGS,
};

const struct bt_command bt_command_replay = {
	.name = "replay",
	.group = BT_COMMAND_ASK,
	.summary = "Replay a recording, and see how another scheduler would decide.",
	.usage = "berth replay FILE... [FLAGS]",
	.arguments = "FILE...",
	.help = "Runs the scheduler, with its queue, backoff and preemption, over a recording\n"
		"of a cluster (berth record) or an imported trace (berth import), in virtual\n"
		"time. What users and machines did is replayed: pods are created and deleted,\n"
		"nodes are added, changed and removed. What the scheduler did is decided again.\n"
		"A pod that ran to its end runs as long as in the recording, from its new start\n"
		"on. A pod that is preempted or evicted, or whose node is removed, is created\n"
		"again if a controller owns it.\n"
		"\n"
		"Without --config the replay follows the recording: among nodes of equal score\n"
		"it chooses the recorded one, and the answer lists the decisions that differ,\n"
		"with the reason. Several FILEs are the parts of one recording, in order.\n",
	.examples = "  # Does the default configuration decide as it did last week?\n"
		    "  berth replay week.berthrec\n"
		    "\n"
		    "  # How long would pods have waited with nodes packed tightly?\n"
		    "  berth replay week.berthrec --config most-allocated.yaml\n"
		    "\n"
		    "  # The second day alone, as JSON\n"
		    "  berth replay week.berthrec --from 24h --to 48h -o json\n",
	.exit_status = "  0  the recording was replayed\n"
		       "  2  a recording or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.check = check,
	.run = run,
};
