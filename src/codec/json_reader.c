/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include "base/assert.h"
#include "base/unicode.h"
#include "codec/json_scan.h"

static const char *const type_names[BT_JSON__COUNT] = {
	[BT_JSON_NULL] = "null",
	[BT_JSON_BOOL] = "bool",
	[BT_JSON_NUMBER] = "number",
	[BT_JSON_STRING] = "string",
	[BT_JSON_ARRAY] = "array",
	[BT_JSON_OBJECT] = "object",
};

static const char looking_for_value[] = "looking for beginning of value";
static const char looking_for_name[] = "looking for beginning of object key string";
static const char after_name[] = "after object key";
static const char after_member[] = "after object key:value pair";
static const char after_element[] = "after array element";

const char *bt_json_type_name(enum bt_json_type type)
{
	BT_ASSERT(type >= 0 && type < BT_JSON__COUNT);
	return type_names[type];
}

void bt_json_reader_init(struct bt_json_reader *reader, struct bt_str text)
{
	const char *data = text.data != NULL ? text.data : "";
	*reader =
		(struct bt_json_reader){.start = data, .position = data, .end = data + text.length};
}

BT_COLD static int depth_fault(
	struct bt_json_reader *reader, const char *at, struct berth_error *err)
{
	reader->position = at;
	return bt_error_set(err, BERTH_ERR_SYNTAX, "exceeded max depth");
}

/**
 * Scans a string whose opening quote is before p. Returns the position behind the closing quote, or
 * NULL with *fault set. Does not validate UTF-8.
 */
BT_ALWAYS_INLINE const char *scan_string(
	const char *p, const char *end, struct bt_json_fault_note *fault)
{
	for (;;) {
		p = bt_json_scan(p, end, BT_JSON_ATTENTION_SYNTAX);
		if (BT_LIKELY(p != end && *p == '"')) {
			return p + 1;
		}
		if (p == end || *p != '\\') {
			return bt_json_note(fault, p, "in string literal");
		}
		p = bt_json_scan_escape(p, end, fault);
		if (p == NULL) {
			return NULL;
		}
	}
}

int bt_json_peek(
	struct bt_json_reader *reader, enum bt_json_type *out_type, struct berth_error *err)
{
	const char *p = bt_json_skip_space(reader->position, reader->end);
	reader->position = p;
	if (p == reader->end) {
		return bt_json_fault(reader, p, looking_for_value, err);
	}
	switch (*p) {
	case '"':
		*out_type = BT_JSON_STRING;
		return 0;
	case '{':
		*out_type = BT_JSON_OBJECT;
		return 0;
	case '[':
		*out_type = BT_JSON_ARRAY;
		return 0;
	case 'n':
		*out_type = BT_JSON_NULL;
		return 0;
	case 't':
	case 'f':
		*out_type = BT_JSON_BOOL;
		return 0;
	default:
		break;
	}
	if (*p != '-' && !bt_is_digit(*p)) {
		return bt_json_fault(reader, p, looking_for_value, err);
	}
	*out_type = BT_JSON_NUMBER;
	return 0;
}

/** Checks the type of the next value. A mismatch is BERTH_ERR_INVALID. */
BT_ALWAYS_INLINE int expect(
	struct bt_json_reader *reader, enum bt_json_type type, struct berth_error *err)
{
	enum bt_json_type found;
	int result = bt_json_peek(reader, &found, err);
	if (result == 0 && found != type) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "expected %s, got %s",
			type_names[type], type_names[found]);
	}
	return result;
}

/** Reads null, true or false. *out_first: its first letter. */
static int read_literal(struct bt_json_reader *reader, enum bt_json_type type, char *out_first,
	struct berth_error *err)
{
	int result = expect(reader, type, err);
	if (result != 0) {
		return result;
	}
	struct bt_json_fault_note fault;
	*out_first = *reader->position;
	const char *p = bt_json_scan_literal(reader->position, reader->end, &fault);
	if (p == NULL) {
		return bt_json_fault(reader, fault.at, fault.context, err);
	}
	reader->position = p;
	return 0;
}

int bt_json_read_null(struct bt_json_reader *reader, struct berth_error *err)
{
	char first;
	return read_literal(reader, BT_JSON_NULL, &first, err);
}

