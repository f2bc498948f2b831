/* SPDX-License-Identifier: Apache-2.0 */
/* Scoring of InterPodAffinity. Spec: 06 sections 3.8 and 3.9. */
#include "plugins/inter_pod_affinity.h"

/* --- PreScore --- */

struct pre_score_run {
	const struct bt_affinity_plugin *instance;
	struct bt_state *state;
	const struct bt_pod_info *pod;
	struct bt_arena *arena;
	const struct bt_str_map *namespace_labels;
	struct bt_affinity_tables *weights;
	struct bt_incoming_terms near;
	struct bt_incoming_terms apart;
};

static void add_weight(
	const struct pre_score_run *run, uint32_t table, uint32_t slot, int64_t weight)
{
	uint32_t domain = table == BT_NO_TABLE
		? 0
		: bt_topology_domain(run->weights->items[table].column, slot);

	if (domain != 0) {
		bt_affinity_table_count(run->weights, run->arena, table, domain, weight);
	}
}

/** The terms of another pod that select the pod, each with `fixed` or its own weight times sign. */
static void add_existing_group(const struct pre_score_run *run, const struct bt_pod_info *other,
	uint32_t slot, enum bt_affinity_group group, int64_t fixed, int64_t sign)
{
	struct bt_affinity_term_list list =
		bt_affinity_group_of(bt_affinity_terms_of(other), group);

	for (uint32_t i = 0; i < list.count; i++) {
		const struct bt_affinity_term *term = &list.items[i];

		if (bt_affinity_term_matches(term, other->namespace_, run->pod->namespace_,
			    run->pod->labels, run->namespace_labels)) {
			add_weight(run,
				bt_affinity_table_of_key(
					run->weights, run->state, run->arena, term->topology_key),
				slot, fixed + sign * term->weight);
		}
	}
}

static void add_pods(
	const struct pre_score_run *run, uint32_t slot, const uint32_t *pods, uint32_t count)
{
	struct bt_pod_info other;

	for (uint32_t i = 0; i < count; i++) {
		bt_pod_info_from_record(run->state, pods[i], &other);
		/* The pod's preferred terms that select another pod. */
		for (uint32_t k = 0; k < run->near.count; k++) {
			const struct bt_incoming_term *term = &run->near.items[k];
			if (bt_incoming_term_matches(term, other.namespace_, other.labels)) {
				add_weight(run, term->table, slot, term->term->weight);
			}
		}
		for (uint32_t k = 0; k < run->apart.count; k++) {
			const struct bt_incoming_term *term = &run->apart.items[k];
			if (bt_incoming_term_matches(term, other.namespace_, other.labels)) {
				add_weight(run, term->table, slot, -(int64_t)term->term->weight);
			}
		}
		if (run->instance->hard_weight > 0) {
			add_existing_group(run, &other, slot, BT_AFFINITY_REQUIRED,
				run->instance->hard_weight, 0);
		}
		add_existing_group(run, &other, slot, BT_AFFINITY_PREFERRED, 0, 1);
		add_existing_group(run, &other, slot, BT_ANTI_AFFINITY_PREFERRED, 0, -1);
	}
}

static bool add_own_by_counters(
	const struct pre_score_run *run, const struct bt_incoming_terms *terms, int64_t sign)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct bt_incoming_term *term = &terms->items[i];

		if (term->table != BT_NO_TABLE &&
			!bt_affinity_count_matching(run->state, term, 1, run->weights, run->arena,
				term->table, sign * term->term->weight)) {
			return false;
		}
	}
	return true;
}

/** The same from counters and the index of existing terms; false when they do not serve this pod.
 */
