/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "state/domain_counter_private.h"
#include "state/pod_index.h"
#include "state/pod_info.h"

/* Sums of a domain counter by domain, and their minimum without a pass over all domains. */

/** Maximum number of buckets. Domains with at least this many pods are compared one by one. */
#define BUCKETS_MAX 4096U

static void count_bucket(struct domain_histogram *histogram, uint32_t pods, bool more)
{
	uint32_t step = more ? 1 : UINT32_MAX;

	if (pods >= BUCKETS_MAX) {
		histogram->beyond += step;
		return;
	}
	bt_vec_pad(&histogram->buckets, pods + 1, 0);
	histogram->buckets.items[pods] += step;
	if (more && pods < histogram->low) {
		histogram->low = pods;
	}
}

/** The first bucket from `from` on that is not empty, or the number of buckets. */
static uint32_t next_bucket(const struct domain_histogram *histogram, uint32_t from)
{
	uint32_t at = from;

	while (at < histogram->buckets.count && histogram->buckets.items[at] == 0) {
		at++;
	}
	return at;
}

/** Reset the counts to 0 pods in the eligibility's domains. */
static void clear_domains(struct bt_domain_counter *counter)
{
	struct domain_histogram *histogram = &counter->histogram;

	bt_sparse_counts_clear(&counter->pods, counter->visited_count);
	counter->pod_total = 0;
	counter->occupied_count = 0;
	counter->extremes_stale = true;
	counter->uses_histogram = counter->eligibility->size > BT_DOMAINS_TO_SCAN;
	histogram->buckets.count = 0;
	histogram->beyond = 0;
	histogram->low = 0;
	if (counter->uses_histogram) {
		bt_vec_push(&histogram->buckets, counter->eligibility->eligible_count);
	}
}

/** Add delta pods to an eligible domain. */
static void add_pods(struct bt_domain_counter *counter, uint32_t domain, int64_t delta)
{
	if (delta == 0) {
		return;
	}
	uint32_t pods = (uint32_t)bt_sparse_counts_add(
		&counter->pods, domain, delta, counter->eligibility->size);
	uint32_t before = pods - (uint32_t)delta;
	if (domain == 0) {
		return;
	}
	counter->pod_total += (uint64_t)delta;
	counter->occupied_count += (pods != 0) - (uint32_t)(before != 0);
	counter->extremes_stale = true;
	if (counter->uses_histogram) {
		count_bucket(&counter->histogram, before, false);
		count_bucket(&counter->histogram, pods, true);
	}
}

/**
 * Call when the domain got its first eligible node (entered) or lost its last eligible node, while
 * the domain has no counted pods.
 */
static void change_domains(struct bt_domain_counter *counter, uint32_t domain, bool entered)
{
	if (domain == 0) {
		return;
	}
	counter->extremes_stale = true;
	if (counter->uses_histogram) {
		count_bucket(&counter->histogram, 0, entered);
	}
}

/** Set `least`, `least_count` and `second_least` from the domains with `from` or more pods. */
static void scan(struct bt_domain_counter *counter, uint32_t from)
{
	const struct bt_eligibility *eligibility = counter->eligibility;

	counter->least = UINT32_MAX;
	counter->second_least = UINT32_MAX;
	counter->least_count = 0;
	for (uint32_t domain = 1; domain < eligibility->size; domain++) {
		uint32_t pods = (uint32_t)bt_sparse_count(&counter->pods, domain);

		if (eligibility->nodes[domain] == 0 || pods < from) {
			continue;
		}
		if (pods < counter->least) {
			counter->second_least = counter->least;
			counter->least = pods;
			counter->least_count = 1;
		} else if (pods == counter->least) {
			counter->least_count++;
		} else if (pods < counter->second_least) {
			counter->second_least = pods;
		}
	}
}

/** Set `least`, `least_count` and `second_least`. */
static void find_extremes(struct bt_domain_counter *counter)
{
	struct domain_histogram *histogram = &counter->histogram;

	counter->extremes_stale = false;
	if (!counter->uses_histogram) {
		scan(counter, 0);
		return;
	}
	uint32_t first = next_bucket(histogram, histogram->low);
	histogram->low = first;
	if (first == histogram->buckets.count) {
		scan(counter, BUCKETS_MAX);
		return;
	}
	uint32_t second = next_bucket(histogram, first + 1);
	if (second == histogram->buckets.count) {
		second = UINT32_MAX;
		if (histogram->beyond != 0) {
			scan(counter, BUCKETS_MAX);
			second = counter->least;
		}
	}
	counter->least = first;
	counter->least_count = histogram->buckets.items[first];
	counter->second_least = second;
}

