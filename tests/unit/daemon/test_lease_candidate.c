/* SPDX-License-Identifier: Apache-2.0 */
/** The LeaseCandidate over real sockets. Spec: 11 section 8.6. */
#include "daemon/leader_election.h"

#include <stdio.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "scripted_server.h"
#include "test_main.h"

#define CANDIDATES "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates"
/* 2026-11-21T00:27:40.770000Z */
#define WALL_NS INT64_C(1795220860770000000)

struct world {
	struct bt_loop *loop;
	struct scripted_server server;
	struct bt_client_config client_config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_prng prng;
	struct bt_lease_candidate *candidate;
	struct bt_versions versions;
	const char *items;
	struct bt_strbuf list;
	struct bt_strbuf writes; /* "METHOD path\nbody\n" */
	uint32_t failures;       /* number of coming writes that fail */
	uint32_t write_count;
	uint32_t stream_count; /* requests for streaming lists */
};

static void answer(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	struct world *world = context;
	*out_answer = (struct scripted_answer){
		.code = 200, .headers = "Content-Type: application/json\r\n"};
	if (strcmp(request->method, "GET") != 0) {
		world->write_count++;
		bt_strbuf_printf(&world->writes, "%s %s\n%.*s\n", request->method, request->path,
			BT_STR_ARG(request->body));
		out_answer->code = world->failures != 0 ? 500 : 201;
		world->failures -= world->failures != 0;
		bt_strbuf_reset(&world->list); /* copied: the request is freed before the answer */
		bt_strbuf_append_str(&world->list, request->body);
		out_answer->body = bt_strbuf_str(&world->list);
	} else if (strstr(request->path, "sendInitialEvents") != NULL) {
		ck_assert_ptr_nonnull(strstr(request->path, "metadata.name%3Dvm_1"));
		world->stream_count++;
		out_answer->code = 400; /* the server supports no streaming lists */
		out_answer->body = BT_STR("{}");
	} else if (strstr(request->path, "watch=") != NULL) {
		out_answer->hangs = true;
	} else {
		bt_strbuf_reset(&world->list);
		bt_strbuf_printf(&world->list,
			"{\"kind\":\"LeaseCandidateList\",\"apiVersion\":"
			"\"coordination.k8s.io/v1beta1\",\"metadata\":{\"resourceVersion\":\"9\"},"
			"\"items\":[%s]}",
			world->items);
		out_answer->body = bt_strbuf_str(&world->list);
	}
}

static int64_t wall_now_ns(void *context BT_UNUSED)
{
	return WALL_NS;
}

static void world_init(struct world *world, const char *items, bool streaming)
{
	struct bt_strbuf url = {0};
	*world = (struct world){.items = items};
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.answer = answer;
	world->server.context = world;
	bt_prng_init(&world->prng, 1);
	bt_strbuf_printf(&url, "http://127.0.0.1:%u", world->server.port);
	struct bt_client_config_input input = {.master = bt_strbuf_c(&url)};
	ck_assert_int_eq(bt_client_config_load(&input, &world->client_config, NULL), 0);
	struct bt_transport_options transport = {
		.loop = world->loop, .config = &world->client_config};
	ck_assert_int_eq(bt_transport_create(&transport, &world->transport, NULL), 0);
	struct bt_rest_options rest = {
		.transport = world->transport,
		.loop = world->loop,
		.user_agent = "test",
		.content_type = BT_STR("application/json"),
		.qps = -1,
	};
	ck_assert_int_eq(bt_rest_client_create(&rest, &world->client, NULL), 0);
	bt_strbuf_finish(&url);
	world->versions = bt_versions_default();
	struct bt_leader_election_options options = {
		.client = world->client,
		.loop = world->loop,
		.prng = &world->prng,
		.identity = "vm_1",
		.versions = &world->versions,
		.streaming = streaming,
		.wall_now_ns = wall_now_ns,
	};
	world->candidate = bt_lease_candidate_create(&options);
}

