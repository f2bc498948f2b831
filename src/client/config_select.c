/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "client/config_private.h"
#include "client/file.h"

#define NO_CONFIGURATION \
	"no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

/* Everything that is wrong, in the order it was found. */
struct problems {
	struct bt_strbuf text; /* joined by ", " */
	uint32_t count;
};

BT_PRINTF(2, 3)
static void complain(struct problems *problems, const char *format, ...)
{
	va_list arguments;

	bt_strbuf_append_c(&problems->text, problems->count++ > 0 ? ", " : "");
	va_start(arguments, format);
	bt_strbuf_vprintf(&problems->text, format, arguments);
	va_end(arguments);
}

/* The cause's text, and the cause is over. */
static void complain_cause(
	struct problems *problems, const char *what, struct bt_str name, struct berth_error *cause)
{
	complain(problems, "unable to read %s for %.*s due to %s", what, BT_STR_ARG(name),
		berth_error_message(cause));
	berth_error_finish(cause);
}

static void check_file(
	struct problems *problems, const char *what, struct bt_str path, struct bt_str name)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strbuf whole = {0};

	if (path.length == 0) {
		return;
	}
	if (bt_client_file_check(path.data, &cause) != 0) {
		bt_strbuf_printf(&whole, "%s %.*s", what, BT_STR_ARG(path));
		complain_cause(problems, bt_strbuf_c(&whole), name, &cause);
		bt_strbuf_finish(&whole);
	}
}

/* --- users --- */

static void check_certificate(
	struct problems *problems, const struct bt_kubeconfig_user *user, struct bt_str name)
{
	if (user->certificate_file.length == 0 && user->certificate_data.data == NULL) {
		return;
	}
	if (user->certificate_file.length != 0 && user->certificate_data.data != NULL) {
		complain(problems,
			"client-cert-data and client-cert are both specified for %.*s. "
			"client-cert-data will override.",
			BT_STR_ARG(name));
	}
	if (user->key_file.length != 0 && user->key_data.data != NULL) {
		complain(problems,
			"client-key-data and client-key are both specified for %.*s; "
			"client-key-data will override",
			BT_STR_ARG(name));
	}
	if (user->key_file.length == 0 && user->key_data.data == NULL) {
		complain(problems,
			"client-key-data or client-key must be specified for %.*s to use the "
			"clientCert authentication method.",
			BT_STR_ARG(name));
	}
	check_file(problems, "client-cert", user->certificate_file, name);
	check_file(problems, "client-key", user->key_file, name);
}

static void check_exec(
	struct problems *problems, const struct bt_kubeconfig_user *user, struct bt_str name)
{
	static const char plugin[] = "to use exec authentication plugin";
	const struct bt_kubeconfig_exec *exec = user->exec;

	if (exec == NULL) {
		return;
	}
	if (user->auth_provider != NULL) {
		complain(problems,
			"authProvider cannot be provided in combination with an exec plugin for "
			"%.*s",
			BT_STR_ARG(name));
	}
	if (exec->command.length == 0) {
		complain(problems, "command must be specified for %.*s %s", BT_STR_ARG(name),
			plugin);
	}
	if (exec->api_version.length == 0) {
		complain(problems, "apiVersion must be specified for %.*s %s", BT_STR_ARG(name),
			plugin);
	}
	for (uint32_t i = 0; i < exec->env.count; i++) {
		if (exec->env.items[i].name.length == 0) {
			complain(problems, "env variable name must be specified for %.*s %s",
				BT_STR_ARG(name), plugin);
		}
	}
	if (exec->interactive_mode.length == 0) {
		if (!(bt_str_equal_c(exec->api_version, "client.authentication.k8s.io/v1beta1") ||
			    bt_str_equal_c(
				    exec->api_version, "client.authentication.k8s.io/v1alpha1"))) {
			complain(problems, "interactiveMode must be specified for %.*s %s",
				BT_STR_ARG(name), plugin);
		}
	} else if (!(bt_str_equal_c(exec->interactive_mode, "Never") ||
			   bt_str_equal_c(exec->interactive_mode, "IfAvailable") ||
			   bt_str_equal_c(exec->interactive_mode, "Always"))) {
		complain(problems, "invalid interactiveMode for %.*s: \"%.*s\"", BT_STR_ARG(name),
			BT_STR_ARG(exec->interactive_mode));
	}
}

/* --- clusters --- */

