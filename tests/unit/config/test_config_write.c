/* SPDX-License-Identifier: Apache-2.0 */
/* The effective configuration: spec 10 section 10. */
#include "config/schema.h"
#include "config_test.h"

#define POINTS_BUT_MULTI \
	"'permit':{},'placementGenerate':{},'placementScore':{},'postBind':{},'postFilter':{}," \
	"'preBind':{}," \
	"'preEnqueue':{},'preFilter':{},'preScore':{},'queueSort':{},'reserve':{},'score':{}"
#define HEAD \
	"{'apiVersion':'kubescheduler.config.k8s.io/v1'," \
	"'clientConnection':{'acceptContentTypes':'','burst':100," \
	"'contentType':'application/vnd.kubernetes.protobuf','kubeconfig':'','qps':50}," \
	"'enableContentionProfiling':true,'enableProfiling':true,"
#define MIDDLE \
	"'kind':'KubeSchedulerConfiguration','leaderElection':{'leaderElect':true," \
	"'leaseDuration':'15s'," \
	"'renewDeadline':'10s','resourceLock':'leases','resourceName':'kube-scheduler'," \
	"'resourceNamespace':'kube-system','retryPeriod':'2s'},'parallelism':16," \
	"'percentageOfNodesToScore':0," \
	"'podInitialBackoffSeconds':1,'podMaxBackoffSeconds':10,'profiles':["
#define NONE "{'plugins':{'multiPoint':{'disabled':[{'name':'*'}]}}}"

static void expect_written(const struct bt_config *config, const char *expected)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf wanted = {0};
	bt_config_write(config, &text);
	test_unquote(expected, &wanted);
	ck_assert_str_eq(bt_strbuf_c(&text), bt_strbuf_c(&wanted));
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&wanted);
}

