/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/types.h"
#include "plugins/inter_pod_affinity.h"
#include "state/affinity_index.h"
#include "state/domain_counter.h"

/** A table with more sources than this, and one for so many domains, adds them up once. */
#define SOURCES_MAX 16
#define DOMAINS_PER_SOURCE 64

enum source_kind {
	SOURCE_TERM,
	SOURCE_COUNTER,
};

static uint32_t affinity_table_of_column(struct bt_affinity_tables *tables, struct bt_arena *arena,
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
	if (tables->count == tables->capacity) {
		uint32_t capacity = tables->capacity * 2 + 2;
		struct bt_affinity_table *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_table, capacity);
		if (tables->count != 0) {
			memcpy(items, tables->items, tables->count * sizeof(*items));
		}
		tables->items = items;
		tables->capacity = capacity;
	}
	tables->items[tables->count] = (struct bt_affinity_table){.column = column};
	return tables->count++;
}

uint32_t bt_affinity_table_of_key(struct bt_affinity_tables *tables, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key)
{
	return affinity_table_of_column(tables, arena, bt_state_label_column(state, key));
}

void bt_affinity_tables_reset(struct bt_affinity_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		tables->items[i] = (struct bt_affinity_table){.column = tables->items[i].column};
	}
	tables->entry_count = 0;
	tables->touched = false;
}

/* --- counting --- */

static int64_t *own_numbers(struct bt_affinity_table *table, struct bt_arena *arena)
{
	if (table->own == NULL) {
		table->own = BT_ARENA_NEW_ARRAY(arena, int64_t, table->column->dictionary.count);
	}
	return table->own;
}

void bt_affinity_table_count(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	int64_t *number = &own_numbers(&tables->items[table], arena)[domain];
	int64_t before = *number;

	/* Wraps as upstream's int64 for absurd weights. */
	*number = (int64_t)((uint64_t)before + (uint64_t)delta);
	tables->entry_count += (*number != 0) - (before != 0);
	tables->touched = true;
}

static void add_page(const uint32_t *page, uint64_t factor, int64_t *sums, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sums[i] = (int64_t)((uint64_t)sums[i] + factor * page[i]);
	}
}

static void add_source_to(
	const struct bt_affinity_source *source, int64_t *sums, uint32_t domain_count)
{
	if (source->tally != NULL) {
		bt_domain_tally_add_to(source->tally, source->factor, sums, domain_count);
		return;
	}
	for (uint32_t i = 0; i < source->pods.page_count; i++) {
		uint32_t first = i * BT_COUNTS_PAGE;

		if (source->pods.pages[i] != NULL && first < domain_count) {
			uint32_t left = domain_count - first;
			add_page(source->pods.pages[i], (uint64_t)source->factor, sums + first,
				left < BT_COUNTS_PAGE ? left : BT_COUNTS_PAGE);
		}
	}
	sums[0] = 0; /* nodes without the label do not count */
}

static void add_source(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table_index, const struct bt_affinity_source *source, enum source_kind kind,
	uint64_t serial)
{
	struct bt_affinity_table *table = &tables->items[table_index];
	uint32_t domain_count = table->column->dictionary.count;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t question = bt_hash_u64(bt_hash_u64(i + UINT64_C(1), serial), kind);
		table->identity[i] += bt_hash_u64(question, (uint64_t)source->factor);
	}
	uint32_t capacity = table->source_capacity * 2 + 2;
	struct bt_affinity_source *sources;

	if (table->source_count >= table->source_capacity) {
		sources = BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_source, capacity);
		if (table->source_count != 0) {
			memcpy(sources, table->sources, table->source_count * sizeof(*sources));
		}
		table->sources = sources;
		table->source_capacity = capacity;
	}
	table->sources[table->source_count++] = *source;
	if (tables->copies || table->own != NULL ||
		table->source_count > SOURCES_MAX + domain_count / DOMAINS_PER_SOURCE) {
		/* The sums of the sources become numbers of the table's own. */
		int64_t *own = own_numbers(table, arena);

		for (uint32_t i = 0; i < table->source_count; i++) {
			add_source_to(&table->sources[i], own, table->column->dictionary.count);
		}
		table->source_count = 0;
	}
}

