/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicResources: writes of the special claim for extended resources. Spec: 12 sections 13.1 and
 * 14.4 to 14.6; numbered cases 32 and 33 of section 20.
 */
#include "base/error.h"
#include "extended_fixture.h"
#include "test_main.h"

/** Returns the result that the script has for the next call. */
static int next_end(struct claim_recorder *recorder, struct berth_error *err)
{
	char answer = recorder->script[recorder->calls++];

	return answer == 'p'    ? BT_WRITE_PENDING
		: answer == 'e' ? bt_error_set(err, BERTH_ERR_STATE, "no API")
				: 0;
}

static int create_claim(struct claim_recorder *recorder, const struct bt_resource_claim *claim,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_resource_claim created = *claim;
	const struct bt_owner_reference *owner = &claim->metadata.owner_references.items[0];
	int code;

	ck_assert_uint_eq(claim->metadata.name.length, 0);
	ck_assert_uint_eq(claim->metadata.uid.length, 0);
	ck_assert_ptr_null(claim->status.allocation);
	ck_assert_uint_eq(claim->metadata.owner_references.count, 1);
	ck_assert(owner->controller.present && owner->controller.value);
	fixture_expect("owner",
		bt_arena_printf(&recorder->fixture->arena, "%.*s %.*s %.*s %.*s",
			BT_STR_ARG(owner->api_version), BT_STR_ARG(owner->kind),
			BT_STR_ARG(owner->name), BT_STR_ARG(owner->uid))
			.data,
		"v1 Pod p uid-p");
	ck_assert_uint_eq(claim->metadata.annotations.count, 1);
	ck_assert(bt_str_equal_c(claim->metadata.annotations.items[0].key,
		"resource.kubernetes.io/extended-resource-claim"));
	ck_assert(bt_str_equal_c(claim->metadata.annotations.items[0].value, "true"));
	bt_strbuf_printf(&recorder->log, "POST %.*s;", BT_STR_ARG(claim->metadata.generate_name));
	code = next_end(recorder, err);
	if (code != 0) {
		return code;
	}
	created.metadata.name = BT_STR("made");
	created.metadata.uid = BT_STR("uid-made");
	created.metadata.resource_version = BT_STR("50");
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, &created);
	if (!recorder->watch_is_late) {
		bt_object_store_put(
			&recorder->fixture->state->objects, bt_object_share(*out_claim));
	}
	return 0;
}

static int remove_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, bool must_end, BT_UNUSED struct berth_error *err)
{
	struct claim_recorder *recorder = context;

	ck_assert(must_end);
	bt_strbuf_printf(&recorder->log, "DELETE %.*s[%u];", BT_STR_ARG(claim->metadata.name),
		claim->metadata.finalizers.count);
	recorder->calls++;
	return 0;
}

static int patch_pod(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	BT_UNUSED bool must_end, struct berth_error *err)
{
	struct claim_recorder *recorder = context;
	const struct bt_pod_extended_resource_claim_status *status =
		new_status->extended_resource_claim_status;

	ck_assert_ptr_null(old_status->extended_resource_claim_status);
	bt_strbuf_printf(&recorder->log, "PATCH %.*s*%u;", BT_STR_ARG(status->resource_claim_name),
		status->request_mappings.count);
	return next_end(recorder, err);
}

static void init_writer(struct claim_recorder *api, struct fixture *fixture, const char *script)
{
	claim_recorder_init(api, fixture, script);
	api->create = create_claim;
	api->writer.remove = remove_claim;
	api->writer.patch_pod_status = patch_pod;
}

static int64_t no_clock(BT_UNUSED void *context)
{
	return 0;
}

/** Places a pod with device a on n1, runs PreBind, and Unreserve if PreBind fails. */
static void check_writes(const char *row, const char *script, const char *pre_bind, const char *log)
{
	struct bt_framework framework = {0};
	struct bt_profile_metrics profile = {0};
	struct bt_metrics *metrics = bt_metrics_create();
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture);
	profile.all = bt_scheduler_metrics_create(metrics, &fixture.gates, no_clock, NULL);
	framework.metrics = &profile;
	fixture.handle.framework = &framework;
	put_slice(&fixture, "n1", "{'name':'a'}");
	init_writer(&api, &fixture, script);
	devices_cycle_place(&cycle, &fixture, POD(RESOURCE(X, "1")), "n1");
	const char *status = devices_cycle_pre_bind_to_end(&cycle, "n1");
	fixture_expect(row, status, pre_bind);
	if (strcmp(status, "Success") != 0) {
		devices_cycle_unreserve(&cycle, "n1");
		devices_cycle_unreserve(&cycle, "n1");
	}
	fixture_expect(row, bt_strbuf_c(&api.log), log);
	ck_assert_uint_eq(fixture.state->dra->claims.in_flight.map.count, 0);
	fixture_expect(row,
		metric_lines(&fixture, metrics, "scheduler_resourceclaim_creates_total{"),
		strchr(script, 'e') == script
			? "scheduler_resourceclaim_creates_total{status=\"failure\"} 1\n"
			: "scheduler_resourceclaim_creates_total{status=\"success\"} 1\n");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture.handle.framework = NULL;
	fixture_finish(&fixture);
	bt_scheduler_metrics_destroy(profile.all);
	bt_metrics_destroy(metrics);
}

