/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HorizontalPodAutoscalers: set the number of replicas that brings metrics to their targets. Spec:
 * 14b section 6.9.
 */
#include <inttypes.h>
#include <math.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"
#include "server/custom_metrics.h"
#include "server/usage.h"

#define TOLERANCE 0.1
#define UP_WINDOW_SECONDS 0
#define DOWN_WINDOW_SECONDS 300
/** The longest period of a policy or stabilization window. */
#define REMEMBERED_SECONDS 3600

/**
 * A recommended number of replicas, or a change: replicas added (positive) or removed (negative).
 */
struct sample {
	int64_t time_seconds;
	int64_t replicas;
};

struct memory {
	BT_VEC(struct sample) recommended;
	BT_VEC(struct sample) changes;
};

struct autoscalers {
	struct bt_groups keys;          /* all in one group */
	BT_VEC(struct memory) memories; /* by entry of keys */
};

/** Sums over the target's pods, for one metric. */
struct measured {
	struct bt_sync *sync;
	struct bt_str metric;               /* name of a Pods metric */
	const struct bt_selector *selector; /* of the Pods metric; NULL: a resource metric */
	bool is_cpu;
	struct bt_str resource;
	struct bt_str container; /* "": all */
	int64_t ready;           /* pods with a value */
	int64_t unready;         /* unready pods, which count as idle when scaling up */
	int64_t missing;         /* running pods without a value */
	double usage;            /* of ready pods; cores, bytes, or in the metric's unit */
	double requests;         /* of ready pods, in the same unit */
	struct bt_str lacking;   /* message on a container without a request; "": none */
};

struct pass {
	struct bt_sync *sync;
	const struct bt_json_value *spec;
	struct bt_json_value *conditions;
	struct bt_json_value *current_metrics;
	struct memory *memory;
	struct bt_selector selector; /* of the target's pods */
	int64_t current;
	int64_t least;
	int64_t most;
	struct bt_str reason; /* the metric that decided, as events show it */
};

static void free_memory(struct memory *memory)
{
	bt_vec_finish(&memory->recommended);
	bt_vec_finish(&memory->changes);
}

static void finish(void *data)
{
	struct autoscalers *self = data;

	bt_vec_finish_each(&self->memories, free_memory(each));
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct autoscalers *self = data;

	uint32_t known = bt_groups_find(&self->keys, observed->key);

	if (observed->type == BT_CHANGE_DELETED && known != BT_GROUPS_NONE) {
		free_memory(&self->memories.items[known]);
		bt_groups_remove(&self->keys, observed->key);
	}
	if (observed->type == BT_CHANGE_ADDED ||
		(observed->type == BT_CHANGE_MODIFIED &&
			!bt_json_equal(bt_json_object_at(observed->before, "spec"),
				bt_json_object_at(observed->after, "spec")))) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static void set_condition(struct pass *pass, const char *type, const char *status,
	const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, status, reason, message};

	if (!bt_tree_set_condition(
		    pass->sync->arena, pass->conditions, &condition, false, pass->sync->now_ns)) {
		/*
		 * The status stays the same, but another metric may now be the cause: update the
		 * message.
		 */
		bt_json_set_str(pass->sync->arena, bt_condition_find(pass->conditions, type),
			"message", message);
	}
}

/* --- metrics --- */

/** Adds the resource usage and requests of a pod's containers. Unready pods are only counted. */
static void measure_resource(struct measured *measured, const struct bt_indexed_pod *record,
	const struct bt_json_value *pod)
{
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.containers");
	struct bt_arena *arena = measured->sync->arena;

	if (!bt_usage_is_known(pod) || (measured->is_cpu && !record->ready)) {
		measured->unready++;
		return;
	}
	measured->ready++;
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_json_value *container = containers->elements[i];
		struct bt_usage usage =
			bt_usage_of_container(measured->sync->hub->api, pod, container);
		struct bt_str name = bt_json_text_at(container, "name");
		const struct bt_json_value *request = bt_json_get(
			bt_json_object_at(container, "resources.requests"), measured->resource);
		struct bt_quantity quantity;

		if (measured->container.length != 0 && !bt_str_equal(name, measured->container)) {
			continue;
		}
		measured->usage += measured->is_cpu ? (double)usage.cpu_nano / 1e9
						    : (double)usage.memory_bytes;
		if (request == NULL ||
			bt_quantity_parse(request->text, arena, &quantity, NULL) != 0) {
			measured->lacking = bt_arena_printf(arena,
				"missing request for %.*s in container %.*s of Pod %.*s",
				BT_STR_ARG(measured->resource), BT_STR_ARG(name),
				BT_STR_ARG(bt_key_name(record->key)));
		} else {
			measured->requests += measured->is_cpu
				? (double)bt_quantity_milli(&quantity) / 1000
				: (double)bt_quantity_value(&quantity);
		}
	}
}

