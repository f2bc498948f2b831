/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/pod_facts.h"

#include "base/compiler.h"
#include "codec/json.h"

/**
 * Reads the value of the member `name`. Returns 0 or an error, as the functions of bt_json_reader
 * do.
 */
typedef int read_member_fn(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err);

/** Calls read for each member of the next value. A value that is no object is skipped. */
static int read_object(struct bt_json_reader *json, struct bt_arena *arena, read_member_fn *read,
	void *context, struct berth_error *err)
{
	enum bt_json_type type;
	struct bt_str name;
	int result = bt_json_peek(json, &type, err);
	if (result < 0 || type != BT_JSON_OBJECT) {
		return result < 0 ? result : bt_json_skip(json, NULL, err);
	}
	BT_JSON_EACH_MEMBER (json, arena, name, result, err) {
		result = read(json, name, arena, context, err);
	}
	return result;
}

/** Reads a string; null and other values give "". */
static int read_text(struct bt_json_reader *json, struct bt_arena *arena, struct bt_str *out_text,
	struct berth_error *err)
{
	enum bt_json_type type;
	int result = bt_json_peek(json, &type, err);
	*out_text = BT_STR("");
	if (result < 0 || type != BT_JSON_STRING) {
		return result < 0 ? result : bt_json_skip(json, NULL, err);
	}
	return bt_json_read_string(json, arena, out_text, NULL, err);
}

static int read_metadata(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err)
{
	struct bt_pod_facts *facts = context;
	struct bt_str text;
	if (bt_str_equal_c(name, "namespace")) {
		return read_text(json, arena, &facts->namespace_, err);
	}
	if (bt_str_equal_c(name, "name")) {
		return read_text(json, arena, &facts->name, err);
	}
	if (bt_str_equal_c(name, "deletionTimestamp")) {
		int result = read_text(json, arena, &text, err);
		facts->is_deleting = text.length != 0;
		return result;
	}
	facts->has_more = facts->has_more ||
		!(bt_str_equal_c(name, "resourceVersion") ||
			bt_str_equal_c(name, "deletionGracePeriodSeconds"));
	return bt_json_skip(json, NULL, err);
}

static int read_spec(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err)
{
	struct bt_pod_facts *facts = context;
	if (bt_str_equal_c(name, "nodeName")) {
		int result = read_text(json, arena, &facts->node_name, err);
		facts->is_tried = facts->is_tried || facts->node_name.length != 0;
		return result;
	}
	facts->has_more = true;
	return bt_json_skip(json, NULL, err);
}

struct condition {
	struct bt_str type;
	struct bt_str status;
	struct bt_str reason;
};

static int read_condition(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err)
{
	struct condition *condition = context;
	const struct {
		const char *name;
		struct bt_str *text;
	} texts[] = {{"type", &condition->type}, {"status", &condition->status},
		{"reason", &condition->reason}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		if (bt_str_equal_c(name, texts[i].name)) {
			return read_text(json, arena, texts[i].text, err);
		}
	}
	return bt_json_skip(json, NULL, err);
}

static int read_conditions(struct bt_json_reader *json, struct bt_arena *arena,
	struct bt_pod_facts *facts, struct berth_error *err)
{
	enum bt_json_type type;
	int result = bt_json_peek(json, &type, err);
	if (result < 0 || type != BT_JSON_ARRAY) {
		return result < 0 ? result : bt_json_skip(json, NULL, err);
	}
	BT_JSON_EACH_ELEMENT (json, result, err) {
		struct condition condition = {0};
		result = read_object(json, arena, read_condition, &condition, err);
		if (bt_str_equal_c(condition.type, "DisruptionTarget") &&
			bt_str_equal_c(condition.status, "True")) {
			facts->disruption = condition.reason;
		}
		facts->is_tried = facts->is_tried ||
			(bt_str_equal_c(condition.type, "PodScheduled") &&
				bt_str_equal_c(condition.status, "False") &&
				!bt_str_equal_c(condition.reason, "SchedulingGated"));
	}
	return result;
}

static int read_status(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err)
{
	struct bt_pod_facts *facts = context;
	struct bt_str phase;
	if (bt_str_equal_c(name, "phase")) {
		int result = read_text(json, arena, &phase, err);
		facts->is_terminal =
			bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed");
		return result;
	}
	if (bt_str_equal_c(name, "conditions")) {
		return read_conditions(json, arena, facts, err);
	}
	if (bt_str_equal_c(name, "nominatedNodeName")) {
		struct bt_str node_name;
		int result = read_text(json, arena, &node_name, err);
		facts->is_tried = facts->is_tried || node_name.length != 0;
		return result;
	}
	facts->has_more = facts->has_more ||
		!(bt_str_equal_c(name, "startTime") || bt_str_equal_c(name, "qosClass"));
	return bt_json_skip(json, NULL, err);
}

static int read_pod(struct bt_json_reader *json, struct bt_str name, struct bt_arena *arena,
	void *context, struct berth_error *err)
{
	const struct {
		const char *name;
		read_member_fn *read;
	} parts[] = {{"metadata", read_metadata}, {"spec", read_spec}, {"status", read_status}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		if (bt_str_equal_c(name, parts[i].name)) {
			return read_object(json, arena, parts[i].read, context, err);
		}
	}
	return bt_json_skip(json, NULL, err);
}

int bt_pod_facts_read(struct bt_str json, struct bt_arena *arena, struct bt_pod_facts *out_facts,
	struct berth_error *err)
{
	struct bt_json_reader reader;
	*out_facts = (struct bt_pod_facts){.namespace_ = BT_STR(""),
		.name = BT_STR(""),
		.node_name = BT_STR(""),
		.disruption = BT_STR("")};
	bt_json_reader_init(&reader, json);
	return read_object(&reader, arena, read_pod, out_facts, err);
}
