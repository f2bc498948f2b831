/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of written documents: spec 13 section 14, 11b section 6. */
#include "daemon/write_documents.h"

#include <string.h>

#include "api/object.h"
#include "codec/json_edit.h"
#include "test_main.h"

/** 2026-01-02T03:04:05Z */
#define NOW_NS (INT64_C(1767323045) * 1000000000 + 999999999)

static struct bt_object *object_of(enum bt_kind kind, const char *json)
{
	struct bt_json_reader reader;
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	bt_json_reader_init(&reader, bt_str_from(json));
	int result = bt_object_decode_as(kind, &reader, &object, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	return object;
}

static const struct bt_post_filter_result as_it_is = {0};

/**
 * Checks the document that updates a pod's status. status: JSON of the present status, "" for none;
 * expected NULL: the pod needs no write.
 */
static void check_status(const char *status, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, const char *expected)
{
	struct bt_strbuf json = {0};
	struct bt_strbuf text = {0};
	bt_strbuf_printf(
		&json, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\"},\"status\":%s}", status);
	struct bt_object *pod = object_of(BT_KIND_POD, bt_strbuf_c(&json));
	bool differs = bt_document_pod_status(pod->value, condition, nomination, NOW_NS, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), expected != NULL ? expected : "");
	ck_assert_int_eq(differs, expected != NULL);
	bt_object_release(pod);
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&text);
}

static struct bt_pod_condition unschedulable(const char *message, int64_t generation)
{
	return (struct bt_pod_condition){
		.type = BT_STR("PodScheduled"),
		.status = BT_STR("False"),
		.reason = BT_STR("Unschedulable"),
		.message = bt_str_from(message),
		.observed_generation = generation,
	};
}

#define KNOWN \
	"{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"," \
	"\"message\":\"m\",\"lastTransitionTime\":\"2025-01-01T00:00:00Z\"," \
	"\"observedGeneration\":1}"

START_TEST(test_write_documents__first_condition)
{
	struct bt_pod_condition condition = unschedulable("0/1 nodes are available: ...", 1);
	check_status("{}", &condition, &as_it_is,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,"
		"\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
		"\"message\":\"0/1 nodes are available: ...\",\"observedGeneration\":1,"
		"\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}");
	condition.message = BT_STR("a < b & c > \"d\"");
	condition.observed_generation = 0;
	check_status("{}", &condition, &as_it_is,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,"
		"\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
		"\"message\":\"a \\u003c b \\u0026 c \\u003e \\\"d\\\"\","
		"\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}");
}
END_TEST

START_TEST(test_write_documents__changed_message)
{
	struct bt_pod_condition condition = unschedulable("0/2 ...", 1);
	check_status("{\"conditions\":[" KNOWN "]}", &condition, &as_it_is,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],"
		"\"conditions\":[{\"message\":\"0/2 ...\",\"type\":\"PodScheduled\"}]}}");
}
END_TEST

START_TEST(test_write_documents__one_beside_others)
{
	struct bt_pod_condition condition = unschedulable("m", 2);
	check_status("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}", &condition,
		&as_it_is,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Ready\"},"
		"{\"type\":\"PodScheduled\"}],\"conditions\":[{\"lastProbeTime\":null,"
		"\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"message\":\"m\","
		"\"observedGeneration\":2,\"reason\":\"Unschedulable\",\"status\":\"False\","
		"\"type\":\"PodScheduled\"}]}}");
}
END_TEST

START_TEST(test_write_documents__edge_11b_31_generation_alone)
{
	struct bt_pod_condition condition = unschedulable("m", 7);
	check_status("{\"conditions\":[" KNOWN "]}", &condition, &as_it_is, NULL);
	/*
	 * A changed generation alone causes no write; if there is another difference, the new
	 * generation is written, too.
	 */
	condition.message = BT_STR("n");
	check_status("{\"conditions\":[" KNOWN "]}", &condition, &as_it_is,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],"
		"\"conditions\":[{\"message\":\"n\",\"observedGeneration\":7,"
		"\"type\":\"PodScheduled\"}]}}");
}
END_TEST

START_TEST(test_write_documents__edge_11b_32_condition_was_true)
{
	struct bt_pod_condition condition = unschedulable("m", 0);
	check_status("{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\","
		     "\"lastTransitionTime\":\"2025-01-01T00:00:00Z\"}]}",
		&condition, &as_it_is,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],"
		"\"conditions\":[{\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
		"\"message\":\"m\",\"reason\":\"Unschedulable\",\"status\":\"False\","
		"\"type\":\"PodScheduled\"}]}}");
}
END_TEST

