/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/import.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"

struct bt_import *bt_import_create(
	const char *output_path, bool is_gzipped, const char *source, int64_t start_ns)
{
	struct bt_import *import = BT_NEW(struct bt_import);
	import->output_path = output_path;
	import->source = source;
	import->is_gzipped = is_gzipped;
	import->start_ns = start_ns;
	bt_heap_init(&import->due, NULL, NULL);
	return import;
}

void bt_import_destroy(struct bt_import *import)
{
	if (import == NULL) {
		return;
	}
	bt_recording_abandon(import->writer);
	for (uint32_t i = 0; i < import->objects.count; i++) {
		bt_free(import->objects.items[i]);
	}
	for (uint32_t i = 0; i < import->departures.count; i++) {
		bt_strbuf_finish(&import->departures.items[i].text);
	}
	bt_vec_finish(&import->objects);
	bt_vec_finish(&import->departures);
	bt_vec_finish(&import->free_departures);
	bt_heap_finish(&import->due);
	bt_vec_finish(&import->defects);
	bt_free(import);
}

void bt_import_add_defect(struct bt_import *import, const char *path, unsigned long line,
	const char *reason, bool is_row_kept)
{
	struct bt_import_defect *found = NULL;
	for (uint32_t i = 0; i < import->defects.count; i++) {
		struct bt_import_defect *defect = &import->defects.items[i];
		if (strcmp(defect->reason, reason) == 0 && strcmp(defect->path, path) == 0) {
			found = defect;
		}
	}
	if (found == NULL) {
		const struct bt_import_defect defect = {path, reason, is_row_kept, 0, {0}};
		bt_vec_push(&import->defects, defect);
		found = &import->defects.items[import->defects.count - 1];
	}
	if (found->count < BT_IMPORT_LINES_SHOWN) {
		found->lines[found->count] = line;
	}
	found->count++;
}

void bt_import_extend(struct bt_import *import, int64_t end_ns)
{
	int64_t max_ns = BT_RECORDING_SECONDS_MAX * BT_NS_PER_SECOND;
	end_ns = end_ns < max_ns ? end_ns : max_ns;
	import->end_ns = end_ns > import->end_ns ? end_ns : import->end_ns;
}

void bt_import_add_object(struct bt_import *import, struct bt_str json)
{
	BT_ASSERT(import->writer == NULL);
	bt_vec_push(&import->objects, bt_strndup(json.data, json.length));
}

int bt_import_begin(struct bt_import *import, struct berth_error *err)
{
	const struct bt_recording_header header = {
		.start_ns = import->start_ns,
		.object_count = import->objects.count,
		.source = bt_str_from(import->source),
		.part = 1,
	};
	int result = bt_recording_create(
		import->output_path, import->is_gzipped, &header, &import->writer, err);
	for (uint32_t i = 0; i < import->objects.count; i++) {
		const struct bt_recording_line line = {.event = BT_RECORDING_ADD,
			.json = bt_str_from(import->objects.items[i]),
			.duration_ns = -1,
			.is_start = true};
		if (result == 0) {
			result = bt_recording_append(import->writer, &line, err);
		}
		bt_free(import->objects.items[i]);
	}
	import->object_count = import->objects.count;
	import->objects.count = 0;
	return result;
}

/** Writes the deletions that are due. */
static int write_departures(struct bt_import *import, int64_t until_ns, struct berth_error *err)
{
	int result = 0;
	while (result == 0 && import->due.slots.count != 0 &&
		import->due.slots.items[0].major <= until_ns) {
		uint32_t index = bt_heap_pop(&import->due);
		struct bt_import_departure *departure = &import->departures.items[index];
		struct bt_str text = bt_strbuf_str(&departure->text);
		const struct bt_recording_line line = {
			.event = BT_RECORDING_DELETE,
			.kind = BT_KIND_POD,
			.time_ns = departure->time_ns,
			.namespace_ = bt_str_sub(text, 0, departure->namespace_length),
			.name = bt_str_sub(text, departure->namespace_length, text.length),
			.duration_ns = -1,
		};
		import->time_ns = line.time_ns;
		result = bt_recording_append(import->writer, &line, err);
		bt_strbuf_finish(&departure->text);
		bt_vec_push(&import->free_departures, index);
	}
	return result;
}

int bt_import_append(
	struct bt_import *import, const struct bt_recording_line *line, struct berth_error *err)
{
	BT_ASSERT(line->time_ns >= import->time_ns);
	int result = write_departures(import, line->time_ns, err);
	if (result < 0) {
		return result;
	}
	import->time_ns = line->time_ns;
	import->pod_count += line->event == BT_RECORDING_ADD && line->kind == BT_KIND_POD;
	return bt_recording_append(import->writer, line, err);
}

int bt_import_add_pod(
	struct bt_import *import, const struct bt_import_pod *pod, struct berth_error *err)
{
	const struct bt_recording_line line = {
		.event = BT_RECORDING_ADD,
		.kind = BT_KIND_POD,
		.time_ns = pod->time_ns,
		.json = pod->json,
		.duration_ns = pod->runs_ns,
	};
	int result = bt_import_append(import, &line, err);
	if (result == 0 && pod->leaves_ns >= 0) {
		struct bt_import_departure departure = {
			.time_ns = pod->leaves_ns, .namespace_length = pod->namespace_.length};
		uint32_t index;
		BT_ASSERT(pod->leaves_ns >= pod->time_ns);
		bt_strbuf_append_str(&departure.text, pod->namespace_);
		bt_strbuf_append_str(&departure.text, pod->name);
		bt_vec_store(&import->departures, &import->free_departures, departure, index);
		bt_heap_push(&import->due, index, pod->leaves_ns, import->departure_count++);
	}
	bt_import_extend(import, pod->ends_ns);
	return result;
}

int bt_import_end(struct bt_import *import, struct berth_error *err)
{
	int result = write_departures(import, INT64_MAX, err);
	const struct bt_recording_line end = {.event = BT_RECORDING_END,
		.time_ns = import->end_ns > import->time_ns ? import->end_ns : import->time_ns,
		.duration_ns = -1};
	if (result == 0) {
		result = bt_recording_append(import->writer, &end, err);
	}
	if (result == 0) {
		result = bt_recording_flush(import->writer, err);
	}
	if (result == 0) {
		struct bt_recording_writer *writer = import->writer;
		import->writer = NULL;
		result = bt_recording_finish(writer, false, &import->bytes, err);
	}
	return result;
}
