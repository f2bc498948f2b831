/* SPDX-License-Identifier: Apache-2.0 */
/** /flagz and /statusz. Spec: 11 section 9.6. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/time.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "codec/yaml.h"
#include "daemon/build_info.h"
#include "daemon/pages.h"

static const char component[] = "kube-scheduler";

enum form {
	FORM_TEXT,
	FORM_JSON,
	FORM_YAML,
	FORM_CBOR,
	FORM__COUNT,
};

static const char *const media_types[FORM__COUNT] = {
	[FORM_TEXT] = "text/plain",
	[FORM_JSON] = "application/json",
	[FORM_YAML] = "application/yaml",
	[FORM_CBOR] = "application/cbor",
};

struct wanted {
	enum form form;
	bool is_old; /* v1alpha1 */
};

/**
 * Return the end of the served structured forms: the forms from FORM_JSON up to, but without, the
 * returned form are served.
 */
static enum form forms_end(const struct bt_zpage_facts *facts)
{
	return bt_gate_enabled(&facts->options->gates, BT_GATE_CBOR_SERVING_AND_STORAGE)
		? FORM__COUNT
		: FORM_CBOR;
}

/** True if the clause requests a served form and version of this kind. */
static bool is_structured(const struct bt_zpage_facts *facts, const struct bt_accept_clause *clause,
	const char *kind, struct wanted *out_wanted)
{
	struct bt_str version = bt_accept_parameter(clause, "v");
	enum form form = FORM_JSON;
	while (form < forms_end(facts) &&
		!bt_str_equal_without_case(clause->type, bt_str_from(media_types[form]))) {
		form++;
	}
	if (form == forms_end(facts)) {
		return false;
	}
	out_wanted->form = form;
	out_wanted->is_old = bt_str_equal(version, BT_STR("v1alpha1"));
	return bt_str_equal(bt_accept_parameter(clause, "g"), BT_STR("config.k8s.io")) &&
		bt_str_equal_c(bt_accept_parameter(clause, "as"), kind) &&
		(out_wanted->is_old || bt_str_equal(version, BT_STR("v1beta1")));
}

/** Choose the form of the answer; false: no form is acceptable, and reply says so. */
static bool negotiate(const struct bt_zpage_facts *facts, const struct bt_page_request *request,
	const char *kind, struct wanted *out_wanted, struct bt_reply *reply)
{
	struct bt_accept accept;
	bool found = false;
	*out_wanted = (struct wanted){FORM_TEXT, false};
	if (request->accept.length == 0) {
		return true;
	}
	bt_accept_parse(&accept, request->accept, true);
	for (uint32_t i = 0; i < accept.count && !found; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		struct wanted wanted = {FORM_TEXT, false};
		found = clause->quality != 0 &&
			((bt_str_equal_without_case(clause->type, BT_STR("text/plain")) ||
				 bt_str_equal(clause->type, BT_STR("text/*")) ||
				 bt_str_equal(clause->type, BT_STR("*/*"))) ||
				is_structured(facts, clause, kind, &wanted));
		*out_wanted = found ? wanted : *out_wanted;
	}
	if (!found) {
		struct bt_strbuf message = {0};
		bt_strbuf_append_c(
			&message, "only the following media types are accepted: text/plain");
		for (enum form form = FORM_JSON; form < forms_end(facts); form++) {
			bt_strbuf_printf(&message, ", %s;as=%s;g=config.k8s.io;v=v1beta1",
				media_types[form], kind);
		}
		bt_reply_status(
			reply, request, 406, "NotAcceptable", bt_strbuf_str(&message), false);
		bt_strbuf_finish(&message);
	}
	return found;
}

#define CBOR_SELF_DESCRIBED BT_STR("\xd9\xd9\xf7")

enum cbor_type {
	CBOR_UNSIGNED = 0,
	CBOR_NEGATIVE = 1,
	CBOR_BYTES = 2,
	CBOR_ARRAY = 4,
	CBOR_MAP = 5,
};

/** Write the type and its argument in as few bytes as possible. */
static void write_cbor_head(enum cbor_type type, uint64_t argument, struct bt_strbuf *out)
{
	unsigned int first = (unsigned int)type << 5;
	int size = 0; /* bytes of the argument after the first byte */
	if (argument < 24) {
		bt_strbuf_append_char(out, (char)(first | (unsigned int)argument));
		return;
	}
	if (argument <= UINT8_MAX) {
		first |= 24;
		size = 1;
	} else if (argument <= UINT16_MAX) {
		first |= 25;
		size = 2;
	} else if (argument <= UINT32_MAX) {
		first |= 26;
		size = 4;
	} else {
		first |= 27;
		size = 8;
	}
	bt_strbuf_append_char(out, (char)first);
	while (size > 0) {
		size--;
		bt_strbuf_append_char(out, (char)(argument >> (8 * size) & 0xff));
	}
}

