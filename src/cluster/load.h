/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_LOAD_H
#define BT_CLUSTER_LOAD_H
/**
 * Initial objects of an API server from files: manifests, or the dump of a cluster. What is there,
 * status included, is taken as it is; what is not gets the defaults of a create.
 */
#include "base/flags.h"
#include "server/api.h"

struct bt_cluster_load_report {
	uint64_t object_count;
	uint64_t namespace_count; /* made because objects named them */
	uint64_t orphan_count;    /* objects whose owners are not there: references dropped */
};

/** Messages: "<file>: document <n>: <Kind> <namespace>/<name>: <what is wrong>". */
BT_MUST_USE int bt_cluster_load(struct bt_api *api, const struct bt_arguments *paths,
	struct bt_cluster_load_report *out_report, struct berth_error *err);
#endif
