/* SPDX-License-Identifier: MIT */
/* fiber.c - accessors of a fiber that do not need its scheduler */
#include <fiber/fiber.h>

#include <string.h>

#include "base/atomic.h"
#include "base/check.h"
#include "core/names.h"
#include "core/record.h"

uint64_t fiber_id(const struct fiber *fiber)
{
	fib_must_have(fiber, "the fiber");
	return fiber->id;
}

const char *fiber_name(const struct fiber *fiber)
{
	fib_must_have(fiber, "the fiber");
	return fiber->name;
}

int fiber_set_name(struct fiber *fiber, const char *name)
{
	fib_must_have(fiber, "the fiber");
	fib_life_check(fiber);
	fib_or(&fiber->life, FIB_LIFE_NAMED);
	return fib_name_copy(fiber->name, sizeof fiber->name, name);
}

enum fiber_state fiber_state(const struct fiber *fiber)
{
	fib_must_have(fiber, "the fiber");
	return (enum fiber_state)fib_load(&fiber->state);
}
