/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_SORT_H
#define BT_CODEC_MESSAGE_SORT_H
/** The order of a decoded map's entries. Private to the message decoders. */
#include "codec/message_layout.h"

/** Sort by key, in place; of equal keys the last one stays. */
void bt_sort_entries(struct bt_any_list *list, size_t entry_size);
#endif
