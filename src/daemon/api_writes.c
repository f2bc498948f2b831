/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api_writes.h"

#include "base/log.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "base/vec.h"
#include "codec/json_edit.h"
#include "codec/json_patch.h"
#include "daemon/complete_object.h"
#include "daemon/writer.h"
#include "plugins/preemption_executor.h"

/**
 * Spec 11b section 6.2: 4 tries, with waits of 10, 50 and 250 ms between them; up to 10 percent,
 * random, is added to each wait.
 */
#define TRIES_MAX 4
#define FIRST_WAIT_NS INT64_C(10000000)
#define WAIT_FACTOR 5

enum write_state {
	WRITE_WAITS, /* for an earlier write of the same uid, or for the write `after` */
	WRITE_SENT,
	WRITE_PAUSED,   /* will be sent again at due_ns */
	WRITE_ANSWERED, /* the answer is kept until bt_api_writes_deliver */
	WRITE_REPORTED, /* the scheduler was resumed, but has not taken the result yet */
};

struct write {
	struct bt_api_writes *writes;
	struct bt_write_request request; /* its texts are in `texts`; the body is in `body` */
	struct bt_strbuf texts;
	struct bt_strbuf body; /* empty once no retry can need the body */
	uint64_t digest;       /* of the body */
	enum write_state state;
	uint32_t index;    /* in bt_api_writes.list */
	uint64_t sequence; /* unique, ascending, above 0 */
	uint64_t after;    /* sequence of the write that must end first; 0: no such write */
	struct bt_rest_call *call;
	uint32_t tries;
	int64_t due_ns;   /* PAUSED: when to send again, loop time */
	bool is_awaited;  /* a caller takes the result */
	bool wants_claim; /* the caller takes the claim in the answer */
	bool was_read;    /* VOLUME: the GET was answered */
	/* The answer. */
	int result;              /* 0 or BERTH_ERR_* */
	char *message;           /* of the error; owned */
	char *resource_version;  /* VOLUME: of the written object; owned */
	struct bt_object *claim; /* owned; NULL: no claim */
	bool conflicts;          /* CLAIM: the answer is a conflict */
};

struct bt_api_writes {
	struct bt_writer base;
	struct bt_api_writes_options options;
	struct bt_prng prng;
	BT_VEC(struct write *) list; /* a free place is NULL */
	BT_VEC(uint32_t) free_places;
	struct bt_map by_uid; /* hash of the uid -> index in `list` */
	BT_VEC(struct write *) answered;
	BT_VEC(struct write *) evictions; /* held evictions of the current attempt */
	uint64_t last_sequence;
	uint64_t attempt_patch; /* sequence of the current attempt's status patch; 0: no patch */
	uint32_t in_flight;     /* writes that have no answer, sent or not */
	uint32_t paused;
	uint32_t reported;
	int64_t next_due_ns;    /* when the first paused write is due, loop time */
	struct bt_strbuf path;  /* of the request being sent */
	char *resource_version; /* in the last VOLUME answer that was taken; owned */
};

static char *copy(struct bt_str text)
{
	return bt_strndup(text.data, text.length);
}

static bool may_write(const struct bt_api_writes *writes, struct berth_error *err)
{
	const struct bt_api_writes_options *options = &writes->options;
	if (options->may_write == NULL || options->may_write(options->context)) {
		return true;
	}
	(void)bt_error_set(err, BERTH_ERR_STATE, "this process does not lead any more");
	return false;
}

