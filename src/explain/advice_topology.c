/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice for PodTopologySpread: which constraint rejects the node, and by how much. Spec: 06
 * section 2. Advice for InterPodAffinity: which terms reject the node.
 */
#include "explain/advice.h"
#include "plugins/common_topology.h"
#include "plugins/pod_topology_spread.h"

/**
 * InterPodAffinity: finds the affinity term that matches no pod in the node's domain, and the pods
 * that violate anti-affinity. Spec: 06 section 3.
 */

/** Limit of blocking pods stored per domain. */
#define BLOCKERS_MAX 8
/** Limit of blocking pods named in a hint. */
#define SHOWN_MAX 3
/** Limit of terms stored as bits per domain. */
#define TERMS_MAX 64
/**
 * Limit of topology keys for which blocking pods are stored, because the memory grows with keys
 * times values.
 */
#define KEYS_MAX 16

/** Pods of one domain that block the pod: their number, and the first BLOCKERS_MAX of them. */
struct blocked_domain {
	uint64_t terms; /* bit i: the pod's anti-affinity term i is violated */
	uint32_t count;
	uint32_t pods[BLOCKERS_MAX]; /* pod ids */
};

/** Blocking pods of one topology key, by domain of the key's column. */
struct blocked_key {
	const struct bt_label_column *column;
	struct blocked_domain *domains;
};

struct blocked_keys {
	uint32_t count;
	struct blocked_key items[KEYS_MAX];
};

/** All blocking pods, found once per cycle by a walk over all pods. */
struct affinity_survey {
	struct blocked_keys apart;    /* pods that the pod's anti-affinity selects */
	struct blocked_keys existing; /* pods whose anti-affinity selects the pod */
};

struct affinity_view {
	struct bt_advice *advice;
	const struct bt_affinity_filter_data *data;
	const struct affinity_survey *survey;
};

static struct blocked_key *key_of(
	struct blocked_keys *keys, const struct bt_label_column *column, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < keys->count; i++) {
		if (keys->items[i].column == column) {
			return &keys->items[i];
		}
	}
	if (keys->count == KEYS_MAX) {
		return NULL;
	}
	keys->items[keys->count] = (struct blocked_key){
		column, BT_ARENA_NEW_ARRAY(arena, struct blocked_domain, column->dictionary.count)};
	return &keys->items[keys->count++];
}

static void record_blocker(struct blocked_keys *keys, const struct bt_label_column *column,
	struct bt_arena *arena, const struct bt_pod_info *pod, uint32_t slot, uint64_t term)
{
	uint32_t value = bt_topology_domain(column, slot);
	struct blocked_key *key = value != 0 ? key_of(keys, column, arena) : NULL;
	struct blocked_domain *domain;

	if (key == NULL) {
		return;
	}
	domain = &key->domains[value];
	domain->terms |= term;
	if (domain->count != 0 && domain->count <= BLOCKERS_MAX &&
		domain->pods[domain->count - 1] == pod->pod_id) {
		return; /* counted already for another term of the pod */
	}
	if (domain->count < BLOCKERS_MAX) {
		domain->pods[domain->count] = pod->pod_id;
	}
	domain->count++;
}

static const struct affinity_survey *survey_of(const struct affinity_view *view)
{
	struct bt_str key = BT_STR("berth.dev/explain/InterPodAffinity");
	struct bt_cycle_state *cycle = view->advice->cycle;
	struct affinity_survey *survey;
	void *known;

	if (bt_cycle_state_read(cycle, key, &known, NULL) == 0) {
		return known;
	}
	survey = BT_ARENA_NEW(cycle->arena, struct affinity_survey);
	const struct bt_state *state = view->advice->engine->state;
	const struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_pod_info pod;

	for (uint32_t n = 0; n < snapshot->count; n++) {
		uint32_t slot = bt_snapshot_list(snapshot)[n];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		for (uint32_t i = 0; view->data->anti_affinity.count != 0 && i < row->pods.count;
			i++) {
			bt_pod_info_from_record(state, row->pods.items[i], &pod);
			const struct bt_affinity_filter_data *data = view->data;
			struct bt_arena *arena = view->advice->cycle->arena;

			for (uint32_t j = 0; j < data->anti_affinity.count && j < TERMS_MAX; j++) {
				const struct bt_incoming_term *term = &data->anti_affinity.items[j];

				if (term->table != BT_NO_TABLE &&
					bt_incoming_term_matches(
						term, pod.namespace_, pod.labels)) {
					record_blocker(&survey->apart,
						data->apart.items[term->table].column, arena, &pod,
						slot, UINT64_C(1) << j);
				}
			}
		}
		for (uint32_t i = 0; i < row->pods_with_required_anti_affinity.count; i++) {
			bt_pod_info_from_record(
				state, row->pods_with_required_anti_affinity.items[i], &pod);
			const struct bt_pod_info *blocked_pod = view->advice->pod;
			struct bt_affinity_term_list list = bt_affinity_group_of(
				pod.shape->affinity_terms, BT_ANTI_AFFINITY_REQUIRED);

			for (uint32_t k = 0; k < list.count; k++) {
				const struct bt_label_column *column;

				if (!bt_affinity_term_matches(&list.items[k], pod.namespace_,
					    blocked_pod->namespace_, blocked_pod->labels,
					    view->data->namespace_labels)) {
					continue;
				}
				column = bt_state_label_column(
					view->advice->engine->state, list.items[k].topology_key);
				if (column != NULL) {
					record_blocker(&survey->existing, column,
						view->advice->cycle->arena, &pod, slot, 0);
				}
			}
		}
	}
	bt_cycle_state_write(cycle, key, survey, NULL);
	return survey;
}

