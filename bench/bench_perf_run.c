/* SPDX-License-Identifier: Apache-2.0 */
/** A workload's operations, one after another. */
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "bench/bench_perf_private.h"

/** Virtual time that an attempt takes. */
#define ATTEMPT_NS BT_NS_PER_MS
/** Virtual time that passes when there is no pod to try. */
#define IDLE_NS BT_NS_PER_SECOND
/** Whoever waits longer than any backoff and flush without anybody being placed waits forever. */
#define STUCK_NS (INT64_C(15) * 60 * BT_NS_PER_SECOND)
#define CHURN_INTERVAL_MS 500

/** --- parameters --- */

static const struct bt_json_value *find_param(
	const struct bt_perf_workload *workload, struct bt_str name)
{
	const struct bt_json_value *params = workload->params;
	for (uint32_t i = 0; params != NULL && i < params->count; i++) {
		if (bt_str_equal(params->members[i].name, name)) {
			return params->members[i].value;
		}
	}
	return NULL;
}

/** param: "$name". */
static int look_up(const struct bt_perf_workload *workload, struct bt_str param, const char *field,
	const struct bt_json_value **out_value, struct berth_error *err)
{
	*out_value = find_param(workload, bt_str_sub(param, 1, UINT32_MAX));
	if (*out_value != NULL) {
		return 0;
	}
	struct bt_strbuf known = {0};
	for (uint32_t i = 0; workload->params != NULL && i < workload->params->count; i++) {
		bt_strbuf_printf(&known, "%s%.*s", i != 0 ? ", " : "",
			BT_STR_ARG(workload->params->members[i].name));
	}
	int result = bt_error_set(err, BERTH_ERR_INVALID,
		"%s: the workload has no parameter %.*s; it has %s", field,
		BT_STR_ARG(bt_str_sub(param, 1, UINT32_MAX)),
		known.length != 0 ? bt_strbuf_c(&known) : "none");
	bt_strbuf_finish(&known);
	return result;
}

static int count_of(const struct bt_perf *perf, const struct bt_perf_op *op, uint32_t *out_count,
	struct berth_error *err)
{
	const struct bt_json_value *value;
	int64_t count;
	*out_count = (uint32_t)op->count;
	if (op->count_param.length == 0) {
		return 0;
	}
	int result = look_up(perf->workload, op->count_param, "countParam", &value, err);
	if (result < 0) {
		return result;
	}
	if (value->type != BT_JSON_NUMBER || !bt_json_number_int64(value->text, &count) ||
		count < 0 || count > UINT32_MAX / 4) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"countParam: the parameter %.*s is not a count",
			BT_STR_ARG(bt_str_sub(op->count_param, 1, UINT32_MAX)));
	}
	*out_count = (uint32_t)count;
	return 0;
}

static int duration_of(const struct bt_perf *perf, const struct bt_perf_op *op, int64_t *out_ns,
	struct berth_error *err)
{
	struct bt_str text = op->duration;
	if (op->duration_param.length != 0) {
		const struct bt_json_value *value;
		int result =
			look_up(perf->workload, op->duration_param, "durationParam", &value, err);
		if (result < 0) {
			return result;
		}
		text = value->type == BT_JSON_STRING ? value->text : BT_STR("");
	}
	int result = bt_duration_parse(text, out_ns, err);
	return result < 0 ? bt_error_wrap(err, result, "duration") : 0;
}

/** --- attempts --- */

static void start_watch(struct bt_perf *perf)
{
	if (perf->is_timed) {
		perf->watch = bt_bench_watch_start();
	}
}

static void stop_watch(struct bt_perf *perf)
{
	if (perf->is_timed) {
		struct bt_bench_result times = {0};
		bt_bench_watch_stop(&perf->watch, &times);
		perf->result->seconds += times.seconds;
		perf->result->cpu_seconds += times.cpu_seconds;
	}
}

/** Time passes, and with it come the changes that are due. They are not measured. */
static int pass(struct bt_perf *perf, int64_t duration_ns, struct berth_error *err)
{
	bt_living_pass(&perf->living, duration_ns);
	for (uint32_t i = 0; i < perf->churns.count; i++) {
		struct bt_perf_churn *churn = &perf->churns.items[i];
		if (churn->next_ns > perf->living.now_ns) {
			continue;
		}
		stop_watch(perf);
		int result = bt_perf_churn_once(perf, churn, err);
		churn->next_ns = perf->living.now_ns + churn->op->interval_ms * BT_NS_PER_MS;
		start_watch(perf);
		if (result < 0) {
			return bt_error_wrap(err, result, "op %u (churn)", churn->op->number);
		}
	}
	return 0;
}

static int attempt(
	struct bt_perf *perf, enum bt_attempt_outcome *out_outcome, struct berth_error *err)
{
	struct bt_attempt tried;
	int result = bt_living_step(&perf->living, &tried, err);
	*out_outcome = tried.outcome;
	if (tried.outcome == BT_ATTEMPT_BOUND) {
		perf->result->decisions = bt_bench_digest(
			perf->result->decisions, tried.namespace_, tried.name, tried.node_name);
	}
	return result;
}

