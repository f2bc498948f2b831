/* SPDX-License-Identifier: Apache-2.0 */
/**
 * InterPodAffinity (PreFilter, Filter, PreScore, Score): affinity and anti-affinity between pods.
 * Spec: 06 section 3.
 */
#include <string.h>

#include "api/types.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/wrap.h"
#include "plugins/common_columns.h"
#include "plugins/common_hint_marks.h"
#include "plugins/common_sign.h"
#include "plugins/common_topology.h"
#include "plugins/in_tree.h"
#include "state/affinity_index.h"

struct affinity_plugin {
	struct bt_plain_plugin base;
	int32_t hard_weight; /* score weight of existing pods' required affinity terms */
	bool ignores_preferred_terms_of_existing_pods;
};

/** Details of Filter: the reason why a node is rejected. The detail of a node that passes is 0. */
enum {
	DETAIL_AFFINITY = 1,
	DETAIL_ANTI_AFFINITY = 2,
	DETAIL_EXISTING = 3,
};

/**
 * If a table has more than SOURCES_MAX + domains / DOMAINS_PER_SOURCE sources, the sources are
 * replaced by an array of the sums by domain.
 */
#define SOURCES_MAX 16
#define DOMAINS_PER_SOURCE 64

enum source_kind {
	SOURCE_TERM,
	SOURCE_COUNTER,
};

/** Find or create the table of a label column. BT_NO_TABLE if no node has the label. */
static uint32_t table_of_column(struct bt_affinity_tables *tables, struct bt_arena *arena,
	const struct bt_label_column *column)
{
	if (column == NULL || column->present_count == 0) {
		return BT_NO_TABLE;
	}
	for (uint32_t i = 0; i < tables->count; i++) {
		if (tables->items[i].column == column) {
			return i;
		}
	}
	bt_arena_push(arena, tables, (struct bt_affinity_table){.column = column});
	return tables->count - 1;
}

/** Reset all counts, but keep the tables. */
static void reset_tables(struct bt_affinity_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		tables->items[i] = (struct bt_affinity_table){.column = tables->items[i].column};
	}
	tables->entry_count = 0;
	tables->touched = false;
}

static int64_t *owned_numbers(struct bt_affinity_table *table, struct bt_arena *arena)
{
	if (table->own == NULL) {
		table->own = BT_ARENA_NEW_ARRAY(arena, int64_t, table->column->dictionary.count);
	}
	return table->own;
}

/** Add to sums[domain], for each domain, the source's count times the source's factor. */
static void add_source_to(
	const struct bt_affinity_source *source, int64_t *sums, uint32_t domain_count)
{
	bt_sparse_counts_add_to(source->pods, source->factor, sums, domain_count);
	sums[0] = 0; /* nodes without the label do not count */
}

static void add_source(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table_index, struct bt_affinity_source source, enum source_kind kind,
	uint64_t serial)
{
	struct bt_affinity_table *table = &tables->items[table_index];
	uint32_t domain_count = table->column->dictionary.count;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t query = bt_hash_u64(bt_hash_u64(i + UINT64_C(1), serial), kind);
		table->identity[i] += bt_hash_u64(query, (uint64_t)source.factor);
	}
	bt_arena_push(arena, &table->sources, source);
	if (tables->copies || table->own != NULL ||
		table->sources.count > SOURCES_MAX + domain_count / DOMAINS_PER_SOURCE) {
		/* Add up the sources and replace them by the sums. */
		int64_t *own = owned_numbers(table, arena);

		for (uint32_t i = 0; i < table->sources.count; i++) {
			add_source_to(&table->sources.items[i], own, domain_count);
		}
		table->sources.count = 0;
	}
}

/**
 * Sets sums[domain] to the table's count for each domain of its column. Changes of the cycle
 * (AddPod, RemovePod) are not included.
 */
static void sum_table(const struct bt_affinity_table *table, int64_t *sums)
{
	uint32_t count = table->column->dictionary.count;

	if (table->own != NULL) {
		memcpy(sums, table->own, count * sizeof(*sums));
	} else {
		memset(sums, 0, count * sizeof(*sums));
	}
	for (uint32_t i = 0; i < table->sources.count; i++) {
		add_source_to(&table->sources.items[i], sums, count);
	}
}

static const struct bt_str_map no_labels;

/** Returns the labels of the Namespace object; an empty map if the object does not exist. */
static const struct bt_str_map *find_namespace_labels(
	const struct bt_state *state, struct bt_str name)
{
	const struct bt_namespace *found =
		bt_object_store_find(&state->objects, BT_KIND_NAMESPACE, BT_STR(""), name);

	return found != NULL ? &found->metadata.labels : &no_labels;
}

/**
 * Expand the pod's terms of one affinity group. The tables of the terms are found in, or added to,
 * `tables`.
 */
static struct bt_incoming_terms expand_terms(struct bt_state *state, const struct bt_pod_info *pod,
	enum bt_affinity_group group, struct bt_affinity_tables *tables, struct bt_arena *arena)
{
	struct bt_affinity_term_list list = bt_affinity_group_of(pod->shape->affinity_terms, group);
	struct bt_incoming_terms terms = {.count = list.count};

