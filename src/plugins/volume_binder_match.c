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

/* --- order and repeats --- */

struct claim_place {
	const struct bt_persistent_volume_claim *claim;
	uint32_t position;
};

static int compare_positions(const struct claim_place *a, const struct claim_place *b)
{
	return (a->position > b->position) - (a->position < b->position);
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim_place *left = a;
	const struct claim_place *right = b;
	uintptr_t left_claim = (uintptr_t)left->claim;
	uintptr_t right_claim = (uintptr_t)right->claim;

	return left_claim != right_claim ? (left_claim > right_claim) - (left_claim < right_claim)
					 : compare_positions(left, right);
}

/** Positions make it stable. */
static int compare_requests(const void *a, const void *b)
{
	const struct claim_place *left = a;
	const struct claim_place *right = b;
	int order = bt_quantity_compare(request_of(left->claim), request_of(right->claim));

	return order != 0 ? order : compare_positions(left, right);
}

static struct claim_place *sorted_places(const struct bt_persistent_volume_claim *const *claims,
	uint32_t count, int (*compare)(const void *a, const void *b), struct bt_arena *arena)
{
	struct claim_place *places = BT_ARENA_NEW_ARRAY(arena, struct claim_place, count);

	for (uint32_t i = 0; i < count; i++) {
		places[i] = (struct claim_place){claims[i], i};
	}
	if (count > 1) {
		qsort(places, count, sizeof(*places), compare);
	}
	return places;
}

void bt_claim_firsts(const struct bt_persistent_volume_claim *const *claims, uint32_t count,
	uint32_t *out_first, struct bt_arena *arena)
{
	const struct claim_place *places = sorted_places(claims, count, compare_claims, arena);

	for (uint32_t i = 0; i < count; i++) {
		bool repeats = i > 0 && places[i - 1].claim == places[i].claim;

		out_first[places[i].position] =
			repeats ? out_first[places[i - 1].position] : places[i].position;
	}
}

void bt_claim_matches_init(struct bt_claim_match *matches,
	const struct bt_persistent_volume_claim *const *claims, uint32_t count,
	struct bt_arena *arena)
{
	const struct claim_place *places = sorted_places(claims, count, compare_requests, arena);
	const struct bt_persistent_volume_claim **ordered =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, count);
	uint32_t *firsts = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++) {
		ordered[i] = places[i].claim;
	}
	bt_claim_firsts(ordered, count, firsts, arena);
	for (uint32_t i = 0; i < count; i++) {
		matches[i] = (struct bt_claim_match){.claim = ordered[i], .first = firsts[i]};
	}
}

/* --- candidates --- */

/** Rules d, e and f: they hold for volumes reserved for the claim, too. */
static bool is_compatible(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim)
{
	return bt_str_equal(volume->spec.volume_mode.data != NULL ? volume->spec.volume_mode
								  : BT_STR("Filesystem"),
		       claim->spec.volume_mode.data != NULL ? claim->spec.volume_mode
							    : BT_STR("Filesystem")) &&
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

static void collect(struct bt_real_binder *binder, struct bt_claim_match *match,
	const struct bt_selector *selector, struct bt_arena *arena)
{
	const struct bt_persistent_volume_claim *claim = match->claim;
	uint32_t count;
	struct bt_class_volume *volumes =
		bt_class_index_find(binder, bt_persistent_volume_claim_class(claim), &count);
	/* First volume of the class that is large enough. */
	const struct bt_quantity *request = request_of(claim);
	uint32_t first = 0;
	uint32_t high = count;

	while (first < high) {
		uint32_t middle = first + (high - first) / 2;

		if (bt_quantity_compare(volumes[middle].capacity, request) < 0) {
			first = middle + 1;
		} else {
			high = middle;
		}
	}

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

static bool suits(struct bt_real_binder *binder, const struct bt_match_candidate *candidate,
	const struct bt_str_map *labels)
{
	return bt_volume_affinity_matches(
		bt_class_volume_affinity(&binder->index, candidate->entry), labels);
}

/**
 * NULL: none. A volume reserved for the claim ends the search, whether the node can reach it or
 * not. Within a round what is taken stays taken, so a repeated claim goes on where it was.
 */
static const struct bt_match_candidate *find_volume(struct bt_real_binder *binder,
	struct bt_claim_match *match, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < match->reserved_count; i++) {
		const struct bt_match_candidate *candidate = &match->reserved[i];

		if (candidate->entry->taken_in != binder->match_round) {
			return suits(binder, candidate, labels) ? candidate : NULL;
		}
	}
	if (match->round != binder->match_round) {
		match->round = binder->match_round;
		match->position = 0;
	}
	for (; match->position < match->candidate_count; match->position++) {
		const struct bt_match_candidate *candidate = &match->candidates[match->position];

		if (candidate->entry->taken_in != binder->match_round &&
			suits(binder, candidate, labels)) {
			return candidate;
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

	binder->match_round++;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_claim_match *match = &matches[matches[i].first];
		const struct bt_match_candidate *candidate;
		int code = prepare(binder, match, arena, err);

		if (code != 0) {
			return code;
		}
		candidate = find_volume(binder, match, labels);
		if (candidate == NULL) {
			rest[rest_count++] = i;
			continue;
		}
		candidate->entry->taken_in = binder->match_round;
		bindings[binding_count++] = (struct bt_static_binding){candidate->volume,
			match->claim, candidate->volume->metadata.resource_version};
	}
	*out_binding_count = binding_count;
	*out_rest_count = rest_count;
	return 0;
}
