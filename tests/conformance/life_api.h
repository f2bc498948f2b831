/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIFE_API_H
#define BT_LIFE_API_H
/**
 * The API of a recorded life: an object store, and the scheduler's writes to the store. As in the
 * recordings, the store has no defaults, validation or controllers. The format is in
 * tests/conformance/README.md.
 */
#include "conformance/conformance.h"
#include "sched/extender_wire.h"
#include "sched/scheduler.h"

/** A change of the store that the scheduler has not observed yet. */
struct life_event {
	struct bt_object *old_object; /* NULL: the object was added */
	struct bt_object *new_object; /* NULL: the object was deleted */
};

/** A victim's deletion, which starts after the cycle. */
struct life_eviction {
	struct bt_preemption_ticket ticket;
	struct bt_str namespace_;
	struct bt_str name;
};

struct life_api {
	struct bt_arena arena;
	struct bt_object_store store;
	struct bt_scheduler *scheduler;
	BT_VEC(struct life_event) pending;
	BT_VEC(struct life_eviction) evictions;
	BT_VEC(struct bt_str) deleted; /* keys of pods deleted in this step */
	bool has_condition;            /* a PodGroup's condition was written in this step */
	struct bt_condition condition;
	uint64_t resource_version;
	int64_t start_ns;
	int64_t now_ns;
	bool may_schedule; /* the step allows one pod to be popped */
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	/** The extenders of the configuration, and the rules of their servers. */
	const struct bt_json_value *extender_configs;
	const struct bt_json_value *extenders; /* NULL: the case has no extenders */
	struct bt_extender_poster poster;
};

/** --- life_api.c --- */

void life_api_init(struct life_api *api, int64_t start_ns);
void life_api_finish(struct life_api *api);
/** Returns a writer for the scheduler, with `api` as its context. */
struct bt_scheduler_writer life_api_writer(struct life_api *api);
/** Create or replace the object, which is consumed. */
void life_api_apply(struct life_api *api, struct bt_object *object);
void life_api_remove(
	struct life_api *api, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
/** Let the scheduler observe every change. */
BT_MUST_USE int life_api_deliver(struct life_api *api, struct berth_error *err);
struct bt_object *life_api_find_pod(
	const struct life_api *api, struct bt_str namespace_, struct bt_str name);
/** Bind the pod to the node; its phase becomes Running. */
BT_MUST_USE int life_api_bind(struct life_api *api, struct bt_str namespace_, struct bt_str name,
	struct bt_str node_name, struct berth_error *err);
/** "namespace/name", in the arena. */
struct bt_str life_key(struct life_api *api, struct bt_str namespace_, struct bt_str name);

/** --- life_extenders.c --- */

/** Extenders that answer in process, by the rules of the case. */
struct bt_extender_factory life_extenders(struct life_api *api);
#endif
