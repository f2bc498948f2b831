/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MutatingAdmissionPolicy and ValidatingAdmissionPolicy. Policies that have a binding are compiled
 * once; mutating ones change the object of a request, validating ones allow or deny the request.
 * Writes of controllers and the scheduler are subject to them, too.
 *
 * Fields of the object have type dyn in every expression, so type errors show only in evaluation.
 */
#include "base/alloc.h"
#include "base/vec.h"
#include "codec/json_same.h"
#include "codec/path.h"
#include "server/expression.h"
#include "server/kinds/common.h"
#include "server/rbac.h"
#include "server/write.h"

/** Largest CEL cost of all expressions of one policy for one request. */
#define POLICY_COST_MAX UINT64_C(10000000)
/** Memory limit of the compiled programs of one policy. */
#define PROGRAM_BYTES_MAX ((size_t)16 << 20)
#define REFUSED_BYTES 4096

enum variable {
	VARIABLE_OBJECT,
	VARIABLE_OLD_OBJECT,
	VARIABLE_REQUEST,
	VARIABLE_AUTHORIZER, /* the last variable of webhooks' matchConditions */
	VARIABLE_NAMESPACE_OBJECT,
	VARIABLE_VARIABLES,
	VARIABLE_PARAMS, /* the last variable: only in policies with a paramKind */
	VARIABLE__COUNT,
};

static const char *const variable_names[VARIABLE__COUNT] = {
	"object", "oldObject", "request", "authorizer", "namespaceObject", "variables", "params"};

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
static const struct bt_cel_object request_object = {BT_STR_INIT("kubernetes.AdmissionRequest"),
	request_fields, BT_ARRAY_LENGTH(request_fields), false};
static const struct bt_cel_type request_type = {.kind = BT_CEL_OBJECT, .object = &request_object};

enum policy_kind {
	POLICY_MUTATING,
	POLICY_VALIDATING,
	POLICY_KIND_COUNT,
};

/** An expression of a policy, and the entry that contains it. */
struct expression {
	const struct bt_json_value *source; /* validation, matchCondition, variable, ... */
	struct bt_str text;
	struct bt_cel_program *program;
	struct bt_cel_program *message; /* of a validation's messageExpression; NULL: none */
	enum bt_cel_mutation mutation;
};

struct expressions {
	struct expression *items;
	uint32_t count;
};

struct policy {
	enum policy_kind kind;
	struct bt_arena arena;
	struct bt_str name;
	const struct bt_json_value *spec;
	struct expressions conditions;
	struct expressions variables;
	struct expressions validations;
	struct expressions annotations;
	struct expressions mutations;
	struct bt_cel_variable declared[VARIABLE__COUNT];
	struct bt_cel_environment environments[BT_CEL_MUTATION_PATCHES + 1]; /* by mutation */
	size_t bytes;
};

/** All policies of one kind. */
struct policy_set {
	BT_VEC(struct policy *) policies;
	BT_VEC(const struct bt_json_value *) bindings;
};

struct bt_policies {
	struct bt_arena arena; /* memory of the bindings */
	struct policy_set sets[POLICY_KIND_COUNT];
};

/** --- compilation --- */

struct build {
	struct policy *policy;
	struct bt_field_errors *errors; /* or NULL */
	const struct bt_path *place;    /* place of the policy's spec */
};

static struct bt_cel_program *compile(struct build *build, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_cel_kind wanted, enum bt_cel_mutation mutation)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_program *program = NULL;
	struct policy *policy = build->policy;
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
	enum bt_cel_kind wanted, struct expressions *out)
{
	const struct bt_json_value *list = bt_json_array_at(build->policy->spec, name);
	out->items = BT_ARENA_NEW_ARRAY(&build->policy->arena, struct expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(BT_PATH_NAME(build->place, name), i);
		const struct bt_json_value *source = list->elements[i];
		struct expression *expression = &out->items[out->count++];
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

/** Declares the variables one by one: each sees only the earlier ones. */
static void compile_variables(struct build *build)
{
	struct policy *policy = build->policy;
	const struct bt_json_value *list = bt_json_array_at(policy->spec, "variables");
	struct bt_cel_variable *fields =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct bt_cel_variable, list->count);
	struct bt_cel_object *object = BT_ARENA_NEW(&policy->arena, struct bt_cel_object);
	struct bt_cel_type *type = BT_ARENA_NEW(&policy->arena, struct bt_cel_type);
	const struct bt_path *place = BT_PATH_NAME(build->place, "variables");
	*object = (struct bt_cel_object){.name = BT_STR("variables"), .fields = fields};
	*type = (struct bt_cel_type){.kind = BT_CEL_OBJECT, .object = object};
	policy->declared[VARIABLE_VARIABLES].type = type;
	policy->variables.items =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *source = list->elements[i];
		struct expression *variable = &policy->variables.items[policy->variables.count++];
		enum bt_cel_kind kind = BT_CEL_DYN;
		variable->source = source;
		variable->text = bt_kinds_text(source, "expression");
		variable->program = compile(build,
			BT_PATH_NAME(BT_PATH_INDEX(place, i), "expression"),
			bt_json_find(source, "expression"), BT_CEL_ANY, BT_CEL_MUTATION_NONE);
		if (variable->program != NULL) {
			kind = bt_cel_program_result(variable->program);
		}
		if (kind != BT_CEL_BOOL && kind != BT_CEL_INT && kind != BT_CEL_DOUBLE &&
			kind != BT_CEL_STRING) {
			kind = BT_CEL_DYN;
		}
		fields[object->field_count++] = (struct bt_cel_variable){
			bt_kinds_text(source, "name"), &bt_cel_types[kind]};
	}
}

