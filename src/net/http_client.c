/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "net/http_client_private.h"

#define REDIRECTS_MAX 10
/* Room for the request line and the headers that this file adds. */
#define HEAD_BYTES 256
/*
 * If the timeout check runs this late, the process was stopped (SIGSTOP, suspend), and answers may
 * be in the socket already: restart the silence timeouts.
 */
#define AWAY_NS (5 * BT_NS_PER_SECOND)

static void unlink_transfer(struct bt_http_transfer *transfer)
{
	struct bt_http_list *list = transfer->list;
	BT_LIST_REMOVE(list->first, list->last, transfer, previous, next);
	transfer->client->running_count -= list == &transfer->client->running ? 1 : 0;
	transfer->list = NULL;
	transfer->previous = NULL;
	transfer->next = NULL;
}

static void append_transfer(struct bt_http_list *list, struct bt_http_transfer *transfer)
{
	transfer->list = list;
	BT_LIST_APPEND(list->first, list->last, transfer, previous, next);
	transfer->client->running_count += list == &transfer->client->running ? 1 : 0;
}

static void free_transfer(struct bt_http_transfer *transfer)
{
	bt_strbuf_finish_wiped(&transfer->url_text);
	bt_strbuf_finish_wiped(&transfer->out);
	bt_http_answer_finish(&transfer->answer);
	bt_strbuf_finish(&transfer->body);
	bt_strbuf_finish(&transfer->message);
	bt_free(transfer);
}

/* Rejects control characters, which could end a header; without allows_blanks, also blanks. */
static bool is_safe(struct bt_str text, bool allows_blanks)
{
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte < 0x20 ? byte != '\t' || !allows_blanks
				: byte == 0x7f || (byte == ' ' && !allows_blanks)) {
			return false;
		}
	}
	return true;
}

/* Splits url_text into its parts and selects the proxy. */
static bool set_url(struct bt_http_transfer *transfer)
{
	struct bt_str text = bt_strbuf_str(&transfer->url_text);
	if (!is_safe(text, false) || !bt_http_url_split(text, false, &transfer->url)) {
		return false;
	}
	transfer->proxy = bt_http_proxies_find(&transfer->client->proxies, &transfer->url);
	return true;
}

static void append_header(struct bt_strbuf *out, const char *name, struct bt_str value)
{
	bt_strbuf_append_c(out, name);
	bt_strbuf_append_c(out, ": ");
	bt_strbuf_append_str(out, value);
	bt_strbuf_append_c(out, "\r\n");
}

/*
 * Appends the request line and the headers derived from the URL. has_host: the caller's headers
 * contain Host. has_user: the caller's headers contain Authorization.
 */
static void append_head(
	struct bt_http_transfer *transfer, struct bt_str method, bool has_host, bool has_user)
{
	struct bt_strbuf *out = &transfer->out;
	const struct bt_http_url *url = &transfer->url;
	bool is_https = url->scheme.length == 5;
	bool is_default_port = url->port == (is_https ? 443 : 80);
	struct bt_str path = bt_str_sub(url->rest, 0,
		bt_str_find_char(url->rest, '#') < 0 ? BT_STR_MAX
						     : (uint32_t)bt_str_find_char(url->rest, '#'));
	const struct bt_http_proxy *proxy = transfer->proxy;
	bool is_absolute = proxy != NULL && !is_https && !proxy->is_socks;
	struct bt_strbuf address = {0};
	bt_strbuf_append_c(&address, url->is_v6 ? "[" : "");
	bt_strbuf_append_str(&address, url->host);
	bt_strbuf_append_c(&address, url->is_v6 ? "]" : "");
	if (!is_default_port) {
		bt_strbuf_printf(&address, ":%u", (unsigned int)url->port);
	}
	bt_strbuf_append_str(out, method);
	bt_strbuf_append_char(out, ' ');
	if (is_absolute) {
		bt_strbuf_append_c(out, "http://");
		bt_strbuf_append_str(out, bt_strbuf_str(&address));
	}
	bt_strbuf_append_c(out, path.length == 0 || path.data[0] != '/' ? "/" : "");
	bt_strbuf_append_str(out, path);
	bt_strbuf_append_c(out, " HTTP/1.1\r\n");
	if (!has_host) {
		append_header(out, "Host", bt_strbuf_str(&address));
	}
	bt_strbuf_reset(&address);
	if (is_absolute && proxy->url.user.length != 0) {
		bt_http_url_append_basic(&address, proxy->url.user);
		append_header(out, "Proxy-Authorization", bt_strbuf_str(&address));
		bt_strbuf_reset(&address);
	}
	if (url->user.length != 0 && !has_user) {
		bt_http_url_append_basic(&address, url->user);
		append_header(out, "Authorization", bt_strbuf_str(&address));
	}
	bt_strbuf_finish_wiped(&address);
}

