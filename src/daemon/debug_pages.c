/* SPDX-License-Identifier: Apache-2.0 */
/** /debug/flags and /debug/pprof. Spec: 11 section 9.4. */
#include "daemon/klog.h"
#include "daemon/pages.h"

static const struct bt_str pprof_index = BT_STR_INIT("/debug/pprof/");

#define VERBOSITY_MAX 1000

static void answer_verbosity(const struct bt_page_request *request, struct bt_reply *reply)
{
	int64_t value = 0;
	if (!bt_str_equal(request->method, BT_STR("PUT"))) {
		bt_reply_plain(reply, 406);
		bt_strbuf_append_c(&reply->body, "unsupported http method");
		return;
	}
	struct bt_str text = bt_str_trim(request->body, " \t\r\n");
	if (!bt_str_parse_int64(text, &value) || value < -VERBOSITY_MAX || value > VERBOSITY_MAX) {
		bt_reply_plain(reply, 400);
		bt_strbuf_append_c(
			&reply->body, "error setting klog.logging.verbosity: not a number: ");
		bt_strbuf_append_quoted(&reply->body, bt_str_sub(text, 0, 64));
		return;
	}
	bt_klog_set_verbosity((int)value);
	bt_reply_plain(reply, 200);
	bt_strbuf_printf(&reply->body, "successfully set klog.logging.verbosity to %d", (int)value);
}

bool bt_debug_answer(const struct bt_page_request *request, struct bt_reply *reply)
{
	struct bt_str path = request->path;
	if (bt_str_equal(path, BT_STR("/debug/flags/v"))) {
		answer_verbosity(request, reply);
		return true;
	}
	if (bt_str_equal(path, BT_STR("/debug/flags")) ||
		bt_str_equal(path, BT_STR("/debug/flags/"))) {
		reply->code = 200;
		bt_reply_add_header(reply, "Content-Type", BT_STR("text/html; charset=utf-8"));
		bt_reply_add_header(reply, "X-Content-Type-Options", BT_STR("nosniff"));
		bt_strbuf_append_c(&reply->body,
			"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n"
			"/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
			"<tr>\n<td align=right></td>\n<td><a "
		        "href=\"/debug/flags/v\">v</a></td>\n</tr>\n"
			"</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n");
		return true;
	}
	if (bt_str_equal(path, BT_STR("/debug/pprof"))) {
		reply->code = 302;
		bt_reply_add_header(reply, "Location", pprof_index);
		if (bt_str_equal(request->method, BT_STR("GET")) ||
			bt_str_equal(request->method, BT_STR("HEAD"))) {
			bt_reply_add_header(
				reply, "Content-Type", BT_STR("text/html; charset=utf-8"));
			bt_strbuf_append_c(
				&reply->body, "<a href=\"/debug/pprof/\">Found</a>.\n\n");
		}
		return true;
	}
	if (bt_str_equal(path, pprof_index)) {
		/* There is no Go runtime to look into: tools of the system see everything. */
		bt_reply_plain(reply, 200);
		bt_strbuf_append_c(&reply->body,
			"/debug/pprof/\n\n"
			"berth has no Go runtime, hence no profiles in pprof's format. Instead:\n"
			"  CPU      perf record -g -p <pid>\n"
			"  memory   /metrics: process_resident_memory_bytes, "
		        "process_virtual_memory_bytes\n"
			"  time     /metrics: scheduler_scheduling_algorithm_duration_seconds, "
			"scheduler_plugin_execution_duration_seconds\n"
			"  state    SIGUSR2 writes cache and queue to the log\n"
			"  log      PUT /debug/flags/v\n");
		return true;
	}
	if (bt_str_has_prefix(path, pprof_index)) {
		bt_reply_error(reply, 404, "Unknown profile: berth has no Go runtime; see %s",
			pprof_index.data);
		return true;
	}
	return false;
}
