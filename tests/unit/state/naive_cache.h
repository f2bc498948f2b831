/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_STATE_NAIVE_CACHE_H
#define BT_TESTS_UNIT_STATE_NAIVE_CACHE_H
/**
 * The scheduler cache of spec 03b as plain arrays and full recomputation; the random test compares
 * the state with this cache. Nodes, pods, pod variants, zones and images are small numbers; names
 * are made from them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "berth/error.h"

enum {
	NAIVE_NODES = 9,
	NAIVE_PODS = 24,
	NAIVE_IMAGES = 4,
	NAIVE_CLAIMS = 2,
	NAIVE_PORTS = 2,
	NAIVE_VARIANTS = 6,
	NAIVE_ZONES = 4,
	NAIVE_TEXT = 320,
};

/** Requests and properties of a pod variant; the JSON is in the test. */
struct naive_variant {
	int64_t cpu_milli;
	int64_t memory_bytes;
	int64_t non_zero_cpu_milli;
	int64_t scalar;
	bool affinity;
	bool anti_affinity;
	unsigned int ports;  /* one bit per port */
	unsigned int claims; /* one bit per claim */
};

struct naive_pod {
	bool known;
	bool assumed;
	int node;
	int variant;
};

struct naive_object {
	int zone;
	int cpu;
	unsigned int images; /* one bit per image */
	int64_t size_bytes;  /* of each of its images */
};

/** The aggregate of a node; copies in the snapshot have the same type. */
struct naive_entry {
	bool exists;
	bool has_node;
	struct naive_object object; /* the last node object */
	int pods[NAIVE_PODS];
	int pod_count;
	int variants[NAIVE_PODS]; /* variants of pods, in the same order */
	unsigned int ports;
	int64_t generation;
	/* Only copies in the snapshot use the image members. */
	int image_counts[NAIVE_IMAGES];
	int64_t image_sizes[NAIVE_IMAGES];
};

struct naive_image {
	bool exists;
	int64_t size_bytes;
	unsigned int nodes; /* one bit per node */
};

struct naive_tree {
	int zones[NAIVE_ZONES];
	int zone_count;
	int nodes[NAIVE_ZONES][NAIVE_NODES];
	int node_counts[NAIVE_ZONES]; /* by index in zones */
	int count;
};

struct naive_snapshot {
	struct naive_entry map[NAIVE_NODES];
	int list[NAIVE_NODES];
	int count;
	int64_t generation;
};

struct naive_cache {
	struct naive_pod pods[NAIVE_PODS];
	struct naive_entry entries[NAIVE_NODES];
	struct naive_image images[NAIVE_IMAGES];
	struct naive_tree tree;
	struct naive_snapshot snapshot;
	int64_t generation;
	char error[NAIVE_TEXT]; /* of the last operation; "": it succeeded */
};

static const struct naive_variant naive_variants[NAIVE_VARIANTS] = {
	{0},
	{.cpu_milli = 100, .memory_bytes = 1048576, .non_zero_cpu_milli = 100},
	{.cpu_milli = 250, .non_zero_cpu_milli = 250, .ports = 1},
	{.cpu_milli = 1000, .non_zero_cpu_milli = 1000, .affinity = true, .claims = 1},
	{.non_zero_cpu_milli = 100, .affinity = true, .anti_affinity = true, .claims = 3},
	{.non_zero_cpu_milli = 100, .scalar = 3, .ports = 3},
};

/** The key of a zone as Go quotes it: region ":" NUL ":" zone. */
static const char *const naive_zone_texts[NAIVE_ZONES] = {
	"", "r:\\x00:z1", "r:\\x00:z2", ":\\x00:z3"};

/* --- aggregate --- */

static void naive_attach(struct naive_cache *cache, int pod)
{
	struct naive_entry *entry = &cache->entries[cache->pods[pod].node];

	if (!entry->exists) {
		*entry = (struct naive_entry){.exists = true};
	}
	entry->pods[entry->pod_count] = pod;
	entry->variants[entry->pod_count++] = cache->pods[pod].variant;
	entry->ports |= naive_variants[cache->pods[pod].variant].ports;
	entry->generation = ++cache->generation;
}

static void naive_detach(struct naive_cache *cache, int pod)
{
	struct naive_entry *entry = &cache->entries[cache->pods[pod].node];
	int at = 0;

	while (entry->pods[at] != pod) {
		at++;
	}
	entry->pod_count--;
	entry->pods[at] = entry->pods[entry->pod_count];
	entry->variants[at] = entry->variants[entry->pod_count];
	entry->ports &= ~naive_variants[cache->pods[pod].variant].ports;
	entry->generation = ++cache->generation;
	if (entry->pod_count == 0 && !entry->has_node) {
		entry->exists = false;
	}
}

/* --- pods --- */

static void naive_fail(struct naive_cache *cache, const char *lead, int pod, const char *tail)
{
	(void)snprintf(cache->error, sizeof(cache->error), "%spod p%d-uid(ns/p%d) %s", lead, pod,
		pod, tail);
}

