/* SPDX-License-Identifier: Apache-2.0 */
/** The whole daemon as a separate process, with signals. Spec: 11 sections 6.3 to 6.5. */
#include "daemon/daemon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "scripted_server.h"
#include "test_main.h"

#define WAIT_NS (20 * BT_NS_PER_SECOND)
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

/** The daemon, and an API server that serves only leases. */
struct world {
	struct bt_loop *loop;
	struct scripted_server server;
	struct bt_strbuf lease; /* as last written; empty: no lease */
	bool leases_hang;
	pid_t pid;
	char config[32];
	FILE *output; /* output of the daemon */
	char text[65536];
};

static void answer(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	struct world *world = context;
	bool is_read = strcmp(request->method, "GET") == 0;
	if (strstr(request->path, LEASES) == NULL || world->leases_hang) {
		out_answer->hangs = true;
		return;
	}
	out_answer->headers = "Content-Type: application/json\r\n";
	if (!is_read) {
		bt_strbuf_reset(&world->lease);
		bt_strbuf_append_str(&world->lease, request->body);
	}
	out_answer->code = !is_read ? 201 : world->lease.length != 0 ? 200 : 404;
	out_answer->body = world->lease.length != 0 ? bt_strbuf_str(&world->lease) : BT_STR("{}");
}

static void write_config(struct world *world)
{
	static const char text[] =
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
		"\"KubeSchedulerConfiguration\",\"delayCacheUntilActive\":true,"
		"\"clientConnection\":{\"contentType\":\"application/json\"},\"profiles\":["
		"{\"plugins\":{\"multiPoint\":{\"enabled\":[{\"name\":\"TaintToleration\","
		"\"weight\":7}]},\"score\":{\"enabled\":[{\"name\":\"ImageLocality\","
		"\"weight\":5}]}}}]}";
	int fd;
	(void)snprintf(world->config, sizeof(world->config), "/tmp/test_daemonXXXXXX");
	fd = mkstemp(world->config);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

#define FLAGS_MAX 16

/** Runs the daemon in the child; never returns. flags end with NULL. */
static void run_daemon(const struct world *world, const char *const *flags)
{
	static const struct sigaction usual = {.sa_handler = SIG_DFL};
	char master[64];
	const char *const first[] = {
		"--config", world->config, "--secure-port", "0", "--master", master};
	char *copies[BT_ARRAY_LENGTH(first) + FLAGS_MAX];
	int count = 0;
	(void)snprintf(master, sizeof(master), "http://127.0.0.1:%u", world->server.port);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(first); i++) {
		copies[count++] = bt_strndup(first[i], strlen(first[i]));
	}
	for (size_t i = 0; flags[i] != NULL && i < FLAGS_MAX; i++) {
		copies[count++] = bt_strndup(flags[i], strlen(flags[i]));
	}
	/* Restore the default action: the process that runs the tests may ignore SIGHUP. */
	if (sigaction(SIGHUP, &usual, NULL) != 0 ||
		dup2(fileno(world->output), STDERR_FILENO) < 0) {
		_exit(99);
	}
	_exit(bt_daemon_main(count, copies));
}

static void begin_with(struct world *world, const char *const *flags)
{
	memset(world, 0, sizeof(*world));
	ck_assert_int_eq(setenv("NO_PROXY", "127.0.0.1", 1), 0);
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.context = world;
	world->server.answer = answer;
	write_config(world);
	world->output = tmpfile();
	ck_assert_ptr_nonnull(world->output);
	world->pid = fork();
	ck_assert_int_ge(world->pid, 0);
	if (world->pid == 0) {
		run_daemon(world, flags);
	}
}

#define begin(world, ...) begin_with((world), (const char *const[]){__VA_ARGS__, NULL})

static void turn(struct world *world)
{
	if (bt_loop_turn(world->loop, 5 * BT_NS_PER_MS, NULL) != 0) {
		ck_abort_msg("the loop failed");
	}
}

static const char *read_output(struct world *world)
{
	ssize_t length = pread(fileno(world->output), world->text, sizeof(world->text) - 1, 0);
	world->text[length > 0 ? length : 0] = '\0';
	return world->text;
}

