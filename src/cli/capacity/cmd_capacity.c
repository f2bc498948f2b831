/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "planning/capacity.h"
#include "cli/command.h"
#include "planning/reference.h"

struct options {
	struct bt_command_line line;
	struct bt_arguments pods;
	struct bt_arguments likes;
	struct bt_arguments excluded;
	const char *namespace_;
	bt_flag_set_fn *set_mix;
	bool is_mix;
	const char *weights; /* NULL: all weights are 1 */
	int64_t max;
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
			struct bt_strbuf text = {0};
			name = bt_str_sub(name, 0, BT_MANIFESTS_NAME_BYTES_MAX);
			const char *near = bt_manifests_suggest(cluster, BT_KIND_NODE, NULL, name,
				NULL, NULL, &options->line.arena);
			bt_text_append(&text,
				"no node of the input is called %p[; did you mean %p?]", name,
				bt_str_from(near != NULL ? near : ""));
			if (near == NULL && bt_str_find_char(name, '=') >= 0) {
				bt_strbuf_append_c(&text,
					"; a label selector stands in brackets: '[key=value]'");
			}
			return bt_error_take(err, BERTH_ERR_NOT_FOUND, &text);
		}
		options->left_out[index] = true;
		return 0;
	}
	int64_t count =
		bt_node_reference_match(cluster, reference, NULL, NULL, options->left_out, err);
	if (count == 0) {
		bt_manifests_warn(cluster, "--exclude-nodes: no node matches %p", reference);
	}
	return count < 0 ? (int)count : 0;
}

