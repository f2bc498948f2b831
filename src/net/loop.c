/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "net/clock.h"

#define EVENTS_PER_TURN 64

struct bt_loop_source {
	int fd;                       /* -1: removed; freed when no turn holds its events */
	void (*ready)(void *context); /* NULL: watcher is set */
	void (*watcher)(void *context, uint32_t directions); /* NULL: ready is set */
	void *context;
	struct bt_loop_source *previous; /* in the list bt_loop.first */
	struct bt_loop_source *next;
	struct bt_loop *loop;
	uint32_t directions; /* watched directions, if watcher is set */
};

struct worker {
	int64_t (*work)(void *context, int64_t now_ns);
	void *context;
	bool at_work; /* being called by an outer turn */
	bool removed; /* freed when no turn iterates over the workers */
};

struct bt_loop {
	int epoll_fd;
	int signal_fd; /* -1: no signals are watched */
	sigset_t mask_before;
	void (*signal_received)(void *context, int signal);
	void *signal_context;
	struct bt_loop_source *first;
	struct bt_loop_source *removed; /* sources to free, linked by next */
	BT_VEC(struct worker) workers;
	int64_t due_ns; /* earliest due time of the workers */
	/** In nested turns: earliest due time of the workers that an outer turn is calling. */
	int64_t kept_due_ns;
	uint32_t dispatching; /* number of (nested) turns that hold events */
	uint32_t working;     /* number of (nested) turns that iterate over workers */
	bool stopping;
};

int64_t bt_loop_now_ns(const struct bt_loop *loop)
{
	(void)loop; /* all loops use the machine's clock */
	return bt_clock_steady_ns();
}

int bt_loop_create(struct bt_loop **out_loop, struct berth_error *err)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "making an event loop: %s", strerror(errno));
	}
	struct bt_loop *loop = BT_NEW(struct bt_loop);
	loop->epoll_fd = epoll_fd;
	loop->signal_fd = -1;
	loop->kept_due_ns = INT64_MAX;
	*out_loop = loop;
	return 0;
}

static void free_removed(struct bt_loop *loop)
{
	while (loop->dispatching == 0 && loop->removed != NULL) {
		struct bt_loop_source *source = loop->removed;
		loop->removed = source->next;
		bt_free(source);
	}
}

void bt_loop_destroy(struct bt_loop *loop)
{
	if (loop == NULL) {
		return;
	}
	while (loop->first != NULL) {
		bt_loop_remove_fd(loop, loop->first);
	}
	free_removed(loop);
	if (loop->signal_fd >= 0) {
		(void)close(loop->signal_fd);                             /* no data to lose */
		(void)sigprocmask(SIG_SETMASK, &loop->mask_before, NULL); /* cannot fail */
	}
	(void)close(loop->epoll_fd); /* no data to lose */
	bt_vec_finish(&loop->workers);
	bt_free(loop);
}

/* Registers fd with epoll, and sets *out_source to a copy of `wanted` with this fd. */
static int add_source(struct bt_loop *loop, int fd, uint32_t events,
	const struct bt_loop_source *wanted, struct bt_loop_source **out_source,
	struct berth_error *err)
{
	struct bt_loop_source *source = BT_NEW(struct bt_loop_source);
	struct epoll_event event = {.events = events, .data = {.ptr = source}};
	*source = *wanted;
	source->fd = fd;
	source->loop = loop;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		bt_free(source);
		return bt_error_set(
			err, BERTH_ERR_IO, "adding to an event loop: %s", strerror(errno));
	}
	BT_CHAIN_ADD(loop->first, source, previous, next);
	*out_source = source;
	return 0;
}

int bt_loop_add_fd(struct bt_loop *loop, int fd, void (*ready)(void *context), void *context,
	struct bt_loop_source **out_source, struct berth_error *err)
{
	struct bt_loop_source wanted = {.ready = ready, .context = context};
	return add_source(loop, fd, EPOLLIN, &wanted, out_source, err);
}

