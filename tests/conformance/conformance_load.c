/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage.h"
#include "base/assert.h"
#include "base/error.h"
#include "conformance/conformance_private.h"

/** --- reading a case --- */

static int read_raw_list(
	struct bt_json_reader *reader, struct bt_case_list *list, struct berth_error *err)
{
	int result = bt_json_enter_array(reader, err);
	bool first = true;
	bool more = true;
	while (result == 0) {
		result = bt_json_next_element(reader, &first, &more, err);
		if (result < 0 || !more) {
			break;
		}
		struct bt_str raw;
		result = bt_json_skip(reader, &raw, err);
		if (result == 0) {
			bt_vec_push(&list->items, raw);
		}
	}
	return result;
}

static int read_member(struct bt_json_reader *reader, struct bt_arena *arena, struct bt_str name,
	struct bt_case_text *text, struct berth_error *err)
{
	if (bt_str_equal_c(name, "name")) {
		return bt_json_read_string(reader, arena, &text->name, NULL, err);
	}
	if (bt_str_equal_c(name, "config")) {
		return bt_json_skip(reader, &text->config, err);
	}
	if (bt_str_equal_c(name, "featureGates")) {
		return bt_json_skip(reader, &text->feature_gates, err);
	}
	if (bt_str_equal_c(name, "objects")) {
		return read_raw_list(reader, &text->objects, err);
	}
	if (bt_str_equal_c(name, "pending")) {
		return read_raw_list(reader, &text->pending, err);
	}
	if (bt_str_equal_c(name, "brief")) {
		return bt_json_read_bool(reader, &text->brief, err);
	}
	return bt_json_skip(reader, NULL, err);
}

int bt_case_read(struct bt_str json, struct bt_arena *arena, struct bt_case_text *text,
	struct berth_error *err)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, json);
	int result = bt_json_enter_object(&reader, err);
	bool first = true;
	bool more = true;
	while (result == 0) {
		struct bt_str name;
		result = bt_json_next_member(&reader, &first, arena, &more, &name, err);
		if (result < 0 || !more) {
			break;
		}
		result = read_member(&reader, arena, name, text, err);
	}
	return result;
}

/** --- objects --- */

int bt_case_decode(const struct bt_message *message, struct bt_str json, struct bt_arena *arena,
	void **out, struct berth_error *err)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, json);
	void *object = bt_arena_calloc(arena, 1, message->size);
	int result = bt_message_decode_json(message, &reader, arena, object, err);
	if (result == 0) {
		*out = object;
	}
	return result;
}

struct bt_str bt_case_object_key(struct bt_case_run *run, const struct bt_object_meta *meta)
{
	return bt_arena_printf(
		&run->arena, "%.*s/%.*s", BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
}

void bt_case_note_pod(struct bt_case_run *run, const struct bt_pod *pod, bool placed)
{
	struct bt_case_pod entry = {bt_case_object_key(run, &pod->metadata), pod, placed};
	bt_vec_push(&run->pods, entry);
}

static void note_node(struct bt_case_run *run, const struct bt_node *node, struct bt_str json)
{
	struct bt_case_node entry = {node->metadata.name, node, json, false};
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (bt_str_equal(run->nodes.items[i].name, node->metadata.name)) {
			run->nodes.items[i] = entry;
			return;
		}
	}
	bt_vec_push(&run->nodes, entry);
}

const struct bt_node *bt_case_find_node(const struct bt_case_run *run, struct bt_str name)
{
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (bt_str_equal(run->nodes.items[i].name, name)) {
			return run->nodes.items[i].node;
		}
	}
	return NULL;
}

/** Queues an unassigned pod that has a nomination. Other unassigned pods are not loaded. */
static void queue_nominated(struct bt_case_run *run, const struct bt_pod *pod)
{
	if (pod->status.nominated_node_name.length == 0) {
		return;
	}
	struct bt_pod_info *info = BT_ARENA_NEW(&run->arena, struct bt_pod_info);
	bt_pod_info_init_pending(run->engine->state, pod, info);
	bt_vec_push(&run->queued, info);
	bt_nominator_add(&run->engine->nominator, info, pod->status.nominated_node_name, true);
}

