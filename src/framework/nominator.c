/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/nominator.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/links.h"

static const struct bt_str_map no_labels;

static uint64_t hash_symbol(bt_sym symbol)
{
	return bt_hash_u64(0, symbol.id);
}

void bt_nominator_init(struct bt_nominator *nominator, struct bt_state *state)
{
	static const struct bt_pod empty_pod;

	*nominator = (struct bt_nominator){.state = state};
	nominator->empty_shape = bt_shape_ref_pod(&state->shapes, &empty_pod, true);
}

static struct bt_nomination *nomination_at(const struct bt_nominator *nominator, uint32_t index)
{
	return &nominator->nominations.items[index];
}

static uint32_t find_by_uid(const struct bt_nominator *nominator, struct bt_str uid)
{
	if (nominator->nominations.map.count == 0) {
		return BT_NOMINATION_NONE;
	}
	bt_sym symbol = bt_symbol_find(&nominator->state->symbols, uid);
	if (bt_sym_is_none(symbol)) {
		return BT_NOMINATION_NONE;
	}
	uint64_t hash = hash_symbol(symbol);
	BT_MAP_EACH (&nominator->nominations.map, hash, index) {
		if (bt_sym_equal(nomination_at(nominator, index)->uid, symbol)) {
			return index;
		}
	}
	return BT_NOMINATION_NONE;
}

/** Returns the node's index in nodes, or BT_NOMINATION_NONE if no pod is nominated on the node. */
static uint32_t find_node(const struct bt_nominator *nominator, bt_sym node_name)
{
	uint64_t hash = hash_symbol(node_name);

	BT_MAP_EACH (&nominator->nodes.map, hash, index) {
		if (bt_sym_equal(nominator->nodes.items[index].node_name, node_name)) {
			return index;
		}
	}
	return BT_NOMINATION_NONE;
}

/** Removes the nomination from its node's list and from the maps, and frees the entry. */
static void end_nomination(struct bt_nominator *nominator, uint32_t index)
{
	struct bt_symbol_table *symbols = &nominator->state->symbols;
	struct bt_nomination *nomination = nomination_at(nominator, index);

	uint32_t node_index = find_node(nominator, nomination->node_name);

	BT_ASSERT(node_index != BT_NOMINATION_NONE);
	struct bt_nominated_node *node = &nominator->nodes.items[node_index];
	node->version = ++nominator->version;
	BT_INDEX_LIST_REMOVE(node->first, node->last, nominator->nominations.items, index,
		previous_on_node, next_on_node);
	if (node->first == BT_NOMINATION_NONE) {
		bt_hash_table_remove(&nominator->nodes, hash_symbol(node->node_name), node_index);
		node->node_name = BT_SYM_NONE;
	}
	bt_hash_table_remove(&nominator->nominations, hash_symbol(nomination->uid), index);
	bt_symbol_unref(symbols, nomination->uid);
	bt_symbol_unref(symbols, nomination->node_name);
	bt_symbol_unref(symbols, nomination->name);
	bt_symbol_unref(symbols, nomination->namespace_);
	*nomination = (struct bt_nomination){.uid = BT_SYM_NONE};
}

void bt_nominator_finish(struct bt_nominator *nominator)
{
	if (nominator->state == NULL) {
		return;
	}
	for (uint32_t i = 0; i < nominator->nominations.count; i++) {
		if (!bt_sym_is_none(nomination_at(nominator, i)->uid)) {
			end_nomination(nominator, i);
		}
	}
	bt_shape_unref(&nominator->state->shapes, nominator->empty_shape);
	bt_hash_table_finish(&nominator->nominations);
	bt_hash_table_finish(&nominator->nodes);
	nominator->state = NULL;
}

void bt_nominator_add(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	struct bt_str node_name, bool queued)
{
	struct bt_symbol_table *symbols = &nominator->state->symbols;
	/*
	 * Take the new references first: the old nomination, dropped below, may hold the only
	 * references to the same symbols.
	 */
	struct bt_nomination nomination = {
		.uid = bt_symbol_ref_str(symbols, pod->uid),
		.node_name = bt_symbol_ref_str(symbols, node_name),
		.name = bt_symbol_ref_str(symbols, pod->name),
		.namespace_ = bt_symbol_ref_str(symbols, pod->namespace_),
		.pod = queued ? pod : NULL,
		.sequence = nominator->next_sequence++,
	};
	uint32_t index;

	bt_nominator_delete(nominator, pod->uid);
	nomination.bare_pod = (struct bt_pod_info){
		.name = bt_symbol_text(symbols, nomination.name),
		.namespace_ = bt_symbol_text(symbols, nomination.namespace_),
		.uid = bt_symbol_text(symbols, nomination.uid),
		.labels = &no_labels,
		.shape = bt_shape_at(&nominator->state->shapes, nominator->empty_shape),
		.label_set = BT_LABEL_SET_NONE,
		.start_seconds = INT64_MIN,
		.pod_id = BT_POD_NONE,
	};
	bt_hash_table_add(&nominator->nominations, hash_symbol(nomination.uid), nomination, index);

	struct bt_nomination *added = nomination_at(nominator, index);
	uint32_t node_index = find_node(nominator, added->node_name);

	if (node_index == BT_NOMINATION_NONE) {
		const struct bt_nominated_node empty = {.node_name = added->node_name,
			.first = BT_NOMINATION_NONE,
			.last = BT_NOMINATION_NONE};

		bt_hash_table_add(
			&nominator->nodes, hash_symbol(added->node_name), empty, node_index);
	}
	struct bt_nominated_node *node = &nominator->nodes.items[node_index];

	node->version = ++nominator->version;
	BT_INDEX_LIST_APPEND(node->first, node->last, nominator->nominations.items, index,
		previous_on_node, next_on_node);
}

