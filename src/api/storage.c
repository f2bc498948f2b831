/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage.h"

#include "api/field_rows.h"
#include "api/pod_volume.h"

static const struct bt_field object_reference_rows[] = {
	BT_ROW_STR(bt_object_reference, kind, "kind", 1),
	BT_ROW_STR(bt_object_reference, namespace_, "namespace", 2),
	BT_ROW_STR(bt_object_reference, name, "name", 3),
	BT_ROW_STR(bt_object_reference, uid, "uid", 4),
	BT_ROW_STR(bt_object_reference, api_version, "apiVersion", 5),
	BT_ROW_STR(bt_object_reference, resource_version, "resourceVersion", 6),
	BT_ROW_STR(bt_object_reference, field_path, "fieldPath", 7),
};
const struct bt_message bt_object_reference_message =
	BT_MESSAGE(bt_object_reference, "ObjectReference", object_reference_rows);

/* PersistentVolume. */

static const struct bt_field csi_volume_source_rows[] = {
	BT_ROW_STR_ALWAYS(bt_csi_volume_source, driver, "driver", 1),
	BT_ROW_STR_ALWAYS(bt_csi_volume_source, volume_handle, "volumeHandle", 2),
	BT_ROW_BOOL(bt_csi_volume_source, read_only, "readOnly", 3),
	BT_ROW_STR(bt_csi_volume_source, fs_type, "fsType", 4),
	BT_ROW_STR_MAP(bt_csi_volume_source, volume_attributes, "volumeAttributes", 5),
};
static const struct bt_message csi_volume_source_message =
	BT_MESSAGE(bt_csi_volume_source, "CSIPersistentVolumeSource", csi_volume_source_rows);

static const struct bt_field azure_file_pv_source_rows[] = {
	BT_ROW_STR_ALWAYS(bt_azure_file_pv_source, secret_name, "secretName", 1),
	BT_ROW_STR_ALWAYS(bt_azure_file_pv_source, share_name, "shareName", 2),
	BT_ROW_BOOL(bt_azure_file_pv_source, read_only, "readOnly", 3),
	BT_ROW_STR_NULLABLE(bt_azure_file_pv_source, secret_namespace, "secretNamespace", 4),
};
static const struct bt_message azure_file_pv_source_message = BT_MESSAGE(
	bt_azure_file_pv_source, "AzureFilePersistentVolumeSource", azure_file_pv_source_rows);

static const struct bt_field local_volume_source_rows[] = {
	BT_ROW_STR_ALWAYS(bt_local_volume_source, path, "path", 1),
};
static const struct bt_message local_volume_source_message =
	BT_MESSAGE(bt_local_volume_source, "LocalVolumeSource", local_volume_source_rows);

static const struct bt_field persistent_volume_source_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, gce_persistent_disk, "gcePersistentDisk",
		1, bt_gce_pd_volume_source, bt_gce_pd_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, aws_elastic_block_store,
		"awsElasticBlockStore", 2, bt_aws_ebs_volume_source,
		bt_aws_ebs_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, cinder, "cinder", 8,
		bt_cinder_volume_source, bt_cinder_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, azure_file, "azureFile", 13,
		bt_azure_file_pv_source, azure_file_pv_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, vsphere_volume, "vsphereVolume", 14,
		bt_vsphere_volume_source, bt_vsphere_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, azure_disk, "azureDisk", 16,
		bt_azure_disk_volume_source, bt_azure_disk_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, portworx_volume, "portworxVolume", 18,
		bt_portworx_volume_source, bt_portworx_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, local, "local", 20, bt_local_volume_source,
		local_volume_source_message),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_source, csi, "csi", 22, bt_csi_volume_source,
		csi_volume_source_message),
};
static const struct bt_message persistent_volume_source_message = BT_MESSAGE(
	bt_persistent_volume_source, "PersistentVolumeSource", persistent_volume_source_rows);

static const struct bt_field volume_node_affinity_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_volume_node_affinity, required, "required", 1, bt_node_selector,
		bt_node_selector_message),
};
static const struct bt_message volume_node_affinity_message =
	BT_MESSAGE(bt_volume_node_affinity, "VolumeNodeAffinity", volume_node_affinity_rows);

