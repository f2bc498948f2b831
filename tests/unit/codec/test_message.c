/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include "base/alloc.h"
#include "sample_message.h"
#include "test_main.h"

static int decode_str(
	struct bt_arena *arena, struct bt_str json, struct sample *out, struct berth_error *err)
{
	struct bt_json_reader reader;
	memset(out, 0, sizeof(*out));
	bt_json_reader_init(&reader, json);
	int result = bt_message_decode_json(&sample_message, &reader, arena, out, err);
	if (result == 0) {
		result = bt_json_expect_end(&reader, err);
	}
	return result;
}

static struct sample decode(struct bt_arena *arena, const char *json)
{
	struct sample out;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = decode_str(arena, bt_str_from(json), &out, &err);
	ck_assert_msg(result == 0, "%s: %s", json, berth_error_message(&err));
	return out;
}

static char *encode(const struct sample *value)
{
	struct bt_strbuf out = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &out, 0);
	bt_message_encode_json(&sample_message, &writer, value);
	return bt_strbuf_steal(&out);
}

#define ALWAYS "\"alwaysStr\":\"\",\"alwaysList\":null,\"alwaysNull\":null}"

/** A message with every field set, as encode writes it. */
static const char full[] =
	"{\"str\":\"s\",\"flag\":true,\"i32\":-2147483648,\"i64\":9223372036854775807,"
	"\"message\":{\"name\":\"n\",\"number\":1,\"tags\":[\"x\",\"\"]},\"scalar\":\"21C\","
	"\"raw\":{ \"any\" : [1.50] },"
	"\"nullStr\":\"\",\"nullFlag\":false,\"nullI32\":0,\"nullI64\":0,\"nullMessage\":{},"
	"\"nullScalar\":\"0C\","
	"\"nullRaw\":\"r\",\"strList\":[\"a\",\"\",\"b\"],\"flagList\":[true,false],\"i32List\":[1,"
	"-1],"
	"\"i64List\":[4294967296],\"messageList\":[{},{\"name\":\"m\",\"tags\":[\"t\"]}],"
	"\"scalarList\":[\"1C\",\"2C\"],"
	"\"rawList\":[[],{},0],\"strMap\":{\"\":\"e\",\"a\":\"1\",\"b\":\"\"},\"flagMap\":{\"t\":"
	"true},"
	"\"i32Map\":{\"k\":7},\"i64Map\":{\"k\":-7},\"messageMap\":{\"k\":{\"number\":2}},"
	"\"scalarMap\":{\"k\":\"3C\"},"
	"\"rawMap\":{\"k\":null},\"inText\":\"i\",\"inNumber\":5,\"otherText\":\"o\",\"alwaysStr\":"
	"\"z\","
	"\"alwaysList\":[],\"alwaysNull\":0}";

