/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_TABLE_PRIVATE_H
#define BT_SERVER_TABLE_PRIVATE_H
/** A row under way, and what the cells of many kinds share. Spec: 14 section 18. */
#include "codec/json_edit.h"
#include "server/table.h"

struct bt_table_column {
	const char *name;
	const char *type;   /* "string", "integer", "boolean", "date" */
	const char *format; /* "name" or "" */
	const char *description;
	int32_t priority; /* 1: only with -o wide */
};

struct bt_table_row {
	const struct bt_json_value *object;
	int64_t now_ns;
	struct bt_arena *arena;
	struct bt_json_writer *writer;
};

/** What a resource shows; cells are written in the order of the columns. */
struct bt_table {
	const char *group; /* NULL: of any group */
	const char *resource;
	const struct bt_table_column *columns;
	uint32_t column_count;
	void (*write_cells)(const struct bt_table_row *row);
};

#define BT_TABLE(group_, resource_, columns_, function_) \
	{ \
		.group = (group_), .resource = (resource_), .columns = (columns_), \
		.column_count = sizeof(columns_) / sizeof((columns_)[0]), \
		.write_cells = (function_) \
	}
#define BT_COLUMN_NAME \
	{ \
		"Name", "string", "name", "Name of the object.", 0 \
	}
#define BT_COLUMN_AGE \
	{ \
		"Age", "string", "", "Time since the object was created.", 0 \
	}

/** Lists that end with an empty row. */
extern const struct bt_table bt_tables_of_cluster[];
extern const struct bt_table bt_tables_of_pods[];
extern const struct bt_table bt_tables_of_storage[];
extern const struct bt_table bt_tables_of_workloads[];

/** --- cells --- */

void bt_cell_str(const struct bt_table_row *row, struct bt_str text);
/** The text at a path, or the fallback when it is absent or empty. */
void bt_cell_text(const struct bt_table_row *row, const char *path, const char *fallback);
void bt_cell_int(const struct bt_table_row *row, const char *path, int64_t fallback);
void bt_cell_bool(const struct bt_table_row *row, const char *path, bool fallback);
/** A text that is put together; the buffer is emptied. */
void bt_cell_buffer(const struct bt_table_row *row, struct bt_strbuf *text, const char *fallback);
void bt_cell_name(const struct bt_table_row *row);
/** Since creation. */
void bt_cell_age(const struct bt_table_row *row);
/** Since the time at a path; fallback when there is none. */
void bt_cell_since(const struct bt_table_row *row, const char *path, const char *fallback);
/** Names and images of the pod template's containers, two cells. */
void bt_cell_containers(const struct bt_table_row *row, const char *pod_spec_path);
/** A label selector {matchLabels, matchExpressions} as kubectl takes it. */
void bt_cell_selector(const struct bt_table_row *row, const char *path);
/** A map of texts as "a=1,b=2". */
void bt_cell_labels(const struct bt_table_row *row, const char *path);

/** --- parts --- */

/** Absent or malformed: false. */
bool bt_table_time(struct bt_str text, int64_t *out_seconds);
/** "5m30s", "3h", "2d", ... */
void bt_table_append_duration(struct bt_strbuf *out, int64_t seconds);
void bt_table_append_since(const struct bt_table_row *row, struct bt_str time, const char *fallback,
	struct bt_strbuf *out);
/** A separator before all but the first. */
void bt_table_append_joined(struct bt_strbuf *out, const char *separator, struct bt_str text);
/** Texts of an array, joined by commas. */
void bt_table_append_texts(struct bt_strbuf *out, const struct bt_json_value *array);
/** RWO, ROX, RWX, RWOP. */
void bt_table_append_access_modes(struct bt_strbuf *out, const struct bt_json_value *array);
/** The status.conditions element of a type, or NULL. */
const struct bt_json_value *bt_table_condition(
	const struct bt_json_value *object, const char *type);
bool bt_table_condition_is_true(const struct bt_json_value *object, const char *type);
bool bt_table_is_deleted(const struct bt_json_value *object);

/** --- custom resources --- */

void bt_table_write_custom_columns(
	const struct bt_api_resource *resource, struct bt_json_writer *writer);
void bt_table_write_custom_cells(
	const struct bt_api_resource *resource, const struct bt_table_row *row);
/** The first value at a simple JSONPath: .a.b, ['a'], [0], [*], [?(@.type=="Ready")]; with or
 * without braces; NULL: none, or a path of another form. */
const struct bt_json_value *bt_table_json_path(
	const struct bt_json_value *object, struct bt_str path);
#endif
