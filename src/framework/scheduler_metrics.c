/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/scheduler_metrics.h"

#include <stdio.h>

#include "base/alloc.h"
#include "framework/batch.h"
#include "framework/plugin.h"

_Static_assert(BT_BATCH_REASONS_MAX == BT_BATCH_FLUSH__COUNT, "a cell for each reason");

/** A metric family and the gate that enables it. */
struct gated_family {
	struct bt_metric_description description;
	enum bt_gate gate;
};

static const struct gated_family families[] = {
#define BT_FAMILY( \
	identifier, text, kind, level, with, first, by, bucket_count, label_names, help_text) \
	[BT_FAMILY_##identifier] = { \
		.description = \
			{ \
				.name = "scheduler_" text, \
				.help = help_text, \
				.type = BT_METRIC_##kind, \
				.stability = BT_METRIC_##level, \
				.labels = label_names, \
				.buckets = {.start = first, .factor = by, .count = bucket_count}, \
			}, \
		.gate = with, \
	},
#include "framework/scheduler_metrics.def"
};

static const char *const point_names[] = {
	[BT_TIMED_PRE_FILTER] = "PreFilter",
	[BT_TIMED_FILTER] = "Filter",
	[BT_TIMED_PRE_SCORE] = "PreScore",
	[BT_TIMED_SCORE] = "Score",
	[BT_TIMED_SIGN] = "Sign",
	[BT_TIMED_PRE_ENQUEUE] = "PreEnqueue",
	[BT_TIMED_PRE_FILTER_ADD_POD] = "PreFilterExtensionAddPod",
	[BT_TIMED_PRE_FILTER_REMOVE_POD] = "PreFilterExtensionRemovePod",
	[BT_TIMED_POST_FILTER] = "PostFilter",
	[BT_TIMED_SCORE_NORMALIZE] = "ScoreExtensionNormalize",
	[BT_TIMED_PRE_BIND] = "PreBind",
	[BT_TIMED_PRE_BIND_PRE_FLIGHT] = "PreBindPreFlight",
	[BT_TIMED_BIND] = "Bind",
	[BT_TIMED_POST_BIND] = "PostBind",
	[BT_TIMED_RESERVE] = "Reserve",
	[BT_TIMED_UNRESERVE] = "Unreserve",
	[BT_TIMED_PERMIT] = "Permit",
	[BT_TIMED_PLACEMENT_GENERATE] = "PlacementGenerate",
	[BT_TIMED_PLACEMENT_SCORE] = "PlacementScore",
	[BT_TIMED_PLACEMENT_NORMALIZE] = "PlacementScoreExtensionNormalize",
};

static const char *const result_names[] = {
	[BT_RESULT_SCHEDULED] = "scheduled",
	[BT_RESULT_UNSCHEDULABLE] = "unschedulable",
	[BT_RESULT_ERROR] = "error",
};

static void collect(void *context)
{
	const struct bt_scheduler_metrics *metrics = context;

	if (metrics->collect != NULL) {
		metrics->collect(metrics->source);
	}
}

struct bt_scheduler_metrics *bt_scheduler_metrics_create(struct bt_metrics *metrics,
	const struct bt_gates *gates, int64_t (*clock)(void *context), void *clock_context)
{
	struct bt_scheduler_metrics *self = BT_NEW(struct bt_scheduler_metrics);

	self->metrics = metrics;
	self->clock = clock;
	self->clock_context = clock_context;
	bt_prng_init(&self->prng, 1);
	for (uint32_t i = 0; i < BT_FAMILY__COUNT; i++) {
		const struct gated_family *family = &families[i];

		if (family->gate == BT_GATE__COUNT || bt_gate_enabled(gates, family->gate)) {
			self->families[i] = bt_metrics_register(metrics, &family->description);
		}
	}
	bt_metrics_add_collector(metrics, collect, self);
	return self;
}

void bt_scheduler_metrics_destroy(struct bt_scheduler_metrics *metrics)
{
	if (metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < metrics->profiles.count; i++) {
		bt_free(metrics->profiles.items[i]->name);
		bt_free(metrics->profiles.items[i]);
	}
	bt_vec_finish(&metrics->profiles);
	bt_free(metrics);
}

