/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deployments: find or create the ReplicaSet of the current template, set its revision, scale old
 * and new ReplicaSets, delete old ReplicaSets beyond the limit, write the status. Spec: 14b section
 * 6.2.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"

#define LABEL_TEMPLATE_HASH "pod-template-hash"
#define ANNOTATION_REVISION "deployment.kubernetes.io/revision"
#define ANNOTATION_HISTORY "deployment.kubernetes.io/revision-history"
#define ANNOTATION_DESIRED "deployment.kubernetes.io/desired-replicas"
#define ANNOTATION_MAX "deployment.kubernetes.io/max-replicas"

/** The fields of a ReplicaSet that the rollout reads. Writes of this sync update these fields. */
struct rollout_set {
	struct bt_tree_order order; /* creation time, name */
	struct bt_json_value *object;
	struct bt_str key;
	struct bt_str uid;
	int64_t revision;
	int64_t replicas; /* spec.replicas */
	int64_t status_replicas;
	int64_t ready;
	int64_t available;
};

struct rollout {
	struct bt_sync *sync;
	struct bt_arena *arena;                 /* of sync */
	const struct bt_json_value *deployment; /* sync->object */
	struct bt_json_value *conditions;       /* of the status to be written */
	int64_t collision_count;
	int64_t replicas;    /* spec.replicas */
	int64_t surge;       /* pods allowed above replicas; 0 with Recreate */
	int64_t unavailable; /* pods that may be unavailable; 0 with Recreate */
	bool recreate;
	struct rollout_set *new_set;  /* NULL: not made yet */
	struct rollout_set *old_sets; /* oldest first */
	uint32_t old_count;
};

struct counters {
	int64_t replicas;
	int64_t updated;
	int64_t ready;
	int64_t available;
	int64_t wanted; /* sum of spec.replicas */
};

/** Returns the number of sets that set_at gives: the old sets, then the new set if it exists. */
static uint32_t set_count(const struct rollout *rollout)
{
	return rollout->old_count + (rollout->new_set != NULL ? 1 : 0);
}

static struct rollout_set *set_at(const struct rollout *rollout, uint32_t i)
{
	return i < rollout->old_count ? &rollout->old_sets[i] : rollout->new_set;
}

static struct counters count(const struct rollout *rollout)
{
	struct counters counters = {.replicas = 0};

	for (uint32_t i = 0; i < set_count(rollout); i++) {
		const struct rollout_set *set = set_at(rollout, i);

		counters.replicas += set->status_replicas;
		counters.ready += set->ready;
		counters.available += set->available;
		counters.wanted += set->replicas;
	}
	counters.updated = rollout->new_set != NULL ? rollout->new_set->status_replicas : 0;
	return counters;
}

static bool is_complete(const struct rollout *rollout)
{
	struct counters counters = count(rollout);

	return counters.updated == rollout->replicas && counters.replicas == rollout->replicas &&
		counters.available == rollout->replicas;
}

/** Sets condition Progressing. status: "True", "False", or "Unknown" for a pause or its end. */
BT_PRINTF(4, 5)
static void set_progressing(
	struct rollout *rollout, const char *status, const char *reason, const char *format, ...)
{
	struct bt_tree_condition condition = {"Progressing", status, reason, BT_STR("")};
	struct bt_strbuf message = {0};
	struct bt_json_value *entry;
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&message, format, arguments);
	va_end(arguments);
	condition.message = bt_arena_take_strbuf(rollout->arena, &message);
	if (!bt_tree_set_condition(
		    rollout->arena, rollout->conditions, &condition, true, rollout->sync->now_ns) &&
		strcmp(status, "True") == 0) {
		/* Repeated progress restarts the deadline. */
		entry = bt_condition_find(rollout->conditions, "Progressing");
		bt_json_put(rollout->arena, entry, "{lastUpdateTime: %s, message: %s}",
			bt_time_text(rollout->arena, rollout->sync->now_ns), condition.message);
	}
}

