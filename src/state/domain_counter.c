/* SPDX-License-Identifier: Apache-2.0 */
#include "state/domain_counter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "state/domain_counter_private.h"
#include "state/topology_key.h"

/** Maximum memory of counters and eligibilities, in bytes. */
#define BYTES_MAX ((size_t)64 * 1024 * 1024)
/**
 * Counters that the current cycle uses are kept even beyond the maximum, up to this multiple of the
 * maximum.
 */
#define BYTES_MAX_IN_USE 4
/** Counters with a longer identity are not created. */
#define IDENTITY_BYTES_MAX ((size_t)64 * 1024)

const struct bt_label_column *bt_state_label_column(struct bt_state *state, struct bt_str key)
{
	/* Users may name any number of keys, so make columns only for keys that nodes have. */
	return bt_node_table_has_label_key(&state->nodes, bt_symbol_find(&state->symbols, key))
		? bt_node_table_label_column(&state->nodes, key)
		: NULL;
}

BT_COMPARE(compare_symbols, bt_sym, BT_ORDER(a->id, b->id))

static struct bt_domain_counter *create_counter(struct bt_state *state,
	struct bt_domain_counters *counters, const struct bt_counter_spec *spec,
	struct bt_str identity, uint64_t hash)
{
	struct bt_domain_counter *counter = BT_NEW(struct bt_domain_counter);

	bt_arena_init(&counter->arena, 512);
	counter->identity = bt_arena_str(&counter->arena, identity);
	counter->hash = hash;
	counter->serial = ++counters->next_serial;
	counter->term_count = spec->term_count;
	counter->terms = BT_ARENA_NEW_ARRAY(&counter->arena, struct counted_term, spec->term_count);
	for (uint32_t i = 0; i < spec->term_count; i++) {
		const struct bt_counted_term *source = &spec->terms[i];
		struct counted_term *term = &counter->terms[i];
		term->in_every_namespace = source->in_every_namespace;
		term->namespace_count = source->namespace_count;
		term->namespaces =
			BT_ARENA_NEW_ARRAY(&counter->arena, bt_sym, source->namespace_count);
		for (uint32_t k = 0; k < source->namespace_count; k++) {
			term->namespaces[k] =
				bt_symbol_ref_str(&state->symbols, source->namespaces[k]);
		}
		qsort(term->namespaces, term->namespace_count, sizeof(bt_sym), compare_symbols);
		term->selector = bt_selector_copy(source->selector, &counter->arena);
		/* Collect the requirements that have the form `key == value`, as symbols. */
		const struct bt_selector *selector = &term->selector;

		term->pairs = BT_ARENA_NEW_ARRAY(
			&counter->arena, struct bt_label_pair, selector->requirement_count);
		for (uint32_t n = 0; n < selector->requirement_count; n++) {
			const struct bt_requirement *requirement = &selector->requirements[n];

			if (requirement->operator_ == BT_SELECTOR_IN &&
				requirement->value_count == 1) {
				term->pairs[term->pair_count++] = (struct bt_label_pair){
					bt_symbol_ref_str(&state->symbols, requirement->key),
					bt_symbol_ref_str(&state->symbols, requirement->values[0]),
				};
			}
		}
		term->pairs_are_all =
			!selector->nothing && term->pair_count == selector->requirement_count;
	}
	counter->live_only = spec->live_only;
	counter->eligibility = bt_eligibility_ref(&counters->eligibilities, &spec->nodes);
	return counter;
}

static void drop_counter(struct bt_state *state, struct bt_domain_counter *counter)
{
	struct bt_domain_counters *counters = state->domain_counters;
	bt_hash_table_remove(&counters->items, counter->hash, counter->id);
	BT_LIST_REMOVE(counters->oldest, counters->newest, counter, older, newer);
	counters->bytes -= counter->bytes;
	counters->items.items[counter->id] = NULL;
	for (uint32_t i = 0; i < counter->term_count; i++) {
		const struct counted_term *term = &counter->terms[i];
		for (uint32_t k = 0; k < term->namespace_count; k++) {
			bt_symbol_unref(&state->symbols, term->namespaces[k]);
		}
		for (uint32_t k = 0; k < term->pair_count; k++) {
			bt_symbol_unref(&state->symbols, term->pairs[k].key);
			bt_symbol_unref(&state->symbols, term->pairs[k].value);
		}
	}
	bt_eligibility_unref(&counters->eligibilities, counter->eligibility);
	bt_sparse_counts_finish(&counter->own);
	bt_sparse_counts_finish(&counter->pods);
	bt_vec_finish(&counter->histogram.buckets);
	bt_arena_finish(&counter->arena);
	bt_free(counter);
}

