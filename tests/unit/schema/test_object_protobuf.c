/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field tables of src/api must read the same objects from protobuf as from JSON. The tables of
 * src/schema encode the bytes, because they have every field.
 */
#include "test_main.h"

#include "api/node.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/pod_common.h"
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
	case BT_SCHEMA_DURATION:
		bt_strbuf_append_c(out, PICK("\"0s\"", "\"1m30s\"", "\"-1.5s\""));
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

	/* protobuf has no empty lists, so lists that JSON would keep empty get an element */
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
			/* keys that are not sorted */
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

/** Makes JSON and protobuf of one object; fails the test if the schema refuses the text. */
static void make_forms(const struct bt_schema_message *schema, const char *text,
	struct bt_str *out_json, struct bt_strbuf *out_bytes)
{
	struct bt_json_value *tree = tree_of(&arena, text);
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_schema_normalise(schema, tree, false, NULL, &arena, NULL, &err) != 0) {
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

	if (bt_object_decode_protobuf(kind, bytes, NULL, &object, &err) != 0) {
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

/**
 * Appends the path of the first field in which a and b differ, e.g. "spec.containers"; the path
 * enters single messages only.
 */
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

/** Texts go to stderr because they are longer than Check accepts. */
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
	/* Only DeviceTaintRule is missing from the schema. */
	ck_assert_uint_ge(kinds, BT_KIND__COUNT - 1);
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&arena);
}
END_TEST

/* --- forms that the schema never writes --- */

static const struct bt_pod *decoded_pod(
	struct bt_object **out_object, const char *bytes, size_t length)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_object_decode_protobuf(
		BT_KIND_POD, (struct bt_str){bytes, (uint32_t)length}, NULL, out_object, &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	return bt_object_value(*out_object, BT_KIND_POD);
}

#define DECODED(object, bytes) decoded_pod(&(object), "" bytes, sizeof(bytes) - 1)

START_TEST(test_object_protobuf__edge_13_41_unknown_numbers)
{
	struct bt_object *object;
	/* 999 as varint, fixed64, bytes, group and fixed32, in Pod and in ObjectMeta */
	const struct bt_pod *pod = DECODED(object,
		"\xb8\x3e\x07"
		"\xb9\x3e\x01\x02\x03\x04\x05\x06\x07\x08"
		"\x0a\x11\xba\x3e\x02xy\x0a\x04name\xbb\x3e\x08\x01\xbc\x3e"
		"\xbd\x3e\x01\x02\x03\x04");

	ck_assert(bt_str_equal(pod->metadata.name, BT_STR("name")));
	bt_object_release(object);
}
END_TEST

START_TEST(test_object_protobuf__merging_and_repetition)
{
	struct bt_object *object;
	/* metadata twice; labels b, a, then b again; a container before and after another field */
	const struct bt_pod *pod = DECODED(object,
		"\x0a\x05\x0a\x03one"
		"\x0a\x0c\x5a\x06\x0a\x01"
		"b\x12\x01"
		"1\x1a\x02ns"
		"\x12\x05\x12\x03\x0a\x01x"
		"\x0a\x0f\x5a\x03\x0a\x01"
		"a\x5a\x06\x0a\x01"
		"b\x12\x01"
		"2\x0a\x00"
		"\x12\x05\x12\x03\x0a\x01y");

	ck_assert_uint_eq(pod->metadata.name.length, 0); /* the last name in the bytes is "" */
	ck_assert(bt_str_equal(pod->metadata.namespace_, BT_STR("ns")));
	ck_assert_uint_eq(pod->metadata.labels.count, 2);
	ck_assert(bt_str_equal(pod->metadata.labels.items[0].key, BT_STR("a")));
	ck_assert_uint_eq(pod->metadata.labels.items[0].value.length, 0);
	ck_assert(bt_str_equal(pod->metadata.labels.items[1].value, BT_STR("2")));
	ck_assert_uint_eq(pod->spec.containers.count, 2);
	ck_assert(bt_str_equal(pod->spec.containers.items[1].name, BT_STR("y")));
	bt_object_release(object);
}
END_TEST

static void expect_failure(const char *bytes, size_t length, const char *message)
{
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_object_decode_protobuf(
		BT_KIND_POD, (struct bt_str){bytes, (uint32_t)length}, NULL, &object, &err);

	ck_assert_msg(code != 0, "no %s", message);
	ck_assert_str_eq(berth_error_message(&err), message);
	ck_assert_ptr_null(object);
	berth_error_finish(&err);
}

#define FAILS(bytes, message) expect_failure("" bytes, sizeof(bytes) - 1, message)

