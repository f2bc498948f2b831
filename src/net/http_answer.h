/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_ANSWER_H
#define BT_NET_HTTP_ANSWER_H
/**
 * Parser of one HTTP/1.x answer: head, chunks, length, end. Takes bytes as they come, in pieces of
 * any size, and buffers nothing but the head.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/** Heads and trailers beyond this many bytes are refused. */
#define BT_HTTP_HEAD_BYTES_MAX 262144

enum bt_http_answer_state {
	BT_HTTP_ANSWER_STATUS, /* expects a status line */
	BT_HTTP_ANSWER_HEADERS,
	BT_HTTP_ANSWER_LENGTH, /* `left` bytes of the body are missing */
	BT_HTTP_ANSWER_CHUNK_SIZE,
	BT_HTTP_ANSWER_CHUNK,
	BT_HTTP_ANSWER_CHUNK_END,
	BT_HTTP_ANSWER_TRAILERS,
	BT_HTTP_ANSWER_UNTIL_CLOSE, /* the body ends with the connection */
	BT_HTTP_ANSWER_ENDED,
};

/** Zero memory expects a status line. */
struct bt_http_answer {
	enum bt_http_answer_state state;
	bool is_bodiless; /* set by the caller: the answer of HEAD has no body */
	bool is_started;  /* a byte has come */
	bool keeps;       /* with the head: the connection can carry another request */
	bool is_chunked;
	bool has_length;
	bool is_bad_length;
	uint8_t informational_count; /* 1xx answers so far */
	uint16_t code;
	uint32_t line_at;      /* the incomplete line lies in `head` from here on */
	uint32_t head_bytes;   /* of this head, or of chunk lines since the last chunk */
	uint64_t left;         /* of the body, or of the chunk */
	const char *failure;   /* as upstream words it, after BT_HTTP_STEP_FAILED */
	struct bt_strbuf head; /* "Name:value", zero, ...; values are trimmed */
};

enum bt_http_step {
	BT_HTTP_STEP_MORE, /* all bytes are taken */
	BT_HTTP_STEP_HEAD, /* code and headers of the final answer are complete */
	BT_HTTP_STEP_DATA, /* bytes of the body, borrowed from the input */
	BT_HTTP_STEP_END,  /* complete; what is left of the input belongs to no answer */
	BT_HTTP_STEP_FAILED,
};

/** Take bytes from the front of input until something is complete. */
enum bt_http_step bt_http_answer_step(
	struct bt_http_answer *answer, struct bt_str *input, struct bt_str *out_data);
/** For another answer; keeps the memory. */
void bt_http_answer_reset(struct bt_http_answer *answer);
void bt_http_answer_finish(struct bt_http_answer *answer);
/** The next value of the header from *at on (0 at first), names without case; false: none. */
bool bt_http_answer_next_header(const struct bt_http_answer *answer, struct bt_str name, size_t *at,
	struct bt_str *out_value);
#endif
