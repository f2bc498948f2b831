/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/text_template.h"
#include "base/duration.h"
#include "base/nanoseconds.h"
#include "base/printable.h"
#include "codec/json_edit.h"
#include "cli/command.h"
#include "cli/processes.h"
#include "cli/replay/replay_run.h"

#define ALTERNATIVES_MAX 64
/** Limit of shown alternatives: each takes a column, and the names of the rows take one. */
#define SHOWN_MAX (BT_TABLE_COLUMNS_MAX - 1)

/** The page of --report; DATA_MARK is replaced by the data. */
static const char report_page[] = {
#include "cli/replay/report_page.inc"
};
#define DATA_MARK "\"DATA\""

/** A configuration to compare. Each alternative is replayed in its own process. */
struct alternative {
	const char *config_path; /* NULL: the default configuration */
	struct bt_str name;
	struct bt_json_value *answer;
};

struct comparison {
	struct alternative *alternatives;
	uint32_t count;
};

struct options {
	struct bt_command_line line;
	struct bt_replay_request request;
	struct bt_arguments configs;
	const char *report_path;
	int64_t jobs; /* alternatives replayed at the same time; 0: one for each processor */
	struct comparison comparison;
};

/** --- the replays --- */

static struct bt_str name_alternative(const void *context, uint32_t index)
{
	const struct options *options = context;
	return options->comparison.alternatives[index].name;
}

static int replay_alternative(void *context, uint32_t index, struct bt_strbuf *out)
{
	const struct options *options = context;
	const struct bt_command *command = options->line.command;
	const struct alternative *alternative = &options->comparison.alternatives[index];
	struct bt_setup setup = options->line.setup;
	struct bt_warnings warnings = {.command = command->name};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_replay_answer answer;
	struct bt_json_writer writer;
	setup.config_path = alternative->config_path;
	int result = bt_setup_start(command->name, &setup, &err);
	if (result == 0) {
		result = bt_replay_answer_find(&options->request, &setup, &warnings, &answer, &err);
	}
	if (result < 0) {
		result = bt_error_wrap(&err, result, "%.*s", BT_STR_ARG(alternative->name));
		return bt_command_fail(command, &err);
	}
	bt_json_writer_init(&writer, out, 0);
	bt_replay_answer_write_json(&answer, &writer);
	bt_replay_answer_finish(&answer);
	return BT_EXIT_OK;
}

static int take_answer(void *context, uint32_t index, struct bt_str json, struct berth_error *err)
{
	struct options *options = context;
	struct bt_arena *arena = &options->line.arena;
	return bt_json_parse(arena, bt_arena_str(arena, json), false,
		&options->comparison.alternatives[index].answer, err);
}

/** --- the table --- */

enum format {
	FORMAT_COUNT,
	FORMAT_SECONDS,
	FORMAT_SHARE,
	FORMAT_AMOUNT,
};

/** A row of the table; list not NULL: one row for each element of the first alternative's list. */
struct row {
	const char *list;
	const char *before; /* the title, or the part of the title before the element's name */
	const char *behind;
	const char *path; /* path of the value in the answer, or in the element */
	enum format format;
};

static const struct row rows[] = {
	{NULL, "pods that asked for a node", "", "pods.created", FORMAT_COUNT},
	{NULL, "bound", "", "pods.bound", FORMAT_COUNT},
	{NULL, "pending at the end", "", "pods.pending", FORMAT_COUNT},
	{NULL, "preempted", "", "pods.preempted", FORMAT_COUNT},
	{NULL, "evicted by taints", "", "pods.evicted", FORMAT_COUNT},
	{NULL, "hours of work lost", "", "lostHours", FORMAT_AMOUNT},
	{"priorities", "priority ", ": waited p50", "waitedSeconds.p50", FORMAT_SECONDS},
	{"priorities", "priority ", ": waited p95", "waitedSeconds.p95", FORMAT_SECONDS},
	{"priorities", "priority ", ": waited p99", "waitedSeconds.p99", FORMAT_SECONDS},
	{"priorities", "priority ", ": waited at most", "waitedSeconds.max", FORMAT_SECONDS},
	{"resources", "", " in use", "inUse", FORMAT_SHARE},
	{"resources", "", " in use at most", "peak", FORMAT_SHARE},
	{"resources", "", " free, but of no use to typical pods", "fragmented", FORMAT_SHARE},
	{NULL, "node-hours in use", "", "nodes.usedHours", FORMAT_AMOUNT},
	{NULL, "nodes in use at most", "", "nodes.mostUsed", FORMAT_COUNT},
	{NULL, "nodes that stayed empty", "", "nodes.neverUsed", FORMAT_COUNT},
	/* Only with --prices. */
	{NULL, "cost of nodes in use", "", "nodes.usedCost", FORMAT_AMOUNT},
};

