/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a domain counter counts, and how it follows pods and nodes. */
#include "state/domain_counter_private.h"
#include "state/pod_index.h"

/* --- which pods count --- */

bool bt_counted_term_has_namespace(const struct counted_term *term, bt_sym namespace_)
{
	uint32_t low = 0;
	uint32_t high = term->namespace_count;

	if (term->in_every_namespace) {
		return true;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (term->namespaces[middle].id < namespace_.id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < term->namespace_count && term->namespaces[low].id == namespace_.id;
}

static bool has_pair(const struct bt_label_set *set, const struct bt_label_pair *pair)
{
	for (uint32_t i = 0; i < set->labels.count; i++) {
		if (bt_sym_equal(set->symbols[i].key, pair->key)) {
			return bt_sym_equal(set->symbols[i].value, pair->value);
		}
	}
	return false;
}

static bool selects(const struct counted_term *term, const struct bt_label_set *set)
{
	for (uint32_t i = 0; i < term->pair_count; i++) {
		if (!has_pair(set, &term->pairs[i])) {
			return false;
		}
	}
	return term->pairs_are_all || bt_selector_matches(&term->selector, &set->labels);
}

static bool counts_labels(const struct bt_domain_counter *counter, const struct bt_label_set *set)
{
	for (uint32_t i = 0; i < counter->term_count; i++) {
		if (!selects(&counter->terms[i], set)) {
			return false;
		}
	}
	return counter->term_count != 0;
}

/** Labels aside. */
static bool counts_record(
	const struct bt_domain_counter *counter, const struct bt_pod_record *record)
{
	if (counter->live_only && record->terminating) {
		return false;
	}
	for (uint32_t i = 0; i < counter->term_count; i++) {
		if (!bt_counted_term_has_namespace(&counter->terms[i], record->namespace_)) {
			return false;
		}
	}
	return true;
}

static uint32_t count_slot(
	const struct bt_domain_counter *counter, const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	uint32_t count = 0;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);

		count += counts_record(counter, record) &&
			counts_labels(counter, &state->label_sets.sets.items[record->label_set]);
	}
	return count;
}

/* --- catching up --- */

static void count_set(struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_pod_index *index, uint32_t set_id)
{
	struct bt_id_list pods = bt_pod_index_pods_of(index, set_id);

	counter->visited_count++;
	if (pods.count == 0 || !counts_labels(counter, &state->label_sets.sets.items[set_id])) {
		return;
	}
	counter->visited_count += pods.count;
	for (uint32_t i = 0; i < pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, pods.items[i]);
		uint32_t domain;

		if (!counts_record(counter, record)) {
			continue;
		}
		++*bt_sparse_counts_at(&counter->own, record->node);
		domain = bt_eligibility_domain(counter->eligibility, record->node);
		if (domain != BT_NO_DOMAIN) {
			bt_domain_counter_add(counter, domain, 1);
		}
	}
}

/** The pair that the fewest label sets have; false: no term requires one. */
static bool find_candidates(const struct bt_domain_counter *counter,
	const struct bt_pod_index *index, struct bt_id_list *out_sets)
{
	bool found = false;

	for (uint32_t i = 0; i < counter->term_count; i++) {
		for (uint32_t n = 0; n < counter->terms[i].pair_count; n++) {
			const struct bt_label_pair *pair = &counter->terms[i].pairs[n];
			struct bt_id_list sets =
				bt_pod_index_sets_with(index, pair->key, pair->value);

			if (!found || sets.count < out_sets->count) {
				*out_sets = sets;
				found = true;
			}
		}
	}
	return found;
}

/** Everything anew; the eligibility is up to date. */
static void build(struct bt_domain_counter *counter, struct bt_state *state)
{
	const struct bt_pod_index *index;
	struct bt_id_list sets = {0};

	bt_sparse_counts_clear(&counter->own);
	bt_domain_counter_clear(counter);
	counter->visited_count = 0;
	if (counter->term_count == 0) {
		return;
	}
	index = bt_pod_index_get(state);
	if (find_candidates(counter, index, &sets)) {
		for (uint32_t i = 0; i < sets.count; i++) {
			count_set(counter, state, index, sets.items[i]);
		}
		return;
	}
	for (uint32_t i = 0; i < state->label_sets.sets.count; i++) {
		count_set(counter, state, index, i);
	}
}

