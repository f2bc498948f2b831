/* SPDX-License-Identifier: Apache-2.0 */
/** Advice about one node by the advisers of resources, ports, labels, taints and gates. */
#include "explain/advice.h"
#include "test_main.h"
#include "town.h"

struct row {
	const char *name;
	const char *node; /* members of the node besides its name */
	const char *running;
	const char *pod;
	const char *obstacles;
	const char *remedies;
};

#define ROOM "'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'10'}}"
#define ASK(what) "{'spec':{'containers':[{'resources':{'requests':{" what "}}}]}}"
#define LABELS(what) "'metadata':{'name':'n1','labels':{" what "}}," ROOM
#define BARE "'metadata':{'name':'n1'}," ROOM
#define AFFINITY(term) \
	"{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':" \
	"{'nodeSelectorTerms':[" term "]}}}}}"
#define MATCH(key, operator_, values) \
	"{'matchExpressions':[{'key':'" key "','operator':'" operator_ "','values':[" values "]}]" \
	"}"

static const struct row rows[] = {
	{"cpu", BARE,
		"{'spec':{'nodeName':'n1','containers':[{'resources':{'requests':{'cpu':"
		"'3'}}}]}}",
		ASK("'cpu':'1250m'"), "NodeResourcesFit: needs 250m more cpu\n",
		"FreeResource n1 cpu 250"},
	{"more than the node", BARE, NULL, ASK("'cpu':'64'"),
		"NodeResourcesFit: has only 4 of 64 cpu in all\n", "FreeResource n1 cpu 60000"},
	{"memory and cpu", BARE, NULL, ASK("'cpu':'5','memory':'9Gi'"),
		"NodeResourcesFit: has only 4 of 5 cpu in all, has only 8Gi of 9Gi memory in all\n",
		"FreeResource n1 cpu 1000; FreeResource n1 memory 1073741824"},
	{"no such resource", BARE, NULL, ASK("'example.com/gpu':'2'"),
		"NodeResourcesFit: has no example.com/gpu\n", "FreeResource n1 example.com/gpu 2"},
	{"pods", "'metadata':{'name':'n1'},'status':{'allocatable':{'pods':'1'}}",
		"{'spec':{'nodeName':'n1'}}", "{}", "NodeResourcesFit: already runs 1 of 1 pod\n",
		"FreeResource n1 pods 1"},
	{"taints",
		"'metadata':{'name':'n1'},'spec':{'taints':[{'key':'a','value':'b','effect':"
		"'NoSchedule'},{'key':'soft','effect':'PreferNoSchedule'},{'key':'c','effect':"
		"'NoExecute'}]}," ROOM,
		NULL, "{}", "TaintToleration: has taint a=b:NoSchedule, has taint c:NoExecute\n",
		"Tolerate a b NoSchedule; Tolerate c  NoExecute"},
	{"one taint is tolerated",
		"'metadata':{'name':'n1'},'spec':{'taints':[{'key':'a','value':'b','effect':"
		"'NoSchedule'},{'key':'c','effect':'NoExecute'}]}," ROOM,
		NULL, "{'spec':{'tolerations':[{'key':'a','operator':'Exists'}]}}",
		"TaintToleration: has taint c:NoExecute\n", "Tolerate c  NoExecute"},
	{"cordon",
		"'metadata':{'name':'n1'},'spec':{'unschedulable':true,'taints':[{'key':"
		"'node.kubernetes.io/unschedulable','effect':'NoSchedule'}]}," ROOM,
		NULL, "{}",
		"NodeUnschedulable: is cordoned\n"
		"TaintToleration: has taint node.kubernetes.io/unschedulable:NoSchedule\n",
		"Uncordon n1"},
	{"node name", BARE, NULL, "{'spec':{'nodeName':'n2'}}",
		"NodeName: is not n2, which the pod names\n", ""},
	{"selector", LABELS("'disk':'hdd'"), NULL, "{'spec':{'nodeSelector':{'disk':'ssd'}}}",
		"NodeAffinity: label disk is hdd, not ssd\n", "SetLabel n1 disk ssd"},
	{"selector of a fact", LABELS("'kubernetes.io/arch':'amd64'"), NULL,
		"{'spec':{'nodeSelector':{'kubernetes.io/arch':'arm64'}}}",
		"NodeAffinity: label kubernetes.io/arch is amd64, not arm64\n",
		"DropNodeSelector kubernetes.io/arch"},
	{"In", BARE, NULL, AFFINITY(MATCH("disk", "In", "'ssd','nvme'")),
		"NodeAffinity: lacks label disk=ssd or nvme\n", "SetLabel n1 disk ssd"},
	{"NotIn", LABELS("'disk':'hdd'"), NULL, AFFINITY(MATCH("disk", "NotIn", "'hdd'")),
		"NodeAffinity: label disk is hdd, which the pod avoids\n", "RemoveLabel n1 disk"},
	{"Exists", BARE, NULL, AFFINITY(MATCH("gpu", "Exists", "")),
		"NodeAffinity: lacks label gpu\n", "SetLabel n1 gpu "},
	{"DoesNotExist", LABELS("'spot':'yes'"), NULL, AFFINITY(MATCH("spot", "DoesNotExist", "")),
		"NodeAffinity: has label spot, which the pod avoids\n", "RemoveLabel n1 spot"},
	{"Gt", LABELS("'cores':'4'"), NULL, AFFINITY(MATCH("cores", "Gt", "'8'")),
		"NodeAffinity: label cores is 4, not above 8\n", "SetLabel n1 cores 9"},
	{"Lt", BARE, NULL, AFFINITY(MATCH("cores", "Lt", "'8'")),
		"NodeAffinity: lacks label cores<8\n", "SetLabel n1 cores 7"},
	{"Lt that no label meets", BARE, NULL, AFFINITY(MATCH("cores", "Lt", "'0'")),
		"NodeAffinity: no term of the pod's node affinity can match\n", "DropNodeAffinity"},
	{"the nearest term", LABELS("'b':'2'"), NULL,
		AFFINITY("{'matchExpressions':[{'key':'a','operator':'Exists'},"
			 "{'key':'c','operator':'Exists'}]},"
			 "{'matchExpressions':[{'key':'b','operator':'Exists'},"
			 "{'key':'d','operator':'In','values':['x']}]}"),
		"NodeAffinity: lacks label d=x\n", "SetLabel n1 d x"},
	{"no label can do it", BARE, NULL,
		AFFINITY("{'matchExpressions':[{'key':'a','operator':'In','values':['1']},"
			 "{'key':'a','operator':'NotIn','values':['1']}]}"),
		"NodeAffinity: no term of the pod's node affinity can match\n", "DropNodeAffinity"},
	{"two demands on one key", BARE, NULL,
		AFFINITY("{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']},"
			 "{'key':'a','operator':'NotIn','values':['1']}]}"),
		"NodeAffinity: lacks label a=1 or 2\n", "SetLabel n1 a 2"},
	{"port", BARE,
		"{'metadata':{'name':'web'},'spec':{'nodeName':'n1','containers':[{'ports':"
		"[{'hostPort':80}]}]}}",
		"{'spec':{'containers':[{'ports':[{'hostPort':80}]}]}}",
		"NodePorts: host port 80/TCP is taken by default/web\n",
		"RemovePod n1 default web"},
};

