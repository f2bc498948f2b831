/* SPDX-License-Identifier: Apache-2.0 */
#include "front_fixture.h"
#include "test_main.h"

#define PODS "/api/v1/namespaces/default/pods"
#define POD \
	"{\"metadata\":{\"name\":\"a1\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":" \
	"\"i\"}]}}"

struct row {
	const char *method;
	const char *target;
	const char *headers;
	const char *body;
	uint16_t code;
	const char *part; /* of the answer's body */
};

static void run_rows(struct front_fixture *fixture, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		fixture->headers = row->headers;
		uint16_t code = front_ask(fixture, row->method, row->target,
			bt_str_from(row->body != NULL ? row->body : ""));
		ck_assert_msg(code == row->code, "row %zu: %s %s: %u %s", i, row->method,
			row->target, (unsigned int)code, front_body(fixture));
		ck_assert_msg(row->part == NULL || strstr(front_body(fixture), row->part) != NULL,
			"row %zu: %s %s: %s", i, row->method, row->target, front_body(fixture));
		ck_assert_msg(bt_str_find(bt_strbuf_str(&fixture->answer_headers),
				      BT_STR("Content-Type: ")) >= 0,
			"row %zu: no Content-Type", i);
		ck_assert_msg(bt_str_find(bt_strbuf_str(&fixture->answer_headers),
				      BT_STR("Audit-Id: ")) >= 0,
			"row %zu: no Audit-Id", i);
		ck_assert_msg(bt_str_find(bt_strbuf_str(&fixture->answer_headers),
				      BT_STR("Cache-Control: ")) >= 0,
			"row %zu: no Cache-Control", i);
	}
	fixture->headers = NULL;
}

