/* SPDX-License-Identifier: Apache-2.0 */
/** The metric families must match the table of the specification exactly. */
#include "framework/scheduler_metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "test_main.h"

static int64_t no_clock(void *context)
{
	(void)context;
	return 0;
}

/** A line of the table, split at its bars. */
struct row {
	char name[80];
	char type[120];
	char stability[20];
	char buckets[40];
	char meaning[400];
};

static void copy_cell(const char **at, char *out, size_t size)
{
	const char *end = strstr(*at, " |");
	const char *start = *at + strspn(*at, " `|");
	size_t length;

	ck_assert_ptr_nonnull(end);
	length = end > start ? (size_t)(end - start) : 0;
	while (length > 0 && start[length - 1] == '`') {
		length--;
	}
	ck_assert_uint_lt(length, size);
	memcpy(out, start, length);
	out[length] = '\0';
	*at = end + 2;
}

/** Reads the next row of section 10.2; returns false at the end. */
static bool next_row(FILE *file, struct row *out)
{
	static char line[2000];

	while (fgets(line, sizeof(line), file) != NULL && strncmp(line, "### 10.3", 8) != 0) {
		const char *at = line + 1;

		if (strncmp(line, "| `", 3) != 0) {
			continue;
		}
		copy_cell(&at, out->name, sizeof(out->name));
		copy_cell(&at, out->type, sizeof(out->type));
		copy_cell(&at, out->stability, sizeof(out->stability));
		copy_cell(&at, out->buckets, sizeof(out->buckets));
		copy_cell(&at, out->meaning, sizeof(out->meaning));
		return true;
	}
	return false;
}

static FILE *open_section(const char *heading)
{
	static char line[2000];
	const char *path = getenv("BERTH_TEST_SPEC_DAEMON");
	FILE *file;

	ck_assert_ptr_nonnull(path);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, heading, strlen(heading)) == 0) {
			return file;
		}
	}
	ck_abort_msg("there is no section %s", heading);
	return NULL;
}

/** Writes the type as "histogram {result, profile}" or "counter". */
static void write_type(const struct bt_metric_description *description, struct bt_strbuf *out)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};

	bt_strbuf_append_c(out, types[description->type]);
	for (uint32_t i = 0; description->labels[i] != NULL; i++) {
		bt_strbuf_printf(out, "%s%s", i == 0 ? " {" : ", ", description->labels[i]);
	}
	bt_strbuf_append_c(out, description->labels[0] != NULL ? "}" : "");
}

static void check_row(const struct bt_metrics *metrics, const struct row *row)
{
	static const char *const levels[] = {"", "ALPHA", "BETA", "STABLE"};
	const struct bt_metric_description *description;
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "scheduler_%s", row->name);
	description = bt_metrics_find(metrics, bt_strbuf_c(&text));
	ck_assert_msg(description != NULL, "%s is missing", row->name);
	bt_strbuf_reset(&text);
	write_type(description, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), row->type);
	ck_assert_str_eq(levels[description->stability], row->stability);
	bt_strbuf_reset(&text);
	if (description->type == BT_METRIC_HISTOGRAM) {
		/* The table writes the start without trailing zeros and without an exponent. */
		char start[32];
		(void)snprintf(start, sizeof(start), "%.5f", description->buckets.start);
		while (start[strlen(start) - 1] == '0') {
			start[strlen(start) - 1] = '\0';
		}
		if (start[strlen(start) - 1] == '.') {
			start[strlen(start) - 1] = '\0';
		}
		bt_strbuf_printf(&text, "exp(%s,%g,%u)", start, description->buckets.factor,
			description->buckets.count);
	}
	ck_assert_str_eq(bt_strbuf_c(&text), row->buckets);
	bt_strbuf_finish(&text);
}

/**
 * Reads the next row of section 10.7: the first cell is the full name, the last cell the help text.
 */
static bool next_help(
	FILE *file, char *out_name, size_t name_size, char *out_help, size_t help_size)
{
	static char line[2000];

	while (fgets(line, sizeof(line), file) != NULL && strncmp(line, "## 11.", 6) != 0) {
		const char *at = line + 1;

		if (strncmp(line, "| `scheduler_", 13) == 0) {
			copy_cell(&at, out_name, name_size);
			copy_cell(&at, out_help, help_size);
			return true;
		}
	}
	return false;
}

static struct bt_gates all_gates(bool enabled)
{
	struct bt_gates gates;

	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		gates.enabled[i] = enabled;
	}
	return gates;
}

START_TEST(test_scheduler_metrics__are_those_of_the_table)
{
	struct bt_gates gates = all_gates(true);
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_scheduler_metrics *scheduler =
		bt_scheduler_metrics_create(metrics, &gates, no_clock, NULL);
	FILE *file = open_section("### 10.2");
	uint32_t count = 0;
	struct row row;

	while (next_row(file, &row)) {
		check_row(metrics, &row);
		count++;
	}
	ck_assert_uint_eq(count, BT_FAMILY__COUNT);
	(void)fclose(file);
	bt_scheduler_metrics_destroy(scheduler);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_scheduler_metrics__gated_ones_need_their_gate)
{
	struct bt_gates gates = all_gates(false);
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_scheduler_metrics *scheduler =
		bt_scheduler_metrics_create(metrics, &gates, no_clock, NULL);
	FILE *file = open_section("### 10.2");
	bool gated = false; /* the row "same gate" repeats the gate of the row before */
	struct row row;

	while (next_row(file, &row)) {
		struct bt_strbuf name = {0};

		gated = strstr(row.meaning, "gate ") != NULL || strstr(row.meaning, "(gate") ||
			(gated && strstr(row.meaning, "same gate") != NULL);
		bt_strbuf_printf(&name, "scheduler_%s", row.name);
		ck_assert_msg((bt_metrics_find(metrics, bt_strbuf_c(&name)) == NULL) == gated, "%s",
			row.name);
		bt_strbuf_finish(&name);
	}
	/* Counting an unregistered metric has no effect. */
	bt_metrics_api_call_ended(scheduler, "pod_binding", true, 1);
	bt_metrics_count(scheduler, BT_FAMILY_PREEMPTION_TASKS, "success");
	bt_metrics_observe(scheduler, BT_FAMILY_PREEMPTION_TASK_DURATION, "success", 0);
	(void)fclose(file);
	bt_scheduler_metrics_destroy(scheduler);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_scheduler_metrics__help_is_that_of_the_table)
{
	struct bt_gates gates = all_gates(true);
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_scheduler_metrics *scheduler =
		bt_scheduler_metrics_create(metrics, &gates, no_clock, NULL);
	FILE *file = open_section("### 10.7");
	uint32_t count = 0;
	char name[80];
	char help[500];

	while (next_help(file, name, sizeof(name), help, sizeof(help))) {
		const struct bt_metric_description *description = bt_metrics_find(metrics, name);
		ck_assert_msg(description != NULL, "%s is missing", name);
		ck_assert_str_eq(description->help, help);
		count++;
	}
	ck_assert_uint_eq(count, BT_FAMILY__COUNT);
	(void)fclose(file);
	bt_scheduler_metrics_destroy(scheduler);
	bt_metrics_destroy(metrics);
}
END_TEST

BT_TEST_MAIN("scheduler_metrics", test_scheduler_metrics__are_those_of_the_table,
	test_scheduler_metrics__help_is_that_of_the_table,
	test_scheduler_metrics__gated_ones_need_their_gate)
