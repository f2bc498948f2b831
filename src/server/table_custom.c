/* SPDX-License-Identifier: Apache-2.0 */
/* Columns from a CustomResourceDefinition's additionalPrinterColumns. Spec: 14 section 18. */
#include "server/table_private.h"

/** --- paths --- */

struct path {
	const char *next;
	const char *end;
};

static bool skip_text(struct path *path, const char *text)
{
	size_t length = strlen(text);
	if (!((size_t)(path->end - path->next) >= length &&
		    memcmp(path->next, text, length) == 0)) {
		return false;
	}
	path->next += strlen(text);
	return true;
}

/** Takes the text before the closing quote. Returns false if there is no closing quote. */
static bool take_quoted(struct path *path, char quote, struct bt_str *out_text)
{
	const char *start = path->next;
	const char *close = memchr(start, quote, (size_t)(path->end - start));
	if (close == NULL) {
		return false;
	}
	*out_text = (struct bt_str){start, (uint32_t)(close - start)};
	path->next = close + 1;
	return true;
}

/** Follows a path in brackets; called after the opening bracket. */
static const struct bt_json_value *bracketed(struct path *path, const struct bt_json_value *value)
{
	struct bt_str name;
	uint32_t index = 0;
	if (skip_text(path, "?(")) {
		/* [?(@.type=="Ready")]: the first element whose member equals a text. */
		struct bt_str wanted;
		const char *start = path->next + 2;
		if (!skip_text(path, "@.")) {
			return NULL;
		}
		while (path->next < path->end && *path->next != '=' && *path->next != ' ') {
			path->next++;
		}
		name = (struct bt_str){start, (uint32_t)(path->next - start)};
		while (skip_text(path, " ") || skip_text(path, "=")) {
		}
		bool quoted = skip_text(path, "\"") || skip_text(path, "'");
		if (!quoted || !take_quoted(path, path->next[-1], &wanted) ||
			!skip_text(path, ")]")) {
			return NULL;
		}
		for (uint32_t i = 0; value->type == BT_JSON_ARRAY && i < value->count; i++) {
			const struct bt_json_value *member = bt_json_get(value->elements[i], name);
			if (member != NULL && member->type == BT_JSON_STRING &&
				bt_str_equal(member->text, wanted)) {
				return value->elements[i];
			}
		}
		return NULL;
	}
	if (skip_text(path, "'") || skip_text(path, "\"")) {
		return take_quoted(path, path->next[-1], &name) && skip_text(path, "]")
			? bt_json_get(value, name)
			: NULL;
	}
	if (!skip_text(path, "*")) {
		const char *start = path->next;
		while (path->next < path->end && *path->next >= '0' && *path->next <= '9' &&
			index < UINT32_MAX / 20) {
			index = index * 10 + (uint32_t)(*path->next++ - '0');
		}
		if (path->next == start) {
			return NULL;
		}
	}
	return skip_text(path, "]") && value->type == BT_JSON_ARRAY && index < value->count
		? value->elements[index]
		: NULL;
}

const struct bt_json_value *bt_table_json_path(
	const struct bt_json_value *object, struct bt_str text)
{
	struct path path = {text.data, text.data + text.length};
	const struct bt_json_value *value = object;
	if (text.length == 0) {
		return NULL;
	}
	if (text.length >= 2 && text.data[0] == '{' && text.data[text.length - 1] == '}') {
		path.next++;
		path.end--;
	}
	while (value != NULL && path.next < path.end) {
		if (skip_text(&path, "[")) {
			value = bracketed(&path, value);
		} else if (skip_text(&path, ".")) {
			char name[256];
			uint32_t length = 0;
			while (path.next < path.end && *path.next != '.' && *path.next != '[') {
				if (*path.next == '\\' && path.next + 1 < path.end) {
					path.next++; /* escaped, so a part of the name */
				}
				if (length == sizeof(name)) {
					return NULL;
				}
				name[length++] = *path.next++;
			}
			value = length == 0 ? value
					    : bt_json_get(value, (struct bt_str){name, length});
		} else {
			return NULL;
		}
	}
	return value;
}

/** --- columns and cells --- */

const struct bt_json_value *bt_table_custom_columns(const struct bt_api_resource *resource)
{
	return bt_json_array_at(resource->definition_version, "additionalPrinterColumns");
}

void bt_table_write_custom_columns(
	const struct bt_api_resource *resource, struct bt_json_writer *writer)
{
	const struct bt_json_value *columns = bt_table_custom_columns(resource);
	for (uint32_t i = 0; i < columns->count; i++) {
		const struct bt_json_value *column = columns->elements[i];
		struct bt_str description = bt_json_text_at(column, "description");
		struct bt_strbuf made_up = {0};
		if (description.length == 0) {
			bt_strbuf_append_c(&made_up,
				"Custom resource definition column (in JSONPath format): ");
			bt_strbuf_append_str(&made_up, bt_json_text_at(column, "jsonPath"));
			description = bt_strbuf_str(&made_up);
		}
		bt_json_write(writer,
			"{name: %s, type: %s, format: %s, description: %s, priority: %d}",
			bt_json_text_at(column, "name"), bt_json_text_at(column, "type"),
			bt_json_text_at(column, "format"), description,
			bt_json_int64_at(column, "priority", 0));
		bt_strbuf_finish(&made_up);
	}
}

void bt_table_write_custom_cells(const struct bt_api_resource *resource, struct bt_table_row *row)
{
	const struct bt_json_value *columns = bt_table_custom_columns(resource);
	for (uint32_t i = 0; i < columns->count; i++) {
		const struct bt_json_value *column = columns->elements[i];
		const struct bt_json_value *value =
			bt_table_json_path(row->object, bt_json_text_at(column, "jsonPath"));
		struct bt_str type = bt_json_text_at(column, "type");
		int64_t number;
		bt_strbuf_reset(&row->text);
		if (value == NULL || value->type == BT_JSON_NULL) {
			bt_json_write_null(row->writer);
		} else if (bt_str_equal_c(type, "string") && value->type == BT_JSON_STRING) {
			bt_json_write_str(row->writer, value->text);
		} else if (bt_str_equal_c(type, "string")) {
			bt_json_format(value, &row->text);
			bt_json_write_str(row->writer, bt_strbuf_str(&row->text));
		} else if (bt_str_equal_c(type, "date") && value->type == BT_JSON_STRING) {
			bt_table_append_since(row, value->text);
			bt_json_write_str(row->writer,
				row->text.length != 0 ? bt_strbuf_str(&row->text)
						      : BT_STR("<invalid>"));
		} else if ((bt_str_equal_c(type, "boolean") && value->type == BT_JSON_BOOL) ||
			(bt_str_equal_c(type, "number") && value->type == BT_JSON_NUMBER) ||
			(bt_str_equal_c(type, "integer") && value->type == BT_JSON_NUMBER &&
				bt_json_number_int64(value->text, &number))) {
			bt_json_write_value(row->writer, value);
		} else { /* the value does not have the column's type */
			bt_json_write_null(row->writer);
		}
	}
}
