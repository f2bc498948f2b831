/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_TLS_OPTIONS_H
#define BT_NET_TLS_OPTIONS_H
/**
 * What a TLS server offers, in the words of the flags that choose it. Spec: 11 section 4.3. No
 * memory, no state: texts in, GnuTLS's priority string out.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

enum bt_tls_version {
	BT_TLS_VERSION_DEFAULT, /* 1.2 */
	BT_TLS_VERSION_10,
	BT_TLS_VERSION_11,
	BT_TLS_VERSION_12,
	BT_TLS_VERSION_13,
};

/** All zero: the defaults. */
struct bt_tls_options {
	enum bt_tls_version min_version;
	/** IANA names, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"; none: the default suites. They
	 * choose for TLS 1.2 and older; the suites of TLS 1.3 are all offered always. */
	const char *const *cipher_suites;
	uint32_t cipher_suite_count;
	/** Ids of the IANA registry of supported groups, in order; none: the default curves. */
	const uint32_t *curves;
	uint32_t curve_count;
};

/** "VersionTLS12"; "" is the default. BERTH_ERR_INVALID: `unknown tls version "X"`. */
BT_MUST_USE int bt_tls_version_parse(
	struct bt_str text, enum bt_tls_version *out_version, struct berth_error *err);
/** Whether upstream accepts the name; out_is_insecure: it warns. */
bool bt_tls_cipher_suite_is_known(const char *name, bool *out_is_insecure);
/**
 * Appends. BERTH_ERR_INVALID: `Cipher suite X not supported or doesn't exist`, or nothing is left
 * that GnuTLS can do. GnuTLS chooses key exchange, cipher and MAC one by one, so suites that mix
 * what was named are possible; what no name mentions is not.
 */
BT_MUST_USE int bt_tls_priorities(
	const struct bt_tls_options *options, struct bt_strbuf *out, struct berth_error *err);
#endif
