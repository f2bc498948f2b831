/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/api_calls.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"

#define NONE UINT32_MAX

static const struct bt_str text_less_relevant =
	BT_STR_INIT("a more relevant call is already enqueued for this object: call skipped");
static const struct bt_str text_more_relevant =
	BT_STR_INIT("a more relevant call was enqueued for this object: call overwritten");
static const struct bt_str text_same_type =
	BT_STR_INIT("a call of the same type was enqueued for this object: call overwritten");
static const struct bt_str text_no_effect =
	BT_STR_INIT("call does not need to be executed because it has no effect: call skipped");
static const struct bt_str text_no_effect_after_sync = BT_STR_INIT(
	"call does not need to be executed because after sync it has no effect: call skipped");

const char *bt_api_call_type_name(enum bt_api_call_type type)
{
	switch (type) {
	case BT_API_CALL_POD_STATUS_PATCH:
		return "pod_status_patch";
	case BT_API_CALL_POD_BINDING:
	case BT_API_CALL__COUNT:
		break;
	}
	return "pod_binding";
}

static struct bt_api_call *create(enum bt_api_call_type type, struct bt_object *pod)
{
	struct bt_api_call *call = BT_NEW(struct bt_api_call);

	call->type = type;
	call->pod = bt_object_share(pod);
	return call;
}

static void set_condition(struct bt_api_call *call, const struct bt_pod_condition *condition)
{
	struct bt_arena *arena = &call->arena;

	call->has_condition = true;
	call->condition = *condition;
	call->condition.type = bt_arena_str(arena, condition->type);
	call->condition.status = bt_arena_str(arena, condition->status);
	call->condition.reason = bt_arena_str(arena, condition->reason);
	call->condition.message = bt_arena_str(arena, condition->message);
}

static void set_nomination(struct bt_api_call *call, const struct bt_post_filter_result *nomination)
{
	call->nomination = *nomination;
	call->nomination.nominated_node_name =
		bt_arena_str(&call->arena, nomination->nominated_node_name);
}

struct bt_api_call *bt_api_call_create_patch(struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination)
{
	struct bt_api_call *call = create(BT_API_CALL_POD_STATUS_PATCH, pod);

	if (condition != NULL) {
		set_condition(call, condition);
	}
	set_nomination(call, nomination);
	return call;
}

struct bt_api_call *bt_api_call_create_binding(
	struct bt_object *pod, const struct bt_pod_info *pod_info, struct bt_str node_name)
{
	struct bt_api_call *call = create(BT_API_CALL_POD_BINDING, pod);

	call->pod_info = pod_info;
	call->node_name = bt_arena_str(&call->arena, node_name);
	return call;
}

static void destroy(struct bt_api_call *call)
{
	bt_object_release(call->pod);
	bt_arena_finish(&call->arena);
	bt_free(call);
}

static struct bt_str uid_of(const struct bt_api_call *call)
{
	return call->pod->meta->uid;
}

static bool nominates(const struct bt_api_call *call)
{
	return call->nomination.present && call->nomination.mode == BT_NOMINATING_OVERRIDE;
}

static bool has_condition(const struct bt_pod *pod, const struct bt_pod_condition *wanted)
{
	const struct bt_pod_condition *known = bt_pod_find_condition(pod, wanted->type);
	return known != NULL && bt_str_equal(known->status, wanted->status) &&
		bt_str_equal(known->reason, wanted->reason) &&
		bt_str_equal(known->message, wanted->message) &&
		bt_time_compare(&known->last_probe_time, &wanted->last_probe_time) == 0;
}

bool bt_api_call_is_no_op(const struct bt_api_call *call)
{
	const struct bt_pod *pod = call->pod->value;

	if (call->type != BT_API_CALL_POD_STATUS_PATCH) {
		return false;
	}
	if (nominates(call) &&
		!bt_str_equal(
			pod->status.nominated_node_name, call->nomination.nominated_node_name)) {
		return false;
	}
	return !call->has_condition || has_condition(pod, &call->condition);
}

static uint32_t find(const struct bt_api_calls *calls, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	BT_MAP_EACH (&calls->entries.map, hash, id) {
		if (bt_str_equal(uid_of(calls->entries.items[id].stored), uid)) {
			return id;
		}
	}
	return NONE;
}

static void remove_entry(struct bt_api_calls *calls, uint32_t id)
{
	struct bt_api_calls_entry *entry = &calls->entries.items[id];

	BT_ASSERT(!entry->is_waiting && entry->in_flight == NULL);
	bt_hash_table_remove(&calls->entries, bt_str_hash(uid_of(entry->stored)), id);
	entry->stored = NULL;
}

static void append(struct bt_api_calls *calls, uint32_t id)
{
	calls->entries.items[id].is_waiting = true;
	BT_INDEX_LIST_APPEND(calls->first, calls->last, calls->entries.items, id, previous, next);
}

static void unlink_entry(struct bt_api_calls *calls, uint32_t id)
{
	calls->entries.items[id].is_waiting = false;
	BT_INDEX_LIST_REMOVE(calls->first, calls->last, calls->entries.items, id, previous, next);
}

static void notify_observer(
	struct bt_api_calls *calls, struct bt_api_call *call, int result, struct bt_str message)
{
	const struct bt_api_calls_observer *observer = &calls->observer;

	if (!call->finished && observer->finished != NULL) {
		observer->finished(observer->context, call, result, message);
	}
	call->finished = true;
}

/**
 * Free a call that was removed from its entry. If the call is in flight, bt_api_calls_done frees
 * the call later.
 */
static void release_call(struct bt_api_calls *calls, struct bt_api_call *call)
{
	if (!call->in_flight) {
		calls->pending_counts[call->type]--;
		destroy(call);
	}
}

