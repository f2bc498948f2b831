/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_PACK_H
#define BT_CODEC_MESSAGE_PACK_H
/**
 * Compact form of messages that are kept but rarely read. Zero fields take no space, and texts are
 * stored inline. If many messages are alike, one packed message is the base, and of the others only
 * the difference to the base is stored. The form is only for use within the process, because
 * unpacking does not validate its input.
 */
#include "base/strbuf.h"
#include "codec/message.h"

/** Appends the packed form of value. Structure members without a table row are lost. */
void bt_message_pack(const struct bt_message *message, const void *value, struct bt_strbuf *out);
/**
 * Unpacks bytes into out; all memory is in the arena. bytes must be exactly the bytes that
 * bt_message_pack appended.
 */
void bt_message_unpack(
	const struct bt_message *message, struct bt_str bytes, struct bt_arena *arena, void *out);

/** Only this many bytes at the beginning of a base are used. */
#define BT_DELTA_BASE_BYTES_MAX 4096
/** Appends the difference between bytes and base: literal bytes, and copies of parts of base. */
void bt_delta_encode(struct bt_str base, struct bt_str bytes, struct bt_strbuf *out);
/** Appends the bytes that were passed to bt_delta_encode. base must be the same as in that call. */
void bt_delta_decode(struct bt_str base, struct bt_str delta, struct bt_strbuf *out);
#endif