void bt_nominator_nominate(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	const struct bt_post_filter_result *info, bool queued, bool can_nominate)
{
	bool override = info != NULL && info->present && info->mode == BT_NOMINATING_OVERRIDE;
	struct bt_str node_name = override ? info->nominated_node_name : pod->nominated_node_name;

	/* A nomination without a node name would have no effect (spec 04 section 10). */
	if (node_name.length == 0 || !can_nominate) {
		bt_nominator_delete(nominator, pod->uid);
		return;
	}
	bt_nominator_add(nominator, pod, node_name, queued);
}

void bt_nominator_update(struct bt_nominator *nominator, const struct bt_pod_info *old_pod,
	const struct bt_pod_info *new_pod, bool queued, bool can_nominate)
{
	struct bt_post_filter_result info = {0};
	struct bt_symbol_table *symbols = &nominator->state->symbols;
	uint32_t index = find_by_uid(nominator, old_pod->uid);
	bt_sym node_name = BT_SYM_EMPTY;

	if (index != BT_NOMINATION_NONE && old_pod->nominated_node_name.length == 0 &&
		new_pod->nominated_node_name.length == 0) {
		/*
		 * Hold the node name: the old nomination may have the only reference to it, and
		 * ends before the new nomination begins.
		 */
		node_name = bt_symbol_ref(symbols, nomination_at(nominator, index)->node_name);
		info = (struct bt_post_filter_result){
			.present = true,
			.mode = BT_NOMINATING_OVERRIDE,
			.nominated_node_name = bt_symbol_text(symbols, node_name),
		};
	}
	bt_nominator_delete(nominator, old_pod->uid);
	bt_nominator_nominate(nominator, new_pod, &info, queued, can_nominate);
	bt_symbol_unref(symbols, node_name);
}

void bt_nominator_delete(struct bt_nominator *nominator, struct bt_str uid)
{
	uint32_t index = find_by_uid(nominator, uid);

	if (index != BT_NOMINATION_NONE) {
		end_nomination(nominator, index);
	}
}

void bt_nominator_set_queued(
	struct bt_nominator *nominator, struct bt_str uid, const struct bt_pod_info *pod)
{
	uint32_t index = find_by_uid(nominator, uid);

	if (index != BT_NOMINATION_NONE) {
		uint32_t node = find_node(nominator, nomination_at(nominator, index)->node_name);

		nomination_at(nominator, index)->pod = pod;
		nominator->nodes.items[node].version = ++nominator->version;
	}
}

bool bt_nominator_find(
	const struct bt_nominator *nominator, struct bt_str uid, struct bt_str *out_node_name)
{
	uint32_t index = find_by_uid(nominator, uid);

	if (index == BT_NOMINATION_NONE) {
		return false;
	}
	*out_node_name = bt_symbol_text(
		&nominator->state->symbols, nomination_at(nominator, index)->node_name);
	return true;
}

bool bt_nominated_pod_counts(const struct bt_pod_info *nominated, const struct bt_pod_info *pod)
{
	return nominated->priority >= pod->priority && !bt_str_equal(nominated->uid, pod->uid);
}

static const struct bt_pod_info *pod_of(const struct bt_nomination *nomination)
{
	return nomination->pod != NULL ? nomination->pod : &nomination->bare_pod;
}

bool bt_nominator_has_rival(
	const struct bt_nominator *nominator, uint32_t node, const struct bt_pod_info *pod)
{
	const struct bt_nominated_node *item = &nominator->nodes.items[node];

	if (bt_sym_is_none(item->node_name) || bt_sym_equal(item->node_name, BT_SYM_EMPTY)) {
		return false;
	}
	for (uint32_t index = item->first; index != BT_NOMINATION_NONE;
		index = nomination_at(nominator, index)->next_on_node) {
		if (bt_nominated_pod_counts(pod_of(nomination_at(nominator, index)), pod)) {
			return true;
		}
	}
	return false;
}

const struct bt_pod_info *bt_nominator_next(
	const struct bt_nominator *nominator, struct bt_str node_name, uint32_t *cursor)
{
	uint32_t index = *cursor;

	if (index == BT_NOMINATION_FIRST) {
		bt_sym symbol = nominator->nominations.map.count != 0 && node_name.length != 0
			? bt_symbol_find(&nominator->state->symbols, node_name)
			: BT_SYM_NONE;
		uint32_t node =
			bt_sym_is_none(symbol) ? BT_NOMINATION_NONE : find_node(nominator, symbol);

		index = node != BT_NOMINATION_NONE ? nominator->nodes.items[node].first
						   : BT_NOMINATION_NONE;
	}
	if (index == BT_NOMINATION_NONE) {
		return NULL;
	}
	const struct bt_nomination *nomination = nomination_at(nominator, index);

	*cursor = nomination->next_on_node;
	return pod_of(nomination);
}
