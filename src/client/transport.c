/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/transport_private.h"
#include "net/clock.h"

/* Limit of install hints per hour. */
#define HINTS_MAX 10
#define HINT_PERIOD_NS (3600 * BT_NS_PER_SECOND)

static void set_tls(struct bt_http_client *client, const struct bt_http_client_tls *tls, bool cut)
{
	struct berth_error cause = BERTH_ERROR_INIT;

	if (bt_http_client_set_tls(client, tls, cut, &cause) != 0) {
		BT_LOG_ERROR_PLAIN(
			berth_error_message(&cause), "Using the new certificates failed");
		berth_error_finish(&cause);
	}
}

/** Applies the current TLS material to new connections. cut: running requests fail. */
static void transport_apply_tls(struct bt_transport *transport, bool cut)
{
	struct bt_http_client_tls tls = bt_tls_material_view(&transport->tls);

	set_tls(transport->calls, &tls, cut);
	set_tls(transport->streams, &tls, cut);
}

static int start_run(struct bt_transport *transport, bool is_refresh, struct berth_error *err)
{
	const struct bt_kubeconfig_exec *exec = transport->config->user.exec;
	struct bt_strbuf info = {0};
	bool is_terminal = isatty(STDIN_FILENO) == 1;
	bool interactive = is_terminal && !bt_str_equal_c(exec->interactive_mode, "Never");

	/* Spec 13 section 6.5, run() step 1. */
	if (!is_terminal && bt_str_equal_c(exec->interactive_mode, "Always")) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"exec plugin cannot support interactive mode: standard input is not a "
			"terminal");
	}
	bt_exec_write_info(
		transport->config, bt_strbuf_str(&transport->tls.ca), interactive, &info);
	transport->exec.run =
		bt_exec_run_start(transport->loop, exec, interactive, bt_strbuf_str(&info));
	transport->exec.is_refresh = is_refresh;
	bt_strbuf_finish(&info);
	return 0;
}

static bool is_valid(const struct bt_transport_exec *exec)
{
	return exec->cached && (!exec->expires || bt_clock_wall_ns() <= exec->expiry_ns);
}

static int end_run(struct bt_transport *transport, int64_t now_ns, struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	struct bt_exec_credential credential = {0};
	struct bt_exec_result result = {0};
	struct bt_str output;
	int code = bt_exec_run_output(exec->run, &output, &result, err);

	if (transport->exec_calls != NULL) {
		static const char *const names[] = {"no_error", "plugin_execution_error",
			"plugin_not_found_error", "client_internal_error"};
		char text[16];
		(void)snprintf(text, sizeof(text), "%d", result.exit_code);
		const struct bt_str values[] = {bt_str_from(text), bt_str_from(names[result.end])};
		bt_metric_add(bt_metric_cell(transport->exec_calls, values), 1);
	}
	if (exec->hint_count == 0 || now_ns - exec->hint_since_ns >= HINT_PERIOD_NS) {
		exec->hint_since_ns = now_ns;
		exec->hint_count = 0;
	}
	if (code != 0 && result.end == BT_EXEC_NOT_FOUND_ERROR && exec->hint_count < HINTS_MAX) {
		struct berth_error plain = BERTH_ERROR_INIT;
		exec->hint_count++;
		(void)bt_error_move(&plain, err);
		code = bt_error_set(err, plain.code,
			"%s\n\nIt looks like you are trying to use a client-go credential plugin "
			"that is not installed.\n\n%.*s",
			berth_error_message(&plain),
			BT_STR_ARG(transport->config->user.exec->install_hint));
		berth_error_finish(&plain);
	}
	if (code == 0) {
		code = bt_exec_credential_read(
			output, transport->config->user.exec->api_version, &credential, err);
	}
	if (code == 0) {
		code = bt_authorization_set_token(&transport->authorization, credential.token, err);
	}
	if (code == 0) {
		exec->cached = true;
		exec->generation++;
		exec->expires = credential.expires;
		exec->expiry_ns = credential.expiry_ns;
		if (bt_tls_material_set_pair(
			    &transport->tls, credential.certificate, credential.key)) {
			transport_apply_tls(transport, true);
		}
	}
	bt_exec_credential_finish(&credential);
	bt_exec_run_destroy(exec->run);
	exec->run = NULL;
	exec->is_refresh = false;
	return code;
}

