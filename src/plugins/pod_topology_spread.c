/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodTopologySpread (PreFilter, Filter, PreScore, Score): pods of a kind spread over zones and
 * hosts. Spec: 06 section 2. Constraints and their counts:
 * pod_topology_spread_constraints.c, many nodes at once: pod_topology_spread_columns.c, scoring:
 * pod_topology_spread_score.c.
 */
#include "plugins/pod_topology_spread.h"

#include "base/alloc.h"
#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "plugins/in_tree.h"

/** Least count over no domain at all. */
#define LOW_OF_NOTHING INT64_C(2147483647)

static const struct bt_spread_plugin *instance_of(const struct bt_plugin *plugin)
{
	return (const struct bt_spread_plugin *)(const void *)plugin;
}

/* --- the least count --- */

/* --- PreFilter --- */

/** Whether a node counts depends on a constraint's two policies alone: asked once for each of them.
 * A pod may have any number of constraints, and of terms of its affinity. */
struct node_verdicts {
	bool known[4];
	bool counts[4];
};

static bool counts_node(const struct bt_spread_filter_data *data, uint32_t index,
	const struct bt_state *state, uint32_t slot, struct node_verdicts *verdicts)
{
	const struct bt_spread_constraint *constraint = &data->list.items[index];
	uint32_t policies =
		(constraint->honors_affinity ? 1U : 0U) | (constraint->honors_taints ? 2U : 0U);

	if (!verdicts->known[policies]) {
		verdicts->known[policies] = true;
		verdicts->counts[policies] = bt_spread_counts_node(&data->list, index, state, slot);
	}
	return verdicts->counts[policies];
}

static int64_t low_of(uint32_t least)
{
	return least == UINT32_MAX ? LOW_OF_NOTHING : least;
}

/** The same from counters; false when there are none for this pod. */
static bool count_by_counters(struct bt_spread_filter_data *data, struct bt_state *state,
	const struct bt_pod_info *pod, const struct bt_cycle_state *cycle)
{
	for (uint32_t i = 0; i < data->list.count; i++) {
		struct bt_spread_limit *limit = &data->limits[i];

		if (!bt_spread_count(state, &data->list, i, pod, true, &limit->table)) {
			return false;
		}
		limit->domain_count = limit->table.sums.eligible_count;
		limit->low = low_of(limit->table.sums.least);
		limit->low_count = limit->table.sums.least_count;
		limit->second_low = low_of(limit->table.sums.second_least);
		if (!cycle->borrows_counters) {
			bt_spread_table_own(&limit->table, cycle->arena);
		}
	}
	return true;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_spread_plugin *instance = instance_of(plugin);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_spread_filter_data *data;
	struct bt_spread_list list;

	if (bt_spread_resolve(&instance->source, pod, BT_SPREAD_HARD, cycle->arena, &list, &err) !=
		0) {
		(void)bt_error_wrap(&err, 0, "get constraints from pod");
		return bt_status_from_error(cycle->arena, &err);
	}
	if (list.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = BT_ARENA_NEW(cycle->arena, struct bt_spread_filter_data);
	data->list = list;
	data->limits = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_spread_limit, list.count);
	for (uint32_t i = 0; i < list.count; i++) {
		data->limits[i].self_matches =
			bt_selector_matches(&list.items[i].selector, pod->labels);
	}
	if (cycle->plain || !count_by_counters(data, instance->source.state, pod, cycle)) {
		/* Section 2.7 to the letter: every pod of every eligible node. */
		const struct bt_state *state = instance->source.state;
		const struct bt_snapshot *snapshot = &state->snapshot;
		bt_sym namespace_ = bt_symbol_find(&state->symbols, pod->namespace_);

		for (uint32_t i = 0; i < data->list.count; i++) {
			bt_spread_table_init(&data->limits[i].table, data->list.items[i].column,
				BT_SPREAD_NO_DOMAIN, cycle->arena);
		}
		for (uint32_t n = 0; n < snapshot->count; n++) {
			uint32_t slot = snapshot->list[n];

			if (!bt_spread_has_all_keys(&data->list, slot)) {
				continue;
			}
			struct node_verdicts verdicts = {0};
			for (uint32_t i = 0; i < data->list.count; i++) {
				const struct bt_spread_constraint *constraint =
					&data->list.items[i];
				int64_t *count;

				if (!counts_node(data, i, state, slot, &verdicts)) {
					continue;
				}
				count = &data->limits[i].table.counts[bt_topology_domain(
					constraint->column, slot)];
				*count = (*count == BT_SPREAD_NO_DOMAIN ? 0 : *count) +
					bt_spread_count_pods(
						state, &constraint->selector, namespace_, slot);
			}
		}
		for (uint32_t i = 0; i < data->list.count; i++) {
			/* Of a table that was counted by walking. */
			struct bt_spread_limit *limit = &data->limits[i];
			limit->low = LOW_OF_NOTHING;
			limit->low_count = 0;
			limit->second_low = LOW_OF_NOTHING;
			limit->domain_count = 0;
			for (uint32_t k = 1; k < limit->table.size; k++) {
				int64_t count = limit->table.counts[k];

				if (count == BT_SPREAD_NO_DOMAIN) {
					continue;
				}
				limit->domain_count++;
				if (count < limit->low) {
					limit->second_low = limit->low;
					limit->low = count;
					limit->low_count = 1;
				} else if (count == limit->low) {
					limit->low_count++;
				} else if (count < limit->second_low) {
					limit->second_low = count;
				}
			}
		}
	}
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	const struct bt_spread_filter_data *source = data;
	struct bt_spread_filter_data *copy = BT_ARENA_NEW(arena, struct bt_spread_filter_data);

	*copy = *source;
	copy->changes = bt_domain_changes_clone(&source->changes, arena);
	return copy;
}

