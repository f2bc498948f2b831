/* SPDX-License-Identifier: Apache-2.0 */
/**
 * InterPodAffinity (PreFilter, Filter, PreScore, Score): pods that want to be, or not to be, near
 * other pods. Spec: 06 section 3. Terms and their counts: inter_pod_affinity_terms.c,
 * many nodes at once: inter_pod_affinity_columns.c, scoring: inter_pod_affinity_score.c.
 */
#include "plugins/inter_pod_affinity.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

static const struct bt_affinity_plugin *instance_of(const struct bt_plugin *plugin)
{
	return (const struct bt_affinity_plugin *)(const void *)plugin;
}

/* --- PreFilter --- */

/** Where the effect of one pod on one node goes: into the counts, or into the changes on top. */
struct count_target {
	struct bt_state *state;
	struct bt_arena *arena;
	uint32_t slot;
	int64_t delta;
	bool is_change;
};

static void count_key(
	const struct count_target *target, struct bt_affinity_tables *tables, uint32_t table)
{
	uint32_t domain;

	if (table == BT_NO_TABLE) {
		return;
	}
	domain = bt_topology_domain(tables->items[table].column, target->slot);
	if (domain == 0) {
		return;
	}
	if (target->is_change) {
		bt_affinity_table_change(tables, target->arena, table, domain, target->delta);
	} else {
		bt_affinity_table_count(tables, target->arena, table, domain, target->delta);
	}
}

/** The required anti-affinity terms of another pod that select the pod. */
static void count_existing(struct bt_affinity_filter_data *data, const struct bt_pod_info *pod,
	const struct bt_pod_info *other, const struct count_target *target)
{
	struct bt_affinity_term_list list =
		bt_affinity_group_of(bt_affinity_terms_of(other), BT_ANTI_AFFINITY_REQUIRED);

	for (uint32_t i = 0; i < list.count; i++) {
		if (bt_affinity_term_matches(&list.items[i], other->namespace_, pod->namespace_,
			    pod->labels, data->namespace_labels)) {
			count_key(target, &data->existing,
				bt_affinity_table_of_key(&data->existing, target->state,
					target->arena, list.items[i].topology_key));
		}
	}
}

/** The pod's own terms that select another pod. */
static void count_own(struct bt_affinity_filter_data *data, const struct bt_pod_info *other,
	const struct count_target *target)
{
	if (bt_incoming_terms_all_match(&data->affinity, other->namespace_, other->labels)) {
		for (uint32_t i = 0; i < data->affinity.count; i++) {
			count_key(target, &data->near, data->affinity.items[i].table);
		}
	}
	for (uint32_t i = 0; i < data->anti_affinity.count; i++) {
		if (bt_incoming_term_matches(
			    &data->anti_affinity.items[i], other->namespace_, other->labels)) {
			count_key(target, &data->apart, data->anti_affinity.items[i].table);
		}
	}
}

/** Section 3.5 to the letter: every pod with anti-affinity, and every pod if there are own terms.
 */
static void count_by_walking(struct bt_affinity_filter_data *data, struct bt_state *state,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	struct count_target target = {.state = state, .arena = arena, .delta = 1};
	struct bt_pod_info other;

	for (uint32_t n = 0; n < snapshot->anti_affinity_list.count; n++) {
		target.slot = snapshot->anti_affinity_list.items[n];
		const struct bt_node_row *row = &state->nodes.rows[target.slot];
		for (uint32_t i = 0; i < row->pods_with_required_anti_affinity.count; i++) {
			bt_pod_info_from_record(
				state, row->pods_with_required_anti_affinity.items[i], &other);
			count_existing(data, pod, &other, &target);
		}
	}
	if (data->affinity.count == 0 && data->anti_affinity.count == 0) {
		return;
	}
	for (uint32_t n = 0; n < snapshot->count; n++) {
		target.slot = snapshot->list[n];
		const struct bt_node_row *row = &state->nodes.rows[target.slot];
		for (uint32_t i = 0; i < row->pods.count; i++) {
			bt_pod_info_from_record(state, row->pods.items[i], &other);
			count_own(data, &other, &target);
		}
	}
}

/** Number of affinity terms with the key of term `index`; 0 when an earlier term has it too. */
static int64_t terms_with_key_from(const struct bt_incoming_terms *terms, uint32_t index)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < terms->count; i++) {
		if (terms->items[i].table == terms->items[index].table) {
			if (i < index) {
				return 0;
			}
			count++;
		}
	}
	return count;
}

/** The same from counters and the index of existing terms; false when they do not serve this pod.
 */
