/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/meta.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/toleration.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "base/wrap.h"
#include "cli/output.h"
#include "cli/view/view.h"

static struct bt_str shown_namespace(const struct bt_object *object)
{
	struct bt_str namespace_ = bt_object_namespace(object);
	return namespace_.length != 0 ? namespace_ : BT_STR("default");
}

static bool is_pod_at(const struct bt_version *version, int64_t at_ns)
{
	return version->object->kind == BT_KIND_POD && !version->is_over &&
		bt_version_holds(version, at_ns);
}

static void write_amounts(
	struct bt_json_writer *json, const int64_t *amounts, uint32_t amount_count, uint32_t count)
{
	bt_json_begin_array(json);
	for (uint32_t i = 0; i < count; i++) {
		bt_json_write_int64(json, i < amount_count ? amounts[i] : 0);
	}
	bt_json_end_array(json);
}

static void write_resources(const struct bt_history *history, struct bt_json_writer *json)
{
	bt_json_begin_member_array(json, "resources");
	for (uint32_t i = 0; i < history->resources.items.count; i++) {
		bt_json_write_str(json, history->resources.items.items[i]);
	}
	bt_json_end_array(json);
}

/** --- nodes --- */

BT_COMPARE(compare_names, struct bt_version *const,
	bt_str_compare(bt_object_name((*a)->object), bt_object_name((*b)->object)))

/** Writes the version of a node. */
static void write_node(const struct bt_history *history, struct bt_json_writer *json,
	const struct bt_version *version)
{
	const struct bt_node *node = bt_object_value(version->object, BT_KIND_NODE);
	const struct bt_amounts *allocatable = &history->amounts.items[version->amounts];
	bt_json_write(json, "{name: %s, labels: {", node->metadata.name);
	for (uint32_t i = 0; i < node->metadata.labels.count; i++) {
		bt_json_write(json, "%s: %s", node->metadata.labels.items[i].key,
			node->metadata.labels.items[i].value);
	}
	bt_json_write(json, "}, taints: [");
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *taint = &node->spec.taints.items[i];
		struct bt_strbuf text = {0};
		bt_taint_format(taint, &text);
		bt_json_write_str(json, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
	}
	bt_json_write(json, "], conditions: {");
	for (uint32_t i = 0; i < node->status.conditions.count; i++) {
		bt_json_write(json, "%s: %s", node->status.conditions.items[i].type,
			node->status.conditions.items[i].status);
	}
	bt_json_write(json, "}, unschedulable: %b, allocatable:", node->spec.unschedulable);
	write_amounts(json, allocatable->items, allocatable->count, history->resources.items.count);
	bt_json_end_object(json);
}

/** --- the cluster --- */

