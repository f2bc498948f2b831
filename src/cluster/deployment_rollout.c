/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cluster/deployment.h"
#include "cluster/pod_index.h"

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

int64_t bt_rollout_new_set_size(const struct bt_rollout *rollout)
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
							      : bt_rollout_new_set_size(rollout);
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
