/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WRITES_H
#define BT_CLUSTER_WRITES_H
/** Executes the scheduler's writes on an API server in the same process. Spec: 13 section 14. */
#include "base/vec.h"
#include "daemon/writer.h"
#include "server/api.h"

struct bt_cluster_writes {
	struct bt_writer base;
	struct bt_api *api;
	char host[256];              /* for reportingInstance */
	struct bt_strbuf event_text; /* of the current event */
	struct bt_arena event_arena;
	/** Evictions wait until the preemptor's nomination is written; their texts are in `held`.
	 */
	BT_VEC(struct bt_write_request) evictions;
	struct bt_arena held;
	struct bt_arena arena;     /* of the current request */
	char resource_version[24]; /* of the last volume write */
};

/**
 * Initialises writes. The struct must not move afterwards, because its writers contain pointers to
 * the struct.
 */
void bt_cluster_writes_init(struct bt_cluster_writes *writes, struct bt_api *api);
void bt_cluster_writes_finish(struct bt_cluster_writes *writes);
#endif
