/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cel/functions.h"
#include "cel/ip.h"
#include "cel/text.h"

/* Addresses and networks. Spec: 12b section 9.9. */

static int parse_ip(struct bt_str text, struct bt_cel_ip *out, struct berth_error *err)
{
	struct berth_error problem = BERTH_ERROR_INIT;
	struct bt_strbuf after = {NULL, 0, 0};
	bool has_zone;
	int code = bt_cel_ip_parse(text, out, &has_zone, &problem);

	if (code != 0) {
		bt_strbuf_printf(&after, " parse error during conversion from string: %s",
			berth_error_message(&problem));
		code = bt_cel_refuse(err, "IP Address ", text, bt_strbuf_c(&after));
	} else if (has_zone) {
		code = bt_cel_refuse(err, "IP address ", text, " with zone value is not allowed");
	} else if (bt_cel_ip_is_mapped(out)) {
		code = bt_cel_refuse(err, "IPv4-mapped IPv6 address ", text, " is not allowed");
	}
	bt_strbuf_finish(&after);
	berth_error_finish(&problem);
	return code;
}

static int parse_cidr(struct bt_str text, struct bt_cel_cidr *out, struct berth_error *err)
{
	/* Upstream says it twice. */
	static const char prefix[] = "network address parse error during conversion from string";
	int code = bt_cel_cidr_parse(text, out, err);

	if (code != 0) {
		return bt_error_wrap(err, code, "%s: %s", prefix, prefix);
	}
	if (bt_cel_ip_is_mapped(&out->ip)) {
		return bt_cel_refuse(err, "IPv4-mapped IPv6 address ", text, " is not allowed");
	}
	return 0;
}

/* --- addresses --- */

static struct bt_cel_value make_ip(struct bt_cel_evaluation *evaluation, const struct bt_cel_ip *ip)
{
	struct bt_cel_value result = {.kind = BT_CEL_IP};
	struct bt_cel_ip *copy = bt_cel_alloc(evaluation, 1, sizeof(*copy));

	if (copy == NULL) {
		return evaluation->stop;
	}
	*copy = *ip;
	result.ip = copy;
	return result;
}

struct bt_cel_value bt_cel_fn_ip(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_ip ip;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return parse_ip(arguments[0].text, &ip, &err) == 0 ? make_ip(evaluation, &ip)
							   : bt_cel_fail_error(evaluation, &err);
}

struct bt_cel_value bt_cel_fn_is_ip(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_ip ip;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(parse_ip(arguments[0].text, &ip, NULL) == 0);
}

struct bt_cel_value bt_cel_fn_ip_is_canonical(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf canonical = {NULL, 0, 0};
	struct bt_cel_ip ip;
	bool is_canonical;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 2)) {
		return evaluation->stop;
	}
	if (parse_ip(arguments[0].text, &ip, &err) != 0) {
		return bt_cel_fail_error(evaluation, &err);
	}
	bt_cel_ip_print(&ip, &canonical);
	is_canonical = bt_str_equal(arguments[0].text, bt_strbuf_str(&canonical));
	bt_strbuf_finish(&canonical);
	return bt_cel_bool(is_canonical);
}

struct bt_cel_value bt_cel_fn_ip_family(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_int(arguments[0].ip->is_v6 ? 6 : 4)
					    : evaluation->stop;
}

/* --- kinds of addresses --- */

/** The first bits of ip are those of the bytes. */
static bool has_prefix(const struct bt_cel_ip *ip, const uint8_t *bytes, uint32_t bits)
{
	uint32_t whole = bits / 8;

	if (memcmp(ip->bytes, bytes, whole) != 0) {
		return false;
	}
	return bits % 8 == 0 || ((ip->bytes[whole] ^ bytes[whole]) >> (8 - bits % 8)) == 0;
}

static bool is_unspecified(const struct bt_cel_ip *ip)
{
	static const uint8_t zero[16];

	return has_prefix(ip, zero, ip->is_v6 ? 128 : 32);
}

static bool is_loopback(const struct bt_cel_ip *ip)
{
	static const uint8_t one[16] = {[15] = 1};

	return ip->is_v6 ? has_prefix(ip, one, 128) : ip->bytes[0] == 127;
}

static bool is_link_local_multicast(const struct bt_cel_ip *ip)
{
	static const uint8_t v4[] = {224, 0, 0};

	return ip->is_v6 ? ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 2
			 : has_prefix(ip, v4, 24);
}

