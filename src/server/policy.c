/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy.h"

#include "base/alloc.h"
#include "codec/path.h"
#include "server/kinds/common.h"

/** Memory limit of the compiled programs of one policy. */
#define PROGRAM_BYTES_MAX ((size_t)16 << 20)
/** An expression that does not compile counts as this many bytes. */
#define REFUSED_BYTES 4096

static const char *const variable_names[BT_POLICY__COUNT] = {"object", "oldObject", "request",
	"authorizer.requestResource", "authorizer", "namespaceObject", "variables", "params"};

static const struct bt_cel_variable request_fields[] = {
	{BT_STR_INIT("kind"), &bt_cel_types[BT_CEL_DYN]},
	{BT_STR_INIT("resource"), &bt_cel_types[BT_CEL_DYN]},
	{BT_STR_INIT("subResource"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("requestKind"), &bt_cel_types[BT_CEL_DYN]},
	{BT_STR_INIT("requestResource"), &bt_cel_types[BT_CEL_DYN]},
	{BT_STR_INIT("requestSubResource"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("name"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("namespace"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("operation"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("userInfo"), &bt_cel_types[BT_CEL_DYN]},
	{BT_STR_INIT("dryRun"), &bt_cel_types[BT_CEL_BOOL]},
	{BT_STR_INIT("options"), &bt_cel_types[BT_CEL_DYN]},
};
const struct bt_cel_object bt_policy_request = {BT_STR_INIT("kubernetes.AdmissionRequest"),
	request_fields, BT_ARRAY_LENGTH(request_fields), false};
static const struct bt_cel_type request_type = {
	.kind = BT_CEL_OBJECT, .object = &bt_policy_request};

struct bt_policies {
	struct bt_arena arena; /* memory of the bindings */
	struct bt_policy_set sets[BT_POLICY_KIND__COUNT];
};

/** --- compilation --- */

struct build {
	struct bt_policy *policy;
	struct bt_field_errors *errors; /* or NULL */
	const struct bt_path *place;    /* path of the policy's spec, or of the webhook */
};

static struct bt_cel_program *compile(struct build *build, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_cel_kind wanted, enum bt_cel_mutation mutation)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_program *program = NULL;
	struct bt_policy *policy = build->policy;
	const char *refusal = NULL;
	if (value == NULL || value->type != BT_JSON_STRING || value->text.length == 0) {
		return NULL;
	}
	if (policy->bytes > PROGRAM_BYTES_MAX) {
		refusal = "the expressions of the policy take too much memory";
	} else if (bt_cel_compile(value->text, &policy->environments[mutation], &program, &err) <
		0) {
		refusal = berth_error_message(&err);
		policy->bytes += REFUSED_BYTES;
	} else {
		enum bt_cel_kind result = bt_cel_program_result(program);
		policy->bytes += bt_cel_program_bytes(program);
		if (wanted == BT_CEL_BOOL && result != BT_CEL_BOOL) {
			refusal = "must evaluate to bool";
		} else if (wanted == BT_CEL_STRING && result != BT_CEL_STRING) {
			refusal = "must evaluate to string";
		} else if (wanted == BT_CEL_NULL && result != BT_CEL_STRING &&
			result != BT_CEL_NULL && result != BT_CEL_DYN) {
			refusal = "must evaluate to one of [string null_type]";
		}
	}
	if (refusal != NULL) {
		if (build->errors != NULL) {
			bt_kinds_error(
				build->errors, BT_FIELD_INVALID, place, value, "%s", refusal);
		}
		bt_cel_program_destroy(program);
		program = NULL;
	}
	berth_error_finish(&err);
	return program;
}

static void compile_list(struct build *build, const char *name, const char *member,
	enum bt_cel_kind wanted, struct bt_policy_expressions *out)
{
	const struct bt_json_value *list = bt_json_array_at(build->policy->spec, name);
	out->items =
		BT_ARENA_NEW_ARRAY(&build->policy->arena, struct bt_policy_expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(BT_PATH_NAME(build->place, name), i);
		const struct bt_json_value *source = list->elements[i];
		struct bt_policy_expression *expression = &out->items[out->count++];
		expression->source = source;
		expression->text = bt_kinds_text(source, member);
		if (expression->text.length == 0 && build->errors != NULL) {
			bt_kinds_error(build->errors, BT_FIELD_REQUIRED, BT_PATH_NAME(&at, member),
				NULL, "%s is not specified", member);
		}
		expression->program = compile(build, BT_PATH_NAME(&at, member),
			bt_json_find(source, member), wanted, BT_CEL_MUTATION_NONE);
		expression->message = wanted != BT_CEL_BOOL
			? NULL
			: compile(build, BT_PATH_NAME(&at, "messageExpression"),
				  bt_json_find(source, "messageExpression"), BT_CEL_STRING,
				  BT_CEL_MUTATION_NONE);
	}
}

static void compile_mutations(struct build *build)
{
	static const struct {
		const char *type;
		const char *member;
	} types[] = {[BT_CEL_MUTATION_APPLY] = {"ApplyConfiguration", "applyConfiguration"},
		[BT_CEL_MUTATION_PATCHES] = {"JSONPatch", "jsonPatch"}};
	struct bt_policy *policy = build->policy;
	const struct bt_json_value *list = bt_json_array_at(policy->spec, "mutations");
	const struct bt_path *place = BT_PATH_NAME(build->place, "mutations");
	policy->mutations.items =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct bt_policy_expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *source = list->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		struct bt_str given = bt_kinds_text(source, "patchType");
		struct bt_policy_expression *mutation =
			&policy->mutations.items[policy->mutations.count++];
		mutation->source = source;
		mutation->text = BT_STR("");
		for (int type = BT_CEL_MUTATION_APPLY; type <= BT_CEL_MUTATION_PATCHES; type++) {
			const struct bt_path part = *BT_PATH_NAME(&at, types[type].member);
			const struct bt_json_value *object =
				bt_kinds_object(source, types[type].member);
			if (bt_str_equal_c(given, types[type].type)) {
				mutation->mutation = (enum bt_cel_mutation)type;
				mutation->text = bt_kinds_text(object, "expression");
				mutation->program =
					compile(build, BT_PATH_NAME(&part, "expression"),
						bt_json_find(object, "expression"), BT_CEL_ANY,
						mutation->mutation);
			}
			if (build->errors == NULL || given.length == 0) {
				continue;
			}
			if (!bt_str_equal_c(given, types[type].type)) {
				if (object != NULL) {
					bt_kinds_error(build->errors, BT_FIELD_FORBIDDEN, &part,
						NULL,
						"must not be specified when patchType is %.*s",
						BT_STR_ARG(given));
				}
			} else if (object == NULL) {
				bt_kinds_error(build->errors, BT_FIELD_REQUIRED, &part, NULL,
					"must be specified when patchType is %.*s",
					BT_STR_ARG(given));
			} else if (mutation->text.length == 0) {
				bt_kinds_error_required(
					build->errors, BT_PATH_NAME(&part, "expression"));
			}
		}
	}
}

static void policy_destroy(struct bt_policy *policy)
{
	struct bt_policy_expressions *all[] = {&policy->conditions, &policy->variables,
		&policy->validations, &policy->annotations, &policy->mutations};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		for (uint32_t k = 0; k < all[i]->count; k++) {
			bt_cel_program_destroy(all[i]->items[k].program);
			bt_cel_program_destroy(all[i]->items[k].message);
		}
	}
	bt_arena_finish(&policy->arena);
	bt_free(policy);
}

static struct bt_policy *policy_new(
	struct bt_str name, const struct bt_json_value *spec, uint32_t variable_count)
{
	struct bt_policy *policy = BT_NEW(struct bt_policy);
	bt_arena_init(&policy->arena, 1024);
	policy->name = bt_arena_str(&policy->arena, name);
	policy->spec = bt_json_clone(&policy->arena, spec, true);
	for (uint32_t i = 0; i < BT_POLICY__COUNT; i++) {
		policy->declared[i] = (struct bt_cel_variable){bt_str_from(variable_names[i]),
			&bt_cel_types[i == BT_POLICY_AUTHORIZER ? BT_CEL_AUTHORIZER : BT_CEL_DYN]};
	}
	policy->declared[BT_POLICY_REQUEST].type = &request_type;
	policy->declared[BT_POLICY_REQUEST_RESOURCE].type = &bt_cel_types[BT_CEL_RESOURCE_CHECK];
	for (int i = 0; i <= BT_CEL_MUTATION_PATCHES; i++) {
		policy->environments[i] = (struct bt_cel_environment){.variables = policy->declared,
			.variable_count = variable_count,
			.mutation = (enum bt_cel_mutation)i};
	}
	return policy;
}

static struct bt_policy *policy_create(enum bt_policy_kind kind, struct bt_str name,
	const struct bt_json_value *spec, struct bt_field_errors *errors)
{
	bool has_params = bt_kinds_object(spec, "paramKind") != NULL;
	struct bt_policy *policy =
		policy_new(name, spec, has_params ? BT_POLICY__COUNT : BT_POLICY_PARAMS);
	struct build build = {policy, errors, BT_PATH_NAME(NULL, "spec")};
	policy->kind = kind;
	/* Declares the variables one by one, so that an expression sees only earlier variables. */
	const struct bt_json_value *list = bt_json_array_at(policy->spec, "variables");
	struct bt_cel_variable *fields =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct bt_cel_variable, list->count);
	struct bt_cel_object *object = BT_ARENA_NEW(&policy->arena, struct bt_cel_object);
	struct bt_cel_type *type = BT_ARENA_NEW(&policy->arena, struct bt_cel_type);
	const struct bt_path *place = BT_PATH_NAME(build.place, "variables");
	*object = (struct bt_cel_object){.name = BT_STR("variables"), .fields = fields};
	*type = (struct bt_cel_type){.kind = BT_CEL_OBJECT, .object = object};
	policy->declared[BT_POLICY_VARIABLES].type = type;
	policy->variables.items =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct bt_policy_expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *source = list->elements[i];
		struct bt_policy_expression *variable =
			&policy->variables.items[policy->variables.count++];
		enum bt_cel_kind result = BT_CEL_DYN;
		variable->source = source;
		variable->text = bt_kinds_text(source, "expression");
		variable->program = compile(&build,
			BT_PATH_NAME(BT_PATH_INDEX(place, i), "expression"),
			bt_json_find(source, "expression"), BT_CEL_ANY, BT_CEL_MUTATION_NONE);
		if (variable->program != NULL) {
			result = bt_cel_program_result(variable->program);
		}
		if (result != BT_CEL_BOOL && result != BT_CEL_INT && result != BT_CEL_DOUBLE &&
			result != BT_CEL_STRING) {
			result = BT_CEL_DYN;
		}
		fields[object->field_count++] = (struct bt_cel_variable){
			bt_kinds_text(source, "name"), &bt_cel_types[result]};
	}
	compile_list(&build, "matchConditions", "expression", BT_CEL_BOOL, &policy->conditions);
	if (kind == BT_POLICY_MUTATING) {
		compile_mutations(&build);
		return policy;
	}
	compile_list(&build, "validations", "expression", BT_CEL_BOOL, &policy->validations);
	compile_list(
		&build, "auditAnnotations", "valueExpression", BT_CEL_NULL, &policy->annotations);
	return policy;
}