START_TEST(test_front__pages)
{
	static const struct row rows[] = {
		{"GET", "/", NULL, NULL, 200, "\"/apis/apps/v1\""},
		{"GET", "/version", NULL, NULL, 200, "\"gitVersion\":\"v1.36.2\""},
		{"GET", "/healthz", NULL, NULL, 200, "ok"},
		{"GET", "/readyz?verbose", NULL, NULL, 200, "[+]ping ok\n"},
		{"GET", "/nope", NULL, NULL, 404, "404 page not found\n"},
		{"GET", "/api", NULL, NULL, 200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]"},
		{"POST", "/api", NULL, NULL, 405, "MethodNotAllowed"},
		{"GET", "/api", "Accept: text/html\n", NULL, 406, "NotAcceptable"},
		{"GET", "/apis", NULL, NULL, 200,
			"{\"name\":\"apps\",\"versions\":[{\"groupVersion\":\"apps/v1\","
			"\"version\":\"v1\"}],\"preferredVersion\":"},
		{"GET", "/apis/autoscaling", NULL, NULL, 200,
			"\"preferredVersion\":{\"groupVersion\":\"autoscaling/v2\""},
		{"GET", "/api/v1", NULL, NULL, 200,
			"{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,"
			"\"group\":\"policy\",\"version\":\"v1\",\"kind\":\"Eviction\","
			"\"verbs\":[\"create\"]}"},
		{"GET", "/apis/apps/v1", NULL, NULL, 200,
			"{\"name\":\"deployments\",\"singularName\":\"deployment\","
			"\"namespaced\":true,\"kind\":\"Deployment\",\"verbs\":[\"create\","
			"\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\","
			"\"watch\"],\"shortNames\":[\"deploy\"],\"categories\":[\"all\"]}"},
		{"GET", "/openapi/v2", "Accept: text/html\n", NULL, 406, NULL},
		{"GET", "/openapi/v2", NULL, NULL, 200, "\"swagger\":"},
		{"GET", "/openapi/v3", NULL, NULL, 200, "/openapi/v3/apis/apps/v1?hash="},
		{"GET", "/openapi/v3/apis/apps/v1", NULL, NULL, 200, "\"openapi\":"},
		{"GET", "/openapi/v3/apis/apps/v1?hash=00", NULL, NULL, 301, NULL},
		{"GET", "/openapi/v3/apis/nope/v1", NULL, NULL, 404, NULL},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__aggregated_discovery)
{
	static const char accept[] =
		"Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\n";
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	fixture.headers = accept;
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/apis", BT_STR("")), 200);
	ck_assert(front_has_header(&fixture,
		"Content-Type: application/json;g=apidiscovery.k8s.io;v=v2;"
		"as=APIGroupDiscoveryList"));
	ck_assert(front_has_header(&fixture, "Cache-Control: public"));
	ck_assert(front_has_header(&fixture, "Vary: Accept"));
	ck_assert_ptr_nonnull(strstr(front_body(&fixture),
		"{\"subresource\":\"scale\",\"responseKind\":{\"group\":\"autoscaling\","
		"\"version\":\"v1\",\"kind\":\"Scale\"},\"verbs\":[\"get\",\"patch\","
		"\"update\"]}"));
	/* a request with the ETag of the answer gets no body */
	struct bt_str headers = bt_strbuf_str(&fixture.answer_headers);
	int64_t at = bt_str_find(headers, BT_STR("ETag: "));
	ck_assert_int_ge(at, 0);
	struct bt_str etag = bt_str_sub(headers, (uint32_t)at + 6, 18);
	struct bt_strbuf again = {0};
	bt_strbuf_printf(&again, "%sIf-None-Match: %.*s\n", accept, BT_STR_ARG(etag));
	fixture.headers = bt_strbuf_c(&again);
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/apis", BT_STR("")), 304);
	ck_assert_uint_eq(fixture.body.length, 0);
	bt_strbuf_finish(&again);
	fixture.headers = accept;
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/api", BT_STR("")), 200);
	ck_assert_ptr_nonnull(
		strstr(front_body(&fixture), "\"items\":[{\"metadata\":{},\"versions\":"));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__objects)
{
	static const struct row rows[] = {
		{"POST", PODS, NULL, POD, 201, "\"kind\":\"Pod\",\"apiVersion\":\"v1\""},
		{"POST", PODS, NULL, POD, 409, "pods \\\"a1\\\" already exists"},
		{"GET", PODS "/a1", NULL, NULL, 200, "\"name\":\"a1\""},
		{"GET", PODS "/a1?pretty=true", NULL, NULL, 200, "{\n  \"kind\": \"Pod\",\n"},
		{"GET", PODS "/a1", "User-Agent: curl/7\n", NULL, 200, "{\n  \"kind\": \"Pod\",\n"},
		{"GET", PODS "/a1?pretty=false", "User-Agent: curl/7\n", NULL, 200,
			"{\"kind\":\"Pod\","},
		{"GET", PODS "/a1?pretty=true;x=1", NULL, NULL, 200, "{\"kind\":\"Pod\","},
		{"GET", PODS "/a1", "Accept: application/yaml\n", NULL, 200, "kind: Pod\n"},
		{"GET", PODS "/a1?resourceVersion=abc", NULL, NULL, 400,
			"invalid resource version: resourceVersion: Invalid value: "},
		{"POST", PODS "/a1/exec?command=ls", NULL, NULL, 400, "this is a simulated node"},
		{"GET", PODS "/a1/exec?command=ls", NULL, NULL, 400, "this is a simulated node"},
		{"GET", PODS "/nope", NULL, NULL, 404, "pods \\\"nope\\\" not found"},
		{"GET", PODS, NULL, NULL, 200, "\"kind\":\"PodList\""},
		{"GET", "/api/v1/namespaces//pods", NULL, NULL, 200, "\"name\":\"a1\""},
		{"PUT", PODS "/a1", NULL, "", 400, "unexpected end of JSON input"},
		{"PUT", PODS "/a1", NULL, "{\"metadata\":{\"name\":\"zz\"}}", 400,
			"does not match the name on the URL"},
		{"POST", PODS, NULL, "{\"apiVersion\":\"v1\",\"kind\":\"Service\"}", 400,
			"Service in version \\\"v1\\\" cannot be handled as a Pod: converting "
			"(v1.Service) to (core.Pod): unknown conversion"},
		{"POST", "/apis/storage.k8s.io/v1/storageclasses", NULL,
			"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}", 400,
			"converting (v1.Deployment) to (storage.StorageClass): unknown conversion"},
		{"PUT", PODS "/a1", NULL, "[]", 400, "cannot unmarshal array"},
		{"PUT", PODS "/a1", "Content-Type: text/plain\n", POD, 415, "accepted media types"},
		{"PUT", PODS "/a1", "Content-Type: application/merge-patch+json\n", POD, 415,
			"accepted media types"},
		{"PATCH", PODS "/a1", NULL, "{}", 415, "415: Unsupported Media Type"},
		{"PATCH", PODS "/a1", "Content-Type: application/merge-patch+json\n",
			"{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", 200,
			"\"labels\":{\"a\":\"b\"}"},
		{"PATCH", PODS "/a1", "Content-Type: application/json-patch+json\n",
			"[{\"op\":\"remove\",\"path\":\"/metadata/labels/a\"}]", 200, NULL},
		{"PATCH", PODS "/a1", "Content-Type: application/apply-patch+yaml\n", "{}", 422,
			"fieldManager: Required value: is required for apply patch"},
		{"PATCH", PODS "/a1?fieldManager=m", "Content-Type: application/apply-patch+yaml\n",
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a1\n  labels: {x: z}\n", 200,
			"\"x\":\"z\""},
		{"PATCH", PODS "/a1?force=true", "Content-Type: application/merge-patch+json\n",
			"{}", 422, "force: Forbidden: may not be specified for non-apply patch"},
		{"HEAD", PODS, NULL, NULL, 405, "does not allow this method"},
		{"OPTIONS", PODS, NULL, NULL, 405, "does not allow this method"},
		{"POST", PODS "/a1", NULL, POD, 405, "does not allow this method"},
		{"GET", PODS, "Accept: text/html\n", NULL, 406,
			"only the following media types are accepted: application/json"},
		{"DELETE", PODS "/a1", NULL, "{\"kind\":\"Pod\"}", 400, "DeleteOptions"},
		{"DELETE", PODS "/a1", NULL, "{\"gracePeriodSeconds\":\"1\"}", 400,
			"cannot unmarshal"},
		{"DELETE", PODS "/a1?gracePeriodSeconds=x", NULL, NULL, 400,
			"strconv.ParseInt: parsing \\\"x\\\": invalid syntax"},
		{"DELETE", PODS "/a1", NULL, "{\"preconditions\":{\"uid\":\"zz\"}}", 409,
			"the UID in the precondition (zz)"},
		{"DELETE", PODS "/a1?dryRun=All", "Content-Type: application/json\n", NULL, 200,
			"\"name\":\"a1\""},
		{"DELETE", PODS "/a1", "Content-Type: application/json\n",
			"{\"propagationPolicy\":\"Background\"}", 200, "\"name\":\"a1\""},
		{"GET", PODS "/a1", NULL, NULL, 404, NULL},
		{"POST", PODS, NULL, POD, 201, NULL},
		{"DELETE", PODS, NULL, NULL, 200, "\"name\":\"a1\""},
		{"GET", PODS, NULL, NULL, 200, "\"items\":[]"},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__options)
{
	static const struct row rows[] = {
		{"POST", PODS "?dryRun=Foo", NULL, POD, 422,
			"CreateOptions.meta.k8s.io \\\"\\\" is invalid: dryRun: Unsupported value: "
			"[\\\"Foo\\\"]: supported values: \\\"All\\\""},
		{"POST", PODS "?fieldValidation=Foo", NULL, POD, 422,
			"fieldValidation: Unsupported value: \\\"Foo\\\": supported values: "
			"\\\"\\\", \\\"Ignore\\\", \\\"Strict\\\", \\\"Warn\\\""},
		{"POST", PODS "?fieldManager=%01", NULL, POD, 422, "non-printable"},
		{"POST", PODS "?dryRun=All", NULL, POD, 201, "\"name\":\"a1\""},
		{"GET", PODS "/a1", NULL, NULL, 404, NULL},
		{"DELETE", PODS "/a1?propagationPolicy=Bogus", NULL, NULL, 422,
			"propagationPolicy: Unsupported value: \\\"Bogus\\\": supported values: "
			"\\\"Foreground\\\", \\\"Background\\\", \\\"Orphan\\\", \\\"nil\\\""},
		{"DELETE", PODS "/a1", NULL, "{\"dryRun\":[\"x\"]}", 422,
			"DeleteOptions.meta.k8s.io"},
		{"DELETE", PODS "/a1?orphanDependents=true&propagationPolicy=Orphan", NULL, NULL,
			422, "cannot be both set"},
		{"GET", PODS "?limit=x", NULL, NULL, 400,
			"strconv.ParseInt: parsing \\\"x\\\": invalid syntax"},
		{"GET", PODS "?limit=99999999999999999999", NULL, NULL, 400, "value out of range"},
		{"GET", PODS "?resourceVersion=-1", NULL, NULL, 400,
			"strconv.ParseUint: parsing \\\"-1\\\": invalid syntax"},
		{"GET", PODS "?timeout=32s&%zz=1&nope", NULL, NULL, 200, NULL},
		/* The first value of a repeated parameter counts. */
		{"GET", PODS "?watch=0&watch=1", NULL, NULL, 200, "\"kind\":\"PodList\""},
		{"GET", PODS "?pretty=1&pretty=0", NULL, NULL, 200, "\"kind\": \"PodList\""},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_15_watch_with_limit)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(front_ask(&fixture, "POST", PODS, BT_STR(POD)), 201);
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/api/v1/pods?watch=1&limit=1", BT_STR("")), 200);
	ck_assert(fixture.streamed);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "{\"type\":\"ADDED\""));
	ck_assert(front_has_header(&fixture, "Content-Type: application/json"));
	/* the old /watch/ prefix, for an existing and for a missing object */
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/api/v1/watch/namespaces/default/pods/a1", BT_STR("")),
		200);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "{\"type\":\"ADDED\""));
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/api/v1/watch/namespaces/default/pods/b", BT_STR("")),
		200);
	ck_assert_uint_eq(fixture.body.length, 0);
	ck_assert(fixture.streamed);
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_19_yaml_body)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	fixture.headers = "Content-Type: application/yaml\n";
	ck_assert_uint_eq(front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps",
				  BT_STR("metadata: {name: yaml}\ndata:\n  a: b\n")),
		201);
	ck_assert_uint_eq(front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps",
				  BT_STR("a: [\n")),
		400);
	/*
	 * the last value of a repeated key counts; fieldValidation decides whether a repeated key
	 * is an error
	 */
	static const char *const validations[] = {"Strict", "Warn", "Ignore"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(validations); i++) {
		char path[128];
		char body[128];
		(void)snprintf(path, sizeof(path),
			"/api/v1/namespaces/default/configmaps?fieldValidation=%s", validations[i]);
		(void)snprintf(body, sizeof(body),
			"metadata:\n  name: twice%d\ndata:\n  a: b\n  a: c\n", (int)i);
		ck_assert_uint_eq(
			front_ask(&fixture, "POST", path, bt_str_from(body)), i == 0 ? 400 : 201);
		const char *text = bt_strbuf_c(&fixture.body);
		ck_assert(strstr(text,
				  i == 0 ? "strict decoding error: yaml: unmarshal errors:\\n  "
					   "line 5: key \\\"a\\\" already set in map"
					 : "\"data\":{\"a\":\"c\"}") != NULL);
		ck_assert(front_has_header(&fixture,
				  "Warning: 299 - \"line 5: key \\\"a\\\" already set in map\"") ==
			(i == 1));
	}
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_20_strict_and_warned_fields)
{
	static const char body[] = "{\"metadata\":{\"name\":\"w\"},\"bad\":1}";
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(front_ask(&fixture, "POST",
				  "/api/v1/namespaces/default/configmaps?fieldValidation=Strict",
				  bt_str_from(body)),
		400);
	ck_assert_uint_eq(front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps",
				  bt_str_from(body)),
		201);
	ck_assert(front_has_header(&fixture, "Warning: 299 - \"unknown field \\\"bad\\\"\""));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__deprecated_versions)
{
#define VERSION(name, more) \
	"{\"name\":\"" name "\",\"served\":true," more \
	",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
	static const char body[] =
		"{\"metadata\":{\"name\":\"foos.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":"
		"\"Cluster\",\"names\":{\"plural\":\"foos\",\"kind\":\"Foo\"},\"versions\":"
		"[" VERSION("v1alpha1",
			"\"storage\":false,\"deprecated\":true,"
			"\"deprecationWarning\":\"go away\"") "," VERSION("v1beta1",
			"\"storage\":false,\"deprecated\":true") "," VERSION("v1",
			"\"storage\":true") "]}}";
	static const char *const warnings[][2] = {{"v1", NULL},
		{"v1beta1", "299 - \"x.io/v1beta1 Foo is deprecated; use x.io/v1 Foo\""},
		{"v1alpha1", "299 - \"go away\""}};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(front_ask(&fixture, "POST",
				  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
				  bt_str_from(body)),
		201);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(warnings); i++) {
		char path[64];
		char header[128];
		(void)snprintf(path, sizeof(path), "/apis/x.io/%s/foos", warnings[i][0]);
		(void)snprintf(header, sizeof(header), "Warning: %s",
			warnings[i][1] != NULL ? warnings[i][1] : "");
		ck_assert_uint_eq(front_ask(&fixture, "GET", path, BT_STR("")), 200);
		ck_assert_int_eq(front_has_header(&fixture, header), warnings[i][1] != NULL);
	}
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__definition_in_a_group_of_metrics)
{
	static const char body[] =
		"{\"metadata\":{\"name\":\"foos.custom.metrics.k8s.io\",\"annotations\":{"
		"\"api-approved.kubernetes.io\":\"unapproved\"}},\"spec\":{\"group\":"
		"\"custom.metrics.k8s.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":"
		"\"foos\",\"kind\":\"Foo\"},\"versions\":[" VERSION(
			"v1", "\"storage\":true") "]}}";
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(front_ask(&fixture, "POST",
				  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
				  bt_str_from(body)),
		201);
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/apis/custom.metrics.k8s.io", BT_STR("")), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "custom.metrics.k8s.io/v1\""));
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "custom.metrics.k8s.io/v1beta2\""));
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "custom.metrics.k8s.io/v1beta1\""));
	front_fixture_finish(&fixture);
}
END_TEST