static bool is_link_local_unicast(const struct bt_cel_ip *ip)
{
	static const uint8_t v4[] = {169, 254};
	static const uint8_t v6[] = {0xfe, 0x80};

	return ip->is_v6 ? has_prefix(ip, v6, 10) : has_prefix(ip, v4, 16);
}

static bool is_global_unicast(const struct bt_cel_ip *ip)
{
	static const uint8_t broadcast[] = {255, 255, 255, 255};
	bool is_multicast = ip->is_v6 ? ip->bytes[0] == 0xff : (ip->bytes[0] & 0xf0) == 0xe0;

	return !is_multicast && !is_unspecified(ip) && !is_loopback(ip) &&
		!is_link_local_unicast(ip) && (ip->is_v6 || !has_prefix(ip, broadcast, 32));
}

static struct bt_cel_value test(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, bool (*is)(const struct bt_cel_ip *))
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_bool(is(arguments[0].ip)) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_ip_is_unspecified(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test(evaluation, arguments, is_unspecified);
}

struct bt_cel_value bt_cel_fn_ip_is_loopback(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test(evaluation, arguments, is_loopback);
}

struct bt_cel_value bt_cel_fn_ip_is_link_local_multicast(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test(evaluation, arguments, is_link_local_multicast);
}

struct bt_cel_value bt_cel_fn_ip_is_link_local_unicast(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test(evaluation, arguments, is_link_local_unicast);
}

struct bt_cel_value bt_cel_fn_ip_is_global_unicast(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test(evaluation, arguments, is_global_unicast);
}

/* --- networks --- */

static struct bt_cel_value make_cidr(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_cidr *cidr)
{
	struct bt_cel_value result = {.kind = BT_CEL_CIDR};
	struct bt_cel_cidr *copy = bt_cel_alloc(evaluation, 1, sizeof(*copy));

	if (copy == NULL) {
		return evaluation->stop;
	}
	*copy = *cidr;
	result.cidr = copy;
	return result;
}

struct bt_cel_value bt_cel_fn_cidr(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_cidr cidr;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return parse_cidr(arguments[0].text, &cidr, &err) == 0
		? make_cidr(evaluation, &cidr)
		: bt_cel_fail_error(evaluation, &err);
}

struct bt_cel_value bt_cel_fn_is_cidr(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_cidr cidr;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(parse_cidr(arguments[0].text, &cidr, NULL) == 0);
}

static bool contains(const struct bt_cel_cidr *cidr, const struct bt_cel_ip *ip)
{
	return cidr->ip.is_v6 == ip->is_v6 && has_prefix(ip, cidr->ip.bytes, cidr->prefix_length);
}

struct bt_cel_value bt_cel_fn_cidr_contains_ip(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_ip parsed;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (arguments[1].kind == BT_CEL_IP) {
		return bt_cel_bool(contains(arguments[0].cidr, arguments[1].ip));
	}
	if (!bt_cel_charge_work(evaluation, arguments[1].text.length)) {
		return evaluation->stop;
	}
	return parse_ip(arguments[1].text, &parsed, &err) == 0
		? bt_cel_bool(contains(arguments[0].cidr, &parsed))
		: bt_cel_fail_error(evaluation, &err);
}

struct bt_cel_value bt_cel_fn_cidr_contains_cidr(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_cel_cidr *outer = arguments[0].cidr;
	const struct bt_cel_cidr *inner = arguments[1].cidr;
	struct bt_cel_cidr parsed;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (arguments[1].kind == BT_CEL_STRING) {
		if (!bt_cel_charge_work(evaluation, arguments[1].text.length)) {
			return evaluation->stop;
		}
		if (parse_cidr(arguments[1].text, &parsed, &err) != 0) {
			return bt_cel_fail_error(evaluation, &err);
		}
		inner = &parsed;
	}
	return bt_cel_bool(
		outer->prefix_length <= inner->prefix_length && contains(outer, &inner->ip));
}

struct bt_cel_value bt_cel_fn_cidr_ip(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_value result = {.kind = BT_CEL_IP};

	result.ip = &arguments[0].cidr->ip;
	return bt_cel_charge(evaluation, 1) ? result : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_cidr_prefix_length(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_int(arguments[0].cidr->prefix_length)
					    : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_cidr_masked(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_cidr masked = *arguments[0].cidr;
	uint32_t size = masked.ip.is_v6 ? 16 : 4;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	for (uint32_t bit = masked.prefix_length; bit < size * 8; bit++) {
		masked.ip.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	}
	return make_cidr(evaluation, &masked);
}
