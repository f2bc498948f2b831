/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the nodes that pass filters and extenders. Spec 03 sections 3.3 to 3.6. */
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/map.h"
#include "sched/cycle.h"

/**
 * Nodes that other pods are nominated on. The pod must fit there with and without the nominated
 * pods (spec 02 section 5.4), so each of these nodes is evaluated separately. All other nodes are
 * decided as if there were no nominations. Scores ignore nominations: a node that fits keeps its
 * plan entries, and a node that does not fit is taken out of the plan for the decision. If only
 * column filters are active, the outcome on such a node is kept in the plan for the next pod of the
 * shape, until the node or its nominations change.
 */

/**
 * With more nominated nodes the list is searched, because evaluating all nominated nodes would cost
 * more.
 */
#define NOMINATED_MAX 512

/**
 * A plan forgets its outcomes on nominated nodes after more than OUTCOME_CHANGES_MAX changes in the
 * log, or if the texts of the outcomes need more than OUTCOME_BYTES_MAX bytes.
 */
#define OUTCOME_CHANGES_MAX 64
#define OUTCOME_BYTES_MAX 65536

/**
 * If another pod of equal or higher priority is nominated on the node, returns the slot of the
 * node. Returns BT_SLOT_NONE if there is no such pod, or if the node is not in the snapshot. node:
 * index in the nominator.
 */
static uint32_t rival_slot(const struct bt_cycle_run *run, uint32_t node)
{
	const struct bt_nominator *nominator = &run->engine->nominator;
	const struct bt_state *state = run->engine->state;
	if (!bt_nominator_has_rival(nominator, node, run->pod)) {
		return BT_SLOT_NONE;
	}
	uint32_t slot =
		bt_node_table_find_symbol(&state->nodes, nominator->nodes.items[node].node_name);
	return slot != BT_SLOT_NONE && state->nodes.rows[slot].in_snapshot ? slot : BT_SLOT_NONE;
}

void bt_cycle_mark_nominated(struct bt_cycle_run *run)
{
	const struct bt_nominator *nominator = &run->engine->nominator;
	struct bt_nominated_outcomes *outcomes = NULL;
	struct bt_str own;
	if (nominator->nominations.map.count == 0) {
		return;
	}
	/*
	 * The plan's outcomes are not used for a pod that is nominated itself: its own nomination
	 * does not count, so its outcomes can differ from those of other pods.
	 */
	if (run->plan != NULL && run->plan->recurring && nominator->nodes.count <= NOMINATED_MAX &&
		!bt_nominator_find(nominator, run->pod->uid, &own)) {
		outcomes = &run->plan->nominated;
		/* Forget outcomes that nominations or changes of nodes may have made wrong. */
		const struct bt_change_log *log = &run->engine->state->log;
		bool forgets = outcomes->priority != run->pod->priority ||
			outcomes->arena.total_bytes > OUTCOME_BYTES_MAX ||
			!bt_change_log_covers(log, outcomes->log_sequence) ||
			log->sequence - outcomes->log_sequence > OUTCOME_CHANGES_MAX;
		for (uint64_t i = outcomes->log_sequence; !forgets && i < log->sequence; i++) {
			struct bt_change change = bt_change_log_at(log, i);
			forgets = (change.kinds & BT_CHANGE_EXISTENCE) != 0;
			for (uint32_t k = 0; k < outcomes->items.count; k++) {
				struct bt_nominated_outcome *outcome = &outcomes->items.items[k];
				outcome->is_known =
					outcome->is_known && outcome->slot != change.slot;
			}
		}
		if (forgets) {
			outcomes->items.count = 0;
			bt_arena_reset(&outcomes->arena);
		}
		outcomes->priority = run->pod->priority;
		outcomes->log_sequence = log->sequence;
		for (uint32_t i = 0; i < nominator->nodes.count; i++) {
			uint64_t version = nominator->nodes.items[i].version;
			if (i == outcomes->items.count) {
				bt_vec_push(&outcomes->items, (struct bt_nominated_outcome){0});
			}
			if (outcomes->items.items[i].version != version) {
				outcomes->items.items[i] = (struct bt_nominated_outcome){
					.version = version, .slot = rival_slot(run, i)};
			}
		}
	}
	run->nominated =
		bt_arena_alloc(run->cycle->arena, nominator->nodes.count * sizeof(*run->nominated));
	for (uint32_t i = 0; i < nominator->nodes.count; i++) {
		struct bt_nominated_outcome *kept =
			outcomes != NULL ? &outcomes->items.items[i] : NULL;
		uint32_t slot = kept != NULL ? kept->slot : rival_slot(run, i);
		if (slot != BT_SLOT_NONE) {
			/* The status is set together with is_known. */
			struct bt_cycle_nominated *nominated =
				&run->nominated[run->nominated_count++];
			nominated->slot = slot;
			nominated->is_known = false;
			nominated->verdict = BT_VERDICT_TAKEN_OUT;
			nominated->kept = kept;
		}
	}
}

