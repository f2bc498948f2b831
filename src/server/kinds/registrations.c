/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Webhook configurations, APIService, CertificateSigningRequest, and admission policies except
 * their expressions, which server/policy.c checks. Spec: 14b section 5.
 */
#include "api/time.h"
#include "codec/base64.h"
#include "server/condition.h"
#include "server/kinds/common.h"

bool bt_kinds_is_webhook_name(struct bt_str name)
{
	struct bt_str rest = name;
	(void)bt_str_cut(&rest, '.');
	return rest.data != NULL && bt_str_find_char(rest, '.') >= 0;
}

/** --- policies --- */

/** The status of type checking: never a warning, because CEL sees all fields as dyn. */
#define CHECKED "{status: {observedGeneration: %d, typeChecking: {}}}"

static void prepare_policy(const struct bt_write *write, struct bt_json_value *object)
{
	bt_json_put(write->arena, object, CHECKED, INT64_C(1));
}

static void prepare_policy_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	int64_t generation = bt_json_int64_at(old, "metadata.generation", 1);
	bool same = bt_kinds_same(bt_json_find(old, "spec"), bt_json_find(object, "spec"));
	if (write->subresource == BT_SUBRESOURCE_NONE) {
		bt_json_put(write->arena, object, CHECKED, generation + (same ? 0 : 1));
	}
}

const struct bt_strategy bt_strategy_validating_policy = {
	.prepare_create = prepare_policy,
	.prepare_update = prepare_policy_update,
};

/** --- APIService --- */

/**
 * Sets the condition Available: true for groups that this server serves; false for groups behind a
 * Service, because this cluster runs no containers that could serve them.
 */
static void prepare_api_service(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *service = bt_json_find_path(object, "spec.service");
	struct bt_str message = BT_STR("Local APIServices are always available");
	if (bt_kinds_keeps_status(write, object)) {
		return;
	}
	if (service != NULL) {
		message = bt_arena_printf(write->arena,
			"endpoints for service/%.*s in \"%.*s\" have no addresses with port "
			"name \"\"",
			BT_STR_ARG(bt_kinds_text(service, "name")),
			BT_STR_ARG(bt_kinds_text(service, "namespace")));
	}
	struct bt_json_value *conditions = bt_json_put(write->arena, NULL,
		"[{type: 'Available', status: %c, lastTransitionTime: %s, reason: %c,"
		" message: %s}]",
		service == NULL ? "True" : "False", bt_time_text(write->arena, write->now_ns),
		service == NULL ? "Local" : "MissingEndpoints", message);
	bt_json_set_value(write->arena, bt_json_ensure_object(write->arena, object, "status"),
		"conditions", conditions);
}

const struct bt_strategy bt_strategy_api_service = {
	.name_rule = BT_NAME_PATH,
	.resets_status = true,
	.prepare_create = prepare_api_service,
};

/** --- CertificateSigningRequest --- */

void bt_rule_signing_request(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	struct bt_str request;
	if (bt_base64_decode(bt_kinds_text(spec, "request"), errors->arena, &request, NULL) < 0 ||
		bt_str_find(request, BT_STR("-----BEGIN CERTIFICATE REQUEST-----")) < 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "request"),
			bt_json_find(spec, "request"),
			"PEM block type must be CERTIFICATE REQUEST");
	}
}

/** Sets the requester to the user of the request. A restored object keeps its requester. */
static void prepare_signing_request(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const names[] = {"username", "uid", "groups", "extra"};
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	if (write->restoring) {
		return;
	}
	const struct bt_json_value *user = bt_user_info(write->user, write->arena);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		bt_kinds_reset_member(write->arena, spec, user, names[i]);
	}
}

/**
 * Keeps the old spec; a write of the subresource approval also keeps the old certificate. Sets
 * missing times of conditions.
 */
static void prepare_signing_request_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *status = bt_json_ensure_object(arena, object, "status");
	const struct bt_json_value *conditions = bt_json_array_at(status, "conditions");
	bt_kinds_reset_member(arena, object, old, "spec");
	if (write->subresource == BT_SUBRESOURCE_APPROVAL) {
		bt_kinds_reset_member(
			arena, status, bt_json_object_at(old, "status"), "certificate");
	}
	for (uint32_t i = 0; i < conditions->count; i++) {
		struct bt_json_value *condition = conditions->elements[i];
		const struct bt_json_value *before = bt_condition_find(
			bt_json_array_at(old, "status.conditions"),
			bt_arena_printf(arena, "%.*s", BT_STR_ARG(bt_kinds_text(condition, "type")))
				.data);
		bool same = before != NULL &&
			bt_str_equal(bt_kinds_text(before, "status"),
				bt_kinds_text(condition, "status"));
		if (bt_kinds_text(condition, "lastUpdateTime").length == 0) {
			bt_json_set_str(arena, condition, "lastUpdateTime",
				bt_time_text(arena, write->now_ns));
		}
		if (bt_kinds_text(condition, "lastTransitionTime").length == 0) {
			bt_json_set_str(arena, condition, "lastTransitionTime",
				same ? bt_kinds_text(before, "lastTransitionTime")
				     : bt_time_text(arena, write->now_ns));
		}
	}
}

static void validate_signing_request_update(const struct bt_write *write,
	const struct bt_json_value *old, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	static const char *const decisions[] = {"Approved", "Denied"};
	static const char *const final_types[] = {"Approved", "Denied", "Failed"};
	static const char *const statuses[] = {"True", NULL};
	const struct bt_json_value *old_status = bt_json_object_at(old, "status");
	const struct bt_json_value *before = bt_json_array_at(old, "status.conditions");
	const struct bt_json_value *after = bt_json_array_at(object, "status.conditions");
	const struct bt_path *place = BT_PATH_NAME(NULL, "status.conditions");
	for (uint32_t i = 0; i < after->count; i++) {
		struct bt_json_value *status = bt_json_find(after->elements[i], "status");
		if (status != NULL &&
			bt_str_is_one_of(bt_kinds_text(after->elements[i], "type"), final_types,
				BT_ARRAY_LENGTH(final_types))) {
			bt_kinds_check_allowed(errors,
				BT_PATH_NAME(BT_PATH_INDEX(place, i), "status"), status, statuses);
		}
	}
	if (bt_kinds_text(old_status, "certificate").length != 0) {
		bt_kinds_check_immutable(errors, BT_PATH_NAME(NULL, "status"), old_status,
			bt_json_object_at(object, "status"), "certificate", NULL);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(decisions); i++) {
		bool had = bt_condition_find(before, decisions[i]) != NULL;
		bool has = bt_condition_find(after, decisions[i]) != NULL;
		if (had && !has) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, place, NULL,
				"updates may not remove a condition of type \"%s\"", decisions[i]);
		} else if (has && !had && write->subresource == BT_SUBRESOURCE_STATUS) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, place, NULL,
				"updates may not add a condition of type \"%s\"", decisions[i]);
		}
	}
	if (bt_condition_find(after, "Approved") != NULL &&
		bt_condition_find(after, "Denied") != NULL) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, NULL,
			"Approved and Denied conditions are mutually exclusive");
	}
}

const struct bt_strategy bt_strategy_signing_request = {
	.name_rule = BT_NAME_PATH,
	.resets_status = true,
	.prepare_create = prepare_signing_request,
	.prepare_update = prepare_signing_request_update,
	.validate_update = validate_signing_request_update,
};
