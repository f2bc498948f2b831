/* SPDX-License-Identifier: Apache-2.0 */
/* Parses an HTTP answer as a whole and byte by byte. Both results must be the same. */
#include <stdlib.h>

#include "net/http_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
	struct bt_http_answer answer;
	struct bt_strbuf body;
	enum bt_http_step last;
};

static void read_piece(struct reading *reading, struct bt_str input)
{
	while (reading->last != BT_HTTP_STEP_END && reading->last != BT_HTTP_STEP_FAILED) {
		struct bt_str bytes = BT_STR("");
		uint32_t before = input.length;
		reading->last = bt_http_answer_step(&reading->answer, &input, &bytes);
		if (reading->last == BT_HTTP_STEP_MORE) {
			if (input.length != 0) {
				abort();
			}
			return;
		}
		if (reading->last == BT_HTTP_STEP_DATA) {
			if (bytes.length == 0 || bytes.length > before) {
				abort();
			}
			bt_strbuf_append_str(&reading->body, bytes);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"location", "x-test"};
	struct reading whole = {0};
	struct reading pieces = {0};
	if (size == 0 || size > 1048576) {
		return 0;
	}
	whole.answer.is_bodiless = pieces.answer.is_bodiless = (data[0] & 1) != 0;
	struct bt_str input = {(const char *)data + 1, (uint32_t)size - 1};
	read_piece(&whole, input);
	for (uint32_t i = 0; i < input.length; i++) {
		read_piece(&pieces, bt_str_sub(input, i, 1));
	}
	read_piece(&pieces, BT_STR(""));
	if (whole.answer.state != pieces.answer.state || whole.last != pieces.last ||
		whole.answer.code != pieces.answer.code ||
		!bt_str_equal(bt_strbuf_str(&whole.body), bt_strbuf_str(&pieces.body))) {
		abort();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t at = 0;
		struct bt_str value;
		while (bt_http_answer_next_header(
			&whole.answer, bt_str_from(names[i]), &at, &value)) {
			if (value.data + value.length > whole.answer.head.data + at) {
				abort();
			}
		}
	}
	bt_http_answer_finish(&whole.answer);
	bt_http_answer_finish(&pieces.answer);
	bt_strbuf_finish(&whole.body);
	bt_strbuf_finish(&pieces.body);
	return 0;
}
