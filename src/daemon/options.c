/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/flags.h"
#include "client/file.h"
#include "codec/yaml.h"
#include "daemon/build_info.h"
#include "daemon/options_private.h"
#include "lib/document.h"
#include "net/file_replace.h"

/** Read "cert,key:name,name"; the syntax was checked when the flag was parsed. */
static struct bt_sni_certificate read_sni(struct bt_str text, struct bt_arena *arena)
{
	struct bt_str names = text;
	struct bt_str key = bt_str_cut(&names, ':');
	struct bt_str certificate = bt_str_cut(&key, ',');
	struct bt_sni_certificate sni = {
		.certificate_file = bt_str_trim(certificate, " "),
		.key_file = bt_str_trim(key, " "),
	};
	struct bt_str name;
	sni.names.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, names.length / 2 + 1);
	while (bt_comma_next(&names, &name)) {
		sni.names.items[sni.names.count++] = bt_str_trim(name, " ");
	}
	return sni;
}

/** How the value of a flag is stored in the options. */
enum storage {
	STORE_TEXT,
	STORE_NUMBER,
	STORE_BOOL,
	STORE_LIST,
	/* The option is set only if the flag is given. */
	STORE_OPT_TEXT,
	STORE_OPT_NUMBER,
	STORE_OPT_BOOL,
};

#define TARGET(flag, storage, member) \
	{ \
		BT_DAEMON_FLAG_##flag, STORE_##storage, offsetof(struct bt_daemon_options, member) \
	}

/** The flags whose value is stored in an option without conversion. */
static const struct target {
	enum bt_daemon_flag flag;
	enum storage storage;
	size_t offset; /* in struct bt_daemon_options */
} targets[] = {
	TARGET(CONFIG, TEXT, config_file),
	TARGET(WRITE_CONFIG_TO, TEXT, write_config_to),
	TARGET(MASTER, TEXT, master),
	TARGET(POD_MAX_IN_UNSCHEDULABLE, NUMBER, pod_max_in_unschedulable_ns),
	TARGET(LEADER_ELECT, OPT_BOOL, config_flags.leader_elect),
	TARGET(LEADER_ELECT_LEASE_DURATION, OPT_NUMBER, config_flags.lease_duration_ns),
	TARGET(LEADER_ELECT_RENEW_DEADLINE, OPT_NUMBER, config_flags.renew_deadline_ns),
	TARGET(LEADER_ELECT_RETRY_PERIOD, OPT_NUMBER, config_flags.retry_period_ns),
	TARGET(LEADER_ELECT_RESOURCE_LOCK, OPT_TEXT, config_flags.resource_lock),
	TARGET(LEADER_ELECT_RESOURCE_NAME, OPT_TEXT, config_flags.resource_name),
	TARGET(LEADER_ELECT_RESOURCE_NAMESPACE, OPT_TEXT, config_flags.resource_namespace),
	TARGET(PROFILING, OPT_BOOL, config_flags.profiling),
	TARGET(CONTENTION_PROFILING, OPT_BOOL, config_flags.contention_profiling),
	TARGET(KUBECONFIG, OPT_TEXT, config_flags.kubeconfig),
	TARGET(KUBE_API_CONTENT_TYPE, OPT_TEXT, config_flags.kube_api_content_type),
	TARGET(BIND_ADDRESS, TEXT, serving.bind_address),
	TARGET(SECURE_PORT, NUMBER, serving.secure_port),
	TARGET(CERT_DIR, TEXT, serving.cert_dir),
	TARGET(TLS_CERT_FILE, TEXT, serving.cert_file),
	TARGET(TLS_PRIVATE_KEY_FILE, TEXT, serving.key_file),
	TARGET(TLS_CIPHER_SUITES, LIST, serving.cipher_suites),
	TARGET(TLS_MIN_VERSION, TEXT, serving.min_tls_version),
	TARGET(PERMIT_PORT_SHARING, BOOL, serving.permit_port_sharing),
	TARGET(AUTHENTICATION_KUBECONFIG, TEXT, authentication.kubeconfig),
	TARGET(AUTHENTICATION_TOKEN_CACHE_TTL, NUMBER, authentication.token_cache_ttl_ns),
	TARGET(AUTHENTICATION_SKIP_LOOKUP, BOOL, authentication.skip_lookup),
	TARGET(AUTHENTICATION_TOLERATE_LOOKUP_FAILURE, BOOL,
		authentication.tolerate_lookup_failure),
	TARGET(CLIENT_CA_FILE, TEXT, authentication.client_ca_file),
	TARGET(REQUESTHEADER_CLIENT_CA_FILE, TEXT, authentication.requestheader_client_ca_file),
	TARGET(REQUESTHEADER_USERNAME_HEADERS, LIST, authentication.requestheader_username_headers),
	TARGET(REQUESTHEADER_UID_HEADERS, LIST, authentication.requestheader_uid_headers),
	TARGET(REQUESTHEADER_GROUP_HEADERS, LIST, authentication.requestheader_group_headers),
	TARGET(REQUESTHEADER_EXTRA_PREFIXES, LIST, authentication.requestheader_extra_prefixes),
	TARGET(REQUESTHEADER_ALLOWED_NAMES, LIST, authentication.requestheader_allowed_names),
	TARGET(AUTHORIZATION_KUBECONFIG, TEXT, authorization.kubeconfig),
	TARGET(AUTHORIZATION_ALLOW_CACHE_TTL, NUMBER, authorization.allow_cache_ttl_ns),
	TARGET(AUTHORIZATION_DENY_CACHE_TTL, NUMBER, authorization.deny_cache_ttl_ns),
	TARGET(AUTHORIZATION_ALWAYS_ALLOW_PATHS, LIST, authorization.always_allow_paths),
	TARGET(SHOW_HIDDEN_METRICS, TEXT, metrics.show_hidden_for_version),
	TARGET(DISABLED_METRICS, LIST, metrics.disabled),
};

