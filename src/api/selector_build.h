/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SELECTOR_BUILD_H
#define BT_API_SELECTOR_BUILD_H
/**
 * Builds the requirements of label and node selectors, and writes the error texts of invalid ones.
 * Spec: 01 section 5.5.
 */
#include "api/selector.h"

/**
 * Maximum bytes of all error texts of one parse. The limit is needed because errors quote the input
 * repeatedly (for example once per value). Errors beyond the limit are not added, but a list that
 * would then stay empty gets the error "too many errors".
 */
#define BT_SELECTOR_ERROR_BYTES_MAX (1024u * 1024u)

enum bt_requirement_place {
	BT_PLACE_LABEL_SELECTOR, /* no path */
	BT_PLACE_NODE_SELECTOR,  /* <prefix>.nodeSelectorTerms[term].<member>[index] */
	BT_PLACE_PREFERRED_TERM, /* <prefix>[term].<member>[index] */
};

/** Position of a requirement in the object. */
struct bt_requirement_path {
	enum bt_requirement_place place;
	struct bt_str prefix;
	uint32_t term;
	const char *member; /* "matchExpressions" or "matchFields" */
	uint32_t index;
};

struct bt_error_sink {
	struct bt_error_list *list;
	struct bt_arena *arena;
	uint32_t *bytes_left; /* rest of BT_SELECTOR_ERROR_BYTES_MAX; shared by all lists of a parse
	                       */
};

/** A requirement's fields in the object. */
struct bt_requirement_source {
	struct bt_str key;
	struct bt_str operator_;
	const bt_str_list *values;
};

/**
 * Adds "<path>.<field>: <detail>". If no bytes are left, adds nothing to a list that has errors,
 * and "too many errors" to an empty list.
 */
void bt_error_sink_add(const struct bt_error_sink *sink, const struct bt_requirement_path *path,
	const char *field, struct bt_str detail);
/**
 * Parses "In", "NotIn", ... false: the text is no operator, or is Gt or Lt while with_comparison is
 * false.
 */
bool bt_selector_operator_parse(
	struct bt_str text, bool with_comparison, enum bt_selector_operator *out_operator);
/**
 * Builds and validates one label requirement. If there are errors, adds them to the sink and
 * returns false.
 */
bool bt_requirement_build(const struct bt_requirement_source *source,
	enum bt_selector_operator operator_, const struct bt_requirement_path *path,
	const struct bt_error_sink *sink, struct bt_requirement *out_requirement);
/**
 * Appends the values as a JSON array, "null" for an absent list (and for an empty one if
 * empty_is_null).
 */
void bt_append_values_json(const bt_str_list *values, bool empty_is_null, struct bt_strbuf *out);
#endif
