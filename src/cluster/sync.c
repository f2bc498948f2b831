/* SPDX-License-Identifier: Apache-2.0 */
/** Functions that several controllers use: reads, writes, creating and deleting pods. */
#include <stdarg.h>

#include "cluster/tree.h"

/* --- parts of objects --- */

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
	return bt_json_put(arena, NULL,
		"{apiVersion: %s, kind: %c, name: %s, uid: %s, controller: true, "
		"blockOwnerDeletion: true}",
		bt_resource_api_version(resource, arena), resource->kind,
		bt_json_text_at(owner, "metadata.name"), bt_json_text_at(owner, "metadata.uid"));
}

struct bt_json_value *bt_controller_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *object)
{
	return bt_json_put(arena, NULL,
		"{kind: %c, namespace: %s, name: %s, uid: %s, apiVersion: %s, resourceVersion: %s}",
		resource->kind, bt_json_text_at(object, "metadata.namespace"),
		bt_json_text_at(object, "metadata.name"), bt_json_text_at(object, "metadata.uid"),
		bt_resource_api_version(resource, arena),
		bt_json_text_at(object, "metadata.resourceVersion"));
}

struct bt_json_value *bt_tree_copy_array(
	struct bt_arena *arena, const struct bt_json_value *value, const char *dotted_path)
{
	return bt_json_clone(arena, bt_json_array_at(value, dotted_path), false);
}

bool bt_tree_is_over(const struct bt_json_value *pod)
{
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	return bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed");
}

bool bt_sync_patch_status(struct bt_sync *sync, struct bt_json_value *status)
{
	sync->hub->known = sync->object;
	return bt_hub_is_done(bt_hub_patch(sync->hub, sync->resource, BT_SUBRESOURCE_STATUS,
		sync->key, bt_json_put(sync->arena, NULL, "{status: %v}", status), sync->arena));
}

uint16_t bt_sync_patch(
	struct bt_sync *sync, enum bt_hub_kind kind, struct bt_str key, struct bt_json_value *patch)
{
	return bt_hub_patch(
		sync->hub, sync->hub->kinds[kind], BT_SUBRESOURCE_NONE, key, patch, sync->arena);
}

bool bt_sync_delete(
	struct bt_sync *sync, enum bt_hub_kind kind, struct bt_str key, struct bt_str uid)
{
	bool is_done = bt_hub_is_done(bt_hub_delete(sync->hub, sync->hub->kinds[kind], key, -1,
		BT_PROPAGATION_BACKGROUND, uid, sync->arena));

	sync->failed = sync->failed || !is_done;
	return is_done;
}

/* --- keys, reads, writes --- */

void bt_hub_enqueue_group(struct bt_hub *hub, const struct bt_groups *groups, struct bt_str group)
{
	BT_GROUPS_EACH (groups, group, at) {
		bt_hub_enqueue(hub, bt_groups_key(groups, at));
	}
}

void bt_hub_enqueue_owner(
	struct bt_hub *hub, struct bt_str key, const struct bt_json_value *owner, const char *kind)
{
	struct bt_str namespace_ = bt_key_namespace(key);
	struct bt_str name = bt_json_text_at(owner, "name");
	struct bt_strbuf owner_key = {0};

	if (name.length == 0 || name.length > BT_STORE_KEY_BYTES_MAX ||
		!bt_str_equal_c(bt_json_text_at(owner, "kind"), kind)) {
		return;
	}
	bt_strbuf_append_str(&owner_key, namespace_);
	bt_strbuf_append_char(&owner_key, '/');
	bt_strbuf_append_str(&owner_key, name);
	bt_hub_enqueue(hub, bt_strbuf_str(&owner_key));
	bt_strbuf_finish(&owner_key);
}

struct bt_json_value *bt_hub_read(
	const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key, struct bt_arena *arena)
{
	return bt_api_read(hub->api, hub->kinds[kind], key, arena);
}

struct bt_json_value *bt_hub_read_reference(const struct bt_hub *hub,
	const struct bt_json_value *reference, struct bt_str namespace_, struct bt_arena *arena,
	const struct bt_api_resource **out_resource)
{
	const struct bt_api_resource *resource = bt_resources_find_kind(bt_api_resources(hub->api),
		bt_json_text_at(reference, "apiVersion"), bt_json_text_at(reference, "kind"));

	if (out_resource != NULL) {
		*out_resource = resource;
	}
	return resource != NULL
		? bt_api_read(hub->api, resource,
			  bt_api_key(arena, resource->namespaced ? namespace_ : BT_STR(""),
				  bt_json_text_at(reference, "name")),
			  arena)
		: NULL;
}

