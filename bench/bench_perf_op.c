/* SPDX-License-Identifier: Apache-2.0 */
/** Operations of a workload file: the opcodes, and the fields of each. */
#include <stddef.h>
#include <string.h>

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
	[BT_PERF_CREATE_ANY] = "createAny",
	[BT_PERF_UPDATE_ANY] = "updateAny",
	[BT_PERF_CREATE_RESOURCE_DRIVER] = "createResourceDriver",
	[BT_PERF_ALLOC_RESOURCE_CLAIMS] = "allocResourceClaims",
	[BT_PERF_START_COLLECTING_METRICS] = "startCollectingMetrics",
	[BT_PERF_STOP_COLLECTING_METRICS] = "stopCollectingMetrics",
};

enum field_type {
	FIELD_STR,
	FIELD_INT,
	FIELD_BOOL,
	FIELD_STRS,
	FIELD_OBJECT,
};

#define NODES (1U << BT_PERF_CREATE_NODES)
#define NAMESPACES (1U << BT_PERF_CREATE_NAMESPACES)
#define PODS (1U << BT_PERF_CREATE_PODS)
#define POD_SETS (1U << BT_PERF_CREATE_POD_SETS)
#define CHURN (1U << BT_PERF_CHURN)
#define BARRIER (1U << BT_PERF_BARRIER)
#define SLEEP (1U << BT_PERF_SLEEP)
#define DELETE_PODS (1U << BT_PERF_DELETE_PODS)
#define CREATE_ANY (1U << BT_PERF_CREATE_ANY)
#define UPDATE_ANY (1U << BT_PERF_UPDATE_ANY)
#define DRIVER (1U << BT_PERF_CREATE_RESOURCE_DRIVER)
#define ALLOC_CLAIMS (1U << BT_PERF_ALLOC_RESOURCE_CLAIMS)
#define START_METRICS (1U << BT_PERF_START_COLLECTING_METRICS)

struct field {
	const char *name;
	enum field_type type;
	uint32_t opcodes;
	size_t offset;
};

#define AT(member) offsetof(struct bt_perf_op, member)

/**
 * The fields of operations. Each value may come from a parameter of the workload: "count: $nodes".
 * Fields that are not lists or objects also have the form "countParam: $nodes".
 */
static const struct field fields[] = {
	{"count", FIELD_INT, NODES | NAMESPACES | PODS | POD_SETS | CREATE_ANY | UPDATE_ANY,
		AT(count)},
	{"nodeTemplatePath", FIELD_STR, NODES, AT(node_template)},
	{"nodeAllocatableStrategy", FIELD_OBJECT, NODES, AT(allocatable_strategy)},
	{"labelNodePrepareStrategy", FIELD_OBJECT, NODES, AT(label_strategy)},
	{"uniqueNodeLabelStrategy", FIELD_OBJECT, NODES, AT(unique_strategy)},
	{"prefix", FIELD_STR, NAMESPACES, AT(prefix)},
	{"namespaceTemplatePath", FIELD_STR, NAMESPACES, AT(namespace_template)},
	{"podTemplatePath", FIELD_STR, PODS, AT(pod_template)},
	{"namespace", FIELD_STR, PODS | DELETE_PODS | CREATE_ANY | UPDATE_ANY | ALLOC_CLAIMS,
		AT(namespace_)},
	{"collectMetrics", FIELD_BOOL, PODS, AT(collect_metrics)},
	{"skipWaitToCompletion", FIELD_BOOL, PODS | DELETE_PODS, AT(skip_wait)},
	{"steadyState", FIELD_BOOL, PODS, AT(steady_state)},
	{"persistentVolumeTemplatePath", FIELD_STR, PODS, AT(volume_template)},
	{"persistentVolumeClaimTemplatePath", FIELD_STR, PODS, AT(claim_template)},
	{"namespacePrefix", FIELD_STR, POD_SETS, AT(namespace_prefix)},
	{"createPodsOp", FIELD_OBJECT, POD_SETS, AT(create_pods)},
	{"mode", FIELD_STR, CHURN, AT(mode)},
	{"number", FIELD_INT, CHURN, AT(churn_number)},
	{"intervalMilliseconds", FIELD_INT, CHURN, AT(interval_ms)},
	{"templatePaths", FIELD_STRS, CHURN, AT(template_paths)},
	{"templatePath", FIELD_STR, CREATE_ANY | UPDATE_ANY, AT(any_template)},
	{"updatePerSecond", FIELD_INT, UPDATE_ANY, AT(per_second)},
	{"namespaces", FIELD_STRS, BARRIER | START_METRICS, AT(namespaces)},
	{"labelSelector", FIELD_OBJECT, BARRIER | DELETE_PODS | START_METRICS, AT(label_selector)},
	{"stageRequirement", FIELD_STR, BARRIER, AT(stage)},
	{"duration", FIELD_STR, SLEEP | PODS, AT(duration)},
	{"deletePodsPerSecond", FIELD_INT, DELETE_PODS | PODS, AT(per_second)},
	{"driverName", FIELD_STR, DRIVER, AT(driver)},
	{"nodes", FIELD_STR, DRIVER, AT(nodes)},
	{"maxClaimsPerNode", FIELD_INT, DRIVER, AT(claims_per_node)},
	{"name", FIELD_STR, START_METRICS, AT(metrics_name)},
};