static void naive_add(struct naive_cache *cache, int pod, int node, int variant, bool assumed)
{
	cache->pods[pod] = (struct naive_pod){true, assumed, node, variant};
	naive_attach(cache, pod);
}

static void naive_remove(struct naive_cache *cache, int pod)
{
	naive_detach(cache, pod);
	cache->pods[pod].known = false;
	cache->pods[pod].assumed = false;
}

static void naive_assume_pod(struct naive_cache *cache, int pod, int node, int variant)
{
	if (cache->pods[pod].known) {
		naive_fail(cache, "", pod, "is in the cache, so can't be assumed");
		return;
	}
	naive_add(cache, pod, node, variant, true);
}

static void naive_forget_pod(struct naive_cache *cache, int pod, int node)
{
	const struct naive_pod *cached = &cache->pods[pod];

	if (!cached->known) {
		return;
	}
	if (cached->node != node) {
		char tail[64];
		(void)snprintf(tail, sizeof(tail), "was assumed on n%d but assigned to n%d", node,
			cached->node);
		naive_fail(cache, "", pod, tail);
	} else if (!cached->assumed) {
		naive_fail(cache, "", pod, "wasn't assumed so cannot be forgotten");
	} else {
		naive_remove(cache, pod);
	}
}

static void naive_add_pod(struct naive_cache *cache, int pod, int node, int variant)
{
	if (cache->pods[pod].known && !cache->pods[pod].assumed) {
		naive_fail(cache, "", pod, "was already in added state");
		return;
	}
	if (cache->pods[pod].known) {
		naive_remove(cache, pod);
	}
	naive_add(cache, pod, node, variant, false);
}

/* Updates the cached pod old_pod to new_pod, which is old_pod or a pod that is not cached. */
static void naive_update_pod(
	struct naive_cache *cache, int old_pod, int new_pod, int node, int variant)
{
	const struct naive_pod *cached = &cache->pods[old_pod];

	if (!cached->known) {
		naive_fail(cache, "", old_pod,
			"is not added to scheduler cache, so cannot be updated");
	} else if (cached->assumed) {
		naive_fail(cache, "assumed ", old_pod, "should not be updated");
	} else if (cached->node != node) {
		(void)snprintf(cache->error, sizeof(cache->error),
			"Pod updated on a different node than previously added to. Scheduler cache "
			"is corrupted and can "
			"badly affect scheduling decisions");
	} else {
		naive_remove(cache, old_pod);
		naive_add(cache, new_pod, node, variant, false);
	}
}

/* Removes the pod; node: the node of the removed object, < 0 if the object has no node name. */
static void naive_remove_pod(struct naive_cache *cache, int pod, int node)
{
	if (!cache->pods[pod].known) {
		naive_fail(cache, "", pod,
			"is not found in scheduler cache, so cannot be removed from it");
	} else if (node >= 0 && cache->pods[pod].node != node) {
		(void)snprintf(cache->error, sizeof(cache->error),
			"Scheduler cache is corrupted and can badly affect scheduling decisions");
	} else {
		naive_remove(cache, pod);
	}
}

/* --- tree --- */

static int naive_find_zone(const struct naive_tree *tree, int zone)
{
	int at = 0;

	while (at < tree->zone_count && tree->zones[at] != zone) {
		at++;
	}
	return at;
}

static void naive_tree_add(struct naive_tree *tree, int node, int zone)
{
	int at = naive_find_zone(tree, zone);

	if (at == tree->zone_count) {
		tree->zones[at] = zone;
		tree->node_counts[at] = 0;
		tree->zone_count++;
	}
	for (int i = 0; i < tree->node_counts[at]; i++) {
		if (tree->nodes[at][i] == node) {
			return;
		}
	}
	tree->nodes[at][tree->node_counts[at]++] = node;
	tree->count++;
}

static bool naive_tree_remove(struct naive_tree *tree, int node, int zone)
{
	int at = naive_find_zone(tree, zone);
	int found = -1;

	if (at == tree->zone_count) {
		return false;
	}
	for (int i = 0; i < tree->node_counts[at]; i++) {
		found = tree->nodes[at][i] == node ? i : found;
	}
	if (found < 0) {
		return false;
	}
	for (int i = found; i + 1 < tree->node_counts[at]; i++) {
		tree->nodes[at][i] = tree->nodes[at][i + 1];
	}
	tree->count--;
	if (--tree->node_counts[at] == 0) {
		for (int i = at; i + 1 < tree->zone_count; i++) {
			tree->zones[i] = tree->zones[i + 1];
			tree->node_counts[i] = tree->node_counts[i + 1];
			memcpy(tree->nodes[i], tree->nodes[i + 1], sizeof(tree->nodes[i]));
		}
		tree->zone_count--;
	}
	return true;
}

static bool naive_tree_has(const struct naive_tree *tree, int node)
{
	for (int zone = 0; zone < tree->zone_count; zone++) {
		for (int i = 0; i < tree->node_counts[zone]; i++) {
			if (tree->nodes[zone][i] == node) {
				return true;
			}
		}
	}
	return false;
}

