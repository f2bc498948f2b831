/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_TAINT_RULES_H
#define BT_DRA_TAINT_RULES_H
/**
 * ResourceSlices with the taints of DeviceTaintRules added: what the pools see. With gate
 * DRADeviceTaintRules off nothing is added, and the slices pass through as they are. Spec: 12
 * section 4.5.
 */
#include "api/object.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct bt_dra;

/** A slice that some rule matches. */
struct bt_patched_slice {
	struct bt_object *slice; /* with the rules' taints; reference held; NULL: free */
	uint64_t hash;           /* of its name */
};

struct bt_taint_rules {
	struct bt_dra *dra;
	struct bt_map map;
	BT_VEC(struct bt_patched_slice) patched;
	BT_VEC(uint32_t) free_ids;
};

void bt_taint_rules_init(struct bt_taint_rules *rules, struct bt_dra *dra);
void bt_taint_rules_finish(struct bt_taint_rules *rules);
/** The store's slice was added, updated or deleted: tells the pools. */
void bt_taint_rules_follow_slice(
	struct bt_taint_rules *rules, struct bt_object *old_slice, struct bt_object *new_slice);
/** The store's rule was: patches the slices that it matched or matches, tells the pools and who
 * listens for patched slices. */
void bt_taint_rules_follow_rule(
	struct bt_taint_rules *rules, struct bt_object *old_rule, struct bt_object *new_rule);
/** Against the same made anew from the store. */
bool bt_taint_rules_validate(const struct bt_taint_rules *rules, struct bt_strbuf *out_reason);
size_t bt_taint_rules_memory_bytes(const struct bt_taint_rules *rules);
#endif
