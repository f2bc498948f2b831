/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cluster/job.h"
#include "cluster/replicas.h"

#define INDEX_NAME "batch.kubernetes.io/job-completion-index"

static void tell(
	struct bt_job_pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(
		pass->hub, "job-controller", pass->self->jobs, pass->job, type, reason, message);
}

static void add_index_variable(
	struct bt_arena *arena, struct bt_json_value *spec, const char *member, struct bt_str index)
{
	struct bt_json_value *containers = bt_json_find(spec, member);

	for (uint32_t i = 0; containers != NULL && i < containers->count; i++) {
		struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
		if (containers->elements[i]->type != BT_JSON_OBJECT) {
			continue;
		}
		bt_json_set_c(arena, entry, "name", "JOB_COMPLETION_INDEX");
		bt_json_set_str(arena, entry, "value", index);
		bt_json_append(
			arena, bt_json_ensure_array(arena, containers->elements[i], "env"), entry);
	}
}

/** index -1: the job has none. */
static struct bt_json_value *build_pod(
	struct bt_job_pass *pass, int64_t index, struct bt_arena *scratch)
{
	struct bt_str job = bt_key_name(pass->key);
	struct bt_str prefix = bt_arena_printf(scratch, "%.*s-", BT_STR_ARG(job));
	struct bt_str index_text = bt_arena_printf(scratch, "%" PRId64, index);
	struct bt_json_value *owner =
		bt_controller_owner_reference(scratch, pass->self->jobs, pass->job);
	struct bt_json_value *pod;
	struct bt_json_value *metadata;

	if (index >= 0) {
		prefix = bt_arena_printf(scratch, "%.*s-%" PRId64 "-", BT_STR_ARG(job), index);
	}
	pod = bt_tree_from_template(
		scratch, bt_json_object_at(pass->job, "spec.template"), owner, prefix, true);
	metadata = bt_json_ensure_object(scratch, pod, "metadata");
	bt_json_append(scratch, bt_json_ensure_array(scratch, metadata, "finalizers"),
		bt_json_new_c(scratch, BT_JOB_FINALIZER));
	if (index >= 0) {
		struct bt_json_value *spec = bt_json_ensure_object(scratch, pod, "spec");
		bt_json_set_str(scratch, bt_json_ensure_object(scratch, metadata, "labels"),
			INDEX_NAME, index_text);
		bt_json_set_str(scratch, bt_json_ensure_object(scratch, metadata, "annotations"),
			INDEX_NAME, index_text);
		bt_json_set_str(
			scratch, spec, "hostname", bt_str_sub(prefix, 0, prefix.length - 1));
		add_index_variable(scratch, spec, "containers", index_text);
		add_index_variable(scratch, spec, "initContainers", index_text);
	}
	return pod;
}

static bool make_pod(struct bt_job_pass *pass, int64_t index)
{
	struct bt_arena scratch = {0};
	struct bt_json_value *pod = build_pod(pass, index, &scratch);
	struct bt_api_answer answer;
	bool made = bt_hub_create(pass->hub, pass->self->pods, bt_key_namespace(pass->key), pod,
			    &scratch, &answer) == 201;

	if (made) {
		struct bt_str key = bt_stored_key(answer.object);
		tell(pass, "Normal", "SuccessfulCreate",
			bt_arena_printf(
				&scratch, "Created pod: %.*s", BT_STR_ARG(bt_key_name(key))));
	} else {
		tell(pass, "Warning", "FailedCreate",
			bt_arena_printf(&scratch, "Error creating: %.*s",
				BT_STR_ARG(answer.failure.message)));
	}
	bt_api_answer_finish(&answer);
	bt_arena_finish(&scratch);
	return made;
}

/** Lowest indexes that are neither done nor under way. */
static bool *taken_indexes(struct bt_job_pass *pass)
{
	bool *taken = BT_ARENA_NEW_ARRAY(pass->arena, bool, (size_t)pass->completion_count + 1);

	for (int64_t i = 0; i < pass->completion_count; i++) {
		taken[i] = pass->done_indexes[i];
	}
	for (uint32_t i = 0; i < pass->active_count; i++) {
		int64_t index = bt_job_index_of(pass, pass->active[i]);
		if (index >= 0) {
			taken[index] = true;
		}
	}
	return taken;
}

void bt_job_make_pods(struct bt_job_pass *pass, int64_t count)
{
	const bool *taken = pass->indexed ? taken_indexes(pass) : NULL;
	int64_t index = -1;

	pass->more = pass->more || count > BT_JOB_BURST;
	for (int64_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		if (taken != NULL) {
			do {
				index++;
			} while (index < pass->completion_count && taken[index]);
			if (index >= pass->completion_count) {
				return;
			}
		}
		if (!make_pod(pass, index)) {
			pass->wrong = true;
			return;
		}
	}
}

void bt_job_remove_active(struct bt_job_pass *pass, int64_t count)
{
	bt_replicas_sort_for_deletion(
		pass->active, pass->active_count, pass->arena, pass->now_ns / BT_NS_PER_SECOND);
	pass->more = pass->more || count > BT_JOB_BURST;
	for (uint32_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		const struct bt_indexed_pod *pod = pass->active[i];
		uint16_t code = bt_hub_delete(
			pass->hub, pass->self->pods, pod->key, -1, pod->uid, pass->arena);
		if (code != 200 && code != 404) {
			pass->wrong = true;
			continue;
		}
		tell(pass, "Normal", "SuccessfulDelete",
			bt_arena_printf(pass->arena, "Deleted pod: %.*s",
				BT_STR_ARG(bt_key_name(pod->key))));
	}
}
