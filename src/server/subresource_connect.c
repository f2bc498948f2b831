/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Logs, exec and attach of simulated pods. Other connections, such as port forwarding, are refused.
 * Spec: 14 section 17.
 */
#include "api/time.h"
#include "base/nanoseconds.h"
#include "server/write.h"

/**
 * Annotations of a pod: the log of each of its containers, and the output and exit code of any
 * command that kubectl exec runs.
 */
#define BT_ANNOTATION_LOG "berth.dev/log"
#define BT_ANNOTATION_EXEC "berth.dev/exec"
#define BT_ANNOTATION_EXEC_EXIT_CODE "berth.dev/exec-exit-code"

static const char *const container_lists[] = {
	"containers", "initContainers", "ephemeralContainers"};
static const char *const status_lists[] = {"status.containerStatuses",
	"status.initContainerStatuses", "status.ephemeralContainerStatuses"};

static void append_names(struct bt_strbuf *text, const struct bt_json_value *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bt_strbuf_append_c(text, i != 0 ? " " : "");
		bt_strbuf_append_str(text, bt_json_text_at(list->elements[i], "name"));
	}
}

/**
 * Returns the container with this name or, if `name` is empty, the only container of the pod.
 * Absent: the call failed.
 */
static struct bt_str choose_container(
	struct bt_call *call, const struct bt_json_value *pod, struct bt_str name)
{
	static const struct bt_str none = {NULL, 0};
	const struct bt_json_value *spec = bt_json_object_at(pod, "spec");
	const struct bt_json_value *containers = bt_json_array_at(spec, "containers");
	if (name.length != 0) {
		for (size_t i = 0; i < BT_ARRAY_LENGTH(container_lists); i++) {
			if (bt_json_element_with(bt_json_array_at(spec, container_lists[i]), "name",
				    name) != NULL) {
				return name;
			}
		}
		(void)bt_call_refuse(call, 400, "BadRequest",
			"container %.*s is not valid for pod %.*s", BT_STR_ARG(name),
			BT_STR_ARG(call->write.name));
		return none;
	}
	if (containers->count == 1) {
		return bt_json_text_at(containers->elements[0], "name");
	}
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "a container name must be specified for pod %.*s, choose one of: [",
		BT_STR_ARG(call->write.name));
	append_names(&text, containers);
	bt_strbuf_append_c(&text, "]");
	if (bt_json_array_at(spec, "initContainers")->count != 0) {
		bt_strbuf_append_c(&text, " or one of the init containers: [");
		append_names(&text, bt_json_array_at(spec, "initContainers"));
		bt_strbuf_append_c(&text, "]");
	}
	(void)bt_call_refuse(call, 400, "BadRequest", "%.*s", BT_STR_ARG(bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	return none;
}

static const struct bt_json_value *find_status(
	const struct bt_json_value *pod, struct bt_str container)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(status_lists); i++) {
		const struct bt_json_value *found = bt_json_element_with(
			bt_json_array_at(pod, status_lists[i]), "name", container);
		if (found != NULL) {
			return found;
		}
	}
	return NULL;
}

bool bt_pod_container_runs(const struct bt_json_value *pod, struct bt_str container)
{
	return bt_json_find_path(find_status(pod, container), "state.running") != NULL;
}

/**
 * Reads a whole number that is at least `min` from an option. Does not change *out if the option is
 * empty. Returns false and adds an error if the option is invalid.
 */
static bool read_number(struct bt_field_errors *errors, struct bt_str text, const char *name,
	int64_t min, int64_t *out)
{
	struct bt_json_value shown = {.type = BT_JSON_NUMBER, .text = text};
	if (text.length == 0) {
		return true;
	}
	if (!bt_str_parse_int64(text, out)) {
		shown.type = BT_JSON_STRING;
		bt_field_errors_add(errors, BT_FIELD_INVALID, bt_str_from(name), &shown,
			"must be a whole number");
	} else if (*out < min) {
		bt_field_errors_add(errors, BT_FIELD_INVALID, bt_str_from(name), &shown,
			min == 0 ? "must be greater than or equal to 0" : "must be greater than 0");
	}
	return errors->count == 0;
}

