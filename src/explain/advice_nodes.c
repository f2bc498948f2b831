/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice for plugins that read the node alone (name, cordon, taints, features, affinity) and for
 * scheduling gates.
 */
#include <inttypes.h>

#include "api/toleration.h"
#include "explain/advice.h"

/**
 * NodeAffinity: finds the fewest label changes that make a node match. Terms are alternatives, so
 * the term that needs the fewest changes counts; nodeSelector must hold in addition. Spec: 01
 * section 5.8, 05 section 9.
 */

/**
 * Limits of work per node, because the API server accepts pods with any number of terms and
 * requirements.
 */
#define TERMS_MAX 16
#define REQUIREMENTS_MAX 16
#define VALUES_MAX 8
#define VALUES_SHOWN 4

/**
 * Labels that describe the machine (architecture, hostname, ...): changes of these labels are never
 * proposed.
 */
static const char *const facts[] = {
	"kubernetes.io/hostname",
	"kubernetes.io/arch",
	"kubernetes.io/os",
	"node.kubernetes.io/instance-type",
	"topology.kubernetes.io/region",
	"topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
};

/** Requirements that must all hold at the same time. */
struct demands {
	struct bt_requirement items[REQUIREMENTS_MAX];
	uint32_t count;
	bool too_many;
};

struct label_change {
	struct bt_str key;
	bool remove;
	struct bt_str value;
	struct bt_requirement first; /* the first requirement that is not met */
};

/** Label changes that together meet all requirements. */
struct plan {
	struct label_change items[REQUIREMENTS_MAX];
	uint32_t count;
};

static void add_requirement(struct demands *demands, const struct bt_requirement *requirement)
{
	if (demands->count == REQUIREMENTS_MAX) {
		demands->too_many = true;
		return;
	}
	demands->items[demands->count++] = *requirement;
}

static bool meets_requirements(
	const struct demands *demands, struct bt_str key, const struct bt_str *value)
{
	for (uint32_t i = 0; i < demands->count; i++) {
		if (bt_str_equal(demands->items[i].key, key) &&
			!bt_requirement_matches(&demands->items[i], value)) {
			return false;
		}
	}
	return true;
}

/**
 * Sets *value to the value at `index` (from 0) among the values that the requirement allows.
 * Returns false if there is no such value, or if the operator names no allowed values (NotIn,
 * DoesNotExist).
 */
static bool value_for(const struct bt_requirement *requirement, uint32_t index,
	struct bt_arena *arena, struct bt_str *value)
{
	if (requirement->operator_ == BT_SELECTOR_IN) {
		if (index >= requirement->value_count || index >= VALUES_MAX) {
			return false;
		}
		*value = requirement->values[index];
		return true;
	}
	if (index != 0) {
		return false;
	}
	switch (requirement->operator_) {
	case BT_SELECTOR_EXISTS:
		*value = BT_STR("");
		return true;
	case BT_SELECTOR_GT:
		*value = bt_arena_printf(arena, "%" PRId64,
			requirement->operand < INT64_MAX ? requirement->operand + 1 : INT64_MAX);
		return true;
	case BT_SELECTOR_LT: /* the value of a label cannot be negative */
		if (requirement->operand <= 0) {
			return false;
		}
		*value = bt_arena_printf(arena, "%" PRId64, requirement->operand - 1);
		return true;
	case BT_SELECTOR_IN:
	case BT_SELECTOR_NOT_IN:
	case BT_SELECTOR_DOES_NOT_EXIST:
		break;
	}
	return false;
}

/**
 * Finds the label changes that make the node match. Returns false if label changes cannot do this,
 * if the node needs `limit` or more changes, or if demands->too_many is set. plan->count 0: the
 * node matches already.
 */
