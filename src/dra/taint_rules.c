/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/dra.h"

#include "api/types.h"
#include "base/arena.h"
#include "dra/device_pools.h"

static const struct bt_resource_slice *slice_of(const struct bt_object *object)
{
	return bt_object_value(object, BT_KIND_RESOURCE_SLICE);
}

static bool is_named(struct bt_str wanted, struct bt_str name)
{
	return wanted.data == NULL || bt_str_equal(wanted, name);
}

static bool matches_pool(
	const struct bt_device_taint_rule *rule, const struct bt_resource_slice *slice)
{
	const struct bt_device_taint_selector *selector = rule->spec.device_selector;

	return selector == NULL ||
		(is_named(selector->driver, slice->spec.driver) &&
			is_named(selector->pool, slice->spec.pool.name));
}

static bool patch_device(struct bt_device *device, const struct bt_device_taint_rule *const *rules,
	uint32_t rule_count, struct bt_arena *arena)
{
	uint32_t count = device->taints.count;
	struct bt_device_taint *taints =
		BT_ARENA_NEW_ARRAY(arena, struct bt_device_taint, count + rule_count);

	if (count != 0) {
		memcpy(taints, device->taints.items, count * sizeof(*taints));
	}
	for (uint32_t i = 0; i < rule_count; i++) {
		const struct bt_device_taint_selector *selector = rules[i]->spec.device_selector;
		if (selector == NULL || is_named(selector->device, device->name)) {
			taints[count++] = rules[i]->spec.taint;
		}
	}
	bool patched = count != device->taints.count;
	device->taints.items = taints;
	device->taints.count = count;
	device->taints.present = count != 0;
	return patched;
}

/**
 * Return the slice with the taints of the rules, or the slice itself if no rule matches or the gate
 * is off; with one reference for the caller.
 */
static struct bt_object *patch(const struct bt_dra *dra, struct bt_object *object)
{
	struct bt_resource_slice slice = *slice_of(object);
	struct bt_arena arena;
	bool patched = false;

	if (!bt_gate_enabled(dra->gates, BT_GATE_DRA_DEVICE_TAINT_RULES)) {
		return bt_object_share(object);
	}
	bt_arena_init(&arena, 4096);
	/* Collect the rules of the slice's pool, in the order of their names. */
	struct bt_object_store *store = &dra->state->objects;
	uint32_t all = bt_object_store_count(store, BT_KIND_DEVICE_TAINT_RULE);
	const struct bt_device_taint_rule *rule;
	uint32_t rule_count = 0;
	uint32_t cursor = 0;

	const struct bt_device_taint_rule **matching =
		BT_ARENA_NEW_ARRAY(&arena, const struct bt_device_taint_rule *, all);
	while ((rule = bt_object_store_next(store, BT_KIND_DEVICE_TAINT_RULE,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (matches_pool(rule, &slice)) {
			matching[rule_count++] = rule;
		}
	}

	if (rule_count != 0 && slice.spec.devices.count != 0) {
		struct bt_device *devices =
			BT_ARENA_NEW_ARRAY(&arena, struct bt_device, slice.spec.devices.count);
		memcpy(devices, slice.spec.devices.items,
			slice.spec.devices.count * sizeof(*devices));
		for (uint32_t i = 0; i < slice.spec.devices.count; i++) {
			patched |= patch_device(&devices[i], matching, rule_count, &arena);
		}
		slice.spec.devices.items = devices;
	}
	struct bt_object *result = patched ? bt_object_create(BT_KIND_RESOURCE_SLICE, &slice)
					   : bt_object_share(object);
	bt_arena_finish(&arena);
	return result;
}

void bt_taint_rules_observe_slice(
	void *context, struct bt_object *old_slice, struct bt_object *new_slice)
{
	const struct bt_dra *dra = context;
	struct bt_object *after = new_slice != NULL ? patch(dra, new_slice) : NULL;

	bt_device_pools_observe(dra->pools, old_slice, after);
	bt_object_release(after);
}

/** Whether two patched forms of the same slice have the same taints. */
static bool are_same(const struct bt_object *a, const struct bt_object *b)
{
	const struct bt_resource_slice *one = slice_of(a);
	const struct bt_resource_slice *other = slice_of(b);

	for (uint32_t i = 0; a != b && i < one->spec.devices.count; i++) {
		if (!bt_message_lists_equal(&bt_device_taint_message,
			    &one->spec.devices.items[i].taints,
			    &other->spec.devices.items[i].taints)) {
			return false;
		}
	}
	return true;
}

static const struct bt_device_taint_rule *rule_of(const struct bt_object *object)
{
	return object != NULL ? bt_object_value(object, BT_KIND_DEVICE_TAINT_RULE) : NULL;
}

void bt_taint_rules_observe_rule(
	void *context, struct bt_object *old_rule, struct bt_object *new_rule)
{
	const struct bt_dra *dra = context;
	const struct bt_patched_slice_listener *listener = &dra->patched_slice_listener;
	struct bt_object_store *store = &dra->state->objects;
	const struct bt_device_taint_rule *before = rule_of(old_rule);
	const struct bt_device_taint_rule *after = rule_of(new_rule);
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;

	while ((slice = bt_object_store_next(store, BT_KIND_RESOURCE_SLICE,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (!(before != NULL && matches_pool(before, slice)) &&
			!(after != NULL && matches_pool(after, slice))) {
			continue;
		}
		struct bt_object *old_slice =
			bt_device_pools_find_slice(dra->pools, slice->metadata.name);
		if (old_slice == NULL) {
			continue; /* the slice is not observed yet */
		}
		/* Patch the stored slice anew, and report it if its taints have changed. */
		struct bt_object *new_slice = patch(dra,
			bt_object_store_find_object(
				store, BT_KIND_RESOURCE_SLICE, BT_STR(""), slice->metadata.name));
		if (!are_same(old_slice, new_slice)) {
			old_slice = bt_object_share(old_slice);
			bt_device_pools_observe(dra->pools, old_slice, new_slice);
			if (listener->changed != NULL) {
				listener->changed(listener->context, old_slice, new_slice);
			}
			bt_object_release(old_slice);
		}
		bt_object_release(new_slice);
	}
}

bool bt_taint_rules_validate(const struct bt_dra *dra, struct bt_strbuf *out_reason)
{
	struct bt_object_store *store = &dra->state->objects;
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;
	bool valid = true;

	while (valid &&
		(slice = bt_object_store_next(store, BT_KIND_RESOURCE_SLICE,
			 (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		struct bt_object *stored = bt_object_store_find_object(
			store, BT_KIND_RESOURCE_SLICE, BT_STR(""), slice->metadata.name);
		const struct bt_object *kept =
			bt_device_pools_find_slice(dra->pools, slice->metadata.name);
		struct bt_object *fresh = patch(dra, stored);
		valid = kept != NULL && (kept == stored) == (fresh == stored) &&
			are_same(kept, fresh);
		bt_object_release(fresh);
	}
	if (!valid) {
		bt_strbuf_append_c(out_reason, "slices with the taints of rules are stale");
	}
	return valid;
}
