/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster/deployment.h"
#include "cluster/pod_index.h"
#include "server/condition.h"

/* What belongs to the one object only. */
static const char *const own_annotations[] = {
	"kubectl.kubernetes.io/last-applied-configuration",
	"deprecated.deployment.rollback.to",
	BT_ANNOTATION_REVISION,
	BT_ANNOTATION_HISTORY,
	BT_ANNOTATION_DESIRED,
	BT_ANNOTATION_MAX,
};

static bool is_own(struct bt_str name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(own_annotations); i++) {
		if (bt_str_equal_c(name, own_annotations[i])) {
			return true;
		}
	}
	return false;
}

static void copy_annotations(struct bt_rollout *rollout, struct bt_json_value *annotations)
{
	const struct bt_json_value *from =
		bt_json_object_at(rollout->deployment, "metadata.annotations");

	for (uint32_t i = 0; i < from->count; i++) {
		if (!is_own(from->members[i].name)) {
			bt_json_set(rollout->arena, annotations, from->members[i].name,
				bt_json_clone(rollout->arena, from->members[i].value, false));
		}
	}
}

static int64_t next_revision(const struct bt_rollout *rollout)
{
	int64_t highest = 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		int64_t revision = rollout->old_sets[i].revision;
		highest = revision > highest ? revision : highest;
	}
	return highest < INT64_MAX ? highest + 1 : highest;
}

static void set_number(struct bt_rollout *rollout, struct bt_json_value *annotations,
	const char *name, int64_t number)
{
	bt_json_set_str(rollout->arena, annotations, name,
		bt_arena_printf(rollout->arena, "%" PRId64, number));
}

/** The deployment names the revision of its new set. */
static void tell_revision(struct bt_rollout *rollout)
{
	struct bt_json_value *patch = bt_json_new(rollout->arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(rollout->arena, patch, "metadata");
	struct bt_json_value *annotations =
		bt_json_ensure_object(rollout->arena, metadata, "annotations");

	set_number(rollout, annotations, BT_ANNOTATION_REVISION, rollout->new_set->revision);
	if (bt_tree_covers(
		    bt_json_object_at(rollout->deployment, "metadata.annotations"), annotations)) {
		return;
	}
	if (bt_hub_patch(rollout->hub, rollout->deployments, BT_SUBRESOURCE_NONE, rollout->key,
		    patch, rollout->arena, NULL) != 200) {
		rollout->failed = true;
	}
}

/** An old set that is wanted again (or was never old) carries the newest revision. */
static void refresh_new_set(struct bt_rollout *rollout)
{
	struct bt_rollout_set *set = rollout->new_set;
	struct bt_arena *arena = rollout->arena;
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, patch, "metadata"), "annotations");
	int64_t revision = next_revision(rollout);
	int64_t min_ready = bt_json_int64_at(rollout->deployment, "spec.minReadySeconds", 0);
	bool differs;

	copy_annotations(rollout, annotations);
	if (set->revision < revision) {
		struct bt_str history = bt_tree_annotation(set->object, BT_ANNOTATION_HISTORY);
		if (set->revision != 0 && history.length < 1000) {
			bt_json_set_str(arena, annotations, BT_ANNOTATION_HISTORY,
				bt_arena_printf(arena, "%.*s%s%" PRId64, BT_STR_ARG(history),
					history.length != 0 ? "," : "", set->revision));
		}
		set_number(rollout, annotations, BT_ANNOTATION_REVISION, revision);
		set->revision = revision;
	}
	differs = !bt_tree_covers(
		bt_json_object_at(set->object, "metadata.annotations"), annotations);
	if (bt_json_int64_at(set->object, "spec.minReadySeconds", 0) != min_ready) {
		bt_json_set_int64(arena, bt_json_ensure_object(arena, patch, "spec"),
			"minReadySeconds", min_ready);
		differs = true;
	}
	if (differs &&
		bt_hub_patch(rollout->hub, rollout->sets, BT_SUBRESOURCE_NONE, set->key, patch,
			arena, NULL) != 200) {
		rollout->failed = true;
	}
}

static struct bt_json_value *with_hash(struct bt_arena *arena, const struct bt_json_value *object,
	const char *member, struct bt_str hash)
{
	struct bt_json_value *copy = bt_json_clone(arena, object, false);

	bt_json_set_str(
		arena, bt_json_ensure_object(arena, copy, member), BT_LABEL_TEMPLATE_HASH, hash);
	return copy;
}

