/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/simulation_output.h"

#include "api/text_template.h"
#include "dra/dra.h"

/** Limit of names for the pending pods of a group. */
#define GROUP_NAMES 3

/** --- pods --- */

/**
 * If the pod at `index` is pending and has an owner: how many pods in a row after it have the same
 * owner and are pending for the same reason. Otherwise 0.
 */
static uint32_t count_alike(const struct bt_simulation *simulation, uint32_t index)
{
	const struct bt_simulated_pod *first = &simulation->pods.items[index];
	struct bt_pod_owner owner = bt_pod_owner_of(&first->pod->metadata);
	uint32_t count = 0;
	if (owner.kind.length == 0 || !bt_fate_is_pending(first->fate)) {
		return 0;
	}
	for (uint32_t i = index + 1; i < simulation->pods.count; i++, count++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_pod_owner other = bt_pod_owner_of(&entry->pod->metadata);
		if (entry->fate != first->fate || !bt_str_equal(other.kind, owner.kind) ||
			!bt_str_equal(other.name, owner.name) ||
			!bt_str_equal(
				entry->pod->metadata.namespace_, first->pod->metadata.namespace_) ||
			!bt_str_equal(entry->nominated_node_name, first->nominated_node_name) ||
			!bt_str_equal(entry->message, first->message)) {
			break;
		}
	}
	return count;
}

/**
 * Add one row for all pending pods of a group, with the status "Unschedulable: pod group is
 * unschedulable; 6 pods wait: a, b, c and 3 more; b: 0/4 nodes ...".
 */
static void add_group(struct bt_table *table, const struct bt_simulation *simulation,
	const struct bt_simulated_group *group)
{
	struct bt_strbuf *out = &table->text;
	uint32_t shown = 0;
	bt_table_add_cells(table, "podgroup/%m", group->namespace_, group->name);
	for (uint32_t i = 2; i < table->column_count; i++) {
		bt_table_add_c(table, "-");
	}
	bt_text_append(out, "%c: [%p; ]%u {pod waits|pods wait}: ",
		bt_fate_name(simulation->pods.items[group->first_pending].fate), group->message,
		group->pending_count);
	for (uint32_t i = group->first_pending; shown < group->pending_count && shown < GROUP_NAMES;
		i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (bt_fate_is_pending(entry->fate) &&
			bt_str_equal(entry->group_name, group->name) &&
			bt_str_equal(entry->pod->metadata.namespace_, group->namespace_)) {
			bt_text_append(
				out, "%c%p", shown++ != 0 ? ", " : "", entry->pod->metadata.name);
		}
	}
	bool is_stopped = group->stopped != UINT32_MAX;
	bt_text_append(out, "[ and %u more][%?; %p: %p]", group->pending_count - shown, is_stopped,
		is_stopped ? simulation->pods.items[group->stopped].pod->metadata.name : BT_STR(""),
		group->reason);
	bt_table_end_cell(table);
}

static void write_pods(const struct bt_simulation *simulation, bool wide, struct bt_strbuf *out)
{
	uint32_t group_count;
	struct bt_simulated_group *groups = bt_simulation_groups(simulation, NULL, &group_count);
	uint32_t *group_at = BT_NEW_ARRAY(uint32_t, simulation->pods.count);
	struct bt_table table;
	BT_TABLE_BEGIN(&table, "POD", "NODE", wide ? "PRIORITY" : NULL, wide ? "CPU" : NULL,
		wide ? "MEMORY" : NULL, wide ? "SCORE" : NULL, wide ? "FITTING" : NULL, "STATUS");
	for (uint32_t i = 0; i < group_count; i++) {
		if (groups[i].pending_count != 0) {
			group_at[groups[i].first_pending] = i + 1;
		}
	}
	bool folds = !wide && bt_output_columns() != 0;
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->group_name.length != 0 && bt_fate_is_pending(entry->fate)) {
			if (group_at[i] != 0) {
				add_group(&table, simulation, &groups[group_at[i] - 1]);
			}
			continue;
		}
		uint32_t more = folds ? count_alike(simulation, i) : 0;
		bt_table_add_cells(&table, "%m[ and %u more]\t%p", entry->pod->metadata.namespace_,
			entry->pod->metadata.name, more,
			entry->fate == BT_FATE_SCHEDULED ? entry->node_name : BT_STR("-"));
		i += more;
		if (wide) {
			bool is_placed = entry->fate == BT_FATE_SCHEDULED;
			int32_t priority = bt_pod_priority(entry->pod);
			if (!is_placed && entry->fate != BT_FATE_UNSCHEDULABLE &&
				entry->fate != BT_FATE_SCHEDULER_ERROR) {
				bt_table_add_cells(&table, "%i\t-\t-\t-\t-", priority);
			} else {
				struct bt_pod_info info;
				bt_pod_info_init_pending(
					simulation->engine->state, entry->pod, &info);
				bt_table_add_cells(&table, "%i\t%a\t%a", priority, BT_STR("cpu"),
					info.shape->requested[BT_CPU_MILLI], BT_AMOUNT_NEAREST,
					BT_STR("memory"), info.shape->requested[BT_MEMORY_BYTES],
					BT_AMOUNT_NEAREST);
				bt_pod_info_finish_pending(simulation->engine->state, &info);
				bool is_scored = is_placed && entry->feasible_count > 1;
				bt_table_add_cells(&table, is_scored ? "%d" : "-", entry->score);
				bt_table_add_cells(&table, "%u", entry->feasible_count);
			}
		}
		/*
		 * The status is the last cell and unpadded, so that a long message does not widen
		 * the other rows.
		 */
		bt_table_add_cells(&table, "%c[, nominated to %p][%?: %p]",
			bt_fate_name(entry->fate), entry->nominated_node_name,
			entry->fate != BT_FATE_SCHEDULED, entry->message);
	}
	bt_table_write(&table, out);
	bt_free(group_at);
	bt_free(groups);
}

