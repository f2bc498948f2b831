/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_DELETION_ORDER_H
#define BT_API_DELETION_ORDER_H
/**
 * Which of several equal pods go first when there are too many: what controllers do, and what is
 * foretold of them. Spec: 14b section 6.1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/** Phases as far as they matter, the first to go first. */
enum bt_deletion_phase {
	BT_DELETION_PENDING,
	BT_DELETION_UNKNOWN,
	BT_DELETION_OTHER,
};

/** An active pod. Times in seconds since 1970. */
struct bt_deletion_candidate {
	const void *pod; /* the caller's; not looked at */
	struct bt_str uid;
	struct bt_str node_name; /* "": none */
	enum bt_deletion_phase phase;
	bool ready;
	int32_t restart_count;
	int64_t deletion_cost;
	int64_t ready_since_seconds;
	int64_t created_seconds;
	/* Worked out while sorting. */
	int64_t ready_on_node;
	int ready_rank;
	int age_rank;
};

/** Those that go first come first. Equal ones: by uid. */
void bt_deletion_order_sort(
	struct bt_deletion_candidate *candidates, uint32_t count, int64_t now_seconds);
#endif
