/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of macros. Spec: 12b sections 6, 8.8 and 10. */
#include "cel/evaluate_private.h"
#include "cel/function.h"

/*
 * Units of one step, without its expressions. Every step reads the hidden accumulator, for 1 unit.
 * all() needs 2 more units for its loop condition, exists() needs 3 more. Counting or inserting an
 * element takes 1 more unit. Making a list of the element takes 10 more units, and appending that
 * list takes 1.
 */
#define ALL_UNITS 3
#define EXISTS_UNITS 4
#define SKIP_UNITS 1
#define COUNT_UNITS 2
#define APPEND_UNITS 12
#define INSERT_UNITS 2

/** Iteration of a macro over the elements of a list or the keys of a map. */
struct loop {
	struct bt_cel_evaluation *evaluation;
	const struct bt_cel_node *node;
	struct bt_cel_value range;
	uint32_t count; /* elements of the range */
	uint32_t index; /* index of the element of the next step */
	/** The first error of a step; later errors do not replace it. BT_CEL_NULL: none. */
	struct bt_cel_value error;
};

/** Name of the Go type of a value of this kind. */
static const char *go_type_of(enum bt_cel_kind kind)
{
	return bt_cel_kinds[kind].go_type != NULL ? bt_cel_kinds[kind].go_type
						  : bt_cel_kind_name(kind);
}

/** Evaluates the range. false: loop->error has the error. */
static bool begin_loop(
	struct loop *loop, struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	*loop = (struct loop){.evaluation = evaluation, .node = node};
	loop->range = bt_cel_evaluate_node(evaluation, node->macro.range);
	if (bt_cel_is_error(&loop->range)) {
		loop->error = loop->range;
		return false;
	}
	if (loop->range.kind == BT_CEL_LIST) {
		loop->count = loop->range.list.count;
	} else if (loop->range.kind == BT_CEL_MAP) {
		loop->count = loop->range.map->count;
	} else if (node->macro.has_two_variables) {
		loop->error = bt_cel_fail(evaluation, "unsupported comprehension range type: %s",
			go_type_of(loop->range.kind));
	} else {
		loop->error = bt_cel_fail(evaluation, "got '%s', expected iterable type",
			go_type_of(loop->range.kind));
	}
	return loop->error.kind == BT_CEL_NULL;
}

/** Sets the key (of a list: the index) and the value of the current step. */
static void read_entry(
	const struct loop *loop, struct bt_cel_value *out_key, struct bt_cel_value *out_value)
{
	uint32_t index = loop->index - 1;

	if (loop->range.kind == BT_CEL_LIST) {
		*out_key = bt_cel_int(index);
		*out_value = loop->range.list.items[index];
	} else {
		*out_key = loop->range.map->entries[index].key;
		*out_value = loop->range.map->entries[index].value;
	}
}

/** The value of the variable in macros with one variable. */
static struct bt_cel_value value_of_variable(const struct loop *loop)
{
	struct bt_cel_value key;
	struct bt_cel_value value;

	read_entry(loop, &key, &value);
	return loop->range.kind == BT_CEL_LIST ? value : key;
}

static void set_local(struct loop *loop, uint32_t index, struct bt_cel_value value)
{
	loop->evaluation->locals[loop->node->macro.slots[index]] =
		(struct bt_cel_local){.value = value};
}

/** Sets the variables of the next step. false: no more elements, or the evaluation stops. */
static bool next_step(struct loop *loop)
{
	struct bt_cel_value key;
	struct bt_cel_value value;

	if (loop->index == loop->count || !bt_cel_evaluation_iterate(loop->evaluation)) {
		return false;
	}
	loop->index++;
	if (loop->node->macro.has_two_variables) {
		read_entry(loop, &key, &value);
		set_local(loop, 0, key);
		set_local(loop, 1, value);
	} else {
		set_local(loop, 0, value_of_variable(loop));
	}
	return true;
}

