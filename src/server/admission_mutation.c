/* SPDX-License-Identifier: Apache-2.0 */
/** Applies the result of a MutatingAdmissionPolicy's expression to the object of the request. */
#include "codec/json_patch.h"
#include "schema/apply.h"
#include "server/kinds/common.h"
#include "server/policy.h"

/**
 * Removes fields that were applied without a value, as in `?field: optional.none()`: they are null
 * here. In lists, removes all null fields, because list elements cannot be matched with the applied
 * elements.
 */
static void remove_nulls(struct bt_json_value *object, const struct bt_json_value *applied)
{
	if (object->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < object->count; i++) {
			remove_nulls(object->elements[i], NULL);
		}
		return;
	}
	for (uint32_t i = object->type == BT_JSON_OBJECT ? object->count : 0; i > 0; i--) {
		const struct bt_json_member *member = &object->members[i - 1];
		const struct bt_json_value *given =
			applied != NULL ? bt_json_get(applied, member->name) : member->value;
		if (given != NULL && member->value->type == BT_JSON_NULL) {
			(void)bt_json_remove(object, member->name);
		} else if (given != NULL) {
			remove_nulls(member->value, applied != NULL ? given : NULL);
		}
	}
}

int bt_mutation_apply(struct bt_call *call, enum bt_cel_mutation mutation,
	const struct bt_cel_value *made, struct bt_json_value *object, struct berth_error *err)
{
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_json_value *document = bt_expression_json(made, call->arena, err);
	struct bt_json_value *changed = bt_json_clone(call->arena, object, false);
	int result;
	if (document == NULL) {
		return BERTH_ERR_INVALID;
	}
	bt_api_set_kind(resource, changed, call->arena);
	if (mutation == BT_CEL_MUTATION_APPLY) {
		result = bt_apply_mutation(call->arena, resource->message, resource->parts, changed,
			document, &changed, err);
		if (result == 0) {
			remove_nulls(changed, document);
		}
	} else {
		result = bt_json_patch(call->arena, changed, document, &changed, err);
	}
	if (result == 0) {
		/* Decodes the object like the result of a patch: drops unknown fields, sets
		 * defaults. */
		struct bt_api_request request = *call->request;
		struct bt_api_answer answer = {.code = 0};
		struct bt_call inner = *call;
		request.field_validation = BT_FIELD_VALIDATION_IGNORE;
		request.patch_type = BT_PATCH_JSON;
		inner.request = &request;
		inner.answer = &answer;
		if (!bt_call_decode(&inner, changed, BT_BODY_PATCHED)) {
			result = bt_error_set(
				err, BERTH_ERR_INVALID, "%.*s", BT_STR_ARG(answer.failure.message));
		}
		bt_api_answer_finish(&answer);
	}
	if (result != 0) {
		return bt_error_wrap(err, result, "error applying patch");
	}
	/*
	 * Restore the metadata that no request can change, and the parts of the object that the
	 * request's subresource cannot write.
	 */
	static const char *const fixed[] = {"name", "generateName", "namespace", "uid",
		"resourceVersion", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generation", "managedFields"};
	const struct bt_json_value *metadata = bt_json_object_at(object, "metadata");
	enum bt_subresource subresource = call->write.subresource;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fixed); i++) {
		bt_kinds_reset_member(
			call->arena, bt_call_metadata(call, changed), metadata, fixed[i]);
	}
	if (subresource == BT_SUBRESOURCE_NONE &&
		(call->write.resource->subresources & 1u << BT_SUBRESOURCE_STATUS) != 0) {
		bt_kinds_reset_member(call->arena, changed, object, "status");
	} else if (subresource == BT_SUBRESOURCE_STATUS || subresource == BT_SUBRESOURCE_APPROVAL) {
		struct bt_json_value *whole = bt_json_clone(call->arena, object, false);
		bt_kinds_reset_member(call->arena, whole, changed, "metadata");
		bt_kinds_reset_member(call->arena, whole, changed, "status");
		*changed = *whole;
	}
	*object = *changed;
	return 0;
}
