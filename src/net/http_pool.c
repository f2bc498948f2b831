/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "net/http_client_private.h"

/* libcurl is told of changes in these steps. */
#define CONNECTIONS_STEP 16
/* Nothing that was sent, keep-alive probes included, is acknowledged: the peer is gone. */
#define UNACKNOWLEDGED_MS_MAX 45000U

static struct bt_http_socket *find_socket(const struct bt_http_pool *pool, int fd)
{
	return (uint32_t)fd < pool->sockets.count ? pool->sockets.items[fd] : NULL;
}

static void forget_socket(struct bt_http_pool *pool, int fd)
{
	struct bt_http_socket *entry = find_socket(pool, fd);
	if (entry == NULL) {
		return;
	}
	bt_loop_remove_fd(pool->client->loop, entry->source);
	pool->dead_count -= entry->is_dead ? 1 : 0;
	pool->sockets.items[fd] = NULL;
	bt_free(entry);
}

static struct bt_http_socket *add_socket(struct bt_http_pool *pool, int fd)
{
	BT_ASSERT(fd >= 0);
	forget_socket(pool, fd); /* one that libcurl closed without a word */
	while (pool->sockets.count <= (uint32_t)fd) {
		bt_vec_push(&pool->sockets, NULL);
	}
	struct bt_http_socket *entry = BT_NEW(struct bt_http_socket);
	entry->pool = pool;
	entry->fd = fd;
	pool->sockets.items[fd] = entry;
	return entry;
}