START_TEST(test_config__write_defaults)
{
	struct bt_config *config = test_load("");
	expect_written(config,
		HEAD MIDDLE
		"{'pluginConfig':["
		"{'args':{" TEST_V1
		",'kind':'DefaultPreemptionArgs','minCandidateNodesAbsolute':100,"
		"'minCandidateNodesPercentage':10},'name':'DefaultPreemption'},"
		"{'args':{" TEST_V1
		",'bindingTimeout':'10m0s','filterTimeout':'10s','kind':'DynamicResourcesArgs'},"
		"'name':'DynamicResources'},"
		"{'args':{" TEST_V1
		",'hardPodAffinityWeight':1,'ignorePreferredTermsOfExistingPods':false,"
		"'kind':'InterPodAffinityArgs'},'name':'InterPodAffinity'},"
		"{'args':{" TEST_V1 ",'kind':'NodeAffinityArgs'},'name':'NodeAffinity'},"
		"{'args':{" TEST_V1 ",'kind':'NodeResourcesBalancedAllocationArgs','resources':["
		"{'name':'cpu','weight':1},{'name':'memory','weight':1}]},"
		"'name':'NodeResourcesBalancedAllocation'},"
		"{'args':{" TEST_V1
		",'kind':'NodeResourcesFitArgs','scoringStrategy':{'resources':["
		"{'name':'cpu','weight':1},{'name':'memory','weight':1}],'type':'LeastAllocated'}},"
		"'name':'NodeResourcesFit'},"
		"{'args':{" TEST_V1 ",'defaultingType':'System','kind':'PodTopologySpreadArgs'},"
		"'name':'PodTopologySpread'},"
		"{'args':{" TEST_V1
		",'bindTimeoutSeconds':600,'kind':'VolumeBindingArgs'},'name':'VolumeBinding'}],"
		"'plugins':{'bind':{},'filter':{},'multiPoint':{'enabled':["
		"{'name':'SchedulingGates','weight':0},{'name':'PrioritySort','weight':0},"
		"{'name':'NodeUnschedulable','weight':0},{'name':'NodeName','weight':0},"
		"{'name':'TaintToleration','weight':3},{'name':'NodeAffinity','weight':2},"
		"{'name':'NodePorts','weight':0},{'name':'NodeResourcesFit','weight':1},"
		"{'name':'VolumeRestrictions','weight':0},{'name':'NodeVolumeLimits','weight':0},"
		"{'name':'VolumeBinding','weight':0},{'name':'VolumeZone','weight':0},"
		"{'name':'PodTopologySpread','weight':2},{'name':'InterPodAffinity','weight':2},"
		"{'name':'DynamicResources','weight':2},{'name':'DefaultPreemption','weight':0},"
		"{'name':'NodeResourcesBalancedAllocation','weight':1},{'name':'ImageLocality',"
		"'weight':1},"
		"{'name':'DefaultBinder','weight':0},{'name':'NodeDeclaredFeatures',"
		"'weight':0}]}," POINTS_BUT_MULTI "},'schedulerName':'default-scheduler'}]}");
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_44_args_of_a_plugin_without_any)
{
	struct bt_config *config =
		test_load("'profiles':[{'pluginConfig':[{'name':'NodeName','args':{'x':1,'a':[]}}],"
			  "'plugins':{'multiPoint':{'disabled':[{'name':'*'}],"
			  "'enabled':[{'name':'NodeName'}]}}}]");
	expect_written(config,
		HEAD MIDDLE
		"{'pluginConfig':[{'args':{'a':[],'x':1},'name':'NodeName'}],"
		"'plugins':{'bind':{},'filter':{},'multiPoint':{'disabled':[{'name':'*',"
		"'weight':0}],"
		"'enabled':[{'name':'NodeName','weight':0}]}," POINTS_BUT_MULTI
		"},'schedulerName':'default-scheduler'}]}");
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_45_args_of_a_plugin_that_is_not_built)
{
	struct bt_config *config = test_load(
		"'profiles':[{'pluginConfig':[{'name':'NoSuch','args':{'x':1}},"
		"{'name':'VolumeBinding'}],'plugins':{'multiPoint':{'disabled':[{'name':'*'}]}}}]");
	struct bt_strbuf stored = {0};
	expect_written(config,
		HEAD MIDDLE "{'plugins':{'bind':{},'filter':{},'multiPoint':{'disabled':"
			    "[{'name':'*','weight':0}]}," POINTS_BUT_MULTI
			    "},'schedulerName':'default-scheduler'}]}");
	bt_config_write_stored(config, &stored);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&stored),
		"[{\"args\":{\"x\":1},\"name\":\"NoSuch\"},{\"args\":"
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"bindTimeoutSeconds\":600,"
		"\"kind\":\"VolumeBindingArgs\"},\"name\":\"VolumeBinding\"}]"));
	bt_strbuf_finish(&stored);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__write_extenders)
{
	struct bt_config *config = test_load(
		"'delayCacheUntilActive':true,'extenders':[{'urlPrefix':'http://a',"
		"'httpTimeout':'1500ms','weight':2,'tlsConfig':{'caData':'QUI=','insecure':false},"
		"'ignorable':true,"
		"'managedResources':[{'name':'example.com/a'}]},{}],'profiles':[" NONE "]");
	expect_written(config,
		"{'apiVersion':'kubescheduler.config.k8s.io/v1','clientConnection':{"
		"'acceptContentTypes':'','burst':100,'contentType':'application/vnd.kubernetes."
		"protobuf',"
		"'kubeconfig':'','qps':50},'delayCacheUntilActive':true,"
		"'enableContentionProfiling':true,"
		"'enableProfiling':true,'extenders':[{'httpTimeout':'1.5s','ignorable':true,"
		"'managedResources':["
		"{'name':'example.com/a'}],'tlsConfig':{'caData':'QUI='},'urlPrefix':'http://a',"
		"'weight':2},"
		"{'httpTimeout':'5s','urlPrefix':''}]," MIDDLE
		"{'plugins':{'bind':{},'filter':{},'multiPoint':"
		"{'disabled':[{'name':'*','weight':0}]}," POINTS_BUT_MULTI
		"},'schedulerName':'default-scheduler'}]}");
	bt_config_unref(config);
}
END_TEST

/* Loading what was written gives the same text again. */
START_TEST(test_config__write_and_read_back)
{
	static const char *const rows[] = {
		"",
		"'clientConnection':{'qps':0.1,'burst':7},'percentageOfNodesToScore':33",
		"'clientConnection':{'qps':-1.5e-7}",
		"'clientConnection':{'qps':16777217}",
		"'profiles':[{'schedulerName':'a','percentageOfNodesToScore':0},"
		"{'schedulerName':'b'}]",
		TEST_PLUGINS("'multiPoint':{'disabled':[{'name':'NodeName'}],"
			     "'enabled':[{'name':'NodeName'},"
			     "{'name':'ImageLocality','weight':-3}]},"
			     "'score':{'disabled':[{'name':'*'}]}"),
		TEST_ARGS("PodTopologySpread",
			"{'defaultingType':'List','defaultConstraints':[{'maxSkew':1,"
			"'topologyKey':'zone',"
			"'whenUnsatisfiable':'ScheduleAnyway','minDomains':2,"
			"'nodeAffinityPolicy':'Honor',"
			"'matchLabelKeys':['a','b']}]}"),
		TEST_ARGS("NodeAffinity",
			"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
			"{'nodeSelectorTerms':[{"
			"'matchExpressions':[{'key':'a','operator':'In','values':['b']}]},{}]},"
			"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':0,"
			"'preference':{}}]}}"),
		TEST_ARGS("NodeResourcesFit",
			"{'ignoredResources':['a.b/c'],"
			"'scoringStrategy':{'type':'RequestedToCapacityRatio',"
			"'requestedToCapacityRatio':{'shape':[{'utilization':0,'score':0}]}}}"),
		TEST_ARGS("DynamicResources", "{'filterTimeout':'0s','bindingTimeout':'1h0.5s'}"),
		TEST_ARGS("NodeName", "{'b':{'d':null,'c':[1,{'z':true,'y':'<&>'}]},'a':1.50e3}"),
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_config *config = test_load(rows[i]);
		struct bt_config *again = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_strbuf first = {0};
		struct bt_strbuf second = {0};
		int code;
		bt_config_write(config, &first);
		code = bt_config_load(bt_strbuf_str(&first), NULL, &again, &err);
		ck_assert_msg(code == 0, "%s: %s", rows[i], berth_error_message(&err));
		bt_config_write(again, &second);
		ck_assert_str_eq(bt_strbuf_c(&first), bt_strbuf_c(&second));
		bt_strbuf_finish(&first);
		bt_strbuf_finish(&second);
		bt_config_unref(config);
		bt_config_unref(again);
	}
}
END_TEST

