/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_FIELD_ROWS_H
#define BT_API_FIELD_ROWS_H
/**
 * Rows of the field tables (codec/message.h), one macro per type and shape:
 *
 *         BT_ROW_<type>[_<shape>](structure, member, "jsonName", protobuf number[, ...])
 *
 * A row whose member has another type than the macro says does not compile.
 */
#include "api/quantity.h"
#include "api/time.h"
#include "codec/message.h"

/** sizeof(type), and a compiler error unless member M of struct S has exactly that type. */
#define BT_ROW_SIZE(S, M, type) sizeof(*(1 ? &((struct S *)0)->M : (type *)0))
/** sizeof(item), with the same check of the member that refers to items. */
#define BT_ROW_ITEM_SIZE(S, M, type, item) (sizeof(item) + 0 * BT_ROW_SIZE(S, M, type))

#define BT_ROW_PLAIN(S, M, json, N, c_type, field_type, shape, flags) \
	BT_FIELD_ROW( \
		S, M, json, N, field_type, shape, flags, BT_ROW_SIZE(S, M, c_type), 0, NULL, NULL)
#define BT_ROW_PLAIN_LIST(S, M, json, N, c_type, field_type) \
	BT_FIELD_ROW(S, M, json, N, field_type, BT_SHAPE_LIST, 0, \
		BT_ROW_ITEM_SIZE(S, M.items, c_type *, c_type), 0, NULL, NULL)

#define BT_ROW_STR(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_str, BT_FIELD_STR, BT_SHAPE_SINGLE, 0)
#define BT_ROW_STR_ALWAYS(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_str, BT_FIELD_STR, BT_SHAPE_SINGLE, BT_FIELD_ALWAYS)
#define BT_ROW_STR_NULLABLE(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_str, BT_FIELD_STR, BT_SHAPE_NULLABLE, 0)
#define BT_ROW_STR_LIST(S, M, json, N) BT_ROW_PLAIN_LIST(S, M, json, N, struct bt_str, BT_FIELD_STR)
#define BT_ROW_STR_MAP(S, M, json, N) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_STR, BT_SHAPE_MAP, 0, \
		BT_ROW_ITEM_SIZE(S, M, struct bt_str_map, struct bt_str_pair), \
		offsetof(struct bt_str_pair, value), NULL, NULL)
#define BT_ROW_RAW_JSON(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_str, BT_FIELD_RAW_JSON, BT_SHAPE_SINGLE, 0)

#define BT_ROW_BOOL(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, bool, BT_FIELD_BOOL, BT_SHAPE_SINGLE, 0)
#define BT_ROW_BOOL_NULLABLE(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_opt_bool, BT_FIELD_BOOL, BT_SHAPE_NULLABLE, 0)
#define BT_ROW_BOOL_LIST(S, M, json, N) BT_ROW_PLAIN_LIST(S, M, json, N, bool, BT_FIELD_BOOL)

#define BT_ROW_I32(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, int32_t, BT_FIELD_I32, BT_SHAPE_SINGLE, 0)
#define BT_ROW_I32_ALWAYS(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, int32_t, BT_FIELD_I32, BT_SHAPE_SINGLE, BT_FIELD_ALWAYS)
#define BT_ROW_I32_NULLABLE(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_opt_i32, BT_FIELD_I32, BT_SHAPE_NULLABLE, 0)

#define BT_ROW_I64(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, int64_t, BT_FIELD_I64, BT_SHAPE_SINGLE, 0)
#define BT_ROW_I64_ALWAYS(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, int64_t, BT_FIELD_I64, BT_SHAPE_SINGLE, BT_FIELD_ALWAYS)
#define BT_ROW_I64_NULLABLE(S, M, json, N) \
	BT_ROW_PLAIN(S, M, json, N, struct bt_opt_i64, BT_FIELD_I64, BT_SHAPE_NULLABLE, 0)
#define BT_ROW_I64_LIST(S, M, json, N) BT_ROW_PLAIN_LIST(S, M, json, N, int64_t, BT_FIELD_I64)

/* Messages: type is the structure's name without "struct", msg its field table. */
#define BT_ROW_MSG_FLAGS(S, M, json, N, flags, type, msg) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_MESSAGE, BT_SHAPE_SINGLE, flags, \
		BT_ROW_SIZE(S, M, struct type), 0, &(msg), NULL)
#define BT_ROW_MSG(S, M, json, N, type, msg) BT_ROW_MSG_FLAGS(S, M, json, N, 0, type, msg)
#define BT_ROW_MSG_ALWAYS(S, M, json, N, type, msg) \
	BT_ROW_MSG_FLAGS(S, M, json, N, BT_FIELD_ALWAYS, type, msg)
/** The member is a structure of its own here and in protobuf; its fields sit in the parent object
 * in JSON. */
