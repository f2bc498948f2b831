/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_REMEDY_H
#define BT_EXPLAIN_REMEDY_H
/**
 * A change of the cluster or of the pod that takes one obstacle out of the way. What each kind does
 * to objects is written in remedies.def: whoever applies one (the engine's own check, a program
 * that reads our JSON) does just that.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/arena.h"

enum bt_remedy_kind {
#define BT_REMEDY(name, text, members) BT_REMEDY_##name,
#include "explain/remedies.def"
#undef BT_REMEDY
	BT_REMEDY__COUNT,
};

/** Members that count for a kind. */
enum bt_remedy_member {
	BT_REMEDY_HAS_NODE = 1,
	BT_REMEDY_HAS_RESOURCE = 2,
	BT_REMEDY_HAS_AMOUNT = 4,
	BT_REMEDY_HAS_POD = 8,
	BT_REMEDY_HAS_KEY = 16,
	BT_REMEDY_HAS_VALUE = 32,
	BT_REMEDY_HAS_EFFECT = 64,
	BT_REMEDY_HAS_INDEX = 128,
};

/** Texts are the explanation's, or borrowed from whoever made it. */
struct bt_remedy {
	enum bt_remedy_kind kind;
	struct bt_str node;
	struct bt_str resource; /* "cpu": amount in milli; others: bytes, or units */
	int64_t amount;
	struct bt_str pod_namespace;
	struct bt_str pod_name;
	struct bt_str key;
	struct bt_str value;
	struct bt_str effect;
	uint32_t index;
};

/** "FreeResource", ... */
const char *bt_remedy_kind_name(enum bt_remedy_kind kind);
/** Bits of enum bt_remedy_member. */
uint32_t bt_remedy_members(enum bt_remedy_kind kind);
bool bt_remedy_equal(const struct bt_remedy *a, const struct bt_remedy *b);
/** Lists that ask the same of different nodes, or of one. */
bool bt_remedies_equal_but_node(
	const struct bt_remedy *a, uint32_t a_count, const struct bt_remedy *b, uint32_t b_count);
/** It changes the pod to be scheduled; else a node or another pod. */
bool bt_remedy_is_of_pod(enum bt_remedy_kind kind);
/** Its amount is as small as it can be; with one less it does not help. */
bool bt_remedy_has_least_amount(enum bt_remedy_kind kind);
/** What LowerRequest makes less, in units of its amount; 0: the pod is not one that it is for. */
int64_t bt_remedy_requested_of(const struct bt_pod *pod, struct bt_str resource);
/**
 * Apply to a shallow copy whose changed parts are made in the arena. What concerns neither the pod
 * nor this node is passed over. Later ones with an index count by the pod as it was given, so all
 * remedies of a proposal are applied in one call.
 */
void bt_remedies_apply_to_pod(const struct bt_remedy *remedies, uint32_t count, struct bt_pod *pod,
	struct bt_arena *arena);
void bt_remedies_apply_to_node(const struct bt_remedy *remedies, uint32_t count,
	struct bt_node *node, struct bt_arena *arena);
#endif
