/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/options_private.h"

#define TAKE_LIST(list, value) take_list((value), &(list), &options->arena)

static void take_list(
	const struct bt_daemon_flag_value *value, bt_str_list *out_list, struct bt_arena *arena)
{
	out_list->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, value->list.count);
	out_list->count = value->list.count;
	out_list->present = true;
	for (uint32_t i = 0; i < value->list.count; i++) {
		out_list->items[i] = value->list.items[i].text;
	}
}

static bool is_on(const struct bt_daemon_flag_value *value)
{
	return value->number != 0;
}

/* --- HTTPS endpoints --- */

/** "cert,key:name,name", which was checked when it was read. */
static struct bt_sni_certificate read_sni(struct bt_str text, struct bt_arena *arena)
{
	int64_t colon = bt_str_find_char(text, ':');
	struct bt_str files = colon < 0 ? text : bt_str_sub(text, 0, (uint32_t)colon);
	struct bt_str rest =
		colon < 0 ? BT_STR("") : bt_str_sub(text, (uint32_t)colon + 1, text.length);
	uint32_t comma = (uint32_t)bt_str_find_char(files, ',');
	struct bt_sni_certificate sni = {
		.certificate_file = bt_str_trim(bt_str_sub(files, 0, comma), " "),
		.key_file = bt_str_trim(bt_str_sub(files, comma + 1, files.length), " "),
	};
	struct bt_str name;
	sni.names.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, rest.length / 2 + 1);
	while (bt_comma_next(&rest, &name)) {
		sni.names.items[sni.names.count++] = bt_str_trim(name, " ");
	}
	return sni;
}

static void take_serving(
	struct bt_daemon_options *options, const struct bt_daemon_flag_value *values)
{
	const struct bt_daemon_flag_value *curves = &values[BT_DAEMON_FLAG_TLS_CURVE_PREFERENCES];
	const struct bt_daemon_flag_value *sni = &values[BT_DAEMON_FLAG_TLS_SNI_CERT_KEY];
	struct bt_serving_options *serving = &options->serving;
	serving->bind_address = values[BT_DAEMON_FLAG_BIND_ADDRESS].text;
	serving->secure_port = values[BT_DAEMON_FLAG_SECURE_PORT].number;
	serving->disable_http2 = is_on(&values[BT_DAEMON_FLAG_DISABLE_HTTP2_SERVING]);
	serving->cert_dir = values[BT_DAEMON_FLAG_CERT_DIR].text;
	serving->cert_file = values[BT_DAEMON_FLAG_TLS_CERT_FILE].text;
	serving->key_file = values[BT_DAEMON_FLAG_TLS_PRIVATE_KEY_FILE].text;
	TAKE_LIST(serving->cipher_suites, &values[BT_DAEMON_FLAG_TLS_CIPHER_SUITES]);
	serving->min_tls_version = values[BT_DAEMON_FLAG_TLS_MIN_VERSION].text;
	serving->http2_max_streams = values[BT_DAEMON_FLAG_HTTP2_MAX_STREAMS].number;
	serving->permit_port_sharing = is_on(&values[BT_DAEMON_FLAG_PERMIT_PORT_SHARING]);
	serving->permit_address_sharing = is_on(&values[BT_DAEMON_FLAG_PERMIT_ADDRESS_SHARING]);
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
}

static void take_authentication(
	struct bt_daemon_options *options, const struct bt_daemon_flag_value *values)
{
	struct bt_authentication_options *authentication = &options->authentication;
	authentication->kubeconfig = values[BT_DAEMON_FLAG_AUTHENTICATION_KUBECONFIG].text;
	authentication->token_cache_ttl_ns =
		values[BT_DAEMON_FLAG_AUTHENTICATION_TOKEN_CACHE_TTL].number;
	authentication->skip_lookup = is_on(&values[BT_DAEMON_FLAG_AUTHENTICATION_SKIP_LOOKUP]);
	authentication->tolerate_lookup_failure =
		is_on(&values[BT_DAEMON_FLAG_AUTHENTICATION_TOLERATE_LOOKUP_FAILURE]);
	authentication->client_ca_file = values[BT_DAEMON_FLAG_CLIENT_CA_FILE].text;
	authentication->requestheader_client_ca_file =
		values[BT_DAEMON_FLAG_REQUESTHEADER_CLIENT_CA_FILE].text;
	TAKE_LIST(authentication->requestheader_username_headers,
		&values[BT_DAEMON_FLAG_REQUESTHEADER_USERNAME_HEADERS]);
	TAKE_LIST(authentication->requestheader_uid_headers,
		&values[BT_DAEMON_FLAG_REQUESTHEADER_UID_HEADERS]);
	TAKE_LIST(authentication->requestheader_group_headers,
		&values[BT_DAEMON_FLAG_REQUESTHEADER_GROUP_HEADERS]);
	TAKE_LIST(authentication->requestheader_extra_prefixes,
		&values[BT_DAEMON_FLAG_REQUESTHEADER_EXTRA_PREFIXES]);
	TAKE_LIST(authentication->requestheader_allowed_names,
		&values[BT_DAEMON_FLAG_REQUESTHEADER_ALLOWED_NAMES]);
}

/* --- what lies over the configuration --- */

static struct bt_opt_bool given_bool(const struct bt_daemon_flag_value *value)
{
	return (struct bt_opt_bool){value->given, is_on(value)};
}

