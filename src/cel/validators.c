/* SPDX-License-Identifier: Apache-2.0 */
/* Literals that cannot work, whatever the device. Spec: 12b sections 7.4 and 7.5. */
#include "cel/checker_private.h"
#include "cel/format_clause.h"
#include "cel/functions.h"
#include "cel/regex.h"

struct validator {
	struct bt_cel_inference inference;
	struct bt_cel_issues *issues;
	uint32_t format_depth; /* calls of format around: their lists may be mixed */
	size_t pattern_bytes;  /* of the patterns so far */
};

static const struct bt_cel_node *literal_of(const struct bt_cel_node *node, enum bt_cel_kind kind)
{
	bool is_literal = node->kind == BT_CEL_NODE_LITERAL && node->literal.kind == kind;

	return is_literal ? node : NULL;
}

static bool is_call(const struct bt_cel_node *node, const char *function, bool is_member)
{
	return node->call.operator_ == BT_CEL_OP_NONE && (node->call.target != NULL) == is_member &&
		bt_str_equal_c(node->call.function, function);
}

/** A conversion that fails for a literal: `invalid duration argument`. */
static void validate_conversion(struct validator *validator, const struct bt_cel_node *call,
	bt_cel_function convert, const char *what)
{
	const struct bt_cel_node *literal = literal_of(call->call.arguments[0], BT_CEL_STRING);
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	struct bt_cel_value result;

	if (literal == NULL) {
		return;
	}
	result = convert(&evaluation, &literal->literal, 1, NULL);
	if (bt_cel_is_error(&result)) {
		bt_cel_issue_add(validator->issues, literal->position, "invalid %s argument", what);
	}
}

/** The first argument: of `matches(text, pattern)` that is the text, upstream's quirk. */
static void validate_pattern(struct validator *validator, const struct bt_cel_node *call)
{
	const struct bt_cel_node *literal = literal_of(call->call.arguments[0], BT_CEL_STRING);
	struct bt_cel_regex *regex = NULL;
	int code = BERTH_ERR_TOO_LARGE;

	if (literal == NULL) {
		return;
	}
	if (validator->pattern_bytes < BT_CEL_REGEXES_BYTES_MAX) {
		code = bt_cel_regex_compile(literal->literal.text, &regex, NULL);
	}
	if (code == 0) {
		validator->pattern_bytes += bt_cel_regex_bytes(regex);
	} else {
		bt_cel_issue_add(validator->issues, literal->position, "invalid matches argument");
		validator->pattern_bytes +=
			code == BERTH_ERR_TOO_LARGE ? BT_CEL_REGEX_BYTES_MAX : 0;
	}
	bt_cel_regex_destroy(regex);
}

/** The first part of an item that a verb cannot print; NULL: there is none, or only run time knows.
 * %s looks into literals. */
static const struct bt_cel_node *unprintable_part(char verb, const struct bt_cel_node *item)
{
	const struct bt_cel_node *found = NULL;
	const struct bt_cel_node *child;

	if (item->type->kind == BT_CEL_DYN) {
		return NULL;
	}
	if (bt_cel_format_refusal(verb, item->type->kind) != NULL) {
		return item;
	}
	if (verb != 's' || (item->kind != BT_CEL_NODE_LIST && item->kind != BT_CEL_NODE_MAP)) {
		return NULL;
	}
	for (uint32_t i = 0; found == NULL && (child = bt_cel_node_child(item, i)) != NULL; i++) {
		found = unprintable_part(verb, child);
	}
	return found;
}

/** false with an issue: the verb cannot print the item. */
static bool validate_item(struct validator *validator, char verb, const struct bt_cel_node *item)
{
	const struct bt_cel_node *part = unprintable_part(verb, item);
	struct bt_strbuf name = {0};

	if (part == NULL) {
		return true;
	}
	bt_cel_type_print_output(&bt_cel_types[part->type->kind], &name);
	bt_cel_issue_add(validator->issues, part->position, "%s%s",
		bt_cel_format_refusal(verb, part->type->kind), bt_strbuf_c(&name));
	bt_strbuf_finish(&name);
	return false;
}

