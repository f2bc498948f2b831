/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/shortest.h"
#include "cel/device.h"
#include "cel/evaluate_private.h"
#include "cel/regex.h"
#include "cel/text.h"

/* Shared by functions and the evaluator: cost, work, memory, errors. Spec: 12b section 10. */

/** Macro steps between two polls of is_interrupted. */
#define ITERATIONS_MAX 100
/** Maximum nesting of values that a function may walk through. */
#define DEPTH_MAX 1000
/** Pattern instructions that RE2 tries in the time of one unit of work. */
#define SEARCH_STEPS 4

void bt_cel_evaluation_init(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_program *program, const struct bt_cel_value *variables,
	const struct bt_cel_limits *limits, struct bt_arena *arena)
{
	*evaluation = (struct bt_cel_evaluation){
		.arena = arena,
		.cost_max = limits->cost_max,
		.memory_start = arena->total_bytes,
		.limits = limits,
		.program = program,
		.variables = variables,
	};
}

static BT_COLD bool stop(struct bt_cel_evaluation *evaluation, struct bt_str text)
{
	if (!bt_cel_is_stopped(evaluation)) {
		evaluation->stop = bt_cel_error(text);
	}
	return false;
}

static BT_COLD bool stop_for_cost(struct bt_cel_evaluation *evaluation)
{
	return stop(evaluation, BT_STR("operation cancelled: actual cost limit exceeded"));
}

bool bt_cel_charge(struct bt_cel_evaluation *evaluation, uint64_t units)
{
	if (BT_UNLIKELY(BT_ADD_OVERFLOW(evaluation->cost, units, &evaluation->cost))) {
		evaluation->cost = UINT64_MAX;
	}
	if (BT_UNLIKELY(evaluation->cost > evaluation->cost_max ||
		    evaluation->arena->total_bytes - evaluation->memory_start >
			    BT_CEL_MEMORY_MAX)) {
		return stop_for_cost(evaluation);
	}
	return BT_LIKELY(!bt_cel_is_stopped(evaluation));
}

bool bt_cel_charge_tenths(struct bt_cel_evaluation *evaluation, uint64_t length, uint64_t tenths)
{
	return bt_cel_charge(evaluation, (length * tenths + 9) / 10);
}

bool bt_cel_charge_work(struct bt_cel_evaluation *evaluation, uint64_t count)
{
	if (BT_UNLIKELY(BT_ADD_OVERFLOW(evaluation->work, count, &evaluation->work) ||
		    evaluation->work > BT_CEL_WORK_MAX)) {
		evaluation->work = BT_CEL_WORK_MAX + 1;
		return stop_for_cost(evaluation);
	}
	return BT_LIKELY(!bt_cel_is_stopped(evaluation));
}

void *bt_cel_alloc(struct bt_cel_evaluation *evaluation, uint64_t count, size_t size)
{
	size_t used = evaluation->arena->total_bytes - evaluation->memory_start;

	if (used > BT_CEL_MEMORY_MAX || count > (BT_CEL_MEMORY_MAX - used) / size) {
		(void)stop_for_cost(evaluation);
		return NULL;
	}
	return bt_arena_alloc(evaluation->arena, (size_t)count * size);
}

bool bt_cel_enter(struct bt_cel_evaluation *evaluation)
{
	if (evaluation->depth == DEPTH_MAX) {
		return stop_for_cost(evaluation);
	}
	evaluation->depth++;
	return true;
}

void bt_cel_leave(struct bt_cel_evaluation *evaluation)
{
	evaluation->depth--;
}

bool bt_cel_evaluation_iterate(struct bt_cel_evaluation *evaluation)
{
	const struct bt_cel_limits *limits = evaluation->limits;
	struct bt_str cause = BT_STR("");

	if (++evaluation->iterations < ITERATIONS_MAX) {
		return !bt_cel_is_stopped(evaluation);
	}
	evaluation->iterations = 0;
	if (limits->is_interrupted == NULL || !limits->is_interrupted(limits->context, &cause)) {
		return !bt_cel_is_stopped(evaluation);
	}
	evaluation->is_interrupted = true;
	return stop(evaluation,
		bt_arena_printf(
			evaluation->arena, "operation interrupted: %.*s", BT_STR_ARG(cause)));
}

