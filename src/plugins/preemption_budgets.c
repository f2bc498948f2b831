/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_budgets.h"

#include <stdlib.h>

#include "api/types.h"
#include "base/vec.h"

void bt_budgets_finish(struct bt_budgets *budgets)
{
	bt_vec_finish(&budgets->budgets);
	bt_vec_finish(&budgets->keys);
	bt_vec_finish(&budgets->others);
	bt_arena_finish(&budgets->arena);
	budgets->loaded = false;
}

static uint64_t key_hash(struct bt_str namespace_, struct bt_str key, struct bt_str value)
{
	return bt_hash_u64(
		bt_hash_u64(bt_str_hash(value), bt_str_hash(key)), bt_str_hash(namespace_));
}

BT_COMPARE(compare_keys, struct bt_budget_key,
	BT_ORDER_BY(BT_ORDER(a->hash, b->hash), BT_ORDER(a->budget, b->budget)))

/**
 * Add a budget, unless its selector is absent, empty or invalid. Upstream quirk, spec 08 section
 * 9.1: such a budget matches no pod.
 */
static void add_budget(struct bt_budgets *budgets, const struct bt_pod_disruption_budget *object)
{
	struct bt_budget budget = {
		.namespace_ = object->metadata.namespace_,
		.allowed = object->status.disruptions_allowed,
	};

	if (object->spec.selector == NULL ||
		bt_selector_from_label_selector(
			object->spec.selector, &budgets->arena, &budget.selector, NULL) != 0 ||
		budget.selector.nothing || bt_selector_is_empty(&budget.selector)) {
		return;
	}
	uint32_t count = object->status.disrupted_pods.count;
	struct bt_str *names = BT_ARENA_NEW_ARRAY(&budgets->arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		names[i] = object->status.disrupted_pods.items[i].key;
	}
	if (count > 1) {
		qsort(names, count, sizeof(names[0]), bt_str_compare_qsort);
	}
	budget.disrupted_pods = names;
	budget.disrupted_pod_count = count;
	bt_vec_push(&budgets->budgets, budget);
	/*
	 * If the budget has a requirement with a single value, index the budget by the first such
	 * requirement.
	 */
	uint32_t index = budgets->budgets.count - 1;
	const struct bt_budget *indexed = &budgets->budgets.items[index];

	for (uint32_t i = 0; i < indexed->selector.requirement_count; i++) {
		const struct bt_requirement *requirement = &indexed->selector.requirements[i];

		if (requirement->operator_ == BT_SELECTOR_IN && requirement->value_count == 1) {
			struct bt_budget_key key = {key_hash(indexed->namespace_, requirement->key,
							    requirement->values[0]),
				index};

			bt_vec_push(&budgets->keys, key);
			return;
		}
	}
	bt_vec_push(&budgets->others, index);
}

static void clear(struct bt_budgets *budgets)
{
	budgets->budgets.count = 0;
	budgets->keys.count = 0;
	budgets->others.count = 0;
	bt_arena_reset(&budgets->arena);
}

static void sort_keys(struct bt_budgets *budgets)
{
	if (budgets->keys.count > 1) {
		qsort(budgets->keys.items, budgets->keys.count, sizeof(budgets->keys.items[0]),
			compare_keys);
	}
}

void bt_budgets_refresh(struct bt_budgets *budgets, struct bt_state *state)
{
	uint64_t version = bt_object_store_version(&state->objects, BT_KIND_POD_DISRUPTION_BUDGET);
	struct bt_str all = {NULL, 0};
	uint32_t cursor = 0;
	const struct bt_pod_disruption_budget *object;

	if (budgets->loaded && budgets->version == version) {
		return;
	}
	budgets->loaded = true;
	budgets->version = version;
	clear(budgets);
	while ((object = bt_object_store_next(
			&state->objects, BT_KIND_POD_DISRUPTION_BUDGET, all, &cursor)) != NULL) {
		add_budget(budgets, object);
	}
	sort_keys(budgets);
}

BT_COMPARE(compare_objects, struct bt_pod_disruption_budget *const,
	bt_str_compare((*a)->metadata.namespace_, (*b)->metadata.namespace_))

