/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs vectors of the whole scheduler over time, against an object store and a clock that only
 * steps change. Format: tests/conformance/README.md.
 */
#include <stdlib.h>

#include "api/quantity.h"
#include "base/alloc.h"
#include "codec/json_edit.h"
#include "conformance/life_api.h"
#include "state/pod_groups.h"

/** 2026-01-01T00:00:00Z */
#define START_NS (INT64_C(1767225600) * 1000000000)

struct life_run {
	struct life_api api;
	struct bt_json_writer writer;
	/**
	 * Whether to write the nomination of a pod that was popped and dropped without an attempt.
	 * Recordings with feature gates or extenders have only the pod's name.
	 */
	bool shows_dropped;
	BT_VEC(struct bt_attempt) ended; /* attempts of the step, in the order they began */
};

/** --- steps --- */

static int apply_object(struct life_run *run, struct bt_str json, struct berth_error *err)
{
	struct bt_object *object;
	int result = bt_object_decode(json, &object, err);
	if (result < 0) {
		return result;
	}
	life_api_apply(&run->api, object);
	return life_api_deliver(&run->api, err);
}

static int delete_object(
	struct life_run *run, const struct bt_json_value *step, struct berth_error *err)
{
	struct bt_str kind_name = bt_json_find_str(step, "kind");
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (bt_str_equal_c(kind_name, bt_kind_info((enum bt_kind)kind)->name)) {
			life_api_remove(&run->api, (enum bt_kind)kind,
				bt_json_find_str(step, "namespace"),
				bt_json_find_str(step, "name"));
			return life_api_deliver(&run->api, err);
		}
	}
	return bt_error_set(
		err, BERTH_ERR_INVALID, "delete: unknown kind \"%.*s\"", BT_STR_ARG(kind_name));
}

static int advance(struct life_run *run, const struct bt_json_value *step, struct berth_error *err)
{
	const struct bt_json_value *seconds = bt_json_find(step, "seconds");
	struct bt_quantity amount;
	/*
	 * Seconds are a whole or decimal number, parsed as a quantity with a resolution of
	 * milliseconds. The limit is just below a century.
	 */
	if (seconds == NULL || seconds->type != BT_JSON_NUMBER ||
		bt_quantity_parse(seconds->text, &run->api.arena, &amount, NULL) < 0 ||
		bt_quantity_milli(&amount) < 0 ||
		bt_quantity_milli(&amount) > INT64_C(3000000000000)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "advance: seconds must be a number");
	}
	run->api.now_ns += bt_quantity_milli(&amount) * 1000000;
	struct bt_queue *queue = bt_scheduler_queue(run->api.scheduler);
	bt_queue_flush_backoff_completed(queue, run->api.now_ns);
	bt_queue_flush_unschedulable_leftover(queue, run->api.now_ns);
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

static void write_deleted(struct life_run *run)
{
	if (run->api.deleted.count != 0) {
		qsort(run->api.deleted.items, run->api.deleted.count,
			sizeof(run->api.deleted.items[0]), bt_str_compare_qsort);
		bt_json_write_name_c(&run->writer, "deleted");
		bt_json_begin_array(&run->writer);
		for (uint32_t i = 0; i < run->api.deleted.count; i++) {
			bt_json_write_str(&run->writer, run->api.deleted.items[i]);
		}
		bt_json_end_array(&run->writer);
	}
}

static void write_attempt(struct life_run *run, const struct bt_attempt *attempt)
{
	const struct bt_object *object =
		life_api_find_pod(&run->api, attempt->namespace_, attempt->name);
	const struct bt_pod *stored = object != NULL ? object->value : NULL;
	/* A binding may take effect although its answer is an error. */
	bool is_bound = stored != NULL && stored->spec.node_name.length != 0;
	write_member(run, "pod", life_key(&run->api, attempt->namespace_, attempt->name));
	write_member(run, "node", is_bound ? stored->spec.node_name : attempt->node_name);
	if (attempt->outcome == BT_ATTEMPT_FAILED && stored != NULL && !is_bound) {
		write_condition(run, stored);
	}
	if (stored != NULL && (attempt->outcome != BT_ATTEMPT_SKIPPED || run->shows_dropped)) {
		write_member(run, "nominatedNodeName", stored->status.nominated_node_name);
	}
}

