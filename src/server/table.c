/* SPDX-License-Identifier: Apache-2.0 */
#include "server/table.h"

#include "server/table_private.h"

static const struct bt_table_column other_columns[] = {
	BT_COLUMN_NAME,
	{"Created At", "date", "", "Time at which the object was created.", 0},
};

static void write_other(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "metadata.creationTimestamp", "<unknown>");
}

static const struct bt_table other = BT_TABLE(NULL, "", other_columns, write_other);

static const struct bt_table *find_in(
	const struct bt_table *tables, const struct bt_api_resource *resource)
{
	for (; tables->resource != NULL; tables++) {
		if (strcmp(tables->resource, resource->name) == 0 &&
			(tables->group == NULL || strcmp(tables->group, resource->group) == 0)) {
			return tables;
		}
	}
	return NULL;
}

static const struct bt_table *find(const struct bt_api_resource *resource)
{
	static const struct bt_table *const groups[] = {bt_tables_of_pods, bt_tables_of_cluster,
		bt_tables_of_workloads, bt_tables_of_storage};
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct bt_table *found = find_in(groups[i], resource);
		if (found != NULL) {
			return found;
		}
	}
	return &other;
}

static void write_column(const struct bt_table_column *column, struct bt_json_writer *writer)
{
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "name");
	bt_json_write_c(writer, column->name);
	bt_json_write_name_c(writer, "type");
	bt_json_write_c(writer, column->type);
	bt_json_write_name_c(writer, "format");
	bt_json_write_c(writer, column->format);
	bt_json_write_name_c(writer, "description");
	bt_json_write_c(writer, column->description);
	bt_json_write_name_c(writer, "priority");
	bt_json_write_int64(writer, column->priority);
	bt_json_end_object(writer);
}

void bt_table_write_columns(const struct bt_api_resource *resource, struct bt_json_writer *writer)
{
	bt_json_begin_array(writer);
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		static const struct bt_table_column name = BT_COLUMN_NAME;
		write_column(&name, writer);
		bt_table_write_custom_columns(resource, writer);
	} else {
		const struct bt_table *table = find(resource);
		for (uint32_t i = 0; i < table->column_count; i++) {
			write_column(&table->columns[i], writer);
		}
	}
	bt_json_end_array(writer);
}

void bt_table_write_cells(const struct bt_api_resource *resource,
	const struct bt_json_value *object, int64_t now_ns, struct bt_arena *arena,
	struct bt_json_writer *writer)
{
	struct bt_table_row row = {
		.object = object, .now_ns = now_ns, .arena = arena, .writer = writer};
	bt_json_begin_array(writer);
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		bt_cell_name(&row);
		bt_table_write_custom_cells(resource, &row);
	} else {
		find(resource)->write_cells(&row);
	}
	bt_json_end_array(writer);
}