/** Waits until the daemon's output or a request of the daemon contains this text. */
static void await(struct world *world, const char *text)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + WAIT_NS;
	while (strstr(bt_strbuf_c(&world->server.log), text) == NULL &&
		strstr(read_output(world), text) == NULL) {
		turn(world);
		if (bt_loop_now_ns(world->loop) > end_ns) {
			ck_abort_msg("waited in vain for %s\n%s\n%s", text, world->text,
				bt_strbuf_c(&world->server.log));
		}
	}
}

/** Waits for the daemon's exit; returns the status of waitpid. */
static int end(struct world *world)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + WAIT_NS;
	int status = 0;
	while (waitpid(world->pid, &status, WNOHANG) != world->pid) {
		turn(world);
		if (bt_loop_now_ns(world->loop) > end_ns) {
			(void)kill(world->pid, SIGKILL);
			ck_abort_msg("it does not end\n%s", read_output(world));
		}
	}
	(void)read_output(world);
	ck_assert_int_eq(fclose(world->output), 0);
	ck_assert_int_eq(unlink(world->config), 0);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	bt_strbuf_finish(&world->lease);
	return status;
}

static void expect_exit(struct world *world, int code, const char *last_line)
{
	int status = end(world);
	size_t length = strlen(world->text);
	ck_assert_msg(WIFEXITED(status), "%d\n%s", status, world->text);
	ck_assert_msg(WEXITSTATUS(status) == code, "%d\n%s", WEXITSTATUS(status), world->text);
	ck_assert_msg(length >= strlen(last_line) &&
			strcmp(world->text + length - strlen(last_line), last_line) == 0,
		"%s\nshould end with %s", world->text, last_line);
}

/** The certificate is made before the configuration is read (step 6 before step 7). */
START_TEST(test_daemon__order_of_the_start)
{
	static struct world world;
	static const char failure[] =
		"] \"command failed\" err=\"open /nonexistent/config: no such file or "
		"directory\"\n";
	begin(&world, "--config=/nonexistent/config");
	expect_exit(&world, 1, failure);
	ck_assert_ptr_null(strstr(world.text, "Generated self-signed cert"));

	begin(&world, "--config=/nonexistent/config", "--bind-address=127.0.0.1",
		"--secure-port=10259");
	expect_exit(&world, 1, failure);
	ck_assert_ptr_nonnull(strstr(world.text, "] Generated self-signed cert in-memory\n"));

	begin(&world, "--authorization-kubeconfig=/nonexistent/kubeconfig",
		"--bind-address=127.0.0.1", "--secure-port=10259");
	expect_exit(&world, 1,
		"] \"command failed\" err=\"failed to get delegated authorization kubeconfig: "
		"stat /nonexistent/kubeconfig: no such file or directory\"\n");
}
END_TEST

/** Returns how often the text occurs in the log. */
static int count_in_log(const struct world *world, const char *text)
{
	int count = 0;
	for (const char *at = world->text; (at = strstr(at, text)) != NULL; at++) {
		count++;
	}
	return count;
}

START_TEST(test_daemon__plugins_are_logged)
{
	static const char *const lines[] = {
		"] \"Default plugin is explicitly re-configured; overriding\" plugin="
		"\"TaintToleration\"\n",
		"] \"MultiPoint plugin is explicitly re-configured; overriding\" plugin="
		"\"ImageLocality\"\n",
		"] \"the scheduler starts to work with those plugins\" Plugins={\"PreEnqueue\":"
		"{\"Enabled\":[{\"Name\":\"SchedulingGates\",\"Weight\":0},",
		"\"Score\":{\"Enabled\":[{\"Name\":\"ImageLocality\",\"Weight\":5},"
		"{\"Name\":\"TaintToleration\",\"Weight\":7},",
		"\"MultiPoint\":{\"Enabled\":null,\"Disabled\":null},"
		"\"PlacementGenerate\":{\"Enabled\":null,\"Disabled\":null},",
	};
	static struct world world;
	begin(&world, "-v=2");
	await(&world, "\"Attempting to acquire leader lease...\"");
	ck_assert_int_eq(kill(world.pid, SIGTERM), 0);
	expect_exit(&world, 0, "] \"Requested to terminate, exiting\"\n");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lines); i++) {
		ck_assert_msg(
			count_in_log(&world, lines[i]) == 1, "%s\nin %s", lines[i], world.text);
	}
	ck_assert_int_eq(count_in_log(&world, "explicitly re-configured"), 2);
}
END_TEST

