/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs one random history on several engines: the way in which a decision is made must not change
 * the decision. One engine has verified cells, one searches the list node by node, one has little
 * memory for plans and computes its columns in small parts. All results of a cycle are compared:
 * the node, the score, the counts, the message, each node's status and the place of the status in
 * the list, the rotation, the metrics. BERTH_TEST_LONG=<number> multiplies the seeds;
 * BERTH_TEST_SEED=<number> runs only that seed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "base/workers.h"
#include "framework/node_statuses.h"
#include "framework/scheduler_metrics.h"
#include "sched/plan.h"
#include "sched_world.h"
#include "test_main.h"

enum {
	SEEDS = BT_TEST_SEEDS(60),
	STEPS = 140,
	NODES_MAX = 140,
	PODS_MAX = 300,
	RECURRING = 7,
	CLAIMS = 12
};
enum { CELLS, LIST, SMALL, ENGINES };

struct placed_pod {
	const char *json;
	uint32_t number; /* pods with the same number have the same name and uid */
	struct bt_str node;
	bool assumed;
};

struct history {
	struct bt_prng prng;
	struct bt_arena arena;
	struct world worlds[ENGINES];
	struct bt_metrics *metrics[ENGINES];
	struct bt_scheduler_metrics *counts[ENGINES];
	const char *nodes[NODES_MAX];
	uint32_t node_limit;
	uint32_t profile_count;
	struct placed_pod pods[PODS_MAX];
	uint32_t pod_count;
	uint32_t pod_number;
	uint32_t version; /* of the last claim or slice */
	bool has_devices;
	const char *recurring[RECURRING];
	bool nominates;
	/*
	 * A filter has failed with an error, which ends the search. Nodes that were evaluated
	 * before differ from way to way, so the metrics differ, too.
	 */
	bool has_cut_search;
	uint32_t scheduled;
	uint32_t rejected;
	uint32_t by_groups;
	uint32_t by_cells;
	uint32_t with_claims; /* scheduled pods with claims */
};

static uint32_t below(struct history *history, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&history->prng, bound);
}

#define PICK(history, choices) (choices)[below((history), BT_ARRAY_LENGTH(choices))]

static int64_t standing_clock(void *context)
{
	(void)context;
	return 0;
}

/* Workers that run all jobs in the calling thread, in reverse order. */
static void run_in_turn(
	void *context, void (*job)(void *argument, uint32_t part), void *argument, uint32_t count)
{
	(void)context;
	for (uint32_t i = count; i > 0; i--) {
		job(argument, i - 1);
	}
}

static const struct bt_workers own_hands = {.run = run_in_turn};

/* --- nodes --- */

static const char *draw_node(struct history *history, uint32_t number)
{
	static const char *const zones[] = {"", "'zone':'a',", "'zone':'b',", "'zone':'',"};
	static const char *const disks[] = {"", "'disk':'ssd',", "'disk':'5',", "'disk':'10',"};
	static const char *const taints[] = {"", "", "", "{'key':'a','effect':'NoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'},{'key':'a','effect':'NoExecute'}"};
	static const char *const images[] = {"", "{'names':['x:latest'],'sizeBytes':900000000}",
		"{'names':['y:1'],'sizeBytes':90000000}"};
	static const char *const amounts[] = {"0", "1", "2", "3500m", "8"};
	static const char *const memory[] = {"1Gi", "2Gi", "3000M", "16Gi"};
	static const char *const hosts[] = {"", "'kubernetes.io/hostname':'same',"};
	const char *host =
		bt_arena_printf(&history->arena, "'kubernetes.io/hostname':'n%u',", number).data;

	if (below(history, 12) == 0) {
		host = PICK(history, hosts);
	}
	return bt_arena_printf(&history->arena,
		"{'metadata':{'name':'n%u','labels':{%s%s%s'rack':'r%u'}},"
		"'spec':{'unschedulable':%s,'taints':[%s]},'status':{'images':[%s],"
		"'allocatable':{'pods':'%u','cpu':'%s','memory':'%s','example.com/a':'%u'}}}",
		number, host, PICK(history, zones), PICK(history, disks), below(history, 5),
		below(history, 12) == 0 ? "true" : "false", PICK(history, taints),
		PICK(history, images), below(history, 12), PICK(history, amounts),
		PICK(history, memory), below(history, 3))
		.data;
}

