/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "api/quantity.h"
#include "api/time.h"
#include "cli/command.h"
#include "replay/change_import.h"

#define MACHINES_MAX 1000000

#define FLAGS_MAX 4

static const struct source {
	const char *name;
	const char *start; /* time 0 of the trace; NULL: not known */
	int (*import)(struct bt_import *import, const struct bt_import_request *request,
		struct berth_error *err);
	const char *flags[FLAGS_MAX]; /* flags that only some sources have; NULL after the last */
} sources[] = {
	{"alibaba-gpu-2023", "2023-01-01T00:00:00Z", bt_import_alibaba_gpu_2023,
		{"seed", "inflate"}},
	{"azure-packing-2020", "2020-01-01T00:00:00Z", bt_import_azure_packing_2020,
		{"machine-cpu", "machine-memory", "machines", "machine-type"}},
	/* Time 0 of the trace is 600 s before 1 May 2019, midnight in California. */
	{"google-2019", "2019-05-01T06:50:00Z", bt_import_google_2019,
		{"machine-cpu", "machine-memory"}},
	{"manifests", "2026-01-01T00:00:00Z", bt_import_manifests, {"arrivals", "seed"}},
	/* The start time of the virtual clock. */
	{"scheduler-perf", "2026-01-01T00:00:00Z", bt_import_scheduler_perf, {"workload"}},
	{"simulator", "1970-01-01T00:00:00Z", bt_import_simulator, {NULL}},
};

struct options {
	struct bt_command_line line;
	const char *output_path;
	const char *machine_cpu;
	const char *machine_memory;
	int64_t machine_count;
	const char *inflate;
	struct bt_import_request request;
	bool no_gzip;
};

static const struct bt_flag flags[] = {
	{"output", 'o', BT_FLAG_STRING, offsetof(struct options, output_path), "FILE|-",
		"file to write, which must not exist"},
	{"arrivals", 0, BT_FLAG_STRING, offsetof(struct options, request.arrivals), "poisson:RATE",
		"arrivals of the pods of manifests: poisson:5/s, or /m, /h (default: at the "
		"start)"},
	{"seed", 0, BT_FLAG_INT, offsetof(struct options, request.seed), "N",
		"seed of random arrivals, or of drawn pods (default 0)"},
	{"inflate", 0, BT_FLAG_STRING, offsetof(struct options, inflate), "FACTOR",
		"alibaba-gpu-2023: draw pods at random until they request FACTOR times all GPUs"},
	{"machine-cpu", 0, BT_FLAG_STRING, offsetof(struct options, machine_cpu), "CPUS",
		"cpus of a machine, for traces with fractions of machines (default 64)"},
	{"machine-memory", 0, BT_FLAG_STRING, offsetof(struct options, machine_memory), "BYTES",
		"memory of a machine, for the same traces (default 256Gi)"},
	{"workload", 0, BT_FLAG_STRING, offsetof(struct options, request.workload), "TEST/WORKLOAD",
		"workload of a scheduler-perf file"},
	{"machines", 0, BT_FLAG_INT, offsetof(struct options, machine_count), "N",
		"azure-packing-2020: number of machines"},
	{"machine-type", 0, BT_FLAG_INT, offsetof(struct options, request.machine_type), "ID",
		"azure-packing-2020: machine type (default: the one on which most VMs can run)"},
	{"no-gzip", 0, BT_FLAG_BOOL, offsetof(struct options, no_gzip), NULL,
		"write plain JSON lines"},
};

static const struct options defaults = {
	.machine_cpu = "64", .machine_memory = "256Gi", .request = {.machine_type = INT64_MIN}};

