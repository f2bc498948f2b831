/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/extender.h"

#include <stddef.h>

#include "lib/convert.h"

/* --- how questions travel --- */

static int post(void *context, const struct bt_extender_request *request, struct bt_arena *arena,
	struct bt_extender_response *out_response, struct berth_error *err)
{
	const struct berth_extender_transport *transport = context;
	const struct bt_config_extender *config = request->config;
	struct berth_extender_tls tls = {0};
	struct berth_extender_response response = {0};

	if (config->tls_config != NULL) {
		tls = (struct berth_extender_tls){
			.insecure = config->tls_config->insecure,
			.server_name = config->tls_config->server_name,
			.cert_file = config->tls_config->cert_file,
			.key_file = config->tls_config->key_file,
			.ca_file = config->tls_config->ca_file,
			.cert_data = config->tls_config->cert_data,
			.key_data = config->tls_config->key_data,
			.ca_data = config->tls_config->ca_data,
		};
	}
	struct berth_extender_request outside = {
		.url = request->url,
		.body = request->body,
		.timeout_ns = request->timeout_ns,
		.enable_https = config->enable_https,
		.tls = config->tls_config != NULL ? &tls : NULL,
	};
	int result = transport->post(
		transport->context, &outside, berth_arena_of(arena), &response, err);

	*out_response = (struct bt_extender_response){response.status, response.body};
	return result;
}

/** An error that did not count, as upstream logs it. */
static void log_ignored(void *context, const struct bt_config_extender *config, const char *message,
	int verbosity, struct bt_str error)
{
	const struct bt_lib_extenders *extenders = context;
	struct bt_strbuf line = {0};

	if (extenders->log != NULL) {
		bt_strbuf_printf(&line, "%s extender=\"%.*s\" err=\"%.*s\"", message,
			BT_STR_ARG(config->url_prefix), BT_STR_ARG(error));
		extenders->log(extenders->log_context, verbosity, bt_strbuf_str(&line));
		bt_strbuf_finish(&line);
	}
}

void bt_lib_extenders_init(struct bt_lib_extenders *extenders,
	const struct berth_engine_options *options, struct bt_engine_options *out_inside)
{
	extenders->log = options->log;
	extenders->log_context = options->log_context;
	if (options->extender_transport == NULL) {
		return;
	}
	extenders->transport = *options->extender_transport;
	extenders->poster =
		(struct bt_extender_poster){.post = post, .context = &extenders->transport};
	extenders->factory = bt_extender_poster_factory(&extenders->poster);
	extenders->observer =
		(struct bt_extender_observer){.ignored = log_ignored, .context = extenders};
	out_inside->extenders = &extenders->factory;
	out_inside->extender_observer = &extenders->observer;
}

void bt_lib_extenders_attach(struct bt_lib_extenders *extenders, const struct bt_extenders *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		struct berth_extender handle = {all, i};

		bt_vec_push(&extenders->handles, handle);
	}
}

void bt_lib_extenders_finish(struct bt_lib_extenders *extenders)
{
	bt_vec_finish(&extenders->handles);
}
