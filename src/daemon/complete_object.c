/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/complete_object.h"

#include "codec/json_edit.h"

int bt_complete_object_decode(enum bt_kind kind, struct bt_str json, struct bt_object **out_object,
	struct berth_error *err)
{
	struct bt_strbuf stored = {0};
	struct bt_object *object;
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, json);
	int result = bt_object_decode_as(kind, &reader, &object, err);
	if (result < 0) {
		return result;
	}
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
		*out_object = object;
	} else {
		bt_object_release(object);
	}
	bt_strbuf_finish(&stored);
	return result;
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
