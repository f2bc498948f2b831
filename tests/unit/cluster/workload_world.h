/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CONTROLLERS_WORKLOAD_WORLD_H
#define BT_TESTS_UNIT_CONTROLLERS_WORKLOAD_WORLD_H
/** A cluster in virtual time with the workload controllers, and an agent that starts and stops
 * pods when the test says so. */
#include "codec/json_edit.h"
#include "cluster/cluster.h"
#include "cluster/controller.h"

struct world {
	struct bt_cluster *cluster;
	struct bt_store *store;             /* the cluster's */
	struct bt_api *api;                 /* the cluster's */
	struct bt_controllers *controllers; /* the cluster's */
	struct bt_arena arena;
	int64_t now_ns;
	bool hold_new_pods; /* the agent starts none */
	/** Called after each step, to look for what must never be. */
	void (*check)(struct world *world);
	int64_t least; /* for check */
	int64_t most;
	int64_t wanted;
};

void world_init(struct world *world);
/** The same with gate WorkloadWithJob. */
void world_init_gangs(struct world *world);
void world_finish(struct world *world);
const struct bt_api_resource *world_resource(
	struct world *world, const char *group, const char *name);
/** All ' in the text are written as ". Fails the test unless the code is the expected one. */
void world_create(struct world *world, const char *group, const char *resource, const char *text,
	uint16_t expected_code);
/** A merge patch. */
void world_patch(struct world *world, const char *group, const char *resource, const char *key,
	enum bt_subresource subresource, const char *text);
void world_delete(struct world *world, const char *group, const char *resource, const char *key);
/** Everything that is due now; fails the test if that never ends. */
void world_run(struct world *world);
/** Assign, start and stop pods once. false: there was nothing to do. */
bool world_agent(struct world *world);
/** Controllers and agent in turn, until nothing happens any more. */
void world_settle(struct world *world);
void world_advance(struct world *world, int64_t seconds);
struct bt_json_value *world_get(
	struct world *world, const char *group, const char *resource, const char *key);
int64_t world_int(struct world *world, const char *group, const char *resource, const char *key,
	const char *path);
/** Objects of a collection; with label "a=b" only those. *out_keys (may be NULL) are texts of the
 * world's arena in order. */
uint32_t world_list(struct world *world, const char *group, const char *resource,
	const char *label_name, const char *label_value, struct bt_str *out_keys, uint32_t room);
/** Pods that are not being deleted and not finished. */
uint32_t world_active_pods(struct world *world);
uint32_t world_ready_pods(struct world *world);
void world_set_pod(struct world *world, const char *key, const char *phase, bool ready);
/** "True", "False", ... or "". */
struct bt_str world_condition(struct world *world, const char *group, const char *resource,
	const char *key, const char *type, const char *member);
#endif
