/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector.h"
#include "api/selector_build.h"

/* Node selectors, preferred terms and required node affinity: spec 01 sections 5.8 to 5.10. */

static bool is_empty_term(const struct bt_node_selector_term *term)
{
	return term->match_expressions.count == 0 && term->match_fields.count == 0;
}

/** Adds the error "Unsupported value: <quoted>: supported values: ...". */
static void add_operator_error(struct bt_str operator_, const char *supported,
	const struct bt_requirement_path *path, const struct bt_error_sink *sink)
{
	struct bt_strbuf text = {NULL, 0, 0};

	if (*sink->bytes_left != 0) {
		bt_strbuf_append_c(&text, "Unsupported value: ");
		bt_strbuf_append_quoted(&text, operator_);
		bt_strbuf_append_c(&text, ": supported values: ");
		bt_strbuf_append_c(&text, supported);
	}
	bt_error_sink_add(sink, path, "operator", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

/** Builds a field requirement: In or NotIn with one value; key and value are not validated. */
static void build_field(const struct bt_node_selector_requirement *expression,
	const struct bt_requirement_path *path, const struct bt_error_sink *sink,
	struct bt_requirement *out)
{
	enum bt_selector_operator operator_;

	if (!bt_selector_operator_parse(expression->operator_, false, &operator_) ||
		(operator_ != BT_SELECTOR_IN && operator_ != BT_SELECTOR_NOT_IN)) {
		add_operator_error(expression->operator_, "\"In\", \"NotIn\"", path, sink);
		return;
	}
	if (expression->values.count != 1) {
		struct bt_strbuf text = {NULL, 0, 0};

		if (*sink->bytes_left != 0) {
			bt_strbuf_append_c(&text, "Invalid value: ");
			bt_append_values_json(&expression->values, false, &text);
			bt_strbuf_append_c(&text, ": must have one element");
		}
		bt_error_sink_add(sink, path, "values", bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		return;
	}
	out->key = expression->key;
	out->operator_ = operator_;
	out->value_count = 1;
	out->values = expression->values.items;
}

/** Builds a term; path has the term's place and index. */
static struct bt_node_term build_term(const struct bt_node_selector_term *source,
	struct bt_requirement_path path, struct bt_arena *arena, uint32_t *bytes_left)
{
	struct bt_node_term term = {.label_count = source->match_expressions.count};
	struct bt_error_sink sink = {&term.errors, arena, bytes_left};
	struct bt_requirement *labels =
		BT_ARENA_NEW_ARRAY(arena, struct bt_requirement, source->match_expressions.count);
	struct bt_requirement *fields =
		BT_ARENA_NEW_ARRAY(arena, struct bt_requirement, source->match_fields.count);

	path.member = "matchExpressions";
	for (uint32_t i = 0; i < source->match_expressions.count; i++) {
		path.index = i;
		const struct bt_node_selector_requirement *expression =
			&source->match_expressions.items[i];
		struct bt_requirement_source requirement = {
			expression->key, expression->operator_, &expression->values};
		enum bt_selector_operator operator_;

		if (bt_selector_operator_parse(expression->operator_, true, &operator_)) {
			(void)bt_requirement_build(
				&requirement, operator_, &path, &sink, &labels[i]);
		} else {
			add_operator_error(expression->operator_,
				"\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"",
				&path, &sink);
		}
	}
	path.member = "matchFields";
	for (uint32_t i = 0; i < source->match_fields.count; i++) {
		path.index = i;
		build_field(&source->match_fields.items[i], &path, &sink, &fields[i]);
	}
	term.label_requirements = labels;
	term.field_count = source->match_fields.count;
	term.field_requirements = fields;
	return term;
}

struct bt_parsed_node_selector bt_node_selector_parse(
	const struct bt_node_selector *selector, struct bt_str path_prefix, struct bt_arena *arena)
{
	struct bt_parsed_node_selector result = {.term_count = 0};
	struct bt_requirement_path path = {.place = BT_PLACE_NODE_SELECTOR, .prefix = path_prefix};
	uint32_t bytes_left = BT_SELECTOR_ERROR_BYTES_MAX;

	if (selector == NULL || selector->terms.count == 0) {
		return result;
	}
	struct bt_node_term *terms =
		BT_ARENA_NEW_ARRAY(arena, struct bt_node_term, selector->terms.count);
	for (uint32_t i = 0; i < selector->terms.count; i++) {
		if (!is_empty_term(&selector->terms.items[i])) {
			path.term = i;
			terms[result.term_count++] =
				build_term(&selector->terms.items[i], path, arena, &bytes_left);
		}
	}
	result.terms = terms;
	return result;
}

static void append_errors(
	const struct bt_error_list *from, struct bt_arena *arena, struct bt_error_list *to)
{
	for (uint32_t i = 0; i < from->count; i++) {
		bt_error_list_add(to, arena, from->items[i]);
	}
}

void bt_node_selector_errors(const struct bt_parsed_node_selector *selector, struct bt_arena *arena,
	struct bt_error_list *out_errors)
{
	for (uint32_t i = 0; i < selector->term_count; i++) {
		append_errors(&selector->terms[i].errors, arena, out_errors);
	}
}

bool bt_node_term_matches(
	const struct bt_node_term *term, struct bt_str node_name, const struct bt_str_map *labels)
{
	if (term->errors.count != 0) {
		return false;
	}
	for (uint32_t i = 0; i < term->label_count; i++) {
		const struct bt_requirement *requirement = &term->label_requirements[i];

		if (!bt_requirement_matches(
			    requirement, bt_str_map_find(labels, requirement->key))) {
			return false;
		}
	}
	if (node_name.length == 0) {
		return true;
	}
	for (uint32_t i = 0; i < term->field_count; i++) {
		const struct bt_requirement *requirement = &term->field_requirements[i];
		struct bt_str value = bt_str_equal(requirement->key, BT_STR("metadata.name"))
			? node_name
			: BT_STR("");

		/* unknown fields have an empty value, so a field is never absent */
		if (!bt_requirement_matches(requirement, &value)) {
			return false;
		}
	}
	return true;
}

bool bt_node_selector_matches(const struct bt_parsed_node_selector *selector,
	struct bt_str node_name, const struct bt_str_map *labels, struct bt_arena *arena,
	struct bt_error_list *errors)
{
	for (uint32_t i = 0; i < selector->term_count; i++) {
		if (bt_node_term_matches(&selector->terms[i], node_name, labels)) {
			return true;
		}
	}
	if (errors != NULL) {
		bt_node_selector_errors(selector, arena, errors);
	}
	return false;
}

struct bt_preferred_terms bt_preferred_terms_parse(const bt_preferred_scheduling_term_list *list,
	struct bt_str path_prefix, struct bt_arena *arena, struct bt_error_list *out_errors)
{
	struct bt_preferred_terms result = {.count = 0};
	struct bt_requirement_path path = {.place = BT_PLACE_PREFERRED_TERM, .prefix = path_prefix};
	uint32_t bytes_left = BT_SELECTOR_ERROR_BYTES_MAX;
	bool failed = false;

	if (list->count == 0) {
		return result;
	}
	struct bt_preferred_term *terms =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preferred_term, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_preferred_scheduling_term *source = &list->items[i];

		if (source->weight == 0 || is_empty_term(&source->preference)) {
			continue;
		}
		path.term = i;
		terms[result.count].term =
			build_term(&source->preference, path, arena, &bytes_left);
		terms[result.count].weight = source->weight;
		failed = failed || terms[result.count].term.errors.count != 0;
		append_errors(&terms[result.count].term.errors, arena, out_errors);
		result.count++;
	}
	if (failed) {
		result.count = 0;
	}
	result.items = terms;
	return result;
}

int64_t bt_preferred_terms_score(const struct bt_preferred_terms *terms, struct bt_str node_name,
	const struct bt_str_map *labels)
{
	int64_t score = 0;

	/* cannot overflow: at most 2^32 terms with 32-bit weights */
	for (uint32_t i = 0; i < terms->count; i++) {
		if (bt_node_term_matches(&terms->items[i].term, node_name, labels)) {
			score += terms->items[i].weight;
		}
	}
	return score;
}

struct bt_required_node_affinity bt_required_node_affinity_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena)
{
	struct bt_required_node_affinity result = {.node_selector = &spec->node_selector};

	if (spec->affinity != NULL && spec->affinity->node_affinity != NULL &&
		spec->affinity->node_affinity->required != NULL) {
		result.has_affinity = true;
		result.affinity = bt_node_selector_parse(
			spec->affinity->node_affinity->required, BT_STR(""), arena);
	}
	return result;
}

bool bt_required_node_affinity_matches(const struct bt_required_node_affinity *affinity,
	struct bt_str node_name, const struct bt_str_map *labels, struct bt_arena *arena,
	struct bt_error_list *errors)
{
	if (!bt_str_map_contains(labels, affinity->node_selector)) {
		return false;
	}
	return !affinity->has_affinity ||
		bt_node_selector_matches(&affinity->affinity, node_name, labels, arena, errors);
}