bool bt_cel_search(struct bt_cel_evaluation *evaluation, const struct bt_cel_regex *regex,
	struct bt_str text, uint32_t from, uint32_t *out_start, uint32_t *out_end)
{
	uint64_t bytes = (uint64_t)text.length - from + 1;

	/*
	 * Worst case: RE2 runs without its DFA (which may become too large) and tries all
	 * instructions for every byte.
	 */
	return bt_cel_charge_work(
		       evaluation, bytes * (1 + bt_cel_regex_size(regex) / SEARCH_STEPS)) &&
		bt_cel_regex_find(regex, text, from, out_start, out_end);
}

struct bt_cel_value bt_cel_fail(struct bt_cel_evaluation *evaluation, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	return bt_cel_error(bt_arena_take_strbuf(evaluation->arena, &text));
}

struct bt_cel_value bt_cel_no_overload(struct bt_cel_evaluation *evaluation, struct bt_str function,
	const struct bt_cel_value *arguments, uint32_t count)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "no such overload: %.*s(", BT_STR_ARG(function));
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : ", ");
		bt_strbuf_append_c(&text, bt_cel_kind_name(arguments[i].kind));
	}
	bt_strbuf_append_c(&text, ")");
	return bt_cel_error(bt_arena_take_strbuf(evaluation->arena, &text));
}

/* Indexing, field selection, optionals. Spec: 12b section 8.3. */

struct bt_cel_value bt_cel_fail_with(struct bt_cel_evaluation *evaluation, struct bt_str prefix,
	const struct bt_cel_value *value, struct bt_str suffix)
{
	struct bt_cel_output output = {.evaluation = evaluation};

	struct bt_strbuf number = {0};
	bool fits = bt_cel_output_append(&output, prefix);

	/* upstream's messages show strings without quotes */
	if (fits && value->kind == BT_CEL_STRING) {
		fits = bt_cel_output_append(&output, value->text);
	} else if (fits && value->kind == BT_CEL_DOUBLE) {
		bt_shortest_append_general(&number, value->real);
		fits = bt_cel_output_append(&output, bt_strbuf_str(&number));
		bt_strbuf_finish(&number);
	} else if (fits) {
		fits = bt_cel_output_value(&output, value);
	}
	if (fits) {
		(void)bt_cel_output_append(&output, suffix);
	}
	struct bt_cel_value result = bt_cel_output_finish(&output);
	result.kind = BT_CEL_ERROR;
	return result;
}

/**
 * Finds the member of a map or of the device; map->missing replaces a missing member of a map.
 * NULL: there is no such member, or the container is of another kind.
 */
static const struct bt_cel_value *find_member(
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	if (container->kind == BT_CEL_DEVICE) {
		const struct bt_cel_device_field_info *fields = bt_cel_device_fields(false);

		for (uint32_t i = 0; key->kind == BT_CEL_STRING && i < BT_CEL_DEVICE_FIELD__COUNT;
			i++) {
			if (bt_str_equal_c(key->text, fields[i].name)) {
				return &container->fields[i];
			}
		}
		return NULL;
	}
	if (container->kind != BT_CEL_MAP) {
		return NULL;
	}
	const struct bt_cel_value *found = bt_cel_map_find(container->map, key);
	return found != NULL ? found : container->map->missing;
}

/**
 * Converts a number to an index; *out_index is -1 if no list is that long. Returns false if the
 * number has a fraction.
 */
static bool index_of(const struct bt_cel_value *key, int64_t *out_index)
{
	if (key->kind == BT_CEL_INT) {
		*out_index = key->integer;
	} else if (key->kind == BT_CEL_UINT) {
		*out_index = key->uinteger <= INT64_MAX ? (int64_t)key->uinteger : -1;
	} else if (!(trunc(key->real) == key->real)) {
		return false;
	} else {
		*out_index = fabs(key->real) < 0x1p62 ? (int64_t)key->real : -1;
	}
	return true;
}