/**
 * Starts a run of the plugin if a waiting request needs one, or takes the result of a finished run.
 * Returns true if the caller must release the waiting requests: they fail with err if it is set,
 * else they start.
 */
static bool transport_exec_check(struct bt_transport *transport, int64_t now_ns,
	int64_t *out_next_ns, struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	bool was_refresh = exec->is_refresh;
	struct berth_error cause = BERTH_ERROR_INIT;

	*out_next_ns = INT64_MAX;
	/*
	 * Start a run if a call waits, the credentials are not valid and no run exists. start_run
	 * sets err if it fails.
	 */
	if (exec->run == NULL &&
		(transport->waiting_first == NULL || is_valid(exec) ||
			start_run(transport, false, err) != 0)) {
		return transport->waiting_first != NULL;
	}
	if (!bt_exec_run_poll(exec->run, now_ns, out_next_ns)) {
		return false;
	}
	if (end_run(transport, now_ns, &cause) == 0) {
		return true;
	}
	if (was_refresh) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "refreshing credentials: %s",
			berth_error_message(&cause));
		/* the cached credentials may still be valid */
		if (is_valid(exec)) {
			berth_error_finish(&cause);
			return true;
		}
	}
	(void)bt_error_move(err, &cause);
	return true;
}

void bt_transport_ended(struct bt_transport_call *call, const struct bt_http_outcome *outcome)
{
	struct bt_transport *transport = call->transport;
	const struct bt_transport_exec *exec = &transport->exec;

	if (outcome->answered && call->is_paced) {
		bt_pace_answered(
			&transport->pace, outcome->latency_ns, bt_loop_now_ns(transport->loop));
	}
	if (outcome->answered && outcome->code == 401 && call->generation != 0) {
		/* Run the plugin again, unless its credentials are newer than the request's. */
		struct berth_error cause = BERTH_ERROR_INIT;
		if (exec->active && exec->run == NULL && call->generation == exec->generation &&
			start_run(transport, true, &cause) != 0) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "refreshing credentials: %s",
				berth_error_message(&cause));
			berth_error_finish(&cause);
		}
	}
}

void bt_transport_refresh(struct bt_transport *transport, int64_t now_ns)
{
	bt_authorization_refresh(&transport->authorization, now_ns);
	if (bt_tls_material_refresh(&transport->tls, now_ns) != BT_TLS_SAME) {
		transport_apply_tls(transport, false);
	}
}

static void begin(struct bt_transport_call *call)
{
	struct bt_transport *transport = call->transport;
	const struct bt_transport_request *request = &call->request;
	const struct bt_authorization *own = &transport->authorization;

	bt_transport_refresh(transport, bt_loop_now_ns(transport->loop));
	transport->headers.count = 0;
	for (uint32_t i = 0; i < request->header_count; i++) {
		bt_vec_push(&transport->headers, request->headers[i]);
	}
	/* The first header is Authorization. */
	for (uint32_t i = bt_authorization_is_set(own) ? 0 : 1; i < own->count; i++) {
		bt_vec_push(&transport->headers, own->headers[i]);
	}
	transport->url.length = transport->config->base_url.length;
	bt_strbuf_append_str(&transport->url, request->path);
	if (request->query.length != 0) {
		bt_strbuf_append_char(&transport->url, '?');
		bt_strbuf_append_str(&transport->url, request->query);
	}
	struct bt_http_client_request http = (struct bt_http_client_request){
		.method = request->method,
		.url = bt_strbuf_c(&transport->url),
		.headers = transport->headers.items,
		.header_count = transport->headers.count,
		.body = request->body,
		.timeout_ns = request->timeout_ns,
		.head_silence_ns = transport->silence_ns,
		.body_silence_ns = request->is_endless ? 0 : transport->silence_ns,
		.body_bytes_max = request->body_bytes_max,
		.handler = request->handler,
	};
	call->generation = transport->exec.active ? transport->exec.generation : 0;
	call->is_paced = request->handler.data == NULL && request->timeout_ns <= 0;
	call->transfer =
		bt_http_client_start(call->is_paced ? transport->calls : transport->streams, &http);
}

