/* SPDX-License-Identifier: Apache-2.0 */
#include "cli_test.h"

/**
 * Reads the text; returns the error message or "", and sets *out_count to the number of objects.
 */
static const char *message_of(const char *text, struct berth_error *err, uint32_t *out_count)
{
	struct bt_manifests cluster;
	bt_manifests_init(&cluster);
	int result = bt_manifests_read_text(&cluster, "f", bt_str_from(text), err);
	ck_assert_int_eq(result == 0, berth_error_message(err)[0] == '\0');
	*out_count = cluster.objects.count;
	bt_manifests_finish(&cluster);
	return berth_error_message(err);
}

#define POD(name) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\"}}"

START_TEST(test_input__accepted_forms)
{
	static const struct {
		const char *name;
		const char *text;
		uint32_t count;
	} rows[] = {
		{"empty", "", 0},
		{"one JSON object", POD("a"), 1},
		{"JSON lines", POD("a") "\n" POD("b") "\n\n" POD("c") "\n", 3},
		{"JSON without blanks between", POD("a") POD("b"), 2},
		{"JSON documents with separators", POD("a") "\n---\n" POD("b") "\n", 2},
		{"byte order mark", "\xef\xbb\xbf" POD("a"), 1},
		{"List, kind last",
			"{\"apiVersion\":\"v1\",\"items\":[" POD("a") "," POD(
				"b") "],\"kind\":\"List\"}",
			2},
		{"typed list",
			"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{\"metadata\":{"
			"\"name\":\"a\"}}]}",
			1},
		{"unknown kinds", "{\"kind\":\"Ingress\",\"apiVersion\":\"networking.k8s.io/v1\"}",
			0},
		{"YAML documents",
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n# nothing\n---\n"
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n",
			2},
		{"YAML list",
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  "
			"metadata: {name: node}\n",
			1},
		{"kinds that play no part", "apiVersion: v1\nkind: Event\nmetadata: {name: e}\n",
			0},
		{"generateName", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", 1},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		uint32_t count;
		const char *message = message_of(rows[i].text, &err, &count);
		ck_assert_msg(message[0] == '\0', "%s: %s", rows[i].name, message);
		ck_assert_msg(count == rows[i].count, "%s: %u objects", rows[i].name, count);
	}
}
END_TEST

START_TEST(test_input__messages)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{POD("a") "\n{\"kind\":\"Pod\"",
			"f: document 2: line 2: unexpected end of JSON input"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"d\","
		 "\"name\":\"w\"},"
		 "\"spec\":{\"containers\":[{},{\"image\":3}]}}",
			"f: document 1: Pod d/w: spec.containers[1].image: expected string, got "
			"number"},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n"
		 "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: [x]}\n",
			"f: document 2: Pod b: spec.nodeName: expected string, got array"},
		{"apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {capacity: {cpu: "
		 "1x}}\n",
			"f: document 1: Node node: status.capacity[cpu]: quantities must match the "
			"regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{}]}",
			"f: document 1: items[0]: Pod: metadata.name: name or generateName is "
			"required"},
		{"{\"a\":1}", "f: document 1: object has no kind"},
		{"[1]", "f: document 1: expected object, got array"},
		{"just text",
			"f: document 1: expected object, got string: a manifest begins "
			"with apiVersion and kind"},
		{"<html>",
			"f: this is a page of a web site or XML, not a manifest in YAML or JSON"},
		{"a:\n\t- b",
			"f: document 1: yaml: line 2: found character that cannot start any "
			"token (if it is a tab: indent with blanks)"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		uint32_t count;
		ck_assert_str_eq(message_of(rows[i].text, &err, &count), rows[i].message);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_input__long_name)
{
	struct bt_strbuf text = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t count;
	bt_strbuf_append_c(
		&text, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"");
	for (int i = 0; i < 254; i++) {
		bt_strbuf_append_char(&text, 'a');
	}
	bt_strbuf_append_c(&text, "\"}}");
	ck_assert(
		strstr(message_of(bt_strbuf_c(&text), &err, &count), "at most 253 bytes") != NULL);
	berth_error_finish(&err);
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_input__later_object_replaces_earlier)
{
	struct bt_manifests cluster;
	struct bt_strbuf warnings = {0};
	bt_manifests_init(&cluster);
	cluster.warn = collect_warning;
	cluster.warn_context = &warnings;
	read_text(&cluster,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: one}\n---\n"
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: other}\n---\n"
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: default}\n"
		"spec: {nodeName: two}\n");
	ck_assert_uint_eq(cluster.objects.count, 2);
	const struct bt_pod *pod = bt_object_value(cluster.objects.items[0].object, BT_KIND_POD);
	ck_assert(bt_str_equal_c(pod->spec.node_name, "two"));
	ck_assert_str_eq(bt_strbuf_c(&warnings),
		"test: document 3: Pod default/a replaces the one in test: document 1\n");
	bt_manifests_finish(&cluster);
	bt_strbuf_finish(&warnings);
}
END_TEST

START_TEST(test_input__uids_are_made_up_in_order)
{
	struct bt_manifests cluster;
	bt_manifests_init(&cluster);
	read_text(&cluster, POD("a") POD("b"));
	ck_assert(bt_str_equal_c(
		cluster.objects.items[1].uid, "00000000-0000-4000-8000-000000000002"));
	ck_assert(!cluster.objects.items[1].uid_is_given);
	bt_manifests_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("input", test_input__accepted_forms, test_input__messages, test_input__long_name,
	test_input__later_object_replaces_earlier, test_input__uids_are_made_up_in_order)
