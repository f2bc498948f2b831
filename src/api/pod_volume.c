/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod_volume.h"

#include "api/field_rows.h"
#include "api/storage.h"

/* Volume sources of a pod, spec 01 section 4.4. */

static const struct bt_field pvc_source_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pvc_volume_source, claim_name, "claimName", 1),
	BT_ROW_BOOL(bt_pvc_volume_source, read_only, "readOnly", 2),
};
static const struct bt_message pvc_source_message =
	BT_MESSAGE(bt_pvc_volume_source, "PersistentVolumeClaimVolumeSource", pvc_source_rows);

static const struct bt_field gce_pd_rows[] = {
	BT_ROW_STR_ALWAYS(bt_gce_pd_volume_source, pd_name, "pdName", 1),
	BT_ROW_STR(bt_gce_pd_volume_source, fs_type, "fsType", 2),
	BT_ROW_I32(bt_gce_pd_volume_source, partition, "partition", 3),
	BT_ROW_BOOL(bt_gce_pd_volume_source, read_only, "readOnly", 4),
};
const struct bt_message bt_gce_pd_volume_source_message =
	BT_MESSAGE(bt_gce_pd_volume_source, "GCEPersistentDiskVolumeSource", gce_pd_rows);

static const struct bt_field aws_ebs_rows[] = {
	BT_ROW_STR_ALWAYS(bt_aws_ebs_volume_source, volume_id, "volumeID", 1),
	BT_ROW_STR(bt_aws_ebs_volume_source, fs_type, "fsType", 2),
	BT_ROW_I32(bt_aws_ebs_volume_source, partition, "partition", 3),
	BT_ROW_BOOL(bt_aws_ebs_volume_source, read_only, "readOnly", 4),
};
const struct bt_message bt_aws_ebs_volume_source_message =
	BT_MESSAGE(bt_aws_ebs_volume_source, "AWSElasticBlockStoreVolumeSource", aws_ebs_rows);

static const struct bt_field iscsi_rows[] = {
	BT_ROW_STR_ALWAYS(bt_iscsi_volume_source, target_portal, "targetPortal", 1),
	BT_ROW_STR_ALWAYS(bt_iscsi_volume_source, iqn, "iqn", 2),
	BT_ROW_I32_ALWAYS(bt_iscsi_volume_source, lun, "lun", 3),
	BT_ROW_BOOL(bt_iscsi_volume_source, read_only, "readOnly", 6),
};
static const struct bt_message iscsi_message =
	BT_MESSAGE(bt_iscsi_volume_source, "ISCSIVolumeSource", iscsi_rows);

static const struct bt_field rbd_rows[] = {
	BT_ROW_STR_LIST(bt_rbd_volume_source, monitors, "monitors", 1),
	BT_ROW_STR_ALWAYS(bt_rbd_volume_source, image, "image", 2),
	BT_ROW_STR(bt_rbd_volume_source, pool, "pool", 4),
	BT_ROW_BOOL(bt_rbd_volume_source, read_only, "readOnly", 8),
};
static const struct bt_message rbd_message =
	BT_MESSAGE(bt_rbd_volume_source, "RBDVolumeSource", rbd_rows);

static const struct bt_field azure_disk_rows[] = {
	BT_ROW_STR_ALWAYS(bt_azure_disk_volume_source, disk_name, "diskName", 1),
	BT_ROW_STR_ALWAYS(bt_azure_disk_volume_source, disk_uri, "diskURI", 2),
	BT_ROW_BOOL_NULLABLE(bt_azure_disk_volume_source, read_only, "readOnly", 5),
	BT_ROW_STR(bt_azure_disk_volume_source, kind, "kind", 6),
};
const struct bt_message bt_azure_disk_volume_source_message =
	BT_MESSAGE(bt_azure_disk_volume_source, "AzureDiskVolumeSource", azure_disk_rows);

static const struct bt_field azure_file_rows[] = {
	BT_ROW_STR_ALWAYS(bt_azure_file_volume_source, secret_name, "secretName", 1),
	BT_ROW_STR_ALWAYS(bt_azure_file_volume_source, share_name, "shareName", 2),
	BT_ROW_BOOL(bt_azure_file_volume_source, read_only, "readOnly", 3),
};
static const struct bt_message azure_file_message =
	BT_MESSAGE(bt_azure_file_volume_source, "AzureFileVolumeSource", azure_file_rows);

static const struct bt_field cinder_rows[] = {
	BT_ROW_STR_ALWAYS(bt_cinder_volume_source, volume_id, "volumeID", 1),
	BT_ROW_STR(bt_cinder_volume_source, fs_type, "fsType", 2),
	BT_ROW_BOOL(bt_cinder_volume_source, read_only, "readOnly", 3),
};
const struct bt_message bt_cinder_volume_source_message =
	BT_MESSAGE(bt_cinder_volume_source, "CinderVolumeSource", cinder_rows);

