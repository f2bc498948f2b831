/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "client/config.h"
#include "test_main.h"

static struct bt_client_config parsed(const char *text, const char *path, const char *master)
{
	struct bt_client_config config = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_client_config_parse(bt_str_from(text), path, master, &config, NULL, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	return config;
}

static void expect_error(const char *text, const char *message)
{
	struct bt_client_config config = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_ne(
		bt_client_config_parse(bt_str_from(text), "/etc/k/conf", "", &config, NULL, &err),
		0);
	ck_assert_str_eq(berth_error_message(&err), message);
	ck_assert_ptr_null(config.arena.chunks);
	berth_error_finish(&err);
}

static void expect_str(struct bt_str text, const char *expected)
{
	ck_assert_msg(bt_str_equal_c(text, expected), "%.*s is not %s", BT_STR_ARG(text), expected);
}

/*
 * Returns a kubeconfig with one context, cluster "c" and user "n". cluster and user: their members
 * in flow style, such as "{token: t}".
 */
static char *kubeconfig(const char *cluster, const char *user)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text,
		"apiVersion: v1\nkind: Config\ncurrent-context: x\n"
		"contexts: [{name: x, context: {cluster: c, user: 'n'}}]\n"
		"clusters: [{name: c, cluster: %s}]\nusers: [{name: 'n', user: %s}]\n",
		cluster, user);
	return bt_strbuf_steal(&text);
}

static void expect_entry_error(const char *cluster, const char *user, const char *message)
{
	char *text = kubeconfig(cluster, user);

	expect_error(text, message);
	bt_free(text);
}

static struct bt_client_config parsed_entry(const char *cluster, const char *user)
{
	char *text = kubeconfig(cluster, user);
	struct bt_client_config config = parsed(text, "/etc/k/conf", NULL);

	bt_free(text);
	return config;
}

/* --- log lines --- */

static struct bt_strbuf log_text;

static void keep_line(void *context, const struct bt_log_record *record)
{
	(void)context;
	bt_strbuf_append_str(&log_text, record->message);
	bt_strbuf_append_char(&log_text, '\n');
}

static bool all_enabled(void *context, const char *file, int verbosity)
{
	(void)context;
	(void)file;
	(void)verbosity;
	return true;
}

static void catch_log(void)
{
	const struct bt_log_sink sink = {NULL, all_enabled, keep_line};

	bt_strbuf_finish(&log_text);
	bt_log_set_sink(&sink);
}

static void expect_log(const char *line)
{
	ck_assert_msg(strstr(bt_strbuf_c(&log_text), line) != NULL, "%s is not in %s", line,
		bt_strbuf_c(&log_text));
}

/* --- files --- */

static char folder[] = "/tmp/bt-client-config-XXXXXX";

