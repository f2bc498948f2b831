/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which devices a request of the workloads selects, and what the request consumes, computed without
 * CEL and without an allocator.
 */
#include "soak/devices.h"

/** --- requests --- */

static int64_t bandwidth_in(const struct bt_capacity_requirements *capacity)
{
	const struct bt_quantity *quantity = capacity == NULL
		? NULL
		: bt_resource_list_find(&capacity->requests, BT_STR("bandwidth"));
	return quantity != NULL ? bt_quantity_value(quantity) : -1;
}

struct bt_sim_subrequest bt_sim_subrequest_of(const struct bt_device_request *request, uint32_t sub)
{
	if (request->exactly != NULL) {
		const struct bt_exact_device_request *exactly = request->exactly;
		return (struct bt_sim_subrequest){exactly->device_class_name,
			exactly->selectors.items, exactly->selectors.count,
			bt_str_equal_c(exactly->allocation_mode, "All"),
			exactly->admin_access.value, (uint32_t)exactly->count,
			exactly->tolerations.items, exactly->tolerations.count,
			bandwidth_in(exactly->capacity)};
	}
	const struct bt_device_sub_request *one = &request->first_available.items[sub];
	return (struct bt_sim_subrequest){one->device_class_name, one->selectors.items,
		one->selectors.count, bt_str_equal_c(one->allocation_mode, "All"), false,
		(uint32_t)one->count, one->tolerations.items, one->tolerations.count,
		bandwidth_in(one->capacity)};
}

/** --- devices --- */

static const struct bt_device_attribute *attribute_of(
	const struct bt_device *device, const char *name)
{
	for (uint32_t i = 0; i < device->attributes.count; i++) {
		if (bt_str_equal_c(device->attributes.items[i].key, name)) {
			return &device->attributes.items[i].value;
		}
	}
	return NULL;
}

/** Whether the device matches the selector. A selector that is not in the table matches nothing. */
static bool holds(const struct bt_device_selector *selector, struct bt_str driver,
	const struct bt_device *device)
{
	for (uint32_t i = 0; i < bt_sim_selector_count; i++) {
		const struct bt_sim_selector *known = &bt_sim_selectors[i];
		if (!bt_str_equal_c(selector->cel->expression, known->expression)) {
			continue;
		}
		if (!bt_str_equal_c(driver, known->driver)) {
			return false;
		}
		const struct bt_device_attribute *attribute =
			known->attribute != NULL ? attribute_of(device, known->attribute) : NULL;
		return known->attribute == NULL ||
			(attribute != NULL &&
				(known->text != NULL
						? bt_str_equal_c(attribute->string, known->text)
						: attribute->int_.value == known->number));
	}
	return false;
}

static bool all_hold(const struct bt_device_selector *selectors, uint32_t count,
	struct bt_str driver, const struct bt_device *device)
{
	bool good = true;
	for (uint32_t i = 0; i < count; i++) {
		good = good && holds(&selectors[i], driver, device);
	}
	return good;
}

/**
 * Whether the subrequest tolerates the taint. Tolerations of the workloads have only a key, and
 * match any value and effect.
 */
static bool is_tolerated(
	const struct bt_sim_subrequest *subrequest, const struct bt_device_taint *taint)
{
	bool tolerated = bt_str_equal_c(taint->effect, "None");
	for (uint32_t i = 0; i < subrequest->toleration_count; i++) {
		tolerated = tolerated || bt_str_equal(subrequest->tolerations[i].key, taint->key);
	}
	return tolerated;
}

bool bt_sim_subrequest_selects(const struct bt_sim_subrequest *subrequest,
	const struct bt_device_class *class_, struct bt_str driver, const struct bt_device *device)
{
	bool tolerated = true;
	for (uint32_t i = 0; i < device->taints.count; i++) {
		tolerated = tolerated && is_tolerated(subrequest, &device->taints.items[i]);
	}
	return tolerated &&
		all_hold(class_->spec.selectors.items, class_->spec.selectors.count, driver,
			device) &&
		all_hold(subrequest->selectors, subrequest->selector_count, driver, device);
}

bool bt_sim_is_shareable(const struct bt_device *device)
{
	return device->allow_multiple_allocations.value;
}

int64_t bt_sim_numa_of(const struct bt_device *device)
{
	const struct bt_device_attribute *attribute = attribute_of(device, "numa");
	return attribute != NULL ? attribute->int_.value : -1;
}

int64_t bt_sim_slots_of(const struct bt_device *device)
{
	return device->consumes_counters.count == 0
		? 0
		: bt_quantity_value(
			  &device->consumes_counters.items[0].counters.items[0].value.value);
}

int64_t bt_sim_bandwidth_of(const struct bt_device *device)
{
	return device->capacity.count == 0
		? 0
		: bt_quantity_value(&device->capacity.items[0].value.value);
}

/** --- allocations --- */

int64_t bt_sim_consumed_by(const struct bt_device_request_allocation_result *result)
{
	const struct bt_quantity *quantity =
		bt_resource_list_find(&result->consumed_capacity, BT_STR("bandwidth"));
	return quantity != NULL ? bt_quantity_value(quantity) : 0;
}

bool bt_sim_is_device(const struct bt_device_request_allocation_result *result,
	const struct bt_resource_slice *slice, const struct bt_device *device)
{
	return bt_str_equal(result->driver, slice->spec.driver) &&
		bt_str_equal(result->pool, slice->spec.pool.name) &&
		bt_str_equal(result->device, device->name);
}
