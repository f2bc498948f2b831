/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column has the outcome of allocating a list of claims on every node. Columns are kept between
 * cycles: a placed pod changes the devices of one node, so the next pod with equal requests needs a
 * new search on that node only.
 */
#include "dra/allocator_private.h"

/**
 * There are at most COLUMNS_MAX columns, and their values take at most COLUMN_BYTES_MAX bytes. If
 * the values of COLUMNS_MIN columns take more bytes, COLUMNS_MIN columns are kept all the same.
 */
#define COLUMNS_MAX 64U
#define COLUMNS_MIN 4U
#define COLUMN_BYTES_MAX ((size_t)16 << 20)
/** If more than about 1/REPAIR_SHARE of the nodes have changed, all nodes are searched. */
#define REPAIR_SHARE 4U
/** Maximum number of changed slots that an update logs: slots / LOGGED_SHARE + LOGGED_MIN. */
#define LOGGED_SHARE 64U
#define LOGGED_MIN 4U
/** A node is compared with at most GROUP_PROBES groups. */
#define GROUP_PROBES 8U

static void destroy_column(struct column *column)
{
	bt_vec_finish_each(&column->classes, bt_object_release(*each));
	bt_vec_finish(&column->answers);
	bt_arena_finish(&column->arena);
	bt_free(column->values);
	bt_free(column->groups);
	bt_free(column);
}

void bt_allocation_columns_destroy(struct bt_allocation_columns *columns)
{
	if (columns == NULL) {
		return;
	}
	bt_vec_finish_each(&columns->items, destroy_column(*each));
	bt_free(columns);
}

static bool is_for(const struct column *column, const struct bt_prepared *prepared, uint64_t hash)
{
	if (column->hash != hash || column->claim_count != prepared->count ||
		column->classes.count != prepared->option_count) {
		return false;
	}
	/* A class that was replaced has a new object. */
	for (uint32_t i = 0; i < prepared->option_count; i++) {
		const struct bt_object *device_class = column->classes.items[i];
		if ((device_class != NULL ? device_class->value : NULL) !=
			(const void *)prepared->options[i].device_class) {
			return false;
		}
	}
	for (uint32_t i = 0; i < prepared->count; i++) {
		if (!bt_message_equal(&bt_device_claim_message, &column->claims[i],
			    &prepared->claims[i]->spec.devices)) {
			return false;
		}
	}
	return true;
}

static struct column *add_column(struct bt_allocation_columns *columns, const struct bt_dra *dra,
	const struct bt_prepared *prepared, uint64_t hash)
{
	struct column *column = BT_NEW(struct column);
	const struct bt_node_allocation found = {BT_ALLOCATION_FOUND, 0};

	column->hash = hash;
	column->base.serial = ++columns->serial;
	column->claim_count = prepared->count;
	column->claims =
		BT_ARENA_NEW_ARRAY(&column->arena, struct bt_device_claim, prepared->count);
	for (uint32_t i = 0; i < prepared->count; i++) {
		bt_message_copy(&bt_device_claim_message, &column->claims[i],
			&prepared->claims[i]->spec.devices, &column->arena);
	}
	for (uint32_t i = 0; i < prepared->option_count; i++) {
		const struct bt_device_class *device_class = prepared->options[i].device_class;
		struct bt_object *object = device_class == NULL
			? NULL
			: bt_object_share(bt_object_store_find_object(&dra->state->objects,
				  BT_KIND_DEVICE_CLASS, BT_STR(""), device_class->metadata.name));
		bt_vec_push(&column->classes, object);
	}
	bt_vec_push(&column->answers, found);
	/* Drop the least recently used column if there are too many columns. */
	size_t column_bytes = sizeof(uint32_t) * ((size_t)dra->state->nodes.slot_count + 1);
	size_t count_max = COLUMN_BYTES_MAX / column_bytes;

	count_max = count_max < COLUMNS_MIN ? COLUMNS_MIN : count_max;
	if (columns->items.count >= COLUMNS_MAX || columns->items.count >= count_max) {
		uint32_t oldest = 0;

		for (uint32_t i = 1; i < columns->items.count; i++) {
			if (columns->items.items[i]->last_used <
				columns->items.items[oldest]->last_used) {
				oldest = i;
			}
		}
		destroy_column(columns->items.items[oldest]);
		bt_vec_remove_swap(&columns->items, oldest);
	}
	bt_vec_push(&columns->items, column);
	return column;
}

static bool has_failed(const struct bt_node_allocation *answer)
{
	return answer->outcome == BT_ALLOCATION_OVER || answer->outcome == BT_ALLOCATION_ERROR;
}

static uint32_t index_of_answer(struct column *column, struct bt_node_allocation answer)
{
	uint32_t i = 0;

	while (i < column->answers.count &&
		(column->answers.items[i].outcome != answer.outcome ||
			column->answers.items[i].score != answer.score)) {
		i++;
	}
	if (i == column->answers.count) {
		bt_vec_push(&column->answers, answer);
	}
	return i;
}

