/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object.h"

#include "api/storage.h"
#include "api/types.h"
#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

/**
 * The objects that a reader found, as lines "Kind namespace/name" and "skipped apiVersion Kind".
 */
struct found {
	struct bt_strbuf lines;
	uint32_t stop_after; /* objects; 0: never */
	uint32_t taken;
};

static int take(void *context, struct bt_object *object, struct berth_error *err)
{
	struct found *found = context;

	bt_strbuf_append_c(&found->lines, bt_kind_info(object->kind)->name);
	bt_strbuf_append_char(&found->lines, ' ');
	bt_object_ref(object->meta, &found->lines);
	bt_strbuf_append_char(&found->lines, '\n');
	bt_object_release(object);
	if (++found->taken == found->stop_after) {
		return bt_error_set(err, BERTH_ERR_STATE, "stopped");
	}
	return 0;
}

static void skipped(
	void *context, struct bt_str api_version, struct bt_str kind, BT_UNUSED struct bt_str json)
{
	struct found *found = context;

	bt_strbuf_printf(
		&found->lines, "skipped %.*s %.*s\n", BT_STR_ARG(api_version), BT_STR_ARG(kind));
}

static int read_all(const char *json, struct found *found, struct berth_error *err)
{
	struct bt_object_sink sink = {found, take, skipped};
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, api_json(&arena, json));
	code = bt_object_decode_reader(&reader, &sink, err);
	return code != 0 ? code : bt_json_expect_end(&reader, err);
}

static void check_found(const char *json, const char *lines)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct found found = {.stop_after = 0};

	if (read_all(json, &found, &err) != 0) {
		ck_abort_msg("%s: %s", json, berth_error_message(&err));
	}
	ck_assert_str_eq(bt_strbuf_c(&found.lines), lines);
	bt_strbuf_finish(&found.lines);
}

static void check_error(const char *json, int code, const char *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct found found = {.stop_after = 0};

	ck_assert_int_eq(read_all(json, &found, &err), code);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
	bt_strbuf_finish(&found.lines);
}

START_TEST(test_object__single)
{
	check_found("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'n'}}",
		"Pod n/p\n");
	check_found("null", "");
	check_found(" {'kind':'StatefulSet','apiVersion':'apps/v1','metadata':{'name':'s'}} ",
		"StatefulSet s\n");
}
END_TEST

START_TEST(test_object__kind_may_come_last)
{
	check_found("{'metadata':{'name':'n','kind':'Pod'},'spec':{},'status':{},'kind':'Node','"
		    "apiVersion':'v1'}",
		"Node n\n");
	check_found("{'items':[{'metadata':{'name':'n'}}],'kind':'NodeList','apiVersion':'v1'}",
		"Node n\n");
}
END_TEST

START_TEST(test_object__lists)
{
	check_found("{'apiVersion':'v1','kind':'List','metadata':{},'items':["
		    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'}},null,"
		    "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'b'}},"
		    "{'apiVersion':'v1','kind':'PodList','items':[{'metadata':{'name':'c'}},{'"
		    "metadata':{'name':'d'}}]}]}",
		"Pod a\nReplicaSet b\nPod c\nPod d\n");
	check_found("{'apiVersion':'v1','kind':'PodList','metadata':{'resourceVersion':'5'},'items'"
		    ":null}",
		"");
	check_found("{'apiVersion':'v1','kind':'PodList'}", "");
	check_found("{'apiVersion':'storage.k8s.io/"
		    "v1','kind':'CSINodeList','items':[{'metadata':{'name':'x'}}]}",
		"CSINode x\n");
}
END_TEST

START_TEST(test_object__unknown_kinds_are_skipped)
{
	check_found("{'apiVersion':'v1','kind':'ConfigMap','data':{'kind':'Pod'}}",
		"skipped v1 ConfigMap\n");
	check_found(
		"{'apiVersion':'serving.knative.dev/v1','kind':'Service','metadata':{'name':'s'}}",
		"skipped serving.knative.dev/v1 Service\n");
	check_found(
		"{'apiVersion':'v1','kind':'ConfigMapList','items':[{'metadata':{'name':'x'}}]}",
		"skipped v1 ConfigMapList\n");
	check_found("{'apiVersion':'apps/v1beta1','kind':'Deployment'}",
		"skipped apps/v1beta1 Deployment\n");
}
END_TEST

