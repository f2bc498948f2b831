/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** The bytes that the child writes to the pipe. Both processes have the same program and layout. */
struct answer {
	int code;
	struct bt_bench_result result;
	char message[1024];
};

static void write_all(int file, const void *data, size_t size)
{
	const char *next = data;
	while (size != 0) {
		ssize_t written = write(file, next, size);
		if (written < 0 && errno != EINTR) {
			return; /* the parent notices that the answer is incomplete */
		}
		if (written > 0) {
			next += written;
			size -= (size_t)written;
		}
	}
}

static bool read_all(int file, void *data, size_t size)
{
	char *next = data;
	while (size != 0) {
		ssize_t count = read(file, next, size);
		if (count == 0 || (count < 0 && errno != EINTR)) {
			return false;
		}
		if (count > 0) {
			next += count;
			size -= (size_t)count;
		}
	}
	return true;
}

BT_NORETURN static void run_and_exit(const struct bt_bench_run *run, int file)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct answer answer;
	memset(&answer, 0, sizeof(answer)); /* padding is written, too */
	answer.code = bt_bench_run(run, &answer.result, &err);
	if (answer.code < 0) {
		(void)snprintf(
			answer.message, sizeof(answer.message), "%s", berth_error_message(&err));
		berth_error_finish(&err);
	}
	write_all(file, &answer, sizeof(answer));
	_exit(0); /* without exit handlers, which would write the parent's buffers again */
}

static int describe_death(int status, struct berth_error *err)
{
	if (WIFSIGNALED(status)) {
		return bt_error_set(err, BERTH_ERR_STATE, "the measuring process died of signal %d",
			WTERMSIG(status));
	}
	return bt_error_set(err, BERTH_ERR_STATE,
		"the measuring process ended with status %d and no result", WEXITSTATUS(status));
}

int bt_bench_run_in_child(
	const struct bt_bench_run *run, struct bt_bench_result *out_result, struct berth_error *err)
{
	struct answer answer;
	int ends[2];
	int status = 0;
	if (pipe(ends) != 0) {
		return bt_error_set(err, BERTH_ERR_IO, "pipe: %s", strerror(errno));
	}
	(void)fflush(NULL); /* otherwise the child writes the buffered output, too */
	pid_t child = fork();
	if (child < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return bt_error_set(err, BERTH_ERR_IO, "fork: %s", strerror(errno));
	}
	if (child == 0) {
		(void)close(ends[0]);
		run_and_exit(run, ends[1]);
	}
	(void)close(ends[1]);
	bool whole = read_all(ends[0], &answer, sizeof(answer));
	(void)close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	if (!whole) {
		return describe_death(status, err);
	}
	if (answer.code < 0) {
		return bt_error_set(err, answer.code, "%s", answer.message);
	}
	*out_result = answer.result;
	return 0;
}
