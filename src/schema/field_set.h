/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_FIELD_SET_H
#define BT_SCHEMA_FIELD_SET_H
/**
 * Sets of places in an object, as managedFields hold them: a trie whose edges are names, keys of
 * list elements, or values of sets. All functions leave their arguments as they are and may share
 * parts of them; NULL is the empty set. Spec: 14 section 12.5.
 */
#include "codec/json_edit.h"
#include "schema/spot.h"

/** Kinds of edges, in FieldsV1 the letter before the colon. */
#define BT_FIELD_NAME 'f'  /* member name */
#define BT_FIELD_INDEX 'i' /* position; only read */
#define BT_FIELD_KEY 'k'   /* {"name":"x"}: the element's key members, names ascending */
#define BT_FIELD_VALUE 'v' /* JSON text of a scalar */

struct bt_field_set {
	char kind;   /* of the edge that leads here; '\0' at the root */
	bool member; /* this very place is in the set */
	struct bt_str text;
	uint32_t count;
	const struct bt_field_set **children; /* ascending by kind, then text; never NULL */
};

/** A set without members, and room for so many children. */
struct bt_field_set *bt_field_set_new(
	struct bt_arena *arena, char kind, struct bt_str text, uint32_t room);
/** The set, or NULL if it is empty. */
const struct bt_field_set *bt_field_set_or_empty(const struct bt_field_set *set);

/** --- FieldsV1 --- */

/** What is no FieldsV1 is left out. Names are borrowed from the tree. */
const struct bt_field_set *bt_field_set_parse(
	struct bt_arena *arena, const struct bt_json_value *fields);
struct bt_json_value *bt_field_set_format(struct bt_arena *arena, const struct bt_field_set *set);

/** --- algebra --- */

const struct bt_field_set *bt_field_set_union(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
/** What is in a and not in b. */
const struct bt_field_set *bt_field_set_difference(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
/** What is in both. */
const struct bt_field_set *bt_field_set_intersection(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
bool bt_field_set_equal(const struct bt_field_set *a, const struct bt_field_set *b);
/** Without what nobody owns (name, uid, resourceVersion ...), and without a member of the root that
 * this request does not write (NULL: none). */
const struct bt_field_set *bt_field_set_stripped(
	struct bt_arena *arena, const struct bt_field_set *set, const char *ignored_member);
const struct bt_field_set *bt_field_set_child(
	const struct bt_field_set *set, char kind, struct bt_str text);
/** Number of places; the first limit of them are appended to out_paths as
 * `.spec.containers[name="a"].image`. */
uint32_t bt_field_set_paths(struct bt_arena *arena, const struct bt_field_set *set, uint32_t limit,
	struct bt_json_value *out_paths);

/** --- sets of objects --- */

/** One thing below a value, as an edge. */
struct bt_field_child {
	char kind;
	struct bt_str text;
	uint32_t position; /* among the members or elements */
	struct bt_json_value *value;
	struct bt_spot spot;
};

struct bt_field_children {
	uint32_t count;
	struct bt_field_child *items;
};

enum bt_field_shape {
	BT_FIELD_LEAF,   /* owned as a whole */
	BT_FIELD_PARTS,  /* its parts are owned one by one; there is at least one */
	BT_FIELD_BROKEN, /* a list whose elements lack keys or repeat them: owned as a whole */
};

/** Parts of a value, ascending by kind and text. */
enum bt_field_shape bt_field_children(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *value, struct bt_field_children *out_children);
/** In the order of the list; out_kind and out_texts (count of the list) only with PARTS. */
enum bt_field_shape bt_field_list_texts(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *list, char *out_kind, struct bt_str **out_texts);
/** What a configuration names: its leaves, and the elements of its keyed lists. */
const struct bt_field_set *bt_field_set_of(
	struct bt_arena *arena, const struct bt_spot *spot, const struct bt_json_value *value);

struct bt_field_changes {
	/** What is new or has another value, objects and lists that are new included. */
	const struct bt_field_set *changed;
	const struct bt_field_set *removed;
};
struct bt_field_changes bt_field_set_compare(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value);
#endif
