/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_SORT_H
#define BT_CODEC_MESSAGE_SORT_H
/** Sorts the entries of a decoded map. Private to the message decoders. */
#include "codec/message_layout.h"

/** Sorts by key, in place; of equal keys the last entry is kept. */
void bt_sort_entries(struct bt_any_list *list, size_t entry_size);
#endif
