/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "daemon/daemon.h"

/** Its flags, help and messages are kube-scheduler's, and not read as those of other commands. */
static int run(const struct bt_command *command, int argc, char **argv)
{
	(void)command;
	return bt_daemon_main(argc, argv);
}

const struct bt_command bt_command_scheduler = {
	.name = "scheduler",
	.group = BT_COMMAND_RUN,
	.summary = "Schedule the pods of a cluster, in the place of kube-scheduler.",
	.usage = "berth scheduler [FLAGS]",
	.run = run,
};
