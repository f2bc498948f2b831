/* SPDX-License-Identifier: Apache-2.0 */
#include "server/selection.h"

#include <stdlib.h>

#include "base/assert.h"
#include "codec/json.h"
#include "codec/json_edit.h"
#include "server/selection_private.h"

/* --- label selectors --- */

/** Groups the requirements by key, so that matching reads each label once. */
static void take_labels(struct bt_selection *selection, const struct bt_selector *selector)
{
	uint32_t count = selector->requirement_count;

	if (count == 0) {
		return;
	}
	struct bt_requirement *sorted =
		BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_requirement, count);
	memcpy(sorted, selector->requirements, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), bt_str_compare_qsort);
	selection->labels = BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_selection_label, count);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || !bt_str_equal(sorted[i - 1].key, sorted[i].key)) {
			selection->labels[selection->label_count++] = (struct bt_selection_label){
				.key = sorted[i].key, .requirements = &sorted[i]};
		}
		selection->labels[selection->label_count - 1].requirement_count++;
	}
}

/* --- field selectors --- */

/** Takes a term on name or namespace; a term with = narrows the searched keys. */
static void take_key_term(struct bt_selection *selection, const struct bt_api_resource *resource,
	const struct bt_field_term *term)
{
	bool is_name = bt_str_equal(term->field, BT_STR("metadata.name"));

	if (term->negated) {
		return;
	}
	if (is_name) {
		selection->nothing |=
			selection->name.data != NULL && !bt_str_equal(selection->name, term->value);
		selection->name = term->value;
	} else if (resource->namespaced && term->value.length != 0) {
		struct bt_str prefix =
			bt_arena_printf(&selection->arena, "%.*s/", BT_STR_ARG(term->value));

		selection->nothing |=
			selection->prefix.length != 0 && !bt_str_equal(selection->prefix, prefix);
		selection->prefix = prefix;
	}
}

/** Adds a term to its field; terms are sorted by field, so the field is the last one or new. */
static void take_text_term(
	struct bt_selection *selection, struct bt_selection_field *row, struct bt_field_term *term)
{
	struct bt_selection_field *last =
		selection->field_count != 0 ? &selection->fields[selection->field_count - 1] : NULL;

	if (last == NULL || !bt_str_equal(last->terms[0].field, term->field)) {
		last = &selection->fields[selection->field_count++];
		*last = *row;
		last->terms = term;
	}
	last->term_count++;
}

/* --- parsing --- */

static uint16_t parse(struct bt_selection *selection, const struct bt_api_resource *resource,
	struct bt_str labels, struct bt_str fields, struct bt_arena *failure_arena,
	struct bt_failure *out_failure)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_selector label_selector = {0};
	struct bt_field_selector field_selector = {0};

	if (bt_selector_parse(bt_arena_str(&selection->arena, labels), &selection->arena,
		    &label_selector, &err) != 0 ||
		bt_field_selector_parse(bt_arena_str(&selection->arena, fields), &selection->arena,
			&field_selector, &err) != 0) {
		uint16_t code = bt_fail_bad_request(
			out_failure, failure_arena, "%s", berth_error_message(&err));

		berth_error_finish(&err);
		return code;
	}
	take_labels(selection, &label_selector);
	if (field_selector.count == 0) {
		return 0;
	}
	struct bt_field_term *terms =
		BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_field_term, field_selector.count);
	struct bt_field_term *key_terms =
		BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_field_term, field_selector.count);

	memcpy(terms, field_selector.terms, field_selector.count * sizeof(*terms));
	qsort(terms, field_selector.count, sizeof(*terms), bt_str_compare_qsort);
	selection->fields = BT_ARENA_NEW_ARRAY(
		&selection->arena, struct bt_selection_field, field_selector.count);
	for (uint32_t i = 0; i < field_selector.count; i++) {
		struct bt_selection_field row = {0};

		switch (bt_selection_field_find(
			resource, terms[i].field, &selection->arena, &row)) {
		case BT_FIELD_OF_KEY:
			key_terms[selection->key_term_count++] = terms[i];
			take_key_term(selection, resource, &terms[i]);
			break;
		case BT_FIELD_OF_TEXT:
			take_text_term(selection, &row, &terms[i]);
			break;
		case BT_FIELD_UNKNOWN:
			return bt_selection_fail_unknown(
				out_failure, failure_arena, resource, terms[i].field);
		}
	}
	selection->key_terms = key_terms;
	return 0;
}

uint16_t bt_selection_parse(struct bt_selection *out_selection,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str labels,
	struct bt_str fields, struct bt_arena *failure_arena, struct bt_failure *out_failure)
{
	struct bt_selection selection = {0};

	if (namespace_.length != 0) {
		selection.prefix =
			bt_arena_printf(&selection.arena, "%.*s/", BT_STR_ARG(namespace_));
	}
	/* No object has a key this long. */
	selection.nothing = selection.prefix.length > BT_STORE_KEY_BYTES_MAX;
	uint16_t code = parse(&selection, resource, labels, fields, failure_arena, out_failure);
	selection.nothing |=
		selection.prefix.length + selection.name.length > BT_STORE_KEY_BYTES_MAX;
	if (selection.nothing) {
		selection.prefix = BT_STR("");
	}
	if (code != 0) {
		bt_selection_finish(&selection);
		return code;
	}
	*out_selection = selection;
	return 0;
}

void bt_selection_finish(struct bt_selection *selection)
{
	bt_arena_finish(&selection->arena);
	bt_arena_finish(&selection->scratch);
	*selection = (struct bt_selection){0};
}

/* --- matching --- */

static bool labels_match(const struct bt_selection *selection)
{
	for (uint32_t i = 0; i < selection->label_count; i++) {
		const struct bt_selection_label *label = &selection->labels[i];
		const struct bt_str *value = label->is_present ? &label->value : NULL;

		for (uint32_t k = 0; k < label->requirement_count; k++) {
			if (!bt_requirement_matches(&label->requirements[k], value)) {
				return false;
			}
		}
	}
	return true;
}

static bool fields_match(const struct bt_selection *selection)
{
	for (uint32_t i = 0; i < selection->field_count; i++) {
		const struct bt_selection_field *field = &selection->fields[i];

		for (uint32_t k = 0; k < field->term_count; k++) {
			if (!bt_field_term_matches(&field->terms[k], field->value)) {
				return false;
			}
		}
	}
	return true;
}

bool bt_selection_matches(struct bt_selection *selection, const struct bt_stored *stored)
{
	struct bt_str key = bt_stored_key(stored);
	if (selection->nothing || !bt_str_has_prefix(key, selection->prefix)) {
		return false;
	}
	for (uint32_t i = 0; i < selection->key_term_count; i++) {
		const struct bt_field_term *term = &selection->key_terms[i];
		bool is_name = bt_str_equal(term->field, BT_STR("metadata.name"));

		if (!bt_field_term_matches(
			    term, is_name ? bt_key_name(key) : bt_key_namespace(key))) {
			return false;
		}
	}
	if (selection->label_count == 0 && selection->field_count == 0) {
		return true;
	}
	bt_selection_read(selection, bt_stored_text(stored));
	return labels_match(selection) && fields_match(selection);
}
