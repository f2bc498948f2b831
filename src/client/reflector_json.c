/* SPDX-License-Identifier: Apache-2.0 */
#include "client/reflector_json.h"

#include "base/alloc.h"
#include "codec/json_edit.h"

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

static int decode(
	void *context BT_UNUSED, struct bt_str json, void **out_item, struct berth_error *err)
{
	struct bt_json_item *item = BT_NEW(struct bt_json_item);
	int code;

	item->references = 1;
	code = bt_json_parse(&item->arena, json, true, &item->document, err);
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

static const struct bt_object_meta *meta(const void *item)
{
	return &((const struct bt_json_item *)item)->meta;
}

static void *share(void *item)
{
	return bt_json_item_share(item);
}

static void release(void *item)
{
	bt_json_item_release(item);
}

const struct bt_reflector_codec bt_reflector_json_codec = {
	.decode_json = decode,
	.meta = meta,
	.share = share,
	.release = release,
};