static void change_node(struct history *history)
{
	uint32_t number = below(history, history->node_limit);
	const char *before = history->nodes[number];
	bool leaves = before != NULL && below(history, 4) == 0;

	history->nodes[number] = leaves ? NULL : draw_node(history, number);
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &history->worlds[i];
		struct bt_state *state = world->engine->state;

		if (before == NULL) {
			world_add_node(world, history->nodes[number]);
		} else if (leaves) {
			ck_assert_int_eq(
				bt_state_remove_node(state, world_node(world, before), NULL), 0);
		} else {
			bt_state_update_node(state, world_node(world, before),
				world_node(world, history->nodes[number]));
		}
	}
}

/* --- devices --- */

static void put_object(struct history *history, enum bt_kind kind, const char *json)
{
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &history->worlds[i];
		struct bt_object *object = NULL;
		struct bt_json_reader reader;

		bt_json_reader_init(&reader, world_json(&world->arena, json));
		ck_assert_int_eq(bt_object_decode_as(kind, &reader, &object, NULL), 0);
		bt_object_store_put(&world->engine->state->objects, object);
	}
}

/** Puts a slice that selects one node, a zone or all nodes. The generation is sometimes old. */
static void put_slice(struct history *history)
{
	static const char *const models[] = {"a", "b"};
	static const char *const taints[] = {
		"", "", "", ",'taints':[{'key':'t','effect':'NoSchedule'}]"};
	static const char *const shares[] = {"", "", ",'allowMultipleAllocations':true"};
	uint32_t pool = below(history, 10);
	const char *where = bt_arena_printf(&history->arena, "'nodeName':'n%u'", pool).data;
	struct bt_strbuf devices = {0};

	if (pool == 9) {
		where = "'allNodes':true";
	} else if (pool == 8) {
		where = "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
			"'operator':'In','values':['a']}]}]}";
	}
	for (uint32_t i = 0, count = 1 + below(history, 3); i < count; i++) {
		bt_strbuf_printf(&devices,
			"%s{'name':'d%u','attributes':{'model':{'string':'%s'}},'capacity':{"
			"'memory':{'value':'4','requestPolicy':{'default':'2'}}}%s%s}",
			i != 0 ? "," : "", i, PICK(history, models), PICK(history, taints),
			PICK(history, shares));
	}
	put_object(history, BT_KIND_RESOURCE_SLICE,
		bt_arena_printf(&history->arena,
			"{'metadata':{'name':'s%u'},'spec':{'driver':'d','pool':{'name':'p%u',"
			"'generation':%u,'resourceSliceCount':%u},%s,'devices':[%s]}}",
			pool, pool, 1 + below(history, 2), 1 + (below(history, 8) == 0), where,
			bt_strbuf_c(&devices))
			.data);
	bt_strbuf_finish(&devices);
}

/** Puts a claim without an allocation, in place of an existing one if there is one. */
static void put_claim(struct history *history, uint32_t number)
{
	static const char *const requests[] = {
		"'exactly':{'deviceClassName':'any','allocationMode':'ExactCount','count':1}",
		"'exactly':{'deviceClassName':'any','allocationMode':'ExactCount','count':2}",
		"'exactly':{'deviceClassName':'a','allocationMode':'ExactCount','count':1}",
		"'exactly':{'deviceClassName':'a','allocationMode':'All'}",
		"'exactly':{'deviceClassName':'any','allocationMode':'All','adminAccess':true}",
		"'firstAvailable':[{'name':'s','deviceClassName':'a','allocationMode':'ExactCount',"
		"'count':2},{'name':'t','deviceClassName':'any','allocationMode':'ExactCount',"
		"'count':1}]"};

	put_object(history, BT_KIND_RESOURCE_CLAIM,
		bt_arena_printf(&history->arena,
			"{'metadata':{'name':'c%u','namespace':'default','uid':'c%u',"
			"'resourceVersion':'%u'},'spec':{'devices':{'requests':[{'name':'r',%s}]}}"
			"}",
			number, number, ++history->version, PICK(history, requests))
			.data);
}

