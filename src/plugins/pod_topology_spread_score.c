/* SPDX-License-Identifier: Apache-2.0 */
/* Scoring of PodTopologySpread. Spec: 06 sections 2.10 to 2.13. */
#include <math.h>

#include "base/error.h"
#include "plugins/pod_topology_spread.h"
#include "plugins/common_topology.h"

#define HOSTNAME_KEY "kubernetes.io/hostname"

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
	const struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	struct bt_spread_list list;
	bool requires_all_keys;
};

/** Matching pods of every node, whatever the inclusion policies say. */
static uint32_t *own_pods_by_slot(
	const struct pre_score_run *run, uint32_t index, const struct bt_spread_table *counted)
{
	const struct bt_state *state = run->instance->source.state;
	bt_sym namespace_ = bt_symbol_find(&state->symbols, run->pod->namespace_);
	uint32_t slot_count = state->nodes.slot_count;
	uint32_t *counts = BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, slot_count);

	for (uint32_t slot = 0; slot < slot_count; slot++) {
		counts[slot] = counted != NULL
			? bt_domain_own(&counted->sums, slot)
			: (uint32_t)bt_spread_count_pods(
				  state, &run->list.items[index].selector, namespace_, slot);
	}
	return counts;
}

static void count_term(const struct pre_score_run *run, uint32_t index, struct bt_spread_term *term)
{
	struct bt_arena *arena = run->cycle->arena;
	bool counted = !run->cycle->plain &&
		bt_spread_count(run->instance->source.state, &run->list, index, run->pod,
			run->requires_all_keys, &term->table);

	if (term->is_hostname) {
		if (!counted || !run->cycle->borrows_counters) {
			term->own = own_pods_by_slot(run, index, counted ? &term->table : NULL);
		}
		return;
	}
	if (!counted) {
		/* Matching pods per domain over the eligible nodes, by walking. */
		const struct bt_state *state = run->instance->source.state;
		const struct bt_spread_constraint *constraint = &run->list.items[index];
		bt_sym namespace_ = bt_symbol_find(&state->symbols, run->pod->namespace_);

		bt_spread_table_init(&term->table, constraint->column, 0, run->cycle->arena);
		for (uint32_t n = 0; n < state->snapshot.count; n++) {
			uint32_t slot = state->snapshot.list[n];

			if (!(run->requires_all_keys &&
				    !bt_spread_has_all_keys(&run->list, slot)) &&
				bt_spread_counts_node(&run->list, index, state, slot)) {
				term->table.counts[bt_topology_domain(constraint->column, slot)] +=
					bt_spread_count_pods(
						state, &constraint->selector, namespace_, slot);
			}
		}
	} else if (!run->cycle->borrows_counters) {
		bt_spread_table_own(&term->table, arena);
	}
}

static int64_t pods_at(const struct bt_spread_table *table, uint32_t domain)
{
	int64_t count;

	if (table->counts == NULL) {
		return bt_domain_pods(&table->sums, domain);
	}
	count = table->counts[domain];
	return count == BT_SPREAD_NO_DOMAIN ? 0 : count;
}

/** The data without weights; NULL: an error, in err, or nothing to score by. */
static struct bt_spread_score_data *prepare(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct berth_error *err)
{
	struct pre_score_run run = {
		.instance = bt_spread_instance(plugin),
		.cycle = cycle,
		.pod = pod,
	};
	struct bt_spread_score_data *data;

	if (bt_spread_resolve(&run.instance->source, pod, BT_SPREAD_SOFT, cycle->arena, &run.list,
		    err) != 0 ||
		run.list.count == 0) {
		return NULL;
	}
	run.requires_all_keys = bt_plugin_pod_spec(pod)->topology_spread_constraints.count != 0 ||
		!run.instance->system_defaulted;
	data = BT_ARENA_NEW(cycle->arena, struct bt_spread_score_data);
	data->requires_all_keys = run.requires_all_keys;
	data->count = run.list.count;
	data->terms = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_spread_term, data->count);
	for (uint32_t i = 0; i < data->count; i++) {
		/* All but the weight. */
		const struct bt_spread_constraint *constraint = &run.list.items[i];
		struct bt_spread_term term = {
			.column = constraint->column,
			.is_hostname = is_hostname(constraint),
			.offset = (double)(int32_t)((uint32_t)constraint->max_skew - 1U),
		};

		count_term(&run, i, &term);
		if (!term.is_hostname && term.column != NULL && !run.requires_all_keys) {
			term.empty_domain = domain_of_empty(term.column);
			if (term.empty_domain != 0) {
				term.pods_without_label = pods_at(&term.table, 0);
			}
		}
		data->terms[i] = term;
	}
	return data;
}

bool bt_spread_prepare_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_spread_score_data **out_data)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_spread_score_data *data = prepare(plugin, cycle, pod, &err);
	bool fails = data == NULL && err.code != 0;

	berth_error_finish(&err);
	for (uint32_t i = 0; data != NULL && i < data->count; i++) {
		fails = fails || data->terms[i].table.serial == 0;
	}
	*out_data = data;
	return !fails;
}

/* --- weights --- */

/** The feasible nodes: each slot stands for one, or for as many as counts says. */
struct feasible_nodes {
	const uint32_t *slots;
	const uint32_t *counts; /* NULL: one each */
	uint32_t count;
};

