/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Imports files of the recorder of kube-scheduler-simulator. Each record has a time, an event and a
 * whole object. The records form a JSON array, or follow one another.
 */
#include <string.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cluster/file.h"
#include "replay/change_import.h"
#include "state/object_store.h"

struct simulator {
	struct bt_import *import;
	struct bt_change_import changes;
	const char *path;
	bool has_begun;                 /* a record was read */
	int64_t time_ns;                /* of the last record, since the start */
	struct bt_object_store objects; /* latest state of each object */
	struct bt_arena arena;          /* reset for each record */
};

enum event { ADDED, UPDATED, DELETED };

/** The members of a record. The data of an absent member is NULL. */
struct record {
	struct bt_str time;
	struct bt_str event;
	struct bt_str object; /* JSON */
};

/** --- records --- */

static int read_record(struct simulator *simulator, struct bt_json_reader *json,
	struct record *out_record, struct berth_error *err)
{
	struct bt_str name;
	int result;
	*out_record = (struct record){.time = {NULL, 0}};
	BT_JSON_EACH_MEMBER (json, &simulator->arena, name, result, err) {
		/* Names are compared without case, as Go's JSON decoder does. */
		if (bt_str_equal_without_case(name, BT_STR("time"))) {
			result = bt_json_read_string(
				json, &simulator->arena, &out_record->time, NULL, err);
		} else if (bt_str_equal_without_case(name, BT_STR("event"))) {
			result = bt_json_read_string(
				json, &simulator->arena, &out_record->event, NULL, err);
		} else if (bt_str_equal_without_case(name, BT_STR("resource"))) {
			result = bt_json_skip(json, &out_record->object, err);
		} else {
			result = bt_json_skip(json, NULL, err);
		}
	}
	return result;
}

static bool find_event(struct bt_str text, enum event *out_event)
{
	static const struct {
		const char *name;
		enum event event;
	} events[] = {{"add", ADDED}, {"added", ADDED}, {"update", UPDATED}, {"updated", UPDATED},
		{"modified", UPDATED}, {"delete", DELETED}, {"deleted", DELETED}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(events); i++) {
		if (bt_str_equal_without_case(text, bt_str_from(events[i].name))) {
			*out_event = events[i].event;
			return true;
		}
	}
	return false;
}

/** Returns why the record is invalid, or NULL. out_object is owned. */
static const char *decode_object(
	struct simulator *simulator, struct bt_str text, struct bt_object **out_object)
{
	struct bt_json_value *value = NULL;
	struct bt_json_reader reader;
	enum bt_kind kind;
	if (bt_json_parse(&simulator->arena, text, false, &value, NULL) < 0 ||
		value->type != BT_JSON_OBJECT) {
		return "resource is no object";
	}
	if (!bt_kind_find(bt_json_find_str(value, "apiVersion"), bt_json_find_str(value, "kind"),
		    &kind)) {
		return "resource is of a kind that no scheduler reads";
	}
	bt_json_reader_init(&reader, text);
	if (bt_object_decode_as(kind, &reader, out_object, NULL) < 0) {
		return "resource is no object of its kind";
	}
	const struct bt_object_meta *meta = (*out_object)->meta;
	if (meta->name.length == 0 ||
		(bt_kind_info(kind)->namespaced && meta->namespace_.length == 0)) {
		bt_object_release(*out_object);
		return "resource has no name or namespace";
	}
	return NULL;
}

