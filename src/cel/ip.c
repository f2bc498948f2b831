/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/function.h"

#include <string.h>

#include "cel/text.h"

#define IPV6_BYTES 16u

/**
 * A text that is being parsed. After a failure, message is the error message, and `at` is the rest
 * of the text that the message quotes; `at` is empty if the message quotes nothing.
 */
struct reader {
	struct bt_str text;
	const char *message;
	struct bt_str at;
};

static bool set_message(struct reader *reader, const char *message)
{
	reader->message = message;
	return false;
}

static bool fail_at(struct reader *reader, const char *message, struct bt_str at)
{
	reader->at = at;
	return set_message(reader, message);
}

static struct bt_str skip(struct bt_str text, uint32_t count)
{
	return bt_str_sub(text, count, text.length);
}

static bool read_v4(struct reader *reader, struct bt_str text, uint8_t *out)
{
	uint32_t value = 0;
	uint32_t digits = 0;
	uint32_t field = 0;

	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (bt_is_digit(c)) {
			if (digits == 1 && value == 0) {
				return set_message(
					reader, "IPv4 field has octet with leading zero");
			}
			value = value * 10 + (uint32_t)(c - '0');
			digits++;
			if (value > 255) {
				return set_message(reader, "IPv4 field has value >255");
			}
		} else if (c == '.') {
			if (i == 0 || i == text.length - 1 || text.data[i - 1] == '.') {
				return fail_at(reader, "IPv4 field must have at least one digit",
					skip(text, i));
			}
			if (field == 3) {
				return set_message(reader, "IPv4 address too long");
			}
			out[field++] = (uint8_t)value;
			value = 0;
			digits = 0;
		} else {
			return fail_at(reader, "unexpected character", skip(text, i));
		}
	}
	if (field < 3) {
		return set_message(reader, "IPv4 address too short");
	}
	out[3] = (uint8_t)value;
	return true;
}

/** Reads up to four hexadecimal digits; *out_length: number of digits. */
static bool read_group(
	struct reader *reader, struct bt_str text, uint32_t *out_value, uint32_t *out_length)
{
	uint32_t value = 0;
	uint32_t length = 0;

	while (length < text.length && bt_hex_value(text.data[length]) >= 0) {
		value = value << 4 | (uint32_t)bt_hex_value(text.data[length]);
		if (++length > 4) {
			return fail_at(reader, "each group must have 4 or less digits", text);
		}
	}
	if (length == 0) {
		return fail_at(
			reader, "each colon-separated field must have at least one digit", text);
	}
	*out_value = value;
	*out_length = length;
	return true;
}

/** State of parsing an IPv6 address. */
struct groups {
	uint8_t bytes[IPV6_BYTES];
	uint32_t count;  /* bytes read so far */
	bool has_gap;    /* "::" */
	uint32_t gap_at; /* bytes read before the "::" */
};

/** Reads ":" or "::" between groups. */
static bool read_colons(struct reader *reader, struct groups *groups, struct bt_str *text)
{
	if (text->data[0] != ':') {
		return fail_at(reader, "unexpected character, want colon", *text);
	}
	if (text->length == 1) {
		return fail_at(reader, "colon must be followed by more characters", *text);
	}
	*text = skip(*text, 1);
	if (text->data[0] != ':') {
		return true;
	}
	if (groups->has_gap) {
		return fail_at(reader, "multiple :: in address", *text);
	}
	groups->has_gap = true;
	groups->gap_at = groups->count;
	*text = skip(*text, 1);
	return true;
}

/** Reads groups until the text ends or 16 bytes have been read; *text is the unread rest. */
static bool read_groups(struct reader *reader, struct groups *groups, struct bt_str *text)
{
	while (groups->count < IPV6_BYTES && text->length != 0) {
		uint32_t value;
		uint32_t length;

		if (!read_group(reader, *text, &value, &length)) {
			return false;
		}
		if (length < text->length && text->data[length] == '.') {
			struct bt_str v4 = *text;

			*text = skip(*text, text->length);
			if (!groups->has_gap && groups->count != IPV6_BYTES - 4) {
				return fail_at(reader,
					"embedded IPv4 address must replace the final 2 fields of "
					"the address",
					v4);
			}
			if (groups->count + 4 > IPV6_BYTES) {
				return fail_at(reader,
					"too many hex fields to fit an embedded IPv4 at the end of "
					"the address",
					v4);
			}
			if (!read_v4(reader, v4, groups->bytes + groups->count)) {
				return false;
			}
			groups->count += 4;
			return true;
		}
		groups->bytes[groups->count++] = (uint8_t)(value >> 8);
		groups->bytes[groups->count++] = (uint8_t)value;
		*text = skip(*text, length);
		if (text->length != 0 && !read_colons(reader, groups, text)) {
			return false;
		}
	}
	return true;
}