static void measure_pod(
	void *context, const struct bt_indexed_pod *record, const struct bt_json_value *pod)
{
	struct measured *measured = context;
	double value = 0;

	if (record->deleting || bt_pod_is_over(record)) {
		return;
	}
	if (measured->selector == NULL) {
		measure_resource(measured, record, pod);
	} else if (!bt_usage_is_known(pod)) {
		measured->unready++;
	} else if (!bt_custom_metric_sum(measured->sync->hub->api, pod, BT_ANNOTATION_METRICS,
			   measured->metric, measured->selector, measured->sync->arena, &value)) {
		measured->missing++;
	} else {
		measured->ready++;
		measured->usage += value;
	}
}

static void count_ready_pod(void *context, const struct bt_indexed_pod *record,
	const struct bt_json_value *pod BT_UNUSED)
{
	int64_t *count = context;

	*count += !record->deleting && !bt_pod_is_over(record) && record->ready;
}

/** Returns whether the ratio of usage to target is so near to 1 that nothing changes. */
static bool is_tolerated(const struct pass *pass, double ratio)
{
	const char *path =
		ratio > 1 ? "behavior.scaleUp.tolerance" : "behavior.scaleDown.tolerance";
	struct bt_str text = bt_json_text_at(pass->spec, path);
	struct bt_quantity quantity;
	double tolerance = TOLERANCE;

	if (text.length != 0 && bt_quantity_parse(text, pass->sync->arena, &quantity, NULL) == 0) {
		tolerance = (double)bt_quantity_milli(&quantity) / 1000;
	}
	return fabs(ratio - 1) <= tolerance + 1e-9;
}

static int64_t round_up(double replicas)
{
	return replicas < INT32_MAX ? (int64_t)ceil(replicas - 1e-9) : INT32_MAX;
}

/** Returns the desired replicas for this ratio of the measured pods' usage to the target. */
static int64_t replicas_for(const struct pass *pass, const struct measured *measured, double ratio)
{
	double wanted = ratio * (double)measured->ready;
	double all = (double)(measured->ready + measured->missing);

	if (is_tolerated(pass, ratio)) {
		return pass->current;
	}
	if (ratio > 1) {
		/*
		 * When scaling up, unready pods count as idle, because their usage is unknown yet.
		 */
		all += (double)measured->unready;
	} else {
		/*
		 * When scaling down, running pods without a value count as if they were at the
		 * target.
		 */
		wanted += (double)measured->missing;
	}
	if (is_tolerated(pass, wanted / all) || (wanted / all > 1) != (ratio > 1)) {
		return pass->current;
	}
	return round_up(wanted);
}

struct evaluation {
	const struct bt_json_value *source; /* metric.resource, .pods, ... */
	bool of_container;                  /* the metric has type ContainerResource */
	/** Of a Pods, Object or External metric. */
	struct bt_str metric;
	struct bt_selector selector;
	const struct bt_json_value *target;
	struct bt_json_value *value;   /* the metric's entry in the status */
	struct bt_json_value *current; /* value.current */
	int64_t replicas;
	struct bt_str name; /* as conditions and events show it */
	struct bt_str why;  /* why the evaluation failed */
};

/** Reads a target amount. If no positive amount is set, sets evaluation->why and returns false. */
static bool read_target_amount(const struct pass *pass, struct evaluation *evaluation,
	const char *name, double *out_amount)
{
	struct bt_quantity quantity;

	if (bt_quantity_parse(bt_json_text_at(evaluation->target, name), pass->sync->arena,
		    &quantity, NULL) != 0) {
		evaluation->why = BT_STR("invalid metric source: neither a utilization target "
					 "nor a value target was set");
		return false;
	}
	int64_t value = bt_quantity_value(&quantity);
	*out_amount = value < INT64_C(1000000000) ? (double)bt_quantity_milli(&quantity) / 1000
						  : (double)value;
	if (*out_amount <= 0) {
		evaluation->why = BT_STR("invalid metric source: the target is not positive");
		return false;
	}
	return true;
}

