/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "net/http_client_private.h"

/* libcurl's part of a transfer takes some kilobytes. */
#define SPARE_HANDLES_MAX 16
/* A look that comes this late: the process was stopped, and the answers may be there by now. */
#define AWAY_NS (5 * BT_NS_PER_SECOND)

static void unlink_queued(struct bt_http_client *client, struct bt_http_transfer *transfer)
{
	if (transfer->previous != NULL) {
		transfer->previous->next = transfer->next;
	} else {
		client->queue_first = transfer->next;
	}
	if (transfer->next != NULL) {
		transfer->next->previous = transfer->previous;
	} else {
		client->queue_last = transfer->previous;
	}
}

static void free_transfer(struct bt_http_transfer *transfer)
{
	bt_strbuf_finish(&transfer->text);
	bt_strbuf_finish_wiped(&transfer->header_lines);
	bt_strbuf_finish_wiped(&transfer->body);
	bt_strbuf_finish(&transfer->refusal);
	bt_strbuf_finish(&transfer->head);
	bt_strbuf_finish(&transfer->answer);
	bt_free(transfer);
}

/* Take a transfer from libcurl; a connection whose answer is not read to its end is closed. */
static void detach(struct bt_http_transfer *transfer)
{
	struct bt_http_client *client = transfer->client;
	struct bt_http_handle *handle = transfer->handle;
	struct bt_http_pool *pool = handle->pool;
	client->within_curl++;
	(void)curl_multi_remove_handle(pool->multi, handle->easy); /* it is in there */
	client->within_curl--;
	if (transfer->previous != NULL) {
		transfer->previous->next = transfer->next;
	} else {
		client->running = transfer->next;
	}
	if (transfer->next != NULL) {
		transfer->next->previous = transfer->previous;
	}
	client->running_count--;
	transfer->handle = NULL;
	transfer->state = BT_HTTP_ENDED;
	pool->running--;
	bt_http_pool_resize(pool);
	handle->transfer = NULL;
	uint32_t spare_max = client->connections_max > SPARE_HANDLES_MAX ? client->connections_max
									 : SPARE_HANDLES_MAX;
	if (client->spare_count >= spare_max || handle->pool != client->pools) {
		bt_http_handle_destroy(handle);
		return;
	}
	handle->next = client->spare;
	client->spare = handle;
	client->spare_count++;
}

static void tell_end(struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	transfer->state = BT_HTTP_ENDED;
	if (!transfer->is_cancelled) {
		transfer->handler.done(transfer->handler.context, transfer, outcome);
	}
	free_transfer(transfer);
}

static void look_at(struct bt_http_client *client, int64_t silent_since_ns, int64_t max_ns)
{
	if (max_ns != 0 && silent_since_ns + max_ns < client->silence_due_ns) {
		client->silence_due_ns = silent_since_ns + max_ns;
	}
}

static void start_running(struct bt_http_client *client, struct bt_http_transfer *transfer)
{
	struct bt_http_pool *pool = client->pools;
	struct bt_http_handle *handle = client->spare;
	if (handle != NULL) {
		client->spare = handle->next;
		client->spare_count--;
	} else {
		handle = bt_http_handle_create();
	}
	bt_http_handle_take(handle, pool, transfer);
	transfer->state = BT_HTTP_RUNNING;
	/* The transfer has its turn. */
	transfer->heard_ns = bt_loop_now_ns(client->loop);
	look_at(client, transfer->heard_ns, transfer->head_silence_ns);
	look_at(client, transfer->heard_ns, transfer->body_silence_ns);
	transfer->previous = NULL;
	transfer->next = client->running;
	if (client->running != NULL) {
		client->running->previous = transfer;
	}
	client->running = transfer;
	client->running_count++;
	pool->running++;
	bt_http_pool_resize(pool);
	client->within_curl++;
	CURLMcode code = curl_multi_add_handle(pool->multi, handle->easy);
	client->within_curl--;
	BT_ASSERT(code == CURLM_OK); /* not in it yet, not from within it */
}

