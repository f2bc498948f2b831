/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/toleration.h"
#include "api/types.h"
#include "base/alloc.h"
#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "plugins/pod_topology_spread.h"
#include "state/domain_counter.h"
#include "state/topology_key.h"

/** Selectors kept; a power of two. */
#define KEPT_MAX 1024U

/** The selector of pods with the same namespace, labels and owner. */
struct kept_selector {
	struct bt_arena arena;
	struct bt_str key; /* absent: nothing kept here */
	uint64_t versions;
	struct bt_selector selector;
};

struct bt_spread_selectors {
	struct kept_selector items[KEPT_MAX]; /* by hash of the key */
	struct bt_strbuf key;
};

/* --- selectors as conjunctions of requirements --- */

static void add_requirement(struct bt_requirements *list, const struct bt_requirement *requirement)
{
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity * 2 + 8;
		struct bt_requirement *items =
			BT_ARENA_NEW_ARRAY(list->arena, struct bt_requirement, capacity);
		if (list->count != 0) {
			memcpy(items, list->items, list->count * sizeof(*items));
		}
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *requirement;
}

static void requirements_add_selector(
	struct bt_requirements *list, const struct bt_selector *selector)
{
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		add_requirement(list, &selector->requirements[i]);
	}
}

/** key == value; the value must outlive the list. */
static void requirements_add_pair(
	struct bt_requirements *list, struct bt_str key, const struct bt_str *value)
{
	struct bt_requirement requirement = {
		.key = key, .operator_ = BT_SELECTOR_IN, .value_count = 1, .values = value};

	add_requirement(list, &requirement);
}

static void add_pairs(struct bt_requirements *list, const struct bt_str_map *map)
{
	for (uint32_t i = 0; i < map->count; i++) {
		requirements_add_pair(list, map->items[i].key, &map->items[i].value);
	}
}

/** All of them; borrows the list. */
static struct bt_selector requirements_selector(const struct bt_requirements *list)
{
	return (struct bt_selector){.requirement_count = list->count, .requirements = list->items};
}

/* --- the selector of default constraints --- */

static bool has_every_pair(const struct bt_str_map *labels, const struct bt_str_map *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, wanted->items[i].key);

		if (value == NULL || !bt_str_equal(*value, wanted->items[i].value)) {
			return false;
		}
	}
	return true;
}

static void add_services(
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_requirements *pairs)
{
	uint32_t cursor = 0;

	for (;;) {
		const struct bt_service *service = bt_object_store_next(
			&state->objects, BT_KIND_SERVICE, pod->namespace_, &cursor);

		if (service == NULL) {
			return;
		}
		if (service->spec.selector.present &&
			has_every_pair(pod->labels, &service->spec.selector)) {
			/* All of them agree with the pod's labels, so none overwrites another. */
			add_pairs(pairs, &service->spec.selector);
		}
	}
}

/** The selector of a ReplicaSet or StatefulSet on top of the services'. */
static void add_owner_selector(const struct bt_label_selector *source, struct bt_requirements *list)
{
	struct bt_selector selector;

	if (bt_selector_from_label_selector(source, list->arena, &selector, NULL) == 0) {
		requirements_add_selector(list, &selector); /* `nothing` has no requirements */
	}
}

static void add_owner(
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_requirements *list)
{
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	const void *found;
	enum bt_kind kind;

	if (owner == NULL) {
		return;
	}
	/* One slash parts group and version: "/v1" is the core group too. */
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
		/* As add_pairs, but earlier requirements on the same keys give way. */
		const struct bt_str_map *map =
			&((const struct bt_replication_controller *)found)->spec.selector;
		uint32_t kept = 0;

		for (uint32_t i = 0; i < list->count; i++) {
			if (bt_str_map_find(map, list->items[i].key) == NULL) {
				list->items[kept++] = list->items[i];
			}
		}
		list->count = kept;
		add_pairs(list, map);
	} else if (kind == BT_KIND_REPLICA_SET) {
		add_owner_selector(((const struct bt_replica_set *)found)->spec.selector, list);
	} else {
		add_owner_selector(((const struct bt_stateful_set *)found)->spec.selector, list);
	}
}

/* --- keeping it --- */

struct bt_spread_selectors *bt_spread_selectors_create(void)
{
	return BT_NEW(struct bt_spread_selectors);
}

void bt_spread_selectors_destroy(struct bt_spread_selectors *kept)
{
	for (uint32_t i = 0; i < KEPT_MAX; i++) {
		bt_arena_finish(&kept->items[i].arena);
	}
	bt_strbuf_finish(&kept->key);
	bt_free(kept);
}