static struct bt_json_value *build_set(
	struct bt_rollout *rollout, struct bt_str name, struct bt_str hash, int64_t size)
{
	struct bt_arena *arena = rollout->arena;
	const struct bt_json_value *template_ =
		bt_json_object_at(rollout->deployment, "spec.template");
	struct bt_json_value *set = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, set, "metadata");
	struct bt_json_value *spec = bt_json_ensure_object(arena, set, "spec");
	struct bt_json_value *annotations = bt_json_ensure_object(arena, metadata, "annotations");
	struct bt_json_value *template_copy = bt_json_clone(arena, template_, false);
	struct bt_json_value *template_metadata =
		with_hash(arena, bt_json_object_at(template_, "metadata"), "labels", hash);

	bt_json_set_str(arena, metadata, "name", name);
	bt_json_set_value(arena, metadata, "labels",
		bt_json_clone(arena, bt_json_object_at(template_metadata, "labels"), false));
	copy_annotations(rollout, annotations);
	set_number(rollout, annotations, BT_ANNOTATION_REVISION, next_revision(rollout));
	set_number(rollout, annotations, BT_ANNOTATION_DESIRED, rollout->replicas);
	set_number(rollout, annotations, BT_ANNOTATION_MAX, rollout->replicas + rollout->surge);
	bt_json_append(arena, bt_json_ensure_array(arena, metadata, "ownerReferences"),
		bt_controller_owner_reference(arena, rollout->deployments, rollout->deployment));
	bt_json_set_int64(arena, spec, "replicas", size);
	bt_json_set_int64(arena, spec, "minReadySeconds",
		bt_json_int64_at(rollout->deployment, "spec.minReadySeconds", 0));
	bt_json_set_value(arena, spec, "selector",
		with_hash(arena, bt_json_object_at(rollout->deployment, "spec.selector"),
			"matchLabels", hash));
	bt_json_set_value(arena, template_copy, "metadata", template_metadata);
	bt_json_set_value(arena, spec, "template", template_copy);
	return set;
}

static int64_t rollout_new_set_size(const struct bt_rollout *rollout);

static void make_new_set(struct bt_rollout *rollout)
{
	struct bt_str hash = bt_tree_template_hash(rollout->arena,
		bt_json_object_at(rollout->deployment, "spec.template"), BT_LABEL_TEMPLATE_HASH,
		rollout->collision_count);
	struct bt_str name = bt_arena_printf(rollout->arena, "%.*s-%.*s",
		BT_STR_ARG(bt_key_name(rollout->key)), BT_STR_ARG(hash));
	struct bt_str namespace_ = bt_key_namespace(rollout->key);
	int64_t size = rollout_new_set_size(rollout);
	struct bt_api_answer answer;
	struct bt_json_value *made;

	(void)bt_hub_create(rollout->hub, rollout->sets, namespace_,
		build_set(rollout, name, hash, size), rollout->arena, &answer);
	if (answer.code != 201) {
		struct bt_str message = bt_arena_printf(rollout->arena,
			"Failed to create new replica set \"%.*s\": %.*s", BT_STR_ARG(name),
			BT_STR_ARG(answer.failure.message));
		if (answer.code == 409) {
			/* The name is taken: by ours when a set was made and not yet seen, else try
			 * another hash. */
			rollout->collision_count++;
			rollout->failed = true;
		} else {
			bt_rollout_set_progressing(
				rollout, "False", "ReplicaSetCreateError", message);
			bt_rollout_event(rollout, "Warning", "ReplicaSetCreateError", message);
			rollout->failed = true;
		}
		bt_api_answer_finish(&answer);
		return;
	}
	made = bt_api_read(bt_hub_api(rollout->hub), rollout->sets, bt_stored_key(answer.object),
		rollout->arena);
	bt_api_answer_finish(&answer);
	rollout->new_set = BT_ARENA_NEW(rollout->arena, struct bt_rollout_set);
	bt_rollout_read_set(rollout, rollout->new_set, made);
	if (size > 0) {
		bt_rollout_event(rollout, "Normal", "ScalingReplicaSet",
			bt_arena_printf(rollout->arena,
				"Scaled up replica set %.*s from 0 to %" PRId64, BT_STR_ARG(name),
				size));
	}
	bt_rollout_set_progressing(rollout, "True", "NewReplicaSetCreated",
		bt_arena_printf(
			rollout->arena, "Created new replica set \"%.*s\"", BT_STR_ARG(name)));
	tell_revision(rollout);
}

