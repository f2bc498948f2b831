/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Serves logs, and exec and attach over WebSocket: channels 1 (output) and 3 (the Status at the
 * end) of the subprotocols v5.channel.k8s.io and v4.channel.k8s.io. Spec: 14 section 17.
 */
#include "base/alloc.h"
#include "codec/json_edit.h"
#include "server/front_private.h"

#define CHANNEL_OUTPUT 1
#define CHANNEL_STATUS 3
/* Followed logs and attached streams end after a day. They count towards watches_max. */
#define FOLLOW_SECONDS 86400

struct connection {
	struct bt_watch_link link; /* wakes the connection at changes of pods */
	struct bt_front_call *call;
	struct bt_str text;
	uint32_t text_at;
	struct bt_str container;
	struct bt_str uid; /* of the pod */
	uint8_t exit_code;
	bool runs_on; /* the connection stays open until the container ends */
	bool is_framed;
	bool status_is_sent;
};

void bt_front_resume(void *context)
{
	struct bt_front_call *call = context;
	call->front->wire->wake(call->exchange);
}

static int64_t read_connection(void *context, char *buffer, size_t capacity)
{
	struct connection *connection = context;
	size_t filled = 0;
	connection->link.is_waiting = false;
	if (connection->text_at < connection->text.length) {
		size_t left = connection->text.length - connection->text_at;
		if (connection->is_framed) {
			buffer[filled++] = CHANNEL_OUTPUT;
		}
		left = left < capacity - filled ? left : capacity - filled;
		memcpy(buffer + filled, connection->text.data + connection->text_at, left);
		connection->text_at += (uint32_t)left;
		return (int64_t)(filled + left);
	}
	if (connection->runs_on) {
		const struct bt_api *api = connection->call->front->api;
		const struct bt_api_request *request = &connection->call->api;
		struct bt_arena arena = {0};
		const struct bt_stored *stored =
			bt_store_find(bt_api_store(api), request->resource->collection,
				bt_api_key(&arena, request->namespace_, request->name));
		connection->runs_on = stored != NULL && !connection->link.end_is_due;
		if (connection->runs_on) {
			const struct bt_json_value *pod = bt_api_parse_stored(stored, &arena);
			connection->runs_on = bt_str_equal(bt_json_text_at(pod, "metadata.uid"),
						      connection->uid) &&
				bt_pod_container_runs(pod, connection->container);
		}
		bt_arena_finish(&arena);
		if (connection->runs_on) {
			connection->link.is_waiting = true;
			return BT_HTTP_STREAM_WAIT;
		}
	}
	if (connection->is_framed && !connection->status_is_sent) {
		/* kubectl takes the exit code from the Status */
		struct bt_strbuf status = {0};
		if (connection->exit_code == 0) {
			bt_strbuf_append_c(&status, "{\"metadata\":{},\"status\":\"Success\"}");
		} else {
			bt_strbuf_printf(&status,
				"{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command "
				"terminated with non-zero exit code: command terminated with exit "
				"code %u\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":"
				"[{\"reason\":\"ExitCode\",\"message\":\"%u\"}]}}",
				connection->exit_code, connection->exit_code);
		}
		connection->status_is_sent = true;
		buffer[0] = CHANNEL_STATUS;
		memcpy(buffer + 1, status.data, status.length); /* a few hundred bytes fit */
		filled = status.length + 1;
		bt_strbuf_finish(&status);
		return (int64_t)filled;
	}
	return BT_HTTP_STREAM_END;
}

static void finish_connection(void *context)
{
	struct connection *connection = context;
	bt_watchers_remove(connection->call->front->watchers, &connection->link);
	bt_free(connection);
}

