/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_APPLY_H
#define BT_SCHEMA_APPLY_H
/**
 * Server-side apply, and which manager owns which field. Owners are recorded in
 * metadata.managedFields of the object, from the object's creation on. Spec: 14 section 12.5.
 */
#include "codec/json_edit.h"
#include "schema/schema.h"

/**
 * Maximum number of Update entries of an object; older entries are merged into the manager
 * "ancient-changes".
 */
#define BT_APPLY_UPDATES_MAX 10
/** Maximum number of entries in managedFields that are read. */
#define BT_APPLY_MANAGERS_MAX 200
/** Maximum number of conflicts that are listed separately. */
#define BT_APPLY_CONFLICTS_MAX 200

/** The manager that writes, and the kind and part of the object that it writes. */
struct bt_apply_writer {
	const struct bt_schema_message *message; /* NULL: custom resource */
	const struct bt_schema_message *parts;   /* see bt_spot_root */
	struct bt_str manager;
	struct bt_str api_version; /* "apps/v1" */
	struct bt_str kind;
	struct bt_str subresource; /* "" for the object itself */
	struct bt_str time;        /* RFC 3339, whole seconds */
	/**
	 * Member of the root that this request cannot write, so that the manager does not become
	 * its owner: "status", or "spec" for the status subresource. NULL: none.
	 */
	const char *ignored_member;
};

struct bt_apply_conflict {
	struct bt_str message; /* `conflict with "x" using apps/v1` */
	struct bt_str field;   /* `.spec.replicas` */
};

/** The conflicts of a call, with texts in the call's arena. */
struct bt_apply_conflicts {
	struct bt_str text; /* `Apply failed with 1 conflict: ...`; "": none */
	uint32_t total;
	uint32_t count; /* number of items */
	struct bt_apply_conflict items[BT_APPLY_CONFLICTS_MAX];
};

/**
 * Applies a configuration. live: the stored object (NULL: the object is created). live and applied
 * must be normalised by the schema; they are not changed, but *out_object shares parts of them.
 * *out_object may contain empty objects and lists: normalise it. force: take over conflicting
 * fields from other managers.
 *
 * BERTH_ERR_STATE: conflicts, in *out_conflicts (409). BERTH_ERR_INVALID: the configuration has
 * managedFields, or a list whose elements lack or repeat their keys (400).
 *
 * The manager "kubectl" has no conflicts over fields in the annotation of kubectl's client-side
 * apply, because kubectl itself wrote these fields. An apply by kubectl also updates the
 * annotation.
 */
BT_MUST_USE int bt_apply(struct bt_arena *arena, const struct bt_apply_writer *writer, bool force,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_object, struct bt_apply_conflicts *out_conflicts,
	struct berth_error *err);

/**
 * Checks a configuration, as received, against the schema. message NULL (a custom resource): checks
 * only metadata and the keys of the lists in `parts`, see bt_spot_root. BERTH_ERR_INVALID: the
 * error lists the mismatches (".spec.taints[0]: expected map, got &{x}"), at most 100.
 */
BT_MUST_USE int bt_apply_check(const struct bt_schema_message *message,
	const struct bt_schema_message *parts, const struct bt_json_value *applied,
	struct berth_error *err);

/**
 * Merges the configuration of an admission policy (applied) into object without recording an owner.
 * *out_object is the result; it reuses object, which is changed in place and must not be used any
 * more, even after a failure. BERTH_ERR_INVALID: the configuration does not match the schema, or
 * sets part of a list, map or object that is only replaced as a whole.
 */
BT_MUST_USE int bt_apply_mutation(struct bt_arena *arena, const struct bt_schema_message *message,
	const struct bt_schema_message *parts, struct bt_json_value *object,
	const struct bt_json_value *applied, struct bt_json_value **out_object,
	struct berth_error *err);

/** Whether the object (NULL: no object) has managedFields; fast. */
bool bt_apply_is_tracked(const struct bt_json_value *object);

/**
 * Records a create (old NULL) or an update other than apply in new_object's managedFields: the
 * manager becomes the only owner of the changed fields. If the client sent managedFields, they
 * replace the managedFields of `old` (kubectl migrates owners in this way); otherwise the
 * managedFields of `old` are used. If neither old nor new_object has managedFields, an update
 * records nothing. If the client sent managedFields without a valid entry, such as [{}], all owners
 * are removed, and the object is not tracked until the next apply.
 */
void bt_apply_record_update(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *old, struct bt_json_value *new_object);
#endif
