/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/processes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/command.h"
#include "net/file_replace.h"

#define CHUNK_BYTES 65536

struct copy {
	uint32_t index;
	pid_t process;
	int pipe; /* read end of the pipe to which the copy writes its answer */
	struct bt_strbuf answer;
};

struct running {
	struct copy copies[BT_PROCESSES_MAX];
	uint32_t count;
};

pid_t bt_process_fork(int *out_end, struct berth_error *err)
{
	int ends[2];
	if (pipe(ends) != 0) {
		return bt_error_set(
			err, BERTH_ERR_IO, "cannot start a process: %s", strerror(errno));
	}
	(void)fflush(NULL); /* otherwise the copy would print the buffered bytes, too */
	pid_t parent = getpid();
	pid_t process = fork();
	if (process < 0) {
		int result = bt_error_set(
			err, BERTH_ERR_IO, "cannot start a process: %s", strerror(errno));
		(void)close(ends[0]); /* nothing was written */
		(void)close(ends[1]);
		return result;
	}
	if (process == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* its answer is not needed then */
		if (getppid() != parent) {
			_exit(BT_EXIT_BAD_INPUT); /* the parent ended before prctl */
		}
	}
	(void)close(ends[process == 0 ? 0 : 1]); /* the end of the other process */
	*out_end = ends[process == 0 ? 1 : 0];
	return process;
}

/** Wait until a copy writes or ends, and read its output. */
static int read_answers(
	const struct bt_processes *processes, struct running *running, struct berth_error *err)
{
	struct pollfd polls[BT_PROCESSES_MAX];
	int result = 0;
	for (uint32_t i = 0; i < running->count; i++) {
		polls[i] = (struct pollfd){.fd = running->copies[i].pipe, .events = POLLIN};
	}
	if (poll(polls, running->count, -1) < 0) {
		return errno == EINTR ? 0
				      : bt_error_set(err, BERTH_ERR_IO, "waiting for processes: %s",
						strerror(errno));
	}
	/* Backwards, because the last entry moves into the place of a copy that ended. */
	for (uint32_t i = running->count; i-- > 0 && result == 0;) {
		struct copy *copy = &running->copies[i];
		if (polls[i].revents == 0) {
			continue;
		}
		bt_strbuf_reserve(&copy->answer, CHUNK_BYTES);
		ssize_t length =
			read(copy->pipe, copy->answer.data + copy->answer.length, CHUNK_BYTES);
		if (length > 0) {
			copy->answer.length += (size_t)length;
		} else if (length == 0) {
			struct copy ended = *copy;
			*copy = running->copies[--running->count];
			int status = 0;
			(void)close(ended.pipe); /* read to its end */
			while (waitpid(ended.process, &status, 0) < 0 && errno == EINTR) {
			}
			if (WIFEXITED(status) && WEXITSTATUS(status) == BT_EXIT_OK) {
				result = processes->take(processes->context, ended.index,
					bt_strbuf_str(&ended.answer), err);
			} else {
				struct bt_str name =
					processes->name(processes->context, ended.index);
				result = WIFSIGNALED(status)
					? bt_error_set(err, BERTH_ERR_INTERNAL,
						  "%.*s: ended by signal %d", BT_STR_ARG(name),
						  WTERMSIG(status))
					: bt_error_set(err, BERTH_ERR_INVALID, "%.*s: %s",
						  BT_STR_ARG(name), processes->failed);
			}
			bt_strbuf_finish(&ended.answer);
		} else if (errno != EINTR) {
			struct bt_str name = processes->name(processes->context, copy->index);
			result = bt_error_set(
				err, BERTH_ERR_IO, "%.*s: %s", BT_STR_ARG(name), strerror(errno));
		}
	}
	return result;
}

int bt_processes_run(const struct bt_processes *processes, uint32_t count, struct berth_error *err)
{
	struct bt_progress progress;
	struct running running = {.count = 0};
	uint32_t started = 0;
	int result = 0;
	int64_t jobs = processes->jobs != 0 ? processes->jobs : sysconf(_SC_NPROCESSORS_ONLN);
	jobs = jobs < 1 ? 1 : jobs > BT_PROCESSES_MAX ? BT_PROCESSES_MAX : jobs;
	if (processes->progress != NULL) {
		bt_progress_start(&progress, processes->progress);
	}
	while (result == 0 && (started < count || running.count != 0)) {
		while (result == 0 && started < count && running.count < jobs) {
			uint32_t index = started++;
			int end;
			pid_t process = bt_process_fork(&end, err);
			if (process == 0) {
				struct bt_strbuf answer = {0};
				int exit_status =
					processes->work(processes->context, index, &answer);
				if (exit_status == BT_EXIT_OK &&
					bt_write_all(end, answer.data, answer.length) != 0) {
					/* the parent closed its end */
					exit_status = BT_EXIT_BAD_INPUT;
				}
				_exit(exit_status);
			}
			result = process < 0 ? process : 0;
			if (process > 0) {
				running.copies[running.count++] = (struct copy){
					.index = index, .process = process, .pipe = end};
			}
		}
		if (result == 0) {
			result = read_answers(processes, &running, err);
		}
		if (processes->progress != NULL) {
			uint32_t items = processes->items != 0 ? processes->items : count;
			uint64_t ended = started - running.count;
			bt_progress_show(&progress, (uint32_t)(ended * items / count), items);
		}
	}
	if (processes->progress != NULL) {
		bt_progress_end(&progress);
	}
	for (uint32_t i = 0; i < running.count; i++) {
		(void)kill(running.copies[i].process, SIGTERM); /* its answer is not needed */
		(void)waitpid(running.copies[i].process, NULL, 0);
		(void)close(running.copies[i].pipe);
		bt_strbuf_finish(&running.copies[i].answer);
	}
	return result;
}

int bt_processes_check_jobs(int64_t jobs, struct berth_error *err)
{
	return jobs >= 0 ? 0 : bt_error_set(err, BERTH_ERR_INVALID, "--jobs: must not be negative");
}
