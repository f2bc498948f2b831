/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_TABLE_H
#define BT_CLI_TABLE_H
/** Text in aligned columns. */
#include "base/strbuf.h"
#include "base/vec.h"

#define BT_TABLE_COLUMNS_MAX 12

/** All-zero memory with column_count set is an empty table. */
struct bt_table {
	uint32_t column_count;
	uint32_t widths[BT_TABLE_COLUMNS_MAX];
	BT_VEC(size_t) cell_ends; /* in text */
	struct bt_strbuf text;    /* all cells, one after another */
};

/** Append to the present cell through table->text, then end it. */
void bt_table_end_cell(struct bt_table *table);
/** A whole cell; hostile bytes are shown escaped. */
void bt_table_add(struct bt_table *table, struct bt_str cell);
void bt_table_add_c(struct bt_table *table, const char *cell);
/** Rows in order, two blanks between columns, none at the end of a line. */
void bt_table_write(const struct bt_table *table, struct bt_strbuf *out);
void bt_table_finish(struct bt_table *table);
#endif
