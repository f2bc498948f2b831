/* SPDX-License-Identifier: Apache-2.0 */
/** An explanation for people: sentences first, then nodes. */
#include <stdlib.h>

#include "cli/explain/explain_report.h"
#include "cluster/printable.h"
#include "cli/table.h"

/** Nodes that fit and are listed when not all are asked for. */
#define BEST_MAX 5
/** Columns of scores; NODE and TOTAL are two more. */
#define SCORES_MAX (BT_TABLE_COLUMNS_MAX - 2)

/** --- nodes that fit --- */

struct ranking {
	const struct bt_explained_node **nodes; /* best first */
	uint32_t count;
	uint32_t columns[SCORES_MAX]; /* of the scores, those that differ */
	uint32_t column_count;
};

static int compare_fits(const void *a, const void *b)
{
	const struct bt_explained_node *first = *(const struct bt_explained_node *const *)a;
	const struct bt_explained_node *second = *(const struct bt_explained_node *const *)b;
	if (first->total_score != second->total_score) {
		return first->total_score > second->total_score ? -1 : 1;
	}
	return bt_str_compare(first->name, second->name);
}

static bool is_equal_everywhere(const struct ranking *ranking, uint32_t column)
{
	int64_t score = ranking->nodes[0]->scores.items[column].score;
	for (uint32_t i = 1; i < ranking->count; i++) {
		const struct bt_explained_node *node = ranking->nodes[i];
		if (column < node->scores.count && node->scores.items[column].score != score) {
			return false;
		}
	}
	return true;
}

static void rank(const struct bt_explanation *explanation, struct ranking *ranking)
{
	ranking->nodes = BT_NEW_ARRAY(const struct bt_explained_node *, explanation->nodes.count);
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		if (explanation->nodes.items[i].group == BT_EXPLAIN_GROUP_NONE) {
			ranking->nodes[ranking->count++] = &explanation->nodes.items[i];
		}
	}
	if (ranking->count == 0) {
		return;
	}
	qsort(ranking->nodes, ranking->count, sizeof(const struct bt_explained_node *),
		compare_fits);
	for (uint32_t c = 0; c < ranking->nodes[0]->scores.count; c++) {
		bool tells = ranking->count == 1 ? ranking->nodes[0]->scores.items[c].score != 0
						 : !is_equal_everywhere(ranking, c);
		if (ranking->column_count < SCORES_MAX && tells) {
			ranking->columns[ranking->column_count++] = c;
		}
	}
}

static void write_scores(const struct ranking *ranking, uint32_t shown, struct bt_strbuf *out)
{
	struct bt_table table = {.column_count = ranking->column_count + 2};
	const struct bt_explained_node *best = ranking->nodes[0];
	bt_table_add_c(&table, "  NODE");
	bt_table_add_c(&table, "TOTAL");
	for (uint32_t c = 0; c < ranking->column_count; c++) {
		bt_table_add(&table, best->scores.items[ranking->columns[c]].plugin);
	}
	for (uint32_t i = 0; i < shown; i++) {
		const struct bt_explained_node *node = ranking->nodes[i];
		bt_strbuf_append_c(&table.text, "  ");
		bt_table_add(&table, node->name);
		bt_strbuf_printf(&table.text, "%lld", (long long)node->total_score);
		bt_table_end_cell(&table);
		for (uint32_t c = 0; c < ranking->column_count; c++) {
			uint32_t column = ranking->columns[c];
			if (column < node->scores.count) {
				bt_strbuf_printf(&table.text, "%lld",
					(long long)node->scores.items[column].score);
			}
			bt_table_end_cell(&table);
		}
	}
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

static void write_fits(const struct bt_explanation *explanation, bool all, struct bt_strbuf *out)
{
	struct ranking ranking = {0};
	rank(explanation, &ranking);
	if (ranking.count != 0) {
		uint32_t shown = all || ranking.count < BEST_MAX ? ranking.count : BEST_MAX;
		bt_strbuf_append_c(out, "\nScores, best nodes first:\n");
		write_scores(&ranking, shown, out);
		if (shown < ranking.count) {
			bt_strbuf_append_c(out, "  and ");
			bt_explain_append_count(out, ranking.count - shown);
			bt_strbuf_append_c(out, " more\n");
		}
		const struct bt_explained_node *best = ranking.nodes[0];
		bool any = false;
		for (uint32_t c = 0; c < best->scores.count && ranking.count > 1; c++) {
			if (best->scores.items[c].score != 0 && is_equal_everywhere(&ranking, c)) {
				bt_strbuf_append_c(out, any ? ", " : "  the same on all: ");
				bt_printable_append(out, best->scores.items[c].plugin);
				bt_strbuf_printf(
					out, " %lld", (long long)best->scores.items[c].score);
				any = true;
			}
		}
		bt_strbuf_append_c(out, any ? "\n" : "");
	}
	bt_free(ranking.nodes);
}

/** --- all nodes that do not --- */

static void write_all_obstacles(const struct bt_explanation *explanation, struct bt_strbuf *out)
{
	struct bt_table table = {.column_count = 2};
	if (explanation->groups.count == 0) {
		return;
	}
	bt_strbuf_append_c(out, "\nWhy not, everything that is in the way:\n");
	bt_table_add_c(&table, "  NODE");
	bt_table_add_c(&table, "OBSTACLES");
	for (uint32_t g = 0; g < explanation->groups.count; g++) {
		const struct bt_explained_group *group = &explanation->groups.items[g];
		for (uint32_t i = 0; i < group->nodes.count; i++) {
			const struct bt_explained_node *node =
				&explanation->nodes.items[group->nodes.items[i]];
			bt_strbuf_append_c(&table.text, "  ");
			bt_table_add(&table, node->name);
			bt_explain_append_obstacles(&table.text, node, true);
			bt_table_end_cell(&table);
		}
	}
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

void bt_explain_report_write_table(
	const struct bt_explain_report *report, bool wide, struct bt_strbuf *out)
{
	bt_explain_write_summary(report, out);
	write_fits(report->explanation, wide, out);
	if (wide) {
		write_all_obstacles(report->explanation, out);
	} else {
		bt_explain_write_groups(report, out);
	}
	bt_explain_write_proposals(report, out);
	bt_explain_write_preemption(report, out);
	bt_explain_write_queue(report, out);
	bt_explain_write_events(&report->events, out);
}
