/* SPDX-License-Identifier: Apache-2.0 */
/** Writes answers with the fields of cluster-capacity's reviews and further ones. */
#include <stdio.h>
#include <stdlib.h>

#include "api/amount.h"
#include "base/printable.h"
#include "cli/capacity/capacity.h"
#include "cli/output.h"

/** --- text: few lines, however many nodes there are --- */

/** Limit of lines "and N more nodes with M each" below a table. */
#define GROUP_LINES 8
/** Limit of requests that a headline names. */
#define REQUESTS_SHOWN 6

/** "1 copy", "4,980 copies" */
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
	struct bt_table table;
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
	BT_TABLE_BEGIN(&table, "NODE", member->spec->group != NULL ? "PODS OF IT" : "COPIES",
		wide ? "PODS" : NULL, wide ? "CPU" : NULL, wide ? "MEMORY" : NULL);
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
		/*
		 * Sum up the nodes after the table's last row, one line per number of copies; the
		 * last line covers all remaining nodes.
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
			bt_amount_append_counted(
				out, end - first, "more node with ", "more nodes with ");
			if (shares[end - 1].copies != shares[first].copies) {
				bt_amount_append_count(out, shares[end - 1].copies);
				bt_strbuf_append_c(out, " to ");
			}
			bt_amount_append_count(out, shares[first].copies);
			bt_strbuf_append_c(out, end - first == 1 ? "\n" : " each\n");
			first = end;
		}
		if (count < answer->node_count) {
			bt_amount_append_counted(
				out, answer->node_count - count, "node takes", "nodes take");
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
	bt_amount_append_share(&table->text, amount, total->allocatable);
	bt_table_end_cell(table);
}

static void capacity_write_table(
	const struct bt_capacity_answer *answer, bool wide, struct bt_strbuf *out)
{
	if (answer->queue_placed != 0 || answer->queue_pending != 0) {
		bt_strbuf_append_c(out, "Placed first: ");
		bt_amount_append_counted(out, answer->queue_placed, "pending pod", "pending pods");
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
		bt_amount_append_counted(out, answer->copies, "copy", "copies");
		bt_strbuf_append_c(out, " in all; every member had its share in ");
		bt_amount_append_counted(out, answer->round_count, "full round", "full rounds");
		bt_strbuf_append_c(out, ".\n\n");
	}
	for (uint32_t i = 0; i < answer->member_count; i++) {
		bt_strbuf_append_c(out, i == 0 ? "" : "\n");
		const struct bt_capacity_member *member = &answer->members[i];
		bt_strbuf_append_c(out, "The cluster can schedule ");
		bt_amount_append_counted(
			out, member->copies, "instance of the ", "instances of the ");
		const struct bt_capacity_spec *spec = member->spec;
		bt_strbuf_append_lower(out, bt_str_from(bt_kind_info(spec->kind)->name));
		bt_strbuf_append_char(out, ' ');
		bt_printable_append_name(out, spec->namespace_, spec->name);
		append_requests(out, member);
		if (spec->group != NULL) {
			bt_strbuf_append_c(out, ", ");
			bt_amount_append_counted(out, spec->members.count, "pod each", "pods each");
		}
		bt_strbuf_append_c(out, ".\n");
		bt_strbuf_printf(out, "Termination reason: %s: ", member->stop.type);
		bt_printable_append(out, member->stop.message);
		bt_strbuf_append_char(out, '\n');
		if (member->stop.hint.length != 0) {
			bt_strbuf_append_c(out, spec->group != NULL ? "The next: " : "Tightest: ");
			bt_printable_append(out, member->stop.hint);
			bt_strbuf_append_char(out, '\n');
		}
		if (answer->member_count > 1 && member->stop.total < answer->copies) {
			bt_strbuf_append_c(out, "It stopped when ");
			bt_amount_append_counted(out, member->stop.total, "copy", "copies");
			bt_strbuf_append_c(out, " of all members had a node; ");
			bt_amount_append_count(out, answer->copies - member->stop.total);
			bt_strbuf_append_c(out, " of others came after.\n");
		}
		for (uint32_t k = 0; k < member->placements.count && k < BT_CAPACITY_ROWS; k++) {
			const struct bt_capacity_placement *placement =
				&member->placements.items[k];
			bt_strbuf_append_c(out, k == 0 ? "Placements: " : ", ");
			bt_printable_append(out, placement->name);
			bt_strbuf_append_c(out, " takes ");
			bt_amount_append_count(out, placement->copies);
		}
		if (member->placements.count > BT_CAPACITY_ROWS) {
			bt_strbuf_append_c(out, " and ");
			bt_amount_append_counted(out, member->placements.count - BT_CAPACITY_ROWS,
				"more takes some", "more take some");
		}
		bt_strbuf_append_c(out, member->placements.count != 0 ? "\n" : "");
		if (member->copies != 0) {
			bt_strbuf_append_char(out, '\n');
			write_distribution(answer, member, wide, out);
		}
	}
	struct bt_table table;
	BT_TABLE_BEGIN(&table, "RESOURCE", "BEFORE", "AFTER", "ALLOCATABLE");
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
	bt_amount_append_counted(out, answer->node_count, "node:\n", "nodes:\n");
	bt_table_write(&table, out);
}

/** --- the question --- */

