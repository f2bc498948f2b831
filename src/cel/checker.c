/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "base/compiler.h"
#include "cel/checker_private.h"
#include "cel/device.h"

/** Maximum length of a dotted name; no known name is longer. */
#define DOTTED_NAME_MAX 64

/* Calls and operators: select the overloads that accept the arguments. Spec: 12b section 7.3. */

static bool is_named(const struct bt_cel_overload *row, struct bt_str function)
{
	return strncmp(row->function, function.data, function.length) == 0 &&
		row->function[function.length] == '\0';
}

/** The jsonpatch functions exist only in expressions of a MutatingAdmissionPolicy. */
static bool is_known(const struct bt_cel_checker *checker, struct bt_str function)
{
	return checker->environment->mutation != BT_CEL_MUTATION_NONE ||
		!bt_str_has_prefix(function, BT_STR("jsonpatch."));
}

/**
 * Returns the type as text: bound parameters are replaced, free parameters print as dyn. The text
 * is valid until the next call.
 */
static struct bt_str type_text(struct bt_cel_checker *checker, const struct bt_cel_type *type)
{
	bt_strbuf_reset(&checker->text);
	bt_cel_type_print(bt_cel_substitute(&checker->inference, type, true), &checker->text);
	return bt_strbuf_str(&checker->text);
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

		if (!is_named(row, application->function) ||
			!is_known(checker, application->function)) {
			continue;
		}
		is_declared = true;
		if (row->style != application->style) {
			continue;
		}
		/*
		 * Read every overload of the style, whatever its number of arguments: reading an
		 * overload gives numbers to its type parameters, and messages must show upstream's
		 * numbers.
		 */
		bt_cel_signature_read(&checker->inference, row->signature, &signature);
		if (signature.count == application->count &&
			bt_cel_assign(&checker->inference, application->arguments,
				signature.parameters, application->count)) {
			/* The overload accepts the arguments. */
			const struct bt_cel_type *result =
				bt_cel_substitute(&checker->inference, signature.result, false);

			BT_ASSERT(out_resolution->count < BT_CEL_OVERLOADS_MAX);
			for (uint32_t k = 0; k < signature.count; k++) {
				const struct bt_cel_type *parameter = signature.parameters[k];
				bool is_any = bt_cel_type_is_dyn(parameter) ||
					parameter->kind == BT_CEL_PARAMETER;
				out_resolution->kinds[out_resolution->count][k] =
					(uint8_t)(is_any ? BT_CEL_DYN : parameter->kind);
			}
			out_resolution->overloads[out_resolution->count++] = row;
			if (out_resolution->result == NULL) {
				out_resolution->result = result;
			} else if (!bt_cel_type_is_same(out_resolution->result, result)) {
				out_resolution->result = &bt_cel_types[BT_CEL_DYN];
			}
		}
	}
	if (!is_declared) {
		uint32_t position = application->position;
		struct bt_str name = application->function;
		bt_cel_issue_add(checker->issues, position,
			"undeclared reference to '%.*s' (in container '')", BT_STR_ARG(name));
	} else if (out_resolution->count == 0) {
		/* `found no matching overload for 'f' applied to 'T0.(T1, T2)'` */
		struct bt_strbuf types = {0};
		uint32_t first = 0;

		if (application->style == BT_CEL_STYLE_MEMBER) {
			bt_strbuf_append_str(
				&types, type_text(checker, application->arguments[first++]));
			bt_strbuf_append_char(&types, '.');
		}
		bt_strbuf_append_char(&types, '(');
		for (uint32_t k = first; k < application->count; k++) {
			bt_strbuf_append_c(&types, k > first ? ", " : "");
			bt_strbuf_append_str(&types, type_text(checker, application->arguments[k]));
		}
		bt_strbuf_append_char(&types, ')');
		bt_cel_issue_add(checker->issues, application->position,
			"found no matching overload for '%.*s' applied to '%s'",
			BT_STR_ARG(application->function), bt_strbuf_c(&types));
		bt_strbuf_finish(&types);
	}
	return out_resolution->count != 0;
}

/**
 * Writes the dotted name that a node stands for ("ip", "google.protobuf.Duration") to the buffer of
 * DOTTED_NAME_MAX bytes, and returns the name. Absent: the node is not a dotted name, or the name
 * is longer than any known name.
 */
static struct bt_str dotted_name(const struct bt_cel_node *node, char *buffer, bool *out_is_rooted)
{
	char *end = buffer + DOTTED_NAME_MAX;
	char *start = end;

