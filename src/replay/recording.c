/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "cluster/file.h"

/** Lines are passed to zlib once they have this many bytes. */
#define PENDING_BYTES_MAX 65536
#define FRACTION_DIGITS 9

/** --- times --- */

/** Reads seconds with at most nine decimals. */
static bool parse_seconds(struct bt_str text, int64_t *out_ns)
{
	struct bt_str fraction = text;
	struct bt_str whole = bt_str_cut(&fraction, '.');
	int64_t seconds;
	int64_t nanoseconds = 0;
	if (!bt_str_parse_int64(whole, &seconds) || seconds < 0 ||
		seconds > BT_RECORDING_SECONDS_MAX || fraction.length > FRACTION_DIGITS) {
		return false;
	}
	for (uint32_t i = 0; i < FRACTION_DIGITS; i++) {
		char digit = i < fraction.length ? fraction.data[i] : '0';
		if (!bt_is_digit(digit)) {
			return false;
		}
		nanoseconds = nanoseconds * 10 + (digit - '0');
	}
	*out_ns = seconds * BT_NS_PER_SECOND + nanoseconds;
	return true;
}

/** --- reading --- */

static int line_error(const struct bt_recording_reader *reader, int result, struct berth_error *err)
{
	return bt_error_wrap(err, result, "%s: line %lu", reader->path, reader->line_number);
}

static int read_seconds(
	struct bt_json_reader *json, const char *member, int64_t *out_ns, struct berth_error *err)
{
	struct bt_str text;
	int result = bt_json_read_number(json, &text, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", member);
	}
	return parse_seconds(text, out_ns)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "%s: must be seconds from 0 to %" PRId64
			  " with at most nine decimals, not %.*s",
			  member, BT_RECORDING_SECONDS_MAX, BT_STR_ARG(text));
}

/** Finds the kind of an object by its apiVersion and kind. */
static int find_object_kind(struct bt_str object, struct bt_arena *arena, bool *out_known,
	enum bt_kind *out_kind, struct berth_error *err)
{
	struct bt_json_reader json;
	struct bt_str api_version = BT_STR("");
	struct bt_str kind = BT_STR("");
	struct bt_str name;
	int result;
	bt_json_reader_init(&json, object);
	BT_JSON_EACH_MEMBER (&json, arena, name, result, err) {
		if (bt_str_equal_c(name, "apiVersion")) {
			result = bt_json_read_string(&json, arena, &api_version, NULL, err);
		} else if (bt_str_equal_c(name, "kind")) {
			result = bt_json_read_string(&json, arena, &kind, NULL, err);
		} else {
			result = bt_json_skip(&json, NULL, err);
		}
		if (api_version.length != 0 && kind.length != 0) {
			break;
		}
	}
	if (result == 0 && kind.length == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "the object has no kind");
	}
	*out_known = result == 0 && bt_kind_find(api_version, kind, out_kind);
	return result;
}

/** The members of a line. Absent: a number is -1, a text has data NULL. */
struct members {
	bool is_end;
	int64_t time_ns;
	int64_t runs_ns;
	int64_t gap_ns;
	struct bt_str add;
	struct bt_str change;
	struct bt_str delete_;
	struct bt_str name;
	struct bt_str kind;
	struct bt_str patch;
};

