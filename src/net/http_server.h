/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_SERVER_H
#define BT_NET_HTTP_SERVER_H
/**
 * An HTTP/1.1 server on an event loop, with TLS or without. Requests come complete, body included;
 * answers may be given at once or later, as a whole or as a stream that is read when the client
 * takes more. Nothing is buffered without bound: a body has a limit, a stream is asked only for
 * what fits. Knows nothing of Kubernetes. Stands on libmicrohttpd and GnuTLS.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "net/loop.h"

/**
 * What a TLS server offers, in the words of the flags that choose it. Spec: 11 section 4.3. No
 * memory, no state: texts in, GnuTLS's priority string out.
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
	/** IANA names, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"; none: the default suites. They
	 * choose for TLS 1.2 and older; the suites of TLS 1.3 are all offered always. */
	const char *const *cipher_suites;
	uint32_t cipher_suite_count;
	/** Ids of the IANA registry of supported groups, in order; none: the default curves. */
	const uint32_t *curves;
	uint32_t curve_count;
};

/** "VersionTLS12"; "" is the default. BERTH_ERR_INVALID: `unknown tls version "X"`. */
BT_MUST_USE int bt_tls_version_parse(
	struct bt_str text, enum bt_tls_version *out_version, struct berth_error *err);
/** Whether upstream accepts the name; out_is_insecure: it warns. */
bool bt_tls_cipher_suite_is_known(const char *name, bool *out_is_insecure);
/**
 * Appends. BERTH_ERR_INVALID: `Cipher suite X not supported or doesn't exist`, or nothing is left
 * that GnuTLS can do. GnuTLS chooses key exchange, cipher and MAC one by one, so suites that mix
 * what was named are possible; what no name mentions is not.
 */
BT_MUST_USE int bt_tls_priorities(
	const struct bt_tls_options *options, struct bt_strbuf *out, struct berth_error *err);

struct bt_http_server;
/** One request and its answer. Lives until `closed` was called. */
struct bt_http_exchange;

struct bt_http_limits {
	uint32_t body_bytes_max;          /* larger: 413 through the handler's too_large */
	uint32_t header_bytes_max;        /* of one request; larger: 431 */
	uint32_t connections_max;         /* further ones wait, or are closed */
	uint32_t connections_per_ip_max;  /* 0: no limit of its own */
	uint32_t idle_timeout_seconds;    /* between requests, and while one arrives */
	uint32_t stalled_timeout_seconds; /* a client that takes nothing of its answer */
};

/** Sensible values for a server of one machine. */
extern const struct bt_http_limits bt_http_default_limits;

struct bt_http_handler {
	void *context;
	/** A request is complete. Answer now or later, with exactly one bt_http_answer*. */
	void (*request)(void *context, struct bt_http_exchange *exchange);
	/** The body is larger than the limit: answer at once (the connection is then closed). */
	void (*too_large)(void *context, struct bt_http_exchange *exchange);
	/** The exchange ends, answered or not (the client may have left). */
	void (*closed)(void *context, struct bt_http_exchange *exchange);
};

/** A serving pair for clients that ask for one of its names. PEM texts. */
struct bt_http_sni_pair {
	const char *certificate_pem; /* with the chain */
	const char *key_pem;
	/** "example.org", "*.example.org"; none: the names in the certificate. */
	const char *const *names;
	uint32_t name_count;
};

/** What new connections show. */
struct bt_http_certificates {
	const char *certificate_pem; /* for clients that ask for no name that is below */
	const char *key_pem;
	const struct bt_http_sni_pair *sni; /* the first that has the name */
	uint32_t sni_count;
};

struct bt_http_server_options {
	const char *address;         /* "127.0.0.1", "::1", "0.0.0.0" */
	uint16_t port;               /* 0: any free one */
	const char *certificate_pem; /* NULL: plain HTTP. With the chain. */
	const char *key_pem;
	struct bt_http_limits limits;
	struct bt_http_handler handler;

	/** "0.0.0.0" and "::" are all addresses of both families, as upstream has it. */
	bool both_families;
	bool share_port; /* SO_REUSEPORT; SO_REUSEADDR is always set */
	/** The port is bound, connections wait; nothing is answered before bt_http_server_serve. */
	bool serve_later;
	struct bt_tls_options tls;
	const struct bt_http_sni_pair *sni; /* as bt_http_certificates.sni */
	uint32_t sni_count;
	/** Clients may show a certificate. Nothing of it is verified: bt_http_peer_certificates.
	 * No session tickets then. */
	bool ask_client_certificate;
	/** PEM; their names are told to clients, which choose a certificate by them. NULL: none. */
	const char *client_ca_pem;
};