	if (list.count == 0) {
		return terms;
	}
	terms.items = BT_ARENA_NEW_ARRAY(arena, struct bt_incoming_term, list.count);
	for (uint32_t i = 0; i < list.count; i++) {
		struct bt_incoming_term *incoming = &terms.items[i];
		const struct bt_affinity_term *term = &list.items[i];
		struct bt_str *names;

		incoming->term = term;
		incoming->table = table_of_column(
			tables, arena, bt_state_label_column(state, term->topology_key));
		/*
		 * Expand the namespaces. Upstream quirk, spec 06 section 3.4: a term matches the
		 * names to which its namespace selector was expanded, but also all namespaces if
		 * the selector matches an empty label map.
		 */
		incoming->in_every_namespace =
			bt_selector_matches(&term->namespace_selector, &no_labels);
		if (incoming->in_every_namespace) {
			continue;
		}
		if (term->in_own_namespace) {
			names = BT_ARENA_NEW(arena, struct bt_str);
			names[0] = pod->namespace_;
			incoming->namespaces = names;
			incoming->namespace_count = 1;
			continue;
		}
		incoming->namespaces = term->namespaces;
		incoming->namespace_count = term->namespace_count;
		if (term->namespace_selector.nothing) {
			continue;
		}
		names = BT_ARENA_NEW_ARRAY(arena, struct bt_str,
			(size_t)term->namespace_count +
				bt_object_store_count(&state->objects, BT_KIND_NAMESPACE));
		if (term->namespace_count != 0) {
			memcpy(names, term->namespaces, term->namespace_count * sizeof(*names));
		}
		incoming->namespaces = names;
		/* Append the names of the namespaces whose labels match the selector. */
		const struct bt_namespace *next;
		uint32_t cursor = 0;

		while ((next = bt_object_store_next(&state->objects, BT_KIND_NAMESPACE,
				(struct bt_str){0}, &cursor)) != NULL) {
			if (bt_selector_matches(
				    &term->namespace_selector, &next->metadata.labels)) {
				names[(incoming->namespace_count)++] = next->metadata.name;
			}
		}
	}
	return terms;
}

bool bt_incoming_term_matches(const struct bt_incoming_term *term, struct bt_str namespace_,
	const struct bt_str_map *labels)
{
	return (term->in_every_namespace ||
		       bt_str_is_among(namespace_, term->namespaces, term->namespace_count)) &&
		bt_selector_matches(&term->term->selector, labels);
}

/** Whether there are terms, and all of them match a pod with these labels in this namespace. */
static bool all_terms_match(const struct bt_incoming_terms *terms, struct bt_str namespace_,
	const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		if (!bt_incoming_term_matches(&terms->items[i], namespace_, labels)) {
			return false;
		}
	}
	return terms->count != 0;
}

/**
 * How the terms of a pod to be scheduled and of existing pods become counts. A term of an existing
 * pod that matches the pod counts fixed[group] + factors[group] x the term's weight in the tables
 * `existing`; groups for which both are 0 do not count.
 */
struct counting {
	struct bt_state *state;
	struct bt_arena *arena;
	const struct bt_pod_info *pod; /* the pod to be scheduled */
	const struct bt_str_map *namespace_labels;
	struct bt_affinity_tables *existing;
	int64_t fixed[BT_AFFINITY_GROUP__COUNT];
	int64_t factors[BT_AFFINITY_GROUP__COUNT];
	/* The visit of a node: its slot, and whether a what-if run changes the pods of the node. */
	uint32_t slot;
	bool is_change;
};

/**
 * Add a source to the table: the number of pods that match all of the terms, times factor. Returns
 * false if the state has no counter for the terms.
 */
static bool count_matching(const struct counting *counting, const struct bt_incoming_term *terms,
	uint32_t term_count, struct bt_affinity_tables *tables, uint32_t table, int64_t factor)
{
	struct bt_state *state = counting->state;
	struct bt_str key = bt_symbol_text(&state->symbols, tables->items[table].column->key);
	struct bt_counted_term counted[BT_COUNTED_TERMS_MAX];
	struct bt_counter_spec spec = {
		.term_count = term_count,
		.terms = counted,
		.nodes = {.topology_key = key, .label_count = 1, .labels = &key},
	};

	for (uint32_t i = 0; i < term_count; i++) {
		counted[i] = (struct bt_counted_term){
			.in_every_namespace = terms[i].in_every_namespace,
			.namespace_count = terms[i].namespace_count,
			.namespaces = terms[i].namespaces,
			.selector = &terms[i].term->selector,
		};
	}
	const struct bt_domain_counter *counter = bt_domain_counter_get(state, &spec);
	if (counter == NULL) {
		return false;
	}
	struct bt_domain_sums sums = bt_domain_counter_sums(counter);

	add_source(tables, counting->arena, table, (struct bt_affinity_source){sums.pods, factor},
		SOURCE_COUNTER, bt_domain_counter_serial(counter));
	tables->entry_count += sums.occupied_count;
	tables->touched = tables->touched || sums.pod_total != 0;
	return true;
}

/**
 * Count each of the pod's terms from a counter, with the factor fixed + factor x the term's weight.
 * Returns false if the nodes must be visited, because there are too many terms or no counters.
 */
static bool count_each(const struct counting *counting, const struct bt_incoming_terms *terms,
	struct bt_affinity_tables *tables, int64_t fixed, int64_t factor)
{
	bool counted = terms->count <= BT_COUNTED_TERMS_MAX;

	for (uint32_t i = 0; i < terms->count && counted; i++) {
		const struct bt_incoming_term *term = &terms->items[i];

		counted = term->table == BT_NO_TABLE ||
			count_matching(counting, term, 1, tables, term->table,
				fixed + factor * term->term->weight);
	}
	return counted;
}

static void add_hit(void *context, const struct bt_affinity_hit *hit)
{
	const struct counting *counting = context;
	struct bt_affinity_tables *tables = counting->existing;
	int64_t factor = counting->fixed[hit->group] + counting->factors[hit->group] * hit->weight;
	uint32_t table = table_of_column(tables, counting->arena, hit->column);

	if (table != BT_NO_TABLE) {
		add_source(tables, counting->arena, table,
			(struct bt_affinity_source){hit->pods, factor}, SOURCE_TERM, hit->serial);
		tables->entry_count += hit->pods->occupied_count;
		tables->touched = tables->touched || hit->pods->total != 0;
	}
}

/**
 * Count the terms of existing pods that match the pod, from the index of existing terms. Returns
 * false if the index may differ from the lists of the snapshot.
 */