/**
 * Section 2.8: neither a deletion timestamp nor an empty selector is special here, unlike in
 * PreFilter.
 */
static void change_by_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t delta)
{
	struct bt_spread_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data == NULL || !bt_str_equal(pod->namespace_, other->namespace_) ||
		!bt_spread_has_all_keys(&data->list, node->slot)) {
		return;
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		const struct bt_spread_constraint *constraint = &data->list.items[i];

		if (bt_selector_matches(&constraint->selector, other->labels) &&
			bt_spread_counts_node(&data->list, i, node->state, node->slot)) {
			(void)bt_domain_changes_add(&data->changes, cycle->arena, i,
				bt_topology_domain(constraint->column, node->slot),
				delta); /* the sum before matters to nobody */
		}
	}
}

static struct bt_status add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	const struct bt_node_info *node)
{
	change_by_pod(plugin, cycle, pod_to_schedule, pod_to_add, node, 1);
	return BT_STATUS_OK;
}

static struct bt_status remove_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_remove,
	const struct bt_node_info *node)
{
	change_by_pod(plugin, cycle, pod_to_schedule, pod_to_remove, node, -1);
	return BT_STATUS_OK;
}

/* --- Filter --- */

int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain)
{
	int64_t count = bt_spread_table_at(&data->limits[index].table, domain);

	return (count == BT_SPREAD_NO_DOMAIN ? 0 : count) +
		bt_domain_changes_sum(&data->changes, index, domain);
}

/** The least count when several domains changed, or one appeared. */
static int64_t low_by_scanning(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t *out_domain_count)
{
	const struct bt_spread_limit *limit = &data->limits[index];
	int64_t low = LOW_OF_NOTHING;

	for (uint32_t i = 1; i < limit->table.size; i++) {
		if (bt_spread_table_at(&limit->table, i) != BT_SPREAD_NO_DOMAIN) {
			int64_t count = bt_spread_count_at(data, index, i);
			low = count < low ? count : low;
		}
	}
	*out_domain_count = limit->domain_count;
	for (uint32_t i = 0; i < data->changes.count; i++) {
		const struct bt_domain_change *change = &data->changes.items[i];

		if (change->table == index &&
			bt_spread_table_at(&limit->table, change->domain) == BT_SPREAD_NO_DOMAIN) {
			low = change->delta < low ? change->delta : low;
			(*out_domain_count)++;
		}
	}
	return low;
}

