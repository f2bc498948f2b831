/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay with delay between a client and a server on loopback: delay_line PORT MS [GAP_US].
 * Forwards every byte after MS milliseconds, in both directions. With GAP_US, answers and events on
 * all connections together reach the client at least GAP_US microseconds apart, like those of a
 * server that finishes them one after another. Prints the port on which it listens, and runs until
 * it is killed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "net/loop.h"

#define CHUNK_BYTES_MAX 65536

/* Bytes in flight. */
struct chunk {
	struct chunk *next;
	int64_t due_ns;
	size_t size; /* 0: end of the stream */
	char bytes[];
};

/* One direction of a connection. */
struct half {
	struct pair *pair;
	struct bt_loop_source *source;
	int from;
	int to;
	struct chunk *first;
	struct chunk *last;
	bool is_over;
};

struct pair {
	struct half halves[2];
	struct pair *next;
};

struct line {
	struct bt_loop *loop;
	int listener;
	int timer; /* a timerfd, because the loop counts in milliseconds */
	struct sockaddr_in server;
	int64_t delay_ns;
	int64_t gap_ns;
	int64_t free_ns; /* earliest time of the server's next chunk */
	struct pair *pairs;
};

static struct line line;

static void die(const char *what)
{
	(void)fprintf(stderr, "delay_line: %s\n", what);
	exit(1);
}

static void push(struct half *half, const char *bytes, size_t size)
{
	struct chunk *chunk = bt_calloc(1, sizeof(*chunk) + size);
	chunk->due_ns = bt_loop_now_ns(line.loop) + line.delay_ns;
	if (half == &half->pair->halves[1] && line.gap_ns != 0) {
		chunk->due_ns = chunk->due_ns > line.free_ns ? chunk->due_ns : line.free_ns;
		line.free_ns = chunk->due_ns + line.gap_ns;
	}
	chunk->size = size;
	if (size != 0) {
		memcpy(chunk->bytes, bytes, size);
	}
	*(half->last != NULL ? &half->last->next : &half->first) = chunk;
	half->last = chunk;
}

static void on_bytes(void *context)
{
	static char bytes[CHUNK_BYTES_MAX];
	struct half *half = context;
	ssize_t count = read(half->from, bytes, sizeof(bytes));
	push(half, bytes, count > 0 ? (size_t)count : 0);
	if (count <= 0) {
		bt_loop_remove_fd(line.loop, half->source);
		half->source = NULL;
	}
}

static void send_all(const struct half *half, const struct chunk *chunk)
{
	for (size_t done = 0; done < chunk->size;) {
		ssize_t count =
			send(half->to, chunk->bytes + done, chunk->size - done, MSG_NOSIGNAL);
		if (count <= 0) {
			return; /* the receiver is gone */
		}
		done += (size_t)count;
	}
}

/* Send the chunks that are due. Returns the time at which the next chunk is due. */
static int64_t send_due(struct half *half, int64_t now_ns)
{
	while (half->first != NULL && half->first->due_ns <= now_ns) {
		struct chunk *chunk = half->first;
		if (chunk->size != 0) {
			send_all(half, chunk);
		} else {
			half->is_over = true;
			(void)shutdown(half->to, SHUT_WR); /* may be closed already */
		}
		half->first = chunk->next;
		half->last = half->first != NULL ? half->last : NULL;
		bt_free(chunk);
	}
	return half->first != NULL ? half->first->due_ns : INT64_MAX;
}

static void end_pair(struct pair *pair)
{
	(void)close(pair->halves[0].from); /* all bytes were sent */
	(void)close(pair->halves[0].to);
	bt_free(pair);
}

static int64_t work(void *context, int64_t now_ns)
{
	int64_t next_ns = INT64_MAX;
	struct itimerspec timer = {0};
	(void)context;
	for (struct pair **link = &line.pairs; *link != NULL;) {
		struct pair *pair = *link;
		for (size_t i = 0; i < 2; i++) {
			int64_t due_ns = send_due(&pair->halves[i], now_ns);
			next_ns = due_ns < next_ns ? due_ns : next_ns;
		}
		if (pair->halves[0].is_over && pair->halves[1].is_over) {
			*link = pair->next;
			end_pair(pair);
		} else {
			link = &pair->next;
		}
	}
	if (next_ns != INT64_MAX) {
		timer.it_value.tv_sec = next_ns / BT_NS_PER_SECOND;
		timer.it_value.tv_nsec = next_ns % BT_NS_PER_SECOND;
		(void)timerfd_settime(line.timer, TFD_TIMER_ABSTIME, &timer, NULL);
	}
	return INT64_MAX;
}

static void on_timer(void *context)
{
	uint64_t count;
	(void)context;
	(void)!read(line.timer, &count, sizeof(count)); /* wakes the loop, which runs work */
}

static void on_client(void *context)
{
	int on = 1;
	int ends[2] = {accept(line.listener, NULL, NULL), socket(AF_INET, SOCK_STREAM, 0)};
	struct pair *pair = BT_NEW(struct pair);
	(void)context;
	if (ends[0] < 0 || ends[1] < 0 ||
		connect(ends[1], (const void *)&line.server, sizeof(line.server)) != 0) {
		die("no connection");
	}
	pair->next = line.pairs;
	line.pairs = pair;
	for (size_t i = 0; i < 2; i++) {
		struct half *half = &pair->halves[i];
		half->pair = pair;
		half->from = ends[i];
		half->to = ends[1 - i];
		(void)setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (bt_loop_add_fd(line.loop, half->from, on_bytes, half, &half->source, NULL) !=
			0) {
			die("no descriptor");
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(own);
	struct bt_loop_source *source;
	struct bt_loop_source *timer_source;
	if (argc != 3 && argc != 4) {
		die("usage: delay_line PORT MS [GAP_US]");
	}
	line.server = own;
	line.server.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	line.delay_ns = strtol(argv[2], NULL, 10) * BT_NS_PER_MS;
	line.gap_ns = argc == 4 ? strtol(argv[3], NULL, 10) * 1000 : 0;
	line.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	line.listener = socket(AF_INET, SOCK_STREAM, 0);
	if (line.listener < 0 || bind(line.listener, (const void *)&own, length) != 0 ||
		listen(line.listener, SOMAXCONN) != 0 ||
		getsockname(line.listener, (void *)&own, &length) != 0 ||
		bt_loop_create(&line.loop, NULL) != 0 ||
		bt_loop_add_fd(line.loop, line.listener, on_client, NULL, &source, NULL) != 0 ||
		line.timer < 0 ||
		bt_loop_add_fd(line.loop, line.timer, on_timer, NULL, &timer_source, NULL) != 0) {
		die("no listener");
	}
	bt_loop_add_worker(line.loop, work, NULL);
	(void)printf("%u\n", ntohs(own.sin_port));
	(void)fflush(stdout);
	return bt_loop_run(line.loop, NULL) == 0 ? 0 : 1;
}
