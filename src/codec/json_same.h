/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_SAME_H
#define BT_CODEC_JSON_SAME_H
/** Equality of values as a client means it, on trees of any size that a client chose. */
#include "codec/json.h"

/**
 * As bt_json_equal, but numbers by value (1, 1.0 and 1e0 are equal), and in about linear time also
 * for objects with very many members. Of repeated members the last one counts, except that objects
 * with the same names in the same order are compared as they stand.
 */
bool bt_json_same(const struct bt_json_value *a, const struct bt_json_value *b);
#endif
