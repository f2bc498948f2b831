/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the built-in kinds. Spec: 14 section 18. */
#include "server/table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/storage.h"
#include "api/time.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "server/condition.h"
#include "server/selection.h"
#include "server/table_private.h"

/** --- helpers --- */

static bool time_of(struct bt_str text, int64_t *out_seconds)
{
	struct bt_time time;
	if (text.length == 0 || bt_time_parse(text, &time, NULL) != 0 || !time.set) {
		return false;
	}
	*out_seconds = time.seconds;
	return true;
}

void bt_table_append_duration(struct bt_strbuf *out, int64_t seconds)
{
	enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };
	static const struct {
		int64_t below;
		int64_t unit;
		char letter;
		int64_t small_unit; /* 0: the rest is not shown */
		char small_letter;
	} rows[] = {
		{2 * MINUTE, 1, 's', 0, 0},
		{10 * MINUTE, MINUTE, 'm', 1, 's'},
		{3 * HOUR, MINUTE, 'm', 0, 0},
		{8 * HOUR, HOUR, 'h', MINUTE, 'm'},
		{2 * DAY, HOUR, 'h', 0, 0},
		{8 * DAY, DAY, 'd', HOUR, 'h'},
		{2 * YEAR, DAY, 'd', 0, 0},
		{8 * YEAR, YEAR, 'y', DAY, 'd'},
		{INT64_MAX, YEAR, 'y', 0, 0},
	};
	size_t i = 0;
	if (seconds < 0) {
		bt_strbuf_append_c(out, seconds < -1 ? "<invalid>" : "0s");
		return;
	}
	while (i + 1 < BT_ARRAY_LENGTH(rows) && seconds >= rows[i].below) {
		i++;
	}
	bt_strbuf_printf(out, "%" PRId64 "%c", seconds / rows[i].unit, rows[i].letter);
	int64_t rest = rows[i].small_unit != 0 ? seconds % rows[i].unit / rows[i].small_unit : 0;
	if (rest != 0) {
		bt_strbuf_printf(out, "%" PRId64 "%c", rest, rows[i].small_letter);
	}
}

void bt_table_append_since(struct bt_table_row *row, struct bt_str time)
{
	int64_t seconds;
	if (time_of(time, &seconds)) {
		bt_table_append_duration(&row->text, row->now_ns / BT_NS_PER_SECOND - seconds);
	}
}

/** Appends the text, after a comma if other text comes before. */
static void append_joined(struct bt_strbuf *out, struct bt_str text)
{
	if (out->length != 0) {
		bt_strbuf_append_char(out, ',');
	}
	bt_strbuf_append_str(out, text);
}

/** Number of texts of a list that a short list shows. */
#define SHOWN_MAX 3

/** Appends the text, but at most SHOWN_MAX. *count: number of texts so far. */
static void append_first(struct bt_strbuf *out, uint32_t *count, struct bt_str text)
{
	if ((*count)++ < SHOWN_MAX) {
		append_joined(out, text);
	}
}

/** Appends the number of texts that append_first left out. */
static void append_more(struct bt_strbuf *out, uint32_t count)
{
	if (count > SHOWN_MAX) {
		bt_strbuf_printf(out, " + %u more...", (unsigned)(count - SHOWN_MAX));
	}
}

/**
 * Appends the texts at the dotted path, which goes through all elements of its lists. count: not
 * NULL for a short list, which leaves out empty texts.
 */
static void append_texts(struct bt_strbuf *out, const struct bt_json_value *value,
	struct bt_str path, uint32_t *count)
{
	if (value != NULL && value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			append_texts(out, value->elements[i], path, count);
		}
	} else if (path.length != 0) {
		struct bt_str name = bt_str_cut(&path, '.');
		append_texts(out, bt_json_get(value, name), path, count);
	} else if (count == NULL) {
		append_joined(out, value != NULL ? value->text : BT_STR(""));
	} else if (value != NULL && value->text.length != 0) {
		append_first(out, count, value->text);
	}
}

static bool has_condition(const struct bt_json_value *object, const char *type)
{
	return bt_condition_is(bt_json_array_at(object, "status.conditions"), type, "True");
}

/** --- cells of many kinds --- */

/**
 * Finds the value at a dotted path. A path with brackets is a JSONPath without its first dot;
 * "@Ready.reason" is the reason of the condition Ready.
 */
static const struct bt_json_value *find(const struct bt_table_row *row, struct bt_str path)
{
	const char *text = bt_arena_str(row->arena, path).data;
	if (bt_str_find_char(path, '[') >= 0) {
		return bt_table_json_path(row->object, bt_arena_printf(row->arena, ".%s", text));
	}
	if (path.length == 0 || path.data[0] != '@') {
		return bt_json_find_path(row->object, text);
	}
	struct bt_str member = bt_str_sub(path, 1, BT_STR_MAX);
	struct bt_str type = bt_str_cut(&member, '.');
	const struct bt_json_value *condition = bt_json_element_with(
		bt_json_array_at(row->object, "status.conditions"), "type", type);
	return member.data == NULL ? condition : bt_json_get(condition, member);
}

/** Returns whether the value at "path" is set, or the text at the path of "path=text" is this. */
static bool holds(const struct bt_table_row *row, struct bt_str test)
{
	struct bt_str wanted = test;
	const struct bt_json_value *value = find(row, bt_str_cut(&wanted, '='));
	if (value == NULL || wanted.data != NULL) {
		return value != NULL && bt_str_equal(value->text, wanted);
	}
	return value->type == BT_JSON_OBJECT || !bt_json_is_zero(value);
}

/**
 * Returns the first of "a|b|c" that is not empty, or "". Each is the text or number at a path, or
 * 'text; after "test:" it counts only if the test holds.
 */
static struct bt_str first_text(const struct bt_table_row *row, struct bt_str choices)
{
	struct bt_str text = BT_STR("");
	while (text.length == 0 && choices.length != 0) {
		struct bt_str path = bt_str_cut(&choices, '|');
		struct bt_str test = bt_str_cut(&path, ':');
		if (path.data == NULL) {
			path = test;
		} else if (!holds(row, test)) {
			continue;
		}
		if (path.data[0] == '\'') {
			text = bt_str_sub(path, 1, BT_STR_MAX);
			continue;
		}
		const struct bt_json_value *value = find(row, path);
		if (value != NULL &&
			(value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER)) {
			text = value->text;
		}
	}
	return text;
}

/**
 * Appends a form up to its end or the next ']'. {choices} stands for their first text, {^choices}
 * for this text in lower case, '~' for a comma unless the cell is empty; a part in brackets is left
 * out if its last text is empty. Returns whether the last text is not empty.
 */
static bool append_form(struct bt_table_row *row, struct bt_str *form)
{
	bool has_text = true;
	while (form->length != 0 && form->data[0] != ']') {
		char byte = form->data[0];
		size_t length = row->text.length;
		*form = bt_str_sub(*form, 1, BT_STR_MAX);
		if (byte == '{') {
			bool is_lower = bt_str_has_prefix(*form, BT_STR("^"));
			*form = bt_str_sub(*form, is_lower ? 1 : 0, BT_STR_MAX);
			struct bt_str text = first_text(row, bt_str_cut(form, '}'));
			if (is_lower) {
				bt_strbuf_append_lower(&row->text, text);
			} else {
				bt_strbuf_append_str(&row->text, text);
			}
			has_text = text.length != 0;
		} else if (byte == '[') {
			if (!append_form(row, form)) {
				row->text.length = length;
			}
			*form = bt_str_sub(*form, 1, BT_STR_MAX);
		} else if (byte != '~') {
			bt_strbuf_append_char(&row->text, byte);
		} else if (length != 0) {
			bt_strbuf_append_char(&row->text, ',');
		}
	}
	return has_text;
}

