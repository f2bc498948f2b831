/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/path.h"

/** Maximum bytes of a map key or member name in a message. */
#define NAME_SHOWN_MAX 64

enum {
	MEMBERS_ONLY = 1,
	SHOWN = 2, /* for messages: shorten names, replace control and non-ASCII characters */
};

static void render(const struct bt_path *path, int flags, struct bt_strbuf *out, size_t start)
{
	if (path == NULL) {
		return;
	}
	render(path->parent, flags, out, start);
	bool is_member = path->step == BT_STEP_MEMBER;
	if (!is_member && (flags & MEMBERS_ONLY) != 0) {
		return;
	}
	if (path->step == BT_STEP_INDEX) {
		bt_strbuf_printf(out, "[%u]", path->index);
		return;
	}
	if (!is_member || out->length > start) {
		bt_strbuf_append_char(out, is_member ? '.' : '[');
	}
	if ((flags & SHOWN) != 0) {
		struct bt_str name = path->name;
		uint32_t shown = BT_MIN(name.length, NAME_SHOWN_MAX);
		for (uint32_t i = 0; i < shown; i++) {
			unsigned char c = (unsigned char)name.data[i];
			bt_strbuf_append_char(out, c < 0x20 || c >= 0x7f ? '?' : (char)c);
		}
		if (shown < name.length) {
			bt_strbuf_append_c(out, "...");
		}
	} else {
		bt_strbuf_append_str(out, path->name);
	}
	if (!is_member) {
		bt_strbuf_append_char(out, ']');
	}
}

void bt_path_render(const struct bt_path *path, struct bt_strbuf *out)
{
	render(path, 0, out, out->length);
}

void bt_path_render_members(const struct bt_path *path, struct bt_strbuf *out)
{
	render(path, MEMBERS_ONLY, out, out->length);
}

int bt_path_fail(const struct bt_path *path, int code, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	if (path == NULL || err == NULL) {
		return code;
	}
	render(path, SHOWN, &text, 0);
	(void)bt_error_wrap(err, code, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}
