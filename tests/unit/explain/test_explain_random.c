/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random clusters: groups add up to the message; every proposal, carried out in a cluster of its
 * own, lets the pod in, and no part of it does; what comes after an explanation is decided as if
 * there had been none.
 */
#include "base/error.h"
#include "base/prng.h"
#include "test_main.h"
#include "town.h"

#define SEED_COUNT 400
#define NODES_MAX 12
#define PODS_MAX 24

/** Texts a cluster is made of. */
struct plan {
	struct bt_arena arena;
	struct bt_prng prng;
	const char *nodes[NODES_MAX];
	uint32_t node_count;
	const char *pods[PODS_MAX];
	uint32_t pod_count;
	const char *pending;
	const char *next; /* decided before and after */
};

static uint32_t below(struct plan *plan, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&plan->prng, bound);
}

static const char *pick(struct plan *plan, const char *const *texts, uint32_t count)
{
	return texts[below(plan, count)];
}

#define PICK(plan, ...) \
	pick((plan), (const char *const[]){__VA_ARGS__}, \
		BT_ARRAY_LENGTH(((const char *const[]){__VA_ARGS__})))

static const char *make_node(struct plan *plan, uint32_t number)
{
	return bt_arena_printf(&plan->arena,
		"{'metadata':{'name':'n%u','labels':{'kubernetes.io/hostname':'n%u',"
		"'topology.kubernetes.io/zone':'%s'%s%s}},'spec':{%s},'status':{'allocatable':{"
		"'cpu':'%s','memory':'%s','pods':'%u'%s},'images':[%s]}}",
		number, number, PICK(plan, "a", "b", "c"),
		PICK(plan, "", ",'disk':'ssd'", ",'disk':'hdd'"),
		PICK(plan, "", "", ",'cores':'8'"),
		PICK(plan, "", "", "", "'unschedulable':true",
			"'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable',"
			"'effect':'NoSchedule'}]",
			"'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]",
			"'taints':[{'key':'k','value':'v','effect':'NoSchedule'},{'key':'x',"
			"'effect':'NoExecute'}]"),
		PICK(plan, "1", "2", "2500m", "4"), PICK(plan, "1Gi", "2Gi", "3000M"),
		2 + below(plan, 5), PICK(plan, "", "", ",'example.com/gpu':'1'"),
		PICK(plan, "", "{'names':['i:1'],'sizeBytes':50000000}",
			"{'names':['i:1','i:2'],'sizeBytes':400000000}"))
		.data;
}

static const char *make_running(struct plan *plan, uint32_t number)
{
	return bt_arena_printf(&plan->arena,
		"{'metadata':{'name':'r%u','uid':'r%u','namespace':'default','labels':{'app':'%s'}}"
		","
		"'spec':{'nodeName':'n%u','priority':%s,'containers':[{'resources':{'requests':{"
		"'cpu':'%s','memory':'%s'}}%s}]%s}}",
		number, number, PICK(plan, "web", "db"), below(plan, plan->node_count),
		PICK(plan, "0", "10", "100"), PICK(plan, "100m", "500m", "1"),
		PICK(plan, "64Mi", "500Mi"),
		PICK(plan, "", "", ",'ports':[{'hostPort':80,'protocol':'TCP'}]"),
		PICK(plan, "", "",
			",'affinity':{'podAntiAffinity':{"
			"'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
			"'kubernetes.io/"
			"hostname','labelSelector':{'matchLabels':{'app':'web'}}}]}}"))
		.data;
}

