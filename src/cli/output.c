/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/json_members.h"
#include "cli/pod_claims.h"
#include "cluster/printable.h"
#if BT_HAVE_YAML
#include "codec/yaml.h"
#endif

#define JSON_INDENT 2

int bt_output_format_parse(const char *text, bool has_names, enum bt_output_format *out_format,
	struct berth_error *err)
{
	static const struct {
		const char *name;
		enum bt_output_format format;
	} formats[] = {
		{"table", BT_OUTPUT_TABLE},
		{"wide", BT_OUTPUT_WIDE},
		{"json", BT_OUTPUT_JSON},
		{"yaml", BT_OUTPUT_YAML},
		{"name", BT_OUTPUT_NAME},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(formats); i++) {
		if (strcmp(formats[i].name, text) == 0 &&
			(has_names || formats[i].format != BT_OUTPUT_NAME)) {
			*out_format = formats[i].format;
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"--output: %s is none of table, wide, json, yaml%s", text,
		has_names ? ", name" : "");
}

void bt_output_print(const struct bt_strbuf *text)
{
	(void)fwrite(bt_strbuf_c(text), 1, text->length, stdout);
}

struct named_slot {
	struct bt_str name;
	uint32_t slot;
};

static int compare_slots(const void *a, const void *b)
{
	const struct named_slot *first = a;
	const struct named_slot *second = b;
	return bt_str_compare(first->name, second->name);
}

uint32_t *bt_output_node_slots(const struct bt_simulation *simulation)
{
	const struct bt_node_table *table = &simulation->engine->state->nodes;
	struct named_slot *named = BT_NEW_ARRAY(struct named_slot, simulation->node_count);
	uint32_t *slots = BT_NEW_ARRAY(uint32_t, simulation->node_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < simulation->cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &simulation->cluster->objects.items[i];
		if (object->kind == BT_KIND_NODE) {
			named[count++] = (struct named_slot){
				object->name, bt_node_table_find(table, object->name)};
		}
	}
	BT_ASSERT(count == simulation->node_count);
	if (count > 1) {
		qsort(named, count, sizeof(named[0]), compare_slots);
	}
	for (uint32_t i = 0; i < count; i++) {
		slots[i] = named[i].slot;
	}
	bt_free(named);
	return slots;
}

/** --- JSON --- */

struct device_list {
	struct bt_json_writer *writer;
	bool is_begun;
};

static void write_device(void *context, const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *device)
{
	struct device_list *list = context;
	struct bt_json_writer *writer = list->writer;
	if (!list->is_begun) {
		bt_json_begin_member_array(writer, "devices");
		list->is_begun = true;
	}
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "claim", claim->metadata.name);
	bt_json_write_member(writer, "request", device->request);
	bt_json_write_member(writer, "driver", device->driver);
	bt_json_write_member(writer, "pool", device->pool);
	bt_json_write_member(writer, "device", device->device);
	if (device->share_id.data != NULL) {
		bt_json_write_member(writer, "shareID", device->share_id);
	}
	if (device->admin_access.present) {
		bt_json_write_member_bool(writer, "adminAccess", device->admin_access.value);
	}
	bt_json_end_object(writer);
}

static void write_usage(
	struct bt_json_writer *writer, struct bt_str name, int64_t requested, int64_t allocatable)
{
	bt_json_write_name(writer, name);
	bt_json_begin_object(writer);
	bt_json_write_member_int64(writer, "requested", requested);
	bt_json_write_member_int64(writer, "allocatable", allocatable);
	bt_json_end_object(writer);
}

static void write_node(
	struct bt_json_writer *writer, const struct bt_node_table *nodes, uint32_t slot)
{
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "name", bt_node_table_name(nodes, slot));
	write_usage(writer, BT_STR("pods"), nodes->pod_count[slot], nodes->allocatable_pods[slot]);
	write_usage(writer, BT_STR("cpuMilli"), nodes->requested_cpu_milli[slot],
		nodes->allocatable_cpu_milli[slot]);
	write_usage(writer, BT_STR("memoryBytes"), nodes->requested_memory_bytes[slot],
		nodes->allocatable_memory_bytes[slot]);
	write_usage(writer, BT_STR("ephemeralStorageBytes"), nodes->requested_ephemeral_bytes[slot],
		nodes->allocatable_ephemeral_bytes[slot]);
	bt_json_begin_member_object(writer, "resources");
	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		const struct bt_scalar_column *column = &nodes->scalars.items[i];
		if (column->allocatable[slot] != 0 || column->requested[slot] != 0) {
			write_usage(writer, bt_symbol_text(nodes->symbols, column->name),
				column->requested[slot], column->allocatable[slot]);
		}
	}
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