int bt_json_read_bool(struct bt_json_reader *reader, bool *out_value, struct berth_error *err)
{
	char first;
	int result = read_literal(reader, BT_JSON_BOOL, &first, err);
	if (result == 0) {
		*out_value = first == 't';
	}
	return result;
}

int bt_json_read_number(
	struct bt_json_reader *reader, struct bt_str *out_text, struct berth_error *err)
{
	int result = expect(reader, BT_JSON_NUMBER, err);
	if (result != 0) {
		return result;
	}
	struct bt_json_fault_note fault;
	const char *start = reader->position;
	const char *p = bt_json_scan_number(start, reader->end, &fault);
	if (p == NULL) {
		return bt_json_fault(reader, fault.at, fault.context, err);
	}
	reader->position = p;
	*out_text = (struct bt_str){start, (uint32_t)(p - start)};
	return 0;
}

/** Reads a string whose opening quote is at reader->position. */
static int read_raw_string(
	struct bt_json_reader *reader, struct bt_json_raw_string *out, struct berth_error *err)
{
	const char *start = reader->position + 1;
	const char *end = reader->end;
	const char *p = start;
	bool plain = true;
	for (;;) {
		p = bt_json_scan(p, end, BT_JSON_ATTENTION_HIGH);
		if (BT_LIKELY(p != end && *p == '"')) {
			break;
		}
		struct bt_json_fault_note fault;
		if (p == end || (unsigned char)*p < 0x20) {
			return bt_json_fault(reader, p, "in string literal", err);
		}
		if (*p == '\\') {
			plain = false;
			p = bt_json_scan_escape(p, end, &fault);
			if (p == NULL) {
				return bt_json_fault(reader, fault.at, fault.context, err);
			}
			continue;
		}
		uint32_t rune;
		uint32_t length = bt_utf8_decode(p, (size_t)(end - p), &rune);
		plain = plain && length != 0;
		p += length != 0 ? length : 1;
	}
	reader->position = p + 1;
	*out = (struct bt_json_raw_string){
		.data = start, .length = (size_t)(p - start), .plain = plain};
	return 0;
}

/** Sets *out_text to the value of raw: borrowed if raw is plain, else unescaped into the arena. */
static int keep_string(const struct bt_json_raw_string *raw, struct bt_arena *arena,
	struct bt_str *out_text, struct berth_error *err)
{
	size_t length = raw->plain ? raw->length : bt_json_unescape(raw->data, raw->length, NULL);
	if (length > BT_JSON_STRING_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"string of %zu bytes is longer than %u", length, BT_JSON_STRING_BYTES_MAX);
	}
	if (raw->plain) {
		*out_text = (struct bt_str){raw->data, (uint32_t)length};
		return 0;
	}
	char *text = bt_arena_alloc_bytes(arena, length + 1);
	(void)bt_json_unescape(raw->data, raw->length, text); /* returns the measured length */
	text[length] = '\0';
	*out_text = (struct bt_str){text, (uint32_t)length};
	return 0;
}

int bt_json_read_string(struct bt_json_reader *reader, struct bt_arena *arena,
	struct bt_str *out_text, bool *out_borrowed, struct berth_error *err)
{
	struct bt_json_raw_string raw;
	const char *p = bt_json_skip_space(reader->position, reader->end);
	if (p != reader->end && *p == '"') {
		p = bt_json_plain_string(p, reader->end, out_text);
		if (p != NULL) {
			reader->position = p;
			if (out_borrowed != NULL) {
				*out_borrowed = true;
			}
			return 0;
		}
	}
	int result = expect(reader, BT_JSON_STRING, err);
	if (result == 0) {
		result = read_raw_string(reader, &raw, err);
	}
	if (result == 0) {
		result = keep_string(&raw, arena, out_text, err);
	}
	if (result == 0 && out_borrowed != NULL) {
		*out_borrowed = raw.plain;
	}
	return result;
}

static int enter_container(
	struct bt_json_reader *reader, enum bt_json_type type, struct berth_error *err)
{
	int result = expect(reader, type, err);
	if (result != 0) {
		return result;
	}
	if (reader->depth == BT_JSON_DEPTH_MAX) {
		return depth_fault(reader, reader->position, err);
	}
	reader->depth++;
	reader->position++;
	return 0;
}