/** --- devices --- */

/** A device that is allocated to a pod. */
struct device {
	const struct bt_resource_claim *claim;
	const struct bt_device_request_allocation_result *result;
};

struct devices {
	BT_VEC(struct device) list;
};

static void list_claim(
	struct devices *devices, const struct bt_object *object, const struct bt_pod *pod)
{
	const struct bt_resource_claim *claim =
		object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
	if (claim == NULL || claim->status.allocation == NULL ||
		!bt_resource_claim_is_reserved_by(claim, pod->metadata.uid)) {
		return;
	}
	for (uint32_t i = 0; i < claim->status.allocation->devices.results.count; i++) {
		struct device device = {claim, &claim->status.allocation->devices.results.items[i]};
		bt_vec_push(&devices->list, device);
	}
}

/** The devices of a placed pod; empty for other pods. The caller finishes the list. */
static struct devices list_devices(
	const struct bt_state *state, const struct bt_simulated_pod *entry)
{
	struct devices devices = {0};
	const struct bt_pod *pod = entry->pod;
	if (state->dra == NULL || entry->fate != BT_FATE_SCHEDULED) {
		return devices;
	}
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		list_claim(&devices,
			bt_dra_claim_of(state, pod, &pod->spec.resource_claims.items[i]), pod);
	}
	list_claim(&devices,
		bt_claim_cache_find_special(
			&state->dra->claims, pod->metadata.name, pod->metadata.uid),
		pod);
	return devices;
}

/** --- nodes --- */

static void add_use(
	struct bt_table *table, struct bt_str resource, int64_t requested, int64_t allocatable)
{
	bt_text_append(&table->text, "%a/%a", resource, requested, BT_AMOUNT_NEAREST, resource,
		allocatable, BT_AMOUNT_NEAREST);
	bt_amount_append_share(&table->text, requested, allocatable);
	bt_table_end_cell(table);
}

