/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption for a pod group. Spec: 08 section 18, cases 46 to 50, and section 14. */
#include "base/error.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define GATES \
	"GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true," \
	"WorkloadAwarePreemption=true"
#define PODS_MAX 16

/** The pods of a snapshot, and the pods that must be removed before the group fits. */
struct trial {
	struct preemption_fixture *fixture;
	bool removed[PODS_MAX]; /* by pod id */
	uint32_t removed_count;
	uint32_t slots_needed; /* number of pods that must be removed */
	const char *blocking;  /* a pod that must be removed; may be NULL */
	const char *refuses;   /* a pod whose removal fails; may be NULL */
	uint32_t runs;
	struct bt_pod_group_trial ops;
};

static int remove_pod(void *context, uint32_t pod_id, struct berth_error *err)
{
	struct trial *trial = context;

	ck_assert(pod_id < PODS_MAX && !trial->removed[pod_id]);
	if (trial->refuses != NULL && pod_id == preemption_pod_id(trial->fixture, trial->refuses)) {
		return bt_error_set(err, BERTH_ERR_STATE, "no such pod");
	}
	trial->removed[pod_id] = true;
	trial->removed_count++;
	return 0;
}

static int add_pod(void *context, uint32_t pod_id, BT_UNUSED struct berth_error *err)
{
	struct trial *trial = context;

	ck_assert(trial->removed[pod_id]);
	trial->removed[pod_id] = false;
	trial->removed_count--;
	return 0;
}

static struct bt_status feasible(void *context)
{
	struct trial *trial = context;

	trial->runs++;
	if (trial->removed_count < trial->slots_needed ||
		(trial->blocking != NULL &&
			!trial->removed[preemption_pod_id(trial->fixture, trial->blocking)])) {
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, &trial->fixture->arena,
			BT_STR("pod group is unschedulable"));
	}
	return BT_STATUS_OK;
}

static void init(struct preemption_fixture *fixture, struct trial *trial)
{
	static const struct preemption_options options = {.gates = GATES};

	preemption_init(fixture, &options);
	preemption_add_node(fixture, "node1", "'pods':'10'");
	preemption_add_node(fixture, "node2", "'pods':'10'");
	preemption_enable_writes(fixture);
	*trial = (struct trial){.fixture = fixture, .slots_needed = 1};
	trial->ops = (struct bt_pod_group_trial){remove_pod, add_pod, feasible, trial};
}

/** Puts a PodGroup; mode NULL: no disruption mode. */
static void put_group(
	struct preemption_fixture *fixture, const char *name, const char *mode, int priority)
{
	preemption_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'scheduling.k8s.io/v1alpha2','kind':'PodGroup','metadata':{"
			"'name':'%s','uid':'uid-%s'},'spec':{%s%s%s'priority':%d}}",
			name, name, mode != NULL ? "'disruptionMode':'" : "",
			mode != NULL ? mode : "", mode != NULL ? "'," : "", priority)
			.data);
}

/** Preempts for a group of one pod, or of two pods if second is not NULL; returns the status. */
static const char *preempt(struct preemption_fixture *fixture, struct trial *trial, int priority,
	const char *first, const char *second)
{
	const struct bt_pod_info *pods[2] = {preemption_pending(fixture, first), NULL};
	const struct bt_pod_group *group;
	struct bt_status status;

	if (second != NULL) {
		pods[1] = preemption_pending(fixture, second);
	}
	put_group(fixture, "preemptor", NULL, priority);
	group = bt_object_store_find(&fixture->state->objects, BT_KIND_POD_GROUP, BT_STR("default"),
		BT_STR("preemptor"));
	status = bt_run_pod_group_post_filter(fixture->framework, &fixture->arena, group, pods,
		second != NULL ? 2 : 1, &trial->ops);
	return preemption_status_text(fixture, status);
}

static const char *preempt_hi(struct preemption_fixture *fixture, struct trial *trial)
{
	return preempt(fixture, trial, 1000, "g1:low,group=preemptor", NULL);
}

#define REMOVED(name) \
	"patch " name "; delete " name "; event " name \
	" of preemptor \"Preempted by podgroup uid-preemptor on node cluster\""

START_TEST(test_preemption__edge_08_46_single_pods_go_first)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	put_group(&fixture, "one", "Pod", 0);
	put_group(&fixture, "other", "Pod", 0);
	preemption_add_pods(&fixture, "node1",
		"p2:low,group=one,start=1 p1:low,start=1 p3:low,group=other,start=1");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("p1"));
	ck_assert(bt_str_equal_c(fixture.condition.message,
		"default-scheduler: preempting to accommodate a higher priority podgroup"));
	/* The trial ends in the state that the cluster will have. */
	ck_assert_uint_eq(trial.removed_count, 1);
	ck_assert(trial.removed[preemption_pod_id(&fixture, "p1")]);
	ck_assert_uint_eq(trial.runs, 4);
	ck_assert_msg(fixture.evaluator->attempt_count == 0, "only pods are counted");
	preemption_finish(&fixture);
}
END_TEST

