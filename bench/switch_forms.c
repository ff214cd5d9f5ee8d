/* SPDX-License-Identifier: MIT */
/*
 * switch_forms.c - compare the cost of four forms of a context switch
 *
 * A switch is a dozen instructions. Its cost is the damage to the CPU's return prediction, which
 * shows only in the returns that follow. So every form is measured with frames: fibers call one or
 * three functions deep, switch, and return. Two fibers of the same code are the cheap case: a wrong
 * prediction of the return address is right by accident. Programs have fibers of different code.
 *
 *   inline jmp   inline assembly with a clobber list in one noinline function, left by jmp
 *   single site  push, swap, ret out of line; one C function makes the only call
 *   many sites   the same routine, called directly at each place where a fiber waits
 *   fcontext     boost.context's jump_fcontext, for reference, where its library is installed
 *
 * The first three keep the FPU control words: they always store them, and load them only if the
 * control bits differ. In the case "flags differ" one fiber has a sticky exception flag and the
 * other has not.
 *
 * The forms run interleaved, so that a slow moment of the machine hits all of them alike. The
 * output is the median and the minimum time of one switch in nanoseconds. For results and
 * conclusions see docs/performance.md. Usage: switch_forms [ROUNDS [REPEATS]].
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if !defined(__x86_64__)

int main(void)
{
	fprintf(stderr, "switch_forms: built for x86-64 only: it compares forms of that switch\n");
	return 64;
}

#else

#include <sched.h>
#include <string.h>
#include <time.h>

#define CROWD	   4
#define STACK_SIZE 16384
#define MAX_REPEAT 101

struct context {
	uint64_t sp;
	uint64_t fp;
	uint64_t pc;
	uint32_t mxcsr;
	uint16_t x87cw;
};

struct runner {
	struct context own;
	struct runner *next;
	uint64_t left; /* rounds left; the first runner of the ring counts */
};

static struct context from_main;
static struct runner runners[CROWD];
static char stacks[CROWD][STACK_SIZE + 4096] __attribute__((aligned(4096)));

/* switch_forms_x86_64.S */
extern const char start[];
extern void switch_ret(struct context *from, struct context *to);

#define NOIPA	     __attribute__((noipa))
/* An instruction after the call prevents a tail call. */
#define NO_TAIL_CALL __asm__ volatile("")

/* Form: inline jmp. The compiler saves what the clobber list names; the code saves the rest. */
NOIPA static void switch_inline(struct context *from, struct context *to)
{
	__asm__ volatile("	stmxcsr	24(%%rdi)\n"
			 "	fnstcw	28(%%rdi)\n"
			 "	leaq	1f(%%rip), %%rax\n"
			 "	movq	%%rax, 16(%%rdi)\n"
			 "	movq	%%rsp, (%%rdi)\n"
			 "	movq	%%rbp, 8(%%rdi)\n"
			 "	movl	24(%%rsi), %%eax\n"
			 "	xorl	24(%%rdi), %%eax\n"
			 "	testl	$0xffffffc0, %%eax\n"
			 "	jne	7f\n"
			 "8:	movzwl	28(%%rsi), %%eax\n"
			 "	cmpw	28(%%rdi), %%ax\n"
			 "	jne	9f\n"
			 "6:	movq	(%%rsi), %%rsp\n"
			 "	movq	8(%%rsi), %%rbp\n"
			 "	jmp	*16(%%rsi)\n"
			 "7:	ldmxcsr	24(%%rsi)\n"
			 "	jmp	8b\n"
			 "9:	fldcw	28(%%rsi)\n"
			 "	jmp	6b\n"
			 "1:\n"
			 : "+D"(from), "+S"(to)
			 :
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
			   "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
			   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "cc", "memory");
}

/* Form: single site. */
NOIPA static void switch_single(struct context *from, struct context *to)
{
	switch_ret(from, to);
	NO_TAIL_CALL;
}

