/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/writes.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "cluster/typed.h"
#include "plugins/preemption_executor.h"
#include "server/query.h"
#include "server/routes.h"

static const struct bt_user scheduler_user = {
	.name = BT_STR_INIT("system:kube-scheduler"),
	.group_count = 1,
	.groups = (const struct bt_str[]){BT_STR_INIT("system:masters")},
};

/** Returns a request by the scheduler's user. */
static struct bt_api_request make_request(enum bt_verb verb, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = verb;
	request.resource = resource;
	request.namespace_ = namespace_;
	request.name = name;
	request.user = &scheduler_user;
	request.field_manager = BT_STR("kube-scheduler");
	return request;
}

/** --- events --- */

/**
 * Sends the JSON in event_text. Returns the answer's code, or 0 if event_text is not valid JSON. A
 * refused event is not sent again.
 */
static uint16_t send_event(struct bt_cluster_writes *writes, struct bt_api_request *request)
{
	struct bt_api_answer answer = {.code = 0};
	bt_arena_reset(&writes->event_arena);
	if (bt_json_parse(&writes->event_arena, bt_strbuf_str(&writes->event_text), false,
		    &request->body, NULL) == 0) {
		bt_api_perform(writes->api, request, &writes->event_arena, &answer);
		bt_api_answer_finish(&answer);
	}
	return answer.code;
}

static void deliver_event(void *context, const struct bt_event_delivery *event, bool patches)
{
	struct bt_cluster_writes *writes = context;
	const struct bt_api_resource *events =
		bt_resources_builtin(bt_api_resources(writes->api), "events.k8s.io", "events");
	struct bt_str namespace_ = bt_event_record_namespace(event->record);

	if (patches) {
		struct bt_strbuf name = {0};
		bt_strbuf_reset(&writes->event_text);
		bt_event_record_append_name(event->record, &name);
		bt_event_record_write_series(
			event->series_count, event->series_ns, &writes->event_text);
		struct bt_api_request patch =
			make_request(BT_VERB_PATCH, events, namespace_, bt_strbuf_str(&name));
		patch.patch_type = BT_PATCH_STRATEGIC;
		uint16_t code = send_event(writes, &patch);
		bt_strbuf_finish(&name);
		if (code != 404) {
			return;
		}
	}
	struct bt_api_request request =
		make_request(BT_VERB_CREATE, events, namespace_, BT_STR(""));
	bt_strbuf_reset(&writes->event_text);
	bt_event_record_write(event->record, bt_str_from(writes->host), event->series_count,
		event->series_ns, &writes->event_text);
	(void)send_event(writes, &request);
}

/** --- requests of the writer. They are synchronous, so no write is ever in flight. --- */

/**
 * Decodes a stored claim; the returned object keeps the JSON text. NULL: the text is not valid, and
 * err is set.
 */
static struct bt_object *decode_claim(const struct bt_stored *stored, struct berth_error *err)
{
	struct bt_object *object = bt_typed_decode(BT_KIND_RESOURCE_CLAIM, stored, err);
	if (object != NULL) {
		bt_object_keep_json(object, bt_stored_text(stored));
	}
	return object;
}

/** Performs a request. Returns 0, BT_WRITE_CONFLICT, or BERTH_ERR_* with the API's text. */
static int perform(struct bt_cluster_writes *writes, const struct bt_write_request *write,
	struct bt_write_answer *out_answer, struct berth_error *err)
{
	const struct bt_route route = {.name = write->name};
	struct bt_api_request request = make_request(
		bt_route_method_verb(&route, bt_str_from(write->method), false),
		bt_typed_resource(writes->api, write->target), write->namespace_, write->name);
	struct bt_api_answer answer;
	int result = 0;
	request.subresource = strcmp(write->tail, "/binding") == 0 ? BT_SUBRESOURCE_BINDING
		: strcmp(write->tail, "/status") == 0              ? BT_SUBRESOURCE_STATUS
								   : BT_SUBRESOURCE_NONE;
	request.patch_type = write->kind == BT_WRITE_VOLUME ? BT_PATCH_MERGE : BT_PATCH_STRATEGIC;
	bt_arena_reset(&writes->arena);
	if (write->body.length != 0) {
		result = bt_json_parse(&writes->arena, write->body, false, &request.body, err);
	}
	if (result != 0) {
		return result;
	}
	if (request.verb == BT_VERB_DELETE) {
		struct bt_failure failure;
		bool is_valid =
			bt_delete_options_read(request.body, &writes->arena, &request, &failure);
		BT_ASSERT(is_valid); /* else the precondition would be lost */
		request.body = NULL;
	}
	bt_api_perform(writes->api, &request, &writes->arena, &answer);
	if (answer.code >= 300) {
		bool exists = answer.failure.reason != NULL &&
			strcmp(answer.failure.reason, "AlreadyExists") == 0;
		int code = answer.code == 404 ? BERTH_ERR_NOT_FOUND
			: exists              ? BERTH_ERR_EXISTS
			: answer.code == 409  ? BERTH_ERR_STATE
					      : BERTH_ERR_INTERNAL;
		result = bt_error_set(err, code, "%.*s", BT_STR_ARG(answer.failure.message));
		if (code == BERTH_ERR_STATE && write->kind == BT_WRITE_CLAIM) {
			result = BT_WRITE_CONFLICT;
		}
	} else if (out_answer != NULL && write->kind == BT_WRITE_VOLUME) {
		(void)snprintf(writes->resource_version, sizeof(writes->resource_version),
			"%" PRIu64, answer.object != NULL ? answer.object->rv : 0);
		out_answer->resource_version = bt_str_from(writes->resource_version);
	} else if (out_answer != NULL && answer.object != NULL) {
		out_answer->claim = decode_claim(answer.object, err);
		result = out_answer->claim != NULL ? 0 : BERTH_ERR_INVALID;
	}
	bt_api_answer_finish(&answer);
	return result;
}

