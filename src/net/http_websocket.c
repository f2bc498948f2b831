/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams over WebSocket (RFC 6455): each read of the stream is sent as one binary message.
 * Messages of the client are read and dropped; pings and the closing handshake are answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "codec/base64.h"
#include "net/http_server_private.h"

#define MESSAGE_BYTES_MAX 16384
/* A frame's header of at most 14 bytes, and the payload of a control frame. */
#define HEADER_BYTES_MAX 14
#define CONTROL_BYTES_MAX 125
/* Limit of unsent pongs for a slow client; beyond it the connection ends. */
#define PENDING_BYTES_MAX (4 * MESSAGE_BYTES_MAX)

enum opcode {
	OPCODE_BINARY = 2,
	OPCODE_CLOSE = 8,
	OPCODE_PING = 9,
	OPCODE_PONG = 10,
};

struct bt_http_websocket {
	struct bt_http_exchange *exchange;
	struct MHD_UpgradeResponseHandle *handle;
	int fd; /* with TLS: one end of a socket pair */
	struct bt_loop_source *source;
	/*
	 * libmicrohttpd forwards data of upgraded TLS connections a few bytes at a time, which is
	 * too slow for sending; data is therefore sent directly through the session.
	 */
	gnutls_session_t session; /* NULL: no TLS */
	struct bt_loop_source *session_source;
	bool repeats;         /* the session must repeat its last record */
	struct bt_strbuf out; /* not sent yet */
	size_t sent;
	bool is_closing; /* a close frame is in out, or was sent */
	bool is_closed;  /* the client has sent its close frame */
	bool is_awaited; /* a deadline for the client's close frame is set */
	unsigned char frame[HEADER_BYTES_MAX + CONTROL_BYTES_MAX]; /* the frame being read */
	uint32_t frame_length;
	uint64_t skip; /* remaining bytes of a data frame to drop */
};

/** Returns true if the comma-separated list contains the word, ignoring case. */
static bool has_item(struct bt_str list, struct bt_str word)
{
	while (list.length != 0) {
		struct bt_str item = bt_str_trim(bt_str_cut(&list, ','), BT_STR_SPACE);
		if (bt_str_equal_without_case(item, word)) {
			return true;
		}
	}
	return false;
}

bool bt_http_is_websocket_upgrade(struct bt_str connection, struct bt_str upgrade)
{
	return has_item(connection, BT_STR("upgrade")) && has_item(upgrade, BT_STR("websocket"));
}

static void append_frame(
	struct bt_http_websocket *websocket, enum opcode opcode, const void *data, uint32_t length)
{
	const unsigned char header[] = {(unsigned char)(0x80 | opcode),
		(unsigned char)(length < 126 ? length : 126), (unsigned char)(length >> 8),
		(unsigned char)length};
	BT_ASSERT(length <= UINT16_MAX);
	bt_strbuf_append(&websocket->out, header, length < 126 ? 2 : 4);
	bt_strbuf_append(&websocket->out, data, length);
}

static void close_websocket(struct bt_http_websocket *websocket, uint16_t code)
{
	const unsigned char payload[] = {(unsigned char)(code >> 8), (unsigned char)code};
	if (!websocket->is_closing) {
		websocket->is_closing = true;
		append_frame(websocket, OPCODE_CLOSE, payload, sizeof(payload));
	}
}

void bt_http_websocket_end(struct bt_http_websocket *websocket)
{
	struct bt_http_server *server = websocket->exchange->server;
	bt_loop_remove_fd(server->loop, websocket->source);
	bt_loop_remove_fd(server->loop, websocket->session_source);
	bt_strbuf_finish(&websocket->out);
	websocket->exchange->websocket = NULL;
	websocket->exchange->ends_websocket = true;
	server->ending_count++;
	/* fails only for a handle that is closed already */
	(void)MHD_upgrade_action(websocket->handle, MHD_UPGRADE_ACTION_CLOSE);
	bt_free(websocket);
	server->resumed = true;
	bt_loop_call_at(server->loop, 0);
}

/*
 * Processes the frame whose header bytes are collected so far. false: too many pongs are not sent
 * yet, and the caller must close the connection.
 */
