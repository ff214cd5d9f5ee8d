/* SPDX-License-Identifier: MIT */
/*
 * kept.h - files that are opened once and kept open
 *
 * A program may close every descriptor that it finds and use the numbers for its own files. So a kept file is compared with what it
 * was when it was opened before it is used again. Leaves that return the negative errno, like os.h.
 */
#ifndef FIB_OS_KEPT_H
#define FIB_OS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

struct fib_os_kept {
	int fd;		   /* -1: not open */
	uint64_t identity; /* fib_os_identity() of it, when it was opened */
};
#define FIB_OS_NOT_KEPT ((struct fib_os_kept){-1, 0})

/* Whether fd is still the file that had this fib_os_identity(). One system call; where a sandbox refuses that, it is believed. */
bool fib_os_same(int fd, uint64_t identity);

/* Open path to read, close-on-exec. 0, or a negative errno and kept is not open. */
int fib_os_keep(struct fib_os_kept *kept, const char *path);
/* Whether it is open, and still the same file. One system call. */
bool fib_os_kept_ours(const struct fib_os_kept *kept);
/* Close it if it is still ours. Not open afterwards. */
void fib_os_kept_close(struct fib_os_kept *kept);

#endif