/*
 * Appends the request with the caller's headers; the transfer fails if a header has forbidden
 * bytes.
 */
static void append_request(
	struct bt_http_transfer *transfer, const struct bt_http_client_request *request)
{
	struct bt_strbuf *out = &transfer->out;
	bool has_host = false;
	bool has_user = false;
	size_t header_bytes = HEAD_BYTES + transfer->url_text.length;
	for (uint32_t i = 0; i < request->header_count; i++) {
		const struct bt_http_header *header = &request->headers[i];
		struct bt_str name = bt_str_from(header->name);
		has_host |= bt_str_equal_without_case(name, BT_STR("Host"));
		has_user |= bt_str_equal_without_case(name, BT_STR("Authorization"));
		header_bytes += name.length + header->value.length + sizeof(": \r\n");
		if (!is_safe(header->value, true)) {
			bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_OTHER,
				"net/http: invalid header field value for \"%s\"", header->name);
			return;
		}
	}
	/* Reserve first, so that no copies of credentials remain in smaller buffers. */
	bt_strbuf_reserve(out, header_bytes + request->body.length);
	append_head(transfer, bt_str_from(request->method), has_host, has_user);
	transfer->headers_at = (uint32_t)out->length;
	for (uint32_t i = 0; i < request->header_count; i++) {
		append_header(out, request->headers[i].name, request->headers[i].value);
	}
	transfer->has_body = !transfer->answer.is_bodiless &&
		(request->body.data != NULL || strcmp(request->method, "POST") == 0);
	if (transfer->has_body) {
		bt_strbuf_printf(out, "Content-Length: %u\r\n", (unsigned int)request->body.length);
	}
	bt_strbuf_append_c(out, "\r\n");
	transfer->body_at = (uint32_t)out->length;
	if (transfer->has_body) {
		bt_strbuf_append_str(out, request->body);
	}
}

struct bt_http_transfer *bt_http_client_start(
	struct bt_http_client *client, const struct bt_http_client_request *request)
{
	static const char *const repeatable[] = {"GET", "HEAD", "OPTIONS", "TRACE"};
	struct bt_http_transfer *transfer = BT_NEW(struct bt_http_transfer);
	transfer->client = client;
	transfer->handler = request->handler;
	transfer->deadline_ns = INT64_MAX;
	transfer->body_bytes_max = request->body_bytes_max;
	transfer->head_silence_ns = request->head_silence_ns;
	transfer->body_silence_ns = request->body_silence_ns;
	transfer->method_bytes = (uint32_t)strlen(request->method);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(repeatable); i++) {
		transfer->is_repeatable =
			transfer->is_repeatable || strcmp(request->method, repeatable[i]) == 0;
	}
	transfer->answer.is_bodiless = strcmp(request->method, "HEAD") == 0;
	if (request->timeout_ns > 0) {
		int64_t now_ns = bt_loop_now_ns(client->loop);
		transfer->deadline_ns = request->timeout_ns < INT64_MAX - now_ns
			? now_ns + request->timeout_ns
			: INT64_MAX;
	}
	bt_strbuf_append_c(&transfer->url_text, request->url);
	append_transfer(&client->queue, transfer);
	if (set_url(transfer)) {
		append_request(transfer, request);
	} else {
		struct bt_strbuf quoted = {0};
		bt_strbuf_append_quoted(&quoted, bt_str_from(request->url));
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_OTHER,
			"unsupported protocol scheme, or invalid URL %s", bt_strbuf_c(&quoted));
		bt_strbuf_finish(&quoted);
	}
	bt_http_client_schedule_check(client, transfer->deadline_ns);
	bt_loop_call_at(client->loop, 0);
	return transfer;
}

