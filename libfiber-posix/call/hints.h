/* SPDX-License-Identifier: MIT */
/*
 * hints.h - what a descriptor was found to be, remembered by its number
 *
 * A hint spares a system call. It is dropped when the descriptor is closed or replaced by a call that
 * this library sees. It may be out of date: the end of a descriptor may be unseen.
 */
#ifndef FPX_CALL_HINTS_H
#define FPX_CALL_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#define FPX_HINTS 4096

enum { FPX_NO_SOCKET = 1, FPX_DISK = 2, FPX_NO_DISK = 4 };

extern uint8_t fpx_hints[FPX_HINTS]; /* A */

/*
 * I set when the library is loaded: whether fclose(3) and freopen(3) are seen. Without them libfiber
 * must not rely on being informed of each descriptor that is closed.
 */
extern bool fpx_sees_streams;

static inline unsigned fpx_hints_of(int fd)
{
	return fd >= 0 && fd < FPX_HINTS ? __atomic_load_n(&fpx_hints[fd], __ATOMIC_RELAXED) : 0;
}

static inline void fpx_set_hint(int fd, unsigned hint)
{
	if (fd >= 0 && fd < FPX_HINTS)
		__atomic_fetch_or(&fpx_hints[fd], (uint8_t)hint, __ATOMIC_RELAXED);
}

/* fd is about to mean another file. */
static inline void fpx_forget_hints(int fd)
{
	if (fpx_hints_of(fd))
		__atomic_store_n(&fpx_hints[fd], 0, __ATOMIC_RELAXED);
}

/* Whether fd is a file on a disk, where no call waits for another process. Keeps errno. */
bool fpx_on_disk(int fd);

#endif
