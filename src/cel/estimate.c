/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Worst-case cost of an expression in units (spec 12b section 10), computed from the maximum sizes
 * that the types give. A size that is unknown counts as 0, so the estimate may be too low.
 */
#include "cel/ast.h"

/** Units of one macro step, without its condition and result. */
#define ALL_UNITS 3
#define EXISTS_UNITS 4
#define STEP_UNITS 1
#define LIST_UNITS 10
#define MAP_UNITS 30
#define OBJECT_UNITS 40

static uint64_t add(uint64_t a, uint64_t b)
{
	return BT_ADD_OVERFLOW(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return BT_MUL_OVERFLOW(a, b, &a) ? UINT64_MAX : a;
}

/** Returns ceil(size / divisor). */
static uint64_t divide_up(uint64_t size, uint64_t divisor)
{
	return size / divisor + (size % divisor != 0);
}

/**
 * Returns the maximum size of the node's value: bytes of a text, or elements of a list or map. 0:
 * the size is unknown.
 */
static uint64_t size_of(const struct bt_cel_node *node)
{
	if (node->kind == BT_CEL_NODE_LITERAL &&
		(node->literal.kind == BT_CEL_STRING || node->literal.kind == BT_CEL_BYTES)) {
		return node->literal.text.length;
	}
	if (node->kind == BT_CEL_NODE_LIST) {
		return node->list.count;
	}
	if (node->kind == BT_CEL_NODE_MAP) {
		return node->map.count;
	}
	if (node->kind == BT_CEL_NODE_MACRO &&
		(node->macro.macro == BT_CEL_MACRO_MAP ||
			node->macro.macro == BT_CEL_MACRO_FILTER)) {
		return size_of(node->macro.range);
	}
	if (node->kind == BT_CEL_NODE_CALL && node->call.operator_ == BT_CEL_OP_ADD) {
		return add(size_of(node->call.arguments[0]), size_of(node->call.arguments[1]));
	}
	if (node->kind == BT_CEL_NODE_CALL && node->call.target != NULL &&
		bt_str_has_word(BT_STR("lowerAscii upperAscii trim split"), node->call.function)) {
		return size_of(node->call.target);
	}
	return node->type != NULL ? node->type->size_max : 0;
}

static bool is_text(const struct bt_cel_node *node)
{
	return node->type != NULL &&
		(node->type->kind == BT_CEL_STRING || node->type->kind == BT_CEL_BYTES);
}

/** Units of the call itself, without its arguments. */
static uint64_t estimate_call(const struct bt_cel_node *node)
{
	const struct bt_cel_node *first = bt_cel_node_child(node, 0);
	const struct bt_cel_node *second = bt_cel_node_child(node, 1);
	uint64_t a = first != NULL ? size_of(first) : 0;
	uint64_t b = second != NULL ? size_of(second) : 0;
	struct bt_str name = node->call.function;

	switch ((int)node->call.operator_) {
	case BT_CEL_OP_OR:
	case BT_CEL_OP_AND:
	case BT_CEL_OP_CONDITIONAL:
		return 0;
	case BT_CEL_OP_EQUAL:
	case BT_CEL_OP_NOT_EQUAL:
	case BT_CEL_OP_LESS:
	case BT_CEL_OP_LESS_EQUAL:
	case BT_CEL_OP_GREATER:
	case BT_CEL_OP_GREATER_EQUAL:
		return is_text(first) && is_text(second) ? divide_up(BT_MIN(a, b), 10) : 1;
	case BT_CEL_OP_IN:
		return second->type != NULL && second->type->kind == BT_CEL_LIST ? b : 1;
	case BT_CEL_OP_ADD:
		return is_text(first) ? divide_up(add(a, b), 10) : 1;
	case BT_CEL_OP_NONE:
		break;
	default:
		return 1;
	}
	if (first == NULL || !is_text(first)) {
		return 1;
	}
	if (bt_str_equal_c(name, "contains") && second != NULL) {
		return multiply(divide_up(a, 10), divide_up(b, 10));
	}
	if (bt_str_has_word(BT_STR("matches find findAll"), name) && second != NULL) {
		return multiply(divide_up(add(a, 1), 10), divide_up(b, 4));
	}
	if (bt_str_has_word(BT_STR("startsWith endsWith"), name) && second != NULL) {
		return divide_up(b, 10);
	}
	return bt_str_has_word(BT_STR("lowerAscii upperAscii trim substring replace split"), name)
		? divide_up(a, 10)
		: 1;
}

static uint64_t estimate_macro(const struct bt_cel_node *node)
{
	const struct bt_cel_node *range = node->macro.range;
	uint64_t step = node->macro.condition != NULL ? bt_cel_estimate(node->macro.condition) : 0;

	step = node->macro.result != NULL ? add(step, bt_cel_estimate(node->macro.result)) : step;
	switch (node->macro.macro) {
	case BT_CEL_MACRO_BIND:
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
		return add(bt_cel_estimate(range), step);
	case BT_CEL_MACRO_ALL:
		step = add(step, ALL_UNITS);
		break;
	case BT_CEL_MACRO_EXISTS:
		step = add(step, EXISTS_UNITS);
		break;
	default:
		step = add(step, STEP_UNITS);
		break;
	}
	return add(bt_cel_estimate(range), multiply(size_of(range), step));
}

/** Recursion is bounded by BT_CEL_DEPTH_MAX. */
uint64_t bt_cel_estimate(const struct bt_cel_node *node)
{
	const struct bt_cel_node *child;
	uint64_t units = 0;

	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
		return 0;
	case BT_CEL_NODE_IDENTIFIER:
		return 1;
	case BT_CEL_NODE_SELECT:
		return add(1, bt_cel_estimate(node->select.operand));
	case BT_CEL_NODE_MACRO:
		return estimate_macro(node);
	case BT_CEL_NODE_LIST:
		units = LIST_UNITS;
		break;
	case BT_CEL_NODE_MAP:
		units = node->map.type_name.data != NULL ? OBJECT_UNITS : MAP_UNITS;
		break;
	case BT_CEL_NODE_CALL:
		units = estimate_call(node);
		if (node->call.operator_ == BT_CEL_OP_CONDITIONAL) {
			uint64_t yes = bt_cel_estimate(node->call.arguments[1]);
			uint64_t no = bt_cel_estimate(node->call.arguments[2]);
			return add(bt_cel_estimate(node->call.arguments[0]), BT_MAX(yes, no));
		}
		break;
	}
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		units = add(units, bt_cel_estimate(child));
	}
	return units;
}
