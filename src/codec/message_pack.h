/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_PACK_H
#define BT_CODEC_MESSAGE_PACK_H
/**
 * Messages as few bytes, for those that are kept and seldom looked at: what is zero takes nothing,
 * texts lie one after the other. A form of this process only; unpacking trusts what packing wrote.
 */
#include "base/strbuf.h"
#include "codec/message.h"

/** Appends the fields of value. Members that no row names are lost. */
void bt_message_pack(const struct bt_message *message, const void *value, struct bt_strbuf *out);
/** An equal value; text and all else in the arena. bytes: all that bt_message_pack appended. */
void bt_message_unpack(
	const struct bt_message *message, struct bt_str bytes, struct bt_arena *arena, void *out);
#endif
