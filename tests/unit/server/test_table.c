/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, rule by rule. Spec: 14 section 18. */
#include "server/table.h"

#include "server/table_private.h"
#include "test_main.h"

/* 2026-11-21T12:00:00Z */
#define NOW INT64_C(1795262400)
#define CREATED "\"creationTimestamp\":\"2026-11-21T11:55:00Z\""

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_msg(bt_json_parse(arena, bt_str_from(text), true, &value, NULL) == 0, "%s", text);
	return value;
}

static const char *cells_of(
	struct bt_arena *arena, const struct bt_api_resource *resource, const char *object)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	writer.escape_html = false;
	bt_table_write_cells(resource, parsed(arena, object), NOW * 1000000000, arena, &writer);
	struct bt_str copy = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

struct row {
	const char *group;
	const char *resource;
	const char *object;
	const char *cells;
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct bt_arena arena = {0};
		struct bt_strbuf text = {0};
		struct bt_json_writer writer;
		struct bt_json_value *columns = NULL;
		struct bt_api_resource resource = {
			.group = rows[i].group, .name = rows[i].resource};
		const char *cells = cells_of(&arena, &resource, rows[i].object);
		ck_assert_msg(strcmp(cells, rows[i].cells) == 0, "%s row %zu: %s", rows[i].resource,
			i, cells);
		/*
		 * the columns are as many as the cells, and each column has all members that
		 * clients need
		 */
		bt_json_writer_init(&writer, &text, 0);
		bt_table_write_columns(&resource, &writer);
		ck_assert_int_eq(
			bt_json_parse(&arena, bt_strbuf_str(&text), false, &columns, NULL), 0);
		ck_assert_msg(columns->count == parsed(&arena, cells)->count, "%s: %u columns",
			rows[i].resource, columns->count);
		for (uint32_t c = 0; c < columns->count; c++) {
			ck_assert_uint_eq(columns->elements[c]->count, 5);
		}
		bt_strbuf_finish(&text);
		bt_arena_finish(&arena);
	}
}

#define CHECK(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

START_TEST(test_table__durations)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} rows[] = {{-2, "<invalid>"}, {-1, "0s"}, {0, "0s"}, {119, "119s"}, {120, "2m"},
		{125, "2m5s"}, {599, "9m59s"}, {600, "10m"}, {10799, "179m"}, {10800, "3h"},
		{11100, "3h5m"}, {28799, "7h59m"}, {28800, "8h"}, {172799, "47h"}, {172800, "2d"},
		{180000, "2d2h"}, {691199, "7d23h"}, {691200, "8d"}, {63071999, "729d"},
		{63072000, "2y"}, {63158400, "2y1d"}, {252288000, "8y"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_strbuf text = {0};
		bt_table_append_duration(&text, rows[i].seconds);
		ck_assert_str_eq(bt_strbuf_c(&text), rows[i].text);
		bt_strbuf_finish(&text);
	}
}
END_TEST

#define POD(rest) "{\"metadata\":{\"name\":\"p\"," CREATED "}," rest "}"
#define TAIL ",\"5m\",\"<none>\",\"<none>\",\"<none>\",\"<none>\"]"
#define TWO "\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"

