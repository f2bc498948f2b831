/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs: runs pods to completion and counts each finished pod once. Spec: 14b section 6.3. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"

#define BT_JOB_FINALIZER "batch.kubernetes.io/job-tracking"
/** Maximum number of pods that one sync creates, deletes or counts. */
#define BT_JOB_BURST 500

struct bt_jobs {
	/**
	 * Pods with BT_JOB_FINALIZER, by "ns/job". If the Job is gone, the controller must remove
	 * the finalizer.
	 */
	struct bt_groups tracked;
	struct bt_job_groups groups;
	/** Uids of Jobs, by how many of their pods failed in a row, which delays new pods. */
	struct bt_groups failures;
	struct bt_groups failed_ns; /* the same uids, by the time of the latest failure */
	struct bt_selector_table selectors;
};

/**
 * A set of indexes of an indexed Job is a list of ranges, because a Job may have 2^31 indexes.
 * Ranges are ascending, with a gap between each two. All-zero memory is the empty set.
 */
struct index_range {
	int64_t first;
	int64_t last;
};

struct indexes {
	struct index_range *ranges; /* in the arena of the sync */
	uint32_t count;
	int64_t total; /* number of indexes */
};

struct bt_job_pass {
	struct bt_jobs *self;
	struct bt_sync *sync;
	struct bt_str uid;
	struct bt_json_value *conditions; /* of the status to be written */
	bool indexed;
	struct indexes done_indexes;
	struct indexes failed_indexes;
	int64_t index_limit; /* failures that each index may have; -1: spec.backoffLimit applies */
	int64_t completion_count; /* -1: any successful pod completes the Job */
	int64_t parallelism;
	int64_t succeeded;
	int64_t failed;
	const struct bt_indexed_pod **active;
	uint32_t active_count;
	int64_t ready;
	int64_t terminating; /* pods that are being deleted, but are not finished */
	struct bt_str group; /* PodGroup of new pods; "": none */
	bool more;           /* sync the Job again at once */
};

/*
 * Counting a finished pod takes three steps: the controller writes the pod into
 * status.uncountedTerminatedPods, removes the pod's finalizer, then adds the pod to the counters.
 * So each pod is counted once, even if the process ends in between.
 */

/** Removes the finalizer from the pod. Returns false and sets sync->failed if the write failed. */
static bool untrack(struct bt_sync *sync, struct bt_str pod_key)
{
	struct bt_json_value *pod = bt_hub_read(sync->hub, BT_HUB_PODS, pod_key, sync->arena);

	if (pod != NULL &&
		!bt_sync_remove_finalizer(
			sync, sync->hub->kinds[BT_HUB_PODS], pod, BT_JOB_FINALIZER)) {
		sync->failed = true;
		return false;
	}
	return true;
}

/** Returns the index of an indexed job's pod "<job>-<index>-<random>", or -1. */
static int64_t job_index_of(const struct bt_job_pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);
	struct bt_str job = bt_key_name(pass->sync->key);
	int64_t index;

	if (name.length <= job.length + 1 || !bt_str_has_prefix(name, job)) {
		return -1;
	}
	name = bt_str_sub(name, job.length + 1, name.length);
	int64_t dash = bt_str_find_char(name, '-');
	if (dash <= 0 || !bt_str_parse_int64(bt_str_sub(name, 0, (uint32_t)dash), &index) ||
		index < 0 || index >= pass->completion_count) {
		return -1;
	}
	return index;
}

/** Compares the first members of struct index_range or struct index_failures. */
BT_COMPARE(compare_indexes, int64_t, BT_ORDER(*a, *b))

/** Makes a set from ranges, which are sorted and joined in place. */
static struct indexes join_ranges(struct index_range *ranges, uint32_t count)
{
	struct indexes joined = {.ranges = ranges};

	if (count > 1) {
		qsort(ranges, count, sizeof(*ranges), compare_indexes);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct index_range range = ranges[i];
		struct index_range *end = joined.count != 0 ? &ranges[joined.count - 1] : NULL;

		if (end == NULL || range.first > end->last + 1) {
			ranges[joined.count++] = range;
			joined.total += range.last - range.first + 1;
		} else if (range.last > end->last) {
			joined.total += range.last - end->last;
			end->last = range.last;
		}
	}
	return joined;
}

static struct indexes unite_indexes(
	struct bt_arena *arena, const struct indexes *a, const struct indexes *b)
{
	struct index_range *both =
		BT_ARENA_NEW_ARRAY(arena, struct index_range, (size_t)a->count + b->count + 1);

	if (a->count != 0) {
		memcpy(both, a->ranges, a->count * sizeof(*both));
	}
	if (b->count != 0) {
		memcpy(both + a->count, b->ranges, b->count * sizeof(*both));
	}
	return join_ranges(both, a->count + b->count);
}

/** Returns the lowest index from `index` on that is not in the set. */
static int64_t next_free_index(const struct indexes *set, int64_t index)
{
	uint32_t at; /* the first range that ends at or after the index */

	BT_LOWER_BOUND(at, set->count, middle, set->ranges[middle].last < index);
	return at < set->count && set->ranges[at].first <= index ? set->ranges[at].last + 1 : index;
}

