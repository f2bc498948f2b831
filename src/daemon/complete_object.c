/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/complete_object.h"

#include "codec/json_edit.h"

static int decode_json(void *context, struct bt_str json, void **out_item, struct berth_error *err)
{
	enum bt_kind kind = ((const struct bt_object_decoding *)context)->kind;
	struct bt_strbuf stored = {0};
	void *item;
	int result = bt_reflector_object_codec(kind)->decode_json(context, json, &item, err);
	if (result < 0) {
		return result;
	}
	struct bt_object *object = item;
	/*
	 * As in upstream's caches, objects have no kind and apiVersion, and pods have no
	 * managedFields. Claims have no managedFields either: the server keeps the stored
	 * managedFields if a write omits the member.
	 */
	struct bt_arena arena = {0};
	struct bt_json_value *value;
	result = bt_json_parse(&arena, json, false, &value, err);
	if (result == 0) {
		(void)bt_json_remove_c(
			value, "kind"); /* items of lists have no kind and apiVersion */
		(void)bt_json_remove_c(value, "apiVersion");
		struct bt_json_value *metadata = bt_json_find(value, "metadata");
		if (kind != BT_KIND_NODE && metadata != NULL) {
			(void)bt_json_remove_c(metadata, "managedFields");
		}
		bt_json_format(value, &stored);
	}
	bt_arena_finish(&arena);
	if (result == 0) {
		bt_object_keep_json(object, bt_strbuf_str(&stored));
		*out_item = object;
	} else {
		bt_object_release(object);
	}
	bt_strbuf_finish(&stored);
	return result;
}

const struct bt_reflector_codec *bt_complete_object_codec(enum bt_kind kind)
{
	/* The codec of plain objects, except for decoding. */
	static struct bt_reflector_codec codecs[BT_KIND__COUNT];
	codecs[kind] = *bt_reflector_object_codec(kind);
	codecs[kind].decode_json = decode_json;
	codecs[kind].decode_protobuf = NULL;
	return &codecs[kind];
}

struct bt_complete_object_needs bt_complete_object_needs(const struct bt_config *config)
{
	struct bt_complete_object_needs needs = {false, false};
	for (uint32_t i = 0; i < config->document.extenders.count; i++) {
		const struct bt_config_extender *extender = &config->document.extenders.items[i];
		bool sees_nodes =
			extender->filter_verb.length != 0 || extender->prioritize_verb.length != 0;
		needs.pods = needs.pods || sees_nodes || extender->preempt_verb.length != 0;
		needs.nodes = needs.nodes || (sees_nodes && !extender->node_cache_capable);
	}
	return needs;
}
