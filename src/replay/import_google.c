/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Google's cluster data of 2019. The tables are read in the order of time. Rows with time 0
 * describe the state before the trace: their machines and instances are the cluster at the start.
 * Instances, which are tasks and alloc instances, become pods. berth-import(1) describes how rows
 * are converted.
 */
#include <string.h>

#include "api/selector.h"
#include "api/time.h"
#include "base/alloc.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_edit.h"
#include "replay/import.h"
#include "replay/rows.h"
#include "replay/trace_objects.h"

#define EXPRESSIONS_MAX 32
#define MICROSECONDS_MAX (BT_RECORDING_SECONDS_MAX * 1000000)
#define PRIORITY_MAX 1000000

/** Tables in the order in which rows of the same time are processed. */
enum table {
	MACHINES,
	ATTRIBUTES,
	COLLECTIONS,
	INSTANCES,
	TABLE__COUNT,
};

/** In each list of columns, the time is the last one. */
static const char *const machine_columns[] = {"machine_id", "type", "switch_id", "platform_id",
	"capacity.cpus", "capacity.memory", "time"};
enum machine_column {
	MACHINE_ID,
	MACHINE_TYPE,
	MACHINE_SWITCH,
	MACHINE_PLATFORM,
	MACHINE_CPUS,
	MACHINE_MEMORY
};
static const char *const attribute_columns[] = {"machine_id", "name", "value", "deleted", "time"};
enum attribute_column { ATTRIBUTE_MACHINE, ATTRIBUTE_NAME, ATTRIBUTE_VALUE, ATTRIBUTE_DELETED };
static const char *const collection_columns[] = {
	"collection_id", "type", "max_per_machine", "max_per_switch", "time"};
enum collection_column {
	COLLECTION_ID,
	COLLECTION_TYPE,
	COLLECTION_MAX_PER_MACHINE,
	COLLECTION_MAX_PER_SWITCH
};
static const char *const instance_columns[] = {"type", "collection_id", "collection_type",
	"priority", "alloc_collection_id", "instance_index", "machine_id", "resource_request.cpus",
	"resource_request.memory", "constraint", "time"};
enum instance_column {
	INSTANCE_TYPE,
	INSTANCE_COLLECTION,
	INSTANCE_COLLECTION_TYPE,
	INSTANCE_PRIORITY,
	INSTANCE_ALLOC_COLLECTION,
	INSTANCE_INDEX,
	INSTANCE_MACHINE,
	INSTANCE_CPUS,
	INSTANCE_MEMORY,
	INSTANCE_CONSTRAINT
};

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

/** Prefix of labels made from the trace's attributes. */
#define LABEL "google-2019/"
#define SWITCH_LABEL LABEL "switch"

struct attribute {
	char *name;  /* label name; owned */
	char *value; /* label value; owned; NULL: deleted */
};

struct machine {
	int64_t id;
	bool is_there;
	double cpus;
	double memory;
	char *platform; /* label values; owned; NULL: not known */
	char *switch_;
	BT_VEC(struct attribute) attributes;
};

/**
 * Limits of a collection: how many of its instances may run on one machine and on one switch. 0: no
 * limit.
 */
struct collection {
	int64_t id; /* 0: the record is free */
	int64_t max_per_machine;
	int64_t max_per_switch;
};

enum state {
	GONE,
	HELD,    /* submitted now; a later row of the same time may queue it */
	QUEUED,  /* held back by the batch scheduler: has no pod yet */
	WAITING, /* has a pod without a node */
	RUNNING,
};

struct instance {
	enum state state;
	int64_t collection;
	int64_t index;
	int64_t machine; /* id of the machine where it runs; 0: none */
	double cpus;
	double memory;
	int64_t priority;
	bool is_alloc;
	char *constraints; /* JSON; owned; NULL: none */
};

struct google {
	struct bt_import *import;
	const struct bt_import_request *request;
	int64_t time_ns;     /* of the current row */
	bool has_begun;      /* all rows of time 0 were read */
	bool has_attributes; /* the table of machine attributes exists */
	BT_VEC(struct machine) machines;
	struct bt_map machines_by_id;
	BT_VEC(struct collection) collections;
	BT_VEC(uint32_t) free_collections;
	struct bt_map collections_by_id;
	BT_VEC(struct instance) instances;
	BT_VEC(uint32_t) free_instances;
	struct bt_map instances_by_id;
	BT_VEC(uint32_t) held; /* held instances, in the order of their submission */
	struct bt_arena arena; /* reset for each row */
	struct bt_strbuf text;
};