/** Leave the excluded nodes and their pods out of the cluster. */
static int exclude_nodes(struct options *options, struct berth_error *err)
{
	const struct bt_arguments *excluded = &options->excluded;
	const struct bt_manifests *cluster = &options->line.cluster;
	if (excluded->list.count == 0) {
		return 0;
	}
	options->left_out = BT_ARENA_NEW_ARRAY(&options->line.arena, bool, cluster->objects.count);
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

/** --- the answer as text: few lines, however many nodes there are --- */

/** Rows of nodes in a table; further nodes are summed up by their number of copies. */
#define ROWS 10
/** Limit of lines "and N more nodes with M each" below a table. */
#define GROUP_LINES 8
/** Limit of requests that a headline names. */
#define REQUESTS_SHOWN 6

struct share {
	uint32_t copies;
	uint32_t node; /* index in the answer's nodes */
};

/** Most copies first, then by name. */
BT_COMPARE(compare_shares, struct share,
	BT_ORDER_BY(BT_ORDER(b->copies, a->copies), BT_ORDER(a->node, b->node)))

static void write_distribution(const struct bt_capacity_answer *answer,
	const struct bt_capacity_member *member, bool wide, struct bt_strbuf *out)
{
	struct bt_table table;
	struct share *shares = BT_NEW_ARRAY(struct share, answer->node_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < answer->node_count; i++) {
		if (wide || member->on_nodes[i] != 0) {
			shares[count++] = (struct share){member->on_nodes[i], i};
		}
	}
	if (count > 1) {
		qsort(shares, count, sizeof(shares[0]), compare_shares);
	}
	uint32_t shown = wide || count <= ROWS + 1 ? count : ROWS;
	BT_TABLE_BEGIN(&table, "NODE", member->spec->group != NULL ? "PODS OF IT" : "COPIES",
		wide ? "PODS" : NULL, wide ? "CPU" : NULL, wide ? "MEMORY" : NULL);
	for (uint32_t i = 0; i < shown; i++) {
		const struct bt_capacity_node *node = &answer->nodes[shares[i].node];
		bt_table_add_cells(&table, "%p\t%n", node->name, shares[i].copies);
		for (uint32_t k = 0; wide && k < BT_CAPACITY_NODE_RESOURCES; k++) {
			const struct bt_capacity_total *use = &node->use[k];
			bt_table_add_cells(&table, "%a -> %a of %a", use->resource, use->before,
				BT_AMOUNT_NEAREST, use->resource, use->after, BT_AMOUNT_NEAREST,
				use->resource, use->allocatable, BT_AMOUNT_NEAREST);
		}
	}
	if (count != 0) {
		bt_strbuf_append_c(out, "Pod distribution among nodes:\n");
		bt_table_write(&table, out);
		/*
		 * Sum up the nodes after the table's last row, one line per number of copies; the
		 * last line covers all remaining nodes.
		 */
		uint32_t first = shown;
		for (uint32_t line = 0; first < count; line++) {
			uint32_t end = first;
			bool is_last = line + 1 == GROUP_LINES;
			while (end < count &&
				(is_last || shares[end].copies == shares[first].copies)) {
				end++;
			}
			uint32_t least = shares[end - 1].copies;
			bt_text_append(out, "and %n more {node|nodes} with [%?%n to ]%n%c\n",
				end - first, least != shares[first].copies, least,
				shares[first].copies, end - first == 1 ? "" : " each");
			first = end;
		}
		bt_text_append(
			out, "[%n {node takes|nodes take} none\n]", answer->node_count - count);
	}
	bt_table_finish(&table);
	bt_free(shares);
}

static void add_share(struct bt_table *table, const struct bt_capacity_total *total, int64_t amount)
{
	bt_text_append(&table->text, "%a", total->resource, amount, BT_AMOUNT_NEAREST);
	bt_amount_append_share(&table->text, amount, total->allocatable);
	bt_table_end_cell(table);
}

static void capacity_write_table(
	const struct bt_capacity_answer *answer, bool wide, struct bt_strbuf *out)
{
	if (answer->queue_placed != 0 || answer->queue_pending != 0) {
		bt_text_append(out,
			"Placed first: %n pending {pod|pods} of the input[; %n found no place].\n",
			answer->queue_placed, answer->queue_pending);
	}
	if (answer->member_count > 1) {
		bt_text_append(out,
			"The mix: %n {copy|copies} in all; every member had its share in %n full "
			"{round|rounds}.\n\n",
			answer->copies, answer->round_count);
	}
	for (uint32_t i = 0; i < answer->member_count; i++) {
		bt_strbuf_append_c(out, i == 0 ? "" : "\n");
		const struct bt_capacity_member *member = &answer->members[i];
		const struct bt_capacity_spec *spec = member->spec;
		bt_text_append(out, "The cluster can schedule %n {instance|instances} of the ",
			member->copies);
		bt_strbuf_append_lower(out, bt_str_from(bt_kind_info(spec->kind)->name));
		bt_text_append(out, " %m", spec->namespace_, spec->name);
		if (member->requests.count == 0) {
			bt_strbuf_append_c(out, " (requests nothing)");
		} else {
			for (uint32_t j = 0; j < member->requests.count && j < REQUESTS_SHOWN;
				j++) {
				const struct bt_capacity_request *request =
					&member->requests.items[j];
				bt_text_append(out, "%c%p %a", j == 0 ? " (" : ", ",
					request->resource, request->resource, request->amount,
					BT_AMOUNT_NEAREST);
			}
			bt_strbuf_append_c(
				out, member->requests.count > REQUESTS_SHOWN ? ", ...)" : ")");
		}
		bt_text_append(out, "[%?, %n {pod|pods} each].\nTermination reason: %c: %p\n",
			spec->group != NULL, spec->members.count, member->stop.type,
			member->stop.message);
		bt_text_append(out, "[%?%c: %p\n]", member->stop.hint.length != 0,
			spec->group != NULL ? "The next" : "Tightest", member->stop.hint);
		if (answer->member_count > 1 && member->stop.total < answer->copies) {
			bt_text_append(out,
				"It stopped when %n {copy|copies} of all members had a node; %n of "
				"others came after.\n",
				member->stop.total, answer->copies - member->stop.total);
		}
		for (uint32_t k = 0; k < member->placements.count && k < ROWS; k++) {
			const struct bt_capacity_placement *placement =
				&member->placements.items[k];
			bt_text_append(out, "%c%p takes %n", k == 0 ? "Placements: " : ", ",
				placement->name, placement->copies);
		}
		uint32_t placement_count = member->placements.count;
		bt_text_append(out, "[ and %n more {takes|take} some]",
			placement_count > ROWS ? placement_count - ROWS : 0);
		bt_strbuf_append_c(out, member->placements.count != 0 ? "\n" : "");
		if (member->copies != 0 || wide) {
			bt_strbuf_append_char(out, '\n');
			write_distribution(answer, member, wide, out);
		}
	}
	struct bt_table table;
	BT_TABLE_BEGIN(&table, "RESOURCE", "BEFORE", "AFTER", "ALLOCATABLE");
	for (uint32_t i = 0; i < answer->total_count; i++) {
		const struct bt_capacity_total *total = &answer->totals[i];
		bt_table_add(&table, total->resource);
		add_share(&table, total, total->before);
		add_share(&table, total, total->after);
		bt_table_add_cells(
			&table, "%a", total->resource, total->allocatable, BT_AMOUNT_NEAREST);
	}
	bt_text_append(out, "\nUse of the cluster's %n {node|nodes}:\n", answer->node_count);
	bt_table_write(&table, out);
}

/** --- the answer as JSON: the fields of cluster-capacity's reviews and further ones --- */

/**
 * Whether cluster-capacity reports the resource in primaryResources; all other resources are in
 * scalarResources.
 */
static bool is_primary(struct bt_str resource)
{
	return bt_str_equal_c(resource, "cpu") || bt_str_equal_c(resource, "memory") ||
		bt_str_equal_c(resource, "ephemeral-storage");
}

static void write_resources(
	struct bt_json_writer *writer, const struct bt_capacity_member *member, bool primary)
{
	bt_json_begin_member_object(writer, primary ? "primaryResources" : "scalarResources");
	for (uint32_t i = 0; i < member->requests.count; i++) {
		const struct bt_capacity_request *request = &member->requests.items[i];
		if (is_primary(request->resource) != primary) {
			continue;
		}
		if (primary) {
			/* Append the exact amount as a quantity: "150m", "100Mi", "1234". */
			static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
			struct bt_strbuf text = {0};
			int64_t amount = request->amount;
			uint32_t unit = 0;
			if (bt_str_equal_c(request->resource, "cpu")) {
				bool is_whole = amount % 1000 == 0;
				bt_strbuf_printf(&text, "%lld%s",
					(long long)(is_whole ? amount / 1000 : amount),
					is_whole ? "" : "m");
			} else {
				while (is_primary(request->resource) && amount != 0 &&
					amount % 1024 == 0 && unit + 1 < BT_ARRAY_LENGTH(units)) {
					amount /= 1024;
					unit++;
				}
				bt_strbuf_printf(&text, "%lld%s", (long long)amount, units[unit]);
			}
			bt_json_write(writer, "%s: %s", request->resource, bt_strbuf_str(&text));
			bt_strbuf_finish(&text);
		} else {
			bt_json_write(writer, "%s: %d", request->resource, request->amount);
		}
	}
	bt_json_end_object(writer);
}

static void write_review(struct bt_json_writer *writer, const struct bt_capacity_answer *answer)
{
	const struct bt_capacity_member *last = &answer->members[0];
	for (uint32_t i = 1; i < answer->member_count; i++) {
		if (answer->members[i].stop.total > last->stop.total) {
			last = &answer->members[i];
		}
	}
	bt_json_write(writer, "{spec: {podRequirements: [");
	for (uint32_t i = 0; i < answer->member_count; i++) {
		const struct bt_capacity_member *member = &answer->members[i];
		bool is_mix = answer->member_count > 1;
		const struct bt_capacity_spec *spec = member->spec;
		bt_json_write(writer,
			"{podName: %s, namespace: %s, kind: %c, weight?: %d, resources: {",
			spec->name, spec->namespace_, bt_kind_info(spec->kind)->name,
			is_mix ? spec->weight : 0);
		write_resources(writer, member, true);
		write_resources(writer, member, false);
		bt_json_write(writer, "}, nodeSelectors: {");
		for (uint32_t k = 0; k < member->node_selector.count; k++) {
			bt_json_write(writer, "%s: %s", member->node_selector.items[k].key,
				member->node_selector.items[k].value);
		}
		bt_json_write(writer, "}}");
	}
	bt_json_write(writer,
		"]}, status: {replicas: %u, failReason: {failType: %c, failMessage: %s}, pods: [",
		answer->copies, last->stop.type, last->stop.message);
	for (uint32_t i = 0; i < answer->member_count; i++) {
		const struct bt_capacity_member *member = &answer->members[i];
		bt_json_write(writer,
			"{podName: %s, namespace: %s, replicas: %u, replicasOnNodes: [",
			member->spec->name, member->spec->namespace_, member->copies);
		for (uint32_t j = 0; j < answer->node_count; j++) {
			if (member->on_nodes[j] != 0) {
				bt_json_write(writer, "{nodeName: %s, replicas: %u}",
					answer->nodes[j].name, member->on_nodes[j]);
			}
		}
		bt_json_end_array(writer);
		if (member->spec->group != NULL) {
			bt_json_write(writer, "podsPerReplica: %u, placements: [",
				member->spec->members.count);
			for (uint32_t j = 0; j < member->placements.count; j++) {
				bt_json_write(writer, "{name: %s, replicas: %u}",
					member->placements.items[j].name,
					member->placements.items[j].copies);
			}
			bt_json_end_array(writer);
		}
		bt_json_begin_member_array(writer, "summary");
		for (uint32_t j = 0; j < member->stop.reasons.count; j++) {
			bt_json_write(writer, "{reason: %s, count: %d}",
				member->stop.reasons.items[j].text,
				(int64_t)member->stop.reasons.items[j].node_count);
		}
		bt_json_write(writer,
			"], stopped: {type: %c, message: %s, tightest: %s, atReplicas: %u}}",
			member->stop.type, member->stop.message, member->stop.hint,
			member->stop.total);
	}
	bt_json_end_array(writer);
	if (answer->member_count > 1) {
		bt_json_write_member_int64(writer, "rounds", answer->round_count);
	}
	bt_json_write_member_int64(writer, "nodes", answer->node_count);
	/* Amounts have the same units as the amounts of nodes in the JSON of "berth simulate". */
	bt_json_begin_member_array(writer, "utilization");
	for (uint32_t i = 0; i < answer->total_count; i++) {
		const struct bt_capacity_total *total = &answer->totals[i];
		bt_json_write(writer,
			"{resource: %s, unit: %c, before: %d, after: %d, allocatable: %d}",
			total->resource, bt_str_equal_c(total->resource, "cpu") ? "milli" : "1",
			total->before, total->after, total->allocatable);
	}
	bt_json_write(writer, "]}}");
}

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct options *options = answer;
	if (options->answer_count == 1) {
		write_review(writer, &options->answers[0]);
		return;
	}
	bt_json_write(writer, "{items: [");
	for (uint32_t i = 0; i < options->answer_count; i++) {
		write_review(writer, &options->answers[i]);
	}
	bt_json_write(writer, "]}");
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct options *options = answer;
	for (uint32_t i = 0; i < options->answer_count; i++) {
		bt_strbuf_append_c(out, i == 0 ? "" : "\n");
		capacity_write_table(&options->answers[i], wide, out);
	}
}

