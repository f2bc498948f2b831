/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_TREE_H
#define BT_CLUSTER_TREE_H
/** What controllers read from and write into objects, beyond codec/json_edit.h. */
#include <stdbool.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/arena.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "cluster/controller.h"

/** "ns/name" or "name". */
struct bt_str bt_tree_key(struct bt_arena *arena, const struct bt_json_value *object);
bool bt_tree_is_deleting(const struct bt_json_value *object);
/** The time at a path in seconds since 1970; 0 when absent. */
int64_t bt_tree_seconds(const struct bt_json_value *object, const char *dotted_path);
/** The member of an object of texts by a name that may have dots; "" when absent. */
struct bt_str bt_tree_text(const struct bt_json_value *texts, const char *name);
/** metadata.labels or metadata.annotations' member. */
struct bt_str bt_tree_label(const struct bt_json_value *object, const char *name);
struct bt_str bt_tree_annotation(const struct bt_json_value *object, const char *name);

/** A LabelSelector (or with is_map labels to be equal). false: it is invalid or selects
 * everything, which no controller of pods accepts. */
bool bt_tree_selector(struct bt_arena *arena, const struct bt_json_value *selector, bool is_map,
	struct bt_selector *out_selector);
bool bt_tree_matches(struct bt_arena *arena, const struct bt_selector *selector,
	const struct bt_json_value *labels);
/** Decode a tree with a table of api/. false: it does not fit. */
bool bt_tree_decode(struct bt_arena *arena, const struct bt_json_value *tree,
	const struct bt_message *message, void *out);

/** --- conditions --- */

struct bt_tree_condition {
	const char *type;
	const char *status;
	const char *reason;
	struct bt_str message;
};

/**
 * Put a condition into an array that may be changed; with the same status and reason it stays as
 * it is, since messages of failures name what differs each time. lastTransitionTime changes with
 * the status only. update_time: it has lastUpdateTime, which changes with any part. Returns whether
 * anything changed.
 */
bool bt_tree_set_condition(struct bt_arena *arena, struct bt_json_value *conditions,
	const struct bt_tree_condition *condition, bool update_time, int64_t now_ns);
void bt_tree_drop_condition(struct bt_json_value *conditions, const char *type);

/** --- writes --- */

/** Every member of wanted is in stored as well; zero, empty and null equal absent. */
bool bt_tree_covers(const struct bt_json_value *stored, const struct bt_json_value *wanted);
/** Patch the status with these members, unless they are there. false: it failed, try again. */
bool bt_tree_write_status(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_json_value *status, struct bt_arena *arena);
/** A pod (or Job) of a template: labels, annotations, finalizers and spec, which are copied
 * (texts are borrowed), with the owner's reference. name: metadata.name or, when
 * generated, generateName. */
struct bt_json_value *bt_tree_from_template(struct bt_arena *arena,
	const struct bt_json_value *template_, struct bt_json_value *owner_reference,
	struct bt_str name, bool generated);
/** Make the controller the owner of an orphan, which gets the finalizer (may be NULL). false: it
 * did not succeed. */
bool bt_tree_adopt(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_json_value *owner_reference,
	const char *finalizer, struct bt_arena *arena);
/** Take the owner's reference and the finalizer (may be NULL) out of an object. */
bool bt_tree_release(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_str owner_uid, const char *finalizer,
	struct bt_arena *arena);
/** A name's part that depends on the template and a counter, in letters and digits that spell
 * nothing: spec 14b section 6.2. ignored_label (may be NULL) is left out of the labels. */
struct bt_str bt_tree_template_hash(struct bt_arena *arena, const struct bt_json_value *template_,
	const char *ignored_label, int64_t collisions);
/** Equal but for that label. */
bool bt_tree_templates_equal(struct bt_arena *arena, const struct bt_json_value *a,
	const struct bt_json_value *b, const char *ignored_label);
/** IntOrString as a part of total. */
int32_t bt_tree_scaled(const struct bt_json_value *value, int32_t total, bool round_up);
/** Delete a pod that did not ask for it: condition DisruptionTarget first. grace_seconds as of
 * bt_hub_delete. false: try again. Spec: 14b section 6.6. */
bool bt_disrupt_pod(struct bt_hub *hub, struct bt_str key, const char *reason,
	struct bt_str message, int64_t grace_seconds, struct bt_arena *arena, int64_t now_ns);
#endif