static struct bt_opt_i64 given_i64(const struct bt_daemon_flag_value *value)
{
	return (struct bt_opt_i64){value->given, value->number};
}

static struct bt_str given_text(const struct bt_daemon_flag_value *value)
{
	return value->given ? value->text : (struct bt_str){0};
}

static void take_config_flags(
	struct bt_config_flags *flags, const struct bt_daemon_flag_value *values)
{
	flags->leader_elect = given_bool(&values[BT_DAEMON_FLAG_LEADER_ELECT]);
	flags->lease_duration_ns = given_i64(&values[BT_DAEMON_FLAG_LEADER_ELECT_LEASE_DURATION]);
	flags->renew_deadline_ns = given_i64(&values[BT_DAEMON_FLAG_LEADER_ELECT_RENEW_DEADLINE]);
	flags->retry_period_ns = given_i64(&values[BT_DAEMON_FLAG_LEADER_ELECT_RETRY_PERIOD]);
	flags->resource_lock = given_text(&values[BT_DAEMON_FLAG_LEADER_ELECT_RESOURCE_LOCK]);
	flags->resource_name = given_text(&values[BT_DAEMON_FLAG_LEADER_ELECT_RESOURCE_NAME]);
	flags->resource_namespace =
		given_text(&values[BT_DAEMON_FLAG_LEADER_ELECT_RESOURCE_NAMESPACE]);
	flags->profiling = given_bool(&values[BT_DAEMON_FLAG_PROFILING]);
	flags->contention_profiling = given_bool(&values[BT_DAEMON_FLAG_CONTENTION_PROFILING]);
	flags->kubeconfig = given_text(&values[BT_DAEMON_FLAG_KUBECONFIG]);
	flags->kube_api_content_type = given_text(&values[BT_DAEMON_FLAG_KUBE_API_CONTENT_TYPE]);
	flags->kube_api_qps_given = values[BT_DAEMON_FLAG_KUBE_API_QPS].given;
	flags->kube_api_qps = values[BT_DAEMON_FLAG_KUBE_API_QPS].real;
	flags->kube_api_burst.present = values[BT_DAEMON_FLAG_KUBE_API_BURST].given;
	flags->kube_api_burst.value = (int32_t)values[BT_DAEMON_FLAG_KUBE_API_BURST].number;
}

/* --- the rest --- */

void bt_daemon_options_take(
	struct bt_daemon_options *options, const struct bt_daemon_flag_value *values)
{
	const struct bt_daemon_flag_value *version = &values[BT_DAEMON_FLAG_VERSION];
	options->config_file = values[BT_DAEMON_FLAG_CONFIG].text;
	options->write_config_to = values[BT_DAEMON_FLAG_WRITE_CONFIG_TO].text;
	options->master = values[BT_DAEMON_FLAG_MASTER].text;
	options->pod_max_in_unschedulable_ns =
		values[BT_DAEMON_FLAG_POD_MAX_IN_UNSCHEDULABLE].number;
	take_config_flags(&options->config_flags, values);
	take_serving(options, values);
	take_authentication(options, values);
	struct bt_authorization_options *authorization = &options->authorization;
	authorization->kubeconfig = values[BT_DAEMON_FLAG_AUTHORIZATION_KUBECONFIG].text;
	authorization->allow_cache_ttl_ns =
		values[BT_DAEMON_FLAG_AUTHORIZATION_ALLOW_CACHE_TTL].number;
	authorization->deny_cache_ttl_ns =
		values[BT_DAEMON_FLAG_AUTHORIZATION_DENY_CACHE_TTL].number;
	TAKE_LIST(authorization->always_allow_paths,
		&values[BT_DAEMON_FLAG_AUTHORIZATION_ALWAYS_ALLOW_PATHS]);
	options->metrics.show_hidden_for_version = values[BT_DAEMON_FLAG_SHOW_HIDDEN_METRICS].text;
	TAKE_LIST(options->metrics.disabled, &values[BT_DAEMON_FLAG_DISABLED_METRICS]);
	struct bt_klog_options *log = &options->log;
	struct bt_str rest = values[BT_DAEMON_FLAG_VMODULE].text;
	struct bt_str item;
	bool json = bt_str_equal_c(values[BT_DAEMON_FLAG_LOGGING_FORMAT].text, "json");
	log->format = json ? BT_KLOG_JSON : BT_KLOG_TEXT;
	log->verbosity = (int)values[BT_DAEMON_FLAG_V].number;
	log->flush_frequency_ns = values[BT_DAEMON_FLAG_LOG_FLUSH_FREQUENCY].number;
	log->split_stream = is_on(&values[json ? BT_DAEMON_FLAG_LOG_JSON_SPLIT_STREAM
					       : BT_DAEMON_FLAG_LOG_TEXT_SPLIT_STREAM]);
	log->modules.items =
		BT_ARENA_NEW_ARRAY(&options->arena, struct bt_klog_module, rest.length / 3 + 1);
	while (bt_comma_next(&rest, &item)) {
		uint32_t equals = (uint32_t)bt_str_find_char(item, '=');
		int64_t level = 0;
		/* As it was when the flag was read: a number. */
		(void)bt_str_parse_int64(bt_str_sub(item, equals + 1, item.length), &level);
		log->modules.items[log->modules.count++] =
			(struct bt_klog_module){bt_str_sub(item, 0, equals), (int)level};
	}
	/* Insertion sort: the rows come in sections that are sorted. */
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
