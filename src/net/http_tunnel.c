/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "net/http_client_private.h"
#include "net/http_lookup.h"
#include "net/http_server.h"

#define READ_BYTES 4096
/* Constants of RFC 1928 and RFC 1929. */
#define SOCKS_VERSION 5
#define SOCKS_NO_METHOD 0
#define SOCKS_PASSWORD_METHOD 2
#define SOCKS_TEXT_BYTES_MAX 255

enum { SOCKS_GREETED, SOCKS_LOGGED_IN, SOCKS_ASKED };

/* Fails the transfer, closes the connection and returns -1. */
static int fail_transfer(
	struct bt_http_client_connection *connection, const char *what, unsigned int code)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, what);
	if (code != 0) {
		bt_strbuf_printf(&text, " %u", code);
	}
	bt_http_transfer_fail(
		connection->transfer, BT_HTTP_FAILURE_OTHER, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	bt_http_connection_close(connection);
	return -1;
}

void bt_http_tunnel_start(struct bt_http_client_connection *connection)
{
	struct bt_http_tunnel *tunnel = BT_NEW(struct bt_http_tunnel);
	struct bt_str user = connection->proxy->url.user;
	connection->tunnel = tunnel;
	if (connection->proxy->is_socks) {
		bool has_user = user.length != 0;
		bt_strbuf_append(&tunnel->out, has_user ? "\x05\x02\x00\x02" : "\x05\x01\x00",
			has_user ? 4 : 3);
		return;
	}
	struct bt_strbuf address = {0};
	bt_http_url_append_address(&address, bt_strbuf_str(&connection->host), connection->port);
	bt_strbuf_printf(&tunnel->out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", bt_strbuf_c(&address),
		bt_strbuf_c(&address));
	bt_strbuf_finish(&address);
	if (user.length != 0) {
		bt_strbuf_append_c(&tunnel->out, "Proxy-Authorization: ");
		bt_http_url_append_basic(&tunnel->out, user);
		bt_strbuf_append_c(&tunnel->out, "\r\n");
	}
	bt_strbuf_append_c(&tunnel->out, "\r\n");
	tunnel->answer.is_bodiless = true;
}

void bt_http_tunnel_free(struct bt_http_client_connection *connection)
{
	struct bt_http_tunnel *tunnel = connection->tunnel;
	if (tunnel != NULL) {
		bt_strbuf_finish_wiped(&tunnel->out);
		bt_strbuf_finish(&tunnel->in);
		bt_http_answer_finish(&tunnel->answer);
		bt_free(tunnel);
		connection->tunnel = NULL;
	}
}

/*
 * Returns 1 if the tunnel is established, 0 if more bytes are needed, -1 if the connection is
 * closed.
 */
static int read_connect(struct bt_http_client_connection *connection, struct bt_str input)
{
	struct bt_http_answer *answer = &connection->tunnel->answer;
	struct bt_str data;
	switch (bt_http_answer_step(answer, &input, &data)) {
	case BT_HTTP_STEP_HEAD:
		if (answer->code >= 200 && answer->code < 300 && input.length == 0) {
			return 1;
		}
		return fail_transfer(connection, "CONNECT tunnel failed, response", answer->code);
	case BT_HTTP_STEP_MORE:
		return 0;
	default:
		return fail_transfer(connection, "CONNECT tunnel failed, malformed response", 0);
	}
}

static void append_short(struct bt_strbuf *out, struct bt_str text)
{
	bt_strbuf_append_char(out, (char)(unsigned char)text.length);
	bt_strbuf_append_str(out, text);
}

/*
 * Appends user name and password, each after a length byte. false: the user name or the password is
 * malformed or too long.
 */
static bool append_login(struct bt_strbuf *out, struct bt_str user)
{
	struct bt_str name = bt_str_cut(&user, ':');
	struct bt_str parts[] = {name, user.data != NULL ? user : BT_STR("")};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		struct bt_strbuf text = {0};
		bool is_usable = bt_http_percent_decode(parts[i], false, &text) &&
			text.length <= SOCKS_TEXT_BYTES_MAX;
		if (is_usable) {
			append_short(out, bt_strbuf_str(&text));
		}
		bt_strbuf_finish_wiped(&text);
		if (!is_usable) {
			return false;
		}
	}
	return true;
}