static int add_pod_object(struct bt_case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = bt_case_decode(&bt_pod_message, json, &run->arena, &object, err);
	if (result < 0) {
		return result;
	}
	BT_ASSERT(object != NULL);
	const struct bt_pod *pod = object;
	if (bt_pod_is_terminal(pod)) {
		return 0;
	}
	if (pod->spec.node_name.length == 0) {
		queue_nominated(run, pod);
		return 0;
	}
	bt_case_note_pod(run, pod, true);
	return bt_state_add_pod(run->engine->state, pod, err);
}

static int add_node_object(struct bt_case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = bt_case_decode(&bt_node_message, json, &run->arena, &object, err);
	if (result == 0) {
		note_node(run, object, json);
		bt_state_add_node(run->engine->state, object);
	}
	return result;
}

/** Stores an object that is neither pod nor node, for plugins to look up by name. */
int bt_case_store_object(struct bt_engine *engine, struct bt_str json, struct berth_error *err)
{
	struct bt_object *object;
	struct berth_error unknown = BERTH_ERROR_INIT;
	int result = bt_object_decode(json, &object, &unknown);
	if (result == BERTH_ERR_NOT_FOUND) {
		/* No plugin reads an object of unknown kind. */
		berth_error_finish(&unknown);
		return 0;
	}
	if (result < 0) {
		return bt_error_move(err, &unknown);
	}
	bt_object_store_put(&engine->state->objects, object);
	return 0;
}

int bt_case_load_objects(struct bt_case_run *run, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->text.objects.items.count; i++) {
		struct bt_str json = run->text.objects.items.items[i];
		struct bt_json_value *value;
		int result = bt_json_parse(&run->arena, json, false, &value, err);
		struct bt_str kind =
			result == 0 ? bt_json_find_str(value, "kind") : (struct bt_str){NULL, 0};
		if (result == 0 && bt_str_equal_c(kind, "Pod")) {
			result = add_pod_object(run, json, err);
		} else if (result == 0 && bt_str_equal_c(kind, "Node")) {
			result = add_node_object(run, json, err);
		} else if (result == 0) {
			result = bt_case_store_object(run->engine, json, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "objects[%u]", i);
		}
	}
	return 0;
}

/** --- steps that change the cluster --- */

static int delete_pod(struct bt_case_run *run, struct bt_str key, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->pods.count; i++) {
		struct bt_case_pod *entry = &run->pods.items[i];
		if (!bt_str_equal(entry->key, key) || !entry->placed) {
			continue;
		}
		entry->placed = false;
		/* Without a node name, the state finds the pod's node in its cache. */
		struct bt_pod *pod = BT_ARENA_NEW(&run->arena, struct bt_pod);
		*pod = *entry->pod;
		pod->spec.node_name = BT_STR("");
		return bt_state_remove_pod(run->engine->state, pod, err);
	}
	return 0;
}

static int update_node(struct bt_case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = bt_case_decode(&bt_node_message, json, &run->arena, &object, err);
	if (result == 0) {
		const struct bt_node *node = object;
		bt_state_update_node(
			run->engine->state, bt_case_find_node(run, node->metadata.name), node);
		note_node(run, node, json);
	}
	return result;
}

static int delete_node(struct bt_case_run *run, struct bt_str name, struct berth_error *err)
{
	const struct bt_node *node = bt_case_find_node(run, name);
	if (node == NULL) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "deleteNode: no node %.*s", BT_STR_ARG(name));
	}
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (run->nodes.items[i].node == node) {
			run->nodes.items[i].deleted = true;
		}
	}
	return bt_state_remove_node(run->engine->state, node, err);
}

int bt_case_apply_operation(struct bt_case_run *run, const struct bt_json_value *step,
	struct bt_str json, struct berth_error *err)
{
	struct bt_str op = bt_json_find_str(step, "op");
	struct bt_strbuf node = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &node, 0);
	if (bt_json_find(step, "node") != NULL) {
		bt_json_write_value(&writer, bt_json_find(step, "node"));
	}
	struct bt_str node_json = bt_arena_str(&run->arena, bt_strbuf_str(&node));
	bt_strbuf_finish(&node);
	if (bt_str_equal_c(op, "deletePod")) {
		return delete_pod(run, bt_json_find_str(step, "pod"), err);
	}
	if (bt_str_equal_c(op, "addNode")) {
		return add_node_object(run, node_json, err);
	}
	if (bt_str_equal_c(op, "updateNode")) {
		return update_node(run, node_json, err);
	}
	if (bt_str_equal_c(op, "deleteNode")) {
		return delete_node(run, bt_json_find_str(step, "name"), err);
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "unknown step %.*s", BT_STR_ARG(json));
}
