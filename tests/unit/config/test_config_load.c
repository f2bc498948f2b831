/* SPDX-License-Identifier: Apache-2.0 */
/* Strict decoding: spec 10 section 4 and its edge cases. */
#include "config/config.h"
#include "config_test.h"

#define NOT_OBJECT \
	"couldn't get version/kind; json parse error: json: cannot unmarshal %s into Go value " \
	"of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; " \
	"Kind string \"json:\\\"kind,omitempty\\\"\" }"

START_TEST(test_config__edge_10_01_empty_file)
{
	test_refuse_raw("", NULL, "Object 'Kind' is missing in ''");
	test_refuse_raw("null", NULL, "Object 'Kind' is missing in 'null'");
}
END_TEST

START_TEST(test_config__edge_10_02_empty_object)
{
	test_refuse_raw("{}", NULL, "Object 'Kind' is missing in '{}'");
}
END_TEST

START_TEST(test_config__edge_10_03_only_kind)
{
	const struct bt_config_input input = {
		.json = BT_STR("{\"kind\":\"KubeSchedulerConfiguration\"}"),
		.document = BT_STR("kind: KubeSchedulerConfiguration\n"),
	};
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_config_load_input(&input, NULL, &config, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'");
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_config__edge_10_04_removed_version)
{
	static const char *const versions[] = {
		"v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(versions); i++) {
		struct bt_strbuf text = {0};
		struct bt_strbuf message = {0};
		bt_strbuf_printf(&text,
			"{'apiVersion':'kubescheduler.config.k8s.io/%s',"
			"'kind':'KubeSchedulerConfiguration'}",
			versions[i]);
		bt_strbuf_printf(&message,
			"no kind \"KubeSchedulerConfiguration\" is registered for version "
			"\"kubescheduler.config.k8s.io/%s\" in scheme " TEST_SCHEME,
			versions[i]);
		test_refuse_raw(bt_strbuf_c(&text), NULL, bt_strbuf_c(&message));
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&message);
	}
}
END_TEST

START_TEST(test_config__edge_10_05_policy)
{
	test_refuse_raw("{'kind':'Policy','apiVersion':'v1'}", NULL,
		"no kind \"Policy\" is registered for version \"v1\" in scheme " TEST_SCHEME);
}
END_TEST

START_TEST(test_config__edge_10_06_args_as_document)
{
	test_refuse_raw("{" TEST_V1 ",'kind':'NodeAffinityArgs'}", NULL,
		"couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1,"
		" "
		"Kind=NodeAffinityArgs: ");
	test_refuse_raw("{" TEST_V1 ",'kind':'NodeAffinityArgs','a':1}", NULL,
		"strict decoding error: unknown field \"a\"");
}
END_TEST

START_TEST(test_config__edge_10_07_unknown_field)
{
	test_refuse("'foo':'bar'", "strict decoding error: unknown field \"foo\"");
	test_refuse("'profiles':[{},{'plugins':{'score':{'enabled':[{'name':'a'},{'nam':'b'}]}}}]",
		"strict decoding error: unknown field \"profiles[1].plugins.score.enabled[1]."
		"nam\"");
	test_refuse("'a':1,'b':{'c':1,'c':2},'a':2,'leaderElection':{'x':1}",
		"strict decoding error: unknown field \"a\", unknown field \"b\", unknown field "
		"\"leaderElection.x\"");
}
END_TEST

START_TEST(test_config__edge_10_08_yaml_duplicate)
{
	const struct bt_config_input input = {
		.json = BT_STR("{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\","
			       "\"kind\":\"KubeSchedulerConfiguration\","
			       "\"leaderElection\":{\"leaderElect\":true},"
			       "\"foo\":\"bar\"}"),
		.yaml_complaint = BT_STR(
			"yaml: unmarshal errors:\n  line 5: key \"leaderElect\" already set in "
			"map"),
	};
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_config_load_input(&input, NULL, &config, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"strict decoding error: yaml: unmarshal errors:\n  line 5: key "
		"\"leaderElect\" already set in map, unknown field \"foo\"");
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_config__edge_10_09_json_duplicate)
{
	test_refuse("'parallelism':1,'parallelism':2",
		"strict decoding error: duplicate field \"parallelism\"");
	test_refuse("'kind':'KubeSchedulerConfiguration'",
		"strict decoding error: duplicate field \"kind\"");
	test_refuse("'leaderElection':{'leaderElect':true,'leaderElect':true,'leaderElect':true},"
		    "'zz':1",
		"strict decoding error: duplicate field \"leaderElection.leaderElect\", unknown "
		"field \"zz\"");
}
END_TEST