/* Resolves the Location header against the transfer's URL. */
static void append_target(
	const struct bt_http_transfer *transfer, struct bt_str location, struct bt_strbuf *out)
{
	struct bt_str base = bt_strbuf_str(&transfer->url_text);
	const struct bt_http_url *url = &transfer->url;
	uint32_t root = (uint32_t)(url->rest.data - base.data);
	if (bt_str_find(location, BT_STR("://")) > 0 &&
		bt_str_find(location, BT_STR("://")) < bt_str_find_char(location, '/')) {
		root = 0;
	} else if (bt_str_has_prefix(location, BT_STR("//"))) {
		root = url->scheme.length + 1;
	} else if (!bt_str_has_prefix(location, BT_STR("/"))) {
		/* relative to the path's folder, or, for "?query", to the path itself */
		uint32_t end = 0;
		while (end < url->rest.length && url->rest.data[end] != '?' &&
			url->rest.data[end] != '#') {
			end++;
		}
		if (!bt_str_has_prefix(location, BT_STR("?"))) {
			while (end != 0 && url->rest.data[end - 1] != '/') {
				end--;
			}
		}
		root += end;
	}
	bt_strbuf_append_str(out, bt_str_sub(base, 0, root));
	if (root != 0 && root == (uint32_t)(url->rest.data - base.data) && location.length != 0 &&
		location.data[0] != '/' && location.data[0] != '?') {
		bt_strbuf_append_char(out, '/');
	}
	bt_strbuf_append_str(out, location);
}

static void follow_redirect(struct bt_http_transfer *transfer)
{
	struct bt_str location = {NULL, 0};
	size_t at = 0;
	struct bt_strbuf old_url = transfer->url_text;
	struct bt_strbuf old = transfer->out;
	struct bt_http_url from = transfer->url;
	struct bt_str method = bt_str_sub(bt_strbuf_str(&old), 0, transfer->method_bytes);
	struct bt_str headers = bt_str_sub(bt_strbuf_str(&old), transfer->headers_at,
		transfer->body_at - transfer->headers_at - 2);
	struct bt_str body = bt_str_sub(bt_strbuf_str(&old), transfer->body_at, BT_STR_MAX);
	struct bt_strbuf target = {0};
	(void)bt_http_answer_next_header(&transfer->answer, BT_STR("Location"), &at, &location);
	append_target(transfer, location, &target);
	transfer->url_text = target;
	if (++transfer->redirects > REDIRECTS_MAX) {
		bt_http_transfer_fail(
			transfer, BT_HTTP_FAILURE_OTHER, "stopped after 10 redirects");
	} else if (!set_url(transfer)) {
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_OTHER,
			"unsupported protocol scheme, or invalid URL in Location");
	} else {
		if (transfer->answer.code <= 303 && bt_str_equal(method, BT_STR("POST"))) {
			method = BT_STR("GET");
			transfer->has_body = false;
			transfer->is_repeatable = true;
		}
		bool is_same_host = bt_str_equal_without_case(from.host, transfer->url.host) &&
			from.port == transfer->url.port &&
			from.scheme.length == transfer->url.scheme.length;
		transfer->out = (struct bt_strbuf){0};
		transfer->method_bytes = method.length;
		append_head(transfer, method, false, false);
		transfer->headers_at = (uint32_t)transfer->out.length;
		/*
		 * Copies the caller's headers: without body headers if the body is dropped, and
		 * without credentials if the host changes.
		 */
		while (headers.length != 0) {
			struct bt_str line = bt_str_cut(&headers, '\n');
			struct bt_str rest = line;
			struct bt_str name = bt_str_cut(&rest, ':');
			bool is_secret = bt_str_equal_without_case(name, BT_STR("Authorization")) ||
				bt_str_equal_without_case(name, BT_STR("Cookie"));
			bool is_of_body = bt_str_equal_without_case(name, BT_STR("Content-Type")) ||
				bt_str_equal_without_case(name, BT_STR("Content-Length"));
			bool is_host = bt_str_equal_without_case(name, BT_STR("Host"));
			if (!is_host && (is_same_host || !is_secret) &&
				(transfer->has_body || !is_of_body)) {
				bt_strbuf_append_str(&transfer->out, line);
				bt_strbuf_append_char(&transfer->out, '\n');
			}
		}
		bt_strbuf_append_c(&transfer->out, "\r\n");
		transfer->body_at = (uint32_t)transfer->out.length;
		if (transfer->has_body) {
			bt_strbuf_append_str(&transfer->out, body);
		}
		bt_strbuf_finish_wiped(&old);
		bt_http_transfer_requeue(transfer);
	}
	bt_strbuf_finish_wiped(&old_url);
}

void bt_http_transfer_fail(
	struct bt_http_transfer *transfer, enum bt_http_failure failure, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	bt_strbuf_vprintf(&transfer->message, format, arguments);
	va_end(arguments);
	transfer->failure = failure;
	bt_http_transfer_complete(transfer);
	bt_loop_call_at(transfer->client->loop, 0);
}

