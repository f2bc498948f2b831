/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/device.h"
#include "server/kinds/common.h"

/*
 * DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice. Spec: 12
 * section 3.2, 14b sections 2.2, 2.3, 3.3 and 5.
 */

#define EXPRESSION_BYTES_MAX 10240
/**
 * Limit for all compiled expressions of an object together, since other requests wait during
 * compilation.
 */
#define PROGRAM_BYTES_MAX ((size_t)128 << 20)
/**
 * An expression that does not compile counts as this many bytes: compiling it may have taken as
 * long as for a program of this size.
 */
#define REFUSED_PROGRAM_BYTES ((size_t)4 << 20)
#define PARAMETERS_BYTES_MAX 10240
#define DOMAIN_BYTES_MAX 63
#define IDENTIFIER_BYTES_MAX 32
#define ADMIN_ACCESS "resource.kubernetes.io/admin-access"

/** --- parts of classes, claims and slices --- */

void bt_rule_device_expression(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *cel)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_path *at = BT_PATH_NAME(place, "expression");
	struct bt_str expression = bt_kinds_text(cel, "expression");
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	if (expression.length == 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at,
			bt_json_new_str(errors->arena, expression),
			"compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input "
			"'<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
			"NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}");
		return;
	}
	if (expression.length > EXPRESSION_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, at, NULL, "may not be more than %d bytes",
			EXPRESSION_BYTES_MAX);
		return;
	}
	if (errors->expression_bytes > PROGRAM_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, at, NULL,
			"the expressions of the object are too complex together");
		return;
	}
	if (bt_cel_compile(expression, bt_cel_device_environment(false), &program, &err) < 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at, bt_json_find(cel, "expression"), "%s",
			berth_error_message(&err));
		errors->expression_bytes += REFUSED_PROGRAM_BYTES;
	} else {
		errors->expression_bytes += bt_cel_program_bytes(program);
	}
	bt_cel_program_destroy(program);
	berth_error_finish(&err);
}

void bt_rule_device_parameters(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *opaque)
{
	const struct bt_json_value *parameters = bt_json_find(opaque, "parameters");
	const struct bt_path *at = BT_PATH_NAME(place, "parameters");
	struct bt_strbuf text = {0};
	if (parameters == NULL) {
		return;
	}
	bt_json_format(parameters, &text);
	if (bt_strbuf_str(&text).length > PARAMETERS_BYTES_MAX) {
		bt_kinds_error(check->errors, BT_FIELD_TOO_LONG, at, NULL,
			"may not be more than %d bytes", PARAMETERS_BYTES_MAX);
	} else if (parameters->type != BT_JSON_OBJECT) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, at, parameters,
			"must be a valid JSON object");
	}
	bt_strbuf_finish(&text);
}

void bt_kinds_check_device_name(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str name, bool needs_domain)
{
	int64_t slash = bt_str_find_char(name, '/');
	struct bt_str domain = bt_str_sub(name, 0, slash < 0 ? 0 : (uint32_t)slash);
	struct bt_str identifier =
		slash < 0 ? name : bt_str_sub(name, (uint32_t)slash + 1, BT_STR_MAX);
	if (slash < 0 && needs_domain) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_json_new_str(errors->arena, name),
			"a fully qualified name must be a domain and a name separated by a slash");
	}
	if (slash >= 0 && (domain.length > DOMAIN_BYTES_MAX || !bt_kinds_is_subdomain(domain))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_json_new_str(errors->arena, domain),
			"the domain must be a DNS subdomain of at most %d bytes", DOMAIN_BYTES_MAX);
	}
	if (identifier.length == 0 || identifier.length > IDENTIFIER_BYTES_MAX ||
		!bt_kinds_is_identifier(identifier, '_')) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_json_new_str(errors->arena, identifier),
			"the name must be a C identifier of at most %d bytes",
			IDENTIFIER_BYTES_MAX);
	}
}

/** --- the spec of a claim --- */

void bt_kinds_enter_device_claim(struct bt_check *check, const struct bt_json_value *devices)
{
	const struct bt_json_value *requests = bt_json_array_at(devices, "requests");
	struct bt_arena *arena = check->errors->arena;
	bt_text_set_finish(&check->requests);
	for (uint32_t i = 0; i < requests->count; i++) {
		struct bt_str name = bt_kinds_text(requests->elements[i], "name");
		const struct bt_json_value *alternatives =
			bt_json_array_at(requests->elements[i], "firstAvailable");
		(void)bt_text_set_add(&check->requests, name);
		for (uint32_t n = 0; n < alternatives->count; n++) {
			struct bt_str alternative =
				bt_kinds_text(alternatives->elements[n], "name");
			(void)bt_text_set_add(&check->requests,
				bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(name),
					BT_STR_ARG(alternative)));
		}
	}
}

/**
 * adminAccess gives access to devices that other claims use, so it needs a label on the namespace.
 */
void bt_rule_admin_access(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *request)
{
	const struct bt_write *write = check->write;
	if (!bt_json_bool_at(request, "adminAccess", false)) {
		return;
	}
	const struct bt_json_value *namespace_ = bt_api_read(write->api,
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

/** --- ResourceClaim --- */

/** A write of the status must not change labels, annotations, finalizers or owner references. */
static void prepare_claim_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	static const char *const kept[] = {
		"labels", "annotations", "finalizers", "ownerReferences"};
	struct bt_json_value *metadata = bt_json_ensure_object(write->arena, object, "metadata");
	for (uint32_t i = 0;
		i < BT_ARRAY_LENGTH(kept) && write->subresource == BT_SUBRESOURCE_STATUS; i++) {
		bt_kinds_reset_member(
			write->arena, metadata, bt_json_object_at(old, "metadata"), kept[i]);
	}
}

const struct bt_strategy bt_strategy_resource_claim = {
	.resets_status = true,
	.prepare_update = prepare_claim_update,
};

/* ResourceSlice. Spec: 12 section 3.2, 14b sections 2.2, 2.3 and 5. */

#define DEVICES_MAX 128
#define DEVICES_WITH_EXTRAS_MAX 64 /* if any device has taints or counters */

bool bt_kinds_is_pool_name(struct bt_str name)
{
	do {
		if (!bt_kinds_is_subdomain(bt_str_cut(&name, '/'))) {
			return false;
		}
	} while (name.data != NULL);
	return true;
}

void bt_rule_device_count(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_json_value *devices = bt_json_array_at(spec, "devices");
	uint32_t max = DEVICES_MAX;
	for (uint32_t i = 0; i < devices->count; i++) {
		if (bt_json_array_at(devices->elements[i], "taints")->count != 0 ||
			bt_json_array_at(devices->elements[i], "consumesCounters")->count != 0) {
			max = DEVICES_WITH_EXTRAS_MAX;
		}
	}
	bt_kinds_check_count(check->errors, BT_PATH_NAME(place, "devices"), devices, max);
}