static int read_members(struct bt_str text, struct bt_arena *arena, struct members *members,
	struct berth_error *err)
{
	/* Each member is read as seconds, as a string, or kept as JSON. */
	const struct {
		const char *name;
		int64_t *seconds;
		struct bt_str *text;
		struct bt_str *json;
	} fields[] = {
		{"t", .seconds = &members->time_ns},
		{"runs", .seconds = &members->runs_ns},
		{"gap", .seconds = &members->gap_ns},
		{"change", .text = &members->change},
		{"delete", .text = &members->delete_},
		{"name", .text = &members->name},
		{"kind", .text = &members->kind},
		{"add", .json = &members->add},
		{"patch", .json = &members->patch},
	};
	struct bt_json_reader json;
	struct bt_str name;
	int result;
	bt_json_reader_init(&json, text);
	BT_JSON_EACH_MEMBER (&json, arena, name, result, err) {
		size_t i = 0;
		while (i < BT_ARRAY_LENGTH(fields) && !bt_str_equal_c(name, fields[i].name)) {
			i++;
		}
		if (bt_str_equal_c(name, "end")) {
			result = bt_json_read_bool(&json, &members->is_end, err);
		} else if (i == BT_ARRAY_LENGTH(fields)) {
			result = bt_json_skip(&json, NULL, err);
		} else if (fields[i].seconds != NULL) {
			result = read_seconds(&json, fields[i].name, fields[i].seconds, err);
		} else if (fields[i].json != NULL) {
			result = bt_json_skip(&json, fields[i].json, err);
		} else {
			result = bt_json_read_string(&json, arena, fields[i].text, NULL, err);
			result = result < 0 ? bt_error_wrap(err, result, "%s", fields[i].name) : 0;
		}
	}
	return result < 0 ? result : bt_json_expect_end(&json, err);
}

/** Returns 1 and sets *out_line; 0: the scheduler does not read the line's kind. */
static int make_line(struct bt_recording_reader *reader, const struct members *members,
	struct bt_recording_line *out_line, struct berth_error *err)
{
	struct bt_recording_line line = {.time_ns = members->time_ns, .duration_ns = -1};
	struct bt_str kind_name = members->change;
	if (members->time_ns < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "t: is missing");
	}
	if (members->time_ns < reader->time_ns) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"t: the time goes back, from %.3f s in the line before to %.3f s; lines "
			"must be in the order of time",
			(double)reader->time_ns / BT_NS_PER_SECOND,
			(double)members->time_ns / BT_NS_PER_SECOND);
	}
	reader->time_ns = members->time_ns;
	if (members->is_end) {
		line.event = BT_RECORDING_END;
		*out_line = line;
		return 1;
	}
	if (members->add.data != NULL) {
		bool known;
		line.event = BT_RECORDING_ADD;
		line.json = members->add;
		line.duration_ns = members->runs_ns;
		int result =
			find_object_kind(members->add, &reader->arena, &known, &line.kind, err);
		if (result < 0) {
			return bt_error_wrap(err, result, "add");
		}
		*out_line = line;
		return known;
	}
	if (members->change.data != NULL && members->patch.data != NULL) {
		line.event = BT_RECORDING_CHANGE;
		line.json = members->patch;
	} else if (members->delete_.data != NULL) {
		line.event = BT_RECORDING_DELETE;
		kind_name = members->delete_;
	} else if (members->gap_ns >= 0 && members->kind.data != NULL) {
		line.event = BT_RECORDING_GAP;
		line.duration_ns = members->gap_ns;
		kind_name = members->kind;
	} else {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"says nothing: one of add, change with patch, delete, gap with kind, end "
			"is needed");
	}
	int kind = 0;
	while (kind < BT_KIND__COUNT &&
		!bt_str_equal_c(kind_name, bt_kind_info((enum bt_kind)kind)->name)) {
		kind++;
	}
	if (kind == BT_KIND__COUNT) {
		return 0;
	}
	line.kind = (enum bt_kind)kind;
	if (line.event != BT_RECORDING_GAP) {
		/* The name of a namespaced kind is "shop/web-1". */
		bool is_namespaced = bt_kind_info(line.kind)->namespaced;
		line.name = members->name;
		if (is_namespaced) {
			line.namespace_ = bt_str_cut(&line.name, '/');
		}
		if (line.name.length == 0 || (is_namespaced && line.namespace_.length == 0)) {
			return bt_error_set(err, BERTH_ERR_INVALID, "name: must be %s for a %s",
				is_namespaced ? "namespace/name" : "the name",
				bt_kind_info(line.kind)->name);
		}
	}
	*out_line = line;
	return 1;
}

