/* SPDX-License-Identifier: Apache-2.0 */
/** Why not: the nodes that reject the pod, alike ones together, nearest first. */
#include "cli/explain/explain_report.h"
#include "cluster/printable.h"

#define GROUPS_MAX 8
/** Lines of a group. */
#define LINES_MAX 3
/** Lines that a group's nodes are sorted into before the first ones are shown. */
#define KINDS_MAX 32
/** Node names on a line: as many as that, and only one when they are long. */
#define NAMES_MAX 3
#define NAMES_BYTES_MAX 45
/** The taint that comes with a cordon. */
#define CORDON_TAINT "has taint node.kubernetes.io/unschedulable:NoSchedule"

/** Nodes of a group about which the same is to be said. */
struct line {
	struct bt_strbuf text;
	uint32_t names[NAMES_MAX]; /* the first ones: indices of explanation->nodes */
	uint32_t node_count;
};

struct lines {
	struct line items[KINDS_MAX];
	uint32_t count;
};

static bool says_more(const struct bt_explained_node *node)
{
	for (uint32_t i = 0; i < node->obstacles.count; i++) {
		if (node->obstacles.items[i].hint.length != 0) {
			return true;
		}
	}
	return node->obstacles.count > 1;
}

/** Behind the cordon itself, its taint says nothing new; taints are told with ", " between them. */
static struct bt_str news_of(const struct bt_explained_node *node, uint32_t index)
{
	static const struct bt_str taint = BT_STR_INIT(CORDON_TAINT);
	static const struct bt_str behind = BT_STR_INIT(", " CORDON_TAINT);
	struct bt_str hint = node->obstacles.items[index].hint;
	if (index == 0 || !bt_str_equal_c(node->obstacles.items[0].plugin, "NodeUnschedulable")) {
		return hint;
	}
	if (bt_str_equal(hint, taint)) {
		return BT_STR("");
	}
	return bt_str_has_suffix(hint, behind) ? bt_str_sub(hint, 0, hint.length - behind.length)
					       : hint;
}

void bt_explain_append_obstacles(
	struct bt_strbuf *out, const struct bt_explained_node *node, bool with_plugins)
{
	for (uint32_t i = 0; i < node->obstacles.count; i++) {
		const struct bt_obstacle *obstacle = &node->obstacles.items[i];
		struct bt_str hint = with_plugins ? obstacle->hint : news_of(node, i);
		if (hint.length == 0 && obstacle->hint.length != 0) {
			continue;
		}
		bt_strbuf_append_c(out, i != 0 ? "; " : "");
		if (with_plugins && obstacle->plugin.length != 0) {
			bt_printable_append(out, obstacle->plugin);
			bt_strbuf_append_c(out, ": ");
		}
		bt_printable_append(out, hint.length != 0 ? hint : obstacle->reasons);
	}
}

/** Nodes beyond the kinds of lines there may be are in none. */
static void sort_in(struct lines *lines, const struct bt_explained_node *node, uint32_t index)
{
	struct bt_strbuf text = {0};
	struct line *line = NULL;
	if (says_more(node)) {
		bt_explain_append_obstacles(&text, node, false);
	}
	for (uint32_t i = 0; i < lines->count && line == NULL; i++) {
		if (bt_str_equal(bt_strbuf_str(&lines->items[i].text), bt_strbuf_str(&text))) {
			line = &lines->items[i];
		}
	}
	if (line == NULL && lines->count < KINDS_MAX) {
		line = &lines->items[lines->count++];
		*line = (struct line){.text = text};
		text = (struct bt_strbuf){0};
	}
	if (line != NULL) {
		if (line->node_count < NAMES_MAX) {
			line->names[line->node_count] = index;
		}
		line->node_count++;
	}
	bt_strbuf_finish(&text);
}

static void write_line(
	const struct bt_explanation *explanation, const struct line *line, struct bt_strbuf *out)
{
	uint32_t named = 0;
	size_t bytes = 0;
	bt_strbuf_append_c(out, "    ");
	while (named < line->node_count && named < NAMES_MAX) {
		struct bt_str name = explanation->nodes.items[line->names[named]].name;
		bytes += name.length;
		if (named != 0 && bytes > NAMES_BYTES_MAX) {
			break;
		}
		bt_strbuf_append_c(out, named++ != 0 ? ", " : "");
		bt_printable_append(out, name);
	}
	if (line->node_count > named) {
		bt_strbuf_append_c(out, " and ");
		bt_explain_append_count(out, line->node_count - named);
		bt_strbuf_append_c(out, " more");
	}
	if (line->text.length != 0) {
		bt_strbuf_append_c(out, ": ");
		bt_strbuf_append_str(out, bt_strbuf_str(&line->text));
	}
	bt_strbuf_append_char(out, '\n');
}

static void write_heading(const struct bt_explained_group *group, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "  ");
	bt_explain_append_counted(out, group->nodes.count, "node", "nodes");
	bt_strbuf_append_c(out, ": ");
	for (uint32_t i = 0; i < group->reasons.count; i++) {
		bt_strbuf_append_c(out, i != 0 ? ", " : "");
		bt_printable_append(out, group->reasons.items[i]);
	}
	if (group->plugin.length != 0) {
		bt_strbuf_append_c(out, group->reasons.count != 0 ? " (" : "(");
		bt_printable_append(out, group->plugin);
		bt_strbuf_append_char(out, ')');
	}
	bt_strbuf_append_char(out, '\n');
}

static void write_group(const struct bt_explanation *explanation,
	const struct bt_explained_group *group, struct bt_strbuf *out)
{
	struct lines lines = {.count = 0};
	uint32_t shown = 0;
	for (uint32_t i = 0; i < group->nodes.count; i++) {
		uint32_t index = group->nodes.items[i];
		sort_in(&lines, &explanation->nodes.items[index], index);
	}
	write_heading(group, out);
	for (uint32_t i = 0; i < lines.count; i++) {
		if (i < LINES_MAX) {
			write_line(explanation, &lines.items[i], out);
			shown += lines.items[i].node_count;
		}
		bt_strbuf_finish(&lines.items[i].text);
	}
	if (shown < group->nodes.count) {
		bt_strbuf_append_c(out, "    and ");
		bt_explain_append_count(out, group->nodes.count - shown);
		bt_strbuf_append_c(out, " more, none of them nearer\n");
	}
}

void bt_explain_write_groups(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = report->explanation;
	uint32_t others = 0;
	if (explanation->groups.count == 0) {
		return;
	}
	bt_strbuf_append_c(out,
		explanation->feasible_count == 0 ? "\nWhy not, nearest nodes first:\n"
						 : "\nWhy not on the others, nearest first:\n");
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		if (i < GROUPS_MAX) {
			write_group(explanation, &explanation->groups.items[i], out);
		} else {
			others += explanation->groups.items[i].nodes.count;
		}
	}
	if (others != 0) {
		bt_strbuf_append_c(out, "  and ");
		bt_explain_append_counted(out, others, "node", "nodes");
		bt_strbuf_printf(
			out, " for %u more reasons\n", explanation->groups.count - GROUPS_MAX);
	}
}
