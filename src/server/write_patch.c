/* SPDX-License-Identifier: Apache-2.0 */
/** The four kinds of patches. Spec: 14 section 12. */
#include "api/time.h"
#include "codec/json_patch.h"
#include "schema/apply.h"
#include "schema/strategic_merge.h"
#include "server/kinds/common.h"
#include "server/write.h"

struct bt_json_value *bt_call_apply_patch(struct bt_call *call,
	const struct bt_schema_message *message, struct bt_json_value *document)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *patch = call->request->body;
	struct bt_json_value *patched = NULL;
	int result = 0;
	if (patch == NULL) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"error decoding patch: unexpected end of JSON input");
		return NULL;
	}
	enum bt_patch_type type = call->request->patch_type;
	if (type == BT_PATCH_STRATEGIC && message == NULL) {
		(void)bt_call_refuse(call, 415, "UnsupportedMediaType",
			"the body of the request was in an unknown format - accepted media types "
			"include: application/json-patch+json, application/merge-patch+json, "
			"application/apply-patch+yaml");
		return NULL;
	}
	if (type != BT_PATCH_JSON && !bt_call_drop_repeated(call)) {
		return NULL;
	}
	switch (type) {
	case BT_PATCH_JSON:
		result = bt_json_patch(call->arena, document, patch, &patched, &err);
		break;
	case BT_PATCH_MERGE:
		if (patch->type != BT_JSON_OBJECT) {
			result = bt_error_set(&err, BERTH_ERR_SYNTAX,
				"json: cannot unmarshal %s into Go value of type "
				"map[string]interface {}",
				bt_json_type_name(patch->type));
		} else {
			patched = bt_json_merge_patch(call->arena, document, patch);
		}
		break;
	case BT_PATCH_STRATEGIC:
		result = bt_strategic_merge(call->arena, message, document, patch, &patched, &err);
		break;
	case BT_PATCH_APPLY: /* the caller uses bt_call_apply */
		break;
	}
	if (result != 0) {
		struct bt_failure *failure = &call->answer->failure;
		const char *text = berth_error_message(&err);
		if (result == BERTH_ERR_SYNTAX) {
			(void)bt_fail(failure, call->arena, 400, "BadRequest",
				"error decoding patch: %s", text);
		} else if (result == BERTH_ERR_TOO_LARGE) {
			(void)bt_fail(
				failure, call->arena, 413, "RequestEntityTooLarge", "%s", text);
		} else if (result == BERTH_ERR_INTERNAL) {
			(void)bt_fail(failure, call->arena, 500, NULL, "%s", text);
		} else if (result == BERTH_ERR_INVALID && type == BT_PATCH_STRATEGIC) {
			(void)bt_fail(failure, call->arena, 400, "BadRequest", "%s", text);
		} else {
			(void)bt_fail(failure, call->arena, 422, "Invalid",
				"the server rejected our request due to an error in our request");
		}
		berth_error_finish(&err);
		return NULL;
	}
	return patched;
}

/** --- server-side apply --- */

struct bt_apply_writer bt_call_apply_writer(struct bt_call *call)
{
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_str manager = call->request->field_manager.length != 0
		? call->request->field_manager
		: call->request->user_agent;
	bool has_status = (resource->subresources & 1u << BT_SUBRESOURCE_STATUS) != 0;
	const char *ignored = has_status ? "status" : NULL;
	if (call->write.subresource == BT_SUBRESOURCE_STATUS) {
		ignored = "spec";
	}
	return (struct bt_apply_writer){
		.message = resource->message,
		.parts = resource->parts,
		.manager = manager.length != 0 ? manager : BT_STR("kube-apiserver"),
		.api_version = bt_resource_api_version(resource, call->arena),
		.kind = bt_str_from(resource->kind),
		.subresource = bt_str_from(bt_subresource_name(call->write.subresource)),
		.time = bt_time_text(call->arena, call->write.now_ns),
		.ignored_member = ignored,
	};
}

