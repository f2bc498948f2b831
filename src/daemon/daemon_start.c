/* SPDX-License-Identifier: Apache-2.0 */
/** Creates and destroys the parts of the daemon. Spec: 11 section 6.1. */
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nanoseconds.h"
#include "codec/json.h"
#include "daemon/build_info.h"
#include "daemon/daemon_private.h"
#include "daemon/klog.h"
#include "daemon/resource_metrics.h"
#include "net/clock.h"

static void write_entries(
	struct bt_json_writer *writer, const struct bt_framework_entry *entries, uint32_t count)
{
	bt_json_write(writer, count == 0 ? "{Enabled: null" : "{Enabled: [");
	for (uint32_t i = 0; i < count; i++) {
		bt_json_write(writer, "{Name: %c, Weight: %d}", entries[i].plugin->ops->name,
			(int64_t)entries[i].weight);
	}
	bt_json_write(writer, count == 0 ? "Disabled: null}" : "], Disabled: null}");
}

static void write_point(struct bt_json_writer *writer, const struct bt_framework *framework,
	enum bt_extension_point point)
{
	bt_json_write_name_c(writer, bt_extension_point_name(point));
	write_entries(writer, framework->points[point].entries.items,
		framework->points[point].entries.count);
}

/** Connections to API servers, and their clients. Spec: 11b sections 4.1 and 4.2. */

/** Limits of the clients for TokenReview and SubjectAccessReview: spec 11b section 4.2. */
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

/**
 * Create the client for reviews of callers. *out_client stays unset if no API server is configured:
 * no kubeconfig, and no usable in-cluster configuration.
 */
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

static int create_clients(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_config_client_connection *connection =
		&daemon->config->document.client_connection;
	const struct bt_config_leader_election *election =
		&daemon->config->document.leader_election;
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
		options.timeout_ns = BT_MAX(half_ns, BT_NS_PER_SECOND);
		result = create_client(
			daemon, server, "leader-election", &options, &daemon->lease_client, err);
	}
	const struct bt_daemon_options *flags = &daemon->options;
	if (result < 0 || flags->serving.secure_port == 0) {
		return result;
	}
	result = create_reviewer(daemon, flags->authentication.kubeconfig, &daemon->authentication,
		&daemon->authentication_client, err);
	if (result < 0) {
		return bt_error_wrap(
			err, result, "failed to get delegated authentication kubeconfig");
	}
	result = create_reviewer(daemon, flags->authorization.kubeconfig, &daemon->authorization,
		&daemon->authorization_client, err);
	return result < 0
		? bt_error_wrap(err, result, "failed to get delegated authorization kubeconfig")
		: 0;
}

static bool append_pod(void *context, struct bt_str namespace_, struct bt_str name,
	struct bt_str uid, struct bt_strbuf *out)
{
	const struct bt_daemon *daemon = context;
	const struct bt_object *pod =
		bt_cluster_feed_find_complete(daemon->feed, BT_KIND_POD, namespace_, name);
	if (pod == NULL || !bt_str_equal(pod->meta->uid, uid)) {
		return false;
	}
	bt_strbuf_append_str(out, pod->json);
	return true;
}

static bool append_node(void *context, struct bt_str name, struct bt_strbuf *out)
{
	const struct bt_daemon *daemon = context;
	const struct bt_object *node =
		bt_cluster_feed_find_complete(daemon->feed, BT_KIND_NODE, BT_STR(""), name);
	if (node == NULL) {
		return false;
	}
	bt_strbuf_append_str(out, node->json);
	return true;
}

/** Return the maximum number of writes in flight: as many as the connections can carry. */
static uint32_t calls_max(void *context)
{
	struct bt_daemon *daemon = context;
	return bt_transport_calls_max(daemon->server.transport);
}

static bool is_stopping(void *context)
{
	const struct bt_daemon *daemon = context;
	return daemon->stopping || daemon->failed;
}

static void lease_event(void *context, const struct bt_object_meta *lease, struct bt_str message)
{
	const struct bt_daemon *daemon = context;
	bt_event_sender_lease_event(daemon->events, lease, message);
}

static int64_t wall_now_ns(void *context BT_UNUSED)
{
	return bt_clock_wall_ns();
}

static bool may_act(void *context)
{
	const struct bt_daemon *daemon = context;
	return daemon->leads && !daemon->stopping && !daemon->failed &&
		(daemon->election == NULL || bt_leader_election_may_act(daemon->election));
}

/** This process becomes the leader: pods are scheduled from now on. */
static void lead(struct bt_daemon *daemon)
{
	daemon->leads = true;
	bt_loop_call_at(daemon->loop, bt_loop_now_ns(daemon->loop));
}

