/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ResourceClaims and PodGroups of a replay. Allocations, reservations and the conditions of groups
 * are the scheduler's, so they are decided again. The work of controllers is done here, at once:
 * deleting claims of deleted pods, making claims for replacements, keeping groups that pods still
 * use. Spec: 14b sections 6.8 and 6.9.
 */
#include "api/identity.h"
#include "api/resource_claim.h"
#include "base/nanoseconds.h"
#include "dra/dra.h"
#include "replay/world.h"
#include "state/pod_groups.h"

/** --- claims --- */

/** Returns the claim as the scheduler has it, including the scheduler's writes, or NULL. */
static struct bt_object *find_claim(
	const struct bt_replay *replay, struct bt_str namespace_, struct bt_str name)
{
	struct bt_state *state = replay->engine->state;
	return state->dra != NULL ? bt_claim_cache_find(&state->dra->claims, namespace_, name)
				  : bt_object_store_find_object(&state->objects,
					    BT_KIND_RESOURCE_CLAIM, namespace_, name);
}

static const struct bt_resource_claim *claim_value(const struct bt_object *claim)
{
	return bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
}

static bool is_owner_here(const struct bt_replay *replay, const struct bt_object_meta *claim)
{
	struct bt_str uid = bt_claim_owner_pod_uid(claim);
	return uid.length != 0 && bt_replay_find_by_uid(replay, uid) != BT_MAP_NONE;
}

static bool is_used_here(const struct bt_replay *replay, const struct bt_resource_claim *claim)
{
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		struct bt_str uid = claim->status.reserved_for.items[i].uid;
		if (bt_replay_find_by_uid(replay, uid) != BT_MAP_NONE) {
			return true;
		}
	}
	return false;
}

/**
 * Changes the object and passes the change to the scheduler. old NULL: adds the object; value NULL:
 * deletes the object.
 */
static int set_object(struct bt_replay *replay, enum bt_kind kind, struct bt_object *old,
	const void *value, struct berth_error *err)
{
	struct bt_object *object = value != NULL ? bt_object_create(kind, value) : NULL;
	old = old != NULL ? bt_object_share(old) : NULL;
	int result = bt_replay_observe(replay, old, object, err);
	bt_object_release(old);
	bt_object_release(object);
	return result;
}

static int set_claim(struct bt_replay *replay, struct bt_object *old,
	const struct bt_resource_claim *value, struct berth_error *err)
{
	struct bt_resource_claim copy = *value;
	copy.metadata.resource_version = BT_STR(""); /* newer than any version */
	return set_object(replay, BT_KIND_RESOURCE_CLAIM, old, &copy, err);
}

/** Deallocates the devices before deleting the claim, because pods wait for the deallocation. */
static int remove_claim(struct bt_replay *replay, struct bt_object *claim, struct berth_error *err)
{
	struct bt_resource_claim freed = *claim_value(claim);
	int result = 0;
	claim = bt_object_share(claim);
	if (freed.status.allocation != NULL) {
		freed.status = (struct bt_resource_claim_status){0};
		bt_resource_claim_remove_finalizer(&freed, &replay->arena);
		result = set_claim(replay, claim, &freed, err);
	}
	if (result == 0) {
		result = set_object(replay, BT_KIND_RESOURCE_CLAIM, claim, NULL, err);
	}
	bt_object_release(claim);
	return result;
}

int bt_replay_add_claim(struct bt_replay *replay, const struct bt_object *object, bool is_start,
	struct berth_error *err)
{
	struct bt_resource_claim value = *claim_value(object);
	struct bt_str special = BT_SPECIAL_CLAIM_ANNOTATION;
	struct bt_object *old = find_claim(replay, value.metadata.namespace_, value.metadata.name);
	if (bt_replay_is_decided(replay) && !is_start) {
		/*
		 * The recording's scheduler made the claim, or the claim is for a pod that does not
		 * exist in the replay.
		 */
		if (bt_str_map_find(&value.metadata.annotations, special) != NULL ||
			(bt_claim_owner_pod_uid(&value.metadata).length != 0 &&
				!is_owner_here(replay, &value.metadata))) {
			return 0;
		}
		value.status = (struct bt_resource_claim_status){0};
		bt_resource_claim_remove_finalizer(&value, &replay->arena);
	}
	return set_claim(replay, old, &value, err);
}

