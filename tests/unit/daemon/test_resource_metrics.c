/* SPDX-License-Identifier: Apache-2.0 */
/** /metrics/resources and the metrics of the process: spec 11 sections 10.5 and 10.6. */
#include <stdlib.h>

#include "api/object.h"
#include "base/alloc.h"
#include "daemon/resource_metrics.h"
#include "metrics/promtool.h"
#include "test_main.h"

#define PODS_MAX 8

struct pods {
	struct bt_object *objects[PODS_MAX];
	uint32_t count;
};

/** Adds a pod from its members, JSON with ' for ". */
static void add_pod(struct pods *pods, const char *members)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "{'kind':'Pod','apiVersion':'v1',%s}", members);
	for (size_t i = 0; i < text.length; i++) {
		text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
	}
	ck_assert_uint_lt(pods->count, PODS_MAX);
	ck_assert_msg(
		bt_object_decode(bt_strbuf_str(&text), &pods->objects[pods->count], &err) == 0,
		"%s", berth_error_message(&err));
	pods->count++;
	bt_strbuf_finish(&text);
}

/** Returns the metrics text of the pods, and releases the pods. */
static char *written(struct pods *pods)
{
	struct bt_pod_samples samples = {0};
	struct bt_strbuf out = {0};

	for (uint32_t i = 0; i < pods->count; i++) {
		bt_pod_samples_add(&samples, pods->objects[i]->value);
		bt_object_release(pods->objects[i]);
	}
	bt_pod_samples_write(&samples, &out);
	bt_check_with_promtool(bt_strbuf_str(&out));
	if (out.data == NULL) {
		bt_strbuf_append_c(&out, "");
	}
	return bt_strbuf_steal(&out);
}

static void check(struct pods *pods, const char *expected)
{
	char *text = written(pods);

	ck_assert_str_eq(text, expected);
	bt_free(text);
}

#define EXPECTED_PER_POD \
	", broken down by pod. This shows the resource usage the scheduler and kubelet expect " \
	"per " \
	"pod for resources along with the unit for the resource if any.\n"
#define LIMIT_HEADER \
	"# HELP kube_pod_resource_limit [STABLE] Resources limit for workloads on the " \
	"cluster" EXPECTED_PER_POD "# TYPE kube_pod_resource_limit gauge\n"
#define REQUEST_HEADER \
	"# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the " \
	"cluster" EXPECTED_PER_POD "# TYPE kube_pod_resource_request gauge\n"
#define SAMPLE(kind, pod, node, priority, scheduler, resource, unit, value) \
	"kube_pod_resource_" kind "{namespace=\"a\",node=\"" node "\",pod=\"" pod \
	"\",priority=\"" priority "\",resource=\"" resource "\",scheduler=\"" scheduler \
	"\",unit=\"" unit "\"} " value "\n"

START_TEST(test_pod_resources__units)
{
	struct pods pods = {0};

	add_pod(&pods,
		"'metadata':{'name':'p','namespace':'a'},'spec':{'schedulerName':'s','nodeName':"
		"'n','priority':-5,'containers':[{'name':'c','resources':{'requests':{'cpu':'250m',"
		"'memory':'1Gi','ephemeral-storage':'2','hugepages-2Mi':'4Mi','storage':'7',"
		"'attachable-volumes-x':'3','example.com/gpu':'2','example.com/none':'0'}}}]}");
#define REQUEST(resource, unit, value) SAMPLE("request", "p", "n", "-5", "s", resource, unit, value)
	check(&pods,
		REQUEST_HEADER REQUEST("attachable-volumes-x", "integer", "3")
			REQUEST("cpu", "cores", "0.25") REQUEST("ephemeral-storage", "bytes", "2")
				REQUEST("example.com/gpu", "", "2")
					REQUEST("hugepages-2Mi", "bytes", "4.194304e+06")
						REQUEST("memory", "bytes", "1.073741824e+09")
							REQUEST("storage", "bytes", "7"));
}
END_TEST

