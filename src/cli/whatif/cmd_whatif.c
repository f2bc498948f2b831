/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/processes.h"
#include "cli/whatif/whatif_output.h"
#include "planning/whatif_report.h"

/** --- the run --- */

/** Print a warning, unless the other side has given the same. */
static void warn_once(void *context, const char *line)
{
	struct bt_whatif_options *options = context;
	struct bt_str text = bt_arena_str(&options->line.arena, bt_str_from(line));
	if (bt_text_set_add(&options->warned, text)) {
		bt_warnings_take(&options->line.warnings, line);
	}
}

/** Simulate one side. what: title of the progress line. */
static int run_side(struct bt_whatif_side *side, const struct bt_manifests *source,
	const struct bt_whatif_mark *marks, bool preempt, const char *what, struct berth_error *err)
{
	struct bt_progress progress;
	bt_progress_start(&progress, what);
	side->simulation.progress = bt_progress_show;
	side->simulation.progress_context = &progress;
	int result = bt_whatif_side_run(side, source, marks, preempt, err);
	bt_progress_end(&progress);
	side->simulation.progress = NULL;
	return result;
}

/**
 * Read the input, apply the changes, and fill in the cluster of the after side. Finish whatif
 * unless make_after returns an error.
 */
static int make_after(struct bt_whatif_options *options, struct bt_whatif *whatif,
	struct bt_whatif_side *after, struct berth_error *err)
{
	const struct bt_gates *gates = &after->simulation.engine->config->gates;
	struct bt_manifests *input = &options->line.cluster;
	int result = bt_source_read(&options->line.source, input, err);
	if (result < 0) {
		return result;
	}
	if (options->from_scratch) {
		bt_whatif_unplace(input);
	}
	bt_whatif_init(whatif, input);
	whatif->recreate_bare = options->recreate_bare;
	whatif->pod_level = bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES);
	whatif->taint_comparison =
		bt_gate_enabled(gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	for (uint32_t i = 0; result == 0 && i < options->changes.list.count; i++) {
		result = bt_whatif_apply(whatif, &options->changes.list.items[i], err);
	}
	if (result < 0) {
		bt_whatif_finish(whatif);
		return result;
	}
	bt_whatif_result(whatif, &after->cluster);
	return 0;
}

static int compare_sides(struct bt_whatif_options *options, struct bt_whatif_side *before,
	struct bt_whatif_side *after, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_whatif whatif;
	int result = make_after(options, &whatif, after, err);
	if (result < 0) {
		return result;
	}
	bt_manifests_copy(&options->line.cluster, NULL, &before->cluster);
	before->cluster.warn = warn_once;
	before->cluster.warn_context = options;
	after->cluster.warn = warn_once;
	after->cluster.warn_context = options;
	result = run_side(before, &options->line.cluster, NULL, options->preempt,
		"before: placing pods", err);
	if (result == 0) {
		result = run_side(after, &whatif.work, whatif.marks.items, options->preempt,
			"after: placing pods", err);
	}
	if (result == 0) {
		struct bt_whatif_report report = {
			.whatif = &whatif,
			.before = before,
			.after = after,
			.changes = &options->changes,
			.new_config = options->new_config,
			.from_scratch = options->from_scratch,
		};
		bt_whatif_compare(&report);
		result = bt_whatif_write(&report, options->line.format, out, err);
		if (result == 0 && bt_whatif_is_worse(&report)) {
			result = BT_EXIT_FINDING;
		}
		bt_whatif_report_finish(&report);
	}
	bt_text_set_finish(&options->warned);
	bt_whatif_finish(&whatif);
	return result;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_whatif_options *options = context;
	struct bt_whatif_side before;
	struct bt_whatif_side after;
	struct bt_setup after_setup = options->line.setup;
	if (options->lose != NULL) {
		struct bt_whatif_side side;
		struct bt_whatif whatif;
		struct bt_setup setup = options->line.setup;
		setup.config_path =
			options->new_config != NULL ? options->new_config : setup.config_path;
		setup.pool = NULL; /* forked processes do not have the pool's threads, and threads
		                      do not affect results */
		int result = bt_whatif_side_init(&side, bt_setup_scheduler, &setup, err);
		if (result == 0) {
			result = make_after(options, &whatif, &side, err);
			if (result == 0) {
				result = bt_whatif_lose_each(options, &side, out, err);
				bt_whatif_finish(&whatif);
			}
			bt_whatif_side_finish(&side);
		}
		return result;
	}
	if (options->new_config != NULL) {
		after_setup.config_path = options->new_config;
	}
	int result = bt_whatif_side_init(&before, bt_setup_scheduler, &options->line.setup, err);
	if (result == 0) {
		result = bt_whatif_side_init(&after, bt_setup_scheduler, &after_setup, err);
		if (result == 0) {
			result = compare_sides(options, &before, &after, out, err);
			bt_whatif_side_finish(&after);
		}
		bt_whatif_side_finish(&before);
	}
	return result;
}

/** --- the command line --- */

