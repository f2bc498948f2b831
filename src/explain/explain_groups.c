/* SPDX-License-Identifier: Apache-2.0 */
/** Nodes with the same status: what the message counts. */
#include <stdlib.h>

#include "explain/explain_private.h"

static uint64_t group_hash(const void *owner, uint32_t value)
{
	return ((const struct bt_explain_groups *)owner)->hashes.items[value];
}

void bt_explain_groups_init(struct bt_explain_groups *groups, struct bt_explain_run *run)
{
	*groups = (struct bt_explain_groups){.run = run};
	bt_map_init(&groups->map, group_hash, groups);
}

void bt_explain_groups_finish(struct bt_explain_groups *groups)
{
	bt_map_finish(&groups->map);
	bt_vec_finish(&groups->statuses);
	bt_vec_finish(&groups->groups);
	bt_vec_finish(&groups->hashes);
}

static uint64_t hash_of(const struct bt_status *status, bool in_pre_filter)
{
	uint64_t hash = bt_hash_u64(status->code, (uint64_t)status->plugin * 2 + in_pre_filter);

	for (uint32_t i = 0; i < bt_status_all_reason_count(status); i++) {
		hash = bt_hash_u64(hash, bt_str_hash(bt_status_all_reason_at(status, i)));
	}
	return hash;
}

static struct bt_explained_group make_group(
	struct bt_explain_groups *groups, const struct bt_status *copy, bool in_pre_filter)
{
	struct bt_arena *arena = &groups->run->out->arena;
	struct bt_explained_group group = {
		.code = (enum bt_status_code)copy->code,
		.plugin = bt_arena_str(
			arena, bt_framework_status_plugin_name(groups->run->framework, copy)),
		.in_pre_filter = in_pre_filter,
	};

	group.reasons.count = bt_status_all_reason_count(copy);
	group.reasons.present = true;
	group.reasons.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, group.reasons.count);
	for (uint32_t i = 0; i < group.reasons.count; i++) {
		group.reasons.items[i] = bt_status_all_reason_at(copy, i);
	}
	return group;
}

uint32_t bt_explain_groups_find(
	struct bt_explain_groups *groups, const struct bt_status *status, bool in_pre_filter)
{
	uint64_t hash = hash_of(status, in_pre_filter);
	struct bt_explained_group group;
	struct bt_status copy;

	for (uint32_t it = bt_map_first(&groups->map, hash); it != BT_MAP_NONE;
		it = bt_map_next(&groups->map, hash, it)) {
		uint32_t index = bt_map_value(&groups->map, it);

		if (bt_status_equal(&groups->statuses.items[index], status) &&
			groups->groups.items[index].in_pre_filter == in_pre_filter) {
			return index;
		}
	}
	copy = bt_status_copy(status, &groups->run->out->arena);
	group = make_group(groups, &copy, in_pre_filter);
	bt_vec_push(&groups->statuses, copy);
	bt_vec_push(&groups->groups, group);
	bt_vec_push(&groups->hashes, hash);
	bt_map_insert(&groups->map, hash, groups->groups.count - 1);
	return groups->groups.count - 1;
}

/** --- order --- */

/** qsort passes no context: what is sorted brings it along. */
struct ranked_node {
	const struct bt_explained_node *node;
	uint32_t index;
};

/** How far away they are. */
static int compare_distances(const struct bt_explained_node *x, const struct bt_explained_node *y)
{
	if (x->is_final != y->is_final) {
		return x->is_final ? 1 : -1;
	}
	if (!x->is_final && x->is_too_small != y->is_too_small) {
		return x->is_too_small ? 1 : -1;
	}
	if (!x->is_final && x->remedies.count != y->remedies.count) {
		return x->remedies.count < y->remedies.count ? -1 : 1;
	}
	if (x->distance < y->distance || x->distance > y->distance) {
		return x->distance < y->distance ? -1 : 1;
	}
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct bt_explained_node *x = ((const struct ranked_node *)a)->node;
	const struct bt_explained_node *y = ((const struct ranked_node *)b)->node;
	int order = compare_distances(x, y);

	return order != 0 ? order : bt_str_compare(x->name, y->name);
}

