/* SPDX-License-Identifier: Apache-2.0 */
/** Answers about capacity for people: few lines, however many nodes there are. */
#include <stdio.h>
#include <stdlib.h>

#include "api/amount.h"
#include "cli/capacity/capacity_output.h"
#include "cluster/printable.h"
#include "cli/table.h"

/** Lines "and N more nodes with M each" below a table. */
#define GROUP_LINES 8
/** Requests that a headline names. */
#define REQUESTS_SHOWN 6

/** "1 copy", "4,980 copies" */
static void append_counted(struct bt_strbuf *out, uint64_t count, const char *one, const char *many)
{
	bt_amount_append_count(out, (int64_t)count);
	bt_strbuf_printf(out, " %s", count == 1 ? one : many);
}

/** --- headlines --- */

static void append_requests(struct bt_strbuf *out, const struct bt_capacity_member *member)
{
	if (member->requests.count == 0) {
		bt_strbuf_append_c(out, " (requests nothing)");
		return;
	}
	for (uint32_t i = 0; i < member->requests.count && i < REQUESTS_SHOWN; i++) {
		const struct bt_capacity_request *request = &member->requests.items[i];
		bt_strbuf_append_c(out, i == 0 ? " (" : ", ");
		bt_printable_append(out, request->resource);
		bt_strbuf_append_char(out, ' ');
		bt_amount_append_of(out, request->resource, request->amount, BT_AMOUNT_NEAREST);
	}
	bt_strbuf_append_c(out, member->requests.count > REQUESTS_SHOWN ? ", ...)" : ")");
}

/** --- nodes --- */

struct share {
	uint32_t copies;
	uint32_t node; /* index in the answer's nodes */
};

/** Most copies first, then by name. */
static int compare_shares(const void *a, const void *b)
{
	const struct share *first = a;
	const struct share *second = b;
	if (first->copies != second->copies) {
		return first->copies > second->copies ? -1 : 1;
	}
	return first->node < second->node ? -1 : first->node > second->node;
}

static void add_change(struct bt_table *table, struct bt_str resource, int64_t before,
	int64_t after, int64_t allocatable)
{
	bt_amount_append_of(&table->text, resource, before, BT_AMOUNT_NEAREST);
	bt_strbuf_append_c(&table->text, " -> ");
	bt_amount_append_of(&table->text, resource, after, BT_AMOUNT_NEAREST);
	bt_strbuf_append_c(&table->text, " of ");
	bt_amount_append_of(&table->text, resource, allocatable, BT_AMOUNT_NEAREST);
	bt_table_end_cell(table);
}

static void write_distribution(const struct bt_capacity_answer *answer,
	const struct bt_capacity_member *member, bool wide, struct bt_strbuf *out)
{
	static const char *const headings[] = {"NODE", "COPIES", "PODS", "CPU", "MEMORY"};
	struct bt_table table = {.column_count = wide ? 5 : 2};
	struct share *shares = BT_NEW_ARRAY(struct share, answer->node_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < answer->node_count; i++) {
		if (wide || member->on_nodes[i] != 0) {
			shares[count++] = (struct share){member->on_nodes[i], i};
		}
	}
	if (count > 1) {
		qsort(shares, count, sizeof(shares[0]), compare_shares);
	}
	uint32_t shown = wide || count <= BT_CAPACITY_ROWS + 1 ? count : BT_CAPACITY_ROWS;
	for (uint32_t i = 0; i < table.column_count; i++) {
		bt_table_add_c(&table, headings[i]);
	}
	for (uint32_t i = 0; i < shown; i++) {
		const struct bt_capacity_node *node = &answer->nodes[shares[i].node];
		uint32_t copies = shares[i].copies;
		bt_table_add(&table, node->name);
		bt_amount_append_count(&table.text, copies);
		bt_table_end_cell(&table);
		if (wide) {
			add_change(&table, BT_STR("pods"), node->before.pods, node->after.pods,
				node->allocatable.pods);
			add_change(&table, BT_STR("cpu"), node->before.cpu_milli,
				node->after.cpu_milli, node->allocatable.cpu_milli);
			add_change(&table, BT_STR("memory"), node->before.memory_bytes,
				node->after.memory_bytes, node->allocatable.memory_bytes);
		}
	}
	if (count != 0) {
		bt_strbuf_append_c(out, "Pod distribution among nodes:\n");
		bt_table_write(&table, out);
		/* The nodes behind the table, a line for each number of copies; the last line tells
		 * of the rest.
		 */
		uint32_t first = shown;
		for (uint32_t line = 0; first < count; line++) {
			uint32_t end = first;
			bool is_last = line + 1 == GROUP_LINES;
			while (end < count &&
				(is_last || shares[end].copies == shares[first].copies)) {
				end++;
			}
			bt_strbuf_append_c(out, "and ");
			append_counted(out, end - first, "more node with ", "more nodes with ");
			if (shares[end - 1].copies != shares[first].copies) {
				bt_amount_append_count(out, shares[end - 1].copies);
				bt_strbuf_append_c(out, " to ");
			}
			bt_amount_append_count(out, shares[first].copies);
			bt_strbuf_append_c(out, end - first == 1 ? "\n" : " each\n");
			first = end;
		}
		if (count < answer->node_count) {
			append_counted(out, answer->node_count - count, "node takes", "nodes take");
			bt_strbuf_append_c(out, " none\n");
		}
	}
	bt_table_finish(&table);
	bt_free(shares);
}