static void put_class(struct history *history, const char *name)
{
	static const char *const specs[] = {
		"'selectors':[{'cel':{'expression':'device.attributes[\\\"d\\\"].model == "
		"\\\"a\\\"'}}]",
		"'selectors':[{'cel':{'expression':'device.attributes[\\\"d\\\"].model == "
		"\\\"b\\\"'}}],'extendedResourceName':'example.com/a'"};

	put_object(history, BT_KIND_DEVICE_CLASS,
		bt_arena_printf(&history->arena, "{'metadata':{'name':'%s'},'spec':{%s}}", name,
			strcmp(name, "any") == 0 ? "" : PICK(history, specs))
			.data);
}

static void change_devices(struct history *history)
{
	switch (below(history, 8)) {
	case 0:
		put_class(history, "a");
		break;
	case 1:
	case 2:
		put_slice(history);
		break;
	case 3:
		for (uint32_t i = 0; i < ENGINES; i++) {
			(void)bt_object_store_delete(&history->worlds[i].engine->state->objects,
				BT_KIND_RESOURCE_SLICE, BT_STR(""),
				BT_STR("s9")); /* may not exist */
		}
		break;
	default:
		put_claim(history, below(history, CLAIMS));
		break;
	}
}

static void put_devices(struct history *history)
{
	put_class(history, "any");
	put_class(history, "a");
	for (uint32_t i = 0; i < 20; i++) {
		put_slice(history);
	}
	for (uint32_t i = 0; i < CLAIMS; i++) {
		put_claim(history, i);
	}
}

/* --- pods --- */

#define TERM(app, key) "{'labelSelector':{'matchLabels':{'app':'" app "'}},'topologyKey':'" key "'}"
#define SOFT(weight, term) "{'weight':" weight ",'podAffinityTerm':" term "}"
#define NEAR "'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
#define APART "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
#define LIKES "'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':["
#define AVOIDS "'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':["
#define HOST "kubernetes.io/hostname"
#define SPREAD(skew, key, when, app, more) \
	"{'maxSkew':" skew ",'topologyKey':'" key "','whenUnsatisfiable':'" when \
	"','labelSelector':{'matchLabels':{'app':'" app "'}}" more "}"

static const char *draw_pod(struct history *history)
{
	static const char *const pod_affinities[] = {"", "", "", "", (APART TERM("a", HOST) "]}"),
		(APART TERM("b", HOST) "," TERM("a", "rack") "]}"), (NEAR TERM("b", "zone") "]}"),
		(NEAR TERM("a", HOST) "," TERM("a", "zone") "]}"),
		(LIKES SOFT("5", TERM("a", "zone")) "," SOFT("100", TERM("c", HOST)) "]}"),
		(AVOIDS SOFT("7", TERM("b", HOST)) "]}"),
		(LIKES SOFT("5", TERM("a", "none")) "]}," AVOIDS SOFT(
			"9", TERM("c", "rack")) "]}")};
	static const char *const spreads[] = {"", "", "",
		SPREAD("1", "zone", "DoNotSchedule", "a", ""),
		SPREAD("1", HOST, "DoNotSchedule", "a", ",'minDomains':3"),
		SPREAD("2", HOST, "ScheduleAnyway", "b", ""),
		(SPREAD("1", "rack", "ScheduleAnyway", "a",
			",'nodeTaintsPolicy':'Honor'") "," SPREAD("3", HOST, "ScheduleAnyway", "c",
			",'nodeAffinityPolicy':'Ignore'")),
		(SPREAD("2", "rack", "DoNotSchedule", "c",
			",'nodeTaintsPolicy':'Honor'") "," SPREAD("1", "zone", "ScheduleAnyway",
			"a", ",'matchLabelKeys':['app']"))};
	static const char *const node_affinities[] = {"", "",
		"'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,"
		"'preference':{'matchExpressions':[{'key':'disk','operator':'Exists'}]}},"
		"{'weight':30,'preference':{'matchExpressions':[{'key':'rack','operator':'In',"
		"'values':['r1','r2']}]}}]}",
		"'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
		"'nodeSelectorTerms':[{'matchExpressions':[{'key':'rack','operator':'NotIn',"
		"'values':['r1']}]}]}}",
		"'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
		"'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
		"'values':['n3']}]}]}}"};
	static const char *const requests[] = {"", "'cpu':'100m','memory':'64Mi'", "'cpu':'1'",
		"'cpu':'250m','example.com/a':'1'", "'memory':'1500M'", "'cpu':'100'"};
	static const char *const ports[] = {"", "", "", "{'containerPort':1,'hostPort':80}"};
	static const char *const tolerations[] = {"", "", "{'operator':'Exists'}"};
	static const char *const apps[] = {"a", "b", "c"};
	const char *near = PICK(history, pod_affinities);
	const char *node = PICK(history, node_affinities);
	const char *claims = "";

	if (history->has_devices && below(history, 3) == 0) {
		claims = bt_arena_printf(&history->arena,
			",'resourceClaims':[{'name':'x','resourceClaimName':'c%u'}]",
			below(history, CLAIMS))
				 .data;
	}

	return bt_arena_printf(&history->arena,
		"'labels':{'app':'%s'}},'spec':{'priority':%u,'tolerations':[%s],'affinity':{"
		"%s%s%s},'topologySpreadConstraints':[%s],'containers':[{'name':'c','image':"
		"'x','ports':[%s],'resources':{'requests':{%s}}}]%s",
		PICK(history, apps), below(history, 3) * 10, PICK(history, tolerations), near,
		near[0] != '\0' && node[0] != '\0' ? "," : "", node, PICK(history, spreads),
		PICK(history, ports), PICK(history, requests), claims)
		.data;
}

