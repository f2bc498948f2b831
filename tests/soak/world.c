/* SPDX-License-Identifier: Apache-2.0 */
/** The log, virtual time, and the connections between the parts. */
#include "soak/world.h"

#include "api/identity.h"

/** --- log and complaints --- */

static void append_time(const struct bt_sim *sim, struct bt_strbuf *out)
{
	int64_t millis = sim->clock.now_ns / BT_SIM_MILLISECOND;
	bt_strbuf_printf(out, "%lld.%03d ", (long long)(millis / 1000), (int)(millis % 1000));
}

void bt_sim_log(struct bt_sim *sim, const char *format, ...)
{
	struct bt_strbuf *line = &sim->recent[sim->report->log_lines++ % BT_SIM_RECENT_LINES];
	va_list arguments;
	bt_strbuf_reset(line);
	append_time(sim, line);
	va_start(arguments, format);
	bt_strbuf_vprintf(line, format, arguments);
	va_end(arguments);
	if (sim->options.log != NULL) {
		sim->options.log(sim->options.log_context, bt_strbuf_str(line));
	}
}

void bt_sim_complain(struct bt_sim *sim, struct bt_str complaint)
{
	struct bt_strbuf *text = &sim->report->complaint;
	uint64_t lines = sim->report->log_lines;
	if (sim->failed) {
		return;
	}
	sim->failed = true;
	bt_strbuf_append_c(text, "at ");
	append_time(sim, text);
	bt_strbuf_append_str(text, complaint);
	for (uint64_t i = lines > BT_SIM_RECENT_LINES ? lines - BT_SIM_RECENT_LINES : 0; i < lines;
		i++) {
		bt_strbuf_append_c(text, "\n  ");
		bt_strbuf_append_str(text, bt_strbuf_str(&sim->recent[i % BT_SIM_RECENT_LINES]));
	}
	bt_sim_log(sim, "COMPLAINT: %.*s", BT_STR_ARG(complaint));
}

/** --- randomness and time --- */

int64_t bt_sim_between_ms(struct bt_prng *prng, int64_t least_ms, int64_t most_ms)
{
	return least_ms + (int64_t)bt_prng_below(prng, (uint64_t)(most_ms - least_ms + 1));
}

bool bt_sim_chance(struct bt_prng *prng, uint32_t percent)
{
	return bt_prng_below(prng, 100) < percent;
}

void bt_sim_after(struct bt_sim *sim, int64_t delay_ns, bt_sim_action action, uint64_t argument)
{
	sim->busy++;
	bt_sim_clock_after(&sim->clock, delay_ns, action, sim, argument);
}

void bt_sim_run_until(struct bt_sim *sim, int64_t until_ns)
{
	while (!sim->failed && bt_sim_clock_step(&sim->clock, until_ns)) {
	}
}

void bt_sim_excuse(struct bt_sim *sim, struct bt_str node_name)
{
	for (uint32_t i = 0; i < sim->excused.count; i++) {
		if (bt_str_equal(sim->excused.items[i], node_name)) {
			return;
		}
	}
	bt_vec_push(&sim->excused, bt_arena_str(&sim->texts, node_name));
}

bool bt_sim_pod_is_excused(const struct bt_sim *sim, struct bt_str uid)
{
	for (uint32_t i = 0; i < sim->excused_pods.count; i++) {
		if (bt_str_equal(sim->excused_pods.items[i], uid)) {
			return true;
		}
	}
	return false;
}

void bt_sim_excuse_pod(struct bt_sim *sim, struct bt_str uid)
{
	if (uid.length != 0 && !bt_sim_pod_is_excused(sim, uid)) {
		bt_vec_push(&sim->excused_pods, bt_arena_str(&sim->texts, uid));
	}
}

/** --- attempts --- */

static void log_attempt(struct bt_sim *sim, const struct bt_attempt *attempt)
{
	static const char *const outcomes[] = {"idle", "bound", "waits", "failed", "skipped"};
	bt_sim_log(sim, "attempt %.*s/%.*s: %s %.*s%.*s %.*s", BT_STR_ARG(attempt->namespace_),
		BT_STR_ARG(attempt->name), outcomes[attempt->outcome],
		BT_STR_ARG(attempt->node_name), BT_STR_ARG(attempt->reason),
		BT_STR_ARG(attempt->message));
}

/** Counts the pod on the node while the writes of its binding are in flight, even if they fail
 * later. */