static bool count_existing_by_index(struct counting *counting)
{
	const struct bt_affinity_index *index = bt_affinity_index_get(counting->state);
	uint32_t groups = 0;

	if (bt_affinity_index_has_unlisted(index)) {
		return false;
	}
	for (uint32_t group = 0; group < BT_AFFINITY_GROUP__COUNT; group++) {
		bool counts = counting->fixed[group] != 0 || counting->factors[group] != 0;
		groups |= (uint32_t)counts << group;
	}
	bt_affinity_index_find(index, groups, counting->pod->namespace_, counting->pod->labels,
		counting->namespace_labels, add_hit, counting);
	return true;
}

/** Add the number to the count of the visited node's domain. */
static void count_domain(const struct counting *counting, struct bt_affinity_tables *tables,
	uint32_t table_index, int64_t number)
{
	struct bt_affinity_table *table =
		table_index != BT_NO_TABLE ? &tables->items[table_index] : NULL;
	uint32_t domain = table != NULL ? bt_topology_domain(table->column, counting->slot) : 0;
	int64_t before;

	if (domain == 0) {
		return;
	}
	if (counting->is_change) {
		/* A what-if change after the counts were made. */
		before = bt_affinity_table_at(table, domain) +
			bt_domain_changes_add(
				&tables->changes, counting->arena, table_index, domain, number);
	} else {
		int64_t *own = owned_numbers(table, counting->arena);

		before = own[domain];
		own[domain] = bt_wrap_add(before, number);
		tables->touched = true;
	}
	tables->entry_count += (bt_wrap_add(before, number) != 0) - (before != 0);
}

/** Count those terms of another pod that match the pod. */
static void count_existing(const struct counting *counting, const struct bt_pod_info *other)
{
	for (uint32_t group = 0; group < BT_AFFINITY_GROUP__COUNT; group++) {
		int64_t fixed = counting->fixed[group];
		int64_t factor = counting->factors[group];
		struct bt_affinity_term_list list = {0};

		if (fixed != 0 || factor != 0) {
			list = bt_affinity_group_of(
				other->shape->affinity_terms, (enum bt_affinity_group)group);
		}
		for (uint32_t i = 0; i < list.count; i++) {
			const struct bt_affinity_term *term = &list.items[i];

			if (bt_affinity_term_matches(term, other->namespace_,
				    counting->pod->namespace_, counting->pod->labels,
				    counting->namespace_labels)) {
				count_domain(counting, counting->existing,
					table_of_column(counting->existing, counting->arena,
						bt_state_label_column(
							counting->state, term->topology_key)),
					fixed + factor * term->weight);
			}
		}
	}
}

/** For each of the terms that another pod matches, count fixed + factor x the term's weight. */
static void count_incoming(const struct counting *counting, const struct bt_pod_info *other,
	const struct bt_incoming_terms *terms, struct bt_affinity_tables *tables, int64_t fixed,
	int64_t factor)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct bt_incoming_term *term = &terms->items[i];

		if (bt_incoming_term_matches(term, other->namespace_, other->labels)) {
			count_domain(
				counting, tables, term->table, fixed + factor * term->term->weight);
		}
	}
}

/**
 * Count another pod for Filter, `step` times: the affinity terms if the pod matches all of them,
 * and each anti-affinity term that the pod matches.
 */
static void count_pod(const struct counting *counting, struct bt_affinity_filter_data *data,
	const struct bt_pod_info *other, int64_t step)
{
	if (all_terms_match(&data->affinity, other->namespace_, other->labels)) {
		for (uint32_t i = 0; i < data->affinity.count; i++) {
			count_domain(counting, &data->near, data->affinity.items[i].table, step);
		}
	}
	count_incoming(counting, other, &data->anti_affinity, &data->apart, step, 0);
}

/**
 * Count from counters and from the index of existing terms. Returns false if the nodes must be
 * visited for this pod; the tables must then be reset.
 */
