/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_ANSWER_H
#define BT_NET_HTTP_ANSWER_H
/**
 * Incremental parser of one HTTP/1.x answer: head, fixed length or chunks, end. Accepts input in
 * pieces of any size and buffers only the head.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/** Larger heads and trailers are refused. */
#define BT_HTTP_HEAD_BYTES_MAX 262144

enum bt_http_answer_state {
	BT_HTTP_ANSWER_STATUS, /* expects a status line */
	BT_HTTP_ANSWER_HEADERS,
	BT_HTTP_ANSWER_LENGTH, /* `left` bytes of the body are still to come */
	BT_HTTP_ANSWER_CHUNK_SIZE,
	BT_HTTP_ANSWER_CHUNK,
	BT_HTTP_ANSWER_CHUNK_END,
	BT_HTTP_ANSWER_TRAILERS,
	BT_HTTP_ANSWER_UNTIL_CLOSE, /* the body ends with the connection */
	BT_HTTP_ANSWER_ENDED,
};

/** All-zero memory is a parser at the status line. */
struct bt_http_answer {
	enum bt_http_answer_state state;
	bool is_bodiless; /* set by the caller: no body follows (HEAD) */
	bool is_started;  /* a byte was received */
	bool keeps;       /* valid after the head: the connection can be reused */
	bool is_chunked;
	bool has_length;
	bool is_bad_length;          /* a Content-Length is not a number, or two of them differ */
	uint8_t informational_count; /* 1xx answers so far */
	uint16_t code;
	uint32_t line_at;      /* start of the incomplete line in `head` */
	uint32_t head_bytes;   /* bytes of this head, or of chunk lines since the last chunk */
	uint64_t left;         /* bytes left of the body, or of the chunk */
	const char *failure;   /* upstream's text, set with BT_HTTP_STEP_FAILED */
	struct bt_strbuf head; /* "Name:value", zero, ...; values are trimmed */
};

enum bt_http_step {
	BT_HTTP_STEP_MORE, /* all input is consumed, more is needed */
	BT_HTTP_STEP_HEAD, /* code and headers of the final answer are complete */
	BT_HTTP_STEP_DATA, /* bytes of the body, borrowed from the input */
	BT_HTTP_STEP_END,  /* complete; the remaining input does not belong to this answer */
	BT_HTTP_STEP_FAILED,
};

/**
 * Consumes bytes from the front of input until a step is complete. *out_data is set only with
 * BT_HTTP_STEP_DATA.
 */
enum bt_http_step bt_http_answer_step(
	struct bt_http_answer *answer, struct bt_str *input, struct bt_str *out_data);
void bt_http_answer_finish(struct bt_http_answer *answer);
/**
 * Finds the next value of the header from *at on (start with 0); names compare case-insensitively.
 * false: no further value.
 */
bool bt_http_answer_next_header(const struct bt_http_answer *answer, struct bt_str name, size_t *at,
	struct bt_str *out_value);
#endif