/** Returns the node's entry in run->nominated. NULL: no nominated pods reserve room on the node. */
static struct bt_cycle_nominated *find_nominated(const struct bt_cycle_run *run, uint32_t slot)
{
	if (run->nominated_at != NULL) {
		uint32_t at = run->nominated_at[slot];
		return at != 0 ? &run->nominated[at - 1] : NULL;
	}
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		if (run->nominated[i].slot == slot) {
			return &run->nominated[i];
		}
	}
	return NULL;
}

/** Status of a nominated node. The filters run only if the status is not known yet. */
static struct bt_status evaluate_nominated(
	struct bt_cycle_run *run, struct bt_cycle_nominated *nominated)
{
	if (!nominated->is_known) {
		struct bt_node_info node;
		bt_node_info_init(&node, run->engine->state, nominated->slot);
		nominated->status = bt_run_filter_with_nominated_pods(
			run->framework, run->cycle, run->pod, &node);
		nominated->is_known = true;
	}
	return nominated->status;
}

BT_COMPARE(by_distance, struct bt_cycle_nominated, BT_ORDER(a->distance, b->distance))

bool bt_cycle_evaluate_all_nominated(struct bt_cycle_run *run)
{
	const struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	if (run->nominated_count > NOMINATED_MAX) {
		return false;
	}
	/* Whether outcomes depend only on the pod's shape, the node and its nominated pods. */
	bool is_pure = true;
	for (uint32_t i = 0; i < run->plan->filter_count && is_pure; i++) {
		const struct bt_plan_filter *filter = &run->plan->filters[i];
		is_pure = filter->form == BT_FILTER_COLUMN ||
			bt_plugin_set_has(&run->cycle->skip_filter, filter->plugin->index);
	}
	if (is_pure) {
		/* Take outcomes from the plan, and count the filter calls that they replace. */
		uint32_t *rejected =
			BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, run->plan->filter_count);
		uint32_t calls = 0;
		for (uint32_t i = 0; i < run->nominated_count; i++) {
			struct bt_cycle_nominated *nominated = &run->nominated[i];
			if (nominated->is_known || nominated->kept == NULL ||
				!nominated->kept->is_known) {
				continue;
			}
			nominated->is_known = true;
			nominated->status = nominated->kept->status;
			if (bt_status_is_success(&nominated->status)) {
				calls += 2; /* with the nominated pods and without them */
				continue;
			}
			calls++;
			for (uint32_t k = 0; k < run->plan->filter_count; k++) {
				rejected[k] += nominated->status.plugin ==
					run->plan->filters[k].plugin->index + 1U;
			}
		}
		bt_cycle_count_filters(run, calls, rejected);
	} else {
		uint32_t first = run->start_index % snapshot->count;
		/* bt_snapshot_order of the first node; the list may not be written. */
		uint64_t start = snapshot->places.in_list_order
			? bt_point(first, 0)
			: bt_places_point_at(&snapshot->places, first);
		for (uint32_t i = 0; i < run->nominated_count; i++) {
			/* The difference wraps, so nodes before the start come last. */
			run->nominated[i].distance =
				bt_snapshot_order(snapshot, run->nominated[i].slot) - start;
		}
		if (run->nominated_count > 1) {
			qsort(run->nominated, run->nominated_count, sizeof(*run->nominated),
				by_distance);
		}
	}
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		struct bt_cycle_nominated *nominated = &run->nominated[i];
		if (nominated->is_known) {
			continue;
		}
		struct bt_status status = evaluate_nominated(run, nominated);
		if (!bt_status_is_success(&status) && !bt_status_is_rejected(&status)) {
			return false;
		}
		if (is_pure && nominated->kept != NULL) {
			nominated->kept->is_known = true;
			nominated->kept->status =
				bt_status_copy(&status, &run->plan->nominated.arena);
		}
	}
	return true;
}

