/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/explain/explain_all.h"
#include "cli/explain/explain_report.h"
#include "cluster/simulation.h"
#include "state/pod_groups.h"

/** Read the pod's events. If that fails, the explanation continues without them. */
static void read_events(struct bt_explain_events *events, const struct bt_source *source,
	const struct bt_object_meta *pod)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_live *live;
	if (source->kubeconfig == NULL) {
		return;
	}
	events->is_live = true;
	int result = bt_live_open(source->kubeconfig, source->context, &live, &err);
	if (result == 0) {
		result = bt_live_pod_events(
			live, pod->namespace_, pod->name, pod->uid, &events->list, &err);
		bt_live_close(live);
	}
	if (result < 0) {
		bt_printable_append(&events->problem, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
}

#define PROPOSALS_DEFAULT 3
#define PROPOSALS_MAX 100

struct options {
	struct bt_command_line line;
	const char *argument; /* NULL: the only pending pod */
	const char *namespace_;
	struct bt_pod_reference reference;
	bool after_queue;
	bool all;
	int64_t proposals;
};

/** --- nodes of the cluster state --- */

struct node_objects {
	const struct bt_manifests *cluster;
	const struct bt_node **nodes; /* by index in the cluster; NULL: not looked up yet */
	struct bt_arena arena;
};

static const struct bt_node *node_object(void *context, struct bt_str name)
{
	struct node_objects *objects = context;
	uint32_t index = bt_manifests_find(objects->cluster, BT_KIND_NODE, BT_STR(""), name);
	if (index == BT_MANIFESTS_NONE) {
		return NULL;
	}
	if (objects->nodes == NULL) {
		objects->nodes =
			BT_NEW_ARRAY(const struct bt_node *, objects->cluster->objects.count);
	}
	if (objects->nodes[index] == NULL) {
		struct bt_node *node = BT_ARENA_NEW(&objects->arena, struct bt_node);
		*node = bt_manifests_node(&objects->cluster->objects.items[index], &objects->arena);
		objects->nodes[index] = node;
	}
	return objects->nodes[index];
}

/** --- the pod --- */

/**
 * Whether the pod comes from an API server and has no tolerations. All other pods have a list of
 * tolerations once they are created, because API servers add two tolerations by default.
 */
static bool lacks_tolerations(const struct bt_manifests_object *object)
{
	if (!object->uid_is_given || object->object == NULL) {
		return false;
	}
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	return pod->spec.tolerations.count == 0;
}

/**
 * Fills in the report before the explanation; report->after_queue: all pods are placed already.
 * pod: memory for the explained pod, used only if the pod is running.
 */
static int prepare(const struct options *options, struct bt_simulation *simulation,
	const struct bt_pod_choice *choice, struct bt_pod *pod, struct bt_explain_report *report,
	struct berth_error *err)
{
	const struct bt_manifests *cluster = simulation->cluster;
	report->choice = choice;
	report->nodes = &simulation->engine->state->nodes;
	report->pending_count = simulation->pods.count;
	report->proposals_wanted = options->proposals != 0;
	if (choice->pending != UINT32_MAX) {
		report->pod = simulation->pods.items[choice->pending].pod;
	} else {
		/* Remove the running pod from the cluster, as if it had never been placed. */
		const struct bt_manifests_object *object = &cluster->objects.items[choice->object];
		const struct bt_pod_spec *spec;
		*pod = bt_manifests_pod(object);
		int result = bt_pod_admission_admit(
			&simulation->expansion.admission, pod, true, &spec, err);
		if (result == 0) {
			struct bt_str node_name = pod->spec.node_name;
			pod->spec = *spec;
			pod->spec.node_name = node_name;
			result = bt_state_remove_pod(simulation->engine->state, pod, err);
		}
		bt_pod_claims_release(simulation->engine->state, pod->metadata.uid, true);
		report->running_on = pod->spec.node_name;
		pod->spec.node_name = BT_STR("");
		pod->status.nominated_node_name = BT_STR("");
		if (result < 0) {
			return bt_manifests_wrap(cluster, choice->object, result, err);
		}
		report->pod = pod;
	}
	const struct bt_str *group = bt_pod_group_name_of(report->pod);
	report->group_name = group != NULL && simulation->engine->state->pod_groups != NULL
		? *group
		: BT_STR("");
	uint32_t index = bt_manifests_find(
		cluster, BT_KIND_POD, report->pod->metadata.namespace_, report->pod->metadata.name);
	report->in_input = index != BT_MANIFESTS_NONE;
	report->lacks_tolerations =
		report->in_input && lacks_tolerations(&cluster->objects.items[index]);
	uint32_t position = bt_simulation_position(simulation, report->pod);
	if (options->after_queue && !report->after_queue) {
		bt_simulation_place(simulation, position, "placing the pods before it");
		report->after_queue = true;
	}
	for (uint32_t i = 0; i < position; i++) {
		/*
		 * Gated and terminating pods, and pods of other schedulers, never enter the queue.
		 */
		const struct bt_pod *ahead = simulation->pods.items[i].pod;
		report->ahead_count += ahead->spec.scheduling_gates.count == 0 &&
			!bt_pod_is_terminating(ahead) &&
			bt_engine_profile(simulation->engine, ahead->spec.scheduler_name) != NULL;
		report->placed_count += simulation->pods.items[i].fate == BT_FATE_SCHEDULED;
	}
	return 0;
}

/** --- the run --- */

static int explain(const struct options *options, struct bt_simulation *simulation,
	struct bt_explain_report *report, struct bt_strbuf *out, struct berth_error *err)
{
	struct node_objects objects = {.cluster = simulation->cluster};
	const struct bt_explain_options explain_options = {
		.proposals_max = (uint32_t)options->proposals,
		.preemption = true,
		.objects = {.node = node_object, .context = &objects},
	};
	struct bt_explanation explanation;
	if (report->in_input) {
		read_events(&report->events, &options->line.source, &report->pod->metadata);
	}
	int result =
		bt_explain(simulation->engine, report->pod, &explain_options, &explanation, err);
	if (result == 0) {
		report->explanation = &explanation;
		result = bt_explain_report_write(report, options->line.format, out, err);
		report->explanation = NULL;
	}
	if (result == 0 && explanation.fate != BT_EXPLAINED_FITS) {
		result = BT_EXIT_FINDING;
	}
	bt_explanation_finish(&explanation);
	bt_strbuf_finish(&report->events.problem);
	bt_arena_finish(&report->events.list.arena);
	bt_arena_finish(&objects.arena);
	bt_free(objects.nodes);
	return result;
}

/**
 * Places all pods of the workload, and explains the first pod that stays pending. Called if the
 * workload's first pod fits.
 */
static int explain_staying(const struct options *options, struct bt_simulation *simulation,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_pod_choice choice;
	struct bt_explain_report report = {.after_queue = true};
	struct bt_pod unused;
	bt_simulation_place(simulation, simulation->pods.count, "placing the pods that fit");
	int result =
		bt_pod_choose(simulation, &options->reference, options->namespace_, &choice, err);
	if (result < 0 || choice.workload_fits == choice.workload_pending) {
		return result;
	}
	bt_strbuf_reset(out);
	result = prepare(options, simulation, &choice, &unused, &report, err);
	if (result == 0) {
		result = explain(options, simulation, &report, out, err);
	}
	return result == BT_EXIT_OK ? BT_EXIT_FINDING : result;
}

static int answer(const void *context, struct bt_simulation *simulation, struct bt_strbuf *out,
	struct berth_error *err)
{
	const struct options *options = context;
	struct bt_pod_choice choice;
	struct bt_explain_report report = {0};
	struct bt_pod pod;
	simulation->keep_bound = true;
	int result = bt_simulation_load(simulation, err);
	if (result == 0) {
		result = bt_pod_choose(simulation,
			options->argument != NULL ? &options->reference : NULL, options->namespace_,
			&choice, err);
	}
	if (result == 0) {
		result = prepare(options, simulation, &choice, &pod, &report, err);
	}
	if (result == 0) {
		result = explain(options, simulation, &report, out, err);
	}
	if (result == BT_EXIT_OK && choice.pending != UINT32_MAX && choice.workload_pending > 1) {
		return explain_staying(options, simulation, out, err);
	}
	if (result == BT_EXIT_FINDING && report.running_on.length != 0) {
		return BT_EXIT_OK;
	}
	if (result == BT_EXIT_OK && bt_pod_is_terminating(report.pod) &&
		report.running_on.length == 0) {
		return BT_EXIT_FINDING;
	}
	return result;
}

/** Load the simulation and explain all pending pods (--all) or the pods of a pod group. */
static int answer_many(const void *context, struct bt_simulation *simulation, struct bt_strbuf *out,
	struct berth_error *err)
{
	const struct options *options = context;
	struct node_objects objects = {.cluster = simulation->cluster};
	struct bt_explain_options explain_options = {
		.proposals_max = (uint32_t)options->proposals,
		.objects = {.node = node_object, .context = &objects},
	};
	simulation->keep_bound = true;
	int result = bt_simulation_load(simulation, err);
	if (result == 0 && !options->all) {
		result = bt_explain_pod_group_write(simulation, &options->reference,
			&explain_options, options->line.format, out, err);
	} else if (result == 0) {
		explain_options.proposals_max = options->proposals != 0 ? 1 : 0;
		result = bt_explain_all_write(simulation, options->namespace_, &explain_options,
			options->line.format, out, err);
	}
	bt_arena_finish(&objects.arena);
	bt_free(objects.nodes);
	return result;
}

/** --- the command line --- */

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	const struct bt_arguments *arguments = &options->line.arguments;
	enum bt_kind kind;
	uint32_t count = arguments->list.count;
	if (options->namespace_ != NULL && options->namespace_[0] == '\0') {
		options->namespace_ = NULL; /* as for kubectl, an empty namespace is none */
	}
	bool has_kind = count == 2 &&
		bt_pod_reference_find_kind(bt_str_from(arguments->list.items[0]), &kind);
	if (options->all && count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"all pending pods are explained: no pod can be named");
	}
	if (count > 1 && !has_kind) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%u pods are named: one at a time can be explained", count);
	}
	if (count >= 1) {
		options->argument = arguments->list.items[0];
		if (has_kind) { /* "deployment web", as kubectl accepts it */
			struct bt_str joined = bt_arena_printf(&options->line.arena, "%s/%s",
				options->argument, arguments->list.items[1]);
			options->argument = joined.data;
		}
		int result = bt_pod_reference_parse(
			options->argument, options->namespace_, &options->reference, err);
		if (result < 0) {
			return result;
		}
	}
	if (options->after_queue && options->reference.kind == BT_KIND_POD_GROUP) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--after-queue: cannot be combined with a PodGroup; \"berth pending\" "
			"first places all pods that fit");
	}
	if (options->proposals < 0 || options->proposals > PROPOSALS_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--proposals: from 0 to %d can be asked for", PROPOSALS_MAX);
	}
	return 0;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	bool is_many = options->all || options->reference.kind == BT_KIND_POD_GROUP;
	return bt_simulation_answer(&options->line, is_many ? answer_many : answer, out, err);
}

