/* SPDX-License-Identifier: Apache-2.0 */
/** Instances of Google's cluster data of 2019: tasks and alloc instances, which become pods. */
#include <string.h>

#include "api/time.h"
#include "base/alloc.h"
#include "codec/json.h"
#include "replay/google_private.h"

#define EXPRESSIONS_MAX 32
#define PRIORITY_MAX 1000000

enum column {
	TYPE,
	COLLECTION,
	COLLECTION_TYPE,
	PRIORITY,
	ALLOC_COLLECTION,
	INDEX,
	MACHINE,
	CPUS,
	MEMORY,
	CONSTRAINT,
	TIME,
	COLUMN__COUNT,
};
const char *const bt_google_instance_columns[] = {"type", "collection_id", "collection_type",
	"priority", "alloc_collection_id", "instance_index", "machine_id", "resource_request.cpus",
	"resource_request.memory", "constraint", "time"};
const uint32_t bt_google_instance_column_count = COLUMN__COUNT;

enum event {
	SUBMIT,
	QUEUE,
	ENABLE,
	SCHEDULE,
	EVICT,
	FAIL,
	FINISH,
	KILL,
	LOST,
	UPDATE_PENDING,
	UPDATE_RUNNING,
	EVENT__COUNT,
};
static const char *const events[EVENT__COUNT] = {"SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT",
	"FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING", "UPDATE_RUNNING"};

/** --- constraints --- */

static const char *const relations[] = {"EQUAL", "NOT_EQUAL", "LESS_THAN", "GREATER_THAN",
	"LESS_THAN_EQUAL", "GREATER_THAN_EQUAL", "PRESENT", "NOT_PRESENT"};
enum relation { EQUAL, NOT_EQUAL, LESS, GREATER, LESS_EQUAL, GREATER_EQUAL, PRESENT, NOT_PRESENT };

static struct bt_str member_text(const struct bt_json_value *object, const char *name)
{
	const struct bt_json_value *member = bt_json_find(object, name);
	return member != NULL && (member->type == BT_JSON_STRING || member->type == BT_JSON_NUMBER)
		? member->text
		: BT_STR("");
}

/**
 * Makes a node affinity expression. Returns false if the constraint is malformed, or if it compares
 * with a text that is not a whole number: Lt and Gt of node affinity compare only whole numbers.
 */
static bool make_expression(struct bt_google *google, const struct bt_json_value *constraint,
	struct bt_trace_expression *out_expression)
{
	static const char *const operators[] = {
		"In", "NotIn", "Lt", "Gt", "Lt", "Gt", "Exists", "DoesNotExist"};
	struct bt_str name = member_text(constraint, "name");
	struct bt_str relation_text = member_text(constraint, "relation");
	/* An absent relation means the first word, EQUAL. */
	int relation = relation_text.length == 0
		? EQUAL
		: bt_google_read_word(relation_text, relations, BT_ARRAY_LENGTH(relations));
	struct bt_str *value = BT_ARENA_NEW(&google->arena, struct bt_str);
	*value = bt_google_label(google, member_text(constraint, "value"));
	if (name.length == 0 || relation < 0) {
		return false;
	}
	if (relation >= LESS && relation <= GREATER_EQUAL) {
		int64_t number;
		if (!bt_str_parse_int64(member_text(constraint, "value"), &number) ||
			number == INT64_MAX || number == INT64_MIN) {
			return false;
		}
		number += relation == LESS_EQUAL ? 1 : relation == GREATER_EQUAL ? -1 : 0;
		*value = bt_arena_printf(&google->arena, "%lld", (long long)number);
	}
	*out_expression = (struct bt_trace_expression){
		.key = bt_arena_printf(&google->arena, BT_GOOGLE_LABEL "%.*s",
			BT_STR_ARG(bt_google_label(google, name))),
		.operator= operators[relation],
		.values = value,
		.value_count = relation < PRESENT,
	};
	return true;
}

/**
 * Converts the constraints of a row to expressions. Returns why some constraints are left out, or
 * NULL if all constraints are used. text: a JSON array; "": the row has no constraints.
 */
static const char *read_constraints(struct bt_google *google, struct bt_str text,
	struct bt_trace_expression *expressions, uint32_t *out_count)
{
	struct bt_json_value *list = NULL;
	const char *loss = NULL;
	*out_count = 0;
	if (text.length == 0) {
		return NULL;
	}
	if (bt_json_parse(&google->arena, text, true, &list, NULL) < 0 ||
		list->type != BT_JSON_ARRAY) {
		return "constraint is no JSON list of constraints: the pod has none";
	}
	if (list->count != 0 && !google->has_attributes) {
		return "constraints count only if the table machine_attributes is among the files";
	}
	for (uint32_t i = 0; i < list->count; i++) {
		if (*out_count == EXPRESSIONS_MAX) {
			return "there are more than 32 constraints: the others do not count";
		}
		if (make_expression(google, list->elements[i], &expressions[*out_count])) {
			(*out_count)++;
		} else {
			loss = "a constraint has no name or relation, or compares with what is no "
			       "whole number";
		}
	}
	return loss;
}

