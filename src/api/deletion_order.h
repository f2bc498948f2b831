/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_DELETION_ORDER_H
#define BT_API_DELETION_ORDER_H
/**
 * The order in which controllers delete surplus pods; also used to predict deletions. Spec: 14b
 * section 6.1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/** Pod phases in deletion order. */
enum bt_deletion_phase {
	BT_DELETION_PENDING,
	BT_DELETION_UNKNOWN,
	BT_DELETION_OTHER,
};

/** An active pod. Times in seconds since 1970. */
struct bt_deletion_candidate {
	const void *pod; /* for the caller's use */
	struct bt_str uid;
	struct bt_str node_name; /* "": none */
	enum bt_deletion_phase phase;
	bool ready;
	int32_t restart_count;
	int64_t deletion_cost;
	int64_t ready_since_seconds;
	int64_t created_seconds;
	/*
	 * Computed by bt_deletion_order_sort: ready_on_node is the number of ready candidates on
	 * the candidate's node; the ranks are binary logarithms of ready time and age in seconds.
	 */
	int64_t ready_on_node;
	int ready_rank;
	int age_rank;
};

/**
 * Sorts in deletion order: the first candidate is deleted first. Equal candidates are sorted by
 * uid.
 */
void bt_deletion_order_sort(
	struct bt_deletion_candidate *candidates, uint32_t count, int64_t now_seconds);
#endif