/** The init container requests more than the container; overhead is added to both. */
START_TEST(test_pod_resources__what_counts)
{
	struct pods pods = {0};

	add_pod(&pods,
		"'metadata':{'name':'p','namespace':'a'},'spec':{'overhead':{'cpu':'1'},"
		"'initContainers':[{'name':'i','resources':{'requests':{'cpu':'3'}}}],"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'2'},'limits':{'cpu':"
		"'5'}}}]}");
	check(&pods,
		LIMIT_HEADER SAMPLE("limit", "p", "", "", "", "cpu", "cores", "6")
			REQUEST_HEADER SAMPLE("request", "p", "", "", "", "cpu", "cores", "4"));
}
END_TEST

#define ONE_CPU "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]"

START_TEST(test_pod_resources__which_pods_and_their_order)
{
	struct pods pods = {0};

	add_pod(&pods,
		"'metadata':{'name':'z','namespace':'a'},'spec':{'nodeName':'n1'," ONE_CPU "}");
	add_pod(&pods,
		"'metadata':{'name':'y','namespace':'a'},'spec':{'nodeName':'n2'," ONE_CPU "}");
	add_pod(&pods,
		"'metadata':{'name':'w','namespace':'a'},'spec':{'nodeName':'n1'," ONE_CPU
		"},'status':{'phase':'Running'}");
	add_pod(&pods,
		"'metadata':{'name':'done','namespace':'a'},'spec':{'nodeName':'n1'," ONE_CPU
		"},'status':{'phase':'Succeeded'}");
	add_pod(&pods,
		"'metadata':{'name':'lost','namespace':'a'},'spec':{'nodeName':'n1'," ONE_CPU
		"},'status':{'phase':'Failed'}");
	/* A failed pod without a node still counts. */
	add_pod(&pods,
		"'metadata':{'name':'odd','namespace':'a'},'spec':{" ONE_CPU
		"},'status':{'phase':'Failed'}");
	check(&pods,
		REQUEST_HEADER SAMPLE("request", "odd", "", "", "", "cpu", "cores", "1")
			SAMPLE("request", "w", "n1", "", "", "cpu", "cores", "1")
				SAMPLE("request", "z", "n1", "", "", "cpu", "cores", "1")
					SAMPLE("request", "y", "n2", "", "", "cpu", "cores", "1"));
}
END_TEST

START_TEST(test_pod_resources__hostile_names)
{
	struct pods pods = {0};

	add_pod(&pods,
		"'metadata':{'name':'p','namespace':'a'},'spec':{'schedulerName':'x\\\\\\u0022\\n'"
		"," ONE_CPU "}");
	check(&pods,
		REQUEST_HEADER SAMPLE("request", "p", "", "", "x\\\\\\\"\\n", "cpu", "cores", "1"));
}
END_TEST

START_TEST(test_pod_resources__no_pods)
{
	struct pods pods = {0};

	check(&pods, "");
}
END_TEST

/* --- the process --- */

/** Returns the value on the line that begins with this text. */
static double value_of(const struct bt_strbuf *text, const char *start)
{
	const char *at = strstr(bt_strbuf_c(text), start);

	ck_assert_msg(at != NULL, "no %s in:\n%s", start, bt_strbuf_c(text));
	at = strchr(at + strlen(start), ' ');
	ck_assert_ptr_nonnull(at);
	return strtod(at, NULL);
}

#define STARTED_NS INT64_C(1764523800250000000)

