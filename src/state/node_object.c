/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "state/change_log.h"
#include "state/node_table.h"
#include "state/node_table_edit.h"

#define FIRST_CHUNK_BYTES 256

void bt_taint_sets_init(struct bt_node_table *table)
{
	struct bt_taint_set none = {.ref_count = 1};

	/* Taint list 0 is the empty list, which is neither counted nor looked up. */
	bt_vec_push(&table->taint_sets, none);
}

void bt_taint_sets_finish(struct bt_node_table *table)
{
	for (uint32_t i = 0; i < table->taint_sets.count; i++) {
		bt_arena_finish(&table->taint_sets.items[i].arena);
	}
	bt_hash_table_finish(&table->taint_sets);
}

static bool taints_equal(const bt_taint_list *a, const bt_taint_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i].key, b->items[i].key) ||
			!bt_str_equal(a->items[i].value, b->items[i].value) ||
			!bt_str_equal(a->items[i].effect, b->items[i].effect)) {
			return false;
		}
	}
	return true;
}

/**
 * Returns the id of the list of these taints, with a reference. Ignores timeAdded, because spec 01
 * section 5.12 never reads it.
 */
static uint32_t taint_set_ref_list(struct bt_node_table *table, const bt_taint_list *taints)
{
	if (taints->count == 0) {
		return 0;
	}
	uint64_t hash = taints->count;

	for (uint32_t j = 0; j < taints->count; j++) {
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[j].key));
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[j].value));
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[j].effect));
	}
	BT_MAP_EACH (&table->taint_sets.map, hash, id) {
		struct bt_taint_set *set = &table->taint_sets.items[id];
		if (set->hash == hash && taints_equal(&set->taints, taints)) {
			set->ref_count++;
			return id;
		}
	}
	struct bt_taint_set set = {.ref_count = 1, .hash = hash};
	uint32_t id;

	bt_arena_init(&set.arena, FIRST_CHUNK_BYTES);
	set.taints.items = BT_ARENA_NEW_ARRAY(&set.arena, struct bt_taint, taints->count);
	set.taints.count = taints->count;
	set.taints.present = true;
	for (uint32_t i = 0; i < taints->count; i++) {
		set.taints.items[i].key = bt_arena_str(&set.arena, taints->items[i].key);
		set.taints.items[i].value = bt_arena_str(&set.arena, taints->items[i].value);
		set.taints.items[i].effect = bt_arena_str(&set.arena, taints->items[i].effect);
	}
	bt_hash_table_add(&table->taint_sets, hash, set, id);
	return id;
}

void bt_taint_set_unref(struct bt_node_table *table, uint32_t id)
{
	struct bt_taint_set *set = &table->taint_sets.items[id];

	if (id == 0) {
		return;
	}
	BT_ASSERT(set->ref_count != 0);
	if (--set->ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&table->taint_sets, set->hash, id);
	bt_arena_finish(&set->arena);
	*set = (struct bt_taint_set){0};
}

static const struct {
	struct bt_str type;
	char letter;
} condition_types[] = {
	{BT_STR_INIT("Ready"), BT_CONDITION_READY},
	{BT_STR_INIT("OutOfDisk"), BT_CONDITION_OUT_OF_DISK},
	{BT_STR_INIT("NetworkUnavailable"), BT_CONDITION_NETWORK_UNAVAILABLE},
	{BT_STR_INIT("MemoryPressure"), BT_CONDITION_MEMORY_PRESSURE},
	{BT_STR_INIT("DiskPressure"), BT_CONDITION_DISK_PRESSURE},
	{BT_STR_INIT("PIDPressure"), BT_CONDITION_PID_PRESSURE},
};

void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_node_condition *condition = &status->conditions.items[i];

		for (size_t k = 0; k < BT_ARRAY_LENGTH(condition_types); k++) {
			if (bt_str_equal(condition->type, condition_types[k].type)) {
				bt_strbuf_append_char(out, condition_types[k].letter);
				bt_strbuf_append_char(out,
					bt_str_equal_c(condition->status, "True")
						? BT_CONDITION_TRUE
						: bt_str_equal_c(condition->status, "False")
						? BT_CONDITION_FALSE
						: BT_CONDITION_UNKNOWN);
				break;
			}
		}
	}
}

static uint32_t write_amount(
	struct bt_node_table *table, int64_t *column, uint32_t slot, int64_t value)
{
	if (column[slot] == value) {
		return 0;
	}
	column[slot] = value;
	bt_node_table_check_amounts(table, (uint64_t)value);
	return 1;
}