START_TEST(test_object_protobuf__broken_bytes)
{
	FAILS("\x0a\x03\x0a\x01n\x12\x05\x12\x03\x0a\x09n",
		"Pod n: spec.containers[0].name: unexpected EOF");
	FAILS("\x0a\x05\x0a\x01n\x1a\x00\x12\x02\x12\x05",
		"Pod n: spec.containers: unexpected EOF");
	FAILS("\x0a\x04\x0a\x02x\x01\x08\x01", "Pod x?: metadata: proto: wrong wireType = 0");
	FAILS("\x0a\x02\x0a", "Pod: metadata: unexpected EOF");
	FAILS("\x0e", "Pod: metadata: proto: wrong wireType = 6");
	FAILS("\x02\x00", "Pod: proto: illegal tag 0");
	FAILS("\x0a\x09\x42\x07\x08\xff\xff\xff\xff\xff\x7f",
		"Pod: metadata.creationTimestamp: "
		"time out of range");
	FAILS("\x0a\x04\x5a\x02\x0a\x07", "Pod: metadata.labels: unexpected EOF");
}
END_TEST

START_TEST(test_object_protobuf__hostile_bytes)
{
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_strbuf bytes = {NULL, 0, 0};
	uint32_t understood = 0;

	bt_prng_init(&prng, 22);
	for (uint32_t round = 0; round < 20000; round++) {
		struct bt_object *object = NULL;
		struct bt_str json;

		if (round % 5 == 0) {
			bt_arena_reset(&arena);
			bt_strbuf_reset(&text);
			write_object(schema_of(BT_KIND_POD), 0, &text);
			make_forms(schema_of(BT_KIND_POD), bt_strbuf_c(&text), &json, &bytes);
		}
		if (bytes.length == 0) {
			continue;
		}
		bytes.data[bt_prng_below(&prng, bytes.length)] = (char)bt_prng_below(&prng, 256);
		if (bt_object_decode_protobuf(
			    BT_KIND_POD, bt_strbuf_str(&bytes), NULL, &object, NULL) == 0) {
			understood++;
			bt_object_release(object);
		}
	}
	ck_assert_uint_gt(understood, 1000);
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&arena);
}
END_TEST

/* Two lists whose elements alternate are copied again and again: decoding must still end soon. */
START_TEST(test_object_protobuf__costly_repetition)
{
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	size_t spec = bt_wire_open(&bytes, 2);

	for (uint32_t i = 0; i < 200000; i++) {
		bt_strbuf_append(&bytes, "\x12\x00\x0a\x00", 4);
	}
	bt_wire_close(&bytes, spec);
	ck_assert_int_eq(
		bt_object_decode_protobuf(BT_KIND_POD, bt_strbuf_str(&bytes), NULL, &object, &err),
		BERTH_ERR_TOO_LARGE);
	ck_assert_str_eq(berth_error_message(&err),
		"Pod: spec.containers: list elements and map entries need more than 268435456 "
		"bytes");
	berth_error_finish(&err);
	bt_strbuf_finish(&bytes);
}
END_TEST

START_TEST(test_object_protobuf__a_pod_takes_two_kilobytes)
{
	static const char pod[] =
		"{\"metadata\":{\"name\":\"web-7d4b9c6f5d-abcde\",\"generateName\":"
		"\"web-7d4b9c6f5d-\",\"namespace\":\"default\",\"uid\":"
		"\"22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\",\"resourceVersion\":\"123456\","
		"\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"7d4b9c6f5d\"},"
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":"
		"\"web-7d4b9c6f5d\",\"uid\":\"32fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\","
		"\"controller\":true}]},\"spec\":{\"volumes\":[{\"name\":\"kube-api-access\","
		"\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"kube-root-ca.crt\"}}]}}],"
		"\"containers\":[{\"name\":\"web\",\"image\":\"registry.k8s.io/pause:3.9\","
		"\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":"
		"{\"cpu\":\"200m\",\"memory\":\"500Mi\"},\"requests\":{\"cpu\":\"100m\","
		"\"memory\":\"250Mi\"}},\"volumeMounts\":[{\"name\":\"kube-api-access\","
		"\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}]}],"
		"\"schedulerName\":\"default-scheduler\",\"tolerations\":[{\"key\":"
		"\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
		"\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\","
		"\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
		"\"priority\":0},\"status\":{\"phase\":\"Pending\"}}";
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_object *object;
	struct bt_str json;

	make_forms(schema_of(BT_KIND_POD), pod, &json, &bytes);
	object = from_protobuf(BT_KIND_POD, bt_strbuf_str(&bytes));
	check_same(BT_KIND_POD, json, bt_strbuf_str(&bytes));
	/* the red zones of AddressSanitizer are not counted */
	ck_assert(BT_HAVE_ASAN || bt_object_bytes(object) < 2000);
	bt_object_release(object);
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&arena);
}
END_TEST

/* --- parts that pods share --- */

/** Decodes the object with shared parts and compares it with the object decoded without sharing. */
static struct bt_object *check_sharing(struct bt_pod_commons *commons, struct bt_str bytes)
{
	struct bt_object *alone = from_protobuf(BT_KIND_POD, bytes);
	struct bt_object *object = NULL;

