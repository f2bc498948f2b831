/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_requests.h"

#include <check.h>

#include "base/alloc.h"

struct bt_rest_call {
	struct bt_rest_handler handler;
};

struct fake_requests fake_requests;

static struct {
	int64_t (*work)(void *context, int64_t now_ns);
	void *context;
} worker;

int64_t bt_loop_now_ns(const struct bt_loop *loop BT_UNUSED)
{
	return fake_requests.now_ns;
}

void bt_loop_call_at(struct bt_loop *loop BT_UNUSED, int64_t when_ns BT_UNUSED)
{
}

void bt_loop_add_worker(struct bt_loop *loop BT_UNUSED,
	int64_t (*work)(void *context, int64_t now_ns), void *context)
{
	worker.work = work;
	worker.context = context;
}

void bt_loop_remove_worker(struct bt_loop *loop BT_UNUSED, const void *context)
{
	ck_assert_ptr_eq(context, worker.context);
	worker.work = NULL;
}

struct bt_rest_call *bt_rest_start(
	struct bt_rest_client *client BT_UNUSED, const struct bt_rest_request *request)
{
	ck_assert_ptr_null(fake_requests.call);
	fake_requests.call = BT_NEW(struct bt_rest_call);
	fake_requests.call->handler = request->handler;
	fake_requests.started++;
	bt_strbuf_reset(&fake_requests.request);
	bt_strbuf_printf(&fake_requests.request, "%s %.*s %.*s\n%.*s", request->method,
		BT_STR_ARG(request->path), BT_STR_ARG(request->content_type),
		BT_STR_ARG(request->body));
	return fake_requests.call;
}

void bt_rest_cancel(struct bt_rest_call *call)
{
	ck_assert_ptr_eq(call, fake_requests.call);
	bt_free(call);
	fake_requests.call = NULL;
}

void bt_rest_append_object(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str resource,
	struct bt_str name)
{
	bt_strbuf_printf(out, "/namespaces/%.*s/%.*s%s%.*s", BT_STR_ARG(namespace_),
		BT_STR_ARG(resource), name.length != 0 ? "/" : "", BT_STR_ARG(name));
}

bool bt_rest_writes_protobuf(const struct bt_rest_client *client BT_UNUSED)
{
	return false;
}

struct bt_str bt_rest_encode_body(const struct bt_rest_client *client BT_UNUSED,
	const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_write_value(&writer, value);
	return BT_STR("application/json");
}

int bt_rest_answer_error(const struct bt_rest_answer *answer, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "%.*s", BT_STR_ARG(answer->message));
}

void fake_requests_reset(void)
{
	bt_strbuf_finish(&fake_requests.request);
	fake_requests = (struct fake_requests){.now_ns = 1000};
}

int64_t fake_requests_turn(void)
{
	return worker.work(worker.context, fake_requests.now_ns);
}

void fake_requests_answer(enum bt_rest_class class_, uint16_t code, const char *message)
{
	struct bt_rest_call *call = fake_requests.call;
	struct bt_rest_answer answer = {
		.class_ = class_, .code = code, .message = bt_str_from(message)};
	ck_assert_ptr_nonnull(call);
	fake_requests.call = NULL;
	call->handler.done(call->handler.context, call, &answer);
	bt_free(call);
}