static void compile_mutations(struct build *build)
{
	static const struct {
		const char *type;
		const char *member;
	} types[] = {[BT_CEL_MUTATION_APPLY] = {"ApplyConfiguration", "applyConfiguration"},
		[BT_CEL_MUTATION_PATCHES] = {"JSONPatch", "jsonPatch"}};
	struct policy *policy = build->policy;
	const struct bt_json_value *list = bt_json_array_at(policy->spec, "mutations");
	const struct bt_path *place = BT_PATH_NAME(build->place, "mutations");
	policy->mutations.items =
		BT_ARENA_NEW_ARRAY(&policy->arena, struct expression, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *source = list->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		struct bt_str given = bt_kinds_text(source, "patchType");
		struct expression *mutation = &policy->mutations.items[policy->mutations.count++];
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

static void policy_destroy(struct policy *policy)
{
	struct expressions *all[] = {&policy->conditions, &policy->variables, &policy->validations,
		&policy->annotations, &policy->mutations};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		for (uint32_t k = 0; k < all[i]->count; k++) {
			bt_cel_program_destroy(all[i]->items[k].program);
			bt_cel_program_destroy(all[i]->items[k].message);
		}
	}
	bt_arena_finish(&policy->arena);
	bt_free(policy);
}

static struct policy *policy_new(
	struct bt_str name, const struct bt_json_value *spec, uint32_t variable_count)
{
	struct policy *policy = BT_NEW(struct policy);
	bt_arena_init(&policy->arena, 1024);
	policy->name = bt_arena_str(&policy->arena, name);
	policy->spec = bt_json_clone(&policy->arena, spec, true);
	for (uint32_t i = 0; i < VARIABLE__COUNT; i++) {
		policy->declared[i] = (struct bt_cel_variable){bt_str_from(variable_names[i]),
			&bt_cel_types[i == VARIABLE_AUTHORIZER ? BT_CEL_AUTHORIZER : BT_CEL_DYN]};
	}
	policy->declared[VARIABLE_REQUEST].type = &request_type;
	for (int i = 0; i <= BT_CEL_MUTATION_PATCHES; i++) {
		policy->environments[i] = (struct bt_cel_environment){.variables = policy->declared,
			.variable_count = variable_count,
			.mutation = (enum bt_cel_mutation)i};
	}
	return policy;
}

static struct policy *policy_create(enum policy_kind kind, struct bt_str name,
	const struct bt_json_value *spec, struct bt_field_errors *errors)
{
	bool has_params = bt_kinds_object(spec, "paramKind") != NULL;
	struct policy *policy =
		policy_new(name, spec, has_params ? VARIABLE__COUNT : VARIABLE_PARAMS);
	struct build build = {policy, errors, BT_PATH_NAME(NULL, "spec")};
	policy->kind = kind;
	compile_variables(&build);
	compile_list(&build, "matchConditions", "expression", BT_CEL_BOOL, &policy->conditions);
	if (kind == POLICY_MUTATING) {
		compile_mutations(&build);
		return policy;
	}
	compile_list(&build, "validations", "expression", BT_CEL_BOOL, &policy->validations);
	compile_list(
		&build, "auditAnnotations", "valueExpression", BT_CEL_NULL, &policy->annotations);
	return policy;
}

static void check_policy(struct bt_check *check, const struct bt_path *place,
	const struct bt_json_value *spec, enum policy_kind kind)
{
	const struct bt_json_value *constraints = bt_kinds_object(spec, "matchConstraints");
	if (constraints != NULL && bt_json_array_at(constraints, "resourceRules")->count == 0) {
		bt_kinds_error_required(check->errors,
			BT_PATH_NAME(BT_PATH_NAME(place, "matchConstraints"), "resourceRules"));
	}
	policy_destroy(policy_create(kind, BT_STR(""), spec, check->errors));
}

void bt_rule_mutating_policy(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	check_policy(check, place, spec, POLICY_MUTATING);
}

void bt_rule_validating_policy(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_array_at(spec, "validations")->count == 0 &&
		bt_json_array_at(spec, "auditAnnotations")->count == 0) {
		static const char *const names[] = {"validations", "auditAnnotations"};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
			bt_kinds_error(check->errors, BT_FIELD_REQUIRED,
				BT_PATH_NAME(place, names[i]), NULL,
				"validations or auditAnnotations must be non-empty");
		}
	}
	check_policy(check, place, spec, POLICY_VALIDATING);
}

