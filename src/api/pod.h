/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POD_H
#define BT_API_POD_H
/** Pod, as far as a scheduler reads it. Spec: 01 sections 4.3 and 4.4. Immutable once decoded;
 * memory is the arena's. */
#include "api/meta.h"
#include "api/quantity.h"

struct bt_container_port {
	int32_t host_port;
	int32_t container_port;
	struct bt_str protocol;
	struct bt_str host_ip;
};

struct bt_container_claim {
	struct bt_str name;
	struct bt_str request;
};

struct bt_resource_requirements {
	struct bt_resource_list limits;
	struct bt_resource_list requests;
	BT_LIST(struct bt_container_claim) claims;
};

struct bt_container_restart_rule {
	struct bt_str action;
};

struct bt_container {
	struct bt_str name;
	struct bt_str image;
	BT_LIST(struct bt_container_port) ports;
	struct bt_resource_requirements resources;
	struct bt_str restart_policy;
	BT_LIST(struct bt_container_restart_rule) restart_policy_rules;
};

typedef BT_LIST(struct bt_container) bt_container_list;

struct bt_preferred_scheduling_term {
	int32_t weight;
	struct bt_node_selector_term preference;
};

typedef BT_LIST(struct bt_preferred_scheduling_term) bt_preferred_scheduling_term_list;

struct bt_node_affinity {
	const struct bt_node_selector *required; /* NULL: absent */
	bt_preferred_scheduling_term_list preferred;
};

struct bt_pod_affinity_term {
	const struct bt_label_selector *label_selector; /* NULL: matches nothing */
	bt_str_list namespaces;
	struct bt_str topology_key;
	const struct bt_label_selector *namespace_selector; /* NULL: only namespaces */
	bt_str_list match_label_keys;
	bt_str_list mismatch_label_keys;
};

struct bt_weighted_pod_affinity_term {
	int32_t weight;
	struct bt_pod_affinity_term term;
};

/** podAffinity and podAntiAffinity. */
struct bt_pod_affinity {
	BT_LIST(struct bt_pod_affinity_term) required;
	BT_LIST(struct bt_weighted_pod_affinity_term) preferred;
};

struct bt_affinity {
	const struct bt_node_affinity *node_affinity;
	const struct bt_pod_affinity *pod_affinity;
	const struct bt_pod_affinity *pod_anti_affinity;
};

struct bt_toleration {
	struct bt_str key;
	struct bt_str operator_;
	struct bt_str value;
	struct bt_str effect;
	struct bt_opt_i64 toleration_seconds;
};

typedef BT_LIST(struct bt_toleration) bt_toleration_list;

struct bt_topology_spread_constraint {
	int32_t max_skew;
	struct bt_str topology_key;
	struct bt_str when_unsatisfiable;
	const struct bt_label_selector *label_selector;
	struct bt_opt_i32 min_domains;
	struct bt_str node_affinity_policy; /* nullable */
	struct bt_str node_taints_policy;   /* nullable */
	bt_str_list match_label_keys;
};

struct bt_pod_scheduling_gate {
	struct bt_str name;
};

struct bt_pod_resource_claim {
	struct bt_str name;
	struct bt_str resource_claim_name;          /* nullable */
	struct bt_str resource_claim_template_name; /* nullable */
};

struct bt_pod_scheduling_group {
	struct bt_str pod_group_name; /* nullable */
};

/* Volume sources; which members are read: spec 01 section 4.4. */

struct bt_pvc_volume_source {
	struct bt_str claim_name;
	bool read_only;
};

struct bt_gce_pd_volume_source {
	struct bt_str pd_name;
	struct bt_str fs_type;
	int32_t partition;
	bool read_only;
};

struct bt_aws_ebs_volume_source {
	struct bt_str volume_id;
	struct bt_str fs_type;
	int32_t partition;
	bool read_only;
};

struct bt_iscsi_volume_source {
	struct bt_str target_portal;
	struct bt_str iqn;
	int32_t lun;
	bool read_only;
};

struct bt_rbd_volume_source {
	bt_str_list monitors;
	struct bt_str image;
	struct bt_str pool;
	bool read_only;
};

struct bt_azure_disk_volume_source {
	struct bt_str disk_name;
	struct bt_str disk_uri;
	struct bt_str kind;
	struct bt_opt_bool read_only;
};

struct bt_azure_file_volume_source {
	struct bt_str secret_name;
	struct bt_str share_name;
	bool read_only;
};

struct bt_cinder_volume_source {
	struct bt_str volume_id;
	struct bt_str fs_type;
	bool read_only;
};

struct bt_vsphere_volume_source {
	struct bt_str volume_path;
	struct bt_str fs_type;
};

struct bt_portworx_volume_source {
	struct bt_str volume_id;
	struct bt_str fs_type;
	bool read_only;
};

struct bt_image_volume_source {
	struct bt_str reference;
	struct bt_str pull_policy;
};