void bt_rule_mutating_policy(struct bt_check *check, BT_UNUSED const struct bt_path *place,
	const struct bt_json_value *spec)
{
	policy_destroy(policy_create(BT_POLICY_MUTATING, BT_STR(""), spec, check->errors));
}

void bt_rule_validating_policy(struct bt_check *check, BT_UNUSED const struct bt_path *place,
	const struct bt_json_value *spec)
{
	policy_destroy(policy_create(BT_POLICY_VALIDATING, BT_STR(""), spec, check->errors));
}

void bt_rule_match_conditions(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *webhook)
{
	struct bt_policy *policy = policy_new(BT_STR(""), webhook, BT_POLICY_AUTHORIZER + 1);
	struct build build = {policy, check->errors, place};
	compile_list(&build, "matchConditions", "expression", BT_CEL_BOOL, &policy->conditions);
	policy_destroy(policy);
}

/** --- policies in force --- */

const char bt_policy_group[] = "admissionregistration.k8s.io";

void bt_policies_destroy(struct bt_policies *policies)
{
	if (policies == NULL) {
		return;
	}
	for (int kind = 0; kind < BT_POLICY_KIND__COUNT; kind++) {
		struct bt_policy_set *set = &policies->sets[kind];
		bt_vec_finish_each(&set->policies, policy_destroy(*each));
		bt_vec_finish(&set->bindings);
	}
	bt_arena_finish(&policies->arena);
	bt_free(policies);
}

