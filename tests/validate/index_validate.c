/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the indexes and counters of src/state with data computed anew, pod by pod. */
#include "api/toleration.h"
#include "base/alloc.h"
#include "state/affinity_index_private.h"
#include "state/domain_counter_private.h"
#include "state/pod_index.h"
#include "validate/validate.h"

static bool same_counts(const struct bt_sparse_counts *a, const struct bt_sparse_counts *b,
	const struct bt_label_column *column)
{
	uint32_t domain_count = column != NULL ? column->dictionary.count : 0;

	for (uint32_t domain = 1; domain < domain_count; domain++) {
		if (bt_sparse_count(a, domain) != bt_sparse_count(b, domain)) {
			return false;
		}
	}
	return a->total == b->total && a->occupied_count == b->occupied_count;
}

static bool is_equal_index(const struct bt_affinity_index *index,
	const struct bt_affinity_index *fresh, struct bt_strbuf *out_reason)
{
	if (index->terms.map.count != fresh->terms.map.count ||
		index->groups.map.count != fresh->groups.map.count ||
		index->unlisted_count != fresh->unlisted_count) {
		bt_strbuf_append_str(out_reason,
			BT_STR("affinity index: number of terms, groups "
			       "or unlisted slots"));
		return false;
	}
	for (uint32_t i = 0; i < fresh->terms.count; i++) {
		const struct indexed_term *expected = fresh->terms.items[i];

		if (expected == NULL) {
			continue;
		}
		uint32_t id =
			bt_affinity_index_find_term(index, expected->identity, expected->hash);
		if (id == UINT32_MAX ||
			!same_counts(&index->terms.items[id]->pods, &expected->pods,
				fresh->keys.items[expected->key].column)) {
			bt_strbuf_printf(out_reason,
				"affinity index: a term with key %.*s differs from a new one",
				BT_STR_ARG(expected->term.topology_key));
			return false;
		}
	}
	return true;
}

bool bt_affinity_index_validate(struct bt_state *state, struct bt_strbuf *out_reason)
{
	(void)bt_affinity_index_get(state); /* updates the index */
	struct bt_affinity_index *index = state->affinity_index;

	state->affinity_index = NULL;
	bool same = is_equal_index(index, bt_affinity_index_get(state), out_reason);
	bt_affinity_index_destroy(state);
	state->affinity_index = index;
	return same;
}

struct twin {
	uint64_t *own;   /* by slot */
	uint64_t *pods;  /* by domain */
	uint32_t *nodes; /* by domain */
	struct bt_domain_sums sums;
};

static bool is_counted(const struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_pod_record *record)
{
	const struct bt_str_map *labels = &state->label_sets.sets.items[record->label_set].labels;

	if (!record->in_use || (counter->live_only && record->terminating)) {
		return false;
	}
	for (uint32_t i = 0; i < counter->term_count; i++) {
		const struct counted_term *term = &counter->terms[i];
		bool found = term->in_every_namespace;

		for (uint32_t k = 0; k < term->namespace_count; k++) {
			found |= bt_sym_equal(term->namespaces[k], record->namespace_);
		}
		if (!found || !bt_selector_matches(&term->selector, labels)) {
			return false;
		}
	}
	return counter->term_count != 0;
}

static const char *difference(
	const struct bt_domain_counter *counter, const struct twin *twin, uint32_t slots)
{
	struct bt_domain_sums sums = bt_domain_counter_sums(counter);

	for (uint32_t slot = 0; slot < slots; slot++) {
		if (bt_domain_count_of_slot(&sums, slot) != twin->own[slot]) {
			return "pods of a slot";
		}
	}
	for (uint32_t domain = 0; domain < sums.size; domain++) {
		if (bt_domain_pods(&sums, domain) != twin->pods[domain]) {
			return "pods of a domain";
		}
		if (bt_domain_nodes(&sums, domain) != twin->nodes[domain]) {
			return "nodes of a domain";
		}
	}
	if (sums.pod_total != twin->sums.pod_total) {
		return "sum of pods";
	}
	if (sums.occupied_count != twin->sums.occupied_count ||
		sums.eligible_count != twin->sums.eligible_count) {
		return "number of domains";
	}
	if (sums.least != twin->sums.least || sums.least_count != twin->sums.least_count ||
		sums.second_least != twin->sums.second_least) {
		return "least number of pods";
	}
	return NULL;
}

