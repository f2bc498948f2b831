/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/equivalence.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/text_set.h"
#include "lib/aggregate.h"
#include "compat/predicate.h"

/**
 * The properties that all pods of a class share. Each member holds a reference in the cache's
 * `tables`.
 */
struct pod_class {
	uint32_t shape;
	uint32_t label_set;
	bt_sym scope; /* namespace and QoS class */
};

/** A cached result of a predicate for the pods of a class. */
struct answer {
	uint32_t predicate;
	uint32_t class_id;
	struct berth_predicate_result result; /* in the arena of the node cache */
};

struct berth_equivalence_node_cache {
	struct bt_str name; /* owned */
	const struct bt_state
		*state; /* state that `generation` is from; NULL: the node was an aggregate */
	int64_t generation;
	struct bt_arena arena;
	BT_HASH_TABLE(struct answer) answers;
};

struct berth_equivalence_cache {
	bool verify;
	struct bt_state
		*tables; /* shapes, labels and symbols of the classes; has no nodes and pods */
	BT_HASH_TABLE(struct pod_class) classes;
	uint64_t serial;
	BT_VEC(struct berth_equivalence_node_cache *) nodes;
	struct bt_text_set node_names; /* by index in nodes */
	uint64_t hits;
	uint64_t misses;
};

static void release_class(struct berth_equivalence_cache *cache, const struct pod_class *class)
{
	bt_shape_unref(&cache->tables->shapes, class->shape);
	bt_label_set_unref(&cache->tables->label_sets, class->label_set);
	bt_symbol_unref(&cache->tables->symbols, class->scope);
}

static void remove_answers(struct berth_equivalence_node_cache *node)
{
	node->answers.count = 0;
	bt_map_reset(&node->answers.map);
	bt_arena_reset(&node->arena);
}

static void remove_all(struct berth_equivalence_cache *cache)
{
	for (uint32_t i = 0; i < cache->classes.count; i++) {
		release_class(cache, &cache->classes.items[i]);
	}
	cache->classes.count = 0;
	bt_map_reset(&cache->classes.map);
	for (uint32_t i = 0; i < cache->nodes.count; i++) {
		remove_answers(cache->nodes.items[i]);
	}
	cache->serial++;
}

struct berth_equivalence_class berth_equivalence_class_of(
	struct berth_equivalence_cache *cache, const struct berth_pod *outside)
{
	const struct bt_pod *pod = bt_const_pod_of(outside);

	if (cache->classes.count == BERTH_EQUIVALENCE_CLASSES_MAX) {
		remove_all(cache);
	}
	/*
	 * Cached predicates read the namespace and the QoS class, which neither shape nor labels
	 * contain. So a symbol for namespace and QoS class is part of the pod class.
	 */
	struct bt_strbuf text = {0};
	bt_strbuf_append_str(&text, pod->metadata.namespace_);
	bt_strbuf_append_char(&text, '/');
	bt_strbuf_append_str(&text, pod->status.qos_class);
	struct pod_class class = {
		.shape = bt_shape_ref_pod(&cache->tables->shapes, pod, true),
		.label_set =
			bt_label_set_ref_map(&cache->tables->label_sets, &pod->metadata.labels),
		.scope = bt_symbol_ref_str(&cache->tables->symbols, bt_strbuf_str(&text)),
	};
	bt_strbuf_finish(&text);
	uint64_t hash = bt_hash_u64(
		bt_hash_u64(bt_hash_u64(0, class.shape), class.label_set), class.scope.id);

	BT_MAP_EACH (&cache->classes.map, hash, id) {
		const struct pod_class *known = &cache->classes.items[id];

		if (known->shape == class.shape && known->label_set == class.label_set &&
			bt_sym_equal(known->scope, class.scope)) {
			release_class(cache, &class);
			return (struct berth_equivalence_class){id, cache->serial};
		}
	}
	uint32_t added;

	bt_hash_table_add(&cache->classes, hash, class, added);
	return (struct berth_equivalence_class){added, cache->serial};
}

static struct berth_equivalence_node_cache *find_node(
	const struct berth_equivalence_cache *cache, struct bt_str name)
{
	uint32_t index = bt_text_set_find(&cache->node_names, name);

	return index != BT_MAP_NONE ? cache->nodes.items[index] : NULL;
}

struct berth_equivalence_node_cache *berth_equivalence_cache_get_node_cache(
	struct berth_equivalence_cache *cache, struct berth_str node_name)
{
	struct berth_equivalence_node_cache *node = find_node(cache, node_name);

	if (node != NULL) {
		return node;
	}
	node = BT_NEW(struct berth_equivalence_node_cache);
	node->name = bt_lib_own_text(node_name);
	bt_vec_push(&cache->nodes, node);
	bt_text_set_append(&cache->node_names, node->name);
	return node;
}

void berth_equivalence_cache_invalidate(
	struct berth_equivalence_cache *cache, struct berth_str node_name)
{
	struct berth_equivalence_node_cache *node = find_node(cache, node_name);

	if (node != NULL) {
		remove_answers(node);
	}
}

struct berth_equivalence_cache *berth_equivalence_cache_create(bool verify)
{
	struct berth_equivalence_cache *cache = BT_NEW(struct berth_equivalence_cache);
	struct bt_state_options options = {.resource_gates = bt_aggregate_default_gates};

