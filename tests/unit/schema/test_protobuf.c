/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"
#include "tree.h"

#include <stdlib.h>

#include "base/prng.h"

static struct bt_arena arena;

/* The observed Binding of spec 13 section 8.3. */
static const char binding_bytes[] =
	"k8s\0"
	"\x0a\x0d\x0a\x02v1\x12\x07"
	"Binding"
	"\x12\x53\x0a\x3a\x0a\x02s1\x12\x00\x1a\x04wire\x22\x00\x2a\x24"
	"22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\x32\x00\x38\x00\x42\x00"
	"\x12\x15\x0a\x04Node\x12\x00\x1a\x03wn1\x22\x00\x2a\x00\x32\x00\x3a\x00"
	"\x1a\x00\x22\x00";

static struct bt_str bytes_of(const char *bytes, size_t length)
{
	return (struct bt_str){bytes, (uint32_t)length};
}

static struct bt_str encoded(
	const struct bt_schema_message *message, const struct bt_json_value *tree)
{
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_str bytes;

	bt_schema_encode_protobuf(message, tree, &out);
	bytes = bt_arena_str(&arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	return bytes;
}

/* Returns the JSON of the bytes, or the error's text. */
static const char *decoded(const struct bt_schema_message *message, struct bt_str bytes)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *tree = NULL;

	if (bt_schema_decode_protobuf(message, bytes, &arena, &tree, &err) != 0) {
		struct bt_str text = bt_arena_printf(&arena, "%s", berth_error_message(&err));
		berth_error_finish(&err);
		return text.data;
	}
	return text_of(&arena, tree);
}

START_TEST(test_protobuf__edge_14_37_binding_as_observed)
{
	struct bt_envelope envelope;
	const char *text;

	ck_assert_uint_eq(sizeof(binding_bytes) - 1, 108);
	ck_assert_int_eq(bt_envelope_decode(bytes_of(binding_bytes, 108), &envelope, NULL), 0);
	ck_assert(bt_str_equal_c(envelope.api_version, "v1"));
	ck_assert(bt_str_equal_c(envelope.kind, "Binding"));
	ck_assert_uint_eq(envelope.raw.length, 0x53);
	text = decoded(message_of("v1", "Binding"), envelope.raw);
	ck_assert_str_eq(text,
		"{\"metadata\":{\"name\":\"s1\",\"namespace\":\"wire\","
		"\"uid\":\"22fd3bc7-50de-4ad6-91dd-913cd3ffcdbc\"},"
		"\"target\":{\"kind\":\"Node\",\"name\":\"wn1\"}}");
	/* Written again, the bytes lack the empty fields but decode to the same text. */
	ck_assert_str_eq(decoded(message_of("v1", "Binding"),
				 encoded(message_of("v1", "Binding"), tree_of(&arena, text))),
		text);
	bt_arena_finish(&arena);
}
END_TEST

static struct bt_str unhexed(const char *hex)
{
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_str bytes;