/*
 * Returns the JSON of pod `number`. pod: further members of the pod; status: members of its status.
 */
static const char *pending_json(struct history *history, const char *pod, uint32_t number,
	struct bt_str node, const char *status)
{
	return bt_arena_printf(&history->arena,
		"{'metadata':{'name':'p%u','uid':'u%u','namespace':'%s',%s,'nodeName':'%.*s'},"
		"'status':{%s}}",
		number, number, number % 7 == 0 ? "other" : "default", pod, BT_STR_ARG(node),
		status)
		.data;
}

static const char *pod_json(
	struct history *history, const char *pod, uint32_t number, struct bt_str node)
{
	return pending_json(history, pod, number, node, "");
}

static void keep_pod(
	struct history *history, const char *pod, uint32_t number, struct bt_str node, bool assumed)
{
	history->pods[history->pod_count++] =
		(struct placed_pod){pod, number, bt_arena_str(&history->arena, node), assumed};
}

static void add_assigned_pod(struct history *history)
{
	const char *pod = draw_pod(history);
	uint32_t number = history->pod_number++;
	struct bt_str node =
		bt_arena_printf(&history->arena, "n%u", below(history, history->node_limit));

	if (history->pod_count == PODS_MAX) {
		return;
	}
	for (uint32_t i = 0; i < ENGINES; i++) {
		world_add_pod(&history->worlds[i], pod_json(history, pod, number, node));
	}
	keep_pod(history, pod, number, node, false);
}

/* Confirms, forgets or removes a pod. */
static void change_pod(struct history *history)
{
	struct placed_pod *pod;
	bool confirmed;

	if (history->pod_count == 0) {
		return;
	}
	pod = &history->pods[below(history, history->pod_count)];
	confirmed = pod->assumed && below(history, 2) == 0;
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &history->worlds[i];
		struct bt_state *state = world->engine->state;
		struct bt_pod *object =
			world_pod(world, pod_json(history, pod->json, pod->number, pod->node));

		if (confirmed) {
			ck_assert_int_eq(bt_state_add_pod(state, object, NULL), 0);
		} else if (pod->assumed) {
			ck_assert_int_eq(bt_state_forget_pod(state, object, NULL), 0);
		} else {
			ck_assert_int_eq(bt_state_remove_pod(state, object, NULL), 0);
		}
	}
	if (confirmed) {
		pod->assumed = false;
	} else {
		*pod = history->pods[--history->pod_count];
	}
}

/* --- cycles --- */

static void check_statuses(const struct history *history, const struct bt_schedule_result *expected,
	const struct bt_schedule_result *got, uint32_t engine)
{
	const struct bt_state *state = history->worlds[CELLS].engine->state;
	const struct bt_state *other = history->worlds[engine].engine->state;
	uint32_t count = bt_node_statuses_count(&expected->diagnosis.statuses);

	ck_assert_uint_eq(bt_node_statuses_count(&got->diagnosis.statuses), count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node_status_entry a =
			bt_node_statuses_at(&expected->diagnosis.statuses, state, i);
		struct bt_node_status_entry b =
			bt_node_statuses_at(&got->diagnosis.statuses, other, i);

		ck_assert_uint_eq(b.slot, a.slot);
		ck_assert_int_eq(b.status.code, a.status.code);
		ck_assert_uint_eq(b.status.plugin, a.status.plugin);
	}
}

