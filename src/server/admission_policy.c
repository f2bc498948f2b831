/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs the admission policies in force on a request: mutating policies change its object,
 * validating policies allow or deny the request. Writes of controllers and the scheduler are
 * subject to policies, too.
 */
#include "server/discovery.h"
#include "server/kinds/common.h"
#include "server/policy.h"
#include "server/rbac.h"

/** Largest total CEL cost of one policy's expressions for one request. */
#define POLICY_COST_MAX UINT64_C(10000000)

/** --- matching --- */

struct request {
	struct bt_call *call;
	struct bt_discovery_kind kind; /* of the objects */
	const char *operation;         /* "CREATE", "UPDATE", "DELETE", "CONNECT" */
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

static bool rules_match(
	const struct request *request, const struct bt_json_value *rules, bool any_version)
{
	const struct bt_write *write = &request->call->write;
	struct bt_arena *arena = request->call->arena;
	struct bt_str name = bt_str_from(write->resource->name);
	if (rules->count == 0) {
		return false;
	}
	struct bt_str part = bt_str_from(bt_subresource_name(write->subresource));
	bool has_part = part.length != 0;
	struct bt_str any_part = bt_arena_printf(arena, "%.*s/*", BT_STR_ARG(name));
	struct bt_str any_name = bt_arena_printf(arena, "*/%.*s", BT_STR_ARG(part));
	struct bt_str whole = has_part
		? bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(name), BT_STR_ARG(part))
		: name;
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct bt_json_value *rule = rules->elements[i];
		const struct bt_json_value *resources = bt_json_array_at(rule, "resources");
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
			(bt_json_has_text(resources, BT_STR("*/*")) ||
				bt_json_has_text(resources, whole) ||
				bt_json_has_text(resources, any_part) ||
				bt_json_has_text(resources, has_part ? any_name : BT_STR("*"))) &&
			(names->count == 0 || bt_json_has_text(names, write->name))) {
			return true;
		}
	}
	return false;
}

static bool labels_match(const struct bt_json_value *selector, const struct bt_json_value *object)
{
	return object != NULL &&
		bt_kinds_selector_matches(selector, bt_json_object_at(object, "metadata.labels"));
}

/**
 * Returns whether the request matches the constraints. `match` NULL: the request matches.
 * `needs_rule`: constraints without resourceRules match nothing instead of everything.
 */
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
	if (namespaces != NULL && holder != NULL && !labels_match(namespaces, holder)) {
		return false;
	}
	return objects == NULL || objects->count == 0 || labels_match(objects, request->object) ||
		labels_match(objects, request->old);
}

/** --- evaluation --- */

/** Answers the authorizer calls of expressions; context is the request. */
static bool check_access(void *context, const struct bt_cel_access *asked, struct bt_arena *arena,
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
	const struct bt_policy *policy;
	const struct bt_json_value *binding;
	struct bt_cel_value values[BT_POLICY__COUNT];
	uint64_t cost_left;
	bool denied;
};

static struct bt_cel_value text_value(const char *text)
{
	return bt_cel_string(bt_str_from(text));
}

/** Returns the object as a CEL value with kind and apiVersion, as clients see it. */
static struct bt_cel_value object_value(
	const struct request *request, const struct bt_json_value *object)
{
	struct bt_arena *arena = request->call->arena;
	if (object == NULL) {
		return (struct bt_cel_value){.kind = BT_CEL_NULL};
	}
	struct bt_json_value *whole = bt_json_clone(arena, object, false);
	bt_json_put(arena, whole, "{kind: %c, apiVersion: %s}", request->kind.kind,
		bt_arena_printf(arena, "%s%s%s", request->kind.group,
			request->kind.group[0] != '\0' ? "/" : "", request->kind.version));
	return bt_expression_value(NULL, whole, arena);
}

