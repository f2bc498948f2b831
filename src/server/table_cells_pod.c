/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of pods: what a pod is doing, in one word. Spec: 14 section 18. */
#include <inttypes.h>

#include "base/nanoseconds.h"
#include "server/table_private.h"

/* Lists are compared with each other: of absurdly long ones only the start is looked at. */
#define LOOKED_AT_MAX 500

/** What the containers' states add up to. */
struct summary {
	struct bt_strbuf status;
	uint32_t total;
	uint32_t ready;
	int64_t restarts;
	bool restarted; /* restarted_at says when last */
	int64_t restarted_at;
};

static uint32_t looked_at(const struct bt_json_value *list)
{
	return list->count < LOOKED_AT_MAX ? list->count : LOOKED_AT_MAX;
}

static void set_status(struct summary *summary, const char *prefix, struct bt_str text)
{
	bt_strbuf_reset(&summary->status);
	bt_strbuf_append_c(&summary->status, prefix);
	bt_strbuf_append_str(&summary->status, text);
}

/** Signal:n or ExitCode:n, of a container that ended without giving a reason. */
static void set_end(
	struct summary *summary, const char *prefix, const struct bt_json_value *terminated)
{
	int64_t signal = bt_json_int64_at(terminated, "signal", 0);
	bt_strbuf_reset(&summary->status);
	bt_strbuf_printf(&summary->status, "%s%s:%" PRId64, prefix,
		signal != 0 ? "Signal" : "ExitCode",
		signal != 0 ? signal : bt_json_int64_at(terminated, "exitCode", 0));
}

static void add_restarts(struct summary *summary, const struct bt_json_value *status)
{
	int64_t finished;
	int64_t count = bt_json_int64_at(status, "restartCount", 0);
	/* hostile counts: the sum stays in range */
	if (count > 0 && summary->restarts < INT64_MAX - count) {
		summary->restarts += count;
	}
	if (bt_table_time(bt_json_text_at(status, "lastState.terminated.finishedAt"), &finished) &&
		(!summary->restarted || finished > summary->restarted_at)) {
		summary->restarted = true;
		summary->restarted_at = finished;
	}
}

static bool is_sidecar(const struct bt_json_value *containers, struct bt_str name)
{
	for (uint32_t i = 0; i < looked_at(containers); i++) {
		const struct bt_json_value *container = containers->elements[i];
		if (bt_str_equal(bt_json_text_at(container, "name"), name)) {
			return bt_str_equal(
				bt_json_text_at(container, "restartPolicy"), BT_STR("Always"));
		}
	}
	return false;
}

/** One init container; false: it is done with, look at the next. */
static bool init_container_holds(
	struct summary *summary, const struct bt_json_value *status, bool sidecar)
{
	const struct bt_json_value *terminated = bt_json_find_path(status, "state.terminated");
	struct bt_str waiting = bt_json_text_at(status, "state.waiting.reason");
	struct bt_str ended = bt_json_text_at(terminated, "reason");
	if (terminated != NULL && bt_json_int64_at(terminated, "exitCode", 0) == 0) {
		return false;
	}
	if (sidecar && bt_json_bool_at(status, "started", false)) {
		if (bt_json_bool_at(status, "ready", false)) {
			summary->ready++;
		}
		return false;
	}
	if (terminated != NULL && ended.length == 0) {
		set_end(summary, "Init:", terminated);
	} else if (terminated != NULL) {
		set_status(summary, "Init:", ended);
	} else if (waiting.length != 0 && !bt_str_equal(waiting, BT_STR("PodInitializing"))) {
		set_status(summary, "Init:", waiting);
	} else {
		bt_strbuf_reset(&summary->status); /* the caller counts */
	}
	return true;
}

/** Whether an init container is what the pod waits for. */
static bool look_at_init_containers(struct summary *summary, const struct bt_json_value *pod)
{
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.initContainers");
	const struct bt_json_value *statuses =
		bt_json_array_at(pod, "status.initContainerStatuses");
	for (uint32_t i = 0; i < looked_at(statuses); i++) {
		const struct bt_json_value *status = statuses->elements[i];
		add_restarts(summary, status);
		if (!init_container_holds(summary, status,
			    is_sidecar(containers, bt_json_text_at(status, "name")))) {
			continue;
		}
		if (summary->status.length == 0) {
			bt_strbuf_printf(&summary->status, "Init:%" PRIu32 "/%" PRIu32, i,
				containers->count);
		}
		return true;
	}
	return false;
}

/** Restarts of sidecars go on counting when the pod is initialised, those of others do not. */
static void forget_init_restarts(struct summary *summary, const struct bt_json_value *pod)
{
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.initContainers");
	const struct bt_json_value *statuses =
		bt_json_array_at(pod, "status.initContainerStatuses");
	summary->restarts = 0;
	summary->restarted = false;
	for (uint32_t i = 0; i < looked_at(statuses); i++) {
		const struct bt_json_value *status = statuses->elements[i];
		if (is_sidecar(containers, bt_json_text_at(status, "name"))) {
			add_restarts(summary, status);
		}
	}
}