/**
 * Parses "0-2,5". The text may come from a client: parts that are no indexes of the job are
 * ignored.
 */
static struct indexes read_indexes(const struct bt_job_pass *pass, struct bt_str text)
{
	uint32_t most = 1;
	uint32_t count = 0;

	for (uint32_t i = 0; i < text.length; i++) {
		most += text.data[i] == ',';
	}
	struct index_range *ranges =
		BT_ARENA_NEW_ARRAY(pass->sync->arena, struct index_range, most);
	while (text.length != 0) {
		struct bt_str last = bt_str_cut(&text, ',');
		struct bt_str first = bt_str_cut(&last, '-');
		struct index_range range = {-1, -1};

		(void)bt_str_parse_int64(first, &range.first);
		range.last = range.first;
		(void)bt_str_parse_int64(last, &range.last);
		if (range.last >= pass->completion_count) {
			range.last = pass->completion_count - 1;
		}
		if (range.first >= 0 && range.first <= range.last) {
			ranges[count++] = range;
		}
	}
	return join_ranges(ranges, count);
}

/** Formats a set: "0-2,5". */
static struct bt_str indexes_text(const struct bt_job_pass *pass, const struct indexes *set)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < set->count; i++) {
		struct index_range range = set->ranges[i];

		bt_strbuf_printf(&text, "%s%" PRId64, i != 0 ? "," : "", range.first);
		if (range.last > range.first) {
			bt_strbuf_printf(&text, "%s%" PRId64,
				range.last > range.first + 1 ? "-" : ",", range.last);
		}
	}
	return bt_arena_take_strbuf(pass->sync->arena, &text);
}

static void set_indexes(const struct bt_job_pass *pass, struct bt_json_value *status)
{
	if (pass->indexed) {
		bt_json_set_str(pass->sync->arena, status, "completedIndexes",
			indexes_text(pass, &pass->done_indexes));
	}
	if (pass->index_limit >= 0) {
		bt_json_set_str(pass->sync->arena, status, "failedIndexes",
			indexes_text(pass, &pass->failed_indexes));
	}
}

static void set_condition(struct bt_job_pass *pass, const char *type, const char *status,
	const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, status, reason, message};

	if (bt_tree_set_condition(
		    pass->sync->arena, pass->conditions, &condition, false, pass->sync->now_ns)) {
		bt_json_set_str(pass->sync->arena, bt_condition_find(pass->conditions, type),
			"lastProbeTime", bt_time_text(pass->sync->arena, pass->sync->now_ns));
	}
}

static bool is_condition(const struct bt_job_pass *pass, const char *type)
{
	return bt_condition_is(pass->conditions, type, "True");
}

/* --- pod failure policy --- */

enum failure_action {
	FAILURE_COUNT,
	FAILURE_IGNORE,
	FAILURE_FAIL_INDEX,
	FAILURE_FAIL_JOB,
};

/** rule: member onExitCodes of a rule. Returns the container status that matches, or NULL. */
static const struct bt_json_value *find_exit_code(
	const struct bt_json_value *rule, const struct bt_json_value *pod)
{
	static const char *const lists[] = {
		"status.initContainerStatuses", "status.containerStatuses"};
	const struct bt_json_value *values = bt_json_array_at(rule, "values");
	struct bt_str name = bt_json_text_at(rule, "containerName");
	bool is_in = bt_str_equal_c(bt_json_text_at(rule, "operator"), "In");

	for (size_t list = 0; list < BT_ARRAY_LENGTH(lists); list++) {
		const struct bt_json_value *statuses = bt_json_array_at(pod, lists[list]);

		for (uint32_t i = 0; i < statuses->count; i++) {
			const struct bt_json_value *status = statuses->elements[i];
			int64_t code = bt_json_int64_at(status, "state.terminated.exitCode", 0);
			bool found = false;
			int64_t value;

			if (code == 0 ||
				(name.length != 0 &&
					!bt_str_equal(bt_json_text_at(status, "name"), name))) {
				continue;
			}
			for (uint32_t n = 0; n < values->count; n++) {
				found = found ||
					(bt_json_number_int64(values->elements[n]->text, &value) &&
						value == code);
			}
			if (found == is_in) {
				return status;
			}
		}
	}
	return NULL;
}

static const struct bt_json_value *find_pod_condition(
	const struct bt_json_value *patterns, const struct bt_json_value *pod)
{
	const struct bt_json_value *conditions = bt_json_array_at(pod, "status.conditions");

	for (uint32_t i = 0; i < patterns->count; i++) {
		struct bt_str status = bt_json_text_at(patterns->elements[i], "status");
		const struct bt_json_value *condition = bt_json_element_with(
			conditions, "type", bt_json_text_at(patterns->elements[i], "type"));

		if (condition != NULL &&
			bt_str_equal(bt_json_text_at(condition, "status"),
				status.length != 0 ? status : BT_STR("True"))) {
			return condition;
		}
	}
	return NULL;
}

/**
 * Returns the action of the first rule of spec.podFailurePolicy that matches the pod; FAILURE_COUNT
 * if no rule matches. For FAILURE_FAIL_JOB, sets condition FailureTarget.
 */
