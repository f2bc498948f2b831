/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_RULES_H
#define BT_SERVER_CUSTOM_RULES_H
/**
 * The compiled parts of a schema of a CustomResourceDefinition: patterns, formats and the CEL rules
 * of x-kubernetes-validations. Each part is compiled once.
 */
#include "cel/cel.h"
#include "cel/regex.h"
#include "codec/path.h"

struct bt_custom_rule {
	const struct bt_json_value *source; /* rule, message, reason, fieldPath, ... */
	struct bt_cel_program *program;     /* NULL: the rule does not compile */
	struct bt_cel_program *message;     /* from messageExpression; NULL: none */
	/** A transition rule: the rule reads oldSelf, so it is skipped if there is no old value. */
	bool uses_old;
	/**
	 * optionalOldSelf of the rule: oldSelf is a CEL optional, and the rule also runs without an
	 * old value.
	 */
	bool optional_old;
};

/** The compiled parts of one schema inside the version's schema. */
struct bt_custom_node {
	const struct bt_json_value *schema;
	struct bt_cel_regex *pattern; /* NULL: no pattern, or the pattern does not compile */
	struct bt_cel_regex *format;  /* NULL: no format, or no regex can check it */
	struct bt_custom_rule *rules;
	uint32_t rule_count;
	/** This schema or one below it has a rule. */
	bool has_rules;
	/**
	 * The variables of the three environments: self; self and oldSelf; self and optional
	 * oldSelf.
	 */
	struct bt_cel_environment environments[3];
	struct bt_cel_variable variables[2];
	struct bt_cel_variable optional_variables[2];
};

struct bt_custom_rules;

/**
 * Reports a problem at a place, with the value there (or NULL). is_forbidden: the rule is too
 * costly.
 */
typedef void bt_custom_complain_fn(void *context, const struct bt_path *place,
	const struct bt_json_value *value, bool is_forbidden, const char *text);

/**
 * Compiles the rules, patterns and formats of a schema. root: openAPIV3Schema, borrowed; place: its
 * path in the definition. `complain` (or NULL) receives the problems. Parts that do not compile are
 * left out, so the result is never NULL.
 */
struct bt_custom_rules *bt_custom_rules_create(const struct bt_json_value *root,
	const struct bt_path *place, bt_custom_complain_fn *complain, void *context);
/** NULL accepted. */
void bt_custom_rules_destroy(struct bt_custom_rules *rules);
/**
 * Returns the compiled node of a schema inside the root; NULL: that schema has neither patterns,
 * formats nor rules.
 */
const struct bt_custom_node *bt_custom_rules_find(
	const struct bt_custom_rules *rules, const struct bt_json_value *schema);
#endif
