/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/nanoseconds.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cluster/printable.h"
#include "replay/measure.h"
#include "replay/replay.h"

/** Points of the curves over the whole replay; their distance is a whole number of seconds. */
#define SAMPLES 1000

/** Differences from the recording that are kept one by one, with their reasons. */
#define DIFFERENCES_MAX 1000

/** A pod that is bound elsewhere, or at another time, than in the recording. Texts are in the
 * arena. */
struct difference {
	int64_t time_ns;
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	struct bt_str recorded_node;
	int64_t recorded_ns;
	enum bt_difference difference;
	struct bt_str reason;
};

struct answer {
	struct bt_arena arena;
	struct bt_replay_counts counts;
	struct bt_measure measure;
	bool is_compared; /* with what really happened */
	BT_VEC(struct difference) differences; /* the first ones */
	uint64_t difference_counts[BT_DIFFERENCE__COUNT + 1]; /* the last: not looked at */
};

struct options {
	struct bt_setup setup;
	struct bt_arguments files;
	const char *from;
	const char *to;
	const char *bindings_path;
	const char *format_name;
	enum bt_output_format format;
	int64_t from_ns;
	int64_t to_ns;
};

/** A replay under way. */
struct replay_run {
	struct answer *answer;
	struct bt_replay_sink measured; /* of the measure */
	FILE *bindings;                 /* NULL: not asked for */
};

/** Lines of a table that is cut; -o json has all. */
#define ROWS_MAX 20

static const char *const difference_names[] = {
	[BT_DIFFERENCE_NO_NODE] = "NodeMissing",
	[BT_DIFFERENCE_NO_ROOM] = "NodeRejected",
	[BT_DIFFERENCE_SCORE] = "Score",
	[BT_DIFFERENCE_TIE] = "EqualScore",
	[BT_DIFFERENCE__COUNT] = "NotExamined",
};

static double seconds(int64_t ns)
{
	return (double)ns / (double)BT_NS_PER_SECOND;
}

static double hours(double ns)
{
	return ns / (3600.0 * (double)BT_NS_PER_SECOND);
}

static double share(const struct bt_measured_resource *resource)
{
	return resource->capacity_ns > 0 ? resource->used_ns / resource->capacity_ns : 0;
}

static void add_duration(struct bt_table *table, int64_t ns)
{
	/* To the millisecond: quantiles are not known better. */
	int64_t ms = INT64_C(1000000);
	bt_duration_format(ns / ms * ms, &table->text);
	bt_table_end_cell(table);
}

static void add_time(struct bt_strbuf *out, int64_t time_ns)
{
	const struct bt_time time = {.seconds = time_ns / BT_NS_PER_SECOND,
		.nanoseconds = (int32_t)(time_ns % BT_NS_PER_SECOND),
		.set = true};
	bt_micro_time_format(&time, out);
}

/** --- tables --- */

static void write_summary(const struct answer *answer, struct bt_strbuf *out)
{
	const struct bt_replay_counts *counts = &answer->counts;
	const struct bt_measure *measure = &answer->measure;
	bt_strbuf_append_c(out, "From ");
	add_time(out, counts->start_ns);
	bt_strbuf_append_c(out, " to ");
	add_time(out, counts->end_ns);
	bt_strbuf_append_c(out, " (");
	bt_duration_format((counts->end_ns - counts->start_ns) / BT_NS_PER_SECOND *
			BT_NS_PER_SECOND,
		out);
	bt_strbuf_printf(out,
		").\n%" PRIu64 " pods asked for a node, %" PRIu64 " were bound; %" PRIu64
		" wait at the end.\n%" PRIu64 " ran to their end, %" PRIu64
		" were deleted, %" PRIu64 " preempted, %" PRIu64
		" lost with their node (%.1f hours of running time lost).\n",
		counts->created, counts->bound, counts->pending, counts->succeeded,
		counts->deleted, counts->preempted, counts->lost, hours(measure->lost_ns));
	bt_strbuf_printf(out,
		"At most %u nodes, %u of them in use; %.1f node-hours, %.1f of them in use. At "
		"most %u pods waited at a time.\n",
		measure->most_nodes, measure->most_used_nodes, hours(measure->node_ns),
		hours(measure->used_node_ns), measure->most_pending);
}