/** min of section 2.7: the least count, or 0 with fewer domains than wanted. */
static int64_t least_count(const struct bt_spread_filter_data *data, uint32_t index)
{
	const struct bt_spread_limit *limit = &data->limits[index];
	uint32_t domain_count = limit->domain_count;
	int64_t low = limit->low;
	uint32_t changed = 0;
	bool appeared = false;

	for (uint32_t i = 0; i < data->changes.count; i++) {
		const struct bt_domain_change *change = &data->changes.items[i];

		if (change->table == index) {
			int64_t before = bt_spread_table_at(&limit->table, change->domain);
			bool was_lowest = before == limit->low && limit->low_count == 1;
			int64_t others = was_lowest ? limit->second_low : limit->low;
			int64_t count = bt_spread_count_at(data, index, change->domain);

			low = count < others ? count : others;
			appeared = appeared || before == BT_SPREAD_NO_DOMAIN;
			changed++;
		}
	}
	if (changed > 1 || appeared) {
		low = low_by_scanning(data, index, &domain_count);
	}
	return (int64_t)domain_count < data->list.items[index].min_domains ? 0 : low;
}

int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index)
{
	return (int64_t)data->list.items[index].max_skew - data->limits[index].self_matches +
		least_count(data, index);
}

static struct bt_status detail_status(uint32_t detail)
{
	if (detail == BT_SPREAD_NO_LABEL) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_TOPOLOGY_SPREAD_LABEL);
	}
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_TOPOLOGY_SPREAD);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_spread_filter_data *data = bt_plugin_pre_filter_data(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("reading \"PreFilterPodTopologySpread\" from cycleState: not "
			       "found"));
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		uint32_t domain = bt_topology_domain(data->list.items[i].column, node->slot);

		if (domain == 0) {
			return detail_status(BT_SPREAD_NO_LABEL);
		}
		if (bt_spread_count_at(data, i, domain) > bt_spread_highest_count(data, i)) {
			return detail_status(BT_SPREAD_SKEW);
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const void *data, BT_UNUSED const struct bt_pod_info *pod, uint32_t detail,
	BT_UNUSED struct bt_arena *arena)
{
	return detail_status(detail);
}

/* --- hints, spec 06 section 2.15 --- */

static const struct bt_spread_source *source_of(const struct bt_plugin *plugin)
{
	return &((const struct bt_spread_plugin *)(const void *)plugin)->source;
}

/* Pods. */

static bool is_involved(const struct bt_pod_info *pod, const struct bt_pod *other)
{
	return other == NULL || bt_str_equal(other->metadata.uid, pod->uid) ||
		(bt_plugin_pod_is_placed(other) &&
			bt_str_equal(other->metadata.namespace_, pod->namespace_));
}

static bool tolerations_equal(const bt_toleration_list *a, const bt_toleration_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		const struct bt_toleration *x = &a->items[i];
		const struct bt_toleration *y = &b->items[i];

		if (!bt_str_equal(x->key, y->key) || !bt_str_equal(x->operator_, y->operator_) ||
			!bt_str_equal(x->value, y->value) || !bt_str_equal(x->effect, y->effect) ||
			!(x->toleration_seconds.present == y->toleration_seconds.present &&
				(!x->toleration_seconds.present ||
					x->toleration_seconds.value ==
						y->toleration_seconds.value))) {
			return false;
		}
	}
	return true;
}