static bool read_v6(struct reader *reader, struct bt_str text, uint8_t *out)
{
	struct groups groups = {.count = 0};

	if (bt_str_has_prefix(text, BT_STR("::"))) {
		groups.has_gap = true;
		text = skip(text, 2);
	} else if (text.length == 0) {
		return fail_at(
			reader, "each colon-separated field must have at least one digit", text);
	}
	if (!read_groups(reader, &groups, &text)) {
		return false;
	}
	if (text.length != 0) {
		return fail_at(reader, "trailing garbage after address", text);
	}
	if (!groups.has_gap && groups.count < IPV6_BYTES) {
		return set_message(reader, "address string too short");
	}
	if (groups.has_gap && groups.count == IPV6_BYTES) {
		return set_message(reader, "the :: must expand to at least one field of zeros");
	}
	memset(out, 0, IPV6_BYTES);
	uint32_t behind = groups.has_gap ? groups.count - groups.gap_at : 0;
	memcpy(out, groups.bytes, groups.count - behind);
	memcpy(out + IPV6_BYTES - behind, groups.bytes + groups.count - behind, behind);
	return true;
}

static bool read_ip(struct reader *reader, struct bt_cel_ip *out, bool *out_has_zone)
{
	struct bt_str text = reader->text;
	uint32_t at = 0;

	memset(out, 0, sizeof(*out));
	*out_has_zone = false;
	while (at < text.length && text.data[at] != '.' && text.data[at] != ':' &&
		text.data[at] != '%') {
		at++;
	}
	if (at == text.length) {
		return set_message(reader, "unable to parse IP");
	}
	if (text.data[at] == '%') {
		return set_message(reader, "missing IPv6 address");
	}
	if (text.data[at] == '.') {
		return read_v4(reader, text, out->bytes);
	}
	out->is_v6 = true;
	int64_t zone = bt_str_find_char(text, '%');
	*out_has_zone = zone >= 0;
	if (zone == (int64_t)text.length - 1) {
		return set_message(reader, "zone must be a non-empty string");
	}
	return read_v6(reader, zone >= 0 ? bt_str_sub(text, 0, (uint32_t)zone) : text, out->bytes);
}

int bt_cel_ip_parse(
	struct bt_str text, struct bt_cel_ip *out_ip, bool *out_has_zone, struct berth_error *err)
{
	struct reader reader = {.text = text};
	struct bt_strbuf message = {NULL, 0, 0};

	if (read_ip(&reader, out_ip, out_has_zone)) {
		return 0;
	}
	bt_strbuf_append_c(&message, "ParseAddr(");
	bt_strbuf_append_quoted(&message, text);
	bt_strbuf_printf(&message, "): %s", reader.message);
	if (reader.at.length != 0) {
		bt_strbuf_append_c(&message, " (at ");
		bt_strbuf_append_quoted(&message, reader.at);
		bt_strbuf_append_c(&message, ")");
	}
	return bt_error_take(err, BERTH_ERR_INVALID, &message);
}

