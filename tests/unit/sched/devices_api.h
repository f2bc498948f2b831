/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DEVICES_API_H
#define BT_TESTS_UNIT_DEVICES_API_H
/**
 * An API server beside a living scheduler, for what DynamicResources writes: it has the objects,
 * tells the scheduler of changes later, and answers writes late, with errors and with conflicts.
 * What is answered with an error may be done all the same, as after a timeout.
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

/** A write that is not answered yet. */
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
	bool is_calm;   /* every write is carried out at once */
	bool is_urgent; /* the scheduler does not know of a write that was carried out */
	struct bt_claim_writer claims;
	uint32_t counts[6]; /* done, late, failed, failed after all, conflicts, refused */
};

void devices_api_init(struct devices_api *api, struct life *life, struct bt_prng *prng);
void devices_api_finish(struct devices_api *api);
uint32_t devices_api_below(struct devices_api *api, uint32_t bound);

/** The text of the next version. */
struct bt_str devices_api_version(struct devices_api *api);
/** Add or replace; consumed. The scheduler hears of it later. */
void devices_api_put(struct devices_api *api, struct bt_object *object);
/** From JSON as in sched_world.h, without a version. */
void devices_api_put_json(struct devices_api *api, enum bt_kind kind, const char *json);
/** A structure whose metadata is the caller's, with the next version. */
void devices_api_put_claim(struct devices_api *api, struct bt_resource_claim claim);
void devices_api_put_pod(struct devices_api *api, struct bt_pod pod);
/** Does nothing when it is not there. */
void devices_api_delete(
	struct devices_api *api, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
const struct bt_resource_claim *devices_api_claim(
	const struct devices_api *api, struct bt_str namespace_, struct bt_str name);
const struct bt_pod *devices_api_pod(const struct devices_api *api, struct bt_str uid);

/** bt_scheduler_writer.delete_pod. */
int devices_api_delete_victim(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err);

/** Tell the scheduler of one change; those of one kind keep their order. false: it knows all. */
bool devices_api_tell(struct devices_api *api);
void devices_api_tell_all(struct devices_api *api);
/** Answers for some of the writes, or all of them, are there. */
void devices_api_answer(struct devices_api *api, bool all);
/** The pod's cycle is over: nobody asks for its answers. What was sent may still be done. */
void devices_api_drop(struct devices_api *api, struct bt_str pod_uid);
#endif