void bt_overview_write(const struct bt_history *history, int64_t at_ns, uint64_t known_revision,
	struct bt_strbuf *out)
{
	struct bt_json_writer json;
	uint32_t resource_count = history->resources.items.count;
	uint32_t node_count = 0;
	uint32_t pending_count = 0;
	uint32_t gated_count = 0;
	uint32_t running_count = 0;
	const struct bt_version **nodes = /* at the requested time, ascending by name */
		BT_NEW_ARRAY(const struct bt_version *, history->node_names.items.count);
	int64_t *use =
		BT_NEW_ARRAY(int64_t, (size_t)history->node_names.items.count * resource_count);
	for (uint32_t i = 0; i < history->versions.count; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (version->object->kind == BT_KIND_NODE && bt_version_holds(version, at_ns)) {
			nodes[node_count++] = version;
		}
		if (!is_pod_at(version, at_ns)) {
			continue;
		}
		if (version->node == BT_HISTORY_NONE) {
			pending_count++;
			gated_count += version->is_gated;
			continue;
		}
		const struct bt_amounts *request = &history->amounts.items[version->amounts];
		int64_t *amounts = &use[(size_t)version->node * resource_count];
		running_count++;
		for (uint32_t r = 0; r < request->count; r++) {
			amounts[r] = bt_wrap_add(amounts[r], request->items[r]);
		}
	}
	qsort(nodes, node_count, sizeof(nodes[0]), compare_names);
	bt_json_writer_init(&json, out, 0);
	bt_json_write(&json,
		"{revision: %d, nodesRevision: %d, from: %d, at: %d, hasHistory: %b, running: %u, "
		"pending: %u, gated: %u",
		(int64_t)history->revision, (int64_t)history->nodes_revision,
		history->from_ns / BT_NS_PER_MS, at_ns / BT_NS_PER_MS, history->files == NULL,
		running_count, pending_count, gated_count);
	write_resources(history, &json);
	if (known_revision != history->nodes_revision) {
		bt_json_begin_member_array(&json, "nodes");
		for (uint32_t i = 0; i < node_count; i++) {
			write_node(history, &json, nodes[i]);
		}
		bt_json_end_array(&json);
	}
	bt_json_begin_member_array(&json, "use");
	for (uint32_t i = 0; i < node_count; i++) {
		write_amounts(&json, &use[(size_t)nodes[i]->node * resource_count], resource_count,
			resource_count);
	}
	bt_json_write(&json, "]}");
	bt_free(use);
	bt_free(nodes);
}

/** --- one node --- */

bool bt_overview_write_node(
	const struct bt_history *history, struct bt_str name, int64_t at_ns, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	uint32_t id = bt_history_find_node(history, name);
	const struct bt_version *node = NULL;
	for (uint32_t i = 0; i < history->versions.count && id != BT_HISTORY_NONE; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (version->object->kind == BT_KIND_NODE && version->node == id &&
			bt_version_holds(version, at_ns)) {
			node = version;
		}
	}
	if (node == NULL) {
		return false;
	}
	bt_json_writer_init(&json, out, 0);
	bt_json_begin_object(&json);
	write_resources(history, &json);
	bt_json_write_name_c(&json, "node");
	write_node(history, &json, node);
	bt_json_begin_member_array(&json, "pods");
	for (uint32_t i = 0; i < history->versions.count; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (!is_pod_at(version, at_ns) || version->node != id) {
			continue;
		}
		const struct bt_pod *pod =
			bt_object_value(bt_object_unpack(version->object), BT_KIND_POD);
		const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
		const struct bt_amounts *request = &history->amounts.items[version->amounts];
		bt_json_write(&json,
			"{namespace: %s, name: %s, ownerKind: %s, ownerName: %s, priority: %i, "
			"created: %d, deleting: %b, request:",
			shown_namespace(version->object), pod->metadata.name,
			owner != NULL ? owner->kind : BT_STR(""),
			owner != NULL ? owner->name : BT_STR(""),
			(pod->spec.priority.present ? pod->spec.priority.value : 0),
			version->created_ns / BT_NS_PER_MS,
			pod->metadata.deletion_timestamp != NULL);
		write_amounts(
			&json, request->items, request->count, history->resources.items.count);
		bt_json_end_object(&json);
		bt_object_allow_pack(version->object);
	}
	bt_json_write(&json, "]}");
	return true;
}

/** --- search --- */

