/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "plugins/common_plugin.h"
#include "base/vec.h"
#include "plugins/volume_binder_private.h"

/**
 * A volume that may match a claim. Candidates do not depend on the node, so they are collected
 * once, when the first node is checked.
 */
struct match_candidate {
	const struct bt_persistent_volume *volume; /* the assumed version */
	struct bt_class_volume *entry;
};

struct claim_match {
	const struct bt_persistent_volume_claim *claim;
	/**
	 * Index of the first match for the same claim. Only the first match has the fields below.
	 */
	uint32_t first;
	bool prepared;
	/** Volumes whose claimRef names this claim, ordered by name. */
	struct match_candidate *reserved;
	uint32_t reserved_count;
	struct match_candidate *candidates; /* in order of preference */
	uint32_t candidate_count;
	uint64_t round;    /* value of match_round for which `position` is valid */
	uint32_t position; /* next candidate; earlier candidates are taken or unsuitable */
};

struct topology_requirement {
	struct bt_str key;
	const bt_str_list *values;
};

struct topology_term {
	struct topology_requirement *items;
	uint32_t count; /* 0: matches no node */
};

struct capacity_pool {
	const struct bt_csi_storage_capacity *capacity;
	struct bt_selector topology;
};

/** Requirements on a node for provisioning a claim's volume. */
struct provision_plan {
	const struct bt_persistent_volume_claim *claim;
	/** Index of the first plan for the same claim. Only the first plan has the fields below. */
	uint32_t first;
	bool prepared;
	bool impossible; /* the class has no provisioner */
	struct topology_term *topologies;
	uint32_t topology_count; /* 0: no restriction */
	bool needs_capacity;
	struct capacity_pool *pools; /* pools with enough capacity, by namespace and name */
	uint32_t pool_count;
};

enum provision_answer {
	PROVISION_POSSIBLE,
	PROVISION_IMPOSSIBLE,
	PROVISION_NO_SPACE,
};

/*
 * Matching existing volumes with claims that wait for their first consumer. Spec: 07 sections 7.3
 * and 7.4.
 */

static const struct bt_quantity zero_quantity;

static const struct bt_quantity *request_of(const struct bt_persistent_volume_claim *claim)
{
	const struct bt_quantity *request = bt_claim_request(claim);

	return request != NULL ? request : &zero_quantity;
}

struct claim_place {
	const struct bt_persistent_volume_claim *claim;
	uint32_t position;
};

static int compare_positions(const struct claim_place *a, const struct claim_place *b)
{
	return BT_ORDER(a->position, b->position);
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim_place *left = a;
	const struct claim_place *right = b;
	uintptr_t left_claim = (uintptr_t)left->claim;
	uintptr_t right_claim = (uintptr_t)right->claim;

	return left_claim != right_claim ? BT_ORDER(left_claim, right_claim)
					 : compare_positions(left, right);
}

/** Orders claims by requested size. Comparing positions makes the sort stable. */
BT_COMPARE(compare_requests, struct claim_place,
	BT_ORDER_BY(bt_quantity_compare(request_of(a->claim), request_of(b->claim)),
		compare_positions(a, b)))

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

/**
 * Set out_first[i] to the lowest k with claims[k] == claims[i]. A pod may use a claim more than
 * once.
 */
static void claim_firsts(const struct bt_persistent_volume_claim *const *claims, uint32_t count,
	uint32_t *out_first, struct bt_arena *arena)
{
	const struct claim_place *places = sorted_places(claims, count, compare_claims, arena);

	for (uint32_t i = 0; i < count; i++) {
		bool repeats = i > 0 && places[i - 1].claim == places[i].claim;

		out_first[places[i].position] =
			repeats ? out_first[places[i - 1].position] : places[i].position;
	}
}

/**
 * Whether the volume meets rules d, e and f of spec 07 section 7.4, which also apply to volumes
 * reserved for the claim.
 */
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

BT_COMPARE(compare_by_name, struct match_candidate,
	bt_str_compare(a->volume->metadata.name, b->volume->metadata.name))

