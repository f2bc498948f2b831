/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/command.h"

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct bt_arguments arguments = {0};
	int exit_status;
	if (bt_command_parse(command, NULL, 0, argc, argv, &arguments, &exit_status)) {
		exit_status = BT_EXIT_OK;
		if (arguments.list.count != 0) {
			(void)fprintf(stderr, "berth version: takes no arguments\n");
			exit_status = BT_EXIT_BAD_INPUT;
		} else {
			(void)printf("berth %s (decides as kube-scheduler v1.36)\n", BT_VERSION);
		}
	}
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_version = {
	.name = "version",
	.group = BT_COMMAND_OTHER,
	.summary = "Print the version.",
	.usage = "berth version",
	.help = "Prints the version of berth and the Kubernetes version whose decisions it "
		"makes.\n",
	.run = run,
};
