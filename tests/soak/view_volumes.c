/* SPDX-License-Identifier: Apache-2.0 */
/** Claims and volumes, with plain loops. Spec: 07. */
#include "api/storage.h"
#include "soak/view.h"

static bool is_bound(const struct bt_persistent_volume_claim *claim)
{
	return claim->spec.volume_name.length != 0 &&
		bt_str_map_find(&claim->metadata.annotations,
			BT_STR("pv.kubernetes.io/bind-completed")) != NULL;
}

static bool is_shared(const struct bt_persistent_volume_claim *claim)
{
	for (uint32_t i = 0; i < claim->spec.access_modes.count; i++) {
		if (bt_str_equal_c(claim->spec.access_modes.items[i], "ReadWriteOncePod")) {
			return false;
		}
	}
	return true;
}

static bool uses(const struct bt_pod *pod, const struct bt_persistent_volume_claim *claim)
{
	for (uint32_t i = 0; i < pod->spec.volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			pod->spec.volumes.items[i].persistent_volume_claim;
		if (source != NULL && bt_str_equal(source->claim_name, claim->metadata.name) &&
			bt_str_equal(pod->metadata.namespace_, claim->metadata.namespace_)) {
			return true;
		}
	}
	return false;
}

static bool used_elsewhere(const struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_persistent_volume_claim *claim)
{
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_pod *other = view->placed.items[i].pod;
		if (!bt_str_equal(other->metadata.uid, pod->metadata.uid) && uses(other, claim)) {
			return true;
		}
	}
	return false;
}

/**
 * Whether the node matches the volume's required node affinity. A volume of the workloads has no
 * node affinity, or one expression that names a zone.
 */
static bool volume_is_near(const struct bt_persistent_volume *volume, const struct bt_node *node)
{
	const struct bt_volume_node_affinity *affinity = volume->spec.node_affinity;
	if (affinity == NULL || affinity->required == NULL) {
		return true;
	}
	struct bt_node_affinity wrapped = {.required = affinity->required};
	struct bt_affinity outer = {.node_affinity = &wrapped};
	struct bt_pod stand_in = {.spec = {.affinity = &outer}};
	return bt_sim_node_is_selected(&stand_in, node);
}

/**
 * Whether the claim can be bound to the volume on the node. Access modes are not compared, because
 * all volumes of the workloads have the same modes.
 */
static bool is_available(const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, const struct bt_node *node)
{
	const struct bt_quantity *has =
		bt_resource_list_find(&volume->spec.capacity, BT_STR("storage"));
	const struct bt_quantity *wants =
		bt_resource_list_find(&claim->spec.resources.requests, BT_STR("storage"));
	return volume->spec.claim_ref == NULL && volume->metadata.deletion_timestamp == NULL &&
		bt_str_equal_c(volume->status.phase, "Available") &&
		bt_str_equal(bt_persistent_volume_class(volume),
			bt_persistent_volume_claim_class(claim)) &&
		has != NULL && wants != NULL && bt_quantity_compare(has, wants) >= 0 &&
		volume_is_near(volume, node);
}

/**
 * Whether allowedTopologies of the class allows the node. A class of the workloads has no
 * allowedTopologies, or one expression that names zones.
 */
static bool is_allowed(const struct bt_storage_class *class_, const struct bt_node *node)
{
	const struct bt_str *zone =
		bt_str_map_find(&node->metadata.labels, BT_STR("topology.kubernetes.io/zone"));
	if (class_->allowed_topologies.count == 0) {
		return true;
	}
	const struct bt_topology_selector_label_requirement *zones =
		&class_->allowed_topologies.items[0].match_label_expressions.items[0];
	for (uint32_t i = 0; zone != NULL && i < zones->values.count; i++) {
		if (bt_str_equal(zones->values.items[i], *zone)) {
			return true;
		}
	}
	return false;
}

