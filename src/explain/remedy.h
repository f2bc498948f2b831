/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_REMEDY_H
#define BT_EXPLAIN_REMEDY_H
/**
 * Remedy: a change of the cluster or of the pod that removes one obstacle. remedies.def defines how
 * each kind changes objects; trials, and programs that read our JSON, apply exactly these changes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/arena.h"
#include "base/vec.h"

enum bt_remedy_kind {
#define BT_REMEDY(name, text, members) BT_REMEDY_##name,
#include "explain/remedies.def"
#undef BT_REMEDY
	BT_REMEDY__COUNT,
};

/** Bits for the members that a kind of remedy uses. */
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

/** Texts belong to the explanation, or are borrowed from the caller. */
struct bt_remedy {
	enum bt_remedy_kind kind;
	struct bt_str node;
	struct bt_str resource; /* amount is in milli for "cpu", else in bytes or units */
	int64_t amount;
	struct bt_str pod_namespace;
	struct bt_str pod_name;
	struct bt_str key;
	struct bt_str value;
	struct bt_str effect;
	uint32_t index;
};

/** The items are in an arena, or, in lists that bt_vec_push fills, on the heap. */
typedef BT_VEC(struct bt_remedy) bt_remedy_list;

/** Returns the name of the kind, such as "FreeResource". */
const char *bt_remedy_kind_name(enum bt_remedy_kind kind);
/** Returns bits of enum bt_remedy_member. */
uint32_t bt_remedy_members(enum bt_remedy_kind kind);
/** Returns a copy whose texts are in the arena. */
struct bt_remedy bt_remedy_copy(const struct bt_remedy *remedy, struct bt_arena *arena);
/** Orders remedies by all members, the kind first; for qsort. */
int bt_remedy_compare(const void *a, const void *b);
bool bt_remedy_equal(const struct bt_remedy *a, const struct bt_remedy *b);
bool bt_remedies_contain(const bt_remedy_list *remedies, const struct bt_remedy *remedy);
bool bt_remedies_equal(const bt_remedy_list *a, const bt_remedy_list *b);
bool bt_remedies_have(const bt_remedy_list *remedies, enum bt_remedy_kind kind);
/** Copies the list to the arena, but not the texts. */
bt_remedy_list bt_remedies_copy(struct bt_arena *arena, const bt_remedy_list *remedies);
/** Compares lists without the names of nodes: the same changes of different nodes are equal. */
bool bt_remedies_equal_but_node(const bt_remedy_list *a, const bt_remedy_list *b);
/**
 * Whether the remedy changes the pod to be scheduled; otherwise it changes a node or another pod.
 */
bool bt_remedy_is_of_pod(enum bt_remedy_kind kind);
/**
 * Whether remedies of this kind have an amount that the search reduces to the smallest amount that
 * helps.
 */
bool bt_remedy_has_least_amount(enum bt_remedy_kind kind);
/**
 * Returns the pod's request that LowerRequest would lower (cpu in milli, other resources in bytes
 * or units); 0: LowerRequest does not apply to the pod.
 */
int64_t bt_remedy_requested_of(const struct bt_pod *pod, struct bt_str resource);
/**
 * Apply remedies to the pod or the node, which must be a shallow copy; changed parts are allocated
 * in the arena. Remedies of other pods and nodes are skipped. Indices refer to the pod as passed
 * in, so all remedies of a proposal must be applied in one call.
 */
void bt_remedies_apply_to_pod(
	const bt_remedy_list *remedies, struct bt_pod *pod, struct bt_arena *arena);
void bt_remedies_apply_to_node(
	const bt_remedy_list *remedies, struct bt_node *node, struct bt_arena *arena);
#endif
