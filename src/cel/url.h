/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_URL_H
#define BT_CEL_URL_H
/** URLs as Go's url.ParseRequestURI takes them: absolute paths and absolute URIs. Spec: 12b section
 * 9.6. */
#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

struct bt_cel_url {
	struct bt_str text;   /* the source, its scheme in small letters */
	struct bt_str scheme; /* small letters, "" for none */
	struct bt_str host;   /* with the port, unescaped */
	struct bt_str path;   /* as it was written */
	struct bt_str query;  /* behind the "?" */
};

/** The result is in the arena. err: `parse "x": invalid URI for request` and the like. */
BT_MUST_USE int bt_cel_url_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_cel_url *out_url, struct berth_error *err);
/** Without port and brackets, and the port. */
struct bt_str bt_cel_url_hostname(const struct bt_cel_url *url);
struct bt_str bt_cel_url_port(const struct bt_cel_url *url);
/** The path, escaped where it has to be. */
void bt_cel_url_escaped_path(const struct bt_cel_url *url, struct bt_strbuf *out);
/** Part of a query in plain text, "+" being a blank; false: a bad escape. */
BT_MUST_USE bool bt_cel_url_unescape_query(struct bt_str text, struct bt_strbuf *out);
#endif
