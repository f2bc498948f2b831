/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"
#include "net/loop.h"
#include "test_main.h"

struct probe {
	struct bt_loop *loop;
	struct bt_loop_source *mine;
	struct bt_loop_source *other;
	int fd;
	uint32_t count;
	int signal;
	int64_t due_ns;
};

static void read_one(void *context)
{
	struct probe *probe = context;
	char byte;
	probe->count++;
	ck_assert_int_eq(read(probe->fd, &byte, 1), 1);
}

START_TEST(test_loop__descriptors)
{
	struct probe probe = {0};
	int fds[2];
	ck_assert_int_eq(pipe(fds), 0);
	probe.fd = fds[0];
	ck_assert_int_eq(bt_loop_create(&probe.loop, NULL), 0);
	ck_assert_int_eq(
		bt_loop_add_fd(probe.loop, fds[0], read_one, &probe, &probe.mine, NULL), 0);
	ck_assert_int_eq(bt_loop_turn(probe.loop, 0, NULL), 0);
	ck_assert_uint_eq(probe.count, 0);
	ck_assert_int_eq(write(fds[1], "ab", 2), 2);
	ck_assert_int_eq(bt_loop_turn(probe.loop, INT64_MAX, NULL), 0);
	ck_assert_uint_eq(probe.count, 1);
	ck_assert_int_eq(bt_loop_turn(probe.loop, INT64_MAX, NULL), 0);
	ck_assert_uint_eq(probe.count, 2);
	bt_loop_remove_fd(probe.loop, probe.mine);
	ck_assert_int_eq(write(fds[1], "c", 1), 1);
	ck_assert_int_eq(bt_loop_turn(probe.loop, 0, NULL), 0);
	ck_assert_uint_eq(probe.count, 2);
	ck_assert_int_eq(close(fds[0]), 0);
	ck_assert_int_eq(close(fds[1]), 0);
	ck_assert_int_eq(bt_loop_add_fd(probe.loop, fds[0], read_one, &probe, &probe.mine, NULL),
		BERTH_ERR_IO);
	bt_loop_destroy(probe.loop);
}
END_TEST

/* The callback that runs first removes both sources. */
static void remove_both(void *context)
{
	struct probe *probe = context;
	probe->count++;
	bt_loop_remove_fd(probe->loop, probe->mine);
	bt_loop_remove_fd(probe->loop, probe->other);
}

START_TEST(test_loop__removal_within_a_turn)
{
	struct probe probe = {0};
	int a[2];
	int b[2];
	ck_assert_int_eq(pipe(a), 0);
	ck_assert_int_eq(pipe(b), 0);
	ck_assert_int_eq(write(a[1], "x", 1), 1);
	ck_assert_int_eq(write(b[1], "x", 1), 1);
	ck_assert_int_eq(bt_loop_create(&probe.loop, NULL), 0);
	ck_assert_int_eq(
		bt_loop_add_fd(probe.loop, a[0], remove_both, &probe, &probe.mine, NULL), 0);
	ck_assert_int_eq(
		bt_loop_add_fd(probe.loop, b[0], remove_both, &probe, &probe.other, NULL), 0);
	ck_assert_int_eq(bt_loop_turn(probe.loop, 0, NULL), 0);
	ck_assert_uint_eq(probe.count, 1);
	bt_loop_destroy(probe.loop);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(close(a[i]), 0);
		ck_assert_int_eq(close(b[i]), 0);
	}
}
END_TEST

static void count_gone(void *context, uint32_t directions)
{
	struct probe *probe = context;
	ck_assert_uint_eq(directions, BT_LOOP_HANGUP);
	bt_loop_set_directions(probe->mine, 0);
	probe->count++;
}

