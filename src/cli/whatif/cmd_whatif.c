/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/processes.h"
#include "cli/setup.h"
#include "cli/source.h"
#include "cli/whatif/whatif_report.h"

/** Where a flag's changes go, and what kind they are. */
struct collector {
	struct bt_whatif_changes *changes; /* of all flags, in their order */
	enum bt_whatif_kind kind;
};

struct options {
	struct bt_setup setup;
	struct bt_source source;
	struct bt_whatif_changes changes;
	const char *new_config; /* NULL: that of the before side */
	const char *lose;       /* NULL: nothing */
	bool each;
	int64_t jobs;
	bool from_scratch;
	bool recreate_bare;
	bool preempt;
	const char *format_name;
	const char *color;
	enum bt_output_format format;
};

/** --- the run --- */

/** The changes, made into the cluster of the after side. */
static int make_after(const struct options *options, struct bt_whatif *whatif,
	struct bt_whatif_side *after, struct berth_error *err)
{
	const struct bt_gates *gates = bt_config_gates(after->engine->config);
	whatif->recreate_bare = options->recreate_bare;
	whatif->pod_level = bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES);
	whatif->taint_comparison =
		bt_gate_enabled(gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	for (uint32_t i = 0; i < options->changes.list.count; i++) {
		int result = bt_whatif_apply(whatif, &options->changes.list.items[i], err);
		if (result < 0) {
			return result;
		}
	}
	bt_whatif_result(whatif, &after->cluster);
	return 0;
}

static int make_sides(const struct options *options, const struct bt_manifests *input,
	struct bt_whatif *whatif, struct bt_whatif_side *before, struct bt_whatif_side *after,
	struct berth_error *err)
{
	int result = make_after(options, whatif, after, err);
	if (result < 0) {
		return result;
	}
	bt_manifests_copy(input, NULL, &before->cluster);
	/* What is wrong with both sides is told once. */
	after->cluster.warn = NULL;
	result = bt_whatif_side_run(
		before, input, NULL, options->preempt, "before: placing pods", err);
	return result < 0 ? result
			  : bt_whatif_side_run(after, &whatif->work, whatif->marks.items,
				    options->preempt, "after: placing pods", err);
}

static int compare(const struct options *options, struct bt_whatif *whatif,
	const struct bt_whatif_side *before, const struct bt_whatif_side *after,
	int *out_exit_status, struct berth_error *err)
{
	struct bt_strbuf out = {0};
	struct bt_whatif_report report = {
		.whatif = whatif,
		.before = before,
		.after = after,
		.changes = &options->changes,
		.new_config = options->new_config,
		.from_scratch = options->from_scratch,
	};
	bt_whatif_compare(&report);
	int result = bt_whatif_write(&report, options->format, &out, err);
	if (result == 0) {
		bt_output_print(&out);
		*out_exit_status = bt_whatif_is_worse(&report) ? BT_EXIT_FINDING : BT_EXIT_OK;
	}
	bt_strbuf_finish(&out);
	bt_whatif_report_finish(&report);
	return result;
}

static int run_on_sides(const struct options *options, struct bt_manifests *input,
	struct bt_whatif_side *before, struct bt_whatif_side *after, int *out_exit_status,
	struct berth_error *err)
{
	struct bt_whatif whatif;
	int result = bt_source_read(&options->source, input, err);
	if (result < 0) {
		return result;
	}
	if (options->from_scratch) {
		bt_whatif_unplace(input);
	}
	bt_whatif_expand_daemon_sets(input);
	bt_whatif_init(&whatif, input);
	result = make_sides(options, input, &whatif, before, after, err);
	if (result == 0) {
		result = compare(options, &whatif, before, after, out_exit_status, err);
	}
	bt_whatif_finish(&whatif);
	return result;
}

static int lose_on_side(const struct bt_lose_options *lose, const struct options *options,
	struct bt_manifests *input, struct bt_whatif_side *side, struct berth_error *err)
{
	struct bt_whatif whatif;
	struct bt_strbuf out = {0};
	int result = bt_source_read(&options->source, input, err);
	if (result < 0) {
		return result;
	}
	bt_whatif_expand_daemon_sets(input);
	bt_whatif_init(&whatif, input);
	result = make_after(options, &whatif, side, err);
	if (result == 0) {
		result = bt_whatif_lose_each(lose, side, &out, err);
	}
	if (result >= 0) {
		bt_output_print(&out);
	}
	bt_strbuf_finish(&out);
	bt_whatif_finish(&whatif);
	return result;
}

