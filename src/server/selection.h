/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_SELECTION_H
#define BT_SERVER_SELECTION_H
/**
 * Selects the objects of a list or watch by namespace, label selector and field selector. Matching
 * reads only parts of the stored text and builds no tree. Spec: 14 section 16.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/arena.h"
#include "server/failure.h"
#include "server/resource.h"
#include "server/store.h"

struct bt_selection_field;

/** Owns its texts. All-zero memory selects every object. */
struct bt_selection {
	struct bt_arena arena;
	struct bt_arena scratch; /* memory of one match */
	struct bt_str prefix;    /* prefix of the keys: "" or "namespace/" */
	struct bt_str name;      /* absent, or the only name that can match */
	bool nothing;            /* no object can match */
	struct bt_selector labels;
	uint32_t field_count; /* distinct paths that need the text */
	struct bt_selection_field *fields;
	/* Terms on name and namespace, which are checked on the key. */
	uint32_t key_term_count;
	const struct bt_field_term *key_terms;
};

/**
 * Parses the label and field selectors of a decoded query. `labels` or `fields` absent or "": the
 * query has no such selector. `namespace_` "": all namespaces, or cluster scope. false: sets
 * *out_failure (texts in failure_arena).
 */
bool bt_selection_parse(struct bt_selection *out_selection, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_str labels, struct bt_str fields,
	struct bt_arena *failure_arena, struct bt_failure *out_failure);
void bt_selection_finish(struct bt_selection *selection);
/** Returns whether the object matches. `stored`: an object of the collection, in any namespace. */
bool bt_selection_matches(struct bt_selection *selection, const struct bt_stored *stored);

/**
 * Returns a label selector, {matchLabels, matchExpressions} or a map of labels, as kubectl accepts
 * it, sorted by key: "a in (b,c),b notin (b),c,!d,e=f".
 */
struct bt_str bt_selection_text(struct bt_arena *arena, const struct bt_json_value *selector);
#endif
