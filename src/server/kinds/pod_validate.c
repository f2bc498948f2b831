/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "server/kinds/common.h"
/* Validation of the fields that the scheduler reads. Spec: 14b section 5. */

void bt_rule_pod_affinity_keys(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *term)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *matched = bt_json_array_at(term, "matchLabelKeys");
	const struct bt_json_value *mismatched = bt_json_array_at(term, "mismatchLabelKeys");
	struct bt_text_set others = {0};
	for (uint32_t i = 0; i < mismatched->count; i++) {
		(void)bt_text_set_add(&others, mismatched->elements[i]->text);
	}
	for (uint32_t i = 0; i < matched->count; i++) {
		if (bt_text_set_has(&others, matched->elements[i]->text)) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_INDEX(BT_PATH_NAME(place, "matchLabelKeys"), i),
				matched->elements[i],
				"exists in both matchLabelKeys and mismatchLabelKeys");
		}
	}
	bt_text_set_finish(&others);
}

/* Validation of pods and pod templates except for scheduling. Spec: 14b section 5. */

/** --- containers --- */

/** --- resources --- */

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
		if (!bt_str_has_word(BT_STR("cpu memory ephemeral-storage"), member->name) &&
			!bt_resource_is_hugepage(member->name) &&
			bt_str_find_char(member->name, '/') < 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &at,
				bt_json_new_str(errors->arena, member->name),
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

static bool has_huge_pages(const struct bt_json_value *list)
{
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		if (bt_resource_is_hugepage(list->members[i].name)) {
			return true;
		}
	}
	return false;
}

void bt_rule_resources(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *resources)
{
	struct bt_field_errors *errors = check->errors;
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
		const struct bt_json_member *member = &requests->members[i];
		const struct bt_json_value *limit_value = bt_json_get(limits, member->name);
		bool may_overcommit = bt_resource_is_overcommit_allowed(member->name);
		struct bt_quantity request;
		struct bt_quantity limit;
		if (limit_value == NULL && !may_overcommit) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "limits"),
				NULL, "Limit must be set for non overcommitable resources");
		}
		if (!bt_kinds_quantity(member->value, errors->arena, &request) ||
			!bt_kinds_quantity(limit_value, errors->arena, &limit)) {
			continue;
		}
		int order = bt_quantity_compare(&request, &limit);
		if (order > 0 || (!may_overcommit && order != 0)) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "requests"),
				member->value, "must be %s %.*s limit of %.*s",
				may_overcommit ? "less than or equal to" : "equal to",
				BT_STR_ARG(member->name), BT_STR_ARG(limit_value->text));
		}
	}
	if (!base && (has_huge_pages(requests) || has_huge_pages(limits))) {
		bt_kinds_error(
			errors, BT_FIELD_FORBIDDEN, place, NULL, "HugePages require cpu or memory");
	}
}

/**
 * Checks the names of pod-level resources, and that the requests are at least the sum of the
 * containers' requests.
 */
static void check_pod_resources(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const lists[] = {"limits", "requests"};
	const struct bt_json_value *resources = bt_kinds_object(spec, "resources");
	const struct bt_json_value *requests = bt_json_object_at(resources, "requests");
	const struct bt_path *at = BT_PATH_NAME(place, "resources");
	if (resources == NULL || resources->count == 0) {
		return;
	}
	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		const struct bt_json_value *list = bt_json_object_at(resources, lists[n]);
		for (uint32_t i = 0; i < list->count; i++) {
			struct bt_str name = list->members[i].name;
			if (!bt_resource_is_pod_level_supported(name)) {
				bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED,
					BT_PATH_KEY(BT_PATH_NAME(at, lists[n]), name),
					bt_json_new_str(errors->arena, name),
					"\"cpu\", \"hugepages-\", \"memory\"");
			}
		}
	}
	const struct bt_json_value *sum = bt_kinds_container_sum(errors->arena, spec, "requests");
	for (uint32_t i = 0; i < requests->count; i++) {
		const struct bt_json_member *member = &requests->members[i];
		const struct bt_json_value *together = bt_json_get(sum, member->name);
		struct bt_quantity request;
		struct bt_quantity needed;
		if (bt_kinds_quantity(together, errors->arena, &needed) &&
			bt_kinds_quantity(member->value, errors->arena, &request) &&
			bt_quantity_compare(&needed, &request) > 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(at, "requests"), member->name),
				member->value,
				"must be greater than or equal to aggregate container requests of "
				"%.*s",
				BT_STR_ARG(together->text));
		}
	}
}

/** --- volumes --- */

void bt_rule_pod_volume(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *volume)
{
	uint32_t source_count = volume->count - (bt_json_find(volume, "name") != NULL ? 1U : 0U);
	if (source_count == 0) {
		bt_kinds_error(check->errors, BT_FIELD_REQUIRED, place, NULL,
			"must specify a volume type");
	} else if (source_count > 1) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN, place, NULL,
			"may not specify more than 1 volume type");
	}
}