/* kubectl exec sends each argument of the command as a parameter, before all others. */
START_TEST(test_front__many_parameters)
{
	struct front_fixture fixture;
	struct bt_strbuf target = {0};
	front_fixture_init(&fixture, NULL);
	bt_strbuf_append_c(&target, "/readyz?");
	for (int i = 0; i < 500; i++) {
		bt_strbuf_printf(&target, "command=%d&", i);
	}
	bt_strbuf_append_c(&target, "verbose=true");
	ck_assert_uint_eq(front_ask(&fixture, "GET", bt_strbuf_c(&target), BT_STR("")), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "[+]ping ok\n"));
	bt_strbuf_finish(&target);
	front_fixture_finish(&fixture);
}
END_TEST

/* Some clients read only a hundred header lines: no answer may have more. */
START_TEST(test_front__warnings_are_few)
{
	struct front_fixture fixture;
	struct bt_strbuf body = {0};
	front_fixture_init(&fixture, NULL);
	for (uint32_t wide = 0; wide < 2; wide++) {
		bt_strbuf_reset(&body);
		bt_strbuf_append_c(&body, "{");
		for (uint32_t i = 0; i < 1000; i++) {
			bt_strbuf_printf(&body, "\"%0*u\":0,", wide != 0 ? 3000 : 1, i);
		}
		bt_strbuf_printf(&body,
			"\"metadata\":{\"name\":\"w%u\"},\"spec\":{\"containers\":[{\"name\":\"c\","
			"\"image\":\"i\"}]}}",
			wide);
		ck_assert_uint_eq(front_ask(&fixture, "POST", PODS, bt_strbuf_str(&body)), 201);
		struct bt_str headers = bt_strbuf_str(&fixture.answer_headers);
		uint32_t lines = 0;
		for (uint32_t i = 0; i < headers.length; i++) {
			lines += headers.data[i] == '\n';
		}
		ck_assert_uint_gt(lines, 6);
		ck_assert_uint_lt(lines, 80);
		ck_assert_uint_lt(headers.length, 8192);
	}
	bt_strbuf_finish(&body);
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_36_unknown_resources)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/api/v1/foos", BT_STR("")), 404);
	ck_assert_str_eq(front_body(&fixture),
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"the server could not find the requested "
		"resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}\n");
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/apis/foo/v1/bars", BT_STR("")), 404);
	ck_assert_str_eq(front_body(&fixture), "404 page not found\n");
	ck_assert(front_has_header(&fixture, "Content-Type: text/plain; charset=utf-8"));
	front_fixture_finish(&fixture);
}
END_TEST

