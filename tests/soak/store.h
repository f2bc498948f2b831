/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_STORE_H
#define BT_SOAK_STORE_H
/**
 * The cluster (cluster/cluster.h) for users, drivers and checkers: requests to its API, and its
 * decoded objects. The decoded objects are current after each request.
 */
#include "api/object.h"
#include "base/prng.h"
#include "base/vec.h"
#include "cluster/cluster.h"
#include "state/object_store.h"

struct bt_sim_store {
	struct bt_cluster *cluster;
	struct bt_object_store objects; /* of all kinds that the scheduler or a checker reads */
	BT_VEC(uint8_t) kinds;          /* collection -> enum bt_kind; BT_KIND__COUNT: ignored */
	BT_VEC(struct bt_store_change) changes; /* committed, but not yet applied to objects */
	struct bt_arena arena;                  /* memory of one request */
	/**
	 * Called after each change. old_object NULL: the object was added; new_object NULL: it was
	 * deleted. The objects are borrowed.
	 */
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	void *context;
};

/** Starts a cluster without a scheduler, in virtual time. */
BT_MUST_USE int bt_sim_store_init(struct bt_sim_store *store, const struct bt_gates *gates,
	uint64_t seed, int64_t start_ns, struct berth_error *err);
/** Must be called after a failed init, too. */
void bt_sim_store_finish(struct bt_sim_store *store);
/** Decode the changes committed since the last call, and call `changed` for each. */
void bt_sim_store_flush(struct bt_sim_store *store);
/**
 * Runs the controllers and node agents that are due. Returns the time of the next call; INT64_MAX:
 * no call is needed before the next change.
 */
int64_t bt_sim_store_run(struct bt_sim_store *store);

/** POST an object that the simulator made: panics if the API refuses it. */
void bt_sim_store_create(struct bt_sim_store *store, struct bt_str json);
/** Strategic merge patch of an object or its subresource. Returns the API's code: 200, 404, 422,
 * ... */
uint16_t bt_sim_store_patch(struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, enum bt_subresource subresource, struct bt_str json);
/** DELETE with the object's grace period. Returns false if there is no such object. */
bool bt_sim_store_delete(struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);
/** DELETE with a grace period of 0. Returns false if there is no such object. */
bool bt_sim_store_delete_now(struct bt_sim_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);

struct bt_object *bt_sim_store_find(const struct bt_sim_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/** A random object of the kind; NULL: there is none. */
struct bt_object *bt_sim_store_pick(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_prng *prng);
#endif
