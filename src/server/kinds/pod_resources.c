/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include "api/label.h"
#include "api/resources.h"

/* Requests and limits. Spec: 14b section 5, row "resources". */

static bool is_container_resource(struct bt_str name)
{
	return bt_str_equal_c(name, "cpu") || bt_str_equal_c(name, "memory") ||
		bt_str_equal_c(name, "ephemeral-storage") || bt_resource_is_hugepage(name) ||
		bt_str_find_char(name, '/') >= 0;
}

static bool is_too_long(const struct bt_json_value *list)
{
	return list != NULL && list->count > BT_KINDS_RESOURCES_MAX;
}

static void check_list(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list)
{
	if (is_too_long(list)) {
		bt_kinds_error(errors, BT_FIELD_TOO_MANY, place, NULL, "must have at most %d items",
			BT_KINDS_RESOURCES_MAX);
		return;
	}
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		const struct bt_json_member *member = &list->members[i];
		const struct bt_path at = *BT_PATH_KEY(place, member->name);
		struct bt_quantity quantity;
		if (!is_container_resource(member->name)) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &at,
				bt_kinds_text_value(errors, member->name),
				"must be a standard resource for containers");
		} else {
			bt_kinds_check_label_key(errors, &at, member->name);
		}
		if (!bt_kinds_quantity(member->value, errors->arena, &quantity)) {
			continue;
		}
		const char *problems[BT_AMOUNT_PROBLEMS_MAX];
		uint32_t count = bt_resource_amount_problems(member->name, &quantity, problems);
		for (uint32_t n = 0; n < count; n++) {
			bt_kinds_error(
				errors, BT_FIELD_INVALID, &at, member->value, "%s", problems[n]);
		}
	}
}

static void check_request(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_member *member, const struct bt_json_value *limits)
{
	const struct bt_json_value *limit_value = bt_json_get(limits, member->name);
	bool may_overcommit = bt_resource_is_overcommit_allowed(member->name);
	struct bt_quantity request;
	struct bt_quantity limit;
	int order;
	if (limit_value == NULL) {
		if (!may_overcommit) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "limits"),
				NULL, "Limit must be set for non overcommitable resources");
		}
		return;
	}
	if (!bt_kinds_quantity(member->value, errors->arena, &request) ||
		!bt_kinds_quantity(limit_value, errors->arena, &limit)) {
		return;
	}
	order = bt_quantity_compare(&request, &limit);
	if (!may_overcommit && order != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "requests"),
			member->value, "must be equal to %.*s limit of %.*s",
			BT_STR_ARG(member->name), BT_STR_ARG(limit_value->text));
	} else if (order > 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "requests"),
			member->value, "must be less than or equal to %.*s limit of %.*s",
			BT_STR_ARG(member->name), BT_STR_ARG(limit_value->text));
	}
}

static bool has_huge_pages(const struct bt_json_value *list)
{
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		if (bt_resource_is_hugepage(list->members[i].name)) {
			return true;
		}
	}
	return false;
}

void bt_kinds_validate_resources(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *resources)
{
	const struct bt_json_value *requests = bt_kinds_object(resources, "requests");
	const struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	bool base = bt_json_find(requests, "cpu") != NULL || bt_json_find(limits, "cpu") != NULL ||
		bt_json_find(requests, "memory") != NULL || bt_json_find(limits, "memory") != NULL;
	check_list(errors, BT_PATH_NAME(place, "limits"), limits);
	check_list(errors, BT_PATH_NAME(place, "requests"), requests);
	if (is_too_long(limits) || is_too_long(requests)) {
		return;
	}
	for (uint32_t i = 0; requests != NULL && i < requests->count; i++) {
		check_request(errors, place, &requests->members[i], limits);
	}
	if (!base && (has_huge_pages(requests) || has_huge_pages(limits))) {
		bt_kinds_error(
			errors, BT_FIELD_FORBIDDEN, place, NULL, "HugePages require cpu or memory");
	}
}

/** At pod level a request covers what the containers ask for together. */
static void check_covered(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *requests, const struct bt_json_value *sum)
{
	for (uint32_t i = 0; requests != NULL && i < requests->count; i++) {
		const struct bt_json_member *member = &requests->members[i];
		struct bt_quantity own;
		struct bt_quantity together;
		if (bt_kinds_quantity(bt_json_get(sum, member->name), errors->arena, &together) &&
			bt_kinds_quantity(member->value, errors->arena, &own) &&
			bt_quantity_compare(&together, &own) > 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_KEY(place, member->name),
				member->value,
				"must be greater than or equal to aggregate container requests of "
				"%.*s",
				BT_STR_ARG(bt_json_get(sum, member->name)->text));
		}
	}
}

void bt_kinds_validate_pod_resources(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const lists[] = {"limits", "requests"};
	const struct bt_json_value *resources = bt_kinds_object(spec, "resources");
	const struct bt_path *at = BT_PATH_NAME(place, "resources");
	if (resources == NULL || resources->count == 0) {
		return;
	}
	for (uint32_t n = 0; n < sizeof(lists) / sizeof(lists[0]); n++) {
		const struct bt_json_value *list = bt_json_object_at(resources, lists[n]);
		for (uint32_t i = 0; i < list->count; i++) {
			if (!bt_resource_is_pod_level_supported(list->members[i].name)) {
				bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED,
					BT_PATH_KEY(
						BT_PATH_NAME(at, lists[n]), list->members[i].name),
					bt_kinds_text_value(errors, list->members[i].name),
					"\"cpu\", \"hugepages-\", \"memory\"");
			}
		}
	}
	bt_kinds_validate_resources(errors, at, resources);
	check_covered(errors, BT_PATH_NAME(at, "requests"), bt_kinds_object(resources, "requests"),
		bt_kinds_container_sum(errors->arena, spec, "requests"));
}
