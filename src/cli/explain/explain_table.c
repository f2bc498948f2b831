/* SPDX-License-Identifier: Apache-2.0 */
/** The text of an explanation: sentences first, then nodes. */
#include <stdlib.h>

#include "api/text_template.h"
#include "base/printable.h"
#include "cli/explain/explain_change.h"
#include "cli/explain/explain_report.h"
#include "cli/output.h"

/** --- why not: the nodes that reject the pod, similar nodes together, nearest first --- */

#define GROUPS_MAX 8
/** Limit of lines per group. */
#define LINES_MAX 3
/** Limit of different lines that are collected per group; at most LINES_MAX of them are shown. */
#define KINDS_MAX 32
/** Limit of node names on a line; only one name if they are long. */
#define NAMES_MAX 3
#define NAMES_BYTES_MAX 45
/** How hints name the taint that cordoning a node adds. */
#define CORDON_TAINT "has taint node.kubernetes.io/unschedulable:NoSchedule"

/** Nodes of a group that share one line. */
struct line {
	struct bt_strbuf text;
	uint32_t names[NAMES_MAX]; /* the first nodes: indices in explanation->nodes */
	uint32_t node_count;
};

/**
 * Append "NodeResourcesFit: needs 250m more cpu; NodePorts: ...": for each obstacle the plugin (if
 * with_plugins), and the hint, or the reasons if there is no hint.
 */
static void explain_append_obstacles(
	struct bt_strbuf *out, const struct bt_explained_node *node, bool with_plugins)
{
	static const struct bt_str taint = BT_STR_INIT(CORDON_TAINT);
	static const struct bt_str behind = BT_STR_INIT(", " CORDON_TAINT);
	for (uint32_t i = 0; i < node->obstacles.count; i++) {
		const struct bt_obstacle *obstacle = &node->obstacles.items[i];
		struct bt_str hint = obstacle->hint;
		/*
		 * If the first obstacle already says that the node is cordoned, the taint that
		 * cordoning adds is left out of the hint. Several taints are joined with ", ".
		 */
		if (!with_plugins && i != 0 &&
			bt_str_equal_c(node->obstacles.items[0].plugin, "NodeUnschedulable")) {
			if (bt_str_equal(hint, taint)) {
				continue;
			}
			if (bt_str_has_suffix(hint, behind)) {
				hint.length -= behind.length;
			}
		}
		bt_text_append(out, "%c[%p: ]%p", i != 0 ? "; " : "",
			with_plugins ? obstacle->plugin : BT_STR(""),
			hint.length != 0 ? hint : obstacle->reasons);
	}
}