void bt_policies_changed(struct bt_api *api, const struct bt_api_resource *resource)
{
	if (strcmp(resource->group, bt_policy_group) == 0) {
		bt_policies_destroy(api->policies);
		api->policies = NULL;
	}
}

const struct bt_policy *bt_policy_set_find(const struct bt_policy_set *set, struct bt_str name)
{
	for (uint32_t i = 0; i < set->policies.count; i++) {
		if (bt_str_equal(set->policies.items[i]->name, name)) {
			return set->policies.items[i];
		}
	}
	return NULL;
}

/** Loads the bindings of one kind of policy, and the policies to which the bindings refer. */
static void load_kind(struct bt_api *api, enum bt_policy_kind kind, struct bt_policies *policies)
{
	static const char *const names[][2] = {[BT_POLICY_MUTATING] = {"mutatingadmissionpolicies",
						       "mutatingadmissionpolicybindings"},
		[BT_POLICY_VALIDATING] = {
			"validatingadmissionpolicies", "validatingadmissionpolicybindings"}};
	const struct bt_api_resource *bindings =
		bt_resources_builtin(api->resources, bt_policy_group, names[kind][1]);
	const struct bt_api_resource *resource =
		bt_resources_builtin(api->resources, bt_policy_group, names[kind][0]);
	struct bt_policy_set *set = &policies->sets[kind];
	BT_STORE_EACH (stored, api->options.store, bindings->collection, BT_STR("")) {
		const struct bt_json_value *binding = bt_json_clone(
			&policies->arena, bt_api_parse_stored(stored, &policies->arena), true);
		struct bt_str name = bt_json_text_at(binding, "spec.policyName");
		bt_vec_push(&set->bindings, binding);
		if (bt_policy_set_find(set, name) == NULL) {
			const struct bt_json_value *policy =
				bt_api_read(api, resource, name, &policies->arena);
			if (policy != NULL) {
				bt_vec_push(&set->policies,
					policy_create(kind, name, bt_json_object_at(policy, "spec"),
						NULL));
			}
		}
	}
}

const struct bt_policy_set *bt_policies_in_force(struct bt_api *api, enum bt_policy_kind kind)
{
	if (api->policies == NULL) {
		api->policies = BT_NEW(struct bt_policies);
		bt_arena_init(&api->policies->arena, 1024);
		for (int i = 0; i < BT_POLICY_KIND__COUNT; i++) {
			load_kind(api, (enum bt_policy_kind)i, api->policies);
		}
	}
	const struct bt_policy_set *set = &api->policies->sets[kind];
	return set->bindings.count != 0 ? set : NULL;
}
