/* SPDX-License-Identifier: Apache-2.0 */
/** Spec: 14 sections 14 and 15, 13 sections 10 to 12. */
#include "server/list.h"

#include "base/strbuf.h"
#include "codec/base64.h"
#include "codec/json.h"

/* Continue tokens: URL-safe base64 without padding. */

/** Large enough for a key whose bytes are all escaped. */
#define TOKEN_BYTES_MAX (10 * BT_STORE_KEY_BYTES_MAX)

struct bt_str bt_list_token_write(const struct bt_list_token *token, struct bt_arena *arena)
{
	struct bt_strbuf start = {0};
	struct bt_strbuf json = {0};
	struct bt_json_writer writer;

	/* The last key plus a zero byte is the first possible key after it. */
	bt_strbuf_append_str(&start, token->start);
	bt_strbuf_append_char(&start, '\0');
	bt_json_writer_init(&writer, &json, 0);
	bt_json_write(&writer, "{v: 'meta.k8s.io/v1', rv: %d, start: %s}", (int64_t)token->rv,
		bt_strbuf_str(&start));
	struct bt_strbuf text = {0};
	bt_base64_url_encode(bt_strbuf_str(&json), &text);
	struct bt_str result = bt_arena_take_strbuf(arena, &text);
	bt_strbuf_finish(&start);
	bt_strbuf_finish(&json);
	return result;
}

static const char *read_token(
	struct bt_str text, struct bt_list_token *out_token, struct bt_arena *arena)
{
	struct bt_str json;
	struct bt_json_value *value;
	const struct bt_json_value *rv;
	struct bt_str start;

	if (text.length > TOKEN_BYTES_MAX || !bt_base64_url_decode(text, arena, &json)) {
		return "illegal base64 data";
	}
	if (bt_json_parse(arena, json, false, &value, NULL) != 0) {
		return "no JSON";
	}
	if (!bt_str_equal(bt_json_find_str(value, "v"), BT_STR("meta.k8s.io/v1"))) {
		return "unrecognized version";
	}
	rv = bt_json_find(value, "rv");
	if (rv == NULL || rv->type != BT_JSON_NUMBER ||
		!bt_json_number_int64(rv->text, &out_token->rv) || out_token->rv == 0 ||
		out_token->rv < -1) {
		return "incorrect resource version";
	}
	start = bt_json_find_str(value, "start");
	if (start.length < 2 || start.data[start.length - 1] != '\0' ||
		start.length > BT_STORE_KEY_BYTES_MAX) {
		return "incorrect start";
	}
	out_token->start = bt_str_sub(start, 0, start.length - 1);
	return NULL;
}

bool bt_list_token_read(struct bt_str text, struct bt_list_token *out_token, struct bt_arena *arena,
	struct bt_failure *out_failure)
{
	const char *problem = read_token(text, out_token, arena);

	return problem == NULL ||
		bt_fail(out_failure, arena, 400, "BadRequest", "invalid continue token: %s",
			problem);
}

bool bt_fail_token_expired(
	struct bt_failure *out, struct bt_arena *arena, const struct bt_list_token *token)
{
	struct bt_list_token fresh = {.rv = -1, .start = token->start};
	(void)bt_fail(out, arena, 410, "Expired",
		"The provided continue parameter is too old to display a consistent list result. "
		"You can start a new list without the continue parameter, or use the continue "
		"token in this response to retrieve the remainder of the results. Continuing with "
		"the provided token results in an inconsistent list - objects that were created, "
		"modified, or deleted between the time the first chunk was returned and now may "
		"show up in the list.");

	out->continue_token = bt_list_token_write(&fresh, arena);
	return false;
}

/** Messages show at most this many bytes of an invalid value. */
#define SHOWN_MAX 256

/* --- numbers and booleans --- */

