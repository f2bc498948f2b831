/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include "cluster/printable.h"

static struct bt_str cell_at(const struct bt_table *table, uint32_t index)
{
	size_t start = index == 0 ? 0 : table->cell_ends.items[index - 1];
	size_t end = table->cell_ends.items[index];
	return (struct bt_str){bt_strbuf_c(&table->text) + start, (uint32_t)(end - start)};
}

void bt_table_end_cell(struct bt_table *table)
{
	bt_vec_push(&table->cell_ends, table->text.length);
	uint32_t index = table->cell_ends.count - 1;
	uint32_t column = index % table->column_count;
	uint32_t width = bt_printable_width(cell_at(table, index));
	if (width > table->widths[column]) {
		table->widths[column] = width;
	}
}

void bt_table_add(struct bt_table *table, struct bt_str cell)
{
	bt_printable_append(&table->text, cell);
	bt_table_end_cell(table);
}

void bt_table_add_c(struct bt_table *table, const char *cell)
{
	bt_table_add(table, bt_str_from(cell));
}

void bt_table_write(const struct bt_table *table, struct bt_strbuf *out)
{
	uint32_t pending_blanks = 0;
	for (uint32_t i = 0; i < table->cell_ends.count; i++) {
		uint32_t column = i % table->column_count;
		struct bt_str cell = cell_at(table, i);
		if (cell.length != 0) {
			for (uint32_t j = 0; j < pending_blanks; j++) {
				bt_strbuf_append_char(out, ' ');
			}
			pending_blanks = 0;
			bt_strbuf_append_str(out, cell);
		}
		pending_blanks += table->widths[column] - bt_printable_width(cell) + 2;
		if (column + 1 == table->column_count) {
			bt_strbuf_append_char(out, '\n');
			pending_blanks = 0;
		}
	}
}

void bt_table_finish(struct bt_table *table)
{
	bt_vec_finish(&table->cell_ends);
	bt_strbuf_finish(&table->text);
}
