/* SPDX-License-Identifier: Apache-2.0 */
#include "config/path.h"

static void render(const struct bt_path *path, bool indexes, struct bt_strbuf *out, size_t start)
{
	if (path == NULL) {
		return;
	}
	render(path->parent, indexes, out, start);
	if (path->name.data != NULL) {
		if (out->length > start) {
			bt_strbuf_append_char(out, '.');
		}
		bt_strbuf_append_str(out, path->name);
	} else if (indexes) {
		bt_strbuf_printf(out, "[%lu]", (unsigned long)path->index);
	}
}

void bt_path_render(const struct bt_path *path, struct bt_strbuf *out)
{
	render(path, true, out, out->length);
}

void bt_path_render_names(const struct bt_path *path, struct bt_strbuf *out)
{
	render(path, false, out, out->length);
}
