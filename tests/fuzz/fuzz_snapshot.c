/* SPDX-License-Identifier: MIT */
/*
 * fuzz_snapshot.c - arbitrary snapshot files
 *
 * The first byte of an input chooses a command of fiberctl, the second whether it prints JSON; the
 * rest is the file.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	command_silence();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	if (size < 2)
		return 0;
	fd = memfd_create("snapshot", MFD_CLOEXEC);
	fuzz_must(fd >= 0 && write(fd, data + 2, size - 2) == (ssize_t)(size - 2));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	command_run(data, path);
	close(fd);
	return 0;
}
