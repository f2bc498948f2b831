/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three lines: a label selector, a field selector, a continue token; the text of an object follows.
 * Selectors that parse are matched against the object and against an empty object. An empty object
 * must not match an equality.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "server/list.h"
#include "server/selection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bt_str take_line(struct bt_str *rest)
{
	int64_t end = bt_str_find_char(*rest, '\n');
	uint32_t length = end < 0 ? rest->length : (uint32_t)end;
	struct bt_str line = bt_str_sub(*rest, 0, length);

	*rest = bt_str_sub(*rest, length + 1, rest->length);
	return line;
}

static void try_labels(struct bt_str labels, struct bt_arena *arena)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_selector selector;

	if (bt_selector_parse(labels, arena, &selector, &err) != 0) {
		BT_ASSERT(berth_error_message(&err)[0] != '\0');
	}
	berth_error_finish(&err);
}

static void try_token(struct bt_str text, struct bt_arena *arena)
{
	struct bt_failure failure = {0};
	struct bt_list_token token;
	struct bt_list_token again;

	if (!bt_list_token_read(text, &token, arena, &failure)) {
		BT_ASSERT(failure.code == 400);
		return;
	}
	BT_ASSERT(bt_list_token_read(bt_list_token_write(&token, arena), &again, arena, &failure) &&
		again.rv == token.rv);
}

static void try_selection(struct bt_store *store, const struct bt_api_resource *resource,
	struct bt_str labels, struct bt_str fields, const struct bt_stored *stored)
{
	uint32_t collection = bt_store_collection(store, BT_STR("pods"));
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_selection selection;

	if (bt_selection_parse(
		    &selection, resource, BT_STR(""), labels, fields, &arena, &failure)) {
		(void)bt_selection_matches(&selection, stored);
		(void)bt_selection_matches(&selection,
			bt_store_put(store, collection, BT_STR("a/b"), BT_STR("{}"), 0));
		bt_selection_finish(&selection);
	} else {
		BT_ASSERT(failure.code == 400 && failure.message.length != 0);
	}
	bt_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct bt_api_resource pods = {
		.group = "", .name = "pods", .namespaced = true};
	static const struct bt_api_resource events = {
		.group = "events.k8s.io", .name = "events", .namespaced = true};
	static const struct bt_api_resource classes = {
		.group = "storage.k8s.io", .name = "storageclasses"};
	struct bt_str rest = {(const char *)data, (uint32_t)size};
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_arena arena = {0};
	struct bt_str labels = take_line(&rest);
	struct bt_str fields = take_line(&rest);
	struct bt_stored *stored;

	try_labels(labels, &arena);
	try_token(take_line(&rest), &arena);
	stored = bt_store_put(store, bt_store_collection(store, BT_STR("pods")), BT_STR("d/p"),
		bt_str_sub(rest, 0, BT_STORE_TEXT_BYTES_MAX), 0);
	try_selection(store, &pods, labels, fields, stored);
	try_selection(store, &events, labels, fields, stored);
	try_selection(store, &classes, labels, fields, stored);
	bt_arena_finish(&arena);
	bt_store_destroy(store);
	return 0;
}
