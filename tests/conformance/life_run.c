/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Vectors of the whole scheduler over time: an object store and a clock that only the steps move.
 * Format: tests/conformance/README.md.
 */
#include <stdlib.h>

#include "api/identity.h"
#include "api/quantity.h"
#include "base/alloc.h"
#include "conformance/conformance.h"
#include "sched/scheduler.h"

/** 2026-01-01T00:00:00Z */
#define START_NS (INT64_C(1767225600) * 1000000000)

/** A change the store made that the scheduler has not seen yet. */
struct watch_event {
	struct bt_object *old_object;
	struct bt_object *new_object;
};

struct life_run {
	struct bt_arena arena;
	struct bt_json_writer writer;
	struct bt_object_store store;
	struct bt_scheduler *scheduler;
	BT_VEC(struct watch_event) pending;
	BT_VEC(struct bt_str) deleted; /* pods that vanished in this step */
	uint64_t resource_version;
	int64_t now_ns;
};

/** --- the object store --- */

static void put(struct life_run *run, struct bt_object *old_object, struct bt_object *new_object)
{
	struct watch_event event = {old_object != NULL ? bt_object_share(old_object) : NULL,
		bt_object_share(new_object)};
	bt_object_store_put(&run->store, new_object);
	bt_vec_push(&run->pending, event);
}

static struct bt_str next_version(struct life_run *run)
{
	return bt_arena_printf(&run->arena, "%llu", (unsigned long long)++run->resource_version);
}

/** A changed copy of a pod. */
static void put_pod(struct life_run *run, struct bt_object *old_object, struct bt_pod pod)
{
	pod.metadata.resource_version = next_version(run);
	put(run, old_object, bt_object_create(BT_KIND_POD, &pod));
}

static struct bt_object *find_pod(
	struct life_run *run, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find_object(&run->store, BT_KIND_POD, namespace_, name);
}

static void remove_object(
	struct life_run *run, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_object *object = bt_object_store_find_object(&run->store, kind, namespace_, name);
	if (object == NULL) {
		return;
	}
	struct watch_event event = {bt_object_share(object), NULL};
	(void)bt_object_store_delete(&run->store, kind, namespace_, name); /* it was found */
	bt_vec_push(&run->pending, event);
}

/** Everything the store has to tell, until it is quiet. */
static int deliver(struct life_run *run, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < run->pending.count; i++) {
		struct watch_event event = run->pending.items[i];
		if (result == 0) {
			result = bt_scheduler_observe(run->scheduler, event.old_object,
				event.new_object, run->now_ns, err);
		}
		bt_object_release(event.old_object);
		bt_object_release(event.new_object);
	}
	run->pending.count = 0;
	return result;
}

/** --- what the scheduler writes --- */

static struct bt_str pod_key(struct life_run *run, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(&run->arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

static int write_binding(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct life_run *run = context;
	struct bt_object *object = find_pod(run, pod->namespace_, pod->name);
	if (object == NULL) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "pods \"%.*s\" not found", BT_STR_ARG(pod->name));
	}
	struct bt_pod bound = *(const struct bt_pod *)object->value;
	bound.spec.node_name = node_name;
	bound.status.phase = BT_STR("Running");
	put_pod(run, object, bound);
	return 0;
}

static int write_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err BT_UNUSED)
{
	struct life_run *run = context;
	struct bt_object *object = find_pod(run, pod->metadata.namespace_, pod->metadata.name);
	if (object == NULL) {
		return 0;
	}
	struct bt_time now = {run->now_ns / 1000000000, 0, true};
	struct bt_pod changed = *(const struct bt_pod *)object->value;
	bool differs = false;
	if (condition != NULL) {
		bt_pod_condition_list conditions = bt_pod_conditions_set(
			&changed.status, condition, &now, &run->arena, &differs);
		changed.status.conditions.items = conditions.items;
		changed.status.conditions.count = conditions.count;
		changed.status.conditions.present = true;
	}
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(
			changed.status.nominated_node_name, nomination->nominated_node_name)) {
		changed.status.nominated_node_name =
			bt_arena_str(&run->arena, nomination->nominated_node_name);
		differs = true;
	}
	if (differs) {
		put_pod(run, object, changed);
	}
	return 0;
}

static int delete_victim(void *context, struct bt_preemption_ticket ticket BT_UNUSED,
	const struct bt_preemption_pod *victim, struct berth_error *err BT_UNUSED)
{
	struct life_run *run = context;
	bt_vec_push(&run->deleted, pod_key(run, victim->namespace_, victim->name));
	remove_object(run, BT_KIND_POD, victim->namespace_, victim->name);
	return 0;
}

/** --- steps --- */

