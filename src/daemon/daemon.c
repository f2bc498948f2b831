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
#include "base/vec.h"
#include "daemon/daemon_private.h"
#include "net/clock.h"
#include "state/node_info.h"

/**
 * Allocations of this size and more get their own mapping. Setting the threshold keeps it constant;
 * glibc would raise its default when such an allocation is freed.
 */
#define LARGE_BYTES (128 * 1024)
/**
 * Processor time between two releases of code pages. Reading the needed pages again takes about
 * 0.3 ms: 80 page faults of 64 KiB.
 */
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

/**
 * A worker of the loop. A large heap gets huge pages. After every 20 ms of processor time, code
 * pages are released, so that rarely used code does not stay resident: the code that opens
 * connections is 2 MB, for example. The cost of reading pages again is small beside 20 ms.
 */
static int64_t care_for_memory(void *context, int64_t now_ns)
{
	struct bt_daemon_idle_code *idle = context;
	struct timespec time = {0};
	bt_heap_use_huge_pages();
	if (now_ns < idle->next_check_ns) {
		return INT64_MAX;
	}
	/* Cannot fail for this clock. next_check_ns limits the number of these system calls. */
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	int64_t used_ns = (int64_t)time.tv_sec * BT_NS_PER_SECOND + time.tv_nsec;
	if (used_ns - idle->dropped_ns >= CPU_NS_PER_DROP) {
		idle->dropped_ns = used_ns;
		release_code();
	}
	/*
	 * While only this thread works, processor time grows no faster than the clock, so the next
	 * CPU_NS_PER_DROP cannot be used up before this time. Work of other threads can only make
	 * the next release late.
	 */
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

int64_t bt_daemon_steady_ns(void *context)
{
	const struct bt_daemon *daemon = context;
	return bt_clock_steady_ns() + daemon->steady_offset_ns;
}

/** --- the scheduling loop: spec 11 section 6.1, step 22 --- */

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
	/* The wall clock may have been set, or the machine suspended, since the start. */
	bt_scheduler_set_wall_offset(
		daemon->scheduler, bt_clock_wall_ns() - bt_daemon_steady_ns(daemon));
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

void bt_daemon_add_worker(struct bt_daemon *daemon)
{
	bt_loop_add_worker(daemon->loop, run_scheduler, daemon);
	bt_loop_add_worker(daemon->loop, care_for_memory, &daemon->idle_code);
}

/** --- SIGUSR2: comparison and dump of cache and queue --- */

struct texts {
	BT_VEC(struct bt_str) list;
	struct bt_arena arena; /* for texts of objects that exist only during the visit */
};

static void add_name(void *context, const struct bt_object *object)
{
	struct texts *texts = context;
	bt_vec_push(&texts->list, bt_arena_str(&texts->arena, object->meta->name));
}

static void add_uid(void *context, const struct bt_object *object)
{
	struct texts *texts = context;
	bt_vec_push(&texts->list, bt_arena_str(&texts->arena, object->meta->uid));
}

static bool add_queued(void *context, const struct bt_queue_entry *entry)
{
	struct texts *texts = context;
	bt_vec_push(&texts->list, entry->pod.uid);
	return true;
}

/**
 * Set out_rest to the texts of `from` without the texts of `what`; both must be sorted. A text that
 * occurs m times in `from` and n < m times in `what` occurs m - n times in out_rest.
 */
static void subtract(const struct texts *from, const struct texts *what, struct texts *out_rest)
{
	uint32_t other = 0;
	for (uint32_t i = 0; i < from->list.count; i++) {
		struct bt_str text = from->list.items[i];
		while (other < what->list.count &&
			bt_str_compare(what->list.items[other], text) < 0) {
			other++;
		}
		if (other < what->list.count && bt_str_equal(what->list.items[other], text)) {
			other++;
		} else {
			bt_vec_push(&out_rest->list, text);
		}
	}
}

/** Log the differences between the lists `api` and `cache`, and empty both lists. */
static void report(
	struct texts *api, struct texts *cache, const char *missed_key, const char *redundant_key)
{
	struct texts missed = {0};
	struct texts redundant = {0};
	struct texts *both[] = {api, cache};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(both); i++) {
		if (both[i]->list.count != 0) {
			qsort(both[i]->list.items, both[i]->list.count,
				sizeof(*both[i]->list.items), bt_str_compare_qsort);
		}
	}
	subtract(api, cache, &missed);
	subtract(cache, api, &redundant);
	if (missed.list.count != 0 || redundant.list.count != 0) {
		BT_LOG_INFO(0, "Cache mismatch",
			BT_LOG_STRS(missed_key, missed.list.items, missed.list.count),
			BT_LOG_STRS(redundant_key, redundant.list.items, redundant.list.count));
	}
	bt_vec_finish(&missed.list);
	bt_vec_finish(&redundant.list);
	bt_vec_finish(&api->list);
	bt_vec_finish(&cache->list);
	bt_arena_finish(&api->arena);
	bt_arena_finish(&cache->arena);
}