void bt_transport_start(struct bt_transport *transport, struct bt_transport_call *call)
{
	const struct bt_transport_exec *exec = &transport->exec;

	call->transport = transport;
	if (transport->tls.pair_error.code == 0 &&
		(!exec->active || (exec->run == NULL && is_valid(exec)))) {
		begin(call);
		return;
	}
	/*
	 * bt_transport_check starts the call or reports that it cannot start, in a later turn; it
	 * also starts the plugin
	 */
	bt_transport_refresh(transport, bt_loop_now_ns(transport->loop));
	call->ticket = ++transport->ticket;
	BT_LIST_APPEND(transport->waiting_first, transport->waiting_last, call, previous, next);
	bt_loop_call_at(transport->loop, 0);
}

static void leave_queue(struct bt_transport_call *call)
{
	struct bt_transport *transport = call->transport;

	BT_LIST_REMOVE(transport->waiting_first, transport->waiting_last, call, previous, next);
	call->ticket = 0;
}

void bt_transport_cancel(struct bt_transport_call *call)
{
	if (call->ticket != 0) {
		leave_queue(call);
	} else {
		bt_http_transfer_cancel(call->transfer);
	}
}

static void allow_calls(struct bt_transport *transport, uint32_t calls_max)
{
	if (calls_max != transport->calls_max) {
		transport->calls_max = calls_max;
		bt_http_client_set_connections_max(transport->calls, calls_max);
	}
}

uint32_t bt_transport_calls_max(struct bt_transport *transport)
{
	allow_calls(transport, bt_pace_calls(&transport->pace, bt_loop_now_ns(transport->loop)));
	return transport->calls_max;
}

int64_t bt_transport_check(void *context, int64_t now_ns)
{
	struct bt_transport *transport = context;
	struct berth_error cause = BERTH_ERROR_INIT;
	int64_t next_ns;
	int64_t exec_next_ns = INT64_MAX;
	bool ready = transport->waiting_first != NULL;

	if (bt_tls_material_check(&transport->tls, now_ns, &next_ns) == BT_TLS_CUT) {
		transport_apply_tls(transport, true);
	}
	if (transport->exec.active) {
		ready = transport_exec_check(transport, now_ns, &exec_next_ns, &cause);
	}
	if (ready) {
		/*
		 * release the calls that wait now; calls started by their callbacks wait for the
		 * next check
		 */
		uint64_t last = transport->ticket;

		while (transport->waiting_first != NULL &&
			transport->waiting_first->ticket <= last) {
			struct bt_transport_call *call = transport->waiting_first;
			const struct berth_error *pair_error = &transport->tls.pair_error;
			struct bt_strbuf failure = {0};

			leave_queue(call);
			if (pair_error->code == 0 && cause.code == 0) {
				begin(call);
				continue;
			}
			if (pair_error->code != 0) {
				bt_strbuf_append_c(&failure, berth_error_message(pair_error));
			} else {
				bt_strbuf_printf(&failure, "getting credentials: %s",
					berth_error_message(&cause));
			}
			const struct bt_http_outcome outcome = {
				.failure = BT_HTTP_FAILURE_OTHER,
				.body = BT_STR(""),
				.message = bt_strbuf_c(&failure),
			};
			call->request.handler.done(call->request.handler.context, NULL, &outcome);
			bt_strbuf_finish(&failure);
		}
	}
	berth_error_finish(&cause);
	if (transport->calls_max != BT_PACE_CALLS_MIN) {
		int64_t idle_at_ns = bt_pace_idle_at_ns(&transport->pace);
		if (now_ns >= idle_at_ns) {
			/* Lower the limit to the minimum, and close the connections above it. */
			struct bt_http_client_tls tls = bt_tls_material_view(&transport->tls);
			allow_calls(transport, BT_PACE_CALLS_MIN);
			set_tls(transport->calls, &tls, false);
		} else if (idle_at_ns < next_ns) {
			next_ns = idle_at_ns;
		}
	}
	return BT_MIN(next_ns, exec_next_ns);
}

