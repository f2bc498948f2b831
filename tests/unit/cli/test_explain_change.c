/* SPDX-License-Identifier: Apache-2.0 */
/** Proposed changes as text, as commands and in JSON; the table of an explanation made by hand. */
#include "cli/explain/explain_change.h"
#include "cli/explain/explain_report.h"
#include "test_main.h"

static struct bt_pod make_pod(void)
{
	static struct bt_topology_spread_constraint constraint = {
		.max_skew = 1, .topology_key = BT_STR_INIT("zone")};
	struct bt_pod pod = {.metadata = {.name = BT_STR("p"), .namespace_ = BT_STR("shop")}};
	static struct bt_resource_entry requests[2];
	static struct bt_container container;

	requests[0] = (struct bt_resource_entry){
		BT_STR("cpu"), bt_quantity_make(64, 0, BT_QUANTITY_DECIMAL_SI)};
	requests[1] = (struct bt_resource_entry){
		BT_STR("memory"), bt_quantity_make(INT64_C(1) << 33, 0, BT_QUANTITY_BINARY_SI)};
	container.resources.requests.items = requests;
	container.resources.requests.count = BT_ARRAY_LENGTH(requests);
	pod.spec.containers.items = &container;
	pod.spec.containers.count = 1;
	pod.spec.topology_spread_constraints.items = &constraint;
	pod.spec.topology_spread_constraints.count = 1;
	return pod;
}

#define OF(member_kind, ...) \
	{ \
		.kind = BT_REMEDY_##member_kind, __VA_ARGS__ \
	}

static const struct {
	struct bt_remedy change;
	const char *text;
	const char *command; /* "": none */
	const char *json;    /* without "text" */
} rows[] = {
	{OF(FREE_RESOURCE, .node = BT_STR_INIT("n"), .resource = BT_STR_INIT("cpu"), .amount = 250),
		"free 250m cpu on n", "",
		"{\"type\":\"FreeResource\",\"node\":\"n\",\"resource\":\"cpu\",\"amount\":250,"},
	{OF(FREE_RESOURCE, .node = BT_STR_INIT("n"), .resource = BT_STR_INIT("memory"),
		 .amount = INT64_C(3) << 29),
		"free 1.5Gi memory on n", "",
		"{\"type\":\"FreeResource\",\"node\":\"n\",\"resource\":\"memory\",\"amount\":"
		"1610612736,"},
	{OF(FREE_RESOURCE, .node = BT_STR_INIT("n"), .resource = BT_STR_INIT("pods"), .amount = 1),
		"make room for 1 more pod on n", "",
		"{\"type\":\"FreeResource\",\"node\":\"n\",\"resource\":\"pods\",\"amount\":1,"},
	{OF(REMOVE_POD, .node = BT_STR_INIT("n"), .pod_namespace = BT_STR_INIT("a"),
		 .pod_name = BT_STR_INIT("q")),
		"delete pod a/q from n", "kubectl delete pod q -n a",
		"{\"type\":\"RemovePod\",\"node\":\"n\",\"pod\":{\"namespace\":\"a\",\"name\":"
		"\"q\"},"},
	{OF(TOLERATE, .key = BT_STR_INIT("k"), .effect = BT_STR_INIT("NoExecute")),
		"let the pod tolerate taint k:NoExecute",
		"kubectl patch pod p -n shop --type=json -p "
		"'[{\"op\":\"add\",\"path\":\"/spec/tolerations/-\",\"value\":{\"key\":\"k\","
		"\"operator\":\"Exists\",\"effect\":\"NoExecute\"}}]'",
		"{\"type\":\"Tolerate\",\"key\":\"k\",\"value\":\"\",\"effect\":\"NoExecute\","},
	{OF(UNCORDON, .node = BT_STR_INIT("n")), "uncordon n", "kubectl uncordon n",
		"{\"type\":\"Uncordon\",\"node\":\"n\","},
	{OF(SET_LABEL, .node = BT_STR_INIT("n"), .key = BT_STR_INIT("k"),
		 .value = BT_STR_INIT("it's")),
		"label n with k=it's", "kubectl label node n 'k=it'\\''s' --overwrite",
		"{\"type\":\"SetLabel\",\"node\":\"n\",\"key\":\"k\",\"value\":\"it's\","},
	{OF(REMOVE_LABEL, .node = BT_STR_INIT("n"), .key = BT_STR_INIT("k")), "take label k from n",
		"kubectl label node n k-",
		"{\"type\":\"RemoveLabel\",\"node\":\"n\",\"key\":\"k\","},
	{OF(DROP_NODE_SELECTOR, .key = BT_STR_INIT("k")), "drop k from the pod's nodeSelector", "",
		"{\"type\":\"DropNodeSelector\",\"key\":\"k\","},
	{OF(DROP_NODE_AFFINITY, .amount = 0), "drop the pod's required node affinity", "",
		"{\"type\":\"DropNodeAffinity\","},
	{OF(DROP_POD_AFFINITY, .index = 7), "drop required term [7] of the pod's podAffinity", "",
		"{\"type\":\"DropPodAffinity\",\"index\":7,"},
	{OF(DROP_POD_ANTI_AFFINITY, .index = 0),
		"drop required term [0] of the pod's podAntiAffinity", "",
		"{\"type\":\"DropPodAntiAffinity\",\"index\":0,"},
	{OF(RAISE_MAX_SKEW, .index = 0, .amount = 2),
		"raise maxSkew of the pod's topologySpreadConstraints[0] (zone) to 2", "",
		"{\"type\":\"RaiseMaxSkew\",\"amount\":2,\"index\":0,"},
	{OF(ALLOW_SKEW, .index = 4),
		"set whenUnsatisfiable of the pod's topologySpreadConstraints[4] to ScheduleAnyway",
		"", "{\"type\":\"AllowSkew\",\"index\":4,"},
	{OF(DROP_HOST_PORT, .amount = 80, .value = BT_STR_INIT("TCP")),
		"do without host port 80/TCP", "",
		"{\"type\":\"DropHostPort\",\"value\":\"TCP\",\"amount\":80,"},
	{OF(DROP_VOLUME, .key = BT_STR_INIT("v")), "do without the pod's volume v", "",
		"{\"type\":\"DropVolume\",\"key\":\"v\","},
	{OF(LOWER_REQUEST, .resource = BT_STR_INIT("cpu"), .amount = 56100),
		"ask for 7.9 cpu instead of 64", "",
		"{\"type\":\"LowerRequest\",\"resource\":\"cpu\",\"amount\":56100,"},
	{OF(LOWER_REQUEST, .resource = BT_STR_INIT("memory"), .amount = 1),
		"ask for 7.9Gi memory instead of 8Gi", "",
		"{\"type\":\"LowerRequest\",\"resource\":\"memory\",\"amount\":1,"},
	{OF(LOWER_REQUEST, .resource = BT_STR_INIT("hugepages-1Mi"), .amount = 1 << 20),
		"ask for 1Mi less hugepages-1Mi", "",
		"{\"type\":\"LowerRequest\",\"resource\":\"hugepages-1Mi\",\"amount\":1048576,"},
	{OF(REMOVE_GATE, .key = BT_STR_INIT("g")), "remove the pod's scheduling gate g",
		"kubectl patch pod p -n shop -p "
		"'{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":\"g\"}]}}'",
		"{\"type\":\"RemoveGate\",\"key\":\"g\","},
	{OF(PROVISION_VOLUME, .key = BT_STR_INIT("v"), .value = BT_STR_INIT("fast")),
		"create StorageClass fast, for volume v", "",
		"{\"type\":\"ProvisionVolume\",\"key\":\"v\",\"value\":\"fast\","},
	{OF(PROVISION_VOLUME, .key = BT_STR_INIT("v")),
		"create a default StorageClass, or mark one as default, for volume v", "",
		"{\"type\":\"ProvisionVolume\",\"key\":\"v\",\"value\":\"\","},
	{OF(SET_SCHEDULER_NAME, .value = BT_STR_INIT("default-scheduler")),
		"set the pod's schedulerName to default-scheduler", "",
		"{\"type\":\"SetSchedulerName\",\"value\":\"default-scheduler\","},
};