void bt_check_match_conditions(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *webhook)
{
	struct policy *policy = policy_new(BT_STR(""), webhook, VARIABLE_AUTHORIZER + 1);
	struct build build = {policy, errors, place};
	compile_list(&build, "matchConditions", "expression", BT_CEL_BOOL, &policy->conditions);
	policy_destroy(policy);
}

/** --- policies in force --- */

static const char admission_group[] = "admissionregistration.k8s.io";

void bt_policies_destroy(struct bt_policies *policies)
{
	if (policies == NULL) {
		return;
	}
	for (int kind = 0; kind < POLICY_KIND_COUNT; kind++) {
		struct policy_set *set = &policies->sets[kind];
		for (uint32_t i = 0; i < set->policies.count; i++) {
			policy_destroy(set->policies.items[i]);
		}
		bt_vec_finish(&set->policies);
		bt_vec_finish(&set->bindings);
	}
	bt_arena_finish(&policies->arena);
	bt_free(policies);
}

void bt_policies_changed(struct bt_api *api, const struct bt_api_resource *resource)
{
	if (strcmp(resource->group, admission_group) == 0) {
		bt_policies_destroy(api->policies);
		api->policies = NULL;
	}
}

static struct policy *find_policy(const struct policy_set *set, struct bt_str name)
{
	for (uint32_t i = 0; i < set->policies.count; i++) {
		if (bt_str_equal(set->policies.items[i]->name, name)) {
			return set->policies.items[i];
		}
	}
	return NULL;
}

/** Loads the bindings of a kind, and the policies that they name. */
static void load_kind(struct bt_api *api, enum policy_kind kind, struct bt_policies *policies)
{
	static const char *const names[][2] = {[POLICY_MUTATING] = {"mutatingadmissionpolicies",
						       "mutatingadmissionpolicybindings"},
		[POLICY_VALIDATING] = {
			"validatingadmissionpolicies", "validatingadmissionpolicybindings"}};
	const struct bt_api_resource *bindings =
		bt_resources_builtin(api->resources, admission_group, names[kind][1]);
	const struct bt_api_resource *resource =
		bt_resources_builtin(api->resources, admission_group, names[kind][0]);
	struct policy_set *set = &policies->sets[kind];
	struct bt_store_walk walk;
	struct bt_stored *stored;
	if (bt_store_walk_begin(api->options.store, bindings->collection, 0, BT_STR(""), BT_STR(""),
		    &walk, NULL) != 0) {
		return;
	}
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_json_value *binding = bt_json_clone(
			&policies->arena, bt_api_parse_stored(stored, &policies->arena), true);
		struct bt_str name = bt_json_text_at(binding, "spec.policyName");
		bt_vec_push(&set->bindings, binding);
		if (find_policy(set, name) == NULL) {
			const struct bt_json_value *policy =
				bt_api_read(api, resource, name, &policies->arena);
			if (policy != NULL) {
				bt_vec_push(&set->policies,
					policy_create(kind, name, bt_json_object_at(policy, "spec"),
						NULL));
			}
		}
	}
	bt_store_walk_end(&walk);
}

/** NULL: no policy of the kind is in force. */
static const struct policy_set *find_policies(struct bt_api *api, enum policy_kind kind)
{
	if (api->policies == NULL) {
		api->policies = BT_NEW(struct bt_policies);
		bt_arena_init(&api->policies->arena, 1024);
		for (int i = 0; i < POLICY_KIND_COUNT; i++) {
			load_kind(api, (enum policy_kind)i, api->policies);
		}
	}
	const struct policy_set *set = &api->policies->sets[kind];
	return set->bindings.count != 0 ? set : NULL;
}

bool bt_policies_exist(struct bt_api *api)
{
	return find_policies(api, POLICY_MUTATING) != NULL ||
		find_policies(api, POLICY_VALIDATING) != NULL;
}

/** --- matching --- */

struct request {
	struct bt_call *call;
	const char *operation; /* "CREATE", "UPDATE", "DELETE" */
	const struct bt_json_value *old;
	const struct bt_json_value *object;
	const struct bt_json_value *namespace_; /* NULL: cluster scope */
	struct bt_json_value *target;           /* the object that mutations change; or NULL */
	uint32_t change_count;                  /* mutations so far that changed target */
};

