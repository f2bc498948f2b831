/* SPDX-License-Identifier: Apache-2.0 */
/** What differs between the nodes of both sides, and how full they are. */
#include <stdlib.h>

#include "api/change.h"
#include "api/node.h"
#include "base/assert.h"
#include "cli/whatif/whatif_report.h"

static const struct bt_node_table *table_of(const struct bt_whatif_side *side)
{
	return &side->engine->state->nodes;
}

/** --- amounts --- */

struct bt_whatif_amount bt_whatif_amount_of(const struct bt_scalar_column *column, uint32_t slot)
{
	struct bt_whatif_amount amount = {0};
	if (column != NULL && slot != BT_SLOT_NONE) {
		amount.requested = column->requested[slot];
		amount.allocatable = column->allocatable[slot];
	}
	return amount;
}

struct bt_whatif_usage bt_whatif_usage_of(const struct bt_whatif_side *side, uint32_t slot)
{
	const struct bt_node_table *table = table_of(side);
	return (struct bt_whatif_usage){
		.pods = {table->pod_count[slot], table->allocatable_pods[slot]},
		.cpu_milli = {table->requested_cpu_milli[slot], table->allocatable_cpu_milli[slot]},
		.memory_bytes = {table->requested_memory_bytes[slot],
			table->allocatable_memory_bytes[slot]},
		.ephemeral_bytes = {table->requested_ephemeral_bytes[slot],
			table->allocatable_ephemeral_bytes[slot]},
	};
}

static void add_amount(struct bt_whatif_amount *total, struct bt_whatif_amount amount)
{
	/* Each is an int64 of the input: together they may be more. */
	if (BT_ADD_OVERFLOW(total->requested, amount.requested, &total->requested)) {
		total->requested = INT64_MAX;
	}
	if (BT_ADD_OVERFLOW(total->allocatable, amount.allocatable, &total->allocatable)) {
		total->allocatable = INT64_MAX;
	}
}

static void add_usage(struct bt_whatif_usage *total, const struct bt_whatif_usage *usage)
{
	add_amount(&total->pods, usage->pods);
	add_amount(&total->cpu_milli, usage->cpu_milli);
	add_amount(&total->memory_bytes, usage->memory_bytes);
	add_amount(&total->ephemeral_bytes, usage->ephemeral_bytes);
}

static bool same_amount(struct bt_whatif_amount a, struct bt_whatif_amount b)
{
	return a.requested == b.requested && a.allocatable == b.allocatable;
}

static bool same_usage(const struct bt_whatif_report *report, const struct bt_whatif_node *node)
{
	for (uint32_t i = 0; i < report->resources.count; i++) {
		const struct bt_whatif_resource *resource = &report->resources.items[i];
		if (!same_amount(bt_whatif_amount_of(resource->before, node->before_slot),
			    bt_whatif_amount_of(resource->after, node->after_slot))) {
			return false;
		}
	}
	struct bt_whatif_usage a = bt_whatif_usage_of(report->before, node->before_slot);
	struct bt_whatif_usage b = bt_whatif_usage_of(report->after, node->after_slot);
	return same_amount(a.pods, b.pods) && same_amount(a.cpu_milli, b.cpu_milli) &&
		same_amount(a.memory_bytes, b.memory_bytes) &&
		same_amount(a.ephemeral_bytes, b.ephemeral_bytes);
}

/** --- resources --- */

static int compare_resources(const void *left, const void *right)
{
	const struct bt_whatif_resource *a = left;
	const struct bt_whatif_resource *b = right;
	return bt_str_compare(a->name, b->name);
}

/** Those of both sides, by name; one that both know stands there once. */
static void list_resources(struct bt_whatif_report *report)
{
	const struct bt_whatif_side *sides[] = {report->before, report->after};
	for (size_t side = 0; side < BT_ARRAY_LENGTH(sides); side++) {
		const struct bt_node_table *table = table_of(sides[side]);
		for (uint32_t i = 0; i < table->scalars.count; i++) {
			const struct bt_scalar_column *column = &table->scalars.items[i];
			struct bt_whatif_resource resource = {
				.name = bt_symbol_text(table->symbols, column->name),
				.before = side == 0 ? column : NULL,
				.after = side == 1 ? column : NULL,
			};
			bt_vec_push(&report->resources, resource);
		}
	}
	if (report->resources.count > 1) {
		qsort(report->resources.items, report->resources.count,
			sizeof(report->resources.items[0]), compare_resources);
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_whatif_resource resource = report->resources.items[i];
		struct bt_whatif_resource *last =
			count != 0 ? &report->resources.items[count - 1] : NULL;
		if (last != NULL && bt_str_equal(last->name, resource.name)) {
			last->before = resource.before != NULL ? resource.before : last->before;
			last->after = resource.after != NULL ? resource.after : last->after;
		} else {
			report->resources.items[count++] = resource;
		}
	}
	report->resources.count = count;
}