void bt_cycle_exchange_nominated(struct bt_cycle_run *run)
{
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		struct bt_cycle_nominated *nominated = &run->nominated[i];
		if (!bt_status_is_success(&nominated->status)) {
			nominated->verdict = bt_plan_replace_verdict(
				run->plan, nominated->slot, nominated->verdict);
		}
	}
}

/** If fewer than 1/FEW_NODES_SHARE of the nodes are searched, only these nodes are evaluated. */
#define FEW_NODES_SHARE 8
/** Up to this many names are sorted by insertion. */
#define FEW_NAMES 32

struct bt_status bt_narrowed_status(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	bt_framework_append_unsatisfied(framework, plugins, &text);
	struct bt_status status = bt_status_text(
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

uint32_t bt_num_feasible_nodes_to_find(uint32_t node_count, int32_t percentage)
{
	if (node_count < 100) {
		return node_count;
	}
	int64_t percent = percentage;
	if (percent == 0) {
		percent = 50 - (int64_t)node_count / 125;
		percent = percent < 5 ? 5 : percent;
	}
	/* The multiplication is an int32 multiplication that may wrap, as in upstream. */
	int32_t wanted = (int32_t)((uint32_t)node_count * (uint32_t)percent) / 100;
	return wanted < 100 ? 100 : (uint32_t)wanted;
}

uint32_t bt_search_limit(
	const struct bt_engine *engine, const struct bt_framework *framework, uint32_t node_count)
{
	if (framework->points[BT_POINT_SCORE].entries.count == 0 &&
		!bt_extenders_filter_or_score(&engine->extenders)) {
		return 1;
	}
	int32_t option = engine->options.percentage_of_nodes_to_score;
	if (option >= 0) {
		return bt_num_feasible_nodes_to_find(node_count, option);
	}
	const struct bt_config_profile *profile = framework->profile;
	if (profile->percentage_of_nodes_to_score.present) {
		return bt_num_feasible_nodes_to_find(
			node_count, profile->percentage_of_nodes_to_score.value);
	}
	if (engine->config->percentage_is_explicit) {
		return bt_num_feasible_nodes_to_find(
			node_count, engine->config->document.percentage_of_nodes_to_score.value);
	}
	return node_count;
}

void bt_search_candidates(const struct bt_engine *engine, const struct bt_pre_filter_result *result,
	struct bt_arena *arena, const uint32_t **out_slots, uint32_t *out_count)
{
	const struct bt_state *state = engine->state;
	const struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t count = 0;
	if (result->restricted && result->count <= FEW_NAMES && !snapshot->has_placement) {
		/* Sort the few nodes, without a pass over the list of nodes. */
		uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, result->count);
		for (uint32_t i = 0; i < result->count; i++) {
			uint32_t slot = bt_state_snapshot_find(state, result->names[i]);
			uint32_t at = count;
			if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_snapshot) {
				continue;
			}
			uint64_t order = bt_snapshot_order(snapshot, slot);
			while (at > 0 && bt_snapshot_order(snapshot, slots[at - 1]) > order) {
				at--;
			}
			if (at > 0 && slots[at - 1] == slot) {
				continue;
			}
			memmove(&slots[at + 1], &slots[at], (count - at) * sizeof(*slots));
			slots[at] = slot;
			count++;
		}
		*out_slots = slots;
		*out_count = count;
		return;
	}
	const uint32_t *list;
	uint32_t list_count = bt_snapshot_placement_slots(state, &list);
	if (!result->restricted) {
		*out_slots = list;
		*out_count = list_count;
		return;
	}
	struct bt_bitset named = {0};
	bt_bitset_resize(&named, state->nodes.slot_count);
	for (uint32_t i = 0; i < result->count; i++) {
		uint32_t slot = bt_state_snapshot_find(state, result->names[i]);
		if (slot != BT_SLOT_NONE && !bt_bitset_get(&named, slot)) {
			bt_bitset_assign(&named, slot, true);
			count++;
		}
	}
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);
	uint32_t found = 0;
	for (uint32_t i = 0; i < list_count && found < count; i++) {
		if (bt_bitset_get(&named, list[i])) {
			slots[found++] = list[i];
		}
	}
	bt_bitset_finish(&named);
	*out_slots = slots;
	*out_count = found;
}

