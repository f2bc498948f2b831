/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects read by the field tables of src/api from protobuf bytes are those read from JSON. The
 * bytes are made by the tables of src/schema, which know every field.
 */
#include "test_main.h"

#include "api/node.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/prng.h"
#include "codec/wire.h"
#include "tree.h"

static struct bt_arena arena;
static struct bt_prng prng;

static bool chance(uint32_t of)
{
	return bt_prng_below(&prng, of) == 0;
}

static const char *pick(const char *const *texts, size_t count)
{
	return texts[bt_prng_below(&prng, count)];
}

#define PICK(...) \
	pick((const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void write_object(
	const struct bt_schema_message *message, uint32_t depth, struct bt_strbuf *out);

static void write_value(const struct bt_schema_field *field, uint32_t depth, struct bt_strbuf *out)
{
	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		bt_strbuf_append_c(
			out, PICK("\"\"", "\"a\"", "\"web-7\"", "\"k\\u00e4se \\\"x\\\"\""));
		break;
	case BT_SCHEMA_BOOL:
		bt_strbuf_append_c(out, PICK("true", "false"));
		break;
	case BT_SCHEMA_INT32:
		bt_strbuf_append_c(out, PICK("0", "1", "-1", "2147483647", "-2147483648"));
		break;
	case BT_SCHEMA_INT64:
		bt_strbuf_append_c(
			out, PICK("0", "7", "-1", "9223372036854775807", "-9223372036854775808"));
		break;
	case BT_SCHEMA_BYTES:
		bt_strbuf_append_c(out, PICK("\"\"", "\"AAEC\""));
		break;
	case BT_SCHEMA_QUANTITY:
		bt_strbuf_append_c(out,
			PICK("\"0\"", "\"100m\"", "\"1.5Gi\"", "3", "\"1e3\"",
				"\"123456789012345678901234567890\"", "\"-4n\""));
		break;
	case BT_SCHEMA_INT_OR_STRING:
		bt_strbuf_append_c(out, PICK("0", "-3", "\"25%\"", "\"\""));
		break;
	case BT_SCHEMA_TIME:
		bt_strbuf_append_c(
			out, PICK("null", "\"2026-03-04T05:06:07Z\"", "\"1969-01-01T00:00:00Z\""));
		break;
	case BT_SCHEMA_MICRO_TIME:
		bt_strbuf_append_c(out,
			PICK("null", "\"2026-03-04T05:06:07.000123Z\"",
				"\"1969-01-01T00:00:00.999999Z\""));
		break;
	case BT_SCHEMA_STRING_LIST:
		bt_strbuf_append_c(out, PICK("[]", "[\"a\",\"\"]"));
		break;
	case BT_SCHEMA_RAW_JSON:
		bt_strbuf_append_c(out, PICK("{\"a\":[1,null]}", "null", "7", "\"x\""));
		break;
	case BT_SCHEMA_MESSAGE:
		write_object(field->message, depth + 1, out);
		break;
	}
}

static void write_field(const struct bt_schema_field *field, uint32_t depth, struct bt_strbuf *out)
{
	uint32_t count = (uint32_t)bt_prng_below(&prng, depth > 4 ? 2 : 4);

	/* protobuf has no empty lists, so one that JSON would keep is not made */
	if ((field->flags & (BT_SCHEMA_ALWAYS | BT_SCHEMA_NULLABLE)) != 0 && count == 0) {
		count = 1;
	}
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		write_value(field, depth, out);
		break;
	case BT_SCHEMA_LIST:
		for (uint32_t i = 0; i < count; i++) {
			bt_strbuf_append_char(out, i == 0 ? '[' : ',');
			write_value(field, depth, out);
		}
		bt_strbuf_append_c(out, count == 0 ? "[]" : "]");
		break;
	case BT_SCHEMA_MAP:
		for (uint32_t i = 0; i < count; i++) {
			bt_strbuf_append_char(out, i == 0 ? '{' : ',');
			/* not in order */
			bt_strbuf_printf(out, "\"key%u\":", (unsigned)(count - i) * 7 % 5);
			write_value(field, depth, out);
		}
		bt_strbuf_append_c(out, count == 0 ? "{}" : "}");
		break;
	}
}

static void write_members(
	const struct bt_schema_message *message, uint32_t depth, struct bt_strbuf *out, bool *first)
{
	uint32_t rarity = depth > 12 ? 1000 : depth > 3 ? 3 : depth > 1 ? 2 : 1;

	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if (!chance(rarity)) {
			continue;
		}
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			write_members(field->message, depth, out, first);
			continue;
		}
		bt_strbuf_printf(out, "%s\"%s\":", *first ? "" : ",", field->name);
		*first = false;
		write_field(field, depth, out);
	}
}

