/* SPDX-License-Identifier: MIT */
/* ours.c - ROUNDS times from one context to another and back, with the routine of the port */
#include <stdlib.h>

#include "context/context.h"

static struct fib_context home, away;
static _Atomic uint64_t home_left, away_left;
static unsigned char stack[64 << 10] __attribute__((aligned(64)));

static void bounce(void *arg)
{
	(void)arg;
	for (;;)
		fib_arch_switch(&away, &home, &away_left);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	fib_arch_inherit(&home);
	fib_arch_inherit(&away);
	if (fib_arch_init(&away, stack, sizeof stack, bounce, NULL) < 0)
		return 1;
	while (rounds-- > 0)
		fib_arch_switch(&home, &away, &home_left);
	return 0;
}
