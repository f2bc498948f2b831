/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_RULES_H
#define BT_SERVER_CUSTOM_RULES_H
/**
 * What the schema of one version of a CustomResourceDefinition says in languages of its own,
 * compiled once: patterns, formats, and the rules of x-kubernetes-validations.
 */
#include "cel/cel.h"
#include "cel/regex.h"
#include "codec/path.h"

struct bt_custom_rule {
	const struct bt_json_value *source; /* rule, message, reason, fieldPath, ... */
	struct bt_cel_program *program;     /* NULL: it does not compile */
	struct bt_cel_program *message;     /* of messageExpression; NULL: none */
	bool uses_old;                      /* a transition rule */
	bool optional_old;
};

/** Of one schema within the schema. */
struct bt_custom_node {
	const struct bt_json_value *schema;
	struct bt_cel_regex *pattern; /* NULL: none, or one that does not compile */
	struct bt_cel_regex *format;  /* NULL: none, or one that no pattern can say */
	struct bt_custom_rule *rules;
	uint32_t rule_count;
	/** A rule stands here or below. */
	bool has_rules;
	struct bt_cel_environment environments[3]; /* self; self, oldSelf; self, optional oldSelf */
	struct bt_cel_variable variables[2];
	struct bt_cel_variable optional_variables[2];
};

struct bt_custom_rules;

/** Told what is wrong at a place, and the value there (or NULL). is_forbidden: too costly. */
typedef void bt_custom_complain_fn(void *context, const struct bt_path *place,
	const struct bt_json_value *value, bool is_forbidden, const char *text);

/** root: openAPIV3Schema, borrowed; place: where it stands. Never NULL: what does not compile is
 * left out. complain may be NULL. */
struct bt_custom_rules *bt_custom_rules_create(const struct bt_json_value *root,
	const struct bt_path *place, bt_custom_complain_fn *complain, void *context);
/** NULL accepted. */
void bt_custom_rules_destroy(struct bt_custom_rules *rules);
/** The node of a schema within the root; NULL: it has none of all this. */
const struct bt_custom_node *bt_custom_rules_find(
	const struct bt_custom_rules *rules, const struct bt_json_value *schema);
#endif
