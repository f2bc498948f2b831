/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/extender.h"

#include <stddef.h>

#include "lib/convert.h"
#include "lib/engine.h"

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

/* --- questions --- */

uint32_t berth_engine_extender_count(const struct berth_engine *engine)
{
	return engine->extenders.handles.count;
}

const struct berth_extender *berth_engine_extender_at(
	const struct berth_engine *engine, uint32_t index)
{
	BT_ASSERT(index < engine->extenders.handles.count);
	return &engine->extenders.handles.items[index];
}

static const struct bt_extender *inside_of(const struct berth_extender *extender)
{
	return &extender->all->items[extender->index];
}

struct berth_str berth_extender_name(const struct berth_extender *extender)
{
	return inside_of(extender)->config->url_prefix;
}

bool berth_extender_is_interested(
	const struct berth_extender *extender, const struct berth_pod_info *pod)
{
	return bt_extender_is_interested(inside_of(extender)->config, bt_const_pod_info_of(pod));
}

bool berth_extender_is_ignorable(const struct berth_extender *extender)
{
	return inside_of(extender)->config->ignorable;
}

/** Nodes that the extender does not want, as it names them. */
struct failures {
	BT_VEC(struct berth_extender_failed_node) nodes;
	struct bt_arena *arena;
};

static void note_failure(void *context, uint32_t slot BT_UNUSED, struct bt_str node_name,
	enum bt_status_code code, struct bt_str reason)
{
	struct failures *failures = context;
	struct berth_extender_failed_node node = {
		.name = bt_arena_str(failures->arena, node_name),
		.message = bt_arena_str(failures->arena, reason),
		.unresolvable = code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
	};

	bt_vec_push(&failures->nodes, node);
}

static int fill_candidates(const struct bt_state *state, const struct berth_str *node_names,
	uint32_t node_count, struct bt_arena *arena, struct bt_extender_candidates *out_candidates,
	struct berth_error *err)
{
	out_candidates->nodes = BT_ARENA_NEW_ARRAY(arena, struct bt_extender_node, node_count);
	out_candidates->slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, node_count);
	out_candidates->count = node_count;
	for (uint32_t i = 0; i < node_count; i++) {
		out_candidates->nodes[i].name = node_names[i];
		out_candidates->slots[i] = bt_state_snapshot_find(state, node_names[i]);
		if (out_candidates->slots[i] == BT_SLOT_NONE) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"nodeinfo not found for node name \"%.*s\"",
				BT_STR_ARG(node_names[i]));
		}
	}
	return BERTH_OK;
}

static void set_result(const struct bt_extender_candidates *left, const struct failures *failures,
	struct berth_extender_filter_result *out_result)
{
	struct bt_arena *arena = failures->arena;
	struct berth_str *names = BT_ARENA_NEW_ARRAY(arena, struct berth_str, left->count);
	struct berth_extender_failed_node *failed =
		BT_ARENA_NEW_ARRAY(arena, struct berth_extender_failed_node, failures->nodes.count);

	for (uint32_t i = 0; i < left->count; i++) {
		names[i] = bt_arena_str(arena, left->nodes[i].name);
	}
	for (uint32_t i = 0; i < failures->nodes.count; i++) {
		failed[i] = failures->nodes.items[i];
	}
	*out_result = (struct berth_extender_filter_result){
		names, left->count, failed, failures->nodes.count};
}

int berth_extender_filter(const struct berth_extender *extender, const struct berth_pod_info *pod,
	const struct berth_str *node_names, uint32_t node_count, struct berth_arena *outside,
	struct berth_extender_filter_result *out_result, struct berth_error *err)
{
	struct bt_arena *arena = bt_arena_of(outside);
	struct bt_extender_candidates candidates = {0};
	/* Alone, and in earnest: whether its error counts is for the caller to say. */
	struct bt_config_extender config = *inside_of(extender)->config;
	struct bt_extender one = *inside_of(extender);
	struct bt_extenders alone = {.items = &one,
		.count = 1,
		.state = extender->all->state,
		.observer = extender->all->observer};
	struct failures failures = {.arena = arena};
	struct bt_extender_sink sink = {note_failure, &failures};
	int result = fill_candidates(alone.state, node_names, node_count, arena, &candidates, err);

	if (result != BERTH_OK) {
		return result;
	}
	config.ignorable = false;
	one.config = &config;
	struct bt_status status =
		bt_extenders_filter(&alone, bt_const_pod_info_of(pod), arena, &candidates, &sink);

	if (bt_status_is_success(&status)) {
		set_result(&candidates, &failures, out_result);
	} else {
		result = bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s",
			BT_STR_ARG(bt_status_message_str(&status, arena)));
	}
	bt_vec_finish(&failures.nodes);
	return result;
}