/**
 * Set the value of a slot. twin: a slot with the same devices, whose value is copied; BT_SLOT_NONE:
 * search on the slot. A slot outside the snapshot gets the value 0. Returns whether the value
 * changed.
 */
static bool update_slot(struct column *column, struct bt_allocator *allocator,
	const struct bt_prepared *prepared, uint32_t slot, uint32_t twin)
{
	const struct bt_state *state = allocator->pools->dra->state;
	uint32_t *value = &column->values[slot];
	uint32_t before = *value;

	column->base.failure_count -= has_failed(&column->answers.items[before]);
	if (!state->nodes.rows[slot].in_snapshot) {
		*value = 0;
	} else if (twin != BT_SLOT_NONE) {
		*value = column->values[twin];
	} else {
		*value = index_of_answer(column,
			bt_allocator_allocate(
				allocator, slot, prepared->claims, prepared->count, NULL, NULL));
	}
	column->base.failure_count += has_failed(&column->answers.items[*value]);
	return *value != before;
}

/** Log the changed slot. If too many slots have changed, the column gets a new version instead. */
static void log_change(
	struct column *column, struct bt_state *state, uint32_t slot, uint32_t *changed)
{
	uint32_t logged_max = state->nodes.slot_count / LOGGED_SHARE + LOGGED_MIN;

	if (++*changed <= logged_max) {
		bt_change_log_append(&state->log, slot, BT_CHANGE_DEVICES);
	} else if (*changed == logged_max + 1) {
		column->base.version++;
	}
}

/**
 * Find the group of nodes with the same pools as the slot's node, or start a new group. Returns
 * GROUPS_MAX if there is no room for another group.
 */
static uint32_t find_group(struct column *column, struct bt_device_pools *pools, uint32_t slot)
{
	const struct bt_node_pools *node = bt_device_pools_of_node(pools, slot);

	for (uint32_t i = 0; i < GROUP_PROBES; i++) {
		uint32_t group = (uint32_t)(node->hash + i) & (GROUPS_MAX - 1);
		uint32_t *first = &column->first_of[group];
		if (*first == BT_SLOT_NONE) {
			*first = slot;
		}
		const struct bt_node_pools *other = &pools->nodes.items[*first];
		/* Searches on nodes that see the same devices have equal results. */
		bool is_same = *first == slot ||
			(node->hash == other->hash && node->items.count == other->items.count &&
				!node->has_own_scopes);
		for (uint32_t k = 0; *first != slot && is_same && k < node->items.count; k++) {
			is_same = node->items.items[k].view == other->items.items[k].view;
		}
		if (is_same) {
			return group;
		}
	}
	return GROUPS_MAX;
}

/** Update the values of all nodes, with one search for each group of nodes with the same pools. */
static void update_all(
	struct column *column, struct bt_allocator *allocator, const struct bt_prepared *prepared)
{
	struct bt_device_pools *pools = allocator->pools;
	struct bt_state *state = pools->dra->state;
	uint32_t changed = 0;

	column->is_grouped = true;
	column->pool_sequence = pools->sequence;
	memset(column->first_of, 0xff, sizeof(column->first_of)); /* BT_SLOT_NONE */
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		uint32_t twin = BT_SLOT_NONE;
		if (state->nodes.rows[slot].in_snapshot) {
			uint32_t group = find_group(column, pools, slot);
			column->is_grouped = column->is_grouped && group != GROUPS_MAX;
			column->groups[slot] = group;
			twin = group == GROUPS_MAX || column->first_of[group] == slot
				? BT_SLOT_NONE
				: column->first_of[group];
		} else {
			column->groups[slot] = GROUPS_MAX;
		}
		if (update_slot(column, allocator, prepared, slot, twin)) {
			log_change(column, state, slot, &changed);
		}
	}
}

/** Search once for each group. If the value changed, copy it to the nodes of the group. */
static void update_groups(
	struct column *column, struct bt_allocator *allocator, const struct bt_prepared *prepared)
{
	struct bt_state *state = allocator->pools->dra->state;
	uint32_t changed = 0;

	for (uint32_t group = 0; group < GROUPS_MAX; group++) {
		uint32_t first = column->first_of[group];
		if (first == BT_SLOT_NONE ||
			!update_slot(column, allocator, prepared, first, BT_SLOT_NONE)) {
			continue;
		}
		for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
			if (column->groups[slot] == group) {
				(void)update_slot(column, allocator, prepared, slot, first);
				log_change(column, state, slot, &changed);
			}
		}
	}
}

/** Whether the selectors of some option may accept a device of the pool. */
static bool may_allocate_from(struct bt_device_pools *pools, const struct bt_prepared *prepared,
	const struct bt_pool *pool)
{
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};

	for (uint32_t i = 0; i < pool->slices.count; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[pool->slices.items[i]];
		for (uint32_t k = 0; k < slice->rows.count * prepared->option_count; k++) {
			const struct bt_option *option =
				&prepared->options[k % prepared->option_count];
			uint32_t row = slice->rows.items[k / prepared->option_count];
			enum bt_verdict verdict = BT_VERDICT_TRUE;
			for (uint32_t n = 0;
				n < option->program_count && verdict == BT_VERDICT_TRUE; n++) {
				verdict = bt_selector_verdict(
					pools, option->programs[n], row, &limits);
			}
			if (verdict != BT_VERDICT_FALSE) {
				return true;
			}
		}
	}
	return false;
}