static void look_at_containers(struct summary *summary, const struct bt_json_value *pod)
{
	const struct bt_json_value *statuses = bt_json_array_at(pod, "status.containerStatuses");
	bool runs = false;
	forget_init_restarts(summary, pod);
	for (uint32_t i = looked_at(statuses); i > 0; i--) {
		const struct bt_json_value *status = statuses->elements[i - 1];
		const struct bt_json_value *terminated =
			bt_json_find_path(status, "state.terminated");
		struct bt_str waiting = bt_json_text_at(status, "state.waiting.reason");
		struct bt_str ended = bt_json_text_at(terminated, "reason");
		add_restarts(summary, status);
		if (waiting.length != 0) {
			set_status(summary, "", waiting);
		} else if (terminated != NULL && ended.length != 0) {
			set_status(summary, "", ended);
		} else if (terminated != NULL) {
			set_end(summary, "", terminated);
		} else if (bt_json_bool_at(status, "ready", false) &&
			bt_json_find_path(status, "state.running") != NULL) {
			runs = true;
			summary->ready++;
		}
	}
	if (runs && bt_str_equal(bt_strbuf_str(&summary->status), BT_STR("Completed"))) {
		set_status(summary, "",
			bt_table_condition_is_true(pod, "Ready") ? BT_STR("Running")
								 : BT_STR("NotReady"));
	}
}

static void summarise(struct summary *summary, const struct bt_json_value *pod)
{
	const struct bt_json_value *init = bt_json_array_at(pod, "spec.initContainers");
	const struct bt_json_value *scheduled = bt_table_condition(pod, "PodScheduled");
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	struct bt_str reason = bt_json_text_at(pod, "status.reason");
	summary->total = bt_json_array_at(pod, "spec.containers")->count;
	for (uint32_t i = 0; i < init->count; i++) {
		if (bt_str_equal(bt_json_text_at(init->elements[i], "restartPolicy"),
			    BT_STR("Always"))) {
			summary->total++;
		}
	}
	set_status(summary, "", reason.length != 0 ? reason : phase);
	if (bt_str_equal(bt_json_text_at(scheduled, "reason"), BT_STR("SchedulingGated"))) {
		set_status(summary, "", BT_STR("SchedulingGated"));
	}
	if (!look_at_init_containers(summary, pod) ||
		bt_table_condition_is_true(pod, "Initialized")) {
		look_at_containers(summary, pod);
	}
	if (!bt_table_is_deleted(pod)) {
		return;
	}
	if (bt_str_equal(reason, BT_STR("NodeLost"))) {
		set_status(summary, "", BT_STR("Unknown"));
	} else if (!bt_str_equal(phase, BT_STR("Succeeded")) &&
		!bt_str_equal(phase, BT_STR("Failed"))) {
		set_status(summary, "", BT_STR("Terminating"));
	}
}

static void write_restarts(const struct bt_table_row *row, const struct summary *summary)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "%" PRId64, summary->restarts);
	if (summary->restarts != 0 && summary->restarted) {
		bt_strbuf_append_c(&text, " (");
		bt_table_append_duration(
			&text, row->now_ns / BT_NS_PER_SECOND - summary->restarted_at);
		bt_strbuf_append_c(&text, " ago)");
	}
	bt_cell_buffer(row, &text, "");
}

static void write_gates(const struct bt_table_row *row)
{
	const struct bt_json_value *gates = bt_json_array_at(row->object, "spec.readinessGates");
	struct bt_strbuf text = {0};
	uint32_t passed = 0;
	for (uint32_t i = 0; i < looked_at(gates); i++) {
		struct bt_str type = bt_json_text_at(gates->elements[i], "conditionType");
		struct bt_str copy = bt_arena_str(row->arena, type);
		if (copy.data != NULL && bt_table_condition_is_true(row->object, copy.data)) {
			passed++;
		}
	}
	if (gates->count != 0) {
		bt_strbuf_printf(&text, "%" PRIu32 "/%" PRIu32, passed, gates->count);
	}
	bt_cell_buffer(row, &text, "<none>");
}

static void write_ip(const struct bt_table_row *row)
{
	const struct bt_json_value *ips = bt_json_array_at(row->object, "status.podIPs");
	struct bt_str ip = bt_json_text_at(row->object, "status.podIP");
	if (ips->count != 0) {
		ip = bt_json_text_at(ips->elements[0], "ip");
	}
	bt_cell_str(row, ip.length != 0 ? ip : BT_STR("<none>"));
}

static const struct bt_table_column pod_columns[] = {
	BT_COLUMN_NAME,
	{"Ready", "string", "", "Containers that are ready, of all.", 0},
	{"Status", "string", "", "What the pod is doing, or waiting for.", 0},
	{"Restarts", "string", "", "Restarts of its containers, and when the last one was.", 0},
	BT_COLUMN_AGE,
	{"IP", "string", "", "Address of the pod.", 1},
	{"Node", "string", "", "Node that the pod is bound to.", 1},
	{"Nominated Node", "string", "", "Node that is being made free for the pod.", 1},
	{"Readiness Gates", "string", "", "Readiness gates that are passed, of all.", 1},
};

static void write_pod(const struct bt_table_row *row)
{
	struct summary summary = {.total = 0};
	struct bt_strbuf ready = {0};
	summarise(&summary, row->object);
	bt_cell_name(row);
	bt_strbuf_printf(&ready, "%" PRIu32 "/%" PRIu32, summary.ready, summary.total);
	bt_cell_buffer(row, &ready, "");
	bt_cell_buffer(row, &summary.status, "");
	write_restarts(row, &summary);
	bt_cell_age(row);
	write_ip(row);
	bt_cell_text(row, "spec.nodeName", "<none>");
	bt_cell_text(row, "status.nominatedNodeName", "<none>");
	write_gates(row);
}

const struct bt_table bt_tables_of_pods[] = {
	BT_TABLE("", "pods", pod_columns, write_pod),
	{.resource = NULL},
};
