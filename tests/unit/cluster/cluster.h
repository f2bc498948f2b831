/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CONTROLLERS_CLUSTER_H
#define BT_TESTS_UNIT_CONTROLLERS_CLUSTER_H
/** A cluster in virtual time with the controllers that a test names and without a scheduler, and
 * requests to its API. */
#include "../server/api_fixture.h"
#include "cluster/cluster.h"

struct cluster {
	struct bt_cluster *cluster;
	struct api_fixture api;             /* store and API are the cluster's */
	struct bt_controllers *controllers; /* NULL until the first cluster_run */
	const char *names[16];              /* of them; the cluster's options point here */
};

/** names: as --controllers, separated by commas; NULL: all. */
void cluster_init(struct cluster *cluster, const char *names);
void cluster_finish(struct cluster *cluster);
/** Let so many milliseconds pass. */
void cluster_run(struct cluster *cluster, int64_t milliseconds);
void cluster_create(
	struct cluster *cluster, const char *resource, const char *key, const char *body);
/** A node of 4 cpu, 8Gi, 10 pods. */
void cluster_add_node(struct cluster *cluster, const char *name);
/** A merge patch; 200. */
void cluster_patch(
	struct cluster *cluster, const char *resource, const char *key, const char *body);
/** Delete; 200. */
void cluster_delete(struct cluster *cluster, const char *resource, const char *key);
bool cluster_has(struct cluster *cluster, const char *resource, const char *key);
/** A member of what is stored now; "" when the object or the member is absent. */
const char *cluster_text(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path);
/** A part of what is stored as JSON, with ' in place of ". */
const char *cluster_json(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path);
/** "status of the condition/reason", or "". */
const char *cluster_condition(
	struct cluster *cluster, const char *resource, const char *key, const char *type);
/** How many events of the namespace have this reason. */
uint32_t cluster_events(struct cluster *cluster, const char *reason);
#endif