/* Cases 38 and 39 describe what clients do if these documents are missing. */
START_TEST(test_front__edge_14_38_descriptions_are_served)
{
	static const char protobuf[] =
		"Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf\n";
	static const struct row rows[] = {
		{"GET", "/openapi/v2", protobuf, NULL, 200, "\n\0032.0"},
		{"GET", "/openapi/v2", "Accept: application/json\n", NULL, 200,
			"\"/api/v1/namespaces/{namespace}/configmaps/{name}\":"},
		{"GET", "/openapi/v3", NULL, NULL, 200, "\"apis/apps/v1\":"},
		{"GET", "/openapi/v3/apis/apps/v1", NULL, NULL, 200, "\"fieldValidation\""},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	fixture.headers = protobuf;
	ck_assert_uint_eq(front_ask(&fixture, "GET", "/openapi/v2", BT_STR("")), 200);
	/* Go clients cannot parse a media type with "@" */
	ck_assert(front_has_header(&fixture,
		"Content-Type: application/com.github.proto-openapi.spec.v2.v1.0+protobuf"));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_39_tables_are_served)
{
	static const char accept[] =
		"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,"
		"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json\n";
	static const struct row rows[] = {
		{"POST", PODS, NULL, POD, 201, NULL},
		{"GET", PODS, accept, NULL, 200,
			"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\""},
		{"GET", PODS, accept, NULL, 200, "\"name\":\"Restarts\""},
		{"GET", PODS "/a1", accept, NULL, 200, "{\"cells\":[\"a1\",\"0/1\",\"Pending\","},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__edge_14_40_include_object)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	fixture.headers = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\n";
	ck_assert_uint_eq(front_ask(&fixture, "GET", PODS "?includeObject=Foo", BT_STR("")), 400);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture),
		"Unable to convert to Table as requested: includeObject: Invalid value: "
		"\\\"Foo\\\": must be 'Metadata', 'Object', 'None', or empty"));
	ck_assert_uint_eq(front_ask(&fixture, "GET", PODS "?includeObject=None", BT_STR("")), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "\"kind\":\"Table\""));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__protobuf)
{
	struct front_fixture fixture;
	struct bt_strbuf bytes = {0};
	/* ConfigMap {metadata {name "p"}, data {"a": "b"}} */
	static const char message[] = "\x0a\x03\x0a\x01p\x12\x06\x0a\x01"
				      "a\x12\x01"
				      "b";
	struct bt_envelope envelope = {
		BT_STR("v1"), BT_STR("ConfigMap"), {message, sizeof(message) - 1}};
	bt_envelope_encode(&envelope, &bytes);
	front_fixture_init(&fixture, NULL);
	fixture.headers = "Content-Type: application/vnd.kubernetes.protobuf\n"
			  "Accept: application/vnd.kubernetes.protobuf,application/json\n";
	ck_assert_uint_eq(front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps",
				  bt_strbuf_str(&bytes)),
		201);
	ck_assert(front_has_header(&fixture, "Content-Type: application/vnd.kubernetes.protobuf"));
	ck_assert_int_eq(memcmp(fixture.body.data, "k8s\0", 4), 0);
	ck_assert_uint_eq(
		front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps", BT_STR("k8s")),
		400);
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/api/v1/namespaces/default/nope", BT_STR("")), 404);
	fixture.headers = NULL;
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", "/api/v1/namespaces/default/configmaps/p", BT_STR("")),
		200);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "\"data\":{\"a\":\"b\"}"));
	bt_strbuf_finish(&bytes);
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__depth)
{
	struct front_fixture fixture;
	struct bt_strbuf body = {0};
	front_fixture_init(&fixture, NULL);
	bt_strbuf_append_c(&body, "{\"data\":");
	for (int i = 0; i < 100000; i++) {
		bt_strbuf_append_c(&body, i % 2 == 0 ? "[" : "{\"a\":");
	}
	ck_assert_uint_eq(front_ask(&fixture, "POST", "/api/v1/namespaces/default/configmaps",
				  bt_strbuf_str(&body)),
		400);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "nests deeper than 500 levels"));
	bt_strbuf_finish(&body);
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__tokens)
{
	static const struct bt_str staff[] = {
		BT_STR_INIT("staff"), BT_STR_INIT("system:authenticated")};
	const struct bt_front_token tokens[] = {
		{"secret", bt_user_admin},
		{"other", {.name = BT_STR("bob"), .group_count = 2, .groups = staff}},
	};
	struct bt_front_options options = {
		.certificate_pem = "", .tokens = tokens, .token_count = BT_ARRAY_LENGTH(tokens)};
	static const char review[] = "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\"}}}";
	static const struct row rows[] = {
		{"GET", PODS, "Authorization: Bearer secret\n", NULL, 200, NULL},
		{"GET", PODS, "Authorization: BEARER secret\n", NULL, 200, NULL},
		{"GET", PODS, "Authorization: Bearer secre\n", NULL, 401,
			"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
			"\"status\":\"Failure\",\"message\":\"Unauthorized\","
			"\"reason\":\"Unauthorized\",\"code\":401}"},
		{"GET", PODS, "Authorization: Bearer \n", NULL, 401, NULL},
		{"GET", PODS, "Authorization: Basic secret\n", NULL, 401, NULL},
		{"GET", PODS, NULL, NULL, 403,
			"pods is forbidden: User \\\"system:anonymous\\\" cannot list resource "
			"\\\"pods\\\" in API group \\\"\\\" in the namespace \\\"default\\\""},
		{"GET", "/api/v1/nodes/n", "Authorization: Bearer other\n", NULL, 403,
			"nodes \\\"n\\\" is forbidden: User \\\"bob\\\" cannot get resource "
			"\\\"nodes\\\" in API group \\\"\\\" at the cluster scope"},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale",
			"Authorization: Bearer other\n", NULL, 403,
			"cannot patch resource \\\"deployments/scale\\\" in API group "
			"\\\"apps\\\""},
		{"GET", "/nope", "Authorization: Bearer other\n", NULL, 403,
			"forbidden: User \\\"bob\\\" cannot get path \\\"/nope\\\""},
		{"GET", "/apis", "Authorization: Bearer other\n", NULL, 200, NULL},
		{"GET", "/version", NULL, NULL, 200, NULL},
		{"GET", "/readyz", NULL, NULL, 200, "ok"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"Authorization: Bearer other\n", review, 201, "\"allowed\":false"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"Authorization: Bearer secret\n", review, 201, "\"allowed\":true"},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			"Authorization: Bearer secret\n", "{\"spec\":{\"token\":\"other\"}}", 201,
			"\"authenticated\":true,\"user\":{\"username\":\"bob\","
			"\"groups\":[\"staff\",\"system:authenticated\"]}"},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			"Authorization: Bearer secret\n", "{\"spec\":{\"token\":\"nobody\"}}", 201,
			"\"status\":{\"authenticated\":false,\"error\":\"invalid bearer token\"}"},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			"Authorization: Bearer secret\n", "{}", 201, "\"authenticated\":false"},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
			"Authorization: Bearer secret\nImpersonate-User: eve\n"
			"Impersonate-Group: g1\nImpersonate-Group: g2\n",
			"{}", 201,
			"\"username\":\"eve\",\"groups\":[\"g1\",\"g2\",\"system:authenticated\"]"},
		{"GET", PODS, "Authorization: Bearer secret\nImpersonate-User: eve\n", NULL, 403,
			"User \\\"eve\\\" cannot list"},
		{"GET", PODS, "Authorization: Bearer other\nImpersonate-User: admin\n", NULL, 403,
			"users \\\"admin\\\" is forbidden: User \\\"bob\\\" cannot impersonate "
			"resource \\\"users\\\""},
		{"GET", PODS, "Authorization: Bearer secret\nImpersonate-Group: g\n", NULL, 500,
			NULL},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, &options);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__browsers_are_refused_without_tls)
{
	static const struct row rows[] = {
		{"GET", PODS, "Host: 127.0.0.1:8080\n", NULL, 200, NULL},
		{"GET", PODS, "Host: [::1]:8080\n", NULL, 200, NULL},
		{"GET", PODS, "Host: localhost:8080\nOrigin: http://localhost:8080\n", NULL, 200,
			NULL},
		{"GET", PODS, "Host: evil.example:8080\n", NULL, 403, "\"code\":403"},
		{"GET", PODS, "Host: 127.0.0.1.evil.example\n", NULL, 403, NULL},
		{"POST", PODS, "Host: 127.0.0.1:8080\nOrigin: http://evil.example\n", POD, 403,
			"other web sites"},
		{"POST", PODS, "Host: 127.0.0.1:8080\nOrigin: null\n", POD, 403, NULL},
		{"POST", PODS, "Host: 127.0.0.1:8080\nSec-Fetch-Site: cross-site\n", POD, 403,
			NULL},
	};
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	run_rows(&fixture, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__future_versions_wait)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	/* no answer comes within this turn, and the client closes the connection */
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", PODS "?resourceVersion=999999", BT_STR("")), 0);
	ck_assert_uint_eq(
		front_ask(&fixture, "GET", PODS "/a1?resourceVersion=999999", BT_STR("")), 0);
	ck_assert_uint_eq(front_ask(&fixture, "GET", PODS "?resourceVersion=1", BT_STR("")), 200);
	front_fixture_finish(&fixture);
}
END_TEST

