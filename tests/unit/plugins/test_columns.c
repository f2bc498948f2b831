/* SPDX-License-Identifier: Apache-2.0 */
/** Random clusters and pods: the fixture compares column and plain forms of every result. */
#include "base/prng.h"
#include "fixture.h"
#include "test_main.h"

#define NODE_COUNT 24
#define ROUND_COUNT 40

static const char *pick(struct bt_prng *prng, const char *const *choices, uint32_t count)
{
	return choices[bt_prng_below(prng, count)];
}

#define PICK(prng, choices) pick((prng), (choices), (uint32_t)BT_ARRAY_LENGTH(choices))

/*
 * Values of resources: small values, values around the limit of the kernels and far beyond the
 * limit, and a negative value.
 */
static const char *const amounts[] = {"0", "1", "3", "7", "100", "1000", "10000", "1Gi",
	"17592186044415", "17592186044416", "9223372036854775807", "-5"};
static const char *const sane_amounts[] = {"0", "1", "2", "3", "7", "100", "1000", "64Gi"};
static const char *const labels[] = {
	"", "'zone':'a'", "'zone':'b'", "'zone':'a','disk':'ssd'", "'disk':'5'"};
static const char *const taints[] = {"", "{'key':'a','effect':'NoSchedule'}",
	"{'key':'a','value':'1','effect':'NoExecute'}", "{'key':'b','effect':'PreferNoSchedule'}",
	"{'key':'b','effect':'PreferNoSchedule'},{'key':'a','effect':'PreferNoSchedule'}"};
static const char *const images[] = {"", "{'names':['x:latest'],'sizeBytes':900000000}",
	"{'names':['y:1','x:latest'],'sizeBytes':90000000}",
	"{'names':['y:1'],'sizeBytes':9223372036854775807}"};
static const char *const features[] = {"", "'UserNamespacesHostNetworkSupport'"};
static const char *const tolerations[] = {"", "{'operator':'Exists'}",
	"{'key':'a','operator':'Exists'}",
	"{'key':'b','effect':'PreferNoSchedule','operator':'Exists'}"};

#define REQUIRED(terms) \
	("{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':" \
	 "[" terms "]}}}")
#define PREFERRED(terms) \
	("{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]}}")
#define ON(more) "{'matchExpressions':[" more "]}"

static const char *const affinities[] = {"{}",
	REQUIRED(ON("{'key':'zone','operator':'In','values':['a','c']}") "," ON(
		"{'key':'disk','operator':'Gt','values':['4']}")),
	REQUIRED("{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a']}],"
		 "'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n3']}]}"),
	PREFERRED("{'weight':7,'preference':" ON(
		"{'key':'zone','operator':'DoesNotExist'}") "},"
							    "{'weight':2,'preference':" ON(
								    "{'key':'disk','operator':'"
								    "Exists'}") "}"),
	PREFERRED("{'weight':-3,'preference':" ON("{'key':'zone','operator':'Exists'}") "}")};
static const char *const ports[] = {"", "{'hostPort':80}", "{'hostPort':80,'hostIP':'10.0.0.1'}",
	"{'hostPort':80,'protocol':'UDP'},{'hostPort':81}"};

static const char *random_pod(
	struct fixture *fixture, struct bt_prng *prng, const char *node, bool absurd)
{
	const char *const *from = absurd ? amounts : sane_amounts;
	uint32_t count = absurd ? (uint32_t)BT_ARRAY_LENGTH(amounts)
				: (uint32_t)BT_ARRAY_LENGTH(sane_amounts);

	return bt_arena_printf(&fixture->arena,
		"{'spec':{'nodeName':'%s','hostNetwork':true,%s'tolerations':[%s],'affinity':%s,'"
		"containers':[{'name':'c',"
		"'image':'%s','ports':[%s],'resources':{'requests':{'cpu':'%s','memory':'%s','"
		"ephemeral-storage':'%s',"
		"'example.com/a':'%s'}}}]}}",
		node, bt_prng_below(prng, 3) == 0 ? "'hostUsers':false," : "",
		PICK(prng, tolerations), PICK(prng, affinities),
		bt_prng_below(prng, 2) == 0 ? "x" : "y:1", PICK(prng, ports),
		pick(prng, from, count), pick(prng, from, count), pick(prng, from, count),
		pick(prng, from, count))
		.data;
}

