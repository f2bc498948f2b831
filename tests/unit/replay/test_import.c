/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Imports of public traces: which row becomes which line, and which rows are counted and left out.
 */
#include "replay/import.h"

#include <unistd.h>

#include "replay/rows.h"
#include "test_main.h"

static char node_path[64];
static char pod_path[64];
static char output_path[64];

static void write_file(char *path, size_t size, const char *name, const char *text)
{
	(void)snprintf(path, size, "berth-import-%ld-%s", (long)getpid(), name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void remove_files(void)
{
	(void)unlink(node_path);
	(void)unlink(pod_path);
	(void)unlink(output_path);
}

#define NODES "sn,cpu_milli,memory_mib,gpu,model\n"
#define PODS \
	"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time," \
	"deletion_time,scheduled_time\n"

/** Imports the given rows after the header row; writes the defects as "text: count lines\n". */
static int import_rows(
	const char *nodes, const char *pods, struct bt_strbuf *out_defects, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, NODES "%s", nodes);
	write_file(node_path, sizeof(node_path), "nodes", bt_strbuf_c(&text));
	bt_strbuf_reset(&text);
	bt_strbuf_printf(&text, PODS "%s", pods);
	write_file(pod_path, sizeof(pod_path), "pods", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	(void)snprintf(output_path, sizeof(output_path), "berth-import-%ld-out", (long)getpid());
	(void)unlink(output_path);
	const char *const paths[] = {pod_path, node_path}; /* the importer accepts any order */
	struct bt_import *import = bt_import_create(output_path, true, "test", 0);
	const struct bt_import_request request = {.paths = paths, .path_count = 2};
	int result = bt_import_alibaba_gpu_2023(import, &request, err);
	if (result == 0) {
		result = bt_import_end(import, err);
	}
	for (uint32_t i = 0; i < import->defects.count; i++) {
		const struct bt_import_defect *defect = &import->defects.items[i];
		bt_strbuf_printf(out_defects, "%s: %u line %lu\n", defect->reason,
			(unsigned)defect->count, defect->lines[0]);
	}
	bt_import_destroy(import);
	return result;
}

/** Writes the lines after the header as "time event name json runs\n". */
static void describe(struct bt_strbuf *out)
{
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	int result;
	ck_assert_int_eq(bt_recording_open(output_path, &reader, NULL), 0);
	while ((result = bt_recording_next(reader, &line, NULL)) == 1) {
		bt_strbuf_printf(out, "%d %d %.*s %.*s %d\n", (int)(line.time_ns / 1000000000),
			(int)line.event, BT_STR_ARG(line.name), BT_STR_ARG(line.json),
			(int)(line.duration_ns / 1000000000));
	}
	ck_assert_int_eq(result, 0);
	ck_assert(reader->is_complete);
	bt_recording_close(reader);
}

START_TEST(test_import__alibaba_rows)
{
	struct bt_strbuf defects = {0};
	struct bt_strbuf lines = {0};
	ck_assert_int_eq(import_rows("n-1,8000,1024,2,V100\n", /* a never ran: no run time */
				 "a,500,64,0,0,,LS,Pending,5,9,\n"
				 "b,500,64,1,460,V100|T4,,Running,7,100,20\n"
				 "\"c\",500,64,2,1000,,BE,Running,9,100,9\r\n",
				 &defects, NULL),
		0);
	ck_assert_str_eq(bt_strbuf_c(&defects), "");
	describe(&lines);
	const char *text = bt_strbuf_c(&lines);
	ck_assert_msg(strstr(text,
			      "\"allocatable\":{\"cpu\":\"8000m\",\"memory\":\"1024Mi\","
			      "\"nvidia.com/gpu\":\"2\",\"berth.dev/gpu-milli\":\"2000\","
			      "\"pods\":\"1000\"}") != NULL,
		"%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"nvidia.com/gpu.product\":\"V100\""));
	ck_assert_ptr_nonnull(strstr(text,
		"\"requests\":{\"cpu\":\"500m\",\"memory\":\"64Mi\",\"berth.dev/gpu-milli\":"
		"\"460\"}"));
	ck_assert_ptr_nonnull(strstr(text, "\"values\":[\"V100\",\"T4\"]"));
	ck_assert_ptr_nonnull(
		strstr(text, "\"nvidia.com/gpu\":\"2\",\"berth.dev/gpu-milli\":\"2000\"}}}]"));
	/*
	 * Pod b runs for 80 s from its binding. Pod a is deleted before pod c is added at the same
	 * time.
	 */
	ck_assert_ptr_nonnull(strstr(text, " 80\n9 2 a  0\n9 0 "));
	/* The recording ends when the last pod ends. */
	ck_assert_ptr_nonnull(strstr(text, "\n100 4   0\n"));
	bt_strbuf_finish(&defects);
	bt_strbuf_finish(&lines);
	remove_files();
}
END_TEST

START_TEST(test_import__bad_rows_are_counted_with_their_lines)
{
	static const struct {
		const char *nodes;
		const char *pods;
		const char *defects;
	} rows[] = {
		{"n,1,1\n", "",
			"the row has more or fewer values than there are columns: 1 line 2\n"},
		{"N_1,1,1,0,\n", "",
			"sn is no name of a node (lower case letters, digits, -): 1 line 2\n"},
		{"n,x,1,0,\nn,,1,0,\n", "", "cpu_milli is no whole number: 2 line 2\n"},
		{"n,1,1,-1,\n", "", "gpu is no number of GPUs: 1 line 2\n"},
		{"", "a,1,1,2,500,,,,0,1,0\n",
			"gpu_milli does not fit num_gpu: a share of one GPU, or 1000 of each: 1 "
			"line 2\n"},
		{"", "a,1,1,0,500,,,,0,1,0\n",
			"gpu_milli does not fit num_gpu: a share of one GPU, or 1000 of each: 1 "
			"line 2\n"},
		{"", "a,1,1,0,1001,,,,0,1,0\n", "gpu_milli is not from 0 to 1000: 1 line 2\n"},
		{"", "a,1,1,0,0,,,,9,9,9\nb,1,1,0,0,,,,8,9,9\n",
			"creation_time is before that of a row above: the table must be sorted by "
			"it: 1 line 3\n"},
		{"", "a,1,1,0,0,,,,9,8,\n", "deletion_time is before creation_time: 1 line 2\n"},
		{"", "a,1,1,0,0,,,,5,8,9\n",
			"scheduled_time is not between creation_time and deletion_time: 1 line "
			"2\n"},
		{"", "a,1,1,0,0,,,,5,99999999999999999999,9\n",
			"deletion_time is no number of seconds: 1 line 2\n"},
		{"", "\"a,1,1,0,0,,,,5,9,9\n",
			"the row has more or fewer values than there are columns: 1 line 2\n"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf defects = {0};
		ck_assert_int_eq(import_rows(rows[i].nodes, rows[i].pods, &defects, NULL), 0);
		ck_assert_str_eq(bt_strbuf_c(&defects), rows[i].defects);
		bt_strbuf_finish(&defects);
		remove_files();
	}
}
END_TEST

START_TEST(test_import__wrong_tables_are_refused)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf defects = {0};
	(void)import_rows("", "", &defects, NULL);
	bt_strbuf_finish(&defects);
	(void)unlink(output_path);
	struct bt_import *import = bt_import_create(output_path, true, "test", 0);
	const char *const twice[] = {pod_path, pod_path};
	struct bt_import_request request = {.paths = twice, .path_count = 2};
	ck_assert_int_eq(bt_import_alibaba_gpu_2023(import, &request, &err), BERTH_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "are both tables of pods"));
	berth_error_finish(&err);
	request.path_count = 1;
	ck_assert_int_eq(bt_import_alibaba_gpu_2023(import, &request, &err), BERTH_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "the table of nodes is missing"));
	berth_error_finish(&err);
	bt_import_destroy(import);
	ck_assert_int_ne(access(output_path, F_OK), 0);
	remove_files();
}
END_TEST

