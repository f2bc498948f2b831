/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_LOAD_H
#define BT_CLUSTER_LOAD_H
/**
 * Loads initial objects of an API server from files: manifests, or the dump of a cluster. Members
 * that an object has, status included, are stored unchanged; missing members get the defaults of a
 * create.
 */
#include "base/flags.h"
#include "base/strbuf.h"
#include "server/api.h"

struct bt_cluster_load_report {
	uint64_t object_count;
	uint64_t namespace_count; /* created because objects named them */
	uint64_t orphan_count;    /* objects whose references to missing owners were dropped */
	uint64_t unknown_count;   /* objects left out because their kind is not served */
	/**
	 * The first kinds that are not served: "example.com/v1 Widget, ...", printable. Freed by
	 * the caller.
	 */
	struct bt_strbuf unknown_kinds;
};

/**
 * Creates the namespace if it is missing. Returns whether the namespace was created; false also for
 * an invalid name.
 */
bool bt_cluster_ensure_namespace(struct bt_api *api, struct bt_str name, struct bt_arena *arena);
/**
 * Stores one object unchanged; a stored object with the same name is replaced. A missing namespace
 * is created. object: consumed, as a request's body. out_answer (may be NULL): the caller finishes
 * it. The error names the object.
 */
BT_MUST_USE int bt_cluster_restore(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer,
	struct berth_error *err);
/**
 * Loads the files named by paths, then the folders named by kustomizations. Messages:
 * "<file>: document <n>: <Kind> <namespace>/<name>: <cause>".
 */
BT_MUST_USE int bt_cluster_load(struct bt_api *api, const struct bt_arguments *paths,
	const struct bt_arguments *kustomizations, struct bt_cluster_load_report *out_report,
	struct berth_error *err);
#endif