START_TEST(test_write_documents__edge_11b_33_nomination_cleared)
{
	struct bt_pod_condition condition = unschedulable("m", 1);
	struct bt_post_filter_result clear = {true, BT_NOMINATING_OVERRIDE, BT_STR("")};
	check_status("{\"nominatedNodeName\":\"n1\",\"conditions\":[" KNOWN "]}", &condition,
		&clear, "{\"status\":{\"nominatedNodeName\":null}}");
	check_status("{\"conditions\":[" KNOWN "]}", &condition, &clear, NULL);
}
END_TEST

START_TEST(test_write_documents__edge_13_33_nothing_changes)
{
	struct bt_post_filter_result same = {true, BT_NOMINATING_OVERRIDE, BT_STR("n1")};
	struct bt_post_filter_result no_op = {true, BT_NOMINATING_NOOP, BT_STR("n2")};
	check_status("{\"nominatedNodeName\":\"n1\"}", NULL, &same, NULL);
	check_status("{\"nominatedNodeName\":\"n1\"}", NULL, &no_op, NULL);
	check_status("{\"nominatedNodeName\":\"n1\"}", NULL, &as_it_is, NULL);
	same.nominated_node_name = BT_STR("n2");
	check_status("{\"nominatedNodeName\":\"n1\"}", NULL, &same,
		"{\"status\":{\"nominatedNodeName\":\"n2\"}}");
}
END_TEST

START_TEST(test_write_documents__condition_and_nomination)
{
	struct bt_pod_condition condition = unschedulable("m", 0);
	struct bt_post_filter_result nomination = {true, BT_NOMINATING_OVERRIDE, BT_STR("wn2")};
	check_status("{}", &condition, &nomination,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,"
		"\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"message\":\"m\","
		"\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}],"
		"\"nominatedNodeName\":\"wn2\"}}");
}
END_TEST

static const struct bt_pod_info bound_pod = {
	.name = BT_STR_INIT("s1"),
	.namespace_ = BT_STR_INIT("wire"),
	.uid = BT_STR_INIT("22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc"),
};

START_TEST(test_write_documents__binding)
{
	static const char expected[] =
		"k8s\0\x0a\x0d\x0a\x02v1\x12\x07"
		"Binding\x12\x3f\x0a\x30\x0a\x02s1\x1a\x04wire\x2a\x24"
		"22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\x12\x0b\x0a\x04Node\x1a\x03wn1"
		"\x1a\x00\x22";
	struct bt_strbuf text = {0};
	bt_document_binding_protobuf(&bound_pod, BT_STR("wn1"), &text);
	ck_assert_uint_eq(text.length, sizeof(expected));
	ck_assert_mem_eq(text.data, expected, sizeof(expected));
	bt_strbuf_reset(&text);
	bt_document_binding_json(&bound_pod, BT_STR("wn1"), &text);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s1\","
		"\"namespace\":\"wire\",\"uid\":\"22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\"},"
		"\"target\":{\"kind\":\"Node\",\"name\":\"wn1\"}}");
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_write_documents__binding_with_long_names)
{
	char name[254];
	struct bt_strbuf text = {0};
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	struct bt_pod_info pod = bound_pod;
	pod.name = bt_str_from(name);
	bt_document_binding_protobuf(&pod, bt_str_from(name), &text);
	/*
	 * Object sizes: metadata 3+253 + 2+4 + 2+36 = 300; target 2+4 + 3+253 = 262; each after 3
	 * bytes of header.
	 */
	static const char head[] = "\x12\xb8\x04\x0a\xac\x02\x0a\xfd\x01";
	ck_assert_mem_eq(text.data + 19, head, sizeof(head) - 1);
	ck_assert_uint_eq(text.length, 19 + 3 + 568 + 4);
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_write_documents__deletion)
{
	static const char expected[] = "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
				       "DeleteOptions\x12\x00\x1a\x00\x22";
	ck_assert_uint_eq(bt_document_delete_protobuf.length, sizeof(expected));
	ck_assert_mem_eq(bt_document_delete_protobuf.data, expected, sizeof(expected));
}
END_TEST

