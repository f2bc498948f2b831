/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches of every type. The first line is the document, and the rest is the patch. Results must be
 * valid trees. Idempotent patches must change nothing the second time.
 */
#include <stdint.h>

#include "base/assert.h"
#include "codec/json_patch.h"
#include "sample_schema.h"
#include "schema/apply.h"
#include "schema/strategic_merge.h"

/* The server refuses deeper documents before it patches them. */
#define DEPTH_MAX 500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t depth_of(const struct bt_json_value *value)
{
	uint32_t deepest = 0;
	for (uint32_t i = 0; i < value->count; i++) {
		uint32_t depth = depth_of(value->type == BT_JSON_OBJECT ? value->members[i].value
									: value->elements[i]);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

static struct bt_json_value *parsed(struct bt_arena *arena, struct bt_str text)
{
	struct bt_json_value *value = NULL;
	if (bt_json_parse(arena, text, false, &value, NULL) != 0 || depth_of(value) > DEPTH_MAX) {
		return NULL;
	}
	return value;
}

static void check_sound(struct bt_arena *arena, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *back = NULL;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, value);
	BT_ASSERT(bt_json_parse(arena, bt_strbuf_str(&text), true, &back, NULL) == 0);
	BT_ASSERT(bt_json_same(value, back));
	BT_ASSERT(depth_of(back) <= DEPTH_MAX);
	bt_strbuf_finish(&text);
}

static void try_merge(struct bt_arena *arena, struct bt_str document, struct bt_str patch)
{
	struct bt_json_value *result =
		bt_json_merge_patch(arena, parsed(arena, document), parsed(arena, patch));
	check_sound(arena, result);
	struct bt_json_value *before = bt_json_clone(arena, result, false);
	result = bt_json_merge_patch(arena, result, parsed(arena, patch));
	BT_ASSERT(bt_json_same(before, result));
}

static void try_apply(struct bt_arena *arena, struct bt_str document, struct bt_str patch,
	const struct bt_schema_message *message)
{
	struct bt_apply_writer writer = {.message = message,
		.manager = BT_STR("a"),
		.api_version = BT_STR("v1"),
		.subresource = BT_STR(""),
		.time = BT_STR("2026-11-21T00:00:00Z"),
		.ignored_member = "status"};
	struct bt_apply_conflicts conflicts;
	struct bt_json_value *live = parsed(arena, document);
	struct bt_json_value *applied = parsed(arena, patch);
	struct bt_json_value *first = NULL;
	struct bt_json_value *second = NULL;
	if (live->type != BT_JSON_OBJECT || applied->type != BT_JSON_OBJECT) {
		return;
	}
	int checked = bt_apply_check(message, NULL, applied, NULL);
	BT_ASSERT(checked == 0 || checked == BERTH_ERR_INVALID);
	if (bt_apply(arena, &writer, false, live, applied, &first, &conflicts, NULL) != 0 &&
		bt_apply(arena, &writer, true, live, applied, &first, &conflicts, NULL) != 0) {
		return;
	}
	check_sound(arena, first);
	BT_ASSERT(bt_apply(arena, &writer, false, first, applied, &second, &conflicts, NULL) == 0);
	BT_ASSERT(bt_json_same(first, second));
	writer.manager = BT_STR("b");
	bt_apply_record_update(arena, &writer, first, live);
	check_sound(arena, live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, (uint32_t)size};
	int64_t end = bt_str_find_char(text, '\n');
	if (end < 0) {
		return 0;
	}
	struct bt_str document = bt_str_sub(text, 0, (uint32_t)end);
	struct bt_str patch = bt_str_sub(text, (uint32_t)end + 1, text.length);
	struct bt_arena arena = {0};
	struct bt_json_value *result = NULL;
	if (parsed(&arena, document) != NULL && parsed(&arena, patch) != NULL) {
		if (bt_json_patch(&arena, parsed(&arena, document), parsed(&arena, patch), &result,
			    NULL) == 0) {
			check_sound(&arena, result);
		}
		try_merge(&arena, document, patch);
		if (bt_strategic_merge(&arena, &sample_pod, parsed(&arena, document),
			    parsed(&arena, patch), &result, NULL) == 0) {
			check_sound(&arena, result);
		}
		try_apply(&arena, document, patch, &sample_pod);
		try_apply(&arena, document, patch, NULL);
	}
	bt_arena_finish(&arena);
	return 0;
}
