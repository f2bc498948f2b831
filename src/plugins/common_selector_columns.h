/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SELECTOR_COLUMNS_H
#define BT_PLUGINS_COMMON_SELECTOR_COLUMNS_H
/**
 * Node selectors over all slots at once: a requirement is judged once per distinct value of its
 * label key, then looked up for every slot in the label's column. Same answers as api/selector.h on
 * each node.
 */
#include <stdint.h>

#include "api/selector.h"
#include "state/state.h"

/** matches[slot] &= nodeSelector map and required affinity hold, for every slot below slot_count.
 */
void bt_required_affinity_column(const struct bt_required_node_affinity *required,
	struct bt_state *state, uint32_t slot_count, uint8_t *matches);
/** matches[slot] &= the selector matches. */
void bt_node_selector_column(const struct bt_parsed_node_selector *selector, struct bt_state *state,
	uint32_t slot_count, uint8_t *matches);
/** scores[slot] += sum of the weights of matching terms. */
void bt_preferred_terms_column(const struct bt_preferred_terms *terms, struct bt_state *state,
	uint32_t slot_count, int32_t *scores);
#endif