/** An input file. */
struct source {
	struct bt_rows *rows;
	enum table table;
	uint32_t time_column;
	const struct bt_str *values; /* the next row */
	int64_t time_ns;             /* of the next row */
};

/** --- names --- */

static struct bt_str machine_name(struct google *google, int64_t id)
{
	return bt_arena_printf(&google->arena, "m-%lld", (long long)id);
}

/**
 * Makes text valid as a label's name or value. Equal texts give equal results. The result is in the
 * row's arena.
 */
static struct bt_str make_label(struct google *google, struct bt_str text)
{
	struct bt_strbuf label = {0};
	if (bt_label_value_is_valid(text)) {
		return text;
	}
	bt_strbuf_append_char(&label, 'x');
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (bt_is_digit(byte) || bt_is_letter(byte)) {
			bt_strbuf_append_char(&label, byte);
		} else {
			bt_strbuf_printf(&label, "_%02x", (unsigned)(unsigned char)byte);
		}
	}
	if (label.length >= BT_LABEL_NAME_MAX) {
		label.length = BT_LABEL_NAME_MAX - 1;
	}
	bt_strbuf_append_char(&label, 'x');
	return bt_arena_take_strbuf(&google->arena, &label);
}

/**
 * Reads a number, or one of the words that stand for the numbers 0 to count - 1. Returns -1 if the
 * text is neither.
 */
static int read_word(struct bt_str text, const char *const *words, uint32_t count)
{
	int64_t number;
	if (bt_str_parse_int64(text, &number)) {
		return number >= 0 && number < count ? (int)number : -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (bt_str_equal_c(text, words[i])) {
			return (int)i;
		}
	}
	return -1;
}

static void make_amounts(const struct google *google, double cpus, double memory,
	struct bt_trace_amount out_amounts[2])
{
	out_amounts[0] = (struct bt_trace_amount){
		"cpu", bt_trace_scale(cpus, google->request->machine_cpu_milli), "m", false};
	out_amounts[1] = (struct bt_trace_amount){
		"memory", bt_trace_scale(memory, google->request->machine_memory_bytes), "", false};
}

/** --- machines --- */

/** Returns NULL if the machine never existed. */
static struct machine *find_machine(const struct google *google, int64_t id)
{
	BT_MAP_EACH (&google->machines_by_id, bt_hash_u64(0, (uint64_t)id), index) {
		if (google->machines.items[index].id == id) {
			return &google->machines.items[index];
		}
	}
	return NULL;
}

static struct machine *find_or_add_machine(struct google *google, int64_t id)
{
	struct machine *found = find_machine(google, id);
	if (found == NULL) {
		struct machine machine = {.id = id};
		bt_map_insert(&google->machines_by_id, bt_hash_u64(0, (uint64_t)id),
			google->machines.count);
		bt_vec_push(&google->machines, machine);
		found = &google->machines.items[google->machines.count - 1];
	}
	return found;
}

static void write_machine(struct google *google, const struct machine *machine, bool is_whole)
{
	struct bt_str_pair *labels = BT_ARENA_NEW_ARRAY(
		&google->arena, struct bt_str_pair, machine->attributes.count + 3);
	struct bt_trace_amount amounts[2];
	uint32_t count = 0;
	labels[count++] = (struct bt_str_pair){
		BT_STR("kubernetes.io/hostname"), machine_name(google, machine->id)};
	labels[count++] =
		(struct bt_str_pair){BT_STR(LABEL "platform"), bt_str_from(machine->platform)};
	labels[count++] = (struct bt_str_pair){BT_STR(SWITCH_LABEL), bt_str_from(machine->switch_)};
	for (uint32_t i = 0; i < machine->attributes.count; i++) {
		const struct attribute *attribute = &machine->attributes.items[i];
		labels[count++] = (struct bt_str_pair){
			bt_arena_printf(&google->arena, LABEL "%s", attribute->name),
			bt_str_from(attribute->value)};
	}
	const struct bt_trace_node node = {
		.name = machine_name(google, machine->id),
		.time = bt_time_text(&google->arena, google->import->start_ns + google->time_ns),
		.labels = labels,
		.label_count = count,
		.amounts = amounts,
		.amount_count = BT_ARRAY_LENGTH(amounts),
	};
	make_amounts(google, machine->cpus, machine->memory, amounts);
	if (is_whole) {
		bt_trace_write_node(&node, &google->text);
	} else {
		bt_trace_write_node_amounts(&node, &google->text);
	}
}