static void make_folder(void)
{
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static char *path_of(const char *name)
{
	struct bt_strbuf path = {0};

	bt_strbuf_printf(&path, "%s/%s", folder, name);
	return bt_strbuf_steal(&path);
}

static char *write_file(const char *name, const char *content)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(content, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	return path;
}

static void remove_file(char *path)
{
	(void)unlink(path);
	bt_free(path);
}

#define NOTHING \
	"invalid configuration: no configuration has been provided, try setting " \
	"KUBERNETES_MASTER environment variable"

START_TEST(test_client_config__edge_13_01_an_empty_file_is_no_configuration)
{
	expect_error("", NOTHING);
	expect_error("# nothing\n", NOTHING);
	expect_error("{}", NOTHING);
}
END_TEST

START_TEST(test_client_config__edge_13_02_contexts_without_a_current_one)
{
	expect_error("contexts: [{name: x, context: {cluster: c}}]\n"
		     "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
		NOTHING);
	expect_error("current-context: zz\n"
		     "contexts: [{name: x, context: {cluster: c}}]\n"
		     "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
		"invalid configuration: [context was not found for specified context: zz, cluster "
		"has no server defined]");
}
END_TEST

START_TEST(test_client_config__edge_13_03_a_cluster_without_server)
{
	expect_entry_error("{insecure-skip-tls-verify: true}", "{}",
		"invalid configuration: no server found for cluster \"c\"");
	expect_error("clusters: [{name: '', cluster: {insecure-skip-tls-verify: true}}]\n",
		"invalid configuration: default cluster has no server defined");
}
END_TEST

START_TEST(test_client_config__edge_13_06_token_and_user_name)
{
	struct bt_client_config config;

	expect_entry_error("{server: 'https://h'}", "{token: secret, username: u}",
		"invalid configuration: more than one authentication method found for n; found "
		"[token basicAuth], only one is allowed");
	config = parsed_entry("{server: 'https://h'}",
		"{token: t, client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=}");
	expect_str(config.user.token, "t");
	expect_str(config.user.certificate_data, "hello");
	expect_str(config.user.key_data, "hello");
	bt_client_config_finish(&config);
}
END_TEST

START_TEST(test_client_config__edge_13_10_servers)
{
	static const struct {
		const char *cluster;
		const char *base_url;
	} rows[] = {
		{"{server: 'https://h:6443'}", "https://h:6443"},
		{"{server: 'HTTPS://h/'}", "https://h"},
		{"{server: '10.0.0.1:6443', insecure-skip-tls-verify: true}",
			"https://10.0.0.1:6443"},
		{"{server: '10.0.0.1:6443', certificate-authority-data: aGVsbG8=}",
			"https://10.0.0.1:6443"},
		{"{server: 'localhost:8080'}", "http://localhost:8080"},
		{"{server: 'localhost:8080/'}", "http://localhost:8080"},
		{"{server: 'https://[::1]:6443/?a=b#c'}", "https://[::1]:6443"},
		{"{server: 'localhost:8080/?a=b://c'}", "http://localhost:8080"},
		{"{server: 'localhost:8080#b://c'}", "http://localhost:8080"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_client_config config = parsed_entry(rows[i].cluster, "{}");
		expect_str(config.base_url, rows[i].base_url);
		ck_assert_int_eq(config.is_tls,
			strncmp(rows[i].base_url, "https", sizeof("https") - 1) == 0);
		bt_client_config_finish(&config);
	}
	expect_entry_error(
		"{server: foo/bar}", "{}", "host must be a URL or a host:port pair: \"foo/bar\"");
	expect_entry_error(
		"{server: 'h/a://b'}", "{}", "host must be a URL or a host:port pair: \"h/a://b\"");
	expect_entry_error("{server: \"h\\r\\nX: y\"}", "{}",
		"host must be a URL or a host:port pair: \"h\\r\\nX: y\"");
	expect_entry_error("{server: 'https://'}", "{}",
		"host must be a URL or a host:port pair: \"https://\"");
	expect_entry_error("{server: '1http://h'}", "{}",
		"host must be a URL or a host:port pair: \"1http://h\"");
	expect_entry_error("{server: '1http://u:secret@h'}", "{}",
		"host must be a URL or a host:port pair: \"1http:xxxxx@h\"");
	expect_entry_error("{server: 'ftp://h'}", "{}", "unsupported protocol scheme \"ftp\"");
	expect_entry_error("{server: 'https://u:secret@h'}", "{}",
		"user information in the server's URL is not supported");
}
END_TEST

START_TEST(test_client_config__edge_13_11_a_path_is_a_prefix)
{
	struct bt_client_config config =
		parsed_entry("{server: 'https://h/k8s/clusters/c1/'}", "{}");

	expect_str(config.base_url, "https://h/k8s/clusters/c1");
	bt_client_config_finish(&config);
}
END_TEST

START_TEST(test_client_config__edge_13_12_master_replaces_server_and_name)
{
	char *text = kubeconfig("{server: 'https://old', tls-server-name: old}", "{token: t}");
	struct bt_client_config config = parsed(text, "/etc/k/conf", "https://new:1");

	expect_str(config.base_url, "https://new:1");
	expect_str(config.cluster.server, "https://new:1");
	ck_assert_uint_eq(config.cluster.tls_server_name.length, 0);
	expect_str(config.user.token, "t");
	bt_client_config_finish(&config);
	config = parsed(text, "/etc/k/conf", "");
	expect_str(config.cluster.tls_server_name, "old");
	bt_client_config_finish(&config);
	bt_free(text);
	config = parsed("", "", "127.0.0.1:8080");
	expect_str(config.base_url, "http://127.0.0.1:8080");
	bt_client_config_finish(&config);
}
END_TEST

START_TEST(test_client_config__edge_13_13_relative_paths)
{
	char *conf;
	char *pem;
	char *text;
	struct bt_client_config config;

	make_folder();
	pem = write_file("ca.pem", "x");
	conf = path_of("conf");
	text = kubeconfig("{server: h, certificate-authority: ./sub/../ca.pem}",
		"{tokenFile: t, exec: {command: ./p.sh, apiVersion: "
		"client.authentication.k8s.io/v1, interactiveMode: Never}}");
	config = parsed(text, conf, NULL);
	expect_str(config.cluster.ca_file, pem);
	expect_str(config.base_url, "https://h");
	ck_assert_int_eq(strncmp(config.user.token_file.data, folder, strlen(folder)), 0);
	ck_assert(bt_str_has_suffix(config.user.exec->command, BT_STR("/p.sh")));
	ck_assert_int_eq(strncmp(config.user.exec->command.data, folder, strlen(folder)), 0);
	bt_client_config_finish(&config);
	bt_free(text);
	config = parsed_entry("{server: h}",
		"{exec: {command: p.sh, apiVersion: client.authentication.k8s.io/v1, "
		"interactiveMode: Never}}");
	expect_str(config.user.exec->command, "p.sh");
	bt_client_config_finish(&config);
	remove_file(pem);
	bt_free(conf);
	(void)rmdir(folder);
}
END_TEST

START_TEST(test_client_config__edge_13_14_interactive_mode)
{
	struct bt_client_config config;

	expect_entry_error("{server: h}",
		"{exec: {command: p, apiVersion: client.authentication.k8s.io/v1}}",
		"invalid configuration: interactiveMode must be specified for n to use exec "
		"authentication plugin");
	expect_entry_error("{server: h}",
		"{exec: {command: p, apiVersion: client.authentication.k8s.io/v1, "
		"interactiveMode: Sometimes}}",
		"invalid configuration: invalid interactiveMode for n: \"Sometimes\"");
	config = parsed_entry("{server: h}",
		"{exec: {command: p, apiVersion: client.authentication.k8s.io/v1beta1, args: [a, "
		"b], env: [{name: E, value: v}], installHint: hint, provideClusterInfo: true}}");
	expect_str(config.user.exec->interactive_mode, ""); /* like IfAvailable */
	ck_assert_uint_eq(config.user.exec->args.count, 2);
	expect_str(config.user.exec->env.items[0].name, "E");
	expect_str(config.user.exec->env.items[0].value, "v");
	expect_str(config.user.exec->install_hint, "hint");
	ck_assert(config.user.exec->provide_cluster_info);
	bt_client_config_finish(&config);
}
END_TEST

START_TEST(test_client_config__problems_are_collected)
{
	expect_entry_error("{server: h, proxy-url: 'ftp://u:secret@p', certificate-authority: "
			   "/nowhere/ca, certificate-authority-data: aGVsbG8=}",
		"{client-certificate: /nowhere/crt, client-certificate-data: aGVsbG8=, as-uid: u}",
		"invalid configuration: [client-cert-data and client-cert are both specified for "
		"n. client-cert-data will override., client-key-data or client-key must be "
		"specified for n to use the clientCert authentication method., unable to read "
		"client-cert /nowhere/crt for n due to open /nowhere/crt: no such file or "
		"directory, requesting uid, groups or user-extra for n without impersonating a "
		"user, invalid 'proxy-url' \"ftp://u:xxxxx@p\" for cluster \"c\": unsupported "
		"scheme \"ftp\", must be http, https, or socks5, certificate-authority-data and "
		"certificate-authority are both specified for c. certificate-authority-data will "
		"override., unable to read certificate-authority /nowhere/ca for c due to open "
		"/nowhere/ca: no such file or directory]");
	expect_entry_error("{server: h}",
		"{client-certificate-data: aGVsbG8=, client-key: /nowhere/key, client-key-data: "
		"aGVsbG8=}",
		"invalid configuration: [client-key-data and client-key are both specified for n; "
		"client-key-data will override, unable to read client-key /nowhere/key for n due "
		"to open /nowhere/key: no such file or directory]");
	expect_entry_error("{server: h}",
		"{auth-provider: {name: gcp}, exec: {env: [{value: v}], interactiveMode: Never}}",
		"invalid configuration: [authProvider cannot be provided in combination with an "
		"exec plugin for n, command must be specified for n to use exec authentication "
		"plugin, apiVersion must be specified for n to use exec authentication plugin, env "
		"variable name must be specified for n to use exec authentication plugin]");
	expect_entry_error("{server: h}", "{auth-provider: {name: gcp}}",
		"no Auth Provider found for name \"gcp\"");
}
END_TEST

START_TEST(test_client_config__impersonation)
{
	struct bt_client_config config = parsed_entry("{server: h}",
		"{as: jane, as-uid: u1, as-groups: [g1, g2], as-user-extra: {k: [a, b], l: [c]}}");

	expect_str(config.user.as, "jane");
	expect_str(config.user.as_uid, "u1");
	ck_assert_uint_eq(config.user.as_groups.count, 2);
	ck_assert_uint_eq(config.impersonate_extra.count, 3);
	expect_str(config.impersonate_extra.items[1].key, "k");
	expect_str(config.impersonate_extra.items[1].value, "b");
	bt_client_config_finish(&config);
}
END_TEST

#define IN_FILE "error loading config file \"/etc/k/conf\": "

START_TEST(test_client_config__files_that_cannot_be_read_as_one)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"kind: Pod\napiVersion: v1\n",
			IN_FILE "no kind \"Pod\" is registered for version \"v1\" in scheme "
				"\"k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50\""},
		{"clusters: [{name: c}, {name: c}]",
			IN_FILE "error converting *[]NamedCluster into *map[string]*api.Cluster: "
				"duplicate name \"c\" in list: [c c]"},
		{"users: [{name: c, user: {token: secret}}, {name: c}]",
			IN_FILE "error converting *[]NamedAuthInfo into *map[string]*api.AuthInfo: "
				"duplicate name \"c\" in list: [c c]"},
		{"contexts: [{name: c}, {name: c}]",
			IN_FILE "error converting *[]NamedContext into *map[string]*api.Context: "
				"duplicate name \"c\" in list: [c c]"},
		{"clusters: [{name: c, cluster: {certificate-authority-data: 'a*b='}}]",
			IN_FILE "illegal base64 data at input byte 1"},
		{"users: [{name: c, user: {token: [secret]}}]",
			IN_FILE "users[0].user.token: expected string, got array"},
		{"<!DOCTYPE html>\n<p>a: b: c</p>\n",
			IN_FILE
			"this is not a kubeconfig: a kubeconfig is YAML with clusters, users and "
			"contexts, as in ~/.kube/config"},
		{"words",
			IN_FILE
			"this is not a kubeconfig: a kubeconfig is YAML with clusters, users and "
			"contexts, as in ~/.kube/config"},
		{"a: [", IN_FILE "yaml: line 1: did not find expected node content"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_error(rows[i].text, rows[i].message);
	}
}
END_TEST

