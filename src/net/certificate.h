/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_CERTIFICATE_H
#define BT_NET_CERTIFICATE_H
/** Keys and certificates made for a server that has none: a CA, and a server pair signed by it. */
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/** PEM texts, zero-terminated in their buffers. All-zero memory is empty. */
struct bt_certificate_pair {
	struct bt_strbuf certificate;
	struct bt_strbuf key;
};

void bt_certificate_pair_finish(struct bt_certificate_pair *pair);
/** A self-signed CA (EC P-256), valid from a day before now for ten years. */
BT_MUST_USE int bt_certificate_make_ca(const char *common_name, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err);
/** names: DNS names and IP addresses for subjectAltName; valid from a day before now for a year. */
BT_MUST_USE int bt_certificate_make_server(const struct bt_certificate_pair *ca,
	const char *const *names, uint32_t name_count, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err);
/** The pair is readable, fits together, and is valid for one more day at least. */
BT_MUST_USE int bt_certificate_check(
	const struct bt_certificate_pair *pair, int64_t now_seconds, struct berth_error *err);
/** count random bytes, in hexadecimal. */
BT_MUST_USE int bt_random_hex(uint32_t count, struct bt_strbuf *out, struct berth_error *err);
#endif