static void write_json(
	const struct bt_simulation *simulation, uint32_t indent, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, indent);
	bt_json_begin_object(&writer);
	bt_json_begin_member_array(&writer, "pods");
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		bt_json_begin_object(&writer);
		bt_json_write_member(&writer, "namespace", entry->pod->metadata.namespace_);
		bt_json_write_member(&writer, "name", entry->pod->metadata.name);
		bt_json_write_member(&writer, "reason", bt_str_from(bt_fate_name(entry->fate)));
		bt_json_write_member(&writer, "node", entry->node_name);
		bt_json_write_member(&writer, "nominatedNode", entry->nominated_node_name);
		bt_json_write_member(&writer, "message", entry->message);
		bt_json_write_member_int64(&writer, "priority", bt_pod_priority(entry->pod));
		bt_json_write_member_int64(&writer, "score", entry->score);
		bt_json_write_member_int64(&writer, "feasibleNodes", entry->feasible_count);
		/* Only of pods that have some. */
		struct device_list list = {.writer = &writer};
		if (entry->fate == BT_FATE_SCHEDULED) {
			bt_pod_claims_for_devices(
				simulation->engine->state, entry->pod, write_device, &list);
		}
		if (list.is_begun) {
			bt_json_end_array(&writer);
		}
		bt_json_end_object(&writer);
	}
	bt_json_end_array(&writer);
	bt_json_begin_member_array(&writer, "evictions");
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		const struct bt_object_meta *preemptor =
			&simulation->pods.items[eviction->preemptor].pod->metadata;
		bt_json_begin_object(&writer);
		bt_json_write_member(&writer, "namespace", eviction->namespace_);
		bt_json_write_member(&writer, "name", eviction->name);
		bt_json_write_member(&writer, "node", eviction->node_name);
		bt_json_write_member_int64(&writer, "priority", eviction->priority);
		bt_json_begin_member_object(&writer, "preemptor");
		bt_json_write_member(&writer, "namespace", preemptor->namespace_);
		bt_json_write_member(&writer, "name", preemptor->name);
		bt_json_end_object(&writer);
		bt_json_end_object(&writer);
	}
	bt_json_end_array(&writer);
	bt_json_begin_member_array(&writer, "nodes");
	uint32_t *slots = bt_output_node_slots(simulation);
	for (uint32_t i = 0; i < simulation->node_count; i++) {
		write_node(&writer, &simulation->engine->state->nodes, slots[i]);
	}
	bt_free(slots);
	bt_json_end_array(&writer);
	bt_json_end_object(&writer);
}

int bt_output_yaml_from_json(struct bt_str json, struct bt_strbuf *out, struct berth_error *err)
{
#if BT_HAVE_YAML
	return bt_yaml_from_json(json, out, err);
#else
	(void)json;
	(void)out;
	return bt_error_set(err, BERTH_ERR_INVALID, "this program was built without YAML");
#endif
}

static int write_yaml(
	const struct bt_simulation *simulation, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	write_json(simulation, 0, &json);
	int result = bt_output_yaml_from_json(bt_strbuf_str(&json), out, err);
	bt_strbuf_finish(&json);
	return result;
}

/** --- names --- */

/** "WORD/NAMESPACE/NAME" */
static void append_name(
	struct bt_strbuf *out, const char *word, struct bt_str namespace_, struct bt_str name)
{
	bt_strbuf_append_c(out, word);
	bt_strbuf_append_char(out, '/');
	bt_printable_append_name(out, namespace_, name);
}

int bt_output_write(const struct bt_simulation *simulation, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	switch (format) {
	case BT_OUTPUT_TABLE:
	case BT_OUTPUT_WIDE:
		bt_output_write_tables(simulation, format == BT_OUTPUT_WIDE, out);
		return 0;
	case BT_OUTPUT_JSON:
		write_json(simulation, JSON_INDENT, out);
		bt_strbuf_append_char(out, '\n');
		return 0;
	case BT_OUTPUT_YAML:
		return write_yaml(simulation, out, err);
	case BT_OUTPUT_NAME:
		for (uint32_t i = 0; i < simulation->pods.count; i++) {
			const struct bt_simulated_pod *entry = &simulation->pods.items[i];
			const struct bt_object_meta *meta = &entry->pod->metadata;
			if (entry->fate == BT_FATE_SCHEDULED) {
				append_name(out, "pod", meta->namespace_, meta->name);
				bt_strbuf_append_char(out, ' ');
				bt_printable_append(out, entry->node_name);
				bt_strbuf_append_char(out, '\n');
			}
		}
		for (uint32_t i = 0; i < simulation->evictions.count; i++) {
			const struct bt_simulated_eviction *eviction =
				&simulation->evictions.items[i];
			const struct bt_object_meta *preemptor =
				&simulation->pods.items[eviction->preemptor].pod->metadata;
			append_name(out, "evicted", eviction->namespace_, eviction->name);
			bt_strbuf_append_char(out, ' ');
			bt_printable_append(out, eviction->node_name);
			bt_strbuf_append_char(out, ' ');
			append_name(out, "pod", preemptor->namespace_, preemptor->name);
			bt_strbuf_append_char(out, '\n');
		}
		return 0;
	}
	return 0;
}