/** --- the run --- */

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	options->specs.cluster = &options->line.cluster;
	options->specs.namespace_ = options->namespace_;
	int result = bt_source_read(&options->line.source, &options->line.cluster, err);
	for (uint32_t i = 0; result == 0 && i < options->pods.list.count; i++) {
		result = bt_capacity_specs_read(&options->specs, options->pods.list.items[i], err);
	}
	for (uint32_t i = 0; result == 0 && i < options->likes.list.count; i++) {
		result = bt_capacity_specs_like(&options->specs, options->likes.list.items[i], err);
	}
	if (result == 0 && options->is_mix) {
		result = bt_capacity_specs_weigh(
			&options->specs, options->weights != NULL ? options->weights : "", err);
	}
	if (result == 0) {
		result = exclude_nodes(options, err);
	}
	if (result == 0) {
		uint32_t spec_count = options->specs.list.count;
		uint32_t question_count = options->is_mix ? 1 : spec_count;
		options->answers = BT_ARENA_NEW_ARRAY(
			&options->line.arena, struct bt_capacity_answer, question_count);
		for (uint32_t i = 0; result == 0 && i < question_count; i++) {
			struct bt_progress progress;
			struct bt_capacity_question question = {
				.cluster = &options->line.cluster,
				.left_out = options->left_out,
				.create = bt_setup_scheduler,
				.create_context = &options->line.setup,
				.specs = &options->specs.list.items[i],
				.spec_count = options->is_mix ? spec_count : 1,
				.max = (uint32_t)options->max,
				.after_queue = options->after_queue,
				.quiet = i != 0,
				.progress = bt_progress_show,
				.progress_context = &progress,
			};
			bt_progress_start(&progress, "placing copies");
			result = bt_capacity_compute(&question, &options->answers[i], err);
			bt_progress_end(&progress);
			options->answer_count += result == 0;
		}
	}
	if (result == 0) {
		result = bt_output_write(
			options->line.format, write_text, write_json, options, out, err);
	}
	if (result == 0) {
		bt_output_print(out);
		bt_strbuf_reset(out);
		for (uint32_t a = 0; a < options->answer_count; a++) {
			for (uint32_t i = 0; i < options->answers[a].member_count; i++) {
				const struct bt_capacity_member *member =
					&options->answers[a].members[i];
				if (member->copies >= options->need) {
					continue;
				}
				struct bt_strbuf shown = {0};
				bt_printable_append_name(
					&shown, member->spec->namespace_, member->spec->name);
				(void)fprintf(stderr, "berth %s: %s: %lld %s needed, %u %s\n",
					options->line.command->name, bt_strbuf_c(&shown),
					(long long)options->need,
					options->need == 1 ? "copy is" : "copies are",
					member->copies, member->copies == 1 ? "fits" : "fit");
				bt_strbuf_finish(&shown);
				result = BT_EXIT_FINDING;
			}
		}
	}
	for (uint32_t i = 0; i < options->answer_count; i++) {
		bt_capacity_answer_finish(&options->answers[i]);
	}
	bt_capacity_specs_finish(&options->specs);
	return result;
}

