/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/label_selector.h"

#include <stdlib.h>

#include "api/selector.h"
#include "base/alloc.h"
#include "lib/convert.h"
#include "lib/document.h"

struct berth_label_selector {
	struct bt_arena arena; /* memory of `selector` */
	struct bt_selector selector;
};

int berth_label_selector_parse(
	struct berth_str text, struct berth_label_selector **out_selector, struct berth_error *err)
{
	struct bt_label_selector decoded = {0};
	struct bt_json_reader reader;
	enum bt_json_type type = BT_JSON_NULL;
	struct bt_strbuf json = {0};
	int result = BERTH_OK;

	if (text.length > BERTH_OBJECT_BYTES_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "more than %u bytes", BERTH_OBJECT_BYTES_MAX);
	}
	struct berth_label_selector *selector = BT_NEW(struct berth_label_selector);
	if (!bt_document_is_json(text)) {
		result = bt_document_from_yaml(text, NULL, &json, err);
		text = bt_strbuf_str(&json);
	}
	bt_json_reader_init(&reader, text);
	if (result == BERTH_OK) {
		result = bt_json_peek(&reader, &type, err);
	}
	if (result == BERTH_OK) {
		/* Decoding null consumes the value and leaves the structure unchanged. */
		result = bt_message_decode_json(
			&bt_label_selector_message, &reader, &selector->arena, &decoded, err);
	}
	if (result == BERTH_OK) {
		result = bt_json_expect_end(&reader, err);
	}
	if (result == BERTH_OK) {
		result = bt_selector_from_label_selector(type != BT_JSON_NULL ? &decoded : NULL,
			&selector->arena, &selector->selector, err);
	}
	bt_strbuf_finish(&json);
	if (result == BERTH_OK) {
		*out_selector = selector;
	} else {
		berth_label_selector_destroy(selector);
	}
	return result;
}

/** Returns the labels as a map, which is sorted by key. copy: copy the texts, too. */
static struct bt_str_map sorted(
	const struct berth_label *labels, uint32_t count, struct bt_arena *arena, bool copy)
{
	struct bt_str_map map = {.count = count, .present = true};

	if (count == 0) {
		return map;
	}
	map.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, count);
	for (uint32_t i = 0; i < count; i++) {
		map.items[i].key = copy ? bt_arena_str(arena, labels[i].key) : labels[i].key;
		map.items[i].value = copy ? bt_arena_str(arena, labels[i].value) : labels[i].value;
	}
	qsort(map.items, count, sizeof(*map.items), bt_str_compare_qsort);
	return map;
}

struct berth_label_selector *berth_label_selector_from_map(
	const struct berth_label *labels, uint32_t count)
{
	struct berth_label_selector *selector = BT_NEW(struct berth_label_selector);
	struct bt_str_map map = sorted(labels, count, &selector->arena, true);

	selector->selector = bt_selector_from_map(&map, &selector->arena);
	return selector;
}

void berth_label_selector_destroy(struct berth_label_selector *selector)
{
	if (selector == NULL) {
		return;
	}
	bt_arena_finish(&selector->arena);
	bt_free(selector);
}

bool berth_label_selector_matches(const struct berth_label_selector *selector,
	const struct berth_label *labels, uint32_t count)
{
	struct bt_arena arena = {0};

	if (selector == NULL) {
		return false;
	}
	struct bt_str_map map = sorted(labels, count, &arena, false);
	bool matches = bt_selector_matches(&selector->selector, &map);
	bt_arena_finish(&arena);
	return matches;
}

bool berth_label_selector_matches_object(
	const struct berth_label_selector *selector, const struct berth_object *object)
{
	return selector != NULL &&
		bt_selector_matches(&selector->selector, &bt_const_object_of(object)->meta->labels);
}

bool berth_label_selector_is_empty(const struct berth_label_selector *selector)
{
	return selector != NULL && bt_selector_is_empty(&selector->selector);
}