/** Returns the options of the operation: CreateOptions, ...; null for CONNECT. */
static struct bt_cel_value options_value(const struct request *request)
{
	static const char *const propagations[] = {NULL, "Background", "Foreground", "Orphan"};
	static const char *const validations[] = {"Ignore", "Warn", "Strict"};
	const struct bt_api_request *asked = request->call->request;
	struct bt_arena *arena = request->call->arena;
	const char *kind = strcmp(request->operation, "CREATE") == 0 ? "CreateOptions"
		: strcmp(request->operation, "UPDATE") == 0          ? "UpdateOptions"
								     : "DeleteOptions";
	if (strcmp(request->operation, "CONNECT") == 0) {
		return (struct bt_cel_value){.kind = BT_CEL_NULL};
	}
	struct bt_json_value *options =
		bt_json_put(arena, NULL, "{kind: %c, apiVersion: 'meta.k8s.io/v1'}", kind);
	if (asked->dry_run) {
		bt_json_put(arena, options, "{dryRun: ['All']}");
	}
	if (kind[0] != 'D') {
		/* "Warn" is left out: it is also the default. */
		bool has_validation = asked->user_agent.length != 0 &&
			asked->field_validation != BT_FIELD_VALIDATION_WARN;
		bt_json_put(arena, options, "{fieldManager?: %s, fieldValidation: %c}",
			asked->field_manager,
			has_validation ? validations[asked->field_validation] : NULL);
	} else {
		bt_json_put(arena, options, "{gracePeriodSeconds: %v, propagationPolicy: %c}",
			asked->grace_period_seconds == -1
				? NULL
				: bt_json_new_int64(arena, asked->grace_period_seconds),
			propagations[asked->propagation]);
		if (asked->precondition_uid.data != NULL || asked->precondition_rv.data != NULL) {
			bt_json_put(arena, options,
				"{preconditions: {uid?: %s, resourceVersion?: %s}}",
				asked->precondition_uid, asked->precondition_rv);
		}
	}
	return bt_expression_value(NULL, options, arena);
}

static struct bt_cel_value request_value(const struct request *request)
{
	static const char *const kind_names[] = {"group", "version", "kind"};
	static const char *const resource_names[] = {"group", "version", "resource"};
	struct bt_arena *arena = request->call->arena;
	const struct bt_write *write = &request->call->write;
	const struct bt_api_resource *resource = write->resource;
	struct bt_cel_value kind_values[] = {text_value(request->kind.group),
		text_value(request->kind.version), text_value(request->kind.kind)};
	struct bt_cel_value resource_values[] = {text_value(resource->group),
		text_value(resource->version), text_value(resource->name)};
	struct bt_json_value *user = bt_user_info(write->user, arena);
	bt_json_set_str(arena, user, "uid", write->user->uid);
	(void)bt_json_ensure_object(arena, user, "extra");
	struct bt_cel_value kind = bt_expression_object(kind_names, kind_values, 3, arena);
	struct bt_cel_value name = bt_expression_object(resource_names, resource_values, 3, arena);
	struct bt_cel_value part = text_value(bt_subresource_name(write->subresource));
	struct bt_cel_value values[] = {kind, name, part, kind, name, part,
		bt_cel_string(write->name), bt_cel_string(write->namespace_),
		text_value(request->operation), bt_expression_value(NULL, user, arena),
		bt_cel_bool(write->dry_run), options_value(request)};
	const char *names[BT_ARRAY_LENGTH(values)];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		names[i] = bt_policy_request.fields[i].name.data;
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
	limits.cost_max = BT_MIN(limits.cost_max, evaluation->cost_left);
	limits.out_cost = &cost;
	struct bt_cel_value value = bt_cel_evaluate(
		program, evaluation->values, &limits, evaluation->request->call->arena);
	evaluation->cost_left -= BT_MIN(cost, evaluation->cost_left);
	return value;
}

/**
 * Applies the binding's actions because a validation failed. The first denial is the answer, with
 * the code of its reason, or 422 if the reason is unknown.
 */