static bool has_word(const struct bt_json_value *list, struct bt_str word)
{
	return bt_json_has_text(list, BT_STR("*")) || bt_json_has_text(list, word);
}

static bool resources_match(const struct request *request, const struct bt_json_value *list)
{
	struct bt_str name = bt_str_from(request->call->write.resource->name);
	struct bt_str part = bt_str_from(bt_subresource_name(request->call->write.subresource));
	struct bt_arena *arena = request->call->arena;
	struct bt_str whole = part.length == 0
		? name
		: bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(name), BT_STR_ARG(part));
	return bt_json_has_text(list, BT_STR("*/*")) || bt_json_has_text(list, whole) ||
		(part.length == 0 && bt_json_has_text(list, BT_STR("*"))) ||
		bt_json_has_text(list, bt_arena_printf(arena, "%.*s/*", BT_STR_ARG(name))) ||
		(part.length != 0 &&
			bt_json_has_text(list, bt_arena_printf(arena, "*/%.*s", BT_STR_ARG(part))));
}

static bool rules_match(
	const struct request *request, const struct bt_json_value *rules, bool any_version)
{
	const struct bt_write *write = &request->call->write;
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct bt_json_value *rule = rules->elements[i];
		const struct bt_json_value *names = bt_json_array_at(rule, "resourceNames");
		struct bt_str scope = bt_kinds_text(rule, "scope");
		bool scoped = scope.length == 0 || bt_str_equal_c(scope, "*") ||
			bt_str_equal_c(
				scope, write->resource->namespaced ? "Namespaced" : "Cluster");
		if (scoped &&
			has_word(bt_json_array_at(rule, "operations"),
				bt_str_from(request->operation)) &&
			has_word(bt_json_array_at(rule, "apiGroups"),
				bt_str_from(write->resource->group)) &&
			(any_version ||
				has_word(bt_json_array_at(rule, "apiVersions"),
					bt_str_from(write->resource->version))) &&
			resources_match(request, bt_json_array_at(rule, "resources")) &&
			(names->count == 0 || bt_json_has_text(names, write->name))) {
			return true;
		}
	}
	return false;
}

static bool labels_match(const struct request *request, const struct bt_json_value *selector,
	const struct bt_json_value *object)
{
	return object != NULL &&
		bt_kinds_selector_matches(request->call->arena, selector,
			bt_json_object_at(object, "metadata.labels"));
}

/** Whether the request matches the constraints; match NULL: always. */
static bool is_matched(
	const struct request *request, const struct bt_json_value *match, bool needs_rule)
{
	const struct bt_json_value *rules = bt_json_array_at(match, "resourceRules");
	const struct bt_json_value *namespaces = bt_kinds_object(match, "namespaceSelector");
	const struct bt_json_value *objects = bt_kinds_object(match, "objectSelector");
	bool any_version = !bt_str_equal_c(bt_kinds_text(match, "matchPolicy"), "Exact");
	const struct bt_json_value *holder = request->namespace_;
	if (match == NULL) {
		return true;
	}
	if (request->call->write.resource == request->call->api->namespaces) {
		holder = request->object != NULL ? request->object : request->old;
	}
	if (((needs_rule || rules->count != 0) && !rules_match(request, rules, any_version)) ||
		rules_match(
			request, bt_json_array_at(match, "excludeResourceRules"), any_version)) {
		return false;
	}
	if (namespaces != NULL && holder != NULL && !labels_match(request, namespaces, holder)) {
		return false;
	}
	return objects == NULL || objects->count == 0 ||
		labels_match(request, objects, request->object) ||
		labels_match(request, objects, request->old);
}

/** --- evaluation --- */

/** Answers the authorizer calls of expressions; context is the request. */
static bool ask_authorizer(void *context, const struct bt_cel_access *asked, struct bt_arena *arena,
	struct bt_str *out_reason)
{
	const struct request *request = context;
	struct bt_user account;
	struct bt_str groups[] = {
		BT_STR("system:serviceaccounts"), BT_STR(""), BT_STR("system:authenticated")};
	struct bt_access access = {.user = request->call->write.user,
		.verb = asked->verb,
		.is_path = asked->is_path,
		.namespace_ = asked->namespace_,
		.group = asked->group,
		.resource = asked->resource,
		.subresource = asked->subresource,
		.name = asked->name,
		.path = asked->path};
	if (asked->account_name.data != NULL) {
		groups[1] = bt_arena_printf(
			arena, "system:serviceaccounts:%.*s", BT_STR_ARG(asked->account_namespace));
		account = (struct bt_user){.name = bt_account_user_name(arena,
						   asked->account_namespace, asked->account_name),
			.uid = BT_STR(""),
			.group_count = BT_ARRAY_LENGTH(groups),
			.groups = groups};
		access.user = &account;
	}
	return bt_api_authorize(request->call->api, &access, arena, out_reason);
}

