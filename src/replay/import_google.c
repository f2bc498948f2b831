/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Google's cluster data of 2019: this file merges the tables in the order of time, and reads
 * machines and collections. berth-import(1) describes how rows are converted.
 */
#include <string.h>

#include "api/selector.h"
#include "api/time.h"
#include "base/alloc.h"
#include "base/heap.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "replay/google_private.h"
#include "replay/rows.h"

#define MICROSECONDS_MAX (BT_RECORDING_SECONDS_MAX * 1000000)

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
enum machine_column { MACHINE_ID, TYPE, SWITCH, PLATFORM, CPUS, MEMORY };
static const char *const attribute_columns[] = {"machine_id", "name", "value", "deleted", "time"};
enum attribute_column { ATTRIBUTE_MACHINE, NAME, VALUE, DELETED };
static const char *const collection_columns[] = {
	"collection_id", "type", "max_per_machine", "max_per_switch", "time"};
enum collection_column { COLLECTION_ID, COLLECTION_TYPE, MAX_PER_MACHINE, MAX_PER_SWITCH };

/** An input file. */
struct source {
	struct bt_rows *rows;
	enum table table;
	uint32_t time_column;
	const struct bt_str *values; /* the next row */
	int64_t time_ns;             /* of the next row */
};

/** --- names --- */

struct bt_str bt_google_machine_name(struct bt_google *google, int64_t id)
{
	return bt_arena_printf(&google->arena, "m-%lld", (long long)id);
}

struct bt_str bt_google_label(struct bt_google *google, struct bt_str text)
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

int bt_google_read_word(struct bt_str text, const char *const *words, uint32_t count)
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

void bt_google_amounts(const struct bt_google *google, double cpus, double memory,
	struct bt_trace_amount out_amounts[2])
{
	out_amounts[0] = (struct bt_trace_amount){
		"cpu", bt_trace_scale(cpus, google->request->machine_cpu_milli), "m", false};
	out_amounts[1] = (struct bt_trace_amount){
		"memory", bt_trace_scale(memory, google->request->machine_memory_bytes), "", false};
}

/** --- machines --- */

struct bt_google_machine *bt_google_find_machine(const struct bt_google *google, int64_t id)
{
	BT_MAP_EACH (&google->machines_by_id, bt_hash_u64(0, (uint64_t)id), index) {
		if (google->machines.items[index].id == id) {
			return &google->machines.items[index];
		}
	}
	return NULL;
}

static struct bt_google_machine *find_or_add_machine(struct bt_google *google, int64_t id)
{
	struct bt_google_machine *found = bt_google_find_machine(google, id);
	if (found == NULL) {
		struct bt_google_machine machine = {.id = id};
		bt_map_insert(&google->machines_by_id, bt_hash_u64(0, (uint64_t)id),
			google->machines.count);
		bt_vec_push(&google->machines, machine);
		found = &google->machines.items[google->machines.count - 1];
	}
	return found;
}

