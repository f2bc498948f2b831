/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodTopologySpread (PreFilter, Filter, PreScore, Score): spreads matching pods over zones and
 * hosts. Spec: 06 section 2.
 */
#include "plugins/pod_topology_spread.h"

#include <math.h>
#include <string.h>

#include "api/toleration.h"
#include "api/types.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text_set.h"
#include "base/wrap.h"
#include "plugins/common_columns.h"
#include "plugins/common_hint_marks.h"
#include "plugins/in_tree.h"
#include "state/topology_key.h"

/** The minimum count if there are no domains, as in upstream. */
#define LOW_OF_NOTHING INT64_C(2147483647)

/*
 * The selector of default constraints combines the selectors of the pod's services and owner. A
 * namespace may have thousands of services, so the selector is cached for pods with the same
 * namespace, labels and owner until a service or an owner changes. Spec: 06 sections 2.3 to 2.6.
 */

/**
 * Maximum memory of the cache, enough for some 10,000 selectors. The cache is emptied when it uses
 * more memory.
 */
#define KEPT_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct kept_selectors {
	struct bt_text_set keys;          /* namespace, labels and owner of the pods */
	BT_VEC(struct bt_selector) items; /* by position of the key */
	struct bt_arena arena;            /* memory of keys and items */
	uint64_t versions;                /* version of the objects that the selectors come from */
	struct bt_strbuf key;
};

struct spread_plugin {
	struct bt_plain_plugin base;
	const struct bt_topology_spread_constraint *defaults;
	uint32_t default_count;
	bool system_defaulted;
	struct kept_selectors selectors;
};

struct requirements {
	BT_VEC(struct bt_requirement) list;
};

/**
 * Add the requirement key == value for each entry of the map whose key has no requirement. The map
 * must outlive the list.
 */
static void add_pairs(struct requirements *out, const struct bt_str_map *map)
{
	for (uint32_t i = 0; i < map->count; i++) {
		if (BT_STR_FIND(&out->list, key, map->items[i].key) != NULL) {
			continue;
		}
		struct bt_requirement requirement = {
			.key = map->items[i].key,
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &map->items[i].value,
		};

		bt_vec_push(&out->list, requirement);
	}
}

/**
 * Add the selector of the pod's controller, if the controller is of a supported kind and exists.
 */
static void add_owner(struct bt_state *state, const struct bt_pod_info *pod,
	struct requirements *out, struct bt_arena *arena)
{
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	const void *found;
	enum bt_kind kind;

	if (owner == NULL) {
		return;
	}
	/* Upstream splits group and version at the slash, so "/v1" is also the core group. */
	if ((bt_str_equal_c(owner->api_version, "v1") ||
		    bt_str_equal_c(owner->api_version, "/v1")) &&
		bt_str_equal_c(owner->kind, "ReplicationController")) {
		kind = BT_KIND_REPLICATION_CONTROLLER;
	} else if (bt_str_equal_c(owner->api_version, "apps/v1") &&
		bt_str_equal_c(owner->kind, "ReplicaSet")) {
		kind = BT_KIND_REPLICA_SET;
	} else if (bt_str_equal_c(owner->api_version, "apps/v1") &&
		bt_str_equal_c(owner->kind, "StatefulSet")) {
		kind = BT_KIND_STATEFUL_SET;
	} else {
		return;
	}
	found = bt_object_store_find(&state->objects, kind, pod->namespace_, owner->name);
	if (found == NULL) {
		return;
	}
	if (kind == BT_KIND_REPLICATION_CONTROLLER) {
		/* Replace earlier requirements on the same keys. */
		const struct bt_str_map *map =
			&((const struct bt_replication_controller *)found)->spec.selector;
		uint32_t kept = 0;

		for (uint32_t i = 0; i < out->list.count; i++) {
			if (bt_str_map_find(map, out->list.items[i].key) == NULL) {
				out->list.items[kept++] = out->list.items[i];
			}
		}
		out->list.count = kept;
		add_pairs(out, map);
		return;
	}
	struct bt_selector selector;
	const struct bt_label_selector *source = kind == BT_KIND_REPLICA_SET
		? ((const struct bt_replica_set *)found)->spec.selector
		: ((const struct bt_stateful_set *)found)->spec.selector;
	if (bt_selector_from_label_selector(source, arena, &selector, NULL) == 0) {
		/* A selector that matches nothing has no requirements. */
		for (uint32_t i = 0; i < selector.requirement_count; i++) {
			bt_vec_push(&out->list, selector.requirements[i]);
		}
	}
}

