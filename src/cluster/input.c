/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/input.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/file.h"
#include "codec/yaml.h"

/** A file with a zero byte among its first BINARY_BYTES bytes is binary. */
#define BINARY_BYTES 512

static const char *const suffixes[] = {".yaml", ".yml", ".json", ".jsonl"};

struct document {
	struct bt_input *input;
	struct bt_origin origin;
	bool in_folder;
	bool was_reported; /* sink->skipped was called, because the document is not a manifest */
};

void bt_input_describe(const struct bt_input *input, struct bt_origin origin, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, input->sources.items[origin.source]);
	if (origin.document != 0) {
		bt_strbuf_printf(out, ": document %u", origin.document);
	}
}

int bt_input_wrap(
	const struct bt_input *input, struct bt_origin origin, int result, struct berth_error *err)
{
	struct bt_strbuf place = {0};
	bt_input_describe(input, origin, &place);
	result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&place));
	bt_strbuf_finish(&place);
	return result;
}

void bt_input_finish(struct bt_input *input)
{
	bt_vec_finish_each(&input->sources, bt_free(*each));
}

/** --- documents --- */

static int take_object(void *context, struct bt_object *object, struct berth_error *err)
{
	struct document *document = context;
	const struct bt_input_sink *sink = &document->input->sink;
	return sink->take(sink->context, document->origin, object, err);
}

static void skip_object(
	void *context, struct bt_str api_version, struct bt_str kind, struct bt_str json)
{
	struct document *document = context;
	const struct bt_input_sink *sink = &document->input->sink;
	if (sink->skipped != NULL) {
		sink->skipped(sink->context, document->origin, api_version, kind, json);
	}
}

/**
 * Returns whether the next value is an object or array that is not the beginning of a manifest: it
 * has neither kind nor apiVersion, or is a kustomization. The reader does not move.
 */
static bool is_foreign(struct bt_json_reader reader)
{
	enum bt_json_type type;
	struct bt_arena arena = {0};
	struct bt_str name;
	struct bt_str value;
	bool is_manifest = false;
	bool is_kustomization = false;
	int result = bt_json_peek(&reader, &type, NULL);
	if (result != 0 || type != BT_JSON_OBJECT) {
		return result == 0 && type == BT_JSON_ARRAY;
	}
	BT_JSON_EACH_MEMBER (&reader, &arena, name, result, NULL) {
		bool is_kind = bt_str_equal_c(name, "kind");
		is_manifest = is_manifest || is_kind || bt_str_equal_c(name, "apiVersion");
		result = bt_json_skip(&reader, &value, NULL);
		is_kustomization = is_kustomization ||
			(result == 0 && is_kind && bt_str_equal_c(value, "\"Kustomization\""));
	}
	bt_arena_finish(&arena);
	/*
	 * A value with a syntax error is not skipped, because reading the value reports the error.
	 */
	return result == 0 && (!is_manifest || is_kustomization);
}

static int read_value(
	struct document *document, struct bt_json_reader *reader, struct berth_error *err)
{
	const struct bt_input_sink *sink = &document->input->sink;
	if (document->in_folder && sink->skipped != NULL && is_foreign(*reader)) {
		if (!document->was_reported) {
			struct bt_origin file = {document->origin.source, 0};
			sink->skipped(sink->context, file, BT_STR(""), BT_STR(""), BT_STR(""));
			document->was_reported = true;
		}
		return bt_json_skip(reader, NULL, err);
	}
	if (sink->take_value != NULL) {
		return sink->take_value(sink->context, document->origin, reader, err);
	}
	const struct bt_object_sink objects = {
		.context = document, .take = take_object, .skipped = skip_object};
	struct bt_json_reader again = *reader;
	int result = bt_object_decode_reader(reader, &objects, err);
	struct bt_str text = {again.position, (uint32_t)(reader->position - again.position)};
	/*
	 * Call taken also if an object was refused: taken may report a misspelt field as the cause.
	 */
	bool is_whole = result == 0 ||
		(result == BERTH_ERR_INVALID && bt_json_skip(&again, &text, NULL) == 0);
	if (is_whole && sink->taken != NULL) {
		sink->taken(sink->context, document->origin, text);
	}
	return result;
}

