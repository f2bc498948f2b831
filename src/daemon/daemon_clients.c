/* SPDX-License-Identifier: Apache-2.0 */
/** Connections to API servers, and who uses them. Spec: 11b sections 4.1 and 4.2. */
#include <stdlib.h>

#include "base/nanoseconds.h"
#include "daemon/build_info.h"
#include "daemon/daemon_private.h"

/** Reviews of callers: spec 11b section 4.2. */
#define REVIEW_QPS 200.0F
#define REVIEW_BURST 400

static int open_link(struct bt_daemon *daemon, struct bt_str kubeconfig, struct bt_str master,
	struct bt_daemon_link *link, struct berth_error *err)
{
	struct bt_client_config_input input = {
		.kubeconfig = kubeconfig.length != 0 ? kubeconfig.data : NULL,
		.master = master.length != 0 ? master.data : NULL,
	};
	int result = bt_client_config_load(&input, &link->config, err);
	if (result < 0) {
		return result;
	}
	link->is_open = true;
	struct bt_transport_options options = {
		.loop = daemon->loop, .config = &link->config, .metrics = daemon->metrics};
	return bt_transport_create(&options, &link->transport, err);
}

static void close_link(struct bt_daemon_link *link)
{
	bt_transport_destroy(link->transport);
	link->transport = NULL;
	if (link->is_open) {
		bt_client_config_finish(&link->config);
		link->is_open = false;
	}
}

int bt_daemon_connect(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_config_client_connection *connection =
		bt_config_client_connection(daemon->config);
	return open_link(
		daemon, connection->kubeconfig, daemon->options.master, &daemon->server, err);
}

static int create_client(struct bt_daemon *daemon, const struct bt_daemon_link *link,
	const char *purpose, const struct bt_rest_options *base, struct bt_rest_client **out_client,
	struct berth_error *err)
{
	struct bt_rest_options options = *base;
	struct bt_arena arena = {0};
	struct bt_build build = bt_build_about(&arena);
	struct bt_strbuf agent = {0};
	bt_strbuf_printf(&agent, "kube-scheduler/%.*s (%s) kubernetes/%.7s/%s",
		BT_STR_ARG(daemon->options.versions.git_version), build.platform, build.git_commit,
		purpose);
	options.transport = link->transport;
	options.loop = daemon->loop;
	options.user_agent = bt_strbuf_c(&agent);
	options.metrics = daemon->metrics;
	int result = bt_rest_client_create(&options, out_client, err);
	bt_strbuf_finish(&agent);
	bt_arena_finish(&arena);
	return result;
}

/** Who looks at callers; without a way to an API server nobody is looked up. */
static int create_reviewer(struct bt_daemon *daemon, struct bt_str kubeconfig,
	struct bt_daemon_link *link, struct bt_rest_client **out_client, struct berth_error *err)
{
	struct bt_rest_options options = {
		.content_type = BT_STR("application/json"),
		.qps = REVIEW_QPS,
		.burst = REVIEW_BURST,
	};
	struct berth_error absent = BERTH_ERROR_INIT;
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	if (kubeconfig.length == 0 && (host == NULL || host[0] == '\0')) {
		return 0;
	}
	int result = open_link(
		daemon, kubeconfig, BT_STR(""), link, kubeconfig.length != 0 ? err : &absent);
	if (result == 0) {
		return create_client(daemon, link, "scheduler", &options, out_client, err);
	}
	close_link(link);
	berth_error_finish(&absent);
	return kubeconfig.length != 0 ? result : 0;
}

static int create_reviewers(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_daemon_options *options = &daemon->options;
	if (options->serving.secure_port == 0) {
		return 0;
	}
	int result = create_reviewer(daemon, options->authentication.kubeconfig,
		&daemon->authentication, &daemon->authentication_client, err);
	if (result < 0) {
		return bt_error_wrap(
			err, result, "failed to get delegated authentication kubeconfig");
	}
	result = create_reviewer(daemon, options->authorization.kubeconfig, &daemon->authorization,
		&daemon->authorization_client, err);
	return result < 0
		? bt_error_wrap(err, result, "failed to get delegated authorization kubeconfig")
		: 0;
}

int bt_daemon_create_clients(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_config_client_connection *connection =
		bt_config_client_connection(daemon->config);
	const struct bt_config_leader_election *election =
		bt_config_leader_election(daemon->config);
	struct bt_rest_options options = {
		.content_type = connection->content_type,
		.accept_content_types = connection->accept_content_types,
		.qps = connection->qps,
		.burst = connection->burst,
	};
	const struct bt_daemon_link *server = &daemon->server;
	int result = create_client(daemon, server, "scheduler", &options, &daemon->client, err);
	if (result == 0) {
		result = create_client(
			daemon, server, "scheduler", &options, &daemon->event_client, err);
	}
	if (result == 0 && election->leader_elect) {
		int64_t half_ns = election->renew_deadline_ns / 2;
		options.timeout_ns = half_ns > BT_NS_PER_SECOND ? half_ns : BT_NS_PER_SECOND;
		result = create_client(
			daemon, server, "leader-election", &options, &daemon->lease_client, err);
	}
	return result == 0 ? create_reviewers(daemon, err) : result;
}

void bt_daemon_disconnect(struct bt_daemon *daemon)
{
	struct bt_rest_client *clients[] = {daemon->client, daemon->event_client,
		daemon->lease_client, daemon->authentication_client, daemon->authorization_client};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(clients); i++) {
		if (clients[i] != NULL) {
			bt_rest_client_destroy(clients[i]);
		}
	}
	close_link(&daemon->server);
	close_link(&daemon->authentication);
	close_link(&daemon->authorization);
}