int bt_json_enter_array(struct bt_json_reader *reader, struct berth_error *err)
{
	return enter_container(reader, BT_JSON_ARRAY, err);
}

int bt_json_enter_object(struct bt_json_reader *reader, struct berth_error *err)
{
	return enter_container(reader, BT_JSON_OBJECT, err);
}

/**
 * Begins the next item of a container: reads the closing bracket or the comma before the item.
 * Returns the position of the item; NULL if the container ends or *out_result is an error.
 */
BT_ALWAYS_INLINE const char *begin_item(struct bt_json_reader *reader, char close, bool first,
	const char *context, int *out_result, struct berth_error *err)
{
	const char *p = bt_json_skip_space(reader->position, reader->end);
	*out_result = 0;
	if (BT_LIKELY(p != reader->end) && *p == close) {
		BT_ASSERT(reader->depth > 0);
		reader->depth--;
		reader->position = p + 1;
		return NULL;
	}
	if (p == reader->end || (!first && *p != ',')) {
		*out_result = bt_json_fault(reader, p, context, err);
		return NULL;
	}
	return first ? p : bt_json_skip_space(p + 1, reader->end);
}

int bt_json_next_element(
	struct bt_json_reader *reader, bool *first, bool *out_more, struct berth_error *err)
{
	int result;
	const char *p = begin_item(reader, ']', *first, after_element, &result, err);
	if (p == NULL) {
		*out_more = false;
		return result;
	}
	/* "]" after a comma is an error, not the end of the array */
	if (p == reader->end || *p == ']') {
		return bt_json_fault(reader, p, looking_for_value, err);
	}
	*first = false;
	reader->position = p;
	*out_more = true;
	return 0;
}

int bt_json_next_raw_member(struct bt_json_reader *reader, bool *first, bool *out_more,
	struct bt_json_raw_string *out_name, struct berth_error *err)
{
	int result;
	const char *p = begin_item(reader, '}', *first, after_member, &result, err);
	if (p == NULL) {
		*out_more = false;
		return result;
	}
	if (p == reader->end || *p != '"') {
		return bt_json_fault(reader, p, looking_for_name, err);
	}
	reader->position = p;
	struct bt_json_raw_string name;
	result = read_raw_string(reader, &name, err);
	if (result != 0) {
		return result;
	}
	p = bt_json_skip_space(reader->position, reader->end);
	if (p == reader->end || *p != ':') {
		return bt_json_fault(reader, p, after_name, err);
	}
	reader->position = p + 1;
	*first = false;
	*out_more = true;
	*out_name = name;
	return 0;
}

int bt_json_next_member(struct bt_json_reader *reader, bool *first, struct bt_arena *arena,
	bool *out_more, struct bt_str *out_name, struct berth_error *err)
{
	struct bt_json_raw_string raw = {0};
	bool more = false;
	const char *behind = bt_json_plain_name(
		bt_json_skip_space(reader->position, reader->end), reader->end, *first, out_name);
	if (behind != NULL) {
		reader->position = behind;
		*first = false;
		*out_more = true;
		return 0;
	}
	int result = bt_json_next_raw_member(reader, first, &more, &raw, err);
	if (result == 0 && more) {
		result = keep_string(&raw, arena, out_name, err);
	}
	if (result == 0) {
		*out_more = more;
	}
	return result;
}

