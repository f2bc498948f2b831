/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_members.h"

void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_int64(writer, value);
}

void bt_json_write_member_bool(struct bt_json_writer *writer, const char *name, bool value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_bool(writer, value);
}

void bt_json_write_member_time(
	struct bt_json_writer *writer, const char *name, const struct bt_time *time)
{
	struct bt_strbuf text = {0};
	if (time->set) {
		bt_time_format(time, &text);
	}
	bt_json_write_member(writer, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

void bt_json_begin_member_array(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_array(writer);
}

void bt_json_begin_member_object(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_object(writer);
}