static bool add_by_counters(const struct pre_score_run *run)
{
	struct bt_existing_sum sum = {
		.state = run->state,
		.arena = run->arena,
		.tables = run->weights,
		.factors = {[BT_AFFINITY_PREFERRED] = 1, [BT_ANTI_AFFINITY_PREFERRED] = -1},
		.fixed = {[BT_AFFINITY_REQUIRED] = run->instance->hard_weight},
	};
	uint32_t groups = 1U << BT_AFFINITY_PREFERRED | 1U << BT_ANTI_AFFINITY_PREFERRED;

	if (run->near.count > BT_COUNTED_TERMS_MAX || run->apart.count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	if (run->instance->hard_weight > 0) {
		groups |= 1U << BT_AFFINITY_REQUIRED;
	}
	return bt_affinity_add_existing(&sum, groups, run->pod, run->namespace_labels) &&
		add_own_by_counters(run, &run->near, 1) &&
		add_own_by_counters(run, &run->apart, -1);
}

bool bt_affinity_never_scores(const struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_affinity_plugin *instance =
		(const struct bt_affinity_plugin *)(const void *)plugin;
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);

	return instance->ignores_preferred_terms_of_existing_pods &&
		(terms == NULL || !terms->has_preferred);
}

static struct bt_affinity_score_data *weigh(const struct bt_affinity_plugin *instance,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	struct bt_affinity_score_data *data =
		BT_ARENA_NEW(cycle->arena, struct bt_affinity_score_data);
	struct pre_score_run run = {
		.instance = instance,
		.state = instance->handle->state,
		.pod = pod,
		.arena = cycle->arena,
		.weights = &data->weights,
	};

	data->weights.copies = !cycle->borrows_counters;
	run.namespace_labels = bt_affinity_namespace_labels(run.state, pod->namespace_);
	run.near = bt_affinity_expand(
		run.state, pod, BT_AFFINITY_PREFERRED, run.weights, cycle->arena);
	run.apart = bt_affinity_expand(
		run.state, pod, BT_ANTI_AFFINITY_PREFERRED, run.weights, cycle->arena);
	data->counted = !cycle->plain && add_by_counters(&run);
	if (!data->counted) {
		bt_affinity_tables_reset(run.weights);
		/* Section 3.8 to the letter. */
		bool has_preferred = terms != NULL && terms->has_preferred;
		const struct bt_snapshot *snapshot = &run.state->snapshot;
		uint32_t count = has_preferred ? snapshot->count : snapshot->affinity_list.count;

		for (uint32_t n = 0; n < count; n++) {
			uint32_t slot = has_preferred ? snapshot->list[n]
						      : snapshot->affinity_list.items[n];
			const struct bt_node_row *row = &run.state->nodes.rows[slot];

			if (has_preferred) {
				add_pods(&run, slot, row->pods.items, row->pods.count);
			} else {
				add_pods(&run, slot, row->pods_with_affinity.items,
					row->pods_with_affinity.count);
			}
		}
	}
	return data;
}

const struct bt_affinity_score_data *bt_affinity_prepare_score(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	void **kept = &cycle->pre_score_data[plugin->index];

	/* Another cycle may ask again when pods have come and gone. */
	if (cycle->plain || !cycle->borrows_counters) {
		return NULL;
	}
	if (*kept == NULL) {
		*kept = weigh((const struct bt_affinity_plugin *)(const void *)plugin, cycle, pod);
	}
	return *kept;
}

struct bt_status bt_affinity_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const struct bt_affinity_plugin *instance =
		(const struct bt_affinity_plugin *)(const void *)plugin;
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	const struct bt_affinity_score_data *data;

	if (bt_affinity_never_scores(plugin, pod)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	if (terms != NULL && terms->errors.length != 0) {
		return bt_status_error_text(cycle->arena,
			bt_arena_printf(cycle->arena, "failed to parse pod: %.*s",
				BT_STR_ARG(terms->errors)));
	}
	data = bt_affinity_prepare_score(plugin, cycle, pod);
	if (data == NULL) {
		struct bt_affinity_score_data *fresh = weigh(instance, cycle, pod);

		bt_plugin_set_pre_score_data(plugin, cycle, fresh);
		data = fresh;
	}
	return data->weights.touched ? BT_STATUS_OK : bt_status_code_only(BT_STATUS_SKIP);
}

