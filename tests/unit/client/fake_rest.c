/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_rest.h"

#include <string.h>

#include "net/loop.h"

#define WORKERS_MAX 8

struct worker {
	int64_t (*work)(void *context, int64_t now_ns);
	void *context;
};

struct fake_rest fake_rest;
static struct worker workers[WORKERS_MAX];
static uint32_t worker_count;

/* --- net/loop.h --- */

int64_t bt_loop_now_ns(const struct bt_loop *loop)
{
	(void)loop;
	return fake_rest.now_ns;
}

void bt_loop_add_worker(
	struct bt_loop *loop, int64_t (*work)(void *context, int64_t now_ns), void *context)
{
	(void)loop;
	BT_ASSERT(worker_count < WORKERS_MAX);
	workers[worker_count++] = (struct worker){work, context};
}

void bt_loop_call_at(struct bt_loop *loop, int64_t when_ns)
{
	/* fake_turn calls all workers every time, so due times are not needed */
	(void)loop;
	(void)when_ns;
}

void bt_loop_remove_worker(struct bt_loop *loop, const void *context)
{
	(void)loop;
	for (uint32_t i = 0; i < worker_count; i++) {
		if (workers[i].context == context) {
			workers[i] = workers[--worker_count];
			return;
		}
	}
}

int64_t fake_turn(void)
{
	int64_t next_ns = INT64_MAX;

	for (uint32_t i = 0; i < worker_count; i++) {
		int64_t when_ns = workers[i].work(workers[i].context, fake_rest.now_ns);
		next_ns = when_ns < next_ns ? when_ns : next_ns;
	}
	return next_ns;
}

void fake_wait(int64_t at_most_ns)
{
	int64_t end_ns = fake_rest.now_ns + at_most_ns;
	int64_t next_ns = fake_turn();

	if (next_ns > end_ns) {
		next_ns = end_ns;
	}
	if (next_ns > fake_rest.now_ns) {
		fake_rest.now_ns = next_ns;
	}
	(void)fake_turn();
}

/* --- client/rest.h --- */

static char *copy(struct bt_str text)
{
	return bt_strndup(text.data != NULL ? text.data : "", text.length);
}

struct bt_rest_call *bt_rest_start(
	struct bt_rest_client *client, const struct bt_rest_request *request)
{
	struct bt_rest_call *call = BT_NEW(struct bt_rest_call);

	(void)client;
	BT_ASSERT(strcmp(request->method, "GET") == 0);
	call->path = copy(request->path);
	call->query = copy(request->query);
	call->accept = copy(request->accept);
	call->is_watch = request->is_watch;
	call->handler = request->handler;
	bt_vec_push(&fake_rest.calls, call);
	fake_rest.started++;
	return call;
}

static void end_call(struct bt_rest_call *call)
{
	for (uint32_t i = 0; i < fake_rest.calls.count; i++) {
		if (fake_rest.calls.items[i] == call) {
			bt_vec_remove_swap(&fake_rest.calls, i);
			break;
		}
	}
	bt_free(call->path);
	bt_free(call->query);
	bt_free(call->accept);
	bt_free(call->server_state);
	bt_free(call);
}

void bt_rest_cancel(struct bt_rest_call *call)
{
	end_call(call);
}

void bt_rest_append_query(struct bt_strbuf *out, const char *name, struct bt_str value)
{
	bt_strbuf_printf(out, "%s%s=%.*s", out->length != 0 ? "&" : "", name, BT_STR_ARG(value));
}

/* --- the server's side --- */

void fake_rest_reset(void)
{
	BT_ASSERT(fake_rest.calls.count == 0 && worker_count == 0);
	bt_vec_finish(&fake_rest.calls);
	fake_rest = (struct fake_rest){.now_ns = INT64_C(1000000000)};
}

void fake_open(struct bt_rest_call *call, const char *content_type)
{
	call->is_open = true;
	call->handler.opened(call->handler.context, call, bt_str_from(content_type));
}

static bool is_under_way(const struct bt_rest_call *call)
{
	for (uint32_t i = 0; i < fake_rest.calls.count; i++) {
		if (fake_rest.calls.items[i] == call) {
			return true;
		}
	}
	return false;
}

bool fake_data(struct bt_rest_call *call, struct bt_str bytes)
{
	call->handler.data(call->handler.context, call, bytes);
	return is_under_way(call);
}

void fake_done(struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_rest_handler handler = call->handler;

	/*
	 * the reflector must not use the call from now on; as in the real client, the call is freed
	 * after the callback
	 */
	handler.done(handler.context, call, answer);
	end_call(call);
}

void fake_end(struct bt_rest_call *call)
{
	struct bt_rest_answer answer = {.class_ = BT_REST_OK, .code = 200};

	fake_done(call, &answer);
}

void fake_fail(struct bt_rest_call *call, enum bt_http_failure failure)
{
	struct bt_rest_answer answer = {.class_ = BT_REST_TRANSPORT,
		.failure = failure,
		.message = BT_STR_INIT("it did not work")};

	fake_done(call, &answer);
}

void fake_refuse(struct bt_rest_call *call, enum bt_rest_class class_, uint16_t code)
{
	struct bt_rest_answer answer = {
		.class_ = class_, .code = code, .message = BT_STR_INIT("the server said no")};

	fake_done(call, &answer);
}
