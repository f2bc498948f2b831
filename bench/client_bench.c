/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time of the HTTP client for small writes over keepalive TLS connections, and the memory of
 * open connections. The server is a child process. Usage: client_bench [requests [at-a-time
 * [streams]]]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net/certificate.h"
#include "net/http_client.h"
#include "net/http_server.h"

#define BODY_BYTES 200

static void die(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	exit(1);
}

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	struct bt_strbuf body = {0};
	(void)context;
	if (bt_str_equal(bt_http_method(exchange), BT_STR("GET"))) {
		return; /* a watch without events */
	}
	bt_strbuf_append_c(&body, "{\"kind\":\"Status\",\"status\":\"Success\"}");
	bt_http_answer(exchange, 201, &body);
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	(void)context;
	(void)exchange;
}

/* The server process: writes its port to port_fd and runs until it is killed. */
static void serve(int port_fd, const struct bt_certificate_pair *pair)
{
	struct bt_loop *loop;
	struct bt_http_server *server;
	struct bt_http_server_options options = {
		.address = "127.0.0.1",
		.certificates = {.certificate_pem = bt_strbuf_c(&pair->certificate),
			.key_pem = bt_strbuf_c(&pair->key)},
		.limits = bt_http_default_limits,
		.handler = {NULL, on_request, on_request, on_closed},
	};
	if (bt_loop_create(&loop, NULL) != 0 ||
		bt_http_server_create(loop, &options, &server, NULL) != 0) {
		die("no server");
	}
	uint16_t port = bt_http_server_port(server);
	if (write(port_fd, &port, sizeof(port)) != (ssize_t)sizeof(port) ||
		bt_loop_run(loop, NULL) != 0) {
		die("the server failed");
	}
}

struct load {
	struct bt_loop *loop;
	struct bt_http_client *client;
	char url[128];
	char body[BODY_BYTES + 1];
	uint32_t left;
	uint32_t running;
	uint32_t failed;
};

static void start_one(struct load *load);

static void on_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	struct load *load = context;
	(void)transfer;
	load->running--;
	load->failed += outcome->code == 201 ? 0 : 1;
	start_one(load);
}

static void start_one(struct load *load)
{
	static const struct bt_http_header headers[] = {
		{"Accept", BT_STR_INIT("application/vnd.kubernetes.protobuf, */*")},
		{"Content-Type", BT_STR_INIT("application/vnd.kubernetes.protobuf")},
		{"User-Agent", BT_STR_INIT("client-bench/1 (linux/amd64) kubernetes/0000000")},
		{"Authorization", BT_STR_INIT("Bearer 0123456789012345678901234567890123456789")},
	};
	struct bt_http_client_request request = {
		.method = "POST",
		.url = load->url,
		.headers = headers,
		.header_count = 4,
		.body = {load->body, BODY_BYTES},
		.handler = {.context = load, .done = on_done},
	};
	if (load->left == 0) {
		return;
	}
	load->left--;
	load->running++;
	struct bt_http_transfer *transfer = bt_http_client_start(load->client, &request);
	(void)transfer; /* the transfer ends by itself */
}

static double cpu_us(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double wall_us(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) {
		die("no /proc");
	}
	(void)fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void turn(struct load *load)
{
	if (bt_loop_turn(load->loop, INT64_C(100000000), NULL) != 0) {
		die("the loop failed");
	}
}

static void run(struct load *load, uint32_t requests, uint32_t at_a_time)
{
	double cpu = cpu_us();
	double wall = wall_us();
	load->left = requests;
	for (uint32_t i = 0; i < at_a_time; i++) {
		start_one(load);
	}
	while (load->running != 0) {
		turn(load);
	}
	cpu = cpu_us() - cpu;
	wall = wall_us() - wall;
	(void)printf("%u POSTs, %u at a time: %.1f us CPU each, %.0f/s, %u failed, %ld kB\n",
		requests, at_a_time, cpu / requests, requests / wall * 1e6, load->failed,
		resident_kb());
}

static void on_stream_end(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	(void)context;
	(void)transfer;
	(void)outcome;
}

/*
 * Opens `count` transfers that wait for answers on separate connections, and prints their memory.
 */
static void open_streams(struct load *load, uint32_t count)
{
	struct bt_http_client_request request = {.method = "GET",
		.url = load->url,
		.handler = {.context = load, .done = on_stream_end}};
	long before = resident_kb();
	for (uint32_t i = 0; i < count; i++) {
		struct bt_http_transfer *transfer = bt_http_client_start(load->client, &request);
		(void)transfer; /* the transfer ends with the client */
	}
	double end = wall_us() + 1.5e6;
	while (wall_us() < end) {
		turn(load);
	}
	(void)printf("%u waiting transfers: %ld kB, %.1f kB each\n", count, resident_kb(),
		(double)(resident_kb() - before) / count);
}

int main(int argc, char **argv)
{
	uint32_t requests = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
	uint32_t at_a_time = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 16;
	uint32_t streams = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20;
	struct bt_certificate_pair pair = {0};
	struct timespec now;
	struct load load = {.left = 0};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	uint16_t port = 0;
	int fds[2];
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (bt_certificate_make_serving(NULL, now.tv_sec, &pair, NULL) != 0 || pipe(fds) != 0) {
		die("no certificate");
	}
	pid_t child = fork();
	if (child == 0) {
		serve(fds[1], &pair);
		return 0;
	}
	if (child < 0 || read(fds[0], &port, sizeof(port)) != (ssize_t)sizeof(port)) {
		die("no server");
	}
	options.tls.ca = bt_strbuf_str(&pair.certificate);
	memset(load.body, 'b', BODY_BYTES);
	(void)snprintf(load.url, sizeof(load.url),
		"https://127.0.0.1:%u/api/v1/namespaces/default/pods/web-0123456789/binding",
		(unsigned int)port);
	(void)printf("before the client: %ld kB\n", resident_kb());
	if (bt_loop_create(&load.loop, NULL) != 0 ||
		bt_http_client_create(load.loop, &options, &load.client, NULL) != 0) {
		die("no client");
	}
	(void)printf("with it: %ld kB\n", resident_kb());
	run(&load, 1, 1);
	run(&load, at_a_time, at_a_time);
	run(&load, requests, at_a_time);
	run(&load, requests, 1);
	open_streams(&load, streams);
	bt_http_client_destroy(load.client);
	bt_loop_destroy(load.loop);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	bt_certificate_pair_finish(&pair);
	return load.failed != 0;
}