static uint32_t set_allocatable(struct bt_node_table *table, uint32_t slot,
	const struct bt_node *node, struct bt_arena *scratch)
{
	struct bt_resource allocatable = {0};
	uint32_t differing = 0;

	bt_resource_add(&allocatable, &node->status.allocatable, scratch);
	int64_t amounts[BT_STANDARD__COUNT];
	bt_resource_get_standard(&allocatable, amounts);
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		differing += write_amount(table, table->allocatable[i], slot, amounts[i]);
	}
	for (uint32_t i = 0; i < BT_NON_ZERO_COUNT && differing != 0; i++) {
		table->inverse[i][slot] = amounts[i] > 0 ? 1 / (double)amounts[i] : 0;
	}
	differing +=
		write_amount(table, table->allocatable_pods, slot, allocatable.allowed_pod_number);
	struct bt_node_row *row = &table->rows[slot];
	uint32_t zero_count = 0;
	for (uint32_t i = 0; i < allocatable.scalar_count; i++) {
		const struct bt_scalar_resource *scalar = &allocatable.scalars[i];
		uint32_t resource = bt_node_table_scalar(table, scalar->name);
		differing += table->scalars.items[resource].allocatable[slot] != scalar->value;
		bt_node_table_set_scalar(table, resource, slot, scalar->value);
		if (scalar->value == 0 && bt_resource_is_dra_extended(scalar->name)) {
			if (zero_count == row->zero_scalars.count) {
				bt_vec_push(&row->zero_scalars, UINT32_MAX);
			}
			differing += row->zero_scalars.items[zero_count] != resource;
			row->zero_scalars.items[zero_count++] = resource;
		}
	}
	differing += row->zero_scalars.count - zero_count;
	row->zero_scalars.count = zero_count;
	/* Reset the scalar resources that the node no longer has. */
	for (uint32_t i = 0; i < table->scalars.count; i++) {
		const struct bt_scalar_column *column = &table->scalars.items[i];
		if (column->allocatable[slot] != 0 &&
			bt_resource_find_scalar(&allocatable,
				bt_symbol_text(table->symbols, column->name)) == NULL) {
			bt_node_table_set_scalar(table, i, slot, 0);
			differing++;
		}
	}
	return differing;
}

/**
 * Set *symbol to the symbol of text. Most node updates change almost nothing, so comparing the
 * texts first is cheaper than looking up the symbol.
 */
static void replace_symbol(struct bt_symbol_table *symbols, bt_sym *symbol, struct bt_str text)
{
	if (bt_str_equal(bt_symbol_text(symbols, *symbol), text)) {
		return;
	}
	bt_sym fresh = bt_symbol_ref_str(symbols, text);
	bt_symbol_unref(symbols, *symbol);
	*symbol = fresh;
}

static void set_zone_key(struct bt_node_table *table, struct bt_node_row *row,
	const struct bt_str_map *labels, struct bt_strbuf *text)
{
	bt_strbuf_reset(text);
	bt_node_zone_key(labels, text);
	replace_symbol(table->symbols, &row->zone_key, bt_strbuf_str(text));
}

static bool has_same_keys(const struct bt_str_map *a, const struct bt_str_map *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i].key, b->items[i].key)) {
			return false;
		}
	}
	return true;
}

