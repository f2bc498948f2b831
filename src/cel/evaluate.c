/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of a tree. Errors are values; who may swallow one is said in spec 12b section 8. */
#include "cel/evaluate_private.h"
#include "cel/program.h"

/** Units of making a list or a map that is not constant. Spec: 12b section 10. */
#define LIST_UNITS 10
#define MAP_UNITS 30
/** Levels of the tree that are evaluated one within another, beside those of the tree itself. */
#define NESTING_MAX 1000

/** What cel.bind put off may need what another one put off, and so on: the levels of all of them
 * add up to a recursion that the height of the tree does not bound. */
static struct bt_cel_value evaluate_pending(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *pending)
{
	struct bt_cel_value value;

	if (evaluation->nesting + pending->height > NESTING_MAX) {
		(void)bt_cel_charge(evaluation, UINT64_MAX);
		return evaluation->stop;
	}
	evaluation->nesting += pending->height;
	value = bt_cel_evaluate_node(evaluation, pending);
	evaluation->nesting -= pending->height;
	return value;
}

static struct bt_cel_value evaluate_local(struct bt_cel_evaluation *evaluation, uint32_t slot)
{
	const struct bt_cel_node *pending = evaluation->locals[slot].pending;

	if (pending != NULL) {
		struct bt_cel_value value = evaluate_pending(evaluation, pending);

		evaluation->locals[slot] = (struct bt_cel_local){.value = value};
	}
	return evaluation->locals[slot].value;
}