	for (;; node = node->select.operand) {
		bool is_first = node->kind == BT_CEL_NODE_IDENTIFIER;

		if (!is_first &&
			(node->kind != BT_CEL_NODE_SELECT || node->select.is_test ||
				node->select.is_optional)) {
			return (struct bt_str){0};
		}
		struct bt_str part = is_first ? node->identifier.name : node->select.field;
		if (part.length + 1 > (size_t)(start - buffer)) {
			return (struct bt_str){0};
		}
		if (start != end) {
			*--start = '.';
		}
		start -= part.length;
		memcpy(start, part.data, part.length);
		if (is_first) {
			*out_is_rooted = node->identifier.is_rooted;
			return (struct bt_str){start, (uint32_t)(end - start)};
		}
	}
}

/**
 * Turns a member call into a global call if its target and name together are the dotted name of a
 * function, such as optional.of. Other calls stay unchanged.
 */
static void find_dotted_function(struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	char buffer[DOTTED_NAME_MAX];
	bool is_rooted;
	struct bt_str prefix = dotted_name(node->call.target, buffer, &is_rooted);

	if (prefix.data == NULL || prefix.length + node->call.function.length > sizeof buffer) {
		return;
	}
	struct bt_str name = bt_arena_printf(
		checker->arena, "%.*s.%.*s", BT_STR_ARG(prefix), BT_STR_ARG(node->call.function));
	for (uint32_t i = 0; i < bt_cel_overload_count; i++) {
		if (is_named(&bt_cel_overloads[i], name) && is_known(checker, name)) {
			node->call.target = NULL;
			node->call.function = name;
			node->call.is_rooted = is_rooted;
			return;
		}
	}
}

