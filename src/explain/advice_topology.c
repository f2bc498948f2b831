/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodTopologySpread: which constraint is in the way, and how far. InterPodAffinity:
 * advice_affinity.c. Spec: 06 section 2.
 */
#include "explain/advice.h"

#include "explain/advice_text.h"
#include "plugins/common_spread_plugin.h"

/** The hard constraints of a pod on one node. */
struct spread_view {
	struct bt_advice *advice;
	const struct bt_spread_filter_data *data;
	bool from_defaults; /* the cluster's constraints, not the pod's */
};

/** Place of a hard constraint among all of the pod's. */
static uint32_t place_in_spec(const struct spread_view *view, uint32_t index)
{
	const struct bt_pod_spec *spec = &view->advice->pod->object->spec;
	uint32_t left = index;

	for (uint32_t i = 0; i < spec->topology_spread_constraints.count; i++) {
		if (bt_spread_has_action(
			    &spec->topology_spread_constraints.items[i], BT_SPREAD_HARD) &&
			left-- == 0) {
			return i;
		}
	}
	return UINT32_MAX;
}

/** Pods nominated to the node count there, also where the cycle does not know of them. */
static int64_t nominated_matches(const struct spread_view *view, uint32_t index)
{
	const struct bt_node_info *node = view->advice->node;
	const struct bt_spread_constraint *constraint = &view->data->list.items[index];
	int64_t count = 0;

	if (view->data->changes.count != 0 ||
		!bt_spread_counts_node(&view->data->list, index, node->state, node->slot)) {
		return 0;
	}
	for (uint32_t i = 0; i < node->added_pods.count; i++) {
		const struct bt_pod_info *pod = &node->added_pods.items[i];

		count += bt_str_equal(pod->namespace_, view->advice->pod->namespace_) &&
			bt_selector_matches(&constraint->selector, pod->labels);
	}
	return count;
}

static struct bt_str domain_text(const struct spread_view *view, uint32_t index, uint32_t domain)
{
	return bt_advice_domain_text(view->advice, view->data->list.items[index].column, domain);
}

/** false: changing the pod alone does not help. */
static bool advise_missing_label(const struct spread_view *view, uint32_t index)
{
	/* The constraint is the pod's own and may be given up; minDomains is legal with
	 * DoNotSchedule only. */
	bool may_allow = !view->from_defaults &&
		!view->advice->pod->object->spec.topology_spread_constraints
			 .items[place_in_spec(view, index)]
			 .min_domains.present;
	struct bt_remedy allow;
	struct bt_str key = view->data->list.items[index].topology_key;
	struct bt_str value = {0};

	if (bt_str_equal_c(key, "kubernetes.io/hostname")) {
		value = bt_node_info_name(view->advice->node);
	} else {
		/*
		 * The emptiest domain that would take the pod, 0: none does. Whether it still does
		 * when the node is in it is for a trial to say.
		 */
		const struct bt_spread_table *table = &view->data->limits[index].table;
		int64_t least = bt_spread_highest_count(view->data, index) + 1;
		uint32_t domain = 0;

		for (uint32_t i = 1; i < table->size; i++) {
			if (bt_spread_table_at(table, i) != BT_SPREAD_NO_DOMAIN &&
				bt_spread_count_at(view->data, index, i) < least) {
				least = bt_spread_count_at(view->data, index, i);
				domain = i;
			}
		}

		if (domain != 0) {
			value = bt_advice_domain_name(
				view->advice, view->data->list.items[index].column, domain);
		}
	}
	if (view->advice->hint.length == 0) {
		bt_advice_hint(view->advice, "lacks label %.*s", BT_STR_ARG(key));
	}
	if (may_allow) {
		allow = (struct bt_remedy){
			.kind = BT_REMEDY_ALLOW_SKEW, .index = place_in_spec(view, index)};
	}
	if (value.length != 0) {
		bt_advice_set_label(view->advice, key, value);
		if (may_allow) {
			bt_advice_add_of_pod(view->advice, &allow);
		}
	} else if (may_allow) {
		bt_advice_give_up(view->advice, &allow);
	} else {
		view->advice->is_final = true;
	}
	return may_allow;
}