/**
 * Answers with the part of the log that the options select. All lines count as written at
 * started_ns. false: the call failed.
 */
static bool cut_log(struct bt_call *call, const struct bt_connect_options *options,
	struct bt_str log, int64_t started_ns)
{
	struct bt_field_errors errors = {.arena = call->arena};
	struct bt_time since = {0};
	struct bt_strbuf out = {0};
	int64_t lines = INT64_MAX;
	int64_t seconds = 0;
	int64_t bytes = INT64_MAX;
	if (options->since_seconds.length != 0 && options->since_time.length != 0) {
		bt_field_errors_add(&errors, BT_FIELD_FORBIDDEN, BT_STR(""), NULL,
			"at most one of `sinceTime` or `sinceSeconds` may be specified");
	}
	if (options->since_time.length != 0 &&
		bt_time_parse(options->since_time, &since, NULL) != 0) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("sinceTime"), NULL,
			"must be a time of RFC 3339");
	}
	if (!read_number(&errors, options->tail_lines, "tailLines", 0, &lines) ||
		!read_number(&errors, options->since_seconds, "sinceSeconds", 1, &seconds) ||
		!read_number(&errors, options->limit_bytes, "limitBytes", 1, &bytes)) {
		return bt_fail_invalid(&call->answer->failure, call->arena, BT_STR(""),
			BT_STR("PodLogOptions"), call->write.name, &errors);
	}
	int64_t now_ns = bt_api_now_ns(call->api);
	if ((seconds != 0 && started_ns / BT_NS_PER_SECOND < now_ns / BT_NS_PER_SECOND - seconds) ||
		(since.set && started_ns / BT_NS_PER_SECOND < since.seconds)) {
		log = BT_STR("");
	}
	struct bt_str rest = log;
	int64_t total = 0;
	while (rest.length != 0) {
		(void)bt_str_cut(&rest, '\n');
		total++;
	}
	struct bt_str stamp = bt_time_text(call->arena, started_ns);
	for (int64_t i = 0; log.length != 0; i++) {
		uint32_t before = log.length;
		const char *start = log.data;
		(void)bt_str_cut(&log, '\n');
		if (i < total - lines) {
			continue;
		}
		if (options->timestamps) {
			bt_strbuf_printf(
				&out, "%.*s.000000000Z ", (int)stamp.length - 1, stamp.data);
		}
		bt_strbuf_append(&out, start, before - log.length);
	}
	struct bt_str text = bt_strbuf_str(&out);
	call->answer->text =
		bt_arena_str(call->arena, bt_str_sub(text, 0, (uint32_t)BT_MIN(bytes, BT_STR_MAX)));
	call->answer->code = 200;
	bt_strbuf_finish(&out);
	return true;
}

static void answer_bad_container(struct bt_call *call, struct bt_str container, const char *lack)
{
	(void)bt_call_refuse(call, 400, "BadRequest", "container \"%.*s\" in pod \"%.*s\" %s",
		BT_STR_ARG(container), BT_STR_ARG(call->write.name), lack);
}

static void answer_log(struct bt_call *call, const struct bt_connect_options *options,
	const struct bt_json_value *pod, struct bt_str container, struct bt_str log)
{
	const struct bt_json_value *status = find_status(pod, container);
	struct bt_str reason = bt_json_text_at(status, "state.waiting.reason");
	struct bt_str started = bt_json_text_at(status, "lastState.terminated.startedAt");
	if (options->previous) {
		if (started.length == 0) {
			(void)bt_call_refuse(call, 400, "BadRequest",
				"previous terminated container \"%.*s\" in pod \"%.*s\" not found",
				BT_STR_ARG(container), BT_STR_ARG(call->write.name));
			return;
		}
	} else {
		started = bt_json_text_at(status, "state.running.startedAt");
		if (started.length == 0) {
			started = bt_json_text_at(status, "state.terminated.startedAt");
		}
		if (bt_json_text_at(pod, "spec.nodeName").length == 0) {
			call->answer->text = BT_STR("");
			call->answer->code = 204;
			return;
		}
		if (started.length == 0) {
			answer_bad_container(call, container,
				bt_arena_printf(call->arena, "is waiting to start: %.*s",
					BT_STR_ARG(reason.length != 0
							? reason
							: BT_STR("ContainerCreating")))
					.data);
			return;
		}
	}
	/* A client may have written an invalid time. */
	struct bt_time time = bt_time_or_zero(started);
	if (cut_log(call, options, log, time.seconds * BT_NS_PER_SECOND)) {
		call->answer->runs_on = !options->previous && bt_pod_container_runs(pod, container);
	}
}

