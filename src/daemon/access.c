/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/access.h"

#include "base/log.h"
#include "base/nanoseconds.h"
#include "codec/base64.h"
#include "codec/json_edit.h"

/**
 * Tokens of a request: in the header Authorization, or among a websocket's protocols. Spec: 11
 * section 9.2.
 */

static const struct bt_str protocol_prefix = BT_STR_INIT("base64url.bearer.authorization.k8s.io.");

/** Decode base64url without padding. Returns false if the text has another form. */
static bool decode_url(struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes)
{
	struct bt_strbuf standard = {0};
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (byte == '+' || byte == '/' || byte == '=' || byte == '\n' || byte == '\r') {
			bt_strbuf_finish_wiped(&standard);
			return false;
		}
		byte = byte == '-' ? '+' : byte;
		bt_strbuf_append_char(&standard, byte == '_' ? '/' : byte);
	}
	while (standard.length % 4 != 0) {
		bt_strbuf_append_char(&standard, '=');
	}
	int result = bt_base64_decode(bt_strbuf_str(&standard), arena, out_bytes, NULL);
	bt_strbuf_finish_wiped(&standard);
	return result == 0;
}

struct protocols {
	struct bt_arena *arena;
	struct bt_str token;
	uint32_t token_count;
	uint32_t other_count;
	bool is_broken;
};

static void take_protocols(void *context, struct bt_str value)
{
	struct protocols *protocols = context;
	while (value.length != 0) {
		struct bt_str item = bt_str_trim(bt_str_cut(&value, ','), " \t");
		if (!bt_str_has_prefix(item, protocol_prefix)) {
			protocols->other_count++;
			continue;
		}
		item = bt_str_sub(item, protocol_prefix.length, item.length);
		protocols->token_count++;
		protocols->is_broken = protocols->is_broken ||
			!decode_url(item, protocols->arena, &protocols->token);
	}
}

/* At most this many certificates of a client's chain are checked. */
#define CHAIN_MAX 10

static const struct bt_str authenticated = BT_STR_INIT("system:authenticated");

/** --- metrics: spec 11 section 10.6 --- */

static const struct bt_metric_buckets outcome_buckets = {.start = 0.001, .factor = 2, .count = 15};
static const double request_bounds[] = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};
static const struct bt_metric_buckets request_buckets = {
	.bounds = request_bounds, .count = BT_ARRAY_LENGTH(request_bounds)};

/** Register a histogram (buckets NULL: a counter) with one label. */
static struct bt_metric *register_metric(struct bt_metrics *metrics, const char *name,
	const char *help, const char *label, const struct bt_metric_buckets *buckets)
{
	struct bt_metric_description description = {
		.name = name,
		.help = help,
		.type = buckets != NULL ? BT_METRIC_HISTOGRAM : BT_METRIC_COUNTER,
		.stability = BT_METRIC_ALPHA,
		.labels = {label},
	};
	if (buckets != NULL) {
		description.buckets = *buckets;
	}
	return bt_metrics_register(metrics, &description);
}

/** Metrics of attempts and of their durations, with label "result". */
struct outcome_metrics {
	struct bt_metric *attempts;
	struct bt_metric *seconds;
};

struct bt_access_rules {
	const struct bt_endpoints_options *options;
	const struct bt_trust *trust;
	struct bt_reviewer *token_reviewer;  /* NULL: tokens are ignored */
	struct bt_reviewer *access_reviewer; /* NULL: callers are denied unless always allowed */
	struct outcome_metrics authentications;
	struct outcome_metrics authorizations;
	struct bt_metric *users;
};

static void count_outcome(const struct bt_access_rules *access,
	const struct outcome_metrics *metrics, int64_t begun_ns, struct bt_str result)
{
	int64_t took_ns = bt_loop_now_ns(access->options->loop) - begun_ns;
	bt_metric_add(bt_metric_cell(metrics->attempts, &result), 1);
	bt_metric_observe(bt_metric_cell(metrics->seconds, &result),
		(double)took_ns / (double)BT_NS_PER_SECOND);
}

/** --- authorization: spec 11 sections 4.5, 9.3 --- */

static struct bt_str without_slash(struct bt_str path)
{
	return bt_str_has_prefix(path, BT_STR("/")) ? bt_str_sub(path, 1, path.length) : path;
}