static void write_group(const struct bt_explanation *explanation,
	const struct bt_explained_group *group, struct bt_strbuf *out)
{
	struct line lines[KINDS_MAX];
	uint32_t line_count = 0;
	uint32_t shown = 0;
	for (uint32_t i = 0; i < group->nodes.count; i++) {
		uint32_t index = group->nodes.items[i];
		/* Nodes whose lines differ from the first KINDS_MAX lines are left out. */
		const struct bt_explained_node *node = &explanation->nodes.items[index];
		struct bt_strbuf text = {0};
		struct line *line = NULL;
		bool says_more = node->obstacles.count > 1;
		for (uint32_t k = 0; k < node->obstacles.count && !says_more; k++) {
			says_more = node->obstacles.items[k].hint.length != 0;
		}
		if (says_more) {
			explain_append_obstacles(&text, node, false);
		}
		for (uint32_t j = 0; j < line_count && line == NULL; j++) {
			if (bt_str_equal(bt_strbuf_str(&lines[j].text), bt_strbuf_str(&text))) {
				line = &lines[j];
			}
		}
		if (line == NULL && line_count < KINDS_MAX) {
			line = &lines[line_count++];
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
	bt_text_append(out, "  %n {node|nodes}: ", group->nodes.count);
	for (uint32_t i = 0; i < group->reasons.count; i++) {
		bt_text_append(out, "%c%p", i != 0 ? ", " : "", group->reasons.items[i]);
	}
	bt_text_append(out, "[%?%c(%p)]\n", group->plugin.length != 0,
		group->reasons.count != 0 ? " " : "", group->plugin);
	for (uint32_t i = 0; i < line_count; i++) {
		if (i < LINES_MAX) {
			const struct line *line = &lines[i];
			uint32_t named = 0;
			size_t bytes = 0;
			bt_strbuf_append_c(out, "    ");
			while (named < line->node_count && named < NAMES_MAX) {
				struct bt_str name =
					explanation->nodes.items[line->names[named]].name;
				bytes += name.length;
				if (named != 0 && bytes > NAMES_BYTES_MAX) {
					break;
				}
				bt_text_append(out, "%c%p", named++ != 0 ? ", " : "", name);
			}
			bt_text_append(out, "[ and %n more][: %s]\n", line->node_count - named,
				bt_strbuf_str(&line->text));
			shown += lines[i].node_count;
		}
		bt_strbuf_finish(&lines[i].text);
	}
	bt_text_append(out, "[    and %n more, none of them nearer\n]", group->nodes.count - shown);
}

void bt_explain_write_groups(const struct bt_explanation *explanation, struct bt_strbuf *out)
{
	uint32_t others = 0;
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		if (i < GROUPS_MAX) {
			write_group(explanation, &explanation->groups.items[i], out);
		} else {
			others += explanation->groups.items[i].nodes.count;
		}
	}
	bt_text_append(out, "[  and %n {node|nodes} for %n more {reason|reasons}\n]", others,
		explanation->groups.count - GROUPS_MAX);
}

/** --- proposals, preemption, queue --- */

/** Limits of listed victims and candidate nodes. */
#define VICTIMS_MAX 5
#define CANDIDATES_MAX 3

/** --- proposals --- */

static void explain_write_proposals(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = report->explanation;
	if (explanation->proposals.count == 0) {
		if (explanation->feasible_count == 0 && explanation->node_count != 0 &&
			report->proposals_wanted) {
			bt_strbuf_append_c(out,
				"\nChanges that would help:\n  none of the changes that were "
				"tried; "
				"see the reasons above\n");
		}
		return;
	}
	bt_strbuf_append_c(out, "\nChanges that would help:\n");
	uint32_t number = 0;
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		/*
		 * Skip the same changes on another node: the alike_count of the earlier proposal
		 * includes this node.
		 */
		bool repeats = false;
		for (uint32_t k = 0; k < i && !repeats; k++) {
			const struct bt_proposal *other = &explanation->proposals.items[k];
			repeats = bt_remedies_equal_but_node(&proposal->remedies, &other->remedies);
		}
		if (repeats) {
			continue;
		}
		bt_text_append(out, "  %u. ", ++number);
		bool adds = bt_changes_append_text(
			&proposal->remedies, report->pod, report->nodes, out);
		bool is_named = proposal->opened_count == 1 && proposal->node.length != 0;
		if (is_named && BT_STR_FIND(&proposal->remedies, node, proposal->node) != NULL) {
			bt_strbuf_append_c(out, ": then it fits there");
		} else {
			bt_text_append(out, ": then it fits on [%?%p][%?%n {node|nodes}]", is_named,
				proposal->node, !is_named, proposal->opened_count);
		}
		bt_text_append(out, "[ (%n more {node is|nodes are} alike)]\n",
			adds ? 0 : proposal->alike_count);
		bool lacks_tolerations = report->lacks_tolerations;
		for (uint32_t j = 0; j < proposal->remedies.count; j++) {
			const struct bt_remedy *change = &proposal->remedies.items[j];
			struct bt_strbuf command = {0};
			if (bt_change_append_command(change, report->pod, report->in_input,
				    lacks_tolerations, &command)) {
				bt_text_append(out, "       %s\n", bt_strbuf_str(&command));
				/* The first command that adds a toleration makes the list. */
				lacks_tolerations =
					lacks_tolerations && change->kind != BT_REMEDY_TOLERATE;
			}
			bt_strbuf_reset(&command);
			if (bt_change_append_alternative(change, proposal->node, &command)) {
				bt_text_append(out, "       or: %s\n", bt_strbuf_str(&command));
			}
			bt_strbuf_finish(&command);
		}
	}
}

/** --- preemption --- */

/** Returns what the reason of a refusal means; "" if it speaks for itself. */
static const char *plain_refusal(struct bt_str reason)
{
	if (bt_str_equal(reason, bt_reason_texts[BT_REASON_NO_PREEMPTION_VICTIMS])) {
		return "too few pods of lower priority to make room";
	}
	if (bt_str_equal(reason, bt_reason_texts[BT_REASON_PREEMPTION_NOT_HELPFUL])) {
		return "evicting pods would not change the reason";
	}
	if (bt_str_equal_c(reason, "not found")) {
		return "the pod was rejected for all nodes at once";
	}
	return bt_explain_is_of_filter(reason) ? "even without the pods of lower priority" : "";
}