START_TEST(test_config__edge_10_10_wrong_case)
{
	test_refuse("'Parallelism':4", "strict decoding error: unknown field \"Parallelism\"");
	test_refuse_raw("{" TEST_V1 ",'Kind':'KubeSchedulerConfiguration'}", NULL,
		"strict decoding error: unknown field \"Kind\"");
}
END_TEST

START_TEST(test_config__edge_10_11_string_for_number)
{
	test_refuse("'parallelism':'4'",
		"json: cannot unmarshal string into Go struct field "
		"KubeSchedulerConfiguration.parallelism of type int32");
}
END_TEST

START_TEST(test_config__edge_10_12_fractions)
{
	test_refuse("'parallelism':4.5",
		"json: cannot unmarshal number 4.5 into Go struct field "
		"KubeSchedulerConfiguration.parallelism of type int32");
	test_refuse("'parallelism':4.0",
		"json: cannot unmarshal number 4.0 into Go struct field "
		"KubeSchedulerConfiguration.parallelism of type int32");
	test_refuse("'parallelism':2147483648",
		"json: cannot unmarshal number 2147483648 into Go struct field "
		"KubeSchedulerConfiguration.parallelism of type int32");
	test_refuse("'podMaxBackoffSeconds':9223372036854775808",
		"json: cannot unmarshal number "
		"9223372036854775808 into Go struct field KubeSchedulerConfiguration."
		"podMaxBackoffSeconds of type int64");
}
END_TEST

START_TEST(test_config__edge_10_13_number_for_duration)
{
	test_refuse("'leaderElection':{'leaseDuration':15}",
		"json: cannot unmarshal number into Go struct field "
		"LeaderElectionConfiguration.leaderElection.leaseDuration of type string");
	test_refuse(
		"'leaderElection':{'leaseDuration':'15'}", "time: missing unit in duration \"15\"");
	test_refuse("'leaderElection':{'leaseDuration':'1d'}",
		"time: unknown unit \"d\" in duration \"1d\"");
	test_refuse("'extenders':[{'httpTimeout':'x'}]", "time: invalid duration \"x\"");
}
END_TEST

START_TEST(test_config__edge_10_58_args_of_another_kind)
{
	test_refuse(TEST_ARGS("DefaultPreemption", "{'kind':'InterPodAffinityArgs'," TEST_V1 "}"),
		"decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not "
		"of type "
		"DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
		"InterPodAffinityArgs.kubescheduler.config.k8s.io");
	test_refuse(TEST_ARGS("DefaultPreemption", "{'kind':'KubeSchedulerConfiguration'}"),
		"decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not "
		"of type "
		"DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
		"KubeSchedulerConfiguration.kubescheduler.config.k8s.io");
	test_refuse(TEST_ARGS("DefaultPreemption", "{'kind':'X'}"),
		"decoding .profiles[0].pluginConfig[0]: decoding args for plugin "
		"DefaultPreemption: no kind \"X\" is "
		"registered for version \"kubescheduler.config.k8s.io/v1\" in scheme " TEST_SCHEME);
	test_refuse(TEST_ARGS("DefaultPreemption", "{'apiVersion':'v1'}"),
		"decoding .profiles[0].pluginConfig[0]: decoding args for plugin "
		"DefaultPreemption: no kind "
		"\"DefaultPreemptionArgs\" is registered for version \"v1\" in "
		"scheme " TEST_SCHEME);
}
END_TEST