START_TEST(test_dynamic_resources_extended_write__writes)
{
	check_writes("all goes well", "......", "Success",
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;");
	/* PreBind repeats each pending call until the answer comes, and not after that. */
	check_writes("no answer yet", "p.p.p.p.", "Success",
		"POST p-extended-resources-;POST p-extended-resources-;PUT made;PUT made;"
		"PUT made/status a {p};PUT made/status a {p};PATCH made*1;PATCH made*1;");
}
END_TEST

/**
 * Delivers the claim by a watch at_seconds (0: never) after its creation, and checks when PreBind
 * ends.
 */
static void check_assume(int64_t at_seconds, int64_t end_seconds, const char *latest)
{
	const int64_t second_ns = INT64_C(1000) * 1000 * 1000;
	struct bt_str namespace_ = BT_STR("default");
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;
	const char *status = "Wait";

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	init_writer(&api, &fixture, "....");
	api.watch_is_late = true;
	devices_cycle_place(&cycle, &fixture, POD(RESOURCE(X, "1")), "n1");
	while (strcmp(status, "Wait") == 0) {
		status = devices_cycle_pre_bind(&cycle, "n1");
		if (at_seconds != 0 && fixture.handle.now_ns == at_seconds * second_ns) {
			put_device_claim(&fixture, "made", ONE_REQUEST,
				",'metadata':{'resourceVersion':'50'}");
			/* The cache is checked again only at the wake time. */
			fixture.handle.now_ns++;
			fixture_expect("early", devices_cycle_pre_bind(&cycle, "n1"), "Wait");
		}
		if (strcmp(status, "Wait") == 0) {
			fixture_expect("until then", bt_strbuf_c(&api.log),
				"POST p-extended-resources-;PUT made;PUT made/status a {p};");
			fixture.handle.now_ns = cycle.state.wake_ns;
		}
	}
	fixture_expect("PreBind", status, "Success");
	ck_assert_int_eq(fixture.handle.now_ns, end_seconds * second_ns);
	fixture_expect("writes", bt_strbuf_c(&api.log),
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;");
	ck_assert_uint_eq(fixture.state->dra->claims.in_flight.map.count, 0);
	if (latest != NULL) {
		fixture_expect("cache", latest_claim(&fixture, "made"), latest);
	} else {
		ck_assert_ptr_null(bt_claim_cache_find(
			&fixture.state->dra->claims, namespace_, BT_STR("made")));
	}
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}

/** PreBind checks the claim cache once a second, for 120 seconds. */
START_TEST(test_dynamic_resources_extended_write__spec_12_13_1_until_the_watch_event)
{
	check_assume(3, 4, "[1] a {p}");
	check_assume(119, 120, "[1] a {p}");
	check_assume(0, 120, NULL);
}
END_TEST

/** The cache already has a later version, so PreBind does not wait. */
START_TEST(test_dynamic_resources_extended_write__spec_12_13_1_the_watch_is_ahead)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	init_writer(&api, &fixture, "..p..");
	devices_cycle_place(&cycle, &fixture, POD(RESOURCE(X, "1")), "n1");
	fixture_expect("no answer yet", devices_cycle_pre_bind(&cycle, "n1"), "Wait");
	put_device_claim(&fixture, "made", ONE_REQUEST, ",'metadata':{'resourceVersion':'900'}");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "n1"), "Success");
	fixture_expect("cache", latest_claim(&fixture, "made"), "[0] - {}");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

