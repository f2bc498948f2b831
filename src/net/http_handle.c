/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "net/http_client_private.h"

/* Of one transfer, and of each connection: small, there may be dozens. */
#define BUFFER_BYTES 4096L
#define UPLOAD_BUFFER_BYTES 16384L
/* A peer that is gone without a word is noticed 45 s later, as upstream's pings do. */
#define KEEPALIVE_SECONDS 30L
#define KEEPALIVE_AGAIN_SECONDS 15L
/* Servers close after 90 s; a write must not meet that. */
#define IDLE_SECONDS_MAX 80L
#define REDIRECTS_MAX 10L
#define HEAD_BYTES_MAX 65536

/* Where the roots of the system may be, as Go looks for them. */
static const char *const root_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

static const char *system_roots(void)
{
	const char *file = getenv("SSL_CERT_FILE");
	if (file != NULL && *file != '\0') {
		return file;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(root_files); i++) {
		if (access(root_files[i], R_OK) == 0) {
			return root_files[i];
		}
	}
	return root_files[0];
}

static uint16_t parse_code(const char *line, size_t length)
{
	const char *blank = memchr(line, ' ', length);
	uint32_t code = 0;
	if (blank == NULL || (size_t)(line + length - blank) < 4) {
		return 0;
	}
	for (uint32_t i = 1; i <= 3; i++) {
		if (blank[i] < '0' || blank[i] > '9') {
			return 0;
		}
		code = code * 10 + (uint32_t)(blank[i] - '0');
	}
	return (uint16_t)code;
}

/* The headers of a response are complete. */
static void end_head(struct bt_http_transfer *transfer)
{
	if (transfer->code < 200) {
		return; /* 100 Continue and the like: another one follows */
	}
	transfer->is_redirect = transfer->client->follow_redirects && transfer->code >= 300 &&
		transfer->code < 400 && (bt_http_transfer_header(transfer, "Location").length != 0);
	if (transfer->is_redirect) {
		return;
	}
	transfer->is_answered = true;
	if (transfer->handler.head != NULL) {
		transfer->handler.head(transfer->handler.context, transfer, transfer->code);
	}
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
	const struct bt_http_handle *handle = context;
	struct bt_http_transfer *transfer = handle->transfer;
	size_t length = size * count;
	size_t kept = length;
	if (transfer->is_cancelled) {
		return 0;
	}
	transfer->heard_ns = bt_loop_now_ns(transfer->client->loop);
	if (transfer->is_answered) {
		return length; /* trailers */
	}
	while (kept != 0 && (line[kept - 1] == '\n' || line[kept - 1] == '\r')) {
		kept--;
	}
	if (kept >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		bt_strbuf_reset(&transfer->head);
		transfer->code = parse_code(line, kept);
	} else if (kept == 0) {
		end_head(transfer);
		return transfer->is_cancelled ? 0 : length;
	} else if (transfer->head.length + kept < HEAD_BYTES_MAX && line[0] != ' ' &&
		line[0] != '\t' && memchr(line, '\0', kept) == NULL) {
		bt_strbuf_append(&transfer->head, line, kept);
		bt_strbuf_append_char(&transfer->head, '\0');
	}
	return length;
}

static size_t on_data(char *data, size_t size, size_t count, void *context)
{
	const struct bt_http_handle *handle = context;
	struct bt_http_transfer *transfer = handle->transfer;
	size_t length = size * count;
	if (transfer->is_cancelled) {
		return 0;
	}
	transfer->heard_ns = bt_loop_now_ns(transfer->client->loop);
	if (transfer->handler.data != NULL) {
		struct bt_str bytes = {data, (uint32_t)length};
		transfer->handler.data(transfer->handler.context, transfer, bytes);
		return transfer->is_cancelled ? 0 : length;
	}
	if (transfer->body_bytes_max != 0 &&
		transfer->answer.length + length > transfer->body_bytes_max) {
		transfer->is_too_large = true;
		return 0;
	}
	bt_strbuf_append(&transfer->answer, data, length);
	return length;
}