/* Colour and prepare a stack: registers of a first switch_ret, its return address, fn, argument. */
static void make_context(struct context *context, char *stack, void (*fn)(void *), void *arg,
			 unsigned pushed)
{
	uint64_t *top = (uint64_t *)(void *)(stack + STACK_SIZE);

	*--top = (uint64_t)(uintptr_t)arg;
	*--top = (uint64_t)(uintptr_t)fn;
	context->pc = (uint64_t)(uintptr_t)start;
	if (pushed) {
		*--top = context->pc;
		top -= 6;
		memset(top, 0, 6 * sizeof(*top));
	}
	context->sp = (uint64_t)(uintptr_t)top;
	context->fp = 0;
	__asm__ volatile("stmxcsr %0" : "=m"(context->mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(context->x87cw));
}

static void make_jumped(struct context *context, char *stack, void (*fn)(void *), void *arg)
{
	make_context(context, stack, fn, arg, 0);
}

static void make_returned(struct context *context, char *stack, void (*fn)(void *), void *arg)
{
	make_context(context, stack, fn, arg, 1);
}

#ifdef HAVE_FCONTEXT
/* The C interface of boost/context/detail/fcontext.hpp. */
struct transfer {
	void *fctx;
	void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

static void (*boost_fns[CROWD])(void *);
static unsigned boost_prepared, boost_started; /* runners start in the order of the ring */

/* The context that was left is passed to the code that runs next. */
#define SWITCH_BOOST(from, to)                                                           \
	do {                                                                             \
		struct transfer t_ = jump_fcontext((void *)(uintptr_t)(to)->sp, (from)); \
		((struct context *)t_.data)->sp = (uint64_t)(uintptr_t)t_.fctx;          \
	} while (0)

static void boost_start(struct transfer t)
{
	unsigned i = boost_started++;

	((struct context *)t.data)->sp = (uint64_t)(uintptr_t)t.fctx;
	boost_fns[i](&runners[i]);
}

static void make_boost(struct context *context, char *stack, void (*fn)(void *), void *arg)
{
	if (arg == &runners[0])
		boost_prepared = boost_started = 0;
	boost_fns[boost_prepared++] = fn;
	context->sp =
		(uint64_t)(uintptr_t)make_fcontext(stack + STACK_SIZE, STACK_SIZE, boost_start);
}
#endif

/* One fiber's code: a loop that reaches the switch through one function, or through three. */
#define CODE(form, tag, SWITCH)                                \
	NOIPA static void form##tag##_leaf(struct runner *r)   \
	{                                                      \
		SWITCH(&r->own, &r->next->own);                \
		NO_TAIL_CALL;                                  \
	}                                                      \
	NOIPA static void form##tag##_middle(struct runner *r) \
	{                                                      \
		form##tag##_leaf(r);                           \
		NO_TAIL_CALL;                                  \
	}                                                      \
	NOIPA static void form##tag##_outer(struct runner *r)  \
	{                                                      \
		form##tag##_middle(r);                         \
		NO_TAIL_CALL;                                  \
	}                                                      \
	NOIPA static void form##tag##_one(void *arg)           \
	{                                                      \
		struct runner *r = arg;                        \
                                                               \
		for (;;) {                                     \
			form##tag##_leaf(r);                   \
			if (!--r->left)                        \
				SWITCH(&r->own, &from_main);   \
		}                                              \
	}                                                      \
	NOIPA static void form##tag##_three(void *arg)         \
	{                                                      \
		struct runner *r = arg;                        \
                                                               \
		for (;;) {                                     \
			form##tag##_outer(r);                  \
			if (!--r->left)                        \
				SWITCH(&r->own, &from_main);   \
		}                                              \
	}

/* The codes of all runners, and the entry of the thread itself. */
#define FORM(form, SWITCH)                                                                       \
	CODE(form, 0, SWITCH)                                                                    \
	CODE(form, 1, SWITCH)                                                                    \
	CODE(form, 2, SWITCH)                                                                    \
	CODE(form, 3, SWITCH)                                                                    \
	NOIPA static void form##_flagged(void *arg)                                              \
	{                                                                                        \
		set_mxcsr(MXCSR_DEFAULT | MXCSR_INEXACT);                                        \
		form##0_one(arg);                                                                \
	}                                                                                        \
	NOIPA static void form##_enter(void)                                                     \
	{                                                                                        \
		SWITCH(&from_main, &runners[0].own);                                             \
	}                                                                                        \
	static void (*const form##_one[CROWD])(void *) = {form##0_one, form##1_one, form##2_one, \
							  form##3_one};                          \
	static void (*const form##_three[CROWD])(void *) = {                                     \
		form##0_three,                                                                   \
		form##1_three,                                                                   \
		form##2_three,                                                                   \
		form##3_three,                                                                   \
	};

#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_INEXACT 0x20u

static inline void set_mxcsr(uint32_t value)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(value));
}

FORM(inl, switch_inline)
FORM(single, switch_single)
FORM(many, switch_ret)
#ifdef HAVE_FCONTEXT
FORM(boost, SWITCH_BOOST)
#endif

struct form {
	const char *name;
	void (*make)(struct context *, char *stack, void (*fn)(void *), void *arg);
	void (*enter)(void);
	void (*const *one)(void *);
	void (*flagged)(void *);
	void (*const *three)(void *);
};

/* The others are compared with the last one. */
static const struct form forms[] = {
	{"inline jmp", make_jumped, inl_enter, inl_one, inl_flagged, inl_three},
	{"single site", make_returned, single_enter, single_one, single_flagged, single_three},
	{"many sites", make_returned, many_enter, many_one, many_flagged, many_three},
#ifdef HAVE_FCONTEXT
	{"fcontext", make_boost, boost_enter, boost_one, boost_flagged, boost_three},
#endif
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

enum situation { SAME_1, SAME_3, FLAGS_1, DIFFERENT_1, DIFFERENT_3, CROWD_3, SITUATIONS };
static const char *const situations[SITUATIONS] = {
	"same code, 1 frame", "same code, 3", "flags differ, 1",
	"2 codes, 1",	      "2 codes, 3",   "4 codes, 3",
};

static double samples[SITUATIONS][FORMS][MAX_REPEAT];

/* Returns nanoseconds per switch. */
static double measure(const struct form *form, enum situation situation, uint64_t rounds)
{
	unsigned n = situation == CROWD_3 ? CROWD : 2;
	struct timespec t0, t1;

	set_mxcsr(MXCSR_DEFAULT);
	for (unsigned i = 0; i < n; i++) {
		unsigned code = situation < DIFFERENT_1 ? 0 : i;
		int shallow = situation == SAME_1 || situation == DIFFERENT_1;
		void (*fn)(void *) = shallow ? form->one[code] : form->three[code];

		if (situation == FLAGS_1)
			fn = i ? form->one[0] : form->flagged;
		runners[i].next = &runners[(i + 1) % n];
		runners[i].left = i ? UINT64_MAX : rounds / n;
		/* Stack tops differ within the page, as the stack pool's do. */
		form->make(&runners[i].own, stacks[i] + i * 192, fn, &runners[i]);
	}
	clock_gettime(CLOCK_MONOTONIC, &t0);
	form->enter();
	clock_gettime(CLOCK_MONOTONIC, &t1);
	set_mxcsr(MXCSR_DEFAULT);
	return ((double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec)) /
	       (double)(rounds - rounds % n);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_results(unsigned repeats)
{
	printf("%-20s", "ns one way");
	for (unsigned f = 0; f < FORMS; f++)
		printf(" %23s", forms[f].name);
	printf("\n%-20s", "");
	for (unsigned f = 0; f < FORMS; f++)
		printf(" %9s %6s %6s", "median", "min", "ratio");
	printf("\n");
	for (unsigned s = 0; s < SITUATIONS; s++) {
		for (unsigned f = 0; f < FORMS; f++)
			qsort(samples[s][f], repeats, sizeof(double), by_value);
		printf("%-20s", situations[s]);
		for (unsigned f = 0; f < FORMS; f++) {
			double median = samples[s][f][repeats / 2];

			printf(" %9.2f %6.2f %6.2f", median, samples[s][f][0],
			       median / samples[s][FORMS - 1][repeats / 2]);
		}
		printf("\n");
	}
	printf("%u repeats, interleaved; ratio: median to %s's\n", repeats, forms[FORMS - 1].name);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 400000;
	unsigned repeats = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 21;
	cpu_set_t here;

	if (rounds < CROWD || !repeats || repeats > MAX_REPEAT) {
		fprintf(stderr, "usage: switch_forms [ROUNDS (>= %d) [REPEATS (1-%d)]]\n", CROWD,
			MAX_REPEAT);
		return 64;
	}
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	for (unsigned r = 0; r < repeats; r++)
		for (unsigned s = 0; s < SITUATIONS; s++)
			for (unsigned f = 0; f < FORMS; f++)
				samples[s][(f + r) % FORMS][r] =
					measure(&forms[(f + r) % FORMS], (enum situation)s, rounds);
	print_results(repeats);
	return 0;
}

#endif
