/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/ip.h"

#include <string.h>

#define IPV6_BYTES 16u

/** A text being read: message says what is wrong, at where, when that helps. */
struct reader {
	struct bt_str text;
	const char *message;
	struct bt_str at;
};

static bool fail(struct reader *reader, const char *message)
{
	reader->message = message;
	return false;
}

static bool fail_at(struct reader *reader, const char *message, struct bt_str at)
{
	reader->at = at;
	return fail(reader, message);
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

		if (c >= '0' && c <= '9') {
			if (digits == 1 && value == 0) {
				return fail(reader, "IPv4 field has octet with leading zero");
			}
			value = value * 10 + (uint32_t)(c - '0');
			digits++;
			if (value > 255) {
				return fail(reader, "IPv4 field has value >255");
			}
		} else if (c == '.') {
			if (i == 0 || i == text.length - 1 || text.data[i - 1] == '.') {
				return fail_at(reader, "IPv4 field must have at least one digit",
					skip(text, i));
			}
			if (field == 3) {
				return fail(reader, "IPv4 address too long");
			}
			out[field++] = (uint8_t)value;
			value = 0;
			digits = 0;
		} else {
			return fail_at(reader, "unexpected character", skip(text, i));
		}
	}
	if (field < 3) {
		return fail(reader, "IPv4 address too short");
	}
	out[3] = (uint8_t)value;
	return true;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

/** Up to four hexadecimal digits; *out_length: how many. */
static bool read_group(
	struct reader *reader, struct bt_str text, uint32_t *out_value, uint32_t *out_length)
{
	uint32_t value = 0;
	uint32_t length = 0;

	while (length < text.length && hex_digit(text.data[length]) >= 0) {
		value = value << 4 | (uint32_t)hex_digit(text.data[length]);
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

/** An IPv6 address on its way. */
struct groups {
	uint8_t bytes[IPV6_BYTES];
	uint32_t count;  /* bytes that were read */
	bool has_gap;    /* "::" */
	uint32_t gap_at; /* bytes in front of it */
};

/** ":" or "::" between groups. */
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

/** All groups of the text, as far as 16 bytes go; *text is what is left. */
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
	uint32_t behind;

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
		return fail(reader, "address string too short");
	}
	if (groups.has_gap && groups.count == IPV6_BYTES) {
		return fail(reader, "the :: must expand to at least one field of zeros");
	}
	memset(out, 0, IPV6_BYTES);
	behind = groups.has_gap ? groups.count - groups.gap_at : 0;
	memcpy(out, groups.bytes, groups.count - behind);
	memcpy(out + IPV6_BYTES - behind, groups.bytes + groups.count - behind, behind);
	return true;
}

static bool read_ip(struct reader *reader, struct bt_cel_ip *out, bool *out_has_zone)
{
	struct bt_str text = reader->text;
	uint32_t at = 0;
	int64_t zone;

	memset(out, 0, sizeof(*out));
	*out_has_zone = false;
	while (at < text.length && text.data[at] != '.' && text.data[at] != ':' &&
		text.data[at] != '%') {
		at++;
	}
	if (at == text.length) {
		return fail(reader, "unable to parse IP");
	}
	if (text.data[at] == '%') {
		return fail(reader, "missing IPv6 address");
	}
	if (text.data[at] == '.') {
		return read_v4(reader, text, out->bytes);
	}
	out->is_v6 = true;
	zone = bt_str_find_char(text, '%');
	*out_has_zone = zone >= 0;
	if (zone == (int64_t)text.length - 1) {
		return fail(reader, "zone must be a non-empty string");
	}
	return read_v6(reader, zone >= 0 ? bt_str_sub(text, 0, (uint32_t)zone) : text, out->bytes);
}

int bt_cel_ip_parse(
	struct bt_str text, struct bt_cel_ip *out_ip, bool *out_has_zone, struct berth_error *err)
{
	struct reader reader = {.text = text};
	struct bt_strbuf message = {NULL, 0, 0};
	int code;

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
	code = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&message));
	bt_strbuf_finish(&message);
	return code;
}

/** Digits without leading zeros; false: others. */
static bool read_bits(struct bt_str text, int64_t *out)
{
	if (text.length == 0 || (text.length > 1 && (text.data[0] < '1' || text.data[0] > '9'))) {
		return false;
	}
	return bt_str_parse_int64(text, out);
}

/** What is wrong behind `netip.ParsePrefix("x"): `; false with *message set. */
static bool read_cidr(struct bt_str text, struct bt_cel_cidr *out, struct bt_strbuf *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t slash = bt_str_find_last_char(text, '/');
	struct bt_str bits;
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
	bits = skip(text, (uint32_t)slash + 1);
	if (!read_bits(bits, &length)) {
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

bool bt_cel_ip_is_mapped(const struct bt_cel_ip *ip)
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
	uint32_t gap_count;
	uint32_t gap;

	if (!ip->is_v6) {
		bt_strbuf_printf(
			out, "%u.%u.%u.%u", ip->bytes[0], ip->bytes[1], ip->bytes[2], ip->bytes[3]);
		return;
	}
	/* The longest run of at least two zero groups, the first of several; count 0: none. */
	uint32_t best = 0;

	gap_count = 0;
	for (uint32_t start = 0; start < 8; start++) {
		uint32_t end = start;

		while (end < 8 && group_at(ip, end) == 0) {
			end++;
		}
		if (end - start > 1 && end - start > gap_count) {
			best = start;
			gap_count = end - start;
		}
	}
	gap = best;
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