/** Returns "in zone-a" or "on this node". */
static struct bt_str place_text(const struct affinity_view *view, struct bt_str key,
	const struct bt_label_column *column, uint32_t domain)
{
	if (bt_str_equal_c(key, "kubernetes.io/hostname")) {
		return BT_STR("on this node");
	}
	return bt_arena_printf(view->advice->arena, "in %.*s",
		BT_STR_ARG(bt_advice_domain_text(view->advice, column, domain)));
}

/**
 * For a node without the label: returns a value of the key that satisfies all affinity terms with
 * that key, or "" if no value does.
 */
static struct bt_str helpful_value(const struct affinity_view *view, uint32_t table)
{
	const struct bt_affinity_tables *near = &view->data->near;
	bool first = bt_affinity_is_first_of_its_kind(view->data);

	if (table == BT_NO_TABLE) {
		return (struct bt_str){0};
	}
	const struct bt_label_column *column = near->items[table].column;

	for (uint32_t i = 1; i < column->dictionary.count; i++) {
		if (column->value_counts.items[i] != 0 &&
			(first || bt_affinity_tables_at(near, table, i) > 0)) {
			return bt_advice_domain_name(view->advice, column, i);
		}
	}
	return (struct bt_str){0};
}

static void add_drop_and_distance(
	const struct affinity_view *view, enum bt_remedy_kind kind, uint32_t index)
{
	bt_advice_drop_requirement(view->advice, &(struct bt_remedy){.kind = kind, .index = index});
}

static void advise_affinity(const struct affinity_view *view)
{
	const struct bt_affinity_filter_data *data = view->data;
	uint32_t slot = view->advice->node->slot;
	bool first = bt_affinity_is_first_of_its_kind(data);

	/*
	 * Stop when too many remedies make the advice final, because nothing else bounds the number
	 * of terms.
	 */
	for (uint32_t i = 0; i < data->affinity.count && !view->advice->is_final; i++) {
		const struct bt_incoming_term *term = &data->affinity.items[i];
		const struct bt_label_column *column =
			term->table != BT_NO_TABLE ? data->near.items[term->table].column : NULL;
		uint32_t domain = bt_topology_domain(column, slot);
		struct bt_str selector;

		if (domain == 0) {
			struct bt_str key = term->term->topology_key;
			struct bt_str label = {0};

			if (view->advice->hint.length == 0) {
				bt_advice_hint(view->advice, "lacks label %s", key);
			}
			if (!bt_str_equal_c(key, "kubernetes.io/hostname")) {
				label = helpful_value(view, term->table);
			} else if (first) {
				label = bt_node_info_name(view->advice->node);
			}
			if (label.length != 0) {
				bt_advice_set_label(view->advice, key, label);
				bt_advice_add_of_pod(view->advice,
					&(struct bt_remedy){
						.kind = BT_REMEDY_DROP_POD_AFFINITY, .index = i});
			} else {
				add_drop_and_distance(view, BT_REMEDY_DROP_POD_AFFINITY, i);
			}
			continue;
		}
		if (first || bt_affinity_tables_at(&data->near, term->table, domain) > 0) {
			continue;
		}
		if (view->advice->hint.length == 0) {
			selector = bt_advice_selector_text(view->advice, &term->term->selector);
			bt_advice_hint(view->advice, "no pod matching %s%c %s", selector,
				data->affinity.count > 1 ? " and its other terms" : "",
				place_text(view, term->term->topology_key, column, domain));
		}
		add_drop_and_distance(view, BT_REMEDY_DROP_POD_AFFINITY, i);
	}
}