/** Create a write in state WRITE_WAITS. */
static struct write *create(
	struct bt_api_writes *writes, const struct bt_write_request *request, struct bt_str uid)
{
	struct write *write = BT_NEW(struct write);
	*write = (struct write){
		.writes = writes,
		.request = *request,
		.digest = bt_str_hash(request->body),
		.sequence = ++writes->last_sequence,
		.is_awaited = request->kind <= BT_WRITE_CLAIM,
	};
	bt_strbuf_append_str(&write->texts, uid);
	bt_strbuf_append_str(&write->texts, request->namespace_);
	bt_strbuf_append_str(&write->texts, request->name);
	struct bt_str texts = bt_strbuf_str(&write->texts);
	write->request.uid = bt_str_sub(texts, 0, uid.length);
	write->request.namespace_ = bt_str_sub(texts, uid.length, request->namespace_.length);
	write->request.name =
		bt_str_sub(texts, uid.length + request->namespace_.length, request->name.length);
	write->request.node_name = BT_STR("");
	write->request.body = BT_STR("");
	bt_strbuf_append_str(&write->body, request->body);
	bt_vec_store(&writes->list, &writes->free_places, write, write->index);
	bt_map_insert(&writes->by_uid, bt_str_hash(uid), write->index);
	writes->in_flight++;
	if (write->request.kind == BT_WRITE_BINDING) {
		BT_LOG_INFO(3, "Attempting to bind pod to node",
			BT_LOG_REF("pod", request->namespace_, request->name),
			BT_LOG_STR("node", request->node_name));
	}
	return write;
}

static void destroy(struct write *write)
{
	struct bt_api_writes *writes = write->writes;
	if (write->call != NULL) {
		bt_rest_cancel(write->call);
	}
	writes->reported -= write->state == WRITE_REPORTED;
	(void)bt_map_remove(&writes->by_uid, bt_str_hash(write->request.uid), write->index);
	writes->list.items[write->index] = NULL;
	bt_vec_push(&writes->free_places, write->index);
	bt_strbuf_finish(&write->texts);
	bt_strbuf_finish(&write->body);
	bt_free(write->message);
	bt_free(write->resource_version);
	bt_object_release(write->claim);
	bt_free(write);
}

static bool is_over(const struct write *write)
{
	return write->state == WRITE_ANSWERED || write->state == WRITE_REPORTED;
}

/** --- sending: spec 13 section 9.4 --- */

static void send(struct write *write);

/**
 * Send the oldest waiting write with the uid of `write` (which may have ended). Sends nothing if
 * another write of that uid is in flight, or if the oldest waiting write must wait for its write
 * `after`.
 */
static void start(struct write *write)
{
	const struct bt_api_writes *writes = write->writes;
	struct write *first = NULL;
	uint64_t hash = bt_str_hash(write->request.uid);
	BT_MAP_EACH (&writes->by_uid, hash, slot) {
		struct write *other = writes->list.items[slot];
		if (!bt_str_equal(write->request.uid, other->request.uid) || is_over(other)) {
			continue;
		}
		if (other->state != WRITE_WAITS) {
			return;
		}
		if (first == NULL || other->sequence < first->sequence) {
			first = other;
		}
	}
	if (first != NULL && first->after == 0) {
		send(first);
	}
}

/**
 * Store the result and start the writes that waited for this write. err: the error if result is
 * negative; emptied.
 */
static void end(struct write *write, int result, struct berth_error *err)
{
	struct bt_api_writes *writes = write->writes;
	write->state = WRITE_ANSWERED;
	write->result = result;
	if (result < 0) {
		write->message = copy(bt_str_from(berth_error_message(err)));
	}
	berth_error_finish(err);
	bt_strbuf_finish(&write->body);
	writes->in_flight--;
	bt_vec_push(&writes->answered, write);
	/* Start the evictions of other pods that wait for this status patch. */
	for (uint32_t i = 0; write->request.kind == BT_WRITE_STATUS && i < writes->list.count;
		i++) {
		struct write *follower = writes->list.items[i];
		if (follower != NULL && follower->after == write->sequence) {
			follower->after = 0;
			start(follower);
		}
	}
	start(write);
}

