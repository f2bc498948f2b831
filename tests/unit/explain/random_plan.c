/* SPDX-License-Identifier: Apache-2.0 */
#include "random_plan.h"

#include <check.h>

static uint32_t below(struct random_plan *plan, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&plan->prng, bound);
}

static const char *pick(struct random_plan *plan, const char *const *texts, uint32_t count)
{
	return texts[below(plan, count)];
}

#define PICK(plan, ...) \
	pick((plan), (const char *const[]){__VA_ARGS__}, \
		BT_ARRAY_LENGTH(((const char *const[]){__VA_ARGS__})))

const char *random_plan_node(struct random_plan *plan, uint32_t number)
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
			"'effect':'NoExecute'}]",
			"'taints':[{'key':'k','value':'v','effect':'NoSchedule'},{'key':'k',"
			"'value':'v','effect':'NoExecute'},{'key':'s','effect':'PreferNoSchedule'}"
			"]",
			"'taints':[{'key':'x','value':'a','effect':'NoSchedule'},{'key':'x',"
			"'value':'b','effect':'NoExecute'}]"),
		PICK(plan, "1", "2", "2500m", "4"), PICK(plan, "1Gi", "2Gi", "3000M"),
		2 + below(plan, 5), PICK(plan, "", "", ",'example.com/gpu':'1'"),
		PICK(plan, "", "{'names':['i:1'],'sizeBytes':50000000}",
			"{'names':['i:1','i:2'],'sizeBytes':400000000}"))
		.data;
}

static const char *make_running(struct random_plan *plan, uint32_t number)
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

#define SPREAD \
	",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'topology.kubernetes.io/zone'," \
	"'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}"

const char *random_plan_pending(struct random_plan *plan, const char *name)
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
		",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
		"'topologyKey':'kubernetes.io/hostname','namespaceSelector':{},'labelSelector':{"
		"'matchLabels':{'app':'db'}}},{'topologyKey':'topology.kubernetes.io/zone',"
		"'labelSelector':{'matchExpressions':[{'key':'app','operator':'Exists'}]}}]}}",
		",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
		"{'topologyKey':'topology.kubernetes.io/zone','labelSelector':{'matchLabels':{"
		"'app':'db'}}},{'topologyKey':'kubernetes.io/hostname','labelSelector':{"
		"'matchExpressions':[{'key':'app','operator':'Exists'}]}}]}}",
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
		PICK(plan, "", "", "", SPREAD "}]",
			SPREAD ",'minDomains':4,'nodeTaintsPolicy':'Honor'}]",
			SPREAD "},{'maxSkew':1,'topologyKey':'kubernetes.io/hostname',"
			       "'whenUnsatisfiable':'DoNotSchedule','nodeAffinityPolicy':'Ignore',"
			       "'matchLabelKeys':['app'],'labelSelector':{}}]"),
		PICK(plan, "", "", "", "", "", ",'schedulingGates':[{'name':'g'}]"))
		.data;
}

void random_plan_init(
	struct random_plan *plan, uint64_t seed, uint32_t nodes_max, uint32_t pods_max)
{
	*plan = (struct random_plan){0};
	bt_prng_init(&plan->prng, seed);
	plan->node_count = 2 + below(plan, nodes_max - 1);
	for (uint32_t i = 0; i < plan->node_count; i++) {
		plan->nodes[i] = random_plan_node(plan, i);
	}
	plan->pod_count = below(plan, pods_max + 1);
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		plan->pods[i] = make_running(plan, i);
	}
	plan->pending = random_plan_pending(plan, "p");
	plan->next = random_plan_pending(plan, "q");
}

void random_plan_build(const struct random_plan *plan, struct town *town)
{
	town_init(town, "{}");
	for (uint32_t i = 0; i < plan->node_count; i++) {
		town_add_node(town, plan->nodes[i]);
	}
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		world_add_pod(&town->world, plan->pods[i]);
	}
}

bool random_plan_fits_after(
	const struct random_plan *plan, const struct bt_remedy *remedies, uint32_t count)
{
	struct town town;
	struct bt_schedule_result result;
	struct bt_framework *framework;
	struct bt_plugin *gate;
	struct bt_pod_info info;
	struct bt_pod *pod;
	struct bt_status status;
	bool scheduled = false;
	const bt_remedy_list list = {
		.items = (struct bt_remedy *)(uintptr_t)remedies, .count = count};

	town_init(&town, "{}");
	for (uint32_t i = 0; i < plan->node_count; i++) {
		struct bt_node *node = world_node(&town.world, plan->nodes[i]);

		bt_remedies_apply_to_node(&list, node, &town.world.arena);
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
	bt_remedies_apply_to_pod(&list, pod, &town.world.arena);
	framework = bt_engine_profile(town.world.engine, pod->spec.scheduler_name);
	if (framework != NULL) {
		bt_pod_info_init_pending(town.world.engine->state, pod, &info);
		status = bt_run_pre_enqueue(framework, &info, &town.world.arena, NULL, &gate);
		if (bt_status_is_success(&status)) {
			bt_engine_schedule(town.world.engine, framework, &info, NULL, &result);
			scheduled = result.outcome == BT_OUTCOME_SCHEDULED;
		}
		bt_pod_info_finish_pending(town.world.engine->state, &info);
	}
	town_finish(&town);
	return scheduled;
}

void random_plan_finish(struct random_plan *plan)
{
	bt_arena_finish(&plan->arena);
}
