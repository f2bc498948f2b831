/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_LOAD_H
#define BT_CLUSTER_LOAD_H
/**
 * Initial objects of an API server from files: manifests, or the dump of a cluster. What is there,
 * status included, is taken as it is; what is not gets the defaults of a create.
 */
#include "base/flags.h"
#include "base/strbuf.h"
#include "server/api.h"

struct bt_cluster_load_report {
	uint64_t object_count;
	uint64_t namespace_count; /* made because objects named them */
	uint64_t orphan_count;    /* objects whose owners are not there: references dropped */
	uint64_t unknown_count;   /* objects of kinds that are not served: left out */
	/** Of the first ones: "example.com/v1 Widget, ...", printable. The caller's. */
	struct bt_strbuf unknown_kinds;
};

/** Returns whether it was made: it was missing, and its name is one. */
bool bt_cluster_ensure_namespace(struct bt_api *api, struct bt_str name, struct bt_arena *arena);
/**
 * Create one object as it is, or replace the one of its name; its namespace is made when it is
 * missing, which *out_namespace_made says (may be NULL). object: consumed, as a request's body.
 * out_answer: to be finished. The error names the object.
 */
BT_MUST_USE int bt_cluster_restore(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer,
	bool *out_namespace_made, struct berth_error *err);
/** Messages: "<file>: document <n>: <Kind> <namespace>/<name>: <what is wrong>". */
BT_MUST_USE int bt_cluster_load(struct bt_api *api, const struct bt_arguments *paths,
	const struct bt_arguments *kustomizations, struct bt_cluster_load_report *out_report,
	struct berth_error *err);
#endif
