/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_spread.h"

#include "api/workload.h"
#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "state/domain_counter.h"

const struct bt_topology_spread_constraint bt_spread_system_defaults[2] = {
	{.max_skew = 3,
		.topology_key = BT_STR_INIT("kubernetes.io/hostname"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
	{.max_skew = 5,
		.topology_key = BT_STR_INIT("topology.kubernetes.io/zone"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
};

/* --- selectors as conjunctions of requirements --- */

/** A list of requirements that grows in an arena. */
struct requirements {
	struct bt_arena *arena;
	struct bt_requirement *items;
	uint32_t count;
	uint32_t capacity;
};

static void add_requirement(struct requirements *list, const struct bt_requirement *requirement)
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

static void add_selector(struct requirements *list, const struct bt_selector *selector)
{
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		add_requirement(list, &selector->requirements[i]);
	}
}

/** key == value; the value must outlive the list. */
static void add_pair(struct requirements *list, struct bt_str key, const struct bt_str *value)
{
	struct bt_requirement requirement = {
		.key = key, .operator_ = BT_SELECTOR_IN, .value_count = 1, .values = value};

	add_requirement(list, &requirement);
}

static void add_pairs(struct requirements *list, const struct bt_str_map *map)
{
	for (uint32_t i = 0; i < map->count; i++) {
		add_pair(list, map->items[i].key, &map->items[i].value);
	}
}

/** As add_pairs, but earlier requirements on the same keys give way. */
static void overwrite_pairs(struct requirements *list, const struct bt_str_map *map)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_str_map_find(map, list->items[i].key) == NULL) {
			list->items[kept++] = list->items[i];
		}
	}
	list->count = kept;
	add_pairs(list, map);
}

static struct bt_selector selector_of(const struct requirements *list)
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
	struct bt_state *state, const struct bt_pod_info *pod, struct requirements *pairs)
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
static void add_owner_selector(const struct bt_label_selector *source, struct requirements *list)
{
	struct bt_selector selector;

	if (bt_selector_from_label_selector(source, list->arena, &selector, NULL) == 0) {
		add_selector(list, &selector); /* `nothing` has no requirements */
	}
}

static void add_owner(
	struct bt_state *state, const struct bt_pod_info *pod, struct requirements *list)
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
		overwrite_pairs(
			list, &((const struct bt_replication_controller *)found)->spec.selector);
	} else if (kind == BT_KIND_REPLICA_SET) {
		add_owner_selector(((const struct bt_replica_set *)found)->spec.selector, list);
	} else {
		add_owner_selector(((const struct bt_stateful_set *)found)->spec.selector, list);
	}
}

static struct bt_selector default_selector(
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct requirements list = {.arena = arena};

	add_services(state, pod, &list);
	add_owner(state, pod, &list);
	return selector_of(&list);
}

/* --- constraints --- */

static bool has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action)
{
	return bt_str_equal_c(constraint->when_unsatisfiable,
		action == BT_SPREAD_HARD ? "DoNotSchedule" : "ScheduleAnyway");
}

/** matchLabelKeys: the pod's own values of these labels are required too. */
static void narrow_to_own_labels(struct bt_selector *selector, const bt_str_list *keys,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct requirements own = {.arena = arena};

	for (uint32_t i = 0; i < keys->count; i++) {
		const struct bt_str *value = bt_str_map_find(pod->labels, keys->items[i]);

		if (value != NULL) {
			add_pair(&own, keys->items[i], value);
		}
	}
	if (own.count != 0 && !selector->nothing) {
		add_selector(&own, selector);
		*selector = selector_of(&own);
	}
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
		narrow_to_own_labels(&out->selector, &from->match_label_keys, pod, arena);
	}
	out->topology_key = from->topology_key;
	out->max_skew = from->max_skew;
	out->min_domains = from->min_domains.present ? from->min_domains.value : 1;
	out->honors_affinity = from->node_affinity_policy.data == NULL ||
		bt_str_equal_c(from->node_affinity_policy, "Honor");
	out->honors_taints = bt_str_equal_c(from->node_taints_policy, "Honor");
	out->column = bt_state_label_column(source->state, from->topology_key);
	return 0;
}

static int parse_constraints(const struct bt_spread_source *source,
	const struct bt_topology_spread_constraint *from, uint32_t from_count,
	const struct bt_pod_info *pod, enum bt_spread_action action, struct bt_arena *arena,
	struct bt_spread_list *out_list, struct berth_error *err)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from_count; i++) {
		count += has_action(&from[i], action);
	}
	if (count == 0) {
		return 0;
	}
	out_list->items = BT_ARENA_NEW_ARRAY(arena, struct bt_spread_constraint, count);
	for (uint32_t i = 0; i < from_count; i++) {
		int code;

		if (!has_action(&from[i], action)) {
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
	selector = default_selector(source->state, pod, arena);
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
	if (list.count != 0) {
		list.affinity = bt_required_node_affinity_parse(spec, arena);
		list.tolerations = &spec->tolerations;
		list.allow_comparison = bt_gate_enabled(
			source->gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	}
	*out_list = list;
	return 0;
}