/** State of reading one operation. */
struct reading {
	struct bt_arena *arena;
	const struct bt_perf_workload *workload; /* NULL: parameters stay unresolved */
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

static int read_field(struct bt_arena *arena, const struct field *field, const char *name,
	const struct bt_json_value *value, struct bt_perf_op *op, struct berth_error *err)
{
	void *target = (char *)op + field->offset;
	switch (field->type) {
	case FIELD_STR:
		return bt_perf_read_str(value, name, target, err);
	case FIELD_INT:
		return read_int(value, name, target, err);
	case FIELD_BOOL:
		return read_bool(value, name, target, err);
	case FIELD_STRS:
		return read_strs(arena, value, name, target, err);
	case FIELD_OBJECT:
		if (value->type != BT_JSON_OBJECT) {
			return bt_perf_wrong_type(name, "object", value, err);
		}
		*(const struct bt_json_value **)target = value;
		return 0;
	}
	return 0;
}

/** --- parameters --- */

static bool is_param(const struct bt_json_value *value)
{
	return value->type == BT_JSON_STRING && value->text.length > 1 &&
		value->text.data[0] == '$';
}

static int no_param(const struct bt_perf_workload *workload, struct bt_str wanted, const char *name,
	struct berth_error *err)
{
	struct bt_strbuf known = {0};
	for (uint32_t i = 0; workload->params != NULL && i < workload->params->count; i++) {
		bt_strbuf_printf(&known, "%s%.*s", i != 0 ? ", " : "",
			BT_STR_ARG(workload->params->members[i].name));
	}
	int result = bt_error_set(err, BERTH_ERR_INVALID,
		"%s: the workload has no parameter %.*s; it has %s", name, BT_STR_ARG(wanted),
		known.length != 0 ? bt_strbuf_c(&known) : "none");
	bt_strbuf_finish(&known);
	return result;
}

/** Read a member whose value is a parameter of the workload: "$name". */
static int read_param(const struct reading *reading, const struct field *field, const char *name,
	const struct bt_json_value *value, struct bt_perf_op *op, struct berth_error *err)
{
	static const char *const words[] = {
		[FIELD_STR] = "string",
		[FIELD_INT] = "count",
		[FIELD_BOOL] = "bool",
		[FIELD_STRS] = "list of strings",
		[FIELD_OBJECT] = "object",
	};
	const struct bt_perf_workload *workload = reading->workload;
	struct bt_str wanted = bt_str_sub(value->text, 1, UINT32_MAX);
	const struct bt_json_value *found = NULL;
	if (workload == NULL) {
		return 0;
	}
	for (uint32_t i = 0; workload->params != NULL && i < workload->params->count; i++) {
		if (bt_str_equal(workload->params->members[i].name, wanted)) {
			found = workload->params->members[i].value;
		}
	}
	if (found == NULL) {
		return no_param(workload, wanted, name, err);
	}
	return read_field(reading->arena, field, name, found, op, NULL) == 0
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "%s: the parameter %.*s is not a %s", name,
			  BT_STR_ARG(wanted), words[field->type]);
}

/** --- operations --- */