/** --- with extenders: statuses as a map by node --- */

/**
 * Set the node's status in the diagnosis. slot BT_SLOT_NONE: the node `name` is not in the
 * snapshot.
 */
static void set_status(
	struct bt_cycle_run *run, uint32_t slot, struct bt_str name, const struct bt_status *status)
{
	struct bt_node_statuses *statuses = &run->result->diagnosis.statuses;
	struct bt_node_status_entry entry = {slot, *status};
	struct bt_cycle_extension *extension = &run->extension;
	uint32_t *position = slot != BT_SLOT_NONE ? &extension->entry_by_slot[slot] : NULL;
	if (position == NULL) {
		uint64_t hash = bt_str_hash(name);
		uint32_t at = extension->unknown_nodes.count;
		BT_MAP_EACH (&extension->unknown_node_index, hash, id) {
			if (bt_str_equal(extension->unknown_nodes.items[id].name, name)) {
				at = id;
				break;
			}
		}
		if (at == extension->unknown_nodes.count) {
			bt_vec_push(&extension->unknown_nodes,
				((struct bt_cycle_unknown_node){.name = name}));
			bt_map_insert(&extension->unknown_node_index, hash, at);
		}
		position = &extension->unknown_nodes.items[at].entry;
	}
	if (*position != 0) {
		statuses->entries.items[*position - 1] = entry;
		return;
	}
	bt_vec_push(&statuses->entries, entry);
	*position = statuses->entries.count;
}

/** --- filters --- */

static void record_rejection(
	struct bt_cycle_run *run, uint32_t slot, const struct bt_status *status)
{
	struct bt_diagnosis *diagnosis = &run->result->diagnosis;
	if (run->extension.active) {
		set_status(run, slot, BT_STR(""), status);
	} else {
		struct bt_node_status_entry entry = {slot, *status};
		bt_vec_push(&diagnosis->statuses.entries, entry);
	}
	bt_diagnosis_add_plugin(diagnosis, status);
}

/**
 * Run the filters on one node. If the cycle has a plan, the plan's verdict replaces the column
 * filters.
 */
static struct bt_status filter_slot(struct bt_cycle_run *run, uint32_t slot)
{
	struct bt_cycle_nominated *nominated = find_nominated(run, slot);
	if (nominated != NULL) {
		return evaluate_nominated(run, nominated);
	}
	struct bt_node_info node;
	bt_node_info_init(&node, run->engine->state, slot);
	if (run->plan == NULL) {
		return bt_run_filter(run->framework, run->cycle, run->pod, &node);
	}
	uint32_t verdict = run->verdict[slot];
	uint32_t failing =
		verdict == 0 ? run->plan->filter_count : (verdict >> BT_VERDICT_DETAIL_BITS) - 1;
	bool runs_plain = run->plan->has_plain_filters || run->plan->has_cell_filters;
	for (uint32_t i = 0; runs_plain && i < failing; i++) {
		const struct bt_plan_filter *filter = &run->plan->filters[i];
		if ((filter->form != BT_FILTER_PLAIN && filter->form != BT_FILTER_CELLS) ||
			bt_plugin_set_has(&run->cycle->skip_filter, filter->plugin->index)) {
			continue;
		}
		struct bt_status status = bt_run_filter_plugin(
			run->framework, filter->plugin, run->cycle, run->pod, &node);
		if (!bt_status_is_success(&status)) {
			bt_cycle_count_node(run, i);
			return status;
		}
	}
	bt_cycle_count_node(run, failing);
	if (verdict == 0) {
		return BT_STATUS_OK;
	}
	return bt_plan_verdict_status(run->plan, run->cycle, run->pod, verdict, run->cycle->arena);
}

/** A verdict and its status, which is made once per verdict. */
struct decoded_verdict {
	uint32_t verdict;
	struct bt_status status;
};