static void hint_blockers(const struct affinity_view *view, const struct blocked_domain *domain,
	struct bt_str place, bool is_own)
{
	struct bt_strbuf text = {0};

	if (view->advice->hint.length != 0) {
		return;
	}
	for (uint32_t i = 0; i < domain->count && i < SHOWN_MAX; i++) {
		bt_text_append(&text, "%c%s", i == 0 ? "" : ", ",
			bt_advice_pod_text(view->advice, domain->pods[i]));
	}
	bt_text_append(
		&text, "[ and %u more]", domain->count > SHOWN_MAX ? domain->count - SHOWN_MAX : 0);
	if (is_own) {
		bt_advice_hint(view->advice, "its anti-affinity keeps it from %s %s",
			bt_strbuf_str(&text), place);
	} else {
		bt_advice_hint(view->advice, "the anti-affinity of %s %s keeps it away",
			bt_strbuf_str(&text), place);
	}
	bt_strbuf_finish(&text);
}

static struct bt_str place_of_key(
	const struct affinity_view *view, const struct bt_label_column *column, uint32_t value)
{
	struct bt_str key = bt_symbol_text(&view->advice->engine->state->symbols, column->key);

	return place_text(view, key, column, value);
}

static void advise_pod_affinity(struct bt_advice *advice)
{
	struct affinity_view view = {
		.advice = advice, .data = advice->cycle->pre_filter_data[advice->plugin->index]};
	bool existing;

	if (advice->node == NULL || view.data == NULL) {
		advice->is_final = true;
		return;
	}
	view.survey = survey_of(&view);
	advise_affinity(&view);
	for (uint32_t k = 0; k < view.survey->apart.count; k++) {
		const struct blocked_key *key = &view.survey->apart.items[k];
		uint32_t value = bt_topology_domain(key->column, view.advice->node->slot);
		const struct blocked_domain *blocked = &key->domains[value];

		if (value == 0 || blocked->count == 0) {
			continue;
		}
		bool may_leave = blocked->count == 1 &&
			bt_advice_is_removable(advice->engine->state, blocked->pods[0]);

		hint_blockers(&view, blocked, place_of_key(&view, key->column, value), true);
		if (may_leave) {
			bt_advice_remove_pod(view.advice, blocked->pods[0]);
		}
		for (uint32_t i = 0; i < TERMS_MAX; i++) {
			if ((blocked->terms >> i & 1) == 0) {
				continue;
			}
			if (may_leave) {
				bt_advice_add_of_pod(view.advice,
					&(struct bt_remedy){
						.kind = BT_REMEDY_DROP_POD_ANTI_AFFINITY,
						.index = i});
			} else {
				add_drop_and_distance(&view, BT_REMEDY_DROP_POD_ANTI_AFFINITY, i);
			}
		}
	}
	/* Find pods whose anti-affinity selects the pod. */
	bool found = false;

	for (uint32_t k = 0; k < view.survey->existing.count; k++) {
		const struct blocked_key *key = &view.survey->existing.items[k];
		uint32_t value = bt_topology_domain(key->column, view.advice->node->slot);
		const struct blocked_domain *domain = &key->domains[value];

		if (value == 0 || domain->count == 0) {
			continue;
		}
		found = true;
		hint_blockers(&view, domain, place_of_key(&view, key->column, value), false);
		if (domain->count > BLOCKERS_MAX) {
			view.advice->is_final = true;
		}
		for (uint32_t i = 0; i < domain->count && i < BLOCKERS_MAX; i++) {
			bt_advice_remove_pod(view.advice, domain->pods[i]);
		}
	}
	existing = found;
	if (advice->remedies.count == 0) {
		/* Pods nominated to this node count like running pods, but cannot be removed. */
		const struct bt_node_info *node = view.advice->node;
		const struct bt_affinity_filter_data *data = view.data;
		uint64_t dropped = 0;

		for (uint32_t n = 0; n < node->added_pods.count; n++) {
			const struct bt_pod_info *pod = &node->added_pods.items[n];
			struct bt_affinity_term_list list = bt_affinity_group_of(
				pod->shape->affinity_terms, BT_ANTI_AFFINITY_REQUIRED);

			for (uint32_t i = 0; i < data->anti_affinity.count && i < TERMS_MAX; i++) {
				if ((dropped >> i & 1) == 0 &&
					bt_incoming_term_matches(&data->anti_affinity.items[i],
						pod->namespace_, pod->labels)) {
					dropped |= UINT64_C(1) << i;
					add_drop_and_distance(
						&view, BT_REMEDY_DROP_POD_ANTI_AFFINITY, i);
				}
			}
			for (uint32_t i = 0; i < list.count; i++) {
				view.advice->is_final = view.advice->is_final ||
					bt_affinity_term_matches(&list.items[i], pod->namespace_,
						view.advice->pod->namespace_,
						view.advice->pod->labels, data->namespace_labels);
			}
		}
	}
	bt_advice_close_pod_remedies(advice, !existing);
}

