/* SPDX-License-Identifier: Apache-2.0 */
/** Runs a workload's operations, one after another. */
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "bench/bench_perf_private.h"

/** Virtual time of an attempt. */
#define ATTEMPT_NS BT_NS_PER_MS
/** The step of virtual time when there is no pod to try. */
#define IDLE_NS BT_NS_PER_SECOND
/**
 * If no pod was placed for this time, the remaining pods are never placed: the time is longer than
 * every backoff and flush.
 */
#define STUCK_NS (INT64_C(15) * 60 * BT_NS_PER_SECOND)
#define CHURN_INTERVAL_MS 500

/** --- selection of pods --- */

static int make_filter(struct bt_perf *perf, const bt_str_list *namespaces,
	const struct bt_json_value *selector, struct bt_perf_filter *out_filter,
	struct berth_error *err)
{
	struct bt_label_selector *decoded = BT_ARENA_NEW(&perf->arena, struct bt_label_selector);
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_reader reader;
	*out_filter = (struct bt_perf_filter){
		.namespaces = *namespaces, .has_selector = selector != NULL};
	if (selector == NULL) {
		return 0;
	}
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, selector);
	bt_json_reader_init(&reader, bt_arena_str(&perf->arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	int result = bt_message_decode_json(
		&bt_label_selector_message, &reader, &perf->arena, decoded, err);
	if (result == 0) {
		result = bt_selector_from_label_selector(
			decoded, &perf->arena, &out_filter->selector, err);
	}
	return result < 0 ? bt_error_wrap(err, result, "labelSelector") : 0;
}

static bool is_in(const struct bt_perf_filter *filter, struct bt_str namespace_)
{
	for (uint32_t i = 0; i < filter->namespaces.count; i++) {
		if (bt_str_equal(filter->namespaces.items[i], namespace_)) {
			return true;
		}
	}
	return filter->namespaces.count == 0;
}

/** Whether the filter selects the pod; false if object is NULL. */
static bool is_meant(const struct bt_perf_filter *filter, const struct bt_object *object)
{
	return object != NULL && is_in(filter, object->meta->namespace_) &&
		(!filter->has_selector ||
			bt_selector_matches(&filter->selector, &object->meta->labels));
}

static struct bt_object *find_pod(const struct bt_perf *perf, uint32_t index)
{
	const struct bt_perf_pod *pod = &perf->pods.items[index];
	return bt_scheduler_find_pod(perf->living.scheduler, pod->namespace_, pod->name);
}

/** Delete the pod, unless it is gone already. */
static int delete_pod(struct bt_perf *perf, uint32_t index, struct berth_error *err)
{
	struct bt_object *object = find_pod(perf, index);
	return object != NULL ? bt_living_delete_pod(&perf->living, bt_object_share(object), err)
			      : 0;
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

/** Delete the pods that are due. */
static int remove_pods(
	struct bt_perf *perf, struct bt_perf_removal *removal, struct berth_error *err)
{
	int result = 0;
	while (result == 0 && removal->at < removal->end &&
		removal->next_ns <= perf->living.now_ns) {
		struct bt_object *object = find_pod(perf, removal->at);
		if (is_meant(&removal->filter, object)) {
			result = delete_pod(perf, removal->at, err);
			removal->next_ns += removal->interval_ns;
		}
		removal->at++;
	}
	return result;
}

/** Advance the virtual time and make the changes that are due. The changes are not timed. */
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
	for (uint32_t i = 0; i < perf->removals.count; i++) {
		struct bt_perf_removal *removal = &perf->removals.items[i];
		if (removal->at == removal->end || removal->next_ns > perf->living.now_ns) {
			continue;
		}
		stop_watch(perf);
		int result = remove_pods(perf, removal, err);
		start_watch(perf);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static void note_attempt(struct bt_perf *perf, const struct bt_attempt *tried)
{
	if (tried->outcome == BT_ATTEMPT_BOUND) {
		perf->result->decisions = bt_bench_digest(
			perf->result->decisions, tried->namespace_, tried->name, tried->node_name);
		if (perf->is_collecting &&
			is_meant(&perf->collected,
				bt_scheduler_find_pod(
					perf->living.scheduler, tried->namespace_, tried->name))) {
			perf->result->pod_count++;
		}
	} else if (tried->outcome == BT_ATTEMPT_FAILED) {
		uint32_t index = bt_perf_find_pod(perf, tried->namespace_, tried->name);
		if (index != UINT32_MAX) {
			perf->pods.items[index].is_attempted = true;
		}
	}
}

/** Try a pod and advance the time by the attempt's duration, limit_ns at most. */
static int attempt(struct bt_perf *perf, int64_t limit_ns, struct bt_attempt *out_tried,
	struct berth_error *err)
{
	int result = bt_living_step(&perf->living, out_tried, err);
	if (result < 0) {
		return result;
	}
	note_attempt(perf, out_tried);
	int64_t step_ns = out_tried->outcome == BT_ATTEMPT_IDLE ? IDLE_NS : ATTEMPT_NS;
	return pass(perf, step_ns < limit_ns ? step_ns : limit_ns, err);
}

/**
 * Whether an operation no longer waits for this pod: the pod has a node, is deleted or is gated.
 * With only_attempted, a failed attempt is enough.
 */
static bool is_settled(const struct bt_perf *perf, uint32_t index, bool only_attempted)
{
	const struct bt_object *object = find_pod(perf, index);
	if (object == NULL || (only_attempted && perf->pods.items[index].is_attempted)) {
		return true;
	}
	const struct bt_pod *value = bt_object_value(object, BT_KIND_POD);
	return value->spec.node_name.length != 0 || value->spec.scheduling_gates.count != 0;
}

/** The pods that an operation waits for. */
struct wait {
	uint32_t first; /* the pods from index first to end - 1 */
	uint32_t end;
	struct bt_perf_filter filter;
	bool only_attempted; /* a failed attempt is enough */
};

/** Returns the index of the first pod from `at` on that is not settled; wait->end: none. */
static uint32_t skip_settled(const struct bt_perf *perf, uint32_t at, const struct wait *wait)
{
	while (at < wait->end &&
		(is_settled(perf, at, wait->only_attempted) ||
			!is_meant(&wait->filter, find_pod(perf, at)))) {
		at++;
	}
	return at;
}

static int stuck(
	const struct bt_perf *perf, uint32_t at, const struct wait *wait, struct berth_error *err)
{
	const struct bt_perf_pod *first = &perf->pods.items[at];
	uint32_t count = 0;
	while (at < wait->end) {
		count++;
		at = skip_settled(perf, at + 1, wait);
	}
	return bt_error_set(err, BERTH_ERR_STATE, "%u pod%s %.*s/%.*s", count,
		count == 1 ? " fits nowhere:" : "s fit nowhere, the first of them is",
		BT_STR_ARG(first->namespace_), BT_STR_ARG(first->name));
}

/** Run until the pods are placed or, with only_attempted, have been tried. */
static int wait_for(struct bt_perf *perf, const struct wait *wait, struct berth_error *err)
{
	int64_t placed_ns = perf->living.now_ns;
	uint32_t at = skip_settled(perf, wait->first, wait);
	while (at < wait->end) {
		struct bt_attempt tried;
		int result = attempt(perf, IDLE_NS, &tried, err);
		if (result < 0) {
			return result;
		}
		if (tried.outcome != BT_ATTEMPT_FAILED || wait->only_attempted) {
			uint32_t before = at;
			at = skip_settled(perf, at, wait);
			placed_ns = at != before || tried.outcome == BT_ATTEMPT_BOUND
				? perf->living.now_ns
				: placed_ns;
		}
		if (at < wait->end && perf->living.now_ns - placed_ns > STUCK_NS) {
			return stuck(perf, at, wait, err);
		}
	}
	return 0;
}

/** Run for a span of virtual time. */
static int run_for(struct bt_perf *perf, int64_t duration_ns, struct berth_error *err)
{
	int64_t end_ns = perf->living.now_ns + duration_ns;
	int result = 0;
	while (result == 0 && perf->living.now_ns < end_ns) {
		struct bt_attempt tried;
		result = attempt(perf, end_ns - perf->living.now_ns, &tried, err);
	}
	return result;
}

/** --- operations --- */

static uint32_t count_of(const struct bt_perf_op *op)
{
	return op->has_count ? (uint32_t)op->count : 1;
}

static int duration_of(const struct bt_perf_op *op, int64_t *out_ns, struct berth_error *err)
{
	int result = bt_duration_parse(op->duration, out_ns, err);
	return result < 0 ? bt_error_wrap(err, result, "duration") : 0;
}

/** Delete each pod that gets a node, and create another pod in its place. */
static int run_steady(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	int64_t duration_ns, uint32_t *out_placed, struct berth_error *err)
{
	uint32_t first = perf->pods.count - count_of(op);
	int64_t end_ns = perf->living.now_ns + duration_ns;
	int result = 0;
	*out_placed = 0;
	while (result == 0 && perf->living.now_ns < end_ns) {
		struct bt_attempt tried;
		result = attempt(perf, end_ns - perf->living.now_ns, &tried, err);
		uint32_t index = result == 0 && tried.outcome == BT_ATTEMPT_BOUND
			? bt_perf_find_pod(perf, tried.namespace_, tried.name)
			: UINT32_MAX;
		if (index == UINT32_MAX || index < first) {
			continue;
		}
		stop_watch(perf);
		(*out_placed)++;
		result = delete_pod(perf, index, err);
		if (result == 0) {
			result = bt_perf_create_pods(perf, op, namespace_, 1, err);
		}
		start_watch(perf);
	}
	return result == 0 && *out_placed == 0
		? bt_error_set(err, BERTH_ERR_STATE, "no pod got a node")
		: result;
}

static int place_pods(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	uint32_t first, uint32_t *out_placed, struct berth_error *err)
{
	const struct wait wait = {.first = first, .end = perf->pods.count};
	int64_t duration_ns = 0;
	*out_placed = perf->pods.count - first;
	int result = op->steady_state ? duration_of(op, &duration_ns, err) : 0;
	if (result < 0) {
		return result;
	}
	return duration_ns > 0 ? run_steady(perf, op, namespace_, duration_ns, out_placed, err)
			       : wait_for(perf, &wait, err);
}

static int run_pods(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	struct berth_error *err)
{
	uint32_t first = perf->pods.count;
	uint32_t placed = 0;
	if (op->collect_metrics && perf->is_collecting) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"collectMetrics: startCollectingMetrics came before, and no "
			"stopCollectingMetrics");
	}
	int result = bt_perf_create_pods(perf, op, namespace_, count_of(op), err);
	if (result == 0 && !op->skip_wait) {
		perf->is_timed = op->collect_metrics || perf->is_collecting;
		start_watch(perf);
		result = place_pods(perf, op, namespace_, first, &placed, err);
		stop_watch(perf);
		perf->is_timed = perf->is_collecting;
		perf->result->pod_count += op->collect_metrics ? placed : 0;
	}
	if (result == 0 && op->per_second != 0) {
		struct bt_perf_removal removal = {.at = first,
			.end = perf->pods.count,
			.next_ns = perf->living.now_ns,
			.interval_ns = BT_NS_PER_SECOND / op->per_second};
		bt_vec_push(&perf->removals, removal);
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
	int result = 0;
	for (uint32_t i = 0; i < count_of(op) && result == 0; i++) {
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

static int run_barrier(struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	struct wait wait = {
		.end = perf->pods.count, .only_attempted = bt_str_equal_c(op->stage, "Attempted")};
	int result = make_filter(perf, &op->namespaces, op->label_selector, &wait.filter, err);
	start_watch(perf);
	if (result == 0) {
		result = wait_for(perf, &wait, err);
	}
	stop_watch(perf);
	return result;
}

static int run_sleep(struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	int64_t duration_ns = 0;
	int result = duration_of(op, &duration_ns, err);
	start_watch(perf);
	if (result == 0) {
		result = run_for(perf, duration_ns, err);
	}
	stop_watch(perf);
	return result;
}

/**
 * Deletes the pods that the operation selects, all at once or at a rate while pods are tried. With
 * skip_wait, deletions at a rate continue during the next operations.
 */
static int run_delete_pods(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	struct bt_perf_removal removal = {.end = perf->pods.count, .next_ns = perf->living.now_ns};
	bt_str_list namespaces = {BT_ARENA_NEW(&perf->arena, struct bt_str), 1, true};
	namespaces.items[0] = op->namespace_;
	int result = make_filter(perf, &namespaces, op->label_selector, &removal.filter, err);
	if (result < 0 || op->per_second == 0) {
		return result < 0 ? result : remove_pods(perf, &removal, err);
	}
	removal.interval_ns = BT_NS_PER_SECOND / op->per_second;
	bt_vec_push(&perf->removals, removal);
	uint32_t index = perf->removals.count - 1;
	start_watch(perf);
	while (result == 0 && !op->skip_wait &&
		perf->removals.items[index].at < perf->removals.items[index].end) {
		int64_t pause_ns = perf->removals.items[index].next_ns - perf->living.now_ns;
		result = run_for(perf, pause_ns > ATTEMPT_NS ? pause_ns : ATTEMPT_NS, err);
	}
	stop_watch(perf);
	return result;
}

static int run_update_any(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	uint32_t count = count_of(op);
	int result = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		result = bt_perf_update_any(perf, op, i, count, err);
		if (result == 0 && op->per_second != 0) {
			start_watch(perf);
			result = run_for(perf, BT_NS_PER_SECOND / op->per_second, err);
			stop_watch(perf);
		}
	}
	return result;
}

static int start_collecting(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	if (perf->is_collecting) {
		return bt_error_set(err, BERTH_ERR_INVALID, "metrics are collected already");
	}
	perf->is_collecting = true;
	perf->is_timed = true;
	return make_filter(perf, &op->namespaces, op->label_selector, &perf->collected, err);
}

static int stop_collecting(struct bt_perf *perf, struct berth_error *err)
{
	if (!perf->is_collecting) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no metrics are collected");
	}
	perf->is_collecting = false;
	perf->is_timed = false;
	return 0;
}

static int run_op(struct bt_perf *perf, struct bt_perf_op *op, struct berth_error *err)
{
	switch (op->opcode) {
	case BT_PERF_CREATE_NODES:
		return bt_perf_create_nodes(perf, op, count_of(op), err);
	case BT_PERF_CREATE_NAMESPACES:
		return bt_perf_create_namespaces(perf, op, count_of(op), err);
	case BT_PERF_CREATE_PODS:
		return run_create_pods(perf, op, err);
	case BT_PERF_CREATE_POD_SETS:
		return run_create_pod_sets(perf, op, err);
	case BT_PERF_CHURN:
		start_churn(perf, op);
		return 0;
	case BT_PERF_BARRIER:
		return run_barrier(perf, op, err);
	case BT_PERF_SLEEP:
		return run_sleep(perf, op, err);
	case BT_PERF_DELETE_PODS:
		return run_delete_pods(perf, op, err);
	case BT_PERF_CREATE_ANY:
		return bt_perf_create_any(perf, op, count_of(op), err);
	case BT_PERF_UPDATE_ANY:
		return run_update_any(perf, op, err);
	case BT_PERF_CREATE_RESOURCE_DRIVER:
		return bt_perf_create_driver(perf, op, err);
	case BT_PERF_ALLOC_RESOURCE_CLAIMS:
		return bt_perf_allocate_claims(perf, op, err);
	case BT_PERF_START_COLLECTING_METRICS:
		return start_collecting(perf, op, err);
	case BT_PERF_STOP_COLLECTING_METRICS:
		return stop_collecting(perf, err);
	case BT_PERF__OPCODES:
		break;
	}
	return 0;
}

static int run_ops(struct bt_perf *perf, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < perf->test->op_count && result == 0; i++) {
		struct bt_perf_op *op = BT_ARENA_NEW(&perf->arena, struct bt_perf_op);
		result = bt_perf_op_read(
			&perf->arena, perf->test->ops[i].source, i + 1, perf->workload, op, err);
		if (result < 0) {
			return result;
		}
		result = run_op(perf, op, err);
		if (result < 0) {
			return bt_error_wrap(err, result, "op %u (%s)", op->number,
				bt_perf_opcode_name(op->opcode));
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
	for (uint32_t i = 0; i < perf->nodes.count; i++) {
		bt_object_release(perf->nodes.items[i]);
	}
	bt_vec_finish(&perf->nodes);
	bt_vec_finish(&perf->removals);
	bt_map_finish(&perf->pods_by_name);
	bt_vec_finish(&perf->pods);
	bt_claim_maker_destroy(perf->claims);
	bt_arena_finish(&perf->arena);
	bt_living_finish(&perf->living);
}

/** Returns a setup with the settings of the flags and of the test case. Lists are copied. */
static struct bt_setup setup_of(struct bt_perf *perf, const struct bt_setup *flags)
{
	struct bt_setup setup = *flags;
	const struct bt_perf_test *test = perf->test;
	memset(&setup.feature_gates, 0, sizeof(setup.feature_gates));
	/* Unknown gates are errors: without the gate, the test case would measure something else.
	 */
	setup.strict_feature_gates = setup.strict_feature_gates || test->gates.count != 0;
	for (uint32_t i = 0; i < test->gates.count; i++) {
		bt_vec_push(&setup.feature_gates.list, test->gates.items[i].data);
	}
	for (uint32_t i = 0; i < perf->workload->gates.count; i++) {
		bt_vec_push(&setup.feature_gates.list, perf->workload->gates.items[i].data);
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
	const struct bt_living_observer *observer, struct bt_perf_result *out_result,
	struct berth_error *err)
{
	struct bt_perf perf = {
		.file = file, .test = test, .workload = workload, .result = out_result};
	double start = bt_bench_now_seconds();
	*out_result = (struct bt_perf_result){0};
	struct bt_setup own = setup_of(&perf, setup);
	int result = bt_living_init(&perf.living, &own, err);
	bt_vec_finish(&own.feature_gates.list);
	perf.living.observer = observer;
	if (result == 0) {
		const struct bt_engine *engine = bt_scheduler_engine(perf.living.scheduler);
		perf.claims = bt_claim_maker_create(engine->state, &engine->config->gates);
		result = run_ops(&perf, err);
	}
	out_result->bound_count = perf.living.bound_count;
	out_result->failed_count = perf.living.failed_count;
	out_result->victim_count = perf.living.victim_count;
	out_result->end_ns = perf.living.now_ns;
	out_result->load_seconds = bt_bench_now_seconds() - start - out_result->seconds;
	finish(&perf);
	return result;
}
