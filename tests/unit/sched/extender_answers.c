/* SPDX-License-Identifier: Apache-2.0 */
#include "extender_answers.h"

#include <stdlib.h>
#include <string.h>

#include "api/node.h"
#include "base/alloc.h"
#include "codec/json.h"

static void write_failed(
	struct bt_json_writer *writer, const char *name, const struct bt_str_map *failed)
{
	bt_json_write_name_c(writer, name);
	if (!failed->present) {
		bt_json_write_null(writer);
		return;
	}
	bt_json_begin_object(writer);
	for (uint32_t i = 0; i < failed->count; i++) {
		bt_json_write_name(writer, failed->items[i].key);
		bt_json_write_str(writer, failed->items[i].value);
	}
	bt_json_end_object(writer);
}

void bt_extender_encode_filter_result(
	const struct bt_extender_filter_result *result, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true;
	bt_json_begin_object(&writer);
	const bt_extender_node_list *nodes = &result->nodes;
	bt_json_write_name_c(&writer, "Nodes");
	if (!nodes->present) {
		bt_json_write_null(&writer);
	} else {
		bt_json_begin_object(&writer);
		bt_json_write_name_c(&writer, "metadata");
		bt_json_begin_object(&writer);
		bt_json_end_object(&writer);
		bt_json_write_name_c(&writer, "items");
		bt_json_begin_array(&writer);
		for (uint32_t j = 0; j < nodes->count; j++) {
			if (nodes->items[j].json.data != NULL) {
				bt_json_write_raw(&writer, nodes->items[j].json);
			} else {
				struct bt_node node = {.metadata = {.name = nodes->items[j].name}};
				bt_message_encode_json(&bt_node_message, &writer, &node);
			}
		}
		bt_json_end_array(&writer);
		bt_json_end_object(&writer);
	}
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
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true;
	if (!priorities->present) {
		bt_json_write_null(&writer);
		return;
	}
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < priorities->count; i++) {
		bt_json_begin_object(&writer);
		bt_json_write_member(&writer, "Host", priorities->items[i].host);
		bt_json_write_name_c(&writer, "Score");
		bt_json_write_int64(&writer, priorities->items[i].score);
		bt_json_end_object(&writer);
	}
	bt_json_end_array(&writer);
}

static int compare_by_node_name(const void *a, const void *b)
{
	return bt_str_compare(((const struct bt_node_victims *)a)->node_name,
		((const struct bt_node_victims *)b)->node_name);
}

void bt_extender_encode_preemption_result(
	const struct bt_node_victims_list *answer, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true;
	struct bt_node_victims *sorted = BT_NEW_ARRAY(struct bt_node_victims, answer->count);
	if (answer->count != 0) {
		memcpy(sorted, answer->items, answer->count * sizeof(*sorted));
		qsort(sorted, answer->count, sizeof(*sorted), compare_by_node_name);
	}
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "NodeNameToMetaVictims");
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < answer->count; i++) {
		bt_json_write_name(&writer, sorted[i].node_name);
		bt_json_begin_object(&writer);
		bt_json_write_name_c(&writer, "Pods");
		bt_json_begin_array(&writer);
		for (uint32_t j = 0; j < sorted[i].victim_count; j++) {
			bt_json_begin_object(&writer);
			bt_json_write_member(&writer, "UID", sorted[i].victim_uids[j]);
			bt_json_end_object(&writer);
		}
		bt_json_end_array(&writer);
		bt_json_write_name_c(&writer, "NumPDBViolations");
		bt_json_write_int64(&writer, sorted[i].pdb_violations);
		bt_json_end_object(&writer);
	}
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
	bt_free(sorted);
}
