/* SPDX-License-Identifier: Apache-2.0 */
#include "net/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

int bt_write_all(int fd, const char *data, size_t length)
{
	size_t done = 0;
	while (done < length) {
		ssize_t count = write(fd, data + done, length - done);
		if (count == 0) {
			return EIO;
		}
		if (count > 0) {
			done += (size_t)count;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

int bt_file_replace(const char *path, unsigned int mode, struct bt_str content)
{
	struct stat status;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		int number = fd < 0 ? errno : bt_write_all(fd, content.data, content.length);
		if (fd >= 0 && close(fd) != 0 && number == 0) {
			number = errno;
		}
		return number;
	}
	struct bt_strbuf beside = {0};
	bt_strbuf_printf(&beside, "%s.tmp-%ld", path, (long)getpid());
	const char *temporary = bt_strbuf_c(&beside);
	int fd =
		open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
	int number = fd < 0 ? errno : bt_write_all(fd, content.data, content.length);
	if (number == 0 && fsync(fd) != 0) {
		number = errno;
	}
	if (fd >= 0) {
		if (close(fd) != 0 && number == 0) {
			number = errno;
		}
		if (number == 0 && rename(temporary, path) != 0) {
			number = errno;
		}
		if (number != 0) {
			(void)unlink(temporary); /* best effort: remove the unfinished file */
		}
	}
	bt_strbuf_finish(&beside);
	return number;
}

int bt_make_folders(char *path, unsigned int mode)
{
	for (char *next = path;; next++) {
		char end = *next;
		if (end != '\0' && (end != '/' || next == path)) {
			continue;
		}
		*next = '\0';
		if (mkdir(path, (mode_t)mode) != 0 && errno != EEXIST) {
			return errno;
		}
		*next = end;
		if (end == '\0') {
			return 0;
		}
	}
}
