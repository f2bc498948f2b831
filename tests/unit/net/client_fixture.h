/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_NET_CLIENT_FIXTURE_H
#define BT_TESTS_UNIT_NET_CLIENT_FIXTURE_H
/**
 * For tests of the HTTP client: what became of a transfer, and raw listeners on the same loop whose
 * answers the test writes byte by byte.
 */
#include <check.h>

#include "net/http_client.h"

/** One transfer and all that was told of it. Zero memory, then result_start. */
struct result {
	struct bt_loop *loop;
	struct bt_http_client *client;
	struct bt_http_transfer *transfer; /* NULL once done */
	bool streams;                      /* take the body as it comes */
	bool cancels_at_head;
	bool cancels_at_data;
	struct result *follow_up; /* started by the end of this one */
	const char *follow_up_url;
	uint32_t head_count;
	uint32_t data_count;
	uint32_t done_count;
	uint16_t head_code;
	struct bt_http_outcome outcome; /* body and message are below */
	struct bt_strbuf body;
	struct bt_strbuf message;
	struct bt_strbuf header; /* X-Test of the answer */
};

void result_start(struct result *result, struct bt_http_client *client, struct bt_loop *loop,
	const struct bt_http_client_request *request);
/** A GET of the URL. */
void result_get(struct result *result, struct bt_http_client *client, struct bt_loop *loop,
	const char *url);
/** Until it is done; fails after ten seconds. */
void result_wait(struct result *result);
void result_finish(struct result *result);

/** A listening socket with at most one connection taken at a time. */
struct peer {
	struct bt_loop *loop;
	int listen_fd;
	int fd; /* -1: none */
	uint16_t port;
	char url[64];
	struct bt_strbuf in;
};

void peer_listen(struct peer *peer, struct bt_loop *loop);
/** Take the next connection. */
void peer_accept(struct peer *peer);
/** Until the text has come. */
void peer_expect(struct peer *peer, const char *text);
void peer_send(struct peer *peer, const char *text);
/** The connection; reset: without a farewell. */
void peer_hang_up(struct peer *peer, bool reset);
/** Until the client closes its end. */
void peer_expect_end(struct peer *peer);
void peer_finish(struct peer *peer);
#endif
