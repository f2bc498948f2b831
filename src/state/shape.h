/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_SHAPE_H
#define BT_STATE_SHAPE_H
/**
 * Shapes: pods whose scheduling-relevant content is equal share one. A shape holds the spec
 * (without nodeName once the pod is assigned) and the parts of status that its requests depend on;
 * identity, labels and namespace are the pod's own. Everything that can be computed from that alone
 * is computed once, here. Spec: 01b sections 3-8 (resources, host ports), 03b section 2.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "api/resources.h"
#include "api/selector.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/symbol.h"
#include "base/vec.h"

/*
 * The inter-pod affinity terms of a pod, parsed. They depend on the spec alone and are kept with
 * the shape; the one thing that is the pod's own, its namespace where a term names none, is an
 * argument here. Spec: 06 sections 3.3 and 3.4.
 */

struct bt_affinity_term {
	struct bt_selector selector;
	struct bt_selector namespace_selector; /* `nothing` when the term has none */
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	bool in_own_namespace; /* neither names nor selector: the namespace of the pod that has the
	                          term */
	struct bt_str topology_key;
	int32_t weight; /* preferred terms; 0 otherwise */
};

enum bt_affinity_group {
	BT_AFFINITY_REQUIRED,
	BT_ANTI_AFFINITY_REQUIRED,
	BT_AFFINITY_PREFERRED,
	BT_ANTI_AFFINITY_PREFERRED,
	BT_AFFINITY_GROUP__COUNT,
};

struct bt_affinity_term_list {
	uint32_t count;
	const struct bt_affinity_term *items;
};

struct bt_affinity_terms {
	/** A group with an invalid term is empty. */
	struct bt_affinity_term_list groups[BT_AFFINITY_GROUP__COUNT];
	bool has_preferred;   /* the pod lists some, valid or not */
	struct bt_str errors; /* aggregated; "" when everything is valid */
};

/** Text is borrowed from the spec, everything else lives in the arena. */
const struct bt_affinity_terms *bt_affinity_terms_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena);

/**
 * The term selects a pod with these labels in this namespace. owner_namespace: of the pod that has
 * the term. namespace_labels: of the selected pod's Namespace object as the rule of section 3.4
 * wants them.
 */
bool bt_affinity_term_matches(const struct bt_affinity_term *term, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels);

#define BT_SHAPE_NONE UINT32_MAX

/** A scalar resource of a pod: index of its column (node_table.h) and amount. */
struct bt_shape_scalar {
	uint32_t resource; /* bt_node_table scalar column */
	int64_t value;
};

struct bt_shape {
	uint32_t id; /* index in the table; reused */
	uint32_t ref_count;
	uint64_t serial; /* never reused: what a cache keyed by shape compares */
	uint64_t hash;
	struct bt_arena arena; /* owns everything below */
	/**
	 * Canonical pod: spec, and of status the conditions of type PodResizePending (type, status,
	 * reason), container statuses, allocatedResources, resources,
	 * nodeAllocatableResourceClaimStatuses. metadata is empty; spec.priority is kept. Volumes
	 * whose source a scheduler does not read are left out: the service account volume that
	 * admission adds has a random name, which would give every pod a shape of its own.
	 */
	const struct bt_pod *pod;
	/** Contribution to its node (variants A and Z). */
	int64_t requested_cpu_milli;
	int64_t requested_memory_bytes;
	int64_t requested_ephemeral_bytes;
	int64_t non_zero_cpu_milli;
	int64_t non_zero_memory_bytes;
	struct bt_shape_scalar *scalars; /* ascending by name */
	uint32_t scalar_count;
	bt_host_port_list host_ports;
	/** Claim names of persistentVolumeClaim volumes, one per volume entry (repeats kept). */
	bt_str_list claim_names;
	bool has_affinity;                              /* podAffinity or podAntiAffinity present */
	bool has_required_anti_affinity;                /* podAntiAffinity.required non-empty */
	const struct bt_affinity_terms *affinity_terms; /* NULL unless has_affinity */
};

struct bt_node_table;

/** All shapes in use. Ids are reused after the last reference is gone, serials are not. */
struct bt_shape_table {
	struct bt_map map;
	BT_VEC(struct bt_shape *) shapes; /* by id; NULL = free */
	BT_VEC(uint32_t) free_ids;
	struct bt_resource_gates gates;
	struct bt_node_table *nodes; /* scalar columns */
	uint64_t next_serial;
	size_t first_bytes; /* for a new shape at first: what the last one needed */
};

void bt_shape_table_init(struct bt_shape_table *table, const struct bt_resource_gates *gates,
	struct bt_node_table *nodes);
void bt_shape_table_finish(struct bt_shape_table *table);
/**
 * The shape of a pod, one reference taken. keep_node_name: the pod is to be scheduled (its
 * spec.nodeName, normally empty, is part of what plugins see); false for an assigned pod.
 */
uint32_t bt_shape_ref_pod(
	struct bt_shape_table *table, const struct bt_pod *pod, bool keep_node_name);
/**
 * The same for a pod to be scheduled that may well have the shape `guess`: looked at first, which
 * saves hashing. Any number will do.
 */
uint32_t bt_shape_ref_pending(
	struct bt_shape_table *table, const struct bt_pod *pod, uint32_t guess);
void bt_shape_ref(struct bt_shape_table *table, uint32_t id);
void bt_shape_unref(struct bt_shape_table *table, uint32_t id);
static inline const struct bt_shape *bt_shape_at(const struct bt_shape_table *table, uint32_t id)
{
	return table->shapes.items[id];
}
#endif