static unsigned long line_of(const struct bt_json_reader *reader)
{
	unsigned long line = 1;
	const char *position = reader->start;
	while (position < reader->position) {
		position = memchr(position, '\n', (size_t)(reader->position - position));
		if (position == NULL) {
			break;
		}
		position++;
		line++;
	}
	return line;
}

/** Skips white space and "---", which some tools write between JSON documents. */
static void skip_separators(struct bt_json_reader *reader)
{
	while (reader->position < reader->end) {
		char byte = *reader->position;
		if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') {
			reader->position++;
		} else if (reader->end - reader->position >= 3 &&
			memcmp(reader->position, "---", 3) == 0) {
			reader->position += 3;
		} else {
			return;
		}
	}
}

/** Adds a hint to the YAML parser's error about a tab, which looks like blanks in an editor. */
static void point_at_tab(struct berth_error *err)
{
	if (err == NULL || strstr(berth_error_message(err), "cannot start any token") == NULL) {
		return;
	}
	struct berth_error longer = BERTH_ERROR_INIT;
	(void)bt_error_set(&longer, BERTH_ERR_SYNTAX, "%s (if it is a tab: indent with blanks)",
		berth_error_message(err));
	berth_error_finish(err);
	(void)bt_error_move(err, &longer);
}

static int read_yaml(struct document *document, struct bt_str text, struct berth_error *err)
{
	/* Accept repeated keys; the last value counts, as in kubectl. */
	struct bt_strbuf repeated = {0};
	struct bt_yaml_limits limits = {.duplicates = &repeated};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, &limits);
	struct bt_strbuf json = {0};
	int result = 0;
	for (;;) {
		bool more;
		document->origin.document++;
		result = bt_yaml_next_document(reader, &json, &more, err);
		if (result == BERTH_ERR_SYNTAX) {
			point_at_tab(err);
		}
		if (result == 0 && !more) {
			break;
		}
		if (result == 0 && json.length != 0 && json.data[0] == '"') {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"expected object, got string: a manifest begins with apiVersion "
				"and kind");
		} else if (result == 0) {
			struct bt_json_reader json_reader;
			bt_json_reader_init(&json_reader, bt_strbuf_str(&json));
			result = read_value(document, &json_reader, err);
		}
		if (result < 0) {
			result = bt_input_wrap(document->input, document->origin, result, err);
			break;
		}
		bt_strbuf_reset(&json);
	}
	bt_strbuf_finish(&json);
	bt_yaml_reader_destroy(reader);
	bt_strbuf_finish(&repeated);
	return result;
}

static int read_content(
	struct document *document, const struct bt_file *whole, struct berth_error *err)
{
	struct bt_file file = *whole;
	if (file.length >= 3 && memcmp(file.data, "\xef\xbb\xbf", 3) == 0) {
		file.data += 3;
		file.length -= 3;
	}
	struct bt_str text = {file.data, (uint32_t)file.length};
	size_t i = 0;
	while (i < file.length && file.data[i] != '\0' && strchr(" \t\r\n", file.data[i]) != NULL) {
		i++;
	}
	/* A download from a wrong URL often saves an HTML page ("not found", a login form). */
	bool is_page = file.length - i >= 2 && file.data[i] == '<' && file.data[i + 1] != '<';
	/* UTF-16 text, which begins with a byte order mark, has zero bytes, too. */
	bool is_binary = file.length != 0 && file.data[0] != '\xff' && file.data[0] != '\xfe' &&
		memchr(file.data, '\0', BT_MIN(file.length, BINARY_BYTES)) != NULL;
	const char *what = is_page ? "a page of a web site or XML"
		: is_binary        ? "binary data"
				   : NULL;
	if (what != NULL) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"%s: this is %s, not a manifest in YAML or JSON",
			document->input->sources.items[document->origin.source], what);
	}
	if (i < file.length && (file.data[i] == '{' || file.data[i] == '[')) {
		struct bt_json_reader reader;
		bt_json_reader_init(&reader, text);
		for (skip_separators(&reader); reader.position < reader.end;
			skip_separators(&reader)) {
			document->origin.document++;
			int result = read_value(document, &reader, err);
			if (result == BERTH_ERR_SYNTAX) {
				result = bt_error_wrap(err, result, "line %lu", line_of(&reader));
			}
			if (result < 0) {
				return bt_input_wrap(
					document->input, document->origin, result, err);
			}
		}
		return 0;
	}
	if (file.length > BT_INPUT_YAML_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "%s: more than %zu bytes of YAML",
			document->input->sources.items[document->origin.source],
			BT_INPUT_YAML_BYTES_MAX);
	}
	return read_yaml(document, text, err);
}

