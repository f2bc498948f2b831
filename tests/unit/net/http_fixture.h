/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_NET_HTTP_FIXTURE_H
#define BT_TESTS_UNIT_NET_HTTP_FIXTURE_H
/**
 * An HTTP server and raw clients on one event loop: a client waits by turning the loop. Paths say
 * what the handler does: "/later" keeps the exchange for the test, "/stream" streams from a buffer
 * that the test fills, "/websocket" does so over WebSocket, "/endless" streams for ever, "/big"
 * sends eight MB, anything else answers
 * "<method> <path>?<query> <body>".
 */
#include <check.h>

#include "net/http_server.h"

struct fixture {
	struct bt_loop *loop;
	struct bt_http_server *server;
	struct bt_http_limits limits;
	const char *address;
	const char *certificate_pem;
	const char *key_pem;
	struct bt_http_exchange *kept; /* of "/later" or "/stream", the last one */
	struct bt_strbuf feed;         /* what the stream sends next */
	bool feed_ends;
	bool feed_aborts;
	uint32_t request_count;
	uint32_t closed_count;
	uint32_t finish_count;
	uint32_t too_large_count;
	uint64_t endless_bytes;
};

void fixture_start(struct fixture *fixture);
void fixture_finish(struct fixture *fixture);
/** Turn the loop until *counter is value; fails after ten seconds. */
void fixture_wait_count(struct fixture *fixture, const uint32_t *counter, uint32_t value);
void fixture_turns(struct fixture *fixture, uint32_t count);

struct client {
	struct fixture *fixture;
	int fd;
	struct bt_strbuf in;
	bool ended;
};

void client_connect(struct client *client, struct fixture *fixture);
void client_close(struct client *client);
void client_send(struct client *client, const char *data, size_t length);
void client_send_text(struct client *client, const char *text);
/** Take what has arrived, without waiting. */
void client_receive(struct client *client);
/** Until the text has arrived count times; fails after ten seconds, or at the end. */
void client_expect(struct client *client, const char *text, uint32_t count);
/** Until the server closes the connection. */
void client_expect_end(struct client *client);
uint32_t client_count(const struct client *client, const char *text);
void client_forget(struct client *client);
#endif
