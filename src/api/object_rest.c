/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that nobody looks at, in a fifth of the memory. */
#include "api/object.h"
#include "api/object_private.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "codec/message_pack.h"

/** What unpacking usually needs beside the structure: more comes in chunks. */
#define UNPACKED_BYTES 512

struct bt_packed_pod {
	uint32_t name_length;
	uint32_t packed_bytes;
	char bytes[]; /* the name, then what bt_message_pack wrote of all but the name */
};

static struct bt_str packed_name(const struct bt_packed_pod *packed)
{
	return (struct bt_str){packed->bytes, packed->name_length};
}

struct bt_str bt_object_name(const struct bt_object *object)
{
	return object->meta != NULL ? object->meta->name : packed_name(object->packed);
}

struct bt_str bt_object_namespace(const struct bt_object *object)
{
	return object->meta != NULL ? object->meta->namespace_
				    : bt_pod_common_namespace(object->common);
}

static struct bt_packed_pod *pack(const struct bt_object *object)
{
	struct bt_pod own = *(const struct bt_pod *)object->value;
	struct bt_str name = own.metadata.name;
	struct bt_strbuf bytes = {0};
	struct bt_packed_pod *packed;

	bt_pod_common_leave_out(&own);
	own.metadata.name = (struct bt_str){NULL, 0};
	bt_message_pack(&bt_pod_message, &own, &bytes);
	packed = bt_malloc(sizeof(*packed) + name.length + bytes.length);
	packed->name_length = name.length;
	packed->packed_bytes = (uint32_t)bytes.length;
	memcpy(packed->bytes, name.data, name.length);
	memcpy(packed->bytes + name.length, bytes.data, bytes.length);
	bt_strbuf_finish(&bytes);
	return packed;
}

static void unpack(struct bt_object *object)
{
	const struct bt_packed_pod *packed = object->packed;
	struct bt_str bytes = {packed->bytes + packed->name_length, packed->packed_bytes};
	struct bt_pod *pod;

	bt_arena_init(&object->arena, sizeof(struct bt_pod) + UNPACKED_BYTES);
	pod = bt_arena_alloc(&object->arena, sizeof(*pod));
	object->arena.chunk_bytes = UNPACKED_BYTES;
	bt_message_unpack(&bt_pod_message, bytes, &object->arena, pod);
	pod->metadata.name = bt_arena_str(&object->arena, packed_name(packed));
	bt_pod_common_put_in(object->common, pod);
	object->value = pod;
	object->meta = &pod->metadata;
}

/**
 * What a pod has in common with others is most of it: one that shares nothing stays as it is. What
 * was packed before is still right: objects do not change.
 */
void bt_object_settle(struct bt_object *object)
{
	if (object->resting_count != object->reference_count || object->value == NULL ||
		object->common == NULL || object->json.data != NULL) {
		return;
	}
	if (object->packed == NULL) {
		object->packed = pack(object);
	}
	bt_arena_finish(&object->arena);
	object->value = NULL;
	object->meta = NULL;
}

void bt_object_rest(struct bt_object *object)
{
	BT_ASSERT(object->resting_count < object->reference_count);
	object->resting_count++;
	bt_object_settle(object);
}

struct bt_object *bt_object_wake(struct bt_object *object)
{
	BT_ASSERT(object->resting_count > 0);
	object->resting_count--;
	if (object->value == NULL) {
		unpack(object);
	}
	return object;
}

void bt_object_release_resting(struct bt_object *object)
{
	BT_ASSERT(object->resting_count > 0);
	object->resting_count--;
	bt_object_release(object);
}
