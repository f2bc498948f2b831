/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the report as text, JSON and YAML; berth-whatif(1) documents the JSON members. */
#include "cli/whatif/whatif_output.h"

#include <stdlib.h>

#include "api/text_template.h"
#include "base/assert.h"
#include "base/printable.h"
#include "base/text_set.h"
#include "planning/whatif_report.h"

/** --- text --- */

/**
 * Above these limits, pods are grouped by workload, and further workloads and nodes are only
 * counted; -o wide shows all.
 */
#define POD_ROWS_MAX 40
#define WORKLOAD_ROWS_MAX 60
#define NODE_ROWS_MAX 40

/** --- pods --- */

static void append_status(struct bt_strbuf *out, const struct bt_whatif_difference *difference)
{
	const struct bt_whatif_pod *after = difference->after;
	switch (difference->effect) {
	case BT_EFFECT_PENDING:
		bt_text_append(out, "%c: %s", bt_fate_name(after->fate), after->message);
		return;
	case BT_EFFECT_LOST:
		bt_text_append(out, "%c, and no controller recreates it", difference->reason);
		return;
	case BT_EFFECT_PREEMPTED:
		bt_text_append(out, "for %s/%s", after->preemptor_namespace, after->preemptor_name);
		return;
	case BT_EFFECT_PLACED:
		bt_strbuf_append_c(out,
			difference->reason[0] != 0           ? difference->reason
				: difference->before == NULL ? "it is new"
							     : "it was pending");
		return;
	case BT_EFFECT_MOVED:
	case BT_EFFECT_REPLANNED:
	case BT_EFFECT_GONE:
	case BT_EFFECT__COUNT:
		break;
	}
	bt_strbuf_append_c(out, difference->reason);
}

static struct bt_str node_before(const struct bt_whatif_difference *difference)
{
	const struct bt_whatif_pod *pod = difference->before;
	return pod != NULL && pod->node_name.length != 0 ? pod->node_name : BT_STR("-");
}

static struct bt_str node_after(const struct bt_whatif_difference *difference)
{
	const struct bt_whatif_pod *pod = difference->after;
	return pod != NULL && !pod->preempted && pod->node_name.length != 0 ? pod->node_name
									    : BT_STR("-");
}

static const struct bt_whatif_pod *pod_of(const struct bt_whatif_difference *difference)
{
	return difference->after != NULL ? difference->after : difference->before;
}

/** Orders pods by workload, and then by what their rows say. 0: the pods can share a row. */
static int compare_rows(const void *left, const void *right)
{
	const struct bt_whatif_difference *first = left;
	const struct bt_whatif_difference *second = right;
	const struct bt_whatif_pod *a = pod_of(first);
	const struct bt_whatif_pod *b = pod_of(second);
	bool waits = first->effect == BT_EFFECT_PENDING;
	bool is_owned = a->owner.name.length != 0;
	return BT_ORDER_BY(BT_ORDER(first->effect, second->effect),
		bt_str_compare(a->namespace_, b->namespace_),
		bt_str_compare(a->owner.name, b->owner.name),
		bt_str_compare(a->owner.kind, b->owner.kind), strcmp(first->reason, second->reason),
		bt_str_compare(a->preemptor_namespace, b->preemptor_namespace),
		bt_str_compare(a->preemptor_name, b->preemptor_name),
		waits ? bt_str_compare(a->message, b->message) : 0,
		waits ? BT_ORDER(a->fate, b->fate) : 0,
		BT_ORDER(first->before == NULL, second->before == NULL),
		BT_ORDER(bt_str_equal_c(node_before(first), "-"),
			bt_str_equal_c(node_before(second), "-")),
		is_owned ? 0 : bt_str_compare(a->name, b->name));
}

/** Add the node that all pods of a group have, or else the number of nodes. */
static void add_nodes(struct bt_table *table, const struct bt_whatif_difference *group,
	uint32_t count, struct bt_str (*node_of)(const struct bt_whatif_difference *))
{
	struct bt_text_set names = {0};
	uint32_t name_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		name_count += bt_text_set_add(&names, node_of(&group[i]));
	}
	bt_text_set_finish(&names);
	if (name_count > 1) {
		bt_table_add_cells(table, "%u nodes", name_count);
	} else {
		bt_table_add(table, node_of(&group[0]));
	}
}

