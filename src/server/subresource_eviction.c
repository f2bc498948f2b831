/* SPDX-License-Identifier: Apache-2.0 */
/** Eviction under disruption budgets. Spec: 14 section 17. */
#include "api/time.h"
#include "server/kinds/common.h"
#include "server/condition.h"
#include "server/write.h"

/** Pods that a budget may wait for. */
#define DISRUPTED_PODS_MAX 2000

static void refuse_more_than_one(struct bt_call *call)
{
	(void)bt_call_refuse(call, 500, NULL,
		"This pod has more than one PodDisruptionBudget, which the eviction subresource "
		"does not support.");
}

/** 429; retry_after_seconds 0: without header and detail. */
static void refuse_disruption(
	struct bt_call *call, struct bt_str cause_text, int32_t retry_after_seconds)
{
	struct bt_failure *failure = &call->answer->failure;
	struct bt_failure_cause *cause = BT_ARENA_NEW(call->arena, struct bt_failure_cause);
	cause->reason = "DisruptionBudget";
	cause->message = cause_text;
	(void)bt_fail(failure, call->arena, 429, "TooManyRequests",
		"Cannot evict pod as it would violate the pod's disruption budget.");
	failure->causes = cause;
	failure->retry_after_seconds = retry_after_seconds;
}

/** The only budget that selects the pod. false: there are several, the answer says so. */
static bool find_budget(
	struct bt_call *call, const struct bt_json_value *pod, struct bt_stored **out_budget)
{
	const struct bt_json_value *labels = bt_json_find_path(pod, "metadata.labels");
	struct bt_store_walk walk;
	struct bt_stored *stored;
	uint32_t found = 0;
	*out_budget = NULL;
	int result = bt_store_walk_begin(call->api->options.store, call->api->budgets->collection,
		0, bt_api_key(call->arena, call->write.namespace_, BT_STR("")), BT_STR(""), &walk,
		NULL);
	if (result != 0) {
		return true;
	}
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL && found < 2) {
		const struct bt_json_value *budget = bt_api_parse_stored(stored, call->arena);
		if (bt_kinds_selector_matches(
			    call->arena, bt_json_find_path(budget, "spec.selector"), labels)) {
			found++;
			*out_budget = bt_store_find(call->api->options.store,
				call->api->budgets->collection, bt_stored_key(stored));
		}
	}
	bt_store_walk_end(&walk);
	if (found > 1) {
		refuse_more_than_one(call);
		return false;
	}
	return true;
}

/** A pod that is not healthy anyway may go without being counted. */
static bool may_go_unhealthy(const struct bt_json_value *pod, const struct bt_json_value *budget)
{
	int64_t healthy = bt_json_int64_at(budget, "status.currentHealthy", 0);
	int64_t desired = bt_json_int64_at(budget, "status.desiredHealthy", 0);
	return !bt_condition_is(bt_json_array_at(pod, "status.conditions"), "Ready", "True") &&
		(bt_str_equal_c(bt_json_text_at(budget, "spec.unhealthyPodEvictionPolicy"),
			 "AlwaysAllow") ||
			(healthy >= desired && desired > 0));
}

/** A call of the same client on another object. */
static void sub_call(struct bt_call *call, const struct bt_call *parent,
	struct bt_api_request *request, struct bt_api_answer *answer)
{
	bt_call_init(call, parent->api, request, parent->arena, answer);
	call->write.now_ns = parent->write.now_ns;
}

/** One disruption less, and the pod on the list of those that are going. */
static void take_disruption(struct bt_call *call, struct bt_stored *stored,
	struct bt_json_value *budget, struct bt_str name)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *status = bt_json_ensure_object(arena, budget, "status");
	struct bt_json_value *disrupted = bt_json_ensure_object(arena, status, "disruptedPods");
	struct bt_api_request request = *call->request;
	struct bt_api_answer answer;
	struct bt_call write;
	bt_json_set_int64(arena, status, "disruptionsAllowed",
		bt_json_int64_at(status, "disruptionsAllowed", 0) - 1);
	bt_json_set(arena, disrupted, name,
		bt_json_new_str(arena, bt_time_text(arena, call->write.now_ns)));
	request.verb = BT_VERB_UPDATE;
	request.resource = call->api->budgets;
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.namespace_ = call->write.namespace_;
	request.name = bt_arena_str(arena, bt_json_text_at(budget, "metadata.name"));
	request.dry_run = call->write.dry_run;
	sub_call(&write, call, &request, &answer);
	bt_call_store(&write, stored, budget, 200);
	if (answer.failure.code != 0) {
		*&call->answer->failure = answer.failure;
	}
	bt_api_answer_finish(&answer);
}

/** false: the budget does not allow it, the answer says so. */
static bool ask_budget(
	struct bt_call *call, struct bt_stored *stored, const struct bt_json_value *pod)
{
	struct bt_json_value *budget = bt_api_parse_stored(stored, call->arena);
	struct bt_str name = bt_json_text_at(budget, "metadata.name");
	int64_t allowed = bt_json_int64_at(budget, "status.disruptionsAllowed", 0);
	if (may_go_unhealthy(pod, budget)) {
		return true;
	}
	if (bt_json_int64_at(budget, "status.observedGeneration", 0) <
			bt_json_int64_at(budget, "metadata.generation", 0) ||
		bt_json_object_at(budget, "status.disruptedPods")->count > DISRUPTED_PODS_MAX) {
		refuse_disruption(call,
			bt_arena_printf(call->arena,
				"The disruption budget %.*s is still being processed by the "
				"server.",
				BT_STR_ARG(name)),
			10);
		return false;
	}
	if (allowed <= 0) {
		refuse_disruption(call,
			bt_arena_printf(call->arena,
				"The disruption budget %.*s needs %lld healthy pods and has %lld "
				"currently",
				BT_STR_ARG(name),
				(long long)bt_json_int64_at(budget, "status.desiredHealthy", 0),
				(long long)bt_json_int64_at(budget, "status.currentHealthy", 0)),
			0);
		return false;
	}
	take_disruption(call, stored, budget, call->write.name);
	return call->answer->failure.code == 0;
}

