/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and operators: which overloads take the arguments. Spec: 12b section 7.3. */
#include "base/assert.h"
#include "cel/checker_private.h"

static bool is_named(const struct bt_cel_overload *row, struct bt_str function)
{
	return strncmp(row->function, function.data, function.length) == 0 &&
		row->function[function.length] == '\0';
}

static bool is_function(struct bt_str name)
{
	for (uint32_t i = 0; i < bt_cel_overload_count; i++) {
		if (is_named(&bt_cel_overloads[i], name)) {
			return true;
		}
	}
	return false;
}

/** `found no matching overload for 'f' applied to 'T0.(T1, T2)'` */
static void report_no_overload(
	struct bt_cel_checker *checker, const struct bt_cel_application *application)
{
	struct bt_strbuf types = {0};
	uint32_t first = 0;

	if (application->style == BT_CEL_STYLE_MEMBER) {
		bt_strbuf_append_str(
			&types, bt_cel_type_text(checker, application->arguments[first++]));
		bt_strbuf_append_char(&types, '.');
	}
	bt_strbuf_append_char(&types, '(');
	for (uint32_t i = first; i < application->count; i++) {
		bt_strbuf_append_c(&types, i > first ? ", " : "");
		bt_strbuf_append_str(&types, bt_cel_type_text(checker, application->arguments[i]));
	}
	bt_strbuf_append_char(&types, ')');
	bt_cel_issue_add(checker->issues, application->position,
		"found no matching overload for '%.*s' applied to '%s'",
		BT_STR_ARG(application->function), bt_strbuf_c(&types));
	bt_strbuf_finish(&types);
}

/** One overload more takes the arguments. */
static void add_overload(struct bt_cel_checker *checker, const struct bt_cel_overload *row,
	const struct bt_cel_signature *signature, struct bt_cel_resolution *resolution)
{
	const struct bt_cel_type *result =
		bt_cel_substitute(&checker->inference, signature->result, false);

	BT_ASSERT(resolution->count < BT_CEL_OVERLOADS_MAX);
	for (uint32_t i = 0; i < signature->count; i++) {
		const struct bt_cel_type *parameter = signature->parameters[i];
		bool is_any = bt_cel_type_is_dyn(parameter) || parameter->kind == BT_CEL_PARAMETER;
		resolution->kinds[resolution->count][i] =
			(uint8_t)(is_any ? BT_CEL_DYN : parameter->kind);
	}
	resolution->overloads[resolution->count++] = row;
	if (resolution->result == NULL) {
		resolution->result = result;
	} else if (!bt_cel_type_is_same(resolution->result, result)) {
		resolution->result = &bt_cel_types[BT_CEL_DYN];
	}
}

bool bt_cel_resolve(struct bt_cel_checker *checker, const struct bt_cel_application *application,
	struct bt_cel_resolution *out_resolution)
{
	bool is_declared = false;

	out_resolution->result = NULL;
	out_resolution->count = 0;
	for (uint32_t i = 0; i < bt_cel_overload_count; i++) {
		const struct bt_cel_overload *row = &bt_cel_overloads[i];
		struct bt_cel_signature signature;

		if (!is_named(row, application->function)) {
			continue;
		}
		is_declared = true;
		if (row->style != application->style) {
			continue;
		}
		/* Parameters are numbered over all overloads of the style, whatever their arity:
		 * messages show the numbers. */
		bt_cel_signature_read(&checker->inference, row->signature, &signature);
		if (signature.count == application->count &&
			bt_cel_assign(&checker->inference, application->arguments,
				signature.parameters, application->count)) {
			add_overload(checker, row, &signature, out_resolution);
		}
	}
	if (!is_declared) {
		uint32_t position = application->position;
		struct bt_str name = application->function;
		bt_cel_issue_add(checker->issues, position,
			"undeclared reference to '%.*s' (in container '')", BT_STR_ARG(name));
	} else if (out_resolution->count == 0) {
		report_no_overload(checker, application);
	}
	return out_resolution->count != 0;
}

/** A member call on a dotted name may be the call of a function with a dotted name. */
static void find_dotted_function(struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	char buffer[BT_CEL_DOTTED_NAME_MAX];
	bool is_rooted;
	struct bt_str prefix = bt_cel_dotted_name(node->call.target, buffer, &is_rooted);
	struct bt_str name;

	if (prefix.data == NULL || prefix.length + node->call.function.length > sizeof buffer) {
		return;
	}
	name = bt_arena_printf(
		checker->arena, "%.*s.%.*s", BT_STR_ARG(prefix), BT_STR_ARG(node->call.function));
	if (is_function(name)) {
		node->call.target = NULL;
		node->call.function = name;
		node->call.is_rooted = is_rooted;
	}
}

/** && and ||: any number of operands. */
static const struct bt_cel_type *check_logic(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	bool is_right = true;

	for (uint32_t i = 0; i < node->call.count; i++) {
		(void)bt_cel_check_node(checker, node->call.arguments[i]);
	}
	for (uint32_t i = 0; i < node->call.count; i++) {
		is_right = bt_cel_expect_bool(checker, node->call.arguments[i]) && is_right;
	}
	return &bt_cel_types[is_right ? BT_CEL_BOOL : BT_CEL_ERROR];
}

const struct bt_cel_type *bt_cel_check_call(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	struct bt_cel_resolution resolution;
	const struct bt_cel_type **types;
	uint32_t first;

	if (node->call.operator_ == BT_CEL_OP_AND || node->call.operator_ == BT_CEL_OP_OR) {
		return check_logic(checker, node);
	}
	if (node->call.target != NULL) {
		find_dotted_function(checker, node);
	}
	types = BT_ARENA_NEW_ARRAY(
		checker->inference.arena, const struct bt_cel_type *, node->call.count + 1);
	first = node->call.target != NULL;
	/* The arguments first, then the target: the order in which parameters are numbered. */
	for (uint32_t i = 0; i < node->call.count; i++) {
		types[first + i] = bt_cel_check_node(checker, node->call.arguments[i]);
	}
	if (node->call.target != NULL) {
		types[0] = bt_cel_check_node(checker, node->call.target);
	}

	struct bt_cel_application application = {.function = node->call.function,
		.style = first != 0 ? BT_CEL_STYLE_MEMBER : BT_CEL_STYLE_GLOBAL,
		.arguments = types,
		.count = first + node->call.count,
		.position = node->position};

	if (!bt_cel_resolve(checker, &application, &resolution)) {
		return &bt_cel_types[BT_CEL_ERROR];
	}
	struct bt_arena *arena = checker->arena;
	uint32_t count = resolution.count;
	const struct bt_cel_overload **overloads =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_cel_overload *, count);
	uint8_t(*kinds)[BT_CEL_ARGUMENTS_MAX] =
		bt_arena_alloc(arena, count * sizeof resolution.kinds[0]);

	memcpy(overloads, resolution.overloads, count * sizeof resolution.overloads[0]);
	memcpy(kinds, resolution.kinds, count * sizeof resolution.kinds[0]);
	node->call.overloads = overloads;
	node->call.kinds = (const uint8_t(*)[BT_CEL_ARGUMENTS_MAX])kinds;
	node->call.overload_count = count;
	return resolution.result;
}