static bool honors_taints(const struct bt_spread_list *hard)
{
	for (uint32_t i = 0; i < hard->count; i++) {
		if (hard->items[i].honors_taints) {
			return true;
		}
	}
	return false;
}

static bool pod_change_helps(const struct bt_spread_list *hard, const struct bt_pod_info *pod,
	const struct bt_pod *old_pod, const struct bt_pod *new_pod)
{
	if (old_pod != NULL && new_pod != NULL && bt_str_equal(new_pod->metadata.uid, pod->uid) &&
		!tolerations_equal(&old_pod->spec.tolerations, &new_pod->spec.tolerations) &&
		honors_taints(hard)) {
		return true;
	}
	/* Some constraint's selector matches one of the label maps and not the other (NULL: no
	 * map). */
	const struct bt_str_map *a = old_pod != NULL ? &old_pod->metadata.labels : NULL;
	const struct bt_str_map *b = new_pod != NULL ? &new_pod->metadata.labels : NULL;
	for (uint32_t i = 0; i < hard->count; i++) {
		const struct bt_selector *selector = &hard->items[i].selector;
		bool matches_a = a != NULL && bt_selector_matches(selector, a);
		bool matches_b = b != NULL && bt_selector_matches(selector, b);

		if (matches_a != matches_b) {
			return true;
		}
	}
	return false;
}

static enum bt_queueing_hint after_pod_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_spread_list hard;
	bool helps;

	if (!is_involved(pod, old_object) || !is_involved(pod, new_object)) {
		return BT_HINT_SKIP;
	}
	helps = bt_spread_resolve(source_of(plugin), pod, BT_SPREAD_HARD, &arena, &hard, err) !=
			0 ||
		pod_change_helps(&hard, pod, old_object, new_object);
	bt_arena_finish(&arena);
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

/* Nodes. */

static bool has_all_keys(const struct bt_spread_list *hard, const struct bt_node *node)
{
	for (uint32_t i = 0; i < hard->count; i++) {
		if (bt_str_map_find(&node->metadata.labels, hard->items[i].topology_key) == NULL) {
			return false;
		}
	}
	return true;
}

/** Some key has another value; a missing label reads as "". */
static bool values_differ(
	const struct bt_spread_list *hard, const struct bt_node *a, const struct bt_node *b)
{
	for (uint32_t i = 0; i < hard->count; i++) {
		struct bt_str key = hard->items[i].topology_key;
		const struct bt_str *value_a = bt_str_map_find(&a->metadata.labels, key);
		const struct bt_str *value_b = bt_str_map_find(&b->metadata.labels, key);

		if (!bt_str_equal(value_a != NULL ? *value_a : BT_STR(""),
			    value_b != NULL ? *value_b : BT_STR(""))) {
			return true;
		}
	}
	return false;
}

static bool node_change_helps(const struct bt_spread_list *hard, const struct bt_node *old_node,
	const struct bt_node *new_node)
{
	if (old_node == NULL || new_node == NULL) {
		return has_all_keys(hard, new_node != NULL ? new_node : old_node);
	}
	if (has_all_keys(hard, old_node) != has_all_keys(hard, new_node)) {
		return true;
	}
	return has_all_keys(hard, new_node) &&
		(values_differ(hard, old_node, new_node) ||
			!bt_taint_list_equal(&old_node->spec.taints, &new_node->spec.taints));
}

static enum bt_queueing_hint after_node_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_spread_list hard;
	bool helps = bt_spread_resolve(
			     source_of(plugin), pod, BT_SPREAD_HARD, &arena, &hard, err) != 0 ||
		node_change_helps(&hard, old_object, new_object);

	bt_arena_finish(&arena);
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL | BT_ACTION_UPDATE_POD_TOLERATION |
			 BT_ACTION_DELETE},
		after_pod_change},
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_DELETE | BT_ACTION_UPDATE_NODE_LABEL |
			 BT_ACTION_UPDATE_NODE_TAINT},
		after_node_change},
};