struct evaluation {
	struct request *request;
	const struct policy *policy;
	const struct bt_json_value *binding;
	struct bt_cel_value values[VARIABLE__COUNT];
	uint64_t cost_left;
	bool denied;
};

static struct bt_cel_value text_value(const char *text)
{
	return bt_cel_string(bt_str_from(text));
}

/** The object as a CEL value with kind and apiVersion, as clients see it. */
static struct bt_cel_value object_value(
	const struct request *request, const struct bt_json_value *object)
{
	struct bt_arena *arena = request->call->arena;
	const struct bt_api_resource *resource = request->call->write.resource;
	if (object == NULL) {
		return (struct bt_cel_value){.kind = BT_CEL_NULL};
	}
	struct bt_json_value *whole = bt_json_clone(arena, object, false);
	bt_json_set_c(arena, whole, "kind", resource->kind);
	bt_json_set_str(arena, whole, "apiVersion", bt_resource_api_version(resource, arena));
	return bt_expression_value(NULL, whole, arena);
}

static struct bt_cel_value request_value(const struct request *request)
{
	static const char *const kind_names[] = {"group", "version", "kind"};
	static const char *const resource_names[] = {"group", "version", "resource"};
	static const char *const user_names[] = {"username", "uid", "groups", "extra"};
	struct bt_arena *arena = request->call->arena;
	const struct bt_write *write = &request->call->write;
	const struct bt_api_resource *resource = write->resource;
	struct bt_cel_value kind_values[] = {text_value(resource->group),
		text_value(resource->version), text_value(resource->kind)};
	struct bt_cel_value resource_values[] = {
		kind_values[0], kind_values[1], text_value(resource->name)};
	struct bt_cel_value *groups =
		BT_ARENA_NEW_ARRAY(arena, struct bt_cel_value, write->user->group_count);
	for (uint32_t i = 0; i < write->user->group_count; i++) {
		groups[i] = bt_cel_string(write->user->groups[i]);
	}
	struct bt_cel_value empty = bt_expression_object(NULL, NULL, 0, arena);
	struct bt_cel_value user_values[] = {bt_cel_string(write->user->name),
		bt_cel_string(write->user->uid),
		{.kind = BT_CEL_LIST, .list = {groups, write->user->group_count}}, empty};
	struct bt_cel_value kind = bt_expression_object(kind_names, kind_values, 3, arena);
	struct bt_cel_value name = bt_expression_object(resource_names, resource_values, 3, arena);
	struct bt_cel_value part = text_value(bt_subresource_name(write->subresource));
	struct bt_cel_value values[] = {kind, name, part, kind, name, part,
		bt_cel_string(write->name), bt_cel_string(write->namespace_),
		text_value(request->operation),
		bt_expression_object(user_names, user_values, 4, arena),
		bt_cel_bool(write->dry_run), empty};
	const char *names[BT_ARRAY_LENGTH(request_fields)];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		names[i] = request_fields[i].name.data;
	}
	return bt_expression_object(names, values, BT_ARRAY_LENGTH(values), arena);
}

static struct bt_cel_value evaluate(
	struct evaluation *evaluation, const struct bt_cel_program *program)
{
	struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	uint64_t cost = 0;
	if (program == NULL) {
		return bt_cel_error(BT_STR("the expression does not compile"));
	}
	if (evaluation->cost_left == 0) {
		return bt_cel_error(BT_STR("validation failed due to running out of cost budget, "
					   "no further validation rules will be run"));
	}
	if (limits.cost_max > evaluation->cost_left) {
		limits.cost_max = evaluation->cost_left;
	}
	limits.out_cost = &cost;
	struct bt_cel_value value = bt_cel_evaluate(
		program, evaluation->values, &limits, evaluation->request->call->arena);
	evaluation->cost_left -= cost < evaluation->cost_left ? cost : evaluation->cost_left;
	return value;
}

/** Denies the request with 422 or the code of the reason. The first denial is the answer. */
static void deny(struct evaluation *evaluation, struct bt_str reason, struct bt_str message)
{
	static const struct {
		const char *reason;
		uint16_t code;
	} reasons[] = {{"Invalid", 422}, {"Forbidden", 403}, {"Unauthorized", 401},
		{"RequestEntityTooLarge", 413}};
	struct bt_call *call = evaluation->request->call;
	struct bt_failure *failure = &call->answer->failure;
	size_t found = 0;
	if (failure->code != 0) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(reasons); i++) {
		found = bt_str_equal_c(reason, reasons[i].reason) ? i : found;
	}
	struct bt_str text =
		bt_arena_printf(call->arena, "%s '%.*s' with binding '%.*s' denied request: %.*s",
			evaluation->policy->kind == POLICY_MUTATING ? "policy"
								    : "ValidatingAdmissionPolicy",
			BT_STR_ARG(evaluation->policy->name),
			BT_STR_ARG(bt_json_text_at(evaluation->binding, "metadata.name")),
			BT_STR_ARG(message));
	(void)bt_fail_forbidden(failure, call->arena, call->write.resource, call->write.name, text);
	failure->code = reasons[found].code;
	failure->reason = reasons[found].reason;
	failure->causes = BT_ARENA_NEW(call->arena, struct bt_failure_cause);
	failure->causes->message = text;
	evaluation->denied = true;
}

