/* SPDX-License-Identifier: Apache-2.0 */
#include "server/custom_rules.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json_edit.h"
#include "server/expression.h"

/** Memory limit of the programs and patterns of one schema. */
#define PROGRAM_BYTES_MAX ((size_t)16 << 20)
/** A rule that does not compile counts as this many bytes, because compiling it took time, too. */
#define REFUSED_BYTES 4096
/** Largest estimated CEL costs of one rule, and of all rules of a schema, for one object. */
#define RULE_COST_MAX UINT64_C(10000000)
#define SCHEMA_COST_MAX UINT64_C(100000000)
#define COST_BYTES_MAX 256

struct bt_custom_rules {
	struct bt_arena arena;
	BT_VEC(struct bt_custom_node *) nodes;
	struct bt_map by_schema;
	size_t bytes;
};

/** Formats that a regex can check; custom_validate.c checks the others. */
static const struct {
	const char *name;
	const char *pattern;
} formats[] = {
	{"email", "^[^@\\s]+@[^@\\s]+$"},
	{"uri", "^([a-zA-Z][a-zA-Z0-9+.-]*:|/)\\S*$"},
	{"hostname", "^[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,62})(\\.[a-zA-Z0-9_-]{1,63})*\\.?$"},
	{"mac", "^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\\.){2}[0-9a-fA-F]{4}$"},
	{"uuid", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
	{"uuid3", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
	{"uuid4", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
	{"uuid5", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
	{"bsonobjectid", "^[0-9a-fA-F]{24}$"},
	{"hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"},
	{"k8s-short-name", "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
	{"k8s-long-name", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"},
};

struct build {
	struct bt_custom_rules *rules;
	bt_custom_complain_fn *complain; /* or NULL */
	void *context;
	uint64_t cost; /* of all rules */
	/** The outermost array around the schema whose items have no old values; NULL: none. */
	const struct bt_path *array;
};

static void add_strict_error(struct build *build, const struct bt_path *place,
	const struct bt_json_value *value, const char *text)
{
	if (build->complain != NULL) {
		build->complain(build->context, place, value, false, text);
	}
}

/** Reports an estimated cost that is above the limit. */
static void check_cost(struct build *build, const struct bt_path *place, const char *what,
	uint64_t cost, uint64_t cost_max)
{
	char text[COST_BYTES_MAX];
	char factor[32] = "more than 100";
	double exceeds = (double)cost / (double)cost_max;
	if (cost <= cost_max || build->complain == NULL) {
		return;
	}
	if (exceeds <= 100) {
		snprintf(factor, sizeof(factor), exceeds < 1.5 ? "%f" : "%.1f", exceeds);
	}
	snprintf(text, sizeof(text),
		"%s exceeds budget by factor of %sx (try simplifying the rule, or adding maxItems, "
		"maxProperties, and maxLength where arrays, maps, and strings are declared)",
		what, factor);
	build->complain(build->context, place, NULL, true, text);
}

static bool is_affordable(struct build *build)
{
	return build->rules->bytes < PROGRAM_BYTES_MAX;
}

static struct bt_cel_regex *compile_pattern(
	struct build *build, const struct bt_path *place, const struct bt_json_value *pattern)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_regex *regex = NULL;
	if (pattern == NULL || pattern->type != BT_JSON_STRING || !is_affordable(build)) {
		return NULL;
	}
	if (bt_cel_regex_compile(pattern->text, &regex, &err) < 0) {
		add_strict_error(
			build, BT_PATH_NAME(place, "pattern"), pattern, berth_error_message(&err));
		build->rules->bytes += REFUSED_BYTES;
		berth_error_finish(&err);
		return NULL;
	}
	build->rules->bytes += bt_cel_regex_bytes(regex);
	return regex;
}

static struct bt_cel_program *compile(struct build *build, struct bt_str text,
	const struct bt_cel_environment *environment, struct berth_error *err)
{
	struct bt_cel_program *program = NULL;
	if (bt_cel_compile(text, environment, &program, err) < 0) {
		build->rules->bytes += REFUSED_BYTES;
		return NULL;
	}
	build->rules->bytes += bt_cel_program_bytes(program);
	return program;
}

static void compile_rule(struct build *build, struct bt_custom_node *node,
	struct bt_custom_rule *rule, const struct bt_path *place)
{
	struct bt_str text = bt_json_text_at(rule->source, "rule");
	struct bt_str message = bt_json_text_at(rule->source, "messageExpression");
	const struct bt_cel_environment *environment = &node->environments[0];
	struct berth_error err = BERTH_ERROR_INIT;
	rule->optional_old = bt_json_bool_at(rule->source, "optionalOldSelf", false);
	if (!is_affordable(build)) {
		add_strict_error(build, place, NULL,
			"the rules and patterns of the schema take too much memory");
		return;
	}
	/* A rule that compiles without oldSelf is not a transition rule. */
	rule->program = compile(build, text, environment, NULL);
	if (rule->program == NULL) {
		environment = &node->environments[rule->optional_old ? 2 : 1];
		rule->program = compile(build, text, environment, &err);
		rule->uses_old = rule->program != NULL;
	}
	if (rule->program == NULL) {
		/* definition_schema.c reports an empty rule */
		if (bt_str_trim(text, BT_STR_SPACE).length != 0) {
			add_strict_error(build, BT_PATH_NAME(place, "rule"), rule->source,
				berth_error_message(&err));
		}
	} else if (bt_cel_program_result(rule->program) != BT_CEL_BOOL) {
		add_strict_error(build, BT_PATH_NAME(place, "rule"), rule->source,
			"cel expression must evaluate to a bool");
		bt_cel_program_destroy(rule->program);
		rule->program = NULL;
	}
	if (rule->uses_old && build->array != NULL && build->complain != NULL) {
		struct bt_strbuf problem = {0};
		bt_strbuf_append_c(&problem,
			"oldSelf cannot be used on the uncorrelatable portion of the schema "
			"within ");
		bt_path_render(build->array, &problem);
		add_strict_error(
			build, BT_PATH_NAME(place, "rule"), rule->source, bt_strbuf_c(&problem));
		bt_strbuf_finish(&problem);
	}
	berth_error_finish(&err);
	err = (struct berth_error)BERTH_ERROR_INIT;
	if (rule->program != NULL && message.length != 0 && is_affordable(build)) {
		rule->message = compile(build, message, environment, &err);
		if (rule->message == NULL) {
			add_strict_error(build, BT_PATH_NAME(place, "messageExpression"),
				rule->source, berth_error_message(&err));
		} else if (bt_cel_program_result(rule->message) != BT_CEL_STRING) {
			add_strict_error(build, BT_PATH_NAME(place, "messageExpression"),
				rule->source, "messageExpression must evaluate to a string");
		}
	}
	berth_error_finish(&err);
}

/**
 * Compiles the rules of a schema. Reports those that are too costly, and adds their costs to the
 * cost of the whole schema. `count`: largest number of times that a rule runs for one object.
 */
static void compile_rules(struct build *build, struct bt_custom_node *node, bool is_root,
	const struct bt_json_value *sources, const struct bt_path *place, uint64_t count)
{
	static const char *const names[][2] = {{"rule", "estimated rule cost"},
		{"messageExpression", "estimated messageExpression cost"}};
	struct bt_arena *arena = &build->rules->arena;
	const struct bt_cel_type *self = bt_expression_type(node->schema, is_root, arena);
	struct bt_cel_type *optional = BT_ARENA_NEW(arena, struct bt_cel_type);
	*optional = (struct bt_cel_type){
		.kind = BT_CEL_OPTIONAL, .parts = self->parts + 1, .of = {self, NULL}};
	node->variables[0] = (struct bt_cel_variable){BT_STR("self"), self};
	node->variables[1] = (struct bt_cel_variable){BT_STR("oldSelf"), self};
	node->optional_variables[0] = node->variables[0];
	node->optional_variables[1] = (struct bt_cel_variable){BT_STR("oldSelf"), optional};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(node->environments); i++) {
		node->environments[i] = (struct bt_cel_environment){
			.variables = i == 2 ? node->optional_variables : node->variables,
			.variable_count = i == 0 ? 1 : 2};
	}
	node->rules = BT_ARENA_NEW_ARRAY(arena, struct bt_custom_rule, sources->count);
	node->rule_count = sources->count;
	for (uint32_t i = 0; i < sources->count; i++) {
		node->rules[i].source = sources->elements[i];
		const struct bt_path at =
			*BT_PATH_INDEX(BT_PATH_NAME(place, "x-kubernetes-validations"), i);
		compile_rule(build, node, &node->rules[i], &at);
		const struct bt_cel_program *programs[] = {
			node->rules[i].program, node->rules[i].message};
		for (size_t k = 0; k < BT_ARRAY_LENGTH(programs); k++) {
			uint64_t cost =
				programs[k] != NULL ? bt_cel_program_estimate(programs[k]) : 0;
			if (BT_MUL_OVERFLOW(cost, count, &cost)) {
				cost = UINT64_MAX;
			}
			check_cost(build, BT_PATH_NAME(&at, names[k][0]), names[k][1], cost,
				RULE_COST_MAX);
			if (BT_ADD_OVERFLOW(build->cost, cost, &build->cost)) {
				build->cost = UINT64_MAX;
			}
		}
	}
}

/**
 * Compiles a schema and the schemas below it. Returns whether they contain a rule. `count`: largest
 * number of times that the schema applies in one object. Recursion follows the schema, whose depth
 * is limited.
 */
static bool visit(struct build *build, const struct bt_json_value *schema, bool is_root,
	const struct bt_path *place, uint64_t count)
{
	static const char *const single[] = {"items", "additionalProperties", "not"};
	static const char *const many[] = {"allOf", "anyOf", "oneOf"};
	struct bt_custom_rules *rules = build->rules;
	const struct bt_json_value *sources = bt_json_array_at(schema, "x-kubernetes-validations");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	struct bt_str format = bt_json_text_at(schema, "format");
	const struct bt_path *array = build->array;
	bool has_rules = sources->count != 0;
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return false;
	}
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_member *property = &properties->members[i];
		bool below = visit(build, property->value, false,
			BT_PATH_KEY(BT_PATH_NAME(place, "properties"), property->name), count);
		has_rules = has_rules || below;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(single); i++) {
		uint64_t below_count = i < 2 ? count * bt_expression_max_count(schema) : count;
		below_count = BT_MIN(below_count, BT_EXPRESSION_COUNT_MAX);
		if (i == 0 && array == NULL &&
			!bt_str_equal_c(bt_json_text_at(schema, "x-kubernetes-list-type"), "map")) {
			build->array = place;
		}
		bool below = visit(build, bt_json_find(schema, single[i]), false,
			BT_PATH_NAME(place, single[i]), below_count);
		build->array = array;
		has_rules = has_rules || below;
	}
	for (size_t k = 0; k < BT_ARRAY_LENGTH(many); k++) {
		const struct bt_json_value *list = bt_json_array_at(schema, many[k]);
		for (uint32_t i = 0; i < list->count; i++) {
			(void)visit(build, list->elements[i], false,
				BT_PATH_INDEX(BT_PATH_NAME(place, many[k]), i), count);
		}
	}
	if (!has_rules && format.length == 0 && bt_json_find(schema, "pattern") == NULL) {
		return false;
	}
	struct bt_custom_node *node = BT_ARENA_NEW(&rules->arena, struct bt_custom_node);
	node->schema = schema;
	node->has_rules = has_rules;
	node->pattern = compile_pattern(build, place, bt_json_find(schema, "pattern"));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(formats); i++) {
		if (bt_str_equal_c(format, formats[i].name) && is_affordable(build)) {
			int code = bt_cel_regex_compile(
				bt_str_from(formats[i].pattern), &node->format, NULL);
			rules->bytes += code == 0 ? bt_cel_regex_bytes(node->format) : 0;
		}
	}
	if (sources->count != 0) {
		compile_rules(build, node, is_root, sources, place, count);
	}
	bt_vec_push(&rules->nodes, node);
	bt_map_insert(&rules->by_schema, bt_hash_bytes(&schema, sizeof(schema), 0),
		rules->nodes.count - 1);
	return has_rules;
}

struct bt_custom_rules *bt_custom_rules_create(const struct bt_json_value *root,
	const struct bt_path *place, bt_custom_complain_fn *complain, void *context)
{
	struct bt_custom_rules *rules = BT_NEW(struct bt_custom_rules);
	struct build build = {rules, complain, context, 0, NULL};
	bt_arena_init(&rules->arena, 512);
	(void)visit(&build, root, true, place, 1);
	check_cost(&build, place,
		"x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
		build.cost, SCHEMA_COST_MAX);
	return rules;
}

void bt_custom_rules_destroy(struct bt_custom_rules *rules)
{
	if (rules == NULL) {
		return;
	}
	for (uint32_t i = 0; i < rules->nodes.count; i++) {
		struct bt_custom_node *node = rules->nodes.items[i];
		for (uint32_t k = 0; k < node->rule_count; k++) {
			bt_cel_program_destroy(node->rules[k].program);
			bt_cel_program_destroy(node->rules[k].message);
		}
		bt_cel_regex_destroy(node->pattern);
		bt_cel_regex_destroy(node->format);
	}
	bt_vec_finish(&rules->nodes);
	bt_map_finish(&rules->by_schema);
	bt_arena_finish(&rules->arena);
	bt_free(rules);
}

const struct bt_custom_node *bt_custom_rules_find(
	const struct bt_custom_rules *rules, const struct bt_json_value *schema)
{
	uint64_t hash = bt_hash_bytes(&schema, sizeof(schema), 0);
	if (rules == NULL) {
		return NULL;
	}
	BT_MAP_EACH (&rules->by_schema, hash, index) {
		const struct bt_custom_node *node = rules->nodes.items[index];
		if (node->schema == schema) {
			return node;
		}
	}
	return NULL;
}
