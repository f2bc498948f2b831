/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeAffinity (PreFilter, Filter, PreScore, Score): nodeSelector, required and preferred node
 * affinity of the pod, and the added affinity of a profile. Spec: 05 section 9; matching: 05
 * section 3.6.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/meta.h"
#include "api/selector.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/wrap.h"
#include "plugins/common_columns.h"
#include "plugins/common_hint_marks.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"
#include "state/domain_counter.h"
#include "state/state.h"

/**
 * The nodes that a required node affinity names by metadata.name, sorted, without duplicates. Spec:
 * 05 section 9.2.
 */
struct bt_name_set {
	struct bt_str *items;
	uint32_t count;
};

/**
 * Node selectors are matched on all slots at once: a requirement is evaluated once for each value
 * of its label key, then the result is looked up for every slot in the label's column. The results
 * equal those of api/selector.h on each node.
 */

static void sort_distinct(struct bt_name_set *set)
{
	uint32_t kept = 0;

	if (set->count > 1) {
		qsort(set->items, set->count, sizeof(*set->items), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < set->count; i++) {
		if (kept == 0 || !bt_str_equal(set->items[i], set->items[kept - 1])) {
			set->items[kept++] = set->items[i];
		}
	}
	set->count = kept;
}

/**
 * Get the node names that a term allows. Returns false if the term names no nodes, so any node may
 * match.
 */
static bool names_of_term(const struct bt_node_selector_term *term, struct bt_arena *arena,
	struct bt_name_set *out_names)
{
	bool found = false;

	for (uint32_t i = 0; i < term->match_fields.count; i++) {
		const struct bt_node_selector_requirement *field = &term->match_fields.items[i];

		if (!bt_str_equal_c(field->key, "metadata.name") ||
			!bt_str_equal_c(field->operator_, "In")) {
			continue;
		}
		struct bt_name_set values = {bt_arena_copy_array(arena, field->values.items,
						     field->values.count, 0, sizeof(struct bt_str)),
			field->values.count};

		sort_distinct(&values);
		if (!found) {
			*out_names = values;
			found = true;
			continue;
		}
		uint32_t kept = 0;
		uint32_t k = 0;

		for (uint32_t n = 0; n < out_names->count; n++) {
			while (k < values.count &&
				bt_str_compare(values.items[k], out_names->items[n]) < 0) {
				k++;
			}
			if (k < values.count &&
				bt_str_equal(values.items[k], out_names->items[n])) {
				out_names->items[kept++] = out_names->items[n];
			}
		}
		out_names->count = kept;
	}
	return found;
}

/**
 * Get the union of the node names of all terms, valid or not. Returns false if a term names no
 * nodes, so any node may match. Texts are borrowed from the selector.
 */
static bool node_names_of_terms(const struct bt_node_selector *required, struct bt_arena *arena,
	struct bt_name_set *out_names)
{
	struct bt_name_set *sets =
		BT_ARENA_NEW_ARRAY(arena, struct bt_name_set, required->terms.count);
	struct bt_name_set all = {NULL, 0};

	for (uint32_t i = 0; i < required->terms.count; i++) {
		if (!names_of_term(&required->terms.items[i], arena, &sets[i])) {
			return false;
		}
		all.count += sets[i].count;
	}
	all.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, all.count);
	all.count = 0;
	for (uint32_t i = 0; i < required->terms.count; i++) {
		for (uint32_t k = 0; k < sets[i].count; k++) {
			all.items[all.count++] = sets[i].items[k];
		}
	}
	sort_distinct(&all);
	*out_names = all;
	return true;
}

/**
 * Evaluate a requirement for each index of the column's dictionary (0: no label). Returns an array
 * by index, 1 if the requirement matches; the caller frees the array. For In and NotIn, only the
 * values of the requirement are looked up.
 */
static uint8_t *match_values(const struct bt_requirement *requirement, const struct bt_state *state,
	const struct bt_label_column *column)
{
	uint32_t count = column->dictionary.count;
	uint8_t *holds = bt_malloc(count);
	bool is_in = requirement->operator_ == BT_SELECTOR_IN;

	holds[0] = bt_requirement_matches(requirement, NULL);
	if (is_in || requirement->operator_ == BT_SELECTOR_NOT_IN) {
		memset(holds + 1, is_in ? 0 : 1, count - 1);
		for (uint32_t i = 0; i < requirement->value_count; i++) {
			bt_sym value = bt_symbol_find(&state->symbols, requirement->values[i]);
			uint32_t index = bt_label_column_find(column, value);
			if (index != 0) {
				holds[index] = is_in;
			}
		}
		return holds;
	}
	for (uint32_t i = 1; i < count; i++) {
		struct bt_str value = bt_symbol_text(&state->symbols, column->dictionary.items[i]);
		holds[i] = bt_requirement_matches(requirement, &value);
	}
	return holds;
}

