/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bench/bench_perf.h"
#include "cluster/file.h"
#include "lib/document.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)

/** --- test cases --- */

static int read_ops(struct bt_arena *arena, const struct bt_json_value *value,
	struct bt_perf_test *test, struct berth_error *err)
{
	if (value == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "workloadTemplate: missing");
	}
	if (value->type != BT_JSON_ARRAY) {
		return bt_perf_wrong_type("workloadTemplate", "array", value, err);
	}
	test->ops = BT_ARENA_NEW_ARRAY(arena, struct bt_perf_op, value->count);
	test->op_count = value->count;
	for (uint32_t i = 0; i < value->count; i++) {
		int result =
			bt_perf_op_read(arena, value->elements[i], i + 1, NULL, &test->ops[i], err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static int read_name(
	const struct bt_json_value *value, struct bt_str *out_name, struct berth_error *err)
{
	const struct bt_json_value *name = bt_json_find(value, "name");
	if (value->type != BT_JSON_OBJECT) {
		return bt_perf_wrong_type("it", "object", value, err);
	}
	if (name == NULL || (name->type == BT_JSON_STRING && name->text.length == 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "name: missing");
	}
	return bt_perf_read_str(name, "name", out_name, err);
}

/** Thresholds of other forms are for metrics that this program does not collect. */
static void read_threshold(struct bt_arena *arena, const struct bt_json_value *value,
	struct bt_perf_workload *workload)
{
	const struct bt_json_value *threshold = bt_json_find(value, "threshold");
	const struct bt_json_value *selector = bt_json_find(value, "thresholdMetricSelector");
	if (threshold != NULL && threshold->type == BT_JSON_NUMBER && selector == NULL) {
		struct bt_str text = bt_arena_str(arena, threshold->text);
		workload->threshold = strtod(text.data, NULL);
	}
}

static int read_gates(struct bt_arena *arena, const struct bt_json_value *value,
	bt_str_list *out_gates, struct berth_error *err)
{
	if (value == NULL || value->type == BT_JSON_NULL) {
		return 0;
	}
	if (value->type != BT_JSON_OBJECT) {
		return bt_perf_wrong_type("featureGates", "object", value, err);
	}
	out_gates->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, value->count);
	out_gates->count = value->count;
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_member *member = &value->members[i];
		if (member->value->type != BT_JSON_BOOL) {
			return bt_perf_wrong_type("featureGates", "bool", member->value, err);
		}
		out_gates->items[i] = bt_arena_printf(arena, "%.*s=%s", BT_STR_ARG(member->name),
			member->value->boolean ? "true" : "false");
	}
	return 0;
}

static int read_workloads(struct bt_arena *arena, const struct bt_json_value *value,
	struct bt_perf_test *test, struct berth_error *err)
{
	if (value == NULL || value->type != BT_JSON_ARRAY) {
		return value == NULL ? bt_error_set(err, BERTH_ERR_INVALID, "workloads: missing")
				     : bt_perf_wrong_type("workloads", "array", value, err);
	}
	test->workloads = BT_ARENA_NEW_ARRAY(arena, struct bt_perf_workload, value->count);
	test->workload_count = value->count;
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_perf_workload *workload = &test->workloads[i];
		int result = read_name(value->elements[i], &workload->name, err);
		if (result < 0) {
			return bt_error_wrap(err, result, "workload %u", i + 1);
		}
		workload->params = bt_json_find(value->elements[i], "params");
		if (workload->params != NULL && workload->params->type != BT_JSON_OBJECT) {
			result = bt_perf_wrong_type("params", "object", workload->params, err);
		}
		if (result == 0) {
			result = read_gates(arena, bt_json_find(value->elements[i], "featureGates"),
				&workload->gates, err);
		}
		if (result < 0) {
			return bt_error_wrap(
				err, result, "workload %.*s", BT_STR_ARG(workload->name));
		}
		read_threshold(arena, value->elements[i], workload);
	}
	return 0;
}

static int read_test(struct bt_arena *arena, const struct bt_json_value *value,
	struct bt_perf_test *test, struct berth_error *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} paths[] = {
		{"defaultPodTemplatePath", offsetof(struct bt_perf_test, pod_template)},
		{"schedulerConfigPath", offsetof(struct bt_perf_test, config_path)},
	};
	int result = read_ops(arena, bt_json_find(value, "workloadTemplate"), test, err);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(paths) && result == 0; i++) {
		const struct bt_json_value *member = bt_json_find(value, paths[i].name);
		if (member != NULL) {
			result = bt_perf_read_str(member, paths[i].name,
				(struct bt_str *)(void *)((char *)test + paths[i].offset), err);
		}
	}
	if (result == 0) {
		result = read_gates(arena, bt_json_find(value, "featureGates"), &test->gates, err);
	}
	return result == 0 ? read_workloads(arena, bt_json_find(value, "workloads"), test, err)
			   : result;
}

static int read_tests(
	struct bt_perf_file *file, const struct bt_json_value *list, struct berth_error *err)
{
	if (list->type != BT_JSON_ARRAY) {
		return bt_error_set(err, BERTH_ERR_INVALID, "expected a list of test cases, got %s",
			bt_json_type_name(list->type));
	}
	file->tests = BT_ARENA_NEW_ARRAY(&file->arena, struct bt_perf_test, list->count);
	file->test_count = list->count;
	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_perf_test *test = &file->tests[i];
		int result = read_name(list->elements[i], &test->name, &test->error);
		if (result < 0) {
			(void)bt_error_wrap(&test->error, result, "test case %u", i + 1);
			continue;
		}
		result = read_test(&file->arena, list->elements[i], test, &test->error);
		if (result < 0) {
			(void)bt_error_wrap(
				&test->error, result, "test case %.*s", BT_STR_ARG(test->name));
		}
	}
	return 0;
}

static int read_text(struct bt_perf_file *file, struct bt_str text, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	struct bt_json_value *list;
	int result = 0;
	if (bt_document_is_json(text)) {
		bt_strbuf_append_str(&json, text);
	} else {
		result = bt_document_from_yaml(text, NULL, &json, err);
	}
	if (result == 0) {
		result = bt_json_parse(&file->arena, bt_strbuf_str(&json), true, &list, err);
	}
	bt_strbuf_finish(&json);
	return result == 0 ? read_tests(file, list, err) : result;
}

int bt_perf_file_read(const char *path, struct bt_perf_file *out_file, struct berth_error *err)
{
	struct bt_file bytes;
	struct bt_str name = bt_str_from(path);
	*out_file = (struct bt_perf_file){.path = path};
	int64_t slash = bt_str_find_last_char(name, '/');
	out_file->folder = bt_str_sub(name, 0, (uint32_t)(slash + 1));
	int result = bt_file_read(path, FILE_BYTES_MAX, &bytes, err);
	if (result == 0) {
		struct bt_str text = {bytes.data, (uint32_t)bytes.length};
		result = read_text(out_file, text, err);
		bt_file_finish(&bytes);
	}
	if (result < 0) {
		bt_perf_file_finish(out_file);
		return bt_error_wrap(err, result, "%s", path);
	}
	return 0;
}

void bt_perf_file_finish(struct bt_perf_file *file)
{
	for (uint32_t i = 0; i < file->test_count; i++) {
		berth_error_finish(&file->tests[i].error);
	}
	bt_arena_finish(&file->arena);
}
