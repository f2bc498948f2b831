/* SPDX-License-Identifier: Apache-2.0 */
/* Node names and node selectors of slices and devices, parsed once. Spec: 12 section 9.1. */
#include "dra/device_pools_private.h"

static uint64_t hash_of(enum bt_node_scope_kind kind, struct bt_str node_name,
	const struct bt_node_selector *selector)
{
	uint64_t hash = bt_hash_u64(0, (uint64_t)kind);

	if (kind == BT_NODE_SCOPE_NAME) {
		return bt_hash_u64(hash, bt_str_hash(node_name));
	}
	return selector != NULL ? bt_message_hash(&bt_node_selector_message, hash, selector) : hash;
}

/** SELECTOR: parsed, it may turn out broken. */
static uint32_t find(const struct bt_device_pools *pools, enum bt_node_scope_kind kind,
	uint64_t hash, struct bt_str node_name, const struct bt_node_selector *selector)
{
	for (uint32_t at = bt_map_first(&pools->scope_map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&pools->scope_map, hash, at)) {
		uint32_t id = bt_map_value(&pools->scope_map, at);
		const struct bt_node_scope *scope = &pools->scopes.items[id];
		if (scope->hash != hash) {
			continue;
		}
		if (kind == BT_NODE_SCOPE_SELECTOR
				? (scope->selector != NULL &&
					  bt_message_equal(&bt_node_selector_message,
						  scope->selector, selector))
				: (scope->kind == kind &&
					  (kind != BT_NODE_SCOPE_NAME ||
						  bt_str_equal(node_name,
							  bt_symbol_text(pools->dra->ids.symbols,
								  scope->name))))) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

static void parse(struct bt_node_scope *scope, const struct bt_node_selector *selector)
{
	struct bt_error_list errors = {0};
	struct bt_node_selector *copy;

	bt_arena_init(&scope->arena, 512);
	copy = BT_ARENA_NEW(&scope->arena, struct bt_node_selector);
	bt_message_copy(&bt_node_selector_message, copy, selector, &scope->arena);
	scope->selector = copy;
	scope->parsed = bt_node_selector_parse(copy, BT_STR(""), &scope->arena);
	bt_node_selector_errors(&scope->parsed, &scope->arena, &errors);
	if (errors.count != 0) {
		scope->kind = BT_NODE_SCOPE_BROKEN;
		scope->problem = bt_error_list_text(&errors, &scope->arena);
	}
}

static uint32_t add(struct bt_device_pools *pools, const struct bt_node_scope *scope)
{
	uint32_t id;

	if (pools->free_scopes.count != 0) {
		id = pools->free_scopes.items[--pools->free_scopes.count];
		pools->scopes.items[id] = *scope;
	} else {
		id = pools->scopes.count;
		bt_vec_push(&pools->scopes, *scope);
	}
	bt_map_insert(&pools->scope_map, scope->hash, id);
	return id;
}

uint32_t bt_node_scope_ref(struct bt_device_pools *pools, struct bt_str node_name,
	const struct bt_opt_bool *all_nodes, const struct bt_node_selector *selector)
{
	struct bt_node_scope scope = {.kind = BT_NODE_SCOPE_NOWHERE, .name = BT_SYM_NONE};
	uint32_t id;

	if (node_name.length != 0) {
		scope.kind = BT_NODE_SCOPE_NAME;
	} else if (all_nodes->present && all_nodes->value) {
		scope.kind = BT_NODE_SCOPE_EVERYWHERE;
	} else if (selector != NULL) {
		scope.kind = BT_NODE_SCOPE_SELECTOR;
	}
	if (scope.kind != BT_NODE_SCOPE_SELECTOR) {
		selector = NULL;
	}
	scope.hash = hash_of(scope.kind, node_name, selector);
	id = find(pools, scope.kind, scope.hash, node_name, selector);
	if (id == BT_POOL_NONE) {
		scope.asked_slot = BT_SLOT_NONE;
		if (scope.kind == BT_NODE_SCOPE_NAME) {
			scope.name = bt_symbol_ref_str(pools->dra->ids.symbols, node_name);
		} else if (selector != NULL) {
			parse(&scope, selector);
		}
		id = add(pools, &scope);
	}
	pools->scopes.items[id].ref_count++;
	return id;
}

void bt_node_scope_unref(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_node_scope *scope = &pools->scopes.items[id];

	if (--scope->ref_count != 0) {
		return;
	}
	(void)bt_map_remove(&pools->scope_map, scope->hash, id); /* it is there */
	bt_symbol_unref(pools->dra->ids.symbols, scope->name);
	bt_arena_finish(&scope->arena);
	scope->selector = NULL;
	bt_vec_push(&pools->free_scopes, id);
}

bool bt_node_scope_matches(struct bt_device_pools *pools, uint32_t id, uint32_t slot)
{
	struct bt_node_scope *scope = &pools->scopes.items[id];
	const struct bt_node_row *row = &pools->dra->state->nodes.rows[slot];

	switch (scope->kind) {
	case BT_NODE_SCOPE_EVERYWHERE:
		return true;
	case BT_NODE_SCOPE_NAME:
		return bt_sym_equal(scope->name, row->name);
	case BT_NODE_SCOPE_SELECTOR:
		break;
	case BT_NODE_SCOPE_NOWHERE:
	case BT_NODE_SCOPE_BROKEN:
		return false;
	}
	if (scope->asked_slot != slot || scope->asked_epoch != pools->node_epoch) {
		scope->answer = bt_node_selector_matches(&scope->parsed,
			bt_symbol_text(pools->dra->ids.symbols, row->name), &row->labels,
			&pools->arena, NULL);
		scope->asked_slot = slot;
		scope->asked_epoch = pools->node_epoch;
	}
	return scope->answer;
}
