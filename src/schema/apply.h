/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_APPLY_H
#define BT_SCHEMA_APPLY_H
/**
 * Server-side apply, and who owns which field. Owners stand in metadata.managedFields of the object
 * itself, from its creation on. Spec: 14 section 12.5.
 */
#include "codec/json_edit.h"
#include "schema/schema.h"

/** Update entries of one object; older ones are put together as "ancient-changes". */
#define BT_APPLY_UPDATES_MAX 10
/** Entries of one object that are read at all. */
#define BT_APPLY_MANAGERS_MAX 200
/** Conflicts that are listed one by one. */
#define BT_APPLY_CONFLICTS_MAX 200

/** Who writes, and what. */
struct bt_apply_writer {
	const struct bt_schema_message *message; /* NULL: custom resource */
	const struct bt_schema_message *parts;   /* as of bt_spot_root */
	struct bt_str manager;
	struct bt_str api_version; /* "apps/v1" */
	struct bt_str kind;
	struct bt_str subresource; /* "" for the object itself */
	struct bt_str time;        /* RFC 3339, whole seconds */
	/** Member of the root that this request cannot write, which therefore nobody comes to own:
	 * "status", or "spec" for the status subresource. NULL: none. */
	const char *ignored_member;
};

struct bt_apply_conflict {
	struct bt_str message; /* `conflict with "x" using apps/v1` */
	struct bt_str field;   /* `.spec.replicas` */
};

/** In the arena of the call. */
struct bt_apply_conflicts {
	struct bt_str text; /* `Apply failed with 1 conflict: ...`; absent: none */
	uint32_t count;     /* of items; the text has the true number */
	const struct bt_apply_conflict *items;
};

/**
 * Apply a configuration. live is the stored object (NULL: it is created); it and applied, both
 * normalised by the schema, are left alone, but *out_object shares parts of them. The result may
 * hold empty objects and lists: normalise it. force takes fields over from other managers.
 *
 * BERTH_ERR_STATE: conflicts, in *out_conflicts (409). BERTH_ERR_INVALID: managedFields in the
 * configuration, or a list whose elements lack or repeat their keys (400).
 *
 * The manager "kubectl" has no conflicts about fields that the annotation of kubectl's client-side
 * apply holds: that is itself. It keeps the annotation in step.
 */
BT_MUST_USE int bt_apply(struct bt_arena *arena, const struct bt_apply_writer *writer, bool force,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_object, struct bt_apply_conflicts *out_conflicts,
	struct berth_error *err);

/**
 * Whether a configuration fits the schema, as it was sent. BERTH_ERR_INVALID: the error lists every
 * place that does not (".spec.taints[0]: expected map, got &{x}").
 */
BT_MUST_USE int bt_apply_check(const struct bt_schema_message *message,
	const struct bt_json_value *applied, struct berth_error *err);

/**
 * Merge what an admission policy applies into an object, which is changed; nobody comes to own it.
 * BERTH_ERR_INVALID: it does not fit the schema, or names a list, map or object that is only
 * replaced as a whole.
 */
BT_MUST_USE int bt_apply_mutation(struct bt_arena *arena, const struct bt_schema_message *message,
	const struct bt_schema_message *parts, struct bt_json_value *object,
	const struct bt_json_value *applied, struct bt_json_value **out_object,
	struct berth_error *err);

/** Whether the object has managedFields: cheap. */
bool bt_apply_is_tracked(const struct bt_json_value *object);

/**
 * Note a create (old NULL) or update by other means than apply in new_object's managedFields: what
 * changed is the manager's, and no longer others'. managedFields that the client sent are taken
 * over (kubectl migrates owners so); absent ones are those of old; [{}] empties them, and the
 * object is not tracked until somebody applies.
 */
void bt_apply_record_update(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *old, struct bt_json_value *new_object);
#endif