/** Writes the placements that were scored for a group, with the scores of each plugin. */
static void write_placements(struct life_run *run, const struct bt_group_attempt *group)
{
	if (group->placement_count == 0) {
		return;
	}
	bt_json_write_name_c(&run->writer, "placements");
	bt_json_begin_array(&run->writer);
	for (uint32_t i = 0; i < group->placement_count; i++) {
		const struct bt_scored_placement *placement = &group->placements[i];
		bt_json_begin_object(&run->writer);
		bt_json_write_member(&run->writer, "placement", placement->name);
		bt_json_write_name_c(&run->writer, "plugins");
		bt_json_begin_object(&run->writer);
		for (uint32_t p = 0; p < group->plugin_count; p++) {
			bt_json_write_name(&run->writer, group->plugin_names[p]);
			bt_json_write_int64(&run->writer, placement->scores[p]);
		}
		bt_json_end_object(&run->writer);
		bt_json_write_name_c(&run->writer, "total");
		bt_json_write_int64(&run->writer, placement->total);
		bt_json_end_object(&run->writer);
	}
	bt_json_end_array(&run->writer);
}

static void write_group(struct life_run *run)
{
	const struct bt_group_attempt *group = bt_scheduler_group_attempt(run->api.scheduler);
	const struct bt_condition *condition = &run->api.condition;
	write_member(run, "pod", life_key(&run->api, group->namespace_, group->pod_name));
	write_member(run, "podGroup", life_key(&run->api, group->namespace_, group->name));
	if (run->ended.count != 0) {
		bt_json_write_name_c(&run->writer, "members");
		bt_json_begin_array(&run->writer);
		for (uint32_t i = 0; i < run->ended.count; i++) {
			bt_json_begin_object(&run->writer);
			write_attempt(run, &run->ended.items[i]);
			bt_json_end_object(&run->writer);
		}
		bt_json_end_array(&run->writer);
	}
	write_placements(run, group);
	if (run->api.has_condition) {
		bt_json_write_name_c(&run->writer, "condition");
		bt_json_begin_object(&run->writer);
		bt_json_write_member(&run->writer, "status", condition->status);
		bt_json_write_member(&run->writer, "reason", condition->reason);
		bt_json_write_member(&run->writer, "message", condition->message);
		if (condition->observed_generation != 0) {
			bt_json_write_name_c(&run->writer, "observedGeneration");
			bt_json_write_int64(&run->writer, condition->observed_generation);
		}
		bt_json_end_object(&run->writer);
	}
}

/** Adds an attempt, or replaces the entry of an attempt that began earlier in this step. */
static void note_attempt(struct life_run *run, const struct bt_attempt *done)
{
	struct bt_arena *arena = &run->api.arena;
	struct bt_attempt attempt = *done;
	attempt.namespace_ = bt_arena_str(arena, done->namespace_);
	attempt.name = bt_arena_str(arena, done->name);
	attempt.uid = bt_arena_str(arena, done->uid);
	attempt.node_name = bt_arena_str(arena, done->node_name);
	for (uint32_t i = 0; i < run->ended.count; i++) {
		if (bt_str_equal(run->ended.items[i].uid, attempt.uid)) {
			run->ended.items[i] = attempt;
			return;
		}
	}
	bt_vec_push(&run->ended, attempt);
}

/** Resumes bindings that wait for events of their own writes. Returns false if no binding waits. */
static bool resume_waiting(struct life_run *run)
{
	bool any = false;
	for (uint32_t i = 0; i < run->ended.count; i++) {
		if (run->ended.items[i].outcome == BT_ATTEMPT_WAITING) {
			bt_scheduler_resume(run->api.scheduler, run->ended.items[i].uid);
			any = true;
		}
	}
	return any;
}

/**
 * Runs the step "schedule". If several choices are equally good, prefers the recorded one, so that
 * later steps start from the recorded state.
 */
static int schedule(
	struct life_run *run, const struct bt_json_value *expected, struct berth_error *err)
{
	struct bt_str node = bt_json_find_str(expected, "node");
	bt_scheduler_prefer_node(run->api.scheduler,
		node.length != 0 ? node : bt_json_find_str(expected, "nominatedNodeName"));
	run->api.deleted.count = 0;
	run->api.has_condition = false;
	run->ended.count = 0;
	bool is_group = false;
	bool is_idle = true;
	bool goes_on;
	int result = 0;
	run->api.may_schedule = true;
	/*
	 * The step ends when all consequences of the attempt are complete. Events are delivered
	 * after the cycle and its bindings, or earlier if a binding waits for them.
	 */
	do {
		struct bt_attempt done;
		do {
			(void)bt_scheduler_step(run->api.scheduler, run->api.now_ns, &done);
			if (done.outcome != BT_ATTEMPT_IDLE) {
				is_idle = false;
				is_group |= done.group_name.length != 0;
				if (done.outcome != BT_ATTEMPT_SKIPPED ||
					done.group_name.length == 0) {
					note_attempt(run, &done);
				}
			}
		} while (done.outcome != BT_ATTEMPT_IDLE);
		goes_on = run->api.pending.count != 0;
		result = life_api_deliver(&run->api, err);
		goes_on = goes_on && resume_waiting(run);
	} while (result == 0 && goes_on);
	if (is_idle) {
		bt_json_write_name_c(&run->writer, "idle");
		bt_json_write_bool(&run->writer, true);
	} else if (is_group) {
		write_group(run);
	} else {
		write_attempt(run, &run->ended.items[0]);
	}
	write_deleted(run);
	return result;
}