/** Clear matches[slot] where the requirement does not match. */
static void and_requirement(const struct bt_requirement *requirement, struct bt_state *state,
	uint32_t slot_count, uint8_t *restrict matches)
{
	const struct bt_label_column *column = bt_state_label_column(state, requirement->key);
	const uint32_t *values;
	uint8_t *holds;

	if (column == NULL) {
		if (!bt_requirement_matches(requirement, NULL)) {
			memset(matches, 0, slot_count);
		}
		return;
	}
	values = column->values;
	holds = match_values(requirement, state, column);
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		matches[slot] &= holds[values[slot]];
	}
	bt_free(holds);
}

/** Set matches[slot] to 1 where the term matches, otherwise to 0. */
static void set_term(const struct bt_node_term *term, struct bt_state *state, uint32_t slot_count,
	uint8_t *matches)
{
	if (term->errors.count != 0) {
		memset(matches, 0, slot_count);
		return;
	}
	memset(matches, 1, slot_count);
	for (uint32_t i = 0; i < term->label_count; i++) {
		and_requirement(&term->label_requirements[i], state, slot_count, matches);
	}
	if (term->field_count != 0) {
		struct bt_node_term fields = *term;
		fields.label_count = 0;
		struct bt_str_map no_labels = {0};
		for (uint32_t slot = 0; slot < slot_count; slot++) {
			if (matches[slot] != 0) {
				matches[slot] = bt_node_term_matches(&fields,
					bt_node_table_name(&state->nodes, slot), &no_labels);
			}
		}
	}
}

/** Clear matches[slot] where the selector does not match. */
static void node_selector_column(const struct bt_parsed_node_selector *selector,
	struct bt_state *state, uint32_t slot_count, uint8_t *matches)
{
	uint8_t *any = bt_calloc(slot_count, 1);
	uint8_t *one = bt_malloc(slot_count);
	for (uint32_t i = 0; i < selector->term_count; i++) {
		set_term(&selector->terms[i], state, slot_count, one);
		for (uint32_t slot = 0; slot < slot_count; slot++) {
			any[slot] |= one[slot];
		}
	}
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		matches[slot] &= any[slot];
	}
	bt_free(one);
	bt_free(any);
}

/**
 * Add the weight of a term with a single label requirement, the most common kind: the weight is
 * computed for each value and looked up for each slot.
 */
static void add_weights_of_requirement(const struct bt_requirement *requirement, int32_t weight,
	struct bt_state *state, uint32_t slot_count, int32_t *restrict scores)
{
	const struct bt_label_column *column = bt_state_label_column(state, requirement->key);
	const uint32_t *values;
	uint8_t *holds;
	int32_t *weights;

	if (column == NULL) {
		weight = bt_requirement_matches(requirement, NULL) ? weight : 0;
		for (uint32_t slot = 0; slot < slot_count; slot++) {
			scores[slot] += weight;
		}
		return;
	}
	values = column->values;
	holds = match_values(requirement, state, column);
	weights = BT_NEW_ARRAY(int32_t, column->dictionary.count);
	for (uint32_t i = 0; i < column->dictionary.count; i++) {
		weights[i] = holds[i] != 0 ? weight : 0;
	}
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		scores[slot] += weights[values[slot]];
	}
	bt_free(weights);
	bt_free(holds);
}

/** Add the weights of matching terms to scores[slot]. */
static void preferred_terms_column(const struct bt_preferred_terms *terms, struct bt_state *state,
	uint32_t slot_count, int32_t *scores)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct bt_node_term *term = &terms->items[i].term;

		if (term->errors.count == 0 && term->label_count == 1 && term->field_count == 0) {
			add_weights_of_requirement(&term->label_requirements[0],
				terms->items[i].weight, state, slot_count, scores);
		} else {
			uint8_t *matches = bt_malloc(slot_count);

			set_term(&terms->items[i].term, state, slot_count, matches);
			for (uint32_t slot = 0; slot < slot_count; slot++) {
				scores[slot] += matches[slot] != 0 ? terms->items[i].weight : 0;
			}
			bt_free(matches);
		}
	}
}