/** One side: what is lost, is lost from the cluster after the changes. */
static int run_losses(
	const struct bt_command *command, const struct options *options, struct bt_manifests *input)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_whatif_side side;
	struct bt_setup setup = options->setup;
	const struct bt_lose_options lose = {
		.what = options->lose,
		.command = command,
		.changes = &options->changes,
		.recreate_bare = options->recreate_bare,
		.has_plugins = setup.registry != NULL,
		.jobs = options->jobs,
		.format = options->format,
	};
	setup.config_path = options->new_config != NULL ? options->new_config : setup.config_path;
	setup.pool = NULL; /* a copy of the process has no threads; nothing depends on them */
	int result = bt_whatif_side_init(&side, &setup, &err);
	if (result == 0) {
		result = lose_on_side(&lose, options, input, &side, &err);
		bt_whatif_side_finish(&side);
	}
	return result < 0 ? bt_command_fail(command, &err) : result;
}

static int run_on_cluster(
	const struct bt_command *command, const struct options *options, struct bt_manifests *input)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_whatif_side before;
	struct bt_whatif_side after;
	struct bt_setup after_setup = options->setup;
	int exit_status = BT_EXIT_BAD_INPUT;
	if (options->new_config != NULL) {
		after_setup.config_path = options->new_config;
	}
	int result = bt_whatif_side_init(&before, &options->setup, &err);
	if (result == 0) {
		result = bt_whatif_side_init(&after, &after_setup, &err);
		if (result == 0) {
			result = run_on_sides(options, input, &before, &after, &exit_status, &err);
			bt_whatif_side_finish(&after);
		}
		bt_whatif_side_finish(&before);
	}
	return result < 0 ? bt_command_fail(command, &err) : exit_status;
}

/** --- the command line --- */

static int collect(void *context, const char *text, struct berth_error *err)
{
	const struct collector *collector = context;
	struct bt_whatif_change change;
	int result = bt_whatif_change_parse(collector->kind, text, &change, err);
	if (result == 0) {
		bt_vec_push(&collector->changes->list, change);
	}
	return result;
}

static int check_usage(
	struct options *options, const struct bt_arguments *arguments, struct berth_error *err)
{
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"unexpected argument %s: changes are flags, such as --drain NODE",
			arguments->list.items[0]);
	}
	int result = bt_source_check(&options->source, &bt_command_whatif, err);
	if (result < 0) {
		return result;
	}
	if (options->each != (options->lose != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			options->each ? "--each: what? Name it with --lose node or --lose zone"
				      : "--lose: takes --each, to lose one after the other; "
					"--remove NODE shows one loss");
	}
	if (options->lose != NULL) {
		const struct bt_lose_options lose = {.what = options->lose};
		result = bt_lose_check(&lose, err);
		if (result == 0 && options->from_scratch) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"--from-scratch: cannot be combined with --lose: pods that run "
				"stay where they are");
		}
		if (result == 0) {
			result = bt_processes_check_jobs(options->jobs, err);
		}
		result = result < 0 ? result : bt_output_set_color(options->color, err);
		return result < 0 ? result
				  : bt_output_format_parse(options->format_name, false,
					    &options->format, err);
	}
	if (options->changes.list.count == 0 && options->new_config == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no change is given: name one, such as --drain NODE (see \"berth whatif "
			"--help\")");
	}
	result = bt_output_set_color(options->color, err);
	return result < 0
		? result
		: bt_output_format_parse(options->format_name, false, &options->format, err);
}

