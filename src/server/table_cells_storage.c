/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of volumes and devices. Spec: 14 section 18. */
#include "server/table_private.h"

static void cell_modes(const struct bt_table_row *row, const char *path)
{
	struct bt_strbuf text = {0};
	bt_table_append_access_modes(&text, bt_json_array_at(row->object, path));
	bt_cell_buffer(row, &text, "");
}

static void cell_volume_status(const struct bt_table_row *row)
{
	if (bt_table_is_deleted(row->object)) {
		bt_cell_str(row, BT_STR("Terminating"));
	} else {
		bt_cell_text(row, "status.phase", "");
	}
}

/** The class as the specification, or, before that, an annotation has it. */
static void cell_class(const struct bt_table_row *row)
{
	const struct bt_json_value *annotations =
		bt_json_object_at(row->object, "metadata.annotations");
	const struct bt_json_value *old =
		bt_json_get(annotations, BT_STR("volume.beta.kubernetes.io/storage-class"));
	if (old != NULL && old->type == BT_JSON_STRING) {
		bt_cell_str(row, old->text);
	} else {
		bt_cell_text(row, "spec.storageClassName", "");
	}
}

static const struct bt_table_column pv_columns[] = {
	BT_COLUMN_NAME,
	{"Capacity", "string", "", "Size of the volume.", 0},
	{"Access Modes", "string", "", "Ways in which the volume can be mounted.", 0},
	{"Reclaim Policy", "string", "", "What becomes of the volume when it is released.", 0},
	{"Status", "string", "", "Whether the volume is bound.", 0},
	{"Claim", "string", "", "Claim that the volume is for.", 0},
	{"StorageClass", "string", "", "Class of the volume.", 0},
	{"VolumeAttributesClass", "string", "", "Class of the volume's attributes.", 0},
	{"Reason", "string", "", "Why the volume is in its state.", 0},
	BT_COLUMN_AGE,
	{"VolumeMode", "string", "", "File system or raw block device.", 1},
};

static void write_pv(const struct bt_table_row *row)
{
	struct bt_strbuf claim = {0};
	struct bt_str name = bt_json_text_at(row->object, "spec.claimRef.name");
	bt_cell_name(row);
	bt_cell_text(row, "spec.capacity.storage", "");
	cell_modes(row, "spec.accessModes");
	bt_cell_text(row, "spec.persistentVolumeReclaimPolicy", "");
	cell_volume_status(row);
	if (name.length != 0) {
		bt_strbuf_append_str(
			&claim, bt_json_text_at(row->object, "spec.claimRef.namespace"));
		bt_strbuf_append_char(&claim, '/');
		bt_strbuf_append_str(&claim, name);
	}
	bt_cell_buffer(row, &claim, "");
	cell_class(row);
	bt_cell_text(row, "spec.volumeAttributesClassName", "<unset>");
	bt_cell_text(row, "status.reason", "");
	bt_cell_age(row);
	bt_cell_text(row, "spec.volumeMode", "<unset>");
}

static const struct bt_table_column pvc_columns[] = {
	BT_COLUMN_NAME,
	{"Status", "string", "", "Whether the claim is bound.", 0},
	{"Volume", "string", "", "Volume that the claim is bound to.", 0},
	{"Capacity", "string", "", "Size of that volume.", 0},
	{"Access Modes", "string", "", "Ways in which that volume can be mounted.", 0},
	{"StorageClass", "string", "", "Class of volume that is asked for.", 0},
	{"VolumeAttributesClass", "string", "", "Class of attributes that is asked for.", 0},
	BT_COLUMN_AGE,
	{"VolumeMode", "string", "", "File system or raw block device.", 1},
};

static void write_pvc(const struct bt_table_row *row)
{
	bool bound = bt_json_text_at(row->object, "spec.volumeName").length != 0;
	bt_cell_name(row);
	cell_volume_status(row);
	bt_cell_text(row, "spec.volumeName", "");
	if (bound) {
		bt_cell_text(row, "status.capacity.storage", "0");
		cell_modes(row, "status.accessModes");
	} else {
		bt_cell_str(row, BT_STR(""));
		bt_cell_str(row, BT_STR(""));
	}
	cell_class(row);
	bt_cell_text(row, "spec.volumeAttributesClassName", "<unset>");
	bt_cell_age(row);
	bt_cell_text(row, "spec.volumeMode", "<unset>");
}

static const struct bt_table_column storage_class_columns[] = {
	BT_COLUMN_NAME,
	{"Provisioner", "string", "", "Driver that makes the volumes.", 0},
	{"ReclaimPolicy", "string", "", "What becomes of volumes that are released.", 0},
	{"VolumeBindingMode", "string", "", "When claims are bound.", 0},
	{"AllowVolumeExpansion", "string", "", "Whether volumes can grow.", 0},
	BT_COLUMN_AGE,
};

static void write_storage_class(const struct bt_table_row *row)
{
	const struct bt_json_value *annotations =
		bt_json_object_at(row->object, "metadata.annotations");
	const struct bt_json_value *is_default =
		bt_json_get(annotations, BT_STR("storageclass.kubernetes.io/is-default-class"));
	struct bt_strbuf name = {0};
	bt_strbuf_append_str(&name, bt_json_text_at(row->object, "metadata.name"));
	if (is_default != NULL && is_default->type == BT_JSON_STRING &&
		bt_str_equal(is_default->text, BT_STR("true"))) {
		bt_strbuf_append_c(&name, " (default)");
	}
	bt_cell_buffer(row, &name, "");
	bt_cell_text(row, "provisioner", "");
	bt_cell_text(row, "reclaimPolicy", "Delete");
	bt_cell_text(row, "volumeBindingMode", "Immediate");
	bt_cell_bool(row, "allowVolumeExpansion", false);
	bt_cell_age(row);
}