void bt_daemon_compare_cache(struct bt_scheduler *scheduler, const struct bt_reflector *nodes,
	const struct bt_reflector *pods)
{
	const struct bt_state *state = bt_scheduler_engine(scheduler)->state;
	struct texts api = {0};
	struct texts cache = {0};
	BT_LOG_INFO_PLAIN(3, "Cache comparer started");
	if (nodes != NULL) {
		bt_reflector_for_each(nodes, add_name, &api);
	}
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		if (state->nodes.rows[slot].in_cache) {
			bt_vec_push(&cache.list, bt_node_table_name(&state->nodes, slot));
		}
	}
	report(&api, &cache, "missedNodes", "redundantNodes");
	if (pods != NULL) {
		bt_reflector_for_each(pods, add_uid, &api);
	}
	for (uint32_t id = 0; id < state->pods.records.count; id++) {
		const struct bt_pod_record *pod = bt_state_pod_at(state, id);
		if (pod->in_use && !pod->snapshot_only) {
			bt_vec_push(&cache.list, bt_pod_record_uid(pod));
		}
	}
	for (enum bt_queue_place place = 0; place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(bt_scheduler_queue(scheduler), place, add_queued, &cache);
	}
	report(&api, &cache, "missedPods", "redundantPods");
	BT_LOG_INFO_PLAIN(3, "Cache comparer finished");
}

struct dump {
	struct bt_scheduler *scheduler;
	struct bt_strbuf *out;
	struct bt_strbuf lines;
	uint32_t count;
};

static void write_pod(struct bt_strbuf *out, const struct bt_pod_info *pod, struct bt_str phase)
{
	bt_strbuf_printf(out,
		"name: %.*s, namespace: %.*s, uid: %.*s, phase: %.*s, nominated node: %.*s\n",
		BT_STR_ARG(pod->name), BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->uid),
		BT_STR_ARG(phase), BT_STR_ARG(pod->nominated_node_name));
}

static struct bt_str phase_of(struct bt_scheduler *scheduler, const struct bt_pod_info *pod)
{
	const struct bt_pod *known =
		bt_scheduler_find_same_pod(scheduler, pod->namespace_, pod->name, pod->uid);
	return known != NULL ? known->status.phase : BT_STR("");
}

static bool write_queued(void *context, const struct bt_queue_entry *entry)
{
	struct dump *dump = context;
	write_pod(dump->out, &entry->pod, phase_of(dump->scheduler, &entry->pod));
	return true;
}

/**
 * Append the requested or allocatable resources as Go prints framework.Resource:
 * "&{MilliCPU:1 ... ScalarResources:map[a:1 b:2]}".
 */
static void write_record(struct bt_strbuf *out, const struct bt_node_info *info, bool requested)
{
	const struct bt_node_table *nodes = &info->state->nodes;
	BT_VEC(struct bt_scalar_resource) scalars = {0};
	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		int64_t value = requested ? bt_node_info_scalar_requested(info, i)
					  : bt_node_info_scalar_allocatable(info, i);
		if (value != 0) {
			struct bt_scalar_resource scalar = {
				bt_symbol_text(nodes->symbols, nodes->scalars.items[i].name),
				value};
			bt_vec_push(&scalars, scalar);
		}
	}
	if (scalars.count != 0) {
		qsort(scalars.items, scalars.count, sizeof(*scalars.items), bt_str_compare_qsort);
	}
	const int64_t *amounts = requested ? info->requested : info->allocatable;
	bt_strbuf_printf(out,
		"&{MilliCPU:%lld Memory:%lld EphemeralStorage:%lld AllowedPodNumber:%lld "
		"ScalarResources:map[",
		(long long)amounts[BT_CPU_MILLI], (long long)amounts[BT_MEMORY_BYTES],
		(long long)amounts[BT_EPHEMERAL_BYTES],
		(long long)(requested ? 0 : info->allocatable_pods));
	for (uint32_t i = 0; i < scalars.count; i++) {
		bt_strbuf_printf(out, "%s%.*s:%lld", i != 0 ? " " : "",
			BT_STR_ARG(scalars.items[i].name), (long long)scalars.items[i].value);
	}
	bt_strbuf_append_c(out, "]}");
	bt_vec_finish(&scalars);
}

