/* SPDX-License-Identifier: Apache-2.0 */
#include "config/error_list.h"

#include <stdarg.h>

#include "codec/json.h"

static bool is_full(const struct bt_config_errors *errors)
{
	return errors->texts.items.count >= BT_CONFIG_ERRORS_MAX;
}

void bt_config_errors_add_text(struct bt_config_errors *errors, struct bt_str text)
{
	if (!is_full(errors) && !bt_text_set_has(&errors->texts, text)) {
		(void)bt_text_set_add(&errors->texts,
			bt_arena_str(&errors->arena, text)); /* new, as just tested */
	}
}

void bt_config_errors_add(
	struct bt_config_errors *errors, const struct bt_path *path, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;
	if (is_full(errors)) {
		return;
	}
	bt_path_render(path, &text);
	if (text.length > 0) {
		bt_strbuf_append_c(&text, ": ");
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	bt_config_errors_add_text(errors, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static const char *keep(struct bt_config_errors *errors, struct bt_strbuf *text)
{
	const char *kept = bt_arena_str(&errors->arena, bt_strbuf_str(text)).data;
	bt_strbuf_finish(text);
	return kept;
}

const char *bt_config_errors_quote(struct bt_config_errors *errors, struct bt_str text)
{
	struct bt_strbuf quoted = {0};
	if (is_full(errors)) {
		return "";
	}
	bt_strbuf_append_quoted(&quoted, text);
	return keep(errors, &quoted);
}

const char *bt_config_errors_quote_json(struct bt_config_errors *errors, struct bt_str text)
{
	struct bt_strbuf quoted = {0};
	struct bt_json_writer writer;
	if (is_full(errors)) {
		return "";
	}
	bt_json_writer_init(&writer, &quoted, 0);
	writer.escape_html = true;
	bt_json_write_str(&writer, text);
	return keep(errors, &quoted);
}

int bt_config_errors_finish(struct bt_config_errors *errors, struct berth_error *err)
{
	const struct bt_text_set *texts = &errors->texts;
	struct bt_strbuf message = {0};
	int code = 0;
	for (uint32_t i = 0; i < texts->items.count; i++) {
		bt_strbuf_append_c(&message, i > 0 ? ", " : texts->items.count > 1 ? "[" : "");
		bt_strbuf_append_str(&message, texts->items.items[i]);
	}
	if (texts->items.count > 0) {
		bt_strbuf_append_c(&message, texts->items.count > 1 ? "]" : "");
		code = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&message));
	}
	bt_strbuf_finish(&message);
	bt_text_set_finish(&errors->texts);
	bt_arena_finish(&errors->arena);
	return code;
}
