/* SPDX-License-Identifier: MIT */
/*
 * control_words.c - what keeping the FPU control words costs a switch
 *
 * The switch is minimal: inline assembly between two loops. The forms differ in how they keep mxcsr
 * and the x87 control word. They run interleaved. The output is the median time of one switch in
 * nanoseconds. For conclusions see docs/performance.md.
 * Usage: control_words [ROUNDS [REPEATS]].
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if !defined(__x86_64__)

int main(void)
{
	fprintf(stderr, "control_words: built for x86-64 only\n");
	return 64;
}

#else

#include "bench/work.h"

#define STACK_SIZE 16384
#define MAX_REPEAT 101

struct context {
	uint64_t sp, fp, pc;
	uint32_t mxcsr;
	uint16_t x87cw;
} __attribute__((aligned(64)));

static struct context here, there;
static char stack[STACK_SIZE] __attribute__((aligned(4096)));

#define LEAVE "leaq 9f(%%rip), %%rax\n movq %%rsp, (%0)\n movq %%rbp, 8(%0)\n movq %%rax, 16(%0)\n"
#define GO    "movq (%1), %%rsp\n movq 8(%1), %%rbp\n jmp *16(%1)\n 9:\n"
#define LOST                                                                                    \
	"rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", \
		"memory"

#define FORM(name, keep)                                                                   \
	static inline __attribute__((always_inline)) void switch_##name(struct context *f, \
									struct context *t) \
	{                                                                                  \
		__asm__ volatile(LEAVE keep GO : "+D"(f), "+S"(t)::LOST);                  \
	}                                                                                  \
	static void away_##name(void)                                                      \
	{                                                                                  \
		for (;;)                                                                   \
			switch_##name(&there, &here);                                      \
	}                                                                                  \
	static double run_##name(long rounds)                                              \
	{                                                                                  \
		double cpu;                                                                \
                                                                                           \
		begin(away_##name);                                                        \
		cpu = work_cpu();                                                          \
		for (volatile long i = 0; i < rounds; i++)                                 \
			switch_##name(&here, &there);                                      \
		return (work_cpu() - cpu) / (2.0 * (double)rounds);                        \
	}

static void begin(void (*fn)(void))
{
	there.sp = (uint64_t)(uintptr_t)(stack + STACK_SIZE - 256 - 8);
	there.pc = (uint64_t)(uintptr_t)fn;
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(there.mxcsr), "=m"(there.x87cw));
}

FORM(nothing, "")
FORM(x87, "fnstcw 28(%0)\n")
FORM(store, "stmxcsr 24(%0)\n fnstcw 28(%0)\n")
FORM(load, "stmxcsr 24(%0)\n fnstcw 28(%0)\n ldmxcsr 24(%1)\n")
FORM(compare, "stmxcsr 24(%0)\n fnstcw 28(%0)\n movl 24(%0), %%eax\n xorl 24(%1), %%eax\n"
	      "testl $0xffffffc0, %%eax\n jz 8f\n ldmxcsr 24(%1)\n 8:\n")

static const struct {
	const char *text;
	double (*run)(long rounds);
} forms[] = {
	{"neither word is kept", run_nothing},
	{"the x87 word is stored", run_x87},
	{"both are stored, nothing is loaded", run_store},
	{"both are stored, mxcsr is loaded", run_load},
	{"both are stored, mxcsr is compared, and would be loaded", run_compare},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 2000000;
	int repeats = argc > 2 ? atoi(argv[2]) : 21;
	static double ns[FORMS][MAX_REPEAT];

	if (rounds < 1 || repeats < 1 || repeats > MAX_REPEAT) {
		fprintf(stderr, "usage: control_words [ROUNDS [REPEATS, at most %d]]\n",
			MAX_REPEAT);
		return 64;
	}
	for (int r = 0; r < repeats; r++)
		for (size_t f = 0; f < FORMS; f++)
			ns[f][r] = forms[f].run(rounds);
	printf("median    min  ns one way\n");
	for (size_t f = 0; f < FORMS; f++) {
		qsort(ns[f], (size_t)repeats, sizeof(double), by_value);
		printf("%6.2f %6.2f  %s\n", ns[f][repeats / 2], ns[f][0], forms[f].text);
	}
	return 0;
}

#endif