static void world_finish(struct world *world)
{
	bt_lease_candidate_destroy(world->candidate);
	bt_rest_client_destroy(world->client);
	bt_transport_destroy(world->transport);
	bt_client_config_finish(&world->client_config);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	bt_strbuf_finish(&world->list);
	bt_strbuf_finish(&world->writes);
}

/**
 * Turns the loop until the writes arrived, then 20 turns more, to see that no further write comes.
 */
static void turn_until_written(struct world *world, uint32_t writes)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + 20 * BT_NS_PER_SECOND;
	while (world->write_count < writes) {
		ck_assert_int_eq(bt_loop_turn(world->loop, 50 * BT_NS_PER_MS, NULL), 0);
		ck_assert_int_lt(bt_loop_now_ns(world->loop), end_ns);
	}
	for (uint32_t i = 0; i < 20; i++) {
		ck_assert_int_eq(bt_loop_turn(world->loop, BT_NS_PER_MS, NULL), 0);
	}
	ck_assert_uint_eq(world->write_count, writes);
}

#define POSTED \
	"POST " CANDIDATES "\n{\"kind\":\"LeaseCandidate\",\"apiVersion\":" \
	"\"coordination.k8s.io/v1beta1\",\"metadata\":{\"name\":\"vm_1\",\"namespace\":" \
	"\"kube-system\"},\"spec\":{\"leaseName\":\"kube-scheduler\",\"renewTime\":" \
	"\"2026-11-21T00:27:40.770000Z\",\"binaryVersion\":\"1.36.2\",\"emulationVersion\":" \
	"\"1.36.0\",\"strategy\":\"OldestEmulationVersion\"}}\n"

START_TEST(test_lease_candidate__is_made)
{
	struct world world;
	world_init(&world, "", true);
	turn_until_written(&world, 1);
	ck_assert_uint_eq(world.stream_count, 1);
	ck_assert_str_eq(bt_strbuf_c(&world.writes), POSTED);
	world_finish(&world);
}
END_TEST

START_TEST(test_lease_candidate__failures_are_repeated)
{
	struct world world;
	world_init(&world, "", false);
	world.failures = 2;
	turn_until_written(&world, 3);
	ck_assert_uint_eq(world.stream_count, 0);
	ck_assert_str_eq(bt_strbuf_c(&world.writes), POSTED POSTED POSTED);
	world_finish(&world);
}
END_TEST

START_TEST(test_lease_candidate__answers_a_ping)
{
	struct world world;
	world_init(&world,
		"{\"metadata\":{\"name\":\"vm_1\",\"namespace\":\"kube-system\",\"uid\":\"u\","
		"\"resourceVersion\":\"8\"},\"spec\":{\"leaseName\":\"kube-scheduler\","
		"\"pingTime\":\"2026-11-21T00:20:00.000000Z\",\"renewTime\":"
		"\"2026-11-21T00:10:00.000000Z\",\"new\":1}}",
		true);
	turn_until_written(&world, 1);
	ck_assert_str_eq(bt_strbuf_c(&world.writes),
		"PUT " CANDIDATES "/vm_1\n"
		"{\"metadata\":{\"name\":\"vm_1\",\"namespace\":\"kube-system\",\"uid\":\"u\","
		"\"resourceVersion\":\"8\"},\"spec\":{\"leaseName\":\"kube-scheduler\","
		"\"pingTime\":\"2026-11-21T00:20:00.000000Z\",\"renewTime\":"
		"\"2026-11-21T00:27:40.770000Z\",\"new\":1},\"kind\":\"LeaseCandidate\","
		"\"apiVersion\":\"coordination.k8s.io/v1beta1\"}\n");
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("lease_candidate", test_lease_candidate__is_made,
	test_lease_candidate__failures_are_repeated, test_lease_candidate__answers_a_ping)