static bool count_by_counters(struct counting *counting, struct bt_affinity_filter_data *data)
{
	const struct bt_incoming_terms *affinity = &data->affinity;

	if (affinity->count > BT_COUNTED_TERMS_MAX ||
		!count_each(counting, &data->anti_affinity, &data->apart, 1, 0) ||
		!count_existing_by_index(counting)) {
		return false;
	}
	/*
	 * Add a source only for the first term of each key. The factor of the source is the number
	 * of terms with that key.
	 */
	for (uint32_t i = 0; i < affinity->count; i++) {
		uint32_t table = affinity->items[i].table;
		int64_t factor = 0;

		for (uint32_t k = affinity->count; k-- > 0;) {
			bool is_same = affinity->items[k].table == table;
			factor = is_same && k < i ? 0 : factor + is_same;
		}
		if (factor != 0 && table != BT_NO_TABLE &&
			!count_matching(counting, affinity->items, affinity->count, &data->near,
				table, factor)) {
			return false;
		}
	}
	return true;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_affinity_terms *terms = pod->shape->affinity_terms;
	struct bt_state *state = bt_plugin_handle(plugin)->state;

	if (terms != NULL && terms->errors.length != 0) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, cycle->arena,
			"parsing pod: %.*s", BT_STR_ARG(terms->errors));
	}
	struct bt_affinity_filter_data *data =
		BT_ARENA_NEW(cycle->arena, struct bt_affinity_filter_data);
	struct bt_affinity_tables *const tables[] = {&data->near, &data->apart, &data->existing};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		tables[i]->copies = !cycle->borrows_counters;
	}
	data->affinity = expand_terms(state, pod, BT_AFFINITY_REQUIRED, &data->near, cycle->arena);
	data->anti_affinity =
		expand_terms(state, pod, BT_ANTI_AFFINITY_REQUIRED, &data->apart, cycle->arena);
	data->namespace_labels = find_namespace_labels(state, pod->namespace_);
	data->matches_itself = all_terms_match(&data->affinity, pod->namespace_, pod->labels);
	struct counting counting = {
		.state = state,
		.arena = cycle->arena,
		.pod = pod,
		.namespace_labels = data->namespace_labels,
		.existing = &data->existing,
		.fixed = {[BT_ANTI_AFFINITY_REQUIRED] = 1},
	};
	data->counted = !cycle->plain && count_by_counters(&counting, data);
	if (!data->counted) {
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
			reset_tables(tables[i]);
		}
		/*
		 * Count as spec 06 section 3.5 describes: visit every pod with anti-affinity and,
		 * if the pod to schedule has terms, every pod.
		 */
		const struct bt_snapshot *snapshot = &state->snapshot;
		const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(state);
		bool has_terms = data->affinity.count != 0 || data->anti_affinity.count != 0;
		struct bt_pod_info other;

		for (uint32_t n = 0; n < lists->anti_affinity.count; n++) {
			counting.slot = lists->anti_affinity.items[n];
			const struct bt_node_row *row = &state->nodes.rows[counting.slot];
			for (uint32_t i = 0; i < row->pods_with_required_anti_affinity.count; i++) {
				bt_pod_info_from_record(state,
					row->pods_with_required_anti_affinity.items[i], &other);
				count_existing(&counting, &other);
			}
		}
		for (uint32_t n = 0; has_terms && n < snapshot->count; n++) {
			counting.slot = bt_snapshot_list(snapshot)[n];
			const struct bt_node_row *row = &state->nodes.rows[counting.slot];
			for (uint32_t i = 0; i < row->pods.count; i++) {
				bt_pod_info_from_record(state, row->pods.items[i], &other);
				count_pod(&counting, data, &other, 1);
			}
		}
	}
	if (data->existing.entry_count == 0 && data->affinity.count == 0 &&
		data->anti_affinity.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	struct bt_affinity_filter_data *copy = BT_ARENA_NEW(arena, struct bt_affinity_filter_data);

	*copy = *(const struct bt_affinity_filter_data *)data;
	struct bt_affinity_tables *const tables[] = {&copy->near, &copy->apart, &copy->existing};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		tables[i]->changes = bt_domain_changes_clone(&tables[i]->changes, arena);
		/*
		 * Make the capacity equal to the count, so that adding a table reallocates the
		 * list. The original still uses the present list.
		 */
		tables[i]->capacity = tables[i]->count;
	}
	return copy;
}

static struct bt_status change_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t step)
{
	struct bt_affinity_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data != NULL) {
		const struct counting counting = {
			.state = bt_plugin_handle(plugin)->state,
			.arena = cycle->arena,
			.pod = pod,
			.namespace_labels = data->namespace_labels,
			.existing = &data->existing,
			.fixed = {[BT_ANTI_AFFINITY_REQUIRED] = step},
			.slot = node->slot,
			.is_change = true,
		};

		count_existing(&counting, other);
		count_pod(&counting, data, other, step);
	}
	return BT_STATUS_OK;
}

/** Whether the node is in a domain with a positive count. */
static bool has_positive_pair(const struct bt_affinity_tables *tables, uint32_t slot)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		uint32_t domain = bt_topology_domain(tables->items[i].column, slot);

		if (domain != 0 && bt_affinity_tables_at(tables, i, domain) > 0) {
			return true;
		}
	}
	return false;
}

/** Returns the reason why the node is rejected; 0: the node passes. */
static uint32_t detail_of_node(const struct bt_affinity_filter_data *data, uint32_t slot)
{
	bool is_satisfied = true;

	for (uint32_t i = 0; i < data->affinity.count; i++) {
		uint32_t table = data->affinity.items[i].table;
		uint32_t domain = table == BT_NO_TABLE
			? 0
			: bt_topology_domain(data->near.items[table].column, slot);

		if (domain == 0) {
			return DETAIL_AFFINITY;
		}
		is_satisfied =
			is_satisfied && bt_affinity_tables_at(&data->near, table, domain) > 0;
	}
	if (!is_satisfied && !bt_affinity_is_first_of_its_kind(data)) {
		return DETAIL_AFFINITY;
	}
	if (has_positive_pair(&data->apart, slot)) {
		return DETAIL_ANTI_AFFINITY;
	}
	return has_positive_pair(&data->existing, slot) ? DETAIL_EXISTING : 0;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_affinity_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreFilterInterPodAffinity\" from cycleState: not "
			       "found"));
	}
	uint32_t detail = detail_of_node(data, node->slot);
	return detail != 0 ? bt_plugin_rejection(plugin, detail) : BT_STATUS_OK;
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	uint32_t any = 0;

	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);

		detail[slot] = detail_of_node(data, slot);
		any |= detail[slot];
	}
	return any != 0;
}

/** Data that PreScore makes for Score. */
struct score_data {
	bool counted;                      /* computed from counters instead of by visiting nodes */
	struct bt_affinity_tables weights; /* M in spec 06 section 3.8 */
};

/** Whether the arguments exclude the pod from scoring, whatever terms other pods have. */
static bool never_scores(const struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_affinity_terms *terms = pod->shape->affinity_terms;

	return instance->ignores_preferred_terms_of_existing_pods &&
		(terms == NULL || !terms->has_preferred);
}

