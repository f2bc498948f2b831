/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_FILE_REPLACE_H
#define BT_NET_FILE_REPLACE_H
/** Replaces files with keys and certificates atomically: a reader never sees a partial file. */
#include "base/compiler.h"
#include "base/str.h"

/**
 * Writes a temporary file beside path, syncs it, then renames it. mode: permissions of the new
 * file, as for chmod. Returns 0 or an errno.
 */
BT_MUST_USE int bt_file_replace(const char *path, unsigned int mode, struct bt_str content);
#endif