void bt_rollout_find_new_set(struct bt_rollout *rollout, bool create)
{
	const struct bt_json_value *template_ =
		bt_json_object_at(rollout->deployment, "spec.template");

	if (rollout->new_set != NULL) {
		return;
	}
	for (uint32_t i = 0; i < rollout->old_count; i++) {
		struct bt_rollout_set *set = &rollout->old_sets[i];
		if (!bt_tree_templates_equal(rollout->arena, template_,
			    bt_json_object_at(set->object, "spec.template"),
			    BT_LABEL_TEMPLATE_HASH)) {
			continue;
		}
		rollout->new_set = BT_ARENA_NEW(rollout->arena, struct bt_rollout_set);
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
	tell_revision(rollout);
	if (bt_condition_find(rollout->conditions, "Progressing") == NULL) {
		bt_rollout_set_progressing(rollout, "True", "FoundNewReplicaSet",
			bt_arena_printf(rollout->arena, "Found new replica set \"%.*s\"",
				BT_STR_ARG(rollout->new_set->name)));
	}
}

static int compare_revisions(const void *left, const void *right)
{
	const struct bt_rollout_set *const *a = left;
	const struct bt_rollout_set *const *b = right;

	if ((*a)->revision != (*b)->revision) {
		return (*a)->revision < (*b)->revision ? -1 : 1;
	}
	return bt_str_compare((*a)->name, (*b)->name);
}

void bt_rollout_clean_up(struct bt_rollout *rollout)
{
	int64_t limit = bt_json_int64_at(rollout->deployment, "spec.revisionHistoryLimit", 10);
	const struct bt_rollout_set **empty = BT_ARENA_NEW_ARRAY(
		rollout->arena, const struct bt_rollout_set *, (size_t)rollout->old_count + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		const struct bt_rollout_set *set = &rollout->old_sets[i];
		if (!bt_tree_is_deleting(set->object)) {
			empty[count++] = set;
		}
	}
	qsort(empty, count, sizeof(struct bt_rollout_set *), compare_revisions);
	for (uint32_t i = 0; i + limit < count; i++) {
		const struct bt_rollout_set *set = empty[i];
		if (set->replicas == 0 && set->status_replicas == 0) {
			(void)bt_hub_delete(rollout->hub, rollout->sets, set->key, -1, set->uid,
				rollout->arena);
		}
	}
}

static int64_t min_int64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max_int64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/** What the specs of all sets ask for. */
static int64_t total_of(const struct bt_rollout *rollout)
{
	int64_t total = rollout->new_set != NULL ? rollout->new_set->replicas : 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		total += rollout->old_sets[i].replicas;
	}
	return total;
}

/** The most there may be of a new set now. */
static int64_t rollout_new_set_size(const struct bt_rollout *rollout)
{
	int64_t size = rollout->new_set != NULL ? rollout->new_set->replicas : 0;
	int64_t room = rollout->replicas + rollout->surge - total_of(rollout);

	if (rollout->recreate) {
		return rollout->replicas;
	}
	return room <= 0 ? size : size + min_int64(room, rollout->replicas - size);
}

/** Bring one set to a size; returns whether its size changed. */
static bool scale_set(struct bt_rollout *rollout, struct bt_rollout_set *set, int64_t size)
{
	struct bt_arena *arena = rollout->arena;
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, patch, "metadata"), "annotations");
	int64_t before = set->replicas;

	bt_json_set_str(arena, annotations, BT_ANNOTATION_DESIRED,
		bt_arena_printf(arena, "%" PRId64, rollout->replicas));
	bt_json_set_str(arena, annotations, BT_ANNOTATION_MAX,
		bt_arena_printf(arena, "%" PRId64, rollout->replicas + rollout->surge));
	if (size == before &&
		bt_tree_covers(
			bt_json_object_at(set->object, "metadata.annotations"), annotations)) {
		return false;
	}
	if (size != before) {
		bt_json_set_int64(
			arena, bt_json_ensure_object(arena, patch, "spec"), "replicas", size);
	}
	if (bt_hub_patch(rollout->hub, rollout->sets, BT_SUBRESOURCE_NONE, set->key, patch, arena,
		    NULL) != 200) {
		rollout->failed = true;
		return false;
	}
	if (size == before) {
		return false;
	}
	set->replicas = size;
	bt_rollout_event(rollout, "Normal", "ScalingReplicaSet",
		bt_arena_printf(arena, "Scaled %s replica set %.*s from %" PRId64 " to %" PRId64,
			size > before ? "up" : "down", BT_STR_ARG(set->name), before, size));
	return true;
}

