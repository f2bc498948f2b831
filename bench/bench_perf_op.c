/* SPDX-License-Identifier: Apache-2.0 */
/** Operations of a workload file: which there are, and the fields of each. */
#include <stddef.h>

#include "base/alloc.h"
#include "bench/bench_perf.h"

static const char *const opcode_names[BT_PERF__OPCODES] = {
	[BT_PERF_CREATE_NODES] = "createNodes",
	[BT_PERF_CREATE_NAMESPACES] = "createNamespaces",
	[BT_PERF_CREATE_PODS] = "createPods",
	[BT_PERF_CREATE_POD_SETS] = "createPodSets",
	[BT_PERF_CHURN] = "churn",
	[BT_PERF_BARRIER] = "barrier",
	[BT_PERF_SLEEP] = "sleep",
	[BT_PERF_DELETE_PODS] = "deletePods",
};

enum field_type {
	FIELD_STR,
	FIELD_INT,
	FIELD_BOOL,
	FIELD_STRS,
	FIELD_OBJECT,
	FIELD_IGNORED, /* known, and without a meaning here */
};

#define NODES (1U << BT_PERF_CREATE_NODES)
#define NAMESPACES (1U << BT_PERF_CREATE_NAMESPACES)
#define PODS (1U << BT_PERF_CREATE_PODS)
#define POD_SETS (1U << BT_PERF_CREATE_POD_SETS)
#define CHURN (1U << BT_PERF_CHURN)
#define BARRIER (1U << BT_PERF_BARRIER)
#define SLEEP (1U << BT_PERF_SLEEP)
#define DELETE_PODS (1U << BT_PERF_DELETE_PODS)

struct field {
	const char *name;
	enum field_type type;
	uint32_t opcodes;
	size_t offset;
};

#define AT(member) offsetof(struct bt_perf_op, member)

static const struct field fields[] = {
	{"count", FIELD_INT, NODES | NAMESPACES | PODS | POD_SETS, AT(count)},
	{"countParam", FIELD_STR, NODES | NAMESPACES | PODS | POD_SETS, AT(count_param)},
	{"nodeTemplatePath", FIELD_STR, NODES, AT(node_template)},
	{"labelNodePrepareStrategy", FIELD_OBJECT, NODES, AT(label_strategy)},
	{"uniqueNodeLabelStrategy", FIELD_OBJECT, NODES, AT(unique_strategy)},
	{"prefix", FIELD_STR, NAMESPACES, AT(prefix)},
	{"namespaceTemplatePath", FIELD_STR, NAMESPACES, AT(namespace_template)},
	{"podTemplatePath", FIELD_STR, PODS, AT(pod_template)},
	{"namespace", FIELD_STR, PODS | DELETE_PODS, AT(namespace_)},
	{"collectMetrics", FIELD_BOOL, PODS, AT(collect_metrics)},
	{"skipWaitToCompletion", FIELD_BOOL, PODS | DELETE_PODS, AT(skip_wait)},
	{"persistentVolumeTemplatePath", FIELD_STR, PODS, AT(volume_template)},
	{"persistentVolumeClaimTemplatePath", FIELD_STR, PODS, AT(claim_template)},
	{"namespacePrefix", FIELD_STR, POD_SETS, AT(namespace_prefix)},
	{"createPodsOp", FIELD_OBJECT, POD_SETS, AT(create_pods)},
	{"mode", FIELD_STR, CHURN, AT(mode)},
	{"number", FIELD_INT, CHURN, AT(churn_number)},
	{"intervalMilliseconds", FIELD_INT, CHURN, AT(interval_ms)},
	{"templatePaths", FIELD_STRS, CHURN, AT(template_paths)},
	{"namespaces", FIELD_STRS, BARRIER, AT(namespaces)},
	{"stageRequirement", FIELD_IGNORED, BARRIER, 0},
	{"duration", FIELD_STR, SLEEP, AT(duration)},
	{"durationParam", FIELD_STR, SLEEP, AT(duration_param)},
	{"deletePodsPerSecond", FIELD_IGNORED, DELETE_PODS, 0},
};

const char *bt_perf_opcode_name(enum bt_perf_opcode opcode)
{
	return opcode_names[opcode];
}

int bt_perf_wrong_type(const char *name, const char *wanted, const struct bt_json_value *value,
	struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INVALID, "%s: expected %s, got %s", name, wanted,
		bt_json_type_name(value->type));
}

