/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random clusters, pods and changes with verification: every decision is computed again node by
 * node and compared. BERTH_TEST_LONG=<number> multiplies the seeds; BERTH_TEST_SEED=<number> runs
 * only that seed.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "sched_world.h"
#include "test_main.h"
#include "validate/validate.h"

#define STEPS 300
#define PODS_MAX 400

#define NODES_MAX 150

enum {
	PART_ZONE,
	PART_DISK,
	PART_CORDON,
	PART_TAINTS,
	PART_IMAGES,
	PART_FEATURES,
	PART_PODS,
	PART_CPU,
	PART_MEMORY,
	PART_DEVICES,
	PART__COUNT
};

struct placed_pod {
	struct bt_pod object; /* with nodeName */
	bool assumed;
};

struct random_run {
	struct bt_prng prng;
	struct world world;
	struct script scripts[3];
	struct placed_pod pods[PODS_MAX];
	uint32_t pod_count;
	const char *node_jsons[NODES_MAX]; /* by number; NULL: node does not exist */
	const char *node_parts[NODES_MAX][PART__COUNT];
	uint32_t node_limit;
	const char *recurring[6]; /* pods whose shapes come repeatedly */
	uint32_t scheduled;
	uint32_t rejected;
};

static uint32_t below(struct random_run *run, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&run->prng, bound);
}

static const char *pick(struct random_run *run, const char *const *choices, size_t count)
{
	return choices[below(run, (uint32_t)count)];
}

#define PICK(run, choices) pick((run), (choices), BT_ARRAY_LENGTH(choices))

/* --- nodes --- */

static const char *const zones[] = {"", "'topology.kubernetes.io/zone':'a',",
	"'topology.kubernetes.io/zone':'b',", "'topology.kubernetes.io/zone':'c',"};
static const char *const disks[] = {"", "'disk':'ssd',", "'disk':'5',", "'disk':'10',"};
static const char *const taints[] = {"", "", "", "{'key':'a','effect':'NoSchedule'}",
	"{'key':'a','value':'1','effect':'NoExecute'}", "{'key':'b','effect':'PreferNoSchedule'}",
	"{'key':'b','effect':'PreferNoSchedule'},{'key':'a','effect':'PreferNoSchedule'}"};
static const char *const images[] = {"", "{'names':['x:latest'],'sizeBytes':900000000}",
	"{'names':['y:1','x:latest'],'sizeBytes':90000000}", "{'names':['y:1'],'sizeBytes':70}"};
static const char *const node_amounts[] = {"1", "2", "3500m", "4", "8"};
static const char *const node_memory[] = {"1Gi", "2Gi", "3000M", "16Gi"};
static const char *const wide_memory[] = {"32Ti", "9223372036854775807", "-5", "16Ti"};

static const char *random_part(struct random_run *run, int part)
{
	static const char *const cordons[] = {"false", "false", "false", "false", "true"};
	static const char *const features[] = {"", "", "'UserNamespacesHostNetworkSupport'"};
	static const char *const counts[] = {"0", "2", "5", "10", "30"};

	switch (part) {
	case PART_ZONE:
		return PICK(run, zones);
	case PART_DISK:
		return PICK(run, disks);
	case PART_CORDON:
		return PICK(run, cordons);
	case PART_TAINTS:
		return PICK(run, taints);
	case PART_IMAGES:
		return PICK(run, images);
	case PART_FEATURES:
		return PICK(run, features);
	case PART_CPU:
		return PICK(run, node_amounts);
	case PART_MEMORY:
		return below(run, 400) == 0 ? PICK(run, wide_memory) : PICK(run, node_memory);
	default:
		return PICK(run, counts);
	}
}

/*
 * Returns the JSON of a new node, or of the node with one changed part. Only one part changes,
 * because a second change could repair a stale cache.
 */
static const char *random_node(struct random_run *run, uint32_t number)
{
	const char **parts = run->node_parts[number];
	uint32_t changed = below(run, PART__COUNT);

	for (int i = 0; i < PART__COUNT; i++) {
		if (run->node_jsons[number] == NULL || (uint32_t)i == changed) {
			parts[i] = random_part(run, i);
		}
	}
	return bt_arena_printf(&run->world.arena,
		"{'metadata':{'name':'n%u','labels':{%s%s'kubernetes.io/hostname':'n%u'}},"
		"'spec':{'unschedulable':%s,'taints':[%s]},'status':{'images':[%s],"
		"'declaredFeatures':[%s],'allocatable':{'pods':'%s','cpu':'%s','memory':'%s',"
		"'ephemeral-storage':'10Gi','example.com/a':'%s'}}}",
		number, parts[PART_ZONE], parts[PART_DISK], number, parts[PART_CORDON],
		parts[PART_TAINTS], parts[PART_IMAGES], parts[PART_FEATURES], parts[PART_PODS],
		parts[PART_CPU], parts[PART_MEMORY], parts[PART_DEVICES])
		.data;
}

