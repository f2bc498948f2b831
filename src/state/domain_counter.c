/* SPDX-License-Identifier: Apache-2.0 */
#include "state/domain_counter.h"

#include <stdlib.h>

#include "api/toleration.h"
#include "base/alloc.h"
#include "state/node_table_edit.h"
#include "state/topology_key.h"

/** Counters kept: at 5,000 nodes one takes 40 to 100 KiB. */
#define BYTES_MAX ((size_t)64 * 1024 * 1024)
/** Questions longer than this are not kept. */
#define IDENTITY_BYTES_MAX ((size_t)64 * 1024)
/** Behind by more than this share of the slots, counting everything anew is cheaper. */
#define REPAIR_SHARE 4
/** The slot counts in no domain. */
#define NOWHERE UINT32_MAX

/** A term with its namespaces as symbols, ascending. */
struct counted_term {
	bool in_every_namespace;
	uint32_t namespace_count;
	bt_sym *namespaces;
	struct bt_selector selector;
};

struct bt_domain_counter {
	struct bt_arena arena; /* the question */
	struct bt_str identity;
	uint64_t hash;
	uint32_t term_count;
	struct counted_term *terms;
	bool live_only;
	struct bt_str topology_key;
	uint32_t label_count;
	struct bt_str *labels;
	bool has_affinity;
	struct bt_required_node_affinity affinity;
	const bt_toleration_list *tolerations; /* NULL: taints do not matter */
	bool allow_comparison;
	struct bt_pod_spec *spec; /* behind affinity and tolerations */
	/* by slot */
	uint32_t *own;
	uint32_t *domains;
	uint32_t slot_count;
	uint32_t slot_capacity;
	/* by domain */
	uint32_t *pods;
	uint32_t *nodes;
	uint32_t domain_capacity;
	/* how far it has read */
	bool filled;
	uint64_t log_sequence;
	uint32_t rebuild_count; /* of the topology key's column */
	/* links, newest first */
	struct bt_domain_counter *newer;
	struct bt_domain_counter *older;
	uint32_t id;
	size_t bytes;
};

struct bt_domain_counters {
	struct bt_map map;
	BT_VEC(struct bt_domain_counter *) items;
	BT_VEC(uint32_t) free_ids;
	struct bt_domain_counter *newest;
	struct bt_domain_counter *oldest;
	struct bt_strbuf key;
	BT_VEC(uint8_t) verdicts; /* by label set, during a build */
	BT_VEC(uint8_t) matches;  /* by pod, during a build */
	/* Columns of the labels, looked up when a counter catches up. */
	BT_VEC(const struct bt_label_column *) columns;
	size_t bytes;
};

const struct bt_label_column *bt_state_label_column(struct bt_state *state, struct bt_str key)
{
	/* Users can invent keys without end: no column for what nobody has ever named. */
	if (key.length != 0 && bt_sym_is_none(bt_symbol_find(&state->symbols, key))) {
		return NULL;
	}
	return bt_node_table_label_column(&state->nodes, key);
}

/* --- the question --- */

static void append_identity(struct bt_strbuf *key, const struct bt_counter_spec *spec)
{
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
	bt_key_append_str(key, spec->topology_key);
	bt_key_append_u32(key, spec->label_count);
	for (uint32_t i = 0; i < spec->label_count; i++) {
		bt_key_append_str(key, spec->labels[i]);
	}
	bt_key_append_u32(key, spec->affinity_of != NULL);
	if (spec->affinity_of != NULL) {
		bt_key_append_node_affinity(key, spec->affinity_of);
	}
	bt_key_append_u32(key, spec->tolerations_of != NULL);
	if (spec->tolerations_of != NULL) {
		bt_key_append_u32(key, spec->allow_comparison);
		bt_key_append_tolerations(key, spec->tolerations_of);
	}
}

static int compare_symbols(const void *a, const void *b)
{
	uint32_t x = ((const bt_sym *)a)->id;
	uint32_t y = ((const bt_sym *)b)->id;

	return (x > y) - (x < y);
}

static void copy_term(struct bt_state *state, struct bt_domain_counter *counter,
	const struct bt_counted_term *source, struct counted_term *term)
{
	term->in_every_namespace = source->in_every_namespace;
	term->namespace_count = source->namespace_count;
	term->namespaces = BT_ARENA_NEW_ARRAY(&counter->arena, bt_sym, source->namespace_count);
	for (uint32_t i = 0; i < source->namespace_count; i++) {
		term->namespaces[i] = bt_symbol_ref_str(&state->symbols, source->namespaces[i]);
	}
	qsort(term->namespaces, term->namespace_count, sizeof(bt_sym), compare_symbols);
	term->selector = bt_selector_copy(source->selector, &counter->arena);
}