static enum failure_action apply_failure_policy(struct bt_job_pass *pass, struct bt_str pod_key)
{
	static const char *const names[] = {
		[FAILURE_COUNT] = "Count",
		[FAILURE_IGNORE] = "Ignore",
		[FAILURE_FAIL_INDEX] = "FailIndex",
		[FAILURE_FAIL_JOB] = "FailJob",
	};
	const struct bt_json_value *rules =
		bt_json_array_at(pass->sync->object, "spec.podFailurePolicy.rules");
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *pod = rules->count != 0
		? bt_hub_read(pass->sync->hub, BT_HUB_PODS, pod_key, arena)
		: NULL;

	for (uint32_t i = 0; pod != NULL && i < rules->count; i++) {
		const struct bt_json_value *rule = rules->elements[i];
		struct bt_str action_name = bt_json_text_at(rule, "action");
		const struct bt_json_value *codes = bt_json_find(rule, "onExitCodes");
		const struct bt_json_value *found = codes != NULL
			? find_exit_code(codes, pod)
			: find_pod_condition(bt_json_array_at(rule, "onPodConditions"), pod);
		enum failure_action action = FAILURE_COUNT;

		if (found == NULL) {
			continue;
		}
		for (size_t n = 0; n < BT_ARRAY_LENGTH(names); n++) {
			if (bt_str_equal_c(action_name, names[n])) {
				action = (enum failure_action)n;
			}
		}
		if (action == FAILURE_FAIL_JOB && codes != NULL) {
			set_condition(pass, "FailureTarget", "True", "PodFailurePolicy",
				bt_arena_printf(arena,
					"Container %.*s for pod %.*s failed with exit code %" PRId64
					" matching FailJob rule at index %" PRIu32,
					BT_STR_ARG(bt_json_text_at(found, "name")),
					BT_STR_ARG(pod_key),
					bt_json_int64_at(found, "state.terminated.exitCode", 0),
					i));
		} else if (action == FAILURE_FAIL_JOB) {
			set_condition(pass, "FailureTarget", "True", "PodFailurePolicy",
				bt_arena_printf(arena,
					"Pod %.*s has condition %.*s matching FailJob rule at "
					"index "
					"%" PRIu32,
					BT_STR_ARG(pod_key),
					BT_STR_ARG(bt_json_text_at(found, "type")), i));
		}
		return action;
	}
	return FAILURE_COUNT;
}

#define INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"

/** Failures of one index: their number, and the time of the latest. */
struct index_failures {
	int64_t index;
	int64_t count;
	int64_t last_seconds;
};

struct failure_list {
	struct index_failures *items; /* sorted by index; in the arena of the sync */
	uint32_t count;
};

/** Returns the failures of the indexes that have a failed pod. */
static struct failure_list count_index_failures(struct bt_job_pass *pass)
{
	struct bt_sync *sync = pass->sync;
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(sync->hub, pass->uid);
	struct failure_list list = {NULL, 0};
	struct bt_arena scratch = {0};
	uint32_t pod_count = 0;
	uint32_t joined = 0;

	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		pod_count += pod->phase == BT_POD_FAILED;
	}
	list.items = BT_ARENA_NEW_ARRAY(sync->arena, struct index_failures, pod_count + 1);
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		int64_t index = pod->phase == BT_POD_FAILED ? job_index_of(pass, pod) : -1;
		struct index_failures *failures = &list.items[list.count];

		if (index < 0) {
			continue;
		}
		list.count++;
		const struct bt_json_value *object =
			bt_hub_read(sync->hub, BT_HUB_PODS, pod->key, &scratch);
		const struct bt_json_value *statuses =
			bt_json_array_at(object, "status.containerStatuses");
		*failures = (struct index_failures){.index = index};
		(void)bt_str_parse_int64(
			bt_tree_annotation(object, INDEX_FAILURES), &failures->count);
		failures->count = failures->count < 0 ? 1
			: failures->count < INT64_MAX ? failures->count + 1
						      : INT64_MAX;
		for (uint32_t i = 0; i < statuses->count; i++) {
			int64_t ended = bt_tree_seconds(
				statuses->elements[i], "state.terminated.finishedAt");
			failures->last_seconds = BT_MAX(failures->last_seconds, ended);
		}
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	if (list.count > 1) {
		qsort(list.items, list.count, sizeof(*list.items), compare_indexes);
	}
	/* Join the entries of each index: keep the highest count and the latest time. */
	for (uint32_t i = 0; i < list.count; i++) {
		struct index_failures next = list.items[i];
		struct index_failures *last = joined != 0 ? &list.items[joined - 1] : NULL;

		if (last == NULL || last->index != next.index) {
			list.items[joined++] = next;
			continue;
		}
		last->count = BT_MAX(next.count, last->count);
		last->last_seconds = BT_MAX(next.last_seconds, last->last_seconds);
	}
	list.count = joined;
	return list;
}

static int64_t failures_of_index(const struct failure_list *list, int64_t index)
{
	struct index_failures wanted = {.index = index};
	const struct index_failures *found = list->count == 0
		? NULL
		: bsearch(&wanted, list->items, list->count, sizeof(wanted), compare_indexes);

	return found != NULL ? found->count : 0;
}

