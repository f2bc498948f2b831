/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses and networks: parsing and printing, and their functions in expressions. Spec: 12b
 * section 9.9.
 */
#include "cel/function.h"

#include "cel/cel.h"
#include "test_main.h"

static void check_text(const struct bt_strbuf *got, const char *text, const char *want)
{
	ck_assert_msg(strcmp(bt_strbuf_c(got), want) == 0, "'%s'\n got %s\nwant %s", text,
		bt_strbuf_c(got), want);
}

START_TEST(test_cel_ip__addresses)
{
	static const struct {
		const char *text;
		const char *printed; /* the text printed, or the error */
	} rows[] = {
		{"0.0.0.0", "0.0.0.0"},
		{"255.1.20.3", "255.1.20.3"},
		{"::", "::"},
		{"::1", "::1"},
		{"1::", "1::"},
		{"2001:DB8::0:1", "2001:db8::1"},
		{"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
		{"1:0:0:2:3:0:0:4", "1::2:3:0:0:4"},
		{"1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
		{"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
		{"fe80::1%eth0", "fe80::1"},
		{"", "ParseAddr(\"\"): unable to parse IP"},
		{"x", "ParseAddr(\"x\"): unable to parse IP"},
		{"%x", "ParseAddr(\"%x\"): missing IPv6 address"},
		{"1.2.3", "ParseAddr(\"1.2.3\"): IPv4 address too short"},
		{"1.2.3.4.5", "ParseAddr(\"1.2.3.4.5\"): IPv4 address too long"},
		{"1.2.3.256", "ParseAddr(\"1.2.3.256\"): IPv4 field has value >255"},
		{"1.2.3.04", "ParseAddr(\"1.2.3.04\"): IPv4 field has octet with leading zero"},
		{"1..2.3",
			"ParseAddr(\"1..2.3\"): IPv4 field must have at least one digit "
			"(at \".2.3\")"},
		{"1.2.3.",
			"ParseAddr(\"1.2.3.\"): IPv4 field must have at least one digit "
			"(at \".\")"},
		{"1.2.3.x", "ParseAddr(\"1.2.3.x\"): unexpected character (at \"x\")"},
		{"[::1]",
			"ParseAddr(\"[::1]\"): each colon-separated field must have at least "
			"one digit (at \"[::1]\")"},
		{":1",
			"ParseAddr(\":1\"): each colon-separated field must have at least one "
			"digit (at \":1\")"},
		{"12345::",
			"ParseAddr(\"12345::\"): each group must have 4 or less digits "
			"(at \"12345::\")"},
		{"1:2", "ParseAddr(\"1:2\"): address string too short"},
		{"1:2:3:4:5:6:7:8:9",
			"ParseAddr(\"1:2:3:4:5:6:7:8:9\"): trailing garbage after "
			"address (at \"9\")"},
		{"1::2::3", "ParseAddr(\"1::2::3\"): multiple :: in address (at \":3\")"},
		{"1:", "ParseAddr(\"1:\"): colon must be followed by more characters (at \":\")"},
		{"1:2x::",
			"ParseAddr(\"1:2x::\"): unexpected character, want colon "
			"(at \"x::\")"},
		{"1:2:3:4:5:6:7::8",
			"ParseAddr(\"1:2:3:4:5:6:7::8\"): the :: must expand to at "
			"least one field of zeros"},
		{"1:2:1.2.3.4",
			"ParseAddr(\"1:2:1.2.3.4\"): embedded IPv4 address must replace "
			"the final 2 fields of the address (at \"1.2.3.4\")"},
		{"1:2:3:4:5:6::1.2.3.4",
			"ParseAddr(\"1:2:3:4:5:6::1.2.3.4\"): the :: must expand to at least one "
			"field of zeros"},
		{"1:2:3:4:5:6:7::1.2.3.4",
			"ParseAddr(\"1:2:3:4:5:6:7::1.2.3.4\"): too many hex fields to fit an "
			"embedded IPv4 at the end of the address (at \"1.2.3.4\")"},
		{"::1.2.3", "ParseAddr(\"::1.2.3\"): IPv4 address too short"},
		{"fe80::1%", "ParseAddr(\"fe80::1%\"): zone must be a non-empty string"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_strbuf got = {NULL, 0, 0};
		struct bt_cel_ip ip;
		bool has_zone;

		if (bt_cel_ip_parse(bt_str_from(rows[i].text), &ip, &has_zone, &err) == 0) {
			ck_assert_int_eq(has_zone, strchr(rows[i].text, '%') != NULL);
			bt_cel_ip_print(&ip, &got);
		} else {
			bt_strbuf_append_c(&got, berth_error_message(&err));
		}
		check_text(&got, rows[i].text, rows[i].printed);
		bt_strbuf_finish(&got);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_cel_ip__networks)
{
	static const struct {
		const char *text;
		const char *printed;
	} rows[] = {
		{"10.1.2.3/8", "10.1.2.3/8"},
		{"0.0.0.0/0", "0.0.0.0/0"},
		{"::1/128", "::1/128"},
		{"10.0.0.0", "netip.ParsePrefix(\"10.0.0.0\"): no '/'"},
		{"x/8", "netip.ParsePrefix(\"x/8\"): ParseAddr(\"x\"): unable to parse IP"},
		{"fe80::%a/8",
			"netip.ParsePrefix(\"fe80::%a/8\"): IPv6 zones cannot be present "
			"in a prefix"},
		{"10.0.0.0/", "netip.ParsePrefix(\"10.0.0.0/\"): bad bits after slash: \"\""},
		{"10.0.0.0/08",
			"netip.ParsePrefix(\"10.0.0.0/08\"): bad bits after slash: "
			"\"08\""},
		{"10.0.0.0/+8",
			"netip.ParsePrefix(\"10.0.0.0/+8\"): bad bits after slash: "
			"\"+8\""},
		{"10.0.0.0/33", "netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of range"},
		{"::/129", "netip.ParsePrefix(\"::/129\"): prefix length out of range"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_strbuf got = {NULL, 0, 0};
		struct bt_cel_cidr cidr;

		if (bt_cel_cidr_parse(bt_str_from(rows[i].text), &cidr, &err) == 0) {
			bt_cel_cidr_print(&cidr, &got);
		} else {
			bt_strbuf_append_c(&got, berth_error_message(&err));
		}
		check_text(&got, rows[i].text, rows[i].printed);
		bt_strbuf_finish(&got);
		berth_error_finish(&err);
	}
}
END_TEST

/** Writes "true", "false" or the error to out. */
static void evaluate(const char *expression, struct bt_strbuf *out)
{
	static const struct bt_cel_environment environment = {.must_be_bool = true};
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_arena arena = {0};

	if (bt_cel_compile(bt_str_from(expression), &environment, &program, &err) != 0) {
		ck_abort_msg("%s: %s", expression, berth_error_message(&err));
	} else {
		struct bt_cel_value value = bt_cel_evaluate(program, NULL, &limits, &arena);

		if (value.kind == BT_CEL_ERROR) {
			bt_strbuf_append_str(out, value.text);
		} else {
			bt_strbuf_append_c(out, value.boolean ? "true" : "false");
		}
	}
	bt_cel_program_destroy(program);
	bt_arena_finish(&arena);
}

#define CIDR_ERROR "network address parse error during conversion from string: "

START_TEST(test_cel_ip__functions)
{
	static const struct {
		const char *expression;
		const char *outcome;
	} rows[] = {
		{"ip('1.2.3.4').family() == 4 && ip('::1').family() == 6", "true"},
		{"ip('::1') == ip('0:0::1') && ip('1.2.3.4') != ip('1.2.3.5')", "true"},
		{"isIP('1.2.3.4') && isIP('::1') && !isIP('x') && !isIP('fe80::1%a')", "true"},
		{"!isIP('::ffff:1.2.3.4') && !isIP('1.2.3.4/8')", "true"},
		{"ip('x') == ip('y')",
			"IP Address \"x\" parse error during conversion from "
			"string: ParseAddr(\"x\"): unable to parse IP"},
		{"ip('fe80::1%a') == ip('y')",
			"IP address \"fe80::1%a\" with zone value is not allowed"},
		{"ip('::ffff:1.2.3.4') == ip('y')",
			"IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed"},
		{"ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", "true"},
		{"ip.isCanonical('x')",
			"IP Address \"x\" parse error during conversion from "
			"string: ParseAddr(\"x\"): unable to parse IP"},
		{"ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified()", "true"},
		{"ip('0.0.0.1').isUnspecified() || ip('::1').isUnspecified()", "false"},
		{"ip('127.9.9.9').isLoopback() && ip('::1').isLoopback()", "true"},
		{"ip('128.0.0.1').isLoopback() || ip('::2').isLoopback()", "false"},
		{"ip('224.0.0.9').isLinkLocalMulticast() && "
		 "ip('ff02::1').isLinkLocalMulticast()",
			"true"},
		{"ip('224.0.1.9').isLinkLocalMulticast() || "
		 "ip('ff05::1').isLinkLocalMulticast()",
			"false"},
		{"ip('169.254.1.1').isLinkLocalUnicast() && ip('febf::').isLinkLocalUnicast()",
			"true"},
		{"ip('169.255.1.1').isLinkLocalUnicast() || ip('fec0::').isLinkLocalUnicast()",
			"false"},
		{"ip('8.8.8.8').isGlobalUnicast() && ip('10.0.0.1').isGlobalUnicast() && "
		 "ip('2001:db8::1').isGlobalUnicast()",
			"true"},
		{"['0.0.0.0', '127.0.0.1', '255.255.255.255', '224.1.1.1', '169.254.0.1', '::', "
		 "'::1', 'ff0e::1', 'fe80::1'].exists(x, ip(x).isGlobalUnicast())",
			"false"},
		{"cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", "true"},
		{"cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", "true"},
		{"string(cidr('2001:db8:ffff::1/33').masked()) == '2001:db8:8000::/33'", "true"},
		{"cidr('10.0.0.0/8').prefixLength() == 8", "true"},
		{"isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0') && !isCIDR('::ffff:1.2.3.4/8')",
			"true"},
		{"cidr('10.0.0.0/8').containsIP('10.255.0.1') && "
		 "cidr('10.0.0.0/9').containsIP(ip('10.127.0.1'))",
			"true"},
		{"cidr('10.0.0.0/9').containsIP('10.128.0.1') || "
		 "cidr('0.0.0.0/0').containsIP('::1')",
			"false"},
		{"cidr('10.0.0.0/8').containsIP('x')",
			"IP Address \"x\" parse error during conversion from string: "
			"ParseAddr(\"x\"): unable to parse IP"},
		{"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && "
		 "cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/8'))",
			"true"},
		{"cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7') || "
		 "cidr('10.0.0.0/8').containsCIDR('11.0.0.0/16')",
			"false"},
		{"cidr('10.0.0.0/8').containsCIDR('x')",
			CIDR_ERROR CIDR_ERROR "netip.ParsePrefix(\"x\"): no '/'"},
		{"cidr('10.0.0.0') == cidr('x')",
			CIDR_ERROR CIDR_ERROR "netip.ParsePrefix(\"10.0.0.0\"): no '/'"},
		{"cidr('::ffff:1.2.3.4/99') == cidr('x')",
			"IPv4-mapped IPv6 address \"::ffff:1.2.3.4/99\" is not allowed"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf got = {NULL, 0, 0};

		evaluate(rows[i].expression, &got);
		check_text(&got, rows[i].expression, rows[i].outcome);
		bt_strbuf_finish(&got);
	}
}
END_TEST

BT_TEST_MAIN("cel_ip", test_cel_ip__addresses, test_cel_ip__networks, test_cel_ip__functions)
