/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/extender_http.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "client/file.h"
#include "net/http_client.h"
#include "net/http_proxy.h"
#include "sched/extender_wire.h"

/* A wait ends when the answer arrives; this interval bounds how late a stop is noticed. */
#define TURN_NS BT_NS_PER_SECOND
#define PEM_BYTES_MAX (UINT32_C(1) << 20)
#define STATUS_OK 200

/** One extender's connections. */
struct carrier {
	const struct bt_config_extender *config;
	struct bt_http_client *client;
};

struct bt_extender_http {
	struct bt_extender_http_options options;
	struct bt_extender_poster poster;
	struct bt_extender_factory posting; /* of src/sched: writes requests, reads answers */
	struct bt_extender_factory factory; /* of this file: calls `posting`, creates a client */
	BT_VEC(struct carrier) carriers;
};

/** One request and its answer. Allocated in `arena`, like the texts of response and failure. */
struct exchange {
	const struct bt_extender_http_options *options;
	const struct bt_extender_request *request;
	struct bt_arena *arena;
	struct bt_http_transfer *transfer;
	struct bt_extender_response response;
	struct bt_str failure; /* data NULL: no failure */
	bool is_over;
};

static void done(void *context, struct bt_http_transfer *transfer BT_UNUSED,
	const struct bt_http_outcome *outcome)
{
	struct exchange *exchange = context;
	exchange->is_over = true;
	if (outcome->failure != BT_HTTP_FAILURE_NONE) {
		exchange->failure = bt_arena_str(exchange->arena, bt_str_from(outcome->message));
		return;
	}
	exchange->response.status = outcome->code;
	if (outcome->code == STATUS_OK) {
		exchange->response.body = bt_arena_str(exchange->arena, outcome->body);
	}
}

static bool may_send(void *context)
{
	const struct exchange *exchange = context;
	const struct bt_extender_http_options *options = exchange->options;
	return options->may_act == NULL || options->may_act(options->context);
}

static struct bt_http_client *client_of(
	const struct bt_extender_http *extenders, const struct bt_config_extender *config)
{
	for (uint32_t i = 0; i < extenders->carriers.count; i++) {
		if (extenders->carriers.items[i].config == config) {
			return extenders->carriers.items[i].client;
		}
	}
	return NULL;
}

static void *begin(void *context, const struct bt_extender_request *request, struct bt_arena *arena)
{
	struct bt_extender_http *extenders = context;
	struct bt_http_header header = {"Content-Type", BT_STR("application/json")};
	struct exchange *exchange = BT_ARENA_NEW_ARRAY(arena, struct exchange, 1);
	struct bt_http_client_request transfer = {
		.method = "POST",
		.url = bt_arena_str(arena, request->url).data,
		.headers = &header,
		.header_count = 1,
		.body = request->body,
		.timeout_ns = request->timeout_ns,
		.body_bytes_max = BT_EXTENDER_ANSWER_BYTES_MAX,
		.handler = {.context = exchange, .may_send = may_send, .done = done},
	};
	exchange->options = &extenders->options;
	exchange->request = request;
	exchange->arena = arena;
	exchange->transfer = bt_http_client_start(client_of(extenders, request->config), &transfer);
	return exchange;
}

static void cancel_exchange(struct exchange *exchange, const char *message)
{
	bt_http_transfer_cancel(exchange->transfer);
	exchange->is_over = true;
	exchange->failure = bt_arena_str(exchange->arena, bt_str_from(message));
}

static int end(void *context, void *begun, struct bt_extender_response *out_response,
	struct berth_error *err)
{
	struct bt_extender_http *extenders = context;
	struct exchange *exchange = begun;
	const struct bt_extender_http_options *options = &extenders->options;
	while (!exchange->is_over) {
		struct berth_error failure = BERTH_ERROR_INIT;
		if (!may_send(exchange)) {
			cancel_exchange(exchange, "context canceled");
		} else if (bt_loop_turn(options->loop, TURN_NS, &failure) < 0 &&
			!exchange->is_over) {
			cancel_exchange(exchange, berth_error_message(&failure));
		}
		berth_error_finish(&failure);
	}
	if (exchange->failure.data == NULL) {
		*out_response = exchange->response;
		return 0;
	}
	struct bt_strbuf url = {0};
	bt_http_url_append_redacted(&url, exchange->request->url);
	int result = bt_error_set(err, BERTH_ERR_IO, "Post \"%s\": %.*s", bt_strbuf_c(&url),
		BT_STR_ARG(exchange->failure));
	bt_strbuf_finish(&url);
	return result;
}

