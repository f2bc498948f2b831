/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 01 sections 2 to 4. */
#include "berth/object.h"

#include <stddef.h>

#include "test_main.h"

#define POD_JSON \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"," \
	"\"namespace\":\"shop\",\"uid\":\"u1\",\"resourceVersion\":\"7\"," \
	"\"labels\":{\"app\":\"web\",\"empty\":\"\"},\"annotations\":{\"note\":\"x\"}}," \
	"\"spec\":{\"nodeName\":\"n1\",\"priority\":5,\"schedulerName\":\"s\"}," \
	"\"status\":{\"nominatedNodeName\":\"n2\"}}"

#define CHECK_TEXT(text, expected) \
	do { \
		struct berth_str checked = (text); \
		ck_assert_msg(berth_str_equal_c(checked, (expected)), "\"%.*s\" is not \"%s\"", \
			BERTH_STR_ARG(checked), (expected)); \
	} while (0)

static struct berth_object *decode(struct berth_str text)
{
	struct berth_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_object_decode(text, &object, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	return object;
}

/* seed-map 001.135, 001.137 */
START_TEST(test_object__pod)
{
	struct berth_object *object = decode(BERTH_STR(POD_JSON));
	const struct berth_pod *pod = berth_object_pod(object);

	ck_assert_str_eq(berth_object_kind(object), "Pod");
	ck_assert_ptr_nonnull(pod);
	ck_assert_ptr_null(berth_object_node(object));
	CHECK_TEXT(berth_object_name(object), "web");
	CHECK_TEXT(berth_object_namespace(object), "shop");
	CHECK_TEXT(berth_object_uid(object), "u1");
	CHECK_TEXT(berth_object_resource_version(object), "7");
	CHECK_TEXT(berth_object_label(object, BERTH_STR("app")), "web");
	CHECK_TEXT(berth_object_annotation(object, BERTH_STR("note")), "x");
	ck_assert_ptr_null(berth_object_label(object, BERTH_STR("none")).data);
	ck_assert(!berth_object_is_terminating(object));
	CHECK_TEXT(berth_pod_name(pod), "web");
	CHECK_TEXT(berth_pod_namespace(pod), "shop");
	CHECK_TEXT(berth_pod_uid(pod), "u1");
	CHECK_TEXT(berth_pod_label(pod, BERTH_STR("app")), "web");
	ck_assert_ptr_nonnull(berth_pod_label(pod, BERTH_STR("empty")).data);
	ck_assert_ptr_null(berth_pod_label(pod, BERTH_STR("none")).data);
	CHECK_TEXT(berth_pod_annotation(pod, BERTH_STR("note")), "x");
	CHECK_TEXT(berth_pod_node_name(pod), "n1");
	CHECK_TEXT(berth_pod_nominated_node_name(pod), "n2");
	CHECK_TEXT(berth_pod_scheduler_name(pod), "s");
	ck_assert_int_eq(berth_pod_priority(pod), 5);
	ck_assert_ptr_eq(berth_object_share(object), object);
	berth_object_release(object);
	CHECK_TEXT(berth_pod_name(pod), "web");
	berth_object_release(object);
	berth_object_release(NULL);
}
END_TEST

/** YAML contains JSON, and only the reader of YAML skips the mark. */
START_TEST(test_object__byte_order_mark)
{
	static const char *const texts[] = {
		"\xEF\xBB\xBF" POD_JSON,
		"\xEF\xBB\xBF"
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct berth_object *object = decode(berth_str_from(texts[i]));

		CHECK_TEXT(berth_object_name(object), "web");
		berth_object_release(object);
	}
}
END_TEST

START_TEST(test_object__node_from_yaml)
{
	struct berth_object *object = decode(
		BERTH_STR("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels: {a: b}\n"
			  "  annotations: {c: d}\nspec: {unschedulable: true}\n"));
	const struct berth_node *node = berth_object_node(object);

	ck_assert_ptr_nonnull(node);
	ck_assert_ptr_null(berth_object_pod(object));
	CHECK_TEXT(berth_node_name(node), "n1");
	CHECK_TEXT(berth_node_label(node, BERTH_STR("a")), "b");
	CHECK_TEXT(berth_node_annotation(node, BERTH_STR("c")), "d");
	ck_assert(berth_node_unschedulable(node));
	berth_object_release(object);
}
END_TEST

START_TEST(test_object__errors)
{
	static const struct {
		struct berth_str text;
		int code;
	} rows[] = {
		{{"{", 1}, BERTH_ERR_SYNTAX},
		{{"[1]", 3}, BERTH_ERR_INVALID},
		{{"a: [", 4}, BERTH_ERR_SYNTAX},
		{{"", 0}, BERTH_ERR_INVALID},
		{{"{\"apiVersion\":\"v9\",\"kind\":\"Thing\"}", 34}, BERTH_ERR_NOT_FOUND},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_object *object = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		int result = berth_object_decode(rows[i].text, &object, &err);

		ck_assert_msg(result == rows[i].code, "row %zu: %d %s", i, result,
			berth_error_message(&err));
		ck_assert_ptr_null(object);
		ck_assert_str_ne(berth_error_message(&err), "");
		berth_error_finish(&err);
	}
}
END_TEST

struct taken {
	int count;
	int stop_at;
};

static int take(void *context, struct berth_object *object, struct berth_error *err)
{
	struct taken *taken = context;

	berth_object_release(object);
	taken->count++;
	if (taken->count == taken->stop_at) {
		return berth_error_set(err, BERTH_ERR_STATE, "enough");
	}
	return 0;
}

START_TEST(test_object__lists_and_streams)
{
	struct taken taken = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_str stream = BERTH_STR("kind: Node\napiVersion: v1\n---\n"
					    "kind: List\napiVersion: v1\nitems:\n"
					    "- {kind: Pod, apiVersion: v1}\n"
					    "- {kind: Thing, apiVersion: x/v1}\n"
					    "- {kind: Pod, apiVersion: v1}\n");

	ck_assert_int_eq(berth_object_decode_each(stream, take, &taken, &err), 0);
	ck_assert_int_eq(taken.count, 3);
	taken = (struct taken){.stop_at = 2};
	ck_assert_int_eq(berth_object_decode_each(stream, take, &taken, &err), BERTH_ERR_STATE);
	ck_assert_int_eq(taken.count, 2);
	ck_assert_str_eq(berth_error_message(&err), "items[0]: enough");
	berth_error_finish(&err);
	taken = (struct taken){0};
	ck_assert_int_eq(berth_object_decode_each(BERTH_STR(POD_JSON " x"), take, &taken, &err),
		BERTH_ERR_SYNTAX);
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("lib_object", test_object__pod, test_object__byte_order_mark,
	test_object__node_from_yaml, test_object__errors, test_object__lists_and_streams)
