/* SPDX-License-Identifier: Apache-2.0 */
/* Scoring of PodTopologySpread. Spec: 06 sections 2.10 to 2.13. */
#include <math.h>

#include "base/error.h"
#include "plugins/common_spread_plugin.h"
#include "plugins/common_topology.h"

#define HOSTNAME_KEY "kubernetes.io/hostname"

/** What one soft constraint adds to a node's score. */
struct score_term {
	const uint32_t *domains;  /* by slot; NULL: no node has the key */
	double *per_domain;       /* NULL for the hostname key */
	const uint32_t *per_node; /* hostname key: the node's own matching pods, by slot */
	double weight;
	double offset; /* maxSkew - 1 */
};

struct spread_pre_score_data {
	bool requires_all_keys; /* a node that lacks a key is ignored */
	uint32_t count;
	struct score_term *terms;
};

double bt_spread_log(uint64_t value)
{
	static const double high = 6.93147180369123816490e-01;
	static const double low = 1.90821492927058770002e-10;
	int exponent;
	double fraction = frexp((double)value, &exponent);

	if (fraction <= 7.07106781186547524401e-01) {
		fraction *= 2;
		exponent--;
	}
	double f = fraction - 1;
	double k = (double)exponent;
	double s = f / (2 + f);
	double s2 = s * s;
	double s4 = s2 * s2;
	double t1 = s2 *
		(6.666666666666735130e-01 +
			s4 *
				(2.857142874366239149e-01 +
					s4 *
						(1.818357216161805012e-01 +
							s4 * 1.479819860511658591e-01)));
	double t2 = s4 *
		(3.999999999940941908e-01 +
			s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
	double r = t1 + t2;
	double half = 0.5 * f * f;
	return k * high - ((half - (s * (half + r) + k * low)) - f);
}

/* --- PreScore --- */

static bool is_hostname(const struct bt_spread_constraint *constraint)
{
	return bt_str_equal_c(constraint->topology_key, HOSTNAME_KEY);
}

/** Domain of the value "", which nodes without the label belong to when they are not ignored. */
static uint32_t domain_of_empty(const struct bt_label_column *column)
{
	for (uint32_t i = 1; i < column->dictionary.count; i++) {
		if (bt_sym_equal(column->dictionary.items[i], BT_SYM_EMPTY)) {
			return i;
		}
	}
	return 0;
}

struct pre_score_run {
	const struct bt_spread_plugin *instance;
	const struct bt_pod_info *pod;
	struct bt_arena *arena;
	struct bt_spread_list list;
	bool requires_all_keys;
	bool plain;
	const uint32_t *slots; /* feasible */
	uint32_t slot_count;
};

static bool is_ignored(const struct pre_score_run *run, uint32_t slot)
{
	return run->requires_all_keys && !bt_spread_has_all_keys(&run->list, slot);
}

/** Number of distinct values of a key over the feasible nodes that are not ignored. */
static uint64_t count_values(
	const struct pre_score_run *run, const struct bt_label_column *column, uint32_t empty)
{
	uint8_t *seen;
	uint64_t count = 0;

	if (column == NULL) {
		/* All of them share the value "", if there are any. */
		return run->slot_count != 0 && !run->requires_all_keys;
	}
	seen = BT_ARENA_NEW_ARRAY(run->arena, uint8_t, column->dictionary.count);
	for (uint32_t i = 0; i < run->slot_count; i++) {
		uint32_t domain = column->values[run->slots[i]];

		if (!is_ignored(run, run->slots[i])) {
			domain = domain == 0 ? empty : domain;
			count += seen[domain] == 0;
			seen[domain] = 1;
		}
	}
	return count;
}

static uint64_t count_considered(const struct pre_score_run *run)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < run->slot_count; i++) {
		count += !is_ignored(run, run->slots[i]);
	}
	return count;
}

/** Matching pods per domain over the eligible nodes; those of nodes without the label in `empty`.
 */
