/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of a pod, and whether a node can hold their volumes. Spec: 07 sections 6 and 7. */
#include "plugins/common_plugin.h"
#include "plugins/volume_binder_private.h"

/** How the volume of a bound claim looks on nodes of one kind. */
struct affinity_variant {
	bool known;
	int code; /* not 0: it cannot be translated */
	struct bt_str error_text;
	struct bt_volume_affinity affinity;
};

struct bound_volume {
	const struct bt_persistent_volume *volume; /* NULL: there is none */
	enum bt_in_tree_driver driver;
	struct affinity_variant
		variants[2]; /* as it is; on nodes that list its plugin as migrated */
	bool looked_up;
};

/** What FindPodVolumes computes once for all nodes of a cycle. */
struct cycle_work {
	struct bound_volume *bound; /* by index in the bound list */
	bool has_selected_node;
	struct bt_str selected_node; /* the first one; `conflicting` when another differs */
	bool selected_nodes_differ;
	struct bt_claim_match *matches; /* claims without selected node, by size */
	uint32_t match_count;
	struct bt_provision_plan *plans; /* claims with selected node, then those of matches */
	uint32_t selected_count;
	/* Room for the answer of one node. */
	struct bt_static_binding *bindings;
	struct bt_dynamic_provision *provisions;
	uint32_t *rest;
};

/* --- spec 07 section 6 --- */

static int is_delayed(const struct bt_state *state, const struct bt_persistent_volume_claim *claim,
	bool *out_delayed, struct berth_error *err)
{
	struct bt_str class_name = bt_persistent_volume_claim_class(claim);
	const struct bt_storage_class *storage_class =
		class_name.length != 0 ? bt_find_storage_class(state, class_name) : NULL;

	*out_delayed = false;
	if (storage_class == NULL) {
		return 0;
	}
	if (storage_class->volume_binding_mode.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"VolumeBindingMode not set for StorageClass \"%.*s\"",
			BT_STR_ARG(class_name));
	}
	*out_delayed = bt_str_equal(storage_class->volume_binding_mode, BT_WAIT_FOR_FIRST_CONSUMER);
	return 0;
}

static void append(struct bt_claim_list *list, const struct bt_persistent_volume_claim *claim)
{
	list->items[list->count++] = claim;
}

static int sort_claim(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	const struct bt_volume_claim *named, struct bt_arena *arena,
	struct bt_pod_volume_claims *claims, struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim =
		bt_assume_cache_find(&binder->claims, pod->namespace_, named->name);
	bool delayed;
	int code;

	if (claim == NULL) {
		code = bt_assume_cache_not_found(
			&binder->claims, pod->namespace_, named->name, err);
		return bt_error_wrap(err, code, "error getting PVC \"%.*s/%.*s\"",
			BT_STR_ARG(pod->namespace_), BT_STR_ARG(named->name));
	}
	if (named->ephemeral && !bt_pod_owns_claim(pod, claim)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%.*s",
			BT_STR_ARG(bt_claim_not_owned_text(pod, claim, arena)));
	}
	if (bt_claim_is_fully_bound(claim)) {
		append(&claims->bound, claim);
		return 0;
	}
	code = is_delayed(binder->handle->state, claim, &delayed, err);
	if (code != 0) {
		return code;
	}
	append(delayed && claim->spec.volume_name.length == 0 ? &claims->delayed
							      : &claims->immediate,
		claim);
	return 0;
}

int bt_binder_get_pod_volume_claims(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_pod_volume_claims *out_claims, struct berth_error *err)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_pod_volume_claims claims = {0};
	uint32_t max = spec->volumes.count;

	claims.bound.items =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, max);
	claims.delayed.items =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, max);
	claims.immediate.items =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, max);
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		struct bt_volume_claim named;
		int code;

		if (!bt_volume_claim_of(pod, &spec->volumes.items[i], arena, &named)) {
			continue;
		}
		code = sort_claim(bt_real_binder_of(base), pod, &named, arena, &claims, err);
		if (code != 0) {
			return code;
		}
	}
	*out_claims = claims;
	return 0;
}

/* --- spec 07 section 7.2 --- */

