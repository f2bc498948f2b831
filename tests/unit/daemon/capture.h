/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DAEMON_CAPTURE_H
#define BT_TESTS_UNIT_DAEMON_CAPTURE_H
/** Captures the bytes written to a file descriptor between two calls. */
#include <stdio.h>
#include <unistd.h>

#include "test_main.h"

struct capture {
	int fd;
	int saved;
	FILE *file;
};

static inline void begin_capture(struct capture *capture, int fd)
{
	(void)fflush(NULL);
	capture->fd = fd;
	capture->saved = dup(fd);
	capture->file = tmpfile();
	ck_assert_ptr_nonnull(capture->file);
	ck_assert_int_ge(dup2(fileno(capture->file), fd), 0);
}

/**
 * Ends the capture. Writes the captured bytes to out as text and drops the bytes beyond its size.
 */
static inline void end_capture(struct capture *capture, char *out, size_t size)
{
	size_t length;
	(void)fflush(NULL);
	ck_assert_int_ge(dup2(capture->saved, capture->fd), 0);
	(void)close(capture->saved);
	rewind(capture->file);
	length = fread(out, 1, size - 1, capture->file);
	out[length] = '\0';
	(void)fclose(capture->file);
}
#endif
