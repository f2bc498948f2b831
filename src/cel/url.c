/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/function.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cel/text.h"

/** Part of a URL; decides which characters may and which must be escaped. */
enum place {
	PLACE_PATH,
	PLACE_HOST,
	PLACE_ZONE, /* zone of an IPv6 address in a host */
	PLACE_USER,
	PLACE_QUERY,
};

static bool is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static bool must_be_escaped(char c, enum place place)
{
	if (isalnum((unsigned char)c) || is_one_of(c, "-_.~")) {
		return false;
	}
	if (place == PLACE_HOST || place == PLACE_ZONE) {
		return !is_one_of(c, "!$&'()*+,;=:[]<>\"");
	}
	return !is_one_of(c, "$&+,/:;=@");
}

/**
 * Returns the byte of the escape "%XX" at the start of text; -1: there is no escape, or the escape
 * is not allowed in this part.
 */
static int escaped_byte(struct bt_str text, enum place place)
{
	int high = text.length > 2 ? bt_hex_value(text.data[1]) : -1;
	int low = text.length > 2 ? bt_hex_value(text.data[2]) : -1;

	if (high < 0 || low < 0) {
		return -1;
	}
	int byte = high << 4 | low;
	/*
	 * A host may escape only "%" and non-ASCII bytes. A zone may escape only "%", blanks, and
	 * bytes that a host may contain unescaped.
	 */
	if (byte != '%' && place == PLACE_HOST && byte < 0x80) {
		return -1;
	}
	if (byte != '%' && place == PLACE_ZONE && byte != ' ' &&
		must_be_escaped((char)byte, PLACE_HOST)) {
		return -1;
	}
	return byte;
}

/** Appends the text unescaped. */
static int unescape_part(
	struct bt_str text, enum place place, struct bt_strbuf *out, struct berth_error *err)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (c == '%') {
			struct bt_str rest = bt_str_sub(text, i, text.length);
			int byte = escaped_byte(rest, place);

			if (byte < 0) {
				return bt_error_set_quoted(err, BERTH_ERR_INVALID,
					"invalid URL escape ", bt_str_sub(rest, 0, 3), "");
			}
			bt_strbuf_append_char(out, (char)byte);
			i += 2;
			continue;
		}
		if ((place == PLACE_HOST || place == PLACE_ZONE) && (unsigned char)c < 0x80 &&
			must_be_escaped(c, place)) {
			return bt_error_set_quoted(err, BERTH_ERR_INVALID, "invalid character ",
				bt_str_sub(text, i, 1), " in host name");
		}
		bt_strbuf_append_char(out, c == '+' && place == PLACE_QUERY ? ' ' : c);
	}
	return 0;
}

/** Whether a port is "", ":" or digits as in ":8080". */
static bool is_optional_port(struct bt_str text)
{
	return text.length == 0 ||
		(text.data[0] == ':' &&
			(text.length == 1 || bt_str_is_digits(bt_str_sub(text, 1, text.length))));
}