void bt_overview_write_search(const struct bt_history *history, struct bt_str text,
	bool only_workloads, int64_t at_ns, uint32_t limit, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	uint32_t count = 0;
	bt_json_writer_init(&json, out, 0);
	bt_json_begin_array(&json);
	for (uint32_t i = 0; i < history->versions.count && count < limit; i++) {
		const struct bt_version *version = &history->versions.items[i];
		const struct bt_object *object = version->object;
		enum bt_kind kind = object->kind;
		bool is_workload = kind == BT_KIND_DEPLOYMENT || kind == BT_KIND_STATEFUL_SET ||
			kind == BT_KIND_DAEMON_SET || kind == BT_KIND_JOB ||
			kind == BT_KIND_REPLICA_SET;
		/* Users who search for a Deployment do not expect its ReplicaSets. */
		bool is_searched = is_workload
			? !only_workloads || bt_object_controller(object->meta) == NULL
			: !only_workloads && (kind == BT_KIND_NODE || kind == BT_KIND_POD);
		if (!is_searched || !bt_version_holds(version, at_ns) ||
			bt_str_find(bt_object_name(object), text) < 0) {
			continue;
		}
		count++;
		bt_json_write(&json, "{kind: %c, namespace: %s, name: %s, node: %s}",
			bt_kind_info(kind)->name,
			kind == BT_KIND_NODE ? BT_STR("") : shown_namespace(object),
			bt_object_name(object),
			version->node != BT_HISTORY_NONE
				? history->node_names.items.items[version->node]
				: BT_STR(""));
	}
	bt_json_end_array(&json);
}

/** --- charts --- */

/** Time from a pod's creation to its binding. */
struct wait {
	uint32_t step;
	double seconds;
};

/**
 * Values at each step. Until all versions are added, an entry is the difference to the step before.
 */
struct samples {
	int64_t from_ns;
	int64_t step_ns;
	uint32_t steps;
	int64_t *pending;
	int64_t *running;
	int64_t *bound;
	int64_t *decided;          /* pods bound or found unschedulable */
	int64_t *use;              /* [resource][step] */
	int64_t *allocatable;      /* [resource][step] */
	BT_VEC(struct wait) waits; /* waits of the bound pods */
};

/** Returns the first step at or after the time; samples->steps if there is no such step. */
static uint32_t step_of(const struct samples *samples, int64_t time_ns)
{
	if (time_ns <= samples->from_ns) {
		return 0;
	}
	int64_t past = time_ns - samples->from_ns;
	int64_t step = past / samples->step_ns + (past % samples->step_ns != 0);
	return step < samples->steps ? (uint32_t)step : samples->steps;
}

static void add_span(const struct samples *samples, int64_t *sums, const struct bt_version *version,
	int64_t amount)
{
	uint32_t begin = step_of(samples, version->from_ns);
	uint32_t end =
		version->to_ns == INT64_MAX ? samples->steps : step_of(samples, version->to_ns);
	if (begin < end) {
		sums[begin] = bt_wrap_add(sums[begin], amount);
		sums[end] = bt_wrap_sub(sums[end], amount);
	}
}

static void add_amounts(const struct samples *samples, int64_t *sums,
	const struct bt_version *version, const struct bt_amounts *amounts)
{
	for (uint32_t r = 0; r < amounts->count; r++) {
		add_span(samples, &sums[(size_t)r * (samples->steps + 1)], version,
			amounts->items[r]);
	}
}

static void add_decision(int64_t *sums, uint32_t step)
{
	sums[step]++;
	sums[step + 1]--;
}

static void write_sums(const struct samples *samples, struct bt_json_writer *json, const char *name,
	const int64_t *sums)
{
	int64_t sum = 0;
	bt_json_begin_member_array(json, name);
	for (uint32_t i = 0; i < samples->steps; i++) {
		sum += sums[i];
		bt_json_write_int64(json, sum);
	}
	bt_json_end_array(json);
}

/** Orders waits by step, then by waiting time. */
BT_COMPARE(compare_waits, struct wait,
	BT_ORDER_BY(BT_ORDER(a->step, b->step), BT_ORDER(a->seconds, b->seconds)))

/** Write for each step the quantile of the waits of pods bound in it; null: no pod was bound. */
static void write_waits(
	const struct samples *samples, struct bt_json_writer *json, const char *name, double share)
{
	uint32_t begin = 0;
	bt_json_begin_member_array(json, name);
	for (uint32_t step = 0; step < samples->steps; step++) {
		uint32_t end = begin;
		while (end < samples->waits.count && samples->waits.items[end].step == step) {
			end++;
		}
		if (begin == end) {
			bt_json_write_null(json);
		} else {
			bt_json_write_double(json,
				samples->waits.items[begin + (uint32_t)((end - begin - 1) * share)]
					.seconds);
		}
		begin = end;
	}
	bt_json_end_array(json);
}