START_TEST(test_client_config__names_and_unknown_fields)
{
	struct bt_client_config config = parsed(
		"{\"kind\":\"Config\",\"preferences\":{},\"current-context\":\"x\","
		"\"contexts\":[{\"name\":\"X\"},{\"name\":\"x\",\"context\":{\"cluster\":\"c\","
		"\"user\":\"missing\",\"namespace\":\"ns\"}}],\"clusters\":[{\"name\":\"C\"},"
		"{\"name\":\"c\",\"cluster\":{\"server\":\"https://h\",\"proxy-url\":"
		"\"socks5://p:1\",\"disable-compression\":true,\"other\":[1]}}]}",
		"conf", NULL);

	expect_str(config.base_url, "https://h");
	expect_str(config.cluster.proxy_url, "socks5://p:1");
	bt_client_config_finish(&config);
}
END_TEST

/* --- choice of the configuration --- */

static void expect_load_error(const struct bt_client_config_input *input, const char *message)
{
	struct bt_client_config config = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_ne(bt_client_config_load(input, &config, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
}

static void set_variables(const char *host, const char *port)
{
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_HOST", host, 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_PORT", port, 1), 0);
}

START_TEST(test_client_config__files_that_are_not_there)
{
	struct bt_client_config_input input = {.kubeconfig = "/nowhere/conf"};
	struct bt_strbuf message = {0};
	char *empty;

	make_folder();
	expect_load_error(&input, "stat /nowhere/conf: no such file or directory");
	input.kubeconfig = folder;
	bt_strbuf_printf(&message, "error loading config file \"%s\": read %s: is a directory",
		folder, folder);
	expect_load_error(&input, bt_strbuf_c(&message));
	empty = write_file("empty", "");
	input.kubeconfig = empty;
	input.service_account_folder = folder;
	set_variables("", "");
	expect_load_error(&input, NOTHING);
	if (geteuid() != 0) {
		ck_assert_int_eq(chmod(empty, 0), 0);
		bt_strbuf_reset(&message);
		bt_strbuf_printf(&message,
			"error loading config file \"%s\": open %s: permission denied", empty,
			empty);
		expect_load_error(&input, bt_strbuf_c(&message));
	}
	bt_strbuf_finish(&message);
	remove_file(empty);
	(void)rmdir(folder);
}
END_TEST