static int prepare_match(struct bt_real_binder *binder, struct claim_match *match,
	struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = match->claim;
	const struct bt_quantity *request = request_of(claim);
	struct bt_selector selector;
	uint32_t count;
	uint32_t first; /* the first volume of the class that is large enough */

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
	struct bt_class_volume *volumes =
		bt_class_index_find(binder, bt_persistent_volume_claim_class(claim), &count);
	BT_LOWER_BOUND(
		first, count, middle, bt_quantity_compare(volumes[middle].capacity, request) < 0);
	match->candidates = BT_ARENA_NEW_ARRAY(arena, struct match_candidate, count - first);
	match->reserved = NULL;
	for (uint32_t i = first; i < count; i++) {
		const struct bt_persistent_volume *volume =
			bt_assume_cache_view(&binder->volumes, volumes[i].stored);
		struct match_candidate candidate = {volume, &volumes[i]};

		if (volume->spec.claim_ref != NULL) {
			if (bt_volume_is_for_claim(volume, claim) && is_compatible(volume, claim)) {
				if (match->reserved == NULL) {
					match->reserved = BT_ARENA_NEW_ARRAY(
						arena, struct match_candidate, count - i);
				}
				match->reserved[match->reserved_count++] = candidate;
			}
			continue;
		}
		bool matches = is_compatible(volume, claim) &&
			bt_str_equal_c(volume->status.phase, "Available") &&
			(claim->spec.selector == NULL ||
				bt_selector_matches(&selector, &volume->metadata.labels));
		for (uint32_t k = 0; matches && k < claim->spec.access_modes.count; k++) {
			matches = bt_str_list_has(
				&volume->spec.access_modes, claim->spec.access_modes.items[k]);
		}
		if (matches) {
			match->candidates[match->candidate_count++] = candidate;
		}
	}
	if (match->reserved_count > 1) {
		qsort(match->reserved, match->reserved_count, sizeof(*match->reserved),
			compare_by_name);
	}
	match->prepared = true;
	return 0;
}

static bool matches_volume_affinity(struct bt_real_binder *binder,
	const struct match_candidate *candidate, const struct bt_str_map *labels)
{
	return bt_volume_affinity_matches(
		bt_class_volume_affinity(&binder->index, candidate->entry), labels);
}

/**
 * Find a volume for a claim on the node; NULL if there is none. A volume reserved for the claim
 * ends the search, even if it does not suit the node. Volumes stay taken for the whole round, so a
 * repeated claim continues the search at the last position.
 */
static const struct match_candidate *find_volume(
	struct bt_real_binder *binder, struct claim_match *match, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < match->reserved_count; i++) {
		const struct match_candidate *candidate = &match->reserved[i];

		if (candidate->entry->taken_in != binder->match_round) {
			return matches_volume_affinity(binder, candidate, labels) ? candidate
										  : NULL;
		}
	}
	if (match->round != binder->match_round) {
		match->round = binder->match_round;
		match->position = 0;
	}
	for (; match->position < match->candidate_count; match->position++) {
		const struct match_candidate *candidate = &match->candidates[match->position];

		if (candidate->entry->taken_in != binder->match_round &&
			matches_volume_affinity(binder, candidate, labels)) {
			return candidate;
		}
	}
	return NULL;
}

/**
 * Match each claim with a volume on the node. bindings gets the matched claims; rest gets the
 * indices of the other claims. Both need room for count entries.
 */
static int match_static(struct bt_real_binder *binder, struct claim_match *matches, uint32_t count,
	const struct bt_str_map *labels, struct bt_arena *arena, struct bt_static_binding *bindings,
	uint32_t *out_binding_count, uint32_t *rest, uint32_t *out_rest_count,
	struct berth_error *err)
{
	uint32_t binding_count = 0;
	uint32_t rest_count = 0;

