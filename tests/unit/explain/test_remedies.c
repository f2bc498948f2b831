/* SPDX-License-Identifier: Apache-2.0 */
/** Each kind of remedy changes a copy of the pod or node; the given objects stay unchanged. */
#include "api/resources.h"
#include "test_main.h"
#include "town.h"

#define TERM(key) "{'topologyKey':'" key "'}"
#define TERMS(...) "{'requiredDuringSchedulingIgnoredDuringExecution':[" __VA_ARGS__ "]}"

static const char *const pod_json =
	"{'spec':{'nodeSelector':{'a':'1','b':'2'},'schedulingGates':[{'name':'g'},{'name':'h'}],"
	"'volumes':[{'name':'v'},{'name':'w'}],"
	"'initContainers':[{'restartPolicy':'Always','ports':[{'hostPort':80}]}],"
	"'containers':[{'ports':[{'hostPort':80,'protocol':'TCP'},{'hostPort':80,'protocol':'UDP'},"
	"{'hostPort':81}]}],"
	"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'x','whenUnsatisfiable':"
	"'DoNotSchedule'},{'maxSkew':2,'topologyKey':'y','whenUnsatisfiable':'DoNotSchedule'}],"
	"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
	"'nodeSelectorTerms':[]},'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
	"'preference':{}}]},'podAffinity':" TERMS(TERM("p0") "," TERM("p1") "," TERM(
		"p2")) ",'podAntiAffinity':" TERMS(TERM("q0") "," TERM("q1")) "}}}";

static struct bt_pod apply(struct world *world, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count)
{
	struct bt_pod copy = *pod;
	const bt_remedy_list list = {
		.items = (struct bt_remedy *)(uintptr_t)remedies, .count = count};

	bt_remedies_apply_to_pod(&list, &copy, &world->arena);
	return copy;
}

#define APPLY(world, pod, ...) \
	apply((world), (pod), (const struct bt_remedy[]){__VA_ARGS__}, \
		sizeof((const struct bt_remedy[]){__VA_ARGS__}) / sizeof(struct bt_remedy))

START_TEST(test_remedies__pod)
{
	struct world world;
	const struct bt_pod *pod;
	struct bt_pod now;

	world_init(&world, "{}", NULL, NULL, 0);
	pod = world_pod(&world, pod_json);
	now = APPLY(&world, pod,
		{.kind = BT_REMEDY_TOLERATE, .key = BT_STR("k"), .effect = BT_STR("NoSchedule")},
		{.kind = BT_REMEDY_TOLERATE,
			.key = BT_STR("k"),
			.value = BT_STR("v"),
			.effect = BT_STR("NoExecute")});
	ck_assert_uint_eq(now.spec.tolerations.count, 2);
	ck_assert(bt_str_equal_c(now.spec.tolerations.items[0].operator_, "Exists"));
	ck_assert(bt_str_equal_c(now.spec.tolerations.items[1].operator_, "Equal"));
	ck_assert(bt_str_equal_c(now.spec.tolerations.items[1].value, "v"));
	now = APPLY(&world, pod, {.kind = BT_REMEDY_DROP_NODE_SELECTOR, .key = BT_STR("a")},
		{.kind = BT_REMEDY_REMOVE_GATE, .key = BT_STR("g")},
		{.kind = BT_REMEDY_DROP_VOLUME, .key = BT_STR("w")},
		{.kind = BT_REMEDY_SET_SCHEDULER_NAME, .value = BT_STR("s")});
	ck_assert_uint_eq(now.spec.node_selector.count, 1);
	ck_assert(bt_str_equal_c(now.spec.node_selector.items[0].key, "b"));
	ck_assert_uint_eq(now.spec.scheduling_gates.count, 1);
	ck_assert(bt_str_equal_c(now.spec.scheduling_gates.items[0].name, "h"));
	ck_assert_uint_eq(now.spec.volumes.count, 1);
	ck_assert(bt_str_equal_c(now.spec.volumes.items[0].name, "v"));
	ck_assert(bt_str_equal_c(now.spec.scheduler_name, "s"));
	now = APPLY(&world, pod,
		{.kind = BT_REMEDY_DROP_HOST_PORT, .amount = 80, .value = BT_STR("TCP")});
	ck_assert_uint_eq(now.spec.containers.items[0].ports.count, 2);
	ck_assert(bt_str_equal_c(now.spec.containers.items[0].ports.items[0].protocol, "UDP"));
	ck_assert_uint_eq(now.spec.init_containers.items[0].ports.count, 0);
	now = APPLY(&world, pod, {.kind = BT_REMEDY_RAISE_MAX_SKEW, .index = 1, .amount = 7},
		{.kind = BT_REMEDY_ALLOW_SKEW, .index = 0},
		{.kind = BT_REMEDY_ALLOW_SKEW, .index = 9});
	ck_assert_int_eq(now.spec.topology_spread_constraints.items[1].max_skew, 7);
	ck_assert(bt_str_equal_c(now.spec.topology_spread_constraints.items[0].when_unsatisfiable,
		"ScheduleAnyway"));
	/* The given pod is unchanged. */
	ck_assert_uint_eq(pod->spec.tolerations.count, 0);
	ck_assert_uint_eq(pod->spec.node_selector.count, 2);
	ck_assert(bt_str_equal_c(pod->spec.scheduling_gates.items[0].name, "g"));
	ck_assert_uint_eq(pod->spec.containers.items[0].ports.count, 3);
	ck_assert_int_eq(pod->spec.topology_spread_constraints.items[1].max_skew, 2);
	world_finish(&world);
}
END_TEST

