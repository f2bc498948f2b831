/* SPDX-License-Identifier: Apache-2.0 */
/** The report for programs: JSON and YAML; its members are documented in berth-whatif(1). */
#include "base/assert.h"
#include "cli/json_members.h"
#include "cli/whatif/whatif_report.h"

#define JSON_INDENT 2

static void write_changes(struct bt_json_writer *writer, const struct bt_whatif_report *report)
{
	bt_json_begin_member_array(writer, "changes");
	for (uint32_t i = 0; i < report->changes->list.count; i++) {
		const struct bt_whatif_change *change = &report->changes->list.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member_c(writer, "type", bt_whatif_kind_name(change->kind));
		bt_json_write_member_c(writer, "value", change->text);
		bt_json_end_object(writer);
	}
	if (report->new_config != NULL) {
		bt_json_begin_object(writer);
		bt_json_write_member_c(writer, "type", "new-config");
		bt_json_write_member_c(writer, "value", report->new_config);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

/** --- pods --- */

static void write_pod(struct bt_json_writer *writer, const struct bt_whatif_difference *difference)
{
	const struct bt_whatif_pod *before = difference->before;
	const struct bt_whatif_pod *after = difference->after;
	const struct bt_whatif_pod *pod = after != NULL ? after : before;
	bool placed = after != NULL && !after->preempted;
	bool pending = placed && after->node_name.length == 0;
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "namespace", pod->namespace_);
	bt_json_write_member(writer, "name", pod->name);
	bt_json_write_member_c(writer, "change", bt_whatif_effect_name(difference->effect));
	bt_json_write_member(writer, "nodeBefore",
		before != NULL && !before->preempted ? before->node_name : BT_STR(""));
	bt_json_write_member(writer, "nodeAfter", placed ? after->node_name : BT_STR(""));
	bt_json_write_member_bool(writer, "isNew", before == NULL);
	bt_json_write_member_c(writer, "cause", difference->reason);
	bt_json_write_member_c(writer, "reason", pending ? bt_fate_name(after->fate) : "");
	bt_json_write_member(writer, "message", pending ? after->message : BT_STR(""));
	bt_json_write_member_int64(writer, "priority", pod->priority);
	bt_json_begin_member_object(writer, "owner");
	bt_json_write_member(writer, "kind", pod->owner_kind);
	bt_json_write_member(writer, "name", pod->owner_name);
	bt_json_end_object(writer);
	if (difference->effect == BT_EFFECT_PREEMPTED) {
		BT_ASSERT(after != NULL);
		bt_json_begin_member_object(writer, "preemptor");
		bt_json_write_member(writer, "namespace", after->preemptor_namespace);
		bt_json_write_member(writer, "name", after->preemptor_name);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
}

static void write_budgets(struct bt_json_writer *writer, const struct bt_whatif *whatif)
{
	bt_json_begin_member_array(writer, "budgets");
	for (uint32_t i = 0; i < whatif->budgets.count; i++) {
		const struct bt_whatif_budget *budget = &whatif->budgets.items[i];
		if (budget->evictions == 0) {
			continue;
		}
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "namespace", budget->namespace_);
		bt_json_write_member(writer, "name", budget->name);
		bt_json_write_member_int64(writer, "disruptionsAllowed", budget->allowed);
		bt_json_write_member_int64(writer, "evictions", budget->evictions);
		bt_json_write_member_int64(writer, "heldUp", budget->held);
		bt_json_write_member_int64(writer, "inSeveralBudgets", budget->shared);
		bt_json_write_member_int64(writer, "pendingReplacements", budget->still_pending);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

/** --- nodes --- */

static void write_amount(
	struct bt_json_writer *writer, struct bt_str name, struct bt_whatif_amount amount)
{
	bt_json_write_name(writer, name);
	bt_json_begin_object(writer);
	bt_json_write_member_int64(writer, "requested", amount.requested);
	bt_json_write_member_int64(writer, "allocatable", amount.allocatable);
	bt_json_end_object(writer);
}

static void begin_usage(struct bt_json_writer *writer, const struct bt_whatif_usage *usage)
{
	bt_json_begin_object(writer);
	write_amount(writer, BT_STR("pods"), usage->pods);
	write_amount(writer, BT_STR("cpuMilli"), usage->cpu_milli);
	write_amount(writer, BT_STR("memoryBytes"), usage->memory_bytes);
	write_amount(writer, BT_STR("ephemeralStorageBytes"), usage->ephemeral_bytes);
	bt_json_begin_member_object(writer, "resources");
}

static void write_other(
	struct bt_json_writer *writer, struct bt_str name, struct bt_whatif_amount amount)
{
	if (amount.requested != 0 || amount.allocatable != 0) {
		write_amount(writer, name, amount);
	}
}

static void end_usage(struct bt_json_writer *writer)
{
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

/** is_after: of that side. null where it does not have the node. */
static void write_node_side(struct bt_json_writer *writer, const struct bt_whatif_report *report,
	const struct bt_whatif_node *node, bool is_after)
{
	uint32_t slot = is_after ? node->after_slot : node->before_slot;
	bt_json_write_name_c(writer, is_after ? "after" : "before");
	if (slot == BT_SLOT_NONE) {
		bt_json_write_null(writer);
		return;
	}
	struct bt_whatif_usage usage =
		bt_whatif_usage_of(is_after ? report->after : report->before, slot);
	begin_usage(writer, &usage);
	for (uint32_t i = 0; i < report->resources.count; i++) {
		const struct bt_whatif_resource *resource = &report->resources.items[i];
		write_other(writer, resource->name,
			bt_whatif_amount_of(is_after ? resource->after : resource->before, slot));
	}
	end_usage(writer);
}

static void write_node_changes(struct bt_json_writer *writer, const struct bt_whatif_node *node)
{
	const struct {
		bool holds;
		const char *name;
	} rows[] = {
		{node->before_slot == BT_SLOT_NONE, "added"},
		{node->after_slot == BT_SLOT_NONE, "removed"},
		{node->cordoned, "cordoned"},
		{node->uncordoned, "uncordoned"},
		{node->drained, "drained"},
		{node->taints, "taints"},
		{node->labels, "labels"},
		{node->other, "other"},
	};
	bt_json_begin_member_array(writer, "changes");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (rows[i].holds) {
			bt_json_write_c(writer, rows[i].name);
		}
	}
	bt_json_end_array(writer);
}

static void write_nodes(struct bt_json_writer *writer, const struct bt_whatif_report *report)
{
	bt_json_begin_member_array(writer, "nodes");
	for (uint32_t i = 0; i < report->nodes.count; i++) {
		const struct bt_whatif_node *node = &report->nodes.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "name", node->name);
		write_node_changes(writer, node);
		write_node_side(writer, report, node, false);
		write_node_side(writer, report, node, true);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

static void write_total(
	struct bt_json_writer *writer, const struct bt_whatif_report *report, bool is_after)
{
	bt_json_write_name_c(writer, is_after ? "after" : "before");
	begin_usage(writer, is_after ? &report->total_after : &report->total_before);
	for (uint32_t i = 0; i < report->resources.count; i++) {
		const struct bt_whatif_resource *resource = &report->resources.items[i];
		write_other(writer, resource->name,
			is_after ? resource->total_after : resource->total_before);
	}
	end_usage(writer);
}

static void write_json(
	const struct bt_whatif_report *report, uint32_t indent, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, indent);
	bt_json_begin_object(&writer);
	write_changes(&writer, report);
	bt_json_begin_member_object(&writer, "summary");
	bt_json_write_member_bool(&writer, "worse", bt_whatif_is_worse(report));
	bt_json_write_member_bool(&writer, "fromScratch", report->from_scratch);
	for (int effect = 0; effect < BT_EFFECT__COUNT; effect++) {
		bt_json_write_member_int64(&writer,
			bt_whatif_effect_name((enum bt_whatif_effect)effect),
			report->counts[effect]);
	}
	bt_json_write_member_int64(&writer, "pendingBefore", report->before->pending_count);
	bt_json_write_member_int64(&writer, "pendingAfter", report->after->pending_count);
	bt_json_write_member_int64(&writer, "nodesBefore", report->node_count_before);
	bt_json_write_member_int64(&writer, "nodesAfter", report->node_count_after);
	bt_json_end_object(&writer);
	bt_json_begin_member_array(&writer, "pods");
	for (uint32_t i = 0; i < report->pods.count; i++) {
		write_pod(&writer, &report->pods.items[i]);
	}
	bt_json_end_array(&writer);
	write_budgets(&writer, report->whatif);
	write_nodes(&writer, report);
	bt_json_begin_member_object(&writer, "cluster");
	write_total(&writer, report, false);
	write_total(&writer, report, true);
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
}

int bt_whatif_write(const struct bt_whatif_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	int result = 0;
	switch (format) {
	case BT_OUTPUT_JSON:
		write_json(report, JSON_INDENT, out);
		bt_strbuf_append_char(out, '\n');
		break;
	case BT_OUTPUT_YAML:
		write_json(report, 0, &json);
		result = bt_output_yaml_from_json(bt_strbuf_str(&json), out, err);
		break;
	case BT_OUTPUT_TABLE:
	case BT_OUTPUT_WIDE:
	case BT_OUTPUT_NAME:
		bt_whatif_write_tables(report, format == BT_OUTPUT_WIDE, out);
		break;
	}
	bt_strbuf_finish(&json);
	return result;
}
