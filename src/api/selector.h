/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SELECTOR_H
#define BT_API_SELECTOR_H
/**
 * Selectors over labels and node fields, parsed once and matched often. Spec: 01 sections 5.4 to
 * 5.10. Parsed selectors are in the given arena and borrow text of the source object.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/meta.h"
#include "api/pod.h"
#include "base/arena.h"

enum bt_selector_operator {
	BT_SELECTOR_IN, /* also Equals, with one value */
	BT_SELECTOR_NOT_IN,
	BT_SELECTOR_EXISTS,
	BT_SELECTOR_DOES_NOT_EXIST,
	BT_SELECTOR_GT,
	BT_SELECTOR_LT,
};

struct bt_requirement {
	struct bt_str key;
	enum bt_selector_operator operator_;
	uint32_t value_count;
	const struct bt_str *values;
	int64_t operand; /* GT, LT */
};

/** Returns true if the requirement matches a label with this value (NULL: the label is absent). */
bool bt_requirement_matches(const struct bt_requirement *requirement, const struct bt_str *value);

/**
 * A selector that matches an object if all requirements match. If `nothing` is true, the selector
 * matches no object; an absent LabelSelector gives such a selector.
 */
struct bt_selector {
	bool nothing;
	uint32_t requirement_count;
	const struct bt_requirement *requirements;
};

/**
 * Error texts in order, as upstream aggregates them (spec 01 section 5.16). Text is in the arena of
 * the parse. All-zero memory is an empty list.
 */
struct bt_error_list {
	struct bt_str *items;
	uint32_t count;
	uint32_t capacity;
};

void bt_error_list_add(struct bt_error_list *list, struct bt_arena *arena, struct bt_str text);
/**
 * Joins the texts: one text plain, several as "[a, b]", without exact duplicates; an empty list
 * gives "".
 */
struct bt_str bt_error_list_text(const struct bt_error_list *list, struct bt_arena *arena);

/**
 * These functions add the messages of spec 01 section 5.4 for a label key or label value, each as a
 * separate entry. A valid key or value adds nothing.
 */
void bt_label_key_errors(
	struct bt_str key, struct bt_arena *arena, struct bt_error_list *out_errors);
void bt_label_value_errors(
	struct bt_str value, struct bt_arena *arena, struct bt_error_list *out_errors);
bool bt_label_key_is_valid(struct bt_str key);
bool bt_label_value_is_valid(struct bt_str value);

/**
 * Parses a LabelSelector, spec 01 section 5.6. selector NULL: matches nothing. BERTH_ERR_INVALID: a
 * requirement is invalid; the error is about the first invalid requirement.
 */
BT_MUST_USE int bt_selector_from_label_selector(const struct bt_label_selector *selector,
	struct bt_arena *arena, struct bt_selector *out_selector, struct berth_error *err);
/**
 * Parses the query form: "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2" (spec 14 section 16). Empty
 * text: no requirements. Borrows text.
 */
BT_MUST_USE int bt_selector_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_selector *out_selector, struct berth_error *err);
/**
 * Creates a selector that requires every pair of the map, without validation; an empty or NULL map
 * matches everything. Borrows the map's items.
 */
struct bt_selector bt_selector_from_map(const struct bt_str_map *map, struct bt_arena *arena);
bool bt_selector_matches(const struct bt_selector *selector, const struct bt_str_map *labels);
bool bt_selector_is_empty(const struct bt_selector *selector);

/** One term of a node selector; a term with errors never matches. */
struct bt_node_term {
	uint32_t label_count;
	const struct bt_requirement *label_requirements;
	uint32_t field_count;
	const struct bt_requirement *field_requirements; /* IN / NOT_IN with one value */
	struct bt_error_list errors;
};

/**
 * A parsed node selector (spec 01 section 5.8, lazy): empty terms are dropped, invalid terms are
 * kept with their errors.
 */
struct bt_parsed_node_selector {
	uint32_t term_count;
	const struct bt_node_term *terms;
};

/**
 * Parses a node selector; never fails. selector NULL: a selector without terms, which matches
 * nothing. If path_prefix is "", paths of errors have the form
 * nodeSelectorTerms[i].matchExpressions[j].
 */
struct bt_parsed_node_selector bt_node_selector_parse(
	const struct bt_node_selector *selector, struct bt_str path_prefix, struct bt_arena *arena);
/** Strict mode: appends every error of every term to *out_errors. */
void bt_node_selector_errors(const struct bt_parsed_node_selector *selector, struct bt_arena *arena,
	struct bt_error_list *out_errors);
/**
 * Whether a node matches. node_name "": the node has no fields, and all field requirements are
 * satisfied. errors receives the parse errors if no term matched; errors may be NULL.
 */
bool bt_node_selector_matches(const struct bt_parsed_node_selector *selector,
	struct bt_str node_name, const struct bt_str_map *labels, struct bt_arena *arena,
	struct bt_error_list *errors);
/** Matches one parsed term against a node. */
bool bt_node_term_matches(
	const struct bt_node_term *term, struct bt_str node_name, const struct bt_str_map *labels);

/** Parsed preferred terms, spec 01 section 5.9. */
struct bt_preferred_term {
	struct bt_node_term term;
	int32_t weight;
};

struct bt_preferred_terms {
	uint32_t count;
	const struct bt_preferred_term *items;
};

/**
 * Parses preferred terms; drops empty terms and terms with weight 0. If path_prefix is "", paths of
 * errors have the form [i].matchExpressions[j]. If there are errors, out_errors has all of them and
 * the result has no terms.
 */
struct bt_preferred_terms bt_preferred_terms_parse(const bt_preferred_scheduling_term_list *list,
	struct bt_str path_prefix, struct bt_arena *arena, struct bt_error_list *out_errors);
int64_t bt_preferred_terms_score(const struct bt_preferred_terms *terms, struct bt_str node_name,
	const struct bt_str_map *labels);

/** Parsed nodeSelector and required node affinity of a pod. Spec 01 section 5.10. */
struct bt_required_node_affinity {
	const struct bt_str_map *node_selector; /* borrowed from the pod */
	bool has_affinity;
	struct bt_parsed_node_selector affinity;
};

struct bt_required_node_affinity bt_required_node_affinity_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena);
bool bt_required_node_affinity_matches(const struct bt_required_node_affinity *affinity,
	struct bt_str node_name, const struct bt_str_map *labels, struct bt_arena *arena,
	struct bt_error_list *errors);

/** A term of the field selector of list and watch requests. Spec 01 section 5.7. */
struct bt_field_term {
	struct bt_str field;
	struct bt_str value;
	bool negated;
};

struct bt_field_selector {
	uint32_t count;
	const struct bt_field_term *terms;
};

/**
 * Parses "a=b,c==d,e!=f". In values, a backslash escapes a backslash, "," or "=". Empty text: no
 * terms. Values are unescaped into the arena; field names are borrowed from text.
 */
BT_MUST_USE int bt_field_selector_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_field_selector *out_selector, struct berth_error *err);
/** value: text of the object's field, "" if the object does not have the field. */
bool bt_field_term_matches(const struct bt_field_term *term, struct bt_str value);
#endif