static void refresh(
	struct column *column, struct bt_allocator *allocator, const struct bt_prepared *prepared)
{
	struct bt_device_pools *pools = allocator->pools;
	const struct bt_state *state = pools->dra->state;
	const struct bt_change_log *log = &state->log;
	uint32_t slot_count = state->nodes.slot_count;
	bool is_known = column->values != NULL && column->shared_version == pools->shared_version &&
		bt_change_log_covers(log, column->log_sequence) &&
		bt_change_log_count(log, column->log_sequence, BT_ALLOCATION_COLUMN_READS) <=
			slot_count / REPAIR_SHARE + 16;
	uint32_t last = BT_SLOT_NONE;
	uint64_t end = log->sequence;

	if (column->slot_count < slot_count) {
		uint32_t room = slot_count + slot_count / 8;
		column->values = bt_realloc_array(column->values, room, sizeof(uint32_t));
		column->groups = bt_realloc_array(column->groups, room, sizeof(uint32_t));
		memset(&column->values[column->slot_count], 0,
			(room - column->slot_count) * sizeof(uint32_t));
		memset(&column->groups[column->slot_count], 0xff,
			(room - column->slot_count) * sizeof(uint32_t));
		column->slot_count = room;
	}
	for (uint64_t i = column->log_sequence; is_known && i < end; i++) {
		struct bt_change change = bt_change_log_at(log, i);
		if ((change.kinds & (BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE)) != 0) {
			column->is_grouped = false;
		}
		/*
		 * Skip a repeated change: a claim with several devices on a node logs one change
		 * for each device.
		 */
		if ((change.kinds & BT_ALLOCATION_COLUMN_READS) != 0 && change.slot != last) {
			(void)update_slot(column, allocator, prepared, change.slot, BT_SLOT_NONE);
			last = change.slot;
		}
	}
	/*
	 * Pools that nodes of any name may use: were devices allocated or freed, of which the
	 * claims may use one?
	 */
	const struct bt_allocated_devices *allocated = &pools->dra->allocated;
	bool has_shared_change = false;
	for (uint32_t i = 0; is_known && allocated->version != column->allocated_version &&
		i < pools->shared_pools.count && !has_shared_change;
		i++) {
		const struct bt_pool *pool = &pools->pools.items[pools->shared_pools.items[i]];
		has_shared_change = bt_allocated_pool_version(allocated, pool->id) >
				column->allocated_version &&
			may_allocate_from(pools, prepared, pool);
	}
	if (!is_known || has_shared_change) {
		if (is_known && column->is_grouped && column->pool_sequence == pools->sequence) {
			update_groups(column, allocator, prepared);
		} else {
			update_all(column, allocator, prepared);
		}
	}
	column->log_sequence = log->sequence;
	column->shared_version = pools->shared_version;
	column->allocated_version = allocated->version;
	column->base.values = column->values;
	column->base.answers = column->answers.items;
}

const struct bt_allocation_column *bt_allocation_column_get(struct bt_allocator *allocator,
	const struct bt_resource_claim *const *claims, uint32_t count)
{
	const struct bt_prepared *prepared = bt_prepared_of(allocator, claims, count);
	struct bt_device_pools *pools = allocator->pools;
	uint64_t hash = bt_hash_u64(0, prepared->count);

	for (uint32_t i = 0; i < prepared->count; i++) {
		hash = bt_message_hash(
			&bt_device_claim_message, hash, &prepared->claims[i]->spec.devices);
	}
	struct column *column = NULL;

	if (pools->columns == NULL) {
		pools->columns = BT_NEW(struct bt_allocation_columns);
	}
	struct bt_allocation_columns *columns = pools->columns;
	for (uint32_t i = 0; i < columns->items.count && column == NULL; i++) {
		column = is_for(columns->items.items[i], prepared, hash) ? columns->items.items[i]
									 : NULL;
	}
	if (column == NULL) {
		bool is_recent = false;

		for (uint32_t i = 0; i < RECENT_MAX; i++) {
			is_recent |= columns->recent[i] == hash;
		}
		if (!is_recent) {
			columns->recent[columns->recent_next++ % RECENT_MAX] = hash;
			return NULL;
		}
		column = add_column(columns, pools->dra, prepared, hash);
	}
	column->last_used = ++columns->tick;
	refresh(column, allocator, prepared);
	const struct bt_state *state = pools->dra->state;
	for (uint32_t slot = 0; allocator->options.verify && slot < state->nodes.slot_count;
		slot++) {
		if (state->nodes.rows[slot].in_snapshot &&
			index_of_answer(column,
				bt_allocator_allocate(allocator, slot, prepared->claims,
					prepared->count, NULL, NULL)) != column->values[slot]) {
			bt_panic("allocator: the cached answer for node %.*s is wrong",
				BT_STR_ARG(bt_node_table_name(&state->nodes, slot)));
		}
	}
	return &column->base;
}
