/* SPDX-License-Identifier: MIT */
/*
 * fcontext.c - the raw switch of boost.context, which the table calls "fc"
 *
 * It is called directly through its C interface, as boost.fiber and others do.
 */
#include "bench/work.h"

/* The C interface of boost/context/detail/fcontext.hpp. */
struct transfer {
	void *fctx;
	void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

struct runner {
	void *fctx;
	struct runner *next, *home;
	uint64_t left;
};

/* The context that was left is passed to the code that runs next. */
#define SWITCH(from, to)                                                   \
	do {                                                               \
		struct transfer left_ = jump_fcontext((to)->fctx, (from)); \
                                                                           \
		((struct runner *)left_.data)->fctx = left_.fctx;          \
	} while (0)

#include "bench/codes.h"

static void (*fns[2])(void *);
static unsigned prepared, started; /* runners start in the order of preparation */

static void start(struct transfer left)
{
	unsigned i = started++;

	((struct runner *)left.data)->fctx = left.fctx;
	fns[i](&runners[i]);
}

static void prepare(struct runner *runner, char *low, void (*fn)(void *))
{
	fns[prepared++] = fn;
	runner->fctx = make_fcontext(low + CODE_STACK, CODE_STACK, start);
}

static void run_codes(long count, long arg)
{
	(void)arg;
	code_measure(count, prepare);
}

static void bounce(struct transfer t)
{
	for (;;)
		t = jump_fcontext(t.fctx, NULL);
}

static void run_switch(long count, long arg)
{
	long rounds = count / 2;
	struct transfer t = {make_fcontext(code_stacks[0] + CODE_STACK, CODE_STACK, bounce), NULL};
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < rounds; i++)
		t = jump_fcontext(t.fctx, NULL);
	work_report_each(cpu, rounds * 2);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {{"switch", run_switch}, {"codes", run_codes}};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