static bool solve(const struct demands *demands, const struct bt_str_map *labels, uint32_t limit,
	struct bt_arena *arena, struct plan *plan)
{
	plan->count = 0;
	if (demands->too_many) {
		return false;
	}
	for (uint32_t i = 0; i < demands->count; i++) {
		const struct bt_requirement *requirement = &demands->items[i];
		const struct bt_str *now = bt_str_map_find(labels, requirement->key);
		struct label_change change = {.key = requirement->key, .first = *requirement};

		if (bt_requirement_matches(requirement, now) ||
			BT_STR_FIND(plan, key, requirement->key) != NULL) {
			continue;
		}
		if (plan->count + 1 >= limit ||
			bt_str_is_one_of(change.key, facts, BT_ARRAY_LENGTH(facts))) {
			return false;
		}
		/* Find the change of the label that meets every requirement on its key. */
		bool is_met = now != NULL && meets_requirements(demands, change.key, NULL);
		change.remove = is_met;
		for (uint32_t n = 0; n < demands->count && !is_met; n++) {
			const struct bt_requirement *other = &demands->items[n];

			for (uint32_t k = 0; !is_met && bt_str_equal(other->key, change.key) &&
				value_for(other, k, arena, &change.value);
				k++) {
				is_met = meets_requirements(demands, change.key, &change.value);
			}
		}
		if (!is_met) {
			return false;
		}
		plan->items[plan->count++] = change;
	}
	return true;
}

/**
 * Sets advice->hint to a text such as "lacks label disk=ssd", "label disk is hdd, not ssd" or "has
 * label spot".
 */