struct bt_cel_value bt_cel_lookup(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	if (container->kind == BT_CEL_OPTIONAL) {
		return bt_cel_lookup_optional(evaluation, container, key);
	}
	if (container->kind == BT_CEL_LIST) {
		struct bt_cel_list list = container->list;
		int64_t index;

		if (!bt_cel_is_number(key)) {
			return bt_cel_fail(evaluation, "unsupported index type '%s' in list",
				bt_cel_kind_name(key->kind));
		}
		if (!index_of(key, &index)) {
			return bt_cel_fail_with(evaluation, BT_STR("unsupported index value "), key,
				BT_STR(" in list"));
		}
		if (index < 0 || index >= list.count) {
			return bt_cel_fail_with(
				evaluation, BT_STR("index out of bounds: "), key, BT_STR(""));
		}
		return list.items[index];
	}
	if (container->kind == BT_CEL_MAP && !bt_cel_charge_find(evaluation, container->map, key)) {
		return evaluation->stop;
	}
	const struct bt_cel_value *found = find_member(container, key);
	return found != NULL
		? *found
		: bt_cel_fail_with(evaluation, BT_STR("no such key: "), key, BT_STR(""));
}

struct bt_cel_value bt_cel_answer_order(const struct bt_cel_call *call, int order)
{
	switch ((int)call->overload->variant) {
	case BT_CEL_VARIANT_GREATER:
		return bt_cel_bool(order > 0);
	case BT_CEL_VARIANT_LESS:
		return bt_cel_bool(order < 0);
	default:
		return bt_cel_int(order);
	}
}

struct bt_cel_value bt_cel_box(struct bt_cel_evaluation *evaluation, enum bt_cel_kind kind,
	const void *content, size_t size)
{
	void *copy = bt_cel_alloc(evaluation, 1, size);

	if (copy == NULL) {
		return evaluation->stop;
	}
	memcpy(copy, content, size);
	return (struct bt_cel_value){.kind = kind, .content = copy};
}

struct bt_cel_value bt_cel_optional(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *value)
{
	return bt_cel_box(evaluation, BT_CEL_OPTIONAL, value, sizeof(*value));
}