void bt_http_transfer_complete(struct bt_http_transfer *transfer)
{
	unlink_transfer(transfer);
	append_transfer(&transfer->client->ended, transfer);
}

void bt_http_transfer_requeue(struct bt_http_transfer *transfer)
{
	struct bt_http_answer fresh = {
		.is_bodiless = transfer->answer.is_bodiless, .head = transfer->answer.head};
	bt_strbuf_reset(&fresh.head);
	transfer->answer = fresh;
	transfer->is_redirect = false;
	unlink_transfer(transfer);
	struct bt_http_list *list = &transfer->client->queue;
	transfer->list = list;
	BT_LIST_APPEND(list->last, list->first, transfer, next, previous);
	bt_loop_call_at(transfer->client->loop, 0);
}

void bt_http_client_deliver(struct bt_http_client *client)
{
	while (client->ended.first != NULL) {
		struct bt_http_transfer *transfer = client->ended.first;
		if (transfer->is_redirect && transfer->failure == BT_HTTP_FAILURE_NONE) {
			follow_redirect(transfer);
			continue;
		}
		int64_t latency_ns = transfer->answered_ns - transfer->sent_ns;
		struct bt_http_outcome outcome = {
			.failure = transfer->failure,
			.answered = transfer->is_answered,
			.sent = transfer->is_sent,
			.code = transfer->is_answered ? transfer->answer.code : 0,
			.latency_ns = transfer->is_answered && latency_ns > 0 ? latency_ns : 0,
			.body = bt_strbuf_str(&transfer->body),
			.message = bt_strbuf_c(&transfer->message),
		};
		unlink_transfer(transfer);
		transfer->handler.done(transfer->handler.context, transfer, &outcome);
		free_transfer(transfer);
	}
}

void bt_http_transfer_cancel(struct bt_http_transfer *transfer)
{
	if (transfer->list == NULL) {
		return; /* called within `done`: the transfer is freed afterwards */
	}
	unlink_transfer(transfer);
	if (transfer->connection != NULL) {
		bt_http_connection_close(transfer->connection);
	}
	bt_loop_call_at(transfer->client->loop, 0); /* queued transfers can now use the slot */
	free_transfer(transfer);
}

struct bt_str bt_http_transfer_header(const struct bt_http_transfer *transfer, const char *name)
{
	struct bt_str value = {NULL, 0};
	size_t at = 0;
	(void)bt_http_answer_next_header(&transfer->answer, bt_str_from(name), &at, &value);
	return value;
}

void bt_http_transfer_each_header(const struct bt_http_transfer *transfer, const char *name,
	void (*take)(void *context, struct bt_str value), void *context)
{
	struct bt_str value = {NULL, 0};
	size_t at = 0;
	while (bt_http_answer_next_header(&transfer->answer, bt_str_from(name), &at, &value)) {
		take(context, value);
	}
}

void bt_http_client_schedule_check(struct bt_http_client *client, int64_t due_ns)
{
	client->due_ns = BT_MIN(client->due_ns, due_ns);
}

static void fail_late(struct bt_http_transfer *transfer, const char *message)
{
	struct bt_http_client_connection *connection = transfer->connection;
	bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_TIMEOUT, "%s", message);
	if (connection != NULL) {
		bt_http_connection_close(connection);
	}
}

/* Fails the transfer if one of its timeouts has passed; otherwise schedules the next check. */
static void check_transfer(struct bt_http_transfer *transfer, int64_t now_ns, bool was_away)
{
	struct bt_http_client *client = transfer->client;
	if (transfer->deadline_ns <= now_ns) {
		fail_late(transfer,
			transfer->is_answered
				? "context deadline exceeded (Client.Timeout or context "
				  "cancellation while reading body)"
				: "context deadline exceeded (Client.Timeout exceeded while "
				  "awaiting headers)");
		return;
	}
	bt_http_client_schedule_check(client, transfer->deadline_ns);
	if (transfer->connection == NULL) {
		return; /* queued */
	}
	if (was_away) {
		transfer->last_data_ns = now_ns;
	}
	int64_t silence_ns =
		transfer->is_answered ? transfer->body_silence_ns : transfer->head_silence_ns;
	if (silence_ns != 0 && transfer->last_data_ns + silence_ns <= now_ns) {
		fail_late(transfer, "the server has fallen silent");
		return;
	}
	if (silence_ns != 0) {
		bt_http_client_schedule_check(client, transfer->last_data_ns + silence_ns);
	}
	bt_http_connection_check_due(transfer->connection, now_ns);
}

