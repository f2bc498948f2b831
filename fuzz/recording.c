/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: reading a recording, writing it and reading the result gives the same lines. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "replay/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Returns a hash of all lines. Writes the lines to writer, unless writer is NULL. */
static uint64_t read_lines(
	const char *path, struct bt_recording_writer *writer, bool *out_is_complete)
{
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	uint64_t hash = 0;
	*out_is_complete = false;
	if (bt_recording_open(path, &reader, NULL) < 0) {
		return hash;
	}
	while (bt_recording_next(reader, &line, NULL) == 1) {
		const struct bt_str texts[] = {line.namespace_, line.name, line.json};
		hash = bt_hash_u64(hash, (uint64_t)line.event << 32 | line.kind);
		hash = bt_hash_u64(hash, (uint64_t)line.time_ns);
		hash = bt_hash_u64(hash, (uint64_t)line.duration_ns);
		for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
			hash = bt_hash_bytes(texts[i].data, texts[i].length, hash);
		}
		if (writer != NULL && line.event != BT_RECORDING_END) {
			BT_ASSERT(bt_recording_append(writer, &line, NULL) == 0);
		}
	}
	*out_is_complete = reader->is_complete;
	bt_recording_close(reader);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bt_recording_header header = {.source = BT_STR_INIT("fuzz")};
	struct bt_recording_writer *writer;
	char path[64];
	char copy_path[80];
	bool is_complete;
	bool copy_is_complete;
	(void)snprintf(path, sizeof(path), "/tmp/berth-fuzz-recording-%ld", (long)getpid());
	(void)snprintf(copy_path, sizeof(copy_path), "%s-copy", path);
	FILE *file = fopen(path, "w");
	BT_ASSERT(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	(void)unlink(copy_path);
	BT_ASSERT(bt_recording_create(copy_path, false, &header, &writer, NULL) == 0);
	uint64_t hash = read_lines(path, writer, &is_complete);
	BT_ASSERT(bt_recording_finish(writer, is_complete, NULL, NULL) == 0);
	uint64_t copy_hash = read_lines(copy_path, NULL, &copy_is_complete);
	BT_ASSERT(copy_is_complete == is_complete);
	BT_ASSERT(is_complete || copy_hash == hash);
	(void)unlink(path);
	(void)unlink(copy_path);
	return 0;
}