struct node_affinity_plugin {
	struct bt_plain_plugin base;
	struct bt_arena arena; /* memory of the parsed arguments */
	bool has_added_required;
	struct bt_parsed_node_selector added_required;
	bool has_added_preferred;
	struct bt_preferred_terms added_preferred;
};

static const struct bt_node_affinity *pod_node_affinity(const struct bt_pod_spec *spec)
{
	return spec->affinity != NULL ? spec->affinity->node_affinity : NULL;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	const struct bt_node_affinity *affinity = pod_node_affinity(spec);
	const struct bt_node_selector *required = affinity != NULL ? affinity->required : NULL;
	struct bt_required_node_affinity *data;
	struct bt_name_set names;

	if (required == NULL && !instance->has_added_required && !spec->node_selector.present) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = BT_ARENA_NEW(cycle->arena, struct bt_required_node_affinity);
	*data = bt_required_node_affinity_parse(spec, cycle->arena);
	cycle->pre_filter_data[plugin->index] = data;
	if (required == NULL || required->terms.count == 0 ||
		!node_names_of_terms(required, cycle->arena, &names)) {
		return BT_STATUS_OK;
	}
	if (names.count == 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_AFFINITY_CONFLICT);
	}
	*out_result = (struct bt_pre_filter_result){
		.restricted = true, .count = names.count, .names = names.items};
	return BT_STATUS_OK;
}

enum {
	DETAIL_ENFORCED = 1, /* the added affinity of the profile does not match */
	DETAIL_POD = 2,
};

static uint32_t detail_of_node(const struct node_affinity_plugin *instance,
	const struct bt_required_node_affinity *data, const struct bt_node_table *nodes,
	uint32_t slot)
{
	struct bt_str name = bt_node_table_name(nodes, slot);
	const struct bt_str_map *labels = &nodes->rows[slot].labels;

	if (instance->has_added_required &&
		!bt_node_selector_matches(&instance->added_required, name, labels, NULL, NULL)) {
		return DETAIL_ENFORCED;
	}
	return bt_required_node_affinity_matches(data, name, labels, NULL, NULL) ? 0 : DETAIL_POD;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_required_node_affinity *data = cycle->pre_filter_data[plugin->index];
	struct bt_required_node_affinity parsed_now;

	if (data == NULL) {
		parsed_now = bt_required_node_affinity_parse(bt_plugin_pod_spec(pod), cycle->arena);
		data = &parsed_now;
	}
	uint32_t detail =
		detail_of_node(bt_plugin_instance(plugin), data, &node->state->nodes, node->slot);
	return detail != 0 ? bt_plugin_rejection(plugin, detail) : BT_STATUS_OK;
}

static bool filter_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_required_node_affinity *parsed = data;
	uint8_t *matches;

	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			detail[range.slots[k]] =
				detail_of_node(instance, parsed, &state->nodes, range.slots[k]);
		}
		return true;
	}
	matches = bt_malloc(range.count);
	memset(matches, 1, range.count);
	/* Clear matches[slot] where the nodeSelector or the required affinity does not match. */
	for (uint32_t i = 0; i < parsed->node_selector->count; i++) {
		const struct bt_str_pair *pair = &parsed->node_selector->items[i];
		struct bt_requirement equals = {.key = pair->key,
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &pair->value};
		and_requirement(&equals, instance->base.handle->state, range.count, matches);
	}
	if (parsed->has_affinity) {
		node_selector_column(
			&parsed->affinity, instance->base.handle->state, range.count, matches);
	}
	for (uint32_t slot = 0; slot < range.count; slot++) {
		detail[slot] = matches[slot] != 0 ? 0 : DETAIL_POD;
	}
	if (instance->has_added_required) {
		memset(matches, 1, range.count);
		node_selector_column(&instance->added_required, instance->base.handle->state,
			range.count, matches);
		for (uint32_t slot = 0; slot < range.count; slot++) {
			detail[slot] = matches[slot] != 0 ? detail[slot] : DETAIL_ENFORCED;
		}
	}
	bt_free(matches);
	return true;
}

/** Parse the pod's preferred terms. The error has the texts of all parse errors. */
static struct bt_status parse_preferred(const struct bt_node_affinity *affinity,
	struct bt_arena *arena, struct bt_preferred_terms *out_terms)
{
	struct bt_error_list errors = {0};

