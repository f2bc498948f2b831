/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_FILE_H
#define BT_CLIENT_FILE_H
/** Files with credentials, read whole, with the errors of Go's library. */
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

/**
 * Append the content. "open <path>: permission denied", "read <path>: is a directory";
 * BERTH_ERR_NOT_FOUND, BERTH_ERR_IO, BERTH_ERR_TOO_LARGE beyond bytes_max. Pipes and devices are
 * read too, but nothing is waited for.
 */
BT_MUST_USE int bt_client_file_read(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err);
/** The same for files that are read at the start only: a pipe is waited for. */
BT_MUST_USE int bt_client_file_read_waiting(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err);
/** It can be opened. */
BT_MUST_USE int bt_client_file_check(const char *path, struct berth_error *err);

/** What tells that a file was replaced or written. */
struct bt_client_file_stamp {
	uint64_t device;
	uint64_t inode;
	int64_t bytes;
	int64_t modified_ns;
	bool exists;
};

struct bt_client_file_stamp bt_client_file_stamp(const char *path);
bool bt_client_file_stamp_equal(
	const struct bt_client_file_stamp *a, const struct bt_client_file_stamp *b);
/** "permission denied": an errno as Go names it. */
const char *bt_client_file_errno(int number, char *buffer, size_t size);

/**
 * A bundle of roots. "unable to load root certificates: unable to parse bytes as PEM block",
 * "... failed to parse certificate: <err>", "... no valid certificate authority data seen".
 * Spec: 13 sections 6.4 and 6.5.
 */
BT_MUST_USE int bt_client_pem_check_roots(struct bt_str pem, struct berth_error *err);
/** A certificate, perhaps with intermediates, and its key. The TLS library's words. */
BT_MUST_USE int bt_client_pem_check_pair(
	struct bt_str certificate, struct bt_str key, struct berth_error *err);

#endif
