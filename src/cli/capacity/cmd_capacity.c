/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/printable.h"
#include "cli/capacity/capacity.h"
#include "cli/command.h"
#include "cli/reference.h"

struct options {
	struct bt_command_line line;
	struct bt_arguments pods;
	struct bt_arguments likes;
	struct bt_arguments excluded;
	const char *namespace_;
	bt_flag_set_fn *set_mix;
	bool is_mix;
	const char *weights; /* NULL: all weights are 1 */
	int64_t max;         /* 0: BT_CAPACITY_COPIES_MAX */
	int64_t need;
	bool after_queue;
	/* State of the run. */
	struct bt_capacity_specs specs;
	bool *left_out; /* by object index */
	struct bt_capacity_answer *answers;
	uint32_t answer_count;
};

/** --- excluded nodes --- */

static int exclude_matching(
	struct options *options, struct bt_str reference, struct berth_error *err)
{
	const struct bt_manifests *cluster = &options->line.cluster;
	if (bt_node_reference_of(reference) == BT_NODE_NAME) {
		uint32_t index = bt_manifests_find(cluster, BT_KIND_NODE, BT_STR(""), reference);
		if (index == BT_MANIFESTS_NONE) {
			struct bt_str name = reference;
			struct bt_arena arena = {0};
			struct bt_strbuf text = {0};
			name = bt_str_sub(name, 0, BT_MANIFESTS_NAME_BYTES_MAX);
			const char *near = bt_manifests_suggest(
				cluster, BT_KIND_NODE, NULL, name, NULL, NULL, &arena, NULL);
			bt_strbuf_append_c(&text, "no node of the input is called ");
			bt_printable_append(&text, name);
			if (near != NULL) {
				bt_strbuf_append_c(&text, "; did you mean ");
				bt_printable_append(&text, bt_str_from(near));
				bt_strbuf_append_char(&text, '?');
			} else if (bt_str_find_char(name, '=') >= 0) {
				bt_strbuf_append_c(&text,
					"; a label selector stands in brackets: '[key=value]'");
			}
			int result =
				bt_error_set(err, BERTH_ERR_NOT_FOUND, "%s", bt_strbuf_c(&text));
			bt_strbuf_finish(&text);
			bt_arena_finish(&arena);
			return result;
		}
		options->left_out[index] = true;
		return 0;
	}
	int64_t count =
		bt_node_reference_match(cluster, reference, NULL, NULL, options->left_out, err);
	if (count == 0) {
		struct bt_strbuf shown = {0};
		bt_printable_append(&shown, reference);
		bt_manifests_warn(
			cluster, "--exclude-nodes: no node matches %s", bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
	}
	return count < 0 ? (int)count : 0;
}

/** Leave the nodes and the pods on them out of the cluster. */
static int exclude_nodes(struct options *options, struct berth_error *err)
{
	const struct bt_arguments *excluded = &options->excluded;
	const struct bt_manifests *cluster = &options->line.cluster;
	if (excluded->list.count == 0) {
		return 0;
	}
	options->left_out = BT_NEW_ARRAY(bool, cluster->objects.count);
	for (uint32_t i = 0; i < excluded->list.count; i++) {
		struct bt_str list = bt_str_from(excluded->list.items[i]);
		int result;
		do {
			struct bt_str reference;
			result = bt_node_reference_cut(&list, ',', &reference, err);
			if (result == 0) {
				result = exclude_matching(options, reference, err);
			}
		} while (result == 0 && list.length != 0);

		if (result < 0) {
			return bt_error_wrap(err, result, "--exclude-nodes");
		}
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *entry = &cluster->objects.items[i];
		if (entry->kind == BT_KIND_POD) {
			const struct bt_pod *pod = bt_object_value(entry->object, BT_KIND_POD);
			uint32_t node = bt_manifests_find(
				cluster, BT_KIND_NODE, BT_STR(""), pod->spec.node_name);
			options->left_out[i] = node != BT_MANIFESTS_NONE && options->left_out[node];
		}
	}
	return 0;
}

/** --- the run --- */

static int read_input(struct options *options, struct berth_error *err)
{
	int result = bt_source_read(&options->line.source, &options->line.cluster, err);
	for (uint32_t i = 0; result == 0 && i < options->pods.list.count; i++) {
		result = bt_capacity_specs_read(&options->specs, options->pods.list.items[i], err);
	}
	for (uint32_t i = 0; result == 0 && i < options->likes.list.count; i++) {
		result = bt_capacity_specs_like(
			&options->specs, options->likes.list.items[i], options->namespace_, err);
	}
	if (result == 0 && options->is_mix) {
		result = bt_capacity_specs_weigh(
			&options->specs, options->weights != NULL ? options->weights : "", err);
	}
	return result == 0 ? exclude_nodes(options, err) : result;
}

static int compute_all(struct options *options, struct berth_error *err)
{
	uint32_t spec_count = options->specs.list.count;
	uint32_t question_count = options->is_mix ? 1 : spec_count;
	int result = 0;
	options->answers = BT_NEW_ARRAY(struct bt_capacity_answer, question_count);
	for (uint32_t i = 0; result == 0 && i < question_count; i++) {
		struct bt_progress progress;
		struct bt_capacity_question question = {
			.cluster = &options->line.cluster,
			.left_out = options->left_out,
			.setup = &options->line.setup,
			.specs = &options->specs.list.items[i],
			.spec_count = options->is_mix ? spec_count : 1,
			.max = options->max != 0 ? (uint32_t)options->max : BT_CAPACITY_COPIES_MAX,
			.after_queue = options->after_queue,
			.quiet = i != 0,
			.progress = bt_progress_show,
			.progress_context = &progress,
		};
		bt_progress_start(&progress, "placing copies", true);
		result = bt_capacity_compute(&question, &options->answers[i], err);
		bt_progress_end(&progress);
		options->answer_count += result == 0;
	}
	return result;
}

/** Report each pod spec that has fewer copies than needed. Returns the exit status. */
static int check_needs(const struct options *options)
{
	int exit_status = BT_EXIT_OK;
	for (uint32_t a = 0; a < options->answer_count; a++) {
		for (uint32_t i = 0; i < options->answers[a].member_count; i++) {
			const struct bt_capacity_member *member = &options->answers[a].members[i];
			if (member->copies >= options->need) {
				continue;
			}
			struct bt_strbuf shown = {0};
			bt_printable_append_name(
				&shown, member->spec->namespace_, member->spec->name);
			(void)fprintf(stderr, "berth %s: %s: %lld copies are needed, %u fit\n",
				options->line.command->name, bt_strbuf_c(&shown),
				(long long)options->need, member->copies);
			bt_strbuf_finish(&shown);
			exit_status = BT_EXIT_FINDING;
		}
	}
	return exit_status;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	bt_capacity_specs_init(&options->specs, &options->line.cluster);
	int result = read_input(options, err);
	if (result == 0) {
		result = compute_all(options, err);
	}
	if (result == 0) {
		result = bt_capacity_write(
			options->answers, options->answer_count, options->line.format, out, err);
	}
	if (result == 0) {
		bt_output_print(out);
		bt_strbuf_reset(out);
		result = check_needs(options);
	}
	for (uint32_t i = 0; i < options->answer_count; i++) {
		bt_capacity_answer_finish(&options->answers[i]);
	}
	bt_free(options->answers);
	bt_free(options->left_out);
	bt_capacity_specs_finish(&options->specs);
	return result;
}

/** --- the command line --- */

/** The names are checked once the specs are read. */
static int set_mix(void *context, const struct bt_flag *flag BT_UNUSED, const char *text,
	struct berth_error *err BT_UNUSED)
{
	struct options *options = context;
	options->is_mix = true;
	options->weights = text;
	return 0;
}

static int check_numbers(const struct options *options, struct berth_error *err)
{
	if (options->max < 0 || options->max > BT_CAPACITY_COPIES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--max: give a number from 1 to %d",
			BT_CAPACITY_COPIES_MAX);
	}
	if (options->need < 0 || options->need > BT_CAPACITY_COPIES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--need: give a number from 1 to %d",
			BT_CAPACITY_COPIES_MAX);
	}
	if (options->max != 0 && options->need > options->max) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--need %lld cannot be met: --max stops at %lld", (long long)options->need,
			(long long)options->max);
	}
	return 0;
}