static const struct bt_cel_type *check_call(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	struct bt_cel_resolution resolution;

	if (node->call.operator_ == BT_CEL_OP_AND || node->call.operator_ == BT_CEL_OP_OR) {
		/* && and || have any number of operands. */
		bool is_right = true;

		for (uint32_t k = 0; k < node->call.count; k++) {
			(void)bt_cel_check_node(checker, node->call.arguments[k]);
		}
		for (uint32_t k = 0; k < node->call.count; k++) {
			is_right = bt_cel_expect_bool(checker, node->call.arguments[k]) && is_right;
		}
		return &bt_cel_types[is_right ? BT_CEL_BOOL : BT_CEL_ERROR];
	}
	if (node->call.target != NULL) {
		find_dotted_function(checker, node);
	}
	const struct bt_cel_type **types = BT_ARENA_NEW_ARRAY(
		checker->inference.arena, const struct bt_cel_type *, node->call.count + 1);
	uint32_t first = node->call.target != NULL;
	/*
	 * Check the arguments before the target, as upstream does: type parameters get their
	 * numbers in this order, and messages show the numbers.
	 */
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

void bt_cel_report_type(struct bt_cel_issues *issues, uint32_t position,
	const struct bt_cel_type *expected, const struct bt_cel_type *found)
{
	struct bt_strbuf texts[2] = {{0}, {0}};

	bt_cel_type_print(expected, &texts[0]);
	bt_cel_type_print(found, &texts[1]);
	bt_cel_issue_add(issues, position, "expected type '%s' but found '%s'",
		bt_strbuf_c(&texts[0]), bt_strbuf_c(&texts[1]));
	bt_strbuf_finish(&texts[0]);
	bt_strbuf_finish(&texts[1]);
}

bool bt_cel_expect_bool(struct bt_cel_checker *checker, const struct bt_cel_node *node)
{
	const struct bt_cel_type *expected = &bt_cel_types[BT_CEL_BOOL];

	if (bt_cel_assign(&checker->inference, &node->type, &expected, 1)) {
		return true;
	}
	bt_cel_report_type(checker->issues, node->position, expected, node->type);
	return false;
}

/** Returns the type inside an optional type; returns other types unchanged. */
static const struct bt_cel_type *unwrap_optional(
	struct bt_cel_checker *checker, const struct bt_cel_type *type, bool *out_is_optional)
{
	const struct bt_cel_type *known = bt_cel_substitute(&checker->inference, type, false);

	*out_is_optional = known->kind == BT_CEL_OPTIONAL;
	return *out_is_optional ? known->of[0] : known;
}

static const struct bt_cel_type *find_type_name(
	struct bt_cel_checker *checker, struct bt_str name, const struct bt_cel_type **out_value)
{
	const struct bt_cel_type *dyn = &bt_cel_types[BT_CEL_DYN];

	for (enum bt_cel_kind kind = 0; kind < BT_CEL_KIND__COUNT; kind++) {
		const struct bt_cel_type *of = &bt_cel_types[kind];

		if (!bt_cel_kinds[kind].is_identifier ||
			!bt_str_equal_c(name, bt_cel_kinds[kind].name)) {
			continue;
		}
		*out_value = of;
		if (kind == BT_CEL_LIST || kind == BT_CEL_OPTIONAL) {
			of = bt_cel_type_make(&checker->inference, kind, dyn, NULL);
		} else if (kind == BT_CEL_MAP) {
			of = bt_cel_type_make(&checker->inference, kind, dyn, dyn);
		}
		return bt_cel_type_make(&checker->inference, BT_CEL_TYPE, of, NULL);
	}
	return NULL;
}

/**
 * Turns the node into an identifier of the variable or type with this name, and returns the type of
 * the identifier. NULL: unknown name.
 */
static const struct bt_cel_type *find_identifier(
	struct bt_cel_checker *checker, struct bt_cel_node *node, struct bt_str name)
{
	const struct bt_cel_environment *environment = checker->environment;
	struct bt_cel_node found = {.kind = BT_CEL_NODE_IDENTIFIER,
		.position = node->position,
		.height = node->height,
		.identifier.name = name};
	const struct bt_cel_type *type = NULL;

	for (uint32_t i = checker->scopes.count; i > 0 && type == NULL; i--) {
		const struct bt_cel_scope *scope = &checker->scopes.items[i - 1];

		if (bt_str_equal(scope->name, name)) {
			found.identifier.reference = BT_CEL_REFERENCE_LOCAL;
			found.identifier.index = scope->slot;
			type = scope->type;
		}
	}
	for (uint32_t i = 0; i < environment->variable_count && type == NULL; i++) {
		if (bt_str_equal(environment->variables[i].name, name)) {
			found.identifier.reference = BT_CEL_REFERENCE_VARIABLE;
			found.identifier.index = i;
			type = environment->variables[i].type;
		}
	}
	if (type == NULL) {
		found.identifier.reference = BT_CEL_REFERENCE_TYPE;
		type = find_type_name(checker, name, &found.identifier.type_value);
	}
	if (type != NULL) {
		*node = found;
	}
	return type;
}

static const struct bt_cel_type *object_field_type(struct bt_cel_checker *checker,
	uint32_t position, const struct bt_cel_object *object, struct bt_str name)
{
	for (uint32_t i = 0; i < object->field_count; i++) {
		if (bt_str_equal(name, object->fields[i].name)) {
			return object->fields[i].type;
		}
	}
	if (object->has_any_field) {
		return &bt_cel_types[BT_CEL_DYN];
	}
	bt_cel_issue_add(checker->issues, position, "undefined field '%.*s'", BT_STR_ARG(name));
	return &bt_cel_types[BT_CEL_ERROR];
}

static const struct bt_cel_type *field_type(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct bt_cel_type *operand)
{
	const struct bt_cel_type *dyn = &bt_cel_types[BT_CEL_DYN];
	struct bt_strbuf text = {0};

	if (operand->kind == BT_CEL_MAP) {
		return operand->of[1];
	}
	if (operand->kind == BT_CEL_DEVICE) {
		const struct bt_cel_device_field_info *fields =
			bt_cel_device_fields(checker->environment->accepts_dyn);

		for (uint32_t i = 0; i < BT_CEL_DEVICE_FIELD__COUNT; i++) {
			if (bt_str_equal_c(node->select.field, fields[i].name)) {
				return &fields[i].type;
			}
		}
		bt_cel_issue_add(checker->issues, node->position, "undefined field '%.*s'",
			BT_STR_ARG(node->select.field));
		return &bt_cel_types[BT_CEL_ERROR];
	}
	if (operand->kind == BT_CEL_OBJECT) {
		return object_field_type(
			checker, node->position, operand->object, node->select.field);
	}
	if (operand->kind == BT_CEL_PARAMETER) {
		/* cannot fail: the parameter is free */
		(void)bt_cel_assign(&checker->inference, &dyn, &operand, 1);
		return dyn;
	}
	if (bt_cel_type_is_dyn(operand)) {
		return dyn;
	}
	bt_cel_type_print(operand, &text);
	bt_cel_issue_add(checker->issues, node->position,
		"type '%s' does not support field selection", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return dyn;
}

static const struct bt_cel_type *check_select(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	char buffer[DOTTED_NAME_MAX];
	bool is_rooted;
	bool is_optional;
	struct bt_str name = dotted_name(node, buffer, &is_rooted);
	const struct bt_cel_type *type = NULL;

	if (name.data != NULL) {
		type = find_identifier(checker, node, name);
	}
	if (type != NULL) {
		node->identifier.name = bt_arena_str(checker->arena, name);
		node->identifier.is_rooted = is_rooted;
		return type;
	}
	type = unwrap_optional(
		checker, bt_cel_check_node(checker, node->select.operand), &is_optional);
	type = field_type(checker, node, type);
	if (node->select.is_test) {
		return &bt_cel_types[BT_CEL_BOOL];
	}
	if (is_optional || node->select.is_optional) {
		type = bt_cel_type_make(&checker->inference, BT_CEL_OPTIONAL, type, NULL);
	}
	return type;
}

/**
 * Joins the type of an element, key or value of a literal with `before`, the joined type of the
 * previous elements, keys or values (NULL: there are none).
 */
static const struct bt_cel_type *join_element(struct bt_cel_checker *checker,
	const struct bt_cel_type *before, const struct bt_cel_type *type)
{
	if (before == NULL) {
		return type;
	}
	const struct bt_cel_type *joined = bt_cel_join(&checker->inference, before, type);
	/* Validators report mixed types: spec 12b sections 7.4, 7.5. */
	return joined != NULL ? joined : &bt_cel_types[BT_CEL_DYN];
}

/**
 * Checks an element of a literal. Returns the type that the element contributes: for `[?x]` and
 * `{?k: x}`, the type inside the optional.
 */
static const struct bt_cel_type *check_element(
	struct bt_cel_checker *checker, struct bt_cel_node *node, bool is_optional)
{
	const struct bt_cel_type *type = bt_cel_check_node(checker, node);

	if (!is_optional) {
		return type;
	}
	const struct bt_cel_type *inner = unwrap_optional(checker, type, &is_optional);
	if (!is_optional && !bt_cel_type_is_dyn(inner)) {
		bt_cel_report_type(checker->issues, node->position,
			bt_cel_type_make(&checker->inference, BT_CEL_OPTIONAL, type, NULL), type);
	}
	return inner;
}

static const struct bt_cel_variable patch_fields[] = {
	{BT_STR_INIT("op"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("path"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("from"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("value"), &bt_cel_types[BT_CEL_DYN]},
};
static const struct bt_cel_object patch_object = {
	BT_STR_INIT("JSONPatch"), patch_fields, BT_ARRAY_LENGTH(patch_fields), false};
static const struct bt_cel_type patch_type = {.kind = BT_CEL_OBJECT, .object = &patch_object};

/** Returns the type of an object literal with this name. NULL: unknown name. */
static const struct bt_cel_type *find_object_type(
	struct bt_cel_checker *checker, struct bt_str name)
{
	struct bt_arena *arena = checker->inference.arena;

	if (checker->environment->mutation == BT_CEL_MUTATION_NONE) {
		return NULL;
	}
	if (bt_str_equal_c(name, "JSONPatch")) {
		return &patch_type;
	}
	if (!bt_str_equal_c(name, "Object") && !bt_str_has_prefix(name, BT_STR("Object."))) {
		return NULL;
	}
	for (uint32_t i = 0; i < checker->objects.count; i++) {
		if (bt_str_equal(checker->objects.items[i]->object->name, name)) {
			return checker->objects.items[i];
		}
	}
	struct bt_cel_object *object = BT_ARENA_NEW(arena, struct bt_cel_object);
	struct bt_cel_type *type = BT_ARENA_NEW(arena, struct bt_cel_type);
	*object = (struct bt_cel_object){.name = name, .has_any_field = true};
	*type = (struct bt_cel_type){.kind = BT_CEL_OBJECT, .object = object};
	bt_vec_push(&checker->objects, type);
	return type;
}

static const struct bt_cel_type *check_object(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	const struct bt_cel_type *type = find_object_type(checker, node->map.type_name);

	if (type == NULL) {
		bt_cel_issue_add(checker->issues, node->position,
			"undeclared reference to '%.*s' (in container '')",
			BT_STR_ARG(node->map.type_name));
		return &bt_cel_types[BT_CEL_ERROR];
	}
	for (uint32_t i = 0; i < node->map.count; i++) {
		struct bt_cel_node *key = node->map.keys[i];
		bool is_optional = node->map.is_optional != NULL && node->map.is_optional[i];
		const struct bt_cel_type *field =
			object_field_type(checker, key->position, type->object, key->literal.text);
		const struct bt_cel_type *given =
			check_element(checker, node->map.values[i], is_optional);

		key->type = &bt_cel_types[BT_CEL_STRING];
		if (!bt_cel_assign(&checker->inference, &given, &field, 1)) {
			bt_strbuf_reset(&checker->text);
			bt_cel_type_print(field, &checker->text);
			struct bt_str wanted =
				bt_arena_str(checker->arena, bt_strbuf_str(&checker->text));
			bt_cel_issue_add(checker->issues, key->position,
				"expected type of field '%.*s' is '%.*s' but provided type is "
				"'%.*s'",
				BT_STR_ARG(key->literal.text), BT_STR_ARG(wanted),
				BT_STR_ARG(type_text(checker, given)));
		}
	}
	return type;
}

const struct bt_cel_type *bt_cel_check_node(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	const struct bt_cel_type *type = &bt_cel_types[BT_CEL_ERROR];
	const struct bt_cel_type *key = NULL;
	const struct bt_cel_type *element = NULL;
	bool is_rooted;

	if (checker->inference.is_exhausted || checker->issues->items.count >= BT_CEL_ISSUES_MAX) {
		node->type = type;
		return type;
	}
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
		type = &bt_cel_types[node->literal.kind];
		break;
	case BT_CEL_NODE_IDENTIFIER:
		is_rooted = node->identifier.is_rooted;
		type = find_identifier(checker, node, node->identifier.name);
		if (type == NULL) {
			bt_cel_issue_add(checker->issues, node->position,
				"undeclared reference to '%s%.*s' (in container '')",
				is_rooted ? "." : "", BT_STR_ARG(node->identifier.name));
			type = &bt_cel_types[BT_CEL_ERROR];
		} else {
			node->identifier.is_rooted = is_rooted;
		}
		break;
	case BT_CEL_NODE_SELECT:
		type = check_select(checker, node);
		break;
	case BT_CEL_NODE_CALL:
		type = check_call(checker, node);
		break;
	case BT_CEL_NODE_LIST:
		for (uint32_t i = 0; i < node->list.count; i++) {
			bool is_optional =
				node->list.is_optional != NULL && node->list.is_optional[i];
			element = join_element(checker, element,
				check_element(checker, node->list.items[i], is_optional));
		}
		if (element == NULL) {
			element = bt_cel_fresh_parameter(&checker->inference);
		}
		type = bt_cel_type_make(&checker->inference, BT_CEL_LIST, element, NULL);
		break;
	case BT_CEL_NODE_MAP:
		if (node->map.type_name.data != NULL) {
			type = check_object(checker, node);
			break;
		}
		for (uint32_t i = 0; i < node->map.count; i++) {
			bool is_optional =
				node->map.is_optional != NULL && node->map.is_optional[i];

			key = join_element(
				checker, key, bt_cel_check_node(checker, node->map.keys[i]));
			element = join_element(checker, element,
				check_element(checker, node->map.values[i], is_optional));
		}
		if (key == NULL) {
			key = bt_cel_fresh_parameter(&checker->inference);
			element = bt_cel_fresh_parameter(&checker->inference);
		}
		type = bt_cel_type_make(&checker->inference, BT_CEL_MAP, key, element);
		break;
	case BT_CEL_NODE_MACRO:
		type = bt_cel_check_macro(checker, node);
		break;
	}
	node->type = type;
	return type;
}

/**
 * Writes the final types into the tree. Call after the whole expression was checked, because only
 * then all type parameters are known.
 */
static void finish_types(struct bt_cel_inference *inference, struct bt_cel_node *node)
{
	struct bt_cel_node *child;

	node->type = bt_cel_substitute(inference, node->type, true);
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		finish_types(inference, child);
	}
}

bool bt_cel_check(struct bt_cel_node *root, const struct bt_cel_environment *environment,
	struct bt_arena *arena, struct bt_arena *scratch, struct bt_cel_issues *issues,
	uint32_t *out_local_count)
{
	struct bt_cel_checker checker = {.inference = {.arena = scratch},
		.arena = arena,
		.environment = environment,
		.issues = issues};

	(void)bt_cel_check_node(&checker, root);
	if (issues->items.count == 0) {
		finish_types(&checker.inference, root);
	}
	if (checker.inference.is_exhausted) {
		issues->items.count = 0;
		bt_cel_issue_add(issues, 0, "types of the expression are too large");
	}
	*out_local_count = checker.slot_count;
	bt_cel_inference_finish(&checker.inference);
	bt_vec_finish(&checker.scopes);
	bt_vec_finish(&checker.objects);
	bt_strbuf_finish(&checker.text);
	return issues->items.count == 0;
}