/** What node eligibility reads of the pod's spec is copied, so that no shape has to stay. */
static void copy_node_rules(struct bt_domain_counter *counter, const struct bt_counter_spec *spec)
{
	struct bt_pod_spec view = {0};
	struct bt_affinity affinity = {0};

	if (spec->affinity_of != NULL) {
		view.node_selector = spec->affinity_of->node_selector;
		if (spec->affinity_of->affinity != NULL) {
			affinity.node_affinity = spec->affinity_of->affinity->node_affinity;
			view.affinity = &affinity;
		}
	}
	if (spec->tolerations_of != NULL) {
		view.tolerations = *spec->tolerations_of;
	}
	counter->spec = BT_ARENA_NEW(&counter->arena, struct bt_pod_spec);
	bt_message_copy(&bt_pod_spec_message, counter->spec, &view, &counter->arena);
	counter->has_affinity = spec->affinity_of != NULL;
	counter->affinity = bt_required_node_affinity_parse(counter->spec, &counter->arena);
	counter->tolerations = spec->tolerations_of != NULL ? &counter->spec->tolerations : NULL;
	counter->allow_comparison = spec->allow_comparison;
}

static struct bt_domain_counter *create_counter(struct bt_state *state,
	const struct bt_counter_spec *spec, struct bt_str identity, uint64_t hash)
{
	struct bt_domain_counter *counter = BT_NEW(struct bt_domain_counter);

	bt_arena_init(&counter->arena, 1024);
	counter->identity = bt_arena_str(&counter->arena, identity);
	counter->hash = hash;
	counter->term_count = spec->term_count;
	counter->terms = BT_ARENA_NEW_ARRAY(&counter->arena, struct counted_term, spec->term_count);
	for (uint32_t i = 0; i < spec->term_count; i++) {
		copy_term(state, counter, &spec->terms[i], &counter->terms[i]);
	}
	counter->live_only = spec->live_only;
	counter->topology_key = bt_arena_str(&counter->arena, spec->topology_key);
	counter->label_count = spec->label_count;
	counter->labels = bt_str_array_copy(spec->labels, spec->label_count, &counter->arena);
	copy_node_rules(counter, spec);
	return counter;
}

static void destroy_counter(struct bt_state *state, struct bt_domain_counter *counter)
{
	for (uint32_t i = 0; i < counter->term_count; i++) {
		for (uint32_t n = 0; n < counter->terms[i].namespace_count; n++) {
			bt_symbol_unref(&state->symbols, counter->terms[i].namespaces[n]);
		}
	}
	bt_arena_finish(&counter->arena);
	bt_free(counter->own);
	bt_free(counter->domains);
	bt_free(counter->pods);
	bt_free(counter->nodes);
	bt_free(counter);
}

/* --- counting --- */

static bool is_in_namespaces(const struct counted_term *term, bt_sym namespace_)
{
	uint32_t low = 0;
	uint32_t high = term->namespace_count;

	if (term->in_every_namespace) {
		return true;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (term->namespaces[middle].id < namespace_.id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < term->namespace_count && term->namespaces[low].id == namespace_.id;
}

static bool counts_pod(const struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_pod_record *record)
{
	const struct bt_str_map *labels = &state->label_sets.sets.items[record->label_set].labels;

	if (counter->live_only && record->terminating) {
		return false;
	}
	for (uint32_t i = 0; i < counter->term_count; i++) {
		if (!is_in_namespaces(&counter->terms[i], record->namespace_) ||
			!bt_selector_matches(&counter->terms[i].selector, labels)) {
			return false;
		}
	}
	return counter->term_count != 0;
}

static uint32_t count_slot(
	const struct bt_domain_counter *counter, const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	uint32_t count = 0;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		count += counts_pod(counter, state, bt_state_pod_at(state, row->pods.items[i]));
	}
	return count;
}

/** Domain in which the slot's pods count; columns: the topology key's, then those of the labels. */
static uint32_t domain_of_slot(const struct bt_domain_counter *counter,
	const struct bt_state *state, const struct bt_label_column *const *columns, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];

	if (!row->in_snapshot) {
		return NOWHERE;
	}
	for (uint32_t i = 0; i < counter->label_count; i++) {
		if (columns[i + 1] == NULL || columns[i + 1]->values[slot] == 0) {
			return NOWHERE;
		}
	}
	if (counter->has_affinity &&
		!bt_required_node_affinity_matches(&counter->affinity,
			bt_node_table_name(&state->nodes, slot), &row->labels, NULL, NULL)) {
		return NOWHERE;
	}
	if (counter->tolerations != NULL &&
		bt_find_untolerated_taint(bt_node_table_taints(&state->nodes, slot),
			counter->tolerations, BT_TAINT_HARD, counter->allow_comparison) != NULL) {
		return NOWHERE;
	}
	return columns[0] != NULL ? columns[0]->values[slot] : 0;
}

