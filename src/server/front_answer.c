/* SPDX-License-Identifier: Apache-2.0 */
/** Sends answers. While the store has changes that are not durable, answers are held. */
#include "base/assert.h"
#include "base/links.h"
#include "server/front_private.h"

#define PLAIN_TEXT "text/plain; charset=utf-8"

void bt_front_header(struct bt_front_call *call, const char *name, struct bt_str value)
{
	call->front->wire->add_header(call->exchange, name, value);
}

void bt_front_add_headers(struct bt_front_call *call, const char *content_type)
{
	struct bt_strbuf text = {0};
	uint64_t high = bt_prng_next(&call->front->prng);
	bt_strbuf_append_uuid(&text, high, bt_prng_next(&call->front->prng));
	bt_front_header(call, "Audit-Id", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	if (content_type != NULL) {
		bt_front_header(call, "Content-Type", bt_str_from(content_type));
	}
}

static void send_answer(struct bt_front_call *call)
{
	call->answered = true;
	call->answered_ns = bt_loop_now_ns(call->front->loop);
	call->front->wire->answer(call->exchange, call->code, &call->body);
}

void bt_front_send(struct bt_front_call *call, uint16_t code, const char *content_type)
{
	struct bt_front *front = call->front;
	BT_ASSERT(!call->answered && !call->is_held);
	bt_front_add_headers(call, content_type);
	call->code = code;
	if (front->failed || !bt_store_needs_sync(bt_api_store(front->api))) {
		send_answer(call);
		return;
	}
	call->is_held = true;
	call->next = NULL;
	BT_LIST_APPEND(front->held, front->held_last, call, previous, next);
}

void bt_front_discard_held(struct bt_front_call *call)
{
	struct bt_front *front = call->front;
	if (!call->is_held) {
		return;
	}
	call->is_held = false;
	BT_LIST_REMOVE(front->held, front->held_last, call, previous, next);
}

static void encode_failure(struct bt_front_call *call, enum bt_media *out_media)
{
	*out_media = bt_encode_document(
		&call->encoding, bt_failure_document(&call->failure, &call->arena), &call->body);
}

void bt_front_release_held(struct bt_front *front, const struct bt_failure *failure)
{
	while (front->held != NULL) {
		struct bt_front_call *call = front->held;
		bt_front_discard_held(call);
		if (failure != NULL) {
			/* the Content-Type is already set for the answer that this one replaces */
			enum bt_media media;
			bt_strbuf_reset(&call->body);
			call->failure = *failure;
			call->code = failure->code;
			encode_failure(call, &media);
		}
		send_answer(call);
	}
}

void bt_front_no_cache(struct bt_front_call *call)
{
	bt_front_header(call, "Cache-Control", BT_STR("no-cache, private"));
}

void bt_front_send_text(struct bt_front_call *call, uint16_t code, const char *text)
{
	bt_strbuf_append_c(&call->body, text);
	bt_front_no_cache(call);
	bt_front_header(call, "X-Content-Type-Options", BT_STR("nosniff"));
	bt_front_send(call, code, PLAIN_TEXT);
}

void bt_front_send_document(
	struct bt_front_call *call, uint16_t code, const struct bt_json_value *document)
{
	struct bt_encoding encoding = {
		.media = bt_encode_document(&call->encoding, document, &call->body)};
	bt_front_no_cache(call);
	bt_front_send(call, code, bt_encoding_content_type(&encoding, false));
}

void bt_front_send_failure(struct bt_front_call *call)
{
	const struct bt_failure *failure = &call->failure;
	struct bt_encoding encoding = {0};
	BT_ASSERT(failure->code != 0);
	if (failure->retry_after_seconds != 0 && !failure->retry_only_in_details) {
		bt_front_header(call, "Retry-After",
			bt_arena_printf(&call->arena, "%d", (int)failure->retry_after_seconds));
	}
	bt_front_no_cache(call);
	encode_failure(call, &encoding.media);
	bt_front_send(call, failure->code, bt_encoding_content_type(&encoding, false));
}

bool bt_front_fail(
	struct bt_front_call *call, uint16_t code, const char *reason, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(&call->arena, format, arguments);
	va_end(arguments);
	(void)bt_fail(&call->failure, &call->arena, code, reason, "%.*s", BT_STR_ARG(text));
	return false;
}

void bt_front_refuse(struct bt_front_call *call, uint16_t code, const char *reason,
	const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(&call->arena, format, arguments);
	va_end(arguments);
	(void)bt_fail(&call->failure, &call->arena, code, reason, "%.*s", BT_STR_ARG(text));
	bt_front_send_failure(call);
}

void bt_front_send_stream(
	struct bt_front_call *call, const char *content_type, const struct bt_http_stream *stream)
{
	BT_ASSERT(!call->answered && !call->is_held);
	bt_front_add_headers(call, content_type);
	bt_front_no_cache(call);
	call->answered = true;
	call->front->wire->answer_stream(call->exchange, 200, stream);
}

void bt_front_send_websocket(
	struct bt_front_call *call, const char *protocol, const struct bt_http_stream *stream)
{
	BT_ASSERT(!call->answered && !call->is_held);
	bt_front_add_headers(call, NULL);
	call->answered = true;
	call->front->wire->answer_websocket(call->exchange, protocol, stream);
}

bool bt_front_refuse_further(struct bt_front_call *call)
{
	if (bt_watchers_count(call->front->watchers) < call->front->watches_max) {
		return false;
	}
	(void)bt_fail(&call->failure, &call->arena, 429, "TooManyRequests",
		"Too many requests, please try again later.");
	call->failure.retry_after_seconds = 1;
	bt_front_send_failure(call);
	return true;
}
