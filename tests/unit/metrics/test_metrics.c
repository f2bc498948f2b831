/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "metrics/promtool.h"
#include "test_main.h"

static const struct bt_metric_description requests = {
	.name = "test_requests_total",
	.help = "Requests with \"quotes\",\na \\ and a line.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_STABLE,
	.labels = {"verb", "code"},
};
static const struct bt_metric_description waiting = {
	.name = "test_waiting",
	.help = "Who waits.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_BETA,
};
static const struct bt_metric_description seconds = {
	.name = "test_seconds",
	.help = "How long.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"what"},
	.buckets = {.start = 0.001, .factor = 10, .count = 3},
};
static const struct bt_metric_description inner = {
	.name = "a_inner",
	.help = "First of all.",
	.type = BT_METRIC_GAUGE,
};

static struct bt_metric_cell *cell1(struct bt_metric *metric, const char *value)
{
	const struct bt_str values[] = {bt_str_from(value)};
	return bt_metric_cell(metric, values);
}

static struct bt_metric_cell *cell2(struct bt_metric *metric, const char *first, const char *second)
{
	const struct bt_str values[] = {bt_str_from(first), bt_str_from(second)};
	return bt_metric_cell(metric, values);
}

/**
 * Returns the written text without the metrics about metrics, such as registered_metrics. The
 * caller frees the text.
 */
static char *written(struct bt_metrics *metrics, enum bt_metrics_format format)
{
	struct bt_strbuf out = {0};
	struct bt_strbuf kept = {0};
	const char *line;

	bt_metrics_write(metrics, format, &out);
	for (line = bt_strbuf_c(&out); *line != '\0'; line = strchr(line, '\n') + 1) {
		size_t length = (size_t)(strchr(line, '\n') - line) + 1;
		struct bt_str text = {line, (uint32_t)length};

		if (bt_str_find(text, BT_STR("registered_metrics")) < 0 &&
			bt_str_find(text, BT_STR("disabled_metrics")) < 0 &&
			bt_str_find(text, BT_STR("hidden_metrics")) < 0) {
			bt_strbuf_append_str(&kept, text);
		}
	}
	bt_strbuf_finish(&out);
	if (kept.data == NULL) {
		bt_strbuf_append_c(&kept, "");
	}
	return bt_strbuf_steal(&kept);
}

static void check_written(struct bt_metrics *metrics, const char *expected)
{
	char *text = written(metrics, BT_METRICS_TEXT);

	ck_assert_str_eq(text, expected);
	bt_free(text);
}

static void check_line(struct bt_metrics *metrics, const char *line)
{
	struct bt_strbuf out = {0};

	bt_metrics_write(metrics, BT_METRICS_TEXT, &out);
	ck_assert_msg(
		strstr(bt_strbuf_c(&out), line) != NULL, "no %s in:\n%s", line, bt_strbuf_c(&out));
	bt_strbuf_finish(&out);
}

static void fill(struct bt_metrics *metrics)
{
	struct bt_metric *counted = bt_metrics_register(metrics, &requests);
	struct bt_metric *timed = bt_metrics_register(metrics, &seconds);

	bt_metric_set(bt_metric_only(bt_metrics_register(metrics, &inner)), -0.25);
	bt_metric_add(cell2(counted, "GET", "500"), 1);
	bt_metric_add(cell2(counted, "b\\\"\n", "200"), 2);
	bt_metric_add(cell2(counted, "GET", "200"), 1);
	bt_metric_add(cell2(counted, "GET", "200"), 2);
	(void)bt_metrics_register(metrics, &waiting);
	bt_metric_observe(cell1(timed, "x"), 0.001);
	bt_metric_observe(cell1(timed, "x"), 0.0011);
	bt_metric_observe(cell1(timed, "x"), 7);
}