#define PARAM_SUFFIX "Param"

/**
 * Finds the field of the opcode by name. Like Go's decoder, ignores case. *out_param: whether the
 * name has the form FIELDParam. Returns NULL if the opcode has no such field.
 */
static const struct field *find_field(
	enum bt_perf_opcode opcode, struct bt_str name, bool *out_param)
{
	uint32_t suffix = sizeof(PARAM_SUFFIX) - 1;
	struct bt_str stem = bt_str_sub(name, 0, name.length > suffix ? name.length - suffix : 0);
	bool may_be_param = name.length > suffix &&
		bt_str_equal_without_case(
			bt_str_sub(name, stem.length, UINT32_MAX), BT_STR(PARAM_SUFFIX));
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(fields); i++) {
		struct bt_str known = bt_str_from(fields[i].name);
		if ((fields[i].opcodes >> opcode & 1) == 0) {
			continue;
		}
		*out_param = may_be_param && fields[i].type <= FIELD_BOOL &&
			bt_str_equal_without_case(stem, known);
		if (*out_param || bt_str_equal_without_case(name, known)) {
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
			if (fields[i].type == FIELD_INT) {
				bt_strbuf_printf(&known, ", %s" PARAM_SUFFIX, fields[i].name);
			}
		}
	}
	int result = bt_error_set(err, BERTH_ERR_INVALID, "%.*s: unknown field; known are %s",
		BT_STR_ARG(name), known.length != 0 ? bt_strbuf_c(&known) : "none");
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

/** The members that are present and not null. */
struct said {
	const struct field *fields[BT_ARRAY_LENGTH(fields)];
	uint32_t count;
};

static bool is_said(const struct said *said, const char *name)
{
	for (uint32_t i = 0; i < said->count; i++) {
		if (strcmp(said->fields[i]->name, name) == 0) {
			return true;
		}
	}
	return false;
}

static int check_given(const struct said *said, const char *name, struct berth_error *err)
{
	return is_said(said, name) ? 0 : bt_error_set(err, BERTH_ERR_INVALID, "%s: missing", name);
}

static int check_count(const struct said *said, struct berth_error *err)
{
	return is_said(said, "count") ? 0
				      : bt_error_set(err, BERTH_ERR_INVALID,
						"count: missing, and there is no countParam");
}

static int check_word(struct bt_str text, const char *name, const char *first, const char *second,
	struct berth_error *err)
{
	return bt_str_equal_c(text, first) || bt_str_equal_c(text, second)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "%s: \"%.*s\" is none of %s, %s", name,
			  BT_STR_ARG(text), first, second);
}

static int check_churn(
	const struct said *said, const struct bt_perf_op *op, struct berth_error *err)
{
	int result = check_word(op->mode, "mode", "create", "recreate", err);
	if (result == 0 && op->template_paths.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "templatePaths: none");
	}
	if (result == 0 && bt_str_equal_c(op->mode, "recreate") && !is_said(said, "number")) {
		return bt_error_set(err, BERTH_ERR_INVALID, "number: missing, mode is recreate");
	}
	return result;
}

static int check_pods(const struct said *said, struct berth_error *err)
{
	if (is_said(said, "persistentVolumeTemplatePath") !=
		is_said(said, "persistentVolumeClaimTemplatePath")) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath need "
			"each other");
	}
	if (is_said(said, "steadyState") && !is_said(said, "duration")) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "duration: missing, steadyState needs it");
	}
	return check_count(said, err);
}