static void apply_actions(
	struct evaluation *evaluation, struct bt_str reason, struct bt_str message)
{
	static const struct {
		const char *reason;
		uint16_t code;
	} reasons[] = {{"Invalid", 422}, {"Forbidden", 403}, {"Unauthorized", 401},
		{"RequestEntityTooLarge", 413}};
	const struct bt_json_value *actions =
		bt_json_array_at(evaluation->binding, "spec.validationActions");
	struct bt_str policy = evaluation->policy->name;
	struct bt_str binding = bt_json_text_at(evaluation->binding, "metadata.name");
	bool is_mutating = evaluation->policy->kind == BT_POLICY_MUTATING;
	struct bt_call *call = evaluation->request->call;
	struct bt_failure *failure = &call->answer->failure;
	if (failure->code == 0 && (is_mutating || bt_json_has_text(actions, BT_STR("Deny")))) {
		size_t found = 0;
		for (size_t i = 0; i < BT_ARRAY_LENGTH(reasons); i++) {
			found = bt_str_equal_c(reason, reasons[i].reason) ? i : found;
		}
		struct bt_str text = bt_arena_printf(call->arena,
			"%s '%.*s' with binding '%.*s' denied request: %.*s",
			is_mutating ? "policy" : "ValidatingAdmissionPolicy", BT_STR_ARG(policy),
			BT_STR_ARG(binding), BT_STR_ARG(message));
		(void)bt_fail_forbidden(
			failure, call->arena, call->write.resource, call->write.name, text);
		failure->code = reasons[found].code;
		failure->reason = reasons[found].reason;
		failure->causes = BT_ARENA_NEW(call->arena, struct bt_failure_cause);
		failure->causes->message = text;
		evaluation->denied = true;
	}
	if (bt_json_has_text(actions, BT_STR("Warn"))) {
		bt_call_warn(call,
			"Validation failed for ValidatingAdmissionPolicy '%.*s' with binding "
			"'%.*s': %.*s",
			BT_STR_ARG(policy), BT_STR_ARG(binding), BT_STR_ARG(message));
	}
}

/** Applies the binding's actions because an expression failed, unless failurePolicy is Ignore. */
static void act_on_failure(struct evaluation *evaluation, struct bt_str text)
{
	if (!bt_str_equal_c(bt_kinds_text(evaluation->policy->spec, "failurePolicy"), "Ignore")) {
		apply_actions(evaluation, BT_STR("Invalid"), text);
	}
}

static void act_on_error(struct evaluation *evaluation,
	const struct bt_policy_expression *expression, const struct bt_cel_value *error)
{
	act_on_failure(evaluation,
		bt_arena_printf(evaluation->request->call->arena,
			"expression '%.*s' resulted in error: %.*s", BT_STR_ARG(expression->text),
			BT_STR_ARG(error->text)));
}

static void set_variables(struct evaluation *evaluation)
{
	const struct bt_policy_expressions *variables = &evaluation->policy->variables;
	struct bt_arena *arena = evaluation->request->call->arena;
	struct bt_cel_entry *entries =
		BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, variables->count);
	struct bt_cel_map *map = BT_ARENA_NEW(arena, struct bt_cel_map);
	*map = (struct bt_cel_map){.entries = entries};
	evaluation->values[BT_POLICY_VARIABLES] =
		(struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
	/* A variable that fails is an error only in the expressions that use it. */
	for (uint32_t i = 0; i < variables->count; i++) {
		const struct bt_policy_expression *variable = &variables->items[i];
		entries[i].key = bt_cel_string(bt_kinds_text(variable->source, "name"));
		entries[i].value = evaluate(evaluation, variable->program);
		map->count++;
	}
}