/** Returns whether the pod succeeded, failed, or was deleted before it had a node. */
static bool is_finished(const struct bt_indexed_pod *pod)
{
	return bt_pod_is_over(pod) || (pod->deleting && pod->node_name.length == 0);
}

static void forget_failures(struct bt_jobs *self, struct bt_str uid)
{
	bt_groups_remove(&self->failures, uid);
	bt_groups_remove(&self->failed_ns, uid);
}

/**
 * Counts finished pods: sets the counters, the indexes and the active pods of the pass. Sets
 * sync->failed if a write failed; then the counters are not complete.
 */
static void count_pods(struct bt_job_pass *pass)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *succeeded =
		bt_tree_copy_array(arena, sync->object, "status.uncountedTerminatedPods.succeeded");
	struct bt_json_value *failed =
		bt_tree_copy_array(arena, sync->object, "status.uncountedTerminatedPods.failed");
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(sync->hub, pass->uid);
	struct failure_list failures = {NULL, 0};
	struct index_range *done = NULL; /* indexes of the succeeded pods that this sync adds */
	struct index_range *lost = NULL;
	uint32_t done_count = 0;
	uint32_t lost_count = 0;
	uint32_t added = 0;

	if (pass->indexed) {
		done = BT_ARENA_NEW_ARRAY(arena, struct index_range, BT_JOB_BURST);
		lost = BT_ARENA_NEW_ARRAY(arena, struct index_range, BT_JOB_BURST);
		pass->done_indexes = read_indexes(
			pass, bt_json_text_at(sync->object, "status.completedIndexes"));
		pass->failed_indexes =
			read_indexes(pass, bt_json_text_at(sync->object, "status.failedIndexes"));
	}
	pass->active = bt_pod_index_active(sync->hub, pass->uid, arena, &pass->active_count);
	for (uint32_t i = 0; i < pass->active_count; i++) {
		pass->ready += pass->active[i]->ready;
	}
	pass->succeeded = bt_json_int64_at(sync->object, "status.succeeded", 0);
	pass->failed = bt_json_int64_at(sync->object, "status.failed", 0);
	/* Append the finished pods that are not in uncountedTerminatedPods yet. */
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		bool success = pod->phase == BT_POD_SUCCEEDED;

		pass->terminating += !bt_indexed_pod_is_active(pod) && !is_finished(pod);
		if (!pod->job_tracking || !is_finished(pod) || added == BT_JOB_BURST ||
			bt_json_has_text(succeeded, pod->uid) ||
			bt_json_has_text(failed, pod->uid)) {
			continue;
		}
		int64_t index = pass->indexed ? job_index_of(pass, pod) : -1;
		if (success) {
			forget_failures(pass->self, pass->uid);
			if (index >= 0) {
				done[done_count++] = (struct index_range){index, index};
			}
		} else {
			enum failure_action action = apply_failure_policy(pass, pod->key);

			if (action == FAILURE_IGNORE) {
				(void)untrack(sync, pod->key);
				continue;
			}
			int64_t in_a_row = 0;
			(void)bt_groups_number(&pass->self->failures, pass->uid, &in_a_row);
			bt_groups_set_number(&pass->self->failures, pass->uid, in_a_row + 1);
			bt_groups_set_number(&pass->self->failed_ns, pass->uid, sync->now_ns);
			if (index >= 0 && pass->index_limit >= 0) {
				if (failures.items == NULL) {
					failures = count_index_failures(pass);
				}
				if (action == FAILURE_FAIL_INDEX ||
					failures_of_index(&failures, index) > pass->index_limit) {
					lost[lost_count++] = (struct index_range){index, index};
				}
			}
		}
		bt_json_append(
			arena, success ? succeeded : failed, bt_json_new_str(arena, pod->uid));
		added++;
	}
	if (pass->indexed) {
		struct indexes fresh_done = join_ranges(done, done_count);
		struct indexes fresh_lost = join_ranges(lost, lost_count);

		pass->done_indexes = unite_indexes(arena, &pass->done_indexes, &fresh_done);
		pass->failed_indexes = unite_indexes(arena, &pass->failed_indexes, &fresh_lost);
	}
	pass->more = added == BT_JOB_BURST;
	if (added != 0) {
		struct bt_json_value *patch = bt_json_put(arena, NULL,
			"{status: {uncountedTerminatedPods: {succeeded: %t, failed: %t}}}",
			succeeded, failed);
		struct bt_json_value *status = bt_json_find(patch, "status");

		set_indexes(pass, status);
		if (is_condition(pass, "FailureTarget")) {
			bt_json_set_value(arena, status, "conditions",
				bt_json_clone(arena, pass->conditions, false));
		}
		if (bt_hub_patch(sync->hub, sync->resource, BT_SUBRESOURCE_STATUS, sync->key, patch,
			    arena) != 200) {
			sync->failed = true;
			return;
		}
	}
	/* Remove the finalizer from all finished pods in uncountedTerminatedPods. */
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		if (pod->job_tracking && is_finished(pod) &&
			(bt_json_has_text(succeeded, pod->uid) ||
				bt_json_has_text(failed, pod->uid))) {
			(void)untrack(sync, pod->key);
		}
	}
	if (sync->failed) {
		/* A finalizer was not removed: the next sync counts the pods. */
		return;
	}
	pass->failed += failed->count;
	pass->succeeded += succeeded->count;
	if (pass->indexed) {
		pass->succeeded = pass->done_indexes.total;
	}
}