/** Print warnings for defective rows. Returns the number of rows that were left out. */
static uint64_t print_defects(const struct bt_command *command, const struct bt_import *import)
{
	uint64_t rows = 0;
	for (uint32_t i = 0; i < import->defects.count; i++) {
		const struct bt_import_defect *defect = &import->defects.items[i];
		rows += defect->is_row_kept ? 0 : defect->count;
		bt_console_print(stderr,
			"berth %c: warning: %c: %d {row|rows} %c: %c ({line|lines} ", command->name,
			defect->path, (int64_t)defect->count,
			defect->is_row_kept ? "used in part" : "left out", defect->reason);
		for (uint32_t n = 0; n < defect->count && n < BT_IMPORT_LINES_SHOWN; n++) {
			(void)fprintf(stderr, "%s%lu", n == 0 ? "" : ", ", defect->lines[n]);
		}
		(void)fprintf(
			stderr, "%s)\n", defect->count > BT_IMPORT_LINES_SHOWN ? ", ..." : "");
	}
	return rows;
}

static int parse_amount(const char *flag, const char *text, const char *most,
	int64_t (*convert)(const struct bt_quantity *quantity), int64_t *out_amount,
	struct berth_error *err)
{
	struct bt_quantity quantity;
	struct bt_quantity limit;
	struct bt_arena arena = {0};
	int result = bt_quantity_parse(bt_str_from(most), &arena, &limit, err);
	if (result == 0) {
		result = bt_quantity_parse(bt_str_from(text), &arena, &quantity, err);
	}
	if (result < 0) {
		result = bt_error_wrap(err, result, "%s", flag);
	} else {
		*out_amount = convert(&quantity);
		if (*out_amount <= 0 || bt_quantity_compare(&quantity, &limit) > 0) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"%s: must be above 0 and at most %s, not %s", flag, most, text);
		}
	}
	bt_arena_finish(&arena);
	return result;
}

static bool has_flag(const struct source *source, const char *name)
{
	for (uint32_t i = 0; i < FLAGS_MAX && source->flags[i] != NULL; i++) {
		if (strcmp(source->flags[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static int check_source(
	const struct source *source, struct options *options, struct berth_error *err)
{
	struct bt_import_request *request = &options->request;
	int result = 0;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(flags) && result == 0; i++) {
		const struct bt_flag *flag = &flags[i];
		size_t bytes = flag->type == BT_FLAG_INT ? sizeof(int64_t) : sizeof(const char *);
		bool is_given = memcmp((const char *)options + flag->offset,
					(const char *)&defaults + flag->offset, bytes) != 0;
		struct bt_strbuf others = {0};
		for (size_t k = 0; k < BT_ARRAY_LENGTH(sources); k++) {
			if (has_flag(&sources[k], flag->name)) {
				bt_strbuf_printf(&others, "%s%s", others.length == 0 ? "" : " and ",
					sources[k].name);
			}
		}
		result = others.length != 0 && !has_flag(source, flag->name) && is_given
			? bt_error_set(err, BERTH_ERR_INVALID, "--%s: only for %s, not for %s",
				  flag->name, bt_strbuf_c(&others), source->name)
			: 0;
		bt_strbuf_finish(&others);
	}
	if (result < 0) {
		return result;
	}
	if (options->machine_count < 0 || options->machine_count > MACHINES_MAX) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--machines: must be from 1 to %d", MACHINES_MAX);
	}
	request->machine_count = (uint32_t)options->machine_count;
	if (request->machine_type < 0 && request->machine_type != defaults.request.machine_type) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--machine-type: must not be negative");
	}
	if (options->inflate != NULL) {
		result = parse_amount("--inflate", options->inflate, "100", bt_quantity_milli,
			&request->inflate_milli, err);
	}
	/* Doubles represent integers up to these amounts exactly. */
	if (result == 0) {
		result = parse_amount("--machine-cpu", options->machine_cpu, "1Ti",
			bt_quantity_milli, &request->machine_cpu_milli, err);
	}
	if (result == 0) {
		result = parse_amount("--machine-memory", options->machine_memory, "1Pi",
			bt_quantity_value, &request->machine_memory_bytes, err);
	}
	return result;
}

static int run(void *context, struct bt_strbuf *answer BT_UNUSED, struct berth_error *err)
{
	struct options *options = context;
	const struct bt_arguments *arguments = &options->line.arguments;
	const char *output_path = options->output_path;
	struct bt_import_request *request = &options->request;
	struct bt_time start = {0};
	const struct source *source = NULL;
	struct bt_strbuf known = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(sources); i++) {
		if (strcmp(sources[i].name, arguments->list.items[0]) == 0) {
			source = &sources[i];
		}
		bt_strbuf_printf(&known, "%s%s", i == 0 ? "" : ", ", sources[i].name);
	}
	int result = source != NULL
		? bt_time_parse(bt_str_from(source->start), &start, err)
		: bt_error_set(err, BERTH_ERR_INVALID, "no source is called \"%s\"; there is %s",
			  arguments->list.items[0], bt_strbuf_c(&known));
	bt_strbuf_finish(&known);
	if (result == 0) {
		result = check_source(source, options, err);
	}
	if (result < 0) {
		return result;
	}
	request->paths = arguments->list.items + 1;
	request->path_count = arguments->list.count - 1;
	request->warn = bt_warnings_take;
	request->warn_context = &options->line.warnings;
	struct bt_import *import = bt_import_create(
		output_path, !options->no_gzip, "berth import", bt_time_ns(&start));
	result = source->import(import, request, err);
	if (result == 0) {
		result = bt_import_end(import, err);
	}
	uint64_t rows = print_defects(options->line.command, import);
	if (result == 0) {
		/* Keep standard output free for the recording. */
		FILE *out = strcmp(output_path, "-") == 0 ? stderr : stdout;
		/* A pipe has no bytes. */
		bt_console_print(out,
			"%c: objects at the start %u, arriving pods %d, rows left out %d[, bytes "
			"%d]\n",
			output_path, import->object_count, (int64_t)import->pod_count,
			(int64_t)rows, (int64_t)import->bytes);
	}
	bt_import_destroy(import);
	return result;
}

static int check(void *context, struct berth_error *err)
{
	const struct options *options = context;
	if (options->line.arguments.list.count < 2) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"name the kind of source and its files: %s", options->line.command->usage);
	}
	return options->output_path != NULL
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "name the recording: -o FILE.berthrec");
}

