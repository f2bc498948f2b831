/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "base/nanoseconds.h"
#include "codec/json.h"
#include "replay/csv.h"
#include "replay/import.h"
#include "replay/recording.h"

/* How the trace's amounts become Kubernetes' is described in berth-import(1). */

#define GPU "nvidia.com/gpu"
#define GPU_MILLI "berth.dev/gpu-milli"
#define GPU_MODEL "nvidia.com/gpu.product"
/** The trace knows no limit. */
#define PODS_OF_NODE "1000"
#define MILLI_PER_GPU 1000
/** Of an amount: far beyond any machine, and sums of it do not overflow. */
#define AMOUNT_MAX INT64_C(1000000000000)
#define GPUS_MAX 1000

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

static int find_columns(const struct bt_csv *csv, const char *const *names, int *out_columns,
	uint32_t count, struct berth_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		out_columns[i] = bt_csv_column(csv, names[i]);
		if (out_columns[i] < 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: has no column %s: is it a table of Alibaba's GPU cluster "
				"trace of 2023?",
				bt_csv_path(csv), names[i]);
		}
	}
	return 0;
}

/** "12" or "12.0". */
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

static bool is_name(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		bool is_inner = byte == '-' && i != 0 && i + 1 != text.length;
		if (!bt_is_digit(byte) && (byte < 'a' || byte > 'z') && !is_inner) {
			return false;
		}
	}
	return text.length != 0 && text.length <= 63;
}

static void write_amount(
	struct bt_json_writer *json, const char *name, int64_t amount, const char *unit)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "%lld%s", (long long)amount, unit);
	bt_json_write_member(json, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static void write_gpus(struct bt_json_writer *json, int64_t gpus, int64_t share)
{
	if (gpus != 0 && share == MILLI_PER_GPU) {
		write_amount(json, GPU, gpus, "");
	}
	if (gpus != 0) {
		write_amount(json, GPU_MILLI, gpus * share, "");
	}
}

/** apiVersion, kind, and the beginning of metadata. */
static void begin_object(struct bt_json_writer *json, struct bt_strbuf *out, const char *kind,
	struct bt_str name, struct bt_str time)
{
	bt_strbuf_reset(out);
	bt_json_writer_init(json, out, 0);
	bt_json_begin_object(json);
	bt_json_write_member_c(json, "apiVersion", "v1");
	bt_json_write_member_c(json, "kind", kind);
	bt_json_write_name_c(json, "metadata");
	bt_json_begin_object(json);
	bt_json_write_member(json, "name", name);
	bt_json_write_member(json, "uid", name);
	bt_json_write_member(json, "creationTimestamp", time);
}

/** --- nodes --- */

static void write_node(struct bt_strbuf *out, const struct bt_str *fields, const int *columns,
	const int64_t *amounts, struct bt_str time)
{
	static const char *const members[] = {"capacity", "allocatable"};
	struct bt_json_writer json;
	begin_object(&json, out, "Node", fields[columns[SN]], time);
	bt_json_write_name_c(&json, "labels");
	bt_json_begin_object(&json);
	bt_json_write_member(&json, "kubernetes.io/hostname", fields[columns[SN]]);
	if (fields[columns[MODEL]].length != 0) {
		bt_json_write_member(&json, GPU_MODEL, fields[columns[MODEL]]);
	}
	bt_json_end_object(&json);
	bt_json_end_object(&json);
	bt_json_write_name_c(&json, "status");
	bt_json_begin_object(&json);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(members); i++) {
		bt_json_write_name_c(&json, members[i]);
		bt_json_begin_object(&json);
		write_amount(&json, "cpu", amounts[NODE_CPU], "m");
		write_amount(&json, "memory", amounts[NODE_MEMORY], "Mi");
		bt_json_write_member_c(&json, "pods", PODS_OF_NODE);
		write_gpus(&json, amounts[NODE_GPU], MILLI_PER_GPU);
		bt_json_end_object(&json);
	}
	bt_json_end_object(&json);
	bt_json_end_object(&json);
}

static const char *find_node_flaw(
	const struct bt_str *fields, const int *columns, int64_t *out_amounts)
{
	if (fields == NULL) {
		return "the row has more or fewer values than there are columns";
	}
	if (!is_name(fields[columns[SN]])) {
		return "sn is no name of a node (lower case letters, digits, -)";
	}
	if (!read_amount(fields[columns[NODE_CPU]], AMOUNT_MAX, &out_amounts[NODE_CPU])) {
		return "cpu_milli is no whole number";
	}
	if (!read_amount(fields[columns[NODE_MEMORY]], AMOUNT_MAX, &out_amounts[NODE_MEMORY])) {
		return "memory_mib is no whole number";
	}
	return read_amount(fields[columns[NODE_GPU]], GPUS_MAX, &out_amounts[NODE_GPU])
		? NULL
		: "gpu is no number of GPUs";
}

