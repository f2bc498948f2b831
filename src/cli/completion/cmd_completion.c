/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/completion/completion_scripts.h"

static const struct {
	const char *name;
	const char *const *lines;
} shells[] = {
	{"bash", bt_completion_bash},
	{"zsh", bt_completion_zsh},
	{"fish", bt_completion_fish},
};

static int print_script(const struct bt_arguments *arguments, struct berth_error *err)
{
	if (arguments->list.count != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "needs the name of one shell: bash, zsh or fish");
	}
	const char *shell = arguments->list.items[0];
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(shells); i++) {
		if (strcmp(shell, shells[i].name) == 0) {
			for (const char *const *line = shells[i].lines; *line != NULL; line++) {
				(void)fputs(*line, stdout); /* main looks at the stream */
			}
			return 0;
		}
	}
	struct bt_strbuf quoted = {0};
	bt_strbuf_append_quoted(&quoted, bt_str_from(shell));
	int result = bt_error_set(
		err, BERTH_ERR_INVALID, "%s is none of bash, zsh, fish", bt_strbuf_c(&quoted));
	bt_strbuf_finish(&quoted);
	return result;
}

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct bt_arguments arguments = {0};
	int exit_status;
	if (bt_command_parse(command, NULL, 0, argc, argv, &arguments, &exit_status)) {
		struct berth_error err = BERTH_ERROR_INIT;
		exit_status = print_script(&arguments, &err) < 0 ? bt_command_fail(command, &err)
								 : BT_EXIT_OK;
	}
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_completion = {
	.name = "completion",
	.group = BT_COMMAND_OTHER,
	.summary = "Print a script that teaches a shell to complete berth's commands and flags.",
	.usage = "berth completion bash|zsh|fish",
	.arguments = "bash|zsh|fish",
	.help = "The script is for the standard output's reader: source it, or put it where the "
		"shell\n"
		"looks for such files. An installed package has done that already. Completed are\n"
		"commands, flags, their values, files, and the names of nodes and pods in the\n"
		"files given with -f so far.\n",
	.examples = "  # bash, in this shell; for every one put the line into ~/.bashrc\n"
		    "  source <(berth completion bash)\n"
		    "\n"
		    "  # zsh, in a folder of fpath\n"
		    "  berth completion zsh > ~/.zsh/completions/_berth\n"
		    "\n"
		    "  # fish\n"
		    "  berth completion fish > ~/.config/fish/completions/berth.fish\n",
	.exit_status = "  0  the script was printed\n"
		       "  2  there is none for such a shell\n",
	.run = run,
};