START_TEST(test_table__pods)
{
	static const struct row rows[] = {
		{"", "pods", POD(TWO ",\"status\":{\"phase\":\"Pending\"}"),
			"[\"p\",\"0/2\",\"Pending\",\"0\"" TAIL},
		{"", "pods", POD(TWO ",\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}"),
			"[\"p\",\"0/2\",\"Evicted\",\"0\"" TAIL},
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
				"\"PodScheduled\","
				"\"status\":\"False\",\"reason\":\"SchedulingGated\"}]}"),
			"[\"p\",\"0/2\",\"SchedulingGated\",\"0\"" TAIL},
		/* a ready and running pod; restarts with their time */
		{"", "pods",
			POD("\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"a\"}],"
			    "\"readinessGates\":["
			    "{\"conditionType\":\"g\"},{\"conditionType\":\"h\"}]},\"status\":{"
			    "\"phase\":\"Running\","
			    "\"podIP\":\"10.0.0.1\",\"nominatedNodeName\":\"m\",\"conditions\":[{"
			    "\"type\":\"g\",\"status\":\"True\"}],"
			    "\"containerStatuses\":[{\"name\":\"a\",\"ready\":true,"
			    "\"restartCount\":3,"
			    "\"state\":{\"running\":{}},\"lastState\":{\"terminated\":{"
			    "\"finishedAt\":\"2026-11-21T11:55:00Z\"}}}]}"),
			"[\"p\",\"1/1\",\"Running\",\"3 (5m "
			"ago)\",\"5m\",\"10.0.0.1\",\"n\",\"m\",\"1/2\"]"},
		/* several containers: the reason of the first container wins */
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Running\",\"containerStatuses\":["
				"{\"name\":\"a\",\"restartCount\":2,\"state\":{\"waiting\":{"
				"\"reason\":\"CrashLoopBackOff\"}}},"
				"{\"name\":\"b\",\"restartCount\":1,\"state\":{\"terminated\":{"
				"\"reason\":\"Error\",\"exitCode\":1}}}]}"),
			"[\"p\",\"0/2\",\"CrashLoopBackOff\",\"3\"" TAIL},
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Failed\",\"containerStatuses\":["
				"{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":7}}}]}"),
			"[\"p\",\"0/2\",\"ExitCode:7\",\"0\"" TAIL},
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Failed\",\"containerStatuses\":["
				"{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":137,"
				"\"signal\":9}}}]}"),
			"[\"p\",\"0/2\",\"Signal:9\",\"0\"" TAIL},
		/* one container has completed, one is running */
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
				"\"Ready\",\"status\":\"True\"}],"
				"\"containerStatuses\":[{\"name\":\"a\",\"state\":{\"terminated\":{"
				"\"reason\":\"Completed\"}}},"
				"{\"name\":\"b\",\"ready\":true,\"state\":{\"running\":{}}}]}"),
			"[\"p\",\"1/2\",\"Running\",\"0\"" TAIL},
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Running\","
				"\"containerStatuses\":[{\"name\":\"a\",\"state\":{\"terminated\":{"
				"\"reason\":\"Completed\"}}},"
				"{\"name\":\"b\",\"ready\":true,\"state\":{\"running\":{}}}]}"),
			"[\"p\",\"1/2\",\"NotReady\",\"0\"" TAIL},
		{"", "pods",
			POD(TWO ",\"status\":{\"phase\":\"Succeeded\","
				"\"containerStatuses\":[{\"name\":\"a\",\"state\":{\"terminated\":{"
				"\"reason\":\"Completed\"}}}]}"),
			"[\"p\",\"0/2\",\"Completed\",\"0\"" TAIL},
		{"", "pods",
			"{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"," CREATED "}," TWO ",\"status\":{\"phase\":\"Running\"}}",
			"[\"p\",\"0/2\",\"Terminating\",\"0\"" TAIL},
		{"", "pods",
			"{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"," CREATED "}," TWO ",\"status\":{\"phase\":\"Succeeded\"}}",
			"[\"p\",\"0/2\",\"Succeeded\",\"0\"" TAIL},
		{"", "pods",
			"{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"," CREATED "}," TWO
			",\"status\":{\"phase\":\"Running\",\"reason\":\"NodeLost\"}}",
			"[\"p\",\"0/2\",\"Unknown\",\"0\"" TAIL},
	};
	CHECK(rows);
}
END_TEST

#define INIT \
	"\"spec\":{\"containers\":[{\"name\":\"a\"}],\"initContainers\":[{\"name\":\"i\"},{" \
	"\"name\":\"j\"}," \
	"{\"name\":\"s\",\"restartPolicy\":\"Always\"}]}"