static int check_op(const struct said *said, const struct bt_perf_op *op, struct berth_error *err)
{
	int result = 0;
	switch (op->opcode) {
	case BT_PERF_CREATE_NAMESPACES:
		result = check_given(said, "prefix", err);
		return result == 0 ? check_count(said, err) : result;
	case BT_PERF_CREATE_PODS:
		return check_pods(said, err);
	case BT_PERF_CREATE_NODES:
		return check_count(said, err);
	case BT_PERF_CREATE_POD_SETS:
		result = check_given(said, "namespacePrefix", err);
		if (result == 0) {
			result = check_given(said, "createPodsOp", err);
		}
		return result == 0 ? check_count(said, err) : result;
	case BT_PERF_CHURN:
		return check_churn(said, op, err);
	case BT_PERF_SLEEP:
		return is_said(said, "duration")
			? 0
			: bt_error_set(err, BERTH_ERR_INVALID,
				  "duration: one of duration and durationParam is needed");
	case BT_PERF_DELETE_PODS:
	case BT_PERF_ALLOC_RESOURCE_CLAIMS:
		return check_given(said, "namespace", err);
	case BT_PERF_CREATE_ANY:
	case BT_PERF_UPDATE_ANY:
		return check_given(said, "templatePath", err);
	case BT_PERF_CREATE_RESOURCE_DRIVER:
		result = check_given(said, "driverName", err);
		if (result == 0) {
			result = check_given(said, "nodes", err);
		}
		return result == 0 ? check_given(said, "maxClaimsPerNode", err) : result;
	case BT_PERF_BARRIER:
		return is_said(said, "stageRequirement")
			? check_word(op->stage, "stageRequirement", "Attempted", "Scheduled", err)
			: 0;
	case BT_PERF_START_COLLECTING_METRICS:
	case BT_PERF_STOP_COLLECTING_METRICS:
	case BT_PERF__OPCODES:
		break;
	}
	return 0;
}

/** Reads a member that is not null. names_param: the member has the form FIELDParam. */
static int read_member(const struct reading *reading, const struct field *field, bool names_param,
	const struct bt_json_member *member, struct bt_perf_op *op, struct berth_error *err)
{
	if (is_param(member->value)) {
		const char *name = names_param
			? bt_arena_printf(reading->arena, "%s" PARAM_SUFFIX, field->name).data
			: field->name;
		return read_param(reading, field, name, member->value, op, err);
	}
	if (!names_param) {
		return read_field(reading->arena, field, field->name, member->value, op, err);
	}
	return member->value->type == BT_JSON_STRING
		? bt_error_set(err, BERTH_ERR_INVALID,
			  "%s" PARAM_SUFFIX ": \"%.*s\" must start with $", field->name,
			  BT_STR_ARG(member->value->text))
		: bt_perf_wrong_type(
			  bt_arena_printf(reading->arena, "%s" PARAM_SUFFIX, field->name).data,
			  "string", member->value, err);
}

static int read_members(const struct reading *reading, const struct bt_json_value *value,
	struct bt_perf_op *op, struct berth_error *err)
{
	struct said said = {.count = 0};
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_member *member = &value->members[i];
		bool names_param;
		if (bt_str_equal_without_case(member->name, BT_STR("opcode")) ||
			member->value->type == BT_JSON_NULL) {
			continue;
		}
		const struct field *field = find_field(op->opcode, member->name, &names_param);
		if (field == NULL) {
			return unknown_field(op->opcode, member->name, err);
		}
		if (is_said(&said, field->name)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: %s" PARAM_SUFFIX " is there as well", field->name,
				field->name);
		}
		int result = read_member(reading, field, names_param, member, op, err);
		if (result < 0) {
			return result;
		}
		said.fields[said.count++] = field;
	}
	op->has_count = is_said(&said, "count");
	return check_op(&said, op, err);
}

int bt_perf_op_read(struct bt_arena *arena, const struct bt_json_value *value, uint32_t number,
	const struct bt_perf_workload *workload, struct bt_perf_op *op, struct berth_error *err)
{
	const struct reading reading = {arena, workload};
	*op = (struct bt_perf_op){.number = number, .source = value};
	if (value->type != BT_JSON_OBJECT) {
		int result = bt_perf_wrong_type("operation", "object", value, err);
		return bt_error_wrap(err, result, "op %u", number);
	}
	int result = read_opcode(value, &op->opcode, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "op %u", number);
	}
	result = read_members(&reading, value, op, err);
	if (result == 0 && op->create_pods != NULL) {
		op->pods = BT_ARENA_NEW(arena, struct bt_perf_op);
		*op->pods = (struct bt_perf_op){.number = number, .opcode = BT_PERF_CREATE_PODS};
		result = read_members(&reading, op->create_pods, op->pods, err);
		result = result < 0 ? bt_error_wrap(err, result, "createPodsOp") : 0;
	}
	return result < 0
		? bt_error_wrap(err, result, "op %u (%s)", number, opcode_names[op->opcode])
		: 0;
}
