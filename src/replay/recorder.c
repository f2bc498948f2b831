/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recorder.h"

#include <dirent.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "replay/change_lines.h"

/** Files with higher numbers are taken for dates, not for parts. */
#define PARTS_CHECKED 100000

/** A line that is not written yet. */
struct waiting {
	enum bt_recording_event event;
	enum bt_kind kind;
	int64_t arrival_ns;
	int64_t order;         /* resource version; never decreases among lines of a kind */
	int64_t duration_ns;   /* duration of a gap; -1: the line is no gap */
	struct bt_strbuf text; /* namespace, name, JSON, one after the other */
	uint32_t namespace_length;
	uint32_t name_length;
};

struct bt_recorder {
	struct bt_recorder_options options;
	struct bt_recording_writer *writer; /* NULL if beginning a part failed */
	int64_t now_ns;                     /* of the change that is added */
	int64_t part_ns;                    /* time at which the part began */
	int64_t part_wall_ns;               /* the same time by the wall clock; 0: no part yet */
	int64_t time_ns;                    /* time of the last line, relative to part_ns */
	uint64_t part_start_bytes;
	bool has_lines;                 /* since the last flush */
	BT_VEC(struct waiting) waiting; /* lines that are not written yet, by order */
	int64_t last_order[BT_KIND__COUNT];
	struct bt_recorder_counts counts; /* bytes: only of earlier parts */
	struct bt_change_lines lines;
	struct bt_strbuf json;        /* JSON of an object at the start of a part */
	struct berth_error visit_err; /* error of writing a part's start */
	int visit_result;
};

/** --- parts --- */

/** Returns the length of the path without suffixes: "load" of load.berthrec.gz. */
static uint32_t stem_length(struct bt_str path)
{
	uint32_t end = bt_str_has_suffix(path, BT_STR(".gz")) ? path.length - 3 : path.length;
	uint32_t at = end;
	while (at > 0 && path.data[at - 1] != '.' && path.data[at - 1] != '/') {
		at--;
	}
	/* A dot at the start of the file's name does not begin a suffix. */
	bool has_suffix = at > 1 && path.data[at - 1] == '.' && path.data[at - 2] != '/';
	return has_suffix ? at - 1 : end;
}

/**
 * Appends the path of a part. The first part has the path of the options, and later parts have a
 * number before the suffix: load.berthrec, load.2.berthrec.
 */
static void append_path(
	const struct bt_recorder_options *options, uint32_t part, struct bt_strbuf *out)
{
	struct bt_str path = bt_str_from(options->path);
	uint32_t stem = stem_length(path);
	bt_strbuf_append_str(out, bt_str_sub(path, 0, stem));
	if (part > 1) {
		bt_strbuf_printf(out, ".%u", part);
	}
	bt_strbuf_append_str(out, bt_str_sub(path, stem, path.length));
}

static void count_object(void *context, BT_UNUSED const struct bt_object *object)
{
	uint32_t *count = context;
	(*count)++;
}

static void collect_names(void *context, const struct bt_object *object)
{
	bt_snapshot_stream_collect_names(context, object);
}

static void write_object(void *context, const struct bt_object *object)
{
	struct bt_recorder *recorder = context;
	if (recorder->visit_result < 0) {
		return;
	}
	bt_strbuf_reset(&recorder->json);
	(void)bt_snapshot_stream_append(recorder->lines.forms, object,
		&recorder->json); /* the JSON contains the metadata */
	const struct bt_recording_line line = {
		.event = BT_RECORDING_ADD,
		.kind = object->kind,
		.json = bt_strbuf_str(&recorder->json),
		.duration_ns = -1,
		.is_start = true,
	};
	recorder->visit_result = bt_recording_append(recorder->writer, &line, &recorder->visit_err);
}

static int begin_part(struct bt_recorder *recorder, int64_t now_ns, struct berth_error *err)
{
	const struct bt_recorder_options *options = &recorder->options;
	struct bt_strbuf path = {0};
	uint32_t object_count = 0;
	options->for_each_object(options->cluster, count_object, &object_count);
	recorder->counts.parts++;
	append_path(options, recorder->counts.parts, &path);
	/* If the wall clock was set back, the part starts at the end of the part before. */
	int64_t end_ns = recorder->part_wall_ns + recorder->time_ns;
	int64_t wall_ns = options->wall_ns();
	recorder->part_wall_ns = wall_ns > end_ns ? wall_ns : end_ns;
	const struct bt_recording_header header = {
		.start_ns = recorder->part_wall_ns,
		.object_count = object_count,
		.source = BT_STR("berth record"),
		.recording = bt_str_from(options->recording),
		.part = recorder->counts.parts,
	};
	int result = bt_recording_create(
		bt_strbuf_c(&path), options->is_gzipped, &header, &recorder->writer, err);
	bt_strbuf_finish(&path);
	if (result < 0) {
		return result;
	}
	recorder->part_ns = now_ns;
	recorder->time_ns = 0;
	options->for_each_object(options->cluster, write_object, recorder);
	if (recorder->visit_result < 0) {
		(void)bt_error_move(err, &recorder->visit_err);
		return recorder->visit_result;
	}
	result = bt_recording_flush(recorder->writer, err);
	recorder->part_start_bytes = bt_recording_size(recorder->writer);
	recorder->counts.start_bytes += recorder->part_start_bytes;
	if (recorder->counts.parts == 1) {
		recorder->counts.objects = object_count;
	}
	return result;
}

