/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_totals.h"

#include "api/selector.h"
#include "base/alloc.h"
#include "dra/device_pools.h"
#include "dra/device_pools_private.h"

static void forget_classes(struct bt_device_totals_cache *cache)
{
	for (uint32_t i = 0; i < cache->classes.count; i++) {
		struct class_totals *totals = &cache->classes.items[i];
		bt_vec_finish(&totals->everywhere.ids);
		bt_vec_finish_each(&totals->nodes, bt_vec_finish(&each->ids));
	}
	cache->classes.count = 0;
}

void bt_device_totals_destroy(struct bt_device_totals_cache *cache)
{
	if (cache != NULL) {
		forget_classes(cache);
		bt_vec_finish(&cache->classes);
		bt_vec_finish(&cache->programs);
		bt_free(cache);
	}
}

static struct class_totals *totals_of(
	struct bt_dra *dra, const struct bt_device_class *device_class)
{
	struct bt_device_totals_cache *cache = dra->totals;
	struct class_totals added = {.device_class = device_class};

	if (cache == NULL) {
		cache = BT_NEW(struct bt_device_totals_cache);
		dra->totals = cache;
	}
	if (cache->class_version != dra->classes.version) {
		forget_classes(cache);
		cache->class_version = dra->classes.version;
	}
	for (uint32_t i = 0; i < cache->classes.count; i++) {
		if (cache->classes.items[i].device_class == device_class) {
			return &cache->classes.items[i];
		}
	}
	bt_vec_push(&cache->classes, added);
	return &cache->classes.items[cache->classes.count - 1];
}

/**
 * Whether the slice's devices are listed for every node. This is also true for a slice that sets no
 * node field, and for a slice with a broken node selector, which makes the total 0 on every node.
 */
static bool is_everywhere(const struct bt_device_pools *pools, const struct bt_pool_slice *slice)
{
	const struct bt_resource_slice *value =
		bt_object_value(slice->object, BT_KIND_RESOURCE_SLICE);
	enum bt_node_scope_kind kind = pools->scopes.items[slice->scope].kind;

	return !slice->per_device &&
		(value->spec.all_nodes.value || kind == BT_NODE_SCOPE_EVERYWHERE ||
			kind == BT_NODE_SCOPE_NOWHERE || kind == BT_NODE_SCOPE_BROKEN);
}

static void intern_selectors(struct bt_dra *dra, const struct bt_device_class *device_class)
{
	struct bt_device_totals_cache *cache = dra->totals;

	cache->programs.count = 0;
	for (uint32_t i = 0; i < device_class->spec.selectors.count; i++) {
		const struct bt_device_selector *selector = &device_class->spec.selectors.items[i];

		if (selector->cel != NULL) {
			bt_vec_push(&cache->programs,
				bt_selector_intern(dra->pools, selector->cel->expression));
		}
	}
}

/**
 * Add each device of the slice that is selected by the class and usable on the node. slot:
 * BT_SLOT_NONE for a slice that every node can use.
 */
static void add_slice(struct bt_dra *dra, const struct bt_pool_slice *slice, uint32_t slot,
	struct reached_devices *reached)
{
	struct bt_device_pools *pools = dra->pools;

	for (uint32_t i = 0; i < slice->rows.count && !reached->is_broken; i++) {
		uint32_t row = slice->rows.items[i];
		const struct bt_device_row *item = &pools->rows.items[row];

		if (slice->per_device && !item->spec->all_nodes.value) {
			reached->is_broken |=
				pools->scopes.items[item->scope].kind == BT_NODE_SCOPE_BROKEN;
			if (reached->is_broken ||
				!bt_node_scope_matches(pools, item->scope, slot)) {
				continue;
			}
		}
		const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
		const struct bt_device_totals_cache *cache = dra->totals;
		enum bt_verdict verdict = BT_VERDICT_TRUE;
		for (uint32_t k = 0; verdict == BT_VERDICT_TRUE && k < cache->programs.count; k++) {
			verdict = bt_selector_verdict(
				dra->pools, cache->programs.items[k], row, &limits);
		}
		if (verdict == BT_VERDICT_TRUE) {
			bt_vec_push(&reached->ids, pools->rows.items[row].id);
		} else if (verdict != BT_VERDICT_FALSE) {
			reached->is_broken = true;
		}
	}
}

static void reset_reached(const struct bt_device_pools *pools, struct reached_devices *reached)
{
	reached->is_known = true;
	reached->is_broken = false;
	reached->sequence = pools->sequence;
	reached->epoch = pools->node_epoch;
	reached->ids.count = 0;
}

/** Add a pool unless it was visited already in this walk: a pool may be in several lists. */
static void add_pool(
	struct bt_dra *dra, uint32_t pool_index, uint32_t slot, struct reached_devices *reached)
{
	struct bt_device_pools *pools = dra->pools;
	struct bt_pool *pool = &pools->pools.items[pool_index];

	if (pool->mark == pools->mark) {
		return;
	}
	pool->mark = pools->mark;
	for (uint32_t i = 0; i < pool->slices.count && !reached->is_broken; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[pool->slices.items[i]];

		if (!is_everywhere(pools, slice) &&
			(slice->per_device || bt_node_scope_matches(pools, slice->scope, slot))) {
			add_slice(dra, slice, slot, reached);
		}
	}
}

static int64_t count_allocated(const struct bt_dra *dra, const struct reached_devices *reached)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < reached->ids.count; i++) {
		count += bt_allocated_is_held(&dra->allocated, reached->ids.items[i]);
	}
	return count;
}

