/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: extended resources that devices stand behind. Spec: 12 section 14; numbered
 * cases 28 to 36 of section 20. */
#include "devices_fixture.h"
#include "test_main.h"

#define RESOURCE(name, amount) "'" name "':'" amount "'"
#define CONTAINER(name, requests) "{'name':'" name "','resources':{'requests':{" requests "}}}"
#define POD_WITH(init_containers, containers) \
	"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'initContainers':[" init_containers \
	"],'containers':[" containers "]}}"
#define POD(requests) POD_WITH("", CONTAINER("main", requests))
#define X "e.io/x"
#define Y "e.io/y"
#define STALE_CLAIM(requests) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'stale'," \
	"'uid':'uid-stale','annotations':{'resource.kubernetes.io/" \
	"extended-resource-claim':'true'}," \
	"'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'uid-p','controller'" \
	":" \
	"true}]},'spec':{'devices':{'requests':[" requests "]}}}"

static void put_class(struct fixture *fixture, const char *name, const char *resource)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{"
			"'name':'%s'},'spec':{'extendedResourceName':'%s'}}",
			name, resource)
			.data);
}

/** Nodes n1, n2 (neither has extended resources), own (2 of x) and none (0 of x); classes c (no
 * resource) and x (e.io/x). */
static void init(struct fixture *fixture)
{
	devices_fixture_init(fixture, NULL, NULL);
	fixture_add_node(fixture,
		"{'metadata':{'name':'own'},'status':{'allocatable':{" RESOURCE(X, "2") "}}}");
	fixture_add_node(fixture,
		"{'metadata':{'name':'none'},'status':{'allocatable':{" RESOURCE(X, "0") "}}}");
	put_class(fixture, "x", X);
}

/** "name=class*count ...; container/resource>request ..." of the claim for a node; "-": none. */
static const char *node_claim(struct fixture *fixture, const char *pod_json, const char *node)
{
	struct bt_dynamic_resources *instance = bt_dynamic_resources_of(fixture->plugin);
	const struct bt_pod_info *pod = fixture_pending(fixture, pod_json);
	struct bt_extended_resources *extended = bt_extended_begin(instance, pod, &fixture->arena);
	const struct bt_extended_node_claim *claim;
	struct bt_node_info info;
	struct bt_strbuf text = {0};
	struct bt_str result;

	ck_assert((extended != NULL) == bt_extended_is_wanted(instance, pod->shape));
	if (extended == NULL) {
		return "not wanted";
	}
	bt_node_info_init(&info, fixture->state, fixture_slot(fixture, node));
	struct bt_status status =
		bt_extended_for_node(instance, extended, pod, &info, &fixture->arena, &claim);
	if (!bt_status_is_success(&status)) {
		return fixture_status_text(fixture, status);
	}
	if (claim == NULL) {
		return "-";
	}
	for (uint32_t i = 0; i < claim->claim.spec.devices.requests.count; i++) {
		const struct bt_device_request *request =
			&claim->claim.spec.devices.requests.items[i];
		ck_assert(bt_str_equal_c(request->exactly->allocation_mode, "ExactCount"));
		bt_strbuf_printf(&text, "%s%.*s=%.*s*%lld", i != 0 ? " " : "",
			BT_STR_ARG(request->name), BT_STR_ARG(request->exactly->device_class_name),
			(long long)request->exactly->count);
	}
	bt_strbuf_append_char(&text, ';');
	for (uint32_t i = 0; i < claim->mappings.count; i++) {
		const struct bt_container_extended_resource_request *mapping =
			&claim->mappings.items[i];
		bt_strbuf_printf(&text, " %.*s/%.*s>%.*s", BT_STR_ARG(mapping->container_name),
			BT_STR_ARG(mapping->resource_name), BT_STR_ARG(mapping->request_name));
	}
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result.data;
}