const struct bt_command bt_command_import = {
	.name = "import",
	.group = BT_COMMAND_ASK,
	.summary = "Make a recording from a public trace or from manifests.",
	.usage = "berth import KIND FILE... -o FILE.berthrec [FLAGS]",
	.arguments = "FILE",
	.help = "Reads a published trace of a real cluster, or manifests, and writes a\n"
		"recording. The kinds of sources:\n"
		"\n"
		"  alibaba-gpu-2023    Alibaba's GPU cluster trace of 2023: the table of nodes\n"
		"                      and one table of pods, CSV\n"
		"  azure-packing-2020  Azure's packing trace of 2020: its SQLite database\n"
		"  google-2019         Google's cluster data of 2019: files of machine_events and\n"
		"                      instance_events, and optionally of machine_attributes and\n"
		"                      collection_events; JSON lines or CSV\n"
		"  manifests           YAML, JSON, snapshots: pods without a node arrive one\n"
		"                      after the other; all other objects exist from the start\n"
		"  scheduler-perf      a workload (--workload) of a file of upstream's benchmark\n"
		"                      scheduler_perf\n"
		"  simulator           files that the recorder of kube-scheduler-simulator wrote\n"
		"\n"
		"Rows that cannot be used are left out, and counted by kind of defect.\n",
	.examples = "  berth import alibaba-gpu-2023 openb_node_list_all_node.csv \\\n"
		    "    openb_pod_list_default.csv -o openb.berthrec\n"
		    "\n"
		    "  # Draw pods until they request 1.3 times all GPUs\n"
		    "  berth import alibaba-gpu-2023 openb_node_list_all_node.csv \\\n"
		    "    openb_pod_list_default.csv --inflate 1.3 --seed 7 -o full.berthrec\n"
		    "\n"
		    "  berth import manifests cluster.yaml load.yaml --arrivals poisson:5/s \\\n"
		    "    -o load.berthrec\n",
	.exit_status = "  0  the recording was written; rows with defects are left out\n"
		       "  2  the flags or files are wrong, or the recording cannot be written\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