static struct score_data *create_score_data(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_affinity_terms *terms = pod->shape->affinity_terms;
	struct bt_state *state = bt_plugin_handle(plugin)->state;
	struct score_data *data = BT_ARENA_NEW(cycle->arena, struct score_data);
	struct bt_affinity_tables *weights = &data->weights;
	struct counting counting = {
		.state = state,
		.arena = cycle->arena,
		.pod = pod,
		.namespace_labels = find_namespace_labels(state, pod->namespace_),
		.existing = weights,
		.fixed = {[BT_AFFINITY_REQUIRED] = instance->hard_weight},
		.factors = {[BT_AFFINITY_PREFERRED] = 1, [BT_ANTI_AFFINITY_PREFERRED] = -1},
	};

	weights->copies = !cycle->borrows_counters;
	struct bt_incoming_terms near =
		expand_terms(state, pod, BT_AFFINITY_PREFERRED, weights, cycle->arena);
	struct bt_incoming_terms apart =
		expand_terms(state, pod, BT_ANTI_AFFINITY_PREFERRED, weights, cycle->arena);
	data->counted = !cycle->plain && count_existing_by_index(&counting) &&
		count_each(&counting, &near, weights, 0, 1) &&
		count_each(&counting, &apart, weights, 0, -1);
	if (!data->counted) {
		reset_tables(weights);
		/* Count as spec 06 section 3.8 describes. */
		bool has_preferred = terms != NULL && terms->has_preferred;
		const struct bt_snapshot *snapshot = &state->snapshot;
		uint32_t count = has_preferred ? snapshot->count : snapshot->affinity_count;
		const uint32_t *slots = has_preferred
			? bt_snapshot_list(snapshot)
			: bt_snapshot_affinity_lists(state)->affinity.items;

		for (uint32_t n = 0; n < count; n++) {
			const struct bt_node_row *row = &state->nodes.rows[slots[n]];
			const uint32_t *pods =
				has_preferred ? row->pods.items : row->pods_with_affinity.items;
			uint32_t pod_count =
				has_preferred ? row->pods.count : row->pods_with_affinity.count;
			struct bt_pod_info other;

			counting.slot = slots[n];
			for (uint32_t i = 0; i < pod_count; i++) {
				bt_pod_info_from_record(state, pods[i], &other);
				count_incoming(&counting, &other, &near, weights, 0, 1);
				count_incoming(&counting, &other, &apart, weights, 0, -1);
				count_existing(&counting, &other);
			}
		}
	}
	return data;
}

/**
 * Compute the data of PreScore in advance, and store it in the cycle. The pod must not have an
 * invalid term. Returns NULL if this cycle must not keep the data.
 */
static const struct score_data *prepare_score(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	void **kept = &cycle->pre_score_data[plugin->index];

	/*
	 * Do not keep the data if the cycle is plain or does not borrow counters, because PreScore
	 * may then run again after pods were added or removed.
	 */
	if (cycle->plain || !cycle->borrows_counters) {
		return NULL;
	}
	if (*kept == NULL) {
		*kept = create_score_data(plugin, cycle, pod);
	}
	return *kept;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const struct bt_affinity_terms *terms = pod->shape->affinity_terms;

	if (never_scores(plugin, pod)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	if (terms != NULL && terms->errors.length != 0) {
		return bt_status_error_text(cycle->arena,
			bt_arena_printf(cycle->arena, "failed to parse pod: %.*s",
				BT_STR_ARG(terms->errors)));
	}
	const struct score_data *data = prepare_score(plugin, cycle, pod);
	if (data == NULL) {
		struct score_data *fresh = create_score_data(plugin, cycle, pod);

		cycle->pre_score_data[plugin->index] = fresh;
		data = fresh;
	}
	return data->weights.touched ? BT_STATUS_OK : bt_status_code_only(BT_STATUS_SKIP);
}

static bool pre_score_skips(
	struct bt_plugin *plugin, const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_affinity_terms *terms = pod->shape->affinity_terms;

	if (terms != NULL && terms->errors.length != 0) {
		return false;
	}
	/* Skip if no term of the pod or of another pod can count. */
	if (never_scores(plugin, pod) ||
		((terms == NULL || !terms->has_preferred) &&
			bt_plugin_handle(plugin)->state->snapshot.affinity_count == 0)) {
		return true;
	}
	const struct score_data *data = prepare_score(plugin, cycle, pod);
	return data != NULL && !data->weights.touched;
}

static int64_t score_slot(const struct score_data *data, uint32_t slot)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < data->weights.count; i++) {
		const struct bt_affinity_table *table = &data->weights.items[i];
		/* The count of domain 0 is 0. */
		sum = bt_wrap_add(sum, bt_affinity_table_at(table, table->column->values[slot]));
	}
	return sum;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct score_data *data = cycle->pre_score_data[plugin->index];

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("failed to read \"PreScoreInterPodAffinity\" from cycleState: not "
			       "found"));
	}
	*out_score = score_slot(data, node->slot);
	return BT_STATUS_OK;
}

static void score_slots(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	const uint32_t *slots, uint32_t count, int64_t *scores)
{
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = score_slot(data, slots[i]);
	}
}

static struct bt_status normalize_score(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const uint32_t *slots, int64_t *scores, uint32_t count)
{
	int64_t low = INT64_MAX;
	int64_t high = INT64_MIN;

	for (uint32_t i = 0; i < count; i++) {
		low = scores[i] < low ? scores[i] : low;
		high = scores[i] > high ? scores[i] : high;
	}
	int64_t difference = bt_wrap_sub(high, low);
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * Divide, then multiply, then truncate. Spec 06 section 3.9 explains why the order
		 * matters.
		 */
		scores[i] = difference <= 0
			? 0
			: bt_trunc_to_i64((double)BT_SCORE_MAX *
				  ((double)bt_wrap_sub(scores[i], low) / (double)difference));
	}
	return BT_STATUS_OK;
}

/**
 * Context of the traits of a key whose label value is different on every node: the tables of the
 * key.
 */
struct trait_source {
	const struct bt_label_column *column;
	/* tables of near, apart and existing; NULL: no such table */
	const struct bt_affinity_table *filters[3];
	const struct bt_affinity_table *weights;
	struct bt_arena *arena; /* arena of the cycle */
};