bool bt_affinity_pre_score_skips(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_affinity_plugin *instance =
		(const struct bt_affinity_plugin *)(const void *)plugin;
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	const struct bt_affinity_score_data *data;

	if (terms != NULL && terms->errors.length != 0) {
		return false;
	}
	/* Neither the pod nor any other one has a term that could count. */
	if (bt_affinity_never_scores(plugin, pod) ||
		((terms == NULL || !terms->has_preferred) &&
			instance->handle->state->snapshot.affinity_list.count == 0)) {
		return true;
	}
	data = bt_affinity_prepare_score(plugin, cycle, pod);
	return data != NULL && !data->weights.touched;
}

/* --- Score --- */

struct bt_status bt_affinity_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct bt_affinity_score_data *data = bt_plugin_pre_score_data(plugin, cycle);
	int64_t sum = 0;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("failed to read \"PreScoreInterPodAffinity\" from cycleState: not "
			       "found"));
	}
	for (uint32_t i = 0; i < data->weights.count; i++) {
		const struct bt_affinity_table *table = &data->weights.items[i];
		/* No pair has domain 0: its number is 0. */
		sum = bt_wrap_add(
			sum, bt_affinity_table_at(table, table->column->values[node->slot]));
	}
	*out_score = sum;
	return BT_STATUS_OK;
}

void bt_affinity_score_slots(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	const uint32_t *slots, uint32_t count, int64_t *scores)
{
	struct bt_affinity_plugin *instance = (struct bt_affinity_plugin *)plugin;
	const struct bt_affinity_score_data *counted = data;

	for (uint32_t i = 0; i < count; i++) {
		scores[i] = 0;
	}
	for (uint32_t t = 0; t < counted->weights.count; t++) {
		const struct bt_affinity_table *table = &counted->weights.items[t];
		const uint32_t *domains = table->column->values;

		if (!bt_affinity_table_sums_pay(table, count)) {
			for (uint32_t i = 0; i < count; i++) {
				scores[i] = bt_wrap_add(
					scores[i], bt_affinity_table_at(table, domains[slots[i]]));
			}
			continue;
		}
		bt_vec_reserve(&instance->sums, table->column->dictionary.count);
		bt_affinity_table_sum(table, instance->sums.items);
		for (uint32_t i = 0; i < count; i++) {
			scores[i] = bt_wrap_add(scores[i], instance->sums.items[domains[slots[i]]]);
		}
	}
}

/* --- NormalizeScore --- */

/** Division first, then multiplication, then truncation: section 3.9 says why that matters. */
static int64_t normalized(int64_t score, int64_t low, int64_t difference)
{
	if (difference <= 0) {
		return 0;
	}
	return bt_trunc_to_i64(
		(double)BT_SCORE_MAX * ((double)bt_wrap_sub(score, low) / (double)difference));
}

struct bt_status bt_affinity_normalize_score(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	struct bt_node_score *scores, uint32_t count)
{
	int64_t low = INT64_MAX;
	int64_t high = INT64_MIN;

	for (uint32_t i = 0; i < count; i++) {
		low = scores[i].score < low ? scores[i].score : low;
		high = scores[i].score > high ? scores[i].score : high;
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i].score = normalized(scores[i].score, low, bt_wrap_sub(high, low));
	}
	return BT_STATUS_OK;
}

void bt_affinity_normalize_column(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const void *data,
	BT_UNUSED const struct bt_state *state, BT_UNUSED const uint32_t *feasible_slots,
	uint32_t count, int64_t *scores)
{
	int64_t low = INT64_MAX;
	int64_t high = INT64_MIN;

	int64_t last = 0;
	int64_t last_normalized = 0;

	for (uint32_t i = 0; i < count; i++) {
		low = scores[i] < low ? scores[i] : low;
		high = scores[i] > high ? scores[i] : high;
	}
	/* Neighbours are often equal: there is one division for all of them. */
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || scores[i] != last) {
			last = scores[i];
			last_normalized = normalized(last, low, bt_wrap_sub(high, low));
		}
		scores[i] = last_normalized;
	}
}