static bool count_by_counters(struct bt_affinity_filter_data *data, struct bt_state *state,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_existing_sum sum = {.state = state, .arena = arena, .tables = &data->existing};

	if (data->affinity.count > BT_COUNTED_TERMS_MAX ||
		data->anti_affinity.count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	sum.fixed[BT_ANTI_AFFINITY_REQUIRED] = 1;
	if (!bt_affinity_add_existing(
		    &sum, 1U << BT_ANTI_AFFINITY_REQUIRED, pod, data->namespace_labels)) {
		return false;
	}
	for (uint32_t i = 0; i < data->affinity.count; i++) {
		int64_t factor = terms_with_key_from(&data->affinity, i);

		if (factor != 0 && data->affinity.items[i].table != BT_NO_TABLE &&
			!bt_affinity_count_matching(state, data->affinity.items,
				data->affinity.count, &data->near, arena,
				data->affinity.items[i].table, factor)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < data->anti_affinity.count; i++) {
		struct bt_incoming_term *term = &data->anti_affinity.items[i];

		if (term->table != BT_NO_TABLE &&
			!bt_affinity_count_matching(
				state, term, 1, &data->apart, arena, term->table, 1)) {
			return false;
		}
	}
	return true;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	struct bt_state *state = instance_of(plugin)->handle->state;
	struct bt_affinity_filter_data *data;

	if (terms != NULL && terms->errors.length != 0) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, cycle->arena,
			"parsing pod: %.*s", BT_STR_ARG(terms->errors));
	}
	data = BT_ARENA_NEW(cycle->arena, struct bt_affinity_filter_data);
	data->near.copies = !cycle->borrows_counters;
	data->apart.copies = !cycle->borrows_counters;
	data->existing.copies = !cycle->borrows_counters;
	data->affinity =
		bt_affinity_expand(state, pod, BT_AFFINITY_REQUIRED, &data->near, cycle->arena);
	data->anti_affinity = bt_affinity_expand(
		state, pod, BT_ANTI_AFFINITY_REQUIRED, &data->apart, cycle->arena);
	data->namespace_labels = bt_affinity_namespace_labels(state, pod->namespace_);
	data->matches_itself =
		bt_incoming_terms_all_match(&data->affinity, pod->namespace_, pod->labels);
	data->counted = !cycle->plain && count_by_counters(data, state, pod, cycle->arena);
	if (!data->counted) {
		bt_affinity_tables_reset(&data->near);
		bt_affinity_tables_reset(&data->apart);
		bt_affinity_tables_reset(&data->existing);
		count_by_walking(data, state, pod, cycle->arena);
	}
	if (data->existing.entry_count == 0 && data->affinity.count == 0 &&
		data->anti_affinity.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	struct bt_affinity_filter_data *copy = BT_ARENA_NEW(arena, struct bt_affinity_filter_data);

	*copy = *(const struct bt_affinity_filter_data *)data;
	bt_affinity_tables_clone(&copy->near, arena);
	bt_affinity_tables_clone(&copy->apart, arena);
	bt_affinity_tables_clone(&copy->existing, arena);
	return copy;
}

static struct bt_status change_by_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t delta)
{
	struct bt_affinity_filter_data *data = cycle->pre_filter_data[plugin->index];
	struct count_target target = {
		.state = instance_of(plugin)->handle->state,
		.arena = cycle->arena,
		.slot = node->slot,
		.delta = delta,
		.is_change = true,
	};

	if (data != NULL) {
		count_existing(data, pod, other, &target);
		count_own(data, other, &target);
	}
	return BT_STATUS_OK;
}

static struct bt_status add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	const struct bt_node_info *node)
{
	return change_by_pod(plugin, cycle, pod_to_schedule, pod_to_add, node, 1);
}

static struct bt_status remove_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_remove,
	const struct bt_node_info *node)
{
	return change_by_pod(plugin, cycle, pod_to_schedule, pod_to_remove, node, -1);
}

/* --- Filter --- */

static struct bt_status detail_status(uint32_t detail)
{
	if (detail == BT_DETAIL_AFFINITY) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_POD_AFFINITY);
	}
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE,
		detail == BT_DETAIL_ANTI_AFFINITY ? BT_REASON_POD_ANTI_AFFINITY
						  : BT_REASON_EXISTING_ANTI_AFFINITY);
}

