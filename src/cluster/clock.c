/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/nanoseconds.h"
#include "base/str.h"
#include "net/clock.h"

#define SAVE_EVERY_NS BT_NS_PER_SECOND
/** Digits and a newline; always the same length, so that a write replaces the whole text. */
#define TEXT_LENGTH 20
/** The start of the year 2200. A saved time after it counts as damaged and is ignored. */
#define LATEST_NS INT64_C(7258118400000000000)

int bt_cluster_clock_start(struct bt_cluster_clock *clock, double scale, int64_t virtual_start_ns,
	const char *path, struct berth_error *err)
{
	*clock = (struct bt_cluster_clock){.scale = scale, .file = -1};
	clock->start_ns = scale > 0 ? bt_clock_wall_ns() : virtual_start_ns;
	clock->start_monotonic_ns = bt_clock_steady_ns();
	clock->next_save_ns = clock->start_monotonic_ns;
	if (path == NULL) {
		return 0;
	}
	clock->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (clock->file < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "%s: %s", path, strerror(errno));
	}
	char text[TEXT_LENGTH];
	int64_t saved_ns;
	if (pread(clock->file, text, sizeof(text), 0) == TEXT_LENGTH &&
		text[TEXT_LENGTH - 1] == '\n' &&
		bt_str_parse_int64((struct bt_str){text, TEXT_LENGTH - 1}, &saved_ns) &&
		saved_ns >= 0 && saved_ns <= LATEST_NS && saved_ns > clock->start_ns) {
		clock->start_ns = saved_ns;
	}
	return 0;
}

void bt_cluster_clock_finish(struct bt_cluster_clock *clock)
{
	if (clock->file >= 0) {
		clock->next_save_ns = INT64_MIN;
		(void)bt_cluster_clock_save(clock);
		(void)close(clock->file);
		clock->file = -1;
	}
}

static int64_t cluster_time(const struct bt_cluster_clock *clock, int64_t monotonic_ns)
{
	int64_t passed_ns = monotonic_ns - clock->start_monotonic_ns;
	return clock->start_ns + (int64_t)((double)passed_ns * clock->scale);
}

int64_t bt_cluster_clock_now_ns(void *clock)
{
	return cluster_time(clock, bt_clock_steady_ns());
}

void bt_cluster_clock_advance(struct bt_cluster_clock *clock, int64_t now_ns)
{
	BT_ASSERT(clock->scale == 0);
	clock->start_ns = BT_MAX(clock->start_ns, now_ns);
}

int64_t bt_cluster_clock_monotonic_of(const struct bt_cluster_clock *clock, int64_t cluster_ns)
{
	if (cluster_ns == INT64_MAX) {
		return INT64_MAX;
	}
	double ahead_ns = (double)(cluster_ns - clock->start_ns) / clock->scale;
	if (ahead_ns >= (double)(INT64_MAX - clock->start_monotonic_ns)) {
		return INT64_MAX;
	}
	return clock->start_monotonic_ns + (int64_t)ahead_ns + 1;
}

/**
 * Saves the time that the clock will show two save intervals from now. The next save is due after
 * one interval, so a killed process has never shown a later time than the saved one.
 */
int64_t bt_cluster_clock_save(struct bt_cluster_clock *clock)
{
	char text[TEXT_LENGTH + 1];
	int64_t now_ns = bt_clock_steady_ns();
	if (clock->file < 0) {
		return INT64_MAX;
	}
	if (now_ns < clock->next_save_ns) {
		return clock->next_save_ns;
	}
	bool is_last = clock->next_save_ns == INT64_MIN;
	int64_t kept_ns = cluster_time(clock, is_last ? now_ns : now_ns + 2 * SAVE_EVERY_NS);
	clock->next_save_ns = now_ns + SAVE_EVERY_NS;
	if (!is_last && kept_ns <= bt_clock_wall_ns() + 2 * SAVE_EVERY_NS) {
		return clock->next_save_ns; /* no save is needed: the machine's clock is not behind,
		                               so a restart uses that clock */
	}
	(void)snprintf(text, sizeof(text), "%019" PRId64 "\n", kept_ns);
	/* A failed write is no reason to stop: a restart then begins with the machine's time. */
	ssize_t written = pwrite(clock->file, text, TEXT_LENGTH, 0);
	(void)written;
	return clock->next_save_ns;
}
