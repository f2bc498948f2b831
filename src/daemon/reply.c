/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/reply.h"

#include <stdlib.h>

#include "codec/json.h"
#include "net/http_server.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"

void bt_reply_add_header(struct bt_reply *reply, const char *name, struct bt_str value)
{
	BT_ASSERT(reply->header_count < BT_REPLY_HEADERS_MAX);
	reply->headers[reply->header_count++] = (struct bt_reply_header){name, value};
}

void bt_reply_plain(struct bt_reply *reply, uint16_t code)
{
	reply->code = code;
	bt_reply_add_header(reply, "Content-Type", BT_STR(TEXT_PLAIN));
	bt_reply_add_header(reply, "X-Content-Type-Options", BT_STR("nosniff"));
}

void bt_reply_error(struct bt_reply *reply, uint16_t code, const char *format, ...)
{
	va_list arguments;
	bt_reply_plain(reply, code);
	va_start(arguments, format);
	bt_strbuf_vprintf(&reply->body, format, arguments);
	va_end(arguments);
	bt_strbuf_append_char(&reply->body, '\n');
}

void bt_reply_not_found(struct bt_reply *reply)
{
	bt_reply_error(reply, 404, "404 page not found");
}

struct pretty_search {
	bool wanted;
};

static void take_pretty(void *context, struct bt_str name, struct bt_str value)
{
	struct pretty_search *search = context;
	if (bt_str_equal(name, BT_STR("pretty"))) {
		search->wanted =
			bt_str_equal(value, BT_STR("true")) || bt_str_equal(value, BT_STR("1"));
	}
}

/** Should the JSON be indented? True for clients that people use. */
static bool is_for_people(const struct bt_page_request *request)
{
	static const char *const agents[] = {"curl", "Wget", "Mozilla/5.0"};
	struct pretty_search search = {false};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(agents); i++) {
		if (bt_str_has_prefix(request->user_agent, bt_str_from(agents[i]))) {
			search.wanted = true;
		}
	}
	bt_query_each(request->query, request->arena, take_pretty, &search);
	return search.wanted;
}

void bt_reply_status(struct bt_reply *reply, const struct bt_page_request *request, uint16_t code,
	const char *reason, struct bt_str message, bool with_details)
{
	struct bt_json_writer writer;
	reply->code = code;
	bt_reply_add_header(reply, "Content-Type", BT_STR("application/json"));
	bt_reply_add_header(reply, "X-Content-Type-Options", BT_STR("nosniff"));
	bt_json_writer_init(&writer, &reply->body, is_for_people(request) ? 2 : 0);
	writer.escape_html = true;
	bt_json_begin_object(&writer);
	bt_json_write_member_c(&writer, "kind", "Status");
	bt_json_write_member_c(&writer, "apiVersion", "v1");
	bt_json_begin_member_object(&writer, "metadata");
	bt_json_end_object(&writer);
	bt_json_write_member_c(&writer, "status", "Failure");
	bt_json_write_member(&writer, "message", message);
	bt_json_write_member_c(&writer, "reason", reason);
	if (with_details) {
		bt_json_begin_member_object(&writer, "details");
		bt_json_end_object(&writer);
	}
	bt_json_write_member_int64(&writer, "code", code);
	bt_json_end_object(&writer);
	bt_strbuf_append_char(&reply->body, '\n');
}

void bt_html_escape(struct bt_str text, bool with_quotes, struct bt_strbuf *out)
{
	static const struct {
		char byte;
		const char *entity;
	} entities[] = {
		{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
	size_t count = with_quotes ? BT_ARRAY_LENGTH(entities) : 3;
	for (uint32_t i = 0; i < text.length; i++) {
		size_t at = 0;
		while (at < count && entities[at].byte != text.data[i]) {
			at++;
		}
		if (at < count) {
			bt_strbuf_append_c(out, entities[at].entity);
		} else {
			bt_strbuf_append_char(out, text.data[i]);
		}
	}
}

void bt_query_each(struct bt_str query, struct bt_arena *arena,
	void (*take)(void *context, struct bt_str name, struct bt_str value), void *context)
{
	struct bt_strbuf name = {0};
	struct bt_strbuf value = {0};
	while (query.length != 0) {
		struct bt_str item = bt_str_cut(&query, '&');
		struct bt_str raw_value = item;
		struct bt_str raw_name = bt_str_cut(&raw_value, '=');
		bt_strbuf_reset(&name);
		bt_strbuf_reset(&value);
		if (item.length != 0 && bt_str_find_char(item, ';') < 0 &&
			bt_http_percent_decode(raw_name, true, &name) &&
			bt_http_percent_decode(raw_value, true, &value)) {
			take(context, bt_arena_str(arena, bt_strbuf_str(&name)),
				bt_arena_str(arena, bt_strbuf_str(&value)));
		}
	}
	bt_strbuf_finish(&name);
	bt_strbuf_finish(&value);
}

/** "0.25" -> 250; 1000 if the text is not a number. */
static uint32_t parse_quality(struct bt_str text)
{
	uint32_t value = 0;
	uint32_t unit = 1000;
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] == '.' && unit == 1000) {
			unit = 100;
			continue;
		}
		if (text.data[i] < '0' || text.data[i] > '9' || (unit == 1000 && i != 0)) {
			return 1000;
		}
		value += (uint32_t)(text.data[i] - '0') * unit;
		unit = unit == 1000 ? 1000 : unit / 10;
	}
	return text.length == 0 || value > 1000 ? 1000 : value;
}

void bt_accept_parse(struct bt_accept *accept, struct bt_str header)
{
	while (header.length != 0 && accept->clauses.count < BT_ACCEPT_CLAUSES_MAX) {
		struct bt_accept_clause clause = {.quality = 0};
		struct bt_str text = bt_str_cut(&header, ',');
		clause.type = bt_str_trim(bt_str_cut(&text, ';'), " \t");
		clause.quality = 1000;
		while (text.length != 0) {
			struct bt_str value = bt_str_cut(&text, ';');
			struct bt_str name = bt_str_trim(bt_str_cut(&value, '='), " \t");
			value = bt_str_trim(value, " \t");
			if (value.length >= 2 && value.data[0] == '"') {
				value = bt_str_sub(value, 1, value.length - 2);
			}
			if (bt_str_equal_without_case(name, BT_STR("q"))) {
				clause.quality = parse_quality(value);
			} else if (name.length != 0 &&
				clause.parameter_count < BT_ACCEPT_PARAMETERS_MAX) {
				clause.parameters[clause.parameter_count++] =
					(struct bt_accept_parameter){name, value};
			}
		}
		if (clause.type.length == 0) {
			continue;
		}
		bt_vec_push(&accept->clauses, clause);
		uint32_t at = accept->clauses.count - 1;
		while (at > 0 && accept->clauses.items[at - 1].quality < clause.quality) {
			accept->clauses.items[at] = accept->clauses.items[at - 1];
			at--;
		}
		accept->clauses.items[at] = clause;
	}
}

void bt_accept_finish(struct bt_accept *accept)
{
	bt_vec_finish(&accept->clauses);
}

struct bt_str bt_accept_parameter(const struct bt_accept_clause *clause, const char *name)
{
	for (uint32_t i = 0; i < clause->parameter_count; i++) {
		if (bt_str_equal_without_case(clause->parameters[i].name, bt_str_from(name))) {
			return clause->parameters[i].value;
		}
	}
	return BT_STR("");
}
