/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/manifests.h"

#include "cli_test.h"

#define POD(spec) \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: " spec "\n"
#define DEPLOYMENT(spec) \
	"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: " spec "\n"
#define OF_POD "test: document 1: Pod shop/web: "
#define OF_DEPLOYMENT "test: document 1: Deployment default/web: "

/** Reads the text and appends its warnings to out, a line each; the text may be invalid. */
static void read_warning(const char *text, struct bt_strbuf *out)
{
	struct bt_manifests cluster;
	bt_manifests_init(&cluster);
	cluster.warn = collect_warning;
	cluster.warn_context = out;
	int result = bt_manifests_read_text(&cluster, "test", bt_str_from(text), NULL);
	ck_assert(result == 0 || result == BERTH_ERR_INVALID);
	bt_manifests_finish(&cluster);
}

static const struct {
	const char *name;
	const char *text;
	const char *warnings;
} rows[] = {
	{"all is well",
		POD("{nodeSelector: {a: b}, tolerations: [{key: a}], containers: [{name: c}]}"),
		""},
	{"misspelt", POD("{nodeSelektor: {a: b}}"),
		OF_POD "unknown field \"spec.nodeSelektor\"; did you mean \"nodeSelector\"?\n"},
	{"other letters", POD("{nodeselector: {a: b}}"),
		OF_POD "unknown field \"spec.nodeselector\"; did you mean \"nodeSelector\"?\n"},
	{"in a list", POD("{containers: [{name: c}, {name: d, resource: {}}]}"),
		OF_POD "unknown field \"spec.containers[1].resource\"; did you mean "
		       "\"resources\"?\n"},
	{"like nothing", POD("{frobnicate: 1}"), OF_POD "unknown field \"spec.frobnicate\"\n"},
	{"too high", POD("{}") "tolerations: [{key: a}]\n",
		OF_POD "unknown field \"tolerations\"; did you mean \"spec.tolerations\"?\n"},
	{"too deep", POD("{containers: [{name: c, nodeSelector: {a: b}}]}"),
		OF_POD "unknown field \"spec.containers[0].nodeSelector\"; did you mean "
		       "\"spec.nodeSelector\"?\n"},
	{"beside", POD("{labels: {a: b}}"),
		OF_POD "unknown field \"spec.labels\"; did you mean \"metadata.labels\"?\n"},
	{"of the template", DEPLOYMENT("{tolerations: [{key: a}]}"),
		OF_DEPLOYMENT "unknown field \"spec.tolerations\"; did you mean "
			      "\"spec.template.spec.tolerations\"?\n"},
	{"refused for it", DEPLOYMENT("{tempalte: {spec: {containers: [{name: c}]}}}"),
		OF_DEPLOYMENT "unknown field \"spec.tempalte\"; did you mean \"template\"?\n"},
	{"the nearest one", DEPLOYMENT("{template: {labels: {a: b}}}"),
		OF_DEPLOYMENT "unknown field \"spec.template.labels\"; did you mean "
			      "\"spec.template.metadata.labels\"?\n"},
	{"member of an inline message",
		POD("{volumes: [{name: v, persistentVolumeClame: {claimName: c}}]}"),
		OF_POD "unknown field \"spec.volumes[0].persistentVolumeClame\"; did you mean "
		       "\"persistentVolumeClaim\"?\n"},
	{"without a name", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: w-}\nspcc: {}\n",
		"test: document 1: Pod default/w-: unknown field \"spcc\"; did you mean \"spec\"?"
		"\n"},
	{"cluster-scoped",
		"apiVersion: v1\nkind: Node\nmetadata: {name: node}\nspec: {taint: []}\n",
		"test: document 1: Node node: unknown field \"spec.taint\"; did you mean "
		"\"taints\"?"
		"\n"},
	{"second document", POD("{}") "---\n" DEPLOYMENT("{replica: 3}"),
		"test: document 2: Deployment default/web: unknown field \"spec.replica\"; did "
		"you mean \"replicas\"?\n"},
	{"JSON twice",
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\","
		"\"labels\":{\"a\":\"1\",\"a\":\"2\"}},\"spec\":{\"podCIDR\":\"\",\"podCIDR\":"
		"\"x\"}}",
		"test: document 1: Node n: duplicate field \"metadata.labels.a\"\n"
		"test: document 1: Node n: duplicate field \"spec.podCIDR\"\n"},
	{"hostile name", POD("{\"a\\e[31m\": 1}"), OF_POD "unknown field \"spec.a\\x1b[31m\"\n"},
	{"wrong type of what no scheduler reads", POD("{hostAliases: x, nodeSelektor: {}}"), ""},
	{"a list",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: "
		"{name: node}, bad: 1}\n",
		""},
	{"from a server",
		"apiVersion: v1\nkind: Node\nmetadata: {name: node, uid: u}\nbad: 1\n"
		"---\napiVersion: v1\nkind: Node\nmetadata: {name: m, resourceVersion: '1'}\n"
		"bad: 1\n",
		""},
	{"custom resource",
		"apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: node}\nbad: 1\n", ""},
	{"a kind that no scheduler reads",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: node}\nbad: 1\n", ""},
};

