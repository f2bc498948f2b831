/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicResources: extended resources that devices provide. Spec: 12 sections 14.1 to 14.3;
 * numbered cases 28 to 31 and 34 to 36 of section 20.
 */
#include "extended_fixture.h"
#include "test_main.h"

/**
 * Returns the special claim for a node: "name=class*count ...; container/resource>request ...";
 * "-": none.
 */
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
	struct bt_status status = bt_extended_for_node(extended, pod, &info,
		pod->object->spec.resource_claims.count != 0, &fixture->arena, &claim);
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
	put_class(&fixture, "pages", "hugepages-2Mi");
	fixture_expect("no extended resource",
		node_claim(&fixture, POD(RESOURCE("hugepages-2Mi", "2Mi")), "n1"), "not wanted");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_extended__spec_12_14_gate_off)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, "DRAExtendedResource=false", NULL);
	put_class(&fixture, "x", X);
	put_slice(&fixture, "n1", "{'name':'a'}");
	fixture_expect("PreFilter", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "n1"), "Skip");
	fixture_finish(&fixture);
}
END_TEST

/** The resources that devices provide differ from node to node within a cycle. */
START_TEST(test_dynamic_resources_extended__spec_12_14_2_each_node_its_claim)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "y", Y);
	put_slice(&fixture, "own", "{'name':'a'}");
	put_slice(&fixture, "n1", "{'name':'a'}");
	devices_cycle_begin(&cycle, &fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "1")));
	fixture_expect("y alone", devices_cycle_filter(&cycle, "own"), "Success");
	fixture_expect("both, and one device", devices_cycle_filter(&cycle, "n1"),
		REFUSED "cannot allocate all claims");
	fixture_expect("y alone again", devices_cycle_filter(&cycle, "own"), "Success");
	devices_cycle_end(&cycle);
	/* The same special claim together with a claim of the pod. */
	put_slice(&fixture, "own", "{'name':'a'},{'name':'b'}");
	put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	devices_cycle_begin(&cycle, &fixture,
		"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':'c',"
		"'resourceClaimName':'c'}],'containers':[" CONTAINER(
			"main", RESOURCE(X, "1") "," RESOURCE(Y, "1")) "]}}");
	fixture_expect("c and y", devices_cycle_filter(&cycle, "own"), "Success");
	fixture_expect("c, x and y", devices_cycle_filter(&cycle, "n1"),
		REFUSED "cannot allocate all claims");
	devices_cycle_end(&cycle);
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

/**
 * Section 21, D10: a pod with claims gets a special claim even if a device plugin serves the
 * resource.
 */
START_TEST(test_dynamic_resources_extended__d10_own_claims_beside_a_device_plugin)
{
	struct fixture fixture;

	init(&fixture);
	fixture_expect(
		"no claims of its own", node_claim(&fixture, POD(RESOURCE(X, "1")), "own"), "-");
	fixture_expect("with one", node_claim(&fixture, POD_WITH_CLAIM_C, "own"), ";");
	fixture_expect("where devices serve x", node_claim(&fixture, POD_WITH_CLAIM_C, "none"),
		"container-0-request-0=x*1; main/e.io/x>container-0-request-0");
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
	fixture_expect("y has no class, x is the node's own",
		fixture_filter(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "1")), "own"),
		REFUSED "cannot fit resource");
	fixture_add_node(&fixture,
		"{'metadata':{'name':'zero'},'status':{'allocatable':{" RESOURCE(Y, "0") "}}}");
	put_slice(&fixture, "zero", "{'name':'a'}");
	fixture_expect("0 of y is left to NodeResourcesFit",
		fixture_filter(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "1")), "zero"),
		"Success");
	fixture_expect("0 of y fits",
		fixture_filter(&fixture, POD(RESOURCE(X, "1") "," RESOURCE(Y, "0")), "n1"),
		"Success");
	fixture_expect("huge pages are not devices",
		fixture_filter(
			&fixture, POD(RESOURCE(X, "1") "," RESOURCE("hugepages-2Mi", "2Mi")), "n1"),
		"Success");
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

