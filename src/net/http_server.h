/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_SERVER_H
#define BT_NET_HTTP_SERVER_H
/**
 * An HTTP/1.1 server on an event loop, with or without TLS. Requests are delivered complete,
 * including the body; answers may be given at once or later, as a whole or as a stream that is read
 * when the client accepts more. All buffers are bounded: bodies have a limit, a stream is read only
 * as far as its data fits. Independent of Kubernetes. Uses libmicrohttpd and GnuTLS.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "net/loop.h"

/**
 * TLS settings of a server, in the terms of upstream's flags, converted to GnuTLS's priority
 * string. Spec: 11 section 4.3. Stateless.
 */

enum bt_tls_version {
	BT_TLS_VERSION_DEFAULT, /* 1.2 */
	BT_TLS_VERSION_10,
	BT_TLS_VERSION_11,
	BT_TLS_VERSION_12,
	BT_TLS_VERSION_13,
};

/** All zero: the defaults. */
struct bt_tls_options {
	enum bt_tls_version min_version;
	/**
	 * IANA names, such as "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"; count 0: the default suites.
	 * The names apply to TLS 1.2 and older; all suites of TLS 1.3 are always offered.
	 */
	const struct bt_str *cipher_suites;
	uint32_t cipher_suite_count;
	/** Ids of the IANA registry of supported groups, in order; count 0: the default curves. */
	const int32_t *curves;
	uint32_t curve_count;
};

/** Parses "VersionTLS12"; "" is the default. BERTH_ERR_INVALID: `unknown tls version "X"`. */
BT_MUST_USE int bt_tls_version_parse(
	struct bt_str text, enum bt_tls_version *out_version, struct berth_error *err);
/** Returns true if upstream accepts the name; *out_is_insecure: upstream logs a warning. */
bool bt_tls_cipher_suite_is_known(struct bt_str name, bool *out_is_insecure);
/**
 * Appends the priority string. BERTH_ERR_INVALID: `Cipher suite X not supported or doesn't exist`,
 * or GnuTLS supports none of the suites. GnuTLS selects key exchange, cipher and MAC separately, so
 * other combinations of the named suites' parts are possible, too. If no named suite uses AEAD,
 * AES-GCM is added, because TLS 1.3 needs it.
 */
BT_MUST_USE int bt_tls_priorities(
	const struct bt_tls_options *options, struct bt_strbuf *out, struct berth_error *err);

struct bt_http_server;
/** One request and its answer. Valid until the handler's `closed` returns. */
struct bt_http_exchange;

struct bt_http_limits {
	uint32_t body_bytes_max; /* larger bodies: too_large of the handler is called */
	/**
	 * All bodies together, not counting the first 64 KiB of each; a body that exceeds it closes
	 * its connection. 0: unlimited.
	 */
	uint32_t large_bodies_bytes_max;
	uint32_t header_bytes_max;        /* larger request headers: 431 */
	uint32_t connections_max;         /* further ones replace idle ones, or wait */
	uint32_t connections_per_ip_max;  /* 0: unlimited */
	uint32_t idle_timeout_seconds;    /* between requests, and while a request arrives */
	uint32_t stalled_timeout_seconds; /* while a client reads nothing of its answer */
};

/** Default limits, sensible for a server of one machine. */
extern const struct bt_http_limits bt_http_default_limits;

struct bt_http_handler {
	void *context;
	/**
	 * Called with a complete request. Answer now or later, by calling exactly one of the
	 * functions bt_http_answer*.
	 */
	void (*request)(void *context, struct bt_http_exchange *exchange);
	/** Called if the body exceeds the limit: answer at once (the connection is then closed). */
	void (*too_large)(void *context, struct bt_http_exchange *exchange);
	/** Called when the exchange ends, answered or not (the client may have disconnected). */
	void (*closed)(void *context, struct bt_http_exchange *exchange);
};

/** A serving pair, selected by the SNI name of the client. PEM texts. */
struct bt_http_sni_pair {
	const char *certificate_pem; /* includes the chain */
	const char *key_pem;
	/** "example.org", "*.example.org"; count 0: the names in the certificate. */
	const struct bt_str *names;
	uint32_t name_count;
};

/** Certificates for new connections. */
struct bt_http_certificates {
	/** Includes the chain. For clients whose SNI name matches no pair of sni. */
	const char *certificate_pem;
	const char *key_pem;
	const struct bt_http_sni_pair *sni; /* the first match is used */
	uint32_t sni_count;
};

struct bt_http_server_options {
	const char *address;                      /* "127.0.0.1", "::1", "0.0.0.0" */
	uint16_t port;                            /* 0: any free port */
	struct bt_http_certificates certificates; /* certificate_pem NULL: plain HTTP */
	struct bt_http_limits limits;
	struct bt_http_handler handler;

	/** As upstream: "0.0.0.0" and "::" listen on all addresses of both families. */
	bool both_families;
	bool share_port; /* sets SO_REUSEPORT; SO_REUSEADDR is always set */
	/** Binds the port without accepting: connections wait until bt_http_server_serve. */
	bool serve_later;
	struct bt_tls_options tls;
	/**
	 * Requests a client certificate. The server verifies only possession of the key; see
	 * bt_http_peer_certificates. Disables session tickets.
	 */
	bool ask_client_certificate;
	/**
	 * CA certificates, PEM. The server sends the names of the CAs, by which clients select a
	 * certificate. NULL: no names.
	 */
	const char *client_ca_pem;
};