static const struct bt_topology_spread_constraint system_defaults[2] = {
	{.max_skew = 3,
		.topology_key = BT_STR_INIT("kubernetes.io/hostname"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
	{.max_skew = 5,
		.topology_key = BT_STR_INIT("topology.kubernetes.io/zone"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
};

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action)
{
	return bt_str_equal_c(constraint->when_unsatisfiable,
		action == BT_SPREAD_HARD ? "DoNotSchedule" : "ScheduleAnyway");
}

/** Adds the requirements key == value for those keys that the labels have. */
static void require_labels(struct bt_selector *selector, const bt_str_list *keys,
	const struct bt_str_map *labels, struct bt_arena *arena)
{
	struct bt_requirement *all = BT_ARENA_NEW_ARRAY(
		arena, struct bt_requirement, (size_t)keys->count + selector->requirement_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < keys->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, keys->items[i]);

		if (value != NULL) {
			all[count++] = (struct bt_requirement){.key = keys->items[i],
				.operator_ = BT_SELECTOR_IN,
				.value_count = 1,
				.values = value};
		}
	}
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		all[count++] = selector->requirements[i];
	}
	selector->requirements = all;
	selector->requirement_count = count;
}

/**
 * Returns the selector of the pod's default constraints, without requirements if no object selects
 * the pod. Borrowed until the next call.
 */
static struct bt_selector default_selector(
	struct spread_plugin *instance, const struct bt_pod_info *pod)
{
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	struct kept_selectors *kept = &instance->selectors;
	struct bt_object_store *objects = &instance->base.handle->state->objects;
	/* The sum changes with every change of a service or of a possible owner. */
	uint64_t versions = bt_object_store_version(objects, BT_KIND_SERVICE) +
		bt_object_store_version(objects, BT_KIND_REPLICATION_CONTROLLER) +
		bt_object_store_version(objects, BT_KIND_REPLICA_SET) +
		bt_object_store_version(objects, BT_KIND_STATEFUL_SET);

	if (owner == NULL && bt_object_store_count(objects, BT_KIND_SERVICE) == 0) {
		return (struct bt_selector){0};
	}
	bt_strbuf_reset(&kept->key);
	bt_key_append_str(&kept->key, pod->namespace_);
	if (owner != NULL) {
		bt_key_append_str(&kept->key, owner->api_version);
		bt_key_append_str(&kept->key, owner->kind);
		bt_key_append_str(&kept->key, owner->name);
	}
	bt_key_append_u32(&kept->key, pod->labels->count);
	for (uint32_t i = 0; i < pod->labels->count; i++) {
		bt_key_append_str(&kept->key, pod->labels->items[i].key);
		bt_key_append_str(&kept->key, pod->labels->items[i].value);
	}
	struct bt_str key = bt_strbuf_str(&kept->key);
	if (kept->versions != versions || kept->arena.total_bytes > KEPT_BYTES_MAX) {
		bt_text_set_finish(&kept->keys);
		kept->items.count = 0;
		bt_arena_finish(&kept->arena);
		bt_arena_init(&kept->arena, 4096);
		kept->versions = versions;
	}
	uint32_t known = bt_text_set_find(&kept->keys, key);
	if (known != BT_MAP_NONE) {
		return kept->items.items[known];
	}
	struct bt_arena scratch = {0};
	struct requirements all = {0};
	const struct bt_service *service;
	uint32_t cursor = 0;

	while ((service = bt_object_store_next(
			objects, BT_KIND_SERVICE, pod->namespace_, &cursor)) != NULL) {
		if (service->spec.selector.present &&
			bt_str_map_contains(pod->labels, &service->spec.selector)) {
			/* All selectors match the pod's labels, so equal keys have equal values. */
			add_pairs(&all, &service->spec.selector);
		}
	}
	add_owner(instance->base.handle->state, pod, &all, &scratch);
	struct bt_selector found = {
		.requirement_count = all.list.count, .requirements = all.list.items};
	struct bt_selector copy = bt_selector_copy(&found, &kept->arena);
	bt_text_set_append(&kept->keys, bt_arena_str(&kept->arena, key));
	bt_vec_push(&kept->items, copy);
	bt_vec_finish(&all.list);
	bt_arena_finish(&scratch);
	return copy;
}

/**
 * Resolve the constraints of this action, in the order of the pod's list or of the defaults. Texts
 * are borrowed from the pod, the object store and the plugin; other memory is in the arena. Errors:
 * `obtaining pod's hard topology spread constraints: <selector error>` or `setting default hard
 * topology spread constraints: <...>`; with "soft" for BT_SPREAD_SOFT.
 */
static int resolve_constraints(struct spread_plugin *instance, const struct bt_pod_info *pod,
	enum bt_spread_action action, struct bt_arena *arena, struct bt_spread_list *out_list,
	struct berth_error *err)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_spread_list list = {0};
	const bt_topology_spread_constraint_list *own = &spec->topology_spread_constraints;
	bool is_default = own->count == 0;
	const struct bt_topology_spread_constraint *all =
		is_default ? instance->defaults : own->items;
	uint32_t all_count = is_default ? instance->default_count : own->count;
	uint32_t count = 0;

	for (uint32_t i = 0; i < all_count; i++) {
		count += bt_spread_has_action(&all[i], action);
	}
	if (count == 0) {
		*out_list = list;
		return 0;
	}
	list.items = BT_ARENA_NEW_ARRAY(arena, struct bt_spread_constraint, count);
	for (uint32_t n = 0; n < all_count; n++) {
		const struct bt_topology_spread_constraint *from = &all[n];

		if (!bt_spread_has_action(from, action)) {
			continue;
		}
		struct bt_spread_constraint *out = &list.items[list.count++];
		int code = bt_selector_from_label_selector(
			from->label_selector, arena, &out->selector, err);

		if (code != 0) {
			return bt_error_wrap(err, code, "%s %s topology spread constraints",
				is_default ? "setting default" : "obtaining pod's",
				action == BT_SPREAD_HARD ? "hard" : "soft");
		}
		if (from->match_label_keys.count != 0 && !out->selector.nothing &&
			bt_gate_enabled(instance->base.handle->gates,
				BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD)) {
			require_labels(&out->selector, &from->match_label_keys, pod->labels, arena);
		}
		out->topology_key = from->topology_key;
		out->max_skew = from->max_skew;
		out->min_domains = from->min_domains.present ? from->min_domains.value : 1;
		out->honors_affinity = from->node_affinity_policy.data == NULL ||
			bt_str_equal_c(from->node_affinity_policy, "Honor");
		out->honors_taints = bt_str_equal_c(from->node_taints_policy, "Honor");
	}
	if (is_default && list.count != 0) {
		struct bt_selector selector = default_selector(instance, pod);
		if (selector.requirement_count == 0) {
			list.count = 0;
		}
		selector = bt_selector_copy(&selector, arena);
		for (uint32_t i = 0; i < list.count; i++) {
			list.items[i].selector = selector;
		}
	}
	/*
	 * Making the column of a new key visits all nodes, so make columns only for constraints
	 * that remain.
	 */
	for (uint32_t i = 0; i < list.count; i++) {
		list.items[i].column = bt_state_label_column(
			instance->base.handle->state, list.items[i].topology_key);
	}
	if (list.count != 0) {
		list.affinity = bt_required_node_affinity_parse(spec, arena);
		list.tolerations = &spec->tolerations;
		list.allow_comparison = bt_gate_enabled(instance->base.handle->gates,
			BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	}
	*out_list = list;
	return 0;
}

/*
 * Number of matching pods by domain, counted by visiting nodes or taken from counters of the state.
 * Spec: 06 sections 2.5 and 2.6.
 */

/** Whether the node has all topology keys of the list. */
static bool slot_has_all_keys(const struct bt_spread_list *list, uint32_t slot)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_topology_domain(list->items[i].column, slot) == 0) {
			return false;
		}
	}
	return true;
}

