/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/authorization.h"

#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "daemon/review.h"

static const struct bt_str masters = BT_STR_INIT("system:masters");

struct bt_authorizer {
	struct bt_authorizer_setup setup;
	struct bt_reviewer *reviewer; /* NULL: no API server to ask */
	struct bt_metric *attempts;
	struct bt_metric *seconds;
};

static struct bt_str without_slash(struct bt_str path)
{
	return bt_str_has_prefix(path, BT_STR("/")) ? bt_str_sub(path, 1, path.length) : path;
}

static bool is_always_allowed(const bt_str_list *listed, struct bt_str path)
{
	path = without_slash(path);
	for (uint32_t i = 0; i < listed->count; i++) {
		struct bt_str item = without_slash(listed->items[i]);
		bool is_prefix = bt_str_has_suffix(item, BT_STR("*"));
		if (is_prefix && bt_str_has_prefix(path, bt_str_sub(item, 0, item.length - 1))) {
			return true;
		}
		if (!is_prefix && bt_str_equal(path, item)) {
			return true;
		}
	}
	return false;
}

int bt_authorizer_check_paths(const bt_str_list *listed, struct berth_error *err)
{
	for (uint32_t i = 0; i < listed->count; i++) {
		struct bt_str item = listed->items[i];
		int64_t star = bt_str_find_char(item, '*');
		if (star >= 0 && star + 1 != (int64_t)item.length) {
			return bt_error_set_quoted(
				err, BERTH_ERR_INVALID, "only trailing * allowed in ", item, "");
		}
	}
	return 0;
}

static void finish_with_verdict(
	struct bt_authorization *authorization, enum bt_verdict verdict, struct bt_str text)
{
	static const char *const names[] = {
		[BT_VERDICT_ALLOWED] = "allowed",
		[BT_VERDICT_DENIED] = "no-opinion",
		[BT_VERDICT_FAILED] = "error",
	};
	struct bt_authorizer *authorizer = authorization->authorizer;
	struct bt_str label = bt_str_from(names[verdict]);
	int64_t took_ns = bt_loop_now_ns(authorizer->setup.loop) - authorization->begun_ns;
	if (authorizer->attempts != NULL) {
		bt_metric_add(bt_metric_cell(authorizer->attempts, &label), 1);
		bt_metric_observe(bt_metric_cell(authorizer->seconds, &label),
			(double)took_ns / (double)BT_NS_PER_SECOND);
	}
	authorization->done(authorization->context, verdict, text);
}

static void on_review(void *context, const struct bt_json_value *status, const char *error)
{
	struct bt_authorization *authorization = context;
	if (status == NULL) {
		finish_with_verdict(authorization, BT_VERDICT_FAILED, bt_str_from(error));
	} else if (bt_json_bool_at(status, "allowed", false)) {
		finish_with_verdict(authorization, BT_VERDICT_ALLOWED, BT_STR(""));
	} else {
		finish_with_verdict(
			authorization, BT_VERDICT_DENIED, bt_json_text_at(status, "reason"));
	}
}

static int64_t ttl_ns(void *context, const struct bt_json_value *status)
{
	const struct bt_authorizer *authorizer = context;
	return bt_json_bool_at(status, "allowed", false)
		? authorizer->setup.options->allow_cache_ttl_ns
		: authorizer->setup.options->deny_cache_ttl_ns;
}

void bt_authorize(struct bt_authorizer *authorizer, const struct bt_caller *caller,
	struct bt_str verb, struct bt_str path, struct bt_arena *arena,
	struct bt_authorization *authorization)
{
	authorization->authorizer = authorizer;
	authorization->begun_ns = bt_loop_now_ns(authorizer->setup.loop);
	if (bt_caller_has_group(caller, masters) ||
		is_always_allowed(&authorizer->setup.options->always_allow_paths, path)) {
		finish_with_verdict(authorization, BT_VERDICT_ALLOWED, BT_STR(""));
		return;
	}
	if (authorizer->reviewer == NULL) {
		finish_with_verdict(authorization, BT_VERDICT_DENIED, BT_STR(""));
		return;
	}
	struct bt_json_value *spec = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *attributes =
		bt_json_ensure_object(arena, spec, "nonResourceAttributes");
	bt_json_set_str(arena, attributes, "path", path);
	bt_json_set_str(arena, attributes, "verb", verb);
	bt_caller_write(caller, arena, "user", spec);
	authorization->waiter.context = authorization;
	authorization->waiter.done = on_review;
	bt_review_request(authorizer->reviewer, spec, arena, &authorization->waiter);
}

void bt_authorization_cancel(struct bt_authorization *authorization)
{
	bt_review_cancel(&authorization->waiter);
}

int bt_authorizer_create(const struct bt_authorizer_setup *setup,
	struct bt_authorizer **out_authorizer, struct berth_error *err)
{
	int result = bt_authorizer_check_paths(&setup->options->always_allow_paths, err);
	if (result != 0) {
		return result;
	}
	struct bt_authorizer *authorizer = BT_NEW(struct bt_authorizer);
	authorizer->setup = *setup;
	if (setup->metrics != NULL) {
		authorizer->attempts =
			bt_metrics_register(setup->metrics, &bt_authorization_attempts);
		authorizer->seconds =
			bt_metrics_register(setup->metrics, &bt_authorization_duration);
	}
	if (setup->client != NULL) {
		struct bt_reviewer_options options = {
			.loop = setup->loop,
			.client = setup->client,
			.api_version = "authorization.k8s.io/v1",
			.kind = "SubjectAccessReview",
			.resource = "subjectaccessreviews",
			.ttl_ns = ttl_ns,
			.context = authorizer,
		};
		if (setup->metrics != NULL) {
			options.request_count =
				bt_metrics_register(setup->metrics, &bt_delegated_authz_total);
			options.request_seconds =
				bt_metrics_register(setup->metrics, &bt_delegated_authz_duration);
		}
		result = bt_reviewer_create(&options, &authorizer->reviewer, err);
	}
	if (result != 0) {
		bt_free(authorizer);
		return result;
	}
	*out_authorizer = authorizer;
	return 0;
}

void bt_authorizer_destroy(struct bt_authorizer *authorizer)
{
	if (authorizer != NULL) {
		bt_reviewer_destroy(authorizer->reviewer);
		bt_free(authorizer);
	}
}
