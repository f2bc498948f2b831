/* SPDX-License-Identifier: Apache-2.0 */
/* The rebuild twin of the domain counters: pod by pod and node by node, with no index. */
#include "base/alloc.h"
#include "state/domain_counter_private.h"

struct twin {
	uint64_t *own;   /* by slot */
	uint64_t *pods;  /* by domain */
	uint32_t *nodes; /* by domain */
	struct bt_domain_sums sums;
};

static bool counts(const struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_pod_record *record)
{
	const struct bt_str_map *labels = &state->label_sets.sets.items[record->label_set].labels;

	if (!record->in_use || (counter->live_only && record->terminating)) {
		return false;
	}
	for (uint32_t i = 0; i < counter->term_count; i++) {
		if (!bt_counted_term_has_namespace(&counter->terms[i], record->namespace_) ||
			!bt_selector_matches(&counter->terms[i].selector, labels)) {
			return false;
		}
	}
	return counter->term_count != 0;
}

static void sum_domains(struct twin *twin, uint32_t size)
{
	struct bt_domain_sums *sums = &twin->sums;

	sums->least = UINT32_MAX;
	sums->second_least = UINT32_MAX;
	for (uint32_t domain = 1; domain < size; domain++) {
		uint32_t pods = (uint32_t)twin->pods[domain];

		sums->pod_total += pods;
		sums->occupied_count += pods != 0;
		if (twin->nodes[domain] == 0) {
			continue;
		}
		sums->eligible_count++;
		sums->least = pods < sums->least ? pods : sums->least;
	}
	for (uint32_t domain = 1; domain < size; domain++) {
		uint32_t pods = (uint32_t)twin->pods[domain];

		if (twin->nodes[domain] != 0) {
			sums->least_count += pods == sums->least;
			if (pods > sums->least && pods < sums->second_least) {
				sums->second_least = pods;
			}
		}
	}
}

static void make_twin(struct bt_domain_counters *counters, struct bt_state *state,
	const struct bt_domain_counter *counter, struct twin *twin)
{
	uint32_t slots = state->nodes.slot_count;

	*twin = (struct twin){
		.own = BT_NEW_ARRAY(uint64_t, slots),
		.pods = BT_NEW_ARRAY(uint64_t, counter->eligibility->size),
		.nodes = BT_NEW_ARRAY(uint32_t, counter->eligibility->size),
	};
	for (uint32_t i = 0; i < state->pods.records.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, i);

		if (counts(counter, state, record)) {
			twin->own[record->node]++;
		}
	}
	for (uint32_t slot = 0; slot < slots; slot++) {
		uint32_t domain = bt_eligibility_judge(
			&counters->eligibilities, state, counter->eligibility, slot);

		if (domain != BT_NO_DOMAIN) {
			twin->pods[domain] += twin->own[slot];
			twin->nodes[domain]++;
		}
	}
	sum_domains(twin, counter->eligibility->size);
}

static const char *difference(
	const struct bt_domain_counter *counter, const struct twin *twin, uint32_t slots)
{
	struct bt_domain_sums sums = bt_domain_counter_sums(counter);

	for (uint32_t slot = 0; slot < slots; slot++) {
		if (bt_domain_own(&sums, slot) != twin->own[slot]) {
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

bool bt_domain_counters_validate(struct bt_state *state, struct bt_strbuf *out_reason)
{
	struct bt_domain_counters *counters = bt_domain_counters_of(state);

	for (struct bt_domain_counter *counter = counters->newest; counter != NULL;
		counter = counter->older) {
		struct twin twin;
		const char *what;

		bt_domain_counter_catch_up(counters, counter, state);
		make_twin(counters, state, counter, &twin);
		what = difference(counter, &twin, state->nodes.slot_count);
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
