/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_SCHEDULER_METRICS_H
#define BT_FRAMEWORK_SCHEDULER_METRICS_H
/**
 * The scheduler_* metrics of the engine. Spec: 11 sections 10.2 to 10.4, 02 section 14.
 *
 * Callers hold a pointer that is NULL if metrics are off, so counting then costs only a branch. A
 * cell is the value of a metric for one combination of label values. struct bt_profile_metrics
 * keeps pointers to the cells that every cycle needs, so that counting costs one addition. Other
 * cells are looked up each time: those of plugin durations, which are sampled, and of rare events.
 * Values that exist in the queue and the cache are collected when the metrics are written
 * (bt_scheduler_metrics_set_source).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "config/gates.h"
#include "framework/cycle_state.h"
#include "metrics/metrics.h"

struct bt_plugin;

enum bt_scheduler_family {
#define BT_FAMILY(identifier, name, type, stability, gate, start, factor, count, labels, help) \
	BT_FAMILY_##identifier,
#include "framework/scheduler_metrics.def"
	BT_FAMILY__COUNT,
};

/**
 * Values of the label `extension_point`. plugin_evaluation_total counts the calls of plugins only
 * at the points before BT_TIMED__EVALUATED.
 */
enum bt_timed_point {
	BT_TIMED_PRE_FILTER,
	BT_TIMED_FILTER,
	BT_TIMED_PRE_SCORE,
	BT_TIMED_SCORE,
	BT_TIMED_SIGN,
	BT_TIMED__EVALUATED,
	BT_TIMED_PRE_ENQUEUE = BT_TIMED__EVALUATED,
	BT_TIMED_PRE_FILTER_ADD_POD,
	BT_TIMED_PRE_FILTER_REMOVE_POD,
	BT_TIMED_POST_FILTER,
	BT_TIMED_SCORE_NORMALIZE,
	BT_TIMED_PRE_BIND,
	BT_TIMED_PRE_BIND_PRE_FLIGHT,
	BT_TIMED_BIND,
	BT_TIMED_POST_BIND,
	BT_TIMED_RESERVE,
	BT_TIMED_UNRESERVE,
	BT_TIMED_PERMIT,
	BT_TIMED_PLACEMENT_GENERATE,
	BT_TIMED_PLACEMENT_SCORE,
	BT_TIMED_PLACEMENT_NORMALIZE,
	BT_TIMED__COUNT,
};

/** Values of the label `result`. */
enum bt_attempt_result {
	BT_RESULT_SCHEDULED,
	BT_RESULT_UNSCHEDULABLE,
	BT_RESULT_ERROR,
	BT_RESULT__COUNT,
};

#define BT_STATUS_CODES (BT_STATUS_PENDING + 1)
#define BT_BATCH_REASONS_MAX 9
/** On average, one of this many cycles is sampled: the run of each of its plugins is timed. */
#define BT_METRICS_SAMPLE 10

struct bt_scheduler_metrics;

/** Metrics of one profile; cells are NULL until their first use. */
struct bt_profile_metrics {
	struct bt_scheduler_metrics *all;
	char *name; /* owned */
	struct bt_metric_cell *points[BT_TIMED__COUNT][BT_STATUS_CODES];
	struct bt_metric_cell *evaluations[BT_TIMED__EVALUATED][BT_PLUGINS_MAX];
	struct bt_metric_cell *attempts[BT_RESULT__COUNT];
	struct bt_metric_cell *attempt_durations[BT_RESULT__COUNT];
	/* By enum bt_batch_attempt and enum bt_batch_flush (framework/batch.h). */
	struct bt_metric_cell *batch_attempts[3];
	struct bt_metric_cell *batch_flushes[BT_BATCH_REASONS_MAX];
	struct bt_metric_cell *hint_durations[2]; /* without and with a hint */
};

struct bt_scheduler_metrics {
	struct bt_metrics *metrics;                   /* borrowed */
	struct bt_metric *families[BT_FAMILY__COUNT]; /* NULL: the family's gate is off */
	int64_t (*clock)(void *context);
	void *clock_context;
	BT_VEC(struct bt_profile_metrics *) profiles; /* owned */
	struct bt_prng prng;                          /* chooses the cycles that are sampled */
	void (*collect)(void *source);
	void *source;
};

/**
 * Registers the metric families in `metrics`. A family with a feature gate is registered only if
 * the gate is on. metrics is borrowed; bt_metrics_write must not be called after the result is
 * destroyed. clock returns monotonic time in nanoseconds; the caller provides the function because
 * the engine has no clock.
 */
BT_MUST_USE struct bt_scheduler_metrics *bt_scheduler_metrics_create(struct bt_metrics *metrics,
	const struct bt_gates *gates, int64_t (*clock)(void *context), void *clock_context);
void bt_scheduler_metrics_destroy(struct bt_scheduler_metrics *metrics);
/**
 * Returns the metrics of a profile, which are created at the first call and borrowed until destroy.
 */
