/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_FILE_H
#define BT_CLIENT_FILE_H
/** Reads credential files as a whole, with the error texts of Go's library. */
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

/**
 * Appends the content of the file to out. Errors: "open <path>: permission denied", "read <path>:
 * is a directory"; BERTH_ERR_NOT_FOUND, BERTH_ERR_IO, BERTH_ERR_TOO_LARGE beyond bytes_max. Pipes
 * and devices are read without waiting for data.
 */
BT_MUST_USE int bt_client_file_read(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err);
/**
 * Like bt_client_file_read, but waits for data of a pipe, without blocking signals. For files that
 * are read only at start.
 */
BT_MUST_USE int bt_client_file_read_waiting(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err);

/** Identifies a version of a file: differs after the file was replaced or written. */
struct bt_client_file_stamp {
	uint64_t device;
	uint64_t inode;
	int64_t bytes;
	int64_t modified_ns;
	bool exists;
};

/** Sets *stamp to the file's current version. Returns true if *stamp had another version before. */
bool bt_client_file_stamp_update(struct bt_client_file_stamp *stamp, const char *path);
/**
 * Sets the error "<what> <path>: <text>" with the text of the errno value `number`, as Go words it
 * ("permission denied"). Returns BERTH_ERR_NOT_FOUND for ENOENT, else BERTH_ERR_IO.
 */
int bt_client_file_fail(const char *what, const char *path, int number, struct berth_error *err);

/**
 * Checks a bundle of roots. Errors: "unable to load root certificates: unable to parse bytes as PEM
 * block", "... failed to parse certificate: <err>", "... no valid certificate authority data seen".
 * Spec: 13 sections 6.4 and 6.5.
 */
BT_MUST_USE int bt_client_pem_check_roots(struct bt_str pem, struct berth_error *err);
/**
 * Checks that certificate (with optional intermediates) and key match. Errors begin with "tls: ":
 * Go's texts for missing PEM data and for a mismatch, else the text of GnuTLS.
 */
BT_MUST_USE int bt_client_pem_check_pair(
	struct bt_str certificate, struct bt_str key, struct berth_error *err);

#endif