static struct bt_cel_value evaluate_select(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value operand = bt_cel_evaluate_node(evaluation, node->select.operand);
	struct bt_cel_value field = bt_cel_string(node->select.field);

	if (bt_cel_is_error(&operand)) {
		return operand;
	}
	if (node->select.is_test) {
		/* What it is asked of was counted, and is free. */
		evaluation->cost -= evaluation->cost != 0;
		return bt_cel_lookup_test(&operand, &field);
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return node->select.is_optional ? bt_cel_lookup_optional(evaluation, &operand, &field)
					: bt_cel_lookup(evaluation, &operand, &field);
}

/** An item or entry with a question mark: false when it is left out, or when *value became an
 * error. */
static bool unwrap(
	struct bt_cel_evaluation *evaluation, struct bt_str what, struct bt_cel_value *value)
{
	if (value->kind != BT_CEL_OPTIONAL) {
		*value = bt_cel_fail_with(evaluation, what, value, BT_STR(""));
		return false;
	}
	if (value->optional == NULL) {
		return false;
	}
	*value = *value->optional;
	return true;
}

static struct bt_cel_value evaluate_list(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value result = {.kind = BT_CEL_LIST};
	struct bt_cel_value *items = NULL;
	uint32_t count = 0;

	if (!bt_cel_charge(evaluation, LIST_UNITS)) {
		return evaluation->stop;
	}
	if (node->list.count != 0) {
		items = bt_cel_alloc(evaluation, node->list.count, sizeof(*items));
		if (items == NULL) {
			return evaluation->stop;
		}
	}
	for (uint32_t i = 0; i < node->list.count; i++) {
		struct bt_cel_value item = bt_cel_evaluate_node(evaluation, node->list.items[i]);
		bool is_kept = true;

		if (!bt_cel_is_error(&item) && node->list.is_optional != NULL &&
			node->list.is_optional[i]) {
			is_kept = unwrap(evaluation,
				BT_STR("cannot initialize optional list element from non-optional "
				       "value "),
				&item);
		}
		if (bt_cel_is_error(&item)) {
			return item;
		}
		if (is_kept) {
			items[count++] = item;
		}
	}
	result.list = (struct bt_cel_list){items, count};
	return result;
}

/** Key and value of one entry; false: *out_value is an error, or the entry is left out. */
static bool evaluate_entry(struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node,
	uint32_t index, struct bt_cel_value *out_key, struct bt_cel_value *out_value)
{
	*out_key = bt_cel_evaluate_node(evaluation, node->map.keys[index]);
	if (bt_cel_is_error(out_key)) {
		*out_value = *out_key;
		return false;
	}
	*out_value = bt_cel_evaluate_node(evaluation, node->map.values[index]);
	if (bt_cel_is_error(out_value)) {
		return false;
	}
	if (!(out_key->kind == BT_CEL_STRING || out_key->kind == BT_CEL_INT ||
		    out_key->kind == BT_CEL_UINT || out_key->kind == BT_CEL_BOOL)) {
		*out_value = bt_cel_fail(
			evaluation, "unsupported key type: %s", bt_cel_kind_name(out_key->kind));
		return false;
	}
	if (node->map.is_optional != NULL && node->map.is_optional[index]) {
		return unwrap(evaluation,
			BT_STR("cannot initialize optional entry from non-optional value "),
			out_value);
	}
	return true;
}

static struct bt_cel_value evaluate_map(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_map *map;
	struct bt_cel_entry *entries;

	if (!bt_cel_charge(evaluation, MAP_UNITS)) {
		return evaluation->stop;
	}
	map = bt_cel_alloc(evaluation, 1, sizeof(*map));
	entries = bt_cel_alloc(evaluation, node->map.count, sizeof(*entries));
	if (map == NULL || entries == NULL) {
		return evaluation->stop;
	}
	*map = (struct bt_cel_map){.entries = entries};
	for (uint32_t i = 0; i < node->map.count; i++) {
		struct bt_cel_value key;
		struct bt_cel_value value;
		const struct bt_cel_value *old;

		if (!evaluate_entry(evaluation, node, i, &key, &value)) {
			if (bt_cel_is_error(&value)) {
				return value;
			}
			continue;
		}
		if (!bt_cel_charge_find(evaluation, map, &key)) {
			return evaluation->stop;
		}
		old = bt_cel_map_find(map, &key);
		if (old != NULL) {
			/* The later one counts. */
			for (uint32_t j = 0; j < map->count; j++) {
				if (&entries[j].value == old) {
					entries[j].value = value;
				}
			}
		} else {
			entries[map->count++] = (struct bt_cel_entry){key, value};
		}
	}
	return (struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
}

struct bt_cel_value bt_cel_evaluate_node(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	if (node->constant != NULL) {
		return bt_cel_charge(evaluation, node->constant_cost) ? *node->constant
								      : evaluation->stop;
	}
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
		return node->literal;
	case BT_CEL_NODE_IDENTIFIER:
		switch (node->identifier.reference) {
		case BT_CEL_REFERENCE_VARIABLE:
			return bt_cel_charge(evaluation, 1)
				? evaluation->variables[node->identifier.index]
				: evaluation->stop;
		case BT_CEL_REFERENCE_LOCAL:
			return bt_cel_charge(evaluation, 1)
				? evaluate_local(evaluation, node->identifier.index)
				: evaluation->stop;
		case BT_CEL_REFERENCE_TYPE:
			break;
		}
		return (struct bt_cel_value){
			.kind = BT_CEL_TYPE, .type = node->identifier.type_value};
	case BT_CEL_NODE_SELECT:
		return evaluate_select(evaluation, node);
	case BT_CEL_NODE_CALL:
		return bt_cel_evaluate_call(evaluation, node);
	case BT_CEL_NODE_LIST:
		return evaluate_list(evaluation, node);
	case BT_CEL_NODE_MAP:
		return evaluate_map(evaluation, node);
	case BT_CEL_NODE_MACRO:
		break;
	}
	return bt_cel_evaluate_macro(evaluation, node);
}

struct bt_cel_value bt_cel_evaluation_run(struct bt_cel_evaluation *evaluation)
{
	uint32_t local_count = evaluation->program->local_count;
	struct bt_cel_value result;

	if (local_count != 0) {
		evaluation->locals =
			BT_ARENA_NEW_ARRAY(evaluation->arena, struct bt_cel_local, local_count);
	}
	result = bt_cel_evaluate_node(evaluation, evaluation->program->root);
	return bt_cel_is_stopped(evaluation) ? evaluation->stop : result;
}

struct bt_cel_value bt_cel_evaluate(const struct bt_cel_program *program,
	const struct bt_cel_value *values, const struct bt_cel_limits *limits,
	struct bt_arena *arena)
{
	struct bt_cel_evaluation evaluation;

	bt_cel_evaluation_init(&evaluation, program, values, limits, arena);
	return bt_cel_evaluation_run(&evaluation);
}
