/* SPDX-License-Identifier: Apache-2.0 */
/** Copies take their places one by one. */
#include <stdlib.h>
#include <string.h>

#include "cli/capacity/capacity_private.h"
#include "cli/pod_claims.h"
#include "framework/fit_error.h"

/** Of one copy, when claims are given back on the way. */
#define ATTEMPTS_MAX 16
/** Of a 32-bit number. */
#define NUMBER_DIGITS 10

/** --- one copy --- */

/** "FRONT-17", made twice for each copy: printf would take a sixth of all the time. */
static struct bt_str numbered(struct bt_arena *arena, struct bt_str front, uint32_t number)
{
	char digits[NUMBER_DIGITS];
	uint32_t first = NUMBER_DIGITS;
	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	uint32_t length = NUMBER_DIGITS - first;
	char *text = bt_arena_alloc_bytes(arena, (size_t)front.length + 1 + length);
	memcpy(text, front.data, front.length);
	text[front.length] = '-';
	memcpy(text + front.length + 1, digits + first, length);
	return (struct bt_str){text, front.length + 1 + length};
}

/** The uid may be anybody's in the input. */
static struct bt_str free_uid(
	struct bt_capacity_session *session, struct bt_capacity_runner *runner)
{
	for (;;) {
		struct bt_str uid =
			numbered(&session->copy_arena, runner->uid_front, runner->next_number);
		if (bt_state_find_pod(session->engine->state, uid) == BT_POD_NONE) {
			return uid;
		}
		runner->next_number++;
	}
}

bool bt_capacity_next_copy(
	struct bt_capacity_session *session, uint32_t index, struct bt_pod *out_copy)
{
	struct bt_capacity_runner *runner = &session->runners[index];
	if (runner->has_own_pods) {
		if (runner->next_number >= runner->pods.count) {
			return false;
		}
		*out_copy = *runner->pods.items[runner->next_number++];
		return true;
	}
	*out_copy = runner->prototype;
	out_copy->metadata.uid = free_uid(session, runner);
	out_copy->metadata.name =
		numbered(&session->copy_arena, runner->member->spec->name, runner->next_number++);
	return true;
}

struct reason_list {
	struct bt_arena *arena;
	BT_VEC(struct bt_capacity_reason) reasons;
};

static void take_reason(void *context, struct bt_str reason, uint64_t count)
{
	struct reason_list *list = context;
	struct bt_capacity_reason entry = {bt_arena_str(list->arena, reason), count};
	bt_vec_push(&list->reasons, entry);
}

static int compare_reasons(const void *a, const void *b)
{
	const struct bt_capacity_reason *first = a;
	const struct bt_capacity_reason *second = b;
	if (first->node_count != second->node_count) {
		return first->node_count > second->node_count ? -1 : 1;
	}
	return bt_str_compare(first->text, second->text);
}

/** --- what happens when a copy finds no node --- */

/** Of these plugins no further pod can change the mind in the cluster's favour. */
static bool only_grows_tighter(struct bt_str plugin)
{
	static const char *const names[] = {"NodeAffinity", "NodeDeclaredFeatures", "NodeName",
		"NodePorts", "NodeResourcesFit", "NodeUnschedulable", "NodeVolumeLimits",
		"TaintToleration", "VolumeRestrictions", "VolumeZone"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_str_equal_c(plugin, names[i])) {
			return true;
		}
	}
	return false;
}

/** Copies of others could let the next one in after all. */
static bool can_come_back(
	const struct bt_capacity_runner *runner, const struct bt_schedule_result *result)
{
	const struct bt_diagnosis *diagnosis = &result->diagnosis;
	if (result->outcome != BT_OUTCOME_FIT_ERROR || diagnosis->rejected_by_extender ||
		diagnosis->nameless_plugin) {
		return true;
	}
	for (uint32_t i = 0; i < runner->framework->instances.count; i++) {
		if ((bt_plugin_set_has(&diagnosis->unschedulable_plugins, i) ||
			    bt_plugin_set_has(&diagnosis->pending_plugins, i)) &&
			!only_grows_tighter(bt_framework_plugin_name(runner->framework, i))) {
			return true;
		}
	}
	return false;
}

/** What was kept of an earlier stop is forgotten. */
static void stop_member(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const char *type, struct bt_str message)
{
	struct bt_capacity_member *member = runner->member;
	uint32_t total = runner->is_passed_over ? member->stop.total : session->answer->copies;
	bt_arena_reset(&member->stop_arena);
	member->stop = (struct bt_capacity_stop){
		.type = type,
		.message = bt_arena_str(&member->stop_arena, message),
		.total = total,
	};
	runner->is_passed_over = true;
	runner->failed_at = session->answer->copies;
}

static void fail(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_schedule_result *result)
{
	struct bt_capacity_member *member = runner->member;
	enum bt_fate fate = bt_status_is_rejected(&result->status) ? BT_FATE_UNSCHEDULABLE
								   : BT_FATE_SCHEDULER_ERROR;
	struct bt_str message = bt_status_message_str(&result->status, &session->copy_arena);
	runner->is_out = !can_come_back(runner, result);
	if (runner->is_passed_over && bt_str_equal(message, member->stop.message)) {
		runner->failed_at = session->answer->copies;
		return; /* told before */
	}
	stop_member(session, runner, bt_fate_name(fate), message);
	if (result->outcome == BT_OUTCOME_FIT_ERROR) {
		/* Most nodes first. */
		const struct bt_diagnosis *diagnosis = &result->diagnosis;
		struct reason_list list = {.arena = &member->stop_arena};
		if (diagnosis->pre_filter_message.length != 0) {
			take_reason(&list, diagnosis->pre_filter_message, diagnosis->node_count);
		} else {
			bt_fit_error_visit_reasons(
				&diagnosis->statuses, diagnosis->node_count, take_reason, &list);
		}
		if (list.reasons.count > 1) {
			qsort(list.reasons.items, list.reasons.count, sizeof(list.reasons.items[0]),
				compare_reasons);
		}
		struct bt_capacity_reason *kept = BT_ARENA_NEW_ARRAY(
			&member->stop_arena, struct bt_capacity_reason, list.reasons.count);
		for (uint32_t i = 0; i < list.reasons.count; i++) {
			kept[i] = list.reasons.items[i];
		}
		member->stop.reasons.items = kept;
		member->stop.reasons.count = list.reasons.count;
		bt_vec_finish(&list.reasons);
	}
}