static bool take_frame(struct bt_http_websocket *websocket)
{
	const unsigned char *frame = websocket->frame;
	uint32_t short_length = frame[1] & 0x7fu;
	uint32_t extended = short_length == 127 ? 8 : short_length == 126 ? 2 : 0;
	uint32_t header = 2 + extended + 4;
	uint64_t length = extended == 0 ? short_length : 0;
	enum opcode opcode = frame[0] & 0x0fu;
	if (websocket->frame_length < 2) {
		return true;
	}
	if ((frame[1] & 0x80u) == 0) {
		close_websocket(websocket, 1002); /* RFC 6455: clients must mask */
		return true;
	}
	if (websocket->frame_length < header) {
		return true;
	}
	for (uint32_t i = 0; i < extended; i++) {
		length = length << 8 | frame[2 + i];
	}
	if (opcode < OPCODE_CLOSE) {
		websocket->skip = length;
		websocket->frame_length = 0;
		return true;
	}
	if (length > CONTROL_BYTES_MAX) {
		close_websocket(websocket, 1002);
		return true;
	}
	if (websocket->frame_length < header + length) {
		return true;
	}
	websocket->frame_length = 0;
	if (opcode == OPCODE_CLOSE) {
		websocket->is_closed = true;
		close_websocket(websocket, 1000);
		return true;
	}
	if (opcode == OPCODE_PING && !websocket->is_closing) {
		unsigned char payload[CONTROL_BYTES_MAX];
		for (uint32_t i = 0; i < length; i++) {
			payload[i] = frame[header + i] ^ frame[header - 4 + i % 4];
		}
		append_frame(websocket, OPCODE_PONG, payload, (uint32_t)length);
	}
	return websocket->out.length - websocket->sent <= PENDING_BYTES_MAX;
}

static bool take_input(struct bt_http_websocket *websocket, const char *data, size_t length)
{
	while (length != 0) {
		if (websocket->skip != 0) {
			size_t count = (size_t)BT_MIN(websocket->skip, length);
			websocket->skip -= count;
			data += count;
			length -= count;
			continue;
		}
		if (websocket->frame_length == sizeof(websocket->frame)) {
			return true; /* protocol error: the connection is closing */
		}
		websocket->frame[websocket->frame_length++] = (unsigned char)*data++;
		length--;
		if (!take_frame(websocket)) {
			return false;
		}
	}
	return true;
}

static void await_room(struct bt_http_websocket *websocket, bool waits)
{
	uint32_t writable = waits ? BT_LOOP_WRITABLE : 0;
	if (websocket->session != NULL) {
		bt_loop_set_directions(websocket->session_source, writable);
	} else {
		bt_loop_set_directions(websocket->source, BT_LOOP_READABLE | writable);
	}
}

/* Sends a part of the buffered data; returns as send does. */
static ssize_t send_some(struct bt_http_websocket *websocket)
{
	const char *data = websocket->out.data + websocket->sent;
	size_t length = websocket->out.length - websocket->sent;
	if (websocket->session == NULL) {
		return send(websocket->fd, data, length, MSG_NOSIGNAL);
	}
	ssize_t count = websocket->repeats ? gnutls_record_send(websocket->session, NULL, 0)
					   : gnutls_record_send(websocket->session, data, length);
	websocket->repeats = count == GNUTLS_E_AGAIN || count == GNUTLS_E_INTERRUPTED;
	if (count < 0) {
		errno = websocket->repeats ? EAGAIN : EPIPE;
	}
	return count;
}

/* Sends buffered data and more of the stream; ends the connection on errors. */
static void send_frames(struct bt_http_websocket *websocket)
{
	struct bt_http_exchange *exchange = websocket->exchange;
	char message[MESSAGE_BYTES_MAX];
	for (;;) {
		while (websocket->sent < websocket->out.length) {
			ssize_t count = send_some(websocket);
			if (count < 0 && errno == EINTR) {
				continue;
			}
			if (count < 0 && errno == EAGAIN) {
				await_room(websocket, true);
				return;
			}
			if (count <= 0) {
				bt_http_websocket_end(websocket);
				return;
			}
			websocket->sent += (size_t)count;
		}
		bt_strbuf_reset(&websocket->out);
		websocket->sent = 0;
		await_room(websocket, false);
		if (websocket->is_closing) {
			/*
			 * Keep reading until the client's close frame: closing with unread data
			 * could reset the connection before the client reads our frame.
			 */
			if (websocket->is_closed) {
				bt_http_websocket_end(websocket);
			} else if (!websocket->is_awaited) {
				websocket->is_awaited = true;
				bt_http_server_await(exchange->server, exchange->connection);
			}
			return;
		}
		int64_t count =
			exchange->stream.read(exchange->stream.context, message, sizeof(message));
		if (count == BT_HTTP_STREAM_WAIT) {
			return;
		}
		if (count == BT_HTTP_STREAM_ABORT) {
			bt_http_websocket_end(websocket);
			return;
		}
		if (count == BT_HTTP_STREAM_END) {
			close_websocket(websocket, 1000);
		} else {
			append_frame(websocket, OPCODE_BINARY, message, (uint32_t)count);
		}
	}
}

