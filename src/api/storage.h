/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_STORAGE_H
#define BT_API_STORAGE_H
/** Volumes, claims, classes and CSI objects. Spec: 01 sections 4.4 and 4.7. */
#include "api/meta.h"
#include "api/pod.h"
#include "api/quantity.h"

/** core/v1 ObjectReference, spec 01 section 4.13. */
struct bt_object_reference {
	struct bt_str kind;
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str uid;
	struct bt_str api_version;
	struct bt_str resource_version;
	struct bt_str field_path;
};

struct bt_csi_volume_source {
	struct bt_str driver;
	struct bt_str volume_handle;
	bool read_only;
	struct bt_str fs_type;
	struct bt_str_map volume_attributes;
};

struct bt_azure_file_pv_source {
	struct bt_str secret_name;
	struct bt_str share_name;
	bool read_only;
	struct bt_str secret_namespace; /* nullable */
};

struct bt_local_volume_source {
	struct bt_str path;
};

/** A member is set when present, even if empty. In JSON the members sit in the spec itself. */
struct bt_persistent_volume_source {
	const struct bt_gce_pd_volume_source *gce_persistent_disk;
	const struct bt_aws_ebs_volume_source *aws_elastic_block_store;
	const struct bt_cinder_volume_source *cinder;
	const struct bt_azure_file_pv_source *azure_file;
	const struct bt_vsphere_volume_source *vsphere_volume;
	const struct bt_azure_disk_volume_source *azure_disk;
	const struct bt_portworx_volume_source *portworx_volume;
	const struct bt_local_volume_source *local;
	const struct bt_csi_volume_source *csi;
};

struct bt_volume_node_affinity {
	const struct bt_node_selector *required;
};

struct bt_persistent_volume_spec {
	struct bt_resource_list capacity;
	struct bt_persistent_volume_source source;
	bt_str_list access_modes;
	const struct bt_object_reference *claim_ref;
	struct bt_str storage_class_name;
	struct bt_str volume_mode; /* nullable: Filesystem */
	const struct bt_volume_node_affinity *node_affinity;
	struct bt_str volume_attributes_class_name; /* nullable: "" */
};

struct bt_persistent_volume_status {
	struct bt_str phase;
};

struct bt_persistent_volume {
	struct bt_object_meta metadata;
	struct bt_persistent_volume_spec spec;
	struct bt_persistent_volume_status status;
};

struct bt_volume_resource_requirements {
	struct bt_resource_list limits;
	struct bt_resource_list requests;
};

struct bt_persistent_volume_claim_spec {
	bt_str_list access_modes;
	const struct bt_label_selector *selector; /* NULL: no restriction */
	struct bt_volume_resource_requirements resources;
	struct bt_str volume_name;
	struct bt_str storage_class_name;           /* nullable */
	struct bt_str volume_mode;                  /* nullable: Filesystem */
	struct bt_str volume_attributes_class_name; /* nullable: "" */
};

struct bt_persistent_volume_claim_status {
	struct bt_str phase;
	bt_str_list access_modes;
	struct bt_resource_list capacity;
};

struct bt_persistent_volume_claim {
	struct bt_object_meta metadata;
	struct bt_persistent_volume_claim_spec spec;
	struct bt_persistent_volume_claim_status status;
};

struct bt_persistent_volume_claim_template {
	struct bt_object_meta metadata;
	struct bt_persistent_volume_claim_spec spec;
};

/** Generic ephemeral volume of a pod. */
struct bt_ephemeral_volume_source {
	const struct bt_persistent_volume_claim_template *volume_claim_template;
};

struct bt_topology_selector_label_requirement {
	struct bt_str key;
	bt_str_list values;
};

struct bt_topology_selector_term {
	BT_LIST(struct bt_topology_selector_label_requirement) match_label_expressions;
};

struct bt_storage_class {
	struct bt_object_meta metadata;
	struct bt_str provisioner;
	struct bt_str_map parameters;
	struct bt_str volume_binding_mode; /* nullable: an error where it is read */
	BT_LIST(struct bt_topology_selector_term) allowed_topologies;
};

struct bt_volume_node_resources {
	struct bt_opt_i32 count;
};

struct bt_csi_node_driver {
	struct bt_str name;
	struct bt_str node_id;
	bt_str_list topology_keys;
	const struct bt_volume_node_resources *allocatable; /* NULL or without count: no limit */
};

struct bt_csi_node_spec {
	BT_LIST(struct bt_csi_node_driver) drivers;
};

struct bt_csi_node {
	struct bt_object_meta metadata;
	struct bt_csi_node_spec spec;
};

struct bt_csi_driver_spec {
	struct bt_opt_bool storage_capacity;
	struct bt_opt_bool prevent_pod_scheduling_if_missing;
};

struct bt_csi_driver {
	struct bt_object_meta metadata;
	struct bt_csi_driver_spec spec;
};

struct bt_csi_storage_capacity {
	struct bt_object_meta metadata;
	const struct bt_label_selector *node_topology; /* NULL: no node matches */
	struct bt_str storage_class_name;
	const struct bt_quantity *capacity;
	const struct bt_quantity *maximum_volume_size;
};

struct bt_volume_attachment_source {
	struct bt_str persistent_volume_name; /* nullable: attachment is ignored */
};

struct bt_volume_attachment_spec {
	struct bt_str attacher;
	struct bt_volume_attachment_source source;
	struct bt_str node_name;
};

struct bt_volume_attachment {
	struct bt_object_meta metadata;
	struct bt_volume_attachment_spec spec;
};

extern const struct bt_message bt_object_reference_message;
extern const struct bt_message bt_ephemeral_volume_source_message;
extern const struct bt_message bt_persistent_volume_message;
extern const struct bt_message bt_persistent_volume_claim_message;
extern const struct bt_message bt_storage_class_message;
extern const struct bt_message bt_csi_node_message;
extern const struct bt_message bt_csi_driver_message;
extern const struct bt_message bt_csi_storage_capacity_message;
extern const struct bt_message bt_volume_attachment_message;

/** Class of a claim or volume: the beta annotation if its key exists, else the field. Spec 01
 * section 5.17. */
struct bt_str bt_persistent_volume_claim_class(const struct bt_persistent_volume_claim *claim);
struct bt_str bt_persistent_volume_class(const struct bt_persistent_volume *volume);
#endif