START_TEST(test_change__every_kind)
{
	struct bt_pod pod = make_pod();
	bool seen[BT_REMEDY__COUNT] = {false};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};
		struct bt_json_writer writer;
		const bt_remedy_list changes = {
			.items = (struct bt_remedy *)&rows[i].change, .count = 1};
		seen[rows[i].change.kind] = true;
		(void)bt_changes_append_text(&changes, &pod, NULL, &out);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_reset(&out);
		bool has_command =
			bt_change_append_command(&rows[i].change, &pod, true, false, &out);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].command);
		ck_assert(has_command == (rows[i].command[0] != '\0'));
		bt_strbuf_reset(&out);
		bt_json_writer_init(&writer, &out, 0);
		bt_changes_write_json(&changes, &pod, NULL, &writer);
		ck_assert_msg(bt_str_has_prefix(bt_str_sub(bt_strbuf_str(&out), 1, BT_STR_MAX),
				      bt_str_from(rows[i].json)),
			"%s", bt_strbuf_c(&out));
		bt_strbuf_finish(&out);
	}
	for (int kind = 0; kind < BT_REMEDY__COUNT; kind++) {
		ck_assert_msg(seen[kind], "%s has no row",
			bt_remedy_kind_name((enum bt_remedy_kind)kind));
	}
}
END_TEST