/** --- the queues --- */

struct listed_entry {
	struct bt_str key;
	const struct bt_queue_entry *entry;
};

struct listed_group {
	struct bt_str key;
	const struct bt_group_members *members;
};

struct listing {
	struct life_run *run;
	BT_VEC(struct listed_entry) entries;
};

static bool list_entry(void *context, const struct bt_queue_entry *entry)
{
	struct listing *listing = context;
	struct listed_entry listed = {
		life_key(&listing->run->api, entry->pod.namespace_, entry->pod.name), entry};
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
	struct bt_queue *queue = bt_scheduler_queue(run->api.scheduler);
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
	struct bt_queue *queue = bt_scheduler_queue(run->api.scheduler);
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
		bt_queue_for_each(bt_scheduler_queue(run->api.scheduler), places[i].place,
			list_entry, &listing);
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

/** --- claims --- */

static void write_strings(
	struct life_run *run, const char *member, const struct bt_str *items, uint32_t count)
{
	if (count != 0) {
		bt_json_write_name_c(&run->writer, member);
		bt_json_begin_array(&run->writer);
		for (uint32_t i = 0; i < count; i++) {
			bt_json_write_str(&run->writer, items[i]);
		}
		bt_json_end_array(&run->writer);
	}
}

static void write_claim(struct life_run *run, const struct bt_resource_claim *claim)
{
	struct bt_arena *arena = &run->api.arena;
	const struct bt_allocation_result *allocation = claim->status.allocation;
	uint32_t count = allocation != NULL ? allocation->devices.results.count : 0;
	struct bt_str *devices = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);
	uint32_t user_count = claim->status.reserved_for.count;
	struct bt_str *users = BT_ARENA_NEW_ARRAY(arena, struct bt_str, user_count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		devices[i] = bt_arena_printf(arena, "%.*s=%.*s/%.*s", BT_STR_ARG(result->request),
			BT_STR_ARG(result->pool), BT_STR_ARG(result->device));
	}
	for (uint32_t i = 0; i < user_count; i++) {
		users[i] = life_key(&run->api, claim->status.reserved_for.items[i].resource,
			claim->status.reserved_for.items[i].name);
	}
	bt_json_begin_object(&run->writer);
	write_strings(run, "devices", devices, count);
	write_strings(run, "reservedFor", users, user_count);
	write_strings(run, "finalizers", claim->metadata.finalizers.items,
		claim->metadata.finalizers.count);
	bt_json_end_object(&run->writer);
}

