/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "replay/import.h"
#include "replay/rows.h"
#include "replay/trace_objects.h"

/* berth-import(1) describes how the trace's amounts are converted. */

#define GPU "nvidia.com/gpu"
#define GPU_MILLI "berth.dev/gpu-milli"
#define GPU_MODEL "nvidia.com/gpu.product"
#define MILLI_PER_GPU 1000
#define GPUS_MAX 1000
#define MODELS_MAX 32
/** Time between the arrivals of drawn pods. */
#define ARRIVAL_INTERVAL_NS (BT_NS_PER_SECOND / 10)
#define DRAWN_MAX 10000000

enum node_column { SN, NODE_CPU, NODE_MEMORY, NODE_GPU, MODEL, NODE_COLUMN__COUNT };
static const char *const node_columns[NODE_COLUMN__COUNT] = {
	"sn", "cpu_milli", "memory_mib", "gpu", "model"};

enum pod_column {
	NAME,
	CPU,
	MEMORY,
	NUM_GPU,
	SHARE,
	GPU_SPEC,
	QOS,
	CREATION_TIME,
	DELETION_TIME,
	SCHEDULED_TIME,
	POD_COLUMN__COUNT,
};
static const char *const pod_columns[POD_COLUMN__COUNT] = {"name", "cpu_milli", "memory_mib",
	"num_gpu", "gpu_milli", "gpu_spec", "qos", "creation_time", "deletion_time",
	"scheduled_time"};

static int select_columns(
	struct bt_rows *rows, const char *const *names, uint32_t count, struct berth_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!bt_rows_has(rows, names[i])) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: has no column %s: is it a table of Alibaba's GPU cluster "
				"trace of 2023?",
				rows->path, names[i]);
		}
	}
	bt_rows_select(rows, names, count);
	return 0;
}

/** Reads "12" or "12.0". */
static bool read_amount(struct bt_str text, int64_t max, int64_t *out_amount)
{
	struct bt_str fraction = text;
	struct bt_str whole = bt_str_cut(&fraction, '.');
	for (uint32_t i = 0; i < fraction.length; i++) {
		if (fraction.data[i] != '0') {
			return false;
		}
	}
	return bt_str_parse_int64(whole, out_amount) && *out_amount >= 0 && *out_amount <= max;
}

/** Returns the number of whole GPUs; 0 if the pod requests a share of a GPU. */
static struct bt_trace_amount count_whole_gpus(int64_t gpus, int64_t share)
{
	return (struct bt_trace_amount){GPU, share == MILLI_PER_GPU ? gpus : 0, "", true};
}

static struct bt_trace_amount gpu_shares(int64_t gpus, int64_t share)
{
	return (struct bt_trace_amount){GPU_MILLI, gpus * share, "", true};
}

/** --- nodes --- */

static const char *find_node_flaw(const struct bt_str *values, int64_t *out_amounts)
{
	if (!bt_dns1123_label_is_valid(values[SN])) {
		return "sn is no name of a node (lower case letters, digits, -)";
	}
	if (!read_amount(values[NODE_CPU], BT_TRACE_AMOUNT_MAX, &out_amounts[NODE_CPU])) {
		return "cpu_milli is no whole number";
	}
	if (!read_amount(values[NODE_MEMORY], BT_TRACE_AMOUNT_MAX, &out_amounts[NODE_MEMORY])) {
		return "memory_mib is no whole number";
	}
	return read_amount(values[NODE_GPU], GPUS_MAX, &out_amounts[NODE_GPU])
		? NULL
		: "gpu is no number of GPUs";
}