static void write_machine(
	struct bt_google *google, const struct bt_google_machine *machine, bool is_whole)
{
	struct bt_str_pair *labels = BT_ARENA_NEW_ARRAY(
		&google->arena, struct bt_str_pair, machine->attributes.count + 3);
	struct bt_trace_amount amounts[2];
	uint32_t count = 0;
	labels[count++] = (struct bt_str_pair){
		BT_STR("kubernetes.io/hostname"), bt_google_machine_name(google, machine->id)};
	labels[count++] = (struct bt_str_pair){
		BT_STR(BT_GOOGLE_LABEL "platform"), bt_str_from(machine->platform)};
	labels[count++] =
		(struct bt_str_pair){BT_STR(BT_GOOGLE_SWITCH_LABEL), bt_str_from(machine->switch_)};
	for (uint32_t i = 0; i < machine->attributes.count; i++) {
		const struct bt_google_attribute *attribute = &machine->attributes.items[i];
		labels[count++] = (struct bt_str_pair){
			bt_arena_printf(&google->arena, BT_GOOGLE_LABEL "%s", attribute->name),
			bt_str_from(attribute->value)};
	}
	const struct bt_trace_node node = {
		.name = bt_google_machine_name(google, machine->id),
		.time = bt_time_text(
			&google->arena, bt_import_start_ns(google->import) + google->time_ns),
		.labels = labels,
		.label_count = count,
		.amounts = amounts,
		.amount_count = BT_ARRAY_LENGTH(amounts),
	};
	bt_google_amounts(google, machine->cpus, machine->memory, amounts);
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
static int append_node(struct bt_google *google, const struct bt_google_machine *machine,
	enum bt_recording_event event, struct berth_error *err)
{
	const struct bt_recording_line line = {
		.event = event,
		.kind = BT_KIND_NODE,
		.time_ns = google->time_ns,
		.namespace_ = BT_STR(""),
		.name = bt_google_machine_name(google, machine->id),
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

static int take_machine(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, struct berth_error *err)
{
	enum { UNKNOWN, ADD, REMOVE, UPDATE, TYPE__COUNT };
	static const char *const types[TYPE__COUNT] = {
		"EVENT_TYPE_UNKNOWN", "ADD", "REMOVE", "UPDATE"};
	int type = bt_google_read_word(values[TYPE], types, TYPE__COUNT);
	double cpus;
	double memory;
	int64_t id;
	*out_flaw = read_machine_id(values[MACHINE_ID], &id);
	if (*out_flaw == NULL && type <= UNKNOWN) {
		*out_flaw = "type is none of ADD, REMOVE, UPDATE";
	}
	if (*out_flaw == NULL &&
		(!bt_trace_read_fraction(values[CPUS], &cpus) ||
			!bt_trace_read_fraction(values[MEMORY], &memory))) {
		*out_flaw = "capacity is no fraction of a machine";
	}
	if (*out_flaw == NULL && type != REMOVE &&
		(values[CPUS].length == 0 || values[MEMORY].length == 0)) {
		*out_flaw = "capacity.cpus or capacity.memory is missing";
	}
	if (*out_flaw != NULL) {
		return 0;
	}
	struct bt_google_machine *machine = find_or_add_machine(google, id);
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
	set_text(&machine->platform, bt_google_label(google, values[PLATFORM]));
	set_text(&machine->switch_, bt_google_label(google, values[SWITCH]));
	write_machine(google, machine, !was_there);
	return append_node(
		google, machine, was_there ? BT_RECORDING_CHANGE : BT_RECORDING_ADD, err);
}

static int take_attribute(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, struct berth_error *err)
{
	int64_t id;
	struct bt_str name = bt_google_label(google, values[NAME]);
	struct bt_str value = bt_google_label(google, values[VALUE]);
	*out_flaw = read_machine_id(values[ATTRIBUTE_MACHINE], &id);
	if (*out_flaw == NULL && name.length == 0) {
		*out_flaw = "name is missing";
	}
	if (*out_flaw != NULL) {
		return 0;
	}
	bool is_deleted = value.length == 0 || bt_str_equal_c(values[DELETED], "true");
	struct bt_google_machine *machine = find_or_add_machine(google, id);
	uint32_t at = 0;
	while (at < machine->attributes.count &&
		!bt_str_equal_c(name, machine->attributes.items[at].name)) {
		at++;
	}
	if (at == machine->attributes.count) {
		struct bt_google_attribute fresh = {.name = bt_strndup(name.data, name.length)};
		bt_vec_push(&machine->attributes, fresh);
	}
	bt_free(machine->attributes.items[at].value);
	machine->attributes.items[at].value =
		is_deleted ? NULL : bt_strndup(value.data, value.length);
	if (!machine->is_there || !google->has_begun) {
		return 0;
	}
	bt_strbuf_reset(&google->text);
	struct bt_str label =
		bt_arena_printf(&google->arena, BT_GOOGLE_LABEL "%.*s", BT_STR_ARG(name));
	const struct bt_json_value *patch = is_deleted
		? bt_json_put(&google->arena, NULL, "{metadata: {labels: {%c: null}}}", label.data)
		: bt_json_put(&google->arena, NULL, "{metadata: {labels: {%c: %s}}}", label.data,
			  value);
	bt_json_format(patch, &google->text);
	return append_node(google, machine, BT_RECORDING_CHANGE, err);
}

/** --- collections --- */

struct bt_google_collection *bt_google_find_collection(const struct bt_google *google, int64_t id)
{
	BT_MAP_EACH (&google->collections_by_id, bt_hash_u64(0, (uint64_t)id), index) {
		if (google->collections.items[index].id == id) {
			return &google->collections.items[index];
		}
	}
	return NULL;
}

static void take_collection(struct bt_google *google, const struct bt_str *values,
	const char **out_flaw, const char **out_loss)
{
	static const char *const types[] = {"SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT",
		"FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING", "UPDATE_RUNNING"};
	enum { EVICT = 4, LOST = 8 };
	struct bt_google_collection collection = {0};
	int type = bt_google_read_word(values[COLLECTION_TYPE], types, BT_ARRAY_LENGTH(types));
	if (!bt_str_parse_int64(values[COLLECTION_ID], &collection.id) || collection.id <= 0) {
		*out_flaw = "collection_id is no positive number";
		return;
	}
	if (type < 0) {
		*out_flaw = "type is no event of a collection";
		return;
	}
	/* An absent value and 0 mean no limit. */
	(void)bt_str_parse_int64(values[MAX_PER_MACHINE], &collection.max_per_machine);
	(void)bt_str_parse_int64(values[MAX_PER_SWITCH], &collection.max_per_switch);
	if (collection.max_per_machine > 1 || collection.max_per_switch > 1) {
		*out_loss = "max_per_machine and max_per_switch count only if they are 1";
	}
	struct bt_google_collection *known = bt_google_find_collection(google, collection.id);
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
			bt_rows_path(rows));
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
static int begin(struct bt_google *google, struct berth_error *err)
{
	google->time_ns = 0;
	for (uint32_t i = 0; i < google->machines.count; i++) {
		if (google->machines.items[i].is_there) {
			write_machine(google, &google->machines.items[i], true);
			bt_import_add_object(google->import, bt_strbuf_str(&google->text));
			bt_arena_reset(&google->arena);
		}
	}
	bt_google_start_instances(google);
	google->has_begun = true;
	return bt_import_begin(google->import, err);
}

static int take_row(struct bt_google *google, const struct source *source, struct berth_error *err)
{
	const char *flaw = NULL;
	const char *loss = NULL;
	int result = 0;
	if (source->time_ns != google->time_ns) {
		result = google->has_begun ? 0 : begin(google, err);
		if (result == 0) {
			result = bt_google_release_held(google, err);
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
		result = bt_google_take_instance(google, source->values, &flaw, &loss, err);
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
	struct bt_google *google, struct source *sources, uint32_t count, struct berth_error *err)
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
	struct bt_google google = {.import = import, .request = request};
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
				[INSTANCES] = {bt_google_instance_columns,
					bt_google_instance_column_count},
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
		result = bt_google_release_held(&google, err);
	}
	for (uint32_t i = 0; i < request->path_count; i++) {
		bt_rows_close(sources[i].rows);
	}
	bt_free(sources);
	for (uint32_t i = 0; i < google.machines.count; i++) {
		struct bt_google_machine *machine = &google.machines.items[i];
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