static void act(struct evaluation *evaluation, struct bt_str reason, struct bt_str message)
{
	const struct bt_json_value *actions =
		bt_json_array_at(evaluation->binding, "spec.validationActions");
	if (evaluation->policy->kind == POLICY_MUTATING ||
		bt_json_has_text(actions, BT_STR("Deny"))) {
		deny(evaluation, reason, message);
	}
	if (bt_json_has_text(actions, BT_STR("Warn"))) {
		bt_call_warn(evaluation->request->call,
			"Validation failed for ValidatingAdmissionPolicy '%.*s' with binding "
			"'%.*s': %.*s",
			BT_STR_ARG(evaluation->policy->name),
			BT_STR_ARG(bt_json_text_at(evaluation->binding, "metadata.name")),
			BT_STR_ARG(message));
	}
}

/** Denies the request because an expression failed, unless failurePolicy is Ignore. */
static void act_on_failure(struct evaluation *evaluation, struct bt_str text)
{
	if (!bt_str_equal_c(bt_kinds_text(evaluation->policy->spec, "failurePolicy"), "Ignore")) {
		act(evaluation, BT_STR("Invalid"), text);
	}
}

static void act_on_error(struct evaluation *evaluation, const struct expression *expression,
	const struct bt_cel_value *error)
{
	act_on_failure(evaluation,
		bt_arena_printf(evaluation->request->call->arena,
			"expression '%.*s' resulted in error: %.*s", BT_STR_ARG(expression->text),
			BT_STR_ARG(error->text)));
}

static void set_variables(struct evaluation *evaluation)
{
	const struct expressions *variables = &evaluation->policy->variables;
	struct bt_arena *arena = evaluation->request->call->arena;
	struct bt_cel_entry *entries =
		BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, variables->count);
	struct bt_cel_map *map = BT_ARENA_NEW(arena, struct bt_cel_map);
	*map = (struct bt_cel_map){.entries = entries};
	evaluation->values[VARIABLE_VARIABLES] =
		(struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
	/* A variable that fails is an error only in the expressions that use it. */
	for (uint32_t i = 0; i < variables->count; i++) {
		const struct expression *variable = &variables->items[i];
		entries[i].key = bt_cel_string(bt_kinds_text(variable->source, "name"));
		entries[i].value = evaluate(evaluation, variable->program);
		map->count++;
	}
}

/** false: a condition is false or its evaluation failed. */
static bool conditions_hold(struct evaluation *evaluation)
{
	const struct expressions *conditions = &evaluation->policy->conditions;
	const struct expression *failed = NULL;
	struct bt_cel_value error = {.kind = BT_CEL_NULL};
	for (uint32_t i = 0; i < conditions->count; i++) {
		struct bt_cel_value value = evaluate(evaluation, conditions->items[i].program);
		if (value.kind == BT_CEL_BOOL && !value.boolean) {
			return false;
		}
		if (bt_cel_is_error(&value) && failed == NULL) {
			failed = &conditions->items[i];
			error = value;
		}
	}
	if (failed != NULL) {
		act_on_error(evaluation, failed, &error);
	}
	return failed == NULL;
}

/** Applies the mutations in order; each sees the result of the previous one. */
static void mutate(struct evaluation *evaluation)
{
	const struct expressions *mutations = &evaluation->policy->mutations;
	struct request *request = evaluation->request;
	for (uint32_t i = 0; i < mutations->count && !evaluation->denied; i++) {
		const struct expression *mutation = &mutations->items[i];
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_cel_value value = evaluate(evaluation, mutation->program);
		if (bt_cel_is_error(&value)) {
			act_on_error(evaluation, mutation, &value);
			continue;
		}
		const struct bt_json_value before = *request->target;
		if (bt_mutation_apply(request->call, mutation->mutation, &value, request->target,
			    &err) != 0) {
			act_on_failure(evaluation,
				bt_arena_printf(
					request->call->arena, "%s", berth_error_message(&err)));
		} else if (!bt_json_same(&before, request->target)) {
			request->change_count++;
			evaluation->values[VARIABLE_OBJECT] =
				object_value(request, request->target);
			set_variables(evaluation);
		}
		berth_error_finish(&err);
	}
}