static void run_socket(struct bt_http_socket *entry, uint32_t directions)
{
	struct bt_http_pool *pool = entry->pool;
	int running = 0; /* counted by the client itself */
	int mask = ((directions & BT_LOOP_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
		((directions & BT_LOOP_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);
	pool->client->within_curl++;
	/* failures are the transfers' own and told by them */
	(void)curl_multi_socket_action(pool->multi, entry->fd, mask, &running);
	pool->client->within_curl--;
	bt_http_client_deliver(pool->client);
}

static void arm(struct bt_http_socket *entry, uint32_t directions);

static void on_socket(void *context, uint32_t directions)
{
	struct bt_http_socket *entry = context;
	if (entry->pool->client->within_curl != 0) {
		return; /* turns from within a callback of libcurl: later */
	}
	if (entry->wanted == 0) {
		/*
		 * Nobody reads from a connection between transfers. GnuTLS cannot tell libcurl that
		 * it was closed, and a request that is written to such a connection is lost.
		 */
		if ((directions & BT_LOOP_HANGUP) != 0 && !entry->is_dead) {
			entry->is_dead = true;
			entry->pool->dead_count++;
		}
		/* words of TLS may wait for the next transfer */
		arm(entry, entry->is_dead ? 0 : BT_LOOP_HANGUP);
		return;
	}
	if ((directions & entry->wanted) != 0) {
		run_socket(entry, directions & entry->wanted);
	} else {
		arm(entry, entry->wanted);
	}
}

static void arm(struct bt_http_socket *entry, uint32_t directions)
{
	if (entry->source != NULL) {
		bt_loop_set_directions(entry->source, directions);
		entry->armed = directions;
		return;
	}
	if (directions != 0 &&
		bt_loop_watch_fd(entry->pool->client->loop, entry->fd, directions, on_socket, entry,
			&entry->source, NULL) == 0) {
		/* without it the transfer ends by its timeout: descriptors have run out */
		entry->armed = directions;
	}
}

static int on_interest(CURL *easy, curl_socket_t fd, int what, void *context, void *unused)
{
	struct bt_http_pool *pool = context;
	struct bt_http_socket *entry = find_socket(pool, fd);
	(void)easy;
	(void)unused;
	if (what == CURL_POLL_REMOVE) {
		if (entry == NULL) {
			return 0;
		}
		entry->wanted = 0;
		if (!entry->is_connection) {
			forget_socket(pool, fd);
		} else if ((entry->armed & BT_LOOP_WRITABLE) != 0) {
			arm(entry, BT_LOOP_READABLE);
		}
		return 0;
	}
	if (entry == NULL) {
		entry = add_socket(pool, fd);
	}
	entry->wanted = (what != CURL_POLL_OUT ? BT_LOOP_READABLE : 0U) |
		(what != CURL_POLL_IN ? BT_LOOP_WRITABLE : 0U);
	/* what is armed and not wanted any more is taken back when it disturbs */
	if ((entry->armed & entry->wanted) != entry->wanted ||
		(entry->armed & ~entry->wanted & BT_LOOP_WRITABLE) != 0) {
		arm(entry, entry->wanted);
	}
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct bt_http_pool *pool = context;
	(void)multi;
	if (timeout_ms < 0) {
		pool->due_ns = INT64_MAX;
		return 0;
	}
	pool->due_ns = timeout_ms == 0
		? 0
		: bt_loop_now_ns(pool->client->loop) + timeout_ms * BT_NS_PER_MS;
	bt_loop_call_at(pool->client->loop, pool->due_ns);
	return 0;
}

/* The text as a file that exists in memory only: the GnuTLS flavour of libcurl reads files. */
static int put_text(struct bt_http_pool *pool, uint32_t slot, struct bt_str text, char **out_path,
	struct berth_error *err)
{
	struct bt_strbuf path = {0};
	int fd = memfd_create("tls", MFD_CLOEXEC);
	if (fd < 0) {
		return bt_error_set(
			err, BERTH_ERR_IO, "keeping TLS material in memory: %s", strerror(errno));
	}
	pool->fds[slot] = fd;
	for (uint32_t done = 0; done < text.length;) {
		ssize_t count = write(fd, text.data + done, text.length - done);
		if (count <= 0) {
			return bt_error_set(err, BERTH_ERR_IO, "keeping TLS material in memory: %s",
				strerror(errno));
		}
		done += (uint32_t)count;
	}
	bt_strbuf_printf(&path, "/proc/self/fd/%d", fd);
	*out_path = bt_strbuf_steal(&path);
	return 0;
}

static gnutls_datum_t datum_of(struct bt_str text)
{
	gnutls_datum_t datum = {(unsigned char *)text.data, text.length};
	return datum;
}

/* Whether GnuTLS can use it, before connections fail one by one. */
static int check_tls(const struct bt_http_client_tls *tls, struct berth_error *err)
{
	gnutls_certificate_credentials_t credentials = NULL;
	gnutls_datum_t ca = datum_of(tls->ca);
	gnutls_datum_t certificate = datum_of(tls->certificate);
	gnutls_datum_t key = datum_of(tls->key);
	if (tls->ca.data != NULL && tls->insecure) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"specifying a root certificates file with the insecure flag is not "
			"allowed");
	}
	if ((tls->certificate.data != NULL) != (tls->key.data != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"a client certificate and its key are needed together");
	}
	if (gnutls_certificate_allocate_credentials(&credentials) != 0) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "TLS does not start");
	}
	int result = 0;
	if (tls->ca.data != NULL && tls->ca.length != 0 &&
		gnutls_certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM) <= 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"unable to load root certificates: unable to parse bytes as PEM block");
	} else if (tls->certificate.data != NULL) {
		int code = gnutls_certificate_set_x509_key_mem2(
			credentials, &certificate, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
		if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"tls: private key does not match public key");
		} else if (code < 0) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"tls: failed to use the client certificate: %s",
				gnutls_strerror(code));
		}
	}
	gnutls_certificate_free_credentials(credentials);
	return result;
}

static int put_material(
	struct bt_http_pool *pool, const struct bt_http_client_tls *tls, struct berth_error *err)
{
	int result = 0;
	if (tls->ca.data != NULL) {
		result = put_text(pool, 0, tls->ca, &pool->ca_path, err);
	}
	if (result == 0 && tls->certificate.data != NULL) {
		result = put_text(pool, 1, tls->certificate, &pool->certificate_path, err);
	}
	if (result == 0 && tls->key.data != NULL) {
		result = put_text(pool, 2, tls->key, &pool->key_path, err);
	}
	return result;
}

int bt_http_pool_create(struct bt_http_client *client, const struct bt_http_client_tls *tls,
	struct bt_http_pool **out_pool, struct berth_error *err)
{
	int result = check_tls(tls, err);
	if (result != 0) {
		return result;
	}
	struct bt_http_pool *pool = BT_NEW(struct bt_http_pool);
	pool->client = client;
	pool->due_ns = INT64_MAX;
	pool->insecure = tls->insecure;
	pool->fds[0] = pool->fds[1] = pool->fds[2] = -1;
	if (tls->server_name.length != 0) {
		pool->server_name = bt_strndup(tls->server_name.data, tls->server_name.length);
	}
	result = put_material(pool, tls, err);
	if (result == 0) {
		pool->multi = curl_multi_init();
		if (pool->multi == NULL) {
			result = bt_error_set(err, BERTH_ERR_INTERNAL, "libcurl does not start");
		}
	}
	if (result != 0) {
		bt_http_pool_destroy(pool);
		return result;
	}
	(void)curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, on_interest); /* known */
	(void)curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
	(void)curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	(void)curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
	(void)curl_multi_setopt(pool->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	bt_http_pool_resize(pool);
	*out_pool = pool;
	return 0;
}

