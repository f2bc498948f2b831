/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/shortest.h"
#include "metrics/metrics.h"

#include "metrics/metrics_private.h"

/** State of a writer. */
struct writer {
	struct bt_strbuf *out;
	bool is_open; /* OpenMetrics */
};

/** Suffix of a name, or additional label, for histograms; NULL: none. */
struct sample {
	const char *suffix;
	const double *bound;
};

static void append_number(const struct writer *writer, double value)
{
	size_t start = writer->out->length;

	bt_shortest_append_general(writer->out, fpclassify(value) == FP_ZERO ? 0.0 : value);
	if (writer->is_open && isfinite(value) &&
		strpbrk(writer->out->data + start, ".e") == NULL) {
		bt_strbuf_append_c(writer->out, ".0");
	}
}

static void append_escaped(struct bt_strbuf *out, struct bt_str text, bool quotes)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];

		if (byte == '\\') {
			bt_strbuf_append_c(out, "\\\\");
		} else if (byte == '\n') {
			bt_strbuf_append_c(out, "\\n");
		} else if (byte == '"' && quotes) {
			bt_strbuf_append_c(out, "\\\"");
		} else {
			bt_strbuf_append_char(out, byte);
		}
	}
}

void bt_metrics_append_label_value(struct bt_strbuf *out, struct bt_str value)
{
	append_escaped(out, value, true);
}

void bt_metrics_append_number(struct bt_strbuf *out, double value)
{
	const struct writer writer = {out, false};
	append_number(&writer, value);
}

static void write_comments(const struct writer *writer, const struct bt_metric *metric)
{
	static const char *const prefixes[] = {
		[BT_METRIC_INTERNAL] = "",
		[BT_METRIC_ALPHA] = "[ALPHA] ",
		[BT_METRIC_BETA] = "[BETA] ",
		[BT_METRIC_STABLE] = "[STABLE] ",
	};
	static const char *const types[] = {
		[BT_METRIC_COUNTER] = "counter",
		[BT_METRIC_GAUGE] = "gauge",
		[BT_METRIC_HISTOGRAM] = "histogram",
	};
	const struct bt_metric_description *description = &metric->description;
	struct bt_str name = bt_str_from(description->name);
	const char *type = types[description->type];

	/*
	 * In OpenMetrics a counter family is named without the suffix _total that its samples have.
	 */
	if (writer->is_open && description->type == BT_METRIC_COUNTER) {
		if (bt_str_has_suffix(name, BT_STR("_total"))) {
			name.length -= (uint32_t)strlen("_total");
		} else {
			type = "unknown";
		}
	}
	bt_strbuf_printf(
		writer->out, "# HELP %.*s %s", BT_STR_ARG(name), prefixes[description->stability]);
	append_escaped(writer->out, bt_str_from(description->help), writer->is_open);
	bt_strbuf_printf(writer->out, "\n# TYPE %.*s %s\n", BT_STR_ARG(name), type);
}

static void write_name(
	const struct writer *writer, const struct bt_metric_series *series, struct sample sample)
{
	bt_strbuf_append_c(writer->out, series->cell.metric->description.name);
	bt_strbuf_append_c(writer->out, sample.suffix);

	const struct bt_metric *metric = series->cell.metric;
	char before = '{';

	for (uint32_t i = 0; i < metric->label_count; i++) {
		uint32_t label = metric->written_order[i];

		bt_strbuf_append_char(writer->out, before);
		bt_strbuf_append_c(writer->out, metric->description.labels[label]);
		bt_strbuf_append_c(writer->out, "=\"");
		append_escaped(writer->out, series->values[label], true);
		bt_strbuf_append_char(writer->out, '"');
		before = ',';
	}
	if (sample.bound != NULL) {
		bt_strbuf_append_char(writer->out, before);
		bt_strbuf_append_c(writer->out, "le=\"");
		append_number(writer, *sample.bound);
		bt_strbuf_append_char(writer->out, '"');
		before = ',';
	}
	if (before == ',') {
		bt_strbuf_append_char(writer->out, '}');
	}
	bt_strbuf_append_char(writer->out, ' ');
}

static void write_count(const struct writer *writer, const struct bt_metric_series *series,
	struct sample sample, uint64_t count)
{
	write_name(writer, series, sample);
	bt_strbuf_printf(writer->out, "%llu\n", (unsigned long long)count);
}

static void write_value(
	const struct writer *writer, const struct bt_metric_series *series, const char *suffix)
{
	write_name(writer, series, (struct sample){suffix, NULL});
	append_number(writer, series->cell.value);
	bt_strbuf_append_char(writer->out, '\n');
}

static void write_histogram(const struct writer *writer, const struct bt_metric_series *series)
{
	static const double infinite = (double)INFINITY;
	const struct bt_metric *metric = series->cell.metric;
	uint64_t below = 0;

	for (uint32_t i = 0; i < metric->bound_count; i++) {
		below += series->cell.bucket_counts[i];
		write_count(writer, series, (struct sample){"_bucket", &metric->bounds[i]}, below);
	}
	write_count(writer, series, (struct sample){"_bucket", &infinite}, series->cell.count);
	write_value(writer, series, "_sum");
	write_count(writer, series, (struct sample){"_count", NULL}, series->cell.count);
}

/** Compares series by label values in written order. */
static int compare_series(const void *a, const void *b)
{
	const struct bt_metric_series *one = *(struct bt_metric_series *const *)a;
	const struct bt_metric_series *other = *(struct bt_metric_series *const *)b;
	const struct bt_metric *metric = one->cell.metric;

	for (uint32_t i = 0; i < metric->label_count; i++) {
		uint32_t label = metric->written_order[i];
		int order = bt_str_compare(one->values[label], other->values[label]);

		if (order != 0) {
			return order;
		}
	}
	return 0;
}

static void write_family(const struct writer *writer, const struct bt_metric *metric)
{
	struct {
		BT_VEC(const struct bt_metric_series *) series;
	} written = {0};

	for (uint32_t i = 0; i < metric->series.count; i++) {
		if (metric->series.items[i]->cell.is_recorded) {
			bt_vec_push(&written.series, metric->series.items[i]);
		}
	}
	if (written.series.count == 0) {
		return;
	}
	qsort(written.series.items, written.series.count, sizeof(written.series.items[0]),
		compare_series);
	write_comments(writer, metric);
	for (uint32_t i = 0; i < written.series.count; i++) {
		if (metric->description.type == BT_METRIC_HISTOGRAM) {
			write_histogram(writer, written.series.items[i]);
		} else {
			write_value(writer, written.series.items[i], "");
		}
	}
	bt_vec_finish(&written.series);
}

void bt_metrics_write(
	struct bt_metrics *metrics, enum bt_metrics_format format, struct bt_strbuf *out)
{
	const struct writer writer = {out, format == BT_METRICS_OPENMETRICS};

	bt_metrics_collect(metrics);
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		if (!metrics->families.items[i]->is_disabled) {
			write_family(&writer, metrics->families.items[i]);
		}
	}
	if (writer.is_open) {
		bt_strbuf_append_c(out, "# EOF\n");
	}
}