/** Returns a text as Go does: `strconv.ParseInt: parsing "x": invalid syntax`. */
static struct bt_str number_problem(
	struct bt_str text, const char *function, struct bt_arena *arena)
{
	bool is_signed = bt_str_equal_c(BT_STR("ParseInt"), function) && text.length != 0 &&
		(text.data[0] == '-' || text.data[0] == '+');
	bool in_syntax = bt_str_is_digits(is_signed ? bt_str_sub(text, 1, text.length) : text);
	struct bt_str quoted = bt_failure_quoted(arena, bt_str_sub(text, 0, SHOWN_MAX));

	return bt_arena_printf(arena, "strconv.%s: parsing %.*s: %s", function, BT_STR_ARG(quoted),
		in_syntax ? "value out of range" : "invalid syntax");
}

/** Parses a number; 0 for an absent or negative number. false: sets *out_failure. */
static bool parse_count(struct bt_str text, int64_t *out_value, struct bt_arena *arena,
	struct bt_failure *out_failure)
{
	*out_value = 0;
	if (text.length != 0 && !bt_str_parse_int64(text, out_value)) {
		struct bt_str problem = number_problem(text, "ParseInt", arena);

		return bt_fail(out_failure, arena, 400, "BadRequest", "%.*s", BT_STR_ARG(problem));
	}
	*out_value = BT_MAX(*out_value, 0);
	return true;
}

bool bt_parameter_is_true(struct bt_str text)
{
	return text.length != 0 && !bt_str_equal(text, BT_STR("0")) &&
		!bt_str_equal_without_case(text, BT_STR("false"));
}

static bool parse_rv(struct bt_str text, uint64_t *out_rv)
{
	int64_t value;

	if (!bt_str_is_digits(text) || !bt_str_parse_int64(text, &value)) {
		return false;
	}
	*out_rv = (uint64_t)value;
	return true;
}

/**
 * Fails with 400, because the RV is not a number. A watch fails with 500 and without a reason
 * instead, as in upstream.
 */
static bool fail_rv(
	struct bt_str text, bool is_watch, struct bt_arena *arena, struct bt_failure *out_failure)
{
	struct bt_str problem = number_problem(text, "ParseUint", arena);
	struct bt_str quoted = bt_failure_quoted(arena, bt_str_sub(text, 0, SHOWN_MAX));
	struct bt_str message = bt_arena_printf(arena, "resourceVersion: Invalid value: %.*s: %.*s",
		BT_STR_ARG(quoted), BT_STR_ARG(problem));

	if (is_watch) {
		return bt_fail(out_failure, arena, 500, NULL, "%.*s", BT_STR_ARG(message));
	}
	return bt_fail(out_failure, arena, 400, "BadRequest", "invalid resource version: %.*s",
		BT_STR_ARG(message));
}

/* --- combinations of parameters --- */

static void forbid(
	bool is_wrong, const char *field, const char *text, struct bt_field_errors *errors)
{
	if (is_wrong) {
		bt_field_errors_add(
			errors, BT_FIELD_FORBIDDEN, bt_str_from(field), NULL, "%s", text);
	}
}

static bool check_combinations(const struct bt_list_parameters *parameters, bool is_watch,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	static const char match_name[] = "resourceVersionMatch";
	struct bt_field_errors errors = {.arena = arena};
	struct bt_str match = parameters->resource_version_match;
	bool has_match = match.length != 0;
	bool has_initial = parameters->send_initial_events.length != 0;
	bool is_exact = bt_str_equal(match, BT_STR("Exact")) && !is_watch;

	if (is_watch) {
		forbid(has_match && !has_initial, match_name,
			"resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
			"provided",
			&errors);
		forbid(has_initial && !has_match, match_name,
			"sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
			&errors);
	} else {
		forbid(has_match && parameters->continue_token.length != 0, match_name,
			"resourceVersionMatch is forbidden when continue is provided", &errors);
		forbid(has_match && parameters->resource_version.length == 0, match_name,
			"resourceVersionMatch is forbidden unless resourceVersion is provided",
			&errors);
		forbid(is_exact && bt_str_equal(parameters->resource_version, BT_STR("0")),
			match_name,
			"resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
			&errors);
	}
	if (has_match && (has_initial || !is_watch) && !is_exact &&
		!bt_str_equal(match, BT_STR("NotOlderThan"))) {
		struct bt_json_value value = {
			.type = BT_JSON_STRING, .text = bt_str_sub(match, 0, SHOWN_MAX)};
		bt_field_errors_add(&errors, BT_FIELD_NOT_SUPPORTED, bt_str_from(match_name),
			&value, "%s",
			is_watch ? "\"NotOlderThan\"" : "\"Exact\", \"NotOlderThan\"");
	}
	forbid(has_initial && !is_watch, "sendInitialEvents",
		"sendInitialEvents is forbidden for list", &errors);
	return errors.count == 0 ||
		bt_fail_invalid(out_failure, arena, BT_STR("meta.k8s.io"), BT_STR("ListOptions"),
			BT_STR(""), &errors);
}