static void begin_waiting(struct bt_sim *sim, const struct bt_attempt *attempt)
{
	struct bt_object *pod = bt_object_store_find_object(
		&sim->watch.mirror, BT_KIND_POD, attempt->namespace_, attempt->name);
	BT_ASSERT(pod != NULL);
	struct bt_sim_binding binding = {
		bt_object_share(pod), bt_arena_str(&sim->texts, attempt->node_name), true};
	bt_vec_push(&sim->bindings, binding);
	sim->waiting++;
}

/**
 * Ends the wait of the attempt's pod. An attempt has only the name of the pod, and two pods with
 * this name may wait if the older pod was deleted. Prefers the pod that the scheduler wrote about
 * last, then a deleted pod, then the oldest pod.
 */
static void end_waiting(struct bt_sim *sim, const struct bt_attempt *attempt)
{
	const struct bt_pod *known = bt_object_store_find(
		&sim->watch.mirror, BT_KIND_POD, attempt->namespace_, attempt->name);
	uint32_t found = UINT32_MAX;
	int best = -1;
	sim->waiting--;
	for (uint32_t i = 0; i < sim->bindings.count; i++) {
		const struct bt_sim_binding *binding = &sim->bindings.items[i];
		const struct bt_object_meta *meta = binding->pod->meta;
		bool gone = known == NULL || !bt_str_equal(meta->uid, known->metadata.uid);
		int rank = bt_str_equal(meta->uid, sim->named_uid) ? 2 : gone;
		if (binding->is_waiting && rank > best &&
			bt_str_equal(meta->namespace_, attempt->namespace_) &&
			bt_str_equal(meta->name, attempt->name)) {
			found = i;
			best = rank;
		}
	}
	if (found != UINT32_MAX) {
		/* The failure came after Permit, so other members of the pod's gang are being
		 * bound. */
		if (attempt->outcome == BT_ATTEMPT_FAILED &&
			bt_str_equal_c(attempt->reason, "SchedulerError")) {
			bt_sim_group_lost_member(
				sim, bt_object_value(sim->bindings.items[found].pod, BT_KIND_POD));
		}
		bt_object_release(sim->bindings.items[found].pod);
		bt_vec_remove_ordered(&sim->bindings, found);
	}
}

/** bt_scheduler_writer.may_schedule: allows one attempt after each delay. */
static bool may_schedule(void *context)
{
	struct bt_sim *sim = context;
	bool may = sim->may_attempt;
	sim->may_attempt = false;
	sim->is_decided = !may;
	return may;
}

static void attempt(void *context, uint64_t argument BT_UNUSED)
{
	struct bt_sim *sim = context;
	sim->attempt_is_due = false;
	if (sim->in_attempt) {
		return; /* the current attempt waits for volumes */
	}
	sim->may_attempt = true;
	bt_sim_step(sim);
}

static void wake(void *context, uint64_t argument BT_UNUSED)
{
	struct bt_sim *sim = context;
	sim->due_ns = INT64_MAX;
	bt_sim_step(sim);
}

static void note_attempt(struct bt_sim *sim, const struct bt_attempt *attempt)
{
	log_attempt(sim, attempt);
	sim->report->attempts += !attempt->has_waited;
	if (attempt->outcome == BT_ATTEMPT_FAILED && sim->is_decided) {
		sim->freed_ns = sim->clock.now_ns;
	}
	if (attempt->has_waited) {
		end_waiting(sim, attempt);
	} else if (attempt->outcome == BT_ATTEMPT_WAITING) {
		begin_waiting(sim, attempt);
	}
}

void bt_sim_step(struct bt_sim *sim)
{
	if (sim->in_attempt) {
		return; /* the caller steps the scheduler when the attempt is over */
	}
	int64_t next_ns;
	struct bt_attempt done;
	sim->in_attempt = true;
	do {
		sim->is_decided = true; /* waiting pods were checked before */
		sim->named_uid = BT_STR("");
		next_ns = bt_scheduler_step(sim->scheduler, sim->clock.now_ns, &done);
		if (done.outcome != BT_ATTEMPT_IDLE) {
			note_attempt(sim, &done);
		}
	} while (done.outcome != BT_ATTEMPT_IDLE);
	sim->in_attempt = false;
	if (next_ns < sim->due_ns) {
		int64_t delay_ns = next_ns - sim->clock.now_ns;
		sim->due_ns = next_ns;
		bt_sim_clock_after(&sim->clock, delay_ns > 0 ? delay_ns : 0, wake, sim, 0);
	}
	if (!sim->attempt_is_due && bt_queue_can_pop(bt_scheduler_queue(sim->scheduler))) {
		sim->attempt_is_due = true;
		bt_sim_clock_after(&sim->clock,
			bt_sim_between_ms(&sim->times, 1, 4) * BT_SIM_MILLISECOND, attempt, sim, 0);
	}
}

