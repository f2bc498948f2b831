/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/endpoints.h"

#include <gnutls/crypto.h>

#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/endpoints_private.h"

#define CHECK_EVERY_NS BT_NS_PER_SECOND
#define READ_EVERY_NS (60 * BT_NS_PER_SECOND)
#define SHUTDOWN_NS (5 * BT_NS_PER_SECOND)

/* Nobody sends these endpoints much; clients of a port that is open to all get little memory. */
static const struct bt_http_limits limits = {
	.body_bytes_max = 65536,
	.header_bytes_max = 65536,
	.connections_max = 1024,
	.idle_timeout_seconds = 90,
	.stalled_timeout_seconds = 30,
};

/** --- certificates --- */

static void on_trust_changed(void *context)
{
	struct bt_endpoints *endpoints = context;
	endpoints->certificates_changed = true;
	bt_loop_call_at(endpoints->options.loop, 0);
}

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_endpoints *endpoints = context;
	bool has_files = bt_serving_tls_has_files(endpoints->serving);
	if (endpoints->server == NULL || endpoints->trust == NULL) {
		return INT64_MAX; /* not complete yet */
	}
	if (has_files && now_ns >= endpoints->check_ns) {
		bool is_due = now_ns >= endpoints->read_ns;
		endpoints->check_ns = now_ns + CHECK_EVERY_NS;
		endpoints->read_ns = is_due ? now_ns + READ_EVERY_NS : endpoints->read_ns;
		if (bt_serving_tls_refresh(endpoints->serving, is_due)) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Reloaded serving certificates");
			endpoints->certificates_changed = true;
		}
	}
	if (endpoints->certificates_changed) {
		endpoints->certificates_changed = false;
		struct bt_http_certificates certificates;
		struct bt_strbuf authorities = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		bt_serving_tls_certificates(endpoints->serving, &certificates);
		/* clients choose a certificate by the names of these */
		bt_trust_write_pem(endpoints->trust, &authorities);
		if (bt_http_server_set_certificates(endpoints->server, &certificates,
			    authorities.length != 0 ? bt_strbuf_c(&authorities) : NULL,
			    &err) != 0) {
			BT_LOG_ERROR_PLAIN(berth_error_message(&err),
				"Failed to replace serving certificates");
			berth_error_finish(&err);
		}
		bt_strbuf_finish(&authorities);
	}
	return has_files ? endpoints->check_ns : INT64_MAX;
}

/** --- the listener --- */

static void append_address(struct bt_strbuf *out, const char *host, uint16_t port)
{
	bool is_v6 = strchr(host, ':') != NULL;
	bt_strbuf_printf(
		out, "%s%s%s:%u", is_v6 ? "[" : "", host, is_v6 ? "]" : "", (unsigned int)port);
}

static int listen_on(struct bt_endpoints *endpoints, struct berth_error *err)
{
	const struct bt_serving_options *serving = &endpoints->options.options->serving;
	struct bt_http_certificates certificates;
	struct bt_http_server_options options = {
		.address = endpoints->host,
		.port = (uint16_t)serving->secure_port,
		.limits = limits,
		.handler = bt_endpoints_handler(endpoints),
		.both_families = true,
		.share_port = serving->permit_port_sharing,
		.serve_later = true,
		.ask_client_certificate = true,
	};
	int result = bt_serving_tls_options(endpoints->serving, &options.tls, err);
	if (result != 0) {
		return result;
	}
	bt_serving_tls_certificates(endpoints->serving, &certificates);
	options.certificate_pem = certificates.certificate_pem;
	options.key_pem = certificates.key_pem;
	options.sni = certificates.sni;
	options.sni_count = certificates.sni_count;
	result = bt_http_server_create(endpoints->options.loop, &options, &endpoints->server, err);
	if (result != BERTH_ERR_IO) {
		return result;
	}
	struct bt_strbuf address = {0};
	append_address(&address, endpoints->host, options.port);
	(void)bt_error_wrap(err, result, "failed to create listener: failed to listen on %s",
		bt_strbuf_c(&address));
	bt_strbuf_finish(&address);
	return result;
}

/** --- who may ask --- */

static int create_authentication(
	struct bt_endpoints *endpoints, uint64_t seed, struct berth_error *err)
{
	const struct bt_endpoints_options *options = &endpoints->options;
	struct bt_trust_setup trust = {
		.loop = options->loop,
		.options = &options->options->authentication,
		.client = options->authentication_client,
		.streaming = bt_gate_enabled(&options->options->gates, BT_GATE_WATCH_LIST_CLIENT),
		.seed = seed,
		.changed = on_trust_changed,
		.context = endpoints,
	};
	int result = bt_trust_create(&trust, &endpoints->trust, err);
	if (result != 0) {
		return result;
	}
	struct bt_authenticator_setup setup = {
		.loop = options->loop,
		.options = &options->options->authentication,
		.trust = endpoints->trust,
		.client = options->authentication_client,
		.metrics = options->metrics,
	};
	return bt_authenticator_create(&setup, &endpoints->authenticator, err);
}