START_TEST(test_remedies__lower_request)
{
	const struct bt_str memory = BT_STR("memory");
	struct world world;
	const struct bt_pod *pod;
	struct bt_pod now;

	world_init(&world, "{}", NULL, NULL, 0);
	pod = world_pod(&world,
		"{'spec':{'containers':[{'resources':{'requests':{'cpu':'1500m','memory':'1Ki',"
		"'example.com/gpu':'2'},'limits':{'cpu':'2'}}}]}}");
	now = APPLY(&world, pod,
		{.kind = BT_REMEDY_LOWER_REQUEST, .resource = BT_STR("cpu"), .amount = 250},
		{.kind = BT_REMEDY_LOWER_REQUEST, .resource = memory, .amount = 1023},
		{.kind = BT_REMEDY_LOWER_REQUEST,
			.resource = BT_STR("example.com/gpu"),
			.amount = 1},
		{.kind = BT_REMEDY_LOWER_REQUEST, .resource = BT_STR("none"), .amount = 1});
	ck_assert_int_eq(bt_remedy_requested_of(&now, BT_STR("cpu")), 1250);
	ck_assert_int_eq(bt_remedy_requested_of(&now, memory), 1);
	ck_assert_int_eq(bt_quantity_value(bt_resource_list_find(
				 &now.spec.containers.items[0].resources.requests,
				 BT_STR("example.com/gpu"))),
		2);
	ck_assert_int_eq(bt_quantity_value(bt_resource_list_find(
				 &now.spec.containers.items[0].resources.limits, BT_STR("cpu"))),
		2);
	/* The request is lowered, not removed. */
	now = APPLY(
		&world, pod, {.kind = BT_REMEDY_LOWER_REQUEST, .resource = memory, .amount = 1024});
	ck_assert_int_eq(bt_remedy_requested_of(&now, memory), 1024);
	ck_assert_int_eq(bt_remedy_requested_of(pod, BT_STR("cpu")), 1500);
	ck_assert_int_eq(bt_remedy_requested_of(pod, memory), 1024);
	world_finish(&world);
}
END_TEST

START_TEST(test_remedies__indices_are_those_of_the_pod_as_given)
{
	struct world world;
	const struct bt_pod *pod;
	struct bt_pod now;

	world_init(&world, "{}", NULL, NULL, 0);
	pod = world_pod(&world, pod_json);
	now = APPLY(&world, pod, {.kind = BT_REMEDY_DROP_POD_AFFINITY, .index = 0},
		{.kind = BT_REMEDY_DROP_POD_AFFINITY, .index = 2},
		{.kind = BT_REMEDY_DROP_POD_ANTI_AFFINITY, .index = 1},
		{.kind = BT_REMEDY_DROP_NODE_AFFINITY});
	ck_assert_uint_eq(now.spec.affinity->pod_affinity->required.count, 1);
	ck_assert(bt_str_equal_c(
		now.spec.affinity->pod_affinity->required.items[0].topology_key, "p1"));
	ck_assert_uint_eq(now.spec.affinity->pod_anti_affinity->required.count, 1);
	ck_assert(bt_str_equal_c(
		now.spec.affinity->pod_anti_affinity->required.items[0].topology_key, "q0"));
	ck_assert_ptr_null(now.spec.affinity->node_affinity->required);
	ck_assert_uint_eq(now.spec.affinity->node_affinity->preferred.count, 1);
	ck_assert_ptr_nonnull(pod->spec.affinity->node_affinity->required);
	ck_assert_uint_eq(pod->spec.affinity->pod_affinity->required.count, 3);
	world_finish(&world);
}
END_TEST