static int read_header(struct bt_recording_reader *reader, struct berth_error *err)
{
	struct bt_str text = {0};
	struct bt_json_value *document = NULL;
	bool more = false;
	struct bt_time start;
	int64_t version = 0;
	int64_t object_count = 0;
	int64_t part = 1;
	int result = bt_line_reader_next(reader->lines, &text, &more, err);
	if (result < 0) {
		return result;
	}
	if (more && bt_json_parse(&reader->header_arena, text, true, &document, NULL) < 0) {
		document = NULL; /* refused below as no recording */
	}
	const struct bt_json_value *member = bt_json_find(document, "berthrec");
	if (member == NULL || member->type != BT_JSON_NUMBER ||
		!bt_json_number_int64(member->text, &version) || version < 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: is no recording: its first line must be {\"berthrec\":1,...}",
			reader->path);
	}
	if (version > BT_RECORDING_VERSION) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: has format %" PRId64 "; this berth reads recordings up to format %d: "
			"use the version of berth that wrote it, or a newer one",
			reader->path, version, BT_RECORDING_VERSION);
	}
	result = bt_time_parse(bt_json_find_str(document, "start"), &start, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s: line 1: start", reader->path);
	}
	if (start.seconds < 0 || start.seconds > BT_RECORDING_SECONDS_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: line 1: start: must be a time from 1970 to 2065", reader->path);
	}
	const struct {
		const char *name;
		int64_t *value;
		int64_t min;
	} numbers[] = {{"objects", &object_count, 0}, {"part", &part, 1}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(numbers); i++) {
		member = bt_json_find(document, numbers[i].name);
		if (member != NULL &&
			(member->type != BT_JSON_NUMBER ||
				!bt_json_number_int64(member->text, numbers[i].value) ||
				*numbers[i].value < numbers[i].min ||
				*numbers[i].value > UINT32_MAX)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: line 1: %s: must be a whole number from %" PRId64 " to %u",
				reader->path, numbers[i].name, numbers[i].min, UINT32_MAX);
		}
	}
	reader->header = (struct bt_recording_header){
		.start_ns = bt_time_ns(&start),
		.object_count = (uint32_t)object_count,
		.source = bt_json_find_str(document, "source"),
		.recording = bt_json_find_str(document, "recording"),
		.part = (uint32_t)part,
	};
	reader->start_count = reader->header.object_count;
	return 0;
}

int bt_recording_open(
	const char *path, struct bt_recording_reader **out_reader, struct berth_error *err)
{
	struct bt_line_reader *lines;
	int result = bt_line_reader_open(path, &lines, err);
	if (result < 0) {
		return result;
	}
	struct bt_recording_reader *reader = BT_NEW(struct bt_recording_reader);
	reader->lines = lines;
	reader->path = bt_strndup(path, strlen(path));
	result = read_header(reader, err);
	if (result < 0) {
		bt_recording_close(reader);
		return result;
	}
	*out_reader = reader;
	return 0;
}

void bt_recording_close(struct bt_recording_reader *reader)
{
	if (reader == NULL) {
		return;
	}
	bt_line_reader_close(reader->lines);
	bt_arena_finish(&reader->header_arena);
	bt_arena_finish(&reader->arena);
	bt_free(reader->path);
	bt_free(reader);
}

int bt_recording_next(struct bt_recording_reader *reader, struct bt_recording_line *out_line,
	struct berth_error *err)
{
	int result = 0;
	while (result == 0 && !reader->is_complete && !reader->is_cut) {
		struct members members = {.time_ns = -1, .runs_ns = -1, .gap_ns = -1};
		struct bt_str text;
		bool more;
		bt_arena_reset(&reader->arena);
		result = bt_line_reader_next(reader->lines, &text, &more, err);
		if (result < 0) {
			return result;
		}
		if (!more) {
			reader->is_cut = true;
			return 0;
		}
		reader->line_number = bt_line_reader_number(reader->lines);
		if (text.length > BT_RECORDING_LINE_BYTES_MAX) {
			result = bt_error_set(err, BERTH_ERR_TOO_LARGE, "is longer than %u bytes",
				BT_RECORDING_LINE_BYTES_MAX);
			return line_error(reader, result, err);
		}
		struct berth_error syntax = BERTH_ERROR_INIT;
		result = read_members(text, &reader->arena, &members, &syntax);
		/* The last line of a recording that was cut off may be incomplete. */
		if (result == BERTH_ERR_SYNTAX &&
			bt_line_reader_next(reader->lines, &text, &more, NULL) == 0 && !more) {
			berth_error_finish(&syntax);
			reader->is_cut = true;
			return 0;
		}
		if (result < 0) {
			result = bt_error_set(err, result, "%s", berth_error_message(&syntax));
			berth_error_finish(&syntax);
			return line_error(reader, result, err);
		}
		result = make_line(reader, &members, out_line, err);
		if (result < 0) {
			return line_error(reader, result, err);
		}
		out_line->is_start = reader->start_count != 0;
		reader->start_count -= out_line->is_start;
		reader->is_complete = result == 1 && out_line->event == BT_RECORDING_END;
	}
	if (reader->is_complete) {
		struct bt_str text;
		bool more;
		int read = bt_line_reader_next(reader->lines, &text, &more, err);
		if (read == 0 && more) {
			read = bt_error_set(err, BERTH_ERR_INVALID,
				"lines follow the end of the recording: each part must be a file "
				"of its own");
			read = line_error(reader, read, err);
		}
		result = read < 0 ? read : result;
	}
	return result;
}