static void write_claims(struct life_run *run)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	bt_json_write_name_c(&run->writer, "claims");
	bt_json_begin_object(&run->writer);
	while ((claim = bt_object_store_next(&run->api.store, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		bt_json_write_name(&run->writer,
			life_key(&run->api, claim->metadata.namespace_, claim->metadata.name));
		write_claim(run, claim);
	}
	bt_json_end_object(&run->writer);
}

/** --- pod groups --- */

static int compare_groups(const void *a, const void *b)
{
	return bt_str_compare(
		((const struct listed_group *)a)->key, ((const struct listed_group *)b)->key);
}

static void write_pod_groups(struct life_run *run)
{
	const struct bt_state *state = bt_scheduler_engine(run->api.scheduler)->state;
	BT_VEC(struct listed_group) listed = {0};
	for (uint32_t i = 0; state->pod_groups != NULL && i < state->pod_groups->groups.count;
		i++) {
		const struct bt_group_members *members = &state->pod_groups->groups.items[i];
		if (members->items.count != 0) {
			struct listed_group group = {
				life_key(&run->api,
					bt_symbol_text(&state->symbols, members->namespace_),
					bt_symbol_text(&state->symbols, members->name)),
				members};
			bt_vec_push(&listed, group);
		}
	}
	if (listed.count == 0) {
		return;
	}
	qsort(listed.items, listed.count, sizeof(listed.items[0]), compare_groups);
	bt_json_write_name_c(&run->writer, "podGroups");
	bt_json_begin_array(&run->writer);
	for (uint32_t i = 0; i < listed.count; i++) {
		const struct bt_group_members *members = listed.items[i].members;
		struct bt_str *names;
		uint32_t count =
			bt_group_unscheduled_names(state, members, &run->api.arena, &names);
		bt_json_begin_object(&run->writer);
		bt_json_write_member(&run->writer, "podGroup", listed.items[i].key);
		bt_json_write_name_c(&run->writer, "all");
		bt_json_write_int64(&run->writer, members->items.count);
		bt_json_write_name_c(&run->writer, "scheduled");
		bt_json_write_int64(&run->writer, bt_group_scheduled_count(members, false));
		write_strings(run, "unscheduled", names, count);
		bt_json_end_object(&run->writer);
	}
	bt_json_end_array(&run->writer);
	bt_vec_finish(&listed);
}

static bool has_queued_pods(struct life_run *run)
{
	struct bt_queue *queue = bt_scheduler_queue(run->api.scheduler);
	uint32_t count = 0;
	for (uint32_t place = 0; place < BT_QUEUE__PLACES; place++) {
		count += bt_queue_count(queue, (enum bt_queue_place)place);
	}
	return count != 0;
}

static void append_json(const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	if (value != NULL) {
		bt_json_write_value(&writer, value);
	}
}

static int run_step(struct life_run *run, const struct bt_json_value *step,
	const struct bt_json_value *expected, struct berth_error *err)
{
	struct bt_str op = bt_json_find_str(step, "op");
	if (bt_str_equal_c(op, "apply")) {
		struct bt_strbuf json = {0};
		append_json(bt_json_find(step, "object"), &json);
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
	if (bt_str_equal_c(op, "claims")) {
		write_claims(run);
		return 0;
	}
	if (bt_str_equal_c(op, "queues")) {
		if (has_queued_pods(run)) {
			write_queues(run);
		}
		write_pod_groups(run);
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "unknown step \"%.*s\"", BT_STR_ARG(op));
}

/** --- a whole case --- */

static int create_scheduler(struct life_run *run, const struct bt_json_value *case_value,
	bool verify, struct berth_error *refused)
{
	const struct bt_json_value *config_value = bt_json_find(case_value, "config");
	struct bt_config *config = NULL;
	struct bt_gates gates;
	struct bt_strbuf json = {0};
	append_json(bt_json_find(case_value, "featureGates"), &json);
	int result = bt_case_gates(bt_strbuf_str(&json), &gates, refused);
	bt_strbuf_reset(&json);
	if (result < 0) {
		bt_strbuf_finish(&json);
		return result;
	}
	if (config_value != NULL && config_value->type == BT_JSON_OBJECT) {
		append_json(config_value, &json);
		result = bt_config_load(bt_strbuf_str(&json), &gates, &config, refused);
	} else {
		config = bt_config_create_default(&gates);
	}
	bt_strbuf_finish(&json);
	if (result == 0) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		options.tie_policy = BT_TIE_FIRST_BY_NAME;
		options.repeats_groups = true;
		options.verify = verify;
		struct bt_scheduler_writer writer = life_api_writer(&run->api);
		struct bt_extender_factory extenders = life_extenders(&run->api);
		run->api.extender_configs = bt_json_array_at(config_value, "extenders");
		run->api.extenders = bt_json_find(case_value, "extenders");
		if (run->api.extenders != NULL) {
			options.extenders = &extenders;
		}
		result = bt_scheduler_create(
			config, &options, &writer, &run->api.scheduler, refused);
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

int bt_life_answer(const struct bt_json_value *case_value, const struct bt_json_value *expected,
	bool verify, struct bt_strbuf *out, struct berth_error *err)
{
	struct life_run run = {
		.shows_dropped = bt_json_find(case_value, "featureGates") == NULL &&
			bt_json_find(case_value, "extenders") == NULL,
	};
	life_api_init(&run.api, START_NS);
	bt_json_writer_init(&run.writer, out, 0);
	bt_json_begin_object(&run.writer);
	bt_json_write_name_c(&run.writer, "name");
	bt_json_write_str(&run.writer, bt_json_find_str(case_value, "name"));
	struct berth_error refused = BERTH_ERROR_INIT;
	int result = 0;
	if (create_scheduler(&run, case_value, verify, &refused) < 0) {
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
	life_api_finish(&run.api);
	bt_vec_finish(&run.ended);
	return result;
}
