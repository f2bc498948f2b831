/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_BASE64_H
#define BT_CODEC_BASE64_H
/** Standard base64 with padding, compatible with Go's encoding of byte fields. */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/**
 * Decodes into the arena, skipping line breaks. BERTH_ERR_INVALID "illegal base64 data at input
 * byte N".
 */
BT_MUST_USE int bt_base64_decode(struct bt_str text, struct bt_arena *arena,
	struct bt_str *out_bytes, struct berth_error *err);
void bt_base64_encode(struct bt_str bytes, struct bt_strbuf *out);

/** URL alphabet, without padding. false: an invalid character, or leftover bits. */
BT_MUST_USE bool bt_base64_url_decode(
	struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes);
void bt_base64_url_encode(struct bt_str bytes, struct bt_strbuf *out);
#endif
