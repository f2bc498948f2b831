/* SPDX-License-Identifier: Apache-2.0 */
/** Plugins that look at the node alone: its name, whether it is cordoned, taints, features; and the
 * gates before all nodes. Node affinity: advice_node_labels.c. */
#include "api/toleration.h"
#include "explain/advice_text.h"

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"

static void advise_node_name(struct bt_advice *advice)
{
	struct bt_str wanted = advice->pod->shape->pod->spec.node_name;

	bt_advice_hint(advice, "is not %.*s, which the pod names", BT_STR_ARG(wanted));
	advice->is_final = true;
}

static void add_uncordon(struct bt_advice *advice)
{
	bt_advice_add(advice,
		&(struct bt_remedy){.kind = BT_REMEDY_UNCORDON,
			.node = bt_arena_str(advice->arena, bt_node_info_name(advice->node))});
	bt_advice_add_of_pod(advice,
		&(struct bt_remedy){.kind = BT_REMEDY_TOLERATE,
			.key = BT_STR(UNSCHEDULABLE_TAINT),
			.effect = BT_STR("NoSchedule")});
	advice->distance += 0.1;
}

static void advise_unschedulable(struct bt_advice *advice)
{
	bt_advice_hint(advice, "is cordoned");
	add_uncordon(advice);
}

static void advise_taint(struct bt_advice *advice, const struct bt_taint *taint)
{
	struct bt_remedy remedy = {.kind = BT_REMEDY_TOLERATE,
		.key = bt_arena_str(advice->arena, taint->key),
		.value = bt_arena_str(advice->arena, taint->value),
		.effect = bt_arena_str(advice->arena, taint->effect)};

	struct bt_strbuf text = {0};

	bt_taint_format(taint, &text);
	bt_advice_hint(advice, "has taint %s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	/* What cordons the node goes with the cordon. */
	if (bt_str_equal_c(taint->key, UNSCHEDULABLE_TAINT) &&
		bt_node_info_unschedulable(advice->node)) {
		add_uncordon(advice);
		return;
	}
	bt_advice_add(advice, &remedy);
	bt_advice_add_of_pod(advice, &remedy);
	/* These tell that the node is not well: to tolerate them is the last thing to do. */
	advice->distance += bt_str_has_prefix(taint->key, BT_STR("node.kubernetes.io/")) ? 1 : 0.05;
}

static void advise_taints(struct bt_advice *advice)
{
	bool comparison = bt_gate_enabled(
		advice->framework->handle.gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	const bt_toleration_list *tolerations = &advice->pod->shape->pod->spec.tolerations;
	const bt_taint_list *taints;

	if (advice->node == NULL) {
		advice->is_final = true;
		return;
	}
	taints = bt_node_info_taints(advice->node);
	for (uint32_t i = 0; i < taints->count && !advice->is_final; i++) {
		const struct bt_taint *taint = &taints->items[i];

		if (bt_taint_in_filter(taint, BT_TAINT_HARD) &&
			!bt_tolerations_tolerate(tolerations, taint, comparison)) {
			advise_taint(advice, taint);
		}
	}
}

static void advise_features(struct bt_advice *advice)
{
	bt_advice_hint(advice, "lacks a kubelet feature that the pod needs");
	advice->is_final = true;
}

static void advise_gates(struct bt_advice *advice)
{
	const struct bt_pod_spec *spec = &advice->pod->object->spec;

	for (uint32_t i = 0; i < spec->scheduling_gates.count; i++) {
		struct bt_str name =
			bt_arena_str(advice->arena, spec->scheduling_gates.items[i].name);

		bt_advice_hint(advice, "gate %.*s is closed", BT_STR_ARG(name));
		bt_advice_add(
			advice, &(struct bt_remedy){.kind = BT_REMEDY_REMOVE_GATE, .key = name});
	}
}

const struct bt_adviser bt_advisers_nodes[] = {
	{"NodeAffinity", bt_advise_node_affinity},
	{"NodeDeclaredFeatures", advise_features},
	{"NodeName", advise_node_name},
	{"NodeUnschedulable", advise_unschedulable},
	{"SchedulingGates", advise_gates},
	{"TaintToleration", advise_taints},
	{NULL, NULL},
};