static void evaluate_policy(struct evaluation *evaluation, const struct bt_json_value *params)
{
	const struct policy *policy = evaluation->policy;
	const struct request *request = evaluation->request;
	struct bt_arena *arena = request->call->arena;
	evaluation->values[VARIABLE_PARAMS] = bt_expression_value(NULL, params, arena);
	set_variables(evaluation);
	if (!conditions_hold(evaluation)) {
		return;
	}
	if (policy->kind == POLICY_MUTATING) {
		mutate(evaluation);
		return;
	}
	for (uint32_t i = 0; i < policy->validations.count; i++) {
		const struct expression *validation = &policy->validations.items[i];
		struct bt_cel_value value = evaluate(evaluation, validation->program);
		struct bt_str message = bt_kinds_text(validation->source, "message");
		if (bt_cel_is_error(&value)) {
			act_on_error(evaluation, validation, &value);
		} else if (value.kind == BT_CEL_BOOL && !value.boolean) {
			if (validation->message != NULL) {
				struct bt_cel_value text =
					evaluate(evaluation, validation->message);
				message = text.kind == BT_CEL_STRING && text.text.length != 0
					? text.text
					: message;
			}
			if (message.length == 0) {
				message = bt_arena_printf(arena, "failed expression: %.*s",
					BT_STR_ARG(validation->text));
			}
			act(evaluation, bt_kinds_text(validation->source, "reason"), message);
		}
	}
	for (uint32_t i = 0; i < policy->annotations.count; i++) {
		struct bt_cel_value value =
			evaluate(evaluation, policy->annotations.items[i].program);
		if (bt_cel_is_error(&value)) {
			act_on_error(evaluation, &policy->annotations.items[i], &value);
		}
	}
}

/** Evaluates the policy with each object that the binding's paramRef selects. */
static void evaluate_with_params(struct evaluation *evaluation)
{
	const struct request *request = evaluation->request;
	struct bt_call *call = request->call;
	const struct bt_json_value *kind = bt_kinds_object(evaluation->policy->spec, "paramKind");
	const struct bt_json_value *ref = bt_json_find_path(evaluation->binding, "spec.paramRef");
	struct bt_str name = bt_kinds_text(ref, "name");
	struct bt_str namespace_ = bt_kinds_text(ref, "namespace");
	uint32_t found = 0;
	if (kind == NULL || ref == NULL) {
		evaluate_policy(evaluation, NULL);
		return;
	}
	const struct bt_api_resource *resource = bt_resources_find_kind(call->api->resources,
		bt_kinds_text(kind, "apiVersion"), bt_kinds_text(kind, "kind"));
	if (resource == NULL) {
		act(evaluation, BT_STR("Invalid"),
			bt_arena_printf(call->arena,
				"failed to configure policy: failed to find resource referenced by "
				"paramKind: '%.*s, Kind=%.*s'",
				BT_STR_ARG(bt_kinds_text(kind, "apiVersion")),
				BT_STR_ARG(bt_kinds_text(kind, "kind"))));
		return;
	}
	if (!resource->namespaced) {
		namespace_ = BT_STR("");
	} else if (namespace_.length == 0) {
		namespace_ = call->write.namespace_;
	}
	if (name.length != 0) {
		const struct bt_json_value *params = bt_api_read(call->api, resource,
			bt_api_key(call->arena, namespace_, name), call->arena);
		if (params != NULL) {
			found++;
			evaluate_policy(evaluation, params);
		}
	} else {
		struct bt_store_walk walk;
		struct bt_stored *stored;
		struct bt_str prefix = namespace_.length != 0
			? bt_arena_printf(call->arena, "%.*s/", BT_STR_ARG(namespace_))
			: BT_STR("");
		if (bt_store_walk_begin(call->api->options.store, resource->collection, 0, prefix,
			    BT_STR(""), &walk, NULL) == 0) {
			while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
				const struct bt_json_value *params =
					bt_api_parse_stored(stored, call->arena);
				if (labels_match(
					    request, bt_kinds_object(ref, "selector"), params)) {
					found++;
					evaluate_policy(evaluation, params);
				}
			}
			bt_store_walk_end(&walk);
		}
	}
	if (found == 0 && !bt_str_equal_c(bt_kinds_text(ref, "parameterNotFoundAction"), "Allow")) {
		act_on_failure(evaluation,
			BT_STR("no params found for policy binding with `Deny` "
			       "parameterNotFoundAction"));
	}
}

/** One request that passes through the policies of a kind. */
struct run {
	struct request request;
	struct bt_cel_authorizer authorizer;
	struct bt_cel_access access;
	struct bt_cel_value values[VARIABLE__COUNT]; /* request is null until a policy uses it */
	uint32_t change_count;                       /* request's count when values were set */
};