static bool slot_is_ignored(const struct bt_spread_score_data *data, uint32_t slot)
{
	for (uint32_t i = 0; data->requires_all_keys && i < data->count; i++) {
		if (bt_topology_domain(data->terms[i].column, slot) == 0) {
			return true;
		}
	}
	return false;
}

static uint64_t nodes_of(const struct feasible_nodes *nodes, uint32_t index)
{
	return nodes->counts != NULL ? nodes->counts[index] : 1;
}

static uint64_t count_considered(
	const struct bt_spread_score_data *data, const struct feasible_nodes *nodes)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < nodes->count; i++) {
		count += slot_is_ignored(data, nodes->slots[i]) ? 0 : nodes_of(nodes, i);
	}
	return count;
}

/** Number of distinct values of a key over the feasible nodes that are not ignored. */
static uint64_t count_values(const struct bt_spread_score_data *data,
	const struct bt_spread_term *term, const struct feasible_nodes *nodes,
	struct bt_arena *arena)
{
	const struct bt_label_column *column = term->column;
	uint8_t *seen;
	uint64_t count = 0;

	if (column == NULL) {
		/* All of them share the value "", if there are any. */
		return nodes->count != 0 && !data->requires_all_keys;
	}
	if (bt_label_column_is_unique(column) && term->empty_domain == 0) {
		/* Every node has a value of its own; those without the label share one more. */
		bool without_label = false;

		for (uint32_t i = 0; i < nodes->count; i++) {
			if (slot_is_ignored(data, nodes->slots[i])) {
				continue;
			}
			if (column->values[nodes->slots[i]] == 0) {
				without_label = true;
			} else {
				count += nodes_of(nodes, i);
			}
		}
		return count + without_label;
	}
	seen = BT_ARENA_NEW_ARRAY(arena, uint8_t, column->dictionary.count);
	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t domain = column->values[nodes->slots[i]];

		if (!slot_is_ignored(data, nodes->slots[i])) {
			domain = domain == 0 ? term->empty_domain : domain;
			count += seen[domain] == 0;
			seen[domain] = 1;
		}
	}
	return count;
}

static void weigh(struct bt_spread_score_data *data, const struct feasible_nodes *nodes,
	struct bt_arena *arena)
{
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_spread_term *term = &data->terms[i];
		uint64_t size = term->is_hostname ? count_considered(data, nodes)
						  : count_values(data, term, nodes, arena);

		term->weight = bt_spread_log(size + 2);
	}
}

/* --- PreScore --- */

struct bt_status bt_spread_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct feasible_nodes nodes = {.slots = slots, .count = slot_count};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_spread_score_data *data;

	if (bt_spread_instance(plugin)->source.state->snapshot.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = prepare(plugin, cycle, pod, &err);
	if (data == NULL) {
		if (err.code == 0) {
			return bt_status_code_only(BT_STATUS_SKIP);
		}
		(void)bt_error_wrap(&err, 0, "calculating preScoreState");
		return bt_status_from_error(cycle->arena, &err);
	}
	weigh(data, &nodes, cycle->arena);
	bt_plugin_set_pre_score_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

struct bt_status bt_spread_pre_score_cells(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
	uint32_t cell_count)
{
	struct feasible_nodes nodes = {.slots = slots, .counts = counts, .count = cell_count};
	struct bt_spread_score_data *data = cycle->pre_score_data[plugin->index];

	if (data == NULL) {
		return bt_status_code_only(BT_STATUS_SKIP); /* cell_traits found nothing to score */
	}
	weigh(data, &nodes, cycle->arena);
	return BT_STATUS_OK;
}

bool bt_spread_pre_score_skips(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_spread_list list;
	struct berth_error err = BERTH_ERROR_INIT;

	/* Constraints of its own need not be parsed: an error in them is no reason to skip. */
	for (uint32_t i = 0; i < spec->topology_spread_constraints.count; i++) {
		if (bt_spread_has_action(
			    &spec->topology_spread_constraints.items[i], BT_SPREAD_SOFT)) {
			return false;
		}
	}
	if (spec->topology_spread_constraints.count != 0) {
		return true;
	}
	if (bt_spread_resolve(&bt_spread_instance(plugin)->source, pod, BT_SPREAD_SOFT,
		    cycle->arena, &list, &err) != 0) {
		berth_error_finish(&err);
		return false;
	}
	return list.count == 0;
}

/* --- Score --- */

static int64_t score_slot(const struct bt_spread_score_data *data, uint32_t slot)
{
	double sum = 0;

	if (slot_is_ignored(data, slot)) {
		return 0;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		const struct bt_spread_term *term = &data->terms[i];
		uint32_t domain = bt_topology_domain(term->column, slot);
		int64_t count;

		if (domain == 0) {
			continue;
		}
		if (term->is_hostname) {
			count = term->own != NULL ? term->own[slot]
						  : bt_domain_own(&term->table.sums, slot);
		} else {
			count = pods_at(&term->table, domain);
			count += domain == term->empty_domain ? term->pods_without_label : 0;
		}
		sum += (double)count * term->weight + term->offset;
	}
	/* Half away from zero; sums stay far below 2^52. */
	int64_t whole = (int64_t)sum;
	double rest = sum - (double)whole;

	return whole + (rest >= 0.5) - (rest <= -0.5);
}

struct bt_status bt_spread_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct bt_spread_score_data *data = bt_plugin_pre_score_data(plugin, cycle);

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
	const struct bt_spread_score_data *data = bt_plugin_pre_score_data(plugin, cycle);
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