static const char *make_pending(struct plan *plan, const char *name)
{
	const char *affinity = PICK(plan, "", "", "",
		",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
		"'nodeSelectorTerms':[{'matchExpressions':[{'key':'cores','operator':'Gt','values':"
		"['4']},{'key':'disk','operator':'NotIn','values':['hdd']}]},{'matchExpressions':[{"
		"'key':'disk','operator':'In','values':['nvme','ssd']}]}]}}}",
		",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
		"'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
		"'values':['n1']}]}]}}}",
		",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
		"'topologyKey':'topology.kubernetes.io/zone','labelSelector':{'matchLabels':{'app':"
		"'db'}}}]}}",
		",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
		"{"
		"'topologyKey':'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'web'"
		"}}}]}}");

	return bt_arena_printf(&plan->arena,
		"{'metadata':{'name':'%s','uid':'%s','namespace':'default','labels':{'app':'web'}},"
		"'spec':{'schedulerName':'%s','priority':%s,'preemptionPolicy':"
		"'PreemptLowerPriority','containers':[{'image':'i:1','resources':{'requests':{"
		"'cpu':'%s','memory':'%s'%s}}%s}]%s%s%s%s%s}}",
		name, name,
		PICK(plan, "default-scheduler", "default-scheduler", "default-scheduler",
			"default-scheduler", "default-scheduler", "other"),
		PICK(plan, "0", "50"), PICK(plan, "500m", "1500m", "3", "9"),
		PICK(plan, "100Mi", "1Gi", "5Gi"), PICK(plan, "", "", "", ",'example.com/gpu':'1'"),
		PICK(plan, "", "", ",'ports':[{'hostPort':80,'protocol':'TCP'}]"),
		PICK(plan, "", "", ",'nodeSelector':{'disk':'ssd'}",
			",'nodeSelector':{'disk':'ssd','cores':'8'}"),
		affinity,
		PICK(plan, "", "", ",'tolerations':[{'operator':'Exists'}]",
			",'tolerations':[{'key':'k','operator':'Exists'}]"),
		PICK(plan, "", "", "",
			",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':"
			"'topology.kubernetes.io/zone','whenUnsatisfiable':'DoNotSchedule',"
			"'labelSelector':{'matchLabels':{'app':'web'}}}]"),
		PICK(plan, "", "", "", "", "", ",'schedulingGates':[{'name':'g'}]"))
		.data;
}

static void make_plan(struct plan *plan, uint64_t seed)
{
	*plan = (struct plan){0};
	bt_prng_init(&plan->prng, seed);
	plan->node_count = 2 + below(plan, NODES_MAX - 1);
	for (uint32_t i = 0; i < plan->node_count; i++) {
		plan->nodes[i] = make_node(plan, i);
	}
	plan->pod_count = below(plan, PODS_MAX + 1);
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		plan->pods[i] = make_running(plan, i);
	}
	plan->pending = make_pending(plan, "p");
	plan->next = make_pending(plan, "q");
}

static void build(const struct plan *plan, struct town *town)
{
	town_init(town, "{}");
	for (uint32_t i = 0; i < plan->node_count; i++) {
		town_add_node(town, plan->nodes[i]);
	}
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		world_add_pod(&town->world, plan->pods[i]);
	}
}

/** --- groups --- */

static uint32_t count_in_message(struct bt_str message, struct bt_str reason, uint32_t count)
{
	struct bt_strbuf text = {0};
	bool found;

	bt_strbuf_printf(&text, " %u %.*s", count, BT_STR_ARG(reason));
	found = bt_str_find(message, bt_strbuf_str(&text)) >= 0;
	bt_strbuf_finish(&text);
	return found;
}

/** All nodes with this reason, over all groups. */
static uint32_t count_reason(const struct bt_explanation *explanation, struct bt_str reason)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];

		for (uint32_t k = 0; k < group->reasons.count; k++) {
			count += bt_str_equal(group->reasons.items[k], reason) ? group->nodes.count
									       : 0;
		}
	}
	return count;
}

