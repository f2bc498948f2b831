/* SPDX-License-Identifier: Apache-2.0 */
/* Reflectors over real connections to berth's own API server. */
#include "test_main.h"

#include "api/pod.h"
#include "api_fixture.h"
#include "base/log.h"
#include "base/prng.h"
#include "client/transport.h"
#include "copied.h"
#include "net/loop.h"
#include "server/front.h"

#define JSON "application/json"
#define PROTOBUF "application/vnd.kubernetes.protobuf"

static struct {
	struct api_fixture api;
	struct bt_loop *loop;
	struct bt_front *front;
	struct bt_client_config config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_metrics *metrics;
	struct bt_prng prng;
	struct bt_reflector *reflector;
	struct copied copied;
} f;

static uint32_t fallbacks; /* falls back from streaming to paged lists */

static bool log_is_enabled(void *context, const char *file, int verbosity)
{
	(void)context;
	(void)file;
	(void)verbosity;
	return true;
}

static void write_log(void *context, const struct bt_log_record *record)
{
	(void)context;
	fallbacks +=
		bt_str_equal(record->message, BT_STR("Streaming list failed, listing instead"));
}

static void start_front(uint16_t port)
{
	struct bt_front_options options = {.api = f.api.api,
		.address = "127.0.0.1",
		.port = port,
		.limits = bt_http_default_limits,
		.watches_max = 10};

	ck_assert_int_eq(bt_front_create(f.loop, &options, &f.front, NULL), 0);
	bt_front_set_ready(f.front);
}

static void begin(const char *content_type)
{
	static const struct bt_log_sink sink = {NULL, log_is_enabled, write_log};
	struct bt_rest_options rest = {
		.user_agent = "test", .content_type = bt_str_from(content_type), .qps = -1};
	struct bt_transport_options transport = {.config = &f.config};
	struct bt_strbuf text = {NULL, 0, 0};

	memset(&f, 0, sizeof(f));
	fallbacks = 0;
	bt_log_set_sink(&sink);
	bt_log_set_verbosity_max(5);
	bt_prng_init(&f.prng, 3);
	api_fixture_init(&f.api);
	ck_assert_int_eq(bt_loop_create(&f.loop, NULL), 0);
	start_front(0);
	bt_strbuf_printf(&text,
		"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
		"clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%u'}}]\n",
		(unsigned)bt_front_port(f.front));
	ck_assert_int_eq(
		bt_client_config_parse(bt_strbuf_str(&text), "", "", &f.config, NULL, NULL), 0);
	bt_strbuf_finish(&text);
	transport.loop = f.loop;
	ck_assert_int_eq(bt_transport_create(&transport, &f.transport, NULL), 0);
	rest.transport = f.transport;
	rest.loop = f.loop;
	ck_assert_int_eq(bt_rest_client_create(&rest, &f.client, NULL), 0);
	f.metrics = bt_metrics_create();
}

static void reflect(bool streaming)
{
	struct bt_reflector_options options = {
		.client = f.client,
		.loop = f.loop,
		.prng = &f.prng,
		.kind = BT_KIND_POD,
		.path = BT_STR_INIT("/api/v1/pods"),
		.field_selector = BT_STR_INIT("status.phase!=Succeeded,status.phase!=Failed"),
		.type_name = "*v1.Pod",
		.name = "pods",
		.streaming = streaming,
		.sink = copied_sink(&f.copied),
		.metrics = f.metrics,
	};

	f.reflector = bt_reflector_create(&options);
	f.copied.reflector = f.reflector;
}

static void end(void)
{
	ck_assert_uint_eq(fallbacks, 0);
	bt_log_set_sink(NULL);
	copied_check(&f.copied);
	bt_reflector_destroy(f.reflector);
	copied_finish(&f.copied);
	bt_rest_client_destroy(f.client);
	bt_transport_destroy(f.transport);
	bt_client_config_finish(&f.config);
	bt_front_destroy(f.front);
	bt_metrics_destroy(f.metrics);
	bt_loop_destroy(f.loop);
	api_fixture_finish(&f.api);
}

/**
 * Runs the loop until the copy has count pods and contains the named pod at this version (NULL: at
 * any version).
 */
static void wait_for(uint32_t count, const char *name, const char *version)
{
	int64_t end_ns = bt_loop_now_ns(f.loop) + INT64_C(30000000000);
	const struct bt_object *object = NULL;

	do {
		if (f.front != NULL) {
			ck_assert_int_eq(bt_front_flush(f.front, NULL), 0);
		}
		ck_assert_int_eq(bt_loop_turn(f.loop, 10000000, NULL), 0);
		copied_check(&f.copied);
		object = copied_find(&f.copied, BT_STR("default"), bt_str_from(name));
		if (bt_reflector_is_synced(f.reflector) && f.copied.objects.count == count &&
			object != NULL &&
			(version == NULL ||
				bt_str_equal_c(object->meta->resource_version, version))) {
			return;
		}
	} while (bt_loop_now_ns(f.loop) < end_ns);
	ck_abort_msg("%u pods, %s: there are %u", (unsigned)count, name,
		(unsigned)f.copied.objects.count);
}

