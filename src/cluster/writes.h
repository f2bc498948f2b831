/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WRITES_H
#define BT_CLUSTER_WRITES_H
/** What the scheduler writes, carried out on an API server in the same process. Spec: 13 section
 * 14. */
#include "base/vec.h"
#include "daemon/event_recorder.h"
#include "framework/preemption.h"
#include "sched/scheduler.h"
#include "server/api.h"

/** A write of a preemption, which comes after the one that names its preemptor's node. */
struct bt_cluster_writes_eviction {
	struct bt_preemption_ticket ticket;
	char *key;    /* owned: "namespace/name" */
	char *status; /* owned: JSON to be patched; "": delete the pod */
};

struct bt_cluster_writes {
	struct bt_api *api;
	struct bt_scheduler *scheduler; /* set once it exists */
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_event_recorder *events;
	char host[256];              /* of reportingInstance */
	struct bt_strbuf event_text; /* of the event that is being written */
	struct bt_arena event_arena;
	BT_VEC(struct bt_cluster_writes_eviction) evictions;
	struct bt_arena arena;     /* of one write */
	struct bt_strbuf text;     /* of one patch */
	char resource_version[24]; /* of the last volume write */
};

/** writes must stay where it is: its tables point to it. */
void bt_cluster_writes_init(struct bt_cluster_writes *writes, struct bt_api *api);
void bt_cluster_writes_finish(struct bt_cluster_writes *writes);
/** Series of events that are due. */
void bt_cluster_writes_tick(struct bt_cluster_writes *writes, int64_t now_ns);
#endif