/* Its connection had ended before anything was written: as if it had not been tried. */
static void start_again(struct bt_http_transfer *transfer)
{
	struct bt_http_handle *handle = transfer->handle;
	struct bt_http_client *client = transfer->client;
	transfer->is_stale = false;
	transfer->has_begun = false;
	transfer->size_before = 0;
	transfer->connects = 0;
	client->within_curl++;
	(void)curl_multi_remove_handle(handle->pool->multi, handle->easy); /* it is in there */
	CURLMcode code = curl_multi_add_handle(handle->pool->multi, handle->easy);
	client->within_curl--;
	BT_ASSERT(code == CURLM_OK);
}

static void finish_transfer(struct bt_http_transfer *transfer, CURLcode code)
{
	struct bt_strbuf text = {0};
	struct bt_http_outcome outcome = {0};
	if (transfer->is_stale && !transfer->is_cancelled && !transfer->is_cut &&
		!transfer->is_silent) {
		start_again(transfer);
		return;
	}
	bt_http_outcome_of(transfer, code, &text, &outcome);
	detach(transfer);
	tell_end(transfer, &outcome);
	bt_strbuf_finish(&text);
}

static void end_old_pools(struct bt_http_client *client)
{
	BT_ASSERT(client->pools != NULL);
	struct bt_http_pool **link = &client->pools->next;
	while (*link != NULL) {
		struct bt_http_pool *pool = *link;
		if (pool->running == 0) {
			*link = pool->next;
			client->within_curl++;
			bt_http_pool_destroy(pool);
			client->within_curl--;
		} else {
			link = &pool->next;
		}
	}
}

void bt_http_client_deliver(struct bt_http_client *client)
{
	client->delivering++;
	for (struct bt_http_pool *pool = client->pools; pool != NULL; pool = pool->next) {
		CURLMsg *message;
		int left = 0;
		while ((message = curl_multi_info_read(pool->multi, &left)) != NULL) {
			char *private = NULL;
			CURLcode code = message->data.result;
			if (message->msg != CURLMSG_DONE) {
				continue;
			}
			(void)curl_easy_getinfo(
				message->easy_handle, CURLINFO_PRIVATE, &private); /* known */
			struct bt_http_handle *handle = (void *)private;
			finish_transfer(handle->transfer, code);
		}
	}
	client->delivering--;
	if (client->has_cancelled) {
		client->has_cancelled = false;
		struct bt_http_transfer *next = NULL;
		for (struct bt_http_transfer *transfer = client->running; transfer != NULL;
			transfer = next) {
			next = transfer->next;
			if (transfer->is_cancelled) {
				detach(transfer);
				free_transfer(transfer);
			}
		}
	}
	if (client->delivering == 0) {
		end_old_pools(client);
	}
}

/* The first whose time is over; the time of the next one is noted. */
static struct bt_http_transfer *find_late(struct bt_http_client *client, int64_t now_ns)
{
	client->queue_due_ns = INT64_MAX;
	for (struct bt_http_transfer *transfer = client->queue_first; transfer != NULL;
		transfer = transfer->next) {
		if (transfer->deadline_ns <= now_ns) {
			client->queue_due_ns = now_ns;
			return transfer;
		}
		if (transfer->deadline_ns < client->queue_due_ns) {
			client->queue_due_ns = transfer->deadline_ns;
		}
	}
	return NULL;
}

static bool has_room(const struct bt_http_client *client)
{
	return client->connections_max == 0 || client->running_count < client->connections_max;
}

static void start_queued(struct bt_http_client *client)
{
	while (client->queue_first != NULL && has_room(client)) {
		struct bt_http_transfer *transfer = client->queue_first;
		unlink_queued(client, transfer);
		if (transfer->refusal.length != 0) {
			struct bt_http_outcome outcome = {
				.failure = BT_HTTP_FAILURE_OTHER,
				.message = bt_strbuf_c(&transfer->refusal),
				.body = BT_STR(""),
			};
			tell_end(transfer, &outcome);
		} else {
			start_running(client, transfer);
		}
	}
	if (client->queue_first == NULL) {
		client->queue_due_ns = INT64_MAX;
	}
}