static int apply_object(struct life_run *run, struct bt_str json, struct berth_error *err)
{
	struct bt_object *object;
	int result = bt_object_decode(json, &object, err);
	if (result < 0) {
		return result;
	}
	struct bt_object *old_object = bt_object_store_find_object(
		&run->store, object->kind, object->meta->namespace_, object->meta->name);
	if (object->kind == BT_KIND_POD) {
		struct bt_pod pod = *(const struct bt_pod *)object->value;
		if (old_object != NULL) {
			const struct bt_pod *old_pod = old_object->value;
			pod.metadata.uid = old_pod->metadata.uid;
			pod.spec.node_name = old_pod->spec.node_name;
			pod.status = old_pod->status;
		}
		put_pod(run, old_object, pod);
		bt_object_release(object);
	} else {
		put(run, old_object, object);
	}
	return deliver(run, err);
}

static int delete_object(
	struct life_run *run, const struct bt_json_value *step, struct berth_error *err)
{
	struct bt_str kind_name = bt_json_find_str(step, "kind");
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (bt_str_equal_c(kind_name, bt_kind_info((enum bt_kind)kind)->name)) {
			remove_object(run, (enum bt_kind)kind, bt_json_find_str(step, "namespace"),
				bt_json_find_str(step, "name"));
			return deliver(run, err);
		}
	}
	return bt_error_set(
		err, BERTH_ERR_INVALID, "delete: unknown kind \"%.*s\"", BT_STR_ARG(kind_name));
}

static int advance(struct life_run *run, const struct bt_json_value *step, struct berth_error *err)
{
	const struct bt_json_value *seconds = bt_json_find(step, "seconds");
	struct bt_quantity amount;
	/* Whole or decimal, as a quantity is written; a step moves the clock by milliseconds at
	 * least and by less than a century. */
	if (seconds == NULL || seconds->type != BT_JSON_NUMBER ||
		bt_quantity_parse(seconds->text, &run->arena, &amount, NULL) < 0 ||
		bt_quantity_milli(&amount) < 0 ||
		bt_quantity_milli(&amount) > INT64_C(3000000000000)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "advance: seconds must be a number");
	}
	run->now_ns += bt_quantity_milli(&amount) * 1000000;
	struct bt_queue *queue = bt_scheduler_queue(run->scheduler);
	bt_queue_flush_backoff_completed(queue, run->now_ns);
	bt_queue_flush_unschedulable_leftover(queue, run->now_ns);
	return 0;
}

static void write_member(struct life_run *run, const char *name, struct bt_str value)
{
	if (value.length != 0) {
		bt_json_write_member(&run->writer, name, value);
	}
}

static void write_condition(struct life_run *run, const struct bt_pod *pod)
{
	for (uint32_t i = 0; i < pod->status.conditions.count; i++) {
		const struct bt_pod_condition *condition = &pod->status.conditions.items[i];
		if (bt_str_equal_c(condition->type, "PodScheduled")) {
			write_member(run, "reason", condition->reason);
			write_member(run, "message", condition->message);
		}
	}
}

static void write_attempt(struct life_run *run, const struct bt_attempt *attempt)
{
	if (attempt->outcome == BT_ATTEMPT_IDLE) {
		bt_json_write_name_c(&run->writer, "idle");
		bt_json_write_bool(&run->writer, true);
		return;
	}
	const struct bt_object *object = find_pod(run, attempt->namespace_, attempt->name);
	write_member(run, "pod", pod_key(run, attempt->namespace_, attempt->name));
	write_member(run, "node", attempt->node_name);
	if (object != NULL) {
		const struct bt_pod *pod = object->value;
		if (attempt->outcome == BT_ATTEMPT_FAILED) {
			write_condition(run, pod);
		}
		write_member(run, "nominatedNodeName", pod->status.nominated_node_name);
	}
	if (run->deleted.count != 0) {
		qsort(run->deleted.items, run->deleted.count, sizeof(run->deleted.items[0]),
			bt_str_compare_qsort);
		bt_json_write_name_c(&run->writer, "deleted");
		bt_json_begin_array(&run->writer);
		for (uint32_t i = 0; i < run->deleted.count; i++) {
			bt_json_write_str(&run->writer, run->deleted.items[i]);
		}
		bt_json_end_array(&run->writer);
	}
}

/** The recorded choice counts as right where several are equally good, and is the one to go on
 * with. */
