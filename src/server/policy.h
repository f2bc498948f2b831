/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_POLICY_H
#define BT_SERVER_POLICY_H
/**
 * Compiled MutatingAdmissionPolicies and ValidatingAdmissionPolicies. A policy is in force if it
 * has a binding. Policies in force are compiled once and kept until an object of their API group
 * changes.
 *
 * Fields of the object have type dyn in every expression, so type errors are found only by
 * evaluation.
 */
#include "base/vec.h"
#include "server/expression.h"
#include "server/write.h"

enum bt_policy_variable {
	BT_POLICY_OBJECT,
	BT_POLICY_OLD_OBJECT,
	BT_POLICY_REQUEST,
	BT_POLICY_REQUEST_RESOURCE,
	BT_POLICY_AUTHORIZER, /* webhooks' matchConditions have only the variables up to here */
	BT_POLICY_NAMESPACE_OBJECT,
	BT_POLICY_VARIABLES,
	BT_POLICY_PARAMS, /* comes last, because only policies with a paramKind have it */
	BT_POLICY__COUNT,
};

/** The members of the variable `request`. */
extern const struct bt_cel_object bt_policy_request;
/** The API group of the policies. */
extern const char bt_policy_group[];

enum bt_policy_kind {
	BT_POLICY_MUTATING,
	BT_POLICY_VALIDATING,
	BT_POLICY_KIND__COUNT,
};

/** An expression of a policy, and the entry that contains it. */
struct bt_policy_expression {
	const struct bt_json_value *source; /* validation, matchCondition, variable, ... */
	struct bt_str text;
	struct bt_cel_program *program; /* NULL: the expression does not compile */
	struct bt_cel_program *message; /* compiled messageExpression of a validation; NULL: none */
	enum bt_cel_mutation mutation;
};

struct bt_policy_expressions {
	struct bt_policy_expression *items;
	uint32_t count;
};

struct bt_policy {
	enum bt_policy_kind kind;
	struct bt_arena arena;
	struct bt_str name;
	const struct bt_json_value *spec;
	struct bt_policy_expressions conditions;
	struct bt_policy_expressions variables;
	struct bt_policy_expressions validations;
	struct bt_policy_expressions annotations;
	struct bt_policy_expressions mutations;
	struct bt_cel_variable declared[BT_POLICY__COUNT];
	/** By enum bt_cel_mutation. */
	struct bt_cel_environment environments[BT_CEL_MUTATION_PATCHES + 1];
	size_t bytes; /* memory of the compiled programs */
};

/** The bindings of one kind of policy, and the policies to which the bindings refer. */
struct bt_policy_set {
	BT_VEC(struct bt_policy *) policies;
	BT_VEC(const struct bt_json_value *) bindings;
};

/**
 * Returns the policies of this kind that are in force, borrowed until an object of the API group
 * changes. NULL: the kind has no bindings.
 */
const struct bt_policy_set *bt_policies_in_force(struct bt_api *api, enum bt_policy_kind kind);
/** Finds a policy of the set by its name. NULL: the set has no policy of this name. */
const struct bt_policy *bt_policy_set_find(const struct bt_policy_set *set, struct bt_str name);
/**
 * Applies the result of a mutation (`made`: an Object or JSONPatches) to *object. On failure
 * *object is unchanged. Defined in admission_mutation.c.
 */
BT_MUST_USE int bt_mutation_apply(struct bt_call *call, enum bt_cel_mutation mutation,
	const struct bt_cel_value *made, struct bt_json_value *object, struct berth_error *err);
#endif