int bt_perf_read_str(const struct bt_json_value *value, const char *name, struct bt_str *out,
	struct berth_error *err)
{
	if (value->type != BT_JSON_STRING) {
		return bt_perf_wrong_type(name, "string", value, err);
	}
	*out = value->text;
	return 0;
}

static int read_int(
	const struct bt_json_value *value, const char *name, int64_t *out, struct berth_error *err)
{
	int64_t number;
	if (value->type != BT_JSON_NUMBER) {
		return bt_perf_wrong_type(name, "number", value, err);
	}
	if (!bt_json_number_int64(value->text, &number) || number < 0 || number > UINT32_MAX / 4) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: %.*s is not a count", name,
			BT_STR_ARG(value->text));
	}
	*out = number;
	return 0;
}

static int read_bool(
	const struct bt_json_value *value, const char *name, bool *out, struct berth_error *err)
{
	if (value->type != BT_JSON_BOOL) {
		return bt_perf_wrong_type(name, "bool", value, err);
	}
	*out = value->boolean;
	return 0;
}

static int read_strs(struct bt_arena *arena, const struct bt_json_value *value, const char *name,
	bt_str_list *out, struct berth_error *err)
{
	if (value->type != BT_JSON_ARRAY) {
		return bt_perf_wrong_type(name, "array", value, err);
	}
	out->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, value->count);
	out->count = value->count;
	for (uint32_t i = 0; i < value->count; i++) {
		int result = bt_perf_read_str(value->elements[i], name, &out->items[i], err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static int read_field(struct bt_arena *arena, const struct field *field,
	const struct bt_json_value *value, struct bt_perf_op *op, struct berth_error *err)
{
	void *target = (char *)op + field->offset;
	switch (field->type) {
	case FIELD_STR:
		return bt_perf_read_str(value, field->name, target, err);
	case FIELD_INT:
		return read_int(value, field->name, target, err);
	case FIELD_BOOL:
		return read_bool(value, field->name, target, err);
	case FIELD_STRS:
		return read_strs(arena, value, field->name, target, err);
	case FIELD_OBJECT:
		if (value->type != BT_JSON_OBJECT) {
			return bt_perf_wrong_type(field->name, "object", value, err);
		}
		*(const struct bt_json_value **)target = value;
		return 0;
	case FIELD_IGNORED:
		return 0;
	}
	return 0;
}

/** --- operations --- */

static const struct field *find_field(enum bt_perf_opcode opcode, struct bt_str name)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(fields); i++) {
		if ((fields[i].opcodes >> opcode & 1) != 0 &&
			bt_str_equal_c(name, fields[i].name)) {
			return &fields[i];
		}
	}
	return NULL;
}

static int unknown_field(enum bt_perf_opcode opcode, struct bt_str name, struct berth_error *err)
{
	struct bt_strbuf known = {0};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(fields); i++) {
		if ((fields[i].opcodes >> opcode & 1) != 0) {
			bt_strbuf_printf(
				&known, "%s%s", known.length != 0 ? ", " : "", fields[i].name);
		}
	}
	int result = bt_error_set(err, BERTH_ERR_INVALID, "%.*s: unknown field; known are %s",
		BT_STR_ARG(name), bt_strbuf_c(&known));
	bt_strbuf_finish(&known);
	return result;
}

static int read_opcode(
	const struct bt_json_value *value, enum bt_perf_opcode *out_opcode, struct berth_error *err)
{
	const struct bt_json_value *member = bt_json_find(value, "opcode");
	struct bt_str name;
	if (member == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "opcode: missing");
	}
	int result = bt_perf_read_str(member, "opcode", &name, err);
	if (result < 0) {
		return result;
	}
	for (uint32_t i = 0; i < BT_PERF__OPCODES; i++) {
		if (bt_str_equal_c(name, opcode_names[i])) {
			*out_opcode = (enum bt_perf_opcode)i;
			return 0;
		}
	}
	struct bt_strbuf known = {0};
	for (uint32_t i = 0; i < BT_PERF__OPCODES; i++) {
		bt_strbuf_printf(&known, "%s%s", i != 0 ? ", " : "", opcode_names[i]);
	}
	result = bt_error_set(err, BERTH_ERR_INVALID, "opcode: %.*s is unknown; known are %s",
		BT_STR_ARG(name), bt_strbuf_c(&known));
	bt_strbuf_finish(&known);
	return result;
}