static int create_authorization(struct bt_endpoints *endpoints, struct berth_error *err)
{
	struct bt_authorizer_setup setup = {
		.loop = endpoints->options.loop,
		.options = &endpoints->options.options->authorization,
		.client = endpoints->options.authorization_client,
		.metrics = endpoints->options.metrics,
	};
	return bt_authorizer_create(&setup, &endpoints->authorizer, err);
}

/** --- life --- */

static int create_parts(struct bt_endpoints *endpoints, uint64_t seed, struct berth_error *err)
{
	const struct bt_serving_options *serving = &endpoints->options.options->serving;
	int result = 0;
	if (endpoints->serving == NULL) {
		result = bt_serving_tls_create(
			serving, bt_clock_wall_ns() / BT_NS_PER_SECOND, &endpoints->serving, err);
	}
	result = result != 0 ? result : listen_on(endpoints, err);
	result = result != 0 ? result : create_authentication(endpoints, seed, err);
	result = result != 0 ? result : create_authorization(endpoints, err);
	if (result != 0) {
		return result;
	}
	struct bt_strbuf text = {0};
	bool is_any = strcmp(endpoints->host, "0.0.0.0") == 0;
	append_address(
		&text, is_any ? "::" : endpoints->host, bt_http_server_port(endpoints->server));
	endpoints->listening = bt_strbuf_steal(&text);
	endpoints->pages = bt_pages_create(&endpoints->options, seed);
	endpoints->certificates_changed = bt_trust_client_ca(endpoints->trust) != NULL ||
		bt_trust_front_ca(endpoints->trust) != NULL;
	return bt_trust_look_up(endpoints->trust, err);
}

int bt_endpoints_create(const struct bt_endpoints_options *options,
	struct bt_endpoints **out_endpoints, struct berth_error *err)
{
	struct bt_endpoints *endpoints = BT_NEW(struct bt_endpoints);
	struct bt_str host = options->options->serving.bind_address;
	int64_t now_ns = bt_loop_now_ns(options->loop);
	uint64_t seed = 0;
	BT_ASSERT(options->options->serving.secure_port > 0);
	(void)gnutls_rnd(GNUTLS_RND_NONCE, &seed, sizeof(seed)); /* no secret depends on it */
	endpoints->options = *options;
	endpoints->serving = options->serving;
	endpoints->host = host.length != 0 ? bt_strndup(host.data, host.length)
					   : bt_strndup("0.0.0.0", strlen("0.0.0.0"));
	endpoints->check_ns = now_ns + CHECK_EVERY_NS;
	endpoints->read_ns = now_ns + READ_EVERY_NS;
	int result = create_parts(endpoints, seed, err);
	if (result != 0) {
		bt_endpoints_destroy(endpoints);
		return result;
	}
	*out_endpoints = endpoints;
	return 0;
}

void bt_endpoints_serve(struct bt_endpoints *endpoints)
{
	bt_loop_add_worker(endpoints->options.loop, work, endpoints);
	bt_http_server_serve(endpoints->server);
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Serving securely on %s", endpoints->listening);
}

void bt_endpoints_shut_down(struct bt_endpoints *endpoints)
{
	struct bt_loop *loop = endpoints->options.loop;
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t end_ns = bt_loop_now_ns(loop) + SHUTDOWN_NS;
	bt_http_server_stop_listening(endpoints->server);
	BT_LOG_TEXT(
		BT_LOG_SEVERITY_INFO, "[graceful-termination] secure server has stopped listening");
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Stopped listening on %s", endpoints->listening);
	while (bt_http_server_open_count(endpoints->server) != 0) {
		int64_t left_ns = end_ns - bt_loop_now_ns(loop);
		if (left_ns <= 0 || bt_loop_turn(loop, left_ns, &err) != 0) {
			break;
		}
	}
	berth_error_finish(&err);
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "[graceful-termination] secure server is exiting");
}

void bt_endpoints_destroy(struct bt_endpoints *endpoints)
{
	if (endpoints == NULL) {
		return;
	}
	bt_loop_remove_worker(endpoints->options.loop, endpoints);
	bt_http_server_destroy(endpoints->server);
	bt_authenticator_destroy(endpoints->authenticator);
	bt_authorizer_destroy(endpoints->authorizer);
	bt_trust_destroy(endpoints->trust);
	bt_pages_destroy(endpoints->pages);
	bt_serving_tls_destroy(endpoints->serving);
	bt_free(endpoints->host);
	bt_free(endpoints->listening);
	bt_free(endpoints);
}
