/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing hints of PodTopologySpread. Spec: 06 section 2.15. */
#include "base/error.h"
#include "plugins/common_spread_plugin.h"

static const struct bt_spread_source *source_of(const struct bt_plugin *plugin)
{
	return &((const struct bt_spread_plugin *)(const void *)plugin)->source;
}

/* --- pods --- */

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

/* --- nodes --- */

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

enum bt_hint_scope bt_spread_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
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

int bt_spread_events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}
