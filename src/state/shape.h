/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_SHAPE_H
#define BT_STATE_SHAPE_H
/**
 * Shapes: pods with equal scheduling-relevant content share a shape. The shape has the spec
 * (without nodeName for assigned pods) and the parts of status that requests depend on, but not the
 * pod's name, uid, labels and namespace. Everything that depends only on this content is computed
 * once for the shape. Spec: 01b sections 3-8 (resources, host ports), 03b section 2.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "api/resources.h"
#include "api/selector.h"
#include "base/arena.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/hash_table.h"

/*
 * The parsed inter-pod affinity terms of a pod. The terms depend only on the spec, so they are in
 * the shape. The pod's namespace, which matters for terms without namespaces, is an argument of
 * bt_affinity_term_matches. Spec: 06 sections 3.3 and 3.4.
 */

struct bt_affinity_term {
	struct bt_selector selector;
	struct bt_selector namespace_selector; /* `nothing` if the term has no namespace selector */
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	/**
	 * The term has no namespaces and no namespace selector, so it applies to the namespace of
	 * the pod that has the term.
	 */
	bool in_own_namespace;
	struct bt_str topology_key;
	int32_t weight; /* of a preferred term; 0 for required terms */
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
	bool has_preferred;   /* the pod has preferred terms, valid or not */
	struct bt_str errors; /* errors of all terms; "" if all are valid */
};

/** Parse the terms. Texts are borrowed from the spec; the rest lives in the arena. */
const struct bt_affinity_terms *bt_affinity_terms_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena);

/**
 * Whether the term matches a pod with these labels in this namespace. owner_namespace: the
 * namespace of the pod with the term. namespace_labels: labels of the Namespace object of
 * namespace_, by the rule of spec 06 section 3.4.
 */
bool bt_affinity_term_matches(const struct bt_affinity_term *term, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels);

#define BT_SHAPE_NONE UINT32_MAX

/** A scalar resource of a pod: its column (node_table.h) and the amount. */
struct bt_shape_scalar {
	uint32_t resource; /* bt_node_table scalar column */
	int64_t value;
};

struct bt_shape {
	uint32_t id; /* index in the table; ids are reused */
	uint32_t ref_count;
	uint64_t serial; /* unique and not reused, for caches by shape */
	uint64_t hash;
	struct bt_arena arena; /* memory of everything below */
	/**
	 * The canonical pod. It has the spec and some fields of status: conditions of type
	 * PodResizePending (type, status, reason), statuses of containers and init containers,
	 * allocatedResources, resources, nodeAllocatableResourceClaimStatuses. metadata is empty;
	 * spec.priority is kept. Volumes with sources that the scheduler does not read are left
	 * out: admission adds a service account volume with a random name, which would give every
	 * pod a different shape. The entries of spec.resourceClaims have only their name, because
	 * the names of claims and templates often differ between pods; plugins read the pod's
	 * object instead.
	 *
	 * NULL: only `packed` is set, because the shape was made for an assigned pod and nothing
	 * has needed the unpacked pod yet. Always use bt_shape_pod.
	 */
	const struct bt_pod *pod;
	struct bt_str packed; /* if pod is NULL; see bt_message_pack */
	/** Requests that the pod adds to its node (variants A and Z of spec 01b). */
	int64_t requested[BT_STANDARD__COUNT];
	int64_t non_zero[BT_NON_ZERO_COUNT];
	struct bt_shape_scalar *scalars; /* sorted by name */
	uint32_t scalar_count;
	bt_host_port_list host_ports;
	/** Claim names of persistentVolumeClaim volumes, in order, with repetitions. */
	bt_str_list claim_names;
	bool has_affinity;                              /* podAffinity or podAntiAffinity present */
	bool has_required_anti_affinity;                /* podAntiAffinity.required non-empty */
	const struct bt_affinity_terms *affinity_terms; /* NULL unless has_affinity */
};

/** Unpack the canonical pod, which then stays unpacked. */
const struct bt_pod *bt_shape_unpack(const struct bt_shape *shape);
/**
 * The canonical pod. Call this only on the thread of the state: the first call for the shape of an
 * assigned pod may unpack the canonical pod, which writes to the shape.
 */
static inline const struct bt_pod *bt_shape_pod(const struct bt_shape *shape)
{
	return shape->pod != NULL ? shape->pod : bt_shape_unpack(shape);
}

struct bt_node_table;

/**
 * All shapes in use. An id is reused after the last reference is released; serials are not reused.
 */
struct bt_shape_table {
	BT_HASH_TABLE(struct bt_shape *) shapes; /* by id; NULL: free */
	struct bt_resource_gates gates;
	struct bt_node_table *nodes; /* scalar columns */
	uint64_t next_serial;
	struct bt_strbuf text; /* memory of one operation */
};

void bt_shape_table_finish(struct bt_shape_table *table);
/**
 * Returns the id of a pod's shape, with a reference. keep_node_name: true for a pod to be
 * scheduled, because plugins see its spec.nodeName (normally empty); false for an assigned pod.
 */
uint32_t bt_shape_ref_pod(
	struct bt_shape_table *table, const struct bt_pod *pod, bool keep_node_name);
/**
 * Returns the id of the shape of a pod to be scheduled, with a reference. The shape with id `guess`
 * (any number) is compared first, which saves hashing if the pod has this shape.
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
