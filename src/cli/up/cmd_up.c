/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/quantity.h"
#include "base/nanoseconds.h"
#include "cli/command.h"
#include "cli/listen.h"
#include "cli/up/up_identity.h"
#include "cluster/cluster.h"
#include "net/clock.h"
#include "server/front.h"
#include "server/usage.h"

#define NODES_MAX 1000000
#define TIME_SCALE_MAX 100000
#define DEFAULT_PORT 6443
#define DEFAULT_KUBECONFIG "berth.kubeconfig"
/**
 * Limit of watches. Below the limit of connections, so that other requests still get connections.
 */
#define WATCHES_MAX 3000

struct options {
	struct bt_command_line line;
	int64_t nodes;
	int64_t zones;
	const char *node_cpu;
	const char *node_memory;
	const char *node_pods;
	struct bt_listen listen;
	const char *data_dir;
	const char *kubeconfig;
	const char *tls;
	const char *authorization;
	const char *time_scale_text;
	const char *start_delay_text;
	const char *stop_delay_text;
	const char *job_time_text;
	const char *event_ttl_text;
	const char *cpu_usage;
	const char *memory_usage;
	struct bt_arguments controllers;
	bool no_scheduler;
	bool view;
	double time_scale; /* parsed from its text */
};

struct up {
	struct options *options;
	struct bt_loop *loop;
	struct bt_cluster *cluster;
	struct bt_up_identity identity;
	struct bt_front_token token; /* of the kubeconfig */
	struct bt_front *front;
	pid_t view; /* the process of --view; 0: none */
	int64_t started_ns;
	int result; /* result of the loop: 0, or BERTH_ERR_* with err */
	struct berth_error err;
};

/** --- flags --- */

static bool is_plain(const struct options *options)
{
	return strcmp(options->tls, "off") == 0;
}

static int check_pod_usage(const char *flag, const char *text, struct berth_error *err)
{
	int result = text != NULL ? bt_usage_check(text, err) : 0;
	return result < 0 ? bt_error_wrap(err, result, "--%s", flag) : 0;
}

static int check_amount(const char *flag, const char *text, struct berth_error *err)
{
	struct bt_quantity amount;
	const struct bt_quantity zero = {0};
	struct bt_arena arena = {0};
	int result = bt_quantity_parse(bt_str_from(text), &arena, &amount, err);
	if (result == 0 && bt_quantity_compare(&amount, &zero) < 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "must not be negative");
	}
	bt_arena_finish(&arena);
	return result < 0 ? bt_error_wrap(err, result, "--%s", flag) : 0;
}

/**
 * Whether RBAC authorizes requests. "Node,RBAC" only adds the node authorizer, which affects
 * clients that are nodes.
 */
static bool has_rbac(const struct options *options)
{
	return strcmp(options->authorization, "Node,RBAC") == 0 ||
		strcmp(options->authorization, "RBAC") == 0;
}

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	if (options->nodes < 0 || options->nodes > NODES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--nodes: must be 0 to %d", NODES_MAX);
	}
	if (options->zones < 0 || options->zones > NODES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--zones: must be 0 to %d", NODES_MAX);
	}
	if (!has_rbac(options) && strcmp(options->authorization, "AlwaysAllow") != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--authorization: must be Node,RBAC, RBAC or AlwaysAllow");
	}
	char *end;
	errno = 0;
	options->time_scale = strtod(options->time_scale_text, &end);
	if (errno != 0 || end == options->time_scale_text || *end != '\0' ||
		!(options->time_scale > 0 && options->time_scale <= TIME_SCALE_MAX)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--time-scale: must be a number above 0, at most %d", TIME_SCALE_MAX);
	}
	int result = bt_listen_check(&options->listen, DEFAULT_PORT, err);
	result = result < 0 ? result : check_amount("node-cpu", options->node_cpu, err);
	result = result < 0 ? result : check_amount("node-memory", options->node_memory, err);
	result = result < 0 ? result : check_amount("node-pods", options->node_pods, err);
	result = result < 0 ? result : check_pod_usage("pod-cpu-usage", options->cpu_usage, err);
	result = result < 0 ? result
			    : check_pod_usage("pod-memory-usage", options->memory_usage, err);
	if (result < 0) {
		return result;
	}
	if (strcmp(options->tls, "on") != 0 && !is_plain(options)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--tls: must be on or off");
	}
	if (is_plain(options) && !bt_listen_is_loopback(&options->listen)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--tls=off: everybody who reaches the server is its admin then, so it must "
			"listen on loopback, not on %s",
			options->listen.address);
	}
	return bt_command_check_output(
		&options->line, "kubeconfig-out", options->kubeconfig, NULL, err);
}