START_TEST(test_message__round_trip_of_every_type_and_shape)
{
	struct bt_arena arena = {0};
	struct sample value = decode(&arena, full);
	char *text = encode(&value);
	/* a null in a map of raw values is stored as absent, and absent is written as null */
	ck_assert_str_eq(text, full);
	bt_free(text);
	ck_assert_int_eq(value.i32, INT32_MIN);
	ck_assert_int_eq(value.i64, INT64_MAX);
	ck_assert(bt_str_equal_c(value.message.tags.items[0], "x"));
	ck_assert_int_eq(value.scalar.value, 21);
	ck_assert(value.null_str.data != NULL && value.null_str.length == 0);
	ck_assert(value.null_flag.present && !value.null_flag.value);
	ck_assert_ptr_nonnull(value.null_message);
	ck_assert_uint_eq(value.message_list.count, 2);
	ck_assert(bt_str_equal_c(value.message_list.items[1].tags.items[0], "t"));
	ck_assert_ptr_nonnull(value.null_inlined);
	ck_assert(!value.null_inlined->in_number.present);
	ck_assert(value.always_list.present);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__nothing_borrows_the_input)
{
	struct bt_arena arena = {0};
	char *input = bt_strndup(full, sizeof(full) - 1);
	struct sample value = decode(&arena, input);
	memset(input, '#', sizeof(full) - 1);
	bt_free(input);
	char *text = encode(&value);
	ck_assert_str_eq(text, full);
	bt_free(text);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__absent_and_empty)
{
	static const struct {
		const char *json;
		const char *encoded;
	} rows[] = {
		{"{}", "{" ALWAYS},
		{"null", "{" ALWAYS},
		{"{\"unknown\":{\"str\":\"x\"},\"Str\":\"x\",\"STR\":1,\"\":2}", "{" ALWAYS},
		{"{\"str\":\"\",\"flag\":false,\"i32\":0,\"i64\":-0,\"message\":{\"name\":\"\"},"
		 "\"strList\":[],\"strMap\":{}}",
			"{" ALWAYS},
		{"{\"str\":null,\"flag\":null,\"i32\":null,\"message\":null,\"scalar\":null,"
		 "\"raw\":null,\"nullStr\":null,"
		 "\"nullFlag\":null,\"nullI32\":null,\"nullI64\":null,\"nullMessage\":null,"
		 "\"nullScalar\":null,"
		 "\"nullRaw\":null,\"strList\":null,\"messageMap\":null,\"otherText\":null}",
			"{" ALWAYS},
		/* keys are compared after decoding escapes */
		{"{\"\\u0073tr\":\"x\"}", "{\"str\":\"x\"," ALWAYS},
		{"{\"strList\":[null,\"x\"],\"i32List\":[null],\"messageList\":[null],\"strMap\":{"
		 "\"k\":null}}",
			"{\"strList\":[\"\",\"x\"],\"i32List\":[0],\"messageList\":[{}],\"strMap\":"
			"{\"k\":\"\"}," ALWAYS},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_arena arena = {0};
		struct sample value = decode(&arena, rows[i].json);
		char *text = encode(&value);
		ck_assert_msg(strcmp(text, rows[i].encoded) == 0, "%s: %s", rows[i].json, text);
		bt_free(text);
		bt_arena_finish(&arena);
	}
	struct bt_arena arena = {0};
	struct sample value = decode(&arena, "{\"strList\":[],\"strMap\":{},\"i32List\":null}");
	ck_assert(value.str_list.present && value.str_map.present && !value.i32_list.present &&
		!value.i64_list.present);
	ck_assert_ptr_null(decode(&arena, "{\"otherText\":null}").null_str.data);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__duplicates_as_go)
{
	static const struct {
		const char *json;
		const char *encoded;
	} rows[] = {
		{"{\"str\":\"a\",\"str\":\"b\"}", "{\"str\":\"b\"," ALWAYS},
		{"{\"str\":\"a\",\"str\":null}", "{\"str\":\"a\"," ALWAYS},
		{"{\"scalar\":\"1C\",\"scalar\":null}", "{" ALWAYS},
		{"{\"nullStr\":\"a\",\"nullStr\":null}", "{" ALWAYS},
		{"{\"nullI64\":1,\"nullI64\":null}", "{" ALWAYS},
		{"{\"nullMessage\":{},\"nullMessage\":null}", "{" ALWAYS},
		{"{\"strList\":[\"a\"],\"strList\":null}", "{" ALWAYS},
		{"{\"message\":{\"name\":\"a\"},\"message\":{\"number\":1}}",
			"{\"message\":{\"name\":\"a\",\"number\":1}," ALWAYS},
		{"{\"nullMessage\":{\"name\":\"a\"},\"nullMessage\":{\"number\":1}}",
			"{\"nullMessage\":{\"name\":\"a\",\"number\":1}," ALWAYS},
		{"{\"strList\":[\"a\",\"b\"],\"strList\":[\"c\"]}", "{\"strList\":[\"c\"]," ALWAYS},
		{"{\"strMap\":{\"b\":\"1\",\"a\":\"2\"},\"strMap\":{\"c\":\"3\",\"a\":\"4\"}}",
			"{\"strMap\":{\"a\":\"4\",\"b\":\"1\",\"c\":\"3\"}," ALWAYS},
		{"{\"messageMap\":{\"k\":{\"name\":\"x\"},\"k\":{\"number\":3}}}",
			"{\"messageMap\":{\"k\":{\"number\":3}}," ALWAYS},
		{"{\"strMap\":{\"k\":\"x\",\"k\":null}}", "{\"strMap\":{\"k\":\"\"}," ALWAYS},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_arena arena = {0};
		struct sample value = decode(&arena, rows[i].json);
		char *text = encode(&value);
		ck_assert_msg(strcmp(text, rows[i].encoded) == 0, "%s: %s", rows[i].json, text);
		bt_free(text);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_message__error_texts)
{
	static const struct {
		const char *json;
		int code;
		const char *message;
	} rows[] = {
		{"[]", BERTH_ERR_INVALID, "expected object, got array"},
		{"", BERTH_ERR_SYNTAX, "unexpected end of JSON input"},
		{"{\"str\":1}", BERTH_ERR_INVALID, "str: expected string, got number"},
		{"{\"str\":{}}", BERTH_ERR_INVALID, "str: expected string, got object"},
		{"{\"flag\":\"true\"}", BERTH_ERR_INVALID, "flag: expected bool, got string"},
		{"{\"i32\":\"1\"}", BERTH_ERR_INVALID, "i32: expected int32, got string"},
		{"{\"i32\":1.0}", BERTH_ERR_INVALID, "i32: expected int32, got number 1.0"},
		{"{\"i32\":2147483648}", BERTH_ERR_INVALID,
			"i32: expected int32, got number 2147483648"},
		{"{\"nullI32\":-2147483649}", BERTH_ERR_INVALID,
			"nullI32: expected int32, got number -2147483649"},
		{"{\"i64\":9223372036854775808}", BERTH_ERR_INVALID,
			"i64: expected int64, got number 9223372036854775808"},
		{"{\"i64\":1e3}", BERTH_ERR_INVALID, "i64: expected int64, got number 1e3"},
		{"{\"i64\":11111111111111111111111111111111111111111111}", BERTH_ERR_INVALID,
			"i64: expected int64, got number "
			"1111111111111111111111111111111111111111..."},
		{"{\"message\":[]}", BERTH_ERR_INVALID, "message: expected object, got array"},
		{"{\"message\":{\"tags\":[\"a\",2]}}", BERTH_ERR_INVALID,
			"message.tags[1]: expected string, got number"},
		{"{\"messageList\":[{},{},{\"name\":true}]}", BERTH_ERR_INVALID,
			"messageList[2].name: expected string, got bool"},
		{"{\"messageList\":{}}", BERTH_ERR_INVALID,
			"messageList: expected array, got object"},
		{"{\"strMap\":[]}", BERTH_ERR_INVALID, "strMap: expected object, got array"},
		{"{\"strMap\":{\"foo\":1}}", BERTH_ERR_INVALID,
			"strMap[foo]: expected string, got number"},
		{"{\"strMap\":{\"a\\n\xc3\xa9\":1}}", BERTH_ERR_INVALID,
			"strMap[a???]: expected string, got number"},
		{"{\"strMap\":{"
		 "\"0123456789012345678901234567890123456789012345678901234567890123456789\":1}}",
			BERTH_ERR_INVALID,
			"strMap[0123456789012345678901234567890123456789012345678901234567890123..."
			"]:"
			" expected string, got number"},
		{"{\"messageMap\":{\"k\":{\"tags\":[1]}}}", BERTH_ERR_INVALID,
			"messageMap[k].tags[0]: expected string, got number"},
		{"{\"scalar\":\"x\"}", BERTH_ERR_INVALID, "scalar: no degrees: x"},
		{"{\"scalarList\":[\"1C\",1]}", BERTH_ERR_INVALID,
			"scalarList[1]: expected string, got number"},
		{"{\"nullMessage\":{\"name\":1}}", BERTH_ERR_INVALID,
			"nullMessage.name: expected string, got number"},
		{"{\"otherText\":1}", BERTH_ERR_INVALID, "otherText: expected string, got number"},
		{"{\"message\":{\"name\":\"a\" \"b\"}}", BERTH_ERR_SYNTAX,
			"message: invalid character '\"' after object key:value pair"},
		{"{\"other\":{\"deep\":[tru]}}", BERTH_ERR_SYNTAX,
			"other: invalid character ']' in literal true (expecting 'e')"},
		{"{\"raw\":[1,]}", BERTH_ERR_SYNTAX,
			"raw: invalid character ']' looking for beginning of value"},
		{"{\"strList\":[\"a\",]}", BERTH_ERR_SYNTAX,
			"strList: invalid character ']' looking for beginning of value"},
		{"{\"nullMessage\":nil}", BERTH_ERR_SYNTAX,
			"nullMessage: invalid character 'i' in literal null (expecting 'u')"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_arena arena = {0};
		struct sample value;
		struct berth_error err = BERTH_ERROR_INIT;
		int result = decode_str(&arena, bt_str_from(rows[i].json), &value, &err);
		ck_assert_msg(result == rows[i].code, "%s: code %d", rows[i].json, result);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		berth_error_finish(&err);
		ck_assert_int_eq(
			decode_str(&arena, bt_str_from(rows[i].json), &value, NULL), rows[i].code);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_message__truncated_anywhere)
{
	for (size_t length = 0; length + 1 < sizeof(full); length++) {
		struct bt_arena arena = {0};
		struct sample value;
		struct berth_error err = BERTH_ERROR_INIT;
		char *copy = bt_malloc(length);
		memcpy(copy, full, length);
		int result =
			decode_str(&arena, (struct bt_str){copy, (uint32_t)length}, &value, &err);
		ck_assert_msg(result == BERTH_ERR_SYNTAX, "accepted %zu bytes", length);
		ck_assert_ptr_nonnull(
			strstr(berth_error_message(&err), "unexpected end of JSON input"));
		berth_error_finish(&err);
		bt_free(copy);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_message__copy_equal_hash)
{
	struct bt_arena source = {0};
	struct bt_arena target = {0};
	struct sample value = decode(&source, full);
	struct sample copy;
	value.not_in_table = 42;
	bt_message_copy(&sample_message, &copy, &value, &target);
	ck_assert(bt_message_equal(&sample_message, &value, &copy));
	ck_assert_uint_eq(bt_message_hash(&sample_message, 1, &value),
		bt_message_hash(&sample_message, 1, &copy));
	ck_assert_int_eq(copy.not_in_table, 42);
	bt_arena_finish(&source);
	/* the copy must not refer to memory of the source */
	char *text = encode(&copy);
	ck_assert_str_eq(text, full);
	bt_free(text);
	bt_arena_finish(&target);
}
END_TEST

START_TEST(test_message__each_difference_is_seen)
{
	static const struct {
		const char *a;
		const char *b;
	} rows[] = {
		{"{\"str\":\"a\"}", "{\"str\":\"b\"}"},
		{"{\"flag\":true}", "{}"},
		{"{\"i32\":1}", "{\"i32\":2}"},
		{"{\"i64\":1}", "{}"},
		{"{\"message\":{\"number\":1}}", "{}"},
		{"{\"scalar\":\"1C\"}", "{\"scalar\":\"2C\"}"},
		{"{\"raw\":1}", "{\"raw\":1.0}"},
		{"{\"nullStr\":\"\"}", "{}"},
		{"{\"nullFlag\":false}", "{}"},
		{"{\"nullFlag\":false}", "{\"nullFlag\":true}"},
		{"{\"nullI32\":0}", "{}"},
		{"{\"nullI64\":0}", "{}"},
		{"{\"nullMessage\":{}}", "{}"},
		{"{\"nullMessage\":{}}", "{\"nullMessage\":{\"number\":1}}"},
		{"{\"nullScalar\":\"0C\"}", "{}"},
		{"{\"nullRaw\":1}", "{}"},
		{"{\"strList\":[]}", "{}"},
		{"{\"strList\":[\"a\",\"b\"]}", "{\"strList\":[\"ab\"]}"},
		{"{\"flagList\":[true]}", "{\"flagList\":[false]}"},
		{"{\"i32List\":[1,2]}", "{\"i32List\":[2,1]}"},
		{"{\"i64List\":[1]}", "{\"i64List\":[1,1]}"},
		{"{\"messageList\":[{}]}", "{\"messageList\":[{\"name\":\"x\"}]}"},
		{"{\"scalarList\":[\"1C\"]}", "{\"scalarList\":[\"2C\"]}"},
		{"{\"strMap\":{}}", "{}"},
		{"{\"strMap\":{\"a\":\"b\"}}", "{\"strMap\":{\"a\":\"c\"}}"},
		{"{\"strMap\":{\"a\":\"b\"}}", "{\"strMap\":{\"b\":\"b\"}}"},
		{"{\"scalarMap\":{\"a\":\"1C\"}}", "{\"scalarMap\":{\"a\":\"2C\"}}"},
		{"{\"inText\":\"a\"}", "{}"},
		{"{\"otherText\":\"a\"}", "{}"},
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct sample a = decode(&arena, rows[i].a);
		struct sample b = decode(&arena, rows[i].b);
		ck_assert_msg(!bt_message_equal(&sample_message, &a, &b), "%s = %s", rows[i].a,
			rows[i].b);
		ck_assert_msg(!bt_message_equal(&sample_message, &b, &a), "%s = %s", rows[i].b,
			rows[i].a);
		ck_assert_msg(bt_message_hash(&sample_message, 0, &a) !=
				bt_message_hash(&sample_message, 0, &b),
			"hash of %s = hash of %s", rows[i].a, rows[i].b);
		ck_assert(bt_message_equal(&sample_message, &a, &a));
	}
	/* scalars are compared by a function of their type */
	struct sample a = decode(&arena, "{\"scalar\":\"07C\"}");
	struct sample b = decode(&arena, "{\"scalar\":\"7C\"}");
	ck_assert(bt_message_equal(&sample_message, &a, &b));
	ck_assert_uint_eq(
		bt_message_hash(&sample_message, 5, &a), bt_message_hash(&sample_message, 5, &b));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__maps_are_sorted)
{
	struct bt_strbuf json = {0};
	struct bt_arena arena = {0};
	bt_strbuf_append_c(&json, "{\"strMap\":{");
	for (unsigned int i = 0; i < 1000; i++) {
		/* each key occurs twice, in scattered order */
		bt_strbuf_printf(&json, "%s\"k%u\":\"v%u\"", i == 0 ? "" : ",", i * 7919 % 500, i);
	}
	bt_strbuf_append_c(&json, "}}");
	struct sample value = decode(&arena, bt_strbuf_c(&json));
	ck_assert_uint_eq(value.str_map.count, 500);
	for (uint32_t i = 1; i < value.str_map.count; i++) {
		ck_assert_int_lt(
			bt_str_compare(value.str_map.items[i - 1].key, value.str_map.items[i].key),
			0);
	}
	for (unsigned int i = 500; i < 1000; i++) {
		char key[16];
		char expected[16];
		(void)snprintf(key, sizeof(key), "k%u", i * 7919 % 500);
		(void)snprintf(expected, sizeof(expected), "v%u", i);
		const struct bt_str *found = bt_str_map_find(&value.str_map, bt_str_from(key));
		ck_assert(found != NULL && bt_str_equal_c(*found, expected));
	}
	ck_assert_ptr_null(bt_str_map_find(&value.str_map, BT_STR("k")));
	ck_assert_ptr_null(bt_str_map_find(&value.str_map, BT_STR("z")));
	ck_assert_ptr_null(bt_str_map_find(&value.raw_map, BT_STR("")));
	bt_strbuf_finish(&json);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__long_lists)
{
	/* nested lists, long enough for several blocks of scratch memory */
	struct bt_strbuf json = {0};
	struct bt_arena arena = {0};
	bt_strbuf_append_c(&json, "{\"messageList\":[");
	for (unsigned int i = 0; i < 3000; i++) {
		bt_strbuf_printf(&json, "%s{\"number\":%u,\"tags\":[", i == 0 ? "" : ",", i);
		for (unsigned int k = 0; k < i % 50; k++) {
			bt_strbuf_printf(&json, "%s\"t%u\"", k == 0 ? "" : ",", k);
		}
		bt_strbuf_append_c(&json, "]}");
	}
	bt_strbuf_append_c(&json, "]}");
	struct sample value = decode(&arena, bt_strbuf_c(&json));
	ck_assert_uint_eq(value.message_list.count, 3000);
	for (uint32_t i = 0; i < value.message_list.count; i++) {
		const struct sample_inner *inner = &value.message_list.items[i];
		ck_assert_int_eq(inner->number, (int)i);
		ck_assert_uint_eq(inner->tags.count, i % 50);
		for (uint32_t k = 0; k < inner->tags.count; k++) {
			char expected[16];
			(void)snprintf(expected, sizeof(expected), "t%u", k);
			ck_assert(bt_str_equal_c(inner->tags.items[k], expected));
		}
	}
	bt_strbuf_finish(&json);
	bt_arena_finish(&arena);
}
END_TEST

/** Returns head, then piece until the text has at least length bytes, then tail. */
static struct bt_strbuf repeated(
	const char *head, const char *piece, size_t length, const char *tail)
{
	struct bt_strbuf text = {0};
	size_t piece_length = strlen(piece);
	bt_strbuf_reserve(&text, length + 100);
	bt_strbuf_append_c(&text, head);
	while (text.length < length) {
		bt_strbuf_append(&text, piece, piece_length);
	}
	bt_strbuf_append_c(&text, tail);
	return text;
}

static void check_too_large(struct bt_strbuf *json, const char *message_start)
{
	struct bt_arena arena = {0};
	struct sample value;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = decode_str(&arena, bt_strbuf_str(json), &value, &err);
	ck_assert_msg(result == BERTH_ERR_TOO_LARGE, "%s: code %d", message_start, result);
	ck_assert_msg(strncmp(berth_error_message(&err), message_start, strlen(message_start)) == 0,
		"%s", berth_error_message(&err));
	ck_assert_uint_lt(arena.total_bytes, (size_t)600 << 20);
	berth_error_finish(&err);
	bt_arena_finish(&arena);
	bt_strbuf_finish(json);
}

START_TEST(test_message__limits)
{
	size_t too_long = (size_t)BT_JSON_STRING_BYTES_MAX + 100;
	struct bt_strbuf json = repeated(
		"{\"message\":{\"name\":\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", too_long, "\"}}");
	check_too_large(&json, "message.name: string of ");
	json = repeated("{\"raw\":\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", too_long, "\"}");
	check_too_large(&json, "raw: value of ");
	json = repeated("{\"strMap\":{\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", too_long, "\":1}}");
	check_too_large(&json, "strMap: string of ");
	json = repeated("{\"messageList\":[{}", ",{}", 26u << 20, "]}");
	check_too_large(&json, "messageList: list elements and map entries need more than ");
	/* a map field that occurs 50000 times, each with a new key */
	struct bt_strbuf many = {0};
	bt_strbuf_append_c(&many, "{\"str\":\"\"");
	for (unsigned int i = 0; i < 50000; i++) {
		bt_strbuf_printf(&many, ",\"strMap\":{\"%u\":\"\"}", i);
	}
	bt_strbuf_append_c(&many, "}");
	check_too_large(&many, "strMap: list elements and map entries need more than ");
	/* values that are not stored have no size limit, and their names take no memory */
	struct bt_arena arena = {0};
	struct sample value;
	json = repeated("{\"unknown\":\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", too_long, "\"}");
	ck_assert_int_eq(decode_str(&arena, bt_strbuf_str(&json), &value, NULL), 0);
	bt_strbuf_finish(&json);
	json = repeated("{\"", "\\u0061\xff", too_long, "\":0}");
	ck_assert_int_eq(decode_str(&arena, bt_strbuf_str(&json), &value, NULL), 0);
	ck_assert_uint_eq(arena.total_bytes, 0);
	bt_strbuf_finish(&json);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_message__encode_members)
{
	struct bt_arena arena = {0};
	struct sample value = decode(&arena, "{\"str\":\"x\"}");
	struct bt_strbuf out = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &out, 0);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "kind");
	bt_json_write_c(&writer, "Sample");
	bt_message_encode_json_members(&sample_message, &writer, &value);
	bt_json_end_object(&writer);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"kind\":\"Sample\",\"str\":\"x\"," ALWAYS);
	bt_strbuf_finish(&out);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("message", test_message__round_trip_of_every_type_and_shape,
	test_message__nothing_borrows_the_input, test_message__absent_and_empty,
	test_message__duplicates_as_go, test_message__error_texts, test_message__truncated_anywhere,
	test_message__copy_equal_hash, test_message__each_difference_is_seen,
	test_message__maps_are_sorted, test_message__long_lists, test_message__limits,
	test_message__encode_members)