void bt_api_calls_init(struct bt_api_calls *calls, const struct bt_api_calls_observer *observer)
{
	*calls = (struct bt_api_calls){.first = NONE, .last = NONE, .observer = *observer};
}

void bt_api_calls_finish(struct bt_api_calls *calls)
{
	for (uint32_t i = 0; i < calls->entries.count; i++) {
		struct bt_api_calls_entry *entry = &calls->entries.items[i];
		if (entry->stored == NULL) {
			continue;
		}
		if (entry->in_flight != NULL && entry->in_flight != entry->stored) {
			destroy(entry->in_flight);
		}
		destroy(entry->stored);
	}
	bt_hash_table_finish(&calls->entries);
}

static int skip(struct bt_api_calls *calls, struct bt_api_call *call, struct bt_str message)
{
	notify_observer(calls, call, BT_API_CALL_SKIPPED, message);
	destroy(call);
	return BT_API_CALL_SKIPPED;
}

int bt_api_calls_add(struct bt_api_calls *calls, struct bt_api_call *call)
{
	uint32_t id = find(calls, uid_of(call));
	struct bt_api_calls_entry *entry = id != NONE ? &calls->entries.items[id] : NULL;

	if (entry != NULL) {
		if (call->type < entry->stored->type) {
			return skip(calls, call, text_less_relevant);
		}
		/*
		 * Merge the pod's stored call into `call`, which will replace it, and report the
		 * stored call as overwritten. A stored call of another type that is in flight is
		 * not reported here, because it continues.
		 */
		struct bt_api_call *old = entry->stored;

		if (old->type == call->type) {
			/* Fields that the newer call does not set come from the older call. */
			if (call->type == BT_API_CALL_POD_STATUS_PATCH) {
				if (!nominates(call) && nominates(old)) {
					set_nomination(call, &old->nomination);
				}
				if (!call->has_condition && old->has_condition) {
					set_condition(call, &old->condition);
				}
			}
			notify_observer(calls, old, BT_API_CALL_OVERWRITTEN, text_same_type);
		} else if (!old->in_flight) {
			notify_observer(calls, old, BT_API_CALL_OVERWRITTEN, text_more_relevant);
		}
	}
	if ((entry == NULL || entry->in_flight == NULL) && bt_api_call_is_no_op(call)) {
		if (entry != NULL) {
			struct bt_api_call *old = entry->stored;
			unlink_entry(calls, id);
			remove_entry(calls, id);
			release_call(calls, old);
		}
		return skip(calls, call, text_no_effect);
	}
	calls->pending_counts[call->type]++;
	if (entry == NULL) {
		struct bt_api_calls_entry fresh = {.stored = call};
		bt_hash_table_add(&calls->entries, bt_str_hash(uid_of(call)), fresh, id);
		append(calls, id);
		return 0;
	}
	struct bt_api_call *old = entry->stored;
	entry->stored = call;
	release_call(calls, old);
	return 0;
}

struct bt_api_call *bt_api_calls_pop(struct bt_api_calls *calls, int64_t now_ns)
{
	uint32_t id = calls->first;

	if (id == NONE) {
		return NULL;
	}
	struct bt_api_call *call = calls->entries.items[id].stored;
	unlink_entry(calls, id);
	calls->entries.items[id].in_flight = call;
	calls->pending_counts[call->type]--;
	call->in_flight = true;
	call->started_ns = now_ns;
	return call;
}

bool bt_api_calls_can_pop(const struct bt_api_calls *calls)
{
	return calls->first != NONE;
}

void bt_api_calls_done(
	struct bt_api_calls *calls, struct bt_str uid, int result, struct bt_str message)
{
	uint32_t id = find(calls, uid);

	BT_ASSERT(id != NONE && calls->entries.items[id].in_flight != NULL);
	struct bt_api_calls_entry *entry = &calls->entries.items[id];
	struct bt_api_call *call = entry->in_flight;
	entry->in_flight = NULL;
	if (entry->stored == call) {
		remove_entry(calls, id);
	} else {
		append(calls, id);
	}
	notify_observer(calls, call, result, message);
	destroy(call);
}

void bt_api_calls_sync(struct bt_api_calls *calls, struct bt_object *pod)
{
	uint32_t id = find(calls, pod->meta->uid);

	if (id == NONE) {
		return;
	}
	struct bt_api_calls_entry *entry = &calls->entries.items[id];
	struct bt_api_call *call = entry->stored;
	if (call->type != BT_API_CALL_POD_STATUS_PATCH || call->in_flight) {
		return;
	}
	struct bt_object *before = call->pod;
	call->pod = bt_object_share(pod);
	bt_object_release(before);
	/*
	 * Skip the patch only if no other call is in flight: the pod does not yet show the effect
	 * of a call in flight, so comparing with the pod would be wrong.
	 */
	if (entry->in_flight == NULL && bt_api_call_is_no_op(call)) {
		unlink_entry(calls, id);
		remove_entry(calls, id);
		notify_observer(calls, call, BT_API_CALL_SKIPPED, text_no_effect_after_sync);
		release_call(calls, call);
	}
}

struct bt_api_call *bt_api_calls_in_flight(const struct bt_api_calls *calls, struct bt_str uid)
{
	uint32_t id = find(calls, uid);

	return id != NONE ? calls->entries.items[id].in_flight : NULL;
}

const struct bt_api_call *bt_api_calls_find(const struct bt_api_calls *calls, struct bt_str uid)
{
	uint32_t id = find(calls, uid);

	return id != NONE ? calls->entries.items[id].stored : NULL;
}