/** --- building --- */

static uint64_t draw_seed(void)
{
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
		seed = (uint64_t)bt_clock_wall_ns();
	}
	return seed;
}

static int load_objects(struct up *up, struct berth_error *err)
{
	const struct bt_source *source = &up->options->line.source;
	if (source->files.list.count + source->kustomizations.list.count == 0) {
		return 0;
	}
	if (up->cluster->is_continued) {
		(void)fprintf(stderr,
			"berth up: %s has a cluster already: -f and -k are not read again\n",
			up->options->data_dir);
		return 0;
	}
	struct bt_cluster_load_report report;
	int result = bt_cluster_load(
		up->cluster->api, &source->files, &source->kustomizations, &report, err);
	if (report.unknown_count != 0) {
		bt_console_print(stderr,
			"berth up: warning: left out %d {object|objects} of kinds that are not "
			"served (a CustomResourceDefinition would add them): %s\n",
			(int64_t)report.unknown_count, bt_strbuf_str(&report.unknown_kinds));
	}
	bt_strbuf_finish(&report.unknown_kinds);
	if (result < 0) {
		return result;
	}
	bt_console_print(stderr,
		"berth up: loaded %d {object|objects}[, made %d missing {namespace|namespaces}]"
		"[; %d with owners that are not among them: references dropped]\n",
		(int64_t)report.object_count, (int64_t)report.namespace_count,
		(int64_t)report.orphan_count);
	return 0;
}

static int create_cluster(struct up *up, struct berth_error *err)
{
	struct options *options = up->options;
	struct bt_cluster_options cluster = {
		.data_dir = options->data_dir,
		.time_scale = options->time_scale,
		.nodes = {.count = (uint32_t)options->nodes,
			.zone_count = (uint32_t)options->zones,
			.cpu = options->node_cpu,
			.memory = options->node_memory,
			.pods = options->node_pods,
			.name_prefix = "node-"},
		.admit_token_volumes = true,
		.has_rbac = has_rbac(options),
		.seed = draw_seed(),
		.cpu_usage = options->cpu_usage,
		.memory_usage = options->memory_usage,
	};
	struct bt_gates gates;
	int result = 0;
	cluster.controllers = bt_controllers_default_options;
	if (options->controllers.list.count != 0) {
		cluster.controllers.names = options->controllers.list.items;
		cluster.controllers.name_count = options->controllers.list.count;
		result = bt_controllers_check_names(&cluster.controllers, err);
		if (result < 0) {
			return bt_error_wrap(err, result, "--controllers");
		}
	}
	const struct {
		const char *flag;
		const char *text;
		bool may_be_zero;
		int64_t *out_ns;
	} durations[] = {
		{"pod-start-delay", options->start_delay_text, true,
			&cluster.controllers.pod_start_delay_ns},
		{"pod-stop-delay", options->stop_delay_text, true,
			&cluster.controllers.pod_stop_delay_ns},
		{"job-run-time", options->job_time_text, true,
			&cluster.controllers.job_run_time_ns},
		{"event-ttl", options->event_ttl_text, false, &cluster.event_ttl_ns},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(durations) && result == 0; i++) {
		result = bt_command_read_duration(durations[i].flag, durations[i].text,
			durations[i].may_be_zero, durations[i].out_ns, err);
	}
	if (result == 0 && !options->no_scheduler) {
		result = bt_setup_start(options->line.command->name, &options->line.setup, err);
		if (result == 0) {
			result =
				bt_setup_engine_options(&options->line.setup, &cluster.engine, err);
		}
		if (result == 0) {
			result = bt_setup_load_config(&options->line.setup, &cluster.config, err);
		}
		cluster.engine.seed = draw_seed();
	} else if (result == 0) {
		result = bt_setup_check_gates(
			options->line.command->name, &options->line.setup, &gates, err);
		cluster.gates = &gates;
	}
	if (result == 0) {
		result = bt_cluster_create(&cluster, &up->cluster, err);
	}
	bt_config_unref(cluster.config);
	return result;
}