/** Returns the next row as "a|b|", absent values as "-"; "" at the end. */
static const char *next_row(struct bt_rows *rows, uint32_t count)
{
	static char text[128];
	const struct bt_str *values;
	text[0] = '\0';
	int result = bt_rows_next(rows, &values, NULL);
	ck_assert_int_ge(result, 0);
	for (uint32_t i = 0; result == 1 && i < count; i++) {
		size_t length = strlen(text);
		(void)snprintf(text + length, sizeof(text) - length, "%.*s|",
			values[i].data != NULL ? (int)values[i].length : 1,
			values[i].data != NULL ? values[i].data : "-");
	}
	return text;
}

/** Checks that the rows at the lines, count in number, and no others were malformed. */
static void check_malformed(
	const struct bt_import *import, const unsigned long *lines, uint32_t count)
{
	const struct bt_import_defect *defects = import->defects.items;
	ck_assert_uint_eq(import->defects.count, 1);
	ck_assert_uint_eq(defects->count, count);
	ck_assert_mem_eq(defects->lines, lines, count * sizeof(lines[0]));
	ck_assert(!defects->is_row_kept);
}

START_TEST(test_import__csv_rows)
{
	static const char *const names[] = {"b.c", "a", "z"};
	static const unsigned long malformed[] = {4, 5};
	struct bt_import *import = bt_import_create("out", false, "test", 0);
	struct bt_rows *rows;
	write_file(pod_path, sizeof(pod_path), "csv",
		"a,b_c\r\n\"x,\"\"y\"\"\",\n\n1,2,3\n\"x\"y,2\n,\"\"\n");
	ck_assert_int_eq(bt_rows_open(pod_path, import, &rows, NULL), 0);
	ck_assert(bt_rows_has(rows, "b_c") && bt_rows_has(rows, "b.c"));
	ck_assert(!bt_rows_has(rows, "z") && !bt_rows_has(rows, "b") && !bt_rows_has(rows, "a.b"));
	bt_rows_select(rows, names, 3);
	ck_assert_str_eq(next_row(rows, 3), "-|x,\"y\"|-|");
	ck_assert_str_eq(next_row(rows, 3), "-|-|-|");
	ck_assert_str_eq(next_row(rows, 3), "");
	check_malformed(import, malformed, BT_ARRAY_LENGTH(malformed));
	bt_rows_close(rows);
	bt_import_destroy(import);
	(void)unlink(pod_path);
}
END_TEST