/** The affinity as the node sees it, worked out for the first node of its kind. */
static const struct affinity_variant *variant_of(
	struct bound_volume *bound, const struct bt_csi_node *csi_node, struct bt_arena *arena)
{
	bool translated = bound->driver != BT_IN_TREE__COUNT &&
		bt_in_tree_is_migrated(bound->driver) &&
		bt_csi_node_lists_migrated(csi_node, bound->driver);
	struct affinity_variant *variant = &bound->variants[translated ? 1 : 0];
	struct berth_error err = BERTH_ERROR_INIT;

	if (!variant->known) {
		variant->known = true;
		variant->code = bt_volume_affinity_for_node(
			bound->volume, csi_node, arena, &variant->affinity, &err);
		variant->error_text = bt_arena_str(arena, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
	return variant;
}

static int check_bound(struct bt_real_binder *binder, const struct bt_claim_list *claims,
	struct cycle_work *work, const struct bt_node_info *node, struct bt_arena *arena,
	uint32_t *conflicts, struct berth_error *err)
{
	const struct bt_csi_node *csi_node = NULL;
	bool csi_node_known = false;

	for (uint32_t i = 0; i < claims->count; i++) {
		struct bound_volume *bound = &work->bound[i];
		const struct affinity_variant *variant;

		if (!bound->looked_up) {
			bound->volume = bt_assume_cache_find(
				&binder->volumes, BT_STR(""), claims->items[i]->spec.volume_name);
			bound->driver = bound->volume != NULL ? bt_in_tree_of_volume(bound->volume)
							      : BT_IN_TREE__COUNT;
			bound->looked_up = true;
		}
		if (bound->volume == NULL) {
			*conflicts |= BT_VOLUME_CONFLICT_NOT_EXIST;
			return 0;
		}
		if (bound->driver != BT_IN_TREE__COUNT && !csi_node_known) {
			csi_node = bt_find_csi_node(binder->handle->state, bt_node_info_name(node));
			csi_node_known = true;
		}
		variant = variant_of(bound, csi_node, arena);
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

/* --- spec 07 section 7.1 --- */

/** The claim selects a node: it is to be provisioned there. */
static void note_selected_node(struct cycle_work *work, struct bt_str node_name)
{
	if (!work->has_selected_node) {
		work->has_selected_node = true;
		work->selected_node = node_name;
	} else if (!bt_str_equal(work->selected_node, node_name)) {
		work->selected_nodes_differ = true;
	}
}

static void make_plans(struct cycle_work *work,
	const struct bt_persistent_volume_claim *const *selected, struct bt_arena *arena)
{
	uint32_t *firsts = BT_ARENA_NEW_ARRAY(arena, uint32_t, work->selected_count);

	bt_claim_firsts(selected, work->selected_count, firsts, arena);
	for (uint32_t i = 0; i < work->selected_count; i++) {
		work->plans[i].claim = selected[i];
		work->plans[i].first = firsts[i];
	}
	for (uint32_t i = 0; i < work->match_count; i++) {
		struct bt_provision_plan *plan = &work->plans[work->selected_count + i];

		plan->claim = work->matches[i].claim;
		plan->first = work->selected_count + work->matches[i].first;
	}
}

static struct cycle_work *make_work(
	const struct bt_pod_volume_claims *claims, struct bt_arena *arena)
{
	struct cycle_work *work = BT_ARENA_NEW(arena, struct cycle_work);
	uint32_t count = claims->delayed.count;
	const struct bt_persistent_volume_claim **selected =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, count);
	const struct bt_persistent_volume_claim **others =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, count);

	work->bound = BT_ARENA_NEW_ARRAY(arena, struct bound_volume, claims->bound.count);
	work->matches = BT_ARENA_NEW_ARRAY(arena, struct bt_claim_match, count);
	work->plans = BT_ARENA_NEW_ARRAY(arena, struct bt_provision_plan, count);
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
			note_selected_node(work, *node_name);
		}
	}
	bt_claim_matches_init(work->matches, others, work->match_count, arena);
	make_plans(work, selected, arena);
	return work;
}

/** Outcome of the claims that wait, in work->bindings and work->provisions. */
struct delayed_outcome {
	uint32_t static_count;
	uint32_t dynamic_count;
	uint32_t conflicts;
};

