/* SPDX-License-Identifier: MIT */
/* spin.c - wait for a spin lock that is held */
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
