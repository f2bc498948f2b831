/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The writer of recordings: which lines it writes for which change, in which order, into which
 * file.
 */
#include "replay/recorder.h"

#include <unistd.h>

#include "replay/recording.h"
#include "test_main.h"

#define SECOND INT64_C(1000000000)

/** The objects of the cluster that the recorder watches. */
static struct bt_object *cluster[8];
static uint32_t cluster_count;
static char path[64];
static char second_path[64];

#define WALL_START (1795410000 * SECOND)

static int64_t wall_now_ns;

static int64_t wall_ns(void)
{
	return wall_now_ns;
}

static void visit_cluster(void *context,
	void (*visit)(void *context, const struct bt_object *object), void *visit_context)
{
	(void)context;
	for (uint32_t i = 0; i < cluster_count; i++) {
		visit(visit_context, cluster[i]);
	}
}

static struct bt_object *object_of(const char *text)
{
	struct bt_object *object = NULL;
	ck_assert_int_eq(bt_object_decode(bt_str_from(text), &object, NULL), 0);
	return object;
}

static struct bt_object *pod(const char *name, unsigned version, const char *node)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\","
		"\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%u\"},\"spec\":{"
		"\"containers\":[{\"name\":\"c\"}],\"nodeName\":\"%s\"}}",
		name, name, version, node);
	struct bt_object *object = object_of(bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return object;
}

static struct bt_recorder *start(struct bt_recorder_options options)
{
	struct bt_recorder *recorder = NULL;
	(void)snprintf(path, sizeof(path), "berth-recorder-%ld.berthrec", (long)getpid());
	(void)snprintf(
		second_path, sizeof(second_path), "berth-recorder-%ld.2.berthrec", (long)getpid());
	(void)unlink(path);
	(void)unlink(second_path);
	options.path = path;
	options.recording = "abc";
	options.wall_ns = wall_ns;
	wall_now_ns = WALL_START;
	options.for_each_object = visit_cluster;
	ck_assert_int_eq(bt_recorder_create(&options, 0, &recorder, NULL), 0);
	return recorder;
}

static void take(struct bt_recorder *recorder, int64_t now_ns, struct bt_object *old_object,
	struct bt_object *new_object)
{
	bt_recorder_take(recorder, now_ns, old_object, new_object);
	bt_object_release(old_object);
	bt_object_release(new_object);
}

/** Returns a line such as "add shop/a at 0.5\n" for each line after the start. */
static const char *describe(const char *file, uint32_t *out_start_count)
{
	static const char *const words[] = {"add", "change", "delete", "gap", "end"};
	static struct bt_strbuf out;
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	bt_strbuf_reset(&out);
	*out_start_count = 0;
	ck_assert_int_eq(bt_recording_open(file, &reader, NULL), 0);
	int result;
	while ((result = bt_recording_next(reader, &line, NULL)) == 1) {
		if (line.is_start) {
			++*out_start_count;
			continue;
		}
		bt_strbuf_printf(&out, "%.3f %s %.*s %.*s\n", (double)line.time_ns / SECOND,
			words[line.event], BT_STR_ARG(line.name), BT_STR_ARG(line.json));
	}
	ck_assert_int_eq(result, 0);
	bt_recording_close(reader);
	return bt_strbuf_c(&out);
}

static void expect(const char *file, uint32_t start_count, const char *lines)
{
	uint32_t found;
	ck_assert_str_eq(describe(file, &found), lines);
	ck_assert_uint_eq(found, start_count);
}

static void end(struct bt_recorder *recorder)
{
	ck_assert_int_eq(bt_recorder_end(recorder, NULL), 0);
	bt_recorder_destroy(recorder);
}

static void fill_cluster(void)
{
	cluster[0] = object_of("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":"
			       "\"n1\",\"uid\":\"u-n1\",\"resourceVersion\":\"3\"}}");
	cluster_count = 1;
}

static void empty_cluster(void)
{
	for (uint32_t i = 0; i < cluster_count; i++) {
		bt_object_release(cluster[i]);
	}
	cluster_count = 0;
	(void)unlink(path);
	(void)unlink(second_path);
}

#define POD_A \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"," \
	"\"namespace\":\"shop\",\"uid\":\"u-a\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"

