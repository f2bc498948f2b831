/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_SERVING_TLS_H
#define BT_DAEMON_SERVING_TLS_H
/**
 * The pairs of certificate and key that the HTTPS endpoints present. A pair is read from files, and
 * again when the files change; without files, a self-signed pair is created. Spec: 11 sections 4.3
 * and 9.1.
 */
#include "daemon/options.h"
#include "net/http_server.h"

struct bt_serving_tls;

/**
 * Read the files, or create a pair (step 6 of spec 11 section 6.1). Fails with flag and file, or
 * with `error creating self-signed certificates: ...`. options: borrowed. now_seconds: since 1970.
 */
BT_MUST_USE int bt_serving_tls_create(const struct bt_serving_options *options, int64_t now_seconds,
	struct bt_serving_tls **out_serving, struct berth_error *err);
void bt_serving_tls_destroy(struct bt_serving_tls *serving);
/** Set *out_certificates to the current pairs; borrowed until the next refresh. */
void bt_serving_tls_certificates(
	const struct bt_serving_tls *serving, struct bt_http_certificates *out_certificates);
/**
 * Check the files, and read files that have changed. is_due: read all files, even if they look
 * unchanged. Returns whether a pair has changed. On an error, which is logged, the old pair stays.
 */
BT_MUST_USE bool bt_serving_tls_refresh(struct bt_serving_tls *serving, bool is_due);
/** True if a pair comes from files. */
bool bt_serving_tls_has_files(const struct bt_serving_tls *serving);
#endif
