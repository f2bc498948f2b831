/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/devices.h"

#include <inttypes.h>

#include "api/time.h"
#include "cel/device.h"

/* DeviceClass, DeviceTaintRule, and what they share with claims and slices. Spec: 12 section 3.2,
 * 14b sections 2.2, 3.3 and 5. */

#define SELECTORS_MAX 32
#define CONFIGS_MAX 32
#define EXPRESSION_BYTES_MAX 10240
/** Of all expressions of an object, compiled: nobody else is answered meanwhile. */
#define PROGRAM_BYTES_MAX ((size_t)128 << 20)
/** Of one that does not compile: at worst it took as long as one of this size. */
#define REFUSED_PROGRAM_BYTES ((size_t)4 << 20)
#define PARAMETERS_BYTES_MAX 10240
#define DOMAIN_BYTES_MAX 63
#define IDENTIFIER_BYTES_MAX 32

static const char *const taint_effects[] = {"NoExecute", "NoSchedule", "None", NULL};

/** --- shared --- */

void bt_kinds_check_count(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, uint32_t max)
{
	if (list->count > max) {
		bt_kinds_error(errors, BT_FIELD_TOO_MANY, place,
			bt_kinds_int_value(errors, list->count),
			"must have at most %" PRIu32 " items", max);
	}
}

void bt_kinds_check_unique_label(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *element, struct bt_names *seen)
{
	if (!bt_kinds_check_given(errors, place, element, "name")) {
		return;
	}
	bt_kinds_check_name(
		errors, BT_PATH_NAME(place, "name"), bt_json_find(element, "name"), BT_NAME_LABEL);
	if (!bt_names_add(seen, bt_kinds_text(element, "name"))) {
		bt_kinds_error_duplicate(
			errors, BT_PATH_NAME(place, "name"), bt_json_find(element, "name"));
	}
}

static void check_expression(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *cel)
{
	const struct bt_path *at = BT_PATH_NAME(place, "expression");
	struct bt_str expression = bt_kinds_text(cel, "expression");
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	if (!bt_kinds_check_given(errors, place, cel, "expression")) {
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

void bt_kinds_check_device_selectors(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object)
{
	const struct bt_json_value *selectors = bt_json_array_at(object, "selectors");
	const struct bt_path *place = BT_PATH_NAME(parent, "selectors");
	bt_kinds_check_count(errors, place, selectors, SELECTORS_MAX);
	for (uint32_t i = 0; i < selectors->count && i < SELECTORS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		const struct bt_json_value *cel = bt_kinds_object(selectors->elements[i], "cel");
		if (cel == NULL) {
			bt_kinds_error_required(errors, BT_PATH_NAME(&at, "cel"));
		} else {
			check_expression(errors, BT_PATH_NAME(&at, "cel"), cel);
		}
	}
}

void bt_kinds_check_driver(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object)
{
	const struct bt_path *place = BT_PATH_NAME(parent, "driver");
	if (!bt_kinds_check_given(errors, parent, object, "driver")) {
		return;
	}
	if (bt_kinds_text(object, "driver").length > DOMAIN_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, place, NULL,
			"may not be more than %d bytes", DOMAIN_BYTES_MAX);
		return;
	}
	bt_kinds_check_name(errors, place, bt_json_find(object, "driver"), BT_NAME_SUBDOMAIN);
}

static void check_opaque(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *opaque)
{
	const struct bt_json_value *parameters = bt_json_find(opaque, "parameters");
	const struct bt_path *at = BT_PATH_NAME(place, "parameters");
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_kinds_check_driver(errors, place, opaque);
	if (parameters == NULL) {
		bt_kinds_error_required(errors, at);
		return;
	}
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, parameters);
	if (bt_strbuf_str(&text).length > PARAMETERS_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, at, NULL, "may not be more than %d bytes",
			PARAMETERS_BYTES_MAX);
	} else if (parameters->type != BT_JSON_OBJECT) {
		bt_kinds_error(
			errors, BT_FIELD_INVALID, at, parameters, "must be a valid JSON object");
	}
	bt_strbuf_finish(&text);
}

void bt_kinds_check_request_names(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const struct bt_names *requests)
{
	const struct bt_json_value *names = bt_json_array_at(object, "requests");
	const struct bt_path *place = BT_PATH_NAME(parent, "requests");
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < names->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		if (bt_names_find(requests, names->elements[i]->text) == BT_NAMES_NONE) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &at, names->elements[i],
				"must be the name of a request in the claim or the name of a "
				"request and a subrequest separated by '/'");
		}
		if (!bt_names_add(&seen, names->elements[i]->text)) {
			bt_kinds_error_duplicate(errors, &at, names->elements[i]);
		}
	}
}