START_TEST(test_config__edge_10_59_unknown_field_in_args)
{
	test_refuse(TEST_ARGS("DefaultPreemption", "{'Foo':1}"),
		"strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding "
		"error: decoding args "
		"for plugin DefaultPreemption: strict decoding error: unknown field \"Foo\"");
	test_refuse(
		"'x':1,'profiles':[{'pluginConfig':[{'name':'VolumeBinding','args':{'a':1,'b':1}},"
		"{'name':'NodeResourcesFit',"
		"'args':{'scoringStrategy':{'requestedToCapacityRatio':{'shape':"
		"[{'Score':1,'Utilization':2}]}}}}]}]",
		"strict decoding error: unknown field \"x\", decoding .profiles[0]."
		"pluginConfig[0]: strict decoding "
		"error: decoding args for plugin VolumeBinding: strict decoding error: unknown "
		"field \"a\", unknown "
		"field \"b\", decoding .profiles[0].pluginConfig[1]: strict decoding error: "
		"decoding args for plugin "
		"NodeResourcesFit: strict decoding error: unknown field "
		"\"scoringStrategy.requestedToCapacityRatio.shape[0].Score\", unknown field "
		"\"scoringStrategy.requestedToCapacityRatio.shape[0].Utilization\"");
}
END_TEST

START_TEST(test_config__edge_10_64_boolean_name)
{
	test_refuse("'profiles':[{'schedulerName':true}]",
		"json: cannot unmarshal bool into Go struct field "
		"KubeSchedulerProfile.profiles.schedulerName of type string");
}
END_TEST

