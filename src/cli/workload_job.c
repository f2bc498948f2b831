/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/workload_private.h"

#define INDEX_KEY "batch.kubernetes.io/job-completion-index"

/** A Job, or the run that a CronJob would start. */
struct job {
	struct bt_expansion *expansion;
	const struct bt_job_spec *spec;
	struct bt_pod_maker maker;
	struct bt_str name;
	struct bt_str completed_indexes;
	int64_t succeeded;
	int64_t active;
	BT_VEC(int64_t) used_indexes; /* of pods that run or succeeded */
};

static bool is_finished(const struct bt_job_status *status)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_job_condition *condition = &status->conditions.items[i];
		if (bt_str_equal_c(condition->status, "True") &&
			(bt_str_equal_c(condition->type, "Complete") ||
				bt_str_equal_c(condition->type, "Failed"))) {
			return true;
		}
	}
	return false;
}

static int64_t index_of(const struct bt_object_meta *pod)
{
	const struct bt_str *text = bt_str_map_find(&pod->annotations, BT_STR(INDEX_KEY));
	int64_t index;
	return text != NULL && bt_str_parse_int64(*text, &index) ? index : -1;
}

static int compare_int64(const void *a, const void *b)
{
	const int64_t *first = a;
	const int64_t *second = b;
	return (*first > *second) - (*first < *second);
}

/** Count what exists of a Job in the input. */
static void survey(struct job *job)
{
	int64_t succeeded = 0;
	BT_FOR_EACH_OWNED(job->expansion, job->maker.owner, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(job->expansion, index);
		if (pod == NULL) {
			continue;
		}
		bool has_succeeded = bt_str_equal_c(pod->status.phase, "Succeeded");
		succeeded += has_succeeded;
		job->active += bt_pod_is_active(pod);
		if (has_succeeded || bt_pod_is_active(pod)) {
			bt_vec_push(&job->used_indexes, index_of(&pod->metadata));
		}
	}
	if (succeeded > job->succeeded) {
		job->succeeded = succeeded;
	}
	if (job->used_indexes.count > 1) {
		qsort(job->used_indexes.items, job->used_indexes.count, sizeof(int64_t),
			compare_int64);
	}
}

/** --- indexes --- */

/** "1,3-5,7": ascending. Takes the next range off the text; false at its end. */
static bool next_range(struct bt_str *text, int64_t *out_first, int64_t *out_last)
{
	while (text->length != 0) {
		int64_t comma = bt_str_find_char(*text, ',');
		uint32_t length = comma < 0 ? text->length : (uint32_t)comma;
		struct bt_str range = bt_str_sub(*text, 0, length);
		int64_t dash = bt_str_find_char(range, '-');
		*text = bt_str_sub(*text, length + 1, text->length);
		if (dash < 0) {
			if (bt_str_parse_int64(range, out_first)) {
				*out_last = *out_first;
				return true;
			}
		} else if (bt_str_parse_int64(bt_str_sub(range, 0, (uint32_t)dash), out_first) &&
			bt_str_parse_int64(
				bt_str_sub(range, (uint32_t)dash + 1, range.length), out_last)) {
			return true;
		}
	}
	return false;
}

static int add_index(struct job *job, int64_t index, struct berth_error *err)
{
	struct bt_arena *arena = &job->expansion->arena;
	struct bt_pod_maker maker = job->maker;
	maker.prefix =
		bt_arena_printf(arena, "%.*s-%lld-", BT_STR_ARG(job->name), (long long)index);
	struct bt_pod *pod;
	struct bt_str name = bt_pod_maker_next_name(job->expansion, &maker);
	int result = bt_expansion_add(job->expansion, &maker, name, &pod, err);
	if (result == 0) {
		struct bt_str_pair pair = {
			BT_STR(INDEX_KEY), bt_arena_printf(arena, "%lld", (long long)index)};
		pod->metadata.labels = bt_labels_with(&maker.labels, &pair, 1, arena);
		pod->metadata.annotations =
			bt_labels_with(&maker.metadata->annotations, &pair, 1, arena);
	}
	return result;
}