static void finish_with_verdict(
	struct bt_access_check *check, enum bt_verdict verdict, struct bt_str text)
{
	static const char *const names[] = {
		[BT_VERDICT_ALLOWED] = "allowed",
		[BT_VERDICT_DENIED] = "no-opinion",
		[BT_VERDICT_FAILED] = "error",
	};
	const struct bt_access_rules *access = check->access;
	count_outcome(
		access, &access->authorizations, check->begun_ns, bt_str_from(names[verdict]));
	check->done(check->context, verdict, text);
}

static void on_access_review(void *context, const struct bt_json_value *status, const char *error)
{
	struct bt_access_check *check = context;
	if (status == NULL) {
		finish_with_verdict(check, BT_VERDICT_FAILED, bt_str_from(error));
	} else if (bt_json_bool_at(status, "allowed", false)) {
		finish_with_verdict(check, BT_VERDICT_ALLOWED, BT_STR(""));
	} else {
		finish_with_verdict(check, BT_VERDICT_DENIED, bt_json_text_at(status, "reason"));
	}
}

static int64_t verdict_ttl_ns(void *context, const struct bt_json_value *status)
{
	const struct bt_access_rules *access = context;
	return bt_json_bool_at(status, "allowed", false)
		? access->options->options->authorization.allow_cache_ttl_ns
		: access->options->options->authorization.deny_cache_ttl_ns;
}

/** --- authentication --- */

static void append_error(struct bt_access_check *check, const char *error)
{
	if (check->errors.length != 0) {
		bt_strbuf_append_c(&check->errors, ", ");
	}
	bt_strbuf_append_c(&check->errors, error);
}

static void accept_user(struct bt_access_check *check)
{
	struct bt_access_rules *access = check->access;
	struct bt_caller *caller = &check->caller;
	if (!bt_str_equal(caller->name, BT_STR("system:anonymous")) &&
		!bt_str_is_among(authenticated, caller->groups.items, caller->groups.count)) {
		bt_vec_push(&caller->groups, authenticated);
	}
	/* All but a few names are summarized, so that the label has few values. */
	struct bt_str label =
		bt_str_find_char(caller->name, '@') >= 0 ? BT_STR("email_id") : BT_STR("other");
	if (bt_str_has_word(BT_STR("admin client kube_proxy kubelet "
				   "system:serviceaccount:kube-system:default"),
		    caller->name)) {
		label = caller->name;
	}
	bt_metric_add(bt_metric_cell(access->users, &label), 1);
	count_outcome(access, &access->authentications, check->begun_ns, BT_STR("success"));
	check->begun_ns = bt_loop_now_ns(access->options->loop);
	struct bt_str path = without_slash(check->path);
	const bt_str_list *listed = &access->options->options->authorization.always_allow_paths;
	bool is_allowed = bt_str_is_among(
		BT_STR("system:masters"), caller->groups.items, caller->groups.count);
	for (uint32_t i = 0; i < listed->count && !is_allowed; i++) {
		struct bt_str item = without_slash(listed->items[i]);
		is_allowed = bt_str_has_suffix(item, BT_STR("*"))
			? bt_str_has_prefix(path, bt_str_sub(item, 0, item.length - 1))
			: bt_str_equal(path, item);
	}
	if (is_allowed) {
		finish_with_verdict(check, BT_VERDICT_ALLOWED, BT_STR(""));
		return;
	}
	if (access->access_reviewer == NULL) {
		finish_with_verdict(check, BT_VERDICT_DENIED, BT_STR(""));
		return;
	}
	struct bt_json_value *spec = bt_json_put(check->arena, NULL,
		"{nonResourceAttributes: {path: %s, verb: %s}}", check->path, check->verb);
	bt_json_put(check->arena, spec, "{user: %s}", check->caller.name);
	for (uint32_t i = 0; i < check->caller.groups.count; i++) {
		bt_json_put(check->arena, spec, "{groups: [%s]}", check->caller.groups.items[i]);
	}
	for (uint32_t i = 0; i < check->caller.extra.count; i++) {
		const struct bt_str_pair *item = &check->caller.extra.items[i];
		bt_json_put(check->arena, spec, "{extra: {%s: [%s]}}", item->key, item->value);
	}
	bt_json_put(check->arena, spec, "{uid?: %s}", check->caller.uid);
	check->waiter.context = check;
	check->waiter.done = on_access_review;
	bt_review_request(access->access_reviewer, spec, check->arena, &check->waiter);
}

/**
 * End an authentication in which no method found a user: the request is anonymous, or fails with
 * the collected errors.
 */