static int end_part(struct bt_recorder *recorder, struct berth_error *err)
{
	struct bt_recording_writer *writer = recorder->writer;
	uint64_t bytes;
	recorder->writer = NULL;
	int result = bt_recording_finish(writer, true, &bytes, err);
	recorder->counts.bytes += bytes;
	return result;
}

/**
 * Checks at the start that no file has the name of a later part, because that part would end the
 * recording. A folder that cannot be read is no error here.
 */
static int check_later_parts(const struct bt_recorder_options *options, struct berth_error *err)
{
	struct bt_str path = bt_str_from(options->path);
	uint32_t name = (uint32_t)(bt_str_find_last_char(path, '/') + 1);
	uint32_t number =
		stem_length(path) - name + 1; /* where the name of a part has its number */
	struct bt_strbuf text = {0};
	bt_strbuf_append_str(&text, name != 0 ? bt_str_sub(path, 0, name) : BT_STR("."));
	bool has_parts = options->rotate_bytes != 0 || options->rotate_ns != 0;
	DIR *directory = has_parts ? opendir(bt_strbuf_c(&text)) : NULL;
	const struct dirent *entry = NULL;
	int result = 0;
	while (result == 0 && directory != NULL && (entry = readdir(directory)) != NULL) {
		struct bt_str found = bt_str_from(entry->d_name);
		uint32_t around = path.length - name + 1; /* all but the number */
		int64_t part;
		if (found.length <= around ||
			!bt_str_parse_int64(
				bt_str_sub(found, number, found.length - around), &part) ||
			part < 2 || part >= PARTS_CHECKED) {
			continue;
		}
		bt_strbuf_reset(&text);
		append_path(options, (uint32_t)part, &text);
		if (bt_str_equal(found, bt_str_sub(bt_strbuf_str(&text), name, BT_STR_MAX))) {
			result = bt_error_set(err, BERTH_ERR_EXISTS,
				"%s: is there already, and part %lld would go there; name another "
				"file, or remove it",
				bt_strbuf_c(&text), (long long)part);
		}
	}
	if (directory != NULL) {
		(void)closedir(directory); /* read only: nothing can be lost */
	}
	bt_strbuf_finish(&text);
	return result;
}

int bt_recorder_create(const struct bt_recorder_options *options, int64_t now_ns,
	struct bt_recorder **out_recorder, struct berth_error *err)
{
	int result = check_later_parts(options, err);
	if (result < 0) {
		return result;
	}
	struct bt_recorder *recorder = BT_NEW(struct bt_recorder);
	recorder->options = *options;
	recorder->visit_err = (struct berth_error)BERTH_ERROR_INIT;
	recorder->lines.forms = bt_snapshot_stream_create(options->strip_names);
	options->for_each_object(options->cluster, collect_names, recorder->lines.forms);
	bt_snapshot_stream_sort_names(recorder->lines.forms);
	result = begin_part(recorder, now_ns, err);
	if (result < 0) {
		bt_recorder_destroy(recorder);
		return result;
	}
	*out_recorder = recorder;
	return 0;
}

void bt_recorder_destroy(struct bt_recorder *recorder)
{
	if (recorder == NULL) {
		return;
	}
	bt_recording_abandon(recorder->writer);
	bt_vec_finish_each(&recorder->waiting, bt_strbuf_finish(&each->text));
	bt_snapshot_stream_destroy(recorder->lines.forms);
	bt_change_lines_finish(&recorder->lines);
	bt_strbuf_finish(&recorder->json);
	berth_error_finish(&recorder->visit_err);
	bt_free(recorder);
}

/** --- adding changes --- */

/** Adds a line after all lines of its kind. context: the recorder. */
static void push(void *context, const struct bt_recording_line *line, struct bt_str version)
{
	struct bt_recorder *recorder = context;
	struct waiting waiting = {.event = line->event,
		.kind = line->kind,
		.arrival_ns = recorder->now_ns,
		.order = recorder->last_order[line->kind],
		.duration_ns = line->duration_ns,
		.namespace_length = line->namespace_.length,
		.name_length = line->name.length};
	int64_t number;
	if (bt_str_parse_int64(version, &number) && number > waiting.order) {
		waiting.order = number;
	}
	recorder->last_order[line->kind] = waiting.order;
	bt_strbuf_append_str(&waiting.text, line->namespace_);
	bt_strbuf_append_str(&waiting.text, line->name);
	bt_strbuf_append_str(&waiting.text, line->json);

	bt_vec_push(&recorder->waiting, waiting);
	uint32_t at = recorder->waiting.count - 1;
	while (at > 0 && recorder->waiting.items[at - 1].order > waiting.order) {
		recorder->waiting.items[at] = recorder->waiting.items[at - 1];
		at--;
	}
	recorder->waiting.items[at] = waiting;
}