struct bt_profile_metrics *bt_scheduler_metrics_profile(
	struct bt_scheduler_metrics *metrics, struct bt_str scheduler_name);
/**
 * Sets the function that is called before each write of the metrics; collect NULL removes the
 * function.
 */
void bt_scheduler_metrics_set_source(
	struct bt_scheduler_metrics *metrics, void (*collect)(void *source), void *source);

/**
 * Looks up a cell by its label values, in the order of the family's labels. Returns NULL if the
 * family is not registered.
 */
struct bt_metric_cell *bt_scheduler_cell(struct bt_scheduler_metrics *metrics,
	enum bt_scheduler_family family, const struct bt_str *values);
/**
 * Like bt_scheduler_cell, for families with one label, or without labels (value NULL); value is
 * zero-terminated.
 */
struct bt_metric_cell *bt_scheduler_cell_of(
	struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family, const char *value);

/** Returns the time in nanoseconds, or 0 without metrics. */
static inline int64_t bt_metrics_now(const struct bt_scheduler_metrics *metrics)
{
	return metrics != NULL ? metrics->clock(metrics->clock_context) : 0;
}

/** Returns the time in nanoseconds of the profile's clock, or 0 without metrics. */
static inline int64_t bt_profile_now(const struct bt_profile_metrics *profile)
{
	return profile != NULL ? bt_metrics_now(profile->all) : 0;
}

static inline double bt_metrics_seconds(int64_t duration_ns)
{
	return (double)duration_ns / 1e9;
}

/* Functions for the metrics of one profile; profile NULL counts nothing. */

/** Like bt_profile_point_ran, for `count` runs that each took this long. profile is not NULL. */
int64_t bt_profile_count_point(struct bt_profile_metrics *profile, enum bt_timed_point point,
	uint8_t status_code, int64_t started_ns, uint32_t count);

/** Whether the cycle is sampled, so that its plugins are timed. */
static inline bool bt_profile_samples(struct bt_profile_metrics *profile)
{
	return profile != NULL && bt_prng_below(&profile->all->prng, BT_METRICS_SAMPLE) == 0;
}

/**
 * Records the run of a whole extension point. started_ns: result of bt_profile_now before the run.
 * Returns the end time.
 */
static inline int64_t bt_profile_point_ran(struct bt_profile_metrics *profile,
	enum bt_timed_point point, uint8_t status_code, int64_t started_ns)
{
	return profile != NULL ? bt_profile_count_point(profile, point, status_code, started_ns, 1)
			       : 0;
}

/** Records the run of one plugin in a sampled cycle. */
void bt_profile_plugin_ran(struct bt_profile_metrics *profile, const struct bt_plugin *plugin,
	enum bt_timed_point point, uint8_t status_code, int64_t started_ns);
/**
 * Adds `calls` evaluations of a plugin: the number of nodes, or 1 for a call per pod. calls 0 only
 * creates the series.
 */
void bt_profile_evaluated(struct bt_profile_metrics *profile, const struct bt_plugin *plugin,
	enum bt_timed_point point, uint64_t calls);
void bt_profile_attempted(
	struct bt_profile_metrics *profile, enum bt_attempt_result result, int64_t started_ns);
/** attempt: enum bt_batch_attempt. */
void bt_profile_batch_attempted(struct bt_profile_metrics *profile, uint32_t attempt);
/** flush: enum bt_batch_flush; counts nothing for BT_BATCH_FLUSH_NONE. */
void bt_profile_batch_flushed(struct bt_profile_metrics *profile, uint32_t flush);
void bt_profile_hint_taken(struct bt_profile_metrics *profile, bool hinted, int64_t started_ns);

/*
 * Functions for the metrics of all profiles. Nothing is counted if metrics is NULL, or if the gate
 * of the family is off.
 */

/** Adds 1 to the cell with this label value; value NULL: the family has no labels. */
void bt_metrics_count(
	struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family, const char *value);
/** Records an observation in the cell with this label value. */
void bt_metrics_observe(struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family,
	const char *value, double amount);
/** Records the time in seconds since started_ns, which comes from bt_metrics_now. */
void bt_metrics_observe_since(struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family,
	const char *value, int64_t started_ns);
/**
 * Records a bound pod. attempts: number of scheduling attempts. waited_ns: time since the pod first
 * entered the active queue; negative: unknown. flushed: the pod was moved by the periodic flush of
 * unschedulable pods before it was scheduled.
 */
void bt_metrics_pod_bound(
	struct bt_scheduler_metrics *metrics, uint32_t attempts, int64_t waited_ns, bool flushed);
/**
 * Records a wait for the binding conditions of a device. status: success, failure, timeout, error.
 * has_conditions: whether the device has binding conditions.
 */
void bt_metrics_device_waited(struct bt_scheduler_metrics *metrics, struct bt_str profile,
	struct bt_str driver, const char *status, int64_t waited_ns, bool has_conditions);
void bt_metrics_api_call_ended(struct bt_scheduler_metrics *metrics, const char *call_type,
	bool succeeded, int64_t duration_ns);
#endif
