/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/duration.h"
#include "client/file.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "daemon/access.h"
#include "daemon/options_private.h"
#include "net/http_server.h"

/** The maximum size of a manifest in bytes. */
#define MANIFEST_BYTES_MAX (UINT32_C(1) << 20)

/** Pairs of "metric,label" and the allowed values, separated by commas. */
struct allow_rules {
	struct bt_str_pair *items;
	uint32_t count;
};

/** True if the text matches [a-zA-Z_][a-zA-Z0-9_]*; colons: allow colons, as in metric names. */
static bool is_name(struct bt_str text, bool colons)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (!(bt_is_letter(byte) || byte == '_') && !(colons && byte == ':') &&
			!(i > 0 && bt_is_digit(byte))) {
			return false;
		}
	}
	return text.length > 0;
}

/** If a key is invalid, append one message that shows all rules. false: all keys are valid. */
static bool describe_bad_keys(const struct allow_rules *rules, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		struct bt_str key = rules->items[i].key;
		int64_t comma = bt_str_find_char(key, ',');
		if (comma <= 0 || !is_name(bt_str_sub(key, 0, (uint32_t)comma), true) ||
			!is_name(bt_str_sub(key, (uint32_t)comma + 1, key.length), false)) {
			bt_strbuf_append_c(out, "metrics.allowListMapping: Invalid value: ");
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, out, 0);
			bt_json_begin_object(&writer);
			for (uint32_t k = 0; k < rules->count; k++) {
				bt_json_write(&writer, "%s: %s", rules->items[k].key,
					rules->items[k].value);
			}
			bt_json_end_object(&writer);
			bt_strbuf_append_c(out,
				": must have keys with format `metricName,labelName` where "
				"metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName "
				"matches \"[a-zA-Z_][a-zA-Z0-9_]*\"");
			return true;
		}
	}
	return false;
}

/** Store rules, which must have passed the checks, in options->metrics.allowed. */
static void use_rules(struct bt_daemon_options *options, const struct allow_rules *rules)
{
	struct bt_arena *arena = &options->arena;
	struct bt_allowed_label *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_allowed_label, rules->count);
	for (uint32_t i = 0; i < rules->count; i++) {
		struct bt_str key = rules->items[i].key;
		struct bt_str rest = rules->items[i].value;
		struct bt_str value;
		items[i].metric = bt_str_cut(&key, ',');
		items[i].label = key;
		items[i].values.items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, rest.length / 2 + 1);
		while (bt_comma_next(&rest, &value)) {
			items[i].values.items[items[i].values.count++] = value;
		}
	}
	options->metrics.allowed.items = items;
	options->metrics.allowed.count = rules->count;
}

static void take_manifest(
	struct bt_daemon_options *options, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf json = {0};
	struct allow_rules rules = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	const char *what = "failed to read allow list manifest";
	int code = bt_client_file_read_waiting(path.data, MANIFEST_BYTES_MAX, &text, &err);
	if (code == 0) {
		what = "failed to parse allow list manifest";
		code = bt_yaml_first_document(bt_strbuf_str(&text), NULL, &json, &err);
		bt_strbuf_append_c(&json, json.length == 0 ? "{}" : "");
	}
	struct bt_json_value *value = NULL;
	if (code == 0) {
		code = bt_json_parse(&options->arena, bt_strbuf_str(&json), false, &value, &err);
	}
	if (code == 0 && value->type == BT_JSON_OBJECT) {
		rules.items = BT_ARENA_NEW_ARRAY(&options->arena, struct bt_str_pair, value->count);
		for (uint32_t i = 0; i < value->count; i++) {
			const struct bt_json_member *member = &value->members[i];
			if (member->value->type != BT_JSON_STRING) {
				code = bt_error_set(&err, BERTH_ERR_INVALID, "%.*s is not a string",
					BT_STR_ARG(member->name));
				break;
			}
			rules.items[rules.count++] =
				(struct bt_str_pair){bt_arena_str(&options->arena, member->name),
					bt_arena_str(&options->arena, member->value->text)};
		}
	} else if (code == 0 && value->type != BT_JSON_NULL) {
		code = bt_error_set(&err, BERTH_ERR_INVALID, "not a map");
	}
	struct bt_strbuf bad = {0};
	if (code == 0 && describe_bad_keys(&rules, &bad)) {
		what = "invalid allow list mapping in manifest";
		code = bt_error_set(&err, BERTH_ERR_INVALID, "[%s]", bt_strbuf_c(&bad));
	}
	if (code == 0) {
		use_rules(options, &rules);
	} else {
		bt_config_errors_add(errors, NULL,
			"metrics.allowListMappingManifest: Invalid value: %s: %s: %s",
			bt_config_errors_quote(errors, path), what, berth_error_message(&err));
	}
	bt_strbuf_finish(&bad);
	berth_error_finish(&err);
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&text);
}

