/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live_private.h"

#include "base/nanoseconds.h"
#include "cluster/printable.h"

#define CONNECT_TIMEOUT_NS (10 * BT_NS_PER_SECOND)
/** Until the first answer, and from then on between one part and the next. */
#define FIRST_SILENCE_NS (15 * BT_NS_PER_SECOND)
#define SILENCE_NS (60 * BT_NS_PER_SECOND)
/** A credential plugin may ask somebody to log in. */
#define LOGIN_SILENCE_NS (300 * BT_NS_PER_SECOND)
/** What a server may ask for before a list is asked for again. */
#define WAIT_MAX_NS (20 * BT_NS_PER_SECOND)
/** Text of a server that gets into a message. */
#define MESSAGE_BYTES_MAX 300

/** --- the connection --- */

static bool may_wait(void *context, int64_t wait_ns)
{
	struct bt_live *live = context;
	live->has_answered = true;
	if (wait_ns > WAIT_MAX_NS) {
		live->long_wait_ns = wait_ns;
		return false;
	}
	live->heard_ns = bt_loop_now_ns(live->loop) + wait_ns;
	return true;
}

static int connect(struct bt_live *live, struct berth_error *err)
{
	struct bt_transport_options transport = {.loop = live->loop,
		.config = &live->config,
		.connect_timeout_ns = CONNECT_TIMEOUT_NS};
	int result = bt_transport_create(&transport, &live->transport, err);
	if (result < 0) {
		return bt_error_wrap(
			err, result, "kubeconfig: cluster %s", bt_strbuf_c(&live->server));
	}
	struct bt_rest_options options = {
		.transport = live->transport,
		.loop = live->loop,
		.user_agent = "berth/" BT_VERSION,
		.qps = -1,
		.may_wait = may_wait,
		.may_wait_context = live,
	};
	return bt_rest_client_create(&options, &live->client, err);
}

int bt_live_open(const char *kubeconfig, const char *context, struct bt_live **out_live,
	struct berth_error *err)
{
	struct bt_live *live = BT_NEW(struct bt_live);
	struct bt_client_config_input input = {.kubeconfig = kubeconfig};
	int result = bt_client_config_load_context(&input, context, &live->config, err);
	if (result == 0) {
		bt_printable_append(&live->server, live->config.server);
		result = bt_loop_create(&live->loop, err);
	}
	if (result == 0) {
		result = connect(live, err);
	}
	if (result < 0) {
		bt_live_close(live);
		return result;
	}
	live->heard_ns = bt_loop_now_ns(live->loop);
	*out_live = live;
	return 0;
}

void bt_live_close(struct bt_live *live)
{
	if (live == NULL) {
		return;
	}
	bt_rest_client_destroy(live->client);
	bt_transport_destroy(live->transport);
	bt_loop_destroy(live->loop);
	bt_client_config_finish(&live->config);
	bt_strbuf_finish(&live->server);
	bt_free(live);
}

const char *bt_live_server(const struct bt_live *live)
{
	return bt_strbuf_c(&live->server);
}

static int64_t silence_max_ns(const struct bt_live *live)
{
	if (live->has_answered) {
		return SILENCE_NS;
	}
	return live->config.exec != NULL ? LOGIN_SILENCE_NS : FIRST_SILENCE_NS;
}

int bt_live_wait(struct bt_live *live, struct berth_error *err)
{
	int64_t silent_ns = bt_loop_now_ns(live->loop) - live->heard_ns;
	int64_t left_ns = silence_max_ns(live) - silent_ns;
	if (left_ns <= 0) {
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not answer: nothing came for %lld seconds; is it "
			"overloaded, or is something in between?",
			bt_live_server(live), (long long)(silent_ns / BT_NS_PER_SECOND));
	}
	return bt_loop_turn(live->loop, left_ns, err);
}

/** --- errors --- */

static int unreachable(const struct bt_live *live, const struct bt_rest_answer *answer,
	const char *message, struct berth_error *err)
{
	const char *server = bt_live_server(live);
	switch (answer->failure) {
	case BT_HTTP_FAILURE_REFUSED:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: connection refused; is it running, and "
			"does the kubeconfig's context (--context) mean it?",
			server);
	case BT_HTTP_FAILURE_RESOLVE:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: its name is not known here; check the "
			"kubeconfig's server, or the VPN",
			server);
	case BT_HTTP_FAILURE_TLS:
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s is not trusted: %s; check certificate-authority and "
			"the client certificate in the kubeconfig",
			server, message);
	case BT_HTTP_FAILURE_TIMEOUT:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: no connection within 10 seconds; check "
			"the kubeconfig's server, the network, the VPN",
			server);
	case BT_HTTP_FAILURE_RESET:
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s closes connections without an answer; is it an HTTPS "
			"server, and is it healthy?",
			server);
	case BT_HTTP_FAILURE_NONE:
	case BT_HTTP_FAILURE_OTHER:
		break;
	}
	return bt_error_set(
		err, BERTH_ERR_IO, "cannot read from the API server %s: %s", server, message);
}

/** What the HTTP client says, without `Get "https://...": ` before it. */
static struct bt_str without_url(struct bt_str message)
{
	const struct bt_str end = BT_STR("\": ");
	int64_t at = bt_str_has_prefix(message, BT_STR("Get \"")) ? bt_str_find(message, end) : -1;
	return at < 0 ? message : bt_str_sub(message, (uint32_t)at + end.length, message.length);
}

int bt_live_answer_error(const struct bt_live *live, const struct bt_live_list *list,
	const struct bt_rest_answer *answer, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	const char *resource = bt_strbuf_c(&list->resource);
	const char *server = bt_live_server(live);
	int result;
	bt_printable_append(&text, bt_str_sub(without_url(answer->message), 0, MESSAGE_BYTES_MAX));
	const char *message = bt_strbuf_c(&text);
	if (answer->class_ == BT_REST_TRANSPORT) {
		result = unreachable(live, answer, message, err);
	} else if (answer->class_ == BT_REST_UNAUTHORIZED) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not accept the kubeconfig's credentials (401 "
			"Unauthorized): they may have expired, log in again",
			server);
	} else if (answer->class_ == BT_REST_FORBIDDEN) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not allow to list %s: %s; ask for the right "
			"to list %s",
			server, resource, message, resource);
	} else if (live->long_wait_ns != 0 && answer->code != 0) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s is too busy to list %s: try again in %lld seconds, as "
			"it "
			"asks for (HTTP %u)",
			server, resource, (long long)(live->long_wait_ns / BT_NS_PER_SECOND),
			answer->code);
	} else {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s did not list %s: %s (HTTP %u)", server, resource,
			message, answer->code);
	}
	bt_strbuf_finish(&text);
	return result;
}
