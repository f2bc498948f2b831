/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SIMULATION_ASK_H
#define BT_CLI_SIMULATION_ASK_H
/** The run of a command that asks one simulation of one cluster. */
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/simulation.h"
#include "cli/source.h"

/**
 * Load the simulation, which has its cluster and engine already, and append the answer to out.
 * Returns the exit status, or a negative error: then nothing is printed but that.
 */
typedef int bt_simulation_answer_fn(const void *context, struct bt_simulation *simulation,
	struct bt_strbuf *out, struct berth_error *err);

/**
 * Make the engine, read the cluster, let answer find out, print. Warnings and errors go to standard
 * error. Returns the exit status.
 */
int bt_simulation_ask(const struct bt_command *command, const struct bt_setup *setup,
	const struct bt_source *source, bt_simulation_answer_fn *answer, const void *context);
#endif
