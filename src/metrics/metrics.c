/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/shortest.h"
#include "base/vec.h"

/** A cell and its label values in the order of the description, in one block of memory. */
struct bt_metric_series {
	struct bt_metric_cell cell; /* first: the address of a cell is that of its series */
	uint64_t hash;
	struct bt_str *values;
};

struct bt_metric {
	struct bt_metric_description description;
	struct bt_metrics *metrics;
	uint32_t label_count;
	/**
	 * Labels are written in the order of their names: written_order[i] is the index of the i-th
	 * label.
	 */
	uint8_t written_order[BT_METRIC_LABELS_MAX];
	double *bounds; /* histogram: ascending, without +Inf; owned */
	uint32_t bound_count;
	bool is_disabled;
	BT_VEC(struct bt_metric_series *) series; /* owned; in no order */
	struct bt_map by_values;                  /* index in series */
};

/** The allowed values of one label. */
struct bt_metric_allow_list {
	struct bt_str metric;
	struct bt_str label;
	struct bt_str *values;
	uint32_t value_count;
};

struct bt_metric_collector {
	void (*collect)(void *context);
	void *context;
};

struct bt_metrics {
	BT_VEC(struct bt_metric *) families; /* owned; sorted by name */
	BT_VEC(struct bt_metric_collector) collectors;
	struct bt_arena arena; /* of the texts in the next two members */
	BT_VEC(struct bt_str) disabled;
	BT_VEC(struct bt_metric_allow_list) allow_lists;
	struct bt_metric *registered_total; /* NULL: families are not counted */
	struct bt_metric *disabled_total;
};

static const struct bt_metric_description registered_description = {
	.name = "registered_metrics_total",
	.help = "The count of registered metrics broken by stability level and deprecation "
		"version.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_BETA,
	.labels = {"stability_level", "deprecated_version"},
};

static const struct bt_metric_description disabled_description = {
	.name = "disabled_metrics_total",
	.help = "The count of disabled metrics.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_BETA,
};

static const struct bt_metric_description hidden_description = {
	.name = "hidden_metrics_total",
	.help = "The count of hidden metrics.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_BETA,
};

struct bt_metrics *bt_metrics_create_bare(void)
{
	return BT_NEW(struct bt_metrics);
}

struct bt_metrics *bt_metrics_create(void)
{
	struct bt_metrics *metrics = bt_metrics_create_bare();

	metrics->registered_total = bt_metrics_register(metrics, &registered_description);
	metrics->disabled_total = bt_metrics_register(metrics, &disabled_description);
	(void)bt_metrics_register(metrics, &hidden_description);
	return metrics;
}

void bt_metrics_destroy(struct bt_metrics *metrics)
{
	if (metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		struct bt_metric *metric = metrics->families.items[i];

		bt_vec_finish_each(&metric->series, bt_free(*each));
		bt_map_finish(&metric->by_values);
		bt_free(metric->bounds);
		bt_free(metric);
	}
	bt_vec_finish(&metrics->families);
	bt_vec_finish(&metrics->collectors);
	bt_vec_finish(&metrics->disabled);
	bt_vec_finish(&metrics->allow_lists);
	bt_arena_finish(&metrics->arena);
	bt_free(metrics);
}

/** Index of the name among the families, or the index at which to insert it. */
static uint32_t family_position(const struct bt_metrics *metrics, const char *name, bool *out_found)
{
	struct bt_metric *const *items = metrics->families.items;
	uint32_t at;

	BT_LOWER_BOUND(at, metrics->families.count, middle,
		strcmp(items[middle]->description.name, name) < 0);
	*out_found = at < metrics->families.count && strcmp(items[at]->description.name, name) == 0;
	return at;
}

static bool is_disabled(const struct bt_metrics *metrics, const char *name)
{
	for (uint32_t i = 0; i < metrics->disabled.count; i++) {
		if (bt_str_equal_c(metrics->disabled.items[i], name)) {
			return true;
		}
	}
	return false;
}

struct bt_metric *bt_metrics_register(
	struct bt_metrics *metrics, const struct bt_metric_description *description)
{
	struct bt_metric *metric;
	bool found;
	uint32_t position = family_position(metrics, description->name, &found);