int bt_replay_change_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *old = find_claim(replay, line->namespace_, line->name);
	struct bt_object *patched;
	if (old == NULL) {
		return 0; /* the replay has no such claim (any more) */
	}
	const struct bt_resource_claim *known = claim_value(old);
	int result =
		bt_object_merge_patch(BT_KIND_RESOURCE_CLAIM, known, line->json, &patched, err);
	if (result < 0) {
		return result;
	}
	struct bt_resource_claim value = *claim_value(patched);
	if (bt_replay_is_decided(replay)) {
		value.metadata.finalizers = known->metadata.finalizers;
		value.status.allocation = known->status.allocation;
		value.status.reserved_for = known->status.reserved_for;
		if (is_owner_here(replay, &known->metadata)) {
			value.metadata.deletion_timestamp = known->metadata.deletion_timestamp;
		}
	}
	value.metadata.resource_version = known->metadata.resource_version;
	if (!bt_message_equal(&bt_resource_claim_message, &value, known)) {
		result = set_claim(replay, old, &value, err);
	}
	bt_object_release(patched);
	return result;
}

int bt_replay_remove_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *old = find_claim(replay, line->namespace_, line->name);
	if (old == NULL) {
		return 0; /* the replay has no such claim (any more) */
	}
	if (!bt_replay_is_decided(replay)) {
		return set_object(replay, BT_KIND_RESOURCE_CLAIM, old, NULL, err);
	}
	if (is_owner_here(replay, old->meta)) {
		return 0; /* the claim is deleted with its pod */
	}
	if (is_used_here(replay, claim_value(old))) {
		/* Pods that run longer in the replay use the claim: its finalizer keeps it. */
		struct bt_resource_claim value = *claim_value(old);
		const struct bt_time now = bt_replay_time(replay);
		value.metadata.deletion_timestamp = &now;
		return set_claim(replay, old, &value, err);
	}
	return remove_claim(replay, old, err);
}

/** Makes a copy of a deleted pod's claim for the pod that replaces it. */
static int remake_claim(struct bt_replay *replay, const struct bt_object *claim,
	const struct bt_pod *pod, uint32_t returns, struct bt_str *out_name,
	struct berth_error *err)
{
	struct bt_resource_claim value = *claim_value(claim);
	struct bt_owner_reference owner = *bt_object_controller(&value.metadata);
	owner.name = pod->metadata.name;
	owner.uid = pod->metadata.uid;
	value.metadata.name =
		bt_arena_printf(&replay->arena, "%.*s.%u", BT_STR_ARG(claim->meta->name), returns);
	value.metadata.uid =
		bt_arena_printf(&replay->arena, "%.*s.%u", BT_STR_ARG(claim->meta->uid), returns);
	value.metadata.owner_references.items = &owner;
	value.metadata.owner_references.count = 1;
	value.metadata.deletion_timestamp = NULL;
	value.status = (struct bt_resource_claim_status){0};
	bt_resource_claim_remove_finalizer(&value, &replay->arena);
	*out_name = value.metadata.name;
	return set_claim(replay, NULL, &value, err);
}

int bt_replay_release_claims(struct bt_replay *replay, const struct bt_pod *gone,
	struct bt_pod *next, uint32_t returns, struct berth_error *err)
{
	const struct bt_object_meta *meta = &gone->metadata;
	uint32_t count = gone->spec.resource_claims.count;
	struct bt_state *state = replay->engine->state;
	struct bt_pod_resource_claim_status *statuses =
		BT_ARENA_NEW_ARRAY(&replay->arena, struct bt_pod_resource_claim_status, count);
	uint32_t status_count = 0;
	int result = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct bt_pod_resource_claim *entry = &gone->spec.resource_claims.items[i];
		struct bt_object *claim =
			find_claim(replay, meta->namespace_, bt_pod_claim_name(gone, entry));
		if (claim == NULL) {
			continue;
		}
		if (!bt_str_equal(bt_claim_owner_pod_uid(claim->meta), meta->uid)) {
			/* Without users, a claim loses its devices. */
			struct bt_resource_claim left;
			if (bt_claim_without_pod(
				    claim_value(claim), meta->uid, &replay->arena, &left)) {
				result = left.status.reserved_for.count == 0 &&
						left.metadata.deletion_timestamp != NULL
					? remove_claim(replay, claim, err)
					: set_claim(replay, claim, &left, err);
			}
			continue;
		}
		claim = bt_object_share(claim);
		result = remove_claim(replay, claim, err);
		if (result == 0 && next != NULL) {
			statuses[status_count].name = entry->name;
			result = remake_claim(replay, claim, next, returns,
				&statuses[status_count++].resource_claim_name, err);
		}
		bt_object_release(claim);
	}
	struct bt_object *special = state->dra != NULL
		? bt_claim_cache_find_special(&state->dra->claims, meta->name, meta->uid)
		: NULL;
	if (result == 0 && special != NULL) {
		result = remove_claim(replay, special, err);
	}
	if (next != NULL && status_count != 0) {
		next->status.resource_claim_statuses =
			(bt_pod_resource_claim_status_list){statuses, status_count, true};
	}
	return result;
}

