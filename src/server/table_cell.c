/* SPDX-License-Identifier: Apache-2.0 */
/* What the cells of many kinds are made of. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "server/condition.h"
#include "server/table_private.h"

/** --- parts --- */

bool bt_table_time(struct bt_str text, int64_t *out_seconds)
{
	struct bt_time time;
	if (text.length == 0 || bt_time_parse(text, &time, NULL) != 0 || !time.set) {
		return false;
	}
	*out_seconds = time.seconds;
	return true;
}

/** One unit, and a smaller one unless there is none of it. */
static void append_units(
	struct bt_strbuf *out, int64_t large, char large_unit, int64_t small, char small_unit)
{
	bt_strbuf_printf(out, "%" PRId64 "%c", large, large_unit);
	if (small != 0) {
		bt_strbuf_printf(out, "%" PRId64 "%c", small, small_unit);
	}
}

void bt_table_append_duration(struct bt_strbuf *out, int64_t seconds)
{
	const int64_t minute = 60;
	const int64_t hour = 60 * minute;
	const int64_t day = 24 * hour;
	const int64_t year = 365 * day;
	if (seconds < -1) {
		bt_strbuf_append_c(out, "<invalid>");
	} else if (seconds < 0) {
		bt_strbuf_append_c(out, "0s");
	} else if (seconds < 2 * minute) {
		bt_strbuf_printf(out, "%" PRId64 "s", seconds);
	} else if (seconds < 10 * minute) {
		append_units(out, seconds / minute, 'm', seconds % minute, 's');
	} else if (seconds < 3 * hour) {
		bt_strbuf_printf(out, "%" PRId64 "m", seconds / minute);
	} else if (seconds < 8 * hour) {
		append_units(out, seconds / hour, 'h', seconds % hour / minute, 'm');
	} else if (seconds < 2 * day) {
		bt_strbuf_printf(out, "%" PRId64 "h", seconds / hour);
	} else if (seconds < 8 * day) {
		append_units(out, seconds / day, 'd', seconds % day / hour, 'h');
	} else if (seconds < 2 * year) {
		bt_strbuf_printf(out, "%" PRId64 "d", seconds / day);
	} else if (seconds < 8 * year) {
		append_units(out, seconds / year, 'y', seconds % year / day, 'd');
	} else {
		bt_strbuf_printf(out, "%" PRId64 "y", seconds / year);
	}
}

void bt_table_append_since(const struct bt_table_row *row, struct bt_str time, const char *fallback,
	struct bt_strbuf *out)
{
	int64_t seconds;
	if (bt_table_time(time, &seconds)) {
		bt_table_append_duration(out, row->now_ns / BT_NS_PER_SECOND - seconds);
	} else {
		bt_strbuf_append_c(out, fallback);
	}
}

void bt_table_append_joined(struct bt_strbuf *out, const char *separator, struct bt_str text)
{
	if (out->length != 0) {
		bt_strbuf_append_c(out, separator);
	}
	bt_strbuf_append_str(out, text);
}

void bt_table_append_texts(struct bt_strbuf *out, const struct bt_json_value *array)
{
	for (uint32_t i = 0; i < array->count; i++) {
		if (array->elements[i]->type == BT_JSON_STRING) {
			bt_table_append_joined(out, ",", array->elements[i]->text);
		}
	}
}