void bt_http_pool_destroy(struct bt_http_pool *pool)
{
	BT_ASSERT(pool->running == 0);
	if (pool->multi != NULL) {
		(void)curl_multi_cleanup(pool->multi); /* nothing is left in it */
	}
	for (uint32_t i = 0; i < pool->sockets.count; i++) {
		forget_socket(pool, (int)i);
	}
	bt_vec_finish(&pool->sockets);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(pool->fds); i++) {
		if (pool->fds[i] >= 0) {
			(void)close(pool->fds[i]); /* only in memory */
		}
	}
	bt_free(pool->ca_path);
	bt_free(pool->certificate_path);
	bt_free(pool->key_path);
	bt_free(pool->server_name);
	bt_free(pool);
}

void bt_http_pool_tick(struct bt_http_pool *pool, int64_t now_ns)
{
	int running = 0; /* counted by the client itself */
	if (pool->due_ns > now_ns) {
		return;
	}
	pool->due_ns = INT64_MAX;
	pool->client->within_curl++;
	/* failures are the transfers' own and told by them */
	(void)curl_multi_socket_action(pool->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	pool->client->within_curl--;
}

void bt_http_pool_close_idle(struct bt_http_pool *pool)
{
	for (uint32_t i = 0; i < pool->sockets.count; i++) {
		const struct bt_http_socket *entry = pool->sockets.items[i];
		if (entry != NULL && entry->is_connection && entry->wanted == 0) {
			/* libcurl closes it with the pool; the server sees the end now */
			(void)shutdown(entry->fd, SHUT_RDWR);
		}
	}
}

/* libcurl's limit counts connections that are in use as well. */
void bt_http_pool_resize(struct bt_http_pool *pool)
{
	uint32_t wanted =
		(pool->running + CONNECTIONS_STEP - 1) / CONNECTIONS_STEP * CONNECTIONS_STEP +
		pool->client->idle_connections_max;
	if (pool->client->connections_max != 0) {
		/* bursts find theirs open; more would never be used at a time */
		wanted = pool->client->connections_max;
	}
	wanted = wanted != 0 ? wanted : 1; /* 0 would be libcurl's own idea */
	if (wanted != pool->connections_kept) {
		pool->connections_kept = wanted;
		(void)curl_multi_setopt(
			pool->multi, CURLMOPT_MAXCONNECTS, (long)wanted); /* known option */
	}
}

static uint16_t local_port_of(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	struct sockaddr_in6 v6;
	_Static_assert(
		offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
		"ports lie at the same place");
	if (getsockname(fd, (void *)&address, &length) != 0) {
		return 0;
	}
	memcpy(&v6, &address, sizeof(v6));
	return ntohs(v6.sin6_port);
}

bool bt_http_pool_is_dead(const struct bt_http_pool *pool, uint16_t local_port)
{
	if (pool->dead_count == 0) {
		return false;
	}
	for (uint32_t i = 0; i < pool->sockets.count; i++) {
		const struct bt_http_socket *entry = pool->sockets.items[i];
		if (entry != NULL && entry->is_dead && local_port_of(entry->fd) == local_port) {
			return true;
		}
	}
	return false;
}

curl_socket_t bt_http_pool_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct bt_http_pool *pool = context;
	(void)purpose; /* only connections are made */
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	if (fd < 0) {
		return CURL_SOCKET_BAD;
	}
	unsigned int unacknowledged_ms = UNACKNOWLEDGED_MS_MAX;
	/* without it the kernel's own patience counts */
	(void)setsockopt(
		fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof(unacknowledged_ms));
	add_socket(pool, fd)->is_connection = true;
	return fd;
}

int bt_http_pool_close(void *context, curl_socket_t fd)
{
	struct bt_http_pool *pool = context;
	forget_socket(pool, fd);
	return close(fd);
}