static void store(const struct bt_daemon_flag_value *value, enum storage storage, void *out,
	struct bt_arena *arena)
{
	switch (storage) {
	case STORE_OPT_TEXT:
	case STORE_TEXT:
		if (storage == STORE_TEXT || value->given) {
			*(struct bt_str *)out = value->text;
		}
		return;
	case STORE_NUMBER:
		*(int64_t *)out = value->number;
		return;
	case STORE_BOOL:
		*(bool *)out = value->number != 0;
		return;
	case STORE_LIST: {
		bt_str_list *list = out;
		list->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, value->list.count);
		list->count = value->list.count;
		list->present = true;
		for (uint32_t i = 0; i < list->count; i++) {
			list->items[i] = value->list.items[i].text;
		}
		return;
	}
	case STORE_OPT_NUMBER:
		*(struct bt_opt_i64 *)out = (struct bt_opt_i64){value->given, value->number};
		return;
	case STORE_OPT_BOOL:
		*(struct bt_opt_bool *)out = (struct bt_opt_bool){value->given, value->number != 0};
		return;
	}
}

static void daemon_options_take(
	struct bt_daemon_options *options, const struct bt_daemon_flag_value *values)
{
	const struct bt_daemon_flag_value *version = &values[BT_DAEMON_FLAG_VERSION];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(targets); i++) {
		store(&values[targets[i].flag], targets[i].storage,
			(char *)options + targets[i].offset, &options->arena);
	}
	struct bt_config_flags *flags = &options->config_flags;
	flags->kube_api_qps_given = values[BT_DAEMON_FLAG_KUBE_API_QPS].given;
	flags->kube_api_qps = values[BT_DAEMON_FLAG_KUBE_API_QPS].real;
	flags->kube_api_burst.present = values[BT_DAEMON_FLAG_KUBE_API_BURST].given;
	flags->kube_api_burst.value = (int32_t)values[BT_DAEMON_FLAG_KUBE_API_BURST].number;
	const struct bt_daemon_flag_value *curves = &values[BT_DAEMON_FLAG_TLS_CURVE_PREFERENCES];
	const struct bt_daemon_flag_value *sni = &values[BT_DAEMON_FLAG_TLS_SNI_CERT_KEY];
	struct bt_serving_options *serving = &options->serving;
	serving->curve_preferences.items =
		BT_ARENA_NEW_ARRAY(&options->arena, int32_t, curves->list.count);
	for (uint32_t i = 0; i < curves->list.count; i++) {
		serving->curve_preferences.items[i] = (int32_t)curves->list.items[i].number;
	}
	serving->curve_preferences.count = curves->list.count;
	serving->sni.items =
		BT_ARENA_NEW_ARRAY(&options->arena, struct bt_sni_certificate, sni->list.count);
	for (uint32_t i = 0; i < sni->list.count; i++) {
		serving->sni.items[i] = read_sni(sni->list.items[i].text, &options->arena);
	}
	serving->sni.count = sni->list.count;
	struct bt_klog_options *log = &options->log;
	struct bt_str rest = values[BT_DAEMON_FLAG_VMODULE].text;
	struct bt_str item;
	bool json = bt_str_equal_c(values[BT_DAEMON_FLAG_LOGGING_FORMAT].text, "json");
	log->format = json ? BT_KLOG_JSON : BT_KLOG_TEXT;
	log->verbosity = (int)values[BT_DAEMON_FLAG_V].number;
	log->split_stream = values[json ? BT_DAEMON_FLAG_LOG_JSON_SPLIT_STREAM
					: BT_DAEMON_FLAG_LOG_TEXT_SPLIT_STREAM]
				    .number != 0;
	log->modules.items =
		BT_ARENA_NEW_ARRAY(&options->arena, struct bt_klog_module, rest.length / 3 + 1);
	while (bt_comma_next(&rest, &item)) {
		uint32_t equals = (uint32_t)bt_str_find_char(item, '=');
		int64_t level = 0;
		/* The number was checked when the flag was parsed. */
		(void)bt_str_parse_int64(bt_str_sub(item, equals + 1, item.length), &level);
		log->modules.items[log->modules.count++] =
			(struct bt_klog_module){bt_str_sub(item, 0, equals), (int)level};
	}
	/* Insertion sort: within each section the rows are sorted already. */
	struct bt_flag_value *items =
		BT_ARENA_NEW_ARRAY(&options->arena, struct bt_flag_value, BT_DAEMON_FLAG__COUNT);
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		struct bt_strbuf text = {0};
		uint32_t at = i;
		bt_flag_value_write(&values[i], &text);
		while (at > 0 && strcmp(items[at - 1].name, values[i].row->name) > 0) {
			items[at] = items[at - 1];
			at--;
		}
		items[at] = (struct bt_flag_value){
			values[i].row->name, bt_arena_str(&options->arena, bt_strbuf_str(&text))};
		bt_strbuf_finish(&text);
	}
	options->flags.items = items;
	options->flags.count = BT_DAEMON_FLAG__COUNT;
	options->versions = bt_versions_default();
	options->gates = bt_gates_default();
	if (version->list.count > 0) {
		options->versions.git_version = version->list.items[0].text;
	}
}

