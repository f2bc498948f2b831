/* SPDX-License-Identifier: Apache-2.0 */
/** Pod groups: gating, the cycle of a group, and the outcomes of its members. Spec 09. */
#include "api/types.h"
#include "life_world.h"
#include "state/pod_groups.h"
#include "test_main.h"

#define GANG_GATES "GenericWorkload=true,GangScheduling=true"
#define PLACEMENT_GATES GANG_GATES ",TopologyAwareWorkloadScheduling=true"
#define PREEMPTION_GATES GANG_GATES ",WorkloadAwarePreemption=true"
#define PLUGINS "SchedulingGates, NodeName, NodeAffinity, NodeResourcesFit, GangScheduling, P"
#define WAITS \
	"pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one " \
	"or more plugins asked to wait and no plugin rejected pod"
#define GROUP "'schedulingGroup':{'podGroupName':'g'}"
#define CPU(amount) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" amount "'}}}]"

static struct life life;
static struct script plugin_p;

/** --- plugin P: its results depend on the pod's name --- */

static const char *const *permits;    /* "p2=reject" */
static const char *const *preemptors; /* "p2=n1": PostFilter nominates pod p2 to n1 */
static const char *failing;           /* PreFilter fails for this pod */
static const char *refused_for_good;  /* Reserve rejects this pod outside of the group's cycle */

static struct bt_str find_word(const char *const *words, struct bt_str name)
{
	for (; words != NULL && *words != NULL; words++) {
		struct bt_str word = bt_str_from(*words);
		if (bt_str_has_prefix(word, name) && word.data[name.length] == '=') {
			return bt_str_sub(word, name.length + 1, BT_STR_MAX);
		}
	}
	return BT_STR("");
}

static struct bt_status permit(BT_UNUSED struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED uint32_t slot, int64_t *out_timeout_ns)
{
	struct bt_str word = find_word(permits, pod->name);
	*out_timeout_ns = 1200 * LIFE_SECOND;
	if (bt_str_equal_c(word, "reject")) {
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, BT_STR("no permit"));
	}
	return bt_status_code_only(
		bt_str_equal_c(word, "wait") ? BT_STATUS_WAIT : BT_STATUS_SUCCESS);
}

static struct bt_status post_filter(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_statuses *statuses, struct bt_post_filter_result *out_result)
{
	struct bt_str node = find_word(preemptors, pod->name);
	if (node.length == 0) {
		return bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
	}
	*out_result = (struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, node};
	return BT_STATUS_OK;
}

static struct bt_status reserve(BT_UNUSED struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED uint32_t slot)
{
	return refused_for_good != NULL && cycle->group == NULL &&
			bt_str_equal_c(pod->name, refused_for_good)
		? bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, BT_STR("taken"))
		: BT_STATUS_OK;
}

static struct bt_status pre_filter(BT_UNUSED struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	return failing != NULL && bt_str_equal_c(pod->name, failing)
		? bt_status_error_text(cycle->arena, BT_STR("out of order"))
		: BT_STATUS_OK;
}

/** --- the cluster --- */

static int note_deletion(void *context, BT_UNUSED struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, BT_UNUSED struct berth_error *err)
{
	bt_strbuf_printf(&((struct life *)context)->log, "delete %.*s\n", BT_STR_ARG(victim->name));
	return 0;
}

static void begin_with(const char *gates, const char *plugins)
{
	permits = NULL;
	preemptors = NULL;
	failing = NULL;
	refused_for_good = NULL;
	plugin_p = script_make("P",
		FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_POST_FILTER) | FAKE_ROLE(FAKE_PRE_FILTER) |
			FAKE_ROLE(FAKE_RESERVE),
		SCRIPT_PLAIN);
	plugin_p.fake.ops.reserve = reserve;
	plugin_p.fake.ops.permit = permit;
	plugin_p.fake.ops.post_filter = post_filter;
	plugin_p.fake.ops.pre_filter = pre_filter;
	struct bt_scheduler_writer writer = {.context = &life, .delete_pod = note_deletion};
	life_init_writing(&life, gates, plugins, (struct script *[]){&plugin_p}, 1, &writer);
}

static void put_node(const char *name, const char *cpu, const char *labels)
{
	life_node(&life, name,
		bt_arena_printf(&life.arena,
			"'status':{'allocatable':{'cpu':'%s','memory':'8Gi','pods':'9'}}", cpu)
			.data);
	if (labels[0] != '\0') {
		struct bt_object *old = bt_object_store_find_object(
			&life.objects, BT_KIND_NODE, BT_STR(""), bt_str_from(name));
		(void)life_object(&life, BT_KIND_NODE,
			bt_arena_printf(&life.arena,
				"{'metadata':{'name':'%s','resourceVersion':'9%s','labels':{%s}},"
				"'status':{'allocatable':{'cpu':'%s','memory':'8Gi','pods':'9'}}}",
				name, cpu, labels, cpu)
				.data,
			old);
	}
}

static void begin(void)
{
	begin_with(GANG_GATES, PLUGINS);
	put_node("n1", "3", "");
}

/** Puts PodGroup g. policy: members of spec. */
static void put_group(const char *policy)
{
	(void)life_object(&life, BT_KIND_POD_GROUP,
		bt_arena_printf(&life.arena,
			"{'metadata':{'name':'g','namespace':'default','uid':'uid-g','generation':"
			"7},"
			"'spec':{%s}}",
			policy)
			.data,
		NULL);
}

static void put_gang(int min_count)
{
	put_group(bt_arena_printf(
		&life.arena, "'schedulingPolicy':{'gang':{'minCount':%d}}", min_count)
			  .data);
}

/** Puts a pod of group g. more: further members of spec. */
static void put_member(const char *name, const char *more)
{
	life.now_ns++;
	life_pod(&life, name, "",
		bt_arena_printf(
			&life.arena, "'spec':{" GROUP "%s%s}", more[0] != '\0' ? "," : "", more)
			.data);
}

static void put_members(uint32_t count)
{
	static const char *const names[] = {"p1", "p2", "p3", "p4"};
	for (uint32_t i = 0; i < count; i++) {
		put_member(names[i], CPU("1"));
	}
}