static void watch_progress(struct rollout *rollout, const struct counters *counters)
{
	int64_t deadline =
		bt_json_int64_at(rollout->deployment, "spec.progressDeadlineSeconds", INT32_MAX);
	const struct bt_json_value *current = bt_condition_find(rollout->conditions, "Progressing");
	struct bt_str reason = bt_json_text_at(current, "reason");
	bool was_complete = bt_str_equal_c(reason, "NewReplicaSetAvailable");
	struct bt_str name = rollout->new_set != NULL ? rollout->new_set->order.name
						      : bt_key_name(rollout->sync->key);
	struct bt_str subject = bt_arena_printf(rollout->arena, "%s \"%.*s\"",
		rollout->new_set != NULL ? "ReplicaSet" : "Deployment", BT_STR_ARG(name));

	if (deadline == INT32_MAX) {
		bt_json_remove_with(rollout->conditions, "type", BT_STR("Progressing"));
		return;
	}
	if (was_complete && counters->replicas == counters->updated) {
		return;
	}
	if (is_complete(rollout)) {
		set_progressing(rollout, "True", "NewReplicaSetAvailable",
			"%.*s has successfully progressed.", BT_STR_ARG(subject));
		return;
	}
	const struct bt_json_value *old = bt_json_object_at(rollout->deployment, "status");
	int64_t old_updated = bt_json_int64_at(old, "updatedReplicas", 0);
	int64_t old_others = bt_json_int64_at(old, "replicas", 0) - old_updated;
	if (counters->updated > old_updated ||
		counters->replicas - counters->updated < old_others ||
		counters->ready > bt_json_int64_at(old, "readyReplicas", 0) ||
		counters->available > bt_json_int64_at(old, "availableReplicas", 0)) {
		set_progressing(rollout, "True", "ReplicaSetUpdated", "%.*s is progressing.",
			BT_STR_ARG(subject));
		current = bt_condition_find(rollout->conditions, "Progressing");
	}
	if (current == NULL || was_complete || bt_str_equal_c(reason, "ProgressDeadlineExceeded") ||
		bt_json_bool_at(rollout->deployment, "spec.paused", false)) {
		return;
	}
	int64_t due = bt_ns_of_seconds(bt_tree_seconds(current, "lastUpdateTime") + deadline + 1);
	if (due > rollout->sync->now_ns) {
		bt_hub_enqueue_at(rollout->sync->hub, rollout->sync->key, due);
		return;
	}
	set_progressing(rollout, "False", "ProgressDeadlineExceeded",
		"%.*s has timed out progressing.", BT_STR_ARG(subject));
}

static void write_status(struct rollout *rollout)
{
	struct bt_arena *arena = rollout->arena;
	const struct bt_json_value *failure = NULL;
	struct counters counters = count(rollout);
	int64_t unavailable = counters.wanted - counters.available;
	bool enough = counters.available >= rollout->replicas - rollout->unavailable;
	struct bt_tree_condition condition = {
		.type = "Available",
		.status = enough ? "True" : "False",
		.reason = enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
		.message = enough ? BT_STR("Deployment has minimum availability.")
				  : BT_STR("Deployment does not have minimum availability."),
	};

	(void)bt_tree_set_condition(
		arena, rollout->conditions, &condition, true, rollout->sync->now_ns);
	watch_progress(rollout, &counters);
	/* Copy condition ReplicaFailure from the new set, or else from an old set. */
	for (uint32_t i = 0; i <= rollout->old_count && failure == NULL; i++) {
		const struct rollout_set *set =
			i == 0 ? rollout->new_set : &rollout->old_sets[i - 1];

		if (set != NULL) {
			failure = bt_condition_find(
				bt_json_array_at(set->object, "status.conditions"),
				"ReplicaFailure");
		}
	}
	if (failure == NULL) {
		bt_json_remove_with(rollout->conditions, "type", BT_STR("ReplicaFailure"));
	} else {
		bool deletes = bt_str_equal_c(bt_json_text_at(failure, "reason"), "FailedDelete");

		condition = (struct bt_tree_condition){"ReplicaFailure", "True",
			deletes ? "FailedDelete" : "FailedCreate",
			bt_json_text_at(failure, "message")};
		(void)bt_tree_set_condition(
			arena, rollout->conditions, &condition, true, rollout->sync->now_ns);
	}
	bt_sync_write_status(rollout->sync,
		bt_json_put(arena, NULL,
			"{observedGeneration: %d, replicas: %d, updatedReplicas: %d, "
			"readyReplicas: %d, availableReplicas: %d, unavailableReplicas: %d, "
			"collisionCount?: %d, conditions: %v}",
			bt_json_int64_at(rollout->deployment, "metadata.generation", 0),
			counters.replicas, counters.updated, counters.ready, counters.available,
			unavailable > 0 ? unavailable : 0, rollout->collision_count,
			rollout->conditions));
}