static void check_result(
	struct history *history, const struct bt_schedule_result *results, uint32_t engine)
{
	const struct bt_schedule_result *expected = &results[CELLS];
	const struct bt_schedule_result *got = &results[engine];
	struct world *first = &history->worlds[CELLS];
	struct world *world = &history->worlds[engine];

	ck_assert_int_eq(got->outcome, expected->outcome);
	ck_assert_str_eq(world_chosen(world, got), world_chosen(first, expected));
	ck_assert_int_eq(got->total_score, expected->total_score);
	ck_assert_uint_eq(got->feasible_count, expected->feasible_count);
	ck_assert_uint_eq(got->evaluated_count, expected->evaluated_count);
	ck_assert_str_eq(world_message(world, got), world_message(first, expected));
	ck_assert_uint_eq(
		world->engine->next_start_node_index, first->engine->next_start_node_index);
	ck_assert(got->nomination.present == expected->nomination.present);
	ck_assert(bt_str_equal(
		got->nomination.nominated_node_name, expected->nomination.nominated_node_name));
	if (expected->outcome == BT_OUTCOME_FIT_ERROR) {
		ck_assert_str_eq(world_plugins(world, &got->diagnosis.unschedulable_plugins),
			world_plugins(first, &expected->diagnosis.unschedulable_plugins));
		check_statuses(history, expected, got, engine);
	}
}

static void note_nomination(
	struct history *history, const struct bt_pod_info *const *pods, struct bt_str node)
{
	if (!history->nominates) {
		return;
	}
	if (node.length == 0) {
		node = bt_arena_printf(&history->arena, "n%u", below(history, NODES_MAX));
	}
	node = bt_arena_str(&history->arena, node);
	for (uint32_t i = 0; i < ENGINES; i++) {
		bt_nominator_add(&history->worlds[i].engine->nominator, pods[i], node, true);
	}
}

static void drop_nominations(struct history *history)
{
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &history->worlds[i];

		for (uint32_t k = 0; k < world->pods.count; k++) {
			bt_nominator_delete(&world->engine->nominator, world->pods.items[k]->uid);
		}
	}
}

static void schedule(struct history *history)
{
	uint32_t which = below(history, RECURRING + 2);
	const char *pod = which < RECURRING ? history->recurring[which] : draw_pod(history);
	uint32_t number = history->pod_number++;
	uint32_t profile = below(history, history->profile_count);
	bool stays = history->pod_count < PODS_MAX && below(history, 6) != 0;
	struct bt_schedule_result results[ENGINES];
	const struct bt_pod_info *pods[ENGINES];
	struct bt_str node = BT_STR("");
	const char *status = "";
	uint32_t placed = 0;

	if (below(history, 30) == 0) {
		node = bt_arena_printf(&history->arena, "n%u", below(history, history->node_limit));
	} else if (below(history, 20) == 0) {
		status = bt_arena_printf(&history->arena, "'nominatedNodeName':'n%u'",
			below(history, history->node_limit))
				 .data;
	}
	/* Prefer this node among equally good nodes; it may not exist or not fit. */
	struct bt_str preferred = BT_STR("");
	if (below(history, 3) == 0) {
		preferred = bt_arena_printf(
			&history->arena, "n%u", below(history, history->node_limit));
	}
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &history->worlds[i];

		world->engine->preferred_node = preferred;
		pods[i] = world_pending(world, pending_json(history, pod, number, node, status));
		world->framework = world->engine->profiles.frameworks.items[profile];
		bt_engine_schedule(world->engine, world->framework, pods[i], NULL, &results[i]);
	}
	for (uint32_t i = 1; i < ENGINES; i++) {
		check_result(history, results, i);
	}
	history->has_cut_search = history->has_cut_search ||
		(results[CELLS].outcome == BT_OUTCOME_ERROR && results[CELLS].feasible_count == 0);
	ck_assert(results[LIST].diagnosis.statuses.groups == NULL);
	history->by_groups += results[CELLS].diagnosis.statuses.groups != NULL;
	history->by_cells += results[CELLS].plan != NULL && results[CELLS].plan->cells->filled;
	if (results[CELLS].outcome != BT_OUTCOME_SCHEDULED) {
		history->rejected++;
		note_nomination(history, pods, results[CELLS].nomination.nominated_node_name);
		return;
	}
	history->scheduled++;
	history->with_claims += strstr(pod, "resourceClaims") != NULL;
	for (uint32_t i = 0; stays && i < ENGINES; i++) {
		placed += bt_engine_place(history->worlds[i].engine, pods[i], &results[i]);
	}
	/* Only PreBind of DynamicResources fails: spec 12 section 21, D10. */
	ck_assert(!stays || placed == ENGINES ||
		(placed == 0 && strstr(pod, "resourceClaims") != NULL &&
			strstr(pod, "example.com/a") != NULL));
	if (placed != 0) {
		struct world *world = &history->worlds[CELLS];

		keep_pod(history, pod, number,
			bt_node_table_name(&world->engine->state->nodes, results[CELLS].slot),
			true);
	}
}