int bt_daemon_options_load_config(const struct bt_daemon_options *options,
	struct bt_config **out_config, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	if (options->config_file.length == 0) {
		*out_config = bt_config_create_from_flags(&options->gates, &options->config_flags);
		return 0;
	}
	int code = bt_client_file_read_waiting(
		options->config_file.data, BT_CONFIG_BYTES_MAX, &text, err);
	if (code == 0) {
		code = bt_document_load_config(bt_strbuf_str(&text), &options->gates,
			&options->config_flags, out_config, err);
	}
	bt_strbuf_finish(&text);
	return code;
}

static int make_yaml(const struct bt_config *config, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	bt_config_write(config, &json);
	int code = bt_yaml_from_json(bt_strbuf_str(&json), out, err);
	bt_strbuf_finish(&json);
	return code;
}

void bt_daemon_options_log_config(const struct bt_config *config)
{
	if (BT_LOG_ENABLED(2)) {
		struct bt_strbuf yaml = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		if (make_yaml(config, &yaml, &err) == 0) {
			BT_LOG_INFO(2, "Using component config",
				BT_LOG_STR("config", bt_strbuf_str(&yaml)));
		} else {
			BT_LOG_ERROR_PLAIN(
				berth_error_message(&err), "Unable to show the configuration");
			berth_error_finish(&err);
		}
		bt_strbuf_finish(&yaml);
	}
}