/** It has a node, or it is gone. */
static bool is_settled(const struct bt_perf *perf, const struct bt_perf_pod *pod)
{
	const struct bt_object *object =
		bt_scheduler_find_pod(perf->living.scheduler, pod->namespace_, pod->name);
	if (object == NULL) {
		return true;
	}
	const struct bt_pod *value = bt_object_value(object, BT_KIND_POD);
	return value->spec.node_name.length != 0;
}

static bool is_among(const bt_str_list *namespaces, struct bt_str namespace_)
{
	for (uint32_t i = 0; i < namespaces->count; i++) {
		if (bt_str_equal(namespaces->items[i], namespace_)) {
			return true;
		}
	}
	return namespaces->count == 0;
}

/** Moves on to the first pod that is waited for, or to the end. */
static uint32_t skip_settled(
	const struct bt_perf *perf, uint32_t at, uint32_t end, const bt_str_list *namespaces)
{
	while (at < end &&
		(!is_among(namespaces, perf->pods.items[at].namespace_) ||
			is_settled(perf, &perf->pods.items[at]))) {
		at++;
	}
	return at;
}

static int stuck(const struct bt_perf *perf, uint32_t at, uint32_t end,
	const bt_str_list *namespaces, struct berth_error *err)
{
	const struct bt_perf_pod *first = &perf->pods.items[at];
	uint32_t count = 0;
	while (at < end) {
		count++;
		at = skip_settled(perf, at + 1, end, namespaces);
	}
	return bt_error_set(err, BERTH_ERR_STATE,
		"%u pods fit nowhere, the first of them is %.*s/%.*s", count,
		BT_STR_ARG(first->namespace_), BT_STR_ARG(first->name));
}

/** Pods number first to end, those of these namespaces (none: all), are placed. */
static int wait_for(struct bt_perf *perf, uint32_t first, uint32_t end,
	const bt_str_list *namespaces, struct berth_error *err)
{
	int64_t placed_ns = perf->living.now_ns;
	uint32_t at = skip_settled(perf, first, end, namespaces);
	while (at < end) {
		enum bt_attempt_outcome outcome;
		int result = attempt(perf, &outcome, err);
		if (result == 0) {
			result = pass(perf, outcome == BT_ATTEMPT_IDLE ? IDLE_NS : ATTEMPT_NS, err);
		}
		if (result < 0) {
			return result;
		}
		if (outcome == BT_ATTEMPT_BOUND || outcome == BT_ATTEMPT_IDLE) {
			uint32_t before = at;
			at = skip_settled(perf, at, end, namespaces);
			placed_ns = at != before || outcome == BT_ATTEMPT_BOUND
				? perf->living.now_ns
				: placed_ns;
		}
		if (perf->living.now_ns - placed_ns > STUCK_NS) {
			return stuck(perf, at, end, namespaces, err);
		}
	}
	return 0;
}

/** --- operations --- */

static const bt_str_list all_namespaces = {NULL, 0, false};

static int run_pods(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	struct berth_error *err)
{
	uint32_t first = perf->pods.count;
	uint32_t count;
	int result = count_of(perf, op, &count, err);
	if (result == 0) {
		result = bt_perf_create_pods(perf, op, namespace_, count, err);
	}
	if (result < 0 || op->skip_wait) {
		return result;
	}
	perf->is_timed = op->collect_metrics;
	start_watch(perf);
	result = wait_for(perf, first, perf->pods.count, &all_namespaces, err);
	stop_watch(perf);
	perf->is_timed = false;
	if (op->collect_metrics) {
		perf->result->pod_count += count;
	}
	return result;
}

static int run_create_pods(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	struct bt_str namespace_ = op->namespace_.length != 0
		? op->namespace_
		: bt_arena_printf(&perf->arena, "namespace-%u", op->number);
	return run_pods(perf, op, namespace_, err);
}

static int run_create_pod_sets(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	uint32_t count;
	int result = count_of(perf, op, &count, err);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_str namespace_ = bt_arena_printf(
			&perf->arena, "%.*s-%u", BT_STR_ARG(op->namespace_prefix), i);
		result = run_pods(perf, op->pods, namespace_, err);
	}
	return result;
}

static void start_churn(struct bt_perf *perf, struct bt_perf_op *op)
{
	if (op->interval_ms == 0) {
		op->interval_ms = CHURN_INTERVAL_MS;
	}
	struct bt_perf_churn churn = {
		.op = op, .next_ns = perf->living.now_ns + op->interval_ms * BT_NS_PER_MS};
	bt_vec_push(&perf->churns, churn);
}

static int run_sleep(struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	int64_t duration_ns;
	int result = duration_of(perf, op, &duration_ns, err);
	int64_t end_ns = perf->living.now_ns + (result == 0 ? duration_ns : 0);
	while (result == 0 && perf->living.now_ns < end_ns) {
		enum bt_attempt_outcome outcome;
		result = attempt(perf, &outcome, err);
		if (result == 0) {
			int64_t rest_ns = end_ns - perf->living.now_ns;
			int64_t step_ns = outcome == BT_ATTEMPT_IDLE ? IDLE_NS : ATTEMPT_NS;
			result = pass(perf, step_ns < rest_ns ? step_ns : rest_ns, err);
		}
	}
	return result;
}