static const struct bt_field vsphere_rows[] = {
	BT_ROW_STR_ALWAYS(bt_vsphere_volume_source, volume_path, "volumePath", 1),
	BT_ROW_STR(bt_vsphere_volume_source, fs_type, "fsType", 2),
};
const struct bt_message bt_vsphere_volume_source_message =
	BT_MESSAGE(bt_vsphere_volume_source, "VsphereVirtualDiskVolumeSource", vsphere_rows);

static const struct bt_field portworx_rows[] = {
	BT_ROW_STR_ALWAYS(bt_portworx_volume_source, volume_id, "volumeID", 1),
	BT_ROW_STR(bt_portworx_volume_source, fs_type, "fsType", 2),
	BT_ROW_BOOL(bt_portworx_volume_source, read_only, "readOnly", 3),
};
const struct bt_message bt_portworx_volume_source_message =
	BT_MESSAGE(bt_portworx_volume_source, "PortworxVolumeSource", portworx_rows);

static const struct bt_field image_rows[] = {
	BT_ROW_STR(bt_image_volume_source, reference, "reference", 1),
	BT_ROW_STR(bt_image_volume_source, pull_policy, "pullPolicy", 2),
};
static const struct bt_message image_message =
	BT_MESSAGE(bt_image_volume_source, "ImageVolumeSource", image_rows);

static const struct bt_field inline_csi_rows[] = {
	BT_ROW_STR_ALWAYS(bt_inline_csi_volume_source, driver, "driver", 1),
};
static const struct bt_message inline_csi_message =
	BT_MESSAGE(bt_inline_csi_volume_source, "CSIVolumeSource", inline_csi_rows);

/* Only whether they are set is read, so the table is empty. */
static const struct bt_message presence_message = {.name = "VolumeSource",
	.size = (uint32_t)sizeof(struct bt_presence_volume_source),
	.field_count = 0,
	.fields = NULL};

/* In protobuf the sources sit in a message of their own. */
#define VOLUME_SOURCE 2

static const struct bt_field volume_rows[] = {
	BT_ROW_STR_ALWAYS(bt_volume, name, "name", 1),
	BT_ROW_MSG_WRAPPED(bt_volume, gce_persistent_disk, "gcePersistentDisk", 3,
		bt_gce_pd_volume_source, bt_gce_pd_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, aws_elastic_block_store, "awsElasticBlockStore", 4,
		bt_aws_ebs_volume_source, bt_aws_ebs_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, iscsi, "iscsi", 8, bt_iscsi_volume_source, iscsi_message),
	BT_ROW_MSG_WRAPPED(bt_volume, rbd, "rbd", 11, bt_rbd_volume_source, rbd_message),
	BT_ROW_MSG_WRAPPED(bt_volume, persistent_volume_claim, "persistentVolumeClaim", 10,
		bt_pvc_volume_source, pvc_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, ephemeral, "ephemeral", 29, bt_ephemeral_volume_source,
		bt_ephemeral_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, azure_disk, "azureDisk", 22, bt_azure_disk_volume_source,
		bt_azure_disk_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, azure_file, "azureFile", 18, bt_azure_file_volume_source,
		azure_file_message),
	BT_ROW_MSG_WRAPPED(bt_volume, cinder, "cinder", 13, bt_cinder_volume_source,
		bt_cinder_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, vsphere_volume, "vsphereVolume", 20, bt_vsphere_volume_source,
		bt_vsphere_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, portworx_volume, "portworxVolume", 24,
		bt_portworx_volume_source, bt_portworx_volume_source_message),
	BT_ROW_MSG_WRAPPED(bt_volume, image, "image", 30, bt_image_volume_source, image_message),
	BT_ROW_MSG_WRAPPED(
		bt_volume, csi, "csi", 28, bt_inline_csi_volume_source, inline_csi_message),
	BT_ROW_MSG_WRAPPED(bt_volume, config_map, "configMap", 19, bt_presence_volume_source,
		presence_message),
	BT_ROW_MSG_WRAPPED(
		bt_volume, secret, "secret", 6, bt_presence_volume_source, presence_message),
	BT_ROW_MSG_WRAPPED(
		bt_volume, empty_dir, "emptyDir", 2, bt_presence_volume_source, presence_message),
};
const struct bt_message bt_volume_message = {
	.name = "Volume",
	.size = (uint32_t)sizeof(struct bt_volume),
	.field_count = (uint32_t)BT_ARRAY_LENGTH(volume_rows),
	.fields = volume_rows,
	.wrapper = VOLUME_SOURCE,
};
