/* SPDX-License-Identifier: Apache-2.0 */
/** Leader election over real sockets. test_elector.c tests the times of the requests. */
#include "daemon/leader_election.h"

#include <stdio.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "scripted_server.h"
#include "test_main.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
/* 2026-11-21T00:27:40.770000Z */
#define WALL_NS INT64_C(1795220860770000000)

struct world {
	struct bt_loop *loop;
	struct scripted_server server;
	struct bt_client_config client_config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_prng prng;
	struct bt_metrics *metrics;
	struct bt_config_leader_election config;
	struct bt_leader_election *election;
	struct bt_strbuf lease; /* lease in the store; empty: none */
	uint32_t version;
	uint32_t conflicts;
	struct bt_strbuf told;
	bool has_stopped;
};

/** Serves a store of one lease, which requests read and write. */
static void answer(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	struct world *world = context;
	*out_answer = (struct scripted_answer){
		.code = 200, .headers = "Content-Type: application/json\r\n"};
	if (strcmp(request->method, "GET") == 0) {
		if (world->lease.length == 0) {
			out_answer->code = 404;
			out_answer->body = BT_STR(
				"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
				"\"reason\":\"NotFound\",\"code\":404,\"message\":\"not found\"}");
			return;
		}
	} else if (world->conflicts != 0) {
		world->conflicts--;
		out_answer->code = 409;
		out_answer->body =
			BT_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			       "\"reason\":\"Conflict\",\"code\":409,\"message\":\"modified\"}");
		return;
	} else {
		bt_strbuf_reset(&world->lease);
		bt_strbuf_append_str(&world->lease, request->body);
		out_answer->code = strcmp(request->method, "POST") == 0 ? 201 : 200;
	}
	out_answer->body = bt_strbuf_str(&world->lease);
}

static int64_t wall_now_ns(void *context BT_UNUSED)
{
	return WALL_NS;
}

static void started(void *context)
{
	struct world *world = context;
	bt_strbuf_append_c(&world->told, "started\n");
}

static void stopped(void *context, bool was_leading, bool lost)
{
	struct world *world = context;
	world->has_stopped = true;
	bt_strbuf_printf(&world->told, "stopped %d %d\n", was_leading, lost);
}

static void event(void *context, const struct bt_object_meta *lease, struct bt_str message)
{
	struct world *world = context;
	bt_strbuf_printf(&world->told, "%.*s/%.*s %.*s: %.*s\n", BT_STR_ARG(lease->namespace_),
		BT_STR_ARG(lease->name), BT_STR_ARG(lease->uid), BT_STR_ARG(message));
}

static void connect_client(struct world *world)
{
	struct bt_strbuf url = {0};
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
		.timeout_ns = 5 * BT_NS_PER_SECOND,
	};
	ck_assert_int_eq(bt_rest_client_create(&rest, &world->client, NULL), 0);
	bt_strbuf_finish(&url);
}

static struct bt_leader_election_options options_of(struct world *world)
{
	return (struct bt_leader_election_options){
		.client = world->client,
		.loop = world->loop,
		.prng = &world->prng,
		.config = &world->config,
		.identity = "vm_1",
		.metrics = world->metrics,
		.handler = {world, started, stopped, event},
		.wall_now_ns = wall_now_ns,
	};
}

static void world_init(struct world *world)
{
	*world = (struct world){.config = {.leader_elect = true,
					.lease_duration_ns = 15 * BT_NS_PER_SECOND,
					.renew_deadline_ns = 10 * BT_NS_PER_SECOND,
					.retry_period_ns = 100 * BT_NS_PER_MS,
					.resource_lock = BT_STR("leases"),
					.resource_name = BT_STR("kube-scheduler"),
					.resource_namespace = BT_STR("kube-system")}};
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.answer = answer;
	world->server.context = world;
	connect_client(world);
	bt_prng_init(&world->prng, 1);
	world->metrics = bt_metrics_create();
	struct bt_leader_election_options options = options_of(world);
	ck_assert_int_eq(bt_leader_election_create(&options, &world->election, NULL), 0);
}

static void world_finish(struct world *world)
{
	bt_leader_election_destroy(world->election);
	bt_rest_client_destroy(world->client);
	bt_transport_destroy(world->transport);
	bt_client_config_finish(&world->client_config);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	bt_metrics_destroy(world->metrics);
	bt_strbuf_finish(&world->lease);
	bt_strbuf_finish(&world->told);
}

static void turn_until(struct world *world, const bool *flag, uint32_t requests)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + 20 * BT_NS_PER_SECOND;
	while (!*flag && world->server.request_count < requests) {
		ck_assert_int_eq(bt_loop_turn(world->loop, 50 * BT_NS_PER_MS, NULL), 0);
		ck_assert_int_lt(bt_loop_now_ns(world->loop), end_ns);
	}
}