static int check_param(struct bt_str param, const char *name, struct berth_error *err)
{
	if (param.length == 0 || (param.data[0] == '$' && param.length > 1)) {
		return 0;
	}
	return bt_error_set(
		err, BERTH_ERR_INVALID, "%s: \"%.*s\" must start with $", name, BT_STR_ARG(param));
}

/** "$" followed by a name, or nothing; count or countParam is there. */
static int check_count(
	const struct bt_json_value *value, const struct bt_perf_op *op, struct berth_error *err)
{
	const struct bt_json_value *count = bt_json_find(value, "count");
	bool has_count = count != NULL && count->type != BT_JSON_NULL;
	if (has_count == (op->count_param.length != 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			has_count ? "count: countParam is there as well"
				  : "count: missing, and there is no countParam");
	}
	return check_param(op->count_param, "countParam", err);
}

static int check_churn(struct bt_perf_op *op, struct berth_error *err)
{
	if (!bt_str_equal_c(op->mode, "create") && !bt_str_equal_c(op->mode, "recreate")) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"mode: \"%.*s\" is none of create, recreate", BT_STR_ARG(op->mode));
	}
	if (op->template_paths.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "templatePaths: none");
	}
	if (bt_str_equal_c(op->mode, "recreate") && op->churn_number == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "number: missing, mode is recreate");
	}
	return 0;
}

static int check_op(
	const struct bt_json_value *value, struct bt_perf_op *op, struct berth_error *err)
{
	switch (op->opcode) {
	case BT_PERF_CREATE_NAMESPACES:
		if (op->prefix.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID, "prefix: missing");
		}
		return check_count(value, op, err);
	case BT_PERF_CREATE_PODS:
		if ((op->volume_template.length != 0) != (op->claim_template.length != 0)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"persistentVolumeTemplatePath and "
				"persistentVolumeClaimTemplatePath "
				"need each other");
		}
		return check_count(value, op, err);
	case BT_PERF_CREATE_NODES:
		return check_count(value, op, err);
	case BT_PERF_CREATE_POD_SETS:
		if (op->namespace_prefix.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID, "namespacePrefix: missing");
		}
		if (op->create_pods == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID, "createPodsOp: missing");
		}
		return check_count(value, op, err);
	case BT_PERF_CHURN:
		return check_churn(op, err);
	case BT_PERF_SLEEP:
		if ((op->duration.length != 0) == (op->duration_param.length != 0)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"duration: one of duration and durationParam is needed");
		}
		return check_param(op->duration_param, "durationParam", err);
	case BT_PERF_DELETE_PODS:
		if (op->namespace_.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID, "namespace: missing");
		}
		return 0;
	case BT_PERF_BARRIER:
	case BT_PERF__OPCODES:
		break;
	}
	return 0;
}

static int read_members(struct bt_arena *arena, const struct bt_json_value *value,
	struct bt_perf_op *op, struct berth_error *err)
{
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_member *member = &value->members[i];
		if (bt_str_equal_c(member->name, "opcode") || member->value->type == BT_JSON_NULL) {
			continue;
		}
		const struct field *field = find_field(op->opcode, member->name);
		int result = field != NULL ? read_field(arena, field, member->value, op, err)
					   : unknown_field(op->opcode, member->name, err);
		if (result < 0) {
			return result;
		}
	}
	return check_op(value, op, err);
}

int bt_perf_op_read(struct bt_arena *arena, const struct bt_json_value *value, uint32_t number,
	struct bt_perf_op *op, struct berth_error *err)
{
	*op = (struct bt_perf_op){.number = number};
	if (value->type != BT_JSON_OBJECT) {
		int result = bt_perf_wrong_type("operation", "object", value, err);
		return bt_error_wrap(err, result, "op %u", number);
	}
	int result = read_opcode(value, &op->opcode, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "op %u", number);
	}
	result = read_members(arena, value, op, err);
	if (result == 0 && op->create_pods != NULL) {
		op->pods = BT_ARENA_NEW(arena, struct bt_perf_op);
		*op->pods = (struct bt_perf_op){.number = number, .opcode = BT_PERF_CREATE_PODS};
		result = read_members(arena, op->create_pods, op->pods, err);
		result = result < 0 ? bt_error_wrap(err, result, "createPodsOp") : 0;
	}
	return result < 0
		? bt_error_wrap(err, result, "op %u (%s)", number, opcode_names[op->opcode])
		: 0;
}
