/* SPDX-License-Identifier: MIT */
/* records.h - fibers that never run: hand-made records of states that no real fiber has */
#ifndef UNIT_SERVICE_RECORDS_H
#define UNIT_SERVICE_RECORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/record_cache.h"
#include "core/registry.h"
#include "os/os.h"

/* A suspended fiber with that name, and `used` bytes of 0x5a on a stack of `size` bytes. */
static inline struct fiber *record_make(const char *name, size_t size, size_t used)
{
	struct fiber *f;
	unsigned n;

	if (fib_registry_init() < 0 || fib_registry_take(1, &f, &n) < 0)
		abort();
	memset(f->name, 0, sizeof f->name);
	snprintf(f->name, sizeof f->name, "%s", name);
	f->stack.size = size;
	f->stack.low = size ? aligned_alloc(4096, size) : NULL;
	if (size)
		memset(f->stack.low, 0x5a, size);
	f->context.sp = (uint64_t)(uintptr_t)f->stack.low + size - used;
	fib_store(&f->seq, 8);
	fib_store(&f->state, FIBER_SUSPENDED);
	fib_store(&f->wait_kind, FIB_WAIT_PARK);
	fib_store(&f->since, fib_os_now() - 5000000000);
	f->wait_object = 0;
	f->wait_arg = 0;
	f->wait_deadline = INT64_MAX;
	f->pins = 0;
	fib_record_name(NULL, f);
	return f;
}

static inline void record_end(struct fiber *f)
{
	fib_publish(&f->id, 0);
	free(f->stack.low);
	f->stack.low = NULL;
	fib_registry_give(f, f, 1);
}

/* n such fibers. */
static inline struct fiber **record_crowd(size_t n)
{
	struct fiber **all = calloc(n, sizeof *all);
	size_t i;

	for (i = 0; i < n; i++)
		all[i] = record_make("many", 0, 0);
	return all;
}

static inline void record_disperse(struct fiber **all, size_t n)
{
	while (n)
		record_end(all[--n]);
	free(all);
}

static inline uint64_t record_index(const struct fiber *f)
{
	return (uint64_t)(f - fib_registry_at(0));
}

#endif
