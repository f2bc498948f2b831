/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WHATIF_CHANGE_H
#define BT_CLI_WHATIF_CHANGE_H
/**
 * What `berth whatif` is asked to change, as the command line writes it. Nothing is looked up here:
 * whether a node exists is found out when the change is made.
 */
#include "api/object.h"
#include "base/vec.h"

enum bt_whatif_kind {
	BT_WHATIF_DRAIN,
	BT_WHATIF_REMOVE,
	BT_WHATIF_ADD,
	BT_WHATIF_CORDON,
	BT_WHATIF_UNCORDON,
	BT_WHATIF_TAINT,
	BT_WHATIF_LABEL,
	BT_WHATIF_SCALE,
	BT_WHATIF_WITH,
	BT_WHATIF__COUNT,
};

/** Nodes of one --add, and pods of one --scale. */
#define BT_WHATIF_ADDED_MAX 100000
#define BT_WHATIF_REPLICAS_MAX 1000000

/** Texts are borrowed from the command line. */
struct bt_whatif_change {
	enum bt_whatif_kind kind;
	const char *text; /* the flag's value */
	/** Node changes: nodes (cli/node_reference.h). ADD: a name.
	 * SCALE: the workload's. WITH: a file. */
	struct bt_str target;
	struct bt_str namespace_; /* SCALE; "default" when none is given */
	enum bt_kind workload;    /* SCALE */
	int64_t count;            /* ADD, SCALE */
	struct bt_str key;        /* TAINT, LABEL */
	struct bt_str value;
	struct bt_str effect; /* TAINT; "" with removes: whatever the effect is */
	bool removes;         /* TAINT, LABEL: with a "-" at the end */
};

/** In the order of the command line. */
struct bt_whatif_changes {
	BT_VEC(struct bt_whatif_change) list;
};

/** "drain": the flag without its dashes. */
const char *bt_whatif_kind_name(enum bt_whatif_kind kind);
/** Kinds whose target are nodes that exist. */
bool bt_whatif_is_of_nodes(enum bt_whatif_kind kind);
/**
 * Read a flag's value. BERTH_ERR_INVALID: one sentence that says what is wrong and what would be
 * right. text: borrowed.
 */
BT_MUST_USE int bt_whatif_change_parse(enum bt_whatif_kind kind, const char *text,
	struct bt_whatif_change *out_change, struct berth_error *err);
#endif
