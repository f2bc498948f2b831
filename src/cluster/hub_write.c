/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/hub.h"

#include "codec/json_edit.h"

static uint16_t perform(struct bt_hub *hub, struct bt_api_request *request, struct bt_arena *arena,
	struct bt_api_answer *out_answer)
{
	struct bt_api_answer answer = {.code = 0};
	const struct bt_hub_member *member = &hub->members[hub->current];
	uint16_t code;

	hub->work++;
	if (hub->current < hub->member_count) {
		request->user = &member->user;
		request->field_manager = bt_str_from(member->ops->name);
	}
	bt_api_perform(hub->api, request, arena, &answer);
	code = answer.code;
	if (out_answer != NULL) {
		*out_answer = answer;
	} else {
		bt_api_answer_finish(&answer);
	}
	return code;
}

uint16_t bt_hub_create(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_json_value *object, struct bt_arena *arena,
	struct bt_api_answer *out_answer)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_CREATE;
	request.resource = resource;
	request.namespace_ = namespace_;
	request.body = object;
	return perform(hub, &request, arena, out_answer);
}

uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena, struct bt_api_answer *out_answer)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_MERGE;
	request.resource = resource;
	request.subresource = subresource;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.body = patch;
	return perform(hub, &request, arena, out_answer);
}

uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena, struct bt_api_answer *out_answer)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_UPDATE;
	request.resource = resource;
	request.subresource = subresource;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.body = object;
	return perform(hub, &request, arena, out_answer);
}

uint16_t bt_hub_delete(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, int64_t grace_seconds, struct bt_str uid, struct bt_arena *arena)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_DELETE;
	request.resource = resource;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.grace_period_seconds = grace_seconds;
	request.propagation = BT_PROPAGATION_BACKGROUND;
	request.precondition_uid = uid;
	return perform(hub, &request, arena, NULL);
}

const struct bt_json_value *bt_controller_owner_of(const struct bt_json_value *object)
{
	const struct bt_json_value *owners = bt_json_array_at(object, "metadata.ownerReferences");

	for (uint32_t i = 0; i < owners->count; i++) {
		if (bt_json_bool_at(owners->elements[i], "controller", false)) {
			return owners->elements[i];
		}
	}
	return NULL;
}

struct bt_json_value *bt_controller_owner_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *owner)
{
	struct bt_json_value *reference = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_str(arena, reference, "apiVersion", bt_resource_api_version(resource, arena));
	bt_json_set_c(arena, reference, "kind", resource->kind);
	bt_json_set_str(arena, reference, "name", bt_json_text_at(owner, "metadata.name"));
	bt_json_set_str(arena, reference, "uid", bt_json_text_at(owner, "metadata.uid"));
	bt_json_set_bool(arena, reference, "controller", true);
	bt_json_set_bool(arena, reference, "blockOwnerDeletion", true);
	return reference;
}