struct bt_profile_metrics *bt_scheduler_metrics_profile(
	struct bt_scheduler_metrics *metrics, struct bt_str scheduler_name)
{
	for (uint32_t i = 0; i < metrics->profiles.count; i++) {
		if (bt_str_equal_c(scheduler_name, metrics->profiles.items[i]->name)) {
			return metrics->profiles.items[i];
		}
	}
	struct bt_profile_metrics *profile = BT_NEW(struct bt_profile_metrics);
	profile->all = metrics;
	profile->name = bt_strndup(scheduler_name.data, scheduler_name.length);
	bt_vec_push(&metrics->profiles, profile);
	return profile;
}

void bt_scheduler_metrics_set_source(
	struct bt_scheduler_metrics *metrics, void (*source_collect)(void *source), void *source)
{
	metrics->collect = source_collect;
	metrics->source = source;
}

struct bt_metric_cell *bt_scheduler_cell(struct bt_scheduler_metrics *metrics,
	enum bt_scheduler_family family, const struct bt_str *values)
{
	struct bt_metric *metric = metrics->families[family];

	return metric != NULL ? bt_metric_cell(metric, values) : NULL;
}

struct bt_metric_cell *bt_scheduler_cell_of(
	struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family, const char *value)
{
	const struct bt_str values[] = {bt_str_from(value)};
	struct bt_metric *metric = metrics->families[family];

	return value == NULL && metric != NULL ? bt_metric_only(metric)
					       : bt_scheduler_cell(metrics, family, values);
}

/**
 * Returns the cell stored in *kept. If *kept is NULL, first looks the cell up by its label values
 * and stores the cell in *kept.
 */
static struct bt_metric_cell *find_cell(struct bt_metric_cell **kept,
	struct bt_profile_metrics *profile, enum bt_scheduler_family family, const char *first,
	const char *second, const char *third)
{
	if (*kept == NULL) {
		const struct bt_str values[] = {
			bt_str_from(first), bt_str_from(second), bt_str_from(third)};

		*kept = bt_scheduler_cell(profile->all, family, values);
	}
	return *kept;
}

static void observe_since(
	const struct bt_scheduler_metrics *metrics, struct bt_metric_cell *cell, int64_t started_ns)
{
	bt_metric_observe(cell, bt_metrics_seconds(bt_metrics_now(metrics) - started_ns));
}

int64_t bt_profile_count_point(struct bt_profile_metrics *profile, enum bt_timed_point point,
	uint8_t status_code, int64_t started_ns, uint32_t count)
{
	struct bt_metric_cell *cell = find_cell(&profile->points[point][status_code], profile,
		BT_FAMILY_POINT_DURATION, point_names[point],
		bt_status_code_name((enum bt_status_code)status_code), profile->name);
	int64_t now_ns = bt_profile_now(profile);
	bt_metric_observe_times(cell, bt_metrics_seconds(now_ns - started_ns), count);
	return now_ns;
}

void bt_profile_plugin_ran(struct bt_profile_metrics *profile, const struct bt_plugin *plugin,
	enum bt_timed_point point, uint8_t status_code, int64_t started_ns)
{
	if (profile != NULL) {
		const struct bt_str values[] = {bt_str_from(plugin->ops->name),
			bt_str_from(point_names[point]),
			bt_str_from(bt_status_code_name((enum bt_status_code)status_code))};

		observe_since(profile->all,
			bt_scheduler_cell(profile->all, BT_FAMILY_PLUGIN_DURATION, values),
			started_ns);
	}
}

void bt_profile_evaluated(struct bt_profile_metrics *profile, const struct bt_plugin *plugin,
	enum bt_timed_point point, uint64_t calls)
{
	if (profile != NULL) {
		bt_metric_add(find_cell(&profile->evaluations[point][plugin->index], profile,
				      BT_FAMILY_PLUGIN_EVALUATIONS, plugin->ops->name,
				      point_names[point], profile->name),
			(double)calls);
	}
}

void bt_profile_attempted(
	struct bt_profile_metrics *profile, enum bt_attempt_result result, int64_t started_ns)
{
	if (profile != NULL) {
		bt_metric_add(
			find_cell(&profile->attempts[result], profile, BT_FAMILY_SCHEDULE_ATTEMPTS,
				result_names[result], profile->name, NULL),
			1);
		observe_since(profile->all,
			find_cell(&profile->attempt_durations[result], profile,
				BT_FAMILY_ATTEMPT_DURATION, result_names[result], profile->name,
				NULL),
			started_ns);
	}
}