/**
 * A unit without a start time counts as started when the scan meets the unit. Among equal units,
 * the unit that the scan of a node meets last is the victim.
 */
START_TEST(test_preemption__unit_met_last_goes_first)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	trial.slots_needed = 2;
	preemption_add_pods(&fixture, "node1", "p1:low,start=9 p2:low p3:low");
	preemption_add_pods(&fixture, "node2", "p4:low p5:low,start=8");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("p3") "; " REMOVED("p4"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_47_group_goes_as_a_whole)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	trial.blocking = "p1";
	put_group(&fixture, "pg1", "PodGroup", 0);
	preemption_add_pods(&fixture, "node1", "p1:low,group=pg1 q:low");
	preemption_add_pods(&fixture, "node2", "p2:low,group=pg1");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("p1") "; " REMOVED("p2"));
	preemption_finish(&fixture);

	/* The pods are separate units if the group has no disruption mode or is unknown. */
	init(&fixture, &trial);
	trial.blocking = "p1";
	put_group(&fixture, "pg1", NULL, 0);
	preemption_add_pods(&fixture, "node1", "p1:low,group=pg1 q:low");
	preemption_add_pods(&fixture, "node2", "p2:low,group=pg1 p3:low,group=unheard-of");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("p1"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_48_priority_of_the_group_counts)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	put_group(&fixture, "pg1", "PodGroup", 100);
	preemption_add_pods(&fixture, "node1", "p1:hi,group=pg1");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("p1"));
	preemption_finish(&fixture);

	init(&fixture, &trial);
	put_group(&fixture, "pg1", "PodGroup", 100);
	preemption_add_pods(&fixture, "node1", "p1:low,group=pg1");
	ck_assert_str_eq(preempt(&fixture, &trial, 100, "g1:hi,group=preemptor", NULL),
		"UnschedulableAndUnresolvable: No preemption victims found for incoming "
		"preemptor");
	ck_assert_str_eq(preemption_log(&fixture), "");
	ck_assert_uint_eq(trial.runs, 0);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_49_budget_of_one_member)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	put_group(&fixture, "pg1", "PodGroup", 0);
	preemption_add_pods(&fixture, "node1",
		"single:low,start=1 m1:low,group=pg1,start=1,label=app=foo "
		"m2:low,group=pg1,start=1");
	preemption_add_budget(&fixture, "pdb", "{'matchLabels':{'app':'foo'}}", 0, NULL);
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("single"));
	preemption_finish(&fixture);

	/* The budget counts even if the unit under the budget is less important. */
	init(&fixture, &trial);
	put_group(&fixture, "pg1", "PodGroup", -5);
	preemption_add_pods(&fixture, "node1",
		"single:low,start=1 m1:low,group=pg1,start=1,label=app=foo "
		"m2:low,group=pg1,start=1");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("m1") "; " REMOVED("m2"));
	preemption_add_budget(&fixture, "pdb", "{'matchLabels':{'app':'foo'}}", 0, NULL);
	memset(trial.removed, 0, sizeof(trial.removed));
	trial.removed_count = 0;
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("single"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_50_one_member_never_preempts)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	preemption_add_pods(&fixture, "node1", "p1:low");
	ck_assert_str_eq(preempt(&fixture, &trial, 1000, "g1:low,never,group=preemptor",
				 "g2:low,group=preemptor"),
		"Unschedulable: not eligible due to preemptionPolicy=Never.");
	ck_assert_str_eq(preempt(&fixture, &trial, 1000, "g1:low,group=preemptor",
				 "g2:low,never,group=preemptor"),
		"Unschedulable: not eligible due to preemptionPolicy=Never.");
	ck_assert_uint_eq(trial.runs, 0);
	ck_assert_str_eq(
		preempt(&fixture, &trial, 1000, "g1:low,group=preemptor", "g2:low,group=preemptor"),
		"Success");
	preemption_finish(&fixture);
}
END_TEST

/** --- other parts of section 14 --- */