/**
 * Appends a line with the JSON in google->text. Does nothing while rows of time 0 are read, because
 * `begin` writes the machines of that time.
 */
static int append_node(struct google *google, const struct machine *machine,
	enum bt_recording_event event, struct berth_error *err)
{
	const struct bt_recording_line line = {
		.event = event,
		.kind = BT_KIND_NODE,
		.time_ns = google->time_ns,
		.namespace_ = BT_STR(""),
		.name = machine_name(google, machine->id),
		.json = bt_strbuf_str(&google->text),
		.duration_ns = -1,
	};
	return google->has_begun ? bt_import_append(google->import, &line, err) : 0;
}

static const char *read_machine_id(struct bt_str text, int64_t *out_id)
{
	return bt_str_parse_int64(text, out_id) && *out_id > 0 ? NULL
							       : "machine_id is no positive number";
}

static void set_text(char **text, struct bt_str label)
{
	if (label.length != 0) {
		bt_free(*text);
		*text = bt_strndup(label.data, label.length);
	}
}

static int take_machine(struct google *google, const struct bt_str *values, const char **out_flaw,
	struct berth_error *err)
{
	enum { UNKNOWN, ADD, REMOVE, UPDATE, TYPE__COUNT };
	static const char *const types[TYPE__COUNT] = {
		"EVENT_TYPE_UNKNOWN", "ADD", "REMOVE", "UPDATE"};
	int type = read_word(values[MACHINE_TYPE], types, TYPE__COUNT);
	double cpus;
	double memory;
	int64_t id;
	*out_flaw = read_machine_id(values[MACHINE_ID], &id);
	if (*out_flaw == NULL && type <= UNKNOWN) {
		*out_flaw = "type is none of ADD, REMOVE, UPDATE";
	}
	if (*out_flaw == NULL &&
		(!bt_trace_read_fraction(values[MACHINE_CPUS], &cpus) ||
			!bt_trace_read_fraction(values[MACHINE_MEMORY], &memory))) {
		*out_flaw = "capacity is no fraction of a machine";
	}
	if (*out_flaw == NULL && type != REMOVE &&
		(values[MACHINE_CPUS].length == 0 || values[MACHINE_MEMORY].length == 0)) {
		*out_flaw = "capacity.cpus or capacity.memory is missing";
	}
	if (*out_flaw != NULL) {
		return 0;
	}
	struct machine *machine = find_or_add_machine(google, id);
	bool was_there = machine->is_there;
	if (type != ADD && !was_there) {
		*out_flaw = "REMOVE or UPDATE of a machine that is not there";
		return 0;
	}
	machine->is_there = type != REMOVE;
	if (type == REMOVE) {
		return append_node(google, machine, BT_RECORDING_DELETE, err);
	}
	machine->cpus = cpus;
	machine->memory = memory;
	set_text(&machine->platform, make_label(google, values[MACHINE_PLATFORM]));
	set_text(&machine->switch_, make_label(google, values[MACHINE_SWITCH]));
	write_machine(google, machine, !was_there);
	return append_node(
		google, machine, was_there ? BT_RECORDING_CHANGE : BT_RECORDING_ADD, err);
}

