/* SPDX-License-Identifier: Apache-2.0 */
/* for posix_spawn_file_actions_addclosefrom_np and pipe2 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "client/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/types.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "client/file.h"
#include "codec/base64.h"

void bt_exec_write_info(const struct bt_client_config *config, struct bt_str ca, bool interactive,
	struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer, "{kind: 'ExecCredential', apiVersion?: %s, spec: {",
		config->user.exec->api_version);
	if (config->user.exec->provide_cluster_info) {
		struct bt_strbuf encoded = {0};

		bt_base64_encode(ca, &encoded);
		/* The scheduler never requests compression, regardless of the kubeconfig. */
		bt_json_write(&writer,
			"cluster: {server?: %s, tls-server-name?: %s, insecure-skip-tls-verify?: "
			"%b, certificate-authority-data?: %s, proxy-url?: %s, disable-compression: "
			"true",
			config->cluster.server, config->cluster.tls_server_name,
			config->cluster.insecure, bt_strbuf_str(&encoded),
			config->cluster.proxy_url);
		bt_strbuf_finish(&encoded);
		struct bt_str extension = BT_STR("");
		for (uint32_t i = 0; i < config->cluster.extensions.count; i++) {
			const struct bt_kubeconfig_extension *item =
				&config->cluster.extensions.items[i];
			if (bt_str_equal_c(item->name, "client.authentication.k8s.io/exec")) {
				extension = item->extension;
			}
		}
		if (extension.length != 0) {
			bt_json_write_name_c(&writer, "config");
			bt_json_write_raw(&writer, extension);
		}
		bt_json_end_object(&writer);
	}
	bt_json_write(&writer, "interactive: %b}}", interactive);
	bt_strbuf_append_char(out, '\n');
}

int bt_exec_credential_read(struct bt_str output, struct bt_str api_version,
	struct bt_exec_credential *out_credential, struct berth_error *err)
{
	struct bt_exec_credential credential = {0};
	struct bt_exec_credential_answer answer = {0};
	struct bt_arena *arena = &credential.arena;
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, output);
	int code = bt_message_decode_json(
		&bt_exec_credential_answer_message, &reader, arena, &answer, err);
	if (code == 0) {
		code = bt_json_expect_end(&reader, err);
	}
	if (code == 0 && !bt_str_equal_c(answer.kind, "ExecCredential")) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			answer.kind.length == 0 ? "Object 'Kind' is missing"
						: "the object is no ExecCredential");
	}
	const struct bt_exec_credential_status *status = answer.status;
	if (code != 0) {
		code = bt_error_wrap(err, code, "decoding stdout");
	} else if (!bt_str_equal(answer.api_version, api_version)) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin is configured to use API version %.*s, plugin returned "
			"version %.*s",
			BT_STR_ARG(api_version), BT_STR_ARG(answer.api_version));
	} else if (status == NULL) {
		code = bt_error_set(
			err, BERTH_ERR_INVALID, "exec plugin didn't return a status field");
	} else if (status->token.length == 0 && status->client_certificate_data.length == 0 &&
		status->client_key_data.length == 0) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin didn't return a token or cert/key pair");
	} else if ((status->client_certificate_data.length == 0) !=
		(status->client_key_data.length == 0)) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin returned only certificate or key, not both");
	}
	if (code == 0) {
		const struct bt_time *expiry = status->expiration_timestamp;
		credential.token = bt_arena_str(arena, status->token);
		if (expiry != NULL && expiry->set) {
			int64_t ns = bt_ns_of_seconds(expiry->seconds);
			int64_t sum;
			credential.expires = true;
			credential.expiry_ns =
				BT_ADD_OVERFLOW(ns, expiry->nanoseconds, &sum) ? ns : sum;
		}
		if (status->client_certificate_data.length != 0) {
			credential.certificate =
				bt_arena_str(arena, status->client_certificate_data);
			credential.key = bt_arena_str(arena, status->client_key_data);
			code = bt_client_pem_check_pair(
				credential.certificate, credential.key, err);
			code = code != 0
				? bt_error_wrap(err, code, "failed parsing client key/certificate")
				: 0;
		}
	}
	if (code != 0) {
		bt_exec_credential_finish(&credential);
		return code;
	}
	*out_credential = credential;
	return 0;
}