/**
 * Upstream writes PersistentVolumes and PersistentVolumeClaims as a whole. The scheduler keeps only
 * the fields that it reads, so the object is read first; the merge patch then gives the object the
 * resourceVersion that the scheduler has: if the object has changed since that version, the API
 * server answers with a conflict. Spec: 11b section 6.4, 13 section 14.6.
 */
static void volume_answered(struct write *write, const struct bt_rest_answer *answer)
{
	struct bt_arena arena = {0};
	struct bt_json_value *object;
	struct bt_json_value *patch;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_rest_answer_error(answer, &err);
	if (result == 0) {
		result = bt_rest_decode_body(answer, &arena, &object, &err);
	}
	if (result == 0 && !write->was_read && object->type != BT_JSON_OBJECT) {
		result = bt_error_set(&err, BERTH_ERR_SYNTAX, "the answer is not an object");
	}
	if (result == 0 && !write->was_read) {
		result = bt_json_parse(&arena, bt_strbuf_str(&write->body), false, &patch, &err);
	}
	if (result != 0 || write->was_read || !write->is_awaited) {
		if (result == 0) {
			write->resource_version =
				copy(bt_json_text_at(object, "metadata.resourceVersion"));
		}
		end(write, result, &err);
		bt_arena_finish(&arena);
		return;
	}
	object = bt_json_merge_patch(&arena, object, patch);
	/* The server keeps its value. */
	(void)bt_json_remove_c(bt_json_find(object, "metadata"), "managedFields");
	/*
	 * Write JSON even if the client uses protobuf: encoding as protobuf would drop the fields
	 * that berth does not define.
	 */
	struct bt_strbuf body = {0};
	bt_json_format(object, &body);
	bt_strbuf_finish(&write->body);
	write->body = body;
	write->was_read = true;
	send(write);
	bt_arena_finish(&arena);
}

static void done(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct write *write = context;
	write->call = NULL;
	if (write->request.retries && write->tries < TRIES_MAX &&
		(answer->class_ == BT_REST_INTERNAL_ERROR ||
			answer->class_ == BT_REST_SERVICE_UNAVAILABLE ||
			answer->class_ == BT_REST_CONFLICT ||
			(answer->class_ == BT_REST_TRANSPORT &&
				answer->failure == BT_HTTP_FAILURE_REFUSED))) {
		struct bt_api_writes *writes = write->writes;
		int64_t wait_ns = FIRST_WAIT_NS;
		for (uint32_t i = 1; i < write->tries; i++) {
			wait_ns *= WAIT_FACTOR;
		}
		wait_ns += (int64_t)bt_prng_below(&writes->prng, (uint64_t)wait_ns / 10 + 1);
		write->state = WRITE_PAUSED;
		write->due_ns = bt_loop_now_ns(writes->options.loop) + wait_ns;
		writes->paused++;
		writes->next_due_ns = BT_MIN(writes->next_due_ns, write->due_ns);
		bt_loop_call_at(writes->options.loop, write->due_ns);
	} else if (write->request.kind == BT_WRITE_VOLUME) {
		volume_answered(write, answer);
	} else {
		struct berth_error err = BERTH_ERROR_INIT;
		int result = bt_rest_answer_error(answer, &err);
		write->conflicts =
			write->request.kind == BT_WRITE_CLAIM && answer->class_ == BT_REST_CONFLICT;
		if (result == 0 && write->wants_claim) {
			result = bt_complete_object_decode(
				BT_KIND_RESOURCE_CLAIM, answer->body, &write->claim, &err);
		}
		end(write, result, &err);
	}
}

/**
 * Check the lease again just before the request is sent: a process that was suspended, or waited
 * for the limiter or a connection, may have lost the lease since the decision. A new leader may
 * have bound pods that this process has not yet observed.
 */
static bool may_send(void *context)
{
	const struct write *write = context;
	return may_write(write->writes, NULL);
}