static void write_rows(
	struct bt_table *table, const struct comparison *comparison, const struct row *row)
{
	const struct bt_json_value *first = row->list != NULL
		? bt_json_find(comparison->alternatives[0].answer, row->list)
		: NULL;
	uint32_t count = row->list == NULL ? 1 : first != NULL ? first->count : 0;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str name = BT_STR("");
		bt_strbuf_append_c(&table->text, row->before);
		if (first != NULL) {
			name = bt_json_find_str(first->elements[i], "name");
			bt_printable_append(&table->text, name);
		}
		bt_strbuf_append_c(&table->text, row->behind);
		bt_table_end_cell(table);
		for (uint32_t k = 0; k < comparison->count && k < SHOWN_MAX; k++) {
			const struct bt_json_value *value = comparison->alternatives[k].answer;
			if (first != NULL) {
				value = bt_json_element_with(
					bt_json_array_at(value, row->list), "name", name);
			}
			value = bt_json_find_path(value, row->path);
			double number = value != NULL && value->type == BT_JSON_NUMBER
				? strtod(value->text.data, NULL)
				: 0;
			switch (value != NULL ? row->format : FORMAT_COUNT) {
			case FORMAT_COUNT:
				bt_strbuf_append_str(
					&table->text, value != NULL ? value->text : BT_STR("-"));
				break;
			case FORMAT_SECONDS:
				bt_duration_format(
					(int64_t)(number * 1e3) * (BT_NS_PER_SECOND / 1000),
					&table->text);
				break;
			case FORMAT_SHARE:
				bt_strbuf_printf(&table->text, "%.1f%%", number * 100);
				break;
			case FORMAT_AMOUNT:
				bt_strbuf_printf(&table->text, "%.1f", number);
				break;
			}
			bt_table_end_cell(table);
		}
	}
}

/** --- JSON and the report --- */

static void write_json(const void *context, struct bt_json_writer *writer)
{
	const struct comparison *comparison = context;
	bt_json_write(writer, "{apiVersion: 'berth.dev/v1', kind: 'Comparison', alternatives: [");
	for (uint32_t i = 0; i < comparison->count; i++) {
		bt_json_write(writer, "{name: %s, replay: %t}", comparison->alternatives[i].name,
			comparison->alternatives[i].answer);
	}
	bt_json_write(writer, "]}");
}

/** --- the command --- */

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	struct comparison *comparison = &options->comparison;
	const struct bt_processes processes = {
		.context = options,
		.work = replay_alternative,
		.take = take_answer,
		.name = name_alternative,
		.failed = "was not replayed",
		.progress = "replaying alternatives",
		.jobs = options->jobs,
	};
	int result = bt_processes_run(&processes, comparison->count, err);
	if (result == 0 && options->report_path != NULL) {
		/*
		 * Write one self-contained HTML file. Names come from the input: escape "<", so
		 * that they cannot end the script.
		 */
		struct bt_str page = {report_page, sizeof(report_page)};
		struct bt_strbuf html = {0};
		struct bt_json_writer writer;
		int64_t mark = bt_str_find(page, BT_STR(DATA_MARK));
		BT_ASSERT(mark >= 0);
		bt_strbuf_append_str(&html, bt_str_sub(page, 0, (uint32_t)mark));
		bt_json_writer_init(&writer, &html, 0);
		writer.escape_html = true;
		write_json(comparison, &writer);
		bt_strbuf_append_str(&html,
			bt_str_sub(page, (uint32_t)mark + (uint32_t)sizeof(DATA_MARK) - 1,
				page.length));
		FILE *file = fopen(options->report_path, "we");
		bool is_written =
			file != NULL && fwrite(html.data, 1, html.length, file) == html.length;
		if (file != NULL && fclose(file) != 0) {
			is_written = false;
		}
		bt_strbuf_finish(&html);
		result = is_written ? 0
				    : bt_error_set(err, BERTH_ERR_IO, "--report: %s: %s",
					      options->report_path, strerror(errno));
	}
	if (result == 0 && options->line.format != BT_OUTPUT_TABLE) {
		return bt_output_document(options->line.format, write_json, comparison, out, err);
	}
	if (result == 0) {
		bool has_prices = options->request.prices_path != NULL;
		uint32_t shown = comparison->count < SHOWN_MAX ? comparison->count : SHOWN_MAX;
		struct bt_table table = {.column_count = 1 + shown};
		bt_table_add_c(&table, "");
		for (uint32_t i = 0; i < shown; i++) {
			bt_table_add(&table, comparison->alternatives[i].name);
		}
		size_t row_count =
			BT_ARRAY_LENGTH(rows) - (has_prices ? 0 : 1); /* the last row: costs */
		for (size_t i = 0; i < row_count; i++) {
			write_rows(&table, comparison, &rows[i]);
		}
		bt_table_write(&table, out);
		if (comparison->count > SHOWN_MAX) {
			bt_text_append(out,
				"and %n more {alternative|alternatives}: -o json has all\n",
				comparison->count - SHOWN_MAX);
		}
	}
	return result;
}