void bt_recording_describe(const struct bt_recording_reader *reader, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "%s: line %lu", reader->path, reader->line_number);
}

/** --- writing --- */

struct bt_recording_writer {
	char *path;
	gzFile file;           /* NULL after an error */
	int descriptor;        /* of file */
	struct bt_strbuf text; /* lines that were not passed to zlib yet */
	int64_t time_ns;
};

static int write_error(
	const struct bt_recording_writer *writer, int number, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "%s: %s; what was written before is kept",
		writer->path, number != 0 ? strerror(number) : "cannot be written");
}

static int write_text(struct bt_recording_writer *writer, struct berth_error *err)
{
	struct bt_str text = bt_strbuf_str(&writer->text);
	errno = 0;
	if (text.length != 0 && gzwrite(writer->file, text.data, text.length) <= 0) {
		return write_error(writer, errno, err);
	}
	bt_strbuf_reset(&writer->text);
	return 0;
}

static void write_seconds(struct bt_json_writer *json, const char *member, int64_t ns)
{
	struct bt_strbuf seconds = {0};
	int64_t fraction = ns % BT_NS_PER_SECOND;
	bt_strbuf_printf(&seconds, "%" PRId64, ns / BT_NS_PER_SECOND);
	if (fraction != 0) {
		bt_strbuf_printf(&seconds, ".%09" PRId64, fraction);
		while (seconds.data[seconds.length - 1] == '0') {
			seconds.length--;
		}
	}
	bt_json_write(json, "%c: %r", member, bt_strbuf_str(&seconds));
	bt_strbuf_finish(&seconds);
}

/** Writes the members of the kind and the name of the line's object. */
static void write_object(
	struct bt_json_writer *json, const char *event, const struct bt_recording_line *line)
{
	const struct bt_kind_info *kind = bt_kind_info(line->kind);
	struct bt_strbuf name = {0};
	if (kind->namespaced) {
		bt_strbuf_append_str(&name, line->namespace_);
		bt_strbuf_append_char(&name, '/');
	}
	bt_strbuf_append_str(&name, line->name);
	bt_json_write(json, "%c: %c, name: %s", event, kind->name, bt_strbuf_str(&name));
	bt_strbuf_finish(&name);
}

int bt_recording_append(struct bt_recording_writer *writer, const struct bt_recording_line *line,
	struct berth_error *err)
{
	struct bt_json_writer json;
	BT_ASSERT(line->time_ns >= writer->time_ns);
	writer->time_ns = line->time_ns;
	bt_json_writer_init(&json, &writer->text, 0);
	bt_json_begin_object(&json);
	write_seconds(&json, "t", line->time_ns);
	switch (line->event) {
	case BT_RECORDING_ADD:
		bt_json_write(&json, "add: %r", line->json);
		if (line->duration_ns >= 0) {
			write_seconds(&json, "runs", line->duration_ns);
		}
		break;
	case BT_RECORDING_CHANGE:
		write_object(&json, "change", line);
		bt_json_write(&json, "patch: %r", line->json);
		break;
	case BT_RECORDING_DELETE:
		write_object(&json, "delete", line);
		break;
	case BT_RECORDING_GAP:
		write_seconds(&json, "gap", line->duration_ns);
		bt_json_write_member_c(&json, "kind", bt_kind_info(line->kind)->name);
		break;
	case BT_RECORDING_END:
		bt_json_write(&json, "end: true");
		break;
	}
	bt_json_end_object(&json);
	bt_strbuf_append_char(&writer->text, '\n');
	return writer->text.length >= PENDING_BYTES_MAX ? write_text(writer, err) : 0;
}

