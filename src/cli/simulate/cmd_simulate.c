/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/simulate/simulation_output.h"
#include "cluster/simulation.h"

struct options {
	struct bt_command_line line;
	bool preempt;
};

static int simulate(const void *context, struct bt_simulation *simulation, struct bt_strbuf *out,
	struct berth_error *err)
{
	const struct options *options = context;
	simulation->preempt = options->preempt;
	int result = bt_simulation_load(simulation, err);
	if (result < 0) {
		return result;
	}
	bt_simulation_place(simulation, simulation->pods.count, "placing pods");
	result = bt_simulation_write(simulation, options->line.format, out, err);
	bool is_complete = bt_simulation_pending_count(simulation) == 0 &&
		simulation->expansion.refusals.count == 0;
	return result < 0 ? result : is_complete ? BT_EXIT_OK : BT_EXIT_FINDING;
}

static int run(void *options, struct bt_strbuf *out, struct berth_error *err)
{
	return bt_simulation_answer(options, simulate, out, err);
}

static const struct bt_flag flags[] = {
	BT_SOURCE_FLAGS,
	{"preempt", 0, BT_FLAG_BOOL, offsetof(struct options, preempt), NULL,
		"evict running pods of lower priority to place others"},
	BT_OUTPUT_FLAG("table|wide|json|yaml|name"),
	BT_COLOR_FLAG,
	BT_SETUP_FLAGS,
};

const struct bt_command bt_command_simulate = {
	.name = "simulate",
	.summary = "Place the pending pods of a cluster, and say why some stay pending.",
	.usage = "berth simulate [--kubeconfig FILE] [-f FILE|DIR|- ...] [FLAGS]",
	.help = "Reads a cluster and the pods to place: manifests, lists, multi-document YAML,\n"
		"JSON, JSON lines, each gzipped or not. Pods with a spec.nodeName are running.\n"
		"All other pods are placed in the order of a scheduler's queue: higher priority\n"
		"first, then older creationTimestamp, then the order of the input.\n"
		"\n"
		"Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs (one run)\n"
		"and ReplicationControllers become the pods that their controllers would\n"
		"create, without those that are in the input already. Manifests get the\n"
		"defaults of an API server.\n"
		"\n"
		"A pod that fits on no node may be nominated to a node where it would fit\n"
		"without some pods of lower priority, its victims. By default the pod stays\n"
		"pending there, as after a scheduler's first attempt. With --preempt the\n"
		"victims are evicted, the pod is placed, and the output lists each victim with\n"
		"its preemptor. Evicted pods are not created again.\n",
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
		"  # Which pods would be evicted for it?\n"
		"  berth simulate -f cluster.yaml -f deployment.yaml --preempt\n"
		"\n"
		"  # A folder of manifests on a cluster yet to be built, packed tightly\n"
		"  berth simulate -f nodes.yaml -R -f manifests/ --config most-allocated.yaml\n",
	.exit_status = "  0  all pods were placed\n"
		       "  1  some pods stay pending, or a quota refuses them\n"
		       "  2  the input or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "files are named with -f",
	.has_source = true,
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.run = run,
};
