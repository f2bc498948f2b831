/* SPDX-License-Identifier: Apache-2.0 */
/** ReplicaSets and ReplicationControllers. Spec: 14b section 6.1. */
#include "cluster/replicas.h"

static const struct bt_replicas_kind replica_set_kind = {
	.group = "apps",
	.resource = "replicasets",
	.component = "replicaset-controller",
};

static void *create_replica_set(struct bt_hub *hub)
{
	return bt_replicas_create(hub, &replica_set_kind);
}

static const char *const replica_set_resources[] = {"apps/replicasets", "pods", NULL};

const struct bt_controller_ops bt_replica_set_controller = {
	.name = "replicaset-controller",
	.resources = replica_set_resources,
	.create = create_replica_set,
	.destroy = bt_replicas_destroy,
	.observe = bt_replicas_observe,
	.sync = bt_replicas_sync,
};

static const struct bt_replicas_kind replication_kind = {
	.group = "",
	.resource = "replicationcontrollers",
	.component = "replication-controller",
	.selector_is_map = true,
};

static void *create_replication(struct bt_hub *hub)
{
	return bt_replicas_create(hub, &replication_kind);
}

static const char *const replication_resources[] = {"replicationcontrollers", "pods", NULL};

const struct bt_controller_ops bt_replication_controller = {
	.name = "replicationcontroller-controller",
	.resources = replication_resources,
	.create = create_replication,
	.destroy = bt_replicas_destroy,
	.observe = bt_replicas_observe,
	.sync = bt_replicas_sync,
};
