/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_WORKLOAD_H
#define BT_SOAK_WORKLOAD_H
/** Random users and controllers that create, change and delete objects. */
#include "base/str.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "soak/devices.h"

struct bt_sim;

#define BT_SIM_APP_CLAIMS_MAX 2

/** An app: a template for pods, and the number of its replicas. */
struct bt_sim_app {
	uint32_t serial;
	struct bt_str namespace_;
	struct bt_str labels;        /* JSON members */
	struct bt_str spec;          /* JSON members, without volumes */
	struct bt_str storage_class; /* of the app's PersistentVolumeClaims; "": no such claims */
	bool is_job;                 /* pods terminate by themselves */
	bool is_stateful;            /* new pods reuse the names of old ones */
	struct bt_sim_app_claim claims[BT_SIM_APP_CLAIMS_MAX];
	uint32_t claim_count;
	uint32_t replicas;
	struct bt_str group;      /* PodGroup of its pods; "": none */
	struct bt_str group_spec; /* JSON members, without the policy */
	uint32_t min_count;       /* minCount of a gang; 0: the group has the basic policy */
};

struct bt_sim_workload {
	BT_VEC(struct bt_sim_app) apps;
	uint32_t next_app;
	uint32_t next_pod;
	uint32_t next_node;
	uint32_t next_volume;
	uint32_t pods_max;
	uint32_t nodes_max;
	bool has_volumes; /* which kinds of objects and features the seed has */
	bool has_topology;
	bool has_preemption;
	bool has_gates;
	bool has_devices;
	bool has_shared_devices;
	bool has_parts;
	bool has_fabric;
	BT_VEC(struct bt_sim_pool) pools; /* pools of zones come first */
	uint32_t fabric_count;            /* number of pools of zones */
	struct bt_strbuf json;
};

/** Creates the first nodes, classes and namespaces, and starts random changes. */
void bt_sim_workload_start(struct bt_sim *sim);
/** Make one random change now. */
void bt_sim_workload_change(struct bt_sim *sim);
void bt_sim_workload_finish(struct bt_sim_workload *workload);
/** Delete everything. */
void bt_sim_workload_drain(struct bt_sim *sim);

/** --- changes, by the objects they change --- */

struct bt_sim_change {
	uint32_t weight;
	void (*run)(struct bt_sim *sim);
};

extern const struct bt_sim_change bt_sim_pod_changes[];
extern const uint32_t bt_sim_pod_change_count;
extern const struct bt_sim_change bt_sim_node_changes[];
extern const uint32_t bt_sim_node_change_count;
extern const struct bt_sim_change bt_sim_device_changes[];
extern const uint32_t bt_sim_device_change_count;

/** Adds an app with a random template for its pods. */
void bt_sim_workload_design_app(struct bt_sim *sim);
/** Create a missing pod of the app or delete a surplus one; one pod at most. */
void bt_sim_workload_reconcile(struct bt_sim *sim, uint32_t index);
void bt_sim_workload_add_node(struct bt_sim *sim);
void bt_sim_workload_add_volume(struct bt_sim *sim);
/** Delete a storage class, or create it again. */
void bt_sim_workload_toggle_class(struct bt_sim *sim);
#endif
