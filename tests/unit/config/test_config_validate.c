/* SPDX-License-Identifier: Apache-2.0 */
/* Validation: spec 10 section 8 and its edge cases. Messages are compared whole. */
#include "config_test.h"

#define REMOVED \
	"was invalid in version \"kubescheduler.config.k8s.io/v1\" (KubeSchedulerConfiguration " \
	"is version " \
	"\"kubescheduler.config.k8s.io/v1\")"
#define NAME_RULE \
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and " \
	"end with an " \
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
	"validation is " \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define TYPES \
	"supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\""

struct row {
	const char *members;
	const char *message; /* NULL: accepted */
};

static void check_rows(const struct row *rows, size_t count, const struct bt_gates *gates)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].message != NULL) {
			test_refuse_gated(rows[i].members, gates, rows[i].message);
		} else {
			bt_config_unref(test_load_gated(rows[i].members, gates));
		}
	}
}

#define CHECK_ROWS(rows, gates) check_rows((rows), BT_ARRAY_LENGTH(rows), (gates))

/* Compares the plugin constructor's error about the arguments in the first profile. */
static void expect_constructor(const char *plugin, const char *args, const char *message)
{
	struct bt_strbuf members = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_config *config;
	int code;
	bt_strbuf_printf(
		&members, "'profiles':[{'pluginConfig':[{'name':'%s','args':%s}]}]", plugin, args);
	config = test_load(bt_strbuf_c(&members));
	code = bt_plugin_args_validate(test_args(config, plugin), NULL, &err);
	ck_assert_msg((code != 0) == (message[0] != '\0'), "%s: %d", args, code);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
	bt_config_unref(config);
	bt_strbuf_finish(&members);
}

START_TEST(test_config__edge_10_15_no_parallelism)
{
	test_refuse("'parallelism':0",
		"parallelism: Invalid value: 0: should be an integer value greater than zero");
}
END_TEST

START_TEST(test_config__edge_10_18_second_profile_named)
{
	test_refuse("'profiles':[{},{'schedulerName':'b'}]",
		"profiles[0].schedulerName: Required value");
}
END_TEST

START_TEST(test_config__edge_10_19_two_unnamed_profiles)
{
	test_refuse("'profiles':[{},{}]",
		"[profiles[0].schedulerName: Required value, profiles[1].schedulerName: "
		"Required value, profiles[1].schedulerName: Duplicate value: {}]");
}
END_TEST

START_TEST(test_config__edge_10_20_duplicate_name)
{
	test_refuse(
		"'profiles':[{'schedulerName':'a'},{'schedulerName':'b'},{'schedulerName':'a'}]",
		"profiles[2].schedulerName: Duplicate value: {}");
}
END_TEST

START_TEST(test_config__edge_10_23_election_off)
{
	test_accept("'leaderElection':{'leaderElect':false,'resourceLock':'endpoints'}");
}
END_TEST

START_TEST(test_config__edge_10_24_other_lock)
{
	test_refuse("'leaderElection':{'resourceLock':'endpointsleases'}",
		"leaderElection.resourceLock: Invalid value: "
		"\"endpointsleases\": resourceLock value must be \"leases\"");
}
END_TEST

START_TEST(test_config__edge_10_25_lease_not_longer_than_deadline)
{
	static const char message[] =
		"leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
		"`RenewDeadline`";
	test_refuse("'leaderElection':{'leaseDuration':'10s','renewDeadline':'10s'}", message);
	test_refuse("'leaderElection':{'leaseDuration':'8s','renewDeadline':'10s'}", message);
	test_refuse("'leaderElection':{'renewDeadline':'-1s'}",
		"leaderElection.renewDeadline: Invalid value: \"-1s\": must be greater than zero");
}
END_TEST

START_TEST(test_config__edge_10_26_left_to_the_elector)
{
	test_accept("'leaderElection':{'leaseDuration':'15s','renewDeadline':'10s',"
		    "'retryPeriod':'9s'}");
}
END_TEST

