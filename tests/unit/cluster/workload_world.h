/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLUSTER_WORKLOAD_WORLD_H
#define BT_TESTS_UNIT_CLUSTER_WORKLOAD_WORLD_H
/**
 * A cluster in virtual time with the workload controllers, and an agent that starts and stops pods
 * when the test calls it.
 */
#include "codec/json_edit.h"
#include "cluster/cluster.h"
#include "cluster/controller.h"

struct world {
	struct bt_cluster *cluster;
	struct bt_store *store;     /* owned by cluster */
	struct bt_api *api;         /* owned by cluster */
	struct bt_hub *controllers; /* owned by cluster */
	struct bt_arena arena;
	int64_t now_ns;
	bool hold_new_pods; /* the agent starts no pods */
	/** Called after each step to check invariants. */
	void (*check)(struct world *world);
	int64_t least; /* used by check */
	int64_t most;
	int64_t wanted;
};

void world_init(struct world *world);
/** Like world_init, with gate WorkloadWithJob. */
void world_init_gangs(struct world *world);
void world_finish(struct world *world);
const struct bt_api_resource *world_resource(
	struct world *world, const char *group, const char *name);
/** Creates the object; every ' in the text becomes ". The answer must have the expected code. */
void world_create(struct world *world, const char *group, const char *resource, const char *text,
	uint16_t expected_code);
/** Applies a merge patch. */
void world_patch(struct world *world, const char *group, const char *resource, const char *key,
	enum bt_subresource subresource, const char *text);
void world_delete(struct world *world, const char *group, const char *resource, const char *key);
/** Runs all controllers until no work is due; fails the test if that takes too many rounds. */
void world_run(struct world *world);
/** Assigns, starts and stops pods once; returns false if there was nothing to do. */
bool world_agent(struct world *world);
/** Runs controllers and agent in turn until nothing changes. */
void world_settle(struct world *world);
void world_advance(struct world *world, int64_t seconds);
struct bt_json_value *world_get(
	struct world *world, const char *group, const char *resource, const char *key);
int64_t world_int(struct world *world, const char *group, const char *resource, const char *key,
	const char *path);
/**
 * Returns the number of objects in a collection. label_name not NULL: only objects with this label
 * and value count. out_keys (may be NULL) receives the keys of the counted objects in key order, in
 * the world's arena; the test fails if there are more than `room`.
 */
uint32_t world_list(struct world *world, const char *group, const char *resource,
	const char *label_name, const char *label_value, struct bt_str *out_keys, uint32_t room);
/** Counts the pods that are neither finished nor being deleted. */
uint32_t world_active_pods(struct world *world);
uint32_t world_ready_pods(struct world *world);
void world_set_pod(struct world *world, const char *key, const char *phase, bool ready);
/**
 * Returns a member ("status", "reason") of the condition of this type; "" without the condition.
 */
struct bt_str world_condition(struct world *world, const char *group, const char *resource,
	const char *key, const char *type, const char *member);
#endif