/* Once in a while: to whom the server has not spoken for too long. */
static void find_silent(struct bt_http_client *client, int64_t now_ns)
{
	bool was_away;
	if (now_ns < client->silence_due_ns) {
		return;
	}
	was_away = now_ns - client->silence_due_ns > AWAY_NS;
	client->silence_due_ns = INT64_MAX;
	for (struct bt_http_transfer *transfer = client->running; transfer != NULL;
		transfer = transfer->next) {
		/* 0: it may be silent for ever. */
		int64_t max_ns = transfer->is_answered ? transfer->body_silence_ns
						       : transfer->head_silence_ns;
		if (was_away) {
			transfer->heard_ns = now_ns;
		}
		if (max_ns != 0 && transfer->heard_ns + max_ns <= now_ns) {
			transfer->is_silent = true;
			client->has_cut = true;
		} else {
			look_at(client, transfer->heard_ns, max_ns);
			/* its headers may come at any time */
			look_at(client, now_ns, transfer->body_silence_ns);
		}
	}
}

static void end_cut(struct bt_http_client *client)
{
	while (client->has_cut) {
		struct bt_http_transfer *transfer = client->running;
		while (transfer != NULL && !transfer->is_cut && !transfer->is_silent) {
			transfer = transfer->next;
		}
		if (transfer == NULL) {
			client->has_cut = false;
			return;
		}
		finish_transfer(transfer, CURLE_OK); /* its callback may change the list */
	}
}

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_http_client *client = context;
	int64_t due_ns;
	if (client->within_curl != 0) {
		return INT64_MAX;
	}
	/* Those that waited too long for a connection. Their callbacks may change the queue. */
	while (client->queue_due_ns <= now_ns) {
		struct bt_http_transfer *late = find_late(client, now_ns);
		if (late != NULL) {
			static const struct bt_http_outcome outcome = {
				.failure = BT_HTTP_FAILURE_TIMEOUT,
				.body = BT_STR_INIT(""),
				.message = "context deadline exceeded (Client.Timeout exceeded "
					   "while awaiting "
					   "headers)",
			};
			unlink_queued(client, late);
			tell_end(late, &outcome);
		}
	}
	find_silent(client, now_ns);
	end_cut(client);
	start_queued(client);
	client->delivering++;
	for (struct bt_http_pool *pool = client->pools; pool != NULL; pool = pool->next) {
		bt_http_pool_tick(pool, now_ns);
	}
	client->delivering--;
	bt_http_client_deliver(client);
	due_ns = client->queue_first != NULL && has_room(client) ? 0 : client->queue_due_ns;
	due_ns = client->silence_due_ns < due_ns ? client->silence_due_ns : due_ns;
	for (const struct bt_http_pool *pool = client->pools; pool != NULL; pool = pool->next) {
		due_ns = pool->due_ns < due_ns ? pool->due_ns : due_ns;
	}
	return due_ns;
}

static int read_proxies(
	struct bt_http_client *client, const char *proxy_url, struct berth_error *err)
{
	if (proxy_url != NULL) {
		return bt_http_proxies_fix(&client->proxies, proxy_url, err);
	}
	const char *names[][2] = {
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
	return bt_http_proxies_read(&client->proxies, values[0], values[1], values[2], err);
}

int bt_http_client_create(struct bt_loop *loop, const struct bt_http_client_options *options,
	struct bt_http_client **out_client, struct berth_error *err)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "libcurl does not start");
	}
	struct bt_http_client *client = BT_NEW(struct bt_http_client);
	client->loop = loop;
	client->connections_max = options->connections_max;
	client->idle_connections_max = options->idle_connections_max;
	client->connect_timeout_ms = options->connect_timeout_ns / BT_NS_PER_MS;
	client->connect_timeout_ms =
		client->connect_timeout_ms > INT32_MAX ? INT32_MAX : client->connect_timeout_ms;
	client->follow_redirects = options->follow_redirects;
	client->queue_due_ns = INT64_MAX;
	client->silence_due_ns = INT64_MAX;
	int result = read_proxies(client, options->proxy_url, err);
	if (result == 0) {
		result = bt_http_pool_create(client, &options->tls, &client->pools, err);
	}
	if (result != 0) {
		bt_http_proxies_finish(&client->proxies);
		bt_free(client);
		curl_global_cleanup();
		return result;
	}
	bt_loop_add_worker(loop, work, client);
	*out_client = client;
	return 0;
}