static void enter_domain(struct bt_domain_counter *counter, uint32_t slot, uint32_t domain)
{
	counter->domains[slot] = domain;
	if (domain != NOWHERE) {
		counter->pods[domain] += counter->own[slot];
		counter->nodes[domain]++;
	}
}

static void repair_slot(struct bt_domain_counter *counter, const struct bt_state *state,
	const struct bt_label_column *const *columns, uint32_t slot)
{
	uint32_t domain = counter->domains[slot];

	if (domain != NOWHERE) {
		counter->pods[domain] -= counter->own[slot];
		counter->nodes[domain]--;
	}
	counter->own[slot] = count_slot(counter, state, slot);
	enter_domain(counter, slot, domain_of_slot(counter, state, columns, slot));
}

/** Room for every slot and domain; new slots count nowhere. */
static void reserve(struct bt_domain_counters *counters, struct bt_domain_counter *counter,
	const struct bt_state *state, const struct bt_label_column *column)
{
	uint32_t slots = state->nodes.slot_count;
	uint32_t domains = column != NULL ? column->dictionary.count : 1;

	if (slots > counter->slot_capacity) {
		counter->slot_capacity = state->nodes.slot_capacity;
		counter->own = bt_realloc_array(
			counter->own, counter->slot_capacity, sizeof(*counter->own));
		counter->domains = bt_realloc_array(
			counter->domains, counter->slot_capacity, sizeof(*counter->domains));
	}
	for (; counter->slot_count < slots; counter->slot_count++) {
		counter->own[counter->slot_count] = 0;
		counter->domains[counter->slot_count] = NOWHERE;
	}
	if (domains > counter->domain_capacity) {
		uint32_t old = counter->domain_capacity;
		counter->domain_capacity = bt_vec_grown_capacity(old, domains);
		counter->pods = bt_realloc_array(
			counter->pods, counter->domain_capacity, sizeof(*counter->pods));
		counter->nodes = bt_realloc_array(
			counter->nodes, counter->domain_capacity, sizeof(*counter->nodes));
		memset(counter->pods + old, 0,
			(counter->domain_capacity - old) * sizeof(*counter->pods));
		memset(counter->nodes + old, 0,
			(counter->domain_capacity - old) * sizeof(*counter->nodes));
	}
	counters->bytes -= counter->bytes;
	counter->bytes = sizeof(*counter) + counter->arena.total_bytes +
		2 * sizeof(uint32_t) * ((size_t)counter->slot_capacity + counter->domain_capacity);
	counters->bytes += counter->bytes;
}

/** matches[pod] &= the term selects the pod; each label set is judged once. */
static void match_term(struct bt_domain_counters *counters, const struct bt_state *state,
	const struct counted_term *term)
{
	const struct bt_pod_table *pods = &state->pods;

	bt_vec_reserve(&counters->verdicts, state->label_sets.sets.count);
	for (uint32_t i = 0; i < state->label_sets.sets.count; i++) {
		const struct bt_label_set *set = &state->label_sets.sets.items[i];
		counters->verdicts.items[i] =
			set->ref_count != 0 && bt_selector_matches(&term->selector, &set->labels);
	}
	for (uint32_t i = 0; i < pods->records.count; i++) {
		const struct bt_pod_record *record = &pods->records.items[i];
		if (counters->matches.items[i] != 0) {
			counters->matches.items[i] = counters->verdicts.items[record->label_set] &&
				is_in_namespaces(term, record->namespace_);
		}
	}
}