	*out_terms = (struct bt_preferred_terms){0};
	if (affinity != NULL) {
		*out_terms =
			bt_preferred_terms_parse(&affinity->preferred, BT_STR(""), arena, &errors);
	}
	return errors.count > 0 ? bt_status_error_text(arena, bt_error_list_text(&errors, arena))
				: BT_STATUS_OK;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_node_affinity *affinity = pod_node_affinity(bt_plugin_pod_spec(pod));

	if ((affinity == NULL || !affinity->preferred.present) && !instance->has_added_preferred) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct bt_preferred_terms *data = BT_ARENA_NEW(cycle->arena, struct bt_preferred_terms);
	struct bt_status status = parse_preferred(affinity, cycle->arena, data);
	if (bt_status_is_success(&status)) {
		cycle->pre_score_data[plugin->index] = data;
	}
	return status;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_preferred_terms *data = cycle->pre_score_data[plugin->index];
	struct bt_str node_name = bt_node_info_name(node);
	const struct bt_str_map *labels = bt_node_info_labels(node);
	struct bt_preferred_terms parsed_now;

	if (data == NULL) {
		struct bt_status status = parse_preferred(
			pod_node_affinity(bt_plugin_pod_spec(pod)), cycle->arena, &parsed_now);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		data = &parsed_now;
	}
	*out_score =
		bt_wrap_add(bt_preferred_terms_score(&instance->added_preferred, node_name, labels),
			bt_preferred_terms_score(data, node_name, labels));
	return BT_STATUS_OK;
}

/** Maximum sum of weights for the column form of Score. */
#define COLUMN_WEIGHT_SUM_MAX (1 << 24)

/** Add the weights to *sum. Returns false if a weight is negative or the sum is too large. */
static bool add_weights(const struct bt_preferred_terms *terms, int64_t *sum)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		if (terms->items[i].weight < 0) {
			return false;
		}
		*sum += terms->items[i].weight;
	}
	return *sum <= COLUMN_WEIGHT_SUM_MAX;
}

static bool score_fits_column(
	struct bt_plugin *plugin, const void *data, BT_UNUSED const struct bt_pod_info *pod)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_preferred_terms *parsed = data;
	int64_t sum = 0;

	return add_weights(&instance->added_preferred, &sum) && add_weights(parsed, &sum);
}

static bool score_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_preferred_terms *parsed = data;

	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t slot = range.slots[k];
			struct bt_str name = bt_node_table_name(&state->nodes, slot);
			const struct bt_str_map *labels = &state->nodes.rows[slot].labels;
			scores[slot] = (int32_t)(bt_preferred_terms_score(
							 &instance->added_preferred, name, labels) +
				bt_preferred_terms_score(parsed, name, labels));
		}
		return true;
	}
	memset(scores, 0, range.count * sizeof(*scores));
	preferred_terms_column(
		&instance->added_preferred, instance->base.handle->state, range.count, scores);
	preferred_terms_column(parsed, instance->base.handle->state, range.count, scores);
	return true;
}

static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *out)
{
	bt_sign_node_affinity(bt_plugin_pod_spec(pod), out);
	return BT_STATUS_OK;
}

/**
 * Upstream quirk, spec 05 section 9.5: the added affinity is matched only with the new version of
 * the node.
 */
static bool after_node_change(const struct bt_hint_call *call)
{
	const struct node_affinity_plugin *instance = bt_plugin_instance(call->plugin);
	const struct bt_node *nodes[] = {call->new_object, call->old_object};
	struct bt_arena arena = {0};
	bool hint = true;

	if (instance->has_added_required &&
		!bt_node_selector_matches(&instance->added_required, nodes[0]->metadata.name,
			&nodes[0]->metadata.labels, &arena, NULL)) {
		hint = false;
	} else {
		struct bt_required_node_affinity required =
			bt_required_node_affinity_parse(bt_plugin_pod_spec(call->pod), &arena);

		/*
		 * Queue on a parse error, or if the new version of the node matches and the old
		 * version does not.
		 */
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(nodes) && nodes[i] != NULL; i++) {
			struct bt_error_list errors = {0};
			bool matches = bt_required_node_affinity_matches(&required,
				nodes[i]->metadata.name, &nodes[i]->metadata.labels, &arena,
				&errors);

			if (!matches && errors.count != 0) {
				struct bt_str text = bt_error_list_text(&errors, &arena);
				/* The hint is Queue even with an error. */
				(void)bt_error_set(
					call->err, BERTH_ERR_INVALID, "%.*s", BT_STR_ARG(text));
				break;
			}
			if (matches == (i == 1)) {
				hint = false;
				break;
			}
		}
	}
	bt_arena_finish(&arena);
	return hint;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, after_node_change},
};