struct bt_cel_value bt_cel_lookup_optional(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	const struct bt_cel_value *found = NULL;
	int64_t index;

	if (container->kind == BT_CEL_OPTIONAL) {
		container = container->optional;
		if (container == NULL) {
			return (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
		}
	}
	if (container->kind == BT_CEL_LIST) {
		if (bt_cel_is_number(key) && index_of(key, &index) && index >= 0 &&
			index < container->list.count) {
			found = &container->list.items[index];
		}
	} else if (container->kind == BT_CEL_MAP &&
		!bt_cel_charge_find(evaluation, container->map, key)) {
		return evaluation->stop;
	} else {
		found = find_member(container, key);
	}
	return found != NULL ? bt_cel_optional(evaluation, found)
			     : (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
}

/** Evaluates has(container.field). */
static struct bt_cel_value lookup_test(
	const struct bt_cel_value *container, const struct bt_cel_value *field)
{
	if (container->kind == BT_CEL_OPTIONAL) {
		return container->optional != NULL ? lookup_test(container->optional, field)
						   : bt_cel_bool(false);
	}
	if (container->kind == BT_CEL_LIST) {
		return bt_cel_error(BT_STR("unsupported index type 'string' in list"));
	}
	return bt_cel_bool(find_member(container, field) != NULL);
}

/*
 * Evaluation of a tree. Errors are values; spec 12b section 8 says which operators may discard an
 * error.
 */

/** Units of creating a list, a map or an object that is not constant. Spec: 12b section 10. */
#define LIST_UNITS 10
#define MAP_UNITS 30
#define OBJECT_UNITS 40
/** Maximum tree levels that nested cel.bind values may add to the recursion. */
#define NESTING_MAX 1000

/**
 * Evaluates the value of a cel.bind variable on first use. The value may use other cel.bind
 * variables, so the levels of all of them add up: the height of the tree does not bound this
 * recursion.
 */
static struct bt_cel_value evaluate_pending(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *pending)
{
	if (evaluation->nesting + pending->height > NESTING_MAX) {
		(void)bt_cel_charge(evaluation, UINT64_MAX);
		return evaluation->stop;
	}
	evaluation->nesting += pending->height;
	struct bt_cel_value value = bt_cel_evaluate_node(evaluation, pending);
	evaluation->nesting -= pending->height;
	return value;
}

/**
 * Unwraps the value of an item or entry with a question mark. Returns false in two cases. If the
 * optional is none, *value stays unchanged, and the caller leaves the item or entry out. If *value
 * is no optional, *value becomes an error that begins with the text `what`.
 */
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
	return bt_cel_list(items, count);
}

/** Evaluates key and value of an entry. false: *out_value is an error, or the entry is left out. */
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
		if (out_value->kind == BT_CEL_OPTIONAL && out_value->optional == NULL &&
			bt_str_has_prefix(node->map.type_name, BT_STR("Object"))) {
			/* A field with the value null is removed when the object is applied. */
			*out_value = (struct bt_cel_value){.kind = BT_CEL_NULL};
			return true;
		}
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

	bool is_object = node->map.type_name.data != NULL;
	if (!bt_cel_charge(evaluation, is_object ? OBJECT_UNITS : MAP_UNITS)) {
		return evaluation->stop;
	}
	map = bt_cel_alloc(evaluation, 1, sizeof(*map));
	entries = bt_cel_alloc(evaluation, node->map.count, sizeof(*entries));
	if (map == NULL || entries == NULL) {
		return evaluation->stop;
	}
	*map = (struct bt_cel_map){
		.entries = entries, .type_name = is_object ? &node->map.type_name : NULL};
	for (uint32_t i = 0; i < node->map.count; i++) {
		struct bt_cel_value key;
		struct bt_cel_value value;

		if (!evaluate_entry(evaluation, node, i, &key, &value)) {
			if (bt_cel_is_error(&value)) {
				return value;
			}
			continue;
		}
		if (!bt_cel_charge_find(evaluation, map, &key)) {
			return evaluation->stop;
		}
		const struct bt_cel_value *old = bt_cel_map_find(map, &key);
		if (old != NULL) {
			/* The later of two equal keys wins. */
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
		case BT_CEL_REFERENCE_LOCAL: {
			struct bt_cel_local *local = &evaluation->locals[node->identifier.index];

			if (!bt_cel_charge(evaluation, 1)) {
				return evaluation->stop;
			}
			if (local->pending != NULL) {
				struct bt_cel_value value =
					evaluate_pending(evaluation, local->pending);

				*local = (struct bt_cel_local){.value = value};
			}
			return local->value;
		}
		case BT_CEL_REFERENCE_TYPE:
			break;
		}
		return (struct bt_cel_value){
			.kind = BT_CEL_TYPE, .type = node->identifier.type_value};
	case BT_CEL_NODE_SELECT: {
		struct bt_cel_value operand =
			bt_cel_evaluate_node(evaluation, node->select.operand);
		struct bt_cel_value field = bt_cel_string(node->select.field);

		if (bt_cel_is_error(&operand)) {
			return operand;
		}
		if (node->select.is_test) {
			/*
			 * Upstream charges -1 unit for has(). In `has(variable.field)` this makes
			 * up for the unit that reading the variable costs.
			 */
			evaluation->cost -= evaluation->cost != 0;
			return lookup_test(&operand, &field);
		}
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		return node->select.is_optional
			? bt_cel_lookup_optional(evaluation, &operand, &field)
			: bt_cel_lookup(evaluation, &operand, &field);
	}
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

	if (local_count != 0) {
		evaluation->locals =
			BT_ARENA_NEW_ARRAY(evaluation->arena, struct bt_cel_local, local_count);
	}
	struct bt_cel_value result = bt_cel_evaluate_node(evaluation, evaluation->program->root);
	return bt_cel_is_stopped(evaluation) ? evaluation->stop : result;
}

struct bt_cel_value bt_cel_evaluate(const struct bt_cel_program *program,
	const struct bt_cel_value *values, const struct bt_cel_limits *limits,
	struct bt_arena *arena)
{
	struct bt_cel_evaluation evaluation;

	bt_cel_evaluation_init(&evaluation, program, values, limits, arena);
	struct bt_cel_value result = bt_cel_evaluation_run(&evaluation);
	if (limits->out_cost != NULL) {
		*limits->out_cost = evaluation.cost;
	}
	return result;
}
