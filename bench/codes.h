/* SPDX-License-Identifier: MIT */
/*
 * codes.h - two fibers of different code, for programs that measure a raw switch
 *
 * The includer defines SWITCH(from, to), where both are struct runner *. It gets:
 *
 *   code_measure()     two runners of different code that call three functions deep, switch to each
 *                      other, and return: this is what programs do, and it is expensive
 *   switch_measure()   the thread and a runner that only switches back
 */
#ifndef BENCH_CODES_H
#define BENCH_CODES_H

#include "bench/work.h"

#define CODE(tag)                                                                       \
	WORK_NOIPA __attribute__((aligned(64))) static void code##tag##_leaf(void *arg) \
	{                                                                               \
		struct runner *r = (struct runner *)arg;                                \
                                                                                        \
		SWITCH(r, r->next);                                                     \
		WORK_NO_TAIL_CALL;                                                      \
	}                                                                               \
	WORK_NOIPA __attribute__((aligned(64))) static void code##tag##_middle(void *r) \
	{                                                                               \
		code##tag##_leaf(r);                                                    \
		WORK_NO_TAIL_CALL;                                                      \
	}                                                                               \
	WORK_NOIPA __attribute__((aligned(64))) static void code##tag##_outer(void *r)  \
	{                                                                               \
		code##tag##_middle(r);                                                  \
		WORK_NO_TAIL_CALL;                                                      \
	}                                                                               \
	WORK_NOIPA __attribute__((aligned(64))) static void code##tag##_deep(void *arg) \
	{                                                                               \
		struct runner *r = (struct runner *)arg;                                \
                                                                                        \
		for (;;) {                                                              \
			code##tag##_outer(r);                                           \
			if (!--r->left)                                                 \
				SWITCH(r, r->home);                                     \
		}                                                                       \
	}

CODE(0)
CODE(1)

/* Both runners of a work, and the thread's own context. */
static struct runner home, runners[2];

#define CODE_STACK 65536
static char code_stacks[2][CODE_STACK + 4096] __attribute__((aligned(4096)));

/* prepare() makes a runner that will run fn(runner) on the stack whose top is given. */
static void code_measure(long count,
			 void (*prepare)(struct runner *, char *low, void (*fn)(void *)))
{
	void (*const fns[2])(void *) = {code0_deep, code1_deep};
	long rounds = count / 2;
	double t;

	for (int i = 0; i < 2; i++) {
		runners[i].next = &runners[!i];
		runners[i].home = &home;
		/* The first runner ends the run. */
		runners[i].left = i ? UINT64_MAX : (uint64_t)rounds;
		/* Stack tops differ within the page, as those of a stack pool do. */
		prepare(&runners[i], code_stacks[i] + i * 192, fns[i]);
	}
	t = work_cpu();
	SWITCH(&home, &runners[0]);
	t = work_cpu() - t;
	work_report("ns", t / (double)(rounds * 2));
}

static inline void switch_back(void *arg)
{
	(void)arg;
	for (;;)
		SWITCH(&runners[0], &home);
}

/* prepare(): as above. Every round is two switches. */
static inline void switch_measure(long count,
				  void (*prepare)(struct runner *, char *low, void (*fn)(void *)))
{
	long rounds = count / 2;
	double cpu;

	prepare(&runners[0], code_stacks[0], switch_back);
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++)
		SWITCH(&home, &runners[0]);
	work_report_each(cpu, rounds * 2);
}

#endif