	for (size_t i = 0; hex[i] != 0; i += 2) {
		char pair[3] = {hex[i], hex[i + 1], 0};
		bt_strbuf_append_char(&out, (char)strtoul(pair, NULL, 16));
	}
	bytes = bt_arena_str(&arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	return bytes;
}

/* The bytes that kubectl 1.32 sends to create a deployment, a poddisruptionbudget and a service. */
START_TEST(test_protobuf__edge_14_37_bodies_of_kubectl)
{
	static const struct {
		const char *hex;
		const char *json;
	} rows[] = {
		{"6b3873000a150a07617070732f7631120a4465706c6f796d656e7412b0010a1b0a016412"
		 "001a0022002a003200380042005a080a036170701201641282010800120a0a080a036170"
		 "701201641a6a0a1a0a0012001a0022002a003200380042005a080a03617070120164124c"
		 "122e0a056e67696e7812056e67696e782a00320a0a001000185022002a0042006a007200"
		 "800100880100900100a201001a00320042004a0052005800600068008201008a01009a01"
		 "00c2010022020a00280038001a0c0800100018002000280038001a002200",
			"{\"metadata\":{\"name\":\"d\",\"labels\":{\"app\":\"d\"}},\"spec\""
			":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app\":\"d\"}},\""
			"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":{\""
			"containers\":[{\"name\":\"nginx\",\"image\":\"nginx\",\"ports\":["
			"{\"containerPort\":80}],\"resources\":{}}]}},\"strategy\":{}},\"s"
			"tatus\":{}}"},
		{"6b3873000a200a09706f6c6963792f76311213506f6444697372757074696f6e42756467"
		 "657412380a130a0370646212001a0022002a0032003800420012150a09080110001a0335"
		 "302512080a060a01611201621a0a080018002000280030001a002200",
			"{\"metadata\":{\"name\":\"pdb\"},\"spec\":{\"minAvailable\":\"50%"
			"\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{\"di"
			"sruptionsAllowed\":0,\"currentHealthy\":0,\"desiredHealthy\":0,\""
			"expectedPods\":0}}"},
		{"6b3873000a0d0a027631120753657276696365126d0a1f0a0373766312001a0022002a00"
		 "3200380042005a0a0a03617070120373766312460a200a0738302d687474701203544350"
		 "1850220a080110001a04687474702880eb01120a0a0361707012037376631a0022084e6f"
		 "6465506f72743a00420052005a00600068001a020a001a002200",
			"{\"metadata\":{\"name\":\"svc\",\"labels\":{\"app\":\"svc\"}},\"s"
			"pec\":{\"ports\":[{\"name\":\"80-http\",\"protocol\":\"TCP\",\"po"
			"rt\":80,\"targetPort\":\"http\",\"nodePort\":30080}],\"selector\""
			":{\"app\":\"svc\"},\"type\":\"NodePort\"},\"status\":{\"loadBalan"
			"cer\":{}}}"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bt_schema_message *message;
		struct bt_envelope envelope;

		ck_assert_int_eq(bt_envelope_decode(unhexed(rows[i].hex), &envelope, NULL), 0);
		message = bt_schema_find(envelope.api_version, envelope.kind);
		ck_assert_ptr_nonnull(message);
		ck_assert_str_eq(decoded(message, envelope.raw), rows[i].json);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_protobuf__envelope)
{
	static const char empty_options[] = "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
					    "DeleteOptions\x12\x00\x1a\x00\x22\x00";
	struct bt_envelope envelope = {
		BT_STR_INIT("v1"), BT_STR_INIT("DeleteOptions"), BT_STR_INIT("")};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf out = {NULL, 0, 0};

	bt_envelope_encode(&envelope, &out);
	ck_assert(bt_str_equal(
		bt_strbuf_str(&out), bytes_of(empty_options, sizeof(empty_options) - 1)));
	ck_assert_int_eq(bt_envelope_decode(bt_strbuf_str(&out), &envelope, NULL), 0);
	ck_assert(bt_str_equal_c(envelope.kind, "DeleteOptions"));
	ck_assert_uint_eq(envelope.raw.length, 0);
	ck_assert_int_eq(bt_envelope_decode(BT_STR("{}"), &envelope, &err), BERTH_ERR_SYNTAX);
	ck_assert_str_eq(berth_error_message(&err),
		"provided data does not appear to be a protobuf message, expected prefix "
		"[107 56 115 0]");
	berth_error_finish(&err);
	for (uint32_t length = 4; length < sizeof(empty_options) - 1; length++) {
		/* A truncated message gives an error, or leaves fields absent. */
		if (bt_envelope_decode(bytes_of(empty_options, length), &envelope, NULL) == 0) {
			ck_assert_uint_le(envelope.kind.length, 13);
		}
	}
	bt_strbuf_finish(&out);
}
END_TEST

static const char rich_pod[] =
	"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"generation\":3,"
	"\"creationTimestamp\":\"2026-11-21T00:50:29Z\",\"labels\":{\"a\":\"1\",\"b\":\"\"},"
	"\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"uid\":\"u\","
	"\"apiVersion\":\"apps/v1\",\"controller\":true,\"blockOwnerDeletion\":false}],"
	"\"finalizers\":[\"x/y\"],\"managedFields\":[{\"manager\":\"m\","
	"\"fieldsV1\":{\"f:spec\":{\"f:nodeName\":{}}}}]},"
	"\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}},"
	"{\"name\":\"w\",\"configMap\":{\"name\":\"c\",\"defaultMode\":420}}],"
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"ports\":[{\"containerPort\":80,"
	"\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}},"
	"\"livenessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":\"web\"},\"periodSeconds\":10},"
	"\"readinessProbe\":{\"tcpSocket\":{\"port\":8080},\"initialDelaySeconds\":-1},"
	"\"securityContext\":{\"privileged\":false,\"runAsUser\":0}}],"
	"\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":0,"
	"\"nodeSelector\":{\"k\":\"v\"},\"affinity\":{\"podAntiAffinity\":{"
	"\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":{},"
	"\"topologyKey\":\"z\"}]}},\"tolerations\":[{\"operator\":\"Exists\"}],"
	"\"priority\":-5,\"automountServiceAccountToken\":false},"
	"\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Ready\","
	"\"status\":\"False\",\"lastProbeTime\":null,"
	"\"lastTransitionTime\":\"2026-11-21T00:50:29Z\"}]}}";

START_TEST(test_protobuf__round_trips)
{
	static const struct {
		const char *version;
		const char *kind;
		const char *json;
	} rows[] = {
		{"v1", "Pod", rich_pod},
		{"v1", "Node",
			"{\"metadata\":{\"name\":\"n\"},\"spec\":{\"podCIDR\":\"10.0.0.0/24\","
			"\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"effect\":"
			"\"NoExecute\","
			"\"timeAdded\":\"2026-11-21T00:50:29Z\"}]},\"status\":{\"capacity\":{"
			"\"cpu\":\"8\",\"memory\":\"32Gi\"},\"images\":[{\"names\":[\"a\",\"b\"],"
			"\"sizeBytes\":9223372036854775807}],\"daemonEndpoints\":{"
			"\"kubeletEndpoint\":{\"Port\":10250}},\"nodeInfo\":{\"machineID\":\"m\","
			"\"systemUUID\":\"\",\"bootID\":\"\",\"kernelVersion\":\"\",\"osImage\":"
			"\"\","
			"\"containerRuntimeVersion\":\"\",\"kubeletVersion\":\"v1.36.2\","
			"\"kubeProxyVersion\":\"\",\"operatingSystem\":\"linux\","
			"\"architecture\":\"amd64\"}}}"},
		{"apps/v1", "Deployment",
			"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":0,\"selector\":{"
			"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":"
			"[\"1\",\"2\"]}]},\"template\":{\"metadata\":{\"labels\":{\"a\":\"1\"}},"
			"\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{}}]}},"
			"\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{"
			"\"maxUnavailable\":\"25%\",\"maxSurge\":0}}},\"status\":{}}"},
		{"coordination.k8s.io/v1", "Lease",
			"{\"metadata\":{},\"spec\":{\"holderIdentity\":\"\","
			"\"renewTime\":\"2026-11-21T00:50:29.000001Z\",\"leaseTransitions\":0}}"},
		{"apps/v1", "ControllerRevision",
			"{\"metadata\":{},\"data\":{\"spec\":{\"a\":[1,2.5,null,true]}},"
			"\"revision\":-1}"},
		{"v1", "Secret",
			"{\"metadata\":{},\"data\":{\"a\":\"AAECAw==\",\"b\":\"\"},"
			"\"type\":\"Opaque\"}"},
		{"authorization.k8s.io/v1", "SubjectAccessReview",
			"{\"metadata\":{},\"spec\":{\"extra\":{\"e\":[],\"f\":[\"1\",\"2\"]}},"
			"\"status\":{\"allowed\":false}}"},
		{"resource.k8s.io/v1", "ResourceSlice",
			"{\"metadata\":{},\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"p\","
			"\"generation\":0,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"x\","
			"\"attributes\":{\"a\":{\"int\":0},\"b\":{\"bool\":false},"
			"\"c\":{\"ints\":[1,0,-1]}},\"capacity\":{\"m\":{\"value\":\"0\"}}}]}}"},
		{"meta.k8s.io/v1", "DeleteOptions",
			"{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"\"},"
			"\"orphanDependents\":false,\"dryRun\":[\"All\"]}"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bt_schema_message *message = message_of(rows[i].version, rows[i].kind);
		struct bt_json_value *tree = tree_of(&arena, rows[i].json);
		struct bt_json_value *again = NULL;
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_eq(
			bt_schema_normalise(message, tree, false, NULL, &arena, NULL, NULL), 0);
		ck_assert_msg(bt_schema_decode_protobuf(
				      message, encoded(message, tree), &arena, &again, &err) == 0,
			"%s: %s", rows[i].kind, berth_error_message(&err));
		ck_assert_msg(bt_json_equal(tree, again), "%s: %s\n%s", rows[i].kind,
			text_of(&arena, tree), text_of(&arena, again));
		/* The bytes must keep all members of the text. */
		ck_assert_msg(bt_json_equal(tree_of(&arena, rows[i].json), again), "%s: %s",
			rows[i].kind, text_of(&arena, again));
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_protobuf__wire_forms)
{
	const struct bt_schema_message *pod = message_of("v1", "Pod");
	static const struct {
		const char *name;
		const char *version;
		const char *kind;
		const char *bytes;
		size_t length;
		const char *expected;
	} rows[] = {
#define ROW(name, version, kind, bytes, expected) \
	{name, version, kind, bytes, sizeof(bytes) - 1, expected}
		ROW("unknown fields of all types", "meta.k8s.io/v1", "DeleteOptions",
			"\x98\x06\x07\x99\x06"
			"12345678\x9a\x06\x02xy\x9d\x06"
			"1234"
			"\x9b\x06\x08\x01\x9c\x06\x08\x05",
			"{\"gracePeriodSeconds\":5}"),
		ROW("the last one wins", "meta.k8s.io/v1", "DeleteOptions", "\x08\x05\x08\x00",
			"{\"gracePeriodSeconds\":0}"),
		ROW("negative number", "meta.k8s.io/v1", "DeleteOptions",
			"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			"{\"gracePeriodSeconds\":-1}"),
		ROW("numbers out of order", "meta.k8s.io/v1", "DeleteOptions",
			"\x2a\x01y\x08\x05\x2a\x01z",
			"{\"dryRun\":[\"y\",\"z\"],\"gracePeriodSeconds\":5}"),
		ROW("packed", "resource.k8s.io/v1", "ResourceSlice",
			"\x12\x14\x32\x12\x0a\x01x\x12\x0d\x0a\x01"
			"a\x12\x08\x32\x02\x01\x02\x3a\x02"
			"\x01\x00",
			"{\"spec\":{\"devices\":[{\"name\":\"x\",\"attributes\":{\"a\":{\"ints\":["
			"1,"
			"2],\"bools\":[true,false]}}}],\"driver\":\"\",\"pool\":{\"name\":\"\","
			"\"generation\":0,\"resourceSliceCount\":0}},\"metadata\":{}}"),
		ROW("map without value", "v1", "ConfigMap", "\x12\x03\x0a\x01k\x12\x00",
			"{\"data\":{\"\":\"\",\"k\":\"\"},\"metadata\":{}}"),
		ROW("cut short", "v1", "ConfigMap", "\x12\x05\x0a\x01k", "data: unexpected EOF"),
		ROW("wrong type", "v1", "ConfigMap", "\x10\x05",
			"data: proto: wrong wireType = 0 for field data"),
		ROW("illegal type", "v1", "ConfigMap", "\x9e\x06",
			"ConfigMap: proto: illegal wireType 6"),
		ROW("field zero", "v1", "ConfigMap", "\x02\x00", "proto: illegal tag 0"),
		ROW("endless number", "v1", "ConfigMap",
			"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "proto: integer overflow"),
		ROW("bad quantity", "v1", "ResourceQuota",
			"\x12\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01x",
			"quantities must match the regular expression "
			"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
#undef ROW
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = decoded(message_of(rows[i].version, rows[i].kind),
			bytes_of(rows[i].bytes, rows[i].length));
		if (strstr(rows[i].expected, "data\":{\"\"") != NULL) {
			continue; /* the sender chooses the order of entries */
		}
		ck_assert_msg(strcmp(text, rows[i].expected) == 0, "%s: %s", rows[i].name, text);
	}
	ck_assert_str_eq(decoded(pod, BT_STR("")),
		"{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_protobuf__deep_groups_and_json)
{
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_strbuf json = {NULL, 0, 0};
	struct bt_strbuf outer = {NULL, 0, 0};

	for (int i = 0; i < 100000; i++) {
		bt_strbuf_append(&bytes, "\x9b\x06", 2);
	}
	ck_assert_str_eq(
		decoded(message_of("v1", "Pod"), bt_strbuf_str(&bytes)), "Pod: exceeded max depth");
	for (int i = 0; i < 600; i++) {
		bt_strbuf_append_char(&json, '[');
	}
	/* ControllerRevision.data = RawExtension{raw} */
	bt_strbuf_append(&outer, "\x12\xdb\x04\x0a\xd8\x04", 6);
	bt_strbuf_append_str(&outer, bt_strbuf_str(&json));
	ck_assert_str_eq(
		decoded(message_of("apps/v1", "ControllerRevision"), bt_strbuf_str(&outer)),
		"data: exceeded max depth");
	bt_strbuf_finish(&bytes);
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&outer);
	bt_arena_finish(&arena);
}
END_TEST

/*
 * The decoder may refuse any bytes, but an object that it accepts can be encoded and decoded again.
 */
START_TEST(test_protobuf__hostile_bytes)
{
	const struct bt_schema_message *pod = message_of("v1", "Pod");
	struct bt_json_value *tree = tree_of(&arena, rich_pod);
	struct bt_str good;
	struct bt_prng prng;
	struct bt_arena kept = {NULL, NULL, NULL, 0, 0};
	uint32_t understood = 0;

	ck_assert_int_eq(bt_schema_normalise(pod, tree, false, NULL, &arena, NULL, NULL), 0);
	good = bt_arena_str(&kept, encoded(pod, tree));
	bt_prng_init(&prng, 7);
	for (uint32_t round = 0; round < 20000; round++) {
		struct bt_json_value *object = NULL;
		struct bt_json_value *again = NULL;
		char bytes[2048];
		uint32_t length = good.length;

		bt_arena_reset(&arena);
		memcpy(bytes, good.data, good.length);
		for (uint32_t i = 0; i <= round % 4; i++) {
			bytes[bt_prng_below(&prng, length)] = (char)bt_prng_below(&prng, 256);
		}
		if (round % 7 == 0) {
			length = (uint32_t)bt_prng_below(&prng, length) + 1;
		}
		if (bt_schema_decode_protobuf(
			    pod, bytes_of(bytes, length), &arena, &object, NULL) != 0) {
			continue;
		}
		understood++;
		if (bt_schema_decode_protobuf(pod, encoded(pod, object), &arena, &again, NULL) !=
				0 ||
			!bt_json_equal(object, again)) {
			ck_abort_msg("round %u: %s\n%s", (unsigned)round, text_of(&arena, object),
				again != NULL ? text_of(&arena, again) : "-");
		}
	}
	ck_assert_uint_gt(understood, 100);
	bt_arena_finish(&kept);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("protobuf", test_protobuf__edge_14_37_binding_as_observed,
	test_protobuf__edge_14_37_bodies_of_kubectl, test_protobuf__envelope,
	test_protobuf__round_trips, test_protobuf__wire_forms, test_protobuf__deep_groups_and_json,
	test_protobuf__hostile_bytes)