static void on_event(void *context, uint32_t directions)
{
	struct bt_http_websocket *websocket = context;
	char buffer[4096];
	if ((directions & (BT_LOOP_READABLE | BT_LOOP_HANGUP)) != 0) {
		ssize_t count = recv(websocket->fd, buffer, sizeof(buffer), 0);
		bool is_idle = count < 0 && (errno == EAGAIN || errno == EINTR);
		if ((count <= 0 && !is_idle) ||
			(count > 0 && !take_input(websocket, buffer, (size_t)count))) {
			bt_http_websocket_end(websocket);
			return;
		}
	}
	send_frames(websocket);
}

static void on_room(void *context, uint32_t directions)
{
	(void)directions; /* only one direction is watched */
	send_frames(context);
}

/* Called by libmicrohttpd after the headers are sent: from now on this file uses the socket. */
static void on_upgraded(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_length, MHD_socket fd,
	struct MHD_UpgradeResponseHandle *handle)
{
	struct bt_http_exchange *exchange = context;
	struct bt_http_websocket *websocket = BT_NEW(struct bt_http_websocket);
	(void)connection; /* known from the exchange */
	(void)request_context;
	*websocket = (struct bt_http_websocket){.exchange = exchange, .handle = handle, .fd = fd};
	exchange->websocket = websocket;
	exchange->suspended = true; /* libmicrohttpd does not run the connection any more */
	exchange->server->active_count--;
	struct bt_loop *loop = exchange->server->loop;
	int flags = fcntl(fd, F_GETFL);
	bool is_watched = flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) >= 0 &&
		bt_loop_watch_fd(loop, fd, BT_LOOP_READABLE, on_event, websocket,
			&websocket->source, NULL) == 0;
	if (is_watched && exchange->connection->tls_set != NULL) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(
			exchange->handle, MHD_CONNECTION_INFO_GNUTLS_SESSION);
		BT_ASSERT(info != NULL);
		websocket->session = info->tls_session;
		is_watched = bt_loop_watch_fd(loop, bt_http_socket_of(exchange->handle),
				     BT_LOOP_WRITABLE, on_room, websocket,
				     &websocket->session_source, NULL) == 0;
	}
	if (!is_watched || !take_input(websocket, extra, extra_length)) {
		bt_http_websocket_end(websocket);
		return;
	}
	send_frames(websocket);
}

void bt_http_answer_websocket(struct bt_http_exchange *exchange, const char *protocol,
	const struct bt_http_stream *stream)
{
	struct bt_strbuf text = {0};
	unsigned char digest[20];
	bt_strbuf_append_str(&text, bt_http_header(exchange, "Sec-WebSocket-Key"));
	bt_strbuf_append_c(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
	int code = gnutls_hash_fast(GNUTLS_DIG_SHA1, text.data, text.length, digest);
	BT_ASSERT(code == 0);
	bt_strbuf_reset(&text);
	bt_base64_encode((struct bt_str){(const char *)digest, sizeof(digest)}, &text);
	bt_http_add_header(exchange, "Upgrade", BT_STR("websocket"));
	bt_http_add_header(exchange, "Sec-WebSocket-Accept", bt_strbuf_str(&text));
	if (protocol != NULL) {
		bt_http_add_header(exchange, "Sec-WebSocket-Protocol", bt_str_from(protocol));
	}
	bt_strbuf_finish(&text);
	exchange->stream = *stream;
	exchange->streaming = true;
	bt_http_answer_response(exchange, MHD_HTTP_SWITCHING_PROTOCOLS,
		MHD_create_response_for_upgrade(on_upgraded, exchange), false);
}

void bt_http_websocket_resume(struct bt_http_websocket *websocket)
{
	if (!websocket->is_closing && websocket->sent == websocket->out.length) {
		send_frames(websocket);
	}
}