static void started_leading(void *context)
{
	struct bt_daemon *daemon = context;
	if (!daemon->config->document.delay_cache_until_active || daemon->election == NULL) {
		lead(daemon);
		return;
	}
	BT_LOG_INFO_PLAIN(0, "Starting informers and waiting for sync...");
	bt_cluster_feed_start(daemon->feed);
}

static void stopped_leading(void *context, bool was_leading BT_UNUSED, bool lost)
{
	struct bt_daemon *daemon = context;
	daemon->leads = false;
	daemon->lost = lost && !daemon->stopping;
	bt_loop_stop(daemon->loop);
}

static void synced(void *context)
{
	struct bt_daemon *daemon = context;
	BT_LOG_INFO_PLAIN(3, "Handlers synced");
	bt_daemon_trim_memory();
	if (daemon->stopping) {
		return;
	}
	if (daemon->election == NULL) {
		lead(daemon);
	} else if (daemon->election_started) {
		BT_LOG_INFO_PLAIN(0, "Sync completed");
		lead(daemon);
	} else {
		daemon->election_started = true;
		bt_leader_election_start(daemon->election);
	}
}

/** End the process with "command failed"; err is moved. */
static void feed_failed(void *context, struct berth_error *err)
{
	struct bt_daemon *daemon = context;
	if (!daemon->failed) {
		daemon->failed = true;
		daemon->leads = false;
		(void)bt_error_move(&daemon->err, err);
		bt_loop_stop(daemon->loop);
	}
}

static bool is_not_shutting_down(void *context, struct bt_strbuf *out_error)
{
	const struct bt_daemon *daemon = context;
	if (daemon->stopping) {
		bt_strbuf_append_c(out_error, "process is shutting down");
	}
	return !daemon->stopping;
}

static bool are_handlers_synced(void *context, struct bt_strbuf *out_error)
{
	const struct bt_daemon *daemon = context;
	bool is_synced = bt_cluster_feed_is_synced(daemon->feed);
	if (!is_synced) {
		bt_strbuf_append_c(out_error, "handlers are not fully synchronized");
	}
	return is_synced;
}

/**
 * This health check is used with coordinated leader election only: a candidate should have its
 * caches filled before it is elected.
 */
static bool are_informers_synced(void *context, struct bt_strbuf *out_error)
{
	const struct bt_daemon *daemon = context;
	struct bt_strbuf types = {0};
	uint32_t count = bt_cluster_feed_list_unsynced(daemon->feed, &types);
	if (count != 0) {
		bt_strbuf_printf(out_error, "%u informers not started yet: [%s]", count,
			bt_strbuf_c(&types));
	}
	bt_strbuf_finish(&types);
	return count == 0;
}

static void write_config(void *context, struct bt_strbuf *out)
{
	const struct bt_daemon *daemon = context;
	/*
	 * Upstream quirk, spec 10 section 10: at verbosity 2 or more, the configuration is logged,
	 * and logging changes it. So /configz shows the logged form.
	 */
	if (daemon->options.log.verbosity >= 2) {
		bt_config_write(daemon->config, out);
	} else {
		bt_config_write_stored(daemon->config, out);
	}
}

static void add_pod(void *context, const struct bt_object *object)
{
	bt_pod_samples_add(context, bt_object_value(object, BT_KIND_POD));
}

/** Only the leader reports resources of pods. */
static void write_pod_resources(void *context, struct bt_strbuf *out)
{
	const struct bt_daemon *daemon = context;
	const struct bt_reflector *pods = bt_cluster_feed_reflector(daemon->feed, BT_KIND_POD);
	struct bt_pod_samples samples = {0};
	if (daemon->leads && pods != NULL) {
		bt_reflector_for_each(pods, add_pod, &samples);
		bt_pod_samples_write(&samples, out);
	}
}

static int create_endpoints(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_health_check ping = {.name = "ping"};
	const struct bt_health_check lease = {.name = "leaderElection"};
	const struct bt_health_check ready[] = {
		lease,
		{"shutdown", is_not_shutting_down, daemon},
		{"sched-handler-sync", are_handlers_synced, daemon},
		{"informer-sync", are_informers_synced, daemon},
	};
	bool elects = daemon->config->document.leader_election.leader_elect;
	uint32_t first = elects ? 0 : 1;
	bool is_coordinated =
		bt_gate_enabled(&daemon->config->gates, BT_GATE_COORDINATED_LEADER_ELECTION);
	uint32_t end = elects && is_coordinated ? 4 : 3;
	struct bt_endpoints_options options = {
		.loop = daemon->loop,
		.options = &daemon->options,
		.enable_profiling = daemon->config->document.enable_profiling,
		.authentication_client = daemon->authentication_client,
		.authorization_client = daemon->authorization_client,
		.healthz = elects ? &lease : &ping,
		.healthz_count = 1,
		.livez = &ping,
		.livez_count = 1,
		.readyz = ready + first,
		.readyz_count = end - first,
		.metrics = daemon->metrics,
		.write_config = write_config,
		.write_pod_resources = write_pod_resources,
		.context = daemon,
		.started_ns = daemon->started_ns,
		.serving = daemon->serving,
	};
	if (daemon->options.serving.secure_port == 0) {
		return 0;
	}
	daemon->serving = NULL;
	return bt_endpoints_create(&options, &daemon->endpoints, err);
}