static void rebuild(struct bt_domain_counters *counters, struct bt_domain_counter *counter,
	const struct bt_state *state, const struct bt_label_column *const *columns)
{
	const struct bt_pod_table *pods = &state->pods;

	/* Before the first node there are no arrays to clear. */
	if (counter->slot_count != 0) {
		memset(counter->own, 0, counter->slot_count * sizeof(*counter->own));
	}
	if (counter->domain_capacity != 0) {
		memset(counter->pods, 0, counter->domain_capacity * sizeof(*counter->pods));
		memset(counter->nodes, 0, counter->domain_capacity * sizeof(*counter->nodes));
	}
	bt_vec_reserve(&counters->matches, pods->records.count);
	for (uint32_t i = 0; i < pods->records.count; i++) {
		const struct bt_pod_record *record = &pods->records.items[i];
		counters->matches.items[i] = record->in_use && counter->term_count != 0 &&
			!(counter->live_only && record->terminating);
	}
	for (uint32_t i = 0; i < counter->term_count; i++) {
		match_term(counters, state, &counter->terms[i]);
	}
	for (uint32_t i = 0; i < pods->records.count; i++) {
		if (counters->matches.items[i] != 0) {
			counter->own[pods->records.items[i].node]++;
		}
	}
	for (uint32_t slot = 0; slot < counter->slot_count; slot++) {
		enter_domain(counter, slot, domain_of_slot(counter, state, columns, slot));
	}
}

#define CHANGES_OF_INTEREST \
	(BT_CHANGE_PODS | BT_CHANGE_LABELS | BT_CHANGE_TAINTS | BT_CHANGE_EXISTENCE)

/** Columns of the topology key and of the labels, in this order. */
static const struct bt_label_column *const *find_columns(struct bt_domain_counters *counters,
	const struct bt_domain_counter *counter, struct bt_state *state)
{
	bt_vec_reserve(&counters->columns, counter->label_count + UINT64_C(1));
	counters->columns.items[0] = bt_state_label_column(state, counter->topology_key);
	for (uint32_t i = 0; i < counter->label_count; i++) {
		counters->columns.items[i + 1] = bt_state_label_column(state, counter->labels[i]);
	}
	return counters->columns.items;
}

static void catch_up(struct bt_domain_counters *counters, struct bt_domain_counter *counter,
	struct bt_state *state)
{
	const struct bt_label_column *const *columns = find_columns(counters, counter, state);
	uint32_t rebuild_count = columns[0] != NULL ? columns[0]->rebuild_count : 0;
	uint64_t behind = state->log.sequence - counter->log_sequence;

	reserve(counters, counter, state, columns[0]);
	if (!counter->filled || rebuild_count != counter->rebuild_count ||
		!bt_change_log_covers(&state->log, counter->log_sequence) ||
		behind > 16 + state->nodes.slot_count / REPAIR_SHARE) {
		rebuild(counters, counter, state, columns);
	} else {
		for (uint64_t i = counter->log_sequence; i < state->log.sequence; i++) {
			struct bt_change change = bt_change_log_at(&state->log, i);
			if ((change.kinds & CHANGES_OF_INTEREST) != 0) {
				repair_slot(counter, state, columns, change.slot);
			}
		}
	}
	counter->filled = true;
	counter->log_sequence = state->log.sequence;
	counter->rebuild_count = rebuild_count;
}

/* --- keeping them --- */

static uint64_t counter_hash(const void *owner, uint32_t id)
{
	const struct bt_domain_counters *counters = owner;

	return counters->items.items[id]->hash;
}

static void unlink_counter(struct bt_domain_counters *counters, struct bt_domain_counter *counter)
{
	if (counter->newer != NULL) {
		counter->newer->older = counter->older;
	} else {
		counters->newest = counter->older;
	}
	if (counter->older != NULL) {
		counter->older->newer = counter->newer;
	} else {
		counters->oldest = counter->newer;
	}
}

static void link_newest(struct bt_domain_counters *counters, struct bt_domain_counter *counter)
{
	counter->newer = NULL;
	counter->older = counters->newest;
	if (counters->newest != NULL) {
		counters->newest->newer = counter;
	} else {
		counters->oldest = counter;
	}
	counters->newest = counter;
}

static void drop_counter(struct bt_state *state, struct bt_domain_counter *counter)
{
	struct bt_domain_counters *counters = state->domain_counters;
	bool removed = bt_map_remove(&counters->map, counter->hash, counter->id);

	BT_ASSERT(removed);
	unlink_counter(counters, counter);
	counters->bytes -= counter->bytes;
	counters->items.items[counter->id] = NULL;
	bt_vec_push(&counters->free_ids, counter->id);
	destroy_counter(state, counter);
}

static struct bt_domain_counter *find_counter(
	const struct bt_domain_counters *counters, struct bt_str identity, uint64_t hash)
{
	uint32_t at = bt_map_first(&counters->map, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&counters->map, hash, at)) {
		struct bt_domain_counter *counter =
			counters->items.items[bt_map_value(&counters->map, at)];
		if (counter->hash == hash && bt_str_equal(counter->identity, identity)) {
			return counter;
		}
	}
	return NULL;
}