	binder->match_round++;
	for (uint32_t i = 0; i < count; i++) {
		struct claim_match *match = &matches[matches[i].first];
		int code = prepare_match(binder, match, arena, err);

		if (code != 0) {
			return code;
		}
		const struct match_candidate *candidate = find_volume(binder, match, labels);
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

/*
 * Provisioning volumes for claims on a node. Spec: 07 sections 7.5 and 7.6; topologies: 07 section
 * 2.9.
 */

/**
 * Parse a term. An invalid term gets no requirements; a term without requirements matches no node.
 */
static struct topology_term parse_term(
	const struct bt_topology_selector_term *term, struct bt_arena *arena)
{
	struct topology_term parsed = {0};

	parsed.items = BT_ARENA_NEW_ARRAY(
		arena, struct topology_requirement, term->match_label_expressions.count);
	for (uint32_t i = 0; i < term->match_label_expressions.count; i++) {
		const struct bt_topology_selector_label_requirement *expression =
			&term->match_label_expressions.items[i];

		if (!bt_label_key_is_valid(expression->key) || expression->values.count == 0) {
			return (struct topology_term){0};
		}
		for (uint32_t k = 0; k < expression->values.count; k++) {
			if (!bt_label_value_is_valid(expression->values.items[k])) {
				return (struct topology_term){0};
			}
		}
		parsed.items[parsed.count++] =
			(struct topology_requirement){expression->key, &expression->values};
	}
	return parsed;
}

static bool topologies_match(const struct provision_plan *plan, const struct bt_str_map *labels)
{
	bool matches = plan->topology_count == 0;

	for (uint32_t t = 0; t < plan->topology_count && !matches; t++) {
		const struct topology_term *term = &plan->topologies[t];

		matches = term->count != 0;
		for (uint32_t i = 0; i < term->count && matches; i++) {
			const struct bt_str *value = bt_str_map_find(labels, term->items[i].key);

			matches = value != NULL && bt_str_list_has(term->items[i].values, *value);
		}
	}
	return matches;
}

static int prepare_plan(struct bt_real_binder *binder, struct provision_plan *plan,
	struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = plan->claim;
	const struct bt_state *state = binder->handle->state;
	struct bt_str class_name = bt_persistent_volume_claim_class(claim);
	const struct bt_quantity *request = bt_claim_request(claim);

	if (class_name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no class for claim \"%.*s/%.*s\"",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name));
	}
	const struct bt_storage_class *storage_class = bt_find_storage_class(state, class_name);
	if (storage_class == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"failed to find storage class \"%.*s\"", BT_STR_ARG(class_name));
	}
	plan->prepared = true;
	if (storage_class->provisioner.length == 0 ||
		bt_str_equal_c(storage_class->provisioner, "kubernetes.io/no-provisioner")) {
		plan->impossible = true;
		return 0;
	}
	plan->topology_count = storage_class->allowed_topologies.count;
	plan->topologies = BT_ARENA_NEW_ARRAY(arena, struct topology_term, plan->topology_count);
	for (uint32_t i = 0; i < plan->topology_count; i++) {
		plan->topologies[i] =
			parse_term(&storage_class->allowed_topologies.items[i], arena);
	}
	const struct bt_csi_driver *driver = bt_find_csi_driver(state, storage_class->provisioner);
	if (request != NULL && driver != NULL && driver->spec.storage_capacity.present &&
		driver->spec.storage_capacity.value) {
		struct bt_object_store *store = &binder->handle->state->objects;
		int64_t size = bt_quantity_value(request);
		const struct bt_csi_storage_capacity *capacity;
		uint32_t cursor = 0;

		plan->needs_capacity = true;
		plan->pools = BT_ARENA_NEW_ARRAY(arena, struct capacity_pool,
			bt_object_store_count(store, BT_KIND_CSI_STORAGE_CAPACITY));
		while ((capacity = bt_object_store_next(store, BT_KIND_CSI_STORAGE_CAPACITY,
				(struct bt_str){0}, &cursor)) != NULL) {
			struct capacity_pool *pool = &plan->pools[plan->pool_count];

			if (!bt_str_equal(
				    capacity->storage_class_name, storage_class->metadata.name) ||
				bt_storage_capacity_limit(capacity) == NULL ||
				bt_quantity_value(bt_storage_capacity_limit(capacity)) < size ||
				capacity->node_topology == NULL) {
				continue;
			}
			/* An invalid selector matches no node; upstream only logs the error. */
			if (bt_selector_from_label_selector(
				    capacity->node_topology, arena, &pool->topology, NULL) == 0) {
				pool->capacity = capacity;
				plan->pool_count++;
			}
		}
	}
	return 0;
}