/** Imports the table of nodes. *out_gpus: number of GPUs of all nodes. */
static int import_nodes(
	struct bt_import *import, struct bt_rows *rows, int64_t *out_gpus, struct berth_error *err)
{
	const struct bt_str *values;
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	struct bt_str time = bt_time_text(&arena, import->start_ns);
	int result = select_columns(rows, node_columns, NODE_COLUMN__COUNT, err);
	while (result >= 0 && (result = bt_rows_next(rows, &values, err)) == 1) {
		int64_t amounts[NODE_COLUMN__COUNT] = {0};
		const char *flaw = find_node_flaw(values, amounts);
		if (flaw != NULL) {
			bt_rows_add_defect(rows, flaw, false);
			continue;
		}
		const struct bt_str_pair labels[] = {
			{BT_STR("kubernetes.io/hostname"), values[SN]},
			{BT_STR(GPU_MODEL), values[MODEL]},
		};
		const struct bt_trace_amount resources[] = {
			{"cpu", amounts[NODE_CPU], "m", false},
			{"memory", amounts[NODE_MEMORY], "Mi", false},
			count_whole_gpus(amounts[NODE_GPU], MILLI_PER_GPU),
			gpu_shares(amounts[NODE_GPU], MILLI_PER_GPU),
		};
		const struct bt_trace_node node = {
			.name = values[SN],
			.time = time,
			.labels = labels,
			.label_count = BT_ARRAY_LENGTH(labels),
			.amounts = resources,
			.amount_count = BT_ARRAY_LENGTH(resources),
		};
		bt_trace_write_node(&node, &text);
		*out_gpus += amounts[NODE_GPU];
		bt_import_add_object(import, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

/** --- pods --- */

/** Splits "V100|T4". Returns the number of models; MODELS_MAX + 1: there are too many. */
static uint32_t split_models(struct bt_str models, struct bt_str *out_models)
{
	uint32_t count = 0;
	while (models.length != 0 && count <= MODELS_MAX) {
		out_models[count] = bt_str_cut(&models, '|');
		count += out_models[count].length != 0;
	}
	return count;
}

static void write_pod(struct bt_strbuf *out, const struct bt_str *values, const int64_t *amounts,
	struct bt_str time)
{
	struct bt_str models[MODELS_MAX + 1];
	const struct bt_trace_expression model = {
		BT_STR(GPU_MODEL), "In", models, split_models(values[GPU_SPEC], models)};
	const struct bt_str_pair label = {BT_STR("qos"), values[QOS]};
	const struct bt_trace_amount resources[] = {
		{"cpu", amounts[CPU], "m", false},
		{"memory", amounts[MEMORY], "Mi", false},
		count_whole_gpus(amounts[NUM_GPU], amounts[SHARE]),
		gpu_shares(amounts[NUM_GPU], amounts[SHARE]),
	};
	const struct bt_trace_pod pod = {
		.name = values[NAME],
		.time = time,
		.labels = &label,
		.label_count = 1,
		.amounts = resources,
		.amount_count = BT_ARRAY_LENGTH(resources),
		.priority = -1,
		.expressions = &model,
		.expression_count = model.value_count != 0,
	};
	bt_trace_write_pod(&pod, out);
}

static const char *find_pod_flaw(
	const struct bt_str *values, int64_t *out_amounts, int64_t last_seconds)
{
	if (!bt_dns1123_label_is_valid(values[NAME])) {
		return "name is no name of a pod (lower case letters, digits, -)";
	}
	if (!read_amount(values[CPU], BT_TRACE_AMOUNT_MAX, &out_amounts[CPU])) {
		return "cpu_milli is no whole number";
	}
	if (!read_amount(values[MEMORY], BT_TRACE_AMOUNT_MAX, &out_amounts[MEMORY])) {
		return "memory_mib is no whole number";
	}
	if (!read_amount(values[NUM_GPU], GPUS_MAX, &out_amounts[NUM_GPU])) {
		return "num_gpu is no number of GPUs";
	}
	if (!read_amount(values[SHARE], MILLI_PER_GPU, &out_amounts[SHARE])) {
		return "gpu_milli is not from 0 to 1000";
	}
	if (out_amounts[NUM_GPU] == 1
			? out_amounts[SHARE] == 0
			: out_amounts[SHARE] != (out_amounts[NUM_GPU] == 0 ? 0 : MILLI_PER_GPU)) {
		return "gpu_milli does not fit num_gpu: a share of one GPU, or 1000 of each";
	}
	struct bt_str models[MODELS_MAX + 1];
	if (split_models(values[GPU_SPEC], models) > MODELS_MAX) {
		return "gpu_spec has more than 32 models";
	}
	if (!read_amount(
		    values[CREATION_TIME], BT_RECORDING_SECONDS_MAX, &out_amounts[CREATION_TIME])) {
		return "creation_time is no number of seconds";
	}
	if (!read_amount(
		    values[DELETION_TIME], BT_RECORDING_SECONDS_MAX, &out_amounts[DELETION_TIME])) {
		return "deletion_time is no number of seconds";
	}
	bool was_bound = values[SCHEDULED_TIME].length != 0;
	out_amounts[SCHEDULED_TIME] = -1;
	if (was_bound &&
		!read_amount(values[SCHEDULED_TIME], BT_RECORDING_SECONDS_MAX,
			&out_amounts[SCHEDULED_TIME])) {
		return "scheduled_time is no number of seconds";
	}
	if (out_amounts[CREATION_TIME] < last_seconds) {
		return "creation_time is before that of a row above: the table must be sorted by "
		       "it";
	}
	if (out_amounts[DELETION_TIME] < out_amounts[CREATION_TIME]) {
		return "deletion_time is before creation_time";
	}
	return was_bound &&
			(out_amounts[SCHEDULED_TIME] < out_amounts[CREATION_TIME] ||
				out_amounts[SCHEDULED_TIME] > out_amounts[DELETION_TIME])
		? "scheduled_time is not between creation_time and deletion_time"
		: NULL;
}

/** A row of the table that pods are drawn from. Texts are in the arena. */
struct drawn_row {
	struct bt_str values[POD_COLUMN__COUNT];
	int64_t amounts[POD_COLUMN__COUNT];
};

struct drawing {
	BT_VEC(struct drawn_row) rows;
	struct bt_arena arena;
};

/**
 * Draws pods of the table at random until they request the given part of all GPUs. They arrive one
 * after the other and stay, so the cluster fills up: the result shows how many pods find a node.
 */
static int draw_pods(struct bt_import *import, const struct drawing *drawing,
	const struct bt_import_request *request, int64_t gpus, struct berth_error *err)
{
	struct bt_prng prng;
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	int64_t wanted_milli = gpus * request->inflate_milli;
	int64_t asked_milli = 0;
	int64_t table_milli = 0;
	int result = 0;
	for (uint32_t i = 0; i < drawing->rows.count; i++) {
		const int64_t *amounts = drawing->rows.items[i].amounts;
		table_milli += amounts[NUM_GPU] * amounts[SHARE];
	}
	if (gpus == 0 || table_milli == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--inflate: %s",
			gpus == 0 ? "no node has a GPU" : "no pod requests a GPU");
	}
	bt_prng_init(&prng, (uint64_t)request->seed);
	for (uint32_t i = 0; asked_milli < wanted_milli && result == 0; i++) {
		struct drawn_row row =
			drawing->rows.items[bt_prng_below(&prng, drawing->rows.count)];
		int64_t time_ns = (int64_t)i * ARRIVAL_INTERVAL_NS;
		if (i == DRAWN_MAX) {
			result = bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"--inflate: more than %d pods would be drawn", DRAWN_MAX);
			break;
		}
		bt_arena_reset(&arena);
		row.values[NAME] = bt_arena_printf(&arena, "drawn-%07u", i);
		write_pod(&text, row.values, row.amounts,
			bt_time_text(&arena, import->start_ns + time_ns));
		asked_milli += row.amounts[NUM_GPU] * row.amounts[SHARE];
		const struct bt_import_pod pod = {
			.time_ns = time_ns,
			.namespace_ = BT_STR("default"),
			.name = row.values[NAME],
			.json = bt_strbuf_str(&text),
			.runs_ns = -1,
			.leaves_ns = -1,
			.ends_ns = time_ns + ARRIVAL_INTERVAL_NS,
		};
		result = bt_import_add_pod(import, &pod, err);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

/**
 * Reads the table of pods. If drawing is NULL, each row is imported as a pod; otherwise the rows
 * are only added to drawing.
 */
static int import_pods(struct bt_import *import, struct bt_rows *rows, struct drawing *drawing,
	struct berth_error *err)
{
	const struct bt_str *values;
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	int64_t last_seconds = 0;
	int result = select_columns(rows, pod_columns, POD_COLUMN__COUNT, err);
	while (result >= 0 && (result = bt_rows_next(rows, &values, err)) == 1) {
		int64_t amounts[POD_COLUMN__COUNT] = {0};
		const char *flaw = find_pod_flaw(values, amounts, last_seconds);
		if (flaw != NULL) {
			bt_rows_add_defect(rows, flaw, false);
			continue;
		}
		last_seconds = amounts[CREATION_TIME];
		if (drawing != NULL) {
			struct drawn_row row;
			for (uint32_t i = 0; i < POD_COLUMN__COUNT; i++) {
				row.values[i] = bt_arena_str(&drawing->arena, values[i]);
				row.amounts[i] = amounts[i];
			}
			bt_vec_push(&drawing->rows, row);
			continue;
		}
		int64_t time_ns = last_seconds * BT_NS_PER_SECOND;
		bool was_bound = amounts[SCHEDULED_TIME] >= 0;
		bt_arena_reset(&arena);
		write_pod(&text, values, amounts, bt_time_text(&arena, import->start_ns + time_ns));
		/*
		 * A pod that never ran is deleted at its deletion time in the trace, because its
		 * run time is not known.
		 */
		const struct bt_import_pod pod = {
			.time_ns = time_ns,
			.namespace_ = BT_STR("default"),
			.name = values[NAME],
			.json = bt_strbuf_str(&text),
			.runs_ns = was_bound ? (amounts[DELETION_TIME] - amounts[SCHEDULED_TIME]) *
					BT_NS_PER_SECOND
					     : -1,
			.leaves_ns = was_bound ? -1 : amounts[DELETION_TIME] * BT_NS_PER_SECOND,
			.ends_ns = amounts[DELETION_TIME] * BT_NS_PER_SECOND,
		};
		result = bt_import_add_pod(import, &pod, err);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

int bt_import_alibaba_gpu_2023(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct bt_rows *nodes = NULL;
	struct bt_rows *pods = NULL;
	struct drawing drawing = {0};
	int64_t gpus = 0;
	int result = 0;
	for (uint32_t i = 0; i < request->path_count && result == 0; i++) {
		struct bt_rows *rows = NULL;
		result = bt_rows_open(request->paths[i], import, &rows, err);
		if (result < 0) {
			break;
		}
		struct bt_rows **slot = bt_rows_has(rows, "sn") ? &nodes : &pods;
		if (*slot != NULL) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"%s and %s are both tables of %s; name one of each", (*slot)->path,
				request->paths[i], slot == &nodes ? "nodes" : "pods");
			bt_rows_close(rows);
		} else {
			*slot = rows;
		}
	}
	if (result == 0 && (nodes == NULL || pods == NULL)) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"the table of %s is missing: name both, of nodes (column sn) and of pods",
			nodes == NULL ? "nodes" : "pods");
	}
	if (result == 0) {
		result = import_nodes(import, nodes, &gpus, err);
	}
	if (result == 0) {
		result = bt_import_begin(import, err);
	}
	if (result == 0) {
		bool draws = request->inflate_milli != 0;
		result = import_pods(import, pods, draws ? &drawing : NULL, err);
		if (result == 0 && draws) {
			result = draw_pods(import, &drawing, request, gpus, err);
		}
	}
	bt_vec_finish(&drawing.rows);
	bt_arena_finish(&drawing.arena);
	bt_rows_close(nodes);
	bt_rows_close(pods);
	return result;
}
