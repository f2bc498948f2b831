/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_REGEX_H
#define BT_CEL_REGEX_H
/**
 * Regular expressions by RE2: linear time, no backtracking. Only this header gives access to RE2, a
 * C++ library. Spec: 12b section 13.
 */
#include <stdbool.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bt_cel_regex;

/**
 * Maximum memory of a compiled pattern, caches of searches included; patterns that need more are
 * refused.
 */
#define BT_CEL_REGEX_BYTES_MAX (1 << 20)
/** Maximum memory of all constant patterns of one expression; limits also their compile time. */
#define BT_CEL_REGEXES_BYTES_MAX (4 << 20)

/**
 * Compiles a pattern. err: in the words of Go's library, for example `error parsing regexp: missing
 * closing ]: `[``. BERTH_ERR_TOO_LARGE: the pattern needs too much memory; detecting this takes as
 * long as compiling the largest accepted pattern.
 */
BT_MUST_USE int bt_cel_regex_compile(
	struct bt_str pattern, struct bt_cel_regex **out_regex, struct berth_error *err);
void bt_cel_regex_destroy(struct bt_cel_regex *regex);
/**
 * Finds the leftmost match at or after byte `from`; anchors refer to the whole text. false: no
 * match. out_start and out_end (bytes) may both be NULL, which is faster. Thread-safe.
 */
bool bt_cel_regex_find(const struct bt_cel_regex *regex, struct bt_str text, uint32_t from,
	uint32_t *out_start, uint32_t *out_end);
/**
 * Number of instructions of the compiled pattern. In the worst case, a search tries every
 * instruction for each byte of the text.
 */
uint32_t bt_cel_regex_size(const struct bt_cel_regex *regex);
/** Approximate heap memory in bytes, without the caches of searches. */
size_t bt_cel_regex_bytes(const struct bt_cel_regex *regex);

#ifdef __cplusplus
}
#endif
#endif
