/* SPDX-License-Identifier: MIT */
/* holder.c - describe the holder of a lock; only the caller's own name can be read safely */
#include "sync/holder.h"

#include <stdio.h>

#include <fiber/fiber.h>

#include "layout/layout.h"
#include "wait/wait.h"

void fib_holder_text(char text[FIB_HOLDER_TEXT], uint64_t holder)
{
	unsigned long long number = holder & ~(FIB_HOLDER_THREAD | FIB_HOLDER_CONTENDED);
	struct fiber *self = fiber_self();

	if (!number)
		snprintf(text, FIB_HOLDER_TEXT, "nobody");
	else if (holder & FIB_HOLDER_THREAD)
		snprintf(text, FIB_HOLDER_TEXT, "thread %llu", number);
	else if (self && number == fib_caller())
		snprintf(text, FIB_HOLDER_TEXT, "fiber %llu \"%.31s\"", number, fiber_name(self));
	else
		snprintf(text, FIB_HOLDER_TEXT, "fiber %llu", number);
}
