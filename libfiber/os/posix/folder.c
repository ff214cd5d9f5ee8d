/* SPDX-License-Identifier: MIT */
/* folder.c - the folder of the control sockets, and whose it is */
#include "os/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h> /* rename(2) */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"

fib_noinline int fib_os_make_folder(const char *path, mode_t mode)
{
	return mkdir(path, mode) < 0 ? -errno : 0;
}

fib_noinline int fib_os_rename(const char *from, const char *to)
{
	return rename(from, to) < 0 ? -errno : 0;
}

fib_noinline int fib_os_unlink(const char *path)
{
	return unlink(path) < 0 ? -errno : 0;
}

fib_noinline int fib_os_each_entry(const char *folder, void (*each)(void *arg, const char *name),
				   void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		each(arg, entry->d_name);
	closedir(dir);
	return 0;
}

fib_noinline int fib_os_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

fib_noinline int fib_os_set_modified(const char *path, uint32_t nanoseconds)
{
	const struct timespec times[2] = {{0, UTIME_OMIT}, {time(NULL), nanoseconds}};

	return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

fib_noinline bool fib_os_pid_exists(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

uid_t fib_os_uid(void)
{
	return geteuid();
}
