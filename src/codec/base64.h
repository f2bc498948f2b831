/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_BASE64_H
#define BT_CODEC_BASE64_H
/** Standard base64 with padding, as Go reads and writes byte fields. */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/** Line breaks are skipped. "illegal base64 data at input byte N". */
BT_MUST_USE int bt_base64_decode(struct bt_str text, struct bt_arena *arena,
	struct bt_str *out_bytes, struct berth_error *err);
void bt_base64_encode(struct bt_str bytes, struct bt_strbuf *out);

/** The alphabet for URLs, without padding. false: a character that is none of it, or bits
 * left over. */
BT_MUST_USE bool bt_base64_url_decode(
	struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes);
void bt_base64_url_encode(struct bt_str bytes, struct bt_strbuf *out);
#endif