static int take_record(struct simulator *simulator, const struct record *record, unsigned long line,
	struct berth_error *err)
{
	struct bt_object *object = NULL;
	struct bt_time time;
	enum event event;
	const char *flaw = NULL;
	if (bt_time_parse(record->time, &time, NULL) < 0 || time.seconds < 0 ||
		time.seconds > BT_RECORDING_SECONDS_MAX) {
		flaw = "time is no RFC 3339 time since 1970";
	} else if (!find_event(record->event, &event)) {
		flaw = "event is none of Add, Update, Delete";
	} else {
		flaw = decode_object(simulator, record->object, &object);
	}
	struct bt_object *old = flaw == NULL
		? bt_object_store_find_object(&simulator->objects, object->kind,
			  object->meta->namespace_, object->meta->name)
		: NULL;
	if (flaw == NULL && event == DELETED && old == NULL) {
		flaw = "Delete of an object that is not there";
		bt_object_release(object);
	}
	if (flaw != NULL) {
		bt_import_add_defect(simulator->import, simulator->path, line, flaw, false);
		return 0;
	}
	if (!simulator->has_begun) {
		simulator->import->start_ns = bt_time_ns(&time);
		simulator->has_begun = true;
	}
	int64_t time_ns = bt_time_ns(&time) - simulator->import->start_ns;
	if (time_ns < simulator->time_ns) {
		bt_import_add_defect(simulator->import, simulator->path, line,
			"time is before that of the record above, whose time it gets", true);
	} else {
		simulator->time_ns = time_ns;
	}
	int result = bt_change_import_take(&simulator->changes, simulator->time_ns, old,
		event != DELETED ? object : NULL, err);
	if (event == DELETED) {
		(void)bt_object_store_delete(&simulator->objects, object->kind,
			object->meta->namespace_, object->meta->name);
		bt_object_release(object);
	} else {
		bt_object_store_put(&simulator->objects, object);
	}
	return result;
}

/** --- files --- */

static bool is_at_end(struct bt_json_reader *json)
{
	while (json->position < json->end && memchr(" \t\r\n", *json->position, 4) != NULL) {
		json->position++;
	}
	return json->position == json->end;
}

static int read_text(struct simulator *simulator, struct bt_str text, struct berth_error *err)
{
	struct bt_json_reader json;
	unsigned long line = 1;
	bool first = true;
	bool more = true;
	int result = 0;
	bt_json_reader_init(&json, text);
	const char *counted = json.position;
	bool is_array = !is_at_end(&json) && *json.position == '[';
	if (is_array) {
		result = bt_json_enter_array(&json, err);
	}
	while (result == 0 && (is_array || !is_at_end(&json))) {
		struct record record;
		bt_arena_reset(&simulator->arena);
		if (is_array) {
			result = bt_json_next_element(&json, &first, &more, err);
			if (result < 0 || !more) {
				break;
			}
			(void)is_at_end(&json); /* skip white space before the record */
		}
		while ((counted = memchr(counted, '\n', (size_t)(json.position - counted))) !=
			NULL) {
			counted++;
			line++;
		}
		counted = json.position;
		struct berth_error flaw = BERTH_ERROR_INIT;
		if (read_record(simulator, &json, &record, &flaw) == 0) {
			result = take_record(simulator, &record, line, err);
		} else if (is_array) {
			result = bt_error_set(err, BERTH_ERR_SYNTAX, "line %lu: %s", line,
				berth_error_message(&flaw));
		} else {
			bt_import_add_defect(simulator->import, simulator->path, line,
				"the line is no JSON object with time, event and resource", false);
			/* Go on at the next line. */
			while (json.position < json.end && *json.position != '\n') {
				json.position++;
			}
			json.depth = 0;
		}
		berth_error_finish(&flaw);
	}
	return result;
}

int bt_import_simulator(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct simulator simulator = {.import = import};
	int result = 0;
	bt_change_import_init(&simulator.changes, import);
	for (uint32_t i = 0; i < request->path_count && result == 0; i++) {
		struct bt_file file;
		simulator.path = request->paths[i];
		result = bt_file_read(simulator.path, BT_FILE_MAPPED_BYTES_MAX, &file, err);
		if (result == 0) {
			result = read_text(
				&simulator, (struct bt_str){file.data, (uint32_t)file.length}, err);
			bt_file_finish(&file);
		}
		result = result < 0 ? bt_error_wrap(err, result, "%s", simulator.path) : 0;
	}
	if (result == 0 && !simulator.has_begun) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: has no record of kube-scheduler-simulator: an object with time, event "
			"and resource",
			request->paths[0]);
	}
	if (result == 0) {
		result = bt_change_import_begin(&simulator.changes, err);
	}
	bt_object_store_finish(&simulator.objects);
	bt_arena_finish(&simulator.arena);
	bt_change_import_finish(&simulator.changes);
	return result;
}