static bool evaluate_resource(struct pass *pass, struct evaluation *evaluation)
{
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *source = evaluation->source;
	int64_t percent = bt_json_int64_at(evaluation->target, "averageUtilization", 0);
	struct measured measured = {.sync = pass->sync,
		.resource = bt_json_text_at(source, "name"),
		.container = bt_json_text_at(source, "container")};
	double ratio;
	double each;

	measured.is_cpu = bt_str_equal_c(measured.resource, "cpu");
	if (!measured.is_cpu && !bt_str_equal_c(measured.resource, "memory")) {
		evaluation->why = bt_arena_printf(
			arena, "no metrics known for resource %.*s", BT_STR_ARG(measured.resource));
		return false;
	}
	bt_owners_visit_selected(pass->sync, &pass->selector, 0, measure_pod, &measured);
	if (measured.ready == 0) {
		evaluation->why = bt_arena_printf(arena,
			"failed to get %.*s utilization: did not receive metrics for targeted pods "
			"(pods might be unready)",
			BT_STR_ARG(measured.resource));
		return false;
	}
	bt_json_set_str(arena, evaluation->value, "name", measured.resource);
	if (evaluation->of_container) {
		bt_json_set_str(arena, evaluation->value, "container", measured.container);
	}
	bt_json_set_str(arena, evaluation->current, "averageValue",
		measured.is_cpu
			? bt_arena_printf(
				  arena, "%.0fm", measured.usage * 1000 / (double)measured.ready)
			: bt_arena_printf(arena, "%.0f", measured.usage / (double)measured.ready));
	if (percent > 0) {
		if (measured.lacking.length != 0 || measured.requests <= 0) {
			evaluation->why = bt_arena_printf(arena,
				"failed to get %.*s utilization: %.*s",
				BT_STR_ARG(measured.resource), BT_STR_ARG(measured.lacking));
			return false;
		}
		ratio = measured.usage / measured.requests;
		bt_json_set_int64(arena, evaluation->current, "averageUtilization",
			ratio < 1e6 ? (int64_t)(ratio * 100 + 1e-6) : 100000000);
		ratio = ratio * 100 / (double)percent;
	} else if (read_target_amount(pass, evaluation, "averageValue", &each)) {
		ratio = measured.usage / (double)measured.ready / each;
	} else {
		return false;
	}
	evaluation->replicas = replicas_for(pass, &measured, ratio);
	evaluation->name = bt_arena_printf(arena, "%.*s %sresource%s",
		BT_STR_ARG(measured.resource), evaluation->of_container ? "container " : "",
		percent > 0 ? " utilization (percentage of request)" : "");
	return true;
}

/** Returns a LabelSelector as conditions and events show it. */
static struct bt_str selector_text(struct bt_arena *arena, const struct bt_json_value *selector)
{
	const struct bt_json_value *labels = bt_json_object_at(selector, "matchLabels");
	const struct bt_json_value *rules = bt_json_array_at(selector, "matchExpressions");
	struct bt_strbuf text = {0};

	if (selector == NULL) {
		return BT_STR("nil");
	}
	bt_strbuf_append_c(&text, "&LabelSelector{MatchLabels:map[string]string{");
	for (uint32_t i = 0; i < labels->count; i++) {
		bt_strbuf_printf(&text, "%.*s: %.*s,", BT_STR_ARG(labels->members[i].name),
			BT_STR_ARG(labels->members[i].value->text));
	}
	bt_strbuf_append_c(&text, "},MatchExpressions:[]LabelSelectorRequirement{");
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct bt_json_value *values = bt_json_array_at(rules->elements[i], "values");
		bt_strbuf_printf(&text, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[",
			BT_STR_ARG(bt_json_text_at(rules->elements[i], "key")),
			BT_STR_ARG(bt_json_text_at(rules->elements[i], "operator")));
		for (uint32_t k = 0; k < values->count; k++) {
			bt_strbuf_append_c(&text, k != 0 ? " " : "");
			bt_strbuf_append_str(&text, values->elements[k]->text);
		}
		bt_strbuf_append_c(&text, "],},");
	}
	bt_strbuf_append_c(&text, "},}");
	return bt_arena_take_strbuf(arena, &text);
}

/** Reads name and selector of a Pods, Object or External metric, and copies them to the status. */
static void read_metric(struct pass *pass, struct evaluation *evaluation)
{
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *identifier = bt_json_object_at(evaluation->source, "metric");
	const struct bt_json_value *selector = bt_json_find(identifier, "selector");

	evaluation->metric = bt_json_text_at(identifier, "name");
	if (selector != NULL) {
		/* A malformed or empty selector selects everything. */
		(void)bt_tree_selector(arena, selector, false, &evaluation->selector);
	}
	bt_json_set_value(
		arena, evaluation->value, "metric", bt_json_clone(arena, identifier, false));
}

