/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicResources and pod groups: owners and reservations of claims, and state that the pods of
 * one group's cycle share. Spec: 12 sections 4.2, 6, 7, 10 and 12; gate DRAWorkloadResourceClaims.
 */
#include "devices_world.h"
#include "test_main.h"

#define GATES "GenericWorkload=true,DRAWorkloadResourceClaims=true"
#define IN_GROUP "'schedulingGroup':{'podGroupName':'g'},"
/** JSON of pod p; entries: spec.resourceClaims; statuses: status.resourceClaimStatuses. */
#define POD(group, entries, statuses) \
	"{'metadata':{'name':'p','uid':'uid-p'},'spec':{" group "'resourceClaims':[" entries \
	"]},'status':{'resourceClaimStatuses':[" statuses "]}}"
#define BY_TEMPLATE "{'name':'x','resourceClaimTemplateName':'t'}"
#define BY_NAME "{'name':'x','resourceClaimName':'c'}"
#define MADE "{'name':'x','resourceClaimName':'c'}"
#define OWNED_BY(api, kind, name, uid) \
	",'metadata':{'ownerReferences':[{'apiVersion':'" api "','kind':'" kind "','name':'" name \
	"','uid':'" uid "','controller':true}]"
#define OWNED_BY_GROUP OWNED_BY("scheduling.k8s.io/v1alpha2", "PodGroup", "g", "uid-g")

static void put_group(struct fixture *fixture, const char *entries, const char *statuses)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'scheduling.k8s.io/v1alpha2','kind':'PodGroup','metadata':{"
			"'name':'g','uid':'uid-g'},'spec':{'resourceClaims':[%s]},'status':{"
			"'resourceClaimStatuses':[%s]}}",
			entries, statuses)
			.data);
}

/* --- section 6 --- */

#define NOT_OWNER "ResourceClaim default/c was not created for Pod default/p "

