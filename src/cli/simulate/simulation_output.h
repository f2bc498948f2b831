/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SIMULATION_OUTPUT_H
#define BT_CLI_SIMULATION_OUTPUT_H
/** The answer of a simulation as tables, JSON, YAML or names. */
#include "cli/output.h"
#include "cluster/simulation.h"

/** Append the whole answer. */
BT_MUST_USE int bt_simulation_write(const struct bt_simulation *simulation,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);
#endif