static bool evaluate_pods(struct pass *pass, struct evaluation *evaluation)
{
	struct bt_arena *arena = pass->sync->arena;
	double each;

	read_metric(pass, evaluation);
	struct measured measured = {
		.sync = pass->sync,
		.metric = evaluation->metric,
		.selector = &evaluation->selector,
	};
	if (!read_target_amount(pass, evaluation, "averageValue", &each)) {
		return false;
	}
	bt_owners_visit_selected(pass->sync, &pass->selector, 0, measure_pod, &measured);
	if (measured.ready == 0) {
		evaluation->why = bt_arena_printf(arena,
			"unable to get metric %.*s: no metrics returned from custom metrics API",
			BT_STR_ARG(evaluation->metric));
		return false;
	}
	double average = measured.usage / (double)measured.ready;
	bt_json_set_str(arena, evaluation->current, "averageValue",
		bt_custom_metric_quantity(arena, average));
	evaluation->replicas = replicas_for(pass, &measured, average / each);
	evaluation->name =
		bt_arena_printf(arena, "pods metric %.*s", BT_STR_ARG(evaluation->metric));
	return true;
}

/**
 * Sets evaluation->replicas from the value of an Object or External metric, which measures all pods
 * together. Returns false and sets evaluation->why if the target is invalid.
 */
static bool evaluate_value(struct pass *pass, struct evaluation *evaluation, double value)
{
	struct bt_arena *arena = pass->sync->arena;
	struct bt_str type = bt_json_text_at(evaluation->target, "type");
	bool is_average = bt_str_equal_c(type, "AverageValue");
	const char *member = is_average ? "averageValue" : "value";
	double share = is_average ? (double)pass->current : 1;
	int64_t ready = 0;
	double wanted;

	if (!read_target_amount(pass, evaluation, member, &wanted)) {
		return false;
	}
	bt_json_set_str(arena, evaluation->current, member,
		bt_custom_metric_quantity(arena, value / share));
	if (is_tolerated(pass, value / (wanted * share))) {
		evaluation->replicas = pass->current;
	} else if (is_average) {
		evaluation->replicas = round_up(value / wanted);
	} else {
		bt_owners_visit_selected(pass->sync, &pass->selector, 0, count_ready_pod, &ready);
		evaluation->replicas = round_up(value / wanted * (double)ready);
	}
	return true;
}

static bool evaluate_object(struct pass *pass, struct evaluation *evaluation)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *described =
		bt_json_object_at(evaluation->source, "describedObject");
	struct bt_str kind = bt_json_text_at(described, "kind");
	struct bt_str name = bt_json_text_at(described, "name");
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	const struct bt_api_resource *resource;
	const struct bt_json_value *object =
		bt_hub_read_reference(sync->hub, described, namespace_, arena, &resource);
	double value;

	read_metric(pass, evaluation);
	bt_json_set_value(arena, evaluation->value, "describedObject",
		bt_json_clone(arena, described, false));
	if (!bt_custom_metric_sum(sync->hub->api, object, BT_ANNOTATION_METRICS, evaluation->metric,
		    &evaluation->selector, arena, &value)) {
		evaluation->why = bt_arena_printf(arena,
			"unable to get metric %.*s: %.*s on %.*s %.*s/unable to fetch metrics from "
			"custom metrics API: the server could not find the metric %.*s for %s %.*s",
			BT_STR_ARG(evaluation->metric), BT_STR_ARG(kind), BT_STR_ARG(namespace_),
			BT_STR_ARG(name), BT_STR_ARG(evaluation->metric),
			resource != NULL ? resource->name : "an unknown kind", BT_STR_ARG(name));
		return false;
	}
	evaluation->name = bt_arena_printf(
		arena, "%.*s metric %.*s", BT_STR_ARG(kind), BT_STR_ARG(evaluation->metric));
	return evaluate_value(pass, evaluation, value);
}