/** Applies the mutations in order; each mutation sees the result of the previous mutation. */
static void mutate(struct evaluation *evaluation)
{
	const struct bt_policy_expressions *mutations = &evaluation->policy->mutations;
	struct request *request = evaluation->request;
	for (uint32_t i = 0; i < mutations->count && !evaluation->denied; i++) {
		const struct bt_policy_expression *mutation = &mutations->items[i];
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
			evaluation->values[BT_POLICY_OBJECT] =
				object_value(request, request->target);
			set_variables(evaluation);
		}
		berth_error_finish(&err);
	}
}

static void evaluate_policy(struct evaluation *evaluation, const struct bt_json_value *params)
{
	const struct bt_policy *policy = evaluation->policy;
	const struct request *request = evaluation->request;
	struct bt_arena *arena = request->call->arena;
	evaluation->values[BT_POLICY_PARAMS] = bt_expression_value(NULL, params, arena);
	set_variables(evaluation);
	/* A match condition whose evaluation fails does not hold. */
	const struct bt_policy_expression *failed = NULL;
	struct bt_cel_value error = {.kind = BT_CEL_NULL};
	for (uint32_t i = 0; i < policy->conditions.count; i++) {
		struct bt_cel_value value =
			evaluate(evaluation, policy->conditions.items[i].program);
		if (value.kind == BT_CEL_BOOL && !value.boolean) {
			return;
		}
		if (bt_cel_is_error(&value) && failed == NULL) {
			failed = &policy->conditions.items[i];
			error = value;
		}
	}
	if (failed != NULL) {
		act_on_error(evaluation, failed, &error);
		return;
	}
	if (policy->kind == BT_POLICY_MUTATING) {
		mutate(evaluation);
		return;
	}
	for (uint32_t i = 0; i < policy->validations.count; i++) {
		const struct bt_policy_expression *validation = &policy->validations.items[i];
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
			apply_actions(
				evaluation, bt_kinds_text(validation->source, "reason"), message);
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

/**
 * Evaluates the policy with each object that the binding's paramRef selects, or once without an
 * object if the policy has no paramKind or the binding has no paramRef.
 */
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
		apply_actions(evaluation, BT_STR("Invalid"),
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
		BT_STORE_EACH (stored, call->api->options.store, resource->collection,
			bt_api_key(call->arena, namespace_, BT_STR(""))) {
			const struct bt_json_value *params =
				bt_api_parse_stored(stored, call->arena);
			if (labels_match(bt_kinds_object(ref, "selector"), params)) {
				found++;
				evaluate_policy(evaluation, params);
			}
		}
	}
	if (found == 0 && !bt_str_equal_c(bt_kinds_text(ref, "parameterNotFoundAction"), "Allow")) {
		act_on_failure(evaluation,
			BT_STR("no params found for policy binding with `Deny` "
			       "parameterNotFoundAction"));
	}
}

/** One request that passes through the policies of one kind, validating or mutating. */
struct run {
	struct request request;
	struct bt_cel_authorizer authorizer;
	struct bt_cel_access access;
	struct bt_cel_access request_access;          /* of authorizer.requestResource */
	struct bt_cel_value values[BT_POLICY__COUNT]; /* set when the first policy matches */
	uint32_t change_count; /* request.change_count at the time when the object in `values` was
	                          set */
};

/**
 * Starts a run. Returns false if there are no policies or the request is exempt from them. Restored
 * objects and objects of the policies' API group are exempt. subresource: the objects are its
 * documents.
 */
static bool run_begin(struct run *run, struct bt_call *call, const struct bt_policy_set *set,
	enum bt_subresource subresource, const char *operation, const struct bt_json_value *old,
	const struct bt_json_value *object)
{
	if (set == NULL || call->write.restoring ||
		strcmp(call->write.resource->group, bt_policy_group) == 0) {
		return false;
	}
	*run = (struct run){
		.request = {call, bt_discovery_kind_of(call->write.resource, subresource),
			operation, old, object, NULL, NULL, 0},
		.authorizer = {&run->request, check_access},
		.access = {.authorizer = &run->authorizer,
			.group = BT_STR(""),
			.resource = BT_STR(""),
			.subresource = BT_STR(""),
			.namespace_ = BT_STR(""),
			.name = BT_STR(""),
			.path = BT_STR("")}};
	run->request_access = run->access;
	run->request_access.group = bt_str_from(call->write.resource->group);
	run->request_access.resource = bt_str_from(call->write.resource->name);
	run->request_access.subresource = bt_str_from(bt_subresource_name(call->write.subresource));
	run->request_access.namespace_ = call->write.namespace_;
	run->request_access.name = call->write.name;
	if (call->write.namespace_.length != 0) {
		run->request.namespace_ = bt_api_read(
			call->api, call->api->namespaces, call->write.namespace_, call->arena);
	}
	return true;
}

/**
 * Evaluates the binding's policy for the request. Returns false if the policy does not exist or the
 * request does not match.
 */
static bool run_policy(
	struct run *run, const struct bt_policy_set *set, const struct bt_json_value *binding)
{
	struct request *request = &run->request;
	const struct bt_policy *policy =
		bt_policy_set_find(set, bt_json_text_at(binding, "spec.policyName"));
	if (policy == NULL ||
		!is_matched(request, bt_kinds_object(policy->spec, "matchConstraints"), true) ||
		!is_matched(request, bt_json_find_path(binding, "spec.matchResources"), false)) {
		return false;
	}
	if (run->values[BT_POLICY_REQUEST].kind == BT_CEL_NULL) {
		run->values[BT_POLICY_OLD_OBJECT] = object_value(request, request->old);
		run->values[BT_POLICY_REQUEST] = request_value(request);
		run->values[BT_POLICY_NAMESPACE_OBJECT] =
			bt_expression_value(NULL, request->namespace_, request->call->arena);
		run->values[BT_POLICY_REQUEST_RESOURCE] = (struct bt_cel_value){
			.kind = BT_CEL_RESOURCE_CHECK, .access = &run->request_access};
		run->values[BT_POLICY_AUTHORIZER] =
			(struct bt_cel_value){.kind = BT_CEL_AUTHORIZER, .access = &run->access};
		run->change_count = UINT32_MAX;
	}
	if (run->change_count != request->change_count) {
		run->values[BT_POLICY_OBJECT] = object_value(request, request->object);
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
	const struct bt_policy_set *set = bt_policies_in_force(call->api, BT_POLICY_VALIDATING);
	struct run run;
	if (set != NULL && call->write.subresource == BT_SUBRESOURCE_SCALE) {
		old = bt_call_make_scale(call, old);
		object = bt_call_make_scale(call, object);
	}
	if (!run_begin(&run, call, set, call->write.subresource, operation, old, object)) {
		return true;
	}
	for (uint32_t i = 0; i < set->bindings.count; i++) {
		(void)run_policy(&run, set, set->bindings.items[i]);
	}
	return call->answer->failure.code == 0;
}

bool bt_policies_mutate(
	struct bt_call *call, const struct bt_json_value *old, struct bt_json_value *object)
{
	const struct bt_policy_set *set = bt_policies_in_force(call->api, BT_POLICY_MUTATING);
	const struct bt_failure *failure = &call->answer->failure;
	struct run run;
	if (!run_begin(&run, call, set, BT_SUBRESOURCE_NONE, old != NULL ? "UPDATE" : "CREATE", old,
		    object)) {
		return true;
	}
	run.request.target = object;
	/*
	 * For each binding: change_count after the binding's policy ran, plus one. 0: the request
	 * does not match the policy.
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
		const struct bt_policy *policy =
			bt_policy_set_find(set, bt_json_text_at(binding, "spec.policyName"));
		if (seen[i] != 0 && seen[i] != run.request.change_count + 1 &&
			bt_str_equal_c(
				bt_kinds_text(policy->spec, "reinvocationPolicy"), "IfNeeded")) {
			(void)run_policy(&run, set, binding);
		}
	}
	return failure->code == 0;
}