/** Writes the form in place of a path. */
static void cell_form(struct bt_table_row *row)
{
	struct bt_str form = bt_str_from(row->path);
	(void)append_form(row, &form);
}

/** Writes the first of the numbers at the paths; 0 if there is none. */
static void cell_int(struct bt_table_row *row)
{
	int64_t number = 0;
	(void)bt_json_number_int64(first_text(row, bt_str_from(row->path)), &number);
	bt_json_write_int64(row->writer, number);
}

/** Writes the bool at the path. An absent bool is true if the column has a fallback, else false. */
static void cell_bool(struct bt_table_row *row)
{
	bt_json_write_bool(
		row->writer, bt_json_bool_at(row->object, row->path, row->fallback != NULL));
}

/** Writes the number of entries of the arrays and objects at the paths "a|b". */
static void cell_count(struct bt_table_row *row)
{
	struct bt_str paths = bt_str_from(row->path);
	int64_t count = 0;
	while (paths.length != 0) {
		const struct bt_json_value *value = find(row, bt_str_cut(&paths, '|'));
		bool is_list = value != NULL &&
			(value->type == BT_JSON_ARRAY || value->type == BT_JSON_OBJECT);
		count += is_list ? value->count : 0;
	}
	bt_json_write_int64(row->writer, count);
}

/** Writes how much time has passed since the first time at one of the paths. */
static void cell_since(struct bt_table_row *row)
{
	bt_table_append_since(row, first_text(row, bt_str_from(row->path)));
}

/** Writes the texts at a path through lists, joined by commas. */
static void cell_texts(struct bt_table_row *row)
{
	append_texts(&row->text, row->object, bt_str_from(row->path), NULL);
}

/** Writes the first texts at a path through lists, and the number of the others. */
static void cell_short_list(struct bt_table_row *row)
{
	uint32_t count = 0;
	append_texts(&row->text, row->object, bt_str_from(row->path), &count);
	append_more(&row->text, count);
}

static void append_labels(struct bt_strbuf *out, const struct bt_json_value *labels)
{
	struct bt_json_member *sorted = BT_NEW_ARRAY(struct bt_json_member, labels->count);
	for (uint32_t i = 0; i < labels->count; i++) {
		sorted[i] = labels->members[i];
	}
	qsort(sorted, labels->count, sizeof(*sorted), bt_str_compare_qsort);
	for (uint32_t i = 0; i < labels->count; i++) {
		append_joined(out, sorted[i].name);
		bt_strbuf_append_char(out, '=');
		if (sorted[i].value->type == BT_JSON_STRING) {
			bt_strbuf_append_str(out, sorted[i].value->text);
		}
	}
	bt_free(sorted);
}

/** Writes the map of texts at the path as "a=1,b=2". */
static void cell_labels(struct bt_table_row *row)
{
	append_labels(&row->text, bt_json_object_at(row->object, row->path));
}

/** Writes the label selector at the path in the syntax of kubectl. */
static void cell_selector(struct bt_table_row *row)
{
	struct bt_arena arena = {0};
	bt_strbuf_append_str(
		&row->text, bt_selection_text(&arena, bt_json_object_at(row->object, row->path)));
	bt_arena_finish(&arena);
}

/** --- pods: ready containers, status and restarts --- */

/* Long lists are cut here, because comparing two lists takes quadratic time. */
#define COMPARED_MAX 500

static uint32_t compared_count(const struct bt_json_value *list)
{
	return BT_MIN(list->count, COMPARED_MAX);
}

static void set_status(struct bt_pod_summary *summary, const char *prefix, struct bt_str text)
{
	bt_strbuf_reset(&summary->status);
	bt_strbuf_append_c(&summary->status, prefix);
	bt_strbuf_append_str(&summary->status, text);
}

/** Sets the status of a terminated container: its reason, else Signal:n or ExitCode:n. */
static void set_terminated(
	struct bt_pod_summary *summary, const char *prefix, const struct bt_json_value *terminated)
{
	struct bt_str reason = bt_json_text_at(terminated, "reason");
	int64_t signal = bt_json_int64_at(terminated, "signal", 0);
	if (reason.length != 0) {
		set_status(summary, prefix, reason);
		return;
	}
	bt_strbuf_reset(&summary->status);
	bt_strbuf_printf(&summary->status, "%s%s:%" PRId64, prefix,
		signal != 0 ? "Signal" : "ExitCode",
		signal != 0 ? signal : bt_json_int64_at(terminated, "exitCode", 0));
}

static void add_restarts(struct bt_pod_summary *summary, const struct bt_json_value *status)
{
	int64_t finished;
	int64_t count = bt_json_int64_at(status, "restartCount", 0);
	/* clients may write any count: avoid overflow */
	if (count > 0 && summary->restarts < INT64_MAX - count) {
		summary->restarts += count;
	}
	if (time_of(bt_json_text_at(status, "lastState.terminated.finishedAt"), &finished) &&
		(!summary->restarted || finished > summary->restarted_at)) {
		summary->restarted = true;
		summary->restarted_at = finished;
	}
}

static bool is_sidecar(const struct bt_json_value *containers, struct bt_str name)
{
	for (uint32_t i = 0; i < compared_count(containers); i++) {
		const struct bt_json_value *container = containers->elements[i];
		if (bt_str_equal(bt_json_text_at(container, "name"), name)) {
			return bt_str_equal(
				bt_json_text_at(container, "restartPolicy"), BT_STR("Always"));
		}
	}
	return false;
}

/**
 * Adds the init containers to the summary. Returns whether the pod still waits for an init
 * container.
 */
static bool summarise_init_containers(
	struct bt_pod_summary *summary, const struct bt_json_value *pod)
{
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.initContainers");
	const struct bt_json_value *statuses =
		bt_json_array_at(pod, "status.initContainerStatuses");
	for (uint32_t i = 0; i < compared_count(statuses); i++) {
		const struct bt_json_value *status = statuses->elements[i];
		add_restarts(summary, status);
		const struct bt_json_value *terminated =
			bt_json_find_path(status, "state.terminated");
		struct bt_str waiting = bt_json_text_at(status, "state.waiting.reason");
		if (terminated != NULL && bt_json_int64_at(terminated, "exitCode", 0) == 0) {
			continue;
		}
		if (is_sidecar(containers, bt_json_text_at(status, "name")) &&
			bt_json_bool_at(status, "started", false)) {
			if (bt_json_bool_at(status, "ready", false)) {
				summary->ready++;
			}
			continue;
		}
		if (terminated != NULL) {
			set_terminated(summary, "Init:", terminated);
		} else if (waiting.length != 0 &&
			!bt_str_equal(waiting, BT_STR("PodInitializing"))) {
			set_status(summary, "Init:", waiting);
		} else {
			bt_strbuf_reset(&summary->status);
			bt_strbuf_printf(&summary->status, "Init:%" PRIu32 "/%" PRIu32, i,
				containers->count);
		}
		return true;
	}
	return false;
}

