/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a text twice. Both runs must give the same outcome: an expression of bounded height whose
 * positions lie in the text, or issues with messages.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/strbuf.h"
#include "cel/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct bt_cel_node *node, uint32_t length)
{
	const struct bt_cel_node *child;

	BT_ASSERT(node->height >= 1 && node->height <= BT_CEL_DEPTH_MAX);
	BT_ASSERT(node->position < length);
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		BT_ASSERT(child->height < node->height);
		check_node(child, length);
	}
}

/** Parses the text and appends the issues to out. If the text is an expression, out stays empty. */
static void parse(struct bt_str text, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	struct bt_cel_issues issues = {.source = text, .arena = &arena};
	const struct bt_cel_node *root = bt_cel_parse(text, &arena, &issues);

	BT_ASSERT((root != NULL) == (issues.items.count == 0));
	if (root != NULL) {
		check_node(root, text.length);
	}
	for (uint32_t i = 0; i < issues.items.count; i++) {
		BT_ASSERT(issues.items.items[i].position <= text.length ||
			issues.items.items[i].position == BT_CEL_NOWHERE);
	}
	bt_cel_issues_format(&issues, out);
	bt_vec_finish(&issues.items);
	bt_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, (uint32_t)size};
	struct bt_strbuf first = {0};
	struct bt_strbuf again = {0};

	parse(text, &first);
	parse(text, &again);
	BT_ASSERT(bt_str_equal(bt_strbuf_str(&first), bt_strbuf_str(&again)));
	bt_strbuf_finish(&first);
	bt_strbuf_finish(&again);
	return 0;
}