static void read_set(struct rollout *rollout, struct rollout_set *set, struct bt_json_value *object)
{
	int64_t revision = 0;

	(void)bt_str_parse_int64(bt_tree_annotation(object, ANNOTATION_REVISION), &revision);
	*set = (struct rollout_set){
		.order = {bt_tree_seconds(object, "metadata.creationTimestamp"),
			bt_json_text_at(object, "metadata.name")},
		.object = object,
		.key = bt_tree_key(rollout->arena, object),
		.uid = bt_json_text_at(object, "metadata.uid"),
		.revision = revision,
		.replicas = bt_json_int64_at(object, "spec.replicas", 1),
		.status_replicas = bt_json_int64_at(object, "status.replicas", 0),
		.ready = bt_json_int64_at(object, "status.readyReplicas", 0),
		.available = bt_json_int64_at(object, "status.availableReplicas", 0),
	};
}

/* Annotations that are not copied between the Deployment and its ReplicaSets. */
static const char *const own_annotations[] = {
	"kubectl.kubernetes.io/last-applied-configuration",
	"deprecated.deployment.rollback.to",
	ANNOTATION_REVISION,
	ANNOTATION_HISTORY,
	ANNOTATION_DESIRED,
	ANNOTATION_MAX,
};

static void copy_annotations(struct rollout *rollout, struct bt_json_value *annotations)
{
	const struct bt_json_value *from =
		bt_json_object_at(rollout->deployment, "metadata.annotations");

	for (uint32_t i = 0; i < from->count; i++) {
		if (!bt_str_is_one_of(from->members[i].name, own_annotations,
			    BT_ARRAY_LENGTH(own_annotations))) {
			bt_json_set(rollout->arena, annotations, from->members[i].name,
				bt_json_clone(rollout->arena, from->members[i].value, false));
		}
	}
}

static int64_t next_revision(const struct rollout *rollout)
{
	int64_t highest = 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		int64_t revision = rollout->old_sets[i].revision;
		highest = BT_MAX(revision, highest);
	}
	return highest < INT64_MAX ? highest + 1 : highest;
}

static void set_number(struct rollout *rollout, struct bt_json_value *annotations, const char *name,
	int64_t number)
{
	bt_json_set_str(rollout->arena, annotations, name,
		bt_arena_printf(rollout->arena, "%" PRId64, number));
}

/**
 * Applies a merge patch to a ReplicaSet or to the Deployment. Returns false and sets sync->failed
 * if the write failed.
 */
static bool patch(struct rollout *rollout, enum bt_hub_kind kind, struct bt_str key,
	struct bt_json_value *document)
{
	bool done = bt_sync_patch(rollout->sync, kind, key, document) == 200;

	rollout->sync->failed = rollout->sync->failed || !done;
	return done;
}

static void write_revision(struct rollout *rollout)
{
	struct bt_json_value *annotations = bt_json_new(rollout->arena, BT_JSON_OBJECT);

	set_number(rollout, annotations, ANNOTATION_REVISION, rollout->new_set->revision);
	if (!bt_tree_covers(
		    bt_json_object_at(rollout->deployment, "metadata.annotations"), annotations)) {
		(void)patch(rollout, BT_HUB_DEPLOYMENTS, rollout->sync->key,
			bt_json_put(rollout->arena, NULL, "{metadata: {annotations: %v}}",
				annotations));
	}
}

/**
 * Updates annotations and minReadySeconds of the new set. An older set that becomes the new set
 * again gets a revision above all others.
 */
static void refresh_new_set(struct rollout *rollout)
{
	struct rollout_set *set = rollout->new_set;
	struct bt_arena *arena = rollout->arena;
	struct bt_json_value *annotations = bt_json_new(arena, BT_JSON_OBJECT);
	int64_t revision = next_revision(rollout);
	int64_t min_ready = bt_json_int64_at(rollout->deployment, "spec.minReadySeconds", 0);

	copy_annotations(rollout, annotations);
	if (set->revision < revision) {
		struct bt_str history = bt_tree_annotation(set->object, ANNOTATION_HISTORY);
		if (set->revision != 0 && history.length < 1000) {
			bt_json_set_str(arena, annotations, ANNOTATION_HISTORY,
				bt_arena_printf(arena, "%.*s%s%" PRId64, BT_STR_ARG(history),
					history.length != 0 ? "," : "", set->revision));
		}
		set_number(rollout, annotations, ANNOTATION_REVISION, revision);
		set->revision = revision;
	}
	struct bt_json_value *document =
		bt_json_put(arena, NULL, "{metadata: {annotations: %v}}", annotations);
	bool differs = !bt_tree_covers(
		bt_json_object_at(set->object, "metadata.annotations"), annotations);
	if (bt_json_int64_at(set->object, "spec.minReadySeconds", 0) != min_ready) {
		bt_json_put(arena, document, "{spec: {minReadySeconds: %d}}", min_ready);
		differs = true;
	}
	if (differs) {
		(void)patch(rollout, BT_HUB_REPLICA_SETS, set->key, document);
	}
}