#define INDEX_NAME "batch.kubernetes.io/job-completion-index"

static void add_index_variable(
	struct bt_arena *arena, struct bt_json_value *spec, const char *member, struct bt_str index)
{
	struct bt_json_value *containers = bt_json_find(spec, member);

	for (uint32_t i = 0; containers != NULL && i < containers->count; i++) {
		if (containers->elements[i]->type == BT_JSON_OBJECT) {
			bt_json_put(arena, containers->elements[i],
				"{env: [{name: 'JOB_COMPLETION_INDEX', value: %s}]}", index);
		}
	}
}

/**
 * Creates a pod. index: -1 for a Job without indexes. failures: how often pods of the index have
 * failed so far. Returns false if the pod could not be created.
 */
static bool make_pod(struct bt_job_pass *pass, int64_t index, int64_t failures)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena scratch = {0};
	struct bt_str job = bt_key_name(sync->key);
	struct bt_str index_text = bt_arena_printf(&scratch, "%" PRId64, index);
	struct bt_str prefix = index < 0
		? bt_arena_printf(&scratch, "%.*s-", BT_STR_ARG(job))
		: bt_arena_printf(&scratch, "%.*s-%" PRId64 "-", BT_STR_ARG(job), index);
	struct bt_json_value *pod =
		bt_tree_from_template(&scratch, bt_json_object_at(sync->object, "spec.template"),
			bt_sync_owner_reference(sync, &scratch), prefix, true);

	bt_json_put(&scratch, pod, "{metadata: {finalizers: ['" BT_JOB_FINALIZER "']}}");
	if (pass->group.length != 0) {
		bt_json_put(&scratch, pod, "{spec: {schedulingGroup: {podGroupName: %s}}}",
			pass->group);
	}
	if (index >= 0) {
		struct bt_json_value *spec = bt_json_ensure_object(&scratch, pod, "spec");

		bt_json_put(&scratch, pod,
			"{metadata: {labels: {" INDEX_NAME ": %s}, annotations: {" INDEX_NAME
			": %s}}, spec: {hostname: %s}}",
			index_text, index_text, bt_str_sub(prefix, 0, prefix.length - 1));
		add_index_variable(&scratch, spec, "containers", index_text);
		add_index_variable(&scratch, spec, "initContainers", index_text);
	}
	if (pass->index_limit >= 0) {
		bt_json_put(&scratch, pod, "{metadata: {annotations: {" INDEX_FAILURES ": %s}}}",
			bt_arena_printf(&scratch, "%" PRId64, failures));
	}
	bool made = bt_sync_create_pods(sync, pod, 1, NULL);
	bt_arena_finish(&scratch);
	return made;
}

#define RETRY_FIRST_NS (INT64_C(10) * BT_NS_PER_SECOND)
#define RETRY_MAX_NS (INT64_C(600) * BT_NS_PER_SECOND)

/**
 * Returns the time in ns from which on new pods may be created. failures: number of failures in a
 * row; the latest was at last_ns. Returns 0 if there were no failures.
 */
static int64_t retry_time(int64_t failures, int64_t last_ns)
{
	if (failures <= 0) {
		return 0;
	}
	int64_t wait = RETRY_FIRST_NS << (failures < 8 ? failures - 1 : 7);
	return last_ns + BT_MIN(wait, RETRY_MAX_NS);
}

static void make_pods(struct bt_job_pass *pass, int64_t count)
{
	struct bt_sync *sync = pass->sync;
	struct failure_list failures = {NULL, 0};
	uint32_t burst = bt_hub_burst(sync->hub, BT_JOB_BURST);
	struct indexes taken = {NULL, 0, 0};
	int64_t index = -1;

	if (pass->indexed) {
		struct index_range *active = BT_ARENA_NEW_ARRAY(
			sync->arena, struct index_range, (size_t)pass->active_count + 1);
		uint32_t active_count = 0;

		for (uint32_t i = 0; i < pass->active_count; i++) {
			int64_t under_way = job_index_of(pass, pass->active[i]);
			if (under_way >= 0) {
				active[active_count++] = (struct index_range){under_way, under_way};
			}
		}
		taken = join_ranges(active, active_count);
		taken = unite_indexes(sync->arena, &taken, &pass->done_indexes);
		taken = unite_indexes(sync->arena, &taken, &pass->failed_indexes);
	}
	if (pass->index_limit >= 0) {
		/* Each index has a backoff of its own. */
		failures = count_index_failures(pass);
		struct index_range *waiting =
			BT_ARENA_NEW_ARRAY(sync->arena, struct index_range, failures.count + 1);
		uint32_t waiting_count = 0;

		for (uint32_t i = 0; i < failures.count; i++) {
			const struct index_failures *item = &failures.items[i];
			/* A client may have written a time in the future. */
			int64_t last_ns = bt_ns_of_seconds(item->last_seconds);
			int64_t at = retry_time(item->count, BT_MIN(last_ns, sync->now_ns));

			if (at > sync->now_ns &&
				next_free_index(&taken, item->index) == item->index) {
				waiting[waiting_count++] =
					(struct index_range){item->index, item->index};
				bt_hub_enqueue_at(sync->hub, sync->key, at);
			}
		}
		struct indexes waits = join_ranges(waiting, waiting_count);
		taken = unite_indexes(sync->arena, &taken, &waits);
	}
	pass->more = pass->more || count > burst;
	for (int64_t i = 0; i < count && i < burst; i++) {
		if (pass->indexed) {
			/* Find the next index that is not done, failed, waiting or active. */
			index = next_free_index(&taken, index + 1);
			if (index >= pass->completion_count) {
				return;
			}
		}
		if (!make_pod(pass, index, failures_of_index(&failures, index))) {
			return;
		}
	}
}

