/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message_sort.h"

#include <stdlib.h>

#include "base/alloc.h"

static struct bt_str entry_key(const struct bt_any_list *list, size_t entry_size, uint32_t i)
{
	return bt_load_str((const char *)list->items + i * entry_size);
}

static bool is_sorted(const struct bt_any_list *list, size_t entry_size)
{
	for (uint32_t i = 1; i < list->count; i++) {
		if (bt_str_compare(entry_key(list, entry_size, i - 1),
			    entry_key(list, entry_size, i)) >= 0) {
			return false;
		}
	}
	return true;
}

struct sort_row {
	struct bt_str key;
	uint32_t position;
};

static int compare_rows(const void *a, const void *b)
{
	const struct sort_row *x = a;
	const struct sort_row *y = b;
	int order = bt_str_compare(x->key, y->key);
	return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

void bt_sort_entries(struct bt_any_list *list, size_t entry_size)
{
	if (is_sorted(list, entry_size)) {
		return;
	}
	struct sort_row *rows = BT_NEW_ARRAY(struct sort_row, list->count);
	char *unsorted = bt_malloc(list->count * entry_size);
	memcpy(unsorted, list->items, list->count * entry_size);
	for (uint32_t i = 0; i < list->count; i++) {
		rows[i] = (struct sort_row){.key = entry_key(list, entry_size, i), .position = i};
	}
	qsort(rows, list->count, sizeof(*rows), compare_rows);
	char *out = list->items;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i + 1 < list->count && bt_str_equal(rows[i].key, rows[i + 1].key)) {
			continue;
		}
		memcpy(out + kept * entry_size, unsorted + rows[i].position * entry_size,
			entry_size);
		kept++;
	}
	list->count = kept;
	bt_free(unsorted);
	bt_free(rows);
}