START_TEST(test_dynamic_resources_extended__edge_12_28_one_resource)
{
	struct fixture fixture;

	init(&fixture);
	fixture_expect(
		"the node has its own", node_claim(&fixture, POD(RESOURCE(X, "1")), "own"), "-");
	fixture_expect("absent", node_claim(&fixture, POD(RESOURCE(X, "1")), "n1"),
		"container-0-request-0=x*1; main/e.io/x>container-0-request-0");
	fixture_expect("0 is like absent", node_claim(&fixture, POD(RESOURCE(X, "1")), "none"),
		"container-0-request-0=x*1; main/e.io/x>container-0-request-0");
	fixture_expect("implicit name",
		node_claim(
			&fixture, POD(RESOURCE("deviceclass.resource.kubernetes.io/c", "2")), "n1"),
		"container-0-request-0=c*2; "
		"main/deviceclass.resource.kubernetes.io/c>container-0-request-0");
	fixture_expect("0 of it", node_claim(&fixture, POD(RESOURCE(X, "0")), "n1"), "not wanted");
	fixture_expect("no class", node_claim(&fixture, POD(RESOURCE(Y, "1")), "n1"), "not wanted");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_29_devices_beside_a_device_plugin)
{
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "y", Y);
	fixture_expect("x is the node's own",
		node_claim(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "2")), "own"),
		"container-0-request-1=y*2; main/e.io/y>container-0-request-1");
	fixture_expect("neither is",
		node_claim(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "2")), "n1"),
		"container-0-request-0=x*1 container-0-request-1=y*2; "
		"main/e.io/x>container-0-request-0 main/e.io/y>container-0-request-1");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_30_what_is_missing)
{
	struct fixture fixture;

	init(&fixture);
	fixture_expect("no device", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "n1"),
		REFUSED "cannot allocate all claims");
	put_slice(&fixture, "n1", "{'name':'a'}");
	fixture_expect("one", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "n1"), "Success");
	fixture_expect("two of one", fixture_filter(&fixture, POD(RESOURCE(X, "2")), "n1"),
		REFUSED "cannot allocate all claims");
	fixture_expect("y has no class",
		fixture_filter(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "1")), "n1"),
		REFUSED "cannot fit resource");
	fixture_expect("nobody else makes a claim",
		fixture_filter(&fixture, POD(RESOURCE(Y, "1")), "n1"), "Skip");
	fixture_expect("the node's own", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "own"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_31_stale_claim)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	fixture_put(&fixture, STALE_CLAIM(ONE_REQUEST));
	devices_cycle_begin(&cycle, &fixture, POD(RESOURCE(X, "1")));
	fixture_expect("PreFilter", cycle.pre_filter, "Success");
	fixture_expect("devices are there", devices_cycle_filter(&cycle, "n1"),
		REFUSED "cannot schedule extended resource claim");
	fixture_expect("the node has its own", devices_cycle_filter(&cycle, "own"),
		REFUSED "cannot schedule extended resource claim");
	fixture_expect("PostFilter", devices_cycle_post_filter(&cycle),
		"Unschedulable: deletion of ResourceClaim completed");
	devices_cycle_end(&cycle);
	ck_assert_ptr_null(bt_claim_cache_find(
		&fixture.state->dra->claims, BT_STR("default"), BT_STR("stale")));
	fixture_expect(
		"next cycle", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended__whose_claim_it_is)
{
	static const struct {
		const char *row;
		const char *pod;
		bool stale;
	} cases[] = {
		{"its own", "{'metadata':{'name':'p','uid':'uid-p'}", true},
		{"another name", "{'metadata':{'name':'q','uid':'uid-p'}", false},
		{"another uid", "{'metadata':{'name':'p','uid':'uid-q'}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;

		init(&fixture);
		fixture_put(&fixture, STALE_CLAIM(ONE_REQUEST));
		fixture_expect(cases[i].row,
			node_claim(&fixture,
				bt_arena_printf(&fixture.arena,
					"%s,'spec':{'containers':[" CONTAINER(
						"main", RESOURCE(X, "1")) "]}}",
					cases[i].pod)
					.data,
				"n1"),
			cases[i].stale
				? REFUSED "cannot schedule extended resource claim"
				: "container-0-request-0=x*1; main/e.io/x>container-0-request-0");
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_34_35_36_containers)
{
	static const struct {
		const char *row;
		const char *pod;
		const char *claim;
	} cases[] = {
		{"34",
			POD_WITH(CONTAINER("i", RESOURCE(X, "3")),
				CONTAINER("a", RESOURCE(X, "2")) "," CONTAINER(
					"b", RESOURCE(X, "2"))),
			"container-1-request-0=x*2 container-2-request-0=x*2; "
			"a/e.io/x>container-1-request-0 b/e.io/x>container-2-request-0 "
			"i/e.io/x>container-1-request-0 i/e.io/x>container-2-request-0"},
		{"35",
			POD_WITH(CONTAINER("i", RESOURCE(X, "5")),
				CONTAINER("a", RESOURCE(X, "2")) "," CONTAINER(
					"b", RESOURCE(X, "2"))),
			"container-0-request-0=x*1 container-1-request-0=x*2 "
			"container-2-request-0=x*2; "
			"a/e.io/x>container-1-request-0 b/e.io/x>container-2-request-0 "
			"i/e.io/x>container-1-request-0 i/e.io/x>container-2-request-0 "
			"i/e.io/x>container-0-request-0"},
		{"36",
			POD_WITH(CONTAINER("i", RESOURCE(X, "3")) "," CONTAINER(
					 "j", RESOURCE(X, "4")),
				CONTAINER("a", "")),
			"container-1-request-0=x*4; "
			"i/e.io/x>container-1-request-0 j/e.io/x>container-1-request-0"},
		{"of two equal ones the first",
			POD_WITH(CONTAINER("i", RESOURCE(X, "3")) "," CONTAINER(
					 "j", RESOURCE(X, "3")),
				CONTAINER("a", "")),
			"container-0-request-0=x*3; "
			"i/e.io/x>container-0-request-0 j/e.io/x>container-0-request-0"},
		{"an init container takes nothing of sidecars before it",
			POD_WITH("{'name':'s','restartPolicy':'Always','resources':{'requests':"
				 "{" RESOURCE(X, "2") "}}}," CONTAINER("i", RESOURCE(X, "1")),
				CONTAINER("a", "")),
			"container-0-request-0=x*2 container-1-request-0=x*1; "
			"s/e.io/x>container-0-request-0 i/e.io/x>container-1-request-0"},
		{"the index is of all names of the container",
			POD(RESOURCE("cpu", "1") "," RESOURCE(X, "1") "," RESOURCE("memory", "1")),
			"container-0-request-1=x*1; main/e.io/x>container-0-request-1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;

		init(&fixture);
		fixture_expect(
			cases[i].row, node_claim(&fixture, cases[i].pod, "n1"), cases[i].claim);
		fixture_finish(&fixture);
	}
}
END_TEST

/* --- writes --- */

static int create_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct claim_recorder *recorder = context;
	struct bt_resource_claim created = *claim;

	ck_assert_uint_eq(claim->metadata.name.length, 0);
	ck_assert_uint_eq(claim->metadata.uid.length, 0);
	ck_assert_ptr_null(claim->status.allocation);
	ck_assert_uint_eq(claim->metadata.owner_references.count, 1);
	bt_strbuf_printf(&recorder->log, "POST %.*s;", BT_STR_ARG(claim->metadata.generate_name));
	if (recorder->script[recorder->calls++] == 'e') {
		return bt_error_set(err, BERTH_ERR_STATE, "no API");
	}
	created.metadata.name = BT_STR("made");
	created.metadata.uid = BT_STR("uid-made");
	created.metadata.resource_version = BT_STR("50");
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, &created);
	bt_object_store_put(&recorder->fixture->state->objects, bt_object_share(*out_claim));
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
	return recorder->script[recorder->calls++] == 'e'
		? bt_error_set(err, BERTH_ERR_STATE, "no API")
		: 0;
}

/** A pod that gets a on n1; PreBind, and Unreserve where that fails. */
static void check_writes(const char *row, const char *script, const char *pre_bind, const char *log)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	claim_recorder_init(&api, &fixture, script);
	api.writer.create = create_claim;
	api.writer.remove = remove_claim;
	api.writer.patch_pod_status = patch_pod;
	devices_cycle_place(&cycle, &fixture, POD(RESOURCE(X, "1")), "n1");
	const char *status = devices_cycle_pre_bind_to_end(&cycle, "n1");
	fixture_expect(row, status, pre_bind);
	if (strcmp(status, "Success") != 0) {
		devices_cycle_unreserve(&cycle, "n1");
		devices_cycle_unreserve(&cycle, "n1");
	}
	fixture_expect(row, bt_strbuf_c(&api.log), log);
	ck_assert_uint_eq(fixture.state->dra->claims.in_flight_map.count, 0);
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}

START_TEST(test_dynamic_resources_extended__writes)
{
	check_writes("all goes well", "......", "Success",
		"POST p-extended-resources-;PUT made;PUT made/status a {p};PATCH made*1;");
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_32_post_fails)
{
	check_writes("POST fails", "e.....",
		"Error: create claim for extended resources default/: no API",
		"POST p-extended-resources-;");
}
END_TEST

START_TEST(test_dynamic_resources_extended__edge_12_33_patch_fails)
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
}
END_TEST

BT_TEST_MAIN("dynamic_resources_extended", test_dynamic_resources_extended__edge_12_28_one_resource,
	test_dynamic_resources_extended__edge_12_29_devices_beside_a_device_plugin,
	test_dynamic_resources_extended__edge_12_30_what_is_missing,
	test_dynamic_resources_extended__edge_12_31_stale_claim,
	test_dynamic_resources_extended__whose_claim_it_is,
	test_dynamic_resources_extended__edge_12_34_35_36_containers,
	test_dynamic_resources_extended__writes,
	test_dynamic_resources_extended__edge_12_32_post_fails,
	test_dynamic_resources_extended__edge_12_33_patch_fails)
