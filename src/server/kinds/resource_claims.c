/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/devices.h"

/* ResourceClaim and its template. Spec: 12 section 3.2, 14b sections 2.2, 2.3, 3.3 and 5. */

#define REQUESTS_MAX 32
#define CONSTRAINTS_MAX 32
#define ALTERNATIVES_MAX 8
#define TOLERATIONS_MAX 16
#define RESULTS_MAX 32
#define CONSUMERS_MAX 256
#define ADMIN_ACCESS "resource.kubernetes.io/admin-access"

static const char *const allocation_modes[] = {"All", "ExactCount", NULL};
static const char *const toleration_operators[] = {"Equal", "Exists", NULL};
static const char *const toleration_effects[] = {"NoExecute", "NoSchedule", NULL};

/** --- defaults --- */

static void default_request(struct bt_arena *arena, struct bt_json_value *request)
{
	if (request == NULL || request->type != BT_JSON_OBJECT) {
		return;
	}
	if (bt_str_equal_c(bt_kinds_text(request, "allocationMode"), "ExactCount") &&
		bt_json_int64_at(request, "count", 0) == 0) {
		bt_json_set_int64(arena, request, "count", 1);
	}
}

static void default_spec(struct bt_arena *arena, struct bt_json_value *spec)
{
	struct bt_json_value *devices = bt_json_ensure_object(arena, spec, "devices");
	const struct bt_json_value *requests = bt_json_array_at(devices, "requests");
	for (uint32_t i = 0; i < requests->count; i++) {
		struct bt_json_value *exactly = bt_kinds_object(requests->elements[i], "exactly");
		const struct bt_json_value *alternatives =
			bt_json_array_at(requests->elements[i], "firstAvailable");
		default_request(arena, exactly);
		for (uint32_t n = 0; n < alternatives->count; n++) {
			default_request(arena, alternatives->elements[n]);
		}
	}
}

/** --- spec --- */

/** Where a spec stands, and what its checks need to know of the write. */
struct spec_check {
	const struct bt_write *write;
	struct bt_field_errors *errors;
	struct bt_names requests; /* and "request/subrequest" */
};

static void check_tolerations(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *request)
{
	const struct bt_json_value *tolerations = bt_json_array_at(request, "tolerations");
	const struct bt_path *place = BT_PATH_NAME(parent, "tolerations");
	bt_kinds_check_count(errors, place, tolerations, TOLERATIONS_MAX);
	for (uint32_t i = 0; i < tolerations->count && i < TOLERATIONS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		const struct bt_json_value *toleration = tolerations->elements[i];
		bool exists = bt_str_equal_c(bt_kinds_text(toleration, "operator"), "Exists");
		if (bt_kinds_text(toleration, "key").length != 0) {
			bt_kinds_check_label_key(
				errors, BT_PATH_NAME(&at, "key"), bt_kinds_text(toleration, "key"));
		} else if (!exists) {
			bt_kinds_error_required(errors, BT_PATH_NAME(&at, "key"));
		}
		bt_kinds_check_text_in(
			errors, &at, toleration, "operator", toleration_operators, true);
		if (exists && bt_kinds_text(toleration, "value").length != 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&at, "value"),
				bt_json_find(toleration, "value"),
				"must be empty for operator `Exists`");
		}
		bt_kinds_check_text_in(
			errors, &at, toleration, "effect", toleration_effects, false);
	}
}

static void check_capacity(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *request)
{
	const struct bt_json_value *amounts = bt_json_object_at(request, "capacity.requests");
	const struct bt_path *place = BT_PATH_NAME(BT_PATH_NAME(parent, "capacity"), "requests");
	for (uint32_t i = 0; i < amounts->count; i++) {
		const struct bt_path at = *BT_PATH_KEY(place, amounts->members[i].name);
		bt_kinds_check_device_name(errors, &at, amounts->members[i].name, false);
		bt_kinds_check_amount(errors, &at, amounts->members[i].value);
	}
}

static void check_request(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *request)
{
	struct bt_str mode = bt_kinds_text(request, "allocationMode");
	int64_t count = bt_json_int64_at(request, "count", 0);
	if (bt_kinds_check_given(errors, place, request, "deviceClassName")) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "deviceClassName"),
			bt_json_find(request, "deviceClassName"), BT_NAME_SUBDOMAIN);
	}
	bt_kinds_check_device_selectors(errors, place, request);
	bt_kinds_check_text_in(errors, place, request, "allocationMode", allocation_modes, false);
	if (bt_str_equal_c(mode, "ExactCount") && count <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "count"),
			bt_kinds_int_value(errors, count), "must be greater than zero");
	} else if (bt_str_equal_c(mode, "All") && count != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "count"),
			bt_kinds_int_value(errors, count),
			"must not be specified when allocationMode is 'All'");
	}
	check_tolerations(errors, place, request);
	check_capacity(errors, place, request);
}