/** Kind of a trait. The kind and the key are the first word of the trait's identity. */
enum trait_kind {
	TRAIT_FILTER = 1,
	TRAIT_WEIGHT,
};

static const struct bt_affinity_table *find_table(
	const struct bt_affinity_tables *tables, const struct bt_label_column *column)
{
	for (uint32_t i = 0; tables != NULL && i < tables->count; i++) {
		if (tables->items[i].column == column) {
			return &tables->items[i];
		}
	}
	return NULL;
}

/**
 * Returns the value of the filter trait. Filter depends only on whether the node has the label and
 * on which of the counts are positive.
 */
static uint64_t filter_value(const void *context, uint32_t slot)
{
	const struct trait_source *source = context;
	uint32_t domain = source->column->values[slot];

	if (domain == 0) {
		return 0;
	}
	uint32_t value = 1;
	uint32_t bit = 2;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(source->filters); i++) {
		const struct bt_affinity_table *table = source->filters[i];
		value |= table != NULL && bt_affinity_table_at(table, domain) > 0 ? bit : 0;
		bit <<= table != NULL;
	}
	return value;
}

/**
 * Maximum number of domains to compare one by one. If there are more, sum_table computes the counts
 * of all domains.
 */
#define LISTED_MAX 6

/**
 * List the domains for which the table may have a count other than 0. The list may contain domain
 * 0, and may contain a domain twice. Returns false if the list would be longer than LISTED_MAX, or
 * if the table has the array `own`.
 */
static bool list_domains(
	const struct bt_affinity_table *table, uint32_t out[LISTED_MAX], uint32_t *out_count)
{
	uint32_t count = 0;

	if (table->own != NULL) {
		return false;
	}
	for (uint32_t i = 0; i < table->sources.count; i++) {
		const struct bt_sparse_counts *pods = table->sources.items[i].pods;
		struct bt_sparse_entry entry;

		if (pods->occupied_count > LISTED_MAX - count) {
			return false;
		}
		for (uint32_t cursor = 0; bt_sparse_counts_next(pods, &cursor, &entry);) {
			out[count++] = entry.index;
		}
	}
	*out_count = count;
	return true;
}

/** Set the bit in values[slot] for each slot whose domain has a positive count in the table. */
static void add_bit(const struct trait_source *source, const struct bt_affinity_table *table,
	uint32_t bit, uint32_t slot_count, uint32_t *restrict values)
{
	const uint32_t *restrict domains = source->column->values;
	uint32_t listed[LISTED_MAX];
	uint32_t count;

	if (list_domains(table, listed, &count)) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t wanted = listed[i];
			if (wanted == 0 || bt_affinity_table_at(table, wanted) <= 0) {
				continue;
			}
			for (uint32_t slot = 0; slot < slot_count; slot++) {
				values[slot] |= domains[slot] == wanted ? bit : 0;
			}
		}
		return;
	}
	int64_t *sums =
		bt_arena_alloc(source->arena, source->column->dictionary.count * sizeof(*sums));
	sum_table(table, sums);
	sums[0] = 0;
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] |= sums[domains[slot]] > 0 ? bit : 0;
	}
}

/** Set values to the filter_value of all slots. */
static void filter_values(const void *context, uint32_t slot_count, uint32_t *restrict values)
{
	const struct trait_source *source = context;
	const uint32_t *restrict domains = source->column->values;
	uint32_t bit = 2;

	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = domains[slot] != 0;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(source->filters); i++) {
		if (source->filters[i] != NULL) {
			add_bit(source, source->filters[i], bit, slot_count, values);
			bit <<= 1;
		}
	}
}

static uint64_t weight_value(const void *context, uint32_t slot)
{
	const struct trait_source *source = context;

	return (uint64_t)bt_affinity_table_at(source->weights, source->column->values[slot]);
}

/** Size of the hash table that gives each distinct sum an index; a power of two. */
#define SUM_TABLE_SIZE 1024

struct numbered_sum {
	int64_t sum;
	uint32_t number; /* index of the sum plus 1; 0: the entry is free */
};

/**
 * Set values that differ for slots whose weight_value differs. The value of a slot is the index of
 * its sum among the distinct sums. If there are too many distinct sums, each domain with a further
 * sum gets a value of its own.
 */
static void weight_values(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct trait_source *source = context;
	uint32_t domain_count = source->column->dictionary.count;
	int64_t *sums = bt_arena_alloc(source->arena, domain_count * sizeof(*sums));
	uint32_t *numbers = bt_arena_alloc(source->arena, domain_count * sizeof(*numbers));
	struct numbered_sum *table =
		BT_ARENA_NEW_ARRAY(source->arena, struct numbered_sum, SUM_TABLE_SIZE);
	uint32_t count = 0;

	sum_table(source->weights, sums);
	sums[0] = bt_affinity_table_at(source->weights, 0);
	for (uint32_t domain = 0; domain < domain_count; domain++) {
		uint32_t at = (uint32_t)bt_hash_u64(0, (uint64_t)sums[domain]) % SUM_TABLE_SIZE;

		while (table[at].number != 0 && table[at].sum != sums[domain]) {
			at = (at + 1) % SUM_TABLE_SIZE;
		}
		if (table[at].number == 0 && count < SUM_TABLE_SIZE / 2) {
			table[at] = (struct numbered_sum){sums[domain], ++count};
		}
		numbers[domain] =
			table[at].number != 0 ? table[at].number - 1 : SUM_TABLE_SIZE + domain;
	}
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = numbers[source->column->values[slot]];
	}
}

