/* SPDX-License-Identifier: MIT */
/*
 * 25_win32_copy.c - copy a file with the fibers of Windows: one reads, one writes
 *
 *   25_win32_copy [FROM TO]    without arguments: the program itself, to a temporary file
 *
 * The fibers are scheduled by hand. The reader fills a buffer and switches to the writer, which
 * empties it and switches back. At the end of the file, or after an error, the fiber that sees it
 * switches to the thread's own fiber, which prints what each has done. Only the header differs from a
 * program for Windows, and the calls for files.
 */
#include <fiber/win32.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part {
	const char *name;
	int fd;
	size_t bytes;
	unsigned rounds;
	int error;
};

static LPVOID primary, reader, writer;
static char buffer[32 << 10];
static size_t filled;

static VOID CALLBACK read_all(LPVOID parameter)
{
	struct part *p = parameter;

	for (;;) {
		ssize_t n = read(p->fd, buffer, sizeof(buffer));

		if (n <= 0) {
			p->error = n < 0 ? errno : 0;
			SwitchToFiber(primary);
			continue;
		}
		filled = (size_t)n;
		p->bytes += filled;
		p->rounds++;
		SwitchToFiber(writer);
	}
}

static VOID CALLBACK write_all(LPVOID parameter)
{
	struct part *p = parameter;

	for (;;) {
		ssize_t n = write(p->fd, buffer, filled);

		if (n != (ssize_t)filled) {
			p->error = n < 0 ? errno : ENOSPC;
			SwitchToFiber(primary);
			continue;
		}
		p->bytes += filled;
		p->rounds++;
		SwitchToFiber(reader);
	}
}

static int copy(struct part *from, struct part *to)
{
	primary = ConvertThreadToFiber(NULL);
	reader = CreateFiber(0, read_all, from);
	writer = CreateFiber(0, write_all, to);
	if (!primary || !reader || !writer) {
		fprintf(stderr, "25_win32_copy: no fiber: error %u\n", (unsigned)GetLastError());
		return 1;
	}
	SwitchToFiber(reader);
	DeleteFiber(reader);
	DeleteFiber(writer);
	ConvertFiberToThread();
	printf("%s: %zu bytes, %s\n", from->name, from->bytes, strerror(from->error));
	printf("%s: %zu bytes, %s\n", to->name, to->bytes, strerror(to->error));
	printf("rounds: %s\n", from->rounds == to->rounds ? "as many" : "not as many");
	return from->error || to->error;
}

int main(int argc, char **argv)
{
	struct part from = {.name = "reader"}, to = {.name = "writer"};
	char path[] = "/tmp/25_win32_copy-XXXXXX";
	int failed;

	from.fd = open(argc == 3 ? argv[1] : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	to.fd = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			  : mkstemp(path);
	if (from.fd < 0 || to.fd < 0) {
		perror("25_win32_copy");
		return 1;
	}
	failed = copy(&from, &to);
	close(from.fd);
	close(to.fd);
	if (argc != 3)
		unlink(path);
	return failed;
}
