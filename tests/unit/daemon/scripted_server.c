/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct scripted_connection {
	struct scripted_server *server;
	int fd;
	struct bt_loop_source *source;
	struct bt_strbuf input;
	bool hangs;
};

static void close_connection(struct scripted_connection *connection)
{
	struct scripted_server *server = connection->server;
	for (uint32_t i = 0; i < server->connections.count; i++) {
		if (server->connections.items[i] == connection) {
			bt_vec_remove_ordered(&server->connections, i);
			break;
		}
	}
	bt_loop_remove_fd(server->loop, connection->source);
	(void)close(connection->fd);
	bt_strbuf_finish(&connection->input);
	bt_free(connection);
}

static void send_all(int fd, const struct bt_strbuf *text)
{
	ck_assert_int_eq(send(fd, text->data, text->length, MSG_NOSIGNAL), (ssize_t)text->length);
}

/**
 * Sends the answer, or closes the connection if the answer says so. Returns false if the connection
 * is closed.
 */
static bool give_answer(
	struct scripted_connection *connection, const struct scripted_answer *answer)
{
	struct bt_strbuf text = {0};
	if (answer->closes) {
		close_connection(connection);
		return false;
	}
	connection->hangs = answer->hangs;
	if (!answer->hangs) {
		bt_strbuf_printf(&text, "HTTP/1.1 %u x\r\nContent-Length: %u\r\n%s\r\n",
			answer->code, answer->body.length,
			answer->headers != NULL ? answer->headers
						: "Content-Type: application/json\r\n");
		bt_strbuf_append_str(&text, answer->body);
		send_all(connection->fd, &text);
	}
	bt_strbuf_finish(&text);
	return true;
}

static void note(struct scripted_server *server, const struct scripted_request *request)
{
	bool is_text = request->content_type.length == 0 ||
		bt_str_find(request->content_type, BT_STR("json")) >= 0;
	bt_strbuf_printf(&server->log, "%s %s\n", request->method, request->path);
	if (is_text) {
		bt_strbuf_append_str(&server->log, request->body);
	} else {
		for (uint32_t i = 0; i < request->body.length; i++) {
			bt_strbuf_printf(
				&server->log, "%02x", (unsigned char)request->body.data[i]);
		}
	}
	bt_strbuf_append_c(&server->log, request->body.length != 0 ? "\n" : "");
	server->request_count++;
}

/** Returns the value of a header of the zero-terminated head. */
static struct bt_str header(const char *head, const char *name)
{
	const char *line = strstr(head, "\r\n");
	size_t length = strlen(name);
	while (line != NULL) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
			const char *value = line + length + 1 + (line[length + 1] == ' ');
			const char *end = strstr(value, "\r\n");
			return (struct bt_str){value,
				(uint32_t)(end != NULL ? (size_t)(end - value) : strlen(value))};
		}
		line = strstr(line, "\r\n");
	}
	return BT_STR("");
}

/**
 * Takes one complete request from the input and serves it. Returns false if no complete request has
 * arrived, or if the connection ended.
 */
static bool serve_one(struct scripted_connection *connection)
{
	struct bt_strbuf *input = &connection->input;
	struct bt_str all = bt_strbuf_str(input);
	int64_t head_length = bt_str_find(all, BT_STR("\r\n\r\n"));
	if (connection->hangs || head_length < 0) {
		return false;
	}
	char *head = bt_strndup(all.data, (size_t)head_length);
	struct bt_str length_text = header(head, "content-length");
	int64_t body_length = 0;
	if (length_text.length != 0) {
		ck_assert(bt_str_parse_int64(length_text, &body_length));
	}
	size_t total = (size_t)head_length + 4 + (size_t)body_length;
	bool complete = all.length >= total;
	if (complete) {
		struct scripted_request request = {
			.content_type = header(head, "content-type"),
			.body = bt_str_sub(all, (uint32_t)head_length + 4, (uint32_t)body_length),
		};
		struct scripted_answer answer = {.code = 200, .body = BT_STR("{}")};
		char *line = bt_strndup(head, strcspn(head, "\r"));
		char *path = strchr(line, ' ');
		ck_assert_ptr_nonnull(path);
		*path++ = '\0';
		*strrchr(path, ' ') = '\0';
		request.method = line;
		request.path = path;
		note(connection->server, &request);
		connection->server->answer(connection->server->context, &request, &answer);
		struct bt_strbuf rest = {0};
		bt_strbuf_append(&rest, all.data + total, all.length - total);
		bt_strbuf_finish(input);
		*input = rest;
		complete = give_answer(connection, &answer);
		bt_free(line);
	}
	bt_free(head);
	return complete;
}

static void readable(void *context)
{
	struct scripted_connection *connection = context;
	char bytes[16384];
	ssize_t count = recv(connection->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (count <= 0) {
		close_connection(connection);
		return;
	}
	bt_strbuf_append(&connection->input, bytes, (size_t)count);
	while (serve_one(connection)) {
	}
}

static void accept_one(void *context)
{
	struct scripted_server *server = context;
	int fd = accept(server->fd, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	struct scripted_connection *connection = BT_NEW(struct scripted_connection);
	connection->server = server;
	connection->fd = fd;
	ck_assert_int_eq(
		bt_loop_add_fd(server->loop, fd, readable, connection, &connection->source, NULL),
		0);
	bt_vec_push(&server->connections, connection);
}

void scripted_server_answer_hanging(
	struct scripted_server *server, const struct scripted_answer *answer)
{
	for (uint32_t i = 0; i < server->connections.count; i++) {
		struct scripted_connection *connection = server->connections.items[i];
		if (connection->hangs) {
			if (give_answer(connection, answer)) {
				while (serve_one(connection)) {
				}
			}
			return;
		}
	}
	ck_abort_msg("no request hangs");
}

const char *scripted_server_log(struct scripted_server *server)
{
	static char text[65536];
	ck_assert_uint_lt(server->log.length, sizeof(text));
	memcpy(text, bt_strbuf_c(&server->log), server->log.length + 1);
	bt_strbuf_reset(&server->log);
	return text;
}

void scripted_server_init(struct scripted_server *server, struct bt_loop *loop)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	*server = (struct scripted_server){.loop = loop};
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(server->fd, 0);
	ck_assert_int_eq(bind(server->fd, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(server->fd, 64), 0);
	ck_assert_int_eq(getsockname(server->fd, (struct sockaddr *)&address, &length), 0);
	server->port = ntohs(address.sin_port);
	ck_assert_int_eq(
		bt_loop_add_fd(loop, server->fd, accept_one, server, &server->source, NULL), 0);
}

void scripted_server_finish(struct scripted_server *server)
{
	while (server->connections.count != 0) {
		close_connection(server->connections.items[0]);
	}
	bt_vec_finish(&server->connections);
	bt_loop_remove_fd(server->loop, server->source);
	(void)close(server->fd);
	bt_strbuf_finish(&server->log);
}