struct ranked_group {
	const struct bt_explained_group *group;
	const struct bt_explained_node *nearest;
};

static int compare_reasons(const struct bt_explained_group *x, const struct bt_explained_group *y)
{
	for (uint32_t i = 0; i < x->reasons.count && i < y->reasons.count; i++) {
		int order = bt_str_compare(x->reasons.items[i], y->reasons.items[i]);

		if (order != 0) {
			return order;
		}
	}
	return (x->reasons.count > y->reasons.count) - (x->reasons.count < y->reasons.count);
}

static int compare_groups(const void *a, const void *b)
{
	const struct bt_explained_group *x = ((const struct ranked_group *)a)->group;
	const struct bt_explained_group *y = ((const struct ranked_group *)b)->group;
	int order = compare_distances(((const struct ranked_group *)a)->nearest,
		((const struct ranked_group *)b)->nearest);

	if (order != 0) {
		return order;
	}
	if (x->nodes.count != y->nodes.count) {
		return x->nodes.count > y->nodes.count ? -1 : 1;
	}
	order = compare_reasons(x, y);
	if (order == 0) {
		order = bt_str_compare(x->plugin, y->plugin);
	}
	if (order == 0) {
		order = (int)x->code - (int)y->code;
	}
	return order != 0 ? order : (int)x->in_pre_filter - (int)y->in_pre_filter;
}

static void add_members(struct bt_explain_groups *groups)
{
	struct bt_explanation *out = groups->run->out;

	for (uint32_t i = 0; i < out->nodes.count; i++) {
		uint32_t group = out->nodes.items[i].group;

		if (group != BT_EXPLAIN_GROUP_NONE) {
			groups->groups.items[group].nodes.count++;
		}
	}
	for (uint32_t i = 0; i < groups->groups.count; i++) {
		struct bt_explained_group *group = &groups->groups.items[i];

		group->nodes.items = BT_ARENA_NEW_ARRAY(&out->arena, uint32_t, group->nodes.count);
		group->nodes.count = 0;
		group->nodes.present = true;
	}
	for (uint32_t i = 0; i < out->nodes.count; i++) {
		if (out->nodes.items[i].group != BT_EXPLAIN_GROUP_NONE) {
			struct bt_explained_group *group =
				&groups->groups.items[out->nodes.items[i].group];

			group->nodes.items[group->nodes.count++] = i;
		}
	}
}

static void sort_members(struct bt_explain_groups *groups, struct bt_explained_group *group)
{
	const struct bt_explanation *out = groups->run->out;
	struct ranked_node *ranked = BT_NEW_ARRAY(struct ranked_node, group->nodes.count);

	for (uint32_t i = 0; i < group->nodes.count; i++) {
		ranked[i] = (struct ranked_node){
			&out->nodes.items[group->nodes.items[i]], group->nodes.items[i]};
	}
	qsort(ranked, group->nodes.count, sizeof(ranked[0]), compare_nodes);
	for (uint32_t i = 0; i < group->nodes.count; i++) {
		group->nodes.items[i] = ranked[i].index;
	}
	bt_free(ranked);
}

void bt_explain_groups_close(struct bt_explain_groups *groups)
{
	struct bt_explanation *out = groups->run->out;
	uint32_t count = groups->groups.count;
	struct ranked_group *ranked = BT_NEW_ARRAY(struct ranked_group, count);

	add_members(groups);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_explained_group *group = &groups->groups.items[i];

		sort_members(groups, group);
		ranked[i] = (struct ranked_group){group, &out->nodes.items[group->nodes.items[0]]};
	}
	qsort(ranked, count, sizeof(ranked[0]), compare_groups);
	out->groups.items = BT_ARENA_NEW_ARRAY(&out->arena, struct bt_explained_group, count);
	out->groups.count = count;
	out->groups.present = true;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_explained_group *group = &out->groups.items[i];

		*group = *ranked[i].group;
		for (uint32_t k = 0; k < group->nodes.count; k++) {
			out->nodes.items[group->nodes.items[k]].group = i;
		}
	}
	bt_free(ranked);
}