bool bt_spread_counts_node(const struct bt_spread_list *list, uint32_t index,
	const struct bt_state *state, uint32_t slot)
{
	const struct bt_spread_constraint *constraint = &list->items[index];
	const struct bt_node_table *nodes = &state->nodes;

	if (constraint->honors_affinity &&
		!bt_required_node_affinity_matches(&list->affinity, bt_node_table_name(nodes, slot),
			&nodes->rows[slot].labels, NULL, NULL)) {
		return false;
	}
	return !constraint->honors_taints ||
		bt_find_untolerated_taint(bt_node_table_taints(nodes, slot), list->tolerations,
			BT_TAINT_HARD, list->allow_comparison) == NULL;
}

/**
 * Returns the number of pods on the node that are not terminating, are in the namespace and match
 * the selector; 0 if the selector is empty.
 */
static int64_t count_pods(const struct bt_state *state, const struct bt_selector *selector,
	bt_sym namespace_, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	int64_t count = 0;

	if (bt_selector_is_empty(selector)) {
		return 0;
	}
	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);

		count += !record->terminating && bt_sym_equal(record->namespace_, namespace_) &&
			bt_selector_matches(
				selector, &state->label_sets.sets.items[record->label_set].labels);
	}
	return count;
}

/**
 * Set up the table of a constraint from a counter. The counter counts the pods that count_pods
 * counts, on nodes that the inclusion policies accept and, if with_all_keys, that have all keys of
 * the list. If with_all_keys, the count of domain 0 (nodes without the constraint's key) has no
 * meaning. Returns false if there is no counter, so the nodes must be visited.
 */
static bool count_constraint(struct bt_state *state, const struct bt_spread_list *list,
	uint32_t index, const struct bt_pod_info *pod, bool with_all_keys,
	struct bt_spread_table *out_table)
{
	const struct bt_spread_constraint *constraint = &list->items[index];
	struct bt_counted_term term = {.namespace_count = 1,
		.namespaces = &pod->namespace_,
		.selector = &constraint->selector};
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	bool has_affinity = list->affinity.has_affinity || spec->node_selector.count != 0;
	/** Distinct keys of the list, without the key of the constraint. */
	struct bt_str other_keys[BT_COUNTED_TERMS_MAX];
	struct bt_counter_spec counter_spec = {
		.term_count = !constraint->selector.nothing &&
			!bt_selector_is_empty(&constraint->selector),
		.terms = &term,
		.live_only = true,
		.nodes =
			{
				.topology_key = constraint->topology_key,
				.labels = other_keys,
				.affinity_of =
					constraint->honors_affinity && has_affinity ? spec : NULL,
				.tolerations_of =
					constraint->honors_taints ? list->tolerations : NULL,
				.allow_comparison = list->allow_comparison,
			},
	};