/** --- events of the watch --- */

static void take_answer(struct bt_sim *sim, int result, struct berth_error *err)
{
	if (result < 0) {
		struct bt_strbuf complaint = {0};
		bt_strbuf_printf(
			&complaint, "the scheduler gives up: %s", berth_error_message(err));
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
		bt_strbuf_finish(&complaint);
	}
	berth_error_finish(err);
	bt_sim_step(sim);
}

static void log_observation(struct bt_sim *sim, const char *what, const struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;
	bt_sim_log(sim, "watch %s %s %.*s/%.*s (uid %.*s, version %.*s)", what,
		bt_kind_info(object->kind)->name, BT_STR_ARG(meta->namespace_),
		BT_STR_ARG(meta->name), BT_STR_ARG(meta->uid), BT_STR_ARG(meta->resource_version));
}

static bool same_labels(const struct bt_object *a, const struct bt_object *b)
{
	const struct bt_str_map *left = &a->meta->labels;
	const struct bt_str_map *right = &b->meta->labels;
	bool same = left->count == right->count;
	for (uint32_t i = 0; same && i < left->count; i++) {
		same = bt_str_equal(left->items[i].key, right->items[i].key) &&
			bt_str_equal(left->items[i].value, right->items[i].value);
	}
	return same;
}

static void note_change(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object)
{
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	bool both = old_object != NULL && new_object != NULL;
	if (both && same_labels(old_object, new_object)) {
		return;
	}
	if (kind == BT_KIND_NODE) {
		sim->node_change_ns = sim->clock.now_ns;
	}
	if (kind == BT_KIND_POD && old_object != NULL) {
		sim->pod_change_ns = sim->clock.now_ns;
	}
	if (kind == BT_KIND_RESOURCE_CLAIM && new_object == NULL &&
		bt_sim_claim_has_devices(sim, old_object->meta)) {
		sim->claim_lost_ns = sim->clock.now_ns;
	}
}

/**
 * Returns the object as the scheduler observes it; the caller owns a reference. NULL if object is
 * NULL. A pod is copied, because the scheduler keeps pods in a packed form, which is not possible
 * while the simulated store also has a reference.
 */
static struct bt_object *copy_for_scheduler(struct bt_sim *sim, struct bt_object *object)
{
	if (object == NULL) {
		return NULL;
	}
	return object->kind == BT_KIND_POD
		? bt_object_create_pod(bt_object_value(object, BT_KIND_POD), NULL, &sim->commons)
		: bt_object_share(object);
}

static void observe(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_sim *sim = context;
	struct berth_error err = BERTH_ERROR_INIT;
	note_change(sim, old_object, new_object);
	const char *what = old_object == NULL ? "add" : new_object != NULL ? "update" : "delete";
	log_observation(sim, what, new_object != NULL ? new_object : old_object);
	struct bt_object *observed = copy_for_scheduler(sim, new_object);
	int result =
		bt_scheduler_observe(sim->scheduler, old_object, observed, sim->clock.now_ns, &err);
	bt_object_release(observed);
	take_answer(sim, result, &err);
}

static void observe_lost(void *context, struct bt_object *last_known)
{
	struct bt_sim *sim = context;
	struct berth_error err = BERTH_ERROR_INIT;
	note_change(sim, last_known, NULL);
	log_observation(sim, "lost", last_known);
	int result = bt_scheduler_observe_lost(sim->scheduler, last_known, sim->clock.now_ns, &err);
	take_answer(sim, result, &err);
}

static void note(void *context, enum bt_kind kind, const char *what)
{
	bt_sim_log(context, "%s: %s", bt_kind_info(kind)->name, what);
}

/** --- controllers and node agents --- */

static void schedule_controllers(struct bt_sim *sim, int64_t at_ns);

