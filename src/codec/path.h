/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_PATH_H
#define BT_CODEC_PATH_H
/**
 * Where in a document a value is: a chain of steps on the callers' stacks, rendered only when a
 * message needs it. NULL is the root.
 */
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

enum bt_path_step {
	BT_STEP_MEMBER,
	BT_STEP_INDEX,
	BT_STEP_KEY, /* of a map */
};

struct bt_path {
	const struct bt_path *parent;
	struct bt_str name; /* of a member, or a key */
	enum bt_path_step step;
	uint32_t index;
};

/** The step below a path, until the end of the block. BT_PATH_NAME takes a C string. */
#define BT_PATH_NAME(parent_, name_) BT_PATH_STR(parent_, bt_str_from(name_))
#define BT_PATH_STR(parent_, name_) (&(const struct bt_path){.parent = (parent_), .name = (name_)})
#define BT_PATH_INDEX(parent_, index_) \
	(&(const struct bt_path){ \
		.parent = (parent_), .step = BT_STEP_INDEX, .index = (uint32_t)(index_)})
#define BT_PATH_KEY(parent_, key_) \
	(&(const struct bt_path){.parent = (parent_), .name = (key_), .step = BT_STEP_KEY})

/** "spec.containers[0].resources.limits[cpu]", appended. */
void bt_path_render(const struct bt_path *path, struct bt_strbuf *out);
/** Members only: "profiles.plugins.score". */
void bt_path_render_members(const struct bt_path *path, struct bt_strbuf *out);
/**
 * Put the path before the message that was just set. Names and keys come from the input: they are
 * shortened, without anything that a terminal or a log would act upon. Returns code.
 */
BT_COLD int bt_path_fail(const struct bt_path *path, int code, struct berth_error *err);
#endif