static int take_attribute(struct google *google, const struct bt_str *values, const char **out_flaw,
	struct berth_error *err)
{
	int64_t id;
	struct bt_str name = make_label(google, values[ATTRIBUTE_NAME]);
	struct bt_str value = make_label(google, values[ATTRIBUTE_VALUE]);
	*out_flaw = read_machine_id(values[ATTRIBUTE_MACHINE], &id);
	if (*out_flaw == NULL && name.length == 0) {
		*out_flaw = "name is missing";
	}
	if (*out_flaw != NULL) {
		return 0;
	}
	bool is_deleted = value.length == 0 || bt_str_equal_c(values[ATTRIBUTE_DELETED], "true");
	struct machine *machine = find_or_add_machine(google, id);
	uint32_t at = 0;
	while (at < machine->attributes.count &&
		!bt_str_equal_c(name, machine->attributes.items[at].name)) {
		at++;
	}
	if (at == machine->attributes.count) {
		struct attribute fresh = {.name = bt_strndup(name.data, name.length)};
		bt_vec_push(&machine->attributes, fresh);
	}
	bt_free(machine->attributes.items[at].value);
	machine->attributes.items[at].value =
		is_deleted ? NULL : bt_strndup(value.data, value.length);
	if (!machine->is_there || !google->has_begun) {
		return 0;
	}
	bt_strbuf_reset(&google->text);
	struct bt_str label = bt_arena_printf(&google->arena, LABEL "%.*s", BT_STR_ARG(name));
	const struct bt_json_value *patch = is_deleted
		? bt_json_put(&google->arena, NULL, "{metadata: {labels: {%c: null}}}", label.data)
		: bt_json_put(&google->arena, NULL, "{metadata: {labels: {%c: %s}}}", label.data,
			  value);
	bt_json_format(patch, &google->text);
	return append_node(google, machine, BT_RECORDING_CHANGE, err);
}

/** --- collections --- */

/** Returns NULL if the collection has no limits, or its table is not given. */
static struct collection *find_collection(const struct google *google, int64_t id)
{
	BT_MAP_EACH (&google->collections_by_id, bt_hash_u64(0, (uint64_t)id), index) {
		if (google->collections.items[index].id == id) {
			return &google->collections.items[index];
		}
	}
	return NULL;
}

