/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "daemon/daemon.h"
#include "daemon/flag_values.h"

/**
 * Only completion uses these flags: bt_daemon_main parses them and prints kube-scheduler's help and
 * messages.
 */
static const struct bt_flag flags[] = {
#define BT_DAEMON_FLAG(upper, name, shorthand, section, kind, value_name, value, help) \
	{name, shorthand, \
		BT_FLAG_KIND_##kind == BT_FLAG_KIND_BOOL || \
				BT_FLAG_KIND_##kind == BT_FLAG_KIND_VERSION \
			? BT_FLAG_BOOL \
			: BT_FLAG_STRING, \
		0, value_name, help},
#include "daemon/flags.def"
};

const struct bt_command bt_command_scheduler = {
	.name = "scheduler",
	.group = BT_COMMAND_RUN,
	.summary = "Schedule the pods of a cluster, in the place of kube-scheduler.",
	.usage = "berth scheduler [FLAGS]",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.main = bt_daemon_main,
};