bool bt_list_options_parse(const struct bt_list_parameters *parameters, bool is_watch,
	struct bt_list_options *out_options, struct bt_arena *arena, struct bt_failure *out_failure)
{
	struct bt_list_options options = {.limit = 0};

	if (!parse_count(parameters->limit, &options.limit, arena, out_failure) ||
		!parse_count(parameters->timeout_seconds, &options.timeout_seconds, arena,
			out_failure) ||
		!check_combinations(parameters, is_watch, arena, out_failure)) {
		return false;
	}
	options.allow_bookmarks = bt_parameter_is_true(parameters->allow_watch_bookmarks);
	options.has_send_initial = parameters->send_initial_events.length != 0;
	options.send_initial = bt_parameter_is_true(parameters->send_initial_events);
	options.match = bt_str_equal(parameters->resource_version_match, BT_STR("Exact"))
		? BT_RV_MATCH_EXACT
		: parameters->resource_version_match.length != 0 ? BT_RV_MATCH_NOT_OLDER_THAN
								 : BT_RV_MATCH_NONE;
	options.has_rv = parameters->resource_version.length != 0;
	if (options.has_rv && !parse_rv(parameters->resource_version, &options.rv)) {
		return fail_rv(parameters->resource_version, is_watch, arena, out_failure);
	}
	if (!is_watch && parameters->continue_token.length != 0 && options.rv != 0) {
		return bt_fail(out_failure, arena, 400, "BadRequest",
			"specifying resource version is not allowed when using continue");
	}
	*out_options = options;
	return true;
}

/* --- RVs in the future --- */

uint64_t bt_get_future_rv(const struct bt_api *api, struct bt_str resource_version)
{
	uint64_t rv;

	if (!parse_rv(resource_version, &rv) || rv <= bt_store_rv(bt_api_store(api))) {
		return 0;
	}
	return rv;
}

bool bt_get_check_rv(
	struct bt_str resource_version, struct bt_arena *arena, struct bt_failure *out_failure)
{
	uint64_t rv;

	return resource_version.length == 0 || parse_rv(resource_version, &rv) ||
		fail_rv(resource_version, false, arena, out_failure);
}

uint64_t bt_list_future_rv(
	const struct bt_api *api, const struct bt_list_parameters *parameters, bool is_watch)
{
	if (is_watch ? !bt_parameter_is_true(parameters->send_initial_events)
		     : parameters->continue_token.length != 0) {
		return 0;
	}
	return bt_get_future_rv(api, parameters->resource_version);
}

bool bt_fail_future_rv(
	struct bt_failure *out, struct bt_arena *arena, uint64_t rv, uint64_t current)
{
	struct bt_failure_cause *cause = BT_ARENA_NEW(arena, struct bt_failure_cause);
	(void)bt_fail(out, arena, 504, "Timeout",
		"Timeout: Too large resource version: %llu, current: %llu", (unsigned long long)rv,
		(unsigned long long)current);

	cause->reason = "ResourceVersionTooLarge";
	cause->message = BT_STR("Too large resource version");
	out->causes = cause;
	out->retry_after_seconds = 1;
	return false;
}
