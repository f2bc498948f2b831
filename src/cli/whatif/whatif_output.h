/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WHATIF_OUTPUT_H
#define BT_CLI_WHATIF_OUTPUT_H
/** The output of "berth whatif": the differences after some changes, or after each loss. */
#include "base/text_set.h"
#include "cli/command.h"
#include "planning/whatif_report.h"

struct bt_whatif_options {
	struct bt_command_line line;
	struct bt_whatif_changes changes; /* of all flags, in command-line order */
	bt_flag_set_fn *add_change;
	const char *new_config; /* NULL: the configuration of the before side */
	const char *lose;       /* "node", "zone", or the key of a label; NULL: not given */
	bool each;
	int64_t jobs; /* losses simulated at the same time; 0: one for each processor */
	bool from_scratch;
	bool recreate_bare;
	bool preempt;
	struct bt_text_set warned; /* warnings that a side has given */
};

/** Append the whole report. format: any but BT_OUTPUT_NAME. */
BT_MUST_USE int bt_whatif_write(const struct bt_whatif_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err);

/** Write the member "changes". new_config: NULL: none. */
void bt_whatif_write_changes(struct bt_json_writer *writer, const struct bt_whatif_changes *changes,
	const char *new_config);

/**
 * N-1 analysis: removes each node in turn, or the nodes of each zone or of each value of a label,
 * and schedules the pods that the controllers create again. Each loss is simulated in a forked copy
 * of the process, which has the loaded cluster (cli/processes.h). The answer is the same as that of
 * a simulation that never had the nodes.
 */

/** Refuse a unit that is not "node", "zone" or a valid label key. */
BT_MUST_USE int bt_lose_unit_check(const char *unit, struct berth_error *err);
/**
 * Load `side`, try every loss, and append the report. The cluster of `side` must be filled. Returns
 * an exit status: BT_EXIT_FINDING if some loss leaves pods pending, lost or preempted; or a
 * negative error.
 */
BT_MUST_USE int bt_whatif_lose_each(const struct bt_whatif_options *options,
	struct bt_whatif_side *side, struct bt_strbuf *out, struct berth_error *err);
#endif