/* --- counting pods, and updates after changes of pods and nodes --- */

static bool has_pair(const struct bt_label_set *set, const struct bt_label_pair *pair)
{
	for (uint32_t i = 0; i < set->labels.count; i++) {
		if (bt_sym_equal(set->symbols[i].key, pair->key)) {
			return bt_sym_equal(set->symbols[i].value, pair->value);
		}
	}
	return false;
}

static bool counts_labels(const struct bt_domain_counter *counter, const struct bt_label_set *set)
{
	for (uint32_t i = 0; i < counter->term_count; i++) {
		const struct counted_term *term = &counter->terms[i];
		for (uint32_t j = 0; j < term->pair_count; j++) {
			if (!has_pair(set, &term->pairs[j])) {
				return false;
			}
		}
		if (!term->pairs_are_all && !bt_selector_matches(&term->selector, &set->labels)) {
			return false;
		}
	}
	return counter->term_count != 0;
}

static bool counts_namespace(const struct bt_domain_counter *counter, bt_sym namespace_)
{
	for (uint32_t i = 0; i < counter->term_count; i++) {
		const struct counted_term *term = &counter->terms[i];
		uint32_t low;
		if (term->in_every_namespace) {
			continue;
		}
		BT_LOWER_BOUND(low, term->namespace_count, middle,
			term->namespaces[middle].id < namespace_.id);
		if (low == term->namespace_count || term->namespaces[low].id != namespace_.id) {
			return false;
		}
	}
	return true;
}

/**
 * The last result of counts_namespace and counts_labels. The result is kept because consecutive
 * pods often have equal label sets and namespaces.
 */
struct last_kind {
	uint32_t label_set; /* BT_LABEL_SET_NONE: no pod was seen yet */
	bt_sym namespace_;
	bool is_counted;
};

static uint32_t count_slot(const struct bt_domain_counter *counter, const struct bt_state *state,
	uint32_t slot, struct last_kind *last)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	uint32_t count = 0;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);

		if (record->label_set != last->label_set ||
			!bt_sym_equal(record->namespace_, last->namespace_)) {
			*last = (struct last_kind){record->label_set, record->namespace_,
				counts_namespace(counter, record->namespace_) &&
					counts_labels(counter,
						&state->label_sets.sets.items[record->label_set])};
		}
		count += last->is_counted && !(counter->live_only && record->terminating);
	}
	return count;
}

/** Count the set's pods from index `first` of its list on. */
static void count_set(struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_pod_index *index, uint32_t set_id, uint32_t first)
{
	struct bt_id_list pods = bt_pod_index_pods_of(index, set_id);

	if (pods.count == first || !counts_labels(counter, &state->label_sets.sets.items[set_id])) {
		return;
	}
	counter->visited_count += pods.count - first;
	for (uint32_t i = first; i < pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, pods.items[i]);

		if (!counts_namespace(counter, record->namespace_) ||
			(counter->live_only && record->terminating)) {
			continue;
		}
		(void)bt_sparse_counts_add(&counter->own, record->node, 1, state->nodes.slot_count);
		uint32_t domain = bt_eligibility_domain(counter->eligibility, record->node);
		if (domain != BT_NO_DOMAIN) {
			add_pods(counter, domain, 1);
		}
	}
}

/** Gets the label sets with the rarest required pair. Returns false if no term requires a pair. */
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

static void remember_list(
	struct bt_domain_counter *counter, const struct bt_pod_index *index, uint32_t label_set)
{
	counter->label_set = label_set;
	counter->listed_count = bt_pod_index_pods_of(index, label_set).count;
	counter->removal_count = bt_pod_index_removals_of(index, label_set);
}

/** Count all pods anew. The eligibility must be up to date. */
static void build(struct bt_domain_counter *counter, struct bt_state *state)
{
	struct bt_id_list sets = {0};

	bt_sparse_counts_clear(&counter->own, counter->visited_count);
	clear_domains(counter);
	counter->visited_count = 0;
	counter->label_set = BT_LABEL_SET_NONE;
	if (counter->term_count == 0) {
		return;
	}
	const struct bt_pod_index *index = bt_pod_index_get(state);
	if (find_candidates(counter, index, &sets)) {
		counter->visited_count = sets.count;
		for (uint32_t i = 0; i < sets.count; i++) {
			count_set(counter, state, index, sets.items[i], 0);
		}
		if (sets.count == 1) {
			remember_list(counter, index, sets.items[0]);
		}
		return;
	}
	counter->visited_count = state->label_sets.sets.count;
	for (uint32_t i = 0; i < state->label_sets.sets.count; i++) {
		count_set(counter, state, index, i, 0);
	}
}

