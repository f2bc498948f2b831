/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/simulate/simulation_output.h"
#include "cli/setup.h"
#include "cli/simulation.h"
#include "cli/source.h"

struct options {
	struct bt_setup setup;
	struct bt_source source;
	bool preempt;
	const char *format_name;
	const char *color;
	enum bt_output_format format;
};

/** --- the run --- */

static int simulate(const void *context, struct bt_simulation *simulation, struct bt_strbuf *out,
	struct berth_error *err)
{
	const struct options *options = context;
	struct bt_progress progress;
	simulation->preempt = options->preempt;
	int result = bt_simulation_load(simulation, err);
	if (result < 0) {
		return result;
	}
	bt_progress_start(&progress, "placing pods", true);
	simulation->progress = bt_progress_show;
	simulation->progress_context = &progress;
	bt_simulation_run(simulation);
	bt_progress_end(&progress);
	result = bt_simulation_write(simulation, options->format, out, err);
	bool is_complete = bt_simulation_pending_count(simulation) == 0 &&
		simulation->expansion.refusals.count == 0;
	return result < 0 ? result : is_complete ? BT_EXIT_OK : BT_EXIT_FINDING;
}

/** --- the command line --- */

static int check_usage(
	struct options *options, const struct bt_arguments *arguments, struct berth_error *err)
{
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"unexpected argument %s: files are named with -f",
			arguments->list.items[0]);
	}
	int result = bt_source_check(&options->source, &bt_command_simulate, err);
	result = result < 0 ? result : bt_output_set_color(options->color, err);
	if (result < 0) {
		return result;
	}
	return bt_output_format_parse(options->format_name, true, &options->format, err);
}

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct options options = {.setup = BT_SETUP_INIT, .format_name = "table"};
	struct bt_arguments arguments = {0};
	const struct bt_flag flags[] = {
		BT_SOURCE_FLAGS(&options.source),
		{"preempt", 0, BT_FLAG_BOOL, &options.preempt, NULL,
			"evict running pods of lower priority where that makes room"},
		{"output", 'o', BT_FLAG_STRING, &options.format_name, "table|wide|json|yaml|name",
			"how the answer is written (default table)"},
		BT_OUTPUT_COLOR_FLAG(&options.color),
		BT_SETUP_FLAGS(&options.setup),
	};
	int exit_status;
	if (bt_command_parse(
		    command, flags, BT_ARRAY_LENGTH(flags), argc, argv, &arguments, &exit_status)) {
		struct berth_error err = BERTH_ERROR_INIT;
		options.setup.verify = bt_command_verify();
		if (check_usage(&options, &arguments, &err) < 0 ||
			bt_setup_start(command, &options.setup, &err) < 0) {
			exit_status = bt_command_fail(command, &err);
		} else {
			exit_status = bt_simulation_ask(
				command, &options.setup, &options.source, simulate, &options);
		}
	}
	bt_setup_finish(&options.setup);
	bt_source_finish(&options.source);
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_simulate = {
	.name = "simulate",
	.summary = "Place pods on a cluster as it is, and say why some stay pending.",
	.usage = "berth simulate [--kubeconfig FILE] [-f FILE|DIR|- ...] [FLAGS]",
	.help = "Reads a cluster and the pods to place: manifests, lists, multi-document YAML, "
		"JSON, JSON\n"
		"lines, all of them gzipped or not. Pods with a spec.nodeName are running; every\n"
		"other pod is placed, in the order a scheduler's queue has them: higher priority\n"
		"first, then older, then as they stand in the input.\n"
		"\n"
		"Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs (one run) and\n"
		"ReplicationControllers become the pods that their controllers would create, less\n"
		"those that are in the input already. Manifests get the defaults an API server\n"
		"would fill in.\n"
		"\n"
		"A pod that fits nowhere may be nominated to a node where pods of lower priority\n"
		"could make room; by default it stays pending there, as after a scheduler's first\n"
		"attempt. With --preempt these victims leave, the pod is placed, and the output\n"
		"says who was evicted for whom. Evicted pods are gone: the controllers of\n"
		"workloads, which would replace theirs, are not simulated.\n",
	.examples =
		"  # Would this Deployment fit into the cluster as it is now?\n"
		"  berth simulate --kubeconfig ~/.kube/config -f deployment.yaml\n"
		"\n"
		"  # The same from a file\n"
		"  kubectl get nodes,pods,priorityclasses -A -o yaml > cluster.yaml\n"
		"  berth simulate -f cluster.yaml -f deployment.yaml\n"
		"\n"
		"  # The same without a file in between, every node scored\n"
		"  kubectl get nodes,pods,pc -A -o json |\n"
		"    berth simulate -f - -f deployment.yaml --percentage-of-nodes-to-score 100\n"
		"\n"
		"  # Who would have to leave for it?\n"
		"  berth simulate -f cluster.yaml -f deployment.yaml --preempt\n"
		"\n"
		"  # A folder of manifests on a cluster yet to be built, packed tightly\n"
		"  berth simulate -f nodes.yaml -R -f manifests/ --config most-allocated.yaml\n",
	.exit_status = "  0  all pods were placed\n"
		       "  1  some stay pending, or a quota refuses them\n"
		       "  2  the input or the flags are wrong\n",
	.run = run,
};