static void follow_nodes(struct bt_domain_counter *counter)
{
	const struct bt_eligibility *eligibility = counter->eligibility;
	bool many = eligibility->size > BT_DOMAINS_TO_SCAN;

	if (counter->epoch != eligibility->epoch || many != counter->uses_histogram ||
		eligibility->move_count - counter->move_count > BT_MOVES_MAX) {
		/* The sums by domain anew, from the pods of each slot. */
		const struct bt_sparse_counts *own = &counter->own;

		bt_domain_counter_clear(counter);
		for (uint32_t page = 0; page < own->page_count; page++) {
			for (uint32_t i = 0; own->pages[page] != NULL && i < BT_COUNTS_PAGE; i++) {
				uint32_t slot = page * BT_COUNTS_PAGE + i;
				uint32_t domain = bt_eligibility_domain(counter->eligibility, slot);

				if (domain != BT_NO_DOMAIN) {
					bt_domain_counter_add(counter, domain, own->pages[page][i]);
				}
			}
		}
	} else {
		for (uint64_t i = counter->move_count; i < eligibility->move_count; i++) {
			/* The pods of a slot that moved, as many as the counter knows of, move with
			 * it. */
			const struct bt_domain_move *move = bt_eligibility_move(eligibility, i);
			uint32_t own = bt_sparse_count(&counter->own, move->slot);

			if (move->from != BT_NO_DOMAIN) {
				bt_domain_counter_add(counter, move->from, 0U - own);
				if (move->emptied) {
					bt_domain_counter_leave(counter, move->from);
				}
			}
			if (move->to != BT_NO_DOMAIN) {
				if (move->entered) {
					bt_domain_counter_enter(counter, move->to);
				}
				bt_domain_counter_add(counter, move->to, own);
			}
		}
	}
}

static void recount_slot(
	struct bt_domain_counter *counter, const struct bt_state *state, uint32_t slot)
{
	uint32_t before = bt_sparse_count(&counter->own, slot);
	uint32_t count = count_slot(counter, state, slot);
	uint32_t domain;

	if (count == before) {
		return;
	}
	*bt_sparse_counts_at(&counter->own, slot) = count;
	domain = bt_eligibility_domain(counter->eligibility, slot);
	if (domain != BT_NO_DOMAIN) {
		bt_domain_counter_add(counter, domain, count - before);
	}
}

/** Looking at the slots that changed costs less than finding the pods anew. */
static bool repair_pays(const struct bt_domain_counter *counter, const struct bt_state *state)
{
	uint64_t behind = state->log.sequence - counter->log_sequence;

	return counter->filled && bt_change_log_covers(&state->log, counter->log_sequence) &&
		behind <= UINT64_C(32) + counter->visited_count + counter->own.page_count / 8;
}

void bt_domain_counter_catch_up(struct bt_domain_counters *counters,
	struct bt_domain_counter *counter, struct bt_state *state)
{
	struct bt_eligibility *eligibility = counter->eligibility;

	bt_eligibility_catch_up(&counters->eligibilities, state, eligibility);
	/* Room for every slot and domain. */
	bt_sparse_counts_reserve(&counter->own, state->nodes.slot_count);
	bt_sparse_counts_reserve(&counter->pods, counter->eligibility->size);
	if (!repair_pays(counter, state)) {
		build(counter, state);
	} else {
		follow_nodes(counter);
		for (uint64_t i = counter->log_sequence; i < state->log.sequence; i++) {
			struct bt_change change = bt_change_log_at(&state->log, i);

			if ((change.kinds & BT_CHANGE_PODS) != 0) {
				recount_slot(counter, state, change.slot);
			}
		}
	}
	counter->filled = true;
	counter->epoch = eligibility->epoch;
	counter->move_count = eligibility->move_count;
	counter->log_sequence = state->log.sequence;
	if (counter->extremes_stale) {
		bt_domain_counter_find_extremes(counter);
	}
	counters->bytes -= counter->bytes;
	counter->bytes = sizeof(*counter) + counter->arena.total_bytes +
		bt_sparse_counts_bytes(&counter->own) + bt_sparse_counts_bytes(&counter->pods) +
		counter->histogram.buckets.capacity * sizeof(uint32_t);
	counters->bytes += counter->bytes;
}