/** No container may have the name of another. An ephemeral one may join an existing one. */
static void check_ephemeral_containers(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	const struct bt_json_value *added = bt_json_array_at(spec, "ephemeralContainers");
	const struct bt_path added_at = *BT_PATH_NAME(place, "ephemeralContainers");
	struct bt_text_set targets = {0};
	struct bt_text_set taken = {0};
	for (size_t n = 0; added->count != 0 && n < BT_ARRAY_LENGTH(lists); n++) {
		const struct bt_json_value *others = bt_json_array_at(spec, lists[n]);
		for (uint32_t i = 0; i < others->count; i++) {
			struct bt_str name = bt_kinds_text(others->elements[i], "name");
			(void)bt_text_set_add(&targets, name);
			(void)bt_text_set_add(&taken, name);
		}
	}
	for (uint32_t i = 0; i < added->count; i++) {
		const struct bt_json_value *container = added->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(&added_at, i);
		struct bt_str target = bt_kinds_text(container, "targetContainerName");
		if (!bt_text_set_add(&taken, bt_kinds_text(container, "name"))) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE, BT_PATH_NAME(&at, "name"),
				bt_json_find(container, "name"), "%s", "");
		}
		if (target.length != 0 && !bt_text_set_has(&targets, target)) {
			bt_kinds_error(errors, BT_FIELD_NOT_FOUND,
				BT_PATH_NAME(&at, "targetContainerName"),
				bt_json_find(container, "targetContainerName"), "%s", "");
		}
	}
	bt_text_set_finish(&targets);
	bt_text_set_finish(&taken);
}

/** --- the pod --- */

void bt_rule_pod_spec(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	struct bt_text_set seen = {0};
	/* A pod may use a host port only once per protocol and address. */
	const struct bt_json_value *containers = bt_json_array_at(spec, "containers");
	for (uint32_t c = 0; c < containers->count; c++) {
		const struct bt_json_value *ports =
			bt_json_array_at(containers->elements[c], "ports");
		const struct bt_path container =
			*BT_PATH_INDEX(BT_PATH_NAME(place, "containers"), c);
		const struct bt_path *list = BT_PATH_NAME(&container, "ports");
		for (uint32_t i = 0; i < ports->count; i++) {
			const struct bt_json_value *port = ports->elements[i];
			int64_t number = bt_json_int64_at(port, "hostPort", 0);
			if (number == 0) {
				continue;
			}
			struct bt_str text = bt_arena_printf(errors->arena, "%.*s/%.*s/%lld",
				BT_STR_ARG(bt_kinds_text(port, "protocol")),
				BT_STR_ARG(bt_kinds_text(port, "hostIP")), (long long)number);
			if (!bt_text_set_add(&seen, text)) {
				bt_kinds_error(errors, BT_FIELD_DUPLICATE,
					BT_PATH_NAME(BT_PATH_INDEX(list, i), "hostPort"),
					bt_json_new_str(errors->arena, text), "%s", "");
			}
		}
	}
	bt_text_set_finish(&seen);
	const struct bt_json_value *inits = bt_json_array_at(spec, "initContainers");
	struct bt_text_set names = {0};
	bt_kinds_collect_names(&names, containers, "name");
	for (uint32_t i = 0; i < inits->count; i++) {
		struct bt_str name = bt_kinds_text(inits->elements[i], "name");
		if (name.length != 0 && bt_text_set_has(&names, name)) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE,
				BT_PATH_NAME(
					BT_PATH_INDEX(BT_PATH_NAME(place, "initContainers"), i),
					"name"),
				bt_json_find(inits->elements[i], "name"), "%s", "");
		}
	}
	bt_text_set_finish(&names);
	check_pod_resources(errors, place, spec);
	check_ephemeral_containers(errors, place, spec);
	/* No two constraints may have the same topology key and action. */
	const struct bt_json_value *constraints =
		bt_json_array_at(spec, "topologySpreadConstraints");
	const struct bt_path *constraints_place = BT_PATH_NAME(place, "topologySpreadConstraints");
	for (uint32_t i = 0; i < constraints->count; i++) {
		struct bt_str pair = bt_arena_printf(errors->arena, "{%.*s, %.*s}",
			BT_STR_ARG(bt_kinds_text(constraints->elements[i], "topologyKey")),
			BT_STR_ARG(bt_kinds_text(constraints->elements[i], "whenUnsatisfiable")));
		if (!bt_text_set_add(&seen, pair)) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE,
				BT_PATH_NAME(BT_PATH_INDEX(constraints_place, i),
					"{topologyKey, whenUnsatisfiable}"),
				bt_json_new_str(errors->arena, pair), "%s", "");
		}
	}
	bt_text_set_finish(&seen);
}