/** The lowest indexes that neither run nor are done. */
static int add_indexes(struct job *job, int64_t count, struct berth_error *err)
{
	struct bt_str completed = job->completed_indexes;
	int64_t first = -1;
	int64_t last = -1;
	int64_t completions = job->spec->completions.present ? job->spec->completions.value : 0;
	bool has_range = next_range(&completed, &first, &last);
	uint32_t used = 0;
	for (int64_t index = 0; index < completions && count > 0; index++) {
		while (has_range && last < index) {
			has_range = next_range(&completed, &first, &last);
		}
		if (has_range && first <= index) {
			index = last < completions ? last : completions;
			continue;
		}
		while (used < job->used_indexes.count && job->used_indexes.items[used] < index) {
			used++;
		}
		if (used < job->used_indexes.count && job->used_indexes.items[used] == index) {
			continue;
		}
		int result = add_index(job, index, err);
		if (result < 0) {
			return result;
		}
		count--;
	}
	return 0;
}

/** --- jobs --- */

static int add_pods(struct job *job, struct berth_error *err)
{
	struct bt_arena *arena = &job->expansion->arena;
	const struct bt_str_pair pairs[] = {
		{BT_STR("batch.kubernetes.io/controller-uid"), job->maker.reference.uid},
		{BT_STR("batch.kubernetes.io/job-name"), job->name},
		{BT_STR("controller-uid"), job->maker.reference.uid},
		{BT_STR("job-name"), job->name},
	};
	job->maker.labels =
		bt_labels_with(&job->maker.labels, pairs, BT_ARRAY_LENGTH(pairs), arena);
	/* Pods that the controller would have running, those there are taken off. */
	const struct bt_job_spec *spec = job->spec;
	int64_t wanted = spec->parallelism.present ? spec->parallelism.value : 1;
	if (spec->completions.present) {
		int64_t left = (int64_t)spec->completions.value - job->succeeded;
		wanted = left < wanted ? left : wanted;
	} else if (!spec->parallelism.present) {
		wanted -= job->succeeded; /* neither is given: one completion */
	} else if (job->succeeded > 0) {
		wanted = 0; /* a work queue: after the first success nobody is added */
	}
	int64_t count = wanted - job->active;
	if (bt_str_equal_c(job->spec->completion_mode, "Indexed")) {
		return add_indexes(job, count, err);
	}
	for (int64_t i = 0; i < count; i++) {
		struct bt_pod *pod;
		struct bt_str name = bt_pod_maker_next_name(job->expansion, &job->maker);
		int result = bt_expansion_add(job->expansion, &job->maker, name, &pod, err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static bool is_suspended(struct bt_opt_bool suspend)
{
	return suspend.present && suspend.value;
}

int bt_expand_job(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_job *value = bt_object_value(object->object, BT_KIND_JOB);
	const struct bt_pod_template *template_ = &value->spec.template_;
	if (is_suspended(value->spec.suspend) || is_finished(&value->status)) {
		return 0;
	}
	struct job job = {
		.expansion = expansion,
		.spec = &value->spec,
		.maker = bt_pod_maker_init(expansion, owner, BT_STR("batch/v1"),
			&template_->metadata, &template_->spec),
		.name = object->name,
		.completed_indexes = value->status.completed_indexes,
		.succeeded = value->status.succeeded,
	};
	survey(&job);
	int result = add_pods(&job, err);
	bt_vec_finish(&job.used_indexes);
	return result;
}

int bt_expand_cron_job(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_cron_job *value = bt_object_value(object->object, BT_KIND_CRON_JOB);
	const struct bt_job_spec *spec = &value->spec.job_template.spec;
	if (is_suspended(value->spec.suspend) || is_suspended(spec->suspend)) {
		return 0;
	}
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		const struct bt_manifests_object *owned = &expansion->cluster->objects.items[index];
		if (owned->kind != BT_KIND_JOB) {
			continue;
		}
		const struct bt_job *run = bt_object_value(owned->object, BT_KIND_JOB);
		if (!is_finished(&run->status)) {
			return 0; /* that one is the run */
		}
	}
	struct job job = {
		.expansion = expansion,
		.spec = spec,
		.maker = bt_pod_maker_init(expansion, owner, BT_STR("batch/v1"),
			&spec->template_.metadata, &spec->template_.spec),
		.name = bt_arena_printf(
			&expansion->arena, "%.*s-00000000", BT_STR_ARG(object->name)),
	};
	job.maker.reference.kind = BT_STR("Job");
	job.maker.reference.name = job.name;
	job.maker.reference.uid = bt_manifests_make_uid(expansion->cluster);
	job.maker.prefix = bt_arena_printf(&expansion->arena, "%.*s-", BT_STR_ARG(job.name));
	return add_pods(&job, err);
}
