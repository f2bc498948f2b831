/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing hints of InterPodAffinity. Spec: 06 section 3.12: terms are not expanded here, and
 * always matched against no namespace labels. */
#include "base/error.h"
#include "plugins/common_affinity.h"

static const struct bt_str_map no_labels;

/** There are terms, and each selects a pod with these labels in this namespace. */
static bool all_match(struct bt_affinity_term_list terms, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < terms.count; i++) {
		if (!bt_affinity_term_matches(
			    &terms.items[i], owner_namespace, namespace_, labels, &no_labels)) {
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

enum bt_hint_scope bt_affinity_hint_scope(BT_UNUSED struct bt_plugin *plugin,
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

int bt_affinity_events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}