static void apply_node_changes(struct bt_domain_counter *counter)
{
	const struct bt_eligibility *eligibility = counter->eligibility;
	bool many = eligibility->size > BT_DOMAINS_TO_SCAN;

	if (counter->epoch != eligibility->epoch || many != counter->uses_histogram ||
		eligibility->move_count - counter->move_count > BT_MOVES_MAX) {
		/* Compute the sums by domain anew from the counts by slot. */
		struct bt_sparse_entry own;

		clear_domains(counter);
		for (uint32_t cursor = 0; bt_sparse_counts_next(&counter->own, &cursor, &own);) {
			uint32_t domain = bt_eligibility_domain(counter->eligibility, own.index);

			if (domain != BT_NO_DOMAIN) {
				add_pods(counter, domain, (int64_t)own.count);
			}
		}
	} else {
		for (uint64_t i = counter->move_count; i < eligibility->move_count; i++) {
			/* Move the slot's counted pods to the new domain. */
			const struct bt_domain_move *move =
				&eligibility->moves[i & (BT_MOVES_MAX - 1)];
			int64_t own = (int64_t)bt_sparse_count(&counter->own, move->slot);

			if (move->from != BT_NO_DOMAIN) {
				add_pods(counter, move->from, -own);
				if (move->emptied) {
					change_domains(counter, move->from, false);
				}
			}
			if (move->to != BT_NO_DOMAIN) {
				if (move->entered) {
					change_domains(counter, move->to, true);
				}
				add_pods(counter, move->to, own);
			}
		}
	}
}

/**
 * If all counted pods are from the list of one label set, count the pods that were appended to this
 * list since it was last counted. Returns false if the counter has to be built instead.
 */
static bool count_appended(struct bt_domain_counter *counter, struct bt_state *state)
{
	struct bt_id_list sets = {0};

	if (!counter->filled || counter->label_set == BT_LABEL_SET_NONE) {
		return false;
	}
	const struct bt_pod_index *index = bt_pod_index_get(state);
	if (!find_candidates(counter, index, &sets) || sets.count != 1 ||
		sets.items[0] != counter->label_set ||
		bt_pod_index_removals_of(index, counter->label_set) != counter->removal_count) {
		return false;
	}
	apply_node_changes(counter);
	count_set(counter, state, index, counter->label_set, counter->listed_count);
	remember_list(counter, index, counter->label_set);
	return true;
}

void bt_domain_counter_catch_up(struct bt_domain_counters *counters,
	struct bt_domain_counter *counter, struct bt_state *state)
{
	struct bt_eligibility *eligibility = counter->eligibility;

	bt_eligibility_catch_up(&counters->eligibilities, state, eligibility);
	/* Update the changed slots if this costs less than counting all pods. */
	uint64_t behind = state->log.sequence - counter->log_sequence;
	if (!counter->filled || !bt_change_log_covers(&state->log, counter->log_sequence) ||
		behind > UINT64_C(32) + counter->visited_count + state->nodes.slot_count / 512) {
		if (!count_appended(counter, state)) {
			build(counter, state);
		}
	} else {
		apply_node_changes(counter);
		if (counter->log_sequence != state->log.sequence) {
			counter->label_set = BT_LABEL_SET_NONE;
		}
		struct last_kind last = {.label_set = BT_LABEL_SET_NONE};
		uint64_t end =
			bt_change_log_end(&state->log, counter->log_sequence, BT_CHANGE_PODS);
		for (uint64_t i = counter->log_sequence; i < end; i++) {
			struct bt_change change = bt_change_log_at(&state->log, i);

			if ((change.kinds & BT_CHANGE_PODS) != 0) {
				uint32_t slot = change.slot;
				int64_t delta = (int64_t)count_slot(counter, state, slot, &last) -
					(int64_t)bt_sparse_count(&counter->own, slot);
				uint32_t domain = bt_eligibility_domain(counter->eligibility, slot);

				(void)bt_sparse_counts_add(
					&counter->own, slot, delta, state->nodes.slot_count);
				if (domain != BT_NO_DOMAIN) {
					add_pods(counter, domain, delta);
				}
			}
		}
	}
	counter->filled = true;
	counter->epoch = eligibility->epoch;
	counter->move_count = eligibility->move_count;
	counter->log_sequence = state->log.sequence;
	if (counter->extremes_stale) {
		find_extremes(counter);
	}
	counters->bytes -= counter->bytes;
	counter->bytes = sizeof(*counter) + counter->arena.total_bytes +
		bt_sparse_counts_bytes(&counter->own) + bt_sparse_counts_bytes(&counter->pods) +
		counter->histogram.buckets.capacity * sizeof(uint32_t);
	counters->bytes += counter->bytes;
}