static int create_front(struct up *up, struct berth_error *err)
{
	const struct options *options = up->options;
	struct bt_up_identity_options identity = {
		.is_plain = is_plain(options),
		.listen = &options->listen,
		.data_dir = options->data_dir,
		.now_seconds = bt_clock_wall_ns() / BT_NS_PER_SECOND,
	};
	int result = bt_up_identity_create(&identity, &up->identity, err);
	if (result < 0) {
		return result;
	}
	up->token = (struct bt_front_token){bt_strbuf_c(&up->identity.token), bt_user_admin};
	struct bt_front_options front = {
		.api = up->cluster->api,
		.address = options->listen.address,
		.port = options->listen.port,
		.certificate_pem =
			identity.is_plain ? NULL : bt_strbuf_c(&up->identity.server.certificate),
		.key_pem = identity.is_plain ? NULL : bt_strbuf_c(&up->identity.server.key),
		.client_ca_pem = up->identity.ca.key.length != 0
			? bt_strbuf_c(&up->identity.ca.certificate)
			: NULL,
		.tokens = &up->token,
		.token_count = identity.is_plain ? 0 : 1,
		.limits = bt_http_default_limits,
		.watches_max = WATCHES_MAX,
	};
	result = bt_front_create(up->loop, &front, &up->front, err);
	return result < 0 ? bt_error_wrap(err, result, "--listen") : 0;
}

/** --- turns of the loop --- */

static int64_t flush_front(void *context, int64_t now_ns BT_UNUSED)
{
	struct up *up = context;
	if (up->result == 0) {
		up->result = bt_front_flush(up->front, &up->err);
		if (up->result < 0) {
			bt_loop_stop(up->loop);
		}
	}
	return INT64_MAX;
}

static int64_t run_cluster(void *context, int64_t now_ns BT_UNUSED)
{
	struct up *up = context;
	int64_t next_ns = INT64_MAX;
	if (up->result == 0) {
		up->result = bt_cluster_run(up->cluster, &next_ns, &up->err);
		if (up->result < 0) {
			bt_loop_stop(up->loop);
		}
	}
	return bt_cluster_clock_monotonic_of(&up->cluster->clock, next_ns);
}

static int64_t save_clock(void *context, int64_t now_ns BT_UNUSED)
{
	struct up *up = context;
	return bt_cluster_clock_save(&up->cluster->clock);
}

static void take_signal(void *context, int number BT_UNUSED)
{
	struct up *up = context;
	bt_loop_stop(up->loop);
}

/** --- messages --- */

static int announce_server(struct up *up, struct berth_error *err)
{
	const char *path = up->options->kubeconfig;
	struct bt_strbuf url = {0};
	bt_listen_append_url(
		&up->options->listen, is_plain(up->options), bt_front_port(up->front), &url);
	int result = bt_up_kubeconfig_write(&up->identity, bt_strbuf_c(&url), path, err);
	if (result < 0) {
		result = bt_error_wrap(err, result, "--kubeconfig-out");
	} else {
		double seconds = (double)(bt_clock_steady_ns() - up->started_ns) / 1e9;
		bt_console_print(stdout, "berth up: Kubernetes API at %c, %d {node|nodes}",
			bt_strbuf_c(&url), (int64_t)bt_cluster_node_count(up->cluster));
		(void)printf(", ready after %.2f s\n"
			     "\n"
			     "  export KUBECONFIG=%s\n"
			     "  kubectl get nodes\n"
			     "  kubectl create deployment web --image=nginx --replicas=3\n"
			     "\n"
			     "Ctrl-C ends it%s.\n",
			seconds, path,
			up->options->data_dir != NULL ? "; its state is kept"
						      : "; nothing is kept");
		result = bt_output_flush(err);
	}
	bt_strbuf_finish(&url);
	return result;
}

/** --- the web page --- */

/**
 * Start the page in another process, so that the page's memory use and slow browsers do not affect
 * the server.
 */
static int start_view(struct up *up, struct berth_error *err)
{
	char *arguments[] = {(char *)"berth", (char *)"view", (char *)"--kubeconfig",
		(char *)up->options->kubeconfig, (char *)"--allow-changes", NULL};
	sigset_t none;
	(void)printf("\n"); /* a blank line before the link that the process prints */
	(void)bt_output_flush(NULL);
	(void)sigemptyset(&none);
	pid_t parent = getpid();
	up->view = fork();
	if (up->view == 0) {
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == parent) { /* else the parent ended before prctl */
			(void)execv("/proc/self/exe", arguments);
		}
		_exit(BT_EXIT_BAD_INPUT);
	}
	return up->view > 0 ? 0 : bt_error_set(err, BERTH_ERR_IO, "--view: %s", strerror(errno));
}

/** --- start and end --- */