static const char *metrics_text(struct world *world, struct bt_strbuf *out)
{
	bt_strbuf_reset(out);
	bt_metrics_write(world->metrics, BT_METRICS_TEXT, out);
	return bt_strbuf_c(out);
}

#define CREATED \
	"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":" \
	"\"kube-scheduler\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":" \
	"\"vm_1\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-11-21T00:27:40.770000Z\"," \
	"\"renewTime\":\"2026-11-21T00:27:40.770000Z\",\"leaseTransitions\":0}}"
#define RELEASED \
	"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":" \
	"\"kube-scheduler\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":\"\"," \
	"\"leaseDurationSeconds\":1,\"acquireTime\":\"2026-11-21T00:27:40.770000Z\"," \
	"\"renewTime\":\"2026-11-21T00:27:40.770000Z\",\"leaseTransitions\":0}}"

START_TEST(test_leader_election__requests)
{
	struct world world;
	struct bt_strbuf text = {0};
	world_init(&world);
	ck_assert_ptr_nonnull(strstr(metrics_text(&world, &text),
		"leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
	bt_leader_election_start(world.election);
	turn_until(&world, &world.has_stopped, 3);
	ck_assert_str_eq(scripted_server_log(&world.server),
		"GET " LEASES "/kube-scheduler?timeout=5s\n"
		"POST " LEASES "?timeout=5s\n" CREATED "\n"
		"PUT " LEASES "/kube-scheduler?timeout=5s\n" CREATED "\n");
	turn_until(&world, &world.has_stopped, 4);
	ck_assert(bt_leader_election_may_act(world.election));
	ck_assert_ptr_nonnull(strstr(metrics_text(&world, &text),
		"leader_election_master_status{name=\"kube-scheduler\"} 1\n"));
	(void)scripted_server_log(&world.server);
	bt_leader_election_stop(world.election);
	ck_assert(!bt_leader_election_may_act(world.election));
	turn_until(&world, &world.has_stopped, 100);
	ck_assert_str_eq(scripted_server_log(&world.server),
		"GET " LEASES "/kube-scheduler?timeout=5s\n"
		"PUT " LEASES "/kube-scheduler?timeout=5s\n" RELEASED "\n");
	ck_assert_str_eq(bt_strbuf_c(&world.told),
		"kube-system/kube-scheduler : vm_1 became leader\nstarted\n"
		"kube-system/kube-scheduler : vm_1 stopped leading\nstopped 1 0\n");
	ck_assert_ptr_nonnull(strstr(metrics_text(&world, &text),
		"leader_election_master_status{name=\"kube-scheduler\"} 0\n"));
	bt_strbuf_finish(&text);
	world_finish(&world);
}
END_TEST

START_TEST(test_leader_election__keeps_unknown_fields)
{
	struct world world;
	world_init(&world);
	bt_strbuf_append_c(&world.lease,
		"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
		"\"name\":\"kube-scheduler\",\"uid\":\"u-9\",\"resourceVersion\":\"7\","
		"\"future\":{\"a\":[1.50]},\"labels\":{\"x\":\"y\"}},\"spec\":{\"holderIdentity\":"
		"\"\",\"leaseTransitions\":4,\"preferredHolder\":\"z\"},\"more\":null}");
	bt_leader_election_start(world.election);
	turn_until(&world, &world.has_stopped, 2);
	const char *put = strstr(scripted_server_log(&world.server), "PUT ");
	ck_assert_str_eq(put,
		"PUT " LEASES "/kube-scheduler?timeout=5s\n"
		"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
		"\"name\":\"kube-scheduler\",\"uid\":\"u-9\",\"resourceVersion\":\"7\","
		"\"future\":{\"a\":[1.50]},\"labels\":{\"x\":\"y\"}},\"spec\":{\"holderIdentity\":"
		"\"vm_1\",\"leaseDurationSeconds\":15,\"acquireTime\":"
		"\"2026-11-21T00:27:40.770000Z\",\"renewTime\":\"2026-11-21T00:27:40.770000Z\","
		"\"leaseTransitions\":5},\"more\":null}\n");
	turn_until(&world, &world.has_stopped, 3);
	ck_assert_str_eq(bt_strbuf_c(&world.told),
		"kube-system/kube-scheduler u-9: vm_1 became leader\nstarted\n");
	world_finish(&world);
}
END_TEST

START_TEST(test_leader_election__slow_path_is_counted)
{
	struct world world;
	struct bt_strbuf text = {0};
	world_init(&world);
	bt_leader_election_start(world.election);
	turn_until(&world, &world.has_stopped, 3);
	ck_assert_ptr_null(strstr(metrics_text(&world, &text), "slowpath_total{"));
	world.conflicts = 1;
	turn_until(&world, &world.has_stopped, 7);
	ck_assert_ptr_nonnull(strstr(metrics_text(&world, &text),
		"leader_election_slowpath_total{name=\"kube-scheduler\"} 1\n"));
	ck_assert(bt_leader_election_may_act(world.election));
	bt_strbuf_finish(&text);
	world_finish(&world);
}
END_TEST

START_TEST(test_leader_election__stop_before_it_leads)
{
	struct world world;
	world_init(&world);
	bt_strbuf_append_c(&world.lease, CREATED);
	world.lease.data[bt_str_find(bt_strbuf_str(&world.lease), BT_STR("vm_1")) + 3] = '2';
	bt_leader_election_start(world.election);
	turn_until(&world, &world.has_stopped, 1);
	bt_leader_election_stop(world.election);
	turn_until(&world, &world.has_stopped, 100);
	ck_assert_str_eq(bt_strbuf_c(&world.told), "stopped 0 0\n");
	ck_assert_uint_eq(world.server.request_count, 1);
	world_finish(&world);
}
END_TEST

/** An answer whose holder cannot be read must not look like a free lease. */
START_TEST(test_leader_election__garbage_is_no_lease)
{
#define LEASE_OF(spec) \
	"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":" \
	"\"kube-scheduler\"},\"spec\":" spec "}"
	static const char *const bodies[] = {
		"<html>",
		"null",
		"[]",
		"{}",
		"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}",
		LEASE_OF("[]"),
		LEASE_OF("{\"holderIdentity\":5}"),
		LEASE_OF("{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":\"15\"}"),
		LEASE_OF("{\"holderIdentity\":\"\",\"renewTime\":\"yesterday\"}"),
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(bodies); i++) {
		struct world world;
		world_init(&world);
		bt_strbuf_append_c(&world.lease, bodies[i]);
		bt_leader_election_start(world.election);
		turn_until(&world, &world.has_stopped, 3);
		ck_assert(!bt_leader_election_may_act(world.election));
		ck_assert_ptr_null(strstr(scripted_server_log(&world.server), "PUT"));
		world_finish(&world);
	}
#undef LEASE_OF
}
END_TEST

/** Spec 11 sections 8.1, 8.2. */
START_TEST(test_leader_election__edge_10_26_constructor)
{
	static const struct {
		const char *lock;
		int64_t lease_ns;
		int64_t renew_ns;
		int64_t retry_ns;
		const char *message;
	} rows[] = {
		{"leases", 15, 10, 9,
			"couldn't create leader elector: renewDeadline must be greater than "
			"retryPeriod*JitterFactor"},
		{"leases", 10, 10, 2,
			"couldn't create leader elector: leaseDuration must be greater than "
			"renewDeadline"},
		{"leases", 10, 1, -1,
			"couldn't create leader elector: retryPeriod must be greater than zero"},
		{"leases", 0, -1, -2,
			"couldn't create leader elector: leaseDuration must be greater than zero"},
		{"leases", 1, 0, -2,
			"couldn't create leader elector: renewDeadline must be greater than zero"},
		{"endpoints", 15, 10, 2,
			"couldn't create resource lock: endpoints lock is removed, migrate to "
			"leases"},
		{"configmapsleases", 15, 10, 2,
			"couldn't create resource lock: configmapsleases lock is removed, "
			"migrated to leases"},
		{"x", 15, 10, 2, "couldn't create resource lock: Invalid lock-type x"},
	};
	struct world world;
	world_init(&world);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_leader_election *none = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_leader_election_options options = options_of(&world);
		struct bt_config_leader_election config = world.config;
		config.resource_lock = bt_str_from(rows[i].lock);
		config.lease_duration_ns = rows[i].lease_ns * BT_NS_PER_SECOND;
		config.renew_deadline_ns = rows[i].renew_ns * BT_NS_PER_SECOND;
		config.retry_period_ns = rows[i].retry_ns * BT_NS_PER_SECOND;
		options.config = &config;
		ck_assert_int_eq(
			bt_leader_election_create(&options, &none, &err), BERTH_ERR_INVALID);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		ck_assert_ptr_null(none);
		berth_error_finish(&err);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_leader_election__identities_differ)
{
	struct bt_strbuf a = {0};
	struct bt_strbuf b = {0};
	ck_assert_int_eq(bt_leader_election_make_identity(&a, NULL), 0);
	ck_assert_int_eq(bt_leader_election_make_identity(&b, NULL), 0);
	ck_assert(!bt_str_equal(bt_strbuf_str(&a), bt_strbuf_str(&b)));
	struct bt_str text = bt_strbuf_str(&a);
	int64_t at = bt_str_find_last_char(text, '_');
	ck_assert_int_eq(text.length - (uint32_t)at - 1, 36);
	ck_assert_int_eq(text.data[at + 15], '4');
	bt_strbuf_finish(&a);
	bt_strbuf_finish(&b);
}
END_TEST

BT_TEST_MAIN("leader_election", test_leader_election__requests,
	test_leader_election__keeps_unknown_fields, test_leader_election__slow_path_is_counted,
	test_leader_election__stop_before_it_leads, test_leader_election__garbage_is_no_lease,
	test_leader_election__edge_10_26_constructor, test_leader_election__identities_differ)
