/* SPDX-License-Identifier: Apache-2.0 */
#include "api/amount.h"
#include "cli/output.h"
#include "cli/pod_claims.h"
#include "cli/table.h"

static void append_share(struct bt_strbuf *out, int64_t requested, int64_t allocatable)
{
	if (allocatable > 0) {
		bt_strbuf_printf(out, " (%.0f%%)", 100.0 * (double)requested / (double)allocatable);
	}
}

/** --- pods --- */

static void add_pod_name(struct bt_table *table, struct bt_str namespace_, struct bt_str pod_name)
{
	struct bt_strbuf name = {0};
	bt_strbuf_append_str(&name, namespace_);
	bt_strbuf_append_char(&name, '/');
	bt_strbuf_append_str(&name, pod_name);
	bt_table_add(table, bt_strbuf_str(&name));
	bt_strbuf_finish(&name);
}

/** Known only for pods that went through a scheduling cycle. */
static void add_wide_cells(struct bt_table *table, const struct bt_simulated_pod *entry)
{
	bool cycled = entry->fate == BT_FATE_SCHEDULED || entry->fate == BT_FATE_UNSCHEDULABLE ||
		entry->fate == BT_FATE_SCHEDULER_ERROR;
	bt_strbuf_printf(&table->text, "%d", bt_pod_priority(entry->pod));
	bt_table_end_cell(table);
	if (!cycled) {
		for (int i = 0; i < 4; i++) {
			bt_table_add_c(table, "-");
		}
		return;
	}
	bt_amount_append_cpu(&table->text, entry->cpu_milli);
	bt_table_end_cell(table);
	bt_amount_append_bytes(&table->text, entry->memory_bytes);
	bt_table_end_cell(table);
	if (entry->fate == BT_FATE_SCHEDULED && entry->feasible_count > 1) {
		bt_strbuf_printf(&table->text, "%lld", (long long)entry->score);
	} else {
		bt_strbuf_append_char(&table->text, '-');
	}
	bt_table_end_cell(table);
	bt_strbuf_printf(&table->text, "%u", entry->feasible_count);
	bt_table_end_cell(table);
}

static void write_pods(const struct bt_simulation *simulation, bool wide, struct bt_strbuf *out)
{
	static const char *const headings[] = {
		"POD", "NODE", "PRIORITY", "CPU", "MEMORY", "SCORE", "FITTING", "STATUS"};
	struct bt_table table = {.column_count = wide ? 8 : 3};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
		if (wide || i < 2 || i + 1 == BT_ARRAY_LENGTH(headings)) {
			bt_table_add_c(&table, headings[i]);
		}
	}
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		add_pod_name(&table, entry->pod->metadata.namespace_, entry->pod->metadata.name);
		bt_table_add(
			&table, entry->fate == BT_FATE_SCHEDULED ? entry->node_name : BT_STR("-"));
		if (wide) {
			add_wide_cells(&table, entry);
		}
		/* The last column: its width pads nothing, so that long messages cost no room. */
		struct bt_strbuf status = {0};
		bt_strbuf_append_c(&status, bt_fate_name(entry->fate));
		if (entry->nominated_node_name.length != 0) {
			bt_strbuf_append_c(&status, ", nominated to ");
			bt_strbuf_append_str(&status, entry->nominated_node_name);
		}
		if (entry->fate != BT_FATE_SCHEDULED) {
			bt_strbuf_append_c(&status, ": ");
			bt_strbuf_append_str(&status, entry->message);
		}
		bt_table_add(&table, bt_strbuf_str(&status));
		bt_strbuf_finish(&status);
	}
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

/** --- devices --- */

struct device_rows {
	struct bt_table table;
	const struct bt_pod *pod;
};

static void add_device(void *context, const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *device)
{
	struct device_rows *rows = context;
	struct bt_strbuf path = {0};
	add_pod_name(&rows->table, rows->pod->metadata.namespace_, rows->pod->metadata.name);
	bt_table_add(&rows->table, claim->metadata.name);
	bt_table_add(&rows->table, device->request);
	bt_strbuf_append_str(&path, device->driver);
	bt_strbuf_append_char(&path, '/');
	bt_strbuf_append_str(&path, device->pool);
	bt_strbuf_append_char(&path, '/');
	bt_strbuf_append_str(&path, device->device);
	bt_table_add(&rows->table, bt_strbuf_str(&path));
	bt_strbuf_finish(&path);
}

/** --- evictions --- */

static void write_evictions(
	const struct bt_simulation *simulation, bool wide, struct bt_strbuf *out)
{
	struct bt_table table = {.column_count = wide ? 4 : 3};
	bt_table_add_c(&table, "EVICTED");
	bt_table_add_c(&table, "NODE");
	if (wide) {
		bt_table_add_c(&table, "PRIORITY");
	}
	bt_table_add_c(&table, "FOR");
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		const struct bt_object_meta *preemptor =
			&simulation->pods.items[eviction->preemptor].pod->metadata;
		add_pod_name(&table, eviction->namespace_, eviction->name);
		bt_table_add(&table, eviction->node_name);
		if (wide) {
			bt_strbuf_printf(&table.text, "%d", eviction->priority);
			bt_table_end_cell(&table);
		}
		add_pod_name(&table, preemptor->namespace_, preemptor->name);
	}
	bt_table_write(&table, out);
	bt_table_finish(&table);
}

