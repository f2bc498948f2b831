/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_BASE64_H
#define BT_CODEC_BASE64_H
/** Standard base64 with padding, compatible with Go's encoding of byte fields. */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/**
 * Decodes text into the arena; line breaks in text are skipped. Fails with BERTH_ERR_INVALID
 * "illegal base64 data at input byte N".
 */
BT_MUST_USE int bt_base64_decode(struct bt_str text, struct bt_arena *arena,
	struct bt_str *out_bytes, struct berth_error *err);
void bt_base64_encode(struct bt_str bytes, struct bt_strbuf *out);

/**
 * Decodes base64 in the URL alphabet without padding. Returns false if text has an invalid
 * character or ends with bits that belong to no byte and are not zero.
 */
BT_MUST_USE bool bt_base64_url_decode(
	struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes);
void bt_base64_url_encode(struct bt_str bytes, struct bt_strbuf *out);
#endif