static int run(void *context, struct bt_strbuf *out BT_UNUSED, struct berth_error *err)
{
	struct up up = {
		.started_ns = bt_clock_steady_ns(), .options = context, .err = BERTH_ERROR_INIT};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	(void)sigaction(SIGXFSZ, &ignore, NULL); /* writing beyond RLIMIT_FSIZE returns an error */
	int result = bt_loop_create(&up.loop, err);
	if (result == 0) {
		result = create_cluster(&up, err);
	}
	if (result == 0) {
		result = load_objects(&up, err);
	}
	if (result == 0) {
		result = create_front(&up, err);
	}
	if (result == 0) {
		/*
		 * Endpoints must not contain loopback addresses. Pods on simulated nodes send
		 * nothing, so any other address will do.
		 */
		const char *address = up.options->listen.address;
		bool is_local = bt_listen_is_loopback(&up.options->listen) ||
			strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
		bool has_ca = up.identity.ca.certificate.length != 0;

		struct bt_controllers_options *controllers = &up.cluster->options.controllers;
		controllers->api_address = is_local ? "172.16.0.1" : address;
		controllers->api_port = bt_front_port(up.front);
		controllers->root_ca = has_ca ? bt_strbuf_c(&up.identity.ca.certificate) : "";
		controllers->root_ca_key =
			up.identity.ca.key.length != 0 ? bt_strbuf_c(&up.identity.ca.key) : NULL;
		result = bt_cluster_start(up.cluster, err);
	}
	if (result == 0) {
		result = bt_loop_on_signals(up.loop, signals, take_signal, &up, err);
	}
	if (result == 0) {
		result = bt_store_sync(up.cluster->store, err);
	}
	if (result == 0) {
		/*
		 * The first call of flush_front sends answers before controllers and the scheduler
		 * run, so that clients need not wait for them. The second call syncs their writes
		 * to disk and sends the watch events.
		 */
		bt_loop_add_worker(up.loop, save_clock, &up);
		bt_loop_add_worker(up.loop, flush_front, &up);
		bt_loop_add_worker(up.loop, run_cluster, &up);
		bt_loop_add_worker(up.loop, flush_front, &up);
		bt_front_set_ready(up.front);
		result = announce_server(&up, err);
	}
	if (result == 0 && up.options->view) {
		result = start_view(&up, err);
	}
	if (result == 0) {
		result = bt_loop_run(up.loop, err);
	}
	/* Two more turns send the last answers; with TLS, one turn is not enough. */
	for (int i = 0; i < 2 && result == 0; i++) {
		result = bt_loop_turn(up.loop, 0, err);
	}
	if (result == 0 && up.result < 0) {
		(void)bt_error_move(err, &up.err);
		result = up.result;
	}
	if (result == 0) {
		result = bt_store_sync(up.cluster->store, err);
	}
	if (up.view > 0) {
		(void)kill(up.view, SIGTERM);
		(void)waitpid(up.view, NULL, 0);
	}
	bt_front_destroy(up.front);
	bt_cluster_destroy(up.cluster);
	bt_up_identity_finish(&up.identity);
	bt_loop_destroy(up.loop);
	berth_error_finish(&up.err);
	return result;
}