static void take_step(struct history *history)
{
	switch (below(history, 20)) {
	case 0:
		change_node(history);
		break;
	case 1:
		add_assigned_pod(history);
		break;
	case 2:
	case 3:
		change_pod(history);
		break;
	case 4:
		drop_nominations(history);
		break;
	case 5:
	case 6:
		if (history->has_devices) {
			change_devices(history);
			break;
		}
		schedule(history);
		break;
	default:
		schedule(history);
	}
}

/* --- histories --- */

static void append_profile(struct history *history, struct bt_strbuf *out, uint32_t number)
{
	static const char *const names[] = {"NodeUnschedulable", "NodeName", "TaintToleration",
		"NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
		"NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
		"InterPodAffinity", "DefaultPreemption", "NodeResourcesBalancedAllocation",
		"ImageLocality", "NodeDeclaredFeatures", "DynamicResources"};
	static const char *const points[] = {"preFilter", "filter", "preScore", "score"};
	static const int32_t percentages[] = {0, 1, 60, 100, 100, 100};
	struct bt_strbuf plugins = {0};
	struct bt_strbuf more = {0};
	bool all = below(history, 2) == 0;
	uint32_t first = all ? 0 : below(history, BT_ARRAY_LENGTH(names));

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		const char *name = names[(first + i) % BT_ARRAY_LENGTH(names)];

		if (all || below(history, 5) != 0) {
			bt_strbuf_printf(&plugins, "%s:%u,", name,
				below(history, 20) == 0 ? 5000000 : 1 + below(history, 4));
		}
	}
	bt_strbuf_append_c(&plugins, "SchedulingGates");
	bt_strbuf_printf(&more, "'percentageOfNodesToScore':%d,", PICK(history, percentages));
	bt_strbuf_printf(out, "%s%s", number != 0 ? "," : "",
		world_profile(&history->arena,
			bt_arena_printf(&history->arena, "profile-%u", number).data,
			bt_strbuf_c(&plugins), bt_strbuf_c(&more)));
	if (below(history, 4) == 0) {
		/* Disables one plugin at one extension point. */
		static const char *const victims[] = {
			"PodTopologySpread", "InterPodAffinity", "NodeAffinity", "TaintToleration"};

		out->length -= 2; /* removes the ends of the plugins and of the profile */
		bt_strbuf_printf(out, ",'%s':{'disabled':[{'name':'%s'}]}}}", PICK(history, points),
			PICK(history, victims));
	}
	bt_strbuf_finish(&plugins);
	bt_strbuf_finish(&more);
}

