/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_TREE_H
#define BT_CLUSTER_TREE_H
/**
 * Functions that controllers use on objects in the form of JSON trees, in addition to
 * codec/json_edit.h.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/arena.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "cluster/controller.h"

/** Returns "ns/name", or "name" of a cluster-scoped object. */
struct bt_str bt_tree_key(struct bt_arena *arena, const struct bt_json_value *object);
bool bt_tree_is_deleting(const struct bt_json_value *object);
/** Returns the time at a path in seconds since 1970, or 0. */
int64_t bt_tree_seconds(const struct bt_json_value *object, const char *dotted_path);
/** Returns the text of a direct member, whose name may contain dots, or "". */
struct bt_str bt_tree_text(const struct bt_json_value *texts, const char *name);
/** Returns a member of metadata.labels or metadata.annotations, or "". */
struct bt_str bt_tree_label(const struct bt_json_value *object, const char *name);
struct bt_str bt_tree_annotation(const struct bt_json_value *object, const char *name);

/**
 * Parses a LabelSelector, or (is_map) an object of labels that must be equal. Returns false if the
 * selector is invalid, or matches everything, which no controller of pods accepts.
 */
bool bt_tree_selector(struct bt_arena *arena, const struct bt_json_value *selector, bool is_map,
	struct bt_selector *out_selector);
bool bt_tree_matches(struct bt_arena *arena, const struct bt_selector *selector,
	const struct bt_json_value *labels);
/**
 * Decodes a tree into the struct that a message table of api/ describes. Returns false if the tree
 * does not fit the table, for example because a member has another type.
 */
bool bt_tree_decode(struct bt_arena *arena, const struct bt_json_value *tree,
	const struct bt_message *message, void *out);

/** The first members of structs that bt_tree_compare_ordered compares. */
struct bt_tree_order {
	int64_t number; /* creation time or revision */
	struct bt_str name;
};

/** Compares two structs, for qsort: by number, then by name. */
int bt_tree_compare_ordered(const void *left, const void *right);

/** --- conditions --- */

struct bt_tree_condition {
	const char *type;
	const char *status;
	const char *reason;
	struct bt_str message;
};

/**
 * Sets a condition in an array that may be changed. A condition with the same status and reason
 * keeps its message, because messages of failures often differ in details. lastTransitionTime
 * changes with the status only. update_time: every change also sets lastUpdateTime. Returns whether
 * anything changed.
 */
bool bt_tree_set_condition(struct bt_arena *arena, struct bt_json_value *conditions,
	const struct bt_tree_condition *condition, bool update_time, int64_t now_ns);

/** --- writes --- */

/**
 * Returns whether `stored` has every member of `wanted`; a member that is zero, empty or null
 * counts as absent.
 */
bool bt_tree_covers(const struct bt_json_value *stored, const struct bt_json_value *wanted);
/**
 * Patches the status with these members, unless the status has them already. Returns false if the
 * write failed and must be tried again.
 */
bool bt_tree_write_status(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_json_value *status, struct bt_arena *arena);
/**
 * Returns a pod (or Job) made from a template: labels, annotations, finalizers and spec are copied
 * (their texts are borrowed), and the owner reference is added. name: metadata.name, or
 * generateName if generated.
 */
struct bt_json_value *bt_tree_from_template(struct bt_arena *arena,
	const struct bt_json_value *template_, struct bt_json_value *owner_reference,
	struct bt_str name, bool generated);
/**
 * Makes the synced object the controller of an object without a controller, and adds the finalizer
 * (may be NULL). Returns false and sets sync->failed if the write failed.
 */
bool bt_tree_adopt(struct bt_sync *sync, enum bt_hub_kind kind, const struct bt_json_value *object,
	const char *finalizer);
/**
 * Removes the references to this owner and the finalizer (may be NULL) from an object. Returns
 * false if the write failed.
 */
bool bt_tree_release(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_str owner_uid, const char *finalizer,
	struct bt_arena *arena);
/**
 * Hashes the template together with the collision count. Returns the hash as a part of names, in
 * letters and digits that form no words: spec 14b section 6.2. ignored_label (may be NULL) is left
 * out of the labels.
 */
struct bt_str bt_tree_template_hash(struct bt_arena *arena, const struct bt_json_value *template_,
	const char *ignored_label, int64_t collisions);
/** Returns whether the templates are equal except for the label ignored_label. */
bool bt_tree_templates_equal(struct bt_arena *arena, const struct bt_json_value *a,
	const struct bt_json_value *b, const char *ignored_label);
/** Reads an IntOrString into *out and returns out; a negative number counts as 0. NULL: absent. */
const struct bt_int_or_string *bt_tree_int_or_string(
	const struct bt_json_value *value, struct bt_int_or_string *out);
/**
 * Returns an IntOrString as a number: a percentage is multiplied by total. Returns 0 if the value
 * is absent or invalid.
 */
int32_t bt_tree_scaled(const struct bt_json_value *value, int32_t total, bool round_up);
/**
 * Evicts a pod: sets condition DisruptionTarget, then deletes the pod. grace_seconds as in
 * bt_hub_delete. Returns false if a write failed and must be tried again. Spec: 14b section 6.6.
 */
bool bt_disrupt_pod(struct bt_sync *sync, struct bt_str key, const char *reason,
	struct bt_str message, int64_t grace_seconds);
#endif