/**
 * Runs one cycle and its bindings; returns the logged writes, and of the logged events only the
 * events of victims.
 */
static const char *run(void)
{
	struct bt_strbuf lines = {0};
	struct bt_attempt attempt = life_schedule(&life);
	life.pops_nothing = true;
	while (attempt.outcome != BT_ATTEMPT_IDLE) {
		attempt = life_schedule(&life);
	}
	life.pops_nothing = false;
	struct bt_str log = bt_str_from(life_log(&life));
	while (log.length != 0) {
		int64_t end = bt_str_find_char(log, '\n');
		struct bt_str line = bt_str_sub(log, 0, (uint32_t)end);
		if (!bt_str_has_prefix(line, BT_STR("event ")) ||
			bt_str_find(line, BT_STR(" Preempted ")) >= 0) {
			bt_strbuf_append_str(&lines, line);
			bt_strbuf_append_char(&lines, '\n');
		}
		log = bt_str_sub(log, (uint32_t)end + 1, BT_STR_MAX);
	}
	const char *text = bt_arena_str(&life.arena, bt_strbuf_str(&lines)).data;
	bt_strbuf_finish(&lines);
	return text;
}

static void expect_place(const char *pod, const char *place, const char *rejectors)
{
	ck_assert_str_eq(life_place(&life, pod), place);
	ck_assert_str_eq(life_rejectors(&life, pod, false), rejectors);
}

/** Deletes the pods and checks that nothing of their group is left. */
static void finish(void)
{
	struct bt_state *state = bt_scheduler_engine(life.scheduler)->state;
	static const char *const names[] = {"p1", "p2", "p3", "p4"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_object_store_find_object(&life.objects, BT_KIND_POD, BT_STR("default"),
			    bt_str_from(names[i])) != NULL) {
			life_delete(&life, BT_KIND_POD, "default", names[i]);
		}
	}
	if (state->pod_groups != NULL) {
		ck_assert_uint_eq(state->pod_groups->groups.map.count, 0);
		ck_assert_uint_eq(state->pod_groups->wanted.count, 0);
	}
	life_finish(&life);
}

/** --- gating: sections 5 and 6 --- */