/** Returns the largest size of the new set that the strategy allows now. */
static int64_t new_set_size(const struct rollout *rollout)
{
	int64_t size = rollout->new_set != NULL ? rollout->new_set->replicas : 0;
	int64_t room = rollout->replicas + rollout->surge - count(rollout).wanted;

	if (rollout->recreate) {
		return rollout->replicas;
	}
	return room <= 0 ? size : size + BT_MIN(room, rollout->replicas - size);
}

static void make_new_set(struct rollout *rollout)
{
	struct bt_sync *sync = rollout->sync;
	struct bt_arena *arena = rollout->arena;
	const struct bt_json_value *spec = bt_json_object_at(rollout->deployment, "spec");
	struct bt_str hash = bt_tree_template_hash(arena, bt_json_object_at(spec, "template"),
		LABEL_TEMPLATE_HASH, rollout->collision_count);
	struct bt_str name = bt_arena_printf(
		arena, "%.*s-%.*s", BT_STR_ARG(bt_key_name(sync->key)), BT_STR_ARG(hash));
	int64_t size = new_set_size(rollout);
	struct bt_api_answer answer;
	struct bt_json_value *annotations = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *template_ =
		bt_json_put(arena, bt_json_clone(arena, bt_json_object_at(spec, "template"), false),
			"{metadata: {labels: {" LABEL_TEMPLATE_HASH ": %s}}}", hash);
	struct bt_json_value *selector =
		bt_json_put(arena, bt_json_clone(arena, bt_json_object_at(spec, "selector"), false),
			"{matchLabels: {" LABEL_TEMPLATE_HASH ": %s}}", hash);

	copy_annotations(rollout, annotations);
	set_number(rollout, annotations, ANNOTATION_REVISION, next_revision(rollout));
	set_number(rollout, annotations, ANNOTATION_DESIRED, rollout->replicas);
	set_number(rollout, annotations, ANNOTATION_MAX, rollout->replicas + rollout->surge);
	(void)bt_hub_create(sync->hub, BT_HUB_REPLICA_SETS, bt_key_namespace(sync->key),
		bt_json_put(arena, NULL,
			"{metadata: {annotations: %v, name: %s, labels: %t, ownerReferences: "
			"[%v]}, "
			"spec: {replicas: %d, minReadySeconds: %d, selector: %v, template: %v}}",
			annotations, name, bt_json_object_at(template_, "metadata.labels"),
			bt_sync_owner_reference(rollout->sync, arena), size,
			bt_json_int64_at(spec, "minReadySeconds", 0), selector, template_),
		rollout->arena, &answer);
	if (answer.code != 201) {
		sync->failed = true;
		if (answer.code == 409) {
			/*
			 * The name is taken by a ReplicaSet with another template, or by a
			 * ReplicaSet of this Deployment that was not observed yet. The next sync
			 * tries another hash if it finds no ReplicaSet of the template.
			 */
			rollout->collision_count++;
		} else {
			struct bt_str message = bt_arena_printf(rollout->arena,
				"Failed to create new replica set \"%.*s\": %.*s", BT_STR_ARG(name),
				BT_STR_ARG(answer.failure.message));
			set_progressing(rollout, "False", "ReplicaSetCreateError", "%.*s",
				BT_STR_ARG(message));
			bt_sync_event(sync, "Warning", "ReplicaSetCreateError", "%.*s",
				BT_STR_ARG(message));
		}
		bt_api_answer_finish(&answer);
		return;
	}
	struct bt_json_value *made = bt_hub_read(
		sync->hub, BT_HUB_REPLICA_SETS, bt_stored_key(answer.object), rollout->arena);
	bt_api_answer_finish(&answer);
	rollout->new_set = BT_ARENA_NEW(rollout->arena, struct rollout_set);
	read_set(rollout, rollout->new_set, made);
	if (size > 0) {
		bt_sync_event(sync, "Normal", "ScalingReplicaSet",
			"Scaled up replica set %.*s from 0 to %" PRId64, BT_STR_ARG(name), size);
	}
	set_progressing(rollout, "True", "NewReplicaSetCreated", "Created new replica set \"%.*s\"",
		BT_STR_ARG(name));
	write_revision(rollout);
}

/**
 * Moves the set of the current template from old_sets to new_set. create: creates the set if it
 * does not exist.
 */