static void init(struct history *history, uint64_t seed)
{
	static const enum bt_tie_policy policies[] = {
		BT_TIE_FIRST_BY_NAME, BT_TIE_HEAP, BT_TIE_RANDOM};
	struct bt_strbuf config = {0};

	*history = (struct history){0};
	bt_prng_init(&history->prng, seed);
	history->node_limit =
		below(history, 3) == 0 ? 101 + below(history, 39) : 2 + below(history, 30);
	history->profile_count = 1 + below(history, 2);
	history->nominates = below(history, 2) == 0;
	history->has_devices = below(history, 2) == 0;
	bt_strbuf_append_c(&config, "{'profiles':[");
	for (uint32_t i = 0; i < history->profile_count; i++) {
		append_profile(history, &config, i);
	}
	bt_strbuf_append_c(&config, "]}");
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		struct bt_gates gates = bt_gates_default();

		history->metrics[i] = bt_metrics_create();
		history->counts[i] = bt_scheduler_metrics_create(
			history->metrics[i], &gates, standing_clock, NULL);
		options.metrics = seed % 2 == 0 ? history->counts[i] : NULL;
		options.seed = seed;
		options.tie_policy = policies[seed % BT_ARRAY_LENGTH(policies)];
		options.verify = i == CELLS && options.metrics == NULL;
		options.searches_list = i == LIST;
		options.plan_bytes_max = i == SMALL ? 1 : 0;
		options.workers = i == SMALL ? &own_hands : NULL;
		options.part_slots = i == SMALL ? 3 : 0;
		world_init(&history->worlds[i], bt_strbuf_c(&config), &options, NULL, 0);
	}
	bt_strbuf_finish(&config);
	for (uint32_t i = 0; i < history->node_limit; i++) {
		history->nodes[i] = draw_node(history, i);
		for (uint32_t k = 0; k < ENGINES; k++) {
			world_add_node(&history->worlds[k], history->nodes[i]);
		}
	}
	if (history->has_devices) {
		put_devices(history);
	}
	for (uint32_t i = 0; i < RECURRING; i++) {
		history->recurring[i] = draw_pod(history);
	}
}

/* Fails the test with the first line in which the texts differ. */
static void check_text(const char *expected, const char *got, uint32_t engine)
{
	while (*expected != '\0' && *got != '\0') {
		int length = (int)strcspn(expected, "\n");
		int got_length = (int)strcspn(got, "\n");

		ck_assert_msg(length == got_length && strncmp(expected, got, (size_t)length) == 0,
			"engine %u:\n%.*s\n%.*s", engine, length, expected, got_length, got);
		expected += length + 1;
		got += length + 1;
	}
	ck_assert_int_eq(*expected, *got);
}

static void check_metrics(const struct history *history)
{
	struct bt_strbuf texts[ENGINES] = {0};

	for (uint32_t i = 0; i < ENGINES && !history->has_cut_search; i++) {
		bt_metrics_write(history->metrics[i], BT_METRICS_TEXT, &texts[i]);
		check_text(bt_strbuf_c(&texts[CELLS]), bt_strbuf_c(&texts[i]), i);
	}
	for (uint32_t i = 0; i < ENGINES; i++) {
		bt_strbuf_finish(&texts[i]);
	}
}

static void finish(struct history *history)
{
	check_metrics(history);
	for (uint32_t i = 0; i < ENGINES; i++) {
		world_finish(&history->worlds[i]);
		bt_scheduler_metrics_destroy(history->counts[i]);
		bt_metrics_destroy(history->metrics[i]);
	}
	bt_arena_finish(&history->arena);
}

static uint64_t number_from_environment(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

START_TEST(test_ways_random__the_way_does_not_matter)
{
	struct history *history = BT_NEW(struct history);
	uint64_t only = number_from_environment("BERTH_TEST_SEED");
	uint64_t factor = number_from_environment("BERTH_TEST_LONG");
	uint64_t count = SEEDS * (factor != 0 ? factor : 1);
	uint32_t groups = 0;
	uint32_t cells = 0;
	uint32_t with_claims = 0;

	for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : count); seed++) {
		(void)printf("seed %" PRIu64 ":", seed);
		(void)fflush(stdout);
		init(history, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			take_step(history);
			if (only != 0) {
				check_metrics(history);
			}
		}
		(void)printf(" %u placed, %u with claims, %u rejected, %u by groups, %u by cells\n",
			history->scheduled, history->with_claims, history->rejected,
			history->by_groups, history->by_cells);
		with_claims += history->with_claims;
		groups += history->by_groups;
		cells += history->by_cells;
		finish(history);
	}
	ck_assert(only != 0 || groups > SEEDS);
	ck_assert(only != 0 || cells > SEEDS);
	ck_assert(only != 0 || with_claims > SEEDS);
	bt_free(history);
}
END_TEST

BT_TEST_MAIN("ways_random", test_ways_random__the_way_does_not_matter)