START_TEST(test_client_config__a_pipe)
{
	struct bt_client_config_input input = {.master = NULL};
	struct bt_client_config config = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf path = {0};
	char *text = kubeconfig("{server: 'https://h'}", "{token: t}");

	make_folder();
	bt_strbuf_printf(&path, "%s/pipe", folder);
	input.kubeconfig = bt_strbuf_c(&path);
	ck_assert_int_eq(mkfifo(input.kubeconfig, 0600), 0);
	pid_t writer = fork();
	if (writer == 0) {
		int fd = open(input.kubeconfig, O_WRONLY);
		(void)usleep(100000);
		_exit(write(fd, text, strlen(text)) > 0 ? 0 : 1);
	}
	int code = bt_client_config_load(&input, &config, &err);
	(void)kill(writer, SIGKILL); /* if the pipe was not read */
	(void)waitpid(writer, NULL, 0);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	expect_str(config.user.token, "t");
	bt_client_config_finish(&config);
	bt_free(text);
	(void)unlink(input.kubeconfig);
	(void)rmdir(folder);
	bt_strbuf_finish(&path);
}
END_TEST

START_TEST(test_client_config__in_cluster)
{
	const struct bt_client_config_input input = {.service_account_folder = folder};
	struct bt_client_config config;
	struct bt_client_config_input with_file = input;
	char *token;
	char *empty;

	make_folder();
	token = write_file("token", "t\n");
	empty = write_file("conf", "");
	catch_log();
	set_variables("10.0.0.1", "443");
	ck_assert_int_eq(bt_client_config_load(&input, &config, NULL), 0);
	expect_str(config.base_url, "https://10.0.0.1:443");
	expect_str(config.user.token_file, token);
	ck_assert_uint_eq(config.cluster.ca_file.length, 0);
	expect_log("Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  "
		   "This might not work.\n");
	expect_log("Expected to load root CA config from ");
	bt_client_config_finish(&config);
	set_variables("fd00::1", "6443");
	/* An empty file is the same as no file. */
	with_file.kubeconfig = empty;
	ck_assert_int_eq(bt_client_config_load(&with_file, &config, NULL), 0);
	expect_str(config.base_url, "https://[fd00::1]:6443");
	bt_client_config_finish(&config);
	remove_file(token);
	remove_file(empty);
	(void)rmdir(folder);
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&log_text);
}
END_TEST