	cache->verify = verify;
	cache->tables = bt_state_create(&options);
	return cache;
}

void berth_equivalence_cache_destroy(struct berth_equivalence_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	remove_all(cache);
	for (uint32_t i = 0; i < cache->nodes.count; i++) {
		struct berth_equivalence_node_cache *node = cache->nodes.items[i];

		bt_hash_table_finish(&node->answers);
		bt_arena_finish(&node->arena);
		bt_lib_free_text(node->name);
		bt_free(node);
	}
	bt_vec_finish(&cache->nodes);
	bt_text_set_finish(&cache->node_names);
	bt_hash_table_finish(&cache->classes);
	bt_state_destroy(cache->tables);
	bt_free(cache);
}

void berth_equivalence_cache_counters(
	const struct berth_equivalence_cache *cache, uint64_t *out_hits, uint64_t *out_misses)
{
	*out_hits = cache->hits;
	*out_misses = cache->misses;
}

bool berth_equivalence_cache_is_available(const struct berth_equivalence_cache *cache,
	const struct berth_equivalence_class *equivalence_class,
	const struct berth_equivalence_node_cache *node_cache, bool pods_added)
{
	return equivalence_class != NULL && node_cache != NULL && !pods_added &&
		equivalence_class->serial == cache->serial &&
		equivalence_class->id < cache->classes.count;
}

/**
 * Drops results that are older than the last change of the node. Returns false if results for the
 * node must not be cached here.
 */
static bool open_node(
	struct berth_equivalence_node_cache *node_cache, const struct berth_node_info *node)
{
	const struct bt_state *state = bt_const_node_info_of(node)->state;
	int64_t generation = berth_node_info_generation(node);

	/*
	 * Refuse other nodes, and views that the scheduler changed to try something: such a view
	 * has the generation of the unchanged node.
	 */
	if (!(bt_aggregate_of(node) != NULL || bt_const_node_info_of(node)->arena == NULL) ||
		!bt_str_equal(node_cache->name, berth_node_info_name(node))) {
		return false;
	}
	if (node_cache->state != state || node_cache->generation != generation ||
		node_cache->answers.count >= BERTH_EQUIVALENCE_ANSWERS_MAX) {
		remove_answers(node_cache);
		node_cache->state = state;
		node_cache->generation = generation;
	}
	return true;
}

static struct berth_predicate_result copy_result(
	const struct berth_predicate_result *result, struct bt_arena *arena)
{
	struct berth_predicate_failure_reason *reasons = BT_ARENA_NEW_ARRAY(
		arena, struct berth_predicate_failure_reason, result->reason_count);

	for (uint32_t i = 0; i < result->reason_count; i++) {
		reasons[i] = result->reasons[i];
		reasons[i].text = bt_arena_str(arena, reasons[i].text);
		reasons[i].insufficient.resource_name =
			bt_arena_str(arena, reasons[i].insufficient.resource_name);
	}
	return (struct berth_predicate_result){result->fits, reasons, result->reason_count};
}

int berth_equivalence_cache_run_predicate(struct berth_equivalence_cache *cache,
	struct berth_equivalence_node_cache *node_cache,
	const struct berth_equivalence_class *equivalence_class, const char *name,
	BERTH_PREDICATE_PARAMETERS)
{
	const struct berth_predicates *predicates = metadata != NULL ? metadata->predicates : NULL;
	berth_predicate_fn predicate = berth_predicate_find(predicates, name);
	uint32_t index = bt_predicate_index(name);
	const struct answer *kept = NULL;

	if (predicate == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "no predicate named %s exists", name);
	}
	bool keeps =
		berth_equivalence_cache_is_available(cache, equivalence_class, node_cache, false) &&
		index < BERTH_PREDICATE__COUNT &&
		(bt_predicate_infos[index].traits & BT_PREDICATE_LOCAL) != 0 &&
		(predicates == NULL || bt_predicate_find_registered(predicates, name) == NULL) &&
		open_node(node_cache, node);

	uint64_t hash = 0;
	if (keeps) {
		hash = bt_hash_u64(bt_hash_u64(0, index), equivalence_class->id);
		BT_MAP_EACH (&node_cache->answers.map, hash, at) {
			const struct answer *answer = &node_cache->answers.items[at];

			if (answer->predicate == index &&
				answer->class_id == equivalence_class->id) {
				kept = answer;
				break;
			}
		}
		cache->hits += kept != NULL;
		cache->misses += kept == NULL;
	}
	if (kept != NULL && !cache->verify) {
		*out_result = copy_result(&kept->result, bt_arena_of(arena));
		return BERTH_OK;
	}
	int result = predicate(pod, metadata, node, arena, out_result, err);

	if (result == BERTH_OK && kept != NULL) {
		bool equal = kept->result.fits == out_result->fits &&
			kept->result.reason_count == out_result->reason_count;

		for (uint32_t i = 0; equal && i < kept->result.reason_count; i++) {
			equal = bt_str_equal(
				kept->result.reasons[i].text, out_result->reasons[i].text);
		}
		if (!equal) {
			bt_panic("equivalence cache: %s answers differently now", name);
		}
	} else if (result == BERTH_OK && keeps) {
		struct answer answer = {
			index, equivalence_class->id, copy_result(out_result, &node_cache->arena)};
		uint32_t added;

		bt_hash_table_add(&node_cache->answers, hash, answer, added);
	}
	return result;
}
