/* SPDX-License-Identifier: Apache-2.0 */
/** Making a set of changes that helps as small as it can be. */
#include "explain/explain_search.h"

/** Up to so many changes every proper part is tried; of more, one after the other is left out. */
#define ALL_PARTS_MAX 5
/** Nodes that trials may ask together: a few seconds of work. */
#define WORK_MAX 8000000

/** Terms and constraints of a pod that are answered from kept counts; of more, pods are counted. */
#define COUNTED_TERMS 16
/** Terms that are as much work as the rest of a node's filters. */
#define TERMS_OF_A_NODE 32

static uint64_t node_terms(const struct bt_pod_spec *spec)
{
	const struct bt_node_affinity *affinity =
		spec->affinity != NULL ? spec->affinity->node_affinity : NULL;

	return affinity != NULL && affinity->required != NULL ? affinity->required->terms.count : 0;
}

void bt_search_weigh(struct bt_explain_search *search)
{
	const struct bt_explain_run *run = search->run;
	uint64_t nodes = run->out->node_count;
	uint64_t pods = bt_state_pod_count(run->engine->state);
	const struct bt_affinity *affinity = run->pod->spec.affinity;
	uint64_t terms = run->pod->spec.topology_spread_constraints.count;

	if (affinity != NULL && affinity->pod_affinity != NULL) {
		terms += affinity->pod_affinity->required.count;
	}
	if (affinity != NULL && affinity->pod_anti_affinity != NULL) {
		terms += affinity->pod_anti_affinity->required.count;
	}

	search->node_work = 1 + (terms + node_terms(&run->pod->spec)) / TERMS_OF_A_NODE;
	/* Every cycle has a PreFilter, which may count over the whole cluster. */
	search->cycle_work = nodes / 4 * search->node_work + 100;
	if (terms > COUNTED_TERMS) {
		search->cycle_work += terms * (nodes + pods) / 64;
	}
}

void bt_search_charge(struct bt_explain_search *search, uint32_t asked_count)
{
	search->work += asked_count * search->node_work + search->cycle_work;
	search->exhausted = search->exhausted || search->work > WORK_MAX;
}

/** What the node has is seen by the filters of that node alone: others need not be asked again. */
static bool is_local(const bt_remedy_list *remedies)
{
	bool frees = false;

	for (uint32_t i = 0; i < remedies->count; i++) {
		frees = frees || remedies->items[i].kind == BT_REMEDY_FREE_RESOURCE;
		if (remedies->items[i].kind != BT_REMEDY_FREE_RESOURCE &&
			!bt_remedy_is_of_pod(remedies->items[i].kind)) {
			return false;
		}
	}
	return frees;
}

static int try_set(struct bt_explain_search *search, const bt_remedy_list *remedies, bool *out_fits,
	struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	struct bt_explain_world world;
	bool possible;
	int result = bt_explain_world_open(&world, run->engine, run->pod, remedies->items,
		remedies->count, &run->options->objects, &possible, err);

	*out_fits = false;
	if (result < 0 || !possible) {
		return result;
	}
	if (is_local(remedies)) {
		/* The nodes where something is freed. */
		bool fits = false;

		for (uint32_t i = 0; i < remedies->count && !fits; i++) {
			struct bt_str node = remedies->items[i].node;

			if (remedies->items[i].kind != BT_REMEDY_FREE_RESOURCE ||
				(i > 0 && bt_str_equal(remedies->items[i - 1].node, node))) {
				continue;
			}
			struct bt_scan scan = bt_explain_world_ask(
				&world, bt_state_snapshot_find(search->run->engine->state, node));
			bt_search_charge(search, scan.asked_count);
			fits = scan.slot_fits;
		}
		*out_fits = fits;
	} else {
		struct bt_scan scan = bt_explain_world_scan(&world, BT_SLOT_NONE, true);

		bt_search_charge(search, scan.asked_count);
		*out_fits = scan.feasible_count != 0;
	}
	return bt_explain_world_close(&world, err);
}

static bool is_remembered(
	const struct bt_explain_search *search, const bt_remedy_list *remedies, bool *out_fits)
{
	for (uint32_t i = 0; i < search->memo.count; i++) {
		if (bt_remedies_equal(&search->memo.items[i].remedies, remedies)) {
			*out_fits = search->memo.items[i].fits;
			return true;
		}
	}
	return false;
}

/** Without what it frees; "no" for a set that changes nothing else. */
static int fits_elsewhere(struct bt_explain_search *search, const bt_remedy_list *remedies,
	bool *out_fits, struct berth_error *err)
{
	bt_remedy_list of_pod = {.present = true};

	*out_fits = false;
	of_pod.items = BT_ARENA_NEW_ARRAY(&search->arena, struct bt_remedy, remedies->count);
	for (uint32_t i = 0; i < remedies->count; i++) {
		if (bt_remedy_is_of_pod(remedies->items[i].kind)) {
			of_pod.items[of_pod.count++] = remedies->items[i];
		}
	}
	if (of_pod.count == 0 || search->exhausted || is_remembered(search, &of_pod, out_fits)) {
		return 0;
	}
	struct bt_tried tried = {.remedies = of_pod};
	int result = try_set(search, &of_pod, &tried.fits, err);

	bt_vec_push(&search->memo, tried);
	*out_fits = tried.fits;
	return result;
}

