/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

/* JSON of containers and pods with the given requests. */
#define C(requests) "{'name':'c','resources':{'requests':{" requests "}}}"
#define INIT(requests) "{'name':'i','resources':{'requests':{" requests "}}}"
#define SIDECAR(requests) \
	"{'name':'s','restartPolicy':'Always','resources':{'requests':{" requests "}}}"
#define POD(containers, init, rest) \
	"{'spec':{'containers':[" containers "],'initContainers':[" init "]" rest "}}"
#define INFEASIBLE "{'type':'PodResizePending','status':'True','reason':'Infeasible'}"
#define DEFERRED "{'type':'PodResizePending','status':'True','reason':'Deferred'}"

static const struct bt_resource_gates default_gates = {
	.pod_level_resources = true, .in_place_pod_level_resources = true};

#define ABSENT INT64_MIN

struct vector {
	int64_t cpu_milli; /* ABSENT: the list must have no entry for cpu */
	int64_t memory_bytes;
};

static struct bt_resource_list full_requests(
	const char *pod_json, const struct bt_resource_gates *gates)
{
	struct bt_request_options options = {.use_status = true,
		.use_pod_status = gates->in_place_pod_level_resources,
		.no_pod_level = !gates->pod_level_resources,
		.dra_status = gates->dra_node_allocatable_resources};

	return bt_pod_requests(api_pod(&arena, pod_json), &options, &arena);
}

static int64_t entry(const struct bt_resource_list *list, const char *name, bool milli)
{
	const struct bt_quantity *quantity = bt_resource_list_find(list, bt_str_from(name));

	if (quantity == NULL) {
		return ABSENT;
	}
	return milli ? bt_quantity_milli(quantity) : bt_quantity_value(quantity);
}

static void check_requests_with(
	const char *pod_json, const struct bt_resource_gates *gates, struct vector expected)
{
	struct bt_resource_list list = full_requests(pod_json, gates);

	ck_assert_msg(entry(&list, "cpu", true) == expected.cpu_milli, "cpu %lld of %s",
		(long long)entry(&list, "cpu", true), pod_json);
	ck_assert_msg(entry(&list, "memory", false) == expected.memory_bytes, "memory %lld of %s",
		(long long)entry(&list, "memory", false), pod_json);
}

static void check_requests(const char *pod_json, int64_t cpu_milli, int64_t memory_bytes)
{
	check_requests_with(pod_json, &default_gates, (struct vector){cpu_milli, memory_bytes});
}

static void check_non_zero(const char *pod_json, int64_t cpu_milli, int64_t memory_bytes)
{
	struct bt_pod_resources resources =
		bt_pod_resources_compute(api_pod(&arena, pod_json), &default_gates, &arena);

	ck_assert_msg(resources.non_zero[BT_CPU_MILLI] == cpu_milli, "cpu %lld of %s",
		(long long)resources.non_zero[BT_CPU_MILLI], pod_json);
	ck_assert_msg(resources.non_zero[BT_MEMORY_BYTES] == memory_bytes, "memory %lld of %s",
		(long long)resources.non_zero[BT_MEMORY_BYTES], pod_json);
}

#define MI INT64_C(1048576)
#define DEFAULT_MEMORY (200 * MI)

