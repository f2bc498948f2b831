/* SPDX-License-Identifier: Apache-2.0 */
#include "net/file_replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "test_main.h"

static char folder[64];
static struct bt_strbuf path;

static void setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/berth-replace-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	bt_strbuf_reset(&path);
	bt_strbuf_printf(&path, "%s/key", folder);
}

static void teardown(void)
{
	(void)unlink(bt_strbuf_c(&path)); /* some tests do not create the file */
	ck_assert_int_eq(rmdir(folder), 0);
	bt_strbuf_finish(&path);
}

static uint32_t count_files(void)
{
	DIR *open_folder = opendir(folder);
	uint32_t count = 0;

	ck_assert_ptr_nonnull(open_folder);
	for (const struct dirent *entry = readdir(open_folder); entry != NULL;
		entry = readdir(open_folder)) {
		count += entry->d_name[0] != '.';
	}
	ck_assert_int_eq(closedir(open_folder), 0);
	return count;
}

static void check_content(const char *expected, mode_t mode)
{
	char content[64] = "";
	struct stat status;
	FILE *file = fopen(bt_strbuf_c(&path), "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, mode);
	size_t length = fread(content, 1, sizeof(content) - 1, file);
	content[length] = '\0';
	ck_assert_str_eq(content, expected);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(test_file_replace__a_file_is_made_then_another_one)
{
	setup();
	ck_assert_int_eq(bt_file_replace(bt_strbuf_c(&path), 0600, BT_STR("one")), 0);
	check_content("one", 0600);
	ck_assert_int_eq(bt_file_replace(bt_strbuf_c(&path), 0600, BT_STR("")), 0);
	check_content("", 0600);
	ck_assert_uint_eq(count_files(), 1);
	teardown();
}
END_TEST

START_TEST(test_file_replace__what_cannot_be_replaced_stays)
{
	struct bt_strbuf missing = {0};

	setup();
	bt_strbuf_printf(&missing, "%s/none/key", folder);
	ck_assert_int_eq(bt_file_replace(bt_strbuf_c(&missing), 0600, BT_STR("x")), ENOENT);
	/* a folder has the name of the file */
	ck_assert_int_eq(mkdir(bt_strbuf_c(&path), 0700), 0);
	ck_assert_int_eq(bt_file_replace(bt_strbuf_c(&path), 0600, BT_STR("x")), EISDIR);
	ck_assert_uint_eq(count_files(), 1);
	ck_assert_int_eq(rmdir(bt_strbuf_c(&path)), 0);
	bt_strbuf_finish(&missing);
	teardown();
}
END_TEST

START_TEST(test_file_replace__a_pipe_is_written_and_stays)
{
	char content[8] = "";
	struct stat status;

	setup();
	ck_assert_int_eq(mkfifo(bt_strbuf_c(&path), 0600), 0);
	int reader = open(bt_strbuf_c(&path), O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(reader, 0);
	ck_assert_int_eq(bt_file_replace(bt_strbuf_c(&path), 0600, BT_STR("one")), 0);
	ck_assert_int_eq(read(reader, content, sizeof(content)), 3);
	ck_assert_str_eq(content, "one");
	ck_assert_int_eq(close(reader), 0);
	ck_assert_int_eq(lstat(bt_strbuf_c(&path), &status), 0);
	ck_assert(S_ISFIFO(status.st_mode));
	teardown();
}
END_TEST

START_TEST(test_file_replace__folders_are_made_with_their_parents)
{
	struct bt_strbuf deep = {0};
	struct stat status;

	setup();
	bt_strbuf_printf(&deep, "%s/a/b", folder);
	ck_assert_str_eq(bt_strbuf_c(&deep) + strlen(folder), "/a/b");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(bt_make_folders(deep.data, 0700), 0);
		ck_assert_int_eq(stat(deep.data, &status), 0);
		ck_assert(S_ISDIR(status.st_mode));
	}
	ck_assert_int_eq(rmdir(deep.data), 0);
	/* a file has the name of the parent */
	deep.data[strlen(folder) + 2] = '\0';
	ck_assert_int_eq(rmdir(deep.data), 0);
	ck_assert_int_eq(bt_file_replace(deep.data, 0600, BT_STR("")), 0);
	deep.data[strlen(folder) + 2] = '/';
	ck_assert_int_eq(bt_make_folders(deep.data, 0700), ENOTDIR);
	ck_assert_str_eq(deep.data + strlen(folder), "/a/b");
	deep.data[strlen(folder) + 2] = '\0';
	ck_assert_int_eq(unlink(deep.data), 0);
	bt_strbuf_finish(&deep);
	teardown();
}
END_TEST

BT_TEST_MAIN("file_replace", test_file_replace__a_file_is_made_then_another_one,
	test_file_replace__what_cannot_be_replaced_stays,
	test_file_replace__a_pipe_is_written_and_stays,
	test_file_replace__folders_are_made_with_their_parents)