static void add_random_nodes(struct fixture *fixture, struct bt_prng *prng, bool absurd)
{
	const char *const *from = absurd ? amounts : sane_amounts;
	uint32_t count = absurd ? (uint32_t)BT_ARRAY_LENGTH(amounts)
				: (uint32_t)BT_ARRAY_LENGTH(sane_amounts);

	for (uint32_t i = 0; i < NODE_COUNT; i++) {
		fixture_add_node(fixture,
			bt_arena_printf(&fixture->arena,
				"{'metadata':{'name':'n%u','labels':{%s}},'spec':{'unschedulable':%"
				"s,'taints':[%s]},'status':{"
				"'images':[%s],'declaredFeatures':[%s],'allocatable':{'pods':'%u','"
				"cpu':'%s','memory':'%s',"
				"'ephemeral-storage':'%s','example.com/a':'%s'}}}",
				i, PICK(prng, labels),
				bt_prng_below(prng, 4) == 0 ? "true" : "false", PICK(prng, taints),
				PICK(prng, images), PICK(prng, features),
				(unsigned int)bt_prng_below(prng, 3), pick(prng, from, count),
				pick(prng, from, count), pick(prng, from, count),
				pick(prng, from, count))
				.data);
	}
	for (uint32_t i = 0; i < NODE_COUNT; i++) {
		const char *node = bt_arena_printf(
			&fixture->arena, "n%u", (unsigned int)bt_prng_below(prng, NODE_COUNT))
					   .data;

		fixture_add_pod(fixture, random_pod(fixture, prng, node, absurd));
	}
}

static void ask_everything(struct fixture *fixture, const char *pod)
{
	const struct bt_plugin_ops *ops = fixture->plugin->ops;
	bool scores = ops->score != NULL &&
		(ops->pre_score == NULL || strcmp(fixture_pre_score(fixture, pod), "Success") == 0);

	for (uint32_t i = 0; i < NODE_COUNT; i++) {
		const char *node = bt_arena_printf(&fixture->arena, "n%u", i).data;

		if (ops->filter != NULL) {
			(void)fixture_filter(
				fixture, pod, node); /* the fixture compares both forms */
		}
		if (scores) {
			(void)fixture_score(fixture, pod, node);
		}
	}
}

static void check_plugin(const struct bt_plugin_ops *ops, const char *args)
{
	struct bt_prng prng;

	bt_prng_init(&prng, 20260101);
	for (uint32_t round = 0; round < ROUND_COUNT; round++) {
		bool absurd = round % 2 == 1;
		struct fixture fixture;

		fixture_init_with(&fixture, ops, NULL, args);
		add_random_nodes(&fixture, &prng, absurd);
		for (int i = 0; i < 3; i++) {
			ask_everything(&fixture,
				random_pod(&fixture, &prng,
					bt_prng_below(&prng, 3) == 0 ? "n5" : "", absurd));
		}
		fixture_finish(&fixture);
	}
}

START_TEST(test_columns__filters)
{
	check_plugin(&bt_node_name_plugin, NULL);
	check_plugin(&bt_node_unschedulable_plugin, NULL);
	check_plugin(&bt_node_ports_plugin, NULL);
	check_plugin(&bt_node_declared_features_plugin, NULL);
}
END_TEST

START_TEST(test_columns__taints_affinity_images)
{
	check_plugin(&bt_taint_toleration_plugin, NULL);
	check_plugin(&bt_node_affinity_plugin, NULL);
	check_plugin(&bt_node_affinity_plugin,
		"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
		"nodeSelectorTerms':["
		"{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]},"
		"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':3,'preference':{"
		"'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}}]}}");
	check_plugin(&bt_image_locality_plugin, NULL);
}
END_TEST

#define STRATEGY(type, more) \
	"{'scoringStrategy':{'type':'" type \
	"','resources':[{'name':'cpu','weight':3},{'name':'memory','weight':1}," \
	"{'name':'example.com/" \
	"a','weight':5},{'name':'ephemeral-storage','weight':2},{'name':'foo','weight':9}]" more \
	"}}"

START_TEST(test_columns__resources)
{
	check_plugin(&bt_node_resources_fit_plugin, NULL);
	check_plugin(&bt_node_resources_fit_plugin, STRATEGY("LeastAllocated", ""));
	check_plugin(&bt_node_resources_fit_plugin, STRATEGY("MostAllocated", ""));
	check_plugin(&bt_node_resources_fit_plugin,
		STRATEGY("RequestedToCapacityRatio",
			",'requestedToCapacityRatio':{'shape':[{'utilization':0,'score':0},{'"
			"utilization':60,'score':10},"
			"{'utilization':100,'score':2}]}"));
	check_plugin(&bt_node_resources_balanced_allocation_plugin, NULL);
	check_plugin(&bt_node_resources_balanced_allocation_plugin,
		"{'resources':[{'name':'cpu'},{'name':'memory'},{'name':'example.com/a'}]}");
	check_plugin(&bt_node_resources_balanced_allocation_plugin,
		"{'resources':[{'name':'example.com/a'}]}");
}
END_TEST

BT_TEST_MAIN("columns", test_columns__filters, test_columns__taints_affinity_images,
	test_columns__resources)