START_TEST(test_object__events_by_group)
{
	enum bt_kind kind;

	ck_assert(bt_kind_find(BT_STR("v1"), BT_STR("Event"), &kind));
	ck_assert_int_eq(kind, BT_KIND_CORE_EVENT);
	ck_assert(bt_kind_find(BT_STR("events.k8s.io/v1"), BT_STR("Event"), &kind));
	ck_assert_int_eq(kind, BT_KIND_EVENT);
	ck_assert(!bt_kind_find(BT_STR("v1"), BT_STR("pod"), &kind));
	ck_assert(!bt_kind_find(BT_STR("policy/v1 v1beta1"), BT_STR("PodDisruptionBudget"), &kind));
	ck_assert(!bt_kind_find(BT_STR("policy/"), BT_STR("PodDisruptionBudget"), &kind));
}
END_TEST

START_TEST(test_object__errors_name_the_object)
{
	check_error("{'apiVersion':'v1','kind':'Pod','spec':{'containers':[{'resources':{'requests'"
		    ":{'cpu':'1x'}}}]},"
		    "'metadata':{'namespace':'default','name':'web'}}",
		BERTH_ERR_INVALID,
		"Pod default/web: spec.containers[0].resources.requests[cpu]: quantities must "
		"match the regular "
		"expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	check_error("{'apiVersion':'v1','kind':'NodeList','items':[{},{'metadata':{'name':'n'},'"
		    "spec':{'taints':{}}}]}",
		BERTH_ERR_INVALID, "items[1]: Node n: spec.taints: expected array, got object");
	check_error("{'apiVersion':'v1','kind':'Node','metadata':5}", BERTH_ERR_INVALID,
		"Node: metadata: expected object, got number");
}
END_TEST

START_TEST(test_object__not_an_object)
{
	struct found found = {.stop_after = 0};

	check_error("{'metadata':{}}", BERTH_ERR_INVALID, "object has no kind");
	check_error("{'kind':'Pod\\n'}", BERTH_ERR_INVALID, "Pod?: object has no apiVersion");
	ck_assert_int_ne(read_all("[]", &found, NULL), 0);
	ck_assert_int_ne(read_all("", &found, NULL), 0);
	ck_assert_int_ne(read_all("{'kind':'Pod'", &found, NULL), 0);
	ck_assert_int_ne(read_all("{'kind':'List','apiVersion':'v1','items':{}}", &found, NULL), 0);
	ck_assert_int_ne(
		read_all("{'kind':'List','apiVersion':'v1','items':[5]}", &found, NULL), 0);
	ck_assert_uint_eq(found.taken, 0);
}
END_TEST

START_TEST(test_object__nested_lists_end)
{
	struct bt_strbuf json = {0};
	struct found found = {.stop_after = 0};

	for (int i = 0; i < 1000; i++) {
		bt_strbuf_append_c(&json, "{'kind':'List','apiVersion':'v1','items':[");
	}
	for (int i = 0; i < 1000; i++) {
		bt_strbuf_append_c(&json, "]}");
	}
	ck_assert_int_eq(read_all(bt_strbuf_c(&json), &found, NULL), BERTH_ERR_TOO_LARGE);
	bt_strbuf_finish(&json);
}
END_TEST

START_TEST(test_object__sink_may_stop)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct found found = {.stop_after = 2};

	ck_assert_int_eq(
		read_all("{'apiVersion':'v1','kind':'PodList','items':[{},{},{}]}", &found, &err),
		BERTH_ERR_STATE);
	ck_assert_uint_eq(found.taken, 2);
	ck_assert_str_eq(berth_error_message(&err), "items[1]: stopped");
	berth_error_finish(&err);
	bt_strbuf_finish(&found.lines);
}
END_TEST

START_TEST(test_object__decode_one_document)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object;
	struct bt_object *shared;

	ck_assert_int_eq(
		bt_object_decode(
			api_json(
				&arena, "{'kind':'Pod','apiVersion':'v1','spec':{'nodeName':'n'}}"),
			&object, NULL),
		0);
	shared = bt_object_share(object);
	bt_object_release(object);
	api_check_str("node",
		((const struct bt_pod *)bt_object_value(shared, BT_KIND_POD))->spec.node_name, "n");
	bt_object_release(shared);
	bt_object_release(NULL);
	ck_assert_int_eq(bt_object_decode(api_json(&arena, "{'kind':'Foo','apiVersion':'v1'}"),
				 &object, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "v1 Foo: kind is not known");
	berth_error_finish(&err);
	ck_assert_int_ne(bt_object_decode(api_json(&arena, "{'kind':'Pod','apiVersion':'v1'} x"),
				 &object, NULL),
		0);
	ck_assert_int_ne(bt_object_decode(api_json(&arena, "{'kind':'PodList','apiVersion':'v1'}"),
				 &object, NULL),
		0);
}
END_TEST

/** Decodes the JSON as an object of the kind and encodes the object again. */
static void check_round_trip(enum bt_kind kind, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str source = api_json(&arena, json);
	struct bt_json_reader reader;
	struct bt_json_writer writer;
	struct bt_strbuf out = {0};
	struct bt_object *object;
	struct bt_object *copy;

	bt_json_reader_init(&reader, source);
	if (bt_object_decode_as(kind, &reader, &object, &err) != 0) {
		ck_abort_msg("%s: %s", json, berth_error_message(&err));
	}
	copy = bt_object_create(kind, object->value);
	ck_assert(bt_message_equal(bt_kind_info(kind)->message, object->value, copy->value));
	bt_object_release(object);
	bt_json_writer_init(&writer, &out, 0);
	bt_object_encode_json(kind, copy->value, &writer);
	api_check_str("round trip", bt_strbuf_str(&out), bt_arena_str(&arena, source).data);
	bt_object_release(copy);
	bt_strbuf_finish(&out);
}

START_TEST(test_object__round_trips)
{
	check_round_trip(BT_KIND_NODE,
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','labels':{'a':'b'}},'spec'"
		":{'unschedulable':true,'taints':"
		"[{'key':'k','effect':'NoExecute','timeAdded':'2026-01-01T00:00:00Z'}]},'status':{'"
		"allocatable':{'cpu':'4','memory':"
		"'1Gi'},'images':[{'names':['x','y'],'sizeBytes':9007199254740993}]}}");
	check_round_trip(BT_KIND_PERSISTENT_VOLUME,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{'"
		"capacity':{'storage':'1Gi'},'csi':"
		"{'driver':'d','volumeHandle':'h'},'accessModes':['ReadWriteOnce'],'nodeAffinity':{"
		"'required':"
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'z','operator':'In','values':['"
		"1']}]}]}}}}");
	check_round_trip(BT_KIND_POD_DISRUPTION_BUDGET,
		"{'apiVersion':'policy/"
		"v1','kind':'PodDisruptionBudget','metadata':{'name':'b'},'spec':{'minAvailable':'"
		"50%',"
		"'selector':{}},'status':{'disruptedPods':{'p':'2026-01-01T00:00:00Z'},'"
		"disruptionsAllowed':0,'currentHealthy':0,"
		"'desiredHealthy':0,'expectedPods':0}}");
	check_round_trip(BT_KIND_RESOURCE_SLICE,
		"{'apiVersion':'resource.k8s.io/"
		"v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d','pool':"
		"{'name':'p','generation':0,'resourceSliceCount':1},'nodeName':'n','devices':[{'"
		"name':'dev','attributes':{'a':"
		"{'int':5},'b':{'bool':false},'c':{'strings':['x']}},'capacity':{'mem':{'value':'0'"
		"}}}]}}");
	check_round_trip(BT_KIND_DEVICE_CLASS,
		"{'apiVersion':'resource.k8s.io/"
		"v1','kind':'DeviceClass','metadata':{'name':'c'},'spec':{'config':[{'opaque':"
		"{'driver':'d','parameters':{'x':[1,2]}}}],'extendedResourceName':'a.b/c'}}");
}
END_TEST

START_TEST(test_object__binding_and_condition_forms)
{
	check_round_trip(BT_KIND_LEASE,
		"{'apiVersion':'coordination.k8s.io/"
		"v1','kind':'Lease','metadata':{'name':'l'},'spec':{'holderIdentity':'',"
		"'renewTime':'2026-01-01T00:00:00.000000Z'}}");
	check_round_trip(BT_KIND_CRON_JOB,
		"{'apiVersion':'batch/"
		"v1','kind':'CronJob','metadata':{'name':'c'},'spec':{'schedule':'* * * * "
		"*','jobTemplate':"
		"{'spec':{'completions':3,'template':{'spec':{'containers':[{'name':'x'}]}},'"
		"completionMode':'Indexed'}}}}");
}
END_TEST

START_TEST(test_object__every_kind_has_its_table)
{
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)i);
		struct bt_strbuf api_version = {0};
		enum bt_kind kind;

		bt_kind_append_api_version((enum bt_kind)i, &api_version);
		ck_assert_msg(
			bt_kind_find(bt_strbuf_str(&api_version), bt_str_from(info->name), &kind) &&
				(int)kind == i,
			"%s %s", bt_strbuf_c(&api_version), info->name);
		ck_assert_str_eq(info->message->name, info->name);
		ck_assert_uint_eq(info->message->size, info->size);
		ck_assert_str_eq(info->message->fields[0].name, "metadata");
		bt_strbuf_finish(&api_version);
	}
}
END_TEST

START_TEST(test_object__class_annotation_overrides)
{
	const struct bt_persistent_volume_claim *claim =
		api_decode(&arena, &bt_persistent_volume_claim_message,
			"{'metadata':{'annotations':{'volume.beta.kubernetes.io/"
			"storage-class':''}},'spec':{'storageClassName':'fast'}}");
	const struct bt_persistent_volume *volume = api_decode(
		&arena, &bt_persistent_volume_message, "{'spec':{'storageClassName':'fast'}}");

	api_check_str("claim", bt_persistent_volume_claim_class(claim), "");
	api_check_str("volume", bt_persistent_volume_class(volume), "fast");
}
END_TEST

START_TEST(test_object__zone_key)
{
	static const struct {
		const char *labels;
		const char *key;
		size_t length;
	} rows[] = {{"{}", "", 0}, {"{'topology.kubernetes.io/zone':'z'}", ":\0:z", 4},
		{"{'topology.kubernetes.io/region':'r','topology.kubernetes.io/zone':'z'}",
			"r:\0:z", 5},
		{"{'failure-domain.beta.kubernetes.io/zone':'','topology.kubernetes.io/zone':'z'}",
			"", 0},
		{"{'failure-domain.beta.kubernetes.io/region':'q','topology.kubernetes.io/"
		 "region':'r'}",
			"q:\0:", 4}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf json = {0};
		struct bt_strbuf key = {0};

		bt_strbuf_printf(&json, "{'metadata':{'labels':%s}}", rows[i].labels);
		bt_node_zone_key(&api_node(&arena, bt_strbuf_c(&json))->metadata.labels, &key);
		ck_assert_msg(key.length == rows[i].length &&
				memcmp(bt_strbuf_c(&key), rows[i].key, key.length) == 0,
			"%s", rows[i].labels);
		bt_strbuf_finish(&json);
		bt_strbuf_finish(&key);
	}
}
END_TEST

START_TEST(test_object__int_or_string)
{
	static const struct {
		struct bt_int_or_string value;
		bool up;
		int32_t expected;
	} rows[] = {{{.number = 3}, false, 3},
		{{.text = BT_STR_INIT("50%"), .is_string = true}, true, 4},
		{{.text = BT_STR_INIT("50%"), .is_string = true}, false, 3},
		{{.text = BT_STR_INIT("0%"), .is_string = true}, true, 0}};
	static const struct bt_int_or_string bad[] = {{.text = BT_STR_INIT("5"), .is_string = true},
		{.text = BT_STR_INIT("%"), .is_string = true},
		{.text = BT_STR_INIT("-5%"), .is_string = true},
		{.text = BT_STR_INIT("99999999999999999999%"), .is_string = true},
		{.text = BT_STR_INIT("2000000000%"), .is_string = true}};
	int32_t out;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_int_eq(
			bt_int_or_string_scaled(&rows[i].value, 7, rows[i].up, &out, NULL), 0);
		ck_assert_int_eq(out, rows[i].expected);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad); i++) {
		ck_assert_int_ne(bt_int_or_string_scaled(&bad[i], 2000000000, true, &out, NULL), 0);
	}
}
END_TEST

