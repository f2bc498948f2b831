/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decisions do not call malloc: once the tables, plans and arenas of a workload are warm, choosing
 * a node allocates nothing, whatever the pod requests. Only a pod that fits nowhere needs buffers
 * for its message. The program is linked with --wrap to count allocations.
 */
#include <stdlib.h>

#include "api/object.h"
#include "sched_world.h"
#include "test_main.h"

#define NODES 60
#define WARM 200
#define MEASURED 200
/**
 * Allowed allocations: indexes over pods double at times while pods are placed, and a new kind of
 * node adds a cell.
 */
#define GROWTH_MAX 16
/** Buffers for "0/60 nodes are available: ..." and its preemption part, per attempt. */
#define MESSAGE_BUFFERS_MAX 20

/**
 * Upper bound of the bytes per node of the first two decisions about a shape. The measured value is
 * 76, for the plan's scratch and columns, the cells, and three lists of nodes. One more label
 * column or list by slot adds 20 or more.
 */
#define FIRST_BYTES_MAX 88

static unsigned long allocations;
static size_t allocated_bytes;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	allocated_bytes += size;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	allocated_bytes += count * size;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	allocations++;
	allocated_bytes += size;
	return __real_realloc(memory, size);
}

static void put_object(struct world *world, const char *json)
{
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(bt_object_decode(world_json(&world->arena, json), &object, &err) == 0, "%s",
		berth_error_message(&err));
	bt_object_store_put(&world->engine->state->objects, object);
}

/** Without verification, because the second computation would allocate memory. */
static const struct bt_engine_options options = {.percentage_of_nodes_to_score = -1};

static void add_nodes(struct world *world, int count)
{
	for (int i = 0; i < count; i++) {
		world_add_node(world,
			bt_arena_printf(&world->arena,
				"{'metadata':{'name':'n%d','labels':{'kubernetes.io/"
				"hostname':'n%d',"
				"'topology.kubernetes.io/zone':'z%d','disk':'%s'}},'status':{"
				"'allocatable':{'cpu':'64','memory':'256Gi','pods':'1000'}}}",
				i, i, i % 3, i % 2 == 0 ? "ssd" : "hdd")
				.data);
	}
}

