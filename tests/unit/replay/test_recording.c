/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings: the reader returns what the writer wrote; other files are refused with file and line.
 */
#include "replay/recording.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_main.h"

static char path[64];

static void choose_path(void)
{
	(void)snprintf(path, sizeof(path), "berth-recording-%ld", (long)getpid());
	(void)unlink(path);
}

static void write_file(const char *text)
{
	choose_path();
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/** Returns the message with which the file is refused; "" if the file is read to its end. */
static const char *read_all(uint32_t *out_count)
{
	static char message[512];
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	*out_count = 0;
	int result = bt_recording_open(path, &reader, &err);
	if (result == 0) {
		while ((result = bt_recording_next(reader, &line, &err)) == 1) {
			(*out_count)++;
		}
		bt_recording_close(reader);
	}
	(void)snprintf(message, sizeof(message), "%s",
		result < 0 ? strstr(berth_error_message(&err), ": ") + 2 : "");
	berth_error_finish(&err);
	return message;
}

#define HEADER "{\"berthrec\":1,\"start\":\"2026-11-23T05:00:00Z\"}\n"

static const struct bt_recording_line lines[] = {
	{.event = BT_RECORDING_ADD,
		.kind = BT_KIND_POD,
		.duration_ns = 3600000000001,
		.json = BT_STR_INIT("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"),
		.is_start = true},
	{.event = BT_RECORDING_CHANGE,
		.time_ns = 1500000000,
		.kind = BT_KIND_POD,
		.namespace_ = BT_STR_INIT("shop"),
		.name = BT_STR_INIT("web"),
		.duration_ns = -1,
		.json = BT_STR_INIT("{\"spec\":{\"nodeName\":\"n1\"}}")},
	{.event = BT_RECORDING_GAP,
		.time_ns = 1500000000,
		.kind = BT_KIND_NODE,
		.duration_ns = 30000000000},
	{.event = BT_RECORDING_DELETE,
		.time_ns = 86400000000001,
		.kind = BT_KIND_NODE,
		.name = BT_STR_INIT("n1"),
		.duration_ns = -1},
};

static void write_lines(bool is_gzipped, bool is_complete)
{
	choose_path();
	const struct bt_recording_header header = {.start_ns = 1795410000123456000,
		.object_count = 1,
		.source = BT_STR_INIT("test"),
		.recording = BT_STR_INIT("a"),
		.part = 2};
	struct bt_recording_writer *writer;
	ck_assert_int_eq(bt_recording_create(path, is_gzipped, &header, &writer, NULL), 0);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lines); i++) {
		ck_assert_int_eq(bt_recording_append(writer, &lines[i], NULL), 0);
	}
	ck_assert_int_eq(bt_recording_flush(writer, NULL), 0);
	ck_assert_uint_gt(bt_recording_size(writer), 0);
	uint64_t bytes = 0;
	struct stat status;
	ck_assert_int_eq(bt_recording_finish(writer, is_complete, &bytes, NULL), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(bytes, (uint64_t)status.st_size);
}

static void check_read_again(bool is_gzipped)
{
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	write_lines(is_gzipped, true);
	ck_assert_int_eq(bt_recording_open(path, &reader, NULL), 0);
	const struct bt_recording_header *header = &reader->header;
	ck_assert_int_eq(header->start_ns, 1795410000123456000);
	ck_assert(bt_str_equal_c(header->source, "test"));
	ck_assert(bt_str_equal_c(header->recording, "a"));
	ck_assert_uint_eq(header->part, 2);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lines); i++) {
		ck_assert_int_eq(bt_recording_next(reader, &line, NULL), 1);
		ck_assert_int_eq(line.event, lines[i].event);
		ck_assert_int_eq(line.time_ns, lines[i].time_ns);
		ck_assert_int_eq(line.kind, lines[i].kind);
		ck_assert_int_eq(line.duration_ns, lines[i].duration_ns);
		ck_assert_int_eq(line.is_start, lines[i].is_start);
		ck_assert(bt_str_equal(line.namespace_, lines[i].namespace_));
		ck_assert(bt_str_equal(line.name, lines[i].name));
		ck_assert(bt_str_equal(line.json, lines[i].json));
	}
	ck_assert_int_eq(bt_recording_next(reader, &line, NULL), 1);
	ck_assert_int_eq(line.event, BT_RECORDING_END);
	ck_assert_int_eq(bt_recording_next(reader, &line, NULL), 0);
	ck_assert(reader->is_complete);
	bt_recording_close(reader);
	(void)unlink(path);
}

START_TEST(test_recording__what_is_written_is_read_again)
{
	check_read_again(false);
	check_read_again(true);
}
END_TEST

/**
 * A killed process may leave a file of any length: the reader returns the whole lines and no error.
 */
static void check_every_cut(bool is_gzipped)
{
	static char bytes[4096];
	uint32_t last_count = 0;
	write_lines(is_gzipped, false);
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	size_t length = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	size_t header_length = is_gzipped ? length - 8 : strcspn(bytes, "\n") + 1;
	for (size_t cut = header_length; cut <= length; cut++) {
		uint32_t count;
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fwrite(bytes, 1, cut, file), cut);
		(void)fclose(file);
		ck_assert_str_eq(read_all(&count), "");
		ck_assert_uint_ge(count, last_count);
		last_count = count;
	}
	ck_assert_uint_eq(last_count, BT_ARRAY_LENGTH(lines));
	(void)unlink(path);
}