/** Writes the cell, and keeps the summary of the pod's containers for the next columns. */
static void cell_pod_ready(struct bt_table_row *row)
{
	struct bt_pod_summary *summary = &row->pod;
	const struct bt_json_value *pod = row->object;
	const struct bt_json_value *init = bt_json_array_at(pod, "spec.initContainers");
	const struct bt_json_value *scheduled =
		bt_condition_find(bt_json_array_at(pod, "status.conditions"), "PodScheduled");
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
	if (!summarise_init_containers(summary, pod) || has_condition(pod, "Initialized")) {
		const struct bt_json_value *init_statuses =
			bt_json_array_at(pod, "status.initContainerStatuses");
		const struct bt_json_value *statuses =
			bt_json_array_at(pod, "status.containerStatuses");
		bool runs = false;
		/* Of the init containers of an initialized pod, only sidecars add restarts. */
		summary->restarts = 0;
		summary->restarted = false;
		for (uint32_t i = 0; i < compared_count(init_statuses); i++) {
			const struct bt_json_value *status = init_statuses->elements[i];
			if (is_sidecar(init, bt_json_text_at(status, "name"))) {
				add_restarts(summary, status);
			}
		}
		for (uint32_t i = compared_count(statuses); i > 0; i--) {
			const struct bt_json_value *status = statuses->elements[i - 1];
			const struct bt_json_value *terminated =
				bt_json_find_path(status, "state.terminated");
			struct bt_str waiting = bt_json_text_at(status, "state.waiting.reason");
			add_restarts(summary, status);
			if (waiting.length != 0) {
				set_status(summary, "", waiting);
			} else if (terminated != NULL) {
				set_terminated(summary, "", terminated);
			} else if (bt_json_bool_at(status, "ready", false) &&
				bt_json_find_path(status, "state.running") != NULL) {
				runs = true;
				summary->ready++;
			}
		}
		if (runs && bt_str_equal(bt_strbuf_str(&summary->status), BT_STR("Completed"))) {
			set_status(summary, "",
				has_condition(pod, "Ready") ? BT_STR("Running")
							    : BT_STR("NotReady"));
		}
	}
	bool is_deleted = bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0;
	if (is_deleted && bt_str_equal(reason, BT_STR("NodeLost"))) {
		set_status(summary, "", BT_STR("Unknown"));
	} else if (is_deleted && !bt_str_equal(phase, BT_STR("Succeeded")) &&
		!bt_str_equal(phase, BT_STR("Failed"))) {
		set_status(summary, "", BT_STR("Terminating"));
	}
	bt_strbuf_printf(&row->text, "%" PRIu32 "/%" PRIu32, summary->ready, summary->total);
}

static void cell_pod_status(struct bt_table_row *row)
{
	bt_strbuf_append_str(&row->text, bt_strbuf_str(&row->pod.status));
}

static void cell_restarts(struct bt_table_row *row)
{
	bt_strbuf_printf(&row->text, "%" PRId64, row->pod.restarts);
	if (row->pod.restarts != 0 && row->pod.restarted) {
		bt_strbuf_append_c(&row->text, " (");
		bt_table_append_duration(
			&row->text, row->now_ns / BT_NS_PER_SECOND - row->pod.restarted_at);
		bt_strbuf_append_c(&row->text, " ago)");
	}
}

static void cell_gates(struct bt_table_row *row)
{
	const struct bt_json_value *gates = bt_json_array_at(row->object, "spec.readinessGates");
	uint32_t passed = 0;
	for (uint32_t i = 0; i < compared_count(gates); i++) {
		struct bt_str type = bt_json_text_at(gates->elements[i], "conditionType");
		struct bt_str copy = bt_arena_str(row->arena, type);
		if (copy.data != NULL && has_condition(row->object, copy.data)) {
			passed++;
		}
	}
	if (gates->count != 0) {
		bt_strbuf_printf(&row->text, "%" PRIu32 "/%" PRIu32, passed, gates->count);
	}
}

/** --- nodes, namespaces, services --- */

static void cell_roles(struct bt_table_row *row)
{
	const struct bt_str prefix = BT_STR("node-role.kubernetes.io/");
	const struct bt_json_value *labels = bt_json_object_at(row->object, "metadata.labels");
	struct bt_str *roles = BT_NEW_ARRAY(struct bt_str, labels->count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct bt_json_member *label = &labels->members[i];
		struct bt_str role = {NULL, 0};
		if (bt_str_has_prefix(label->name, prefix)) {
			role = bt_str_sub(label->name, prefix.length, label->name.length);
		} else if (bt_str_equal(label->name, BT_STR("kubernetes.io/role")) &&
			label->value->type == BT_JSON_STRING) {
			role = label->value->text;
		}
		if (role.length != 0) {
			roles[count++] = role;
		}
	}
	if (count != 0) {
		qsort(roles, count, sizeof(*roles), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || !bt_str_equal(roles[i], roles[i - 1])) {
			append_joined(&row->text, roles[i]);
		}
	}
	bt_free(roles);
}

/** Appends the addresses of the load balancer. */
static void append_balancer(struct bt_table_row *row)
{
	const struct bt_json_value *points =
		bt_json_array_at(row->object, "status.loadBalancer.ingress");
	for (uint32_t i = 0; i < points->count; i++) {
		struct bt_str ip = bt_json_text_at(points->elements[i], "ip");
		struct bt_str host = bt_json_text_at(points->elements[i], "hostname");
		if (ip.length != 0 || host.length != 0) {
			append_joined(&row->text, ip.length != 0 ? ip : host);
		}
	}
}

static void cell_external_ip(struct bt_table_row *row)
{
	struct bt_str type = bt_json_text_at(row->object, "spec.type");
	bool balanced = bt_str_equal(type, BT_STR("LoadBalancer"));
	if (bt_str_equal(type, BT_STR("ExternalName"))) {
		bt_strbuf_append_str(&row->text, bt_json_text_at(row->object, "spec.externalName"));
		return;
	}
	if (balanced) {
		append_balancer(row);
	}
	append_texts(
		&row->text, bt_json_array_at(row->object, "spec.externalIPs"), BT_STR(""), NULL);
	if (row->text.length == 0) {
		bt_strbuf_append_c(&row->text, balanced ? "<pending>" : "<none>");
	}
}

static void cell_ports(struct bt_table_row *row)
{
	const struct bt_json_value *ports = bt_json_array_at(row->object, "spec.ports");
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *port = ports->elements[i];
		struct bt_str protocol = bt_json_text_at(port, "protocol");
		int64_t node_port = bt_json_int64_at(port, "nodePort", 0);
		bt_strbuf_append_c(&row->text, i != 0 ? "," : "");
		bt_strbuf_printf(&row->text, "%" PRId64, bt_json_int64_at(port, "port", 0));
		if (node_port > 0) {
			bt_strbuf_printf(&row->text, ":%" PRId64, node_port);
		}
		bt_strbuf_append_char(&row->text, '/');
		bt_strbuf_append_str(&row->text, protocol.length != 0 ? protocol : BT_STR("TCP"));
	}
}

/** --- data, volumes --- */