static void find_new_set(struct rollout *rollout, bool create)
{
	const struct bt_json_value *template_ =
		bt_json_object_at(rollout->deployment, "spec.template");

	if (rollout->new_set != NULL) {
		return;
	}
	for (uint32_t i = 0; i < rollout->old_count; i++) {
		struct rollout_set *set = &rollout->old_sets[i];
		if (!bt_tree_templates_equal(rollout->arena, template_,
			    bt_json_object_at(set->object, "spec.template"), LABEL_TEMPLATE_HASH)) {
			continue;
		}
		rollout->new_set = BT_ARENA_NEW(rollout->arena, struct rollout_set);
		*rollout->new_set = *set;
		rollout->old_count--;
		memmove(set, set + 1, (rollout->old_count - i) * sizeof(*set));
		break;
	}
	if (rollout->new_set == NULL) {
		if (create) {
			make_new_set(rollout);
		}
		return;
	}
	if (bt_tree_is_deleting(rollout->deployment)) {
		return;
	}
	refresh_new_set(rollout);
	write_revision(rollout);
	if (bt_condition_find(rollout->conditions, "Progressing") == NULL) {
		set_progressing(rollout, "True", "FoundNewReplicaSet",
			"Found new replica set \"%.*s\"", BT_STR_ARG(rollout->new_set->order.name));
	}
}

BT_COMPARE(compare_revisions, struct rollout_set *const,
	BT_ORDER_BY(BT_ORDER((*a)->revision, (*b)->revision),
		bt_str_compare((*a)->order.name, (*b)->order.name)))

static void clean_up(struct rollout *rollout)
{
	int64_t limit = bt_json_int64_at(rollout->deployment, "spec.revisionHistoryLimit", 10);
	const struct rollout_set **empty = BT_ARENA_NEW_ARRAY(
		rollout->arena, const struct rollout_set *, (size_t)rollout->old_count + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		const struct rollout_set *set = &rollout->old_sets[i];
		if (!bt_tree_is_deleting(set->object)) {
			empty[count++] = set;
		}
	}
	qsort(empty, count, sizeof(struct rollout_set *), compare_revisions);
	for (uint32_t i = 0; i + limit < count; i++) {
		const struct rollout_set *set = empty[i];
		if (set->replicas == 0 && set->status_replicas == 0) {
			(void)bt_sync_delete(
				rollout->sync, BT_HUB_REPLICA_SETS, set->key, set->uid);
		}
	}
}

/** Scales one set; returns whether its size changed. */
static bool scale_set(struct rollout *rollout, struct rollout_set *set, int64_t size)
{
	struct bt_arena *arena = rollout->arena;
	struct bt_json_value *annotations = bt_json_new(arena, BT_JSON_OBJECT);
	int64_t before = set->replicas;

	set_number(rollout, annotations, ANNOTATION_DESIRED, rollout->replicas);
	set_number(rollout, annotations, ANNOTATION_MAX, rollout->replicas + rollout->surge);
	if (size == before &&
		bt_tree_covers(
			bt_json_object_at(set->object, "metadata.annotations"), annotations)) {
		return false;
	}
	struct bt_json_value *document =
		bt_json_put(arena, NULL, "{metadata: {annotations: %v}}", annotations);
	if (size != before) {
		bt_json_put(arena, document, "{spec: {replicas: %d}}", size);
	}
	if (!patch(rollout, BT_HUB_REPLICA_SETS, set->key, document) || size == before) {
		return false;
	}
	set->replicas = size;
	bt_sync_event(rollout->sync, "Normal", "ScalingReplicaSet",
		"Scaled %s replica set %.*s from %" PRId64 " to %" PRId64,
		size > before ? "up" : "down", BT_STR_ARG(set->order.name), before, size);
	return true;
}

/* --- Recreate --- */

static void recreate(struct rollout *rollout)
{
	bool waits = false;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		if (rollout->old_sets[i].replicas > 0) {
			waits = scale_set(rollout, &rollout->old_sets[i], 0) || waits;
		}
	}
	for (uint32_t i = 0; i < rollout->old_count && !waits; i++) {
		const struct bt_indexed_pod *pod =
			bt_pod_index_of_owner(rollout->sync->hub, rollout->old_sets[i].uid);
		for (; pod != NULL && !waits; pod = pod->next[BT_PODS_OF_OWNER]) {
			waits = !bt_pod_is_over(pod);
		}
	}
	if (waits) {
		return;
	}
	find_new_set(rollout, true);
	if (rollout->new_set == NULL) {
		return;
	}
	(void)scale_set(rollout, rollout->new_set, rollout->replicas);
	if (is_complete(rollout)) {
		clean_up(rollout);
	}
}

