/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include "base/vec.h"
#include "metrics/metrics_private.h"

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

static void family_destroy(struct bt_metric *metric)
{
	for (uint32_t i = 0; i < metric->series.count; i++) {
		bt_free(metric->series.items[i]);
	}
	bt_vec_finish(&metric->series);
	bt_map_finish(&metric->by_values);
	bt_free(metric->bounds);
	bt_free(metric);
}

static void allow_list_finish(struct bt_metric_allow_list *list)
{
	for (uint32_t i = 0; i < list->values.count; i++) {
		bt_free(list->values.items[i]);
	}
	bt_vec_finish(&list->values);
	bt_free(list->metric);
	bt_free(list->label);
}

void bt_metrics_destroy(struct bt_metrics *metrics)
{
	if (metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		family_destroy(metrics->families.items[i]);
	}
	bt_vec_finish(&metrics->families);
	bt_vec_finish(&metrics->collectors);
	for (uint32_t i = 0; i < metrics->disabled.count; i++) {
		bt_free(metrics->disabled.items[i]);
	}
	bt_vec_finish(&metrics->disabled);
	for (uint32_t i = 0; i < metrics->allow_lists.count; i++) {
		allow_list_finish(&metrics->allow_lists.items[i]);
	}
	bt_vec_finish(&metrics->allow_lists);
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
		if (strcmp(metrics->disabled.items[i], name) == 0) {
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
		 * Multiplies repeatedly, as Prometheus' libraries do: the bounds must print the
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

/** The label value under which a value is counted. */
static struct bt_str allowed_value(
	const struct bt_metric *metric, uint32_t label, struct bt_str value)
{
	const struct bt_metrics *metrics = metric->metrics;

	for (uint32_t i = 0; i < metrics->allow_lists.count; i++) {
		const struct bt_metric_allow_list *list = &metrics->allow_lists.items[i];

		if (strcmp(list->metric, metric->description.name) != 0 ||
			strcmp(list->label, metric->description.labels[label]) != 0) {
			continue;
		}
		for (uint32_t j = 0; j < list->values.count; j++) {
			if (bt_str_equal_c(value, list->values.items[j])) {
				return value;
			}
		}
		return BT_STR("unexpected");
	}
	return value;
}

static uint64_t hash_values(const struct bt_metric *metric, const struct bt_str *values)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < metric->label_count; i++) {
		hash = bt_hash_u64(hash, bt_str_hash(values[i]));
	}
	return hash;
}

static bool has_values(const struct bt_metric *metric, const struct bt_metric_series *series,
	const struct bt_str *values)
{
	for (uint32_t i = 0; i < metric->label_count; i++) {
		if (!bt_str_equal(series->values[i], values[i])) {
			return false;
		}
	}
	return true;
}

/** Index in series, or BT_MAP_NONE. */
static uint32_t find_series(
	const struct bt_metric *metric, uint64_t hash, const struct bt_str *values)
{
	BT_MAP_EACH (&metric->by_values, hash, index) {
		if (has_values(metric, metric->series.items[index], values)) {
			return index;
		}
	}
	return BT_MAP_NONE;
}

/** Allocates the series, its buckets, values and texts as one block. */
static struct bt_metric_series *series_create(
	const struct bt_metric *metric, const struct bt_str *values)
{
	size_t buckets = metric->bound_count * sizeof(uint64_t);
	size_t value_size = metric->label_count * sizeof(struct bt_str);
	size_t size = sizeof(struct bt_metric_series) + buckets + value_size;

	for (uint32_t i = 0; i < metric->label_count; i++) {
		size += values[i].length;
	}
	struct bt_metric_series *series = bt_calloc(1, size);
	series->cell.metric = metric;
	if (metric->description.type == BT_METRIC_HISTOGRAM) {
		series->cell.bucket_counts = (uint64_t *)(void *)(series + 1);
	}
	series->values = (struct bt_str *)(void *)((char *)(series + 1) + buckets);
	char *text = (char *)series->values + value_size;
	for (uint32_t i = 0; i < metric->label_count; i++) {
		if (values[i].length != 0) {
			memcpy(text, values[i].data, values[i].length);
		}
		series->values[i] = (struct bt_str){text, values[i].length};
		text += values[i].length;
	}
	return series;
}

struct bt_metric_cell *bt_metric_cell(struct bt_metric *metric, const struct bt_str *values)
{
	struct bt_str allowed[BT_METRIC_LABELS_MAX];

	for (uint32_t i = 0; i < metric->label_count; i++) {
		allowed[i] = allowed_value(metric, i, values[i]);
	}
	uint64_t hash = hash_values(metric, allowed);
	uint32_t index = find_series(metric, hash, allowed);
	if (index != BT_MAP_NONE) {
		return &metric->series.items[index]->cell;
	}
	struct bt_metric_series *series = series_create(metric, allowed);
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

void bt_metrics_collect(struct bt_metrics *metrics)
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

static void reset_cell(struct bt_metric *metric, struct bt_metric_cell *cell)
{
	cell->value = 0;
	cell->count = 0;
	cell->is_recorded = metric->label_count == 0;
	for (uint32_t i = 0; i < metric->bound_count; i++) {
		cell->bucket_counts[i] = 0;
	}
}

void bt_metrics_reset(struct bt_metrics *metrics)
{
	bt_metrics_collect(metrics);
	for (uint32_t i = 0; i < metrics->families.count; i++) {
		struct bt_metric *metric = metrics->families.items[i];

		for (uint32_t j = 0; j < metric->series.count && !metric->description.is_constant;
			j++) {
			reset_cell(metric, &metric->series.items[j]->cell);
		}
	}
}

void bt_metrics_disable(struct bt_metrics *metrics, struct bt_str name)
{
	char *copy = bt_strndup(name.data, name.length);
	bool found;
	uint32_t position = family_position(metrics, copy, &found);

	if (found) {
		metrics->families.items[position]->is_disabled = true;
	}
	if (is_disabled(metrics, copy)) {
		bt_free(copy);
		return;
	}
	bt_vec_push(&metrics->disabled, copy);
}

void bt_metrics_allow_values(struct bt_metrics *metrics, struct bt_str name, struct bt_str label,
	const struct bt_str *values, uint32_t count)
{
	struct bt_metric_allow_list list = {
		.metric = bt_strndup(name.data, name.length),
		.label = bt_strndup(label.data, label.length),
	};

	for (uint32_t i = 0; i < count; i++) {
		bt_vec_push(&list.values, bt_strndup(values[i].data, values[i].length));
	}
	for (uint32_t i = 0; i < metrics->allow_lists.count; i++) {
		struct bt_metric_allow_list *earlier = &metrics->allow_lists.items[i];

		if (strcmp(earlier->metric, list.metric) == 0 &&
			strcmp(earlier->label, list.label) == 0) {
			allow_list_finish(earlier);
			*earlier = list;
			return;
		}
	}
	bt_vec_push(&metrics->allow_lists, list);
}