/** Parses a network. false: *message has the error text after `netip.ParsePrefix("x"): `. */
static bool read_cidr(struct bt_str text, struct bt_cel_cidr *out, struct bt_strbuf *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t slash = bt_str_find_last_char(text, '/');
	bool has_zone;
	int64_t length;

	if (slash < 0) {
		bt_strbuf_append_c(message, "no '/'");
		return false;
	}
	if (bt_cel_ip_parse(bt_str_sub(text, 0, (uint32_t)slash), &out->ip, &has_zone, &err) != 0) {
		bt_strbuf_append_c(message, berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	if (has_zone) {
		bt_strbuf_append_c(message, "IPv6 zones cannot be present in a prefix");
		return false;
	}
	struct bt_str bits = skip(text, (uint32_t)slash + 1);
	bool is_plain =
		bits.length == 1 || (bits.length > 1 && bits.data[0] >= '1' && bits.data[0] <= '9');
	if (!is_plain || !bt_str_parse_int64(bits, &length)) {
		bt_strbuf_append_c(message, "bad bits after slash: ");
		bt_strbuf_append_quoted(message, bits);
		return false;
	}
	if (length < 0 || length > (out->ip.is_v6 ? 128 : 32)) {
		bt_strbuf_append_c(message, "prefix length out of range");
		return false;
	}
	out->prefix_length = (uint8_t)length;
	return true;
}

int bt_cel_cidr_parse(struct bt_str text, struct bt_cel_cidr *out_cidr, struct berth_error *err)
{
	struct bt_strbuf problem = {NULL, 0, 0};
	struct bt_strbuf message = {NULL, 0, 0};
	int code = 0;

	if (!read_cidr(text, out_cidr, &problem)) {
		bt_strbuf_append_c(&message, "netip.ParsePrefix(");
		bt_strbuf_append_quoted(&message, text);
		code = bt_error_set(err, BERTH_ERR_INVALID, "%s): %s", bt_strbuf_c(&message),
			bt_strbuf_c(&problem));
	}
	bt_strbuf_finish(&problem);
	bt_strbuf_finish(&message);
	return code;
}

/** Whether the address is an IPv4-mapped IPv6 address: ::ffff:a.b.c.d */
static bool is_mapped(const struct bt_cel_ip *ip)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return ip->is_v6 && memcmp(ip->bytes, prefix, sizeof(prefix)) == 0;
}

static uint32_t group_at(const struct bt_cel_ip *ip, uint32_t index)
{
	const uint8_t *group = ip->bytes + (size_t)index * 2;

	return (uint32_t)group[0] << 8 | group[1];
}

void bt_cel_ip_print(const struct bt_cel_ip *ip, struct bt_strbuf *out)
{
	if (!ip->is_v6) {
		bt_strbuf_printf(
			out, "%u.%u.%u.%u", ip->bytes[0], ip->bytes[1], ip->bytes[2], ip->bytes[3]);
		return;
	}
	/*
	 * Find the longest run of two or more zero groups; the first of several longest runs
	 * counts. gap_count 0: there is no such run.
	 */
	uint32_t gap = 0;
	uint32_t gap_count = 0;
	for (uint32_t start = 0; start < 8; start++) {
		uint32_t end = start;

		while (end < 8 && group_at(ip, end) == 0) {
			end++;
		}
		if (end - start > 1 && end - start > gap_count) {
			gap = start;
			gap_count = end - start;
		}
	}
	for (uint32_t i = 0; i < 8; i++) {
		if (gap_count != 0 && i == gap) {
			bt_strbuf_append_c(out, "::");
			i += gap_count - 1;
			continue;
		}
		if (i != 0 && !(gap_count != 0 && i == gap + gap_count)) {
			bt_strbuf_append_char(out, ':');
		}
		bt_strbuf_printf(out, "%x", group_at(ip, i));
	}
}

void bt_cel_cidr_print(const struct bt_cel_cidr *cidr, struct bt_strbuf *out)
{
	bt_cel_ip_print(&cidr->ip, out);
	bt_strbuf_printf(out, "/%u", cidr->prefix_length);
}

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
		code = bt_error_set_quoted(
			err, BERTH_ERR_INVALID, "IP Address ", text, bt_strbuf_c(&after));
	} else if (has_zone) {
		code = bt_error_set_quoted(err, BERTH_ERR_INVALID, "IP address ", text,
			" with zone value is not allowed");
	} else if (is_mapped(out)) {
		code = bt_error_set_quoted(err, BERTH_ERR_INVALID, "IPv4-mapped IPv6 address ",
			text, " is not allowed");
	}
	bt_strbuf_finish(&after);
	berth_error_finish(&problem);
	return code;
}

static int parse_cidr(struct bt_str text, struct bt_cel_cidr *out, struct berth_error *err)
{
	/* Upstream's message contains this prefix twice. */
	static const char prefix[] = "network address parse error during conversion from string";
	int code = bt_cel_cidr_parse(text, out, err);

	if (code != 0) {
		return bt_error_wrap(err, code, "%s: %s", prefix, prefix);
	}
	if (is_mapped(&out->ip)) {
		return bt_error_set_quoted(err, BERTH_ERR_INVALID, "IPv4-mapped IPv6 address ",
			text, " is not allowed");
	}
	return 0;
}

struct bt_cel_value bt_cel_fn_ip(const struct bt_cel_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_ip ip;
	int code = parse_ip(call->arguments[0].text, &ip, &err);

	return bt_cel_answer_parsed(call, code, &err, BT_CEL_IP, &ip, sizeof(ip));
}

struct bt_cel_value bt_cel_fn_ip_is_canonical(const struct bt_cel_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf canonical = {NULL, 0, 0};
	struct bt_cel_ip ip;

	if (!bt_cel_charge_text(call->evaluation, call->arguments[0].text, 2)) {
		return call->evaluation->stop;
	}
	if (parse_ip(call->arguments[0].text, &ip, &err) != 0) {
		return bt_cel_fail_error(call->evaluation, &err);
	}
	bt_cel_ip_print(&ip, &canonical);
	bool is_canonical = bt_str_equal(call->arguments[0].text, bt_strbuf_str(&canonical));
	bt_strbuf_finish(&canonical);
	return bt_cel_bool(is_canonical);
}

struct bt_cel_value bt_cel_fn_ip_family(const struct bt_cel_call *call)
{
	return bt_cel_int(call->arguments[0].ip->is_v6 ? 6 : 4);
}