static uint32_t events_of(uint32_t directions)
{
	const uint32_t readable = (uint32_t)EPOLLIN | EPOLLRDHUP;
	return ((directions & BT_LOOP_READABLE) != 0 ? readable : 0) |
		((directions & BT_LOOP_WRITABLE) != 0 ? (uint32_t)EPOLLOUT : 0) |
		((directions & BT_LOOP_HANGUP) != 0 ? (uint32_t)EPOLLRDHUP : 0);
}

static uint32_t directions_of(uint32_t events)
{
	uint32_t directions = 0;
	if ((events & ((uint32_t)EPOLLERR | EPOLLHUP)) != 0) {
		return BT_LOOP_READABLE | BT_LOOP_WRITABLE | BT_LOOP_HANGUP;
	}
	directions |= (events & (uint32_t)EPOLLIN) != 0 ? BT_LOOP_READABLE : 0;
	directions |= (events & (uint32_t)EPOLLOUT) != 0 ? BT_LOOP_WRITABLE : 0;
	directions |= (events & (uint32_t)EPOLLRDHUP) != 0 ? BT_LOOP_READABLE | BT_LOOP_HANGUP : 0;
	return directions;
}

int bt_loop_watch_fd(struct bt_loop *loop, int fd, uint32_t directions,
	void (*ready)(void *context, uint32_t directions), void *context,
	struct bt_loop_source **out_source, struct berth_error *err)
{
	struct bt_loop_source wanted = {
		.watcher = ready, .context = context, .directions = directions};
	BT_ASSERT(directions != 0);
	return add_source(loop, fd, events_of(directions), &wanted, out_source, err);
}

void bt_loop_set_directions(struct bt_loop_source *source, uint32_t directions)
{
	struct epoll_event event = {.events = events_of(directions), .data = {.ptr = source}};
	BT_ASSERT(source->fd >= 0 && source->watcher != NULL);
	if (source->directions == directions) {
		return;
	}
	/* Without directions, remove fd from the epoll set: epoll always reports hangups. */
	int operation = source->directions == 0 ? EPOLL_CTL_ADD
		: directions == 0               ? EPOLL_CTL_DEL
						: EPOLL_CTL_MOD;
	source->directions = directions;
	/* fails only for a descriptor that is closed already */
	(void)epoll_ctl(source->loop->epoll_fd, operation, source->fd, &event);
}

void bt_loop_remove_fd(struct bt_loop *loop, struct bt_loop_source *source)
{
	if (source == NULL) {
		return;
	}
	BT_ASSERT(source->fd >= 0);
	/* fails only for a descriptor that is closed, or not in the set any more */
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	BT_CHAIN_REMOVE(loop->first, source, previous, next);
	/* events of the current turn may still point to the source, so it is freed later */
	source->fd = -1;
	source->next = loop->removed;
	loop->removed = source;
}

static void read_signals(void *context)
{
	struct bt_loop *loop = context;
	struct signalfd_siginfo info;
	while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		loop->signal_received(loop->signal_context, (int)info.ssi_signo);
	}
}

int bt_loop_on_signals(struct bt_loop *loop, const int *signals,
	void (*received)(void *context, int signal), void *context, struct berth_error *err)
{
	sigset_t set;
	struct bt_loop_source *source;
	BT_ASSERT(loop->signal_fd < 0);
	(void)sigemptyset(&set); /* cannot fail */
	for (; *signals != 0; signals++) {
		(void)sigaddset(&set, *signals); /* cannot fail: existing signals */
	}
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "waiting for signals: %s", strerror(errno));
	}
	int result = bt_loop_add_fd(loop, fd, read_signals, loop, &source, err);
	if (result != 0) {
		(void)close(fd); /* read-only: no data to lose */
		return result;
	}
	(void)sigprocmask(SIG_BLOCK, &set, &loop->mask_before); /* cannot fail: valid arguments */
	loop->signal_fd = fd;
	loop->signal_received = received;
	loop->signal_context = context;
	return 0;
}

void bt_loop_add_worker(
	struct bt_loop *loop, int64_t (*work)(void *context, int64_t now_ns), void *context)
{
	struct worker worker = {.work = work, .context = context};
	bt_vec_push(&loop->workers, worker);
	loop->due_ns = 0;
}

