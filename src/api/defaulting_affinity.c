/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaulting.h"

static bool term_has_keys(const struct bt_pod_affinity_term *term)
{
	return term->label_selector != NULL &&
		(term->match_label_keys.count != 0 || term->mismatch_label_keys.count != 0);
}

static bool affinity_has_keys(const struct bt_pod_affinity *affinity)
{
	if (affinity == NULL) {
		return false;
	}
	for (uint32_t i = 0; i < affinity->required.count; i++) {
		if (term_has_keys(&affinity->required.items[i])) {
			return true;
		}
	}
	for (uint32_t i = 0; i < affinity->preferred.count; i++) {
		if (term_has_keys(&affinity->preferred.items[i].term)) {
			return true;
		}
	}
	return false;
}

/** Appends a requirement for each key that is a label of the pod; returns the new count. */
static uint32_t add_requirements(struct bt_label_selector_requirement *out, uint32_t count,
	const bt_str_list *keys, struct bt_str operator_, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < keys->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, keys->items[i]);

		if (value == NULL) {
			continue;
		}
		out[count] = (struct bt_label_selector_requirement){
			.key = keys->items[i], .operator_ = operator_};
		/* the cast is safe: decoded objects are never changed */
		out[count].values.items = (struct bt_str *)(uintptr_t)value;
		out[count].values.count = 1;
		out[count].values.present = true;
		count++;
	}
	return count;
}

static void merge_term(
	struct bt_pod_affinity_term *term, const struct bt_str_map *labels, struct bt_arena *arena)
{
	if (!term_has_keys(term)) {
		return;
	}
	struct bt_label_selector *selector = BT_ARENA_NEW(arena, struct bt_label_selector);
	uint32_t count = term->label_selector->match_expressions.count;
	struct bt_label_selector_requirement *items = BT_ARENA_NEW_ARRAY(arena,
		struct bt_label_selector_requirement,
		(size_t)count + term->match_label_keys.count + term->mismatch_label_keys.count);

	*selector = *term->label_selector;
	if (count != 0) {
		memcpy(items, selector->match_expressions.items, count * sizeof(items[0]));
	}
	count = add_requirements(items, count, &term->match_label_keys, BT_STR("In"), labels);
	count = add_requirements(items, count, &term->mismatch_label_keys, BT_STR("NotIn"), labels);
	selector->match_expressions.items = items;
	selector->match_expressions.count = count;
	selector->match_expressions.present = true;
	term->label_selector = selector;
}

static const struct bt_pod_affinity *merge_affinity(
	const struct bt_pod_affinity *old, const struct bt_str_map *labels, struct bt_arena *arena)
{
	if (!affinity_has_keys(old)) {
		return old;
	}
	struct bt_pod_affinity *affinity = BT_ARENA_NEW(arena, struct bt_pod_affinity);
	struct bt_pod_affinity_term *required =
		BT_ARENA_NEW_ARRAY(arena, struct bt_pod_affinity_term, old->required.count);
	struct bt_weighted_pod_affinity_term *preferred = BT_ARENA_NEW_ARRAY(
		arena, struct bt_weighted_pod_affinity_term, old->preferred.count);

	*affinity = *old;
	for (uint32_t i = 0; i < old->required.count; i++) {
		required[i] = old->required.items[i];
		merge_term(&required[i], labels, arena);
	}
	for (uint32_t i = 0; i < old->preferred.count; i++) {
		preferred[i] = old->preferred.items[i];
		merge_term(&preferred[i].term, labels, arena);
	}
	affinity->required.items = required;
	affinity->preferred.items = preferred;
	return affinity;
}

void bt_pod_default_affinity(struct bt_pod *pod, struct bt_arena *arena)
{
	const struct bt_affinity *old = pod->spec.affinity;
	struct bt_affinity *affinity;

	if (old == NULL ||
		(!affinity_has_keys(old->pod_affinity) &&
			!affinity_has_keys(old->pod_anti_affinity))) {
		return;
	}
	affinity = BT_ARENA_NEW(arena, struct bt_affinity);
	*affinity = *old;
	affinity->pod_affinity = merge_affinity(old->pod_affinity, &pod->metadata.labels, arena);
	affinity->pod_anti_affinity =
		merge_affinity(old->pod_anti_affinity, &pod->metadata.labels, arena);
	pod->spec.affinity = affinity;
}
