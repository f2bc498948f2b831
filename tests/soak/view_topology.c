/* SPDX-License-Identifier: Apache-2.0 */
/** Selectors, topology spread and pod affinity, with plain loops. Spec: 01 section 5, 06. */
#include "soak/view.h"

static const struct bt_str everywhere = {NULL, 0};

/** --- selectors --- */

static bool has_value(const bt_str_list *values, const struct bt_str *value)
{
	for (uint32_t i = 0; value != NULL && i < values->count; i++) {
		if (bt_str_equal(values->items[i], *value)) {
			return true;
		}
	}
	return false;
}

static bool holds(struct bt_str operator_, const bt_str_list *values, const struct bt_str *value)
{
	if (bt_str_equal_c(operator_, "In")) {
		return has_value(values, value);
	}
	if (bt_str_equal_c(operator_, "NotIn")) {
		return !has_value(values, value);
	}
	if (bt_str_equal_c(operator_, "Exists")) {
		return value != NULL;
	}
	return value == NULL; /* DoesNotExist; the workloads use no further operator */
}

static bool map_holds(const struct bt_str_map *wanted, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, wanted->items[i].key);
		if (value == NULL || !bt_str_equal(*value, wanted->items[i].value)) {
			return false;
		}
	}
	return true;
}

bool bt_sim_selector_matches(
	const struct bt_label_selector *selector, const struct bt_str_map *labels)
{
	if (selector == NULL || !map_holds(&selector->match_labels, labels)) {
		return false;
	}
	for (uint32_t i = 0; i < selector->match_expressions.count; i++) {
		const struct bt_label_selector_requirement *requirement =
			&selector->match_expressions.items[i];
		if (!holds(requirement->operator_, &requirement->values,
			    bt_str_map_find(labels, requirement->key))) {
			return false;
		}
	}
	return true;
}

static bool term_holds(const struct bt_node_selector_term *term, const struct bt_node *node)
{
	for (uint32_t i = 0; i < term->match_expressions.count; i++) {
		const struct bt_node_selector_requirement *requirement =
			&term->match_expressions.items[i];
		if (!holds(requirement->operator_, &requirement->values,
			    bt_str_map_find(&node->metadata.labels, requirement->key))) {
			return false;
		}
	}
	for (uint32_t i = 0; i < term->match_fields.count; i++) {
		if (!holds(term->match_fields.items[i].operator_,
			    &term->match_fields.items[i].values, &node->metadata.name)) {
			return false;
		}
	}
	return term->match_expressions.count + term->match_fields.count != 0;
}

static bool selector_holds(const struct bt_node_selector *selector, const struct bt_node *node)
{
	for (uint32_t i = 0; i < selector->terms.count; i++) {
		if (term_holds(&selector->terms.items[i], node)) {
			return true;
		}
	}
	return false;
}

bool bt_sim_node_is_selected(const struct bt_pod *pod, const struct bt_node *node)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (!map_holds(&pod->spec.node_selector, &node->metadata.labels)) {
		return false;
	}
	return affinity == NULL || affinity->node_affinity == NULL ||
		affinity->node_affinity->required == NULL ||
		selector_holds(affinity->node_affinity->required, node);
}

static const struct bt_str *domain_of(const struct bt_node *node, struct bt_str key)
{
	return node != NULL ? bt_str_map_find(&node->metadata.labels, key) : NULL;
}

static bool in_domain(const struct bt_sim_view *view, struct bt_str node_name, struct bt_str key,
	struct bt_str value)
{
	const struct bt_str *domain = domain_of(bt_sim_view_node(view, node_name), key);
	return domain != NULL && bt_str_equal(*domain, value);
}

static bool is_same(const struct bt_pod *a, const struct bt_pod *b)
{
	return bt_str_equal(a->metadata.uid, b->metadata.uid);
}

/** --- topology spread: spec 06 --- */

typedef struct bt_topology_spread_constraint spread;

static bool is_hard(const spread *constraint)
{
	return bt_str_equal_c(constraint->when_unsatisfiable, "DoNotSchedule");
}

/**
 * Whether the node counts for the constraints of the pod: the node matches nodeSelector and node
 * affinity of the pod, and has the topology keys of all hard constraints.
 */
static bool counts(const struct bt_pod *pod, const struct bt_node *node)
{
	if (node == NULL || !bt_sim_node_is_selected(pod, node)) {
		return false;
	}
	for (uint32_t i = 0; i < pod->spec.topology_spread_constraints.count; i++) {
		const spread *constraint = &pod->spec.topology_spread_constraints.items[i];
		if (is_hard(constraint) && domain_of(node, constraint->topology_key) == NULL) {
			return false;
		}
	}
	return true;
}

static int64_t matching_in(const struct bt_sim_view *view, const struct bt_pod *pod,
	const spread *constraint, struct bt_str value)
{
	int64_t count = 0;
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_pod *other = view->placed.items[i].pod;
		if (!is_same(other, pod) && other->metadata.deletion_timestamp == NULL &&
			bt_str_equal(other->metadata.namespace_, pod->metadata.namespace_) &&
			bt_sim_selector_matches(
				constraint->label_selector, &other->metadata.labels) &&
			counts(pod, bt_sim_view_node(view, view->placed.items[i].node_name)) &&
			in_domain(view, view->placed.items[i].node_name, constraint->topology_key,
				value)) {
			count++;
		}
	}
	return count;
}