static uint32_t domain_of_slot(
	const struct bt_eligibility *eligibility, struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	const struct bt_label_column *column =
		bt_state_label_column(state, eligibility->topology_key);
	bool is_eligible = row->in_snapshot;

	for (uint32_t i = 0; i < eligibility->label_count; i++) {
		is_eligible = is_eligible &&
			bt_str_map_find(&row->labels, eligibility->labels[i]) != NULL;
	}
	if (!is_eligible ||
		(eligibility->has_affinity &&
			!bt_required_node_affinity_matches(&eligibility->affinity,
				bt_node_table_name(&state->nodes, slot), &row->labels, NULL,
				NULL)) ||
		(eligibility->tolerations != NULL &&
			bt_find_untolerated_taint(bt_node_table_taints(&state->nodes, slot),
				eligibility->tolerations, BT_TAINT_HARD,
				eligibility->allow_comparison) != NULL)) {
		return BT_NO_DOMAIN;
	}
	return column != NULL ? column->values[slot] : 0;
}

bool bt_domain_counters_validate(struct bt_state *state, struct bt_strbuf *out_reason)
{
	struct bt_domain_counters *counters = bt_domain_counters_of(state);

	for (struct bt_domain_counter *counter = counters->newest; counter != NULL;
		counter = counter->older) {
		struct twin twin;

		bt_domain_counter_catch_up(counters, counter, state);
		uint32_t slots = state->nodes.slot_count;

		twin = (struct twin){
			.own = BT_NEW_ARRAY(uint64_t, slots),
			.pods = BT_NEW_ARRAY(uint64_t, counter->eligibility->size),
			.nodes = BT_NEW_ARRAY(uint32_t, counter->eligibility->size),
		};
		for (uint32_t i = 0; i < state->pods.records.count; i++) {
			const struct bt_pod_record *record = bt_state_pod_at(state, i);

			if (is_counted(counter, state, record)) {
				twin.own[record->node]++;
			}
		}
		for (uint32_t slot = 0; slot < slots; slot++) {
			uint32_t domain = domain_of_slot(counter->eligibility, state, slot);

			if (domain != BT_NO_DOMAIN) {
				twin.pods[domain] += twin.own[slot];
				twin.nodes[domain]++;
			}
		}
		uint32_t size = counter->eligibility->size;
		struct bt_domain_sums *sums = &twin.sums;

		sums->least = UINT32_MAX;
		sums->second_least = UINT32_MAX;
		for (uint32_t domain = 1; domain < size; domain++) {
			uint32_t pods = (uint32_t)twin.pods[domain];

			sums->pod_total += pods;
			sums->occupied_count += pods != 0;
			if (twin.nodes[domain] == 0) {
				continue;
			}
			sums->eligible_count++;
			sums->least = pods < sums->least ? pods : sums->least;
		}
		for (uint32_t domain = 1; domain < size; domain++) {
			uint32_t pods = (uint32_t)twin.pods[domain];

			if (twin.nodes[domain] != 0) {
				sums->least_count += pods == sums->least;
				if (pods > sums->least && pods < sums->second_least) {
					sums->second_least = pods;
				}
			}
		}
		const char *what = difference(counter, &twin, state->nodes.slot_count);
		bt_free(twin.own);
		bt_free(twin.pods);
		bt_free(twin.nodes);
		if (what != NULL) {
			bt_strbuf_printf(out_reason, "counter of key %.*s: %s differs from a count",
				BT_STR_ARG(counter->eligibility->topology_key), what);
			return false;
		}
	}
	return true;
}

static bool lists_pair(const struct bt_pod_index *index, uint32_t set_id,
	const struct bt_label_pair *pair, const struct set_label *label)
{
	struct bt_id_list sets = bt_pod_index_sets_with(index, pair->key, pair->value);

	return label->position < sets.count && sets.items[label->position] == set_id;
}

bool bt_pod_index_validate(const struct bt_state *state, struct bt_strbuf *out_reason)
{
	const struct bt_pod_index *index = state->pod_index;
	uint32_t listed = 0;
	uint32_t in_use = 0;

	if (index == NULL) {
		return true;
	}
	for (uint32_t i = 0; i < index->sets.count; i++) {
		const struct indexed_set *set = &index->sets.items[i];
		const struct bt_label_pair *symbols =
			set->pods.count != 0 ? state->label_sets.sets.items[i].symbols : NULL;

		listed += set->pods.count;
		for (uint32_t n = 0; n < set->label_count; n++) {
			if (symbols == NULL ||
				!lists_pair(index, i, &symbols[n], &set->labels[n])) {
				bt_strbuf_printf(
					out_reason, "label set %u is missing in a pair", i);
				return false;
			}
		}
	}
	for (uint32_t i = 0; i < state->pods.records.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, i);
		struct bt_id_list pods = {0};

		if (!record->in_use) {
			continue;
		}
		in_use++;
		pods = bt_pod_index_pods_of(index, record->label_set);
		if (index->positions.items[i] >= pods.count ||
			pods.items[index->positions.items[i]] != i) {
			bt_strbuf_printf(out_reason, "pod %u is not listed by its labels", i);
			return false;
		}
	}
	if (listed != in_use) {
		bt_strbuf_printf(out_reason, "%u pods listed by labels, not %u", listed, in_use);
		return false;
	}
	return true;
}
