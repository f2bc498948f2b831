/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SUGGEST_H
#define BT_API_SUGGEST_H
/** "did you mean": the known word closest to a mistyped one. */
#include <stddef.h>
#include <stdbool.h>

#include "base/strbuf.h"

/**
 * The word that the fewest changed, added, dropped or swapped bytes turn given into; NULL when all
 * need more than a third of the longer word's length (at least one).
 */
const char *bt_suggest(const char *given, const char *const *words, size_t count);

/** What somebody meant who wrote a kind that is not in the table: most others are none of ours. */

/**
 * Append "Deployment is of apps/v1" or "did you mean Node?". False, and nothing, for kinds of other
 * groups, and for those that resemble none of the table.
 */
bool bt_kind_hint(struct bt_str api_version, struct bt_str kind, struct bt_strbuf *out);
#endif
