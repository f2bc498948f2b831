/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/ast.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "base/unicode.h"
#include "cel/text.h"

struct bt_cel_node *bt_cel_node_child(const struct bt_cel_node *node, uint32_t index)
{
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
	case BT_CEL_NODE_IDENTIFIER:
		return NULL;
	case BT_CEL_NODE_SELECT:
		return index == 0 ? node->select.operand : NULL;
	case BT_CEL_NODE_CALL:
		if (node->call.target != NULL && index-- == 0) {
			return node->call.target;
		}
		return index < node->call.count ? node->call.arguments[index] : NULL;
	case BT_CEL_NODE_LIST:
		return index < node->list.count ? node->list.items[index] : NULL;
	case BT_CEL_NODE_MAP:
		if (index / 2 >= node->map.count) {
			return NULL;
		}
		return index % 2 == 0 ? node->map.keys[index / 2] : node->map.values[index / 2];
	case BT_CEL_NODE_MACRO: {
		struct bt_cel_node *const parts[] = {
			node->macro.range, node->macro.condition, node->macro.result};

		for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
			if (parts[i] != NULL && index-- == 0) {
				return parts[i];
			}
		}
		return NULL;
	}
	}
	return NULL;
}

/* Issues of an expression, formatted with line, column and the source line. Spec: 12b 7.7. */

#define ISSUES_SHOWN_MAX 100
/** The longest expression that an API server accepts; a longer source line is not quoted. */
#define LINE_SHOWN_BYTES_MAX 10240

void bt_cel_issue_add(struct bt_cel_issues *issues, uint32_t position, const char *format, ...)
{
	struct bt_strbuf text = {0};
	struct bt_cel_issue issue = {.position = position, .order = issues->items.count};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	issue.message = bt_arena_take_strbuf(issues->arena, &text);
	bt_vec_push(&issues->items, issue);
}

/* BT_CEL_NOWHERE sorts first, because BT_CEL_NOWHERE + 1 wraps to 0. */
BT_COMPARE(compare_issues, struct bt_cel_issue,
	BT_ORDER_BY(BT_ORDER(a->position + 1, b->position + 1), BT_ORDER(a->order, b->order)))

/** A place in the source. Issues are sorted, so one pass over the source finds all places. */
struct place {
	uint32_t position;
	uint32_t line; /* from 1 */
	uint32_t line_position;
	uint32_t line_offset;
	uint32_t offset;
};

static void append_issue(const struct bt_cel_issue *issue, struct bt_str source,
	const struct place *place, struct bt_strbuf *out)
{
	uint32_t column = place->position - place->line_position;
	struct bt_str rest = bt_str_sub(source, place->line_offset, source.length);
	struct bt_str line = bt_str_cut(&rest, '\n');

	bt_strbuf_printf(out, "ERROR: <input>:%u:%u: ", place->line, column + 1);
	bt_strbuf_append_str(out, issue->message);
	if (line.length > LINE_SHOWN_BYTES_MAX) {
		return;
	}
	bt_strbuf_append_c(out, "\n | ");
	/* Print the line with blanks for tabs and U+FFFD for invalid UTF-8. */
	for (uint32_t k = 0; k < line.length;) {
		uint32_t rune;
		uint32_t length = bt_utf8_decode(line.data + k, line.length - k, &rune);
		if (length == 0 || rune == 0) {
			bt_strbuf_append_c(out, "\xef\xbf\xbd");
		} else if (rune == '\t') {
			bt_strbuf_append_char(out, ' ');
		} else {
			bt_strbuf_append(out, line.data + k, length);
		}
		k += length != 0 ? length : 1;
	}
	bt_strbuf_append_c(out, "\n | ");
	/* Print dots and a caret below the line, full-width ones below multi-byte characters. */
	uint32_t offset = 0;
	uint32_t size = 0;

	for (uint32_t i = 0; i < column && offset < line.length; i++, offset += size) {
		size = bt_cel_text_step(line, offset);
		bt_strbuf_append_c(out, size > 1 ? "\xef\xbc\x8e" : ".");
	}
	bt_strbuf_append_c(out,
		offset < line.length && bt_cel_text_step(line, offset) > 1 ? "\xef\xbc\xbe" : "^");
}

void bt_cel_issues_format(struct bt_cel_issues *issues, struct bt_strbuf *out)
{
	struct place place = {.line = 1};
	uint32_t count = issues->items.count;

	if (count != 0) {
		qsort(issues->items.items, count, sizeof(*issues->items.items), compare_issues);
	}
	for (uint32_t i = 0; i < count && i < ISSUES_SHOWN_MAX; i++) {
		if (i != 0) {
			bt_strbuf_append_char(out, '\n');
		}
		if (issues->items.items[i].position == BT_CEL_NOWHERE) {
			bt_strbuf_append_c(out, "ERROR: <input>:-1:0: ");
			bt_strbuf_append_str(out, issues->items.items[i].message);
			continue;
		}
		struct bt_str source = issues->source;
		uint32_t position = issues->items.items[i].position;
		while (place.position < position && place.offset < source.length) {
			bool is_end_of_line = source.data[place.offset] == '\n';
			place.offset += bt_cel_text_step(source, place.offset);
			place.position++;
			if (is_end_of_line) {
				place.line++;
				place.line_position = place.position;
				place.line_offset = place.offset;
			}
		}
		append_issue(&issues->items.items[i], issues->source, &place, out);
	}
	if (count > ISSUES_SHOWN_MAX) {
		bt_strbuf_printf(out, "\n%u more errors were truncated", count - ISSUES_SHOWN_MAX);
	}
}