static const struct bt_field persistent_volume_spec_rows[] = {
	BT_ROW_QTY_MAP(bt_persistent_volume_spec, capacity, "capacity", 1),
	BT_ROW_MSG_INLINE(bt_persistent_volume_spec, source, 2, bt_persistent_volume_source,
		persistent_volume_source_message),
	BT_ROW_STR_LIST(bt_persistent_volume_spec, access_modes, "accessModes", 3),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_spec, claim_ref, "claimRef", 4,
		bt_object_reference, bt_object_reference_message),
	BT_ROW_STR(bt_persistent_volume_spec, storage_class_name, "storageClassName", 6),
	BT_ROW_STR_NULLABLE(bt_persistent_volume_spec, volume_mode, "volumeMode", 8),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_spec, node_affinity, "nodeAffinity", 9,
		bt_volume_node_affinity, volume_node_affinity_message),
	BT_ROW_STR_NULLABLE(bt_persistent_volume_spec, volume_attributes_class_name,
		"volumeAttributesClassName", 10),
};
static const struct bt_message persistent_volume_spec_message =
	BT_MESSAGE(bt_persistent_volume_spec, "PersistentVolumeSpec", persistent_volume_spec_rows);

static const struct bt_field persistent_volume_status_rows[] = {
	BT_ROW_STR(bt_persistent_volume_status, phase, "phase", 1),
};
static const struct bt_message persistent_volume_status_message = BT_MESSAGE(
	bt_persistent_volume_status, "PersistentVolumeStatus", persistent_volume_status_rows);

static const struct bt_field persistent_volume_rows[] = {
	BT_ROW_MSG(bt_persistent_volume, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_persistent_volume, spec, "spec", 2, bt_persistent_volume_spec,
		persistent_volume_spec_message),
	BT_ROW_MSG(bt_persistent_volume, status, "status", 3, bt_persistent_volume_status,
		persistent_volume_status_message),
};
const struct bt_message bt_persistent_volume_message =
	BT_MESSAGE(bt_persistent_volume, "PersistentVolume", persistent_volume_rows);

/* PersistentVolumeClaim. */

static const struct bt_field volume_resource_requirements_rows[] = {
	BT_ROW_QTY_MAP(bt_volume_resource_requirements, limits, "limits", 1),
	BT_ROW_QTY_MAP(bt_volume_resource_requirements, requests, "requests", 2),
};
static const struct bt_message volume_resource_requirements_message =
	BT_MESSAGE(bt_volume_resource_requirements, "VolumeResourceRequirements",
		volume_resource_requirements_rows);

static const struct bt_field persistent_volume_claim_spec_rows[] = {
	BT_ROW_STR_LIST(bt_persistent_volume_claim_spec, access_modes, "accessModes", 1),
	BT_ROW_MSG_NULLABLE(bt_persistent_volume_claim_spec, selector, "selector", 4,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_MSG(bt_persistent_volume_claim_spec, resources, "resources", 2,
		bt_volume_resource_requirements, volume_resource_requirements_message),
	BT_ROW_STR(bt_persistent_volume_claim_spec, volume_name, "volumeName", 3),
	BT_ROW_STR_NULLABLE(
		bt_persistent_volume_claim_spec, storage_class_name, "storageClassName", 5),
	BT_ROW_STR_NULLABLE(bt_persistent_volume_claim_spec, volume_mode, "volumeMode", 6),
	BT_ROW_STR_NULLABLE(bt_persistent_volume_claim_spec, volume_attributes_class_name,
		"volumeAttributesClassName", 9),
};
static const struct bt_message persistent_volume_claim_spec_message =
	BT_MESSAGE(bt_persistent_volume_claim_spec, "PersistentVolumeClaimSpec",
		persistent_volume_claim_spec_rows);

static const struct bt_field persistent_volume_claim_status_rows[] = {
	BT_ROW_STR(bt_persistent_volume_claim_status, phase, "phase", 1),
	BT_ROW_STR_LIST(bt_persistent_volume_claim_status, access_modes, "accessModes", 2),
	BT_ROW_QTY_MAP(bt_persistent_volume_claim_status, capacity, "capacity", 3),
};
static const struct bt_message persistent_volume_claim_status_message =
	BT_MESSAGE(bt_persistent_volume_claim_status, "PersistentVolumeClaimStatus",
		persistent_volume_claim_status_rows);

static const struct bt_field persistent_volume_claim_rows[] = {
	BT_ROW_MSG(bt_persistent_volume_claim, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_persistent_volume_claim, spec, "spec", 2, bt_persistent_volume_claim_spec,
		persistent_volume_claim_spec_message),
	BT_ROW_MSG(bt_persistent_volume_claim, status, "status", 3,
		bt_persistent_volume_claim_status, persistent_volume_claim_status_message),
};
const struct bt_message bt_persistent_volume_claim_message = BT_MESSAGE(
	bt_persistent_volume_claim, "PersistentVolumeClaim", persistent_volume_claim_rows);

static const struct bt_field persistent_volume_claim_template_rows[] = {
	BT_ROW_MSG(bt_persistent_volume_claim_template, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_persistent_volume_claim_template, spec, "spec", 2,
		bt_persistent_volume_claim_spec, persistent_volume_claim_spec_message),
};
static const struct bt_message persistent_volume_claim_template_message =
	BT_MESSAGE(bt_persistent_volume_claim_template, "PersistentVolumeClaimTemplate",
		persistent_volume_claim_template_rows);

static const struct bt_field ephemeral_volume_source_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_ephemeral_volume_source, volume_claim_template,
		"volumeClaimTemplate", 1, bt_persistent_volume_claim_template,
		persistent_volume_claim_template_message),
};
const struct bt_message bt_ephemeral_volume_source_message = BT_MESSAGE(
	bt_ephemeral_volume_source, "EphemeralVolumeSource", ephemeral_volume_source_rows);

