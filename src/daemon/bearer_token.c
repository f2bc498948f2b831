/* SPDX-License-Identifier: Apache-2.0 */
/** Tokens in requests: in Authorization, or among a websocket's protocols. Spec: 11 section 9.2. */
#include "codec/base64.h"
#include "daemon/authentication.h"

static const struct bt_str protocol_prefix = BT_STR_INIT("base64url.bearer.authorization.k8s.io.");

static enum bt_bearer find_in_header(struct bt_str header, struct bt_str *out_token)
{
	struct bt_str rest = bt_str_trim(header, " \t");
	if (!bt_str_equal_without_case(bt_str_cut(&rest, ' '), BT_STR("bearer"))) {
		return BT_BEARER_NONE;
	}
	*out_token = bt_str_cut(&rest, ' ');
	return out_token->length != 0 ? BT_BEARER_TOKEN : BT_BEARER_NONE;
}

/** Does a list of words, separated by commas, hold the word? */
static bool has_item(struct bt_str list, struct bt_str word)
{
	while (list.length != 0) {
		if (bt_str_equal_without_case(bt_str_trim(bt_str_cut(&list, ','), " \t"), word)) {
			return true;
		}
	}
	return false;
}

/** Base64 for URLs, without padding, strict. */
static bool decode_url(struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes)
{
	struct bt_strbuf standard = {0};
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (byte == '+' || byte == '/' || byte == '=' || byte == '\n' || byte == '\r') {
			bt_strbuf_finish_wiped(&standard);
			return false;
		}
		byte = byte == '-' ? '+' : byte;
		bt_strbuf_append_char(&standard, byte == '_' ? '/' : byte);
	}
	while (standard.length % 4 != 0) {
		bt_strbuf_append_char(&standard, '=');
	}
	int result = bt_base64_decode(bt_strbuf_str(&standard), arena, out_bytes, NULL);
	bt_strbuf_finish_wiped(&standard);
	return result == 0;
}

struct protocols {
	struct bt_arena *arena;
	struct bt_str token;
	uint32_t token_count;
	uint32_t other_count;
	bool is_broken;
};

static void take_protocols(void *context, struct bt_str value)
{
	struct protocols *protocols = context;
	while (value.length != 0) {
		struct bt_str item = bt_str_trim(bt_str_cut(&value, ','), " \t");
		if (!bt_str_has_prefix(item, protocol_prefix)) {
			protocols->other_count++;
			continue;
		}
		item = bt_str_sub(item, protocol_prefix.length, item.length);
		protocols->token_count++;
		protocols->is_broken = protocols->is_broken ||
			!decode_url(item, protocols->arena, &protocols->token);
	}
}

enum bt_bearer bt_bearer_find(
	const struct bt_http_exchange *exchange, struct bt_arena *arena, struct bt_str *out_token)
{
	struct bt_str token = BT_STR("");
	struct bt_str header = bt_http_header(exchange, "Authorization");
	if (find_in_header(header, &token) == BT_BEARER_TOKEN) {
		*out_token = bt_arena_str(arena, token);
		return BT_BEARER_TOKEN;
	}
	if (!(has_item(bt_http_header(exchange, "Connection"), BT_STR("upgrade")) &&
		    has_item(bt_http_header(exchange, "Upgrade"), BT_STR("websocket")))) {
		return BT_BEARER_NONE;
	}
	struct protocols protocols = {.arena = arena};
	bt_http_each_header(exchange, "Sec-WebSocket-Protocol", take_protocols, &protocols);
	if (protocols.token_count == 0) {
		return BT_BEARER_NONE;
	}
	/* the server answers with one of the protocols, and that must not be the token */
	if (protocols.is_broken || protocols.token_count > 1 || protocols.other_count == 0 ||
		protocols.token.length == 0) {
		return BT_BEARER_INVALID;
	}
	*out_token = protocols.token;
	return BT_BEARER_TOKEN;
}