static bool evaluate_external(struct pass *pass, struct evaluation *evaluation)
{
	struct bt_str selector = selector_text(
		pass->sync->arena, bt_json_find_path(evaluation->source, "metric.selector"));
	struct bt_hub *hub = pass->sync->hub;
	struct bt_arena *arena = pass->sync->arena;
	struct bt_str namespace_ = bt_key_namespace(pass->sync->key);
	const struct bt_json_value *object = bt_hub_read(hub, BT_HUB_NAMESPACES, namespace_, arena);
	double value;

	read_metric(pass, evaluation);
	if (!bt_custom_metric_sum(hub->api, object, BT_ANNOTATION_EXTERNAL_METRICS,
		    evaluation->metric, &evaluation->selector, arena, &value)) {
		evaluation->why = bt_arena_printf(arena,
			"unable to get external metric %.*s/%.*s/%.*s: no metrics returned from "
			"external metrics API",
			BT_STR_ARG(namespace_), BT_STR_ARG(evaluation->metric),
			BT_STR_ARG(selector));
		return false;
	}
	evaluation->name = bt_arena_printf(arena, "external metric %.*s(%.*s)",
		BT_STR_ARG(evaluation->metric), BT_STR_ARG(selector));
	return evaluate_value(pass, evaluation, value);
}

static const struct metric_type {
	const char *type;
	const char *member;
	const char *failure;    /* reason in condition and event */
	const char *value_name; /* follows the metric's name in "failed to get ... metric value" */
	bool has_name;
	/** Sets evaluation->why and returns false if the evaluation failed. */
	bool (*evaluate)(struct pass *pass, struct evaluation *evaluation);
} metric_types[] = {
	{"Resource", "resource", "FailedGetResourceMetric", "resource", true, evaluate_resource},
	{"ContainerResource", "containerResource", "FailedGetContainerResourceMetric", "container",
		true, evaluate_resource},
	{"Pods", "pods", "FailedGetPodsMetric", "pods", false, evaluate_pods},
	{"Object", "object", "FailedGetObjectMetric", "object", false, evaluate_object},
	{"External", "external", "FailedGetExternalMetric", "external", true, evaluate_external},
};

/** Evaluates a metric into *out. Returns false if the evaluation failed, and sets out->why. */
static bool evaluate_metric(struct pass *pass, const struct bt_json_value *metric,
	const struct metric_type *type, struct evaluation *out)
{
	struct bt_arena *arena = pass->sync->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);

	*out = (struct evaluation){
		.source = bt_json_object_at(metric, type->member),
		.value = bt_json_ensure_object(arena, status, type->member),
		.current = bt_json_new(arena, BT_JSON_OBJECT),
		.of_container = strcmp(type->type, "ContainerResource") == 0,
	};
	out->target = bt_json_object_at(out->source, "target");
	if (!type->evaluate(pass, out)) {
		return false;
	}
	bt_json_set_c(arena, status, "type", type->type);
	bt_json_set_value(arena, out->value, "current", out->current);
	bt_json_append(arena, pass->current_metrics, status);
	return true;
}

/** Returns how the message of the condition and the event names the value of the failed metric. */
static struct bt_str failed_value(
	struct bt_arena *arena, const struct bt_json_value *metric, const struct metric_type *type)
{
	const struct bt_json_value *source =
		type != NULL ? bt_json_object_at(metric, type->member) : NULL;
	struct bt_str name = bt_json_text_at(source, "name");

	if (type == NULL) {
		return BT_STR("unknown");
	}
	name = name.length != 0 ? name : bt_json_text_at(source, "metric.name");
	return type->has_name
		? bt_arena_printf(arena, "%.*s %s", BT_STR_ARG(name), type->value_name)
		: bt_str_from(type->value_name);
}

/**
 * Sets *out_replicas to the highest recommendation of all metrics. Returns false if no metric gives
 * a recommendation, or if a metric failed and the recommendation is to scale down.
 */