/** Send the write, for the first time or as a retry. */
static void send(struct write *write)
{
	const struct bt_kind_info *info = bt_kind_info(write->request.target);
	struct bt_strbuf *path = &write->writes->path;
	bt_strbuf_reset(path);
	bt_kind_append_path(
		write->request.target, bt_kind_version_at(write->request.target, 0), path);
	bt_rest_append_object(
		path, write->request.namespace_, bt_str_from(info->resource), write->request.name);
	bt_strbuf_append_c(path, write->request.tail);
	struct bt_rest_request request = {
		.method = write->request.method,
		.path = bt_strbuf_str(path),
		.resource = bt_str_from(info->resource),
		.name = write->request.name,
		.content_type = BT_STR(BT_MEDIA_JSON),
		.body = bt_strbuf_str(&write->body),
		.handler = {.context = write, .done = done},
		.may_send = may_send,
	};
	if (write->request.is_protobuf) {
		request.content_type = BT_STR(BT_MEDIA_PROTOBUF);
	} else if (write->request.kind == BT_WRITE_VOLUME && write->was_read) {
		request.method = "PUT";
	} else if (write->request.kind == BT_WRITE_VOLUME) {
		request.method = "GET";
		request.body.length = 0;
	} else if (strcmp(write->request.method, "PATCH") == 0) {
		request.content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	}
	if (write->request.kind == BT_WRITE_CLAIM || write->request.kind == BT_WRITE_UNRESERVE ||
		(write->request.kind == BT_WRITE_VOLUME && !write->was_read)) {
		request.accept = BT_STR(BT_MEDIA_JSON);
	}
	write->state = WRITE_SENT;
	write->tries++;
	write->call = bt_rest_start(write->writes->options.client, &request);
	if (!write->request.retries && write->request.kind != BT_WRITE_VOLUME) {
		bt_strbuf_finish(&write->body);
	}
}

static int64_t send_again(void *context, int64_t now_ns)
{
	struct bt_api_writes *writes = context;
	if (writes->paused == 0 || now_ns < writes->next_due_ns) {
		return writes->next_due_ns;
	}
	writes->next_due_ns = INT64_MAX;
	for (uint32_t i = 0; i < writes->list.count; i++) {
		struct write *write = writes->list.items[i];
		if (write == NULL || write->state != WRITE_PAUSED) {
			continue;
		}
		if (write->due_ns <= now_ns) {
			writes->paused--;
			send(write);
		} else if (write->due_ns < writes->next_due_ns) {
			writes->next_due_ns = write->due_ns;
		}
	}
	return writes->next_due_ns;
}

/** --- requests of the writer --- */

/** Destroy a write that has its answer. Returns 0, or the error in the answer. */
static int take(struct write *write, struct berth_error *err)
{
	int result = write->result;
	if (result < 0) {
		(void)bt_error_set(err, result, "%s", write->message);
	}
	for (uint32_t i = 0; i < write->writes->answered.count; i++) {
		if (write->writes->answered.items[i] == write) {
			bt_vec_remove_ordered(&write->writes->answered, i);
			break;
		}
	}
	destroy(write);
	return result;
}

/** Drop the write: no caller takes the result. A change that was not sent yet is never sent. */
static void abandon(struct write *write)
{
	write->is_awaited = false;
	if (write->state == WRITE_WAITS) {
		write->writes->in_flight--;
		destroy(write);
	}
}