static void expect_groups(const struct bt_explanation *explanation, uint64_t seed)
{
	uint32_t members = 0;

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];

		members += group->nodes.count;
		for (uint32_t k = 0; k < group->reasons.count; k++) {
			struct bt_str reason = group->reasons.items[k];

			if (explanation->fate == BT_EXPLAINED_UNSCHEDULABLE &&
				!(group->in_pre_filter &&
					group->nodes.count == explanation->node_count) &&
				!count_in_message(explanation->message, reason,
					count_reason(explanation, reason))) {
				ck_abort_msg("seed %llu: %.*s: %.*s", (unsigned long long)seed,
					BT_STR_ARG(reason), BT_STR_ARG(explanation->message));
			}
		}
		for (uint32_t k = 0; k < group->nodes.count; k++) {
			const struct bt_explained_node *node =
				&explanation->nodes.items[group->nodes.items[k]];
			struct bt_strbuf reasons = {0};

			for (uint32_t r = 0; r < group->reasons.count; r++) {
				bt_strbuf_append_c(&reasons, r == 0 ? "" : ", ");
				bt_strbuf_append_str(&reasons, group->reasons.items[r]);
			}
			if (!group->in_pre_filter &&
				(!bt_str_equal(node->obstacles.items[0].plugin, group->plugin) ||
					!bt_str_equal(node->obstacles.items[0].reasons,
						bt_strbuf_str(&reasons)))) {
				ck_abort_msg("seed %llu: %.*s is in a wrong group",
					(unsigned long long)seed, BT_STR_ARG(node->name));
			}
			bt_strbuf_finish(&reasons);
		}
	}
	ck_assert_uint_eq(members + explanation->feasible_count, explanation->node_count);
}

/** --- proposals --- */

/** The remedies carried out in a cluster of its own: what the scheduler says then. */
static bool is_scheduled_after(
	const struct plan *plan, const struct bt_remedy *remedies, uint32_t count)
{
	struct town town;
	struct bt_schedule_result result;
	struct bt_framework *framework;
	struct bt_plugin *gate;
	struct bt_pod_info info;
	struct bt_pod *pod;
	struct bt_status status;
	bool scheduled = false;

	town_init(&town, "{}");
	for (uint32_t i = 0; i < plan->node_count; i++) {
		struct bt_node *node = world_node(&town.world, plan->nodes[i]);

		bt_remedies_apply_to_node(remedies, count, node, &town.world.arena);
		bt_state_add_node(town.world.engine->state, node);
	}
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		bool removed = false;

		pod = world_pod(&town.world, plan->pods[i]);
		for (uint32_t k = 0; k < count; k++) {
			removed = removed ||
				(remedies[k].kind == BT_REMEDY_REMOVE_POD &&
					bt_str_equal(remedies[k].pod_name, pod->metadata.name));
		}
		if (!removed) {
			ck_assert_int_eq(bt_state_add_pod(town.world.engine->state, pod, NULL), 0);
		}
	}
	pod = world_pod(&town.world, plan->pending);
	bt_remedies_apply_to_pod(remedies, count, pod, &town.world.arena);
	framework = bt_engine_profile(town.world.engine, pod->spec.scheduler_name);
	if (framework != NULL) {
		bt_pod_info_init_pending(town.world.engine->state, pod, &info);
		status = bt_run_pre_enqueue(framework, &info, &town.world.arena, &gate);
		if (bt_status_is_success(&status)) {
			bt_engine_schedule(town.world.engine, framework, &info, &result);
			scheduled = result.outcome == BT_OUTCOME_SCHEDULED;
		}
		bt_pod_info_finish_pending(town.world.engine->state, &info);
	}
	town_finish(&town);
	return scheduled;
}

static void expect_minimal(struct town *town, const struct plan *plan,
	const struct bt_proposal *proposal, uint64_t seed)
{
	struct bt_remedy part[32];
	uint32_t count = proposal->remedies.count;

	for (uint32_t bits = 0; bits + 1 < 1U << count; bits++) {
		uint32_t part_count = 0;

		for (uint32_t i = 0; i < count; i++) {
			if ((bits >> i & 1) != 0) {
				part[part_count++] = proposal->remedies.items[i];
			}
		}
		if (is_scheduled_after(plan, part, part_count)) {
			ck_abort_msg("seed %llu: %s: enough is %s", (unsigned long long)seed,
				town_remedies(town, proposal->remedies.items, count),
				town_remedies(town, part, part_count));
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < count; k++) {
			part[k] = proposal->remedies.items[k];
		}
		if (part[i].kind != BT_REMEDY_FREE_RESOURCE) {
			continue;
		}
		part[i].amount--;
		if (is_scheduled_after(plan, part, count)) {
			ck_abort_msg("seed %llu: less is enough: %s", (unsigned long long)seed,
				town_remedies(town, part, count));
		}
	}
}