static void write_pods(const struct bt_whatif_report *report, bool wide, struct bt_strbuf *out)
{
	struct bt_table table;
	uint32_t pod_count = report->pods.count;
	bool grouped = !wide && pod_count > POD_ROWS_MAX;
	struct bt_whatif_difference *pods = BT_NEW_ARRAY(struct bt_whatif_difference, pod_count);
	memcpy(pods, report->pods.items, pod_count * sizeof(pods[0]));
	if (grouped) {
		qsort(pods, pod_count, sizeof(pods[0]), compare_rows);
	}
	BT_TABLE_BEGIN(&table, "CHANGE", "POD", "FROM", "TO", wide ? "PRIORITY" : NULL,
		wide ? "OWNER" : NULL, "WHY");
	uint32_t end = 0;
	for (uint32_t rows = 0; end < pod_count && (!grouped || rows < WORKLOAD_ROWS_MAX); rows++) {
		const struct bt_whatif_difference *first = &pods[end];
		uint32_t i = end++;
		bool joins = (grouped || pod_of(first)->is_grouped) &&
			pod_of(first)->owner.name.length != 0;
		while (joins && end < pod_count && compare_rows(first, &pods[end]) == 0) {
			end++;
		}
		uint32_t count = end - i;
		const struct bt_whatif_pod *pod = pod_of(&first[0]);
		struct bt_strbuf why = {0};
		bt_table_add_cells(&table, "%c\t%m[%? (%u pods of %p)]",
			bt_whatif_effect_name(first[0].effect), pod->namespace_,
			count == 1 ? pod->name : pod->owner.name, count != 1, count,
			pod->owner.kind);
		add_nodes(&table, first, count, node_before);
		add_nodes(&table, first, count, node_after);
		if (wide) {
			bool is_owned = pod->owner.kind.length != 0;
			bt_table_add_cells(&table, "%i\t%p%c%p", pod->priority, pod->owner.kind,
				is_owned ? "/" : "-", pod->owner.name);
		}
		append_status(&why, &first[0]);
		bt_table_add(&table, bt_strbuf_str(&why));
		bt_strbuf_finish(&why);
	}
	bt_table_write(&table, out);
	bt_text_append(out, "[%n more {pod fares|pods fare} differently: -o wide lists all\n]",
		pod_count - end);
	bt_free(pods);
}

/** --- nodes --- */

/** Append "12%", or "-" if the node has none of the resource. */
static void append_share(struct bt_strbuf *out, const struct bt_node_amounts *amount)
{
	if (amount->allocatable > 0) {
		bt_strbuf_printf(out, "%.0f%%",
			100.0 * (double)amount->requested / (double)amount->allocatable);
	} else {
		bt_strbuf_append_char(out, '-');
	}
}

/** Append "500m of 4", or "-" if the side lacks the node. */
static void append_side(
	struct bt_strbuf *out, struct bt_str resource, const struct bt_node_amounts *amount)
{
	if (amount == NULL) {
		bt_strbuf_append_char(out, '-');
	} else {
		bt_text_append(out, "%a of %a", resource, amount->requested, BT_AMOUNT_NEAREST,
			resource, amount->allocatable, BT_AMOUNT_NEAREST);
	}
}

/**
 * Append "500m -> 3.5 of 4 (12% -> 88%)", or "500m of 4 -> 500m of 8 (12% -> 6%)"; NULL: the side
 * lacks the node. resource: "" for a count.
 */
static void append_change(struct bt_strbuf *out, const struct bt_node_amounts *before,
	const struct bt_node_amounts *after, struct bt_str resource, bool shares)
{
	bool is_same_size =
		before != NULL && after != NULL && before->allocatable == after->allocatable;
	bool is_same = is_same_size && before->requested == after->requested;
	if (!is_same_size) {
		append_side(out, resource, before);
		bt_strbuf_append_c(out, " -> ");
	} else if (!is_same) {
		bt_text_append(out, "%a -> ", resource, before->requested, BT_AMOUNT_NEAREST);
	}
	append_side(out, resource, after);
	if (!shares) {
		return;
	}
	bt_strbuf_append_c(out, " (");
	if (before != NULL) {
		append_share(out, before);
	}
	if (after != NULL && !is_same) {
		bt_strbuf_append_c(out, before != NULL ? " -> " : "");
		append_share(out, after);
	}
	bt_strbuf_append_char(out, ')');
}