/** Record the statuses of the rejected nodes among the first `examined` nodes of a search. */
static void record_verdicts(
	struct bt_cycle_run *run, struct bt_node_search search, uint32_t examined)
{
	/*
	 * A map, not a list, finds the status of a verdict, because a pod with many resources can
	 * have as many verdicts as there are nodes.
	 */
	struct bt_map map = {0};
	BT_VEC(struct decoded_verdict) known = {0};
	struct bt_diagnosis *diagnosis = &run->result->diagnosis;
	bt_vec_reserve(&diagnosis->statuses.entries,
		(uint64_t)diagnosis->statuses.entries.count + examined);
	for (uint32_t i = 0; i < examined; i++) {
		uint32_t slot = search.slots[(search.start + i) % search.count];
		struct bt_cycle_nominated *nominated = find_nominated(run, slot);
		if (nominated != NULL) {
			struct bt_status status = evaluate_nominated(run, nominated);
			if (!bt_status_is_success(&status)) {
				record_rejection(run, slot, &status);
			}
			continue;
		}
		uint32_t verdict = run->verdict[slot];
		uint64_t hash = bt_hash_u64(0, verdict);
		uint32_t found = known.count;
		if (verdict == 0) {
			continue;
		}
		BT_MAP_EACH (&map, hash, id) {
			if (known.items[id].verdict == verdict) {
				found = id;
				break;
			}
		}
		if (found == known.count) {
			struct bt_status status = bt_plan_verdict_status(
				run->plan, run->cycle, run->pod, verdict, run->cycle->arena);
			bt_vec_push(&known, ((struct decoded_verdict){verdict, status}));
			bt_map_insert(&map, hash, found);
		}
		record_rejection(run, slot, &known.items[found].status);
	}
	bt_vec_finish(&known);
	bt_map_finish(&map);
}

/** Count the filter evaluations of the first `examined` nodes of a search in the metrics. */
static void count_verdicts(const struct bt_cycle_run *run, struct bt_node_search search,
	const struct bt_node_search_result *found, uint32_t examined)
{
	if (run->framework->metrics == NULL) {
		return;
	}
	if (run->nominated_count == 0 && found->rejected_count == 0) {
		bt_cycle_count_filters(run, examined, NULL);
		return;
	}
	if (run->nominated_count == 0 && run->verdict == run->plan->verdict &&
		examined == run->engine->state->snapshot.count) {
		bt_cycle_count_filters(run, examined, run->plan->rejected);
		return;
	}
	uint32_t *rejected =
		BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, run->plan->filter_count);
	uint32_t nodes = 0;
	for (uint32_t i = 0; i < examined; i++) {
		uint32_t slot = search.slots[(search.start + i) % search.count];
		if (find_nominated(run, slot) != NULL) {
			continue; /* was counted when the node was evaluated */
		}
		nodes++;
		if (run->verdict[slot] != 0) {
			rejected[(run->verdict[slot] >> BT_VERDICT_DETAIL_BITS) - 1]++;
		}
	}
	bt_cycle_count_filters(run, nodes, rejected);
}

/** A search by verdicts: only nominated nodes are evaluated one by one. */
static void search_verdicts(
	struct bt_cycle_run *run, struct bt_node_search search, struct bt_node_search_result *found)
{
	uint32_t position = search.start;
	uint32_t examined = 0;
	for (uint32_t i = 0; i < search.count; i++) {
		uint32_t slot = search.slots[position];
		position = position + 1 == search.count ? 0 : position + 1;
		bool feasible = run->verdict[slot] == 0;
		examined = i + 1;
		struct bt_cycle_nominated *nominated = find_nominated(run, slot);
		if (nominated != NULL) {
			struct bt_status status = evaluate_nominated(run, nominated);
			feasible = bt_status_is_success(&status);
			if (!feasible && !bt_status_is_rejected(&status)) {
				found->error = status;
				return;
			}
		}
		if (!feasible) {
			found->rejected_count++;
		} else if (found->feasible_count == search.limit) {
			break;
		} else {
			found->feasible[found->feasible_count++] = slot;
		}
	}
	count_verdicts(run, search, found, examined);
	/* Extenders may reject the feasible nodes; then the diagnosis needs the statuses. */
	if (found->feasible_count == 0 || run->extension.active) {
		record_verdicts(run, search, found->feasible_count + found->rejected_count);
	}
}