/** An inline CSI volume. */
struct bt_inline_csi_volume_source {
	struct bt_str driver;
};

/** configMap, secret, emptyDir: only that they are set. */
struct bt_presence_volume_source {
	char unused;
};

struct bt_ephemeral_volume_source; /* api/storage.h */

struct bt_volume {
	struct bt_str name;
	const struct bt_gce_pd_volume_source *gce_persistent_disk;
	const struct bt_aws_ebs_volume_source *aws_elastic_block_store;
	const struct bt_iscsi_volume_source *iscsi;
	const struct bt_rbd_volume_source *rbd;
	const struct bt_pvc_volume_source *persistent_volume_claim;
	const struct bt_ephemeral_volume_source *ephemeral;
	const struct bt_azure_disk_volume_source *azure_disk;
	const struct bt_azure_file_volume_source *azure_file;
	const struct bt_cinder_volume_source *cinder;
	const struct bt_vsphere_volume_source *vsphere_volume;
	const struct bt_portworx_volume_source *portworx_volume;
	const struct bt_image_volume_source *image;
	const struct bt_inline_csi_volume_source *csi;
	const struct bt_presence_volume_source *config_map;
	const struct bt_presence_volume_source *secret;
	const struct bt_presence_volume_source *empty_dir;
};

struct bt_pod_spec {
	BT_LIST(struct bt_volume) volumes;
	bt_container_list containers;
	bt_container_list init_containers;
	struct bt_str_map node_selector;
	struct bt_str node_name;
	bool host_network;
	struct bt_opt_bool host_users;
	const struct bt_affinity *affinity;
	struct bt_str scheduler_name;
	bt_toleration_list tolerations;
	struct bt_opt_i32 priority;
	struct bt_str priority_class_name; /* resolved where no admission ran (simulation) */
	struct bt_str preemption_policy;   /* nullable */
	struct bt_resource_list overhead;
	BT_LIST(struct bt_topology_spread_constraint) topology_spread_constraints;
	BT_LIST(struct bt_pod_scheduling_gate) scheduling_gates;
	BT_LIST(struct bt_pod_resource_claim) resource_claims;
	const struct bt_resource_requirements *resources; /* pod level; NULL: absent */
	const struct bt_pod_scheduling_group *scheduling_group;
};

struct bt_pod_condition {
	struct bt_str type;
	struct bt_str status;
	struct bt_time last_probe_time;
	struct bt_time last_transition_time;
	struct bt_str reason;
	struct bt_str message;
	int64_t observed_generation;
};

struct bt_container_status {
	struct bt_str name;
	struct bt_resource_list allocated_resources;
	const struct bt_resource_requirements *resources; /* NULL: use the spec only */
};

typedef BT_LIST(struct bt_container_status) bt_container_status_list;

struct bt_pod_resource_claim_status {
	struct bt_str name;
	struct bt_str resource_claim_name; /* nullable: no claim needed */
};

struct bt_container_extended_resource_request {
	struct bt_str container_name;
	struct bt_str resource_name;
	struct bt_str request_name;
};

struct bt_pod_extended_resource_claim_status {
	BT_LIST(struct bt_container_extended_resource_request) request_mappings;
	struct bt_str resource_claim_name;
};

struct bt_node_allocatable_claim_status {
	struct bt_str resource_claim_name;
	bt_str_list containers;
	struct bt_resource_list resources;
};

struct bt_pod_status {
	struct bt_str phase;
	BT_LIST(struct bt_pod_condition) conditions;
	struct bt_str nominated_node_name;
	struct bt_str qos_class; /* read by legacy predicates only (spec 05b B2) */
	const struct bt_time *start_time;
	bt_container_status_list container_statuses;
	bt_container_status_list init_container_statuses;
	BT_LIST(struct bt_pod_resource_claim_status) resource_claim_statuses;
	const struct bt_pod_extended_resource_claim_status *extended_resource_claim_status;
	struct bt_resource_list allocated_resources;
	const struct bt_resource_requirements *resources;
	BT_LIST(struct bt_node_allocatable_claim_status) node_allocatable_resource_claim_statuses;
};

struct bt_pod {
	struct bt_object_meta metadata;
	struct bt_pod_spec spec;
	struct bt_pod_status status;
};

extern const struct bt_message bt_pod_message;
extern const struct bt_message bt_pod_spec_message;
extern const struct bt_message bt_pod_status_message;
extern const struct bt_message bt_toleration_message;
extern const struct bt_message bt_affinity_message;
extern const struct bt_message bt_node_affinity_message;
extern const struct bt_message bt_resource_requirements_message;
extern const struct bt_message bt_topology_spread_constraint_message;
extern const struct bt_message bt_pod_condition_message;

/** spec.priority, or 0. Spec 01 section 5.13. */
int32_t bt_pod_priority(const struct bt_pod *pod);
/** phase Succeeded or Failed. Spec 01 section 5.17. */
bool bt_pod_is_terminal(const struct bt_pod *pod);
#endif