/** Add the trait that reads these tables; NULL: no such table. Without tables there is no trait. */
static void add_value_trait(struct bt_trait_list *out, const struct trait_source *source,
	enum trait_kind kind, const struct bt_affinity_table *const *tables, uint32_t table_count)
{
	struct bt_node_trait trait = {
		.identity = {(uint64_t)kind << 32 | source->column->key.id, 1, 2},
		.reads = BT_CHANGE_PODS | BT_CHANGE_AFFINITY_PODS | BT_CHANGE_LABELS |
			BT_CHANGE_EXISTENCE,
		.value = kind == TRAIT_FILTER ? filter_value : weight_value,
		.column = kind == TRAIT_FILTER ? filter_values : weight_values,
		.context = source,
	};
	bool any = false;

	for (uint32_t i = 0; i < table_count; i++) {
		any |= tables[i] != NULL;
		for (uint32_t word = 0; word < 2; word++) {
			trait.identity[word + 1] = bt_hash_u64(trait.identity[word + 1],
				tables[i] != NULL ? tables[i]->identity[word] : i);
		}
	}
	if (any) {
		bt_arena_push(out->arena, out, trait);
	}
}

/**
 * Add the traits of one key. tables: near, apart, existing and weights; NULL: there are no such
 * tables.
 */
static void add_key(struct bt_trait_list *out, const struct bt_label_column *column,
	const struct bt_affinity_tables *const *tables)
{
	if (!bt_label_column_is_unique(column)) {
		bt_topology_add_domain_trait(out, column);
		return;
	}
	struct trait_source *source = BT_ARENA_NEW(out->arena, struct trait_source);
	*source = (struct trait_source){
		.column = column,
		.filters = {find_table(tables[0], column), find_table(tables[1], column),
			find_table(tables[2], column)},
		.weights = find_table(tables[3], column),
		.arena = out->arena,
	};
	add_value_trait(
		out, source, TRAIT_FILTER, source->filters, BT_ARRAY_LENGTH(source->filters));
	add_value_trait(out, source, TRAIT_WEIGHT, &source->weights, 1);
}

static bool cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	const struct bt_affinity_filter_data *filter = cycle->pre_filter_data[plugin->index];
	const struct bt_affinity_tables *tables[4] = {0};

	if (filter != NULL) {
		tables[0] = &filter->near;
		tables[1] = &filter->apart;
		tables[2] = &filter->existing;
	}
	if (filter != NULL && !filter->counted) {
		return false;
	}
	if (never_scores(plugin, pod)) {
		if (!cycle->borrows_counters) {
			return false;
		}
	} else {
		const struct score_data *score = prepare_score(plugin, cycle, pod);
		if (score == NULL || !score->counted) {
			return false;
		}
		tables[3] = &score->weights;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		uint32_t count = tables[i] != NULL ? tables[i]->count : 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct bt_label_column *column = tables[i]->items[k].column;
			bool is_known = false;

			for (uint32_t before = 0; before < i; before++) {
				is_known = is_known || find_table(tables[before], column) != NULL;
			}
			if (!is_known) {
				add_key(out, column, tables);
			}
		}
	}
	return true;
}

/*
 * Queueing hints, spec 06 section 3.12: terms are not expanded, and are matched with an empty map
 * of namespace labels.
 */

/** Whether there are terms, and all of them match a pod with these labels in this namespace. */
static bool all_match(struct bt_affinity_term_list terms, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < terms.count; i++) {
		if (!bt_affinity_term_matches(
			    &terms.items[i], owner_namespace, namespace_, labels, &no_labels)) {
			return false;
		}
	}
	return terms.count != 0;
}

static bool all_match_pod(struct bt_affinity_term_list terms, const struct bt_pod_info *owner,
	const struct bt_pod *other)
{
	return all_match(
		terms, owner->namespace_, other->metadata.namespace_, &other->metadata.labels);
}

static bool fail_to_parse(const struct bt_affinity_terms *terms, struct berth_error *err)
{
	(void)bt_error_set(err, BERTH_ERR_INVALID, "%.*s",
		BT_STR_ARG(terms->errors)); /* the hint is Queue in any case */
	return true;
}

static bool after_pod_change(const struct bt_hint_call *call)
{
	const struct bt_affinity_terms *terms = call->pod->shape->affinity_terms;
	const struct bt_pod *old_pod = call->old_object;
	const struct bt_pod *new_pod = call->new_object;

	if (old_pod != NULL && new_pod != NULL &&
		bt_str_equal(new_pod->metadata.uid, call->pod->uid)) {
		return true;
	}
	if ((old_pod != NULL && !bt_plugin_pod_is_placed(old_pod)) ||
		(new_pod != NULL && !bt_plugin_pod_is_placed(new_pod))) {
		return false;
	}
	if (terms != NULL && terms->errors.length != 0) {
		return fail_to_parse(terms, call->err);
	}
	struct bt_affinity_term_list near = bt_affinity_group_of(terms, BT_AFFINITY_REQUIRED);
	struct bt_affinity_term_list apart = bt_affinity_group_of(terms, BT_ANTI_AFFINITY_REQUIRED);
	bool helps;

	if (old_pod == NULL) {
		helps = all_match_pod(near, call->pod, new_pod);
	} else if (new_pod == NULL) {
		/*
		 * Anti-affinity between the deleted pod and the waiting pod may have rejected the
		 * waiting pod.
		 */
		struct bt_arena arena = {0};
		const struct bt_affinity_terms *deleted =
			bt_affinity_terms_parse(&old_pod->spec, &arena);

		helps = all_match_pod(apart, call->pod, old_pod) ||
			all_match(deleted->groups[BT_ANTI_AFFINITY_REQUIRED],
				old_pod->metadata.namespace_, call->pod->namespace_,
				call->pod->labels);
		bt_arena_finish(&arena);
	} else {
		helps = (!all_match_pod(near, call->pod, old_pod) &&
				all_match_pod(near, call->pod, new_pod)) ||
			(all_match_pod(apart, call->pod, old_pod) &&
				!all_match_pod(apart, call->pod, new_pod));
	}
	return helps;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_affinity_terms *terms = call->pod->shape->affinity_terms;
	struct bt_affinity_term_list near = bt_affinity_group_of(terms, BT_AFFINITY_REQUIRED);
	struct bt_affinity_term_list apart = bt_affinity_group_of(terms, BT_ANTI_AFFINITY_REQUIRED);

	if (terms != NULL && terms->errors.length != 0) {
		return fail_to_parse(terms, call->err);
	}
	/* Compare the value of each topology key on the old and the new version of the node. */
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;
	for (uint32_t i = 0; i < near.count + apart.count; i++) {
		bool is_near = i < near.count;
		struct bt_str key = is_near ? near.items[i].topology_key
					    : apart.items[i - near.count].topology_key;
		const struct bt_str *before =
			old_node != NULL ? bt_str_map_find(&old_node->metadata.labels, key) : NULL;
		const struct bt_str *after = bt_str_map_find(&new_node->metadata.labels, key);
		bool differs = before != NULL && after != NULL && !bt_str_equal(*before, *after);

		if (differs || (is_near && before == NULL && after != NULL) ||
			(!is_near && (old_node == NULL || (before != NULL && after == NULL)))) {
			return true;
		}
	}
	return false;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL | BT_ACTION_DELETE},
		after_pod_change},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, after_node_change},
};