static int64_t monotonic_ns(void *context BT_UNUSED)
{
	return bt_clock_steady_ns();
}

static void create_metrics(struct bt_daemon *daemon)
{
	const struct bt_metrics_options *options = &daemon->options.metrics;
	struct bt_arena arena = {0};
	struct bt_build build = bt_build_about(&arena);
	for (uint32_t i = 0; i < options->disabled.count; i++) {
		bt_metrics_disable(daemon->metrics, options->disabled.items[i]);
	}
	for (uint32_t i = 0; i < options->allowed.count; i++) {
		const struct bt_allowed_label *allowed = &options->allowed.items[i];
		bt_metrics_allow_values(daemon->metrics, allowed->metric, allowed->label,
			allowed->values.items, allowed->values.count);
	}
	bt_process_metrics_register(daemon->metrics, daemon->started_ns, &build,
		&daemon->options.versions, &daemon->config->gates);
	bt_arena_finish(&arena);
	daemon->scheduler_metrics = bt_scheduler_metrics_create(
		daemon->metrics, &daemon->config->gates, monotonic_ns, NULL);
}

static int create_election(struct bt_daemon *daemon, struct berth_error *err)
{
	const struct bt_config_leader_election *config = &daemon->config->document.leader_election;
	if (!config->leader_elect) {
		return 0;
	}
	int result = bt_leader_election_make_identity(&daemon->identity, err);
	if (result < 0) {
		return result;
	}
	struct bt_leader_election_options options = {
		.client = daemon->lease_client,
		.loop = daemon->loop,
		.prng = &daemon->prng,
		.config = config,
		.identity = bt_strbuf_c(&daemon->identity),
		.coordinated = bt_gate_enabled(
			&daemon->config->gates, BT_GATE_COORDINATED_LEADER_ELECTION),
		.streaming = bt_daemon_streams_lists(&daemon->config->gates),
		.versions = &daemon->options.versions,
		.metrics = daemon->metrics,
		.handler = {.context = daemon,
			.started = started_leading,
			.stopped = stopped_leading,
			.event = lease_event},
	};
	return bt_leader_election_create(&options, &daemon->election, err);
}

static int create_scheduler(struct bt_daemon *daemon, struct berth_error *err)
{
	struct bt_extender_http_options extenders = {
		.loop = daemon->loop,
		.may_act = may_act,
		.context = daemon,
		.objects = {append_pod, append_node, daemon},
	};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	daemon->extenders = bt_extender_http_create(&extenders);
	options.tie_policy = BT_TIE_HEAP;
	options.seed = bt_prng_next(&daemon->prng);
	const char *value = getenv("BERTH_VERIFY");
	options.verify = value != NULL && strcmp(value, "1") == 0;
	int64_t max_pd_volumes;
	if (bt_str_parse_int64(bt_str_from(getenv("KUBE_MAX_PD_VOLS")), &max_pd_volumes) &&
		max_pd_volumes > 0) {
		options.max_pd_volumes = max_pd_volumes;
	}
	options.extenders = bt_extender_http_factory(daemon->extenders);
	options.extender_observer = bt_extender_http_log_observer;
	options.metrics = daemon->scheduler_metrics;
	options.max_in_unschedulable_ns = daemon->options.pod_max_in_unschedulable_ns;
	int result = bt_scheduler_create(daemon->config, &options,
		bt_api_writes_writer(daemon->writes), &daemon->scheduler, err);
	if (result == 0) {
		/* Log, for each profile, the plugins of every extension point in call order. */
		const struct bt_profiles *profiles =
			&bt_scheduler_engine(daemon->scheduler)->profiles;
		for (uint32_t i = 0; i < profiles->frameworks.count && BT_LOG_ENABLED(2); i++) {
			const struct bt_framework *framework = profiles->frameworks.items[i];
			struct bt_strbuf text = {0};
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, &text, 0);
			bt_json_begin_object(&writer);
			for (size_t k = 0; k < BT_CONFIG_PLUGINS_POINTS; k++) {
				write_point(&writer, framework, bt_config_plugins_points[k]);
			}
			/*
			 * Upstream's struct also has the field MultiPoint, which is empty here,
			 * because its plugins were moved to the extension points.
			 */
			bt_json_write_name_c(&writer, "MultiPoint");
			write_entries(&writer, NULL, 0);
			write_point(&writer, framework, BT_POINT_PLACEMENT_GENERATE);
			write_point(&writer, framework, BT_POINT_PLACEMENT_SCORE);
			bt_json_end_object(&writer);
			BT_LOG_INFO(2, "the scheduler starts to work with those plugins",
				BT_LOG_JSON("Plugins", bt_strbuf_str(&text)));
			bt_strbuf_finish(&text);
		}
		bt_api_writes_attach(daemon->writes, daemon->scheduler);
	}
	return result;
}

