/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_PEM_H
#define BT_CLIENT_PEM_H
/** Are these certificates usable? With the errors of spec 13 sections 6.4 and 6.5. */
#include "base/error.h"
#include "base/str.h"

/**
 * A bundle of roots. "unable to load root certificates: unable to parse bytes as PEM block",
 * "... failed to parse certificate: <err>", "... no valid certificate authority data seen".
 */
BT_MUST_USE int bt_client_pem_check_roots(struct bt_str pem, struct berth_error *err);
/** A certificate, perhaps with intermediates, and its key. The TLS library's words. */
BT_MUST_USE int bt_client_pem_check_pair(
	struct bt_str certificate, struct bt_str key, struct berth_error *err);
#endif
