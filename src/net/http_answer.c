/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_answer.h"

#include <string.h>

#define MALFORMED "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
#define MALFORMED_CHUNK "malformed chunked encoding"
#define BLANKS " \t"
/* Maximum length of a chunk-size line with its extensions. */
#define CHUNK_LINE_BYTES_MAX 4096
#define INFORMATIONAL_MAX 5
/* At most 15 hexadecimal digits, so that the size cannot overflow. */
#define CHUNK_DIGITS_MAX 15

static enum bt_http_step set_failure(struct bt_http_answer *answer, const char *failure)
{
	answer->failure = failure;
	return BT_HTTP_STEP_FAILED;
}

/* Accepts "HTTP/1.0" and "HTTP/1.1" with a code of three digits. */
static bool parse_status(struct bt_http_answer *answer, struct bt_str line)
{
	uint32_t code = 0;
	if (line.length < 12 || memcmp(line.data, "HTTP/1.", 7) != 0 ||
		(line.data[7] != '0' && line.data[7] != '1') || line.data[8] != ' ' ||
		(line.length > 12 && line.data[12] != ' ')) {
		return false;
	}
	for (uint32_t i = 9; i < 12; i++) {
		if (line.data[i] < '0' || line.data[i] > '9') {
			return false;
		}
		code = code * 10 + (uint32_t)(line.data[i] - '0');
	}
	answer->code = (uint16_t)code;
	answer->keeps = line.data[7] == '1';
	answer->is_chunked = false;
	answer->has_length = false;
	answer->is_bad_length = false;
	return code >= 100;
}

/* Parses the header line at the end of `head` and replaces it by "Name:value". */
static bool take_header(struct bt_http_answer *answer, struct bt_str line)
{
	int64_t colon = bt_str_find_char(line, ':');
	struct bt_str name = bt_str_sub(line, 0, colon < 0 ? 0 : (uint32_t)colon);
	if (name.length == 0 || !bt_str_is_visible(name, "()<>@,;:\\\"/[]?={}") ||
		memchr(line.data, '\0', line.length) != NULL) {
		return false;
	}
	struct bt_str value =
		bt_str_trim(bt_str_sub(line, (uint32_t)colon + 1, BT_STR_MAX), BLANKS);
	if (bt_str_equal_without_case(name, BT_STR("Content-Length"))) {
		uint64_t length = 0;

		/*
		 * Repeated Content-Length headers with the same value are accepted; different
		 * values are an attack (response splitting).
		 */
		bool is_number = value.length != 0 && value.length <= 18;
		for (uint32_t i = 0; i < value.length && is_number; i++) {
			is_number = bt_is_digit(value.data[i]);
			length = length * 10 + (uint64_t)(value.data[i] - '0');
		}
		if (!is_number || (answer->has_length && answer->left != length)) {
			answer->is_bad_length = true;
		}
		answer->has_length = true;
		answer->left = length;
	} else if (bt_str_equal_without_case(name, BT_STR("Transfer-Encoding"))) {
		/* only a single "chunked" is supported */
		if (answer->is_chunked || !bt_str_equal_without_case(value, BT_STR("chunked"))) {
			return false;
		}
		answer->is_chunked = true;
	} else if (bt_str_equal_without_case(name, BT_STR("Connection"))) {
		struct bt_str rest = value;
		while (rest.length != 0) {
			struct bt_str option = bt_str_trim(bt_str_cut(&rest, ','), BLANKS);
			if (bt_str_equal_without_case(option, BT_STR("close"))) {
				answer->keeps = false;
			} else if (bt_str_equal_without_case(option, BT_STR("keep-alive"))) {
				answer->keeps = true;
			}
		}
	}
	memmove(answer->head.data + answer->line_at + name.length + 1, value.data, value.length);
	answer->head.length = answer->line_at + name.length + 1 + value.length;
	bt_strbuf_append_char(&answer->head, '\0');
	answer->line_at = (uint32_t)answer->head.length;
	return true;
}