/** The pod's hard topology spread constraints, for advice about one node. */
struct spread_view {
	struct bt_advice *advice;
	const struct bt_spread_filter_data *data;
	bool from_defaults; /* the constraints are the profile's default constraints */
};

/**
 * Converts an index among the pod's hard constraints to the index among all constraints of the pod.
 * Returns UINT32_MAX if there is no such constraint.
 */
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

/**
 * Advises on a node without the topology label of the constraint at `index`. Returns false if
 * changing the pod alone does not help.
 */
static bool advise_missing_label(const struct spread_view *view, uint32_t index)
{
	/*
	 * Whether the constraint is in the pod's spec and can become ScheduleAnyway. A constraint
	 * with minDomains cannot, because minDomains is valid only with DoNotSchedule.
	 */
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
		 * Among the domains that would accept the pod, find the domain with the fewest
		 * matching pods. domain stays 0 if no domain would accept the pod. A trial decides
		 * whether the domain still accepts the pod when this node joins it.
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
		bt_advice_hint(view->advice, "lacks label %s", key);
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
		bt_advice_drop_requirement(view->advice, &allow);
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
	struct bt_str here =
		bt_advice_domain_text(view->advice, view->data->list.items[index].column, domain);
	const char *whose = view->from_defaults ? "the cluster's default " : "";

	if (view->advice->hint.length != 0) {
		return;
	}
	for (uint32_t i = 1; i < table->size; i++) {
		if (bt_spread_table_at(table, i) != BT_SPREAD_NO_DOMAIN && i != domain &&
			bt_spread_count_at(view->data, index, i) == least) {
			bt_advice_hint(view->advice,
				"%s would have %d {pod|pods}, the emptiest %s has %d, "
				"%cmaxSkew %i",
				here, would_have,
				bt_advice_domain_text(
					view->advice, view->data->list.items[index].column, i),
				least, whose, constraint->max_skew);
			return;
		}
	}
	if (constraint->min_domains > 1) {
		bt_advice_hint(view->advice,
			"%s would have %d {pod|pods} with fewer than %i domains of %s, "
			"%cmaxSkew %i",
			here, would_have, constraint->min_domains, constraint->topology_key, whose,
			constraint->max_skew);
		return;
	}
	bt_advice_hint(view->advice, "%s would have %d {pod|pods}, the least is %d, %cmaxSkew %i",
		here, would_have, least, whose, constraint->max_skew);
}

/**
 * Advises on one constraint, if the node violates it. Returns false if changing the pod alone does
 * not help.
 */
static bool advise_constraint(const struct spread_view *view, uint32_t index)
{
	const struct bt_node_info *node = view->advice->node;
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
	count = bt_spread_count_at(view->data, index, domain);
	/* Unless data->changes has them already, count the pods that are nominated to the node. */
	if (view->data->changes.count == 0 &&
		bt_spread_counts_node(&view->data->list, index, node->state, node->slot)) {
		for (uint32_t i = 0; i < node->added_pods.count; i++) {
			const struct bt_pod_info *pod = &node->added_pods.items[i];

			count += bt_str_equal(pod->namespace_, view->advice->pod->namespace_) &&
				bt_selector_matches(&constraint->selector, pod->labels);
		}
	}
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
		.data = advice->cycle->pre_filter_data[advice->plugin->index],
		.from_defaults = advice->pod->object->spec.topology_spread_constraints.count == 0};
	bool pod_alone = true;

	if (advice->node == NULL || view.data == NULL) {
		advice->is_final = true;
		return;
	}
	/*
	 * Stop when too many remedies make the advice final, because nothing else bounds the number
	 * of constraints.
	 */
	for (uint32_t i = 0; i < view.data->list.count && !advice->is_final; i++) {
		pod_alone = advise_constraint(&view, i) && pod_alone;
	}
	bt_advice_close_pod_remedies(advice, pod_alone);
}

const struct bt_adviser bt_advisers_topology[] = {
	{"InterPodAffinity", advise_pod_affinity},
	{"MatchInterPodAffinity", advise_pod_affinity},
	{"PodTopologySpread", advise_spread},
	{NULL, NULL},
};
