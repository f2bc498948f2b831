/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCRIPTED_SERVER_H
#define BT_TESTS_UNIT_SCRIPTED_SERVER_H
/**
 * An HTTP server on loopback, in the test's own loop: it logs each request and sends the answer
 * that the test chooses. Connections are kept alive; each serves one request at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "net/loop.h"

struct scripted_request {
	const char *method;
	const char *path; /* with the query */
	struct bt_str content_type;
	struct bt_str body;
};

/** The server copies the texts when it sends the answer. */
struct scripted_answer {
	uint32_t code;
	const char *headers; /* further headers, each with \r\n; "": none */
	struct bt_str body;
	bool hangs;  /* the answer comes later, by scripted_server_answer_hanging */
	bool closes; /* the server closes the connection instead of answering */
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
	/** Logs "METHOD path\nbody\n" for each request; protobuf bodies are hexadecimal. */
	struct bt_strbuf log;
	uint32_t request_count;
};

void scripted_server_init(struct scripted_server *server, struct bt_loop *loop);
void scripted_server_finish(struct scripted_server *server);
/** Answers the request of the first hanging connection. */
void scripted_server_answer_hanging(
	struct scripted_server *server, const struct scripted_answer *answer);
/** Returns the log since the last call; borrowed until the next call. */
const char *scripted_server_log(struct scripted_server *server);
#endif