/** Native cluster-wide resources; all others are scalar resources. */
static bool is_primary(struct bt_str resource)
{
	return bt_str_equal_c(resource, "cpu") || bt_str_equal_c(resource, "memory") ||
		bt_str_equal_c(resource, "ephemeral-storage");
}

static void write_resources(
	struct bt_json_writer *writer, const struct bt_capacity_member *member, bool primary)
{
	bt_json_begin_member_object(writer, primary ? "primaryResources" : "scalarResources");
	for (uint32_t i = 0; i < member->requests.count; i++) {
		const struct bt_capacity_request *request = &member->requests.items[i];
		if (is_primary(request->resource) != primary) {
			continue;
		}
		if (primary) {
			/* Append the exact amount as a quantity: "150m", "100Mi", "1234". */
			static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
			struct bt_strbuf text = {0};
			int64_t amount = request->amount;
			uint32_t unit = 0;
			if (bt_str_equal_c(request->resource, "cpu")) {
				bool is_whole = amount % 1000 == 0;
				bt_strbuf_printf(&text, "%lld%s",
					(long long)(is_whole ? amount / 1000 : amount),
					is_whole ? "" : "m");
			} else {
				while (is_primary(request->resource) && amount != 0 &&
					amount % 1024 == 0 && unit + 1 < BT_ARRAY_LENGTH(units)) {
					amount /= 1024;
					unit++;
				}
				bt_strbuf_printf(&text, "%lld%s", (long long)amount, units[unit]);
			}
			bt_json_write_name(writer, request->resource);
			bt_json_write_str(writer, bt_strbuf_str(&text));
			bt_strbuf_finish(&text);
		} else {
			bt_json_write_name(writer, request->resource);
			bt_json_write_int64(writer, request->amount);
		}
	}
	bt_json_end_object(writer);
}

/** --- the result --- */

/** The member that stopped last. */
static const struct bt_capacity_member *last_member(const struct bt_capacity_answer *answer)
{
	const struct bt_capacity_member *last = &answer->members[0];
	for (uint32_t i = 1; i < answer->member_count; i++) {
		if (answer->members[i].stop.total > last->stop.total) {
			last = &answer->members[i];
		}
	}
	return last;
}