/* A deletion after the first turn fails, so the answer is the failure and not a list. */
START_TEST(test_front__failed_deletecollection)
{
#define MAPS "/api/v1/namespaces/default/configmaps"
#define POLICY "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(
		front_ask_as(&fixture, NULL, "POST", POLICY "ies",
			"{'metadata':{'name':'p'},'spec':{'matchConstraints':{'resourceRules':"
			"[{'apiGroups':[''],'apiVersions':['v1'],'operations':['DELETE'],"
			"'resources':['configmaps']}]},'validations':[{'expression':"
			"'oldObject.metadata.name != \\\"m550\\\"'}]}}"),
		201);
	ck_assert_uint_eq(front_ask_as(&fixture, NULL, "POST", POLICY "ybindings",
				  "{'metadata':{'name':'b'},'spec':{'policyName':'p',"
				  "'validationActions':['Deny']}}"),
		201);
	for (uint32_t i = 100; i < 600; i++) {
		char body[80];
		(void)snprintf(body, sizeof(body), "{'metadata':{'name':'m%u'}}", i);
		ck_assert_uint_eq(front_ask_as(&fixture, NULL, "POST", MAPS, body), 201);
	}
	struct bt_front_call *call = front_start(&fixture, "DELETE", MAPS, BT_STR(""));
	bt_front_end(call); /* the client disconnects after the first turn */
	ck_assert_uint_eq(front_ask(&fixture, "GET", MAPS "/m299", BT_STR("")), 404);
	ck_assert_uint_eq(front_ask(&fixture, "GET", MAPS "/m300", BT_STR("")), 200);
	call = front_start(&fixture, "DELETE", MAPS, BT_STR(""));
	ck_assert(!fixture.answered);
	ck_assert_int_eq(bt_front_flush(fixture.front, NULL), 0);
	bt_front_end(call);
	ck_assert_uint_eq(fixture.code, 422);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "configmaps \\\"m550\\\" is forbidden"));
	ck_assert_uint_eq(front_ask(&fixture, "GET", MAPS "/m550", BT_STR("")), 200);
	front_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_front__one_cache_control)
{
	struct front_fixture fixture;
	front_fixture_init(&fixture, NULL);
	ck_assert_uint_eq(
		front_ask(&fixture, "GET",
			"/apis/external.metrics.k8s.io/v1beta1/namespaces/default/x", BT_STR("")),
		200);
	const char *first = strstr(bt_strbuf_c(&fixture.answer_headers), "Cache-Control");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "Cache-Control"));
	front_fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("front", test_front__one_cache_control, test_front__pages,
	test_front__aggregated_discovery, test_front__objects, test_front__options,
	test_front__edge_14_15_watch_with_limit, test_front__edge_14_19_yaml_body,
	test_front__edge_14_20_strict_and_warned_fields, test_front__edge_14_36_unknown_resources,
	test_front__edge_14_38_descriptions_are_served, test_front__edge_14_39_tables_are_served,
	test_front__edge_14_40_include_object, test_front__warnings_are_few, test_front__protobuf,
	test_front__depth, test_front__tokens, test_front__browsers_are_refused_without_tls,
	test_front__future_versions_wait, test_front__failed_deletecollection,
	test_front__deprecated_versions, test_front__definition_in_a_group_of_metrics,
	test_front__many_parameters)