/** --- nodes --- */

static void add_node(
	struct bt_table *table, const struct bt_node_table *nodes, uint32_t slot, bool wide)
{
	int64_t cpu = nodes->requested_cpu_milli[slot];
	int64_t memory = nodes->requested_memory_bytes[slot];
	bt_table_add(table, bt_node_table_name(nodes, slot));
	bt_strbuf_printf(&table->text, "%lld/%lld", (long long)nodes->pod_count[slot],
		(long long)nodes->allocatable_pods[slot]);
	bt_table_end_cell(table);
	bt_amount_append_cpu(&table->text, cpu);
	bt_strbuf_append_char(&table->text, '/');
	bt_amount_append_cpu(&table->text, nodes->allocatable_cpu_milli[slot]);
	append_share(&table->text, cpu, nodes->allocatable_cpu_milli[slot]);
	bt_table_end_cell(table);
	bt_amount_append_bytes(&table->text, memory);
	bt_strbuf_append_char(&table->text, '/');
	bt_amount_append_bytes(&table->text, nodes->allocatable_memory_bytes[slot]);
	append_share(&table->text, memory, nodes->allocatable_memory_bytes[slot]);
	bt_table_end_cell(table);
	if (wide) {
		/* Extended and other resources that the node has or that are requested on it:
		 * "NAME=used/total".
		 */
		struct bt_strbuf cell = {0};
		for (uint32_t i = 0; i < nodes->scalars.count; i++) {
			const struct bt_scalar_column *column = &nodes->scalars.items[i];
			int64_t allocatable = column->allocatable[slot];
			int64_t requested = column->requested[slot];
			if (allocatable == 0 && requested == 0) {
				continue;
			}
			bt_strbuf_append_c(&cell, cell.length != 0 ? "," : "");
			bt_strbuf_append_str(&cell, bt_symbol_text(nodes->symbols, column->name));
			bt_strbuf_printf(
				&cell, "=%lld/%lld", (long long)requested, (long long)allocatable);
		}
		bt_table_add(table, bt_strbuf_str(&cell));
		bt_strbuf_finish(&cell);
	}
}

void bt_output_write_tables(
	const struct bt_simulation *simulation, bool wide, struct bt_strbuf *out)
{
	if (simulation->pods.count != 0) {
		write_pods(simulation, wide, out);
		bt_strbuf_append_char(out, '\n');
	}
	if (wide) {
		/* What placed pods got through their claims. */
		static const char *const headings[] = {"POD", "CLAIM", "REQUEST", "DEVICE"};
		struct device_rows rows = {.table.column_count = BT_ARRAY_LENGTH(headings)};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(headings); i++) {
			bt_table_add_c(&rows.table, headings[i]);
		}
		for (uint32_t i = 0; i < simulation->pods.count; i++) {
			const struct bt_simulated_pod *entry = &simulation->pods.items[i];
			rows.pod = entry->pod;
			if (entry->fate == BT_FATE_SCHEDULED) {
				bt_pod_claims_for_devices(
					simulation->engine->state, entry->pod, add_device, &rows);
			}
		}
		if (rows.table.cell_ends.count > BT_ARRAY_LENGTH(headings)) {
			bt_table_write(&rows.table, out);
			bt_strbuf_append_char(out, '\n');
		}
		bt_table_finish(&rows.table);
	}
	if (simulation->evictions.count != 0) {
		write_evictions(simulation, wide, out);
		bt_strbuf_append_char(out, '\n');
	}
	if (simulation->node_count != 0) {
		static const char *const headings[] = {"NODE", "PODS", "CPU", "MEMORY", "OTHER"};
		struct bt_table table = {.column_count = wide ? 5 : 4};
		uint32_t *slots = bt_output_node_slots(simulation);
		for (uint32_t i = 0; i < table.column_count; i++) {
			bt_table_add_c(&table, headings[i]);
		}
		for (uint32_t i = 0; i < simulation->node_count; i++) {
			add_node(&table, &simulation->engine->state->nodes, slots[i], wide);
		}
		bt_table_write(&table, out);
		bt_table_finish(&table);
		bt_free(slots);
		bt_strbuf_append_char(out, '\n');
	}
	bt_strbuf_printf(out, "%u placed, %u pending", simulation->counts[BT_FATE_SCHEDULED],
		bt_simulation_pending_count(simulation));
	if (simulation->counts[BT_FATE_DELETING] != 0) {
		bt_strbuf_printf(out, ", %u being deleted", simulation->counts[BT_FATE_DELETING]);
	}
	if (simulation->evictions.count != 0) {
		bt_strbuf_printf(out, ", %u evicted", simulation->evictions.count);
	}
	bt_strbuf_printf(out, "; %u running before, %u nodes\n", simulation->running_count,
		simulation->node_count);
}