static void finish_without_user(struct bt_access_check *check)
{
	struct bt_caller *caller = &check->caller;
	if (check->errors.length != 0) {
		struct bt_strbuf text = {0};
		bt_strbuf_printf(&text, "[%s]", bt_strbuf_c(&check->errors));
		BT_LOG_ERROR_PLAIN(bt_strbuf_c(&text), "Unable to authenticate the request");
		bt_strbuf_finish(&text);
		count_outcome(check->access, &check->access->authentications, check->begun_ns,
			BT_STR("error"));
		check->done(check->context, BT_VERDICT_UNKNOWN, BT_STR(""));
		return;
	}
	caller->name = BT_STR("system:anonymous");
	bt_vec_push(&caller->groups, BT_STR("system:unauthenticated"));
	accept_user(check);
}

/** The request, with the certificate chain that the client sent. */
struct shown {
	const struct bt_http_exchange *exchange;
	struct bt_str chain[CHAIN_MAX];
	uint32_t chain_count;
	int64_t now_seconds;
};

/** An error is appended to check->errors. */
static bool verify(struct bt_access_check *check, const struct shown *shown,
	const struct bt_certificate_authorities *authorities,
	struct bt_certificate_subject *out_subject)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (authorities == NULL || shown->chain_count == 0) {
		return false;
	}
	if (bt_certificate_verify_client(authorities, shown->chain, shown->chain_count,
		    shown->now_seconds, check->arena, out_subject, &err) != 0) {
		append_error(check, berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	return true;
}

static bool try_certificate(struct bt_access_check *check, const struct shown *shown)
{
	struct bt_caller *caller = &check->caller;
	struct bt_certificate_subject subject = {.uid = BT_STR_INIT("")};
	if (!verify(check, shown, check->access->trust->client.authorities, &subject) ||
		subject.common_name.length == 0) {
		return false;
	}
	caller->name = subject.common_name;
	caller->uid = subject.uid;
	for (uint32_t i = 0; i < subject.organizations.count; i++) {
		bt_vec_push(&caller->groups, subject.organizations.items[i]);
	}
	return true;
}

static struct bt_str first_value(const struct bt_http_exchange *exchange, const bt_str_list *names)
{
	struct bt_strbuf name = {0};
	struct bt_str value = {0};
	for (uint32_t i = 0; i < names->count && value.length == 0; i++) {
		bt_strbuf_set(&name, names->items[i]);
		value = bt_http_header(exchange, bt_strbuf_c(&name));
	}
	bt_strbuf_finish(&name);
	return value;
}

static void take_group(void *context, struct bt_str value)
{
	struct bt_access_check *check = context;
	bt_vec_push(&check->caller.groups, bt_arena_str(check->arena, value));
}

struct extra_walk {
	struct bt_access_check *check;
	struct bt_str prefix;
};

/**
 * Reads a header like X-Remote-Extra-Some%2FKey. The key is converted to lower case and
 * percent-decoded if its encoding is valid.
 */
static void take_extra(void *context, struct bt_str name, struct bt_str value)
{
	struct extra_walk *walk = context;
	struct bt_arena *arena = walk->check->arena;
	struct bt_strbuf key = {0};
	struct bt_strbuf decoded = {0};
	bt_strbuf_append_lower(&key, bt_str_sub(name, walk->prefix.length, BT_STR_MAX));
	bool is_clean = bt_http_percent_decode(bt_strbuf_str(&key), false, &decoded);
	struct bt_str_pair item = {
		bt_arena_str(arena, bt_strbuf_str(is_clean ? &decoded : &key)),
		bt_arena_str(arena, value),
	};
	bt_vec_push(&walk->check->caller.extra, item);
	bt_strbuf_finish(&key);
	bt_strbuf_finish(&decoded);
}

static bool try_front(struct bt_access_check *check, const struct shown *shown)
{
	const struct bt_trust *trust = check->access->trust;
	const bt_str_list *allowed = &trust->lists[BT_TRUST_ALLOWED_NAMES];
	const bt_str_list *groups = &trust->lists[BT_TRUST_GROUP];
	const bt_str_list *prefixes = &trust->lists[BT_TRUST_EXTRA_PREFIX];
	struct bt_certificate_subject subject = {.uid = BT_STR_INIT("")};
	if (!verify(check, shown, trust->front.authorities, &subject)) {
		return false;
	}
	if (allowed->count != 0 && !bt_str_list_has(allowed, subject.common_name)) {
		struct bt_strbuf text = {0};
		bt_strbuf_printf(&text, "x509: subject with cn=%.*s is not in the allowed list",
			BT_STR_ARG(subject.common_name));
		append_error(check, bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
		return false;
	}
	struct bt_str name = first_value(shown->exchange, &trust->lists[BT_TRUST_USERNAME]);
	if (name.length == 0) {
		return false;
	}
	struct bt_caller *caller = &check->caller;
	struct bt_strbuf header = {0};
	caller->name = bt_arena_str(check->arena, name);
	caller->uid = bt_arena_str(
		check->arena, first_value(shown->exchange, &trust->lists[BT_TRUST_UID]));
	for (uint32_t i = 0; i < groups->count; i++) {
		bt_strbuf_set(&header, groups->items[i]);
		bt_http_each_header(shown->exchange, bt_strbuf_c(&header), take_group, check);
	}
	for (uint32_t i = 0; i < prefixes->count; i++) {
		struct extra_walk walk = {check, prefixes->items[i]};
		bt_http_each_header_prefixed(shown->exchange, walk.prefix, take_extra, &walk);
	}
	bt_strbuf_finish(&header);
	return true;
}

static void on_token_review(void *context, const struct bt_json_value *status, const char *error)
{
	struct bt_access_check *check = context;
	if (status == NULL || !bt_json_bool_at(status, "authenticated", false)) {
		append_error(check, status != NULL ? "invalid bearer token" : error);
		finish_without_user(check);
		return;
	}
	struct bt_caller *caller = &check->caller;
	struct bt_arena *arena = check->arena;
	const struct bt_json_value *user = bt_json_object_at(status, "user");
	const struct bt_json_value *groups = bt_json_array_at(user, "groups");
	const struct bt_json_value *extra = bt_json_object_at(user, "extra");
	caller->name = bt_arena_str(arena, bt_json_text_at(user, "username"));
	caller->uid = bt_arena_str(arena, bt_json_text_at(user, "uid"));
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->elements[i]->type == BT_JSON_STRING) {
			bt_vec_push(
				&caller->groups, bt_arena_str(arena, groups->elements[i]->text));
		}
	}
	for (uint32_t i = 0; i < extra->count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		struct bt_str key = bt_arena_str(arena, extra->members[i].name);
		for (uint32_t j = 0; values->type == BT_JSON_ARRAY && j < values->count; j++) {
			if (values->elements[j]->type == BT_JSON_STRING) {
				struct bt_str_pair item = {
					key, bt_arena_str(arena, values->elements[j]->text)};
				bt_vec_push(&caller->extra, item);
			}
		}
	}
	accept_user(check);
}