void bt_exec_credential_finish(struct bt_exec_credential *credential)
{
	bt_arena_finish_wiped(&credential->arena);
	*credential = (struct bt_exec_credential){0};
}

#define INFO_VARIABLE "KUBERNETES_EXEC_INFO"
#define READ_BYTES ((size_t)16384)
/*
 * Delays after the first and after each later waitpid that finds the child still running. The first
 * delay is short, because a child usually exits within microseconds after it closes its output.
 */
#define REAP_FIRST_NS BT_NS_PER_MS
#define REAP_NEXT_NS (10 * BT_NS_PER_MS)

extern char **environ;

struct bt_exec_run {
	struct bt_loop *loop;
	const struct bt_kubeconfig_exec *exec;
	struct bt_loop_source *source;
	int fd;    /* read end of the pipe; -1: closed */
	pid_t pid; /* 0: not started, or reaped */
	int status;
	bool over;
	bool waited_once; /* waitpid was called, and the child still ran */
	struct bt_strbuf output;
	struct bt_exec_result result;
	struct berth_error err; /* why the child failed to start or was killed */
};

/** A NULL-terminated list of texts for posix_spawn. */
struct texts {
	struct bt_arena *arena;
	BT_VEC(char *) list;
};

static void push_text(struct texts *texts, struct bt_str text)
{
	char *copy = bt_arena_alloc_bytes(texts->arena, (size_t)text.length + 1);

	if (text.length != 0) {
		memcpy(copy, text.data, text.length);
	}
	copy[text.length] = '\0';
	bt_vec_push(&texts->list, copy);
}

/*
 * Returns true if a variable is set again: by the entries of exec->env from index `first` on, or by
 * berth, which sets INFO_VARIABLE last.
 */
static bool is_replaced(const struct bt_kubeconfig_exec *exec, uint32_t first, struct bt_str name)
{
	for (uint32_t i = first; i < exec->env.count; i++) {
		if (bt_str_equal(exec->env.items[i].name, name)) {
			return true;
		}
	}
	return bt_str_equal_c(name, INFO_VARIABLE);
}

static void push_variable(struct texts *out, struct bt_str name, struct bt_str value)
{
	push_text(
		out, bt_arena_printf(out->arena, "%.*s=%.*s", BT_STR_ARG(name), BT_STR_ARG(value)));
}

/* Finds the command's path. Returns false if the command is not in PATH. */
static bool find_program(struct bt_str command, struct bt_strbuf *out)
{
	const char *variable = getenv("PATH");
	struct bt_str rest = bt_str_from(variable != NULL ? variable : "");
	struct stat status;

	if (bt_str_find_char(command, '/') >= 0) {
		bt_strbuf_append_str(out, command);
		return true;
	}
	while (rest.length > 0) {
		struct bt_str folder = bt_str_cut(&rest, ':');
		/*
		 * As in Go, relative folders are skipped, so that no program in the working
		 * directory runs.
		 */
		if (folder.length == 0 || folder.data[0] != '/') {
			continue;
		}
		bt_strbuf_reset(out);
		bt_strbuf_append_str(out, folder);
		bt_strbuf_append_char(out, '/');
		bt_strbuf_append_str(out, command);
		const char *path = bt_strbuf_c(out);
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
			access(path, X_OK) == 0) {
			return true;
		}
	}
	return false;
}

static void close_output(struct bt_exec_run *run)
{
	if (run->fd >= 0) {
		bt_loop_remove_fd(run->loop, run->source);
		(void)close(run->fd); /* read-only: no data to lose */
		run->source = NULL;
		run->fd = -1;
	}
}