/** Whether an unbound claim with delayed binding can get a volume on the node. */
static enum bt_sim_fit delayed_claim_fits(struct bt_sim_view *view,
	const struct bt_persistent_volume_claim *claim, const struct bt_node *node,
	const struct bt_storage_class *class_)
{
	const struct bt_str *selected = bt_str_map_find(
		&claim->metadata.annotations, BT_STR("volume.kubernetes.io/selected-node"));
	const struct bt_persistent_volume *volume;
	uint32_t cursor = 0;
	if (claim->spec.volume_name.length != 0) {
		return BT_SIM_FIT_UNKNOWN; /* binding is in flight */
	}
	if (!bt_str_equal_c(class_->provisioner, "kubernetes.io/no-provisioner")) {
		if (selected != NULL) {
			return bt_str_equal(*selected, node->metadata.name) ? BT_SIM_FITS
									    : BT_SIM_FIT_UNKNOWN;
		}
		/* A volume that the claim had before may be accessible from the node. */
		return is_allowed(class_, node) ? BT_SIM_FITS : BT_SIM_FIT_UNKNOWN;
	}
	while ((volume = bt_object_store_next(view->objects, BT_KIND_PERSISTENT_VOLUME,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (is_available(volume, claim, node)) {
			return BT_SIM_FITS;
		}
	}
	return BT_SIM_FIT_UNKNOWN; /* a volume may be reserved for the claim */
}

static enum bt_sim_fit claim_fits(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_persistent_volume_claim *claim, const struct bt_node *node)
{
	if (claim == NULL || claim->metadata.deletion_timestamp != NULL) {
		return BT_SIM_FITS_NOT;
	}
	if (!is_shared(claim) && used_elsewhere(view, pod, claim)) {
		return BT_SIM_FITS_NOT;
	}
	if (!is_bound(claim)) {
		/* With immediate binding, the pod waits until the claim is bound. */
		const struct bt_storage_class *class_ = bt_object_store_find(view->objects,
			BT_KIND_STORAGE_CLASS, BT_STR(""), bt_persistent_volume_claim_class(claim));
		return class_ != NULL &&
				bt_str_equal_c(class_->volume_binding_mode, "WaitForFirstConsumer")
			? delayed_claim_fits(view, claim, node, class_)
			: BT_SIM_FITS_NOT;
	}
	const struct bt_persistent_volume *volume = bt_object_store_find(
		view->objects, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), claim->spec.volume_name);
	return volume != NULL && volume_is_near(volume, node) ? BT_SIM_FITS : BT_SIM_FITS_NOT;
}

/** --- limit of volumes per node; the workloads have one CSI driver: spec 07b --- */

#define DRIVER "example.com/disks"

/** The node's limit; negative: no limit. */
static int64_t limit_of(const struct bt_sim_view *view, const struct bt_node *node)
{
	const struct bt_csi_node *csi_node = bt_object_store_find(
		view->objects, BT_KIND_CSI_NODE, BT_STR(""), node->metadata.name);
	for (uint32_t i = 0; csi_node != NULL && i < csi_node->spec.drivers.count; i++) {
		const struct bt_csi_node_driver *driver = &csi_node->spec.drivers.items[i];
		if (bt_str_equal_c(driver->name, DRIVER) && driver->allocatable != NULL &&
			driver->allocatable->count.present) {
			return driver->allocatable->count.value;
		}
	}
	return -1;
}

/** Whether the claim has a volume of the driver, or will get such a volume. */
static bool is_attached(
	const struct bt_sim_view *view, const struct bt_persistent_volume_claim *claim)
{
	if (claim->spec.volume_name.length != 0 &&
		bt_object_store_find(view->objects, BT_KIND_PERSISTENT_VOLUME, BT_STR(""),
			claim->spec.volume_name) != NULL) {
		return true;
	}
	const struct bt_storage_class *class_ = bt_object_store_find(view->objects,
		BT_KIND_STORAGE_CLASS, BT_STR(""), bt_persistent_volume_claim_class(claim));
	return class_ != NULL && bt_str_equal_c(class_->provisioner, DRIVER);
}

/**
 * Whether the volumes of the pod stay within the node's limit. A claim that a pod on the node
 * already uses needs no further attachment.
 */
static bool can_attach(
	const struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	const struct bt_persistent_volume_claim *claim;
	int64_t limit = limit_of(view, node);
	int64_t old = 0;
	int64_t new = 0;
	uint32_t cursor = 0;
	while ((claim = bt_object_store_next(view->objects, BT_KIND_PERSISTENT_VOLUME_CLAIM,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		bool is_there = false;
		for (uint32_t i = 0; i < view->placed.count; i++) {
			const struct bt_sim_placed *placed = &view->placed.items[i];
			is_there |= !bt_str_equal(placed->pod->metadata.uid, pod->metadata.uid) &&
				bt_str_equal(placed->node_name, node->metadata.name) &&
				uses(placed->pod, claim);
		}
		if (is_attached(view, claim)) {
			old += is_there;
			new += !is_there &&uses(pod, claim);
		}
	}
	return limit < 0 || new == 0 || old + new <= limit;
}

enum bt_sim_fit bt_sim_volumes_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason)
{
	enum bt_sim_fit fit = BT_SIM_FITS;
	for (uint32_t i = 0; i < pod->spec.volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			pod->spec.volumes.items[i].persistent_volume_claim;
		if (source == NULL) {
			continue;
		}
		const struct bt_persistent_volume_claim *claim =
			bt_object_store_find(view->objects, BT_KIND_PERSISTENT_VOLUME_CLAIM,
				pod->metadata.namespace_, source->claim_name);
		enum bt_sim_fit one = claim_fits(view, pod, claim, node);
		if (one == BT_SIM_FITS_NOT) {
			*out_reason = "a claim is missing, taken, unbound or bound far away";
			return one;
		}
		fit = one == BT_SIM_FIT_UNKNOWN ? one : fit;
	}
	if (!can_attach(view, pod, node)) {
		*out_reason = "too many volumes";
		return BT_SIM_FITS_NOT;
	}
	return fit;
}