/** The lowest number of matching pods in a domain; 0 if there are fewer domains than minDomains. */
static int64_t least_in_a_domain(
	struct bt_sim_view *view, const struct bt_pod *pod, const spread *constraint)
{
	BT_VEC(struct bt_str) seen = {0};
	const struct bt_node *node;
	uint32_t cursor = 0;
	int64_t least = INT64_MAX;
	while ((node = bt_object_store_next(view->objects, BT_KIND_NODE, everywhere, &cursor)) !=
		NULL) {
		const struct bt_str *value = domain_of(node, constraint->topology_key);
		bool is_new = counts(pod, node);
		for (uint32_t i = 0; is_new && i < seen.count; i++) {
			is_new = !bt_str_equal(seen.items[i], *value);
		}
		if (is_new) {
			int64_t matching = matching_in(view, pod, constraint, *value);
			least = matching < least ? matching : least;
			bt_vec_push(&seen, *value);
		}
	}
	int64_t wanted = constraint->min_domains.present ? constraint->min_domains.value : 1;
	bool few = (int64_t)seen.count < wanted;
	bt_vec_finish(&seen);
	return few ? 0 : least;
}

bool bt_sim_spread_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	for (uint32_t i = 0; i < pod->spec.topology_spread_constraints.count; i++) {
		const spread *constraint = &pod->spec.topology_spread_constraints.items[i];
		if (!is_hard(constraint)) {
			continue;
		}
		const struct bt_str *value = domain_of(node, constraint->topology_key);
		if (value == NULL) {
			return false;
		}
		bool itself =
			bt_sim_selector_matches(constraint->label_selector, &pod->metadata.labels);
		int64_t skew = matching_in(view, pod, constraint, *value) + (itself ? 1 : 0) -
			least_in_a_domain(view, pod, constraint);
		if (skew > constraint->max_skew) {
			return false;
		}
	}
	return true;
}

/** --- pod affinity: spec 06 --- */

/**
 * Whether the term of the pod `owner` matches the pod `other`. Terms of the workloads have no
 * namespaces, so they match only pods in the namespace of `owner`.
 */
static bool is_about(const struct bt_pod_affinity_term *term, const struct bt_pod *owner,
	const struct bt_pod *other)
{
	return bt_str_equal(owner->metadata.namespace_, other->metadata.namespace_) &&
		bt_sim_selector_matches(term->label_selector, &other->metadata.labels);
}

static const struct bt_pod_affinity *affinity_of(const struct bt_pod *pod, bool anti)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (affinity == NULL) {
		return NULL;
	}
	return anti ? affinity->pod_anti_affinity : affinity->pod_affinity;
}

static bool same_domain(const struct bt_sim_view *view, const struct bt_node *node,
	struct bt_str other_node, struct bt_str key)
{
	const struct bt_str *value = domain_of(node, key);
	return value != NULL && in_domain(view, other_node, key, *value);
}

/** Whether required anti-affinity of the pod or of a placed pod keeps the pod off the node. */
static bool is_repelled(
	const struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_sim_placed *placed = &view->placed.items[i];
		if (is_same(placed->pod, pod)) {
			continue;
		}
		for (int direction = 0; direction < 2; direction++) {
			const struct bt_pod *owner = direction == 0 ? pod : placed->pod;
			const struct bt_pod *other = direction == 0 ? placed->pod : pod;
			const struct bt_pod_affinity *anti = affinity_of(owner, true);
			for (uint32_t k = 0; anti != NULL && k < anti->required.count; k++) {
				const struct bt_pod_affinity_term *term = &anti->required.items[k];
				if (is_about(term, owner, other) &&
					same_domain(view, node, placed->node_name,
						term->topology_key)) {
					return true;
				}
			}
		}
	}
	return false;
}

static bool all_about(const struct bt_pod_affinity *affinity, const struct bt_pod *owner,
	const struct bt_pod *other)
{
	for (uint32_t i = 0; i < affinity->required.count; i++) {
		if (!is_about(&affinity->required.items[i], owner, other)) {
			return false;
		}
	}
	return true;
}

/**
 * Whether the node satisfies the pod's required affinity. For every term, the node's domain must
 * have a placed pod that matches all terms. If no placed pod matches all terms, a pod that matches
 * its own terms needs no other pod.
 */
static bool is_attracted(
	const struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	const struct bt_pod_affinity *affinity = affinity_of(pod, false);
	bool anybody = false;
	bool satisfied = true;
	for (uint32_t i = 0; affinity != NULL && i < affinity->required.count; i++) {
		struct bt_str key = affinity->required.items[i].topology_key;
		bool found = false;
		if (domain_of(node, key) == NULL) {
			return false;
		}
		for (uint32_t k = 0; k < view->placed.count; k++) {
			const struct bt_sim_placed *placed = &view->placed.items[k];
			if (!is_same(placed->pod, pod) && all_about(affinity, pod, placed->pod) &&
				domain_of(bt_sim_view_node(view, placed->node_name), key) != NULL) {
				anybody = true;
				found = found || same_domain(view, node, placed->node_name, key);
			}
		}
		satisfied = satisfied && found;
	}
	return satisfied || (!anybody && all_about(affinity, pod, pod));
}

bool bt_sim_affinity_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	return !is_repelled(view, pod, node) && is_attracted(view, pod, node);
}