START_TEST(test_pod_requests__edge_01b_01_no_requests)
{
	check_requests(POD(C(""), "", ""), ABSENT, ABSENT);
	check_non_zero(POD(C(""), "", ""), 100, DEFAULT_MEMORY);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_02_overhead_only)
{
	check_requests(POD("", "", ",'overhead':{'cpu':'1'}"), 1000, ABSENT);
	check_non_zero(POD("", "", ",'overhead':{'cpu':'1'}"), 1000, 0);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_03_sum)
{
	static const char pod[] = POD(
		C("'cpu':'500m','memory':'500M'") "," C("'cpu':'700m','memory':'800M'"), "", "");

	check_requests(pod, 1200, 1300000000);
	check_non_zero(pod, 1200, 1300000000);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_04_explicit_zero)
{
	check_requests(POD(C("'cpu':'0'"), "", ""), 0, ABSENT);
	check_non_zero(POD(C("'cpu':'0'"), "", ""), 0, DEFAULT_MEMORY);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_05_default_of_init_container)
{
	check_requests(POD(C("'cpu':'50m'"), INIT(""), ""), 50, ABSENT);
	check_non_zero(POD(C("'cpu':'50m'"), INIT(""), ""), 100, DEFAULT_MEMORY);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_06_init_and_overhead)
{
	static const char pod[] = POD(C("'cpu':'100m'"), INIT("'cpu':'500m','memory':'200Mi'"),
		",'overhead':{'cpu':'500m','memory':'500'}");

	check_requests(pod, 1000, 209715700);
	check_non_zero(pod, 1000, 209715700);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_07_sidecar_adds)
{
	check_requests(POD(C("'cpu':'1'"), SIDECAR("'cpu':'1'"), ""), 2000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_08_sidecars)
{
	check_requests(POD(C("'cpu':'1'"),
			       INIT("'cpu':'5'") "," SIDECAR("'cpu':'1'") "," SIDECAR(
				       "'cpu':'2'") "," SIDECAR("'cpu':'3'"),
			       ""),
		7000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_09_init_after_sidecars)
{
	check_requests(POD(C("'cpu':'1'"),
			       INIT("'cpu':'5'") "," SIDECAR("'cpu':'1'") "," SIDECAR(
				       "'cpu':'2'") "," INIT("'cpu':'5'") "," SIDECAR("'cpu':'3'"),
			       ""),
		8000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_10_large_init)
{
	check_requests(POD(C("'cpu':'100'"), SIDECAR("'cpu':'10'") "," INIT("'cpu':'200'"), ""),
		210000, ABSENT);
}
END_TEST

/** A pod with the given container or sidecar, container status and conditions. */
#define WITH_STATUS(container, status, conditions) \
	"{'spec':{'containers':[" container "]},'status':{'containerStatuses':[" status \
	"],'conditions':[" conditions "]}}"
#define STATUS(name, allocated, actual) \
	"{'name':'" name "','allocatedResources':{" allocated "},'resources':{'requests':{" actual \
	"}}}"

START_TEST(test_pod_requests__edge_01b_11_only_in_status)
{
	struct bt_request_options spec_only = {.use_status = false};
	struct bt_resource_list list;

	check_requests(WITH_STATUS(C(""), STATUS("c", "", "'cpu':'2'"), ""), 2000, ABSENT);
	check_requests("{'spec':{'initContainers':[" SIDECAR(
			       "") "]},'status':{'initContainerStatuses':[" STATUS("s", "",
			       "'cpu':'2'") "]}}",
		2000, ABSENT);
	list = bt_pod_requests(
		api_pod(&arena, WITH_STATUS(C(""), STATUS("c", "", "'cpu':'2'"), "")), &spec_only,
		&arena);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_12_resize_in_progress)
{
	check_requests(WITH_STATUS(C("'cpu':'4'"), STATUS("c", "", "'cpu':'2'"), ""), 4000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_13_infeasible)
{
	check_requests(WITH_STATUS(C("'cpu':'4'"), STATUS("c", "", "'cpu':'2'"), INFEASIBLE), 2000,
		ABSENT);
	/* The status of the condition is ignored. */
	check_requests(
		WITH_STATUS(C("'cpu':'4'"), STATUS("c", "", "'cpu':'2'"),
			"{'type':'PodResizePending','status':'False','reason':'Infeasible'}"),
		2000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_14_infeasible_allocated)
{
	check_requests(
		WITH_STATUS(C("'cpu':'6'"), STATUS("c", "'cpu':'4'", "'cpu':'2'"), INFEASIBLE),
		4000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_15_largest_of_three)
{
	struct bt_resource_list list = full_requests(
		WITH_STATUS(C("'cpu':'30m','memory':'20M','ephemeral-storage':'10G'"),
			STATUS("c", "'cpu':'20m','memory':'10M','ephemeral-storage':'30G'",
				"'cpu':'10m','memory':'30M','ephemeral-storage':'20G'"),
			""),
		&default_gates);

	ck_assert_int_eq(entry(&list, "cpu", true), 30);
	ck_assert_int_eq(entry(&list, "memory", false), 30000000);
	ck_assert_int_eq(entry(&list, "ephemeral-storage", false), INT64_C(30000000000));
}
END_TEST

START_TEST(test_pod_requests__edge_01b_16_deferred)
{
	check_requests(WITH_STATUS(C("'cpu':'700m'"), STATUS("c", "", "'cpu':'500m'"), DEFERRED),
		700, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_17_first_condition_decides)
{
	check_requests(
		WITH_STATUS(C("'cpu':'4'"), STATUS("c", "", "'cpu':'2'"), DEFERRED "," INFEASIBLE),
		4000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_18_init_container_ignores_status)
{
	check_requests("{'spec':{'initContainers':[" INIT(
			       "'cpu':'1'") "]},'status':{'initContainerStatuses':[" STATUS("i", "",
			       "'cpu':'5'") "]}}",
		1000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_19_status_without_resources)
{
	check_requests(
		WITH_STATUS(C("'cpu':'1'"), "{'name':'c','allocatedResources':{'cpu':'9'}}", ""),
		1000, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__last_status_of_a_name_wins)
{
	struct bt_strbuf json = {0};

	/*
	 * The lookup by name takes different paths for few and for many status entries; test both.
	 */
	for (int others = 0; others < 20; others += 19) {
		bt_strbuf_reset(&json);
		bt_strbuf_append_c(&json,
			"{'spec':{'containers':[" C(
				"'cpu':'1'") "]},'status':{'containerStatuses':[");
		for (int i = 0; i < others; i++) {
			bt_strbuf_printf(
				&json, "{'name':'x%d','resources':{'requests':{'cpu':'50'}}},", i);
		}
		bt_strbuf_append_c(&json,
			STATUS("c", "", "'cpu':'7'") "," STATUS(
				"c", "", "'cpu':'5'") "],'initContainerStatuses':[" STATUS("c", "",
				"'cpu':'4'") "," STATUS("c", "", "'cpu':'3'") "]}}");
		check_requests(bt_strbuf_c(&json), 3000, ABSENT);
	}
	bt_strbuf_finish(&json);
}
END_TEST

#define POD_LEVEL(requests) ",'resources':{'requests':{" requests "}}"

START_TEST(test_pod_requests__edge_01b_20_pod_level_memory)
{
	check_requests(POD(C("'cpu':'2m'"), "", POD_LEVEL("'memory':'2Mi'")), 2, 2 * MI);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_21_pod_level_replaces)
{
	struct bt_resource_gates off = {.pod_level_resources = false};

	check_requests(
		POD(C("'cpu':'2m','memory':'3Mi'"), "", POD_LEVEL("'cpu':'8m','memory':'6Mi'")), 8,
		6 * MI);
	check_requests(POD(C("'cpu':'2m','memory':'3Mi'"), "", POD_LEVEL("'cpu':'1m'")), 1, 3 * MI);
	check_requests_with(
		POD(C("'cpu':'2m','memory':'3Mi'"), "", POD_LEVEL("'cpu':'8m','memory':'6Mi'")),
		&off, (struct vector){2, 3 * MI});
}
END_TEST

START_TEST(test_pod_requests__edge_01b_22_unsupported_at_pod_level)
{
	static const char pod[] = POD(C("'storage':'3Mi'"), "", POD_LEVEL("'storage':'2Mi'"));
	struct bt_resource_list list = full_requests(pod, &default_gates);
	struct bt_pod_resources resources =
		bt_pod_resources_compute(api_pod(&arena, pod), &default_gates, &arena);

	ck_assert_uint_eq(list.count, 1);
	ck_assert_int_eq(entry(&list, "storage", false), 3 * MI);
	ck_assert(!bt_pod_has_pod_level_requests(api_pod(&arena, pod)));
	ck_assert_uint_eq(resources.requested.scalar_count, 0);
	ck_assert_int_eq(resources.requested.memory_bytes, 0);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_23_hugepages_at_pod_level)
{
	struct bt_resource_list list =
		full_requests(POD(C("'memory':'4Mi','hugepages-1Gi':'1Gi'"), "",
				      POD_LEVEL("'hugepages-2Mi':'10Mi','cpu':'1'")),
			&default_gates);

	ck_assert_uint_eq(list.count, 4);
	ck_assert_int_eq(entry(&list, "cpu", true), 1000);
	ck_assert_int_eq(entry(&list, "hugepages-1Gi", false), 1024 * MI);
	ck_assert_int_eq(entry(&list, "hugepages-2Mi", false), 10 * MI);
	ck_assert_int_eq(entry(&list, "memory", false), 4 * MI);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_24_pod_level_cpu_only)
{
	check_requests(POD(C(""), "", POD_LEVEL("'cpu':'500m'")), 500, ABSENT);
	check_non_zero(POD(C(""), "", POD_LEVEL("'cpu':'500m'")), 500, DEFAULT_MEMORY);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_25_pod_level_memory_only)
{
	check_non_zero(POD(C(""), "", POD_LEVEL("'memory':'1200M'")), 100, 1200000000);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_26_name_present_in_one_container)
{
	static const char pod[] = POD(C("'memory':'100Mi'") "," C(""), "", POD_LEVEL("'cpu':'1'"));
	struct bt_request_options fit_score = {
		.no_pod_level = true, .missing = bt_default_requests()};
	struct bt_resource_list list = bt_pod_requests(api_pod(&arena, pod), &fit_score, &arena);

	check_non_zero(pod, 1000, 100 * MI);
	ck_assert_int_eq(entry(&list, "memory", false), 100 * MI + DEFAULT_MEMORY);
	ck_assert_int_eq(entry(&list, "cpu", true), 200);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_27_pod_level_infeasible)
{
	check_requests(
		"{'spec':{'containers':[" C("") "]" POD_LEVEL(
			"'cpu':'4','memory':'1Gi'") "},'status':{'conditions':[" INFEASIBLE
						    "],'resources':{'requests':{'cpu':'2'}}}}",
		2000, 0);
	check_requests("{'spec':{'containers':[" C("") "]" POD_LEVEL(
			       "'cpu':'4'") "},'status':{'resources':{'requests':"
					    "{'cpu':'2'}},'allocatedResources':{'cpu':'5'}}}",
		5000, ABSENT);
}
END_TEST

#define DRA_STATUS \
	"'status':{'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'r','resources':{" \
	"'cpu':'60m','memory':" \
	"'200M'}},{'resourceClaimName':'q','resources':{'cpu':'40m'}}]}"

START_TEST(test_pod_requests__edge_01b_28_dra_claims)
{
	struct bt_resource_gates gates = default_gates;

	gates.dra_node_allocatable_resources = true;
	check_requests_with(
		"{'spec':{'containers':[" C("'cpu':'500m','memory':'500M'") "]" POD_LEVEL(
			"'cpu':'700m','memory':'800M'") "}," DRA_STATUS "}",
		&gates, (struct vector){700, 800000000});
	check_requests_with(
		"{'spec':{'containers':[" C("'cpu':'500m','memory':'500M'") "]}," DRA_STATUS "}",
		&gates, (struct vector){600, 700000000});
	check_requests_with(
		"{'spec':{'containers':[" C(
			"'cpu':'500m','memory':'500M'") "],'initContainers':"
							"[" INIT("'cpu':'"
								 "1200m'") "]}"
									   "," DRA_STATUS "}",
		&gates, (struct vector){1300, 700000000});
	check_requests("{'spec':{'containers':[" C("'cpu':'500m','memory':'500M'") "]}," DRA_STATUS
										   "}",
		500, 500000000);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_29_overhead_on_pod_level)
{
	check_requests(
		POD(C("'cpu':'2m'"), "", POD_LEVEL("'cpu':'8m'") ",'overhead':{'cpu':'100m'}"), 108,
		ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_30_limits_do_not_count)
{
	check_requests("{'spec':{'containers':[{'name':'c','resources':{'limits':{'cpu':'4','"
		       "memory':'1Gi'}}}]}}",
		ABSENT, ABSENT);
}
END_TEST

START_TEST(test_pod_requests__edge_01b_46_overflow)
{
	struct bt_pod_resources resources = bt_pod_resources_compute(
		api_pod(&arena, POD(C("'cpu':'9223372036854776','memory':'10E'"), "", "")),
		&default_gates, &arena);

	ck_assert_int_eq(resources.requested.cpu_milli, INT64_C(-9223372036854775616));
	ck_assert_int_eq(resources.requested.memory_bytes, 0);
}
END_TEST

/**
 * Spec 01 section 5.1: a quantity beyond int64 is converted by the rules of its form (small or
 * big), and a small quantity that is compared with a big quantity gets the big form.
 */
START_TEST(test_pod_requests__small_and_big_quantities)
{
	static const struct {
		const char *containers;
		const char *init;
		int64_t memory_bytes;
	} rows[] = {
		{C("'memory':'30E'"), "", 0},
		{C("'memory':'1'"), INIT("'memory':'30E'"), 0},
		{C("'memory':'8Ei'"), INIT("'memory':'30E'"), INT64_C(-6893488147419103232)},
		{C("'memory':'30E'"), INIT("'memory':'8Ei'"), 0},
		{C("'memory':'8Ei'"), SIDECAR("'memory':'30E'"), INT64_C(2329883889435672575)},
		{C("'memory':'1'"), INIT("'memory':'8Ei'") "," INIT("'memory':'1e19'"), INT64_MIN},
		{C("'memory':'1'"), INIT("'memory':'8Ei'") "," INIT("'memory':'2e19'"), 0},
		{C("'memory':'1e19'") "," C("'memory':'1'"), "", INT64_C(-8446744073709551615)},
		{C("'memory':'1e19'") "," C("'memory':'1e20'"), "", 0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf pod = {0};
		struct bt_resource_list list;

		bt_strbuf_printf(&pod, POD("%s", "%s", ""), rows[i].containers, rows[i].init);
		list = full_requests(bt_strbuf_c(&pod), &default_gates);
		ck_assert_msg(entry(&list, "memory", false) == rows[i].memory_bytes,
			"memory %lld of %s", (long long)entry(&list, "memory", false),
			bt_strbuf_c(&pod));
		bt_strbuf_finish(&pod);
	}
}
END_TEST

START_TEST(test_pod_requests__edge_01b_35_pods_of_one_node)
{
	/*
	 * The three pods of the specification's edge case, each alone, and the sums of all three.
	 */
	static const struct {
		const char *pod;
		int64_t cpu_milli;
		int64_t memory_bytes;
		int64_t non_zero_cpu_milli;
		int64_t non_zero_memory_bytes;
	} rows[] = {
		{POD(C("'cpu':'100m','memory':'500'"), "", ",'overhead':{'cpu':'500m'}"), 600, 500,
			600, 500},
		{POD(C("'cpu':'200m'"), "", ",'overhead':{'cpu':'500m','memory':'500'}"), 700, 500,
			700, 209715700},
		{POD(C("'cpu':'200m'"), INIT("'cpu':'500m','memory':'200Mi'"),
			 ",'overhead':{'cpu':'500m','memory':'500'}"),
			1000, 209715700, 1000, 209715700},
	};
	struct bt_pod_resources sum = {0};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_pod_resources resources = bt_pod_resources_compute(
			api_pod(&arena, rows[i].pod), &default_gates, &arena);

		ck_assert_int_eq(resources.requested.cpu_milli, rows[i].cpu_milli);
		ck_assert_int_eq(resources.requested.memory_bytes, rows[i].memory_bytes);
		ck_assert_int_eq(resources.non_zero[BT_CPU_MILLI], rows[i].non_zero_cpu_milli);
		ck_assert_int_eq(
			resources.non_zero[BT_MEMORY_BYTES], rows[i].non_zero_memory_bytes);
		sum.requested.cpu_milli += resources.requested.cpu_milli;
		sum.requested.memory_bytes += resources.requested.memory_bytes;
		sum.non_zero[BT_CPU_MILLI] += resources.non_zero[BT_CPU_MILLI];
		sum.non_zero[BT_MEMORY_BYTES] += resources.non_zero[BT_MEMORY_BYTES];
	}
	ck_assert_int_eq(sum.requested.cpu_milli, 2300);
	ck_assert_int_eq(sum.requested.memory_bytes, 209716700);
	ck_assert_int_eq(sum.non_zero[BT_CPU_MILLI], 2300);
	ck_assert_int_eq(sum.non_zero[BT_MEMORY_BYTES], 419431900);
}
END_TEST

START_TEST(test_pod_requests__fit_request_ignores_status)
{
	struct bt_resource request =
		bt_pod_fit_request(api_pod(&arena,
					   WITH_STATUS(C("'cpu':'1','memory':'-5','a.b/c':'2'"),
						   STATUS("c", "", "'cpu':'9'"), "")),
			&default_gates, &arena);

	ck_assert_int_eq(request.cpu_milli, 1000);
	ck_assert_int_eq(request.memory_bytes, 0);
	ck_assert_int_eq(*bt_resource_find_scalar(&request, BT_STR("a.b/c")), 2);
}
END_TEST

START_TEST(test_pod_requests__limits)
{
	struct bt_request_options options = {.use_status = true, .use_pod_status = true};
	struct bt_resource_list list = bt_pod_limits(
		api_pod(&arena,
			"{'spec':{'overhead':{'cpu':'1','memory':'1','pods':'1'},'containers':[{'"
			"name':'c','resources':{'limits':"
			"{'cpu':'2','memory':'0'}}},{'name':'d','resources':{'limits':{'cpu':'1'}}}"
			"],'initContainers':[{'name':'i',"
			"'resources':{'limits':{'cpu':'8','example.com/"
			"x':'1'}}}]},'status':{'containerStatuses':[{'name':'c',"
			"'allocatedResources':{'cpu':'50'},'resources':{'limits':{'cpu':'4'}}}]}}"),
		&options, &arena);

	/* Overhead is added only to resources with a limit that is not zero. */
	ck_assert_uint_eq(list.count, 3);
	ck_assert_int_eq(entry(&list, "cpu", true), 9000);
	ck_assert_int_eq(entry(&list, "memory", false), 0);
	ck_assert_int_eq(entry(&list, "example.com/x", false), 1);
}
END_TEST

START_TEST(test_pod_requests__many_names_and_containers)
{
	struct bt_strbuf json = {0};
	struct bt_resource_list list;

	/*
	 * Each of 20000 containers has a different resource name; quadratic work would take
	 * minutes.
	 */
	bt_strbuf_append_c(&json, "{'spec':{'containers':[");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&json,
			"%s{'name':'c%d','resources':{'requests':{'a.b/n%d':'1','cpu':'1m'}}}",
			i == 0 ? "" : ",", i, i * 7919 % 20000);
	}
	bt_strbuf_append_c(&json, "],'initContainers':[");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&json,
			"%s{'name':'i%d','restartPolicy':'Always','resources':{'requests':{'a.b/"
			"n%d':'1'}}}",
			i == 0 ? "" : ",", i, i);
	}
	bt_strbuf_append_c(&json, "]},'status':{'containerStatuses':[");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&json, "%s{'name':'c%d','resources':{'requests':{'cpu':'2m'}}}",
			i == 0 ? "" : ",", i);
	}
	bt_strbuf_append_c(&json, "]}}");
	list = full_requests(bt_strbuf_c(&json), &default_gates);
	ck_assert_uint_eq(list.count, 20001);
	ck_assert_int_eq(entry(&list, "cpu", true), 40000);
	ck_assert_int_eq(entry(&list, "a.b/n12345", false), 2);
	bt_strbuf_finish(&json);
}
END_TEST

BT_TEST_MAIN("pod_requests", test_pod_requests__edge_01b_01_no_requests,
	test_pod_requests__edge_01b_02_overhead_only, test_pod_requests__edge_01b_03_sum,
	test_pod_requests__edge_01b_04_explicit_zero,
	test_pod_requests__edge_01b_05_default_of_init_container,
	test_pod_requests__edge_01b_06_init_and_overhead,
	test_pod_requests__edge_01b_07_sidecar_adds, test_pod_requests__edge_01b_08_sidecars,
	test_pod_requests__edge_01b_09_init_after_sidecars,
	test_pod_requests__edge_01b_10_large_init, test_pod_requests__edge_01b_11_only_in_status,
	test_pod_requests__edge_01b_12_resize_in_progress,
	test_pod_requests__edge_01b_13_infeasible,
	test_pod_requests__edge_01b_14_infeasible_allocated,
	test_pod_requests__edge_01b_15_largest_of_three, test_pod_requests__edge_01b_16_deferred,
	test_pod_requests__edge_01b_17_first_condition_decides,
	test_pod_requests__edge_01b_18_init_container_ignores_status,
	test_pod_requests__edge_01b_19_status_without_resources,
	test_pod_requests__last_status_of_a_name_wins,
	test_pod_requests__edge_01b_20_pod_level_memory,
	test_pod_requests__edge_01b_21_pod_level_replaces,
	test_pod_requests__edge_01b_22_unsupported_at_pod_level,
	test_pod_requests__edge_01b_23_hugepages_at_pod_level,
	test_pod_requests__edge_01b_24_pod_level_cpu_only,
	test_pod_requests__edge_01b_25_pod_level_memory_only,
	test_pod_requests__edge_01b_26_name_present_in_one_container,
	test_pod_requests__edge_01b_27_pod_level_infeasible,
	test_pod_requests__edge_01b_28_dra_claims,
	test_pod_requests__edge_01b_29_overhead_on_pod_level,
	test_pod_requests__edge_01b_30_limits_do_not_count, test_pod_requests__edge_01b_46_overflow,
	test_pod_requests__small_and_big_quantities,
	test_pod_requests__edge_01b_35_pods_of_one_node,
	test_pod_requests__fit_request_ignores_status, test_pod_requests__limits,
	test_pod_requests__many_names_and_containers)
