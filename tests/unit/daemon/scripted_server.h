/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCRIPTED_SERVER_H
#define BT_TESTS_UNIT_SCRIPTED_SERVER_H
/**
 * An HTTP server on loopback, in the test's own loop: it notes each request and answers as the test
 * says. One thing at a time for each connection, connections are kept.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "net/loop.h"

struct scripted_request {
	const char *method;
	const char *path; /* with its query */
	struct bt_str content_type;
	struct bt_str body;
};

/** Texts are copied when the answer is given. */
struct scripted_answer {
	uint32_t code;
	const char *headers; /* further ones, each with \r\n; "" */
	struct bt_str body;
	bool hangs;  /* no answer yet: scripted_server_answer_hanging gives it */
	bool closes; /* the connection ends instead of an answer */
};

struct scripted_connection;

struct scripted_server {
	struct bt_loop *loop;
	int fd;
	uint16_t port;
	struct bt_loop_source *source;
	BT_VEC(struct scripted_connection *) connections;
	void *context;
	void (*answer)(void *context, const struct scripted_request *request,
		struct scripted_answer *out_answer);
	/** "METHOD path\nbody\n" of each request, bodies of protobuf in hexadecimal. */
	struct bt_strbuf log;
	uint32_t request_count;
};

void scripted_server_init(struct scripted_server *server, struct bt_loop *loop);
void scripted_server_finish(struct scripted_server *server);
/** The first connection that hangs gets this. */
void scripted_server_answer_hanging(
	struct scripted_server *server, const struct scripted_answer *answer);
/** The log since the last call; borrowed until the next. */
const char *scripted_server_log(struct scripted_server *server);
#endif
