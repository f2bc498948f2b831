/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/typed.h"

#include "base/assert.h"

const struct bt_api_resource *bt_typed_resource(struct bt_api *api, enum bt_kind kind)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	return bt_resources_builtin(bt_api_resources(api), info->group, info->resource);
}

struct bt_object *bt_typed_decode(
	enum bt_kind kind, const struct bt_stored *stored, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_object *object;
	bt_json_reader_init(&reader, bt_stored_text(stored));
	return bt_object_decode_as(kind, &reader, &object, err) == 0 ? object : NULL;
}

struct bt_json_value *bt_typed_tree(enum bt_kind kind, const void *value, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *tree;
	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(kind, value, &writer);
	int result = bt_json_parse(arena, bt_arena_take_strbuf(arena, &text), false, &tree, NULL);
	BT_ASSERT(result == 0); /* the tree was just written as JSON */
	return tree;
}