START_TEST(test_config__write_floats)
{
	static const char *const rows[] = {
		"0.1", "50", "16777216", "3.4028235e+38", "1e-7", "-2.5", "33.333332"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf members = {0};
		struct bt_strbuf text = {0};
		struct bt_strbuf wanted = {0};
		struct bt_config *config;
		bt_strbuf_printf(&members, "'clientConnection':{'qps':%s}", rows[i]);
		config = test_load(bt_strbuf_c(&members));
		bt_config_write(config, &text);
		bt_strbuf_printf(&wanted, "\"qps\":%s}", rows[i]);
		ck_assert_msg(strstr(bt_strbuf_c(&text), bt_strbuf_c(&wanted)) != NULL,
			"%s: %.300s", rows[i], bt_strbuf_c(&text));
		bt_config_unref(config);
		bt_strbuf_finish(&members);
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&wanted);
	}
}
END_TEST

static void check_sorted(const struct bt_config_schema *schema)
{
	ck_assert_uint_le(schema->field_count, 32);
	for (uint32_t i = 0; i < schema->field_count; i++) {
		const struct bt_config_schema_field *field = &schema->fields[i];
		ck_assert_msg(i == 0 || strcmp(schema->fields[i - 1].name, field->name) < 0,
			"%s.%s", schema->go_type, field->name);
		ck_assert_uint_le(field->offset, schema->size);
		if (field->schema != NULL) {
			check_sorted(field->schema);
		}
	}
}

START_TEST(test_config__schemas_are_sorted)
{
	check_sorted(&bt_config_document_schema);
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		const struct bt_config_schema *schema = bt_config_args_schemas[i];
		if (schema != NULL) {
			check_sorted(schema);
			ck_assert_int_eq(bt_config_schema_args_kind_named(
						 bt_str_from(bt_config_schema_name(schema))),
				(int)i);
		}
	}
	ck_assert_int_eq(bt_config_schema_args_kind_of(BT_STR("NodeResourcesFit")),
		BT_ARGS_NODE_RESOURCES_FIT);
	ck_assert_int_eq(bt_config_schema_args_kind_of(BT_STR("NodeName")), BT_ARGS_OTHER);
	ck_assert_str_eq(bt_plugin_args_kind_name(BT_ARGS_VOLUME_BINDING), "VolumeBindingArgs");
	ck_assert_ptr_null(bt_plugin_args_kind_name(BT_ARGS_OTHER));
}
END_TEST

START_TEST(test_config__extension_point_names)
{
	ck_assert_str_eq(bt_extension_point_name(BT_POINT_PRE_FILTER), "PreFilter");
	ck_assert_str_eq(bt_extension_point_member(BT_POINT_QUEUE_SORT), "queueSort");
	for (uint32_t i = 0; i < BT_POINT__COUNT; i++) {
		const char *name = bt_extension_point_name((enum bt_extension_point)i);
		const char *member = bt_extension_point_member((enum bt_extension_point)i);
		ck_assert_str_eq(name + 1, member + 1);
		ck_assert_int_eq(name[0] - 'A', member[0] - 'a');
	}
}
END_TEST

BT_TEST_MAIN("config_write", test_config__write_defaults,
	test_config__edge_10_44_args_of_a_plugin_without_any,
	test_config__edge_10_45_args_of_a_plugin_that_is_not_built, test_config__write_extenders,
	test_config__write_and_read_back, test_config__write_floats,
	test_config__schemas_are_sorted, test_config__extension_point_names)