static bool has_room(const struct bt_http_client *client)
{
	return client->connections_max == 0 || client->running_count < client->connections_max;
}

static int64_t check_timeouts(void *context, int64_t now_ns)
{
	struct bt_http_client *client = context;
	if (now_ns >= client->due_ns) {
		bool was_away = now_ns - client->due_ns > AWAY_NS;
		client->due_ns = INT64_MAX;
		struct bt_http_list *lists[] = {&client->queue, &client->running};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
			struct bt_http_transfer *next = NULL;
			for (struct bt_http_transfer *transfer = lists[i]->first; transfer != NULL;
				transfer = next) {
				next = transfer->next;
				check_transfer(transfer, now_ns, was_away);
			}
		}
		bt_http_connection_expire_idle(client, now_ns);
	}
	while (client->queue.first != NULL && has_room(client)) {
		struct bt_http_transfer *transfer = client->queue.first;
		unlink_transfer(transfer);
		append_transfer(&client->running, transfer);
		transfer->last_data_ns = now_ns;
		if (transfer->head_silence_ns != 0) {
			bt_http_client_schedule_check(client, now_ns + transfer->head_silence_ns);
		}
		bt_http_connection_run(transfer);
	}
	bt_http_client_deliver(client);
	return client->queue.first != NULL && has_room(client) ? 0 : client->due_ns;
}

int bt_http_client_create(struct bt_loop *loop, const struct bt_http_client_options *options,
	struct bt_http_client **out_client, struct berth_error *err)
{
	struct bt_http_client *client = BT_NEW(struct bt_http_client);
	client->loop = loop;
	client->connections_max = options->connections_max;
	client->idle_connections_max = options->idle_connections_max;
	client->connect_timeout_ns = options->connect_timeout_ns;
	client->follow_redirects = options->follow_redirects;
	client->due_ns = INT64_MAX;
	int result;
	if (options->proxy_url != NULL) {
		result = bt_http_proxies_fix(&client->proxies, options->proxy_url, err);
	} else {
		static const char *const names[][2] = {
			{"HTTP_PROXY", "http_proxy"},
			{"HTTPS_PROXY", "https_proxy"},
			{"NO_PROXY", "no_proxy"},
		};
		const char *values[BT_ARRAY_LENGTH(names)];
		for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
			values[i] = getenv(names[i][0]);
			if (values[i] == NULL || *values[i] == '\0') {
				values[i] = getenv(names[i][1]);
			}
		}
		result = bt_http_proxies_read(
			&client->proxies, values[0], values[1], values[2], err);
	}
	if (result == 0) {
		result = bt_http_trust_create(&options->tls, &client->trust, err);
	}
	if (result != 0) {
		bt_http_proxies_finish(&client->proxies);
		bt_free(client);
		return result;
	}
	bt_loop_add_worker(loop, check_timeouts, client);
	*out_client = client;
	return 0;
}

void bt_http_client_destroy(struct bt_http_client *client)
{
	if (client == NULL) {
		return;
	}
	struct bt_http_list *lists[] = {&client->queue, &client->running, &client->ended};
	bt_loop_remove_worker(client->loop, client);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		while (lists[i]->first != NULL) {
			bt_http_transfer_cancel(lists[i]->first);
		}
	}
	bt_http_connection_close_idle(client, 0);
	for (uint32_t i = 0; i < client->lookups.count; i++) {
		bt_http_lookup_cancel(client->lookups.items[i]);
	}
	bt_vec_finish(&client->lookups);
	bt_http_trust_release(client->trust);
	bt_http_proxies_finish(&client->proxies);
	bt_free(client);
}

int bt_http_client_set_tls(struct bt_http_client *client, const struct bt_http_client_tls *tls,
	bool cut, struct berth_error *err)
{
	struct bt_http_trust *trust = NULL;
	int result = bt_http_trust_create(tls, &trust, err);
	if (result != 0) {
		return result;
	}
	bt_http_trust_release(client->trust);
	client->trust = trust;
	bt_http_connection_close_idle(client, 0);
	while (cut && client->running.first != NULL) {
		struct bt_http_transfer *transfer = client->running.first;
		bt_http_transfer_fail(
			transfer, BT_HTTP_FAILURE_RESET, "use of closed network connection");
		bt_http_connection_close(transfer->connection);
	}
	return 0;
}

void bt_http_client_set_connections_max(struct bt_http_client *client, uint32_t connections_max)
{
	client->connections_max = connections_max;
	bt_loop_call_at(client->loop, 0); /* queued transfers may now start */
}