struct bt_node_search_result bt_find_nodes_that_pass_filters(
	struct bt_cycle_run *run, struct bt_node_search search)
{
	struct bt_node_search_result found = {0};
	uint32_t all = run->engine->state->snapshot.count;
	if (run->plan != NULL) {
		/*
		 * Evaluate whole columns if the other members of a group will search the same
		 * placement.
		 */
		bool comes_again =
			run->plan->recurring && run->engine->state->snapshot.has_placement;
		run->few_nodes =
			search.count == 1 || (search.count < all / FEW_NODES_SHARE && !comes_again);
		if (run->few_nodes) {
			run->verdict = bt_plan_slot_verdicts(run->plan, run->engine, run->cycle,
				run->pod, search.slots, search.count);
		} else {
			bt_plan_refresh(run->plan, run->engine, run->pod);
			run->verdict = bt_plan_cycle_verdicts(
				run->plan, run->engine, run->cycle, run->pod);
		}
	}
	if (search.count > 1) {
		/* Many nodes will be looked up, so index the nominated nodes by slot. */
		if (run->nominated_count != 0 && run->nominated_at == NULL) {
			run->nominated_at = BT_ARENA_NEW_ARRAY(
				run->cycle->arena, uint32_t, run->engine->state->nodes.slot_count);
			for (uint32_t i = 0; i < run->nominated_count; i++) {
				run->nominated_at[run->nominated[i].slot] = i + 1;
			}
		}
	}
	search.limit = search.limit < search.count ? search.limit : search.count;
	found.feasible = bt_arena_alloc(run->cycle->arena, search.limit * sizeof(*found.feasible));
	if (run->plan != NULL && !run->plan->has_plain_filters && !run->plan->has_cell_filters &&
		run->plan->filter_count != 0) {
		search_verdicts(run, search, &found);
	} else {
		/* Evaluate the nodes one by one and record the statuses. */
		bool no_filters = run->framework->points[BT_POINT_FILTER].entries.count == 0;
		for (uint32_t i = 0; i < search.count; i++) {
			uint32_t slot = search.slots[(search.start + i) % search.count];
			struct bt_status status =
				no_filters ? BT_STATUS_OK : filter_slot(run, slot);
			if (bt_status_is_success(&status)) {
				if (found.feasible_count == search.limit) {
					break;
				}
				found.feasible[found.feasible_count++] = slot;
				if (no_filters && found.feasible_count == search.limit) {
					break;
				}
			} else if (bt_status_is_rejected(&status)) {
				record_rejection(run, slot, &status);
				found.rejected_count++;
			} else {
				found.error = status;
				break;
			}
		}
	}
	bt_cycle_filters_ran(run, &found.error);
	return found;
}

/** --- extenders --- */

static void reject(void *context, uint32_t slot, struct bt_str node_name, enum bt_status_code code,
	struct bt_str reason)
{
	struct bt_cycle_run *run = context;
	struct bt_status status = bt_status_text(code, run->cycle->arena, reason);
	set_status(run, slot, node_name, &status);
}

struct bt_status bt_find_nodes_that_pass_extenders(
	struct bt_cycle_run *run, struct bt_node_search_result *found)
{
	struct bt_arena *arena = run->cycle->arena;
	const struct bt_state *state = run->engine->state;
	struct bt_extender_candidates candidates = {
		.nodes = BT_ARENA_NEW_ARRAY(arena, struct bt_extender_node, found->feasible_count),
		.slots = found->feasible,
		.count = found->feasible_count,
	};
	for (uint32_t i = 0; i < candidates.count; i++) {
		candidates.nodes[i].name = bt_node_table_name(&state->nodes, found->feasible[i]);
	}
	struct bt_extender_sink sink = {reject, run};
	struct bt_status status =
		bt_extenders_filter(&run->engine->extenders, run->pod, arena, &candidates, &sink);
	if (bt_status_is_success(&status)) {
		found->feasible = candidates.slots;
		found->feasible_count = candidates.count;
		run->extension.candidates = candidates;
		run->cycle->without_pods = candidates.without_pods;
	}
	return status;
}