void bt_recorder_take(struct bt_recorder *recorder, int64_t now_ns,
	const struct bt_object *old_object, const struct bt_object *new_object)
{
	recorder->now_ns = now_ns;
	bt_change_lines_make(&recorder->lines, old_object, new_object, push, recorder);
}

void bt_recorder_take_gap(
	struct bt_recorder *recorder, int64_t now_ns, enum bt_kind kind, int64_t length_ns)
{
	const struct bt_recording_line line = {
		.event = BT_RECORDING_GAP,
		.kind = kind,
		.duration_ns = length_ns / BT_NS_PER_US * BT_NS_PER_US,
	};
	recorder->now_ns = now_ns;
	push(recorder, &line, BT_STR(""));
}

/** --- writing lines --- */

/** Writes the waiting lines up to the last line that arrived at until_ns or before. */
static int write_until(struct bt_recorder *recorder, int64_t until_ns, struct berth_error *err)
{
	struct waiting *items = recorder->waiting.items;
	uint32_t count = recorder->waiting.count;
	uint32_t done = 0;
	int result = 0;
	for (uint32_t i = 0; i < count; i++) {
		done = items[i].arrival_ns <= until_ns ? i + 1 : done;
	}
	/* A line with a lower version happened earlier, even if it arrived later. */
	for (uint32_t i = count; i > 1; i--) {
		if (items[i - 2].arrival_ns > items[i - 1].arrival_ns) {
			items[i - 2].arrival_ns = items[i - 1].arrival_ns;
		}
	}
	for (uint32_t i = 0; i < done; i++) {
		const struct waiting *waiting = &items[i];
		struct bt_str text = bt_strbuf_str(&waiting->text);
		uint32_t head = waiting->namespace_length + waiting->name_length;
		/* Microseconds are exact enough and compress better than nanoseconds. */
		int64_t since_ns =
			(waiting->arrival_ns - recorder->part_ns) / BT_NS_PER_US * BT_NS_PER_US;
		const struct bt_recording_line line = {
			.event = waiting->event,
			.kind = waiting->kind,
			.time_ns = BT_MAX(since_ns, recorder->time_ns),
			.namespace_ = bt_str_sub(text, 0, waiting->namespace_length),
			.name = bt_str_sub(text, waiting->namespace_length, waiting->name_length),
			.json = bt_str_sub(text, head, text.length - head),
			.duration_ns = waiting->duration_ns,
		};
		if (result == 0) {
			bool is_gap = waiting->event == BT_RECORDING_GAP;
			recorder->time_ns = line.time_ns;
			recorder->has_lines = true;
			recorder->counts.gaps += is_gap;
			recorder->counts.changes += !is_gap;
			result = bt_recording_append(recorder->writer, &line, err);
		}
		bt_strbuf_finish(&items[i].text);
	}
	for (uint32_t i = done; i < count; i++) {
		items[i - done] = items[i];
	}
	recorder->waiting.count = count - done;
	return result;
}

int bt_recorder_flush(struct bt_recorder *recorder, int64_t now_ns, struct berth_error *err)
{
	const struct bt_recorder_options *options = &recorder->options;
	int result = write_until(recorder, now_ns - BT_RECORDER_WINDOW_NS, err);
	if (result == 0 && recorder->has_lines) {
		result = bt_recording_flush(recorder->writer, err);
		recorder->has_lines = false;
	}
	if (result < 0) {
		return result;
	}
	uint64_t size = bt_recording_size(recorder->writer);
	bool is_large = options->rotate_bytes != 0 && size >= options->rotate_bytes &&
		size >= 2 * recorder->part_start_bytes;
	bool is_old = options->rotate_ns != 0 && now_ns - recorder->part_ns >= options->rotate_ns;
	if (is_large || is_old) {
		/*
		 * The next part starts with the state after all changes so far: write all waiting
		 * lines first.
		 */
		result = write_until(recorder, INT64_MAX, err);
		if (result == 0) {
			result = end_part(recorder, err);
		}
		if (result == 0) {
			result = begin_part(recorder, now_ns, err);
		}
	}
	return result;
}

struct bt_recorder_counts bt_recorder_count(const struct bt_recorder *recorder)
{
	struct bt_recorder_counts counts = recorder->counts;
	counts.by_parts = recorder->lines.forms->by_parts;
	counts.bytes += recorder->writer != NULL ? bt_recording_size(recorder->writer) : 0;
	return counts;
}

int bt_recorder_end(struct bt_recorder *recorder, struct berth_error *err)
{
	int result = write_until(recorder, INT64_MAX, err);
	if (result == 0) {
		result = bt_recording_flush(recorder->writer, err);
	}
	return result == 0 ? end_part(recorder, err) : result;
}