static int64_t token_ttl_ns(void *context, const struct bt_json_value *status)
{
	const struct bt_access_rules *access = context;
	(void)status; /* refusals are cached as long as successes */
	return access->options->options->authentication.token_cache_ttl_ns;
}

void bt_access_check(struct bt_access_rules *access, const struct bt_http_exchange *exchange,
	int64_t wall_now_seconds, struct bt_access_check *check)
{
	struct shown shown = {.exchange = exchange, .now_seconds = wall_now_seconds};
	check->access = access;
	check->begun_ns = bt_loop_now_ns(access->options->loop);
	shown.chain_count = bt_http_peer_certificates(exchange, shown.chain, CHAIN_MAX);
	if (try_front(check, &shown) || try_certificate(check, &shown)) {
		accept_user(check);
		return;
	}
	struct bt_arena arena;
	struct bt_str token = BT_STR("");
	if (access->token_reviewer == NULL) {
		finish_without_user(check);
		return;
	}
	bt_arena_init(&arena, 0);
	struct bt_str rest = bt_str_trim(bt_http_header(exchange, "Authorization"), " \t");
	if (bt_str_equal_without_case(bt_str_cut(&rest, ' '), BT_STR("bearer"))) {
		token = bt_arena_str(&arena, bt_str_cut(&rest, ' '));
	}
	if (token.length == 0 &&
		bt_http_is_websocket_upgrade(bt_http_header(exchange, "Connection"),
			bt_http_header(exchange, "Upgrade"))) {
		struct protocols protocols = {.arena = &arena};
		bt_http_each_header(exchange, "Sec-WebSocket-Protocol", take_protocols, &protocols);
		/*
		 * The client must offer a second protocol: the server has to select a protocol, and
		 * must not send the token back.
		 */
		if (protocols.token_count == 1 && !protocols.is_broken &&
			protocols.other_count != 0) {
			token = protocols.token;
		}
		if (protocols.token_count != 0 && token.length == 0) {
			append_error(check, "invalid bearer token");
		}
	}
	if (token.length == 0) {
		finish_without_user(check);
	} else {
		struct bt_json_value *spec = bt_json_put(&arena, NULL, "{token: %s}", token);
		check->waiter.context = check;
		check->waiter.done = on_token_review;
		bt_review_request(access->token_reviewer, spec, &arena, &check->waiter);
	}
	bt_arena_finish_wiped(&arena);
}

