/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_METRICS_METRICS_H
#define BT_METRICS_METRICS_H
/**
 * Metrics: counters, gauges and histograms with labels, and their text form for Prometheus. Spec:
 * 11 section 10.
 *
 * A family is registered once; a cell is one combination of its label values, found once and then
 * changed directly: the hot path never looks anything up. One thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

enum bt_metric_type {
	BT_METRIC_COUNTER,
	BT_METRIC_GAUGE,
	BT_METRIC_HISTOGRAM,
};

enum bt_metric_stability {
	BT_METRIC_INTERNAL, /* no word before the help text */
	BT_METRIC_ALPHA,
	BT_METRIC_BETA,
	BT_METRIC_STABLE,
};

#define BT_METRIC_LABELS_MAX 10

/** Upper bounds of buckets: start, start * factor, ... (count of them); +Inf comes by itself. */
struct bt_metric_buckets {
	double start;
	double factor;
	uint32_t count;
	const double *bounds; /* explicit ones instead; start and factor are ignored */
};

/** Texts are borrowed for the life of the process (literals). */
struct bt_metric_description {
	const char *name;
	const char *help;
	enum bt_metric_type type;
	enum bt_metric_stability stability;
	const char *labels[BT_METRIC_LABELS_MAX]; /* NULL ends them */
	/** Says what the program is: a reset leaves it alone. */
	bool is_constant;
	struct bt_metric_buckets buckets;
};

struct bt_metrics;
struct bt_metric; /* a family */

/** One value. bucket_counts are not cumulative; NULL unless a histogram. */
struct bt_metric_cell {
	const struct bt_metric *metric;
	double value;   /* counter, gauge; the sum of a histogram */
	uint64_t count; /* observations */
	uint64_t *bucket_counts;
	bool is_recorded; /* has been changed: only then a series with labels is written */
};

BT_MUST_USE struct bt_metrics *bt_metrics_create(void);
/** The same without registered_metrics_total and the other two that count families. */
BT_MUST_USE struct bt_metrics *bt_metrics_create_bare(void);
void bt_metrics_destroy(struct bt_metrics *metrics);

/**
 * A family without labels is written at once with value 0; a series with labels is once its cell
 * was changed (by 0, too), so that cells may be made long before they are needed. Registering a
 * name again returns the first (and must describe the same).
 */
struct bt_metric *bt_metrics_register(
	struct bt_metrics *metrics, const struct bt_metric_description *description);
/** What is registered under this name; NULL: nothing. Borrowed. */
const struct bt_metric_description *bt_metrics_find(
	const struct bt_metrics *metrics, const char *name);
/** Its cell without labels. */
struct bt_metric_cell *bt_metric_only(struct bt_metric *metric);
/**
 * Found or made; the address stays. values: as many as the family has labels, copied; an allow list
 * may replace some of them by "unexpected".
 */
struct bt_metric_cell *bt_metric_cell(struct bt_metric *metric, const struct bt_str *values);

static inline void bt_metric_add(struct bt_metric_cell *cell, double amount)
{
	cell->value += amount;
	cell->is_recorded = true;
}

static inline void bt_metric_set(struct bt_metric_cell *cell, double value)
{
	cell->value = value;
	cell->is_recorded = true;
}

/** A histogram got a value. */
void bt_metric_observe(struct bt_metric_cell *cell, double value);

/**
 * Called at the start of each write, and before a reset: brings cells up to date that are cheaper
 * to compute then.
 */
void bt_metrics_add_collector(
	struct bt_metrics *metrics, void (*collect)(void *context), void *context);

enum bt_metrics_format {
	BT_METRICS_TEXT,       /* text/plain; version=0.0.4 */
	BT_METRICS_OPENMETRICS /* application/openmetrics-text; version=1.0.0, with # EOF */
};

/** All families in the order of their names, cells in the order of their label values. Appends. */
void bt_metrics_write(
	struct bt_metrics *metrics, enum bt_metrics_format format, struct bt_strbuf *out);
/** One number as the text form has it; a label's value with its escapes, without the quotes. */
void bt_metrics_append_number(struct bt_strbuf *out, double value);
void bt_metrics_append_label_value(struct bt_strbuf *out, struct bt_str value);

/**
 * DELETE /metrics: every value becomes zero and series with labels are no longer written. The cells
 * stay valid: they are written again once they change. Constant families keep their values.
 */
void bt_metrics_reset(struct bt_metrics *metrics);

/** --- flags: spec 11 section 4.9; before the first cell is made --- */

/** Never written; counted in disabled_metrics_total. Unknown names are accepted. */
void bt_metrics_disable(struct bt_metrics *metrics, struct bt_str name);
/** Only these values of a label; others become "unexpected". */
void bt_metrics_allow_values(struct bt_metrics *metrics, struct bt_str name, struct bt_str label,
	const struct bt_str *values, uint32_t count);
#endif
