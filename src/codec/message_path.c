/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message_path.h"

#include "base/strbuf.h"

/** Bytes of a map key or member name that a message shows. */
#define NAME_SHOWN_MAX 64

/** Names and keys from the input: shortened, nothing that a terminal or a log would act upon. */
static void append_shown(struct bt_strbuf *out, struct bt_str name)
{
	uint32_t shown = name.length <= NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX;
	for (uint32_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)name.data[i];
		bt_strbuf_append_char(out, c < 0x20 || c >= 0x7f ? '?' : (char)c);
	}
	if (shown < name.length) {
		bt_strbuf_append_c(out, "...");
	}
}

static void append_path(struct bt_strbuf *out, const struct bt_path *path)
{
	if (path->parent != NULL) {
		append_path(out, path->parent);
	}
	switch (path->kind) {
	case BT_PATH_FIELD:
		if (out->length != 0) {
			bt_strbuf_append_char(out, '.');
		}
		append_shown(out, path->name);
		break;
	case BT_PATH_INDEX:
		bt_strbuf_printf(out, "[%u]", path->index);
		break;
	case BT_PATH_KEY:
		bt_strbuf_append_char(out, '[');
		append_shown(out, path->name);
		bt_strbuf_append_char(out, ']');
		break;
	}
}

int bt_path_fail(const struct bt_path *path, int code, struct berth_error *err)
{
	if (path == NULL || err == NULL) {
		return code;
	}
	struct bt_strbuf text = {0};
	append_path(&text, path);
	(void)bt_error_wrap(err, code, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}
