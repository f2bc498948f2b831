/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "daemon/daemon.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/daemon_dump.h"
#include "daemon/daemon_private.h"
#include "net/clock.h"

/**
 * Allocations of this size and more get their own mapping. Setting the threshold keeps it constant;
 * glibc would raise its default when such an allocation is freed.
 */
#define LARGE_BYTES (128 * 1024)
/** Reading the needed pages again takes about 0.3 ms: 80 page faults of 64 KiB. */
#define CPU_NS_PER_DROP (20 * BT_NS_PER_MS)

static void release_range(uintptr_t start, uintptr_t end, uintptr_t page)
{
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start < end) {
		/* only advice: a failure has no effect */
		(void)madvise((void *)start, end - start, MADV_DONTNEED);
	}
}

/**
 * Release the read-only segments of a program or library: the kernel can read them again from the
 * file. Adjacent segments take one call.
 */
static int release_object(struct dl_phdr_info *info, size_t size BT_UNUSED, void *context)
{
	const uintptr_t *page = context;
	uintptr_t start = 0;
	uintptr_t end = 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) {
			continue;
		}
		uintptr_t from = (uintptr_t)info->dlpi_addr + segment->p_vaddr;
		if (from < end || from > ((end + *page - 1) & ~(*page - 1))) {
			release_range(start, end, *page);
			start = from;
		}
		end = from + segment->p_filesz;
	}
	release_range(start, end, *page);
	return 0;
}

static void release_code(void)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	if (page_bytes > 0) {
		uintptr_t page = (uintptr_t)page_bytes;
		(void)dl_iterate_phdr(release_object, &page);
	}
}

int64_t bt_daemon_release_idle_code(void *context, int64_t now_ns)
{
	struct bt_daemon_idle_code *idle = context;
	struct timespec time = {0};
	if (now_ns < idle->next_check_ns) {
		return INT64_MAX;
	}
	/* cannot fail for this clock; a system call, so it is not made in every turn */
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	int64_t used_ns = (int64_t)time.tv_sec * BT_NS_PER_SECOND + time.tv_nsec;
	if (used_ns - idle->dropped_ns >= CPU_NS_PER_DROP) {
		idle->dropped_ns = used_ns;
		release_code();
	}
	/* a single thread uses at most as much processor time as passes */
	idle->next_check_ns = now_ns + CPU_NS_PER_DROP - (used_ns - idle->dropped_ns);
	return INT64_MAX;
}

void bt_daemon_trim_memory(void)
{
	release_code();
	(void)malloc_trim(0);
}

/** Attempts per turn of the loop; between turns, answers and changes are handled. */
#define ATTEMPTS_PER_TURN 32

int64_t bt_daemon_wall_ns(void *context BT_UNUSED)
{
	return bt_clock_wall_ns();
}

int64_t bt_daemon_steady_ns(void *context)
{
	const struct bt_daemon *daemon = context;
	return bt_clock_steady_ns() + daemon->steady_offset_ns;
}

/** --- the scheduling loop: spec 11 section 6.1, step 22 --- */

bool bt_daemon_may_act(void *context)
{
	const struct bt_daemon *daemon = context;
	return daemon->leads && !daemon->stopping &&
		(daemon->election == NULL || bt_leader_election_may_act(daemon->election));
}

static int64_t run_scheduler(void *context, int64_t now_ns)
{
	struct bt_daemon *daemon = context;
	if (!daemon->leads || daemon->stopping || daemon->failed) {
		return INT64_MAX;
	}
	/*
	 * A wait within an attempt turns the loop; changes that arrive meanwhile are applied after
	 * the attempt.
	 */
	bt_cluster_feed_hold(daemon->feed);
	bt_api_writes_deliver(daemon->writes);
	int64_t due_ns = now_ns;
	for (uint32_t i = 0; i < ATTEMPTS_PER_TURN; i++) {
		struct bt_attempt attempt;
		int64_t next_ns =
			bt_scheduler_step(daemon->scheduler, bt_daemon_steady_ns(daemon), &attempt);
		if (attempt.outcome == BT_ATTEMPT_IDLE) {
			/* Converted from the scheduler's steady time to the loop's clock. */
			due_ns = next_ns == INT64_MAX ? INT64_MAX
						      : next_ns - daemon->steady_offset_ns;
			break;
		}
	}
	bt_cluster_feed_release(daemon->feed);
	return due_ns;
}

void bt_daemon_lead(struct bt_daemon *daemon)
{
	daemon->leads = true;
	bt_loop_call_at(daemon->loop, bt_loop_now_ns(daemon->loop));
}

void bt_daemon_add_worker(struct bt_daemon *daemon)
{
	bt_loop_add_worker(daemon->loop, run_scheduler, daemon);
	bt_loop_add_worker(daemon->loop, bt_daemon_release_idle_code, &daemon->idle_code);
}

#define EXIT_CODE_FAILED 1

/** --- signals: spec 11 section 6.4 --- */

