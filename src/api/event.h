/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_EVENT_H
#define BT_API_EVENT_H
/** Events about pods. Spec: 01 section 4.12. */
#include "api/types.h"

/**
 * Append what upstream sends as the note of a FailedScheduling or Preempted event with this
 * message: cut to 1024 bytes, with % sequences as a formatting function without arguments leaves
 * them.
 */
void bt_event_note(struct bt_str message, struct bt_strbuf *out);
#endif
