/* SPDX-License-Identifier: MIT */
/* spin.c - the rare half of a spin lock: somebody else has it. */
#include "os/spin.h"

void fib_spin_wait(_Atomic uint32_t *lock)
{
	unsigned turns = 0;

	while (fib_load(lock)) {
		if (++turns % 64 == 0)
			fib_os_yield();
		else
			fib_relax();
	}
}