/* StorageClass. */

static const struct bt_field topology_selector_label_requirement_rows[] = {
	BT_ROW_STR_ALWAYS(bt_topology_selector_label_requirement, key, "key", 1),
	BT_ROW_STR_LIST(bt_topology_selector_label_requirement, values, "values", 2),
};
static const struct bt_message topology_selector_label_requirement_message =
	BT_MESSAGE(bt_topology_selector_label_requirement, "TopologySelectorLabelRequirement",
		topology_selector_label_requirement_rows);

static const struct bt_field topology_selector_term_rows[] = {
	BT_ROW_MSG_LIST(bt_topology_selector_term, match_label_expressions, "matchLabelExpressions",
		1, bt_topology_selector_label_requirement,
		topology_selector_label_requirement_message),
};
static const struct bt_message topology_selector_term_message =
	BT_MESSAGE(bt_topology_selector_term, "TopologySelectorTerm", topology_selector_term_rows);

static const struct bt_field storage_class_rows[] = {
	BT_ROW_MSG(
		bt_storage_class, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_STR_ALWAYS(bt_storage_class, provisioner, "provisioner", 2),
	BT_ROW_STR_MAP(bt_storage_class, parameters, "parameters", 3),
	BT_ROW_STR_NULLABLE(bt_storage_class, volume_binding_mode, "volumeBindingMode", 7),
	BT_ROW_MSG_LIST(bt_storage_class, allowed_topologies, "allowedTopologies", 8,
		bt_topology_selector_term, topology_selector_term_message),
};
const struct bt_message bt_storage_class_message =
	BT_MESSAGE(bt_storage_class, "StorageClass", storage_class_rows);

/* CSI objects. */

static const struct bt_field volume_node_resources_rows[] = {
	BT_ROW_I32_NULLABLE(bt_volume_node_resources, count, "count", 1),
};
static const struct bt_message volume_node_resources_message =
	BT_MESSAGE(bt_volume_node_resources, "VolumeNodeResources", volume_node_resources_rows);

static const struct bt_field csi_node_driver_rows[] = {
	BT_ROW_STR_ALWAYS(bt_csi_node_driver, name, "name", 1),
	BT_ROW_STR_ALWAYS(bt_csi_node_driver, node_id, "nodeID", 2),
	BT_ROW_STR_LIST(bt_csi_node_driver, topology_keys, "topologyKeys", 3),
	BT_ROW_MSG_NULLABLE(bt_csi_node_driver, allocatable, "allocatable", 4,
		bt_volume_node_resources, volume_node_resources_message),
};
static const struct bt_message csi_node_driver_message =
	BT_MESSAGE(bt_csi_node_driver, "CSINodeDriver", csi_node_driver_rows);

static const struct bt_field csi_node_spec_rows[] = {
	BT_ROW_MSG_LIST(bt_csi_node_spec, drivers, "drivers", 1, bt_csi_node_driver,
		csi_node_driver_message),
};
static const struct bt_message csi_node_spec_message =
	BT_MESSAGE(bt_csi_node_spec, "CSINodeSpec", csi_node_spec_rows);

static const struct bt_field csi_node_rows[] = {
	BT_ROW_MSG(bt_csi_node, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_csi_node, spec, "spec", 2, bt_csi_node_spec, csi_node_spec_message),
};
const struct bt_message bt_csi_node_message = BT_MESSAGE(bt_csi_node, "CSINode", csi_node_rows);

static const struct bt_field csi_driver_spec_rows[] = {
	BT_ROW_BOOL_NULLABLE(bt_csi_driver_spec, storage_capacity, "storageCapacity", 4),
	BT_ROW_BOOL_NULLABLE(bt_csi_driver_spec, prevent_pod_scheduling_if_missing,
		"preventPodSchedulingIfMissing", 11),
};
static const struct bt_message csi_driver_spec_message =
	BT_MESSAGE(bt_csi_driver_spec, "CSIDriverSpec", csi_driver_spec_rows);

static const struct bt_field csi_driver_rows[] = {
	BT_ROW_MSG(bt_csi_driver, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_csi_driver, spec, "spec", 2, bt_csi_driver_spec, csi_driver_spec_message),
};
const struct bt_message bt_csi_driver_message =
	BT_MESSAGE(bt_csi_driver, "CSIDriver", csi_driver_rows);

static const struct bt_field csi_storage_capacity_rows[] = {
	BT_ROW_MSG(bt_csi_storage_capacity, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG_NULLABLE(bt_csi_storage_capacity, node_topology, "nodeTopology", 2,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_STR_ALWAYS(bt_csi_storage_capacity, storage_class_name, "storageClassName", 3),
	BT_ROW_QTY_NULLABLE(bt_csi_storage_capacity, capacity, "capacity", 4),
	BT_ROW_QTY_NULLABLE(bt_csi_storage_capacity, maximum_volume_size, "maximumVolumeSize", 5),
};
const struct bt_message bt_csi_storage_capacity_message =
	BT_MESSAGE(bt_csi_storage_capacity, "CSIStorageCapacity", csi_storage_capacity_rows);

/* VolumeAttachment. */

static const struct bt_field volume_attachment_source_rows[] = {
	BT_ROW_STR_NULLABLE(
		bt_volume_attachment_source, persistent_volume_name, "persistentVolumeName", 1),
};
static const struct bt_message volume_attachment_source_message = BT_MESSAGE(
	bt_volume_attachment_source, "VolumeAttachmentSource", volume_attachment_source_rows);

static const struct bt_field volume_attachment_spec_rows[] = {
	BT_ROW_STR_ALWAYS(bt_volume_attachment_spec, attacher, "attacher", 1),
	BT_ROW_MSG(bt_volume_attachment_spec, source, "source", 2, bt_volume_attachment_source,
		volume_attachment_source_message),
	BT_ROW_STR_ALWAYS(bt_volume_attachment_spec, node_name, "nodeName", 3),
};
static const struct bt_message volume_attachment_spec_message =
	BT_MESSAGE(bt_volume_attachment_spec, "VolumeAttachmentSpec", volume_attachment_spec_rows);

static const struct bt_field volume_attachment_rows[] = {
	BT_ROW_MSG(bt_volume_attachment, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_volume_attachment, spec, "spec", 2, bt_volume_attachment_spec,
		volume_attachment_spec_message),
};
const struct bt_message bt_volume_attachment_message =
	BT_MESSAGE(bt_volume_attachment, "VolumeAttachment", volume_attachment_rows);

static struct bt_str class_of(const struct bt_object_meta *meta, struct bt_str field)
{
	const struct bt_str *beta = bt_str_map_find(
		&meta->annotations, BT_STR("volume.beta.kubernetes.io/storage-class"));

	return beta != NULL ? *beta : field;
}

struct bt_str bt_persistent_volume_claim_class(const struct bt_persistent_volume_claim *claim)
{
	return class_of(&claim->metadata, claim->spec.storage_class_name);
}

struct bt_str bt_persistent_volume_class(const struct bt_persistent_volume *volume)
{
	return class_of(&volume->metadata, volume->spec.storage_class_name);
}