struct bt_str bt_call_apply_identity(
	const struct bt_call *call, const struct bt_json_value *applied)
{
	const struct bt_api_resource *resource = call->write.resource;
	const struct bt_json_value *metadata = bt_json_object_at(applied, "metadata");
	return bt_arena_printf(call->arena, "%.*s/%.*s; %s/%s, Kind=%s",
		BT_STR_ARG(bt_json_text_at(metadata, "namespace")),
		BT_STR_ARG(bt_json_text_at(metadata, "name")), resource->group, resource->version,
		resource->kind);
}

bool bt_call_check_applied(struct bt_call *call, const struct bt_schema_message *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_json_value *applied = call->request->body;
	/* The configuration needs apiVersion and kind: spec 14 section 12.5. */
	const char *missing = NULL;
	if (applied == NULL || applied->type != BT_JSON_OBJECT) {
		missing = "an object";
	} else if (bt_json_find_str(applied, "apiVersion").length == 0) {
		missing = "apiVersion";
	} else if (bt_json_find_str(applied, "kind").length == 0) {
		missing = "kind";
	}
	if (missing != NULL) {
		return bt_call_refuse(call, 400, "BadRequest",
			"invalid object type: the applied configuration must have %s", missing);
	}
	if (bt_apply_check(message, call->write.resource->parts, applied, &err) != 0) {
		struct bt_str identity = bt_call_apply_identity(call, applied);
		(void)bt_call_refuse(call, 500, NULL,
			"failed to create typed patch object (%.*s): %s", BT_STR_ARG(identity),
			berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	return true;
}

struct bt_json_value *bt_call_apply(
	struct bt_call *call, const struct bt_json_value *live, const struct bt_json_value *applied)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_apply_conflicts conflicts = {0};
	struct bt_json_value *object = NULL;
	struct bt_apply_writer writer = bt_call_apply_writer(call);
	int result = bt_apply(call->arena, &writer, call->request->force, live, applied, &object,
		&conflicts, &err);
	if (result == BERTH_ERR_STATE) {
		struct bt_failure *failure = &call->answer->failure;
		(void)bt_fail(
			failure, call->arena, 409, "Conflict", "%.*s", BT_STR_ARG(conflicts.text));
		struct bt_failure_cause **last = &failure->causes;
		for (uint32_t i = 0; i < conflicts.count; i++) {
			struct bt_failure_cause *cause =
				BT_ARENA_NEW(call->arena, struct bt_failure_cause);
			cause->reason = "FieldManagerConflict";
			cause->message = conflicts.items[i].message;
			cause->field = conflicts.items[i].field;
			*last = cause;
			last = &cause->next;
		}
	} else if (result != 0) {
		(void)bt_call_refuse(call, 400, "BadRequest", "%s", berth_error_message(&err));
	}
	berth_error_finish(&err);
	return result == 0 ? object : NULL;
}

/**
 * Applies the request's configuration to the object `live` (NULL: a new object). Returns the new
 * object; NULL: the call failed.
 */
static struct bt_json_value *apply(struct bt_call *call, const struct bt_json_value *live)
{
	struct bt_json_value *applied = call->request->body;
	if (!bt_call_check_applied(call, call->write.resource->message)) {
		return NULL;
	}
	const struct bt_json_value *metadata = bt_json_find(applied, "metadata");
	if ((metadata != NULL && metadata->type == BT_JSON_NULL) ||
		(live == NULL && bt_json_text_at(metadata, "name").length == 0)) {
		(void)bt_call_refuse_nameless(call);
		return NULL;
	}
	return bt_call_decode(call, applied, BT_BODY_APPLIED) ? bt_call_apply(call, live, applied)
							      : NULL;
}

bool bt_call_check_patch_options(struct bt_call *call)
{
	bool is_apply = call->request->patch_type == BT_PATCH_APPLY;
	struct bt_field_errors errors = {.arena = call->arena};
	if (!is_apply && call->request->force) {
		bt_field_errors_add(&errors, BT_FIELD_FORBIDDEN, BT_STR("force"), NULL,
			"may not be specified for non-apply patch");
	} else if (is_apply && call->request->field_manager.length == 0) {
		bt_field_errors_add(&errors, BT_FIELD_REQUIRED, BT_STR("fieldManager"), NULL,
			"is required for apply patch");
	}
	if (errors.count != 0) {
		(void)bt_fail_invalid(&call->answer->failure, call->arena, BT_STR("meta.k8s.io"),
			BT_STR("PatchOptions"), BT_STR(""), &errors);
	}
	return errors.count == 0;
}

/**
 * Returns whether the patch changes only the status and metadata, so that the result may share the
 * other members with the stored object. Else they are cloned, although they are not stored, because
 * defaults are set in place.
 */
static bool keeps_others(const struct bt_call *call)
{
	const struct bt_json_value *patch = call->request->body;
	if (call->request->patch_type != BT_PATCH_MERGE || !bt_kinds_keeps_spec(&call->write) ||
		call->write.resource->message == NULL || patch == NULL ||
		patch->type != BT_JSON_OBJECT) {
		return false;
	}
	for (uint32_t i = 0; i < patch->count; i++) {
		if (!bt_str_equal_c(patch->members[i].name, "metadata") &&
			!bt_str_equal_c(patch->members[i].name, "status")) {
			return false;
		}
	}
	return true;
}

void bt_call_patch(struct bt_call *call)
{
	bool is_apply = call->request->patch_type == BT_PATCH_APPLY;
	if (!bt_call_check_patch_options(call)) {
		return;
	}
	struct bt_stored *stored = bt_store_find(
		call->api->options.store, call->write.resource->collection, call->key);
	if (stored == NULL && (!is_apply || call->write.subresource != BT_SUBRESOURCE_NONE)) {
		bt_call_not_found(call);
		return;
	}
	if (stored == NULL) {
		struct bt_json_value *created = apply(call, NULL);
		if (created == NULL || !bt_call_decode(call, created, BT_BODY_PATCHED)) {
			return;
		}
		struct bt_str name = bt_json_text_at(created, "metadata.name");
		if (!bt_str_equal(name, call->write.name)) {
			(void)bt_call_refuse(call, 400, "BadRequest",
				"the name of the object (%.*s) does not match the name on the URL "
				"(%.*s)",
				BT_STR_ARG(name), BT_STR_ARG(call->write.name));
			return;
		}
		struct bt_str uid = bt_json_text_at(created, "metadata.uid");
		if (uid.length != 0) {
			(void)bt_fail_conflict(&call->answer->failure, call->arena,
				call->write.resource, call->write.name,
				bt_arena_printf(call->arena,
					"uid mismatch: the provided object specified uid %.*s, and "
					"no existing object was found",
					BT_STR_ARG(uid)));
			return;
		}
		call->write.verb = BT_VERB_CREATE;
		bt_call_create_object(call, created);
		return;
	}
	const struct bt_json_value *known = call->request->known;
	bool is_current = known != NULL && call->write.resource->strategy->from_stored == NULL &&
		(uint64_t)bt_api_resource_version_of(bt_json_find(known, "metadata")) == stored->rv;
	const struct bt_json_value *old = is_current ? known : bt_call_parse(call, stored);
	struct bt_json_value *object;
	call->old = old;
	if (is_apply) {
		object = apply(call, old);
	} else {
		const struct bt_api_resource *resource = call->write.resource;
		if (keeps_others(call)) {
			object = bt_json_copy(call->arena, old);
			bt_json_set_value(call->arena, object, "metadata",
				bt_json_clone(
					call->arena, bt_json_object_at(old, "metadata"), false));
		} else {
			object = bt_json_clone(call->arena, old, false);
		}
		bt_json_set_c(call->arena, object, "kind", resource->kind);
		bt_json_set_str(call->arena, object, "apiVersion",
			bt_resource_api_version(resource, call->arena));
		object = bt_call_apply_patch(call, resource->message, object);
	}
	if (object != NULL && bt_call_decode(call, object, BT_BODY_PATCHED) &&
		bt_call_check_identity(call, stored, old, object, BT_BODY_PATCHED)) {
		bt_call_update_object(call, stored, old, object);
	}
}