/* May be made twice: it asks for something, or has the same result. */
static bool is_repeatable(const struct bt_http_transfer *transfer)
{
	static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "TRACE"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(methods); i++) {
		if (strcmp(transfer->text.data, methods[i]) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * A connection is there, the request will be written. libcurl comes here again with a fresh
 * connection when an old one ended without a byte of an answer, whatever the method is.
 */
static int on_request(void *context, char *peer, char *local, int peer_port, int local_port)
{
	struct bt_http_handle *handle = context;
	struct bt_http_transfer *transfer = handle->transfer;
	long size = 0;
	long connects = 0;
	(void)peer;
	(void)local;
	(void)peer_port;
	(void)curl_easy_getinfo(handle->easy, CURLINFO_REQUEST_SIZE, &size); /* known */
	(void)curl_easy_getinfo(handle->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (transfer->has_begun && !transfer->is_redirect && size > transfer->size_before &&
		!is_repeatable(transfer)) {
		transfer->is_lost = true;
		return CURL_PREREQFUNC_ABORT;
	}
	if (connects == transfer->connects &&
		bt_http_pool_is_dead(handle->pool, (uint16_t)local_port)) {
		transfer->is_stale = true;
		return CURL_PREREQFUNC_ABORT;
	}
	transfer->connects = connects;
	if (!transfer->has_begun) {
		transfer->has_begun = true;
		transfer->size_before = size;
	}
	transfer->is_redirect = false;
	return CURL_PREREQFUNC_OK;
}

struct bt_http_handle *bt_http_handle_create(void)
{
	struct bt_http_handle *handle = BT_NEW(struct bt_http_handle);
	handle->easy = curl_easy_init();
	BT_ASSERT(handle->easy != NULL); /* out of memory */
	return handle;
}

static void free_list(struct curl_slist **list)
{
	for (struct curl_slist *item = *list; item != NULL; item = item->next) {
		gnutls_memset(item->data, 0, strlen(item->data)); /* tokens */
	}
	curl_slist_free_all(*list);
	*list = NULL;
}

void bt_http_handle_destroy(struct bt_http_handle *handle)
{
	curl_easy_cleanup(handle->easy);
	free_list(&handle->headers);
	free_list(&handle->connect_to);
	bt_strbuf_finish_wiped(&handle->header_lines);
	bt_strbuf_finish(&handle->connect_to_text);
	bt_free(handle->method);
	bt_free(handle);
}

/* Options exist in every libcurl that we accept, and memory never runs out: no result is of use. */
#define SET(option, value) (void)curl_easy_setopt(easy, option, value)

/* What stays the same from one transfer to the next. */
static void set_up(struct bt_http_handle *handle, struct bt_http_pool *pool)
{
	CURL *easy = handle->easy;
	const struct bt_http_client *client = pool->client;
	SET(CURLOPT_PRIVATE, handle);
	SET(CURLOPT_ERRORBUFFER, handle->error);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, handle);
	SET(CURLOPT_WRITEFUNCTION, on_data);
	SET(CURLOPT_WRITEDATA, handle);
	SET(CURLOPT_PREREQFUNCTION, on_request);
	SET(CURLOPT_PREREQDATA, handle);
	SET(CURLOPT_OPENSOCKETFUNCTION, bt_http_pool_open);
	SET(CURLOPT_OPENSOCKETDATA, pool);
	SET(CURLOPT_CLOSESOCKETFUNCTION, bt_http_pool_close);
	SET(CURLOPT_CLOSESOCKETDATA, pool);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_NOPROGRESS, 1L);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER_BYTES);
	SET(CURLOPT_TCP_NODELAY, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_TCP_KEEPIDLE, KEEPALIVE_SECONDS);
	SET(CURLOPT_TCP_KEEPINTVL, KEEPALIVE_AGAIN_SECONDS);
	SET(CURLOPT_MAXAGE_CONN, IDLE_SECONDS_MAX);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)client->connect_timeout_ms);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_FOLLOWLOCATION, client->follow_redirects ? 1L : 0L);
	SET(CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	/* the environment is read by us */
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOPROXY, "");
	const char *roots = pool->ca_path != NULL ? pool->ca_path : system_roots();
	long verify = pool->insecure ? 0L : 1L;
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, verify);
	SET(CURLOPT_SSL_VERIFYHOST, 2L * verify);
	SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
	SET(CURLOPT_CAINFO, pool->insecure ? NULL : roots);
	SET(CURLOPT_CAPATH, NULL);
	SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_PROXY_SSL_VERIFYPEER, verify);
	SET(CURLOPT_PROXY_SSL_VERIFYHOST, 2L * verify);
	SET(CURLOPT_PROXY_CAINFO, pool->insecure ? NULL : roots);
	SET(CURLOPT_PROXY_CAPATH, NULL);
	if (pool->certificate_path != NULL) {
		SET(CURLOPT_SSLCERTTYPE, "PEM");
		SET(CURLOPT_SSLCERT, pool->certificate_path);
		SET(CURLOPT_SSLKEYTYPE, "PEM");
		SET(CURLOPT_SSLKEY, pool->key_path);
	}
	handle->pool = pool;
	handle->proxy = NULL;
	handle->timeout_ms = 0;
}