static int check_provision(struct bt_real_binder *binder, struct provision_plan *plan,
	const struct bt_str_map *labels, struct bt_arena *arena, enum provision_answer *out_answer,
	const struct bt_csi_storage_capacity **out_capacity, struct berth_error *err)
{
	int code = plan->prepared ? 0 : prepare_plan(binder, plan, arena, err);

	if (code != 0) {
		return code;
	}
	*out_capacity = NULL;
	if (plan->impossible || !topologies_match(plan, labels)) {
		*out_answer = PROVISION_IMPOSSIBLE;
		return 0;
	}
	*out_answer = PROVISION_POSSIBLE;
	if (!plan->needs_capacity) {
		return 0;
	}
	for (uint32_t i = 0; i < plan->pool_count; i++) {
		if (bt_selector_matches(&plan->pools[i].topology, labels)) {
			*out_capacity = plan->pools[i].capacity;
			return 0;
		}
	}
	*out_answer = PROVISION_NO_SPACE;
	return 0;
}

/* The pod's claims, and whether a node can provide their volumes. Spec: 07 sections 6 and 7. */

/**
 * Affinity of a bound claim's volume on nodes on which the volume's plugin is, or is not, migrated.
 */
struct affinity_variant {
	bool known;
	int code; /* not 0: the volume cannot be translated */
	struct bt_str error_text;
	struct bt_volume_affinity affinity;
};

struct bound_volume {
	const struct bt_persistent_volume *volume; /* NULL: the volume does not exist */
	enum bt_in_tree_driver driver;
	struct affinity_variant
		variants[2]; /* [0] untranslated, [1] translated for migrated nodes */
	bool is_resolved;
};

/** Data that FindPodVolumes computes once for all nodes of a cycle. */
struct cycle_work {
	struct bound_volume *bound; /* by index in the list of bound claims */
	bool has_selected_node;
	struct bt_str selected_node; /* selected node of the first claim that has one */
	bool selected_nodes_differ;
	struct claim_match *matches; /* claims without a selected node, ordered by requested size */
	uint32_t match_count;
	/**
	 * Plans for the claims with a selected node, followed by plans for the claims of matches.
	 */
	struct provision_plan *plans;
	uint32_t selected_count;
	/* Scratch memory for the result of one node. */
	struct bt_static_binding *bindings;
	struct bt_dynamic_provision *provisions;
	uint32_t *rest;
};

/* Spec: 07 section 6. */
int bt_binder_get_pod_volume_claims(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_pod_volume_claims *out_claims, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_pod_volume_claims claims = {0};
	struct bt_claim_list *lists[] = {&claims.bound, &claims.delayed, &claims.immediate};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		lists[i]->items = BT_ARENA_NEW_ARRAY(
			arena, const struct bt_persistent_volume_claim *, spec->volumes.count);
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_storage_class *storage_class;
		struct bt_claim_list *list = &claims.immediate;
		struct bt_volume_claim named;

		if (!bt_volume_claim_of(pod, &spec->volumes.items[i], arena, &named)) {
			continue;
		}
		const struct bt_persistent_volume_claim *claim =
			bt_assume_cache_find(&binder->claims, pod->namespace_, named.name);
		if (claim == NULL) {
			int code = bt_assume_cache_not_found(
				&binder->claims, pod->namespace_, named.name, err);

			return bt_error_wrap(err, code, "error getting PVC \"%.*s/%.*s\"",
				BT_STR_ARG(pod->namespace_), BT_STR_ARG(named.name));
		}
		if (named.ephemeral && !bt_pod_owns_claim(pod, claim)) {
			return bt_error_set(err, BERTH_ERR_INVALID, "%.*s",
				BT_STR_ARG(bt_claim_not_owned_text(pod, claim, arena)));
		}
		struct bt_str class_name = bt_persistent_volume_claim_class(claim);
		if (bt_claim_is_fully_bound(claim)) {
			list = &claims.bound;
		} else if (class_name.length != 0 &&
			(storage_class = bt_find_storage_class(
				 binder->handle->state, class_name)) != NULL) {
			if (storage_class->volume_binding_mode.data == NULL) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"VolumeBindingMode not set for StorageClass \"%.*s\"",
					BT_STR_ARG(class_name));
			}
			if (claim->spec.volume_name.length == 0 &&
				bt_str_equal(storage_class->volume_binding_mode,
					BT_WAIT_FOR_FIRST_CONSUMER)) {
				list = &claims.delayed;
			}
		}
		list->items[list->count++] = claim;
	}
	*out_claims = claims;
	return 0;
}

