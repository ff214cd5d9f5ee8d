/* SPDX-License-Identifier: MIT */
/* misuse.c - abort with one line where Windows leaves open what happens */
#include "misuse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

_Noreturn void fib_win32_misuse(const char *call, const char *what)
{
	const char *const parts[] = {"libfiber-win32: ", call, ": ", what, "\n"};
	struct iovec line[sizeof parts / sizeof parts[0]];
	size_t i;

	for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		line[i].iov_base = (void *)(uintptr_t)parts[i];
		line[i].iov_len = strlen(parts[i]);
	}
	if (writev(STDERR_FILENO, line, (int)i) < 0)
		abort();
	abort();
}