/** Compare names by their encoded bytes, which begin with the length. */
BT_COMPARE(compare_names, struct bt_json_member,
	BT_ORDER_BY(BT_ORDER(a->name.length, b->name.length), bt_str_compare(a->name, b->name)))

/** Write a document of begin_document, which has no floating point numbers. Sorts its members. */
static void write_cbor(struct bt_json_value *value, struct bt_strbuf *out)
{
	int64_t number = 0;
	switch (value->type) {
	case BT_JSON_STRING:
		write_cbor_head(CBOR_BYTES, value->text.length, out);
		bt_strbuf_append_str(out, value->text);
		return;
	case BT_JSON_NUMBER:
		BT_ASSERT(bt_json_number_int64(value->text, &number));
		write_cbor_head(number < 0 ? CBOR_NEGATIVE : CBOR_UNSIGNED,
			(uint64_t)(number < 0 ? -1 - number : number), out);
		return;
	case BT_JSON_ARRAY:
		write_cbor_head(CBOR_ARRAY, value->count, out);
		for (uint32_t i = 0; i < value->count; i++) {
			write_cbor(value->elements[i], out);
		}
		return;
	case BT_JSON_OBJECT:
		if (value->count != 0) {
			qsort(value->members, value->count, sizeof(value->members[0]),
				compare_names);
		}
		write_cbor_head(CBOR_MAP, value->count, out);
		for (uint32_t i = 0; i < value->count; i++) {
			write_cbor_head(CBOR_BYTES, value->members[i].name.length, out);
			bt_strbuf_append_str(out, value->members[i].name);
			write_cbor(value->members[i].value, out);
		}
		return;
	case BT_JSON_NULL:
		bt_strbuf_append_char(out, (char)0xf6);
		return;
	case BT_JSON_BOOL:
		bt_strbuf_append_char(out, (char)(value->boolean ? 0xf5 : 0xf4));
		return;
	case BT_JSON__COUNT:
		break;
	}
	BT_ASSERT(false);
}

static void write_heading(const char *page, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"\n%s %s\nWarning: This endpoint is not meant to be machine parseable, has no "
		"formatting compatibility guarantees and is for debugging purposes only.\n",
		component, page);
}

/** Write the members of the envelope; the caller writes the other members. */
static void begin_document(
	struct bt_json_writer *writer, const char *kind, bool is_old, struct bt_strbuf *out)
{
	bt_json_writer_init(writer, out, 0);
	bt_json_write(writer, "{kind: %c, apiVersion: %c, metadata: {name: %c}", kind,
		is_old ? "config.k8s.io/v1alpha1" : "config.k8s.io/v1beta1", component);
}

/** Set the document in the wanted form as the reply. json: consumed. */
static void answer_document(struct wanted wanted, const struct bt_page_request *request,
	const char *page, struct bt_strbuf *json, struct bt_reply *reply)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = 0;
	reply->code = 200;
	if (wanted.is_old) {
		bt_reply_add_header(reply, "Warning",
			bt_arena_printf(request->arena,
				"299 - \"This version of the %s endpoint is deprecated. Please use "
				"a newer version.\"",
				page));
	}
	if (wanted.form == FORM_JSON) {
		bt_strbuf_append_str(&reply->body, bt_strbuf_str(json));
		bt_strbuf_append_char(&reply->body, '\n');
	} else if (wanted.form == FORM_CBOR) {
		struct bt_json_value *value;
		result = bt_json_parse(request->arena, bt_strbuf_str(json), false, &value, &err);
		if (result == 0) {
			bt_strbuf_append_str(&reply->body, CBOR_SELF_DESCRIBED);
			write_cbor(value, &reply->body);
		}
	} else {
		result = bt_yaml_from_json(bt_strbuf_str(json), &reply->body, &err);
	}
	if (result == 0) {
		bt_reply_add_header(reply, "Content-Type", bt_str_from(media_types[wanted.form]));
	} else {
		bt_strbuf_reset(&reply->body);
		bt_reply_error(reply, 500, "%s", berth_error_message(&err));
	}
	berth_error_finish(&err);
	bt_strbuf_finish(json);
}