static bool evaluate_metrics(struct pass *pass, int64_t *out_replicas)
{
	const struct bt_json_value *metrics = bt_json_array_at(pass->spec, "metrics");
	struct bt_arena *arena = pass->sync->arena;
	/* The first failure. */
	const char *reason = NULL;
	struct bt_str value_name = BT_STR("");
	struct bt_str why = BT_STR("");
	uint32_t failures = 0;
	struct bt_str best_reason = BT_STR("");
	int64_t best = -1;

	for (uint32_t i = 0; i < metrics->count; i++) {
		const struct bt_json_value *metric = metrics->elements[i];
		const struct metric_type *type = NULL;
		struct evaluation evaluation = {.replicas = -1};

		for (size_t n = 0; n < BT_ARRAY_LENGTH(metric_types); n++) {
			if (bt_str_equal_c(bt_json_text_at(metric, "type"), metric_types[n].type)) {
				type = &metric_types[n];
			}
		}
		if (type == NULL) {
			/* Admission refuses unknown types, but objects of a file may have them. */
			evaluation.why =
				bt_arena_printf(arena, "unknown metric source type \"%.*s\"",
					BT_STR_ARG(bt_json_text_at(metric, "type")));
		} else if (evaluate_metric(pass, metric, type, &evaluation)) {
			if (evaluation.replicas > best) {
				best = evaluation.replicas;
				best_reason = evaluation.name;
			}
			continue;
		}
		const char *failure = type != NULL ? type->failure : "InvalidMetricSourceType";
		bt_sync_event(pass->sync, "Warning", failure, "%.*s", BT_STR_ARG(evaluation.why));
		if (failures++ == 0) {
			reason = failure;
			why = evaluation.why;
			value_name = failed_value(arena, metric, type);
		}
	}
	if (best < 0 || (failures != 0 && best < pass->current)) {
		/* While a metric fails, the target is not scaled down. */
		set_condition(pass, "ScalingActive", "False", reason,
			bt_arena_printf(arena,
				"the HPA was unable to compute the replica count: %.*s",
				BT_STR_ARG(why)));
		bt_sync_event(pass->sync, "Warning", "FailedComputeMetricsReplicas",
			"invalid metrics (%" PRIu32 " invalid out of %" PRIu32
			"), first error is: failed to get %.*s metric value: %.*s",
			failures, metrics->count, BT_STR_ARG(value_name), BT_STR_ARG(why));
		return false;
	}
	pass->reason = best_reason;
	set_condition(pass, "ScalingActive", "True", "ValidMetricFound",
		bt_arena_printf(arena,
			"the HPA was able to successfully calculate a replica count from %.*s",
			BT_STR_ARG(best_reason)));
	*out_replicas = best;
	return true;
}

/* --- behaviour --- */

/** Applies the stabilization windows to the recommendation. */
static int64_t stabilize(struct pass *pass, int64_t wanted)
{
	struct memory *memory = pass->memory;
	int64_t now = pass->sync->now_seconds;
	int64_t up_window = bt_json_int64_at(
		pass->spec, "behavior.scaleUp.stabilizationWindowSeconds", UP_WINDOW_SECONDS);
	int64_t down_window = bt_json_int64_at(
		pass->spec, "behavior.scaleDown.stabilizationWindowSeconds", DOWN_WINDOW_SECONDS);
	int64_t lowest = wanted;
	int64_t highest = wanted;
	int64_t held = pass->current;
	struct sample sample = {now, wanted};

	for (uint32_t i = memory->recommended.count; i > 0; i--) {
		const struct sample *old = &memory->recommended.items[i - 1];

		if (old->time_seconds < now - REMEMBERED_SECONDS) {
			bt_vec_remove_swap(&memory->recommended, i - 1);
			continue;
		}
		if (old->time_seconds > now - up_window && old->replicas < lowest) {
			lowest = old->replicas;
		}
		if (old->time_seconds > now - down_window && old->replicas > highest) {
			highest = old->replicas;
		}
	}
	bt_vec_push(&memory->recommended, sample);
	held = BT_MAX(held, lowest);
	held = BT_MIN(held, highest);
	if (held > wanted) {
		set_condition(pass, "AbleToScale", "True", "ScaleDownStabilized",
			BT_STR("recent recommendations were higher than current one, applying the "
			       "highest recent recommendation"));
	} else if (held < wanted) {
		set_condition(pass, "AbleToScale", "True", "ScaleUpStabilized",
			BT_STR("recent recommendations were lower than current one, applying the "
			       "lowest recent recommendation"));
	} else {
		set_condition(pass, "AbleToScale", "True", "ReadyForNewScale",
			BT_STR("recommended size matches current size"));
	}
	return held;
}

/** Returns the replicas that one policy allows, given the changes within its period. */
static int64_t policy_limit(
	const struct pass *pass, struct bt_str type, int64_t value, int64_t period, bool up)
{
	int64_t start = pass->current;
	double limit;

	for (uint32_t i = 0; i < pass->memory->changes.count; i++) {
		const struct sample *change = &pass->memory->changes.items[i];
		if (change->time_seconds > pass->sync->now_seconds - period) {
			start -= change->replicas;
		}
	}
	if (bt_str_equal_c(type, "Percent")) {
		double part = (double)start * (double)value / 100;
		limit = up ? ceil((double)start + part) : floor((double)start - part);
	} else {
		limit = (double)start + (double)(up ? value : -value);
	}
	return limit < 0 ? 0 : limit < INT32_MAX ? (int64_t)limit : INT32_MAX;
}

