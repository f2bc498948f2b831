/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_NODE_AGENT_H
#define BT_CLUSTER_NODE_AGENT_H
/**
 * Agents of simulated nodes, in place of kubelets: one controller plays all of them. node_agent.c
 * knows nodes and what changes, renews leases and gives nodes addresses for their pods;
 * node_agent_pods.c leads pods from their acceptance to their end and keeps what is used of each
 * node; node_agent_status.c makes and completes nodes and the statuses of pods. Spec: 14b
 * section 9.
 */
#include "base/map.h"
#include "base/vec.h"
#include "cluster/groups.h"
#include "cluster/tree.h"

/** Annotation of nodes: "false" is said of those that a real agent serves. */
#define BT_ANNOTATION_SIMULATED "berth.dev/simulated"
/** Annotation of pods: how their containers end. */
#define BT_ANNOTATION_EXIT_CODE "berth.dev/exit-code"
/** Annotation of pods: "false" makes their containers unready while they run. */
#define BT_ANNOTATION_READY "berth.dev/ready"

#define BT_AGENT_NONE UINT32_MAX
/** Addresses for pods of a node: 1 to this are given once each. */
#define BT_AGENT_HOSTS_MAX 254

/** What a node has of a resource, and what its pods took. */
struct bt_agent_resource {
	char *name; /* owned */
	int64_t capacity;
	int64_t used;
};

/** The first resources of every node. */
enum bt_agent_known_resource {
	BT_AGENT_PODS,
	BT_AGENT_CPU, /* thousandths */
	BT_AGENT_MEMORY,
	BT_AGENT_STORAGE,
	BT_AGENT_KNOWN_COUNT,
};

struct bt_agent_node {
	char *name;         /* owned; NULL: a free slot */
	uint32_t pod_count; /* of our records; it stays known while there are any */
	uint32_t next_free;
	bool exists;
	bool simulated;
	bool has_no_execute; /* taints with that effect */
	bool has_subnet;
	uint8_t subnet[3];    /* of its pods' addresses */
	uint32_t first_block; /* that it uses, of 256 addresses each in 10.0.0.0/8 */
	uint32_t block_count;
	uint8_t last_host; /* that was given */
	uint64_t hosts[4]; /* a bit for each that is given */
	char address[16];  /* its own */
	BT_VEC(struct bt_agent_resource) resources;
};

struct bt_agent_amount {
	uint32_t resource; /* of the node */
	int64_t amount;
};

enum bt_agent_stage {
	BT_AGENT_NEW,      /* not yet looked at */
	BT_AGENT_STARTING, /* accepted */
	BT_AGENT_RUNNING,
	BT_AGENT_STOPPING,
};

/** A pod that is assigned and not finished. */
struct bt_agent_pod {
	char *key; /* owned; NULL: a free slot */
	char *uid; /* owned */
	uint32_t node;
	uint32_t next_free;
	enum bt_agent_stage stage;
	bool deleting;
	bool completes; /* ends by itself */
	bool has_gates;
	bool changes_readiness; /* its annotation changed while it runs */
	uint8_t host;           /* of its address; 0: none */
	int64_t accepted_ns;
	int64_t due_ns; /* when its stage is over; INT64_MAX: never */
	int64_t grace_seconds;
	uint32_t amount_count;
	struct bt_agent_amount *amounts; /* owned */
};

struct bt_node_agent {
	struct bt_hub *hub; /* borrowed */
	BT_VEC(struct bt_agent_node) nodes;
	uint32_t first_free_node;
	struct bt_map nodes_by_name;
	BT_VEC(struct bt_agent_pod) pods;
	struct bt_map pods_by_key;
	uint32_t first_free;
	/** Pods by the claim they wait for; claims of devices have a # before their key. */
	struct bt_groups waiting;
	uint32_t *block_uses; /* nodes of each block; owned */
	uint32_t free_blocks; /* those of no node */
	uint32_t next_block;  /* to be tried first */
	uint32_t next_lease;  /* node whose lease is renewed next */
	int64_t lease_due_ns;
	int64_t event_tokens; /* thousandths */
	int64_t event_updated_ns;
};

/** --- node_agent.c --- */

/** Whether an agent of this process serves the node: annotation berth.dev/simulated. */
bool bt_node_is_simulated(const struct bt_json_value *node);
/** A taint with that effect. */
bool bt_node_has_no_execute(const struct bt_json_value *node);

/** --- node_agent_pods.c --- */

bool bt_agent_sync_pod(struct bt_sync *sync, struct bt_agent_pod *record);

void bt_agent_init_resources(struct bt_agent_node *node);
/** status.allocatable. */
void bt_agent_set_capacity(struct bt_agent_node *node, const struct bt_json_value *allocatable);

void bt_agent_release(struct bt_agent_node *node, struct bt_agent_pod *pod);

/** --- node_agent_status.c --- */

struct bt_json_value *bt_agent_running_status(
	const struct bt_sync *sync, struct bt_agent_pod *record);
/** What a pod that runs did not say yet of all that. */
struct bt_json_value *bt_agent_missing_status(
	const struct bt_sync *sync, struct bt_agent_pod *record);
/** All containers ended with this code. */
struct bt_json_value *bt_agent_ended_status(const struct bt_sync *sync, int64_t exit_code);
/** All containers ended with this code and run again. */
struct bt_json_value *bt_agent_restarted_status(const struct bt_sync *sync, int64_t exit_code);
/** Readiness by the annotation and the readiness gates. with_containers: that of the containers as
 * well. */
struct bt_json_value *bt_agent_readiness_status(const struct bt_sync *sync, bool with_containers);

/** Write what an agent tells about itself and the synced node did not say yet. */
void bt_agent_complete_node(struct bt_sync *sync, const struct bt_agent_node *record);

/** --- node_agent.c --- */

/** The key of the controller under which leases are renewed: no object has it. */
#define BT_AGENT_LEASES_KEY "#leases"

/** Give the node a subnet, unless it has one. */
void bt_agent_ensure_subnet(struct bt_node_agent *agent, struct bt_agent_node *node);
#endif