void bt_flagz_answer(
	struct bt_zpage_facts *facts, const struct bt_page_request *request, struct bt_reply *reply)
{
	const struct bt_daemon_options *options = facts->options;
	struct bt_json_writer writer;
	struct bt_strbuf json = {0};
	struct wanted wanted;
	if (!negotiate(facts, request, "Flagz", &wanted, reply)) {
		return;
	}
	if (wanted.form == FORM_TEXT) {
		if (facts->flagz.length == 0) {
			static const char *const delimiters[] = {":", ": ", "=", " "};
			const char *delimiter = delimiters[bt_prng_below(
				&facts->prng, BT_ARRAY_LENGTH(delimiters))];
			write_heading("flagz", &facts->flagz);
			for (uint32_t i = 0; i < options->flags.count; i++) {
				const struct bt_flag_value *flag = &options->flags.items[i];
				bt_strbuf_printf(&facts->flagz, "%s%s%.*s\n", flag->name, delimiter,
					BT_STR_ARG(flag->value));
			}
		}
		bt_reply_plain(reply, 200);
		bt_strbuf_append_str(&reply->body, bt_strbuf_str(&facts->flagz));
		return;
	}
	begin_document(&writer, "Flagz", wanted.is_old, &json);
	bt_json_begin_member_object(&writer, "flags");
	for (uint32_t i = 0; i < options->flags.count; i++) {
		bt_json_write_member(
			&writer, options->flags.items[i].name, options->flags.items[i].value);
	}
	bt_json_write(&writer, "}}");
	answer_document(wanted, request, "flagz", &json, reply);
}

/** Return the time as "Mon Jan  2 15:04:05 UTC 2006"; a time before 1970 as RFC 3339. */
static struct bt_str date_text(int64_t time_ns, struct bt_arena *arena)
{
	static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
	static const char *const months[] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct bt_str text = bt_time_text(arena, time_ns); /* 2006-01-02T15:04:05Z */
	int64_t year = 0;
	int64_t month = 1;
	int64_t day = 1;
	int64_t since = time_ns / BT_NS_PER_SECOND / 86400;
	if (time_ns < 0 || text.length != 20 ||
		!bt_str_parse_int64(bt_str_sub(text, 0, 4), &year) ||
		!bt_str_parse_int64(bt_str_sub(text, 5, 2), &month) ||
		!bt_str_parse_int64(bt_str_sub(text, 8, 2), &day) || month < 1 || month > 12) {
		return text;
	}
	return bt_arena_printf(arena, "%s %s %2d %.*s UTC %d", days[since % 7], months[month - 1],
		(int)day, BT_STR_ARG(bt_str_sub(text, 11, 8)), (int)year);
}

static void write_line(const char *name, struct bt_str value, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "%s:  ", name);
	bt_html_escape(value, true, out);
	bt_strbuf_append_char(out, '\n');
}

void bt_statusz_answer(struct bt_zpage_facts *facts, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply)
{
	static const char *const paths[] = {
		"/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"};
	const struct bt_daemon_options *options = facts->options;
	struct bt_arena *arena = request->arena;
	struct wanted wanted;
	/* the wall clock may have been set back since the start */
	int64_t up_ns = wall_now_ns > facts->started_ns ? wall_now_ns - facts->started_ns : 0;
	int64_t up_seconds = up_ns / BT_NS_PER_SECOND;
	if (!negotiate(facts, request, "Statusz", &wanted, reply)) {
		return;
	}
	/* berth has no Go version: show the compiler's version */
	const char *toolchain = bt_build_about(arena).toolchain;
	struct bt_str binary = bt_versions_binary(&options->versions);
	struct bt_str emulation =
		bt_arena_printf(arena, "1.%d", options->versions.release.emulated_minor);
	bool has_flagz = bt_gate_enabled(&options->gates, BT_GATE_COMPONENT_FLAGZ);
	if (wanted.form == FORM_TEXT) {
		struct bt_strbuf *out = &reply->body;
		bt_reply_plain(reply, 200);
		write_heading("statusz", out);
		bt_strbuf_append_char(out, '\n');
		write_line("Started", date_text(facts->started_ns, arena), out);
		write_line("Up",
			bt_arena_printf(arena, "%" PRId64 " hr %02" PRId64 " min %02" PRId64 " sec",
				up_seconds / 3600, up_seconds / 60 % 60, up_seconds % 60),
			out);
		write_line("Go version", bt_str_from(toolchain), out);
		write_line("Binary version", binary, out);
		write_line("Emulation version", emulation, out);
		bt_strbuf_append_c(out, "Paths: ");
		for (size_t i = 0; i < BT_ARRAY_LENGTH(paths); i++) {
			if (i != 1 || has_flagz) {
				bt_strbuf_printf(out, " %s", paths[i]);
			}
		}
		bt_strbuf_append_char(out, '\n');
		return;
	}
	struct bt_strbuf json = {0};
	struct bt_json_writer writer;
	begin_document(&writer, "Statusz", wanted.is_old, &json);
	bt_json_write(&writer,
		"startTime: %s, uptimeSeconds: %d, goVersion: %c, binaryVersion: %s, "
		"emulationVersion: %s, paths: [",
		bt_time_text(arena, facts->started_ns), up_seconds, toolchain, binary, emulation);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(paths); i++) {
		if (i != 1 || has_flagz) {
			bt_json_write_c(&writer, paths[i]);
		}
	}
	bt_json_write(&writer, "]}");
	answer_document(wanted, request, "statusz", &json, reply);
}
