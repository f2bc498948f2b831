/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_LINE_READER_H
#define BT_CLUSTER_LINE_READER_H
/** Lines of a text file, plain or gzipped. */
#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"

struct bt_line_reader;

/** path "-" reads standard input. */
BT_MUST_USE int bt_line_reader_open(
	const char *path, struct bt_line_reader **out_reader, struct berth_error *err);
void bt_line_reader_close(struct bt_line_reader *reader);
/**
 * Next line that is not blank, without its end. *out_line is borrowed until the next call;
 * *out_more false at the end. Lines longer than 1 GiB are refused (BERTH_ERR_TOO_LARGE).
 */
BT_MUST_USE int bt_line_reader_next(struct bt_line_reader *reader, struct bt_str *out_line,
	bool *out_more, struct berth_error *err);
/** 1-based number of the line returned last. */
unsigned long bt_line_reader_number(const struct bt_line_reader *reader);
#endif