static void remove_node(struct random_run *run, uint32_t number)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_node *node = world_node(&run->world, run->node_jsons[number]);

	ck_assert_int_eq(bt_state_remove_node(run->world.engine->state, node, &err), 0);
	run->node_jsons[number] = NULL;
}

static void change_node(struct random_run *run)
{
	uint32_t number = below(run, run->node_limit);
	const char *old_json = run->node_jsons[number];

	if (old_json != NULL && below(run, 6) == 0) {
		remove_node(run, number);
		return;
	}
	run->node_jsons[number] = random_node(run, number);
	if (old_json == NULL) {
		world_add_node(&run->world, run->node_jsons[number]);
	} else {
		bt_state_update_node(run->world.engine->state, world_node(&run->world, old_json),
			world_node(&run->world, run->node_jsons[number]));
	}
}

/* --- pods --- */

#define REQUIRED(terms) \
	"'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':" \
	"[" terms "]}}"
#define PREFERRED(terms) \
	"'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define ON(more) "{'matchExpressions':[" more "]}"
#define FIELD(more) "{'matchFields':[" more "]}"
#define POD_TERM(app, key) \
	"{'labelSelector':{'matchLabels':{'app':'" app "'}},'topologyKey':'" key "'}"

static const char *const node_affinities[] = {"", "", "",
	REQUIRED(ON("{'key':'disk','operator':'In','values':['ssd','5']}")),
	REQUIRED(ON("{'key':'disk','operator':'Gt','values':['4']}") "," FIELD(
		"{'key':'metadata.name','operator':'In','values':['n3']}")),
	REQUIRED(FIELD("{'key':'metadata.name','operator':'In','values':['n4']}")),
	PREFERRED("{'weight':7,'preference':" ON("{'key':'disk','operator':'DoesNotExist'}") "}"),
	PREFERRED("{'weight':2,'preference':" ON(
		"{'key':'disk','operator':'Exists'}") "},"
						      "{'weight':50,'preference':" ON(
							      "{'key':'topology.kubernetes."
							      "io/zone',"
							      "'operator':'In','values':['"
							      "a']}") "}")};
static const char *const pod_affinities[] = {"", "", "", "",
	"'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" POD_TERM(
		"a", "kubernetes.io/hostname") "]}",
	"'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" POD_TERM(
		"b", "topology.kubernetes.io/zone") "]}",
	"'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':5,"
	"'podAffinityTerm':" POD_TERM("a", "topology.kubernetes.io/zone") "}]}"};
static const char *const spreads[] = {"", "", "",
	"{'maxSkew':1,'topologyKey':'topology.kubernetes.io/zone','whenUnsatisfiable':"
	"'DoNotSchedule','labelSelector':{'matchLabels':{'app':'a'}}}",
	"{'maxSkew':2,'topologyKey':'kubernetes.io/hostname','whenUnsatisfiable':"
	"'ScheduleAnyway','labelSelector':{'matchLabels':{'app':'b'}}}"};
static const char *const tolerations[] = {"", "", "{'operator':'Exists'}",
	"{'key':'a','operator':'Exists'}",
	"{'key':'b','effect':'PreferNoSchedule','operator':'Exists'}"};
static const char *const ports[] = {"", "", "", "{'hostPort':80}",
	"{'hostPort':80,'hostIP':'10.0.0.1'}", "{'hostPort':80,'protocol':'UDP'},{'hostPort':81}"};
static const char *const requests[] = {"", "'cpu':'100m','memory':'64Mi'", "'cpu':'1'",
	"'cpu':'700m','memory':'1Gi','ephemeral-storage':'3Gi'", "'memory':'1500M'",
	"'cpu':'250m','example.com/a':'1'", "'cpu':'100','example.com/b':'1'",
	"'memory':'17592186044416'"};
static const char *const selectors[] = {"", "", "", "", "'nodeSelector':{'disk':'ssd'},"};
static const char *const owners[] = {"a", "b", "c"};