/** Objects of the policies' API group are exempt from policies. */
static bool is_exempt(const struct bt_call *call)
{
	return call->write.restoring || strcmp(call->write.resource->group, admission_group) == 0;
}

static void run_init(struct run *run, struct bt_call *call, const char *operation,
	const struct bt_json_value *old, const struct bt_json_value *object)
{
	*run = (struct run){.request = {call, operation, old, object, NULL, NULL, 0},
		.authorizer = {&run->request, ask_authorizer},
		.access = {.authorizer = &run->authorizer,
			.group = BT_STR(""),
			.resource = BT_STR(""),
			.subresource = BT_STR(""),
			.namespace_ = BT_STR(""),
			.name = BT_STR(""),
			.path = BT_STR("")}};
	if (call->write.namespace_.length != 0) {
		run->request.namespace_ = bt_api_read(
			call->api, call->api->namespaces, call->write.namespace_, call->arena);
	}
}

/** false: the binding's policy does not exist, or the request does not match. */
static bool run_policy(
	struct run *run, const struct policy_set *set, const struct bt_json_value *binding)
{
	struct request *request = &run->request;
	const struct policy *policy = find_policy(set, bt_json_text_at(binding, "spec.policyName"));
	if (policy == NULL ||
		!is_matched(request, bt_kinds_object(policy->spec, "matchConstraints"), true) ||
		!is_matched(request, bt_json_find_path(binding, "spec.matchResources"), false)) {
		return false;
	}
	if (run->values[VARIABLE_REQUEST].kind == BT_CEL_NULL) {
		run->values[VARIABLE_OLD_OBJECT] = object_value(request, request->old);
		run->values[VARIABLE_REQUEST] = request_value(request);
		run->values[VARIABLE_NAMESPACE_OBJECT] =
			bt_expression_value(NULL, request->namespace_, request->call->arena);
		run->values[VARIABLE_AUTHORIZER] =
			(struct bt_cel_value){.kind = BT_CEL_AUTHORIZER, .access = &run->access};
		run->change_count = UINT32_MAX;
	}
	if (run->change_count != request->change_count) {
		run->values[VARIABLE_OBJECT] = object_value(request, request->object);
		run->change_count = request->change_count;
	}
	struct evaluation evaluation = {request, policy, binding, {{0}}, POLICY_COST_MAX, false};
	memcpy(evaluation.values, run->values, sizeof(run->values));
	evaluate_with_params(&evaluation);
	return true;
}

bool bt_policies_validate(struct bt_call *call, const char *operation,
	const struct bt_json_value *old, const struct bt_json_value *object)
{
	const struct policy_set *set = find_policies(call->api, POLICY_VALIDATING);
	struct run run;
	if (set == NULL || is_exempt(call)) {
		return true;
	}
	run_init(&run, call, operation, old, object);
	for (uint32_t i = 0; i < set->bindings.count; i++) {
		(void)run_policy(&run, set, set->bindings.items[i]);
	}
	return call->answer->failure.code == 0;
}

bool bt_policies_mutate(
	struct bt_call *call, const struct bt_json_value *old, struct bt_json_value *object)
{
	const struct policy_set *set = find_policies(call->api, POLICY_MUTATING);
	const struct bt_failure *failure = &call->answer->failure;
	struct run run;
	if (set == NULL || is_exempt(call)) {
		return true;
	}
	run_init(&run, call, old != NULL ? "UPDATE" : "CREATE", old, object);
	run.request.target = object;
	/*
	 * Per binding: the change count after its policy ran, plus one; 0: the policy does not
	 * match.
	 */
	uint32_t *seen = BT_ARENA_NEW_ARRAY(call->arena, uint32_t, set->bindings.count);
	for (uint32_t i = 0; i < set->bindings.count && failure->code == 0; i++) {
		if (run_policy(&run, set, set->bindings.items[i])) {
			seen[i] = run.request.change_count + 1;
		}
	}
	if (run.request.change_count == 0 || failure->code != 0) {
		return failure->code == 0;
	}
	const struct bt_json_value *before = bt_json_clone(call->arena, object, false);
	bt_admit(&call->write, old, object, &call->answer->failure);
	if (!bt_json_same(before, object)) {
		run.request.change_count++;
	}
	for (uint32_t i = 0; i < set->bindings.count && failure->code == 0; i++) {
		const struct bt_json_value *binding = set->bindings.items[i];
		const struct policy *policy =
			find_policy(set, bt_json_text_at(binding, "spec.policyName"));
		if (seen[i] != 0 && seen[i] != run.request.change_count + 1 &&
			bt_str_equal_c(
				bt_kinds_text(policy->spec, "reinvocationPolicy"), "IfNeeded")) {
			(void)run_policy(&run, set, binding);
		}
	}
	return failure->code == 0;
}