	if (found) {
		metric = metrics->families.items[position];
		BT_ASSERT(metric->description.type == description->type);
		BT_ASSERT(metric->description.stability == description->stability);
		return metric;
	}
	metric = BT_NEW(struct bt_metric);
	metric->description = *description;
	metric->metrics = metrics;
	metric->is_disabled = is_disabled(metrics, description->name);
	const char *const *labels = metric->description.labels;

	while (metric->label_count < BT_METRIC_LABELS_MAX && labels[metric->label_count] != NULL) {
		uint32_t at = metric->label_count++;

		while (at > 0 &&
			strcmp(labels[metric->written_order[at - 1]],
				labels[metric->label_count - 1]) > 0) {
			metric->written_order[at] = metric->written_order[at - 1];
			at--;
		}
		metric->written_order[at] = (uint8_t)(metric->label_count - 1);
	}
	if (description->type == BT_METRIC_HISTOGRAM) {
		/*
		 * Multiply repeatedly, as Prometheus' libraries do, so that the bounds print the
		 * same digits.
		 */
		const struct bt_metric_buckets *buckets = &metric->description.buckets;
		double bound = buckets->start;

		metric->bound_count = buckets->count;
		metric->bounds = BT_NEW_ARRAY(double, buckets->count);
		for (uint32_t i = 0; i < buckets->count; i++) {
			metric->bounds[i] = buckets->bounds != NULL ? buckets->bounds[i] : bound;
			BT_ASSERT(i == 0 || metric->bounds[i] > metric->bounds[i - 1]);
			bound *= buckets->factor;
		}
	}
	bt_vec_insert(&metrics->families, position, metric);
	if (metric->label_count == 0) {
		bt_metric_cell(metric, NULL)->is_recorded = true;
	}
	return metric;
}

const struct bt_metric_description *bt_metrics_find(
	const struct bt_metrics *metrics, const char *name)
{
	bool found;
	uint32_t position = family_position(metrics, name, &found);

	return found ? &metrics->families.items[position]->description : NULL;
}

struct bt_metric_cell *bt_metric_only(struct bt_metric *metric)
{
	BT_ASSERT(metric->label_count == 0);
	return &metric->series.items[0]->cell;
}

/** Returns the value, or "unexpected" if an allow list of the label lacks the value. */
static struct bt_str allowed_value(
	const struct bt_metric *metric, uint32_t label, struct bt_str value)
{
	const struct bt_metrics *metrics = metric->metrics;

	for (uint32_t i = 0; i < metrics->allow_lists.count; i++) {
		const struct bt_metric_allow_list *list = &metrics->allow_lists.items[i];

		if (!bt_str_equal_c(list->metric, metric->description.name) ||
			!bt_str_equal_c(list->label, metric->description.labels[label])) {
			continue;
		}
		for (uint32_t j = 0; j < list->value_count; j++) {
			if (bt_str_equal(value, list->values[j])) {
				return value;
			}
		}
		return BT_STR("unexpected");
	}
	return value;
}

struct bt_metric_cell *bt_metric_cell(struct bt_metric *metric, const struct bt_str *values)
{
	struct bt_str allowed[BT_METRIC_LABELS_MAX];
	uint64_t hash = 0;

	for (uint32_t i = 0; i < metric->label_count; i++) {
		allowed[i] = allowed_value(metric, i, values[i]);
		hash = bt_hash_u64(hash, bt_str_hash(allowed[i]));
	}
	BT_MAP_EACH (&metric->by_values, hash, index) {
		struct bt_metric_series *known = metric->series.items[index];
		uint32_t same = 0;

		while (same < metric->label_count &&
			bt_str_equal(known->values[same], allowed[same])) {
			same++;
		}
		if (same == metric->label_count) {
			return &known->cell;
		}
	}
	/* Allocate the series, its buckets, values and texts as one block. */
	size_t buckets = metric->bound_count * sizeof(uint64_t);
	size_t value_size = metric->label_count * sizeof(struct bt_str);
	size_t size = sizeof(struct bt_metric_series) + buckets + value_size;

