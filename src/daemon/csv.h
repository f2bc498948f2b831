/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_CSV_H
#define BT_DAEMON_CSV_H
/** Comma separated values as Go's encoding/csv reads them: how flags take lists. */
#include "base/error.h"
#include "base/str.h"

/**
 * One line: take is called for each field, borrowed for the call. Returns 0 or BERTH_ERR_INVALID,
 * then fields in front of the mistake were taken.
 */
BT_MUST_USE int bt_csv_split(struct bt_str line, void (*take)(void *context, struct bt_str field),
	void *context, struct berth_error *err);
#endif
