/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CODEC_SAMPLE_MESSAGE_H
#define BT_TESTS_UNIT_CODEC_SAMPLE_MESSAGE_H
/** A message with fields of every type in every shape. */
#include "codec/message.h"

/**
 * A scalar written as "21C". The value refers to the text, so a copy of the value must also copy
 * the text.
 */
struct sample_degrees {
	struct bt_str text;
	int32_t value;
};

struct sample_inner {
	struct bt_str name;
	int32_t number;
	bt_str_list tags;
};

struct sample_degrees_entry {
	struct bt_str key;
	struct sample_degrees value;
};

struct sample_inner_entry {
	struct bt_str key;
	struct sample_inner value;
};

struct sample_i32_entry {
	struct bt_str key;
	int32_t value;
};

struct sample_i64_entry {
	struct bt_str key;
	int64_t value;
};

struct sample_bool_entry {
	struct bt_str key;
	bool value;
};

struct sample_inlined {
	struct bt_str in_text;
	struct bt_opt_i32 in_number;
};

struct sample {
	struct bt_str str;
	bool flag;
	int32_t i32;
	int64_t i64;
	struct sample_inner message;
	struct sample_degrees scalar;
	struct bt_str raw;

	struct bt_str null_str;
	struct bt_opt_bool null_flag;
	struct bt_opt_i32 null_i32;
	struct bt_opt_i64 null_i64;
	const struct sample_inner *null_message;
	const struct sample_degrees *null_scalar;
	struct bt_str null_raw;

	bt_str_list str_list;
	BT_LIST(bool) flag_list;
	BT_LIST(int32_t) i32_list;
	BT_LIST(int64_t) i64_list;
	BT_LIST(struct sample_inner) message_list;
	BT_LIST(struct sample_degrees) scalar_list;
	BT_LIST(struct bt_str) raw_list;

	struct bt_str_map str_map;
	BT_LIST(struct sample_bool_entry) flag_map;
	BT_LIST(struct sample_i32_entry) i32_map;
	BT_LIST(struct sample_i64_entry) i64_map;
	BT_LIST(struct sample_inner_entry) message_map;
	BT_LIST(struct sample_degrees_entry) scalar_map;
	struct bt_str_map raw_map;

	struct sample_inlined inlined;
	const struct sample_inlined *null_inlined;
	struct bt_str always_str;
	bt_str_list always_list;
	struct bt_opt_i32 always_null;
	int32_t not_in_table;
};

extern const struct bt_message sample_message;
extern const struct bt_message sample_inner_message;
#endif
