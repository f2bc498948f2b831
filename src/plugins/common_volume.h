/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_VOLUME_H
#define BT_PLUGINS_COMMON_VOLUME_H
/**
 * Helpers shared by the volume plugins and the volume binder: claims of a pod, annotations, texts.
 * Spec: 07 section 2.
 */
#include "api/storage.h"
#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"

/* Annotations and labels, spec 07 section 2.11. */
#define BT_ANNOTATION_BIND_COMPLETED BT_STR("pv.kubernetes.io/bind-completed")
#define BT_ANNOTATION_BOUND_BY_CONTROLLER BT_STR("pv.kubernetes.io/bound-by-controller")
#define BT_ANNOTATION_SELECTED_NODE BT_STR("volume.kubernetes.io/selected-node")
#define BT_ANNOTATION_MIGRATED_PLUGINS BT_STR("storage.alpha.kubernetes.io/migrated-plugins")
#define BT_LABEL_ZONE BT_STR_INIT("topology.kubernetes.io/zone")
#define BT_LABEL_REGION BT_STR_INIT("topology.kubernetes.io/region")
#define BT_LABEL_BETA_ZONE BT_STR_INIT("failure-domain.beta.kubernetes.io/zone")
#define BT_LABEL_BETA_REGION BT_STR_INIT("failure-domain.beta.kubernetes.io/region")
#define BT_STORAGE_RESOURCE BT_STR("storage")
#define BT_WAIT_FOR_FIRST_CONSUMER BT_STR("WaitForFirstConsumer")

/*
 * The functions below find an object in the object store. They return NULL if the object does not
 * exist.
 */

static inline const struct bt_persistent_volume_claim *bt_find_claim(
	const struct bt_state *state, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find(
		&state->objects, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_, name);
}

static inline const struct bt_persistent_volume *bt_find_volume(
	const struct bt_state *state, struct bt_str name)
{
	return bt_object_store_find(&state->objects, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), name);
}

static inline const struct bt_storage_class *bt_find_storage_class(
	const struct bt_state *state, struct bt_str name)
{
	return bt_object_store_find(&state->objects, BT_KIND_STORAGE_CLASS, BT_STR(""), name);
}

static inline const struct bt_csi_node *bt_find_csi_node(
	const struct bt_state *state, struct bt_str node_name)
{
	return bt_object_store_find(&state->objects, BT_KIND_CSI_NODE, BT_STR(""), node_name);
}

static inline const struct bt_csi_driver *bt_find_csi_driver(
	const struct bt_state *state, struct bt_str name)
{
	return bt_object_store_find(&state->objects, BT_KIND_CSI_DRIVER, BT_STR(""), name);
}

/** Whether a volume of the pod uses a claim. Ephemeral volumes count only if with_ephemeral. */
bool bt_pod_has_claims(const struct bt_pod_spec *spec, bool with_ephemeral);

/** The claim of a pod volume, spec 07 section 2.2. */
struct bt_volume_claim {
	struct bt_str name; /* borrowed from the pod, or in the arena */
	bool ephemeral;
};

/** Get the claim that the volume uses. Returns false if the volume uses no claim. */
bool bt_volume_claim_of(const struct bt_pod_info *pod, const struct bt_volume *volume,
	struct bt_arena *arena, struct bt_volume_claim *out_claim);
/** Whether a volume of the pod uses this claim. Ephemeral volumes count only if with_ephemeral. */
bool bt_pod_uses_claim(
	const struct bt_pod_info *pod, const struct bt_object_meta *claim, bool with_ephemeral);
/** Queueing hint: queue if the pod uses the claim, ephemeral volumes included. */
bool bt_hint_if_uses_claim(const struct bt_hint_call *call);
/** Queueing hint: queue if the pod uses the claim, without ephemeral volumes. */
bool bt_hint_if_names_claim(const struct bt_hint_call *call);
/**
 * Scope of the claim hints: an ephemeral volume's claim is named after the pod, so with such a
 * volume the hint depends on the pod's name.
 */
enum bt_hint_scope bt_claim_hint_scope(const struct bt_shape *shape);
/** Whether the claim of an ephemeral volume was made for this pod. Spec 07 section 2.3. */
bool bt_pod_owns_claim(
	const struct bt_pod_info *pod, const struct bt_persistent_volume_claim *claim);
struct bt_str bt_claim_not_owned_text(const struct bt_pod_info *pod,
	const struct bt_persistent_volume_claim *claim, struct bt_arena *arena);

/** Whether the claim has the access mode ReadWriteOncePod. */
bool bt_claim_is_exclusive(const struct bt_persistent_volume_claim *claim);
/**
 * Returns the maximumVolumeSize of the CSIStorageCapacity or, if absent, its capacity; NULL if both
 * are absent.
 */
const struct bt_quantity *bt_storage_capacity_limit(const struct bt_csi_storage_capacity *capacity);
/**
 * Whether the claim names a volume and the controller has completed the binding. Spec 07 section
 * 2.5.
 */
bool bt_claim_is_fully_bound(const struct bt_persistent_volume_claim *claim);
/** Returns the value of the selected-node annotation, or NULL. */
const struct bt_str *bt_claim_selected_node(const struct bt_persistent_volume_claim *claim);
/** Returns the requested storage, or NULL. */
const struct bt_quantity *bt_claim_request(const struct bt_persistent_volume_claim *claim);
/** Returns the volume's capacity, or the quantity 0. */
const struct bt_quantity *bt_volume_capacity(const struct bt_persistent_volume *volume);

/**
 * Splits a label value at "__" and returns the parts: trimmed, sorted and without duplicates. There
 * is at least one part; an empty part comes first.
 */
bt_str_list bt_zones_of_label(struct bt_str value, struct bt_arena *arena);

/**
 * A volume that counts towards a node's limit. Upstream joins the fields to one string, with a
 * random prefix that separates claims from volume handles.
 */
struct bt_unique_volume {
	struct bt_str driver; /* may be empty */
	/** namespace of the claim if the claim's volume is unknown, otherwise absent */
	struct bt_str claim_namespace;
	struct bt_str handle; /* the volume handle, or the name of the claim */
	uint64_t hash;        /* set by bt_volume_set_add */
	bool removed;
};

/** A set of volumes. bt_volume_set_reset keeps the memory for the next node. */
struct bt_volume_set {
	BT_VEC(struct bt_unique_volume) items;
	struct bt_map map;
};

void bt_volume_set_reset(struct bt_volume_set *set);
void bt_volume_set_finish(struct bt_volume_set *set);
/** Whether the set has the volume. volume must be an item of a set, because its hash is read. */
bool bt_volume_set_has(const struct bt_volume_set *set, const struct bt_unique_volume *volume);
void bt_volume_set_add(struct bt_volume_set *set, struct bt_unique_volume volume);
#endif
