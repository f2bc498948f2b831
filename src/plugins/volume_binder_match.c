/* SPDX-License-Identifier: Apache-2.0 */
/* Existing volumes for claims that wait for their first consumer. Spec: 07 sections 7.3 and 7.4. */
#include <stdlib.h>

#include "plugins/volume_binder_private.h"

static const struct bt_quantity zero_quantity;

static const struct bt_quantity *request_of(const struct bt_persistent_volume_claim *claim)
{
	const struct bt_quantity *request = bt_claim_request(claim);

	return request != NULL ? request : &zero_quantity;
}

void bt_claim_matches_sort(struct bt_claim_match *matches, uint32_t count)
{
	/* Stable; a pod has few claims. */
	for (uint32_t i = 1; i < count; i++) {
		struct bt_claim_match moved = matches[i];
		uint32_t at = i;

		while (at > 0 &&
			bt_quantity_compare(
				request_of(matches[at - 1].claim), request_of(moved.claim)) > 0) {
			matches[at] = matches[at - 1];
			at--;
		}
		matches[at] = moved;
	}
}

static bool same_volume_mode(struct bt_str a, struct bt_str b)
{
	return bt_str_equal(a.data != NULL ? a : BT_STR("Filesystem"),
		b.data != NULL ? b : BT_STR("Filesystem"));
}

/** Rules d, e and f: they hold for volumes reserved for the claim, too. */
static bool is_compatible(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim)
{
	return same_volume_mode(volume->spec.volume_mode, claim->spec.volume_mode) &&
		bt_str_equal(volume->spec.volume_attributes_class_name,
			claim->spec.volume_attributes_class_name) &&
		volume->metadata.deletion_timestamp == NULL;
}

static bool has_access_modes(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim)
{
	for (uint32_t i = 0; i < claim->spec.access_modes.count; i++) {
		uint32_t k = 0;

		while (k < volume->spec.access_modes.count &&
			!bt_str_equal(volume->spec.access_modes.items[k],
				claim->spec.access_modes.items[i])) {
			k++;
		}
		if (k == volume->spec.access_modes.count) {
			return false;
		}
	}
	return true;
}

static int compare_by_name(const void *a, const void *b)
{
	return bt_str_compare(((const struct bt_match_candidate *)a)->volume->metadata.name,
		((const struct bt_match_candidate *)b)->volume->metadata.name);
}

/** First volume of the class that is large enough. */
static uint32_t first_large_enough(
	const struct bt_class_volume *volumes, uint32_t count, const struct bt_quantity *request)
{
	uint32_t low = 0;
	uint32_t high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bt_quantity_compare(volumes[middle].capacity, request) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void collect(struct bt_real_binder *binder, struct bt_claim_match *match,
	const struct bt_selector *selector, struct bt_arena *arena)
{
	const struct bt_persistent_volume_claim *claim = match->claim;
	uint32_t count;
	struct bt_class_volume *volumes =
		bt_class_index_find(binder, bt_persistent_volume_claim_class(claim), &count);
	uint32_t first = first_large_enough(volumes, count, request_of(claim));

	match->candidates = BT_ARENA_NEW_ARRAY(arena, struct bt_match_candidate, count - first);
	match->reserved = NULL;
	for (uint32_t i = first; i < count; i++) {
		const struct bt_persistent_volume *volume =
			bt_assume_cache_view(&binder->volumes, volumes[i].stored);
		struct bt_match_candidate candidate = {volume, &volumes[i]};

		if (volume->spec.claim_ref != NULL) {
			if (bt_volume_is_for_claim(volume, claim) && is_compatible(volume, claim)) {
				if (match->reserved == NULL) {
					match->reserved = BT_ARENA_NEW_ARRAY(
						arena, struct bt_match_candidate, count - i);
				}
				match->reserved[match->reserved_count++] = candidate;
			}
			continue;
		}
		if (is_compatible(volume, claim) &&
			bt_str_equal_c(volume->status.phase, "Available") &&
			(selector == NULL ||
				bt_selector_matches(selector, &volume->metadata.labels)) &&
			has_access_modes(volume, claim)) {
			match->candidates[match->candidate_count++] = candidate;
		}
	}
	if (match->reserved_count > 1) {
		qsort(match->reserved, match->reserved_count, sizeof(*match->reserved),
			compare_by_name);
	}
}

static int prepare(struct bt_real_binder *binder, struct bt_claim_match *match,
	struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = match->claim;
	struct bt_selector selector;

	if (match->prepared) {
		return 0;
	}
	if (claim->spec.selector != NULL) {
		int code = bt_selector_from_label_selector(
			claim->spec.selector, arena, &selector, err);

		if (code != 0) {
			return bt_error_wrap(err, code,
				"error creating internal label selector for claim: %.*s/%.*s",
				BT_STR_ARG(claim->metadata.namespace_),
				BT_STR_ARG(claim->metadata.name));
		}
	}
	collect(binder, match, claim->spec.selector != NULL ? &selector : NULL, arena);
	match->prepared = true;
	return 0;
}

static bool is_taken(const struct bt_static_binding *bindings, uint32_t count,
	const struct bt_persistent_volume *volume)
{
	for (uint32_t i = 0; i < count; i++) {
		if (bindings[i].volume == volume) {
			return true;
		}
	}
	return false;
}

/** A volume reserved for the claim ends the search, whether the node can reach it or not. */
static const struct bt_persistent_volume *find_volume(struct bt_real_binder *binder,
	const struct bt_claim_match *match, const struct bt_str_map *labels,
	const struct bt_static_binding *taken, uint32_t taken_count)
{
	for (uint32_t i = 0; i < match->reserved_count; i++) {
		const struct bt_match_candidate *candidate = &match->reserved[i];

		if (!is_taken(taken, taken_count, candidate->volume)) {
			return bt_volume_affinity_matches(
				       bt_class_volume_affinity(&binder->index, candidate->entry),
				       labels)
				? candidate->volume
				: NULL;
		}
	}
	for (uint32_t i = 0; i < match->candidate_count; i++) {
		const struct bt_match_candidate *candidate = &match->candidates[i];

		if (bt_volume_affinity_matches(
			    bt_class_volume_affinity(&binder->index, candidate->entry), labels) &&
			!is_taken(taken, taken_count, candidate->volume)) {
			return candidate->volume;
		}
	}
	return NULL;
}

int bt_match_static(struct bt_real_binder *binder, struct bt_claim_match *matches, uint32_t count,
	const struct bt_str_map *labels, struct bt_arena *arena, struct bt_static_binding *bindings,
	uint32_t *out_binding_count, uint32_t *rest, uint32_t *out_rest_count,
	struct berth_error *err)
{
	uint32_t binding_count = 0;
	uint32_t rest_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_persistent_volume *volume;
		int code = prepare(binder, &matches[i], arena, err);

		if (code != 0) {
			return code;
		}
		volume = find_volume(binder, &matches[i], labels, bindings, binding_count);
		if (volume == NULL) {
			rest[rest_count++] = i;
		} else {
			bindings[binding_count++] = (struct bt_static_binding){
				volume, matches[i].claim, volume->metadata.resource_version};
		}
	}
	*out_binding_count = binding_count;
	*out_rest_count = rest_count;
	return 0;
}