	if (list->count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	for (uint32_t i = 0; with_all_keys && i < list->count; i++) {
		struct bt_str key = list->items[i].topology_key;
		bool is_known = bt_str_equal(key, constraint->topology_key);

		for (uint32_t n = 0; n < counter_spec.nodes.label_count && !is_known; n++) {
			is_known = bt_str_equal(key, other_keys[n]);
		}
		if (!is_known) {
			other_keys[counter_spec.nodes.label_count++] = key;
		}
	}
	const struct bt_domain_counter *counter = bt_domain_counter_get(state, &counter_spec);
	if (counter == NULL) {
		return false;
	}
	*out_table = (struct bt_spread_table){
		.size = constraint->column != NULL ? constraint->column->dictionary.count : 1,
		.sums = bt_domain_counter_sums(counter),
		.serial = bt_domain_counter_serial(counter),
	};
	return true;
}

/** Set up a table with an array of counts, all set to value. */
static void table_init(struct bt_spread_table *table, const struct bt_label_column *column,
	int64_t value, struct bt_arena *arena)
{
	*table = (struct bt_spread_table){.size = column != NULL ? column->dictionary.count : 1};
	table->counts = bt_arena_alloc(arena, table->size * sizeof(*table->counts));
	for (uint32_t i = 0; i < table->size; i++) {
		table->counts[i] = value;
	}
}

/** Replace the sums of a counter in the table by an array of counts. */
static void table_copy_counts(struct bt_spread_table *table, struct bt_arena *arena)
{
	int64_t *counts = bt_arena_alloc(arena, table->size * sizeof(*counts));

	for (uint32_t i = 0; i < table->size; i++) {
		counts[i] = bt_spread_table_at(table, i);
	}
	*table = (struct bt_spread_table){.counts = counts, .size = table->size};
}

static int64_t low_of(uint32_t least)
{
	return least == UINT32_MAX ? LOW_OF_NOTHING : least;
}

/** Count from counters. Returns false if some constraint has no counter. */
static bool count_by_counters(struct bt_spread_filter_data *data, struct bt_state *state,
	const struct bt_pod_info *pod, const struct bt_cycle_state *cycle)
{
	for (uint32_t i = 0; i < data->list.count; i++) {
		struct bt_spread_limit *limit = &data->limits[i];

		if (!count_constraint(state, &data->list, i, pod, true, &limit->table)) {
			return false;
		}
		limit->domain_count = limit->table.sums.eligible_count;
		limit->low = low_of(limit->table.sums.least);
		limit->low_count = limit->table.sums.least_count;
		limit->second_low = low_of(limit->table.sums.second_least);
		if (!cycle->borrows_counters) {
			table_copy_counts(&limit->table, cycle->arena);
		}
	}
	return true;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct spread_plugin *instance = bt_plugin_instance(plugin);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_spread_filter_data *data;
	struct bt_spread_list list;

	if (resolve_constraints(instance, pod, BT_SPREAD_HARD, cycle->arena, &list, &err) != 0) {
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
	if (cycle->plain || !count_by_counters(data, instance->base.handle->state, pod, cycle)) {
		/* Count as spec 06 section 2.7 describes: every pod of every eligible node. */
		const struct bt_state *state = instance->base.handle->state;
		const struct bt_snapshot *snapshot = &state->snapshot;
		bt_sym namespace_ = bt_symbol_find(&state->symbols, pod->namespace_);

		for (uint32_t i = 0; i < data->list.count; i++) {
			table_init(&data->limits[i].table, data->list.items[i].column,
				BT_SPREAD_NO_DOMAIN, cycle->arena);
		}
		for (uint32_t n = 0; n < snapshot->count; n++) {
			uint32_t slot = bt_snapshot_list(snapshot)[n];

			if (!slot_has_all_keys(&data->list, slot)) {
				continue;
			}
			/*
			 * Eligibility depends only on the two policies of the constraint. A pod may
			 * have any number of constraints, so compute eligibility once for each
			 * combination of policies.
			 */
			enum { UNKNOWN, INELIGIBLE, ELIGIBLE } verdicts[2][2] = {{UNKNOWN}};
			for (uint32_t i = 0; i < data->list.count; i++) {
				const struct bt_spread_constraint *constraint =
					&data->list.items[i];
				unsigned int verdict = verdicts[constraint->honors_affinity]
							       [constraint->honors_taints];
				int64_t *count;

				if (verdict == UNKNOWN) {
					verdict = bt_spread_counts_node(&data->list, i, state, slot)
						? ELIGIBLE
						: INELIGIBLE;
					verdicts[constraint->honors_affinity]
						[constraint->honors_taints] = verdict;
				}
				if (verdict == INELIGIBLE) {
					continue;
				}
				count = &data->limits[i].table.counts[bt_topology_domain(
					constraint->column, slot)];
				*count = (*count == BT_SPREAD_NO_DOMAIN ? 0 : *count) +
					count_pods(state, &constraint->selector, namespace_, slot);
			}
		}
		for (uint32_t i = 0; i < data->list.count; i++) {
			/* Compute the limits of the table, because no counter provides them. */
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
	cycle->pre_filter_data[plugin->index] = data;
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
 * Apply a what-if change: another pod is added to, or removed from, the node. Unlike PreFilter,
 * this ignores deletion timestamps and does not treat empty selectors specially. Spec 06 section
 * 2.8.
 */
static struct bt_status change_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t step)
{
	struct bt_spread_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data == NULL || !bt_str_equal(pod->namespace_, other->namespace_) ||
		!slot_has_all_keys(&data->list, node->slot)) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		const struct bt_spread_constraint *constraint = &data->list.items[i];

		if (bt_selector_matches(&constraint->selector, other->labels) &&
			bt_spread_counts_node(&data->list, i, node->state, node->slot)) {
			(void)bt_domain_changes_add(&data->changes, cycle->arena, i,
				bt_topology_domain(constraint->column, node->slot),
				step); /* the previous sum is not needed */
		}
	}
	return BT_STATUS_OK;
}

int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain)
{
	int64_t count = bt_spread_table_at(&data->limits[index].table, domain);

	return (count == BT_SPREAD_NO_DOMAIN ? 0 : count) +
		bt_domain_changes_sum(&data->changes, index, domain);
}

int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index)
{
	/*
	 * Compute `min` of spec 06 section 2.7: the lowest count, or 0 if there are fewer domains
	 * than minDomains.
	 */
	const struct bt_spread_limit *limit = &data->limits[index];
	uint32_t domain_count = limit->domain_count;
	int64_t low = limit->low;
	uint32_t changed = 0;
	uint32_t appeared = 0;

	for (uint32_t i = 0; i < data->changes.count; i++) {
		const struct bt_domain_change *change = &data->changes.items[i];

		if (change->table == index) {
			int64_t before = bt_spread_table_at(&limit->table, change->domain);
			bool was_lowest = before == limit->low && limit->low_count == 1;
			int64_t others = was_lowest ? limit->second_low : limit->low;
			int64_t count = bt_spread_count_at(data, index, change->domain);

			low = count < others ? count : others;
			appeared += before == BT_SPREAD_NO_DOMAIN;
			changed++;
		}
	}
	if (changed > 1 || appeared != 0) {
		/* If several domains have changed or a domain is new, scan all domains. */
		low = LOW_OF_NOTHING;
		domain_count += appeared;
		for (uint32_t i = 1; i < limit->table.size; i++) {
			if (bt_spread_table_at(&limit->table, i) != BT_SPREAD_NO_DOMAIN) {
				int64_t count = bt_spread_count_at(data, index, i);
				low = count < low ? count : low;
			}
		}
		for (uint32_t i = 0; i < data->changes.count; i++) {
			const struct bt_domain_change *change = &data->changes.items[i];

			if (change->table == index && change->delta < low &&
				bt_spread_table_at(&limit->table, change->domain) ==
					BT_SPREAD_NO_DOMAIN) {
				low = change->delta;
			}
		}
	}
	if ((int64_t)domain_count < data->list.items[index].min_domains) {
		low = 0;
	}
	return (int64_t)data->list.items[index].max_skew - limit->self_matches + low;
}

/**
 * Returns the reason why constraint `index` rejects the nodes of a domain; 0: the nodes pass.
 * highest: result of bt_spread_highest_count. Spec: 06 section 2.9.
 */
static uint32_t detail_of_domain(
	const struct bt_spread_filter_data *data, uint32_t index, int64_t highest, uint32_t domain)
{
	if (domain == 0) {
		return BT_SPREAD_NO_LABEL;
	}
	return bt_spread_count_at(data, index, domain) > highest ? BT_SPREAD_SKEW : 0;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_spread_filter_data *data = cycle->pre_filter_data[plugin->index];
	uint32_t detail = 0;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("reading \"PreFilterPodTopologySpread\" from cycleState: not "
			       "found"));
	}
	for (uint32_t i = 0; i < data->list.count && detail == 0; i++) {
		detail = detail_of_domain(data, i, bt_spread_highest_count(data, i),
			bt_topology_domain(data->list.items[i].column, node->slot));
	}
	return detail != 0 ? bt_plugin_rejection(plugin, detail) : BT_STATUS_OK;
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct bt_spread_filter_data *counted = data;
	uint32_t any = 0;

	bt_fill_slots(range, detail, 0);
	for (uint32_t i = 0; i < counted->list.count; i++) {
		const struct bt_label_column *column = counted->list.items[i].column;
		int64_t highest = bt_spread_highest_count(counted, i);

		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t slot = bt_slot_at(range, k);

			if (detail[slot] == 0) {
				detail[slot] = detail_of_domain(
					counted, i, highest, bt_topology_domain(column, slot));
				any |= detail[slot];
			}
		}
	}
	return any != 0;
}