static void check_cluster(
	struct problems *problems, const struct bt_kubeconfig_cluster *cluster, struct bt_str name)
{
	struct berth_error cause = BERTH_ERROR_INIT;

	if (cluster->server.length == 0 && name.length == 0) {
		complain(problems, "default cluster has no server defined");
	} else if (cluster->server.length == 0) {
		complain(problems, "no server found for cluster \"%.*s\"", BT_STR_ARG(name));
	}
	if (cluster->proxy_url.length != 0 &&
		bt_client_config_check_proxy(cluster->proxy_url, name, &cause) != 0) {
		complain(problems, "%s", berth_error_message(&cause));
		berth_error_finish(&cause);
	}
	if (cluster->ca_file.length != 0 && cluster->ca_data.data != NULL) {
		complain(problems,
			"certificate-authority-data and certificate-authority are both specified "
			"for %.*s. certificate-authority-data will override.",
			BT_STR_ARG(name));
	}
	check_file(problems, "certificate-authority", cluster->ca_file, name);
}

/* --- the current context --- */

struct selection {
	struct bt_kubeconfig_context context;
	struct bt_kubeconfig_cluster cluster;
	struct bt_kubeconfig_user user;
};

static int check_selection(const struct bt_kubeconfig *file, const struct selection *selection,
	bool context_is_known, bool *out_nothing, struct berth_error *err)
{
	struct problems problems = {0};
	bool nothing = false;
	int code = 0;

	if (!context_is_known) {
		complain(&problems, "context was not found for specified context: %.*s",
			BT_STR_ARG(file->current_context));
	}
	const struct bt_kubeconfig_user *user = &selection->user;
	struct bt_str name = selection->context.user;
	check_certificate(&problems, user, name);
	check_exec(&problems, user, name);
	if (user->token.length != 0 && (user->username.length != 0 || user->password.length != 0)) {
		complain(&problems,
			"more than one authentication method found for %.*s; found [token "
			"basicAuth], only one is allowed",
			BT_STR_ARG(name));
	}
	if (user->as.length == 0 &&
		(user->as_uid.length != 0 || user->as_groups.count != 0 ||
			(user->as_user_extra.length != 0 &&
				!bt_str_equal_c(user->as_user_extra, "null") &&
				!bt_str_equal_c(user->as_user_extra, "{}")))) {
		complain(&problems,
			"requesting uid, groups or user-extra for %.*s without impersonating a "
			"user",
			BT_STR_ARG(name));
	}
	if (selection->cluster.server.length == 0 &&
		selection->cluster.tls_server_name.length == 0 && !selection->cluster.insecure &&
		selection->cluster.ca_file.length == 0 && selection->cluster.ca_data.data == NULL &&
		selection->cluster.proxy_url.length == 0 &&
		!selection->cluster.disable_compression &&
		selection->cluster.extensions.count == 0) {
		nothing = problems.count == 0;
		complain(&problems, "%s",
			nothing ? NO_CONFIGURATION : "cluster has no server defined");
	} else {
		check_cluster(&problems, &selection->cluster, selection->context.cluster);
	}
	if (problems.count > 0) {
		code = bt_error_set(err, BERTH_ERR_INVALID, "invalid configuration: %s%s%s",
			problems.count > 1 ? "[" : "", bt_strbuf_c(&problems.text),
			problems.count > 1 ? "]" : "");
	}
	bt_strbuf_finish(&problems.text);
	if (out_nothing != NULL) {
		*out_nothing = nothing;
	}
	return code;
}

/* --- into the configuration --- */

static enum bt_exec_interactive interactive_of(struct bt_str mode)
{
	if (bt_str_equal_c(mode, "Never")) {
		return BT_EXEC_INTERACTIVE_NEVER;
	}
	return bt_str_equal_c(mode, "Always") ? BT_EXEC_INTERACTIVE_ALWAYS
					      : BT_EXEC_INTERACTIVE_IF_AVAILABLE;
}

