/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_options.h"

#include <gnutls/gnutls.h>
#include <string.h>

#include "base/assert.h"

/* Forward secrecy, TLS 1.2 and later. The client's order of groups counts: another one than it
 * guessed costs a round trip. */
#define DEFAULT_BASE "SECURE128:-VERS-ALL:-RSA"
#define EMPTY_BASE "NONE:+COMP-NULL:+CTYPE-X509:+SIGN-ALL"

/** A suite in GnuTLS's words. */
struct suite {
	const char *name;
	const char *key_exchange; /* NULL: of TLS 1.3, which has none in its suites */
	const char *cipher;
	const char *mac;
	bool is_insecure;
};

static const struct suite suites[] = {
	{"TLS_AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD", false},
	{"TLS_AES_256_GCM_SHA384", NULL, "AES-256-GCM", "AEAD", false},
	{"TLS_CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD",
		false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305",
		"AEAD", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD",
		false},
	{"TLS_RSA_WITH_RC4_128_SHA", "RSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "RSA", "3DES-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA", "RSA", "AES-128-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_256_CBC_SHA", "RSA", "AES-256-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA256", "RSA", "AES-128-CBC", "SHA256", true},
	{"TLS_RSA_WITH_AES_128_GCM_SHA256", "RSA", "AES-128-GCM", "AEAD", true},
	{"TLS_RSA_WITH_AES_256_GCM_SHA384", "RSA", "AES-256-GCM", "AEAD", true},
	{"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "ECDHE-ECDSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA", "3DES-CBC", "SHA1", true},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA", "AES-128-CBC", "SHA256", true},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA", "AES-128-CBC", "SHA256", true},
};

/** IANA's registry of supported groups, as far as GnuTLS has them. */
static const struct {
	uint32_t id;
	const char *name;
} groups[] = {
	{23, "SECP256R1"},
	{24, "SECP384R1"},
	{25, "SECP521R1"},
	{29, "X25519"},
	{30, "X448"},
};

static const char *const version_names[] = {
	[BT_TLS_VERSION_10] = "TLS1.0",
	[BT_TLS_VERSION_11] = "TLS1.1",
	[BT_TLS_VERSION_12] = "TLS1.2",
	[BT_TLS_VERSION_13] = "TLS1.3",
};

int bt_tls_version_parse(
	struct bt_str text, enum bt_tls_version *out_version, struct berth_error *err)
{
	static const char *const names[] = {
		[BT_TLS_VERSION_DEFAULT] = "",
		[BT_TLS_VERSION_10] = "VersionTLS10",
		[BT_TLS_VERSION_11] = "VersionTLS11",
		[BT_TLS_VERSION_12] = "VersionTLS12",
		[BT_TLS_VERSION_13] = "VersionTLS13",
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_str_equal_c(text, names[i])) {
			*out_version = (enum bt_tls_version)i;
			return 0;
		}
	}
	struct bt_strbuf quoted = {0};
	bt_strbuf_append_quoted(&quoted, text);
	int result = bt_error_set(
		err, BERTH_ERR_INVALID, "unknown tls version %s", bt_strbuf_c(&quoted));
	bt_strbuf_finish(&quoted);
	return result;
}

static const struct suite *find_suite(const char *name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suites); i++) {
		if (strcmp(suites[i].name, name) == 0) {
			return &suites[i];
		}
	}
	return NULL;
}

bool bt_tls_cipher_suite_is_known(const char *name, bool *out_is_insecure)
{
	const struct suite *suite = find_suite(name);
	if (suite == NULL) {
		return false;
	}
	*out_is_insecure = suite->is_insecure;
	return true;
}

/* ":+WORD", once. */
static void add_word(struct bt_strbuf *out, size_t start, const char *prefix, const char *word)
{
	struct bt_strbuf item = {0};
	bt_strbuf_printf(&item, ":+%s%s", prefix, word);
	struct bt_str so_far = {out->data + start, (uint32_t)(out->length - start)};
	int64_t at = bt_str_find(so_far, bt_strbuf_str(&item));
	uint32_t end = (uint32_t)(at < 0 ? 0 : at) + (uint32_t)item.length;
	if (at < 0 || (end < so_far.length && so_far.data[end] != ':')) {
		bt_strbuf_append_str(out, bt_strbuf_str(&item));
	}
	bt_strbuf_finish(&item);
}

static int add_suites(const struct bt_tls_options *options, struct bt_strbuf *out, size_t start,
	bool *out_has_old, struct berth_error *err)
{
	bool has_new = false;
	for (uint32_t i = 0; i < options->cipher_suite_count; i++) {
		const struct suite *suite = find_suite(options->cipher_suites[i]);
		if (suite == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"Cipher suite %s not supported or doesn't exist",
				options->cipher_suites[i]);
		}
		if (suite->key_exchange != NULL) {
			*out_has_old = true;
			add_word(out, start, "", suite->key_exchange);
		}
		add_word(out, start, "", suite->cipher);
		add_word(out, start, "", suite->mac);
		has_new = has_new || strcmp(suite->mac, "AEAD") == 0;
	}
	if (!has_new) {
		/* for TLS 1.3, which the flag does not speak of */
		add_word(out, start, "", "AES-128-GCM");
		add_word(out, start, "", "AES-256-GCM");
		add_word(out, start, "", "AEAD");
	}
	return 0;
}

static int add_groups(const struct bt_tls_options *options, struct bt_strbuf *out, size_t start,
	struct berth_error *err)
{
	bool found = false;
	if (options->curve_count == 0) {
		bt_strbuf_append_c(out, options->cipher_suite_count != 0 ? ":+GROUP-ALL" : "");
		return 0;
	}
	bt_strbuf_append_c(out, ":-GROUP-ALL");
	for (uint32_t i = 0; i < options->curve_count; i++) {
		for (size_t k = 0; k < BT_ARRAY_LENGTH(groups); k++) {
			if (groups[k].id == options->curves[i]) {
				add_word(out, start, "GROUP-", groups[k].name);
				found = true;
			}
		}
	}
	return found ? 0
		     : bt_error_set(err, BERTH_ERR_INVALID,
			       "none of the curve preferences is supported");
}

int bt_tls_priorities(
	const struct bt_tls_options *options, struct bt_strbuf *out, struct berth_error *err)
{
	size_t start = out->length;
	bool has_old_suites = options->cipher_suite_count == 0;
	int result = 0;
	bt_strbuf_append_c(out, options->cipher_suite_count != 0 ? EMPTY_BASE : DEFAULT_BASE);
	if (options->cipher_suite_count != 0) {
		result = add_suites(options, out, start, &has_old_suites, err);
	}
	enum bt_tls_version min = options->min_version != BT_TLS_VERSION_DEFAULT
		? options->min_version
		: BT_TLS_VERSION_12;
	if (!has_old_suites) {
		min = BT_TLS_VERSION_13;
	}
	for (uint32_t i = BT_TLS_VERSION_13; i >= (uint32_t)min; i--) {
		add_word(out, start, "VERS-", version_names[i]);
	}
	if (result == 0) {
		result = add_groups(options, out, start, err);
	}
	if (result == 0) {
		gnutls_priority_t priorities = NULL;
		int code = gnutls_priority_init(&priorities, bt_strbuf_c(out) + start, NULL);
		if (code != 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"the TLS options cannot be met: %s", gnutls_strerror(code));
		}
		gnutls_priority_deinit(priorities);
	}
	return result;
}