START_TEST(test_change__first_toleration)
{
	const struct bt_pod pod = {
		.metadata = {.name = BT_STR_INIT("p"), .namespace_ = BT_STR_INIT("shop")}};
	const struct bt_remedy change = {.kind = BT_REMEDY_TOLERATE, .key = BT_STR_INIT("k")};
	struct bt_strbuf out = {0};
	ck_assert(bt_change_append_command(&change, &pod, true, true, &out));
	ck_assert_str_eq(bt_strbuf_c(&out),
		"kubectl patch pod p -n shop --type=json -p "
		"'[{\"op\":\"add\",\"path\":\"/spec/tolerations\",\"value\":[{\"key\":\"k\","
		"\"operator\":\"Exists\"}]}]'");
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_change__no_command_of_hostile_names)
{
	static const char *const names[] = {"-n", "a\nb", "a\x1b[2J", "\xe2\x80\xae", "\xff"};
	struct bt_pod pod = make_pod();
	struct bt_strbuf out = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		const struct bt_remedy changes[] = {
			{.kind = BT_REMEDY_UNCORDON, .node = bt_str_from(names[i])},
			{.kind = BT_REMEDY_REMOVE_GATE, .key = bt_str_from(names[i])},
			{.kind = BT_REMEDY_TOLERATE, .key = bt_str_from(names[i])},
		};
		for (size_t k = 0; k < BT_ARRAY_LENGTH(changes); k++) {
			ck_assert(!bt_change_append_command(&changes[k], &pod, true, false, &out));
		}
		ck_assert(!bt_change_append_alternative(&changes[2], BT_STR("n"), &out));
		ck_assert_uint_eq(out.length, 0);
	}
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_change__taints_that_come_back)
{
	struct bt_remedy change = {
		.kind = BT_REMEDY_TOLERATE, .key = BT_STR("team"), .effect = BT_STR("NoSchedule")};
	struct bt_strbuf out = {0};
	ck_assert(bt_change_append_alternative(&change, BT_STR("n"), &out));
	ck_assert_str_eq(bt_strbuf_c(&out), "kubectl taint node n team:NoSchedule-");
	change.key = BT_STR("node.kubernetes.io/not-ready");
	ck_assert(!bt_change_append_alternative(&change, BT_STR("n"), &out));
	bt_strbuf_finish(&out);
}
END_TEST

/** --- groups of nodes --- */

enum { NODES = 5000 };

/** Two thirds of the nodes lack cpu; the others all have the same taint. */
struct made {
	struct bt_explanation explanation;
	struct bt_explained_node nodes[NODES];
	struct bt_obstacle obstacles[NODES];
	struct bt_explained_group groups[2];
	uint32_t members[2][NODES];
};

static void make_explanation(struct made *made)
{
	static struct bt_str reasons[] = {
		BT_STR_INIT("Insufficient cpu"), BT_STR_INIT("node(s) had untolerated taint(s)")};
	struct bt_explanation *explanation = &made->explanation;
	bt_arena_init(&explanation->arena, 0);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t group = i % 3 == 2;
		struct bt_explained_group *in = &made->groups[group];
		made->obstacles[i] = (struct bt_obstacle){
			.plugin = BT_STR("Plugin"),
			.reasons = reasons[group],
			.hint = group == 1
				? BT_STR("has taint x")
				: bt_arena_printf(&explanation->arena, "needs %um more cpu", i + 1),
		};
		made->nodes[i].name = bt_arena_printf(&explanation->arena, "node-%u", i);
		made->nodes[i].group = group;
		made->nodes[i].obstacles.items = &made->obstacles[i];
		made->nodes[i].obstacles.count = 1;
		made->members[group][in->nodes.count++] = i;
		in->nodes.items = made->members[group];
		in->reasons.items = &reasons[group];
		in->reasons.count = 1;
	}
	explanation->fate = BT_EXPLAINED_UNSCHEDULABLE;
	explanation->message = BT_STR("0/5000 nodes are available.");
	explanation->node_count = NODES;
	explanation->nodes.items = made->nodes;
	explanation->nodes.count = NODES;
	explanation->groups.items = made->groups;
	explanation->groups.count = 2;
}

START_TEST(test_report__groups_of_5000_nodes)
{
	struct made *made = BT_NEW(struct made);
	struct bt_pod pod = make_pod();
	struct bt_pod_choice choice = {.pending = 0};
	struct bt_explain_report report = {
		.pod = &pod, .choice = &choice, .explanation = &made->explanation};
	struct bt_strbuf out = {0};
	make_explanation(made);
	bt_explain_report_write_table(&report, false, &out);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"Pod shop/p fits on none of 5,000 nodes: 3,334 have too little cpu left, 1,666 "
		"have taints it does not tolerate.\n"
		"\n"
		"The scheduler says:\n"
		"  0/5000 nodes are available.\n"
		"\n"
		"Why not, nearest nodes first:\n"
		"  3,334 nodes: Insufficient cpu\n"
		"    node-0: needs 1m more cpu\n"
		"    node-1: needs 2m more cpu\n"
		"    node-3: needs 4m more cpu\n"
		"    and 3,331 more, none of them nearer\n"
		"  1,666 nodes: node(s) had untolerated taint(s)\n"
		"    node-2, node-5, node-8 and 1,663 more: has taint x\n"
		"\n"
		"Queue:\n"
		"  priority 0\n"
		"  no pending pod comes before it\n");
	bt_strbuf_finish(&out);
	bt_arena_finish(&made->explanation.arena);
	bt_free(made);
}
END_TEST

BT_TEST_MAIN("explain_change", test_change__first_toleration, test_change__every_kind,
	test_change__no_command_of_hostile_names, test_change__taints_that_come_back,
	test_report__groups_of_5000_nodes)