/** Returns the most (up) or fewest (down) replicas that the policies allow now. */
static int64_t behavior_limit(const struct pass *pass, bool up)
{
	const struct bt_json_value *rules =
		bt_json_object_at(pass->spec, up ? "behavior.scaleUp" : "behavior.scaleDown");
	const struct bt_json_value *policies = bt_json_array_at(rules, "policies");
	struct bt_str select = bt_json_text_at(rules, "selectPolicy");
	bool widest = !bt_str_equal_c(select, "Min");

	if (bt_str_equal_c(select, "Disabled")) {
		return pass->current;
	}
	if (policies->count == 0) {
		int64_t percent = policy_limit(pass, BT_STR("Percent"), 100, 15, up);
		int64_t pods = policy_limit(pass, BT_STR("Pods"), 4, 15, up);

		return up && (pods > percent) == widest ? pods : percent;
	}
	int64_t best = -1;
	for (uint32_t i = 0; i < policies->count; i++) {
		const struct bt_json_value *policy = policies->elements[i];
		int64_t limit = policy_limit(pass, bt_json_text_at(policy, "type"),
			bt_json_int64_at(policy, "value", 0),
			bt_json_int64_at(policy, "periodSeconds", 15), up);

		if (best < 0 || (up == widest ? limit > best : limit < best)) {
			best = limit;
		}
	}
	return best;
}

/** Limits the recommendation by the policies and by minReplicas and maxReplicas. */
static int64_t limit_replicas(struct pass *pass, int64_t wanted)
{
	int64_t limited = wanted;
	const char *reason = "DesiredWithinRange";
	struct bt_str message = BT_STR("the desired count is within the acceptable range");

	if (wanted > pass->current && behavior_limit(pass, true) < wanted) {
		limited = behavior_limit(pass, true);
		limited = BT_MAX(limited, pass->current);
		reason = "ScaleUpLimit";
		message = BT_STR("the desired replica count is increasing faster than the maximum "
				 "scale rate");
	} else if (wanted < pass->current && behavior_limit(pass, false) > wanted) {
		limited = behavior_limit(pass, false);
		limited = BT_MIN(limited, pass->current);
		reason = "ScaleDownLimit";
		message = BT_STR("the desired replica count is decreasing faster than the maximum "
				 "scale rate");
	}
	if (limited < pass->least) {
		limited = pass->least;
		reason = "TooFewReplicas";
		message =
			BT_STR("the desired replica count is less than the minimum replica count");
	} else if (limited > pass->most) {
		limited = pass->most;
		reason = "TooManyReplicas";
		message =
			BT_STR("the desired replica count is more than the maximum replica count");
	}
	set_condition(
		pass, "ScalingLimited", limited != wanted ? "True" : "False", reason, message);
	return limited;
}

/* --- sync of one autoscaler --- */

/**
 * Reads replicas and selector of the target's scale. Returns false on failure; a condition has the
 * reason.
 */
static bool read_target(
	struct pass *pass, const struct bt_api_resource *resource, struct bt_str key)
{
	struct bt_sync *sync = pass->sync;
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer = {0};
	struct bt_str selector = BT_STR("");
	bool is_read = false;

	if (resource != NULL) {
		request.verb = BT_VERB_GET;
		request.resource = resource;
		request.subresource = BT_SUBRESOURCE_SCALE;
		request.namespace_ = bt_key_namespace(key);
		request.name = bt_key_name(key);
		bt_api_perform(sync->hub->api, &request, sync->arena, &answer);
		is_read = answer.code == 200;
		pass->current = bt_json_int64_at(answer.document, "spec.replicas", 0);
		selector = bt_json_text_at(answer.document, "status.selector");
	}
	if (!is_read) {
		set_condition(pass, "AbleToScale", "False", "FailedGetScale",
			bt_arena_printf(sync->arena,
				"the HPA controller was unable to get the target's current scale: "
				"%.*s",
				BT_STR_ARG(answer.failure.message)));
		bt_sync_event(sync, "Warning", "FailedGetScale", "%.*s",
			BT_STR_ARG(answer.failure.message));
	} else {
		set_condition(pass, "AbleToScale", "True", "SucceededGetScale",
			BT_STR("the HPA controller was able to get the target's current scale"));
		if (selector.length == 0 ||
			bt_selector_parse(selector, sync->arena, &pass->selector, NULL) != 0) {
			is_read = false;
			set_condition(pass, "ScalingActive", "False", "InvalidSelector",
				BT_STR("the HPA target's scale is missing a selector"));
		}
	}
	bt_api_answer_finish(&answer);
	return is_read;
}

