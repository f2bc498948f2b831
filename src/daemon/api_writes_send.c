/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends the writes of one pod one after the other, retries them, and stores the results. Spec: 13
 * section 9.4.
 */
#include "base/assert.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/api_writes_private.h"

/**
 * Spec 11b section 6.2: 4 tries, with waits of 10, 50 and 250 ms between them; up to 10 percent,
 * random, is added to each wait.
 */
#define TRIES_MAX 4
#define FIRST_WAIT_NS INT64_C(10000000)
#define WAIT_FACTOR 5

void bt_write_set_text(char **text, struct bt_str value)
{
	bt_free(*text);
	*text = bt_strndup(value.data != NULL ? value.data : "", value.length);
}

void bt_write_set_body(struct bt_write *write, struct bt_str body)
{
	bt_write_set_text(&write->body, body);
	write->body_length = body.length;
}

struct bt_write *bt_write_create(struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str namespace_, struct bt_str name)
{
	struct bt_write *write = BT_NEW(struct bt_write);
	write->writes = writes;
	write->kind = kind;
	write->sequence = ++writes->last_sequence;
	bt_write_set_text(&write->uid, uid);
	bt_write_set_text(&write->namespace_, namespace_);
	bt_write_set_text(&write->name, name);
	bt_vec_store(&writes->list, &writes->free_places, write, write->index);
	bt_map_insert(&writes->by_uid, bt_str_hash(uid), write->index);
	writes->in_flight++;
	return write;
}

void bt_write_destroy(struct bt_write *write)
{
	struct bt_api_writes *writes = write->writes;
	struct bt_str uid = bt_str_from(write->uid);
	if (write->call != NULL) {
		bt_rest_cancel(write->call);
	}
	writes->reported -= write->state == BT_WRITE_REPORTED;
	(void)bt_map_remove(&writes->by_uid, bt_str_hash(uid), write->index);
	writes->list.items[write->index] = NULL;
	bt_vec_push(&writes->free_places, write->index);
	bt_free(write->uid);
	bt_free(write->subject);
	bt_free(write->namespace_);
	bt_free(write->name);
	bt_free(write->path);
	bt_free(write->body);
	bt_free(write->message);
	bt_free(write->resource_version);
	bt_object_release(write->volume);
	bt_object_release(write->claim);
	bt_object_release(write->object);
	bt_free(write);
}

static bool is_over(const struct bt_write *write)
{
	return write->state == BT_WRITE_ANSWERED || write->state == BT_WRITE_REPORTED;
}

struct bt_write *bt_write_find(const struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str subject)
{
	uint64_t hash = bt_str_hash(uid);
	BT_MAP_EACH (&writes->by_uid, hash, slot) {
		struct bt_write *write = writes->list.items[slot];
		if (write->kind == kind && bt_str_equal_c(uid, write->uid) &&
			write->subject != NULL && bt_str_equal_c(subject, write->subject)) {
			return write;
		}
	}
	return NULL;
}

void bt_write_start(struct bt_write *write)
{
	/* Find the oldest waiting write; return if another write of the pod has no answer yet. */
	const struct bt_api_writes *writes = write->writes;
	struct bt_str uid = bt_str_from(write->uid);
	struct bt_write *first = NULL;
	uint64_t hash = bt_str_hash(uid);
	BT_MAP_EACH (&writes->by_uid, hash, slot) {
		struct bt_write *other = writes->list.items[slot];
		if (!bt_str_equal_c(uid, other->uid) || is_over(other)) {
			continue;
		}
		if (other->state != BT_WRITE_WAITS) {
			return;
		}
		if (first == NULL || other->sequence < first->sequence) {
			first = other;
		}
	}
	if (first != NULL && first->after == 0) {
		bt_write_send(first);
	}
}

void bt_write_end(struct bt_write *write, int result, struct berth_error *err)
{
	struct bt_api_writes *writes = write->writes;
	write->state = BT_WRITE_ANSWERED;
	write->result = result;
	if (result < 0) {
		bt_write_set_text(&write->message, bt_str_from(berth_error_message(err)));
	}
	berth_error_finish(err);
	bt_free(write->body);
	write->body = NULL;
	writes->in_flight--;
	bt_vec_push(&writes->answered, write);
	/* Start the evictions of other pods that wait for this status patch. */
	for (uint32_t i = 0; write->kind == BT_WRITE_STATUS && i < writes->list.count; i++) {
		struct bt_write *follower = writes->list.items[i];
		if (follower != NULL && follower->after == write->sequence) {
			follower->after = 0;
			bt_write_start(follower);
		}
	}
	bt_write_start(write);
}

