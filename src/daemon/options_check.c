/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"
#include "daemon/options_private.h"

/* --- logs --- */

static void add_alpha(struct bt_config_errors *errors, const char *path)
{
	bt_config_errors_add(
		errors, NULL, "%s: Forbidden: Feature LoggingAlphaOptions is disabled", path);
}

static bool is_some(const struct bt_daemon_flag_value *quantity)
{
	return !bt_str_equal_c(quantity->text, "0");
}

int bt_logging_check(const struct bt_daemon_flag_value *values, const struct bt_gates *gates,
	struct berth_error *err)
{
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	struct bt_str format = values[BT_DAEMON_FLAG_LOGGING_FORMAT].text;
	int64_t flush_ns = values[BT_DAEMON_FLAG_LOG_FLUSH_FREQUENCY].number;
	bool is_text = bt_str_equal_c(format, "text");
	if (!is_text && !bt_str_equal_c(format, "json")) {
		bt_config_errors_add(&errors, NULL,
			"format: Invalid value: %s: Unsupported log format",
			bt_config_errors_quote(&errors, format));
	}
	if (flush_ns <= 0) {
		struct bt_strbuf text = {0};
		bt_duration_format(flush_ns, &text);
		bt_config_errors_add(&errors, NULL,
			"flushFrequency: Invalid value: \"%s\": Must be greater than zero",
			bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
	}
	if (!is_text && values[BT_DAEMON_FLAG_VMODULE].text.length > 0) {
		bt_config_errors_add(
			&errors, NULL, "vmodule: Forbidden: Only supported for text log format");
	}
	if (!bt_gate_enabled(gates, BT_GATE_LOGGING_ALPHA_OPTIONS)) {
		if (values[BT_DAEMON_FLAG_LOG_TEXT_SPLIT_STREAM].number != 0) {
			add_alpha(&errors, "options.text.splitStream");
		}
		if (is_some(&values[BT_DAEMON_FLAG_LOG_TEXT_INFO_BUFFER_SIZE])) {
			add_alpha(&errors, "options.text.infoBufferSize");
		}
		if (values[BT_DAEMON_FLAG_LOG_JSON_SPLIT_STREAM].number != 0) {
			add_alpha(&errors, "options.json.splitStream");
		}
		if (is_some(&values[BT_DAEMON_FLAG_LOG_JSON_INFO_BUFFER_SIZE])) {
			add_alpha(&errors, "options.json.infoBufferSize");
		}
	}
	return bt_config_errors_finish(&errors, err);
}

/* --- authentication --- */

static bool is_blank(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		if (strchr(" \t\n\v\f\r", text.data[i]) == NULL || text.data[i] == '\0') {
			return false;
		}
	}
	return true;
}

static void check_header_list(
	const char *flag, const bt_str_list *headers, struct bt_config_errors *errors)
{
	for (uint32_t i = 0; i < headers->count; i++) {
		if (is_blank(headers->items[i])) {
			bt_config_errors_add(errors, NULL, "empty value in \"%s\"", flag);
			return;
		}
	}
}

static bool has_header(const bt_str_list *headers, struct bt_str name)
{
	for (uint32_t i = 0; i < headers->count; i++) {
		if (bt_str_equal_without_case(headers->items[i], name)) {
			return true;
		}
	}
	return false;
}

#define MISSING_HEADER \
	"--%s is set without specifying the standard %s header - API aggregation will not work"

static void warn_of_header(const char *flag, const bt_str_list *headers, const char *name)
{
	if (headers->count > 0 && !has_header(headers, bt_str_from(name))) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING, MISSING_HEADER, flag, name);
	}
}

static void validate_authentication(
	const struct bt_daemon_options *options, struct bt_config_errors *errors)
{
	const struct bt_authentication_options *authentication = &options->authentication;
	const bt_str_list *users = &authentication->requestheader_username_headers;
	const bt_str_list *uids = &authentication->requestheader_uid_headers;
	const bt_str_list *groups = &authentication->requestheader_group_headers;
	const bt_str_list *extras = &authentication->requestheader_extra_prefixes;
	check_header_list("requestheader-username-headers", users, errors);
	check_header_list("requestheader-uid-headers", uids, errors);
	check_header_list("requestheader-group-headers", groups, errors);
	check_header_list("requestheader-extra-headers-prefix", extras, errors);
	check_header_list("requestheader-allowed-names",
		&authentication->requestheader_allowed_names, errors);
	warn_of_header("requestheader-username-headers", users, "X-Remote-User");
	warn_of_header("requestheader-group-headers", groups, "X-Remote-Group");
	warn_of_header("requestheader-extra-headers-prefix", extras, "X-Remote-Extra-");
	if (uids->count == 0) {
		return;
	}
	if (!bt_gate_enabled(&options->gates, BT_GATE_REMOTE_REQUEST_HEADER_UID)) {
		bt_config_errors_add(errors, NULL,
			"--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" "
			"feature to be enabled");
	} else if (!has_header(uids, BT_STR("X-Remote-Uid"))) {
		bt_config_errors_add(
			errors, NULL, MISSING_HEADER, "requestheader-uid-headers", "X-Remote-Uid");
	}
}