/* Each once, in this order, whatever the object's is. */
void bt_table_append_access_modes(struct bt_strbuf *out, const struct bt_json_value *array)
{
	static const char *const modes[][2] = {{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"},
		{"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		for (uint32_t i = 0; i < array->count; i++) {
			const struct bt_json_value *mode = array->elements[i];
			if (mode->type == BT_JSON_STRING &&
				bt_str_equal_c(mode->text, modes[m][0])) {
				bt_table_append_joined(out, ",", bt_str_from(modes[m][1]));
				break;
			}
		}
	}
}

const struct bt_json_value *bt_table_condition(const struct bt_json_value *object, const char *type)
{
	return bt_condition_find(bt_json_array_at(object, "status.conditions"), type);
}

bool bt_table_condition_is_true(const struct bt_json_value *object, const char *type)
{
	return bt_condition_is(bt_json_array_at(object, "status.conditions"), type, "True");
}

bool bt_table_is_deleted(const struct bt_json_value *object)
{
	return bt_json_text_at(object, "metadata.deletionTimestamp").length != 0;
}

/** --- cells --- */

void bt_cell_str(const struct bt_table_row *row, struct bt_str text)
{
	bt_json_write_str(row->writer, text);
}

void bt_cell_text(const struct bt_table_row *row, const char *path, const char *fallback)
{
	struct bt_str text = bt_json_text_at(row->object, path);
	bt_cell_str(row, text.length != 0 ? text : bt_str_from(fallback));
}

void bt_cell_int(const struct bt_table_row *row, const char *path, int64_t fallback)
{
	bt_json_write_int64(row->writer, bt_json_int64_at(row->object, path, fallback));
}

void bt_cell_bool(const struct bt_table_row *row, const char *path, bool fallback)
{
	bt_json_write_bool(row->writer, bt_json_bool_at(row->object, path, fallback));
}

void bt_cell_buffer(const struct bt_table_row *row, struct bt_strbuf *text, const char *fallback)
{
	bt_cell_str(row, text->length != 0 ? bt_strbuf_str(text) : bt_str_from(fallback));
	bt_strbuf_finish(text);
}

void bt_cell_name(const struct bt_table_row *row)
{
	bt_cell_text(row, "metadata.name", "");
}

void bt_cell_age(const struct bt_table_row *row)
{
	bt_cell_since(row, "metadata.creationTimestamp", "<unknown>");
}

void bt_cell_since(const struct bt_table_row *row, const char *path, const char *fallback)
{
	struct bt_strbuf text = {0};
	bt_table_append_since(row, bt_json_text_at(row->object, path), fallback, &text);
	bt_cell_buffer(row, &text, "");
}

void bt_cell_containers(const struct bt_table_row *row, const char *pod_spec_path)
{
	const struct bt_json_value *pod_spec = bt_json_object_at(row->object, pod_spec_path);
	const struct bt_json_value *containers = bt_json_array_at(pod_spec, "containers");
	struct bt_strbuf names = {0};
	struct bt_strbuf images = {0};
	for (uint32_t i = 0; i < containers->count; i++) {
		bt_table_append_joined(
			&names, ",", bt_json_text_at(containers->elements[i], "name"));
		bt_table_append_joined(
			&images, ",", bt_json_text_at(containers->elements[i], "image"));
	}
	bt_cell_buffer(row, &names, "");
	bt_cell_buffer(row, &images, "");
}

/** --- selectors --- */

static int compare_members(const void *a, const void *b)
{
	const struct bt_json_member *left = a;
	const struct bt_json_member *right = b;
	return bt_str_compare(left->name, right->name);
}

static void append_labels(struct bt_strbuf *out, const struct bt_json_value *labels)
{
	struct bt_json_member *sorted = BT_NEW_ARRAY(struct bt_json_member, labels->count);
	for (uint32_t i = 0; i < labels->count; i++) {
		sorted[i] = labels->members[i];
	}
	qsort(sorted, labels->count, sizeof(*sorted), compare_members);
	for (uint32_t i = 0; i < labels->count; i++) {
		bt_table_append_joined(out, ",", sorted[i].name);
		bt_strbuf_append_char(out, '=');
		if (sorted[i].value->type == BT_JSON_STRING) {
			bt_strbuf_append_str(out, sorted[i].value->text);
		}
	}
	bt_free(sorted);
}

static void append_expression(struct bt_strbuf *out, const struct bt_json_value *expression)
{
	struct bt_str operation = bt_json_text_at(expression, "operator");
	struct bt_str key = bt_json_text_at(expression, "key");
	struct bt_strbuf values = {0};
	if (bt_str_equal(operation, BT_STR("Exists"))) {
		bt_table_append_joined(out, ",", key);
	} else if (bt_str_equal(operation, BT_STR("DoesNotExist"))) {
		bt_table_append_joined(out, ",", BT_STR("!"));
		bt_strbuf_append_str(out, key);
	} else {
		bt_table_append_texts(&values, bt_json_array_at(expression, "values"));
		bt_table_append_joined(out, ",", key);
		bt_strbuf_printf(out, " %s (%s)",
			bt_str_equal(operation, BT_STR("In")) ? "in" : "notin",
			bt_strbuf_c(&values));
	}
	bt_strbuf_finish(&values);
}

void bt_cell_selector(const struct bt_table_row *row, const char *path)
{
	const struct bt_json_value *selector = bt_json_object_at(row->object, path);
	const struct bt_json_value *expressions = bt_json_array_at(selector, "matchExpressions");
	struct bt_strbuf text = {0};
	append_labels(&text, bt_json_object_at(selector, "matchLabels"));
	for (uint32_t i = 0; i < expressions->count; i++) {
		append_expression(&text, expressions->elements[i]);
	}
	bt_cell_buffer(row, &text, "<none>");
}

void bt_cell_labels(const struct bt_table_row *row, const char *path)
{
	struct bt_strbuf text = {0};
	append_labels(&text, bt_json_object_at(row->object, path));
	bt_cell_buffer(row, &text, "<none>");
}