START_TEST(test_daemon__edge_11_19_no_port)
{
	static struct world world;
	/* the port is 0: the files for reviews and TLS are not opened */
	begin(&world, "--leader-elect=false", "--authentication-kubeconfig=/nonexistent",
		"--authorization-kubeconfig=/nonexistent", "--tls-cert-file=/nonexistent");
	await(&world, "GET /api/v1/nodes?");
	ck_assert_int_eq(kill(world.pid, SIGTERM), 0);
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.server.log), "configmaps"));
	expect_exit(&world, 1, "] \"command failed\" err=\"finished without leader elect\"\n");
	ck_assert_ptr_null(strstr(world.text, "Generated self-signed cert"));
	ck_assert_ptr_null(strstr(world.text, "Serving securely"));
	ck_assert_ptr_null(strstr(world.text, "graceful-termination"));
}
END_TEST

START_TEST(test_daemon__edge_11_44_stop_with_and_without_a_lease)
{
	static struct world world;
	begin(&world, "--leader-elect=true");
	await(&world, "\"Successfully acquired lease\" lock=\"kube-system/kube-scheduler\"");
	ck_assert_int_eq(kill(world.pid, SIGTERM), 0);
	await(&world, "\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,");
	expect_exit(&world, 0, "] \"Requested to terminate, exiting\"\n");

	begin(&world, "--leader-elect=false");
	await(&world, "GET /api/v1/nodes?");
	ck_assert_int_eq(kill(world.pid, SIGINT), 0);
	expect_exit(&world, 1, "] \"command failed\" err=\"finished without leader elect\"\n");
}
END_TEST

START_TEST(test_daemon__edge_11_45_second_signal)
{
	static struct world world;
	begin(&world, "--leader-elect=true");
	await(&world, "PUT " LEASES); /* the first renewal */
	world.leases_hang = true;
	bt_strbuf_reset(&world.server.log);
	ck_assert_int_eq(kill(world.pid, SIGTERM), 0);
	await(&world, "GET " LEASES "/kube-scheduler"); /* releases the lease */
	ck_assert_int_eq(waitpid(world.pid, NULL, WNOHANG), 0);
	ck_assert_int_eq(kill(world.pid, SIGINT), 0);
	expect_exit(&world, 1, "err=\"context canceled\"\n");
	ck_assert_ptr_null(strstr(world.text, "Requested to terminate"));
}
END_TEST

START_TEST(test_daemon__standby_ends_at_once)
{
	static struct world world;
	begin(&world, "--leader-elect=true");
	world.leases_hang = true;
	await(&world, "GET " LEASES "/kube-scheduler");
	ck_assert_int_eq(kill(world.pid, SIGTERM), 0);
	expect_exit(&world, 0, "] \"Requested to terminate, exiting\"\n");
}
END_TEST

START_TEST(test_daemon__hangup_has_its_default_effect)
{
	static struct world world;
	int status;
	begin(&world, "--leader-elect=true");
	await(&world, "\"Attempting to acquire leader lease...\"");
	ck_assert_int_eq(kill(world.pid, SIGHUP), 0);
	status = end(&world);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP, "%d", status);
}
END_TEST

BT_TEST_MAIN("daemon", test_daemon__order_of_the_start, test_daemon__plugins_are_logged,
	test_daemon__edge_11_19_no_port, test_daemon__edge_11_44_stop_with_and_without_a_lease,
	test_daemon__edge_11_45_second_signal, test_daemon__standby_ends_at_once,
	test_daemon__hangup_has_its_default_effect)