/** --- the cluster --- */

static void add_share(struct bt_table *table, const struct bt_capacity_total *total, int64_t amount)
{
	bt_amount_append_of(&table->text, total->resource, amount, BT_AMOUNT_NEAREST);
	if (total->allocatable > 0) {
		bt_strbuf_printf(&table->text, " (%.0f%%)",
			100.0 * (double)amount / (double)total->allocatable);
	}
	bt_table_end_cell(table);
}

static void write_totals(const struct bt_capacity_answer *answer, struct bt_strbuf *out)
{
	static const char *const headings[] = {"RESOURCE", "BEFORE", "AFTER", "ALLOCATABLE"};
	struct bt_table table = {.column_count = BT_ARRAY_LENGTH(headings)};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
		bt_table_add_c(&table, headings[i]);
	}
	for (uint32_t i = 0; i < answer->total_count; i++) {
		const struct bt_capacity_total *total = &answer->totals[i];
		bt_table_add(&table, total->resource);
		add_share(&table, total, total->before);
		add_share(&table, total, total->after);
		bt_amount_append_of(
			&table.text, total->resource, total->allocatable, BT_AMOUNT_NEAREST);
		bt_table_end_cell(&table);
	}
	bt_strbuf_append_c(out, "\nUse of the cluster's ");
	append_counted(out, answer->node_count, "node:\n", "nodes:\n");
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

void bt_capacity_write_table(
	const struct bt_capacity_answer *answer, bool wide, struct bt_strbuf *out)
{
	if (answer->queue_placed != 0 || answer->queue_pending != 0) {
		bt_strbuf_append_c(out, "Placed first: ");
		append_counted(out, answer->queue_placed, "pending pod", "pending pods");
		bt_strbuf_append_c(out, " of the input");
		if (answer->queue_pending != 0) {
			bt_strbuf_append_c(out, "; ");
			bt_amount_append_count(out, answer->queue_pending);
			bt_strbuf_append_c(out, " found no place");
		}
		bt_strbuf_append_c(out, ".\n");
	}
	if (answer->member_count > 1) {
		bt_strbuf_append_c(out, "The mix: ");
		append_counted(out, answer->copies, "copy", "copies");
		bt_strbuf_append_c(out, " in all; every member had its share in ");
		append_counted(out, answer->round_count, "full round", "full rounds");
		bt_strbuf_append_c(out, ".\n\n");
	}
	for (uint32_t i = 0; i < answer->member_count; i++) {
		bt_strbuf_append_c(out, i == 0 ? "" : "\n");
		const struct bt_capacity_member *member = &answer->members[i];
		bt_strbuf_append_c(out, "The cluster can schedule ");
		append_counted(out, member->copies, "instance of the ", "instances of the ");
		const struct bt_capacity_spec *spec = member->spec;
		bt_strbuf_append_lower(out, bt_str_from(bt_kind_info(spec->kind)->name));
		bt_strbuf_append_char(out, ' ');
		bt_printable_append_name(out, spec->namespace_, spec->name);
		append_requests(out, member);
		bt_strbuf_append_c(out, ".\n");
		bt_strbuf_printf(out, "Termination reason: %s: ", member->stop.type);
		bt_printable_append(out, member->stop.message);
		bt_strbuf_append_char(out, '\n');
		if (member->stop.hint.length != 0) {
			bt_strbuf_append_c(out, "Tightest: ");
			bt_printable_append(out, member->stop.hint);
			bt_strbuf_append_char(out, '\n');
		}
		if (answer->member_count > 1 && member->stop.total < answer->copies) {
			bt_strbuf_append_c(out, "It stopped when ");
			append_counted(out, member->stop.total, "copy", "copies");
			bt_strbuf_append_c(out, " of all members had a node; ");
			bt_amount_append_count(out, answer->copies - member->stop.total);
			bt_strbuf_append_c(out, " of others came after.\n");
		}
		if (member->copies != 0) {
			bt_strbuf_append_char(out, '\n');
			write_distribution(answer, member, wide, out);
		}
	}
	write_totals(answer, out);
}
