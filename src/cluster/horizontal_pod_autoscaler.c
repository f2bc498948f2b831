/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HorizontalPodAutoscalers: the number of replicas that brings the pods' use of a resource to its
 * target. Spec: 14b section 6.9. Metrics of pods, objects and external sources are not there, as in
 * a cluster without an adapter for them.
 */
#include <inttypes.h>
#include <math.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/usage.h"

#define TOLERANCE 0.1
#define UP_WINDOW_SECONDS 0
#define DOWN_WINDOW_SECONDS 300
/** Of policies and stabilization windows. */
#define REMEMBERED_SECONDS 3600

/** A recommendation, or (of a change) how many replicas were added or, below 0, removed. */
struct sample {
	int64_t time_seconds;
	int64_t replicas;
};

/** What is remembered of one autoscaler. */
struct memory {
	char *key; /* owned */
	BT_VEC(struct sample) recommended;
	BT_VEC(struct sample) changes;
};

struct autoscalers {
	BT_VEC(struct memory) memories;
};

/** The pods of the target, for one metric. */
struct measured {
	struct bt_sync *sync;
	bool is_cpu;
	struct bt_str resource;
	struct bt_str container; /* "": all */
	int64_t ready;
	int64_t unready;
	double usage;          /* of ready ones; cores or bytes */
	double requests;       /* likewise */
	struct bt_str lacking; /* "" or: a pod whose container has no request */
};

/** One sync. */
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
	struct bt_str reason; /* of a change: which metric wants it */
};

static void free_memory(struct memory *memory)
{
	bt_free(memory->key);
	bt_vec_finish(&memory->recommended);
	bt_vec_finish(&memory->changes);
}

static void finish(void *data)
{
	struct autoscalers *self = data;

	for (uint32_t i = 0; i < self->memories.count; i++) {
		free_memory(&self->memories.items[i]);
	}
	bt_vec_finish(&self->memories);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct autoscalers *self = data;

	for (uint32_t i = 0; observed->type == BT_CHANGE_DELETED && i < self->memories.count; i++) {
		if (bt_str_equal_c(observed->key, self->memories.items[i].key)) {
			free_memory(&self->memories.items[i]);
			bt_vec_remove_swap(&self->memories, i);
		}
	}
	if (observed->type == BT_CHANGE_ADDED ||
		(observed->type == BT_CHANGE_MODIFIED &&
			!bt_json_equal(bt_json_object_at(observed->before, "spec"),
				bt_json_object_at(observed->after, "spec")))) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static struct memory *find_memory(struct autoscalers *self, struct bt_str key)
{
	struct memory fresh = {.key = NULL};

	for (uint32_t i = 0; i < self->memories.count; i++) {
		if (bt_str_equal_c(key, self->memories.items[i].key)) {
			return &self->memories.items[i];
		}
	}
	fresh.key = bt_strndup(key.data, key.length);
	bt_vec_push(&self->memories, fresh);
	return &self->memories.items[self->memories.count - 1];
}

static void set_condition(struct pass *pass, const char *type, const char *status,
	const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, status, reason, message};

	(void)bt_tree_set_condition(
		pass->sync->arena, pass->conditions, &condition, false, pass->sync->now_ns);
}

/* --- metrics --- */