static int check(void *context, struct berth_error *err)
{
	const struct options *options = context;
	const struct bt_arguments *arguments = &options->line.arguments;
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unexpected argument %s: %s",
			arguments->list.items[0],
			options->is_mix && options->weights == NULL
				? "weights follow behind \"=\", as in --mix=web=3"
				: "pod specs are named with --pod, the cluster with -f");
	}
	if (options->pods.list.count == 0 && options->likes.list.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no pod spec: name a file with --pod, or something of the cluster with "
			"--like");
	}
	return check_numbers(options, err);
}

static const struct bt_flag flags[] = {
	{"pod", 0, BT_FLAG_STRINGS, offsetof(struct options, pods), "FILE|DIR|-",
		"pods and workloads whose copies are counted; may be repeated"},
	{"like", 0, BT_FLAG_STRINGS, offsetof(struct options, likes), "KIND/NAME",
		"count copies of a pod, workload or podgroup of the cluster"},
	{"namespace", 'n', BT_FLAG_STRING, offsetof(struct options, namespace_), "NAMESPACE",
		"namespace for --like"},
	{"mix", 0, BT_FLAG_OPTIONAL, offsetof(struct options, set_mix), "NAME=N,...",
		"count all pods together, in turns; --mix=web=3: 3 copies of web in each turn"},
	{"max", 0, BT_FLAG_INT, offsetof(struct options, max), "N", "stop after N copies"},
	{"need", 0, BT_FLAG_INT, offsetof(struct options, need), "N",
		"exit with 1 if fewer than N copies of a pod fit"},
	{"after-queue", 0, BT_FLAG_BOOL, offsetof(struct options, after_queue), NULL,
		"place the pending pods of the input first"},
	{"exclude-nodes", 0, BT_FLAG_STRINGS, offsetof(struct options, excluded), "NODE,...",
		"ignore these nodes and their pods: names, patterns, '[key=value]'"},
	BT_OUTPUT_FLAG("table|wide|json|yaml"),
	BT_COLOR_FLAG,
	BT_SOURCE_FLAGS,
	BT_SETUP_FLAGS,
};

