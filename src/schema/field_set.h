/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_FIELD_SET_H
#define BT_SCHEMA_FIELD_SET_H
/**
 * Sets of places in an object, as in managedFields: a trie whose edges are member names, keys of
 * list elements, or values of sets. NULL is the empty set. Functions do not change their arguments,
 * but a result may share parts of the arguments. Spec: 14 section 12.5.
 */
#include "codec/json_edit.h"
#include "schema/spot.h"

/** Kinds of edges: the letter before the colon in FieldsV1. */
#define BT_FIELD_NAME 'f'  /* member name */
#define BT_FIELD_INDEX 'i' /* position; supported only when reading */
#define BT_FIELD_KEY 'k'   /* {"name":"x"}: key members of the element, sorted by name */
#define BT_FIELD_VALUE 'v' /* JSON text of a scalar */

struct bt_field_set {
	char kind;   /* of the edge from the parent; '\0' at the root */
	bool member; /* this place itself is in the set */
	struct bt_str text;
	uint32_t count;
	const struct bt_field_set **children; /* each not NULL; ascending by kind, text */
};

/** Makes an empty set with space for `room` children; the caller adds the children. */
struct bt_field_set *bt_field_set_new(
	struct bt_arena *arena, char kind, struct bt_str text, uint32_t room);
/** Returns the set, or NULL if it is empty. */
const struct bt_field_set *bt_field_set_or_empty(const struct bt_field_set *set);

/** --- FieldsV1 --- */

/** Parses FieldsV1 (NULL: none) and skips invalid parts. Names are borrowed from fields. */
const struct bt_field_set *bt_field_set_parse(
	struct bt_arena *arena, const struct bt_json_value *fields);
struct bt_json_value *bt_field_set_format(struct bt_arena *arena, const struct bt_field_set *set);

/** --- set operations --- */

const struct bt_field_set *bt_field_set_union(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
/** Returns the places that are in set a but not in set b. */
const struct bt_field_set *bt_field_set_difference(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
/** Returns the places that are in both sets. */
const struct bt_field_set *bt_field_set_intersection(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b);
/**
 * Returns the set without the places that no manager can own (name, uid, resourceVersion ...), and
 * without ignored_member, a member of the root that the request does not write (NULL: none).
 */
const struct bt_field_set *bt_field_set_stripped(
	struct bt_arena *arena, const struct bt_field_set *set, const char *ignored_member);
const struct bt_field_set *bt_field_set_child(
	const struct bt_field_set *set, char kind, struct bt_str text);
/**
 * Returns the number of places, and appends the first `limit` places to out_paths, for example as
 * `.spec.containers[name="a"].image`.
 */
uint32_t bt_field_set_paths(struct bt_arena *arena, const struct bt_field_set *set, uint32_t limit,
	struct bt_json_value *out_paths);

/** --- sets from objects --- */

/** A direct child of a value, with its edge. */
struct bt_field_child {
	char kind;
	struct bt_str text;
	uint32_t position; /* index among the members or elements */
	struct bt_json_value *value;
	struct bt_spot spot;
};

struct bt_field_children {
	uint32_t count;
	struct bt_field_child *items;
};

enum bt_field_shape {
	BT_FIELD_LEAF,   /* owned as a whole */
	BT_FIELD_PARTS,  /* parts are owned separately; there is at least one part */
	BT_FIELD_BROKEN, /* a list with missing or repeated keys: owned as a whole */
};

/**
 * Finds the direct children of a value, ascending by kind and text. *out_children is set only if
 * BT_FIELD_PARTS is returned.
 */
enum bt_field_shape bt_field_children(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *value, struct bt_field_children *out_children);
/**
 * Writes the default of a key member that elements of the list may omit, such as `"TCP"`. Returns
 * false if the member has none.
 */
bool bt_field_write_key_default(
	const struct bt_schema_field *list, const char *name, struct bt_json_writer *writer);
/**
 * Finds the edge of each element of the list. *out_kind is the kind of all edges; *out_texts has
 * one text for each element, in list order. Both are set only if BT_FIELD_PARTS is returned.
 */
enum bt_field_shape bt_field_list_texts(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *list, char *out_kind, struct bt_str **out_texts);
/** Returns the places that a configuration names: its leaves, and the elements of keyed lists. */
const struct bt_field_set *bt_field_set_of(
	struct bt_arena *arena, const struct bt_spot *spot, const struct bt_json_value *value);

struct bt_field_changes {
	/** Places that are new or have a new value, including new objects and lists. */
	const struct bt_field_set *changed;
	/** Places that exist only in the old value. */
	const struct bt_field_set *removed;
};
struct bt_field_changes bt_field_set_compare(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value);

/** --- apply_merge.c: changes of a value by a configuration --- */

/**
 * Merges the configuration `applied` into the live value. live is changed in place and becomes part
 * of *out_value. live NULL: there is no live value. List elements match by their keys.
 * BERTH_ERR_INVALID: a list of the configuration has elements without keys or with equal keys.
 */
BT_MUST_USE int bt_apply_merge(struct bt_arena *arena, const struct bt_spot *spot,
	struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_value, struct berth_error *err);
/**
 * Removes from value, in place, the fields that are in the set `last` but not in the set `keep`.
 * NULL is the empty set.
 */
void bt_apply_prune(struct bt_arena *arena, const struct bt_spot *spot, struct bt_json_value *value,
	const struct bt_field_set *last, const struct bt_field_set *keep);
#endif
