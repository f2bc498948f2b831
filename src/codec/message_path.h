/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_PATH_H
#define BT_CODEC_MESSAGE_PATH_H
/**
 * Where in a message the decoder is, for error texts: "spec.containers[3].image". Private to the
 * message decoder.
 */
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum bt_path_kind {
	BT_PATH_FIELD,
	BT_PATH_INDEX,
	BT_PATH_KEY,
};

/** One step; the chain of parents lies on the C stack of the decoder. */
struct bt_path {
	const struct bt_path *parent;
	enum bt_path_kind kind;
	uint32_t index;
	struct bt_str name; /* field name or map key */
};

/** Put the path before the message that was just set. path may be NULL. Returns code. */
BT_COLD int bt_path_fail(const struct bt_path *path, int code, struct berth_error *err);
#endif