static void run_cluster(void *context, uint64_t argument BT_UNUSED)
{
	struct bt_sim *sim = context;
	if (sim->clock.now_ns < sim->cluster_due_ns) {
		return; /* an earlier run replaces this one */
	}
	sim->cluster_due_ns = INT64_MAX;
	sim->cluster_is_due = false;
	int64_t next_ns = bt_sim_store_run(&sim->store);
	int64_t soon_ns = sim->clock.now_ns + BT_SIM_MILLISECOND;
	if (next_ns != INT64_MAX) {
		schedule_controllers(sim, next_ns > soon_ns ? next_ns : soon_ns);
	}
}

/** Run the controllers at at_ns or earlier. */
static void schedule_controllers(struct bt_sim *sim, int64_t at_ns)
{
	if (at_ns < sim->cluster_due_ns) {
		sim->cluster_due_ns = at_ns;
		bt_sim_clock_after(&sim->clock, at_ns - sim->clock.now_ns, run_cluster, sim, 0);
	}
}

static void store_changed(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_sim *sim = context;
	sim->report->changes++;
	bt_sim_watch_changed(&sim->watch, old_object, new_object);
	bt_sim_device_driver_changed(sim, old_object, new_object);
	bt_sim_devices_changed(sim, old_object, new_object);
	bt_sim_group_changed(sim, old_object, new_object);
	bool is_slow = sim->write_fault_one_in != 0 && bt_sim_chance(&sim->times, 10);
	sim->cluster_is_due = true;
	schedule_controllers(sim,
		sim->clock.now_ns +
			bt_sim_between_ms(&sim->times, 1, is_slow ? 3000 : 300) *
				BT_SIM_MILLISECOND);
}

void bt_sim_view_of_scheduler(struct bt_sim *sim, struct bt_sim_view *out_view)
{
	bt_sim_view_init(out_view, &sim->watch.mirror);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < sim->bindings.count; i++) {
		struct bt_sim_binding *binding = &sim->bindings.items[i];
		const struct bt_object_meta *meta = binding->pod->meta;
		const struct bt_pod *known = bt_object_store_find(
			&sim->watch.mirror, BT_KIND_POD, meta->namespace_, meta->name);
		bool expected = known != NULL && bt_str_equal(known->metadata.uid, meta->uid) &&
			!bt_pod_is_assigned(known);
		/*
		 * The scheduler forgets a pod that is being deleted at once, though its binding
		 * goes on.
		 */
		if (expected && known->metadata.deletion_timestamp == NULL) {
			bt_sim_view_place(out_view, binding->pod->value, binding->node_name);
		}
		if (expected || binding->is_waiting) {
			sim->bindings.items[kept++] = *binding;
		} else {
			bt_object_release(binding->pod);
		}
	}
	sim->bindings.count = kept;
}

/** --- init and finish --- */

static int create_config(struct bt_sim *sim, struct bt_gates gates, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	int result = 0;
	if (bt_sim_chance(&sim->changes, 30)) {
		result = bt_gates_set(&gates, BT_STR("SchedulerAsyncPreemption=false"), err);
	}
	bt_strbuf_printf(&json,
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
		"\"KubeSchedulerConfiguration\",\"podInitialBackoffSeconds\":1,"
		"\"podMaxBackoffSeconds\":%u,\"profiles\":[{\"schedulerName\":"
		"\"default-scheduler\",\"pluginConfig\":[{\"name\":\"VolumeBinding\",\"args\":{"
		"\"bindTimeoutSeconds\":8}}]},{\"schedulerName\":\"packed\",\"pluginConfig\":[{"
		"\"name\":\"VolumeBinding\",\"args\":{\"bindTimeoutSeconds\":8}},{\"name\":"
		"\"NodeResourcesFit\",\"args\":{\"scoringStrategy\":{\"type\":\"MostAllocated\","
		"\"resources\":[{\"name\":\"cpu\",\"weight\":1},{\"name\":\"memory\",\"weight\":1}"
		"]}}}]}]}",
		(unsigned)(2 + bt_prng_below(&sim->changes, 9)));
	if (result == 0) {
		result = bt_config_load(bt_strbuf_str(&json), &gates, &sim->config, err);
	}
	bt_strbuf_finish(&json);
	return result;
}

