/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_NET_CLIENT_FIXTURE_H
#define BT_TESTS_UNIT_NET_CLIENT_FIXTURE_H
/**
 * Fixture for tests of the HTTP client: records the callbacks of a transfer, and runs raw listeners
 * on the same loop. The test writes the answers of the listeners byte by byte.
 */
#include <check.h>

#include "net/http_client.h"

/** One transfer and what its callbacks reported. Start with zero memory, then call result_start. */
struct result {
	struct bt_loop *loop;
	struct bt_http_client *client;
	struct bt_http_transfer *transfer; /* NULL once done */
	bool streams;                      /* consume the body as it arrives */
	bool cancels_at_head;
	bool cancels_at_data;
	uint32_t may_send_count;  /* for a may_send of the test */
	struct result *follow_up; /* started when this transfer ends */
	const char *follow_up_url;
	uint32_t head_count;
	uint32_t data_count;
	uint32_t done_count;
	uint16_t head_code;
	struct bt_http_outcome outcome; /* body and message are copied below */
	struct bt_strbuf body;
	struct bt_strbuf message;
	struct bt_strbuf header; /* header X-Test of the answer */
};

void result_start(struct result *result, struct bt_http_client *client, struct bt_loop *loop,
	const struct bt_http_client_request *request);
/** Starts a GET of the URL. */
void result_get(struct result *result, struct bt_http_client *client, struct bt_loop *loop,
	const char *url);
/** Turns the loop until the transfer is done; fails after ten seconds. */
void result_wait(struct result *result);
void result_finish(struct result *result);

/** A listening socket that holds at most one accepted connection at a time. */
struct peer {
	struct bt_loop *loop;
	int listen_fd;
	int fd; /* -1: none */
	uint16_t port;
	char url[64];
	struct bt_strbuf in;
};

void peer_listen(struct peer *peer, struct bt_loop *loop);
/** Accepts the next connection. */
void peer_accept(struct peer *peer);
/** Receives until the text has arrived. */
void peer_expect(struct peer *peer, const char *text);
void peer_send(struct peer *peer, const char *text);
/** Closes the connection; reset: with a TCP RST. */
void peer_hang_up(struct peer *peer, bool reset);
/** Waits until the client closes the connection. */
void peer_expect_end(struct peer *peer);
void peer_finish(struct peer *peer);
#endif