static bool satisfies_affinity(const struct bt_affinity_filter_data *data, uint32_t slot)
{
	bool satisfied = true;

	for (uint32_t i = 0; i < data->affinity.count; i++) {
		uint32_t table = data->affinity.items[i].table;
		uint32_t domain = table == BT_NO_TABLE
			? 0
			: bt_topology_domain(data->near.items[table].column, slot);

		if (domain == 0) {
			return false;
		}
		satisfied = satisfied && bt_affinity_tables_at(&data->near, table, domain) > 0;
	}
	return satisfied || bt_affinity_is_first_of_its_kind(data);
}

/** Some pair of the tables that the node has is positive. */
static bool has_positive_pair(const struct bt_affinity_tables *tables, uint32_t slot)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		uint32_t domain = bt_topology_domain(tables->items[i].column, slot);

		if (domain != 0 && bt_affinity_tables_at(tables, i, domain) > 0) {
			return true;
		}
	}
	return false;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_affinity_filter_data *data = bt_plugin_pre_filter_data(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreFilterInterPodAffinity\" from cycleState: not "
			       "found"));
	}
	if (!satisfies_affinity(data, node->slot)) {
		return detail_status(BT_DETAIL_AFFINITY);
	}
	if (has_positive_pair(&data->apart, node->slot)) {
		return detail_status(BT_DETAIL_ANTI_AFFINITY);
	}
	if (has_positive_pair(&data->existing, node->slot)) {
		return detail_status(BT_DETAIL_EXISTING);
	}
	return BT_STATUS_OK;
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const void *data, BT_UNUSED const struct bt_pod_info *pod, uint32_t detail,
	BT_UNUSED struct bt_arena *arena)
{
	return detail_status(detail);
}

/* --- hints, spec 06 section 3.12: terms are not expanded here, and always matched against no
 * namespace labels --- */

static const struct bt_str_map no_namespace_labels;

/** There are terms, and each selects a pod with these labels in this namespace. */
static bool all_match(struct bt_affinity_term_list terms, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < terms.count; i++) {
		if (!bt_affinity_term_matches(&terms.items[i], owner_namespace, namespace_, labels,
			    &no_namespace_labels)) {
			return false;
		}
	}
	return terms.count != 0;
}

static bool all_match_pod(struct bt_affinity_term_list terms, const struct bt_pod_info *owner,
	const struct bt_pod *other)
{
	return all_match(
		terms, owner->namespace_, other->metadata.namespace_, &other->metadata.labels);
}

/** All required anti-affinity terms of a deleted pod selected the waiting one. */
static bool kept_away(const struct bt_pod *deleted, const struct bt_pod_info *pod)
{
	struct bt_arena arena = {0};
	const struct bt_affinity_terms *terms = bt_affinity_terms_parse(&deleted->spec, &arena);
	bool result = all_match(terms->groups[BT_ANTI_AFFINITY_REQUIRED],
		deleted->metadata.namespace_, pod->namespace_, pod->labels);

	bt_arena_finish(&arena);
	return result;
}

static bool pod_change_helps(const struct bt_pod_info *pod, const struct bt_affinity_terms *terms,
	const struct bt_pod *old_pod, const struct bt_pod *new_pod)
{
	struct bt_affinity_term_list near = bt_affinity_group_of(terms, BT_AFFINITY_REQUIRED);
	struct bt_affinity_term_list apart = bt_affinity_group_of(terms, BT_ANTI_AFFINITY_REQUIRED);

	if (old_pod == NULL) {
		return all_match_pod(near, pod, new_pod);
	}
	if (new_pod == NULL) {
		return all_match_pod(apart, pod, old_pod) || kept_away(old_pod, pod);
	}
	return (!all_match_pod(near, pod, old_pod) && all_match_pod(near, pod, new_pod)) ||
		(all_match_pod(apart, pod, old_pod) && !all_match_pod(apart, pod, new_pod));
}

static enum bt_queueing_hint fail_to_parse(
	const struct bt_affinity_terms *terms, struct berth_error *err)
{
	(void)bt_error_set(err, BERTH_ERR_INVALID, "%.*s",
		BT_STR_ARG(terms->errors)); /* the verdict says it */
	return BT_HINT_QUEUE;
}

