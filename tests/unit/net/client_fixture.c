/* SPDX-License-Identifier: Apache-2.0 */
#include "client_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_NS INT64_C(10000000000)
#define TURN_NS INT64_C(2000000)

static void turn(struct bt_loop *loop, int64_t start_ns, const char *what)
{
	if (bt_loop_turn(loop, TURN_NS, NULL) != 0) {
		ck_abort_msg("the loop failed");
	}
	if (bt_loop_now_ns(loop) - start_ns > WAIT_NS) {
		ck_abort_msg("waited in vain for %s", what);
	}
}

static void on_head(void *context, struct bt_http_transfer *transfer, uint16_t code)
{
	struct result *result = context;
	ck_assert_ptr_eq(result->transfer, transfer);
	result->head_count++;
	result->head_code = code;
	if (result->cancels_at_head) {
		bt_http_transfer_cancel(transfer);
		result->transfer = NULL;
	}
}

static void on_data(void *context, struct bt_http_transfer *transfer, struct bt_str bytes)
{
	struct result *result = context;
	ck_assert_ptr_eq(result->transfer, transfer);
	result->data_count++;
	bt_strbuf_append_str(&result->body, bytes);
	if (result->cancels_at_data) {
		bt_http_transfer_cancel(transfer);
		result->transfer = NULL;
	}
}

static void on_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	struct result *result = context;
	ck_assert_ptr_eq(result->transfer, transfer);
	result->done_count++;
	result->outcome = *outcome;
	bt_strbuf_append_str(&result->body, outcome->body);
	bt_strbuf_append_c(&result->message, outcome->message);
	bt_strbuf_append_str(&result->header, bt_http_transfer_header(transfer, "x-test"));
	result->transfer = NULL;
	bt_http_transfer_cancel(transfer); /* cancelling a finished transfer is harmless */
	if (result->follow_up != NULL) {
		result_get(result->follow_up, result->client, result->loop, result->follow_up_url);
	}
}

void result_start(struct result *result, struct bt_http_client *client, struct bt_loop *loop,
	const struct bt_http_client_request *request)
{
	struct bt_http_client_request copy = *request;
	result->loop = loop;
	result->client = client;
	copy.handler.context = result;
	copy.handler.head = on_head;
	copy.handler.data = result->streams ? on_data : NULL;
	copy.handler.done = on_done;
	result->transfer = bt_http_client_start(client, &copy);
}

void result_get(
	struct result *result, struct bt_http_client *client, struct bt_loop *loop, const char *url)
{
	struct bt_http_client_request request = {.method = "GET", .url = url};
	result_start(result, client, loop, &request);
}

void result_wait(struct result *result)
{
	int64_t start_ns = bt_loop_now_ns(result->loop);
	while (result->done_count == 0) {
		turn(result->loop, start_ns, "the end of a transfer");
	}
	ck_assert_uint_eq(result->done_count, 1);
}

void result_finish(struct result *result)
{
	bt_strbuf_finish(&result->body);
	bt_strbuf_finish(&result->message);
	bt_strbuf_finish(&result->header);
}

void peer_listen(struct peer *peer, struct bt_loop *loop)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	struct peer fresh = {.loop = loop, .fd = -1};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fresh.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(fresh.listen_fd, 0);
	ck_assert_int_eq(bind(fresh.listen_fd, (const void *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fresh.listen_fd, SOMAXCONN), 0);
	ck_assert_int_eq(getsockname(fresh.listen_fd, (void *)&address, &length), 0);
	fresh.port = ntohs(address.sin_port);
	ck_assert_int_gt(snprintf(fresh.url, sizeof(fresh.url), "http://127.0.0.1:%u",
				 (unsigned int)fresh.port),
		0);
	*peer = fresh;
}

void peer_accept(struct peer *peer)
{
	int64_t start_ns = bt_loop_now_ns(peer->loop);
	ck_assert_int_lt(peer->fd, 0);
	while ((peer->fd = accept(peer->listen_fd, NULL, NULL)) < 0) {
		turn(peer->loop, start_ns, "a connection");
	}
	bt_strbuf_reset(&peer->in);
}

static bool receive(struct peer *peer)
{
	char buffer[65536];
	ssize_t count;
	while ((count = recv(peer->fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
		bt_strbuf_append(&peer->in, buffer, (size_t)count);
	}
	return count < 0 && errno == EAGAIN;
}

void peer_expect(struct peer *peer, const char *text)
{
	int64_t start_ns = bt_loop_now_ns(peer->loop);
	bool is_open = receive(peer);
	while (strstr(bt_strbuf_c(&peer->in), text) == NULL) {
		if (!is_open) {
			ck_abort_msg("ended without \"%s\": %s", text, bt_strbuf_c(&peer->in));
		}
		turn(peer->loop, start_ns, text);
		is_open = receive(peer);
	}
}

void peer_send(struct peer *peer, const char *text)
{
	size_t length = strlen(text);
	ck_assert_int_eq(send(peer->fd, text, length, MSG_NOSIGNAL), (ssize_t)length);
}

void peer_hang_up(struct peer *peer, bool reset)
{
	struct linger linger = {.l_onoff = 1};
	if (reset) {
		ck_assert_int_eq(
			setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	}
	ck_assert_int_eq(close(peer->fd), 0);
	peer->fd = -1;
}

void peer_expect_end(struct peer *peer)
{
	int64_t start_ns = bt_loop_now_ns(peer->loop);
	while (receive(peer)) {
		turn(peer->loop, start_ns, "the client's end");
	}
}

void peer_finish(struct peer *peer)
{
	if (peer->fd >= 0) {
		ck_assert_int_eq(close(peer->fd), 0);
	}
	ck_assert_int_eq(close(peer->listen_fd), 0);
	bt_strbuf_finish(&peer->in);
}