static void write_waits(const struct answer *answer, struct bt_strbuf *out)
{
	static const char *const headings[] = {
		"PRIORITY", "PODS", "PENDING", "WAITED P50", "P95", "P99", "MAX"};
	struct bt_table table = {.column_count = BT_ARRAY_LENGTH(headings)};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
		bt_table_add_c(&table, headings[i]);
	}
	for (uint32_t i = 0; i < answer->measure.priorities.count && i < ROWS_MAX; i++) {
		const struct bt_measured_group *group = answer->measure.priorities.items[i];
		bt_table_add(&table, group->name);
		bt_strbuf_printf(&table.text, "%" PRIu64, group->waits.count);
		bt_table_end_cell(&table);
		bt_strbuf_printf(&table.text, "%" PRIu64, group->pending);
		bt_table_end_cell(&table);
		add_duration(&table, bt_waits_quantile(&group->waits, 0.5));
		add_duration(&table, bt_waits_quantile(&group->waits, 0.95));
		add_duration(&table, bt_waits_quantile(&group->waits, 0.99));
		add_duration(&table, group->waits.max_ns);
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

static void write_resources(const struct answer *answer, struct bt_strbuf *out)
{
	static const char *const headings[] = {"RESOURCE", "IN USE", "PEAK"};
	struct bt_table table = {.column_count = BT_ARRAY_LENGTH(headings)};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
		bt_table_add_c(&table, headings[i]);
	}
	for (uint32_t i = 0; i < answer->measure.resources.count && i < ROWS_MAX; i++) {
		const struct bt_measured_resource *resource = &answer->measure.resources.items[i];
		bt_table_add(&table, resource->name);
		bt_strbuf_printf(&table.text, "%.1f%%", share(resource) * 100);
		bt_table_end_cell(&table);
		bt_strbuf_printf(&table.text, "%.1f%%", resource->peak * 100);
		bt_table_end_cell(&table);
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

static void write_differences(const struct answer *answer, struct bt_strbuf *out)
{
	static const char *const headings[] = {"TIME", "POD", "NODE", "RECORDED", "WHY", "REASON"};
	const struct bt_replay_counts *counts = &answer->counts;
	bt_strbuf_printf(out,
		"\n%" PRIu64 " of the %" PRIu64
		" bindings that the recording has, too, are to the same node.\n",
		counts->same, counts->recorded);
	if (answer->differences.count == 0) {
		return;
	}
	struct bt_table table = {.column_count = BT_ARRAY_LENGTH(headings)};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
		bt_table_add_c(&table, headings[i]);
	}
	for (uint32_t i = 0; i < answer->differences.count && i < ROWS_MAX; i++) {
		const struct difference *difference = &answer->differences.items[i];
		add_time(&table.text, difference->time_ns);
		bt_table_end_cell(&table);
		bt_printable_append_name(&table.text, difference->namespace_, difference->name);
		bt_table_end_cell(&table);
		bt_table_add(&table, difference->node_name);
		bt_table_add(&table, difference->recorded_node);
		bt_table_add_c(&table, difference_names[difference->difference]);
		bt_table_add(&table, difference->reason);
	}
	bt_strbuf_append_char(out, '\n');
	bt_table_write(&table, out);
	bt_table_finish(&table);
	if (counts->recorded - counts->same > ROWS_MAX) {
		bt_strbuf_printf(out, "and %" PRIu64 " more; -o json has the first %u.\n",
			counts->recorded - counts->same - ROWS_MAX, DIFFERENCES_MAX);
	}
}

/** --- JSON --- */

static void write_member_double(struct bt_json_writer *writer, const char *name, double value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_double(writer, value);
}

static void write_member_time_ns(struct bt_json_writer *writer, const char *name, int64_t time_ns)
{
	struct bt_strbuf text = {0};
	add_time(&text, time_ns);
	bt_json_write_member(writer, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static void write_group(struct bt_json_writer *writer, const struct bt_measured_group *group)
{
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "name", group->name);
	bt_json_write_member_int64(writer, "pods", (int64_t)group->waits.count);
	bt_json_write_member_int64(writer, "pending", (int64_t)group->pending);
	const struct {
		const char *name;
		double share;
	} quantiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
	bt_json_begin_member_object(writer, "waitedSeconds");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(quantiles); i++) {
		write_member_double(writer, quantiles[i].name,
			seconds(bt_waits_quantile(&group->waits, quantiles[i].share)));
	}
	write_member_double(writer, "max", seconds(group->waits.max_ns));
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

static void write_samples(struct bt_json_writer *writer, const struct bt_measure *measure)
{
	bt_json_begin_member_array(writer, "samples");
	for (uint32_t i = 0; i < measure->samples.count; i++) {
		const struct bt_measured_sample *sample = &measure->samples.items[i];
		bt_json_begin_object(writer);
		write_member_time_ns(writer, "time", sample->time_ns);
		bt_json_write_member_int64(writer, "pending", sample->pending);
		bt_json_write_member_int64(writer, "nodes", sample->nodes);
		bt_json_write_member_int64(writer, "usedNodes", sample->used_nodes);
		bt_json_begin_member_object(writer, "inUse");
		for (uint32_t k = 0; k < sample->share_count; k++) {
			bt_json_write_name(writer, measure->resources.items[k].name);
			bt_json_write_double(writer, sample->shares[k]);
		}
		bt_json_end_object(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

static void write_json_differences(
	struct bt_json_writer *writer, const struct answer *answer)
{
	bt_json_begin_member_object(writer, "comparison");
	bt_json_write_member_int64(writer, "bindings", (int64_t)answer->counts.recorded);
	bt_json_write_member_int64(writer, "same", (int64_t)answer->counts.same);
	bt_json_begin_member_object(writer, "reasons");
	for (int i = 0; i <= BT_DIFFERENCE__COUNT; i++) {
		bt_json_write_member_int64(
			writer, difference_names[i], (int64_t)answer->difference_counts[i]);
	}
	bt_json_end_object(writer);
	bt_json_begin_member_array(writer, "differences");
	for (uint32_t i = 0; i < answer->differences.count; i++) {
		const struct difference *difference = &answer->differences.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "namespace", difference->namespace_);
		bt_json_write_member(writer, "name", difference->name);
		write_member_time_ns(writer, "time", difference->time_ns);
		write_member_time_ns(writer, "recordedTime", difference->recorded_ns);
		bt_json_write_member(writer, "node", difference->node_name);
		bt_json_write_member(writer, "recordedNode", difference->recorded_node);
		bt_json_write_member_c(writer, "why", difference_names[difference->difference]);
		bt_json_write_member(writer, "reason", difference->reason);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

static void write_json(const void *context, struct bt_json_writer *writer)
{
	const struct answer *answer = context;
	const struct bt_replay_counts *counts = &answer->counts;
	const struct bt_measure *measure = &answer->measure;
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"created", counts->created}, {"bound", counts->bound},
		{"pending", counts->pending}, {"running", counts->running},
		{"succeeded", counts->succeeded}, {"deleted", counts->deleted},
		{"preempted", counts->preempted}, {"lost", counts->lost},
		{"attempts", counts->attempts}};
	bt_json_begin_object(writer);
	bt_json_write_member_c(writer, "apiVersion", "berth.dev/v1");
	bt_json_write_member_c(writer, "kind", "Replay");
	write_member_time_ns(writer, "start", counts->start_ns);
	write_member_time_ns(writer, "end", counts->end_ns);
	bt_json_begin_member_object(writer, "pods");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(numbers); i++) {
		bt_json_write_member_int64(writer, numbers[i].name, (int64_t)numbers[i].value);
	}
	bt_json_end_object(writer);
	write_member_double(writer, "lostHours", hours(measure->lost_ns));
	bt_json_begin_member_object(writer, "nodes");
	bt_json_write_member_int64(writer, "most", measure->most_nodes);
	bt_json_write_member_int64(writer, "mostUsed", measure->most_used_nodes);
	write_member_double(writer, "hours", hours(measure->node_ns));
	write_member_double(writer, "usedHours", hours(measure->used_node_ns));
	bt_json_end_object(writer);
	bt_json_begin_member_array(writer, "resources");
	for (uint32_t i = 0; i < measure->resources.count; i++) {
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "name", measure->resources.items[i].name);
		write_member_double(writer, "inUse", share(&measure->resources.items[i]));
		write_member_double(writer, "peak", measure->resources.items[i].peak);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "priorities");
	for (uint32_t i = 0; i < measure->priorities.count; i++) {
		write_group(writer, measure->priorities.items[i]);
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "owners");
	for (uint32_t i = 0; i < measure->owners.count; i++) {
		write_group(writer, measure->owners.items[i]);
	}
	bt_json_end_array(writer);
	if (answer->is_compared) {
		write_json_differences(writer, answer);
	}
	write_samples(writer, measure);
	bt_json_end_object(writer);
}

static int write_answer(const struct answer *answer, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	if (format == BT_OUTPUT_JSON || format == BT_OUTPUT_YAML) {
		return bt_output_document(format, write_json, answer, out, err);
	}
	write_summary(answer, out);
	write_waits(answer, out);
	write_resources(answer, out);
	if (answer->is_compared) {
		write_differences(answer, out);
	}
	return 0;
}

/** --- what is noted beside the measure --- */

static void take_bound(void *context, const struct bt_replay_binding *binding)
{
	struct replay_run *run = context;
	struct answer *answer = run->answer;
	run->measured.bound(run->measured.context, binding);
	if (run->bindings != NULL) {
		(void)fprintf(run->bindings, "%lld.%09lld %.*s/%.*s %.*s\n",
			(long long)(binding->time_ns / BT_NS_PER_SECOND),
			(long long)(binding->time_ns % BT_NS_PER_SECOND),
			BT_STR_ARG(binding->pod->metadata.namespace_),
			BT_STR_ARG(binding->pod->metadata.name), BT_STR_ARG(binding->node_name));
	}
	if (!answer->is_compared || binding->recorded_node.length == 0 ||
		bt_str_equal(binding->recorded_node, binding->node_name)) {
		return;
	}
	answer->difference_counts[binding->difference]++;
	if (answer->differences.count < DIFFERENCES_MAX) {
		struct bt_arena *arena = &answer->arena;
		struct difference difference = {
			.time_ns = binding->time_ns,
			.namespace_ = bt_arena_str(arena, binding->pod->metadata.namespace_),
			.name = bt_arena_str(arena, binding->pod->metadata.name),
			.node_name = bt_arena_str(arena, binding->node_name),
			.recorded_node = bt_arena_str(arena, binding->recorded_node),
			.recorded_ns = binding->recorded_ns,
			.difference = binding->difference,
			.reason = bt_arena_str(arena, binding->reason),
		};
		bt_vec_push(&answer->differences, difference);
	}
}

static void take_departed(void *context, const struct bt_replay_departure *departure)
{
	struct replay_run *run = context;
	run->measured.departed(run->measured.context, departure);
}

static void take_waiting(
	void *context, const struct bt_pod *pod, int64_t created_ns, int64_t time_ns)
{
	struct replay_run *run = context;
	run->measured.waiting(run->measured.context, pod, created_ns, time_ns);
}

static void take_sampled(
	void *context, const struct bt_state *state, uint32_t pending_count, int64_t time_ns)
{
	struct replay_run *run = context;
	run->measured.sampled(run->measured.context, state, pending_count, time_ns);
}

/** --- the run --- */

static int make_scheduler(void *context, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err)
{
	return bt_setup_scheduler(context, writer, out_scheduler, err);
}

static int replay(struct options *options, struct bt_warnings *warnings,
	struct answer *answer, FILE *bindings, struct berth_error *err)
{
	struct replay_run run = {.answer = answer, .bindings = bindings};
	struct bt_progress progress;
	struct bt_lives *lives;
	int result = bt_lives_read(options->files.list.items, options->files.list.count,
		bt_warnings_take, warnings, &lives, err);
	if (result < 0) {
		return result;
	}
	int64_t length_ns = bt_lives_end_ns(lives) - bt_lives_start_ns(lives);
	int64_t end_ns = options->to_ns < length_ns ? options->to_ns : length_ns;
	int64_t interval_ns =
		((end_ns - options->from_ns) / SAMPLES / BT_NS_PER_SECOND + 1) * BT_NS_PER_SECOND;
	bt_measure_follow(&answer->measure, &run.measured);
	bt_progress_start(&progress, "replaying seconds", true);
	struct bt_replay_options replay_options = {
		.paths = options->files.list.items,
		.path_count = options->files.list.count,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
		.interval_ns = interval_ns,
		.prefers_recorded = answer->is_compared,
		.reasons_max = answer->is_compared ? DIFFERENCES_MAX : 0,
		.pod_level_resources = true,
		.sink = {.context = &run,
			.bound = take_bound,
			.departed = take_departed,
			.waiting = take_waiting,
			.sampled = take_sampled,
			.progress = bt_progress_show,
			.progress_context = &progress},
	};
	result = bt_replay_run(&replay_options, lives, make_scheduler, &options->setup,
		&answer->counts, err);
	bt_progress_end(&progress);
	bt_measure_end(&answer->measure);
	bt_lives_destroy(lives);
	return result;
}

static int run_with_options(const struct bt_command *command, struct options *options)
{
	struct bt_warnings warnings = {.command = command};
	struct berth_error err = BERTH_ERROR_INIT;
	struct answer answer = {.is_compared = options->setup.config_path == NULL};
	struct bt_strbuf out = {0};
	FILE *bindings = NULL;
	int result = 0;
	bt_arena_init(&answer.arena, 0);
	bt_measure_init(&answer.measure);
	if (options->bindings_path != NULL) {
		bindings = fopen(options->bindings_path, "we");
		result = bindings == NULL ? bt_error_set(&err, BERTH_ERR_IO, "--bindings: %s: %s",
						    options->bindings_path, strerror(errno))
					  : 0;
	}
	if (result == 0) {
		result = replay(options, &warnings, &answer, bindings, &err);
	}
	if (bindings != NULL && fclose(bindings) != 0 && result == 0) {
		result = bt_error_set(&err, BERTH_ERR_IO, "--bindings: %s: %s",
			options->bindings_path, strerror(errno));
	}
	if (result == 0) {
		result = write_answer(&answer, options->format, &out, &err);
	}
	bt_warnings_end(&warnings);
	if (result == 0) {
		bt_output_print(&out);
	}
	bt_strbuf_finish(&out);
	bt_vec_finish(&answer.differences);
	bt_measure_finish(&answer.measure);
	bt_arena_finish(&answer.arena);
	return result < 0 ? bt_command_fail(command, &err) : BT_EXIT_OK;
}

/** --- the command line --- */

static int parse_time(
	const char *text, const char *flag, int64_t *out_ns, struct berth_error *err)
{
	if (text == NULL) {
		return 0;
	}
	int result = bt_duration_parse(bt_str_from(text), out_ns, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", flag);
	}
	return *out_ns >= 0 ? 0
			    : bt_error_set(err, BERTH_ERR_INVALID,
				      "%s: must not be before the start of the recording", flag);
}

static int check_usage(
	struct options *options, const struct bt_arguments *arguments, struct berth_error *err)
{
	options->files.list = arguments->list;
	options->to_ns = INT64_MAX;
	if (arguments->list.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no recording: name a file that \"berth record\" or \"berth import\" "
			"wrote");
	}
	int result = parse_time(options->from, "--from", &options->from_ns, err);
	if (result == 0) {
		result = parse_time(options->to, "--to", &options->to_ns, err);
	}
	if (result == 0 && options->to_ns < options->from_ns) {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "--to: must not be before --from");
	}
	return result < 0 ? result
			  : bt_output_format_parse(
				    options->format_name, false, &options->format, err);
}

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct options options = {.setup = BT_SETUP_INIT, .format_name = "table"};
	struct bt_arguments arguments = {0};
	const struct bt_flag flags[] = {
		{"from", 0, BT_FLAG_STRING, &options.from, "DURATION",
			"decide from this time of the recording on (2h30m); before, pods are where "
			"the recording has them"},
		{"to", 0, BT_FLAG_STRING, &options.to, "DURATION",
			"end at this time of the recording"},
		{"bindings", 0, BT_FLAG_STRING, &options.bindings_path, "FILE",
			"write each binding there: time, pod and node on a line"},
		{"output", 'o', BT_FLAG_STRING, &options.format_name, "table|json|yaml",
			"how the answer is written (default table)"},
		BT_SETUP_FLAGS(&options.setup),
	};
	int exit_status;
	if (bt_command_parse(
		    command, flags, BT_ARRAY_LENGTH(flags), argc, argv, &arguments, &exit_status)) {
		struct berth_error err = BERTH_ERROR_INIT;
		options.setup.verify = bt_command_verify();
		exit_status = check_usage(&options, &arguments, &err) < 0 ||
				bt_setup_start(command, &options.setup, &err) < 0
			? bt_command_fail(command, &err)
			: run_with_options(command, &options);
	}
	bt_setup_finish(&options.setup);
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_replay = {
	.name = "replay",
	.group = BT_COMMAND_ASK,
	.summary = "Live through a recording again, and see what another scheduler would do.",
	.usage = "berth replay FILE... [FLAGS]",
	.arguments = "FILE...",
	.help = "Runs the scheduler, with its queue, backoff and preemption, over a recording\n"
		"of a cluster (berth record) or an imported trace (berth import), in virtual\n"
		"time. What users and machines did is kept: pods that were created and deleted,\n"
		"nodes that came, changed and went. What the scheduler did is decided anew. A\n"
		"pod that ran to its end runs as long as it did, from its new start; a pod that\n"
		"is preempted, or whose node goes, comes back if a controller owns it.\n"
		"\n"
		"Without --config the replay follows the recording: where several nodes are\n"
		"equally good it takes the recorded one, and the answer lists the decisions\n"
		"that differ, with the reason. FILE may be several parts of one recording, in\n"
		"order.\n",
	.examples =
		"  # Does the default configuration decide as it did last week?\n"
		"  berth replay week.berthrec\n"
		"\n"
		"  # How long would pods have waited with nodes packed tightly?\n"
		"  berth replay week.berthrec --config most-allocated.yaml\n"
		"\n"
		"  # The second day alone, as JSON\n"
		"  berth replay week.berthrec --from 24h --to 48h -o json\n",
	.exit_status = "  0  the recording was replayed\n"
		       "  2  a recording or the flags are wrong\n",
	.run = run,
};