void bt_serving_validate(const struct bt_daemon_options *options, struct bt_config_errors *errors)
{
	int64_t port = options->serving.secure_port;
	if (port < 0 || port > UINT16_MAX) {
		bt_config_errors_add(errors, NULL,
			"--secure-port %lld must be between 0 and 65535, inclusive. 0 for turning "
			"off secure port",
			(long long)port);
	}
	validate_authentication(options, errors);
}

/* --- what the endpoints cannot be built with --- */

struct cipher_suite {
	const char *name;
	bool insecure;
};

static const struct cipher_suite cipher_suites[] = {
	{"TLS_AES_128_GCM_SHA256", false},
	{"TLS_AES_256_GCM_SHA384", false},
	{"TLS_CHACHA20_POLY1305_SHA256", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", true},
	{"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", true},
	{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", true},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", true},
	{"TLS_ECDHE_RSA_WITH_RC4_128_SHA", true},
	{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA256", true},
	{"TLS_RSA_WITH_AES_128_GCM_SHA256", true},
	{"TLS_RSA_WITH_AES_256_CBC_SHA", true},
	{"TLS_RSA_WITH_AES_256_GCM_SHA384", true},
	{"TLS_RSA_WITH_RC4_128_SHA", true},
};

static int check_cipher_suite(struct bt_str name, struct berth_error *err)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(cipher_suites); i++) {
		if (bt_str_equal_c(name, cipher_suites[i].name)) {
			if (cipher_suites[i].insecure) {
				BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
					"Use of insecure cipher '%s' detected.",
					cipher_suites[i].name);
			}
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"Cipher suite %.*s not supported or doesn't exist", BT_STR_ARG(name));
}

static int check_tls_version(struct bt_str version, struct berth_error *err)
{
	static const char *const versions[] = {
		"", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"};
	struct bt_strbuf quoted = {0};
	int code;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(versions); i++) {
		if (bt_str_equal_c(version, versions[i])) {
			return 0;
		}
	}
	bt_strbuf_append_quoted(&quoted, version);
	code = bt_error_set(err, BERTH_ERR_INVALID, "unknown tls version %s", bt_strbuf_c(&quoted));
	bt_strbuf_finish(&quoted);
	return code;
}

static int check_curves(const struct bt_serving_options *serving, struct berth_error *err)
{
	const int32_t *curves = serving->curve_preferences.items;
	for (uint32_t i = 0; i < serving->curve_preferences.count; i++) {
		if (curves[i] < 1 || curves[i] > UINT16_MAX) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"curve preference %d is out of range (must be 1-65535)", curves[i]);
		}
		/* Numbers that are in range and distinct so far: the loop is short. */
		for (uint32_t j = 0; j < i; j++) {
			if (curves[j] == curves[i]) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"duplicate curve preference %d", curves[i]);
			}
		}
	}
	return 0;
}

static int check_paths(const bt_str_list *paths, struct berth_error *err)
{
	for (uint32_t i = 0; i < paths->count; i++) {
		struct bt_str path = paths->items[i];
		int64_t star = bt_str_find_char(path, '*');
		if (star >= 0 && star + 1 != path.length) {
			struct bt_strbuf quoted = {0};
			int code;
			bt_strbuf_append_quoted(&quoted, path);
			code = bt_error_set(err, BERTH_ERR_INVALID, "only trailing * allowed in %s",
				bt_strbuf_c(&quoted));
			bt_strbuf_finish(&quoted);
			return code;
		}
	}
	return 0;
}

int bt_serving_check(const struct bt_daemon_options *options, struct berth_error *err)
{
	const struct bt_serving_options *serving = &options->serving;
	int code = 0;
	if (serving->secure_port == 0) {
		return 0; /* nothing is built */
	}
	for (uint32_t i = 0; i < serving->cipher_suites.count && code == 0; i++) {
		code = check_cipher_suite(serving->cipher_suites.items[i], err);
	}
	if (code == 0) {
		code = check_tls_version(serving->min_tls_version, err);
	}
	if (code == 0) {
		code = check_curves(serving, err);
	}
	return code == 0 ? check_paths(&options->authorization.always_allow_paths, err) : code;
}
