/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WARNINGS_H
#define BT_CLI_WARNINGS_H
/** Warnings of a command on standard error: the first ones as lines, of the rest their number. */
#include <stdint.h>

#include "cli/command.h"

#define BT_WARNINGS_SHOWN 20

struct bt_warnings {
	const struct bt_command *command;
	uint32_t count;
};

/** "berth NAME: warning: LINE". context: struct bt_warnings; fits struct bt_manifests's warn. */
void bt_warnings_take(void *context, const char *line);
void bt_warnings_end(const struct bt_warnings *warnings);
#endif
