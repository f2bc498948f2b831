/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaulting.h"
#include "api_test.h"
#include "test_main.h"

/** Sets the defaults in the spec and writes the result to out as JSON; returns the text of out. */
static const char *defaulted(
	const char *spec_text, bool pod_level, struct bt_arena *arena, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_pod_spec spec =
		*(const struct bt_pod_spec *)api_decode(arena, &bt_pod_spec_message, spec_text);
	bt_pod_spec_default(&spec, pod_level, arena);
	spec.scheduler_name = BT_STR("");
	bt_strbuf_reset(out);
	bt_json_writer_init(&writer, out, 0);
	bt_message_encode_json(&bt_pod_spec_message, &writer, &spec);
	for (size_t i = 0; i < out->length; i++) {
		out->data[i] = out->data[i] == '"' ? '\'' : out->data[i];
	}
	return bt_strbuf_c(out);
}

/** One container with the given resources. */
#define CONTAINER(resources) "'containers':[{'name':'c','resources':{" resources "}}]"

START_TEST(test_defaulting__pod_spec)
{
	static const struct {
		const char *name;
		bool pod_level;
		const char *spec;
		const char *expected; /* NULL: unchanged */
	} rows[] = {
		{"rule 1: requests from limits", true,
			"{" CONTAINER("'limits':{'cpu':'2','memory':'1Gi'}") "}",
			"{" CONTAINER("'limits':{'cpu':'2','memory':'1Gi'},'requests':{'cpu':'2','"
				      "memory':'1Gi'}") "}"},
		{"rule 1: given requests stay", true,
			"{" CONTAINER("'limits':{'cpu':'2','memory':'1Gi'},'requests':{'cpu':'0','"
				      "gpu':'1'}") "}",
			"{" CONTAINER("'limits':{'cpu':'2','memory':'1Gi'},"
				      "'requests':{'cpu':'0','gpu':'1','memory':'1Gi'}") "}"},
		{"rule 1: init containers", true,
			"{'containers':[],'initContainers':[{'name':'i','resources':{'limits':{'"
			"cpu':'1'}}}]}",
			"{'containers':[],'initContainers':[{'name':'i','resources':"
			"{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}}]}"},
		{"rule 2b: pod requests from containers, then from limits", true,
			"{" CONTAINER("'requests':{'cpu':'1'}") ",'resources':{'limits':{'cpu':'4',"
								"'memory':'2Gi'}}}",
			"{" CONTAINER("'requests':{'cpu':'1'}") ",'resources':{'limits':{'cpu':'4',"
								"'memory':'2Gi'},"
								"'requests':{'cpu':'1','memory':'"
								"2Gi'}}}"},
		{"rule 2b: other resources are not copied", true,
			"{" CONTAINER(
				"'requests':{'ephemeral-storage':'1Gi'}") ",'resources':{'limits':{"
									  "'cpu':'4'}}}",
			"{" CONTAINER(
				"'requests':{'ephemeral-storage':'1Gi'}") ",'resources':{'limits':{"
									  "'cpu':'4'},"
									  "'requests':{'cpu':'4'}}"
									  "}"},
		{"rule 2a: huge pages of the containers", true,
			"{" CONTAINER("'limits':{'hugepages-2Mi':'4Mi'},'requests':{'hugepages-2Mi'"
				      ":'4Mi'}") ",'resources':{'requests':{'cpu':'1'}}}",
			"{" CONTAINER("'limits':{'hugepages-2Mi':'4Mi'},'requests':{'hugepages-2Mi'"
				      ":'4Mi'}") ",'resources':{'limits':{'hugepages-2Mi':'4Mi'},"
						 "'requests':{'cpu':'1','hugepages-2Mi':'4Mi'}}}"},
		{"rule 2: nothing at pod level", true,
			"{" CONTAINER("'requests':{'cpu':'1'}") ",'resources':{}}", NULL},
		{"rule 2: gate off", false,
			"{" CONTAINER(
				"'requests':{'cpu':'1'}") ",'resources':{'limits':{'cpu':'4'}}}",
			NULL},
		{"rule 3: protocol", true,
			"{'containers':[{'name':'c','ports':[{'containerPort':80},{'containerPort':"
			"1,'protocol':'UDP'}]}]}",
			"{'containers':[{'name':'c','ports':[{'containerPort':80,'protocol':'TCP'},"
			"{'containerPort':1,'protocol':'UDP'}]}]}"},
		{"rule 3: ports of the host's network", true,
			"{'containers':[{'name':'c','ports':[{'containerPort':80,'protocol':'TCP'}]"
			"}],'hostNetwork':true}",
			"{'containers':[{'name':'c','ports':[{'hostPort':80,'containerPort':80,'"
			"protocol':'TCP'}]}],"
			"'hostNetwork':true}"},
		{"rule 5: rounding up to thousandths", true,
			"{" CONTAINER("'requests':{'cpu':'1500u','memory':'100n'}") ",'overhead':{'"
										    "cpu':'1n'}}",
			"{" CONTAINER("'requests':{'cpu':'2m','memory':'1m'}") ",'overhead':{'cpu':"
									       "'1m'}}"},
		{"rule 5: whole thousandths stay as they are", true,
			"{" CONTAINER("'requests':{'cpu':'2000u'}") "}", NULL},
	};
	struct bt_arena arena = {0};
	struct bt_strbuf got = {0};
	struct bt_strbuf expected = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		/*
		 * Write the expected spec with the same writer, so that only the content is
		 * compared.
		 */
		const char *wanted = rows[i].expected != NULL ? rows[i].expected : rows[i].spec;
		const void *wanted_spec = api_decode(&arena, &bt_pod_spec_message, wanted);
		struct bt_json_writer writer;
		bt_strbuf_reset(&expected);
		bt_json_writer_init(&writer, &expected, 0);
		bt_message_encode_json(&bt_pod_spec_message, &writer, wanted_spec);
		for (size_t k = 0; k < expected.length; k++) {
			expected.data[k] = expected.data[k] == '"' ? '\'' : expected.data[k];
		}
		const char *text = defaulted(rows[i].spec, rows[i].pod_level, &arena, &got);
		ck_assert_msg(strcmp(text, bt_strbuf_c(&expected)) == 0, "%s: %s, not %s",
			rows[i].name, text, bt_strbuf_c(&expected));
	}
	bt_strbuf_finish(&got);
	bt_strbuf_finish(&expected);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_defaulting__scheduler_name)
{
	struct bt_arena arena = {0};
	struct bt_pod_spec spec = {0};
	bt_pod_spec_default(&spec, true, &arena);
	ck_assert(bt_str_equal_c(spec.scheduler_name, "default-scheduler"));
	spec.scheduler_name = BT_STR("mine");
	bt_pod_spec_default(&spec, true, &arena);
	ck_assert(bt_str_equal_c(spec.scheduler_name, "mine"));
	bt_arena_finish(&arena);
}
END_TEST

