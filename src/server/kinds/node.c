/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Nodes. Spec: 14b sections 2.2, 2.3, 3.3 and 5. */

static void set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(arena, object, "status");
	struct bt_json_value *capacity = bt_kinds_object(status, "capacity");
	const struct bt_json_value *allocatable = bt_kinds_object(status, "allocatable");
	struct bt_str cidr = bt_kinds_text(spec, "podCIDR");
	if (capacity != NULL && (allocatable == NULL || allocatable->count == 0)) {
		bt_json_set_value(
			arena, status, "allocatable", bt_json_clone(arena, capacity, false));
	}
	bt_kinds_round_quantities(arena, capacity);
	bt_kinds_round_quantities(arena, bt_kinds_object(status, "allocatable"));
	if (bt_json_array_at(spec, "podCIDRs")->count == 0 && cidr.length != 0) {
		struct bt_json_value *cidrs = bt_json_new(arena, BT_JSON_ARRAY);
		bt_json_append(arena, cidrs, bt_json_new_str(arena, cidr));
		bt_json_set_value(arena, spec, "podCIDRs", cidrs);
	}
}

static void check_taints(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *taints)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < taints->count; i++) {
		const struct bt_json_value *taint = taints->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		struct bt_str key = bt_kinds_text(taint, "key");
		struct bt_str effect = bt_kinds_text(taint, "effect");
		bt_kinds_check_label_key(errors, BT_PATH_NAME(&at, "key"), key);
		bt_kinds_check_text_in(errors, &at, taint, "effect", bt_kinds_taint_effects, true);
		if (!bt_names_add(&seen,
			    bt_arena_printf(errors->arena, "%.*s:%.*s", BT_STR_ARG(key),
				    BT_STR_ARG(effect)))) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE, &at, taint,
				"taints must be unique by key and effect pair");
		}
	}
}

static void check_quantities(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *map)
{
	for (uint32_t i = 0; map != NULL && i < map->count; i++) {
		struct bt_quantity quantity;
		struct bt_quantity zero = {0};
		if (bt_kinds_quantity(map->members[i].value, errors->arena, &quantity) &&
			bt_quantity_compare(&quantity, &zero) < 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_KEY(place, map->members[i].name), map->members[i].value,
				"must be greater than or equal to 0");
		}
	}
}

static void validate(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *status = bt_json_object_at(object, "status");
	const struct bt_path *spec_place = BT_PATH_NAME(NULL, "spec");
	const struct bt_path *status_place = BT_PATH_NAME(NULL, "status");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		check_taints(errors, BT_PATH_NAME(spec_place, "taints"),
			bt_json_array_at(spec, "taints"));
	}
	check_quantities(errors, BT_PATH_NAME(status_place, "capacity"),
		bt_kinds_object(status, "capacity"));
	check_quantities(errors, BT_PATH_NAME(status_place, "allocatable"),
		bt_kinds_object(status, "allocatable"));
}

static void validate_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *cidrs = bt_json_find_path(old, "spec.podCIDRs");
	struct bt_str provider = bt_json_text_at(old, "spec.providerID");
	(void)write;
	if (cidrs != NULL && cidrs->count != 0 &&
		!bt_kinds_same(cidrs, bt_json_find_path(object, "spec.podCIDRs"))) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "podCIDRs"), NULL,
			"node updates may not change podCIDR except from \"\" to valid");
	}
	if (provider.length != 0 &&
		!bt_str_equal(provider, bt_json_text_at(object, "spec.providerID"))) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "providerID"), NULL,
			"node updates may not change providerID except from \"\" to valid");
	}
}

const struct bt_strategy bt_strategy_node = {
	.set_defaults = set_defaults,
	.validate = validate,
	.validate_update = validate_update,
};