void bt_daemon_dump_cache(struct bt_scheduler *scheduler)
{
	struct bt_strbuf nodes = {0};
	struct bt_strbuf summary = {0};
	struct bt_strbuf pods = {0};
	const struct bt_node_table *table = &bt_scheduler_engine(scheduler)->state->nodes;
	for (uint32_t slot = 0; slot < table->slot_count; slot++) {
		if (table->rows[slot].in_cache) {
			bt_strbuf_append_c(&nodes, nodes.length == 0 ? "" : "\n\n");
			const struct bt_engine *engine = bt_scheduler_engine(scheduler);
			struct dump nominated = {.scheduler = scheduler};
			uint32_t cursor = BT_NOMINATION_FIRST;
			const struct bt_pod_info *nominee;
			struct bt_node_info info;
			bt_node_info_init(&info, engine->state, slot);
			uint32_t count = bt_node_info_pod_count(&info);
			bt_strbuf_printf(&nodes,
				"Node name: %.*s\nDeleted: %s\nRequested Resources: ",
				BT_STR_ARG(bt_node_info_name(&info)),
				engine->state->nodes.rows[slot].has_node ? "false" : "true");
			write_record(&nodes, &info, true);
			bt_strbuf_append_c(&nodes, "\nAllocatable Resources:");
			write_record(&nodes, &info, false);
			bt_strbuf_printf(&nodes, "\nScheduled Pods(number: %u):\n", count);
			for (uint32_t i = 0; i < count; i++) {
				struct bt_pod_info pod;
				bt_node_info_pod_at(&info, i, &pod);
				write_pod(&nodes, &pod, phase_of(scheduler, &pod));
			}
			while ((nominee = bt_nominator_next(&engine->nominator,
					bt_node_info_name(&info), &cursor)) != NULL) {
				write_pod(&nominated.lines, nominee, phase_of(scheduler, nominee));
				nominated.count++;
			}
			if (nominated.count != 0) {
				bt_strbuf_printf(&nodes, "Nominated Pods(number: %u):\n%s",
					nominated.count, bt_strbuf_c(&nominated.lines));
			}
			bt_strbuf_finish(&nominated.lines);
		}
	}
	bt_queue_summary(bt_scheduler_queue(scheduler), &summary);
	/* Write a line per queued pod. */
	struct dump dump = {.scheduler = scheduler, .out = &pods};
	for (enum bt_queue_place place = 0; place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(bt_scheduler_queue(scheduler), place, write_queued, &dump);
	}
	BT_LOG_INFO(0, "Dump of cached NodeInfo", BT_LOG_STR("nodes", bt_strbuf_str(&nodes)));
	BT_LOG_INFO(0, "Dump of scheduling queue", BT_LOG_STR("summary", bt_strbuf_str(&summary)),
		BT_LOG_STR("pods", bt_strbuf_str(&pods)));
	bt_strbuf_finish(&nodes);
	bt_strbuf_finish(&summary);
	bt_strbuf_finish(&pods);
}

#define EXIT_CODE_FAILED 1
/** Maximum time for sending the last events. */
#define LAST_EVENTS_NS BT_NS_PER_SECOND

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

/** --- the end of the process: spec 11 sections 6.2, 6.3, 6.5 --- */

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
	/* The last events, such as the one about the end of leading, are sent. */
	int64_t end_ns = bt_loop_now_ns(daemon->loop) + LAST_EVENTS_NS;
	int64_t left_ns = LAST_EVENTS_NS;
	while (bt_event_sender_waiting(daemon->events) != 0 && left_ns > 0 &&
		bt_loop_turn(daemon->loop, left_ns, NULL) == 0) {
		left_ns = end_ns - bt_loop_now_ns(daemon->loop);
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

static int run(struct bt_daemon *daemon)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR2, 0};
	struct berth_error err = BERTH_ERROR_INIT;
	uint64_t seed;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
		(void)bt_error_set(&err, BERTH_ERR_IO, "getrandom: %s", strerror(errno));
		return command_failed(&err);
	}
	bt_prng_init(&daemon->prng, seed);
	daemon->metrics = bt_metrics_create();
	int result = bt_loop_create(&daemon->loop, &err);
	if (result == 0) {
		result = bt_loop_on_signals(daemon->loop, signals, take_signal, daemon, &err);
	}
	if (result == 0 && daemon->options.serving.secure_port != 0) {
		result = bt_serving_tls_create(&daemon->options.serving,
			daemon->started_ns / BT_NS_PER_SECOND, &daemon->serving, &err);
	}
	if (result == 0) {
		result = bt_daemon_options_load_config(&daemon->options, &daemon->config, &err);
	}
	if (result == 0) {
		/* Log each default plugin that a profile configures again: spec 10 section 6.3. */
		for (uint32_t i = 0; i < daemon->config->overridden.count; i++) {
			BT_LOG_INFO(0, "Default plugin is explicitly re-configured; overriding",
				BT_LOG_STR("plugin", daemon->config->overridden.items[i]));
		}
		result = bt_daemon_build(daemon, &err);
	}
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
	 * Tune malloc before the first thread starts. Large arrays, which have their own mapping,
	 * grow by moving their pages, not by copies that leave holes. The short-lived threads that
	 * look up host names share one heap with the main thread. A failure has no effect.
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