static int run_delete_pods(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < perf->pods.count && result == 0; i++) {
		const struct bt_perf_pod *pod = &perf->pods.items[i];
		struct bt_object *object = bt_str_equal(pod->namespace_, op->namespace_)
			? bt_scheduler_find_pod(perf->living.scheduler, pod->namespace_, pod->name)
			: NULL;
		if (object != NULL) {
			result =
				bt_living_change(&perf->living, bt_object_share(object), NULL, err);
		}
	}
	return result;
}

static int run_op(struct bt_perf *perf, struct bt_perf_op *op, struct berth_error *err)
{
	uint32_t count;
	int result;
	switch (op->opcode) {
	case BT_PERF_CREATE_NODES:
		result = count_of(perf, op, &count, err);
		return result == 0 ? bt_perf_create_nodes(perf, op, count, err) : result;
	case BT_PERF_CREATE_NAMESPACES:
		result = count_of(perf, op, &count, err);
		return result == 0 ? bt_perf_create_namespaces(perf, op, count, err) : result;
	case BT_PERF_CREATE_PODS:
		return run_create_pods(perf, op, err);
	case BT_PERF_CREATE_POD_SETS:
		return run_create_pod_sets(perf, op, err);
	case BT_PERF_CHURN:
		start_churn(perf, op);
		return 0;
	case BT_PERF_BARRIER:
		return wait_for(perf, 0, perf->pods.count, &op->namespaces, err);
	case BT_PERF_SLEEP:
		return run_sleep(perf, op, err);
	case BT_PERF_DELETE_PODS:
		return run_delete_pods(perf, op, err);
	case BT_PERF__OPCODES:
		break;
	}
	return 0;
}

static int run_ops(struct bt_perf *perf, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < perf->test->op_count && result == 0; i++) {
		struct bt_perf_op op = perf->test->ops[i];
		result = run_op(perf, &perf->test->ops[i], err);
		if (result < 0) {
			return bt_error_wrap(err, result, "op %u (%s)", op.number,
				bt_perf_opcode_name(op.opcode));
		}
	}
	return result;
}

static void finish(struct bt_perf *perf)
{
	for (uint32_t i = 0; i < perf->churns.count; i++) {
		struct bt_perf_churn *churn = &perf->churns.items[i];
		for (uint32_t k = 0; k < churn->objects.count; k++) {
			bt_object_release(churn->objects.items[k]);
		}
		bt_vec_finish(&churn->objects);
	}
	bt_vec_finish(&perf->churns);
	for (uint32_t i = 0; i < perf->templates.count; i++) {
		bt_bench_template_destroy(perf->templates.items[i]);
	}
	bt_vec_finish(&perf->templates);
	bt_vec_finish(&perf->pods);
	bt_arena_finish(&perf->arena);
	bt_living_finish(&perf->living);
}

/** The flags' setup with what the test case asks for; lists are copied. */
static struct bt_setup setup_of(struct bt_perf *perf, const struct bt_setup *flags)
{
	struct bt_setup setup = *flags;
	const struct bt_perf_test *test = perf->test;
	memset(&setup.feature_gates, 0, sizeof(setup.feature_gates));
	/* a test case that asks for an unknown gate would measure something else */
	setup.strict_feature_gates = setup.strict_feature_gates || test->gates.count != 0;
	for (uint32_t i = 0; i < test->gates.count; i++) {
		bt_vec_push(&setup.feature_gates.list, test->gates.items[i].data);
	}
	for (uint32_t i = 0; i < flags->feature_gates.list.count; i++) {
		bt_vec_push(&setup.feature_gates.list, flags->feature_gates.list.items[i]);
	}
	if (test->config_path.length != 0 && setup.config_path == NULL) {
		struct bt_str folder = test->config_path.data[0] == '/' ? (struct bt_str){NULL, 0}
									: perf->file->folder;
		setup.config_path = bt_arena_printf(
			&perf->arena, "%.*s%.*s", BT_STR_ARG(folder), BT_STR_ARG(test->config_path))
					    .data;
	}
	return setup;
}

int bt_perf_run(const struct bt_perf_file *file, const struct bt_perf_test *test,
	const struct bt_perf_workload *workload, const struct bt_setup *setup,
	struct bt_perf_result *out_result, struct berth_error *err)
{
	struct bt_perf perf = {
		.file = file, .test = test, .workload = workload, .result = out_result};
	double start = bt_bench_now_seconds();
	*out_result = (struct bt_perf_result){0};
	struct bt_setup own = setup_of(&perf, setup);
	int result = bt_living_init(&perf.living, &own, err);
	bt_vec_finish(&own.feature_gates.list);
	if (result == 0) {
		result = run_ops(&perf, err);
	}
	out_result->bound_count = perf.living.bound_count;
	out_result->failed_count = perf.living.failed_count;
	out_result->victim_count = perf.living.victim_count;
	out_result->load_seconds = bt_bench_now_seconds() - start - out_result->seconds;
	finish(&perf);
	return result;
}