static void explain_write_preemption(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explained_preemption *preemption = &report->explanation->preemption;
	bool selected = false;
	if (!preemption->ran && preemption->message.length == 0) {
		return;
	}
	bt_strbuf_append_c(out, "\nPreemption:\n");
	for (uint32_t i = 0; i < preemption->candidates.count && !selected; i++) {
		if (preemption->candidates.items[i].selected) {
			const struct bt_explained_candidate *candidate =
				&preemption->candidates.items[i];
			bt_text_append(out,
				"  it can make room on %p by evicting %n {pod|pods} of lower "
				"priority[, against a "
				"disruption budget for %N of them]:\n",
				candidate->node, candidate->victims.count,
				candidate->pdb_violations);
			for (uint32_t k = 0; k < candidate->victims.count && k < VICTIMS_MAX; k++) {
				const struct bt_explained_victim *victim =
					&candidate->victims.items[k];
				bt_text_append(out, "    %m (priority %i)\n", victim->namespace_,
					victim->name, victim->priority);
			}
			bt_explain_write_more(VICTIMS_MAX, candidate->victims.count, "    ", out);
			selected = true;
		}
	}
	if (!selected && preemption->refusals.count == 0) {
		bt_text_append(out, "  %p\n",
			preemption->message.length != 0 ? preemption->message
							: BT_STR("helps on no node"));
	}
	uint32_t others = 0;
	for (uint32_t i = 0; i < preemption->candidates.count; i++) {
		const struct bt_explained_candidate *candidate = &preemption->candidates.items[i];
		if (candidate->selected) {
			continue;
		}
		if (others++ < CANDIDATES_MAX) {
			bt_text_append(out,
				"  also possible: %p, with %n {victim|victims}[, budgets violated "
				"for %N]\n",
				candidate->node, candidate->victims.count,
				candidate->pdb_violations);
		}
	}
	bt_explain_write_more(CANDIDATES_MAX, others, "  ", out);
	for (uint32_t i = 0; i < preemption->refusals.count && !selected; i++) {
		const struct bt_explained_refusal *refusal = &preemption->refusals.items[i];
		bt_text_append(out, "  %n {node|nodes}: %p[ (%c)]\n", refusal->node_count,
			refusal->reason, plain_refusal(refusal->reason));
	}
}

/** --- the queue --- */

static void explain_write_queue(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_pod *pod = report->pod;
	if (report->running_on.length != 0) {
		return;
	}
	bt_text_append(out, "\nQueue:\n  priority %i[ (%p)]\n  ", bt_pod_priority(pod),
		pod->spec.priority_class_name);
	if (report->ahead_count == 0) {
		bt_strbuf_append_c(out, "no pending pod comes before it\n");
	} else if (report->after_queue) {
		bt_text_append(out,
			"%n pending {pod comes|pods come} before it, and {is|are} placed first in "
			"this answer: %n found a node\n",
			report->ahead_count, report->placed_count);
	} else {
		bt_text_append(out,
			"%n pending {pod comes|pods come} before it, and {is|are} not placed in "
			"this "
			"answer (--after-queue does that)\n",
			report->ahead_count);
	}
	bt_text_append(out, "[  nominated to %p by an earlier attempt\n]",
		pod->status.nominated_node_name);
	/* Show the message of the last attempt only if it differs from the explanation's. */
	const struct bt_pod_condition *condition =
		bt_pod_find_condition(report->pod, BT_STR("PodScheduled"));
	if (condition == NULL || bt_str_equal_c(condition->status, "True")) {
		return;
	}
	bt_text_append(out, "  status says %p",
		condition->reason.length != 0 ? condition->reason : condition->status);
	if (condition->last_transition_time.set) {
		bt_strbuf_append_c(out, " since ");
		bt_time_format(&condition->last_transition_time, out);
	}
	bool is_same = bt_str_equal(condition->message, report->explanation->message);
	bt_text_append(out, "[: %p][%?, with the same message]\n",
		is_same ? BT_STR("") : condition->message,
		is_same && condition->message.length != 0);
}

/** Limit of listed feasible nodes, unless all are requested. */
#define BEST_MAX 5
/** Limit of score columns; NODE and TOTAL take two of the table's columns. */
#define SCORES_MAX (BT_TABLE_COLUMNS_MAX - 2)

/** --- nodes that fit --- */

struct ranking {
	const struct bt_explained_node **nodes; /* best first */
	uint32_t count;
	uint32_t columns[SCORES_MAX]; /* plugins whose scores differ */
	uint32_t column_count;
};

BT_COMPARE(compare_fits, struct bt_explained_node *const,
	BT_ORDER_BY(BT_ORDER((*b)->total_score, (*a)->total_score),
		bt_str_compare((*a)->name, (*b)->name)))

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
		bt_table_add_cells(&table, "  %p\t%d", node->name, node->total_score);
		for (uint32_t c = 0; c < ranking->column_count; c++) {
			uint32_t column = ranking->columns[c];
			bool is_scored = column < node->scores.count;
			bt_table_add_cells(&table, "[%?%d]", is_scored,
				is_scored ? node->scores.items[column].score : 0);
		}
	}
	bt_table_write(&table, out);
}

