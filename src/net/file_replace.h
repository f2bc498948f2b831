/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_FILE_REPLACE_H
#define BT_NET_FILE_REPLACE_H
/** Writes files as a whole, and creates folders. */
#include "base/compiler.h"
#include "base/str.h"

/** Writes all bytes to the descriptor. Returns 0 or an errno. */
int bt_write_all(int fd, const char *data, size_t length);
/**
 * Replaces a file atomically, so that a reader never sees a partial key or certificate.
 * Writes a temporary file beside path, syncs it, then renames it. mode: permissions of the new
 * file, as for chmod. A device or a pipe is written in place. Returns 0 or an errno.
 */
BT_MUST_USE int bt_file_replace(const char *path, unsigned int mode, struct bt_str content);
/**
 * Creates the folder and its parents, unless they exist. Returns 0 or an errno; then the path ends
 * at the folder that could not be created.
 */
BT_MUST_USE int bt_make_folders(char *path, unsigned int mode);
#endif