START_TEST(test_preemption__group_order_of_units)
{
	struct preemption_fixture fixture;
	struct trial trial;

	/* Order: priority, then groups before single pods, larger groups, earlier start. */
	init(&fixture, &trial);
	trial.slots_needed = 8;
	put_group(&fixture, "small", "PodGroup", 0);
	put_group(&fixture, "large", "PodGroup", 0);
	preemption_add_pods(&fixture, "node1",
		"s1:low,start=2 s2:low,start=1 s3:mid,start=9 a1:low,group=small,start=1 "
		"b1:low,group=large,start=8 m1:low,group=x,start=1");
	preemption_add_pods(&fixture, "node2", "b2:low,group=large,start=1 m2:low,group=x,start=3");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture),
		REMOVED("s3") "; " REMOVED("b1") "; " REMOVED("b2") "; " REMOVED("a1") "; " REMOVED(
			"m1") "; " REMOVED("m2") "; " REMOVED("s2") "; " REMOVED("s1"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__group_starts_with_its_first_pod)
{
	struct preemption_fixture fixture;
	struct trial trial;

	/*
	 * The start time of a group is that of its first pod in the order of nodes and pods (spec
	 * 08 section 14), even if another pod started earlier or later. So first3 is more important
	 * than first5.
	 */
	init(&fixture, &trial);
	put_group(&fixture, "first3", "PodGroup", 0);
	put_group(&fixture, "first5", "PodGroup", 0);
	preemption_add_pods(
		&fixture, "node1", "a1:low,group=first3,start=3 b1:low,group=first5,start=5");
	preemption_add_pods(
		&fixture, "node2", "a2:low,group=first3,start=9 b2:low,group=first5,start=1");
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("b1") "; " REMOVED("b2"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__group_charges_until_violated)
{
	struct preemption_fixture fixture;
	struct trial trial;

	/* Pod m1 violates budget a, so budget b is not charged and still covers s1. */
	init(&fixture, &trial);
	put_group(&fixture, "pg1", "PodGroup", 0);
	preemption_add_pods(&fixture, "node1",
		"m1:low,group=pg1,label=x=a,label=y=b s0:low,start=1 s1:low,start=2,label=y=b");
	preemption_add_budget(&fixture, "a", "{'matchLabels':{'x':'a'}}", 0, NULL);
	preemption_add_budget(&fixture, "b", "{'matchLabels':{'y':'b'}}", 1, NULL);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
		ck_assert_str_eq(preemption_log(&fixture), REMOVED("s1"));
		memset(trial.removed, 0, sizeof(trial.removed));
		trial.removed_count = 0;
	}
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__group_failures)
{
	struct preemption_fixture fixture;
	struct trial trial;

	init(&fixture, &trial);
	preemption_add_pods(&fixture, "node1", "p1:low");
	trial.slots_needed = 2;
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Unschedulable: pod group is unschedulable");
	ck_assert_str_eq(preemption_log(&fixture), "");
	preemption_finish(&fixture);

	init(&fixture, &trial);
	preemption_add_pods(&fixture, "node1", "p1:low");
	trial.refuses = "p1";
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Error: no such pod");
	preemption_finish(&fixture);

	/* Every victim could be put back: the result is success without victims. */
	init(&fixture, &trial);
	preemption_add_pods(&fixture, "node1", "p1:low");
	trial.slots_needed = 0;
	ck_assert_str_eq(preempt_hi(&fixture, &trial), "Success");
	ck_assert_str_eq(preemption_log(&fixture), "");
	preemption_finish(&fixture);

	/* If a victim cannot be removed, all pods of the group are activated again. */
	init(&fixture, &trial);
	preemption_add_pods(&fixture, "node1", "p1:low");
	fixture.failures[0] = (struct preemption_failure){"delete p1", BERTH_ERR_IO, "refused"};
	ck_assert_str_eq(
		preempt(&fixture, &trial, 1000, "g1:low,group=preemptor", "g2:low,group=preemptor"),
		"Success");
	ck_assert_str_eq(preemption_log(&fixture), "patch p1; delete p1; activate g1; activate g2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__group_without_the_gate)
{
	static const struct preemption_options options = {
		.gates = "GenericWorkload=true,GangScheduling=true"};
	struct preemption_fixture fixture;
	struct trial trial = {.fixture = &fixture};

	preemption_init(&fixture, &options);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	ck_assert_str_eq(preempt_hi(&fixture, &trial),
		"Unschedulable: default preemption plugin is not registered, workload aware "
		"preemption is disabled");
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_group", test_preemption__edge_08_46_single_pods_go_first,
	test_preemption__edge_08_47_group_goes_as_a_whole,
	test_preemption__unit_met_last_goes_first,
	test_preemption__edge_08_48_priority_of_the_group_counts,
	test_preemption__edge_08_49_budget_of_one_member,
	test_preemption__edge_08_50_one_member_never_preempts,
	test_preemption__group_order_of_units, test_preemption__group_starts_with_its_first_pod,
	test_preemption__group_charges_until_violated, test_preemption__group_failures,
	test_preemption__group_without_the_gate)
