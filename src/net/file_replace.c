/* SPDX-License-Identifier: Apache-2.0 */
#include "net/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

int bt_file_replace(const char *path, unsigned int mode, struct bt_str content)
{
	struct bt_strbuf beside = {0};
	bt_strbuf_printf(&beside, "%s.tmp-%ld", path, (long)getpid());
	const char *temporary = bt_strbuf_c(&beside);
	int fd =
		open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
	int number = fd < 0 ? errno : 0;
	size_t done = 0;
	while (number == 0 && done < content.length) {
		ssize_t count = write(fd, content.data + done, content.length - done);
		if (count < 0 && errno != EINTR) {
			number = errno;
		}
		done += count > 0 ? (size_t)count : 0;
	}
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