START_TEST(test_import__json_rows)
{
	static const char *const names[] = {"a", "b.c", "list", "d"};
	static const unsigned long malformed[] = {3, 4, 5};
	struct bt_import *import = bt_import_create("out", false, "test", 0);
	struct bt_rows *rows;
	write_file(pod_path, sizeof(pod_path), "json",
		"{\"a\":\"x\\u0041\",\"b\":{\"c\":0.5,\"e\":1},\"list\":[1,{\"n\":2}]}\n"
		"{\"a\":null,\"b\":7,\"b.c\":3,\"d\":true}\n"
		"{\"a\":1} x\n"
		"[1]\n"
		"{\"b\":{\"c\":[\n"
		"{\"a\":{\"x\":1}}\n");
	ck_assert_int_eq(bt_rows_open(pod_path, import, &rows, NULL), 0);
	ck_assert(bt_rows_has(rows, "b.c") && !bt_rows_has(rows, "d"));
	bt_rows_select(rows, names, 4);
	ck_assert_str_eq(next_row(rows, 4), "xA|0.5|[1,{\"n\":2}]|-|");
	ck_assert_str_eq(next_row(rows, 4), "-|3|-|true|");
	ck_assert_str_eq(next_row(rows, 4), "{\"x\":1}|-|-|-|");
	ck_assert_str_eq(next_row(rows, 4), "");
	check_malformed(import, malformed, BT_ARRAY_LENGTH(malformed));
	bt_rows_close(rows);
	bt_import_destroy(import);
	(void)unlink(pod_path);
}
END_TEST

BT_TEST_MAIN("import", test_import__alibaba_rows,
	test_import__bad_rows_are_counted_with_their_lines, test_import__wrong_tables_are_refused,
	test_import__csv_rows, test_import__json_rows)