static void keep_error(struct loop *loop, const struct bt_cel_value *value)
{
	if (loop->error.kind == BT_CEL_NULL) {
		loop->error = bt_cel_is_error(value) ? *value : bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
}

/** Returns the final value of the macro: the first error or the stop error, if any, else result. */
static struct bt_cel_value end_loop(const struct loop *loop, struct bt_cel_value result)
{
	if (bt_cel_is_stopped(loop->evaluation)) {
		return loop->evaluation->stop;
	}
	return loop->error.kind != BT_CEL_NULL ? loop->error : result;
}

/** Evaluates all (deciding: false) and exists (deciding: true). */
static struct bt_cel_value evaluate_quantifier(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool deciding)
{
	uint32_t units = deciding ? EXISTS_UNITS : ALL_UNITS;
	struct loop loop;

	if (!begin_loop(&loop, evaluation, node)) {
		return loop.error;
	}
	while (next_step(&loop) && bt_cel_charge(evaluation, units)) {
		struct bt_cel_value holds = bt_cel_evaluate_node(evaluation, node->macro.condition);

		if (holds.kind != BT_CEL_BOOL) {
			keep_error(&loop, &holds);
		} else if (holds.boolean == deciding) {
			return holds;
		}
	}
	return end_loop(&loop, bt_cel_bool(!deciding));
}

/**
 * Evaluates the condition of the step. An error is kept in the loop and counts as false. Returns
 * true if the macro has no condition.
 */
static bool condition_holds(struct loop *loop)
{
	if (loop->node->macro.condition == NULL) {
		return true;
	}
	struct bt_cel_value holds =
		bt_cel_evaluate_node(loop->evaluation, loop->node->macro.condition);
	if (holds.kind != BT_CEL_BOOL) {
		keep_error(loop, &holds);
		return false;
	}
	return holds.boolean;
}

static struct bt_cel_value evaluate_exists_one(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct loop loop;
	uint32_t found = 0;

	if (!begin_loop(&loop, evaluation, node)) {
		return loop.error;
	}
	while (next_step(&loop)) {
		bool holds = condition_holds(&loop);

		found += holds;
		(void)bt_cel_charge(evaluation, holds ? COUNT_UNITS : SKIP_UNITS);
	}
	return end_loop(&loop, bt_cel_bool(found == 1));
}

/**
 * Evaluates map, filter, transformList and sortBy, whose results are the keys. result NULL: the
 * variable itself is the result.
 */
static struct bt_cel_value evaluate_list_macro(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_node *node, const struct bt_cel_node *result)
{
	struct loop loop;
	struct bt_cel_value *items = NULL;
	uint32_t count = 0;
	bool is_sort = node->macro.macro == BT_CEL_MACRO_SORT_BY;

	if (!begin_loop(&loop, evaluation, node)) {
		return loop.error;
	}
	if (is_sort && loop.range.kind != BT_CEL_LIST) {
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	if (loop.count != 0) {
		items = bt_cel_alloc(evaluation, loop.count, sizeof(*items));
	}
	while (next_step(&loop)) {
		if (!condition_holds(&loop)) {
			(void)bt_cel_charge(evaluation, SKIP_UNITS);
			continue;
		}
		struct bt_cel_value item = result != NULL ? bt_cel_evaluate_node(evaluation, result)
							  : value_of_variable(&loop);
		(void)bt_cel_charge(evaluation, APPEND_UNITS);
		if (bt_cel_is_error(&item)) {
			keep_error(&loop, &item);
		} else {
			items[count++] = item;
		}
	}
	struct bt_cel_value list = end_loop(&loop, bt_cel_list(items, count));

	return is_sort && !bt_cel_is_error(&list)
		? bt_cel_sort(evaluation, &loop.range.list, &list.list)
		: list;
}

/** A growing map. */
struct entries {
	struct bt_cel_entry *items;
	uint32_t count;
	uint32_t capacity;
};

static bool append(
	struct bt_cel_evaluation *evaluation, struct entries *entries, struct bt_cel_entry entry)
{
	if (entries->count == entries->capacity) {
		uint32_t capacity = entries->capacity != 0 ? 2 * entries->capacity : 8;
		struct bt_cel_entry *items = bt_cel_alloc(evaluation, capacity, sizeof(*items));

		if (items == NULL) {
			return false;
		}
		for (uint32_t i = 0; i < entries->count; i++) {
			items[i] = entries->items[i];
		}
		entries->items = items;
		entries->capacity = capacity;
	}
	entries->items[entries->count++] = entry;
	return true;
}

/** Adds the map that transformMapEntry made in one step; duplicate keys are an error. */
static void merge(struct loop *loop, struct entries *entries, const struct bt_cel_map *added)
{
	for (uint32_t i = 0; i < added->count; i++) {
		struct bt_cel_map map = {.entries = entries->items, .count = entries->count};
		const struct bt_cel_entry *entry = &added->entries[i];
		struct bt_cel_value error;

		if (!bt_cel_charge_find(loop->evaluation, &map, &entry->key)) {
			return;
		}
		if (bt_cel_map_find(&map, &entry->key) != NULL) {
			error = bt_cel_fail_with(loop->evaluation, BT_STR("insert failed: key "),
				&entry->key, BT_STR(" already exists"));
			keep_error(loop, &error);
			return;
		}
		if (!append(loop->evaluation, entries, *entry)) {
			return;
		}
	}
}

/** Evaluates transformMap and transformMapEntry. */
static struct bt_cel_value evaluate_map_macro(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool is_entry)
{
	struct loop loop;
	struct entries entries = {0};

	if (!begin_loop(&loop, evaluation, node)) {
		return loop.error;
	}
	while (next_step(&loop)) {
		struct bt_cel_entry entry;
		struct bt_cel_value old;

		(void)bt_cel_charge(evaluation, INSERT_UNITS);
		if (!condition_holds(&loop)) {
			continue;
		}
		read_entry(&loop, &entry.key, &old);
		entry.value = bt_cel_evaluate_node(evaluation, node->macro.result);
		if (bt_cel_is_error(&entry.value) || (is_entry && entry.value.kind != BT_CEL_MAP)) {
			keep_error(&loop, &entry.value);
		} else if (is_entry) {
			merge(&loop, &entries, entry.value.map);
		} else {
			(void)append(evaluation, &entries, entry);
		}
	}
	const struct bt_cel_map map = {.entries = entries.items, .count = entries.count};
	return end_loop(&loop, bt_cel_box(evaluation, BT_CEL_MAP, &map, sizeof(map)));
}

/** Evaluates optMap and optFlatMap. */
static struct bt_cel_value evaluate_optional_macro(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool is_flat)
{
	struct bt_cel_value range = bt_cel_evaluate_node(evaluation, node->macro.range);

	if (bt_cel_is_error(&range)) {
		return range;
	}
	if (range.kind != BT_CEL_OPTIONAL) {
		return bt_cel_no_overload(evaluation, BT_STR("hasValue"), &range, 1);
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (range.optional == NULL) {
		return range;
	}
	evaluation->locals[node->macro.slots[0]] = (struct bt_cel_local){.value = *range.optional};
	struct bt_cel_value result = bt_cel_evaluate_node(evaluation, node->macro.result);
	if (is_flat || bt_cel_is_error(&result)) {
		return result;
	}
	return bt_cel_charge(evaluation, 1) ? bt_cel_optional(evaluation, &result)
					    : evaluation->stop;
}

/**
 * Restores the slots of the macro's variables after the evaluation. This matters because the value
 * of cel.bind is evaluated on first use, perhaps while the same macro runs: the inner run must not
 * leave its values in the slots.
 */
struct bt_cel_value bt_cel_evaluate_macro(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	uint32_t count = node->macro.has_two_variables ? 2 : 1;
	struct bt_cel_local saved[2];
	struct bt_cel_value result;

	for (uint32_t i = 0; i < count; i++) {
		saved[i] = evaluation->locals[node->macro.slots[i]];
	}
	switch (node->macro.macro) {
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
		result = evaluate_quantifier(
			evaluation, node, node->macro.macro == BT_CEL_MACRO_EXISTS);
		break;
	case BT_CEL_MACRO_EXISTS_ONE:
		result = evaluate_exists_one(evaluation, node);
		break;
	case BT_CEL_MACRO_FILTER:
		result = evaluate_list_macro(evaluation, node, NULL);
		break;
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_TRANSFORM_LIST:
	case BT_CEL_MACRO_SORT_BY:
		result = evaluate_list_macro(evaluation, node, node->macro.result);
		break;
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY:
		result = evaluate_map_macro(
			evaluation, node, node->macro.macro == BT_CEL_MACRO_TRANSFORM_MAP_ENTRY);
		break;
	case BT_CEL_MACRO_BIND:
		/* cel.bind: evaluate the value on first use. */
		evaluation->locals[node->macro.slots[0]] =
			(struct bt_cel_local){.pending = node->macro.range};
		result = bt_cel_evaluate_node(evaluation, node->macro.result);
		break;
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
		result = evaluate_optional_macro(
			evaluation, node, node->macro.macro == BT_CEL_MACRO_OPT_FLAT_MAP);
		break;
	}
	for (uint32_t i = count; i-- > 0;) {
		evaluation->locals[node->macro.slots[i]] = saved[i];
	}
	return result;
}