static int start(const struct bt_command *command, struct options *options,
	const struct bt_arguments *arguments)
{
	struct berth_error err = BERTH_ERROR_INIT;
	options->setup.verify = bt_command_verify();
	if (check_usage(options, arguments, &err) < 0 ||
		bt_setup_start(command, &options->setup, &err) < 0) {
		return bt_command_fail(command, &err);
	}
	struct bt_warnings warnings = {.command = command};
	struct bt_manifests input;
	bt_manifests_init(&input);
	input.warn = bt_warnings_take;
	input.warn_context = &warnings;
	int exit_status = options->lose != NULL ? run_losses(command, options, &input)
						: run_on_cluster(command, options, &input);
	bt_warnings_end(&warnings);
	bt_manifests_finish(&input);
	return exit_status;
}

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct options options = {.setup = BT_SETUP_INIT, .format_name = "table"};
	struct bt_arguments arguments = {0};
	struct collector collectors[BT_WHATIF__COUNT];
	struct bt_flag_setter setters[BT_WHATIF__COUNT];
	for (uint32_t i = 0; i < BT_WHATIF__COUNT; i++) {
		collectors[i] = (struct collector){&options.changes, (enum bt_whatif_kind)i};
		setters[i] = (struct bt_flag_setter){.set = collect, .context = &collectors[i]};
	}
	const struct bt_flag flags[] = {
		BT_SOURCE_FLAGS(&options.source),
		{"drain", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_DRAIN], "NODE",
			"cordon nodes and evict their pods, as kubectl drain does"},
		{"remove", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_REMOVE], "NODE",
			"take nodes away, with all that runs on them"},
		{"add", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_ADD], "N=NODE",
			"add N empty nodes like NODE, named NODE-1, NODE-2, ..."},
		{"cordon", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_CORDON], "NODE",
			"let nodes take no new pods"},
		{"uncordon", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_UNCORDON], "NODE",
			"let nodes take pods again"},
		{"taint", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_TAINT], "NODE=TAINT",
			"set KEY=VALUE:EFFECT; with a - at the end remove it"},
		{"label", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_LABEL], "NODE=LABEL",
			"set KEY=VALUE, or remove KEY-"},
		{"scale", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_SCALE], "KIND/[NAMESPACE/]NAME=N",
			"give a workload N replicas"},
		{"with", 0, BT_FLAG_SETTER, &setters[BT_WHATIF_WITH], "FILE|DIR|-",
			"apply manifests: new objects, and others in place of old ones"},
		{"lose", 0, BT_FLAG_STRING, &options.lose, "node|zone|LABEL",
			"with --each: lose one node, zone or value of a label after the other"},
		{"each", 0, BT_FLAG_BOOL, &options.each, NULL,
			"report every loss of --lose, the worst first"},
		{"new-config", 0, BT_FLAG_STRING, &options.new_config, "FILE",
			"schedule with another KubeSchedulerConfiguration"},
		{"from-scratch", 0, BT_FLAG_BOOL, &options.from_scratch, NULL,
			"place running pods anew, before and after the changes"},
		{"recreate-bare-pods", 0, BT_FLAG_BOOL, &options.recreate_bare, NULL,
			"evicted pods without a controller come back, too"},
		{"preempt", 0, BT_FLAG_BOOL, &options.preempt, NULL,
			"evict running pods of lower priority where that makes room"},
		{"jobs", 'j', BT_FLAG_INT, &options.jobs, "N",
			"try N losses at the same time (default: one for each processor)"},
		{"output", 'o', BT_FLAG_STRING, &options.format_name, "table|wide|json|yaml",
			"how the answer is written (default table)"},
		BT_OUTPUT_COLOR_FLAG(&options.color),
		BT_SETUP_FLAGS(&options.setup),
	};
	int exit_status;
	if (bt_command_parse(
		    command, flags, BT_ARRAY_LENGTH(flags), argc, argv, &arguments, &exit_status)) {
		exit_status = start(command, &options, &arguments);
	}
	bt_setup_finish(&options.setup);
	bt_source_finish(&options.source);
	bt_vec_finish(&options.changes.list);
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_whatif = {
	.name = "whatif",
	.group = BT_COMMAND_ASK,
	.summary = "Say what changes of a cluster would do to its pods.",
	.usage = "berth whatif -f FILE|DIR|- ... | --kubeconfig FILE CHANGES [FLAGS]",
	.help = "Simulates the cluster twice, as it is and after the changes, and prints what\n"
		"differs: pods that would move, stay pending or be lost, and how full the nodes\n"
		"are before and after. Nothing is changed anywhere.\n"
		"\n"
		"Changes apply in the order they are given. Where NODE is one that exists, it may\n"
		"be a name, a pattern ('node-a*'), or a selector in brackets ('[zone=a,!gpu]').\n"
		"\n"
		"Pods that have to leave a node come back as pending pods when a controller would\n"
		"recreate them, and are lost otherwise. A drain leaves DaemonSets' pods, and says\n"
		"which evictions a PodDisruptionBudget refuses or holds up.\n"
		"\n"
		"--lose node --each answers another question: for each node, lost with all that\n"
		"runs on it, which pods stay pending, are lost or preempted. Changes come first.\n",
	.examples = "  # Can node-a1 be drained?\n"
		    "  kubectl get nodes,pods,deployments,pdb,pc -A -o yaml > cluster.yaml\n"
		    "  berth whatif -f cluster.yaml --drain node-a1\n"
		    "\n"
		    "  # Replace the nodes of a zone by two of another kind\n"
		    "  berth whatif -f cluster.yaml --remove "
		    "'[topology.kubernetes.io/zone=zone-a]' \\\n"
		    "    --add 2=node-b1\n"
		    "\n"
		    "  # Is there room for twice as many?\n"
		    "  berth whatif -f cluster.yaml --scale deployment/shop/web=10\n"
		    "\n"
		    "  # Keep nodes for one team; what has to go?\n"
		    "  berth whatif -f cluster.yaml --taint 'node-c*=team=research:NoExecute'\n"
		    "\n"
		    "  # Which nodes, which zones can be lost?\n"
		    "  berth whatif -f cluster.yaml --lose node --each\n"
		    "  berth whatif -f cluster.yaml --lose zone --each\n"
		    "\n"
		    "  # How would another configuration have placed everything?\n"
		    "  berth whatif -f cluster.yaml --new-config packed.yaml --from-scratch\n",
	.exit_status = "  0  nothing gets worse\n"
		       "  1  some pods are newly pending, lost or preempted\n"
		       "  2  the input or the flags are wrong\n",
	.run = run,
};
