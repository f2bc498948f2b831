/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_REGEX_H
#define BT_CEL_REGEX_H
/**
 * Regular expressions of RE2: linear time, no backtracking. The only door to that library, which is
 * C++; nothing else knows of it. Spec: 12b section 13.
 */
#include <stdbool.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bt_cel_regex;

/** Memory that a compiled pattern and what it keeps between searches may take; patterns that need
 * more are refused. */
#define BT_CEL_REGEX_BYTES_MAX (1 << 20)
/** Of all constant patterns of one expression together: to compile them takes time, too. */
#define BT_CEL_REGEXES_BYTES_MAX (4 << 20)

/** err: `error parsing regexp: missing closing ]: `[``, in the words of Go's library.
 * BERTH_ERR_TOO_LARGE: it needs more memory, which took as long to find out as to compile one that
 * just fits. */
BT_MUST_USE int bt_cel_regex_compile(
	struct bt_str pattern, struct bt_cel_regex **out_regex, struct berth_error *err);
void bt_cel_regex_destroy(struct bt_cel_regex *regex);
/**
 * First leftmost match at or after byte `from`; anchors see the whole text. out_start and out_end
 * may both be NULL, which is faster. Any thread.
 */
bool bt_cel_regex_find(const struct bt_cel_regex *regex, struct bt_str text, uint32_t from,
	uint32_t *out_start, uint32_t *out_end);
/** Instructions of the pattern: at worst each byte of a text costs a step for each. */
uint32_t bt_cel_regex_size(const struct bt_cel_regex *regex);
/** Bytes of heap memory, about: what searches keep is not counted. */
size_t bt_cel_regex_bytes(const struct bt_cel_regex *regex);

#ifdef __cplusplus
}
#endif
#endif
