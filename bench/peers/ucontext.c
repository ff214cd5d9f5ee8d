/* SPDX-License-Identifier: MIT */
/* ucontext.c - glibc's swapcontext, which sets the signal mask by a system call in each switch */
#include <ucontext.h>

struct runner {
	ucontext_t context;
	struct runner *next, *home;
	unsigned long left;
};

#define SWITCH(from, to) swapcontext(&(from)->context, &(to)->context)

#include "bench/codes.h"

/* makecontext() passes ints. */
static void (*fns[2])(void *);

static void start(int i)
{
	fns[i](&runners[i]);
}

static void prepare(struct runner *runner, char *low, void (*fn)(void *))
{
	int i = (int)(runner - runners);

	fns[i] = fn;
	if (getcontext(&runner->context))
		work_die("getcontext");
	runner->context.uc_stack.ss_sp = low;
	runner->context.uc_stack.ss_size = CODE_STACK;
	makecontext(&runner->context, (void (*)(void))start, 1, i);
}

static void run_codes(long count, long arg)
{
	(void)arg;
	code_measure(count, prepare);
}

static void run_switch(long count, long arg)
{
	(void)arg;
	switch_measure(count, prepare);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {{"switch", run_switch}, {"codes", run_codes}};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
