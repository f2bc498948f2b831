/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VALIDATE_H
#define VALIDATE_H
/**
 * Checks of whole structures: what the engine updates incrementally is computed anew and compared.
 */
#include "queue/queue.h"
#include "state/state.h"

/** Checks sums against pods, maps and lists. false: out_reason says what differs. */
bool bt_state_validate(const struct bt_state *state, struct bt_strbuf *out_reason);
/** false: *out_reason names the invariant that does not hold. */
bool bt_queue_validate(struct bt_queue *queue, const char **out_reason);
#endif
