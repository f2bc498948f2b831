/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cluster/job.h"

/*
 * A finished pod is first written into status.uncountedTerminatedPods, then loses the finalizer,
 * then moves to the counters. So it is counted once, whenever the process ends.
 */

bool bt_job_untrack(
	struct bt_hub *hub, struct bt_jobs *self, struct bt_str pod_key, struct bt_arena *arena)
{
	struct bt_json_value *pod = bt_api_read(bt_hub_api(hub), self->pods, pod_key, arena);
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, patch, "metadata");
	struct bt_json_value *finalizers;
	uint16_t code;

	if (pod == NULL) {
		return true;
	}
	finalizers = bt_json_clone(arena, bt_json_array_at(pod, "metadata.finalizers"), false);
	bt_json_remove_text(finalizers, BT_STR(BT_JOB_FINALIZER));
	bt_json_set_str(arena, metadata, "uid", bt_json_text_at(pod, "metadata.uid"));
	bt_json_set_value(arena, metadata, "finalizers", finalizers);
	code = bt_hub_patch(hub, self->pods, BT_SUBRESOURCE_NONE, pod_key, patch, arena, NULL);
	return code == 200 || code == 404;
}

int64_t bt_job_index_of(const struct bt_job_pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);
	struct bt_str job = bt_key_name(pass->key);
	int64_t dash;
	int64_t index;

	if (name.length <= job.length + 1 || !bt_str_has_prefix(name, job)) {
		return -1;
	}
	name = bt_str_sub(name, job.length + 1, name.length);
	dash = bt_str_find_char(name, '-');
	if (dash <= 0 || !bt_str_parse_int64(bt_str_sub(name, 0, (uint32_t)dash), &index) ||
		index < 0 || index >= pass->completion_count) {
		return -1;
	}
	return index;
}

static void read_indexes(struct bt_job_pass *pass)
{
	struct bt_str text = bt_json_text_at(pass->job, "status.completedIndexes");

	pass->done_indexes =
		BT_ARENA_NEW_ARRAY(pass->arena, bool, (size_t)pass->completion_count + 1);
	while (text.length != 0) {
		int64_t comma = bt_str_find_char(text, ',');
		struct bt_str part = bt_str_sub(text, 0, comma < 0 ? text.length : (uint32_t)comma);
		int64_t dash = bt_str_find_char(part, '-');
		int64_t first = -1;
		int64_t last = -1;

		text = comma < 0 ? BT_STR("") : bt_str_sub(text, (uint32_t)comma + 1, text.length);
		(void)bt_str_parse_int64(
			bt_str_sub(part, 0, dash < 0 ? part.length : (uint32_t)dash), &first);
		last = first;
		if (dash >= 0) {
			(void)bt_str_parse_int64(
				bt_str_sub(part, (uint32_t)dash + 1, part.length), &last);
		}
		for (int64_t i = first; i >= 0 && i <= last && i < pass->completion_count; i++) {
			pass->done_indexes[i] = true;
		}
	}
}

struct bt_str bt_job_indexes_text(const struct bt_job_pass *pass)
{
	struct bt_strbuf text = {0};
	struct bt_str copy;

	for (int64_t i = 0; i < pass->completion_count; i++) {
		int64_t end = i;
		if (!pass->done_indexes[i]) {
			continue;
		}
		while (end + 1 < pass->completion_count && pass->done_indexes[end + 1]) {
			end++;
		}
		bt_strbuf_printf(&text, "%s%" PRId64, text.length != 0 ? "," : "", i);
		if (end > i) {
			bt_strbuf_printf(&text, "%s%" PRId64, end > i + 1 ? "-" : ",", end);
		}
		i = end;
	}
	copy = bt_arena_str(pass->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy;
}

static int64_t count_indexes(const struct bt_job_pass *pass)
{
	int64_t count = 0;

	for (int64_t i = 0; i < pass->completion_count; i++) {
		count += pass->done_indexes[i];
	}
	return count;
}

/** Succeeded, failed, or removed before it ever ran. */
static bool is_finished(const struct bt_indexed_pod *pod)
{
	return pod->phase == BT_POD_SUCCEEDED || pod->phase == BT_POD_FAILED ||
		(pod->deleting && pod->node_name.length == 0);
}

static void note_result(struct bt_job_pass *pass, bool succeeded)
{
	uint64_t hash = bt_str_hash(pass->uid);
	struct bt_job_retry fresh = {.uid_hash = hash};
	uint32_t i = 0;

	while (i < pass->self->retries.count && pass->self->retries.items[i].uid_hash != hash) {
		i++;
	}
	if (i == pass->self->retries.count) {
		if (succeeded) {
			return;
		}
		bt_vec_push(&pass->self->retries, fresh);
	}
	if (succeeded) {
		bt_vec_remove_swap(&pass->self->retries, i);
		return;
	}
	pass->self->retries.items[i].failures++;
	pass->self->retries.items[i].last_ns = pass->now_ns;
}

/** Finished pods that are not in the lists yet; true: there were some. */
static bool list_finished(
	struct bt_job_pass *pass, struct bt_json_value *succeeded, struct bt_json_value *failed)
{
	const struct bt_indexed_pod *pod = bt_pod_index_of_owner(pass->hub, pass->uid);
	uint32_t added = 0;