int bt_daemon_options_write_config(const struct bt_daemon_options *options,
	const struct bt_config *config, struct berth_error *err)
{
	const char *path = options->write_config_to.data;
	struct bt_strbuf yaml = {0};
	int code = make_yaml(config, &yaml, err);
	int fd = code == 0 ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	if (code == 0 && fd < 0) {
		code = bt_client_file_fail("open", path, errno, err);
	}
	int number = code == 0 ? bt_write_all(fd, yaml.data, yaml.length) : 0;
	if (number != 0) {
		code = bt_client_file_fail("write", path, number, err);
	}
	if (fd >= 0 && close(fd) != 0 && code == 0) {
		code = bt_client_file_fail("close", path, errno, err);
	}
	if (code == 0) {
		BT_LOG_INFO(0, "Wrote configuration", BT_LOG_STR("file", options->write_config_to));
	}
	bt_strbuf_finish(&yaml);
	return code;
}

struct command_line {
	struct bt_daemon_flag_value values[BT_DAEMON_FLAG__COUNT];
	bt_flag_set_fn *set;
	struct bt_flag flags[BT_DAEMON_FLAG__COUNT];
	struct bt_arguments arguments;
};

static bool is_given(const struct command_line *line, enum bt_daemon_flag flag)
{
	return line->values[flag].number != 0;
}

static int set_value(
	void *options, const struct bt_flag *flag, const char *text, struct berth_error *err)
{
	struct command_line *line = options;
	return bt_flag_value_set(
		&line->values[flag - line->flags], text != NULL ? text : "true", err);
}

static void print_help(bool with_intro, FILE *stream)
{
	struct bt_strbuf text = {0};
	bt_flags_write_help(with_intro, &text);
	(void)fputs(bt_strbuf_c(&text), stream);
	bt_strbuf_finish(&text);
}

static void join(const struct bt_daemon_flag_value *value, struct bt_strbuf *out)
{
	bt_strbuf_reset(out);
	for (uint32_t i = 0; i < value->list.count; i++) {
		bt_strbuf_append_c(out, i > 0 ? "," : "");
		bt_strbuf_append_str(out, value->list.items[i].text);
	}
}

static enum bt_options_next log_failure(struct berth_error *err)
{
	BT_LOG_ERROR_PLAIN(berth_error_message(err), "command failed");
	berth_error_finish(err);
	return BT_OPTIONS_EXIT_FAILURE;
}

static enum bt_options_next apply(
	struct bt_daemon_options *options, const struct command_line *line)
{
	static const struct bt_klog_options plain = {.format = BT_KLOG_TEXT};
	const struct bt_daemon_flag_value *version = &line->values[BT_DAEMON_FLAG_VERSION];
	bt_gate_warning_list warnings = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bt_klog_start(&plain);
	struct bt_strbuf text = {0};
	struct bt_strbuf second = {0};
	join(&line->values[BT_DAEMON_FLAG_EMULATED_VERSION], &text);
	join(&line->values[BT_DAEMON_FLAG_MIN_COMPATIBILITY_VERSION], &second);
	int code = bt_versions_set(
		&options->versions, bt_strbuf_str(&text), bt_strbuf_str(&second), &err);
	if (code == 0) {
		join(&line->values[BT_DAEMON_FLAG_FEATURE_GATES], &text);
		code = bt_gates_set_at(&options->versions.release,
			is_given(line, BT_DAEMON_FLAG_STRICT_FEATURE_GATES), bt_strbuf_str(&text),
			&options->gates, &warnings, &options->arena, &err);
	}
	bt_strbuf_finish(&second);
	bt_strbuf_finish(&text);
	if (code != 0) {
		return log_failure(&err);
	}
	if (is_given(line, BT_DAEMON_FLAG_VERSION)) {
		if (bt_str_equal_c(version->text, "raw")) {
			bt_build_write_raw(&options->versions, &text);
		} else {
			bt_strbuf_printf(&text, "Kubernetes %.*s\n",
				BT_STR_ARG(options->versions.git_version));
		}
		(void)fputs(bt_strbuf_c(&text), stdout);
		bt_strbuf_finish(&text);
		return BT_OPTIONS_EXIT_OK;
	}
	if (bt_logging_check(line->values, &options->gates, &err) != 0) {
		(void)fprintf(stderr, "%s\n", berth_error_message(&err));
		berth_error_finish(&err);
		return BT_OPTIONS_EXIT_FAILURE;
	}
	bt_klog_start(&options->log);
	for (uint32_t i = 0; i < warnings.count; i++) {
		const struct bt_gate_warning *warning = &warnings.items[i];
		BT_LOG_INFO(0, bt_gate_warning_text(warning->kind),
			BT_LOG_STR("featureGate", warning->gate),
			BT_LOG_BOOL("value", warning->value));
	}
	for (uint32_t i = 0; i < options->flags.count && BT_LOG_ENABLED(1); i++) {
		struct bt_strbuf quoted = {0};
		bt_strbuf_append_quoted(&quoted, options->flags.items[i].value);
		bt_log_text(BT_LOG_SEVERITY_INFO, 1, __FILE__, __LINE__, "FLAG: --%s=%s",
			options->flags.items[i].name, bt_strbuf_c(&quoted));
		bt_strbuf_finish(&quoted);
	}
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	bt_versions_validate(&options->versions, &errors);
	bt_serving_validate(options, &errors);
	bt_metrics_flags_take(options, line->values, &errors);
	code = bt_config_errors_finish(&errors, &err);
	if (code == 0) {
		code = bt_serving_check(options, &err);
	}
	return code != 0 ? log_failure(&err) : BT_OPTIONS_GO_ON;
}

