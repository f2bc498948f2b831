/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
static int run(const struct bt_command *command, int argc, char **argv)
{
	(void)command; (void)argc; (void)argv;
	return BT_EXIT_BAD_INPUT;
}
const struct bt_command bt_command_simulate = {
	.name = "simulate",
	.summary = "Place pods on a cluster read from files, and say why some stay pending.",
	.usage = "berth simulate -f FILE|DIR|- ... [FLAGS]",
	.help = "",
	.run = run,
};