/**
 * Deletes `count` active pods, at most BT_JOB_BURST. counted true: the deleted pods will count as
 * failures. counted false: removes the finalizer of the pods first, so that they do not count.
 */
static void remove_active(struct bt_job_pass *pass, int64_t count, bool counted)
{
	struct bt_sync *sync = pass->sync;

	bt_replicas_sort_for_deletion(
		pass->active, pass->active_count, sync->arena, sync->now_seconds);
	pass->more = pass->more || count > BT_JOB_BURST;
	for (uint32_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		if (counted || untrack(sync, pass->active[i]->key)) {
			(void)bt_sync_delete_pod(sync, pass->active[i]);
		}
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_jobs *self = data;

	if (observed->kind == BT_HUB_WORKLOADS || observed->kind == BT_HUB_POD_GROUPS) {
		bt_job_groups_observe(&self->groups, observed);
		return;
	}
	if (observed->kind == BT_HUB_PODS) {
		const struct bt_json_value *owner = observed->owner;
		const struct bt_indexed_pod *record = bt_pod_index_find(hub, observed->key);
		struct bt_arena arena = {0};

		bt_owners_enqueue(hub, observed, "Job", &self->selectors);
		if (record == NULL || !record->job_tracking) {
			bt_groups_remove(&self->tracked, observed->key);
		} else if (bt_str_equal_c(bt_json_text_at(owner, "kind"), "Job")) {
			bt_groups_set(&self->tracked, observed->key,
				bt_api_key(&arena, bt_key_namespace(observed->key),
					bt_json_text_at(owner, "name")));
		}
		bt_arena_finish(&arena);
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		forget_failures(self, bt_json_text_at(observed->after, "metadata.uid"));
	}
	bt_owners_observe(hub, observed, &self->selectors, false);
}

/* --- sync of one Job --- */

/** Returns the reason why the Job has failed, or NULL. */
static const char *failure_of(struct bt_job_pass *pass, struct bt_str *out_message)
{
	struct bt_sync *sync = pass->sync;
	int64_t limit = bt_json_int64_at(sync->object, "spec.backoffLimit", 6);
	int64_t deadline = bt_json_int64_at(sync->object, "spec.activeDeadlineSeconds", -1);
	int64_t start = bt_tree_seconds(sync->object, "status.startTime");
	bool restarting = bt_str_equal_c(
		bt_json_text_at(sync->object, "spec.template.spec.restartPolicy"), "OnFailure");
	int64_t restarts = 0;

	for (uint32_t i = 0; i < pass->active_count; i++) {
		restarts += pass->active[i]->restart_count;
	}
	if (pass->failed > limit ||
		(restarting && (limit > 0 ? restarts >= limit : limit == 0 && restarts > 0))) {
		*out_message = BT_STR("Job has reached the specified backoff limit");
		return "BackoffLimitExceeded";
	}
	if (deadline >= 0 && deadline < INT32_MAX && start != 0) {
		int64_t due = bt_ns_of_seconds(start + deadline);
		if (due <= sync->now_ns) {
			*out_message = BT_STR("Job was active longer than specified deadline");
			return "DeadlineExceeded";
		}
		bt_hub_enqueue_at(sync->hub, sync->key, due);
	}
	if (pass->index_limit >= 0 && pass->failed_indexes.total > 0) {
		if (pass->failed_indexes.total >
			bt_json_int64_at(sync->object, "spec.maxFailedIndexes", INT64_MAX)) {
			*out_message = BT_STR("Job has exceeded the specified maximal number of "
					      "failed indexes");
			return "MaxFailedIndexesExceeded";
		}
		if (pass->failed_indexes.total + pass->succeeded >= pass->completion_count) {
			*out_message = BT_STR("Job has failed indexes");
			return "FailedIndexes";
		}
	}
	return NULL;
}

/**
 * Sets condition `target` and deletes the active pods. Once all pods have terminated, also sets
 * condition `final`. Returns whether `final` was set.
 */
static bool end_job(struct bt_job_pass *pass, const char *target, const char *final,
	const char *reason, struct bt_str message)
{
	set_condition(pass, target, "True", reason, message);
	if (pass->active_count != 0) {
		remove_active(pass, pass->active_count, true);
	} else if (pass->terminating == 0) {
		set_condition(pass, final, "True", reason, message);
		return true;
	}
	return false;
}

/** Returns the message of the first rule of spec.successPolicy that is met, or "". */
static struct bt_str met_success_rule(const struct bt_job_pass *pass)
{
	const struct bt_json_value *rules =
		bt_json_array_at(pass->sync->object, "spec.successPolicy.rules");

	for (uint32_t i = 0; pass->indexed && i < rules->count; i++) {
		struct bt_str text = bt_json_text_at(rules->elements[i], "succeededIndexes");
		int64_t count = bt_json_int64_at(rules->elements[i], "succeededCount", -1);
		struct indexes wanted = read_indexes(pass, text);
		int64_t wanted_count = text.length != 0 ? wanted.total : pass->completion_count;
		struct indexes both =
			unite_indexes(pass->sync->arena, &wanted, &pass->done_indexes);
		int64_t done_count = text.length != 0
			? wanted.total + pass->done_indexes.total - both.total
			: pass->done_indexes.total;

		if (done_count >= (count >= 0 ? count : wanted_count)) {
			return bt_arena_printf(
				pass->sync->arena, "Matched rules at index %" PRIu32, i);
		}
	}
	return BT_STR("");
}

static void manage_pods(struct bt_job_pass *pass)
{
	struct bt_sync *sync = pass->sync;
	int64_t failures;
	int64_t last_ns;
	int64_t wanted = pass->parallelism;
	int64_t left = pass->completion_count - pass->succeeded - pass->failed_indexes.total;
	bool waits_for_end = bt_str_equal_c(
		bt_json_text_at(sync->object, "spec.podReplacementPolicy"), "Failed");
	int64_t at = 0;

	if (pass->completion_count >= 0) {
		wanted = BT_MIN(wanted, left);
	} else if (pass->succeeded > 0 && wanted > pass->active_count) {
		wanted = pass->active_count;
	}
	int64_t missing = (wanted > 0 ? wanted : 0) - pass->active_count;
	if (missing < 0) {
		remove_active(pass, -missing, false);
		return;
	}
	missing -= waits_for_end ? pass->terminating : 0;
	if (pass->index_limit < 0 &&
		bt_groups_number(&pass->self->failures, pass->uid, &failures) &&
		bt_groups_number(&pass->self->failed_ns, pass->uid, &last_ns)) {
		at = retry_time(failures, last_ns);
	}
	if (missing > 0 && at > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, at);
	} else if (missing > 0 &&
		bt_job_ensure_pod_group(sync, &pass->self->groups,
			bt_pod_index_of_owner(sync->hub, pass->uid) != NULL, &pass->group)) {
		make_pods(pass, missing);
	}
}

