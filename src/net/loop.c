/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "base/vec.h"

#define EVENTS_PER_TURN 64

struct bt_loop_source {
	int fd; /* -1: removed, freed at the end of the turn */
	void (*ready)(void *context);
	void *context;
	struct bt_loop_source *previous; /* bt_loop.first */
	struct bt_loop_source *next;
};

struct worker {
	int64_t (*work)(void *context, int64_t now_ns);
	void *context;
};

struct bt_loop {
	int epoll_fd;
	int signal_fd; /* -1: none */
	sigset_t mask_before;
	void (*signal_received)(void *context, int signal);
	void *signal_context;
	struct bt_loop_source *first;
	struct bt_loop_source *removed; /* linked by next */
	BT_VEC(struct worker) workers;
	int64_t due_ns; /* of the earliest worker */
	bool stopping;
};

static int64_t monotonic_ns(void)
{
	struct timespec now = {0, 0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (int64_t)now.tv_sec * BT_NS_PER_SECOND + now.tv_nsec;
}

int64_t bt_loop_now_ns(const struct bt_loop *loop)
{
	(void)loop; /* all loops share the clock of the machine */
	return monotonic_ns();
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
	*out_loop = loop;
	return 0;
}

static void free_removed(struct bt_loop *loop)
{
	while (loop->removed != NULL) {
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
		(void)close(loop->signal_fd);                             /* only read from */
		(void)sigprocmask(SIG_SETMASK, &loop->mask_before, NULL); /* arguments are valid */
	}
	(void)close(loop->epoll_fd); /* nothing to lose */
	bt_vec_finish(&loop->workers);
	bt_free(loop);
}

static int add_source(struct bt_loop *loop, int fd, uint32_t events, void (*ready)(void *context),
	void *context, struct bt_loop_source **out_source, struct berth_error *err)
{
	struct bt_loop_source *source = BT_NEW(struct bt_loop_source);
	struct epoll_event event = {.events = events, .data = {.ptr = source}};
	source->fd = fd;
	source->ready = ready;
	source->context = context;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		bt_free(source);
		return bt_error_set(
			err, BERTH_ERR_IO, "adding to an event loop: %s", strerror(errno));
	}
	source->next = loop->first;
	if (loop->first != NULL) {
		loop->first->previous = source;
	}
	loop->first = source;
	*out_source = source;
	return 0;
}

int bt_loop_add_fd(struct bt_loop *loop, int fd, void (*ready)(void *context), void *context,
	struct bt_loop_source **out_source, struct berth_error *err)
{
	return add_source(loop, fd, EPOLLIN, ready, context, out_source, err);
}

int bt_loop_add_hangup(struct bt_loop *loop, int fd, void (*gone)(void *context), void *context,
	struct bt_loop_source **out_source, struct berth_error *err)
{
	return add_source(
		loop, fd, (uint32_t)EPOLLRDHUP | EPOLLONESHOT, gone, context, out_source, err);
}

void bt_loop_remove_fd(struct bt_loop *loop, struct bt_loop_source *source)
{
	if (source == NULL) {
		return;
	}
	BT_ASSERT(source->fd >= 0);
	/* fails only for a descriptor that is closed already, which left the set by that */
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	if (source->previous != NULL) {
		source->previous->next = source->next;
	} else {
		loop->first = source->next;
	}
	if (source->next != NULL) {
		source->next->previous = source->previous;
	}
	/* events of this turn may still name it */
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
		(void)sigaddset(&set, *signals); /* the caller names existing signals */
	}
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "waiting for signals: %s", strerror(errno));
	}
	int result = bt_loop_add_fd(loop, fd, read_signals, loop, &source, err);
	if (result != 0) {
		(void)close(fd); /* only read from */
		return result;
	}
	(void)sigprocmask(SIG_BLOCK, &set, &loop->mask_before); /* arguments are valid */
	loop->signal_fd = fd;
	loop->signal_received = received;
	loop->signal_context = context;
	return 0;
}

void bt_loop_add_worker(
	struct bt_loop *loop, int64_t (*work)(void *context, int64_t now_ns), void *context)
{
	struct worker worker = {work, context};
	bt_vec_push(&loop->workers, worker);
	loop->due_ns = 0;
}

void bt_loop_call_at(struct bt_loop *loop, int64_t when_ns)
{
	if (when_ns < loop->due_ns) {
		loop->due_ns = when_ns;
	}
}

void bt_loop_remove_worker(struct bt_loop *loop, const void *context)
{
	for (uint32_t i = 0; i < loop->workers.count; i++) {
		if (loop->workers.items[i].context == context) {
			bt_vec_remove_ordered(&loop->workers, i);
			return;
		}
	}
}

/* Rounded up: a worker that is called too early would only ask for another turn. */
static int wait_ms(int64_t due_ns, int64_t now_ns)
{
	if (due_ns == INT64_MAX) {
		return -1;
	}
	if (due_ns <= now_ns) {
		return 0;
	}
	int64_t ms = (due_ns - now_ns + BT_NS_PER_MS - 1) / BT_NS_PER_MS;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int bt_loop_turn(struct bt_loop *loop, int64_t wait_ns, struct berth_error *err)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int64_t now_ns = monotonic_ns();
	int64_t due_ns = loop->due_ns;
	if (wait_ns < INT64_MAX - now_ns && now_ns + wait_ns < due_ns) {
		due_ns = now_ns + wait_ns;
	}
	int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, wait_ms(due_ns, now_ns));
	if (count < 0 && errno != EINTR) {
		return bt_error_set(
			err, BERTH_ERR_IO, "waiting in an event loop: %s", strerror(errno));
	}
	loop->due_ns = INT64_MAX;
	for (int i = 0; i < count; i++) {
		const struct bt_loop_source *source = events[i].data.ptr;
		if (source->fd >= 0) {
			source->ready(source->context);
		}
	}
	free_removed(loop);
	now_ns = monotonic_ns();
	for (uint32_t i = 0; i < loop->workers.count; i++) {
		struct worker worker = loop->workers.items[i];
		int64_t next_ns = worker.work(worker.context, now_ns);
		if (next_ns < loop->due_ns) {
			loop->due_ns = next_ns;
		}
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