/* --- RollingUpdate --- */

/**
 * Scales old sets down: first by the number of their unavailable pods, then by as many available
 * pods as maxUnavailable allows. Returns whether any set was scaled.
 */
static bool shrink_old_sets(struct rollout *rollout)
{
	const struct rollout_set *new_set = rollout->new_set;
	int64_t total = count(rollout).wanted;
	int64_t least = rollout->replicas - rollout->unavailable;
	int64_t limit = total - least - BT_MAX(new_set->replicas - new_set->available, 0);
	bool dropped_any = false;

	if (total == new_set->replicas || limit <= 0) {
		return false;
	}
	for (int available = 0; available < 2; available++) {
		int64_t dropped = 0;

		if (available) {
			limit = count(rollout).available - least;
		}
		for (uint32_t i = 0; i < rollout->old_count && dropped < limit; i++) {
			struct rollout_set *set = &rollout->old_sets[i];
			int64_t useless = set->replicas - set->available;
			int64_t fewer =
				BT_MIN(limit - dropped, available ? set->replicas : useless);

			if (fewer > 0 && scale_set(rollout, set, set->replicas - fewer)) {
				dropped += fewer;
				dropped_any = true;
			}
		}
	}
	return dropped_any;
}

static void roll_out(struct rollout *rollout)
{
	find_new_set(rollout, true);
	if (rollout->new_set == NULL) {
		return;
	}
	int64_t size = rollout->new_set->replicas > rollout->replicas ? rollout->replicas
								      : new_set_size(rollout);
	if (scale_set(rollout, rollout->new_set, size) || shrink_old_sets(rollout)) {
		return;
	}
	if (is_complete(rollout)) {
		clean_up(rollout);
	}
}

/* --- spec.replicas changed during a rollout --- */

static bool annotation_differs(const struct rollout *rollout, const struct rollout_set *set)
{
	int64_t desired;

	return set->replicas > 0 &&
		bt_str_parse_int64(bt_tree_annotation(set->object, ANNOTATION_DESIRED), &desired) &&
		desired != rollout->replicas;
}

/**
 * Returns the set's share of a change by `left` replicas: positive if replicas are added, negative
 * if they are removed.
 */
static int64_t share_of(const struct rollout *rollout, const struct rollout_set *set, int64_t left)
{
	int64_t most = rollout->replicas + rollout->surge;
	int64_t annotated = 0;

	if (set->replicas == 0 || left == 0) {
		return 0;
	}
	if (rollout->replicas == 0) {
		return BT_MAX(-set->replicas, left);
	}
	if (!bt_str_parse_int64(bt_tree_annotation(set->object, ANNOTATION_MAX), &annotated) ||
		annotated <= 0 || annotated > INT32_MAX) {
		annotated = bt_json_int64_at(rollout->deployment, "status.replicas", 1);
		annotated = BT_MAX(annotated, 1);
	}
	/*
	 * Round to the nearest integer, in floating point, because the product may overflow an
	 * integer.
	 */
	double size = (double)set->replicas * (double)most / (double)annotated + 0.5;
	int64_t share =
		(int64_t)(size < (double)INT32_MAX ? size : (double)INT32_MAX) - set->replicas;
	return left > 0 ? BT_MIN(share, left) : BT_MAX(share, left);
}

static void scale_in_proportion(struct rollout *rollout)
{
	uint32_t sized = 0;
	size_t most = (size_t)rollout->old_count + 1;
	struct rollout_set **sets = BT_ARENA_NEW_ARRAY(rollout->arena, struct rollout_set *, most);
	int64_t *sizes = BT_ARENA_NEW_ARRAY(rollout->arena, int64_t, most);
	int64_t allowed = rollout->replicas > 0 ? rollout->replicas + rollout->surge : 0;
	int64_t left = allowed - count(rollout).wanted;
	bool newer_first = left > 0;

	/*
	 * Sort the sets by size, largest first. Sets of the same size are sorted by age: newest
	 * first if replicas are added, oldest first if replicas are removed.
	 */
	for (uint32_t i = 0; i < set_count(rollout); i++) {
		struct rollout_set *set = set_at(rollout, i);
		uint32_t place = sized;

		if (set->replicas == 0) {
			continue;
		}
		for (; place > 0; place--) {
			const struct rollout_set *other = sets[place - 1];
			bool is_newer = set->order.number > other->order.number;
			bool is_older = set->order.number < other->order.number;

			if (set->replicas != other->replicas
					? set->replicas < other->replicas
					: !(newer_first ? is_newer : is_older)) {
				break;
			}
			sets[place] = sets[place - 1];
		}
		sets[place] = set;
		sized++;
	}
	for (uint32_t i = 0; i < sized; i++) {
		int64_t share = share_of(rollout, sets[i], left);
		sizes[i] = sets[i]->replicas + share;
		left -= share;
	}
	for (uint32_t i = 0; i < sized; i++) {
		int64_t size = i == 0 ? BT_MAX(sizes[i] + left, 0) : sizes[i];
		(void)scale_set(rollout, sets[i], size);
	}
}