/** --- attempts --- */

/** *out_freed: not placed, but a claim that had its devices in vain was given back. */
static bool try_once(struct bt_capacity_session *session, const struct bt_pod_info *info,
	struct bt_schedule_result *result, bool *out_freed)
{
	struct bt_engine *engine = session->engine;
	uint64_t version = bt_pod_claims_version(engine->state);
	bt_engine_schedule(engine, result->framework, info, result);
	*out_freed = result->outcome == BT_OUTCOME_FIT_ERROR &&
		bt_pod_claims_version(engine->state) != version;
	return result->outcome == BT_OUTCOME_SCHEDULED && bt_engine_place(engine, info, result);
}

static bool attempt(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_pod_info *info)
{
	struct bt_schedule_result result = {.framework = runner->framework};
	struct bt_plugin *gate;
	struct bt_status status =
		bt_run_pre_enqueue(runner->framework, info, &session->copy_arena, &gate);
	if (!bt_status_is_success(&status)) {
		stop_member(session, runner, bt_fate_name(BT_FATE_SCHEDULING_GATED),
			bt_status_message_str(&status, &session->copy_arena));
		runner->is_out = true;
		return false;
	}
	bool freed_claim;
	for (int i = 0; !try_once(session, info, &result, &freed_claim); i++) {
		if (!freed_claim || i + 1 == ATTEMPTS_MAX) {
			fail(session, runner, &result);
			return false;
		}
	}
	runner->member->on_nodes[session->node_of_slot[result.slot]]++;
	runner->member->copies++;
	session->answer->copies++;
	runner->is_passed_over = false;
	return true;
}

/** One more copy; false: there is none. */
static bool place_one(struct bt_capacity_session *session, uint32_t index)
{
	struct bt_capacity_runner *runner = &session->runners[index];
	struct bt_pod copy;
	struct bt_pod_info info;
	if (runner->framework == NULL) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, runner->prototype.spec.scheduler_name);
		stop_member(
			session, runner, bt_fate_name(BT_FATE_NOT_HANDLED), bt_strbuf_str(&text));
		runner->is_out = true;
		bt_strbuf_finish(&text);
		return false;
	}
	if (!bt_capacity_next_copy(session, index, &copy)) {
		session->ran_dry = true;
		return false;
	}
	/* Of its own, where its spec names templates. */
	struct bt_str missing;
	(void)bt_pod_claims_make(
		&session->cluster, session->engine->state, &copy, &session->copy_arena, &missing);
	if (missing.length != 0 && !runner->warned_of_template) {
		runner->warned_of_template = true;
		bt_pod_claims_warn_missing(&session->cluster, &copy, missing);
	}
	bt_pod_info_init_pending(session->engine->state, &copy, &info);
	bool placed = attempt(session, runner, &info);
	bt_pod_info_finish_pending(session->engine->state, &info);
	if (!placed) {
		bt_pod_claims_unmake(session->engine->state, &copy);
	}
	bt_arena_reset(&session->copy_arena);
	if (!placed) {
		runner->next_number--; /* the same pod when it is tried again */
	}
	return placed;
}

/** --- all of them --- */

static bool is_at_limit(const struct bt_capacity_session *session)
{
	return session->answer->copies >= session->question->max;
}

static void stop_at_limit(struct bt_capacity_session *session)
{
	struct bt_str message = bt_arena_printf(&session->copy_arena,
		"Maximum number of pods simulated: %u", session->question->max);
	for (uint32_t i = 0; i < session->question->spec_count; i++) {
		if (!session->runners[i].is_passed_over) {
			stop_member(session, &session->runners[i], "LimitReached", message);
		}
	}
}

/** A turn of one member; whether it placed all that it weighs. */
static bool take_turn(struct bt_capacity_session *session, uint32_t index)
{
	const struct bt_capacity_question *question = session->question;
	struct bt_capacity_runner *runner = &session->runners[index];
	bool is_hopeless = runner->is_passed_over && runner->failed_at == session->answer->copies;
	if (runner->is_out || is_hopeless) {
		return false;
	}
	for (int64_t i = 0; i < runner->member->spec->weight; i++) {
		if (is_at_limit(session) || session->ran_dry || !place_one(session, index)) {
			return false;
		}
		if (question->progress != NULL) {
			bool is_limited = question->max < BT_CAPACITY_COPIES_MAX;
			question->progress(question->progress_context, session->answer->copies,
				is_limited ? question->max : 0);
		}
	}
	return true;
}

void bt_capacity_place_all(struct bt_capacity_session *session)
{
	for (;;) {
		uint32_t before = session->answer->copies;
		bool is_whole = true;
		for (uint32_t i = 0; i < session->question->spec_count; i++) {
			is_whole = take_turn(session, i) && is_whole;
		}
		session->answer->round_count += is_whole;
		if (is_at_limit(session)) {
			stop_at_limit(session);
			return;
		}
		if (session->answer->copies == before || session->ran_dry) {
			return;
		}
	}
}
