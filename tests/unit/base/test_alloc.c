/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "test_main.h"

START_TEST(test_alloc__size_zero_is_a_pointer)
{
	void *a = bt_malloc(0);
	void *b = bt_calloc(0, 8);
	void *c = bt_realloc_array(NULL, 0, 8);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_ne(a, b);
	bt_free(a);
	bt_free(b);
	bt_free(c);
	bt_free(NULL);
}
END_TEST

START_TEST(test_alloc__calloc_zeroes_and_realloc_keeps)
{
	unsigned char *bytes = BT_NEW_ARRAY(unsigned char, 300);

	for (int i = 0; i < 300; i++) {
		ck_assert_uint_eq(bytes[i], 0);
		bytes[i] = (unsigned char)i;
	}
	bytes = bt_realloc_array(bytes, 3000, 1);
	for (int i = 0; i < 300; i++) {
		ck_assert_uint_eq(bytes[i], (unsigned char)i);
	}
	bt_free(bytes);
}
END_TEST

START_TEST(test_alloc__strndup_copies_zero_bytes)
{
	char *copy = bt_strndup("a\0bc", 3);
	char *empty = bt_strndup(NULL, 0);

	ck_assert_int_eq(memcmp(copy, "a\0b", 4), 0);
	ck_assert_str_eq(empty, "");
	bt_free(copy);
	bt_free(empty);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
#define MALLOC_USES_SBRK false
#else
#define MALLOC_USES_SBRK true
#endif

/** Whether a part of the heap has the advice to use huge pages. */
static bool heap_is_advised(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[512];
	bool in_heap = false;
	bool advised = false;
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		/* The first line of a mapping has its addresses and name. */
		if (strchr(line, '-') != NULL) {
			in_heap = strstr(line, "[heap]") != NULL;
		}
		advised = advised ||
			(in_heap && strncmp(line, "VmFlags:", 8) == 0 &&
				strstr(line, " hg") != NULL);
	}
	ck_assert_int_eq(fclose(file), 0);
	return advised;
}

START_TEST(test_alloc__large_heaps_get_huge_pages)
{
	enum { BLOCKS = 80 * 1024 };
	FILE *setting = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
	char **blocks = BT_NEW_ARRAY(char *, BLOCKS);
	if (setting != NULL) {
		ck_assert_int_eq(fclose(setting), 0);
	}
	if (setting != NULL && MALLOC_USES_SBRK) {
		for (uint32_t i = 0; i < BLOCKS; i++) {
			bt_heap_use_huge_pages();
			blocks[i] = bt_strndup("block", 5);
			blocks[i] = bt_realloc_array(blocks[i], 1000, 1);
			/* The first 20 MB are too few. */
			ck_assert(i != BLOCKS / 4 || !heap_is_advised());
		}
		ck_assert(heap_is_advised());
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		ck_assert(blocks[i] == NULL || strcmp(blocks[i], "block") == 0);
		bt_free(blocks[i]);
	}
	bt_free(blocks);
}
END_TEST

BT_TEST_MAIN("alloc", test_alloc__size_zero_is_a_pointer,
	test_alloc__calloc_zeroes_and_realloc_keeps, test_alloc__strndup_copies_zero_bytes,
	test_alloc__large_heaps_get_huge_pages)