START_TEST(test_process_metrics__values_of_the_program)
{
	static const struct bt_build build = {
		.git_commit = "0123",
		.git_tree_state = "clean",
		.build_date = BT_STR_INIT("2026-01-02T03:04:05Z"),
		.toolchain = "gcc 12",
		.compiler = "gcc",
		.platform = "linux/amd64",
	};
	struct bt_versions versions = bt_versions_default();
	struct bt_gates gates = bt_gates_default();
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_strbuf text = {0};

	bt_process_metrics_register(metrics, STARTED_NS, &build, &versions, &gates);
	bt_metrics_write(metrics, BT_METRICS_TEXT, &text);
	bt_check_with_promtool(bt_strbuf_str(&text));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nkubernetes_build_info{build_date=\"2026-01-02T03:04:05Z\",compiler=\"gcc\","
		"git_commit=\"0123\",git_tree_state=\"clean\",git_version=\"v1.36.2\",go_version="
		"\"gcc 12\",major=\"1\",minor=\"36\",platform=\"linux/amd64\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nversion_info{binary=\"1.36.2\",component=\"kube\",emulation=\"1.36\",min_compat="
		"\"1.35\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nkubernetes_feature_enabled{name=\"SchedulerAsyncAPICalls\",stage=\"BETA\"} "
		"0\n"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nkubernetes_feature_enabled{name=\"SchedulerQueueingHints\",stage=\"\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nkubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 0\n"
		"kubernetes_feature_enabled{name=\"AllBeta\",stage=\"BETA\"} 0\n"));
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "\n# HELP process_open_fds Number of open"));
	ck_assert_double_gt(value_of(&text, "\nprocess_resident_memory_bytes"), 100000);
	ck_assert_double_ge(value_of(&text, "\nprocess_virtual_memory_bytes"),
		value_of(&text, "\nprocess_resident_memory_bytes"));
	ck_assert_double_ge(value_of(&text, "\nprocess_open_fds"), 3);
	ck_assert_double_ge(
		value_of(&text, "\nprocess_max_fds"), value_of(&text, "\nprocess_open_fds"));
	ck_assert_double_eq(value_of(&text, "\nprocess_start_time_seconds"), 1764523800.25);
	ck_assert_double_ge(value_of(&text, "\nprocess_cpu_seconds_total"), 0);
	bt_strbuf_finish(&text);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_process_metrics__what_never_changes_outlives_a_reset)
{
	static const struct bt_build build = {"", "", BT_STR_INIT(""), "", "", ""};
	struct bt_versions versions = bt_versions_default();
	struct bt_gates gates = bt_gates_default();
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_strbuf text = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_gates_set(&gates, BT_STR("AllAlpha=true"), &err), 0);
	bt_process_metrics_register(metrics, STARTED_NS, &build, &versions, &gates);
	bt_metrics_reset(metrics);
	bt_metrics_write(metrics, BT_METRICS_TEXT, &text);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text), "\nkubernetes_build_info{"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text), "\nversion_info{"));
	ck_assert_double_eq(value_of(&text, "\nprocess_start_time_seconds"), 1764523800.25);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nkubernetes_feature_enabled{name=\"AllAlpha\",stage=\"ALPHA\"} 1\n"
		"kubernetes_feature_enabled{name=\"AllBeta\",stage=\"BETA\"} 0\n"));
	bt_strbuf_finish(&text);
	bt_metrics_destroy(metrics);
}
END_TEST

START_TEST(test_process_metrics__emulated_release)
{
	static const struct bt_build build = {"", "", BT_STR_INIT(""), "", "", ""};
	struct bt_versions versions = bt_versions_default();
	struct bt_gates gates = bt_gates_default_at(34);
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_strbuf text = {0};

	versions.release = (struct bt_gate_release){34, 33};
	bt_process_metrics_register(metrics, STARTED_NS, &build, &versions, &gates);
	bt_metrics_write(metrics, BT_METRICS_TEXT, &text);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"\nversion_info{binary=\"1.36.2\",component=\"kube\",emulation=\"1.34\",min_compat="
		"\"1.33\"} 1\n"));
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		struct bt_strbuf line = {0};
		bool known = bt_gate_state_at((enum bt_gate)i, 34).stage != BT_GATE_STAGE_NONE;

		bt_strbuf_printf(&line, "\nkubernetes_feature_enabled{name=\"%s\",",
			bt_gate_name((enum bt_gate)i));
		ck_assert_int_eq(strstr(bt_strbuf_c(&text), bt_strbuf_c(&line)) != NULL, known);
		bt_strbuf_finish(&line);
	}
	bt_strbuf_finish(&text);
	bt_metrics_destroy(metrics);
}
END_TEST

BT_TEST_MAIN("resource_metrics", test_pod_resources__units, test_pod_resources__what_counts,
	test_pod_resources__which_pods_and_their_order, test_pod_resources__hostile_names,
	test_pod_resources__no_pods, test_process_metrics__values_of_the_program,
	test_process_metrics__what_never_changes_outlives_a_reset,
	test_process_metrics__emulated_release)