static void create_pods(int first, int count)
{
	for (int i = first; i < first + count; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%d", i);
		api_create_pod(&f.api, name, NULL);
	}
}

/** Sets a label of p1. The new version is in the last answer of the API. */
static void change_pod(const char *value)
{
	struct bt_strbuf patch = {NULL, 0, 0};

	bt_strbuf_printf(&patch, "{'metadata':{'labels':{'v':'%s'}}}", value);
	ck_assert_uint_eq(
		api_patch(&f.api, BT_PATCH_MERGE, "pods", "default/p1", bt_strbuf_c(&patch)), 200);
	bt_strbuf_finish(&patch);
}

static void follow(const char *content_type, bool streaming)
{
	begin(content_type);
	create_pods(1, 700); /* more than a page */
	reflect(streaming);
	wait_for(700, "p700", NULL);
	ck_assert_uint_eq(f.copied.added, 700);
	ck_assert_uint_eq(f.copied.synced, 1);
	create_pods(701, 20);
	change_pod("new");
	wait_for(720, "p1", api_text(&f.api, "metadata.resourceVersion"));
	ck_assert_uint_eq(f.copied.updated, 1);
	f.api.request.grace_period_seconds = 0;
	ck_assert_uint_eq(api_delete(&f.api, "pods", "default/p2"), 200);
	wait_for(719, "p1", NULL);
	ck_assert_uint_eq(f.copied.deleted, 1);
	ck_assert_uint_eq(f.copied.stale, 0);
	end();
}

START_TEST(test_reflector_server__streaming_protobuf)
{
	follow(PROTOBUF, true);
}
END_TEST

START_TEST(test_reflector_server__streaming_json)
{
	follow(JSON, true);
}
END_TEST

START_TEST(test_reflector_server__paged_protobuf)
{
	follow(PROTOBUF, false);
}
END_TEST

START_TEST(test_reflector_server__edge_11b_45_json_only)
{
	follow(JSON, false);
}
END_TEST

/* The server stops for a while, and objects change meanwhile. */
START_TEST(test_reflector_server__edge_13_27_server_restarts)
{
	uint16_t port;

	begin(PROTOBUF);
	create_pods(1, 10);
	reflect(true);
	wait_for(10, "p10", NULL);
	port = bt_front_port(f.front);
	bt_front_destroy(f.front);
	f.front = NULL;
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(bt_loop_turn(f.loop, 10000000, NULL), 0);
	}
	create_pods(11, 5);
	f.api.request.grace_period_seconds = 0;
	ck_assert_uint_eq(api_delete(&f.api, "pods", "default/p2"), 200);
	start_front(port);
	change_pod("later");
	wait_for(14, "p1", api_text(&f.api, "metadata.resourceVersion"));
	ck_assert_uint_eq(f.copied.synced, 1);
	ck_assert_uint_eq(f.copied.added, 15);
	ck_assert_uint_eq(f.copied.deleted, 1);
	end();
}
END_TEST

static uint32_t failures_to_come;

static int decode_or_fail(enum bt_kind kind, struct bt_str json, struct bt_object **out_object,
	struct berth_error *err)
{
	struct bt_json_reader reader;

	if (failures_to_come > 0) {
		failures_to_come--;
		return bt_error_set(err, BERTH_ERR_INVALID, "not this one");
	}
	bt_json_reader_init(&reader, json);
	return bt_object_decode_as(kind, &reader, out_object, err);
}

/*
 * An event that cannot be decoded ends the watch from within the callback of the event. A list item
 * that cannot be decoded ends the list.
 */
START_TEST(test_reflector_server__what_cannot_be_read)
{
	struct bt_reflector_options options = {
		.kind = BT_KIND_POD,
		.decode_json = decode_or_fail,
		.path = BT_STR_INIT("/api/v1/pods"),
		.field_selector = BT_STR_INIT(""),
		.type_name = "*v1.Pod",
		.name = "pods",
		.sink = copied_sink(&f.copied),
	};

	begin(PROTOBUF);
	options.client = f.client;
	options.loop = f.loop;
	options.prng = &f.prng;
	options.metrics = f.metrics;
	create_pods(1, 3);
	f.reflector = bt_reflector_create(&options);
	f.copied.reflector = f.reflector;
	wait_for(3, "p3", NULL);
	/* fail the next event of the watch and the first list after it */
	failures_to_come = 2;
	change_pod("x");
	wait_for(3, "p1", api_text(&f.api, "metadata.resourceVersion"));
	ck_assert_uint_eq(failures_to_come, 0);
	end();
}
END_TEST

BT_TEST_MAIN("reflector_server", test_reflector_server__streaming_protobuf,
	test_reflector_server__streaming_json, test_reflector_server__paged_protobuf,
	test_reflector_server__edge_11b_45_json_only,
	test_reflector_server__edge_13_27_server_restarts,
	test_reflector_server__what_cannot_be_read)
