/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches metadata.managedFields of new objects. The owners depend on the manager and on the
 * object's shape: names of members, types, and values that may be zero or keys of list elements.
 * Objects from one template have the same shape, so they share the owners of the first.
 */
#include "api/time.h"
#include "base/alloc.h"
#include "server/write.h"

#define SLOTS 256
/** Larger shapes are not cached. */
#define SHAPE_BYTES_MAX (16 * 1024)

struct slot {
	struct bt_owners *owners; /* NULL: free */
	char *shape;
	uint32_t shape_length;
};

struct bt_owner_cache {
	struct bt_strbuf shape; /* key of the current lookup */
	struct slot slots[SLOTS];
};

struct bt_owner_cache *bt_owner_cache_create(void)
{
	return BT_NEW(struct bt_owner_cache);
}

void bt_owner_cache_destroy(struct bt_owner_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		bt_owners_unref(cache->slots[i].owners);
		bt_free(cache->slots[i].shape);
	}
	bt_strbuf_finish(&cache->shape);
	bt_free(cache);
}

static struct slot *slot_of(struct bt_owner_cache *cache, struct bt_str shape)
{
	return &cache->slots[bt_str_hash(shape) % SLOTS];
}

static void append_text(struct bt_strbuf *out, struct bt_str text)
{
	bt_strbuf_append(out, &text.length, sizeof(text.length));
	bt_strbuf_append_str(out, text);
}

/**
 * is_element: the value is an array element. by_value: a text's content matters, since it may be a
 * list key or an element of a set.
 */
static void append_shape(
	struct bt_strbuf *out, const struct bt_json_value *value, bool is_element, bool by_value)
{
	bt_strbuf_append_char(out, (char)('0' + (int)value->type));
	switch (value->type) {
	case BT_JSON_NULL:
		break;
	case BT_JSON_BOOL:
		bt_strbuf_append_char(out, value->boolean ? '1' : '0');
		break;
	case BT_JSON_STRING:
		/* short texts such as "" and "0" may be defaults, so their content matters */
		if (!by_value && value->text.length > 1) {
			bt_strbuf_append_char(out, '+');
			break;
		}
		bt_strbuf_append_char(out, '=');
		append_text(out, value->text);
		break;
	case BT_JSON_NUMBER:
		append_text(out, value->text);
		break;
	case BT_JSON_ARRAY:
		bt_strbuf_append(out, &value->count, sizeof(value->count));
		for (uint32_t i = 0; i < value->count; i++) {
			append_shape(out, value->elements[i], true, true);
		}
		break;
	case BT_JSON_OBJECT:
		bt_strbuf_append(out, &value->count, sizeof(value->count));
		for (uint32_t i = 0; i < value->count; i++) {
			append_text(out, value->members[i].name);
			append_shape(out, value->members[i].value, false, is_element);
		}
		break;
	case BT_JSON__COUNT:
		break;
	}
}

void bt_call_note_owners(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_owner_cache *cache = call->api->owner_cache;
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_apply_writer writer = bt_call_apply_writer(call);
	/*
	 * Not cached: custom resources, whose schema may change; objects whose managedFields
	 * policies or a dry run must see.
	 */
	bool is_cached = (resource->flags & BT_RESOURCE_CUSTOM) == 0 && !call->write.dry_run &&
		bt_json_find_path(object, "metadata.managedFields") == NULL &&
		!bt_policies_exist(call->api);
	if (is_cached) {
		bt_strbuf_reset(&cache->shape);
		bt_strbuf_append(&cache->shape, &resource, sizeof(resource));
		append_text(&cache->shape, writer.manager);
		append_shape(&cache->shape, object, false, false);
		struct bt_str shape = bt_strbuf_str(&cache->shape);
		const struct slot *slot = slot_of(cache, shape);
		if (bt_str_equal(shape, (struct bt_str){slot->shape, slot->shape_length})) {
			call->owners = bt_owners_share(slot->owners);
			return;
		}
		if (shape.length <= SHAPE_BYTES_MAX) {
			call->shape = bt_arena_str(call->arena, shape);
		}
	}
	bt_apply_record_update(call->arena, &writer, NULL, object);
}

void bt_call_remember_owners(struct bt_call *call, const struct bt_stored *stored)
{
	/* the cache expects one time, that of the creation */
	if (call->shape.length == 0 || stored->owners == NULL ||
		bt_owners_times_bytes(stored->owners) !=
			bt_time_text(call->arena, call->write.now_ns).length) {
		return;
	}
	struct slot *slot = slot_of(call->api->owner_cache, call->shape);
	bt_owners_unref(slot->owners);
	bt_free(slot->shape);
	*slot = (struct slot){bt_owners_share(stored->owners),
		bt_strndup(call->shape.data, call->shape.length), call->shape.length};
}
