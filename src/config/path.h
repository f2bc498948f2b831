/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_PATH_H
#define BT_CONFIG_PATH_H
/**
 * Where in the document a value is. A chain of frames on the callers' stacks, rendered only when a
 * message needs it. NULL is the empty path.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

struct bt_path {
	const struct bt_path *parent;
	struct bt_str name; /* member; absent: index counts */
	uint32_t index;
};

#define BT_PATH_NAME(parent_path, literal) \
	(&(const struct bt_path){(parent_path), BT_STR_INIT(literal), 0})
#define BT_PATH_STR(parent_path, text) (&(const struct bt_path){(parent_path), (text), 0})
#define BT_PATH_INDEX(parent_path, position) \
	(&(const struct bt_path){(parent_path), {NULL, 0}, (position)})

/** "profiles[0].plugins.score" */
void bt_path_render(const struct bt_path *path, struct bt_strbuf *out);
/** Without indexes: "profiles.plugins.score". */
void bt_path_render_names(const struct bt_path *path, struct bt_strbuf *out);
#endif
