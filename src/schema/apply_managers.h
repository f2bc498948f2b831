/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_APPLY_MANAGERS_H
#define BT_SCHEMA_APPLY_MANAGERS_H
/** Reads and writes metadata.managedFields; shared by the files of apply. */
#include "schema/apply.h"
#include "schema/field_set.h"

struct bt_manager {
	struct bt_str name;
	struct bt_str operation; /* "Apply" or "Update" */
	struct bt_str api_version;
	struct bt_str time;
	struct bt_str subresource;
	const struct bt_field_set *fields; /* NULL: the entry is dropped when written */
};

struct bt_managers {
	uint32_t count;
	struct bt_manager *items; /* has room for three more entries than were read */
};

/**
 * Reads the managedFields of an object (NULL: no object) into the arena; skips entries with
 * malformed fields. *out_given: the object has managedFields, even if all entries are malformed.
 */
struct bt_managers *bt_managers_read(
	struct bt_arena *arena, const struct bt_json_value *object, bool *out_given);
/**
 * Sorts the entries and writes them to the object; removes managedFields if there are no entries.
 */
void bt_managers_write(
	struct bt_arena *arena, struct bt_managers *managers, struct bt_json_value *object);
/**
 * Returns the writer's Apply entry if applies is true, otherwise its Update entry. Adds the entry
 * if managers lacks it.
 */
struct bt_manager *bt_managers_of(
	struct bt_managers *managers, const struct bt_apply_writer *writer, bool applies);
/**
 * Merges the oldest Update entries into the entry "ancient-changes" until at most
 * BT_APPLY_UPDATES_MAX Update entries are left.
 */
void bt_managers_cap(struct bt_arena *arena, struct bt_managers *managers);
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