/** The first thing that is wrong with a format and its values becomes an issue. */
static void validate_clauses(struct validator *validator, const struct bt_cel_node *call,
	struct bt_str format, const struct bt_cel_node *list)
{
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	struct bt_str text;
	uint32_t used = 0;
	uint32_t at = 0;

	while (bt_cel_format_next(format, &at, &text)) {
		struct bt_cel_format_clause clause;
		struct bt_cel_value failure;

		if (text.length != 0) {
			continue;
		}
		if (used >= list->list.count) {
			bt_cel_issue_add(
				validator->issues, call->position, "index %u out of range", used);
			return;
		}
		if (!bt_cel_format_parse(&evaluation, format, &at, &clause, &failure)) {
			bt_cel_issue_add(validator->issues, call->position, "%.*s",
				BT_STR_ARG(failure.text));
			return;
		}
		if (!validate_item(validator, clause.verb, list->list.items[used++])) {
			return;
		}
	}
	if (used < list->list.count) {
		bt_cel_issue_add(validator->issues, call->position,
			"too many arguments supplied to string.format (expected %u, got %u)", used,
			list->list.count);
	}
}

static void validate_call(struct validator *validator, const struct bt_cel_node *call)
{
	if (call->call.count == 0) {
		return;
	}
	if (is_call(call, "duration", false)) {
		validate_conversion(validator, call, bt_cel_fn_to_duration, "duration");
	} else if (is_call(call, "timestamp", false)) {
		validate_conversion(validator, call, bt_cel_fn_to_timestamp, "timestamp");
	} else if (is_call(call, "matches", false) || is_call(call, "matches", true)) {
		validate_pattern(validator, call);
	} else if (is_call(call, "format", true)) {
		const struct bt_cel_node *literal = literal_of(call->call.target, BT_CEL_STRING);
		const struct bt_cel_node *list = call->call.arguments[0];

		if (literal != NULL && list->kind == BT_CEL_NODE_LIST &&
			list->list.is_optional == NULL) {
			validate_clauses(validator, call, literal->literal.text, list);
		}
	}
}

/** The type of an element or a value, the optional around it aside. */
static const struct bt_cel_type *element_type(
	struct bt_cel_node *const *nodes, const bool *is_optional, uint32_t index)
{
	const struct bt_cel_type *type = nodes[index]->type;

	return is_optional != NULL && is_optional[index] && type->kind == BT_CEL_OPTIONAL
		? type->of[0]
		: type;
}

/** Elements, keys or values of a literal have the type of the first; is_map: each that has not is
 * reported, otherwise the first. */
static void validate_elements(struct validator *validator, struct bt_cel_node *const *nodes,
	const bool *is_optional, uint32_t count, bool is_map)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct bt_cel_type *expected = element_type(nodes, is_optional, 0);
		const struct bt_cel_type *type = element_type(nodes, is_optional, i);

		if (!bt_cel_type_is_same(expected, type)) {
			bt_cel_report_type(validator->issues, nodes[i]->position, expected, type);
			if (!is_map) {
				return;
			}
		}
	}
}

static void validate(struct validator *validator, const struct bt_cel_node *node)
{
	bool is_format = node->kind == BT_CEL_NODE_CALL && is_call(node, "format", true);
	struct bt_cel_node *child;

	if (node->kind == BT_CEL_NODE_CALL) {
		validate_call(validator, node);
	} else if (node->kind == BT_CEL_NODE_LIST && validator->format_depth == 0) {
		validate_elements(validator, node->list.items, node->list.is_optional,
			node->list.count, false);
	} else if (node->kind == BT_CEL_NODE_MAP && validator->format_depth == 0) {
		validate_elements(validator, node->map.keys, NULL, node->map.count, true);
		validate_elements(
			validator, node->map.values, node->map.is_optional, node->map.count, true);
	}
	validator->format_depth += is_format;
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		validate(validator, child);
	}
	validator->format_depth -= is_format;
}

bool bt_cel_validate(
	const struct bt_cel_node *root, struct bt_arena *scratch, struct bt_cel_issues *issues)
{
	struct validator validator = {.inference = {.arena = scratch}, .issues = issues};

	validate(&validator, root);
	bt_cel_inference_finish(&validator.inference);
	return issues->items.count == 0;
}