int bt_search_fits(struct bt_explain_search *search, const bt_remedy_list *remedies, bool *out_fits,
	struct berth_error *err)
{
	struct bt_tried tried = {.remedies = *remedies};
	int result;

	*out_fits = false;
	if (is_remembered(search, remedies, out_fits) || search->exhausted) {
		return 0;
	}
	result = try_set(search, remedies, &tried.fits, err);
	if (result == 0 && !tried.fits && is_local(remedies)) {
		result = fits_elsewhere(search, remedies, &tried.fits, err);
	}
	bt_vec_push(&search->memo, tried);
	*out_fits = tried.fits;
	return result;
}

/** The members whose bits are set. */
static bt_remedy_list part_of(
	struct bt_explain_search *search, const bt_remedy_list *whole, uint32_t bits)
{
	bt_remedy_list part = {.present = true};

	part.items = BT_ARENA_NEW_ARRAY(&search->arena, struct bt_remedy, whole->count);
	for (uint32_t i = 0; i < whole->count; i++) {
		if ((bits >> i & 1) != 0) {
			part.items[part.count++] = whole->items[i];
		}
	}
	return part;
}

/** The smallest part that helps. The empty one does not: the pod is pending. */
static int find_part(
	struct bt_explain_search *search, bt_remedy_list *remedies, struct berth_error *err)
{
	uint32_t all = (1U << remedies->count) - 1;

	for (uint32_t size = 1; size < remedies->count; size++) {
		for (uint32_t bits = 1; bits < all; bits++) {
			bt_remedy_list part;
			bool fits;
			int result;

			if (BT_POPCOUNT64(bits) != size) {
				continue;
			}
			part = part_of(search, remedies, bits);
			result = bt_search_fits(search, &part, &fits, err);
			if (result < 0 || fits) {
				*remedies = result < 0 ? *remedies : part;
				return result;
			}
		}
	}
	return 0;
}

static int drop_one_by_one(
	struct bt_explain_search *search, bt_remedy_list *remedies, struct berth_error *err)
{
	for (uint32_t i = remedies->count; i-- > 0;) {
		uint32_t all = remedies->count < 32 ? (1U << remedies->count) - 1 : UINT32_MAX;
		bt_remedy_list part = part_of(search, remedies, all & ~(1U << i));
		bool fits;
		int result = bt_search_fits(search, &part, &fits, err);

		if (result < 0) {
			return result;
		}
		if (fits) {
			*remedies = part;
			i = part.count; /* what was needed may not be any more */
		}
	}
	return 0;
}

/** As much as makes no difference at all. */
static int64_t amount_of_nothing(const struct bt_explain_run *run, const struct bt_remedy *remedy)
{
	const struct bt_pod_spec *spec = &run->pod->spec;

	if (remedy->kind == BT_REMEDY_RAISE_MAX_SKEW &&
		remedy->index < spec->topology_spread_constraints.count) {
		return spec->topology_spread_constraints.items[remedy->index].max_skew;
	}
	return 0;
}

/** The advice is mostly exact: one less is tried first. */
static int reduce_amount(struct bt_explain_search *search, bt_remedy_list *remedies, uint32_t index,
	struct berth_error *err)
{
	int64_t low = amount_of_nothing(search->run, &remedies->items[index]);
	int64_t high = remedies->items[index].amount;
	int64_t middle = high - 1;

	while (high - low > 1) {
		bool fits;
		bt_remedy_list changed =
			bt_remedies_sort(&search->arena, remedies->items, remedies->count);

		changed.items[index].amount = middle;
		int result = bt_search_fits(search, &changed, &fits, err);

		if (result < 0) {
			return result;
		}
		if (!fits && high == remedies->items[index].amount) {
			return 0;
		}
		if (fits) {
			high = middle;
		} else {
			low = middle;
		}
		middle = low + (high - low) / 2;
	}
	remedies->items[index].amount = high;
	return 0;
}

int bt_search_minimise(
	struct bt_explain_search *search, bt_remedy_list *remedies, struct berth_error *err)
{
	int result = remedies->count <= ALL_PARTS_MAX ? find_part(search, remedies, err)
						      : drop_one_by_one(search, remedies, err);

	*remedies = bt_remedies_sort(&search->arena, remedies->items, remedies->count);
	for (uint32_t i = 0; i < remedies->count && result == 0; i++) {
		if (bt_remedy_has_least_amount(remedies->items[i].kind)) {
			result = reduce_amount(search, remedies, i, err);
		}
	}
	return result;
}