static int check_bound(struct bt_real_binder *binder, const struct bt_claim_list *claims,
	struct cycle_work *work, const struct bt_node_info *node, struct bt_arena *arena,
	uint32_t *conflicts, struct berth_error *err)
{
	const struct bt_csi_node *csi_node = NULL;
	bool csi_node_known = false;

	for (uint32_t i = 0; i < claims->count; i++) {
		struct bound_volume *bound = &work->bound[i];

		if (!bound->is_resolved) {
			bound->volume = bt_assume_cache_find(
				&binder->volumes, BT_STR(""), claims->items[i]->spec.volume_name);
			bound->driver = bound->volume != NULL ? bt_in_tree_of_volume(bound->volume)
							      : BT_IN_TREE__COUNT;
			bound->is_resolved = true;
		}
		if (bound->volume == NULL) {
			*conflicts |= BT_VOLUME_CONFLICT_NOT_EXIST;
			return 0;
		}
		if (bound->driver != BT_IN_TREE__COUNT && !csi_node_known) {
			csi_node = bt_find_csi_node(binder->handle->state, bt_node_info_name(node));
			csi_node_known = true;
		}
		/* The affinity is computed once for migrated and once for other nodes. */
		bool translated = bound->driver != BT_IN_TREE__COUNT &&
			bt_in_tree_is_migrated(bound->driver) &&
			bt_csi_node_lists_migrated(csi_node, bound->driver);
		struct affinity_variant *variant = &bound->variants[translated ? 1 : 0];
		if (!variant->known) {
			struct berth_error cause = BERTH_ERROR_INIT;

			variant->known = true;
			variant->code = bt_volume_affinity_for_node(
				bound->volume, csi_node, arena, &variant->affinity, &cause);
			variant->error_text =
				bt_arena_str(arena, bt_str_from(berth_error_message(&cause)));
			berth_error_finish(&cause);
		}
		if (variant->code != 0) {
			return bt_error_set(
				err, variant->code, "%.*s", BT_STR_ARG(variant->error_text));
		}
		if (!bt_volume_affinity_matches(&variant->affinity, bt_node_info_labels(node))) {
			*conflicts |= BT_VOLUME_CONFLICT_NODE;
			return 0;
		}
	}
	return 0;
}

/** Collects the data for all nodes of a cycle. Spec: 07 section 7.1. */
static struct cycle_work *create_cycle_work(
	const struct bt_pod_volume_claims *claims, struct bt_arena *arena)
{
	struct cycle_work *work = BT_ARENA_NEW(arena, struct cycle_work);
	uint32_t count = claims->delayed.count;
	const struct bt_persistent_volume_claim **selected =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, count);
	const struct bt_persistent_volume_claim **others =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, count);

	work->bound = BT_ARENA_NEW_ARRAY(arena, struct bound_volume, claims->bound.count);
	work->matches = BT_ARENA_NEW_ARRAY(arena, struct claim_match, count);
	work->plans = BT_ARENA_NEW_ARRAY(arena, struct provision_plan, count);
	work->bindings = BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, count);
	work->provisions = BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_provision, count);
	work->rest = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_persistent_volume_claim *claim = claims->delayed.items[i];
		const struct bt_str *node_name = bt_claim_selected_node(claim);

		if (node_name == NULL) {
			others[work->match_count++] = claim;
		} else {
			selected[work->selected_count++] = claim;
			/* The claim's volume must be provisioned on its selected node. */
			if (!work->has_selected_node) {
				work->has_selected_node = true;
				work->selected_node = *node_name;
			} else if (!bt_str_equal(work->selected_node, *node_name)) {
				work->selected_nodes_differ = true;
			}
		}
	}
	/* Make the matches, ordered as in spec 07 section 7.3. */
	const struct claim_place *places =
		sorted_places(others, work->match_count, compare_requests, arena);
	const struct bt_persistent_volume_claim **ordered = BT_ARENA_NEW_ARRAY(
		arena, const struct bt_persistent_volume_claim *, work->match_count);
	uint32_t *firsts = BT_ARENA_NEW_ARRAY(arena, uint32_t, work->match_count);

	for (uint32_t i = 0; i < work->match_count; i++) {
		ordered[i] = places[i].claim;
	}
	claim_firsts(ordered, work->match_count, firsts, arena);
	for (uint32_t i = 0; i < work->match_count; i++) {
		work->matches[i] = (struct claim_match){.claim = ordered[i], .first = firsts[i]};
	}
	uint32_t *selected_firsts = BT_ARENA_NEW_ARRAY(arena, uint32_t, work->selected_count);

	claim_firsts(selected, work->selected_count, selected_firsts, arena);
	for (uint32_t i = 0; i < work->selected_count; i++) {
		work->plans[i].claim = selected[i];
		work->plans[i].first = selected_firsts[i];
	}
	for (uint32_t i = 0; i < work->match_count; i++) {
		struct provision_plan *plan = &work->plans[work->selected_count + i];

		plan->claim = work->matches[i].claim;
		plan->first = work->selected_count + work->matches[i].first;
	}
	return work;
}