static void write_status(struct bt_job_pass *pass, bool suspended)
{
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *job = pass->sync->object;
	struct bt_json_value *now = bt_json_new_str(arena, bt_time_text(arena, pass->sync->now_ns));
	bool starts = bt_json_text_at(job, "status.startTime").length == 0 ||
		bt_condition_is(bt_json_array_at(job, "status.conditions"), "Suspended", "True");
	bool completes = is_condition(pass, "Complete") &&
		bt_json_text_at(job, "status.completionTime").length == 0;
	struct bt_json_value *status = bt_json_put(arena, NULL,
		"{uncountedTerminatedPods: {succeeded: null, failed: null}, startTime: %v, "
		"completionTime: %v, active: %d, ready: %d, terminating: %d, succeeded: %d, "
		"failed: %d}",
		suspended        ? bt_json_new(arena, BT_JSON_NULL)
			: starts ? now
				 : NULL,
		completes ? now : NULL, (int64_t)pass->active_count, pass->ready, pass->terminating,
		pass->succeeded, pass->failed);

	set_indexes(pass, status);
	bt_json_set_value(arena, status, "conditions", pass->conditions);
	bt_sync_write_status(pass->sync, status);
}

/** Returns the condition's reason as a C string. */
static const char *reason_of(struct bt_job_pass *pass, const struct bt_json_value *condition)
{
	return bt_arena_str(pass->sync->arena, bt_json_text_at(condition, "reason")).data;
}

