/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_PACK_H
#define BT_CODEC_MESSAGE_PACK_H
/**
 * Compact form of messages that are kept but rarely read: zero fields take no space, texts are
 * stored inline, and of messages that are alike only the differences to one of them are stored.
 * Only for use within the process: unpacking does not validate its input.
 */
#include "base/strbuf.h"
#include "codec/message.h"

/** Appends the packed form of value. Structure members without a table row are lost. */
void bt_message_pack(const struct bt_message *message, const void *value, struct bt_strbuf *out);
/**
 * Unpacks into out; all memory is in the arena. bytes must be exactly what bt_message_pack
 * appended.
 */
void bt_message_unpack(
	const struct bt_message *message, struct bt_str bytes, struct bt_arena *arena, void *out);

/** Bytes of the base behind this position are not used. */
#define BT_DELTA_BASE_BYTES_MAX 4096
/** Appends the difference between bytes and base: literal bytes, and copies of parts of base. */
void bt_delta_encode(struct bt_str base, struct bt_str bytes, struct bt_strbuf *out);
/** Appends the bytes whose difference to the same base bt_delta_encode appended. */
void bt_delta_decode(struct bt_str base, struct bt_str delta, struct bt_strbuf *out);
#endif