int bt_recording_create(const char *path, bool is_gzipped, const struct bt_recording_header *header,
	struct bt_recording_writer **out_writer, struct berth_error *err)
{
	struct stat status;
	bool is_device = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
	int descriptor = strcmp(path, "-") == 0
		? dup(STDOUT_FILENO)
		: open(path, O_WRONLY | O_CLOEXEC | (is_device ? 0 : O_CREAT | O_EXCL), 0666);
	if (descriptor < 0) {
		return errno == EEXIST
			? bt_error_set(err, BERTH_ERR_EXISTS,
				  "%s: is there already; name another file, or remove it", path)
			: bt_error_set(err, BERTH_ERR_IO, "%s: %s", path, strerror(errno));
	}
	gzFile file = gzdopen(descriptor, is_gzipped ? "wb6" : "wbT");
	if (file == NULL) {
		(void)close(descriptor); /* nothing was written */
		return bt_error_set(err, BERTH_ERR_IO, "%s: cannot be opened as a stream", path);
	}
	struct bt_recording_writer *writer = BT_NEW(struct bt_recording_writer);
	writer->path = bt_strndup(path, strlen(path));
	writer->file = file;
	writer->descriptor = descriptor;
	struct bt_json_writer json;
	struct bt_arena arena = {0};
	bt_json_writer_init(&json, &writer->text, 0);
	bt_json_write(&json,
		"{berthrec: %u, start: %s, objects: %u, source: %s, recording?: %s, part?: %u}",
		BT_RECORDING_VERSION, bt_micro_time_text(&arena, header->start_ns),
		header->object_count, header->source, header->recording,
		header->recording.length != 0 ? header->part : 0);
	bt_strbuf_append_char(&writer->text, '\n');
	bt_arena_finish(&arena);
	*out_writer = writer;
	return 0;
}

int bt_recording_flush(struct bt_recording_writer *writer, struct berth_error *err)
{
	int result = write_text(writer, err);
	if (result < 0) {
		return result;
	}
	errno = 0;
	return gzflush(writer->file, Z_SYNC_FLUSH) == Z_OK ? 0 : write_error(writer, errno, err);
}

uint64_t bt_recording_size(const struct bt_recording_writer *writer)
{
	z_off_t offset = gzoffset(writer->file);
	return offset > 0 ? (uint64_t)offset : 0; /* a pipe has no offset */
}

int bt_recording_finish(struct bt_recording_writer *writer, bool is_complete, uint64_t *out_bytes,
	struct berth_error *err)
{
	const struct bt_recording_line end = {
		.event = BT_RECORDING_END, .time_ns = writer->time_ns, .duration_ns = -1};
	int result = is_complete ? bt_recording_append(writer, &end, err) : 0;
	if (result == 0) {
		result = write_text(writer, err);
	}
	/* Closing writes the last bytes. */
	int copy = out_bytes != NULL ? dup(writer->descriptor) : -1;
	errno = 0;
	if (gzclose(writer->file) != Z_OK && result == 0) {
		result = write_error(writer, errno, err);
	}
	if (out_bytes != NULL) {
		off_t offset = lseek(copy, 0, SEEK_CUR);
		*out_bytes = offset > 0 ? (uint64_t)offset : 0;
	}
	if (copy >= 0) {
		(void)close(copy); /* gzclose reported errors */
	}
	bt_strbuf_finish(&writer->text);
	bt_free(writer->path);
	bt_free(writer);
	return result;
}

void bt_recording_abandon(struct bt_recording_writer *writer)
{
	if (writer != NULL) {
		int ignored = bt_recording_finish(writer, false, NULL, NULL);
		(void)ignored;
	}
}