/**
 * Creates a server and binds its port. BERTH_ERR_IO: the port cannot be bound, `listen tcp
 * 0.0.0.0:10259: bind: address already in use`. BERTH_ERR_INVALID: the address, a certificate or
 * the TLS options are unusable.
 */
BT_MUST_USE int bt_http_server_create(struct bt_loop *loop,
	const struct bt_http_server_options *options, struct bt_http_server **out_server,
	struct berth_error *err);
/** Starts to accept connections, if the server was created with serve_later. */
void bt_http_server_serve(struct bt_http_server *server);
/**
 * Replaces the certificates for new connections of a server with TLS; client_ca_pem as in the
 * options. On failure the old certificates stay.
 */
BT_MUST_USE int bt_http_server_set_certificates(struct bt_http_server *server,
	const struct bt_http_certificates *certificates, const char *client_ca_pem,
	struct berth_error *err);
/** Closes the port and idle connections; requests in progress continue. */
void bt_http_server_stop_listening(struct bt_http_server *server);
/** Number of requests that are in progress or arriving. */
uint32_t bt_http_server_open_count(const struct bt_http_server *server);
/** Ends all exchanges and frees the server. NULL accepted. */
void bt_http_server_destroy(struct bt_http_server *server);
uint16_t bt_http_server_port(const struct bt_http_server *server);

struct bt_str bt_http_method(const struct bt_http_exchange *exchange);
/** Path as sent, percent-encoded, without the query. */
struct bt_str bt_http_path(const struct bt_http_exchange *exchange);
/** Text after '?', as sent; "" without a query. */
struct bt_str bt_http_query(const struct bt_http_exchange *exchange);
/**
 * Returns the first value of a request header. Names compare case-insensitively. data NULL: the
 * request has no such header.
 */
struct bt_str bt_http_header(const struct bt_http_exchange *exchange, const char *name);
void bt_http_each_header(const struct bt_http_exchange *exchange, const char *name,
	void (*take)(void *context, struct bt_str value), void *context);
/** Visits every header whose name has the prefix, case-insensitively. */
void bt_http_each_header_prefixed(const struct bt_http_exchange *exchange, struct bt_str prefix,
	void (*take)(void *context, struct bt_str name, struct bt_str value), void *context);
struct bt_str bt_http_body(const struct bt_http_exchange *exchange);
/**
 * Writes the client's certificate chain as DER, leaf first, and returns its length (at most
 * capacity). The bytes are borrowed for the handler's call. 0: no certificate, or no TLS. The
 * server has verified only that the client possesses the leaf's key.
 */
uint32_t bt_http_peer_certificates(
	const struct bt_http_exchange *exchange, struct bt_str *out_chain, uint32_t capacity);
/** Appends the client's IP address: "127.0.0.1"; nothing if the client has disconnected. */
void bt_http_peer_address(const struct bt_http_exchange *exchange, struct bt_strbuf *out);
/** Pointer for the handler's use. */
void bt_http_set_data(struct bt_http_exchange *exchange, void *data);
void *bt_http_data(const struct bt_http_exchange *exchange);

/**
 * Adds a header; call it before the answer; values are copied. Date and length headers are added
 * automatically.
 */
void bt_http_add_header(struct bt_http_exchange *exchange, const char *name, struct bt_str value);
/** Answers with this body: takes over the buffer's memory, and leaves the buffer empty. */
void bt_http_answer(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body);

enum {
	BT_HTTP_STREAM_WAIT = 0, /* no data now; bt_http_stream_resume follows */
	BT_HTTP_STREAM_END = -1,
	BT_HTTP_STREAM_ABORT = -2, /* cut the connection, so that the client notices the error */
};

struct bt_http_stream {
	void *context;
	/**
	 * Writes up to capacity bytes to buffer; capacity is at least 4096. Returns the number of
	 * bytes, or a BT_HTTP_STREAM_*.
	 */
	int64_t (*read)(void *context, char *buffer, size_t capacity);
	/** Called at the end of the stream, read completely or not. */
	void (*finish)(void *context);
};

/** Answers with a stream in chunked encoding; the headers are sent immediately. */
void bt_http_answer_stream(
	struct bt_http_exchange *exchange, uint16_t code, const struct bt_http_stream *stream);
/** Returns true if the two headers, which are lists, request a WebSocket. */
bool bt_http_is_websocket_upgrade(struct bt_str connection, struct bt_str upgrade);
/**
 * Answers 101 and sends the stream over WebSocket: the bytes of each call of the stream's `read`
 * are one binary message. Messages of the client are dropped. protocol NULL: no subprotocol.
 */
void bt_http_answer_websocket(struct bt_http_exchange *exchange, const char *protocol,
	const struct bt_http_stream *stream);
/** Call it when a waiting stream may have more data. No effect on a stream that does not wait. */
void bt_http_stream_resume(struct bt_http_exchange *exchange);

/**
 * Appends the percent-decoded text to out. plus_is_blank: decode "+" as a blank, as in queries.
 * false: the text has a broken escape or an encoded zero byte.
 */
BT_MUST_USE bool bt_http_percent_decode(
	struct bt_str text, bool plus_is_blank, struct bt_strbuf *out);
/**
 * Removes the next "name=value" from a query, and decodes both texts into the arena. Like Go, skips
 * pairs with a broken escape or a semicolon. false: no pair is left.
 */
BT_MUST_USE bool bt_http_query_next(struct bt_str *query, struct bt_arena *arena,
	struct bt_str *out_name, struct bt_str *out_value);

#endif
