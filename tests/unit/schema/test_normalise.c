/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"
#include "tree.h"

static struct bt_arena arena;

/* Returns the normalised text, or the error's text. */
static const char *normalised(
	const char *version, const char *kind, const char *json, struct bt_json_value *problems)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *tree = tree_of(&arena, json);

	if (bt_schema_normalise(
		    message_of(version, kind), tree, false, NULL, &arena, problems, &err) != 0) {
		struct bt_str text = bt_arena_printf(&arena, "%s", berth_error_message(&err));
		berth_error_finish(&err);
		return text.data;
	}
	return text_of(&arena, tree);
}

START_TEST(test_normalise__canonical_values)
{
	static const struct {
		const char *name;
		const char *version;
		const char *kind;
		const char *json;
		const char *expected;
	} rows[] = {
		{"quantities", "v1", "ResourceQuota",
			"{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"cpu\":0.5,"
			"\"memory\":\"1024Mi\",\"pods\":\" 7 \",\"x\":null}},\"status\":{}}",
			"{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"cpu\":\"500m\","
			"\"memory\":\"1Gi\",\"pods\":\"7\",\"x\":\"0\"}},\"status\":{}}"},
		{"times", "coordination.k8s.io/v1", "Lease",
			"{\"metadata\":{\"creationTimestamp\":\"2026-11-21T02:50:29.123+02:00\"},"
			"\"spec\":{\"renewTime\":\"2026-11-21T00:50:29.000001Z\"}}",
			"{\"metadata\":{\"creationTimestamp\":\"2026-11-21T00:50:29Z\"},"
			"\"spec\":{\"renewTime\":\"2026-11-21T00:50:29.000001Z\"}}"},
		{"zeros stay where there is a pointer", "coordination.k8s.io/v1", "Lease",
			"{\"metadata\":{\"name\":\"\",\"generation\":0,\"labels\":{},"
			"\"finalizers\":[]},\"spec\":{\"holderIdentity\":\"\","
			"\"leaseTransitions\":-0,\"leaseDurationSeconds\":null}}",
			"{\"metadata\":{},\"spec\":{\"holderIdentity\":\"\","
			"\"leaseTransitions\":0}}"},
		{"missing members appear", "scheduling.k8s.io/v1", "PriorityClass", "{}",
			"{\"metadata\":{},\"value\":0}"},
		{"order, kind and apiVersion stay", "scheduling.k8s.io/v1", "PriorityClass",
			"{\"value\":7,\"kind\":\"PriorityClass\",\"metadata\":{\"name\":\"a\"},"
			"\"apiVersion\":\"scheduling.k8s.io/v1\"}",
			"{\"value\":7,\"kind\":\"PriorityClass\",\"metadata\":{\"name\":\"a\"},"
			"\"apiVersion\":\"scheduling.k8s.io/v1\"}"},
		{"bytes", "v1", "Secret",
			"{\"metadata\":{},\"data\":{\"a\":\"aGVs\\nbG8=\",\"b\":\"\"}}",
			"{\"metadata\":{},\"data\":{\"a\":\"aGVsbG8=\",\"b\":\"\"}}"},
		{"raw JSON is left alone", "apps/v1", "ControllerRevision",
			"{\"metadata\":{},\"data\":{\"a\":null,\"b\":{\"c\":[]}},\"revision\":1}",
			"{\"metadata\":{},\"data\":{\"a\":null,\"b\":{\"c\":[]}},\"revision\":1}"},
		{"zero times", "v1", "Event",
			"{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{},\"source\":{},"
			"\"firstTimestamp\":null,\"lastTimestamp\":\"0001-01-01T00:00:00Z\","
			"\"eventTime\":null,\"reportingComponent\":\"\",\"reportingInstance\":"
			"\"\"}",
			"{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{},\"source\":{},"
			"\"lastTimestamp\":null,\"reportingComponent\":\"\","
			"\"reportingInstance\":\"\",\"firstTimestamp\":null,\"eventTime\":null}"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = normalised(rows[i].version, rows[i].kind, rows[i].json, NULL);
		ck_assert_msg(strcmp(text, rows[i].expected) == 0, "%s: %s", rows[i].name, text);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__edge_14_43_null_is_absent)
{
	ck_assert_str_eq(normalised("v1", "ServiceAccount",
				 "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":null,"
				 "\"labels\":null,\"ownerReferences\":null},\"secrets\":null}",
				 NULL),
		"{\"metadata\":{\"name\":\"a\"}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__edge_14_20_unknown_and_repeated)
{
	struct bt_json_value *problems = bt_json_new(&arena, BT_JSON_ARRAY);
	const char *text = normalised("v1", "Pod",
		"{\"metadata\":{\"name\":\"a\",\"labels\":{\"b\":\"1\",\"a\":\"1\",\"b\":\"2\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"bad\":1,"
		"\"image\":\"y\",\"resources\":{}}],\"bad\":{\"spec\":null}},\"foo.bar\":1,"
		"\"status\":{}}",
		problems);

	ck_assert_str_eq(text,
		"{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"1\",\"b\":\"2\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"y\",\"resources\":{}}]},"
		"\"status\":{}}");
	ck_assert_str_eq(text_of(&arena, problems),
		"[\"duplicate field \\\"metadata.labels.b\\\"\","
		"\"unknown field \\\"spec.containers[0].bad\\\"\","
		"\"duplicate field \\\"spec.containers[0].image\\\"\","
		"\"unknown field \\\"spec.bad\\\"\","
		"\"unknown field \\\"foo.bar\\\"\"]");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__problems_are_bounded)
{
	struct bt_json_value *problems = bt_json_new(&arena, BT_JSON_ARRAY);
	struct bt_strbuf json = {NULL, 0, 0};

	bt_strbuf_append_c(&json, "{\"x\":1,\"x\":2");
	for (int i = 0; i < 5000; i++) {
		bt_strbuf_printf(&json, ",\"y%d\":1", i);
	}
	bt_strbuf_append_char(&json, '}');
	(void)normalised("v1", "Pod", bt_strbuf_c(&json), problems);
	ck_assert_uint_eq(problems->count, BT_SCHEMA_PROBLEMS_MAX);
	ck_assert_str_eq(problems->elements[0]->text.data, "unknown field \"x\"");
	ck_assert_str_eq(problems->elements[1]->text.data, "unknown field \"y0\"");
	bt_strbuf_finish(&json);
	bt_arena_finish(&arena);
}
END_TEST

/* Spec 14 section 9.3. */
START_TEST(test_normalise__wrong_types)
{
	static const struct {
		const char *json;
		const char *expected;
	} rows[] = {
		{"{\"spec\":{\"containers\":[{\"image\":1}]}}",
			"json: cannot unmarshal number into Go struct field "
			"Container.spec.containers.image of type string"},
		{"{\"spec\":{\"containers\":{}}}",
			"json: cannot unmarshal object into Go struct field "
			"PodSpec.spec.containers of type []v1.Container"},
		{"{\"spec\":{\"containers\":[1]}}",
			"json: cannot unmarshal number into Go struct field "
			"PodSpec.spec.containers of type v1.Container"},
		{"{\"spec\":[]}",
			"json: cannot unmarshal array into Go struct field "
			"Pod.spec of type v1.PodSpec"},
		{"{\"spec\":{\"priority\":1.5}}",
			"json: cannot unmarshal number 1.5 into Go struct field "
			"PodSpec.spec.priority of type int32"},
		{"{\"spec\":{\"priority\":2147483648}}",
			"json: cannot unmarshal number 2147483648 into Go struct field "
			"PodSpec.spec.priority of type int32"},
		{"{\"spec\":{\"hostNetwork\":\"true\"}}",
			"json: cannot unmarshal string into Go struct field "
			"PodSpec.spec.hostNetwork of type bool"},
		{"{\"metadata\":{\"labels\":{\"a\":1}}}",
			"json: cannot unmarshal number into Go struct field "
			"ObjectMeta.metadata.labels of type string"},
		{"{\"metadata\":{\"labels\":[]}}",
			"json: cannot unmarshal array into Go struct field "
			"ObjectMeta.metadata.labels of type map[string]string"},
		{"{\"metadata\":{\"creationTimestamp\":1}}",
			"json: cannot unmarshal number into Go struct field "
			"ObjectMeta.metadata.creationTimestamp of type string"},
		{"{\"spec\":{\"overhead\":{\"cpu\":\"x\"}}}",
			"quantities must match the regular expression "
			"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"{\"spec\":{\"overhead\":{\"cpu\":{}}}}",
			"quantities must match the regular expression "
			"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"{\"kind\":1}",
			"json: cannot unmarshal number into Go struct field Pod.kind of type "
			"string"},
		{"[]", "json: cannot unmarshal array into Go value of type v1.Pod"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_str_eq(normalised("v1", "Pod", rows[i].json, NULL), rows[i].expected);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__custom_resource)
{
	struct bt_json_value *tree = tree_of(&arena,
		"{\"kind\":\"X\",\"metadata\":{\"name\":\"a\",\"generation\":0},"
		"\"spec\":{\"a\":null,\"b\":[null,{\"c\":null}],\"d\":\"\"}}");

	ck_assert_int_eq(bt_schema_normalise(NULL, tree, false, NULL, &arena, NULL, NULL), 0);
	ck_assert_str_eq(text_of(&arena, tree),
		"{\"kind\":\"X\",\"metadata\":{\"name\":\"a\"},"
		"\"spec\":{\"a\":null,\"b\":[null,{\"c\":null}],\"d\":\"\"}}");
	ck_assert_int_eq(bt_schema_normalise(NULL, tree, true, NULL, &arena, NULL, NULL), 0);
	ck_assert_str_eq(text_of(&arena, tree),
		"{\"kind\":\"X\",\"metadata\":{\"name\":\"a\"},"
		"\"spec\":{\"b\":[null,{}],\"d\":\"\"}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__known_members)
{
	struct bt_json_value *known = tree_of(&arena, "{\"spec\":{\"nodeName\":\"\"}}");
	struct bt_json_value *tree = bt_json_copy(&arena, known);

	bt_json_put(&arena, tree, "{status: {phase: ''}, spek: {}}");
	ck_assert_int_eq(bt_schema_normalise(
				 message_of("v1", "Pod"), tree, false, known, &arena, NULL, NULL),
		0);
	/* spec is shared, so it keeps its zero value; the other members are normalised. */
	ck_assert_str_eq(text_of(&arena, bt_json_find(tree, "spec")), "{\"nodeName\":\"\"}");
	ck_assert_str_eq(text_of(&arena, bt_json_find(tree, "status")), "{}");
	ck_assert_ptr_null(bt_json_find(tree, "spek"));
	ck_assert_int_eq(known->count, 1);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__repeated_members_of_custom_resources)
{
	struct bt_json_value *problems = bt_json_new(&arena, BT_JSON_ARRAY);
	struct bt_json_value *tree = tree_of(&arena,
		"{\"metadata\":{\"labels\":{\"a\":\"1\",\"a\":\"2\"}},\"spec\":1,"
		"\"spec\":{\"x\":[{\"y\":1,\"y\":2}]}}");

	ck_assert_int_eq(bt_schema_normalise(NULL, tree, false, NULL, &arena, problems, NULL), 0);
	ck_assert_str_eq(text_of(&arena, tree),
		"{\"metadata\":{\"labels\":{\"a\":\"2\"}},\"spec\":{\"x\":[{\"y\":2}]}}");
	ck_assert_str_eq(text_of(&arena, problems),
		"[\"duplicate field \\\"spec\\\"\",\"duplicate field \\\"metadata.labels.a\\\"\","
		"\"duplicate field \\\"spec.x[0].y\\\"\"]");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_normalise__defaults)
{
	static const struct {
		const char *version;
		const char *kind;
		const char *json;
		const char *expected;
	} rows[] = {
		/* texts that are missing or empty; elements of lists; given values stay */
		{"v1", "Service",
			"{\"spec\":{\"type\":\"\",\"sessionAffinity\":\"ClientIP\",\"ports\":"
			"[{\"port\":1},{\"port\":2,\"protocol\":\"UDP\"}]}}",
			"{\"spec\":{\"type\":\"ClusterIP\",\"sessionAffinity\":\"ClientIP\","
			"\"ports\":[{\"port\":1,\"protocol\":\"TCP\"},"
			"{\"port\":2,\"protocol\":\"UDP\"}]}}"},
		/* absent parts stay absent */
		{"v1", "Service", "{\"metadata\":{}}", "{\"metadata\":{}}"},
		/* a zero that was given stays if the field is a pointer */
		{"apps/v1", "ReplicaSet", "{\"spec\":{\"replicas\":0}}",
			"{\"spec\":{\"replicas\":0}}"},
		{"apps/v1", "ReplicaSet", "{\"spec\":{}}", "{\"spec\":{\"replicas\":1}}"},
		/* bools; members of inline messages, with an empty default */
		{"storage.k8s.io/v1", "CSIDriver",
			"{\"spec\":{\"attachRequired\":false,\"podInfoOnMount\":true,"
			"\"storageCapacity\":true,\"fsGroupPolicy\":\"None\","
			"\"requiresRepublish\":true}}",
			"{\"spec\":{\"attachRequired\":false,\"podInfoOnMount\":true,"
			"\"storageCapacity\":true,\"fsGroupPolicy\":\"None\","
			"\"requiresRepublish\":true,\"seLinuxMount\":false}}"},
		{"v1", "PersistentVolume",
			"{\"spec\":{\"volumeMode\":\"Block\",\"hostPath\":{\"path\":\"/\"},"
			"\"persistentVolumeReclaimPolicy\":\"Delete\"}}",
			"{\"spec\":{\"volumeMode\":\"Block\",\"hostPath\":{\"path\":\"/\","
			"\"type\":\"\"},\"persistentVolumeReclaimPolicy\":\"Delete\"}}"},
		{"v1", "ConfigMap", "{\"data\":{\"a\":\"\"}}", "{\"data\":{\"a\":\"\"}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_json_value *tree = tree_of(&arena, rows[i].json);
		bt_schema_default(message_of(rows[i].version, rows[i].kind), tree, &arena);
		ck_assert_str_eq(text_of(&arena, tree), rows[i].expected);
		/* a second run changes nothing */
		bt_schema_default(message_of(rows[i].version, rows[i].kind), tree, &arena);
		ck_assert_str_eq(text_of(&arena, tree), rows[i].expected);
	}
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("normalise", test_normalise__canonical_values,
	test_normalise__edge_14_43_null_is_absent, test_normalise__edge_14_20_unknown_and_repeated,
	test_normalise__problems_are_bounded, test_normalise__wrong_types,
	test_normalise__custom_resource, test_normalise__known_members,
	test_normalise__repeated_members_of_custom_resources, test_normalise__defaults)