static int create_scheduler(
	struct bt_sim *sim, const struct bt_gates *gates, struct berth_error *err)
{
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	static const enum bt_tie_policy policies[] = {
		BT_TIE_HEAP, BT_TIE_FIRST_BY_NAME, BT_TIE_RANDOM};
	options.seed = bt_prng_next(&sim->changes);
	options.tie_policy = policies[bt_prng_below(&sim->changes, 3)];
	options.verify = sim->options.verify;
	sim->is_asynchronous = bt_sim_chance(&sim->changes, 75);
	bt_cluster_writes_init(&sim->writes, sim->store.cluster->api);
	struct bt_scheduler_writer writer = bt_sim_writer(sim);
	writer.may_schedule = may_schedule;
	int result = create_config(sim, *gates, err);
	if (result == 0) {
		result = bt_scheduler_create(sim->config, &options, &writer, &sim->scheduler, err);
	}
	return result;
}

/** Rates of faults. */
static void set_faults(struct bt_sim *sim)
{
	switch (sim->options.faults) {
	case BT_SIM_FAULTS_NONE:
		break;
	case BT_SIM_FAULTS_SOME:
		sim->write_fault_one_in = 30;
		sim->watch.late_one_in = 20;
		sim->watch.break_one_in = 400;
		break;
	case BT_SIM_FAULTS_ALL:
		sim->write_fault_one_in = 6;
		sim->watch.late_one_in = 8;
		sim->watch.break_one_in = 60;
		break;
	}
}

int bt_sim_init(struct bt_sim *sim, const struct bt_sim_options *options,
	struct bt_sim_report *report, struct berth_error *err)
{
	/* 2026-01-01T00:00:00Z */
	const int64_t start_ns = INT64_C(1767225600) * BT_SIM_SECOND;
	*sim = (struct bt_sim){.options = *options,
		.report = report,
		.due_ns = INT64_MAX,
		.cluster_due_ns = INT64_MAX};
	bt_sim_clock_init(&sim->clock, start_ns);
	bt_prng_init(&sim->changes, options->seed);
	bt_prng_init(&sim->faults, bt_prng_next(&sim->changes));
	bt_prng_init(&sim->times, bt_prng_next(&sim->changes));
	bt_sim_watch_init(
		&sim->watch, &sim->clock, &sim->store.objects, bt_prng_next(&sim->changes));
	sim->watch.observe = observe;
	sim->watch.lost = observe_lost;
	sim->watch.note = note;
	sim->watch.context = sim;
	set_faults(sim);
	struct bt_str group_gates = bt_str_from(bt_sim_group_gates(options->seed));
	struct bt_gates gates = bt_gates_default();
	sim->has_groups = group_gates.length != 0;
	int result = bt_gates_set(&gates, group_gates, err);
	if (result == 0) {
		result = bt_sim_store_init(
			&sim->store, &gates, bt_prng_next(&sim->changes), start_ns, err);
	}
	if (result == 0) {
		sim->clock.cluster_clock = &sim->store.cluster->clock;
		result = create_scheduler(sim, &gates, err);
	}
	if (result == 0) {
		sim->store.changed = store_changed;
		sim->store.context = sim;
		bt_sim_store_flush(&sim->store);
		bt_sim_step(sim);
	}
	return result;
}

void bt_sim_finish(struct bt_sim *sim)
{
	bt_scheduler_destroy(sim->scheduler);
	if (sim->writes.api != NULL) {
		bt_cluster_writes_finish(&sim->writes);
	}
	bt_pod_commons_finish(&sim->commons);
	bt_config_unref(sim->config);
	for (uint32_t i = 0; i < sim->bindings.count; i++) {
		bt_object_release(sim->bindings.items[i].pod);
	}
	bt_vec_finish(&sim->bindings);
	bt_sim_forget_answers(sim);
	bt_vec_finish(&sim->answers);
	for (uint32_t i = 0; i < sim->late_writes.count; i++) {
		bt_object_release(sim->late_writes.items[i].pod);
	}
	bt_vec_finish(&sim->late_writes);
	bt_vec_finish(&sim->excused);
	bt_vec_finish(&sim->excused_pods);
	bt_vec_finish(&sim->excused_pools);
	bt_vec_finish(&sim->torn_groups);
	bt_vec_finish(&sim->nominated);
	bt_sim_workload_finish(&sim->workload);
	bt_sim_watch_finish(&sim->watch);
	bt_sim_store_finish(&sim->store);
	bt_sim_clock_finish(&sim->clock);
	bt_arena_finish(&sim->texts);
	bt_arena_finish(&sim->scratch);
	for (uint32_t i = 0; i < BT_SIM_RECENT_LINES; i++) {
		bt_strbuf_finish(&sim->recent[i]);
	}
}