/** --- all nodes that do not fit --- */

/** Limit of events in the table. */
#define EVENTS_SHOWN 5
/** Limit of an event's message. */
#define MESSAGE_BYTES_MAX 1024

static void write_events(const struct bt_explain_events *events, struct bt_strbuf *out)
{
	uint32_t first = 0;
	if (!events->is_live) {
		return;
	}
	bt_strbuf_append_c(out, "\nEvents:\n");
	if (events->problem.length != 0) {
		bt_text_append(out, "  not read: %s\n", bt_strbuf_str(&events->problem));
		return;
	}
	if (events->list.count == 0) {
		bt_strbuf_append_c(out, "  none are left\n");
	}
	if (events->list.count > EVENTS_SHOWN) {
		first = events->list.count - EVENTS_SHOWN;
		bt_text_append(out, "  %u older ones\n", first);
	}
	for (uint32_t i = first; i < events->list.count; i++) {
		const struct bt_live_event *event = &events->list.items[i];
		bt_strbuf_append_c(out, "  ");
		bt_time_format(&event->last, out);
		bt_text_append(out, " %p", event->reason);
		if (event->count > 1) {
			bt_text_append(out, " (%d times since ", event->count);
			bt_time_format(&event->first, out);
			bt_strbuf_append_char(out, ')');
		}
		bt_text_append(out, ": %p\n", bt_str_sub(event->message, 0, MESSAGE_BYTES_MAX));
	}
}

void bt_explain_report_write_table(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct bt_explain_report *report = answer;
	bt_explain_write_summary(report, out);
	const struct bt_explanation *explanation = report->explanation;
	struct ranking ranking = {0};
	ranking.nodes = BT_NEW_ARRAY(const struct bt_explained_node *, explanation->nodes.count);
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		if (explanation->nodes.items[i].group == BT_EXPLAIN_GROUP_NONE) {
			ranking.nodes[ranking.count++] = &explanation->nodes.items[i];
		}
	}
	if (ranking.count != 0) {
		qsort(ranking.nodes, ranking.count, sizeof(const struct bt_explained_node *),
			compare_fits);
		for (uint32_t c = 0; c < ranking.nodes[0]->scores.count; c++) {
			bool tells = ranking.count == 1
				? ranking.nodes[0]->scores.items[c].score != 0
				: !is_equal_everywhere(&ranking, c);
			if (ranking.column_count < SCORES_MAX && tells) {
				ranking.columns[ranking.column_count++] = c;
			}
		}
	}
	if (ranking.count != 0) {
		uint32_t shown = wide || ranking.count < BEST_MAX ? ranking.count : BEST_MAX;
		bt_strbuf_append_c(out, "\nScores, best nodes first:\n");
		write_scores(&ranking, shown, out);
		bt_explain_write_more(shown, ranking.count, "  ", out);
		const struct bt_explained_node *best = ranking.nodes[0];
		bool any = false;
		for (uint32_t c = 0; c < best->scores.count && ranking.count > 1; c++) {
			if (best->scores.items[c].score != 0 && is_equal_everywhere(&ranking, c)) {
				bt_text_append(out, "%c%p %d", any ? ", " : "  the same on all: ",
					best->scores.items[c].plugin, best->scores.items[c].score);
				any = true;
			}
		}
		bt_strbuf_append_c(out, any ? "\n" : "");
	}
	bt_free(ranking.nodes);
	if (wide) {
		struct bt_table table;
		if (explanation->groups.count != 0) {
			bt_strbuf_append_c(out, "\nWhy not, everything that is in the way:\n");
			BT_TABLE_BEGIN(&table, "  NODE", "OBSTACLES");
			for (uint32_t g = 0; g < explanation->groups.count; g++) {
				const struct bt_explained_group *group =
					&explanation->groups.items[g];
				for (uint32_t i = 0; i < group->nodes.count; i++) {
					const struct bt_explained_node *node =
						&explanation->nodes.items[group->nodes.items[i]];
					bt_table_add_cells(&table, "  %p", node->name);
					explain_append_obstacles(&table.text, node, true);
					bt_table_end_cell(&table);
				}
			}
			bt_table_write(&table, out);
		}
	} else {
		if (explanation->groups.count != 0) {
			bt_strbuf_append_c(out,
				explanation->feasible_count == 0
					? "\nWhy not, nearest nodes first:\n"
					: "\nWhy not on the others, nearest first:\n");
		}
		bt_explain_write_groups(explanation, out);
	}
	explain_write_proposals(report, out);
	explain_write_preemption(report, out);
	explain_write_queue(report, out);
	write_events(&report->events, out);
}
