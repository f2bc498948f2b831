/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_OWNERS_H
#define BT_CLUSTER_OWNERS_H
/** From an object to the controller's object that owns it, or that would adopt it. */
#include "api/selector.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controller.h"

/** The selectors of a controller's objects, parsed once, so that a pod without owner finds those
 * that would adopt it. */
struct bt_selector_entry {
	struct bt_arena arena; /* of key and selector */
	struct bt_str key;
	struct bt_selector selector;
	uint64_t bits; /* what every match has: bt_label_bits */
};

/** An object whose labels changed so that its owner no longer selects it. */
struct bt_stray {
	char *owner_key; /* owned */
	char *key;       /* owned */
};

/** All-zero memory has no selectors; the struct must not move once it has some. */
struct bt_selector_table {
	struct bt_groups namespaces; /* keys by namespace */
	struct bt_map by_key;
	BT_VEC(struct bt_selector_entry *) entries; /* NULL: free */
	BT_VEC(uint32_t) free_slots;
	BT_VEC(struct bt_stray) strays; /* bt_owners_release takes them out */
};

void bt_selector_table_finish(struct bt_selector_table *table);
/** NULL: there is no usable one. */
const struct bt_selector_entry *bt_selector_table_find(
	const struct bt_selector_table *table, struct bt_str key);
/** Enqueue each object of the namespace that selects these labels, for that time. */
void bt_selector_table_enqueue(const struct bt_selector_table *table, struct bt_hub *hub,
	struct bt_str namespace_, const struct bt_json_value *labels, int64_t at_ns);

/** Enqueue the owner, now and before the change, if it is of this kind. Nothing else when it has
 * one; for an object without owner those that select it (selectors may be NULL). An object that its
 * owner no longer selects becomes a stray. */
void bt_owners_enqueue(struct bt_hub *hub, const struct bt_observed *observed, const char *kind,
	struct bt_selector_table *selectors);
/** Keep the table current and enqueue a changed object of the controller itself. spec.selector: a
 * LabelSelector, or (is_map) labels. One that is invalid or selects everything is not kept. */
void bt_owners_observe(struct bt_hub *hub, const struct bt_observed *observed,
	struct bt_selector_table *selectors, bool selector_is_map);
/** Keep the keys of objects by their owner's uid; those without one are in no group. */
void bt_owners_group(struct bt_groups *owned, const struct bt_observed *observed);
/** Strays of the synced object (which may be gone) lose its reference and the finalizer (may be
 * NULL), unless it selects them again. */
void bt_owners_release(struct bt_sync *sync, struct bt_selector_table *selectors,
	enum bt_hub_kind kind, const char *finalizer);
/**
 * Release pods that are strays. Active pods without owner that the synced object selects become its
 * own, unless it is being deleted; each shows as a change, so the key comes back. accepts (may be
 * NULL) looks at the pod's name; finalizer (may be NULL): what its pods have. Returns whether there
 * were any.
 */
bool bt_owners_adopt_pods(struct bt_sync *sync, struct bt_selector_table *selectors,
	bool (*accepts)(struct bt_str set_name, struct bt_str pod_name), const char *finalizer);
/** Call visit for each pod of the synced object's namespace that the selector matches, by name. The
 * pod lives until visit returns. bits: what every match has, as bt_label_bits. */
void bt_owners_visit_selected(struct bt_sync *sync, const struct bt_selector *selector,
	uint64_t bits,
	void (*visit)(void *context, const struct bt_indexed_pod *record,
		const struct bt_json_value *pod),
	void *context);
#endif
