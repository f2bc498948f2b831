/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod_common.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "codec/message_pack.h"

#define HASH_SEED UINT64_C(0x636f6d6d)
#define FIRST_CHUNK_BYTES 1024
/**
 * A difference may have this many bytes, plus a quarter of the object's packed bytes; if it has
 * more, the object becomes a new base. Even pods of one workload differ in some 100 bytes.
 */
#define DELTA_BYTES_MIN 64

struct bt_pod_common {
	uint32_t reference_count;
	struct bt_packed_bases *bases; /* owned reference; NULL: no pod was packed */
	struct bt_pod pod;             /* fields that are not common are empty */
	struct bt_arena arena;
};

/** Copies the common fields of `from`, and leaves the other fields of pod as they are. */
static void set_common(struct bt_pod *pod, const struct bt_pod *from)
{
	struct bt_pod_spec own = pod->spec;

	pod->metadata.namespace_ = from->metadata.namespace_;
	pod->metadata.generate_name = from->metadata.generate_name;
	pod->metadata.owner_references = from->metadata.owner_references;
	pod->spec = from->spec;
	pod->spec.node_name = own.node_name;
	pod->spec.volumes = own.volumes;
}

static uint64_t bytes_of(const struct bt_pod_common *common)
{
	return sizeof(*common) + common->arena.total_bytes;
}

/** Drops the cache's reference; pods that use the common part keep it alive. */
static void release_cached(struct bt_pod_commons *commons, uint32_t at)
{
	struct bt_pod_common *common = commons->slots[at].common;

	if (common != NULL) {
		commons->bytes -= bytes_of(common);
		commons->slots[at].common = NULL;
		bt_pod_common_release(common);
	}
}

static struct bt_pod_common *find(
	struct bt_pod_commons *commons, const struct bt_pod *view, struct bt_str pod_name)
{
	uint64_t hash = bt_message_hash(&bt_pod_message, HASH_SEED, view);
	uint32_t first = (uint32_t)(hash % BT_POD_COMMONS) & ~(BT_POD_COMMONS_WAYS - UINT32_C(1));
	uint32_t at = first;

	while (at < first + BT_POD_COMMONS_WAYS && commons->slots[at].hash != hash) {
		at++;
	}
	if (at == first + BT_POD_COMMONS_WAYS) {
		at = first + commons->next_way++ % BT_POD_COMMONS_WAYS;
		release_cached(commons, at);
		commons->slots[at].hash = hash;
		commons->slots[at].first_name_hash = bt_str_hash(pod_name);
		return NULL;
	}
	struct bt_pod_common **slot = &commons->slots[at].common;
	if (*slot == NULL) {
		/*
		 * The first pod with this hash has the same name, so it was another version of this
		 * pod, and still only one pod has the part.
		 */
		if (commons->slots[at].first_name_hash == bt_str_hash(pod_name)) {
			return NULL;
		}
		struct bt_pod_common *common = BT_NEW(struct bt_pod_common);

		bt_arena_init(&common->arena, FIRST_CHUNK_BYTES);
		bt_message_copy(&bt_pod_message, &common->pod, view, &common->arena);
		common->reference_count = 1;
		*slot = common;
		commons->bytes += bytes_of(*slot);
	}
	return bt_message_equal(&bt_pod_message, &(*slot)->pod, view) ? *slot : NULL;
}

struct bt_pod_common *bt_pod_commons_take_out(
	struct bt_pod_commons *commons, struct bt_pod_common *before, struct bt_pod *pod)
{
	struct bt_pod view = {0};