START_TEST(test_client_config__edge_11_21_not_in_a_cluster)
{
	const struct bt_client_config_input input = {.service_account_folder = "/nowhere"};

	catch_log();
	set_variables("", "");
	expect_load_error(&input, NOTHING);
	expect_log("error creating inClusterConfig, falling back to default config: unable to load "
		   "in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
		   "must be defined\n");
	set_variables("h", "1");
	expect_load_error(&input, NOTHING);
	expect_log("falling back to default config: open /nowhere/token: no such file or "
		   "directory\n");
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&log_text);
}
END_TEST

BT_TEST_MAIN("client_config", test_client_config__edge_13_01_an_empty_file_is_no_configuration,
	test_client_config__edge_13_02_contexts_without_a_current_one,
	test_client_config__edge_13_03_a_cluster_without_server,
	test_client_config__edge_13_06_token_and_user_name, test_client_config__edge_13_10_servers,
	test_client_config__edge_13_11_a_path_is_a_prefix,
	test_client_config__edge_13_12_master_replaces_server_and_name,
	test_client_config__edge_13_13_relative_paths,
	test_client_config__edge_13_14_interactive_mode, test_client_config__problems_are_collected,
	test_client_config__impersonation, test_client_config__files_that_cannot_be_read_as_one,
	test_client_config__names_and_unknown_fields, test_client_config__files_that_are_not_there,
	test_client_config__a_pipe, test_client_config__in_cluster,
	test_client_config__edge_11_21_not_in_a_cluster)
