/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_DAEMON_SET_H
#define BT_CLUSTER_DAEMON_SET_H
/** The parts of the daemon set controller: daemon_set.c (nodes, pods, what belongs where),
 * daemon_set_pods.c (making, removing and updating pods). Spec: 14b section 6.3. */
#include "api/node.h"
#include "api/pod.h"
#include "cluster/owners.h"
#include "cluster/tree.h"

/** Writes of pods in one sync. */
#define BT_DAEMON_BURST 250

struct bt_daemon_node {
	struct bt_arena arena;
	struct bt_str name;
	struct bt_node node; /* labels and taints only */
};

struct bt_daemon_sets {
	const struct bt_api_resource *sets;
	const struct bt_api_resource *pods;
	struct bt_selector_table selectors;
	BT_VEC(struct bt_daemon_node *) nodes; /* by name */
	struct bt_groups targets;              /* unassigned pods by the node they are meant for */
};

struct bt_daemon_pod {
	const struct bt_indexed_pod *record;
	struct bt_str target;
};

/** A node in one sync. */
struct bt_daemon_place {
	const struct bt_daemon_node *node;
	const struct bt_daemon_pod *pods; /* oldest first */
	uint32_t pod_count;
	bool should_run;
	bool should_stay;
};

/** One sync. */
struct bt_daemon_pass {
	struct bt_daemon_sets *self;
	struct bt_hub *hub;
	struct bt_arena *arena;
	const struct bt_json_value *set;
	struct bt_json_value *template_; /* with the tolerations every daemon has */
	struct bt_json_value *owner_reference;
	struct bt_str key;
	struct bt_str hash;
	struct bt_pod_spec spec; /* of template_ */
	struct bt_required_node_affinity affinity;
	struct bt_daemon_pod *pods; /* by target, then age */
	uint32_t pod_count;
	struct bt_daemon_place *places; /* by node name */
	uint32_t place_count;
	int64_t max_surge;
	int64_t min_ready_seconds;
	int64_t now_seconds;
	int64_t wait_until_seconds;
	uint32_t writes;
	bool failed;
};

/** false: the template makes no pod. */
bool bt_daemon_read_spec(struct bt_daemon_pass *pass);
void bt_daemon_make_pod(struct bt_daemon_pass *pass, struct bt_str node);
void bt_daemon_remove_pod(struct bt_daemon_pass *pass, const struct bt_indexed_pod *pod);
/** Bring pods of an older template to the present one, as many as the strategy allows. */
void bt_daemon_update(struct bt_daemon_pass *pass);
#endif
