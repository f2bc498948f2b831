/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_DURATION_H
#define BT_BASE_DURATION_H
/** Durations as Go writes and reads them: "10m0s", "1.5s", "500ms". Spec 10 sections 4.4, 10. */
#include <stdint.h>

#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/str.h"
#include "base/strbuf.h"

/**
 * Parses a duration. Error messages: `time: invalid duration "x"`, `time: missing unit in duration
 * "15"`, `time: unknown unit "d" in ...`.
 */
BT_MUST_USE int bt_duration_parse(struct bt_str text, int64_t *out_ns, struct berth_error *err);
void bt_duration_format(int64_t duration_ns, struct bt_strbuf *out);
#endif