START_TEST(test_recorder__changes_are_patches_and_heartbeats_are_nothing)
{
	fill_cluster();
	struct bt_recorder *recorder = start((struct bt_recorder_options){.is_gzipped = true});
	take(recorder, 1 * SECOND, NULL, pod("a", 10, ""));
	take(recorder, 2 * SECOND, pod("a", 10, ""), pod("a", 11, "n1"));
	take(recorder, 3 * SECOND, pod("a", 11, "n1"), pod("a", 12, "n1"));
	take(recorder, 4 * SECOND, pod("a", 12, "n1"), NULL);
	end(recorder);
	expect(path, 1,
		"1.000 add  " POD_A "\n"
		"2.000 change a {\"spec\":{\"nodeName\":\"n1\"}}\n"
		"4.000 delete a \n"
		"4.000 end  \n");
	empty_cluster();
}
END_TEST

START_TEST(test_recorder__an_object_that_took_the_name_of_another_is_added)
{
	fill_cluster();
	struct bt_recorder *recorder = start((struct bt_recorder_options){0});
	struct bt_object *other = object_of(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\","
		"\"name\":\"a\",\"uid\":\"u-b\",\"resourceVersion\":\"12\"}}");
	bt_recorder_take_gap(recorder, 1 * SECOND, BT_KIND_POD, 30 * SECOND);
	take(recorder, 1 * SECOND, pod("a", 10, ""), other);
	end(recorder);
	expect(path, 1,
		"1.000 gap  \n"
		"1.000 delete a \n"
		"1.000 add  {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
		"\"namespace\":\"shop\",\"uid\":\"u-b\"}}\n"
		"1.000 end  \n");
	empty_cluster();
}
END_TEST

static struct bt_object *node(unsigned version, const char *zone)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text,
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\","
		"\"uid\":\"u-n1\",\"resourceVersion\":\"%u\",\"labels\":{\"zone\":\"%s\"}}}",
		version, zone);
	struct bt_object *object = object_of(bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return object;
}

START_TEST(test_recorder__kinds_are_ordered_by_resource_version)
{
	fill_cluster();
	struct bt_recorder *recorder = start((struct bt_recorder_options){0});
	take(recorder, SECOND, NULL, pod("a", 100, ""));
	/* The node's watch is slower; versions compare as numbers: 99 is before 100. */
	take(recorder, SECOND + SECOND / 5, node(98, "a"), node(99, "b"));
	take(recorder, SECOND + SECOND / 4, NULL, pod("b", 101, ""));
	/* A deletion found by a list has an old version and keeps its place in the order. */
	take(recorder, SECOND + SECOND / 4, pod("a", 50, ""), NULL);
	/* The window of the later changes is still open. */
	ck_assert_int_eq(bt_recorder_flush(recorder, SECOND + SECOND / 2, NULL), 0);
	ck_assert_uint_eq(bt_recorder_count(recorder).changes, 2);
	ck_assert_int_eq(bt_recorder_flush(recorder, 2 * SECOND, NULL), 0);
	ck_assert_uint_eq(bt_recorder_count(recorder).changes, 4);
	end(recorder);
	uint32_t found;
	const char *lines = describe(path, &found);
	const char *change = "1.000 change n1 {\"metadata\":{\"labels\":{\"zone\":\"b\"}}}\n";
	ck_assert_msg(strncmp(lines, change, strlen(change)) == 0, "%s", lines);
	ck_assert_ptr_nonnull(strstr(lines, "1.000 add  " POD_A "\n1.250 add  "));
	ck_assert_ptr_nonnull(strstr(lines, "\n1.250 delete a \n1.250 end"));
	empty_cluster();
}
END_TEST

START_TEST(test_recorder__each_part_starts_with_the_whole_cluster)
{
	fill_cluster();
	struct bt_recorder *recorder =
		start((struct bt_recorder_options){.rotate_ns = 10 * SECOND});
	cluster[cluster_count++] = pod("a", 10, "");
	take(recorder, 10 * SECOND, NULL, bt_object_share(cluster[1]));
	/* Changes that are still held back belong to the part that ends. */
	ck_assert_int_eq(bt_recorder_flush(recorder, 10 * SECOND, NULL), 0);
	take(recorder, 12 * SECOND, pod("a", 10, ""), pod("a", 11, "n1"));
	ck_assert_uint_eq(bt_recorder_count(recorder).parts, 2);
	end(recorder);
	expect(path, 1, "10.000 add  " POD_A "\n10.000 end  \n");
	expect(second_path, 2, "2.000 change a {\"spec\":{\"nodeName\":\"n1\"}}\n2.000 end  \n");

	struct bt_recording_reader *reader;
	ck_assert_int_eq(bt_recording_open(second_path, &reader, NULL), 0);
	ck_assert_uint_eq(reader->header.part, 2);
	bt_recording_close(reader);
	empty_cluster();
}
END_TEST

