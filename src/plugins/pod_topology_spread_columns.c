/* SPDX-License-Identifier: Apache-2.0 */
/* PodTopologySpread's Filter over many nodes, and what tells nodes apart for it. Spec: 06 sections
 * 2.9 and 2.16. */
#include "base/alloc.h"
#include "plugins/common_columns.h"
#include "plugins/pod_topology_spread.h"

/* --- Filter --- */

/** Slots of a range that no earlier constraint has rejected are judged by domain. */
struct judged_constraint {
	const struct bt_spread_filter_data *data;
	uint32_t index;
	const struct bt_label_column *column;
	int64_t highest;
};

static uint32_t judge_domain(const struct judged_constraint *judged, uint32_t domain)
{
	if (domain == 0) {
		return BT_SPREAD_NO_LABEL;
	}
	return bt_spread_count_at(judged->data, judged->index, domain) > judged->highest
		? BT_SPREAD_SKEW
		: 0;
}

static bool judge_listed(
	const struct judged_constraint *judged, struct bt_slot_range range, uint32_t *detail)
{
	uint32_t any = 0;

	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = range.slots[k];

		if (detail[slot] == 0) {
			detail[slot] = judge_domain(judged, judged->column->values[slot]);
		}
		any |= detail[slot];
	}
	return any != 0;
}

/**
 * Every domain is one node, so that nodes without matching pods count none: only the others are
 * looked at.
 */
static bool judge_unique(
	const struct judged_constraint *judged, uint32_t slot_count, uint32_t *detail)
{
	const struct bt_sparse_counts *own = &judged->data->limits[judged->index].table.sums.own;
	bool any;

	const uint32_t *values = judged->column->values;

	if (judged->column->present_count == slot_count) {
		any = false;
	} else {
		for (uint32_t k = 0; k < slot_count; k++) {
			detail[k] =
				detail[k] == 0 && values[k] == 0 ? BT_SPREAD_NO_LABEL : detail[k];
		}
		any = true;
	}

	for (uint32_t page = 0; page < own->page_count; page++) {
		uint32_t first = page * BT_COUNTS_PAGE;

		for (uint32_t i = 0; own->pages[page] != NULL && i < BT_COUNTS_PAGE; i++) {
			uint32_t slot = first + i;

			if (own->pages[page][i] != 0 && slot < slot_count && detail[slot] == 0) {
				detail[slot] = judge_domain(judged, judged->column->values[slot]);
				any = any || detail[slot] != 0;
			}
		}
	}
	return any;
}

static bool judge_all(const struct judged_constraint *judged, struct bt_spread_plugin *instance,
	uint32_t slot_count, uint32_t *detail)
{
	const struct bt_label_column *column = judged->column;
	uint32_t domains = column->dictionary.count;
	uint8_t *verdicts;
	uint32_t rejected = column->present_count != slot_count;
	uint32_t any = 0;

	bt_vec_reserve(&instance->verdicts, domains);
	verdicts = instance->verdicts.items;
	verdicts[0] = BT_SPREAD_NO_LABEL;
	for (uint32_t domain = 1; domain < domains; domain++) {
		verdicts[domain] = (uint8_t)judge_domain(judged, domain);
		rejected |= verdicts[domain];
	}
	for (uint32_t slot = 0; rejected != 0 && slot < slot_count; slot++) {
		uint32_t verdict = verdicts[column->values[slot]];

		detail[slot] = detail[slot] != 0 ? detail[slot] : verdict;
		any |= detail[slot];
	}
	return any != 0;
}

bool bt_spread_filter_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct bt_spread_filter_data *counted = data;
	bool any = false;

	bt_fill_slots(range, detail, 0);
	for (uint32_t i = 0; i < counted->list.count; i++) {
		struct judged_constraint judged = {
			.data = counted, .index = i, .column = counted->list.items[i].column};

		if (judged.column == NULL) {
			for (uint32_t k = 0; k < range.count; k++) {
				uint32_t *at = &detail[bt_slot_at(range, k)];
				*at = *at != 0 ? *at : BT_SPREAD_NO_LABEL;
			}
			return range.count != 0;
		}
		judged.highest = bt_spread_highest_count(counted, i);
		if (range.slots != NULL) {
			any = judge_listed(&judged, range, detail) || any;
		} else if (judged.data->limits[judged.index].table.counts == NULL &&
			judged.data->changes.count == 0 && judged.highest >= 0 &&
			bt_label_column_is_unique(judged.column)) {
			any = judge_unique(&judged, range.count, detail) || any;
		} else {
			any = judge_all(&judged, bt_spread_instance(plugin), range.count, detail) ||
				any;
		}
	}
	return any;
}

