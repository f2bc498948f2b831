/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/waiting_pods.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/duration.h"

static struct bt_str uid_of(const struct bt_waiting_pod *pod)
{
	return (struct bt_str){pod->uid, pod->uid_length};
}

void bt_waiting_pods_init(struct bt_waiting_pods *waiting)
{
	*waiting = (struct bt_waiting_pods){.next_deadline_ns = INT64_MAX};
}

static void destroy_pod(struct bt_waiting_pod *pod)
{
	bt_vec_finish(&pod->pending);
	bt_free(pod->result_message);
	bt_free(pod->uid);
	bt_free(pod);
}

void bt_waiting_pods_finish(struct bt_waiting_pods *waiting)
{
	bt_vec_finish_each(&waiting->pods, destroy_pod(*each));
	bt_map_finish(&waiting->by_uid);
}

static uint32_t find_index(const struct bt_waiting_pods *waiting, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	BT_MAP_EACH (&waiting->by_uid, hash, index) {
		if (bt_str_equal(uid_of(waiting->pods.items[index]), uid)) {
			return index;
		}
	}
	return UINT32_MAX;
}

static void remove_at(struct bt_waiting_pods *waiting, uint32_t index)
{
	uint32_t last = waiting->pods.count - 1;
	struct bt_waiting_pod *pod = waiting->pods.items[index];

	bt_map_remove_swap(&waiting->by_uid, bt_str_hash(uid_of(pod)), index,
		bt_str_hash(uid_of(waiting->pods.items[last])), last);
	bt_vec_remove_swap(&waiting->pods, index);
	waiting->decided_count -= pod->has_result;
	if (pod->is_decided != NULL) {
		*pod->is_decided = true;
	}
	destroy_pod(pod);
}

/** Sets the pod's result. Does nothing if the pod has a result: the first decision counts. */
static void set_result(struct bt_waiting_pod *pod, enum bt_status_code code, uint16_t plugin,
	struct bt_str message)
{
	if (pod->has_result) {
		return;
	}
	pod->has_result = true;
	pod->waiting->decided_count++;
	if (pod->is_decided != NULL) {
		*pod->is_decided = true;
	}
	pod->result_code = (uint8_t)code;
	pod->result_plugin = plugin;
	pod->result_message = bt_strndup(message.data != NULL ? message.data : "", message.length);
}

bool bt_waiting_pod_reject(struct bt_waiting_pod *pod, enum bt_status_code code,
	struct bt_str plugin_name, struct bt_str message)
{
	const struct bt_plugin *plugin = bt_framework_find_plugin(pod->framework, plugin_name);

	for (uint32_t i = 0; i < pod->pending.count; i++) {
		pod->pending.items[i].stopped = true;
	}
	set_result(pod, code, plugin != NULL ? (uint16_t)(plugin->index + 1) : 0, message);
	if (pod->done) {
		return false;
	}
	pod->done = true;
	return true;
}

void bt_waiting_pod_allow(struct bt_waiting_pod *pod, struct bt_str plugin_name)
{
	for (uint32_t i = 0; i < pod->pending.count; i++) {
		if (bt_str_equal_c(plugin_name, pod->pending.items[i].plugin->ops->name)) {
			bt_vec_remove_ordered(&pod->pending, i);
			break;
		}
	}
	if (pod->pending.count == 0) {
		set_result(pod, BT_STATUS_SUCCESS, 0, BT_STR(""));
		pod->done = true;
	}
}

bool bt_waiting_pods_reject(struct bt_waiting_pods *waiting, struct bt_str uid)
{
	struct bt_waiting_pod *pod = bt_waiting_pods_find(waiting, uid);

	return pod != NULL &&
		bt_waiting_pod_reject(pod, BT_STATUS_UNSCHEDULABLE, BT_STR(""), BT_STR("removed"));
}