static int send_request(struct bt_writer *writer, const struct bt_write_request *request,
	struct bt_write_answer *out_answer, struct berth_error *err)
{
	struct bt_cluster_writes *writes = (struct bt_cluster_writes *)writer;
	if (request->ticket.executor != NULL) {
		struct bt_write_request held = *request;
		held.namespace_ = bt_arena_str(&writes->held, request->namespace_);
		held.name = bt_arena_str(&writes->held, request->name);
		held.body = bt_arena_str(&writes->held, request->body);
		bt_vec_push(&writes->evictions, held);
		return BT_PREEMPTION_PENDING;
	}
	struct berth_error failure = BERTH_ERROR_INIT;
	int result = perform(writes, request, out_answer, &failure);
	bool may_be_gone = request->kind == BT_WRITE_STATUS || request->kind == BT_WRITE_UNRESERVE;
	if (may_be_gone && result == BERTH_ERR_NOT_FOUND) {
		/* The object was deleted meanwhile; the scheduler will observe that. */
		result = 0;
	} else if (request->kind == BT_WRITE_UNRESERVE && result != 0) {
		(void)fprintf(stderr, "berth up: scheduler: unreserve claim %.*s/%.*s: %s\n",
			BT_STR_ARG(request->namespace_), BT_STR_ARG(request->name),
			berth_error_message(&failure));
	} else if (result != 0) {
		(void)bt_error_move(err, &failure);
	}
	berth_error_finish(&failure);
	return result;
}

/** Performs the evictions that preemption requested during the last attempt. */
static void attempt_ended(void *context)
{
	struct bt_cluster_writes *writes = context;
	/* Completing an eviction may append further evictions to the list. */
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		struct bt_write_request request = writes->evictions.items[i];
		int result = perform(writes, &request, NULL, NULL);
		bt_preemption_complete(request.ticket.executor, request.ticket.id, result);
	}
	writes->evictions.count = 0;
	bt_arena_reset(&writes->held);
}

/** Finds the stored claim, which has all members; NULL: its resourceVersion is not that of base. */
static struct bt_object *find_complete(struct bt_writer *writer, const struct bt_object *base)
{
	struct bt_cluster_writes *writes = (struct bt_cluster_writes *)writer;
	const struct bt_api_resource *claims =
		bt_typed_resource(writes->api, BT_KIND_RESOURCE_CLAIM);
	char version[24];
	bt_arena_reset(&writes->arena);
	const struct bt_stored *stored =
		bt_store_find(bt_api_store(writes->api), claims->collection,
			bt_api_key(&writes->arena, base->meta->namespace_, base->meta->name));
	if (stored == NULL) {
		return NULL;
	}
	(void)snprintf(version, sizeof(version), "%" PRIu64, stored->rv);
	return bt_str_equal_c(base->meta->resource_version, version) ? decode_claim(stored, NULL)
								     : NULL;
}

static void warn(void *context BT_UNUSED, struct bt_str line)
{
	(void)fprintf(stderr, "berth up: scheduler: %.*s\n", BT_STR_ARG(line));
}

static int64_t now_ns(void *context)
{
	return bt_api_now_ns(context);
}

void bt_cluster_writes_init(struct bt_cluster_writes *writes, struct bt_api *api)
{
	struct bt_event_sink sink = {.context = writes, .send = deliver_event};
	*writes = (struct bt_cluster_writes){
		.base = {.send = send_request,
			.find_complete = find_complete,
			.now_ns = now_ns,
			.clock_context = api,
			.events = bt_event_recorder_create(&sink)},
		.api = api,
		.host = "localhost",
	};
	/* A longer name is truncated. */
	(void)gethostname(writes->host, sizeof(writes->host) - 1);
	bt_writer_init(&writes->base);
	writes->base.writer.warn = warn;
	writes->base.writer.attempt_ended = attempt_ended;
}

void bt_cluster_writes_finish(struct bt_cluster_writes *writes)
{
	bt_vec_finish(&writes->evictions);
	bt_arena_finish(&writes->held);
	bt_event_recorder_destroy(writes->base.events);
	bt_strbuf_finish(&writes->event_text);
	bt_arena_finish(&writes->event_arena);
	bt_arena_finish(&writes->arena);
	bt_writer_finish(&writes->base);
}
