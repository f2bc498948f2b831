/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_INPUT_H
#define BT_CLUSTER_INPUT_H
/**
 * Reads objects from files, directories and standard input: manifests, lists, sequences of JSON
 * values, multi-document YAML, all of them gzipped or not. A file that begins with { or [ is JSON,
 * any other file is YAML. Objects go to a sink one by one.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/vec.h"

/**
 * Maximum size of a YAML file in bytes. It is lower than the maximum of a JSON file
 * (cluster/file.h), because YAML is converted to JSON in memory.
 */
#define BT_INPUT_YAML_BYTES_MAX ((size_t)1 << 30)
/** Maximum number of files of one input, and of entries of one directory. */
#define BT_INPUT_FILES_MAX 100000
/** Maximum depth of nested directories. */
#define BT_INPUT_FOLDER_DEPTH_MAX 32

/** The place that an object was read from. */
struct bt_origin {
	uint32_t source;   /* index in bt_input.sources */
	uint32_t document; /* 1-based; 0: the source has no documents */
};

struct bt_input_sink {
	void *context;
	/**
	 * Receives an object. object: consumed. On an error, err names the cause, and the reader
	 * puts the file and document in front.
	 */
	int (*take)(void *context, struct bt_origin origin, struct bt_object *object,
		struct berth_error *err);
	/**
	 * Called for an object of an unknown kind; may be NULL. json: the object's text. kind "":
	 * the source is not a manifest but another file of a directory, for example the values of a
	 * chart.
	 */
	void (*skipped)(void *context, struct bt_origin origin, struct bt_str api_version,
		struct bt_str kind, struct bt_str json);
	/**
	 * Called with the JSON text of each document after its objects were taken, also if an
	 * object was refused with BERTH_ERR_INVALID; may be NULL.
	 */
	void (*taken)(void *context, struct bt_origin origin, struct bt_str json);
	/**
	 * If set, called instead of take, for sinks that need every member of every kind. The
	 * function must read the next JSON value (an object, a list or null) from the reader.
	 */
	int (*take_value)(void *context, struct bt_origin origin, struct bt_json_reader *reader,
		struct berth_error *err);
};

/** All-zero memory is an input without sources. */
struct bt_input {
	BT_VEC(char *) sources; /* names as messages show them */
	struct bt_input_sink sink;
	bool recursive; /* directories: read subdirectories, too */
	bool stdin_taken;
};

/**
 * Reads a file, a directory (its *.yaml *.yml *.json *.jsonl files, also with .gz, in the order of
 * their names) or "-". Messages: "<file>: document <n>: <cause>".
 */
BT_MUST_USE int bt_input_read(struct bt_input *input, const char *path, struct berth_error *err);
/** As bt_input_read, for text in memory. name: stands for the file in messages. */
BT_MUST_USE int bt_input_read_text(
	struct bt_input *input, const char *name, struct bt_str text, struct berth_error *err);
/** Appends "<file>: document <n>", or "<file>" if the source has no documents. */
void bt_input_describe(
	const struct bt_input *input, struct bt_origin origin, struct bt_strbuf *out);
/** Puts the description of the place in front of the error. Returns result. */
int bt_input_wrap(
	const struct bt_input *input, struct bt_origin origin, int result, struct berth_error *err);
void bt_input_finish(struct bt_input *input);
#endif
