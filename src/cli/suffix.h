/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SUFFIX_H
#define BT_CLI_SUFFIX_H
/**
 * The endings that a cluster draws at random for generated names, here computed: the same input
 * gives the same names in every run and on every machine.
 */
#include <stdint.h>

#include "base/str.h"

#define BT_SUFFIX_LENGTH 5
#define BT_HASH_SUFFIX_LENGTH 10

/** Endings for distinct indexes below BT_SUFFIX_COUNT are distinct under one prefix. */
#define BT_SUFFIX_COUNT (27 * 27 * 27 * 27 * 27)

/** out: BT_SUFFIX_LENGTH characters and a zero byte, of those that generated names use. */
void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out);
/** Likewise BT_HASH_SUFFIX_LENGTH characters: takes the place of a hash of a pod template. */
void bt_suffix_make_hash(struct bt_str name, char *out);
#endif