#define BT_ROW_MSG_INLINE(S, M, N, type, msg) \
	BT_FIELD_ROW(S, M, "", N, BT_FIELD_MESSAGE, BT_SHAPE_SINGLE, BT_FIELD_INLINE, \
		BT_ROW_SIZE(S, M, struct type), 0, &(msg), NULL)
#define BT_ROW_MSG_NULLABLE(S, M, json, N, type, msg) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_MESSAGE, BT_SHAPE_NULLABLE, 0, \
		BT_ROW_ITEM_SIZE(S, M, const struct type *, struct type), 0, &(msg), NULL)
/** Inside of the parent's wrapper in protobuf (BT_FIELD_WRAPPED). */
#define BT_ROW_MSG_WRAPPED(S, M, json, N, type, msg) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_MESSAGE, BT_SHAPE_NULLABLE, BT_FIELD_WRAPPED, \
		BT_ROW_ITEM_SIZE(S, M, const struct type *, struct type), 0, &(msg), NULL)
#define BT_ROW_MSG_LIST(S, M, json, N, type, msg) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_MESSAGE, BT_SHAPE_LIST, 0, \
		BT_ROW_ITEM_SIZE(S, M.items, struct type *, struct type), 0, &(msg), NULL)
/** entry is the structure {struct bt_str key; <message structure> value;}. */
#define BT_ROW_MSG_MAP(S, M, json, N, entry, msg) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_MESSAGE, BT_SHAPE_MAP, 0, \
		BT_ROW_ITEM_SIZE(S, M.items, struct entry *, struct entry), \
		offsetof(struct entry, value), &(msg), NULL)

/* Value types of this layer. */
#define BT_ROW_SCALAR(S, M, json, N, flags, c_type, scal) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_SCALAR, BT_SHAPE_SINGLE, flags, \
		BT_ROW_SIZE(S, M, c_type), 0, NULL, &(scal))
#define BT_ROW_SCALAR_NULLABLE(S, M, json, N, c_type, scal) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_SCALAR, BT_SHAPE_NULLABLE, 0, \
		BT_ROW_ITEM_SIZE(S, M, const c_type *, c_type), 0, NULL, &(scal))

/** A quantity is encoded even when it is 0: "0" is its text. */
#define BT_ROW_QTY(S, M, json, N) \
	BT_ROW_SCALAR(S, M, json, N, BT_FIELD_ALWAYS, struct bt_quantity, bt_quantity_scalar)
#define BT_ROW_QTY_NULLABLE(S, M, json, N) \
	BT_ROW_SCALAR_NULLABLE(S, M, json, N, struct bt_quantity, bt_quantity_scalar)
#define BT_ROW_QTY_LIST(S, M, json, N) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_SCALAR, BT_SHAPE_LIST, 0, \
		BT_ROW_ITEM_SIZE(S, M.items, struct bt_quantity *, struct bt_quantity), 0, NULL, \
		&bt_quantity_scalar)
#define BT_ROW_QTY_MAP(S, M, json, N) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_SCALAR, BT_SHAPE_MAP, 0, \
		BT_ROW_ITEM_SIZE(S, M, struct bt_resource_list, struct bt_resource_entry), \
		offsetof(struct bt_resource_entry, quantity), NULL, &bt_quantity_scalar)

#define BT_ROW_TIME(S, M, json, N) BT_ROW_SCALAR(S, M, json, N, 0, struct bt_time, bt_time_scalar)
/** Encoded as null when zero, spec 01 section 2.2. */
#define BT_ROW_TIME_ALWAYS(S, M, json, N) \
	BT_ROW_SCALAR(S, M, json, N, BT_FIELD_ALWAYS, struct bt_time, bt_time_scalar)
#define BT_ROW_TIME_NULLABLE(S, M, json, N) \
	BT_ROW_SCALAR_NULLABLE(S, M, json, N, struct bt_time, bt_time_scalar)
#define BT_ROW_MICRO_TIME_ALWAYS(S, M, json, N) \
	BT_ROW_SCALAR(S, M, json, N, BT_FIELD_ALWAYS, struct bt_time, bt_micro_time_scalar)
#define BT_ROW_MICRO_TIME_NULLABLE(S, M, json, N) \
	BT_ROW_SCALAR_NULLABLE(S, M, json, N, struct bt_time, bt_micro_time_scalar)

/** entry is the structure {struct bt_str key; struct bt_time value;}. */
#define BT_ROW_TIME_MAP(S, M, json, N, entry) \
	BT_FIELD_ROW(S, M, json, N, BT_FIELD_SCALAR, BT_SHAPE_MAP, 0, \
		BT_ROW_ITEM_SIZE(S, M.items, struct entry *, struct entry), \
		offsetof(struct entry, value), NULL, &bt_time_scalar)

/** The message of struct S. */
#define BT_MESSAGE(S, text, rows) \
	{ \
		.name = (text), .size = (uint32_t)sizeof(struct S), \
		.field_count = (uint32_t)BT_ARRAY_LENGTH(rows), .fields = (rows) \
	}
#endif