void bt_overview_write_samples(const struct bt_history *history, int64_t from_ns, int64_t to_ns,
	uint32_t steps, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	uint32_t resource_count = history->resources.items.count;
	size_t row = (size_t)steps + 1;
	struct samples samples = {.from_ns = from_ns,
		.step_ns = to_ns - from_ns > steps ? (to_ns - from_ns) / (steps - 1) : 1,
		.steps = steps};
	samples.pending = BT_NEW_ARRAY(int64_t, row * 4);
	samples.running = samples.pending + row;
	samples.bound = samples.running + row;
	samples.decided = samples.bound + row;
	samples.use = BT_NEW_ARRAY(int64_t, row * 2 * resource_count);
	samples.allocatable = samples.use + row * resource_count;
	for (uint32_t i = 0; i < history->versions.count; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (version->object->kind == BT_KIND_NODE) {
			add_amounts(&samples, samples.allocatable, version,
				&history->amounts.items[version->amounts]);
		} else if (version->object->kind == BT_KIND_POD && !version->is_over) {
			bool has_node = version->node != BT_HISTORY_NONE;
			add_span(
				&samples, has_node ? samples.running : samples.pending, version, 1);
			if (has_node) {
				add_amounts(&samples, samples.use, version,
					&history->amounts.items[version->amounts]);
			}
		}
		uint32_t step = version->is_first ? step_of(&samples, version->from_ns) : steps;
		if (version->from_ns > from_ns && step < steps) {
			double wait_ns = (double)(version->from_ns - version->created_ns);
			const struct wait wait = {
				step, (wait_ns > 0 ? wait_ns : 0) / (double)BT_NS_PER_SECOND};
			bt_vec_push(&samples.waits, wait);
			add_decision(samples.bound, step);
			add_decision(samples.decided, step);
		}
	}
	for (uint32_t i = 0; i < history->rejected_ns.count; i++) {
		uint32_t step = step_of(&samples, history->rejected_ns.items[i]);
		if (history->rejected_ns.items[i] > from_ns && step < steps) {
			add_decision(samples.decided, step);
		}
	}
	if (samples.waits.count != 0) {
		qsort(samples.waits.items, samples.waits.count, sizeof(samples.waits.items[0]),
			compare_waits);
	}

	bt_json_writer_init(&json, out, 0);
	bt_json_write(&json, "{from: %d, step: %f", from_ns / BT_NS_PER_MS,
		(double)samples.step_ns / (double)BT_NS_PER_MS);
	write_sums(&samples, &json, "pending", samples.pending);
	write_sums(&samples, &json, "running", samples.running);
	write_sums(&samples, &json, "bound", samples.bound);
	write_sums(&samples, &json, "decided", samples.decided);
	write_waits(&samples, &json, "waitP50", 0.5);
	write_waits(&samples, &json, "waitP99", 0.99);
	write_resources(history, &json);
	bt_json_begin_member_array(&json, "use");
	for (uint32_t r = 0; r < resource_count; r++) {
		int64_t used = 0;
		int64_t all = 0;
		bt_json_begin_array(&json);
		for (uint32_t i = 0; i < samples.steps; i++) {
			used = bt_wrap_add(used, samples.use[r * row + i]);
			all = bt_wrap_add(all, samples.allocatable[r * row + i]);
			bt_json_write_double(&json, all > 0 ? (double)used / (double)all : 0);
		}
		bt_json_end_array(&json);
	}
	bt_json_write(&json, "]}");
	bt_free(samples.pending);
	bt_free(samples.use);
	bt_vec_finish(&samples.waits);
}