static int schedule(
	struct life_run *run, const struct bt_json_value *expected, struct berth_error *err)
{
	struct bt_str node = bt_json_find_str(expected, "node");
	bt_scheduler_prefer_node(run->scheduler,
		node.length != 0 ? node : bt_json_find_str(expected, "nominatedNodeName"));
	run->deleted.count = 0;
	struct bt_attempt attempt;
	(void)bt_scheduler_step(run->scheduler, run->now_ns, &attempt);
	attempt.namespace_ = bt_arena_str(&run->arena, attempt.namespace_);
	attempt.name = bt_arena_str(&run->arena, attempt.name);
	attempt.node_name = bt_arena_str(&run->arena, attempt.node_name);
	int result = deliver(run, err);
	write_attempt(run, &attempt);
	return result;
}

/** --- the queues --- */

struct listed_entry {
	struct bt_str key;
	const struct bt_queue_entry *entry;
};

struct listing {
	struct life_run *run;
	BT_VEC(struct listed_entry) entries;
};

static bool list_entry(void *context, const struct bt_queue_entry *entry)
{
	struct listing *listing = context;
	struct listed_entry listed = {
		pod_key(listing->run, entry->pod.namespace_, entry->pod.name), entry};
	bt_vec_push(&listing->entries, listed);
	return true;
}

static int compare_listed(const void *a, const void *b)
{
	return bt_str_compare(
		((const struct listed_entry *)a)->key, ((const struct listed_entry *)b)->key);
}

static void write_rejectors(
	struct life_run *run, const char *member, uint32_t profile, const struct bt_rejectors *set)
{
	struct bt_queue *queue = bt_scheduler_queue(run->scheduler);
	struct bt_str names[BT_REJECTOR__COUNT];
	uint32_t count = 0;
	for (uint32_t i = bt_rejectors_next(set, 0); i < BT_REJECTOR__COUNT;
		i = bt_rejectors_next(set, i + 1)) {
		names[count++] = bt_queue_rejector_name(queue, profile, i);
	}
	if (count == 0) {
		return;
	}
	qsort(names, count, sizeof(names[0]), bt_str_compare_qsort);
	bt_json_write_name_c(&run->writer, member);
	bt_json_begin_array(&run->writer);
	for (uint32_t i = 0; i < count; i++) {
		bt_json_write_str(&run->writer, names[i]);
	}
	bt_json_end_array(&run->writer);
}

static void write_entry(
	struct life_run *run, const struct listed_entry *listed, enum bt_queue_place place)
{
	struct bt_queue *queue = bt_scheduler_queue(run->scheduler);
	const struct bt_queue_entry *entry = listed->entry;
	int64_t until_ns;
	bt_json_begin_object(&run->writer);
	write_member(run, "pod", listed->key);
	bt_json_write_name_c(&run->writer, "attempts");
	bt_json_write_int64(&run->writer, entry->attempts);
	write_rejectors(run, "unschedulablePlugins", entry->profile, &entry->unschedulable_plugins);
	write_rejectors(run, "pendingPlugins", entry->profile, &entry->pending_plugins);
	if (bt_queue_entry_is_gated(entry)) {
		write_member(run, "gatingPlugin",
			bt_queue_rejector_name(queue, entry->profile, entry->gating_plugin));
	}
	if ((place == BT_QUEUE_BACKOFF || place == BT_QUEUE_ERROR_BACKOFF) &&
		bt_queue_backoff_until(queue, entry, &until_ns)) {
		bt_json_write_name_c(&run->writer, "backoffUntil");
		bt_json_write_int64(&run->writer, (until_ns - START_NS) / 1000000000);
	}
	bt_json_end_object(&run->writer);
}

static void write_queues(struct life_run *run)
{
	static const struct {
		const char *name;
		enum bt_queue_place place;
	} places[] = {{"active", BT_QUEUE_ACTIVE}, {"backoff", BT_QUEUE_BACKOFF},
		{"errorBackoff", BT_QUEUE_ERROR_BACKOFF},
		{"unschedulable", BT_QUEUE_UNSCHEDULABLE}};
	bt_json_write_name_c(&run->writer, "queues");
	bt_json_begin_object(&run->writer);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(places); i++) {
		struct listing listing = {.run = run};
		bt_queue_for_each(
			bt_scheduler_queue(run->scheduler), places[i].place, list_entry, &listing);
		if (listing.entries.count > 1) {
			qsort(listing.entries.items, listing.entries.count,
				sizeof(listing.entries.items[0]), compare_listed);
		}
		if (listing.entries.count != 0) {
			bt_json_write_name_c(&run->writer, places[i].name);
			bt_json_begin_array(&run->writer);
			for (uint32_t k = 0; k < listing.entries.count; k++) {
				write_entry(run, &listing.entries.items[k], places[i].place);
			}
			bt_json_end_array(&run->writer);
		}
		bt_vec_finish(&listing.entries);
	}
	bt_json_end_object(&run->writer);
}