	for (uint32_t i = 0; i < metric->label_count; i++) {
		size += allowed[i].length;
	}
	struct bt_metric_series *series = bt_calloc(1, size);
	series->cell.metric = metric;
	if (metric->description.type == BT_METRIC_HISTOGRAM) {
		series->cell.bucket_counts = (uint64_t *)(void *)(series + 1);
	}
	series->values = (struct bt_str *)(void *)((char *)(series + 1) + buckets);
	char *text = (char *)series->values + value_size;
	for (uint32_t i = 0; i < metric->label_count; i++) {
		if (allowed[i].length != 0) {
			memcpy(text, allowed[i].data, allowed[i].length);
		}
		series->values[i] = (struct bt_str){text, allowed[i].length};
		text += allowed[i].length;
	}

	series->hash = hash;
	bt_vec_push(&metric->series, series);
	bt_map_insert(&metric->by_values, hash, metric->series.count - 1);
	return &series->cell;
}

void bt_metric_observe(struct bt_metric_cell *cell, double value)
{
	bt_metric_observe_times(cell, value, 1);
}

void bt_metric_observe_times(struct bt_metric_cell *cell, double value, uint64_t count)
{
	const struct bt_metric *metric = cell->metric;
	uint32_t bucket;

	/* NaN is above all bounds. */
	BT_LOWER_BOUND(bucket, metric->bound_count, middle, !(metric->bounds[middle] >= value));
	if (bucket < metric->bound_count) {
		cell->bucket_counts[bucket] += count;
	}
	cell->value += value * (double)count;
	cell->count += count;
	cell->is_recorded = true;
}

void bt_metrics_add_collector(
	struct bt_metrics *metrics, void (*collect)(void *context), void *context)
{
	struct bt_metric_collector collector = {collect, context};
	bt_vec_push(&metrics->collectors, collector);
}

/** Runs the collectors, and updates the metrics that count families. */
static void collect(struct bt_metrics *metrics)
{
	for (uint32_t i = 0; i < metrics->collectors.count; i++) {
		metrics->collectors.items[i].collect(metrics->collectors.items[i].context);
	}
	if (metrics->registered_total != NULL) {
		static const struct bt_str levels[] = {
			[BT_METRIC_INTERNAL] = BT_STR_INIT(""), /* not counted */
			[BT_METRIC_ALPHA] = BT_STR_INIT("ALPHA"),
			[BT_METRIC_BETA] = BT_STR_INIT("BETA"),
			[BT_METRIC_STABLE] = BT_STR_INIT("STABLE"),
		};
		uint32_t counts[BT_ARRAY_LENGTH(levels)] = {0};

		for (uint32_t i = 0; i < metrics->families.count; i++) {
			const struct bt_metric *metric = metrics->families.items[i];
			counts[metric->description.stability] += metric->is_disabled ? 0 : 1;
		}
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(levels); i++) {
			const struct bt_str values[] = {levels[i], BT_STR("")};

			if (counts[i] != 0 && i != BT_METRIC_INTERNAL) {
				bt_metric_set(bt_metric_cell(metrics->registered_total, values),
					counts[i]);
			}
		}
		bt_metric_set(bt_metric_only(metrics->disabled_total), metrics->disabled.count);
	}
}

void bt_metrics_reset(struct bt_metrics *metrics)
{
	collect(metrics);
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		struct bt_metric *metric = metrics->families.items[i];

		for (uint32_t j = 0; j < metric->series.count && !metric->description.is_constant;
			j++) {
			struct bt_metric_cell *cell = &metric->series.items[j]->cell;

			cell->value = 0;
			cell->count = 0;
			cell->is_recorded = metric->label_count == 0;
			for (uint32_t k = 0; k < metric->bound_count; k++) {
				cell->bucket_counts[k] = 0;
			}
		}
	}
}

void bt_metrics_disable(struct bt_metrics *metrics, struct bt_str name)
{
	struct bt_str copy = bt_arena_str(&metrics->arena, name);
	bool found;
	uint32_t position = family_position(metrics, copy.data, &found);

	if (found) {
		metrics->families.items[position]->is_disabled = true;
	}
	if (!is_disabled(metrics, copy.data)) {
		bt_vec_push(&metrics->disabled, copy);
	}
}

