/* SPDX-License-Identifier: Apache-2.0 */
#include "extender_answers.h"

#include "api/node.h"
#include "codec/json.h"

static struct bt_json_writer writer_on(struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true; /* as Go does */
	return writer;
}

static void write_nodes(struct bt_json_writer *writer, const bt_extender_node_list *nodes)
{
	if (!nodes->present) {
		bt_json_write_name_c(writer, "Nodes");
		bt_json_write_null(writer);
		return;
	}
	bt_json_begin_member_object(writer, "Nodes");
	bt_json_begin_member_object(writer, "metadata");
	bt_json_end_object(writer);
	bt_json_begin_member_array(writer, "items");
	for (uint32_t i = 0; i < nodes->count; i++) {
		if (nodes->items[i].json.data != NULL) {
			bt_json_write_raw(writer, nodes->items[i].json);
		} else {
			struct bt_node node = {.metadata = {.name = nodes->items[i].name}};
			bt_message_encode_json(&bt_node_message, writer, &node);
		}
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

static void write_failed(
	struct bt_json_writer *writer, const char *name, const struct bt_str_map *failed)
{
	if (!failed->present) {
		bt_json_write_name_c(writer, name);
		bt_json_write_null(writer);
		return;
	}
	bt_json_begin_member_object(writer, name);
	for (uint32_t i = 0; i < failed->count; i++) {
		bt_json_write_name(writer, failed->items[i].key);
		bt_json_write_str(writer, failed->items[i].value);
	}
	bt_json_end_object(writer);
}

void bt_extender_encode_filter_result(
	const struct bt_extender_filter_result *result, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	bt_json_begin_object(&writer);
	write_nodes(&writer, &result->nodes);
	bt_json_write_name_c(&writer, "NodeNames");
	if (result->node_names.present) {
		bt_json_begin_array(&writer);
		for (uint32_t i = 0; i < result->node_names.count; i++) {
			bt_json_write_str(&writer, result->node_names.items[i]);
		}
		bt_json_end_array(&writer);
	} else {
		bt_json_write_null(&writer);
	}
	write_failed(&writer, "FailedNodes", &result->failed_nodes);
	write_failed(&writer, "FailedAndUnresolvableNodes", &result->failed_and_unresolvable_nodes);
	bt_json_write_member(&writer, "Error", result->error);
	bt_json_end_object(&writer);
}

void bt_extender_encode_priorities(const bt_host_priority_list *priorities, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	if (!priorities->present) {
		bt_json_write_null(&writer);
		return;
	}
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < priorities->count; i++) {
		bt_json_begin_object(&writer);
		bt_json_write_member(&writer, "Host", priorities->items[i].host);
		bt_json_write_member_int64(&writer, "Score", priorities->items[i].score);
		bt_json_end_object(&writer);
	}
	bt_json_end_array(&writer);
}

void bt_extender_encode_preemption_result(
	const struct bt_node_victims_list *answer, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	bt_json_begin_object(&writer);
	bt_json_begin_member_object(&writer, "NodeNameToMetaVictims");
	for (uint32_t i = 0; i < answer->count; i++) {
		const struct bt_node_victims *entry = &answer->items[i];
		bt_json_write_name(&writer, entry->node_name);
		bt_json_begin_object(&writer);
		bt_json_begin_member_array(&writer, "Pods");
		for (uint32_t k = 0; k < entry->victim_count; k++) {
			bt_json_begin_object(&writer);
			bt_json_write_member(&writer, "UID", entry->victim_uids[k]);
			bt_json_end_object(&writer);
		}
		bt_json_end_array(&writer);
		bt_json_write_member_int64(&writer, "NumPDBViolations", entry->pdb_violations);
		bt_json_end_object(&writer);
	}
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
}