/** Adds the cells PODS, CPU, MEMORY and OTHER of the node, or of all nodes if node is NULL. */
static void add_amounts(struct bt_table *table, const struct bt_whatif_report *report,
	const struct bt_whatif_node *node)
{
	bool had = node == NULL || node->before_slot != BT_SLOT_NONE;
	bool has = node == NULL || node->after_slot != BT_SLOT_NONE;
	struct bt_strbuf others = {0};
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_str name = report->resources.items[i].name;
		struct bt_node_amounts before = bt_whatif_amounts(report, node, i, false);
		struct bt_node_amounts after = bt_whatif_amounts(report, node, i, true);
		if (i <= BT_WHATIF_MEMORY) {
			append_change(&table->text, had ? &before : NULL, has ? &after : NULL, name,
				i != BT_WHATIF_PODS);
			bt_table_end_cell(table);
		} else if (i >= BT_WHATIF_SCALARS &&
			(before.requested != 0 || before.allocatable != 0 || after.requested != 0 ||
				after.allocatable != 0)) {
			bt_text_append(&others, "%c%s ", others.length != 0 ? ", " : "", name);
			append_change(&others, &before, &after, BT_STR(""), false);
		}
	}
	bt_table_add(table, bt_strbuf_str(&others));
	bt_strbuf_finish(&others);
}

#define CHANGES_MAX 8

/** Lists the changes of the node. Returns their number. */
static uint32_t list_changes(const struct bt_whatif_node *node, const char *changes[CHANGES_MAX])
{
	const struct {
		bool holds;
		const char *name;
	} rows[CHANGES_MAX] = {
		{node->before_slot == BT_SLOT_NONE, "added"},
		{node->after_slot == BT_SLOT_NONE, "removed"},
		{node->cordoned, "cordoned"},
		{node->uncordoned, "uncordoned"},
		{node->drained, "drained"},
		{node->taints, "taints"},
		{node->labels, "labels"},
		{node->other, "other"},
	};
	uint32_t count = 0;
	for (uint32_t i = 0; i < CHANGES_MAX; i++) {
		if (rows[i].holds) {
			changes[count++] = rows[i].name;
		}
	}
	return count;
}

static void write_nodes_table(
	const struct bt_whatif_report *report, bool wide, struct bt_strbuf *out)
{
	struct bt_table table;
	uint32_t rows = 0;
	BT_TABLE_BEGIN(&table, "NODE", "CHANGE", "PODS", "CPU", "MEMORY",
		report->resources.count > BT_WHATIF_SCALARS ? "OTHER" : "");
	/*
	 * Nodes that were changed come first, so that rows left out are only those of other nodes.
	 */
	for (int changed = 1; changed >= 0; changed--) {
		for (uint32_t i = 0; i < report->nodes.count; i++) {
			const struct bt_whatif_node *node = &report->nodes.items[i];
			const char *changes[CHANGES_MAX];
			uint32_t count = list_changes(node, changes);
			if ((count != 0) != (changed == 1) || (!wide && rows >= NODE_ROWS_MAX)) {
				continue;
			}
			bt_table_add(&table, node->name);
			bt_strbuf_append_c(&table.text, count == 0 ? "-" : "");
			bool any = false;
			for (uint32_t k = 0; k < count; k++) {
				/* A drain cordons the node. */
				if (!node->drained || strcmp(changes[k], "cordoned") != 0) {
					bt_text_append(
						&table.text, "%c%c", any ? ", " : "", changes[k]);
					any = true;
				}
			}
			bt_table_end_cell(&table);
			add_amounts(&table, report, node);
			rows++;
		}
	}
	bool is_equal = report->node_count_before == report->node_count_after;
	bt_table_add_cells(&table, "all\t[%?%n -> ]%n {node|nodes}", !is_equal,
		report->node_count_before, report->node_count_after);
	add_amounts(&table, report, NULL);
	bt_table_write(&table, out);
	if (rows < report->nodes.count) {
		bt_text_append(out, "%n more {node differs|nodes differ}: -o wide lists all\n",
			report->nodes.count - rows);
	}
}

/** --- the whole text --- */