static int parse_host(struct bt_str host, struct bt_strbuf *out, struct berth_error *err)
{
	int64_t colon = bt_str_find_last_char(host, ':');
	int code;

	if (host.length != 0 && host.data[0] == '[') {
		/*
		 * Parses "[fe80::1%25eth0]:80". Escapes in the zone follow the rules for zones, not
		 * those for hosts.
		 */
		int64_t bracket = bt_str_find_last_char(host, ']');

		if (bracket < 0) {
			return bt_error_set(err, BERTH_ERR_INVALID, "missing ']' in host");
		}
		struct bt_str port = bt_str_sub(host, (uint32_t)bracket + 1, host.length);
		if (!is_optional_port(port)) {
			return bt_error_set_quoted(
				err, BERTH_ERR_INVALID, "invalid port ", port, " after host");
		}
		struct bt_str inside = bt_str_sub(host, 0, (uint32_t)bracket);
		int64_t zone = bt_str_find(inside, BT_STR("%25"));
		if (zone < 0) {
			return unescape_part(host, PLACE_HOST, out, err);
		}
		code = unescape_part(bt_str_sub(inside, 0, (uint32_t)zone), PLACE_HOST, out, err);
		if (code == 0) {
			code = unescape_part(bt_str_sub(inside, (uint32_t)zone, inside.length),
				PLACE_ZONE, out, err);
		}
		if (code == 0) {
			code = unescape_part(bt_str_sub(host, (uint32_t)bracket, host.length),
				PLACE_HOST, out, err);
		}
		return code;
	}
	struct bt_str port =
		bt_str_sub(host, colon >= 0 ? (uint32_t)colon : host.length, host.length);
	if (!is_optional_port(port)) {
		return bt_error_set_quoted(
			err, BERTH_ERR_INVALID, "invalid port ", port, " after host");
	}
	return unescape_part(host, PLACE_HOST, out, err);
}

/** Parses "user:password@host:port". */
static int parse_authority(struct bt_str authority, struct bt_arena *arena, struct bt_str *out_host,
	struct berth_error *err)
{
	int64_t at = bt_str_find_last_char(authority, '@');
	struct bt_str user = bt_str_sub(authority, 0, at < 0 ? 0 : (uint32_t)at);
	struct bt_strbuf plain = {NULL, 0, 0};
	int code = parse_host(
		bt_str_sub(authority, (uint32_t)(at + 1), authority.length), &plain, err);

	if (code == 0) {
		*out_host = bt_arena_str(arena, bt_strbuf_str(&plain));
	}
	for (uint32_t i = 0; code == 0 && i < user.length; i++) {
		if (!isalnum((unsigned char)user.data[i]) &&
			!is_one_of(user.data[i], "-._:~!$&'()*+,;=%@")) {
			code = bt_error_set(err, BERTH_ERR_INVALID, "net/url: invalid userinfo");
		}
	}
	if (code == 0) {
		code = unescape_part(user, PLACE_USER, &plain, err);
	}
	bt_strbuf_finish(&plain);
	return code;
}

static int parse(
	struct bt_str text, struct bt_arena *arena, struct bt_cel_url *out, struct berth_error *err)
{
	struct bt_strbuf buffer = {NULL, 0, 0};
	uint32_t scheme_length = 0; /* 0: none */
	struct bt_str authority;
	int64_t slash;
	int code;

	for (uint32_t i = 0; i < text.length; i++) {
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"net/url: invalid control character in URL");
		}
	}
	if (text.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "empty url");
	}
	while (scheme_length < text.length &&
		(isalpha((unsigned char)text.data[scheme_length]) ||
			(scheme_length != 0 &&
				(bt_is_digit(text.data[scheme_length]) ||
					is_one_of(text.data[scheme_length], "+-."))))) {
		scheme_length++;
	}
	if (scheme_length == text.length || text.data[scheme_length] != ':') {
		scheme_length = 0;
	} else if (scheme_length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "missing protocol scheme");
	}
	bt_strbuf_append_lower(&buffer, bt_str_sub(text, 0, scheme_length));
	bt_strbuf_append_str(&buffer, bt_str_sub(text, scheme_length, text.length));
	out->text = bt_arena_take_strbuf(arena, &buffer);
	out->scheme = bt_str_sub(out->text, 0, scheme_length);
	if (bt_str_equal(text, BT_STR("*"))) {
		out->path = out->text;
		return 0;
	}
	/* Split what follows the scheme at the first "?": into rest and out->query. */
	out->query = bt_str_sub(out->text, scheme_length != 0 ? scheme_length + 1 : 0, text.length);
	struct bt_str rest = bt_str_cut(&out->query, '?');
	if (!bt_str_has_prefix(rest, BT_STR("/"))) {
		/* An opaque URI, such as a mail address. */
		return out->scheme.length != 0 || bt_str_equal(rest, BT_STR("*"))
			? 0
			: bt_error_set(err, BERTH_ERR_INVALID, "invalid URI for request");
	}
	if (out->scheme.length != 0 && bt_str_has_prefix(rest, BT_STR("//"))) {
		authority = bt_str_sub(rest, 2, rest.length);
		slash = bt_str_find_char(authority, '/');
		rest = slash >= 0 ? bt_str_sub(authority, (uint32_t)slash, authority.length)
				  : BT_STR("");
		authority = slash >= 0 ? bt_str_sub(authority, 0, (uint32_t)slash) : authority;
		code = parse_authority(authority, arena, &out->host, err);
		if (code != 0) {
			return code;
		}
	}
	out->path = rest;
	code = unescape_part(rest, PLACE_PATH, &buffer, err);
	bt_strbuf_finish(&buffer);
	return code;
}