static int64_t decide(struct pass *pass)
{
	int64_t wanted;

	if (pass->current == 0) {
		set_condition(pass, "ScalingActive", "False", "ScalingDisabled",
			BT_STR("scaling is disabled since the replica count of the target is "
			       "zero"));
		return 0;
	}
	if (pass->current > pass->most) {
		pass->reason = BT_STR("Current number of replicas above Spec.MaxReplicas");
		return pass->most;
	}
	if (pass->current < pass->least) {
		pass->reason = BT_STR("Current number of replicas below Spec.MinReplicas");
		return pass->least;
	}
	if (!evaluate_metrics(pass, &wanted)) {
		return pass->current;
	}
	pass->reason = bt_arena_printf(pass->sync->arena, "%.*s %s target",
		BT_STR_ARG(pass->reason), wanted > pass->current ? "above" : "below");
	return limit_replicas(pass, stabilize(pass, wanted));
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *spec = bt_json_object_at(sync->object, "spec");
	const struct bt_json_value *target = bt_json_object_at(spec, "scaleTargetRef");
	const struct bt_api_resource *resource =
		bt_resources_find_kind(bt_api_resources(sync->hub->api),
			bt_json_text_at(target, "apiVersion"), bt_json_text_at(target, "kind"));
	struct bt_str key =
		bt_api_key(arena, bt_key_namespace(sync->key), bt_json_text_at(target, "name"));
	struct bt_str scale_time = BT_STR("");
	struct autoscalers *self = sync->data;
	uint32_t entry = bt_groups_set(&self->keys, sync->key, BT_STR(""));
	if (entry == self->memories.count) {
		bt_vec_push(&self->memories, (struct memory){0});
	}
	struct pass pass = {
		.sync = sync,
		.spec = spec,
		.conditions = bt_tree_copy_array(arena, sync->object, "status.conditions"),
		.current_metrics = bt_json_new(arena, BT_JSON_ARRAY),
		.memory = &self->memories.items[entry],
		.least = bt_json_int64_at(spec, "minReplicas", 1),
		.most = bt_json_int64_at(spec, "maxReplicas", 1),
		.reason = BT_STR(""),
	};

	bt_hub_enqueue_periodic(
		sync->hub, sync->key, sync->now_ns + BT_USAGE_WINDOW_SECONDS * BT_NS_PER_SECOND);
	int64_t desired = pass.current;
	if (read_target(&pass, resource, key)) {
		if (pass.memory->recommended.count == 0) {
			/* A new autoscaler waits for its window, too, before it scales. */
			struct sample first = {sync->now_seconds, pass.current};
			bt_vec_push(&pass.memory->recommended, first);
		}
		desired = decide(&pass);
	}
	if (desired != pass.current) {
		struct bt_json_value *patch =
			bt_json_put(arena, NULL, "{spec: {replicas: %d}}", desired);
		struct sample change = {sync->now_seconds, desired - pass.current};

		if (bt_hub_patch(sync->hub, resource, BT_SUBRESOURCE_SCALE, key, patch, arena) !=
			200) {
			set_condition(&pass, "AbleToScale", "False", "FailedUpdateScale",
				BT_STR("the HPA controller was unable to update the target scale"));
			desired = pass.current;
		} else {
			bt_sync_event(sync, "Normal", "SuccessfulRescale",
				"New size: %" PRId64 "; reason: %.*s", desired,
				BT_STR_ARG(pass.reason));
			set_condition(&pass, "AbleToScale", "True", "SucceededRescale",
				bt_arena_printf(arena,
					"the HPA controller was able to update the target scale to "
					"%" PRId64,
					desired));
			scale_time = bt_time_text(arena, sync->now_ns);
			bt_vec_push(&pass.memory->changes, change);
		}
	}
	for (uint32_t i = pass.memory->changes.count; i > 0; i--) {
		if (pass.memory->changes.items[i - 1].time_seconds <
			sync->now_seconds - REMEMBERED_SECONDS) {
			bt_vec_remove_swap(&pass.memory->changes, i - 1);
		}
	}
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL,
			"{lastScaleTime?: %s, currentReplicas: %d, desiredReplicas: %d, "
			"currentMetrics: %v, conditions: %v}",
			scale_time, pass.current, desired, pass.current_metrics, pass.conditions));
	return true;
}

const struct bt_controller_ops bt_horizontal_pod_autoscaler_ops = {
	.component = "horizontal-pod-autoscaler",
	.watches = BT_WATCH(BT_HUB_AUTOSCALERS),
	.object = BT_HUB_AUTOSCALERS,
	.group_count = 1,
	.data_bytes = sizeof(struct autoscalers),
	.finish = finish,
	.observe = observe,
	.sync = sync,
};