static const char *random_pod(struct random_run *run, const char *node)
{
	const char *node_affinity = PICK(run, node_affinities);
	const char *pod_affinity = PICK(run, pod_affinities);
	bool named = node[0] == '\0' && below(run, 60) == 0;

	return bt_arena_printf(&run->world.arena,
		"{'metadata':{'labels':{'app':'%s','pod-index':'%u'}},'spec':{'nodeName':'%s',%s"
		"'priority':%u,'hostNetwork':true,%s'tolerations':[%s],'affinity':{%s%s%s},"
		"'topologySpreadConstraints':[%s],'containers':[{'name':'c','image':'%s','ports':"
		"[%s],'resources':{'requests':{%s}}}]},'status':{%s}}",
		PICK(run, owners), below(run, 3), named ? "n2" : node, PICK(run, selectors),
		below(run, 3) * 10, below(run, 6) == 0 ? "'hostUsers':false," : "",
		PICK(run, tolerations), node_affinity,
		node_affinity[0] != '\0' && pod_affinity[0] != '\0' ? "," : "", pod_affinity,
		PICK(run, spreads), below(run, 2) == 0 ? "x" : "y:1", PICK(run, ports),
		PICK(run, requests),
		node[0] == '\0' && below(run, 20) == 0 ? "'nominatedNodeName':'n1'" : "")
		.data;
}

static const struct bt_pod_info *random_pending(struct random_run *run)
{
	uint32_t which = below(run, 8);

	return world_pending(&run->world,
		which < BT_ARRAY_LENGTH(run->recurring) ? run->recurring[which]
							: random_pod(run, ""));
}

static void keep_pod(
	struct random_run *run, const struct bt_pod *object, struct bt_str node, bool assumed)
{
	struct placed_pod *pod = &run->pods[run->pod_count++];

	*pod = (struct placed_pod){.object = *object, .assumed = assumed};
	pod->object.spec.node_name = bt_arena_str(&run->world.arena, node);
}

static void add_assigned_pod(struct random_run *run)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const char *node =
		bt_arena_printf(&run->world.arena, "n%u", below(run, run->node_limit)).data;
	struct bt_pod *pod;

	if (run->pod_count == PODS_MAX) {
		return;
	}
	pod = world_pod(&run->world, random_pod(run, node));
	ck_assert_int_eq(bt_state_add_pod(run->world.engine->state, pod, &err), 0);
	keep_pod(run, pod, bt_str_from(node), false);
}

/* Confirms an assumed pod, or removes a pod. */
static void change_pod(struct random_run *run)
{
	struct bt_state *state = run->world.engine->state;
	struct berth_error err = BERTH_ERROR_INIT;
	struct placed_pod *pod;

	if (run->pod_count == 0) {
		return;
	}
	pod = &run->pods[below(run, run->pod_count)];
	if (pod->assumed && below(run, 2) == 0) {
		ck_assert_int_eq(bt_state_add_pod(state, &pod->object, &err), 0);
		pod->assumed = false;
		return;
	}
	if (pod->assumed) {
		ck_assert_int_eq(bt_state_forget_pod(state, &pod->object, &err), 0);
	} else {
		ck_assert_int_eq(bt_state_remove_pod(state, &pod->object, &err), 0);
	}
	*pod = run->pods[--run->pod_count];
}

/* --- cycles --- */

static void nominate(struct random_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result)
{
	struct bt_nominator *nominator = &run->world.engine->nominator;
	struct bt_str node = result->nomination.nominated_node_name;

	if (result->nomination.present && node.length != 0) {
		bt_nominator_add(nominator, pod, node, true);
	} else if (below(run, 8) == 0) {
		bt_nominator_add(nominator, pod,
			bt_arena_printf(&run->world.arena, "n%u", below(run, run->node_limit)),
			true);
	}
}

static void schedule(struct random_run *run)
{
	const struct bt_pod_info *pod = random_pending(run);
	struct bt_schedule_result result;

	bt_engine_schedule(run->world.engine, run->world.framework, pod, NULL, &result);
	if (result.outcome != BT_OUTCOME_SCHEDULED) {
		run->rejected++;
		nominate(run, pod, &result);
		return;
	}
	run->scheduled++;
	if (run->pod_count < PODS_MAX && below(run, 5) != 0 &&
		bt_engine_place(run->world.engine, pod, &result)) {
		keep_pod(run, pod->object,
			bt_node_table_name(&run->world.engine->state->nodes, result.slot), true);
	}
}

static void evaluate(struct random_run *run)
{
	struct bt_evaluation evaluation;

	bt_engine_evaluate(
		run->world.engine, run->world.framework, random_pending(run), &evaluation);
}

static void drop_nomination(struct random_run *run)
{
	const struct bt_pod_info *pod;

	if (run->world.pods.count != 0) {
		pod = run->world.pods.items[below(run, run->world.pods.count)];
		bt_nominator_delete(&run->world.engine->nominator, pod->uid);
	}
}

static void step(struct random_run *run)
{
	switch (below(run, 16)) {
	case 0:
	case 1:
		change_node(run);
		break;
	case 2:
		add_assigned_pod(run);
		break;
	case 3:
	case 4:
		change_pod(run);
		break;
	case 5:
		evaluate(run);
		break;
	case 6:
		drop_nomination(run);
		break;
	default:
		schedule(run);
		break;
	}
}