START_TEST(test_advice_nodes__words_and_remedies)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		struct town town;
		struct bt_explanation explanation;
		const struct bt_explained_node *node;
		const char *said;
		const char *wanted;

		town_init(&town, "{}");
		town_add_node(&town, bt_arena_printf(&town.world.arena, "{%s}", row->node).data);
		if (row->running != NULL) {
			world_add_pod(&town.world, row->running);
		}
		town_explain(&town, town_pod(&town, row->pod), 0, &explanation);
		said = town_obstacles(&town, &explanation, "n1");
		ck_assert_msg(strcmp(said, row->obstacles) == 0, "%s: %s", row->name, said);
		node = town_node(&explanation, "n1");
		wanted = town_remedies(&town, node->remedies.items, node->remedies.count);
		ck_assert_msg(strcmp(wanted, row->remedies) == 0, "%s: %s", row->name, wanted);
		ck_assert_msg(node->is_final == (row->remedies[0] == '\0'), "%s", row->name);
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
}
END_TEST

START_TEST(test_advice_nodes__added_affinity_is_the_profiles)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town,
		"{'profiles':[{'schedulerName':'default-scheduler','pluginConfig':[{'name':"
		"'NodeAffinity','args':{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':"
		"'NodeAffinityArgs','addedAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
		"{'matchExpressions':[{'key':'pool','operator':'In','values':['a']}]}]}}}}]}]}");
	town_add_node(&town, "{" BARE "}");
	town_explain(&town, town_pod(&town, "{}"), 5, &explanation);
	ck_assert_str_eq(
		town_obstacles(&town, &explanation, "n1"), "NodeAffinity: lacks label pool=a\n");
	ck_assert_str_eq(town_proposals(&town, &explanation), "SetLabel n1 pool a -> n1 (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("advice_nodes", test_advice_nodes__words_and_remedies,
	test_advice_nodes__added_affinity_is_the_profiles)