void bt_budgets_load(struct bt_budgets *budgets,
	const struct bt_pod_disruption_budget *const *objects, uint32_t count)
{
	struct bt_arena scratch = {0};
	const struct bt_pod_disruption_budget **sorted = bt_arena_copy_array(
		&scratch, objects, count, 0, sizeof(struct bt_pod_disruption_budget *));

	budgets->loaded = false;
	clear(budgets);
	if (count > 1) {
		qsort(sorted, count, sizeof(sorted[0]), compare_objects);
	}
	for (uint32_t i = 0; i < count; i++) {
		add_budget(budgets, sorted[i]);
	}
	sort_keys(budgets);
	bt_arena_finish(&scratch);
}

static bool covers_and_is_used_up(
	struct bt_budgets *budgets, uint32_t index, const struct bt_pod_info *pod)
{
	struct bt_budget *budget = &budgets->budgets.items[index];

	if (!bt_str_equal(budget->namespace_, pod->namespace_) ||
		!bt_selector_matches(&budget->selector, pod->labels) ||
		(budget->disrupted_pod_count != 0 &&
			bsearch(&pod->name, budget->disrupted_pods, budget->disrupted_pod_count,
				sizeof(struct bt_str), bt_str_compare_qsort) != NULL)) {
		return false;
	}
	/* Charge one disruption, wrapping as upstream's int32. */
	if (budget->round != budgets->round) {
		budget->round = budgets->round;
		budget->left = budget->allowed;
	}
	budget->left = budget->left == INT32_MIN ? INT32_MAX : budget->left - 1;
	return budget->left < 0;
}

/**
 * Returns the index in list of the first budget whose namespace is namespace_ or sorts after it.
 * list: ascending indices of budgets; NULL: all budgets.
 */
static uint32_t first_of_namespace(const struct bt_budgets *budgets, const uint32_t *list,
	uint32_t count, struct bt_str namespace_)
{
	uint32_t low;

	BT_LOWER_BOUND(low, count, middle,
		bt_str_compare(
			budgets->budgets.items[list != NULL ? list[middle] : middle].namespace_,
			namespace_) < 0);
	return low;
}

bool bt_budgets_charge(struct bt_budgets *budgets, const struct bt_pod_info *pod)
{
	bool violated = false;

	if (pod->labels == NULL || pod->labels->count == 0) {
		return false;
	}
	for (uint32_t i = 0; i < pod->labels->count && budgets->keys.count != 0; i++) {
		uint64_t hash = key_hash(
			pod->namespace_, pod->labels->items[i].key, pod->labels->items[i].value);
		uint32_t at; /* the first key with this hash or a larger one */

		BT_LOWER_BOUND(
			at, budgets->keys.count, middle, budgets->keys.items[middle].hash < hash);
		for (; at < budgets->keys.count && budgets->keys.items[at].hash == hash; at++) {
			violated |=
				covers_and_is_used_up(budgets, budgets->keys.items[at].budget, pod);
		}
	}
	for (uint32_t i = first_of_namespace(
		     budgets, budgets->others.items, budgets->others.count, pod->namespace_);
		i < budgets->others.count; i++) {
		uint32_t index = budgets->others.items[i];

		if (!bt_str_equal(budgets->budgets.items[index].namespace_, pod->namespace_)) {
			break;
		}
		violated |= covers_and_is_used_up(budgets, index, pod);
	}
	return violated;
}

/**
 * Walks the namespace's list of budgets instead of the label index, because the order of the list
 * decides which budgets are charged before the first violation.
 */
bool bt_budgets_charge_until_violated(struct bt_budgets *budgets, const struct bt_pod_info *pod)
{
	if (pod->labels == NULL || pod->labels->count == 0) {
		return false;
	}
	for (uint32_t i =
			first_of_namespace(budgets, NULL, budgets->budgets.count, pod->namespace_);
		i < budgets->budgets.count; i++) {
		if (!bt_str_equal(budgets->budgets.items[i].namespace_, pod->namespace_)) {
			break;
		}
		if (covers_and_is_used_up(budgets, i, pod)) {
			return true;
		}
	}
	return false;
}