static const struct bt_table_column csi_node_columns[] = {
	BT_COLUMN_NAME,
	{"Drivers", "integer", "", "Number of drivers on the node.", 0},
	BT_COLUMN_AGE,
};

static void write_csi_node(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_json_write_int64(row->writer, bt_json_array_at(row->object, "spec.drivers")->count);
	bt_cell_age(row);
}

static const struct bt_table_column csi_driver_columns[] = {
	BT_COLUMN_NAME,
	{"AttachRequired", "boolean", "", "Whether volumes have to be attached.", 0},
	{"PodInfoOnMount", "boolean", "", "Whether the driver is told of the pod.", 0},
	{"StorageCapacity", "boolean", "", "Whether capacities are published.", 0},
	{"TokenRequests", "string", "", "Audiences of tokens for the driver.", 0},
	{"RequiresRepublish", "boolean", "", "Whether volumes are published again and again.", 0},
	{"Modes", "string", "", "Kinds of volumes that the driver knows.", 0},
	BT_COLUMN_AGE,
};

static void write_csi_driver(const struct bt_table_row *row)
{
	const struct bt_json_value *tokens = bt_json_array_at(row->object, "spec.tokenRequests");
	struct bt_strbuf text = {0};
	bt_cell_name(row);
	bt_cell_bool(row, "spec.attachRequired", true);
	bt_cell_bool(row, "spec.podInfoOnMount", false);
	bt_cell_bool(row, "spec.storageCapacity", false);
	for (uint32_t i = 0; i < tokens->count; i++) {
		bt_table_append_joined(
			&text, ",", bt_json_text_at(tokens->elements[i], "audience"));
	}
	bt_cell_buffer(row, &text, "<unset>");
	bt_cell_bool(row, "spec.requiresRepublish", false);
	bt_table_append_texts(&text, bt_json_array_at(row->object, "spec.volumeLifecycleModes"));
	bt_cell_buffer(row, &text, "Persistent");
	bt_cell_age(row);
}

static const struct bt_table_column attachment_columns[] = {
	BT_COLUMN_NAME,
	{"Attacher", "string", "", "Driver that attaches the volume.", 0},
	{"PV", "string", "", "Volume that is attached.", 0},
	{"Node", "string", "", "Node that it is attached to.", 0},
	{"Attached", "boolean", "", "Whether it is attached by now.", 0},
	BT_COLUMN_AGE,
};

static void write_attachment(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "spec.attacher", "");
	bt_cell_text(row, "spec.source.persistentVolumeName", "");
	bt_cell_text(row, "spec.nodeName", "");
	bt_cell_bool(row, "status.attached", false);
	bt_cell_age(row);
}

/** --- devices --- */

static const struct bt_table_column claim_columns[] = {
	BT_COLUMN_NAME,
	{"State", "string", "", "Whether the claim has devices, and whether they are used.", 0},
	BT_COLUMN_AGE,
};

static void write_claim(const struct bt_table_row *row)
{
	struct bt_strbuf state = {0};
	bool allocated = bt_json_find_path(row->object, "status.allocation") != NULL;
	bt_cell_name(row);
	if (allocated) {
		bt_table_append_joined(&state, ",", BT_STR("allocated"));
	}
	if (bt_table_is_deleted(row->object)) {
		bt_table_append_joined(&state, ",", BT_STR("deleted"));
	}
	if (bt_json_array_at(row->object, "status.reservedFor")->count != 0) {
		bt_table_append_joined(&state, ",", BT_STR("reserved"));
	}
	bt_cell_buffer(row, &state, "pending");
	bt_cell_age(row);
}

static const struct bt_table_column slice_columns[] = {
	BT_COLUMN_NAME,
	{"Node", "string", "", "Node that has the devices.", 0},
	{"Driver", "string", "", "Driver of the devices.", 0},
	{"Pool", "string", "", "Pool that the devices belong to.", 0},
	BT_COLUMN_AGE,
};

static void write_slice(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "spec.nodeName", "<unset>");
	bt_cell_text(row, "spec.driver", "");
	bt_cell_text(row, "spec.pool.name", "");
	bt_cell_age(row);
}

static const struct bt_table_column plain_columns[] = {BT_COLUMN_NAME, BT_COLUMN_AGE};

static void write_plain(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_age(row);
}

const struct bt_table bt_tables_of_storage[] = {
	BT_TABLE("", "persistentvolumes", pv_columns, write_pv),
	BT_TABLE("", "persistentvolumeclaims", pvc_columns, write_pvc),
	BT_TABLE("storage.k8s.io", "storageclasses", storage_class_columns, write_storage_class),
	BT_TABLE("storage.k8s.io", "csinodes", csi_node_columns, write_csi_node),
	BT_TABLE("storage.k8s.io", "csidrivers", csi_driver_columns, write_csi_driver),
	BT_TABLE("storage.k8s.io", "volumeattachments", attachment_columns, write_attachment),
	BT_TABLE("resource.k8s.io", "resourceclaims", claim_columns, write_claim),
	BT_TABLE("resource.k8s.io", "resourceslices", slice_columns, write_slice),
	BT_TABLE("resource.k8s.io", "resourceclaimtemplates", plain_columns, write_plain),
	BT_TABLE("resource.k8s.io", "deviceclasses", plain_columns, write_plain),
	{.resource = NULL},
};