/** Both special claims are in memory only and have no name yet. */
START_TEST(test_dynamic_resources_extended_write__spec_12_14_1_two_pods_at_once)
{
	struct devices_cycle first;
	struct devices_cycle second;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
	devices_cycle_place(&first, &fixture, POD(RESOURCE(X, "1")), "n1");
	devices_cycle_place(&second, &fixture,
		"{'metadata':{'name':'q','uid':'uid-q'},'spec':{'containers':[" CONTAINER(
			"main", RESOURCE(X, "1")) "]}}",
		"n1");
	ck_assert_uint_eq(fixture.state->dra->claims.in_flight.map.count, 2);
	devices_cycle_unreserve(&second, "n1");
	devices_cycle_unreserve(&first, "n1");
	devices_cycle_end(&second);
	devices_cycle_end(&first);
	fixture_finish(&fixture);
}
END_TEST

/** Without an API the special claim gets an unused name. */
START_TEST(test_dynamic_resources_extended_write__simulation_names_the_claim)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_device_claim(&fixture, "p-extended-resources-00000", ONE_REQUEST, "");
	devices_cycle_place(&cycle, &fixture, POD(RESOURCE(X, "1")), "n1");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "n1"), "Success");
	fixture_expect(
		"another's", latest_claim(&fixture, "p-extended-resources-00000"), "[0] - {}");
	fixture_expect(
		"its own", latest_claim(&fixture, "p-extended-resources-00001"), "[1] a {p}");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended_write__edge_12_32_post_fails)
{
	check_writes("POST fails", "e.....",
		"Error: create claim for extended resources default/: no API",
		"POST p-extended-resources-;");
}
END_TEST

START_TEST(test_dynamic_resources_extended_write__edge_12_33_patch_fails)
{
	check_writes("PATCH fails", "...e...",
		"Error: update pod default/p ExtendedResourceClaimStatus: no API",
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;"
		"PUT made;DELETE made[0];");
	check_writes("and others are faster with the finalizer", "...ec.c.c.c...",
		"Error: update pod default/p ExtendedResourceClaimStatus: no API",
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;"
		"PUT made;GET made;PUT made;GET made;PUT made;GET made;PUT made;GET made;PUT made;"
		"DELETE made[0];");
	check_writes("and the finalizer cannot be taken away", "...ee",
		"Error: update pod default/p ExtendedResourceClaimStatus: no API",
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;"
		"PUT made;");
}
END_TEST

/**
 * Section 21, D10: a device plugin serves x on the node, and the pod has a claim. The special claim
 * without requests is written, but the pod's status cannot name it.
 */
START_TEST(test_dynamic_resources_extended_write__d10_no_mappings)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "own", "{'name':'a'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	init_writer(&api, &fixture, "");
	api.script = "...........";
	devices_cycle_place(&cycle, &fixture, POD_WITH_CLAIM_C, "own");
	fixture_expect("PreBind", devices_cycle_pre_bind_to_end(&cycle, "own"),
		"Error: nil or empty request mappings, no update of pod default/p "
		"ExtendedResourceClaimStatus");
	devices_cycle_unreserve(&cycle, "own");
	fixture_expect("writes", bt_strbuf_c(&api.log),
		"PUT c;PUT c/status a {p};POST p-extended-resources-;PUT made;"
		"PUT made/status  {p};-uid-p c;PUT made;DELETE made[0];");
	fixture_expect("its own claim", latest_claim(&fixture, "c"), "[1] a {p}");
	devices_cycle_end(&cycle);
	/* Without Reserve there is no special claim to write: 13.1 step 1. */
	put_allocated_claim(&fixture, "c", "own",
		"{'request':'r','driver':'d','pool':'own','device':'a'}",
		"{'resource':'pods','name':'p','uid':'uid-p'}");
	bt_strbuf_reset(&api.log);
	devices_cycle_begin(&cycle, &fixture, POD_WITH_CLAIM_C);
	fixture_expect("Filter", devices_cycle_filter(&cycle, "own"), "Success");
	fixture_expect("no Reserve", devices_cycle_pre_bind_to_end(&cycle, "own"), "Success");
	fixture_expect("no writes", bt_strbuf_c(&api.log), "");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_extended_write", test_dynamic_resources_extended_write__writes,
	test_dynamic_resources_extended_write__spec_12_13_1_until_the_watch_event,
	test_dynamic_resources_extended_write__spec_12_13_1_the_watch_is_ahead,
	test_dynamic_resources_extended_write__spec_12_14_1_two_pods_at_once,
	test_dynamic_resources_extended_write__simulation_names_the_claim,
	test_dynamic_resources_extended_write__edge_12_32_post_fails,
	test_dynamic_resources_extended_write__edge_12_33_patch_fails,
	test_dynamic_resources_extended_write__d10_no_mappings)
