/* SPDX-License-Identifier: Apache-2.0 */
#include "client/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nanoseconds.h"

#define READ_BYTES ((size_t)4096)

const char *bt_client_file_errno(int number, char *buffer, size_t size)
{
	if (strerror_r(number, buffer, size) != 0) {
		return "unknown error";
	}
	/* Go's texts are those of libc, without the capital. */
	if (buffer[0] != '\0' && islower((unsigned char)buffer[1])) {
		buffer[0] = (char)tolower((unsigned char)buffer[0]);
	}
	return buffer;
}

static int fail(const char *what, const char *path, struct berth_error *err)
{
	int number = errno;
	char text[128];

	return bt_error_set(err, number == ENOENT ? BERTH_ERR_NOT_FOUND : BERTH_ERR_IO, "%s %s: %s",
		what, path, bt_client_file_errno(number, text, sizeof(text)));
}

static int open_file(const char *path, bool waits)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (waits ? 0 : O_NONBLOCK));
}

static int read_all(int fd, const char *path, uint32_t bytes_max, struct bt_strbuf *out,
	struct berth_error *err)
{
	size_t start = out->length;

	for (;;) {
		ssize_t count;
		bt_strbuf_reserve(out, READ_BYTES);
		count = read(fd, out->data + out->length, READ_BYTES);
		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count < 0) {
			return fail("read", path, err);
		}
		out->length += (size_t)count;
		out->data[out->length] = '\0';
		if (count == 0) {
			return 0;
		}
		if (out->length - start > bytes_max) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"read %s: larger than %lu bytes", path, (unsigned long)bytes_max);
		}
	}
}

static int read_file(const char *path, bool waits, uint32_t bytes_max, struct bt_strbuf *out,
	struct berth_error *err)
{
	size_t start = out->length;
	int fd = open_file(path, waits);
	struct stat status;
	int code;

	if (fd < 0) {
		return fail("open", path, err);
	}
	/* One piece of memory that is large enough: growing would leave copies behind. */
	if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= bytes_max) {
		bt_strbuf_reserve(out, (size_t)status.st_size + READ_BYTES);
	}
	code = read_all(fd, path, bytes_max, out, err);
	(void)close(fd); /* nothing was written */
	if (code != 0) {
		out->length = start;
	}
	return code;
}

int bt_client_file_read(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err)
{
	return read_file(path, false, bytes_max, out, err);
}

int bt_client_file_read_waiting(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err)
{
	return read_file(path, true, bytes_max, out, err);
}

int bt_client_file_check(const char *path, struct berth_error *err)
{
	int fd = open_file(path, false);

	if (fd < 0) {
		return fail("open", path, err);
	}
	(void)close(fd); /* nothing was written */
	return 0;
}

struct bt_client_file_stamp bt_client_file_stamp(const char *path)
{
	struct bt_client_file_stamp stamp = {0};
	struct stat status;

	if (stat(path, &status) == 0) {
		stamp = (struct bt_client_file_stamp){
			.device = (uint64_t)status.st_dev,
			.inode = (uint64_t)status.st_ino,
			.bytes = (int64_t)status.st_size,
			.modified_ns = bt_ns_of_seconds((int64_t)status.st_mtim.tv_sec) +
				status.st_mtim.tv_nsec,
			.exists = true,
		};
	}
	return stamp;
}

bool bt_client_file_stamp_equal(
	const struct bt_client_file_stamp *a, const struct bt_client_file_stamp *b)
{
	return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
		a->bytes == b->bytes && a->modified_ns == b->modified_ns;
}
