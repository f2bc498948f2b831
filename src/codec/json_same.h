/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_SAME_H
#define BT_CODEC_JSON_SAME_H
/**
 * Equality of JSON values as clients understand it, for trees of any size, because a client chooses
 * the size.
 */
#include "codec/json.h"

/**
 * Like bt_json_equal, but compares numbers by value: 1, 1.0 and 1e0 are equal. Takes about linear
 * time even for objects with very many members. If a name repeats, its last value counts; but if
 * both objects have the same names in the same order, all their members are compared.
 */
bool bt_json_same(const struct bt_json_value *a, const struct bt_json_value *b);
#endif
