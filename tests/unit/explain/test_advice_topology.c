/* SPDX-License-Identifier: Apache-2.0 */
/** Advice about one node by the advisers of pod affinity and topology spread. */
#include "explain/advice.h"
#include "test_main.h"
#include "town.h"

#define PODS_MAX 6

/**
 * Nodes n1 and n2 are in zones a and b, n3 is in zone b, n4 has no zone; each node's hostname label
 * is the node's name.
 */
struct row {
	const char *name;
	const char *running[PODS_MAX];
	const char *pod;
	const char *node;
	const char *obstacles;
	const char *remedies;
};

#define ON(node, name, labels) \
	"{'metadata':{'name':'" name "','labels':{" labels "}},'spec':{'nodeName':'" node "'}}"
#define SELECT(labels) "'labelSelector':{'matchLabels':{" labels "}}"
#define TERM(key, labels) "{'topologyKey':'" key "'," SELECT(labels) "}"
#define NEAR(terms) "'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define APART(terms) \
	"'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define POD(labels, affinity) \
	"{'metadata':{'labels':{" labels "}},'spec':{'affinity':{" affinity "}}}"
#define SPREAD(key, more) \
	"{'topologyKey':'" key \
	"','whenUnsatisfiable':'DoNotSchedule'," SELECT("'app':'w'") "," more "}"
#define SPREADS(constraints) \
	"{'metadata':{'labels':{'app':'w'}},'spec':{'topologySpreadConstraints':[" constraints "]" \
	"}" \
	"}"
#define HOST "kubernetes.io/hostname"

static const struct row rows[] = {
	{"no pod near", {ON("n2", "db", "'app':'db'")}, POD("", NEAR(TERM("zone", "'app':'db'"))),
		"n1", "InterPodAffinity: no pod matching app=db in zone a\n", "DropPodAffinity #0"},
	{"no pod on the node", {ON("n2", "db", "'app':'db'")},
		POD("", NEAR(TERM(HOST, "'app':'db'"))), "n3",
		"InterPodAffinity: no pod matching app=db on this node\n", "DropPodAffinity #0"},
	{"the second term", {ON("n2", "db", "'app':'db','tier':'x'")},
		POD("", NEAR(TERM("zone", "'app':'db'") "," TERM(HOST, "'tier':'x'"))), "n3",
		"InterPodAffinity: no pod matching tier=x and its other terms on this node\n",
		"DropPodAffinity #1"},
	{"no label", {ON("n2", "db", "'app':'db'")}, POD("", NEAR(TERM("zone", "'app':'db'"))),
		"n4", "InterPodAffinity: lacks label zone\n", "SetLabel n4 zone b"},
	{"no label, first of its kind", {NULL}, POD("'app':'w'", NEAR(TERM("rack", "'app':'w'"))),
		"n1", "InterPodAffinity: lacks label rack\n", "DropPodAffinity #0"},
	{"one pod to stay away from", {ON("n1", "w1", "'app':'w'")},
		POD("", APART(TERM("zone", "'app':'w'"))), "n1",
		"InterPodAffinity: its anti-affinity keeps it from default/w1 in zone a\n",
		"RemovePod n1 default w1"},
	{"the pod is on another node of the zone", {ON("n2", "w1", "'app':'w'")},
		POD("", APART(TERM("zone", "'app':'w'"))), "n3",
		"InterPodAffinity: its anti-affinity keeps it from default/w1 in zone b\n",
		"RemovePod n2 default w1"},
	{"several pods to stay away from",
		{ON("n1", "w1", "'app':'w'"), ON("n1", "w2", "'app':'w'"),
			ON("n1", "w3", "'app':'w'"), ON("n1", "w4", "'app':'w'")},
		POD("", APART(TERM(HOST, "'app':'x'") "," TERM("zone", "'app':'w'"))), "n1",
		"InterPodAffinity: its anti-affinity keeps it from default/w1, default/w2, "
		"default/w3 and 1 more in zone a\n",
		"DropPodAntiAffinity #1"},
	{"a pod that wants it away",
		{"{'metadata':{'name':'shy'},'spec':{'nodeName':'n2','affinity':{" APART(
			TERM("zone", "'app':'w'") "," TERM("zone", "'app':'w'")) "}}}"},
		POD("'app':'w'", ""), "n3",
		"InterPodAffinity: the anti-affinity of default/shy in zone b keeps it away\n",
		"RemovePod n2 default shy"},
	{"skew",
		{ON("n1", "w1", "'app':'w'"), ON("n1", "w2", "'app':'w'"),
			ON("n2", "w3", "'app':'w'")},
		SPREADS(SPREAD("zone", "'maxSkew':1")), "n1",
		"PodTopologySpread: zone a would have 3 pods, the emptiest zone b has 1, maxSkew "
		"1\n",
		"RaiseMaxSkew #0 2"},
	{"index of the pod as given", {ON("n1", "w1", "'app':'w'"), ON("n1", "w2", "'app':'w'")},
		SPREADS("{'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'}"
			"," SPREAD("zone", "'maxSkew':1")),
		"n1",
		"PodTopologySpread: zone a would have 3 pods, the emptiest zone b has 0, maxSkew "
		"1\n",
		"RaiseMaxSkew #1 3"},
	{"the pod does not count itself",
		{ON("n1", "w1", "'app':'w'"), ON("n1", "w2", "'app':'w'")},
		"{'spec':{'topologySpreadConstraints':[" SPREAD("zone", "'maxSkew':1") "]}}", "n1",
		"PodTopologySpread: zone a would have 2 pods, the emptiest zone b has 0, maxSkew "
		"1\n",
		"RaiseMaxSkew #0 2"},
	{"fewer domains than wanted", {ON("n1", "w1", "'app':'w'"), ON("n2", "w2", "'app':'w'")},
		SPREADS(SPREAD("zone", "'maxSkew':1,'minDomains':5")), "n1",
		"PodTopologySpread: zone a would have 2 pods with fewer than 5 domains of zone, "
		"maxSkew 1\n",
		"RaiseMaxSkew #0 2"},
	{"the emptiest zone for a node without", {ON("n1", "w1", "'app':'w'")},
		SPREADS(SPREAD("zone", "'maxSkew':1")), "n4",
		"PodTopologySpread: lacks label zone\n", "SetLabel n4 zone b"},
	{"no node has the key", {NULL}, SPREADS(SPREAD("rack", "'maxSkew':1")), "n1",
		"PodTopologySpread: lacks label rack\n", "AllowSkew #0"},
	{"no node has the key, minDomains forbids", {NULL},
		SPREADS(SPREAD("rack", "'maxSkew':1,'minDomains':2")), "n1",
		"PodTopologySpread: lacks label rack\n", ""},
};

