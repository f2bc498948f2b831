/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SUGGEST_H
#define BT_API_SUGGEST_H
/** "did you mean": the known word closest to a mistyped one. */
#include <stddef.h>
#include <stdbool.h>

#include "base/strbuf.h"

/**
 * Returns the word with the smallest edit distance (changed, added, dropped or swapped bytes) to
 * `given`. The distance may be at most a third of the longer word's length; a distance of 1 is
 * always allowed. NULL: no word is close enough, or `given` is empty or has more than 32 bytes.
 * Words of more than 32 bytes are ignored.
 */
const char *bt_suggest(const char *given, const char *const *words, size_t count);

/**
 * Appends a hint about an unknown pair of apiVersion and kind: "Deployment is of apps/v1" if the
 * kind exists in another apiVersion, or "did you mean Node?" if the kind is similar to a known
 * kind. Returns false and appends nothing if there is no hint. Groups of custom resources never get
 * a hint, because their kinds may have any name.
 */
bool bt_kind_hint(struct bt_str api_version, struct bt_str kind, struct bt_strbuf *out);
#endif