static void destroy_spare(struct bt_http_client *client)
{
	while (client->spare != NULL) {
		struct bt_http_handle *handle = client->spare;
		client->spare = handle->next;
		bt_http_handle_destroy(handle);
	}
	client->spare_count = 0;
}

void bt_http_client_destroy(struct bt_http_client *client)
{
	if (client == NULL) {
		return;
	}
	BT_ASSERT(client->within_curl == 0 && client->delivering == 0);
	bt_loop_remove_worker(client->loop, client);
	while (client->queue_first != NULL) {
		bt_http_transfer_cancel(client->queue_first);
	}
	while (client->running != NULL) {
		struct bt_http_transfer *transfer = client->running;
		detach(transfer);
		free_transfer(transfer);
	}
	destroy_spare(client);
	client->within_curl++;
	while (client->pools != NULL) {
		struct bt_http_pool *pool = client->pools;
		client->pools = pool->next;
		bt_http_pool_destroy(pool);
	}
	bt_http_proxies_finish(&client->proxies);
	bt_free(client);
	curl_global_cleanup();
}

int bt_http_client_set_tls(struct bt_http_client *client, const struct bt_http_client_tls *tls,
	bool cut, struct berth_error *err)
{
	struct bt_http_pool *pool = NULL;
	int result = bt_http_pool_create(client, tls, &pool, err);
	if (result != 0) {
		return result;
	}
	for (struct bt_http_transfer *transfer = client->running; cut && transfer != NULL;
		transfer = transfer->next) {
		transfer->is_cut = true;
		client->has_cut = true;
	}
	bt_http_pool_close_idle(client->pools);
	pool->next = client->pools;
	client->pools = pool;
	destroy_spare(client);
	bt_loop_call_at(client->loop, 0); /* to end the old pool */
	return 0;
}

void bt_http_client_set_connections_max(struct bt_http_client *client, uint32_t connections_max)
{
	client->connections_max = connections_max;
	bt_http_pool_resize(client->pools);
	bt_loop_call_at(client->loop, 0); /* for those that wait */
}

static bool is_header_safe(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
			return false;
		}
	}
	return true;
}