static uint32_t set_labels(struct bt_node_table *table, uint32_t slot,
	const struct bt_str_map *labels, struct bt_strbuf *text)
{
	struct bt_node_row *row = &table->rows[slot];
	struct bt_symbol_table *symbols = table->symbols;
	struct bt_str_map map = {.count = labels->count, .present = labels->count != 0};
	struct bt_label_pair *pairs = NULL;

	if (has_same_keys(&row->labels, labels)) {
		/* If the keys are the same, change the values in place. */
		row = &table->rows[slot];
		bool zone_differs = false;
		uint32_t differing = 0;

		for (uint32_t k = 0; k < labels->count; k++) {
			struct bt_label_pair *pair = &row->label_symbols[k];
			bt_sym before = pair->value;

			if (bt_str_equal(row->labels.items[k].value, labels->items[k].value)) {
				continue;
			}
			pair->value = bt_symbol_ref_str(table->symbols, labels->items[k].value);
			row->labels.items[k].value = bt_symbol_text(table->symbols, pair->value);
			bt_label_columns_set(table, slot, *pair);
			bt_symbol_unref(table->symbols, before);
			zone_differs = zone_differs || bt_node_is_zone_label(labels->items[k].key);
			differing++;
		}
		if (zone_differs) {
			set_zone_key(table, row, labels, text);
		}
		return differing;
	}
	if (labels->count != 0) {
		map.items = bt_malloc(labels->count * (sizeof(*map.items) + sizeof(*pairs)));
		pairs = (struct bt_label_pair *)(map.items + labels->count);
	}
	for (uint32_t i = 0; i < labels->count; i++) {
		pairs[i].key = bt_symbol_ref_str(symbols, labels->items[i].key);
		pairs[i].value = bt_symbol_ref_str(symbols, labels->items[i].value);
		map.items[i].key = bt_symbol_text(symbols, pairs[i].key);
		map.items[i].value = bt_symbol_text(symbols, pairs[i].value);
	}
	bt_label_columns_update(table, slot, pairs, labels->count);
	for (uint32_t i = 0; i < row->labels.count; i++) {
		bt_symbol_unref(symbols, row->label_symbols[i].key);
		bt_symbol_unref(symbols, row->label_symbols[i].value);
	}
	bt_free(row->labels.items);
	row->labels = map;
	row->label_symbols = pairs;
	set_zone_key(table, row, labels, text);
	return 1;
}

/* The features of spec 05 section 14, ascending. The index is the bit in declared_features. */
static const struct bt_str features[] = {
	BT_STR_INIT("ExtendWebSocketsToKubelet"),
	BT_STR_INIT("InPlacePodLevelResourcesVerticalScaling"),
	BT_STR_INIT("InPlacePodVerticalScalingInitContainers"),
	BT_STR_INIT("RestartAllContainersOnContainerExits"),
	BT_STR_INIT("UserNamespacesHostNetworkSupport"),
};

uint32_t bt_node_table_set_node(struct bt_node_table *table, uint32_t slot,
	const struct bt_node *node, bool with_declared_features, struct bt_arena *scratch,
	struct bt_strbuf *text)
{
	/*
	 * Merge two ascending lists. If the node's list is not sorted, features may be missed, as
	 * in upstream.
	 */
	const bt_str_list *reported = &node->status.declared_features;
	uint32_t reported_count = with_declared_features ? reported->count : 0;
	uint8_t declared = 0;
	for (uint32_t i = 0, k = 0; i < reported_count && k < BT_ARRAY_LENGTH(features);) {
		int order = bt_str_compare(reported->items[i], features[k]);
		if (order == 0) {
			declared = (uint8_t)(declared | 1U << k);
		}
		i += order <= 0;
		k += order >= 0;
	}
	const struct bt_str *avoid = bt_str_map_find(&node->metadata.annotations,
		BT_STR("scheduler.alpha.kubernetes.io/preferAvoidPods"));
	uint32_t kinds = 0;

	if (set_allocatable(table, slot, node, scratch) != 0) {
		kinds |= BT_CHANGE_ALLOCATABLE;
	}
	if (set_labels(table, slot, &node->metadata.labels, text) != 0) {
		kinds |= BT_CHANGE_LABELS;
	}
	uint32_t old_set = table->taint_set[slot];
	uint32_t new_set = taint_set_ref_list(table, &node->spec.taints);
	uint8_t unschedulable = node->spec.unschedulable ? 1 : 0;
	if (new_set != old_set || unschedulable != table->unschedulable[slot]) {
		kinds |= BT_CHANGE_TAINTS;
	}
	bt_taint_set_unref(table, old_set);
	table->taint_set[slot] = new_set;
	table->unschedulable[slot] = unschedulable;
	if (declared != table->declared_features[slot]) {
		table->declared_features[slot] = declared;
		kinds |= BT_CHANGE_FEATURES;
	}
	struct bt_node_row *row = &table->rows[slot];
	struct bt_str uid = node->metadata.uid;
	if (!bt_str_equal((struct bt_str){row->uid, row->uid_length}, uid)) {
		bt_free(row->uid);
		row->uid = bt_strndup(uid.data, uid.length);
		row->uid_length = uid.length;
	}
	/*
	 * Conditions and preferAvoidPods have no change kind, because only the plain form of
	 * plugins (functions that are called for one node at a time) reads them.
	 */
	bt_strbuf_reset(text);
	bt_node_conditions_digest(&node->status, text);
	replace_symbol(table->symbols, &row->conditions, bt_strbuf_str(text));
	replace_symbol(table->symbols, &row->prefer_avoid_pods,
		avoid != NULL ? *avoid : (struct bt_str){0});
	return kinds;
}
