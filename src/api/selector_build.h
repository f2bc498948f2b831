/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SELECTOR_BUILD_H
#define BT_API_SELECTOR_BUILD_H
/** Construction of requirements with their error texts; shared by label and node selectors. Spec:
 * 01 section 5.5. */
#include "api/selector.h"

/**
 * Error texts quote the input over and over (once per value, say), so their sum is limited per
 * parse. Past the limit one constant text stands for all others.
 */
#define BT_SELECTOR_ERROR_BYTES_MAX (1024u * 1024u)

enum bt_requirement_place {
	BT_PLACE_LABEL_SELECTOR, /* no path at all */
	BT_PLACE_NODE_SELECTOR,  /* <prefix>.nodeSelectorTerms[term].<member>[index] */
	BT_PLACE_PREFERRED_TERM, /* <prefix>[term].<member>[index] */
};

/** Where in the object a requirement stands. */
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
	uint32_t *bytes_left; /* of BT_SELECTOR_ERROR_BYTES_MAX; shared by all lists of one parse */
};

/** A requirement as written in an object. */
struct bt_requirement_source {
	struct bt_str key;
	struct bt_str operator_;
	const bt_str_list *values;
};

/** "<path>.<field>: <rest>" with rest taken from detail; nothing when the budget is used up. */
void bt_error_sink_add(const struct bt_error_sink *sink, const struct bt_requirement_path *path,
	const char *field, struct bt_str detail);
/** "In", "NotIn", ...; false for any other text. with_comparison: Gt and Lt exist as well. */
bool bt_selector_operator_parse(
	struct bt_str text, bool with_comparison, enum bt_selector_operator *out_operator);
/** Build and check one label requirement; errors go to the sink, and false is returned. */
bool bt_requirement_build(const struct bt_requirement_source *source,
	enum bt_selector_operator operator_, const struct bt_requirement_path *path,
	const struct bt_error_sink *sink, struct bt_requirement *out_requirement);
/** JSON array of the values, "null" for an absent list (and for an empty one when empty_is_null).
 */
void bt_append_values_json(const bt_str_list *values, bool empty_is_null, struct bt_strbuf *out);
#endif