void bt_affinity_table_change(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	int64_t before = bt_affinity_table_at(&tables->items[table], domain);
	int64_t after;

	before += bt_domain_changes_add(&tables->changes, arena, table, domain, delta);
	after = before + delta;
	tables->entry_count += (after != 0) - (before != 0);
}

void bt_affinity_tables_clone(struct bt_affinity_tables *tables, struct bt_arena *arena)
{
	tables->changes = bt_domain_changes_clone(&tables->changes, arena);
	/* A table made later must not land in the list that the original uses. */
	tables->capacity = tables->count;
}

void bt_affinity_table_sum(const struct bt_affinity_table *table, int64_t *sums)
{
	uint32_t count = table->column->dictionary.count;

	if (table->own != NULL) {
		memcpy(sums, table->own, count * sizeof(*sums));
	} else {
		memset(sums, 0, count * sizeof(*sums));
	}
	for (uint32_t i = 0; i < table->source_count; i++) {
		add_source_to(&table->sources[i], sums, count);
	}
}

static const struct bt_str_map no_labels;

const struct bt_str_map *bt_affinity_namespace_labels(
	const struct bt_state *state, struct bt_str name)
{
	const struct bt_namespace *found =
		bt_object_store_find(&state->objects, BT_KIND_NAMESPACE, BT_STR(""), name);

	return found != NULL ? &found->metadata.labels : &no_labels;
}

/**
 * Upstream quirk, spec 06 section 3.4: the namespace selector stays in force beside the names it
 * was expanded to, against no labels at all. One that such a namespace satisfies selects all.
 */
static void expand_term(struct bt_state *state, const struct bt_pod_info *pod,
	struct bt_incoming_term *incoming, struct bt_arena *arena)
{
	const struct bt_affinity_term *term = incoming->term;
	struct bt_str *names;

	incoming->in_every_namespace = bt_selector_matches(&term->namespace_selector, &no_labels);
	if (incoming->in_every_namespace) {
		return;
	}
	if (term->in_own_namespace) {
		names = BT_ARENA_NEW(arena, struct bt_str);
		names[0] = pod->namespace_;
		incoming->namespaces = names;
		incoming->namespace_count = 1;
		return;
	}
	incoming->namespaces = term->namespaces;
	incoming->namespace_count = term->namespace_count;
	if (term->namespace_selector.nothing) {
		return;
	}
	names = BT_ARENA_NEW_ARRAY(arena, struct bt_str,
		(size_t)term->namespace_count +
			bt_object_store_count(&state->objects, BT_KIND_NAMESPACE));
	if (term->namespace_count != 0) {
		memcpy(names, term->namespaces, term->namespace_count * sizeof(*names));
	}
	incoming->namespaces = names;
	/* Names of the namespaces whose labels the selector matches, after those in `names`. */
	uint32_t cursor = 0;

	for (;;) {
		const struct bt_namespace *next = bt_object_store_next(
			&state->objects, BT_KIND_NAMESPACE, (struct bt_str){0}, &cursor);

		if (next == NULL) {
			return;
		}
		if (bt_selector_matches(&term->namespace_selector, &next->metadata.labels)) {
			names[(incoming->namespace_count)++] = next->metadata.name;
		}
	}
}

struct bt_incoming_terms bt_affinity_expand(struct bt_state *state, const struct bt_pod_info *pod,
	enum bt_affinity_group group, struct bt_affinity_tables *tables, struct bt_arena *arena)
{
	struct bt_affinity_term_list list = bt_affinity_group_of(bt_affinity_terms_of(pod), group);
	struct bt_incoming_terms terms = {.count = list.count};

