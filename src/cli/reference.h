/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_REFERENCE_H
#define BT_CLI_REFERENCE_H
/**
 * Nodes as flags name them: by name, by a pattern with * and ?, or by a label selector in brackets:
 * node-1, 'node-a*', '[pool=spot,!gpu]'.
 */
#include "api/object.h"
#include "cluster/manifests.h"

enum bt_node_reference {
	BT_NODE_NAME,
	BT_NODE_PATTERN,
	BT_NODE_SELECTOR,
};

enum bt_node_reference bt_node_reference_of(struct bt_str text);
/** "*" stands for any bytes, "?" for one. */
bool bt_node_pattern_matches(struct bt_str pattern, struct bt_str name);
/**
 * Cut the reference in front of a separator off rest (0: all of it is one). A selector may hold the
 * separator, and ends with its bracket. BERTH_ERR_INVALID: it is not closed, or nothing is named.
 */
BT_MUST_USE int bt_node_reference_cut(
	struct bt_str *rest, char separator, struct bt_str *out_reference, struct berth_error *err);
/**
 * Set selected[i] for each node (by object index) that a pattern or selector matches; is_there
 * NULL: all of the cluster are there. Returns their number, or BERTH_ERR_INVALID for a selector
 * that cannot be read.
 */
BT_MUST_USE int64_t bt_node_reference_match(const struct bt_manifests *cluster,
	struct bt_str reference, bool (*is_there)(const void *context, uint32_t index),
	const void *context, bool *selected, struct berth_error *err);

/**
 * How people name a pod or a workload: NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME,
 * where KIND is a pod or a workload under any of the names that kubectl takes for it.
 */

/** The kind of such a word, in any case of letters; false when there is none. */
bool bt_pod_reference_find_kind(struct bt_str word, enum bt_kind *out_kind);

struct bt_pod_reference {
	enum bt_kind kind;
	struct bt_str namespace_; /* "": any */
	struct bt_str name;
	/** KIND/NAME whose KIND may be a namespace as well: the one to try next. "": there is none.
	 */
	struct bt_str other_namespace;
};

/**
 * Read an argument; namespace_ is the flag's, NULL without one. Texts are borrowed.
 * BERTH_ERR_INVALID: what is wrong with it, with the kinds there are.
 */
BT_MUST_USE int bt_pod_reference_parse(const char *argument, const char *namespace_,
	struct bt_pod_reference *out, struct berth_error *err);
#endif