	ck_assert_int_eq(bt_object_decode_protobuf(BT_KIND_POD, bytes, commons, &object, NULL), 0);
	if (!bt_message_equal(&bt_pod_message, alone->value, object->value)) {
		(void)fprintf(stderr, "alone   %s\nsharing %s\n", shown(alone), shown(object));
		ck_abort_msg("sharing changes a pod");
	}
	bt_object_release(alone);
	return object;
}

#define LIKE_PODS 8

/** Appends metadata.name to a pod's bytes; the last name counts. number: below 100. */
static void append_name(struct bt_strbuf *bytes, uint32_t number)
{
	const char field[] = {
		0x0a, 4, 0x0a, 2, (char)('0' + number / 10), (char)('0' + number % 10)};

	bt_strbuf_append_str(bytes, (struct bt_str){field, sizeof(field)});
}

/*
 * An object stays valid when its shared part is forgotten. A shared part stays valid when its
 * objects are released.
 */
START_TEST(test_object_protobuf__any_pods_sharing)
{
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_pod_commons commons = {0};
	struct bt_object *kept[64] = {NULL};
	size_t length = 0; /* length of `bytes` before append_name */
	uint32_t shared = 0;

	bt_prng_init(&prng, 23);
	for (uint32_t round = 0; round < 4000; round++) {
		struct bt_object **place = &kept[bt_prng_below(&prng, BT_ARRAY_LENGTH(kept))];
		struct bt_str json;

		if (round % LIKE_PODS == 0) {
			bt_arena_reset(&arena);
			bt_strbuf_reset(&text);
			write_object(schema_of(BT_KIND_POD), 0, &text);
			make_forms(schema_of(BT_KIND_POD), bt_strbuf_c(&text), &json, &bytes);
			length = bytes.length;
		}
		bytes.length = length;
		append_name(&bytes, round % LIKE_PODS);
		bt_object_release(*place);
		*place = check_sharing(&commons, bt_strbuf_str(&bytes));
		shared += (*place)->common != NULL;
		if (chance(500)) {
			bt_pod_commons_finish(&commons);
		}
	}
	/*
	 * all pods share, except the first pod of each kind and pods whose shared part was
	 * forgotten
	 */
	ck_assert_uint_ge(shared, 4000 / LIKE_PODS * (LIKE_PODS - 1) - 20);
	bt_pod_commons_finish(&commons);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(kept); i++) {
		bt_object_release(kept[i]);
	}
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&arena);
}
END_TEST

static struct bt_object *like(struct bt_pod_commons *commons, const char *text)
{
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_object *object;
	struct bt_str json;

	make_forms(schema_of(BT_KIND_POD), text, &json, &bytes);
	object = check_sharing(commons, bt_strbuf_str(&bytes));
	bt_strbuf_finish(&bytes);
	return object;
}

#define POD_OF(name, node, volume, image) \
	"{\"metadata\":{\"name\":\"" name \
	"\",\"namespace\":\"ns\"},\"spec\":{\"nodeName\":\"" node \
	"\",\"volumes\":[{\"name\":\"" volume \
	"\"}],\"containers\":[{\"name\":\"c\",\"image\":\"" image "\"}]}}"

START_TEST(test_object_protobuf__what_pods_share)
{
	struct bt_pod_commons commons = {0};
	struct bt_object *first = like(&commons, POD_OF("a", "", "v1", "i"));
	struct bt_object *second = like(&commons, POD_OF("b", "", "v2", "i"));
	struct bt_object *third = like(&commons, POD_OF("a", "n1", "v1", "i"));
	struct bt_object *other = like(&commons, POD_OF("c", "", "v3", "j"));
	const struct bt_pod *a = bt_object_value(second, BT_KIND_POD);
	const struct bt_pod *b = bt_object_value(third, BT_KIND_POD);

	ck_assert_ptr_null(first->common); /* the first pod found nothing to share */
	ck_assert_ptr_nonnull(second->common);
	ck_assert_ptr_eq(second->common, third->common);
	ck_assert_ptr_null(other->common);
	ck_assert_ptr_eq(a->spec.containers.items, b->spec.containers.items);
	ck_assert_ptr_eq(a->metadata.namespace_.data, b->metadata.namespace_.data);
	ck_assert(bt_str_equal(b->spec.node_name, BT_STR("n1")));
	ck_assert(bt_str_equal(a->spec.volumes.items[0].name, BT_STR("v2")));
	bt_object_release(second);
	bt_pod_commons_finish(&commons);
	ck_assert(bt_str_equal(b->spec.containers.items[0].image, BT_STR("i")));
	bt_object_release(first);
	bt_object_release(third);
	bt_object_release(other);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("object_protobuf", test_object_protobuf__every_kind_as_from_json,
	test_object_protobuf__edge_13_41_unknown_numbers,
	test_object_protobuf__merging_and_repetition, test_object_protobuf__broken_bytes,
	test_object_protobuf__hostile_bytes, test_object_protobuf__costly_repetition,
	test_object_protobuf__a_pod_takes_two_kilobytes, test_object_protobuf__any_pods_sharing,
	test_object_protobuf__what_pods_share)