static enum bt_queueing_hint after_pod_change(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	const struct bt_pod *old_pod = old_object;
	const struct bt_pod *new_pod = new_object;

	if (old_pod != NULL && new_pod != NULL && bt_str_equal(new_pod->metadata.uid, pod->uid)) {
		return BT_HINT_QUEUE;
	}
	if ((old_pod != NULL && !bt_plugin_pod_is_placed(old_pod)) ||
		(new_pod != NULL && !bt_plugin_pod_is_placed(new_pod))) {
		return BT_HINT_SKIP;
	}
	if (terms != NULL && terms->errors.length != 0) {
		return fail_to_parse(terms, err);
	}
	return pod_change_helps(pod, terms, old_pod, new_pod) ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

/** Label values of a topology key on the old and the new node; NULL where it is missing. */
struct key_values {
	const struct bt_str *before;
	const struct bt_str *after;
};

static struct key_values values_of(const struct bt_affinity_term *term,
	const struct bt_node *old_node, const struct bt_node *new_node)
{
	return (struct key_values){
		old_node != NULL ? bt_str_map_find(&old_node->metadata.labels, term->topology_key)
				 : NULL,
		bt_str_map_find(&new_node->metadata.labels, term->topology_key),
	};
}

static bool differ(struct key_values values)
{
	return values.before != NULL && values.after != NULL &&
		!bt_str_equal(*values.before, *values.after);
}

static enum bt_queueing_hint after_node_change(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	const struct bt_affinity_terms *terms = bt_affinity_terms_of(pod);
	struct bt_affinity_term_list near = bt_affinity_group_of(terms, BT_AFFINITY_REQUIRED);
	struct bt_affinity_term_list apart = bt_affinity_group_of(terms, BT_ANTI_AFFINITY_REQUIRED);

	if (terms != NULL && terms->errors.length != 0) {
		return fail_to_parse(terms, err);
	}
	for (uint32_t i = 0; i < near.count; i++) {
		struct key_values values = values_of(&near.items[i], old_object, new_object);
		if ((values.before == NULL && values.after != NULL) || differ(values)) {
			return BT_HINT_QUEUE;
		}
	}
	for (uint32_t i = 0; i < apart.count; i++) {
		struct key_values values = values_of(&apart.items[i], old_object, new_object);
		if (old_object == NULL || (values.before != NULL && values.after == NULL) ||
			differ(values)) {
			return BT_HINT_QUEUE;
		}
	}
	return BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL | BT_ACTION_DELETE},
		after_pod_change},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, after_node_change},
};

static enum bt_hint_scope affinity_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_shape *shape, const struct bt_cluster_event *event,
	const void *old_object, const void *new_object)
{
	static const struct bt_str node = BT_RESOURCE_NODE;
	const struct bt_pod *deleted = old_object;

	if (bt_str_equal(event->resource, node)) {
		return BT_HINT_SCOPE_SHAPE;
	}
	/* Only what a deleted pod kept away is looked at itself. */
	return new_object == NULL && deleted->spec.affinity != NULL &&
			deleted->spec.affinity->pod_anti_affinity != NULL
		? BT_HINT_SCOPE_LABELS
		: BT_HINT_SCOPE_NAMESPACE;
}

/* --- the rest --- */

/* Existing pods can prefer any pod by its labels. */
static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	struct bt_strbuf value = {0};

	if (pod->shape->has_affinity) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_INTER_POD_AFFINITY);
	}
	if (instance_of(plugin)->ignores_preferred_terms_of_existing_pods) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < pod->labels->count; i++) {
		bt_sign_write_str(&value, pod->labels->items[i].key);
		bt_sign_write_str(&value, pod->labels->items[i].value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Labels"), &value);
	bt_strbuf_finish(&value);
	return BT_STATUS_OK;
}

static int create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct bt_affinity_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_INTER_POD_AFFINITY, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct bt_affinity_plugin);
	instance->base.ops = ops;
	instance->handle = handle;
	instance->hard_weight = args->inter_pod_affinity.hard_pod_affinity_weight.present
		? args->inter_pod_affinity.hard_pod_affinity_weight.value
		: 1;
	instance->ignores_preferred_terms_of_existing_pods =
		args->inter_pod_affinity.ignore_preferred_terms_of_existing_pods;
	*out_plugin = &instance->base;
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	struct bt_affinity_plugin *instance = (struct bt_affinity_plugin *)plugin;

	bt_vec_finish(&instance->verdicts);
	bt_vec_finish(&instance->sums);
	bt_free(instance);
}

static const struct bt_plugin_shortcuts shortcuts = {
	.hint_scope_of = affinity_hint_scope,
	.pre_score_skips = bt_affinity_pre_score_skips,
	.columns_per_cycle = true,
	.filter_column = bt_affinity_filter_column,
	.filter_detail_status = filter_detail_status,
	.score_slots = bt_affinity_score_slots,
	.normalize_column = bt_affinity_normalize_column,
	.cell_traits = bt_affinity_cell_traits,
};

const struct bt_plugin_ops bt_inter_pod_affinity_plugin = {
	.name = "InterPodAffinity",
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
	.pre_score = bt_affinity_pre_score,
	.score = bt_affinity_score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = bt_affinity_normalize_score,
};