static enum bt_hint_scope affinity_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_shape *shape, const struct bt_cluster_event *event,
	const void *old_object, const void *new_object)
{
	const struct bt_pod *deleted = old_object;

	if (bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_NODE)) {
		return BT_HINT_SCOPE_SHAPE;
	}
	/* The labels of the waiting pod matter only if the deleted pod had anti-affinity. */
	return new_object == NULL && deleted->spec.affinity != NULL &&
			deleted->spec.affinity->pod_anti_affinity != NULL
		? BT_HINT_SCOPE_LABELS
		: BT_HINT_SCOPE_NAMESPACE;
}

static void hint_wants(
	struct bt_plugin *plugin, const struct bt_shape *shape, struct bt_hint_wants *wants)
{
	static const enum bt_affinity_group groups[] = {
		BT_AFFINITY_REQUIRED, BT_ANTI_AFFINITY_REQUIRED};
	const struct bt_symbol_table *symbols = &bt_plugin_handle(plugin)->state->symbols;
	const struct bt_affinity_terms *terms = shape->affinity_terms;

	if (terms != NULL && terms->errors.length != 0) {
		bt_hint_want(wants, BT_HINT_MARK_ALWAYS);
		return;
	}
	for (uint32_t g = 0; g < BT_ARRAY_LENGTH(groups); g++) {
		struct bt_affinity_term_list list = bt_affinity_group_of(terms, groups[g]);

		/* A pod must match all terms to help, so the marks of the first term are enough. */
		if (list.count != 0) {
			bt_hint_want_pods(wants, &list.items[0].selector, symbols);
		}
		for (uint32_t i = 0; i < list.count; i++) {
			bt_hint_want(wants,
				bt_hint_mark(
					BT_MARK_NODE_KEY, list.items[i].topology_key, BT_STR("")));
		}
	}
}

/**
 * Offer marks for the event. Returns false if the event may help pods without such marks: a new
 * node may help any pod, and the deletion of a pod with anti-affinity may help all pods that its
 * terms match.
 */
static bool hint_offers(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	const void *old_object, const void *new_object, struct bt_hint_offers *offers)
{
	const struct bt_pod *deleted = old_object;

	if (bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_NODE)) {
		if (old_object == NULL) {
			return false;
		}
		bt_hint_offer_changed_keys(offers, old_object, new_object);
		return true;
	}
	bt_hint_offer_pods(offers, old_object, new_object);
	return new_object != NULL || deleted->spec.affinity == NULL ||
		deleted->spec.affinity->pod_anti_affinity == NULL;
}

/* Sign the labels, because terms of existing pods can match the pod by its labels. */
static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	const struct affinity_plugin *instance = bt_plugin_instance(plugin);
	struct bt_strbuf value = {0};

	if (pod->shape->has_affinity) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_INTER_POD_AFFINITY);
	}
	if (instance->ignores_preferred_terms_of_existing_pods) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < pod->labels->count; i++) {
		bt_sign_write_str(&value, pod->labels->items[i].key);
		bt_sign_write_str(&value, pod->labels->items[i].value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Labels"), &value);
	return BT_STATUS_OK;
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct affinity_plugin *instance = (struct affinity_plugin *)(void *)plugin;

	instance->hard_weight = args->inter_pod_affinity.hard_pod_affinity_weight.present
		? args->inter_pod_affinity.hard_pod_affinity_weight.value
		: 1;
	instance->ignores_preferred_terms_of_existing_pods =
		args->inter_pod_affinity.ignore_preferred_terms_of_existing_pods;
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.hint_scope_of = affinity_hint_scope,
	.hint_wants = hint_wants,
	.hint_offers = hint_offers,
	.pre_score_skips = pre_score_skips,
	.columns_per_cycle = true,
	.filter_column = filter_column,
	.rejections =
		{
			[DETAIL_AFFINITY - 1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_POD_AFFINITY},
			[DETAIL_ANTI_AFFINITY - 1] = {BT_STATUS_UNSCHEDULABLE,
				BT_REASON_POD_ANTI_AFFINITY},
			[DETAIL_EXISTING - 1] = {BT_STATUS_UNSCHEDULABLE,
				BT_REASON_EXISTING_ANTI_AFFINITY},
		},
	.score_slots = score_slots,
	.cell_traits = cell_traits,
};

const struct bt_plugin_ops bt_inter_pod_affinity_plugin = {
	.name = "InterPodAffinity",
	.size = sizeof(struct affinity_plugin),
	.args_kind = BT_ARGS_INTER_POD_AFFINITY,
	.args_error = "want args to be of type",
	.init = init,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.pre_filter_change_pod = change_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = normalize_score,
};
