/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of a class on a node as spec 05 section 11.7 has it, slice by slice. */
#include "api/selector.h"
#include "dra/device_pools.h"
#include "dra/device_totals.h"
#include "dra/selectors.h"

struct count {
	struct bt_dra *dra;
	const struct bt_device_class *device_class;
	uint32_t slot;
	struct bt_str node_name;
	struct bt_device_totals totals;
	bool is_broken;
};

static bool selects(struct count *count, const struct bt_node_selector *selector)
{
	struct bt_arena arena = {0};
	struct bt_error_list errors = {0};
	struct bt_parsed_node_selector parsed =
		bt_node_selector_parse(selector, BT_STR(""), &arena);
	bool matches = false;

	bt_node_selector_errors(&parsed, &arena, &errors);
	if (errors.count != 0) {
		count->is_broken = true;
	} else {
		matches = bt_node_selector_matches(&parsed, count->node_name,
			&count->dra->state->nodes.rows[count->slot].labels, &arena, NULL);
	}
	bt_arena_finish(&arena);
	return matches;
}

static bool reaches_slice(struct count *count, const struct bt_resource_slice_spec *spec)
{
	if (spec->all_nodes.value || bt_str_equal(spec->node_name, count->node_name)) {
		return true;
	}
	if (spec->node_selector != NULL) {
		return spec->node_name.length == 0 && selects(count, spec->node_selector);
	}
	return spec->node_name.length == 0;
}

static bool reaches_device(struct count *count, const struct bt_device *device)
{
	return device->all_nodes.value || bt_str_equal(device->node_name, count->node_name) ||
		(device->node_selector != NULL && device->node_name.length == 0 &&
			selects(count, device->node_selector));
}

static bool is_of_class(struct count *count, const struct bt_resource_slice *slice,
	const struct bt_device *device, uint32_t device_id)
{
	const struct bt_device_class_spec *spec = &count->device_class->spec;
	enum bt_verdict verdict = BT_VERDICT_TRUE;

	for (uint32_t i = 0; verdict == BT_VERDICT_TRUE && i < spec->selectors.count; i++) {
		if (spec->selectors.items[i].cel != NULL) {
			verdict =
				bt_dra_select(count->dra, spec->selectors.items[i].cel->expression,
					slice, device, device_id, NULL);
		}
	}
	count->is_broken |= verdict == BT_VERDICT_ERROR;
	return verdict == BT_VERDICT_TRUE;
}

static void count_slice(struct count *count, const struct bt_resource_slice *slice)
{
	bool per_device = slice->spec.per_device_node_selection.value;

	if (!per_device && !reaches_slice(count, &slice->spec)) {
		return;
	}
	for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
		const struct bt_device *device = &slice->spec.devices.items[i];
		uint32_t id = bt_device_ids_find(
			&count->dra->ids, slice->spec.driver, slice->spec.pool.name, device->name);

		if ((!per_device || reaches_device(count, device)) &&
			is_of_class(count, slice, device, id)) {
			count->totals.devices++;
			count->totals.allocated += bt_allocated_is_held(&count->dra->allocated, id);
		}
	}
}

struct bt_device_totals bt_dra_device_totals_anew(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot)
{
	struct count count = {
		.dra = dra,
		.device_class = device_class,
		.slot = slot,
		.node_name =
			bt_symbol_text(&dra->state->symbols, dra->state->nodes.rows[slot].name),
	};
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;

	while ((slice = bt_device_pools_next_slice(dra->pools, &cursor)) != NULL) {
		count_slice(&count, slice);
	}
	return count.is_broken ? (struct bt_device_totals){0, 0} : count.totals;
}