void bt_call_connect(struct bt_call *call)
{
	static const struct bt_connect_options none = {0};
	const struct bt_connect_options *options =
		call->request->connect != NULL ? call->request->connect : &none;
	struct bt_stored *stored = bt_call_find(call);
	enum bt_subresource subresource = call->write.subresource;
	if (stored == NULL) {
		return;
	}
	if (subresource == BT_SUBRESOURCE_PROXY) {
		(void)bt_call_refuse(call, 503, "ServiceUnavailable",
			"no endpoints available: this is a simulated node");
		return;
	}
	if (subresource != BT_SUBRESOURCE_LOG) {
		const struct bt_json_value *connect = bt_json_put(call->arena, NULL,
			"{container?: %s, command: %v, stdin?: %b, stdout?: %b, stderr?: %b, "
			"tty?: %b}",
			options->container, options->command, options->takes_input,
			options->takes_output, options->takes_errors, options->is_terminal);
		if (!bt_policies_validate(call, "CONNECT", NULL, connect)) {
			return;
		}
	}
	const struct bt_json_value *pod = bt_api_parse_stored(stored, call->arena);
	const struct bt_json_value *annotations = bt_json_object_at(pod, "metadata.annotations");
	const struct bt_json_value *text = bt_json_get(annotations,
		bt_str_from(subresource == BT_SUBRESOURCE_EXEC ? BT_ANNOTATION_EXEC
							       : BT_ANNOTATION_LOG));
	if (subresource == BT_SUBRESOURCE_PORT_FORWARD) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"pod \"%.*s\" has no ports to forward to: this is a simulated node",
			BT_STR_ARG(call->write.name));
		return;
	}
	struct bt_str container = choose_container(call, pod, options->container);
	call->answer->container = container;
	call->answer->uid = bt_json_text_at(pod, "metadata.uid");
	if (call->answer->failure.code != 0) {
		return;
	}
	if (text == NULL || text->type != BT_JSON_STRING) {
		answer_bad_container(call, container,
			subresource == BT_SUBRESOURCE_LOG ? "has no logs: this is a simulated node"
				: subresource == BT_SUBRESOURCE_EXEC
				? "runs no commands: this is a simulated node; the annotation "
				  "berth.dev/exec of the pod sets their output"
				: "has no output: this is a simulated node; the annotation "
				  "berth.dev/log of the pod sets the output");
	} else if (subresource == BT_SUBRESOURCE_LOG) {
		answer_log(call, options, pod, container, text->text);
	} else if (bt_json_text_at(pod, "spec.nodeName").length == 0) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"pod %.*s does not have a host assigned", BT_STR_ARG(call->write.name));
	} else if (!bt_pod_container_runs(pod, container)) {
		(void)bt_call_refuse(call, 500, "InternalError",
			"unable to upgrade connection: container not found (\"%.*s\")",
			BT_STR_ARG(container));
	} else {
		struct bt_str code = bt_json_find_str(annotations, BT_ANNOTATION_EXEC_EXIT_CODE);
		int64_t number;
		call->answer->code = 200;
		call->answer->text = bt_arena_str(call->arena, text->text);
		call->answer->runs_on = subresource == BT_SUBRESOURCE_ATTACH;
		call->answer->exit_code = subresource == BT_SUBRESOURCE_EXEC &&
				bt_str_parse_int64(code, &number) && number >= 0 && number <= 255
			? (uint8_t)number
			: 0;
	}
}