/** Devices that others use: only where the namespace says so. */
static void check_admin_access(const struct spec_check *check, const struct bt_path *place,
	const struct bt_json_value *request)
{
	const struct bt_write *write = check->write;
	const struct bt_json_value *namespace_;
	if (!bt_json_bool_at(request, "adminAccess", false)) {
		return;
	}
	namespace_ = bt_api_read(write->api,
		bt_resources_builtin(bt_api_resources(write->api), "", "namespaces"),
		write->namespace_, write->arena);
	if (!bt_str_equal_c(
		    bt_kinds_text(bt_json_object_at(namespace_, "metadata.labels"), ADMIN_ACCESS),
		    "true")) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(place, "adminAccess"), NULL,
			"admin access to devices requires the `" ADMIN_ACCESS
			": true` label on the containing namespace");
	}
}

static void check_alternatives(
	struct spec_check *check, const struct bt_path *parent, const struct bt_json_value *request)
{
	const struct bt_json_value *alternatives = bt_json_array_at(request, "firstAvailable");
	const struct bt_path *place = BT_PATH_NAME(parent, "firstAvailable");
	struct bt_names seen = {.arena = check->errors->arena};
	bt_kinds_check_count(check->errors, place, alternatives, ALTERNATIVES_MAX);
	for (uint32_t i = 0; i < alternatives->count && i < ALTERNATIVES_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		const struct bt_json_value *alternative = alternatives->elements[i];
		bt_kinds_check_unique_label(check->errors, &at, alternative, &seen);
		check_request(check->errors, &at, alternative);
		(void)bt_names_add(&check->requests,
			bt_arena_printf(check->errors->arena, "%.*s/%.*s",
				BT_STR_ARG(bt_kinds_text(request, "name")),
				BT_STR_ARG(bt_kinds_text(alternative, "name"))));
	}
}

static void check_requests(
	struct spec_check *check, const struct bt_path *place, const struct bt_json_value *requests)
{
	struct bt_field_errors *errors = check->errors;
	bt_kinds_check_count(errors, place, requests, REQUESTS_MAX);
	for (uint32_t i = 0; i < requests->count && i < REQUESTS_MAX; i++) {
		const struct bt_json_value *request = requests->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		const struct bt_json_value *exactly = bt_kinds_object(request, "exactly");
		bool has_alternatives = bt_json_array_at(request, "firstAvailable")->count != 0;
		bt_kinds_check_unique_label(errors, &at, request, &check->requests);
		if ((exactly != NULL) == has_alternatives) {
			bt_kinds_error(errors,
				exactly == NULL ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, &at,
				exactly == NULL ? NULL : request,
				"exactly one of `exactly` or `firstAvailable` is required");
		}
		if (exactly != NULL) {
			check_request(errors, BT_PATH_NAME(&at, "exactly"), exactly);
			check_admin_access(check, BT_PATH_NAME(&at, "exactly"), exactly);
		}
		check_alternatives(check, &at, request);
	}
}

static void check_constraints(struct spec_check *check, const struct bt_path *place,
	const struct bt_json_value *constraints)
{
	static const char *const names[] = {"matchAttribute", "distinctAttribute"};
	bt_kinds_check_count(check->errors, place, constraints, CONSTRAINTS_MAX);
	for (uint32_t i = 0; i < constraints->count && i < CONSTRAINTS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		uint32_t given = 0;
		bt_kinds_check_request_names(
			check->errors, &at, constraints->elements[i], &check->requests);
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(names); n++) {
			struct bt_str name = bt_kinds_text(constraints->elements[i], names[n]);
			if (name.length != 0) {
				given++;
				bt_kinds_check_device_name(
					check->errors, BT_PATH_NAME(&at, names[n]), name, true);
			}
		}
		if (given != 1) {
			bt_kinds_error(check->errors,
				given == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, &at,
				given == 0 ? NULL : constraints->elements[i],
				"exactly one of `matchAttribute` or `distinctAttribute` is "
				"required");
		}
	}
}

static void check_spec(const struct bt_write *write, struct bt_field_errors *errors,
	const struct bt_path *place, const struct bt_json_value *spec)
{
	struct spec_check check = {
		.write = write, .errors = errors, .requests = {.arena = errors->arena}};
	const struct bt_json_value *devices = bt_json_object_at(spec, "devices");
	const struct bt_path *at = BT_PATH_NAME(place, "devices");
	check_requests(&check, BT_PATH_NAME(at, "requests"), bt_json_array_at(devices, "requests"));
	check_constraints(
		&check, BT_PATH_NAME(at, "constraints"), bt_json_array_at(devices, "constraints"));
	bt_kinds_check_device_config(errors, at, devices, &check.requests);
}