START_TEST(test_dynamic_resources_groups__spec_12_06_owner_of_a_generated_claim)
{
	static const struct {
		const char *row;
		const char *gates;
		const char *group;
		const char *owner;
		const char *expected;
	} rows[] = {
		{"the pod", GATES, IN_GROUP, OWNED_BY("v1", "Pod", "p", "uid-p") "}", "Success"},
		{"its group", GATES, IN_GROUP, OWNED_BY_GROUP "}", "Success"},
		{"without the gate", NULL, IN_GROUP, OWNED_BY_GROUP "}",
			REFUSED NOT_OWNER "(Pod is not owner)"},
		{"a pod of no group", GATES, "", OWNED_BY_GROUP "}",
			REFUSED NOT_OWNER "(Pod is not owner)"},
		{"another group", GATES, IN_GROUP,
			OWNED_BY("scheduling.k8s.io/v1alpha2", "PodGroup", "h", "uid-h") "}",
			REFUSED NOT_OWNER "(neither Pod nor PodGroup g is the owner)"},
		{"another kind", GATES, IN_GROUP,
			OWNED_BY("scheduling.k8s.io/v1alpha2", "Workload", "g", "uid-g") "}",
			REFUSED NOT_OWNER "(neither Pod nor PodGroup g is the owner)"},
		{"a kind of another API", GATES, IN_GROUP,
			OWNED_BY("scheduling.k8s.io.example/v1", "PodGroup", "g", "uid-g") "}",
			REFUSED NOT_OWNER "(neither Pod nor PodGroup g is the owner)"},
		{"nobody", GATES, IN_GROUP, "",
			REFUSED NOT_OWNER "(neither Pod nor PodGroup g is the owner)"},
		/* The rows are in the order of the checks. */
		{"it is being deleted, and another's", NULL, "",
			OWNED_BY("v1", "Pod", "q", "uid-q") ",'deletionTimestamp':"
							    "'2026-01-01T00:00:00Z'}",
			REFUSED "resourceclaim \"c\" is being deleted"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		devices_fixture_init(&fixture, rows[i].gates, NULL);
		put_device_claim(&fixture, "c", ONE_REQUEST, rows[i].owner);
		const char *pod =
			bt_arena_printf(&fixture.arena, POD("%s", BY_TEMPLATE, MADE), rows[i].group)
				.data;
		fixture_expect(rows[i].row,
			fixture_status_text(&fixture,
				fixture.plugin->ops->pre_enqueue(fixture.plugin,
					fixture_pending(&fixture, pod), &fixture.arena)),
			rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

/** Returns the last entry of reservedFor: "group/resource/name/uid". */
static const char *last_consumer(struct fixture *fixture)
{
	const struct bt_resource_claim *claim = bt_object_value(
		bt_claim_cache_find(&fixture->state->dra->claims, BT_STR("default"), BT_STR("c")),
		BT_KIND_RESOURCE_CLAIM);
	const struct bt_resource_claim_consumer_reference *last =
		&claim->status.reserved_for.items[claim->status.reserved_for.count - 1];

	return bt_arena_printf(&fixture->arena, "%.*s/%.*s/%.*s/%.*s", BT_STR_ARG(last->api_group),
		BT_STR_ARG(last->resource), BT_STR_ARG(last->name), BT_STR_ARG(last->uid))
		.data;
}

#define POD_P "/pods/p/uid-p"
#define GROUP_G "scheduling.k8s.io/podgroups/g/uid-g"

START_TEST(test_dynamic_resources_groups__spec_12_06_bindings)
{
	static const struct {
		const char *row;
		const char *gates;
		const char *pod;
		const char *group;    /* entries of the group; NULL: no group */
		const char *expected; /* text of PreFilter, or the entry of reservedFor */
	} rows[] = {
		{"the group's", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, GROUP_G},
		{"the pod's own", GATES, POD(IN_GROUP, BY_NAME, ""), "", POD_P},
		{"without the gate", NULL, POD(IN_GROUP, BY_NAME, ""), BY_NAME, POD_P},
		{"a pod of no group", GATES, POD("", BY_NAME, ""), BY_NAME, POD_P},
		{"another entry of the group", GATES, POD(IN_GROUP, BY_NAME, ""),
			"{'name':'y','resourceClaimName':'c'}", POD_P},
		{"another claim by that name", GATES, POD(IN_GROUP, BY_NAME, ""),
			"{'name':'x','resourceClaimName':'e'}", POD_P},
		{"a template by that name", GATES, POD(IN_GROUP, BY_NAME, ""), BY_TEMPLATE, POD_P},
		{"a template without name by that name", GATES, POD(IN_GROUP, BY_NAME, ""),
			"{'name':'x','resourceClaimName':'c','resourceClaimTemplateName':''}",
			POD_P},
		{"the second of the group", GATES, POD(IN_GROUP, BY_NAME, ""),
			"{'name':'y','resourceClaimName':'e'}," BY_NAME, GROUP_G},
		{"what comes behind it is not looked at", GATES, POD(IN_GROUP, BY_NAME, ""),
			BY_NAME ",{'name':'y'}", GROUP_G},
		{"what comes before it is", GATES, POD(IN_GROUP, BY_NAME, ""),
			"{'name':'y'}," BY_NAME,
			REFUSED "PodGroup default/g claim y: none of the supported fields are set"},
		{"the same template", GATES, POD(IN_GROUP, BY_TEMPLATE, MADE), BY_TEMPLATE,
			GROUP_G},
		{"another template", GATES, POD(IN_GROUP, BY_TEMPLATE, MADE),
			"{'name':'x','resourceClaimTemplateName':'u'}", POD_P},
		{"no such group", GATES, POD(IN_GROUP, BY_NAME, ""), NULL,
			REFUSED "podgroup.scheduling.k8s.io \"g\" not found"},
		/* Section 21, D5: the second entry gets the claim of the first entry. */
		{"an entry without a claim in front", GATES,
			POD(IN_GROUP, "{'name':'none','resourceClaimTemplateName':'t'}," BY_NAME,
				"{'name':'none'}"),
			BY_NAME, GROUP_G},
		{"an entry without a claim in front is the group's", GATES,
			POD(IN_GROUP, "{'name':'none','resourceClaimTemplateName':'t'}," BY_NAME,
				"{'name':'none'}"),
			"{'name':'none','resourceClaimTemplateName':'t'}", POD_P},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		world_init(&world, rows[i].gates, "");
		put_device_claim(
			&world.fixture, "c", ONE_REQUEST, OWNED_BY("v1", "Pod", "p", "uid-p") "}");
		if (rows[i].group != NULL) {
			put_group(&world.fixture, rows[i].group, "");
		}
		devices_cycle_begin(&world.cycle, &world.fixture, rows[i].pod);
		if (strncmp(rows[i].expected, REFUSED, strlen(REFUSED)) == 0) {
			fixture_expect(rows[i].row, world.cycle.pre_filter, rows[i].expected);
			world_finish(&world);
			continue;
		}
		fixture_expect(rows[i].row, world.cycle.pre_filter, "Success");
		fixture_expect(rows[i].row, devices_cycle_filter(&world.cycle, "n1"), "Success");
		fixture_expect(rows[i].row, devices_cycle_reserve(&world.cycle, "n1"), "Success");
		fixture_expect(rows[i].row, devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
		fixture_expect(rows[i].row, last_consumer(&world.fixture), rows[i].expected);
		world_finish(&world);
	}
}
END_TEST

/** The claim is already reserved for a consumer; checks the writes of PreBind. */
START_TEST(test_dynamic_resources_groups__spec_12_06_reserved_for_the_group)
{
	static const struct {
		const char *row;
		const char *gates;
		const char *group;
		const char *consumer;
		const char *log;
	} rows[] = {
		{"its group", GATES, IN_GROUP,
			"'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g'", ""},
		{"without the gate", NULL, IN_GROUP,
			"'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g'",
			"PUT c/status a {g,p};"},
		{"a pod of no group", GATES, "",
			"'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g'",
			"PUT c/status a {g,p};"},
		{"another group", GATES, IN_GROUP,
			"'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'h'",
			"PUT c/status a {h,p};"},
		{"a workload", GATES, IN_GROUP,
			"'apiGroup':'scheduling.k8s.io','resource':'workloads','name':'g'",
			"PUT c/status a {g,p};"},
		{"groups of another API", GATES, IN_GROUP, "'resource':'podgroups','name':'g'",
			"PUT c/status a {g,p};"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;
		struct bt_arena *arena;

		world_init(&world, rows[i].gates, "");
		arena = &world.fixture.arena;
		put_group(&world.fixture, "", "");
		put_allocated_claim(&world.fixture, "c", "n1", RESULT_A,
			bt_arena_printf(arena, "{%s,'uid':'u'}", rows[i].consumer).data);
		devices_cycle_place(&world.cycle, &world.fixture,
			bt_arena_printf(arena, POD("%s", BY_NAME, ""), rows[i].group).data, "n1");
		fixture_expect(rows[i].row, devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
		fixture_expect(rows[i].row, bt_strbuf_c(&world.api.log), rows[i].log);
		world_finish(&world);
	}
}
END_TEST

/* --- section 10, step 4 --- */

#define FOR_G "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'uid-g'}"
#define FOR_Q "{'resource':'pods','name':'q','uid':'uid-q'}"
#define STILL_NOT "Unschedulable: still not schedulable"
#define UNRESERVED REFUSED "ResourceClaim unreserved for PodGroup"

START_TEST(test_dynamic_resources_groups__spec_12_10_post_filter)
{
	static const struct {
		const char *row;
		const char *gates;
		const char *pod;
		const char *group; /* entries of the group; NULL: no group */
		const char *group_status;
		const char *claim; /* more members of the claim */
		bool has_scheduled_pod;
		const char *expected;
		const char *log;
	} rows[] = {
		{"reserved for the group", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "," FOR_Q
			"]}",
			false, UNRESERVED, "-uid-g c;"},
		{"reserved for the pod", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_P "," FOR_Q
			"]}",
			false, UNRESERVED, "-uid-g c;"},
		{"without the gate", NULL, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "," FOR_P
			"]}",
			false, STILL_NOT, ""},
		{"a pod of no group", GATES, POD("", BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "," FOR_P
			"]}",
			false, STILL_NOT, ""},
		{"another pod of the group runs", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "," FOR_Q
			"]}",
			true, STILL_NOT, ""},
		{"reserved for others", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_Q "]}", false,
			STILL_NOT, ""},
		{"not allocated", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME, "",
			",'status':{'reservedFor':[" FOR_G "]}", false, STILL_NOT, ""},
		{"not the group's", GATES, POD(IN_GROUP, BY_NAME, ""), "", "",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "," FOR_P
			"]}",
			false, STILL_NOT, ""},
		{"made for the group", GATES, POD(IN_GROUP, BY_NAME, ""), BY_TEMPLATE, MADE,
			OWNED_BY_GROUP
			"},'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "]}",
			false, UNRESERVED, "-uid-g c;"},
		{"made for somebody else", GATES, POD(IN_GROUP, BY_NAME, ""), BY_TEMPLATE, MADE,
			OWNED_BY("scheduling.k8s.io/v1alpha2", "PodGroup", "g",
				"uid-old") "},'status':{'allocation':{'devices':{}},'reservedFor':"
					   "[" FOR_G "]}",
			false, STILL_NOT, ""},
		{"nothing was made", GATES, POD(IN_GROUP, BY_NAME, ""), BY_TEMPLATE, "{'name':'x'}",
			",'status':{'allocation':{'devices':{}},'reservedFor':[" FOR_G "]}", false,
			STILL_NOT, ""},
		{"nothing was made yet", GATES, POD(IN_GROUP, BY_NAME, ""), BY_TEMPLATE, "",
			",'status':{'reservedFor':[" FOR_G "]}", false,
			"Error: PodGroup default/g: ResourceClaim not created yet", ""},
		{"neither", GATES, POD(IN_GROUP, BY_NAME, ""), BY_NAME ",{'name':'y'}", "", "",
			false,
			"Error: PodGroup default/g, spec.resourceClaim y: none of the supported "
			"fields are set",
			""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		world_init(&world, rows[i].gates, "");
		put_device_claim(&world.fixture, "c", ONE_REQUEST, rows[i].claim);
		put_group(&world.fixture, rows[i].group, rows[i].group_status);
		if (rows[i].has_scheduled_pod) {
			fixture_add_pod(&world.fixture,
				"{'spec':{'nodeName':'n1','schedulingGroup':{'podGroupName':'g'}}"
				"}");
		}
		devices_cycle_begin(&world.cycle, &world.fixture, rows[i].pod);
		fixture_expect(rows[i].row, world.cycle.pre_filter, "Success");
		fixture_expect(
			rows[i].row, devices_cycle_post_filter(&world.cycle), rows[i].expected);
		fixture_expect(rows[i].row, bt_strbuf_c(&world.api.log), rows[i].log);
		world_finish(&world);
	}
}
END_TEST

/* --- one group's cycle --- */

static void init_group_state(struct bt_group_state *group, struct fixture *fixture)
{
	*group = (struct bt_group_state){.arena = &fixture->arena};
	group->data = BT_ARENA_NEW_ARRAY(&fixture->arena, void *, 1);
}

static void place_in_group(struct devices_cycle *cycle, struct fixture *fixture,
	struct bt_group_state *group, const char *name, const char *claims)
{
	devices_cycle_begin_in_group(cycle, fixture, devices_pod(fixture, name, claims), group);
	fixture_expect("PreFilter", cycle->pre_filter, "Success");
	fixture_expect("Filter", devices_cycle_filter(cycle, "n1"), "Success");
	fixture_expect("Reserve", devices_cycle_reserve(cycle, "n1"), "Success");
}

/** Two pods of the group share claim c. */
START_TEST(test_dynamic_resources_groups__spec_12_04_the_last_sharer_takes_it_back)
{
	struct bt_group_state group;
	struct devices_cycle second;
	struct world world;

	world_init(&world, NULL, "");
	init_group_state(&group, &world.fixture);
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	place_in_group(&world.cycle, &world.fixture, &group, "p", "c");
	place_in_group(&second, &world.fixture, &group, "q", "c");
	devices_cycle_unreserve(&world.cycle, "n1");
	devices_cycle_unreserve(&world.cycle, "n1");
	ck_assert(is_in_flight(&world, "uid-c"));
	devices_cycle_unreserve(&second, "n1");
	ck_assert(!is_in_flight(&world, "uid-c"));
	devices_cycle_end(&second);
	world_finish(&world);
}
END_TEST

/**
 * A claim in flight that was allocated outside the group's cycle does not belong to the group's
 * state.
 */
START_TEST(test_dynamic_resources_groups__spec_12_12_a_group_loses_each_claim)
{
	struct bt_group_state group;
	struct devices_cycle outside;
	struct devices_cycle second;
	struct world world;

	world_init(&world, NULL, "");
	init_group_state(&group, &world.fixture);
	put_slice(&world.fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	put_device_claim(&world.fixture, "e", ONE_REQUEST, "");
	place_in_group(&world.cycle, &world.fixture, &group, "p", "c e");
	devices_cycle_unreserve(&world.cycle, "n1");
	devices_cycle_place(
		&outside, &world.fixture, devices_pod(&world.fixture, "o", "c e"), "n1");
	for (int i = 0; i < 2; i++) {
		devices_cycle_begin_in_group(&second, &world.fixture,
			devices_pod(&world.fixture, "q", i == 0 ? "c" : "e"), &group);
		fixture_expect("of another pod", second.pre_filter,
			i == 0 ? REFUSED
				"resource claim default/c is in the process of being allocated"
			       : REFUSED
				"resource claim default/e is in the process of being allocated");
		devices_cycle_end(&second);
	}
	devices_cycle_unreserve(&outside, "n1");
	devices_cycle_end(&outside);
	world_finish(&world);
}
END_TEST

/** Section 21, D4: pending and new allocations each go to the right claim. */
START_TEST(test_dynamic_resources_groups__pending_before_new)
{
	struct bt_group_state group;
	struct devices_cycle second;
	struct world world;

	world_init(&world, NULL, "");
	init_group_state(&group, &world.fixture);
	put_slice(&world.fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	put_device_claim(&world.fixture, "e", ONE_REQUEST, "");
	place_in_group(&world.cycle, &world.fixture, &group, "p", "c");
	place_in_group(&second, &world.fixture, &group, "q", "c e");
	world.api.writer.retries_at_once = true;
	fixture_expect("PreBind", devices_cycle_pre_bind(&second, "n1"), "Success");
	fixture_expect("of the first", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: claim default/c got allocated elsewhere in the meantime");
	expect_log(&world, "PUT c;PUT c/status a {q};PUT e;PUT e/status b {q};PUT c;GET c;");
	devices_cycle_end(&second);
	world_finish(&world);
}
END_TEST

/** Section 11: an alternative chosen for another pod of the group counts as well. */
START_TEST(test_dynamic_resources_groups__spec_12_11_score_of_what_is_pending)
{
	struct bt_group_state group;
	struct devices_cycle second;
	struct world world;

	world_init(&world, NULL, "");
	init_group_state(&group, &world.fixture);
	put_device_claim(&world.fixture, "c",
		"{'name':'r','firstAvailable':[{'name':'many'," DEVICES_OF_C(
			9) "},{'name':'one'," DEVICES_OF_C(1) "}]}",
		"");
	place_in_group(&world.cycle, &world.fixture, &group, "p", "c");
	ck_assert_int_eq(devices_cycle_score(&world.cycle, "n1"), 7);
	place_in_group(&second, &world.fixture, &group, "q", "c");
	ck_assert_int_eq(devices_cycle_score(&second, "n1"), 7);
	devices_cycle_unreserve(&second, "n1");
	devices_cycle_unreserve(&world.cycle, "n1");
	devices_cycle_end(&second);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_groups",
	test_dynamic_resources_groups__spec_12_06_owner_of_a_generated_claim,
	test_dynamic_resources_groups__spec_12_06_bindings,
	test_dynamic_resources_groups__spec_12_06_reserved_for_the_group,
	test_dynamic_resources_groups__spec_12_10_post_filter,
	test_dynamic_resources_groups__spec_12_04_the_last_sharer_takes_it_back,
	test_dynamic_resources_groups__spec_12_12_a_group_loses_each_claim,
	test_dynamic_resources_groups__pending_before_new,
	test_dynamic_resources_groups__spec_12_11_score_of_what_is_pending)
