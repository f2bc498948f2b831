/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_NODE_AGENT_H
#define BT_CLUSTER_NODE_AGENT_H
/**
 * Agents of simulated nodes, in place of kubelets. One controller acts for all nodes. node_agent.c
 * keeps the nodes, observes changes, renews leases and assigns pod subnets; node_agent_pods.c moves
 * pods through their stages and accounts for each node's resources; node_agent_status.c creates
 * nodes and fills in the statuses of nodes and pods. Spec: 14b section 9.
 */
#include "base/map.h"
#include "base/vec.h"
#include "cluster/groups.h"
#include "cluster/tree.h"

/** Annotation of nodes: "false" if a real agent serves the node. */
#define BT_ANNOTATION_SIMULATED "berth.dev/simulated"
/** Annotation of pods: the exit code of their containers. */
#define BT_ANNOTATION_EXIT_CODE "berth.dev/exit-code"
/** Annotation of pods: "false" makes their containers unready while they run. */
#define BT_ANNOTATION_READY "berth.dev/ready"

/** The last byte of a pod's address is between 1 and this number. */
#define BT_AGENT_HOSTS_MAX 254

/** A resource of a node, and how much of it the node's pods use. */
struct bt_agent_resource {
	char *name; /* owned */
	int64_t capacity;
	int64_t used;
};

/** Indices of the resources that every node has; other resources follow. */
enum bt_agent_known_resource {
	BT_AGENT_PODS,
	BT_AGENT_CPU, /* millicores */
	BT_AGENT_MEMORY,
	BT_AGENT_STORAGE,
};

struct bt_agent_node {
	struct bt_str name; /* in bt_node_agent.node_names; absent: a free slot */
	uint32_t pod_count; /* pods of the node in bt_node_agent; the node's record stays until the
	                       count is 0 */
	bool exists;
	bool simulated;
	bool has_no_execute; /* the node has NoExecute taints */
	bool has_subnet;
	uint8_t subnet[3];    /* first three bytes of the addresses of the node's pods */
	uint32_t first_block; /* number of the subnet's first /24 block, counted from the start
	                         of 10.0.0.0/8 */
	uint32_t block_count;
	uint8_t last_host; /* last byte of the address that was assigned last */
	uint64_t hosts[4]; /* bit n is set if the address with last byte n is assigned */
	char address[16];  /* the node's own address */
	BT_VEC(struct bt_agent_resource) resources;
};

struct bt_agent_amount {
	uint32_t resource; /* index in the node's resources */
	int64_t amount;
};

enum bt_agent_stage {
	BT_AGENT_NEW,      /* not yet accepted */
	BT_AGENT_STARTING, /* accepted */
	BT_AGENT_RUNNING,
	BT_AGENT_STOPPING,
};

/** A pod that is assigned to a node and not finished. */
struct bt_agent_pod {
	struct bt_str key; /* in bt_node_agent.pod_keys; absent: a free slot */
	struct bt_str uid; /* in bt_node_agent.pod_keys */
	uint32_t node;
	enum bt_agent_stage stage;
	bool deleting;
	bool completes; /* the containers end by themselves */
	bool has_gates;
	bool changes_readiness; /* annotation berth.dev/ready changed while the pod runs */
	uint8_t host;           /* last byte of the pod's address; 0: no address */
	int64_t accepted_ns;
	int64_t due_ns; /* when the stage ends; INT64_MAX: never */
	int64_t grace_seconds;
	int64_t generation; /* of the spec that `amounts` are of */
	uint32_t amount_count;
	struct bt_agent_amount *amounts; /* owned */
};

/** A rate limit. All-zero memory is a limit of which nothing is used. */
struct bt_agent_limit {
	int64_t tokens; /* thousandths */
	int64_t updated_ns;
};

struct bt_node_agent {
	struct bt_groups node_names; /* all in one group */
	struct bt_groups pod_keys;   /* by the pod's uid */
	/** Pods by the key of the claim that they wait for; keys of ResourceClaims begin with #. */
	struct bt_groups waiting;
	struct bt_hub *hub;                 /* borrowed */
	BT_VEC(struct bt_agent_node) nodes; /* by entry of node_names */
	BT_VEC(struct bt_agent_pod) pods;   /* by entry of pod_keys */
	uint32_t *block_uses;               /* number of nodes in each block; owned */
	uint32_t free_blocks;               /* number of blocks without nodes */
	uint32_t next_block;                /* the block that is tried first */
	uint32_t next_lease;                /* index of the node whose lease is renewed next */
	int64_t lease_due_ns;
	struct bt_agent_limit events;
	struct bt_agent_limit refusals;
};

/** --- node_agent.c --- */

/** Returns whether an agent of this process serves the node: annotation berth.dev/simulated. */
bool bt_node_is_simulated(const struct bt_json_value *node);
/** Returns whether the node has a taint with effect NoExecute. */
bool bt_node_has_no_execute(const struct bt_json_value *node);

/** --- node_agent_pods.c --- */

bool bt_agent_sync_pod(struct bt_sync *sync, struct bt_agent_pod *record);

void bt_agent_init_resources(struct bt_agent_node *node);
/** Updates the node's resources from status.allocatable. */
void bt_agent_set_capacity(struct bt_agent_node *node, const struct bt_json_value *allocatable);

void bt_agent_release(struct bt_agent_node *node, struct bt_agent_pod *pod);

/** --- node_agent_status.c --- */

struct bt_json_value *bt_agent_running_status(
	const struct bt_sync *sync, struct bt_agent_pod *record);
/** Returns the members of the running status that the pod's stored status lacks. */
struct bt_json_value *bt_agent_missing_status(
	const struct bt_sync *sync, struct bt_agent_pod *record);
/**
 * Returns the members of the status that follow a change of a running pod's spec:
 * observedGeneration, and new ephemeral containers.
 */
struct bt_json_value *bt_agent_changed_status(const struct bt_sync *sync);
/** Returns the status of a pod whose containers all ended with this code. */
struct bt_json_value *bt_agent_ended_status(const struct bt_sync *sync, int64_t exit_code);
/** Returns the status of a pod whose containers all ended with this code and were restarted. */
struct bt_json_value *bt_agent_restarted_status(const struct bt_sync *sync, int64_t exit_code);
/**
 * Returns the conditions ContainersReady and Ready, from the annotation berth.dev/ready and the
 * readiness gates. with_containers: also the containers' statuses.
 */
struct bt_json_value *bt_agent_readiness_status(const struct bt_sync *sync, bool with_containers);

/** Writes the members of the status and the labels that the synced node lacks. */
void bt_agent_complete_node(struct bt_sync *sync, const struct bt_agent_node *record);

/** --- node_agent.c --- */

/** The queue key for renewing leases; no object has this key. */
#define BT_AGENT_LEASES_KEY "#leases"

/** Assigns a subnet to the node, unless it has one. */
void bt_agent_ensure_subnet(struct bt_node_agent *agent, struct bt_agent_node *node);
#endif