static int send_request(struct bt_writer *writer, const struct bt_write_request *request,
	struct bt_write_answer *out_answer, struct berth_error *err)
{
	struct bt_api_writes *writes = (struct bt_api_writes *)writer;
	bool is_reported_only = request->kind >= BT_WRITE_STATUS;
	struct bt_str uid = request->kind == BT_WRITE_VOLUME
		? bt_scheduler_binding_uid(writer->scheduler)
		: request->uid;
	/* The write that an earlier call with an equal request started, but for the body. */
	struct write *write = NULL;
	uint64_t hash = bt_str_hash(uid);
	BT_MAP_EACH (&writes->by_uid, hash, slot) {
		struct write *known = writes->list.items[slot];
		if (known->is_awaited && known->request.kind == request->kind &&
			known->request.target == request->target &&
			strcmp(known->request.method, request->method) == 0 &&
			strcmp(known->request.tail, request->tail) == 0 &&
			bt_str_equal(uid, known->request.uid) &&
			bt_str_equal(request->name, known->request.name) &&
			bt_str_equal(request->namespace_, known->request.namespace_)) {
			write = known;
			break;
		}
	}
	if (write != NULL && write->digest != bt_str_hash(request->body)) {
		/* An earlier, abandoned attempt started this write, with another body. */
		abandon(write);
		write = NULL;
	}
	if (write == NULL) {
		if (!is_reported_only && !may_write(writes, err)) {
			return BERTH_ERR_STATE;
		}
		write = create(writes, request, uid);
		write->wants_claim = out_answer != NULL && request->kind == BT_WRITE_CLAIM;
		if (request->ticket.executor != NULL) {
			/* The write waits for itself: only flush_evictions starts it. */
			write->after = write->sequence;
			bt_vec_push(&writes->evictions, write);
			return BT_PREEMPTION_PENDING;
		}
		start(write);
	}
	if (request->kind == BT_WRITE_STATUS) {
		writes->attempt_patch = write->sequence;
		return bt_scheduler_queues_calls(writer->scheduler) ? BT_WRITE_PENDING : 0;
	}
	if (is_reported_only) {
		return 0;
	}
	if (request->must_end || request->kind == BT_WRITE_EVICTION) {
		/*
		 * Turn the loop until the write has an answer, inside a call of the scheduler. The
		 * write has none if the process stops, or the loop fails.
		 */
		const struct bt_api_writes_options *options = &writes->options;
		int result = 0;
		while (result == 0 && !is_over(write) &&
			(options->is_stopping == NULL || !options->is_stopping(options->context))) {
			result = bt_loop_turn(options->loop, BT_NS_PER_SECOND, NULL);
		}
		if (result != 0 || !is_over(write)) {
			abandon(write);
			return bt_error_set(err, BERTH_ERR_STATE, "context canceled");
		}
	}
	if (!is_over(write)) {
		return BT_WRITE_PENDING;
	}
	if (write->conflicts) {
		(void)take(write, err);
		return BT_WRITE_CONFLICT;
	}
	if (out_answer != NULL && write->result == 0) {
		bt_free(writes->resource_version);
		writes->resource_version = write->resource_version;
		write->resource_version = NULL;
		out_answer->resource_version = bt_str_from(writes->resource_version);
		out_answer->claim = write->claim;
		write->claim = NULL;
	}
	return take(write, err);
}

/**
 * Start the evictions that were held during the attempt. If the attempt's status patch has no
 * answer yet, the evictions are sent after that answer: the API server learns the nominated node
 * before the victims leave (spec 13 section 14.9).
 */
static void flush_evictions(void *context)
{
	struct bt_api_writes *writes = context;
	const struct write *patch = NULL;
	for (uint32_t i = 0; i < writes->list.count && writes->evictions.count != 0; i++) {
		const struct write *write = writes->list.items[i];
		if (write != NULL && write->sequence == writes->attempt_patch &&
			write->state < WRITE_ANSWERED) {
			patch = write;
		}
	}
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		struct write *write = writes->evictions.items[i];
		write->after = patch != NULL ? patch->sequence : 0;
		start(write);
	}
	writes->evictions.count = 0;
	writes->attempt_patch = 0;
}

static void warn(void *context BT_UNUSED, struct bt_str line)
{
	BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%.*s", BT_STR_ARG(line));
}

