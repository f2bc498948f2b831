/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that nobody looks at, in a fifth of the memory. */
#include "api/object.h"
#include "api/object_private.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "codec/message_pack.h"

/** For the conditions of a pod while it is packed, and for a trial of unpacking it. */
#define SCRATCH_BYTES 2048

struct bt_packed_pod {
	struct bt_packed_common *rest; /* packed: what is likely the same in other pods */
	uint32_t name_length;
	uint32_t packed_bytes;
	uint32_t unpacked_bytes; /* of an arena */
	char bytes[];            /* the name, then packed: what no two pods have */
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

uint64_t bt_object_hash(enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_u64(bt_hash_name(namespace_, name), (uint64_t)kind);
}

bool bt_object_is(const struct bt_object *object, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name)
{
	return object->kind == kind && bt_str_equal(bt_object_name(object), name) &&
		bt_str_equal(bt_object_namespace(object), namespace_);
}

/** Of one condition to another: when it was set. */
static void move_times(struct bt_pod_condition *to, struct bt_pod_condition *from)
{
	static const struct bt_time unset;

	to->last_probe_time = from->last_probe_time;
	to->last_transition_time = from->last_transition_time;
	from->last_probe_time = unset;
	from->last_transition_time = unset;
}

/** What no two pods have moves from pod to out_own, which is empty, but the name. */
static void split(struct bt_pod *pod, struct bt_pod *out_own, struct bt_arena *scratch)
{
	static const struct bt_pod empty;
	struct bt_pod_status *status = &pod->status;
	uint32_t count = status->conditions.count;

	out_own->metadata.uid = pod->metadata.uid;
	out_own->metadata.resource_version = pod->metadata.resource_version;
	out_own->metadata.creation_timestamp = pod->metadata.creation_timestamp;
	out_own->spec.volumes.items = pod->spec.volumes.items;
	out_own->spec.volumes.count = pod->spec.volumes.count;
	out_own->spec.volumes.present = pod->spec.volumes.present;
	out_own->spec.node_name = pod->spec.node_name;
	out_own->status.start_time = status->start_time;
	pod->metadata.uid = empty.metadata.uid;
	pod->metadata.resource_version = empty.metadata.resource_version;
	pod->metadata.creation_timestamp = empty.metadata.creation_timestamp;
	pod->spec = empty.spec;
	status->start_time = NULL;
	if (count != 0) {
		const struct bt_pod_condition *conditions = status->conditions.items;
		out_own->status.conditions.items =
			BT_ARENA_NEW_ARRAY(scratch, struct bt_pod_condition, count);
		out_own->status.conditions.count = count;
		status->conditions.items =
			bt_arena_alloc(scratch, count * sizeof(struct bt_pod_condition));
		memcpy(status->conditions.items, conditions, count * sizeof(*conditions));
	}
	for (uint32_t i = 0; i < count; i++) {
		move_times(&out_own->status.conditions.items[i], &status->conditions.items[i]);
	}
}

/** The pod without what it has in common with others. */
static struct bt_pod *unpack_into(const struct bt_packed_pod *packed, struct bt_arena *arena)
{
	struct bt_str rest = {packed->rest->bytes, packed->rest->length};
	struct bt_str bytes = {packed->bytes + packed->name_length, packed->packed_bytes};
	struct bt_pod *pod = bt_arena_alloc(arena, sizeof(*pod));
	struct bt_pod own;

	bt_message_unpack(&bt_pod_message, rest, arena, pod);
	bt_message_unpack(&bt_pod_message, bytes, arena, &own);
	/* The reverse. */
	pod->metadata.uid = own.metadata.uid;
	pod->metadata.resource_version = own.metadata.resource_version;
	pod->metadata.creation_timestamp = own.metadata.creation_timestamp;
	pod->spec.volumes.items = own.spec.volumes.items;
	pod->spec.volumes.count = own.spec.volumes.count;
	pod->spec.volumes.present = own.spec.volumes.present;
	pod->spec.node_name = own.spec.node_name;
	pod->status.start_time = own.status.start_time;
	for (uint32_t i = 0; i < own.status.conditions.count; i++) {
		move_times(&pod->status.conditions.items[i], &own.status.conditions.items[i]);
	}
	pod->metadata.name = bt_arena_str(arena, packed_name(packed));
	return pod;
}

/** The memory that unpacking takes, exactly: thousands of pods may be awake at once. */
static uint32_t bytes_to_unpack(const struct bt_packed_pod *packed)
{
	_Alignas(max_align_t) char memory[SCRATCH_BYTES];
	uint32_t bytes = SCRATCH_BYTES;
	struct bt_arena trial;

	bt_arena_init_with(&trial, memory, sizeof(memory));
	(void)unpack_into(packed, &trial); /* only its size matters */
	if (trial.chunks == NULL) {
		bytes = (uint32_t)(trial.next - memory);
	}
	bt_arena_finish(&trial);
	return bytes;
}

void bt_packed_pod_destroy(struct bt_packed_pod *packed)
{
	if (packed != NULL) {
		bt_packed_common_release(packed->rest);
		bt_free(packed);
	}
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
		struct bt_pod rest;
		struct bt_pod own = {0};
		struct bt_str name;
		struct bt_strbuf bytes = {0};
		struct bt_packed_pod *packed;
		struct bt_arena scratch;

		_Alignas(max_align_t) char memory[SCRATCH_BYTES];
		rest = *(const struct bt_pod *)object->value;
		name = rest.metadata.name;
		bt_arena_init_with(&scratch, memory, sizeof(memory));
		bt_pod_common_leave_out(&rest);
		rest.metadata.name = own.metadata.name;
		split(&rest, &own, &scratch);
		bt_message_pack(&bt_pod_message, &own, &bytes);
		packed = bt_malloc(sizeof(*packed) + name.length + bytes.length);
		packed->name_length = name.length;
		packed->packed_bytes = (uint32_t)bytes.length;
		memcpy(packed->bytes, name.data, name.length);
		memcpy(packed->bytes + name.length, bytes.data, bytes.length);
		bt_strbuf_reset(&bytes);
		bt_message_pack(&bt_pod_message, &rest, &bytes);
		packed->rest = bt_pod_common_share_packed(object->common, bt_strbuf_str(&bytes));
		packed->unpacked_bytes = bytes_to_unpack(packed);
		bt_strbuf_finish(&bytes);
		bt_arena_finish(&scratch);
		object->packed = packed;
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
		struct bt_pod *pod;

		bt_arena_init(&object->arena, object->packed->unpacked_bytes);
		pod = unpack_into(object->packed, &object->arena);
		bt_pod_common_put_in(object->common, pod);
		object->value = pod;
		object->meta = &pod->metadata;
	}
	return object;
}

void bt_object_release_resting(struct bt_object *object)
{
	BT_ASSERT(object->resting_count > 0);
	object->resting_count--;
	bt_object_release(object);
}