static void take_signal(void *context, int number)
{
	struct bt_daemon *daemon = context;
	if (number == SIGUSR2) {
		if (daemon->scheduler != NULL && daemon->feed != NULL) {
			bt_daemon_compare_cache(daemon->scheduler,
				bt_cluster_feed_reflector(daemon->feed, BT_KIND_NODE),
				bt_cluster_feed_reflector(daemon->feed, BT_KIND_POD));
			bt_daemon_dump_cache(daemon->scheduler);
		}
		return;
	}
	if (daemon->stopping) {
		bt_klog_finish();
		_exit(EXIT_CODE_FAILED);
	}
	daemon->stopping = true;
	daemon->leads = false;
	if (daemon->election_started) {
		bt_leader_election_stop(daemon->election);
		return;
	}
	bt_loop_stop(daemon->loop);
}

/** --- ends: spec 11 sections 6.2, 6.3, 6.5 --- */

void bt_daemon_fail(struct bt_daemon *daemon, struct berth_error *err)
{
	if (!daemon->failed) {
		daemon->failed = true;
		daemon->leads = false;
		(void)bt_error_move(&daemon->err, err);
		bt_loop_stop(daemon->loop);
	}
}

static int command_failed(struct berth_error *err)
{
	BT_LOG_ERROR_PLAIN(berth_error_message(err), "command failed");
	berth_error_finish(err);
	return EXIT_CODE_FAILED;
}

static int end(struct bt_daemon *daemon)
{
	if (daemon->failed) {
		return command_failed(&daemon->err);
	}
	if (daemon->endpoints != NULL) {
		bt_endpoints_shut_down(daemon->endpoints);
	}
	if (daemon->lost) {
		BT_LOG_ERROR_PLAIN(NULL, "Leaderelection lost");
		return EXIT_CODE_FAILED;
	}
	if (daemon->election == NULL) {
		BT_LOG_ERROR_PLAIN("finished without leader elect", "command failed");
		return EXIT_CODE_FAILED;
	}
	BT_LOG_INFO_PLAIN(0, "Requested to terminate, exiting");
	return 0;
}

static int prepare(struct bt_daemon *daemon, struct berth_error *err)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR2, 0};
	uint64_t seed;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
		return bt_error_set(err, BERTH_ERR_IO, "getrandom: %s", strerror(errno));
	}
	bt_prng_init(&daemon->prng, seed);
	int result = bt_loop_create(&daemon->loop, err);
	if (result == 0) {
		result = bt_loop_on_signals(daemon->loop, signals, take_signal, daemon, err);
	}
	if (result == 0 && daemon->options.serving.secure_port != 0) {
		result = bt_serving_tls_create(&daemon->options.serving,
			daemon->started_ns / BT_NS_PER_SECOND, &daemon->serving, err);
	}
	if (result == 0) {
		result = bt_daemon_options_load_config(&daemon->options, &daemon->config, err);
	}
	if (result == 0) {
		bt_daemon_log_overrides(daemon->config);
	}
	daemon->metrics = bt_metrics_create();
	return result == 0 ? bt_daemon_build(daemon, err) : result;
}

static int run(struct bt_daemon *daemon)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = prepare(daemon, &err);
	if (result < 0) {
		return command_failed(&err);
	}
	if (daemon->options.write_config_to.length != 0) {
		result = bt_daemon_options_write_config(&daemon->options, daemon->config, &err);
		return result < 0 ? command_failed(&err) : 0;
	}
	bt_daemon_begin(daemon);
	result = bt_loop_run(daemon->loop, &err);
	return result < 0 ? command_failed(&err) : end(daemon);
}

int bt_daemon_main(int argc, char **argv)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct bt_daemon daemon = {
		.started_ns = bt_clock_wall_ns(),
		.err = BERTH_ERROR_INIT,
	};
	int exit_code = 0;
	daemon.steady_offset_ns = daemon.started_ns - bt_clock_steady_ns();
	(void)sigaction(SIGPIPE, &ignore, NULL); /* cannot fail for a valid signal */
	/* Credentials are in memory: no core dumps, and no other process may read the memory. */
	static const struct rlimit none = {0, 0};
	const char *allowed = getenv("BERTH_ALLOW_CORE");
	if (allowed == NULL || strcmp(allowed, "1") != 0) {
		(void)setrlimit(RLIMIT_CORE, &none); /* lowering is always allowed */
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
	/*
	 * Before there are threads. Large arrays grow by moving their pages, not by copies that
	 * leave holes; the short-lived threads that look up host names share one heap with the main
	 * thread. Only tuning: a failure has no effect.
	 */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_ARENA_MAX, 1);
	switch (bt_daemon_options_parse(argc, argv, &daemon.options)) {
	case BT_OPTIONS_GO_ON:
		exit_code = run(&daemon);
		break;
	case BT_OPTIONS_EXIT_OK:
		break;
	case BT_OPTIONS_EXIT_FAILURE:
		exit_code = EXIT_CODE_FAILED;
		break;
	}
	bt_daemon_finish(&daemon);
	bt_klog_finish();
	return exit_code;
}
