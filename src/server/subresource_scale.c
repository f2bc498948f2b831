/* SPDX-License-Identifier: Apache-2.0 */
/** Scale of workloads and custom resources. Spec: 14 section 17. */
#include "server/selection.h"
#include "server/write.h"

/** Dotted paths of the scale's values in the scaled object. */
struct scale_paths {
	const char *replicas;
	const char *status_replicas;
	const char *selector; /* path of the selector's text; NULL: made from spec.selector */
};

static struct scale_paths paths_of(struct bt_call *call)
{
	struct scale_paths paths = {"spec.replicas", "status.replicas", NULL};
	const struct bt_api_resource *resource = call->write.resource;
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		paths.replicas = bt_resource_scale_path(resource, "specReplicasPath", call->arena);
		paths.status_replicas =
			bt_resource_scale_path(resource, "statusReplicasPath", call->arena);
		paths.selector = bt_resource_scale_path(resource, "labelSelectorPath", call->arena);
	}
	return paths;
}

/** --- the document --- */

struct bt_json_value *bt_call_make_scale(struct bt_call *call, const struct bt_json_value *object)
{
	static const char *const copied[] = {
		"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
	struct bt_arena *arena = call->arena;
	struct scale_paths paths = paths_of(call);
	struct bt_json_value *metadata = bt_json_new(arena, BT_JSON_OBJECT);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(copied); i++) {
		bt_json_put(arena, metadata, "{%c?: %s}", copied[i],
			bt_arena_str(arena,
				bt_json_text_at(bt_json_object_at(object, "metadata"), copied[i])));
	}
	return bt_json_put(arena, NULL,
		"{kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: %v, spec: {replicas?: %d},"
		" status: {replicas: %d, selector?: %s}}",
		metadata, bt_json_int64_at(object, paths.replicas, 0),
		bt_json_int64_at(object, paths.status_replicas, 0),
		paths.selector != NULL
			? bt_arena_str(arena, bt_json_text_at(object, paths.selector))
			: bt_selection_text(arena, bt_json_find_path(object, "spec.selector")));
}

/** Sets the replicas of a scaled object; missing objects on the path are created. */
static void set_replicas(
	struct bt_call *call, struct bt_json_value *object, const char *path, int64_t replicas)
{
	struct bt_str rest = bt_str_from(path);
	int64_t dot;
	while ((dot = bt_str_find_char(rest, '.')) >= 0) {
		struct bt_str name = bt_arena_str(call->arena, bt_str_sub(rest, 0, (uint32_t)dot));
		object = bt_json_ensure_object(call->arena, object, name.data);
		rest = bt_str_sub(rest, (uint32_t)dot + 1, rest.length);
	}
	if (rest.length != 0) {
		bt_json_set_int64(
			call->arena, object, bt_arena_str(call->arena, rest).data, replicas);
	}
}

void bt_call_scale(struct bt_call *call)
{
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
		return;
	}
	const struct bt_json_value *old = bt_call_parse(call, stored);
	const char *path = paths_of(call).replicas;
	const struct bt_schema_message *message =
		bt_schema_find(BT_STR("autoscaling/v1"), BT_STR("Scale"));
	struct bt_json_value *scale = call->request->body;
	bool is_patch = call->request->verb == BT_VERB_PATCH;
	bool is_apply = is_patch && call->request->patch_type == BT_PATCH_APPLY;
	if (call->request->verb == BT_VERB_GET) {
		call->answer->document = bt_call_make_scale(call, old);
		call->answer->code = 200;
		return;
	}
	if (is_patch && !bt_call_check_patch_options(call)) {
		return;
	}
	if (is_apply) {
		if (!bt_call_check_applied(call, message)) {
			return;
		}
	} else if (is_patch) {
		scale = bt_call_apply_patch(call, message, bt_call_make_scale(call, old));
	} else if (scale == NULL) {
		scale = bt_json_new(call->arena, BT_JSON_OBJECT);
	}
	if (scale == NULL ||
		!bt_call_decode_as(call, scale, BT_STR("autoscaling/v1"), BT_STR("Scale")) ||
		!bt_call_check_identity(call, stored, old, scale, BT_BODY_PATCHED)) {
		return;
	}
	const struct bt_json_value *given = bt_json_find_path(scale, "spec.replicas");
	int64_t replicas = bt_json_int64_at(scale, "spec.replicas", 0);
	if (replicas < 0) {
		struct bt_field_errors errors = {.arena = call->arena};
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.replicas"), given,
			"must be greater than or equal to 0");
		(void)bt_fail_invalid(&call->answer->failure, call->arena, BT_STR("autoscaling"),
			BT_STR("Scale"), call->write.name, &errors);
		return;
	}
	struct bt_json_value *object;
	if (is_apply) {
		/* The owner of the scale's replicas is kept as the owner of the object's field. */
		struct bt_json_value *applied = bt_json_new(call->arena, BT_JSON_OBJECT);
		if (given != NULL) {
			set_replicas(call, applied, path, replicas);
		}
		object = bt_call_apply(call, old, applied);
		if (object == NULL || !bt_call_decode(call, object, BT_BODY_PATCHED)) {
			return;
		}
	} else {
		object = bt_json_clone(call->arena, old, false);
		set_replicas(call, object, path, replicas);
	}
	bt_call_update_object(call, stored, old, object);
	/* The update answers with the object; answer with its Scale instead. */
	struct bt_api_answer *answer = call->answer;
	if (answer->failure.code == 0) {
		answer->document = bt_call_make_scale(call,
			answer->object != NULL ? bt_api_parse_stored(answer->object, call->arena)
					       : answer->document);
		bt_api_answer_finish(answer);
	}
}