static void end_with(struct bt_exec_run *run, enum bt_exec_end end)
{
	run->over = true;
	run->result = (struct bt_exec_result){end, 1};
}

static void take_output(void *context)
{
	struct bt_exec_run *run = context;

	bt_strbuf_reserve(&run->output, READ_BYTES);
	ssize_t count = read(run->fd, run->output.data + run->output.length, READ_BYTES);
	if (count > 0) {
		run->output.length += (size_t)count;
		run->output.data[run->output.length] = '\0';
		if (run->output.length <= BT_EXEC_OUTPUT_BYTES_MAX) {
			return;
		}
		(void)bt_error_set(&run->err, BERTH_ERR_TOO_LARGE,
			"decoding stdout: more than %lu bytes",
			(unsigned long)BT_EXEC_OUTPUT_BYTES_MAX);
		(void)kill(run->pid, SIGKILL); /* cannot fail: our child, not reaped yet */
	} else if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
		return;
	}
	close_output(run);
	bt_loop_call_at(run->loop, 0);
}

static int spawn(
	struct bt_exec_run *run, const char *path, bool interactive, struct bt_str info, int output)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	struct bt_arena arena = {0};
	struct texts arguments = {.arena = &arena};
	struct texts environment = {.arena = &arena};
	int code = posix_spawn_file_actions_init(&actions);

	if (code != 0) {
		return code;
	}
	code = posix_spawnattr_init(&attributes);
	if (code == 0) {
		const struct bt_kubeconfig_exec *exec = run->exec;
		push_text(&arguments, exec->command);
		for (uint32_t i = 0; i < exec->args.count; i++) {
			push_text(&arguments, exec->args.items[i]);
		}
		bt_vec_push(&arguments.list, NULL);
		for (char **at = environ; at != NULL && *at != NULL; at++) {
			struct bt_str rest = bt_str_from(*at);
			struct bt_str name = bt_str_cut(&rest, '=');
			if (!is_replaced(exec, 0, name)) {
				push_text(&environment, bt_str_from(*at));
			}
		}
		for (uint32_t i = 0; i < exec->env.count; i++) {
			if (!is_replaced(exec, i + 1, exec->env.items[i].name)) {
				push_variable(&environment, exec->env.items[i].name,
					exec->env.items[i].value);
			}
		}
		push_variable(&environment, BT_STR(INFO_VARIABLE), info);
		bt_vec_push(&environment.list, NULL);
		/*
		 * Prepare the child: signals are unblocked and have their default actions,
		 * standard output is `output`, standard input is empty unless interactive is true,
		 * and all descriptors above standard error are closed.
		 */
		sigset_t none;
		sigset_t all;

		(void)sigemptyset(&none); /* cannot fail */
		(void)sigfillset(&all);   /* cannot fail */
		code |= posix_spawnattr_setsigmask(&attributes, &none);
		code |= posix_spawnattr_setsigdefault(&attributes, &all);
		code |= posix_spawnattr_setflags(
			&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
		if (!interactive) {
			code |= posix_spawn_file_actions_addopen(
				&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		}
		code |= posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
		code |= posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
		if (code == 0) {
			code = posix_spawn(&run->pid, path, &actions, &attributes,
				arguments.list.items, environment.list.items);
		}
		bt_vec_finish(&arguments.list);
		bt_vec_finish(&environment.list);
		bt_arena_finish_wiped(&arena);
		(void)posix_spawnattr_destroy(&attributes); /* cannot fail */
	}
	(void)posix_spawn_file_actions_destroy(&actions); /* cannot fail */
	return code;
}

static void fail_start(struct bt_exec_run *run, const char *what, int number)
{
	run->pid = 0;
	end_with(run, BT_EXEC_INTERNAL_ERROR);
	(void)bt_client_file_fail("exec:", what, number, &run->err);
}

static void start_child(
	struct bt_exec_run *run, const char *path, bool interactive, struct bt_str info)
{
	struct bt_strbuf what = {0};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		fail_start(run, "pipe", errno);
		return;
	}
	run->fd = ends[0];
	/* Only the parent's end is non-blocking: children expect blocking output. */
	if (fcntl(run->fd, F_SETFL, O_NONBLOCK) != 0 ||
		bt_loop_add_fd(run->loop, run->fd, take_output, run, &run->source, NULL) != 0) {
		fail_start(run, "pipe", errno);
		(void)close(ends[0]); /* unused */
		(void)close(ends[1]); /* unused */
		run->fd = -1;
		return;
	}
	int code = spawn(run, path, interactive, info, ends[1]);
	(void)close(ends[1]); /* the child has a copy */
	if (code != 0) {
		bt_strbuf_printf(&what, "fork/exec %s", path);
		fail_start(run, bt_strbuf_c(&what), code);
		bt_strbuf_finish(&what);
		close_output(run);
	}
}