START_TEST(test_recorder__a_part_starts_after_the_one_before_if_the_clock_is_set_back)
{
	fill_cluster();
	struct bt_recorder *recorder =
		start((struct bt_recorder_options){.rotate_ns = 10 * SECOND});
	take(recorder, 9 * SECOND, NULL, pod("a", 10, ""));
	wall_now_ns = WALL_START - 3600 * SECOND;
	ck_assert_int_eq(bt_recorder_flush(recorder, 10 * SECOND, NULL), 0);
	end(recorder);

	struct bt_recording_reader *reader;
	ck_assert_int_eq(bt_recording_open(second_path, &reader, NULL), 0);
	ck_assert_int_eq(reader->header.start_ns, WALL_START + 9 * SECOND);
	bt_recording_close(reader);
	empty_cluster();
}
END_TEST

START_TEST(test_recorder__a_later_part_that_is_there_is_refused_at_once)
{
	static const struct {
		const char *name; /* after the stem */
		bool is_part;
	} rows[] = {
		{".2.berthrec", true},
		{".30.berthrec", true},
		{".1.berthrec", false},
		{".02.berthrec", false},
		{".20261130.berthrec", false},
		{".2.berthrec.gz", false},
		{"-2.berthrec", false},
		{"..berthrec", false},
	};
	fill_cluster();
	bt_recorder_destroy(start((struct bt_recorder_options){0}));
	(void)unlink(path);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		char other[80];
		(void)snprintf(
			other, sizeof(other), "berth-recorder-%ld%s", (long)getpid(), rows[i].name);
		FILE *file = fopen(other, "w");
		ck_assert_ptr_nonnull(file);
		ck_assert_int_eq(fclose(file), 0);
		struct bt_recorder *recorder = NULL;
		struct bt_recorder_options options = {.path = path,
			.recording = "",
			.wall_ns = wall_ns,
			.for_each_object = visit_cluster,
			.rotate_bytes = 1000};
		ck_assert_msg(bt_recorder_create(&options, 0, &recorder, NULL) ==
				(rows[i].is_part ? BERTH_ERR_EXISTS : 0),
			"%s", other);
		ck_assert_int_eq(access(path, F_OK) != 0, rows[i].is_part);
		bt_recorder_destroy(recorder);
		(void)unlink(path);
		(void)unlink(other);
	}
	empty_cluster();
}
END_TEST

START_TEST(test_recorder__names_that_come_later_become_neutral)
{
	fill_cluster();
	struct bt_recorder *recorder = start((struct bt_recorder_options){.strip_names = true});
	take(recorder, 1 * SECOND, NULL, pod("secretone", 10, ""));
	take(recorder, 2 * SECOND, pod("secretone", 10, ""), pod("secretone", 11, "secrettwo"));
	take(recorder, 3 * SECOND, pod("secretone", 11, "secrettwo"), NULL);
	end(recorder);
	uint32_t found;
	const char *lines = describe(path, &found);
	ck_assert_msg(
		strstr(lines, "secret") == NULL && strstr(lines, "shop") == NULL, "%s", lines);
	/*
	 * The names become n1 and u; the pod's words are numbered in the order of their first use.
	 */
	const char *change = strstr(lines, "2.000 change ");
	const char *deletion = strstr(lines, "3.000 delete ");
	ck_assert_ptr_nonnull(change);
	ck_assert_ptr_nonnull(deletion);
	ck_assert_int_eq(
		strncmp(change + strlen("2.000 change "), deletion + strlen("3.000 delete "), 3),
		0);
	empty_cluster();
}
END_TEST

BT_TEST_MAIN("recorder", test_recorder__changes_are_patches_and_heartbeats_are_nothing,
	test_recorder__an_object_that_took_the_name_of_another_is_added,
	test_recorder__kinds_are_ordered_by_resource_version,
	test_recorder__each_part_starts_with_the_whole_cluster,
	test_recorder__a_part_starts_after_the_one_before_if_the_clock_is_set_back,
	test_recorder__a_later_part_that_is_there_is_refused_at_once,
	test_recorder__names_that_come_later_become_neutral)