/**
 * Scales the sets when spec.replicas changed or the Deployment is paused. If only one set has
 * replicas, that set is scaled to spec.replicas. If no set has replicas, the new set is scaled, or
 * the newest old set if there is no new set. If the new set is complete, old sets are scaled to 0.
 * Otherwise the sets are scaled in proportion to their sizes, except with Recreate.
 */
static void scale_sets(struct rollout *rollout)
{
	const struct rollout_set *new_set = rollout->new_set;
	struct rollout_set *single = NULL;
	uint32_t active_count = 0;

	for (uint32_t i = 0; i < set_count(rollout); i++) {
		if (set_at(rollout, i)->replicas > 0) {
			single = set_at(rollout, i);
			active_count++;
		}
	}
	if (active_count == 0 && set_count(rollout) != 0) {
		single = set_at(rollout, set_count(rollout) - 1);
	}
	if (single != NULL && active_count < 2) {
		(void)scale_set(rollout, single, rollout->replicas);
		return;
	}
	if (new_set != NULL && new_set->replicas == rollout->replicas &&
		new_set->available == rollout->replicas && !annotation_differs(rollout, new_set)) {
		for (uint32_t i = 0; i < rollout->old_count; i++) {
			(void)scale_set(rollout, &rollout->old_sets[i], 0);
		}
		return;
	}
	if (!rollout->recreate) {
		scale_in_proportion(rollout);
	}
}

/* --- the controller --- */

struct deployments {
	/**
	 * Keys of ReplicaSets, grouped by the owner's uid. ReplicaSets without an owner are in the
	 * group "/<namespace>".
	 */
	struct bt_groups owned;
	struct bt_selector_table selectors;
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct deployments *self = data;
	const struct bt_json_value *owner = observed->owner;
	struct bt_str namespace_ = bt_key_namespace(observed->key);
	struct bt_arena arena = {0};

	if (observed->kind == BT_HUB_DEPLOYMENTS) {
		bt_owners_observe(hub, observed, &self->selectors, false);
	} else if (observed->kind == BT_HUB_REPLICA_SETS) {
		bt_owners_enqueue(hub, observed, "Deployment", &self->selectors);
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->owned, observed->key);
		} else {
			bt_groups_set(&self->owned, observed->key,
				owner != NULL
					? bt_json_text_at(owner, "uid")
					: bt_arena_printf(&arena, "/%.*s", BT_STR_ARG(namespace_)));
		}
	} else if (observed->type == BT_CHANGE_DELETED &&
		bt_str_equal_c(bt_json_text_at(owner, "kind"), "ReplicaSet")) {
		/* A Recreate rollout continues when the last pod of the old sets is deleted. */
		struct bt_str set = bt_api_key(&arena, namespace_, bt_json_text_at(owner, "name"));

		bt_hub_enqueue_owner(hub, set,
			bt_controller_owner_of(bt_hub_read(hub, BT_HUB_REPLICA_SETS, set, &arena)),
			"Deployment");
	}
	bt_arena_finish(&arena);
}

/** Releases sets that the selector no longer matches; adopts matching sets without an owner. */
static void adopt_and_release(struct deployments *self, struct bt_sync *sync)
{
	const struct bt_selector_entry *entry = bt_selector_table_find(&self->selectors, sync->key);
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	struct bt_str group = bt_arena_printf(sync->arena, "/%.*s", BT_STR_ARG(namespace_));
	uint32_t count;

	bt_owners_release(sync, &self->selectors, BT_HUB_REPLICA_SETS, NULL);
	struct bt_json_value **sets =
		bt_sync_read_group(sync, BT_HUB_REPLICA_SETS, &self->owned, group, &count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_json_value *set = sets[i];

		if (!bt_tree_is_deleting(set) && bt_controller_owner_of(set) == NULL &&
			bt_tree_matches(sync->arena, &entry->selector,
				bt_json_object_at(set, "metadata.labels"))) {
			(void)bt_tree_adopt(sync, BT_HUB_REPLICA_SETS, set, NULL);
		}
	}
}

