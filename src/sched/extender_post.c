/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender_post.h"

#include "base/alloc.h"

#define DEFAULT_TIMEOUT_NS (INT64_C(5) * 1000 * 1000 * 1000)
#define STATUS_OK 200

/** One extender and the way to it. */
struct posting {
	struct bt_extender_poster *poster;
	const struct bt_config_extender *config;
};

void bt_extender_append_url(
	const struct bt_config_extender *config, struct bt_str verb, struct bt_strbuf *out)
{
	struct bt_str prefix = config->url_prefix;
	while (prefix.length != 0 && prefix.data[prefix.length - 1] == '/') {
		prefix.length--;
	}
	bt_strbuf_append_str(out, prefix);
	bt_strbuf_append_char(out, '/');
	bt_strbuf_append_str(out, verb);
}

/** The body of a response of status 200. body is finished. */
static int exchange(const struct posting *posting, struct bt_str verb, struct bt_strbuf *body,
	struct bt_arena *arena, struct bt_str *out_answer, struct berth_error *err)
{
	struct bt_strbuf url = {0};
	struct bt_extender_response response = {0};

	if (body->length > BT_STR_MAX) {
		bt_strbuf_finish(body);
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "request is longer than 4 GiB");
	}
	bt_extender_append_url(posting->config, verb, &url);
	struct bt_extender_request request = {
		.config = posting->config,
		.url = bt_strbuf_str(&url),
		.body = bt_strbuf_str(body),
		.timeout_ns = posting->config->http_timeout_ns != 0
			? posting->config->http_timeout_ns
			: DEFAULT_TIMEOUT_NS,
	};
	struct bt_extender_poster *poster = posting->poster;
	int result = poster->post(poster->context, &request, arena, &response, err);
	if (result == 0 && response.status != STATUS_OK) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"failed %.*s with extender at URL %s, code %d", BT_STR_ARG(verb),
			bt_strbuf_c(&url), response.status);
	}
	if (result == 0) {
		*out_answer = response.body;
	}
	bt_strbuf_finish(&url);
	bt_strbuf_finish(body);
	return result;
}

static int filter(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err)
{
	const struct posting *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result = exchange(posting, posting->config->filter_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_filter_result(answer, arena, out_result, err);
}

static int prioritize(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	const struct posting *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result =
		exchange(posting, posting->config->prioritize_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_priorities(answer, arena, out_priorities, err);
}

static int preempt(void *context, const struct bt_extender_preemption_args *args,
	struct bt_arena *arena, struct bt_preemption_opinions *out_answer, struct berth_error *err)
{
	const struct posting *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	if (posting->config->preempt_verb.length == 0) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"preempt verb is not defined for extender %.*s but run into "
			"ProcessPreemption",
			BT_STR_ARG(posting->config->url_prefix));
	}
	bt_extender_encode_preemption_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result = exchange(posting, posting->config->preempt_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_preemption_result(answer, arena, out_answer, err);
}

static int bind(void *context, const struct bt_extender_binding_args *args, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err)
{
	const struct posting *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_binding_args(args, &body);
	int result = exchange(posting, posting->config->bind_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_binding_result(answer, arena, out_result, err);
}

static void destroy(void *context)
{
	bt_free(context);
}

static const struct bt_extender_ops posting_ops = {
	.filter = filter,
	.prioritize = prioritize,
	.preempt = preempt,
	.bind = bind,
	.destroy = destroy,
};

static int create(void *context, const struct bt_config_extender *config,
	const struct bt_extender_ops **out_ops, void **out_context, struct berth_error *err)
{
	struct posting *posting;

	/* What a TLS client refuses before it connects anywhere; spec 11b section 9.1. */
	if (config->tls_config != NULL && config->tls_config->insecure &&
		(config->tls_config->ca_file.length != 0 ||
			config->tls_config->ca_data.length != 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"specifying a root certificates file with the insecure flag is not "
			"allowed");
	}
	posting = BT_NEW(struct posting);
	*posting = (struct posting){context, config};
	*out_ops = &posting_ops;
	*out_context = posting;
	return 0;
}

struct bt_extender_factory bt_extender_poster_factory(struct bt_extender_poster *poster)
{
	return (struct bt_extender_factory){create, poster};
}