static void init_four_nodes(struct town *town, const char *config)
{
	town_init(town, config);
	town_add_node(town,
		"{'metadata':{'name':'n1','labels':{'zone':'a','" HOST "':'n1'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
	town_add_node(town,
		"{'metadata':{'name':'n2','labels':{'zone':'b','" HOST "':'n2'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
	town_add_node(town,
		"{'metadata':{'name':'n3','labels':{'zone':'b','" HOST "':'n3'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
	town_add_node(town,
		"{'metadata':{'name':'n4','labels':{'" HOST "':'n4'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
}

START_TEST(test_advice_topology__words_and_remedies)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		const struct bt_explained_node *node;
		struct bt_explanation explanation;
		struct town town;
		const char *text;

		init_four_nodes(&town, "{}");
		for (uint32_t k = 0; k < PODS_MAX && row->running[k] != NULL; k++) {
			world_add_pod(&town.world, row->running[k]);
		}
		town_explain(&town, town_pod(&town, row->pod), 0, &explanation);
		node = town_node(&explanation, row->node);
		text = town_obstacles(&town, &explanation, row->node);
		ck_assert_msg(strcmp(text, row->obstacles) == 0, "%s: %s", row->name, text);
		text = town_remedies(&town, node->remedies.items, node->remedies.count);
		ck_assert_msg(strcmp(text, row->remedies) == 0, "%s: %s", row->name, text);
		ck_assert_msg(node->is_final == (row->remedies[0] == '\0'), "%s", row->name);
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
}
END_TEST

/** A change of the pod cannot relax the cluster's default constraints. */
START_TEST(test_advice_topology__default_constraints_are_not_the_pods)
{
	static const char config[] =
		"{'profiles':[{'pluginConfig':[{'name':'PodTopologySpread','args':{"
		"'defaultingType':'List','defaultConstraints':[{'maxSkew':1,'topologyKey':'zone',"
		"'whenUnsatisfiable':'DoNotSchedule'}]}}]}]}";
	struct bt_explanation explanation;
	struct bt_object *service;
	struct town town;

	init_four_nodes(&town, config);
	ck_assert_int_eq(
		bt_object_decode(world_json(&town.world.arena,
					 "{'apiVersion':'v1','kind':'Service','metadata':{'name':"
					 "'w','namespace':'default'},'spec':{'selector':{'app':"
					 "'w'}}}"),
			&service, NULL),
		0);
	bt_object_store_put(&town.world.engine->state->objects, service);
	world_add_pod(&town.world, ON("n1", "w1", "'app':'w'"));
	town_explain(
		&town, town_pod(&town, "{'metadata':{'labels':{'app':'w'}}}"), 3, &explanation);
	ck_assert_str_eq(town_obstacles(&town, &explanation, "n1"),
		"PodTopologySpread: zone a would have 2 pods, the emptiest zone b has 0, the "
		"cluster's default maxSkew 1\n");
	ck_assert(town_node(&explanation, "n1")->is_final);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** A selector longer than the limit is cut, and "..." marks the cut. */
START_TEST(test_advice_topology__long_selectors_are_cut)
{
	struct bt_explanation explanation;
	struct bt_strbuf json = {0};
	struct town town;
	const char *text;

	init_four_nodes(&town, "{}");
	bt_strbuf_append_c(&json,
		"{'spec':{'affinity':{'podAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
		"'zone','labelSelector':{'matchExpressions':[{'key':'app',"
		"'operator':'In','values':['a'");
	for (uint32_t i = 0; i < 200; i++) {
		bt_strbuf_printf(&json, ",'value-%u'", i);
	}
	bt_strbuf_append_c(&json, "]}]}}]}}}}");
	town_explain(&town, town_pod(&town, bt_strbuf_c(&json)), 0, &explanation);
	text = town_obstacles(&town, &explanation, "n1");
	ck_assert_msg(strstr(text, "no pod matching app in (a,value-0,") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "... in zone a\n") != NULL, "%s", text);
	ck_assert_uint_lt(strlen(text), 160);
	bt_strbuf_finish(&json);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("advice_topology", test_advice_topology__words_and_remedies,
	test_advice_topology__default_constraints_are_not_the_pods,
	test_advice_topology__long_selectors_are_cut)