/** What resolving the hard constraints looks at besides the shape. */
static enum bt_hint_scope constraint_scope(
	const struct bt_spread_source *source, const struct bt_pod_spec *spec)
{
	const struct bt_topology_spread_constraint *own = spec->topology_spread_constraints.items;
	static const struct bt_str hard = BT_STR_INIT("DoNotSchedule");

	for (uint32_t i = 0; i < spec->topology_spread_constraints.count; i++) {
		if (own[i].match_label_keys.count > 0) {
			return BT_HINT_SCOPE_LABELS;
		}
	}
	for (uint32_t i = 0;
		i < source->default_count && spec->topology_spread_constraints.count == 0; i++) {
		/* Selectors come from the pod's services and owners. */
		if (bt_str_equal(source->defaults[i].when_unsatisfiable, hard)) {
			return BT_HINT_SCOPE_POD;
		}
	}
	return BT_HINT_SCOPE_SHAPE;
}

static enum bt_hint_scope spread_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
	const struct bt_cluster_event *event, BT_UNUSED const void *old_object,
	BT_UNUSED const void *new_object)
{
	static const struct bt_str node = BT_RESOURCE_NODE;
	enum bt_hint_scope scope = constraint_scope(source_of(plugin), &shape->pod->spec);

	/* A pod only counts in its own namespace. */
	return scope == BT_HINT_SCOPE_SHAPE && !bt_str_equal(event->resource, node)
		? BT_HINT_SCOPE_NAMESPACE
		: scope;
}

/* --- the rest --- */

static bool never_signs(const struct bt_plugin *plugin)
{
	return instance_of(plugin)->source.default_count != 0;
}

static struct bt_status sign(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	if (bt_plugin_pod_spec(pod)->topology_spread_constraints.count > 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_TOPOLOGY_CONSTRAINTS);
	}
	if (instance_of(plugin)->source.default_count != 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DEFAULT_TOPOLOGY_CONSTRAINTS);
	}
	return BT_STATUS_OK;
}

static int create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct bt_spread_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_POD_TOPOLOGY_SPREAD, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct bt_spread_plugin);
	instance->base.ops = ops;
	instance->handle = handle;
	instance->system_defaulted =
		bt_str_equal_c(args->pod_topology_spread.defaulting_type, "System");
	instance->source = (struct bt_spread_source){
		.state = handle->state,
		.selectors = bt_spread_selectors_create(),
		.gates = handle->gates,
		.defaults = args->pod_topology_spread.default_constraints.items,
		.default_count = args->pod_topology_spread.default_constraints.count,
	};
	if (instance->system_defaulted) {
		instance->source.defaults = bt_spread_system_defaults;
		instance->source.default_count = BT_ARRAY_LENGTH(bt_spread_system_defaults);
	}
	*out_plugin = &instance->base;
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	struct bt_spread_plugin *instance = (struct bt_spread_plugin *)plugin;

	bt_spread_selectors_destroy(instance->source.selectors);
	bt_vec_finish(&instance->verdicts);
	bt_free(instance);
}

static const struct bt_plugin_shortcuts shortcuts = {
	.hint_scope_of = spread_hint_scope,
	.never_signs = never_signs,
	.pre_score_skips = bt_spread_pre_score_skips,
	.columns_per_cycle = true,
	.filter_column = bt_spread_filter_column,
	.filter_detail_status = filter_detail_status,
	.score_slots = bt_spread_score_slots,
	.normalize_column = bt_spread_normalize_column,
	.cell_traits = bt_spread_cell_traits,
	.pre_score_cells = bt_spread_pre_score_cells,
};

const struct bt_plugin_ops bt_pod_topology_spread_plugin = {
	.name = "PodTopologySpread",
	.create = create,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.pre_filter_add_pod = add_pod,
	.pre_filter_remove_pod = remove_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
	.pre_score = bt_spread_pre_score,
	.score = bt_spread_score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = bt_spread_normalize_score,
};
