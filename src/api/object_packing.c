/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of objects that are kept but rarely read, in a fifth of the memory. */
#include "api/object.h"
#include "api/object_private.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "codec/message_pack.h"

/**
 * Extra room in the arena for unpacking: texts are unpacked in another order than they were
 * decoded, so the alignment of the structures between the texts may need more padding.
 */
#define PADDING_BYTES 64

/** Stack memory for a pod's conditions during packing. */
#define SCRATCH_BYTES 2048

/**
 * Packed form of an object. A pod with a common part is packed in two parts: fields that are
 * probably equal in other pods (shared), and fields unique to the pod. Other objects are packed as
 * a whole.
 */
struct bt_packed_object {
	struct bt_packed_common *shared; /* shared packed part; NULL: packed as a whole */
	uint32_t name_length;
	uint32_t namespace_length; /* 0 if `shared` is set: the common part has the namespace */
	uint32_t packed_bytes;
	uint32_t unpacked_bytes; /* arena size for unpacking */
	char bytes[];            /* name, namespace, packed bytes */
};

static struct bt_str packed_name(const struct bt_packed_object *packed)
{
	return (struct bt_str){packed->bytes, packed->name_length};
}

static struct bt_str packed_namespace(const struct bt_packed_object *packed)
{
	return (struct bt_str){packed->bytes + packed->name_length, packed->namespace_length};
}

struct bt_str bt_object_name(const struct bt_object *object)
{
	return object->meta != NULL ? object->meta->name : packed_name(object->packed);
}

struct bt_str bt_object_namespace(const struct bt_object *object)
{
	if (object->meta != NULL) {
		return object->meta->namespace_;
	}
	return object->common != NULL ? bt_pod_common_namespace(object->common)
				      : packed_namespace(object->packed);
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

/** Moves the times from one condition to the other. */
static void move_times(struct bt_pod_condition *to, struct bt_pod_condition *from)
{
	static const struct bt_time unset;

	to->last_probe_time = from->last_probe_time;
	to->last_transition_time = from->last_transition_time;
	from->last_probe_time = unset;
	from->last_transition_time = unset;
}

/** Moves the fields unique to a pod, except the name, from pod to out_own, which must be empty. */
static void move_unique_fields(struct bt_pod *pod, struct bt_pod *out_own, struct bt_arena *scratch)
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

/** Unpacks the value, without the fields of the common part. */
static void *unpack_into(
	const struct bt_packed_object *packed, enum bt_kind kind, struct bt_arena *arena)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	struct bt_str bytes = {packed->bytes + packed->name_length + packed->namespace_length,
		packed->packed_bytes};
	void *value = bt_arena_alloc(arena, info->size);
	struct bt_object_meta *meta = value;

	if (packed->shared == NULL) {
		bt_message_unpack(info->message, bytes, arena, value);
		if (packed->namespace_length != 0) {
			meta->namespace_ = bt_arena_str(arena, packed_namespace(packed));
		}
	} else {
		struct bt_str shared = {packed->shared->bytes, packed->shared->length};
		struct bt_pod *pod = value;
		struct bt_pod own;

		bt_message_unpack(&bt_pod_message, shared, arena, pod);
		bt_message_unpack(&bt_pod_message, bytes, arena, &own);
		/* put back what move_unique_fields moved */
		pod->metadata.uid = own.metadata.uid;
		pod->metadata.resource_version = own.metadata.resource_version;
		pod->metadata.creation_timestamp = own.metadata.creation_timestamp;
		pod->spec.volumes.items = own.spec.volumes.items;
		pod->spec.volumes.count = own.spec.volumes.count;
		pod->spec.volumes.present = own.spec.volumes.present;
		pod->spec.node_name = own.spec.node_name;
		pod->status.start_time = own.status.start_time;
		for (uint32_t i = 0; i < own.status.conditions.count; i++) {
			move_times(
				&pod->status.conditions.items[i], &own.status.conditions.items[i]);
		}
	}
	if (packed->name_length != 0) {
		meta->name = bt_arena_str(arena, packed_name(packed));
	}
	return value;
}

