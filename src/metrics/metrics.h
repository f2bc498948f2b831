/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_METRICS_METRICS_H
#define BT_METRICS_METRICS_H
/**
 * Metrics: counters, gauges and histograms with labels, and their Prometheus text formats. Spec: 11
 * section 10.
 *
 * A family (metric name) is registered once. A cell has the value for one combination of label
 * values: callers look a cell up once and then change it directly, so the hot path has no lookup.
 * Single-threaded.
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
	BT_METRIC_INTERNAL, /* no stability level before the help text */
	BT_METRIC_ALPHA,
	BT_METRIC_BETA,
	BT_METRIC_STABLE,
};

#define BT_METRIC_LABELS_MAX 10

/** Upper bounds of `count` buckets: `start`, `start` * `factor` and so on; +Inf is added. */
struct bt_metric_buckets {
	double start;
	double factor;
	uint32_t count;
	/** If not NULL, the `count` bounds; start and factor are then ignored. */
	const double *bounds;
};

/** Texts are borrowed for the life of the process (literals). */
struct bt_metric_description {
	const char *name;
	const char *help;
	enum bt_metric_type type;
	enum bt_metric_stability stability;
	const char *labels[BT_METRIC_LABELS_MAX]; /* names; NULL ends a shorter list */
	/** Constant information about the program: bt_metrics_reset keeps the value. */
	bool is_constant;
	struct bt_metric_buckets buckets;
};

struct bt_metrics;
struct bt_metric; /* a family */

/** One value. bucket_counts: not cumulative, without +Inf; NULL unless the cell is a histogram. */
struct bt_metric_cell {
	const struct bt_metric *metric;
	double value;   /* counter, gauge; the sum of a histogram */
	uint64_t count; /* number of observations of a histogram */
	uint64_t *bucket_counts;
	bool is_recorded; /* false: never changed, so a series with labels is not written */
};

BT_MUST_USE struct bt_metrics *bt_metrics_create(void);
/**
 * Like bt_metrics_create, but without the metrics that count families: registered_metrics_total,
 * disabled_metrics_total, hidden_metrics_total.
 */
BT_MUST_USE struct bt_metrics *bt_metrics_create_bare(void);
void bt_metrics_destroy(struct bt_metrics *metrics);

/**
 * Registers a family. A family without labels is written from the start with value 0. A series with
 * labels is not written before its cell was changed (even by 0), so that cells may be created long
 * before they are used. Registering a name again returns the first family; the description must be
 * the same.
 */
struct bt_metric *bt_metrics_register(
	struct bt_metrics *metrics, const struct bt_metric_description *description);
/** Returns the description of the family with this name, borrowed, or NULL. */
const struct bt_metric_description *bt_metrics_find(
	const struct bt_metrics *metrics, const char *name);
/** Returns the cell of a family without labels. */
struct bt_metric_cell *bt_metric_only(struct bt_metric *metric);
/**
 * Returns the cell with these label values, created if new. The address of a cell never changes.
 * values: one for each label in the order of the description; copied. bt_metrics_allow_values may
 * replace values by "unexpected".
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

/** Records an observation in a histogram. */
void bt_metric_observe(struct bt_metric_cell *cell, double value);
/** Records `count` equal observations. */
void bt_metric_observe_times(struct bt_metric_cell *cell, double value, uint64_t count);

/** Adds a function that is called before each write and each reset, to update cells. */
void bt_metrics_add_collector(
	struct bt_metrics *metrics, void (*collect)(void *context), void *context);

enum bt_metrics_format {
	BT_METRICS_TEXT,       /* text/plain; version=0.0.4 */
	BT_METRICS_OPENMETRICS /* application/openmetrics-text; version=1.0.0, with # EOF */
};

/** Appends all families, sorted by name; the cells of a family are sorted by label values. */
void bt_metrics_write(
	struct bt_metrics *metrics, enum bt_metrics_format format, struct bt_strbuf *out);
/** Appends a number. is_open: as in OpenMetrics, where whole numbers end with ".0". */
void bt_metrics_append_number(struct bt_strbuf *out, double value, bool is_open);
/** Appends an escaped text. quotes: escape quotes too, for a label value. */
void bt_metrics_append_escaped(struct bt_strbuf *out, struct bt_str text, bool quotes);

/**
 * DELETE /metrics: sets every value to zero; series with labels are not written until they change
 * again. Cells stay valid. Constant families keep their values.
 */
void bt_metrics_reset(struct bt_metrics *metrics);

/** --- flags: spec 11 section 4.9; call these before creating the first cell --- */

/**
 * Disables a family: the family is never written, and counts in disabled_metrics_total. Unknown
 * names are accepted.
 */
void bt_metrics_disable(struct bt_metrics *metrics, struct bt_str name);
/**
 * Allows only these values of a label; other values become "unexpected". A further call for the
 * same label replaces the values. The texts are copied.
 */
void bt_metrics_allow_values(struct bt_metrics *metrics, struct bt_str name, struct bt_str label,
	const struct bt_str *values, uint32_t count);
#endif
