/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLUSTER_CLUSTER_H
#define BT_TESTS_UNIT_CLUSTER_CLUSTER_H
/**
 * A cluster in virtual time with the controllers that the test names and without a scheduler, and
 * helpers for requests to its API.
 */
#include "../server/api_fixture.h"
#include "cluster/cluster.h"

struct cluster {
	struct bt_cluster *cluster;
	struct api_fixture api;     /* store and API belong to cluster */
	struct bt_hub *controllers; /* NULL until the first cluster_run */
	const char *names[16];      /* of controllers; the options point here */
};

/**
 * Makes a cluster. names: the controllers to run, as in --controllers, separated by commas; NULL:
 * all.
 */
void cluster_init(struct cluster *cluster, const char *names);
void cluster_finish(struct cluster *cluster);
/**
 * Advances virtual time by so many milliseconds and runs the controllers; the first call starts the
 * controllers.
 */
void cluster_run(struct cluster *cluster, int64_t milliseconds);
void cluster_create(
	struct cluster *cluster, const char *resource, const char *key, const char *body);
/** Adds a node with 4 cpu, 8Gi, 10 pods. */
void cluster_add_node(struct cluster *cluster, const char *name);
/** Applies a merge patch; the answer must be 200. */
void cluster_patch(
	struct cluster *cluster, const char *resource, const char *key, const char *body);
/** Deletes the object; the answer must be 200. */
void cluster_delete(struct cluster *cluster, const char *resource, const char *key);
bool cluster_has(struct cluster *cluster, const char *resource, const char *key);
/** Returns a member of the stored object; "" when the object or the member is absent. */
const char *cluster_text(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path);
/**
 * Returns a part of the stored object as JSON, with ' in place of "; "" when the object or the part
 * is absent.
 */
const char *cluster_json(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path);
/** Returns "STATUS/REASON" of the condition, or "" without the condition. */
const char *cluster_condition(
	struct cluster *cluster, const char *resource, const char *key, const char *type);
/** Returns the number of Event objects with this reason, in all namespaces. */
uint32_t cluster_events(struct cluster *cluster, const char *reason);
#endif
