/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_EVENT_H
#define BT_API_EVENT_H
/** Events about pods. Spec: 01 section 4.12. */
#include "api/types.h"

/** Longest note of an event in bytes; the API server refuses longer notes. Spec 01 section 5.18. */
#define BT_EVENT_NOTE_BYTES_MAX 1024

/**
 * Appends the note of the FailedScheduling or Preempted event that upstream sends for this message.
 * The message is first cut to 1024 bytes; then its % sequences are replaced as Go formats them
 * without arguments.
 */
void bt_event_note(struct bt_str message, struct bt_strbuf *out);
#endif
