/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender_post.h"

#include "base/alloc.h"

#define DEFAULT_TIMEOUT_NS (INT64_C(5) * 1000 * 1000 * 1000)
#define STATUS_OK 200
#define REQUEST_TOO_LARGE "request is longer than 4 GiB"

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

static struct bt_extender_request request_of(
	const struct posting *posting, const struct bt_strbuf *url, const struct bt_strbuf *body)
{
	return (struct bt_extender_request){
		.config = posting->config,
		.url = bt_strbuf_str(url),
		.body = bt_strbuf_str(body),
		.timeout_ns = posting->config->http_timeout_ns != 0
			? posting->config->http_timeout_ns
			: DEFAULT_TIMEOUT_NS,
	};
}

static int check_status(const struct bt_extender_response *response, struct bt_str verb,
	const struct bt_strbuf *url, struct berth_error *err)
{
	return response->status == STATUS_OK
		? 0
		: bt_error_set(err, BERTH_ERR_IO, "failed %.*s with extender at URL %s, code %d",
			  BT_STR_ARG(verb), bt_strbuf_c(url), response->status);
}

/** The body of a response of status 200. body is finished. */
static int exchange(const struct posting *posting, struct bt_str verb, struct bt_strbuf *body,
	struct bt_arena *arena, struct bt_str *out_answer, struct berth_error *err)
{
	struct bt_strbuf url = {0};
	struct bt_extender_response response = {0};

	if (body->length > BT_STR_MAX) {
		bt_strbuf_finish(body);
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, REQUEST_TOO_LARGE);
	}
	bt_extender_append_url(posting->config, verb, &url);
	struct bt_extender_request request = request_of(posting, &url, body);
	struct bt_extender_poster *poster = posting->poster;
	int result = poster->post(poster->context, &request, arena, &response, err);
	if (result == 0) {
		result = check_status(&response, verb, &url, err);
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

/** A question of prioritize that waits for its answer. */
struct question {
	struct bt_strbuf url;
	struct bt_strbuf body;
	struct bt_extender_request request;
	void *exchange; /* the poster's; NULL: the body is too large */
};

static void *begin_prioritize(
	void *context, const struct bt_extender_args *args, struct bt_arena *arena)
{
	const struct posting *posting = context;
	struct bt_extender_poster *poster = posting->poster;
	struct question *question = BT_NEW(struct question);

	bt_extender_encode_args(
		args, &poster->objects, posting->config->node_cache_capable, &question->body);
	if (question->body.length <= BT_STR_MAX) {
		bt_extender_append_url(
			posting->config, posting->config->prioritize_verb, &question->url);
		question->request = request_of(posting, &question->url, &question->body);
		question->exchange = poster->begin(poster->context, &question->request, arena);
	}
	return question;
}

static int end_prioritize(void *context, void *begun, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	const struct posting *posting = context;
	struct bt_extender_poster *poster = posting->poster;
	struct question *question = begun;
	struct bt_extender_response response = {0};
	int result = question->exchange == NULL
		? bt_error_set(err, BERTH_ERR_TOO_LARGE, REQUEST_TOO_LARGE)
		: poster->end(poster->context, question->exchange, &response, err);

	if (result == 0) {
		result = check_status(
			&response, posting->config->prioritize_verb, &question->url, err);
	}
	if (result == 0) {
		result = bt_extender_decode_priorities(response.body, arena, out_priorities, err);
	}
	bt_strbuf_finish(&question->url);
	bt_strbuf_finish(&question->body);
	bt_free(question);
	return result;
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

static const struct bt_extender_ops parallel_ops = {
	.filter = filter,
	.prioritize = prioritize,
	.begin_prioritize = begin_prioritize,
	.end_prioritize = end_prioritize,
	.preempt = preempt,
	.bind = bind,
	.destroy = destroy,
};

static int create(void *context, const struct bt_config_extender *config,
	const struct bt_extender_ops **out_ops, void **out_context, struct berth_error *err)
{
	const struct bt_extender_poster *poster = context;
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
	*out_ops = poster->begin != NULL ? &parallel_ops : &posting_ops;
	*out_context = posting;
	return 0;
}

struct bt_extender_factory bt_extender_poster_factory(struct bt_extender_poster *poster)
{
	return (struct bt_extender_factory){create, poster};
}