static const struct options defaults = {.set_mix = set_mix};

const struct bt_command bt_command_capacity = {
	.name = "capacity",
	.group = BT_COMMAND_ASK,
	.summary = "Say how many more copies of a pod fit, where, and what stops the next one.",
	.usage = "berth capacity --pod FILE -f FILE|DIR|- ... | --kubeconfig FILE [FLAGS]",
	.help = "Schedules copies of a pod onto the cluster, one after the other, until a copy\n"
		"fits on no node, and prints the scheduler's message for that copy. Each placed\n"
		"copy counts for the next ones. Nothing is written to a cluster, and no pod is\n"
		"evicted for a copy.\n"
		"\n"
		"--pod names a file with a Pod, or with a Deployment, ReplicaSet, StatefulSet,\n"
		"DaemonSet, Job, CronJob or ReplicationController, whose pods are copied.\n"
		"Several pods are counted one by one, each on the cluster of the input; with\n"
		"--mix they share the cluster: they take turns, and a pod whose next copy does\n"
		"not fit is skipped.\n"
		"\n"
		"For a PodGroup (--like podgroup/train) whole groups are counted, with the\n"
		"number of pods that the group has. A group is placed in one scheduling cycle.\n"
		"\n"
		"Pending pods of the input use no resources, unless --after-queue places them\n"
		"first.\n",
	.examples =
		"  # How many more of this pod?\n"
		"  kubectl get nodes,pods,priorityclasses -A -o yaml > cluster.yaml\n"
		"  berth capacity --pod pod.yaml -f cluster.yaml\n"
		"\n"
		"  # How many more replicas of a Deployment that runs already?\n"
		"  berth capacity --like deployment/web -n shop --kubeconfig ~/.kube/config\n"
		"\n"
		"  # Three web pods to each worker, together\n"
		"  berth capacity --pod web.yaml --pod worker.yaml --mix=web=3 -f cluster.yaml\n"
		"\n"
		"  # In CI: is there room for 20, without the spot nodes?\n"
		"  berth capacity --pod pod.yaml -f cluster.yaml --need 20 --exclude-nodes "
		"'[pool=spot]'\n",
	.exit_status = "  0  the copies were counted\n"
		       "  1  fewer copies fit than --need requires\n"
		       "  2  the input or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.has_source = true,
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