struct bt_http_transfer *bt_http_client_start(
	struct bt_http_client *client, const struct bt_http_client_request *request)
{
	struct bt_http_transfer *transfer = BT_NEW(struct bt_http_transfer);
	struct bt_http_url url;
	size_t method_bytes = strlen(request->method) + 1;
	transfer->client = client;
	transfer->handler = request->handler;
	transfer->deadline_ns = INT64_MAX;
	transfer->body_bytes_max = request->body_bytes_max;
	transfer->head_silence_ns = request->head_silence_ns;
	transfer->body_silence_ns = request->body_silence_ns;
	if (request->timeout_ns > 0) {
		int64_t now_ns = bt_loop_now_ns(client->loop);
		transfer->deadline_ns = request->timeout_ns < INT64_MAX - now_ns
			? now_ns + request->timeout_ns
			: INT64_MAX;
	}
	bt_strbuf_reserve(&transfer->text, method_bytes + strlen(request->url) + 1);
	bt_strbuf_append(&transfer->text, request->method, method_bytes);
	transfer->url_at = (uint32_t)transfer->text.length;
	bt_strbuf_append(&transfer->text, request->url, strlen(request->url) + 1);
	for (uint32_t i = 0; i < request->header_count; i++) {
		const struct bt_http_header *header = &request->headers[i];
		if (!is_header_safe(header->value)) {
			if (transfer->refusal.length == 0) {
				bt_strbuf_printf(&transfer->refusal,
					"net/http: invalid header field value for \"%s\"",
					header->name);
			}
			continue;
		}
		/* without a value libcurl wants to hear it so */
		bt_strbuf_append_c(&transfer->header_lines, header->name);
		bt_strbuf_append_c(&transfer->header_lines, header->value.length != 0 ? ": " : ";");
		bt_strbuf_append_str(&transfer->header_lines, header->value);
		bt_strbuf_append_char(&transfer->header_lines, '\0');
	}
	if (transfer->refusal.length == 0 && !bt_http_url_split(bt_str_from(request->url), &url)) {
		bt_strbuf_append_c(
			&transfer->refusal, "unsupported protocol scheme, or invalid URL ");
		bt_strbuf_append_quoted(&transfer->refusal, bt_str_from(request->url));
	}
	if (request->body.data != NULL) {
		bt_strbuf_reserve(&transfer->body, request->body.length);
		bt_strbuf_append_str(&transfer->body, request->body);
	}
	transfer->previous = client->queue_last;
	transfer->next = NULL;
	if (client->queue_last != NULL) {
		client->queue_last->next = transfer;
	} else {
		client->queue_first = transfer;
	}
	client->queue_last = transfer;
	if (transfer->deadline_ns < client->queue_due_ns) {
		client->queue_due_ns = transfer->deadline_ns;
	}
	bt_loop_call_at(client->loop, 0);
	return transfer;
}

void bt_http_transfer_cancel(struct bt_http_transfer *transfer)
{
	struct bt_http_client *client = transfer->client;
	switch (transfer->state) {
	case BT_HTTP_QUEUED:
		unlink_queued(client, transfer);
		free_transfer(transfer);
		return;
	case BT_HTTP_RUNNING:
		if (client->within_curl != 0) {
			transfer->is_cancelled = true;
			client->has_cancelled = true;
			return;
		}
		detach(transfer);
		free_transfer(transfer);
		return;
	case BT_HTTP_ENDED:
		return; /* within its last callback */
	}
}

static bool next_header(const struct bt_http_transfer *transfer, size_t *at, const char *name,
	struct bt_str *out_value)
{
	struct bt_str wanted = bt_str_from(name);
	while (*at < transfer->head.length) {
		struct bt_str line = bt_str_from(transfer->head.data + *at);
		*at += line.length + 1;
		int64_t colon = bt_str_find_char(line, ':');
		if (colon < 0 ||
			!bt_str_equal_without_case(bt_str_sub(line, 0, (uint32_t)colon), wanted)) {
			continue;
		}
		struct bt_str value = bt_str_sub(line, (uint32_t)colon + 1, BT_STR_MAX);
		while (value.length != 0 && (value.data[0] == ' ' || value.data[0] == '\t')) {
			value = bt_str_sub(value, 1, BT_STR_MAX);
		}
		while (value.length != 0 &&
			(value.data[value.length - 1] == ' ' ||
				value.data[value.length - 1] == '\t')) {
			value.length--;
		}
		*out_value = value;
		return true;
	}
	return false;
}

struct bt_str bt_http_transfer_header(const struct bt_http_transfer *transfer, const char *name)
{
	struct bt_str value = {NULL, 0};
	size_t at = 0;
	(void)next_header(transfer, &at, name, &value); /* absent without */
	return value;
}

void bt_http_transfer_each_header(const struct bt_http_transfer *transfer, const char *name,
	void (*take)(void *context, struct bt_str value), void *context)
{
	struct bt_str value = {NULL, 0};
	size_t at = 0;
	while (next_header(transfer, &at, name, &value)) {
		take(context, value);
	}
}
