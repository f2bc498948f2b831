/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/console.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "api/text_template.h"

#define PROGRESS_DELAY_MS 300
#define PROGRESS_INTERVAL_MS 200

static int64_t now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void bt_console_print(FILE *stream, const char *template_, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;
	va_start(arguments, template_);
	bt_text_append_list(&text, template_, arguments);
	va_end(arguments);
	(void)fputs(bt_strbuf_c(&text), stream);
	bt_strbuf_finish(&text);
}

void bt_progress_start(struct bt_progress *progress, const char *what)
{
	*progress = (struct bt_progress){
		.task = what,
		.wanted = isatty(STDERR_FILENO) == 1,
		.next_ms = now_ms() + PROGRESS_DELAY_MS,
	};
}

void bt_progress_show(void *context, uint32_t done, uint32_t total)
{
	struct bt_progress *progress = context;
	if (!progress->wanted) {
		return;
	}
	int64_t now = now_ms();
	if (now < progress->next_ms) {
		return;
	}
	if (total == 0) {
		(void)fprintf(stderr, "\r%s: %u", progress->task, done);
	} else {
		(void)fprintf(stderr, "\r%s: %u of %u (%u%%)", progress->task, done, total,
			(uint32_t)((uint64_t)done * 100 / total));
	}
	progress->next_ms = now + PROGRESS_INTERVAL_MS;
	progress->shown = true;
}

void bt_progress_end(struct bt_progress *progress)
{
	if (progress->shown) {
		(void)fputs("\r\033[K", stderr);
		progress->shown = false;
	}
}

void bt_warnings_take(void *context, const char *line)
{
	struct bt_warnings *warnings = context;
	if (++warnings->count <= BT_WARNINGS_SHOWN) {
		(void)fprintf(stderr, "berth %s: warning: %s\n", warnings->command, line);
	}
}

void bt_warnings_end(const struct bt_warnings *warnings)
{
	if (warnings->count > BT_WARNINGS_SHOWN) {
		bt_console_print(stderr, "berth %c: and %u more {warning|warnings}\n",
			warnings->command, warnings->count - BT_WARNINGS_SHOWN);
	}
}