static void hint_wants(
	struct bt_plugin *plugin, const struct bt_shape *shape, struct bt_hint_wants *wants)
{
	const struct bt_symbol_table *symbols = &bt_plugin_handle(plugin)->state->symbols;
	struct bt_arena arena = {0};
	struct bt_required_node_affinity required =
		bt_required_node_affinity_parse(&bt_shape_pod(shape)->spec, &arena);

	if (required.node_selector->count != 0) {
		struct bt_selector all = bt_selector_from_map(required.node_selector, &arena);

		(void)bt_hint_want_values(wants, BT_MARK_NODE_LABEL, all.requirements,
			all.requirement_count, symbols);
	} else if (required.has_affinity) {
		for (uint32_t i = 0; i < required.affinity.term_count; i++) {
			/*
			 * Add the marks of the node name or labels that the term needs. For a term
			 * with an error, add the mark that every node event offers, because the
			 * hint returns Queue.
			 */
			const struct bt_node_term *term = &required.affinity.terms[i];
			const struct bt_requirement *field = term->field_requirements;
			bool is_bounded = term->errors.count == 0;

			if (is_bounded && term->field_count != 0 &&
				field->operator_ == BT_SELECTOR_IN &&
				bt_str_equal_c(field->key, "metadata.name")) {
				bt_hint_want(wants,
					bt_hint_mark(
						BT_MARK_NODE_NAME, field->values[0], BT_STR("")));
			} else if (!is_bounded ||
				!bt_hint_want_values(wants, BT_MARK_NODE_LABEL,
					term->label_requirements, term->label_count, symbols)) {
				bt_hint_want(
					wants, bt_hint_mark(BT_MARK_NODE, BT_STR(""), BT_STR("")));
			}
		}
	} else {
		bt_hint_want(wants, bt_hint_mark(BT_MARK_NODE, BT_STR(""), BT_STR("")));
	}
	bt_arena_finish(&arena);
}

static bool hint_offers(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_cluster_event *event, BT_UNUSED const void *old_object,
	const void *new_object, struct bt_hint_offers *offers)
{
	const struct bt_node *node = new_object;

	if (node->metadata.name.length == 0) {
		return false; /* field requirements are not checked without a name */
	}
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_NODE, BT_STR(""), BT_STR("")));
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_NODE_NAME, node->metadata.name, BT_STR("")));
	for (uint32_t i = 0; i < node->metadata.labels.count; i++) {
		const struct bt_str_pair *label = &node->metadata.labels.items[i];

		bt_hint_offer(offers, bt_hint_mark(BT_MARK_NODE_LABEL, label->key, label->value));
	}
	return true;
}

static void destroy(struct bt_plugin *plugin)
{
	bt_arena_finish(&((struct node_affinity_plugin *)(void *)plugin)->arena);
	bt_free(plugin);
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct node_affinity_plugin *instance = (struct node_affinity_plugin *)(void *)plugin;
	const struct bt_node_affinity *added = args->node_affinity.added_affinity;
	struct bt_error_list errors = {0};

	if (added != NULL && added->required != NULL) {
		instance->has_added_required = true;
		instance->added_required =
			bt_node_selector_parse(added->required, BT_STR(""), &instance->arena);
	}
	if (added != NULL && added->preferred.count > 0) {
		instance->has_added_preferred = true;
		instance->added_preferred = bt_preferred_terms_parse(
			&added->preferred, BT_STR(""), &instance->arena, &errors);
	}
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.hint_wants = hint_wants,
	.hint_offers = hint_offers,
	.filter_reads = BT_CHANGE_LABELS,
	.filter_column = filter_column,
	.rejections =
		{
			[DETAIL_ENFORCED - 1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_ENFORCED_NODE_AFFINITY},
			[DETAIL_POD - 1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_NODE_AFFINITY},
		},
	.score_reads = BT_CHANGE_LABELS,
	.score_fits_column = score_fits_column,
	.score_column = score_column,
};

const struct bt_plugin_ops bt_node_affinity_plugin = {
	.name = "NodeAffinity",
	.size = sizeof(struct node_affinity_plugin),
	.args_kind = BT_ARGS_NODE_AFFINITY,
	.args_error = "args are not of type",
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = BT_NORMALIZE_DEFAULT,
};