/** Appends the access modes RWO, ROX, RWX, RWOP, each once and always in this order. */
static void cell_modes(struct bt_table_row *row)
{
	static const char *const modes[][2] = {{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"},
		{"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
	const struct bt_json_value *array = bt_json_array_at(row->object, row->path);
	for (size_t m = 0; m < BT_ARRAY_LENGTH(modes); m++) {
		if (bt_json_has_text(array, bt_str_from(modes[m][0]))) {
			append_joined(&row->text, bt_str_from(modes[m][1]));
		}
	}
}

/** Unbound claims show no modes. */
static void cell_claim_modes(struct bt_table_row *row)
{
	if (bt_json_text_at(row->object, "spec.volumeName").length != 0) {
		cell_modes(row);
	}
}

/** Writes the storage class: the old annotation, or the spec's class without the annotation. */
static void cell_class(struct bt_table_row *row)
{
	const struct bt_json_value *annotations =
		bt_json_object_at(row->object, "metadata.annotations");
	const struct bt_json_value *old =
		bt_json_get(annotations, BT_STR("volume.beta.kubernetes.io/storage-class"));
	bool has_old = old != NULL && old->type == BT_JSON_STRING;
	bt_strbuf_append_str(&row->text,
		has_old ? old->text : bt_json_text_at(row->object, "spec.storageClassName"));
}

/** --- workloads --- */

static void cell_completions(struct bt_table_row *row)
{
	int64_t succeeded = bt_json_int64_at(row->object, "status.succeeded", 0);
	int64_t completions = bt_json_int64_at(row->object, "spec.completions", -1);
	int64_t parallelism = bt_json_int64_at(row->object, "spec.parallelism", 0);
	/* without completions, one successful pod completes the job */
	bt_strbuf_printf(
		&row->text, "%" PRId64 "/%" PRId64, succeeded, completions < 0 ? 1 : completions);
	if (completions < 0 && parallelism > 1) {
		bt_strbuf_printf(&row->text, " of %" PRId64, parallelism);
	}
}

static void cell_job_duration(struct bt_table_row *row)
{
	int64_t start;
	int64_t end = row->now_ns / BT_NS_PER_SECOND;
	if (time_of(bt_json_text_at(row->object, "status.startTime"), &start)) {
		(void)time_of(bt_json_text_at(row->object, "status.completionTime"), &end);
		bt_table_append_duration(&row->text, end - start);
	}
}

/** Appends "50%" or "100m" from {averageUtilization, averageValue, value}. */
static void append_metric(struct bt_strbuf *out, const struct bt_json_value *value)
{
	int64_t utilization = bt_json_int64_at(value, "averageUtilization", -1);
	struct bt_str average = bt_json_text_at(value, "averageValue");
	struct bt_str total = bt_json_text_at(value, "value");
	if (utilization >= 0) {
		bt_strbuf_printf(out, "%" PRId64 "%%", utilization);
	} else if (average.length != 0) {
		bt_strbuf_append_str(out, average);
	} else if (total.length != 0) {
		bt_strbuf_append_str(out, total);
	} else {
		bt_strbuf_append_c(out, "<unknown>");
	}
}

static void cell_targets(struct bt_table_row *row)
{
	static const char *const sources[][2] = {{"Resource", "resource"}, {"Pods", "pods"},
		{"Object", "object"}, {"External", "external"},
		{"ContainerResource", "containerResource"}};
	enum { SHOWN = 2 };
	const struct bt_json_value *metrics = bt_json_array_at(row->object, "spec.metrics");
	const struct bt_json_value *current =
		bt_json_array_at(row->object, "status.currentMetrics");
	int64_t wanted = bt_json_int64_at(row->object, "spec.targetCPUUtilizationPercentage", -1);
	int64_t used = bt_json_int64_at(row->object, "status.currentCPUUtilizationPercentage", -1);
	for (uint32_t i = 0; i < metrics->count && i < SHOWN; i++) {
		struct bt_str type = bt_json_text_at(metrics->elements[i], "type");
		const char *source = "none";
		for (size_t k = 0; k < BT_ARRAY_LENGTH(sources); k++) {
			source = bt_str_equal_c(type, sources[k][0]) ? sources[k][1] : source;
		}
		const struct bt_json_value *spec = bt_json_object_at(metrics->elements[i], source);
		const struct bt_json_value *status =
			i < current->count ? bt_json_object_at(current->elements[i], source) : NULL;
		bt_strbuf_append_c(&row->text, row->text.length != 0 ? ", " : "");
		if (bt_json_text_at(spec, "name").length != 0) {
			bt_strbuf_append_str(&row->text, bt_json_text_at(spec, "name"));
			bt_strbuf_append_c(&row->text, ": ");
		}
		append_metric(&row->text, bt_json_find(status, "current"));
		bt_strbuf_append_char(&row->text, '/');
		append_metric(&row->text, bt_json_find(spec, "target"));
	}
	if (metrics->count > SHOWN) {
		bt_strbuf_printf(&row->text, " + %" PRIu32 " more...", metrics->count - SHOWN);
	}
	if (wanted >= 0 && used >= 0) {
		bt_strbuf_printf(&row->text, "cpu: %" PRId64 "%%/%" PRId64 "%%", used, wanted);
	} else if (wanted >= 0) {
		bt_strbuf_printf(&row->text, "cpu: <unknown>/%" PRId64 "%%", wanted);
	}
}

/** --- networking, roles --- */

/** Writes the names of the subjects whose kind is row->path. */
static void cell_subjects(struct bt_table_row *row)
{
	const struct bt_json_value *subjects = bt_json_array_at(row->object, "subjects");
	for (uint32_t i = 0; i < subjects->count; i++) {
		const struct bt_json_value *subject = subjects->elements[i];
		if (!bt_str_equal_c(bt_json_text_at(subject, "kind"), row->path)) {
			continue;
		}
		bt_strbuf_append_c(&row->text, row->text.length != 0 ? ", " : "");
		if (bt_str_equal_c(bt_str_from(row->path), "ServiceAccount")) {
			bt_strbuf_append_str(&row->text, bt_json_text_at(subject, "namespace"));
			bt_strbuf_append_char(&row->text, '/');
		}
		bt_strbuf_append_str(&row->text, bt_json_text_at(subject, "name"));
	}
}

static void cell_slice_ports(struct bt_table_row *row)
{
	const struct bt_json_value *ports = bt_json_array_at(row->object, "ports");
	uint32_t count = 0;
	for (uint32_t i = 0; i < ports->count; i++) {
		int64_t port = bt_json_int64_at(ports->elements[i], "port", 0);
		append_first(&row->text, &count,
			port == 0 ? BT_STR("*")
				  : bt_arena_printf(row->arena, "%lld", (long long)port));
	}
	append_more(&row->text, count);
}

static void cell_endpoints(struct bt_table_row *row)
{
	const struct bt_json_value *subsets = bt_json_array_at(row->object, "subsets");
	uint32_t count = 0;
	for (uint32_t i = 0; i < subsets->count; i++) {
		const struct bt_json_value *ports = bt_json_array_at(subsets->elements[i], "ports");
		const struct bt_json_value *addresses =
			bt_json_array_at(subsets->elements[i], "addresses");
		for (uint32_t p = 0; p < (ports->count != 0 ? ports->count : 1); p++) {
			for (uint32_t k = 0; k < addresses->count; k++) {
				struct bt_str ip = bt_json_text_at(addresses->elements[k], "ip");
				bool is_ip6 = bt_str_find_char(ip, ':') >= 0;
				if (ports->count != 0 && count < SHOWN_MAX) {
					ip = bt_arena_printf(row->arena, "%s%.*s%s:%lld",
						is_ip6 ? "[" : "", BT_STR_ARG(ip),
						is_ip6 ? "]" : "",
						(long long)bt_json_int64_at(
							ports->elements[p], "port", 0));
				}
				append_first(&row->text, &count, ip);
			}
		}
	}
	append_more(&row->text, count);
}

/** --- configuration of the cluster --- */

static void cell_controller(struct bt_table_row *row)
{
	const struct bt_json_value *owners =
		bt_json_array_at(row->object, "metadata.ownerReferences");
	for (uint32_t i = 0; i < owners->count; i++) {
		const struct bt_json_value *owner = owners->elements[i];
		struct bt_str group = bt_json_text_at(owner, "apiVersion");
		if (bt_json_bool_at(owner, "controller", false)) {
			struct bt_str first = bt_str_cut(&group, '/');
			bt_strbuf_append_lower(&row->text, bt_json_text_at(owner, "kind"));
			if (group.data != NULL) { /* "v1" has no group */
				bt_strbuf_append_char(&row->text, '.');
				bt_strbuf_append_str(&row->text, first);
			}
			bt_strbuf_append_char(&row->text, '/');
			bt_strbuf_append_str(&row->text, bt_json_text_at(owner, "name"));
			return;
		}
	}
}

/** Writes used and hard amounts of a quota: of limits if the column has a path, else all others. */
static void cell_quota(struct bt_table_row *row)
{
	const struct bt_json_value *hard = bt_json_object_at(row->object, "status.hard");
	const struct bt_json_value *used = bt_json_object_at(row->object, "status.used");
	for (uint32_t i = 0; i < hard->count; i++) {
		struct bt_str name = hard->members[i].name;
		const struct bt_json_value *amount = bt_json_get(used, name);
		if (bt_str_has_prefix(name, BT_STR("limits.")) == (row->path != NULL)) {
			bt_strbuf_printf(&row->text, "%s%.*s: %.*s/%.*s",
				row->text.length != 0 ? ", " : "", BT_STR_ARG(name),
				BT_STR_ARG(amount != NULL ? amount->text : BT_STR("0")),
				BT_STR_ARG(hard->members[i].value->text));
		}
	}
}

static void cell_available(struct bt_table_row *row)
{
	const struct bt_json_value *condition =
		bt_condition_find(bt_json_array_at(row->object, "status.conditions"), "Available");
	struct bt_str status = bt_json_text_at(condition, "status");
	bt_strbuf_append_str(&row->text, status);
	if (status.length != 0 && !bt_str_equal_c(status, "True")) {
		bt_strbuf_printf(
			&row->text, " (%.*s)", BT_STR_ARG(bt_json_text_at(condition, "reason")));
	}
}

static void cell_requested_duration(struct bt_table_row *row)
{
	int64_t seconds = bt_json_int64_at(row->object, "spec.expirationSeconds", 0);
	if (seconds > 0) {
		bt_table_append_duration(&row->text, seconds);
	}
}

/** --- lookup by resource --- */

#define TABLE(group_, resource_) \
	{ \
		.group = (group_), .name = (resource_) \
	}
/* The last arguments: append, path, fallback. */
#define COLUMN(type_, priority_, name_, description_, ...) \
	{ \
		.name = (name_), .type = (type_), .format = "", .description = (description_), \
		.priority = (priority_), .append = __VA_ARGS__ \
	}
/* The last arguments: write, path, fallback. */
#define VALUE(type_, priority_, name_, description_, write_, ...) \
	{ \
		.name = (name_), .type = (type_), .format = "", .description = (description_), \
		.priority = (priority_), .write = (write_), .path = __VA_ARGS__ \
	}
#define CELL(name, description, ...) COLUMN("string", 0, name, description, __VA_ARGS__)
#define WIDE_CELL(name, description, ...) COLUMN("string", 1, name, description, __VA_ARGS__)
#define TEXT(name, description, choices, fallback) \
	FORM(name, description, "{" choices "}", fallback)
#define FORM(name, description, ...) CELL(name, description, cell_form, __VA_ARGS__)
#define WIDE(name, description, choices, fallback) \
	WIDE_CELL(name, description, cell_form, "{" choices "}", fallback)
#define NUMBER(name, description, path) VALUE("string", 0, name, description, cell_int, path)
#define INTEGER(name, description, path) VALUE("integer", 0, name, description, cell_int, path)
#define BOOLEAN(name, description, ...) \
	VALUE("boolean", 0, name, description, cell_bool, __VA_ARGS__)
#define NAMED(description_, priority_, ...) \
	{ \
		.name = "Name", .type = "string", .format = "name", .description = (description_), \
		.priority = (priority_), .append = __VA_ARGS__ \
	}
#define NAME NAMED("Name of the object.", 0, cell_form, "{metadata.name}")
#define CREATED cell_since, "metadata.creationTimestamp", "<unknown>"
#define VOLUME_STATUS "metadata.deletionTimestamp:'Terminating|status.phase"
#define FIRST_SEEN "firstTimestamp|deprecatedFirstTimestamp|eventTime"
#define AGE CELL("Age", "Time since the object was created.", CREATED)
#define CONTAINERS(path) \
	WIDE_CELL("Containers", "Names of the pods' containers.", cell_texts, path ".name"), \
		WIDE_CELL("Images", "Images of the pods' containers.", cell_texts, path ".image")
#define SELECTOR(append, path) \
	WIDE_CELL("Selector", "Selector of the pods.", append, path, "<none>")

/* clang-format off */
const struct bt_table_column bt_table_columns[] = {
	TABLE("scheduling.k8s.io", "workloads"),
	TABLE("", "serviceaccounts"),
	TABLE("resource.k8s.io", "resourceclaimtemplates"),
	TABLE("resource.k8s.io", "deviceclasses"), NAME, AGE,

	TABLE("", "pods"), NAME,
	CELL("Ready", "Ready containers / all containers.", cell_pod_ready),
	CELL("Status", "Phase of the pod, or why its containers do not run.", cell_pod_status),
	CELL("Restarts", "Restarts of the containers, and the time since the last.", cell_restarts),
	AGE,
	WIDE("IP", "Address of the pod.", "status.podIPs[0].ip|status.podIP", "<none>"),
	WIDE("Node", "Node that the pod is bound to.", "spec.nodeName", "<none>"),
	WIDE("Nominated Node", "Node where preemption makes room for the pod.",
		"status.nominatedNodeName", "<none>"),
	WIDE_CELL("Readiness Gates", "True readiness gates / all readiness gates.",
		cell_gates, NULL, "<none>"),

	TABLE("", "nodes"), NAME,
	FORM("Status", "Whether the node is ready and schedulable.",
		"{@Ready.status=True:'Ready|@Ready:'NotReady|'Unknown}"
		"[,{spec.unschedulable:'SchedulingDisabled}]"),
	CELL("Roles", "Roles in the labels of the node.", cell_roles, NULL, "<none>"),
	AGE,
	TEXT("Version", "Version of the kubelet.", "status.nodeInfo.kubeletVersion", ""),
	WIDE("Internal-IP", "Address within the cluster.",
		"status.addresses[?(@.type=='InternalIP')].address", "<none>"),
	WIDE("External-IP", "Address outside of the cluster.",
		"status.addresses[?(@.type=='ExternalIP')].address", "<none>"),
	WIDE("OS-Image", "Operating system of the node.", "status.nodeInfo.osImage", "<unknown>"),
	WIDE("Kernel-Version", "Kernel of the node.", "status.nodeInfo.kernelVersion", "<unknown>"),
	WIDE("Container-Runtime", "Container runtime of the node.",
		"status.nodeInfo.containerRuntimeVersion", "<unknown>"),

	TABLE("", "namespaces"), NAME,
	TEXT("Status", "Active or Terminating.", "status.phase", ""),
	AGE,

	TABLE("", "services"), NAME,
	TEXT("Type", "How the service can be reached.", "spec.type", "ClusterIP"),
	TEXT("Cluster-IP", "Address within the cluster.", "spec.clusterIP", "<none>"),
	CELL("External-IP", "Addresses outside of the cluster.", cell_external_ip),
	CELL("Port(s)", "Ports and node ports.", cell_ports, NULL, "<none>"),
	AGE,
	WIDE_CELL("Selector", "Labels of the selected pods.", cell_labels,
		"spec.selector", "<none>"),

	TABLE("", "events"),
	TABLE("events.k8s.io", "events"),
	CELL("Last Seen", "Time since the last occurrence.", cell_since,
		"series.lastObservedTime|lastTimestamp|deprecatedLastTimestamp|" FIRST_SEEN,
		"<unknown>"),
	TEXT("Type", "Normal or Warning.", "type", ""),
	TEXT("Reason", "Reason of the event, in one word.", "reason", ""),
	FORM("Object", "Object of the event.",
		"{^involvedObject.kind|regarding.kind}/{involvedObject.name|regarding.name}"),
	WIDE("Subobject", "Part of the object.",
		"involvedObject.fieldPath|regarding.fieldPath", ""),
	WIDE_CELL("Source", "Component that reports the event.", cell_form,
		"{source.component|deprecatedSource.component|reportingComponent|"
		"reportingController}[, {source.host|deprecatedSource.host|reportingInstance}]"),
	TEXT("Message", "Description of the event.", "message|note", ""),
	WIDE_CELL("First Seen", "Time since the first occurrence.", cell_since, FIRST_SEEN,
		"<unknown>"),
	VALUE("integer", 1, "Count", "Number of occurrences.", cell_int,
		"series.count:series.count|count:count|deprecatedCount:deprecatedCount|'1"),
	NAMED("Name of the event.", 1, cell_form, "{metadata.name}"),

	TABLE("policy", "poddisruptionbudgets"), NAME,
	TEXT("Min Available", "Pods that must stay available.", "spec.minAvailable", "N/A"),
	TEXT("Max Unavailable", "Pods that may be unavailable.", "spec.maxUnavailable", "N/A"),
	INTEGER("Allowed Disruptions", "Pods that may be evicted now.",
		"status.disruptionsAllowed"),
	AGE,

	TABLE("scheduling.k8s.io", "priorityclasses"), NAME,
	INTEGER("Value", "Priority of pods of this class.", "value"),
	BOOLEAN("Global-Default", "Whether pods without a class get this class.", "globalDefault"),
	AGE,
	TEXT("PreemptionPolicy", "Whether pods of this class preempt others.", "preemptionPolicy",
		"PreemptLowerPriority"),

	TABLE("scheduling.k8s.io", "podgroups"), NAME,
	TEXT("Policy", "Gang (pods are scheduled together) or Basic.",
		"spec.schedulingPolicy.gang:'Gang|'Basic", ""),
	TEXT("Workload", "Workload that the group is part of.",
		"spec.podGroupTemplateRef.workload.workloadName", "<none>"),
	TEXT("Status", "Whether the group is scheduled.",
		"@DisruptionTarget.status=True:@DisruptionTarget.reason|"
		"@PodGroupScheduled.status=True:'Scheduled|"
		"@PodGroupScheduled.status=False:'Unschedulable|'Pending", ""),
	AGE,

	TABLE("coordination.k8s.io", "leases"), NAME,
	TEXT("Holder", "Holder of the lease.", "spec.holderIdentity", ""),
	AGE,

	TABLE("", "configmaps"), NAME,
	VALUE("string", 0, "Data", "Number of entries.", cell_count, "data|binaryData"),
	AGE,

	TABLE("", "secrets"), NAME,
	TEXT("Type", "Type of the secret.", "type", ""),
	VALUE("string", 0, "Data", "Number of entries.", cell_count, "data"),
	AGE,

	TABLE("", "persistentvolumes"), NAME,
	TEXT("Capacity", "Size of the volume.", "spec.capacity.storage", ""),
	CELL("Access Modes", "Ways in which the volume can be mounted.", cell_modes,
		"spec.accessModes"),
	TEXT("Reclaim Policy", "What happens to the volume after its claim is deleted.",
		"spec.persistentVolumeReclaimPolicy", ""),
	TEXT("Status", "Whether the volume is bound.", VOLUME_STATUS, ""),
	FORM("Claim", "Claim that the volume is bound to or reserved for.",
		"[{spec.claimRef.namespace}/{spec.claimRef.name}]"),
	CELL("StorageClass", "Class of the volume.", cell_class),
	TEXT("VolumeAttributesClass", "Class of the volume's attributes.",
		"spec.volumeAttributesClassName", "<unset>"),
	TEXT("Reason", "Reason of the status.", "status.reason", ""),
	AGE,
	WIDE("VolumeMode", "File system or raw block device.", "spec.volumeMode", "<unset>"),

	TABLE("", "persistentvolumeclaims"), NAME,
	TEXT("Status", "Whether the claim is bound.", VOLUME_STATUS, ""),
	TEXT("Volume", "Volume that the claim is bound to.", "spec.volumeName", ""),
	TEXT("Capacity", "Size of the bound volume.",
		"spec.volumeName:status.capacity.storage|spec.volumeName:'0", ""),
	CELL("Access Modes", "Ways in which the bound volume can be mounted.", cell_claim_modes,
		"status.accessModes"),
	CELL("StorageClass", "Storage class that the claim requests.", cell_class),
	TEXT("VolumeAttributesClass", "Class of attributes that the claim requests.",
		"spec.volumeAttributesClassName", "<unset>"),
	AGE,
	WIDE("VolumeMode", "File system or raw block device.", "spec.volumeMode", "<unset>"),

	TABLE("storage.k8s.io", "storageclasses"),
	NAMED("Name of the object.", 0, cell_form,
		"{metadata.name}[ {metadata.annotations['" BT_DEFAULT_CLASS "']=true:'(default)}]"),
	TEXT("Provisioner", "Driver that provisions the volumes.", "provisioner", ""),
	TEXT("ReclaimPolicy", "What happens to volumes after their claims are deleted.",
		"reclaimPolicy", "Delete"),
	TEXT("VolumeBindingMode", "When claims are bound.", "volumeBindingMode", "Immediate"),
	VALUE("string", 0, "AllowVolumeExpansion", "Whether volumes can grow.", cell_bool,
		"allowVolumeExpansion"),
	AGE,

	TABLE("storage.k8s.io", "csinodes"), NAME,
	VALUE("integer", 0, "Drivers", "Number of drivers on the node.", cell_count,
		"spec.drivers"),
	AGE,

	TABLE("storage.k8s.io", "csidrivers"), NAME,
	BOOLEAN("AttachRequired", "Whether volumes have to be attached.", "spec.attachRequired",
		"true"),
	BOOLEAN("PodInfoOnMount", "Whether mounts get data of the pod.", "spec.podInfoOnMount"),
	BOOLEAN("StorageCapacity", "Whether capacity is published.", "spec.storageCapacity"),
	CELL("TokenRequests", "Audiences of tokens for the driver.", cell_texts,
		"spec.tokenRequests.audience", "<unset>"),
	BOOLEAN("RequiresRepublish", "Whether volumes are published repeatedly.",
		"spec.requiresRepublish"),
	CELL("Modes", "Lifecycle modes of volumes that the driver supports.", cell_texts,
		"spec.volumeLifecycleModes", "Persistent"),
	AGE,

	TABLE("storage.k8s.io", "volumeattachments"), NAME,
	TEXT("Attacher", "Driver that attaches the volume.", "spec.attacher", ""),
	TEXT("PV", "Volume that is attached.", "spec.source.persistentVolumeName", ""),
	TEXT("Node", "Node that the volume is attached to.", "spec.nodeName", ""),
	BOOLEAN("Attached", "Whether the volume is attached.", "status.attached"),
	AGE,

	TABLE("resource.k8s.io", "resourceclaims"), NAME,
	FORM("State", "Whether the claim is allocated and reserved.",
		"[~{status.allocation:'allocated}][~{metadata.deletionTimestamp:'deleted}]"
		"[~{status.reservedFor:'reserved}]",
		"pending"),
	AGE,

	TABLE("resource.k8s.io", "resourceslices"), NAME,
	TEXT("Node", "Node that has the devices.", "spec.nodeName", "<unset>"),
	TEXT("Driver", "Driver of the devices.", "spec.driver", ""),
	TEXT("Pool", "Pool that the devices belong to.", "spec.pool.name", ""),
	AGE,

	TABLE("apps", "deployments"), NAME,
	FORM("Ready", "Ready pods / desired pods.", "{status.readyReplicas|'0}/{spec.replicas|'0}"),
	NUMBER("Up-to-date", "Pods of the newest template.", "status.updatedReplicas"),
	NUMBER("Available", "Pods that have been ready for long enough.",
		"status.availableReplicas"),
	AGE,
	CONTAINERS("spec.template.spec.containers"),
	SELECTOR(cell_selector, "spec.selector"),

	TABLE("apps", "replicasets"), NAME,
	INTEGER("Desired", "Desired number of pods.", "spec.replicas"),
	INTEGER("Current", "Pods that exist.", "status.replicas"),
	INTEGER("Ready", "Pods that are ready.", "status.readyReplicas"),
	AGE,
	CONTAINERS("spec.template.spec.containers"),
	SELECTOR(cell_selector, "spec.selector"),

	TABLE("", "replicationcontrollers"), NAME,
	INTEGER("Desired", "Desired number of pods.", "spec.replicas"),
	INTEGER("Current", "Pods that exist.", "status.replicas"),
	INTEGER("Ready", "Pods that are ready.", "status.readyReplicas"),
	AGE,
	CONTAINERS("spec.template.spec.containers"),
	SELECTOR(cell_labels, "spec.selector"),

	TABLE("apps", "statefulsets"), NAME,
	FORM("Ready", "Ready pods / desired pods.", "{status.readyReplicas|'0}/{spec.replicas|'0}"),
	AGE,
	CONTAINERS("spec.template.spec.containers"),

	TABLE("apps", "daemonsets"), NAME,
	INTEGER("Desired", "Nodes that should run a pod.", "status.desiredNumberScheduled"),
	INTEGER("Current", "Nodes that should run a pod and have one.",
		"status.currentNumberScheduled"),
	INTEGER("Ready", "Nodes whose pod is ready.", "status.numberReady"),
	INTEGER("Up-to-date", "Nodes whose pod is of the newest template.",
		"status.updatedNumberScheduled"),
	INTEGER("Available", "Nodes whose pod has been ready for long enough.",
		"status.numberAvailable"),
	CELL("Node Selector", "Labels of the nodes that run a pod.", cell_labels,
		"spec.template.spec.nodeSelector", "<none>"),
	AGE,
	CONTAINERS("spec.template.spec.containers"),
	SELECTOR(cell_selector, "spec.selector"),

	TABLE("batch", "jobs"), NAME,
	TEXT("Status", "Whether the job runs, or how it ended.",
		"@Complete.status=True:'Complete|@Failed.status=True:'Failed|"
		"metadata.deletionTimestamp:'Terminating|@Suspended.status=True:'Suspended|"
		"@FailureTarget.status=True:'FailureTarget|"
		"@SuccessCriteriaMet.status=True:'SuccessCriteriaMet|'Running", ""),
	CELL("Completions", "Succeeded pods / required successes.", cell_completions),
	CELL("Duration", "Time that the job took, or has taken so far.", cell_job_duration),
	AGE,
	CONTAINERS("spec.template.spec.containers"),
	SELECTOR(cell_selector, "spec.selector"),

	TABLE("batch", "cronjobs"), NAME,
	TEXT("Schedule", "When jobs are started.", "spec.schedule", ""),
	TEXT("Timezone", "Time zone of the schedule.", "spec.timeZone", "<none>"),
	TEXT("Suspend", "Whether the start of jobs is suspended.", "spec.suspend:'True|'False", ""),
	VALUE("integer", 0, "Active", "Running jobs.", cell_count, "status.active"),
	CELL("Last Schedule", "Time since the last start of a job.", cell_since,
		"status.lastScheduleTime", "<none>"),
	AGE,
	CONTAINERS("spec.jobTemplate.spec.template.spec.containers"),
	SELECTOR(cell_selector, "spec.jobTemplate.spec.selector"),

	TABLE("autoscaling", "horizontalpodautoscalers"), NAME,
	FORM("Reference", "Object that is scaled.",
		"{spec.scaleTargetRef.kind}/{spec.scaleTargetRef.name}"),
	CELL("Targets", "Current values / target values of the metrics.",
		cell_targets, NULL, "<none>"),
	TEXT("MinPods", "Smallest number of pods.", "spec.minReplicas", "<unset>"),
	NUMBER("MaxPods", "Largest number of pods.", "spec.maxReplicas"),
	NUMBER("Replicas", "Current number of pods.", "status.currentReplicas"),
	AGE,

	TABLE("rbac.authorization.k8s.io", "clusterrolebindings"),
	TABLE("rbac.authorization.k8s.io", "rolebindings"), NAME,
	FORM("Role", "Role that is bound.", "{roleRef.kind}/{roleRef.name}"),
	AGE,
	WIDE_CELL("Users", "Users of the role.", cell_subjects, "User"),
	WIDE_CELL("Groups", "Groups of the role.", cell_subjects, "Group"),
	WIDE_CELL("ServiceAccounts", "Service accounts of the role.", cell_subjects,
		"ServiceAccount"),

	TABLE("node.k8s.io", "runtimeclasses"), NAME,
	TEXT("Handler", "Runtime handler of the containers.", "handler", ""),
	AGE,

	TABLE("networking.k8s.io", "ingresses"), NAME,
	TEXT("Class", "IngressClass of the ingress.", "spec.ingressClassName", "<none>"),
	CELL("Hosts", "Hosts of the rules.", cell_short_list, "spec.rules.host", "*"),
	CELL("Address", "Addresses of the ingress.", append_balancer),
	FORM("Ports", "Ports that are open.", "80[, {spec.tls:'443}]"),
	AGE,

	TABLE("discovery.k8s.io", "endpointslices"), NAME,
	TEXT("AddressType", "Kind of the addresses.", "addressType", ""),
	CELL("Ports", "Ports of the endpoints.", cell_slice_ports, NULL, "<unset>"),
	CELL("Endpoints", "Addresses of the endpoints.", cell_short_list, "endpoints.addresses",
		"<unset>"),
	AGE,

	TABLE("", "endpoints"), NAME,
	CELL("Endpoints", "Addresses and ports of the endpoints.", cell_endpoints, NULL, "<none>"),
	AGE,

	TABLE("", "resourcequotas"), NAME, AGE,
	CELL("Request", "Used / largest requests and numbers of objects.", cell_quota),
	CELL("Limit", "Used / largest limits.", cell_quota, "limits"),

	TABLE("", "podtemplates"), NAME,
	CELL("Containers", "Names of the pods' containers.", cell_texts,
		"template.spec.containers.name"),
	CELL("Images", "Images of the pods' containers.", cell_texts,
		"template.spec.containers.image"),
	CELL("Pod Labels", "Labels of the pods.", cell_labels, "template.metadata.labels",
		"<none>"),

	TABLE("apps", "controllerrevisions"), NAME,
	CELL("Controller", "Workload that the revision belongs to.", cell_controller, NULL,
		"<none>"),
	INTEGER("Revision", "Number of the revision.", "revision"),
	AGE,

	TABLE("networking.k8s.io", "networkpolicies"), NAME,
	CELL("Pod-Selector", "Selector of the pods.", cell_selector, "spec.podSelector", "<none>"),
	AGE,

	TABLE("networking.k8s.io", "ingressclasses"), NAME,
	TEXT("Controller", "Controller of the class.", "spec.controller", ""),
	FORM("Parameters", "Object with parameters of the controller.",
		"[{spec.parameters.kind}[.{spec.parameters.apiGroup}]/{spec.parameters.name}]",
		"<none>"),
	AGE,

	TABLE("networking.k8s.io", "servicecidrs"), NAME,
	CELL("CIDRs", "Ranges of cluster IPs.", cell_texts, "spec.cidrs", "<none>"),
	AGE,

	TABLE("networking.k8s.io", "ipaddresses"), NAME,
	FORM("ParentRef", "Object that has the address.",
		"{spec.parentRef.resource}[.{spec.parentRef.group}]/[{spec.parentRef.namespace}/]"
		"{spec.parentRef.name}"),

	TABLE("storage.k8s.io", "volumeattributesclasses"), NAME,
	TEXT("DriverName", "Driver of the volumes.", "driverName", ""),
	AGE,

	TABLE("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
	TABLE("admissionregistration.k8s.io", "validatingwebhookconfigurations"), NAME,
	VALUE("integer", 0, "Webhooks", "Number of webhooks.", cell_count, "webhooks"),
	AGE,

	TABLE("admissionregistration.k8s.io", "validatingadmissionpolicies"), NAME,
	VALUE("integer", 0, "Validations", "Number of validations.", cell_count,
		"spec.validations"),
	FORM("ParamKind", "Kind of the parameters.",
		"[{spec.paramKind.apiVersion}/{spec.paramKind.kind}]", "<unset>"),
	AGE,

	TABLE("admissionregistration.k8s.io", "mutatingadmissionpolicies"), NAME,
	VALUE("integer", 0, "Mutations", "Number of mutations.", cell_count, "spec.mutations"),
	FORM("ParamKind", "Kind of the parameters.",
		"[{spec.paramKind.apiVersion}/{spec.paramKind.kind}]", "<unset>"),
	AGE,

	TABLE("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
	TABLE("admissionregistration.k8s.io", "validatingadmissionpolicybindings"), NAME,
	TEXT("PolicyName", "Policy that is bound.", "spec.policyName", ""),
	TEXT("ParamRef", "Parameters of the policy.", "spec.paramRef.name", "<unset>"),
	AGE,

	TABLE("apiregistration.k8s.io", "apiservices"), NAME,
	FORM("Service", "Service of the API, or Local.",
		"[{spec.service.namespace}/{spec.service.name}]", "Local"),
	CELL("Available", "Whether the API is available.", cell_available),
	AGE,

	TABLE("certificates.k8s.io", "certificatesigningrequests"), NAME, AGE,
	TEXT("SignerName", "Signer of the request.", "spec.signerName", ""),
	TEXT("Requestor", "User that made the request.", "spec.username", ""),
	CELL("RequestedDuration", "Requested lifetime of the certificate.",
		cell_requested_duration, NULL, "<none>"),
	FORM("Condition", "Whether the request is approved, denied, failed, issued.",
		"[~{@Approved.status=True:'Approved}][~{@Denied.status=True:'Denied}]"
		"[~{@Failed.status=True:'Failed}][~{status.certificate:'Issued}]",
		"Pending"),

	TABLE("autoscaling", "scales"), NAME,
	INTEGER("Desired", "Number of pods that are wanted.", "spec.replicas"),
	INTEGER("Available", "Number of pods that there are.", "status.replicas"),
	AGE,

	TABLE("flowcontrol.apiserver.k8s.io", "flowschemas"), NAME,
	TEXT("PriorityLevel", "Priority level of the requests.",
		"spec.priorityLevelConfiguration.name", ""),
	INTEGER("MatchingPrecedence", "Order in which the schemas are tried.",
		"spec.matchingPrecedence"),
	TEXT("DistinguisherMethod", "How flows are told apart.", "spec.distinguisherMethod.type",
		"<none>"),
	AGE,
	TEXT("MissingPL", "Whether the priority level is missing.",
		"@Dangling.status", "?"),

	TABLE("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"), NAME,
	TEXT("Type", "Limited or Exempt.", "spec.type", ""),
	TEXT("NominalConcurrencyShares", "Share of the requests served at a time.",
		"spec.limited.nominalConcurrencyShares|spec.exempt.nominalConcurrencyShares",
		"<none>"),
	TEXT("Queues", "Number of queues.", "spec.limited.limitResponse.queuing.queues", "<none>"),
	TEXT("HandSize", "Number of queues of a flow.",
		"spec.limited.limitResponse.queuing.handSize", "<none>"),
	TEXT("QueueLengthLimit", "Largest length of a queue.",
		"spec.limited.limitResponse.queuing.queueLengthLimit", "<none>"),
	AGE,
	{.group = ""},
};
/* clang-format on */

/**
 * Returns the columns of a resource. Custom resources have name and age. But if the definition has
 * columns (*out_has_own), only the name is returned, and the definition's columns follow it.
 */
static const struct bt_table_column *columns_of(
	const struct bt_api_resource *resource, bool *out_has_own)
{
	static const struct bt_table_column other[] = {NAME,
		COLUMN("date", 0, "Created At", "Time at which the object was created.", cell_form,
			"{metadata.creationTimestamp}", "<unknown>"),
		{.group = ""}};
	static const struct bt_table_column without_own[] = {NAME,
		COLUMN("date", 0, "Age", "Time since the object was created.", CREATED),
		{.group = ""}};
	static const struct bt_table_column with_own[] = {NAME, {.group = ""}};
	bool is_custom = (resource->flags & BT_RESOURCE_CUSTOM) != 0;
	*out_has_own = is_custom && bt_table_custom_columns(resource)->count != 0;
	if (is_custom) {
		return *out_has_own ? with_own : without_own;
	}
	for (const struct bt_table_column *row = bt_table_columns; row->name != NULL; row++) {
		if (row->group != NULL && strcmp(row->name, resource->name) == 0 &&
			strcmp(row->group, resource->group) == 0) {
			while (row->group != NULL) { /* skip resources that share the columns */
				row++;
			}
			return row;
		}
	}
	return other;
}

void bt_table_write_columns(const struct bt_api_resource *resource, struct bt_json_writer *writer)
{
	bool has_own;
	const struct bt_table_column *column = columns_of(resource, &has_own);
	bt_json_begin_array(writer);
	for (; column->group == NULL; column++) {
		bt_json_write(writer,
			"{name: %c, type: %c, format: %c, description: %c, priority: %d}",
			column->name, column->type, column->format, column->description,
			(int64_t)column->priority);
	}
	if (has_own) {
		bt_table_write_custom_columns(resource, writer);
	}
	bt_json_end_array(writer);
}

void bt_table_write_cells(const struct bt_api_resource *resource,
	const struct bt_json_value *object, int64_t now_ns, struct bt_arena *arena,
	struct bt_json_writer *writer)
{
	struct bt_table_row row = {
		.object = object, .now_ns = now_ns, .arena = arena, .writer = writer};
	bool has_own;
	const struct bt_table_column *column = columns_of(resource, &has_own);
	bt_json_begin_array(writer);
	for (; column->group == NULL; column++) {
		row.path = column->path;
		row.fallback = column->fallback;
		if (column->write != NULL) {
			column->write(&row);
			continue;
		}
		bt_strbuf_reset(&row.text);
		column->append(&row);
		bt_json_write_str(writer,
			row.text.length == 0 && column->fallback != NULL
				? bt_str_from(column->fallback)
				: bt_strbuf_str(&row.text));
	}
	if (has_own) {
		bt_table_write_custom_cells(resource, &row);
	}
	bt_strbuf_finish(&row.text);
	bt_strbuf_finish(&row.pod.status);
	bt_json_end_array(writer);
}