/** The score of one soft constraint. Spec: 06 sections 2.10 to 2.13. */
struct spread_term {
	const struct bt_label_column *column; /* NULL: no node has the key */
	bool is_hostname;
	/* For keys other than the hostname: matching pods by domain. */
	struct bt_spread_table table;
	/** Domain of the value "", to which nodes without the label belong; 0: no such domain. */
	uint32_t empty_domain;
	int64_t pods_without_label;
	/* For the hostname key: matching pods by slot; NULL: read the table's sums. */
	uint32_t *own;
	double weight;
	double offset; /* maxSkew - 1 */
};

struct score_data {
	struct bt_spread_list list;
	bool requires_all_keys;    /* nodes that lack a key are ignored */
	struct spread_term *terms; /* one for each constraint of the list */
};

double bt_spread_log(uint64_t value)
{
	static const double high = 6.93147180369123816490e-01;
	static const double low = 1.90821492927058770002e-10;
	int exponent;
	double fraction = frexp((double)value, &exponent);

	if (fraction <= 7.07106781186547524401e-01) {
		fraction *= 2;
		exponent--;
	}
	double f = fraction - 1;
	double k = (double)exponent;
	double s = f / (2 + f);
	double s2 = s * s;
	double s4 = s2 * s2;
	double t1 = s2 *
		(6.666666666666735130e-01 +
			s4 *
				(2.857142874366239149e-01 +
					s4 *
						(1.818357216161805012e-01 +
							s4 * 1.479819860511658591e-01)));
	double t2 = s4 *
		(3.999999999940941908e-01 +
			s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
	double r = t1 + t2;
	double half = 0.5 * f * f;
	return k * high - ((half - (s * (half + r) + k * low)) - f);
}

static void count_term(const struct score_data *data, struct bt_state *state,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t index,
	struct spread_term *term)
{
	struct bt_arena *arena = cycle->arena;
	const struct bt_spread_constraint *constraint = &data->list.items[index];
	bt_sym namespace_ = bt_symbol_find(&state->symbols, pod->namespace_);
	bool counted = !cycle->plain &&
		count_constraint(
			state, &data->list, index, pod, data->requires_all_keys, &term->table);

	if (counted && cycle->borrows_counters) {
		return;
	}
	if (term->is_hostname) {
		/* Count the matching pods on every node, whatever the inclusion policies. */
		uint32_t slot_count = state->nodes.slot_count;
		term->own = BT_ARENA_NEW_ARRAY(arena, uint32_t, slot_count);
		for (uint32_t slot = 0; slot < slot_count; slot++) {
			term->own[slot] = counted
				? bt_domain_count_of_slot(&term->table.sums, slot)
				: (uint32_t)count_pods(
					  state, &constraint->selector, namespace_, slot);
		}
		return;
	}
	if (!counted) {
		/* Count the matching pods of eligible nodes by domain, visiting the nodes. */
		table_init(&term->table, constraint->column, 0, arena);
		for (uint32_t n = 0; n < state->snapshot.count; n++) {
			uint32_t slot = bt_snapshot_list(&state->snapshot)[n];

			if (!(data->requires_all_keys && !slot_has_all_keys(&data->list, slot)) &&
				bt_spread_counts_node(&data->list, index, state, slot)) {
				term->table.counts[bt_topology_domain(constraint->column, slot)] +=
					count_pods(state, &constraint->selector, namespace_, slot);
			}
		}
	} else {
		table_copy_counts(&term->table, arena);
	}
}

static int64_t pods_at(const struct bt_spread_table *table, uint32_t domain)
{
	int64_t count;

	if (table->counts == NULL) {
		return bt_domain_pods(&table->sums, domain);
	}
	count = table->counts[domain];
	return count == BT_SPREAD_NO_DOMAIN ? 0 : count;
}

/**
 * Make the score data without weights. Returns NULL if there are no constraints, or on an error,
 * which is in err.
 */
static struct score_data *prepare(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct berth_error *err)
{
	struct spread_plugin *instance = bt_plugin_instance(plugin);
	struct bt_spread_list list;
	struct score_data *data;

	if (resolve_constraints(instance, pod, BT_SPREAD_SOFT, cycle->arena, &list, err) != 0 ||
		list.count == 0) {
		return NULL;
	}
	data = BT_ARENA_NEW(cycle->arena, struct score_data);
	data->list = list;
	data->requires_all_keys = bt_plugin_pod_spec(pod)->topology_spread_constraints.count != 0 ||
		!instance->system_defaulted;
	data->terms = BT_ARENA_NEW_ARRAY(cycle->arena, struct spread_term, list.count);
	for (uint32_t i = 0; i < list.count; i++) {
		/* Set up everything except the weight. */
		const struct bt_spread_constraint *constraint = &list.items[i];
		struct spread_term term = {
			.column = constraint->column,
			.is_hostname =
				bt_str_equal_c(constraint->topology_key, "kubernetes.io/hostname"),
			.offset = (double)(int32_t)((uint32_t)constraint->max_skew - 1U),
		};

		count_term(data, instance->base.handle->state, cycle, pod, i, &term);
		if (!term.is_hostname && term.column != NULL && !data->requires_all_keys) {
			/* Nodes without the label belong to the domain of the value "". */
			const struct bt_label_column *column = term.column;
			for (uint32_t k = 1; k < column->dictionary.count; k++) {
				if (bt_sym_equal(column->dictionary.items[k], BT_SYM_EMPTY)) {
					term.empty_domain = k;
					term.pods_without_label = pods_at(&term.table, 0);
					break;
				}
			}
		}
		data->terms[i] = term;
	}
	return data;
}

/** Feasible nodes: each slot stands for one node, or for counts[i] nodes. */
struct feasible_nodes {
	const uint32_t *slots;
	const uint32_t *counts; /* NULL: one node for each slot */
	uint32_t count;
};

static bool slot_is_ignored(const struct score_data *data, uint32_t slot)
{
	return data->requires_all_keys && !slot_has_all_keys(&data->list, slot);
}

/** Returns the number of distinct values of the key on feasible nodes that are not ignored. */
static uint64_t count_values(const struct score_data *data, const struct spread_term *term,
	const struct feasible_nodes *nodes, struct bt_arena *arena)
{
	const struct bt_label_column *column = term->column;
	uint8_t *seen;
	uint64_t count = 0;

	if (column == NULL) {
		/* No node has the key, so all nodes have the value "". */
		return nodes->count != 0 && !data->requires_all_keys;
	}
	if (bt_label_column_is_unique(column) && term->empty_domain == 0) {
		/*
		 * Every node with the label has a different value; all nodes without the label
		 * share one more value.
		 */
		bool without_label = false;

		for (uint32_t i = 0; i < nodes->count; i++) {
			if (slot_is_ignored(data, nodes->slots[i])) {
				continue;
			}
			if (column->values[nodes->slots[i]] == 0) {
				without_label = true;
			} else {
				count += nodes->counts != NULL ? nodes->counts[i] : 1;
			}
		}
		return count + without_label;
	}
	seen = BT_ARENA_NEW_ARRAY(arena, uint8_t, column->dictionary.count);
	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t domain = column->values[nodes->slots[i]];

		if (!slot_is_ignored(data, nodes->slots[i])) {
			domain = domain == 0 ? term->empty_domain : domain;
			count += seen[domain] == 0;
			seen[domain] = 1;
		}
	}
	return count;
}

