/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Namespaces. Spec: 14b sections 2.2, 3.3 and 7. */

static void set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	struct bt_str name = bt_kinds_text(metadata, "name");
	(void)bt_json_ensure_object(arena, object, "spec");
	/* generateName: the name is not known yet; prepare_create comes back to it */
	if (name.length != 0) {
		bt_json_set_str(arena, bt_json_ensure_object(arena, metadata, "labels"),
			"kubernetes.io/metadata.name", name);
	}
}

static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *finalizers = bt_json_ensure_array(arena, spec, "finalizers");
	bt_json_set_c(arena, status, "phase", "Active");
	(void)bt_kinds_reset_status(write, object, status);
	if (!bt_json_has_text(finalizers, BT_STR("kubernetes"))) {
		bt_json_append(arena, finalizers, bt_json_new_c(arena, "kubernetes"));
	}
	set_defaults(write, object);
}

/** Finalizers change through the finalize subresource only. */
static void prepare_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	if (write->subresource != BT_SUBRESOURCE_FINALIZE) {
		const struct bt_json_value *finalizers = bt_json_find_path(old, "spec.finalizers");
		struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
		if (finalizers != NULL) {
			bt_json_set_value(write->arena, spec, "finalizers",
				bt_json_clone(write->arena, finalizers, false));
		} else {
			(void)bt_json_remove_c(spec, "finalizers");
		}
	}
}

static void validate(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_LABEL, errors);
}

const struct bt_strategy bt_strategy_namespace = {
	.set_defaults = set_defaults,
	.prepare_create = prepare_create,
	.prepare_update = prepare_update,
	.validate = validate,
};