struct bt_domain_counters *bt_domain_counters_of(struct bt_state *state)
{
	if (state->domain_counters == NULL) {
		state->domain_counters = BT_NEW(struct bt_domain_counters);
		state->domain_counters->bytes_max = BYTES_MAX;
	}
	return state->domain_counters;
}

static size_t bytes_held(const struct bt_domain_counters *counters)
{
	return counters->bytes + counters->eligibilities.bytes;
}

const struct bt_domain_counter *bt_domain_counter_get(
	struct bt_state *state, const struct bt_counter_spec *spec)
{
	struct bt_domain_counters *counters = bt_domain_counters_of(state);
	struct bt_strbuf *key = &counters->key;

	bt_strbuf_reset(key);
	bt_key_append_u32(key, spec->term_count);
	for (uint32_t i = 0; i < spec->term_count; i++) {
		const struct bt_counted_term *term = &spec->terms[i];

		bt_key_append_u32(key, term->in_every_namespace);
		bt_key_append_u32(key, term->namespace_count);
		for (uint32_t n = 0; n < term->namespace_count; n++) {
			bt_key_append_str(key, term->namespaces[n]);
		}
		bt_key_append_selector(key, term->selector);
	}
	bt_key_append_u32(key, spec->live_only);
	bt_eligibility_append_identity(key, &spec->nodes);
	if (counters->key.length > IDENTITY_BYTES_MAX) {
		bt_strbuf_finish(&counters->key);
		return NULL;
	}
	uint64_t hash = bt_str_hash(bt_strbuf_str(key));
	struct bt_domain_counter *counter = NULL;
	BT_MAP_EACH (&counters->items.map, hash, id) {
		struct bt_domain_counter *known = counters->items.items[id];
		if (known->hash == hash && bt_str_equal(known->identity, bt_strbuf_str(key))) {
			counter = known;
			break;
		}
	}
	if (counter == NULL) {
		if (bytes_held(counters) / BYTES_MAX_IN_USE > counters->bytes_max) {
			return NULL;
		}
		counter = create_counter(state, counters, spec, bt_strbuf_str(key), hash);
		bt_hash_table_add(&counters->items, counter->hash, counter, counter->id);
	} else {
		BT_LIST_REMOVE(counters->oldest, counters->newest, counter, older, newer);
	}
	BT_LIST_APPEND(counters->oldest, counters->newest, counter, older, newer);
	counter->last_use = state->snapshot.refresh_count;
	bt_domain_counter_catch_up(counters, counter, state);
	while (bytes_held(counters) > counters->bytes_max &&
		counters->oldest->last_use != counter->last_use) {
		drop_counter(state, counters->oldest);
	}
	return counter;
}

struct bt_domain_sums bt_domain_counter_sums(const struct bt_domain_counter *counter)
{
	return (struct bt_domain_sums){
		.size = counter->eligibility->size,
		.pods = &counter->pods,
		.nodes = counter->eligibility->nodes,
		.own = &counter->own,
		.pod_total = counter->pod_total,
		.occupied_count = counter->occupied_count,
		.eligible_count = counter->eligibility->eligible_count,
		.least = counter->least,
		.least_count = counter->least_count,
		.second_least = counter->second_least,
	};
}

uint64_t bt_domain_counter_serial(const struct bt_domain_counter *counter)
{
	return counter->serial;
}

void bt_domain_counters_destroy(struct bt_state *state)
{
	struct bt_domain_counters *counters = state->domain_counters;

	if (counters == NULL) {
		return;
	}
	while (counters->newest != NULL) {
		drop_counter(state, counters->newest);
	}
	bt_eligibility_table_finish(&counters->eligibilities);
	bt_hash_table_finish(&counters->items);
	bt_strbuf_finish(&counters->key);
	bt_free(counters);
	state->domain_counters = NULL;
}