static int64_t *count_domains(const struct pre_score_run *run, uint32_t index, uint32_t empty)
{
	struct bt_state *state = run->instance->source.state;
	const struct bt_spread_constraint *constraint = &run->list.items[index];
	uint32_t size = constraint->column->dictionary.count;
	bt_sym namespace_ = bt_symbol_find(&state->symbols, run->pod->namespace_);
	int64_t *counts = BT_ARENA_NEW_ARRAY(run->arena, int64_t, size);
	struct bt_domain_sums sums;

	if (!run->plain &&
		bt_spread_counter_sums(
			state, &run->list, index, run->pod, run->requires_all_keys, &sums)) {
		for (uint32_t domain = 0; domain < size; domain++) {
			counts[domain == 0 ? empty : domain] += bt_domain_pods(&sums, domain);
		}
		return counts;
	}
	for (uint32_t n = 0; n < state->snapshot.count; n++) {
		uint32_t slot = state->snapshot.list[n];
		uint32_t domain = constraint->column->values[slot];

		if (!is_ignored(run, slot) &&
			bt_spread_counts_node(&run->list, index, state, slot)) {
			counts[domain == 0 ? empty : domain] += bt_spread_count_pods(
				state, &constraint->selector, namespace_, slot);
		}
	}
	return counts;
}

/** Matching pods of every feasible node, whatever the inclusion policies say. */
static uint32_t *count_nodes(const struct pre_score_run *run, uint32_t index)
{
	struct bt_state *state = run->instance->source.state;
	bt_sym namespace_ = bt_symbol_find(&state->symbols, run->pod->namespace_);
	uint32_t *counts = BT_ARENA_NEW_ARRAY(run->arena, uint32_t, state->nodes.slot_count);
	struct bt_domain_sums sums;

	if (!run->plain &&
		bt_spread_counter_sums(
			state, &run->list, index, run->pod, run->requires_all_keys, &sums)) {
		for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
			counts[slot] = bt_domain_own(&sums, slot);
		}
		return counts;
	}
	for (uint32_t i = 0; i < run->slot_count; i++) {
		counts[run->slots[i]] = (uint32_t)bt_spread_count_pods(
			state, &run->list.items[index].selector, namespace_, run->slots[i]);
	}
	return counts;
}

static struct score_term make_term(const struct pre_score_run *run, uint32_t index)
{
	const struct bt_spread_constraint *constraint = &run->list.items[index];
	const struct bt_label_column *column = constraint->column;
	struct score_term term = {
		.domains = column != NULL ? column->values : NULL,
		.offset = (double)(int32_t)((uint32_t)constraint->max_skew - 1U),
	};
	uint32_t empty;
	int64_t *counts;

	if (is_hostname(constraint)) {
		term.weight = bt_spread_log(count_considered(run) + 2);
		term.per_node = count_nodes(run, index);
		return term;
	}
	empty = column != NULL && !run->requires_all_keys ? domain_of_empty(column) : 0;
	term.weight = bt_spread_log(count_values(run, column, empty) + 2);
	if (column == NULL) {
		return term;
	}
	counts = count_domains(run, index, empty);
	term.per_domain = BT_ARENA_NEW_ARRAY(run->arena, double, column->dictionary.count);
	for (uint32_t i = 1; i < column->dictionary.count; i++) {
		term.per_domain[i] = (double)counts[i] * term.weight + term.offset;
	}
	return term;
}