void bt_profile_batch_attempted(struct bt_profile_metrics *profile, uint32_t attempt)
{
	if (profile != NULL) {
		bt_metric_add(find_cell(&profile->batch_attempts[attempt], profile,
				      BT_FAMILY_BATCH_ATTEMPTS, profile->name,
				      bt_batch_attempt_name((enum bt_batch_attempt)attempt), NULL),
			1);
	}
}

void bt_profile_batch_flushed(struct bt_profile_metrics *profile, uint32_t flush)
{
	if (profile != NULL && flush != BT_BATCH_FLUSH_NONE) {
		bt_metric_add(find_cell(&profile->batch_flushes[flush], profile,
				      BT_FAMILY_BATCH_FLUSHES, profile->name,
				      bt_batch_flush_name((enum bt_batch_flush)flush), NULL),
			1);
	}
}

void bt_profile_hint_taken(struct bt_profile_metrics *profile, bool hinted, int64_t started_ns)
{
	if (profile != NULL) {
		observe_since(profile->all,
			find_cell(&profile->hint_durations[hinted], profile,
				BT_FAMILY_NODE_HINT_DURATION, hinted ? "hint" : "no_hint",
				profile->name, NULL),
			started_ns);
	}
}

void bt_metrics_count(
	struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family, const char *value)
{
	if (metrics != NULL && metrics->families[family] != NULL) {
		bt_metric_add(bt_scheduler_cell_of(metrics, family, value), 1);
	}
}

void bt_metrics_observe(struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family,
	const char *value, double amount)
{
	if (metrics != NULL && metrics->families[family] != NULL) {
		bt_metric_observe(bt_scheduler_cell_of(metrics, family, value), amount);
	}
}

void bt_metrics_observe_since(struct bt_scheduler_metrics *metrics, enum bt_scheduler_family family,
	const char *value, int64_t started_ns)
{
	if (metrics != NULL) {
		bt_metrics_observe(metrics, family, value,
			bt_metrics_seconds(bt_metrics_now(metrics) - started_ns));
	}
}

void bt_metrics_pod_bound(
	struct bt_scheduler_metrics *metrics, uint32_t attempts, int64_t waited_ns, bool flushed)
{
	char label[16] = "15+";

	bt_metrics_observe(metrics, BT_FAMILY_POD_ATTEMPTS, NULL, attempts);
	if (waited_ns >= 0) {
		if (attempts < 15) {
			(void)snprintf(label, sizeof(label), "%u", attempts);
		}
		bt_metrics_observe(
			metrics, BT_FAMILY_SLI_DURATION, label, bt_metrics_seconds(waited_ns));
	}
	if (flushed) {
		bt_metrics_count(metrics, BT_FAMILY_AFTER_FLUSH, NULL);
	}
}

void bt_metrics_device_waited(struct bt_scheduler_metrics *metrics, struct bt_str profile,
	struct bt_str driver, const char *status, int64_t waited_ns, bool has_conditions)
{
	const struct bt_str values[] = {profile, driver, bt_str_from(status)};

	if (metrics == NULL || metrics->families[BT_FAMILY_DRA_WAIT] == NULL) {
		return;
	}
	bt_metric_observe(bt_scheduler_cell(metrics, BT_FAMILY_DRA_WAIT, values),
		bt_metrics_seconds(waited_ns));
	if (has_conditions) {
		bt_metric_add(bt_scheduler_cell(metrics, BT_FAMILY_DRA_ALLOCATIONS, values), 1);
	}
}

void bt_metrics_api_call_ended(struct bt_scheduler_metrics *metrics, const char *call_type,
	bool succeeded, int64_t duration_ns)
{
	const struct bt_str values[] = {
		bt_str_from(call_type), succeeded ? BT_STR("success") : BT_STR("error")};

	if (metrics != NULL && metrics->families[BT_FAMILY_API_CALLS] != NULL) {
		bt_metric_add(bt_scheduler_cell(metrics, BT_FAMILY_API_CALLS, values), 1);
		bt_metric_observe(bt_scheduler_cell(metrics, BT_FAMILY_API_CALL_DURATION, values),
			bt_metrics_seconds(duration_ns));
	}
}
