/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster/deployment.h"
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

static void make_new_set(struct bt_rollout *rollout)
{
	struct bt_str hash = bt_tree_template_hash(rollout->arena,
		bt_json_object_at(rollout->deployment, "spec.template"), BT_LABEL_TEMPLATE_HASH,
		rollout->collision_count);
	struct bt_str name = bt_arena_printf(rollout->arena, "%.*s-%.*s",
		BT_STR_ARG(bt_key_name(rollout->key)), BT_STR_ARG(hash));
	struct bt_str namespace_ = bt_key_namespace(rollout->key);
	int64_t size = bt_rollout_new_set_size(rollout);
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