int bt_json_skip(struct bt_json_reader *reader, struct bt_str *out_text, struct berth_error *err)
{
	/*
	 * One bit per level that this call opened: 1 for an object, 0 for an array. A word is
	 * cleared when its first level opens.
	 */
	uint64_t is_object[BT_JSON_DEPTH_MAX / 64 + 1];
	const uint32_t depth_max = BT_JSON_DEPTH_MAX - reader->depth;
	const char *end = reader->end;
	const char *p = bt_json_skip_space(reader->position, end);
	const char *value_start = p;
	uint32_t depth = 0;
	bool in_object;
	struct bt_json_fault_note fault = {NULL, NULL};

value:
	p = bt_json_skip_space(p, end);
	if (p == end) {
		return bt_json_fault(reader, p, looking_for_value, err);
	}
	switch (*p) {
	case '"':
		p = scan_string(p + 1, end, &fault);
		break;
	case '{':
	case '[': {
		bool object = *p == '{';
		if (depth == depth_max) {
			return depth_fault(reader, p, err);
		}
		uint64_t bit = UINT64_C(1) << (depth & 63);
		uint64_t *word = &is_object[depth >> 6];
		*word = ((depth & 63) == 0 ? 0 : *word & ~bit) | (object ? bit : 0);
		depth++;
		p = bt_json_skip_space(p + 1, end);
		if (p == end || *p != (object ? '}' : ']')) {
			if (object) {
				goto name;
			}
			goto value;
		}
		depth--;
		p++;
		break;
	}
	case 'n':
	case 't':
	case 'f':
		p = bt_json_scan_literal(p, end, &fault);
		break;
	default:
		if (*p != '-' && !bt_is_digit(*p)) {
			return bt_json_fault(reader, p, looking_for_value, err);
		}
		p = bt_json_scan_number(p, end, &fault);
		break;
	}
	if (p == NULL) {
		return bt_json_fault(reader, fault.at, fault.context, err);
	}

after_value:
	if (depth == 0) {
		if (out_text != NULL) {
			*out_text = (struct bt_str){value_start, (uint32_t)(p - value_start)};
		}
		reader->position = p;
		return 0;
	}
	p = bt_json_skip_space(p, end);
	in_object = (is_object[(depth - 1) >> 6] >> ((depth - 1) & 63) & 1) != 0;
	if (p == end) {
		return bt_json_fault(reader, p, after_member, err);
	}
	if (*p == (in_object ? '}' : ']')) {
		depth--;
		p++;
		goto after_value;
	}
	if (*p != ',') {
		return bt_json_fault(reader, p, in_object ? after_member : after_element, err);
	}
	p = bt_json_skip_space(p + 1, end);
	if (!in_object) {
		goto value;
	}

name:
	if (p == end || *p != '"') {
		return bt_json_fault(reader, p, looking_for_name, err);
	}
	p = scan_string(p + 1, end, &fault);
	if (p == NULL) {
		return bt_json_fault(reader, fault.at, fault.context, err);
	}
	p = bt_json_skip_space(p, end);
	if (p == end || *p != ':') {
		return bt_json_fault(reader, p, after_name, err);
	}
	p++;
	goto value;
}

int bt_json_expect_end(struct bt_json_reader *reader, struct berth_error *err)
{
	const char *p = bt_json_skip_space(reader->position, reader->end);
	if (p != reader->end) {
		return bt_json_fault(reader, p, "after top-level value", err);
	}
	reader->position = p;
	return 0;
}

bool bt_json_seek(struct bt_json_reader *reader, const char *dotted_path)
{
	while (*dotted_path != '\0') {
		size_t length = strcspn(dotted_path, ".");
		struct bt_json_raw_string name = {0};
		bool first = true;
		bool more = false;
		if (bt_json_enter_object(reader, NULL) != 0) {
			return false;
		}
		do {
			if ((name.data != NULL && bt_json_skip(reader, NULL, NULL) != 0) ||
				bt_json_next_raw_member(reader, &first, &more, &name, NULL) != 0 ||
				!more) {
				return false;
			}
		} while (name.length != length || memcmp(name.data, dotted_path, length) != 0);
		dotted_path += length + (dotted_path[length] == '.');
	}
	return true;
}

bool bt_json_nests_deeper(struct bt_str text, uint32_t depth_max)
{
	const char *end = text.data + text.length;
	uint32_t depth = 0;
	for (const char *p = text.data; p < end; p++) {
		if (*p == '"') {
			p = bt_json_scan(p + 1, end, BT_JSON_ATTENTION_SYNTAX);
			while (p < end && *p != '"') {
				p += *p == '\\' && end - p > 1 ? 2 : 1;
				p = bt_json_scan(p, end, BT_JSON_ATTENTION_SYNTAX);
			}
		} else if (*p == '{' || *p == '[') {
			if (++depth > depth_max) {
				return true;
			}
		} else if ((*p == '}' || *p == ']') && depth > 0) {
			depth--;
		}
	}
	return false;
}