static void add_node(
	struct bt_table *table, const struct bt_node_table *nodes, uint32_t slot, bool wide)
{
	int64_t cpu = nodes->allocatable[BT_CPU_MILLI][slot];
	int64_t memory = nodes->allocatable[BT_MEMORY_BYTES][slot];
	bt_table_add_cells(table, "%p\t%d/%d", bt_node_table_name(nodes, slot),
		nodes->pod_count[slot], nodes->allocatable_pods[slot]);
	add_use(table, BT_STR("cpu"), nodes->requested[BT_CPU_MILLI][slot], cpu);
	add_use(table, BT_STR("memory"), nodes->requested[BT_MEMORY_BYTES][slot], memory);
	if (wide) {
		/*
		 * Append extended and other resources that the node has or that pods there request:
		 * "NAME=used/total".
		 */
		bool any = false;
		for (uint32_t i = 0; i < nodes->scalars.count; i++) {
			const struct bt_scalar_column *column = &nodes->scalars.items[i];
			int64_t allocatable = column->allocatable[slot];
			int64_t requested = column->requested[slot];
			if (allocatable == 0 && requested == 0) {
				continue;
			}
			bt_text_append(&table->text, "%c%p=%d/%d", any ? "," : "",
				bt_symbol_text(nodes->symbols, column->name), requested,
				allocatable);
			any = true;
		}
		bt_table_end_cell(table);
	}
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct bt_simulation *simulation = answer;
	if (simulation->pods.count != 0) {
		write_pods(simulation, wide, out);
		bt_strbuf_append_char(out, '\n');
	}
	if (wide) {
		/* Write the devices that placed pods got through their claims. */
		struct bt_table table;
		BT_TABLE_BEGIN(&table, "POD", "CLAIM", "REQUEST", "DEVICE");
		for (uint32_t i = 0; i < simulation->pods.count; i++) {
			const struct bt_simulated_pod *entry = &simulation->pods.items[i];
			struct devices devices = list_devices(simulation->engine->state, entry);
			for (uint32_t j = 0; j < devices.list.count; j++) {
				const struct device *device = &devices.list.items[j];
				bt_table_add_cells(&table, "%m\t%p\t%p\t%p/%p/%p",
					entry->pod->metadata.namespace_, entry->pod->metadata.name,
					device->claim->metadata.name, device->result->request,
					device->result->driver, device->result->pool,
					device->result->device);
			}
			bt_vec_finish(&devices.list);
		}
		if (table.cell_ends.count > table.column_count) {
			bt_table_write(&table, out);
			bt_strbuf_append_char(out, '\n');
		}
		bt_table_finish(&table);
	}
	if (simulation->evictions.count != 0) {
		struct bt_table table;
		BT_TABLE_BEGIN(&table, "EVICTED", "NODE", wide ? "PRIORITY" : NULL, "FOR");
		for (uint32_t i = 0; i < simulation->evictions.count; i++) {
			const struct bt_simulated_eviction *eviction =
				&simulation->evictions.items[i];
			const struct bt_object_meta *preemptor =
				&simulation->pods.items[eviction->preemptor].pod->metadata;
			bt_table_add_cells(&table, "%m\t%p", eviction->namespace_, eviction->name,
				eviction->node_name);
			if (wide) {
				bt_table_add_cells(&table, "%i", eviction->priority);
			}
			bt_table_add_cells(&table, "%m", preemptor->namespace_, preemptor->name);
		}
		bt_table_write(&table, out);
		bt_strbuf_append_char(out, '\n');
	}
	if (simulation->node_count != 0) {
		struct bt_table table;
		uint32_t *slots = bt_simulation_node_slots(simulation);
		BT_TABLE_BEGIN(&table, "NODE", "PODS", "CPU", "MEMORY", wide ? "OTHER" : NULL);
		for (uint32_t i = 0; i < simulation->node_count; i++) {
			add_node(&table, &simulation->engine->state->nodes, slots[i], wide);
		}
		bt_table_write(&table, out);
		bt_free(slots);
		bt_strbuf_append_char(out, '\n');
	}
	bt_text_append(out,
		"%u placed, %u pending[, %u being deleted][, %u evicted]; %u running before, %u "
		"{node|nodes}\n",
		simulation->counts[BT_FATE_SCHEDULED], bt_simulation_pending_count(simulation),
		simulation->counts[BT_FATE_DELETING], simulation->evictions.count,
		simulation->running_count, simulation->node_count);
}

/** --- JSON --- */