void bt_metrics_flags_take(struct bt_daemon_options *options,
	const struct bt_daemon_flag_value *values, struct bt_config_errors *errors)
{
	const struct bt_daemon_flag_value *allowed = &values[BT_DAEMON_FLAG_ALLOW_METRIC_LABELS];
	struct bt_str manifest = values[BT_DAEMON_FLAG_ALLOW_METRIC_LABELS_MANIFEST].text;
	struct bt_str version = options->metrics.show_hidden_for_version;
	struct bt_strbuf all = {0};
	struct bt_json_writer writer;
	if (version.length > 0 && !bt_str_equal_c(version, "1.35")) {
		bt_config_errors_add(errors, NULL,
			"metrics.showHiddenMetricsForVersion: Invalid value: %s: must be omitted "
			"or have the value '1.%d'; only the previous minor version is allowed",
			bt_config_errors_quote(errors, version), BT_KUBERNETES_MINOR - 1);
	}
	bt_json_writer_init(&writer, &all, 0);
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < options->metrics.disabled.count; i++) {
		bt_json_write_str(&writer, options->metrics.disabled.items[i]);
	}
	bt_json_end_array(&writer);
	for (uint32_t i = 0; i < options->metrics.disabled.count; i++) {
		if (!is_name(options->metrics.disabled.items[i], true)) {
			bt_config_errors_add(errors, NULL,
				"metrics.disabledMetrics: Invalid value: %s: must be fully "
				"qualified metric names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", "
				"got %s",
				bt_strbuf_c(&all),
				bt_config_errors_quote(errors, options->metrics.disabled.items[i]));
			break;
		}
	}
	bt_strbuf_finish(&all);
	struct allow_rules rules = {
		BT_ARENA_NEW_ARRAY(&options->arena, struct bt_str_pair, allowed->list.count),
		allowed->list.count};
	struct bt_strbuf bad = {0};
	for (uint32_t i = 0; i < rules.count; i++) {
		rules.items[i] = (struct bt_str_pair){
			allowed->list.items[i].text, allowed->list.items[i].second};
	}
	if (rules.count > 1) {
		qsort(rules.items, rules.count, sizeof(*rules.items), bt_str_compare_qsort);
	}
	if (describe_bad_keys(&rules, &bad)) {
		bt_config_errors_add_text(errors, bt_strbuf_str(&bad));
	} else if (rules.count > 0) {
		use_rules(options, &rules);
	}
	bt_strbuf_finish(&bad);
	if (manifest.length > 0) {
		take_manifest(options, manifest, errors);
	}
	if (manifest.length > 0 && allowed->list.count > 0) {
		bt_config_errors_add(errors, NULL,
			"metrics: Forbidden: cannot specify both allowListMapping and "
			"allowListMappingManifest");
	}
}

static void add_alpha(struct bt_config_errors *errors, const char *path)
{
	bt_config_errors_add(
		errors, NULL, "%s: Forbidden: Feature LoggingAlphaOptions is disabled", path);
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
		if (!bt_str_equal_c(values[BT_DAEMON_FLAG_LOG_TEXT_INFO_BUFFER_SIZE].text, "0")) {
			add_alpha(&errors, "options.text.infoBufferSize");
		}
		if (values[BT_DAEMON_FLAG_LOG_JSON_SPLIT_STREAM].number != 0) {
			add_alpha(&errors, "options.json.splitStream");
		}
		if (!bt_str_equal_c(values[BT_DAEMON_FLAG_LOG_JSON_INFO_BUFFER_SIZE].text, "0")) {
			add_alpha(&errors, "options.json.infoBufferSize");
		}
	}
	return bt_config_errors_finish(&errors, err);
}

static void check_header_list(
	const char *flag, const bt_str_list *headers, struct bt_config_errors *errors)
{
	for (uint32_t i = 0; i < headers->count; i++) {
		if (bt_str_trim(headers->items[i], BT_STR_SPACE).length == 0) {
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

void bt_serving_validate(const struct bt_daemon_options *options, struct bt_config_errors *errors)
{
	int64_t port = options->serving.secure_port;
	if (port < 0 || port > UINT16_MAX) {
		bt_config_errors_add(errors, NULL,
			"--secure-port %lld must be between 0 and 65535, inclusive. 0 for turning "
			"off secure port",
			(long long)port);
	}
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

int bt_serving_check(const struct bt_daemon_options *options, struct berth_error *err)
{
	const struct bt_serving_options *serving = &options->serving;
	int code = 0;
	if (serving->secure_port == 0) {
		return 0; /* no server is built */
	}
	for (uint32_t i = 0; i < serving->cipher_suites.count && code == 0; i++) {
		struct bt_str name = serving->cipher_suites.items[i];
		bool is_insecure = false;
		if (!bt_tls_cipher_suite_is_known(name, &is_insecure)) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"Cipher suite %.*s not supported or doesn't exist",
				BT_STR_ARG(name));
		} else if (is_insecure) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
				"Use of insecure cipher '%.*s' detected.", BT_STR_ARG(name));
		}
	}
	if (code == 0) {
		enum bt_tls_version version;
		code = bt_tls_version_parse(serving->min_tls_version, &version, err);
	}
	const int32_t *curves = serving->curve_preferences.items;
	for (uint32_t i = 0; i < serving->curve_preferences.count && code == 0; i++) {
		if (curves[i] < 1 || curves[i] > UINT16_MAX) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"curve preference %d is out of range (must be 1-65535)", curves[i]);
		}
		/*
		 * The entries before i passed the checks, so they are distinct numbers from 1 to
		 * 65535. This limits the length of the loop below.
		 */
		for (uint32_t j = 0; j < i && code == 0; j++) {
			if (curves[j] == curves[i]) {
				code = bt_error_set(err, BERTH_ERR_INVALID,
					"duplicate curve preference %d", curves[i]);
			}
		}
	}
	return code == 0 ? bt_access_check_paths(&options->authorization.always_allow_paths, err)
			 : code;
}
