/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DEVICES_API_H
#define BT_TESTS_UNIT_DEVICES_API_H
/**
 * A simulated API server beside a living scheduler, for the writes of DynamicResources. It stores
 * the objects, delivers changes to the scheduler later, and answers writes late, with errors and
 * with conflicts. A write answered with an error may be carried out all the same, as after a
 * timeout.
 */
#include "api/resource_claim.h"
#include "base/prng.h"
#include "life_world.h"

struct api_event {
	enum bt_kind kind;
	const char *namespace_;
	const char *name;
	struct bt_object *object; /* reference held; NULL: deleted */
};

/** A write whose answer is outstanding. */
struct api_call {
	const char *key; /* operation, pod's uid, claim */
	const char *pod_uid;
	bool is_ready;
};

struct devices_api {
	struct life *life;
	struct bt_prng *prng;
	struct bt_object_store objects;
	BT_VEC(struct api_event) events;
	BT_VEC(struct api_call) calls;
	uint64_t version;
	uint32_t made_claims;
	bool is_calm;   /* every write is carried out at once, without failures */
	bool is_urgent; /* a carried-out write has not been delivered to the scheduler */
	struct bt_claim_writer claims;
	uint32_t counts[6]; /* done, late, failed, failed but done, conflicts, refused */
};

void devices_api_init(struct devices_api *api, struct life *life, struct bt_prng *prng);
void devices_api_finish(struct devices_api *api);
uint32_t devices_api_below(struct devices_api *api, uint32_t bound);

/** Returns the next resource version as text. */
struct bt_str devices_api_version(struct devices_api *api);
/** Adds or replaces an object, which is consumed. The scheduler gets the change later. */
void devices_api_put(struct devices_api *api, struct bt_object *object);
/** Puts an object given as JSON (see sched_world.h) without a resource version. */
void devices_api_put_json(struct devices_api *api, enum bt_kind kind, const char *json);
/** Put a claim or a pod with the next resource version; the caller owns the metadata. */
void devices_api_put_claim(struct devices_api *api, struct bt_resource_claim claim);
void devices_api_put_pod(struct devices_api *api, struct bt_pod pod);
/** Deletes an object, if it exists. */
void devices_api_delete(
	struct devices_api *api, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
const struct bt_resource_claim *devices_api_claim(
	const struct devices_api *api, struct bt_str namespace_, struct bt_str name);
const struct bt_pod *devices_api_pod(const struct devices_api *api, struct bt_str uid);

/** Implements bt_scheduler_writer.delete_pod. */
int devices_api_delete_victim(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err);

/**
 * Delivers one change to the scheduler; changes of one kind stay in order. false: none was left.
 */
bool devices_api_deliver(struct devices_api *api);
void devices_api_deliver_all(struct devices_api *api);
/** Makes the answers of some writes available; if all is set, of all writes. */
void devices_api_answer(struct devices_api *api, bool all);
/**
 * Drops the outstanding answers of a pod whose cycle has ended; the pod's writes may still be
 * carried out.
 */
void devices_api_drop(struct devices_api *api, struct bt_str pod_uid);
#endif