struct bt_status bt_spread_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct pre_score_run run = {
		.instance = (const struct bt_spread_plugin *)(const void *)plugin,
		.pod = pod,
		.arena = cycle->arena,
		.plain = cycle->plain,
		.slots = slots,
		.slot_count = slot_count,
	};
	struct berth_error err = BERTH_ERROR_INIT;
	struct spread_pre_score_data *data;

	if (run.instance->source.state->snapshot.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	if (bt_spread_resolve(&run.instance->source, pod, BT_SPREAD_SOFT, cycle->arena, &run.list,
		    &err) != 0) {
		(void)bt_error_wrap(&err, 0, "calculating preScoreState");
		return bt_status_from_error(cycle->arena, &err);
	}
	if (run.list.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	run.requires_all_keys = bt_plugin_pod_spec(pod)->topology_spread_constraints.count != 0 ||
		!run.instance->system_defaulted;
	data = BT_ARENA_NEW(cycle->arena, struct spread_pre_score_data);
	data->requires_all_keys = run.requires_all_keys;
	data->count = run.list.count;
	data->terms = BT_ARENA_NEW_ARRAY(cycle->arena, struct score_term, data->count);
	for (uint32_t i = 0; i < data->count; i++) {
		data->terms[i] = make_term(&run, i);
	}
	bt_plugin_set_pre_score_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

bool bt_spread_pre_score_skips(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_spread_plugin *instance =
		(const struct bt_spread_plugin *)(const void *)plugin;
	struct bt_spread_list list;
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_spread_resolve(&instance->source, pod, BT_SPREAD_SOFT, cycle->arena, &list, &err) !=
		0) {
		berth_error_finish(&err);
		return false;
	}
	return list.count == 0;
}

/* --- Score --- */

/** Half away from zero; sums stay far below 2^52. */
static inline int64_t round_half_away(double value)
{
	int64_t whole = (int64_t)value;
	double rest = value - (double)whole;

	return whole + (rest >= 0.5) - (rest <= -0.5);
}

static bool slot_is_ignored(const struct spread_pre_score_data *data, uint32_t slot)
{
	for (uint32_t i = 0; data->requires_all_keys && i < data->count; i++) {
		if (data->terms[i].domains == NULL || data->terms[i].domains[slot] == 0) {
			return true;
		}
	}
	return false;
}

static int64_t score_slot(const struct spread_pre_score_data *data, uint32_t slot)
{
	double sum = 0;

	if (slot_is_ignored(data, slot)) {
		return 0;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		const struct score_term *term = &data->terms[i];
		uint32_t domain = term->domains != NULL ? term->domains[slot] : 0;

		if (domain == 0) {
			continue;
		}
		sum += term->per_domain != NULL
			? term->per_domain[domain]
			: (double)term->per_node[slot] * term->weight + term->offset;
	}
	return round_half_away(sum);
}

struct bt_status bt_spread_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct spread_pre_score_data *data = bt_plugin_pre_score_data(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreScorePodTopologySpread\" from cycleState: not "
			       "found"));
	}
	*out_score = score_slot(data, node->slot);
	return BT_STATUS_OK;
}

void bt_spread_score_slots(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	const uint32_t *slots, uint32_t count, int64_t *scores)
{
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = score_slot(data, slots[i]);
	}
}

/* --- NormalizeScore --- */

/** Bounds of the raw scores of nodes that are not ignored. */
struct score_bounds {
	int64_t low;
	int64_t high;
};

static void widen(struct score_bounds *bounds, int64_t score)
{
	bounds->low = score < bounds->low ? score : bounds->low;
	bounds->high = score > bounds->high ? score : bounds->high;
}

static int64_t normalized(const struct score_bounds *bounds, int64_t score)
{
	if (bounds->high == 0) {
		return BT_SCORE_MAX;
	}
	return bt_wrap_mul(BT_SCORE_MAX, bounds->high + bounds->low - score) / bounds->high;
}

struct bt_status bt_spread_normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count)
{
	const struct spread_pre_score_data *data = bt_plugin_pre_score_data(plugin, cycle);
	struct score_bounds bounds = {INT64_MAX, 0};

	for (uint32_t i = 0; i < count; i++) {
		if (!slot_is_ignored(data, scores[i].slot)) {
			widen(&bounds, scores[i].score);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i].score = slot_is_ignored(data, scores[i].slot)
			? 0
			: normalized(&bounds, scores[i].score);
	}
	return BT_STATUS_OK;
}

void bt_spread_normalize_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_state *state, const uint32_t *feasible_slots, uint32_t count,
	int64_t *scores)
{
	struct score_bounds bounds = {INT64_MAX, 0};

	for (uint32_t i = 0; i < count; i++) {
		if (!slot_is_ignored(data, feasible_slots[i])) {
			widen(&bounds, scores[i]);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = slot_is_ignored(data, feasible_slots[i])
			? 0
			: normalized(&bounds, scores[i]);
	}
}