static void write_review(struct bt_json_writer *writer, const struct bt_capacity_answer *answer)
{
	const struct bt_capacity_member *last = last_member(answer);
	bt_json_begin_object(writer);
	bt_json_begin_member_object(writer, "spec");
	bt_json_begin_member_array(writer, "podRequirements");
	for (uint32_t i = 0; i < answer->member_count; i++) {
		const struct bt_capacity_member *member = &answer->members[i];
		bool is_mix = answer->member_count > 1;
		const struct bt_capacity_spec *spec = member->spec;
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "podName", spec->name);
		bt_json_write_member(writer, "namespace", spec->namespace_);
		bt_json_write_member_c(writer, "kind", bt_kind_info(spec->kind)->name);
		if (is_mix) {
			bt_json_write_member_int64(writer, "weight", spec->weight);
		}
		bt_json_begin_member_object(writer, "resources");
		write_resources(writer, member, true);
		write_resources(writer, member, false);
		bt_json_end_object(writer);
		bt_json_begin_member_object(writer, "nodeSelectors");
		for (uint32_t k = 0; k < member->node_selector.count; k++) {
			bt_json_write_name(writer, member->node_selector.items[k].key);
			bt_json_write_str(writer, member->node_selector.items[k].value);
		}
		bt_json_end_object(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
	bt_json_begin_member_object(writer, "status");
	bt_json_write_member_int64(writer, "replicas", answer->copies);
	bt_json_begin_member_object(writer, "failReason");
	bt_json_write_member_c(writer, "failType", last->stop.type);
	bt_json_write_member(writer, "failMessage", last->stop.message);
	bt_json_end_object(writer);
	bt_json_begin_member_array(writer, "pods");
	for (uint32_t i = 0; i < answer->member_count; i++) {
		const struct bt_capacity_member *member = &answer->members[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "podName", member->spec->name);
		bt_json_write_member(writer, "namespace", member->spec->namespace_);
		bt_json_write_member_int64(writer, "replicas", member->copies);
		bt_json_begin_member_array(writer, "replicasOnNodes");
		for (uint32_t j = 0; j < answer->node_count; j++) {
			if (member->on_nodes[j] != 0) {
				bt_json_begin_object(writer);
				bt_json_write_member(writer, "nodeName", answer->nodes[j].name);
				bt_json_write_member_int64(writer, "replicas", member->on_nodes[j]);
				bt_json_end_object(writer);
			}
		}
		bt_json_end_array(writer);
		if (member->spec->group != NULL) {
			bt_json_write_member_int64(
				writer, "podsPerReplica", member->spec->members.count);
			bt_json_begin_member_array(writer, "placements");
			for (uint32_t j = 0; j < member->placements.count; j++) {
				bt_json_begin_object(writer);
				bt_json_write_member(
					writer, "name", member->placements.items[j].name);
				bt_json_write_member_int64(
					writer, "replicas", member->placements.items[j].copies);
				bt_json_end_object(writer);
			}
			bt_json_end_array(writer);
		}
		bt_json_begin_member_array(writer, "summary");
		for (uint32_t j = 0; j < member->stop.reasons.count; j++) {
			bt_json_begin_object(writer);
			bt_json_write_member(writer, "reason", member->stop.reasons.items[j].text);
			bt_json_write_member_int64(
				writer, "count", (int64_t)member->stop.reasons.items[j].node_count);
			bt_json_end_object(writer);
		}
		bt_json_end_array(writer);
		bt_json_begin_member_object(writer, "stopped");
		bt_json_write_member_c(writer, "type", member->stop.type);
		bt_json_write_member(writer, "message", member->stop.message);
		bt_json_write_member(writer, "tightest", member->stop.hint);
		bt_json_write_member_int64(writer, "atReplicas", member->stop.total);
		bt_json_end_object(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	if (answer->member_count > 1) {
		bt_json_write_member_int64(writer, "rounds", answer->round_count);
	}
	bt_json_write_member_int64(writer, "nodes", answer->node_count);
	/* Amounts in the same units as simulate's nodes. */
	bt_json_begin_member_array(writer, "utilization");
	for (uint32_t i = 0; i < answer->total_count; i++) {
		const struct bt_capacity_total *total = &answer->totals[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "resource", total->resource);
		bt_json_write_member_c(
			writer, "unit", bt_str_equal_c(total->resource, "cpu") ? "milli" : "1");
		bt_json_write_member_int64(writer, "before", total->before);
		bt_json_write_member_int64(writer, "after", total->after);
		bt_json_write_member_int64(writer, "allocatable", total->allocatable);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

struct answers {
	const struct bt_capacity_answer *items;
	uint32_t count;
};

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct answers *answers = answer;
	if (answers->count == 1) {
		write_review(writer, &answers->items[0]);
		return;
	}
	bt_json_begin_object(writer);
	bt_json_begin_member_array(writer, "items");
	for (uint32_t i = 0; i < answers->count; i++) {
		write_review(writer, &answers->items[i]);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct answers *answers = answer;
	for (uint32_t i = 0; i < answers->count; i++) {
		bt_strbuf_append_c(out, i == 0 ? "" : "\n");
		capacity_write_table(&answers->items[i], wide, out);
	}
}

int bt_capacity_write(const struct bt_capacity_answer *answers, uint32_t count,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err)
{
	const struct answers all = {answers, count};
	return bt_output_write(format, write_text, write_json, &all, out, err);
}