/* --- runs --- */

static uint64_t mix(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	uint64_t hash = bt_str_hash(bt_node_table_name(&state->nodes, slot));

	return bt_hash_u64(hash, script->seed + (uint64_t)state->nodes.pod_count[slot]);
}

static uint32_t verdict_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	return mix(script, state, slot) % 16 == 0 ? 1 : 0;
}

static int64_t score_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	return (int64_t)(mix(script, state, slot) % 101);
}

/* Makes a profile of the default plugins, sometimes with scripts between them. */
static void make_profile(struct random_run *run, struct bt_strbuf *out)
{
	static const char *const names[] = {"NodeUnschedulable", "NodeName", "TaintToleration:3",
		"NodeAffinity:2", "NodePorts", "NodeResourcesFit:1", "VolumeRestrictions",
		"NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread:2",
		"InterPodAffinity:2", "DefaultPreemption", "NodeResourcesBalancedAllocation:1",
		"ImageLocality:1", "NodeDeclaredFeatures"};
	static const char *const script_names[] = {"X", "Y", "Z"};
	uint32_t script_count = below(run, 2) == 0 ? 3 : 0;
	uint32_t next = 0;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		while (next < script_count && below(run, 8) == 0) {
			bt_strbuf_printf(out, "%s:%u,", script_names[next++], 1 + below(run, 3));
		}
		/*
		 * Leaves out plugins at random: a plugin that declares a read can hide that another
		 * plugin fails to declare the read.
		 */
		if (below(run, 4) != 0) {
			bt_strbuf_printf(out, "%s,", names[i]);
		}
	}
	bt_strbuf_append_c(out, "SchedulingGates");
	for (uint32_t i = 0; i < 3; i++) {
		struct script *script = &run->scripts[i];
		enum script_form form = (enum script_form)below(run, 3);

		*script = script_make(
			script_names[i], FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SCORE), form);
		script->seed = bt_prng_next(&run->prng);
		script->verdict_of = verdict_of;
		script->score_of = score_of;
	}
}

static void init(struct random_run *run, uint64_t seed)
{
	static const int32_t percentages[] = {-1, -1, 0, 60};
	struct bt_engine_options options = {.verify = true, .seed = seed};
	struct bt_strbuf profile = {0};
	bool big;

	*run = (struct random_run){0};
	bt_prng_init(&run->prng, seed);
	big = below(run, 4) == 0;
	run->node_limit = big ? NODES_MAX : 3 + below(run, 30);
	options.tie_policy = (enum bt_tie_policy)(seed % 3);
	options.percentage_of_nodes_to_score = big ? percentages[below(run, 4)] : -1;
	options.plan_bytes_max = below(run, 3) == 0 ? 1 : 0;
	make_profile(run, &profile);
	world_init(&run->world, bt_strbuf_c(&profile), &options,
		(struct script *[]){&run->scripts[0], &run->scripts[1], &run->scripts[2]}, 3);
	bt_strbuf_finish(&profile);
	for (uint32_t i = 0; i < run->node_limit * 2 / 3; i++) {
		run->node_jsons[i] = random_node(run, i);
		world_add_node(&run->world, run->node_jsons[i]);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(run->recurring); i++) {
		run->recurring[i] = random_pod(run, "");
	}
}

static void run_seed(struct random_run *run, uint64_t seed, int steps)
{
	struct bt_strbuf reason = {0};

	(void)printf("seed %" PRIu64 ":", seed);
	(void)fflush(stdout);
	init(run, seed);
	for (int i = 0; i < steps; i++) {
		step(run);
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(run->world.engine->state, NULL), 0);
	ck_assert_msg(bt_state_validate(run->world.engine->state, &reason), "seed %" PRIu64 ": %s",
		seed, bt_strbuf_c(&reason));
	(void)printf(" %u placed, %u rejected\n", run->scheduled, run->rejected);
	bt_strbuf_finish(&reason);
	world_finish(&run->world);
}

static uint64_t number_from_environment(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

START_TEST(test_engine_random__verified)
{
	struct random_run *run = BT_NEW(struct random_run);
	uint64_t only = number_from_environment("BERTH_TEST_SEED");
	uint64_t factor = number_from_environment("BERTH_TEST_LONG");
	uint64_t count = 100 * (factor != 0 ? factor : 1);

	for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : count); seed++) {
		run_seed(run, seed, STEPS);
	}
	bt_free(run);
}
END_TEST

BT_TEST_MAIN("engine_random", test_engine_random__verified)
