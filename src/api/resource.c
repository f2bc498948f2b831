/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/label.h"
#include "api/resources.h"
#include "base/assert.h"
#include "base/vec.h"
#include "base/wrap.h"

/* Classes of resource names, spec 01b section 2. */

static bool is_prefixed_native(struct bt_str name)
{
	return bt_str_find(name, BT_STR("kubernetes.io/")) >= 0;
}

bool bt_resource_is_native(struct bt_str name)
{
	return bt_str_find_char(name, '/') < 0 || is_prefixed_native(name);
}

bool bt_resource_is_extended(struct bt_str name)
{
	static const uint32_t quota_prefix_length = sizeof("requests.") - 1;
	int64_t slash = bt_str_find_char(name, '/');

	if (slash < 0 || is_prefixed_native(name) || bt_str_has_prefix(name, BT_STR("requests."))) {
		return false;
	}
	/* "requests." plus a subdomain is a valid subdomain, so only the length needs a check */
	struct bt_str prefix = bt_str_sub(name, 0, (uint32_t)slash);
	struct bt_str last = bt_str_sub(name, (uint32_t)slash + 1, name.length);
	return prefix.length + quota_prefix_length <= BT_LABEL_PREFIX_MAX &&
		bt_label_prefix_matches(prefix) && last.length <= BT_LABEL_NAME_MAX &&
		bt_label_name_matches(last);
}

bool bt_resource_is_hugepage(struct bt_str name)
{
	return bt_str_has_prefix(name, BT_STR("hugepages-"));
}

bool bt_resource_is_attachable_volume(struct bt_str name)
{
	return bt_str_has_prefix(name, BT_STR("attachable-volumes-"));
}

bool bt_resource_is_scalar(struct bt_str name)
{
	return bt_resource_is_hugepage(name) || bt_resource_is_attachable_volume(name) ||
		is_prefixed_native(name) || bt_resource_is_extended(name);
}

bool bt_resource_is_dra_extended(struct bt_str name)
{
	return bt_resource_is_extended(name) ||
		bt_str_has_prefix(name, BT_STR("deviceclass.resource.kubernetes.io/"));
}

bool bt_resource_is_pod_level_supported(struct bt_str name)
{
	return bt_str_equal(name, BT_STR("cpu")) || bt_str_equal(name, BT_STR("memory")) ||
		bt_resource_is_hugepage(name);
}

bool bt_resource_is_overcommit_allowed(struct bt_str name)
{
	return bt_resource_is_native(name) && !bt_resource_is_hugepage(name);
}

uint32_t bt_resource_amount_problems(struct bt_str name, const struct bt_quantity *amount,
	const char *out_problems[BT_AMOUNT_PROBLEMS_MAX])
{
	static const struct bt_quantity zero = {0};
	uint32_t count = 0;
	if (bt_quantity_compare(amount, &zero) < 0) {
		out_problems[count++] = "must be greater than or equal to 0";
	}
	/* values beyond int64 are treated as whole */
	int64_t value = bt_quantity_value(amount);
	struct bt_quantity whole = bt_quantity_make(value, 0, BT_QUANTITY_DECIMAL_SI);
	if (!bt_resource_is_overcommit_allowed(name) && value != INT64_MAX &&
		bt_quantity_compare(&whole, amount) != 0) {
		out_problems[count++] = "must be an integer";
	}
	return count;
}

/* The integer record, spec 01b section 10. */

static int64_t *scalar_find(const struct bt_resource *resource, struct bt_str name)
{
	uint32_t at;

	BT_LOWER_BOUND(at, resource->scalar_count, middle,
		bt_str_compare(resource->scalars[middle].name, name) < 0);

	if (at == resource->scalar_count || !bt_str_equal(resource->scalars[at].name, name)) {
		return NULL;
	}
	return &resource->scalars[at].value;
}

/**
 * Creates the entries of all scalar names of the list by one merge from the back: both lists are
 * sorted, and inserting many names one by one would take quadratic time.
 */
