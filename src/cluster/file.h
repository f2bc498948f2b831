/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_FILE_H
#define BT_CLUSTER_FILE_H
/**
 * A whole input file in memory: regular files are mapped, pipes and gzipped files are read. The
 * bytes are followed by nothing: users go by the length.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** Most bytes of a mapped file. */
#define BT_FILE_MAPPED_BYTES_MAX ((size_t)UINT32_MAX)
/** Most bytes of what must be held in memory: pipes, and gzipped files once unpacked. */
#define BT_FILE_READ_BYTES_MAX ((size_t)2 << 30)

struct bt_file {
	const char *data; /* never NULL */
	size_t length;
	bool mapped;
};

/**
 * path "-" reads standard input. Messages carry no path: "no such file or directory". Returns 0,
 * BERTH_ERR_IO or BERTH_ERR_TOO_LARGE (more than bytes_max, or than the limits above).
 */
BT_MUST_USE int bt_file_read(
	const char *path, size_t bytes_max, struct bt_file *out_file, struct berth_error *err);
void bt_file_finish(struct bt_file *file);
/** The first byte that is not white space opens a JSON value; a byte order mark does not count. */
bool bt_file_is_json(const struct bt_file *file);
#endif
