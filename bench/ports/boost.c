/* SPDX-License-Identifier: MIT */
/* boost.c - ROUNDS times from one context to another and back, with the routine of boost.context */
#include <stdlib.h>

/* The C interface of boost/context/detail/fcontext.hpp. */
struct transfer {
	void *fctx;
	void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

static unsigned char stack[64 << 10] __attribute__((aligned(64)));

static void bounce(struct transfer t)
{
	for (;;)
		t = jump_fcontext(t.fctx, NULL);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	struct transfer t = {make_fcontext(stack + sizeof stack, sizeof stack, bounce), NULL};

	while (rounds-- > 0)
		t = jump_fcontext(t.fctx, NULL);
	return 0;
}