static const struct bt_flag flags[] = {
	{"all", 'A', BT_FLAG_BOOL, offsetof(struct options, all), NULL,
		"all pending pods by owner and reason, the largest group first"},
	{"after-queue", 0, BT_FLAG_BOOL, offsetof(struct options, after_queue), NULL,
		"first place the pending pods before it in the queue"},
	{"namespace", 'n', BT_FLAG_STRING, offsetof(struct options, namespace_), "NAMESPACE",
		"namespace of the pods (default: all)"},
	BT_SOURCE_FLAGS,
	{"proposals", 0, BT_FLAG_INT, offsetof(struct options, proposals), "N",
		"number of changes to find after which the pod fits (default 3, 0: none)"},
	BT_OUTPUT_FLAG("table|wide|json|yaml"),
	BT_COLOR_FLAG,
	BT_SETUP_FLAGS,
};
/** Number of flags at the start of the table that "berth pending" does not have. */
#define FLAGS_OF_EXPLAIN_ONLY 2

static const struct options explain_defaults = {.proposals = PROPOSALS_DEFAULT};
static const struct options pending_defaults = {.all = true, .proposals = PROPOSALS_DEFAULT};

const struct bt_command bt_command_explain = {
	.name = "explain",
	.group = BT_COMMAND_ASK,
	.summary = "Say why a pod is pending, or which nodes it fits, node by node.",
	.usage = "berth explain [POD] -f FILE|DIR|- ... | --kubeconfig FILE [FLAGS]",
	.arguments = "POD",
	.help = "POD is NAME, NAMESPACE/NAME, KIND/NAME, KIND NAME or KIND/NAMESPACE/NAME. For\n"
		"a workload (deployment/web, sts shop/db, or web if no pod has that name), the\n"
		"first pending pod that does not fit is explained, or if all fit, the first\n"
		"pod. podgroup/NAME explains the whole group. POD may be omitted if only one\n"
		"pod is pending.\n"
		"\n"
		"Prints the scheduler's message; the nodes that reject the pod, grouped by\n"
		"reason, with the nodes that lack least first; the smallest changes after which\n"
		"the pod fits, each of which was tried; the pods that it could preempt; and the\n"
		"pods before it in the queue. For a pod that fits: the best nodes, with their\n"
		"scores by plugin. A running pod is explained as if it were pending.\n"
		"\n"
		"Other pending pods are not placed first, as in the scheduler's next attempt;\n"
		"nominated pods keep room on their nodes. With --after-queue the pods before\n"
		"it in the queue are placed first.\n",
	.examples = "  # Why is this pod pending? Nothing is written to the cluster\n"
		    "  berth explain shop/checkout-7d9f-x2k5p --kubeconfig ~/.kube/config\n"
		    "\n"
		    "  # The same from a dump, about a Deployment, every node on a line\n"
		    "  kubectl get nodes,pods,rs,deployments,pc,pdb,pv,pvc,sc,csinodes -A -o yaml "
		    "> dump.yaml\n"
		    "  berth explain deployment/checkout -n shop -f dump.yaml -o wide\n"
		    "\n"
		    "  # Would it fit if the cluster looked as new.yaml says?\n"
		    "  berth explain shop/checkout-7d9f-x2k5p -f dump.yaml -f new.yaml\n"
		    "\n"
		    "  # What does this gang wait for?\n"
		    "  berth explain podgroup/train -f dump.yaml \\\n"
		    "    --feature-gates GenericWorkload=true,GangScheduling=true\n"
		    "\n"
		    "  # For a program: the changes that would help\n"
		    "  berth explain shop/checkout -f examples/pending.yaml -o json | jq "
		    ".proposals\n",
	.exit_status = "  0  the pod fits, or runs already\n"
		       "  1  the pod does not fit, or no scheduler is responsible for it\n"
		       "  2  the input or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.has_source = true,
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.defaults = &explain_defaults,
	.check = check,
	.run = run,
};