void bt_access_check_finish(struct bt_access_check *check)
{
	bt_review_cancel(&check->waiter);
	bt_strbuf_finish(&check->errors);
	bt_vec_finish(&check->caller.groups);
	bt_vec_finish(&check->caller.extra);
}

int bt_access_check_paths(const bt_str_list *listed, struct berth_error *err)
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

/** Set the loop, context and metrics of *options, and create the reviewer. */
static int create_reviewer(struct bt_access_rules *access, struct bt_reviewer_options *options,
	const char *count_name, const char *seconds_name, struct bt_reviewer **out_reviewer,
	struct berth_error *err)
{
	options->loop = access->options->loop;
	options->context = access;
	options->request_count = register_metric(access->options->metrics, count_name,
		"Number of HTTP requests partitioned by status code.", "code", NULL);
	options->request_seconds = register_metric(access->options->metrics, seconds_name,
		"Request latency in seconds. Broken down by status code.", "code",
		&request_buckets);
	return bt_reviewer_create(options, out_reviewer, err);
}

int bt_access_rules_create(const struct bt_endpoints_options *options, const struct bt_trust *trust,
	struct bt_access_rules **out_access, struct berth_error *err)
{
	int result =
		bt_access_check_paths(&options->options->authorization.always_allow_paths, err);
	if (result != 0) {
		return result;
	}
	struct bt_access_rules *access = BT_NEW(struct bt_access_rules);
	struct bt_metrics *metrics = options->metrics;
	access->options = options;
	access->trust = trust;
	access->users = register_metric(metrics, "authenticated_user_requests",
		"Counter of authenticated requests broken out by username.", "username", NULL);
	access->authentications.attempts = register_metric(metrics, "authentication_attempts",
		"Counter of authenticated attempts.", "result", NULL);
	access->authentications.seconds =
		register_metric(metrics, "authentication_duration_seconds",
			"Authentication duration in seconds broken out by result.", "result",
			&outcome_buckets);
	access->authorizations.attempts = register_metric(metrics, "authorization_attempts_total",
		"Counter of authorization attempts broken down by result. It can be either "
		"'allowed', 'denied', 'no-opinion' or 'error'.",
		"result", NULL);
	access->authorizations.seconds = register_metric(metrics, "authorization_duration_seconds",
		"Authorization duration in seconds broken out by result.", "result",
		&outcome_buckets);
	if (options->authentication_client != NULL) {
		struct bt_reviewer_options reviewer = {
			.client = options->authentication_client,
			.api_version = "authentication.k8s.io/v1",
			.kind = "TokenReview",
			.resource = "tokenreviews",
			.ttl_ns = token_ttl_ns,
		};
		result = create_reviewer(access, &reviewer,
			"apiserver_delegated_authn_request_total",
			"apiserver_delegated_authn_request_duration_seconds",
			&access->token_reviewer, err);
	}
	if (result == 0 && options->authorization_client != NULL) {
		struct bt_reviewer_options reviewer = {
			.client = options->authorization_client,
			.api_version = "authorization.k8s.io/v1",
			.kind = "SubjectAccessReview",
			.resource = "subjectaccessreviews",
			.ttl_ns = verdict_ttl_ns,
		};
		result = create_reviewer(access, &reviewer,
			"apiserver_delegated_authz_request_total",
			"apiserver_delegated_authz_request_duration_seconds",
			&access->access_reviewer, err);
	}
	if (result != 0) {
		bt_access_rules_destroy(access);
		return result;
	}
	*out_access = access;
	return 0;
}

void bt_access_rules_destroy(struct bt_access_rules *access)
{
	if (access != NULL) {
		bt_reviewer_destroy(access->token_reviewer);
		bt_reviewer_destroy(access->access_reviewer);
		bt_free(access);
	}
}