/** A stale claim's class may be deleted: the requests of a stale claim are not evaluated. */
START_TEST(test_dynamic_resources_extended__spec_12_07_class_of_a_stale_claim)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	fixture_put(&fixture,
		STALE_CLAIM("{'name':'r','exactly':{'deviceClassName':'gone','allocationMode':"
			    "'ExactCount','count':1}}"));
	devices_cycle_begin(&cycle, &fixture, POD(RESOURCE(X, "1")));
	fixture_expect("PreFilter", cycle.pre_filter, "Success");
	fixture_expect("Filter", devices_cycle_filter(&cycle, "n1"),
		REFUSED "cannot schedule extended resource claim");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/** A special claim without requests is not stale; PostFilter handles it after the pod's claims. */
START_TEST(test_dynamic_resources_extended__spec_12_10_claim_without_requests)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_slice(&fixture, "n1", "{'name':'a'}");
	fixture_put(&fixture, STALE_CLAIM(""));
	fixture_expect("Filter", fixture_filter(&fixture, POD(RESOURCE(X, "1")), "n1"), "Success");
	put_allocated_claim(
		&fixture, "c", "n2", "{'request':'r','driver':'d','pool':'n2','device':'a'}", "");
	devices_cycle_begin(&cycle, &fixture,
		"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':'c',"
		"'resourceClaimName':'c'}],'containers':[" CONTAINER(
			"main", RESOURCE(X, "1")) "]}}");
	fixture_expect("beside a claim of n2", devices_cycle_filter(&cycle, "n1"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&cycle),
		"Unschedulable: deallocation of ResourceClaim completed");
	devices_cycle_end(&cycle);
	fixture_expect("the claim of n2", latest_claim(&fixture, "c"), "[0] - {}");
	fixture_expect("the special claim", latest_claim(&fixture, "stale"), "[0] - {}");
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
		{"no more lenders than it takes",
			POD_WITH(CONTAINER("i", RESOURCE(X, "2")),
				CONTAINER("a", RESOURCE(X, "2")) "," CONTAINER(
					"b", RESOURCE(X, "2"))),
			"container-1-request-0=x*2 container-2-request-0=x*2; "
			"a/e.io/x>container-1-request-0 b/e.io/x>container-2-request-0 "
			"i/e.io/x>container-1-request-0"},
		{"a sum beyond int64",
			POD_WITH(CONTAINER("i", RESOURCE(X, INT64_MAX_TEXT)),
				CONTAINER("a", RESOURCE(X, "9223372036854775806")) "," CONTAINER(
					"b", RESOURCE(X, "9223372036854775806"))),
			"container-1-request-0=x*9223372036854775806 "
			"container-2-request-0=x*9223372036854775806; "
			"a/e.io/x>container-1-request-0 b/e.io/x>container-2-request-0 "
			"i/e.io/x>container-1-request-0 i/e.io/x>container-2-request-0"},
		{"an amount that is not whole counts for nothing",
			POD_WITH("",
				CONTAINER("a", RESOURCE(X, "1500m")) "," CONTAINER(
					"b", RESOURCE(X, "1"))),
			"container-1-request-0=x*1; b/e.io/x>container-1-request-0"},
		{"nor one beyond int64",
			POD_WITH("",
				CONTAINER("a", RESOURCE(X, "9223372036854775808")) "," CONTAINER(
					"b", RESOURCE(X, "1"))),
			"container-1-request-0=x*1; b/e.io/x>container-1-request-0"},
		{"nothing that is whole: a claim without requests (section 21, D10)",
			POD(RESOURCE(X, "500m")), ";"},
		{"none of it",
			POD_WITH("",
				CONTAINER("a", RESOURCE(X, "0")) "," CONTAINER(
					"b", RESOURCE(X, "1"))),
			"container-1-request-0=x*1; b/e.io/x>container-1-request-0"},
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

BT_TEST_MAIN("dynamic_resources_extended", test_dynamic_resources_extended__edge_12_28_one_resource,
	test_dynamic_resources_extended__spec_12_14_gate_off,
	test_dynamic_resources_extended__spec_12_14_2_each_node_its_claim,
	test_dynamic_resources_extended__edge_12_29_devices_beside_a_device_plugin,
	test_dynamic_resources_extended__d10_own_claims_beside_a_device_plugin,
	test_dynamic_resources_extended__edge_12_30_what_is_missing,
	test_dynamic_resources_extended__edge_12_31_stale_claim,
	test_dynamic_resources_extended__spec_12_07_class_of_a_stale_claim,
	test_dynamic_resources_extended__spec_12_10_claim_without_requests,
	test_dynamic_resources_extended__whose_claim_it_is,
	test_dynamic_resources_extended__edge_12_34_35_36_containers)