static void reject_by_timeout(struct bt_waiting_pod *pod, const struct bt_waiting_timer *timer)
{
	struct bt_str name = bt_str_from(timer->plugin->ops->name);
	struct bt_strbuf text = {0};

	bt_strbuf_append_c(&text, "rejected due to timeout after waiting ");
	bt_duration_format(timer->timeout_ns, &text);
	bt_strbuf_append_c(&text, " at plugin ");
	bt_strbuf_append_str(&text, name);
	(void)bt_waiting_pod_reject(pod, BT_STATUS_UNSCHEDULABLE, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

/** Returns the timer that fires first, or NULL if no timer runs. */
static const struct bt_waiting_timer *first_timer(const struct bt_waiting_pod *pod)
{
	const struct bt_waiting_timer *first = NULL;

	for (uint32_t i = 0; i < pod->pending.count; i++) {
		const struct bt_waiting_timer *timer = &pod->pending.items[i];

		if (!timer->stopped && (first == NULL || timer->deadline_ns < first->deadline_ns)) {
			first = timer;
		}
	}
	return first;
}

struct bt_waiting_pod *bt_waiting_pods_add(struct bt_waiting_pods *waiting,
	struct bt_framework *framework, const struct bt_pod_info *pod,
	const struct bt_wait_time *waits, uint32_t wait_count, int64_t now_ns)
{
	struct bt_waiting_pod *entry = BT_NEW(struct bt_waiting_pod);
	uint32_t old_index = find_index(waiting, pod->uid);

	entry->waiting = waiting;
	entry->pod = pod;
	entry->framework = framework;
	entry->uid = bt_strndup(pod->uid.data != NULL ? pod->uid.data : "", pod->uid.length);
	entry->uid_length = pod->uid.length;
	for (uint32_t i = 0; i < wait_count; i++) {
		int64_t timeout_ns = waits[i].timeout_ns;
		struct bt_waiting_timer timer = {
			.plugin = waits[i].plugin,
			.timeout_ns = timeout_ns,
		};

		/* A timeout of 0 or less fires immediately. */
		if (BT_ADD_OVERFLOW(now_ns, BT_MAX(timeout_ns, 0), &timer.deadline_ns)) {
			timer.deadline_ns = INT64_MAX;
		}
		bt_vec_push(&entry->pending, timer);
	}
	if (old_index != UINT32_MAX) {
		remove_at(waiting, old_index);
	}
	bt_vec_push(&waiting->pods, entry);
	bt_map_insert(&waiting->by_uid, bt_str_hash(uid_of(entry)), waiting->pods.count - 1);
	const struct bt_waiting_timer *first = first_timer(entry);
	if (first != NULL && first->deadline_ns <= now_ns) {
		reject_by_timeout(entry, first);
	} else if (first != NULL && first->deadline_ns < waiting->next_deadline_ns) {
		waiting->next_deadline_ns = first->deadline_ns;
	}
	return entry;
}

struct bt_waiting_pod *bt_waiting_pods_find(
	const struct bt_waiting_pods *waiting, struct bt_str uid)
{
	uint32_t index = find_index(waiting, uid);

	return index != UINT32_MAX ? waiting->pods.items[index] : NULL;
}

void bt_waiting_pods_expire(struct bt_waiting_pods *waiting, int64_t now_ns)
{
	int64_t next_ns = INT64_MAX;

	if (now_ns < waiting->next_deadline_ns) {
		return;
	}
	for (uint32_t i = 0; i < waiting->pods.count; i++) {
		struct bt_waiting_pod *pod = waiting->pods.items[i];
		const struct bt_waiting_timer *first = first_timer(pod);

		if (first == NULL) {
			continue;
		}
		/*
		 * The first timer that fires rejects the pod and stops the pod's other timers, so
		 * only the earliest timer matters.
		 */
		if (first->deadline_ns <= now_ns) {
			reject_by_timeout(pod, first);
		} else if (first->deadline_ns < next_ns) {
			next_ns = first->deadline_ns;
		}
	}
	waiting->next_deadline_ns = next_ns;
}

enum bt_wait_result bt_waiting_pods_poll(struct bt_waiting_pods *waiting, struct bt_str uid,
	struct bt_arena *arena, struct bt_status *out_status)
{
	uint32_t index = find_index(waiting, uid);

	*out_status = BT_STATUS_OK;
	if (index == UINT32_MAX) {
		return BT_WAIT_NOT_WAITING;
	}
	const struct bt_waiting_pod *pod = waiting->pods.items[index];
	if (!pod->has_result) {
		return BT_WAIT_PENDING;
	}
	struct bt_str message = bt_str_from(pod->result_message);
	if (pod->result_code == BT_STATUS_UNSCHEDULABLE) {
		*out_status = bt_status_text(BT_STATUS_UNSCHEDULABLE, arena, message);
		out_status->plugin = pod->result_plugin;
	} else if (pod->result_code == BT_STATUS_ERROR) {
		struct bt_strbuf text = {0};

		bt_strbuf_append_c(&text, "waiting on permit for pod: ");
		bt_strbuf_append_str(&text, message);
		*out_status = bt_status_error_text(arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		out_status->plugin = pod->result_plugin;
	}
	remove_at(waiting, index);
	return BT_WAIT_DECIDED;
}