static void init(struct world *world)
{
	world_init(world, "{}", &options, NULL, 0);
	add_nodes(world, NODES);
	put_object(world,
		"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'w'},"
		"'provisioner':'p','volumeBindingMode':'WaitForFirstConsumer'}");
	put_object(world,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv'},'spec':{"
		"'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteMany'],'storageClassName':"
		"'w','claimRef':{'namespace':'default','name':'c','uid':'uc'},'nodeAffinity':{"
		"'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'disk','operator':"
		"'In','values':['ssd']}]}]}}}}");
	put_object(world,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'default','uid':'uc','annotations':{'pv.kubernetes.io/bind-completed'"
		":'yes'}},'spec':{'volumeName':'pv','storageClassName':'w','accessModes':["
		"'ReadWriteMany'],'resources':{'requests':{'storage':'1Gi'}}}}");
}

/**
 * Counts the allocations of the decisions about MEASURED pods of one kind; a pod that fits is
 * placed afterwards.
 */
static unsigned long measure(const char *spec, bool fits)
{
	static struct world world;
	unsigned long counted = 0;

	init(&world);
	for (int i = 0; i < WARM + MEASURED; i++) {
		const struct bt_pod_info *pod = world_pending(&world, spec);
		struct bt_schedule_result result;
		unsigned long before = allocations;

		bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
		if (i >= WARM) {
			counted += allocations - before;
		}
		if (fits) {
			ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
			ck_assert(bt_engine_place(world.engine, pod, &result));
		} else {
			ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		}
	}
	world_finish(&world);
	return counted;
}

#define POD(spec) \
	"{'metadata':{'labels':{'app':'a'}},'spec':{'containers':[{'name':'c','image':'i'," \
	"'resources':{'requests':{'cpu':'10m','memory':'16Mi'}}}]" spec "}}"
#define SELECTOR "'labelSelector':{'matchLabels':{'app':'a'}}"

static const struct {
	const char *name;
	const char *pod;
	bool fits;
} kinds[] = {
	{"plain", POD(""), true},
	{"node affinity",
		POD(",'nodeSelector':{'disk':'ssd'},'affinity':{'nodeAffinity':{"
		    "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':3,'preference':{"
		    "'matchExpressions':[{'key':'topology.kubernetes.io/zone','operator':'In',"
		    "'values':['z1']}]}}]}}"),
		true},
	{"affinity",
		POD(",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
		    "{'topologyKey':'topology.kubernetes.io/zone'," SELECTOR "}]}}"),
		true},
	{"anti-affinity",
		POD(",'affinity':{'podAntiAffinity':{"
		    "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
		    "'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'b'}}}]}}"),
		true},
	{"preferred affinity",
		POD(",'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':"
		    "[{'weight':5,'podAffinityTerm':{'topologyKey':'kubernetes.io/"
		    "hostname'," SELECTOR "}}]}}"),
		true},
	{"spread",
		POD(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':"
		    "'topology.kubernetes.io/zone','whenUnsatisfiable':'DoNotSchedule'," SELECTOR
		    "},{'maxSkew':5,'topologyKey':'kubernetes.io/hostname','whenUnsatisfiable':"
		    "'ScheduleAnyway'," SELECTOR "}]"),
		true},
	{"volume", POD(",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"),
		true},
	{"nowhere", POD(",'nodeSelector':{'disk':'tape'}"), false},
};

START_TEST(test_allocations__none_in_a_decision)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		unsigned long count = measure(kinds[i].pod, kinds[i].fits);
		unsigned long most = kinds[i].fits ? GROWTH_MAX : MESSAGE_BUFFERS_MAX * MEASURED;
		ck_assert_msg(count <= most, "%s: %lu allocations in %d decisions", kinds[i].name,
			count, MEASURED);
	}
}
END_TEST

/** The counter works: a pod of a new shape allocates a plan. */
START_TEST(test_allocations__are_seen)
{
	static struct world world;

	init(&world);
	const struct bt_pod_info *pod = world_pending(&world, kinds[0].pod);
	struct bt_schedule_result result;
	unsigned long before = allocations;
	bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
	ck_assert_uint_gt(allocations, before);
	world_finish(&world);
}
END_TEST

/** Returns the bytes that the first two decisions allocate in a cluster of this size. */
static size_t first_bytes(int node_count)
{
	static struct world world;
	size_t before = 0;

	world_init(&world, "{}", &options, NULL, 0);
	add_nodes(&world, node_count);
	for (int i = 0; i < 2; i++) {
		const struct bt_pod_info *pod = world_pending(&world, kinds[0].pod);
		struct bt_schedule_result result;

		before = i == 0 ? allocated_bytes : before;
		bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert(bt_engine_place(world.engine, pod, &result));
	}
	size_t bytes = allocated_bytes - before;
	ck_assert_uint_eq(world.engine->state->nodes.label_columns.count, 0);
	world_finish(&world);
	return bytes;
}

/**
 * In a large cluster the first decision touches all new memory, so its time grows with these bytes.
 */
START_TEST(test_allocations__first_decisions_take_little_a_node)
{
	const int small = 1024;
	size_t bytes = first_bytes(2 * small) - first_bytes(small);

	ck_assert_msg(bytes <= (size_t)small * FIRST_BYTES_MAX, "%lu bytes a node",
		(unsigned long)bytes / (unsigned long)small);
}
END_TEST

BT_TEST_MAIN("allocations", test_allocations__none_in_a_decision, test_allocations__are_seen,
	test_allocations__first_decisions_take_little_a_node)
