/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SUGGEST_H
#define BT_CLI_SUGGEST_H
/** "did you mean": the known word closest to a mistyped one. */
#include <stddef.h>

/**
 * The word that the fewest changed, added, dropped or swapped bytes turn given into; NULL when all
 * need more than a third of the longer word's length (at least one).
 */
const char *bt_suggest(const char *given, const char *const *words, size_t count);
#endif