static bool has_queued_pods(struct life_run *run)
{
	struct bt_queue *queue = bt_scheduler_queue(run->scheduler);
	uint32_t count = 0;
	for (uint32_t place = 0; place < BT_QUEUE__PLACES; place++) {
		count += bt_queue_count(queue, (enum bt_queue_place)place);
	}
	return count != 0;
}

static int run_step(struct life_run *run, const struct bt_json_value *step,
	const struct bt_json_value *expected, struct berth_error *err)
{
	struct bt_str op = bt_json_find_str(step, "op");
	if (bt_str_equal_c(op, "apply")) {
		struct bt_strbuf json = {0};
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &json, 0);
		const struct bt_json_value *object = bt_json_find(step, "object");
		if (object != NULL) {
			bt_json_write_value(&writer, object);
		}
		int result = apply_object(run, bt_strbuf_str(&json), err);
		bt_strbuf_finish(&json);
		return result;
	}
	if (bt_str_equal_c(op, "delete")) {
		return delete_object(run, step, err);
	}
	if (bt_str_equal_c(op, "advance")) {
		return advance(run, step, err);
	}
	if (bt_str_equal_c(op, "schedule")) {
		return schedule(run, expected, err);
	}
	if (bt_str_equal_c(op, "queues")) {
		if (has_queued_pods(run)) {
			write_queues(run);
		}
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "unknown step \"%.*s\"", BT_STR_ARG(op));
}

/** --- a whole case --- */

static int create_scheduler(struct life_run *run, const struct bt_json_value *config_value,
	bool verify, struct berth_error *refused)
{
	struct bt_config *config = NULL;
	struct bt_gates gates = bt_gates_default();
	/* As recorded: preemption is complete within the step. */
	int result = bt_gates_set(&gates, BT_STR("SchedulerAsyncPreemption=false"), refused);
	if (result < 0) {
		return result;
	}
	if (config_value != NULL && config_value->type == BT_JSON_OBJECT) {
		struct bt_strbuf json = {0};
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &json, 0);
		bt_json_write_value(&writer, config_value);
		result = bt_config_load(bt_strbuf_str(&json), &gates, &config, refused);
		bt_strbuf_finish(&json);
	} else {
		config = bt_config_create_default(&gates);
	}
	if (result == 0) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		options.tie_policy = BT_TIE_FIRST_BY_NAME;
		options.verify = verify;
		struct bt_scheduler_writer writer = {
			.context = run,
			.bind = write_binding,
			.patch_status = write_status,
			.delete_pod = delete_victim,
		};
		result = bt_scheduler_create(config, &options, &writer, &run->scheduler, refused);
	}
	bt_config_unref(config);
	return result;
}

static int run_steps(struct life_run *run, const struct bt_json_value *steps,
	const struct bt_json_value *expected, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; result == 0 && i < steps->count; i++) {
		const struct bt_json_value *answer =
			expected != NULL && i < expected->count ? expected->elements[i] : NULL;
		bt_json_begin_object(&run->writer);
		result = run_step(run, steps->elements[i], answer, err);
		bt_json_end_object(&run->writer);
		if (result < 0) {
			result = bt_error_wrap(err, result, "steps[%u]", i);
		}
	}
	return result;
}

static void finish_run(struct life_run *run)
{
	bt_scheduler_destroy(run->scheduler);
	bt_object_store_finish(&run->store);
	bt_vec_finish(&run->pending);
	bt_vec_finish(&run->deleted);
	bt_arena_finish(&run->arena);
}

int bt_life_answer(const struct bt_json_value *case_value, const struct bt_json_value *expected,
	bool verify, struct bt_strbuf *out, struct berth_error *err)
{
	struct life_run run = {.now_ns = START_NS};
	bt_arena_init(&run.arena, 0);
	bt_object_store_init(&run.store);
	bt_json_writer_init(&run.writer, out, 0);
	bt_json_begin_object(&run.writer);
	bt_json_write_name_c(&run.writer, "name");
	bt_json_write_str(&run.writer, bt_json_find_str(case_value, "name"));
	struct berth_error refused = BERTH_ERROR_INIT;
	int result = 0;
	if (create_scheduler(&run, bt_json_find(case_value, "config"), verify, &refused) < 0) {
		bt_json_write_name_c(&run.writer, "error");
		bt_json_write_c(&run.writer, berth_error_message(&refused));
	} else {
		bt_json_write_name_c(&run.writer, "results");
		bt_json_begin_array(&run.writer);
		result = run_steps(&run, bt_json_find(case_value, "steps"),
			bt_json_find(expected, "results"), err);
		bt_json_end_array(&run.writer);
	}
	berth_error_finish(&refused);
	bt_json_end_object(&run.writer);
	finish_run(&run);
	return result;
}