/* Returns as read_connect. */
static int read_socks(struct bt_http_client_connection *connection, struct bt_str input)
{
	struct bt_http_tunnel *tunnel = connection->tunnel;
	struct bt_strbuf *in = &tunnel->in;
	bt_strbuf_append_str(in, input);
	const unsigned char *bytes = (const unsigned char *)in->data;
	if (tunnel->step != SOCKS_ASKED) {
		if (in->length < 2) {
			return 0;
		}
		bool asks_password = tunnel->step == SOCKS_GREETED && bytes[0] == SOCKS_VERSION &&
			bytes[1] == SOCKS_PASSWORD_METHOD &&
			connection->proxy->url.user.length != 0;
		bool is_welcome = bytes[1] == SOCKS_NO_METHOD &&
			(tunnel->step == SOCKS_LOGGED_IN || bytes[0] == SOCKS_VERSION);
		bt_strbuf_reset(in);
		if (asks_password) {
			bt_strbuf_append_char(&tunnel->out, '\x01');
			asks_password = append_login(&tunnel->out, connection->proxy->url.user);
			tunnel->step = SOCKS_LOGGED_IN;
		} else if (is_welcome) {
			/* A host name is sent unresolved: the proxy resolves it. */
			struct bt_strbuf *out = &connection->tunnel->out;
			struct bt_str host = bt_strbuf_str(&connection->host);
			struct bt_http_addresses addresses = {0};
			bt_strbuf_append(out, "\x05\x01\x00", 3);
			if (bt_str_equal_without_case(host, BT_STR("localhost")) ||
				!bt_http_lookup_literal(host, &addresses)) {
				bt_strbuf_append_char(out, '\x03');
				append_short(out, host);
			} else if (addresses.list.items[0].any.sa_family == AF_INET) {
				bt_strbuf_append_char(out, '\x01');
				bt_strbuf_append(out, &addresses.list.items[0].v4.sin_addr, 4);
			} else {
				bt_strbuf_append_char(out, '\x04');
				bt_strbuf_append(out, &addresses.list.items[0].v6.sin6_addr, 16);
			}
			bt_vec_finish(&addresses.list);
			bt_strbuf_append_char(out, (char)(unsigned char)(connection->port >> 8));
			bt_strbuf_append_char(out, (char)(unsigned char)(connection->port & 0xff));
			connection->tunnel->step = SOCKS_ASKED;
		}
		if (!asks_password && !is_welcome) {
			return fail_transfer(connection, "socks connect: authentication failed", 0);
		}
		return 0;
	}
	/* reply: version, code, zero, and the address the proxy connects from */
	if (in->length < 5) {
		return 0;
	}
	if (bytes[0] != SOCKS_VERSION || bytes[1] != 0) {
		return fail_transfer(
			connection, "socks connect: the proxy answers with code", bytes[1]);
	}
	size_t wanted = 6 + (bytes[3] == 1 ? 4U : bytes[3] == 4 ? 16U : 1U + bytes[4]);
	if (in->length > wanted) {
		return fail_transfer(connection, "socks connect: malformed answer", 0);
	}
	return in->length == wanted ? 1 : 0;
}

bool bt_http_tunnel_advance(struct bt_http_client_connection *connection)
{
	struct bt_http_tunnel *tunnel = connection->tunnel;
	char data[READ_BYTES];
	for (;;) {
		/* The message fits into an empty send buffer, so a partial write is an error. */
		if (tunnel->out.length != 0) {
			ssize_t sent = bt_http_connection_send(
				connection, tunnel->out.data, tunnel->out.length);
			if (sent != (ssize_t)tunnel->out.length) {
				bt_http_connection_handle_loss(connection);
				return false;
			}
			bt_strbuf_reset(&tunnel->out);
		}
		ssize_t length = bt_http_connection_receive(connection, data, sizeof(data));
		if (length < 0 && errno == EAGAIN) {
			return false;
		}
		if (length <= 0) {
			bt_http_connection_handle_loss(connection);
			return false;
		}
		struct bt_str input = {data, (uint32_t)length};
		int code = connection->proxy->is_socks ? read_socks(connection, input)
						       : read_connect(connection, input);
		if (code < 0) {
			return false;
		}
		if (code > 0) {
			bt_http_tunnel_free(connection);
			return true;
		}
	}
}
