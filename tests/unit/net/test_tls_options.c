/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_server.h"

#include <gnutls/gnutls.h>

#include "base/compiler.h"
#include "test_main.h"

START_TEST(test_tls_options__versions)
{
	static const struct {
		const char *text;
		enum bt_tls_version version;
	} rows[] = {
		{"", BT_TLS_VERSION_DEFAULT},
		{"VersionTLS10", BT_TLS_VERSION_10},
		{"VersionTLS11", BT_TLS_VERSION_11},
		{"VersionTLS12", BT_TLS_VERSION_12},
		{"VersionTLS13", BT_TLS_VERSION_13},
	};
	enum bt_tls_version version = BT_TLS_VERSION_DEFAULT;
	struct berth_error err = BERTH_ERROR_INIT;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_int_eq(
			bt_tls_version_parse(bt_str_from(rows[i].text), &version, NULL), 0);
		ck_assert_int_eq(version, rows[i].version);
	}
	ck_assert_int_eq(bt_tls_version_parse(BT_STR("TLS\"9"), &version, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "unknown tls version \"TLS\\\"9\"");
	ck_assert_int_eq(version, BT_TLS_VERSION_13);
	berth_error_finish(&err);
}
END_TEST

/* Returns whether the priorities offer the named item of the given kind. */
static bool offers(const struct bt_tls_options *options, const char *what)
{
	struct bt_strbuf text = {0};
	gnutls_priority_t priorities = NULL;
	const unsigned int *list = NULL;
	bool found = false;
	ck_assert_int_eq(bt_tls_priorities(options, &text, NULL), 0);
	ck_assert_int_eq(gnutls_priority_init(&priorities, bt_strbuf_c(&text), NULL), 0);
	int count = gnutls_priority_protocol_list(priorities, &list);
	for (int i = 0; i < count; i++) {
		found = found ||
			strcmp(gnutls_protocol_get_name((gnutls_protocol_t)list[i]), what) == 0;
	}
	count = gnutls_priority_cipher_list(priorities, &list);
	for (int i = 0; i < count; i++) {
		found = found ||
			strcmp(gnutls_cipher_get_name((gnutls_cipher_algorithm_t)list[i]), what) ==
				0;
	}
	count = gnutls_priority_kx_list(priorities, &list);
	for (int i = 0; i < count; i++) {
		found = found ||
			strcmp(gnutls_kx_get_name((gnutls_kx_algorithm_t)list[i]), what) == 0;
	}
	count = gnutls_priority_group_list(priorities, &list);
	for (int i = 0; i < count; i++) {
		found = found || strcmp(gnutls_group_get_name((gnutls_group_t)list[i]), what) == 0;
	}
	gnutls_priority_deinit(priorities);
	bt_strbuf_finish(&text);
	return found;
}

START_TEST(test_tls_options__offers)
{
	static const struct bt_str one[] = {BT_STR_INIT("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")};
	static const struct bt_str old[] = {BT_STR_INIT("TLS_RSA_WITH_AES_128_CBC_SHA")};
	static const struct bt_str new_only[] = {BT_STR_INIT("TLS_AES_128_GCM_SHA256")};
	static const int32_t curves[] = {24, 4588};
	struct bt_tls_options options = {.min_version = BT_TLS_VERSION_DEFAULT};
	ck_assert(offers(&options, "TLS1.3") && offers(&options, "TLS1.2"));
	ck_assert(!offers(&options, "TLS1.1") && !offers(&options, "RSA"));
	ck_assert(offers(&options, "X25519") && offers(&options, "SECP256R1"));
	options.min_version = BT_TLS_VERSION_13;
	ck_assert(offers(&options, "TLS1.3") && !offers(&options, "TLS1.2"));
	options.min_version = BT_TLS_VERSION_10;
	ck_assert(offers(&options, "TLS1.1") && offers(&options, "TLS1.0"));
	options.min_version = BT_TLS_VERSION_12;
	options.curves = curves;
	options.curve_count = 2;
	ck_assert(offers(&options, "SECP384R1") && !offers(&options, "X25519"));
	options.cipher_suites = one;
	options.cipher_suite_count = 1;
	ck_assert(offers(&options, "AES-256-GCM") && !offers(&options, "AES-128-GCM"));
	ck_assert(offers(&options, "ECDHE-RSA") && !offers(&options, "ECDHE-ECDSA"));
	ck_assert(offers(&options, "SECP384R1") && !offers(&options, "X25519"));
	options.curve_count = 0;
	ck_assert(offers(&options, "X25519"));
	options.cipher_suites = old;
	ck_assert(offers(&options, "RSA") && offers(&options, "AES-128-CBC"));
	ck_assert(offers(&options, "TLS1.3") && offers(&options, "AES-128-GCM"));
	options.cipher_suites = new_only;
	ck_assert(offers(&options, "TLS1.3") && !offers(&options, "TLS1.2"));
}
END_TEST

START_TEST(test_tls_options__unknown)
{
	static const struct bt_str names[] = {BT_STR_INIT("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
		BT_STR_INIT("TLS_NULL_WITH_NULL_NULL")};
	static const int32_t curves[] = {4588};
	struct bt_tls_options options = {.cipher_suites = names, .cipher_suite_count = 2};
	struct bt_strbuf text = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bool is_insecure = true;
	ck_assert_int_eq(bt_tls_priorities(&options, &text, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"Cipher suite TLS_NULL_WITH_NULL_NULL not supported or doesn't exist");
	berth_error_finish(&err);
	options.cipher_suite_count = 1;
	options.curves = curves;
	options.curve_count = 1;
	bt_strbuf_reset(&text);
	ck_assert_int_eq(bt_tls_priorities(&options, &text, NULL), BERTH_ERR_INVALID);
	bt_strbuf_finish(&text);
	ck_assert(bt_tls_cipher_suite_is_known(names[0], &is_insecure));
	ck_assert(!is_insecure);
	ck_assert(bt_tls_cipher_suite_is_known(BT_STR("TLS_RSA_WITH_RC4_128_SHA"), &is_insecure));
	ck_assert(is_insecure);
	ck_assert(!bt_tls_cipher_suite_is_known(names[1], &is_insecure));
}
END_TEST

BT_TEST_MAIN("tls_options", test_tls_options__versions, test_tls_options__offers,
	test_tls_options__unknown)