/* Selects how the body's end is found: RFC 9112 section 6.3. */
static enum bt_http_step end_head(struct bt_http_answer *answer)
{
	if (answer->code < 200 && answer->code != 101) {
		if (++answer->informational_count > INFORMATIONAL_MAX) {
			return set_failure(
				answer, "net/http: too many 1xx informational responses");
		}
		bt_strbuf_reset(&answer->head);
		answer->line_at = 0;
		answer->state = BT_HTTP_ANSWER_STATUS;
		return BT_HTTP_STEP_MORE;
	}
	answer->head_bytes = 0;
	if (answer->is_bodiless || answer->code == 101 || answer->code == 204 ||
		answer->code == 304) {
		answer->keeps = answer->keeps && answer->code != 101;
		answer->state = BT_HTTP_ANSWER_ENDED;
	} else if (answer->is_chunked) {
		/*
		 * chunked and Content-Length together: do not reuse the connection, because its
		 * next answer may be forged (response splitting)
		 */
		answer->keeps = answer->keeps && !answer->has_length;
		answer->state = BT_HTTP_ANSWER_CHUNK_SIZE;
	} else if (answer->is_bad_length) {
		return set_failure(answer, MALFORMED);
	} else if (answer->has_length) {
		answer->state = answer->left != 0 ? BT_HTTP_ANSWER_LENGTH : BT_HTTP_ANSWER_ENDED;
	} else {
		answer->keeps = false;
		answer->state = BT_HTTP_ANSWER_UNTIL_CLOSE;
	}
	return BT_HTTP_STEP_HEAD;
}

/* Parses "1a", optionally followed by ";" and extensions, which are ignored. */
static bool parse_chunk_size(struct bt_http_answer *answer, struct bt_str line)
{
	struct bt_str rest = line;
	struct bt_str digits = bt_str_trim(bt_str_cut(&rest, ';'), BLANKS);
	if (digits.length == 0 || digits.length > CHUNK_DIGITS_MAX) {
		return false;
	}
	answer->left = 0;
	for (uint32_t i = 0; i < digits.length; i++) {
		int value = bt_hex_value(digits.data[i]);
		if (value < 0) {
			return false;
		}
		answer->left = answer->left * 16 + (uint32_t)value;
	}
	answer->state = answer->left != 0 ? BT_HTTP_ANSWER_CHUNK : BT_HTTP_ANSWER_TRAILERS;
	return true;
}

/* Processes the complete line at the end of `head`. */
static enum bt_http_step take_line(struct bt_http_answer *answer)
{
	struct bt_str line = bt_str_sub(bt_strbuf_str(&answer->head), answer->line_at, UINT32_MAX);
	if (line.length != 0 && line.data[line.length - 1] == '\r') {
		line.length--;
	}
	bool is_good = true;
	bool is_chunk_line = true;
	switch (answer->state) {
	case BT_HTTP_ANSWER_STATUS:
		is_good = parse_status(answer, line);
		is_chunk_line = false;
		answer->state = BT_HTTP_ANSWER_HEADERS;
		break;
	case BT_HTTP_ANSWER_HEADERS:
		if (line.length == 0) {
			answer->head.length = answer->line_at;
			return end_head(answer);
		}
		is_chunk_line = false;
		/* a folded header's continuation line is dropped */
		if (line.data[0] != ' ' && line.data[0] != '\t') {
			is_good = take_header(answer, line);
		}
		break;
	case BT_HTTP_ANSWER_CHUNK_SIZE:
		is_good = parse_chunk_size(answer, line);
		break;
	case BT_HTTP_ANSWER_CHUNK_END:
		is_good = line.length == 0;
		answer->state = BT_HTTP_ANSWER_CHUNK_SIZE;
		break;
	case BT_HTTP_ANSWER_TRAILERS:
		answer->state = line.length == 0 ? BT_HTTP_ANSWER_ENDED : BT_HTTP_ANSWER_TRAILERS;
		break;
	default:
		break; /* the body is not read by lines */
	}
	answer->head.length = answer->line_at;
	if (!is_good) {
		return set_failure(answer, is_chunk_line ? MALFORMED_CHUNK : MALFORMED);
	}
	return BT_HTTP_STEP_MORE;
}

