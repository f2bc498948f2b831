/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_INPUT_H
#define BT_CLUSTER_INPUT_H
/**
 * Objects from files, directories and standard input: manifests, lists, JSON values one after
 * another, multi-document YAML, all of them gzipped or not. A file whose first byte opens a JSON
 * value is JSON, any other is YAML. Objects are handed on one by one.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/vec.h"

/** YAML is turned into JSON in memory, so less of it is accepted than of JSON (cluster/file.h). */
#define BT_INPUT_YAML_BYTES_MAX ((size_t)1 << 30)
/** Files of all directories together, and levels of folders. */
#define BT_INPUT_FILES_MAX 100000
#define BT_INPUT_FOLDER_DEPTH_MAX 32

/** Where an object stands. */
struct bt_origin {
	uint32_t source;   /* index in bt_input.sources */
	uint32_t document; /* 1-based; 0: the source has no documents */
};

struct bt_input_sink {
	void *context;
	/** object is consumed. On an error err says what is wrong; the place is put in front. */
	int (*take)(void *context, struct bt_origin origin, struct bt_object *object,
		struct berth_error *err);
	/** Something of a kind that is not in the table was left out; may be NULL. json: its text.
	 * kind "": a file of a folder that is no manifest, as a kustomization or values of a chart.
	 */
	void (*skipped)(void *context, struct bt_origin origin, struct bt_str api_version,
		struct bt_str kind, struct bt_str json);
	/** The JSON text of each document of which all objects were taken, or one was refused with
	 * BERTH_ERR_INVALID; may be NULL. */
	void (*taken)(void *context, struct bt_origin origin, struct bt_str json);
	/** Instead, for those who want every member of every kind: read the next JSON value, an
	 * object, a list or null, as it is. */
	int (*take_value)(void *context, struct bt_origin origin, struct bt_json_reader *reader,
		struct berth_error *err);
};

/** All-zero memory: nothing read yet. */
struct bt_input {
	BT_VEC(char *) sources; /* names as messages show them */
	struct bt_input_sink sink;
	bool recursive; /* directories: read folders within, too */
	bool stdin_taken;
};

/**
 * Read a file, a directory (its *.yaml *.yml *.json *.jsonl files, also with .gz, in the order of
 * their names) or "-". Messages: "<file>: document <n>: <what is wrong>".
 */
BT_MUST_USE int bt_input_read(struct bt_input *input, const char *path, struct berth_error *err);
/** The same for text in memory, under this name. */
BT_MUST_USE int bt_input_read_text(
	struct bt_input *input, const char *name, struct bt_str text, struct berth_error *err);
/** "<file>: document <n>", or the source alone. */
void bt_input_describe(
	const struct bt_input *input, struct bt_origin origin, struct bt_strbuf *out);
void bt_input_finish(struct bt_input *input);
#endif