/*
 * A scheduler keeps one object for each pod of the cluster, so a decoded pod must need little
 * memory.
 */
START_TEST(test_object__memory_fits)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"web-7c5ddbdf54-x2x9z\",\"namespace\":\"default\","
		"\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"7c5ddbdf54\"},"
		"\"uid\":\"f34e99cf-fef5-45af-b7dd-964a4cec509c\"},\"spec\":{\"containers\":[{"
		"\"name\":\"c\",\"image\":\"nginx:1.25\",\"resources\":{\"requests\":{"
		"\"cpu\":\"100m\",\"memory\":\"64Mi\"}}}],\"nodeName\":\"node-1\"}}";
	struct bt_json_reader reader;
	struct bt_object *object;

	bt_json_reader_init(&reader, bt_str_from(text));
	ck_assert_int_eq(bt_object_decode_as(BT_KIND_POD, &reader, &object, NULL), 0);
	ck_assert_uint_lt(bt_object_bytes(object),
		sizeof(*object) + bt_kind_info(BT_KIND_POD)->size + sizeof(text) + 768);
	bt_object_release(object);
}
END_TEST

BT_TEST_MAIN("object", test_object__single, test_object__memory_fits,
	test_object__kind_may_come_last, test_object__lists, test_object__unknown_kinds_are_skipped,
	test_object__events_by_group, test_object__errors_name_the_object,
	test_object__not_an_object, test_object__nested_lists_end, test_object__sink_may_stop,
	test_object__decode_one_document, test_object__round_trips,
	test_object__binding_and_condition_forms, test_object__every_kind_has_its_table,
	test_object__class_annotation_overrides, test_object__zone_key, test_object__int_or_string)