void bt_whatif_write_changes(struct bt_json_writer *writer, const struct bt_whatif_changes *changes,
	const char *new_config)
{
	bt_json_begin_member_array(writer, "changes");
	for (uint32_t i = 0; i < changes->list.count; i++) {
		const struct bt_whatif_change *change = &changes->list.items[i];
		bt_json_write(writer, "{type: %c, value: %c}", bt_whatif_kind_name(change->kind),
			change->text);
	}
	if (new_config != NULL) {
		bt_json_write(writer, "{type: 'new-config', value: %c}", new_config);
	}
	bt_json_end_array(writer);
}

/** --- JSON --- */

/** Write the amounts of a node, or null if that side lacks the node. node NULL: all nodes. */
static void write_usage(struct bt_json_writer *writer, const struct bt_whatif_report *report,
	const struct bt_whatif_node *node, bool is_after)
{
	uint32_t slot = node == NULL ? 0 : is_after ? node->after_slot : node->before_slot;
	bt_json_write_name_c(writer, is_after ? "after" : "before");
	if (slot == BT_SLOT_NONE) {
		bt_json_write_null(writer);
		return;
	}
	static const struct bt_str names[] = {[BT_WHATIF_PODS] = BT_STR_INIT("pods"),
		[BT_WHATIF_CPU] = BT_STR_INIT("cpuMilli"),
		[BT_WHATIF_MEMORY] = BT_STR_INIT("memoryBytes"),
		[BT_WHATIF_EPHEMERAL] = BT_STR_INIT("ephemeralStorageBytes")};
	bt_json_begin_object(writer);
	for (uint32_t i = 0; i < BT_WHATIF_SCALARS; i++) {
		struct bt_node_amounts amounts = bt_whatif_amounts(report, node, i, is_after);
		bt_json_write_member_usage(
			writer, names[i], amounts.requested, amounts.allocatable);
	}
	bt_json_begin_member_object(writer, "resources");
	for (uint32_t i = BT_WHATIF_SCALARS; i < report->resources.count; i++) {
		struct bt_node_amounts amounts = bt_whatif_amounts(report, node, i, is_after);
		if (amounts.requested != 0 || amounts.allocatable != 0) {
			bt_json_write_member_usage(writer, report->resources.items[i].name,
				amounts.requested, amounts.allocatable);
		}
	}
	bt_json_write(writer, "}}");
}

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct bt_whatif_report *report = answer;
	bt_json_begin_object(writer);
	bt_whatif_write_changes(writer, report->changes, report->new_config);
	bt_json_write(writer, "summary: {worse: %b, fromScratch: %b", bt_whatif_is_worse(report),
		report->from_scratch);
	for (int effect = 0; effect < BT_EFFECT__COUNT; effect++) {
		bt_json_write_member_int64(writer,
			bt_whatif_effect_name((enum bt_whatif_effect)effect),
			report->counts[effect]);
	}
	bt_json_write(writer,
		"pendingBefore: %u, pendingAfter: %u, nodesBefore: %u, nodesAfter: %u}, pods: [",
		report->before->pending_count, report->after->pending_count,
		report->node_count_before, report->node_count_after);
	for (uint32_t i = 0; i < report->pods.count; i++) {
		const struct bt_whatif_difference *difference = &report->pods.items[i];
		const struct bt_whatif_pod *before = difference->before;
		const struct bt_whatif_pod *after = difference->after;
		const struct bt_whatif_pod *pod = after != NULL ? after : before;
		bool placed = after != NULL && !after->preempted;
		bool pending = placed && after->node_name.length == 0;
		bt_json_write(writer,
			"{namespace: %s, name: %s, change: %c, nodeBefore: %s, nodeAfter: %s, "
			"isNew: %b, cause: %c, reason: %c",
			pod->namespace_, pod->name, bt_whatif_effect_name(difference->effect),
			before != NULL && !before->preempted ? before->node_name : BT_STR(""),
			placed ? after->node_name : BT_STR(""), before == NULL, difference->reason,
			pending ? bt_fate_name(after->fate) : "");
		bt_json_write(writer, "message: %s, priority: %i, owner: {kind: %s, name: %s}",
			pending ? after->message : BT_STR(""), pod->priority, pod->owner.kind,
			pod->owner.name);
		if (difference->effect == BT_EFFECT_PREEMPTED) {
			BT_ASSERT(after != NULL);
			bt_json_write(writer, "preemptor: {namespace: %s, name: %s}",
				after->preemptor_namespace, after->preemptor_name);
		}
		bt_json_end_object(writer);
	}
	bt_json_write(writer, "], budgets: [");
	for (uint32_t i = 0; i < report->whatif->budgets.count; i++) {
		const struct bt_whatif_budget *budget = &report->whatif->budgets.items[i];
		if (budget->evictions == 0) {
			continue;
		}
		bt_json_write(writer,
			"{namespace: %s, name: %s, disruptionsAllowed: %i, evictions: %u, heldUp: "
			"%u, inSeveralBudgets: %u, pendingReplacements: %u}",
			budget->namespace_, budget->name, budget->allowed, budget->evictions,
			budget->held, budget->shared, budget->still_pending);
	}
	bt_json_write(writer, "], nodes: [");
	for (uint32_t i = 0; i < report->nodes.count; i++) {
		const struct bt_whatif_node *node = &report->nodes.items[i];
		bt_json_write(writer, "{name: %s", node->name);
		const char *changes[CHANGES_MAX];
		uint32_t count = list_changes(node, changes);
		bt_json_write(writer, "changes: [");
		for (uint32_t k = 0; k < count; k++) {
			bt_json_write_c(writer, changes[k]);
		}
		bt_json_end_array(writer);
		write_usage(writer, report, node, false);
		write_usage(writer, report, node, true);
		bt_json_end_object(writer);
	}
	bt_json_write(writer, "], cluster: {");
	write_usage(writer, report, NULL, false);
	write_usage(writer, report, NULL, true);
	bt_json_write(writer, "}}");
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct bt_whatif_report *report = answer;
	if (report->pods.count != 0) {
		write_pods(report, wide, out);
		bt_strbuf_append_char(out, '\n');
	}
	struct bt_table table;
	bool has_budgets = false;
	BT_TABLE_BEGIN(&table, "BUDGET", "ALLOWS", "EVICTIONS", "THE DRAIN");
	for (uint32_t i = 0; i < report->whatif->budgets.count; i++) {
		const struct bt_whatif_budget *budget = &report->whatif->budgets.items[i];
		if (budget->evictions == 0) {
			continue;
		}
		has_budgets = true;
		bt_table_add_cells(&table, "%m\t%i\t%u", budget->namespace_, budget->name,
			budget->allowed, budget->evictions);
		struct bt_strbuf *cell = &table.text;
		if (budget->shared != 0) {
			bt_text_append(cell,
				"refused for %u that several budgets cover: none is ever evicted",
				budget->shared);
		} else if (budget->held == 0) {
			bt_strbuf_append_c(cell, "all at once");
		} else if (budget->allowed <= 0) {
			bt_strbuf_append_c(cell, "refused until the budget allows a disruption");
		} else {
			bt_text_append(cell, "%u wait until replacements are ready", budget->held);
		}
		bt_text_append(cell, "[; %u replacements stay pending, so the drain may not end]",
			budget->held != 0 ? budget->still_pending : 0);
		bt_table_end_cell(&table);
	}
	if (has_budgets) {
		bt_table_write(&table, out);
		bt_strbuf_append_char(out, '\n');
	}
	bt_table_finish(&table);
	write_nodes_table(report, wide, out);
	bt_strbuf_append_char(out, '\n');
	static const struct {
		enum bt_whatif_effect effect;
		const char *words;
	} rows[] = {
		{BT_EFFECT_PENDING, "newly pending"},
		{BT_EFFECT_LOST, "lost"},
		{BT_EFFECT_PREEMPTED, "preempted"},
		{BT_EFFECT_MOVED, "moved"},
		{BT_EFFECT_PLACED, "newly placed"},
		{BT_EFFECT_REPLANNED, "pending placed elsewhere"},
		{BT_EFFECT_GONE, "gone as asked for"},
	};
	bool any = false;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint32_t count = report->counts[rows[i].effect];
		bt_text_append(
			out, "[%?%c%u %c]", count != 0, any ? ", " : "", count, rows[i].words);
		any = any || count != 0;
	}
	if (!any) {
		bt_strbuf_append_c(out, "no pod is affected");
	}
	bt_text_append(out, "; %u {pod|pods} pending before, %u after\n",
		report->before->pending_count, report->after->pending_count);
}

int bt_whatif_write(const struct bt_whatif_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	return bt_output_write(format, write_text, write_json, report, out, err);
}
