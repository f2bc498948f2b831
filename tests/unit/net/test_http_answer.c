/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_answer.h"

#include "base/compiler.h"
#include "test_main.h"

#define MALFORMED "net/http: HTTP/1.x transport connection broken: malformed HTTP response"

/** An answer and the result of parsing it. */
struct row {
	const char *input;
	enum bt_http_step last;
	const char *body;
	const char *failure; /* of the last step; NULL: none */
	bool keeps;          /* the connection can be used again, after BT_HTTP_STEP_END */
};

static const struct row rows[] = {
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", BT_HTTP_STEP_END, "ab", NULL, true},
	{"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", BT_HTTP_STEP_END, "", NULL, true},
	{"HTTP/1.0 200 OK\nContent-Length: 2\n\nab", BT_HTTP_STEP_END, "ab", NULL, false},
	{"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", BT_HTTP_STEP_END,
		"", NULL, true},
	{"HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 0\r\n\r\n", BT_HTTP_STEP_END,
		"", NULL, false},
	{"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", BT_HTTP_STEP_END, "", NULL, true},
	{"HTTP/1.1 304 Not Modified\r\n\r\n", BT_HTTP_STEP_END, "", NULL, true},
	{"HTTP/1.1 101 Switching\r\n\r\n", BT_HTTP_STEP_END, "", NULL, false},
	{"HTTP/1.1 200 OK\r\n\r\nab", BT_HTTP_STEP_MORE, "ab", NULL, false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0a ; x\r\n0123456789\r\n0"
	 "\r\nX: y\r\n\r\n",
		BT_HTTP_STEP_END, "a0123456789", NULL, true},
	/* both headers: the chunks count, and the connection is not used again */
	{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n2\r\nab\r\n0\r\n"
	 "\r\n",
		BT_HTTP_STEP_END, "ab", NULL, false},
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", BT_HTTP_STEP_END,
		"ab", NULL, true},
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab", BT_HTTP_STEP_FAILED,
		"", MALFORMED, false},
	{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", BT_HTTP_STEP_FAILED, "", MALFORMED,
		false},
	{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", BT_HTTP_STEP_FAILED, "",
		MALFORMED, false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", BT_HTTP_STEP_FAILED, "",
		MALFORMED, false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		BT_HTTP_STEP_FAILED, "", MALFORMED, false},
	{"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nab", BT_HTTP_STEP_FAILED, "", MALFORMED,
		false},
	{"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", BT_HTTP_STEP_FAILED, "", MALFORMED, false},
	{"HTTP/2 200\r\n\r\n", BT_HTTP_STEP_FAILED, "", MALFORMED, false},
	{"HTTP/1.1 2x0 OK\r\n\r\n", BT_HTTP_STEP_FAILED, "", MALFORMED, false},
	{"hello", BT_HTTP_STEP_FAILED, "", MALFORMED, false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", BT_HTTP_STEP_FAILED,
		"a", "malformed chunked encoding", false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890123456\r\n",
		BT_HTTP_STEP_FAILED, "", "malformed chunked encoding", false},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", BT_HTTP_STEP_FAILED, "",
		"malformed chunked encoding", false},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n"
	 "Content-Length: 1\r\n\r\nx",
		BT_HTTP_STEP_END, "x", NULL, true},
};