static int64_t milli_of(const struct bt_node *node, const char *resource)
{
	const struct bt_quantity *found =
		bt_resource_list_find(&node->status.allocatable, bt_str_from(resource));

	return found != NULL ? bt_quantity_milli(found) : -1;
}

START_TEST(test_remedies__node)
{
	const struct bt_str name = BT_STR("n1");
	const struct bt_remedy remedies[] = {
		{.kind = BT_REMEDY_FREE_RESOURCE,
			.node = name,
			.resource = BT_STR("cpu"),
			.amount = 250},
		{.kind = BT_REMEDY_FREE_RESOURCE,
			.node = name,
			.resource = BT_STR("memory"),
			.amount = 1024},
		{.kind = BT_REMEDY_FREE_RESOURCE,
			.node = name,
			.resource = BT_STR("example.com/gpu"),
			.amount = 2},
		{.kind = BT_REMEDY_FREE_RESOURCE,
			.node = BT_STR("n2"),
			.resource = BT_STR("cpu"),
			.amount = 9000},
		{.kind = BT_REMEDY_UNCORDON, .node = name},
		{.kind = BT_REMEDY_SET_LABEL,
			.node = name,
			.key = BT_STR("b"),
			.value = BT_STR("9")},
		{.kind = BT_REMEDY_SET_LABEL, .node = name, .key = BT_STR("aa")},
		{.kind = BT_REMEDY_REMOVE_LABEL, .node = name, .key = BT_STR("c")},
		{.kind = BT_REMEDY_REMOVE_LABEL, .node = name, .key = BT_STR("none")},
	};
	struct world world;
	const struct bt_node *node;
	struct bt_node now;

	world_init(&world, "{}", NULL, NULL, 0);
	node = world_node(&world,
		"{'metadata':{'name':'n1','labels':{'b':'1','c':'2'}},'spec':{'unschedulable':true,"
		"'taints':[{'key':'node.kubernetes.io/unschedulable','effect':'NoSchedule'},{'key':"
		"'x','effect':'NoSchedule'}]},'status':{'allocatable':{'cpu':'1500m','memory':'1Ki'"
		"}}}");
	now = *node;
	const bt_remedy_list list = {.items = (struct bt_remedy *)(uintptr_t)remedies,
		.count = BT_ARRAY_LENGTH(remedies)};
	bt_remedies_apply_to_node(&list, &now, &world.arena);
	ck_assert_int_eq(milli_of(&now, "cpu"), 1750);
	ck_assert_int_eq(milli_of(&now, "memory"), 2048000);
	ck_assert_int_eq(milli_of(&now, "example.com/gpu"), 2000);
	ck_assert(!now.spec.unschedulable);
	ck_assert_uint_eq(now.spec.taints.count, 1);
	ck_assert(bt_str_equal_c(now.spec.taints.items[0].key, "x"));
	ck_assert_uint_eq(now.metadata.labels.count, 2);
	ck_assert(bt_str_equal_c(*bt_str_map_find(&now.metadata.labels, BT_STR("b")), "9"));
	ck_assert(bt_str_equal_c(*bt_str_map_find(&now.metadata.labels, BT_STR("aa")), ""));
	ck_assert_int_eq(milli_of(node, "cpu"), 1500);
	ck_assert_int_eq(milli_of(node, "example.com/gpu"), -1);
	ck_assert(node->spec.unschedulable);
	ck_assert_uint_eq(node->spec.taints.count, 2);
	ck_assert(bt_str_equal_c(*bt_str_map_find(&node->metadata.labels, BT_STR("b")), "1"));
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("remedies", test_remedies__pod, test_remedies__lower_request,
	test_remedies__indices_are_those_of_the_pod_as_given, test_remedies__node)
