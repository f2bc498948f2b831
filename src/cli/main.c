/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "api/suggest.h"
#include "base/str.h"
#include "cli/command.h"

static int print_version(void *options, struct bt_strbuf *out, struct berth_error *err BT_UNUSED)
{
	const struct bt_command_line *line = options;
	bt_strbuf_printf(out,
		line->format == BT_OUTPUT_JSON
			? "{\"version\":\"%s\",\"kubernetesVersion\":\"v1.36\"}\n"
			: "berth %s (decides as kube-scheduler v1.36)\n",
		BT_VERSION);
	return BT_EXIT_OK;
}

static const struct bt_flag version_flags[] = {
	{"output", 'o', BT_FLAG_STRING, offsetof(struct bt_command_line, format_name), "text|json",
		"output format (default text)"},
};

static const struct bt_command version_command = {
	.name = "version",
	.group = BT_COMMAND_OTHER,
	.summary = "Print the version.",
	.usage = "berth version [-o json]",
	.help = "Prints the version of berth and the Kubernetes version whose decisions it "
		"makes.\n",
	.flags = version_flags,
	.flag_count = BT_ARRAY_LENGTH(version_flags),
	.no_arguments = "the command takes none",
	.run = print_version,
};

static const struct bt_command *const commands[] = {
	&bt_command_bench,
	&bt_command_capacity,
	&bt_command_compare,
	&bt_command_completion,
	&bt_command_explain,
	&bt_command_import,
	&bt_command_pending,
	&bt_command_record,
	&bt_command_replay,
	&bt_command_scheduler,
	&bt_command_simulate,
	&bt_command_snapshot,
	&bt_command_up,
	&version_command,
	&bt_command_view,
	&bt_command_whatif,
};

static const char intro[] = "berth decides on which node of a cluster each pod runs, as the "
			    "Kubernetes scheduler does.\n"
			    "\n"
			    "Usage:\n"
			    "  berth COMMAND [FLAGS] [ARGUMENTS]\n";

static const char *const group_names[BT_COMMAND_GROUP__COUNT] = {
	[BT_COMMAND_ASK] = "Ask about a cluster",
	[BT_COMMAND_RUN] = "Run",
	[BT_COMMAND_MEASURE] = "Measure",
	[BT_COMMAND_OTHER] = "Other",
};

static const char outro[] = "\n"
			    "Try it:\n"
			    "  berth snapshot --kubeconfig ~/.kube/config > cluster.json.gz\n"
			    "  berth explain shop/web-0 -f cluster.json.gz\n"
			    "  berth capacity --pod pod.yaml -f cluster.json.gz\n"
			    "  berth whatif --drain node-1 -f cluster.json.gz\n"
			    "  berth up --nodes 3\n"
			    "\n"
			    "\"berth help COMMAND\" explains a command.\n";

static void print_overview(FILE *stream)
{
	(void)fputs(intro, stream);
	for (int group = 0; group < BT_COMMAND_GROUP__COUNT; group++) {
		/* This program may have been built without the commands of a group. */
		bool has_heading = false;
		for (size_t i = 0; i < BT_ARRAY_LENGTH(commands); i++) {
			if ((int)commands[i]->group != group) {
				continue;
			}
			if (!has_heading) {
				(void)fprintf(stream, "\n%s:\n", group_names[group]);
				has_heading = true;
			}
			(void)fprintf(
				stream, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
		}
	}
	(void)fprintf(stream, "  %-14s %s\n", "help", "Explain a command.");
	(void)fputs(outro, stream);
}

static const struct bt_command *find_command(const char *name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(commands); i++) {
		if (strcmp(commands[i]->name, name) == 0) {
			return commands[i];
		}
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[BT_ARRAY_LENGTH(commands) + 1];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(commands); i++) {
		names[i] = commands[i]->name;
	}
	names[BT_ARRAY_LENGTH(commands)] = "help";
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "berth: unknown command ");
	bt_strbuf_append_quoted(&text, bt_str_from(name));
	const char *close = bt_suggest(name, names, BT_ARRAY_LENGTH(names));
	if (close != NULL) {
		bt_strbuf_printf(&text, "; did you mean \"%s\"?", close);
	}
	(void)fprintf(
		stderr, "%s\nRun \"berth --help\" for the list of commands.\n", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return BT_EXIT_BAD_INPUT;
}

static int run_program(int argc, char **argv)
{
	/* A program named kube-scheduler runs only the command "scheduler". */
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	if (argc > 0 && strcmp(slash != NULL ? slash + 1 : argv[0], "kube-scheduler") == 0) {
		return bt_command_run(&bt_command_scheduler, argc - 1, argv + 1);
	}
	if (argc < 2) {
		print_overview(stderr);
		return BT_EXIT_BAD_INPUT;
	}
	const char *name = argv[1];
	if (strcmp(name, "help") == 0) {
		if (argc == 2 || strcmp(argv[2], "help") == 0) {
			print_overview(stdout);
			return BT_EXIT_OK;
		}
		char help_flag[] = "--help";
		char *help[] = {help_flag, NULL};
		const struct bt_command *explained = find_command(argv[2]);
		return explained != NULL ? bt_command_run(explained, 1, help)
					 : unknown_command(argv[2]);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		print_overview(stdout);
		return BT_EXIT_OK;
	}
	if (strcmp(name, "--version") == 0) {
		return bt_command_run(&version_command, 0, NULL);
	}
	if (strcmp(name, "__complete") == 0) {
		return bt_complete_run(commands, BT_ARRAY_LENGTH(commands), argc - 2, argv + 2);
	}
	const struct bt_command *command = find_command(name);
	return command != NULL ? bt_command_run(command, argc - 2, argv + 2)
			       : unknown_command(name);
}

int main(int argc, char **argv)
{
	return bt_command_main(argc, argv, run_program);
}