const struct bt_command bt_command_pending = {
	.name = "pending",
	.group = BT_COMMAND_ASK,
	.summary = "List the pending pods by owner and reason, with the changes that would help.",
	.usage = "berth pending [-n NAMESPACE] [-f FILE|DIR|- ... | --kubeconfig FILE] [FLAGS]",
	.help = "First, all pods that fit are placed, as \"berth simulate\" does; the others stay\n"
		"pending. The pods of a workload are one group, and pods without a controller\n"
		"are grouped by reason. The largest group is printed first. For each group, one\n"
		"pod is explained as \"berth explain\" does, with the smallest change after which\n"
		"it fits. The change that helps the most pods is printed first.\n",
	.examples = "  # Of the cluster that kubectl talks to\n"
		    "  berth pending\n"
		    "\n"
		    "  berth pending -n shop -f dump.yaml -o json\n",
	.exit_status = "  0  no pod is pending\n"
		       "  1  some pods are pending\n"
		       "  2  the input or the flags are wrong\n",
	.flags = flags + FLAGS_OF_EXPLAIN_ONLY,
	.flag_count = BT_ARRAY_LENGTH(flags) - FLAGS_OF_EXPLAIN_ONLY,
	.has_source = true,
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.defaults = &pending_defaults,
	.check = check,
	.run = run,
};