static void add_counter(struct bt_domain_counters *counters, struct bt_domain_counter *counter)
{
	if (counters->free_ids.count != 0) {
		counter->id = counters->free_ids.items[--counters->free_ids.count];
		counters->items.items[counter->id] = counter;
	} else {
		counter->id = counters->items.count;
		bt_vec_push(&counters->items, counter);
	}
	bt_map_insert(&counters->map, counter->hash, counter->id);
}

static struct bt_domain_counters *counters_of(struct bt_state *state)
{
	if (state->domain_counters == NULL) {
		state->domain_counters = BT_NEW(struct bt_domain_counters);
		bt_map_init(&state->domain_counters->map, counter_hash, state->domain_counters);
	}
	return state->domain_counters;
}

const struct bt_domain_counter *bt_domain_counter_get(
	struct bt_state *state, const struct bt_counter_spec *spec)
{
	struct bt_domain_counters *counters = counters_of(state);
	struct bt_domain_counter *counter;
	uint64_t hash;

	append_identity(&counters->key, spec);
	if (counters->key.length > IDENTITY_BYTES_MAX) {
		bt_strbuf_finish(&counters->key);
		return NULL;
	}
	hash = bt_str_hash(bt_strbuf_str(&counters->key));
	counter = find_counter(counters, bt_strbuf_str(&counters->key), hash);
	if (counter == NULL) {
		counter = create_counter(state, spec, bt_strbuf_str(&counters->key), hash);
		add_counter(counters, counter);
	} else {
		unlink_counter(counters, counter);
	}
	link_newest(counters, counter);
	catch_up(counters, counter, state);
	while (counters->bytes > BYTES_MAX && counters->oldest != counter) {
		drop_counter(state, counters->oldest);
	}
	return counter;
}

struct bt_domain_sums bt_domain_counter_sums(const struct bt_domain_counter *counter)
{
	return (struct bt_domain_sums){
		.size = counter->domain_capacity,
		.pods = counter->pods,
		.nodes = counter->nodes,
		.own = counter->own,
		.slot_count = counter->slot_count,
	};
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
	bt_map_finish(&counters->map);
	bt_vec_finish(&counters->items);
	bt_vec_finish(&counters->free_ids);
	bt_vec_finish(&counters->verdicts);
	bt_vec_finish(&counters->matches);
	bt_vec_finish(&counters->columns);
	bt_strbuf_finish(&counters->key);
	bt_free(counters);
	state->domain_counters = NULL;
}

size_t bt_domain_counters_memory_bytes(const struct bt_state *state)
{
	return state->domain_counters != NULL ? state->domain_counters->bytes : 0;
}

/* --- the rebuild twin --- */

static bool same_numbers(const uint32_t *a, const uint32_t *b, uint32_t count)
{
	return count == 0 || memcmp(a, b, count * sizeof(*a)) == 0;
}

static bool equals_rebuilt(struct bt_domain_counters *counters, struct bt_domain_counter *counter,
	struct bt_state *state, const struct bt_domain_counter *before)
{
	rebuild(counters, counter, state, find_columns(counters, counter, state));
	return same_numbers(counter->own, before->own, counter->slot_count) &&
		same_numbers(counter->domains, before->domains, counter->slot_count) &&
		same_numbers(counter->pods, before->pods, counter->domain_capacity) &&
		same_numbers(counter->nodes, before->nodes, counter->domain_capacity);
}

static uint32_t *copy_of(const uint32_t *items, uint32_t count)
{
	uint32_t *copy = BT_NEW_ARRAY(uint32_t, count);

	if (count != 0) {
		memcpy(copy, items, count * sizeof(*copy));
	}
	return copy;
}

bool bt_domain_counters_validate(struct bt_state *state, struct bt_strbuf *out_reason)
{
	struct bt_domain_counters *counters = counters_of(state);

	for (struct bt_domain_counter *counter = counters->newest; counter != NULL;
		counter = counter->older) {
		struct bt_domain_counter before;
		bool equal;

		catch_up(counters, counter, state);
		before = (struct bt_domain_counter){
			.own = copy_of(counter->own, counter->slot_count),
			.domains = copy_of(counter->domains, counter->slot_count),
			.pods = copy_of(counter->pods, counter->domain_capacity),
			.nodes = copy_of(counter->nodes, counter->domain_capacity),
		};
		equal = equals_rebuilt(counters, counter, state, &before);
		bt_free(before.own);
		bt_free(before.domains);
		bt_free(before.pods);
		bt_free(before.nodes);
		if (!equal) {
			bt_strbuf_printf(out_reason, "counter of key %.*s differs from a new one",
				BT_STR_ARG(counter->topology_key));
			return false;
		}
	}
	return true;
}
