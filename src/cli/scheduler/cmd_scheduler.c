/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "daemon/daemon.h"
#include "daemon/flag_values.h"

/** What the values of flags are that kube-scheduler's help calls a "string". */
static const struct {
	const char *ending; /* of the flag's name */
	const char *value_name;
} strings[] = {
	{"-dir", "DIR"},
	{"-file", "FILE"},
	{"-manifest", "FILE"},
	{"-to", "FILE"},
	{"config", "FILE"},
	{"leader-elect-resource-lock", "leases"},
	{"logging-format", "text|json"},
	{"tls-min-version", "VersionTLS10|VersionTLS11|VersionTLS12|VersionTLS13"},
};

static const char *value_name_of(const struct bt_flag_row *row)
{
	if (row->kind == BT_FLAG_KIND_BOOL || row->kind == BT_FLAG_KIND_VERSION) {
		return NULL;
	}
	if (row->kind == BT_FLAG_KIND_GATES) {
		return "NAME=BOOL,...";
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(strings); i++) {
		if (bt_str_has_suffix(bt_str_from(row->name), bt_str_from(strings[i].ending))) {
			return strings[i].value_name;
		}
	}
	return "VALUE";
}

/** Its flags, help and messages are kube-scheduler's, and not read as those of other commands. */
static int run(const struct bt_command *command, int argc, char **argv)
{
	if (command->visitor != NULL) {
		const struct bt_command_visitor *visitor = command->visitor;
		struct bt_flag flags[BT_DAEMON_FLAG__COUNT];
		for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
			const struct bt_flag_row *row = &bt_flag_rows[i];
			const char *value_name = value_name_of(row);
			flags[i] = (struct bt_flag){.name = row->name,
				.shorthand = row->shorthand,
				.type = value_name == NULL ? BT_FLAG_BOOL : BT_FLAG_STRING,
				.value_name = value_name,
				.help = row->help};
		}
		visitor->visit(visitor->context, flags, BT_DAEMON_FLAG__COUNT);
		return BT_EXIT_OK;
	}
	return bt_daemon_main(argc, argv);
}

const struct bt_command bt_command_scheduler = {
	.name = "scheduler",
	.group = BT_COMMAND_RUN,
	.summary = "Schedule the pods of a cluster, in the place of kube-scheduler.",
	.usage = "berth scheduler [FLAGS]",
	.run = run,
};