/* --- Recreate --- */

static bool has_old_pods(const struct bt_rollout *rollout)
{
	for (uint32_t i = 0; i < rollout->old_count; i++) {
		const struct bt_indexed_pod *pod =
			bt_pod_index_of_owner(rollout->hub, rollout->old_sets[i].uid);
		for (; pod != NULL; pod = pod->next_of_owner) {
			if (pod->phase != BT_POD_SUCCEEDED && pod->phase != BT_POD_FAILED) {
				return true;
			}
		}
	}
	return false;
}

void bt_rollout_recreate(struct bt_rollout *rollout)
{
	bool scaled = false;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		if (rollout->old_sets[i].replicas > 0) {
			scaled = scale_set(rollout, &rollout->old_sets[i], 0) || scaled;
		}
	}
	if (scaled || has_old_pods(rollout)) {
		return;
	}
	bt_rollout_find_new_set(rollout, true);
	if (rollout->new_set == NULL) {
		return;
	}
	(void)scale_set(rollout, rollout->new_set, rollout->replicas);
	if (bt_rollout_is_complete(rollout)) {
		bt_rollout_clean_up(rollout);
	}
}

/* --- RollingUpdate --- */

/** Pods of old sets that are not available anyway go first. Returns how many. */
static int64_t drop_unhealthy(struct bt_rollout *rollout, int64_t limit)
{
	int64_t dropped = 0;

	for (uint32_t i = 0; i < rollout->old_count && dropped < limit; i++) {
		struct bt_rollout_set *set = &rollout->old_sets[i];
		int64_t count = min_int64(limit - dropped, set->replicas - set->available);
		if (count > 0 && scale_set(rollout, set, set->replicas - count)) {
			dropped += count;
		}
	}
	return dropped;
}

/** Of those that are available as many as may be missing. */
static int64_t drop_available(struct bt_rollout *rollout)
{
	int64_t available = rollout->new_set->available;
	int64_t limit;
	int64_t dropped = 0;

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		available += rollout->old_sets[i].available;
	}
	limit = available - (rollout->replicas - rollout->unavailable);
	for (uint32_t i = 0; i < rollout->old_count && dropped < limit; i++) {
		struct bt_rollout_set *set = &rollout->old_sets[i];
		int64_t count = min_int64(limit - dropped, set->replicas);
		if (count > 0 && scale_set(rollout, set, set->replicas - count)) {
			dropped += count;
		}
	}
	return dropped;
}

static bool shrink_old_sets(struct bt_rollout *rollout)
{
	const struct bt_rollout_set *new_set = rollout->new_set;
	int64_t total = total_of(rollout);
	int64_t new_unavailable = max_int64(new_set->replicas - new_set->available, 0);
	int64_t limit = total - (rollout->replicas - rollout->unavailable) - new_unavailable;
	int64_t dropped;

	if (total == new_set->replicas || limit <= 0) {
		return false;
	}
	dropped = drop_unhealthy(rollout, limit);
	return drop_available(rollout) + dropped > 0;
}

void bt_rollout_roll(struct bt_rollout *rollout)
{
	int64_t size;

	bt_rollout_find_new_set(rollout, true);
	if (rollout->new_set == NULL) {
		return;
	}
	size = rollout->new_set->replicas > rollout->replicas ? rollout->replicas
							      : rollout_new_set_size(rollout);
	if (scale_set(rollout, rollout->new_set, size) || shrink_old_sets(rollout)) {
		return;
	}
	if (bt_rollout_is_complete(rollout)) {
		bt_rollout_clean_up(rollout);
	}
}

/* --- a new number while a rollout is under way --- */

static bool annotation_differs(const struct bt_rollout *rollout, const struct bt_rollout_set *set)
{
	int64_t desired;

	return set->replicas > 0 &&
		bt_str_parse_int64(
			bt_tree_annotation(set->object, BT_ANNOTATION_DESIRED), &desired) &&
		desired != rollout->replicas;
}