void bt_packed_object_destroy(struct bt_packed_object *packed)
{
	if (packed != NULL) {
		bt_packed_common_release(packed->shared);
		bt_free(packed);
	}
}

size_t bt_packed_object_bytes(const struct bt_packed_object *packed)
{
	return packed == NULL ? 0
			      : sizeof(*packed) + packed->name_length + packed->namespace_length +
			packed->packed_bytes;
}

static struct bt_packed_object *pack(const struct bt_object *object)
{
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	struct bt_strbuf bytes = {0};
	struct bt_packed_object *packed;
	struct bt_arena scratch;
	struct bt_pod own = {0};
	_Alignas(max_align_t) char memory[SCRATCH_BYTES];

	bt_arena_init_with(&scratch, memory, sizeof(memory));
	struct bt_object_meta *meta = bt_arena_alloc(&scratch, info->size);
	size_t unpacked_bytes = bt_arena_chunk_bytes(object->memory) + PADDING_BYTES;

	memcpy(meta, object->value, info->size);
	struct bt_str name = meta->name;
	struct bt_str namespace_ = object->common == NULL ? meta->namespace_ : BT_STR("");

	if (name.length != 0) {
		meta->name = own.metadata.name;
	}
	if (namespace_.length != 0) {
		meta->namespace_ = own.metadata.namespace_;
	}
	if (object->common != NULL) {
		struct bt_pod *pod = (void *)meta;

		bt_pod_common_clear(pod);
		move_unique_fields(pod, &own, &scratch);
		unpacked_bytes += own.status.conditions.count * sizeof(struct bt_pod_condition);
		bt_message_pack(&bt_pod_message, &own, &bytes);
	} else {
		bt_message_pack(info->message, meta, &bytes);
	}
	packed = bt_malloc(sizeof(*packed) + name.length + namespace_.length + bytes.length);
	*packed = (struct bt_packed_object){
		.name_length = name.length,
		.namespace_length = namespace_.length,
		.packed_bytes = (uint32_t)bytes.length,
		.unpacked_bytes = (uint32_t)unpacked_bytes,
	};
	if (name.length != 0) {
		memcpy(packed->bytes, name.data, name.length);
	}
	if (namespace_.length != 0) {
		memcpy(packed->bytes + name.length, namespace_.data, namespace_.length);
	}
	memcpy(packed->bytes + name.length + namespace_.length, bytes.data, bytes.length);
	if (object->common != NULL) {
		bt_strbuf_reset(&bytes);
		bt_message_pack(&bt_pod_message, (void *)meta, &bytes);
		packed->shared = bt_pod_common_share_packed(object->common, bt_strbuf_str(&bytes));
	}
	bt_strbuf_finish(&bytes);
	bt_arena_finish(&scratch);
	return packed;
}

void bt_object_pack_if_allowed(struct bt_object *object)
{
	if (object->packable_count != object->reference_count || object->value == NULL ||
		!object->can_pack || object->json.data != NULL) {
		return;
	}
	object->packed = pack(object);
	bt_arena_free_chunks(object->memory);
	object->memory = NULL;
	object->value = NULL;
}

void bt_object_allow_pack(struct bt_object *object)
{
	BT_ASSERT(object->packable_count < object->reference_count &&
		object->packable_count < UINT16_MAX);
	object->packable_count++;
	bt_object_pack_if_allowed(object);
}

struct bt_object *bt_object_unpack(struct bt_object *object)
{
	BT_ASSERT(object->packable_count > 0);
	object->packable_count--;
	if (object->value == NULL) {
		struct bt_arena arena;

		bt_arena_init(&arena, object->packed->unpacked_bytes);
		void *value = unpack_into(object->packed, object->kind, &arena);
		if (object->common != NULL) {
			bt_pod_common_apply(object->common, value);
		}
		object->value = value;
		object->memory = arena.chunks;
		bt_packed_object_destroy(object->packed);
		object->packed = NULL;
	}
	return object;
}

void bt_object_release_packable(struct bt_object *object)
{
	BT_ASSERT(object->packable_count > 0);
	object->packable_count--;
	bt_object_release(object);
}