START_TEST(test_table__pods_with_init_containers)
{
	static const struct row rows[] = {
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"restartCount\":1,\"state\":{\"terminated\":{"
				 "\"exitCode\":0}}},"
				 "{\"name\":\"j\",\"state\":{\"running\":{}}}]}"),
			"[\"p\",\"0/2\",\"Init:1/3\",\"1\"" TAIL},
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"state\":{\"waiting\":{\"reason\":"
				 "\"PodInitializing\"}}}]}"),
			"[\"p\",\"0/2\",\"Init:0/3\",\"0\"" TAIL},
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"state\":{\"waiting\":{\"reason\":"
				 "\"ErrImagePull\"}}}]}"),
			"[\"p\",\"0/2\",\"Init:ErrImagePull\",\"0\"" TAIL},
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"state\":{\"terminated\":{\"exitCode\":3}}}]}"),
			"[\"p\",\"0/2\",\"Init:ExitCode:3\",\"0\"" TAIL},
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"state\":{\"terminated\":{\"exitCode\":3,"
				 "\"reason\":\"Error\"}}}]}"),
			"[\"p\",\"0/2\",\"Init:Error\",\"0\"" TAIL},
		/*
	         * a running sidecar counts as ready; restarts of other init containers are not
	         * counted
	         */
		{"", "pods",
			POD(INIT ",\"status\":{\"phase\":\"Running\",\"initContainerStatuses\":["
				 "{\"name\":\"i\",\"restartCount\":4,\"state\":{\"terminated\":{"
				 "\"exitCode\":0}}},"
				 "{\"name\":\"s\",\"restartCount\":2,\"started\":true,\"ready\":"
				 "true,\"state\":{\"running\":{}}}],"
				 "\"containerStatuses\":[{\"name\":\"a\",\"ready\":true,"
				 "\"restartCount\":1,\"state\":{\"running\":{}}}]}"),
			"[\"p\",\"2/2\",\"Running\",\"3\"" TAIL},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_table__cluster)
{
	static const struct row rows[] = {
		{"", "nodes",
			"{\"metadata\":{\"name\":\"n\"," CREATED
			",\"labels\":{\"node-role.kubernetes.io/"
			"worker\":\"\",\"node-role.kubernetes.io/edge\":\"\","
			"\"kubernetes.io/"
			"role\":\"control\"}},\"spec\":{\"unschedulable\":true},\"status\":{"
			"\"conditions\":["
			"{\"type\":\"Ready\",\"status\":\"True\"}],\"addresses\":[{\"type\":"
			"\"InternalIP\",\"address\":\"10.0.0.1\"}],"
			"\"nodeInfo\":{\"kubeletVersion\":\"v1.36.2\",\"osImage\":\"o\"}}}",
			"[\"n\",\"Ready,SchedulingDisabled\",\"control,edge,worker\",\"5m\",\"v1."
			"36.2\",\"10.0.0.1\","
			"\"<none>\",\"o\",\"<unknown>\",\"<unknown>\"]"},
		{"", "nodes",
			"{\"metadata\":{\"name\":\"n\"},\"status\":{\"conditions\":[{\"type\":"
			"\"Ready\",\"status\":\"Unknown\"}]}}",
			"[\"n\",\"NotReady\",\"<none>\",\"<unknown>\",\"\",\"<none>\",\"<"
			"none>\",\"<unknown>\","
			"\"<unknown>\",\"<unknown>\"]"},
		{"", "nodes", "{\"metadata\":{\"name\":\"n\"}}",
			"[\"n\",\"Unknown\",\"<none>\",\"<unknown>\",\"\",\"<none>\",\"<"
			"none>\",\"<unknown>\","
			"\"<unknown>\",\"<unknown>\"]"},
		{"", "namespaces",
			"{\"metadata\":{\"name\":\"n\"," CREATED
			"},\"status\":{\"phase\":\"Active\"}}",
			"[\"n\",\"Active\",\"5m\"]"},
		{"", "services",
			"{\"metadata\":{\"name\":\"s\"," CREATED
			"},\"spec\":{\"type\":\"LoadBalancer\",\"clusterIP\":\"10.96.0.1\","
			"\"ports\":[{\"port\":80,\"protocol\":\"TCP\"},"
			"{\"port\":443,\"nodePort\":30443,\"protocol\":\"UDP\"}],\"selector\":{"
			"\"b\":\"2\",\"a\":\"1\"}}}",
			"[\"s\",\"LoadBalancer\",\"10.96.0.1\",\"<pending>\",\"80/TCP,443:30443/"
			"UDP\",\"5m\",\"a=1,b=2\"]"},
		{"", "services",
			"{\"metadata\":{\"name\":\"s\"," CREATED
			"},\"spec\":{\"type\":\"LoadBalancer\",\"clusterIP\":\"10.96.0.1\"},"
			"\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.1.1.1\"},"
			"{\"hostname\":\"h\"}]}}}",
			"[\"s\",\"LoadBalancer\",\"10.96.0.1\",\"1.1.1.1,h\",\"<none>\",\"5m\",\"<"
			"none>\"]"},
		{"", "services",
			"{\"metadata\":{\"name\":\"s\"," CREATED
			"},\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"x.y\"}}",
			"[\"s\",\"ExternalName\",\"<none>\",\"x.y\",\"<none>\",\"5m\",\"<none>\"]"},
		{"", "services",
			"{\"metadata\":{\"name\":\"s\"," CREATED
			"},\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"None\",\"externalIPs\":"
			"[\"1.1.1.1\",\"2.2.2.2\"]}}",
			"[\"s\",\"ClusterIP\",\"None\",\"1.1.1.1,2.2.2.2\",\"<none>\",\"5m\",\"<"
			"none>\"]"},
		{"", "events",
			"{\"metadata\":{\"name\":\"e\"},\"lastTimestamp\":\"2026-11-21T11:59:00Z\","
			"\"firstTimestamp\":\"2026-11-21T11:00:00Z\",\"type\":\"Normal\","
			"\"reason\":\"R\",\"message\":\"m\",\"count\":4,"
			"\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"a1\",\"fieldPath\":"
			"\"spec\"},\"source\":{\"component\":\"c\",\"host\":\"h\"}}",
			"[\"60s\",\"Normal\",\"R\",\"pod/a1\",\"spec\",\"c, "
			"h\",\"m\",\"60m\",4,\"e\"]"},
		{"events.k8s.io", "events",
			"{\"metadata\":{\"name\":\"e\"},\"eventTime\":\"2026-11-21T11:00:00."
			"000000Z\",\"note\":\"m\","
			"\"series\":{\"count\":7,\"lastObservedTime\":\"2026-11-21T11:59:00."
			"000000Z\"},\"type\":\"Warning\",\"reason\":\"R\","
			"\"regarding\":{\"kind\":\"Pod\",\"name\":\"a1\"},\"reportingController\":"
			"\"s\",\"reportingInstance\":\"i\"}",
			"[\"60s\",\"Warning\",\"R\",\"pod/a1\",\"\",\"s, "
			"i\",\"m\",\"60m\",7,\"e\"]"},
		{"policy", "poddisruptionbudgets",
			"{\"metadata\":{\"name\":\"b\"," CREATED
			"},\"spec\":{\"minAvailable\":1},\"status\":{\"disruptionsAllowed\":2}}",
			"[\"b\",\"1\",\"N/A\",2,\"5m\"]"},
		{"policy", "poddisruptionbudgets",
			"{\"metadata\":{\"name\":\"b\"," CREATED
			"},\"spec\":{\"maxUnavailable\":\"10%\"}}",
			"[\"b\",\"N/A\",\"10%\",0,\"5m\"]"},
		{"scheduling.k8s.io", "priorityclasses",
			"{\"metadata\":{\"name\":\"c\"," CREATED
			"},\"value\":5,\"globalDefault\":true}",
			"[\"c\",5,true,\"5m\",\"PreemptLowerPriority\"]"},
		{"scheduling.k8s.io", "podgroups",
			"{\"metadata\":{\"name\":\"g\"," CREATED
			"},\"spec\":{\"podGroupTemplateRef\":{\"workload\":{\"workloadName\":\"w\"}"
			"},\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}},"
			"\"status\":{\"conditions\":[{\"type\":\"PodGroupScheduled\",\"status\":"
			"\"False\"}]}}",
			"[\"g\",\"Gang\",\"w\",\"Unschedulable\",\"5m\"]"},
		{"scheduling.k8s.io", "podgroups",
			"{\"metadata\":{\"name\":\"g\"," CREATED
			"},\"spec\":{\"schedulingPolicy\":{\"basic\":{}}},\"status\":{"
			"\"conditions\":["
			"{\"type\":\"PodGroupScheduled\",\"status\":\"True\"},{\"type\":"
			"\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"Preempted\"}]}}",
			"[\"g\",\"Basic\",\"<none>\",\"Preempted\",\"5m\"]"},
		{"coordination.k8s.io", "leases",
			"{\"metadata\":{\"name\":\"l\"," CREATED
			"},\"spec\":{\"holderIdentity\":\"me\"}}",
			"[\"l\",\"me\",\"5m\"]"},
		{"", "configmaps",
			"{\"metadata\":{\"name\":\"c\"," CREATED
			"},\"data\":{\"a\":\"1\",\"b\":\"2\"},\"binaryData\":{\"c\":\"\"}}",
			"[\"c\",3,\"5m\"]"},
		{"", "secrets",
			"{\"metadata\":{\"name\":\"s\"," CREATED
			"},\"type\":\"Opaque\",\"data\":{\"a\":\"\"}}",
			"[\"s\",\"Opaque\",1,\"5m\"]"},
		{"", "serviceaccounts", "{\"metadata\":{\"name\":\"s\"," CREATED "}}",
			"[\"s\",\"5m\"]"},
		{"", "limitranges", "{\"metadata\":{\"name\":\"s\"," CREATED "}}",
			"[\"s\",\"2026-11-21T11:55:00Z\"]"},
	};
	CHECK(rows);
}
END_TEST