int bt_cel_url_parse(struct bt_str text, struct bt_arena *arena, struct bt_cel_url *out_url,
	struct berth_error *err)
{
	struct bt_cel_url url = {.host = BT_STR(""), .path = BT_STR(""), .query = BT_STR("")};
	struct berth_error problem = BERTH_ERROR_INIT;
	struct bt_strbuf after = {NULL, 0, 0};
	int code = parse(text, arena, &url, &problem);

	if (code == 0) {
		*out_url = url;
		return 0;
	}
	bt_strbuf_printf(&after, ": %s", berth_error_message(&problem));
	code = bt_error_set_quoted(err, BERTH_ERR_INVALID, "parse ", text, bt_strbuf_c(&after));
	bt_strbuf_finish(&after);
	berth_error_finish(&problem);
	return code;
}

/* Spec: 12b section 9.6. */
struct bt_cel_value bt_cel_fn_url(const struct bt_cel_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_url url;
	int code = bt_cel_url_parse(call->arguments[0].text, call->evaluation->arena, &url, &err);

	(void)bt_error_wrap(&err, code, "URL parse error during conversion from string");
	return bt_cel_answer_parsed(call, code, &err, BT_CEL_URL, &url, sizeof(url));
}

/**
 * Returns one part of the URL, which the variant of the overload selects. The string borrows from
 * the URL.
 */
struct bt_cel_value bt_cel_fn_url_part(const struct bt_cel_call *call)
{
	enum bt_cel_variant part = call->overload->variant;
	struct bt_str host = call->arguments[0].url->host;
	int64_t colon = bt_str_find_last_char(host, ':');
	uint32_t name_length =
		colon >= 0 && is_optional_port(bt_str_sub(host, (uint32_t)colon, host.length))
		? (uint32_t)colon
		: host.length;

	if (part == BT_CEL_VARIANT_SCHEME) {
		return bt_cel_string(call->arguments[0].url->scheme);
	}
	if (part == BT_CEL_VARIANT_PORT) {
		return bt_cel_string(bt_str_sub(host, name_length + 1, host.length));
	}
	if (part == BT_CEL_VARIANT_HOSTNAME) {
		host = bt_str_sub(host, 0, name_length);
		if (bt_str_has_prefix(host, BT_STR("[")) && bt_str_has_suffix(host, BT_STR("]"))) {
			host = bt_str_sub(host, 1, host.length - 2);
		}
	}
	return bt_cel_string(host);
}

/** Returns the path as a string value, escaped where necessary. */
struct bt_cel_value bt_cel_fn_url_get_escaped_path(const struct bt_cel_call *call)
{
	struct bt_str path = call->arguments[0].url->path;
	struct bt_cel_output output = {.evaluation = call->evaluation};
	struct bt_strbuf plain = {NULL, 0, 0};
	bool is_escaped = true;