/** Claims with selected node first, then those without a volume. Spec 07 section 7.5. */
static int provision(struct bt_real_binder *binder, struct cycle_work *work, uint32_t rest_count,
	const struct bt_str_map *labels, struct bt_arena *arena, struct delayed_outcome *outcome,
	struct berth_error *err)
{
	for (uint32_t i = 0; i < work->selected_count + rest_count; i++) {
		uint32_t index = i < work->selected_count
			? i
			: work->selected_count + work->rest[i - work->selected_count];
		struct bt_provision_plan *plan = &work->plans[work->plans[index].first];
		enum bt_provision_answer answer;
		const struct bt_csi_storage_capacity *capacity;
		int code = bt_check_provision(binder, plan, labels, arena, &answer, &capacity, err);

		if (code != 0) {
			return code;
		}
		if (answer != BT_PROVISION_POSSIBLE) {
			outcome->conflicts |= answer == BT_PROVISION_NO_SPACE
				? BT_VOLUME_CONFLICT_SPACE
				: BT_VOLUME_CONFLICT_BIND;
			outcome->dynamic_count = 0;
			return 0;
		}
		work->provisions[outcome->dynamic_count++] =
			(struct bt_dynamic_provision){plan->claim, capacity};
	}
	return 0;
}

static int check_delayed(struct bt_real_binder *binder, struct cycle_work *work,
	const struct bt_node_info *node, struct bt_arena *arena, struct delayed_outcome *outcome,
	struct berth_error *err)
{
	const struct bt_str_map *labels = bt_node_info_labels(node);
	uint32_t rest_count = 0;
	int code;

	if (work->has_selected_node &&
		(work->selected_nodes_differ ||
			!bt_str_equal(work->selected_node, bt_node_info_name(node)))) {
		outcome->conflicts |= BT_VOLUME_CONFLICT_BIND;
		return 0;
	}
	code = bt_match_static(binder, work->matches, work->match_count, labels, arena,
		work->bindings, &outcome->static_count, work->rest, &rest_count, err);
	return code != 0 ? code : provision(binder, work, rest_count, labels, arena, outcome, err);
}

static struct bt_pod_volumes *keep(const struct cycle_work *work,
	const struct delayed_outcome *outcome, struct bt_arena *arena)
{
	struct bt_pod_volumes *volumes = BT_ARENA_NEW(arena, struct bt_pod_volumes);

	volumes->static_count = outcome->static_count;
	if (volumes->static_count != 0) {
		volumes->static_bindings =
			BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, volumes->static_count);
		memcpy(volumes->static_bindings, work->bindings,
			volumes->static_count * sizeof(*volumes->static_bindings));
	}
	volumes->dynamic_count = outcome->dynamic_count;
	if (volumes->dynamic_count != 0) {
		volumes->dynamic_provisions = BT_ARENA_NEW_ARRAY(
			arena, struct bt_dynamic_provision, volumes->dynamic_count);
		memcpy(volumes->dynamic_provisions, work->provisions,
			volumes->dynamic_count * sizeof(*volumes->dynamic_provisions));
	}
	return volumes;
}

int bt_binder_find_pod_volumes(struct bt_volume_binder *base,
	BT_UNUSED const struct bt_pod_info *pod, struct bt_pod_volume_claims *claims,
	const struct bt_node_info *node, struct bt_arena *arena,
	struct bt_pod_volumes **out_volumes, uint32_t *out_conflicts, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	struct delayed_outcome outcome = {0};
	struct cycle_work *work;
	int code = 0;

	if (claims->work == NULL) {
		claims->work = make_work(claims, arena);
	}
	work = claims->work;
	code = check_bound(binder, &claims->bound, work, node, arena, &outcome.conflicts, err);
	if (code == 0 && claims->delayed.count != 0) {
		code = check_delayed(binder, work, node, arena, &outcome, err);
	}
	if (code != 0) {
		binder->stage_errors[BT_VOLUME_STAGE_PREDICATE]++;
		return code;
	}
	*out_conflicts = outcome.conflicts;
	*out_volumes = outcome.conflicts == 0 ? keep(work, &outcome, arena) : NULL;
	return 0;
}