static void write_device(struct bt_json_writer *writer, const struct device *device)
{
	const struct bt_device_request_allocation_result *result = device->result;
	bt_json_write(writer, "{claim: %s, request: %s, driver: %s, pool: %s, device: %s",
		device->claim->metadata.name, result->request, result->driver, result->pool,
		result->device);
	if (result->share_id.data != NULL) {
		bt_json_write_member(writer, "shareID", result->share_id);
	}
	if (result->admin_access.present) {
		bt_json_write(writer, "adminAccess: %b", result->admin_access.value);
	}
	bt_json_end_object(writer);
}

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct bt_simulation *simulation = answer;
	bt_json_write(writer,
		"{apiVersion: 'berth.dev/v1', kind: 'Simulation', summary: {placed: %u, pending: "
		"%u, deleting: %u, evicted: %u, running: %u, nodes: %u}",
		simulation->counts[BT_FATE_SCHEDULED], bt_simulation_pending_count(simulation),
		simulation->counts[BT_FATE_DELETING], simulation->evictions.count,
		simulation->running_count, simulation->node_count);
	const struct bt_expansion *expansion = &simulation->expansion;
	if (expansion->refusals.count != 0) {
		bt_json_begin_member_array(writer, "refused");
	}
	for (uint32_t i = 0; i < expansion->refusals.count; i++) {
		const struct bt_refusal *refusal = &expansion->refusals.items[i];
		const struct bt_manifests_object *object =
			&expansion->cluster->objects.items[refusal->index];
		bt_json_write(writer, "{kind: %c, namespace: %s, name: %s, message: %s}",
			bt_kind_info(object->kind)->name, object->namespace_, object->name,
			refusal->message);
	}
	if (expansion->refusals.count != 0) {
		bt_json_end_array(writer);
	}
	bt_json_begin_member_array(writer, "pods");
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		bt_json_write(writer, "{namespace: %s, name: %s", entry->pod->metadata.namespace_,
			entry->pod->metadata.name);
		struct bt_pod_owner owner = bt_pod_owner_of(&entry->pod->metadata);
		if (owner.kind.length != 0) {
			bt_json_write(
				writer, "owner: {kind: %s, name: %s}", owner.kind, owner.name);
		}
		bt_json_write(writer,
			"reason: %c, node: %s, nominatedNode: %s, message: %s, podGroup?: %s, "
			"priority: %i, score: %d, feasibleNodes: %u",
			bt_fate_name(entry->fate), entry->node_name, entry->nominated_node_name,
			entry->message, entry->group_name, bt_pod_priority(entry->pod),
			entry->score, entry->feasible_count);
		struct devices devices = list_devices(simulation->engine->state, entry);
		if (devices.list.count != 0) {
			bt_json_begin_member_array(writer, "devices");
			for (uint32_t j = 0; j < devices.list.count; j++) {
				write_device(writer, &devices.list.items[j]);
			}
			bt_json_end_array(writer);
		}
		bt_vec_finish(&devices.list);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	uint32_t group_count;
	struct bt_simulated_group *groups = bt_simulation_groups(simulation, NULL, &group_count);
	if (group_count != 0) {
		bt_json_begin_member_array(writer, "podGroups");
		for (uint32_t i = 0; i < group_count; i++) {
			bt_json_write(writer,
				"{namespace: %s, name: %s, placed: %u, pending: %u, message: %s, "
				"reason: %s}",
				groups[i].namespace_, groups[i].name, groups[i].placed_count,
				groups[i].pending_count, groups[i].message, groups[i].reason);
		}
		bt_json_end_array(writer);
	}
	bt_free(groups);
	bt_json_begin_member_array(writer, "evictions");
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		const struct bt_object_meta *preemptor =
			&simulation->pods.items[eviction->preemptor].pod->metadata;
		bt_json_write(writer,
			"{namespace: %s, name: %s, node: %s, priority: %i, preemptor: {namespace: "
			"%s, name: %s}}",
			eviction->namespace_, eviction->name, eviction->node_name,
			eviction->priority, preemptor->namespace_, preemptor->name);
	}
	bt_json_write(writer, "], nodes: [");
	uint32_t *slots = bt_simulation_node_slots(simulation);
	for (uint32_t i = 0; i < simulation->node_count; i++) {
		const struct bt_node_table *nodes = &simulation->engine->state->nodes;
		uint32_t slot = slots[i];
		bt_json_write(writer, "{name: %s", bt_node_table_name(nodes, slot));
		bt_json_write_member_usage(writer, BT_STR("pods"), nodes->pod_count[slot],
			nodes->allocatable_pods[slot]);
		bt_json_write_member_usage(writer, BT_STR("cpuMilli"),
			nodes->requested[BT_CPU_MILLI][slot],
			nodes->allocatable[BT_CPU_MILLI][slot]);
		bt_json_write_member_usage(writer, BT_STR("memoryBytes"),
			nodes->requested[BT_MEMORY_BYTES][slot],
			nodes->allocatable[BT_MEMORY_BYTES][slot]);
		bt_json_write_member_usage(writer, BT_STR("ephemeralStorageBytes"),
			nodes->requested[BT_EPHEMERAL_BYTES][slot],
			nodes->allocatable[BT_EPHEMERAL_BYTES][slot]);
		bt_json_begin_member_object(writer, "resources");
		for (uint32_t j = 0; j < nodes->scalars.count; j++) {
			const struct bt_scalar_column *column = &nodes->scalars.items[j];
			if (column->allocatable[slot] != 0 || column->requested[slot] != 0) {
				bt_json_write_member_usage(writer,
					bt_symbol_text(nodes->symbols, column->name),
					column->requested[slot], column->allocatable[slot]);
			}
		}
		bt_json_write(writer, "}}");
	}
	bt_free(slots);
	bt_json_write(writer, "]}");
}

/** --- names --- */

int bt_simulation_write(const struct bt_simulation *simulation, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	if (format != BT_OUTPUT_NAME) {
		return bt_output_write(format, write_text, write_json, simulation, out, err);
	}
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		const struct bt_object_meta *meta = &entry->pod->metadata;
		if (entry->fate == BT_FATE_SCHEDULED) {
			bt_text_append(
				out, "pod/%m %p\n", meta->namespace_, meta->name, entry->node_name);
		}
	}
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		const struct bt_object_meta *preemptor =
			&simulation->pods.items[eviction->preemptor].pod->metadata;
		bt_text_append(out, "evicted/%m %p pod/%m\n", eviction->namespace_, eviction->name,
			eviction->node_name, preemptor->namespace_, preemptor->name);
	}
	return 0;
}
