/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_REFERENCE_H
#define BT_PLANNING_REFERENCE_H
/**
 * References to nodes in flags: by name, by a pattern with * and ?, or by a label selector in
 * brackets: node-1, 'node-a*', '[pool=spot,!gpu]'.
 */
#include "api/object.h"
#include "cluster/manifests.h"

enum bt_node_reference {
	BT_NODE_NAME,
	BT_NODE_PATTERN,
	BT_NODE_SELECTOR,
};

enum bt_node_reference bt_node_reference_of(struct bt_str text);
/**
 * Sets *out_reference to the first reference in rest, and rest to the text after the separator
 * (separator 0: all of rest is one reference). A selector may contain the separator and ends with
 * its closing bracket. BERTH_ERR_INVALID: the bracket is not closed, other text than a separator
 * follows the bracket, or the reference is empty.
 */
BT_MUST_USE int bt_node_reference_cut(
	struct bt_str *rest, char separator, struct bt_str *out_reference, struct berth_error *err);
/**
 * Sets selected[i] for each node (object i) that the pattern or selector matches; other entries
 * keep their values. is_there: whether to consider the node at index; NULL: consider all nodes.
 * Returns the number of nodes that match, or BERTH_ERR_INVALID for a malformed selector.
 */
BT_MUST_USE int64_t bt_node_reference_match(const struct bt_manifests *cluster,
	struct bt_str reference, bool (*is_there)(const void *context, uint32_t index),
	const void *context, bool *selected, struct berth_error *err);

/**
 * A reference to a pod or a workload: NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME, where
 * KIND is any name that kubectl accepts for a pod or a workload.
 */

/** Finds the kind that KIND names, ignoring case. Returns false if KIND names no kind. */
bool bt_pod_reference_find_kind(struct bt_str word, enum bt_kind *out_kind);

struct bt_pod_reference {
	enum bt_kind kind;
	struct bt_str namespace_; /* "": any */
	struct bt_str name;
	/**
	 * "job/web" can mean the Job "web" or the pod "web" in namespace "job". kind and name then
	 * mean the Job. other_namespace is "job": if the Job does not exist, the pod is searched in
	 * that namespace. "": the argument has only one meaning.
	 */
	struct bt_str other_namespace;
};

/**
 * Parses an argument. namespace_: value of --namespace, or NULL. Texts are borrowed.
 * BERTH_ERR_INVALID: says what is wrong and what to write.
 */
BT_MUST_USE int bt_pod_reference_parse(const char *argument, const char *namespace_,
	struct bt_pod_reference *out, struct berth_error *err);
#endif