static void done(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_write *write = context;
	struct berth_error err = BERTH_ERROR_INIT;
	write->call = NULL;
	if (write->retries && write->tries < TRIES_MAX &&
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
		write->state = BT_WRITE_PAUSED;
		write->due_ns = bt_loop_now_ns(writes->options.loop) + wait_ns;
		writes->paused++;
		writes->next_due_ns = BT_MIN(writes->next_due_ns, write->due_ns);
		bt_loop_call_at(writes->options.loop, write->due_ns);
	} else if (write->kind == BT_WRITE_VOLUME) {
		bt_write_volume_answered(write, answer);
	} else if (write->kind == BT_WRITE_CLAIM) {
		bt_write_claim_answered(write, answer);
	} else {
		int result = bt_rest_answer_error(answer, &err);
		bt_write_end(write, result, &err);
	}
}

/**
 * Check the lease again just before the request is sent: a process that was suspended, or waited
 * for the limiter or a connection, may have lost the lease since the decision. A new leader may
 * have bound pods that this process has not yet observed.
 */
static bool may_send(void *context)
{
	const struct bt_write *write = context;
	return bt_api_writes_may_write(write->writes, NULL);
}

void bt_write_send(struct bt_write *write)
{
	struct bt_rest_request request = {
		.method = write->method,
		.path = bt_str_from(write->path),
		.resource = bt_str_from(write->resource),
		.name = bt_str_from(write->name),
		.content_type = write->content_type,
		.body = {write->body, write->body_length},
		.handler = {.context = write, .done = done},
		.may_send = may_send,
	};
	if (write->kind == BT_WRITE_VOLUME && !write->was_read) {
		request.method = "GET";
		request.accept = BT_STR(BT_MEDIA_JSON);
	} else if (write->kind == BT_WRITE_CLAIM) {
		request.accept = BT_STR(BT_MEDIA_JSON);
	}
	write->state = BT_WRITE_SENT;
	write->tries++;
	write->call = bt_rest_start(write->writes->options.client, &request);
	if (!write->retries && write->kind != BT_WRITE_VOLUME) {
		bt_free(write->body);
		write->body = NULL;
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
		struct bt_write *write = writes->list.items[i];
		if (write == NULL || write->state != BT_WRITE_PAUSED) {
			continue;
		}
		if (write->due_ns <= now_ns) {
			writes->paused--;
			bt_write_send(write);
		} else if (write->due_ns < writes->next_due_ns) {
			writes->next_due_ns = write->due_ns;
		}
	}
	return writes->next_due_ns;
}

int bt_write_take(struct bt_write *write, struct berth_error *err)
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
	bt_write_destroy(write);
	return result;
}

bool bt_write_await(struct bt_write *write)
{
	const struct bt_api_writes_options *options = &write->writes->options;
	struct berth_error failure = BERTH_ERROR_INIT;
	int result = 0;
	while (result == 0 && !is_over(write) &&
		(options->is_stopping == NULL || !options->is_stopping(options->context))) {
		result = bt_loop_turn(options->loop, BT_NS_PER_SECOND, &failure);
	}
	berth_error_finish(&failure);
	return result == 0 && is_over(write);
}

void bt_write_abandon(struct bt_write *write)
{
	if (write->state == BT_WRITE_WAITS) {
		write->writes->in_flight--;
		bt_write_destroy(write);
		return;
	}
	bt_free(write->subject);
	write->subject = NULL;
}

struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options)
{
	struct bt_api_writes *writes = BT_NEW(struct bt_api_writes);
	writes->options = *options;
	writes->next_due_ns = INT64_MAX;
	bt_prng_init(&writes->prng, options->seed);
	bt_api_writes_init(writes);
	bt_api_writes_init_claims(writes);
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
			bt_write_destroy(writes->list.items[i]);
		}
	}
	bt_vec_finish(&writes->list);
	bt_vec_finish(&writes->free_places);
	bt_vec_finish(&writes->answered);
	bt_vec_finish(&writes->evictions);
	bt_map_finish(&writes->by_uid);
	bt_strbuf_finish(&writes->scratch);
	bt_strbuf_finish(&writes->resource_version);
	bt_free(writes);
}

uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes)
{
	return writes->in_flight;
}