enum bt_options_next bt_daemon_options_parse(
	int argc, char **argv, struct bt_daemon_options *out_options)
{
	*out_options = (struct bt_daemon_options){0};
	struct command_line line = (struct command_line){.set = set_value};
	bt_flag_values_init(line.values, &out_options->arena);
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		const struct bt_flag_row *row = &bt_flag_rows[i];
		bool bare = row->kind == BT_FLAG_KIND_BOOL || row->kind == BT_FLAG_KIND_VERSION;
		line.flags[i] = (struct bt_flag){.name = row->name,
			.shorthand = row->shorthand,
			.type = bare ? BT_FLAG_OPTIONAL : BT_FLAG_SETTER,
			.offset = offsetof(struct command_line, set)};
	}
	enum bt_options_next next = BT_OPTIONS_GO_ON;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf shown = {0};
	bool is_refused = false; /* any argument that is not empty is an error */
	bool help;               /* never set: line.flags has its own --help */
	int result = bt_flags_parse(
		line.flags, BT_DAEMON_FLAG__COUNT, &line, argc, argv, &line.arguments, &help, &err);
	for (uint32_t i = 0; i < line.arguments.list.count; i++) {
		const char *argument = line.arguments.list.items[i];
		is_refused = is_refused || argument[0] != '\0';
		bt_strbuf_append_c(&shown, i > 0 ? " " : "");
		bt_strbuf_append_quoted(&shown, bt_str_from(argument));
	}
	if (result < 0) {
		print_help(false, stderr);
		(void)fprintf(stderr, "\nError: %s\n", berth_error_message(&err));
		berth_error_finish(&err);
		next = BT_OPTIONS_EXIT_FAILURE;
	} else if (is_given(&line, BT_DAEMON_FLAG_HELP)) {
		print_help(true, stdout);
		next = BT_OPTIONS_EXIT_OK;
	} else if (is_refused) {
		(void)fprintf(stderr,
			"Error: \"kube-scheduler\" does not take any arguments, got [%s]\n",
			bt_strbuf_c(&shown));
		next = BT_OPTIONS_EXIT_FAILURE;
	} else {
		daemon_options_take(out_options, line.values);
		next = apply(out_options, &line);
	}
	bt_strbuf_finish(&shown);
	bt_flag_values_finish(line.values);
	bt_vec_finish(&line.arguments.list);
	return next;
}

bool bt_daemon_streams_lists(const struct bt_gates *gates)
{
	const char *veto = getenv("KUBE_FEATURE_WatchListClient");
	return bt_gate_enabled(gates, BT_GATE_WATCH_LIST_CLIENT) &&
		(veto == NULL || strcmp(veto, "false") != 0);
}

void bt_daemon_options_finish(struct bt_daemon_options *options)
{
	bt_klog_finish();
	bt_arena_finish(&options->arena);
	*options = (struct bt_daemon_options){0};
}