static void write_object(
	const struct bt_schema_message *message, uint32_t depth, struct bt_strbuf *out)
{
	bool first = true;

	bt_strbuf_append_char(out, '{');
	write_members(message, depth, out, &first);
	bt_strbuf_append_char(out, '}');
}

static const struct bt_schema_message *schema_of(enum bt_kind kind)
{
	struct bt_strbuf version = {NULL, 0, 0};
	const struct bt_schema_message *message;

	bt_kind_append_api_version(kind, &version);
	message = bt_schema_find(bt_strbuf_str(&version), bt_str_from(bt_kind_info(kind)->name));
	bt_strbuf_finish(&version);
	return message;
}

/** The two forms of one object; false: the schema refused the text. */
static void make_forms(const struct bt_schema_message *schema, const char *text,
	struct bt_str *out_json, struct bt_strbuf *out_bytes)
{
	struct bt_json_value *tree = tree_of(&arena, text);
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_schema_normalise(schema, tree, &arena, NULL, &err) != 0) {
		ck_abort_msg("%s\n%s", berth_error_message(&err), text);
	}
	*out_json = bt_str_from(text_of(&arena, tree));
	bt_strbuf_reset(out_bytes);
	bt_schema_encode_protobuf(schema, tree, out_bytes);
}

static struct bt_object *from_json(enum bt_kind kind, struct bt_str json)
{
	struct bt_json_reader reader;
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	bt_json_reader_init(&reader, json);
	if (bt_object_decode_as(kind, &reader, &object, &err) != 0) {
		ck_abort_msg("%s\n%.*s", berth_error_message(&err), BT_STR_ARG(json));
	}
	return object;
}

static struct bt_object *from_protobuf(enum bt_kind kind, struct bt_str bytes)
{
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_object_decode_protobuf(kind, bytes, &object, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	return object;
}

static const char *shown(const struct bt_object *object)
{
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_json_writer writer;
	const char *result;

	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(object->kind, object->value, &writer);
	result = bt_arena_str(&arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return result;
}

/** "spec.containers": the first field in which they differ, as far down as single messages go. */
static void append_difference(
	const struct bt_message *message, const void *a, const void *b, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		struct bt_message one = {
			.name = "", .size = message->size, .field_count = 1, .fields = field};

		if (bt_message_equal(&one, a, b)) {
			continue;
		}
		bt_strbuf_printf(out, ".%s", field->name);
		if (field->type == BT_FIELD_MESSAGE && field->shape == BT_SHAPE_SINGLE) {
			append_difference(field->message, (const char *)a + field->offset,
				(const char *)b + field->offset, out);
		}
		return;
	}
}

/** Texts go to stderr: they are longer than Check takes. */
static void check_same(enum bt_kind kind, struct bt_str json, struct bt_str bytes)
{
	const struct bt_message *message = bt_kind_info(kind)->message;
	struct bt_object *a = from_json(kind, json);
	struct bt_object *b = from_protobuf(kind, bytes);

	if (!bt_message_equal(message, a->value, b->value)) {
		(void)fprintf(stderr, "source %.*s\njson     %s\nprotobuf %s\n", BT_STR_ARG(json),
			shown(a), shown(b));
		struct bt_strbuf where = {NULL, 0, 0};

		append_difference(message, a->value, b->value, &where);
		ck_abort_msg("%s%s differs", message->name, bt_strbuf_c(&where));
	}
	bt_object_release(a);
	bt_object_release(b);
}

START_TEST(test_object_protobuf__every_kind_as_from_json)
{
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_strbuf bytes = {NULL, 0, 0};
	uint32_t kinds = 0;

	bt_prng_init(&prng, 21);
	for (int kind = 0; kind < BT_KIND__COUNT; kind++) {
		const struct bt_schema_message *schema = schema_of((enum bt_kind)kind);
		if (schema == NULL) {
			continue;
		}
		kinds++;
		for (uint32_t round = 0; round < 200; round++) {
			struct bt_str json;

			bt_arena_reset(&arena);
			bt_strbuf_reset(&text);
			write_object(schema, 0, &text);
			make_forms(schema, bt_strbuf_c(&text), &json, &bytes);
			check_same((enum bt_kind)kind, json, bt_strbuf_str(&bytes));
		}
	}
	/* DeviceTaintRule is the one that the schema does not have. */
	ck_assert_uint_ge(kinds, BT_KIND__COUNT - 1);
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("object_protobuf", test_object_protobuf__every_kind_as_from_json)