static bool same_text(const struct bt_strbuf *a, const struct bt_strbuf *b)
{
	return a->length == b->length &&
		(a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

static bool names(const char *line, const char *name)
{
	size_t length = strlen(name);
	return strncasecmp(line, name, length) == 0 && line[length] == ':';
}

/* Headers of its own that libcurl must not add. */
static const char *const own_headers[] = {"Accept", "Content-Type", "Expect"};

static void append_header(struct bt_http_handle *handle, const char *line)
{
	struct curl_slist *list = curl_slist_append(handle->headers, line);
	BT_ASSERT(list != NULL); /* out of memory */
	handle->headers = list;
}

/* The list is made again only when the headers differ from those of the last transfer. */
static void set_headers(struct bt_http_handle *handle, const struct bt_strbuf *lines)
{
	bool found[BT_ARRAY_LENGTH(own_headers)] = {false};
	if (handle->headers != NULL && same_text(&handle->header_lines, lines)) {
		return;
	}
	free_list(&handle->headers);
	bt_strbuf_finish_wiped(&handle->header_lines);
	bt_strbuf_append(&handle->header_lines, lines->data, lines->length);
	for (size_t at = 0; at < lines->length; at += strlen(lines->data + at) + 1) {
		const char *line = lines->data + at;
		append_header(handle, line);
		for (size_t i = 0; i < BT_ARRAY_LENGTH(own_headers); i++) {
			found[i] = found[i] || names(line, own_headers[i]);
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(own_headers); i++) {
		char nothing[32];
		if (!found[i]) {
			(void)snprintf(nothing, sizeof(nothing), "%s:", own_headers[i]); /* fits */
			append_header(handle, nothing);
		}
	}
	(void)curl_easy_setopt(handle->easy, CURLOPT_HTTPHEADER, handle->headers); /* known */
}

static void set_url(struct bt_http_handle *handle, struct bt_http_transfer *transfer,
	const struct bt_http_url *url)
{
	CURL *easy = handle->easy;
	const char *proxy = bt_http_proxies_find(&transfer->client->proxies, url);
	if (proxy != handle->proxy) {
		handle->proxy = proxy;
		SET(CURLOPT_PROXY, proxy != NULL ? proxy : "");
	}
	if (handle->pool->server_name != NULL &&
		bt_str_equal_without_case(url->scheme, BT_STR("https"))) {
		/* Names and verifies another server than the URL does, and connects to the URL's.
		 */
		struct bt_strbuf text = {0};
		struct bt_strbuf connect_to = {0};
		bool has_host = false;
		const struct bt_strbuf *lines = &transfer->header_lines;
		for (size_t at = 0; at < lines->length; at += strlen(lines->data + at) + 1) {
			has_host = has_host || names(lines->data + at, "Host");
		}
		if (!has_host) {
			bt_strbuf_printf(
				&transfer->header_lines, "Host: %.*s", BT_STR_ARG(url->authority));
			bt_strbuf_append_char(&transfer->header_lines, '\0');
		}
		bt_strbuf_append_c(&connect_to, "::");
		bt_http_url_append_address(&connect_to, url->host, url->port);
		if (!same_text(&connect_to, &handle->connect_to_text)) {
			free_list(&handle->connect_to);
			handle->connect_to = curl_slist_append(NULL, bt_strbuf_c(&connect_to));
			(void)curl_easy_setopt(
				handle->easy, CURLOPT_CONNECT_TO, handle->connect_to); /* known */
			bt_strbuf_finish(&handle->connect_to_text);
			handle->connect_to_text = connect_to;
		} else {
			bt_strbuf_finish(&connect_to);
		}
		bt_strbuf_append_c(&text, "https://");
		bt_http_url_append_address(
			&text, bt_str_from(handle->pool->server_name), url->port);
		bt_strbuf_append_str(&text, url->rest);
		(void)curl_easy_setopt(handle->easy, CURLOPT_URL, bt_strbuf_c(&text)); /* copied */
		bt_strbuf_finish(&text);
		return;
	}
	if (handle->connect_to != NULL) {
		SET(CURLOPT_CONNECT_TO, NULL);
		free_list(&handle->connect_to);
		bt_strbuf_reset(&handle->connect_to_text);
	}
	SET(CURLOPT_URL, transfer->text.data + transfer->url_at);
}

void bt_http_handle_take(
	struct bt_http_handle *handle, struct bt_http_pool *pool, struct bt_http_transfer *transfer)
{
	struct bt_http_url url;
	const char *text = transfer->text.data + transfer->url_at;
	int64_t timeout_ms = 0;
	bool is_url = bt_http_url_split(bt_str_from(text), &url);
	BT_ASSERT(is_url);
	if (handle->pool != pool) {
		set_up(handle, pool);
	}
	set_url(handle, transfer, &url);
	CURL *easy = handle->easy;
	const char *method = transfer->text.data;
	bool is_head = strcmp(method, "HEAD") == 0;
	bool has_body = !is_head && (transfer->body.data != NULL || strcmp(method, "POST") == 0);
	const char *custom =
		strcmp(method, has_body ? "POST" : "GET") == 0 || is_head ? NULL : method;
	if (has_body) {
		SET(CURLOPT_POSTFIELDS, transfer->body.data != NULL ? transfer->body.data : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.length);
	} else if (handle->has_body || handle->is_head != is_head) {
		SET(CURLOPT_HTTPGET, 1L);
	}
	if (is_head && !handle->is_head) {
		SET(CURLOPT_NOBODY, 1L);
	} else if (has_body && (handle->is_head || !handle->has_body)) {
		SET(CURLOPT_POST, 1L);
	}
	handle->has_body = has_body;
	handle->is_head = is_head;
	if ((custom == NULL) != (handle->method == NULL) ||
		(custom != NULL && strcmp(custom, handle->method) != 0)) {
		bt_free(handle->method);
		handle->method = custom != NULL ? bt_strndup(custom, strlen(custom)) : NULL;
		SET(CURLOPT_CUSTOMREQUEST, handle->method);
	}
	set_headers(handle, &transfer->header_lines);
	if (transfer->deadline_ns != INT64_MAX) {
		timeout_ms = (transfer->deadline_ns - bt_loop_now_ns(pool->client->loop)) /
				BT_NS_PER_MS +
			1;
		/* libcurl refuses more; the caller would not live to see it */
		timeout_ms = timeout_ms < 1 ? 1 : timeout_ms;
		timeout_ms = timeout_ms > INT32_MAX ? INT32_MAX : timeout_ms;
	}
	if (timeout_ms != handle->timeout_ms) {
		handle->timeout_ms = timeout_ms;
		(void)curl_easy_setopt(
			handle->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms); /* known */
	}
	handle->error[0] = '\0';
	handle->transfer = transfer;
	transfer->handle = handle;
}
