/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_MERGE_H
#define BT_CODEC_YAML_MERGE_H
/**
 * Mappings whose members cannot simply be written one after the other: merge keys, repeated keys.
 * Private to YAML.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strbuf.h"

/** JSON text that "<<" accepts: an object or an array of objects. */
bool bt_yaml_is_merge_value(struct bt_str json);

/**
 * out's text from start on is a JSON object as the reader writes it. Write it anew: of members with
 * one name the last value counts, and members of the merged values follow that have no such name
 * yet. merged: the values of "<<" in order, separated by commas; an earlier one beats a later one.
 */
void bt_yaml_rewrite_mapping(struct bt_strbuf *out, size_t start, struct bt_str merged);
#endif