/** Whether the first `bits` bits of ip are equal to those of bytes. */
static bool has_prefix(const struct bt_cel_ip *ip, const uint8_t *bytes, uint32_t bits)
{
	uint32_t whole = bits / 8;

	if (memcmp(ip->bytes, bytes, whole) != 0) {
		return false;
	}
	return bits % 8 == 0 || ((ip->bytes[whole] ^ bytes[whole]) >> (8 - bits % 8)) == 0;
}

struct bt_cel_value bt_cel_fn_ip_test(const struct bt_cel_call *call)
{
	static const uint8_t zero[16];
	static const uint8_t one[16] = {[15] = 1};
	static const uint8_t multicast_v4[] = {224, 0, 0};
	static const uint8_t unicast_v4[] = {169, 254};
	static const uint8_t unicast_v6[] = {0xfe, 0x80};
	static const uint8_t broadcast[] = {255, 255, 255, 255};
	const struct bt_cel_ip *ip = call->arguments[0].ip;
	bool is_unspecified = has_prefix(ip, zero, ip->is_v6 ? 128 : 32);
	bool is_loopback = ip->is_v6 ? has_prefix(ip, one, 128) : ip->bytes[0] == 127;
	bool is_link_local_unicast =
		ip->is_v6 ? has_prefix(ip, unicast_v6, 10) : has_prefix(ip, unicast_v4, 16);

	switch ((int)call->overload->variant) {
	case BT_CEL_VARIANT_UNSPECIFIED:
		return bt_cel_bool(is_unspecified);
	case BT_CEL_VARIANT_LOOPBACK:
		return bt_cel_bool(is_loopback);
	case BT_CEL_VARIANT_LINK_LOCAL_MULTICAST:
		return bt_cel_bool(ip->is_v6 ? ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 2
					     : has_prefix(ip, multicast_v4, 24));
	case BT_CEL_VARIANT_LINK_LOCAL_UNICAST:
		return bt_cel_bool(is_link_local_unicast);
	default:
		return bt_cel_bool((ip->is_v6 ? ip->bytes[0] != 0xff
					      : (ip->bytes[0] & 0xf0) != 0xe0 &&
							   !has_prefix(ip, broadcast, 32)) &&
			!is_unspecified && !is_loopback && !is_link_local_unicast);
	}
}

struct bt_cel_value bt_cel_fn_cidr(const struct bt_cel_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_cidr cidr;
	int code = parse_cidr(call->arguments[0].text, &cidr, &err);

	return bt_cel_answer_parsed(call, code, &err, BT_CEL_CIDR, &cidr, sizeof(cidr));
}

struct bt_cel_value bt_cel_fn_cidr_contains(const struct bt_cel_call *call)
{
	const struct bt_cel_cidr *outer = call->arguments[0].cidr;
	const struct bt_cel_value *argument = &call->arguments[1];
	/* An address counts as a network of the outer's size. */
	struct bt_cel_cidr inner = {.prefix_length = outer->prefix_length};
	struct berth_error err = BERTH_ERROR_INIT;

	if (argument->kind == BT_CEL_IP) {
		inner.ip = *argument->ip;
	} else if (argument->kind == BT_CEL_CIDR) {
		inner = *argument->cidr;
	} else {
		if (!bt_cel_charge_work(call->evaluation, argument->text.length)) {
			return call->evaluation->stop;
		}
		if ((call->overload->variant == BT_CEL_VARIANT_IP
				    ? parse_ip(argument->text, &inner.ip, &err)
				    : parse_cidr(argument->text, &inner, &err)) != 0) {
			return bt_cel_fail_error(call->evaluation, &err);
		}
	}
	return bt_cel_bool(outer->prefix_length <= inner.prefix_length &&
		outer->ip.is_v6 == inner.ip.is_v6 &&
		has_prefix(&inner.ip, outer->ip.bytes, outer->prefix_length));
}

/** The address, the length of the prefix, or the network without the bits behind the prefix. */
struct bt_cel_value bt_cel_fn_cidr_part(const struct bt_cel_call *call)
{
	const struct bt_cel_cidr *cidr = call->arguments[0].cidr;

	if (call->overload->variant == BT_CEL_VARIANT_IP) {
		return (struct bt_cel_value){.kind = BT_CEL_IP, .ip = &cidr->ip};
	}
	if (call->overload->variant == BT_CEL_VARIANT_PREFIX_LENGTH) {
		return bt_cel_int(cidr->prefix_length);
	}
	struct bt_cel_cidr masked = *cidr;
	uint32_t size = masked.ip.is_v6 ? 16 : 4;

	for (uint32_t bit = masked.prefix_length; bit < size * 8; bit++) {
		masked.ip.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	}
	return bt_cel_box(call->evaluation, BT_CEL_CIDR, &masked, sizeof(struct bt_cel_cidr));
}