const struct bt_topology_spread_constraint bt_spread_system_defaults[2] = {
	{.max_skew = 3,
		.topology_key = BT_STR_INIT("kubernetes.io/hostname"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
	{.max_skew = 5,
		.topology_key = BT_STR_INIT("topology.kubernetes.io/zone"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
};

/* --- constraints --- */

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action)
{
	return bt_str_equal_c(constraint->when_unsatisfiable,
		action == BT_SPREAD_HARD ? "DoNotSchedule" : "ScheduleAnyway");
}

static int parse_constraint(const struct bt_spread_source *source,
	const struct bt_topology_spread_constraint *from, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_spread_constraint *out, struct berth_error *err)
{
	int code =
		bt_selector_from_label_selector(from->label_selector, arena, &out->selector, err);

	if (code != 0) {
		return code;
	}
	if (from->match_label_keys.count != 0 &&
		bt_gate_enabled(source->gates, BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD)) {
		/* matchLabelKeys: the pod's own values of these labels are required too. */
		struct bt_requirements own = {.arena = arena};

		for (uint32_t i = 0; i < from->match_label_keys.count; i++) {
			const struct bt_str *value =
				bt_str_map_find(pod->labels, from->match_label_keys.items[i]);

			if (value != NULL) {
				requirements_add_pair(&own, from->match_label_keys.items[i], value);
			}
		}
		if (own.count != 0 && !out->selector.nothing) {
			requirements_add_selector(&own, &out->selector);
			out->selector = requirements_selector(&own);
		}
	}
	out->topology_key = from->topology_key;
	out->max_skew = from->max_skew;
	out->min_domains = from->min_domains.present ? from->min_domains.value : 1;
	out->honors_affinity = from->node_affinity_policy.data == NULL ||
		bt_str_equal_c(from->node_affinity_policy, "Honor");
	out->honors_taints = bt_str_equal_c(from->node_taints_policy, "Honor");
	return 0;
}

static int parse_constraints(const struct bt_spread_source *source,
	const struct bt_topology_spread_constraint *from, uint32_t from_count,
	const struct bt_pod_info *pod, enum bt_spread_action action, struct bt_arena *arena,
	struct bt_spread_list *out_list, struct berth_error *err)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from_count; i++) {
		count += bt_spread_has_action(&from[i], action);
	}
	if (count == 0) {
		return 0;
	}
	out_list->items = BT_ARENA_NEW_ARRAY(arena, struct bt_spread_constraint, count);
	for (uint32_t i = 0; i < from_count; i++) {
		int code;

		if (!bt_spread_has_action(&from[i], action)) {
			continue;
		}
		code = parse_constraint(
			source, &from[i], pod, arena, &out_list->items[out_list->count++], err);
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

static int resolve_defaults(const struct bt_spread_source *source, const struct bt_pod_info *pod,
	enum bt_spread_action action, struct bt_arena *arena, struct bt_spread_list *out_list,
	struct berth_error *err)
{
	struct bt_selector selector;
	int code = parse_constraints(
		source, source->defaults, source->default_count, pod, action, arena, out_list, err);

	if (code != 0) {
		return bt_error_wrap(err, code, "setting default %s topology spread constraints",
			action == BT_SPREAD_HARD ? "hard" : "soft");
	}
	if (out_list->count == 0) {
		return 0;
	}
	/* Memory from the arena. Without requirements: nothing selects the pod. */
	const struct bt_owner_reference *owner =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	struct kept_selector *item;
	struct bt_str key;
	/* Grows with every change of the objects a selector comes from. */
	uint64_t versions = bt_object_store_version(&source->state->objects, BT_KIND_SERVICE) +
		bt_object_store_version(&source->state->objects, BT_KIND_REPLICATION_CONTROLLER) +
		bt_object_store_version(&source->state->objects, BT_KIND_REPLICA_SET) +
		bt_object_store_version(&source->state->objects, BT_KIND_STATEFUL_SET);

	if (owner == NULL && bt_object_store_count(&source->state->objects, BT_KIND_SERVICE) == 0) {
		selector = (struct bt_selector){0};
	} else {
		bt_strbuf_reset(&source->selectors->key);
		bt_key_append_str(&source->selectors->key, pod->namespace_);
		if (owner != NULL) {
			bt_key_append_str(&source->selectors->key, owner->api_version);
			bt_key_append_str(&source->selectors->key, owner->kind);
			bt_key_append_str(&source->selectors->key, owner->name);
		}
		bt_key_append_u32(&source->selectors->key, pod->labels->count);
		for (uint32_t i = 0; i < pod->labels->count; i++) {
			bt_key_append_str(&source->selectors->key, pod->labels->items[i].key);
			bt_key_append_str(&source->selectors->key, pod->labels->items[i].value);
		}
		key = bt_strbuf_str(&source->selectors->key);
		item = &source->selectors->items[bt_str_hash(key) & (KEPT_MAX - 1)];
		if (item->key.data == NULL || item->versions != versions ||
			!bt_str_equal(item->key, key)) {
			struct bt_selector found;

			bt_arena_finish(&item->arena);
			bt_arena_init(&item->arena, 256);
			struct bt_requirements list = {.arena = arena};

			add_services(source->state, pod, &list);
			add_owner(source->state, pod, &list);
			found = requirements_selector(&list);
			item->selector = bt_selector_copy(&found, &item->arena);
			item->key = bt_arena_str(&item->arena, key);
			item->versions = versions;
		}
		selector = bt_selector_copy(&item->selector, arena);
	}
	if (selector.requirement_count == 0) {
		out_list->count = 0;
		return 0;
	}
	for (uint32_t i = 0; i < out_list->count; i++) {
		out_list->items[i].selector = selector;
	}
	return 0;
}

int bt_spread_resolve(const struct bt_spread_source *source, const struct bt_pod_info *pod,
	enum bt_spread_action action, struct bt_arena *arena, struct bt_spread_list *out_list,
	struct berth_error *err)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_spread_list list = {0};
	int code;

	if (spec->topology_spread_constraints.count != 0) {
		code = parse_constraints(source, spec->topology_spread_constraints.items,
			spec->topology_spread_constraints.count, pod, action, arena, &list, err);
		if (code != 0) {
			return bt_error_wrap(err, code,
				"obtaining pod's %s topology spread constraints",
				action == BT_SPREAD_HARD ? "hard" : "soft");
		}
	} else {
		code = resolve_defaults(source, pod, action, arena, &list, err);
		if (code != 0) {
			return code;
		}
	}
	/* A column of a new key is a walk over all nodes: not for constraints that fell away. */
	for (uint32_t i = 0; i < list.count; i++) {
		list.items[i].column =
			bt_state_label_column(source->state, list.items[i].topology_key);
	}
	if (list.count != 0) {
		list.affinity = bt_required_node_affinity_parse(spec, arena);
		list.tolerations = &spec->tolerations;
		list.allow_comparison = bt_gate_enabled(
			source->gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	}
	*out_list = list;
	return 0;
}

/* Matching pods by domain: by walking over the nodes, or from the kept counters. Spec: 06 sections
 * 2.5 and 2.6. */

/* --- counting --- */

bool bt_spread_has_all_keys(const struct bt_spread_list *list, uint32_t slot)
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

int64_t bt_spread_count_pods(const struct bt_state *state, const struct bt_selector *selector,
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

/* --- counters --- */

/** The pod's affinity as far as eligibility reads it; NULL: it has none. */
static const struct bt_pod_spec *affinity_of(const struct bt_spread_list *list,
	const struct bt_spread_constraint *constraint, const struct bt_pod_spec *spec)
{
	bool has = list->affinity.has_affinity || spec->node_selector.count != 0;

	return constraint->honors_affinity && has ? spec : NULL;
}

/** Keys of the list but the constraint's own; each once. */
static uint32_t other_keys(
	const struct bt_spread_list *list, uint32_t index, struct bt_str *out_keys)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		bool known =
			bt_str_equal(list->items[i].topology_key, list->items[index].topology_key);

		for (uint32_t n = 0; n < count && !known; n++) {
			known = bt_str_equal(list->items[i].topology_key, out_keys[n]);
		}
		if (!known) {
			out_keys[count++] = list->items[i].topology_key;
		}
	}
	return count;
}

bool bt_spread_count(struct bt_state *state, const struct bt_spread_list *list, uint32_t index,
	const struct bt_pod_info *pod, bool with_all_keys, struct bt_spread_table *out_table)
{
	const struct bt_spread_constraint *constraint = &list->items[index];
	struct bt_counted_term term = {.namespace_count = 1,
		.namespaces = &pod->namespace_,
		.selector = &constraint->selector};
	struct bt_str keys[BT_COUNTED_TERMS_MAX];
	struct bt_eligibility_spec nodes = {
		.topology_key = constraint->topology_key,
		.labels = keys,
		.affinity_of = affinity_of(list, constraint, bt_plugin_pod_spec(pod)),
		.tolerations_of = constraint->honors_taints ? list->tolerations : NULL,
		.allow_comparison = list->allow_comparison,
	};
	struct bt_counter_spec spec = {.terms = &term, .live_only = true};
	const struct bt_domain_counter *counter;

	if (list->count > BT_COUNTED_TERMS_MAX) {
		return false;
	}
	nodes.label_count = with_all_keys ? other_keys(list, index, keys) : 0;
	spec.nodes = nodes;
	spec.term_count = !constraint->selector.nothing && !bt_selector_is_empty(term.selector);
	counter = bt_domain_counter_get(state, &spec);
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

void bt_spread_table_init(struct bt_spread_table *table, const struct bt_label_column *column,
	int64_t value, struct bt_arena *arena)
{
	*table = (struct bt_spread_table){.size = column != NULL ? column->dictionary.count : 1};
	table->counts = bt_arena_alloc(arena, table->size * sizeof(*table->counts));
	for (uint32_t i = 0; i < table->size; i++) {
		table->counts[i] = value;
	}
}

void bt_spread_table_own(struct bt_spread_table *table, struct bt_arena *arena)
{
	int64_t *counts = bt_arena_alloc(arena, table->size * sizeof(*counts));

	for (uint32_t i = 0; i < table->size; i++) {
		counts[i] = bt_spread_table_at(table, i);
	}
	*table = (struct bt_spread_table){.counts = counts, .size = table->size};
}