static void compute_weights(
	struct score_data *data, const struct feasible_nodes *nodes, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < data->list.count; i++) {
		struct spread_term *term = &data->terms[i];
		uint64_t size = 0;

		if (term->is_hostname) {
			for (uint32_t k = 0; k < nodes->count; k++) {
				size += slot_is_ignored(data, nodes->slots[k])
					? 0
					: (nodes->counts != NULL ? nodes->counts[k] : 1);
			}
		} else {
			size = count_values(data, term, nodes, arena);
		}
		term->weight = bt_spread_log(size + 2);
	}
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct feasible_nodes nodes = {.slots = slots, .count = slot_count};
	struct berth_error err = BERTH_ERROR_INIT;
	struct score_data *data;

	if (bt_plugin_handle(plugin)->state->snapshot.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = prepare(plugin, cycle, pod, &err);
	if (data == NULL) {
		if (err.code == 0) {
			return bt_status_code_only(BT_STATUS_SKIP);
		}
		(void)bt_error_wrap(&err, 0, "calculating preScoreState");
		return bt_status_from_error(cycle->arena, &err);
	}
	compute_weights(data, &nodes, cycle->arena);
	cycle->pre_score_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static struct bt_status pre_score_cells(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
	uint32_t cell_count)
{
	struct feasible_nodes nodes = {.slots = slots, .counts = counts, .count = cell_count};
	struct score_data *data = cycle->pre_score_data[plugin->index];

	if (data == NULL) {
		return bt_status_code_only(BT_STATUS_SKIP); /* cell_traits found no constraints */
	}
	compute_weights(data, &nodes, cycle->arena);
	return BT_STATUS_OK;
}

static bool pre_score_skips(struct bt_plugin *plugin, BT_UNUSED const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod)
{
	struct spread_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	bool is_own = spec->topology_spread_constraints.count != 0;
	const struct bt_topology_spread_constraint *constraints =
		is_own ? spec->topology_spread_constraints.items : instance->defaults;
	uint32_t count = is_own ? spec->topology_spread_constraints.count : instance->default_count;

	for (uint32_t i = 0; i < count; i++) {
		if (bt_spread_has_action(&constraints[i], BT_SPREAD_SOFT)) {
			/*
			 * Skip only if these are default constraints and no object selects the pod.
			 * The pod's own constraints may have parse errors, which PreScore reports.
			 */
			return !is_own && default_selector(instance, pod).requirement_count == 0;
		}
	}
	return true;
}

static int64_t score_slot(const struct score_data *data, uint32_t slot)
{
	double sum = 0;

	if (slot_is_ignored(data, slot)) {
		return 0;
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		const struct spread_term *term = &data->terms[i];
		uint32_t domain = bt_topology_domain(term->column, slot);
		int64_t count;

		if (domain == 0) {
			continue;
		}
		if (term->is_hostname) {
			count = term->own != NULL
				? term->own[slot]
				: bt_domain_count_of_slot(&term->table.sums, slot);
		} else {
			count = pods_at(&term->table, domain);
			count += domain == term->empty_domain ? term->pods_without_label : 0;
		}
		sum += (double)count * term->weight + term->offset;
	}
	/* Round half away from zero. Sums stay far below 2^52. */
	int64_t whole = (int64_t)sum;
	double rest = sum - (double)whole;

	return whole + (rest >= 0.5) - (rest <= -0.5);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct score_data *data = cycle->pre_score_data[plugin->index];

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreScorePodTopologySpread\" from cycleState: not "
			       "found"));
	}
	*out_score = score_slot(data, node->slot);
	return BT_STATUS_OK;
}

static void score_slots(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	const uint32_t *slots, uint32_t count, int64_t *scores)
{
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = score_slot(data, slots[i]);
	}
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores,
	uint32_t count)
{
	const struct score_data *data = cycle->pre_score_data[plugin->index];
	int64_t low = INT64_MAX;
	int64_t high = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!slot_is_ignored(data, slots[i])) {
			low = scores[i] < low ? scores[i] : low;
			high = scores[i] > high ? scores[i] : high;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = slot_is_ignored(data, slots[i])
			? 0
			: (high == 0 ? BT_SCORE_MAX
				     : bt_wrap_mul(BT_SCORE_MAX, high + low - scores[i]) / high);
	}
	return BT_STATUS_OK;
}

/**
 * First word of a trait's identity, combined with the kind. The other words are the label key and
 * the serial of the counter.
 */
#define SPREAD_TRAIT (UINT64_C(1) << 62)

enum trait_kind {
	/** Number of pods in the node's domain. Used only if each domain is one node. */
	TRAIT_DOMAIN_PODS = 1,
	TRAIT_OWN_PODS, /* number of pods on the node */
};

/**
 * Context of domain_pods and count_pods_on_node. The value of a slot is 0 if the slot lacks the
 * label, otherwise the count + 1.
 */
struct count_source {
	const struct bt_label_column *column;
	struct bt_domain_sums sums;
};

static uint64_t domain_pods(const void *context, uint32_t slot)
{
	const struct count_source *source = context;
	uint32_t domain = source->column->values[slot];

	return domain == 0 ? 0 : bt_domain_pods(&source->sums, domain) + UINT64_C(1);
}