static enum bt_http_step read_line(struct bt_http_answer *answer, struct bt_str *input)
{
	const char *end = memchr(input->data, '\n', input->length);
	uint32_t length = end != NULL ? (uint32_t)(end - input->data) : input->length;
	bool is_chunk_line = answer->state == BT_HTTP_ANSWER_CHUNK_SIZE ||
		answer->state == BT_HTTP_ANSWER_CHUNK_END;
	answer->head_bytes += length + 1;
	if (is_chunk_line && answer->head_bytes > CHUNK_LINE_BYTES_MAX) {
		return set_failure(answer, MALFORMED_CHUNK);
	}
	if (answer->head_bytes > BT_HTTP_HEAD_BYTES_MAX) {
		return set_failure(
			answer, "net/http: server response headers exceeded 262144 bytes; aborted");
	}
	bt_strbuf_append(&answer->head, input->data, length);
	*input = bt_str_sub(*input, length + (end != NULL ? 1 : 0), BT_STR_MAX);
	if (answer->state == BT_HTTP_ANSWER_STATUS && answer->head.length >= 5 &&
		memcmp(answer->head.data, "HTTP/", 5) != 0) {
		return set_failure(answer, MALFORMED); /* not HTTP: do not wait for a line end */
	}
	return end != NULL ? take_line(answer) : BT_HTTP_STEP_MORE;
}

enum bt_http_step bt_http_answer_step(
	struct bt_http_answer *answer, struct bt_str *input, struct bt_str *out_data)
{
	enum bt_http_step step = BT_HTTP_STEP_MORE;
	answer->is_started = answer->is_started || input->length != 0;
	while (step == BT_HTTP_STEP_MORE && answer->state != BT_HTTP_ANSWER_ENDED &&
		input->length != 0) {
		if (answer->state != BT_HTTP_ANSWER_LENGTH &&
			answer->state != BT_HTTP_ANSWER_CHUNK &&
			answer->state != BT_HTTP_ANSWER_UNTIL_CLOSE) {
			step = read_line(answer, input);
			continue;
		}
		*out_data = *input;
		if (answer->state != BT_HTTP_ANSWER_UNTIL_CLOSE) {
			*out_data = bt_str_sub(
				*input, 0, (uint32_t)BT_MIN(answer->left, input->length));
			answer->left -= out_data->length;
			if (answer->left == 0) {
				answer->state = answer->state == BT_HTTP_ANSWER_CHUNK
					? BT_HTTP_ANSWER_CHUNK_END
					: BT_HTTP_ANSWER_ENDED;
				answer->head_bytes = 0;
			}
		}
		*input = bt_str_sub(*input, out_data->length, BT_STR_MAX);
		return BT_HTTP_STEP_DATA;
	}
	if (step == BT_HTTP_STEP_MORE && answer->state == BT_HTTP_ANSWER_ENDED) {
		return BT_HTTP_STEP_END;
	}
	return step;
}

void bt_http_answer_finish(struct bt_http_answer *answer)
{
	bt_strbuf_finish_wiped(&answer->head);
}

bool bt_http_answer_next_header(const struct bt_http_answer *answer, struct bt_str name, size_t *at,
	struct bt_str *out_value)
{
	while (*at < answer->line_at) {
		struct bt_str line = bt_str_from(answer->head.data + *at);
		*at += line.length + 1;
		if (line.length > name.length && line.data[name.length] == ':' &&
			bt_str_equal_without_case(bt_str_sub(line, 0, name.length), name)) {
			*out_value = bt_str_sub(line, name.length + 1, BT_STR_MAX);
			return true;
		}
	}
	return false;
}