/* --- cells --- */

/** What a trait of a counter names beside the counter. */
enum trait_kind {
	TRAIT_DOMAIN_PODS = 1, /* pods of the slot's domain, which is the slot's alone */
	TRAIT_OWN_PODS,
};

/** Values of both: 0 without the label, else the count and 1. */
struct count_source {
	const struct bt_label_column *column;
	struct bt_domain_sums sums;
};

static uint64_t domain_pods(const void *context, uint32_t slot)
{
	const struct count_source *source = context;
	uint32_t domain = source->column->values[slot];

	return domain == 0 ? 0 : bt_domain_pods(&source->sums, domain) + UINT64_C(1);
}

static uint64_t own_pods(const void *context, uint32_t slot)
{
	const struct count_source *source = context;

	return source->column->values[slot] == 0 ? 0
						 : bt_domain_own(&source->sums, slot) + UINT64_C(1);
}

static void own_pods_column(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct count_source *source = context;
	const struct bt_sparse_counts *own = &source->sums.own;

	for (uint32_t first = 0; first < slot_count; first += BT_COUNTS_PAGE) {
		uint32_t index = first / BT_COUNTS_PAGE;
		const uint32_t *page = index < own->page_count ? own->pages[index] : NULL;
		uint32_t left = slot_count - first;
		uint32_t count = left < BT_COUNTS_PAGE ? left : BT_COUNTS_PAGE;

		for (uint32_t i = 0; i < count; i++) {
			values[first + i] = page != NULL ? page[i] + 1 : 1;
		}
	}
	const struct bt_label_column *column = source->column;
	for (uint32_t slot = 0; column->present_count != slot_count && slot < slot_count; slot++) {
		values[slot] = column->values[slot] != 0 ? values[slot] : 0;
	}
}

/** A domain is one node: without pods of the slot it has none. */
static void domain_pods_column(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct count_source *source = context;

	own_pods_column(context, slot_count, values);
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		if (values[slot] > 1) {
			values[slot] = (uint32_t)domain_pods(source, slot);
		}
	}
}

static void add_count_trait(struct bt_trait_list *out, const struct bt_label_column *column,
	const struct bt_spread_table *table, enum trait_kind kind)
{
	struct count_source *source = BT_ARENA_NEW(out->arena, struct count_source);
	struct bt_node_trait trait = {
		.identity = {table->serial, kind},
		.reads = BT_CHANGE_PODS | BT_CHANGE_LABELS | BT_CHANGE_TAINTS | BT_CHANGE_EXISTENCE,
		.value = kind == TRAIT_OWN_PODS ? own_pods : domain_pods,
		.column = kind == TRAIT_OWN_PODS ? own_pods_column : domain_pods_column,
		.context = source,
	};

	*source = (struct count_source){column, table->sums};
	bt_trait_list_add(out, &trait);
}

static bool add_filter_traits(const struct bt_spread_filter_data *data, struct bt_trait_list *out)
{
	if (data->changes.count != 0) {
		return false;
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		const struct bt_label_column *column = data->list.items[i].column;
		const struct bt_spread_table *table = &data->limits[i].table;

		if (table->counts != NULL) {
			return false;
		}
		if (column == NULL) {
			continue; /* no node can pass */
		}
		if (bt_label_column_is_unique(column)) {
			add_count_trait(out, column, table, TRAIT_DOMAIN_PODS);
		} else {
			bt_topology_add_domain_trait(out, column);
		}
	}
	return true;
}

bool bt_spread_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	const struct bt_spread_filter_data *filter = bt_plugin_pre_filter_data(plugin, cycle);
	struct bt_spread_score_data *score = NULL;

	if (cycle->plain || !cycle->borrows_counters ||
		(filter != NULL && !add_filter_traits(filter, out))) {
		return false;
	}
	if (!bt_spread_prepare_score(plugin, cycle, pod, &score)) {
		return false;
	}
	bt_plugin_set_pre_score_data(plugin, cycle, score);
	if (score != NULL) {
		for (uint32_t i = 0; i < score->count; i++) {
			const struct bt_spread_term *term = &score->terms[i];

			if (term->column == NULL) {
				continue;
			}
			if (term->is_hostname) {
				add_count_trait(out, term->column, &term->table, TRAIT_OWN_PODS);
			} else if (bt_label_column_is_unique(term->column) &&
				term->empty_domain == 0) {
				add_count_trait(out, term->column, &term->table, TRAIT_DOMAIN_PODS);
			} else {
				/* A node without the label may share a domain with one that has it.
				 */
				bt_topology_add_domain_trait(out, term->column);
			}
		}
	}
	return true;
}