/** --- pods --- */

static uint64_t hash_instance(int64_t collection, int64_t index)
{
	return bt_hash_u64(bt_hash_u64(0, (uint64_t)collection), (uint64_t)index);
}

static uint32_t find_instance(const struct bt_google *google, int64_t collection, int64_t index)
{
	BT_MAP_EACH (&google->instances_by_id, hash_instance(collection, index), id) {
		if (google->instances.items[id].collection == collection &&
			google->instances.items[id].index == index) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

static struct bt_str pod_name(struct bt_google *google, const struct bt_google_instance *instance)
{
	return bt_arena_printf(&google->arena, "%lld-%lld", (long long)instance->collection,
		(long long)instance->index);
}

/** Writes the pod's JSON, with its node, to google->text. */
static void write_pod(struct bt_google *google, const struct bt_google_instance *instance)
{
	struct bt_trace_expression expressions[EXPRESSIONS_MAX];
	struct bt_trace_amount amounts[2];
	const char *apart_keys[2];
	struct bt_str owner =
		bt_arena_printf(&google->arena, "%lld", (long long)instance->collection);
	/* The ranges are those of the trace's documentation. */
	struct bt_str tier = instance->priority >= 360 ? BT_STR("monitoring")
		: instance->priority >= 120            ? BT_STR("production")
		: instance->priority >= 116            ? BT_STR("mid")
		: instance->priority >= 100            ? BT_STR("best-effort-batch")
						       : BT_STR("free");
	const struct bt_str_pair labels[] = {
		{BT_STR(BT_GOOGLE_LABEL "collection"), owner},
		{BT_STR(BT_GOOGLE_LABEL "tier"), tier},
		{BT_STR(BT_GOOGLE_LABEL "type"),
			instance->is_alloc ? BT_STR("alloc") : BT_STR("task")},
	};
	struct bt_trace_pod pod = {
		.name = pod_name(google, instance),
		.time = bt_time_text(
			&google->arena, bt_import_start_ns(google->import) + google->time_ns),
		.labels = labels,
		.label_count = BT_ARRAY_LENGTH(labels),
		.amounts = amounts,
		.amount_count = BT_ARRAY_LENGTH(amounts),
		.owner = owner,
		.node_name = instance->machine != 0
			? bt_google_machine_name(google, instance->machine)
			: BT_STR(""),
		.priority = instance->priority,
		.expressions = expressions,
		.apart_keys = apart_keys,
		.apart_label = labels[0],
	};
	const struct bt_google_collection *collection =
		bt_google_find_collection(google, instance->collection);
	bt_google_amounts(google, instance->cpus, instance->memory, amounts);
	/* The lost constraints were counted when the row was read. */
	(void)read_constraints(google,
		instance->constraints != NULL ? bt_str_from(instance->constraints) : BT_STR(""),
		expressions, &pod.expression_count);
	if (collection != NULL && collection->max_per_machine == 1) {
		apart_keys[pod.apart_count++] = "kubernetes.io/hostname";
	}
	if (collection != NULL && collection->max_per_switch == 1) {
		apart_keys[pod.apart_count++] = BT_GOOGLE_SWITCH_LABEL;
	}
	bt_trace_write_pod(&pod, &google->text);
}

static int append_line(struct bt_google *google, const struct bt_google_instance *instance,
	enum bt_recording_event event, struct berth_error *err)
{
	const struct bt_recording_line line = {
		.event = event,
		.kind = BT_KIND_POD,
		.time_ns = google->time_ns,
		.namespace_ = BT_STR("default"),
		.name = pod_name(google, instance),
		.json = bt_strbuf_str(&google->text),
		.duration_ns = -1,
	};
	return bt_import_append(google->import, &line, err);
}

/** Appends a merge patch of the pod, composed of before, value and after. */
static int append_patch(struct bt_google *google, const struct bt_google_instance *instance,
	const char *before, const char *value, const char *after, struct berth_error *err)
{
	bt_strbuf_reset(&google->text);
	bt_strbuf_printf(&google->text, "%s%s%s", before, value, after);
	return append_line(google, instance, BT_RECORDING_CHANGE, err);
}

static int make_wait(
	struct bt_google *google, struct bt_google_instance *instance, struct berth_error *err)
{
	instance->state = BT_GOOGLE_WAITING;
	write_pod(google, instance);
	return append_line(google, instance, BT_RECORDING_ADD, err);
}

int bt_google_release_held(struct bt_google *google, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < google->held.count && result == 0; i++) {
		struct bt_google_instance *instance =
			&google->instances.items[google->held.items[i]];
		if (instance->state == BT_GOOGLE_HELD) {
			result = make_wait(google, instance, err);
			bt_arena_reset(&google->arena);
		}
	}
	google->held.count = 0;
	return result;
}

void bt_google_start_instances(struct bt_google *google)
{
	for (uint32_t i = 0; i < google->held.count; i++) {
		struct bt_google_instance *instance =
			&google->instances.items[google->held.items[i]];
		if (instance->state == BT_GOOGLE_HELD && instance->machine != 0) {
			instance->state = BT_GOOGLE_RUNNING;
			write_pod(google, instance);
			bt_import_add_object(google->import, bt_strbuf_str(&google->text));
			bt_arena_reset(&google->arena);
		}
	}
}

/** --- events --- */

/** The values of a row. */
struct row {
	enum event event;
	struct bt_google_instance instance; /* except `constraints` */
	struct bt_str constraints;
	int64_t alloc_collection;
};

static bool read_number(struct bt_str text, int64_t max, int64_t *out_number)
{
	*out_number = 0;
	return text.length == 0 ||
		(bt_str_parse_int64(text, out_number) && *out_number >= 0 && *out_number <= max);
}

static const char *read_row(const struct bt_str *values, struct row *out_row)
{
	static const char *const types[] = {"JOB", "ALLOC_SET"};
	struct bt_google_instance *instance = &out_row->instance;
	int event = bt_google_read_word(values[TYPE], events, EVENT__COUNT);
	int type = values[COLLECTION_TYPE].length == 0
		? 0
		: bt_google_read_word(values[COLLECTION_TYPE], types, BT_ARRAY_LENGTH(types));
	*out_row = (struct row){.event = (enum event)event, .constraints = values[CONSTRAINT]};
	if (event < 0) {
		return "type is no event of an instance";
	}
	if (!bt_str_parse_int64(values[COLLECTION], &instance->collection) ||
		instance->collection <= 0) {
		return "collection_id is no positive number";
	}
	if (type < 0) {
		return "collection_type is neither a job nor an alloc set";
	}
	if (!read_number(values[INDEX], INT32_MAX, &instance->index)) {
		return "instance_index is no number";
	}
	if (!read_number(values[PRIORITY], PRIORITY_MAX, &instance->priority)) {
		return "priority is no number from 0 to 1000000";
	}
	if (!read_number(values[ALLOC_COLLECTION], INT64_MAX, &out_row->alloc_collection)) {
		return "alloc_collection_id is no number";
	}
	if (!bt_trace_read_fraction(values[CPUS], &instance->cpus) ||
		!bt_trace_read_fraction(values[MEMORY], &instance->memory)) {
		return "resource_request is no fraction of a machine";
	}
	if (values[MACHINE].length != 0 &&
		!bt_str_parse_int64(values[MACHINE], &instance->machine)) {
		return "machine_id is no number";
	}
	instance->is_alloc = type == 1;
	return out_row->alloc_collection != 0
		? "the instance runs inside an alloc set, whose own pods stand for it"
		: NULL;
}

static int schedule(struct bt_google *google, struct bt_google_instance *instance,
	const struct row *row, const char **out_flaw, struct berth_error *err)
{
	int64_t id = row->instance.machine;
	const struct bt_google_machine *machine =
		id > 0 ? bt_google_find_machine(google, id) : NULL;
	int result = 0;
	if (instance->state == BT_GOOGLE_RUNNING || instance->machine != 0) {
		*out_flaw = "SCHEDULE of an instance that runs";
	} else if (id < 0) {
		*out_flaw = "SCHEDULE to a dedicated machine, which is outside of the cluster";
	} else if (machine == NULL || !machine->is_there) {
		*out_flaw = "SCHEDULE to a machine that is not there";
	}
	if (*out_flaw != NULL) {
		return 0;
	}
	if (!google->has_begun) {
		instance->state = BT_GOOGLE_HELD;
		instance->machine = id;
		return 0;
	}
	if (instance->state != BT_GOOGLE_WAITING) {
		result = make_wait(google, instance, err);
	}
	instance->state = BT_GOOGLE_RUNNING;
	instance->machine = id;
	return result < 0 ? result
			  : append_patch(google, instance, "{\"spec\":{\"nodeName\":\"",
				    bt_google_machine_name(google, id).data, "\"}}", err);
}

static int end(struct bt_google *google, uint32_t id, enum event event, struct berth_error *err)
{
	struct bt_google_instance *instance = &google->instances.items[id];
	int result = 0;
	if (instance->state == BT_GOOGLE_HELD && google->has_begun) {
		result = make_wait(google, instance, err);
	}
	bool has_pod = instance->state == BT_GOOGLE_WAITING || instance->state == BT_GOOGLE_RUNNING;
	if (result == 0 && has_pod && event == EVICT) {
		const struct bt_google_machine *machine =
			bt_google_find_machine(google, instance->machine);
		/* A pod whose machine was removed is not a victim of preemption. */
		result = append_patch(google, instance,
			"{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":"
			"\"True\",\"reason\":\"",
			machine != NULL && machine->is_there ? "PreemptionByScheduler"
							     : "DeletionByPodGC",
			"\"}]}}", err);
	} else if (result == 0 && has_pod && (event == FAIL || event == FINISH)) {
		result = append_patch(google, instance, "{\"status\":{\"phase\":\"",
			event == FAIL ? "Failed" : "Succeeded", "\"}}", err);
	}
	if (result == 0 && has_pod) {
		result = append_line(google, instance, BT_RECORDING_DELETE, err);
	}
	(void)bt_map_remove(&google->instances_by_id,
		hash_instance(instance->collection, instance->index), id); /* the map has it */
	bt_free(instance->constraints);
	*instance = (struct bt_google_instance){.state = BT_GOOGLE_GONE};
	/* The list of held instances may still have this id; readers check the state. */
	bt_vec_push(&google->free_instances, id);
	return result;
}

static int update(struct bt_google *google, struct bt_google_instance *instance,
	const struct row *row, struct berth_error *err)
{
	struct bt_trace_amount amounts[2];
	const struct bt_trace_pod pod = {.amounts = amounts, .amount_count = 2};
	bool is_same =
		instance->cpus == row->instance.cpus && instance->memory == row->instance.memory;
	instance->cpus = row->instance.cpus;
	instance->memory = row->instance.memory;
	if (is_same || instance->state == BT_GOOGLE_HELD || instance->state == BT_GOOGLE_QUEUED) {
		return 0;
	}
	bt_google_amounts(google, instance->cpus, instance->memory, amounts);
	bt_trace_write_pod_requests(&pod, &google->text);
	return append_line(google, instance, BT_RECORDING_CHANGE, err);
}

int bt_google_take_instance(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, const char **out_loss, struct berth_error *err)
{
	struct row row;
	*out_flaw = read_row(values, &row);
	if (*out_flaw != NULL) {
		return 0;
	}
	uint32_t id = find_instance(google, row.instance.collection, row.instance.index);
	if (row.event == SUBMIT) {
		struct bt_trace_expression expressions[EXPRESSIONS_MAX];
		uint32_t count;
		if (id != BT_MAP_NONE) {
			*out_flaw = "SUBMIT of an instance that is there";
			return 0;
		}
		*out_loss = read_constraints(google, row.constraints, expressions, &count);
		row.instance.state = BT_GOOGLE_HELD;
		row.instance.machine = 0;
		if (row.constraints.length != 0) {
			row.instance.constraints =
				bt_strndup(row.constraints.data, row.constraints.length);
		}
		bt_vec_store(&google->instances, &google->free_instances, row.instance, id);
		bt_map_insert(&google->instances_by_id,
			hash_instance(row.instance.collection, row.instance.index), id);
		bt_vec_push(&google->held, id);
		return 0;
	}
	if (id == BT_MAP_NONE) {
		*out_flaw = "an event of an instance that was not submitted";
		return 0;
	}
	struct bt_google_instance *instance = &google->instances.items[id];
	switch (row.event) {
	case QUEUE: {
		if (instance->state == BT_GOOGLE_RUNNING || instance->machine != 0) {
			*out_flaw = "QUEUE of an instance that runs";
			return 0;
		}
		bool has_pod = instance->state == BT_GOOGLE_WAITING;
		instance->state = BT_GOOGLE_QUEUED;
		return has_pod ? append_line(google, instance, BT_RECORDING_DELETE, err) : 0;
	}
	case ENABLE:
		if (instance->state != BT_GOOGLE_QUEUED) {
			return 0;
		}
		if (!google->has_begun) {
			instance->state =
				BT_GOOGLE_HELD; /* it is still in the list of held instances */
			return 0;
		}
		return make_wait(google, instance, err);
	case SCHEDULE:
		return schedule(google, instance, &row, out_flaw, err);
	case UPDATE_PENDING:
	case UPDATE_RUNNING:
		return update(google, instance, &row, err);
	case EVICT:
	case FAIL:
	case FINISH:
	case KILL:
	case LOST:
		return end(google, id, row.event, err);
	case SUBMIT:
	case EVENT__COUNT:
		break;
	}
	return 0;
}
