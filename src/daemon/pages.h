/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_PAGES_H
#define BT_DAEMON_PAGES_H
/**
 * The answers of the HTTPS endpoints to an authorized caller: every path of spec 11 section 9.4.
 */
#include "base/prng.h"
#include "daemon/endpoints_options.h"
#include "net/http_accept.h"

/** The parts of a request that pages use. Borrowed. */
struct bt_page_request {
	struct bt_str method;
	struct bt_str path;  /* decoded */
	struct bt_str query; /* as sent */
	struct bt_str accept;
	struct bt_str accept_encoding;
	struct bt_str user_agent;
	struct bt_str body;
	struct bt_arena *arena; /* of the request */
};

#define BT_REPLY_HEADERS_MAX 4

struct bt_reply_header {
	const char *name;
	struct bt_str value; /* a literal, or text of the request's arena */
};

struct bt_reply {
	uint16_t code;
	struct bt_reply_header headers[BT_REPLY_HEADERS_MAX];
	uint32_t header_count;
	struct bt_strbuf body;
};

void bt_reply_add_header(struct bt_reply *reply, const char *name, struct bt_str value);
/** Set code, text/plain and nosniff; the caller writes the body. */
void bt_reply_plain(struct bt_reply *reply, uint16_t code);
/** Call bt_reply_plain, and write a formatted body with a newline at the end. */
BT_PRINTF(3, 4)
void bt_reply_error(struct bt_reply *reply, uint16_t code, const char *format, ...);

/** Set a metav1.Status with status Failure as the reply. with_details: also "details":{}. */
void bt_reply_status(struct bt_reply *reply, const struct bt_page_request *request, uint16_t code,
	const char *reason, struct bt_str message, bool with_details);

/** Append text with < > & as HTML entities; with_quotes: also " and '. */
void bt_html_escape(struct bt_str text, bool with_quotes, struct bt_strbuf *out);

struct bt_pages;

/** Create the pages. options must outlive the pages; the arrays of checks are copied. */
BT_MUST_USE struct bt_pages *bt_pages_create(
	const struct bt_endpoints_options *options, uint64_t seed);
void bt_pages_destroy(struct bt_pages *pages);
void bt_pages_answer(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply);

struct bt_zpage_facts {
	const struct bt_daemon_options *options;
	int64_t started_ns;
	struct bt_prng prng;
	struct bt_strbuf flagz; /* the text of /flagz, written at the first request */
};

void bt_flagz_answer(struct bt_zpage_facts *facts, const struct bt_page_request *request,
	struct bt_reply *reply);
void bt_statusz_answer(struct bt_zpage_facts *facts, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply);

#endif
