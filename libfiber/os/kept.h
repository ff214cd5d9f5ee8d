/* SPDX-License-Identifier: MIT */
/*
 * kept.h - files that are opened once and kept open
 *
 * A program may close every descriptor it finds and reuse the numbers. So before each use a kept
 * file is compared with the identity it had when it was opened. Functions return the negative
 * errno, as in os.h.
 */
#ifndef FIB_OS_KEPT_H
#define FIB_OS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

struct fib_os_kept {
	int fd;		   /* -1: not open */
	uint64_t identity; /* its fib_os_identity() at that time */
};
#define FIB_OS_NOT_KEPT ((struct fib_os_kept){-1, 0})

/*
 * Whether fd still has this fib_os_identity(). One system call; if a sandbox refuses it, the answer
 * is true.
 */
bool fib_os_same(int fd, uint64_t identity);

/* Open path for reading, close-on-exec. 0, or a negative errno, and kept is not open. */
int fib_os_keep(struct fib_os_kept *kept, const char *path);
/* Whether it is open, and still the same file. One system call. */
bool fib_os_kept_ours(const struct fib_os_kept *kept);
/* Close it if it is still that file. It is not open afterwards. */
void fib_os_kept_close(struct fib_os_kept *kept);

#endif