	set_common(&view, pod);
	/*
	 * Two versions of a pod usually have the same common part, and comparing costs less than
	 * hashing.
	 */
	struct bt_pod_common *common =
		before != NULL && bt_message_equal(&bt_pod_message, &before->pod, &view)
		? before
		: find(commons, &view, pod->metadata.name);
	if (common == NULL) {
		return NULL;
	}
	BT_ASSERT(common->reference_count < UINT32_MAX);
	common->reference_count++;
	/* this may also drop the cache's reference to `common`; the reference taken above stays */
	while (commons->bytes > BT_POD_COMMONS_BYTES_MAX) {
		release_cached(commons, commons->next_slot);
		commons->next_slot = (commons->next_slot + 1) % BT_POD_COMMONS;
	}
	bt_pod_common_apply(NULL, pod);
	return common;
}

void bt_pod_common_apply(const struct bt_pod_common *common, struct bt_pod *pod)
{
	static const struct bt_pod empty;

	set_common(pod, common != NULL ? &common->pod : &empty);
}

struct bt_packed_bases *bt_packed_bases_share(
	struct bt_pod_commons *commons, bool is_pod, struct bt_pod_common *common)
{
	struct bt_packed_bases **bases = common != NULL ? &common->bases
		: is_pod                                ? &commons->pod_bases
							: &commons->other_bases;

	if (*bases == NULL) {
		*bases = BT_NEW(struct bt_packed_bases);
		(*bases)->reference_count = 1;
	}
	BT_ASSERT((*bases)->reference_count < UINT32_MAX);
	(*bases)->reference_count++;
	return *bases;
}

void bt_packed_bases_release(struct bt_packed_bases *bases)
{
	if (bases != NULL && --bases->reference_count == 0) {
		for (uint32_t i = 0; i < BT_PACKED_BASES; i++) {
			bt_packed_base_release(bases->items[i]);
		}
		bt_free(bases);
	}
}

struct bt_packed_base *bt_packed_bases_encode(
	struct bt_packed_bases *bases, struct bt_str bytes, struct bt_strbuf *out)
{
	size_t start = out->length;
	struct bt_packed_base *base = NULL;

	if (bytes.length > BT_DELTA_BASE_BYTES_MAX) {
		bt_strbuf_append_str(out, bytes);
		return NULL;
	}
	for (uint32_t i = 0; i < BT_PACKED_BASES && bases->items[i] != NULL && base == NULL; i++) {
		base = bases->items[i];
		bt_delta_encode((struct bt_str){base->bytes, base->length}, bytes, out);
		if (out->length - start > bytes.length / 4 + DELTA_BYTES_MIN) {
			out->length = start;
			base = NULL;
		}
	}
	if (base == NULL) {
		bt_packed_base_release(bases->items[bases->next]);
		base = bt_malloc(sizeof(*base) + bytes.length);
		base->reference_count = 1;
		base->length = bytes.length;
		memcpy(base->bytes, bytes.data, bytes.length);
		bases->items[bases->next] = base;
		bases->next = (bases->next + 1) % BT_PACKED_BASES;
		bt_delta_encode(bytes, bytes, out);
	}
	BT_ASSERT(base->reference_count < UINT32_MAX);
	base->reference_count++;
	return base;
}

void bt_packed_base_release(struct bt_packed_base *base)
{
	if (base != NULL && --base->reference_count == 0) {
		bt_free(base);
	}
}

struct bt_str bt_pod_common_namespace(const struct bt_pod_common *common)
{
	return common->pod.metadata.namespace_;
}

void bt_pod_common_release(struct bt_pod_common *common)
{
	if (common == NULL) {
		return;
	}
	BT_ASSERT(common->reference_count > 0);
	if (--common->reference_count == 0) {
		bt_packed_bases_release(common->bases);
		bt_arena_finish(&common->arena);
		bt_free(common);
	}
}

void bt_pod_commons_finish(struct bt_pod_commons *commons)
{
	for (uint32_t i = 0; i < BT_POD_COMMONS; i++) {
		bt_pod_common_release(commons->slots[i].common);
	}
	bt_packed_bases_release(commons->pod_bases);
	bt_packed_bases_release(commons->other_bases);
	*commons = (struct bt_pod_commons){0};
}
