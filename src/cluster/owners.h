/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_OWNERS_H
#define BT_CLUSTER_OWNERS_H
/** Finds the controller object that owns an object, or that would adopt it. */
#include "api/selector.h"
#include "base/vec.h"
#include "cluster/controller.h"

/**
 * The parsed selector of one object of a controller. A table has an entry for each object, to find
 * the object that would adopt a pod without owner.
 */
struct bt_selector_entry {
	struct bt_arena arena; /* of key and selector */
	struct bt_str key;
	struct bt_selector selector;
	uint64_t bits; /* bt_label_bits of the labels that a match must have */
};

/** An object that its owner no longer selects because the object's labels changed. */
struct bt_stray {
	char *owner_key; /* owned */
	char *key;       /* owned */
};

/** All-zero memory is an empty table. A table must not move once it has selectors. */
struct bt_selector_table {
	struct bt_groups namespaces;                /* keys by namespace */
	BT_VEC(struct bt_selector_entry *) entries; /* by entry of namespaces; NULL: free */
	BT_VEC(struct bt_stray) strays;             /* removed by bt_owners_release */
};

void bt_selector_table_finish(struct bt_selector_table *table);
/** Returns the selector of the object with this key; NULL: the object has no usable selector. */
const struct bt_selector_entry *bt_selector_table_find(
	const struct bt_selector_table *table, struct bt_str key);
/**
 * Enqueues the objects in this namespace whose selectors match these labels, for the time at_ns.
 */
void bt_selector_table_enqueue(const struct bt_selector_table *table, struct bt_hub *hub,
	struct bt_str namespace_, const struct bt_json_value *labels, int64_t at_ns);

/**
 * Enqueues the current owner of the changed object and its owner before the change; an owner of
 * another kind is not enqueued. For an object without owner, enqueues the objects that select it
 * (selectors may be NULL). An object that its owner no longer selects becomes a stray.
 */
void bt_owners_enqueue(struct bt_hub *hub, const struct bt_observed *observed, const char *kind,
	struct bt_selector_table *selectors);
/**
 * Updates the table from a changed object of the controller and enqueues the object.
 * selector_is_map: spec.selector is a map of labels, not a LabelSelector. Selectors that are
 * invalid or match everything are left out.
 */
void bt_owners_observe(struct bt_hub *hub, const struct bt_observed *observed,
	struct bt_selector_table *selectors, bool selector_is_map);
/**
 * Updates the group of an object: keys are grouped by their owner's uid; objects without owner are
 * in no group.
 */
void bt_owners_group(struct bt_groups *owned, const struct bt_observed *observed);
/**
 * Removes the owner reference and the finalizer (may be NULL) from the strays of the synced object,
 * unless the object selects them again. The synced object may no longer exist. Sets sync->failed
 * if a write fails.
 */
void bt_owners_release(struct bt_sync *sync, struct bt_selector_table *selectors,
	enum bt_hub_kind kind, const char *finalizer);
/**
 * Releases strays. Unless the synced object is being deleted, also adopts active pods without owner
 * that it selects; each adoption is a change that enqueues the key again. If `accepts` is not NULL,
 * a pod is adopted only if `accepts` returns true for its name. `finalizer` (may be NULL) is added
 * to the pods. Returns whether any pod was adopted. Sets sync->failed if a write fails.
 */
bool bt_owners_adopt_pods(struct bt_sync *sync, struct bt_selector_table *selectors,
	bool (*accepts)(struct bt_str set_name, struct bt_str pod_name), const char *finalizer);
/**
 * Calls visit for each pod of the synced object's namespace that the selector matches, in the order
 * of names. The pod is valid until visit returns. bits: bt_label_bits of the labels that a match
 * must have.
 */
void bt_owners_visit_selected(struct bt_sync *sync, const struct bt_selector *selector,
	uint64_t bits,
	void (*visit)(void *context, const struct bt_indexed_pod *record,
		const struct bt_json_value *pod),
	void *context);
#endif