static uint64_t count_pods_on_node(const void *context, uint32_t slot)
{
	const struct count_source *source = context;

	return source->column->values[slot] == 0
		? 0
		: bt_domain_count_of_slot(&source->sums, slot) + UINT64_C(1);
}

static void count_pods_column(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct count_source *source = context;
	struct bt_sparse_entry entry;

	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = 1;
	}
	for (uint32_t cursor = 0; bt_sparse_counts_next(source->sums.own, &cursor, &entry);) {
		if (entry.index < slot_count) {
			values[entry.index] = (uint32_t)entry.count + 1;
		}
	}
	const struct bt_label_column *column = source->column;
	for (uint32_t slot = 0; column->present_count != slot_count && slot < slot_count; slot++) {
		values[slot] = column->values[slot] != 0 ? values[slot] : 0;
	}
}

/**
 * Each domain is one node, so a slot without matching pods has the domain count 0 and keeps the
 * value 1.
 */
static void domain_pods_column(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct count_source *source = context;

	count_pods_column(context, slot_count, values);
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		if (values[slot] > 1) {
			values[slot] = (uint32_t)domain_pods(source, slot);
		}
	}
}

static void add_count_trait(struct bt_trait_list *out, const struct bt_label_column *column,
	const struct bt_spread_table *table, enum trait_kind kind)
{
	struct count_source *source = BT_ARENA_NEW(out->arena, struct count_source);
	struct bt_node_trait trait = {
		.identity = {SPREAD_TRAIT | kind, column->key.id, table->serial},
		.counts = table->sums.own,
		.reads = BT_CHANGE_PODS | BT_CHANGE_LABELS | BT_CHANGE_TAINTS | BT_CHANGE_EXISTENCE,
		.value = kind == TRAIT_OWN_PODS ? count_pods_on_node : domain_pods,
		.column = kind == TRAIT_OWN_PODS ? count_pods_column : domain_pods_column,
		.context = source,
	};

	*source = (struct count_source){column, table->sums};
	bt_arena_push(out->arena, out, trait);
}

static bool cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	const struct bt_spread_filter_data *filter = cycle->pre_filter_data[plugin->index];

	if (cycle->plain || !cycle->borrows_counters ||
		(filter != NULL && filter->changes.count != 0)) {
		return false;
	}
	for (uint32_t i = 0; filter != NULL && i < filter->list.count; i++) {
		const struct bt_label_column *column = filter->list.items[i].column;
		const struct bt_spread_table *table = &filter->limits[i].table;

		if (table->counts != NULL) {
			return false;
		}
		if (column == NULL) {
			continue; /* no node can pass */
		}
		if (bt_label_column_is_unique(column)) {
			add_count_trait(out, column, table, TRAIT_DOMAIN_PODS);
		} else {
			bt_topology_add_domain_trait(out, column);
		}
	}
	/* Prepare the score data without weights; pre_score_cells computes the weights. */
	struct berth_error err = BERTH_ERROR_INIT;
	struct score_data *score = prepare(plugin, cycle, pod, &err);
	bool fails = err.code != 0;

	berth_error_finish(&err);
	for (uint32_t i = 0; score != NULL && i < score->list.count; i++) {
		fails = fails || score->terms[i].table.serial == 0;
	}
	if (fails) {
		return false;
	}
	cycle->pre_score_data[plugin->index] = score;
	if (score != NULL) {
		for (uint32_t i = 0; i < score->list.count; i++) {
			const struct spread_term *term = &score->terms[i];

			if (term->column == NULL) {
				continue;
			}
			if (term->is_hostname) {
				add_count_trait(out, term->column, &term->table, TRAIT_OWN_PODS);
			} else if (bt_label_column_is_unique(term->column) &&
				term->empty_domain == 0) {
				add_count_trait(out, term->column, &term->table, TRAIT_DOMAIN_PODS);
			} else {
				/*
				 * A domain may have several nodes, with and without the label, so
				 * the domain itself is the trait.
				 */
				bt_topology_add_domain_trait(out, term->column);
			}
		}
	}
	return true;
}

/* Queueing hints. Spec: 06 section 2.15. */
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

static bool after_pod_change(const struct bt_hint_call *call)
{
	const struct bt_pod *old_pod = call->old_object;
	const struct bt_pod *new_pod = call->new_object;
	struct bt_arena arena = {0};
	struct bt_spread_list hard;

	if (!is_involved(call->pod, call->old_object) ||
		!is_involved(call->pod, call->new_object)) {
		return false;
	}
	bool helps = resolve_constraints(bt_plugin_instance(call->plugin), call->pod,
			     BT_SPREAD_HARD, &arena, &hard, call->err) != 0;
	bool tolerates_other = !helps && old_pod != NULL && new_pod != NULL &&
		bt_str_equal(new_pod->metadata.uid, call->pod->uid) &&
		!tolerations_equal(&old_pod->spec.tolerations, &new_pod->spec.tolerations);

	/* The event helps if a selector matches only one of the two versions of the pod. */
	for (uint32_t i = 0; !helps && i < hard.count; i++) {
		const struct bt_selector *selector = &hard.items[i].selector;

		helps = (tolerates_other && hard.items[i].honors_taints) ||
			(old_pod != NULL &&
				bt_selector_matches(selector, &old_pod->metadata.labels)) !=
				(new_pod != NULL &&
					bt_selector_matches(selector, &new_pod->metadata.labels));
	}
	bt_arena_finish(&arena);
	return helps;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_node *nodes[] = {call->old_object, call->new_object};
	bool has_keys[] = {nodes[0] != NULL, nodes[1] != NULL}; /* the node has all topology keys */
	bool differs = false;
	struct bt_arena arena = {0};
	struct bt_spread_list hard;

	if (resolve_constraints(bt_plugin_instance(call->plugin), call->pod, BT_SPREAD_HARD, &arena,
		    &hard, call->err) != 0) {
		bt_arena_finish(&arena);
		return true;
	}
	for (uint32_t i = 0; i < hard.count; i++) {
		const struct bt_str *values[2] = {NULL, NULL};

		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(nodes); n++) {
			if (has_keys[n]) {
				values[n] = bt_str_map_find(
					&nodes[n]->metadata.labels, hard.items[i].topology_key);
				has_keys[n] = values[n] != NULL;
			}
		}
		differs |= values[0] != NULL && values[1] != NULL &&
			!bt_str_equal(*values[0], *values[1]);
	}
	bt_arena_finish(&arena);
	if (has_keys[0] && has_keys[1]) {
		return differs ||
			!bt_taint_list_equal(&nodes[0]->spec.taints, &nodes[1]->spec.taints);
	}
	return has_keys[0] || has_keys[1];
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

