/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ResourceClaims and ResourceSlices in the living scheduler: which pods their changes requeue.
 * Spec: 12 sections 4.1, 4.5, 16.
 */
#include "life_world.h"
#include "test_main.h"

#define CLAIM_SPEC \
	"'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'," \
	"'allocationMode':'ExactCount','count':1}}]}}"
#define USES(name) "'spec':{'resourceClaims':[{'name':'x','resourceClaimName':'" name "'}]}"
#define HELD_ON(node) \
	",'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'n1'," \
	"'device':'a'}]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':" \
	"'metadata.name','operator':'In','values':['" node "']}]}]}}}"

/** Arguments: name, uid and version of the claim; name and uid of the claim's pod. */
#define GENERATED(more) \
	"{'metadata':{'name':'%s','namespace':'default','uid':'uid-%s','resourceVersion':'%s'," \
	"'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'%s','uid':'uid-%s'," \
	"'controller':true}]}," CLAIM_SPEC more "}"

static struct life life;

/** Adds a claim, or updates it to the next version. */
static void deliver_claim(const char *name, const char *version, const char *more)
{
	struct bt_object *old = bt_object_store_find_object(
		&life.objects, BT_KIND_RESOURCE_CLAIM, BT_STR("default"), bt_str_from(name));

	(void)life_object(&life, BT_KIND_RESOURCE_CLAIM,
		bt_arena_printf(&life.arena,
			"{'metadata':{'name':'%s','namespace':'default','uid':'uid-%s',"
			"'resourceVersion':'%s'}," CLAIM_SPEC "%s}",
			name, name, version, more)
			.data,
		old);
}

/** Adds node n1 with one device. */
static void add_node_with_device(void)
{
	life_node(&life, "n1", "");
	(void)life_object(&life, BT_KIND_DEVICE_CLASS, "{'metadata':{'name':'c'}}", NULL);
	(void)life_object(&life, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'n1','pool':{'name':'n1',"
		"'generation':1,'resourceSliceCount':1},'devices':[{'name':'a'}]}}",
		NULL);
}

static void init(void)
{
	life_init(&life, "DynamicResources", NULL, 0);
	add_node_with_device();
}

static void expect_failed(const char *message)
{
	struct bt_attempt attempt = life_schedule(&life);

	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_msg(bt_str_find(attempt.message, bt_str_from(message)) >= 0, "%.*s",
		BT_STR_ARG(attempt.message));
}

START_TEST(test_scheduler_claims__a_claim_is_created)
{
	init();
	life_pod(&life, "p", "", USES("late"));
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_IDLE);
	deliver_claim("other", "1", "");
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	deliver_claim("late", "2", "");
	ck_assert_str_eq(life_place(&life, "p"), "active");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler_claims__assumed_claims_count_until_the_watch_is_newer)
{
	init();
	deliver_claim("first", "5", "");
	deliver_claim("second", "6", "");
	life_pod(&life, "p", "", USES("first"));
	life_pod(&life, "q", "", USES("second"));
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	expect_failed("cannot allocate all claims");
	ck_assert_str_eq(life_place(&life, "q"), "unschedulable");
	/* The watch delivers a version older than the assumed claim: no pod is requeued. */
	deliver_claim("first", "5", ",'status':{'reservedFor':[{'uid':'u'}]}");
	ck_assert_str_eq(life_place(&life, "q"), "unschedulable");
	deliver_claim("first", "7", "");
	ck_assert_str_eq(life_place(&life, "q"), "backoff");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler_claims__devices_that_post_filter_frees)
{
	init();
	deliver_claim("held", "1", HELD_ON("gone"));
	deliver_claim("wanted", "2", "");
	life_pod(&life, "waits", "", USES("wanted"));
	expect_failed("cannot allocate all claims");
	ck_assert_str_eq(life_place(&life, "waits"), "unschedulable");
	life_pod(&life, "p", "", USES("held"));
	expect_failed("deallocation of ResourceClaim completed");
	/* The event requeues both pods, including the pod of this attempt. */
	ck_assert_str_eq(life_place(&life, "waits"), "backoff");
	ck_assert_str_eq(life_place(&life, "p"), "backoff");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler_claims__a_deleted_claim_requeues_no_pod)
{
	init();
	deliver_claim("held", "1", HELD_ON("n1"));
	deliver_claim("wanted", "2", "");
	life_pod(&life, "p", "", USES("wanted"));
	expect_failed("cannot allocate all claims");
	life_delete(&life, BT_KIND_RESOURCE_CLAIM, "default", "held");
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	life_finish(&life);
}
END_TEST