bool bt_rollout_needs_scale(const struct bt_rollout *rollout)
{
	if (rollout->new_set != NULL && annotation_differs(rollout, rollout->new_set)) {
		return true;
	}
	for (uint32_t i = 0; i < rollout->old_count; i++) {
		if (annotation_differs(rollout, &rollout->old_sets[i])) {
			return true;
		}
	}
	return false;
}

/** The only set with replicas, or the newest when none has any; NULL: several have. */
static struct bt_rollout_set *single_set(struct bt_rollout *rollout)
{
	struct bt_rollout_set *active = NULL;

	if (rollout->new_set != NULL && rollout->new_set->replicas > 0) {
		active = rollout->new_set;
	}
	for (uint32_t i = 0; i < rollout->old_count; i++) {
		if (rollout->old_sets[i].replicas > 0) {
			if (active != NULL) {
				return NULL;
			}
			active = &rollout->old_sets[i];
		}
	}
	if (active == NULL && rollout->new_set != NULL) {
		active = rollout->new_set;
	} else if (active == NULL && rollout->old_count != 0) {
		active = &rollout->old_sets[rollout->old_count - 1];
	}
	return active;
}

/** The set's share of what is added (or, negative, taken away). */
static int64_t share_of(
	const struct bt_rollout *rollout, const struct bt_rollout_set *set, int64_t left)
{
	int64_t most = rollout->replicas + rollout->surge;
	int64_t annotated = 0;
	int64_t share;
	double size;

	if (set->replicas == 0 || left == 0) {
		return 0;
	}
	if (rollout->replicas == 0) {
		return max_int64(-set->replicas, left);
	}
	if (!bt_str_parse_int64(bt_tree_annotation(set->object, BT_ANNOTATION_MAX), &annotated) ||
		annotated <= 0 || annotated > INT32_MAX) {
		annotated =
			max_int64(bt_json_int64_at(rollout->deployment, "status.replicas", 1), 1);
	}
	/* Rounded to the nearest; the product need not fit an integer. */
	size = (double)set->replicas * (double)most / (double)annotated + 0.5;
	share = (int64_t)(size < (double)INT32_MAX ? size : (double)INT32_MAX) - set->replicas;
	return left > 0 ? min_int64(share, left) : max_int64(share, left);
}

/** Larger sets first; of equal ones the newer when there is something to add, else the older. */
static bool comes_before(
	const struct bt_rollout_set *a, const struct bt_rollout_set *b, bool newer_first)
{
	if (a->replicas != b->replicas) {
		return a->replicas > b->replicas;
	}
	return newer_first ? a->created_seconds > b->created_seconds
			   : a->created_seconds < b->created_seconds;
}

static void scale_in_proportion(struct bt_rollout *rollout)
{
	uint32_t count = 0;
	struct bt_rollout_set **sets = BT_ARENA_NEW_ARRAY(
		rollout->arena, struct bt_rollout_set *, (size_t)rollout->old_count + 1);
	int64_t *sizes =
		BT_ARENA_NEW_ARRAY(rollout->arena, int64_t, (size_t)rollout->old_count + 1);
	int64_t allowed = rollout->replicas > 0 ? rollout->replicas + rollout->surge : 0;
	int64_t left = allowed - total_of(rollout);
	bool newer_first = left > 0;

	for (uint32_t i = 0; i <= rollout->old_count; i++) {
		struct bt_rollout_set *set =
			i < rollout->old_count ? &rollout->old_sets[i] : rollout->new_set;
		uint32_t place = count;
		if (set == NULL || set->replicas == 0) {
			continue;
		}
		while (place > 0 && comes_before(set, sets[place - 1], newer_first)) {
			sets[place] = sets[place - 1];
			place--;
		}
		sets[place] = set;
		count++;
	}
	for (uint32_t i = 0; i < count; i++) {
		int64_t share = share_of(rollout, sets[i], left);
		sizes[i] = sets[i]->replicas + share;
		left -= share;
	}
	for (uint32_t i = 0; i < count; i++) {
		int64_t size = i == 0 ? max_int64(sizes[i] + left, 0) : sizes[i];
		(void)scale_set(rollout, sets[i], size);
	}
}

void bt_rollout_scale(struct bt_rollout *rollout)
{
	struct bt_rollout_set *single = single_set(rollout);
	const struct bt_rollout_set *new_set = rollout->new_set;

	if (single != NULL) {
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