START_TEST(test_metrics__text)
{
	struct bt_metrics *metrics = bt_metrics_create();

	fill(metrics);
	check_written(metrics,
		"# HELP a_inner First of all.\n"
		"# TYPE a_inner gauge\n"
		"a_inner -0.25\n"
		"# HELP test_requests_total [STABLE] Requests with \"quotes\",\\na \\\\ and a "
		"line.\n"
		"# TYPE test_requests_total counter\n"
		"test_requests_total{code=\"200\",verb=\"GET\"} 3\n"
		"test_requests_total{code=\"200\",verb=\"b\\\\\\\"\\n\"} 2\n"
		"test_requests_total{code=\"500\",verb=\"GET\"} 1\n"
		"# HELP test_seconds [ALPHA] How long.\n"
		"# TYPE test_seconds histogram\n"
		"test_seconds_bucket{what=\"x\",le=\"0.001\"} 1\n"
		"test_seconds_bucket{what=\"x\",le=\"0.01\"} 2\n"
		"test_seconds_bucket{what=\"x\",le=\"0.1\"} 2\n"
		"test_seconds_bucket{what=\"x\",le=\"+Inf\"} 3\n"
		"test_seconds_sum{what=\"x\"} 7.0021\n"
		"test_seconds_count{what=\"x\"} 3\n"
		"# HELP test_waiting [BETA] Who waits.\n"
		"# TYPE test_waiting gauge\n"
		"test_waiting 0\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__open_metrics)
{
	static const struct bt_metric_description attempts = {
		.name = "z_attempts",
		.help = "h",
		.type = BT_METRIC_COUNTER,
	};
	struct bt_metrics *metrics = bt_metrics_create();
	char *text;

	fill(metrics);
	bt_metric_add(bt_metric_only(bt_metrics_register(metrics, &attempts)), 1e6);
	text = written(metrics, BT_METRICS_OPENMETRICS);
	ck_assert_str_eq(text,
		"# HELP a_inner First of all.\n"
		"# TYPE a_inner gauge\n"
		"a_inner -0.25\n"
		"# HELP test_requests [STABLE] Requests with \\\"quotes\\\",\\na \\\\ and a line.\n"
		"# TYPE test_requests counter\n"
		"test_requests_total{code=\"200\",verb=\"GET\"} 3.0\n"
		"test_requests_total{code=\"200\",verb=\"b\\\\\\\"\\n\"} 2.0\n"
		"test_requests_total{code=\"500\",verb=\"GET\"} 1.0\n"
		"# HELP test_seconds [ALPHA] How long.\n"
		"# TYPE test_seconds histogram\n"
		"test_seconds_bucket{what=\"x\",le=\"0.001\"} 1\n"
		"test_seconds_bucket{what=\"x\",le=\"0.01\"} 2\n"
		"test_seconds_bucket{what=\"x\",le=\"0.1\"} 2\n"
		"test_seconds_bucket{what=\"x\",le=\"+Inf\"} 3\n"
		"test_seconds_sum{what=\"x\"} 7.0021\n"
		"test_seconds_count{what=\"x\"} 3\n"
		"# HELP test_waiting [BETA] Who waits.\n"
		"# TYPE test_waiting gauge\n"
		"test_waiting 0.0\n"
		"# HELP z_attempts h\n"
		"# TYPE z_attempts unknown\n"
		"z_attempts 1e+06\n"
		"# EOF\n");
	bt_free(text);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__numbers)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{0, "0"},
		{-0.0, "0"},
		{1, "1"},
		{-1, "-1"},
		{10, "10"},
		{100000, "100000"},
		{999999, "999999"},
		{1000000, "1e+06"},
		{1234567, "1.234567e+06"},
		{123456.75, "123456.75"},
		{16.384, "16.384"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1.0 / 3, "0.3333333333333333"},
		{0.0001, "0.0001"},
		{0.00012, "0.00012"},
		{0.00001, "1e-05"},
		{3.375e-05, "3.375e-05"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{2.2250738585072014e-308, "2.2250738585072014e-308"},
		{18446744073709551615.0, "1.8446744073709552e+19"},
		{(double)INFINITY, "+Inf"},
		{-(double)INFINITY, "-Inf"},
		{(double)NAN, "NaN"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};

		bt_metrics_append_number(&out, rows[i].value, false);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_finish(&out);
	}
}
END_TEST

START_TEST(test_metrics__bounds_of_buckets)
{
	static const struct bt_metric_description scaled = {
		.name = "scaled",
		.help = "h",
		.type = BT_METRIC_HISTOGRAM,
		.buckets = {.start = 0.00001, .factor = 1.5, .count = 5},
	};
	static const double bounds[] = {1, 2.5};
	static const struct bt_metric_description listed = {
		.name = "listed",
		.help = "h",
		.type = BT_METRIC_HISTOGRAM,
		.buckets = {.count = 2, .bounds = bounds},
	};
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_metric *metric = bt_metrics_register(metrics, &listed);

	(void)bt_metrics_register(metrics, &scaled);
	bt_metric_observe(bt_metric_only(metric), 2.5);
	bt_metric_observe(bt_metric_only(metric), (double)NAN);
	check_written(metrics,
		"# HELP listed h\n"
		"# TYPE listed histogram\n"
		"listed_bucket{le=\"1\"} 0\n"
		"listed_bucket{le=\"2.5\"} 1\n"
		"listed_bucket{le=\"+Inf\"} 2\n"
		"listed_sum NaN\n"
		"listed_count 2\n"
		"# HELP scaled h\n"
		"# TYPE scaled histogram\n"
		"scaled_bucket{le=\"1e-05\"} 0\n"
		"scaled_bucket{le=\"1.5000000000000002e-05\"} 0\n"
		"scaled_bucket{le=\"2.2500000000000005e-05\"} 0\n"
		"scaled_bucket{le=\"3.375000000000001e-05\"} 0\n"
		"scaled_bucket{le=\"5.062500000000001e-05\"} 0\n"
		"scaled_bucket{le=\"+Inf\"} 0\n"
		"scaled_sum 0\n"
		"scaled_count 0\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__series_appear_when_recorded)
{
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_metric *counted = bt_metrics_register(metrics, &requests);
	struct bt_metric_cell *cell = cell2(counted, "GET", "200");

	check_written(metrics, "");
	bt_metric_add(cell, 0);
	check_line(metrics, "test_requests_total{code=\"200\",verb=\"GET\"} 0\n");
	ck_assert_ptr_eq(cell, cell2(counted, "GET", "200"));
	ck_assert_ptr_ne(cell, cell2(counted, "GET", "201"));
	ck_assert_ptr_eq(counted, bt_metrics_register(metrics, &requests));
	bt_metrics_destroy(metrics);
}
END_TEST

struct collected {
	struct bt_metric_cell *cell;
	double by_now; /* amount since the last collection */
};

static void collect(void *context)
{
	struct collected *collected = context;

	bt_metric_add(collected->cell, collected->by_now);
	collected->by_now = 0;
}

START_TEST(test_metrics__collector_and_reset)
{
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_metric *counted = bt_metrics_register(metrics, &requests);
	struct bt_metric_cell *gauge = bt_metric_only(bt_metrics_register(metrics, &waiting));
	struct bt_metric_cell *timed = cell1(bt_metrics_register(metrics, &seconds), "x");
	struct collected collected = {cell2(counted, "GET", "200"), 5};

	bt_metrics_add_collector(metrics, collect, &collected);
	check_line(metrics, "verb=\"GET\"} 5\n");
	bt_metric_observe(timed, 0.5);
	bt_metric_set(gauge, 3);
	/* Amounts from before the reset must not reappear after it. */
	collected.by_now = 2;
	bt_metrics_reset(metrics);
	check_line(metrics, "test_waiting 0\n");
	check_line(metrics, "verb=\"GET\"} 0\n");
	ck_assert(!timed->is_recorded);
	bt_metric_observe(timed, 0.002);
	check_line(metrics, "test_seconds_bucket{what=\"x\",le=\"0.1\"} 1\n");
	check_line(metrics, "test_seconds_sum{what=\"x\"} 0.002\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__reset_leaves_constants_alone)
{
	static const struct bt_metric_description about = {
		.name = "test_about",
		.help = "What this is.",
		.labels = {"version"},
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_BETA,
		.is_constant = true,
	};
	struct bt_metrics *metrics = bt_metrics_create_bare();
	struct bt_strbuf out = {0};

	bt_metric_set(cell1(bt_metrics_register(metrics, &about), "1.0"), 1);
	bt_metrics_reset(metrics);
	bt_metrics_write(metrics, BT_METRICS_TEXT, &out);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"# HELP test_about [BETA] What this is.\n# TYPE test_about gauge\n"
		"test_about{version=\"1.0\"} 1\n");
	bt_strbuf_finish(&out);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__disabled)
{
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_strbuf out = {0};

	bt_metrics_disable(metrics, BT_STR("test_waiting"));
	bt_metrics_disable(metrics, BT_STR("test_seconds"));
	bt_metrics_disable(metrics, BT_STR("test_seconds"));
	bt_metrics_disable(metrics, BT_STR("unknown_to_all"));
	fill(metrics);
	bt_metrics_disable(metrics, BT_STR("a_inner"));
	bt_metrics_write(metrics, BT_METRICS_TEXT, &out);
	ck_assert_ptr_null(strstr(bt_strbuf_c(&out), "test_waiting"));
	ck_assert_ptr_null(strstr(bt_strbuf_c(&out), "test_seconds"));
	ck_assert_ptr_null(strstr(bt_strbuf_c(&out), "a_inner"));
	bt_strbuf_finish(&out);
	check_line(metrics, "\ntest_requests_total{");
	check_line(metrics, "\ndisabled_metrics_total 4\n");
	check_line(metrics, "\nhidden_metrics_total 0\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__registered_metrics_are_counted)
{
	struct bt_metrics *metrics = bt_metrics_create();

	fill(metrics);
	check_line(metrics, "# HELP registered_metrics_total [BETA] ");
	check_line(metrics,
		"registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 1\n"
		"registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 4\n"
		"registered_metrics_total{deprecated_version=\"\",stability_level=\"STABLE\"} "
		"1\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__allow_list)
{
	static const struct bt_str verbs[] = {BT_STR_INIT("GET"), BT_STR_INIT("PUT")};
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_metric *counted = bt_metrics_register(metrics, &requests);

	bt_metrics_allow_values(metrics, BT_STR("test_requests_total"), BT_STR("verb"), verbs, 1);
	/* A second list for the same label replaces the first. */
	bt_metrics_allow_values(metrics, BT_STR("test_requests_total"), BT_STR("verb"), verbs, 2);
	bt_metrics_allow_values(metrics, BT_STR("other"), BT_STR("code"), verbs, 1);
	bt_metric_add(cell2(counted, "PUT", "200"), 1);
	bt_metric_add(cell2(counted, "PATCH", "200"), 1);
	bt_metric_add(cell2(counted, "DELETE", "200"), 1);
	check_line(metrics,
		"test_requests_total{code=\"200\",verb=\"PUT\"} 1\n"
		"test_requests_total{code=\"200\",verb=\"unexpected\"} 2\n");
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_metrics__promtool_agrees)
{
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_strbuf out = {0};

	fill(metrics);
	bt_metrics_write(metrics, BT_METRICS_TEXT, &out);
	bt_check_with_promtool(bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	bt_metrics_destroy(metrics);
}
END_TEST

BT_TEST_MAIN("metrics", test_metrics__text, test_metrics__open_metrics, test_metrics__numbers,
	test_metrics__bounds_of_buckets, test_metrics__series_appear_when_recorded,
	test_metrics__collector_and_reset, test_metrics__reset_leaves_constants_alone,
	test_metrics__disabled, test_metrics__registered_metrics_are_counted,
	test_metrics__allow_list, test_metrics__promtool_agrees)
