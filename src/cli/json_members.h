/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_JSON_MEMBERS_H
#define BT_CLI_JSON_MEMBERS_H
/** Members that are no texts: a name, and its value or the beginning of it. */
#include "api/time.h"
#include "codec/json.h"

void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value);
void bt_json_write_member_bool(struct bt_json_writer *writer, const char *name, bool value);
/** "" when it is not set. */
void bt_json_write_member_time(
	struct bt_json_writer *writer, const char *name, const struct bt_time *time);
void bt_json_begin_member_array(struct bt_json_writer *writer, const char *name);
void bt_json_begin_member_object(struct bt_json_writer *writer, const char *name);
#endif