int bt_daemon_build(struct bt_daemon *daemon, struct berth_error *err)
{
	char host[256] = "localhost";
	(void)gethostname(host, sizeof(host) - 1); /* a longer name is truncated */
	const struct bt_config_client_connection *connection =
		&daemon->config->document.client_connection;
	create_metrics(daemon); /* first: the flags apply to the metrics of the clients, too */
	int result = open_link(
		daemon, connection->kubeconfig, daemon->options.master, &daemon->server, err);
	if (result == 0) {
		result = create_clients(daemon, err);
	}
	if (result == 0) {
		result = create_endpoints(daemon, err);
	}
	if (result < 0) {
		return result;
	}
	struct bt_strbuf component = {0};
	bt_strbuf_append_str(&component, daemon->config->document.profiles.items[0].scheduler_name);
	struct bt_event_sender_options events = {
		.client = daemon->event_client,
		.loop = daemon->loop,
		.prng = &daemon->prng,
		.host = host,
		.component = bt_strbuf_c(&component),
	};
	daemon->events = bt_event_sender_create(&events);
	bt_strbuf_finish(&component);
	result = create_election(daemon, err);
	if (result == 0) {
		struct bt_api_writes_options options = {
			.client = daemon->client,
			.loop = daemon->loop,
			.events = bt_event_sender_recorder(daemon->events),
			.may_write = may_act,
			.is_stopping = is_stopping,
			.now_ns = wall_now_ns,
			.context = daemon,
			.in_flight_max = calls_max,
			.seed = bt_prng_next(&daemon->prng),
		};
		daemon->writes = bt_api_writes_create(&options);
		result = create_scheduler(daemon, err);
	}
	if (result == 0) {
		const struct bt_gates *gates = &daemon->config->gates;
		struct bt_cluster_feed_options options = {
			.client = daemon->client,
			.loop = daemon->loop,
			.prng = &daemon->prng,
			.scheduler = daemon->scheduler,
			.gates = gates,
			.metrics = daemon->metrics,
			.complete = bt_complete_object_needs(daemon->config),
			.streaming = bt_daemon_streams_lists(gates),
			.now_ns = bt_daemon_steady_ns,
			.context = daemon,
			.synced = synced,
			.failed = feed_failed,
		};
		daemon->feed = bt_cluster_feed_create(&options);
		bt_daemon_options_log_config(daemon->config);
		bt_daemon_add_worker(daemon);
	}
	return result;
}

static struct bt_str environment(const char *name)
{
	const char *value = getenv(name);
	return bt_str_from(value != NULL ? value : "");
}

void bt_daemon_begin(struct bt_daemon *daemon)
{
	BT_LOG_INFO(0, "Starting Kubernetes Scheduler",
		BT_LOG_STR("version", daemon->options.versions.git_version));
	BT_LOG_INFO(0, "Golang settings", BT_LOG_STR("GOGC", environment("GOGC")),
		BT_LOG_STR("GOMAXPROCS", environment("GOMAXPROCS")),
		BT_LOG_STR("GOTRACEBACK", environment("GOTRACEBACK")));
	bt_event_sender_start(daemon->events);
	bt_daemon_trim_memory();
	if (daemon->endpoints != NULL) {
		bt_endpoints_serve(daemon->endpoints);
	}
	if (daemon->election != NULL && daemon->config->document.delay_cache_until_active) {
		daemon->election_started = true;
		bt_leader_election_start(daemon->election);
	} else {
		bt_cluster_feed_start(daemon->feed);
	}
}

void bt_daemon_finish(struct bt_daemon *daemon)
{
	bt_endpoints_destroy(daemon->endpoints);
	bt_serving_tls_destroy(daemon->serving);
	bt_cluster_feed_destroy(daemon->feed);
	bt_leader_election_destroy(daemon->election);
	bt_api_writes_destroy(daemon->writes);
	bt_scheduler_destroy(daemon->scheduler);
	bt_extender_http_destroy(daemon->extenders);
	bt_event_sender_destroy(daemon->events);
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
	bt_scheduler_metrics_destroy(daemon->scheduler_metrics);
	bt_metrics_destroy(daemon->metrics);
	bt_config_unref(daemon->config);
	bt_strbuf_finish(&daemon->identity);
	bt_loop_destroy(daemon->loop);
	bt_daemon_options_finish(&daemon->options);
	berth_error_finish(&daemon->err);
}