START_TEST(test_unknown_field__warnings)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf warnings = {0};
		read_warning(rows[i].text, &warnings);
		ck_assert_msg(strcmp(bt_strbuf_c(&warnings), rows[i].warnings) == 0, "%s: %s",
			rows[i].name, bt_strbuf_c(&warnings));
		bt_strbuf_finish(&warnings);
	}
}
END_TEST

static uint32_t line_count(const struct bt_strbuf *lines)
{
	uint32_t count = 0;
	for (size_t i = 0; i < lines->length; i++) {
		count += lines->data[i] == '\n';
	}
	return count;
}

/** The number of checked documents and the number of reported fields are limited. */
START_TEST(test_unknown_field__limits)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf warnings = {0};
	for (int i = 0; i < BT_UNKNOWN_FIELD_DOCUMENTS + 50; i++) {
		bt_strbuf_printf(&text,
			"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\"},"
			"\"bad\":1}\n",
			i);
	}
	read_warning(bt_strbuf_c(&text), &warnings);
	ck_assert_uint_eq(line_count(&warnings), BT_UNKNOWN_FIELD_DOCUMENTS);

	bt_strbuf_reset(&text);
	bt_strbuf_reset(&warnings);
	bt_strbuf_append_c(&text, "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n");
	for (int i = 0; i < 5000; i++) {
		bt_strbuf_printf(&text, "bad%d: 1\n", i);
	}
	read_warning(bt_strbuf_c(&text), &warnings);
	ck_assert_uint_eq(line_count(&warnings), BT_UNKNOWN_FIELD_WARNINGS_MAX);

	bt_strbuf_reset(&text);
	bt_strbuf_reset(&warnings);
	bt_strbuf_append_c(&text, "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n");
	for (int i = 0; i < 1000; i++) {
		bt_strbuf_append_char(&text, 'x');
	}
	bt_strbuf_append_c(&text, ": 1\n");
	read_warning(bt_strbuf_c(&text), &warnings);
	ck_assert_uint_eq(line_count(&warnings), 1);
	ck_assert_uint_lt(warnings.length, 400);

	bt_strbuf_reset(&text);
	bt_strbuf_reset(&warnings);
	bt_strbuf_append_c(
		&text, "apiVersion: v1\nkind: Node\nmetadata: {name: node, annotations: {a: '");
	for (uint32_t i = 0; i < BT_UNKNOWN_FIELD_BYTES_MAX; i++) {
		bt_strbuf_append_char(&text, 'x');
	}
	bt_strbuf_append_c(&text, "'}}\nbad: 1\n");
	read_warning(bt_strbuf_c(&text), &warnings);
	ck_assert_uint_eq(line_count(&warnings), 0);
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&warnings);
}
END_TEST

BT_TEST_MAIN("unknown_field", test_unknown_field__warnings, test_unknown_field__limits)