static void create_or_delete_pods(struct bt_job_pass *pass, bool suspended)
{
	struct bt_sync *sync = pass->sync;
	struct bt_str message = BT_STR("");
	const char *reason = failure_of(pass, &message);
	const struct bt_json_value *target;

	/* A decision that is in the status is final. */
	if (is_condition(pass, "FailureTarget")) {
		target = bt_condition_find(pass->conditions, "FailureTarget");
		reason = reason_of(pass, target);
		message = bt_json_text_at(target, "message");
	} else if (!is_condition(pass, "SuccessCriteriaMet")) {
		struct bt_str rule = met_success_rule(pass);

		if (pass->completion_count < 0 ? pass->succeeded > 0 && pass->active_count == 0
					       : pass->succeeded >= pass->completion_count) {
			set_condition(pass, "SuccessCriteriaMet", "True", "CompletionsReached",
				BT_STR("Reached expected number of succeeded pods"));
		} else if (rule.length != 0) {
			set_condition(pass, "SuccessCriteriaMet", "True", "SuccessPolicy", rule);
		}
	}
	if (is_condition(pass, "SuccessCriteriaMet")) {
		target = bt_condition_find(pass->conditions, "SuccessCriteriaMet");
		if (end_job(pass, "SuccessCriteriaMet", "Complete", reason_of(pass, target),
			    bt_json_text_at(target, "message"))) {
			bt_sync_event(sync, "Normal", "Completed", "Job completed");
		}
	} else if (reason != NULL) {
		if (end_job(pass, "FailureTarget", "Failed", reason, message)) {
			bt_sync_event(pass->sync, "Warning", reason, "%.*s", BT_STR_ARG(message));
		}
	} else if (suspended) {
		if (!is_condition(pass, "Suspended")) {
			bt_sync_event(sync, "Normal", "Suspended", "Job suspended");
		}
		set_condition(pass, "Suspended", "True", "JobSuspended", BT_STR("Job suspended"));
		remove_active(pass, pass->active_count, false);
	} else {
		if (is_condition(pass, "Suspended")) {
			set_condition(
				pass, "Suspended", "False", "JobResumed", BT_STR("Job resumed"));
			bt_sync_event(sync, "Normal", "Resumed", "Job resumed");
		}
		manage_pods(pass);
	}
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_json_value *job = sync->object;
	struct bt_job_pass pass = {
		.self = sync->data,
		.sync = sync,
		.uid = bt_json_text_at(job, "metadata.uid"),
		.conditions = bt_tree_copy_array(sync->arena, job, "status.conditions"),
		.indexed = bt_str_equal_c(bt_json_text_at(job, "spec.completionMode"), "Indexed"),
		.completion_count = bt_json_int64_at(job, "spec.completions", -1),
		.parallelism = bt_json_int64_at(job, "spec.parallelism", 1),
		.index_limit = bt_json_int64_at(job, "spec.backoffLimitPerIndex", -1),
	};
	struct bt_str manager = bt_json_text_at(job, "spec.managedBy");
	bool suspended = bt_json_bool_at(job, "spec.suspend", false);
	bool finished = is_condition(&pass, "Complete") || is_condition(&pass, "Failed");

	bt_hub_cancel_delay(sync->hub, sync->key);
	/* Remove the finalizer from pods of a Job that was deleted or replaced. */
	BT_GROUPS_EACH (&pass.self->tracked, sync->key, at) {
		struct bt_str pod_key = bt_groups_key(&pass.self->tracked, at);
		const struct bt_indexed_pod *record = bt_pod_index_find(sync->hub, pod_key);

		if (record != NULL && !bt_str_equal(record->owner_uid, pass.uid)) {
			(void)untrack(sync, pod_key);
		}
	}
	if (sync->failed || job == NULL || (pass.indexed && pass.completion_count < 0) ||
		(manager.length != 0 && !bt_str_equal_c(manager, "kubernetes.io/job-controller"))) {
		return true;
	}
	if (!finished &&
		bt_owners_adopt_pods(sync, &pass.self->selectors, NULL, BT_JOB_FINALIZER)) {
		return true;
	}
	/* A refused adoption is tried again, but does not keep the Job's pods from counting. */
	bool is_refused = sync->failed;
	sync->failed = false;
	pass.index_limit = pass.indexed ? pass.index_limit : -1;
	count_pods(&pass);
	if (sync->failed) {
		return false;
	}
	sync->failed = is_refused;
	/* Create and delete pods only after all finished pods are counted. */
	if (!pass.more && !finished && !bt_tree_is_deleting(job)) {
		create_or_delete_pods(&pass, suspended);
	} else if (!pass.more && finished && pass.active_count != 0) {
		remove_active(&pass, pass.active_count, true);
	}
	write_status(&pass, suspended && !finished);
	if (pass.more) {
		bt_hub_enqueue(sync->hub, sync->key);
	}
	return true;
}

const struct bt_controller_ops bt_job_controller = {
	.watches = BT_WATCH(BT_HUB_JOBS) | BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_WORKLOADS) |
		BT_WATCH(BT_HUB_POD_GROUPS),
	.object = BT_HUB_JOBS,
	.syncs_gone = true,
	.group_count = 5,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};

/* --- deleting finished Jobs: spec.ttlSecondsAfterFinished --- */

static void observe_finished(
	BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->type != BT_CHANGE_DELETED &&
		bt_json_int64_at(observed->after, "spec.ttlSecondsAfterFinished", -1) >= 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static bool sync_finished(struct bt_sync *sync)
{
	const struct bt_json_value *job = sync->object;
	const struct bt_json_value *conditions = bt_json_array_at(job, "status.conditions");
	int64_t seconds = bt_json_int64_at(job, "spec.ttlSecondsAfterFinished", -1);
	const char *type = bt_condition_is(conditions, "Complete", "True") ? "Complete" : "Failed";

	if (seconds < 0 || bt_tree_is_deleting(job) || !bt_condition_is(conditions, type, "True")) {
		return true;
	}
	int64_t due = bt_ns_of_seconds(seconds +
		bt_tree_seconds(bt_condition_find(conditions, type), "lastTransitionTime"));
	if (due > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	return bt_sync_delete(sync, BT_HUB_JOBS, sync->key, bt_json_text_at(job, "metadata.uid"));
}

const struct bt_controller_ops bt_ttl_after_finished_controller = {
	.watches = BT_WATCH(BT_HUB_JOBS),
	.object = BT_HUB_JOBS,
	.observe = observe_finished,
	.sync = sync_finished,
};