static void hint_requirement(struct bt_advice *advice, const struct bt_requirement *requirement,
	const struct bt_str *now)
{
	struct bt_strbuf text = {0};

	bt_text_append(&text, now == NULL ? "lacks label %s" : "label %s is %s", requirement->key,
		now != NULL ? *now : BT_STR(""));
	switch (requirement->operator_) {
	case BT_SELECTOR_IN:
		bt_strbuf_append_c(&text, now == NULL ? "=" : ", not ");
		for (uint32_t i = 0; i < requirement->value_count && i < VALUES_SHOWN; i++) {
			bt_text_append(&text, "%c%s", i == 0 ? "" : " or ", requirement->values[i]);
		}
		if (requirement->value_count > VALUES_SHOWN) {
			bt_text_append(
				&text, " or %u others", requirement->value_count - VALUES_SHOWN);
		}
		break;
	case BT_SELECTOR_GT:
		bt_text_append(&text, now == NULL ? ">%d" : ", not above %d", requirement->operand);
		break;
	case BT_SELECTOR_LT:
		bt_text_append(&text, now == NULL ? "<%d" : ", not below %d", requirement->operand);
		break;
	case BT_SELECTOR_EXISTS:
		break;
	case BT_SELECTOR_NOT_IN:
		bt_strbuf_append_c(&text, ", which the pod avoids");
		break;
	case BT_SELECTOR_DOES_NOT_EXIST:
		bt_strbuf_reset(&text);
		bt_text_append(&text, "has label %s, which the pod avoids", requirement->key);
		break;
	}
	bt_advice_hint(advice, "%s", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static void take_plan(struct bt_advice *advice, const struct plan *plan)
{
	const struct bt_str_map *labels = bt_node_info_labels(advice->node);

	for (uint32_t i = 0; i < plan->count; i++) {
		const struct label_change *change = &plan->items[i];

		hint_requirement(advice, &change->first, bt_str_map_find(labels, change->key));
		if (!change->remove) {
			bt_advice_set_label(advice, change->key, change->value);
			continue;
		}
		bt_advice_add(advice,
			&(struct bt_remedy){.kind = BT_REMEDY_REMOVE_LABEL,
				.node = bt_arena_str(
					advice->arena, bt_node_info_name(advice->node)),
				.key = bt_arena_str(advice->arena, change->key)});
		advice->distance += 0.1;
	}
}

/**
 * Finds the term that the node can match with the fewest label changes, where the requirements
 * `always` must hold in addition. Returns false if no term can match.
 */
static bool solve_terms(struct bt_advice *advice, const struct bt_parsed_node_selector *selector,
	const struct demands *always, struct plan *best)
{
	const struct bt_str_map *labels = bt_node_info_labels(advice->node);
	bool found = false;

	for (uint32_t i = 0; i < selector->term_count && i < TERMS_MAX; i++) {
		const struct bt_node_term *term = &selector->terms[i];
		struct bt_node_term fields = *term;
		struct demands demands = *always;
		struct plan plan;

		/* Of the term, labels can change, but fields (metadata.name) cannot. */
		fields.label_count = 0;
		if (fields.errors.count != 0 ||
			(fields.field_count != 0 &&
				!bt_node_term_matches(&fields, bt_node_info_name(advice->node),
					bt_node_info_labels(advice->node)))) {
			continue;
		}
		for (uint32_t k = 0; k < term->label_count; k++) {
			add_requirement(&demands, &term->label_requirements[k]);
		}
		if (!solve(&demands, labels, found ? best->count : UINT32_MAX, advice->arena,
			    &plan)) {
			continue;
		}
		*best = plan;
		found = true;
	}
	return found;
}

/** Node affinities, parsed once per cycle. */
struct affinities {
	struct bt_required_node_affinity own;
	bool has_added; /* the profile's arguments have addedAffinity */
	struct bt_parsed_node_selector added;
};

static const struct affinities *affinities_of(struct bt_advice *advice)
{
	static const struct bt_str key = BT_STR_INIT("explain/NodeAffinity");
	const struct bt_plugin_args *args =
		bt_config_profile_find_args(advice->framework->profile, BT_STR("NodeAffinity"));
	const struct bt_node_affinity *added =
		args != NULL ? args->node_affinity.added_affinity : NULL;
	struct bt_arena *arena = advice->cycle->arena;
	struct affinities *affinities;
	void *known;

	if (bt_cycle_state_read(advice->cycle, key, &known, NULL) == 0) {
		return known;
	}
	affinities = BT_ARENA_NEW(arena, struct affinities);
	affinities->own =
		bt_required_node_affinity_parse(&bt_shape_pod(advice->pod->shape)->spec, arena);
	affinities->has_added = added != NULL && added->required != NULL;
	if (affinities->has_added) {
		affinities->added = bt_node_selector_parse(added->required, BT_STR(""), arena);
	}
	bt_cycle_state_write(advice->cycle, key, affinities, NULL);
	return affinities;
}

/**
 * Advises on addedAffinity of the plugin's arguments, which holds for every pod of the profile, so
 * only the node can change. Returns false if no known change of the node helps.
 */
static bool advise_added(struct bt_advice *advice)
{
	const struct affinities *affinities = affinities_of(advice);
	struct demands none = {0};
	struct plan plan = {0};

	if (!affinities->has_added ||
		bt_node_selector_matches(&affinities->added, bt_node_info_name(advice->node),
			bt_node_info_labels(advice->node), NULL, NULL)) {
		return true;
	}
	if (solve_terms(advice, &affinities->added, &none, &plan)) {
		take_plan(advice, &plan);
		return true;
	}
	bt_advice_hint(advice, "no term of the profile's addedAffinity can match");
	advice->is_final = true;
	return false;
}

static void advise_node_affinity(struct bt_advice *advice)
{
	if (advice->node == NULL) {
		bt_advice_hint(advice, "the pod's node affinity names other nodes");
		bt_advice_add(advice, &(struct bt_remedy){.kind = BT_REMEDY_DROP_NODE_AFFINITY});
		advice->distance += 0.5;
		return;
	}
	if (advise_added(advice)) {
		bool added_is_met = advice->remedies.count == 0;

		struct bt_required_node_affinity required = affinities_of(advice)->own;
		const struct bt_str_map *labels = bt_node_info_labels(advice->node);
		struct demands demands = {0};
		struct plan plan = {0};
		bool labels_help;
		bool affinity_fails = required.has_affinity &&
			!bt_node_selector_matches(&required.affinity,
				bt_node_info_name(advice->node), labels, NULL, NULL);

		const struct bt_str_map *selector = required.node_selector;
		for (uint32_t i = 0; i < selector->count; i++) {
			add_requirement(&demands,
				&(struct bt_requirement){.key = selector->items[i].key,
					.operator_ = BT_SELECTOR_IN,
					.value_count = 1,
					.values = &selector->items[i].value});
		}
		labels_help = required.has_affinity
			? solve_terms(advice, &required.affinity, &demands, &plan)
			: solve(&demands, labels, UINT32_MAX, advice->arena, &plan);
		if (labels_help) {
			take_plan(advice, &plan);
		}
		for (uint32_t i = 0; i < required.node_selector->count; i++) {
			const struct bt_str *now =
				bt_str_map_find(labels, required.node_selector->items[i].key);
			const struct bt_requirement wanted = {
				.key = required.node_selector->items[i].key,
				.operator_ = BT_SELECTOR_IN,
				.value_count = 1,
				.values = &required.node_selector->items[i].value};
			const struct bt_remedy drop = {.kind = BT_REMEDY_DROP_NODE_SELECTOR,
				.key = bt_arena_str(advice->arena, wanted.key)};

			if (bt_requirement_matches(&wanted, now)) {
				continue;
			}
			bt_advice_add_of_pod(advice, &drop);
			if (!labels_help) {
				hint_requirement(advice, &wanted, now);
				bt_advice_add(advice, &drop);
				advice->distance += 0.5;
			}
		}
		if (affinity_fails) {
			if (!labels_help) {
				bt_advice_hint(
					advice, "no term of the pod's node affinity can match");
			}
			const struct bt_remedy drop = {.kind = BT_REMEDY_DROP_NODE_AFFINITY};

			bt_advice_add_of_pod(advice, &drop);
			if (!labels_help) {
				bt_advice_add(advice, &drop);
				advice->distance += 0.5;
			}
		}
		if (!added_is_met) {
			/* Changing the pod cannot satisfy addedAffinity. */
			advice->pod_remedies.count = 0;
		}
	}
}

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"

static void advise_node_name(struct bt_advice *advice)
{
	struct bt_str wanted = bt_shape_pod(advice->pod->shape)->spec.node_name;

	bt_advice_hint(advice, "is not %s, which the pod names", wanted);
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

static void advise_taints(struct bt_advice *advice)
{
	bool comparison = bt_gate_enabled(
		advice->framework->handle.gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	const bt_toleration_list *tolerations = &bt_shape_pod(advice->pod->shape)->spec.tolerations;
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
			struct bt_remedy remedy = {.kind = BT_REMEDY_TOLERATE,
				.key = bt_arena_str(advice->arena, taint->key),
				.value = bt_arena_str(advice->arena, taint->value),
				.effect = bt_arena_str(advice->arena, taint->effect)};

			struct bt_strbuf text = {0};

			bt_taint_format(taint, &text);
			bt_advice_hint(advice, "has taint %s", bt_strbuf_str(&text));
			bt_strbuf_finish(&text);
			/* Uncordoning also removes the cordon's taint. */
			if (bt_str_equal_c(taint->key, UNSCHEDULABLE_TAINT) &&
				bt_node_info_unschedulable(advice->node)) {
				add_uncordon(advice);
			} else {
				bt_advice_add(advice, &remedy);
				bt_advice_add_of_pod(advice, &remedy);
				/*
				 * Taints of node conditions mark a node that is not healthy, so
				 * tolerating such a taint is the last proposal.
				 */
				advice->distance +=
					bt_str_has_prefix(taint->key, BT_STR("node.kubernetes.io/"))
					? 1
					: 0.05;
			}
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

		bt_advice_hint(advice, "gate %s is closed", name);
		bt_advice_add(
			advice, &(struct bt_remedy){.kind = BT_REMEDY_REMOVE_GATE, .key = name});
	}
}

const struct bt_adviser bt_advisers_nodes[] = {
	{"NodeAffinity", advise_node_affinity},
	{"NodeDeclaredFeatures", advise_features},
	{"NodeName", advise_node_name},
	{"NodeUnschedulable", advise_unschedulable},
	{"SchedulingGates", advise_gates},
	{"TaintToleration", advise_taints},
	{NULL, NULL},
};
