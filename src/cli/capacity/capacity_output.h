/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CAPACITY_OUTPUT_H
#define BT_CLI_CAPACITY_OUTPUT_H
/** Answers about capacity, for people and programs. */
#include "cli/capacity/capacity.h"
#include "cli/output.h"

/** Nodes that a table shows one by one; the rest are told by how many copies they take. */
#define BT_CAPACITY_ROWS 10

/**
 * Append one or several answers: table, wide, JSON or YAML. JSON and YAML of a single answer is the
 * review itself, of several an object with the list "items". BERTH_ERR_INVALID: YAML in a program
 * built without it.
 */
BT_MUST_USE int bt_capacity_write(const struct bt_capacity_answer *answers, uint32_t count,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);
void bt_capacity_write_table(
	const struct bt_capacity_answer *answer, bool wide, struct bt_strbuf *out);
#endif
