/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_ENGINE_H
#define BT_LIB_ENGINE_H
/** The public engine: the living scheduler with its owner's objects and requests. */
#include "base/map.h"
#include "berth/engine.h"
#include "lib/extender.h"
#include "lib/requests.h"
#include "sched/scheduler.h"

/** Why a pod's last attempt failed. */
struct bt_failure_note {
	char *key; /* "namespace/name"; NULL: free */
	char *message;
};

struct berth_engine {
	struct bt_scheduler *scheduler;
	struct bt_requests requests;
	struct bt_object_store nodes; /* newest versions: what an update is compared with */
	BT_VEC(struct bt_failure_note) notes;
	BT_VEC(uint32_t) free_notes;
	struct bt_map notes_by_key;
	/** Receives the steps of a cycle as they begin; NULL: nobody listens. */
	void (*trace_step)(void *context, const char *text);
	void *trace_context;
	struct bt_lib_extenders extenders;
};

/** NULL: the pod's last attempt did not fail. Borrowed until the next attempt. */
const char *bt_lib_failure_message(
	const struct berth_engine *engine, struct bt_str namespace_, struct bt_str name);
#endif
