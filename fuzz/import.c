/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importers of traces. The first line of the input names the importer, and lines "---" separate the
 * files. An imported trace gives a recording that can be read to its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "replay/change_import.h"

#define FILES_MAX 6
#define PATH_BYTES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *name;
	int (*import)(struct bt_import *import, const struct bt_import_request *request,
		struct berth_error *err);
} kinds[] = {
	{"alibaba-gpu-2023", bt_import_alibaba_gpu_2023},
	{"google-2019", bt_import_google_2019},
	{"simulator", bt_import_simulator},
};

/**
 * Returns the text before the next separator and removes both from rest. Without a separator,
 * returns the whole rest.
 */
static struct bt_str cut(struct bt_str *rest, const char *separator)
{
	int64_t at = bt_str_find(*rest, bt_str_from(separator));
	uint32_t end = at < 0 ? rest->length : (uint32_t)at;
	uint32_t next = at < 0 ? end : end + (uint32_t)strlen(separator);
	struct bt_str text = bt_str_sub(*rest, 0, end);
	*rest = bt_str_sub(*rest, next, UINT32_MAX);
	return text;
}

static void write_file(const char *path, struct bt_str text)
{
	FILE *file = fopen(path, "w");
	BT_ASSERT(file != NULL && fwrite(text.data, 1, text.length, file) == text.length &&
		fclose(file) == 0);
}

static void check_recording(const char *path)
{
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	BT_ASSERT(bt_recording_open(path, &reader, NULL) == 0);
	int result;
	do {
		result = bt_recording_next(reader, &line, NULL);
	} while (result == 1);
	BT_ASSERT(result == 0 && reader->is_complete);
	bt_recording_close(reader);
}

static void import_files(size_t kind, const struct bt_import_request *request, const char *path)
{
	struct bt_import *import = bt_import_create(path, false, "fuzz", 0);
	bool is_imported =
		kinds[kind].import(import, request, NULL) == 0 && bt_import_end(import, NULL) == 0;
	bt_import_destroy(import);
	if (is_imported) {
		check_recording(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str rest = {(const char *)data, (uint32_t)size};
	struct bt_str name = cut(&rest, "\n");
	static char paths[FILES_MAX][PATH_BYTES_MAX];
	char output_path[PATH_BYTES_MAX];
	const char *files[FILES_MAX];
	struct bt_import_request request = {.paths = files,
		.machine_cpu_milli = 64000,
		.machine_memory_bytes = INT64_C(1) << 38};
	(void)snprintf(
		output_path, sizeof(output_path), "/tmp/berth-fuzz-import-%ld-out", (long)getpid());
	while (request.path_count < FILES_MAX && rest.length != 0) {
		char *path = paths[request.path_count];
		(void)snprintf(path, PATH_BYTES_MAX, "/tmp/berth-fuzz-import-%ld-%u",
			(long)getpid(), request.path_count);
		write_file(path, cut(&rest, "---\n"));
		files[request.path_count++] = path;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		if (request.path_count != 0 && bt_str_equal_c(name, kinds[i].name)) {
			import_files(i, &request, output_path);
			(void)unlink(output_path);
		}
	}
	for (uint32_t i = 0; i < request.path_count; i++) {
		(void)unlink(files[i]);
	}
	return 0;
}
