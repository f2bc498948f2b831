/* SPDX-License-Identifier: Apache-2.0 */
/* Matching pods by domain: by walking over the nodes, or from the kept counters. Spec: 06 sections
 * 2.5 and 2.6. */
#include "api/toleration.h"
#include "plugins/common_plugin.h"
#include "plugins/common_spread.h"
#include "plugins/common_topology.h"

/* --- counting --- */

bool bt_spread_has_all_keys(const struct bt_spread_list *list, uint32_t slot)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_topology_domain(list->items[i].column, slot) == 0) {
			return false;
		}
	}
	return true;
}

bool bt_spread_counts_node(const struct bt_spread_list *list, uint32_t index,
	const struct bt_state *state, uint32_t slot)
{
	const struct bt_spread_constraint *constraint = &list->items[index];
	const struct bt_node_table *nodes = &state->nodes;

	if (constraint->honors_affinity &&
		!bt_required_node_affinity_matches(&list->affinity, bt_node_table_name(nodes, slot),
			&nodes->rows[slot].labels, NULL, NULL)) {
		return false;
	}
	return !constraint->honors_taints ||
		bt_find_untolerated_taint(bt_node_table_taints(nodes, slot), list->tolerations,
			BT_TAINT_HARD, list->allow_comparison) == NULL;
}

int64_t bt_spread_count_pods(const struct bt_state *state, const struct bt_selector *selector,
	bt_sym namespace_, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	int64_t count = 0;

	if (bt_selector_is_empty(selector)) {
		return 0;
	}
	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);

		count += !record->terminating && bt_sym_equal(record->namespace_, namespace_) &&
			bt_selector_matches(
				selector, &state->label_sets.sets.items[record->label_set].labels);
	}
	return count;
}

/* --- counters --- */

/** The pod's affinity as far as eligibility reads it; NULL: it has none. */
static const struct bt_pod_spec *affinity_of(const struct bt_spread_list *list,
	const struct bt_spread_constraint *constraint, const struct bt_pod_spec *spec)
{
	bool has = list->affinity.has_affinity || spec->node_selector.count != 0;

	return constraint->honors_affinity && has ? spec : NULL;
}

/** Keys of the list but the constraint's own; each once. */
static uint32_t other_keys(
	const struct bt_spread_list *list, uint32_t index, struct bt_str *out_keys)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		bool known =
			bt_str_equal(list->items[i].topology_key, list->items[index].topology_key);

		for (uint32_t n = 0; n < count && !known; n++) {
			known = bt_str_equal(list->items[i].topology_key, out_keys[n]);
		}
		if (!known) {
			out_keys[count++] = list->items[i].topology_key;
		}
	}
	return count;
}

bool bt_spread_count(struct bt_state *state, const struct bt_spread_list *list, uint32_t index,
	const struct bt_pod_info *pod, bool with_all_keys, struct bt_spread_table *out_table)
{
	const struct bt_spread_constraint *constraint = &list->items[index];
	struct bt_counted_term term = {.namespace_count = 1,
		.namespaces = &pod->namespace_,
		.selector = &constraint->selector};
	struct bt_str keys[BT_COUNTED_TERMS_MAX];
	struct bt_eligibility_spec nodes = {
		.topology_key = constraint->topology_key,
		.labels = keys,
		.affinity_of = affinity_of(list, constraint, bt_plugin_pod_spec(pod)),
		.tolerations_of = constraint->honors_taints ? list->tolerations : NULL,
		.allow_comparison = list->allow_comparison,
	};
	struct bt_counter_spec spec = {.terms = &term, .live_only = true};
	const struct bt_domain_counter *counter;

	if (list->count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	nodes.label_count = with_all_keys ? other_keys(list, index, keys) : 0;
	spec.nodes = nodes;
	spec.term_count = !constraint->selector.nothing && !bt_selector_is_empty(term.selector);
	counter = bt_domain_counter_get(state, &spec);
	if (counter == NULL) {
		return false;
	}
	*out_table = (struct bt_spread_table){
		.size = constraint->column != NULL ? constraint->column->dictionary.count : 1,
		.sums = bt_domain_counter_sums(counter),
		.serial = bt_domain_counter_serial(counter),
	};
	return true;
}

void bt_spread_table_init(struct bt_spread_table *table, const struct bt_label_column *column,
	int64_t value, struct bt_arena *arena)
{
	*table = (struct bt_spread_table){.size = column != NULL ? column->dictionary.count : 1};
	table->counts = bt_arena_alloc(arena, table->size * sizeof(*table->counts));
	for (uint32_t i = 0; i < table->size; i++) {
		table->counts[i] = value;
	}
}

void bt_spread_table_own(struct bt_spread_table *table, struct bt_arena *arena)
{
	int64_t *counts = bt_arena_alloc(arena, table->size * sizeof(*counts));

	for (uint32_t i = 0; i < table->size; i++) {
		counts[i] = bt_spread_table_at(table, i);
	}
	*table = (struct bt_spread_table){.counts = counts, .size = table->size};
}