static void scalars_create(
	struct bt_resource *resource, const struct bt_resource_list *list, struct bt_arena *arena)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		missing += bt_resource_is_scalar(list->items[i].name) &&
			scalar_find(resource, list->items[i].name) == NULL;
	}
	if (missing == 0) {
		return;
	}
	uint64_t needed = (uint64_t)resource->scalar_count + missing;
	if (needed > resource->scalar_capacity) {
		uint64_t capacity = 2 * (uint64_t)resource->scalar_capacity;
		capacity = needed > capacity ? needed : capacity;
		BT_ASSERT(capacity < UINT32_MAX);
		resource->scalars = bt_arena_copy_array(arena, resource->scalars,
			resource->scalar_count, (uint32_t)capacity - resource->scalar_count,
			sizeof(*resource->scalars));
		resource->scalar_capacity = (uint32_t)capacity;
	}
	uint32_t from = resource->scalar_count;
	uint32_t to = resource->scalar_count + missing;
	resource->scalar_count = to;
	for (uint32_t i = list->count; i > 0 && to > from; i--) {
		const struct bt_resource_entry *entry = &list->items[i - 1];

		if (!bt_resource_is_scalar(entry->name)) {
			continue;
		}
		while (from > 0 &&
			bt_str_compare(resource->scalars[from - 1].name, entry->name) > 0) {
			resource->scalars[--to] = resource->scalars[--from];
		}
		if (from == 0 || !bt_str_equal(resource->scalars[from - 1].name, entry->name)) {
			resource->scalars[--to] = (struct bt_scalar_resource){entry->name, 0};
		}
	}
}

const struct bt_str bt_standard_names[BT_STANDARD__COUNT] = {
	BT_STR_INIT("cpu"),
	BT_STR_INIT("memory"),
	BT_STR_INIT("ephemeral-storage"),
};

/** Returns where the amount of a standard resource is stored; NULL for other resources. */
static int64_t *standard_amount(struct bt_resource *resource, struct bt_str name)
{
	if (bt_str_equal(name, BT_STR("cpu"))) {
		return &resource->cpu_milli;
	}
	if (bt_str_equal(name, BT_STR("memory"))) {
		return &resource->memory_bytes;
	}
	if (bt_str_equal(name, BT_STR("ephemeral-storage"))) {
		return &resource->ephemeral_storage_bytes;
	}
	return bt_str_equal(name, BT_STR("pods")) ? &resource->allowed_pod_number : NULL;
}

static void combine_value(int64_t *target, int64_t value, bool is_maximum)
{
	if (!is_maximum) {
		*target = bt_wrap_add(*target, value);
	} else if (value > *target) {
		*target = value;
	}
}

/** Adds the entries of the list to the record, or raises the record's values to those entries. */
static void combine(struct bt_resource *resource, const struct bt_resource_list *list,
	bool is_maximum, struct bt_arena *arena)
{
	uint32_t others = 0;

	if (resource == NULL) {
		return;
	}
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_resource_entry *entry = &list->items[i];
		int64_t *target = standard_amount(resource, entry->name);

		if (target == NULL) {
			others++;
		} else if (!is_maximum || target != &resource->allowed_pod_number) {
			combine_value(target,
				target == &resource->cpu_milli
					? bt_quantity_milli(&entry->quantity)
					: bt_quantity_value(&entry->quantity),
				is_maximum);
		}
	}
	if (others == 0) {
		return;
	}
	scalars_create(resource, list, arena);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_resource_entry *entry = &list->items[i];

		if (bt_resource_is_scalar(entry->name)) {
			combine_value(scalar_find(resource, entry->name),
				bt_quantity_value(&entry->quantity), is_maximum);
		}
	}
}

void bt_resource_add(
	struct bt_resource *resource, const struct bt_resource_list *list, struct bt_arena *arena)
{
	combine(resource, list, false, arena);
}

void bt_resource_set_max(
	struct bt_resource *resource, const struct bt_resource_list *list, struct bt_arena *arena)
{
	combine(resource, list, true, arena);
}

const int64_t *bt_resource_find_scalar(const struct bt_resource *resource, struct bt_str name)
{
	return scalar_find(resource, name);
}