/** DeleteOptions in the body of the eviction. */
static void read_options(const struct bt_json_value *options, struct bt_api_request *request)
{
	struct bt_str policy = bt_json_text_at(options, "propagationPolicy");
	struct bt_str uid = bt_json_text_at(options, "preconditions.uid");
	struct bt_str rv = bt_json_text_at(options, "preconditions.resourceVersion");
	int64_t grace = bt_json_int64_at(options, "gracePeriodSeconds", -1);
	if (bt_json_find(options, "gracePeriodSeconds") != NULL) {
		request->grace_period_seconds = grace < 0 ? -2 : grace;
	}
	request->precondition_uid = uid.length != 0 ? uid : (struct bt_str){NULL, 0};
	request->precondition_rv = rv.length != 0 ? rv : (struct bt_str){NULL, 0};
	request->dry_run = request->dry_run || bt_json_array_at(options, "dryRun")->count != 0;
	if (bt_str_equal_c(policy, "Foreground")) {
		request->propagation = BT_PROPAGATION_FOREGROUND;
	} else if (bt_str_equal_c(policy, "Orphan")) {
		request->propagation = BT_PROPAGATION_ORPHAN;
	} else if (bt_str_equal_c(policy, "Background")) {
		request->propagation = BT_PROPAGATION_BACKGROUND;
	}
}

/** Say on the pod why it goes. */
static void mark_pod(struct bt_call *call, struct bt_stored *stored)
{
	struct bt_json_value *pod = bt_call_parse(call, stored);
	if (bt_json_text_at(pod, "metadata.deletionTimestamp").length == 0 &&
		!bt_condition_is(
			bt_json_array_at(pod, "status.conditions"), "DisruptionTarget", "True")) {
		bt_pod_set_condition(call, pod, "DisruptionTarget", "EvictionByEvictionAPI",
			"Eviction API: evicting");
		bt_call_store(call, stored, pod, 200);
		bt_api_answer_finish(call->answer);
		*call->answer = (struct bt_api_answer){.failure = call->answer->failure};
	}
}

static bool ignores_budgets(const struct bt_json_value *pod)
{
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	return bt_str_equal_c(phase, "Pending") || bt_str_equal_c(phase, "Succeeded") ||
		bt_str_equal_c(phase, "Failed") ||
		bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0;
}

static bool check_preconditions(
	struct bt_call *call, const struct bt_api_request *request, const struct bt_json_value *pod)
{
	struct bt_str uid = request->precondition_uid;
	struct bt_str rv = request->precondition_rv;
	if ((uid.data == NULL || bt_str_equal(uid, bt_json_text_at(pod, "metadata.uid"))) &&
		(rv.data == NULL ||
			bt_str_equal(rv, bt_json_text_at(pod, "metadata.resourceVersion")))) {
		return true;
	}
	(void)bt_fail_conflict(&call->answer->failure, call->arena, call->write.resource,
		call->write.name, BT_STR("a precondition of the eviction does not hold"));
	return false;
}

static void delete_pod(struct bt_call *call, struct bt_api_request *request)
{
	struct bt_api_answer answer;
	struct bt_call deletion;
	request->precondition_uid = (struct bt_str){NULL, 0};
	request->precondition_rv = (struct bt_str){NULL, 0};
	sub_call(&deletion, call, request, &answer);
	bt_call_delete(&deletion);
	if (answer.failure.code != 0) {
		*&call->answer->failure = answer.failure;
	} else {
		bt_call_answer_success(call, 201, (struct bt_str){NULL, 0});
	}
	bt_api_answer_finish(&answer);
}

void bt_call_eviction(struct bt_call *call)
{
	struct bt_json_value *body = call->request->body;
	struct bt_api_request request = *call->request;
	if (body == NULL) {
		body = bt_json_new(call->arena, BT_JSON_OBJECT);
	}
	if (bt_str_equal_c(bt_json_find_str(body, "apiVersion"), "policy/v1beta1")) {
		(void)bt_json_remove_c(body, "apiVersion");
	}
	if (!bt_call_decode_as(call, body, BT_STR("policy/v1"), BT_STR("Eviction"))) {
		return;
	}
	struct bt_str name = bt_json_text_at(body, "metadata.name");
	if (name.length != 0 && !bt_str_equal(name, call->write.name)) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"name in URL does not match name in Eviction object");
		return;
	}
	request.verb = BT_VERB_DELETE;
	request.subresource = BT_SUBRESOURCE_NONE;
	read_options(bt_json_object_at(body, "deleteOptions"), &request);
	call->write.dry_run = request.dry_run;
	struct bt_stored *stored = bt_call_find(call);
	struct bt_stored *budget = NULL;
	if (stored == NULL) {
		return;
	}
	const struct bt_json_value *pod = bt_call_parse(call, stored);
	if (!check_preconditions(call, &request, pod)) {
		return;
	}
	if (!ignores_budgets(pod)) {
		if (!find_budget(call, pod, &budget) ||
			(budget != NULL && !ask_budget(call, budget, pod))) {
			return;
		}
	}
	mark_pod(call, stored);
	if (call->answer->failure.code == 0) {
		delete_pod(call, &request);
	}
}