	for (; pod != NULL && added < BT_JOB_BURST; pod = pod->next_of_owner) {
		bool success = pod->phase == BT_POD_SUCCEEDED;
		if (!pod->job_tracking || !is_finished(pod) ||
			bt_json_has_text(succeeded, pod->uid) ||
			bt_json_has_text(failed, pod->uid)) {
			continue;
		}
		note_result(pass, success);
		if (success && pass->indexed) {
			int64_t index = bt_job_index_of(pass, pod);
			if (index >= 0) {
				pass->done_indexes[index] = true;
			}
		}
		bt_json_append(pass->arena, success ? succeeded : failed,
			bt_json_new_str(pass->arena, pod->uid));
		added++;
	}
	pass->more = pass->more || added == BT_JOB_BURST;
	return added != 0;
}

static bool write_lists(
	struct bt_job_pass *pass, struct bt_json_value *succeeded, struct bt_json_value *failed)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *status = bt_json_ensure_object(arena, patch, "status");
	struct bt_json_value *lists =
		bt_json_ensure_object(arena, status, "uncountedTerminatedPods");

	bt_json_set_value(arena, lists, "succeeded", bt_json_clone(arena, succeeded, false));
	bt_json_set_value(arena, lists, "failed", bt_json_clone(arena, failed, false));
	if (pass->indexed) {
		bt_json_set_str(arena, status, "completedIndexes", bt_job_indexes_text(pass));
	}
	return bt_hub_patch(pass->hub, pass->self->jobs, BT_SUBRESOURCE_STATUS, pass->key, patch,
		       arena, NULL) == 200;
}

static void collect_active(struct bt_job_pass *pass)
{
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(pass->hub, pass->uid);
	const struct bt_indexed_pod *pod;
	uint32_t count = 0;

	for (pod = first; pod != NULL; pod = pod->next_of_owner) {
		count += bt_pod_is_active(pod);
	}
	pass->active = BT_ARENA_NEW_ARRAY(pass->arena, const struct bt_indexed_pod *, count);
	for (pod = first; pod != NULL; pod = pod->next_of_owner) {
		if (bt_pod_is_active(pod)) {
			pass->active[pass->active_count++] = pod;
			pass->ready += pod->ready;
		} else if (!is_finished(pod)) {
			pass->terminating++;
		}
	}
}

void bt_job_count(struct bt_job_pass *pass)
{
	struct bt_json_value *succeeded = bt_json_clone(pass->arena,
		bt_json_array_at(pass->job, "status.uncountedTerminatedPods.succeeded"), false);
	struct bt_json_value *failed = bt_json_clone(pass->arena,
		bt_json_array_at(pass->job, "status.uncountedTerminatedPods.failed"), false);

	if (pass->indexed) {
		read_indexes(pass);
	}
	collect_active(pass);
	pass->succeeded = bt_json_int64_at(pass->job, "status.succeeded", 0);
	pass->failed = bt_json_int64_at(pass->job, "status.failed", 0);
	if (list_finished(pass, succeeded, failed) && !write_lists(pass, succeeded, failed)) {
		pass->wrong = true;
		return;
	}
	/* All that are listed lose their finalizer. */
	const struct bt_indexed_pod *pod = bt_pod_index_of_owner(pass->hub, pass->uid);

	for (; pod != NULL; pod = pod->next_of_owner) {
		if (!pod->job_tracking || !is_finished(pod) ||
			!(bt_json_has_text(succeeded, pod->uid) ||
				bt_json_has_text(failed, pod->uid))) {
			continue;
		}
		if (!bt_job_untrack(pass->hub, pass->self, pod->key, pass->arena)) {
			pass->wrong = true;
		}
	}
	if (pass->wrong) {
		/* They stay in the lists. */
		return;
	}
	pass->failed += failed->count;
	pass->succeeded = pass->indexed ? count_indexes(pass) : pass->succeeded + succeeded->count;
}