START_TEST(test_recording__what_was_cut_off_is_read_as_far_as_it_goes)
{
	check_every_cut(false);
	check_every_cut(true);
}
END_TEST

START_TEST(test_recording__what_is_no_recording_is_refused)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{"", "is no recording: its first line must be {\"berthrec\":1,...}"},
		{"apiVersion: v1\n",
			"is no recording: its first line must be {\"berthrec\":1,...}"},
		{"{\"berthrec\":2,\"start\":\"2026-11-23T05:00:00Z\"}\n",
			"has format 2; this berth reads recordings up to format 1: use the version "
			"of berth that wrote it, or a newer one"},
		{"{\"berthrec\":1,\"start\":\"2026-11-23T05:00:00Z\",\"objects\":-1}\n",
			"line 1: objects: must be a whole number from 0 to 4294967295"},
		{"{\"berthrec\":1,\"start\":\"2070-01-01T00:00:00Z\"}\n",
			"line 1: start: must be a time from 1970 to 2065"},
		{HEADER "{\"end\":true}\n", "line 2: t: is missing"},
		{HEADER "{\"t\":-1,\"end\":true}\n",
			"line 2: t: must be seconds from 0 to 3000000000 with at most nine "
			"decimals, not -1"},
		{HEADER "{\"t\":1e3,\"end\":true}\n",
			"line 2: t: must be seconds from 0 to 3000000000 with at most nine "
			"decimals, not 1e3"},
		{HEADER "{\"t\":2,\"gap\":1,\"kind\":\"Pod\"}\n{\"t\":1.5,\"end\":true}\n",
			"line 3: t: the time goes back, from 2.000 s in the line before to 1.500 "
			"s; lines must be in the order of time"},
		{HEADER "{\"t\":1}\n",
			"line 2: says nothing: one of add, change with patch, delete, gap with "
			"kind, end is needed"},
		{HEADER "{\"t\":1,\"delete\":\"Pod\",\"name\":\"web\"}\n",
			"line 2: name: must be namespace/name for a Pod"},
		{HEADER "{\"t\":1,\"add\":{\"apiVersion\":\"v1\"}}\n",
			"line 2: add: the object has no kind"},
		{HEADER "{\"t\":1,\n{\"t\":1,\"end\":true}\n",
			"line 2: unexpected end of JSON input"},
	};
	uint32_t count;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(cases); i++) {
		write_file(cases[i].text);
		ck_assert_str_eq(read_all(&count), cases[i].message);
	}
	(void)unlink(path);
}
END_TEST

START_TEST(test_recording__kinds_that_no_scheduler_reads_are_passed_over)
{
	uint32_t count;
	write_file(HEADER "{\"t\":1,\"add\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}}\n"
			  "{\"t\":1,\"delete\":\"Secret\",\"name\":\"a/b\"}\n"
			  "{\"t\":2,\"delete\":\"Node\",\"name\":\"n1\"}\n");
	ck_assert_str_eq(read_all(&count), "");
	ck_assert_uint_eq(count, 1);
	(void)unlink(path);
}
END_TEST

START_TEST(test_recording__a_file_that_is_there_is_not_overwritten)
{
	const struct bt_recording_header header = {0};
	struct bt_recording_writer *writer;
	write_file("mine");
	ck_assert_int_eq(bt_recording_create(path, true, &header, &writer, NULL), BERTH_ERR_EXISTS);
	(void)unlink(path);
	/* A device has nothing that could be lost. */
	ck_assert_int_eq(bt_recording_create("/dev/null", true, &header, &writer, NULL), 0);
	ck_assert_int_eq(bt_recording_finish(writer, true, NULL, NULL), 0);
}
END_TEST

/** On a full disk the writer fails, and the lines that were flushed before can be read. */
START_TEST(test_recording__a_full_disk_is_an_error)
{
	const struct bt_recording_header header = {0};
	const struct rlimit small = {4096, RLIM_INFINITY};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct rlimit before;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_recording_writer *writer;
	uint32_t count;
	int result = 0;
	choose_path();
	ck_assert_int_eq(bt_recording_create(path, false, &header, &writer, NULL), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint32_t i = 0; i < 1000 && result == 0; i++) {
		result = bt_recording_append(writer, &lines[0], &err);
		if (result == 0) {
			result = bt_recording_flush(writer, &err);
		}
	}
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(result, BERTH_ERR_IO);
	ck_assert_ptr_nonnull(strstr(
		berth_error_message(&err), "File too large; what was written before is kept"));
	berth_error_finish(&err);
	ck_assert_int_le(bt_recording_finish(writer, false, NULL, NULL), 0); /* failed before */
	ck_assert_str_eq(read_all(&count), "");
	ck_assert_uint_gt(count, 10);
	(void)unlink(path);
}
END_TEST

BT_TEST_MAIN("recording", test_recording__what_is_written_is_read_again,
	test_recording__what_was_cut_off_is_read_as_far_as_it_goes,
	test_recording__what_is_no_recording_is_refused,
	test_recording__kinds_that_no_scheduler_reads_are_passed_over,
	test_recording__a_file_that_is_there_is_not_overwritten,
	test_recording__a_full_disk_is_an_error)
