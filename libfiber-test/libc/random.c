/* SPDX-License-Identifier: MIT */
/*
 * random.c - the program's own random bytes: in a schedule, those of fiber_test_random()
 *
 * Outside a schedule these functions ask the system.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "explore/run.h"
#include "libc/linked.h"
#include "os/virtual.h"

const char fib_libc_random;

#define ENTROPY_MAX 256u /* bytes, getentropy(3) */

static void fill(unsigned char *bytes, size_t size)
{
	uint64_t word;
	size_t n;

	for (; size; bytes += n, size -= n) {
		word = fib_run_random();
		n = size < sizeof word ? size : sizeof word;
		memcpy(bytes, &word, n);
	}
}

ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
	if (!fib_virtual_here())
		return syscall(SYS_getrandom, buf, size, flags);
	if (flags & ~(unsigned)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)) {
		errno = EINVAL;
		return -1;
	}
	fill(buf, size);
	return (ssize_t)size;
}

int getentropy(void *buf, size_t size)
{
	ssize_t n;

	if (size > ENTROPY_MAX) {
		errno = EIO;
		return -1;
	}
	do
		n = getrandom(buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -1;
}