	if (!bt_cel_charge_call(call->evaluation, path)) {
		return call->evaluation->stop;
	}
	for (uint32_t i = 0; i < path.length && is_escaped; i++) {
		is_escaped = !must_be_escaped(path.data[i], PLACE_PATH) ||
			is_one_of(path.data[i], "!'()*[]%");
	}
	if (is_escaped) {
		bt_strbuf_append_str(&output.buffer, path);
		return bt_cel_output_finish(&output);
	}
	(void)unescape_part(path, PLACE_PATH, &plain, NULL); /* cannot fail: parsed before */
	for (size_t i = 0; i < plain.length; i++) {
		if (must_be_escaped(plain.data[i], PLACE_PATH)) {
			bt_strbuf_printf(&output.buffer, "%%%02X", (unsigned char)plain.data[i]);
		} else {
			bt_strbuf_append_char(&output.buffer, plain.data[i]);
		}
	}
	bt_strbuf_finish(&plain);
	return bt_cel_output_finish(&output);
}

/** A query parameter "name=value". */
struct parameter {
	struct bt_indexed_str name; /* and the position in the query */
	struct bt_str value;
};

/**
 * Splits the query into parameters, sorted by name. Skips a parameter with an invalid escape or a
 * semicolon. out has room for one parameter more than the query has "&". Returns the number of
 * parameters.
 */
static uint32_t read_parameters(
	struct bt_cel_evaluation *evaluation, struct bt_str query, struct parameter *out)
{
	uint32_t count = 0;

	while (query.length != 0) {
		struct bt_str value = bt_str_cut(&query, '&');
		struct bt_str name = value;

		if (name.length == 0 || bt_str_find_char(name, ';') >= 0) {
			continue;
		}
		name = bt_str_cut(&value, '=');
		bool is_plain = true;
		for (int i = 0; i < 2 && is_plain; i++) {
			/* Unescapes a text into the arena; "+" becomes a blank. */
			struct bt_cel_output output = {.evaluation = evaluation};
			bool is_valid = unescape_part(i == 0 ? name : value, PLACE_QUERY,
						&output.buffer, NULL) == 0;
			struct bt_cel_value plain = bt_cel_output_finish(&output);

			*(i == 0 ? &out[count].name.text : &out[count].value) = plain.text;
			is_plain = is_valid && !bt_cel_is_error(&plain);
		}
		if (is_plain) {
			out[count].name.index = count;
			count++;
		}
	}
	qsort(out, count, sizeof(*out), bt_indexed_str_compare_qsort);
	return count;
}

struct bt_cel_value bt_cel_fn_url_get_query(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str query = call->arguments[0].url->query;
	struct parameter *parameters;
	uint64_t count_max = 1;

	if (!bt_cel_charge_call(evaluation, query)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < query.length; i++) {
		count_max += query.data[i] == '&';
	}
	parameters = bt_cel_alloc(evaluation, count_max, sizeof(*parameters));
	if (parameters == NULL) {
		return evaluation->stop;
	}
	uint32_t count = read_parameters(evaluation, query, parameters);
	if (bt_cel_is_error(&evaluation->stop)) {
		return evaluation->stop;
	}
	struct bt_cel_map map = {0};
	struct bt_cel_entry *entries = bt_cel_alloc(evaluation, count, sizeof(*entries));
	struct bt_cel_value *values = bt_cel_alloc(evaluation, count, sizeof(*values));

	if (entries == NULL || values == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < count; i++) {
		values[i] = bt_cel_string(parameters[i].value);
		if (i == 0 || !bt_str_equal(parameters[i].name.text, parameters[i - 1].name.text)) {
			entries[map.count++] = (struct bt_cel_entry){
				bt_cel_string(parameters[i].name.text), bt_cel_list(&values[i], 0)};
		}
		entries[map.count - 1].value.list.count++;
	}
	map.entries = entries;
	return bt_cel_box(evaluation, BT_CEL_MAP, &map, sizeof(map));
}
