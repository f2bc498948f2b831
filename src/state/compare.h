/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_COMPARE_H
#define BT_STATE_COMPARE_H
/** The debugger's comparison of what the API lists with what the cache holds. Spec: 03b section 9.
 */
#include "base/vec.h"
#include "state/state.h"

/** Sorted by bytes, duplicates kept; text is borrowed from the inputs. */
struct bt_comparison {
	BT_VEC(struct bt_str) missed;    /* listed, not cached */
	BT_VEC(struct bt_str) redundant; /* cached, not listed */
};

void bt_comparison_finish(struct bt_comparison *comparison);
/** Both arrays are sorted in place. */
void bt_compare_lists(struct bt_str *listed, uint32_t listed_count, struct bt_str *cached,
	uint32_t cached_count, struct bt_comparison *out_comparison);
/** Listed node names against cache entries: ghosts and imaginary nodes count as cached. */
void bt_compare_nodes(const struct bt_state *state, struct bt_str *listed, uint32_t listed_count,
	struct bt_comparison *out_comparison);
/** Listed pod uids against the pods of all entries and the uids that wait in the queue. */
void bt_compare_pods(const struct bt_state *state, struct bt_str *listed, uint32_t listed_count,
	const struct bt_str *queued, uint32_t queued_count, struct bt_comparison *out_comparison);
#endif