/** Returns the file's name without folder and extension; "default" without a file. */
static struct bt_str short_name(const struct alternative *alternative)
{
	if (alternative->config_path == NULL) {
		return BT_STR("default");
	}
	struct bt_str name = bt_str_from(alternative->config_path);
	int64_t slash = bt_str_find_last_char(name, '/');
	name = bt_str_sub(name, (uint32_t)(slash + 1), name.length);
	int64_t dot = bt_str_find_last_char(name, '.');
	return dot > 0 ? bt_str_sub(name, 0, (uint32_t)dot) : name;
}

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	int result = bt_replay_request_check(&options->request, &options->line.arguments, err);
	if (result < 0) {
		return result;
	}
	struct comparison *comparison = &options->comparison;
	uint32_t config_count = options->configs.list.count;
	if (config_count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"nothing to compare with: name a configuration with --config");
	}
	result = bt_processes_check_jobs(options->jobs, err);
	if (result < 0) {
		return result;
	}
	if (config_count + 1 > ALTERNATIVES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--config: at most %d may be compared",
			ALTERNATIVES_MAX - 1);
	}
	comparison->count = config_count > 1 ? config_count : config_count + 1;
	comparison->alternatives =
		BT_ARENA_NEW_ARRAY(&options->line.arena, struct alternative, comparison->count);
	uint32_t first = comparison->count - config_count;
	for (uint32_t i = 0; i < comparison->count; i++) {
		bool is_default =
			i < first || strcmp(options->configs.list.items[i - first], "default") == 0;
		const char *path = is_default ? NULL : options->configs.list.items[i - first];
		comparison->alternatives[i] = (struct alternative){.config_path = path};
	}
	for (uint32_t i = 0; i < comparison->count; i++) {
		struct alternative *alternative = &comparison->alternatives[i];
		alternative->name = short_name(alternative);
		for (uint32_t k = 0; k < comparison->count; k++) {
			if (k != i && alternative->config_path != NULL &&
				bt_str_equal(alternative->name,
					short_name(&comparison->alternatives[k]))) {
				alternative->name = bt_str_from(alternative->config_path);
			}
		}
	}
	result = bt_command_check_output(
		&options->line, "report", options->report_path, options->request.prices_path, err);
	for (uint32_t i = 0; i < config_count && result == 0; i++) {
		result = bt_command_check_output(&options->line, "report", options->report_path,
			options->configs.list.items[i], err);
	}
	return result;
}

static const struct bt_flag flags[] = {
	{"config", 0, BT_FLAG_STRINGS, offsetof(struct options, configs), "FILE|default",
		"KubeSchedulerConfiguration, YAML or JSON; may be repeated (a single one is "
		"compared with upstream's defaults)"},
	BT_REPLAY_FLAGS_AT(offsetof(struct options, request)),
	{"seed", 0, BT_FLAG_INT, offsetof(struct options, line.setup.tie_seed), "N",
		"choose among nodes of equal score at random, with this seed "
		"(default: upstream's order)"},
	{"report", 0, BT_FLAG_STRING, offsetof(struct options, report_path), "FILE",
		"write a page with charts: one HTML file that needs no network"},
	{"jobs", 'j', BT_FLAG_INT, offsetof(struct options, jobs), "N",
		"run N replays in parallel (default: one for each processor)"},
	BT_OUTPUT_FLAG("table|json|yaml"),
	BT_SETUP_OTHER_FLAGS,
};

const struct bt_command bt_command_compare = {
	.name = "compare",
	.group = BT_COMMAND_ASK,
	.summary = "Replay a recording with several configurations, and compare the results.",
	.usage = "berth compare FILE... --config FILE [--config FILE ...] [FLAGS]",
	.arguments = "FILE...",
	.help = "Replays a recording (see \"berth help replay\") once for each configuration,\n"
		"each in its own process, and compares: pods bound and pending, how long they\n"
		"waited, how much of the cluster was in use, free resources that no typical pod\n"
		"could use, preemptions and the run time lost by them, the nodes that were\n"
		"needed, and their cost. --report writes the comparison as a page with charts.\n",
	.examples = "  # The default configuration and one that packs nodes tightly\n"
		    "  berth compare week.berthrec --config most-allocated.yaml\n"
		    "\n"
		    "  # Three alternatives, with prices, as a page to show\n"
		    "  berth compare week.berthrec --config default --config a.yaml \\\n"
		    "    --config b.yaml --prices prices.yaml --report week.html\n",
	.exit_status = "  0  all alternatives were replayed\n"
		       "  2  a recording, a configuration or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.options_bytes = sizeof(struct options),
	.check = check,
	.run = run,
};
