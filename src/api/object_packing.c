/* SPDX-License-Identifier: Apache-2.0 */
/* Packs objects that are kept but rarely read; a packed object takes a fifth of the memory. */
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

/** First size of the buffers for packed bytes; most objects need no more. */
#define BUFFER_BYTES 1024

/** Stack memory for a copy of an object's structure; lists and texts are not copied. */
#define SCRATCH_BYTES 2048

/** A packed object, in one block. */
struct bt_packed_object {
	struct bt_packed_bases *bases; /* owned reference, for packing the object again */
	struct bt_packed_base *base;   /* owned reference; NULL: the object is packed as a whole */
	uint32_t name_length;
	uint32_t namespace_length; /* 0 for a pod with a common part, which has the namespace */
	uint32_t packed_bytes;
	uint32_t unpacked_bytes; /* arena size for unpacking */
	char bytes[];            /* name, namespace, packed form (whole, or difference to base) */
};

struct bt_str bt_object_name(const struct bt_object *object)
{
	const struct bt_packed_object *packed = object->packed;

	return object->meta != NULL ? object->meta->name
				    : (struct bt_str){packed->bytes, packed->name_length};
}

struct bt_str bt_object_namespace(const struct bt_object *object)
{
	const struct bt_packed_object *packed = object->packed;

	if (object->meta != NULL) {
		return object->meta->namespace_;
	}
	return object->common != NULL
		? bt_pod_common_namespace(object->common)
		: (struct bt_str){packed->bytes + packed->name_length, packed->namespace_length};
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

void bt_packed_object_destroy(struct bt_packed_object *packed)
{
	bt_packed_base_release(packed->base);
	bt_packed_bases_release(packed->bases);
	bt_free(packed);
}

size_t bt_packed_object_bytes(const struct bt_packed_object *packed)
{
	return sizeof(*packed) + packed->name_length + packed->namespace_length +
		packed->packed_bytes;
}

void bt_object_pack_if_allowed(struct bt_object *object)
{
	if (object->packable_count != object->reference_count || object->value == NULL ||
		object->bases == NULL || object->json.data != NULL) {
		return;
	}
	static const struct bt_object_meta empty;
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	struct bt_strbuf whole = {0};
	struct bt_strbuf delta = {0};
	struct bt_arena scratch;
	_Alignas(max_align_t) char memory[SCRATCH_BYTES];

	bt_arena_init_with(&scratch, memory, sizeof(memory));
	struct bt_object_meta *meta = bt_arena_alloc(&scratch, info->size);
	memcpy(meta, object->value, info->size);
	struct bt_str name = meta->name;
	struct bt_str namespace_ = object->common == NULL ? meta->namespace_ : BT_STR("");

	if (name.length != 0) {
		meta->name = empty.name;
	}
	if (namespace_.length != 0) {
		meta->namespace_ = empty.namespace_;
	}
	if (object->common != NULL) {
		bt_pod_common_apply(NULL, (struct bt_pod *)(void *)meta);
	}
	bt_strbuf_reserve(&whole, BUFFER_BYTES);
	bt_strbuf_reserve(&delta, BUFFER_BYTES);
	bt_message_pack(info->message, meta, &whole);
	struct bt_packed_base *base =
		bt_packed_bases_encode(object->bases, bt_strbuf_str(&whole), &delta);
	struct bt_packed_object *packed =
		bt_malloc(sizeof(*packed) + name.length + namespace_.length + delta.length);
	*packed = (struct bt_packed_object){
		.bases = object->bases,
		.base = base,
		.name_length = name.length,
		.namespace_length = namespace_.length,
		.packed_bytes = (uint32_t)delta.length,
		.unpacked_bytes = (uint32_t)(bt_arena_chunk_bytes(object->memory) + PADDING_BYTES),
	};
	if (name.length != 0) {
		memcpy(packed->bytes, name.data, name.length);
	}
	if (namespace_.length != 0) {
		memcpy(packed->bytes + name.length, namespace_.data, namespace_.length);
	}
	memcpy(packed->bytes + name.length + namespace_.length, delta.data, delta.length);
	bt_strbuf_finish(&delta);
	bt_strbuf_finish(&whole);
	bt_arena_finish(&scratch);
	object->packed = packed; /* it took over the reference to the bases */
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
	if (object->value != NULL) {
		return object;
	}
	struct bt_packed_object *packed = object->packed;
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	struct bt_str name = {packed->bytes, packed->name_length};
	struct bt_str namespace_ = {name.data + name.length, packed->namespace_length};
	struct bt_str bytes = {namespace_.data + namespace_.length, packed->packed_bytes};
	struct bt_strbuf whole = {0};
	struct bt_arena arena;

	bt_arena_init(&arena, packed->unpacked_bytes);
	struct bt_object_meta *meta = bt_arena_alloc(&arena, info->size);
	if (packed->base != NULL) {
		bt_strbuf_reserve(&whole, BUFFER_BYTES);
		bt_delta_decode(
			(struct bt_str){packed->base->bytes, packed->base->length}, bytes, &whole);
		bytes = bt_strbuf_str(&whole);
	}
	bt_message_unpack(info->message, bytes, &arena, meta);
	bt_strbuf_finish(&whole);
	if (namespace_.length != 0) {
		meta->namespace_ = bt_arena_str(&arena, namespace_);
	}
	if (name.length != 0) {
		meta->name = bt_arena_str(&arena, name);
	}
	if (object->common != NULL) {
		bt_pod_common_apply(object->common, (struct bt_pod *)(void *)meta);
	}
	object->value = meta;
	object->memory = arena.chunks;
	object->bases = packed->bases;
	packed->bases = NULL;
	bt_packed_object_destroy(packed);
	return object;
}

void bt_object_release_packable(struct bt_object *object)
{
	BT_ASSERT(object->packable_count > 0);
	object->packable_count--;
	bt_object_release(object);
}
