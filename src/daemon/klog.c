/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/klog.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/nanoseconds.h"
#include "codec/json.h"
#include "net/clock.h"
#include "net/file_replace.h"

static const char severity_letters[] = {'I', 'W', 'E', 'F'};

static struct {
	const struct bt_klog_options *options;
	int verbosity;
	struct bt_strbuf line;
} klog;

/** Return the last segment of __FILE__, which log lines show. */
static struct bt_str file_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	return bt_str_from(slash != NULL ? slash + 1 : file);
}

static void append_text(struct bt_strbuf *out, struct bt_str text)
{
	if (bt_str_find_char(text, '\n') < 0) {
		bt_strbuf_append_char(out, '=');
		bt_strbuf_append_quoted(out, text);
		return;
	}
	/* A text of several lines starts below the key, and every line is indented by a tab. */
	bt_strbuf_append_c(out, "=<\n");
	while (text.length > 0) {
		bt_strbuf_append_char(out, '\t');
		bt_strbuf_append_str(out, bt_str_cut(&text, '\n'));
		bt_strbuf_append_char(out, '\n');
	}
	bt_strbuf_append_c(out, " >");
}

static void write_texts(struct bt_json_writer *writer, const struct bt_log_pair *pair)
{
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < pair->text_count; i++) {
		bt_json_write_str(writer, pair->texts[i]);
	}
	bt_json_end_array(writer);
}

static void format_text(
	const struct bt_log_record *record, int64_t now_ns, int thread_id, struct bt_strbuf *out)
{
	struct bt_str file = file_name(record->file);
	bt_strbuf_append_char(out, severity_letters[record->severity]);
	/* Month, day and time of day in local time; computed once a second. */
	static struct tm parts;
	static time_t known = -1;
	time_t seconds = (time_t)(now_ns / BT_NS_PER_SECOND);
	if (seconds != known) {
		known = seconds;
		if (localtime_r(&seconds, &parts) == NULL) {
			parts = (struct tm){.tm_mday = 1};
		}
	}
	bt_strbuf_printf(out, "%02d%02d %02d:%02d:%02d.%06d", parts.tm_mon + 1, parts.tm_mday,
		parts.tm_hour, parts.tm_min, parts.tm_sec, (int)(now_ns % BT_NS_PER_SECOND / 1000));
	bt_strbuf_printf(out, " %7d %.*s:%d] ", thread_id, BT_STR_ARG(file), record->line);
	if (!record->structured) {
		bt_strbuf_append_str(out, record->message);
	} else {
		bt_strbuf_append_quoted(out, record->message);
		if (record->error.data != NULL) {
			bt_strbuf_append_c(out, " err");
			append_text(out, record->error);
		}
		for (uint32_t i = 0; i < record->pair_count; i++) {
			const struct bt_log_pair *pair = &record->pairs[i];
			struct bt_json_writer writer;
			struct bt_strbuf name = {0};
			bt_strbuf_printf(out, " %s", pair->key);
			switch (pair->type) {
			case BT_LOG_TYPE_STR:
				append_text(out, pair->text);
				break;
			case BT_LOG_TYPE_INT:
				bt_strbuf_printf(out, "=%lld", (long long)pair->number);
				break;
			case BT_LOG_TYPE_BOOL:
				bt_strbuf_append_c(out, pair->number != 0 ? "=true" : "=false");
				break;
			case BT_LOG_TYPE_SECONDS:
				bt_strbuf_append_c(out, "=\"");
				bt_duration_format(pair->number, out);
				bt_strbuf_append_char(out, '"');
				break;
			case BT_LOG_TYPE_REF:
				if (pair->namespace_.length > 0) {
					bt_strbuf_append_str(&name, pair->namespace_);
					bt_strbuf_append_char(&name, '/');
				}
				bt_strbuf_append_str(&name, pair->text);
				bt_strbuf_append_char(out, '=');
				bt_strbuf_append_quoted(out, bt_strbuf_str(&name));
				bt_strbuf_finish(&name);
				break;
			case BT_LOG_TYPE_STRS:
				bt_strbuf_append_char(out, '=');
				bt_json_writer_init(&writer, out, 0);
				writer.escape_html = false; /* log lines are not HTML */
				write_texts(&writer, pair);
				break;
			case BT_LOG_TYPE_JSON:
				bt_strbuf_append_char(out, '=');
				bt_strbuf_append_str(out, pair->text);
				break;
			}
		}
	}
	if (out->data[out->length - 1] != '\n') {
		bt_strbuf_append_char(out, '\n');
	}
}