START_TEST(test_loop__hangup)
{
	struct probe probe = {0};
	int fds[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(bt_loop_create(&probe.loop, NULL), 0);
	ck_assert_int_eq(bt_loop_watch_fd(probe.loop, fds[0], BT_LOOP_HANGUP, count_gone, &probe,
				 &probe.mine, NULL),
		0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(bt_loop_turn(probe.loop, 0, NULL), 0);
	ck_assert_uint_eq(probe.count, 0);
	ck_assert_int_eq(close(fds[1]), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(bt_loop_turn(probe.loop, 0, NULL), 0);
	}
	ck_assert_uint_eq(probe.count, 1);
	bt_loop_destroy(probe.loop);
	ck_assert_int_eq(close(fds[0]), 0);
}
END_TEST

static int64_t stop_when_due(void *context, int64_t now_ns)
{
	struct probe *probe = context;
	probe->count++;
	if (now_ns >= probe->due_ns) {
		bt_loop_stop(probe->loop);
		return INT64_MAX;
	}
	return probe->due_ns;
}

START_TEST(test_loop__workers)
{
	struct probe probe = {0};
	struct probe removed = {0};
	ck_assert_int_eq(bt_loop_create(&probe.loop, NULL), 0);
	probe.due_ns = bt_loop_now_ns(probe.loop) + 20000000;
	bt_loop_add_worker(probe.loop, stop_when_due, &removed);
	bt_loop_add_worker(probe.loop, stop_when_due, &probe);
	bt_loop_remove_worker(probe.loop, &removed);
	ck_assert_int_eq(bt_loop_run(probe.loop, NULL), 0);
	ck_assert_int_ge(bt_loop_now_ns(probe.loop), probe.due_ns);
	/* the loop must not wait busily */
	ck_assert_uint_le(probe.count, 4);
	ck_assert_uint_eq(removed.count, 0);
	bt_loop_destroy(probe.loop);
}
END_TEST

static void take_signal(void *context, int signal)
{
	struct probe *probe = context;
	probe->signal = signal;
	bt_loop_stop(probe->loop);
}

START_TEST(test_loop__signals)
{
	static const int signals[] = {SIGTERM, SIGUSR1, 0};
	struct probe probe = {0};
	sigset_t mask;
	ck_assert_int_eq(bt_loop_create(&probe.loop, NULL), 0);
	ck_assert_int_eq(bt_loop_on_signals(probe.loop, signals, take_signal, &probe, NULL), 0);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	ck_assert_int_eq(bt_loop_run(probe.loop, NULL), 0);
	ck_assert_int_eq(probe.signal, SIGUSR1);
	bt_loop_destroy(probe.loop);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	ck_assert_int_eq(sigismember(&mask, SIGTERM), 0);
}
END_TEST

struct watched {
	struct bt_loop *loop;
	struct bt_loop_source *source;
	uint32_t directions;
	uint32_t count;
};

static void note_directions(void *context, uint32_t directions)
{
	struct watched *watched = context;
	watched->directions = directions;
	watched->count++;
}

static void expect_directions(struct watched *watched, uint32_t directions)
{
	watched->directions = 0;
	ck_assert_int_eq(bt_loop_turn(watched->loop, 0, NULL), 0);
	ck_assert_uint_eq(watched->directions, directions);
}

START_TEST(test_loop__directions)
{
	struct watched watched = {0};
	int fds[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(bt_loop_create(&watched.loop, NULL), 0);
	ck_assert_int_eq(bt_loop_watch_fd(watched.loop, fds[0], BT_LOOP_READABLE, note_directions,
				 &watched, &watched.source, NULL),
		0);
	expect_directions(&watched, 0);
	bt_loop_set_directions(watched.source, BT_LOOP_READABLE | BT_LOOP_WRITABLE);
	expect_directions(&watched, BT_LOOP_WRITABLE);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	expect_directions(&watched, BT_LOOP_READABLE | BT_LOOP_WRITABLE);
	bt_loop_set_directions(watched.source, BT_LOOP_READABLE);
	expect_directions(&watched, BT_LOOP_READABLE);
	bt_loop_set_directions(watched.source, BT_LOOP_HANGUP);
	expect_directions(&watched, 0); /* although data is readable */
	ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
	expect_directions(&watched, BT_LOOP_HANGUP);
	bt_loop_set_directions(watched.source, 0);
	expect_directions(&watched, 0);
	/* only a source with a direction set reports a hangup */
	ck_assert_int_eq(close(fds[1]), 0);
	expect_directions(&watched, 0);
	bt_loop_set_directions(watched.source, BT_LOOP_WRITABLE);
	expect_directions(&watched, BT_LOOP_WRITABLE);
	bt_loop_remove_fd(watched.loop, watched.source);
	expect_directions(&watched, 0);
	bt_loop_destroy(watched.loop);
	ck_assert_int_eq(close(fds[0]), 0);
}
END_TEST

struct nest {
	struct bt_loop *loop;
	struct bt_loop_source *source; /* an inner turn removes the source */
	int fd;
	int write_fd;
	uint32_t outer_count;
	uint32_t inner_count;
	uint32_t depth;
	uint32_t depth_max;
	int64_t due_ns;
	bool heard; /* the loop called the outer worker for due_ns */
	bool nested;
};

static int64_t inner_work(void *context, int64_t now_ns)
{
	struct nest *nest = context;
	(void)now_ns;
	nest->inner_count++;
	return INT64_MAX;
}

static void end_nest(void *context)
{
	struct nest *nest = context;
	bt_loop_remove_fd(nest->loop, nest->source);
	nest->source = NULL;
	/* at this time the loop must call outer_work, which waits in a nested turn */
	nest->due_ns = bt_loop_now_ns(nest->loop) + 5000000;
	bt_loop_call_at(nest->loop, nest->due_ns);
}

static int64_t outer_work(void *context, int64_t now_ns)
{
	struct nest *nest = context;
	nest->outer_count++;
	nest->depth++;
	if (nest->depth > nest->depth_max) {
		nest->depth_max = nest->depth;
	}
	if (nest->due_ns != 0 && now_ns >= nest->due_ns) {
		nest->heard = true;
		bt_loop_stop(nest->loop);
	}
	if (!nest->nested) {
		nest->nested = true;
		ck_assert_int_eq(write(nest->write_fd, "x", 1), 1);
		while (nest->source != NULL) {
			ck_assert_int_eq(bt_loop_turn(nest->loop, INT64_MAX, NULL), 0);
		}
		ck_assert_uint_ge(nest->inner_count, 1);
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(bt_loop_turn(nest->loop, 0, NULL), 0);
		}
	}
	nest->depth--;
	return INT64_MAX;
}

START_TEST(test_loop__turns_within_a_worker)
{
	struct nest nest = {0};
	int fds[2];
	ck_assert_int_eq(pipe(fds), 0);
	nest.fd = fds[0];
	nest.write_fd = fds[1];
	ck_assert_int_eq(bt_loop_create(&nest.loop, NULL), 0);
	ck_assert_int_eq(bt_loop_add_fd(nest.loop, fds[0], end_nest, &nest, &nest.source, NULL), 0);
	bt_loop_add_worker(nest.loop, outer_work, &nest);
	bt_loop_add_worker(nest.loop, inner_work, &nest);
	ck_assert_int_eq(bt_loop_run(nest.loop, NULL), 0);
	ck_assert(nest.heard);
	ck_assert_uint_eq(nest.depth_max, 1);
	ck_assert_uint_le(nest.outer_count, 5);
	bt_loop_destroy(nest.loop);
	ck_assert_int_eq(close(fds[0]), 0);
	ck_assert_int_eq(close(fds[1]), 0);
}
END_TEST

struct leaver {
	struct bt_loop *loop;
	uint32_t count;
	struct leaver *next;
};

static int64_t leave(void *context, int64_t now_ns)
{
	struct leaver *leaver = context;
	(void)now_ns;
	leaver->count++;
	bt_loop_remove_worker(leaver->loop, leaver);
	if (leaver->next != NULL) {
		bt_loop_remove_worker(leaver->loop, leaver->next);
	}
	return INT64_MAX;
}

START_TEST(test_loop__workers_leave_while_called)
{
	struct leaver leavers[3] = {0};
	ck_assert_int_eq(bt_loop_create(&leavers[0].loop, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		leavers[i].loop = leavers[0].loop;
		bt_loop_add_worker(leavers[0].loop, leave, &leavers[i]);
	}
	leavers[0].next = &leavers[1];
	ck_assert_int_eq(bt_loop_turn(leavers[0].loop, 0, NULL), 0);
	ck_assert_int_eq(bt_loop_turn(leavers[0].loop, 0, NULL), 0);
	ck_assert_uint_eq(leavers[0].count, 1);
	ck_assert_uint_eq(leavers[1].count, 0);
	ck_assert_uint_eq(leavers[2].count, 1);
	bt_loop_destroy(leavers[0].loop);
}
END_TEST

BT_TEST_MAIN("loop", test_loop__descriptors, test_loop__removal_within_a_turn, test_loop__hangup,
	test_loop__workers, test_loop__signals, test_loop__directions,
	test_loop__turns_within_a_worker, test_loop__workers_leave_while_called)