void bt_api_writes_deliver(struct bt_api_writes *writes)
{
	/*
	 * Remove the first write in each pass, and keep no index: while a result is reported, the
	 * scheduler may drop another write or fetch its result, which removes that write from the
	 * list.
	 */
	while (writes->answered.count != 0) {
		struct write *write = writes->answered.items[0];
		struct bt_preemption_ticket ticket = write->request.ticket;
		const char *message = write->message != NULL ? write->message : "";
		int result = write->result;
		bt_vec_remove_ordered(&writes->answered, 0);
		if (write->is_awaited) {
			write->state = WRITE_REPORTED;
			writes->reported++;
			bt_scheduler_resume(writes->base.scheduler, write->request.uid);
			continue;
		}
		if (write->request.kind == BT_WRITE_STATUS &&
			!bt_scheduler_patch_answered(writes->base.scheduler, write->request.uid,
				result, bt_str_from(message)) &&
			result < 0) {
			BT_LOG_ERROR(message, "Error updating pod",
				BT_LOG_REF("pod", write->request.namespace_, write->request.name));
		} else if (write->request.kind == BT_WRITE_POD_GROUP && result < 0) {
			BT_LOG_ERROR(message, "Failed to update pod group status",
				BT_LOG_REF("podGroup", write->request.namespace_,
					write->request.name));
		} else if (write->request.kind == BT_WRITE_UNRESERVE && result < 0) {
			BT_LOG_ERROR(message, "unreserve",
				BT_LOG_REF("resourceclaim", write->request.namespace_,
					write->request.name));
		}
		destroy(write);
		if (ticket.executor != NULL) {
			bt_preemption_complete(ticket.executor, ticket.id, result);
		}
	}
	flush_evictions(writes);
}

/**
 * Return whether the next attempt may start. Also destroy the writes in state WRITE_REPORTED: the
 * scheduler continues all resumed binding cycles before it calls this function, so a result that is
 * still here belongs to a binding cycle that has ended.
 */
static bool may_schedule(void *context)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	for (uint32_t i = 0; i < writes->list.count && writes->reported != 0; i++) {
		struct write *write = writes->list.items[i];
		if (write != NULL && write->state == WRITE_REPORTED) {
			destroy(write);
		}
	}
	return (options->in_flight_max == NULL ||
		       writes->in_flight < options->in_flight_max(options->context)) &&
		may_write(writes, NULL);
}

struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options)
{
	struct bt_api_writes *writes = BT_NEW(struct bt_api_writes);
	writes->base = (struct bt_writer){
		.send = send_request,
		.now_ns = options->now_ns,
		.clock_context = options->context,
		.events = options->events,
		.is_protobuf = bt_rest_writes_protobuf(options->client),
	};
	bt_writer_init(&writes->base);
	writes->base.writer.warn = warn;
	writes->base.writer.may_schedule = may_schedule;
	writes->base.writer.attempt_ended = flush_evictions;
	writes->options = *options;
	writes->next_due_ns = INT64_MAX;
	bt_prng_init(&writes->prng, options->seed);
	bt_loop_add_worker(options->loop, send_again, writes);
	return writes;
}

void bt_api_writes_destroy(struct bt_api_writes *writes)
{
	if (writes == NULL) {
		return;
	}
	bt_loop_remove_worker(writes->options.loop, writes);
	for (uint32_t i = 0; i < writes->list.count; i++) {
		if (writes->list.items[i] != NULL) {
			destroy(writes->list.items[i]);
		}
	}
	bt_vec_finish(&writes->list);
	bt_vec_finish(&writes->free_places);
	bt_vec_finish(&writes->answered);
	bt_vec_finish(&writes->evictions);
	bt_map_finish(&writes->by_uid);
	bt_strbuf_finish(&writes->path);
	bt_free(writes->resource_version);
	bt_writer_finish(&writes->base);
	bt_free(writes);
}

const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes)
{
	return &writes->base.writer;
}

void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler)
{
	writes->base.scheduler = scheduler;
}

uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes)
{
	return writes->in_flight;
}