	if (list.count == 0) {
		return terms;
	}
	terms.items = BT_ARENA_NEW_ARRAY(arena, struct bt_incoming_term, list.count);
	for (uint32_t i = 0; i < list.count; i++) {
		terms.items[i].term = &list.items[i];
		terms.items[i].table =
			bt_affinity_table_of_key(tables, state, arena, list.items[i].topology_key);
		expand_term(state, pod, &terms.items[i], arena);
	}
	return terms;
}

bool bt_incoming_term_matches(const struct bt_incoming_term *term, struct bt_str namespace_,
	const struct bt_str_map *labels)
{
	bool inside = term->in_every_namespace;

	for (uint32_t i = 0; !inside && i < term->namespace_count; i++) {
		inside = bt_str_equal(term->namespaces[i], namespace_);
	}
	return inside && bt_selector_matches(&term->term->selector, labels);
}

bool bt_incoming_terms_all_match(const struct bt_incoming_terms *terms, struct bt_str namespace_,
	const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		if (!bt_incoming_term_matches(&terms->items[i], namespace_, labels)) {
			return false;
		}
	}
	return terms->count != 0;
}

/* --- counters --- */

bool bt_affinity_count_matching(struct bt_state *state, const struct bt_incoming_term *terms,
	uint32_t term_count, struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, int64_t factor)
{
	struct bt_str key = bt_symbol_text(&state->symbols, tables->items[table].column->key);
	struct bt_counted_term counted[BT_COUNTED_TERMS_MAX];
	struct bt_counter_spec spec = {
		.term_count = term_count,
		.terms = counted,
		.nodes = {.topology_key = key, .label_count = 1, .labels = &key},
	};
	const struct bt_domain_counter *counter;

	if (term_count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	for (uint32_t i = 0; i < term_count; i++) {
		counted[i] = (struct bt_counted_term){
			.in_every_namespace = terms[i].in_every_namespace,
			.namespace_count = terms[i].namespace_count,
			.namespaces = terms[i].namespaces,
			.selector = &terms[i].term->selector,
		};
	}
	counter = bt_domain_counter_get(state, &spec);
	if (counter == NULL) {
		return false;
	}
	struct bt_domain_sums sums = bt_domain_counter_sums(counter);
	struct bt_affinity_source source = {.pods = sums.pods, .factor = factor};

	add_source(
		tables, arena, table, &source, SOURCE_COUNTER, bt_domain_counter_serial(counter));
	tables->entry_count += sums.occupied_count;
	tables->touched = tables->touched || sums.pod_total != 0;
	return true;
}

static void add_hit(void *context, const struct bt_affinity_hit *hit)
{
	struct bt_existing_sum *sum = context;
	int64_t weight = sum->fixed[hit->group] + sum->factors[hit->group] * hit->weight;
	uint32_t table = affinity_table_of_column(sum->tables, sum->arena, hit->column);

	if (table != BT_NO_TABLE) {
		/* While counting: factor times a term's pods, or those of a counter, are added. */
		struct bt_affinity_tables *tables = sum->tables;
		struct bt_arena *arena = sum->arena;
		const struct bt_domain_tally *tally = hit->pods;
		uint64_t serial = hit->serial;
		struct bt_affinity_source source = {.tally = tally, .factor = weight};

		add_source(tables, arena, table, &source, SOURCE_TERM, serial);
		tables->entry_count += tally->occupied_count;
		tables->touched = tables->touched || tally->total != 0;
	}
}

bool bt_affinity_add_existing(struct bt_existing_sum *sum, uint32_t groups,
	const struct bt_pod_info *pod, const struct bt_str_map *namespace_labels)
{
	const struct bt_affinity_index *index = bt_affinity_index_get(sum->state);

	if (bt_affinity_index_has_unlisted(index)) {
		return false;
	}
	bt_affinity_index_find(
		index, groups, pod->namespace_, pod->labels, namespace_labels, add_hit, sum);
	return true;
}