/** --- the command line --- */

/**
 * Store the text of the weights. It is parsed after the pod specs are read, because it names them.
 */
static int set_mix(void *context, const struct bt_flag *flag BT_UNUSED, const char *text,
	struct berth_error *err BT_UNUSED)
{
	struct options *options = context;
	options->is_mix = true;
	options->weights = text;
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
			"no pod spec: name a file with --pod, or an object of the cluster with "
			"--like");
	}
	if (options->max < 1 || options->max > BT_CAPACITY_COPIES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--max: give a number from 1 to %d",
			BT_CAPACITY_COPIES_MAX);
	}
	if (options->need < 0 || options->need > BT_CAPACITY_COPIES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--need: give a number from 1 to %d",
			BT_CAPACITY_COPIES_MAX);
	}
	if (options->need > options->max) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--need %lld cannot be met: --max stops at %lld", (long long)options->need,
			(long long)options->max);
	}
	return 0;
}

static const struct bt_flag flags[] = {
	{"pod", 0, BT_FLAG_STRINGS, offsetof(struct options, pods), "FILE|DIR|-",
		"pods and workloads whose copies are counted; may be repeated"},
	{"like", 0, BT_FLAG_STRINGS, offsetof(struct options, likes), "KIND/NAME",
		"count copies of a pod, workload or podgroup of the cluster"},
	{"namespace", 'n', BT_FLAG_STRING, offsetof(struct options, namespace_), "NAMESPACE",
		"namespace for --like, and for objects of --pod that name none"},
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

static const struct options defaults = {.set_mix = set_mix, .max = BT_CAPACITY_COPIES_MAX};

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
