/* SPDX-License-Identifier: Apache-2.0 */
#include "config/error_list.h"

#include <stdarg.h>

#include "codec/json.h"

static bool is_full(const struct bt_config_errors *errors)
{
	return errors->texts.count >= BT_CONFIG_ERRORS_MAX;
}

void bt_config_errors_add_text(struct bt_config_errors *errors, struct bt_str text)
{
	if (!is_full(errors)) {
		bt_error_list_add(
			&errors->texts, &errors->arena, bt_arena_str(&errors->arena, text));
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

static const char *keep_text(struct bt_config_errors *errors, struct bt_strbuf *text)
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
	return keep_text(errors, &quoted);
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
	return keep_text(errors, &quoted);
}

int bt_config_errors_finish(struct bt_config_errors *errors, struct berth_error *err)
{
	int code = 0;
	if (errors->texts.count > 0) {
		struct bt_str text = bt_error_list_text(&errors->texts, &errors->arena);
		code = bt_error_set(err, BERTH_ERR_INVALID, "%.*s", BT_STR_ARG(text));
	}
	bt_arena_finish(&errors->arena);
	return code;
}