static struct bt_object *deliver_claim_without_uid(const char *name, const char *status)
{
	struct bt_object *old = bt_object_store_find_object(
		&life.objects, BT_KIND_RESOURCE_CLAIM, BT_STR("default"), bt_str_from(name));

	return life_object(&life, BT_KIND_RESOURCE_CLAIM,
		bt_arena_printf(&life.arena,
			"{'metadata':{'name':'%s','namespace':'default'}," CLAIM_SPEC "%s}", name,
			status)
			.data,
		old);
}

START_TEST(test_scheduler_claims__claims_without_uid)
{
	init();
	deliver_claim("held", "1", HELD_ON("n1"));
	(void)deliver_claim_without_uid("own", "");
	(void)deliver_claim_without_uid("other", "");
	life_pod(&life, "p", "", USES("own"));
	expect_failed("cannot allocate all claims");
	(void)deliver_claim_without_uid("other", ",'status':{'reservedFor':[{'uid':'u'}]}");
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	(void)deliver_claim_without_uid("own", ",'status':{'reservedFor':[{'uid':'u'}]}");
	ck_assert_str_eq(life_place(&life, "p"), "backoff");
	life_finish(&life);
}
END_TEST

/** Pods of one shape with generated claims: a claim's event requeues only the pod of that claim. */
START_TEST(test_scheduler_claims__claims_of_pods_that_are_alike)
{
	static const char *const names[] = {"p", "q"};

	init();
	deliver_claim("held", "1", HELD_ON("n1"));
	for (int i = 0; i < 2; i++) {
		const char *claim = i == 0 ? "of-p" : "of-q";

		(void)life_object(&life, BT_KIND_RESOURCE_CLAIM,
			bt_arena_printf(
				&life.arena, GENERATED(""), claim, claim, "2", names[i], names[i])
				.data,
			NULL);
		life_pod(&life, names[i], "",
			bt_arena_printf(&life.arena,
				"'spec':{'resourceClaims':[{'name':'x',"
				"'resourceClaimTemplateName':'t'}]},'status':{"
				"'resourceClaimStatuses':[{'name':'x','resourceClaimName':'%s'}]}",
				claim)
				.data);
		expect_failed("cannot allocate all claims");
		ck_assert_str_eq(life_place(&life, names[i]), "unschedulable");
	}
	(void)life_object(&life, BT_KIND_RESOURCE_CLAIM,
		bt_arena_printf(&life.arena, GENERATED(",'status':{'reservedFor':[{'uid':'u'}]}"),
			"of-q", "of-q", "3", "q", "q")
			.data,
		bt_object_store_find_object(
			&life.objects, BT_KIND_RESOURCE_CLAIM, BT_STR("default"), BT_STR("of-q")));
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_str_eq(life_place(&life, "q"), "backoff");
	life_finish(&life);
}
END_TEST

/**
 * A change of a taint rule is an event for the slices that the rule taints, and for no other
 * slices.
 */
START_TEST(test_scheduler_claims__rules_change_slices)
{
	struct bt_object *rule;

	life_init_gated(&life, "DRADeviceTaintRules=true", "DynamicResources", NULL, 0);
	add_node_with_device();
	rule = life_object(&life, BT_KIND_DEVICE_TAINT_RULE,
		"{'metadata':{'name':'t'},'spec':{'deviceSelector':{'driver':'d'},'taint':{'key':"
		"'k','effect':'NoSchedule'}}}",
		NULL);
	deliver_claim("wanted", "1", "");
	life_pod(&life, "p", "", USES("wanted"));
	expect_failed("cannot allocate all claims");
	(void)life_object(&life, BT_KIND_DEVICE_TAINT_RULE,
		"{'metadata':{'name':'other'},'spec':{'deviceSelector':{'driver':'e'},'taint':{"
		"'key':'k','effect':'NoSchedule'}}}",
		NULL);
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	rule = life_object(&life, BT_KIND_DEVICE_TAINT_RULE,
		"{'metadata':{'name':'t'},'spec':{'deviceSelector':{'driver':'d'},'taint':{'key':"
		"'k','effect':'None'}}}",
		rule);
	ck_assert_str_eq(life_place(&life, "p"), "backoff");
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_claims", test_scheduler_claims__a_claim_is_created,
	test_scheduler_claims__assumed_claims_count_until_the_watch_is_newer,
	test_scheduler_claims__devices_that_post_filter_frees,
	test_scheduler_claims__a_deleted_claim_requeues_no_pod,
	test_scheduler_claims__claims_without_uid,
	test_scheduler_claims__claims_of_pods_that_are_alike,
	test_scheduler_claims__rules_change_slices)
