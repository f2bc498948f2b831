/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* ResourceClaim and its template. Spec: 14b sections 2.2, 2.3, 3.3 and 5. */

static const char *const allocation_modes[] = {"All", "ExactCount", NULL};

static void default_request(struct bt_arena *arena, struct bt_json_value *request)
{
	if (request == NULL || request->type != BT_JSON_OBJECT) {
		return;
	}
	bt_kinds_default_c(arena, request, "allocationMode", "ExactCount");
	if (bt_str_equal_c(bt_kinds_text(request, "allocationMode"), "ExactCount") &&
		bt_json_int64_at(request, "count", 0) == 0) {
		bt_json_set_int64(arena, request, "count", 1);
	}
}

static void default_tolerations(struct bt_arena *arena, const struct bt_json_value *request)
{
	const struct bt_json_value *tolerations = bt_json_array_at(request, "tolerations");
	for (uint32_t i = 0; i < tolerations->count; i++) {
		if (tolerations->elements[i]->type == BT_JSON_OBJECT) {
			bt_kinds_default_c(arena, tolerations->elements[i], "operator", "Equal");
		}
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
		default_tolerations(arena, exactly);
		for (uint32_t n = 0; n < alternatives->count; n++) {
			default_request(arena, alternatives->elements[n]);
			default_tolerations(arena, alternatives->elements[n]);
		}
	}
}

static void check_request(struct bt_field_errors *errors, const struct bt_place *place,
	const struct bt_json_value *request)
{
	struct bt_str mode = bt_kinds_text(request, "allocationMode");
	int64_t count = bt_json_int64_at(request, "count", 0);
	if (bt_kinds_check_given(errors, place, request, "deviceClassName")) {
		bt_kinds_check_name(errors, BT_PLACE(place, "deviceClassName"),
			bt_json_find(request, "deviceClassName"), BT_NAME_SUBDOMAIN);
	}
	bt_kinds_check_text_in(errors, place, request, "allocationMode", allocation_modes, false);
	if (bt_str_equal_c(mode, "ExactCount") && count <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PLACE(place, "count"),
			bt_kinds_int_value(errors, count), "must be greater than zero");
	} else if (bt_str_equal_c(mode, "All") && count != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PLACE(place, "count"),
			bt_kinds_int_value(errors, count),
			"must not be specified when allocationMode is 'All'");
	}
}

static void check_named(struct bt_field_errors *errors, const struct bt_place *place,
	const struct bt_json_value *element, struct bt_names *seen)
{
	if (!bt_kinds_check_given(errors, place, element, "name")) {
		return;
	}
	bt_kinds_check_name(
		errors, BT_PLACE(place, "name"), bt_json_find(element, "name"), BT_NAME_LABEL);
	if (!bt_names_add(seen, bt_kinds_text(element, "name"))) {
		bt_kinds_error_duplicate(
			errors, BT_PLACE(place, "name"), bt_json_find(element, "name"));
	}
}

static void check_spec(struct bt_field_errors *errors, const struct bt_place *place,
	const struct bt_json_value *spec)
{
	const struct bt_json_value *requests = bt_json_array_at(spec, "devices.requests");
	const struct bt_place *list = BT_PLACE(BT_PLACE(place, "devices"), "requests");
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < requests->count; i++) {
		const struct bt_json_value *request = requests->elements[i];
		const struct bt_place at = *BT_PLACE_AT(list, i);
		const struct bt_json_value *exactly = bt_kinds_object(request, "exactly");
		const struct bt_json_value *alternatives =
			bt_json_array_at(request, "firstAvailable");
		struct bt_names inner = {.arena = errors->arena};
		check_named(errors, &at, request, &seen);
		if ((exactly != NULL) == (alternatives->count != 0)) {
			bt_kinds_error(errors,
				exactly == NULL ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, &at,
				exactly == NULL ? NULL : request,
				"exactly one of `exactly` or `firstAvailable` is required");
		}
		if (exactly != NULL) {
			check_request(errors, BT_PLACE(&at, "exactly"), exactly);
		}
		for (uint32_t n = 0; n < alternatives->count; n++) {
			const struct bt_place sub =
				*BT_PLACE_AT(BT_PLACE(&at, "firstAvailable"), n);
			check_named(errors, &sub, alternatives->elements[n], &inner);
			check_request(errors, &sub, alternatives->elements[n]);
		}
	}
}

static void default_claim(const struct bt_write *write, struct bt_json_value *object)
{
	default_spec(write->arena, bt_json_ensure_object(write->arena, object, "spec"));
	(void)bt_json_ensure_object(write->arena, object, "status");
}

static void prepare_claim(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

static void validate_claim(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		check_spec(errors, BT_PLACE(NULL, "spec"), bt_json_object_at(object, "spec"));
	}
}

static void validate_same_spec(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_check_immutable(errors, NULL, old, object, "spec");
	}
}

const struct bt_strategy bt_strategy_resource_claim = {
	.set_defaults = default_claim,
	.prepare_create = prepare_claim,
	.validate = validate_claim,
	.validate_update = validate_same_spec,
};

static void default_template(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	(void)bt_json_ensure_object(write->arena, spec, "metadata");
	default_spec(write->arena, bt_json_ensure_object(write->arena, spec, "spec"));
}

static void validate_template(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	check_spec(errors, BT_PLACE(BT_PLACE(NULL, "spec"), "spec"),
		bt_json_object_at(object, "spec.spec"));
}

const struct bt_strategy bt_strategy_resource_claim_template = {
	.set_defaults = default_template,
	.validate = validate_template,
	.validate_update = validate_same_spec,
};