/** Checks the headers of a WebSocket upgrade. false: sets call->failure. */
static bool check_upgrade(struct bt_front_call *call, const char **out_protocol)
{
	static const char *const known[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
	const struct bt_connect_options *options = &call->query.connect;
	struct bt_str upgrade = bt_front_find_header(call, "Upgrade");
	if (!options->takes_input && !options->takes_output && !options->takes_errors) {
		return bt_front_fail(call, 400, "BadRequest",
			"you must specify at least one of stdin, stdout, stderr");
	}
	if (bt_str_has_prefix(upgrade, BT_STR("SPDY/"))) {
		return bt_front_fail(call, 400, "BadRequest",
			"exec and attach are served over WebSocket (v5.channel.k8s.io, "
			"v4.channel.k8s.io), not over SPDY: use kubectl v1.31 or later");
	}
	if (!bt_http_is_websocket_upgrade(bt_front_find_header(call, "Connection"), upgrade) ||
		!bt_str_equal_c(call->request.method, "GET")) {
		return bt_front_fail(call, 400, "BadRequest", "Upgrade request required");
	}
	/* the server's preferred protocol among those that the client offers */
	*out_protocol = NULL;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(known) && *out_protocol == NULL; i++) {
		struct bt_str given = bt_front_find_header(call, "Sec-WebSocket-Protocol");
		while (given.length != 0) {
			struct bt_str name = bt_str_trim(bt_str_cut(&given, ','), BT_STR_SPACE);
			*out_protocol = bt_str_equal_c(name, known[i]) ? known[i] : *out_protocol;
		}
	}
	if (*out_protocol == NULL ||
		!bt_str_equal_c(bt_front_find_header(call, "Sec-WebSocket-Version"), "13") ||
		bt_front_find_header(call, "Sec-WebSocket-Key").length == 0) {
		return bt_front_fail(call, 400, "BadRequest",
			"the WebSocket must be of version 13, with a key, and of a subprotocol "
			"that "
			"is served: v5.channel.k8s.io, v4.channel.k8s.io");
	}
	/*
	 * WebSocket requests are GETs, but need the right to create in addition to the right to
	 * get.
	 */
	struct bt_str reason;
	struct bt_access access = {.user = &call->user,
		.verb = BT_STR("create"),
		.namespace_ = call->route.namespace_,
		.resource = bt_str_from(call->route.resource->name),
		.subresource = bt_str_from(bt_subresource_name(call->route.subresource)),
		.name = call->route.name};
	if (bt_user_has_group(&call->user, "system:masters") ||
		bt_api_authorize(call->front->api, &access, &call->arena, &reason)) {
		return true;
	}
	bt_rbac_forbid(&access, reason, &call->arena, &call->failure);
	return false;
}

bool bt_front_connect(struct bt_front_call *call)
{
	struct bt_front *front = call->front;
	bool is_log = call->api.subresource == BT_SUBRESOURCE_LOG;
	const char *protocol = NULL;
	struct bt_api_answer answer;
	call->api.connect = &call->query.connect;
	bt_api_perform(front->api, &call->api, &call->arena, &answer);
	call->failure = answer.failure;
	if (call->failure.code != 0 || (!is_log && !check_upgrade(call, &protocol))) {
		return false;
	}
	bool follows = answer.runs_on && (!is_log || call->query.connect.follow);
	if (is_log && !follows) {
		bt_front_send_text(call, answer.code, answer.text.data);
		return true;
	}
	if (bt_front_refuse_further(call)) {
		return false;
	}
	struct connection *connection = BT_NEW(struct connection);
	*connection = (struct connection){
		.link = {.wake = bt_front_resume, .wake_context = call},
		.call = call,
		.text = is_log || call->query.connect.takes_output ? answer.text : BT_STR(""),
		.container = bt_arena_str(&call->arena, answer.container),
		.uid = bt_arena_str(&call->arena, answer.uid),
		.exit_code = answer.exit_code,
		.runs_on = follows,
		.is_framed = !is_log,
	};
	bt_watchers_add(front->watchers, &connection->link, call->api.resource->collection,
		bt_loop_now_ns(front->loop), FOLLOW_SECONDS, false);
	struct bt_http_stream stream = {connection, read_connection, finish_connection};
	if (is_log) {
		bt_front_send_stream(call, "text/plain; charset=utf-8", &stream);
	} else {
		bt_front_send_websocket(call, protocol, &stream);
	}
	return true;
}