static int add_change(
	void *context, const struct bt_flag *flag, const char *text, struct berth_error *err)
{
	struct bt_whatif_options *options = context;
	struct bt_whatif_change change;
	enum bt_whatif_kind kind = BT_WHATIF_DRAIN;
	while (strcmp(bt_whatif_kind_name(kind), flag->name) != 0) {
		kind++;
	}
	int result = bt_whatif_change_parse(kind, text, &change, err);
	if (result == 0) {
		bt_vec_push(&options->changes.list, change);
	}
	return result;
}

static int check(void *context, struct berth_error *err)
{
	const struct bt_whatif_options *options = context;
	if (options->each != (options->lose != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			options->each ? "--each: what? Name it with --lose node or --lose zone"
				      : "--lose: takes --each, to lose one after the other; "
					"--remove NODE shows one loss");
	}
	if (options->lose != NULL) {
		int result = bt_lose_unit_check(options->lose, err);
		if (result == 0 && options->from_scratch) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"--from-scratch: cannot be combined with --lose: pods that run "
				"stay where they are");
		}
		return result == 0 ? bt_processes_check_jobs(options->jobs, err) : result;
	}
	if (options->jobs != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--jobs: needs --each");
	}
	return options->changes.list.count != 0 || options->new_config != NULL
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "no change is given: name one, such as --drain NODE (see \"berth whatif "
			  "--help\")");
}

static void finish(void *context)
{
	struct bt_whatif_options *options = context;
	bt_vec_finish(&options->changes.list);
}

static const struct bt_flag flags[] = {
	BT_SOURCE_FLAGS,
	{"drain", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE",
		"cordon nodes and evict their pods, as kubectl drain does"},
	{"remove", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE",
		"remove nodes with their pods"},
	{"add", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "N=NODE",
		"add N empty nodes like NODE, named NODE-1, NODE-2, ..."},
	{"cordon", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE",
		"make nodes unschedulable"},
	{"uncordon", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE",
		"make nodes schedulable again"},
	{"taint", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE=TAINT",
		"add KEY=VALUE:EFFECT, or remove it if a - follows"},
	{"label", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "NODE=LABEL",
		"set KEY=VALUE, or remove KEY-"},
	{"scale", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change),
		"KIND/[NAMESPACE/]NAME=N", "set the replicas of a workload"},
	{"with", 0, BT_FLAG_SETTER, offsetof(struct bt_whatif_options, add_change), "FILE|DIR|-",
		"apply manifests: add objects, or replace those of the same name"},
	{"lose", 0, BT_FLAG_STRING, offsetof(struct bt_whatif_options, lose), "node|zone|LABEL",
		"with --each: what is lost together: a node, a zone, or the nodes with one value "
		"of a label"},
	{"each", 0, BT_FLAG_BOOL, offsetof(struct bt_whatif_options, each), NULL,
		"try each loss of --lose alone, and print the worst first"},
	{"new-config", 0, BT_FLAG_STRING, offsetof(struct bt_whatif_options, new_config), "FILE",
		"use another KubeSchedulerConfiguration after the changes"},
	{"from-scratch", 0, BT_FLAG_BOOL, offsetof(struct bt_whatif_options, from_scratch), NULL,
		"place running pods again, without and with the changes"},
	{"recreate-bare-pods", 0, BT_FLAG_BOOL, offsetof(struct bt_whatif_options, recreate_bare),
		NULL, "also recreate evicted pods without a controller"},
	{"preempt", 0, BT_FLAG_BOOL, offsetof(struct bt_whatif_options, preempt), NULL,
		"evict running pods of lower priority to place others"},
	{"jobs", 'j', BT_FLAG_INT, offsetof(struct bt_whatif_options, jobs), "N",
		"try N losses in parallel (default: one for each processor)"},
	BT_OUTPUT_FLAG("table|wide|json|yaml"),
	BT_COLOR_FLAG,
	BT_SETUP_FLAGS,
};

static const struct bt_whatif_options defaults = {.add_change = add_change};

const struct bt_command bt_command_whatif = {
	.name = "whatif",
	.group = BT_COMMAND_ASK,
	.summary = "Say what changes to a cluster would do to its pods.",
	.usage = "berth whatif -f FILE|DIR|- ... | --kubeconfig FILE CHANGES [FLAGS]",
	.help = "Simulates the cluster twice, without and with the changes, and prints the\n"
		"differences: pods that would move, stay pending or be lost, and how full the\n"
		"nodes are before and after. Nothing is written to a cluster.\n"
		"\n"
		"Changes are made in the order of the flags. NODE is a name, a pattern\n"
		"('node-a*'), or a selector in brackets ('[zone=a,!gpu]').\n"
		"\n"
		"Evicted pods become pending again if a controller would recreate them;\n"
		"otherwise they are lost. Draining a node keeps the pods of DaemonSets, and\n"
		"shows which evictions a PodDisruptionBudget refuses or delays.\n"
		"\n"
		"--lose node --each answers another question: for each node, which pods stay\n"
		"pending, are lost or are preempted if this node fails with its pods. The\n"
		"changes of other flags are made first.\n",
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
	.exit_status = "  0  no pod is worse off\n"
		       "  1  the changes make some pods pending, lost or preempted\n"
		       "  2  the input or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "changes are flags, such as --drain NODE",
	.has_source = true,
	.has_setup = true,
	.options_bytes = sizeof(struct bt_whatif_options),
	.defaults = &defaults,
	.check = check,
	.run = run,
	.finish = finish,
};