/** --- status --- */

static void check_consumers(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *status)
{
	const struct bt_json_value *consumers = bt_json_array_at(status, "reservedFor");
	const struct bt_path *place = BT_PATH_NAME(parent, "reservedFor");
	struct bt_names seen = {.arena = errors->arena};
	bt_kinds_check_count(errors, place, consumers, CONSUMERS_MAX);
	for (uint32_t i = 0; i < consumers->count && i < CONSUMERS_MAX; i++) {
		static const char *const required[] = {"resource", "name", "uid"};
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(required); n++) {
			(void)bt_kinds_check_given(
				errors, &at, consumers->elements[i], required[n]);
		}
		if (!bt_names_add(&seen, bt_kinds_text(consumers->elements[i], "uid"))) {
			bt_kinds_error_duplicate(errors, BT_PATH_NAME(&at, "uid"),
				bt_json_find(consumers->elements[i], "uid"));
		}
	}
	if (consumers->count != 0 && bt_kinds_object(status, "allocation") == NULL) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, place, NULL,
			"may not be specified when `allocated` is not set");
	}
}

static void check_results(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *allocation)
{
	const struct bt_json_value *results = bt_json_array_at(allocation, "devices.results");
	const struct bt_path *place = BT_PATH_NAME(BT_PATH_NAME(parent, "devices"), "results");
	bt_kinds_check_count(errors, place, results, RESULTS_MAX);
	for (uint32_t i = 0; i < results->count && i < RESULTS_MAX; i++) {
		static const char *const required[] = {"request", "pool", "device"};
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		bt_kinds_check_driver(errors, &at, results->elements[i]);
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(required); n++) {
			(void)bt_kinds_check_given(errors, &at, results->elements[i], required[n]);
		}
	}
}

static void check_status(struct bt_field_errors *errors, const struct bt_json_value *old,
	const struct bt_json_value *status)
{
	const struct bt_path *place = BT_PATH_NAME(NULL, "status");
	const struct bt_json_value *before = bt_kinds_object(old, "allocation");
	const struct bt_json_value *allocation = bt_kinds_object(status, "allocation");
	check_consumers(errors, place, status);
	if (allocation == NULL) {
		return;
	}
	if (before != NULL) {
		bt_kinds_check_immutable(errors, place, old, status, "allocation");
	} else {
		check_results(errors, BT_PATH_NAME(place, "allocation"), allocation);
	}
}

/** --- ResourceClaim --- */

static void default_claim(const struct bt_write *write, struct bt_json_value *object)
{
	default_spec(write->arena, bt_json_ensure_object(write->arena, object, "spec"));
	(void)bt_json_ensure_object(write->arena, object, "status");
}

static void prepare_claim(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

/** A write of the status changes nothing else. */
static void prepare_claim_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	static const char *const kept[] = {
		"labels", "annotations", "finalizers", "ownerReferences"};
	const struct bt_json_value *before = bt_json_object_at(old, "metadata");
	struct bt_json_value *metadata = bt_json_ensure_object(write->arena, object, "metadata");
	for (uint32_t i = 0;
		i < BT_ARRAY_LENGTH(kept) && write->subresource == BT_SUBRESOURCE_STATUS; i++) {
		const struct bt_json_value *value = bt_json_find(before, kept[i]);
		if (value != NULL) {
			bt_json_set_value(write->arena, metadata, kept[i],
				bt_json_clone(write->arena, value, false));
		} else {
			(void)bt_json_remove_c(metadata, kept[i]);
		}
	}
}

static void validate_claim(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		check_spec(write, errors, BT_PATH_NAME(NULL, "spec"),
			bt_json_object_at(object, "spec"));
	}
}

static void validate_same_spec(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_check_immutable(errors, NULL, old, object, "spec");
	}
}

static void validate_claim_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	validate_same_spec(write, old, object, errors);
	if (write->subresource == BT_SUBRESOURCE_STATUS) {
		check_status(errors, bt_json_object_at(old, "status"),
			bt_json_object_at(object, "status"));
	}
}

const struct bt_strategy bt_strategy_resource_claim = {
	.set_defaults = default_claim,
	.prepare_create = prepare_claim,
	.prepare_update = prepare_claim_update,
	.validate = validate_claim,
	.validate_update = validate_claim_update,
};

/** --- ResourceClaimTemplate --- */

static void default_template(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	(void)bt_json_ensure_object(write->arena, spec, "metadata");
	default_spec(write->arena, bt_json_ensure_object(write->arena, spec, "spec"));
}

static void validate_template(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	check_spec(write, errors, BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "spec"),
		bt_json_object_at(object, "spec.spec"));
}

const struct bt_strategy bt_strategy_resource_claim_template = {
	.set_defaults = default_template,
	.validate = validate_template,
	.validate_update = validate_same_spec,
};