static void expect_proposals(struct town *town, const struct plan *plan, const struct bt_pod *pod,
	const struct bt_explanation *explanation, uint64_t seed)
{
	struct bt_explain_objects objects = town_objects(town);

	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		const char *words =
			town_remedies(town, proposal->remedies.items, proposal->remedies.count);
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_trial trial;
		int result = bt_explain_try(town->world.engine, pod, proposal->remedies.items,
			proposal->remedies.count, proposal->node, &objects, &trial, &err);

		ck_assert_msg(result == 0, "seed %llu: %s", (unsigned long long)seed,
			berth_error_message(&err));
		ck_assert_msg(trial.node_fits && trial.feasible_count == proposal->opened_count,
			"seed %llu: %s", (unsigned long long)seed, words);
		ck_assert_msg(is_scheduled_after(
				      plan, proposal->remedies.items, proposal->remedies.count),
			"seed %llu: %s", (unsigned long long)seed, words);
		if (proposal->remedies.count <= 5) {
			expect_minimal(town, plan, proposal, seed);
		}
	}
}

/** --- before and after --- */

/** What the scheduler says about the other pod, as if nobody had asked before. */
static const char *decide(struct town *town, const struct plan *plan)
{
	struct bt_engine *engine = town->world.engine;
	struct bt_schedule_result result;
	uint32_t start = engine->next_start_node_index;
	struct bt_prng prng = engine->prng;
	const struct bt_pod_info *pod = world_pending(&town->world, plan->next);
	const char *said;

	bt_engine_schedule(engine, town->world.framework, pod, &result);
	engine->next_start_node_index = start;
	engine->prng = prng;
	said = bt_arena_printf(&town->world.arena, "%d %s %lld %u %u %s", (int)result.outcome,
		world_chosen(&town->world, &result), (long long)result.total_score,
		result.feasible_count, result.evaluated_count, world_message(&town->world, &result))
		       .data;
	return said;
}

START_TEST(test_explain_random__tried_minimal_and_without_a_trace)
{
	uint32_t proposal_count = 0;
	uint32_t fates[BT_EXPLAINED_ERROR + 1] = {0};

	for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
		struct bt_explanation explanation;
		struct plan plan;
		struct town town;
		struct bt_pod *pod;
		const char *before;

		make_plan(&plan, seed);
		build(&plan, &town);
		pod = town_pod(&town, plan.pending);
		before = decide(&town, &plan);
		town_explain(&town, pod, 4, &explanation);
		ck_assert_str_eq(decide(&town, &plan), before);
		expect_groups(&explanation, seed);
		expect_proposals(&town, &plan, pod, &explanation, seed);
		ck_assert_str_eq(decide(&town, &plan), before);
		proposal_count += explanation.proposals.count;
		fates[explanation.fate]++;
		bt_explanation_finish(&explanation);
		town_finish(&town);
		bt_arena_finish(&plan.arena);
	}
	(void)printf("%d clusters: %u proposals, %u fit, %u unschedulable, %u gated, %u not "
		     "handled\n",
		SEED_COUNT, proposal_count, fates[BT_EXPLAINED_FITS],
		fates[BT_EXPLAINED_UNSCHEDULABLE], fates[BT_EXPLAINED_GATED],
		fates[BT_EXPLAINED_NOT_HANDLED]);
	ck_assert_uint_gt(proposal_count, SEED_COUNT / 2);
}
END_TEST

BT_TEST_MAIN("explain_random", test_explain_random__tried_minimal_and_without_a_trace)