/* Parses the row in pieces of piece_bytes. */
static void check_row(size_t index, uint32_t piece_bytes)
{
	const struct row *row = &rows[index];
	struct bt_http_answer answer = {0};
	struct bt_strbuf body = {0};
	struct bt_str rest = bt_str_from(row->input);
	enum bt_http_step step = BT_HTTP_STEP_MORE;
	while (step != BT_HTTP_STEP_END && step != BT_HTTP_STEP_FAILED && rest.length != 0) {
		struct bt_str piece = bt_str_sub(rest, 0, piece_bytes);
		struct bt_str data = BT_STR("");
		rest = bt_str_sub(rest, piece.length, BT_STR_MAX);
		do {
			step = bt_http_answer_step(&answer, &piece, &data);
			if (step == BT_HTTP_STEP_DATA) {
				bt_strbuf_append_str(&body, data);
			}
		} while (step == BT_HTTP_STEP_HEAD || step == BT_HTTP_STEP_DATA);
	}
	ck_assert_msg(step == row->last, "row %zu: %d", index, (int)step);
	ck_assert_msg(strcmp(bt_strbuf_c(&body), row->body) == 0, "row %zu: %s", index,
		bt_strbuf_c(&body));
	if (step == BT_HTTP_STEP_FAILED) {
		ck_assert_str_eq(answer.failure, row->failure);
	}
	ck_assert_msg(step != BT_HTTP_STEP_END || answer.keeps == row->keeps, "row %zu", index);
	bt_http_answer_finish(&answer);
	bt_strbuf_finish(&body);
}

START_TEST(test_http_answer__framing)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		check_row(i, 1);
		check_row(i, 3);
		check_row(i, 65536);
	}
}
END_TEST

START_TEST(test_http_answer__headers)
{
	struct bt_http_answer answer = {.is_bodiless = true};
	struct bt_str input = BT_STR("HTTP/1.1 200 OK\r\nX-Test: \t a b \r\n folded\r\nEmpty:\r\n"
				     "x-test:c\r\nX-Tes: no\r\nContent-Length: 7\r\n\r\n");
	struct bt_str data;
	struct bt_str value;
	size_t at = 0;
	ck_assert_int_eq(bt_http_answer_step(&answer, &input, &data), BT_HTTP_STEP_HEAD);
	ck_assert(bt_http_answer_next_header(&answer, BT_STR("X-TEST"), &at, &value));
	ck_assert(bt_str_equal_c(value, "a b"));
	ck_assert(bt_http_answer_next_header(&answer, BT_STR("X-TEST"), &at, &value));
	ck_assert(bt_str_equal_c(value, "c"));
	ck_assert(!bt_http_answer_next_header(&answer, BT_STR("X-TEST"), &at, &value));
	at = 0;
	ck_assert(bt_http_answer_next_header(&answer, BT_STR("empty"), &at, &value));
	ck_assert_uint_eq(value.length, 0);
	ck_assert_int_eq(bt_http_answer_step(&answer, &input, &data), BT_HTTP_STEP_END);
	bt_http_answer_finish(&answer);
}
END_TEST

/* Servers that send headers, informational answers or a chunk's extensions without end. */
START_TEST(test_http_answer__endless)
{
	static const struct {
		const char *first;
		const char *again;
		const char *failure;
	} endless[] = {
		{"HTTP/1.1 200 OK\r\n", "X-Header: value\r\n",
			"net/http: server response headers exceeded 262144 bytes; aborted"},
		{"HTTP/1.1 200 OK\r\n", "x",
			"net/http: server response headers exceeded 262144 bytes; aborted"},
		{"", "HTTP/1.1 103 Hints\r\n\r\n",
			"net/http: too many 1xx informational responses"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", ";x=y",
			"malformed chunked encoding"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n",
			"net/http: server response headers exceeded 262144 bytes; aborted"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(endless); i++) {
		struct bt_http_answer answer = {0};
		struct bt_str input = bt_str_from(endless[i].first);
		struct bt_str data;
		enum bt_http_step step = bt_http_answer_step(&answer, &input, &data);
		for (uint32_t j = 0; j < 300000 && step != BT_HTTP_STEP_FAILED; j++) {
			if (input.length == 0) {
				input = bt_str_from(endless[i].again);
			}
			step = bt_http_answer_step(&answer, &input, &data);
		}
		ck_assert_msg(step == BT_HTTP_STEP_FAILED, "row %zu", i);
		ck_assert_str_eq(answer.failure, endless[i].failure);
		bt_http_answer_finish(&answer);
	}
}
END_TEST

BT_TEST_MAIN("http_answer", test_http_answer__framing, test_http_answer__headers,
	test_http_answer__endless)