/* Pods of one template share its containers: defaulting one pod must not change the other pods. */
START_TEST(test_defaulting__shared_parts_stay_untouched)
{
	struct bt_arena arena = {0};
	const struct bt_pod_spec *original = api_decode(
		&arena, &bt_pod_spec_message, "{" CONTAINER("'limits':{'cpu':'1500u'}") "}");
	struct bt_pod_spec copy = *original;
	bt_pod_spec_default(&copy, true, &arena);
	ck_assert_uint_eq(copy.containers.items[0].resources.requests.count, 1);
	ck_assert_uint_eq(original->containers.items[0].resources.requests.count, 0);
	ck_assert_int_eq(
		original->containers.items[0].resources.limits.items[0].quantity.exponent, -6);
	bt_arena_finish(&arena);
}
END_TEST

/* Spec 01 section 4.3: the requirements that the API server merges into the selector of a term. */
START_TEST(test_defaulting__match_label_keys)
{
	struct bt_arena arena = {0};
	struct bt_pod pod = *(const struct bt_pod *)api_decode(&arena, &bt_pod_message,
		"{'metadata':{'labels':{'app':'web','hash':'7'}},'spec':{'affinity':{'"
		"podAntiAffinity':"
		"{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'t','"
		"labelSelector':"
		"{'matchLabels':{'app':'web'}},'matchLabelKeys':['hash','none'],"
		"'mismatchLabelKeys':['app']},{'topologyKey':'t','matchLabelKeys':['hash']}],"
		"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'podAffinityTerm':"
		"{'topologyKey':'t','labelSelector':{},'matchLabelKeys':['hash']}}]}}}}");
	const struct bt_affinity *before = pod.spec.affinity;

	bt_pod_default_affinity(&pod, &arena);
	const struct bt_pod_affinity *affinity = pod.spec.affinity->pod_anti_affinity;
	const struct bt_label_selector *selector = affinity->required.items[0].label_selector;

	ck_assert_uint_eq(selector->match_labels.count, 1);
	ck_assert_uint_eq(selector->match_expressions.count, 2);
	ck_assert(bt_str_equal_c(selector->match_expressions.items[0].key, "hash"));
	ck_assert(bt_str_equal_c(selector->match_expressions.items[0].operator_, "In"));
	ck_assert(bt_str_equal_c(selector->match_expressions.items[0].values.items[0], "7"));
	ck_assert(bt_str_equal_c(selector->match_expressions.items[1].operator_, "NotIn"));
	ck_assert(affinity->required.items[1].label_selector == NULL);
	ck_assert_uint_eq(
		affinity->preferred.items[0].term.label_selector->match_expressions.count, 1);
	/* Defaulting does not change the affinity of the template, which the pod shares. */
	ck_assert_uint_eq(before->pod_anti_affinity->required.items[0]
				  .label_selector->match_expressions.count,
		0);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_defaulting__node)
{
	struct bt_arena arena = {0};
	struct bt_node node = *(const struct bt_node *)api_decode(
		&arena, &bt_node_message, "{'status':{'capacity':{'cpu':'3500u','pods':'110'}}}");
	bt_node_default(&node, &arena);
	ck_assert_uint_eq(node.status.allocatable.count, 2);
	ck_assert_int_eq(bt_quantity_milli(&node.status.allocatable.items[0].quantity), 4);
	node = *(const struct bt_node *)api_decode(&arena, &bt_node_message,
		"{'status':{'capacity':{'cpu':'4'},'allocatable':{'cpu':'3'}}}");
	bt_node_default(&node, &arena);
	ck_assert_int_eq(bt_quantity_value(&node.status.allocatable.items[0].quantity), 3);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("defaulting", test_defaulting__pod_spec, test_defaulting__scheduler_name,
	test_defaulting__shared_parts_stay_untouched, test_defaulting__match_label_keys,
	test_defaulting__node)
