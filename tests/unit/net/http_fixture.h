/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_NET_HTTP_FIXTURE_H
#define BT_TESTS_UNIT_NET_HTTP_FIXTURE_H
/**
 * An HTTP server and raw clients on one event loop: a client waits by turning the loop. The path
 * selects the answer of the handler: "/later" keeps the exchange for the test, "/stream" streams
 * from a buffer that the test fills, "/websocket" streams from that buffer over WebSocket,
 * "/endless" streams without end, "/big" sends eight MB, any other path answers "<method>
 * <path>?<query> <body>".
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
	struct bt_http_exchange *kept; /* last exchange of "/later" or "/stream" */
	struct bt_strbuf feed;         /* data that the stream sends next */
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
/** Turns the loop until *counter is value; fails after ten seconds. */
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
/** Receives the bytes that have arrived, without waiting. */
void client_receive(struct client *client);
/**
 * Waits until the text has arrived count times; fails after ten seconds or when the connection
 * ends.
 */
void client_expect(struct client *client, const char *text, uint32_t count);
/** Waits until the server closes the connection. */
void client_expect_end(struct client *client);
uint32_t client_count(const struct client *client, const char *text);
void client_forget(struct client *client);
#endif
