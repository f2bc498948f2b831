/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_IP_H
#define BT_CEL_IP_H
/** Texts of addresses and networks, read and written as Go's net/netip does. Spec: 12b section 9.9.
 */
#include "base/error.h"
#include "base/strbuf.h"
#include "cel/value.h"

/**
 * err: `ParseAddr("x"): unable to parse IP` and the like. *out_has_zone: "%eth0" stands at the end
 * (which the result leaves out).
 */
BT_MUST_USE int bt_cel_ip_parse(
	struct bt_str text, struct bt_cel_ip *out_ip, bool *out_has_zone, struct berth_error *err);
/** err: `netip.ParsePrefix("x"): no '/'` and the like. Bits behind the prefix stay. */
BT_MUST_USE int bt_cel_cidr_parse(
	struct bt_str text, struct bt_cel_cidr *out_cidr, struct berth_error *err);
/** An IPv4 address in the clothes of IPv6: ::ffff:a.b.c.d */
bool bt_cel_ip_is_mapped(const struct bt_cel_ip *ip);

void bt_cel_ip_print(const struct bt_cel_ip *ip, struct bt_strbuf *out);
void bt_cel_cidr_print(const struct bt_cel_cidr *cidr, struct bt_strbuf *out);
#endif