/** --- one node --- */

static void compare_objects(struct bt_whatif_report *report, struct bt_whatif_node *entry)
{
	const struct bt_manifests *base = report->whatif->base;
	const struct bt_manifests *work = &report->whatif->work;
	uint32_t index = bt_manifests_find(work, BT_KIND_NODE, BT_STR(""), entry->name);
	entry->drained = report->whatif->marks.items[index].drained;
	if (entry->before_slot == BT_SLOT_NONE ||
		base->objects.items[index].object == work->objects.items[index].object) {
		return;
	}
	const struct bt_node *before =
		bt_object_value(base->objects.items[index].object, BT_KIND_NODE);
	const struct bt_node *after =
		bt_object_value(work->objects.items[index].object, BT_KIND_NODE);
	entry->cordoned = after->spec.unschedulable && !before->spec.unschedulable;
	entry->uncordoned = before->spec.unschedulable && !after->spec.unschedulable;
	entry->taints = !bt_taint_list_equal(&before->spec.taints, &after->spec.taints);
	entry->labels = !bt_str_map_equal(&before->metadata.labels, &after->metadata.labels);
	struct bt_node like = *after;
	like.spec = before->spec;
	like.metadata.labels = before->metadata.labels;
	entry->other = !bt_message_equal(&bt_node_message, before, &like);
}

static void compare_node(struct bt_whatif_report *report, const uint32_t *had, const uint32_t *has)
{
	BT_ASSERT(had != NULL || has != NULL);
	struct bt_whatif_node entry = {
		.name = had != NULL ? bt_node_table_name(table_of(report->before), *had)
				    : bt_node_table_name(table_of(report->after), *has),
		.before_slot = had != NULL ? *had : BT_SLOT_NONE,
		.after_slot = has != NULL ? *has : BT_SLOT_NONE,
	};
	if (has != NULL) {
		compare_objects(report, &entry);
	}
	if (entry.before_slot != BT_SLOT_NONE) {
		struct bt_whatif_usage usage =
			bt_whatif_usage_of(report->before, entry.before_slot);
		add_usage(&report->total_before, &usage);
	}
	if (entry.after_slot != BT_SLOT_NONE) {
		struct bt_whatif_usage usage = bt_whatif_usage_of(report->after, entry.after_slot);
		add_usage(&report->total_after, &usage);
	}
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_whatif_resource *resource = &report->resources.items[i];
		add_amount(&resource->total_before,
			bt_whatif_amount_of(resource->before, entry.before_slot));
		add_amount(&resource->total_after,
			bt_whatif_amount_of(resource->after, entry.after_slot));
	}
	if (entry.before_slot == BT_SLOT_NONE || entry.after_slot == BT_SLOT_NONE ||
		entry.drained || entry.cordoned || entry.uncordoned || entry.taints ||
		entry.labels || entry.other || !same_usage(report, &entry)) {
		bt_vec_push(&report->nodes, entry);
	}
}

/** Below 0: the first of the before side comes next; 0: both are the same node. */
static int compare_names(
	const struct bt_whatif_report *report, const uint32_t *had, const uint32_t *has)
{
	if (had == NULL || has == NULL) {
		return had == NULL ? 1 : -1;
	}
	return bt_str_compare(bt_node_table_name(table_of(report->before), *had),
		bt_node_table_name(table_of(report->after), *has));
}

void bt_whatif_compare_nodes(struct bt_whatif_report *report)
{
	list_resources(report);
	uint32_t *before = bt_output_node_slots(&report->before->simulation);
	uint32_t *after = bt_output_node_slots(&report->after->simulation);
	report->node_count_before = report->before->simulation.node_count;
	report->node_count_after = report->after->simulation.node_count;
	uint32_t b = 0;
	uint32_t a = 0;
	while (b < report->node_count_before || a < report->node_count_after) {
		const uint32_t *had = b < report->node_count_before ? &before[b] : NULL;
		const uint32_t *has = a < report->node_count_after ? &after[a] : NULL;
		int order = compare_names(report, had, has);
		compare_node(report, order <= 0 ? had : NULL, order >= 0 ? has : NULL);
		b += order <= 0;
		a += order >= 0;
	}
	bt_free(before);
	bt_free(after);
}