static void format_json(const struct bt_log_record *record, int64_t now_ns, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_str message = record->message;
	while (message.length > 0 && message.data[message.length - 1] == '\n') {
		message.length--;
	}
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = false; /* "&" stays readable: "&{MilliCPU:..." */
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "ts");
	/* Milliseconds since 1970, the microseconds as a fraction. */
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "%lld.%03d", (long long)(now_ns / BT_NS_PER_MS),
		(int)(now_ns % BT_NS_PER_MS / 1000));
	while (text.data[text.length - 1] == '0') {
		text.length--;
	}
	text.length -= text.data[text.length - 1] == '.' ? 1 : 0;
	bt_json_write_raw(&writer, bt_strbuf_str(&text));
	bt_json_write_name_c(&writer, "caller");
	bt_strbuf_set(&text, file_name(record->file));
	bt_strbuf_printf(&text, ":%d", record->line);
	bt_json_write_str(&writer, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_json_write_member(&writer, "msg", message);
	if (record->severity == BT_LOG_SEVERITY_INFO) {
		bt_json_write_member_int64(&writer, "v", record->verbosity);
	}
	if (record->error.data != NULL) {
		bt_json_write_member(&writer, "err", record->error);
	}
	for (uint32_t i = 0; i < record->pair_count; i++) {
		const struct bt_log_pair *pair = &record->pairs[i];
		struct bt_strbuf seconds = {0};
		bt_json_write_name_c(&writer, pair->key);
		switch (pair->type) {
		case BT_LOG_TYPE_STR:
			bt_json_write_str(&writer, pair->text);
			break;
		case BT_LOG_TYPE_INT:
			bt_json_write_int64(&writer, pair->number);
			break;
		case BT_LOG_TYPE_BOOL:
			bt_json_write_bool(&writer, pair->number != 0);
			break;
		case BT_LOG_TYPE_SECONDS:
			bt_duration_format(pair->number, &seconds);
			bt_json_write_str(&writer, bt_strbuf_str(&seconds));
			break;
		case BT_LOG_TYPE_REF:
			bt_json_begin_object(&writer);
			bt_json_write_member(&writer, "name", pair->text);
			if (pair->namespace_.length > 0) {
				bt_json_write_member(&writer, "namespace", pair->namespace_);
			}
			bt_json_end_object(&writer);
			break;
		case BT_LOG_TYPE_STRS:
			write_texts(&writer, pair);
			break;
		case BT_LOG_TYPE_JSON:
			bt_json_write_raw(&writer, pair->text);
			break;
		}
		bt_strbuf_finish(&seconds);
	}
	bt_json_end_object(&writer);
	bt_strbuf_append_char(out, '\n');
}

void bt_klog_format(enum bt_klog_format format, const struct bt_log_record *record, int64_t now_ns,
	int thread_id, struct bt_strbuf *out)
{
	if (format == BT_KLOG_JSON) {
		format_json(record, now_ns, out);
	} else {
		format_text(record, now_ns, thread_id, out);
	}
}

static void write_record(void *context, const struct bt_log_record *record)
{
	bool to_output = klog.options->split_stream && record->severity == BT_LOG_SEVERITY_INFO;
	int saved_errno = errno;
	(void)context;
	bt_strbuf_reset(&klog.line);
	bt_klog_format(klog.options->format, record, bt_clock_wall_ns(), (int)getpid(), &klog.line);
	/*
	 * Write the whole line in one piece, so that lines of processes that share the stream do
	 * not mix. Lines are lost if the reader has closed the stream, or if the stream does not
	 * block and is full.
	 */
	(void)bt_write_all(
		to_output ? STDOUT_FILENO : STDERR_FILENO, klog.line.data, klog.line.length);
	if (klog.line.capacity > BT_KLOG_LINE_KEPT_BYTES) {
		bt_strbuf_finish(&klog.line);
	}
	errno = saved_errno;
}

static bool is_enabled(void *context, const char *file, int verbosity)
{
	(void)context;
	if (verbosity <= klog.verbosity) {
		return true;
	}
	struct bt_str name = file_name(file);
	if (bt_str_has_suffix(name, BT_STR(".c"))) {
		name.length -= 2;
	}
	for (uint32_t i = 0; i < klog.options->modules.count; i++) {
		if (bt_str_matches_pattern(name, klog.options->modules.items[i].pattern)) {
			return verbosity <= klog.options->modules.items[i].verbosity;
		}
	}
	return false;
}

void bt_klog_set_verbosity(int verbosity)
{
	int max = verbosity;
	klog.verbosity = verbosity;
	for (uint32_t i = 0; klog.options != NULL && i < klog.options->modules.count; i++) {
		int module = klog.options->modules.items[i].verbosity;
		max = BT_MAX(module, max);
	}
	bt_log_set_verbosity_max(max);
}

void bt_klog_start(const struct bt_klog_options *options)
{
	static const struct bt_log_sink sink = {.enabled = is_enabled, .write = write_record};
	klog.options = options;
	bt_log_set_sink(&sink);
	bt_klog_set_verbosity(options->verbosity);
}

void bt_klog_finish(void)
{
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&klog.line);
	klog.options = NULL;
	klog.verbosity = 0;
}
