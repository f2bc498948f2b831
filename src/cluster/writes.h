/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WRITES_H
#define BT_CLUSTER_WRITES_H
/** Executes the scheduler's writes on an API server in the same process. Spec: 13 section 14. */
#include "base/vec.h"
#include "daemon/event_recorder.h"
#include "framework/preemption.h"
#include "sched/scheduler.h"
#include "server/api.h"

/** An eviction that waits until the preemptor's nomination is written. */
struct bt_cluster_writes_eviction {
	struct bt_preemption_ticket ticket;
	char *key;    /* owned: "namespace/name" */
	char *status; /* owned: JSON patch of the pod's status; "": delete the pod */
};

struct bt_cluster_writes {
	struct bt_api *api;
	struct bt_scheduler *scheduler; /* set once the scheduler exists */
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_event_recorder *events;
	char host[256];              /* for reportingInstance */
	struct bt_strbuf event_text; /* of the current event */
	struct bt_arena event_arena;
	BT_VEC(struct bt_cluster_writes_eviction) evictions;
	struct bt_arena arena;     /* of the current request */
	struct bt_strbuf text;     /* of the current patch */
	char resource_version[24]; /* of the last volume write */
};

/**
 * Initialises writes. The struct must not move afterwards, because its writers contain pointers to
 * the struct.
 */
void bt_cluster_writes_init(struct bt_cluster_writes *writes, struct bt_api *api);
void bt_cluster_writes_finish(struct bt_cluster_writes *writes);
#endif