/**
 * BERTH_ERR_IO: `listen tcp 0.0.0.0:10259: bind: address already in use`; BERTH_ERR_INVALID: the
 * address, a certificate or the TLS options are unusable.
 */
BT_MUST_USE int bt_http_server_create(struct bt_loop *loop,
	const struct bt_http_server_options *options, struct bt_http_server **out_server,
	struct berth_error *err);
/** With serve_later: begin. */
void bt_http_server_serve(struct bt_http_server *server);
/**
 * Connections that begin from now on are shown these; client_ca_pem as in the options. The old ones
 * stay on failure.
 */
BT_MUST_USE int bt_http_server_set_certificates(struct bt_http_server *server,
	const struct bt_http_certificates *certificates, const char *client_ca_pem,
	struct berth_error *err);
/** The port is given up and idle connections are closed; requests that are under way go on. */
void bt_http_server_stop_listening(struct bt_http_server *server);
/** Requests that have arrived, or begun to arrive, and are not over. */
uint32_t bt_http_server_open_count(const struct bt_http_server *server);
/** Ends all exchanges. */
void bt_http_server_destroy(struct bt_http_server *server);
uint16_t bt_http_server_port(const struct bt_http_server *server);

struct bt_str bt_http_method(const struct bt_http_exchange *exchange);
/** As sent, percent-encoded, without the query. */
struct bt_str bt_http_path(const struct bt_http_exchange *exchange);
/** Behind '?', as sent; "" without. */
struct bt_str bt_http_query(const struct bt_http_exchange *exchange);
/** First value; names compare without case. Absent (data NULL) when there is none. */
struct bt_str bt_http_header(const struct bt_http_exchange *exchange, const char *name);
void bt_http_each_header(const struct bt_http_exchange *exchange, const char *name,
	void (*take)(void *context, struct bt_str value), void *context);
/** Every header whose name begins so, without case. */
void bt_http_each_header_prefixed(const struct bt_http_exchange *exchange, struct bt_str prefix,
	void (*take)(void *context, struct bt_str name, struct bt_str value), void *context);
struct bt_str bt_http_body(const struct bt_http_exchange *exchange);
/**
 * The chain of certificates that the client showed, as DER, leaf first: their number (at most
 * capacity), borrowed for the call of the handler. 0: none, or no TLS. Nothing is verified but
 * that the client has the leaf's key.
 */
uint32_t bt_http_peer_certificates(
	const struct bt_http_exchange *exchange, struct bt_str *out_chain, uint32_t capacity);
/** The address of the client, as text: "127.0.0.1". "" when unknown. */
void bt_http_peer_address(const struct bt_http_exchange *exchange, struct bt_strbuf *out);
/** The handler's own pointer. */
void bt_http_set_data(struct bt_http_exchange *exchange, void *data);
void *bt_http_data(const struct bt_http_exchange *exchange);

/** Headers are added before the answer; values are copied. Date and lengths come by themselves. */
void bt_http_add_header(struct bt_http_exchange *exchange, const char *name, struct bt_str value);
/** The buffer's memory is consumed (left empty). */
void bt_http_answer(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body);

enum {
	BT_HTTP_STREAM_WAIT = 0, /* nothing now: bt_http_stream_wake will tell */
	BT_HTTP_STREAM_END = -1,
	BT_HTTP_STREAM_ABORT = -2, /* cut the connection, so that the client notices */
};

struct bt_http_stream {
	void *context;
	/** Fill up to capacity bytes (at least 4096): their number, or a BT_HTTP_STREAM_*. */
	int64_t (*read)(void *context, char *buffer, size_t capacity);
	/** The stream is over, read to its end or not. */
	void (*finish)(void *context);
};

/** Chunked; headers leave at once. */
void bt_http_answer_stream(
	struct bt_http_exchange *exchange, uint16_t code, const struct bt_http_stream *stream);
/** The headers of these names ask for a WebSocket. */
bool bt_http_wants_websocket(struct bt_str connection, struct bt_str upgrade);
/**
 * 101: the stream goes out over WebSocket, each read as a binary message; what the client sends is
 * dropped. protocol NULL: no subprotocol.
 */
void bt_http_answer_websocket(struct bt_http_exchange *exchange, const char *protocol,
	const struct bt_http_stream *stream);
/** A stream that waits may have more. Harmless when it does not wait. */
void bt_http_stream_wake(struct bt_http_exchange *exchange);

/**
 * Percent-decode into out; false: a broken escape, or a zero byte. plus_is_blank for queries.
 */
BT_MUST_USE bool bt_http_percent_decode(
	struct bt_str text, bool plus_is_blank, struct bt_strbuf *out);

#endif