void bt_kinds_check_device_config(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const struct bt_names *requests)
{
	const struct bt_json_value *configs = bt_json_array_at(object, "config");
	const struct bt_path *place = BT_PATH_NAME(parent, "config");
	bt_kinds_check_count(errors, place, configs, CONFIGS_MAX);
	for (uint32_t i = 0; i < configs->count && i < CONFIGS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		const struct bt_json_value *opaque =
			bt_kinds_object(configs->elements[i], "opaque");
		if (requests != NULL) {
			bt_kinds_check_request_names(errors, &at, configs->elements[i], requests);
		}
		if (opaque == NULL) {
			bt_kinds_error_required(errors, BT_PATH_NAME(&at, "opaque"));
		} else {
			check_opaque(errors, BT_PATH_NAME(&at, "opaque"), opaque);
		}
	}
}

/** A C identifier. */
static bool is_identifier(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!is_letter && (i == 0 || c < '0' || c > '9')) {
			return false;
		}
	}
	return text.length != 0 && text.length <= IDENTIFIER_BYTES_MAX;
}

void bt_kinds_check_device_name(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str name, bool needs_domain)
{
	int64_t slash = bt_str_find_char(name, '/');
	struct bt_str domain = bt_str_sub(name, 0, slash < 0 ? 0 : (uint32_t)slash);
	struct bt_str identifier =
		slash < 0 ? name : bt_str_sub(name, (uint32_t)slash + 1, BT_STR_MAX);
	if (slash < 0 && needs_domain) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, bt_kinds_text_value(errors, name),
			"a fully qualified name must be a domain and a name separated by a slash");
	}
	if (slash >= 0 && (domain.length > DOMAIN_BYTES_MAX || !bt_kinds_is_subdomain(domain))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, bt_kinds_text_value(errors, domain),
			"the domain must be a DNS subdomain of at most %d bytes", DOMAIN_BYTES_MAX);
	}
	if (!is_identifier(identifier)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_kinds_text_value(errors, identifier),
			"the name must be a C identifier of at most %d bytes",
			IDENTIFIER_BYTES_MAX);
	}
}

void bt_kinds_check_amount(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value)
{
	struct bt_quantity quantity;
	struct bt_quantity zero = bt_quantity_make(0, 0, BT_QUANTITY_DECIMAL_SI);
	if (value == NULL || !bt_kinds_quantity(value, errors->arena, &quantity)) {
		bt_kinds_error_required(errors, place);
	} else if (bt_quantity_compare(&quantity, &zero) < 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"must be greater than or equal to 0");
	}
}

void bt_kinds_check_device_taint(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *taint)
{
	if (bt_kinds_check_given(errors, place, taint, "key")) {
		bt_kinds_check_label_key(
			errors, BT_PATH_NAME(place, "key"), bt_kinds_text(taint, "key"));
	}
	bt_kinds_check_text_in(errors, place, taint, "effect", taint_effects, true);
}

/** --- DeviceClass --- */

static void validate_class(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	struct bt_str resource = bt_kinds_text(spec, "extendedResourceName");
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	bt_kinds_check_device_selectors(errors, place, spec);
	bt_kinds_check_device_config(errors, place, spec, NULL);
	if (resource.length != 0) {
		bt_kinds_check_label_key(
			errors, BT_PATH_NAME(place, "extendedResourceName"), resource);
	}
}

const struct bt_strategy bt_strategy_device_class = {.validate = validate_class};

/** --- DeviceTaintRule --- */

static void default_rule(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	struct bt_json_value *taint = bt_json_ensure_object(write->arena, spec, "taint");
	(void)bt_json_ensure_object(write->arena, object, "status");
	if (bt_json_find(taint, "timeAdded") == NULL) {
		bt_json_set_str(write->arena, taint, "timeAdded",
			bt_time_text(write->arena, write->now_ns));
	}
}

static void prepare_rule(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

static void validate_rule(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *selector = bt_kinds_object(spec, "deviceSelector");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (selector != NULL && bt_json_find(selector, "driver") != NULL) {
		bt_kinds_check_driver(errors, BT_PATH_NAME(place, "deviceSelector"), selector);
	}
	bt_kinds_check_device_taint(
		errors, BT_PATH_NAME(place, "taint"), bt_json_object_at(spec, "taint"));
}

const struct bt_strategy bt_strategy_device_taint_rule = {
	.set_defaults = default_rule,
	.prepare_create = prepare_rule,
	.validate = validate_rule,
};