START_TEST(test_config__edge_10_28_backoff)
{
	static const struct row rows[] = {
		{"'podInitialBackoffSeconds':20",
			"podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
			"PodInitialBackoffSeconds"},
		{"'podInitialBackoffSeconds':0",
			"podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
		{"'podInitialBackoffSeconds':10", NULL},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

START_TEST(test_config__edge_10_41_removed_plugins)
{
	static const struct row rows[] = {
		{TEST_PLUGINS("'score':{'enabled':[{'name':'EBSLimits'}]}"),
			"profiles[0].plugins.score.enabled[0]: Invalid value: "
			"\"EBSLimits\": " REMOVED},
		{TEST_PLUGINS("'filter':{'enabled':[{'name':'NodeName'},{'name':'GCEPDLimits'}]}"),
			"profiles[0].plugins.filter.enabled[1]: Invalid value: "
			"\"GCEPDLimits\": " REMOVED},
		{TEST_PLUGINS("'multiPoint':{'enabled':[{'name':'EBSLimits'}]}"), NULL},
		{TEST_PLUGINS("'placementScore':{'enabled':[{'name':'EBSLimits'}]}"), NULL},
		{TEST_PLUGINS("'score':{'disabled':[{'name':'CinderLimits'}]}"), NULL},
		{TEST_ARGS("AzureDiskLimits", "{}"),
			"profiles[0].pluginConfig[0]: Invalid value: "
			"\"AzureDiskLimits\": " REMOVED},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

START_TEST(test_config__edge_10_42_strategy_type_is_the_plugins_business)
{
	expect_constructor("NodeResourcesFit", "{'scoringStrategy':{'type':'Bogus'}}",
		"scoringStrategy.type: Unsupported value: \"Bogus\": " TYPES);
	expect_constructor("NodeResourcesFit", "{'scoringStrategy':{'type':'<a>'}}",
		"scoringStrategy.type: Unsupported value: \"\\u003ca\\u003e\": " TYPES);
}
END_TEST

START_TEST(test_config__edge_10_46_duplicate_config)
{
	test_refuse("'profiles':[{'pluginConfig':[{'name':'DefaultPreemption'},"
		    "{'name':'DefaultPreemption'}]}]",
		"profiles[0].pluginConfig[1]: Duplicate value: \"DefaultPreemption\"");
}
END_TEST

START_TEST(test_config__edge_10_47_default_preemption)
{
	static const struct row rows[] = {
		{TEST_ARGS("DefaultPreemption",
			 "{'minCandidateNodesPercentage':0,'minCandidateNodesAbsolute':0}"),
			"[" TEST_ARGS_PATH
			".minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the "
			"same time "
			"as minCandidateNodesAbsolute, " TEST_ARGS_PATH
			".minCandidateNodesAbsolute: Invalid value: 0: "
			"cannot be zero at the same time as minCandidateNodesPercentage]"},
		{TEST_ARGS("DefaultPreemption", "{'minCandidateNodesPercentage':110}"),
			TEST_ARGS_PATH
			".minCandidateNodesPercentage: Invalid value: 110: not in valid range [0, "
			"100]"},
		{TEST_ARGS("DefaultPreemption", "{'minCandidateNodesAbsolute':-1}"),
			TEST_ARGS_PATH
			".minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, "
			"inf)"},
		{TEST_ARGS("DefaultPreemption", "{'minCandidateNodesPercentage':0}"), NULL},
		{TEST_ARGS("InterPodAffinity", "{'hardPodAffinityWeight':101}"),
			TEST_ARGS_PATH
			".hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

#define CONSTRAINT "{'maxSkew':1,'topologyKey':'node','whenUnsatisfiable':'DoNotSchedule'}"

START_TEST(test_config__edge_10_49_pod_topology_spread)
{
	static const struct row rows[] = {
		{TEST_ARGS("PodTopologySpread", "{'defaultConstraints':[" CONSTRAINT "]}"),
			TEST_ARGS_PATH
			".defaultingType: Invalid value: \"System\": when .defaultConstraints are "
			"not empty"},
		{TEST_ARGS("PodTopologySpread", "{'defaultingType':'unknown'}"),
			TEST_ARGS_PATH
			".defaultingType: Unsupported value: \"unknown\": supported values: "
			"\"System\", "
			"\"List\""},
		{TEST_ARGS("PodTopologySpread",
			 "{'defaultingType':'List','defaultConstraints':[" CONSTRAINT "]}"),
			NULL},
		{TEST_ARGS("PodTopologySpread",
			 "{'defaultingType':'List','defaultConstraints':[" CONSTRAINT "," CONSTRAINT
			 "," CONSTRAINT "]}"),
			"[" TEST_ARGS_PATH
			".defaultConstraints[1]: Duplicate value: \"{node, DoNotSchedule}\","
			" " TEST_ARGS_PATH
			".defaultConstraints[2]: Duplicate value: \"{node, DoNotSchedule}\"]"},
		{TEST_ARGS("PodTopologySpread",
			 "{'defaultingType':'List','defaultConstraints':[{'labelSelector':{}}]}"),
			"[" TEST_ARGS_PATH
			".defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, "
			"inf), " TEST_ARGS_PATH
			".defaultConstraints[0].topologyKey: Required value: can not be empty,"
			" " TEST_ARGS_PATH
			".defaultConstraints[0].whenUnsatisfiable: Required value: can not be "
			"empty, " TEST_ARGS_PATH
			".defaultConstraints[0].labelSelector: Forbidden: constraint must not "
			"define a "
			"selector, as they deduced for each pod]"},
		{TEST_ARGS("PodTopologySpread",
			 "{'defaultingType':'List','defaultConstraints':[{'maxSkew':1,"
			 "'topologyKey':'-a','whenUnsatisfiable':'unknown action'}]}"),
			"[" TEST_ARGS_PATH
			".defaultConstraints[0].topologyKey: Invalid value: \"-a\": " NAME_RULE
			", " TEST_ARGS_PATH
			".defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"unknown "
			"action\": "
			"supported values: \"DoNotSchedule\", \"ScheduleAnyway\"]"},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

#define SHAPE_OFF \
	"unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"

START_TEST(test_config__edge_10_50_volume_binding)
{
	static const struct row off[] = {
		{TEST_ARGS("VolumeBinding", "{'shape':[]}"),
			TEST_ARGS_PATH ".shape: Invalid value: []: " SHAPE_OFF},
		{TEST_ARGS("VolumeBinding", "{'shape':[{'utilization':1,'score':1},{'score':2}]}"),
			TEST_ARGS_PATH ".shape: Invalid value: [{\"Utilization\":1,\"Score\":1},"
				       "{\"Utilization\":0,\"Score\":2}]: " SHAPE_OFF},
		{TEST_ARGS("VolumeBinding", "{'bindTimeoutSeconds':-10}"),
			TEST_ARGS_PATH
			".bindTimeoutSeconds: Invalid value: -10: invalid BindTimeoutSeconds, "
			"should not be "
			"a negative value"},
		{TEST_ARGS("VolumeBinding", "{'bindTimeoutSeconds':0}"), NULL},
	};
	static const struct row on[] = {
		{TEST_ARGS("VolumeBinding", "{'shape':[]}"), NULL},
		{TEST_ARGS("VolumeBinding",
			 "{'shape':[{'utilization':10,'score':11},{'utilization':10},"
			 "{'utilization':101},{'utilization':5}]}"),
			"[" TEST_ARGS_PATH
			".shape[1].utilization: Invalid value: 10: values must be sorted in "
			"increasing "
			"order, " TEST_ARGS_PATH
			".shape[0].score: Invalid value: 11: not in valid range [0, 10],"
			" " TEST_ARGS_PATH
			".shape[2].utilization: Invalid value: 101: not in valid range [0, 100]]"},
	};
	struct bt_gates gates = test_gates("StorageCapacityScoring=true");
	CHECK_ROWS(off, NULL);
	CHECK_ROWS(on, &gates);
}
END_TEST

START_TEST(test_config__edge_10_51_dynamic_resources)
{
	static const struct row on[] = {
		{TEST_ARGS("DynamicResources", "{'filterTimeout':'0s'}"), NULL},
		{TEST_ARGS("DynamicResources", "{'bindingTimeout':'0s'}"),
			TEST_ARGS_PATH
			".bindingTimeout: Invalid value: \"0s\": must be at least 1 second"},
		{TEST_ARGS("DynamicResources", "{'bindingTimeout':'500ms'}"),
			TEST_ARGS_PATH
			".bindingTimeout: Invalid value: \"500ms\": must be at least 1 second"},
		{TEST_ARGS("DynamicResources", "{'filterTimeout':'-1s'}"),
			TEST_ARGS_PATH
			".filterTimeout: Invalid value: \"-1s\": must be zero or positive"},
	};
	static const struct row off[] = {
		{TEST_ARGS("DynamicResources", "{'filterTimeout':'1s'}"),
			TEST_ARGS_PATH
			".filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is "
			"disabled"},
		{TEST_ARGS("DynamicResources", "{'bindingTimeout':'1s'}"),
			TEST_ARGS_PATH ".bindingTimeout: Forbidden: DRADeviceBindingConditions or "
				       "DRAResourceClaimDeviceStatus feature gate is disabled"},
		{TEST_ARGS("DynamicResources", "{}"), NULL},
	};
	struct bt_gates gates =
		test_gates("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false");
	CHECK_ROWS(on, NULL);
	CHECK_ROWS(off, &gates);
}
END_TEST

START_TEST(test_config__edge_10_53_extender_without_url)
{
	test_accept("'extenders':[{'urlPrefix':'','filterVerb':'filter'}]");
}
END_TEST

START_TEST(test_config__edge_10_54_extender_weight)
{
	test_refuse("'extenders':[{'prioritizeVerb':'p'}]",
		"extenders[0].weight: Invalid value: 0: must have a positive weight applied to it");
	test_refuse("'extenders':[{'prioritizeVerb':'p','weight':-1}]",
		"extenders[0].weight: Invalid value: -1: must have a positive weight applied to "
		"it");
}
END_TEST

START_TEST(test_config__edge_10_55_two_binders)
{
	test_refuse("'extenders':[{'bindVerb':'b'},{},{'bindVerb':'b'}]",
		"extenders: Invalid value: \"found 2 extenders implementing bind\": only one "
		"extender can implement bind");
}
END_TEST

START_TEST(test_config__edge_10_56_managed_resources)
{
	static const struct row rows[] = {
		{"'extenders':[{'managedResources':[{'name':'foo'}]}]",
			"extenders[0].managedResources[0].name: Invalid value: \"foo\": is an "
			"invalid extended resource "
			"name"},
		{"'extenders':[{'managedResources':[{}]}]",
			"[extenders[0].managedResources[0].name: Invalid value: \"\": name part "
			"must be non-empty, "
			"extenders[0].managedResources[0].name: Invalid value: \"\": " NAME_RULE
			"]"},
		{"'extenders':[{'managedResources':[{'name':'kubernetes.io/foo'}]}]",
			"extenders[0].managedResources[0].name: Invalid value: \"kubernetes."
			"io/foo\": is an invalid "
			"extended resource name"},
		{"'extenders':[{'managedResources':[{'name':'example.com/foo'},{'name':'example."
		 "com/foo'}]}]",
			"extenders[0].managedResources[1].name: Invalid value: \"example."
			"com/foo\": duplicate extender "
			"managed resource name"},
		{"'extenders':[{'managedResources':[{'name':'example.com/a'}]},"
		 "{'managedResources':[{'name':'example.com/a'}]}]",
			"extenders[1].managedResources[0].name: Invalid value: \"example.com/a\": "
			"duplicate extender "
			"managed resource name"},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

START_TEST(test_config__edge_10_60_queue_sort_differs)
{
	static const struct row rows[] = {
		{"'profiles':[{'schedulerName':'a'},{'schedulerName':'b',"
		 "'plugins':{'queueSort':{'enabled':"
		 "[{'name':'PrioritySort'}]}}}]",
			"profiles[1].plugins.queueSort: Invalid value: "
			"{\"Enabled\":[{\"Name\":\"PrioritySort\","
			"\"Weight\":0}],\"Disabled\":null}: must be the same for all profiles"},
		{"'profiles':[{'schedulerName':'a','plugins':{'queueSort':{'enabled':[{'name':'A'},"
		 "{'name':'B'}]}}}]",
			"profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue "
			"sort plugin can be "
			"enabled"},
		{"'profiles':[{'schedulerName':'a'},{'schedulerName':'b',"
		 "'plugins':{'queueSort':{'enabled':[],"
		 "'disabled':[]}}}]",
			NULL},
		{"'profiles':[{'schedulerName':'a',"
		 "'plugins':{'queueSort':{'enabled':[{'name':'A'}]}},'pluginConfig':"
		 "[{'name':'A','args':{'x':1}}]},{'schedulerName':'b',"
		 "'plugins':{'queueSort':{'enabled':"
		 "[{'name':'A'}]}},'pluginConfig':[{'name':'A','args':{'x':2}}]}]",
			"profiles[1].pluginConfig.args: Invalid value: {\"x\":2}: queueSort must "
			"be the same for all "
			"profiles"},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

START_TEST(test_config__order_of_everything)
{
	test_refuse("'extenders':[{'prioritizeVerb':'p'}],'podMaxBackoffSeconds':-1,"
		    "'podInitialBackoffSeconds':0,"
		    "'percentageOfNodesToScore':-1,'profiles':[{'percentageOfNodesToScore':101,"
		    "'schedulerName':''}],"
		    "'parallelism':-1,'leaderElection':{'resourceLock':'a','leaseDuration':'-1s',"
		    "'renewDeadline':'-1s',"
		    "'retryPeriod':'-1m'},'clientConnection':{'burst':-5}",
		"[clientConnection.burst: Invalid value: -5: must be non-negative, "
		"leaderElection.leaseDuration: Invalid value: \"-1s\": must be greater than zero, "
		"leaderElection.renewDeadline: Invalid value: \"-1s\": must be greater than zero, "
		"leaderElection.retryPeriod: Invalid value: \"-1m0s\": must be greater than zero, "
		"leaderElection.leaseDuration: Invalid value: \"-1s\": must be greater than "
		"`RenewDeadline`, "
		"leaderElection.resourceLock: Invalid value: \"a\": resourceLock value must be "
		"\"leases\", "
		"parallelism: Invalid value: -1: should be an integer value greater than zero, "
		"profiles[0].schedulerName: Required value, "
		"profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range "
		"[0-100], "
		"percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], "
		"podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, "
		"podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
		"PodInitialBackoffSeconds, "
		"extenders[0].weight: Invalid value: 0: must have a positive weight applied to "
		"it]");
}
END_TEST

START_TEST(test_config__balanced_allocation)
{
	test_refuse(TEST_ARGS("NodeResourcesBalancedAllocation",
			    "{'resources':[{'name':'cpu','weight':2},{'name':'cpu','weight':1}]}"),
		"[" TEST_ARGS_PATH
		".resources[0].weight: Invalid value: 2: must be 1, " TEST_ARGS_PATH
		".resources[1].name: Duplicate value: \"cpu\"]");
}
END_TEST

#define REQUIRED TEST_ARGS_PATH ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED TEST_ARGS_PATH ".addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
#define TERMS(terms) \
	TEST_ARGS("NodeAffinity", \
		"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':" \
		"{'nodeSelectorTerms':[" terms "]}}}")
#define WEIGHTED(terms) \
	TEST_ARGS("NodeAffinity", \
		"{'addedAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" terms \
		"]}}")

START_TEST(test_config__node_affinity)
{
	static const struct row rows[] = {
		{TERMS(""), NULL},
		{TERMS("{}"), NULL},
		{TERMS("{'matchExpressions':[{'key':'','operator':'X'}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "
			"\"X\": supported "
			"values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
		{TERMS("{},{'matchExpressions':[{'key':'a','operator':'In'}]}"),
			REQUIRED
			".nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: null: "
			"for 'in', 'notin' "
			"operators, values set can't be empty"},
		{TERMS("{'matchExpressions':[{'key':'a','operator':'Exists','values':['b','c']}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: [\"b\","
			"\"c\"]: values "
			"set must be empty for exists and does not exist"},
		{TERMS("{'matchExpressions':[{'key':'a','operator':'Gt','values':['x']}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "
			"\"x\": for 'Gt', 'Lt' "
			"operators, the value must be an integer"},
		{TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':['a',"
		       "'b']}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"a\","
			"\"b\"]: must have one "
			"element"},
		{TERMS("{'matchFields':[{'key':'metadata.name','operator':'Exists',"
		       "'values':['a']}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "
			"\"Exists\": supported "
			"values: \"In\", \"NotIn\""},
		{WEIGHTED("{'weight':0,'preference':{'matchExpressions':[{'key':'a',"
			  "'operator':'X'}]}}"),
			NULL},
		{WEIGHTED("{'weight':1,'preference':{}},{'weight':1000,"
			  "'preference':{'matchExpressions':[{'key':'a',"
			  "'operator':'In'}]}}"),
			PREFERRED
			"[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' "
			"operators, values "
			"set can't be empty"},
		{TERMS("{'matchExpressions':[{'key':'','operator':'Exists'}]}"),
			REQUIRED
			".nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: \"\": name "
			"part must be "
			"non-empty; " NAME_RULE},
	};
	CHECK_ROWS(rows, NULL);
}
END_TEST

START_TEST(test_config__node_resources_fit_constructor)
{
	static const struct {
		const char *args;
		const char *message;
	} rows[] = {
		{"{}", ""},
		{"{'ignoredResources':['a','-']}",
			"ignoredResources[1]: Invalid value: \"-\": " NAME_RULE},
		{"{'ignoredResourceGroups':['a/b']}",
			"ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name "
			"can't contain '/'"},
		{"{'scoringStrategy':{'type':'MostAllocated','resources':[{'name':'cpu',"
		 "'weight':101}]}}",
			"scoringStrategy.resources[0].weight: Invalid value: 101: resource weight "
			"of cpu not in valid "
			"range (0, 100]"},
		{"{'scoringStrategy':{'type':'RequestedToCapacityRatio'}}",
			"scoringStrategy.requestedToCapacityRatio: Required value: must be "
			"specified when type is "
			"RequestedToCapacityRatio"},
		{"{'scoringStrategy':{'type':'RequestedToCapacityRatio',"
		 "'requestedToCapacityRatio':{}}}",
			"scoringStrategy.requestedToCapacityRatio.shape: Required value: at least "
			"one point must be "
			"specified"},
		{"{'scoringStrategy':{'type':'LeastAllocated','requestedToCapacityRatio':{}}}",
			"scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when "
			"type is not "
			"RequestedToCapacityRatio"},
		{"{'scoringStrategy':{'type':'RequestedToCapacityRatio',"
		 "'requestedToCapacityRatio':{'shape':["
		 "{'utilization':0,'score':0},{'utilization':100,'score':10}]}}}",
			""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_constructor("NodeResourcesFit", rows[i].args, rows[i].message);
	}
}
END_TEST

BT_TEST_MAIN("config_validate", test_config__edge_10_15_no_parallelism,
	test_config__edge_10_18_second_profile_named, test_config__edge_10_19_two_unnamed_profiles,
	test_config__edge_10_20_duplicate_name, test_config__edge_10_23_election_off,
	test_config__edge_10_24_other_lock, test_config__edge_10_25_lease_not_longer_than_deadline,
	test_config__edge_10_26_left_to_the_elector, test_config__edge_10_28_backoff,
	test_config__edge_10_41_removed_plugins,
	test_config__edge_10_42_strategy_type_is_the_plugins_business,
	test_config__edge_10_46_duplicate_config, test_config__edge_10_47_default_preemption,
	test_config__edge_10_49_pod_topology_spread, test_config__edge_10_50_volume_binding,
	test_config__edge_10_51_dynamic_resources, test_config__edge_10_53_extender_without_url,
	test_config__edge_10_54_extender_weight, test_config__edge_10_55_two_binders,
	test_config__edge_10_56_managed_resources, test_config__edge_10_60_queue_sort_differs,
	test_config__order_of_everything, test_config__balanced_allocation,
	test_config__node_affinity, test_config__node_resources_fit_constructor)