START_TEST(test_config__mismatches)
{
	static const struct {
		const char *members;
		const char *message;
	} rows[] = {
		{"'profiles':'x'",
			"string into Go struct field KubeSchedulerConfiguration.profiles of type "
			"[]v1.KubeSchedulerProfile"},
		{"'profiles':[1]",
			"number into Go struct field KubeSchedulerConfiguration.profiles of type "
			"v1.KubeSchedulerProfile"},
		{"'leaderElection':[]",
			"array into Go struct field KubeSchedulerConfiguration.leaderElection of "
			"type "
			"v1alpha1.LeaderElectionConfiguration"},
		{"'enableProfiling':{}",
			"object into Go struct field KubeSchedulerConfiguration.enableProfiling of "
			"type bool"},
		{"'clientConnection':{'qps':'1'}",
			"string into Go struct field ClientConnectionConfiguration."
			"clientConnection.qps of type float32"},
		{"'clientConnection':{'qps':1e99}",
			"number 1e99 into Go struct field ClientConnectionConfiguration."
			"clientConnection.qps of type float32"},
		{"'profiles':[{'plugins':{'score':{'enabled':[{'weight':'1'}]}}}]",
			"string into Go struct field Plugin.profiles.plugins.score.enabled.weight "
			"of type int32"},
		{"'profiles':[{'plugins':{'score':{'enabled':{}}}}]",
			"object into Go struct field PluginSet.profiles.plugins.score.enabled of "
			"type []v1.Plugin"},
		{"'profiles':[{'plugins':{'score':1}}]",
			"number into Go struct field Plugins.profiles.plugins.score of type v1."
			"PluginSet"},
		{"'profiles':[{'pluginConfig':[{'name':1}]}]",
			"number into Go struct field PluginConfig.profiles.pluginConfig.name of "
			"type string"},
		{"'extenders':[{'tlsConfig':{'insecure':1}}]",
			"number into Go struct field ExtenderTLSConfig.extenders.tlsConfig."
			"insecure of type bool"},
		{"'extenders':[{'managedResources':[{'ignoredByScheduler':'x'}]}]",
			"string into Go struct field ExtenderManagedResource.extenders."
			"managedResources."
			"ignoredByScheduler of type bool"},
		{"'parallelism':true,'profiles':1",
			"bool into Go struct field KubeSchedulerConfiguration.parallelism of type "
			"int32"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf message = {0};
		bt_strbuf_printf(&message, "json: cannot unmarshal %s", rows[i].message);
		test_refuse(rows[i].members, bt_strbuf_c(&message));
		bt_strbuf_finish(&message);
	}
}
END_TEST

START_TEST(test_config__args_mismatches)
{
	static const struct {
		const char *plugin;
		const char *args;
		const char *message;
	} rows[] = {
		{"DefaultPreemption", "{'minCandidateNodesPercentage':'1'}",
			"json: cannot unmarshal string into Go struct field "
			"DefaultPreemptionArgs.minCandidateNodesPercentage of type int32"},
		{"NodeResourcesFit", "{'scoringStrategy':{'type':1}}",
			"json: cannot unmarshal number into Go struct field ScoringStrategy."
			"scoringStrategy.type of type "
			"v1.ScoringStrategyType"},
		{"NodeResourcesFit", "{'ignoredResources':[1]}",
			"json: cannot unmarshal number into Go struct field NodeResourcesFitArgs."
			"ignoredResources of type "
			"string"},
		{"NodeAffinity",
			"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[]}}",
			"json: cannot unmarshal array into Go struct field "
			"NodeAffinity.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution "
			"of type "
			"v1.NodeSelector"},
		{"PodTopologySpread",
			"{'defaultConstraints':[{'labelSelector':{'matchLabels':{'a':1}}}]}",
			"json: cannot unmarshal number into Go struct field "
			"LabelSelector.defaultConstraints.labelSelector.matchLabels of type "
			"string"},
		{"DynamicResources", "{'filterTimeout':'1'}",
			"time: missing unit in duration \"1\""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf members = {0};
		struct bt_strbuf message = {0};
		bt_strbuf_printf(&members,
			"'profiles':[{'pluginConfig':[{'name':'%s','args':%s}]}]", rows[i].plugin,
			rows[i].args);
		bt_strbuf_printf(&message,
			"decoding .profiles[0].pluginConfig[0]: decoding args for plugin %s: %s",
			rows[i].plugin, rows[i].message);
		test_refuse(bt_strbuf_c(&members), bt_strbuf_c(&message));
		bt_strbuf_finish(&members);
		bt_strbuf_finish(&message);
	}
}
END_TEST

START_TEST(test_config__not_an_object)
{
	static const char *const texts[] = {"'a'", "[]", "1", "true"};
	static const char *const types[] = {"string", "array", "number", "bool"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		struct bt_strbuf message = {0};
		bt_strbuf_printf(&message, NOT_OBJECT, types[i]);
		test_refuse_raw(texts[i], NULL, bt_strbuf_c(&message));
		bt_strbuf_finish(&message);
	}
	test_refuse_raw("{'kind':1}", NULL,
		"couldn't get version/kind; json parse error: json: cannot unmarshal "
		"number into Go struct field .kind of type string");
}
END_TEST

START_TEST(test_config__nulls_are_absent)
{
	struct bt_config *config =
		test_load("'parallelism':null,'leaderElection':null,'profiles':null,"
			  "'enableProfiling':null,'extenders':null,'clientConnection':{'qps':null},"
			  "'podMaxBackoffSeconds':null");
	ck_assert_int_eq(config->document.parallelism, 16);
	ck_assert_int_eq(config->document.pod_max_backoff_seconds, 10);
	ck_assert(config->document.leader_election.leader_elect);
	ck_assert(config->document.enable_profiling);
	ck_assert_uint_eq(config->document.profiles.count, 1);
	bt_config_unref(config);
	config = test_load(TEST_ARGS("DefaultPreemption", "null"));
	ck_assert_int_eq(test_args(config, "DefaultPreemption")
				 ->default_preemption.min_candidate_nodes_absolute.value,
		100);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__base64_fields)
{
	static const struct {
		const char *text;
		const char *message; /* NULL: valid */
	} rows[] = {
		{"QUJD", NULL},
		{"QUI=", NULL},
		{"QQ==", NULL},
		{"QU\\nJD", NULL},
		{"", NULL},
		{"QUJ", "illegal base64 data at input byte 0"},
		{"QUJDQ", "illegal base64 data at input byte 4"},
		{"QQ=", "illegal base64 data at input byte 3"},
		{"Q===", "illegal base64 data at input byte 1"},
		{"QQ==Q", "illegal base64 data at input byte 4"},
		{"QQ=x", "illegal base64 data at input byte 2"},
		{"Q*==", "illegal base64 data at input byte 1"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf members = {0};
		bt_strbuf_printf(
			&members, "'extenders':[{'tlsConfig':{'caData':'%s'}}]", rows[i].text);
		if (rows[i].message != NULL) {
			test_refuse(bt_strbuf_c(&members), rows[i].message);
		} else {
			test_accept(bt_strbuf_c(&members));
		}
		bt_strbuf_finish(&members);
	}
}
END_TEST

START_TEST(test_config__limits)
{
	struct bt_strbuf text = {0};
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	bt_strbuf_append_c(&text, "{");
	for (uint32_t i = 0; i < 100000; i++) {
		bt_strbuf_append_c(&text, "\"a\":{");
	}
	ck_assert_int_eq(
		bt_config_load(bt_strbuf_str(&text), NULL, &config, &err), BERTH_ERR_TOO_LARGE);
	ck_assert_str_eq(
		berth_error_message(&err), "configuration is nested deeper than 256 levels");
	berth_error_finish(&err);

	bt_strbuf_reset(&text);
	for (uint32_t i = 0; i <= BT_CONFIG_BYTES_MAX; i++) {
		bt_strbuf_append_char(&text, ' ');
	}
	ck_assert_int_eq(
		bt_config_load(bt_strbuf_str(&text), NULL, &config, &err), BERTH_ERR_TOO_LARGE);
	berth_error_finish(&err);

	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text, "'profiles':[{}");
	for (uint32_t i = 0; i < BT_CONFIG_PROFILES_MAX; i++) {
		bt_strbuf_append_c(&text, ",{}");
	}
	bt_strbuf_append_c(&text, "]");
	test_refuse(bt_strbuf_c(&text), "profiles: more than 1024 entries");

	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text, "'extenders':[{}");
	for (uint32_t i = 0; i < BT_CONFIG_LIST_MAX; i++) {
		bt_strbuf_append_c(&text, ",{}");
	}
	bt_strbuf_append_c(&text, "]");
	test_refuse(bt_strbuf_c(&text), "extenders: more than 65536 entries");
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_config__at_most_100_complaints)
{
	struct bt_strbuf members = {0};
	struct bt_strbuf message = {0};
	bt_strbuf_append_c(&message, "strict decoding error: ");
	for (int i = 0; i < 150; i++) {
		bt_strbuf_printf(&members, "%s'f%d':1", i > 0 ? "," : "", i);
		if (i < 100) {
			bt_strbuf_printf(&message, "%sunknown field \"f%d\"", i > 0 ? ", " : "", i);
		}
	}
	test_refuse(bt_strbuf_c(&members), bt_strbuf_c(&message));
	bt_strbuf_finish(&members);
	bt_strbuf_finish(&message);
}
END_TEST

BT_TEST_MAIN("config_load", test_config__edge_10_01_empty_file,
	test_config__edge_10_02_empty_object, test_config__edge_10_03_only_kind,
	test_config__edge_10_04_removed_version, test_config__edge_10_05_policy,
	test_config__edge_10_06_args_as_document, test_config__edge_10_07_unknown_field,
	test_config__edge_10_08_yaml_duplicate, test_config__edge_10_09_json_duplicate,
	test_config__edge_10_10_wrong_case, test_config__edge_10_11_string_for_number,
	test_config__edge_10_12_fractions, test_config__edge_10_13_number_for_duration,
	test_config__edge_10_58_args_of_another_kind, test_config__edge_10_59_unknown_field_in_args,
	test_config__edge_10_64_boolean_name, test_config__mismatches, test_config__args_mismatches,
	test_config__not_an_object, test_config__nulls_are_absent, test_config__base64_fields,
	test_config__limits, test_config__at_most_100_complaints)
