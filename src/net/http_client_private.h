/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_CLIENT_PRIVATE_H
#define BT_NET_HTTP_CLIENT_PRIVATE_H
/**
 * Parts of the HTTP client shared by its files: http_client.c (transfers from start to end),
 * http_handle.c (one transfer as libcurl is told of it), http_pool.c (connections and their
 * descriptors), http_outcome.c (how failures are worded).
 */
#include <curl/curl.h>

#include "base/vec.h"
#include "net/http_client.h"
#include "net/http_proxy.h"

/** A descriptor of libcurl's. */
struct bt_http_socket {
	struct bt_http_pool *pool;
	struct bt_loop_source *source; /* NULL: not watched yet */
	int fd;
	uint32_t wanted;    /* BT_LOOP_*, by libcurl; 0: no transfer uses it */
	uint32_t armed;     /* the same, of source */
	bool is_connection; /* stays watched between transfers */
	bool is_dead;       /* the server hung up in between */
};

/** Connections made with one set of TLS material. */
struct bt_http_pool {
	struct bt_http_client *client;
	CURLM *multi;
	char *ca_path; /* of descriptors of the process that hold the texts; NULL: none */
	char *certificate_path;
	char *key_path;
	int fds[3]; /* -1: none */
	bool insecure;
	char *server_name;                       /* NULL: the URL's */
	int64_t due_ns;                          /* libcurl's timer */
	uint32_t running;                        /* transfers */
	uint32_t dead_count;                     /* sockets that are is_dead */
	uint32_t connections_kept;               /* what libcurl was told */
	BT_VEC(struct bt_http_socket *) sockets; /* by descriptor; NULL: not ours */
	struct bt_http_pool *next;               /* older; they end with their last transfer */
};

/** A handle of libcurl with its options, used for one transfer after the other. */
struct bt_http_handle {
	CURL *easy;
	struct bt_http_pool *pool; /* whose options it has */
	struct bt_http_transfer *transfer;
	struct curl_slist *headers;
	struct bt_strbuf header_lines; /* what headers was made of */
	struct curl_slist *connect_to;
	struct bt_strbuf connect_to_text;
	char *method;       /* CURLOPT_CUSTOMREQUEST; NULL: none */
	const char *proxy;  /* of the client's; NULL: none */
	int64_t timeout_ms; /* 0: none */
	bool has_body;
	bool is_head;
	struct bt_http_handle *next; /* bt_http_client.spare */
	char error[CURL_ERROR_SIZE];
};

enum bt_http_transfer_state {
	BT_HTTP_QUEUED,
	BT_HTTP_RUNNING,
	BT_HTTP_ENDED, /* its callback runs */
};

struct bt_http_transfer {
	struct bt_http_client *client;
	struct bt_http_handle *handle; /* while running */
	enum bt_http_transfer_state state;
	struct bt_http_transfer *previous; /* bt_http_client.queue or .running */
	struct bt_http_transfer *next;

	struct bt_http_client_handler handler;
	struct bt_strbuf text; /* method, zero, URL, zero */
	uint32_t url_at;
	struct bt_strbuf header_lines; /* "Name: value", zero, ... */
	struct bt_strbuf body;
	int64_t deadline_ns;     /* INT64_MAX: none */
	int64_t head_silence_ns; /* 0: none */
	int64_t body_silence_ns;
	int64_t heard_ns; /* of the server; at first: when it had its turn */
	uint64_t body_bytes_max;
	struct bt_strbuf refusal; /* why it is not even tried */

	bool is_cancelled; /* from within libcurl, or by a callback of its own */
	bool is_cut;       /* by bt_http_client_set_tls */
	bool is_silent;    /* the server said nothing for too long */
	bool is_stale;     /* its connection had ended before anything was written */
	bool is_lost;      /* its connection ended behind the request */
	bool is_too_large;
	bool has_begun;   /* a connection was there to write the request to */
	long size_before; /* CURLINFO_REQUEST_SIZE when it began to be written */
	long connects;    /* CURLINFO_NUM_CONNECTS at that time */

	bool is_redirect; /* the headers that are coming will be followed */
	bool is_answered;
	uint16_t code;
	struct bt_strbuf head; /* "Name: value", zero, ... */
	struct bt_strbuf answer;
};

struct bt_http_client {
	struct bt_loop *loop;
	struct bt_http_pool *pools; /* the first is the current one */
	struct bt_http_proxies proxies;
	uint32_t connections_max;
	uint32_t idle_connections_max;
	int64_t connect_timeout_ms;
	bool follow_redirects;
	uint32_t within_curl; /* its callbacks must not call it */
	uint32_t delivering;  /* loops over pools or messages that are under way */
	bool has_cancelled;   /* some transfer that libcurl still has */
	bool has_cut;         /* some running transfer that is_cut or is_silent */
	struct bt_http_transfer *queue_first;
	struct bt_http_transfer *queue_last;
	int64_t queue_due_ns;             /* the earliest deadline in the queue, or earlier */
	int64_t silence_due_ns;           /* nobody has been silent for too long before */
	struct bt_http_transfer *running; /* all that have a handle */
	uint32_t running_count;
	struct bt_http_handle *spare;
	uint32_t spare_count;
};

/** --- http_pool.c --- */

BT_MUST_USE int bt_http_pool_create(struct bt_http_client *client,
	const struct bt_http_client_tls *tls, struct bt_http_pool **out_pool,
	struct berth_error *err);
/** No transfer is left in it. */
void bt_http_pool_destroy(struct bt_http_pool *pool);
/** Let libcurl do what its timer says, if it is time. */
void bt_http_pool_tick(struct bt_http_pool *pool, int64_t now_ns);
/** Connections that no transfer uses are closed. */
void bt_http_pool_close_idle(struct bt_http_pool *pool);
/** The number of running transfers has changed. */
void bt_http_pool_resize(struct bt_http_pool *pool);
/** For CURLOPT_OPENSOCKETFUNCTION and CURLOPT_CLOSESOCKETFUNCTION; context: the pool. */
curl_socket_t bt_http_pool_open(void *context, curlsocktype purpose, struct curl_sockaddr *address);
int bt_http_pool_close(void *context, curl_socket_t fd);
/** The connection with this local port has been closed by the server. */
bool bt_http_pool_is_dead(const struct bt_http_pool *pool, uint16_t local_port);

/** --- http_handle.c --- */

struct bt_http_handle *bt_http_handle_create(void);
void bt_http_handle_destroy(struct bt_http_handle *handle);
/** Give it the transfer, whose URL can be split, with all that libcurl must know. */
void bt_http_handle_take(struct bt_http_handle *handle, struct bt_http_pool *pool,
	struct bt_http_transfer *transfer);

/** --- http_outcome.c --- */

/** Fills out_outcome; message lives as long as text. */
void bt_http_outcome_of(const struct bt_http_transfer *transfer, CURLcode code,
	struct bt_strbuf *text, struct bt_http_outcome *out_outcome);

/** --- http_client.c --- */

/** Hand over what libcurl has finished. */
void bt_http_client_deliver(struct bt_http_client *client);
#endif