static int naive_tree_list(const struct naive_tree *tree, int *out_nodes)
{
	int written = 0;

	for (int round = 0; written < tree->count; round++) {
		for (int zone = 0; zone < tree->zone_count; zone++) {
			if (round < tree->node_counts[zone]) {
				out_nodes[written++] = tree->nodes[zone][round];
			}
		}
	}
	return written;
}

/* --- nodes --- */

static void naive_remove_images(struct naive_cache *cache, int node)
{
	for (int i = 0; i < NAIVE_IMAGES; i++) {
		cache->images[i].nodes &= ~(1U << node);
		cache->images[i].exists = cache->images[i].nodes != 0;
	}
}

static void naive_set_node(struct naive_cache *cache, int node, const struct naive_object *object)
{
	struct naive_entry *entry = &cache->entries[node];

	if (!entry->exists) {
		*entry = (struct naive_entry){.exists = true};
	}
	naive_remove_images(cache, node);
	for (int i = 0; i < NAIVE_IMAGES; i++) {
		if ((object->images >> i & 1) == 0) {
			continue;
		}
		if (!cache->images[i].exists) {
			cache->images[i].exists = true;
			cache->images[i].size_bytes = object->size_bytes;
		}
		cache->images[i].nodes |= 1U << node;
	}
	entry->has_node = true;
	entry->object = *object;
	entry->generation = ++cache->generation;
}

static void naive_add_node(struct naive_cache *cache, int node, const struct naive_object *object)
{
	naive_set_node(cache, node, object);
	naive_tree_add(&cache->tree, node, object->zone);
}

static void naive_update_node(
	struct naive_cache *cache, int node, int old_zone, const struct naive_object *object)
{
	if (!cache->entries[node].exists) {
		naive_add_node(cache, node, object);
		return;
	}
	naive_set_node(cache, node, object);
	if (old_zone != object->zone) {
		(void)naive_tree_remove(&cache->tree, node, old_zone);
		naive_tree_add(&cache->tree, node, object->zone);
	}
}

static void naive_remove_node(struct naive_cache *cache, int node, int zone)
{
	struct naive_entry *entry = &cache->entries[node];

	if (!entry->exists) {
		(void)snprintf(cache->error, sizeof(cache->error), "node n%d is not found", node);
		return;
	}
	entry->has_node = false;
	entry->generation = ++cache->generation;
	entry->exists = entry->pod_count != 0;
	if (!naive_tree_remove(&cache->tree, node, zone)) {
		(void)snprintf(cache->error, sizeof(cache->error),
			"node \"n%d\" in group \"%s\" was not found", node, naive_zone_texts[zone]);
		return;
	}
	naive_remove_images(cache, node);
}

/* --- snapshot --- */

static void naive_copy(struct naive_cache *cache, int node)
{
	struct naive_entry *copy = &cache->snapshot.map[node];

	*copy = cache->entries[node];
	for (int i = 0; i < NAIVE_IMAGES; i++) {
		copy->image_sizes[i] = cache->images[i].size_bytes;
		copy->image_counts[i] = 0;
		for (int k = 0; k < NAIVE_NODES; k++) {
			copy->image_counts[i] += (int)(cache->images[i].nodes >> k & 1);
		}
	}
}

static void naive_rebuild_list(struct naive_cache *cache)
{
	int nodes[NAIVE_NODES];
	int count = naive_tree_list(&cache->tree, nodes);

	cache->snapshot.count = 0;
	for (int i = 0; i < count; i++) {
		if (cache->snapshot.map[nodes[i]].exists) {
			cache->snapshot.list[cache->snapshot.count++] = nodes[i];
		}
	}
}

static int naive_count(const struct naive_entry *entries)
{
	int count = 0;

	for (int node = 0; node < NAIVE_NODES; node++) {
		count += entries[node].exists;
	}
	return count;
}

/* Spec 03b section 7.2, step by step. */
static void naive_refresh(struct naive_cache *cache)
{
	struct naive_snapshot *snapshot = &cache->snapshot;
	bool rebuild = false;

	for (int node = 0; node < NAIVE_NODES; node++) {
		const struct naive_entry *entry = &cache->entries[node];
		if (!entry->exists || !entry->has_node ||
			entry->generation <= snapshot->generation) {
			continue;
		}
		rebuild = rebuild || !snapshot->map[node].exists;
		naive_copy(cache, node);
	}
	snapshot->generation = cache->generation;
	if (naive_count(snapshot->map) > cache->tree.count) {
		for (int node = 0; node < NAIVE_NODES; node++) {
			if (!cache->entries[node].exists || !cache->entries[node].has_node) {
				snapshot->map[node].exists = false;
			}
		}
		rebuild = true;
	}
	if (rebuild) {
		naive_rebuild_list(cache);
	}
	if (snapshot->count != cache->tree.count) {
		(void)snprintf(cache->error, sizeof(cache->error),
			"snapshot state is not consistent, length of NodeInfoList=%d not equal to "
			"length of nodes in tree=%d "
			", length of NodeInfoMap=%d, length of nodes in cache=%d, trying to "
			"recover",
			snapshot->count, cache->tree.count, naive_count(snapshot->map),
			naive_count(cache->entries));
		naive_rebuild_list(cache);
	}
}
#endif