static int import_nodes(struct bt_import *import, struct bt_csv *csv, struct berth_error *err)
{
	int columns[NODE_COLUMN__COUNT];
	const struct bt_str *fields;
	struct bt_strbuf text = {0};
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	struct bt_str time = bt_time_text(&arena, bt_import_start_ns(import));
	int result = find_columns(csv, node_columns, columns, NODE_COLUMN__COUNT, err);
	while (result >= 0 && (result = bt_csv_next(csv, &fields, err)) == 1) {
		int64_t amounts[NODE_COLUMN__COUNT] = {0};
		const char *flaw = find_node_flaw(fields, columns, amounts);
		if (flaw != NULL) {
			bt_import_add_defect(import, bt_csv_path(csv), bt_csv_line(csv), flaw);
			continue;
		}
		write_node(&text, fields, columns, amounts, time);
		bt_import_add_object(import, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

/** --- pods --- */

static void write_models(struct bt_json_writer *json, struct bt_str models)
{
	static const char *const path[] = {
		"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(path); i++) {
		bt_json_write_name_c(json, path[i]);
		bt_json_begin_object(json);
	}
	bt_json_write_name_c(json, "nodeSelectorTerms");
	bt_json_begin_array(json);
	bt_json_begin_object(json);
	bt_json_write_name_c(json, "matchExpressions");
	bt_json_begin_array(json);
	bt_json_begin_object(json);
	bt_json_write_member_c(json, "key", GPU_MODEL);
	bt_json_write_member_c(json, "operator", "In");
	bt_json_write_name_c(json, "values");
	bt_json_begin_array(json);
	while (models.length != 0) {
		struct bt_str model = bt_str_cut(&models, '|');
		if (model.length != 0) {
			bt_json_write_str(json, model);
		}
	}
	bt_json_end_array(json);
	bt_json_end_object(json);
	bt_json_end_array(json);
	bt_json_end_object(json);
	bt_json_end_array(json);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(path); i++) {
		bt_json_end_object(json);
	}
}

static void write_pod(struct bt_strbuf *out, const struct bt_str *fields, const int *columns,
	const int64_t *amounts, struct bt_str time)
{
	struct bt_json_writer json;
	begin_object(&json, out, "Pod", fields[columns[NAME]], time);
	bt_json_write_member_c(&json, "namespace", "default");
	if (fields[columns[QOS]].length != 0) {
		bt_json_write_name_c(&json, "labels");
		bt_json_begin_object(&json);
		bt_json_write_member(&json, "qos", fields[columns[QOS]]);
		bt_json_end_object(&json);
	}
	bt_json_end_object(&json);
	bt_json_write_name_c(&json, "spec");
	bt_json_begin_object(&json);
	bt_json_write_name_c(&json, "containers");
	bt_json_begin_array(&json);
	bt_json_begin_object(&json);
	bt_json_write_member_c(&json, "name", "main");
	bt_json_write_name_c(&json, "resources");
	bt_json_begin_object(&json);
	bt_json_write_name_c(&json, "requests");
	bt_json_begin_object(&json);
	write_amount(&json, "cpu", amounts[CPU], "m");
	write_amount(&json, "memory", amounts[MEMORY], "Mi");
	write_gpus(&json, amounts[NUM_GPU], amounts[SHARE]);
	bt_json_end_object(&json);
	bt_json_end_object(&json);
	bt_json_end_object(&json);
	bt_json_end_array(&json);
	if (fields[columns[GPU_SPEC]].length != 0) {
		write_models(&json, fields[columns[GPU_SPEC]]);
	}
	bt_json_write_member_c(&json, "schedulerName", "default-scheduler");
	bt_json_end_object(&json);
	bt_json_end_object(&json);
}

static const char *find_pod_flaw(
	const struct bt_str *fields, const int *columns, int64_t *out_amounts, int64_t last_seconds)
{
	if (fields == NULL) {
		return "the row has more or fewer values than there are columns";
	}
	if (!is_name(fields[columns[NAME]])) {
		return "name is no name of a pod (lower case letters, digits, -)";
	}
	if (!read_amount(fields[columns[CPU]], AMOUNT_MAX, &out_amounts[CPU])) {
		return "cpu_milli is no whole number";
	}
	if (!read_amount(fields[columns[MEMORY]], AMOUNT_MAX, &out_amounts[MEMORY])) {
		return "memory_mib is no whole number";
	}
	if (!read_amount(fields[columns[NUM_GPU]], GPUS_MAX, &out_amounts[NUM_GPU])) {
		return "num_gpu is no number of GPUs";
	}
	if (!read_amount(fields[columns[SHARE]], MILLI_PER_GPU, &out_amounts[SHARE])) {
		return "gpu_milli is not from 0 to 1000";
	}
	if (out_amounts[NUM_GPU] == 1
			? out_amounts[SHARE] == 0
			: out_amounts[SHARE] != (out_amounts[NUM_GPU] == 0 ? 0 : MILLI_PER_GPU)) {
		return "gpu_milli does not fit num_gpu: a share of one GPU, or 1000 of each";
	}
	if (!read_amount(fields[columns[CREATION_TIME]], BT_RECORDING_SECONDS_MAX,
		    &out_amounts[CREATION_TIME])) {
		return "creation_time is no number of seconds";
	}
	if (!read_amount(fields[columns[DELETION_TIME]], BT_RECORDING_SECONDS_MAX,
		    &out_amounts[DELETION_TIME])) {
		return "deletion_time is no number of seconds";
	}
	bool was_bound = fields[columns[SCHEDULED_TIME]].length != 0;
	out_amounts[SCHEDULED_TIME] = -1;
	if (was_bound &&
		!read_amount(fields[columns[SCHEDULED_TIME]], BT_RECORDING_SECONDS_MAX,
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

static int import_pods(struct bt_import *import, struct bt_csv *csv, struct berth_error *err)
{
	int columns[POD_COLUMN__COUNT];
	const struct bt_str *fields;
	struct bt_strbuf text = {0};
	struct bt_arena arena;
	int64_t last_seconds = 0;
	bt_arena_init(&arena, 0);
	int result = find_columns(csv, pod_columns, columns, POD_COLUMN__COUNT, err);
	while (result >= 0 && (result = bt_csv_next(csv, &fields, err)) == 1) {
		int64_t amounts[POD_COLUMN__COUNT] = {0};
		const char *flaw = find_pod_flaw(fields, columns, amounts, last_seconds);
		if (flaw != NULL) {
			bt_import_add_defect(import, bt_csv_path(csv), bt_csv_line(csv), flaw);
			continue;
		}
		last_seconds = amounts[CREATION_TIME];
		int64_t time_ns = last_seconds * BT_NS_PER_SECOND;
		bool was_bound = amounts[SCHEDULED_TIME] >= 0;
		bt_arena_reset(&arena);
		write_pod(&text, fields, columns, amounts,
			bt_time_text(&arena, bt_import_start_ns(import) + time_ns));
		/* A pod that never ran leaves when it did; how long it would have run is not
		 * known. */
		const struct bt_import_pod pod = {
			.time_ns = time_ns,
			.namespace_ = BT_STR("default"),
			.name = fields[columns[NAME]],
			.json = bt_strbuf_str(&text),
			.runs_ns = was_bound ? (amounts[DELETION_TIME] - amounts[SCHEDULED_TIME]) *
					BT_NS_PER_SECOND
					     : -1,
			.leaves_ns = was_bound ? -1 : amounts[DELETION_TIME] * BT_NS_PER_SECOND,
		};
		result = bt_import_add_pod(import, &pod, err);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

int bt_import_alibaba_gpu_2023(struct bt_import *import, const char *const *paths,
	uint32_t path_count, struct berth_error *err)
{
	struct bt_csv *nodes = NULL;
	struct bt_csv *pods = NULL;
	int result = 0;
	for (uint32_t i = 0; i < path_count && result == 0; i++) {
		struct bt_csv *csv = NULL;
		result = bt_csv_open(paths[i], &csv, err);
		if (result < 0) {
			break;
		}
		struct bt_csv **slot = bt_csv_column(csv, "sn") >= 0 ? &nodes : &pods;
		if (*slot != NULL) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"%s and %s are both tables of %s; name one of each",
				bt_csv_path(*slot), paths[i], slot == &nodes ? "nodes" : "pods");
			bt_csv_close(csv);
		} else {
			*slot = csv;
		}
	}
	if (result == 0 && (nodes == NULL || pods == NULL)) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"the table of %s is missing: name both, of nodes (column sn) and of pods",
			nodes == NULL ? "nodes" : "pods");
	}
	if (result == 0) {
		result = import_nodes(import, nodes, err);
	}
	if (result == 0) {
		result = bt_import_begin(import, err);
	}
	if (result == 0) {
		result = import_pods(import, pods, err);
	}
	bt_csv_close(nodes);
	bt_csv_close(pods);
	return result;
}