struct bt_json_value **bt_sync_read_group(struct bt_sync *sync, enum bt_hub_kind kind,
	const struct bt_groups *groups, struct bt_str group, uint32_t *out_count)
{
	uint32_t count = 1;

	BT_GROUPS_EACH (groups, group, at) {
		count++;
	}
	struct bt_json_value **objects =
		BT_ARENA_NEW_ARRAY(sync->arena, struct bt_json_value *, count);
	count = 0;
	BT_GROUPS_EACH (groups, group, at) {
		struct bt_json_value *object =
			bt_hub_read(sync->hub, kind, bt_groups_key(groups, at), sync->arena);
		if (object != NULL) {
			objects[count++] = object;
		}
	}
	*out_count = count;
	return objects;
}

bool bt_hub_exists(const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key)
{
	return bt_store_find(hub->store, hub->kinds[kind]->collection, key) != NULL;
}

bool bt_sync_remove_finalizer(struct bt_sync *sync, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *finalizer)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *left = bt_tree_copy_array(arena, object, "metadata.finalizers");
	uint32_t before = left->count;

	bt_json_remove_text(left, bt_str_from(finalizer));
	return left->count == before ||
		bt_hub_is_done(bt_hub_patch(sync->hub, resource, BT_SUBRESOURCE_NONE,
			bt_tree_key(arena, object),
			bt_json_put(arena, NULL, "{metadata: {uid: %s, finalizers: %v}}",
				bt_json_text_at(object, "metadata.uid"),
				left->count != 0 ? left : bt_json_new(arena, BT_JSON_NULL)),
			arena));
}

/* --- the object that is synced --- */

void bt_sync_event(
	struct bt_sync *sync, const char *type, const char *reason, const char *format, ...)
{
	const struct bt_hub_member *member = &sync->hub->members[sync->hub->current];
	const char *component = member->ops->component;
	struct bt_strbuf message = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&message, format, arguments);
	va_end(arguments);
	bt_hub_event(sync->hub, component != NULL ? component : member->name, sync->resource,
		sync->object, type, reason, bt_strbuf_str(&message));
	bt_strbuf_finish(&message);
}

void bt_sync_write_status(struct bt_sync *sync, struct bt_json_value *status)
{
	if (!bt_tree_write_status(sync->hub, sync->resource, sync->object, status, sync->arena)) {
		sync->failed = true;
	}
}

struct bt_json_value *bt_sync_owner_reference(const struct bt_sync *sync, struct bt_arena *arena)
{
	return bt_controller_owner_reference(arena, sync->resource, sync->object);
}

bool bt_sync_create_pods(struct bt_sync *sync, const struct bt_json_value *pod, uint32_t count,
	struct bt_str *out_failure)
{
	struct bt_arena scratch = {0};
	bool all = true;

	if (sync->hub->options.pods.take != NULL) {
		struct bt_arena arena = {0};
		struct bt_json_value *copy = bt_json_put(&arena, NULL, "{metadata: %t, spec: %v}",
			bt_json_object_at(pod, "metadata"), bt_json_find(pod, "spec"));
		struct bt_str namespace_ = bt_key_namespace(sync->key);

		for (uint32_t i = 0; i < count && !sync->failed; i++) {
			sync->failed = bt_hub_take_pod(sync->hub, namespace_, copy, i != 0,
					       &scratch) != 201;
		}
		bt_arena_finish(&scratch);
		bt_arena_finish(&arena);
		return !sync->failed;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_api_answer answer;
		struct bt_json_value *copy = bt_json_clone(&scratch, pod, false);

		if (bt_hub_create(sync->hub, BT_HUB_PODS, bt_key_namespace(sync->key), copy,
			    &scratch, &answer) == 201) {
			struct bt_str name = bt_key_name(bt_stored_key(answer.object));
			bt_sync_event(sync, "Normal", "SuccessfulCreate", "Created pod: %.*s",
				BT_STR_ARG(name));
		} else {
			all = false;
			sync->failed = true;
			bt_sync_event(sync, "Warning", "FailedCreate", "Error creating: %.*s",
				BT_STR_ARG(answer.failure.message));
			if (out_failure != NULL) {
				*out_failure = bt_arena_str(sync->arena, answer.failure.message);
			}
		}
		bt_api_answer_finish(&answer);
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	return all;
}

bool bt_sync_delete_pod(struct bt_sync *sync, const struct bt_indexed_pod *pod)
{
	struct bt_arena scratch = {0};
	bool deleted = bt_hub_is_done(bt_hub_delete(sync->hub, sync->hub->kinds[BT_HUB_PODS],
		pod->key, -1, BT_PROPAGATION_BACKGROUND, pod->uid, &scratch));

	if (deleted) {
		bt_sync_event(sync, "Normal", "SuccessfulDelete", "Deleted pod: %.*s",
			BT_STR_ARG(bt_key_name(pod->key)));
	} else {
		sync->failed = true;
	}
	bt_arena_finish(&scratch);
	return deleted;
}
