/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_budgets.h"

#include <stdlib.h>

#include "api/policy.h"

void bt_budgets_finish(struct bt_budgets *budgets)
{
	bt_vec_finish(&budgets->budgets);
	bt_arena_finish(&budgets->arena);
	budgets->loaded = false;
}

static void read_disrupted_pods(struct bt_budgets *budgets,
	const struct bt_pod_disruption_budget *object, struct bt_budget *out)
{
	uint32_t count = object->status.disrupted_pods.count;
	struct bt_str *names = BT_ARENA_NEW_ARRAY(&budgets->arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		names[i] = object->status.disrupted_pods.items[i].key;
	}
	if (count > 1) {
		qsort(names, count, sizeof(names[0]), bt_str_compare_qsort);
	}
	out->disrupted_pods = names;
	out->disrupted_pod_count = count;
}

/**
 * Upstream quirk, spec 08 section 9.1: an absent and an empty selector both match nothing here, and
 * a broken one is passed over. Such budgets are left out.
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
	read_disrupted_pods(budgets, object, &budget);
	bt_vec_push(&budgets->budgets, budget);
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
	budgets->budgets.count = 0;
	bt_arena_reset(&budgets->arena);
	while ((object = bt_object_store_next(
			&state->objects, BT_KIND_POD_DISRUPTION_BUDGET, all, &cursor)) != NULL) {
		add_budget(budgets, object);
	}
}

void bt_budgets_begin_round(struct bt_budgets *budgets)
{
	budgets->round++;
}

/** First budget whose namespace is not before namespace_. */
static uint32_t first_of_namespace(const struct bt_budgets *budgets, struct bt_str namespace_)
{
	uint32_t low = 0;
	uint32_t high = budgets->budgets.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bt_str_compare(budgets->budgets.items[middle].namespace_, namespace_) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool covers(const struct bt_budget *budget, const struct bt_pod_info *pod)
{
	return bt_selector_matches(&budget->selector, pod->labels) &&
		(budget->disrupted_pod_count == 0 ||
			bsearch(&pod->name, budget->disrupted_pods, budget->disrupted_pod_count,
				sizeof(struct bt_str), bt_str_compare_qsort) == NULL);
}

/** One disruption less, wrapping as upstream's int32; true when there was none left. */
static bool charge(struct bt_budget *budget, uint64_t round)
{
	if (budget->round != round) {
		budget->round = round;
		budget->left = budget->allowed;
	}
	budget->left = budget->left == INT32_MIN ? INT32_MAX : budget->left - 1;
	return budget->left < 0;
}

static bool charge_all(struct bt_budgets *budgets, const struct bt_pod_info *pod, bool stop)
{
	bool violated = false;

	if (pod->labels == NULL || pod->labels->count == 0) {
		return false;
	}
	for (uint32_t i = first_of_namespace(budgets, pod->namespace_);
		i < budgets->budgets.count && !(stop && violated); i++) {
		struct bt_budget *budget = &budgets->budgets.items[i];

		if (!bt_str_equal(budget->namespace_, pod->namespace_)) {
			break;
		}
		if (covers(budget, pod) && charge(budget, budgets->round)) {
			violated = true;
		}
	}
	return violated;
}

bool bt_budgets_charge(struct bt_budgets *budgets, const struct bt_pod_info *pod)
{
	return charge_all(budgets, pod, false);
}

bool bt_budgets_charge_until_violated(struct bt_budgets *budgets, const struct bt_pod_info *pod)
{
	return charge_all(budgets, pod, true);
}