void bt_loop_call_at(struct bt_loop *loop, int64_t when_ns)
{
	loop->due_ns = BT_MIN(loop->due_ns, when_ns);
}

static void compact_workers(struct bt_loop *loop)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < loop->workers.count; i++) {
		if (!loop->workers.items[i].removed) {
			loop->workers.items[count++] = loop->workers.items[i];
		}
	}
	loop->workers.count = count;
}

void bt_loop_remove_worker(struct bt_loop *loop, const void *context)
{
	for (uint32_t i = 0; i < loop->workers.count; i++) {
		struct worker *worker = &loop->workers.items[i];
		if (worker->context == context && !worker->removed) {
			worker->removed = true;
			break;
		}
	}
	if (loop->working == 0) {
		compact_workers(loop);
	}
}

/*
 * Resets due_ns. If an outer turn is calling workers, saves the due time first: a nested turn skips
 * these workers, so the outer turn must still call them in time.
 */
static void keep_due(struct bt_loop *loop)
{
	if (loop->working != 0 && loop->due_ns < loop->kept_due_ns) {
		loop->kept_due_ns = loop->due_ns;
	}
	loop->due_ns = INT64_MAX;
}

int bt_loop_turn(struct bt_loop *loop, int64_t wait_ns, struct berth_error *err)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int64_t now_ns = bt_clock_steady_ns();
	int64_t due_ns = loop->due_ns;
	if (wait_ns < INT64_MAX - now_ns && now_ns + wait_ns < due_ns) {
		due_ns = now_ns + wait_ns;
	}
	int64_t wait_ms = -1;
	if (due_ns <= now_ns) {
		wait_ms = 0;
	} else if (due_ns != INT64_MAX) {
		/* Round up: a worker called too early would only request another turn. */
		wait_ms = (due_ns - now_ns + BT_NS_PER_MS - 1) / BT_NS_PER_MS;
		wait_ms = BT_MIN(wait_ms, INT_MAX);
	}
	int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, (int)wait_ms);
	if (count < 0 && errno != EINTR) {
		return bt_error_set(
			err, BERTH_ERR_IO, "waiting in an event loop: %s", strerror(errno));
	}
	keep_due(loop);
	loop->dispatching++;
	for (int i = 0; i < count; i++) {
		const struct bt_loop_source *source = events[i].data.ptr;
		if (source->fd < 0) {
			continue;
		}
		if (source->ready != NULL) {
			source->ready(source->context);
			continue;
		}
		/* an earlier callback of this turn may have changed the directions */
		uint32_t directions = directions_of(events[i].events) & source->directions;
		if (directions != 0) {
			source->watcher(source->context, directions);
		}
	}
	loop->dispatching--;
	free_removed(loop);
	now_ns = bt_clock_steady_ns();
	if (loop->due_ns <= now_ns) {
		keep_due(loop); /* the calls below do what is due */
	}
	loop->working++;
	for (uint32_t i = 0; i < loop->workers.count; i++) {
		struct worker worker = loop->workers.items[i];
		if (worker.at_work || worker.removed) {
			continue;
		}
		loop->workers.items[i].at_work = true;
		int64_t next_ns = worker.work(worker.context, now_ns);
		loop->workers.items[i].at_work = false;
		bt_loop_call_at(loop, next_ns);
		if (loop->working == 1) {
			bt_loop_call_at(loop, loop->kept_due_ns);
			loop->kept_due_ns = INT64_MAX;
		}
	}
	loop->working--;
	if (loop->working == 0) {
		compact_workers(loop);
	}
	free_removed(loop);
	return 0;
}

int bt_loop_run(struct bt_loop *loop, struct berth_error *err)
{
	while (!loop->stopping) {
		int result = bt_loop_turn(loop, INT64_MAX, err);
		if (result != 0) {
			return result;
		}
	}
	loop->stopping = false;
	return 0;
}

void bt_loop_stop(struct bt_loop *loop)
{
	loop->stopping = true;
}

bool bt_loop_is_stopping(const struct bt_loop *loop)
{
	return loop->stopping;
}
