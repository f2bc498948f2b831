/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_selector_columns.h"

#include <string.h>

#include "base/alloc.h"
#include "state/domain_counter.h"

/**
 * Which values of a label the requirement holds for, by index in the column's dictionary (0: no
 * label). Of a key that tells nodes apart there are as many values as nodes: a requirement that
 * names values looks up these instead of judging them all. To be freed.
 */
static uint8_t *judge_values(const struct bt_requirement *requirement, const struct bt_state *state,
	const struct bt_label_column *column)
{
	uint32_t count = column->dictionary.count;
	uint8_t *holds = bt_malloc(count);
	bool named = requirement->operator_ == BT_SELECTOR_IN ||
		requirement->operator_ == BT_SELECTOR_NOT_IN;
	bool named_holds = requirement->operator_ == BT_SELECTOR_IN;

	holds[0] = bt_requirement_matches(requirement, NULL);
	if (named) {
		memset(holds + 1, named_holds ? 0 : 1, count - 1);
		for (uint32_t i = 0; i < requirement->value_count; i++) {
			bt_sym value = bt_symbol_find(&state->symbols, requirement->values[i]);
			uint32_t index = bt_label_column_find(column, value);
			if (index != 0) {
				holds[index] = named_holds;
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
	holds = judge_values(requirement, state, column);
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		matches[slot] &= holds[values[slot]];
	}
	bt_free(holds);
}

/** matches[slot] = the term matches. */
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

void bt_node_selector_column(const struct bt_parsed_node_selector *selector, struct bt_state *state,
	uint32_t slot_count, uint8_t *matches)
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

void bt_required_affinity_column(const struct bt_required_node_affinity *required,
	struct bt_state *state, uint32_t slot_count, uint8_t *matches)
{
	for (uint32_t i = 0; i < required->node_selector->count; i++) {
		const struct bt_str_pair *pair = &required->node_selector->items[i];
		struct bt_requirement equals = {.key = pair->key,
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &pair->value};
		and_requirement(&equals, state, slot_count, matches);
	}
	if (required->has_affinity) {
		bt_node_selector_column(&required->affinity, state, slot_count, matches);
	}
}

/** A term of one requirement, as most are: its weight by value, one look for each slot. */
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
	holds = judge_values(requirement, state, column);
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

static void add_weights_of_term(const struct bt_preferred_term *preferred, struct bt_state *state,
	uint32_t slot_count, int32_t *restrict scores)
{
	uint8_t *matches = bt_malloc(slot_count);

	set_term(&preferred->term, state, slot_count, matches);
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		scores[slot] += matches[slot] != 0 ? preferred->weight : 0;
	}
	bt_free(matches);
}

void bt_preferred_terms_column(const struct bt_preferred_terms *terms, struct bt_state *state,
	uint32_t slot_count, int32_t *scores)
{
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct bt_node_term *term = &terms->items[i].term;

		if (term->errors.count == 0 && term->label_count == 1 && term->field_count == 0) {
			add_weights_of_requirement(&term->label_requirements[0],
				terms->items[i].weight, state, slot_count, scores);
		} else {
			add_weights_of_term(&terms->items[i], state, slot_count, scores);
		}
	}
}