static void measure_pod(
	void *context, const struct bt_indexed_pod *record, const struct bt_json_value *pod)
{
	struct measured *measured = context;
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.containers");
	struct bt_arena *arena = measured->sync->arena;

	if (record->deleting || bt_pod_is_over(record)) {
		return;
	}
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

/** The replicas that the use of the ready pods, at this ratio to its target, asks for. */
static int64_t replicas_for(const struct pass *pass, const struct measured *measured, double ratio)
{
	double all = (double)(measured->ready + measured->unready);
	double wanted = ratio * (double)measured->ready;

	if (fabs(ratio - 1) <= TOLERANCE) {
		return pass->current;
	}
	if (ratio > 1 && measured->unready != 0) {
		/* Pods that are not ready yet count as idle: they may be what is missing. */
		double spread = wanted / all;

		if (spread <= 1 + TOLERANCE) {
			return pass->current;
		}
	}
	wanted = ceil(wanted);
	return wanted < INT32_MAX ? (int64_t)wanted : INT32_MAX;
}

/** false: *out_why, in the arena. */
static bool evaluate_metric(struct pass *pass, const struct bt_json_value *metric,
	int64_t *out_replicas, struct bt_str *out_why)
{
	struct bt_arena *arena = pass->sync->arena;
	struct bt_str type = bt_json_text_at(metric, "type");
	bool of_container = bt_str_equal_c(type, "ContainerResource");
	const char *member = of_container ? "containerResource" : "resource";
	const struct bt_json_value *source = bt_json_object_at(metric, member);
	const struct bt_json_value *target = bt_json_object_at(source, "target");
	int64_t percent = bt_json_int64_at(target, "averageUtilization", 0);
	struct measured measured = {.sync = pass->sync,
		.resource = bt_json_text_at(source, "name"),
		.container = bt_json_text_at(source, "container")};
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *value = bt_json_ensure_object(arena, status, member);
	struct bt_json_value *current;
	struct bt_quantity wanted;
	double ratio;

	if (!bt_str_equal_c(type, "Resource") && !of_container) {
		*out_why = bt_arena_printf(
			arena, "no API serves metrics of type %.*s", BT_STR_ARG(type));
		return false;
	}
	measured.is_cpu = bt_str_equal_c(measured.resource, "cpu");
	if (!measured.is_cpu && !bt_str_equal_c(measured.resource, "memory")) {
		*out_why = bt_arena_printf(
			arena, "no metrics known for resource %.*s", BT_STR_ARG(measured.resource));
		return false;
	}
	bt_owners_visit_selected(pass->sync, &pass->selector, 0, measure_pod, &measured);
	if (measured.ready == 0) {
		*out_why = bt_arena_printf(arena,
			"failed to get %.*s utilization: did not receive metrics for targeted pods "
			"(pods might be unready)",
			BT_STR_ARG(measured.resource));
		return false;
	}
	bt_json_set_str(arena, status, "type", type);
	bt_json_set_str(arena, value, "name", measured.resource);
	if (of_container) {
		bt_json_set_str(arena, value, "container", measured.container);
	}
	current = bt_json_ensure_object(arena, value, "current");
	bt_json_set_str(arena, current, "averageValue",
		measured.is_cpu
			? bt_arena_printf(
				  arena, "%.0fm", measured.usage * 1000 / (double)measured.ready)
			: bt_arena_printf(arena, "%.0f", measured.usage / (double)measured.ready));
	if (percent > 0) {
		if (measured.lacking.length != 0 || measured.requests <= 0) {
			*out_why = bt_arena_printf(arena, "failed to get %.*s utilization: %.*s",
				BT_STR_ARG(measured.resource), BT_STR_ARG(measured.lacking));
			return false;
		}
		ratio = measured.usage / measured.requests;
		bt_json_set_int64(arena, current, "averageUtilization",
			ratio < 1e6 ? (int64_t)(ratio * 100 + 1e-6) : 100000000);
		ratio = ratio * 100 / (double)percent;
	} else {
		double each;

		if (bt_quantity_parse(
			    bt_json_text_at(target, "averageValue"), arena, &wanted, NULL) != 0) {
			*out_why = BT_STR("invalid metric source: neither a utilization target "
					  "nor a value target was set");
			return false;
		}
		each = measured.is_cpu ? (double)bt_quantity_milli(&wanted) / 1000
				       : (double)bt_quantity_value(&wanted);
		if (each <= 0) {
			*out_why = BT_STR("invalid metric source: the target is not positive");
			return false;
		}
		ratio = measured.usage / (double)measured.ready / each;
	}
	bt_json_append(arena, pass->current_metrics, status);
	*out_replicas = replicas_for(pass, &measured, ratio);
	pass->reason = bt_arena_printf(arena, "%.*s %sresource%s", BT_STR_ARG(measured.resource),
		of_container ? "container " : "",
		percent > 0 ? " utilization (percentage of request)" : "");
	return true;
}

/** The highest of what the metrics ask for. false: none could be evaluated. */
static bool evaluate_metrics(struct pass *pass, int64_t *out_replicas)
{
	const struct bt_json_value *metrics = bt_json_array_at(pass->spec, "metrics");
	struct bt_str best_reason = BT_STR("");
	struct bt_str why = BT_STR("");
	int64_t best = -1;
	bool failed = false;

	for (uint32_t i = 0; i < metrics->count; i++) {
		int64_t replicas = 0;

		if (!evaluate_metric(pass, metrics->elements[i], &replicas, &why)) {
			failed = true;
		} else if (replicas > best) {
			best = replicas;
			best_reason = pass->reason;
		}
	}
	if (best < 0 || (failed && best < pass->current)) {
		/* Without all metrics the target does not shrink. */
		set_condition(pass, "ScalingActive", "False", "FailedGetResourceMetric",
			bt_arena_printf(pass->sync->arena,
				"the HPA was unable to compute the replica count: %.*s",
				BT_STR_ARG(why)));
		bt_sync_event(
			pass->sync, "Warning", "FailedGetResourceMetric", "%.*s", BT_STR_ARG(why));
		return false;
	}
	pass->reason = best_reason;
	set_condition(pass, "ScalingActive", "True", "ValidMetricFound",
		bt_arena_printf(pass->sync->arena,
			"the HPA was able to successfully calculate a replica count from %.*s",
			BT_STR_ARG(best_reason)));
	*out_replicas = best;
	return true;
}

/* --- behaviour --- */

/** The recommendation, held for the stabilization windows. */
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
	held = held < lowest ? lowest : held;
	held = held > highest ? highest : held;
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

/** What one policy allows; changes of its period count. */
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

/** The most (up) or fewest replicas that the policies allow now. */
static int64_t behavior_limit(const struct pass *pass, bool up)
{
	const struct bt_json_value *rules =
		bt_json_object_at(pass->spec, up ? "behavior.scaleUp" : "behavior.scaleDown");
	const struct bt_json_value *policies = bt_json_array_at(rules, "policies");
	struct bt_str select = bt_json_text_at(rules, "selectPolicy");
	bool widest = !bt_str_equal_c(select, "Min");
	int64_t best;

	if (bt_str_equal_c(select, "Disabled")) {
		return pass->current;
	}
	if (policies->count == 0) {
		int64_t percent = policy_limit(pass, BT_STR("Percent"), 100, 15, up);
		int64_t pods = policy_limit(pass, BT_STR("Pods"), 4, 15, up);

		return up && (pods > percent) == widest ? pods : percent;
	}
	best = -1;
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

/** Within the policies and the autoscaler's bounds. */
static int64_t limit_replicas(struct pass *pass, int64_t wanted)
{
	int64_t limited = wanted;
	const char *reason = "DesiredWithinRange";
	struct bt_str message = BT_STR("the desired count is within the acceptable range");

	if (wanted > pass->current && behavior_limit(pass, true) < wanted) {
		limited = behavior_limit(pass, true);
		limited = limited < pass->current ? pass->current : limited;
		reason = "ScaleUpLimit";
		message = BT_STR("the desired replica count is increasing faster than the maximum "
				 "scale rate");
	} else if (wanted < pass->current && behavior_limit(pass, false) > wanted) {
		limited = behavior_limit(pass, false);
		limited = limited > pass->current ? pass->current : limited;
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

/* --- one autoscaler --- */

/** false: the condition says why. */
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

/** Returns the replicas that the target is to have. */
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
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct pass pass = {
		.sync = sync,
		.spec = spec,
		.conditions = bt_tree_copy_array(arena, sync->object, "status.conditions"),
		.current_metrics = bt_json_new(arena, BT_JSON_ARRAY),
		.memory = find_memory(sync->data, sync->key),
		.least = bt_json_int64_at(spec, "minReplicas", 1),
		.most = bt_json_int64_at(spec, "maxReplicas", 1),
		.reason = BT_STR(""),
	};
	int64_t desired;

	bt_hub_enqueue_periodic(
		sync->hub, sync->key, sync->now_ns + BT_USAGE_WINDOW_SECONDS * BT_NS_PER_SECOND);
	desired = read_target(&pass, resource, key) ? decide(&pass) : pass.current;
	if (desired != pass.current) {
		struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
		struct sample change = {sync->now_seconds, desired - pass.current};

		bt_json_set_int64(
			arena, bt_json_ensure_object(arena, patch, "spec"), "replicas", desired);
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
			bt_json_set_str(
				arena, status, "lastScaleTime", bt_time_text(arena, sync->now_ns));
			bt_vec_push(&pass.memory->changes, change);
		}
	}
	for (uint32_t i = pass.memory->changes.count; i > 0; i--) {
		if (pass.memory->changes.items[i - 1].time_seconds <
			sync->now_seconds - REMEMBERED_SECONDS) {
			bt_vec_remove_swap(&pass.memory->changes, i - 1);
		}
	}
	bt_json_set_int64(arena, status, "currentReplicas", pass.current);
	bt_json_set_int64(arena, status, "desiredReplicas", desired);
	bt_json_set_value(arena, status, "currentMetrics", pass.current_metrics);
	bt_json_set_value(arena, status, "conditions", pass.conditions);
	bt_sync_write_status(sync, status);
	return true;
}

const struct bt_controller_ops bt_horizontal_pod_autoscaler_ops = {
	.name = "horizontal-pod-autoscaler-controller",
	.component = "horizontal-pod-autoscaler",
	.watches = BT_WATCH(BT_HUB_AUTOSCALERS),
	.object = BT_HUB_AUTOSCALERS,
	.data_bytes = sizeof(struct autoscalers),
	.finish = finish,
	.observe = observe,
	.sync = sync,
};