static void hint_skew(const struct spread_view *view, uint32_t index, uint32_t domain,
	int64_t would_have, int64_t least)
{
	const struct bt_spread_constraint *constraint = &view->data->list.items[index];
	const struct bt_spread_table *table = &view->data->limits[index].table;
	struct bt_str here = domain_text(view, index, domain);
	const char *whose = view->from_defaults ? "the cluster's default " : "";

	if (view->advice->hint.length != 0) {
		return;
	}
	for (uint32_t i = 1; i < table->size; i++) {
		if (bt_spread_table_at(table, i) != BT_SPREAD_NO_DOMAIN && i != domain &&
			bt_spread_count_at(view->data, index, i) == least) {
			bt_advice_hint(view->advice,
				"%.*s would have %lld pod%s, the emptiest %.*s has %lld, "
				"%smaxSkew %d",
				BT_STR_ARG(here), (long long)would_have, would_have == 1 ? "" : "s",
				BT_STR_ARG(domain_text(view, index, i)), (long long)least, whose,
				constraint->max_skew);
			return;
		}
	}
	if (constraint->min_domains > 1) {
		bt_advice_hint(view->advice,
			"%.*s would have %lld pod%s with fewer than %d domains of %.*s, "
			"%smaxSkew %d",
			BT_STR_ARG(here), (long long)would_have, would_have == 1 ? "" : "s",
			constraint->min_domains, BT_STR_ARG(constraint->topology_key), whose,
			constraint->max_skew);
		return;
	}
	bt_advice_hint(view->advice, "%.*s would have %lld pod%s, the least is %lld, %smaxSkew %d",
		BT_STR_ARG(here), (long long)would_have, would_have == 1 ? "" : "s",
		(long long)least, whose, constraint->max_skew);
}

/** false: changing the pod alone does not help. */
static bool advise_constraint(const struct spread_view *view, uint32_t index)
{
	const struct bt_spread_constraint *constraint = &view->data->list.items[index];
	uint32_t domain = bt_topology_domain(constraint->column, view->advice->node->slot);
	int64_t highest;
	int64_t count;
	int64_t self = view->data->limits[index].self_matches;
	int64_t least;
	int64_t needed;
	struct bt_remedy raise;

	if (domain == 0) {
		return advise_missing_label(view, index);
	}
	highest = bt_spread_highest_count(view->data, index);
	count = bt_spread_count_at(view->data, index, domain) + nominated_matches(view, index);
	if (count <= highest) {
		return true;
	}
	least = highest - constraint->max_skew + self;
	needed = count + self - least;
	hint_skew(view, index, domain, count + self, least);
	view->advice->distance += 0.1 * (double)(needed - constraint->max_skew);
	if (view->from_defaults || needed > INT32_MAX) {
		view->advice->is_final = true;
		return false;
	}
	raise = (struct bt_remedy){.kind = BT_REMEDY_RAISE_MAX_SKEW,
		.amount = needed,
		.index = place_in_spec(view, index)};
	bt_advice_add(view->advice, &raise);
	bt_advice_add_of_pod(view->advice, &raise);
	return true;
}

static void advise_spread(struct bt_advice *advice)
{
	struct spread_view view = {.advice = advice,
		.data = bt_plugin_pre_filter_data(advice->plugin, advice->cycle),
		.from_defaults = advice->pod->object->spec.topology_spread_constraints.count == 0};
	bool pod_alone = true;

	if (advice->node == NULL || view.data == NULL) {
		advice->is_final = true;
		return;
	}
	/* Who writes constraints without end gets no advice, and costs no time. */
	for (uint32_t i = 0; i < view.data->list.count && !advice->is_final; i++) {
		pod_alone = advise_constraint(&view, i) && pod_alone;
	}
	bt_advice_close_pod_remedies(advice, pod_alone);
}

const struct bt_adviser bt_advisers_topology[] = {
	{"InterPodAffinity", bt_advise_pod_affinity},
	{"MatchInterPodAffinity", bt_advise_pod_affinity},
	{"PodTopologySpread", advise_spread},
	{NULL, NULL},
};