START_TEST(test_write_documents__volume)
{
	struct bt_object *volume = object_of(BT_KIND_PERSISTENT_VOLUME,
		"{\"metadata\":{\"name\":\"pv1\",\"annotations\":{"
		"\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"claimRef\":{"
		"\"namespace\":\"wire\",\"name\":\"c-local\",\"uid\":\"u\","
		"\"resourceVersion\":\"334\"}}}");
	struct bt_object *unbound =
		object_of(BT_KIND_PERSISTENT_VOLUME, "{\"metadata\":{\"name\":\"pv1\"}}");
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_json_parse(&arena,
				 BT_STR("{\"metadata\":{\"name\":\"pv1\"},\"spec\":{\"x\":1}}"),
				 false, &object, &err),
		0);
	bt_document_bind_volume(&arena, object, unbound->value);
	ck_assert_ptr_null(bt_json_find(bt_json_find(object, "spec"), "claimRef"));
	bt_document_bind_volume(&arena, object, volume->value);
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, object);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"{\"metadata\":{\"name\":\"pv1\",\"annotations\":{"
		"\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"x\":1,"
		"\"claimRef\":{\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"wire\","
		"\"name\":\"c-local\",\"uid\":\"u\",\"apiVersion\":\"v1\","
		"\"resourceVersion\":\"334\"}}}");
	object = bt_json_new(&arena, BT_JSON_OBJECT);
	bt_document_select_node(&arena, object, BT_STR(""));
	ck_assert_ptr_null(bt_json_find(object, "metadata"));
	bt_document_select_node(&arena, object, BT_STR("wn1"));
	bt_strbuf_reset(&text);
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, object);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/"
		"selected-node\":\"wn1\"}}}");
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	bt_object_release(volume);
	bt_object_release(unbound);
}
END_TEST

/**
 * Checks the document that sets the condition of a pod group. conditions: JSON list of the present
 * conditions.
 */
static void check_group_status(
	const char *conditions, const struct bt_condition *condition, const char *expected)
{
	struct bt_strbuf json = {0};
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&json,
		"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"schedulingPolicy\":{\"basic\":{}}},"
		"\"status\":{\"conditions\":%s}}",
		conditions);
	struct bt_object *group = object_of(BT_KIND_POD_GROUP, bt_strbuf_c(&json));
	bt_document_pod_group_status(group->value, condition, NOW_NS, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_object_release(group);
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&text);
}

START_TEST(test_write_documents__pod_group)
{
	struct bt_condition condition = {.type = BT_STR("PodGroupScheduled"),
		.status = BT_STR("True"),
		.reason = BT_STR("Scheduled"),
		.message = BT_STR(""),
		.observed_generation = 7};
	check_group_status("[]", &condition,
		"{\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
		"\"message\":\"\",\"observedGeneration\":7,\"reason\":\"Scheduled\","
		"\"status\":\"True\",\"type\":\"PodGroupScheduled\"}]}}");
	check_group_status("[{\"type\":\"PodGroupScheduled\",\"status\":\"False\","
			   "\"reason\":\"Unschedulable\",\"message\":\"m\","
			   "\"lastTransitionTime\":\"2025-01-01T00:00:00Z\"}]",
		&condition,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodGroupScheduled\"}],"
		"\"conditions\":[{\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
		"\"message\":\"\",\"observedGeneration\":7,\"reason\":\"Scheduled\","
		"\"status\":\"True\",\"type\":\"PodGroupScheduled\"}]}}");
	/* The status does not change, so lastTransitionTime stays. */
	condition.message = BT_STR("a < b");
	condition.observed_generation = 0;
	check_group_status(
		"[{\"type\":\"Other\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"\","
		"\"lastTransitionTime\":\"2025-01-01T00:00:00Z\"},"
		"{\"type\":\"PodGroupScheduled\",\"status\":\"True\",\"observedGeneration\":7,"
		"\"reason\":\"Scheduled\",\"message\":\"\","
		"\"lastTransitionTime\":\"2025-01-01T00:00:00Z\"}]",
		&condition,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Other\"},"
		"{\"type\":\"PodGroupScheduled\"}],"
		"\"conditions\":[{\"message\":\"a \\u003c b\",\"observedGeneration\":null,"
		"\"type\":\"PodGroupScheduled\"}]}}");
}
END_TEST

BT_TEST_MAIN("write_documents", test_write_documents__first_condition,
	test_write_documents__changed_message, test_write_documents__one_beside_others,
	test_write_documents__edge_11b_31_generation_alone,
	test_write_documents__edge_11b_32_condition_was_true,
	test_write_documents__edge_11b_33_nomination_cleared,
	test_write_documents__edge_13_33_nothing_changes,
	test_write_documents__condition_and_nomination, test_write_documents__binding,
	test_write_documents__binding_with_long_names, test_write_documents__deletion,
	test_write_documents__volume, test_write_documents__pod_group)
