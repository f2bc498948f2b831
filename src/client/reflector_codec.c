/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod.h"
#include "base/alloc.h"
#include "client/reflector.h"
#include "codec/json_edit.h"

/* Codecs for the kinds of kinds.def. */

static int decode_json(void *context, struct bt_str json, void **out_item, struct berth_error *err)
{
	const struct bt_object_decoding *decoding = context;
	struct bt_json_reader reader;
	struct bt_object *object;

	bt_json_reader_init(&reader, json);
	int code = bt_object_decode_as(decoding->kind, &reader, &object, err);
	if (code == 0) {
		code = bt_json_expect_end(&reader, err);
		if (code != 0) {
			bt_object_release(object);
			return code;
		}
		*out_item = object;
	}
	return code;
}

static int decode_protobuf(
	void *context, struct bt_str bytes, void **out_item, struct berth_error *err)
{
	const struct bt_object_decoding *decoding = context;
	struct bt_object *object;
	int code = bt_object_decode_sharing(decoding->kind, bytes, decoding->commons, &object, err);

	if (code == 0) {
		*out_item = object;
	}
	return code;
}

static const struct bt_object_meta *meta_of(const void *item)
{
	return ((const struct bt_object *)item)->meta;
}

static void *share(void *item)
{
	return bt_object_share(item);
}

static void release(void *item)
{
	bt_object_release(item);
}

static void allow_pack(void *item)
{
	bt_object_allow_pack(item);
}

static void unpack(void *item)
{
	(void)bt_object_unpack(item); /* returns the same pointer */
}

static void read_key(const void *item, struct bt_str *out_namespace, struct bt_str *out_name)
{
	*out_namespace = bt_object_namespace(item);
	*out_name = bt_object_name(item);
}

/** Returns true for a pod without a node, because the scheduler needs the pod unpacked soon. */
static bool is_soon_unpacked(const void *item)
{
	const struct bt_object *object = item;
	const struct bt_pod *pod = object->kind == BT_KIND_POD ? object->value : NULL;

	return pod != NULL && pod->spec.node_name.length == 0;
}

static const struct bt_reflector_packing packing = {allow_pack, unpack, read_key, is_soon_unpacked};

/* The contexts of the codecs; they are only read. */
static struct bt_object_decoding decodings[BT_KIND__COUNT] = {
#define BT_KIND(id, kind, group, versions, resource, namespaced, structure, message) \
	{BT_KIND_##id, NULL},
#include "api/kinds.def"
#undef BT_KIND
};

static const struct bt_reflector_codec codecs[BT_KIND__COUNT] = {
#define BT_KIND(id, kind, group, versions, resource, namespaced, structure, message) \
	{decode_json, decode_protobuf, meta_of, share, release, &decodings[BT_KIND_##id], NULL},
#include "api/kinds.def"
#undef BT_KIND
};

const struct bt_reflector_codec *bt_reflector_object_codec(enum bt_kind kind)
{
	return &codecs[kind];
}

struct bt_reflector_codec bt_reflector_packing_codec(struct bt_object_decoding *decoding)
{
	return (struct bt_reflector_codec){
		decode_json, decode_protobuf, meta_of, share, release, decoding, &packing};
}

struct bt_json_item *bt_json_item_share(struct bt_json_item *item)
{
	if (item != NULL) {
		item->references++;
	}
	return item;
}

void bt_json_item_release(struct bt_json_item *item)
{
	if (item != NULL && --item->references == 0) {
		bt_arena_finish(&item->arena);
		bt_free(item);
	}
}

static int json_decode(
	void *context BT_UNUSED, struct bt_str json, void **out_item, struct berth_error *err)
{
	struct bt_json_item *item = BT_NEW(struct bt_json_item);

	item->references = 1;
	int code = bt_json_parse(&item->arena, json, true, &item->document, err);
	if (code != 0) {
		bt_json_item_release(item);
		return code;
	}
	item->meta = (struct bt_object_meta){
		.name = bt_json_text_at(item->document, "metadata.name"),
		.namespace_ = bt_json_text_at(item->document, "metadata.namespace"),
		.uid = bt_json_text_at(item->document, "metadata.uid"),
		.resource_version = bt_json_text_at(item->document, "metadata.resourceVersion"),
	};
	*out_item = item;
	return 0;
}

static const struct bt_object_meta *json_meta(const void *item)
{
	return &((const struct bt_json_item *)item)->meta;
}

static void *json_share(void *item)
{
	return bt_json_item_share(item);
}

static void json_release(void *item)
{
	bt_json_item_release(item);
}

const struct bt_reflector_codec bt_reflector_json_codec = {
	.decode_json = json_decode,
	.meta = json_meta,
	.share = json_share,
	.release = json_release,
};
