/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_APPLY_MANAGERS_H
#define BT_SCHEMA_APPLY_MANAGERS_H
/** metadata.managedFields, read and written; shared by the files of apply. */
#include "schema/apply.h"
#include "schema/field_set.h"

struct bt_manager {
	struct bt_str name;
	struct bt_str operation; /* "Apply" or "Update" */
	struct bt_str api_version;
	struct bt_str time;
	struct bt_str subresource;
	const struct bt_field_set *fields; /* NULL: it goes when written */
};

struct bt_managers {
	uint32_t count;
	struct bt_manager *items; /* with room for three more than were read */
};

/** In the arena; entries that are malformed are left out. *out_given: there were some. */
struct bt_managers *bt_managers_read(
	struct bt_arena *arena, const struct bt_json_value *object, bool *out_given);
/** Sorted; the member goes when there are none. */
void bt_managers_write(
	struct bt_arena *arena, struct bt_managers *managers, struct bt_json_value *object);
/** The writer's entry, made if there is none. */
struct bt_manager *bt_managers_of(
	struct bt_managers *managers, const struct bt_apply_writer *writer, bool applies);
/** Keep the number of Update entries small. */
void bt_managers_cap(struct bt_arena *arena, struct bt_managers *managers);
/** The configuration over the live object, by the lists' keys. */
BT_MUST_USE int bt_apply_merge(struct bt_arena *arena, const struct bt_spot *spot,
	struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_value, struct berth_error *err);
/** Take out what last has and keep has not. In place. */
void bt_apply_prune(struct bt_arena *arena, const struct bt_spot *spot, struct bt_json_value *value,
	const struct bt_field_set *last, const struct bt_field_set *keep);
#endif