/**
 * Sets condition Progressing when the Deployment is paused or resumed, so that the pause does not
 * count towards the deadline.
 */
static void set_paused_condition(struct rollout *rollout, bool paused)
{
	struct bt_str reason =
		bt_json_text_at(bt_condition_find(rollout->conditions, "Progressing"), "reason");
	bool was_paused = bt_str_equal_c(reason, "DeploymentPaused");

	if (bt_json_find_path(rollout->deployment, "spec.progressDeadlineSeconds") == NULL ||
		bt_str_equal_c(reason, "ProgressDeadlineExceeded")) {
		return;
	}
	if (paused && !was_paused) {
		set_progressing(rollout, "Unknown", "DeploymentPaused", "Deployment is paused");
	} else if (!paused && was_paused) {
		set_progressing(rollout, "Unknown", "DeploymentResumed", "Deployment is resumed");
	}
}

static bool sync(struct bt_sync *sync)
{
	struct deployments *self = sync->data;
	const struct bt_json_value *deployment = sync->object;
	struct bt_arena *arena = sync->arena;
	struct rollout rollout = {
		.sync = sync,
		.arena = arena,
		.deployment = deployment,
		.conditions = bt_tree_copy_array(arena, deployment, "status.conditions"),
		.collision_count = bt_json_int64_at(deployment, "status.collisionCount", 0),
		.replicas = bt_json_int64_at(deployment, "spec.replicas", 1),
	};
	struct bt_str uid = bt_json_text_at(deployment, "metadata.uid");
	bool deleting = bt_tree_is_deleting(deployment);
	bool paused = bt_json_bool_at(deployment, "spec.paused", false);
	uint32_t count;

	bt_hub_cancel_delay(sync->hub, sync->key);
	if (bt_selector_table_find(&self->selectors, sync->key) == NULL) {
		return true;
	}
	const struct bt_json_value *strategy = bt_json_object_at(deployment, "spec.strategy");
	rollout.recreate = bt_str_equal_c(bt_json_text_at(strategy, "type"), "Recreate");
	if (!rollout.recreate) {
		int32_t total = (int32_t)BT_MIN(rollout.replicas, INT32_MAX);
		rollout.surge = bt_tree_scaled(
			bt_json_find_path(strategy, "rollingUpdate.maxSurge"), total, true);
		rollout.unavailable = bt_tree_scaled(
			bt_json_find_path(strategy, "rollingUpdate.maxUnavailable"), total, false);
		if (rollout.surge == 0 && rollout.unavailable == 0) {
			/* With maxSurge 0 and maxUnavailable 0 the rollout could never proceed. */
			rollout.unavailable = 1;
		}
		rollout.unavailable = BT_MIN(rollout.unavailable, rollout.replicas);
	}
	if (!deleting) {
		adopt_and_release(self, sync);
	}
	struct bt_json_value **sets =
		bt_sync_read_group(sync, BT_HUB_REPLICA_SETS, &self->owned, uid, &count);
	rollout.old_sets = BT_ARENA_NEW_ARRAY(arena, struct rollout_set, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		if (bt_str_equal(bt_json_text_at(bt_controller_owner_of(sets[i]), "uid"), uid)) {
			read_set(&rollout, &rollout.old_sets[rollout.old_count++], sets[i]);
		}
	}
	qsort(rollout.old_sets, rollout.old_count, sizeof(*rollout.old_sets),
		bt_tree_compare_ordered);
	set_paused_condition(&rollout, paused);
	find_new_set(&rollout, false);
	bool needs_scale = paused;
	for (uint32_t i = 0; i < set_count(&rollout); i++) {
		needs_scale = needs_scale || annotation_differs(&rollout, set_at(&rollout, i));
	}
	if (!deleting) {
		if (needs_scale) {
			scale_sets(&rollout);
			if (paused) {
				clean_up(&rollout);
			}
		} else if (rollout.recreate) {
			recreate(&rollout);
		} else {
			roll_out(&rollout);
		}
	}
	write_status(&rollout);
	return true;
}

const struct bt_controller_ops bt_deployment_controller = {
	.watches = BT_WATCH(BT_HUB_DEPLOYMENTS) | BT_WATCH(BT_HUB_REPLICA_SETS) |
		BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_DEPLOYMENTS,
	.group_count = 1,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};