/**
 * Plan the provisioning of volumes: first for claims with a selected node, then for claims that
 * match_static could not match. Spec 07 section 7.5.
 */
static int provision(struct bt_real_binder *binder, struct cycle_work *work, uint32_t rest_count,
	const struct bt_str_map *labels, struct bt_arena *arena, uint32_t *out_count,
	uint32_t *conflicts, struct berth_error *err)
{
	for (uint32_t i = 0; i < work->selected_count + rest_count; i++) {
		uint32_t index = i < work->selected_count
			? i
			: work->selected_count + work->rest[i - work->selected_count];
		struct provision_plan *plan = &work->plans[work->plans[index].first];
		enum provision_answer answer;
		const struct bt_csi_storage_capacity *capacity;
		int code = check_provision(binder, plan, labels, arena, &answer, &capacity, err);

		if (code != 0) {
			return code;
		}
		if (answer != PROVISION_POSSIBLE) {
			*conflicts |= answer == PROVISION_NO_SPACE ? BT_VOLUME_CONFLICT_SPACE
								   : BT_VOLUME_CONFLICT_BIND;
			*out_count = 0;
			return 0;
		}
		work->provisions[(*out_count)++] =
			(struct bt_dynamic_provision){plan->claim, capacity};
	}
	return 0;
}

int bt_binder_find_pod_volumes(struct bt_volume_binder *base,
	BT_UNUSED const struct bt_pod_info *pod, struct bt_pod_volume_claims *claims,
	const struct bt_node_info *node, struct bt_arena *arena,
	struct bt_pod_volumes **out_volumes, uint32_t *out_conflicts, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	uint32_t static_count = 0;
	uint32_t dynamic_count = 0;
	uint32_t conflicts = 0;
	int code = 0;

	if (claims->work == NULL) {
		claims->work = create_cycle_work(claims, arena);
	}
	struct cycle_work *work = claims->work;
	code = check_bound(binder, &claims->bound, work, node, arena, &conflicts, err);
	if (code == 0 && claims->delayed.count != 0) {
		const struct bt_str_map *labels = bt_node_info_labels(node);
		uint32_t rest_count = 0;

		if (work->has_selected_node &&
			(work->selected_nodes_differ ||
				!bt_str_equal(work->selected_node, bt_node_info_name(node)))) {
			conflicts |= BT_VOLUME_CONFLICT_BIND;
		} else {
			code = match_static(binder, work->matches, work->match_count, labels, arena,
				work->bindings, &static_count, work->rest, &rest_count, err);
			if (code == 0) {
				code = provision(binder, work, rest_count, labels, arena,
					&dynamic_count, &conflicts, err);
			}
		}
	}
	if (code != 0) {
		binder->stage_errors[BT_VOLUME_STAGE_PREDICATE]++;
		return code;
	}
	*out_conflicts = conflicts;
	*out_volumes = NULL;
	if (conflicts == 0) {
		struct bt_pod_volumes *volumes = BT_ARENA_NEW(arena, struct bt_pod_volumes);

		volumes->static_count = static_count;
		volumes->static_bindings =
			BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, static_count);
		memcpy(volumes->static_bindings, work->bindings,
			static_count * sizeof(*volumes->static_bindings));
		volumes->dynamic_count = dynamic_count;
		volumes->dynamic_provisions =
			BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_provision, dynamic_count);
		memcpy(volumes->dynamic_provisions, work->provisions,
			dynamic_count * sizeof(*volumes->dynamic_provisions));
		*out_volumes = volumes;
	}
	return 0;
}