START_TEST(test_pod_groups__edge_09_01_no_scheduling_group)
{
	begin_with(PLACEMENT_GATES, PLUGINS ", TopologyPlacementGenerator, PodGroupPodsCount");
	put_node("n1", "3", "");
	put_gang(2);
	life_pod(&life, "p1", "", "'spec':{" CPU("1") "}");
	ck_assert_str_eq(run(), "bind p1 n1\n");
	ck_assert_ptr_null(bt_scheduler_group_attempt(life.scheduler));
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_02_gate_off)
{
	begin_with("", PLUGINS);
	put_node("n1", "3", "");
	put_member("p1", "");
	ck_assert_str_eq(run(), "bind p1 n1\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_03_no_gang_scheduling)
{
	begin_with("GenericWorkload=true", "NodeName, P");
	put_node("n1", "3", "");
	put_member("p1", "");
	put_member("p2", "");
	ck_assert_str_eq(run(), "bind p1 n1\nbind p2 n1\n");
	ck_assert_str_eq(bt_scheduler_group_attempt(life.scheduler)->name.data, "g");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_04_group_is_missing)
{
	begin();
	put_members(2);
	expect_place("p1", "unschedulable", "GangScheduling");
	ck_assert_str_eq(run(), "");
	put_gang(2);
	expect_place("p1", "active", "GangScheduling");
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=n1\n"
		"bind p1 n1\nbind p2 n1\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_05_too_few_members)
{
	begin();
	put_gang(3);
	put_members(2);
	expect_place("p1", "unschedulable", "GangScheduling");
	expect_place("p2", "unschedulable", "GangScheduling");
	put_member("p3", CPU("1"));
	expect_place("p1", "active", "GangScheduling");
	expect_place("p2", "active", "GangScheduling");
	expect_place("p3", "active", "");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_06_basic_policy)
{
	begin();
	put_group("'schedulingPolicy':{'basic':{}}");
	put_member("p1", CPU("1"));
	ck_assert_str_eq(run(), "group g True Scheduled: \nbind p1 n1\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_07_a_gated_member_counts)
{
	begin();
	put_gang(3);
	put_members(2);
	put_member("p3", "'schedulingGates':[{'name':'a/b'}]," CPU("1"));
	expect_place("p1", "active", "GangScheduling");
	expect_place("p3", "unschedulable", "SchedulingGates");
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " WAITS " nominated=\n"
		"patch p2 Unschedulable: " WAITS " nominated=\n"
		"group g False Unschedulable: pod group is unschedulable\n");
	finish();
}
END_TEST

/** While the members wait, the group is deleted, or its minCount rises. */
START_TEST(test_pod_groups__a_group_changes)
{
	begin();
	put_gang(3);
	put_members(3);
	life_delete(&life, BT_KIND_POD_GROUP, "default", "g");
	put_node("n2", "3", "");
	expect_place("p1", "active", "GangScheduling");
	(void)run();
	life_advance(&life, 60);
	expect_place("p1", "unschedulable", "GangScheduling");
	put_gang(4);
	expect_place("p1", "unschedulable", "GangScheduling");
	put_member("p4", CPU("1"));
	expect_place("p1", "active", "GangScheduling");
	finish();
}
END_TEST

/** --- the cycle: section 7 --- */

START_TEST(test_pod_groups__edge_09_08_all_or_nothing)
{
	begin();
	put_gang(3);
	put_members(3);
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_WAITING);
	ck_assert_str_eq(attempt.name.data, "p1");
	ck_assert(bt_str_equal_c(attempt.group_name, "g"));
	ck_assert_str_eq(life_schedule(&life).name.data, "p2");
	ck_assert_str_eq(life_schedule(&life).name.data, "p3");
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=n1\n"
		"patch p2 nominated=n1\nbind p1 n1\nbind p2 n1\nbind p3 n1\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_09_short_of_the_quorum)
{
	begin();
	put_gang(4);
	put_members(4);
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " WAITS " nominated=\n"
		"patch p2 Unschedulable: " WAITS " nominated=\n"
		"patch p3 Unschedulable: " WAITS " nominated=\n"
		"patch p4 Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.\n"
		"group g False Unschedulable: pod group is unschedulable\n");
	expect_place("p1", "error", "");
	expect_place("p4", "backoff", "NodeResourcesFit");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_10_a_custom_plugin_waits)
{
	static const char *const words[] = {"p3=wait", NULL};
	begin();
	permits = words;
	put_gang(2);
	put_members(3);
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=n1\n"
		"patch p3 nominated=n1\nbind p1 n1\nbind p2 n1\n");
	ck_assert(life_is_assumed(&life, "p3"));
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_11_permit_rejects_one)
{
	static const char *const words[] = {"p2=reject", NULL};
	begin();
	permits = words;
	put_gang(2);
	put_members(3);
	ck_assert_str_eq(run(),
		"patch p2 Unschedulable: 0/1 nodes are available: 1 no permit. nominated=\n"
		"group g True Scheduled: \npatch p1 nominated=n1\nbind p1 n1\nbind p3 n1\n");
	expect_place("p2", "backoff", "P");
	finish();
}
END_TEST

#define NO_CPU "0/1 nodes are available: 1 Insufficient cpu."

START_TEST(test_pod_groups__edge_09_12_all_need_preemption)
{
	static const char *const words[] = {"p1=n1", "p2=n1", "p3=n1", NULL};
	begin();
	preemptors = words;
	put_gang(3);
	for (int i = 1; i <= 3; i++) {
		put_member(bt_arena_printf(&life.arena, "p%d", i).data, CPU("5"));
	}
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " NO_CPU " nominated=n1\n"
		"patch p2 Unschedulable: " NO_CPU " nominated=n1\n"
		"patch p3 Unschedulable: " NO_CPU " nominated=n1\n"
		"group g False Unschedulable: pod group is unschedulable, pod group is waiting for "
		"preemption to complete\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_13_preemption_without_quorum)
{
	static const char *const words[] = {"p1=n1", "p2=n1", NULL};
	begin();
	preemptors = words;
	put_gang(3);
	for (int i = 1; i <= 2; i++) {
		put_member(bt_arena_printf(&life.arena, "p%d", i).data, CPU("5"));
	}
	put_member("p3", "'schedulingGates':[{'name':'a/b'}]");
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " WAITS " nominated=\n"
		"patch p2 Unschedulable: " WAITS " nominated=\n"
		"group g False Unschedulable: pod group is unschedulable\n");
	finish();
}
END_TEST

#define WAITS_FOR_PREEMPTION \
	"pod group is unschedulable, pod group is waiting for preemption to complete"

START_TEST(test_pod_groups__edge_09_14_one_needs_preemption)
{
	static const char *const words[] = {"p1=n1", NULL};
	begin();
	put_node("n2", "3", "");
	preemptors = words;
	put_gang(3);
	put_member("p1", CPU("5"));
	put_member("p2", "'nodeSelector':{}," CPU("1"));
	put_member("p3", CPU("1"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. "
		"nominated=n1\n"
		"patch p2 Unschedulable: " WAITS_FOR_PREEMPTION " nominated=n2\n"
		"patch p3 Unschedulable: " WAITS_FOR_PREEMPTION " nominated=n2\n"
		"group g False Unschedulable: " WAITS_FOR_PREEMPTION "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_15_one_of_three_fits_nowhere)
{
	static const char *const words[] = {"p1=n1", NULL};
	begin();
	preemptors = words;
	put_gang(1);
	put_member("p1", CPU("5"));
	put_member("p2", CPU("6"));
	put_member("p3", CPU("0"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " NO_CPU " nominated=n1\n"
		"patch p2 Unschedulable: " NO_CPU "\n"
		"patch p3 Unschedulable: " WAITS_FOR_PREEMPTION " nominated=n1\n"
		"group g False Unschedulable: " WAITS_FOR_PREEMPTION "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_16_a_late_preemptor_makes_all_wait)
{
	static const char *const words[] = {"p3=n1", NULL};
	begin();
	preemptors = words;
	put_gang(2);
	put_members(2);
	put_member("p3", CPU("5"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " WAITS_FOR_PREEMPTION " nominated=n1\n"
		"patch p2 Unschedulable: " WAITS_FOR_PREEMPTION " nominated=n1\n"
		"patch p3 Unschedulable: " NO_CPU " nominated=n1\n"
		"group g False Unschedulable: " WAITS_FOR_PREEMPTION "\n");
	finish();
}
END_TEST

#define OWN_ERROR "running PreFilter plugin \"P\": out of order"
#define GROUP_ERROR "failed to schedule other pod from a pod group: " OWN_ERROR

START_TEST(test_pod_groups__edge_09_17_an_error_ends_the_cycle)
{
	begin();
	failing = "p2";
	put_gang(3);
	put_members(3);
	ck_assert_str_eq(run(),
		"patch p1 SchedulerError: " GROUP_ERROR " nominated=\n"
		"patch p2 SchedulerError: " OWN_ERROR " nominated=\n"
		"patch p3 SchedulerError: " GROUP_ERROR " nominated=\n"
		"group g False SchedulerError: " GROUP_ERROR "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_18_none_fits)
{
	begin();
	put_gang(2);
	put_member("p1", CPU("5"));
	put_member("p2", CPU("5"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " NO_CPU "\npatch p2 Unschedulable: " NO_CPU "\n"
		"group g False Unschedulable: pod group is unschedulable\n");
	expect_place("p1", "backoff", "NodeResourcesFit");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_19_no_nodes)
{
	begin_with(GANG_GATES, PLUGINS);
	put_gang(1);
	put_members(1);
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: no nodes available to schedule pods nominated=\n"
		"group g False Unschedulable: pod group is unschedulable\n");
	expect_place("p1", "error", "");
	finish();
}
END_TEST

#define INCONSISTENT \
	"snapshot state is not consistent, length of NodeInfoList=0 not equal to length of " \
	"nodes in tree=1 , length of NodeInfoMap=0, length of nodes in cache=0, trying to recover"

START_TEST(test_pod_groups__edge_09_20_snapshot_update_fails)
{
	begin_with(GANG_GATES, PLUGINS);
	put_node("n1", "3", "'topology.kubernetes.io/zone':'a'");
	put_node("n2", "3", "'topology.kubernetes.io/zone':'a'");
	put_gang(2);
	struct bt_state *state = bt_scheduler_engine(life.scheduler)->state;
	ck_assert_int_eq(bt_state_refresh_snapshot(state, NULL), 0);
	/* Node n2 is removed with another zone than in the node tree, so the tree keeps n2. */
	const struct bt_node *node =
		bt_object_store_find(&life.objects, BT_KIND_NODE, BT_STR(""), BT_STR("n2"));
	struct bt_node stale = {.metadata = {.name = node->metadata.name}};
	ck_assert_int_eq(bt_state_remove_node(state, &stale, NULL), BERTH_ERR_NOT_FOUND);
	life_delete(&life, BT_KIND_NODE, "", "n1");
	put_members(2);
	ck_assert_str_eq(run(),
		"patch p1 SchedulerError: " INCONSISTENT " nominated=\n"
		"patch p2 SchedulerError: " INCONSISTENT " nominated=\n"
		"group g False SchedulerError: " INCONSISTENT "\n");
	(void)life_object(&life, BT_KIND_NODE,
		"{'metadata':{'name':'n2','labels':{'topology.kubernetes.io/zone':'a'}},"
		"'status':{'allocatable':{'cpu':'3','pods':'9'}}}",
		NULL);
	life_advance(&life, 60);
	ck_assert_str_eq(
		run(), "group g True Scheduled: \npatch p1 nominated=n2\nbind p1 n2\nbind p2 n2\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_21_order_of_members)
{
	static const int priorities[] = {100, 200, 150, 150};
	static const char *const expected[] = {"p2", "p4", "p3", "p1"};
	begin_with(GANG_GATES, PLUGINS);
	put_group("'schedulingPolicy':{'basic':{}}");
	put_node("n1", "9", "");
	for (int i = 0; i < 4; i++) {
		life.now_ns += i == 3 ? -LIFE_SECOND : LIFE_SECOND;
		put_member(bt_arena_printf(&life.arena, "p%d", i + 1).data,
			bt_arena_printf(&life.arena, "'priority':%d", priorities[i]).data);
	}
	for (int i = 0; i < 4; i++) {
		ck_assert_str_eq(life_schedule(&life).name.data, expected[i]);
	}
	(void)run();
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_22_member_in_no_queue)
{
	begin();
	put_gang(3);
	put_members(3);
	/* Another client binds p2: the group keeps p2 among its unscheduled members, too. */
	life_pod(&life, "p2", "", "'spec':{'nodeName':'n1'," GROUP "," CPU("1") "}");
	ck_assert_str_eq(life_place(&life, "p2"), "-");
	ck_assert_str_eq(
		run(), "group g True Scheduled: \npatch p1 nominated=n1\nbind p1 n1\nbind p3 n1\n");
	ck_assert_uint_eq(bt_scheduler_group_attempt(life.scheduler)->member_count, 2);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_23_terminating_members_are_dropped)
{
	begin();
	put_gang(2);
	put_members(3);
	life_pod(&life, "p1", "'deletionTimestamp':'2026-01-01T00:00:00Z'",
		"'spec':{" GROUP "," CPU("1") "}");
	ck_assert_str_eq(
		run(), "group g True Scheduled: \npatch p2 nominated=n1\nbind p2 n1\nbind p3 n1\n");
	ck_assert_str_eq(life_place(&life, "p1"), "-");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_24_two_profiles)
{
	struct bt_arena arena;

	bt_arena_init(&arena, 0);
	begin_with(GANG_GATES,
		bt_arena_printf(&arena, "{'profiles':[%s,%s]}",
			world_profile(&arena, "default-scheduler", "GangScheduling", ""),
			world_profile(&arena, "second", "GangScheduling", ""))
			.data);
	bt_arena_finish(&arena);
	put_node("n1", "3", "");
	put_gang(2);
	put_member("p1", "");
	put_member("p2", "'schedulerName':'second'");
#define TWO \
	" SchedulerError: all pods in a single pod group should have the same " \
	".spec.schedulerName set, got: \"second\" and \"default-scheduler\" nominated=\n"
	ck_assert_str_eq(run(), "patch p1" TWO "patch p2" TWO);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_25_best_effort_beyond_the_quorum)
{
	begin();
	put_gang(3);
	put_members(4);
	ck_assert_str_eq(run(),
		"patch p4 Unschedulable: " NO_CPU "\n"
		"group g True Scheduled: \npatch p1 nominated=n1\npatch p2 nominated=n1\n"
		"bind p1 n1\nbind p2 n1\nbind p3 n1\n");
	expect_place("p4", "backoff", "NodeResourcesFit");
	put_node("n2", "3", "");
	ck_assert_str_eq(run(), "group g True Scheduled: \nbind p4 n2\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_26_condition_once_true)
{
	static const char *const texts[] = {
		"'conditions':[{'type':'PodGroupScheduled','status':'True','reason':'Scheduled',"
		"'message':'','observedGeneration':7}]",
		"'conditions':[{'type':'PodGroupScheduled','status':'False','reason':'"
		"Unschedulable','message':'pod group is unschedulable','observedGeneration':6}]"};
	for (int i = 0; i < 2; i++) {
		begin();
		(void)life_object(&life, BT_KIND_POD_GROUP,
			bt_arena_printf(&life.arena,
				"{'metadata':{'name':'g','namespace':'default','generation':7},"
				"'spec':{'schedulingPolicy':{'gang':{'minCount':1}}},'status':{%s}"
				"}",
				texts[i])
				.data,
			NULL);
		put_member("p1", CPU("5"));
		ck_assert_str_eq(run(),
			i == 0 ? "patch p1 Unschedulable: " NO_CPU "\n"
			       : "patch p1 Unschedulable: " NO_CPU
				 "\ngroup g False Unschedulable: pod group is unschedulable\n");
		finish();
	}
}
END_TEST

START_TEST(test_pod_groups__edge_09_27_observed_generation)
{
	begin();
	put_gang(1);
	put_member("p1", CPU("5"));
	(void)run();
	ck_assert_int_eq(life.observed_generation, 7);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_28_permit_timeout)
{
	begin();
	refused_for_good = "p2";
	put_gang(2);
	put_members(2);
	ck_assert_str_eq(run(),
		"patch p2 Unschedulable: 0/1 nodes are available: 1 taken. nominated=\n"
		"group g True Scheduled: \npatch p1 nominated=n1\n");
	ck_assert(life_is_assumed(&life, "p1"));
	life.now_ns += 300 * LIFE_SECOND;
	life.pops_nothing = true;
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: 0/1 nodes are available: 1 rejected due to timeout after "
		"waiting 5m0s at plugin GangScheduling. nominated=\n");
	ck_assert_str_eq(life_rejectors(&life, "p1", false), "GangScheduling");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	finish();
}
END_TEST

#define OF_H "'spec':{'schedulingGroup':{'podGroupName':'h'}," CPU("1") "}"

START_TEST(test_pod_groups__edge_09_30_last_member_frees_its_group)
{
	begin();
	put_node("n1", "9", "");
	put_gang(2);
	(void)life_object(&life, BT_KIND_POD_GROUP,
		"{'metadata':{'name':'h','namespace':'default','uid':'uid-h'},"
		"'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}",
		NULL);
	refused_for_good = "p4";
	life_pod(&life, "p3", "", OF_H);
	life_pod(&life, "p4", "", OF_H);
	ck_assert_str_eq(run(),
		"patch p4 Unschedulable: 0/1 nodes are available: 1 taken. nominated=\n"
		"group h True Scheduled: \npatch p3 nominated=n1\n");
	put_member("p1", "'priority':1," CPU("1"));
	put_member("p2", "'priority':1," CPU("1"));
	ck_assert_str_eq(
		run(), "group g True Scheduled: \npatch p1 nominated=n1\nbind p1 n1\nbind p2 n1\n");
	ck_assert(life_is_assumed(&life, "p3"));
	refused_for_good = NULL;
	life_advance(&life, 60);
	ck_assert_str_eq(run(), "group h True Scheduled: \nbind p3 n1\nbind p4 n1\n");
	finish();
}
END_TEST

/**
 * The trial of the last member completes the quorum, but the member's real attempt fails: no
 * waiting member is released.
 */
START_TEST(test_pod_groups__a_trial_frees_no_waiting_member)
{
	begin();
	put_gang(3);
	refused_for_good = "p3";
	put_members(3);
	(void)run();
	ck_assert(life_is_assumed(&life, "p1"));
	life_advance(&life, 60);
	ck_assert_str_eq(run(),
		"patch p3 Unschedulable: 0/1 nodes are available: 1 taken. nominated=\n"
		"group g True Scheduled: \n");
	ck_assert(life_is_assumed(&life, "p1"));
	ck_assert(life_is_assumed(&life, "p2"));
	refused_for_good = NULL;
	life_advance(&life, 60);
	ck_assert_str_eq(run(), "group g True Scheduled: \nbind p1 n1\nbind p2 n1\nbind p3 n1\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_50_a_waiting_member_is_deleted)
{
	begin();
	refused_for_good = "p2";
	put_gang(2);
	put_members(2);
	(void)run();
	ck_assert(life_is_assumed(&life, "p1"));
	const struct bt_group_members *members = bt_pod_groups_find(
		bt_scheduler_engine(life.scheduler)->state, BT_STR("default"), BT_STR("g"));
	ck_assert_uint_eq(members->scheduled_count, 1);
	life_delete(&life, BT_KIND_POD, "default", "p1");
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.name.data, "p1");
	ck_assert_str_eq(attempt.message.data, "0/1 nodes are available: 1 removed.");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert_str_eq(life_place(&life, "p1"), "-");
	ck_assert_uint_eq(members->scheduled_count, 0);
	ck_assert_uint_eq(members->unscheduled_count, 1);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_49_group_deleted_before_permit)
{
	begin();
	put_gang(1);
	put_members(1);
	life_delete(&life, BT_KIND_POD_GROUP, "default", "g");
#define NO_GROUP \
	"running Permit plugin \"GangScheduling\": failed to get podGroup default/g: " \
	"podgroup.scheduling.k8s.io \"g\" not found"
	ck_assert_str_eq(run(), "patch p1 SchedulerError: " NO_GROUP " nominated=\n");
	finish();
}
END_TEST

/** --- placements: section 8 --- */

#define TOPOLOGY_PLUGINS PLUGINS ", TopologyPlacementGenerator, PodGroupPodsCount"

static void put_zoned_gang(int min_count)
{
	put_group(bt_arena_printf(&life.arena,
		"'schedulingPolicy':{'gang':{'minCount':%d}},'schedulingConstraints':{'topology':"
		"[{'key':'zone'}]}",
		min_count)
			  .data);
}

START_TEST(test_pod_groups__edge_09_31_no_constraint)
{
	begin_with(PLACEMENT_GATES, TOPOLOGY_PLUGINS);
	put_node("n1", "3", "");
	put_gang(1);
	put_member("p1", CPU("5"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: " NO_CPU "\n"
		"group g False Unschedulable: 0/1 placements are available, first placement "
		"status: "
		"pod group is unschedulable\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_33_key_on_no_node)
{
	begin_with(PLACEMENT_GATES, TOPOLOGY_PLUGINS);
	put_node("n1", "3", "");
	put_zoned_gang(1);
	put_member("p1", CPU("1"));
	ck_assert_str_eq(run(),
		"patch p1 Unschedulable: no feasible placements found\n"
		"group g False Unschedulable: no feasible placements found\n");
	expect_place("p1", "error", "");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_35_the_feasible_placement_wins)
{
	begin_with(PLACEMENT_GATES, TOPOLOGY_PLUGINS);
	put_node("a1", "1", "'zone':'a'");
	put_node("a2", "1", "'zone':'a'");
	put_node("b1", "3", "'zone':'b'");
	put_zoned_gang(3);
	put_members(3);
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=b1\n"
		"patch p2 nominated=b1\nbind p1 b1\nbind p2 b1\nbind p3 b1\n");
	ck_assert_uint_eq(bt_scheduler_group_attempt(life.scheduler)->placement_count, 0);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_36_the_best_of_two)
{
	begin_with(PLACEMENT_GATES, TOPOLOGY_PLUGINS);
	put_node("a1", "2", "'zone':'a'");
	put_node("b1", "3", "'zone':'b'");
	put_zoned_gang(2);
	put_members(3);
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=b1\n"
		"bind p1 b1\nbind p2 b1\nbind p3 b1\n");
	const struct bt_group_attempt *attempt = bt_scheduler_group_attempt(life.scheduler);
	ck_assert_uint_eq(attempt->placement_count, 2);
	ck_assert(bt_str_equal_c(attempt->placements[0].name, "a"));
	ck_assert_int_lt(attempt->placements[0].total, attempt->placements[1].total);
	/* Later members must go to the topology domain of the members that are already placed. */
	put_member("p4", CPU("1"));
	ck_assert_str_eq(life_place(&life, "p4"), "active");
	ck_assert_str_eq(run(),
		"patch p4 Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.\n"
		"group g False Unschedulable: 0/1 placements are available, first placement "
		"status: "
		"pod group is unschedulable\n");
	finish();
}
END_TEST

/**
 * Anti-affinity of an existing pod rejects members because of their labels, so placement a is not
 * feasible, although two pods like the first member would fit.
 */
START_TEST(test_pod_groups__members_differ_in_labels)
{
	begin_with(PLACEMENT_GATES,
		"SchedulingGates, NodeName, NodeResourcesFit, InterPodAffinity, GangScheduling, "
		"TopologyPlacementGenerator, PodGroupPodsCount");
	put_node("a1", "2", "'zone':'a'");
	put_node("b1", "3", "'zone':'b'");
	life_pod(&life, "guard", "",
		"'spec':{'nodeName':'a1','containers':[{'name':'c'}],'affinity':{'podAntiAffinity':"
		"{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'zone',"
		"'labelSelector':{'matchLabels':{'app':'x'}}}]}}}");
	put_zoned_gang(2);
	put_member("p1", CPU("1"));
	life.now_ns++;
	life_pod(&life, "p2", "'labels':{'app':'x'}", "'spec':{" GROUP "," CPU("1") "}");
	life.now_ns++;
	life_pod(&life, "p3", "'labels':{'app':'x'}", "'spec':{" GROUP "," CPU("1") "}");
	ck_assert_str_eq(run(),
		"group g True Scheduled: \npatch p1 nominated=b1\n"
		"bind p1 b1\nbind p2 b1\nbind p3 b1\n");
	ck_assert_uint_eq(bt_scheduler_group_attempt(life.scheduler)->placement_count, 0);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_03_39_a_confirmed_binding_stays_counted)
{
	begin();
	put_gang(2);
	put_members(2);
	(void)run();
	const struct bt_group_members *members = bt_pod_groups_find(
		bt_scheduler_engine(life.scheduler)->state, BT_STR("default"), BT_STR("g"));
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(members->items.count, 2);
		ck_assert_uint_eq(members->scheduled_count, 2);
		ck_assert_uint_eq(members->unscheduled_count, 0);
		if (i < 2) {
			life_pod(&life, i == 0 ? "p1" : "p2", "",
				"'spec':{'nodeName':'n1'," GROUP "," CPU("1") "}");
		}
	}
	ck_assert(!life_is_assumed(&life, "p1"));
	ck_assert(!life_is_assumed(&life, "p2"));
	finish();
}
END_TEST

/** --- preemption for the group: section 9 --- */

#define PREEMPTION_PLUGINS PLUGINS ", DefaultPreemption"
#define NOT_ALONE " preemption: not eligible due to workload aware preemption enabled\n"
#define NO_ROOM " Unschedulable: " NO_CPU NOT_ALONE
#define NO_ROOM_ON_TWO " Unschedulable: 0/2 nodes are available: 2 Insufficient cpu." NOT_ALONE
#define REJECTED "group g False Unschedulable: pod group is unschedulable"
#define EVICTED(pod) \
	"delete " pod "\nevent " pod \
	" Normal Preempted Preempting Preempted by podgroup uid-g on node cluster\n"

static void put_bound(const char *name, const char *node, const char *cpu, int priority)
{
	life_pod(&life, name, "",
		bt_arena_printf(&life.arena,
			"'spec':{'nodeName':'%s','priority':%d,'containers':[{'name':'c',"
			"'resources':{'requests':{'cpu':'%s'}}}]}",
			node, priority, cpu)
			.data);
}

START_TEST(test_pod_groups__edge_09_40_no_preemption_with_constraints)
{
	begin_with(PREEMPTION_GATES ",TopologyAwareWorkloadScheduling=true",
		TOPOLOGY_PLUGINS ", DefaultPreemption");
	put_node("n1", "3", "'zone':'a'");
	put_bound("low-1", "n1", "3", 0);
	put_group("'priority':100,'schedulingPolicy':{'gang':{'minCount':2}},"
		  "'schedulingConstraints':{'topology':[{'key':'zone'}]}");
	put_members(2);
#define NOT_PLACED \
	" Unschedulable: " NO_CPU \
	" preemption: not eligible due to placement-based pod group scheduling limitation\n"
	ck_assert_str_eq(run(),
		"patch p1" NOT_PLACED "patch p2" NOT_PLACED
		"group g False Unschedulable: 0/1 placements are available, first placement "
		"status: pod group is unschedulable, workload aware preemption is not supported "
		"for pod groups with scheduling constraints\n");
	finish();

	/* No node has the topology label. */
	begin_with(PREEMPTION_GATES ",TopologyAwareWorkloadScheduling=true",
		TOPOLOGY_PLUGINS ", DefaultPreemption");
	put_node("n1", "3", "");
	put_bound("low-1", "n1", "3", 0);
	put_group("'priority':100,'schedulingPolicy':{'gang':{'minCount':1}},"
		  "'schedulingConstraints':{'topology':[{'key':'zone'}]}");
	put_members(1);
#define NO_PLACEMENTS \
	"Unschedulable: no feasible placements found, workload aware preemption is not " \
	"supported for pod groups with scheduling constraints\n"
	ck_assert_str_eq(run(), "patch p1 " NO_PLACEMENTS "group g False " NO_PLACEMENTS);
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_41_a_gang_evicts_single_pods)
{
	begin_with(PREEMPTION_GATES, PREEMPTION_PLUGINS);
	put_node("n1", "3", "");
	put_bound("low-1", "n1", "1", 0);
	put_bound("low-2", "n1", "1", 0);
	put_bound("low-3", "n1", "1", 0);
	put_group("'priority':100,'schedulingPolicy':{'gang':{'minCount':3}}");
	put_members(3);
	ck_assert_str_eq(run(),
		EVICTED("low-1") EVICTED("low-2")
			EVICTED("low-3") "patch p1" NO_ROOM "patch p2" NO_ROOM
					 "patch p3" NO_ROOM REJECTED "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_42_a_gang_evicts_no_more_than_it_needs)
{
	begin_with(PREEMPTION_GATES, PREEMPTION_PLUGINS);
	put_node("n1", "2", "");
	put_node("n2", "2", "");
	put_bound("low-1", "n1", "2", 0);
	put_bound("low-2", "n2", "1", 0);
	put_group("'priority':100,'schedulingPolicy':{'gang':{'minCount':3}}");
	put_members(3);
	ck_assert_str_eq(run(),
		EVICTED("low-1") "patch p1 Unschedulable: pod group is unschedulable nominated=n2\n"
				 "patch p2" NO_ROOM_ON_TWO "patch p3" NO_ROOM_ON_TWO REJECTED "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_43_basic_policy_evicts_for_one_member)
{
	begin_with(PREEMPTION_GATES, PREEMPTION_PLUGINS);
	put_node("n1", "1", "");
	put_node("n2", "1", "");
	put_bound("low-1", "n1", "1", 0);
	put_group("'priority':100,'schedulingPolicy':{'basic':{}}");
	put_members(2);
	/* One member fits: the other member does not preempt. */
	ck_assert_str_eq(run(), "patch p2" NO_ROOM_ON_TWO "group g True Scheduled: \nbind p1 n2\n");
	finish();
	begin_with(PREEMPTION_GATES, PREEMPTION_PLUGINS);
	put_node("n1", "1", "");
	put_node("n2", "1", "");
	put_bound("low-1", "n1", "1", 0);
	put_bound("low-2", "n2", "1", 0);
	put_group("'priority':100,'schedulingPolicy':{'basic':{}}");
	put_members(2);
	/* No member fits: one victim is evicted for the first member that then fits. */
	ck_assert_str_eq(run(),
		EVICTED("low-2") "patch p1" NO_ROOM_ON_TWO "patch p2" NO_ROOM_ON_TWO REJECTED "\n");
	finish();
}
END_TEST

START_TEST(test_pod_groups__edge_09_44_a_victim_of_higher_priority)
{
	static const char *const reasons[] = {
		"pod group is unschedulable", "No preemption victims found for incoming preemptor"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(reasons); i++) {
		begin_with(PREEMPTION_GATES, PREEMPTION_PLUGINS);
		put_node("n1", "3", "");
		put_bound("high", "n1", "2", 1000);
		put_bound("other", "n1", "1", i == 0 ? 0 : 100);
		put_group("'priority':100,'schedulingPolicy':{'gang':{'minCount':3}}");
		put_members(3);
		ck_assert_str_eq(run(),
			bt_arena_printf(&life.arena,
				"patch p1" NO_ROOM "patch p2" NO_ROOM "patch p3" NO_ROOM REJECTED
				", %s\n",
				reasons[i])
				.data);
		finish();
	}
}
END_TEST

/** --- the result computed from columns against a trial of every member --- */

static struct bt_status permit_always(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot, BT_UNUSED int64_t *out_timeout_ns)
{
	return BT_STATUS_OK;
}

/**
 * Writes the log of one random cluster to log. is_tried: a Permit plugin makes the engine try every
 * member in every placement.
 */
static void live_random_group(uint64_t seed, bool is_tried, struct bt_strbuf *log)
{
	static const char *const sizes[] = {CPU("1"), CPU("500m"), CPU("2")};
	struct script trier = script_make("P", FAKE_ROLE(FAKE_PERMIT), SCRIPT_PLAIN);
	struct bt_scheduler_writer writer = {.context = &life, .delete_pod = note_deletion};
	struct bt_prng prng;
	trier.fake.ops.permit = permit_always;
	bt_prng_init(&prng, seed);
	bool preempts = bt_prng_below(&prng, 3) == 0;
	bool is_zoned = !preempts && bt_prng_below(&prng, 4) != 0;
	struct bt_arena texts = {0};
	const char *plugins = bt_arena_printf(&texts, "%s%s%s",
		"NodeName, NodeAffinity, NodeResourcesFit, GangScheduling, "
		"TopologyPlacementGenerator, PodGroupPodsCount",
		preempts ? ", DefaultPreemption" : "", is_tried ? ", P" : "")
				      .data;
	life_init_writing(&life,
		!preempts                              ? PLACEMENT_GATES
			: bt_prng_below(&prng, 2) == 0 ? PREEMPTION_GATES
						       : PREEMPTION_GATES
			",TopologyAwareWorkloadScheduling=true",
		plugins, (struct script *[]){&trier}, 1, &writer);
	if (bt_prng_below(&prng, 2) == 0 && !is_tried) {
		bt_scheduler_engine(life.scheduler)->options.verify = false;
	}
	uint32_t nodes = 3 + (uint32_t)bt_prng_below(&prng, 8);
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t zone = (uint32_t)bt_prng_below(&prng, 4);
		put_node(bt_arena_printf(&life.arena, "n%02u", i).data,
			bt_arena_printf(&life.arena, "%u", 1 + (uint32_t)bt_prng_below(&prng, 4))
				.data,
			zone == 3 ? ""
				  : bt_arena_printf(&life.arena, "'zone':'%c'", 'a' + (int)zone)
					    .data);
	}
	for (uint32_t i = 0; preempts && i < 2 * nodes; i++) {
		put_bound(bt_arena_printf(&life.arena, "low-%u", i).data,
			bt_arena_printf(&life.arena, "n%02u", i % nodes).data,
			bt_prng_below(&prng, 2) == 0 ? "500m" : "1",
			(int)bt_prng_below(&prng, 3) - 1);
	}
	uint32_t kinds = bt_prng_below(&prng, 3) == 0 ? 3 : 1;
	uint32_t members = 2 + (uint32_t)bt_prng_below(&prng, 8);
	uint32_t needed = bt_prng_below(&prng, 2) == 0 ? members : 1 + members / 2;
	put_group(bt_arena_printf(&life.arena, "'priority':100,'schedulingPolicy':{%s}%s",
		bt_prng_below(&prng, 4) == 0
			? "'basic':{}"
			: bt_arena_printf(&life.arena, "'gang':{'minCount':%u}", needed).data,
		is_zoned ? ",'schedulingConstraints':{'topology':[{'key':'zone'}]}" : "")
			  .data);
	uint32_t first = (uint32_t)bt_prng_below(&prng, 3);
	for (uint32_t i = 0; i < members; i++) {
		put_member(bt_arena_printf(&life.arena, "m%u", i).data,
			bt_arena_printf(&life.arena, "'priority':100,%s",
				sizes[kinds == 1 ? first : bt_prng_below(&prng, kinds)])
				.data);
	}
	bt_strbuf_append_c(log, run());
	/* Single pods like the members show whether the group's cycle left anything behind. */
	for (uint32_t i = 0; i < 3; i++) {
		life.now_ns++;
		life_pod(&life, bt_arena_printf(&life.arena, "single-%u", i).data, "",
			bt_arena_printf(&life.arena, "'spec':{'priority':100,%s}", sizes[first])
				.data);
		bt_strbuf_append_c(log, run());
	}
	bt_strbuf_printf(
		log, "start %u\n", bt_scheduler_engine(life.scheduler)->next_start_node_index);
	bt_arena_finish(&texts);
	life_finish(&life);
}

START_TEST(test_pod_groups__columns_foretell_what_trials_find)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct bt_strbuf tried = {0};
		struct bt_strbuf foretold = {0};
		live_random_group(seed, true, &tried);
		live_random_group(seed, false, &foretold);
		ck_assert_msg(bt_str_equal(bt_strbuf_str(&tried), bt_strbuf_str(&foretold)),
			"seed %lu\n%s---\n%s", (unsigned long)seed, bt_strbuf_c(&tried),
			bt_strbuf_c(&foretold));
		bt_strbuf_finish(&tried);
		bt_strbuf_finish(&foretold);
	}
}
END_TEST

BT_TEST_MAIN("pod_groups", test_pod_groups__edge_03_39_a_confirmed_binding_stays_counted,
	test_pod_groups__edge_09_01_no_scheduling_group, test_pod_groups__edge_09_02_gate_off,
	test_pod_groups__edge_09_03_no_gang_scheduling,
	test_pod_groups__edge_09_04_group_is_missing, test_pod_groups__edge_09_05_too_few_members,
	test_pod_groups__edge_09_06_basic_policy, test_pod_groups__edge_09_07_a_gated_member_counts,
	test_pod_groups__a_group_changes, test_pod_groups__edge_09_08_all_or_nothing,
	test_pod_groups__edge_09_09_short_of_the_quorum,
	test_pod_groups__edge_09_10_a_custom_plugin_waits,
	test_pod_groups__edge_09_11_permit_rejects_one,
	test_pod_groups__edge_09_12_all_need_preemption,
	test_pod_groups__edge_09_13_preemption_without_quorum,
	test_pod_groups__edge_09_14_one_needs_preemption,
	test_pod_groups__edge_09_15_one_of_three_fits_nowhere,
	test_pod_groups__edge_09_16_a_late_preemptor_makes_all_wait,
	test_pod_groups__edge_09_17_an_error_ends_the_cycle, test_pod_groups__edge_09_18_none_fits,
	test_pod_groups__edge_09_19_no_nodes, test_pod_groups__edge_09_20_snapshot_update_fails,
	test_pod_groups__edge_09_21_order_of_members,
	test_pod_groups__edge_09_22_member_in_no_queue,
	test_pod_groups__edge_09_23_terminating_members_are_dropped,
	test_pod_groups__edge_09_24_two_profiles,
	test_pod_groups__edge_09_25_best_effort_beyond_the_quorum,
	test_pod_groups__edge_09_26_condition_once_true,
	test_pod_groups__edge_09_27_observed_generation, test_pod_groups__edge_09_28_permit_timeout,
	test_pod_groups__edge_09_30_last_member_frees_its_group,
	test_pod_groups__a_trial_frees_no_waiting_member,
	test_pod_groups__edge_09_50_a_waiting_member_is_deleted,
	test_pod_groups__edge_09_49_group_deleted_before_permit,
	test_pod_groups__edge_09_31_no_constraint, test_pod_groups__edge_09_33_key_on_no_node,
	test_pod_groups__edge_09_35_the_feasible_placement_wins,
	test_pod_groups__edge_09_36_the_best_of_two, test_pod_groups__members_differ_in_labels,
	test_pod_groups__edge_09_40_no_preemption_with_constraints,
	test_pod_groups__edge_09_41_a_gang_evicts_single_pods,
	test_pod_groups__edge_09_42_a_gang_evicts_no_more_than_it_needs,
	test_pod_groups__edge_09_43_basic_policy_evicts_for_one_member,
	test_pod_groups__edge_09_44_a_victim_of_higher_priority,
	test_pod_groups__columns_foretell_what_trials_find)