static struct document open_document(struct bt_input *input, const char *name)
{
	struct bt_strbuf shown = {0};
	bt_strbuf_append_c(&shown, name);
	bt_vec_push(&input->sources, bt_strbuf_steal(&shown));
	return (struct document){.input = input, .origin = {input->sources.count - 1, 0}};
}

int bt_input_read_text(
	struct bt_input *input, const char *name, struct bt_str text, struct berth_error *err)
{
	struct document document = open_document(input, name);
	struct bt_file file = {text.data != NULL ? text.data : "", text.length, false};
	return read_content(&document, &file, err);
}

/** --- files and directories --- */

static int read_file(struct bt_input *input, const char *path, const char *name, bool in_folder,
	struct berth_error *err)
{
	struct bt_file file;
	if (input->sources.count >= BT_INPUT_FILES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "%s: more than %d files", name,
			BT_INPUT_FILES_MAX);
	}
	int result = bt_file_read(path, BT_FILE_MAPPED_BYTES_MAX, &file, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", name);
	}
	struct document document = open_document(input, name);
	document.in_folder = in_folder;
	result = read_content(&document, &file, err);
	bt_file_finish(&file);
	return result;
}

static bool has_input_suffix(const char *name)
{
	struct bt_str text = bt_str_from(name);
	if (bt_str_has_suffix(text, BT_STR(".gz"))) {
		text.length -= 3;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suffixes); i++) {
		if (bt_str_has_suffix(text, bt_str_from(suffixes[i]))) {
			return true;
		}
	}
	return false;
}

static int is_named(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(struct bt_input *input, const char *path, uint32_t depth,
	uint32_t *file_count, struct berth_error *err);

/**
 * Reads an entry of a folder: another folder if the input is recursive, or a file. Symbolic links
 * to folders are not followed, because they could form a loop.
 */
static int read_entry(struct bt_input *input, const char *path, const char *name, uint32_t depth,
	uint32_t *file_count, struct berth_error *err)
{
	struct stat status;
	if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		return input->recursive ? read_directory(input, path, depth + 1, file_count, err)
					: 0;
	}
	if (!has_input_suffix(name)) {
		return 0;
	}
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		return 0;
	}
	(*file_count)++;
	return read_file(input, path, path, true, err);
}

static int read_directory(struct bt_input *input, const char *path, uint32_t depth,
	uint32_t *file_count, struct berth_error *err)
{
	if (depth > BT_INPUT_FOLDER_DEPTH_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "%s: folders are nested too deeply", path);
	}
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_named, compare_names);
	if (count < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "%s: %s", path, strerror(errno));
	}
	int result = count <= BT_INPUT_FILES_MAX
		? 0
		: bt_error_set(err, BERTH_ERR_TOO_LARGE, "%s: more than %d entries", path,
			  BT_INPUT_FILES_MAX);
	size_t length = strlen(path);
	const char *slash = length != 0 && path[length - 1] == '/' ? "" : "/";
	for (int i = 0; i < count; i++) {
		if (result == 0) {
			struct bt_strbuf inner = {0};
			bt_strbuf_printf(&inner, "%s%s%s", path, slash, entries[i]->d_name);
			result = read_entry(input, bt_strbuf_c(&inner), entries[i]->d_name, depth,
				file_count, err);
			bt_strbuf_finish(&inner);
		}
		bt_free(entries[i]);
	}
	bt_free(entries);
	return result;
}

int bt_input_read(struct bt_input *input, const char *path, struct berth_error *err)
{
	struct stat status;
	if (strcmp(path, "-") == 0) {
		if (input->stdin_taken) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "standard input can be read only once");
		}
		input->stdin_taken = true;
		return read_file(input, path, "standard input", false, err);
	}
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		uint32_t file_count = 0;
		int result = read_directory(input, path, 0, &file_count, err);
		if (result == 0 && file_count == 0) {
			result = bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"%s: no .yaml, .yml, .json or .jsonl files%s", path,
				input->recursive ? "" : " (folders within are read with -R)");
		}
		return result;
	}
	return read_file(input, path, path, false, err);
}
