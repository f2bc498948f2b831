/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/strbuf.h"

int bt_log_verbosity_max = -1;

static struct bt_log_sink sink;

void bt_log_set_sink(const struct bt_log_sink *new_sink)
{
	sink = new_sink != NULL ? *new_sink : (struct bt_log_sink){0};
	bt_log_verbosity_max = new_sink != NULL ? 0 : -1;
}

void bt_log_set_verbosity_max(int verbosity)
{
	if (sink.write != NULL) {
		bt_log_verbosity_max = verbosity;
	}
}

bool bt_log_enabled_in(const char *file, int verbosity)
{
	return verbosity == 0 ||
		(sink.enabled != NULL && sink.enabled(sink.context, file, verbosity));
}

void bt_log_write(enum bt_log_severity severity, int verbosity, const char *file, int line,
	const char *message, struct bt_str error, const struct bt_log_pair *pairs,
	uint32_t pair_count)
{
	struct bt_log_record record = {
		.severity = severity,
		.verbosity = verbosity,
		.file = file,
		.line = line,
		.structured = true,
		.message = bt_str_from(message),
		.error = error,
		.pairs = pairs,
		.pair_count = pair_count,
	};
	sink.write(sink.context, &record);
}

void bt_log_text(enum bt_log_severity severity, int verbosity, const char *file, int line,
	const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;
	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	struct bt_log_record record = {
		.severity = severity,
		.verbosity = verbosity,
		.file = file,
		.line = line,
		.message = bt_strbuf_str(&text),
	};
	sink.write(sink.context, &record);
	bt_strbuf_finish(&text);
}