#define TEMPLATE \
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\"},{\"name\":" \
	"\"b\",\"image\":\"y\"}]}}"
#define META "\"metadata\":{\"name\":\"d\"," CREATED "}"

START_TEST(test_table__configuration)
{
	static const struct row rows[] = {
		{"", "endpoints",
			"{" META ",\"subsets\":[{\"addresses\":[{\"ip\":\"10.0.0.1\"},{\"ip\":"
			"\"fd00::1\"}],\"ports\":[{\"port\":80},{\"port\":81}]}]}",
			"[\"d\",\"10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...\",\"5m\"]"},
		{"", "endpoints", "{" META ",\"subsets\":[]}", "[\"d\",\"<none>\",\"5m\"]"},
		{"", "resourcequotas",
			"{" META
			",\"status\":{\"hard\":{\"limits.cpu\":\"4\",\"pods\":\"9\",\"requests."
			"cpu\":\"2\"},\"used\":{\"limits.cpu\":\"1\",\"pods\":\"3\"}}}",
			"[\"d\",\"5m\",\"pods: 3/9, requests.cpu: 0/2\",\"limits.cpu: 1/4\"]"},
		{"", "podtemplates",
			"{" META ",\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
			"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}",
			"[\"d\",\"c\",\"i\",\"a=b\"]"},
		{"apps", "controllerrevisions", "{" META ",\"revision\":3}",
			"[\"d\",\"<none>\",3,\"5m\"]"},
		{"networking.k8s.io", "networkpolicies",
			"{" META ",\"spec\":{\"podSelector\":{\"matchLabels\":{\"a\":\"b\"}}}}",
			"[\"d\",\"a=b\",\"5m\"]"},
		{"networking.k8s.io", "ingressclasses",
			"{" META ",\"spec\":{\"controller\":\"e.com/"
			"c\",\"parameters\":{\"apiGroup\":\"e.com\",\"kind\":\"Config\","
			"\"name\":\"x\"}}}",
			"[\"d\",\"e.com/c\",\"Config.e.com/x\",\"5m\"]"},
		{"networking.k8s.io", "servicecidrs",
			"{" META ",\"spec\":{\"cidrs\":[\"10.0.0.0/8\"]}}",
			"[\"d\",\"10.0.0.0/8\",\"5m\"]"},
		{"networking.k8s.io", "ipaddresses",
			"{" META ",\"spec\":{\"parentRef\":{\"resource\":\"services\","
			"\"namespace\":\"n\",\"name\":\"s\"}}}",
			"[\"d\",\"services/n/s\"]"},
		{"storage.k8s.io", "volumeattributesclasses", "{" META ",\"driverName\":\"e.com\"}",
			"[\"d\",\"e.com\",\"5m\"]"},
		{"admissionregistration.k8s.io", "validatingwebhookconfigurations",
			"{" META ",\"webhooks\":[{},{}]}", "[\"d\",2,\"5m\"]"},
		{"admissionregistration.k8s.io", "validatingadmissionpolicies",
			"{" META ",\"spec\":{\"validations\":[{}],\"paramKind\":{\"apiVersion\":"
			"\"v1\",\"kind\":\"ConfigMap\"}}}",
			"[\"d\",1,\"v1/ConfigMap\",\"5m\"]"},
		{"admissionregistration.k8s.io", "mutatingadmissionpolicies",
			"{" META ",\"spec\":{\"mutations\":[{}]}}", "[\"d\",1,\"<unset>\",\"5m\"]"},
		{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
			"{" META ",\"spec\":{\"policyName\":\"p\",\"paramRef\":{\"name\":\"x\"}}}",
			"[\"d\",\"p\",\"x\",\"5m\"]"},
		{"apiregistration.k8s.io", "apiservices",
			"{" META ",\"spec\":{\"service\":{\"namespace\":\"n\",\"name\":\"s\"}},"
			"\"status\":{\"conditions\":[{\"type\":\"Available\",\"status\":"
			"\"False\",\"reason\":\"ServiceNotFound\"}]}}",
			"[\"d\",\"n/s\",\"False (ServiceNotFound)\",\"5m\"]"},
		{"certificates.k8s.io", "certificatesigningrequests",
			"{" META ",\"spec\":{\"signerName\":\"e.com/"
			"s\",\"username\":\"u\",\"expirationSeconds\":86400},\"status\":{"
			"\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\"}],"
			"\"certificate\":\"eA==\"}}",
			"[\"d\",\"5m\",\"e.com/s\",\"u\",\"24h\",\"Approved,Issued\"]"},
		{"certificates.k8s.io", "certificatesigningrequests", "{" META ",\"spec\":{}}",
			"[\"d\",\"5m\",\"\",\"\",\"<none>\",\"Pending\"]"},
		{"flowcontrol.apiserver.k8s.io", "flowschemas",
			"{" META ",\"spec\":{\"priorityLevelConfiguration\":{\"name\":\"p\"},"
			"\"matchingPrecedence\":7,\"distinguisherMethod\":{\"type\":"
			"\"ByUser\"}},\"status\":{\"conditions\":[{\"type\":\"Dangling\","
			"\"status\":\"False\"}]}}",
			"[\"d\",\"p\",7,\"ByUser\",\"5m\",\"False\"]"},
		{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
			"{" META ",\"spec\":{\"type\":\"Limited\",\"limited\":{"
			"\"nominalConcurrencyShares\":30,\"limitResponse\":{\"queuing\":{"
			"\"queues\":64,\"handSize\":8,\"queueLengthLimit\":50}}}}}",
			"[\"d\",\"Limited\",\"30\",\"64\",\"8\",\"50\",\"5m\"]"},
		{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
			"{" META ",\"spec\":{\"type\":\"Exempt\",\"exempt\":{"
			"\"nominalConcurrencyShares\":0}}}",
			"[\"d\",\"Exempt\",\"0\",\"<none>\",\"<none>\",\"<none>\",\"5m\"]"},
		{"apps", "controllerrevisions",
			"{\"metadata\":{\"name\":\"d\",\"ownerReferences\":[{\"apiVersion\":\"apps/"
			"v1\",\"kind\":\"DaemonSet\",\"name\":\"x\",\"controller\":true}]},"
			"\"revision\":1}",
			"[\"d\",\"daemonset.apps/x\",1,\"<unknown>\"]"},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_table__workloads)
{
	static const struct row rows[] = {
		{"apps", "deployments",
			"{" META ",\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"b\":"
			"\"2\",\"a\":\"1\"},"
			"\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":["
			"\"y\",\"x\"]},"
			"{\"key\":\"l\",\"operator\":\"NotIn\",\"values\":[\"z\"]},{\"key\":\"e\","
			"\"operator\":\"Exists\"},"
			"{\"key\":\"f\",\"operator\":\"DoesNotExist\"}]}," TEMPLATE
			"},\"status\":{\"readyReplicas\":1,\"updatedReplicas\":2,"
			"\"availableReplicas\":1}}",
			"[\"d\",\"1/3\",2,1,\"5m\",\"a,b\",\"x,y\",\"a=1,b=2,e,!f,k in (x,y),l "
			"notin (z)\"]"},
		/* the empty value is a value */
		{"apps", "replicasets",
			"{" META ",\"spec\":{\"replicas\":3,\"selector\":{\"matchExpressions\":["
			"{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"\",\"x\"]}]}," TEMPLATE
			"}}",
			"[\"d\",3,0,0,\"5m\",\"a,b\",\"x,y\",\"k in (,x)\"]"},
		{"apps", "replicasets",
			"{" META ",\"spec\":{\"replicas\":3," TEMPLATE
			"},\"status\":{\"replicas\":2,\"readyReplicas\":1}}",
			"[\"d\",3,2,1,\"5m\",\"a,b\",\"x,y\",\"<none>\"]"},
		{"", "replicationcontrollers",
			"{" META ",\"spec\":{\"replicas\":3,\"selector\":{\"a\":\"1\"}," TEMPLATE
			"}}",
			"[\"d\",3,0,0,\"5m\",\"a,b\",\"x,y\",\"a=1\"]"},
		{"apps", "statefulsets", "{" META ",\"spec\":{\"replicas\":3," TEMPLATE "}}",
			"[\"d\",\"0/3\",\"5m\",\"a,b\",\"x,y\"]"},
		{"apps", "daemonsets",
			"{" META ",\"status\":{\"desiredNumberScheduled\":5,"
			"\"currentNumberScheduled\":4,\"numberReady\":3,"
			"\"updatedNumberScheduled\":2,\"numberAvailable\":1}}",
			"[\"d\",5,4,3,2,1,\"<none>\",\"5m\",\"\",\"\",\"<none>\"]"},
		{"batch", "jobs",
			"{" META ",\"spec\":{\"completions\":4," TEMPLATE
			"},\"status\":{\"succeeded\":1,"
			"\"startTime\":\"2026-11-21T11:59:30Z\"}}",
			"[\"d\",\"Running\",\"1/4\",\"30s\",\"5m\",\"a,b\",\"x,y\",\"<none>\"]"},
		{"batch", "jobs",
			"{" META ",\"spec\":{\"parallelism\":3},\"status\":{\"succeeded\":3,"
			"\"startTime\":\"2026-11-21T11:50:00Z\","
			"\"completionTime\":\"2026-11-21T11:52:00Z\",\"conditions\":[{\"type\":"
			"\"Complete\",\"status\":\"True\"}]}}",
			"[\"d\",\"Complete\",\"3/1 of 3\",\"2m\",\"5m\",\"\",\"\",\"<none>\"]"},
		{"batch", "jobs",
			"{" META ",\"spec\":{\"suspend\":true,\"completions\":1},\"status\":{"
			"\"conditions\":["
			"{\"type\":\"Suspended\",\"status\":\"True\"}]}}",
			"[\"d\",\"Suspended\",\"0/1\",\"\",\"5m\",\"\",\"\",\"<none>\"]"},
		{"batch", "jobs",
			"{\"metadata\":{\"name\":\"d\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"},\"spec\":{\"completions\":1}}",
			"[\"d\",\"Terminating\",\"0/1\",\"\",\"<unknown>\",\"\",\"\",\"<none>\"]"},
		{"batch", "cronjobs",
			"{" META
			",\"spec\":{\"schedule\":\"* * * * *\",\"jobTemplate\":{\"spec\":{" TEMPLATE
			"}}},\"status\":{\"active\":[{}],\"lastScheduleTime\":\"2026-11-21T11:59:"
			"00Z\"}}",
			"[\"d\",\"* * * * "
			"*\",\"<none>\",\"False\",1,\"60s\",\"5m\",\"a,b\",\"x,y\",\"<none>\"]"},
		{"autoscaling", "horizontalpodautoscalers",
			"{" META ",\"spec\":{\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":"
			"\"x\"},\"minReplicas\":1,\"maxReplicas\":5,"
			"\"metrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\","
			"\"target\":{\"averageUtilization\":50}}}]},"
			"\"status\":{\"currentReplicas\":2,\"currentMetrics\":[{\"type\":"
			"\"Resource\",\"resource\":{\"name\":\"cpu\","
			"\"current\":{\"averageUtilization\":10}}}]}}",
			"[\"d\",\"Deployment/x\",\"cpu: 10%/50%\",\"1\",5,2,\"5m\"]"},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_table__storage)
{
	static const struct row rows[] = {
		{"", "persistentvolumes",
			"{" META ",\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":["
			"\"ReadWriteMany\",\"ReadWriteOnce\"],"
			"\"persistentVolumeReclaimPolicy\":\"Retain\",\"claimRef\":{\"namespace\":"
			"\"n\",\"name\":\"c\"},"
			"\"storageClassName\":\"s\",\"volumeMode\":\"Filesystem\"},\"status\":{"
			"\"phase\":\"Bound\"}}",
			"[\"d\",\"1Gi\",\"RWO,RWX\",\"Retain\",\"Bound\",\"n/"
			"c\",\"s\",\"<unset>\",\"\",\"5m\",\"Filesystem\"]"},
		{"", "persistentvolumeclaims",
			"{" META ",\"spec\":{\"volumeName\":\"v\",\"storageClassName\":\"s\","
			"\"volumeMode\":\"Block\"},"
			"\"status\":{\"phase\":\"Bound\",\"capacity\":{\"storage\":\"1Gi\"},"
			"\"accessModes\":[\"ReadWriteOncePod\"]}}",
			"[\"d\",\"Bound\",\"v\",\"1Gi\",\"RWOP\",\"s\",\"<unset>\",\"5m\","
			"\"Block\"]"},
		{"", "persistentvolumeclaims",
			"{\"metadata\":{\"name\":\"d\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"," CREATED
			"},\"status\":{\"phase\":\"Pending\",\"accessModes\":[\"ReadOnlyMany\"]}}",
			"[\"d\",\"Terminating\",\"\",\"\",\"\",\"\",\"<unset>\",\"5m\",\"<unset>"
			"\"]"},
		{"storage.k8s.io", "storageclasses",
			"{\"metadata\":{\"name\":\"d\",\"annotations\":{\"storageclass.kubernetes."
			"io/is-default-class\":\"true\"}," CREATED
			"},\"provisioner\":\"p\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}",
			"[\"d (default)\",\"p\",\"Delete\",\"WaitForFirstConsumer\",false,\"5m\"]"},
		{"storage.k8s.io", "csinodes", "{" META ",\"spec\":{\"drivers\":[{},{}]}}",
			"[\"d\",2,\"5m\"]"},
		{"storage.k8s.io", "csidrivers",
			"{" META ",\"spec\":{\"attachRequired\":false,\"storageCapacity\":true,"
			"\"tokenRequests\":[{\"audience\":\"a\"}],"
			"\"volumeLifecycleModes\":[\"Persistent\",\"Ephemeral\"]}}",
			"[\"d\",false,false,true,\"a\",false,\"Persistent,Ephemeral\",\"5m\"]"},
		{"storage.k8s.io", "volumeattachments",
			"{" META ",\"spec\":{\"attacher\":\"a\",\"source\":{"
			"\"persistentVolumeName\":\"v\"},\"nodeName\":\"n\"},"
			"\"status\":{\"attached\":true}}",
			"[\"d\",\"a\",\"v\",\"n\",true,\"5m\"]"},
		{"resource.k8s.io", "resourceclaims", "{" META "}", "[\"d\",\"pending\",\"5m\"]"},
		{"resource.k8s.io", "resourceclaims",
			"{\"metadata\":{\"name\":\"d\",\"deletionTimestamp\":\"2026-11-21T12:00:"
			"00Z\"," CREATED "},\"status\":{\"allocation\":{},\"reservedFor\":[{}]}}",
			"[\"d\",\"allocated,deleted,reserved\",\"5m\"]"},
		{"resource.k8s.io", "resourceslices",
			"{" META ",\"spec\":{\"nodeName\":\"n\",\"driver\":\"x\",\"pool\":{"
			"\"name\":\"p\"}}}",
			"[\"d\",\"n\",\"x\",\"p\",\"5m\"]"},
		{"resource.k8s.io", "deviceclasses", "{" META "}", "[\"d\",\"5m\"]"},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_table__custom_resources)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_api_resource resource = {.group = "x.y",
		.name = "things",
		.flags = BT_RESOURCE_CUSTOM,
		.definition_version = parsed(&arena,
			"{\"additionalPrinterColumns\":["
			"{\"name\":\"Text\",\"type\":\"string\",\"jsonPath\":\".spec.text\","
			"\"priority\":1,\"description\":\"d\"},"
			"{\"name\":\"Number\",\"type\":\"integer\",\"jsonPath\":\".spec['number']"
			"\"},"
			"{\"name\":\"Ready\",\"type\":\"string\",\"jsonPath\":\".status.conditions["
			"?(@.type==\\\"Ready\\\")].status\"},"
			"{\"name\":\"First\",\"type\":\"string\",\"jsonPath\":\".spec.list[0]\"},"
			"{\"name\":\"Since\",\"type\":\"date\",\"jsonPath\":\".metadata."
			"creationTimestamp\"},"
			"{\"name\":\"Wrong\",\"type\":\"integer\",\"jsonPath\":\".spec.text\"},"
			"{\"name\":\"None\",\"type\":\"string\",\"jsonPath\":\".spec.nothing\"}]"
			"}")};
	const char *object = "{\"metadata\":{\"name\":\"t\"," CREATED
			     "},\"spec\":{\"text\":\"x\",\"number\":5,\"list\":[{\"a\":1}]},"
			     "\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":\"?\"},{"
			     "\"type\":\"Ready\",\"status\":\"True\"}]}}";
	ck_assert_str_eq(cells_of(&arena, &resource, object),
		"[\"t\",\"x\",5,\"True\",\"{\\\"a\\\":1}\",\"5m\",null,null]");
	bt_json_writer_init(&writer, &text, 0);
	bt_table_write_columns(&resource, &writer);
	const struct bt_json_value *columns = parsed(&arena, bt_strbuf_c(&text));
	ck_assert_uint_eq(columns->count, 8);
	ck_assert_int_eq(bt_json_int64_at(columns->elements[1], "priority", 0), 1);
	/* without a definition the only further column is the age */
	resource.definition_version = NULL;
	ck_assert_str_eq(cells_of(&arena, &resource, object), "[\"t\",\"5m\"]");
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_table__json_paths)
{
	static const struct {
		const char *path;
		const char *text; /* NULL: the path selects no value */
	} rows[] = {
		{".a.b", "1"},
		{"{.a.b}", "1"},
		{"['a']['b']", "1"},
		{"[\"a\"].b", "1"},
		{".l[1].n", "two"},
		{".l[*].n", "one"},
		{".l[?(@.n==\"two\")].v", "2"},
		{".l[?(@.n == 'two')].v", "2"},
		{".d\\.e", "3"},
		{".l[2]", NULL},
		{".l[99999999999]", NULL},
		{".l[-1]", NULL},
		{".l[?(@.n>1)]", NULL},
		{".l[?(@", NULL},
		{".l[?(", NULL},
		{".l[", NULL},
		{"['a", NULL},
		{"[", NULL},
		{"a", NULL},
		{"{", NULL},
		{"", NULL},
		{".a.b.c", NULL},
	};
	struct bt_arena arena = {0};
	const struct bt_json_value *object = parsed(&arena,
		"{\"a\":{\"b\":\"1\"},\"l\":[{\"n\":\"one\",\"v\":\"1\"},{\"n\":\"two\",\"v\":"
		"\"2\"}],\"d.e\":\"3\"}");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bt_json_value *value =
			bt_table_json_path(object, bt_str_from(rows[i].path));
		ck_assert_msg((value == NULL) == (rows[i].text == NULL), "%s", rows[i].path);
		ck_assert_msg(value == NULL || bt_str_equal_c(value->text, rows[i].text), "%s",
			rows[i].path);
	}
	bt_arena_finish(&arena);
}
END_TEST

/* Members of wrong types everywhere: every row must still be written. */
START_TEST(test_table__malformed_objects)
{
	static const char *const objects[] = {"{}", "[]", "1",
		"{\"metadata\":[],\"spec\":1,\"status\":\"x\"}",
		"{\"metadata\":{\"name\":1,\"labels\":[1],\"creationTimestamp\":\"x\"},\"spec\":{"
		"\"containers\":[1,null],"
		"\"initContainers\":{},\"ports\":[1],\"accessModes\":[1],\"metrics\":[1]},"
		"\"status\":{\"conditions\":[1,{}],"
		"\"containerStatuses\":[null,1,{\"state\":[]}],\"initContainerStatuses\":[1],"
		"\"addresses\":[{}]}}"};
	for (const struct bt_table_column *table = bt_table_columns; table->name != NULL; table++) {
		const struct bt_table_column *column = table + 1;
		uint32_t column_count = 0;
		for (; column->group != NULL && column->name != NULL; column++) {
		}
		for (; column->group == NULL; column++) {
			column_count++;
		}
		for (size_t i = 0; table->group != NULL && i < BT_ARRAY_LENGTH(objects); i++) {
			struct bt_arena arena = {0};
			struct bt_api_resource resource = {
				.group = table->group, .name = table->name};
			const char *cells = cells_of(&arena, &resource, objects[i]);
			ck_assert_uint_eq(parsed(&arena, cells)->count, column_count);
			bt_arena_finish(&arena);
		}
	}
}
END_TEST

BT_TEST_MAIN("table", test_table__durations, test_table__pods,
	test_table__pods_with_init_containers, test_table__cluster, test_table__workloads,
	test_table__configuration, test_table__storage, test_table__custom_resources,
	test_table__json_paths, test_table__malformed_objects)