static void take_collection(struct google *google, const struct bt_str *values,
	const char **out_flaw, const char **out_loss)
{
	struct collection collection = {0};
	int type = read_word(values[COLLECTION_TYPE], events, EVENT__COUNT);
	if (!bt_str_parse_int64(values[COLLECTION_ID], &collection.id) || collection.id <= 0) {
		*out_flaw = "collection_id is no positive number";
		return;
	}
	if (type < 0) {
		*out_flaw = "type is no event of a collection";
		return;
	}
	/* An absent value and 0 mean no limit. */
	(void)bt_str_parse_int64(values[COLLECTION_MAX_PER_MACHINE], &collection.max_per_machine);
	(void)bt_str_parse_int64(values[COLLECTION_MAX_PER_SWITCH], &collection.max_per_switch);
	if (collection.max_per_machine > 1 || collection.max_per_switch > 1) {
		*out_loss = "max_per_machine and max_per_switch count only if they are 1";
	}
	struct collection *known = find_collection(google, collection.id);
	uint32_t index;
	bool has_ended = type >= EVICT && type <= LOST;
	bool has_limit = collection.max_per_machine == 1 || collection.max_per_switch == 1;
	if (known != NULL && (has_ended || !has_limit)) {
		index = (uint32_t)(known - google->collections.items);
		(void)bt_map_remove(&google->collections_by_id,
			bt_hash_u64(0, (uint64_t)collection.id), index); /* the map has it */
		known->id = 0;
		bt_vec_push(&google->free_collections, index);
	} else if (known != NULL) {
		*known = collection;
	} else if (!has_ended && has_limit) {
		bt_vec_store(&google->collections, &google->free_collections, collection, index);
		bt_map_insert(
			&google->collections_by_id, bt_hash_u64(0, (uint64_t)collection.id), index);
	}
}

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
static bool make_expression(struct google *google, const struct bt_json_value *constraint,
	struct bt_trace_expression *out_expression)
{
	static const char *const operators[] = {
		"In", "NotIn", "Lt", "Gt", "Lt", "Gt", "Exists", "DoesNotExist"};
	struct bt_str name = member_text(constraint, "name");
	struct bt_str relation_text = member_text(constraint, "relation");
	/* An absent relation means the first word, EQUAL. */
	int relation = relation_text.length == 0
		? EQUAL
		: read_word(relation_text, relations, BT_ARRAY_LENGTH(relations));
	struct bt_str *value = BT_ARENA_NEW(&google->arena, struct bt_str);
	*value = make_label(google, member_text(constraint, "value"));
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
		.key = bt_arena_printf(
			&google->arena, LABEL "%.*s", BT_STR_ARG(make_label(google, name))),
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
static const char *read_constraints(struct google *google, struct bt_str text,
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

static uint32_t find_instance(const struct google *google, int64_t collection, int64_t index)
{
	BT_MAP_EACH (&google->instances_by_id, hash_instance(collection, index), id) {
		if (google->instances.items[id].collection == collection &&
			google->instances.items[id].index == index) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

static struct bt_str pod_name(struct google *google, const struct instance *instance)
{
	return bt_arena_printf(&google->arena, "%lld-%lld", (long long)instance->collection,
		(long long)instance->index);
}

/** Writes the pod's JSON, with its node, to google->text. */
static void write_pod(struct google *google, const struct instance *instance)
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
		{BT_STR(LABEL "collection"), owner},
		{BT_STR(LABEL "tier"), tier},
		{BT_STR(LABEL "type"), instance->is_alloc ? BT_STR("alloc") : BT_STR("task")},
	};
	struct bt_trace_pod pod = {
		.name = pod_name(google, instance),
		.time = bt_time_text(&google->arena, google->import->start_ns + google->time_ns),
		.labels = labels,
		.label_count = BT_ARRAY_LENGTH(labels),
		.amounts = amounts,
		.amount_count = BT_ARRAY_LENGTH(amounts),
		.owner = owner,
		.node_name = instance->machine != 0 ? machine_name(google, instance->machine)
						    : BT_STR(""),
		.priority = instance->priority,
		.expressions = expressions,
		.apart_keys = apart_keys,
		.apart_label = labels[0],
	};
	const struct collection *collection = find_collection(google, instance->collection);
	make_amounts(google, instance->cpus, instance->memory, amounts);
	/* The lost constraints were counted when the row was read. */
	(void)read_constraints(google,
		instance->constraints != NULL ? bt_str_from(instance->constraints) : BT_STR(""),
		expressions, &pod.expression_count);
	if (collection != NULL && collection->max_per_machine == 1) {
		apart_keys[pod.apart_count++] = "kubernetes.io/hostname";
	}
	if (collection != NULL && collection->max_per_switch == 1) {
		apart_keys[pod.apart_count++] = SWITCH_LABEL;
	}
	bt_trace_write_pod(&pod, &google->text);
}

static int append_line(struct google *google, const struct instance *instance,
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
static int append_patch(struct google *google, const struct instance *instance, const char *before,
	const char *value, const char *after, struct berth_error *err)
{
	bt_strbuf_reset(&google->text);
	bt_strbuf_printf(&google->text, "%s%s%s", before, value, after);
	return append_line(google, instance, BT_RECORDING_CHANGE, err);
}

static int make_wait(struct google *google, struct instance *instance, struct berth_error *err)
{
	instance->state = WAITING;
	write_pod(google, instance);
	return append_line(google, instance, BT_RECORDING_ADD, err);
}

/** Call after the last row with the same time: held instances become pods without a node. */
static int release_held(struct google *google, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < google->held.count && result == 0; i++) {
		struct instance *instance = &google->instances.items[google->held.items[i]];
		if (instance->state == HELD) {
			result = make_wait(google, instance, err);
			bt_arena_reset(&google->arena);
		}
	}
	google->held.count = 0;
	return result;
}

/** --- events --- */

/** The values of a row. */
struct row {
	enum event event;
	struct instance instance; /* except `constraints` */
	struct bt_str constraints;
	int64_t alloc_collection;
};

static bool read_number(struct bt_str text, int64_t max, int64_t *out_number)
{
	*out_number = 0;
	return text.length == 0 ||
		(bt_str_parse_int64(text, out_number) && *out_number >= 0 && *out_number <= max);
}

static const char *read_instance(const struct bt_str *values, struct row *out_row)
{
	static const char *const types[] = {"JOB", "ALLOC_SET"};
	struct instance *instance = &out_row->instance;
	int event = read_word(values[INSTANCE_TYPE], events, EVENT__COUNT);
	int type = values[INSTANCE_COLLECTION_TYPE].length == 0
		? 0
		: read_word(values[INSTANCE_COLLECTION_TYPE], types, BT_ARRAY_LENGTH(types));
	*out_row = (struct row){
		.event = (enum event)event, .constraints = values[INSTANCE_CONSTRAINT]};
	if (event < 0) {
		return "type is no event of an instance";
	}
	if (!bt_str_parse_int64(values[INSTANCE_COLLECTION], &instance->collection) ||
		instance->collection <= 0) {
		return "collection_id is no positive number";
	}
	if (type < 0) {
		return "collection_type is neither a job nor an alloc set";
	}
	if (!read_number(values[INSTANCE_INDEX], INT32_MAX, &instance->index)) {
		return "instance_index is no number";
	}
	if (!read_number(values[INSTANCE_PRIORITY], PRIORITY_MAX, &instance->priority)) {
		return "priority is no number from 0 to 1000000";
	}
	if (!read_number(
		    values[INSTANCE_ALLOC_COLLECTION], INT64_MAX, &out_row->alloc_collection)) {
		return "alloc_collection_id is no number";
	}
	if (!bt_trace_read_fraction(values[INSTANCE_CPUS], &instance->cpus) ||
		!bt_trace_read_fraction(values[INSTANCE_MEMORY], &instance->memory)) {
		return "resource_request is no fraction of a machine";
	}
	if (values[INSTANCE_MACHINE].length != 0 &&
		!bt_str_parse_int64(values[INSTANCE_MACHINE], &instance->machine)) {
		return "machine_id is no number";
	}
	instance->is_alloc = type == 1;
	return out_row->alloc_collection != 0
		? "the instance runs inside an alloc set, whose own pods stand for it"
		: NULL;
}

static int schedule(struct google *google, struct instance *instance, const struct row *row,
	const char **out_flaw, struct berth_error *err)
{
	int64_t id = row->instance.machine;
	const struct machine *machine = id > 0 ? find_machine(google, id) : NULL;
	int result = 0;
	if (instance->state == RUNNING || instance->machine != 0) {
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
		instance->state = HELD;
		instance->machine = id;
		return 0;
	}
	if (instance->state != WAITING) {
		result = make_wait(google, instance, err);
	}
	instance->state = RUNNING;
	instance->machine = id;
	return result < 0 ? result
			  : append_patch(google, instance, "{\"spec\":{\"nodeName\":\"",
				    machine_name(google, id).data, "\"}}", err);
}

static int end(struct google *google, uint32_t id, enum event event, struct berth_error *err)
{
	struct instance *instance = &google->instances.items[id];
	int result = 0;
	if (instance->state == HELD && google->has_begun) {
		result = make_wait(google, instance, err);
	}
	bool has_pod = instance->state == WAITING || instance->state == RUNNING;
	if (result == 0 && has_pod && event == EVICT) {
		const struct machine *machine = find_machine(google, instance->machine);
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
	*instance = (struct instance){.state = GONE};
	/* The list of held instances may still have this id; readers check the state. */
	bt_vec_push(&google->free_instances, id);
	return result;
}

static int update(struct google *google, struct instance *instance, const struct row *row,
	struct berth_error *err)
{
	struct bt_trace_amount amounts[2];
	const struct bt_trace_pod pod = {.amounts = amounts, .amount_count = 2};
	bool is_same =
		instance->cpus == row->instance.cpus && instance->memory == row->instance.memory;
	instance->cpus = row->instance.cpus;
	instance->memory = row->instance.memory;
	if (is_same || instance->state == HELD || instance->state == QUEUED) {
		return 0;
	}
	make_amounts(google, instance->cpus, instance->memory, amounts);
	bt_trace_write_pod_requests(&pod, &google->text);
	return append_line(google, instance, BT_RECORDING_CHANGE, err);
}

/**
 * Processes a row of the table instance_events. *out_flaw: why the row is left out, or NULL;
 * *out_loss: which part of the row is left out, or NULL.
 */
static int take_instance(struct google *google, const struct bt_str *values, const char **out_flaw,
	const char **out_loss, struct berth_error *err)
{
	struct row row;
	*out_flaw = read_instance(values, &row);
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
		row.instance.state = HELD;
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
	struct instance *instance = &google->instances.items[id];
	switch (row.event) {
	case QUEUE: {
		if (instance->state == RUNNING || instance->machine != 0) {
			*out_flaw = "QUEUE of an instance that runs";
			return 0;
		}
		bool has_pod = instance->state == WAITING;
		instance->state = QUEUED;
		return has_pod ? append_line(google, instance, BT_RECORDING_DELETE, err) : 0;
	}
	case ENABLE:
		if (instance->state != QUEUED) {
			return 0;
		}
		if (!google->has_begun) {
			instance->state = HELD; /* it is still in the list of held instances */
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

/** --- files --- */

static int find_table(struct bt_rows *rows, enum table *out_table, struct berth_error *err)
{
	if (bt_rows_has(rows, "instance_index")) {
		*out_table = INSTANCES;
	} else if (bt_rows_has(rows, "collection_id")) {
		*out_table = COLLECTIONS;
	} else if (bt_rows_has(rows, "machine_id") && bt_rows_has(rows, "type")) {
		*out_table = MACHINES;
	} else if (bt_rows_has(rows, "machine_id") && bt_rows_has(rows, "name")) {
		*out_table = ATTRIBUTES;
	} else {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: is none of the tables machine_events, machine_attributes, "
			"collection_events and instance_events of Google's cluster data of 2019",
			rows->path);
	}
	return 0;
}

/** Reads the next row with a valid time. Returns 0 at the end. */
static int read_row(struct source *source, struct berth_error *err)
{
	int result;
	while ((result = bt_rows_next(source->rows, &source->values, err)) == 1) {
		int64_t microseconds;
		const char *flaw = NULL;
		if (!bt_str_parse_int64(source->values[source->time_column], &microseconds) ||
			microseconds < 0) {
			flaw = "time is no number of microseconds";
		} else if (microseconds > MICROSECONDS_MAX) {
			flaw = "time is behind the end of the trace";
		} else if (microseconds * BT_NS_PER_US < source->time_ns) {
			flaw = "time is before that of a row above: the file must be sorted by it";
		}
		if (flaw == NULL) {
			source->time_ns = microseconds * BT_NS_PER_US;
			return 1;
		}
		bt_rows_add_defect(source->rows, flaw, false);
	}
	return result;
}

/** Writes the cluster at the start, after the last row of time 0. */
static int begin(struct google *google, struct berth_error *err)
{
	google->time_ns = 0;
	for (uint32_t i = 0; i < google->machines.count; i++) {
		if (google->machines.items[i].is_there) {
			write_machine(google, &google->machines.items[i], true);
			bt_import_add_object(google->import, bt_strbuf_str(&google->text));
			bt_arena_reset(&google->arena);
		}
	}
	for (uint32_t i = 0; i < google->held.count; i++) {
		struct instance *instance = &google->instances.items[google->held.items[i]];
		if (instance->state == HELD && instance->machine != 0) {
			instance->state = RUNNING;
			write_pod(google, instance);
			bt_import_add_object(google->import, bt_strbuf_str(&google->text));
			bt_arena_reset(&google->arena);
		}
	}
	google->has_begun = true;
	return bt_import_begin(google->import, err);
}

static int take_row(struct google *google, const struct source *source, struct berth_error *err)
{
	const char *flaw = NULL;
	const char *loss = NULL;
	int result = 0;
	if (source->time_ns != google->time_ns) {
		result = google->has_begun ? 0 : begin(google, err);
		if (result == 0) {
			result = release_held(google, err);
		}
		google->time_ns = source->time_ns;
	}
	if (result < 0) {
		return result;
	}
	switch (source->table) {
	case MACHINES:
		result = take_machine(google, source->values, &flaw, err);
		break;
	case ATTRIBUTES:
		result = take_attribute(google, source->values, &flaw, err);
		break;
	case COLLECTIONS:
		take_collection(google, source->values, &flaw, &loss);
		break;
	case INSTANCES:
		result = take_instance(google, source->values, &flaw, &loss, err);
		break;
	case TABLE__COUNT:
		break;
	}
	if (flaw != NULL || loss != NULL) {
		bt_rows_add_defect(source->rows, flaw != NULL ? flaw : loss, flaw == NULL);
	}
	bt_arena_reset(&google->arena);
	return result;
}

/**
 * Processes the rows of all files in the order of time. Rows of the same time are processed by
 * table, then by file.
 */
static int merge(
	struct google *google, struct source *sources, uint32_t count, struct berth_error *err)
{
	struct bt_heap next;
	int result = 0;
	bt_heap_init(&next, NULL, NULL);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		result = read_row(&sources[i], err);
		if (result == 1) {
			bt_heap_push(&next, i, sources[i].time_ns,
				((int64_t)sources[i].table << 32) + i);
			result = 0;
		}
	}
	while (result == 0 && next.slots.count != 0) {
		uint32_t index = bt_heap_top(&next);
		struct source *source = &sources[index];
		result = take_row(google, source, err);
		if (result < 0) {
			break;
		}
		result = read_row(source, err);
		if (result == 1) {
			bt_heap_update(&next, index, source->time_ns,
				((int64_t)source->table << 32) + index);
			result = 0;
		} else {
			(void)bt_heap_pop(&next); /* this source is at its end */
		}
	}
	bt_heap_finish(&next);
	return result;
}

int bt_import_google_2019(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct google google = {.import = import, .request = request};
	struct source *sources = BT_NEW_ARRAY(struct source, request->path_count);
	bool has_table[TABLE__COUNT] = {false};
	int result = 0;
	for (uint32_t i = 0; i < request->path_count && result == 0; i++) {
		result = bt_rows_open(request->paths[i], import, &sources[i].rows, err);
		if (result == 0) {
			result = find_table(sources[i].rows, &sources[i].table, err);
		}
		if (result == 0) {
			has_table[sources[i].table] = true;
			const struct {
				const char *const *names;
				uint32_t count;
			} columns[TABLE__COUNT] = {
				[MACHINES] = {machine_columns, BT_ARRAY_LENGTH(machine_columns)},
				[ATTRIBUTES] = {attribute_columns,
					BT_ARRAY_LENGTH(attribute_columns)},
				[COLLECTIONS] = {collection_columns,
					BT_ARRAY_LENGTH(collection_columns)},
				[INSTANCES] = {instance_columns, BT_ARRAY_LENGTH(instance_columns)},
			};
			sources[i].time_column = columns[sources[i].table].count - 1;
			bt_rows_select(sources[i].rows, columns[sources[i].table].names,
				columns[sources[i].table].count);
		}
	}
	google.has_attributes = has_table[ATTRIBUTES];
	if (result == 0 && (!has_table[MACHINES] || !has_table[INSTANCES])) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"the table %s is missing: name files of machine_events and of "
			"instance_events",
			has_table[MACHINES] ? "instance_events" : "machine_events");
	}
	if (result == 0) {
		result = merge(&google, sources, request->path_count, err);
	}
	if (result == 0 && !google.has_begun) {
		result = begin(&google, err);
	}
	if (result == 0) {
		result = release_held(&google, err);
	}
	for (uint32_t i = 0; i < request->path_count; i++) {
		bt_rows_close(sources[i].rows);
	}
	bt_free(sources);
	for (uint32_t i = 0; i < google.machines.count; i++) {
		struct machine *machine = &google.machines.items[i];
		for (uint32_t k = 0; k < machine->attributes.count; k++) {
			bt_free(machine->attributes.items[k].name);
			bt_free(machine->attributes.items[k].value);
		}
		bt_vec_finish(&machine->attributes);
		bt_free(machine->platform);
		bt_free(machine->switch_);
	}
	for (uint32_t i = 0; i < google.instances.count; i++) {
		bt_free(google.instances.items[i].constraints);
	}
	bt_vec_finish(&google.machines);
	bt_vec_finish(&google.collections);
	bt_vec_finish(&google.free_collections);
	bt_vec_finish(&google.instances);
	bt_vec_finish(&google.free_instances);
	bt_vec_finish(&google.held);
	bt_map_finish(&google.machines_by_id);
	bt_map_finish(&google.collections_by_id);
	bt_map_finish(&google.instances_by_id);
	bt_arena_finish(&google.arena);
	bt_strbuf_finish(&google.text);
	return result;
}
