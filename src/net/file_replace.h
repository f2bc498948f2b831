/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_FILE_REPLACE_H
#define BT_NET_FILE_REPLACE_H
/** Files with keys and certificates, written so that a reader never sees half of one. */
#include "base/compiler.h"
#include "base/str.h"

/**
 * Written beside it, made durable, then renamed. mode: of the new file, as chmod takes it. Returns
 * 0 or an errno.
 */
BT_MUST_USE int bt_file_replace(const char *path, unsigned int mode, struct bt_str content);
#endif