void bt_metrics_allow_values(struct bt_metrics *metrics, struct bt_str name, struct bt_str label,
	const struct bt_str *values, uint32_t count)
{
	struct bt_arena *arena = &metrics->arena;
	struct bt_metric_allow_list list = {
		.metric = bt_arena_str(arena, name),
		.label = bt_arena_str(arena, label),
		.values = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count),
		.value_count = count,
	};

	for (uint32_t i = 0; i < count; i++) {
		list.values[i] = bt_arena_str(arena, values[i]);
	}
	for (uint32_t i = 0; i < metrics->allow_lists.count; i++) {
		struct bt_metric_allow_list *earlier = &metrics->allow_lists.items[i];

		if (bt_str_equal(earlier->metric, name) && bt_str_equal(earlier->label, label)) {
			*earlier = list;
			return;
		}
	}
	bt_vec_push(&metrics->allow_lists, list);
}

/* Writing in the formats of Prometheus and OpenMetrics. */

/** State of a writer. */
struct writer {
	struct bt_strbuf *out;
	bool is_open; /* OpenMetrics */
};

/** The parts of a sample that depend on the family's type. */
struct sample {
	const char *suffix;  /* appended to the name */
	const double *bound; /* value of the additional label "le"; NULL: no such label */
};

void bt_metrics_append_number(struct bt_strbuf *out, double value, bool is_open)
{
	size_t start = out->length;

	bt_shortest_append_general(out, fpclassify(value) == FP_ZERO ? 0.0 : value);
	if (is_open && isfinite(value) && strpbrk(out->data + start, ".e") == NULL) {
		bt_strbuf_append_c(out, ".0");
	}
}

void bt_metrics_append_escaped(struct bt_strbuf *out, struct bt_str text, bool quotes)
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
	 * In OpenMetrics, a counter family is named without the suffix _total of its samples. A
	 * counter without this suffix has type unknown.
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
	bt_metrics_append_escaped(writer->out, bt_str_from(description->help), writer->is_open);
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
		bt_metrics_append_escaped(writer->out, series->values[label], true);
		bt_strbuf_append_char(writer->out, '"');
		before = ',';
	}
	if (sample.bound != NULL) {
		bt_strbuf_append_char(writer->out, before);
		bt_strbuf_append_c(writer->out, "le=\"");
		bt_metrics_append_number(writer->out, *sample.bound, writer->is_open);
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
	bt_metrics_append_number(writer->out, series->cell.value, writer->is_open);
	bt_strbuf_append_char(writer->out, '\n');
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
	static const double infinite = (double)INFINITY;
	BT_VEC(const struct bt_metric_series *) written = {0};

	for (uint32_t i = 0; i < metric->series.count; i++) {
		if (metric->series.items[i]->cell.is_recorded) {
			bt_vec_push(&written, metric->series.items[i]);
		}
	}
	if (written.count == 0) {
		return;
	}
	qsort(written.items, written.count, sizeof(written.items[0]), compare_series);
	write_comments(writer, metric);
	for (uint32_t i = 0; i < written.count; i++) {
		const struct bt_metric_series *series = written.items[i];
		uint64_t below = 0;

		if (metric->description.type != BT_METRIC_HISTOGRAM) {
			write_value(writer, series, "");
			continue;
		}
		for (uint32_t k = 0; k < metric->bound_count; k++) {
			below += series->cell.bucket_counts[k];
			write_count(writer, series, (struct sample){"_bucket", &metric->bounds[k]},
				below);
		}
		write_count(
			writer, series, (struct sample){"_bucket", &infinite}, series->cell.count);
		write_value(writer, series, "_sum");
		write_count(writer, series, (struct sample){"_count", NULL}, series->cell.count);
	}
	bt_vec_finish(&written);
}

void bt_metrics_write(
	struct bt_metrics *metrics, enum bt_metrics_format format, struct bt_strbuf *out)
{
	const struct writer writer = {out, format == BT_METRICS_OPENMETRICS};

	collect(metrics);
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		if (!metrics->families.items[i]->is_disabled) {
			write_family(&writer, metrics->families.items[i]);
		}
	}
	if (writer.is_open) {
		bt_strbuf_append_c(out, "# EOF\n");
	}
}