struct bt_exec_run *bt_exec_run_start(struct bt_loop *loop, const struct bt_kubeconfig_exec *exec,
	bool interactive, struct bt_str info)
{
	struct bt_exec_run *run = BT_NEW(struct bt_exec_run);
	struct bt_strbuf path = {0};

	run->loop = loop;
	run->exec = exec;
	run->fd = -1;
	if (find_program(exec->command, &path)) {
		start_child(run, bt_strbuf_c(&path), interactive, info);
	} else {
		end_with(run, BT_EXEC_NOT_FOUND_ERROR);
		(void)bt_error_set(&run->err, BERTH_ERR_NOT_FOUND,
			"exec: executable %.*s not found", BT_STR_ARG(exec->command));
	}
	bt_strbuf_finish(&path);
	/* Results are reported in a later turn, never from this function. */
	bt_loop_call_at(loop, 0);
	return run;
}

bool bt_exec_run_poll(struct bt_exec_run *run, int64_t now_ns, int64_t *out_next_ns)
{
	if (run->over) {
		return true;
	}
	if (run->fd >= 0) {
		*out_next_ns = INT64_MAX;
		return false;
	}
	pid_t result = waitpid(run->pid, &run->status, WNOHANG);
	if (result == 0) {
		*out_next_ns = now_ns + (run->waited_once ? REAP_NEXT_NS : REAP_FIRST_NS);
		run->waited_once = true;
		return false;
	}
	/* if another part of the process reaped the child, its status is unknown */
	run->status = result == run->pid ? run->status : -1;
	/* the child has ended and its output is complete */
	int code = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;

	run->pid = 0;
	run->over = true;
	if (run->err.code != 0) {
		end_with(run, BT_EXEC_EXECUTION_ERROR);
	} else if (code != 0) {
		run->result = (struct bt_exec_result){BT_EXEC_EXECUTION_ERROR, code > 0 ? code : 1};
		(void)bt_error_set(&run->err, BERTH_ERR_IO,
			"exec: executable %.*s failed with exit code %d",
			BT_STR_ARG(run->exec->command), code);
	}
	return true;
}

int bt_exec_run_output(const struct bt_exec_run *run, struct bt_str *out_output,
	struct bt_exec_result *out_result, struct berth_error *err)
{
	BT_ASSERT(run->over);
	*out_result = run->result;
	if (run->err.code != 0) {
		return bt_error_set(err, run->err.code, "%s", berth_error_message(&run->err));
	}
	*out_output = bt_strbuf_str(&run->output);
	return 0;
}

void bt_exec_run_destroy(struct bt_exec_run *run)
{
	if (run == NULL) {
		return;
	}
	close_output(run);
	if (run->pid > 0) {
		(void)kill(run->pid, SIGKILL);    /* cannot fail: our child, not reaped yet */
		(void)waitpid(run->pid, NULL, 0); /* reap; status unused */
	}
	bt_strbuf_finish_wiped(&run->output);
	berth_error_finish(&run->err);
	bt_free(run);
}
