/* SPDX-License-Identifier: Apache-2.0 */
#include "state/affinity_terms.h"

#include "base/error.h"

static int parse_term(const struct bt_pod_affinity_term *source, struct bt_arena *arena,
	struct bt_affinity_term *out_term, struct berth_error *err)
{
	int code = bt_selector_from_label_selector(
		source->label_selector, arena, &out_term->selector, err);

	if (code != 0) {
		return code;
	}
	code = bt_selector_from_label_selector(
		source->namespace_selector, arena, &out_term->namespace_selector, err);
	out_term->namespaces = source->namespaces.items;
	out_term->namespace_count = source->namespaces.count;
	out_term->in_own_namespace =
		source->namespaces.count == 0 && source->namespace_selector == NULL;
	out_term->topology_key = source->topology_key;
	return code;
}

/** What a group of a pod lists: required or preferred terms, never both. */
struct group_source {
	const char *name;
	const struct bt_pod_affinity *affinity; /* NULL: the pod has none of this kind */
	bool preferred;
};

static struct bt_affinity_term_list parse_group(
	const struct group_source *source, struct bt_arena *arena, struct bt_error_list *errors)
{
	struct bt_affinity_term_list list = {0};
	const struct bt_pod_affinity *affinity = source->affinity;
	struct bt_affinity_term *terms;
	uint32_t count;

	if (affinity == NULL) {
		return list;
	}
	count = source->preferred ? affinity->preferred.count : affinity->required.count;
	terms = BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_term, count);
	for (uint32_t i = 0; i < count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		const struct bt_pod_affinity_term *term = source->preferred
			? &affinity->preferred.items[i].term
			: &affinity->required.items[i];

		terms[i].weight = source->preferred ? affinity->preferred.items[i].weight : 0;
		if (parse_term(term, arena, &terms[i], &err) != 0) {
			bt_error_list_add(errors, arena,
				bt_arena_printf(
					arena, "%s: %s", source->name, berth_error_message(&err)));
			berth_error_finish(&err);
			return list;
		}
	}
	list.count = count;
	list.items = terms;
	return list;
}

const struct bt_affinity_terms *bt_affinity_terms_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena)
{
	struct bt_affinity_terms *terms = BT_ARENA_NEW(arena, struct bt_affinity_terms);
	const struct bt_affinity *affinity = spec->affinity;
	const struct bt_pod_affinity *near = affinity != NULL ? affinity->pod_affinity : NULL;
	const struct bt_pod_affinity *apart = affinity != NULL ? affinity->pod_anti_affinity : NULL;
	const struct group_source sources[BT_AFFINITY_GROUP__COUNT] = {
		[BT_AFFINITY_REQUIRED] = {"requiredAffinityTerms", near, false},
		[BT_ANTI_AFFINITY_REQUIRED] = {"requiredAntiAffinityTerms", apart, false},
		[BT_AFFINITY_PREFERRED] = {"preferredAffinityTerms", near, true},
		[BT_ANTI_AFFINITY_PREFERRED] = {"preferredAntiAffinityTerms", apart, true},
	};
	struct bt_error_list errors = {0};

	for (uint32_t i = 0; i < BT_AFFINITY_GROUP__COUNT; i++) {
		terms->groups[i] = parse_group(&sources[i], arena, &errors);
	}
	terms->has_preferred = (near != NULL && near->preferred.count != 0) ||
		(apart != NULL && apart->preferred.count != 0);
	terms->errors = errors.count != 0 ? bt_error_list_text(&errors, arena) : BT_STR("");
	return terms;
}

static bool namespace_matches(const struct bt_affinity_term *term, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *namespace_labels)
{
	if (term->in_own_namespace && bt_str_equal(owner_namespace, namespace_)) {
		return true;
	}
	for (uint32_t i = 0; i < term->namespace_count; i++) {
		if (bt_str_equal(term->namespaces[i], namespace_)) {
			return true;
		}
	}
	return bt_selector_matches(&term->namespace_selector, namespace_labels);
}

bool bt_affinity_term_matches(const struct bt_affinity_term *term, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels)
{
	return namespace_matches(term, owner_namespace, namespace_, namespace_labels) &&
		bt_selector_matches(&term->selector, labels);
}