static const struct bt_client_exec *take_exec(const struct bt_kubeconfig_exec *exec,
	const struct bt_kubeconfig_cluster *cluster, struct bt_arena *arena)
{
	struct bt_client_exec *out;

	if (exec == NULL) {
		return NULL;
	}
	out = BT_ARENA_NEW(arena, struct bt_client_exec);
	out->command = exec->command;
	out->args = exec->args;
	out->env.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, exec->env.count);
	out->env.count = exec->env.count;
	for (uint32_t i = 0; i < exec->env.count; i++) {
		out->env.items[i] =
			(struct bt_str_pair){exec->env.items[i].name, exec->env.items[i].value};
	}
	out->api_version = exec->api_version;
	out->install_hint = exec->install_hint;
	out->provide_cluster_info = exec->provide_cluster_info;
	out->interactive_mode = interactive_of(exec->interactive_mode);
	out->cluster_extension = BT_STR("");
	for (uint32_t i = 0; i < cluster->extensions.count; i++) {
		if (bt_str_equal_c(cluster->extensions.items[i].name, EXEC_EXTENSION)) {
			out->cluster_extension = cluster->extensions.items[i].extension;
		}
	}
	return out;
}

/* {key: [value, ...]}: one pair a value. */
static int take_extra(struct bt_str json, struct bt_client_config *config, struct berth_error *err)
{
	struct bt_json_value *extra = NULL;
	uint32_t count = 0;

	if (json.length == 0) {
		return 0;
	}
	if (bt_json_parse(&config->arena, json, true, &extra, NULL) != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "as-user-extra: cannot be read");
	}
	for (uint32_t i = 0; extra->type == BT_JSON_OBJECT && i < extra->count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		count += values->type == BT_JSON_ARRAY ? values->count : 0;
	}
	config->impersonate_extra.items =
		BT_ARENA_NEW_ARRAY(&config->arena, struct bt_str_pair, count);
	for (uint32_t i = 0; extra->type == BT_JSON_OBJECT && i < extra->count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		for (uint32_t k = 0; values->type == BT_JSON_ARRAY && k < values->count; k++) {
			if (values->elements[k]->type != BT_JSON_STRING) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"as-user-extra: expected string, got %s",
					bt_json_type_name(values->elements[k]->type));
			}
			config->impersonate_extra.items[config->impersonate_extra.count++] =
				(struct bt_str_pair){
					extra->members[i].name, values->elements[k]->text};
		}
	}
	return 0;
}

static int take_user(
	const struct selection *selection, struct bt_client_config *config, struct berth_error *err)
{
	const struct bt_kubeconfig_user *user = &selection->user;

	if (user->auth_provider != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no Auth Provider found for name \"%.*s\"",
			BT_STR_ARG(user->auth_provider->name));
	}
	config->certificate =
		(struct bt_client_material){user->certificate_data, user->certificate_file};
	config->key = (struct bt_client_material){user->key_data, user->key_file};
	config->token = user->token;
	config->token_file = user->token_file;
	config->username = user->username;
	config->password = user->password;
	config->impersonate = user->as;
	config->impersonate_uid = user->as_uid;
	config->impersonate_groups = user->as_groups;
	config->exec = take_exec(user->exec, &selection->cluster, &config->arena);
	return take_extra(user->as_user_extra, config, err);
}

int bt_kubeconfig_select(const struct bt_kubeconfig *file, const char *master,
	struct bt_client_config *config, bool *out_nothing, struct berth_error *err)
{
	struct selection selection = {0};
	/* A missing entry counts as empty. false: current-context is unknown. */
	bool known = file->current_context.length == 0;

	for (uint32_t i = 0; i < file->contexts.count; i++) {
		if (bt_str_equal(file->contexts.items[i].name, file->current_context)) {
			selection.context = file->contexts.items[i].context;
			known = true;
		}
	}
	for (uint32_t i = 0; i < file->clusters.count; i++) {
		if (bt_str_equal(file->clusters.items[i].name, selection.context.cluster)) {
			selection.cluster = file->clusters.items[i].cluster;
		}
	}
	for (uint32_t i = 0; i < file->users.count; i++) {
		if (bt_str_equal(file->users.items[i].name, selection.context.user)) {
			selection.user = file->users.items[i].user;
		}
	}

	struct bt_kubeconfig_cluster *cluster = &selection.cluster;
	int code;

	if (master != NULL && master[0] != '\0') {
		cluster->server = bt_arena_str(&config->arena, bt_str_from(master));
		cluster->tls_server_name = (struct bt_str){0};
	}
	code = check_selection(file, &selection, known, out_nothing, err);
	if (code != 0) {
		return code;
	}
	config->server = cluster->server;
	config->tls_server_name = cluster->tls_server_name;
	config->insecure = cluster->insecure;
	config->ca = (struct bt_client_material){cluster->ca_data, cluster->ca_file};
	config->proxy_url = cluster->proxy_url;
	code = take_user(&selection, config, err);
	return code != 0 ? code : bt_client_config_derive_url(config, err);
}