static int post(void *context, const struct bt_extender_request *request, struct bt_arena *arena,
	struct bt_extender_response *out_response, struct berth_error *err)
{
	return end(context, begin(context, request, arena), out_response, err);
}

static int create_extender(void *context, const struct bt_config_extender *config,
	const struct bt_extender_ops **out_ops, void **out_context, struct berth_error *err)
{
	struct bt_extender_http *extenders = context;
	struct carrier carrier = {config, NULL};
	/* `posting` goes first, so that its errors are reported before errors of the tlsConfig. */
	int result = extenders->posting.create(
		extenders->posting.context, config, out_ops, out_context, err);
	if (result < 0 || client_of(extenders, config) != NULL) {
		return result;
	}
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_strbuf texts[3] = {{0}};
	options.follow_redirects = true;
	if (config->tls_config != NULL) {
		const struct bt_config_extender_tls *tls = config->tls_config;
		const struct {
			struct bt_str data;
			struct bt_str file;
			struct bt_str *out;
		} parts[] = {
			{tls->ca_data, tls->ca_file, &options.tls.ca},
			{tls->cert_data, tls->cert_file, &options.tls.certificate},
			{tls->key_data, tls->key_file, &options.tls.key},
		};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(parts) && result == 0; i++) {
			struct bt_strbuf *text = &texts[i];
			if (parts[i].data.length != 0) {
				bt_strbuf_append_str(text, parts[i].data);
			} else if (parts[i].file.length != 0) {
				char *path = bt_strndup(parts[i].file.data, parts[i].file.length);
				/* no copies of a key remain in smaller buffers */
				bt_strbuf_reserve(text, PEM_BYTES_MAX);
				result = bt_client_file_read(path, PEM_BYTES_MAX, text, err);
				bt_free(path);
			}
			if (texts[i].length != 0) {
				*parts[i].out = bt_strbuf_str(&texts[i]);
			}
		}
		options.tls.insecure = tls->insecure;
		if (tls->server_name.length != 0) {
			options.tls.server_name = tls->server_name;
		}
	}
	/*
	 * Upstream quirk, spec 11b section 9.1: without a CA the server's certificate is not
	 * verified.
	 */
	if (config->enable_https && options.tls.ca.length == 0) {
		options.tls.insecure = true;
	}
	if (result == 0) {
		result = bt_http_client_create(
			extenders->options.loop, &options, &carrier.client, err);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		bt_strbuf_finish_wiped(&texts[i]);
	}
	if (result < 0) {
		(*out_ops)->destroy(*out_context);
		return result;
	}
	bt_vec_push(&extenders->carriers, carrier);
	return 0;
}

struct bt_extender_http *bt_extender_http_create(const struct bt_extender_http_options *options)
{
	struct bt_extender_http *extenders = bt_calloc(1, sizeof(*extenders));
	extenders->options = *options;
	extenders->poster = (struct bt_extender_poster){
		.post = post,
		.context = extenders,
		.objects = options->objects,
		.begin = begin,
		.end = end,
	};
	extenders->posting = bt_extender_poster_factory(&extenders->poster);
	extenders->factory = (struct bt_extender_factory){create_extender, extenders};
	return extenders;
}

void bt_extender_http_destroy(struct bt_extender_http *extenders)
{
	if (extenders == NULL) {
		return;
	}
	bt_vec_finish_each(&extenders->carriers, bt_http_client_destroy(each->client));
	bt_free(extenders);
}

const struct bt_extender_factory *bt_extender_http_factory(struct bt_extender_http *extenders)
{
	return &extenders->factory;
}

static void log_ignored(void *context BT_UNUSED, const struct bt_config_extender *extender,
	const char *message, int verbosity, struct bt_str error)
{
	if (BT_LOG_ENABLED(verbosity)) {
		BT_LOG_INFO(verbosity, message, BT_LOG_STR("extender", extender->url_prefix),
			BT_LOG_STR("err", error));
	}
}

static const struct bt_extender_observer log_observer = {.ignored = log_ignored};
const struct bt_extender_observer *const bt_extender_http_log_observer = &log_observer;