static const struct bt_flag flags[] = {
	{"nodes", 0, BT_FLAG_INT, offsetof(struct options, nodes), "N",
		"number of simulated nodes at the start"},
	{"zones", 0, BT_FLAG_INT, offsetof(struct options, zones), "N",
		"number of zones of these nodes (default: no zone labels)"},
	{"node-cpu", 0, BT_FLAG_STRING, offsetof(struct options, node_cpu), "QUANTITY",
		"cpu of each of these nodes (default 8)"},
	{"node-memory", 0, BT_FLAG_STRING, offsetof(struct options, node_memory), "QUANTITY",
		"memory of each of these nodes (default 32Gi)"},
	{"node-pods", 0, BT_FLAG_STRING, offsetof(struct options, node_pods), "N",
		"maximum pods of each of these nodes (default 110)"},
	{"filename", 'f', BT_FLAG_STRINGS, offsetof(struct options, line.source.files),
		"FILE|DIR|-", "objects at the start: manifests, a dump of a cluster"},
	{"kustomize", 'k', BT_FLAG_STRINGS, offsetof(struct options, line.source.kustomizations),
		"DIR", "kustomizations of objects at the start"},
	{"listen", 0, BT_FLAG_STRING, offsetof(struct options, listen.text), "ADDRESS:PORT",
		"address of the server; port 0: any free port (default 127.0.0.1:6443)"},
	{"data-dir", 0, BT_FLAG_STRING, offsetof(struct options, data_dir), "DIR",
		"store all objects in this folder; after a restart they are still there"},
	{"kubeconfig-out", 0, BT_FLAG_STRING, offsetof(struct options, kubeconfig), "FILE",
		"write a kubeconfig (default " DEFAULT_KUBECONFIG ")"},
	{"tls", 0, BT_FLAG_STRING, offsetof(struct options, tls), "on|off",
		"off: plain HTTP without token, on loopback only (default on)"},
	{"authorization", 0, BT_FLAG_STRING, offsetof(struct options, authorization),
		"Node,RBAC|AlwaysAllow",
		"authorization modes; the kubeconfig's user may do everything (default Node,RBAC)"},
	{"tls-cert-file", 0, BT_FLAG_STRING, offsetof(struct options, listen.certificate_path),
		"FILE", "serving certificate, PEM (default: a new one, signed by a new CA)"},
	{"tls-private-key-file", 0, BT_FLAG_STRING, offsetof(struct options, listen.key_path),
		"FILE", "key of the serving certificate"},
	{"no-scheduler", 0, BT_FLAG_BOOL, offsetof(struct options, no_scheduler), NULL,
		"do not schedule pods: another program does"},
	{"view", 0, BT_FLAG_BOOL, offsetof(struct options, view), NULL,
		"also serve the page of \"berth view\""},
	{"controllers", 0, BT_FLAG_STRINGS, offsetof(struct options, controllers), "NAME,...",
		"controllers to run: \"*\" all, \"-foo\" all but foo; unlike in "
		"kube-controller-manager, \"-foo\" needs no \"*\""},
	{"time-scale", 0, BT_FLAG_STRING, offsetof(struct options, time_scale_text), "X",
		"the cluster's clock runs X times as fast (default 1)"},
	{"pod-start-delay", 0, BT_FLAG_STRING, offsetof(struct options, start_delay_text),
		"DURATION", "time from binding to Running (default 1s)"},
	{"pod-stop-delay", 0, BT_FLAG_STRING, offsetof(struct options, stop_delay_text), "DURATION",
		"time from deletion until the pod is gone, within its grace period (default 1s)"},
	{"job-run-time", 0, BT_FLAG_STRING, offsetof(struct options, job_time_text), "DURATION",
		"run time of the pods of Jobs (default 5s)"},
	{"event-ttl", 0, BT_FLAG_STRING, offsetof(struct options, event_ttl_text), "DURATION",
		"how long Events are kept after their last write (default 1h)"},
	{"pod-cpu-usage", 0, BT_FLAG_STRING, offsetof(struct options, cpu_usage), "USAGE",
		"cpu that a pod uses: 250m, 50% of its request, 20%..90%/10m (default 50%)"},
	{"pod-memory-usage", 0, BT_FLAG_STRING, offsetof(struct options, memory_usage), "USAGE",
		"memory that a pod uses, as for cpu (default 50%)"},
	BT_SETUP_FLAGS,
};

static const struct options defaults = {
	.listen = {.text = "127.0.0.1:6443"},
	.kubeconfig = DEFAULT_KUBECONFIG,
	.tls = "on",
	.authorization = "Node,RBAC",
	.node_cpu = "8",
	.node_memory = "32Gi",
	.node_pods = "110",
	.time_scale_text = "1",
	.start_delay_text = "1s",
	.stop_delay_text = "1s",
	.job_time_text = "5s",
};

const struct bt_command bt_command_up = {
	.name = "up",
	.group = BT_COMMAND_RUN,
	.summary = "Run a cluster in one process: API server, scheduler, simulated nodes.",
	.usage = "berth up [--nodes N] [-f FILE]... [FLAGS]",
	.help = "Serves the Kubernetes API to kubectl and all client libraries, runs the\n"
		"controllers (deployments, jobs, volumes, disruption budgets, ...), acts as the\n"
		"kubelet of each node, and schedules pods. Containers do not run: a pod becomes\n"
		"Running after a while, and terminates when it is deleted.\n"
		"\n"
		"Writes a kubeconfig with the server's CA and a token. Without --data-dir the\n"
		"objects are kept in memory only.\n",
	.examples = "  berth up --nodes 5 --zones 2\n"
		    "\n"
		    "  # For a scheduler of your own\n"
		    "  berth up -f dump.yaml --no-scheduler\n"
		    "\n"
		    "  berth up --nodes 100 --data-dir ~/.local/share/berth --listen :6443\n",
	.exit_status = "  0  a signal ended the cluster (SIGINT, SIGTERM)\n"
		       "  2  the flags or files are wrong, or the address is in use\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "files are named with -f",
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