static void register_metrics(struct bt_transport *transport, struct bt_metrics *metrics)
{
	static const struct bt_metric_description exec_calls = {
		.name = "rest_client_exec_plugin_call_total",
		.help = "Number of calls to an exec plugin, partitioned by the type of event "
			"encountered (no_error, plugin_execution_error, plugin_not_found_error, "
			"client_internal_error) and an optional exit code. The exit code will be "
			"set to 0 if and only if the plugin call was successful.",
		.type = BT_METRIC_COUNTER,
		.stability = BT_METRIC_ALPHA,
		.labels = {"code", "call_status"},
	};
	static const struct bt_metric_description cache_entries = {
		.name = "rest_client_transport_cache_entries",
		.help = "Number of transport entries in the internal cache.",
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_ALPHA,
	};
	static const struct bt_metric_description create_calls = {
		.name = "rest_client_transport_create_calls_total",
		.help = "Number of calls to get a new transport, partitioned by the result of "
			"the operation hit: obtained from the cache, miss: created and added to "
			"the cache, miss-gc: recreated and added back to the cache after being "
			"garbage collected, uncacheable: created and not cached",
		.type = BT_METRIC_COUNTER,
		.stability = BT_METRIC_ALPHA,
		.labels = {"result"},
	};
	const struct bt_str miss = BT_STR("miss");

	if (metrics != NULL) {
		transport->exec_calls = bt_metrics_register(metrics, &exec_calls);
		bt_metric_add(bt_metric_only(bt_metrics_register(metrics, &cache_entries)), 1);
		bt_metric_add(
			bt_metric_cell(bt_metrics_register(metrics, &create_calls), &miss), 1);
	}
}

int bt_transport_create(const struct bt_transport_options *options,
	struct bt_transport **out_transport, struct berth_error *err)
{
	struct bt_transport *transport = BT_NEW(struct bt_transport);
	const struct bt_client_config *config = options->config;
	int64_t now_ns = bt_loop_now_ns(options->loop);

	transport->loop = options->loop;
	transport->config = config;
	transport->silence_ns = BT_TRANSPORT_SILENCE_NS;
	bt_strbuf_append_str(&transport->url, config->base_url);
	int code = bt_authorization_init(&transport->authorization, config, now_ns, err);
	if (code == 0) {
		code = bt_tls_material_load(&transport->tls, config, now_ns, err);
	}
	if (code == 0 && config->user.exec != NULL) {
		/* the plugin is not used if there are other credentials */
		transport->exec.active = config->is_tls &&
			!bt_authorization_is_set(&transport->authorization) &&
			!transport->tls.has_pair && transport->tls.pair_error.code == 0;
		struct bt_str version = config->user.exec->api_version;
		if (!bt_str_equal_c(version, "client.authentication.k8s.io/v1") &&
			!bt_str_equal_c(version, "client.authentication.k8s.io/v1beta1")) {
			code = bt_error_set_quoted(err, BERTH_ERR_INVALID,
				"exec plugin: invalid apiVersion ", version, "");
		}
	}
	struct bt_strbuf proxy = {0};
	if (code == 0) {
		struct bt_http_client_options http = BT_HTTP_CLIENT_OPTIONS_INIT;
		http.tls = bt_tls_material_view(&transport->tls);
		if (options->connect_timeout_ns != 0) {
			http.connect_timeout_ns = options->connect_timeout_ns;
		}
		bt_strbuf_append_str(&proxy, config->cluster.proxy_url);
		http.proxy_url = proxy.length != 0 ? bt_strbuf_c(&proxy) : NULL;
		code = bt_http_client_create(transport->loop, &http, &transport->streams, err);
		if (code == 0) {
			bt_pace_init(&transport->pace, now_ns);
			transport->calls_max = BT_PACE_CALLS_MIN;
			http.connections_max = BT_PACE_CALLS_MIN;
			code = bt_http_client_create(
				transport->loop, &http, &transport->calls, err);
		}
	}
	bt_strbuf_finish_wiped(&proxy);
	if (code != 0) {
		bt_transport_destroy(transport);
		return code;
	}
	register_metrics(transport, options->metrics);
	bt_loop_add_worker(transport->loop, bt_transport_check, transport);
	*out_transport = transport;
	return 0;
}

void bt_transport_destroy(struct bt_transport *transport)
{
	if (transport == NULL) {
		return;
	}
	BT_ASSERT(transport->waiting_first == NULL);
	bt_loop_remove_worker(transport->loop, transport);
	bt_http_client_destroy(transport->calls);
	bt_http_client_destroy(transport->streams);
	bt_exec_run_destroy(transport->exec.run);
	bt_authorization_finish(&transport->authorization);
	bt_tls_material_finish(&transport->tls);
	bt_vec_finish(&transport->headers);
	bt_strbuf_finish(&transport->url);
	bt_free(transport);
}

const struct bt_client_config *bt_transport_config(const struct bt_transport *transport)
{
	return transport->config;
}