/** --- pod groups --- */

#define SCHEDULED_CONDITION "PodGroupScheduled"

static const struct bt_condition *find_condition(const bt_condition_list *conditions)
{
	for (uint32_t i = 0; i < conditions->count; i++) {
		if (bt_str_equal_c(conditions->items[i].type, SCHEDULED_CONDITION)) {
			return &conditions->items[i];
		}
	}
	return NULL;
}

/**
 * Returns a copy of the list in which `condition` replaces SCHEDULED_CONDITION. condition NULL: the
 * copy does not have SCHEDULED_CONDITION.
 */
static bt_condition_list exchange_condition(struct bt_replay *replay,
	const bt_condition_list *conditions, const struct bt_condition *condition)
{
	uint32_t count = 0;
	struct bt_condition *items = BT_ARENA_NEW_ARRAY(
		&replay->arena, struct bt_condition, (size_t)conditions->count + 1);
	for (uint32_t i = 0; i < conditions->count; i++) {
		if (!bt_str_equal_c(conditions->items[i].type, SCHEDULED_CONDITION)) {
			items[count++] = conditions->items[i];
		}
	}
	if (condition != NULL) {
		items[count++] = *condition;
	}
	return (bt_condition_list){items, count, count != 0};
}

void bt_replay_keep_group_condition(
	struct bt_replay *replay, const struct bt_object *known, struct bt_pod_group *group)
{
	const struct bt_pod_group *value =
		known != NULL ? bt_object_value(known, BT_KIND_POD_GROUP) : NULL;
	group->status.conditions = exchange_condition(replay, &group->status.conditions,
		value != NULL ? find_condition(&value->status.conditions) : NULL);
}

static struct bt_object *find_group(
	const struct bt_replay *replay, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find_object(
		&replay->engine->state->objects, BT_KIND_POD_GROUP, namespace_, name);
}

int bt_replay_set_group_condition(struct bt_replay *replay, struct bt_str namespace_,
	struct bt_str name, const struct bt_condition *condition, struct berth_error *err)
{
	struct bt_object *old = find_group(replay, namespace_, name);
	if (old == NULL) {
		return 0;
	}
	struct bt_pod_group value =
		*(const struct bt_pod_group *)bt_object_value(old, BT_KIND_POD_GROUP);
	const struct bt_condition *known = find_condition(&value.status.conditions);
	struct bt_condition changed = *condition;
	changed.last_transition_time =
		known != NULL && bt_str_equal(known->status, condition->status)
		? known->last_transition_time
		: bt_replay_time(replay);
	value.status.conditions = exchange_condition(replay, &value.status.conditions, &changed);
	return set_object(replay, BT_KIND_POD_GROUP, old, &value, err);
}

static bool has_members(
	const struct bt_replay *replay, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_group_members *members =
		bt_pod_groups_find(replay->engine->state, namespace_, name);
	return members != NULL && members->items.count != 0;
}

int bt_replay_remove_group(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *old = find_group(replay, line->namespace_, line->name);
	if (old == NULL) {
		return 0;
	}
	if (!bt_replay_is_decided(replay) || !has_members(replay, line->namespace_, line->name)) {
		return set_object(replay, BT_KIND_POD_GROUP, old, NULL, err);
	}
	/*
	 * Pods that are pending or run longer in the replay still use the group: its finalizer
	 * keeps it.
	 */
	struct bt_pod_group value =
		*(const struct bt_pod_group *)bt_object_value(old, BT_KIND_POD_GROUP);
	const struct bt_time now = bt_replay_time(replay);
	value.metadata.deletion_timestamp = &now;
	return set_object(replay, BT_KIND_POD_GROUP, old, &value, err);
}

int bt_replay_remove_from_group(
	struct bt_replay *replay, const struct bt_pod *gone, struct berth_error *err)
{
	const struct bt_str *name = bt_pod_group_name_of(gone);
	struct bt_object *group =
		name != NULL ? find_group(replay, gone->metadata.namespace_, *name) : NULL;
	if (group == NULL || group->meta->deletion_timestamp == NULL ||
		has_members(replay, gone->metadata.namespace_, *name)) {
		return 0;
	}
	return set_object(replay, BT_KIND_POD_GROUP, group, NULL, err);
}
