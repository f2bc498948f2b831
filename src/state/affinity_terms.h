/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_AFFINITY_TERMS_H
#define BT_STATE_AFFINITY_TERMS_H
/**
 * The inter-pod affinity terms of a pod, parsed. They depend on the spec alone and are kept with
 * the shape; the one thing that is the pod's own, its namespace where a term names none, is an
 * argument here. Spec: 06 sections 3.3 and 3.4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "api/selector.h"
#include "base/arena.h"

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
#endif
