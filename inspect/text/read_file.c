/* SPDX-License-Identifier: MIT */
/* read_file.c - read a whole file of unknown length */
#include "inspect/text/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int ins_read_file(const char *path, char **ret_text, size_t *ret_size)
{
	size_t size = 0, room = 0;
	char *text = NULL;
	int rc = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (room - size < 4096) {
			char *more = NULL;

			room = room ? room * 2 : 1 << 16;
			if (room <= INS_READ_FILE_MAX)
				more = realloc(text, room);
			if (!more) {
				rc = room > INS_READ_FILE_MAX ? -EFBIG : -ENOMEM;
				break;
			}
			text = more;
		}
		n = read(fd, text + size, room - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	close(fd);
	if (rc < 0) {
		free(text);
		return rc;
	}
	text[size] = 0;
	*ret_text = text;
	*ret_size = size;
	return 0;
}