struct bt_device_totals bt_dra_device_totals(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot)
{
	struct class_totals *totals = totals_of(dra, device_class);
	struct bt_device_pools *pools = dra->pools;

	bt_device_pools_catch_up(pools);
	struct reached_devices *everywhere = &totals->everywhere;
	if (!everywhere->is_known || everywhere->sequence != pools->sequence) {
		reset_reached(pools, everywhere);
		intern_selectors(dra, device_class);
		for (uint32_t i = 0; i < pools->slices.count && !everywhere->is_broken; i++) {
			const struct bt_pool_slice *slice = &pools->slices.items[i];

			if (slice->object != NULL && is_everywhere(pools, slice)) {
				everywhere->is_broken |= pools->scopes.items[slice->scope].kind ==
					BT_NODE_SCOPE_BROKEN;
				add_slice(dra, slice, BT_SLOT_NONE, everywhere);
			}
		}
		totals->allocated_version = UINT64_MAX;
	}
	bt_vec_pad(&totals->nodes, slot + 1, (struct reached_devices){0});
	struct reached_devices *here = &totals->nodes.items[slot];
	if (!here->is_known || here->sequence != pools->sequence ||
		here->epoch != pools->node_epoch ||
		!bt_sym_equal(here->node, dra->state->nodes.rows[slot].name)) {
		bt_sym name = dra->state->nodes.rows[slot].name;
		uint32_t named = bt_named_pools_find(pools, name);

		reset_reached(pools, here);
		here->node = name;
		intern_selectors(dra, totals->device_class);
		pools->mark++;
		for (uint32_t i = 0;
			named != BT_POOL_NONE && i < pools->named.items[named].pools.count; i++) {
			add_pool(dra, pools->named.items[named].pools.items[i], slot, here);
		}
		for (uint32_t i = 0; i < pools->shared_pools.count; i++) {
			add_pool(dra, pools->shared_pools.items[i], slot, here);
		}
	}
	if (everywhere->is_broken || here->is_broken) {
		return (struct bt_device_totals){0, 0};
	}
	if (totals->allocated_version != dra->allocated.version) {
		totals->allocated_version = dra->allocated.version;
		totals->allocated_everywhere = count_allocated(dra, everywhere);
	}
	return (struct bt_device_totals){
		.devices = (int64_t)everywhere->ids.count + here->ids.count,
		.allocated = totals->allocated_everywhere + count_allocated(dra, here),
	};
}

/*
 * Reference implementation for BERTH_VERIFY=1: counts slice by slice, as spec 05 section 11.7
 * describes.
 */

struct slice_count {
	struct bt_dra *dra;
	const struct bt_device_class *device_class;
	uint32_t slot;
	struct bt_str node_name;
	struct bt_device_totals totals;
	bool is_broken;
};

/**
 * Whether a slice or device with these node fields can be used on the node. none: the result if no
 * field is set.
 */
static bool is_on_node(struct slice_count *count, bool all_nodes, struct bt_str node_name,
	const struct bt_node_selector *selector, bool none)
{
	if (all_nodes || bt_str_equal(node_name, count->node_name)) {
		return true;
	}
	if (selector == NULL || node_name.length != 0) {
		return none && node_name.length == 0;
	}
	struct bt_arena arena = {0};
	struct bt_error_list errors = {0};
	struct bt_parsed_node_selector parsed =
		bt_node_selector_parse(selector, BT_STR(""), &arena);

	bt_node_selector_errors(&parsed, &arena, &errors);
	bool is_broken = errors.count != 0;
	bool matches = !is_broken &&
		bt_node_selector_matches(&parsed, count->node_name,
			&count->dra->state->nodes.rows[count->slot].labels, &arena, NULL);
	count->is_broken |= is_broken;
	bt_arena_finish(&arena);
	return matches;
}

static void count_slice(struct slice_count *count, const struct bt_resource_slice *slice)
{
	const struct bt_resource_slice_spec *spec = &slice->spec;
	const struct bt_device_class_spec *class_spec = &count->device_class->spec;
	bool per_device = spec->per_device_node_selection.value;

	if (!per_device &&
		!is_on_node(
			count, spec->all_nodes.value, spec->node_name, spec->node_selector, true)) {
		return;
	}
	for (uint32_t i = 0; i < spec->devices.count; i++) {
		const struct bt_device *device = &spec->devices.items[i];
		uint32_t id = bt_device_ids_find(
			&count->dra->ids, spec->driver, spec->pool.name, device->name);
		enum bt_verdict verdict = BT_VERDICT_TRUE;

		if (per_device &&
			!is_on_node(count, device->all_nodes.value, device->node_name,
				device->node_selector, false)) {
			continue;
		}
		for (uint32_t k = 0; verdict == BT_VERDICT_TRUE && k < class_spec->selectors.count;
			k++) {
			if (class_spec->selectors.items[k].cel != NULL) {
				verdict = bt_dra_select(count->dra,
					class_spec->selectors.items[k].cel->expression, slice,
					device, id, NULL);
			}
		}
		count->is_broken |= verdict == BT_VERDICT_ERROR;
		if (verdict == BT_VERDICT_TRUE) {
			count->totals.devices++;
			count->totals.allocated += bt_allocated_is_held(&count->dra->allocated, id);
		}
	}
}

struct bt_device_totals bt_dra_device_totals_anew(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot)
{
	struct slice_count count = {
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
