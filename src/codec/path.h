/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_PATH_H
#define BT_CODEC_PATH_H
/**
 * Position of a value in a document: a chain of steps on the C stack, formatted only for error
 * messages. A NULL path is the root.
 */
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

enum bt_path_step {
	BT_STEP_MEMBER,
	BT_STEP_INDEX,
	BT_STEP_KEY, /* map key */
};

struct bt_path {
	const struct bt_path *parent;
	struct bt_str name; /* member name, or map key */
	enum bt_path_step step;
	uint32_t index;
};

/**
 * Create a path one step below a parent path, valid until the end of the block. BT_PATH_NAME takes
 * a C string, BT_PATH_STR a struct bt_str.
 */
#define BT_PATH_NAME(parent_, name_) BT_PATH_STR(parent_, bt_str_from(name_))
#define BT_PATH_STR(parent_, name_) (&(const struct bt_path){.parent = (parent_), .name = (name_)})
#define BT_PATH_INDEX(parent_, index_) \
	(&(const struct bt_path){ \
		.parent = (parent_), .step = BT_STEP_INDEX, .index = (uint32_t)(index_)})
#define BT_PATH_KEY(parent_, key_) \
	(&(const struct bt_path){.parent = (parent_), .name = (key_), .step = BT_STEP_KEY})

/** Appends the path: "spec.containers[0].resources.limits[cpu]". */
void bt_path_render(const struct bt_path *path, struct bt_strbuf *out);
/** Appends a path that has only members: "profiles.plugins.score". */
void bt_path_render_members(const struct bt_path *path, struct bt_strbuf *out);
/**
 * Prefixes the message of the last error with the path. Names and keys come from the input: they
 * are shortened, and control and non-ASCII characters are replaced. Returns code.
 */
BT_COLD int bt_path_fail(const struct bt_path *path, int code, struct berth_error *err);
#endif
