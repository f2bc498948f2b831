/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_affinity.h"

#include "api/types.h"
#include "state/affinity_index.h"
#include "state/domain_counter.h"

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
	bt_affinity_table_add_counter(tables, arena, table, counter, factor);
	return true;
}

static void add_hit(void *context, const struct bt_affinity_hit *hit)
{
	struct bt_existing_sum *sum = context;
	int64_t weight = sum->fixed[hit->group] + sum->factors[hit->group] * hit->weight;
	uint32_t table = bt_affinity_table_of_column(sum->tables, sum->arena, hit->column);

	if (table != BT_NO_TABLE) {
		bt_affinity_table_add_tally(
			sum->tables, sum->arena, table, hit->pods, hit->serial, weight);
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
