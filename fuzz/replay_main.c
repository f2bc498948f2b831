/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_<name> CORPUS_FOLDER runs a fuzz target on each stored input of a folder. Any compiler can
 * build it. A finding crashes the program. An unreadable file or folder is a failure.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

#define INPUT_BYTES_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_file(const char *path, struct bt_strbuf *out)
{
	char block[4096];
	FILE *file = fopen(path, "rb");
	bool ok;

	if (file == NULL) {
		return false;
	}
	while (out->length <= INPUT_BYTES_MAX) {
		size_t size = fread(block, 1, sizeof(block), file);
		if (size == 0) {
			break;
		}
		bt_strbuf_append(out, block, size);
	}
	ok = ferror(file) == 0 && out->length <= INPUT_BYTES_MAX;
	return fclose(file) == 0 && ok;
}

/*
 * Runs the target on a heap copy of the exact size, so that the sanitizer reports a read past its
 * end.
 */
static void run_on(const char *data, size_t size)
{
	uint8_t *copy = bt_malloc(size);

	if (size != 0) {
		memcpy(copy, data, size);
	}
	(void)LLVMFuzzerTestOneInput(copy, size);
	bt_free(copy);
}

static bool replay(const char *path)
{
	struct bt_strbuf input = {0};
	bool ok = read_file(path, &input);

	if (ok) {
		run_on(bt_strbuf_c(&input), input.length);
	} else {
		(void)printf("%s: cannot be read\n", path);
	}
	bt_strbuf_finish(&input);
	return ok;
}

int main(int argc, char **argv)
{
	int passed = 0;
	int failed = 0;
	struct bt_strbuf path = {0};
	const struct dirent *entry;
	DIR *folder;

	if (argc != 2 || (folder = opendir(argv[1])) == NULL) {
		(void)printf("usage: %s CORPUS_FOLDER\n0 passed, 1 failed\n", argv[0]);
		return 2;
	}
	run_on("", 0);
	passed++;
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.') {
			continue;
		}
		bt_strbuf_reset(&path);
		bt_strbuf_printf(&path, "%s/%s", argv[1], entry->d_name);
		if (replay(bt_strbuf_c(&path))) {
			passed++;
		} else {
			failed++;
		}
	}
	(void)closedir(folder);
	bt_strbuf_finish(&path);
	(void)printf("%d passed, %d failed\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