/** Returns the pod data that the resolved hard constraints depend on. */
static enum bt_hint_scope constraint_scope(
	const struct spread_plugin *instance, const struct bt_pod_spec *spec)
{
	const struct bt_topology_spread_constraint *own = spec->topology_spread_constraints.items;

	for (uint32_t i = 0; i < spec->topology_spread_constraints.count; i++) {
		if (own[i].match_label_keys.count > 0) {
			return BT_HINT_SCOPE_LABELS;
		}
	}
	for (uint32_t i = 0;
		i < instance->default_count && spec->topology_spread_constraints.count == 0; i++) {
		/* The selectors come from the services and owner of the pod. */
		if (bt_spread_has_action(&instance->defaults[i], BT_SPREAD_HARD)) {
			return BT_HINT_SCOPE_POD;
		}
	}
	return BT_HINT_SCOPE_SHAPE;
}

static enum bt_hint_scope spread_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
	const struct bt_cluster_event *event, BT_UNUSED const void *old_object,
	BT_UNUSED const void *new_object)
{
	enum bt_hint_scope scope =
		constraint_scope(bt_plugin_instance(plugin), &bt_shape_pod(shape)->spec);

	/* Only pods in the waiting pod's namespace are counted. */
	return scope == BT_HINT_SCOPE_SHAPE &&
			!bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_NODE)
		? BT_HINT_SCOPE_NAMESPACE
		: scope;
}

static void hint_wants(
	struct bt_plugin *plugin, const struct bt_shape *shape, struct bt_hint_wants *wants)
{
	struct spread_plugin *instance = bt_plugin_instance(plugin);
	static const struct bt_str_map no_labels = {0};
	const struct bt_pod_info pod = {.shape = shape, .labels = &no_labels};
	struct bt_arena arena = {0};
	struct bt_spread_list hard = {0};

	if (constraint_scope(instance, &bt_shape_pod(shape)->spec) != BT_HINT_SCOPE_SHAPE ||
		resolve_constraints(instance, &pod, BT_SPREAD_HARD, &arena, &hard, NULL) != 0) {
		bt_hint_want(wants, BT_HINT_MARK_ALWAYS);
	}
	for (uint32_t i = 0; i < hard.count; i++) {
		bt_hint_want_pods(
			wants, &hard.items[i].selector, &instance->base.handle->state->symbols);
		bt_hint_want(wants,
			bt_hint_mark(BT_MARK_NODE_KEY, hard.items[i].topology_key, BT_STR("")));
	}
	bt_arena_finish(&arena);
}

/**
 * Offer marks for the event. Returns false if the event may help any pod: a node was added or
 * deleted, or its taints have changed.
 */
static bool hint_offers(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	const void *old_object, const void *new_object, struct bt_hint_offers *offers)
{
	const struct bt_node *old_node = old_object;
	const struct bt_node *new_node = new_object;

	if (!bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_NODE)) {
		bt_hint_offer_pods(offers, old_object, new_object);
		return true;
	}
	if (old_node == NULL || new_node == NULL ||
		!bt_taint_list_equal(&old_node->spec.taints, &new_node->spec.taints)) {
		return false;
	}
	bt_hint_offer_changed_keys(offers, old_node, new_node);
	return true;
}

static bool never_signs(const struct bt_plugin *plugin)
{
	const struct spread_plugin *instance = bt_plugin_instance(plugin);

	return instance->default_count != 0;
}

static struct bt_status sign(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	const struct spread_plugin *instance = bt_plugin_instance(plugin);

	if (bt_plugin_pod_spec(pod)->topology_spread_constraints.count > 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_TOPOLOGY_CONSTRAINTS);
	}
	if (instance->default_count != 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DEFAULT_TOPOLOGY_CONSTRAINTS);
	}
	return BT_STATUS_OK;
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct spread_plugin *instance = (struct spread_plugin *)(void *)plugin;

	instance->system_defaulted =
		bt_str_equal_c(args->pod_topology_spread.defaulting_type, "System");
	instance->defaults = args->pod_topology_spread.default_constraints.items;
	instance->default_count = args->pod_topology_spread.default_constraints.count;
	if (instance->system_defaulted) {
		instance->defaults = system_defaults;
		instance->default_count = BT_ARRAY_LENGTH(system_defaults);
	}
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	struct spread_plugin *instance = bt_plugin_instance(plugin);

	bt_text_set_finish(&instance->selectors.keys);
	bt_vec_finish(&instance->selectors.items);
	bt_arena_finish(&instance->selectors.arena);
	bt_strbuf_finish(&instance->selectors.key);
	bt_free(instance);
}

static const struct bt_plugin_shortcuts shortcuts = {
	.hint_scope_of = spread_hint_scope,
	.hint_wants = hint_wants,
	.hint_offers = hint_offers,
	.never_signs = never_signs,
	.pre_score_skips = pre_score_skips,
	.columns_per_cycle = true,
	.filter_column = filter_column,
	.rejections =
		{
			[BT_SPREAD_NO_LABEL - 1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_TOPOLOGY_SPREAD_LABEL},
			[BT_SPREAD_SKEW - 1] = {BT_STATUS_UNSCHEDULABLE, BT_REASON_TOPOLOGY_SPREAD},
		},
	.score_slots = score_slots,
	.cell_traits = cell_traits,
	.pre_score_cells = pre_score_cells,
};

const struct bt_plugin_ops bt_pod_topology_spread_plugin = {
	.name = "PodTopologySpread",
	.size = sizeof(struct spread_plugin),
	.args_kind = BT_ARGS_POD_TOPOLOGY_SPREAD,
	.args_error = "want args to be of type",
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.pre_filter_change_pod = change_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = normalize_score,
};
